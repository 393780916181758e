/* cudaccl - CPU backend: background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A strip of rows is processed from top to bottom, row by row: rings hold a few blurred rows of the
 * frame, and the state is read and written once. Comparisons with neighbouring rows use the
 * background from before the frame, so rows that learn are copied first. */

#include "engine/cpu/motion.h"
#include "engine/cpu/motion_functions.h"
#include "engine/cpu/tuning.h"
#include "engine/motion_drift.h"

#include <stdlib.h>
#include <string.h>

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
  uint64_t count, n_shadows; /* pixels of the last frame */
  uint64_t luma;             /* its sum, see ccl_drift_brightness() */
  uint32_t *counters;        /* see ccl_drift_counter() */
  uint8_t *tiles;            /* the frame, blurred: a row of tiles, luma and both of chroma */
} Strip;

struct CclCpuModel
{
  CclModel *base;
  uint32_t frame_width, frame_height;
  const CclMotionFunctions *functions;
  CclPool *pool; /* the owner's */
  uint32_t chroma_width, chroma_height;
  uint32_t blocks, chroma_blocks;
  uint16_t *background;                 /* of luma, with margins */
  uint8_t *noise, *candidates, *counts; /* of luma, rows of whole blocks */
  uint16_t *chroma[2];                  /* backgrounds, likewise */
  uint32_t n_strips;
  Strip *strips;
  uint32_t columns, rows; /* of tiles */
  CclLightTile *tiles;
  /* Foreground and shadows; no words: not wanted, or the scale is 1. */
  CclMask masks[2];    /* of the model's size */
  CclMask enlarged[2]; /* of the frame's */
};

/* A frame. */
typedef struct Job
{
  CclCpuModel *model;
  const CclMotionStep *step;
  const CclImage *image;
  uint8_t mean[CCL_LIGHT_BINS]; /* of the curves of lit tiles */
  CclDrift drift;
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
background_row (const CclCpuModel *self, uint32_t y)
{
  return self->background + y * row_samples (self->blocks) + CCL_MOTION_MARGIN;
}

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
  const CclCpuModel *self = job->model;
  const CclChroma *chroma = job->image->chroma;
  bool luma = plane == 0;
  Ring ring = {
    .image = luma ? job->image : &chroma->planes[plane - 1],
    .step = luma ? 1 : chroma->step,
    .width = luma ? self->base->width : self->chroma_width,
    .height = luma ? self->base->height : self->chroma_height,
    .samples = luma ? self->frame_width : ccl_model_half (self->frame_width),
    .lines = luma ? self->frame_height : ccl_model_half (self->frame_height),
    .blocks = luma ? self->blocks : self->chroma_blocks,
    .raw_rows = rows,
  };

  ring.blurred_rows = rows + RAW_ROWS * row_samples (ring.blocks);
  ring.blurred = clamp_row (y, ring.height);
  ring.raw = clamp_row ((int64_t) ring.blurred - 1, ring.height);
  return ring;
}

static void
pad_background (uint16_t *row, uint32_t width)
{
  row[-2] = row[-1] = row[0];
  row[width] = row[width + 1] = row[width - 1];
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
  if (row.pace)
    pad_background (row.background, base->width);
  strip->count += row.count;
  strip->n_shadows += row.n_shadows;
  if (y % CCL_DRIFT_ROWS == 0)
    strip->luma += self->functions->sum_row (row.values[2], base->width);
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
  const unsigned scale = self->base->config.scale;
  const bool chroma = self->base->config.format == CCL_MOTION_LUMA_420;
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
  strip->count = strip->n_shadows = strip->luma = 0;
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

/* A change of light */

static unsigned
n_planes (const CclCpuModel *self)
{
  return self->base->config.format == CCL_MOTION_LUMA_420 ? PLANES : 1;
}

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
    Ring ring = ring_of (job, strip->rows[plane], plane, top);

    for (uint32_t y = top; y < top + height && y < ring.height; y++) {
      ring_advance (&ring, y, self->functions, strip->columns + CCL_MOTION_MARGIN,
                    self->base->config.scale);
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

/* Returns whether the light has changed. */
static bool
relight (Job *job)
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
    Ring ring = ring_of (job, strip->rows[0], 0, y);

    ring_advance (&ring, y, self->functions, strip->columns + CCL_MOTION_MARGIN,
                  self->base->config.scale);
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
  int shifts[CCL_LIGHT_BINS] = { 0 };

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
  if (!ccl_drift_is (bins, known, shifts))
    return false;
  for (int level = 0; level < 256; level++)
    ccl_drift_set (&job->drift, level, shifts, known);
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

    for (unsigned i = 0; i + 1 < n_planes (self) && y % 2 == 0; i++) {
      uint16_t *samples = self->chroma[i] + (size_t) (y / 2) * self->chroma_blocks * 64;

      for (uint32_t x = 0; x < self->chroma_width; x++)
        samples[x] = (uint16_t) ccl_drift_chroma (&job->drift, samples[x], background[2 * x]);
    }
    for (uint32_t x = 0; x < self->base->width; x++) {
      background[x] = (uint16_t) ccl_drift_background (&job->drift, background[x]);
      candidates[x] = (uint8_t) ccl_drift_candidate (&job->drift, candidates[x]);
    }
    pad_background (background, self->base->width);
  }
}

static void
follow_drift (Job *job)
{
  CclCpuModel *self = job->model;

  ccl_pool_run (self->pool, count_drift, job, self->n_strips);
  if (find_drift (job))
    ccl_pool_run (self->pool, shift_strip, job, self->n_strips);
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
  size_t words = 2 * (size_t) self->chroma_blocks; /* no less than luma's blocks */
  size_t row = row_samples (self->blocks);
  uint64_t **bits[] = { &strip->foreground, &strip->shadows, &strip->renewed, &strip->differs };
  bool ok = true;

  for (unsigned i = 0; i < PLANES && ok; i++)
    ok = allocate (account, RAW_ROWS + BLURRED_ROWS,
                   row_samples (i == 0 ? self->blocks : self->chroma_blocks), &strip->rows[i]);
  for (unsigned i = 0; i < 4 && ok; i++)
    ok = allocate (account, words, sizeof **bits[i], bits[i]);
  return ok && allocate (account, row, sizeof *strip->columns, &strip->columns) &&
         allocate (account, OLD_ROWS * row, sizeof *strip->old, &strip->old) &&
         allocate (account, 2 * CCL_LIGHT_TILE * (uint64_t) self->blocks, 64, &strip->tiles) &&
         allocate (account, 2 * EDGE_ROWS * row, sizeof *strip->edges, &strip->edges) &&
         allocate (account, CCL_DRIFT_RANGES * CCL_LIGHT_BINS, sizeof *strip->counters,
                   &strip->counters);
}

static bool
allocate_state (CclCpuModel *self, CclAccount *account)
{
  const uint64_t rows = self->base->height, block_rows = rows * self->blocks;
  const uint64_t chroma_block_rows = (uint64_t) self->chroma_height * self->chroma_blocks;
  const bool chroma = self->base->config.format == CCL_MOTION_LUMA_420;
  uint8_t **planes[] = { &self->noise, &self->candidates, &self->counts };
  bool ok = allocate (account, rows * row_samples (self->blocks), sizeof *self->background,
                      &self->background);

  for (unsigned i = 0; i < 3 && ok; i++)
    ok = allocate (account, block_rows, 64, planes[i]);
  for (unsigned i = 0; chroma && i < 2 && ok; i++)
    ok = allocate (account, chroma_block_rows, 64 * sizeof *self->chroma[i], &self->chroma[i]);
  return ok;
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
  for (uint32_t i = 0; self->strips && i < self->n_strips; i++) {
    Strip *strip = &self->strips[i];

    for (unsigned k = 0; k < PLANES; k++)
      ccl_aligned_free (strip->rows[k]);
    ccl_aligned_free (strip->columns);
    ccl_aligned_free (strip->old);
    ccl_aligned_free (strip->edges);
    ccl_aligned_free (strip->tiles);
    ccl_aligned_free (strip->counters);
    ccl_aligned_free (strip->foreground);
    ccl_aligned_free (strip->shadows);
    ccl_aligned_free (strip->renewed);
    ccl_aligned_free (strip->differs);
  }
  ccl_aligned_free (self->strips);
  ccl_aligned_free (self->tiles);
  ccl_aligned_free (self->background);
  for (unsigned i = 0; i < 2; i++) {
    ccl_aligned_free (self->chroma[i]);
    ccl_mask_free (&self->masks[i]);
    ccl_mask_free (&self->enlarged[i]);
  }
  ccl_aligned_free (self->noise);
  ccl_aligned_free (self->candidates);
  ccl_aligned_free (self->counts);
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

void
ccl_cpu_model_apply (CclCpuModel *self, const CclImage *image)
{
  CclModel *base = self->base;
  Job job = { .model = self, .step = &base->step, .image = image };

  base->relit = base->step.light > CCL_MOTION_DRIFT && relight (&job);
  if (base->step.light == CCL_MOTION_DRIFT)
    follow_drift (&job);

  for (uint32_t i = 0; self->n_strips > 1 && i < self->n_strips; i++)
    save_edges (self, &self->strips[i]);
  ccl_pool_run (self->pool, do_strip, &job, self->n_strips);
  base->foreground = base->n_shadows = base->luma = 0;
  for (uint32_t i = 0; i < self->n_strips; i++) {
    base->foreground += self->strips[i].count;
    base->n_shadows += self->strips[i].n_shadows;
    base->luma += self->strips[i].luma;
  }
  for (unsigned i = 0; i <= base->config.shadows; i++) {
    if (base->silent || base->foreground > base->most)
      clear_mask (&self->masks[i]);
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
