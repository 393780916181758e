/* cudaccl - CPU backend: background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A strip of rows is processed from top to bottom, row by row: rings hold a few blurred rows of the
 * frame, and the state is read and written once. Comparisons with neighbouring rows use the
 * background from before the frame, so rows that learn are copied first. */

#include "engine/cpu/clock.h"
#include "engine/cpu/motion_functions.h"
#include "engine/cpu/pool.h"
#include "engine/cpu/tuning.h"
#include "engine/motion_backend.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64
#define RAW_ROWS 4
#define BLURRED_ROWS 8
#define OLD_ROWS 4
#define EDGE_ROWS 2 /* that the strips above and below read */
#define PLANES 3
#define LEAST_ROWS 16 /* of a strip */
#define AHEAD 3       /* rows between fetching state or pixels into the cache and using them */

/* Rows of a plane of the frame on their way through a strip. Row y is in slot y modulo the number
 * of slots. */
typedef struct Ring
{
  const CclImage *image;
  unsigned step;           /* bytes from sample to sample */
  uint32_t width, height;  /* of the plane */
  uint32_t samples, lines; /* of the frame */
  uint32_t blocks;
  uint32_t raw, blurred; /* the next rows to make */
  uint8_t *raw_rows, *blurred_rows;
} Ring;

/* A strip's memory. */
typedef struct Strip
{
  uint8_t *rows[PLANES];
  uint8_t *columns;
  uint16_t *old;   /* [OLD_ROWS] backgrounds before they learned */
  uint16_t *edges; /* [2 * EDGE_ROWS] the strip's first and last rows, likewise */
  uint64_t *foreground, *shadows, *renewed, *differs;
  uint32_t top, bottom;
  uint64_t count; /* foreground pixels of the last frame */
} Strip;

typedef struct CpuMotion
{
  CclMotionSession base;
  const CclMotionFunctions *functions;
  CclPool *pool;
  uint32_t chroma_width, chroma_height;
  uint32_t blocks, chroma_blocks;
  uint16_t *background;                 /* of luma, with margins */
  uint8_t *noise, *candidates, *counts; /* of luma, rows of whole blocks */
  uint16_t *chroma[2];                  /* backgrounds, likewise */
  uint32_t n_strips;
  Strip *strips;
  uint64_t foreground; /* of the last frame */
} CpuMotion;

/* A frame. */
typedef struct Job
{
  CpuMotion *motion;
  const CclMotionStep *step;
  const CclMotionImage *image;
  CclMask *mask, *shadows;
} Job;

/* Of a padded row of any type. The number of blocks is odd: rows a multiple of 4096 bytes apart
 * would share cache sets, and loads would wait for stores to the row above. */
static size_t
row_samples (uint32_t blocks)
{
  return (size_t) (blocks | 1) * 64 + 2 * CCL_MOTION_MARGIN;
}

static uint8_t *
raw_row (const Ring *ring, uint32_t y)
{
  return ring->raw_rows + (y % RAW_ROWS) * row_samples (ring->blocks) + CCL_MOTION_MARGIN;
}

static uint8_t *
blurred_row (const Ring *ring, uint32_t y)
{
  return ring->blurred_rows + (y % BLURRED_ROWS) * row_samples (ring->blocks) + CCL_MOTION_MARGIN;
}

static uint16_t *
background_row (const CpuMotion *self, uint32_t y)
{
  return self->background + y * row_samples (self->blocks) + CCL_MOTION_MARGIN;
}

/* A copy of a row of background. */
static uint16_t *
copied_row (const CpuMotion *self, uint16_t *rows, uint32_t slot)
{
  return rows + slot * row_samples (self->blocks) + CCL_MOTION_MARGIN;
}

static void
copy_row (const CpuMotion *self, uint16_t *copy, uint32_t y)
{
  size_t pixels = (size_t) self->base.width + 2 * CCL_MOTION_SHADOW_STEP;

  memcpy (copy - CCL_MOTION_SHADOW_STEP, background_row (self, y) - CCL_MOTION_SHADOW_STEP,
          pixels * sizeof *copy);
}

/* Keeps the rows of a strip that its neighbours read. */
static void
save_edges (CpuMotion *self, Strip *strip)
{
  for (uint32_t i = 0; i < EDGE_ROWS; i++) {
    copy_row (self, copied_row (self, strip->edges, i), strip->top + i);
    copy_row (self, copied_row (self, strip->edges, EDGE_ROWS + i), strip->bottom - EDGE_ROWS + i);
  }
}

/* Row @y as it was before the frame, seen from row @now of the strip. */
static const uint16_t *
old_row (const CpuMotion *self, const CclMotionStep *step, const Strip *strip, uint32_t y,
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

static uint32_t
clamp_row (int64_t y, uint32_t height)
{
  return y < 0 ? 0 : y >= height ? height - 1 : (uint32_t) y;
}

/* The mean of the samples of the frame that are sample @x, @y of the model: fewer at the edges. */
static uint8_t
mean_at (const Ring *ring, uint32_t x, uint32_t y, unsigned scale)
{
  const CclImage *image = ring->image;
  uint32_t top = y * scale, bottom = ring->lines - top < scale ? ring->lines : top + scale;
  uint32_t left = x * scale, right = ring->samples - left < scale ? ring->samples : left + scale;
  unsigned sum = 0, n = (bottom - top) * (right - left);

  for (uint32_t v = top; v < bottom; v++) {
    for (uint32_t u = left; u < right; u++)
      sum += image->data[v * image->stride + (size_t) u * ring->step];
  }
  return (uint8_t) ((sum + n / 2) / n);
}

static void
read_scaled_row (uint8_t *row, const Ring *ring, uint32_t y, const CclMotionFunctions *functions,
                 unsigned scale)
{
  const CclImage *image = ring->image;
  uint32_t top = y * scale;
  uint32_t whole = ring->lines - top < scale ? 0 : ring->samples / scale;

  functions->shrink_row (row, image->data + top * image->stride, image->stride, whole, scale,
                         ring->step);
  for (uint32_t x = whole; x < ring->width; x++)
    row[x] = mean_at (ring, x, y, scale);
}

/* Whether rows can be blurred right where they are. */
static bool
is_plain (const Ring *ring, unsigned scale)
{
  return ring->step == 1 && scale == 1;
}

static const uint8_t *
frame_row (const Ring *ring, uint32_t y, unsigned scale)
{
  return is_plain (ring, scale) ? ring->image->data + y * ring->image->stride : raw_row (ring, y);
}

/* Repeats the first and last samples outside. */
static void
pad_row (uint8_t *row, uint32_t width)
{
  row[-2] = row[-1] = row[0];
  row[width] = row[width + 1] = row[width - 1];
}

/* Makes row @y of what is blurred, if it is not in the frame as it is. */
static void
read_row (const Ring *ring, uint32_t y, const CclMotionFunctions *functions, unsigned scale)
{
  const CclImage *image = ring->image;
  const uint32_t next = clamp_row ((int64_t) y + AHEAD, ring->height);

  if (scale == 1)
    functions->take_alternate (raw_row (ring, y), image->data + y * image->stride,
                               image->data + next * image->stride, ring->width);
  else
    read_scaled_row (raw_row (ring, y), ring, y, functions, scale);
}

/* Makes blurred rows up to @y, at most to the end of the plane. */
static void
ring_advance (Ring *ring, uint32_t y, const CclMotionFunctions *functions, uint8_t *columns,
              unsigned scale)
{
  for (; ring->blurred <= y && ring->blurred < ring->height; ring->blurred++) {
    uint32_t above = clamp_row ((int64_t) ring->blurred - 1, ring->height);
    uint32_t below = clamp_row ((int64_t) ring->blurred + 1, ring->height);
    /* read_row() has fetched rows that are not plain */
    uint32_t next =
        is_plain (ring, scale) ? clamp_row ((int64_t) below + AHEAD, ring->height) : below;

    for (; !is_plain (ring, scale) && ring->raw <= below; ring->raw++)
      read_row (ring, ring->raw, functions, scale);
    functions->blur_row (blurred_row (ring, ring->blurred), columns, frame_row (ring, above, scale),
                         frame_row (ring, ring->blurred, scale), frame_row (ring, below, scale),
                         frame_row (ring, next, scale), ring->width);
    pad_row (blurred_row (ring, ring->blurred), ring->width);
  }
}

/* The ring of a plane for a strip whose first blurred row is @y. */
static Ring
ring_of (const Job *job, uint8_t *rows, unsigned plane, int64_t y)
{
  const CpuMotion *self = job->motion;
  const CclMotionConfig *config = &self->base.config;
  bool luma = plane == 0;
  Ring ring = {
    .image = luma ? &job->image->luma : &job->image->chroma[plane - 1],
    .step = luma ? 1 : job->image->chroma_step,
    .width = luma ? self->base.width : self->chroma_width,
    .height = luma ? self->base.height : self->chroma_height,
    .samples = luma ? config->width : config->width / 2 + config->width % 2,
    .lines = luma ? config->height : config->height / 2 + config->height % 2,
    .blocks = luma ? self->blocks : self->chroma_blocks,
    .raw_rows = rows,
  };

  ring.blurred_rows = rows + RAW_ROWS * row_samples (ring.blocks);
  ring.blurred = clamp_row (y, ring.height);
  ring.raw = clamp_row ((int64_t) ring.blurred - 1, ring.height);
  return ring;
}

static void
write_bits (CclMask *mask, uint32_t y, const uint64_t *bits, uint32_t words)
{
  memcpy (mask->words + y * mask->pitch, bits, words * sizeof *bits);
}

static void
do_luma (const Job *job, Strip *strip, const Ring *ring, bool chroma, uint32_t y)
{
  CpuMotion *self = job->motion;
  const CclMotionSession *base = &self->base;
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
    .chroma = chroma ? strip->differs : NULL,
    .foreground = strip->foreground,
    .shadows = strip->shadows,
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
  if (row.pace) {
    row.background[-2] = row.background[-1] = row.background[0];
    row.background[base->width] = row.background[base->width + 1] = row.background[base->width - 1];
  }
  strip->count += row.count;
  write_bits (job->mask, y, strip->foreground, self->blocks);
  if (job->shadows)
    write_bits (job->shadows, y, strip->shadows, self->blocks);
}

static void
do_strip (void *data, uint32_t index)
{
  const Job *job = data;
  CpuMotion *self = job->motion;
  const CclMotionFunctions *functions = self->functions;
  const unsigned scale = self->base.config.scale;
  const bool chroma = self->base.config.format == CCL_MOTION_LUMA_420;
  Strip *strip = &self->strips[index];
  Ring rings[PLANES];
  CclMotionChromaRow row = {
    .step = job->step,
    .width = self->chroma_width,
    .blocks = self->chroma_blocks,
    .differs = strip->differs,
    .foreground = strip->foreground,
    .shadows = strip->shadows,
    .renewed = strip->renewed,
  };

  rings[0] = ring_of (job, strip->rows[0], 0, (int64_t) strip->top - 2);
  for (unsigned i = 1; chroma && i < PLANES; i++)
    rings[i] = ring_of (job, strip->rows[i], i, strip->top / 2);
  strip->count = 0;
  for (uint32_t y = strip->top; y < strip->bottom; y++) {
    ring_advance (&rings[0], y + 2, functions, strip->columns + CCL_MOTION_MARGIN, scale);
    if (chroma && y % 2 == 0) {
      size_t next = clamp_row (y / 2 + 1, self->chroma_height);

      for (unsigned i = 0; i < 2; i++) {
        ring_advance (&rings[i + 1], y / 2, functions, strip->columns + CCL_MOTION_MARGIN, scale);
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

/* Allocates zeroed memory, aligned to cache lines. */
static CclStatus
allocate (CpuMotion *self, uint64_t count, size_t size, void *memory)
{
  uint64_t bytes;
  void *block;

  if (__builtin_mul_overflow (count, size, &bytes) ||
      posix_memalign (&block, ALIGNMENT, bytes) != 0)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory: %.1f MiB for a background model",
                     (double) count * (double) size / (1024 * 1024));
  memset (block, 0, bytes);
  memcpy (memory, &block, sizeof block);
  self->base.account.allocations++;
  self->base.account.bytes += bytes;
  return CCL_OK;
}

/* Strips begin with an even row, so that they share no row of chroma. */
static void
place_strip (CpuMotion *self, uint32_t index)
{
  const uint64_t pairs = self->chroma_height;
  uint64_t bottom = pairs * (index + 1) / self->n_strips * 2;

  self->strips[index].top = (uint32_t) (pairs * index / self->n_strips * 2);
  self->strips[index].bottom = bottom < self->base.height ? (uint32_t) bottom : self->base.height;
}

static CclStatus
allocate_strip (CpuMotion *self, Strip *strip)
{
  size_t words = 2 * (size_t) self->chroma_blocks; /* no less than luma's blocks */
  size_t row = row_samples (self->blocks);
  uint64_t **bits[] = { &strip->foreground, &strip->shadows, &strip->renewed, &strip->differs };
  CclStatus status = CCL_OK;

  for (unsigned i = 0; i < PLANES && status == CCL_OK; i++)
    status = allocate (self, RAW_ROWS + BLURRED_ROWS,
                       row_samples (i == 0 ? self->blocks : self->chroma_blocks), &strip->rows[i]);
  for (unsigned i = 0; i < 4 && status == CCL_OK; i++)
    status = allocate (self, words, sizeof **bits[i], bits[i]);
  if (status == CCL_OK)
    status = allocate (self, row, sizeof *strip->columns, &strip->columns);
  if (status == CCL_OK)
    status = allocate (self, OLD_ROWS * row, sizeof *strip->old, &strip->old);
  if (status == CCL_OK)
    status = allocate (self, 2 * EDGE_ROWS * row, sizeof *strip->edges, &strip->edges);
  return status;
}

static CclStatus
allocate_state (CpuMotion *self)
{
  const uint64_t rows = self->base.height, block_rows = rows * self->blocks;
  const uint64_t chroma_block_rows = (uint64_t) self->chroma_height * self->chroma_blocks;
  uint8_t **planes[] = { &self->noise, &self->candidates, &self->counts };
  CclStatus status = CCL_OK;

  status = allocate (self, rows * row_samples (self->blocks), sizeof *self->background,
                     &self->background);
  for (unsigned i = 0; i < 3 && status == CCL_OK; i++)
    status = allocate (self, block_rows, 64, planes[i]);
  for (unsigned i = 0; self->base.config.format == CCL_MOTION_LUMA_420 && i < 2 && status == CCL_OK;
       i++)
    status = allocate (self, chroma_block_rows, 64 * sizeof *self->chroma[i], &self->chroma[i]);
  return status;
}

static CclStatus
allocate_mask (CpuMotion *self, CclMask *mask, uint32_t width, uint32_t height)
{
  *mask =
      (CclMask){ .pitch = (ccl_mask_words (width) + 7) / 8 * 8, .width = width, .height = height };
  return allocate (self, mask->pitch * height, sizeof *mask->words, &mask->words);
}

static CclStatus
allocate_masks (CpuMotion *self)
{
  CclMotionSession *base = &self->base;
  CclStatus status = CCL_OK;

  for (unsigned i = 0; i < 2 && status == CCL_OK; i++) {
    status = allocate_mask (self, &base->masks[i], base->width, base->height);
    if (status == CCL_OK && base->config.scale > 1)
      status = allocate_mask (self, &base->enlarged[i], base->config.width, base->config.height);
  }
  return status;
}

static void
cpu_motion_close (CclMotionSession *session)
{
  CpuMotion *self = (CpuMotion *) session;

  ccl_pool_free (self->pool);
  for (uint32_t i = 0; self->strips && i < self->n_strips; i++) {
    Strip *strip = &self->strips[i];

    for (unsigned k = 0; k < PLANES; k++)
      free (strip->rows[k]);
    free (strip->columns);
    free (strip->old);
    free (strip->edges);
    free (strip->foreground);
    free (strip->shadows);
    free (strip->renewed);
    free (strip->differs);
  }
  free (self->strips);
  free (self->background);
  for (unsigned i = 0; i < 2; i++) {
    free (self->chroma[i]);
    free (self->base.masks[i].words);
    free (self->base.enlarged[i].words);
  }
  free (self->noise);
  free (self->candidates);
  free (self->counts);
  free (self);
}

static uint32_t
strips_for (const CclMotionSession *wanted, unsigned threads)
{
  uint32_t most = wanted->height / LEAST_ROWS;

  return most < 1 ? 1 : most < threads ? most : threads;
}

static CclStatus
cpu_motion_open (const CclMotionSession *wanted, CclMotionSession **session)
{
  const CclCpuFunctions *functions = ccl_cpu_functions_chosen ();
  CpuMotion *self = calloc (1, sizeof *self);
  unsigned threads = wanted->config.threads ? wanted->config.threads : ccl_pool_cpus ();
  CclStatus status;

  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a background model");
  self->base = *wanted;
  self->base.config.backend = CCL_BACKEND_CPU;
  self->functions = functions->motion;
  strcpy (self->base.device_name, functions->name);
  self->chroma_width = wanted->width / 2 + wanted->width % 2;
  self->chroma_height = wanted->height / 2 + wanted->height % 2;
  self->blocks = (uint32_t) ccl_mask_words (wanted->width);
  self->chroma_blocks = (uint32_t) ccl_mask_words (self->chroma_width);
  self->n_strips = strips_for (wanted, threads);
  status = allocate (self, self->n_strips, sizeof *self->strips, &self->strips);
  for (uint32_t i = 0; i < self->n_strips && status == CCL_OK; i++) {
    place_strip (self, i);
    status = allocate_strip (self, &self->strips[i]);
  }
  if (status == CCL_OK)
    status = allocate_state (self);
  if (status == CCL_OK)
    status = allocate_masks (self);
  if (status == CCL_OK && self->n_strips > 1)
    status = ccl_pool_new (self->n_strips, &self->base.account, &self->pool);
  if (status != CCL_OK) {
    cpu_motion_close (&self->base);
    return status;
  }
  *session = &self->base;
  return CCL_OK;
}

static bool
is_host (CclMemory memory)
{
  return memory == CCL_MEMORY_HOST || memory == CCL_MEMORY_PINNED;
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

static CclStatus
check_memory (const CpuMotion *self, const CclMotionJob *job)
{
  const CclMotionImage *image = job->image;
  bool readable = is_host (image->luma.memory);

  if (self->base.config.format == CCL_MOTION_LUMA_420)
    readable = readable && is_host (image->chroma[0].memory) && is_host (image->chroma[1].memory);
  if (!readable)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "the CPU cannot read device memory; copy the frame to the host first");
  if (!is_host (job->mask->memory))
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "the CPU cannot write to device memory; use a mask in host memory");
  return CCL_OK;
}

static CclStatus
cpu_motion_apply (CclMotionSession *session, const CclMotionJob *wanted)
{
  CpuMotion *self = (CpuMotion *) session;
  Job job = { self, &wanted->step, wanted->image, wanted->mask, wanted->shadows };
  CclMask *masks[2] = { wanted->mask, wanted->shadows };
  uint64_t start = session->config.timing ? ccl_cpu_now () : 0;
  CclStatus status = check_memory (self, wanted);

  if (status != CCL_OK)
    return status;
  for (uint32_t i = 0; self->n_strips > 1 && i < self->n_strips; i++)
    save_edges (self, &self->strips[i]);
  ccl_pool_run (self->pool, do_strip, &job, self->n_strips);
  self->foreground = 0;
  for (uint32_t i = 0; i < self->n_strips; i++)
    self->foreground += self->strips[i].count;
  for (unsigned i = 0; i < 2 && masks[i]; i++) {
    if (wanted->silent || self->foreground > wanted->most)
      clear_mask (masks[i]);
    if (wanted->enlarge)
      enlarge (masks[i], &session->enlarged[i], session->config.scale);
  }
  if (session->config.timing)
    session->time = ccl_cpu_now () - start;
  return CCL_OK;
}

static CclStatus
cpu_motion_finish (CclMotionSession *session, bool all, uint64_t *foreground)
{
  *foreground = ((CpuMotion *) session)->foreground;
  return CCL_OK;
}

static CclStatus
cpu_motion_read (CclMotionSession *session, const CclMask *from, CclMask *to)
{
  for (uint32_t y = 0; y < to->height; y++)
    memcpy (to->words + y * to->pitch, from->words + y * from->pitch,
            ccl_mask_words (to->width) * sizeof *to->words);
  return CCL_OK;
}

static CclStatus
cpu_motion_background (CclMotionSession *session, uint8_t *pixels, size_t stride)
{
  const CpuMotion *self = (const CpuMotion *) session;

  for (uint32_t y = 0; y < session->height; y++) {
    const uint16_t *row = background_row (self, y);

    for (uint32_t x = 0; x < session->width; x++)
      pixels[y * stride + x] = ccl_motion_level (row[x]);
  }
  return CCL_OK;
}

const CclMotionClass ccl_motion_cpu = {
  .id = CCL_BACKEND_CPU,
  .open = cpu_motion_open,
  .apply = cpu_motion_apply,
  .finish = cpu_motion_finish,
  .read = cpu_motion_read,
  .background = cpu_motion_background,
  .close = cpu_motion_close,
};
