/* cudaccl-watch - objects shared by all cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SHARED_H__
#define __WATCH_SHARED_H__

#include "apps/watch/camera/metadata.h"
#include "apps/watch/media/media.h"
#include "apps/watch/store/store.h"

G_BEGIN_DECLS

/* The pointers must stay valid. */
typedef struct
{
  const gchar *session;
  WatchStore *store;
  WatchMedia *media;
  WatchMetadata *metadata; /* or NULL */
  /* Called with each picture that is saved, from any thread; or NULL. */
  void (*picture) (const gchar *camera, GBytes *jpeg, gpointer user_data);
  gpointer picture_data;
} WatchShared;

G_END_DECLS

#endif /* __WATCH_SHARED_H__ */
