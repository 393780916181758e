/* cudaccl - CUDA backend: the pixels that kernels work on
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_FRAME_H
#define CCL_CUDA_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* A frame's pixels and which of them are foreground. Passed to kernels by value. */
typedef struct CclCudaFrame
{
  const uint8_t *pixels;
  size_t pitch;
  uint32_t width, height;
  uint8_t threshold;    /* values above it are foreground ... */
  uint8_t invert;       /* ... or, with 1, the others */
  uint8_t connectivity; /* 4 or 8; 26 for volumes */
  uint8_t overlap;      /* 1: launch_following() may overlap kernels */
} CclCudaFrame;

#endif
