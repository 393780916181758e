/* cudaccl-watch - events, tracks and counts in SQLite
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/store/private.h"

#include "apps/watch/records/json.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Most records in the queue; a busy camera adds less than one a second. */
#define MAX_QUEUED 16384
#define RETRY_TIME (1 * G_TIME_SPAN_SECOND)
/* Longest time until removed files are noticed. */
#define CHECK_TIME (1 * G_TIME_SPAN_SECOND)
/* Most rows that a transaction removes from a table, so that events do not wait for long. */
#define REMOVE_ROWS 4000

typedef enum
{
  OPERATION_EVENT,
  OPERATION_TRACK,
  OPERATION_MINUTE,
  OPERATION_LINE,
  OPERATION_SINKS, /* a full queue drops the types above this one */
  OPERATION_TAKEN,
  OPERATION_REMOVE,
  OPERATION_FORGET,
} OperationType;

typedef struct
{
  OperationType type;
  WatchEvent *event;
  WatchTrack *track;
  WatchMinute *minute;
  gchar *text; /* the camera of a line, or the sink */
  gchar *line;
  gchar **strings; /* sinks or files */
  WatchLineKinds kinds[WATCH_STORE_MAX_SINKS];
  gint64 value;  /* a time, row, or number of bytes */
  gboolean more; /* there are more rows to remove */
} Operation;

static void
operation_free (Operation *operation)
{
  g_clear_pointer (&operation->event, watch_event_free);
  g_clear_pointer (&operation->track, watch_track_free);
  g_clear_pointer (&operation->minute, watch_minute_free);
  g_free (operation->text);
  g_free (operation->line);
  g_strfreev (operation->strings);
  g_free (operation);
}

/* --- Names --- */

/* Writes names that are new since the last commit. */
static int
write_names (WatchStore *self)
{
  int code = SQLITE_OK;
  guint n_names = watch_names_get_n (self->names);

  for (guint i = self->state.n_names; i < n_names && code == SQLITE_OK; i++) {
    g_autofree gchar *name = watch_names_get_name (self->names, i + 1);

    code = watch_db_run (self->db, "INSERT INTO names VALUES (?, ?)", "is", (gint64) (i + 1), name);
  }
  self->state.n_names = n_names;
  return code;
}

static int
load_names (WatchStore *self)
{
  sqlite3_stmt *statement =
      watch_db_query (self->db, "SELECT number, name FROM names ORDER BY number", "");
  gint64 n = 0;

  if (!statement)
    return sqlite3_errcode (self->db->db);
  while (sqlite3_step (statement) == SQLITE_ROW) {
    const gchar *name = (const gchar *) sqlite3_column_text (statement, 1);

    /* Numbers must be without gaps, and names unique. */
    n++;
    if (!name || sqlite3_column_int64 (statement, 0) != n ||
        watch_names_get_number (self->names, name, TRUE) != n) {
      sqlite3_reset (statement);
      return SQLITE_CORRUPT;
    }
  }
  self->state.n_names = n;
  return sqlite3_reset (statement);
}

/* --- Opening --- */

int
watch_store_open_file (WatchStore *self, GError **error)
{
  sqlite3_stmt *statement;
  gboolean wal;
  int code;

  if (!watch_files_finish (self, error))
    return SQLITE_OK;
  self->db = watch_db_open (self->path, TRUE);
  code = sqlite3_errcode (self->db->db);
  if (code != SQLITE_OK)
    return code;
  /* SQLite opens a file for reading only if it cannot for writing, and would stay with that. */
  if (sqlite3_db_readonly (self->db->db, "main") == 1)
    return SQLITE_READONLY;
  statement = watch_db_query (self->db, "PRAGMA journal_mode = WAL", "");
  if (!statement || sqlite3_step (statement) != SQLITE_ROW)
    return sqlite3_errcode (self->db->db);
  wal = g_ascii_strcasecmp ((const gchar *) sqlite3_column_text (statement, 0), "wal") == 0;
  sqlite3_reset (statement);
  if (!wal) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                 "the file system does not support SQLite's WAL mode; use a local disk");
    return SQLITE_OK;
  }
  code = sqlite3_exec (self->db->db,
                       "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF;"
                       "PRAGMA journal_size_limit = 16777216",
                       NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = watch_schema_upgrade (self->db, error);
  if (code != SQLITE_OK || *error)
    return code;
  code = load_names (self);
  if (code == SQLITE_OK)
    code = watch_spool_load (self);
  if (code == SQLITE_OK)
    code = watch_search_load (self);
  if (code == SQLITE_OK)
    code = watch_past_load (self);
  if (code == SQLITE_OK) {
    sqlite3_db_config (self->db->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    watch_files_note (self);
  }
  return code;
}

void
watch_store_close_file (WatchStore *self)
{
  if (self->db)
    sqlite3_db_config (self->db->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  g_clear_pointer (&self->db, watch_db_free);
  memset (self->files, 0, sizeof (self->files));
  self->state = self->shown;
}

static gboolean
is_corrupt (int code)
{
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

/* Reads the whole file with a new connection. Returns a code of SQLite. */
static int
check_file (WatchStore *self)
{
  WatchDb *db = watch_db_open (self->path, FALSE);
  sqlite3_stmt *statement = watch_db_query (db, "PRAGMA quick_check (1)", "");
  int code;

  if (!statement) {
    code = sqlite3_errcode (db->db);
  } else {
    gboolean ok = sqlite3_step (statement) != SQLITE_ROW ||
                  g_strcmp0 ((const gchar *) sqlite3_column_text (statement, 0), "ok") == 0;

    code = sqlite3_reset (statement);
    if (code == SQLITE_OK && !ok)
      code = SQLITE_CORRUPT;
  }
  watch_db_free (db);
  return code;
}

/* Closes the file, in which SQLite or we found a damage, and returns whether it is to be replaced.
 * SQLite may also take a page that could not be read for a damaged one. */
static gboolean
is_damaged (WatchStore *self)
{
  int code;

  watch_store_close_file (self);
  code = check_file (self);
  if (code == SQLITE_OK)
    return self->suspected++ > 0;
  return is_corrupt (code);
}

/* Moves the damaged database, which is closed, aside. The names stay in memory and are written
 * again. */
static gboolean
move_aside (WatchStore *self, GError **error)
{
  const gboolean moved = watch_files_move_aside (self, "damaged", error);

  /* After the renaming, perhaps of the first file only: searches may open the old one until then.
   */
  watch_store_close_readers (self);
  if (moved)
    memset (&self->state, 0, sizeof (self->state));
  return moved;
}

/* Opens the database, a new one if it is damaged. */
static gboolean
open_or_begin (WatchStore *self, GError **error)
{
  g_autoptr (GError) unfit = NULL;
  int code = watch_store_open_file (self, &unfit);

  for (guint i = 0; i < 2 && is_corrupt (code) && !unfit; i++) {
    if (is_damaged (self) && !move_aside (self, error)) {
      g_prefix_error (error, "%s: ", self->path);
      return FALSE;
    }
    code = watch_store_open_file (self, &unfit);
  }
  if (unfit) {
    g_propagate_prefixed_error (error, g_steal_pointer (&unfit), "%s: ", self->path);
    return FALSE;
  }
  if (code != SQLITE_OK) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s%s", self->path,
                 sqlite3_errstr (code),
                 (code & 0xff) == SQLITE_READONLY
                     ? "; let the program's user write to the file and its folder"
                     : "");
    return FALSE;
  }
  self->shown = self->state;
  self->suspected = 0;
  return TRUE;
}

/* Opens the file again. A new one gets the sinks of before. On failure, there is no connection, and
 * the state stays; @error is set if there is more to say than the code does. */
static int
reopen (WatchStore *self, GError **error)
{
  int code = watch_store_open_file (self, error);

  if (*error && code == SQLITE_OK)
    code = SQLITE_CANTOPEN;
  if (code == SQLITE_OK)
    code = watch_db_run (self->db, "BEGIN IMMEDIATE", "");
  if (code == SQLITE_OK)
    code = watch_spool_continue (self, &self->shown);
  if (code == SQLITE_OK)
    code = watch_db_run (self->db, "COMMIT", "");
  if (code != SQLITE_OK) {
    watch_store_close_file (self);
    return code;
  }
  g_mutex_lock (&self->mutex);
  self->shown = self->state;
  g_mutex_unlock (&self->mutex);
  return SQLITE_OK;
}

/* Locks the folder for this process. SQLite's own locks last only for a transaction. */
static int
lock_folder (const gchar *data, GError **error)
{
  g_autofree gchar *path = g_build_filename (data, "watch.lock", NULL);
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

  if (fd < 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", path,
                 g_strerror (errno));
    return -1;
  }
  if (flock (fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY,
                   "%s is in use by another cudaccl-watch; stop it, or set another folder `data`",
                   data);
    else
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", path,
                   g_strerror (errno));
    close (fd);
    return -1;
  }
  return fd;
}

/* --- Writing --- */

static int
write_event (WatchStore *self, const WatchEvent *event)
{
  gint64 camera = watch_names_get_number (self->names, event->camera, TRUE);
  gint64 zone = watch_names_get_number (self->names, event->zone, TRUE);
  int code = watch_events_insert (self, event);

  if (code == SQLITE_OK && zone)
    code = watch_db_run (self->db, "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", "iiii",
                         camera, zone, (gint64) event->in, (gint64) event->out);
  /* After a crash, an event may be the only trace of a track. */
  if (code == SQLITE_OK && event->track)
    code = watch_db_run (self->db,
                         "INSERT INTO cameras VALUES (?, ?) ON CONFLICT (camera) DO UPDATE SET "
                         "last_track = max (last_track, excluded.last_track)",
                         "ii", camera, (gint64) event->track);
  if (code == SQLITE_OK && watch_spool_wants (self, WATCH_LINE_EVENTS)) {
    g_autofree gchar *line = watch_event_to_json (event);

    code = watch_spool_add (self, WATCH_LINE_EVENTS, event->camera, line);
  }
  return code;
}

static int
write_track (WatchStore *self, const WatchTrack *track)
{
  int code = watch_search_add_track (self, track);

  if (code == SQLITE_OK)
    code = watch_db_run (self->db,
                         "INSERT INTO cameras VALUES (?, ?) ON CONFLICT (camera) DO UPDATE SET "
                         "last_track = max (last_track, excluded.last_track)",
                         "ii", (gint64) watch_names_get_number (self->names, track->camera, TRUE),
                         (gint64) track->number);
  if (code == SQLITE_OK && watch_spool_wants (self, WATCH_LINE_TRACKS)) {
    g_autofree gchar *line = watch_track_to_json (track);

    code = watch_spool_add (self, WATCH_LINE_TRACKS, track->camera, line);
  }
  return code;
}

/* Sets @more if there is more to remove. */
static int
remove_rows (WatchStore *self, const gchar *sql, gint64 time, gboolean *more)
{
  int code = watch_db_run (self->db, sql, "ii", time, (gint64) REMOVE_ROWS);

  if (code == SQLITE_OK && sqlite3_changes (self->db->db) >= REMOVE_ROWS)
    *more = TRUE;
  return code;
}

static int
remove_before (WatchStore *self, gint64 time, gboolean *more)
{
  int code = remove_rows (self,
                          "DELETE FROM events WHERE row IN "
                          "(SELECT row FROM events WHERE time < ? LIMIT ?)",
                          time, more);

  if (code == SQLITE_OK)
    code = remove_rows (self,
                        "DELETE FROM minutes WHERE (camera, zone, time) IN "
                        "(SELECT camera, zone, time FROM minutes WHERE time < ? LIMIT ?)",
                        time, more);
  if (code == SQLITE_OK)
    code = remove_rows (self,
                        "DELETE FROM tracks WHERE row IN "
                        "(SELECT row FROM tracks WHERE \"end\" < ? LIMIT ?)",
                        time, more);
  /* All tracks of these blocks have been removed. */
  if (code == SQLITE_OK && !*more)
    code = watch_db_run (self->db, "DELETE FROM blocks WHERE max_end < ?", "i", time);
  return code;
}

static int
forget_files (WatchStore *self, gchar **files)
{
  int code = SQLITE_OK;

  for (; *files && code == SQLITE_OK; files++) {
    code =
        watch_db_run (self->db, "UPDATE events SET picture = NULL WHERE picture = ?", "s", *files);
    if (code == SQLITE_OK)
      code = watch_db_run (self->db, "UPDATE events SET clip = NULL WHERE clip = ?", "s", *files);
    if (code == SQLITE_OK)
      code = watch_db_run (self->db, "UPDATE tracks SET picture = NULL WHERE picture = ?", "s",
                           *files);
  }
  return code;
}

static int
write_operation (WatchStore *self, Operation *operation)
{
  switch (operation->type) {
  case OPERATION_EVENT:
    return write_event (self, operation->event);
  case OPERATION_TRACK:
    return write_track (self, operation->track);
  case OPERATION_MINUTE: {
    WatchMinute *minute = operation->minute;

    return watch_db_run (
        self->db,
        "INSERT INTO minutes VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (camera, zone, time) DO UPDATE SET "
        "\"in\" = \"in\" + excluded.\"in\", out = out + excluded.out, "
        "inside = max (inside, excluded.inside)",
        "iiiiii", (gint64) watch_names_get_number (self->names, minute->camera, TRUE),
        (gint64) watch_names_get_number (self->names, minute->zone, TRUE), minute->time,
        (gint64) minute->in, (gint64) minute->out, (gint64) minute->inside);
  }
  case OPERATION_LINE:
    return watch_spool_wants (self, operation->kinds[0])
               ? watch_spool_add (self, operation->kinds[0], operation->text, operation->line)
               : SQLITE_OK;
  case OPERATION_SINKS:
    return watch_spool_set_sinks (self, (const gchar *const *) operation->strings, operation->kinds,
                                  operation->value);
  case OPERATION_TAKEN:
    return watch_spool_taken (self, operation->text, operation->value);
  case OPERATION_REMOVE:
    operation->more = FALSE;
    return remove_before (self, operation->value, &operation->more);
  case OPERATION_FORGET:
    return forget_files (self, operation->strings);
  }
  g_assert_not_reached ();
}

/* Writes @batch in one transaction. If an operation fails, sets @failed to it. May set @error on
 * failure. */
static int
write_batch (WatchStore *self, GQueue *batch, GList **failed, GError **error)
{
  int code = SQLITE_OK;

  *failed = NULL;
  if (watch_files_have_moved (self) && watch_files_restore (self, error) != SQLITE_OK)
    return SQLITE_READONLY_DBMOVED;
  if (!self->db)
    code = reopen (self, error);
  if (code != SQLITE_OK)
    return code;
  code = watch_db_run (self->db, "BEGIN IMMEDIATE", "");
  for (GList *item = batch->head; item && code == SQLITE_OK; item = item->next) {
    code = write_operation (self, item->data);
    if (code != SQLITE_OK)
      *failed = item;
  }
  if (code == SQLITE_OK)
    code = watch_spool_trim (self);
  if (code == SQLITE_OK)
    code = watch_search_seal (self);
  if (code == SQLITE_OK)
    code = write_names (self);
  if (code == SQLITE_OK)
    code = watch_db_run (self->db, "COMMIT", "");
  if (code == SQLITE_OK)
    self->suspected = 0;
  return code;
}

/* Returns whether the same transaction may succeed later. */
static gboolean
is_transient (int code)
{
  switch (code & 0xff) {
  case SQLITE_FULL:
  case SQLITE_IOERR:
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
  case SQLITE_NOMEM:
  case SQLITE_CANTOPEN:
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_PROTOCOL:
    return TRUE;
  default:
    return FALSE;
  }
}

static WebReason *
get_reason (WatchStore *self, int code, const GError *error)
{
  if ((code & 0xff) == SQLITE_FULL)
    return web_reason_new (WEB_REASON_DATABASE_FULL, "path", self->path, NULL);
  if (code == SQLITE_READONLY_DBMOVED && !error)
    return web_reason_new (WEB_REASON_DATABASE_REMOVED, "path", self->path, NULL);
  return web_reason_new (WEB_REASON_DATABASE_UNWRITABLE, "path", self->path, "detail",
                         error ? error->message : sqlite3_errstr (code), NULL);
}

gboolean
watch_store_is_closing (WatchStore *self)
{
  gboolean closing;

  g_mutex_lock (&self->mutex);
  closing = self->closing;
  g_mutex_unlock (&self->mutex);
  return closing;
}

/* Reports the failure, and waits before the next attempt. Returns FALSE to give up. @error, which
 * may be set, says more than @code. */
static gboolean
handle_failure (WatchStore *self, GQueue *batch, GList *failed, int code, GError **error)
{
  g_autoptr (WebReason) reason = NULL;
  gint64 end = g_get_monotonic_time () + self->retry_time;
  gboolean retry = TRUE;

  if (self->db)
    watch_db_run (self->db, "ROLLBACK", "");
  self->state = self->shown;
  if (is_corrupt (code) && is_damaged (self) && move_aside (self, error))
    return TRUE;
  /* A file that SQLite could open only for reading stays read-only until it is reopened. */
  if ((code & 0xff) == SQLITE_READONLY && code != SQLITE_READONLY_DBMOVED) {
    watch_store_close_readers (self);
    watch_store_close_file (self);
  }

  reason = get_reason (self, code, *error);
  g_mutex_lock (&self->mutex);
  if (g_strcmp0 (web_reason_get_text (self->stats.last_error), reason->text) != 0) {
    g_warning ("%s", reason->text);
    web_reason_free (self->stats.last_error);
    self->stats.last_error = g_steal_pointer (&reason);
  }
  if (failed && !is_transient (code) && !is_corrupt (code)) {
    operation_free (failed->data);
    g_queue_delete_link (batch, failed);
    self->stats.dropped++;
    self->n_done++;
  } else {
    self->n_failures++;
    g_cond_broadcast (&self->tried);
    retry = !self->last;
    while (!self->closing && g_cond_wait_until (&self->wake, &self->mutex, end))
      ;
  }
  g_mutex_unlock (&self->mutex);
  return retry;
}

/* Completes the operations of @batch. @written: they were committed. */
static void
finish_batch (WatchStore *self, GQueue *batch, gboolean written)
{
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_event_free);
  guint n = batch->length, n_tracks = 0, n_records = 0;
  WatchStoreCommitted committed;
  gpointer committed_data;
  const gboolean closing = watch_store_is_closing (self);
  Operation *operation;

  while ((operation = g_queue_pop_head (batch))) {
    n_records += operation->type < OPERATION_SINKS;
    n_tracks += operation->type == OPERATION_TRACK;
    /* Do not make closing wait until everything is removed. */
    if (written && operation->more && !closing)
      watch_store_remove_before (self, operation->value);
    if (operation->event)
      g_ptr_array_add (events, g_steal_pointer (&operation->event));
    operation_free (operation);
  }

  g_mutex_lock (&self->mutex);
  if (written) {
    self->shown = self->state;
    self->stats.events += events->len;
    self->stats.tracks += n_tracks;
    g_clear_pointer (&self->stats.last_error, web_reason_free);
  } else {
    self->stats.dropped += n_records;
  }
  committed = self->committed;
  committed_data = self->committed_data;
  g_mutex_unlock (&self->mutex);

  if (!written && n_records > 0)
    g_warning ("%s: %u records were not written", self->path, n_records);
  else if (written && committed && events->len > 0)
    committed (events, committed_data);

  g_mutex_lock (&self->mutex);
  self->n_done += n;
  g_cond_broadcast (&self->tried);
  g_mutex_unlock (&self->mutex);
}

/* Adds all operations to @batch; waits for the first, for CHECK_TIME at most. Returns FALSE on
 * closing. */
static gboolean
take_batch (WatchStore *self, GQueue *batch)
{
  gint64 end = g_get_monotonic_time () + CHECK_TIME;
  gboolean closing;
  GList *item;

  g_mutex_lock (&self->mutex);
  while (self->queue.length == 0 && !self->closing &&
         g_cond_wait_until (&self->wake, &self->mutex, end))
    ;
  while ((item = g_queue_pop_head_link (&self->queue)))
    g_queue_push_tail_link (batch, item);
  closing = self->closing;
  g_mutex_unlock (&self->mutex);
  return !closing;
}

static gpointer
writer_main (gpointer data)
{
  WatchStore *self = data;

  for (;;) {
    GQueue batch = G_QUEUE_INIT;
    gboolean ends = !take_batch (self, &batch);
    g_autoptr (GError) error = NULL;
    GList *failed;
    int code;

    if (batch.length == 0 && !watch_files_have_moved (self)) {
      if (ends)
        break;
      continue;
    }
    do {
      g_clear_error (&error);
      self->last = watch_store_is_closing (self);
      code = write_batch (self, &batch, &failed, &error);
    } while (code != SQLITE_OK && handle_failure (self, &batch, failed, code, &error));
    if (code != SQLITE_OK)
      take_batch (self, &batch); /* the rest */
    finish_batch (self, &batch, code == SQLITE_OK);
    if (code != SQLITE_OK)
      break;
  }
  return NULL;
}

/* Takes @operation; returns its number. Records count for the past even if they are dropped. */
static guint64
push (WatchStore *self, Operation *operation)
{
  guint64 number;

  g_mutex_lock (&self->mutex);
  if (operation->event)
    watch_past_add_event (self, operation->event);
  if (operation->track)
    watch_past_add_track (self, operation->track);
  if (operation->type < OPERATION_SINKS && self->n_queued - self->n_done >= MAX_QUEUED) {
    self->stats.dropped++;
    operation_free (operation);
  } else {
    g_queue_push_tail (&self->queue, operation);
    self->n_queued++;
    g_cond_signal (&self->wake);
  }
  number = self->n_queued;
  g_mutex_unlock (&self->mutex);
  return number;
}

/* Waits until the operation is done. Returns FALSE if the next transaction fails. */
static gboolean
wait_for (WatchStore *self, guint64 number)
{
  gboolean done;
  guint64 n_failures;

  g_mutex_lock (&self->mutex);
  n_failures = self->n_failures;
  while (self->n_done < number && self->n_failures == n_failures)
    g_cond_wait (&self->tried, &self->mutex);
  done = self->n_done >= number;
  g_mutex_unlock (&self->mutex);
  return done;
}

static Operation *
operation_new (OperationType type)
{
  Operation *operation = g_new0 (Operation, 1);

  operation->type = type;
  return operation;
}

/* --- Interface --- */

static WatchStore *
store_new (const gchar *data)
{
  WatchStore *self = g_new0 (WatchStore, 1);

  self->lock = -1;
  self->path = g_build_filename (data, "watch.sqlite", NULL);
  self->search_time = WATCH_STORE_SEARCH_TIME;
  self->retry_time = RETRY_TIME;
  self->max_line_bytes = G_MAXINT64;
  g_mutex_init (&self->mutex);
  g_cond_init (&self->wake);
  g_cond_init (&self->tried);
  g_queue_init (&self->queue);
  self->readers = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_db_free);
  self->names = watch_names_new ();
  self->event_insert = watch_events_get_insert ();
  self->version = watch_schema_get_version ();
  return self;
}

WatchStore *
watch_store_open (const gchar *data, GError **error)
{
  WatchStore *self;
  int lock;

  if (g_mkdir_with_parents (data, 0700) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", data,
                 g_strerror (errno));
    return NULL;
  }
  lock = lock_folder (data, error);
  if (lock < 0)
    return NULL;

  self = store_new (data);
  self->lock = lock;
  self->event_select = watch_events_get_select (self->version);
  if (!open_or_begin (self, error)) {
    watch_store_close (self);
    return NULL;
  }
  self->thread = g_thread_new ("watch-store", writer_main, self);
  return self;
}

WatchStore *
watch_store_open_for_reading (const gchar *data, GError **error)
{
  WatchStore *self = store_new (data);
  gint64 version;
  int code;

  self->db = watch_db_open (self->path, FALSE);
  code = sqlite3_errcode (self->db->db);
  if (code == SQLITE_OK)
    code = load_names (self);
  if (code == SQLITE_OK)
    code = watch_db_get_int (self->db, &version, "PRAGMA user_version", "");
  if (code != SQLITE_OK) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", self->path, sqlite3_errstr (code));
  } else if (watch_schema_check (version, error)) {
    /* Perhaps of an older version, which still has it open. */
    self->version = (guint) version;
    self->event_select = watch_events_get_select (self->version);
    return self;
  } else {
    g_prefix_error (error, "%s: ", self->path);
  }
  watch_store_close (self);
  return NULL;
}

void
watch_store_close (WatchStore *self)
{
  g_mutex_lock (&self->mutex);
  self->closing = TRUE;
  g_cond_signal (&self->wake);
  g_mutex_unlock (&self->mutex);
  if (self->thread)
    g_thread_join (self->thread);
  g_ptr_array_unref (self->readers);
  g_clear_pointer (&self->db, watch_db_free);
  g_clear_pointer (&self->pasts, g_hash_table_unref);
  watch_names_free (self->names);
  g_free (self->event_insert);
  g_free (self->event_select);
  web_reason_free (self->stats.last_error);
  g_clear_error (&self->copy_error);
  g_free (self->path);
  g_mutex_clear (&self->mutex);
  g_cond_clear (&self->wake);
  g_cond_clear (&self->tried);
  if (self->lock >= 0)
    close (self->lock);
  g_free (self);
}

gboolean
watch_store_flush (WatchStore *self)
{
  guint64 number;

  g_mutex_lock (&self->mutex);
  number = self->n_queued;
  g_mutex_unlock (&self->mutex);
  return wait_for (self, number);
}

void
watch_store_add_event (WatchStore *self, WatchEvent *event)
{
  Operation *operation = operation_new (OPERATION_EVENT);

  operation->event = event;
  push (self, operation);
}

void
watch_store_add_track (WatchStore *self, WatchTrack *track)
{
  Operation *operation = operation_new (OPERATION_TRACK);

  operation->track = track;
  push (self, operation);
}

void
watch_store_add_minute (WatchStore *self, WatchMinute *minute)
{
  Operation *operation = operation_new (OPERATION_MINUTE);

  operation->minute = minute;
  push (self, operation);
}

void
watch_store_add_line (WatchStore *self, const gchar *camera, WatchLineKinds kind, gchar *line)
{
  Operation *operation = operation_new (OPERATION_LINE);

  operation->text = g_strdup (camera);
  operation->kinds[0] = kind;
  operation->line = line;
  push (self, operation);
}

void
watch_store_set_committed (WatchStore *self, WatchStoreCommitted func, gpointer user_data)
{
  g_mutex_lock (&self->mutex);
  self->committed = func;
  self->committed_data = user_data;
  g_mutex_unlock (&self->mutex);
}

void
watch_store_stop_spooling (WatchStore *self)
{
  g_atomic_int_set (&self->no_spool, TRUE);
}

void
watch_store_set_sinks (WatchStore *self, const gchar *const *names, const WatchLineKinds *kinds,
                       guint64 max_bytes)
{
  Operation *operation = operation_new (OPERATION_SINKS);

  operation->strings = g_strdupv ((gchar **) names);
  operation->value = MIN (max_bytes, G_MAXINT64);
  for (guint i = 0; names[i] && i < WATCH_STORE_MAX_SINKS; i++)
    operation->kinds[i] = kinds[i];
  wait_for (self, push (self, operation));
}

void
watch_store_taken (WatchStore *self, const gchar *sink, gint64 row)
{
  Operation *operation = operation_new (OPERATION_TAKEN);

  operation->text = g_strdup (sink);
  operation->value = row;
  wait_for (self, push (self, operation));
}

void
watch_store_remove_before (WatchStore *self, gint64 time)
{
  Operation *operation = operation_new (OPERATION_REMOVE);

  operation->value = time;
  push (self, operation);
}

void
watch_store_forget_files (WatchStore *self, const gchar *const *files)
{
  Operation *operation = operation_new (OPERATION_FORGET);

  operation->strings = g_strdupv ((gchar **) files);
  push (self, operation);
}

void
watch_store_get_stats (WatchStore *self, WatchStoreStats *stats)
{
  static const gchar *const suffixes[] = { "", "-wal" };

  g_mutex_lock (&self->mutex);
  *stats = self->stats;
  stats->last_error = web_reason_copy (self->stats.last_error);
  stats->queued = self->n_queued - self->n_done;
  g_mutex_unlock (&self->mutex);
  stats->bytes = 0;
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++) {
    g_autofree gchar *path = g_strconcat (self->path, suffixes[i], NULL);
    GStatBuf info;

    if (g_stat (path, &info) == 0)
      stats->bytes += info.st_size;
  }
}
