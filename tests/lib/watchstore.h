/* cudaccl-watch - tests: a store in a folder of its own
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_WATCH_STORE_H
#define TESTS_LIB_WATCH_STORE_H

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <sqlite3.h>

#include "apps/watch/store/store.h"
#include "tests/lib/removetree.h"

#define TIME G_GINT64_CONSTANT (1769860800000000)
#define SECOND G_TIME_SPAN_SECOND

static gchar *folder;

static inline void
setup (void)
{
  folder = g_dir_make_tmp ("watch-store-XXXXXX", NULL);
}

static inline void
teardown (void)
{
  remove_tree (folder);
  g_clear_pointer (&folder, g_free);
}

static inline WatchStore *
open_store (void)
{
  g_autoptr (GError) error = NULL;
  WatchStore *store = watch_store_open (folder, &error);

  fail_unless (store != NULL, "%s", error ? error->message : "");
  return store;
}

static inline WatchEvent *
new_event (const gchar *camera, guint64 number, gint64 time, WatchEventKind kind, const gchar *zone,
           const gchar *class_name)
{
  WatchEvent event = { (gchar *) camera,
                       (gchar *) "session",
                       number,
                       time,
                       kind,
                       (gchar *) zone,
                       7,
                       (gchar *) class_name,
                       0.25,
                       0.5,
                       1500000,
                       number,
                       2,
                       1,
                       (gchar *) "a \"text\"",
                       NULL,
                       NULL };
  return watch_event_copy (&event);
}

/* The numbers of what a query finds, page by page. */
static inline gchar *
find_numbers (WatchStore *store, WatchQuery query, gboolean tracks)
{
  GString *text = g_string_new (NULL);
  gint64 next = 0;

  do {
    g_autoptr (GError) error = NULL;
    g_autoptr (GPtrArray) found = tracks ? watch_store_find_tracks (store, &query, &next, &error)
                                         : watch_store_find_events (store, &query, &next, &error);

    fail_unless (found != NULL, "%s", error ? error->message : "");
    fail_unless (found->len == query.limit || next == 0);
    for (guint i = 0; i < found->len; i++)
      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, text->len ? " " : "",
                              tracks ? ((WatchTrack *) g_ptr_array_index (found, i))->number
                                     : ((WatchEvent *) g_ptr_array_index (found, i))->number);
    query.before = next;
  } while (next);
  return g_string_free (text, FALSE);
}

/* The first column of the first row. */
static inline gint64
count (const gchar *sql)
{
  g_autofree gchar *path = g_build_filename (folder, "watch.sqlite", NULL);
  sqlite3_stmt *statement;
  sqlite3 *db;
  gint64 value;

  fail_unless_equals_int (sqlite3_open (path, &db), SQLITE_OK);
  fail_unless_equals_int (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), SQLITE_OK);
  sqlite3_step (statement);
  value = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return value;
}

#endif /* TESTS_LIB_WATCH_STORE_H */
