/* cudaccl-watch - removes the oldest files of the media folder
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/media/private.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  gchar *day;  /* CAMERA/DAY, of the table */
  gchar *file; /* begins with the time */
} File;

static void
file_clear (gpointer data)
{
  g_free (((File *) data)->day);
  g_free (((File *) data)->file);
}

static gint
compare_files (gconstpointer a, gconstpointer b)
{
  return strcmp (((const File *) a)->file, ((const File *) b)->file);
}

static void
collect_file (WatchMedia *self, const gchar *day, const gchar *file, gpointer user_data)
{
  const File item = { g_strdup (day), g_strdup (file) };

  if (g_regex_match (self->file_name, file, 0, NULL))
    g_array_append_val (user_data, item);
  else
    file_clear ((gpointer) &item);
}

/* Returns the date of @day, CAMERA/DAY. */
static const gchar *
get_date (const gchar *day)
{
  return strchr (day, '/') + 1;
}

/* Whether @day belongs to one of @cameras, a set, or to any if it is NULL. */
static gboolean
is_of (const gchar *day, GHashTable *cameras)
{
  g_autofree gchar *camera = g_path_get_dirname (day);

  return !cameras || g_hash_table_contains (cameras, camera);
}

/* Returns the date of the oldest files of @cameras, or NULL. */
static gchar *
find_oldest (WatchMedia *self, GHashTable *cameras)
{
  const gchar *oldest = NULL;
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->days);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    if (is_of (key, cameras) && (!oldest || strcmp (get_date (key), oldest) < 0))
      oldest = get_date (key);
  }
  return g_strdup (oldest);
}

/* Returns the files of @cameras of @date, oldest first. */
static GArray *
list_files (WatchMedia *self, const gchar *date, GHashTable *cameras)
{
  GArray *files = g_array_new (FALSE, FALSE, sizeof (File));
  GHashTableIter iter;
  gpointer key;

  g_array_set_clear_func (files, file_clear);
  g_hash_table_iter_init (&iter, self->days);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    if (g_str_equal (get_date (key), date) && is_of (key, cameras))
      watch_media_list_day (self, key, collect_file, files);
  }
  g_array_sort (files, compare_files);
  return files;
}

static gboolean
is_light (gpointer key, gpointer bytes, gpointer share)
{
  return *(guint64 *) bytes <= *(guint64 *) share;
}

/* Returns the set of cameras that take more than their share of the space. It is not empty while
 * the files exceed the limit. */
static GHashTable *
find_heavy (WatchMedia *self)
{
  GHashTable *cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer key, bytes;
  guint64 share, n = 0;

  g_hash_table_iter_init (&iter, self->days);
  while (g_hash_table_iter_next (&iter, &key, &bytes)) {
    gchar *camera = g_path_get_dirname (key);
    guint64 *sum = g_hash_table_lookup (cameras, camera);

    if (!sum) {
      sum = g_new0 (guint64, 1);
      g_hash_table_insert (cameras, g_strdup (camera), sum);
    }
    n += !*sum && *(guint64 *) bytes;
    *sum += *(guint64 *) bytes;
    g_free (camera);
  }
  share = self->retention_bytes / MAX (n, 1);
  g_hash_table_foreach_remove (cameras, is_light, &share);
  return cameras;
}

static gboolean
is_too_large (WatchMedia *self)
{
  gboolean too_large;

  g_mutex_lock (&self->lock);
  too_large = self->retention_bytes && self->stats.bytes > self->retention_bytes;
  g_mutex_unlock (&self->lock);
  return too_large;
}

static void
remove_file (WatchMedia *self, const File *file, GPtrArray *names)
{
  gchar *name = g_build_filename (file->day, file->file, NULL);
  g_autofree gchar *path = g_build_filename (self->folder, name, NULL);
  guint64 *sum = g_hash_table_lookup (self->days, file->day);
  guint64 size = watch_media_get_size (path);

  if (g_unlink (path) < 0 && errno != ENOENT) {
    watch_media_take_error (self, web_reason_new (WEB_REASON_MEDIA_NOT_REMOVED, "path", path,
                                                  "detail", g_strerror (errno), NULL));
    g_free (name);
    return;
  }
  size = MIN (size, *sum);
  *sum -= size;
  g_mutex_lock (&self->lock);
  self->stats.bytes -= size;
  self->stats.removed++;
  g_mutex_unlock (&self->lock);
  g_ptr_array_add (names, name);
}

/* Removes the empty folders of @date and @cameras, except those in @kept. */
static void
forget_days (WatchMedia *self, const gchar *date, GHashTable *cameras, GHashTable *kept)
{
  GHashTableIter iter;
  gpointer key, sum;

  g_hash_table_iter_init (&iter, self->days);
  while (g_hash_table_iter_next (&iter, &key, &sum)) {
    g_autofree gchar *path = g_build_filename (self->folder, key, NULL);
    g_autofree gchar *camera = g_path_get_dirname (path);

    if (!g_str_equal (get_date (key), date) || !is_of (key, cameras) ||
        (kept && g_hash_table_contains (kept, key)))
      continue;
    if (g_rmdir (path) == 0)
      g_hash_table_add (self->absent, g_strdup (key));
    /* Fails if there are other days. */
    g_rmdir (camera);
    /* Bytes of files that other programs removed. */
    g_mutex_lock (&self->lock);
    self->stats.bytes -= *(guint64 *) sum;
    g_mutex_unlock (&self->lock);
    g_hash_table_iter_remove (&iter);
  }
}

/* Removes the files from before @limit. Clips may be written to the folder of @today and, around
 * midnight, yesterday. */
static void
sweep_old (WatchMedia *self, GDateTime *limit, const gchar *today, GPtrArray *names)
{
  g_autofree gchar *limit_date = g_date_time_format (limit, "%Y-%m-%d");
  g_autofree gchar *limit_time = g_date_time_format (limit, "%H%M%S");

  for (;;) {
    g_autofree gchar *date = find_oldest (self, NULL);
    const gint age = date ? strcmp (date, limit_date) : 1;
    g_autoptr (GArray) files = NULL;
    guint i;

    if (age > 0)
      return;
    files = list_files (self, date, NULL);
    for (i = 0; i < files->len; i++) {
      const File *file = &g_array_index (files, File, i);

      if (age == 0 && strncmp (file->file, limit_time, 6) >= 0)
        break;
      remove_file (self, file, names);
    }
    if (i < files->len || strcmp (date, today) >= 0)
      return;
    forget_days (self, date, NULL, NULL);
  }
}

/* Removes files of cameras with more than their share until all fit. A camera that floods the
 * folder pushes out none of the others. Stops where nothing more can go: files of today that are
 * kept fit, or their cameras have become light. */
static void
sweep_large (WatchMedia *self, const gchar *today, GPtrArray *names)
{
  gboolean progress = TRUE;

  while (progress && is_too_large (self)) {
    g_autoptr (GHashTable) heavy = find_heavy (self);
    g_autoptr (GHashTable) kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    g_autofree gchar *date = find_oldest (self, heavy);
    g_autoptr (GArray) files = NULL;
    const guint before = names->len;

    if (!date)
      return;
    files = list_files (self, date, heavy);
    for (guint i = 0; i < files->len; i++) {
      const File *file = &g_array_index (files, File, i);
      g_autoptr (GHashTable) now_heavy = is_too_large (self) ? find_heavy (self) : NULL;

      if (now_heavy && is_of (file->day, now_heavy))
        remove_file (self, file, names);
      else
        g_hash_table_add (kept, g_strdup (file->day));
    }
    progress = names->len > before || strcmp (date, today) < 0;
    if (strcmp (date, today) < 0)
      forget_days (self, date, heavy, kept);
  }
}

gchar **
watch_media_sweep (WatchMedia *self, gint64 now)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GDateTime) today = g_date_time_new_from_unix_utc (now / G_USEC_PER_SEC);
  g_autoptr (GDateTime) limit = g_date_time_add_days (today, -(gint) self->retention_days);
  g_autofree gchar *today_date = g_date_time_format (today, "%Y-%m-%d");

  g_mutex_lock (&self->index_lock);
  /* The sums are of the files of another disk. */
  if (!watch_media_notice_disk (self)) {
    if (self->retention_days)
      sweep_old (self, limit, today_date, names);
    sweep_large (self, today_date, names);
  }
  g_mutex_unlock (&self->index_lock);
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}
