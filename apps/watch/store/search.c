/* cudaccl-watch - searches
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tracks have no index for each thing that one may search for. Instead, each WATCH_STORE_BLOCK
 * tracks are put into a block, which is one row: a summary, an array of heads with the fields that
 * most searches test, and the packed paths. A search reads the heads of the blocks whose summary
 * fits, latest first; the heads of a million tracks take 64 MB. It tests a path exactly only if
 * its cells overlap the cells of the shape. Tracks that are not in a block yet are read from their
 * rows.
 *
 * Blocks only speed up searches; `tracks` has all of the data. A block may still have tracks that
 * were removed. */

#include "apps/watch/store/private.h"

#include <gio/gio.h>
#include <string.h>

#include "apps/watch/store/path.h"

#define MAX_RECORDS 1000
#define MAX_MINUTES 100000

/* Little endian in the database. */
typedef struct
{
  gint64 begin, end;
  guint32 camera, class_name; /* numbers of names */
  guint32 row;                /* the last row of the block minus this one */
  guint32 path;               /* offset in `paths` */
  WatchGrid grid;
} Head;

G_STATIC_ASSERT (sizeof (Head) == 64);

static void
head_swap (Head *head)
{
  head->begin = GINT64_TO_LE (head->begin);
  head->end = GINT64_TO_LE (head->end);
  head->camera = GUINT32_TO_LE (head->camera);
  head->class_name = GUINT32_TO_LE (head->class_name);
  head->row = GUINT32_TO_LE (head->row);
  head->path = GUINT32_TO_LE (head->path);
  for (guint i = 0; i < G_N_ELEMENTS (head->grid.bits); i++)
    head->grid.bits[i] = GUINT64_TO_LE (head->grid.bits[i]);
}

/* --- The writer's part --- */

int
watch_search_load (WatchStore *self)
{
  gint64 n = 0;
  int code =
      watch_db_get_int (self->db, &self->state.last_sealed, "SELECT max(last) FROM blocks", "");

  if (code == SQLITE_OK)
    code = watch_db_get_int (self->db, &n, "SELECT count(*) FROM tracks WHERE row > ?", "i",
                             self->state.last_sealed);
  self->state.n_unsealed = (guint) n;
  return code;
}

int
watch_search_add_track (WatchStore *self, const WatchTrack *track)
{
  g_autoptr (GByteArray) path = g_byte_array_new ();
  guint n_zones = track->zones ? g_strv_length (track->zones) : 0;
  g_autofree guint32 *zones = g_new (guint32, n_zones);

  for (guint i = 0; i < n_zones; i++)
    zones[i] = watch_names_get_number (self->names, track->zones[i], TRUE);
  watch_path_pack (path, zones, n_zones, track->begin, track->points, track->n_points);
  self->state.n_unsealed++;
  return watch_db_run (self->db, "INSERT INTO tracks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       "iiiiiidbs",
                       (gint64) watch_names_get_number (self->names, track->camera, TRUE),
                       (gint64) watch_names_get_number (self->names, track->session, TRUE),
                       (gint64) track->number, track->begin, track->end,
                       (gint64) watch_names_get_number (self->names, track->class_name, TRUE),
                       track->confidence, path, track->picture);
}

/* The columns of a track that searches need. */
#define HEAD_COLUMNS "row, \"begin\", \"end\", camera, class, path"

static void
read_head (sqlite3_stmt *statement, Head *head, gint64 *row, const guint8 **path, gsize *size)
{
  *row = sqlite3_column_int64 (statement, 0);
  head->begin = sqlite3_column_int64 (statement, 1);
  head->end = sqlite3_column_int64 (statement, 2);
  head->camera = sqlite3_column_int64 (statement, 3);
  head->class_name = sqlite3_column_int64 (statement, 4);
  *path = sqlite3_column_blob (statement, 5);
  *size = sqlite3_column_bytes (statement, 5);
}

/* A summary maps names to 64 bits: a bit that is not set rules its names out. */
static inline guint64
get_bit (guint32 number)
{
  return G_GUINT64_CONSTANT (1) << (number % 64);
}

/* Puts the next tracks into a block. */
static int
seal_block (WatchStore *self)
{
  g_autoptr (GArray) heads = g_array_new (FALSE, FALSE, sizeof (Head));
  g_autoptr (GByteArray) paths = g_byte_array_new ();
  gint64 min_begin = G_MAXINT64, max_begin = G_MININT64, max_end = G_MININT64, row = 0;
  sqlite3_stmt *statement = watch_db_query (
      self->db, "SELECT " HEAD_COLUMNS " FROM tracks WHERE row > ? ORDER BY row LIMIT ?", "ii",
      self->state.last_sealed, (gint64) WATCH_STORE_BLOCK);
  g_autoptr (GArray) zones = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint64 cameras = 0, classes = 0, zone_bits = 0;
  WatchGrid cells = { { 0 } };
  GByteArray bytes, cell_bytes = { (guint8 *) &cells, sizeof (cells) };
  int code;

  while (statement && sqlite3_step (statement) == SQLITE_ROW) {
    Head head = { 0 };
    const guint8 *path;
    gsize size;

    read_head (statement, &head, &row, &path, &size);
    min_begin = MIN (min_begin, head.begin);
    max_begin = MAX (max_begin, head.begin);
    max_end = MAX (max_end, head.end);
    head.row = row;
    head.path = paths->len;
    head.grid = watch_path_get_grid (path, size);
    cameras |= get_bit (head.camera);
    classes |= get_bit (head.class_name);
    watch_path_unpack (path, size, 0, zones, NULL);
    for (guint i = 0; i < G_N_ELEMENTS (cells.bits); i++)
      cells.bits[i] |= head.grid.bits[i];
    g_array_append_val (heads, head);
    g_byte_array_append (paths, path, size);
  }
  code = statement ? sqlite3_reset (statement) : sqlite3_errcode (self->db->db);
  if (code != SQLITE_OK)
    return code;

  /* There are fewer if some were removed after they were counted. */
  self->state.n_unsealed -=
      heads->len < WATCH_STORE_BLOCK ? self->state.n_unsealed : WATCH_STORE_BLOCK;
  if (heads->len == 0)
    return SQLITE_OK;
  self->state.last_sealed = row;
  for (guint i = 0; i < heads->len; i++) {
    Head *head = &g_array_index (heads, Head, i);

    head->row = (guint32) row - head->row;
    head_swap (head);
  }
  for (guint i = 0; i < zones->len; i++)
    zone_bits |= get_bit (g_array_index (zones, guint32, i));
  for (guint i = 0; i < G_N_ELEMENTS (cells.bits); i++)
    cells.bits[i] = GUINT64_TO_LE (cells.bits[i]);
  bytes.data = (guint8 *) heads->data;
  bytes.len = heads->len * sizeof (Head);
  return watch_db_run (self->db, "INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       "iiiiiiibbb", row, min_begin, max_begin, max_end, (gint64) cameras,
                       (gint64) classes, (gint64) zone_bits, &cell_bytes, &bytes, paths);
}

int
watch_search_seal (WatchStore *self)
{
  int code = SQLITE_OK;

  while (self->state.n_unsealed >= WATCH_STORE_BLOCK && code == SQLITE_OK)
    code = seal_block (self);
  return code;
}

/* --- Tracks --- */

typedef struct
{
  gint64 begin, row;
} Hit;

typedef struct
{
  WatchDb *db;
  gint64 begin, end;
  guint limit;
  Hit before;                       /* only hits before this one */
  guint32 camera, class_name, zone; /* 0: all */
  WatchShape shape;
  GArray *hits; /* Hit, at most twice as many as needed */
} Search;

/* Latest first. */
static gint
compare_hits (gconstpointer a, gconstpointer b)
{
  const Hit *x = a, *y = b;

  if (x->begin != y->begin)
    return x->begin < y->begin ? 1 : -1;
  return (x->row < y->row) - (x->row > y->row);
}

/* Keeps one more than the page has, to know whether there is a next page. */
static void
keep_latest (Search *search)
{
  g_array_sort (search->hits, compare_hits);
  if (search->hits->len > search->limit)
    g_array_set_size (search->hits, search->limit + 1);
}

/* Whether the track fits, its path aside. */
static inline gboolean
head_fits (const Search *search, const Head *head, gint64 row)
{
  return head->begin < search->end && head->end >= search->begin &&
         (search->camera == 0 || search->camera == head->camera) &&
         (search->class_name == 0 || search->class_name == head->class_name) &&
         (head->begin < search->before.begin ||
          (head->begin == search->before.begin && row < search->before.row));
}

static void
test_path (Search *search, const Head *head, gint64 row, const guint8 *path, gsize size)
{
  Hit hit = { head->begin, row };

  if (search->zone && !watch_path_has_zone (path, size, search->zone))
    return;
  if (search->shape.n_points && !watch_shape_matches (&search->shape, path, size))
    return;
  g_array_append_val (search->hits, hit);
  if (search->hits->len > 2 * search->limit)
    keep_latest (search);
}

/* Searches the tracks that are not in a block yet. */
static int
search_rows (Search *search)
{
  sqlite3_stmt *statement = watch_db_query (
      search->db,
      "SELECT " HEAD_COLUMNS " FROM tracks WHERE row > (SELECT ifnull (max (last), 0) FROM blocks)",
      "");

  while (statement && sqlite3_step (statement) == SQLITE_ROW) {
    Head head;
    const guint8 *path;
    gsize size;
    gint64 row;

    read_head (statement, &head, &row, &path, &size);
    if (head_fits (search, &head, row))
      test_path (search, &head, row, path, size);
  }
  return statement ? sqlite3_reset (statement) : sqlite3_errcode (search->db->db);
}

static int
search_block (Search *search, gint64 last)
{
  sqlite3_stmt *heads =
      watch_db_query (search->db, "SELECT heads FROM blocks WHERE last = ?", "i", last);
  gboolean any_path = !search->zone && !search->shape.n_points;
  const guint8 *head_data, *path_data = NULL;
  gsize n_heads, n_bytes = 0;

  if (!heads || sqlite3_step (heads) != SQLITE_ROW)
    return sqlite3_errcode (search->db->db);
  head_data = sqlite3_column_blob (heads, 0);
  n_heads = sqlite3_column_bytes (heads, 0) / sizeof (Head);
  for (gsize i = 0; i < n_heads; i++) {
    Head head;
    gint64 row;

    memcpy (&head, head_data + i * sizeof (head), sizeof (head));
    head_swap (&head);
    row = last - head.row;
    if (!head_fits (search, &head, row) ||
        (search->shape.n_points && !watch_grid_intersects (&search->shape.grid, &head.grid)))
      continue;
    if (any_path) {
      test_path (search, &head, row, NULL, 0);
      continue;
    }
    /* Paths are half of the block, so they are read only when needed. */
    if (!path_data) {
      sqlite3_stmt *paths =
          watch_db_query (search->db, "SELECT paths FROM blocks WHERE last = ?", "i", last);

      if (!paths || sqlite3_step (paths) != SQLITE_ROW)
        return sqlite3_errcode (search->db->db);
      path_data = sqlite3_column_blob (paths, 0);
      n_bytes = sqlite3_column_bytes (paths, 0);
    }
    if (path_data && head.path <= n_bytes)
      test_path (search, &head, row, path_data + head.path, n_bytes - head.path);
  }
  return SQLITE_ROW;
}

/* Whether the block may have a match, by its summary. */
static gboolean
block_fits (const Search *search, sqlite3_stmt *statement)
{
  const guint32 numbers[] = { search->camera, search->class_name, search->zone };
  WatchGrid cells;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (numbers[i] && !((guint64) sqlite3_column_int64 (statement, 2 + i) & get_bit (numbers[i])))
      return FALSE;
  }
  if (search->shape.n_points == 0 || sqlite3_column_bytes (statement, 5) != sizeof (cells))
    return TRUE;
  memcpy (&cells, sqlite3_column_blob (statement, 5), sizeof (cells));
  for (guint i = 0; i < G_N_ELEMENTS (cells.bits); i++)
    cells.bits[i] = GUINT64_FROM_LE (cells.bits[i]);
  return watch_grid_intersects (&cells, &search->shape.grid);
}

static int
search_tracks (Search *search)
{
  sqlite3_stmt *statement;
  int code = search_rows (search);

  if (code != SQLITE_OK)
    return code;
  statement = watch_db_query (search->db,
                              "SELECT last, max_begin, cameras, classes, zones, cells FROM blocks "
                              "WHERE min_begin < ? AND min_begin <= ? AND max_end >= ? "
                              "ORDER BY max_begin DESC",
                              "iii", search->end, search->before.begin, search->begin);
  if (!statement)
    return sqlite3_errcode (search->db->db);
  while ((code = sqlite3_step (statement)) == SQLITE_ROW) {
    keep_latest (search);
    /* The page is full, and all other blocks are earlier. */
    if (search->hits->len > search->limit &&
        g_array_index (search->hits, Hit, search->limit).begin >
            sqlite3_column_int64 (statement, 1))
      return SQLITE_OK;
    if (!block_fits (search, statement))
      continue;
    if (g_get_monotonic_time () > search->db->deadline)
      return SQLITE_INTERRUPT;
    code = search_block (search, sqlite3_column_int64 (statement, 0));
    if (code != SQLITE_ROW)
      return code;
  }
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

static gboolean
check_query (const WatchQuery *query, guint max_limit, GError **error)
{
  if (query->limit < 1 || query->limit > max_limit) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "limit: expected 1 to %u",
                 max_limit);
    return FALSE;
  }
  if (query->end && query->begin >= query->end) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                         "The end is not later than the begin");
    return FALSE;
  }
  return TRUE;
}

static WatchTrack *
read_track (WatchStore *self, sqlite3_stmt *statement)
{
  g_autoptr (GArray) zones = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (WatchPoint));
  WatchTrack *track = g_new0 (WatchTrack, 1);

  track->camera = watch_names_get_name (self->names, sqlite3_column_int64 (statement, 0));
  track->session = watch_names_get_name (self->names, sqlite3_column_int64 (statement, 1));
  track->number = sqlite3_column_int64 (statement, 2);
  track->begin = sqlite3_column_int64 (statement, 3);
  track->end = sqlite3_column_int64 (statement, 4);
  track->class_name = watch_names_get_name (self->names, sqlite3_column_int64 (statement, 5));
  track->confidence = sqlite3_column_double (statement, 6);
  watch_path_unpack (sqlite3_column_blob (statement, 7), sqlite3_column_bytes (statement, 7),
                     track->begin, zones, points);
  track->picture = g_strdup ((const gchar *) sqlite3_column_text (statement, 8));
  track->n_points = points->len;
  track->points = (WatchPoint *) g_array_free (g_steal_pointer (&points), FALSE);
  if (zones->len > 0) {
    track->zones = g_new0 (gchar *, zones->len + 1);
    for (guint i = 0; i < zones->len; i++) {
      track->zones[i] = watch_names_get_name (self->names, g_array_index (zones, guint32, i));
      if (!track->zones[i])
        track->zones[i] = g_strdup ("");
    }
  }
  return track;
}

/* Reads the tracks of a page. */
static GPtrArray *
read_page (WatchStore *self, const Search *search, gint64 *next)
{
  GPtrArray *tracks = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_track_free);

  *next = 0;
  for (guint i = 0; i < search->hits->len && i < search->limit; i++) {
    const Hit *hit = &g_array_index (search->hits, Hit, i);
    sqlite3_stmt *statement = watch_db_query (
        search->db,
        "SELECT camera, session, number, \"begin\", \"end\", class, confidence, path, picture "
        "FROM tracks WHERE row = ?",
        "i", hit->row);

    /* A row that was removed may still be in its block. */
    if (!statement || sqlite3_step (statement) != SQLITE_ROW)
      continue;
    g_ptr_array_add (tracks, read_track (self, statement));
    if (search->hits->len > search->limit)
      *next = hit->row;
  }
  return tracks;
}

GPtrArray *
watch_store_find_tracks (WatchStore *self, const WatchQuery *query, gint64 *next, GError **error)
{
  Search search = { .begin = query->begin,
                    .end = query->end ? query->end : G_MAXINT64,
                    .limit = query->limit,
                    .before = { G_MAXINT64, G_MAXINT64 } };
  GPtrArray *tracks = NULL;
  int code = SQLITE_OK;

  if (!check_query (query, MAX_RECORDS, error))
    return NULL;
  if (!watch_shape_init (&search.shape, query->points, query->points ? query->n_points : 0)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "points: expected 2 for a line or 3 to %d for a polygon, in shares of the frame",
                 WATCH_SHAPE_MAX_POINTS);
    return NULL;
  }
  search.camera = watch_names_get_number (self->names, query->camera, FALSE);
  search.class_name = watch_names_get_number (self->names, query->class_name, FALSE);
  search.zone = watch_names_get_number (self->names, query->zone, FALSE);
  search.db = watch_store_get_reader (self, TRUE, error);
  if (!search.db)
    return NULL;
  if (query->before) {
    search.before.row = query->before;
    code = watch_db_get_int (search.db, &search.before.begin,
                             "SELECT ifnull ((SELECT \"begin\" FROM tracks WHERE row = ?), ?)",
                             "ii", query->before, G_MININT64);
  }
  search.hits = g_array_new (FALSE, FALSE, sizeof (Hit));
  if (code == SQLITE_OK)
    code = search_tracks (&search);
  if (code == SQLITE_OK) {
    keep_latest (&search);
    tracks = read_page (self, &search, next);
  } else {
    watch_db_set_error (code, error);
  }
  g_array_unref (search.hits);
  watch_store_return_reader (self, search.db);
  return tracks;
}

/* --- Events and minutes --- */

/* Binds the parameter, if the statement has it. */
static void
bind_named (sqlite3_stmt *statement, const gchar *name, gint64 value)
{
  gint index = sqlite3_bind_parameter_index (statement, name);

  if (index > 0)
    sqlite3_bind_int64 (statement, index, value);
}

GPtrArray *
watch_store_find_events (WatchStore *self, const WatchQuery *query, gint64 *next, GError **error)
{
  g_autoptr (GString) sql = NULL;
  GPtrArray *events = NULL;
  sqlite3_stmt *statement;
  WatchDb *db;
  int code = SQLITE_OK;

  if (!check_query (query, MAX_RECORDS, error))
    return NULL;
  /* SQLite finds an index only if there are no needless conditions. */
  sql = g_string_new (self->event_select);
  g_string_append (sql, " WHERE time >= @begin AND time < @end");
  if (query->camera)
    g_string_append (sql, " AND camera = @camera");
  if (query->zone)
    g_string_append (sql, " AND zone > 0 AND zone = @zone");
  if (query->class_name)
    g_string_append (sql, " AND class > 0 AND class = @class");
  if (query->kind >= 0)
    g_string_append (sql, " AND kind = @kind");
  if (query->before)
    g_string_append (sql, " AND (time, row) < (SELECT time, row FROM events WHERE row = @before)");
  g_string_append (sql, " ORDER BY time DESC, row DESC LIMIT @limit");

  db = watch_store_get_reader (self, TRUE, error);
  if (!db)
    return NULL;
  statement = watch_db_prepare (db, sql->str);
  if (statement) {
    bind_named (statement, "@begin", query->begin);
    bind_named (statement, "@end", query->end ? query->end : G_MAXINT64);
    bind_named (statement, "@camera", watch_names_get_number (self->names, query->camera, FALSE));
    bind_named (statement, "@zone", watch_names_get_number (self->names, query->zone, FALSE));
    bind_named (statement, "@class",
                watch_names_get_number (self->names, query->class_name, FALSE));
    bind_named (statement, "@kind", query->kind);
    bind_named (statement, "@before", query->before);
    bind_named (statement, "@limit", query->limit + 1);
    events = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_event_free);
    *next = 0;
    while ((code = sqlite3_step (statement)) == SQLITE_ROW) {
      if (events->len == query->limit)
        break;
      *next = sqlite3_column_int64 (statement, 0);
      g_ptr_array_add (events, watch_events_read (self, statement));
    }
    /* All rows were read: there is no next page. */
    if (code == SQLITE_DONE)
      *next = 0;
  }
  if (!statement || (code != SQLITE_ROW && code != SQLITE_DONE)) {
    watch_db_set_error (statement ? code : sqlite3_errcode (db->db), error);
    g_clear_pointer (&events, g_ptr_array_unref);
  }
  watch_store_return_reader (self, db);
  return events;
}

GPtrArray *
watch_store_find_minutes (WatchStore *self, const WatchQuery *query, GError **error)
{
  GPtrArray *minutes = NULL;
  sqlite3_stmt *statement;
  WatchDb *db;
  int code = SQLITE_ERROR;

  if (!check_query (query, MAX_MINUTES, error))
    return NULL;
  db = watch_store_get_reader (self, TRUE, error);
  if (!db)
    return NULL;
  statement = watch_db_query (
      db,
      query->camera ? "SELECT * FROM minutes WHERE zone = ? AND time >= ? AND time < ? AND "
                      "camera = ?4 ORDER BY time LIMIT ?5"
                    : "SELECT * FROM minutes WHERE zone = ? AND time >= ? AND time < ? AND "
                      "?4 = 0 ORDER BY time, camera LIMIT ?5",
      "iiiii", (gint64) watch_names_get_number (self->names, query->zone, FALSE), query->begin,
      query->end ? query->end : G_MAXINT64,
      (gint64) watch_names_get_number (self->names, query->camera, FALSE), (gint64) query->limit);
  if (statement) {
    minutes = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_minute_free);
    while ((code = sqlite3_step (statement)) == SQLITE_ROW) {
      WatchMinute *minute = g_new0 (WatchMinute, 1);

      minute->camera = watch_names_get_name (self->names, sqlite3_column_int64 (statement, 0));
      minute->zone = watch_names_get_name (self->names, sqlite3_column_int64 (statement, 1));
      minute->time = sqlite3_column_int64 (statement, 2);
      minute->in = sqlite3_column_int64 (statement, 3);
      minute->out = sqlite3_column_int64 (statement, 4);
      minute->inside = sqlite3_column_int64 (statement, 5);
      g_ptr_array_add (minutes, minute);
    }
  }
  if (code != SQLITE_DONE) {
    watch_db_set_error (code, error);
    g_clear_pointer (&minutes, g_ptr_array_unref);
  }
  watch_store_return_reader (self, db);
  return minutes;
}
