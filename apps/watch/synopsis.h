/* cudaccl-watch - a day of a camera in some minutes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SYNOPSIS_H__
#define __WATCH_SYNOPSIS_H__

#include <gio/gio.h>

#include "recordings.h"

G_BEGIN_DECLS

/* A synopsis shows what moved in recordings of a camera at the same time, where it was, and beside
 * it when. Objects are cut out of their frames by the masks of cclmask, put on the background of
 * that time, and placed in time so that they hardly cover each other. */

/* Called now and then with 0 to 1, in the thread of watch_synopsis_make(). */
typedef void (*WatchSynopsisProgress) (gdouble done, gpointer user_data);

typedef struct
{
  guint objects;    /* shown */
  guint unreadable; /* recordings that were left out */
  gdouble seconds;  /* of the video */
  gboolean jpeg;    /* there is no encoder for H.264: a Matroska file of JPEG pictures */
} WatchSynopsisResult;

/* Makes a video of at most @seconds (15 to 3600) at @output, which is replaced when it is complete.
 * Cut-outs are kept in a file in the same folder meanwhile, of at most 4 GB; memory does not grow
 * with the length of the recordings by more than some bytes an object and frame. Takes about as
 * long as decoding all of the recordings; from any thread. Fails if no recording can be read, or
 * nothing moves. */
gboolean watch_synopsis_make (const GArray *recordings, const gchar *output, guint seconds,
                              WatchSynopsisProgress progress, gpointer user_data,
                              GCancellable *cancellable, WatchSynopsisResult *result,
                              GError **error);

G_END_DECLS

#endif /* __WATCH_SYNOPSIS_H__ */
