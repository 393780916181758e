/* cudaccl-watch - one picture of an address, before it is a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_PREVIEW_H__
#define __WATCH_PREVIEW_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *uri; /* of a scheme that cameras may have */
  gchar *user, *password;
  guint timeout; /* milliseconds */
} WatchPreview;

/* How long the page waits. */
#define WATCH_PREVIEW_TIMEOUT 15000

/* A WebWork on a WatchPreview: a JPEG picture, or an error. Returns in time also if the source
 * hangs: its thread is left alone, and there are at most three of those. */
void watch_preview_run (WebAnswer *answer, gpointer data, GCancellable *cancellable);
void watch_preview_free (gpointer data);

G_END_DECLS

#endif /* __WATCH_PREVIEW_H__ */
