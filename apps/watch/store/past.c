/* cudaccl-watch - counts and numbers kept over restarts
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Read once, when the database is opened. A camera that starts later gets them from memory: records
 * may wait for the disk, and numbers must not come again. */

#include "apps/watch/store/private.h"

typedef struct
{
  guint64 last_track;
  gint64 lost_since;
  GArray *counts; /* WatchStoreCounts */
} Past;

static void
clear_counts (gpointer data)
{
  g_free (((WatchStoreCounts *) data)->zone);
}

static GArray *
counts_new (void)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (WatchStoreCounts));

  g_array_set_clear_func (counts, clear_counts);
  return counts;
}

static void
past_free (gpointer data)
{
  Past *past = data;

  g_array_unref (past->counts);
  g_free (past);
}

static Past *
get_past (GHashTable *pasts, const gchar *camera)
{
  Past *past = g_hash_table_lookup (pasts, camera);

  if (!past) {
    past = g_new0 (Past, 1);
    past->counts = counts_new ();
    g_hash_table_insert (pasts, g_strdup (camera), past);
  }
  return past;
}

static void
set_counts (Past *past, const gchar *zone, guint64 in, guint64 out)
{
  WatchStoreCounts counts = { NULL, in, out };

  for (guint i = 0; i < past->counts->len; i++) {
    WatchStoreCounts *known = &g_array_index (past->counts, WatchStoreCounts, i);

    if (g_str_equal (known->zone, zone)) {
      known->in = in;
      known->out = out;
      return;
    }
  }
  counts.zone = g_strdup (zone);
  g_array_append_val (past->counts, counts);
}

/* --- Reading --- */

typedef void (*RowFunc) (WatchStore *self, Past *past, sqlite3_stmt *statement);

/* Calls @func with the rows of @sql, whose first column is a camera. */
static int
read_rows (WatchStore *self, GHashTable *pasts, const gchar *sql, RowFunc func)
{
  sqlite3_stmt *statement = watch_db_query (self->db, sql, "");

  if (!statement)
    return sqlite3_errcode (self->db->db);
  while (sqlite3_step (statement) == SQLITE_ROW) {
    g_autofree gchar *camera =
        watch_names_get_name (self->names, (guint32) sqlite3_column_int64 (statement, 0));

    if (camera)
      func (self, get_past (pasts, camera), statement);
  }
  return sqlite3_reset (statement);
}

static void
read_track (WatchStore *self, Past *past, sqlite3_stmt *statement)
{
  past->last_track = (guint64) sqlite3_column_int64 (statement, 1);
}

static void
read_counts (WatchStore *self, Past *past, sqlite3_stmt *statement)
{
  g_autofree gchar *zone =
      watch_names_get_name (self->names, (guint32) sqlite3_column_int64 (statement, 1));

  if (zone)
    set_counts (past, zone, (guint64) sqlite3_column_int64 (statement, 2),
                (guint64) sqlite3_column_int64 (statement, 3));
}

static void
read_state (WatchStore *self, Past *past, sqlite3_stmt *statement)
{
  past->lost_since = sqlite3_column_int (statement, 1) == WATCH_EVENT_LOST
                         ? sqlite3_column_int64 (statement, 2)
                         : 0;
}

int
watch_past_load (WatchStore *self)
{
  g_autoptr (GHashTable) pasts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, past_free);
  g_autofree gchar *states =
      g_strdup_printf ("SELECT camera, kind, time, max(row) FROM events INDEXED BY events_kind "
                       "WHERE kind IN (%d, %d) GROUP BY camera",
                       WATCH_EVENT_LOST, WATCH_EVENT_BACK);
  int code;

  /* After a damage, memory knows more than the new file. */
  if (self->pasts)
    return SQLITE_OK;
  code = read_rows (self, pasts, "SELECT camera, last_track FROM cameras", read_track);
  if (code == SQLITE_OK)
    code = read_rows (self, pasts, "SELECT camera, zone, \"in\", out FROM counts", read_counts);
  if (code == SQLITE_OK)
    code = read_rows (self, pasts, states, read_state);
  if (code == SQLITE_OK)
    self->pasts = g_steal_pointer (&pasts);
  return code;
}

/* --- Adding --- */

void
watch_past_add_event (WatchStore *self, const WatchEvent *event)
{
  Past *past = get_past (self->pasts, event->camera);

  past->last_track = MAX (past->last_track, event->track);
  if (event->zone)
    set_counts (past, event->zone, event->in, event->out);
  if (event->kind == WATCH_EVENT_LOST)
    past->lost_since = event->time;
  else if (event->kind == WATCH_EVENT_BACK)
    past->lost_since = 0;
}

void
watch_past_add_track (WatchStore *self, const WatchTrack *track)
{
  Past *past = get_past (self->pasts, track->camera);

  past->last_track = MAX (past->last_track, track->number);
}

/* --- For cameras and scans --- */

void
watch_store_get_past (WatchStore *self, const gchar *camera, WatchStorePast *past)
{
  const Past *known;

  *past = (WatchStorePast){ .counts = counts_new () };
  g_mutex_lock (&self->mutex);
  known = g_hash_table_lookup (self->pasts, camera);
  for (guint i = 0; known && i < known->counts->len; i++) {
    WatchStoreCounts counts = g_array_index (known->counts, WatchStoreCounts, i);

    counts.zone = g_strdup (counts.zone);
    g_array_append_val (past->counts, counts);
  }
  past->last_track = known ? known->last_track : 0;
  past->lost_since = known ? known->lost_since : 0;
  g_mutex_unlock (&self->mutex);
}

void
watch_store_past_clear (WatchStorePast *past)
{
  g_clear_pointer (&past->counts, g_array_unref);
}

gboolean
watch_store_get_session_end (WatchStore *self, const gchar *session, gint64 *end, GError **error)
{
  WatchDb *db;
  int code;

  watch_store_flush (self);
  db = watch_store_get_reader (self, FALSE, error);
  if (!db)
    return FALSE;
  code = watch_db_get_int (db, end, "SELECT max (\"end\") FROM tracks WHERE session = ?", "i",
                           (gint64) watch_names_get_number (self->names, session, FALSE));
  if (code != SQLITE_OK)
    watch_db_set_error (code, error);
  watch_store_return_reader (self, db);
  return code == SQLITE_OK;
}
