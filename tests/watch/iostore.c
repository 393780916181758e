/* cudaccl-watch - tests of failures of I/O: the store
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/watch/iofailures.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/watch/records/json.h"
#include "apps/watch/store/private.h"
#include "tests/lib/removetree.h"

#define N_FORMER 1100 /* tracks of a former session; more than a block */
#define N_EVENTS 24
#define LATER (TIME + 1000 * G_USEC_PER_SEC)
#define N_HEALED 20      /* the failure ends before this event */
#define RETRY_TIME 20000 /* in microseconds */
#define PATIENCE (20 * G_USEC_PER_SEC)
#define LINE_BYTES 250000

/* Sink `b` takes nothing, `c` is new. */
static const gchar *const sinks[] = { "a", "b", "c", NULL };
static const WatchLineKinds kinds[] = { WATCH_LINE_EVENTS | WATCH_LINE_TRACKS | WATCH_LINE_FRAMES,
                                        WATCH_LINE_EVENTS, WATCH_LINE_FRAMES };

static gchar *former; /* the database of a former session, with the folder */

static WatchEvent *
event_new (const gchar *session, guint64 number)
{
  WatchEvent event = {
    .camera = (gchar *) "yard",
    .session = (gchar *) session,
    .number = number,
    .time = TIME + number * G_USEC_PER_SEC,
    .kind = WATCH_EVENT_IN,
    .zone = (gchar *) (number % 3 ? "door" : "gate"),
    .track = number,
    .x = 0.25,
    .y = 0.5,
    .in = number,
    .text = (gchar *) "a \"text\"",
  };

  return watch_event_copy (&event);
}

static WatchTrack *
track_new (const gchar *session, guint64 number)
{
  WatchPoint points[] = { { LATER, 0, 0, 0.5, 0.5 },
                          { LATER + number * 1000, 0.125, 0, 0.5, 0.5 } };
  WatchTrack track = {
    .camera = (gchar *) "yard",
    .session = (gchar *) session,
    .number = number,
    .begin = LATER,
    .end = LATER + number * 1000,
    .n_points = G_N_ELEMENTS (points),
    .points = points,
  };

  return watch_track_copy (&track);
}

static WatchMinute *
minute_new (void)
{
  WatchMinute *minute = g_new0 (WatchMinute, 1);

  minute->camera = g_strdup ("yard");
  minute->zone = g_strdup ("door");
  minute->time = LATER;
  minute->in = 1;
  return minute;
}

/* Makes the database of a former session, as kill -9 leaves it. */
static void
record_former (IoCase *self)
{
  WatchStore *store = watch_store_open (former, NULL);

  watch_store_set_sinks (store, (const gchar *const[]){ "a", "b", NULL }, kinds, G_MAXINT64);
  for (guint64 i = 1; i <= N_FORMER; i++) {
    watch_store_add_track (store, track_new ("former", i));
    if (i % 100 == 0)
      watch_store_add_event (store, event_new ("former", i));
  }
  watch_store_flush (store);
  watch_store_taken (store, "a", G_MAXINT64);
  _exit (watch_store_flush (store) ? EXIT_SUCCESS : EXIT_FAILURE);
}

static gboolean
prepare (IoCase *self)
{
  if (former)
    return TRUE;
  former = io_make_folder ();
  return io_case_run_process (self, record_former, "a former session");
}

static void
clean_up (void)
{
  if (former)
    remove_tree (former);
  g_clear_pointer (&former, g_free);
}

/* Copies the former session's database. */
static void
begin (IoCase *self)
{
  static const gchar *const names[] = { "watch.sqlite", "watch.sqlite-wal" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *from = g_build_filename (former, names[i], NULL);
    g_autofree gchar *to = g_build_filename (self->folder, names[i], NULL);
    g_autofree gchar *data = NULL;
    gsize size;

    EXPECT (self,
            g_file_get_contents (from, &data, &size, NULL) &&
                g_file_set_contents (to, data, (gssize) size, NULL),
            "cannot copy %s", from);
  }
}

static void
tell (IoCase *self, gint64 row, const gchar *line)
{
  static GMutex lock;

  g_mutex_lock (&lock);
  EXPECT (self, self->n_told < MAX_TOLD && strlen (line) < sizeof self->told[0].line,
          "too much was told");
  self->told[self->n_told].row = row;
  g_strlcpy (self->told[self->n_told].line, line, sizeof self->told[0].line);
  self->n_told++;
  g_mutex_unlock (&lock);
}

/* Runs in the store's thread; the sink's lines are told while it waits. */
static void
on_committed (GPtrArray *events, gpointer user_data)
{
  for (guint i = 0; i < events->len; i++) {
    g_autofree gchar *line = watch_event_to_json (g_ptr_array_index (events, i));

    tell (user_data, 0, line);
  }
}

static WatchStore *
open_store (IoCase *self)
{
  g_autoptr (GError) error = NULL;
  WatchStore *store = watch_store_open (self->folder, &error);

  if (!store) {
    EXPECT (self, self->fault.failed > 0, "cannot be opened: %s", error->message);
    EXPECT (self, strstr (error->message, self->folder), "which file? %s", error->message);
    EXPECT (self, !strstr (error->message, "newer version") && !strstr (error->message, "WAL"),
            "a wrong reason: %s", error->message);
    io_case_heal (self);
    g_clear_error (&error);
    store = watch_store_open (self->folder, &error);
    EXPECT (self, store, "cannot be opened after a failure: %s", error->message);
  }
  store->retry_time = RETRY_TIME;
  return store;
}

/* Sends what waits, as a sink does. */
static void
send_lines (IoCase *self, WatchStore *store, gint64 *last)
{
  g_autoptr (GPtrArray) lines = watch_store_peek (store, "a", *last, 16);

  for (guint i = 0; i < lines->len; i++) {
    const WatchLine *line = g_ptr_array_index (lines, i);

    EXPECT (self, line->row > *last, "row %d after %d", (int) line->row, (int) *last);
    *last = line->row;
    if (line->kind != WATCH_LINE_FRAMES)
      tell (self, line->row, line->line);
  }
  if (lines->len)
    watch_store_taken (store, "a", *last);
}

static gboolean
has_failed (WatchStore *store)
{
  WatchStoreStats stats;
  gboolean failed;

  watch_store_get_stats (store, &stats);
  failed = stats.last_error != NULL;
  web_reason_free (stats.last_error);
  return failed;
}

static void
check_recovered (IoCase *self, WatchStore *store)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  WatchStoreStats stats;

  while (!watch_store_flush (store))
    EXPECT (self, g_get_monotonic_time () < end, "writes nothing after the failure");
  watch_store_get_stats (store, &stats);
  EXPECT (self, !stats.last_error, "still: %s", stats.last_error->text);
  EXPECT (self, !stats.queued && !stats.dropped, "%u wait, %d were dropped", stats.queued,
          (int) stats.dropped);
  EXPECT (self, stats.events == self->added, "%d events", (int) stats.events);
}

/* The last number of a track, as a camera that starts now gets it. */
static guint64
get_last_track (WatchStore *store)
{
  WatchStorePast past;

  watch_store_get_past (store, "yard", &past);
  watch_store_past_clear (&past);
  return past.last_track;
}

static void
run (IoCase *self)
{
  WatchStore *store = open_store (self);
  g_autofree gchar *filler = g_strnfill (LINE_BYTES, 'f');
  g_autofree gchar *database = g_build_filename (self->folder, "watch.sqlite", NULL);
  gboolean failed = FALSE;
  gint64 last = 0;
  guint64 track;

  track = get_last_track (store);
  EXPECT (self, track == N_FORMER, "tracks go on after %d", (int) track);
  watch_store_set_committed (store, on_committed, self);
  watch_store_set_sinks (store, sinks, kinds, G_MAXINT64);
  for (guint i = 1; i <= N_EVENTS; i++) {
    if (i == N_HEALED && self->heals)
      io_case_heal (self);
    watch_store_add_event (store, event_new ("session", track + i));
    watch_store_add_track (store, track_new ("session", track + i));
    watch_store_add_minute (store, minute_new ());
    /* Enough for a checkpoint. */
    watch_store_add_line (store, "yard", WATCH_LINE_FRAMES, g_strdup (filler));
    if (!watch_store_flush (store) && has_failed (store))
      failed = TRUE;
    send_lines (self, store, &last);
    self->added = i;
    /* The settings are read again. */
    if (i == N_EVENTS / 2)
      watch_store_set_sinks (store, sinks, kinds, G_MAXINT64);
    if (i == N_EVENTS / 3)
      watch_store_remove_before (store, TIME + 300 * G_USEC_PER_SEC);
    EXPECT (self, get_last_track (store) == track + i, "tracks go on after %d, not %d",
            (int) get_last_track (store), (int) (track + i));
  }
  EXPECT (self, !failed || io_case_has_message (self, database, ": "), "the log does not tell it");
  if (self->fault.fail_end <= self->fault.calls) {
    check_recovered (self, store);
    self->complete = TRUE;
  }
  if (self->killed)
    _exit (0);
  watch_store_close (store);
}

/* --- With files that are removed --- */

#define N_REMOVED 12

/* How often a copy was begun. */
static guint
count_copies (const IoCase *self)
{
  const uint8_t file = io_fault_hash ("watch.sqlite.new");
  guint n = 0;

  for (gint64 i = 0; i < MIN (self->fault.calls, IO_FAULT_TRACE); i++)
    n += self->fault.trace[i].kind == IO_FAULT_OPEN && self->fault.trace[i].file == file;
  return n;
}

static void
remove_files (IoCase *self)
{
  static const gchar *const suffixes[] = { "", "-wal", "-shm" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++) {
    g_autofree gchar *path = g_strconcat (self->folder, "/watch.sqlite", suffixes[i], NULL);

    g_unlink (path);
  }
}

/* Copies fail for a while, for want of space that statvfs() does not tell. */
static void
fail_copies (IoCase *self)
{
  IoFault *fault = &self->fault;
  const gint64 at = fault->fail_at, end = fault->fail_end;
  const int error = fault->error;

  fault->error = ENOSPC;
  fault->failing = IO_FAULT_WRITES;
  fault->fail_at = fault->calls;
  fault->fail_end = G_MAXINT64;
  self->fault.space = 0;
  g_usleep (20 * RETRY_TIME);
  EXPECT (self, count_copies (self) > 0 || !(fault->kinds & 1u << IO_FAULT_OPEN),
          "no copy was begun");
  EXPECT (self, count_copies (self) < 8, "%u copies were begun", count_copies (self));
  fault->fail_end = end;
  fault->fail_at = at;
  fault->failing = 0;
  fault->error = error;
}

/* The failure always ends: only memory has the records. */
static void
run_removed (IoCase *self)
{
  WatchStore *store = open_store (self);
  guint64 track = get_last_track (store);

  watch_store_set_sinks (store, sinks, kinds, G_MAXINT64);
  watch_store_set_committed (store, on_committed, self);
  for (guint i = 1; i <= N_REMOVED; i++) {
    if (i == N_REMOVED / 3) {
      if (!watch_store_flush (store))
        io_case_heal (self);
      check_recovered (self, store);
      self->fault.space = 4096;
      remove_files (self);
    }
    self->added = i;
    watch_store_add_event (store, event_new ("session", track + i));
    watch_store_add_track (store, track_new ("session", track + i));
    watch_store_add_minute (store, minute_new ());
    watch_store_flush (store);
    if (i == N_REMOVED / 3) {
      g_usleep (10 * RETRY_TIME);
      EXPECT (self, count_copies (self) == 0, "a copy was begun without space");
      fail_copies (self);
    }
  }
  io_case_heal (self);
  check_recovered (self, store);
  EXPECT (self, io_case_has_message (self, self->folder, "written again"),
          "the log does not tell that files were removed");
  self->complete = TRUE;
  if (self->killed)
    _exit (0);
  watch_store_close (store);
}

/* --- After a restart --- */

static gint64
get_int (IoCase *self, sqlite3 *db, const gchar *sql)
{
  sqlite3_stmt *statement = NULL;
  gint64 value;

  EXPECT (self,
          sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step (statement) == SQLITE_ROW,
          "%s: %s", sql, sqlite3_errmsg (db));
  value = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return value;
}

static void
check_files (IoCase *self)
{
  static const gchar *const known[] = {
    "watch.sqlite", "watch.sqlite-wal", "watch.sqlite-shm", "watch.lock", "media", NULL
  };
  g_autoptr (GDir) dir = g_dir_open (self->folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)))
    EXPECT (self, g_strv_contains (known, name), "%s is left", name);
}

static void
check_database (IoCase *self)
{
  g_autofree gchar *path = g_build_filename (self->folder, "watch.sqlite", NULL);
  sqlite3_stmt *statement = NULL;
  sqlite3 *db = NULL;

  EXPECT (self, sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, "%s: %s",
          path, sqlite3_errmsg (db));
  EXPECT (self,
          sqlite3_prepare_v2 (db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step (statement) == SQLITE_ROW,
          "%s: %s", path, sqlite3_errmsg (db));
  EXPECT (self, g_str_equal (sqlite3_column_text (statement, 0), "ok"), "%s: %s", path,
          sqlite3_column_text (statement, 0));
  sqlite3_finalize (statement);
  EXPECT (self,
          get_int (self, db,
                   "SELECT count(*) = count(DISTINCT camera || ' ' || number) FROM events") == 1,
          "an event is there twice");
  EXPECT (self, get_int (self, db, "SELECT count(*) = count(DISTINCT number) FROM tracks") == 1,
          "a track is there twice");
  if (self->complete) {
    EXPECT (self,
            get_int (self, db, "SELECT count(*) FROM events WHERE number > 1100") == self->added,
            "not all events are there");
    EXPECT (self, get_int (self, db, "SELECT count(*) FROM tracks") == N_FORMER + self->added,
            "not all tracks are there");
    EXPECT (self, get_int (self, db, "SELECT sum(\"in\") FROM minutes") == self->added,
            "not all counts are there, or some twice");
  }
  EXPECT (self, get_int (self, db, "SELECT count(*) FROM tracks WHERE number <= 1100") == N_FORMER,
          "tracks of the former session are lost");
  EXPECT (self, get_int (self, db, "SELECT count(*) FROM blocks") == 1, "not one block");
  sqlite3_close (db);
}

/* Returns the events or tracks of the store as JSON, a set. */
static GHashTable *
read_records (IoCase *self, WatchStore *store, gboolean tracks)
{
  GHashTable *lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const WatchQuery query = { .limit = 1000, .kind = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) records = NULL;
  gint64 next;

  records = tracks ? watch_store_find_tracks (store, &query, &next, &error)
                   : watch_store_find_events (store, &query, &next, &error);
  EXPECT (self, records, "%s", error->message);
  for (guint i = 0; i < records->len; i++) {
    gconstpointer record = g_ptr_array_index (records, i);

    g_hash_table_add (lines, tracks ? watch_track_to_json (record) : watch_event_to_json (record));
  }
  return lines;
}

/* Lines that were told and may come again are the same; new ones have rows of their own. */
static void
check_spool (IoCase *self, WatchStore *store)
{
  g_autoptr (GPtrArray) lines = NULL;
  gint64 last = 0;

  for (guint i = 0; i < self->n_told; i++)
    last = MAX (last, self->told[i].row);
  watch_store_add_event (store, event_new ("next", 1));
  EXPECT (self, watch_store_flush (store), "writes nothing after a restart");
  lines = watch_store_peek (store, "a", 0, 1000);
  EXPECT (self, lines->len > 0, "the spool is empty");
  EXPECT (self, ((WatchLine *) g_ptr_array_index (lines, lines->len - 1))->row > last,
          "a row of the spool comes again");
  for (guint i = 0; i < lines->len; i++) {
    const WatchLine *line = g_ptr_array_index (lines, i);

    for (guint k = 0; k < self->n_told; k++)
      EXPECT (self, self->told[k].row != line->row || g_str_equal (self->told[k].line, line->line),
              "row %d was told otherwise", (int) line->row);
  }
}

/* Sink `b` has the line of each event of the former session and since. */
static void
check_untaken (IoCase *self, WatchStore *store)
{
  g_autoptr (GPtrArray) lines = watch_store_peek (store, "b", 0, 1000);
  g_autoptr (GHashTable) set = g_hash_table_new (g_str_hash, g_str_equal);
  WatchSpoolStats stats;

  for (guint i = 0; i < lines->len; i++)
    g_hash_table_add (set, ((WatchLine *) g_ptr_array_index (lines, i))->line);
  watch_store_get_spool_stats (store, "b", &stats);
  EXPECT (self, stats.pending == lines->len && !stats.dropped, "%d lines wait, not %u",
          (int) stats.pending, lines->len);
  EXPECT (self, lines->len >= N_FORMER / 100, "lines of the former session are lost");
  for (guint i = 0; i < self->n_told; i++)
    EXPECT (self, self->told[i].row || g_hash_table_contains (set, self->told[i].line),
            "waits for no sink: %s", self->told[i].line);
}

static void
check (IoCase *self)
{
  g_autoptr (GHashTable) events = NULL, tracks = NULL;
  g_autoptr (GError) error = NULL;
  WatchStore *store;

  check_database (self);
  store = watch_store_open (self->folder, &error);
  EXPECT (self, store, "cannot be opened after a restart: %s", error->message);
  check_files (self);
  watch_store_set_sinks (store, sinks, kinds, G_MAXINT64);
  events = read_records (self, store, FALSE);
  tracks = read_records (self, store, TRUE);
  for (guint i = 0; i < self->n_told; i++)
    EXPECT (self,
            g_hash_table_contains (events, self->told[i].line) ||
                g_hash_table_contains (tracks, self->told[i].line),
            "told, and not there: %s", self->told[i].line);
  check_untaken (self, store);
  check_spool (self, store);
  watch_store_close (store);
  check_files (self);
}

const IoScenario io_store = { "store", G_MAXUINT, "", prepare, clean_up, begin, run, check };
const IoScenario io_removed = { "removed files", 16,    "",          prepare,
                                clean_up,        begin, run_removed, check };
