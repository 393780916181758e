/* cudaccl-watch - files of the database that are removed or replaced while it is open
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The open connection still has all data of a file that was removed. A copy takes the old place: no
 * record is lost, and searches read the file that is written. */

#include "apps/watch/store/private.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Left free by a copy, for the records that come then; not on closing. */
#define SPACE (G_GUINT64_CONSTANT (16) << 20)
/* Between copies that fail, in waits after a failure. */
#define MIN_DELAY 5
#define MAX_DELAY 60

static const gchar *const suffixes[WATCH_STORE_N_FILES] = { "", "-wal", "-shm" };

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

gboolean
watch_files_move_aside (WatchStore *self, const gchar *why, GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree gchar *stamp = g_date_time_format (now, "%Y%m%dT%H%M%S");

  for (guint i = 0; i < WATCH_STORE_N_FILES; i++) {
    g_autofree gchar *path = g_strconcat (self->path, suffixes[i], NULL);
    g_autofree gchar *aside = g_strconcat (self->path, ".", why, "-", stamp, suffixes[i], NULL);
    WatchFile file;

    identify (path, &file);
    if (!file.number)
      continue;
    if (is_same (&file, &self->files[i])) {
      if (i > 0)
        g_unlink (path);
    } else if (g_rename (path, aside) != 0) {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
                   "%s, and cannot be renamed: %s", why, g_strerror (errno));
      return FALSE;
    } else if (i == 0) {
      g_warning ("%s was %s: moved to %s", path, why, aside);
    }
  }
  return TRUE;
}

/* --- Copies --- */

/* A copy is written to NEW, renamed to RESTORED once it is complete, and then to the database's
 * own name. A process that was killed leaves an unfinished copy, which is removed, or a complete
 * one, which may have the only records and takes its place at the next start. */
#define NEW ".new"
#define RESTORED ".restored"

static void
remove_unfinished (const gchar *path)
{
  g_autofree gchar *copy = g_strconcat (path, NEW, NULL);
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

/* Keeps the order of renamings through a loss of power. */
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

static gboolean
rename_copy (const gchar *copy, const gchar *path, GError **error)
{
  if (g_rename (copy, path) == 0)
    return TRUE;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
               "the copy %s cannot be renamed: %s", copy, g_strerror (errno));
  return FALSE;
}

gboolean
watch_files_finish (WatchStore *self, GError **error)
{
  g_autofree gchar *copy = g_strconcat (self->path, RESTORED, NULL);

  remove_unfinished (self->path);
  if (g_access (copy, F_OK) == 0) {
    /* The copy has the changes of our journal, which SQLite would apply to it again. */
    if (!watch_files_move_aside (self, "replaced", error))
      return FALSE;
    if (!rename_copy (copy, self->path, error))
      return FALSE;
    sync_folder (self->path);
    /* Again: searches may have opened the file that was in its place. */
    watch_store_close_readers (self);
  }
  memset (self->files, 0, sizeof (self->files));
  return TRUE;
}

/* Whether the disk has space for a copy, and @more bytes. If that cannot be known, it is tried. */
static gboolean
has_space (WatchStore *self, guint64 more)
{
  g_autofree gchar *folder = g_path_get_dirname (self->path);
  gint64 pages, bytes;
  struct statvfs space;

  if (watch_db_get_int (self->db, &pages, "PRAGMA page_count", "") != SQLITE_OK ||
      watch_db_get_int (self->db, &bytes, "PRAGMA page_size", "") != SQLITE_OK ||
      statvfs (folder, &space) < 0)
    return TRUE;
  return (guint64) space.f_bavail * space.f_frsize >= (guint64) (pages * bytes) + more;
}

/* Waits longer after each copy that failed: each may take minutes, and the rest of the disk. On
 * closing, only a copy made now keeps the records, but not after one that failed meanwhile. */
static int
begin_copy (WatchStore *self)
{
  const gint64 now = g_get_monotonic_time ();

  if (!has_space (self, self->last ? 0 : SPACE))
    return SQLITE_FULL;
  if (now < self->copy_time && (!self->last || self->copy_time == G_MAXINT64))
    return SQLITE_BUSY;
  self->copy_delay =
      CLAMP (2 * self->copy_delay, MIN_DELAY * self->retry_time, MAX_DELAY * self->retry_time);
  return SQLITE_OK;
}

int
watch_files_restore (WatchStore *self, GError **error)
{
  g_autofree gchar *copy = g_strconcat (self->path, NEW, NULL);
  g_autofree gchar *complete = g_strconcat (self->path, RESTORED, NULL);
  int code;

  remove_unfinished (self->path);
  code = begin_copy (self);
  if (code == SQLITE_BUSY && self->copy_error)
    g_propagate_error (error, g_error_copy (self->copy_error));
  if (code != SQLITE_OK)
    return code;
  g_clear_error (&self->copy_error);
  code = copy_database (self->db->db, copy);
  if (code == SQLITE_OK && !rename_copy (copy, complete, error)) {
    self->copy_error = g_error_copy (*error);
    code = SQLITE_IOERR;
  }
  if (code != SQLITE_OK) {
    remove_unfinished (self->path);
    /* A folder that is not there costs nothing. */
    if (code != SQLITE_CANTOPEN)
      self->copy_time =
          watch_store_is_closing (self) ? G_MAXINT64 : g_get_monotonic_time () + self->copy_delay;
    return code;
  }
  self->copy_time = self->copy_delay = 0;
  sync_folder (self->path);
  /* Before the old files go: closing the last connection may write to them. */
  watch_store_close_readers (self);
  g_clear_pointer (&self->db, watch_db_free);
  code = watch_store_open_file (self, error);
  if (*error && code == SQLITE_OK)
    code = SQLITE_CANTOPEN;
  if (code != SQLITE_OK) {
    watch_store_close_file (self);
    return code;
  }
  g_warning ("%s was removed or replaced while it was open: written again with all records",
             self->path);
  g_mutex_lock (&self->mutex);
  self->stats.restored++;
  g_mutex_unlock (&self->mutex);
  return SQLITE_OK;
}
