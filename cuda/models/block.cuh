/* cudaccl - CUDA backend: background models, the shape of a block, and the memory that its warps
 * share SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODELS_BLOCK_CUH
#define CCL_CUDA_MODELS_BLOCK_CUH

#include "cuda/models/kernels.h"
#include "cuda/models/unit.cuh"

#define EDGE 1                        /* lanes at either end of a warp, for neighbours only */
#define STRIP (WARP_LANES - 2 * EDGE) /* units of a warp, side by side */
#define BLOCK_WIDTH (STRIP * UNIT)
#define BLOCK_WARPS 4 /* of one strip, below each other */
#define BLOCK_ROWS (2 * BLOCK_WARPS)
#define BLOCK_THREADS (BLOCK_WARPS * WARP_LANES)
#define HALO CCL_MOTION_SHADOW_STEP

/* Pixels in shared memory: those of the block and its edges, and HALO rows above and
 * below. */
#define SHARED_ROWS (BLOCK_ROWS + 2 * HALO)
#define SHARED_PITCH (WARP_LANES * UNIT)

static_assert (BLOCK_ROWS == CCL_MOTION_BAND, "a block has one group (M7)");
static_assert (2 * HALO == BLOCK_WARPS, "a warp for each row of the halo");
static_assert (HALO < EDGE * UNIT, "shadows need no pixel that is wrong (M4)");

/* Each block, or each warp of a block, adds this at its end; the bits below sum up the
 * foreground. */
#define TICKET (1ull << 33)
#define COUNT_BITS 12 /* of a block's foreground, and of its shadows above it */
#define WARP_TICKET (1u << 2 * COUNT_BITS)

static_assert (BLOCK_WIDTH * BLOCK_ROWS < 1 << COUNT_BITS, "the sums fit");

/* Words, four pixels each, of a warp's rows that its lanes share: see learn_busy(). */
typedef struct Busy
{
  uint32_t renewed[WARP_LANES];  /* results, a byte for each of a lane's words */
  uint8_t words[4 * WARP_LANES]; /* 4 * lane + 2 * row + half of the unit */
} Busy;

/* Data that the warps of a block exchange. */
typedef struct Shared
{
  uint2 blurred[SHARED_ROWS][SHARED_PITCH / UNIT];
  uint4 backgrounds[SHARED_ROWS][SHARED_PITCH / UNIT]; /* of the same pixels */
  uint8_t shadows[BLOCK_ROWS][SHARED_PITCH / UNIT];    /* a bit for each pixel */
  uint16_t shaded[BLOCK_ROWS * BLOCK_WIDTH];           /* indices of pixels in blurred */
  Busy busy[BLOCK_WARPS];
  uint32_t n_shaded;
  uint32_t ended; /* see WARP_TICKET */
} Shared;

#endif
