/* cudaccl-watch - internals of the media folder
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_MEDIA_PRIVATE_H__
#define __WATCH_MEDIA_PRIVATE_H__

#include "apps/watch/media/media.h"

G_BEGIN_DECLS

struct _WatchMedia
{
  gint refs;
  gchar *folder;
  guint retention_days;
  guint64 retention_bytes;
  GRegex *any_name, *day_name, *file_name, *temporary_name;
  gint serial; /* makes names unique, also after a restart within a second */
  gint full;   /* no space, or the last file could not be written */

  GMutex lock;
  GCond wake, idle;
  GThread *thread;
  GQueue jobs;
  GHashTable *pending; /* names of files that will be written, a set */
  GHashTable *failed;  /* names of files that could not be written, a set */
  guint64 queued;      /* bytes of the jobs */
  gboolean busy, quit, done;
  WatchMediaStats stats; /* bytes include clips that are being written */

  /* Held while folders are created or removed. Taken before `lock`. */
  GMutex index_lock;
  GHashTable *days;       /* CAMERA/DAY to the bytes of its files, guint64 */
  GHashTable *absent;     /* CAMERA/DAY that were removed here, a set */
  guint64 device, number; /* of the folder whose files were counted */

  /* Thread only. */
  GPtrArray *open; /* WatchWriting */
  gint64 full_until, checked;
  guint64 reserve;
  gint64 hold;
};

typedef void (*WatchFileFunc) (WatchMedia *self, const gchar *day, const gchar *file,
                               gpointer user_data);

/* Calls @func with the files of @day, CAMERA/DAY. */
void watch_media_list_day (WatchMedia *self, const gchar *day, WatchFileFunc func,
                           gpointer user_data);

/* Returns whether another disk has taken the folder's place. Its files are counted soon then. Call
 * with `index_lock`. */
gboolean watch_media_notice_disk (WatchMedia *self);

/* Returns the size of a file, 0 if there is none. */
guint64 watch_media_get_size (const gchar *path);

G_END_DECLS

#endif /* __WATCH_MEDIA_PRIVATE_H__ */
