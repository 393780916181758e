/* cudaccl - CPU backend: from labels to components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All strips count their components first; then each knows where in the result its own go. */

#include "engine/cpu/runs/compact.h"

#include <string.h>

/* Whether label @i is a component that passes the filters. */
static inline bool
passes (const CclCompaction *self, uint32_t i)
{
  const CclTable *table = &self->runs->table;
  const CclRunsLabel *label = &table->labels[i];

  return table->parents[i] == i && label->area >= self->params.min_area &&
         label->area <= self->params.max_area &&
         label->right - label->left >= self->params.min_width &&
         label->bottom - label->y >= self->params.min_height;
}

static void
count_roots (void *data, uint32_t index)
{
  const CclCompaction *self = data;
  const CclStrip *strip = &self->runs->strips[index];
  const uint32_t *parents = self->runs->table.parents;
  uint32_t count = 0;

  for (uint32_t i = strip->base; i < strip->next; i++)
    count += parents[i] == i;
  self->shares[index].above = count;
  self->shares[index].tied = 0;
}

static void
count_strip (void *data, uint32_t index)
{
  const CclCompaction *self = data;
  const CclStrip *strip = &self->runs->strips[index];
  uint32_t area = self->search.top_k.area, above = 0, tied = 0;

  for (uint32_t i = strip->base; i < strip->next; i++) {
    if (!passes (self, i))
      continue;
    above += self->runs->table.labels[i].area > area;
    tied += self->runs->table.labels[i].area == area;
  }
  self->shares[index].above = above;
  self->shares[index].tied = tied;
}

static void
fill_histogram (void *data, uint32_t index)
{
  const CclCompaction *self = data;
  const CclStrip *strip = &self->runs->strips[index];
  uint32_t *histogram = self->shares[index].histogram;

  memset (histogram, 0, sizeof self->shares[index].histogram);
  for (uint32_t i = strip->base; i < strip->next; i++) {
    int bin = -1;

    if (passes (self, i))
      bin = ccl_topk_bin (&self->search, self->runs->table.labels[i].area);
    if (bin >= 0)
      histogram[bin]++;
  }
}

/* Finds the limits that leave @keep of the components that pass. */
static void
find_top_k (CclCompaction *self)
{
  const CclRuns *runs = self->runs;

  ccl_topk_begin (&self->search, self->keep);
  for (unsigned round = 0; round < CCL_TOPK_ROUNDS; round++) {
    uint32_t histogram[CCL_TOPK_BINS] = { 0 };

    ccl_pool_run (runs->pool, fill_histogram, self, runs->n_strips);
    for (uint32_t s = 0; s < runs->n_strips; s++)
      for (unsigned bin = 0; bin < CCL_TOPK_BINS; bin++)
        histogram[bin] += self->shares[s].histogram[bin];
    ccl_topk_narrow (&self->search, histogram);
  }
  ccl_pool_run (runs->pool, count_strip, self, runs->n_strips);
}

static inline void
fill_component (CclComponent *component, const CclTable *table, uint32_t i)
{
  const CclRunsLabel *label = &table->labels[i];

  *component = (CclComponent){
    .area = label->area,
    .sum_x = label->sum_x,
    .sum_y = label->sum_y,
    .x = label->left,
    .y = label->y,
    .width = label->right - label->left,
    .height = label->bottom - label->y,
    .first_x = label->first_x,
  };
  if (table->moments) {
    component->sum_xx = table->moments[i].sum_xx;
    component->sum_yy = table->moments[i].sum_yy;
    component->sum_xy = table->moments[i].sum_xy;
  }
}

/* Whether a component that passes is kept; @ties: how many tied ones the strip may still keep. */
static inline bool
stays (const CclCompaction *self, uint32_t i, uint32_t *ties)
{
  uint32_t area = self->runs->table.labels[i].area;

  if (area != self->search.top_k.area)
    return area > self->search.top_k.area;
  if (*ties == 0)
    return false;
  (*ties)--;
  return true;
}

static void
fill_strip (void *data, uint32_t index)
{
  const CclCompaction *self = data;
  const CclStrip *strip = &self->runs->strips[index];
  uint32_t count = self->shares[index].first, ties = self->shares[index].ties;

  if (self->result_labels)
    memset (self->result_labels + strip->base, 0,
            (strip->next - strip->base) * sizeof *self->result_labels);
  for (uint32_t i = strip->base; i < strip->next; i++) {
    if (!passes (self, i) || !stays (self, i, &ties))
      continue;
    fill_component (&self->items[count], &self->runs->table, i);
    self->items[count].label = count + 1;
    if (self->values)
      self->values[count] = (uint16_t) self->runs->table.values[i];
    count++;
    if (self->result_labels)
      self->result_labels[i] = count;
  }
}

/* Sets where each strip's components go; returns how many there are. The first tied ones are kept,
 * and the strips come in raster order. */
static uint32_t
share_out (CclCompaction *self)
{
  uint32_t count = 0, ties = self->search.top_k.ties;

  for (uint32_t s = 0; s < self->runs->n_strips; s++) {
    CclShare *share = &self->shares[s];

    share->first = count;
    share->ties = share->tied < ties ? share->tied : ties;
    ties -= share->ties;
    count += share->above + share->ties;
  }
  return count;
}

CclComponents
ccl_compact (CclCompaction *self, const CclParams *params)
{
  const CclRuns *runs = self->runs;
  bool all = params->min_area <= 1 && params->min_width <= 1 && params->min_height <= 1 &&
             params->max_area >= (uint64_t) runs->width * runs->height;
  uint32_t found = 0, count;

  self->params = *params;
  self->search.top_k = (CclTopK){ 0, 0 };
  ccl_pool_run (runs->pool, all ? count_roots : count_strip, self, runs->n_strips);
  for (uint32_t s = 0; s < runs->n_strips; s++)
    found += self->shares[s].above;
  if (found > self->keep)
    find_top_k (self);
  count = share_out (self);
  ccl_pool_run (runs->pool, fill_strip, self, runs->n_strips);
  return (CclComponents){ self->items, count, found };
}
