/* cudaccl - CPU backend: background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A strip of rows is processed from top to bottom, row by row: rings hold a few blurred rows of the
 * frame, and the state is read and written once. Comparisons with neighbouring rows use the
 * background from before the frame, so rows that learn are copied first. */

#include "engine/cpu/motion/model.h"
#include "engine/aligned.h"
#include "engine/cpu/motion/state.h"
#include "engine/cpu/tuning.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_ROWS 16 /* of a strip */

/* A copy of a row of background. */
static uint16_t *
copied_row (const CclCpuModel *self, uint16_t *rows, uint32_t slot)
{
  return rows + slot * row_samples (self->blocks) + CCL_MOTION_MARGIN;
}

static void
copy_row (const CclCpuModel *self, uint16_t *copy, uint32_t y)
{
  size_t pixels = (size_t) self->base->width + 2 * CCL_MOTION_SHADOW_STEP;

  memcpy (copy - CCL_MOTION_SHADOW_STEP, background_row (self, y) - CCL_MOTION_SHADOW_STEP,
          pixels * sizeof *copy);
}

/* Keeps the rows of a strip that its neighbours read. */
static void
save_edges (CclCpuModel *self, Strip *strip)
{
  for (uint32_t i = 0; i < EDGE_ROWS; i++) {
    copy_row (self, copied_row (self, strip->edges, i), strip->top + i);
    copy_row (self, copied_row (self, strip->edges, EDGE_ROWS + i), strip->bottom - EDGE_ROWS + i);
  }
}

/* Row @y as it was before the frame, seen from row @now of the strip. */
static const uint16_t *
old_row (const CclCpuModel *self, const CclMotionStep *step, const Strip *strip, uint32_t y,
         uint32_t now)
{
  if (!ccl_motion_pace (step, y))
    return background_row (self, y);
  if (y < strip->top)
    return copied_row (self, strip[-1].edges, EDGE_ROWS + y - (strip->top - EDGE_ROWS));
  if (y >= strip->bottom)
    return copied_row (self, strip[1].edges, y - strip->bottom);
  return y > now ? background_row (self, y) : copied_row (self, strip->old, y % OLD_ROWS);
}

static void
write_bits (CclMask *mask, uint32_t y, const uint64_t *bits, uint32_t words)
{
  memcpy (mask->words + y * mask->pitch, bits, words * sizeof *bits);
}

static void
do_luma (const Job *job, Strip *strip, const Ring *ring, bool chroma, uint32_t y)
{
  CclCpuModel *self = job->model;
  const CclModel *base = self->base;
  const uint32_t next = clamp_row ((int64_t) y + AHEAD, base->height);
  size_t at = (size_t) y * self->blocks * 64;
  CclMotionRow row = {
    .step = job->step,
    .pace = ccl_motion_pace (job->step, y),
    .width = base->width,
    .blocks = self->blocks,
    .background = background_row (self, y),
    .noise = self->noise + at,
    .candidates = self->candidates + at,
    .counts = self->counts + at,
    .formers = self->formers + at,
    .visits = self->visits + at,
    .chroma = chroma ? strip->differs : NULL,
    .coloured = strip->coloured,
    .foreground = strip->foreground,
    .shadows = strip->shadows,
    .busy = strip->busy,
    .renewed = strip->renewed,
    .next_background = background_row (self, next),
    .next_noise = self->noise + (size_t) next * self->blocks * 64,
    .next_counts = self->counts + (size_t) next * self->blocks * 64,
    .next_learns = ccl_motion_pace (job->step, next),
  };

  if (row.pace)
    copy_row (self, copied_row (self, strip->old, y % OLD_ROWS), y);
  for (int i = 0; i < 5; i++) {
    uint32_t near = clamp_row ((int64_t) y + i - 2, base->height);

    row.values[i] = blurred_row (ring, near);
    row.backgrounds[i] = old_row (self, job->step, strip, near, y);
  }
  self->functions->luma_row (&row);
  if (row.pace)
    pad_background (row.background, base->width);
  strip->count += row.count;
  strip->n_shadows += row.n_shadows;
  strip->n_known += row.n_known;
  if (y % CCL_DRIFT_ROWS == 0)
    strip->luma[ccl_flicker_band (y, base->height)] +=
        self->functions->sum_row (row.values[2], base->width);
  write_bits (&self->masks[0], y, strip->foreground, self->blocks);
  if (base->config.shadows)
    write_bits (&self->masks[1], y, strip->shadows, self->blocks);
}

static void
do_strip (void *data, uint32_t index)
{
  const Job *job = data;
  CclCpuModel *self = job->model;
  const CclMotionFunctions *functions = self->functions;
  const bool chroma = self->base->config.format == CCL_MOTION_LUMA_420;
  Strip *strip = &self->strips[index];
  Ring rings[PLANES];
  CclMotionChromaRow row = {
    .step = job->step,
    .width = self->chroma_width,
    .blocks = self->chroma_blocks,
    .differs = strip->differs,
    .coloured = strip->coloured,
    .busy = strip->busy,
    .renewed = strip->renewed,
  };

  rings[0] = ccl_cpu_ring (job, strip->rows[0], 0, (int64_t) strip->top - 2);
  for (unsigned i = 1; chroma && i < PLANES; i++)
    rings[i] = ccl_cpu_ring (job, strip->rows[i], i, strip->top / 2);
  strip->count = strip->n_shadows = strip->n_known = 0;
  memset (strip->luma, 0, sizeof strip->luma);
  for (uint32_t y = strip->top; y < strip->bottom; y++) {
    ccl_cpu_ring_advance (&rings[0], y + 2, functions, strip->columns + CCL_MOTION_MARGIN);
    if (chroma && y % 2 == 0) {
      size_t next = clamp_row (y / 2 + 1, self->chroma_height);

      for (unsigned i = 0; i < 2; i++) {
        ccl_cpu_ring_advance (&rings[i + 1], y / 2, functions, strip->columns + CCL_MOTION_MARGIN);
        row.values[i] = blurred_row (&rings[i + 1], y / 2);
        row.backgrounds[i] = self->chroma[i] + (size_t) (y / 2) * self->chroma_blocks * 64;
        row.next_backgrounds[i] = self->chroma[i] + next * self->chroma_blocks * 64;
      }
      row.pace = ccl_motion_pace (job->step, y);
      functions->chroma_differs (&row);
    }
    do_luma (job, strip, &rings[0], chroma, y);
    if (chroma && y % 2 == 0 && row.pace)
      functions->chroma_learn (&row);
  }
}

/* Sets *@memory; false without memory. */
static bool
allocate (CclAccount *account, uint64_t count, size_t size, void *memory)
{
  void *block = ccl_account_aligned (account, count, size, "a background model");

  memcpy (memory, &block, sizeof block);
  return block;
}

/* Strips begin with an even row, so that they share no row of chroma. */
static void
place_strip (CclCpuModel *self, uint32_t index)
{
  const uint64_t pairs = self->chroma_height;
  uint64_t bottom = pairs * (index + 1) / self->n_strips * 2;

  self->strips[index].top = (uint32_t) (pairs * index / self->n_strips * 2);
  self->strips[index].bottom = bottom < self->base->height ? (uint32_t) bottom : self->base->height;
}

static bool
allocate_strip (CclCpuModel *self, Strip *strip, CclAccount *account)
{
  const size_t row = row_samples (self->blocks), chroma_row = row_samples (self->chroma_blocks);
  const size_t words = 2 * (size_t) self->chroma_blocks; /* at least luma's blocks */
  bool ok = true;

#define ALLOCATE(member, count) \
  ok = ok && allocate (account, count, sizeof *strip->member, &strip->member);
  STRIP_BUFFERS (ALLOCATE)
#undef ALLOCATE
  return ok;
}

static void
free_strip (Strip *strip)
{
#define FREE(member, count) ccl_aligned_free (strip->member);
  STRIP_BUFFERS (FREE)
#undef FREE
}

static bool
allocate_state (CclCpuModel *self, CclAccount *account)
{
  const uint64_t rows = self->base->height, block_rows = rows * self->blocks;
  const uint64_t chroma_block_rows = (uint64_t) self->chroma_height * self->chroma_blocks;
  const bool chroma = self->base->config.format == CCL_MOTION_LUMA_420;
  uint8_t **planes[] = { &self->noise, &self->candidates, &self->counts, &self->formers,
                         &self->visits };
  bool ok = allocate (account, rows * row_samples (self->blocks), sizeof *self->background,
                      &self->background);

  for (unsigned i = 0; i < sizeof planes / sizeof *planes && ok; i++)
    ok = allocate (account, block_rows, 64, planes[i]);
  for (unsigned i = 0; chroma && i < 2 && ok; i++)
    ok = allocate (account, chroma_block_rows, 64 * sizeof *self->chroma[i], &self->chroma[i]) &&
         allocate (account, self->chroma_height, self->chroma_width, &self->aligned[i + 1]);
  return ok && allocate (account, rows, self->base->width, &self->aligned[0]);
}

static CclStatus
allocate_masks (CclCpuModel *self, CclAccount *account)
{
  const CclModel *base = self->base;
  CclStatus status = CCL_OK;

  for (unsigned i = 0; i <= base->config.shadows && status == CCL_OK; i++) {
    status = ccl_account_mask (account, base->width, base->height, &self->masks[i]);
    if (status == CCL_OK && base->config.scale > 1)
      status =
          ccl_account_mask (account, self->frame_width, self->frame_height, &self->enlarged[i]);
  }
  return status;
}

void
ccl_cpu_model_free (CclCpuModel *self)
{
  if (!self)
    return;
  for (uint32_t i = 0; self->strips && i < self->n_strips; i++)
    free_strip (&self->strips[i]);
  ccl_aligned_free (self->strips);
  ccl_aligned_free (self->tiles);
  ccl_aligned_free (self->background);
  for (unsigned i = 0; i < 2; i++) {
    ccl_aligned_free (self->chroma[i]);
    ccl_aligned_free (self->aligned[i + 1]);
    ccl_mask_free (&self->masks[i]);
    ccl_mask_free (&self->enlarged[i]);
  }
  ccl_aligned_free (self->aligned[0]);
  ccl_aligned_free (self->noise);
  ccl_aligned_free (self->candidates);
  ccl_aligned_free (self->counts);
  ccl_aligned_free (self->formers);
  ccl_aligned_free (self->visits);
  ccl_aligned_free (self);
}

uint32_t
ccl_cpu_model_strips (const CclModel *model, unsigned threads)
{
  uint32_t most = model->height / LEAST_ROWS;

  return most < 1 ? 1 : most < threads ? most : threads;
}

CclStatus
ccl_cpu_model_new (CclModel *model, const CclConfig *config, CclPool *pool, CclAccount *account,
                   CclCpuModel **created)
{
  const uint64_t before = account->bytes;
  CclCpuModel *self;
  bool ok;
  CclStatus status;

  if (!allocate (account, 1, sizeof *self, created))
    return CCL_ERROR_NO_MEMORY;
  self = *created;
  self->base = model;
  self->frame_width = config->width;
  self->frame_height = config->height;
  self->functions = ccl_cpu_functions_chosen ()->motion;
  self->pool = pool;
  self->chroma_width = ccl_model_half (model->width);
  self->chroma_height = ccl_model_half (model->height);
  self->blocks = (uint32_t) ccl_mask_words (model->width);
  self->chroma_blocks = (uint32_t) ccl_mask_words (self->chroma_width);
  self->n_strips = ccl_cpu_model_strips (model, config->threads);
  self->columns = ccl_light_tiles (model->width);
  self->rows = ccl_light_tiles (model->height);
  ok = allocate (account, self->n_strips, sizeof *self->strips, &self->strips) &&
       allocate (account, (uint64_t) self->columns * self->rows, sizeof *self->tiles, &self->tiles);
  for (uint32_t i = 0; i < self->n_strips && ok; i++) {
    place_strip (self, i);
    ok = allocate_strip (self, &self->strips[i], account);
  }
  ok = ok && allocate_state (self, account);
  status = ok ? allocate_masks (self, account) : CCL_ERROR_NO_MEMORY;
  model->bytes = account->bytes - before;
  return status;
}

static void
clear_mask (CclMask *mask)
{
  for (uint32_t y = 0; y < mask->height; y++)
    memset (mask->words + y * mask->pitch, 0, ccl_mask_words (mask->width) * sizeof *mask->words);
}

/* Repeats each of the lowest 64 / @scale bits @scale times; 2 or 4. */
static uint64_t
repeat_bits (uint64_t bits, unsigned scale)
{
  if (scale == 2) {
    bits &= 0xffffffff;
    bits = (bits | bits << 16) & UINT64_C (0x0000ffff0000ffff);
    bits = (bits | bits << 8) & UINT64_C (0x00ff00ff00ff00ff);
    bits = (bits | bits << 4) & UINT64_C (0x0f0f0f0f0f0f0f0f);
    bits = (bits | bits << 2) & UINT64_C (0x3333333333333333);
    bits = (bits | bits << 1) & UINT64_C (0x5555555555555555);
    return bits * 3;
  }
  bits &= 0xffff;
  bits = (bits | bits << 24) & UINT64_C (0x000000ff000000ff);
  bits = (bits | bits << 12) & UINT64_C (0x000f000f000f000f);
  bits = (bits | bits << 6) & UINT64_C (0x0303030303030303);
  bits = (bits | bits << 3) & UINT64_C (0x1111111111111111);
  return bits * 15;
}

static void
enlarge (const CclMask *small, CclMask *large, unsigned scale)
{
  size_t words = ccl_mask_words (large->width);

  for (uint32_t y = 0; y < large->height; y++) {
    const uint64_t *from = small->words + y / scale * small->pitch;
    uint64_t *to = large->words + y * large->pitch;

    if (y % scale > 0) {
      memcpy (to, to - large->pitch, words * sizeof *to);
      continue;
    }
    for (size_t i = 0; i < words; i++)
      to[i] = repeat_bits (from[i / scale] >> (i % scale * (64 / scale)), scale);
    to[words - 1] &= ccl_mask_last_bits (large->width);
  }
}

static void
fade (CclCpuModel *self)
{
  const size_t n = (size_t) self->base->height * self->blocks * 64;

  for (size_t i = 0; i < n; i++)
    self->visits[i] = (uint8_t) ccl_motion_fade (&self->base->step, self->visits[i]);
}

void
ccl_cpu_model_apply (CclCpuModel *self, const CclImage *image)
{
  CclModel *base = self->base;
  Job job = { .model = self,
              .step = &base->step,
              .image = image,
              .width = self->frame_width,
              .height = self->frame_height,
              .scale = base->config.scale };

  base->flickers = base->far = false;
  if (base->step.flicker != CCL_FLICKER_NONE)
    ccl_cpu_model_find_flicker (&job);
  base->moved = (CclShift){ 0, 0 };
  if (base->step.align == CCL_SHAKE_ALIGN)
    ccl_cpu_model_align (&job);
  else if (base->step.align == CCL_SHAKE_SEARCH)
    base->moved = ccl_cpu_model_search (&job);
  base->shift = job.shift;
  base->relit = base->step.light > CCL_MOTION_DRIFT && ccl_cpu_model_relight (&job);
  base->levels = (CclDriftLevels){ 0, 0 };
  if (base->step.light == CCL_MOTION_DRIFT)
    ccl_cpu_model_follow_drift (&job);

  if (base->step.fades)
    fade (self);

  for (uint32_t i = 0; self->n_strips > 1 && i < self->n_strips; i++)
    save_edges (self, &self->strips[i]);
  ccl_pool_run (self->pool, do_strip, &job, self->n_strips);
  base->foreground = base->n_shadows = base->known = 0;
  memset (base->luma, 0, sizeof base->luma);
  for (uint32_t i = 0; i < self->n_strips; i++) {
    base->foreground += self->strips[i].count;
    base->n_shadows += self->strips[i].n_shadows;
    base->known += self->strips[i].n_known;
    for (int k = 0; k < CCL_FLICKER_BANDS; k++)
      base->luma[k] += self->strips[i].luma[k];
  }
  for (unsigned i = 0; i <= base->config.shadows; i++) {
    if (base->silent || base->foreground > base->most)
      clear_mask (&self->masks[i]);
    else if (ccl_shake_moves (job.shift))
      ccl_cpu_model_move (&self->masks[i], job.shift);
    if (base->config.scale > 1)
      enlarge (&self->masks[i], &self->enlarged[i], base->config.scale);
  }
}

static const CclMask *
find_mask (const CclCpuModel *self, unsigned i)
{
  return self->base->config.scale > 1 ? &self->enlarged[i] : &self->masks[i];
}

const CclMask *
ccl_cpu_model_mask (const CclCpuModel *self)
{
  return find_mask (self, 0);
}

const CclMask *
ccl_cpu_model_shadows (const CclCpuModel *self)
{
  return find_mask (self, 1);
}

void
ccl_cpu_model_background (const CclCpuModel *self, uint8_t *pixels, size_t stride)
{
  for (uint32_t y = 0; y < self->base->height; y++) {
    const uint16_t *row = background_row (self, y);

    for (uint32_t x = 0; x < self->base->width; x++)
      pixels[y * stride + x] = ccl_motion_level (row[x]);
  }
}
