/* cudaccl - CPU backend: background models in the light of lamps that flicker
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* See engine/motion/flicker.h. Rows are divided by their gains when they are read: see rows.c. */

#include "engine/cpu/motion/state.h"

/* The pixels of a slice that have a ratio. */
typedef struct Counted
{
  uint32_t counts[CCL_FLICKER_RATIOS];
  uint32_t pixels, explained;
} Counted;

/* The lowest ratio that at least half of the pixels do not exceed; -1 without any. */
static int
median_of (const Counted *counted)
{
  uint32_t below = 0;
  int median = -1;

  while (counted->pixels > 0 && 2 * below < counted->pixels)
    below += counted->counts[++median];
  return median;
}

static CclFlickerSlice
measure_slice (const Job *job, const Ring *ring, uint32_t top)
{
  const CclCpuModel *self = job->model;
  const uint32_t rows = ccl_flicker_rows (ring->height);
  const uint32_t bottom = ring->height - top < rows ? ring->height : top + rows;
  const uint32_t down = ccl_flicker_step (rows, CCL_FLICKER_LINES);
  const uint32_t across = ccl_flicker_step (ring->width, CCL_FLICKER_COLUMNS);
  CclFlickerSlice slice = { 0, 0 };
  Counted counted = { .pixels = 0 };
  int median;

  for (uint32_t y = top; y < bottom; y += down) {
    const uint8_t *values = ccl_cpu_ring_read (ring, y, self->functions, raw_row (ring, 0));
    const uint16_t *background = background_row (self, y);

    for (uint32_t x = 0; x < ring->width; x += across) {
      if (!ccl_flicker_counts (background[x]))
        continue;
      counted.counts[ccl_flicker_ratio (values[x], background[x])]++;
      counted.pixels++;
    }
  }
  median = median_of (&counted);
  for (uint32_t y = top; y < bottom && median >= 0; y += down) {
    const uint8_t *values = ccl_cpu_ring_read (ring, y, self->functions, raw_row (ring, 0));
    const uint16_t *background = background_row (self, y);

    for (uint32_t x = 0; x < ring->width; x += across) {
      if (!ccl_flicker_counts (background[x]) ||
          !ccl_flicker_explains (job->step, values[x], background[x], median))
        continue;
      slice.value += values[x] * (uint32_t) CCL_MOTION_ONE;
      slice.background += background[x];
      counted.explained++;
    }
  }
  if (!ccl_flicker_knows (counted.pixels, counted.explained, median))
    slice = (CclFlickerSlice){ 0, 0 };
  return slice;
}

static void
measure_slices (void *data, uint32_t index)
{
  const Job *job = data;
  CclCpuModel *self = job->model;
  const uint32_t height = self->base->height, rows = ccl_flicker_rows (height);
  const Ring ring = ccl_cpu_ring (job, self->strips[index].rows[0], 0, 0);

  for (uint32_t i = index; i < ccl_flicker_slices (height); i += self->n_strips)
    self->flicker.slices[i] = measure_slice (job, &ring, i * rows);
}

void
ccl_cpu_model_find_flicker (Job *job)
{
  CclCpuModel *self = job->model;
  CclFlicker *flicker = &self->flicker;
  const int n = (int) ccl_flicker_slices (self->base->height);
  int flickers = 0, light;
  uint32_t sum = 0;

  ccl_pool_run (self->pool, measure_slices, job, self->n_strips);
  for (int i = 0; i < n; i++) {
    flickers += ccl_flicker_set (flicker, job->step, n, i);
    sum += flicker->means[i];
  }
  light = ccl_flicker_light (sum, n);
  self->base->flickers = ccl_flicker_is (flickers, n);
  self->base->far = !ccl_flicker_rebases (job->step) && ccl_flicker_far (light);
  job->factors = flicker->factors;
  if (!ccl_flicker_rebases (job->step))
    return;
  for (int i = 0; i < n; i++)
    ccl_flicker_rebase (flicker, job->step, light, i);
  for (int level = 0; level < 256; level++)
    ccl_flicker_drift (&job->drift, light, level);
  ccl_cpu_model_shift (job);
}
