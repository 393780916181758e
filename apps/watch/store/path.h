/* cudaccl-watch - paths of tracks, packed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_STORE_PATH_H__
#define __WATCH_STORE_PATH_H__

#include "apps/watch/records/records.h"

G_BEGIN_DECLS

/* Positions are stored as multiples of 1 / WATCH_PATH_SCALE of the frame: a quarter of a pixel at
 * 4096 pixels. */
#define WATCH_PATH_SCALE 16384

/* A grid of 16 x 16 cells over the frame, with a bit for each. Positions outside the frame belong
 * to the nearest cell. */
typedef struct
{
  guint64 bits[4];
} WatchGrid;

/* The line (2 points) or polygon (3 or more) to search, in multiples of 1 / (2 *
 * WATCH_PATH_SCALE). */
#define WATCH_SHAPE_MAX_POINTS 64

typedef struct
{
  guint n_points; /* 0: anywhere */
  gint32 x[WATCH_SHAPE_MAX_POINTS], y[WATCH_SHAPE_MAX_POINTS];
  WatchGrid grid; /* the cells that it touches */
} WatchShape;

/* Appends the zones and the path to @data, in about 9 bytes a point. Times are kept in milliseconds
 * since @begin. */
void watch_path_pack (GByteArray *data, const guint32 *zones, guint n_zones, gint64 begin,
                      const WatchPoint *points, guint n_points);

/* The reverse. Each of @zones (guint32) and @points may be NULL. Returns FALSE if @data is damaged.
 */
gboolean watch_path_unpack (const guint8 *data, gsize size, gint64 begin, GArray *zones,
                            GArray *points);

/* Returns the cells that a packed path touches. Searches use the middle of the bottom edge of the
 * box, as cclzones does. */
WatchGrid watch_path_get_grid (const guint8 *data, gsize size);

/* @n_points: 0, or 2 to WATCH_SHAPE_MAX_POINTS. Returns FALSE if it is something else, or a point
 * is far outside the frame. */
gboolean watch_shape_init (WatchShape *shape, const gdouble *points, guint n_points);

/* Returns whether the packed path crosses or touches the line, or enters the polygon. */
gboolean watch_shape_matches (const WatchShape *shape, const guint8 *data, gsize size);

/* Returns whether the packed path has the zone. */
gboolean watch_path_has_zone (const guint8 *data, gsize size, guint32 zone);

static inline gboolean
watch_grid_intersects (const WatchGrid *a, const WatchGrid *b)
{
  return ((a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1]) | (a->bits[2] & b->bits[2]) |
          (a->bits[3] & b->bits[3])) != 0;
}

G_END_DECLS

#endif /* __WATCH_STORE_PATH_H__ */
