/* cudaccl-watch - one picture of an address, before it is a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_PREVIEW_H__
#define __WATCH_PREVIEW_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *uri; /* with a scheme that cameras may have */
  gchar *user, *password;
  guint timeout; /* milliseconds */
  guint max_pixels;
  guint64 max_memory;
} WatchPreview;

/* Time that the page waits, in milliseconds. */
#define WATCH_PREVIEW_TIMEOUT 15000

/* A WebWork on a WatchPreview: answers with a JPEG picture, or an error. A source that hangs is
 * left to its thread, of which there are at most three. */
void watch_preview_run (WebAnswer *answer, gpointer data, GCancellable *cancellable);
void watch_preview_free (gpointer data);

G_END_DECLS

#endif /* __WATCH_PREVIEW_H__ */
