/* cudaccl - background models: the reference, what every backend must reproduce
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/reference/motion.h"
#include "engine/motion/drift.h"
#include "engine/motion/flicker.h"
#include "engine/motion/shake.h"

#include <stdlib.h>
#include <string.h>

#define SHADOW 127
#define LIT 254 /* foreground, in the end */
#define FOREGROUND 255

/* Samples of one kind. */
typedef struct Plane
{
  uint32_t width, height;
  uint8_t *values; /* the frame's, blurred */
  uint8_t *raw;    /* the frame's */
  uint16_t *background, *old;
} Plane;

struct CclMotionReference
{
  CclMotionConfig config;
  uint32_t width, height; /* of frames */
  CclMotionClock clock;
  Plane planes[3]; /* luma and both of chroma */
  uint8_t *noise, *candidates, *counts, *formers, *visits, *kinds;
  bool *chroma_differs;
  bool *renewed;          /* the candidate became the background */
  bool *known;            /* ccl_motion_knows() */
  uint32_t columns, rows; /* of tiles */
  CclLightTile *tiles;
  CclFlicker flicker;
};

static size_t
plane_size (const Plane *plane)
{
  return (size_t) plane->width * plane->height;
}

static uint32_t
clamp (int64_t x, uint32_t n)
{
  return x < 0 ? 0 : x >= n ? n - 1 : (uint32_t) x;
}

static size_t
at (const Plane *plane, int64_t x, int64_t y)
{
  return (size_t) clamp (y, plane->height) * plane->width + clamp (x, plane->width);
}

static bool
plane_init (Plane *plane, uint32_t width, uint32_t height)
{
  size_t size = (size_t) width * height;

  plane->width = width;
  plane->height = height;
  plane->values = calloc (size, 1);
  plane->raw = calloc (size, 1);
  plane->background = calloc (size, sizeof *plane->background);
  plane->old = calloc (size, sizeof *plane->old);
  return plane->values && plane->raw && plane->background && plane->old;
}

/* The rounded mean of @scale by @scale samples, fewer at the right and bottom. */
static void
plane_read (Plane *plane, const CclImage *image, unsigned step, uint32_t width, uint32_t height,
            unsigned scale)
{
  for (uint32_t y = 0; y < plane->height; y++) {
    for (uint32_t x = 0; x < plane->width; x++) {
      unsigned sum = 0, n = 0;

      for (uint32_t v = y * scale; v < height && v < (y + 1) * scale; v++) {
        for (uint32_t u = x * scale; u < width && u < (x + 1) * scale; u++, n++)
          sum += image->data[v * image->stride + (size_t) u * step];
      }
      plane->raw[at (plane, x, y)] = (uint8_t) ((sum + n / 2) / n);
    }
  }
}

/* The sample that the frame shows for one of the background, which it may be itself. */
static int
shown (const Plane *plane, uint32_t x, uint32_t y, int dx, int dy)
{
  if (ccl_shake_shows (x, dx, plane->width) && ccl_shake_shows (y, dy, plane->height))
    return plane->raw[at (plane, (int64_t) x + dx, (int64_t) y + dy)];
  return ccl_motion_level (plane->background[at (plane, x, y)]);
}

/* Moves the frame. The blurred values are not known yet: they hold the result for a moment. */
static void
plane_align (Plane *plane, bool chroma, CclShift shift)
{
  CclShift low, high;

  ccl_shake_bounds (shift, chroma, &low, &high);
  for (uint32_t y = 0; y < plane->height; y++) {
    for (uint32_t x = 0; x < plane->width; x++)
      plane->values[at (plane, x, y)] =
          (uint8_t) ccl_motion_average (ccl_motion_average (shown (plane, x, y, low.x, low.y),
                                                            shown (plane, x, y, high.x, low.y)),
                                        ccl_motion_average (shown (plane, x, y, low.x, high.y),
                                                            shown (plane, x, y, high.x, high.y)));
  }
  memcpy (plane->raw, plane->values, (size_t) plane->width * plane->height);
}

static int
blur_column (const Plane *plane, int64_t x, int64_t y)
{
  const uint8_t *raw = plane->raw;

  return ccl_motion_blur (raw[at (plane, x, y - 1)], raw[at (plane, x, y)],
                          raw[at (plane, x, y + 1)]);
}

static void
plane_blur (Plane *plane)
{
  for (uint32_t y = 0; y < plane->height; y++) {
    for (uint32_t x = 0; x < plane->width; x++)
      plane->values[at (plane, x, y)] = (uint8_t) ccl_motion_blur (
          blur_column (plane, (int64_t) x - 1, y), blur_column (plane, x, y),
          blur_column (plane, (int64_t) x + 1, y));
  }
}

static void
plane_free (Plane *plane)
{
  free (plane->values);
  free (plane->raw);
  free (plane->background);
  free (plane->old);
}

CclMotionReference *
ccl_motion_reference_new (const CclMotionConfig *config, uint32_t frame_width,
                          uint32_t frame_height)
{
  CclMotionReference *self = calloc (1, sizeof *self);
  uint32_t width = (frame_width + config->scale - 1) / config->scale;
  uint32_t height = (frame_height + config->scale - 1) / config->scale;
  size_t size = (size_t) width * height;
  bool ok;

  if (!self)
    return NULL;
  self->config = *config;
  self->width = frame_width;
  self->height = frame_height;
  ok = plane_init (&self->planes[0], width, height);
  for (int i = 1; i < 3; i++)
    ok = plane_init (&self->planes[i], (width + 1) / 2, (height + 1) / 2) && ok;
  self->noise = calloc (size, 1);
  self->candidates = calloc (size, 1);
  self->formers = calloc (size, 1);
  self->visits = calloc (size, 1);
  self->counts = calloc (size, 1);
  self->kinds = calloc (size, 1);
  self->renewed = calloc (size, sizeof *self->renewed);
  self->known = calloc (size, sizeof *self->known);
  self->chroma_differs = calloc (size, sizeof *self->chroma_differs);
  self->columns = ccl_light_tiles (width);
  self->rows = ccl_light_tiles (height);
  self->tiles = calloc ((size_t) self->columns * self->rows, sizeof *self->tiles);
  if (!ok || !self->noise || !self->candidates || !self->counts || !self->formers ||
      !self->visits || !self->kinds || !self->known || !self->renewed || !self->chroma_differs ||
      !self->tiles) {
    ccl_motion_reference_free (self);
    return NULL;
  }
  return self;
}

void
ccl_motion_reference_free (CclMotionReference *self)
{
  if (!self)
    return;
  for (int i = 0; i < 3; i++)
    plane_free (&self->planes[i]);
  free (self->noise);
  free (self->candidates);
  free (self->formers);
  free (self->visits);
  free (self->known);
  free (self->counts);
  free (self->kinds);
  free (self->renewed);
  free (self->chroma_differs);
  free (self->tiles);
  free (self);
}

void
ccl_motion_reference_reset (CclMotionReference *self)
{
  self->clock = (CclMotionClock){ 0 };
}

bool
ccl_motion_reference_flickers (const CclMotionReference *self)
{
  return self->clock.flicker != CCL_FLICKER_NONE;
}

static bool
is_shadow (const CclMotionStep *step, const Plane *luma, int64_t x, int64_t y)
{
  int values[CCL_MOTION_SHADOW_PIXELS], backgrounds[CCL_MOTION_SHADOW_PIXELS], n = 0;

  for (int v = -1; v <= 1; v++) {
    for (int u = -1; u <= 1; u++, n++) {
      size_t i = at (luma, x + u * CCL_MOTION_SHADOW_STEP, y + v * CCL_MOTION_SHADOW_STEP);

      values[n] = luma->values[i];
      backgrounds[n] = luma->old[i];
    }
  }
  return ccl_motion_keeps_texture (step, values, backgrounds);
}

static bool
is_coloured (const CclMotionReference *self, int64_t x, int64_t y)
{
  const Plane *u = &self->planes[1], *v = &self->planes[2];
  const size_t i = at (u, x / 2, y / 2);

  return ccl_motion_coloured (u->background[i], v->background[i]);
}

static uint8_t
kind_of_pixel (const CclMotionReference *self, const CclMotionStep *step, int64_t x, int64_t y)
{
  const Plane *luma = &self->planes[0];
  const uint16_t *old = luma->old;
  size_t i = at (luma, x, y);
  int slope = ccl_motion_slope (old[at (luma, x - 1, y)], old[at (luma, x + 1, y)],
                                old[at (luma, x, y - 1)], old[at (luma, x, y + 1)]);
  int difference = ccl_motion_distance (luma->values[i] * CCL_MOTION_ONE, old[i]);

  if (step->first)
    return 0;
  if (self->config.format == CCL_MOTION_LUMA_420 &&
      self->chroma_differs[at (&self->planes[1], x / 2, y / 2)])
    return FOREGROUND;
  if (difference <= ccl_motion_threshold (step, self->noise[i], slope))
    return 0;
  if (step->shadows && ccl_motion_shaded (step, luma->values[i], old[i]) &&
      is_shadow (step, luma, x, y))
    return SHADOW;
  if (self->config.format == CCL_MOTION_LUMA_420 && step->shadows && is_coloured (self, x, y) &&
      ccl_motion_lit (step, luma->values[i], old[i]) && is_shadow (step, luma, x, y))
    return LIT;
  return FOREGROUND;
}

static void
learn_pixel (CclMotionReference *self, const CclMotionStep *step, size_t i)
{
  const CclMotionPace *pace = ccl_motion_pace (step, (uint32_t) (i / self->planes[0].width));
  Plane *luma = &self->planes[0];
  CclMotionPixel pixel = { luma->old[i],    self->noise[i],   self->candidates[i],
                           self->counts[i], self->formers[i], self->visits[i] };
  const bool seen = self->kinds[i] == FOREGROUND || (self->kinds[i] == LIT && !step->shady);

  if (!pace)
    return;
  self->renewed[i] = step->first;
  if (step->first)
    ccl_motion_begin_pixel (&pixel, luma->values[i]);
  else if (self->kinds[i])
    self->renewed[i] = ccl_motion_learn_candidate (step, pace,
                                                   self->kinds[i] == SHADOW ? pace->shadow_count
                                                   : self->kinds[i] == LIT  ? pace->lit_count
                                                                            : pace->count,
                                                   self->kinds[i] == FOREGROUND && !step->shady,
                                                   seen, &pixel, luma->values[i]);
  else
    ccl_motion_learn_background (pace, &pixel, luma->values[i]);
  luma->background[i] = (uint16_t) pixel.background;
  self->noise[i] = (uint8_t) pixel.noise;
  self->candidates[i] = (uint8_t) pixel.candidate;
  self->counts[i] = (uint8_t) pixel.count;
  self->formers[i] = (uint8_t) pixel.former;
  self->visits[i] = (uint8_t) pixel.visits;
}

/* Samples of chroma do what the luma pixel at their top left does. */
static void
learn_sample (CclMotionReference *self, const CclMotionStep *step, Plane *plane, uint32_t x,
              uint32_t y)
{
  size_t i = at (plane, x, y), pixel = at (&self->planes[0], 2 * (int64_t) x, 2 * (int64_t) y);
  const CclMotionPace *pace = ccl_motion_pace (step, 2 * y);

  if (!pace)
    return;
  if (self->renewed[pixel])
    plane->background[i] = (uint16_t) (plane->values[i] * CCL_MOTION_ONE);
  else if (!self->kinds[pixel])
    plane->background[i] =
        (uint16_t) ccl_motion_follow (pace, plane->background[i], plane->values[i]);
}

/* Counts the pixels of a tile; with @counts, those of each bin and level, else those that its curve
 * explains. */
static void
count_tile (const CclMotionReference *self, const CclMotionStep *step, const CclLightTile *tile,
            CclLightCount *count, uint32_t (*counts)[CCL_LIGHT_LEVELS])
{
  const Plane *luma = &self->planes[0];
  const size_t index = (size_t) (tile - self->tiles);
  const uint32_t left = index % self->columns * CCL_LIGHT_TILE;
  const uint32_t top = (uint32_t) (index / self->columns) * CCL_LIGHT_TILE;

  for (uint32_t y = top; y < luma->height && y < top + CCL_LIGHT_TILE; y++) {
    for (uint32_t x = left; x < luma->width && x < left + CCL_LIGHT_TILE; x++) {
      size_t i = at (luma, x, y);
      int value = luma->values[i], background = luma->background[i];
      int bin = background / (8 * CCL_MOTION_ONE);

      if (counts) {
        count->pixels++;
        count->bins[bin]++;
        counts[bin][value / 2]++;
        continue;
      }
      count->explained += ccl_light_explains (value, ccl_light_follow (tile->curve, background));
      count->changed += ccl_light_differs (step, value, background) ||
                        (self->config.format == CCL_MOTION_LUMA_420 &&
                         self->chroma_differs[at (&self->planes[1], x / 2, y / 2)]);
    }
  }
}

static void
measure_tile (const CclMotionReference *self, const CclMotionStep *step, CclLightTile *tile)
{
  uint32_t counts[CCL_LIGHT_BINS][CCL_LIGHT_LEVELS] = { 0 }, known = 0;
  uint8_t medians[CCL_LIGHT_BINS];
  CclLightCount count = { .pixels = 0 };

  *tile = (CclLightTile){ .flags = 0 };
  count_tile (self, step, tile, &count, counts);
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    uint32_t sum = 0;

    if (count.bins[bin] < ccl_light_least (count.pixels))
      continue;
    known |= UINT32_C (1) << bin;
    for (int level = CCL_LIGHT_LEVELS - 1; level >= 0; level--) {
      /* the lowest level that half of the pixels do not exceed */
      if (2 * sum <= count.bins[bin])
        medians[bin] = (uint8_t) (2 * level + 1);
      sum += counts[bin][level];
    }
  }
  if (known == 0)
    return;
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++)
    tile->curve[bin] = ccl_light_level (medians, known, bin);
  count_tile (self, step, tile, &count, NULL);
  tile->flags = ccl_light_judge (step, &count, tile->curve);
}

static void
relight_pixel (CclMotionReference *self, uint32_t x, uint32_t y, const uint8_t *curve,
               CclLightPlace place)
{
  Plane *luma = &self->planes[0];
  size_t i = at (luma, x, y);
  int value = luma->values[i], background = luma->background[i];
  int level = ccl_light_follow (curve, background);
  bool takes = ccl_light_takes (place, value, background, level);

  if (place == CCL_LIGHT_FADING && !takes)
    return;
  luma->background[i] = (uint16_t) (takes ? value * CCL_MOTION_ONE : level);
  self->noise[i] = CCL_MOTION_FIRST_NOISE;
  self->counts[i] = 0;
  self->visits[i] = 0;
  if (self->config.format != CCL_MOTION_LUMA_420 || x % 2 == 1 || y % 2 == 1)
    return;
  for (int k = 1; k < 3; k++) {
    Plane *plane = &self->planes[k];
    size_t sample = at (plane, x / 2, y / 2);

    plane->background[sample] =
        (uint16_t) (takes ? plane->values[sample] * CCL_MOTION_ONE
                          : ccl_light_chroma (plane->background[sample], background, level));
  }
}

static void
relight_tile (CclMotionReference *self, uint32_t left, uint32_t top, const uint8_t *curve,
              CclLightPlace place)
{
  const Plane *luma = &self->planes[0];

  for (uint32_t y = top; y < luma->height && y < top + CCL_LIGHT_TILE; y++) {
    for (uint32_t x = left; x < luma->width && x < left + CCL_LIGHT_TILE; x++)
      relight_pixel (self, x, y, curve, place);
  }
}

/* Returns whether the light has changed. */
static bool
relight (CclMotionReference *self, const CclMotionStep *step)
{
  const uint32_t n = self->columns * self->rows;
  CclLightTotal total = { .votes = 0 };
  uint8_t mean[CCL_LIGHT_BINS];

  for (uint32_t i = 0; i < n; i++) {
    CclLightTile *tile = &self->tiles[i];

    measure_tile (self, step, tile);
    ccl_light_add (&total, tile);
  }
  if (!ccl_light_changed (step, &total, n))
    return false;
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++)
    mean[bin] = ccl_light_mean (&total, bin);
  for (uint32_t row = 0; row < self->rows; row++) {
    for (uint32_t column = 0; column < self->columns; column++) {
      const CclLightTile *tile = &self->tiles[row * self->columns + column];
      CclLightPlace place = ccl_light_place (self->tiles, (int) self->columns, (int) self->rows,
                                             (int) column, (int) row);

      if (place != CCL_LIGHT_ELSEWHERE)
        relight_tile (self, column * CCL_LIGHT_TILE, row * CCL_LIGHT_TILE,
                      tile->flags & CCL_LIGHT_LIT ? tile->curve : mean, place);
    }
  }
  return true;
}

static void
shift_background (CclMotionReference *self, const CclDrift *drift)
{
  const bool chroma = self->config.format == CCL_MOTION_LUMA_420;
  Plane *luma = &self->planes[0];

  for (int k = 1; chroma && k < 3; k++) {
    Plane *plane = &self->planes[k];

    for (size_t i = 0; i < plane_size (plane); i++) {
      const size_t x = i % plane->width, y = i / plane->width;

      plane->background[i] = (uint16_t) ccl_drift_chroma (
          drift, plane->background[i],
          luma->background[at (luma, 2 * (int64_t) x, 2 * (int64_t) y)]);
    }
  }
  for (size_t i = 0; i < plane_size (luma); i++) {
    luma->background[i] = (uint16_t) ccl_drift_background (drift, luma->background[i]);
    self->candidates[i] = (uint8_t) ccl_drift_candidate (drift, self->candidates[i]);
    self->formers[i] = (uint8_t) ccl_drift_candidate (drift, self->formers[i]);
  }
}

/* Shifts the background and the candidates if the whole picture has become brighter or darker. */
static void
follow_drift (CclMotionReference *self, CclMotionSeen *seen)
{
  uint32_t counters[CCL_DRIFT_RANGES * CCL_LIGHT_BINS] = { 0 }, known = 0, pixels = 0;
  Plane *luma = &self->planes[0];
  CclDriftBin bins[CCL_LIGHT_BINS];
  int shifts[CCL_LIGHT_BINS] = { 0 }, gain;
  CclDrift drift;

  for (uint32_t y = 0; y < luma->height; y += CCL_DRIFT_STEP) {
    for (uint32_t x = 0; x < luma->width; x += CCL_DRIFT_STEP, pixels++)
      counters[ccl_drift_counter (luma->values[at (luma, x, y)],
                                  luma->background[at (luma, x, y)])]++;
  }
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    bins[bin] = ccl_drift_bin (counters, bin);
    known |= (uint32_t) ccl_drift_knows (&bins[bin], pixels) << bin;
  }
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++)
    shifts[bin] = known >> bin & 1 ? ccl_drift_smooth (bins, known, bin) : 0;
  seen->levels = ccl_drift_levels (bins, known);
  if (!ccl_drift_is (bins, known, shifts))
    return;
  gain = ccl_drift_gain (bins, shifts, known);
  for (int level = 0; level < 256; level++)
    ccl_drift_set (&drift, level, shifts, known, gain);
  shift_background (self, &drift);
}

/* Sums up the pixels of a slice that show the background. */
static CclFlickerSlice
measure_slice (const Plane *luma, const CclMotionStep *step, uint32_t top)
{
  const uint32_t rows = ccl_flicker_rows (luma->height);
  const uint32_t down = ccl_flicker_step (rows, CCL_FLICKER_LINES);
  const uint32_t across = ccl_flicker_step (luma->width, CCL_FLICKER_COLUMNS);
  uint32_t counts[CCL_FLICKER_RATIOS] = { 0 }, pixels = 0, below = 0, explained = 0;
  CclFlickerSlice slice = { 0, 0 };
  int median = -1;

  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t y = top; y < luma->height && y < top + rows; y += down) {
      for (uint32_t x = 0; x < luma->width; x += across) {
        const int value = luma->raw[at (luma, x, y)],
                  background = luma->background[at (luma, x, y)];

        if (!ccl_flicker_counts (background))
          continue;
        if (pass == 0) {
          counts[ccl_flicker_ratio (value, background)]++;
          pixels++;
        } else if (ccl_flicker_explains (step, value, background, median)) {
          slice.value += (uint32_t) (value * CCL_MOTION_ONE);
          slice.background += (uint32_t) background;
          explained++;
        }
      }
    }
    /* the lowest ratio that at least half of the pixels do not exceed */
    while (pixels > 0 && 2 * below < pixels)
      below += counts[++median];
  }
  return ccl_flicker_knows (pixels, explained, median) ? slice : (CclFlickerSlice){ 0, 0 };
}

/* Divides the frame by the gains of the light. */
static void
remove_flicker (CclMotionReference *self, const CclMotionStep *step, CclMotionSeen *seen)
{
  const Plane *luma = &self->planes[0];
  const uint32_t height = luma->height;
  const int n = (int) ccl_flicker_slices (height);
  int flickers = 0, light;
  uint32_t sum = 0;

  for (int i = 0; i < n; i++)
    self->flicker.slices[i] = measure_slice (luma, step, (uint32_t) i * ccl_flicker_rows (height));
  for (int i = 0; i < n; i++) {
    flickers += ccl_flicker_set (&self->flicker, step, n, i);
    sum += self->flicker.means[i];
  }
  light = ccl_flicker_light (sum, n);
  seen->flickers = ccl_flicker_is (flickers, n);
  seen->far = !ccl_flicker_rebases (step) && ccl_flicker_far (light);
  if (ccl_flicker_rebases (step)) {
    CclDrift drift;

    for (int level = 0; level < 256; level++)
      ccl_flicker_drift (&drift, light, level);
    shift_background (self, &drift);
    for (int i = 0; i < n; i++)
      ccl_flicker_rebase (&self->flicker, step, light, i);
  }
  for (int k = 0; k < (self->config.format == CCL_MOTION_LUMA_420 ? 3 : 1); k++) {
    Plane *plane = &self->planes[k];

    for (size_t i = 0; i < plane_size (plane); i++) {
      const uint32_t y = (uint32_t) (i / plane->width);
      const int factor = ccl_flicker_factor (self->flicker.factors, k > 0 ? 2 * y : y, height);

      plane->raw[i] = (uint8_t) (k > 0 ? ccl_flicker_chroma (plane->raw[i], factor)
                                       : ccl_flicker_luma (plane->raw[i], factor));
    }
  }
}

/* The shift at which the frame fits the background best. */
static CclShift
find_shift (const Plane *luma)
{
  CclShakeSum sums[CCL_SHAKE_SUMS] = { 0 }, totals[CCL_SHAKE_SHIFTS];
  const int64_t reach = CCL_SHAKE_REACH;

  for (int i = 0; i < CCL_SHAKE_SHIFTS; i++) {
    const int64_t dx = i % CCL_SHAKE_SIDE - reach, dy = i / CCL_SHAKE_SIDE - reach;
    uint32_t row = 0;

    for (int64_t y = reach; y < luma->height - reach; y += ccl_shake_step (luma->height), row++) {
      CclShakeSum *sum = &sums[ccl_shake_band (row, luma->height) + (uint32_t) i];

      for (int64_t x = reach; x < luma->width - reach; x++)
        *sum += ccl_shake_difference (luma->raw[at (luma, x + dx, y + dy)],
                                      luma->background[at (luma, x, y)]);
    }
    totals[i] = ccl_shake_total (sums, i);
  }
  return ccl_shake_find (sums, totals);
}

/* The same in coarse pixels. */
static CclShift
find_displacement (const Plane *luma)
{
  const uint32_t size = ccl_shake_size (luma->width, luma->height);
  Plane coarse = { .width = 0 };
  CclShift shift = { 0, 0 };

  if (size > 1 && plane_init (&coarse, luma->width / size, luma->height / size)) {
    for (size_t i = 0; i < plane_size (&coarse); i++) {
      uint32_t value = 0, background = 0;

      for (uint32_t k = 0; k < size * size; k++) {
        const size_t pixel = at (luma, (int64_t) (i % coarse.width) * size + k % size,
                                 (int64_t) (i / coarse.width) * size + k / size);

        value += luma->raw[pixel];
        background += luma->background[pixel] / CCL_MOTION_ONE;
      }
      coarse.raw[i] = (uint8_t) ccl_shake_mean (value, size);
      coarse.background[i] = (uint16_t) (ccl_shake_mean (background, size) * CCL_MOTION_ONE);
    }
    shift = find_shift (&coarse);
  }
  plane_free (&coarse);
  return shift;
}

/* Moves kinds of pixels to where the frame has them. */
static void
move_kinds (const CclMotionReference *self, CclShift shift, uint8_t *pixels)
{
  const Plane *luma = &self->planes[0];

  for (uint32_t y = 0; y < luma->height; y++) {
    for (uint32_t x = 0; x < luma->width; x++)
      pixels[at (luma, x, y)] =
          ccl_shake_shows (x, -shift.x, luma->width) && ccl_shake_shows (y, -shift.y, luma->height)
              ? self->kinds[at (luma, (int64_t) x - shift.x, (int64_t) y - shift.y)]
              : 0;
  }
}

static void
see_brightness (const Plane *luma, CclMotionSeen *seen)
{
  uint64_t sums[CCL_FLICKER_BANDS] = { 0 }, sum = 0;

  for (uint32_t y = 0; y < luma->height; y += CCL_DRIFT_ROWS) {
    for (uint32_t x = 0; x < luma->width; x++) {
      sums[ccl_flicker_band (y, luma->height)] += luma->values[at (luma, x, y)];
      sum += luma->values[at (luma, x, y)];
    }
  }
  seen->brightness = ccl_drift_brightness (sum, luma->width, luma->height);
  ccl_flicker_levels (sums, luma->width, luma->height, seen->bands);
}

static void
compare_chroma (CclMotionReference *self, const CclMotionStep *step)
{
  const Plane *u = &self->planes[1], *v = &self->planes[2];

  for (size_t i = 0; i < plane_size (u); i++)
    self->chroma_differs[i] = ccl_motion_chroma_differs (step, u->values[i], v->values[i],
                                                         u->background[i], v->background[i]);
}

void
ccl_motion_reference_apply (CclMotionReference *self, const CclParams *frame, const CclImage *image,
                            uint8_t *pixels)
{
  const CclMotionConfig *config = &self->config;
  const CclMotionParams *params = &frame->motion;
  const CclMotionStep step = ccl_motion_clock_tick (&self->clock, params, frame->elapsed);
  const bool chroma = config->format == CCL_MOTION_LUMA_420;
  Plane *luma = &self->planes[0], *u = &self->planes[1];
  CclMotionSeen seen = { .pixels = plane_size (luma),
                         .coarse = ccl_shake_size (luma->width, luma->height) };

  plane_read (luma, image, 1, self->width, self->height, config->scale);
  for (int i = 1; chroma && i < 3; i++)
    plane_read (&self->planes[i], &image->chroma->planes[i - 1], image->chroma->step,
                (self->width + 1) / 2, (self->height + 1) / 2, config->scale);
  if (step.flicker != CCL_FLICKER_NONE)
    remove_flicker (self, &step, &seen);
  if (step.align == CCL_SHAKE_ALIGN)
    seen.shift = find_shift (luma);
  else if (step.align == CCL_SHAKE_SEARCH)
    seen.moved = find_displacement (luma);
  for (int i = 0; i < (chroma ? 3 : 1); i++) {
    if (ccl_shake_moves (seen.shift))
      plane_align (&self->planes[i], i > 0, seen.shift);
    plane_blur (&self->planes[i]);
  }
  if (chroma)
    compare_chroma (self, &step);
  see_brightness (luma, &seen);
  if (step.light == CCL_MOTION_DRIFT)
    follow_drift (self, &seen);
  else if (step.light != CCL_MOTION_STEADY)
    seen.relit = relight (self, &step);
  for (size_t i = 0; step.fades && i < plane_size (luma); i++)
    self->visits[i] = (uint8_t) ccl_motion_fade (&step, self->visits[i]);
  if (chroma)
    compare_chroma (self, &step);
  memcpy (luma->old, luma->background, plane_size (luma) * sizeof *luma->old);
  for (uint32_t y = 0; y < luma->height; y++) {
    for (uint32_t x = 0; x < luma->width; x++)
      self->kinds[at (luma, x, y)] = kind_of_pixel (self, &step, x, y);
  }
  for (size_t i = 0; i < plane_size (luma); i++) {
    const CclMotionPace *pace = ccl_motion_pace (&step, (uint32_t) (i / luma->width));

    self->known[i] = (self->kinds[i] == FOREGROUND || (self->kinds[i] == LIT && !step.shady)) &&
                     ccl_motion_knows (&step, self->formers[i], self->visits[i], luma->values[i]);
    seen.known += self->known[i] && pace && pace->count > 0;
  }
  for (size_t i = 0; step.learn && i < plane_size (luma); i++)
    learn_pixel (self, &step, i);
  for (int k = 1; step.learn && chroma && k < 3; k++) {
    for (uint32_t y = 0; y < u->height; y++)
      for (uint32_t x = 0; x < u->width; x++)
        learn_sample (self, &step, &self->planes[k], x, y);
  }
  for (size_t i = 0; i < plane_size (luma); i++) {
    if (self->kinds[i] == LIT)
      self->kinds[i] = step.shady ? SHADOW : FOREGROUND;
    if (step.waves && self->known[i])
      self->kinds[i] = 0;
    seen.foreground += self->kinds[i] == FOREGROUND;
    seen.shadows += self->kinds[i] == SHADOW;
  }
  move_kinds (self, seen.shift, pixels);
  seen.light_change = seen.foreground > ccl_motion_most (params, plane_size (luma));
  if (seen.light_change || self->clock.age < params->warm_up)
    memset (pixels, 0, plane_size (luma));
  ccl_motion_clock_judge (&self->clock, params->freeze, frame->elapsed, &seen);
}

void
ccl_motion_reference_background (const CclMotionReference *self, uint8_t *pixels)
{
  const Plane *luma = &self->planes[0];

  for (size_t i = 0; i < plane_size (luma); i++)
    pixels[i] = ccl_motion_level (luma->background[i]);
}
