/* cudaccl - CPU backend: background models of a camera that shakes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* See engine/motion/shake.h. A frame that is shifted is copied. */

#include "engine/cpu/motion/state.h"

#include <string.h>

/* Sums up a strip's differences at all shifts. */
static void
compare_strip (void *data, uint32_t index)
{
  const Job *job = data;
  const CclCpuModel *self = job->model;
  const uint32_t width = self->base->width, height = self->base->height;
  Strip *strip = &self->strips[index];
  const Ring ring = ccl_cpu_ring (job, strip->rows[0], 0, 0);

  memset (strip->sums, 0, sizeof strip->sums);
  for (uint32_t row = 0; width >= CCL_SHAKE_SIDE && row < ccl_shake_rows (height); row++) {
    const uint32_t y = CCL_SHAKE_REACH + row * ccl_shake_step (height);
    CclShakeSum *sums = strip->sums + ccl_shake_band (row, height);

    for (uint32_t i = 0; y >= strip->top && y < strip->bottom && i < CCL_SHAKE_SIDE; i++)
      self->functions->compare_shifts (
          sums + (size_t) i * CCL_SHAKE_SIDE,
          ccl_cpu_ring_read (&ring, y + i - CCL_SHAKE_REACH, self->functions, raw_row (&ring, 0)),
          background_row (self, y) + CCL_SHAKE_REACH, width - 2 * CCL_SHAKE_REACH);
  }
}

/* The coarse pixels of the frame, and of the background behind them. */
typedef struct Coarse
{
  uint32_t size, width, height;
  uint8_t *values;
  uint16_t *background;
} Coarse;

/* They are in the memory of an aligned frame, which has room for four of these. */
static Coarse
coarse_of (const CclCpuModel *self)
{
  const uint32_t size = ccl_shake_size (self->base->width, self->base->height);
  Coarse coarse = { .size = size,
                    .width = self->base->width / size,
                    .height = self->base->height / size,
                    .values = self->aligned[0] };
  const size_t pixels = (size_t) coarse.width * coarse.height;
  uint8_t *behind = self->aligned[0] + (pixels + 1) / 2 * 2;

  memcpy (&coarse.background, &(void *){ behind }, sizeof coarse.background);
  return coarse;
}

/* Makes a row of coarse pixels from the sums of columns. */
static void
mean_row (const Coarse *coarse, const uint16_t *columns, uint32_t y, bool background)
{
  const size_t at = (size_t) y * coarse->width;

  for (uint32_t x = 0; x < coarse->width; x++) {
    uint32_t sum = 0;

    for (uint32_t i = 0; i < coarse->size; i++)
      sum += columns[x * coarse->size + i];
    sum = ccl_shake_mean (sum, coarse->size);
    if (background)
      coarse->background[at + x] = (uint16_t) (sum * CCL_MOTION_ONE);
    else
      coarse->values[at + x] = (uint8_t) sum;
  }
}

static void
shrink_strip (void *data, uint32_t index)
{
  const Job *job = data;
  const CclCpuModel *self = job->model;
  const uint32_t width = self->base->width, n = self->n_strips;
  const Coarse coarse = coarse_of (self);
  Strip *strip = &self->strips[index];
  const Ring ring = ccl_cpu_ring (job, strip->rows[0], 0, 0);

  for (uint32_t y = index; y < coarse.height; y += n) {
    memset (strip->old, 0, 2 * width * sizeof *strip->old);
    for (uint32_t i = 0; i < coarse.size; i++) {
      const uint32_t v = y * coarse.size + i;
      const uint8_t *values = ccl_cpu_ring_read (&ring, v, self->functions, raw_row (&ring, 0));
      const uint16_t *background = background_row (self, v);

      for (uint32_t x = 0; x < width; x++) {
        strip->old[x] += values[x];
        strip->old[width + x] += background[x] >> 7;
      }
    }
    mean_row (&coarse, strip->old, y, false);
    mean_row (&coarse, strip->old + width, y, true);
  }
}

/* Sums up the differences of a strip's share of rows, at all shifts. */
static void
compare_coarse (void *data, uint32_t index)
{
  const Job *job = data;
  const CclCpuModel *self = job->model;
  const Coarse coarse = coarse_of (self);
  Strip *strip = &self->strips[index];

  memset (strip->sums, 0, sizeof strip->sums);
  for (uint32_t row = index; row < ccl_shake_rows (coarse.height); row += self->n_strips) {
    const uint32_t y = CCL_SHAKE_REACH + row * ccl_shake_step (coarse.height);

    for (uint32_t i = 0; i < CCL_SHAKE_SIDE; i++)
      self->functions->compare_shifts (
          strip->sums + ccl_shake_band (row, coarse.height) + (size_t) i * CCL_SHAKE_SIDE,
          coarse.values + (size_t) (y + i - CCL_SHAKE_REACH) * coarse.width,
          coarse.background + (size_t) y * coarse.width + CCL_SHAKE_REACH,
          coarse.width - 2 * CCL_SHAKE_REACH);
  }
}

/* The shift that fits best, from the sums of all strips. */
static CclShift
find_shift (const CclCpuModel *self)
{
  CclShakeSum sums[CCL_SHAKE_SUMS] = { 0 }, totals[CCL_SHAKE_SHIFTS];

  for (uint32_t i = 0; i < self->n_strips; i++) {
    for (int k = 0; k < CCL_SHAKE_SUMS; k++)
      sums[k] += self->strips[i].sums[k];
  }
  for (int i = 0; i < CCL_SHAKE_SHIFTS; i++)
    totals[i] = ccl_shake_total (sums, i);
  return ccl_shake_find (sums, totals);
}

CclShift
ccl_cpu_model_search (Job *job)
{
  CclCpuModel *self = job->model;

  if (ccl_shake_size (self->base->width, self->base->height) < 2)
    return (CclShift){ 0, 0 };
  ccl_pool_run (self->pool, shrink_strip, job, self->n_strips);
  ccl_pool_run (self->pool, compare_coarse, job, self->n_strips);
  return find_shift (self);
}

/* Moves a row: sample x becomes sample x + @shift of @values, or what @background is outside them.
 * @values: NULL if all is outside. */
static void
shift_row (uint8_t *row, const uint8_t *values, int shift, const uint16_t *background,
           uint32_t width)
{
  const uint32_t left = shift < 0 ? (uint32_t) -shift : 0, right = shift > 0 ? (uint32_t) shift : 0;
  const uint32_t shown = values && left + right < width ? width - left - right : 0;

  if (shown > 0)
    memcpy (row + left, values + right, shown);
  for (uint32_t x = 0; x < width; x++) {
    if (x == left)
      x += shown;
    if (x < width)
      row[x] = ccl_motion_level (background[x]);
  }
}

static void
average_rows (uint8_t *row, const uint8_t *other, uint32_t width)
{
  for (uint32_t x = 0; x < width; x++)
    row[x] = (uint8_t) ccl_motion_average (row[x], other[x]);
}

/* Writes the plane's row @y, moved by @dy rows and by the mean of @low and @high samples. */
static void
align_row (const Job *job, const Ring *ring, uint8_t *row, uint32_t y, int dy, int low, int high,
           const uint16_t *background)
{
  const uint8_t *values = NULL;

  if (ccl_shake_shows (y, dy, ring->height))
    values = ccl_cpu_ring_read (ring, y + (uint32_t) dy, job->model->functions, raw_row (ring, 0));
  shift_row (row, values, low, background, ring->width);
  if (high == low)
    return;
  shift_row (raw_row (ring, 1), values, high, background, ring->width);
  average_rows (row, raw_row (ring, 1), ring->width);
}

static void
align_plane (const Job *job, const Strip *strip, unsigned plane)
{
  const CclCpuModel *self = job->model;
  const Ring ring = ccl_cpu_ring (job, strip->rows[plane], plane, 0);
  const uint32_t top = plane > 0 ? strip->top / 2 : strip->top;
  const uint32_t bottom = plane > 0 ? ccl_model_half (strip->bottom) : strip->bottom;
  CclShift low, high;

  ccl_shake_bounds (job->shift, plane > 0, &low, &high);
  for (uint32_t y = top; y < bottom; y++) {
    const uint16_t *background =
        plane > 0 ? self->chroma[plane - 1] + (size_t) y * self->chroma_blocks * 64
                  : background_row (self, y);
    uint8_t *row = self->aligned[plane] + (size_t) y * ring.width;

    align_row (job, &ring, row, y, low.y, low.x, high.x, background);
    if (high.y == low.y)
      continue;
    align_row (job, &ring, raw_row (&ring, 2), y, high.y, low.x, high.x, background);
    average_rows (row, raw_row (&ring, 2), ring.width);
  }
}

static void
align_strip (void *data, uint32_t index)
{
  const Job *job = data;

  for (unsigned plane = 0; plane < n_planes (job->model); plane++)
    align_plane (job, &job->model->strips[index], plane);
}

void
ccl_cpu_model_align (Job *job)
{
  CclCpuModel *self = job->model;

  ccl_pool_run (self->pool, compare_strip, job, self->n_strips);
  job->shift = find_shift (self);
  if (!ccl_shake_moves (job->shift))
    return;
  ccl_pool_run (self->pool, align_strip, job, self->n_strips);
  job->aligned =
      (CclImage){ .data = self->aligned[0], .stride = self->base->width, .chroma = &job->chroma };
  job->chroma.step = 1;
  for (unsigned i = 0; i < 2; i++)
    job->chroma.planes[i] =
        (CclImage){ .data = self->aligned[i + 1], .stride = self->chroma_width };
  job->image = &job->aligned;
  job->factors = NULL;
  job->width = self->base->width;
  job->height = self->base->height;
  job->scale = 1;
}

/* Moves the @n words of a row by @shift pixels. @from may be @to. */
static void
move_row (uint64_t *to, const uint64_t *from, size_t n, int shift)
{
  for (size_t k = 0; k < n; k++) {
    const size_t i = shift > 0 ? n - 1 - k : k;

    if (shift > 0)
      to[i] = from[i] << shift | (i > 0 ? from[i - 1] >> (64 - shift) : 0);
    else if (shift < 0)
      to[i] = from[i] >> -shift | (i + 1 < n ? from[i + 1] << (64 + shift) : 0);
    else
      to[i] = from[i];
  }
}

void
ccl_cpu_model_move (CclMask *mask, CclShift shift)
{
  const size_t words = ccl_mask_words (mask->width);

  for (uint32_t k = 0; k < mask->height; k++) {
    const uint32_t y = shift.y > 0 ? mask->height - 1 - k : k;
    uint64_t *row = mask->words + y * mask->pitch;

    if (!ccl_shake_shows (y, -shift.y, mask->height)) {
      memset (row, 0, words * sizeof *row);
      continue;
    }
    move_row (row, mask->words + (y - (uint32_t) shift.y) * mask->pitch, words, shift.x);
    row[words - 1] &= ccl_mask_last_bits (mask->width);
  }
}
