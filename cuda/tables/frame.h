/* cudaccl - CUDA backend: the pixels that kernels work on
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_FRAME_H
#define CCL_CUDA_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* A frame's pixels and which of them are foreground. With bits, those past the width in a row's
 * last word may have any value. Passed to kernels by value. */
typedef struct CclCudaFrame
{
  const uint8_t *pixels; /* with bits, the words of a CclMask */
  size_t pitch;          /* bytes; with bits, a multiple of 8, as is the address */
  uint32_t width, height;
  uint8_t threshold;    /* pixels above it and up to the highest are foreground ... */
  uint8_t highest;      /* ... 255 without a band ... */
  uint8_t invert;       /* ... or, with 1, all others. With bits, 1 is foreground or, inverted, 0 */
  uint8_t connectivity; /* 4 or 8; 6, 18 or 26 for volumes */
  uint8_t overlap;      /* 1: launch_following() may overlap kernels */
  uint8_t bits;         /* 1: one bit per pixel, 0: one byte */
} CclCudaFrame;

#endif
