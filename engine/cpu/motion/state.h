/* cudaccl - CPU backend: the state of a background model, and frames on their way through it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For the model's own files. */

#ifndef CCL_CPU_MOTION_STATE_H
#define CCL_CPU_MOTION_STATE_H

#include "engine/cpu/motion/functions.h"
#include "engine/cpu/pool.h"
#include "engine/motion/drift.h"
#include "engine/motion/flicker.h"
#include "engine/motion/model.h"
#include "engine/motion/shake.h"

#define RAW_ROWS 4
#define BLURRED_ROWS 8
#define OLD_ROWS 4
#define EDGE_ROWS 2 /* that the strips above and below read */
#define PLANES 3
#define AHEAD 3 /* rows between fetching state or pixels into the cache and using them */

/* Rows of a plane of the frame on their way through a strip. Row y is in slot y modulo the number
 * of slots. */
typedef struct Ring
{
  const CclImage *image;
  unsigned step;           /* bytes from sample to sample */
  uint32_t width, height;  /* of the plane */
  uint32_t samples, lines; /* of the frame */
  unsigned scale;          /* samples of the frame to one of the plane, either way */
  uint32_t blocks;
  uint32_t raw, blurred; /* the next rows to make */
  uint8_t *raw_rows, *blurred_rows;
  const uint16_t *factors; /* of ccl_flicker_factor(); NULL: the light is steady */
  uint32_t model_height;
  bool chroma;
} Ring;

/* A strip of rows, and its memory. One thread at a time has it. */
typedef struct Strip
{
  uint8_t *rows[PLANES];
  uint8_t *columns;
  uint16_t *old;   /* [OLD_ROWS] backgrounds before they learned */
  uint16_t *edges; /* [2 * EDGE_ROWS] the strip's first and last rows, likewise */
  uint64_t *foreground, *shadows, *busy, *renewed, *differs, *coloured;
  uint32_t top, bottom;
  uint64_t count, n_shadows, n_known; /* pixels of the last frame */
  uint64_t luma[CCL_FLICKER_BANDS];   /* see CclModel */
  uint32_t *counters;                 /* see ccl_drift_counter() */
  CclShakeSum sums[CCL_SHAKE_SUMS];   /* see ccl_shake_find() */
  uint8_t *tiles; /* the frame, blurred: a row of tiles, luma and both of chroma */
} Strip;

/* The buffers of a strip: X (member, number of elements). @row, @chroma_row: row_samples() of luma
 * and chroma; @words: of a row of bits. */
#define STRIP_BUFFERS(X)                                       \
  X (rows[0], (RAW_ROWS + BLURRED_ROWS) * row)                 \
  X (rows[1], (RAW_ROWS + BLURRED_ROWS) * chroma_row)          \
  X (rows[2], (RAW_ROWS + BLURRED_ROWS) * chroma_row)          \
  X (foreground, words)                                        \
  X (shadows, words)                                           \
  X (busy, words)                                              \
  X (renewed, words)                                           \
  X (differs, words)                                           \
  X (coloured, words)                                          \
  X (columns, row)                                             \
  X (old, OLD_ROWS *row)                                       \
  X (tiles, 2 * CCL_LIGHT_TILE * 64 * (uint64_t) self->blocks) \
  X (edges, 2 * EDGE_ROWS * row)                               \
  X (counters, CCL_DRIFT_RANGES *CCL_LIGHT_BINS)

typedef struct CclCpuModel
{
  CclModel *base;
  uint32_t frame_width, frame_height;
  const CclMotionFunctions *functions;
  CclPool *pool; /* borrowed; NULL with one thread */
  uint32_t chroma_width, chroma_height;
  uint32_t blocks, chroma_blocks;
  uint16_t *background; /* of luma, with margins */
  /* of luma, rows of whole blocks */
  uint8_t *noise, *candidates, *counts, *formers, *visits;
  uint16_t *chroma[2]; /* backgrounds, likewise */
  uint32_t n_strips;
  Strip *strips;
  uint32_t columns, rows; /* of tiles */
  CclLightTile *tiles;
  uint8_t *aligned[PLANES]; /* the frame, in the model's size; or coarse pixels */
  CclFlicker flicker;
  /* Foreground and shadows; without words if not wanted, or, enlarged, if the scale is 1. */
  CclMask masks[2];    /* of the model's size */
  CclMask enlarged[2]; /* of the frame's */
} CclCpuModel;

/* A frame on its way through the model. */
typedef struct Job
{
  CclCpuModel *model;
  const CclMotionStep *step;
  const CclImage *image;
  uint32_t width, height;  /* of the image */
  unsigned scale;          /* pixels of the image to one of the model, either way */
  const uint16_t *factors; /* of its rows, if the light flickers */
  CclShift shift;
  CclImage aligned; /* the image of a frame that is shifted */
  CclChroma chroma;
  uint8_t mean[CCL_LIGHT_BINS]; /* of the curves of lit tiles */
  CclDrift drift;
} Job;

/* The samples of a padded row. The number of blocks is odd: rows a multiple of 4096 bytes apart
 * would share cache sets, and loads would wait for stores to the row above. */
static inline size_t
row_samples (uint32_t blocks)
{
  return (size_t) (blocks | 1) * 64 + 2 * CCL_MOTION_MARGIN;
}

static inline uint8_t *
raw_row (const Ring *ring, uint32_t y)
{
  return ring->raw_rows + (y % RAW_ROWS) * row_samples (ring->blocks) + CCL_MOTION_MARGIN;
}

static inline uint8_t *
blurred_row (const Ring *ring, uint32_t y)
{
  return ring->blurred_rows + (y % BLURRED_ROWS) * row_samples (ring->blocks) + CCL_MOTION_MARGIN;
}

static inline uint16_t *
background_row (const CclCpuModel *self, uint32_t y)
{
  return self->background + y * row_samples (self->blocks) + CCL_MOTION_MARGIN;
}

static inline uint32_t
clamp_row (int64_t y, uint32_t height)
{
  return y < 0 ? 0 : y >= height ? height - 1 : (uint32_t) y;
}

static inline void
pad_background (uint16_t *row, uint32_t width)
{
  row[-2] = row[-1] = row[0];
  row[width] = row[width + 1] = row[width - 1];
}

static inline unsigned
n_planes (const CclCpuModel *self)
{
  return self->base->config.format == CCL_MOTION_LUMA_420 ? PLANES : 1;
}

/* The ring of a plane for a strip whose first blurred row is @y. @rows: its memory. */
Ring ccl_cpu_ring (const Job *job, uint8_t *rows, unsigned plane, int64_t y);

/* Returns row @y before it is blurred, in the background's light: in the frame, if that has it as
 * it is, or in @row. */
const uint8_t *ccl_cpu_ring_read (const Ring *ring, uint32_t y, const CclMotionFunctions *functions,
                                  uint8_t *row);

/* Makes blurred rows up to @y, at most to the end of the plane. @columns: room for a row. */
void ccl_cpu_ring_advance (Ring *ring, uint32_t y, const CclMotionFunctions *functions,
                           uint8_t *columns);

/* Shifts the background by the job's drift. */
void ccl_cpu_model_shift (Job *job);

/* Finds the gains of the light, and sets the job's factors. The background may get the light. */
void ccl_cpu_model_find_flicker (Job *job);

/* Aligns the frame with the background, if it is shifted: sets the job's image and shift. */
void ccl_cpu_model_align (Job *job);

/* Compares the frame with the background in coarse pixels, and returns the shift. */
CclShift ccl_cpu_model_search (Job *job);

/* Moves a mask to where the frame has its pixels. */
void ccl_cpu_model_move (CclMask *mask, CclShift shift);

/* Changes the background where the light has changed, and returns whether it has. */
bool ccl_cpu_model_relight (Job *job);

/* Shifts the background if the brightness drifts. */
void ccl_cpu_model_follow_drift (Job *job);

#endif
