/* cudaccl-watch - counts and numbers kept over restarts
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/store/private.h"

static void
clear_counts (gpointer data)
{
  g_free (((WatchStoreCounts *) data)->zone);
}

static void
add_counts (WatchStore *self, WatchDb *db, gint64 camera, GArray *counts)
{
  sqlite3_stmt *statement =
      watch_db_query (db, "SELECT zone, \"in\", out FROM counts WHERE camera = ?", "i", camera);

  while (statement && sqlite3_step (statement) == SQLITE_ROW) {
    WatchStoreCounts one = {
      watch_names_get_name (self->names, (guint32) sqlite3_column_int64 (statement, 0)),
      (guint64) sqlite3_column_int64 (statement, 1),
      (guint64) sqlite3_column_int64 (statement, 2),
    };

    if (one.zone)
      g_array_append_val (counts, one);
  }
}

/* Returns the row of the camera's last event of the kind, or 0. Such events are few. */
static gint64
find_last (WatchDb *db, gint64 camera, WatchEventKind kind)
{
  return watch_db_get_int (db,
                           "SELECT row FROM events INDEXED BY events_kind "
                           "WHERE kind = ? AND camera = ? ORDER BY time DESC, row DESC LIMIT 1",
                           "ii", (gint64) kind, camera);
}

void
watch_store_get_past (WatchStore *self, const gchar *camera, WatchStorePast *past)
{
  gint64 number, lost;
  WatchDb *db;

  *past = (WatchStorePast){ .counts = g_array_new (FALSE, FALSE, sizeof (WatchStoreCounts)) };
  g_array_set_clear_func (past->counts, clear_counts);
  watch_store_flush (self);
  db = watch_store_get_reader (self, FALSE, NULL);
  if (!db)
    return;
  number = watch_names_get_number (self->names, camera, FALSE);
  past->last_track = (guint64) watch_db_get_int (
      db, "SELECT last_track FROM cameras WHERE camera = ?", "i", number);
  add_counts (self, db, number, past->counts);
  lost = find_last (db, number, WATCH_EVENT_LOST);
  if (lost > find_last (db, number, WATCH_EVENT_BACK))
    past->lost_since = watch_db_get_int (db, "SELECT time FROM events WHERE row = ?", "i", lost);
  watch_store_return_reader (self, db);
}

void
watch_store_past_clear (WatchStorePast *past)
{
  g_clear_pointer (&past->counts, g_array_unref);
}

gint64
watch_store_get_session_end (WatchStore *self, const gchar *session)
{
  WatchDb *db;
  gint64 end;

  watch_store_flush (self);
  db = watch_store_get_reader (self, FALSE, NULL);
  if (!db)
    return 0;
  end = watch_db_get_int (db, "SELECT max (\"end\") FROM tracks WHERE session = ?", "i",
                          (gint64) watch_names_get_number (self->names, session, FALSE));
  watch_store_return_reader (self, db);
  return end;
}
