/* cudaccl-watch - makes a synopsis while the cameras are watched
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SYNOPSIS_JOB_H__
#define __WATCH_SYNOPSIS_JOB_H__

#include <json-glib/json-glib.h>

#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

/* Runs `cudaccl-watch --synopsis` as its own process, one at a time: it has a lower priority
 * than the cameras, which go on if it fails, and it can be cancelled at any time. The last video
 * is kept in the data folder until the program ends. Main thread only. */
typedef struct _WatchSynopsisJob WatchSynopsisJob;

WatchSynopsisJob *watch_synopsis_job_new (const gchar *data);
/* Runs @program instead of this one: for tests. */
void watch_synopsis_job_set_program (WatchSynopsisJob *self, const gchar *program);
/* Ends the process, and removes the video. */
void watch_synopsis_job_free (WatchSynopsisJob *self);

/* Starts a video from the clips of @camera of @day (YYYY-MM-DD, local time), and removes the
 * last one. Fails with WEB_REASON_SYNOPSIS_BUSY while another one is being made. */
gboolean watch_synopsis_job_start (WatchSynopsisJob *self, const WatchSettings *settings,
                                   const gchar *camera, const gchar *day, guint seconds,
                                   GError **error);
/* Cancels the process, or removes its video. */
void watch_synopsis_job_cancel (WatchSynopsisJob *self);

/* Adds the member `state`, and those that are known in it. */
void watch_synopsis_job_describe (WatchSynopsisJob *self, GString *json);
/* Returns the path of the video and sets its type and a name for it, or returns NULL. Free both. */
gchar *watch_synopsis_job_get_video (WatchSynopsisJob *self, const gchar **type, gchar **name);

G_END_DECLS

#endif /* __WATCH_SYNOPSIS_JOB_H__ */
