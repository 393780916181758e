/* cudaccl - CPU backend: shapes of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A sweep over the runs of all rows, by one thread. Euler numbers count runs and contacts between
 * runs of neighbouring rows: a contact joins two runs or closes a ring around a hole. */

#include "engine/cpu/runs/shapes.h"
#include "engine/aligned.h"

#include <stdlib.h>
#include <string.h>

/* The rows of CclShapeFinder.rows. */
#define BORDERS 3
#define OTHERS 3
#define EMPTY 4
#define ROWS 5

CclStatus
ccl_shape_finder_init (CclShapeFinder *finder, const CclLabelMap *map, unsigned wanted,
                       CclShape *shapes, CclAccount *account)
{
  size_t words = ccl_mask_words (map->runs->width);

  *finder = (CclShapeFinder){ .map = map, .wanted = wanted, .shapes = shapes };
  finder->rows =
      ccl_account_aligned (account, ROWS * words, sizeof *finder->rows, "the shapes of a frame");
  return finder->rows ? CCL_OK : CCL_ERROR_NO_MEMORY;
}

void
ccl_shape_finder_clear (CclShapeFinder *finder)
{
  ccl_aligned_free (finder->rows);
}

/* The runs of a row. */
typedef struct Runs
{
  const uint32_t *edges, *labels;
  uint32_t count;
} Runs;

static Runs
runs_of (const CclRuns *runs, const CclStrip *strip, uint32_t y)
{
  CclRunsSpan span = runs->spans[y];

  return (Runs){ strip->edges + 2 * (size_t) span.first, strip->labels + span.first,
                 span.end - span.first };
}

/* The shape of the component with run @i; NULL if it is not in the result. */
static inline CclShape *
shape_of (const CclShapeFinder *self, const Runs *row, uint32_t i)
{
  uint32_t label = self->map->result_labels[row->labels[i]];

  return label > 0 ? &self->shapes[label - 1] : NULL;
}

/* Adds the runs of a row, and subtracts their contacts with those of the row above. */
static void
count_runs (const CclShapeFinder *self, const Runs *row, const Runs *above)
{
  const uint32_t corner = self->map->runs->diagonal ? 1 : 0;
  uint32_t first = 0;

  for (uint32_t i = 0; i < row->count; i++) {
    uint32_t start = row->edges[2 * (size_t) i], stop = row->edges[2 * (size_t) i + 1], end;
    CclShape *shape = shape_of (self, row, i);

    while (first < above->count && above->edges[2 * (size_t) first + 1] + corner <= start)
      first++;
    for (end = first; end < above->count && above->edges[2 * (size_t) end] < stop + corner;)
      end++;
    if (shape)
      shape->euler += 1 - (int64_t) (end - first);
    /* the last one may touch the next run, too */
    first = end > first ? end - 1 : first;
  }
}

/* The result label of pixel @x in a row; the pixel is in a run. */
static uint32_t
label_at (const CclShapeFinder *self, const Runs *row, uint32_t x)
{
  uint32_t low = 0, high = row->count - 1;

  while (low < high) {
    uint32_t middle = low + (high - low + 1) / 2;

    if (row->edges[2 * (size_t) middle] <= x)
      low = middle;
    else
      high = middle - 1;
  }
  return self->map->result_labels[row->labels[low]];
}

static inline bool
bit_at (const uint64_t *row, uint32_t x)
{
  return row[x / 64] >> x % 64 & 1;
}

/* With 4-connectivity, finds the pixels with a neighbour at a corner that may be of another
 * component, and counts those on the border one by one. */
static void
count_others (const CclShapeFinder *self, const CclOutline *outline, const Runs around[3],
              uint64_t *others)
{
  const uint32_t width = self->map->runs->width;
  const size_t words = ccl_mask_words (width);
  const uint64_t *row = outline->rows[1];

  memset (others, 0, words * sizeof *others);
  for (uint32_t i = 0; i < around[1].count; i++) {
    uint32_t start = around[1].edges[2 * (size_t) i], stop = around[1].edges[2 * (size_t) i + 1];
    const uint32_t label = self->map->result_labels[around[1].labels[i]];
    CclShape *shape = label > 0 ? &self->shapes[label - 1] : NULL;

    for (uint32_t x = start; shape && x < stop; x++) {
      uint32_t sides = 0, corners = 0;
      bool other = false;

      if (x > start && x + 1 < stop)
        x = stop - 1; /* only the first and the last pixel can have one */
      for (int dx = -1; dx <= 1; dx += 2) {
        bool inside = dx < 0 ? x > 0 : x + 1 < width, beside;

        if (!inside)
          continue;
        beside = bit_at (row, x + (uint32_t) dx);
        sides += bit_at (outline->borders[1], x + (uint32_t) dx);
        for (int dy = 0; dy <= 2; dy += 2) {
          bool at_corner = bit_at (outline->rows[dy], x + (uint32_t) dx);

          if (at_corner && !beside && !bit_at (outline->rows[dy], x)) {
            other = true;
            corners += label_at (self, &around[dy], x + (uint32_t) dx) == label;
          } else {
            corners += bit_at (outline->borders[dy], x + (uint32_t) dx);
          }
        }
      }
      if (!other)
        continue;
      others[x / 64] |= UINT64_C (1) << x % 64;
      sides += bit_at (outline->borders[0], x) + bit_at (outline->borders[2], x);
      shape->straight += (sides == 2 || sides == 3) && corners <= 2;
      shape->diagonal += (sides == 0 && corners == 2) || (sides == 1 && corners == 3);
      shape->turning += sides == 1 && (corners == 1 || corners == 2);
    }
  }
}

static void
add_outlines (const CclShapeFinder *self, CclOutline *outline, const Runs around[3])
{
  const CclRuns *runs = self->map->runs;
  size_t words = ccl_mask_words (runs->width);

  if (!runs->diagonal) {
    count_others (self, outline, around, self->rows + OTHERS * words);
    outline->others = self->rows + OTHERS * words;
  }
  for (uint32_t i = 0; i < around[1].count; i++) {
    CclShape *shape = shape_of (self, &around[1], i);

    if (shape)
      runs->functions->add_outline (outline, runs->width, around[1].edges[2 * (size_t) i],
                                    around[1].edges[2 * (size_t) i + 1], shape);
  }
}

static void
add_values (const CclShapeFinder *self, const Runs *row, const uint8_t *pixels)
{
  for (uint32_t i = 0; i < row->count; i++) {
    uint32_t start = row->edges[2 * (size_t) i], stop = row->edges[2 * (size_t) i + 1];
    CclShape *shape = shape_of (self, row, i);

    if (shape)
      self->map->runs->functions->add_luma (pixels + start, stop - start, shape);
  }
}

/* The strip of row @y, at or just behind @strip. */
static const CclStrip *
strip_of (const CclRuns *runs, const CclStrip *strip, uint32_t y)
{
  while (y >= strip->bottom && strip + 1 < runs->strips + runs->n_strips)
    strip++;
  return strip;
}

void
ccl_shape_finder_run (const CclShapeFinder *self, uint32_t count, const CclMask *mask,
                      const CclImage *luma)
{
  const CclRuns *runs = self->map->runs;
  const size_t words = ccl_mask_words (runs->width);
  const uint64_t *empty = self->rows + EMPTY * words;
  const CclStrip *strip = runs->strips;
  Runs around[3] = { { NULL, NULL, 0 }, runs_of (runs, strip, 0), { NULL, NULL, 0 } };

  memset (self->shapes, 0, count * sizeof *self->shapes);
  if (self->wanted & CCL_SHAPES_LUMA)
    for (uint32_t i = 0; i < count; i++)
      self->shapes[i].luma_min = UINT8_MAX;
  memset (self->rows, 0, BORDERS * words * sizeof *self->rows);
  for (uint32_t y = 0; y < runs->height; y++) {
    strip = strip_of (runs, strip, y + 1);
    around[2] = y + 1 < runs->height ? runs_of (runs, strip, y + 1) : (Runs){ NULL, NULL, 0 };
    if (self->wanted & CCL_SHAPES_TOPOLOGY)
      count_runs (self, &around[1], &around[0]);
    if (self->wanted & CCL_SHAPES_PERIMETER) {
      CclOutline outline = { { empty, empty, empty }, { empty, empty, empty }, NULL };
      const uint64_t *rows[5]; /* y - 2 to y + 2 */

      for (uint32_t k = 0; k < 5; k++)
        rows[k] = y + k >= 2 && y + k - 2 < runs->height
                      ? mask->words + (size_t) (y + k - 2) * mask->pitch
                      : empty;
      if (y == 0)
        runs->functions->find_border (self->rows, &rows[1], runs->width);
      if (y + 1 < runs->height)
        runs->functions->find_border (self->rows + (y + 1) % BORDERS * words, &rows[2],
                                      runs->width);
      for (uint32_t k = 0; k < 3; k++) {
        outline.rows[k] = rows[k + 1];
        if (y + k >= 1 && y + k - 1 < runs->height)
          outline.borders[k] = self->rows + (y + k - 1) % BORDERS * words;
      }
      add_outlines (self, &outline, around);
    }
    if (self->wanted & CCL_SHAPES_LUMA)
      add_values (self, &around[1], luma->data + (size_t) y * luma->stride);
    around[0] = around[1];
    around[1] = around[2];
  }
}
