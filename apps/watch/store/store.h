/* cudaccl-watch - events, tracks and counts in SQLite
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_STORE_H__
#define __WATCH_STORE_H__

#include "apps/watch/records/records.h"
#include "apps/web/reason.h"

G_BEGIN_DECLS

/* A database in WAL mode. Thread-safe. Records go to a queue, from which the store's thread
 * writes them in transactions: adding never waits for the disk. The queue is bounded; records
 * that do not fit are dropped and counted. Searches run in the caller's thread, in their own
 * connection. */
typedef struct _WatchStore WatchStore;

/* Opens or creates DATA/watch.sqlite. Fails if another process has it open, or a newer version
 * wrote it. */
WatchStore *watch_store_open (const gchar *data, GError **error);

/* The same for searches only, also while another process has it open. Fails if there is none. */
WatchStore *watch_store_open_for_reading (const gchar *data, GError **error);

/* Writes queued records, and closes the database. */
void watch_store_close (WatchStore *self);

/* Waits until everything added so far is committed. Returns FALSE if it cannot be written now,
 * such as on a full disk; the store goes on trying. Not from the callback below. */
gboolean watch_store_flush (WatchStore *self);

/* --- Adding. All take the record. --- */

/* Adds the event and, in the same transaction, its line to the spool if a sink wants events. */
void watch_store_add_event (WatchStore *self, WatchEvent *event);
void watch_store_add_track (WatchStore *self, WatchTrack *track);
/* Adds to the counts of that minute, and keeps the larger `inside`. */
void watch_store_add_minute (WatchStore *self, WatchMinute *minute);
/* Adds a line to the spool only, as for frames. */
void watch_store_add_line (WatchStore *self, const gchar *camera, WatchLineKinds kind, gchar *line);

/* Keeps events and tracks out of the spool from now on: recordings bring no news. */
void watch_store_stop_spooling (WatchStore *self);

/* Called in the store's thread after a commit, with the events that are now safe. */
typedef void (*WatchStoreCommitted) (GPtrArray *events, gpointer user_data);
void watch_store_set_committed (WatchStore *self, WatchStoreCommitted func, gpointer user_data);

/* --- Kept over restarts --- */

/* The counts of a zone after its last event. */
typedef struct
{
  gchar *zone;
  guint64 in, out;
} WatchStoreCounts;

typedef struct
{
  guint64 last_track; /* the highest number, or 0 */
  GArray *counts;     /* WatchStoreCounts, for each zone that had an event */
  gint64 lost_since;  /* time of the last event `lost`, 0 if `back` came after it */
} WatchStorePast;

/* Fills in @past of the camera, with all that was added before, committed or not; clear it with
 * watch_store_past_clear(). Not of a store that was opened for reading. */
void watch_store_get_past (WatchStore *self, const gchar *camera, WatchStorePast *past);
void watch_store_past_clear (WatchStorePast *past);

/* Sets @end to the end of the session's last track, 0 if there is none. May take some 100 ms. */
gboolean watch_store_get_session_end (WatchStore *self, const gchar *session, gint64 *end,
                                      GError **error);

/* --- Searching --- */

typedef struct
{
  const gchar *camera;     /* NULL: all */
  gint64 begin, end;       /* [begin, end); end 0: for ever */
  const gchar *class_name; /* NULL: all */
  const gchar *zone;       /* NULL: all */
  gint kind;               /* WatchEventKind, -1: all; for events */
  gint64 before;           /* row from which to go on; 0: from the latest */
  guint limit;             /* 1 to 1000 */
  /* For tracks: x and y of each point in shares of the frame; 2 points: a line that the path
   * crosses, 3 or more: a polygon that the path enters. NULL: anywhere. */
  const gdouble *points;
  guint n_points; /* at most 64 */
} WatchQuery;

/* Return records, latest first, and set @next to the row for the next page, or 0 at the end.
 * Return NULL and set @error if the query is wrong or takes more than some seconds. */
GPtrArray *watch_store_find_events (WatchStore *self, const WatchQuery *query, gint64 *next,
                                    GError **error);
GPtrArray *watch_store_find_tracks (WatchStore *self, const WatchQuery *query, gint64 *next,
                                    GError **error);
/* Minutes in order of time, of `zone` or of the whole picture. `limit` may be up to 100 000. */
GPtrArray *watch_store_find_minutes (WatchStore *self, const WatchQuery *query, GError **error);

/* --- The spool: lines that sinks have not taken yet --- */

typedef struct
{
  gint64 row;
  gchar *camera;
  WatchLineKinds kind; /* one of them */
  gchar *line;         /* JSON without a newline */
} WatchLine;

void watch_line_free (WatchLine *line);

/* Sets the sinks, NULL-terminated, and the @kinds that each wants. Known sinks keep their place,
 * new ones begin with the next line, and all others are forgotten. Above @max_bytes, the spool
 * drops its oldest lines, and counts them for each sink that had not taken them. */
void watch_store_set_sinks (WatchStore *self, const gchar *const *names,
                            const WatchLineKinds *kinds, guint64 max_bytes);

/* Returns up to @max lines (WatchLine) after @row, in order; @row 0 stands for the last one
 * taken. */
GPtrArray *watch_store_peek (WatchStore *self, const gchar *sink, gint64 row, guint max);
/* Tells that the sink has taken all lines up to @row. Returns when that is committed, or cannot
 * be written now. */
void watch_store_taken (WatchStore *self, const gchar *sink, gint64 row);

typedef struct
{
  guint64 pending; /* lines waiting */
  guint64 dropped; /* lines, since the database was created */
} WatchSpoolStats;

void watch_store_get_spool_stats (WatchStore *self, const gchar *sink, WatchSpoolStats *stats);

/* --- Keeping it small --- */

/* Removes events, tracks and minutes older than @time. */
void watch_store_remove_before (WatchStore *self, gint64 time);
/* Forgets that these files of the media folder exist; NULL-terminated. */
void watch_store_forget_files (WatchStore *self, const gchar *const *files);
/* The same for files that recent records name and that are missing, because they could not be
 * written or the program was killed. The first call looks at the records of the last hour, others
 * at those that are new or had a file pending. Call it from one thread at a time. */
typedef WatchFileState (*WatchStoreFileFunc) (const gchar *name, gpointer user_data);
void watch_store_forget_missing (WatchStore *self, WatchStoreFileFunc func, gpointer user_data);

typedef struct
{
  guint64 events, tracks; /* added since it was opened */
  guint64 dropped;        /* records that did not fit into the queue or could not be written */
  guint queued;
  guint restored;        /* times that removed files were written again */
  guint64 bytes;         /* size of the database */
  WebReason *last_error; /* such as a full disk, or NULL; web_reason_free() */
} WatchStoreStats;

void watch_store_get_stats (WatchStore *self, WatchStoreStats *stats);

G_END_DECLS

#endif /* __WATCH_STORE_H__ */
