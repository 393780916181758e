/* cudaccl - CPU backend: what a background model does to one row, once for each instruction set
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_MOTION_FUNCTIONS_H
#define CCL_CPU_MOTION_FUNCTIONS_H

#include "engine/motion/shake.h"

#include <stddef.h>

/* Pixels that may be read and written before a row and behind its last block. Where a row's
 * neighbours outside the frame count, they repeat its first and last pixel. */
#define CCL_MOTION_MARGIN 64

/* A row of luma, in blocks of 64 pixels. State behind the row's last pixel is overwritten with
 * anything. */
typedef struct CclMotionRow
{
  const CclMotionStep *step;
  const CclMotionPace *pace; /* NULL: the state stays as it is */
  uint32_t width, blocks;
  const uint8_t *values[5]; /* the frame, blurred: this row and those up to two above and below,
                             * values[2] in the middle; [1] and [3] are not read */
  const uint16_t *backgrounds[5]; /* the old background, likewise, all read */
  uint16_t *background;           /* the new one, elsewhere */
  uint8_t *noise, *candidates, *counts, *formers, *visits;
  const uint64_t *chroma;   /* [blocks] where chroma differs; NULL for none */
  const uint64_t *coloured; /* [blocks] ccl_motion_coloured(), with chroma and a pace, or shady */
  uint64_t *foreground;     /* [blocks] result */
  uint64_t *shadows;        /* [blocks] result */
  uint64_t *busy;           /* [blocks] result: both, and what is known */
  uint64_t *renewed; /* [blocks] result, of learning: where the candidate became the background */
  uint64_t count, n_shadows; /* pixels of foreground, and of shadow, are added */
  uint64_t n_known;          /* likewise, of what learned that ccl_motion_knows() */
  /* State of a later row, to prefetch. */
  const uint16_t *next_background;
  const uint8_t *next_noise, *next_counts;
  bool next_learns; /* if not, that row reads noise only where pixels differ, and no counts */
} CclMotionRow;

/* A row of both chroma planes, in blocks of 64 samples. */
typedef struct CclMotionChromaRow
{
  const CclMotionStep *step;
  const CclMotionPace *pace; /* NULL if the row does not learn */
  uint32_t width, blocks;    /* samples */
  const uint8_t *values[2];  /* the frame, blurred */
  uint16_t *backgrounds[2];
  const uint16_t *next_backgrounds[2]; /* of a later row, to prefetch */
  uint64_t *differs;                   /* [2 * blocks] where chroma differs, two bits a sample */
  uint64_t *coloured;                  /* [2 * blocks] likewise, with a pace, or shady */
  /* The luma row's; only bits of even pixels are read. */
  const uint64_t *busy, *renewed; /* [2 * blocks] */
} CclMotionChromaRow;

typedef struct CclMotionFunctions
{
  /* Takes every second of 2 * @width - 1 samples, reads no others, and prefetches as many at @next.
   */
  void (*take_alternate) (uint8_t *row, const uint8_t *samples, const uint8_t *next,
                          uint32_t width);
  /* Means of @scale by @scale samples, rounded; @scale is 2 or 4, and @step, the bytes from sample
   * to sample, 1 or 2. */
  void (*shrink_row) (uint8_t *row, const uint8_t *samples, size_t stride, uint32_t width,
                      unsigned scale, unsigned step);
  /* Blurs the middle row, which is @width pixels, as those around it are, and prefetches as many at
   * @next. @columns is room for a row with its margins. Writes whole blocks. */
  void (*blur_row) (uint8_t *blurred, uint8_t *columns, const uint8_t *above, const uint8_t *middle,
                    const uint8_t *below, const uint8_t *next, uint32_t width);
  uint64_t (*sum_row) (const uint8_t *samples, uint32_t width);
  /* Adds ccl_shake_difference() of @n pixels to @sums, which are CCL_SHAKE_SIDE: the first for
   * @values, each further one for those a pixel to the right. */
  void (*compare_shifts) (CclShakeSum *sums, const uint8_t *values, const uint16_t *background,
                          uint32_t n);
  /* Finds foreground, and learns if there is a pace. */
  void (*luma_row) (CclMotionRow *row);
  void (*chroma_differs) (const CclMotionChromaRow *row);
  void (*chroma_learn) (const CclMotionChromaRow *row);
} CclMotionFunctions;

#endif
