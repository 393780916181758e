/* cudaccl - CUDA backend: the tables of the tile algorithm
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_TILE_H
#define CCL_CUDA_TILE_H

#include <stdint.h>

#define TILE_WORDS 4 /* in a row of a tile */
#define WORD_PIXELS 64
#define TILE_WIDTH (WORD_PIXELS * TILE_WORDS)
#define TILE_MAX_HEIGHT 32
#define TILE_RUNS (TILE_WIDTH / 2) /* of a row */
#define GROUP_TILES 16             /* side by side in a strip: what a block resolves or writes */
#define TILE_GROUPS(columns) (((columns) -1) / GROUP_TILES + 1) /* of a strip */

/* A pixel of a tile: y * TILE_WIDTH + x. */
typedef uint16_t CclTilePixel;

/* The first pixel of a tile's component, with what is known of the component. */
typedef uint16_t CclTileFirst;
#define FIRST_PIXEL (TILE_WIDTH * TILE_MAX_HEIGHT - 1)
#define FIRST_IS_INSIDE 0x4000 /* a root from the start: it touches no border of its tile */
#define FIRST_IS_ROOT 0x8000   /* a root, as ccl_cuda_tile_resolve() has found out */

/* The border of a tile: its pixels, and the component of each piece of a word in the first and the
 * last row and of each pixel in the first and the last column, named by the component's first
 * pixel. */
typedef struct CclTileBorder
{
  uint64_t top[TILE_WORDS], bottom[TILE_WORDS];             /* pixels, from left to right */
  uint32_t left, right;                                     /* pixels, from top to bottom */
  CclTilePixel top_runs[TILE_RUNS], bottom_runs[TILE_RUNS]; /* from 32 pieces a word */
  CclTilePixel left_pixels[TILE_MAX_HEIGHT], right_pixels[TILE_MAX_HEIGHT];
} CclTileBorder;

/* A frame as tiles of TILE_WIDTH x height pixels. A row of tiles is a strip. */
typedef struct CclTiles
{
  uint32_t height;
  uint32_t columns, strips;
  uint32_t column_reciprocal, group_reciprocal; /* UINT32_MAX / columns and / TILE_GROUPS() */
  uint32_t capacity;      /* components of a tile: half its pixels that the frame has */
  uint32_t *n;            /* [strips * columns] components of a tile */
  CclTileFirst *firsts;   /* [strips * columns * capacity] of each of them, in raster order */
  CclTileBorder *borders; /* [strips * columns] */
  uint64_t *counts;       /* [strips * height * columns] by strip, row and tile: roots kept (high
                           * half) and tied; in large frames then, of the strip, those before */
  uint64_t *totals;       /* [strips] of a strip; in large frames then those before */
} CclTiles;

#define STRIP_BARRIERS 3

/* A small frame as strips as wide as itself, one a block, all at once. A label is the number of a
 * strip, times capacity, plus that of a component in it. */
typedef struct CclStrips
{
  uint32_t n;             /* 0: the frame is too large */
  uint32_t words, height; /* of 32 pixels, in a row; rows */
  uint32_t threads;       /* for words, in whole warps: also for those of the row above */
  uint32_t seam_threads;  /* for what is between strips */
  uint32_t size;          /* bytes of shared memory */
  uint32_t capacity;      /* components of a strip and of those that reach into it */
  uint32_t *barriers;     /* [STRIP_BARRIERS] */
  uint16_t *bottom;       /* [n * words * 16] the component of each run in the last row */
  uint32_t *published;    /* [n] the round in which a strip has its bottom, in the highest bit */
  uint32_t *firsts;       /* [n * capacity] row in the strip (high half) and x of first pixels */
  uint32_t *kept;         /* [n] components that go into the result */
} CclStrips;

#endif
