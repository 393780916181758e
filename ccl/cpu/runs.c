/* cudaccl - CPU backend: run-based labelling with features on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A row of pixels becomes bits, then runs. A run that touches none of the row above gets a new
 * label, one that touches some gets the label of their component; where it touches several
 * components it joins them. Features are added run by run, so that no label image is needed and
 * only two rows of runs are kept, unless somebody wants a label map. Labels are numbered in raster
 * order and the smaller one survives a union, so roots come out in canonical order. */

#include "ccl/cpu/runs.h"
#include "ccl/sums.h"

#include <stdlib.h>

/* A bound of the labels that one frame can need: one for each run with nothing above it. With
 * 4-connectivity all runs of all rows may be such; with 8-connectivity the squares of 2 x 2 pixels
 * that end in such a run's first pixel are disjoint. */
static uint64_t
labels_bound (const CclConfig *config)
{
  if (config->connectivity == 4)
    return (uint64_t) ccl_runs_per_row (config->width) * config->height;
  return ((uint64_t) config->width + 1) * ((uint64_t) config->height + 1) / 4;
}

CclStatus
ccl_runs_init (CclRuns *runs, const CclConfig *config, CclAccount *account)
{
  uint64_t per_row = ccl_runs_per_row (config->width), labels = labels_bound (config);
  uint64_t rows = config->labels ? config->height : 2;

  *runs = (CclRuns){
    .functions = ccl_cpu_functions (),
    .width = config->width,
    .height = config->height,
    .reach = config->connectivity == 8,
    .most_labels = labels,
  };
  /* Sized for the worst frame; ordinary frames never touch most of the pages. */
#define ALLOCATE(field, count) \
  ((field) = ccl_account_malloc (account, (count), sizeof *(field), "the labels of a frame"))
  if (!ALLOCATE (runs->bits, (uint64_t) config->width / 64 + 1) ||
      !ALLOCATE (runs->all.edges, 2 * rows * per_row) ||
      !ALLOCATE (runs->all.labels, rows * per_row) ||
      (config->labels && !ALLOCATE (runs->row_ends, rows)) || !ALLOCATE (runs->parents, labels) ||
      !ALLOCATE (runs->labels, labels) ||
      (config->second_order && !ALLOCATE (runs->moments, labels))) {
    ccl_runs_clear (runs);
    return CCL_ERROR_NO_MEMORY;
  }
#undef ALLOCATE
  return CCL_OK;
}

void
ccl_runs_clear (CclRuns *runs)
{
  free (runs->bits);
  free (runs->all.edges);
  free (runs->all.labels);
  free (runs->row_ends);
  free (runs->parents);
  free (runs->labels);
  free (runs->moments);
}

/* The positions at which the bits of a row change, in pairs. */
static void
find_runs (CclRunsRow *row, const uint64_t *bits, uint32_t width)
{
  uint32_t *edge = row->edges;
  uint64_t carry = 0;

  for (uint64_t x = 0; x < width; x += 64) {
    uint64_t word = *bits++, changes = word ^ (word << 1 | carry);

    carry = word >> 63;
    for (; changes; changes &= changes - 1)
      *edge++ = (uint32_t) (x + (unsigned) __builtin_ctzll (changes));
  }
  if ((edge - row->edges) % 2)
    *edge++ = width;
  row->count = (uint32_t) ((edge - row->edges) / 2);
}

static inline uint32_t
find (uint32_t *parents, uint32_t label)
{
  while (parents[label] != label) {
    parents[label] = parents[parents[label]];
    label = parents[label];
  }
  return label;
}

static inline uint32_t
min_u32 (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static inline uint32_t
max_u32 (uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

/* Joins two roots; the smaller one takes the other's features over. */
static uint32_t
unite (CclRuns *runs, uint32_t a, uint32_t b)
{
  uint32_t root = min_u32 (a, b), other = max_u32 (a, b);
  CclRunsLabel *to = &runs->labels[root];
  const CclRunsLabel *from = &runs->labels[other];

  if (a == b)
    return a;
  runs->parents[other] = root;
  to->area += from->area;
  to->sum_x += from->sum_x;
  to->sum_y += from->sum_y;
  to->left = min_u32 (to->left, from->left);
  to->right = max_u32 (to->right, from->right);
  to->bottom = max_u32 (to->bottom, from->bottom);
  if (runs->moments) {
    runs->moments[root].sum_xx += runs->moments[other].sum_xx;
    runs->moments[root].sum_yy += runs->moments[other].sum_yy;
    runs->moments[root].sum_xy += runs->moments[other].sum_xy;
  }
  return root;
}

static inline uint32_t
new_label (CclRuns *runs, uint32_t x, uint32_t y)
{
  uint32_t label = runs->n_labels++;

  runs->parents[label] = label;
  runs->labels[label] = (CclRunsLabel){ .first_x = x, .y = y, .left = x };
  if (runs->moments)
    runs->moments[label] = (CclRunsMoments){ 0, 0, 0 };
  return label;
}

static inline void
add_run (CclRuns *runs, uint32_t root, uint32_t start, uint32_t end, uint32_t y)
{
  CclRunsLabel *label = &runs->labels[root];
  uint64_t length = end - start;
  uint64_t sum_x = ccl_run_sum_x (start, end);

  label->area += length;
  label->sum_x += sum_x;
  label->sum_y += length * y;
  label->left = min_u32 (label->left, start);
  label->right = max_u32 (label->right, end);
  label->bottom = y + 1;
  if (runs->moments) {
    runs->moments[root].sum_xx += ccl_run_sum_xx (start, end);
    runs->moments[root].sum_yy += length * y * y;
    runs->moments[root].sum_xy += sum_x * y;
  }
}

/* Labels the runs of row @y by what they touch in the row above. */
static void
label_row (CclRuns *runs, uint32_t y)
{
  const CclRunsRow *above = &runs->above;
  CclRunsRow *row = &runs->row;
  const uint64_t reach = runs->reach;
  uint32_t j = 0;

  for (uint32_t i = 0; i < row->count; i++) {
    uint32_t start = row->edges[2 * i], end = row->edges[2 * i + 1], root;

    while (j < above->count && above->edges[2 * j + 1] + reach <= start)
      j++;
    if (j < above->count && above->edges[2 * j] < end + reach) {
      root = find (runs->parents, above->labels[j]);
      /* The last run touched stays current: it may touch the next run too. */
      while (j + 1 < above->count && above->edges[2 * j + 2] < end + reach)
        root = unite (runs, root, find (runs->parents, above->labels[++j]));
    } else {
      root = new_label (runs, start, y);
    }
    add_run (runs, root, start, end, y);
    row->labels[i] = root;
  }
}

/* Makes the last row the one above, and finds a place for row @y: behind it, or where the row
 * before it was. */
static void
begin_row (CclRuns *runs, uint32_t y)
{
  uint64_t per_row = ccl_runs_per_row (runs->width), first = y % 2 * per_row;

  if (runs->row_ends)
    first = y > 0 ? runs->row_ends[y - 1] : 0;
  if (y > 0)
    runs->above = runs->row;
  runs->row.edges = runs->all.edges + 2 * first;
  runs->row.labels = runs->all.labels + first;
}

void
ccl_runs_label (CclRuns *runs, const CclImage *image, const CclParams *params)
{
  runs->n_labels = 0;
  runs->above.count = 0;
  for (uint32_t y = 0; y < runs->height; y++) {
    begin_row (runs, y);
    runs->functions->pack_row (runs->bits, image->data + y * image->stride, runs->width,
                               params->threshold, params->invert);
    find_runs (&runs->row, runs->bits, runs->width);
    label_row (runs, y);
    if (runs->row_ends)
      runs->row_ends[y] = (y > 0 ? runs->row_ends[y - 1] : 0) + runs->row.count;
  }
}
