/* cudaccl - CUDA backend: operations on masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MORPHOLOGY_H
#define CCL_CUDA_MORPHOLOGY_H

#include "cuda/algorithms/algorithm.h"
#include "cuda/tile/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Filters: median, erosion and dilation. A launch does several passes, one filter each. */

typedef enum CclPassKind
{
  CCL_PASS_MEDIAN,    /* of (2 reach + 1) x (2 reach + 1) pixels, reach 1 or 2 */
  CCL_PASS_RECTANGLE, /* dilation by (2 reach_x + 1) x (2 reach_y + 1) pixels */
} CclPassKind;

/* A CclPassKind, how far the filter reaches from a pixel, 0 to 15, and whether it erodes, which is
 * to dilate the background. */
typedef uint16_t CclPass;

#define CCL_PASS(kind, reach_x, reach_y, erode) \
  ((CclPass) ((reach_x) | (reach_y) << 4 | (kind) << 8 | (erode) << 9))
#define CCL_PASS_REACH_X(pass) ((pass) &15)
#define CCL_PASS_REACH_Y(pass) ((pass) >> 4 & 15)
#define CCL_PASS_KIND(pass) ((pass) >> 8 & 1)
#define CCL_PASS_ERODES(pass) ((pass) >> 9 & 1)

#define CCL_MAX_PASSES 8    /* of a launch */
#define CCL_FILTER_REACH 32 /* how far from a pixel a launch reaches, in each direction */

/* One launch: foreground, region, passes. Frames of a batch lie one below the other, with a row of
 * background under each, which stays as it is. Passed to kernels by value. */
typedef struct CclFilters
{
  uint64_t *to;            /* never where the frame's pixels are */
  size_t pitch;            /* words, of @to and @region */
  const uint64_t *region;  /* of one frame; NULL: all of it */
  uint32_t frames, height; /* height: of one; the CclCudaFrame's is that of all */
  uint32_t columns, rows;  /* tiles side by side, and below each other in a frame */
  uint32_t column_reciprocal, row_reciprocal; /* UINT32_MAX / columns and / rows */
  uint32_t tile_height;
  uint32_t reach; /* of all passes, up and down */
  uint32_t n;
  uint64_t passes[CCL_MAX_PASSES / 4]; /* CclPass after CclPass, from the lowest bits on: arrays
                                        * that kernels index would be copied to local memory */
} CclFilters;

cudaError_t ccl_cuda_filter (const CclCudaFrame *frame, const CclFilters *filters,
                             cudaStream_t stream);
/* Plans the tiles of a launch, whose passes and frames are set. */
void ccl_cuda_filter_plan (const CclCudaFrame *frame, const CclCudaDevice *device,
                           CclFilters *filters);

/* One launch of a chain, or of fill and drop the few of an analysis. */
typedef struct CclCleaningStep
{
  bool flip;
  CclFilters filters;
  CclFlips flips;
} CclCleaningStep;

#define CCL_MAX_STEPS (4 * CCL_MAX_OPERATIONS + 1)

/* The steps from a frame's pixels to the mask that is analysed. */
typedef struct CclCleaning
{
  uint32_t n; /* 0: the frame is analysed as it is */
  CclCleaningStep steps[CCL_MAX_STEPS];
  uint64_t *masks[2]; /* [height * pitch] */
  size_t pitch;       /* words */
  uint64_t *region;   /* [height of a frame * pitch], or NULL */
  CclCudaFrame clean; /* the result, of bits */
  CclCudaWork flips;  /* the analysis for fill and drop, by the tile algorithm */
  bool own_tables;    /* flips.tables must be freed */
  uint64_t min_area;  /* equivalent to a drop at the end; 0: there is none */
} CclCleaning;

/* Plans @session's operations and region and allocates their memory. Must be called after the
 * analysis @work was opened: they share its tables if its algorithm is tile. */
CclStatus ccl_cuda_cleaning_open (CclCleaning *cleaning, const CclSession *session,
                                  const CclCudaWork *work, const CclCudaDevice *device,
                                  CclCudaMemory *memory);
void ccl_cuda_cleaning_close (CclCleaning *cleaning);

/* Enqueues all steps, from @source to cleaning->clean. */
cudaError_t ccl_cuda_clean (const CclCleaning *cleaning, const CclCudaFrame *source,
                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
