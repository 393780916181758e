/* cudaccl - primitives: launches of kernels around the device functions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_ENGINE_PRIMITIVES_H
#define TESTS_ENGINE_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PRIMITIVE_LANES 32
#define PRIMITIVE_NO_LABEL UINT32_MAX

/* All pointers are device memory. Functions enqueue on the default stream; an error of CUDA ends
 * the program. */

/* Up to 64 pixels of two rows and the pixels to their left. */
typedef struct PrimitiveRows
{
  uint64_t current, above;
  uint32_t current_before, above_before; /* 0 or 1 */
} PrimitiveRows;

/* @result: [n] where the runs of the rows begin to touch. */
void primitive_touching (unsigned connectivity, const PrimitiveRows *rows, uint64_t *result,
                         uint32_t n);

/* A frame and what makes its pixels foreground. */
typedef struct PrimitiveFrame
{
  const uint8_t *pixels;
  size_t pitch;
  uint32_t width, height;
  uint8_t threshold;
  bool invert;
  bool bits;
} PrimitiveFrame;

/* @result: [n] of each of @bytes, four pixels above the threshold. */
void primitive_above4 (uint8_t threshold, const uint32_t *bytes, uint32_t *result, uint32_t n);

/* @result: [n] foreground of 4 * @words pixels of every 8 words of @bytes; @words is even. */
void primitive_foreground_bits (uint8_t threshold, bool invert, const uint32_t *bytes,
                                uint32_t words, uint32_t *result, uint32_t n);

/* @result: [height * width] foreground of 32 pixels from each pixel on; of bits, from each 32nd. */
void primitive_foreground32 (const PrimitiveFrame *frame, uint32_t *result);

#define PRIMITIVE_AROUND 4 /* columns past the frame */

/* @result: [(height + 2) * (width + PRIMITIVE_AROUND)] foreground of 4 * @words pixels from the
 * left neighbour of each pixel on, with a row above and below the frame; @words is 1 or 2. */
void primitive_foreground_around (const PrimitiveFrame *frame, uint32_t words, uint32_t *result);

/* @words: [3 * n] words of 32 pixels, each between those beside it. @result: [n] the words, dilated
 * by @reach pixels to the left and to the right. */
void primitive_dilate (const uint32_t *words, uint32_t reach, uint32_t *result, uint32_t n);

/* @words: [3 * size * n] the same of @size rows, 3 or 5. @result: [n] the median of the middle
 * row's word. */
void primitive_median (const uint32_t *words, uint32_t size, uint32_t *result, uint32_t n);

/* @numbers: [2 * n] dividends and divisors. @result: [n] quotients. */
void primitive_divide (const uint32_t *numbers, uint32_t *result, uint32_t n);

/* @n is a multiple of PRIMITIVE_LANES. @scans: [n] inclusive sums in a warp; @sums: [n] a warp's
 * sum in each lane. */
void primitive_warp_sums (const uint32_t *values, uint32_t *scans, uint32_t *sums, uint32_t n);

/* Functions that merge the trees of two labels. */
typedef enum PrimitiveMerge
{
  PRIMITIVE_MERGE,
  PRIMITIVE_JOIN,
  PRIMITIVE_MERGE_AND_COMPRESS,
  PRIMITIVE_UNITE,
  PRIMITIVE_MERGE_AND_HALVE, /* looks for the roots of both labels after each merge */
  PRIMITIVE_MIXED,           /* each thread another one of the first three */
  PRIMITIVE_MERGES,
} PrimitiveMerge;

/* Functions that make labels point to their roots. */
typedef enum PrimitiveCompress
{
  PRIMITIVE_COMPRESS,
  PRIMITIVE_COMPRESS_PASS,
  PRIMITIVE_COMPRESS_PASS_IN_LINE,
  PRIMITIVE_COMPRESS_SHALLOW,
  PRIMITIVE_COMPRESS_SHALLOW_IN_LINE,
  PRIMITIVE_COMPRESSES,
} PrimitiveCompress;

/* Merges along @edges, pairs of labels, a thread per edge. */
void primitive_merge (PrimitiveMerge how, uint32_t *labels, const uint32_t *edges,
                      uint32_t n_edges);

void primitive_compress (PrimitiveCompress how, uint32_t *labels, uint32_t n);

/* Union-find in shared memory. */
typedef enum PrimitiveShared
{
  PRIMITIVE_SHARED_JOIN,
  PRIMITIVE_SHARED_UNITE,
  PRIMITIVE_SHARED_PIECES, /* links that hold a parent and a pixel */
  PRIMITIVE_SHARED,
} PrimitiveShared;

#define PRIMITIVE_SHARED_LABELS 8192

/* Each of @blocks blocks merges @n labels of its own, at most PRIMITIVE_SHARED_LABELS, along
 * @n_edges edges of its own, and compresses them. @labels: [blocks * n] parents; @intact: [1] set
 * to 0 if anything else in a link has changed. */
void primitive_merge_shared (PrimitiveShared how, uint32_t *labels, const uint32_t *edges,
                             uint32_t blocks, uint32_t n, uint32_t n_edges, uint32_t *intact);

/* Functions that add runs to the features of labels. */
typedef enum PrimitiveUpdate
{
  PRIMITIVE_UPDATE,             /* each lane by itself */
  PRIMITIVE_UPDATE_CD,          /* with conflict detection */
  PRIMITIVE_UPDATE_ACCUMULATED, /* the same, and a warp keeps a large component for a while */
  PRIMITIVE_SET,                /* whole warps set features of labels that are all different */
  PRIMITIVE_UPDATES,
} PrimitiveUpdate;

/* The pixels @start to @end - 1 of row @y; none for PRIMITIVE_NO_LABEL. */
typedef struct PrimitiveRun
{
  uint32_t label, start, end, y;
} PrimitiveRun;

typedef struct PrimitiveFeatures
{
  uint64_t sum_x, sum_y;
  uint64_t sum_xx, sum_yy, sum_xy; /* 0 without moments */
  uint32_t area;
  uint32_t min_x, max_x, max_y; /* UINT32_MAX and twice 0 without pixels */
} PrimitiveFeatures;

/* Each of @warps warps adds @rounds times a run per lane. @runs: [warps * rounds *
 * PRIMITIVE_LANES]; @result: [labels] */
void primitive_features (PrimitiveUpdate how, bool moments, const PrimitiveRun *runs,
                         uint32_t warps, uint32_t rounds, PrimitiveFeatures *result,
                         uint32_t labels);

#ifdef __cplusplus
}
#endif

#endif
