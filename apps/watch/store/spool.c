/* cudaccl-watch - lines that sinks have not taken yet
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All sinks share the table `lines`. The place of a sink is the row of the last line it has
 * taken. A line stays until all sinks have passed it. */

#include "apps/watch/store/private.h"

#include <string.h>

/* Lines dropped at a time. */
#define DROP_LINES 64

void
watch_line_free (WatchLine *line)
{
  g_free (line->camera);
  g_free (line->line);
  g_free (line);
}

static WatchPlace *
find_sink (WatchStoreState *state, const gchar *name)
{
  for (guint i = 0; i < state->n_sinks; i++) {
    if (g_str_equal (state->sinks[i].name, name))
      return &state->sinks[i];
  }
  return NULL;
}

static int
count_lines (WatchStore *self, WatchLineKinds kinds, gint64 after, gint64 last, guint64 *n)
{
  gint64 value;
  int code = watch_db_get_int (
      self->db, &value, "SELECT count(*) FROM lines WHERE row > ? AND row <= ? AND (kind & ?) != 0",
      "iii", after, last, (gint64) kinds);

  *n = (guint64) value;
  return code;
}

/* --- The writer's part --- */

int
watch_spool_load (WatchStore *self)
{
  WatchStoreState *state = &self->state;
  sqlite3_stmt *statement;
  gint64 bytes;
  int code;

  state->n_sinks = 0;
  code = watch_db_get_int (self->db, &state->last_line,
                           "SELECT seq FROM sqlite_sequence WHERE name = 'lines'", "");
  if (code == SQLITE_OK)
    code = watch_db_get_int (self->db, &bytes, "SELECT sum(length(line)) FROM lines", "");
  if (code != SQLITE_OK)
    return code;
  state->line_bytes = (guint64) bytes;
  statement = watch_db_query (self->db, "SELECT name, kinds, place, dropped FROM sinks", "");
  if (!statement)
    return sqlite3_errcode (self->db->db);
  while (state->n_sinks < WATCH_STORE_MAX_SINKS && sqlite3_step (statement) == SQLITE_ROW) {
    WatchPlace *sink = &state->sinks[state->n_sinks];
    const gchar *name = (const gchar *) sqlite3_column_text (statement, 0);

    if (!name)
      continue;
    sink->name = g_intern_string (name);
    sink->kinds = sqlite3_column_int64 (statement, 1);
    sink->place = sqlite3_column_int64 (statement, 2);
    sink->stats.dropped = sqlite3_column_int64 (statement, 3);
    code = count_lines (self, sink->kinds, sink->place, G_MAXINT64, &sink->stats.pending);
    if (code != SQLITE_OK)
      break;
    state->n_sinks++;
  }
  return code == SQLITE_OK ? sqlite3_reset (statement) : code;
}

gboolean
watch_spool_wants (WatchStore *self, WatchLineKinds kind)
{
  for (guint i = 0; i < self->state.n_sinks && !g_atomic_int_get (&self->no_spool); i++) {
    if (self->state.sinks[i].kinds & kind)
      return TRUE;
  }
  return FALSE;
}

int
watch_spool_add (WatchStore *self, WatchLineKinds kind, const gchar *camera, const gchar *line)
{
  WatchStoreState *state = &self->state;
  GByteArray bytes = { (guint8 *) line, strlen (line) };
  int code = watch_db_run (self->db, "INSERT INTO lines VALUES (NULL, ?, ?, ?)", "iib",
                           (gint64) watch_names_get_number (self->names, camera, TRUE),
                           (gint64) kind, &bytes);

  if (code != SQLITE_OK)
    return code;
  state->last_line = sqlite3_last_insert_rowid (self->db->db);
  state->line_bytes += bytes.len;
  for (guint i = 0; i < state->n_sinks; i++) {
    if (state->sinks[i].kinds & kind)
      state->sinks[i].stats.pending++;
  }
  return SQLITE_OK;
}

static int
write_sink (WatchStore *self, const WatchPlace *sink)
{
  return watch_db_run (self->db, "INSERT OR REPLACE INTO sinks VALUES (?, ?, ?, ?)", "siii",
                       sink->name, (gint64) sink->kinds, sink->place, (gint64) sink->stats.dropped);
}

int
watch_spool_continue (WatchStore *self, const WatchStoreState *before)
{
  WatchStoreState *state = &self->state;
  int code = SQLITE_OK;

  if (state->n_sinks > 0 || before->n_sinks == 0)
    return SQLITE_OK;
  state->n_sinks = before->n_sinks;
  state->last_line = before->last_line;
  if (state->last_line > 0)
    code = watch_db_run (self->db, "INSERT INTO sqlite_sequence VALUES ('lines', ?)", "i",
                         state->last_line);
  for (guint i = 0; i < state->n_sinks && code == SQLITE_OK; i++) {
    WatchPlace *sink = &state->sinks[i];

    *sink = before->sinks[i];
    /* Lines that it had not taken are lost. */
    sink->stats.dropped += sink->stats.pending;
    sink->stats.pending = 0;
    sink->place = state->last_line;
    code = write_sink (self, sink);
  }
  return code;
}

int
watch_spool_set_sinks (WatchStore *self, const gchar *const *names, const WatchLineKinds *kinds,
                       guint64 max_bytes)
{
  WatchStoreState *state = &self->state;
  WatchStoreState before = *state;
  int code = watch_db_run (self->db, "DELETE FROM sinks", "");

  state->n_sinks = 0;
  for (guint i = 0; names[i] && i < WATCH_STORE_MAX_SINKS && code == SQLITE_OK; i++) {
    const WatchPlace *old = find_sink (&before, names[i]);
    WatchPlace *sink = &state->sinks[i];

    *sink = old ? *old : (WatchPlace){ g_intern_string (names[i]), 0, state->last_line };
    sink->kinds = kinds[i];
    state->n_sinks++;
    code = count_lines (self, sink->kinds, sink->place, G_MAXINT64, &sink->stats.pending);
    if (code == SQLITE_OK)
      code = write_sink (self, sink);
  }
  self->max_line_bytes = max_bytes;
  return code;
}

int
watch_spool_taken (WatchStore *self, const gchar *name, gint64 row)
{
  WatchPlace *sink = find_sink (&self->state, name);
  guint64 n;
  int code;

  row = MIN (row, self->state.last_line);
  if (!sink || row <= sink->place)
    return SQLITE_OK;
  code = count_lines (self, sink->kinds, sink->place, row, &n);
  if (code != SQLITE_OK)
    return code;
  sink->stats.pending -= MIN (sink->stats.pending, n);
  sink->place = row;
  return write_sink (self, sink);
}

/* Removes the lines up to @row. */
static int
remove_lines (WatchStore *self, gint64 row)
{
  gint64 bytes;
  int code = watch_db_get_int (self->db, &bytes,
                               "SELECT sum(length(line)) FROM lines WHERE row <= ?", "i", row);

  if (code != SQLITE_OK)
    return code;
  self->state.line_bytes -= MIN (self->state.line_bytes, (guint64) bytes);
  return watch_db_run (self->db, "DELETE FROM lines WHERE row <= ?", "i", row);
}

int
watch_spool_trim (WatchStore *self)
{
  WatchStoreState *state = &self->state;
  int code = SQLITE_OK;
  gint64 taken = G_MAXINT64, row = 0;

  for (guint i = 0; i < state->n_sinks; i++) {
    /* A sink without pending lines needs none of them. */
    if (state->sinks[i].stats.pending > 0)
      taken = MIN (taken, state->sinks[i].place);
  }
  if (state->line_bytes > 0)
    code = watch_db_get_int (self->db, &row, "SELECT EXISTS (SELECT 1 FROM lines WHERE row <= ?)",
                             "i", taken);
  if (code == SQLITE_OK && row)
    code = remove_lines (self, taken);

  while (code == SQLITE_OK && state->line_bytes > self->max_line_bytes) {
    code = watch_db_get_int (self->db, &row,
                             "SELECT max(row) FROM (SELECT row FROM lines ORDER BY row LIMIT ?)",
                             "i", (gint64) DROP_LINES);
    if (code == SQLITE_OK && row == 0) {
      state->line_bytes = 0;
      break;
    }
    for (guint i = 0; i < state->n_sinks && code == SQLITE_OK; i++) {
      WatchPlace *sink = &state->sinks[i];
      guint64 n;

      if (sink->place >= row)
        continue;
      code = count_lines (self, sink->kinds, sink->place, row, &n);
      if (code != SQLITE_OK)
        break;
      sink->stats.dropped += n;
      sink->stats.pending -= MIN (sink->stats.pending, n);
      sink->place = row;
      code = write_sink (self, sink);
    }
    if (code == SQLITE_OK)
      code = remove_lines (self, row);
  }
  return code;
}

/* --- From any thread --- */

/* Returns a copy of the sink's state after the last commit. */
static gboolean
get_sink (WatchStore *self, const gchar *name, WatchPlace *sink)
{
  WatchPlace *found;

  g_mutex_lock (&self->mutex);
  found = find_sink (&self->shown, name);
  if (found)
    *sink = *found;
  g_mutex_unlock (&self->mutex);
  return found != NULL;
}

GPtrArray *
watch_store_peek (WatchStore *self, const gchar *name, gint64 row, guint max)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_line_free);
  sqlite3_stmt *statement;
  WatchPlace sink;
  WatchDb *db;

  if (!get_sink (self, name, &sink) || !(db = watch_store_get_reader (self, FALSE, NULL)))
    return lines;
  statement = watch_db_query (
      db,
      "SELECT row, camera, kind, line FROM lines WHERE row > ? AND (kind & ?) != 0 ORDER BY row "
      "LIMIT ?",
      "iii", MAX (row, sink.place), (gint64) sink.kinds, (gint64) max);
  while (statement && sqlite3_step (statement) == SQLITE_ROW) {
    WatchLine *line = g_new0 (WatchLine, 1);
    const gchar *text = sqlite3_column_blob (statement, 3);

    line->row = sqlite3_column_int64 (statement, 0);
    line->camera = watch_names_get_name (self->names, sqlite3_column_int64 (statement, 1));
    line->kind = (WatchLineKinds) sqlite3_column_int64 (statement, 2);
    line->line = g_strndup (text ? text : "", sqlite3_column_bytes (statement, 3));
    g_ptr_array_add (lines, line);
  }
  watch_store_return_reader (self, db);
  return lines;
}

void
watch_store_get_spool_stats (WatchStore *self, const gchar *name, WatchSpoolStats *stats)
{
  WatchPlace sink = { 0 };

  get_sink (self, name, &sink);
  *stats = sink.stats;
}
