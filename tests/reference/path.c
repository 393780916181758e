/* cudaccl-watch - searches by path: the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/reference/path.h"

static gdouble
cross (ReferencePoint a, ReferencePoint b, ReferencePoint c)
{
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static gboolean
between (ReferencePoint a, ReferencePoint b, ReferencePoint p)
{
  return cross (a, b, p) == 0 && MIN (a.x, b.x) <= p.x && p.x <= MAX (a.x, b.x) &&
         MIN (a.y, b.y) <= p.y && p.y <= MAX (a.y, b.y);
}

/* Exact: all numbers are small multiples of a power of two. */
static gboolean
meet (ReferencePoint a, ReferencePoint b, ReferencePoint c, ReferencePoint d)
{
  return (cross (a, b, c) * cross (a, b, d) < 0 && cross (c, d, a) * cross (c, d, b) < 0) ||
         between (a, b, c) || between (a, b, d) || between (c, d, a) || between (c, d, b);
}

/* By the sum of the crossings of a ray to the right, with their direction. */
static gboolean
is_inside (const ReferencePoint *polygon, guint n, ReferencePoint p)
{
  gint crossings = 0;

  for (guint i = 0; i < n; i++) {
    ReferencePoint a = polygon[i], b = polygon[(i + 1) % n];

    if (a.y <= p.y && b.y > p.y)
      crossings += cross (a, b, p) > 0;
    else if (a.y > p.y && b.y <= p.y)
      crossings += cross (a, b, p) < 0;
  }
  return crossings & 1;
}

gboolean
reference_path_fits (const WatchTrack *track, const ReferencePoint *shape, guint n)
{
  for (guint i = 0; i < track->n_points; i++) {
    const WatchPoint *p = &track->points[i], *q = &track->points[i ? i - 1 : 0];
    ReferencePoint a = { p->x + p->width / 2., (gdouble) p->y + p->height };
    ReferencePoint b = { q->x + q->width / 2., (gdouble) q->y + q->height };

    if (n > 2 && is_inside (shape, n, a))
      return TRUE;
    for (guint j = 0; j < (n > 2 ? n : 1); j++) {
      if (meet (a, b, shape[j], shape[(j + 1) % n]))
        return TRUE;
    }
  }
  return FALSE;
}
