/* cudaccl-watch - a day of a camera in some minutes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SYNOPSIS_H__
#define __WATCH_SYNOPSIS_H__

#include <gio/gio.h>

#include "apps/watch/media/recordings.h"

G_BEGIN_DECLS

/* A synopsis is a short video that shows objects of different times together, each at its place,
 * with its time beside it. Objects are cut out with cclmask, drawn on the background, and
 * scheduled so that they hardly cover each other. */

/* Called now and then with the progress, 0 to 1, in the thread of watch_synopsis_make(). */
typedef void (*WatchSynopsisProgress) (gdouble done, gpointer user_data);

typedef struct
{
  guint objects;    /* objects shown */
  guint unreadable; /* recordings left out */
  gdouble seconds;  /* length of the video */
  gboolean jpeg;    /* there is no encoder for H.264: a Matroska file of JPEG pictures */
} WatchSynopsisResult;

/* Makes a video of at most @seconds (15 to 3600). @output is replaced when the video is complete.
 * Cut-outs are kept in a temporary file in the same folder, of at most 4 GB; memory grows by 24
 * bytes for each object and frame. Takes about as long as decoding all recordings. From any thread.
 * Fails if no recording can be read, or nothing moves. */
gboolean watch_synopsis_make (const GArray *recordings, const gchar *output, guint seconds,
                              WatchSynopsisProgress progress, gpointer user_data,
                              GCancellable *cancellable, WatchSynopsisResult *result,
                              GError **error);

G_END_DECLS

#endif /* __WATCH_SYNOPSIS_H__ */
