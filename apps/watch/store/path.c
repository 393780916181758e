/* cudaccl-watch - paths of tracks, packed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A packed path is a list of numbers of variable length (LEB128): the number of zones, their
 * numbers, the number of points, and for each point the differences from the previous one: time in
 * milliseconds, x, y, width and height, zigzag coded. */

#include "apps/watch/store/path.h"

#include <math.h>
#include <string.h>

/* Boxes may reach beyond the frame, up to this far. */
#define LIMIT (4 * WATCH_PATH_SCALE)
#define CELLS 16
#define CELL_SIZE (2 * WATCH_PATH_SCALE / CELLS)

/* --- Packing --- */

static void
put (GByteArray *data, guint64 value)
{
  guint8 bytes[10];
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = value | 0x80;
  bytes[n++] = value;
  g_byte_array_append (data, bytes, n);
}

static void
put_signed (GByteArray *data, gint64 value)
{
  put (data, ((guint64) value << 1) ^ (guint64) (value >> 63));
}

static gint32
quantize (gfloat share)
{
  return isfinite (share) ? lrintf (CLAMP (share * WATCH_PATH_SCALE, -LIMIT, LIMIT)) : 0;
}

void
watch_path_pack (GByteArray *data, const guint32 *zones, guint n_zones, gint64 begin,
                 const WatchPoint *points, guint n_points)
{
  gint32 last[4] = { 0 };
  gint64 last_time = 0;

  put (data, n_zones);
  for (guint i = 0; i < n_zones; i++)
    put (data, zones[i]);
  put (data, n_points);
  for (guint i = 0; i < n_points; i++) {
    const WatchPoint *point = &points[i];
    gint32 box[4] = { quantize (point->x), quantize (point->y), quantize (point->width),
                      quantize (point->height) };
    gint64 time = (point->time - begin) / 1000;

    put_signed (data, time - last_time);
    for (guint j = 0; j < 4; j++)
      put_signed (data, box[j] - last[j]);
    memcpy (last, box, sizeof (last));
    last_time = time;
  }
}

/* --- Unpacking --- */

typedef struct
{
  const guint8 *at, *end;
  gboolean damaged;
  gint64 time; /* time of the last point, in milliseconds since the track began */
  gint32 box[4];
} Reader;

static guint64
get_long (Reader *reader)
{
  guint64 value = 0;

  for (guint shift = 0; reader->at < reader->end && shift < 64; shift += 7) {
    guint8 byte = *reader->at++;

    value |= (guint64) (byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  reader->damaged = TRUE;
  return 0;
}

static inline guint64
get (Reader *reader)
{
  if (G_LIKELY (reader->at < reader->end && *reader->at < 0x80))
    return *reader->at++;
  return get_long (reader);
}

static inline gint64
get_signed (Reader *reader)
{
  guint64 value = get (reader);

  return (gint64) (value >> 1) ^ -(gint64) (value & 1);
}

/* Reads a count of items of at least @size bytes each. */
static guint
get_count (Reader *reader, guint size)
{
  guint64 count = get (reader);

  if (count > (guint64) (reader->end - reader->at) / size) {
    reader->damaged = TRUE;
    return 0;
  }
  return count;
}

static inline void
get_point (Reader *reader)
{
  /* Sums of damaged data may wrap. */
  reader->time = (guint64) reader->time + (guint64) get_signed (reader);
  for (guint j = 0; j < 4; j++) {
    gint64 change = get_signed (reader);

    change = CLAMP (change, -2 * LIMIT, 2 * LIMIT);
    reader->box[j] = CLAMP (reader->box[j] + change, -LIMIT, LIMIT);
  }
}

/* The middle of the bottom edge, in multiples of 1 / (2 * WATCH_PATH_SCALE). */
static inline void
get_foot (const Reader *reader, gint32 *x, gint32 *y)
{
  *x = 2 * reader->box[0] + reader->box[2];
  *y = 2 * (reader->box[1] + reader->box[3]);
}

static guint
skip_zones (Reader *reader)
{
  guint n_zones = get_count (reader, 1);

  for (guint i = 0; i < n_zones; i++)
    get (reader);
  return get_count (reader, 5);
}

gboolean
watch_path_unpack (const guint8 *data, gsize size, gint64 begin, GArray *zones, GArray *points)
{
  Reader reader = { data, size ? data + size : data };
  guint n = get_count (&reader, 1);

  for (guint i = 0; i < n; i++) {
    guint32 zone = get (&reader);

    if (zones)
      g_array_append_val (zones, zone);
  }
  n = get_count (&reader, 5);
  for (guint i = 0; i < n && points; i++) {
    WatchPoint point;

    get_point (&reader);
    point.time = begin + (gint64) ((guint64) reader.time * 1000);
    point.x = reader.box[0] / (gfloat) WATCH_PATH_SCALE;
    point.y = reader.box[1] / (gfloat) WATCH_PATH_SCALE;
    point.width = reader.box[2] / (gfloat) WATCH_PATH_SCALE;
    point.height = reader.box[3] / (gfloat) WATCH_PATH_SCALE;
    g_array_append_val (points, point);
  }
  return !reader.damaged;
}

gboolean
watch_path_has_zone (const guint8 *data, gsize size, guint32 zone)
{
  Reader reader = { data, size ? data + size : data };
  guint n = get_count (&reader, 1);

  for (guint i = 0; i < n; i++) {
    if (get (&reader) == zone)
      return TRUE;
  }
  return FALSE;
}

/* --- Cells --- */

static inline gint
get_cell (gint32 position)
{
  return CLAMP (position, 0, CELLS * CELL_SIZE - 1) / CELL_SIZE;
}

static void
add_row (WatchGrid *grid, gint row, gint first, gint last)
{
  guint64 bits = ((G_GUINT64_CONSTANT (2) << last) - 1) & ~((G_GUINT64_CONSTANT (1) << first) - 1);

  grid->bits[row / 4] |= bits << (row % 4 * CELLS);
}

/* Adds the cells that the line touches: per row, all between its two ends. */
static void
add_line (WatchGrid *grid, gint32 x0, gint32 y0, gint32 x1, gint32 y1)
{
  gint first, last;

  if (y0 > y1) {
    gint32 x = x0, y = y0;

    x0 = x1, y0 = y1;
    x1 = x, y1 = y;
  }
  first = get_cell (y0);
  last = get_cell (y1);
  for (gint row = first; row <= last; row++) {
    gint32 a = x0, b = x1;

    /* Cut the line at the row's edge. x is rounded: one unit is added below. */
    if (row > first)
      a = x0 + (gint64) (row * CELL_SIZE - y0) * (x1 - x0) / (y1 - y0);
    if (row < last)
      b = x0 + (gint64) ((row + 1) * CELL_SIZE - y0) * (x1 - x0) / (y1 - y0);
    add_row (grid, row, get_cell (MIN (a, b) - 1), get_cell (MAX (a, b) + 1));
  }
}

WatchGrid
watch_path_get_grid (const guint8 *data, gsize size)
{
  Reader reader = { data, size ? data + size : data };
  WatchGrid grid = { { 0 } };
  guint n = skip_zones (&reader);
  gint32 x0 = 0, y0 = 0, x1, y1;

  for (guint i = 0; i < n; i++) {
    get_point (&reader);
    get_foot (&reader, &x1, &y1);
    if (i == 0)
      x0 = x1, y0 = y1;
    add_line (&grid, x0, y0, x1, y1);
    x0 = x1, y0 = y1;
  }
  return grid;
}

/* --- Shapes --- */

static gboolean
shape_contains (const WatchShape *shape, gint32 x, gint32 y)
{
  gboolean inside = FALSE;

  for (guint i = 0, j = shape->n_points - 1; i < shape->n_points; j = i++) {
    gint64 dx = shape->x[j] - shape->x[i], dy = shape->y[j] - shape->y[i];

    /* TRUE if the ray to the right crosses the edge. */
    if ((shape->y[i] > y) != (shape->y[j] > y) &&
        ((gint64) (x - shape->x[i]) * dy < (gint64) (y - shape->y[i]) * dx) == (dy > 0))
      inside = !inside;
  }
  return inside;
}

gboolean
watch_shape_init (WatchShape *shape, const gdouble *points, guint n_points)
{
  memset (shape, 0, sizeof (*shape));
  if (n_points == 0)
    return TRUE;
  if (n_points == 1 || n_points > WATCH_SHAPE_MAX_POINTS)
    return FALSE;
  for (guint i = 0; i < n_points; i++) {
    /* Also FALSE for NaN. */
    if (!(fabs (points[2 * i]) <= 2 && fabs (points[2 * i + 1]) <= 2))
      return FALSE;
    shape->x[i] = lrint (points[2 * i] * 2 * WATCH_PATH_SCALE);
    shape->y[i] = lrint (points[2 * i + 1] * 2 * WATCH_PATH_SCALE);
  }
  shape->n_points = n_points;

  /* A cell that the outline does not touch is inside or outside as a whole: its centre decides. */
  for (guint i = 0, j = n_points - 1; i < n_points; j = i++)
    add_line (&shape->grid, shape->x[j], shape->y[j], shape->x[i], shape->y[i]);
  for (gint row = 0; row < CELLS && n_points > 2; row++) {
    for (gint column = 0; column < CELLS; column++) {
      if (shape_contains (shape, column * CELL_SIZE + CELL_SIZE / 2,
                          row * CELL_SIZE + CELL_SIZE / 2))
        add_row (&shape->grid, row, column, column);
    }
  }
  return TRUE;
}

/* Returns -1, 0 or 1 for the side of the line from a to b that the point p is on. */
static inline gint
get_side (gint32 ax, gint32 ay, gint32 bx, gint32 by, gint32 px, gint32 py)
{
  gint64 cross = (gint64) (bx - ax) * (py - ay) - (gint64) (by - ay) * (px - ax);

  return (cross > 0) - (cross < 0);
}

static gboolean
segments_meet (gint32 ax, gint32 ay, gint32 bx, gint32 by, gint32 cx, gint32 cy, gint32 dx,
               gint32 dy)
{
  if (MAX (ax, bx) < MIN (cx, dx) || MAX (cx, dx) < MIN (ax, bx) || MAX (ay, by) < MIN (cy, dy) ||
      MAX (cy, dy) < MIN (ay, by))
    return FALSE;
  return get_side (ax, ay, bx, by, cx, cy) * get_side (ax, ay, bx, by, dx, dy) <= 0 &&
         get_side (cx, cy, dx, dy, ax, ay) * get_side (cx, cy, dx, dy, bx, by) <= 0;
}

gboolean
watch_shape_matches (const WatchShape *shape, const guint8 *data, gsize size)
{
  Reader reader = { data, size ? data + size : data };
  guint n = skip_zones (&reader);
  gboolean polygon = shape->n_points > 2;
  gint32 x0 = 0, y0 = 0, x1, y1;

  for (guint i = 0; i < n; i++) {
    get_point (&reader);
    get_foot (&reader, &x1, &y1);
    if (i == 0) {
      if (polygon && shape_contains (shape, x1, y1))
        return TRUE;
      x0 = x1, y0 = y1;
    }
    /* A path that begins outside can only get inside by crossing the outline. */
    for (guint j = polygon ? 0 : 1, k = polygon ? shape->n_points - 1 : 0; j < shape->n_points;
         k = j++) {
      if (segments_meet (x0, y0, x1, y1, shape->x[k], shape->y[k], shape->x[j], shape->y[j]))
        return TRUE;
    }
    x0 = x1, y0 = y1;
  }
  return FALSE;
}
