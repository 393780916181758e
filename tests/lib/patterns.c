/* cudaccl - images drawn by tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/patterns.h"

#include <string.h>

/* A pattern decides for one pixel whether it is foreground. */
#define PATTERN(name) static bool name (uint32_t x, uint32_t y, uint32_t w, uint32_t h)

static uint32_t
min (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

/* The distance to the frame's nearest edge. */
static uint32_t
ring (uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
  return min (min (x, w - 1 - x), min (y, h - 1 - y));
}

PATTERN (empty)
{
  return false;
}

PATTERN (full)
{
  return true;
}

PATTERN (corner_top_left)
{
  return x == 0 && y == 0;
}

PATTERN (corner_top_right)
{
  return x == w - 1 && y == 0;
}

PATTERN (corner_bottom_left)
{
  return x == 0 && y == h - 1;
}

PATTERN (corner_bottom_right)
{
  return x == w - 1 && y == h - 1;
}

PATTERN (corners)
{
  return (x == 0 || x == w - 1) && (y == 0 || y == h - 1);
}

PATTERN (border)
{
  return ring (x, y, w, h) == 0;
}

PATTERN (first_row)
{
  return y == 0;
}

PATTERN (last_row)
{
  return y == h - 1;
}

PATTERN (first_column)
{
  return x == 0;
}

PATTERN (last_column)
{
  return x == w - 1;
}

PATTERN (checkerboard_even)
{
  return (x + y) % 2 == 0;
}

PATTERN (checkerboard_odd)
{
  return (x + y) % 2 == 1;
}

PATTERN (dots)
{
  return x % 2 == 0 && y % 2 == 0;
}

PATTERN (stripes_horizontal)
{
  return y % 2 == 0;
}

PATTERN (stripes_vertical)
{
  return x % 2 == 0;
}

/* Combs are named after the direction of their teeth. If the spine comes last, everything joins
 * at the very end. */
PATTERN (comb_down)
{
  return x % 2 == 0 || y == 0;
}

PATTERN (comb_up)
{
  return x % 2 == 0 || y == h - 1;
}

PATTERN (comb_right)
{
  return y % 2 == 0 || x == 0;
}

PATTERN (comb_left)
{
  return y % 2 == 0 || x == w - 1;
}

/* Two combs whose teeth interlock without touching. */
PATTERN (combs_interlocked)
{
  if (y == 0)
    return true;
  if (y == 1)
    return x % 4 == 0;
  if (y == h - 1)
    return true;
  return x % 4 == 2 || (x % 4 == 0 && y < h - 2);
}

/* Every second ring; each is cut below its upper left corner and joined to the next there. */
PATTERN (spiral)
{
  uint32_t r = ring (x, y, w, h);

  return (r % 2 == 0) != (x == r && y == r + 1);
}

PATTERN (spiral_mirrored)
{
  return spiral (w - 1 - x, h - 1 - y, w, h);
}

PATTERN (rings)
{
  return ring (x, y, w, h) % 2 == 0;
}

PATTERN (diamonds)
{
  uint32_t dx = x < w / 2 ? w / 2 - x : x - w / 2, dy = y < h / 2 ? h / 2 - y : y - h / 2;

  return (dx + dy) % 3 == 0;
}

/* Many Us side by side: the two legs meet in the last row. */
PATTERN (us)
{
  return x % 5 == 0 || x % 5 == 3 || (y == h - 1 && x % 5 != 4);
}

PATTERN (us_nested)
{
  return min (min (x, w - 1 - x), h - 1 - y) % 2 == 0;
}

PATTERN (arches_nested)
{
  return min (min (x, w - 1 - x), y) % 2 == 0;
}

PATTERN (snake_horizontal)
{
  return y % 2 == 0 || (y % 4 == 1 ? x == w - 1 : x == 0);
}

PATTERN (snake_vertical)
{
  return snake_horizontal (y, x, h, w);
}

PATTERN (snake_mirrored)
{
  return snake_horizontal (w - 1 - x, h - 1 - y, w, h);
}

/* Lines for 8-connectivity, single pixels for 4. */
PATTERN (diagonals_down)
{
  return (x - y) % 4 == 0; /* wraps round at 2^32, a multiple of 4 */
}

PATTERN (diagonals_up)
{
  return (x + y) % 4 == 0;
}

/* Only pairs of pixels that touch diagonally across a boundary of 32 columns. */
PATTERN (word_corners_down)
{
  return (y % 4 == 0 && x % 32 == 31) || (y % 4 == 1 && x % 32 == 0);
}

PATTERN (word_corners_up)
{
  return (y % 4 == 0 && x % 32 == 0) || (y % 4 == 1 && x % 32 == 31);
}

PATTERN (word_corners_64)
{
  return (y % 4 == 0 && x % 64 == 63) || (y % 4 == 1 && x % 64 == 0);
}

/* Pixels that touch diagonally across a boundary of 16 rows. */
PATTERN (strip_corners)
{
  return (y % 16 == 15 && x % 4 == 0) || (y % 16 == 0 && x % 4 == 1);
}

/* Pairs of pixels across a boundary of 256 columns or of 16 rows that touch nothing else: in
 * each tile, some pieces touch one border only. */
PATTERN (tile_sides)
{
  bool beside = (x % 256 == 255 || x % 256 == 0) && y % 8 == 4;
  bool above = (y % 16 == 15 || y % 16 == 0) && x % 8 == 4;

  return beside || above;
}

/* Runs that end at, one before and one after a boundary of 32 columns. */
PATTERN (word_gaps)
{
  static const uint8_t gap[] = { 31, 0, 1, 30 };

  return x % 32 != gap[y / 2 % 4] && y % 2 == 0;
}

PATTERN (zigzag)
{
  uint32_t t = y % 14;

  return (x + (t < 7 ? t : 14 - t)) % 8 == 0;
}

PATTERN (bands)
{
  return (x + y) / 4 % 2 == 0;
}

/* Runs that overlap the next row's by one pixel: a chain of equivalences as long as the frame. */
PATTERN (stairs)
{
  uint32_t start = (uint32_t) ((uint64_t) (h - 1 - y) * 5 % ((uint64_t) w + 5));

  return x >= start && x - start < 6;
}

PATTERN (chevrons)
{
  return ((x < w / 2 ? w / 2 - x : x - w / 2) + y) % 4 < 2;
}

/* A binary tree with its leaves in the first row: every level joins pairs of branches. */
PATTERN (tree_down)
{
  uint32_t level = y / 2;
  uint32_t half = level < 30 ? 1u << level : 1u << 30;

  if (y % 2 == 0)
    return x % (2 * half) == half - 1;
  return level < 30 ? x % (4 * half) >= half - 1 && x % (4 * half) <= 3 * half - 1
                    : x % (2 * half) == half - 1;
}

PATTERN (tree_up)
{
  return tree_down (x, h - 1 - y, w, h);
}

/* The index of a cell on Hilbert's curve through n x n cells. */
static uint64_t
hilbert_distance (uint32_t n, uint32_t x, uint32_t y)
{
  uint64_t d = 0;

  for (uint32_t s = n / 2; s > 0; s /= 2) {
    uint32_t rx = (x & s) > 0, ry = (y & s) > 0, t;

    d += (uint64_t) s * s * ((3 * rx) ^ ry);
    if (ry == 0) {
      if (rx == 1) {
        x = n - 1 - x;
        y = n - 1 - y;
      }
      t = x;
      x = y;
      y = t;
    }
  }
  return d;
}

/* Cells are two pixels apart; the pixel between two cells is set where the curve passes. */
PATTERN (hilbert)
{
  uint32_t n = 1, cx = x / 2, cy = y / 2;
  uint64_t a, b;

  while (n <= (w > h ? w : h) / 2)
    n *= 2;
  if (x % 2 == 1 && y % 2 == 1)
    return false;
  if (x % 2 == 0 && y % 2 == 0)
    return true;
  if (cx + x % 2 >= n || cy + y % 2 >= n)
    return false;
  a = hilbert_distance (n, cx, cy);
  b = hilbert_distance (n, cx + x % 2, cy + y % 2);
  return a + 1 == b || b + 1 == a;
}

PATTERN (sierpinski)
{
  return (x & y) == 0;
}

PATTERN (carpet)
{
  for (; x || y; x /= 3, y /= 3)
    if (x % 3 == 1 && y % 3 == 1)
      return false;
  return true;
}

PATTERN (grid)
{
  return x % 7 == 0 || y % 7 == 0;
}

PATTERN (cells)
{
  return x % 7 != 0 && y % 7 != 0;
}

/* Squares that touch diagonally. */
PATTERN (squares)
{
  return (x / 3 + y / 3) % 2 == 0;
}

static const TestPattern patterns[] = {
  { "empty", empty },
  { "full", full },
  { "corner-top-left", corner_top_left },
  { "corner-top-right", corner_top_right },
  { "corner-bottom-left", corner_bottom_left },
  { "corner-bottom-right", corner_bottom_right },
  { "corners", corners },
  { "border", border },
  { "first-row", first_row },
  { "last-row", last_row },
  { "first-column", first_column },
  { "last-column", last_column },
  { "checkerboard-even", checkerboard_even },
  { "checkerboard-odd", checkerboard_odd },
  { "dots", dots },
  { "stripes-horizontal", stripes_horizontal },
  { "stripes-vertical", stripes_vertical },
  { "comb-down", comb_down },
  { "comb-up", comb_up },
  { "comb-right", comb_right },
  { "comb-left", comb_left },
  { "combs-interlocked", combs_interlocked },
  { "spiral", spiral },
  { "spiral-mirrored", spiral_mirrored },
  { "rings", rings },
  { "diamonds", diamonds },
  { "us", us },
  { "us-nested", us_nested },
  { "arches-nested", arches_nested },
  { "snake-horizontal", snake_horizontal },
  { "snake-vertical", snake_vertical },
  { "snake-mirrored", snake_mirrored },
  { "diagonals-down", diagonals_down },
  { "diagonals-up", diagonals_up },
  { "word-corners-down", word_corners_down },
  { "word-corners-up", word_corners_up },
  { "word-corners-64", word_corners_64 },
  { "strip-corners", strip_corners },
  { "tile-sides", tile_sides },
  { "word-gaps", word_gaps },
  { "zigzag", zigzag },
  { "bands", bands },
  { "stairs", stairs },
  { "chevrons", chevrons },
  { "tree-down", tree_down },
  { "tree-up", tree_up },
  { "hilbert", hilbert },
  { "sierpinski", sierpinski },
  { "carpet", carpet },
  { "grid", grid },
  { "cells", cells },
  { "squares", squares },
};

const TestPattern *
test_pattern (size_t index)
{
  return index < sizeof patterns / sizeof *patterns ? &patterns[index] : NULL;
}

const TestPattern *
test_pattern_find (const char *name)
{
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (strcmp (patterns[i].name, name) == 0)
      return &patterns[i];
  test_fatal ("no pattern %s", name);
}

void
test_pattern_draw (const TestPattern *pattern, TestImage *image)
{
  uint8_t *pixel = image->pixels;

  for (uint32_t y = 0; y < image->height; y++)
    for (uint32_t x = 0; x < image->width; x++)
      *pixel++ = pattern->foreground (x, y, image->width, image->height) ? 255 : 0;
}

void
test_noise_draw (TestImage *image, double density, uint32_t granularity, Mt19937 *rng)
{
  /* In 64 bits: density 1 is 2^32, above every draw. */
  uint64_t limit = (uint64_t) (density * 4294967296.0);

  for (uint64_t y0 = 0; y0 < image->height; y0 += granularity) {
    uint8_t *row = image->pixels + y0 * image->width;

    for (uint64_t x0 = 0; x0 < image->width; x0 += granularity) {
      size_t length = image->width - x0 < granularity ? image->width - x0 : granularity;

      memset (row + x0, mt19937_next (rng) < limit ? 255 : 0, length);
    }
    for (uint64_t y = y0 + 1; y < image->height && y - y0 < granularity; y++)
      memcpy (image->pixels + y * image->width, row, image->width);
  }
}
