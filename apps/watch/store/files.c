/* cudaccl-watch - files of the database that are removed or replaced while it is open
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The open connection still has all data of a file that was removed. A copy takes the old place: no
 * record is lost, and searches read the file that is written. */

#include "apps/watch/store/private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const gchar *const suffixes[WATCH_STORE_N_FILES] = { "", "-wal", "-shm" };

static gchar *
get_copy (const gchar *path)
{
  return g_strconcat (path, ".new", NULL);
}

/* Sets the number to 0 if there is no file. */
static void
identify (const gchar *path, WatchFile *file)
{
  struct stat info;

  memset (file, 0, sizeof (*file));
  if (lstat (path, &info) == 0) {
    file->device = info.st_dev;
    file->number = info.st_ino;
  }
}

static gboolean
is_same (const WatchFile *a, const WatchFile *b)
{
  return a->device == b->device && a->number == b->number;
}

void
watch_files_note (WatchStore *self)
{
  for (guint i = 0; i < WATCH_STORE_N_FILES; i++) {
    g_autofree gchar *path = g_strconcat (self->path, suffixes[i], NULL);

    identify (path, &self->files[i]);
  }
}

gboolean
watch_files_have_moved (WatchStore *self)
{
  for (guint i = 0; i < WATCH_STORE_N_FILES; i++) {
    g_autofree gchar *path = g_strconcat (self->path, suffixes[i], NULL);
    WatchFile file;

    identify (path, &file);
    if (self->files[i].number && !is_same (&file, &self->files[i]))
      return TRUE;
  }
  return FALSE;
}

void
watch_files_remove_copy (const gchar *path)
{
  g_autofree gchar *copy = get_copy (path);
  g_autofree gchar *journal = g_strconcat (copy, "-journal", NULL);

  g_unlink (copy);
  g_unlink (journal);
}

/* Copies page by page; SQLite syncs the copy. */
static int
copy_database (sqlite3 *from, const gchar *path)
{
  sqlite3_backup *backup;
  sqlite3 *to = NULL;
  int code = sqlite3_open (path, &to);

  if (code == SQLITE_OK) {
    backup = sqlite3_backup_init (to, "main", from, "main");
    if (backup)
      sqlite3_backup_step (backup, -1);
    code = backup ? sqlite3_backup_finish (backup) : sqlite3_errcode (to);
  }
  sqlite3_close (to);
  return code;
}

/* Moves foreign files aside, and removes our journal: the copy has its changes, and SQLite would
 * apply them to the copy again. */
static void
clear_place (WatchStore *self, const gchar *stamp)
{
  for (guint i = 0; i < WATCH_STORE_N_FILES; i++) {
    g_autofree gchar *path = g_strconcat (self->path, suffixes[i], NULL);
    g_autofree gchar *aside = g_strconcat (self->path, ".replaced-", stamp, suffixes[i], NULL);
    WatchFile file;

    identify (path, &file);
    if (file.number && !is_same (&file, &self->files[i])) {
      if (g_rename (path, aside) == 0 && i == 0)
        g_warning ("%s was replaced by another file: moved that to %s", path, aside);
    } else if (file.number && i > 0) {
      g_unlink (path);
    }
  }
}

static void
sync_folder (const gchar *path)
{
  g_autofree gchar *folder = g_path_get_dirname (path);
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd >= 0) {
    fsync (fd);
    close (fd);
  }
}

int
watch_files_restore (WatchStore *self)
{
  g_autofree gchar *copy = get_copy (self->path);
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree gchar *stamp = g_date_time_format (now, "%Y%m%dT%H%M%S");
  g_autoptr (GError) error = NULL;
  int code;

  watch_files_remove_copy (self->path);
  code = copy_database (self->db->db, copy);
  if (code != SQLITE_OK) {
    watch_files_remove_copy (self->path);
    return code;
  }
  /* Before the place is cleared: closing the last connection may write to the old files. */
  watch_store_close_readers (self);
  g_clear_pointer (&self->db, watch_db_free);
  clear_place (self, stamp);
  code = g_rename (copy, self->path) == 0 ? SQLITE_OK : SQLITE_CANTOPEN;
  sync_folder (self->path);
  if (code == SQLITE_OK) {
    g_warning ("%s was removed or replaced while it was open: written again with all records",
               self->path);
    g_mutex_lock (&self->mutex);
    self->stats.restored++;
    g_mutex_unlock (&self->mutex);
  }
  /* If this fails, the writer tries it again. */
  memset (self->files, 0, sizeof (self->files));
  watch_store_open_file (self, &error);
  return code;
}
