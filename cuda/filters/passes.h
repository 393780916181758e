/* cudaccl - CUDA backend: the passes of a launch over a mask
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_PASSES_H
#define CCL_CUDA_PASSES_H

#include "cuda/tables/frame.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Median, erosion and dilation: a launch does several passes over a mask. */

typedef enum CclPassKind
{
  CCL_PASS_MEDIAN,    /* of (2 reach + 1) x (2 reach + 1) pixels, reach 1 or 2 */
  CCL_PASS_RECTANGLE, /* dilation by (2 reach_x + 1) x (2 reach_y + 1) pixels */
} CclPassKind;

/* A CclPassKind, how far the window reaches from a pixel, 0 to CCL_PASS_REACH, and whether it
 * erodes, which is to dilate the background. */
typedef uint16_t CclPass;

#define CCL_PASS_REACH 16

#define CCL_PASS(kind, reach_x, reach_y, erode) \
  ((CclPass) ((reach_x) | (reach_y) << 5 | (kind) << 10 | (erode) << 11))
#define CCL_PASS_REACH_X(pass) ((pass) &31)
#define CCL_PASS_REACH_Y(pass) ((pass) >> 5 & 31)
#define CCL_PASS_KIND(pass) ((pass) >> 10 & 1)
#define CCL_PASS_ERODES(pass) ((pass) >> 11 & 1)

#define CCL_MAX_PASSES 8    /* of a launch */
#define CCL_PASSES_REACH 32 /* how far from a pixel a launch reaches, in each direction */

/* One launch: foreground, region, passes. Frames of a batch lie below each other, with a row of
 * background under each, which stays as it is. Passed to kernels by value. */
typedef struct CclPasses
{
  uint64_t *to;            /* never where the frame's pixels are */
  size_t pitch;            /* words, of @to and @region */
  const uint64_t *region;  /* of one frame; NULL for all of it */
  uint32_t frames, height; /* the height of one frame; CclCudaFrame.height is that of all */
  uint32_t columns, rows;  /* tiles side by side, and below each other in a frame */
  uint32_t column_reciprocal, row_reciprocal; /* UINT32_MAX / columns and / rows */
  uint32_t tile_height;
  uint32_t reach; /* of all passes, up and down */
  uint32_t n;
  uint64_t codes[CCL_MAX_PASSES / 4]; /* of CclPass, from the lowest bits on: kernels would copy an
                                       * array that they index to local memory */
} CclPasses;

cudaError_t ccl_cuda_passes_enqueue (const CclCudaFrame *frame, const CclPasses *passes,
                                     cudaStream_t stream);
/* Plans the tiles of a launch, whose passes and frames are set, for a device with @processors
 * multiprocessors. */
void ccl_cuda_passes_plan (const CclCudaFrame *frame, uint32_t processors, CclPasses *passes);

#ifdef __cplusplus
}
#endif

#endif
