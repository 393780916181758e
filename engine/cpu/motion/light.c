/* cudaccl - CPU backend: background models when the light changes, or drifts
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/motion/state.h"

#include <string.h>

/* A change of light */

/* A row of a row of tiles. Those of either plane of chroma are half as many, and follow. */
static uint8_t *
tile_row (const CclCpuModel *self, const Strip *strip, unsigned plane, uint32_t y)
{
  uint32_t rows = plane == 0   ? y % CCL_LIGHT_TILE
                  : plane == 1 ? CCL_LIGHT_TILE + y % (CCL_LIGHT_TILE / 2)
                               : CCL_LIGHT_TILE * 3 / 2 + y % (CCL_LIGHT_TILE / 2);

  return strip->tiles + rows * (size_t) self->blocks * 64;
}

/* Blurs a row of tiles. */
static void
read_tiles (const Job *job, const Strip *strip, uint32_t row)
{
  const CclCpuModel *self = job->model;

  for (unsigned plane = 0; plane < n_planes (self); plane++) {
    const uint32_t height = plane == 0 ? CCL_LIGHT_TILE : CCL_LIGHT_TILE / 2, top = row * height;
    Ring ring = ccl_cpu_ring (job, strip->rows[plane], plane, top);

    for (uint32_t y = top; y < top + height && y < ring.height; y++) {
      ccl_cpu_ring_advance (&ring, y, self->functions, strip->columns + CCL_MOTION_MARGIN);
      memcpy (tile_row (self, strip, plane, y), blurred_row (&ring, y), ring.width);
    }
  }
}

static bool
chroma_differs_at (const Job *job, const Strip *strip, uint32_t x, uint32_t y)
{
  const CclCpuModel *self = job->model;
  const size_t at = (size_t) y * self->chroma_blocks * 64 + x;

  return ccl_motion_chroma_differs (job->step, tile_row (self, strip, 1, y)[x],
                                    tile_row (self, strip, 2, y)[x], self->chroma[0][at],
                                    self->chroma[1][at]);
}

/* The part of a tile that is in a row. */
static uint32_t
tile_end (const CclCpuModel *self, uint32_t left)
{
  uint32_t width = self->base->width;

  return width - left < CCL_LIGHT_TILE ? width : left + CCL_LIGHT_TILE;
}

/* The lowest level that at least half of the @pixels do not exceed, from the number at each. */
static uint8_t
median_of (const uint16_t *counts, uint32_t pixels)
{
  uint32_t sum = counts[0], level = 0;

  while (2 * sum < pixels)
    sum += counts[++level];
  return (uint8_t) (2 * level + 1);
}

/* Sets a tile's curve; false if it has none. */
static bool
find_curve (const CclCpuModel *self, const Strip *strip, uint32_t left, uint32_t top,
            uint32_t bottom, CclLightCount *count, uint8_t *curve)
{
  uint16_t counts[CCL_LIGHT_BINS][CCL_LIGHT_LEVELS] = { 0 };
  uint8_t medians[CCL_LIGHT_BINS];
  uint32_t known = 0;

  for (uint32_t y = top; y < bottom; y++) {
    const uint8_t *values = tile_row (self, strip, 0, y);
    const uint16_t *background = background_row (self, y);

    for (uint32_t x = left; x < tile_end (self, left); x++)
      counts[background[x] >> 10][values[x] / 2]++;
  }
  for (unsigned bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    for (unsigned level = 0; level < CCL_LIGHT_LEVELS; level++)
      count->bins[bin] += counts[bin][level];
    count->pixels += count->bins[bin];
  }
  for (unsigned bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    if (count->bins[bin] < ccl_light_least (count->pixels))
      continue;
    known |= UINT32_C (1) << bin;
    medians[bin] = median_of (counts[bin], count->bins[bin]);
  }
  for (int bin = 0; known && bin < CCL_LIGHT_BINS; bin++)
    curve[bin] = ccl_light_level (medians, known, bin);
  return known;
}

static void
measure_tile (const Job *job, const Strip *strip, uint32_t left, uint32_t top, CclLightTile *tile)
{
  const CclCpuModel *self = job->model;
  const uint32_t height = self->base->height;
  const uint32_t bottom = height - top < CCL_LIGHT_TILE ? height : top + CCL_LIGHT_TILE;
  const bool chroma = n_planes (self) > 1;
  CclLightCount count = { .pixels = 0 };

  *tile = (CclLightTile){ .flags = 0 };
  if (!find_curve (self, strip, left, top, bottom, &count, tile->curve))
    return;
  for (uint32_t y = top; y < bottom; y++) {
    const uint8_t *values = tile_row (self, strip, 0, y);
    const uint16_t *background = background_row (self, y);

    for (uint32_t x = left; x < tile_end (self, left); x++) {
      int level = ccl_light_follow (tile->curve, background[x]);

      count.explained += ccl_light_explains (values[x], level);
      count.changed += ccl_light_differs (job->step, values[x], background[x]) ||
                       (chroma && chroma_differs_at (job, strip, x / 2, y / 2));
    }
  }
  tile->flags = ccl_light_judge (job->step, &count, tile->curve);
}

static void
measure_tiles (void *data, uint32_t index)
{
  const Job *job = data;
  CclCpuModel *self = job->model;
  const Strip *strip = &self->strips[index];

  for (uint32_t row = index; row < self->rows; row += self->n_strips) {
    read_tiles (job, strip, row);
    for (uint32_t column = 0; column < self->columns; column++)
      measure_tile (job, strip, column * CCL_LIGHT_TILE, row * CCL_LIGHT_TILE,
                    &self->tiles[(size_t) row * self->columns + column]);
  }
}

/* The pixels of a tile in row @y of the picture. */
static void
relight_row (const Job *job, const Strip *strip, uint32_t left, uint32_t y, const uint8_t *curve,
             CclLightPlace place)
{
  CclCpuModel *self = job->model;
  const uint8_t *values = tile_row (self, strip, 0, y);
  const size_t at = (size_t) y * self->blocks * 64;
  uint16_t *background = background_row (self, y);

  for (uint32_t x = left; x < tile_end (self, left); x++) {
    const int old = background[x], level = ccl_light_follow (curve, old);
    const bool takes = ccl_light_takes (place, values[x], old, level);

    if (place == CCL_LIGHT_FADING && !takes)
      continue;
    background[x] = (uint16_t) (takes ? values[x] * CCL_MOTION_ONE : level);
    self->noise[at + x] = CCL_MOTION_FIRST_NOISE;
    self->counts[at + x] = 0;
    self->visits[at + x] = 0;
    for (unsigned i = 0; i + 1 < n_planes (self) && x % 2 == 0 && y % 2 == 0; i++) {
      uint16_t *sample = self->chroma[i] + (size_t) (y / 2) * self->chroma_blocks * 64 + x / 2;
      uint8_t value = tile_row (self, strip, i + 1, y / 2)[x / 2];

      *sample =
          (uint16_t) (takes ? value * CCL_MOTION_ONE : ccl_light_chroma (*sample, old, level));
    }
  }
}

static void
relight_tiles (void *data, uint32_t index)
{
  const Job *job = data;
  CclCpuModel *self = job->model;
  const Strip *strip = &self->strips[index];

  for (uint32_t row = index; row < self->rows; row += self->n_strips) {
    const uint32_t top = row * CCL_LIGHT_TILE;

    read_tiles (job, strip, row);
    for (uint32_t column = 0; column < self->columns; column++) {
      const CclLightTile *tile = &self->tiles[(size_t) row * self->columns + column];
      const uint8_t *curve = tile->flags & CCL_LIGHT_LIT ? tile->curve : job->mean;
      const CclLightPlace place = ccl_light_place (self->tiles, (int) self->columns,
                                                   (int) self->rows, (int) column, (int) row);

      if (place == CCL_LIGHT_ELSEWHERE)
        continue;
      for (uint32_t y = top; y < self->base->height && y < top + CCL_LIGHT_TILE; y++)
        relight_row (job, strip, column * CCL_LIGHT_TILE, y, curve, place);
    }
    for (uint32_t y = top; y < self->base->height && y < top + CCL_LIGHT_TILE; y++)
      pad_background (background_row (self, y), self->base->width);
  }
}

bool
ccl_cpu_model_relight (Job *job)
{
  CclCpuModel *self = job->model;
  const uint32_t n = self->columns * self->rows;
  CclLightTotal total = { .votes = 0 };

  ccl_pool_run (self->pool, measure_tiles, job, self->n_strips);
  for (uint32_t i = 0; i < n; i++)
    ccl_light_add (&total, &self->tiles[i]);
  if (!ccl_light_changed (job->step, &total, n))
    return false;
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++)
    job->mean[bin] = ccl_light_mean (&total, bin);
  ccl_pool_run (self->pool, relight_tiles, job, self->n_strips);
  return true;
}

/* Brightness that drifts */

/* Counts some of a strip's pixels. */
static void
count_drift (void *data, uint32_t index)
{
  const Job *job = data;
  const CclCpuModel *self = job->model;
  Strip *strip = &self->strips[index];
  const uint32_t first = (strip->top + CCL_DRIFT_STEP - 1) / CCL_DRIFT_STEP * CCL_DRIFT_STEP;

  memset (strip->counters, 0, CCL_DRIFT_RANGES * CCL_LIGHT_BINS * sizeof *strip->counters);
  for (uint32_t y = first; y < strip->bottom; y += CCL_DRIFT_STEP) {
    const uint16_t *background = background_row (self, y);
    Ring ring = ccl_cpu_ring (job, strip->rows[0], 0, y);

    ccl_cpu_ring_advance (&ring, y, self->functions, strip->columns + CCL_MOTION_MARGIN);
    for (uint32_t x = 0; x < self->base->width; x += CCL_DRIFT_STEP)
      strip->counters[ccl_drift_counter (blurred_row (&ring, y)[x], background[x])]++;
  }
}

/* Sets the drift from the counters of all strips, the sum of which the first one gets. Returns
 * false if there is none. */
static bool
find_drift (Job *job)
{
  const CclCpuModel *self = job->model;
  uint32_t *counters = self->strips[0].counters, pixels = 0, known = 0;
  CclDriftBin bins[CCL_LIGHT_BINS];
  int shifts[CCL_LIGHT_BINS] = { 0 }, gain;

  for (uint32_t i = 0; i < CCL_DRIFT_RANGES * CCL_LIGHT_BINS; i++) {
    for (uint32_t k = 1; k < self->n_strips; k++)
      counters[i] += self->strips[k].counters[i];
    pixels += counters[i];
  }
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    bins[bin] = ccl_drift_bin (counters, bin);
    known |= (uint32_t) ccl_drift_knows (&bins[bin], pixels) << bin;
  }
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    if (known >> bin & 1)
      shifts[bin] = ccl_drift_smooth (bins, known, bin);
  }
  self->base->levels = ccl_drift_levels (bins, known);
  if (!ccl_drift_is (bins, known, shifts))
    return false;
  gain = ccl_drift_gain (bins, shifts, known);
  for (int level = 0; level < 256; level++)
    ccl_drift_set (&job->drift, level, shifts, known, gain);
  return true;
}

static void
shift_strip (void *data, uint32_t index)
{
  const Job *job = data;
  CclCpuModel *self = job->model;
  const Strip *strip = &self->strips[index];

  for (uint32_t y = strip->top; y < strip->bottom; y++) {
    uint16_t *background = background_row (self, y);
    uint8_t *candidates = self->candidates + (size_t) y * self->blocks * 64;
    uint8_t *formers = self->formers + (size_t) y * self->blocks * 64;

    for (unsigned i = 0; i + 1 < n_planes (self) && y % 2 == 0; i++) {
      uint16_t *samples = self->chroma[i] + (size_t) (y / 2) * self->chroma_blocks * 64;

      for (uint32_t x = 0; x < self->chroma_width; x++)
        samples[x] = (uint16_t) ccl_drift_chroma (&job->drift, samples[x], background[2 * x]);
    }
    for (uint32_t x = 0; x < self->base->width; x++) {
      background[x] = (uint16_t) ccl_drift_background (&job->drift, background[x]);
      candidates[x] = (uint8_t) ccl_drift_candidate (&job->drift, candidates[x]);
      formers[x] = (uint8_t) ccl_drift_candidate (&job->drift, formers[x]);
    }
    pad_background (background, self->base->width);
  }
}

void
ccl_cpu_model_shift (Job *job)
{
  ccl_pool_run (job->model->pool, shift_strip, job, job->model->n_strips);
}

void
ccl_cpu_model_follow_drift (Job *job)
{
  CclCpuModel *self = job->model;

  ccl_pool_run (self->pool, count_drift, job, self->n_strips);
  if (find_drift (job))
    ccl_cpu_model_shift (job);
}
