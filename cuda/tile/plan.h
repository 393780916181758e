/* cudaccl - CUDA backend: the sizes of strips and tiles, by the device's limits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Plain arithmetic without CUDA, so that the plans for any device can be tested on any machine. */

#ifndef CCL_CUDA_TILE_PLAN_H
#define CCL_CUDA_TILE_PLAN_H

#include "cuda/runtime/devicelimits.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE_WORDS 4 /* words in a row of a tile */
#define WORD_PIXELS 64
#define TILE_WIDTH (WORD_PIXELS * TILE_WORDS)
#define TILE_MAX_HEIGHT 32

/* Why a device is not full, or a frame is not analysed in one launch. */
typedef enum CclPlanReason
{
  CCL_PLAN_FULL,        /* the device is full, and the frame takes one launch */
  CCL_PLAN_SMALL_FRAME, /* tiles: the device has room for more blocks than there are tiles */
  CCL_PLAN_LAUNCH,      /* strips: the device has no cooperative launches */
  CCL_PLAN_THREADS,     /* strips: there are more words of 32 pixels than resident threads */
  CCL_PLAN_MEMORY,      /* too little shared memory for the maximum number of runs */
  CCL_PLAN_SUMS,        /* strips: sums would exceed their bits */
} CclPlanReason;

#define CCL_PLAN_STRIP_THREADS 1024 /* of a block, at most; with up to 64 registers each */
#define CCL_PLAN_STRIP_BLOCKS 4     /* of a multiprocessor, at most */
#define CCL_PLAN_STRIP_THREAD 16    /* bytes of shared memory for each thread, before the runs */
#define CCL_PLAN_STRIP_RECORD 20    /* bytes of a component's features */
#define CCL_PLAN_STRIP_AREA_BITS 15 /* for the area in the word of area and sum of y */
#define CCL_PLAN_WRITE_BUFFER 2432  /* bytes for a warp to write components */
#define CCL_PLAN_ROOT 28            /* bytes of an entry of the table of roots */

/* The resources that the kernels for strips need. */
typedef struct CclStripKernel
{
  uint32_t registers; /* of a thread */
  uint32_t shared;    /* bytes of static shared memory of a block */
} CclStripKernel;

typedef struct CclStripPlan
{
  CclPlanReason reason; /* CCL_PLAN_FULL, or why there are no strips */
  uint32_t n;           /* strips, one per block; 0: the frame does not fit */
  uint32_t blocks;      /* of a multiprocessor; the other values are for this number */
  uint32_t words, height, threads, border_threads, writers, size, capacity; /* as in CclStrips */
} CclStripPlan;

/* Gets the next plan for strips of a frame, in the order of preference: few blocks with many
 * threads first; then, on multiprocessors with fewer than 2048 threads, plans that use more than
 * 1024 of them; then the same with less shared memory for features, so that a strip with many
 * components takes more turns. @slots: see CclComponentTable. Start with *@step = 0. Returns false
 * after the last plan; @plan->n is then 0, and the reason is why the first plan failed. */
bool ccl_plan_strips (const CclCudaLimits *limits, const CclStripKernel *kernel, uint32_t width,
                      uint32_t height, uint32_t slots, uint32_t *step, CclStripPlan *plan);

#define CCL_PLAN_TILE_BLOCKS 10     /* of a multiprocessor: more would have too few registers */
#define CCL_PLAN_TILE_PIECES 2232   /* bytes of a block before the pieces of its tile */
#define CCL_PLAN_TILE_MOST_ROW 626  /* bytes for each row of a tile: ten blocks fit in 228 KiB */
#define CCL_PLAN_TILE_LEAST_ROW 530 /* 512 for the most pieces, the rest for features */

typedef struct CclTilePlan
{
  CclPlanReason reason;
  uint32_t height;  /* of a tile */
  uint32_t row;     /* bytes of dynamic shared memory for each row of a tile */
  uint32_t blocks;  /* that fit on a multiprocessor */
  uint32_t threads; /* of these blocks */
} CclTilePlan;

/* Plans the tiles of a frame. */
CclTilePlan ccl_plan_tiles (const CclCudaLimits *limits, uint32_t width, uint32_t height);

#ifdef __cplusplus
}
#endif

#endif
