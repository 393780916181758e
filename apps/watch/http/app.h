/* cudaccl-watch - the program, as its handlers see it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_APP_H__
#define __WATCH_APP_H__

#include "apps/watch/camera/camera.h"
#include "apps/watch/publish/publisher.h"
#include "apps/watch/records/listeners.h"
#include "apps/web/http.h"

G_BEGIN_DECLS

/* The `app` of requests. Main thread only. */
typedef struct _WatchApp WatchApp;

struct _WatchApp
{
  WatchSettings *settings; /* replaced by reload() */
  WatchShared shared;
  GPtrArray *cameras;        /* WatchCamera, in the order of the file; borrowed */
  WatchListeners *listeners; /* called with each event that was committed */
  gint64 start;              /* when the program started */
  guint rtsp_refused;        /* RTSP connections refused, or closed before a login; atomic */

  /* Reads the file again. If it is wrong, nothing changes. */
  gboolean (*reload) (WatchApp *self, GError **error);
  /* Returns an array of WatchSinkStatus, which clears its items. */
  GArray *(*get_sinks) (WatchApp *self);
};

/* Returns a new reference: a handler that reloads keeps its settings. */
WatchSettings *watch_app_get_settings (WatchApp *self);
WatchCamera *watch_app_find_camera (WatchApp *self, const gchar *name);
/* Answers 404: there is no camera of the request's name. */
void watch_app_refuse_camera (const WebRequest *request);

G_END_DECLS

#endif /* __WATCH_APP_H__ */
