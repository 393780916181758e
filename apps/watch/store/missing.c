/* cudaccl-watch - files that records name and that are missing
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Records are stored before their files are written. Rows are checked in order, each of them once,
 * up to the first that has a pending file. */

#include "apps/watch/store/private.h"

/* Clips take minutes, and files may wait for the disk. */
#define FIRST_TIME G_TIME_SPAN_HOUR
#define ROWS 1000

static const struct
{
  const gchar *begin; /* the row before the first to look at */
  const gchar *last, *files;
} tables[] = {
  { "SELECT min(row) - 1 FROM events WHERE time >= (SELECT max(time) FROM events) - ?",
    "SELECT max(row) FROM events",
    "SELECT row, picture, clip FROM events WHERE row > ? AND (picture IS NOT NULL OR clip IS NOT "
    "NULL) ORDER BY row LIMIT ?" },
  { "SELECT min(row) - 1 FROM tracks WHERE \"end\" >= (SELECT max(\"end\") FROM tracks) - ?",
    "SELECT max(row) FROM tracks",
    "SELECT row, picture, NULL FROM tracks WHERE row > ? AND picture IS NOT NULL "
    "ORDER BY row LIMIT ?" },
};

G_STATIC_ASSERT (G_N_ELEMENTS (tables) == G_N_ELEMENTS (((WatchStore *) NULL)->checked));

/* Adds the missing files of some rows after @row to @names. Sets @row to the last row that needs no
 * other look, and @more if there are more. */
static int
look_at_rows (WatchDb *db, guint table, gint64 *row, WatchStoreFileFunc func, gpointer user_data,
              GPtrArray *names, gboolean *more)
{
  gint64 last;
  int code = watch_db_get_int (db, &last, tables[table].last, "");
  sqlite3_stmt *statement = watch_db_query (db, tables[table].files, "ii", *row, (gint64) ROWS);
  guint n = 0;

  *more = FALSE;
  if (code != SQLITE_OK || !statement)
    return code != SQLITE_OK ? code : sqlite3_errcode (db->db);
  for (; sqlite3_step (statement) == SQLITE_ROW; n++) {
    gboolean pending = FALSE;

    for (int i = 1; i <= 2; i++) {
      const gchar *name = (const gchar *) sqlite3_column_text (statement, i);
      const WatchFileState state = name ? func (name, user_data) : WATCH_FILE_THERE;

      pending |= state == WATCH_FILE_PENDING;
      if (state == WATCH_FILE_MISSING)
        g_ptr_array_add (names, g_strdup (name));
    }
    if (pending)
      return sqlite3_reset (statement);
    *row = sqlite3_column_int64 (statement, 0);
  }
  code = sqlite3_reset (statement);
  *more = code == SQLITE_OK && n == ROWS;
  if (code == SQLITE_OK && n < ROWS)
    *row = MAX (*row, last);
  return code;
}

void
watch_store_forget_missing (WatchStore *self, WatchStoreFileFunc func, gpointer user_data)
{
  for (guint table = 0; table < G_N_ELEMENTS (tables); table++) {
    gboolean more = TRUE;

    while (more) {
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      gint64 *row = &self->checked[table];
      WatchDb *db = watch_store_get_reader (self, FALSE, NULL);
      int code = SQLITE_OK;

      if (!db)
        return;
      /* A new file counts its rows anew. */
      if (self->checked_generation != db->generation + 1) {
        for (guint i = 0; i < G_N_ELEMENTS (tables) && code == SQLITE_OK; i++)
          code = watch_db_get_int (db, &self->checked[i], tables[i].begin, "i", FIRST_TIME);
        if (code == SQLITE_OK)
          self->checked_generation = db->generation + 1;
      }
      if (code == SQLITE_OK)
        code = look_at_rows (db, table, row, func, user_data, names, &more);
      watch_store_return_reader (self, db);
      if (names->len) {
        g_ptr_array_add (names, NULL);
        watch_store_forget_files (self, (const gchar *const *) names->pdata);
      }
      if (code != SQLITE_OK)
        return;
    }
  }
}
