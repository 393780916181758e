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

/* Returns the date of the oldest files, or NULL. */
static gchar *
find_oldest (WatchMedia *self)
{
  const gchar *oldest = NULL;
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->days);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    const gchar *date = strchr (key, '/') + 1;

    if (!oldest || strcmp (date, oldest) < 0)
      oldest = date;
  }
  return g_strdup (oldest);
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

/* Forgets the folders of @date, which are empty. */
static void
remove_date (WatchMedia *self, const gchar *date)
{
  GHashTableIter iter;
  gpointer key, sum;

  g_hash_table_iter_init (&iter, self->days);
  while (g_hash_table_iter_next (&iter, &key, &sum)) {
    g_autofree gchar *path = g_build_filename (self->folder, key, NULL);
    g_autofree gchar *camera = g_path_get_dirname (path);

    if (!g_str_equal (strchr (key, '/') + 1, date))
      continue;
    g_rmdir (path);
    /* Fails if there are other days. */
    g_rmdir (camera);
    /* Bytes of files that other programs removed. */
    g_mutex_lock (&self->lock);
    self->stats.bytes -= *(guint64 *) sum;
    g_mutex_unlock (&self->lock);
    g_hash_table_iter_remove (&iter);
  }
}

gchar **
watch_media_sweep (WatchMedia *self, gint64 now)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const gint64 second = now / G_USEC_PER_SEC;
  g_autoptr (GDateTime) today = g_date_time_new_from_unix_utc (second);
  g_autoptr (GDateTime) limit = g_date_time_add_days (today, -(gint) self->retention_days);
  g_autofree gchar *today_date = g_date_time_format (today, "%Y-%m-%d");
  g_autofree gchar *limit_date = g_date_time_format (limit, "%Y-%m-%d");
  g_autofree gchar *limit_time = g_date_time_format (limit, "%H%M%S");

  g_mutex_lock (&self->index_lock);
  for (;;) {
    g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (File));
    g_autofree gchar *date = find_oldest (self);
    const gint age = date && self->retention_days ? strcmp (date, limit_date) : 1;
    GHashTableIter iter;
    gpointer key;
    guint i;

    if (!date || (age > 0 && !is_too_large (self)))
      break;
    g_array_set_clear_func (files, file_clear);
    g_hash_table_iter_init (&iter, self->days);
    while (g_hash_table_iter_next (&iter, &key, NULL)) {
      if (g_str_equal (strchr (key, '/') + 1, date))
        watch_media_list_day (self, key, collect_file, files);
    }
    g_array_sort (files, compare_files);
    for (i = 0; i < files->len; i++) {
      const File *file = &g_array_index (files, File, i);

      if (age > 0 || (age == 0 && strncmp (file->file, limit_time, 6) >= 0)) {
        if (!is_too_large (self))
          break;
      }
      remove_file (self, file, names);
    }
    /* Clips may be written to the folders of today and, around midnight, yesterday. */
    if (i < files->len || strcmp (date, today_date) >= 0)
      break;
    remove_date (self, date);
  }
  g_mutex_unlock (&self->index_lock);
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}
