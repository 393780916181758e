/* cudaccl-watch - tables of the database, and their upgrades
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/store/private.h"

#include <gio/gio.h>

/* The n-th entry upgrades a database of version n to n + 1. Before it, the table of events gets its
 * new columns, from watch_event_fields. Once released, entries must not change: add new ones.
 * Cameras, sessions, zones and classes are numbers of `names`, 0 for none. */
static const gchar *const upgrades[] = {
  "CREATE TABLE names (number INTEGER PRIMARY KEY, name TEXT NOT NULL);"
  "CREATE INDEX events_time ON events (time);"
  "CREATE INDEX events_camera ON events (camera, time);"
  "CREATE INDEX events_zone ON events (zone, time) WHERE zone > 0;"
  "CREATE INDEX events_class ON events (class, time) WHERE class > 0;"
  "CREATE INDEX events_kind ON events (kind, time);"
  "CREATE INDEX events_picture ON events (picture) WHERE picture IS NOT NULL;"
  "CREATE INDEX events_clip ON events (clip) WHERE clip IS NOT NULL;"
  "CREATE TABLE tracks (row INTEGER PRIMARY KEY AUTOINCREMENT, camera INTEGER, session INTEGER,"
  " number INTEGER, \"begin\" INTEGER, \"end\" INTEGER, class INTEGER, confidence REAL, path BLOB,"
  " picture TEXT);"
  "CREATE INDEX tracks_end ON tracks (\"end\");"
  "CREATE INDEX tracks_picture ON tracks (picture) WHERE picture IS NOT NULL;"
  "CREATE TABLE blocks (last INTEGER PRIMARY KEY, min_begin INTEGER, max_begin INTEGER,"
  " max_end INTEGER, cameras INTEGER, classes INTEGER, zones INTEGER, cells BLOB, heads BLOB,"
  " paths BLOB);"
  "CREATE INDEX blocks_begin ON blocks (max_begin);"
  "CREATE TABLE minutes (camera INTEGER, zone INTEGER, time INTEGER, \"in\" INTEGER, out INTEGER,"
  " inside INTEGER, PRIMARY KEY (camera, zone, time)) WITHOUT ROWID;"
  "CREATE INDEX minutes_time ON minutes (time);"
  "CREATE TABLE cameras (camera INTEGER PRIMARY KEY, last_track INTEGER);"
  "CREATE TABLE counts (camera INTEGER, zone INTEGER, \"in\" INTEGER, out INTEGER,"
  " PRIMARY KEY (camera, zone)) WITHOUT ROWID;"
  "CREATE TABLE lines (row INTEGER PRIMARY KEY AUTOINCREMENT, camera INTEGER, kind INTEGER,"
  " line BLOB);"
  "CREATE TABLE sinks (name TEXT PRIMARY KEY, kinds INTEGER, place INTEGER, dropped INTEGER);",
};

guint
watch_schema_get_version (void)
{
  return MAX (G_N_ELEMENTS (upgrades), watch_events_get_version ());
}

gboolean
watch_schema_check (gint64 version, GError **error)
{
  const guint newest = watch_schema_get_version ();

  if (version <= (gint64) newest)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "written by a newer version of cudaccl-watch (schema %d, this one knows %u)",
               (int) version, newest);
  return FALSE;
}

int
watch_schema_upgrade (WatchDb *db, GError **error)
{
  gint64 version;
  int code = watch_db_get_int (db, &version, "PRAGMA user_version", "");

  if (code != SQLITE_OK)
    return code;
  if (!watch_schema_check (version, error))
    return SQLITE_OK;
  for (; version < (gint64) watch_schema_get_version (); version++) {
    g_autofree gchar *events = watch_events_get_schema ((guint) version + 1);
    g_autofree gchar *sql = g_strdup_printf (
        "BEGIN IMMEDIATE; %s%s PRAGMA user_version = %d; COMMIT", events,
        version < (gint64) G_N_ELEMENTS (upgrades) ? upgrades[version] : "", (int) version + 1);

    code = sqlite3_exec (db->db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK)
      return code;
  }
  return SQLITE_OK;
}
