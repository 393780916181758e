/* cudaccl-watch - connections to the database
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/store/private.h"

#include <gio/gio.h>

#define MAX_READERS 8

void
watch_db_set_error (int code, GError **error)
{
  g_autofree gchar *seconds =
      g_strdup_printf ("%d", (int) (WATCH_STORE_SEARCH_TIME / G_TIME_SPAN_SECOND));
  WebReason *reason =
      code == SQLITE_INTERRUPT
          ? web_reason_new (WEB_REASON_SEARCH_SLOW, "seconds", seconds, NULL)
          : web_reason_new (WEB_REASON_DATABASE_FAILED, "detail", sqlite3_errstr (code), NULL);

  g_propagate_error (error, web_reason_to_error (reason));
}

void
watch_db_free (WatchDb *db)
{
  g_hash_table_unref (db->statements);
  sqlite3_close (db->db);
  g_free (db);
}

static int
on_progress (void *data)
{
  WatchDb *db = data;

  return db->deadline && g_get_monotonic_time () > db->deadline;
}

WatchDb *
watch_db_open (const gchar *path, gboolean write)
{
  WatchDb *db = g_new0 (WatchDb, 1);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (write ? SQLITE_OPEN_CREATE : 0);

  db->statements = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                          (GDestroyNotify) (void (*) (void)) sqlite3_finalize);
  /* If this fails, the handle has the error code. */
  if (sqlite3_open_v2 (path, &db->db, flags, NULL) == SQLITE_OK) {
    /* Closing the last connection copies the journal to the database, and removes it. Where the
     * journal's index cannot be opened, SQLite takes the journal for empty. */
    sqlite3_db_config (db->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* Other programs may have the file open. */
    sqlite3_busy_timeout (db->db, 2000);
    sqlite3_exec (db->db,
                  write ? "PRAGMA temp_store = MEMORY"
                        : "PRAGMA query_only = 1; PRAGMA temp_store = MEMORY",
                  NULL, NULL, NULL);
    if (!write)
      sqlite3_progress_handler (db->db, 10000, on_progress, db);
  }
  return db;
}

sqlite3_stmt *
watch_db_prepare (WatchDb *db, const gchar *sql)
{
  sqlite3_stmt *statement = g_hash_table_lookup (db->statements, sql);

  if (statement) {
    sqlite3_reset (statement);
    return statement;
  }
  if (sqlite3_prepare_v3 (db->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
      SQLITE_OK)
    return NULL;
  g_hash_table_insert (db->statements, g_strdup (sql), statement);
  return statement;
}

static sqlite3_stmt *
db_query_valist (WatchDb *db, const gchar *sql, const gchar *types, va_list args)
{
  sqlite3_stmt *statement = watch_db_prepare (db, sql);

  for (gint i = 1; statement && types[i - 1]; i++) {
    switch (types[i - 1]) {
    case 'i':
      sqlite3_bind_int64 (statement, i, va_arg (args, gint64));
      break;
    case 'd':
      sqlite3_bind_double (statement, i, va_arg (args, gdouble));
      break;
    case 's':
      sqlite3_bind_text (statement, i, va_arg (args, const gchar *), -1, SQLITE_STATIC);
      break;
    case 'b': {
      GByteArray *bytes = va_arg (args, GByteArray *);

      sqlite3_bind_blob64 (statement, i, bytes->data, bytes->len, SQLITE_STATIC);
      break;
    }
    default:
      g_assert_not_reached ();
    }
  }
  return statement;
}

sqlite3_stmt *
watch_db_query (WatchDb *db, const gchar *sql, const gchar *types, ...)
{
  sqlite3_stmt *statement;
  va_list args;

  va_start (args, types);
  statement = db_query_valist (db, sql, types, args);
  va_end (args);
  return statement;
}

int
watch_db_run (WatchDb *db, const gchar *sql, const gchar *types, ...)
{
  sqlite3_stmt *statement;
  va_list args;

  va_start (args, types);
  statement = db_query_valist (db, sql, types, args);
  va_end (args);
  if (!statement)
    return sqlite3_extended_errcode (db->db);
  while (sqlite3_step (statement) == SQLITE_ROW)
    ;
  return sqlite3_reset (statement);
}

int
watch_db_get_int (WatchDb *db, gint64 *value, const gchar *sql, const gchar *types, ...)
{
  sqlite3_stmt *statement;
  va_list args;

  *value = 0;
  va_start (args, types);
  statement = db_query_valist (db, sql, types, args);
  va_end (args);
  if (!statement)
    return sqlite3_errcode (db->db);
  if (sqlite3_step (statement) == SQLITE_ROW)
    *value = sqlite3_column_int64 (statement, 0);
  return sqlite3_reset (statement);
}

WatchDb *
watch_store_get_reader (WatchStore *self, gboolean limit, GError **error)
{
  WatchDb *db = NULL;
  guint generation;

  g_mutex_lock (&self->mutex);
  generation = self->generation;
  if (self->readers->len > 0)
    db = g_ptr_array_steal_index_fast (self->readers, self->readers->len - 1);
  g_mutex_unlock (&self->mutex);
  if (!db)
    db = watch_db_open (self->path, FALSE);
  db->generation = generation;
  db->deadline = limit ? g_get_monotonic_time () + self->search_time : 0;
  /* All statements until the commit see the same state. */
  if (watch_db_run (db, "BEGIN", "") != SQLITE_OK) {
    watch_db_set_error (sqlite3_errcode (db->db), error);
    watch_db_free (db);
    return NULL;
  }
  return db;
}

void
watch_store_close_readers (WatchStore *self)
{
  g_mutex_lock (&self->mutex);
  g_ptr_array_set_size (self->readers, 0);
  self->generation++;
  g_mutex_unlock (&self->mutex);
}

void
watch_store_return_reader (WatchStore *self, WatchDb *db)
{
  GHashTableIter iter;
  gpointer statement;

  /* A statement that has not been reset would keep the transaction open. */
  g_hash_table_iter_init (&iter, db->statements);
  while (g_hash_table_iter_next (&iter, NULL, &statement))
    sqlite3_reset (statement);
  db->deadline = 0;
  if (watch_db_run (db, "COMMIT", "") != SQLITE_OK) {
    watch_db_free (db);
    return;
  }
  g_mutex_lock (&self->mutex);
  if (self->readers->len < MAX_READERS && db->generation == self->generation)
    g_ptr_array_add (self->readers, g_steal_pointer (&db));
  g_mutex_unlock (&self->mutex);
  g_clear_pointer (&db, watch_db_free);
}
