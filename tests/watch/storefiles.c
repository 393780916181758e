/* cudaccl-watch - tests of the store's files: damaged, removed, replaced, without space
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "apps/watch/store/private.h"
#include "tests/lib/iofault.h"
#include "tests/lib/watchstore.h"

static IoFault fault;

/* Calls of @kinds fail from now on, until the end of `fault` is set. */
static void
begin_fault (unsigned kinds, int error)
{
  memset (&fault, 0, sizeof fault);
  g_strlcpy (fault.folder, folder, sizeof fault.folder);
  fault.kinds = kinds;
  fault.error = error;
  fault.fail_end = G_MAXINT64;
  io_fault = &fault;
}

static void
teardown_fault (void)
{
  io_fault = NULL;
  io_fault_hook = NULL;
  teardown ();
}

static void
expect_warning (const gchar *pattern)
{
  g_test_expect_message (NULL, G_LOG_LEVEL_WARNING, pattern);
}

static void
ignore_message (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
}

static void
remove_file (const gchar *suffix)
{
  g_autofree gchar *path = g_strconcat (folder, "/watch.sqlite", suffix, NULL);

  fail_unless_equals_int (g_unlink (path), 0);
}

/* Overwrites a page of the database, which is closed. */
static void
damage_page (gsize page)
{
  g_autofree gchar *path = g_build_filename (folder, "watch.sqlite", NULL);
  g_autofree gchar *data = NULL;
  gsize size;

  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  fail_unless (size >= (page + 1) * 4096);
  /* The first begins with SQLite's header. */
  memset (data + page * 4096 + (page ? 0 : 200), 0xa5, page ? 4096 : 3896);
  fail_unless (g_file_set_contents (path, data, (gssize) size, NULL));
}

static void
damage_all (void)
{
  g_autofree gchar *path = g_build_filename (folder, "watch.sqlite", NULL);

  fail_unless (g_file_set_contents (path,
                                    "no database, but long enough for a header ......"
                                    "................................................"
                                    "................................................",
                                    -1, NULL));
}

static void
damage_schema (void)
{
  damage_page (0);
}

static void
damage_table (void)
{
  damage_page ((gsize) count ("SELECT rootpage FROM sqlite_master WHERE name = 'events'") - 1);
}

/* SQLite finds nothing wrong with these. */
static void
lose_name (void)
{
  count ("DELETE FROM names WHERE number = 1");
}

static void
repeat_name (void)
{
  count ("UPDATE names SET name = (SELECT name FROM names WHERE number = 2) WHERE number = 1");
}

GST_START_TEST (test_damaged)
{
  static void (*const damages[]) (void) = { damage_all, damage_schema, damage_table, lose_name,
                                            repeat_name };
  const WatchQuery query = { .limit = 10, .kind = -1 };
  WatchStore *store;

  for (guint i = 0; i < G_N_ELEMENTS (damages); i++) {
    g_autofree gchar *numbers = NULL;

    store = open_store ();
    watch_store_add_event (store, new_event ("yard", 10 + i, TIME, WATCH_EVENT_IN, "door", NULL));
    watch_store_close (store);
    damages[i]();
    expect_warning ("*was damaged: moved to *");
    store = open_store ();
    watch_store_add_event (store, new_event ("yard", 20 + i, TIME, WATCH_EVENT_IN, "door", NULL));
    fail_unless (watch_store_flush (store), "damage %u", i);
    g_test_assert_expected_messages ();
    numbers = find_numbers (store, query, FALSE);
    fail_unless (atoi (numbers) == (gint) (20 + i) && !strchr (numbers, ' '), "damage %u: %s", i,
                 numbers);
    watch_store_close (store);
    remove_file ("");
  }
}
GST_END_TEST;

/* A start refuses a database of a newer version, and folders and files in the way. */
GST_START_TEST (test_refused)
{
  g_autofree gchar *lock = g_build_filename (folder, "watch.lock", NULL);
  g_autofree gchar *below = g_build_filename (lock, "data", NULL);
  g_autoptr (GError) newer = NULL, locked = NULL, in_file = NULL, twice = NULL;
  WatchStore *store = open_store ();

  fail_if (watch_store_open (folder, &twice) != NULL);
  fail_unless (g_error_matches (twice, G_IO_ERROR, G_IO_ERROR_BUSY));
  watch_store_close (store);
  count ("PRAGMA user_version = 999");
  fail_if (watch_store_open (folder, &newer) != NULL);
  fail_unless (g_error_matches (newer, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED));
  fail_if (watch_store_open (below, &in_file) != NULL);
  fail_unless (strstr (in_file->message, below), "%s", in_file->message);
  fail_unless_equals_int (g_unlink (lock), 0);
  fail_unless_equals_int (g_mkdir (lock, 0700), 0);
  fail_if (watch_store_open (folder, &locked) != NULL);
  fail_unless (strstr (locked->message, lock), "%s", locked->message);
}
GST_END_TEST;

/* How failures are told while the program runs, and that they end by themselves. */
GST_START_TEST (test_failures)
{
  static const struct
  {
    guint kinds;
    int error;
    const gchar *code;
  } cases[] = {
    { IO_FAULT_WRITES, ENOSPC, "database-full" },
    { IO_FAULT_WRITES, EIO, "database-unwritable" },
  };
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  WatchStore *store = open_store ();

  store->retry_time = SECOND / 50;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    WatchStoreStats stats = { 0 };

    begin_fault (cases[i].kinds, cases[i].error);
    watch_store_add_event (store, new_event ("yard", i, TIME + i, WATCH_EVENT_IN, "door", NULL));
    fail_if (watch_store_flush (store));
    watch_store_get_stats (store, &stats);
    fail_unless_equals_string (stats.last_error->code, cases[i].code);
    web_reason_free (stats.last_error);
    fault.fail_end = 0;
    while (!watch_store_flush (store))
      ;
    io_fault = NULL;
    watch_store_get_stats (store, &stats);
    fail_unless (!stats.last_error && !stats.dropped);
    fail_unless_equals_uint64 (stats.events, i + 1);
  }
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

/* A record that the database never takes is dropped alone. */
GST_START_TEST (test_refused_record)
{
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  const WatchQuery query = { .limit = 10, .kind = -1 };
  g_autofree gchar *numbers = NULL;
  WatchStore *store = open_store ();
  WatchStoreStats stats;

  count ("CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.number = 2 BEGIN "
         "SELECT raise(ABORT, 'no'); END");
  for (guint i = 1; i <= 3; i++)
    watch_store_add_event (store, new_event ("yard", i, TIME + i, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, "3 1");
  watch_store_get_stats (store, &stats);
  fail_unless_equals_uint64 (stats.dropped, 1);
  fail_unless_equals_uint64 (stats.events, 2);
  web_reason_free (stats.last_error);
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

/* Damages the table of events of an open database. */
static void
damage_events (void)
{
  g_autofree gchar *path = g_build_filename (folder, "watch.sqlite", NULL);
  sqlite3 *db;

  fail_unless_equals_int (sqlite3_open (path, &db), SQLITE_OK);
  fail_unless_equals_int (
      sqlite3_exec (db,
                    "PRAGMA writable_schema = 1;"
                    "UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'events';"
                    "PRAGMA schema_version = 99",
                    NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close (db);
}

GST_START_TEST (test_damaged_later)
{
  static const gchar *const names[] = { "a", NULL };
  static const WatchLineKinds kinds[] = { WATCH_LINE_EVENTS };
  g_autoptr (GPtrArray) before = NULL, after = NULL;
  WatchStore *store = open_store ();
  WatchSpoolStats stats;
  gint64 row;

  watch_store_set_sinks (store, names, kinds, 1 << 20);
  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  before = watch_store_peek (store, "a", 0, 10);
  fail_unless_equals_int (before->len, 1);
  row = ((WatchLine *) g_ptr_array_index (before, 0))->row;

  damage_events ();
  expect_warning ("*was damaged: moved to *");
  watch_store_add_event (store, new_event ("yard", 2, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  g_test_assert_expected_messages ();

  /* The sink goes on behind the last line that it has. */
  after = watch_store_peek (store, "a", row, 10);
  fail_unless_equals_int (after->len, 1);
  fail_unless (strstr (((WatchLine *) g_ptr_array_index (after, 0))->line, "\"number\":2,"));
  watch_store_get_spool_stats (store, "a", &stats);
  fail_unless_equals_uint64 (stats.dropped, 1);
  fail_unless_equals_uint64 (stats.pending, 1);
  watch_store_close (store);
  store = open_store ();
  watch_store_get_spool_stats (store, "a", &stats);
  fail_unless_equals_uint64 (stats.pending, 1);
  watch_store_close (store);
}
GST_END_TEST;

/* A damaged file cannot be renamed: that is told, and tried again. @_i: until it succeeds, until
 * the program is stopped, at a start. */
GST_START_TEST (test_damaged_and_stuck)
{
  WatchStore *store = open_store ();
  WatchStoreStats stats = { 0 };
  WatchQuery query = { .limit = 10, .kind = -1 };
  g_autofree gchar *numbers = NULL;
  g_autoptr (GError) error = NULL;

  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  damage_events ();
  store->retry_time = SECOND / 50;
  begin_fault (1u << IO_FAULT_RENAME, EACCES);
  if (__i__ < 2) {
    expect_warning ("*/watch.sqlite: damaged, and cannot be renamed: *");
    watch_store_add_event (store, new_event ("yard", 2, TIME, WATCH_EVENT_IN, "door", NULL));
    for (guint i = 0; i < 2; i++)
      fail_if (watch_store_flush (store));
    watch_store_get_stats (store, &stats);
    fail_unless_equals_string (stats.last_error->code, "database-unwritable");
    web_reason_free (stats.last_error);
    expect_warning (__i__ ? "*: 1 records were not written" : "*was damaged: moved to *");
  }
  if (__i__ == 0) {
    fault.fail_end = 0;
    while (!watch_store_flush (store))
      ;
    numbers = find_numbers (store, query, FALSE);
    fail_unless_equals_string (numbers, "2");
  }
  watch_store_close (store);
  if (__i__ == 2) {
    fail_if (watch_store_open (folder, &error) != NULL);
    fail_unless (strstr (error->message, "/watch.sqlite: damaged, and cannot be renamed: "), "%s",
                 error->message);
  }
  g_test_assert_expected_messages ();
}
GST_END_TEST;

/* At a start, the file can only be read. */
GST_START_TEST (test_read_only)
{
  g_autoptr (GError) error = NULL;

  watch_store_close (open_store ());
  begin_fault (1u << IO_FAULT_OPEN, EACCES);
  fault.fail_at = 1; /* after the lock */
  fail_if (watch_store_open (folder, &error) != NULL);
  fail_unless (strstr (error->message, "/watch.sqlite: attempt to write a readonly database; let "),
               "%s", error->message);
}
GST_END_TEST;

/* --- Files removed while they are open --- */

static void
replace_file (const gchar *suffix)
{
  g_autofree gchar *path = g_strconcat (folder, "/watch.sqlite", suffix, NULL);

  remove_file (suffix);
  fail_unless (g_file_set_contents (path, "another file", -1, NULL));
}

static void
remove_all (const gchar *suffix)
{
  remove_file ("");
  remove_file ("-wal");
  remove_file ("-shm");
}

static void
replace_all (const gchar *suffix)
{
  remove_all (NULL);
  damage_all ();
}

/* Waits until the store has written its files again @n times. */
static void
wait_restored (WatchStore *store, guint n)
{
  gint64 end = g_get_monotonic_time () + 20 * SECOND;
  WatchStoreStats stats = { 0 };

  do {
    web_reason_free (stats.last_error);
    g_usleep (20000);
    watch_store_get_stats (store, &stats);
  } while (stats.restored < n && g_get_monotonic_time () < end);
  fail_unless_equals_int (stats.restored, n);
  web_reason_free (stats.last_error);
}

/* @_i: what is done to the files; with an event meanwhile, or while nothing happens. */
GST_START_TEST (test_removed)
{
  static const struct
  {
    void (*act) (const gchar *suffix);
    const gchar *suffix;
  } cases[] = {
    { remove_all },          { remove_file, "" },  { remove_file, "-wal" },
    { remove_file, "-shm" }, { replace_file, "" }, { replace_file, "-wal" },
  };
  static const gchar *const names[] = { "a", NULL };
  static const WatchLineKinds kinds[] = { WATCH_LINE_EVENTS };
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  const gboolean idle = __i__ & 1;
  WatchQuery query = { .limit = 10, .kind = -1 };
  g_autofree gchar *numbers = NULL, *again = NULL;
  WatchStore *store = open_store ();
  WatchSpoolStats stats;

  watch_store_set_sinks (store, names, kinds, 1 << 20);
  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  g_free (find_numbers (store, query, FALSE)); /* leaves a connection open */
  cases[__i__ / 2].act (cases[__i__ / 2].suffix);
  if (idle)
    wait_restored (store, 1);
  watch_store_add_event (store, new_event ("hall", 2, TIME + 1, WATCH_EVENT_IN, "gate", NULL));
  fail_unless (watch_store_flush (store));
  wait_restored (store, 1);
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, "2 1");
  watch_store_get_spool_stats (store, "a", &stats);
  fail_unless_equals_uint64 (stats.pending, 2);
  watch_store_close (store);
  fail_unless_equals_int64 (count ("SELECT count(*) FROM events"), 2);

  store = open_store ();
  again = find_numbers (store, query, FALSE);
  fail_unless_equals_string (again, "2 1");
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

/* The folder is away for a while: events wait, and the status says so. */
GST_START_TEST (test_removed_folder)
{
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  g_autofree gchar *away = g_strconcat (folder, "-away", NULL), *numbers = NULL;
  WatchQuery query = { .limit = 10, .kind = -1 };
  WatchStore *store = open_store ();
  WatchStoreStats stats = { 0 };

  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  fail_unless_equals_int (g_rename (folder, away), 0);
  watch_store_add_event (store, new_event ("yard", 2, TIME + 1, WATCH_EVENT_IN, "door", NULL));
  fail_if (watch_store_flush (store));
  watch_store_get_stats (store, &stats);
  fail_unless (stats.last_error && g_str_equal (stats.last_error->code, "database-removed"));
  web_reason_free (stats.last_error);
  fail_unless_equals_int (g_mkdir (folder, 0700), 0);
  while (!watch_store_flush (store))
    ;
  wait_restored (store, 1);
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, "2 1");
  watch_store_close (store);
  remove_tree (away);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

static guint
count_files (const gchar *prefix)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  guint n = 0;

  while ((name = g_dir_read_name (dir)))
    n += g_str_has_prefix (name, prefix);
  return n;
}

/* A copy of the database, made by another program, takes its place. */
static void
replace_by_copy (void)
{
  g_autofree gchar *path = g_build_filename (folder, "watch.sqlite", NULL);
  g_autofree gchar *copy = g_build_filename (folder, "copy.sqlite", NULL);
  g_autofree gchar *sql = g_strdup_printf ("VACUUM INTO '%s'", copy);

  count (sql);
  remove_all (NULL);
  fail_unless_equals_int (g_rename (copy, path), 0);
}

static WatchStore *searched;
static guint n_searches;

/* Leaves an idle connection to the file that is about to be renamed. */
static void
search_before_rename (IoFaultKind kind, const char *path)
{
  WatchDb *reader;
  gint64 version;

  if (!strstr (path, ".damaged-") && !strstr (path, ".replaced-"))
    return;
  reader = watch_store_get_reader (searched, FALSE, NULL);
  fail_unless (reader != NULL);
  watch_db_get_int (reader, &version, "PRAGMA schema_version", "");
  watch_store_return_reader (searched, reader);
  n_searches++;
}

/* Searches that come just before files are renamed. @_i: a damaged file is moved aside, or another
 * file takes the place of an open one. */
GST_START_TEST (test_search_before_rename)
{
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  WatchQuery query = { .limit = 10, .kind = -1 };
  g_autofree gchar *numbers = NULL;
  WatchStore *store = open_store ();

  searched = store;
  n_searches = 0;
  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  begin_fault (1u << IO_FAULT_RENAME, 0);
  io_fault_hook = search_before_rename;
  if (__i__)
    replace_by_copy ();
  else
    damage_events ();
  watch_store_add_event (store, new_event ("yard", 2, TIME + 1, WATCH_EVENT_IN, "door", NULL));
  while (!watch_store_flush (store))
    ;
  fail_unless (n_searches > 0);
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, __i__ ? "2 1" : "2");
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

/* Files are removed on a full disk, and the program is stopped before the next try. @_i: a copy
 * failed, and there is space again; or there is space for the records only. */
GST_START_TEST (test_removed_and_closed)
{
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  WatchQuery query = { .limit = 10, .kind = -1 };
  g_autofree gchar *numbers = NULL;
  WatchStore *store = open_store ();

  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  begin_fault (IO_FAULT_WRITES, ENOSPC);
  fault.space = __i__ ? 1 << 20 : 0;
  remove_all (NULL);
  watch_store_add_event (store, new_event ("yard", 2, TIME + 1, WATCH_EVENT_IN, "door", NULL));
  fail_if (watch_store_flush (store));
  fail_unless (__i__ ? fault.failed == 0 : fault.failed > 0);
  fault.fail_end = 0;
  watch_store_close (store);
  io_fault = NULL;

  store = open_store ();
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, "2 1");
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

static const gchar *stuck;

/* Lets renamings to `stuck` fail. */
static void
choose_rename (IoFaultKind kind, const char *path)
{
  fault.failing =
      g_pattern_match_simple (stuck, path) ? 1u << IO_FAULT_RENAME : 1u << IO_FAULT_OPEN;
}

/* Files are removed or replaced, and one cannot be renamed: that is told, until it succeeds. */
GST_START_TEST (test_removed_and_stuck)
{
  static const struct
  {
    void (*act) (const gchar *suffix);
    const gchar *stuck, *text;
  } cases[] = {
    { remove_all, "*/watch.sqlite.restored", "the copy */watch.sqlite.new cannot be renamed: " },
    { remove_all, "*/watch.sqlite", "the copy */watch.sqlite.restored cannot be renamed: " },
    { replace_all, "*/watch.sqlite.replaced-*", "replaced, and cannot be renamed: " },
  };
  g_autofree gchar *numbers = NULL;
  g_autofree gchar *pattern =
      g_strconcat (folder, "/watch.sqlite: ", cases[__i__].text, g_strerror (EACCES), NULL);
  WatchQuery query = { .limit = 10, .kind = -1 };
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  WatchStore *store = open_store ();
  WatchStoreStats stats = { 0 };

  store->retry_time = SECOND / 50;
  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  begin_fault (1u << IO_FAULT_RENAME, EACCES);
  stuck = cases[__i__].stuck;
  io_fault_hook = choose_rename;
  cases[__i__].act (NULL);
  watch_store_add_event (store, new_event ("yard", 2, TIME + 1, WATCH_EVENT_IN, "door", NULL));
  for (guint i = 0; i < 2; i++)
    fail_if (watch_store_flush (store));
  watch_store_get_stats (store, &stats);
  fail_unless_equals_string (stats.last_error->code, "database-unwritable");
  fail_unless (g_pattern_match_simple (pattern, stats.last_error->text), "%s",
               stats.last_error->text);
  web_reason_free (stats.last_error);
  fault.fail_end = 0;
  while (!watch_store_flush (store))
    ;
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, "2 1");
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

static WatchStore *stopped;
static guint n_copies;

/* Stops the program as it writes to a file, and adds the last record. */
static void
stop_while_writing (IoFaultKind kind, const char *path)
{
  WatchStore *store = g_atomic_pointer_get (&stopped);

  if (kind == IO_FAULT_OPEN) {
    n_copies += g_str_has_suffix (path, "/watch.sqlite.new");
  } else if (store) {
    watch_store_add_event (store, new_event ("yard", 3, TIME + 2, WATCH_EVENT_IN, "door", NULL));
    g_mutex_lock (&store->mutex);
    store->closing = TRUE;
    g_mutex_unlock (&store->mutex);
    g_atomic_pointer_set (&stopped, NULL);
  }
}

/* A copy fails, and the program is stopped. @_i: after it, when another one is made, or meanwhile.
 * Records that are not written are told once. */
GST_START_TEST (test_copy_fails_on_closing)
{
  WatchStore *store = open_store ();

  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  fail_unless (watch_store_flush (store));
  expect_warning ("*was removed or replaced, and cannot be written again*");
  expect_warning (__i__ ? "*: 1 records were not written" : "*: 2 records were not written");
  begin_fault (IO_FAULT_WRITES | 1u << IO_FAULT_OPEN, ENOSPC);
  fault.failing = IO_FAULT_WRITES;
  io_fault_hook = stop_while_writing;
  n_copies = 0;
  stopped = __i__ ? store : NULL;
  remove_all (NULL);
  if (__i__) {
    while (g_atomic_pointer_get (&stopped))
      g_usleep (10000);
  } else {
    for (guint i = 2; i < 4; i++)
      watch_store_add_event (store, new_event ("yard", i, TIME + i, WATCH_EVENT_IN, "door", NULL));
    fail_if (watch_store_flush (store));
  }
  watch_store_close (store);
  fail_unless_equals_int (n_copies, __i__ ? 1 : 2);
  g_test_assert_expected_messages ();
}
GST_END_TEST;

/* A write that fails while the program is being stopped is tried once more. */
GST_START_TEST (test_write_fails_on_closing)
{
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  WatchQuery query = { .limit = 10, .kind = -1 };
  g_autofree gchar *numbers = NULL;
  WatchStore *store = open_store ();

  begin_fault (IO_FAULT_WRITES, EIO);
  fault.fail_end = 1;
  io_fault_hook = stop_while_writing;
  stopped = store;
  watch_store_add_event (store, new_event ("yard", 2, TIME, WATCH_EVENT_IN, "door", NULL));
  while (g_atomic_pointer_get (&stopped))
    g_usleep (10000);
  watch_store_close (store);
  io_fault = NULL;
  io_fault_hook = NULL;

  store = open_store ();
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, "3 2");
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

/* A process that was killed left a complete copy, with the only records. @_i: what is in its place.
 */
GST_START_TEST (test_left_copy)
{
  static const gchar *const before[] = { NULL, "", "another file" };
  g_autofree gchar *path = g_build_filename (folder, "watch.sqlite", NULL);
  g_autofree gchar *copy = g_strconcat (path, ".restored", NULL);
  g_autofree gchar *unfinished = g_strconcat (path, ".new", NULL);
  g_autofree gchar *numbers = NULL;
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  WatchQuery query = { .limit = 10, .kind = -1 };
  WatchStore *store = open_store ();

  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  watch_store_close (store);
  fail_unless_equals_int (g_rename (path, copy), 0);
  fail_unless (g_file_set_contents (unfinished, "half a copy", -1, NULL));
  if (before[__i__])
    fail_unless (g_file_set_contents (path, before[__i__], -1, NULL));

  store = open_store ();
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, "1");
  watch_store_close (store);
  fail_if (g_file_test (copy, G_FILE_TEST_EXISTS) || g_file_test (unfinished, G_FILE_TEST_EXISTS));
  fail_unless_equals_int (count_files ("watch.sqlite.replaced-"), before[__i__] ? 1 : 0);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

/* --- A full disk --- */

static void
set_file_limit (rlim_t bytes)
{
  struct rlimit limit;

  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = MIN (bytes, limit.rlim_max);
  fail_unless_equals_int (setrlimit (RLIMIT_FSIZE, &limit), 0);
}

GST_START_TEST (test_full)
{
  WatchStore *store = open_store ();
  WatchQuery query = { .limit = 1000, .kind = -1 };
  g_autofree gchar *numbers = NULL;
  g_autoptr (GString) expected = g_string_new (NULL);
  WatchStoreStats stats = { 0 };
  guint handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, ignore_message, NULL);
  guint n = 0;

  signal (SIGXFSZ, SIG_IGN);
  set_file_limit (200000);
  do {
    n++;
    watch_store_add_event (store, new_event ("yard", n, TIME + n, WATCH_EVENT_IN, "door", NULL));
  } while (watch_store_flush (store));
  watch_store_get_stats (store, &stats);
  fail_unless (stats.last_error != NULL);
  fail_unless_equals_int (stats.queued, 1);
  fail_unless_equals_int (stats.events, n - 1);
  web_reason_free (stats.last_error);

  /* More than the queue takes. */
  for (guint i = 0; i < 20000; i++)
    watch_store_add_line (store, "yard", WATCH_LINE_FRAMES, g_strdup ("f"));
  watch_store_get_stats (store, &stats);
  fail_unless (stats.dropped >= 20000 - 16384);
  web_reason_free (stats.last_error);

  set_file_limit (RLIM_INFINITY);
  while (!watch_store_flush (store))
    ;
  watch_store_get_stats (store, &stats);
  fail_unless (stats.last_error == NULL);
  fail_unless_equals_int (stats.events, n);
  for (guint i = n; i > 0; i--)
    g_string_append_printf (expected, "%u%s", i, i > 1 ? " " : "");
  numbers = find_numbers (store, query, FALSE);
  fail_unless_equals_string (numbers, expected->str);
  watch_store_close (store);
  g_log_remove_handler (NULL, handler);
}
GST_END_TEST;

static Suite *
storefiles_suite (void)
{
  Suite *s = suite_create ("storefiles");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, setup, teardown_fault);
  tcase_add_test (tc, test_damaged);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_failures);
  tcase_add_test (tc, test_refused_record);
  tcase_add_test (tc, test_damaged_later);
  tcase_add_loop_test (tc, test_damaged_and_stuck, 0, 3);
  tcase_add_test (tc, test_read_only);
  tcase_add_loop_test (tc, test_removed, 0, 12);
  tcase_add_test (tc, test_removed_folder);
  tcase_add_loop_test (tc, test_search_before_rename, 0, 2);
  tcase_add_loop_test (tc, test_removed_and_closed, 0, 2);
  tcase_add_loop_test (tc, test_removed_and_stuck, 0, 3);
  tcase_add_loop_test (tc, test_copy_fails_on_closing, 0, 2);
  tcase_add_test (tc, test_write_fails_on_closing);
  tcase_add_loop_test (tc, test_left_copy, 0, 3);
  tcase_add_test (tc, test_full);
  return s;
}

GST_CHECK_MAIN (storefiles);
