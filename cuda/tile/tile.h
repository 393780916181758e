/* cudaccl - CUDA backend: the tables of the tile algorithm
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_TILE_H
#define CCL_CUDA_TILE_H

#include "cuda/stages/stages.h"
#include "cuda/tile/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE_RUNS (TILE_WIDTH / 2) /* in a row */
#define GROUP_TILES 16             /* tiles side by side; a block resolves or writes one group */
#define TILE_GROUPS(columns) (((columns) + GROUP_TILES - 1) / GROUP_TILES) /* of a tile row */

/* A pixel of a tile: y * TILE_WIDTH + x. */
typedef uint16_t CclTilePixel;

/* The first pixel of a tile's component, and flags. */
typedef uint16_t CclTileFirst;
#define FIRST_PIXEL (TILE_WIDTH * TILE_MAX_HEIGHT - 1)
#define FIRST_IS_INSIDE 0x4000 /* touches no border of its tile, so is a root from the start */
#define FIRST_IS_ROOT 0x8000   /* is a root; set by ccl_cuda_tile_resolve() */

/* The border of a tile: its pixels, and the components of each piece of a word in the first and the
 * last row and of each pixel in the first and the last column. A component is named by its first
 * pixel. */
typedef struct CclTileBorder
{
  uint64_t top[TILE_WORDS], bottom[TILE_WORDS];             /* pixels, from left to right */
  uint32_t left, right;                                     /* pixels, from top to bottom */
  CclTilePixel top_runs[TILE_RUNS], bottom_runs[TILE_RUNS]; /* 32 entries for each word */
  CclTilePixel left_pixels[TILE_MAX_HEIGHT], right_pixels[TILE_MAX_HEIGHT];
} CclTileBorder;

/* A frame as @rows x @columns tiles of TILE_WIDTH x @height pixels. */
typedef struct CclTiles
{
  uint32_t height;
  uint32_t room; /* words of shared memory for pieces and features */
  uint32_t columns, rows;
  uint32_t column_reciprocal, group_reciprocal; /* UINT32_MAX / columns and / TILE_GROUPS() */
  uint32_t capacity; /* components of a tile, at most: half of its pixels inside the frame */
  uint32_t *n;       /* [rows * columns] components of a tile */
  CclTileFirst *
      firsts; /* [rows * columns * capacity] first pixels of a tile's components, in raster order */
  CclTileBorder *borders; /* [rows * columns] */
  uint64_t *counts; /* [rows * height * columns] kept (high half) and tied roots of each row of each
                     * tile; in large frames, later of all before it in the tile row */
  uint64_t *totals; /* [rows] counts of each tile row; in large frames, later of those before it */
} CclTiles;

#define STRIP_BARRIERS 3

/* A small frame as strips of whole rows, one per block, all co-resident. The label of a component
 * is not a slot, but its index in the strip plus the strip's index times @capacity. */
typedef struct CclStrips
{
  uint32_t n;              /* 0: the frame is too large */
  uint32_t words, height;  /* words of 32 pixels in a row; rows */
  uint32_t threads;        /* for words, including those of the row above; whole warps */
  uint32_t border_threads; /* for the border with the strip above */
  uint32_t writers;        /* threads that write the result; whole warps */
  uint32_t size;           /* bytes of dynamic shared memory */
  uint32_t capacity;       /* components of a strip and the row above it, at most */
  uint32_t *barriers;      /* [STRIP_BARRIERS] grid barriers */
  uint16_t *bottom;        /* [n * words * 16] components of the runs in the last row */
  uint32_t *published;     /* [n] the last round in which bottom was complete, in the highest bit */
  uint32_t *firsts;        /* [n * capacity] first pixels: row in the strip (high half) and x */
  uint32_t *kept;          /* [n] components of each strip that are in the result */
} CclStrips;

/* Strips leave for a label map: the words of their pixels, and of each run the component.
 * Passed to kernels by value. */
typedef struct CclStripMap
{
  uint32_t *words, *before; /* [n * threads] as in a block; the latter where there are components */
  uint16_t *components;     /* [n * capacity] of runs, in the strip; NULL: no label maps */
} CclStripMap;

/* The components whose pixels a fill or a drop flips: holes, which are components of the
 * background, or small components of the foreground. Passed to kernels by value. */
typedef struct CclFlipPass
{
  uint64_t *to; /* the resulting mask, as CclMask.words; may be the frame's own */
  size_t pitch; /* words */
  uint64_t size;
  bool fill; /* the frame is inverted: flips components that touch no border of the frame and,
              * unless @size is 0, have at most @size pixels. Otherwise: flips those with fewer than
              * @size pixels */
} CclFlipPass;

/* CclCudaWork.tables */
typedef struct TileTables
{
  CclTiles tiles;
  CclStrips strips;
  CclStripMap map;
} TileTables;

static inline const TileTables *
tile_tables (const CclCudaWork *work)
{
  return (const TileTables *) work->tables;
}

/* The steps of the algorithm with tiles; each enqueues its kernels */

/* Finds roots and all their features. @all_parents: components inside a tile get parents, too. */
cudaError_t ccl_cuda_tile_find_components (const CclCudaWork *work, bool all_parents,
                                           cudaStream_t stream);

/* Merges components across the borders between tiles. */
cudaError_t ccl_cuda_tile_merge_borders (const CclCudaWork *work, cudaStream_t stream);
/* Compresses paths, adds the features of non-roots to their roots, and flags the roots; counts
 * them, too, if the result keeps all of them. */
cudaError_t ccl_cuda_tile_resolve (const CclCudaWork *work, cudaStream_t stream);
/* Counts the kept and tied roots, now that all areas are known. */
cudaError_t ccl_cuda_tile_count_roots (const CclCudaWork *work, cudaStream_t stream);
/* Writes header and components of the result; roots must be counted. */
cudaError_t ccl_cuda_tile_write_result (const CclCudaWork *work, cudaStream_t stream);
/* CclCudaAlgorithm.count_areas() */
cudaError_t ccl_cuda_tile_count_areas (const CclCudaWork *work, const CclTopKSearch *search,
                                       cudaStream_t stream);
/* Writes the label map; needs the result and the frame's pixels. */
cudaError_t ccl_cuda_tile_write_label_map (const CclCudaWork *work, cudaStream_t stream);

/* Enqueues an analysis and flips the components it finds; in one launch if the frame fits. */
cudaError_t ccl_cuda_tile_flip (const CclCudaWork *work, const CclFlipPass *pass,
                                cudaStream_t stream);
const CclCudaAlgorithm *ccl_cuda_tile_algorithm (void);

/* Plans the strips of a frame and allocates their tables; n is 0 if the frame does not fit. */
CclStatus ccl_cuda_strips_open (const CclCudaWork *work, CclCudaQueue *queue, TileTables *tables);
/* Whether ccl_cuda_strips_enqueue() supports the work: first-order features only, no top-k, and
 * nothing that needs separate steps or their tables. */
bool ccl_cuda_strips_can_analyse (const CclCudaWork *work);
/* Enqueues everything from pixels to the result and the label map. Fails with
 * cudaErrorCooperativeLaunchTooLarge if the process has been limited to part of the device in the
 * meantime. */
cudaError_t ccl_cuda_strips_enqueue (const CclCudaWork *work, cudaStream_t stream);
/* The same for ccl_cuda_tile_flip(). */
cudaError_t ccl_cuda_strips_flip (const CclCudaWork *work, const CclFlipPass *pass,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
