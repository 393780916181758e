/* cudaccl - Python: convex hulls of regions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* In halves of a pixel, so that all coordinates are integers: pixel (x, y) has its centre at (2 x,
 * 2 y + 1), and the middles of its sides are one step from there. A hull is its leftmost and its
 * rightmost place at each level, and of these the corners of both sides. */

#include "regions.h"

#include <limits.h>
#include <stdlib.h>

typedef struct Corner
{
  int64_t level, place;
} Corner;

/* One side of a hull. */
typedef struct Side
{
  int64_t *places; /* [2 * rows + 1] the outermost; EMPTY: none */
  Corner *corners; /* likewise */
  size_t n;
} Side;

struct RegionHull
{
  Side sides[2]; /* left, right */
  RegionRow *filled;
};

#define EMPTY INT64_MIN

RegionHull *
region_hull_new (size_t rows)
{
  RegionHull *self = calloc (1, sizeof *self);
  bool made = self;

  for (int i = 0; made && i < 2; i++) {
    self->sides[i].places = malloc ((2 * rows + 1) * sizeof *self->sides[i].places);
    self->sides[i].corners = malloc ((2 * rows + 1) * sizeof *self->sides[i].corners);
    made = self->sides[i].places && self->sides[i].corners;
  }
  if (made)
    self->filled = malloc ((rows + 1) * sizeof *self->filled);
  if (!made || !self->filled) {
    region_hull_free (self);
    return NULL;
  }
  return self;
}

void
region_hull_free (RegionHull *self)
{
  for (int i = 0; self && i < 2; i++) {
    free (self->sides[i].places);
    free (self->sides[i].corners);
  }
  if (self)
    free (self->filled);
  free (self);
}

/* Adds a place. Places of the right side are negative, so that the outermost is the least on both.
 */
static void
add_place (Side *side, size_t level, int64_t place)
{
  if (side->places[level] == EMPTY || place < side->places[level])
    side->places[level] = place;
}

/* Keeps the corners of a side: those where it turns. */
static void
find_corners (Side *side, size_t levels)
{
  Corner *c = side->corners;

  side->n = 0;
  for (size_t level = 0; level < levels; level++) {
    Corner next = { (int64_t) level, side->places[level] };

    if (next.place == EMPTY)
      continue;
    while (side->n >= 2) {
      Corner a = c[side->n - 2], b = c[side->n - 1];

      if ((b.level - a.level) * (next.place - a.place) >
          (next.level - a.level) * (b.place - a.place))
        break;
      side->n--;
    }
    c[side->n++] = next;
  }
}

/* Makes the hull of the middles of all sides of the rows' outermost pixels. */
static void
make_hull (RegionHull *self, const RegionRow *rows, size_t n)
{
  for (size_t level = 0; level < 2 * n + 1; level++)
    self->sides[0].places[level] = self->sides[1].places[level] = EMPTY;
  for (size_t y = 0; y < n; y++) {
    const int64_t ends[2] = { 2 * (int64_t) rows[y].first, -2 * (int64_t) rows[y].last };

    for (int i = 0; rows[y].first <= rows[y].last && i < 2; i++) {
      add_place (&self->sides[i], 2 * y, ends[i]);
      add_place (&self->sides[i], 2 * y + 1, ends[i] - 1);
      add_place (&self->sides[i], 2 * y + 2, ends[i]);
    }
  }
  for (int i = 0; i < 2; i++)
    find_corners (&self->sides[i], 2 * n + 1);
}

static int64_t
divide_up (int64_t a, int64_t b)
{
  return a / b + (a % b > 0);
}

/* The first pixel of a row whose centre is inside @side; of the right one, the last, negative. */
static int64_t
first_inside (const Side *side, size_t *corner, int64_t level)
{
  const Corner *c = side->corners;
  int64_t levels;

  while (*corner + 2 < side->n && c[*corner + 1].level < level)
    ++*corner;
  c += *corner;
  levels = c[1].level - c[0].level;
  return divide_up (c[0].place * levels + (c[1].place - c[0].place) * (level - c[0].level),
                    2 * levels);
}

/* The square of the longest distance between two corners. */
static double
find_diameter (const RegionHull *self, const double spacing[2])
{
  double longest = 0;

  for (int i = 0; i < 2; i++)
    for (size_t a = 0; a < self->sides[i].n; a++)
      for (int k = i; k < 2; k++)
        for (size_t b = 0; b < self->sides[k].n; b++) {
          const Corner *from = &self->sides[i].corners[a], *to = &self->sides[k].corners[b];
          const double rows = (double) (from->level - to->level) / 2 * spacing[0];
          const double columns =
              (double) ((i ? -from->place : from->place) - (k ? -to->place : to->place)) / 2 *
              spacing[1];
          const double square = rows * rows + columns * columns;

          longest = square > longest ? square : longest;
        }
  return longest;
}

void
region_hull_measure (RegionHull *self, const RegionRow *rows, size_t n, const double spacing[2],
                     double result[2])
{
  size_t corners[2] = { 0, 0 };
  int64_t pixels = 0;

  make_hull (self, rows, n);
  for (size_t y = 0; y < n; y++) {
    const int64_t level = 2 * (int64_t) y + 1;
    const int64_t first = first_inside (&self->sides[0], &corners[0], level);
    const int64_t last = -first_inside (&self->sides[1], &corners[1], level);

    self->filled[y] = (RegionRow){ (int) first, (int) last };
    pixels += last >= first ? last - first + 1 : 0;
  }
  make_hull (self, self->filled, n);
  result[0] = (double) pixels;
  result[1] = find_diameter (self, spacing);
}
