/* cudaccl-watch - internals of the store
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_STORE_PRIVATE_H__
#define __WATCH_STORE_PRIVATE_H__

#include <sqlite3.h>

#include "apps/watch/store/names.h"
#include "apps/watch/store/store.h"

G_BEGIN_DECLS

#define WATCH_STORE_MAX_SINKS 16

/* Limit for one search. */
#define WATCH_STORE_SEARCH_TIME (5 * G_TIME_SPAN_SECOND)

/* The number of tracks in a block, see search.c. */
#define WATCH_STORE_BLOCK 1024

/* The position of a sink in the spool. */
typedef struct
{
  const gchar *name; /* interned */
  WatchLineKinds kinds;
  gint64 place; /* row of the last line taken */
  WatchSpoolStats stats;
} WatchPlace;

/* The writer's state of the database; restored when a transaction fails. */
typedef struct
{
  WatchPlace sinks[WATCH_STORE_MAX_SINKS];
  guint n_sinks;
  gint64 last_line;   /* last row */
  guint64 line_bytes; /* bytes of all lines */
  gint64 last_sealed; /* row of the last track in a block */
  guint n_unsealed;   /* tracks after it */
  guint n_names;      /* in the database */
} WatchStoreState;

#define WATCH_STORE_N_FILES 3 /* the database, its journal and the journal's index */

typedef struct
{
  guint64 device, number; /* 0: no file */
} WatchFile;

/* A connection and its prepared statements, by their text. */
typedef struct
{
  sqlite3 *db;
  GHashTable *statements;
  gint64 deadline;  /* end of the present search, monotonic time; or 0 */
  guint generation; /* generation of the file when a reader opened it */
} WatchDb;

struct _WatchStore
{
  gchar *path;
  gint64 search_time; /* WATCH_STORE_SEARCH_TIME; tests set less */
  gint64 retry_time;  /* after a failure; tests set less */
  int lock;           /* the locked file */
  GThread *thread;

  /* Writer thread only. */
  WatchDb *db;     /* NULL: it must be opened again */
  gboolean last;   /* this attempt to write began after closing; there is no other */
  guint suspected; /* times that a damage was found which a check did not find */
  WatchStoreState state;
  WatchFile files[WATCH_STORE_N_FILES]; /* as `db` was opened; zeros if it was not */
  gint64 copy_time, copy_delay;         /* of the next copy of removed files, after one failed;
                                         * G_MAXINT64: there is no other */
  GError *copy_error;                   /* of that copy, if there is more to say than a code */
  guint64 max_line_bytes;
  gint no_spool; /* atomic */

  WatchNames *names;                  /* of cameras, sessions, classes and zones */
  guint version;                      /* of the database, never changed */
  gchar *event_insert, *event_select; /* SQL, never changed */

  /* Of watch_store_forget_missing(). */
  gint64 checked[2];        /* last rows whose files were looked for, of events and tracks */
  guint checked_generation; /* of these rows, plus 1; 0: there are none */

  GMutex mutex;
  GCond wake;  /* signalled when the queue is not empty, or on closing */
  GCond tried; /* signalled after each transaction */
  /* Protected by mutex. */
  GQueue queue;       /* Operation */
  guint64 n_queued;   /* operations since it was opened */
  guint64 n_done;     /* operations committed or dropped */
  guint64 n_failures; /* transactions that failed */
  gboolean closing;
  WatchStoreCommitted committed;
  gpointer committed_data;
  WatchStoreStats stats;
  WatchStoreState shown; /* after the last transaction */
  GHashTable *pasts;     /* name of a camera to its Past, see past.c */
  GPtrArray *readers;    /* idle connections, WatchDb */
  guint generation;      /* grows when a damaged file is replaced */
};

/* --- db.c --- */

/* Never returns NULL. If opening fails, `db` has the error code. */
WatchDb *watch_db_open (const gchar *path, gboolean write);
void watch_db_free (WatchDb *db);

/* Sets @error from a code of SQLite. */
void watch_db_set_error (int code, GError **error);

/* Returns the prepared statement of @sql, reset, or NULL. */
sqlite3_stmt *watch_db_prepare (WatchDb *db, const gchar *sql);

/* Binds what @types lists and runs the statement to its end: `i` gint64, `d` gdouble, `s` const
 * gchar * or NULL, `b` GByteArray *. Returns a code of SQLite. */
int watch_db_run (WatchDb *db, const gchar *sql, const gchar *types, ...);

/* Binds only; returns the statement, or NULL. */
sqlite3_stmt *watch_db_query (WatchDb *db, const gchar *sql, const gchar *types, ...);

/* Sets @value to the first column of the first row, or 0. Returns a code of SQLite. */
int watch_db_get_int (WatchDb *db, gint64 *value, const gchar *sql, const gchar *types, ...);

/* Returns a connection for reading. With @limit, statements fail after some seconds. */
WatchDb *watch_store_get_reader (WatchStore *self, gboolean limit, GError **error);
void watch_store_return_reader (WatchStore *self, WatchDb *db);

/* Closes idle connections now, others when their search ends. New searches open the file again. */
void watch_store_close_readers (WatchStore *self);

/* --- store.c: writer thread only --- */

/* Returns a code of SQLite. SQLITE_OK with @error set, without the path: the file is intact, but
 * cannot be used. */
int watch_store_open_file (WatchStore *self, GError **error);
/* The writer opens it again. */
void watch_store_close_file (WatchStore *self);
gboolean watch_store_is_closing (WatchStore *self);

/* --- files.c: writer thread only --- */

/* Remembers which files are open. */
void watch_files_note (WatchStore *self);
/* Returns whether others have removed or replaced one of them. */
gboolean watch_files_have_moved (WatchStore *self);
/* Renames files in the place of the database that are not the open ones, to names with @why and
 * the time, and removes the journals of the open one. Stops at the first that cannot be
 * renamed: a journal stays with a database that stays. */
gboolean watch_files_move_aside (WatchStore *self, const gchar *why, GError **error);
/* Writes all records to new files in the old place. Returns a code of SQLite; on failure, the
 * connection stays as it was, or is closed and must be opened again, and @error is set if there is
 * more to say than the code does. */
int watch_files_restore (WatchStore *self, GError **error);
/* Before the database is opened: puts a complete copy into its place, and forgets which files were
 * open. */
gboolean watch_files_finish (WatchStore *self, GError **error);

/* --- schema.c --- */

guint watch_schema_get_version (void);
/* Fails if @version is newer. */
gboolean watch_schema_check (gint64 version, GError **error);
/* Returns a code of SQLite. SQLITE_OK with @error set: the database is of a newer version. */
int watch_schema_upgrade (WatchDb *db, GError **error);

/* --- events.c --- */

/* Returns the SQL that makes the table, or that adds the columns of a later @version to it. */
gchar *watch_events_get_schema (guint version);
/* Returns the latest version that added a column. */
guint watch_events_get_version (void);
gchar *watch_events_get_select (guint version);
gchar *watch_events_get_insert (void);
/* Writer thread only; returns a code of SQLite. */
int watch_events_insert (WatchStore *self, const WatchEvent *event);
/* Reads a row of the select. */
WatchEvent *watch_events_read (WatchStore *self, sqlite3_stmt *statement);

/* --- past.c --- */

/* Reads what is kept over restarts, once. Returns a code of SQLite. */
int watch_past_load (WatchStore *self);
/* Of a record that is added; call with the mutex. */
void watch_past_add_event (WatchStore *self, const WatchEvent *event);
void watch_past_add_track (WatchStore *self, const WatchTrack *track);

/* --- spool.c: called by the writer within a transaction; return a code of SQLite --- */

int watch_spool_load (WatchStore *self);
/* In a new database, adds the sinks of @before, and numbers lines on from there, since sinks go
 * on counting rows. Not within a transaction. */
int watch_spool_continue (WatchStore *self, const WatchStoreState *before);
int watch_spool_add (WatchStore *self, WatchLineKinds kind, const gchar *camera, const gchar *line);
int watch_spool_set_sinks (WatchStore *self, const gchar *const *names, const WatchLineKinds *kinds,
                           guint64 max_bytes);
int watch_spool_taken (WatchStore *self, const gchar *sink, gint64 row);
gboolean watch_spool_wants (WatchStore *self, WatchLineKinds kind);
/* Removes lines that all sinks have taken, and drops the oldest above the limit. */
int watch_spool_trim (WatchStore *self);

/* --- search.c: the same --- */

int watch_search_load (WatchStore *self);
int watch_search_add_track (WatchStore *self, const WatchTrack *track);
/* Puts tracks into blocks once there are enough. */
int watch_search_seal (WatchStore *self);

G_END_DECLS

#endif /* __WATCH_STORE_PRIVATE_H__ */
