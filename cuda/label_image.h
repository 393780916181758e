/* cudaccl - CUDA backend: the tables of algorithms that label pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LABELLER_H
#define CCL_CUDA_LABELLER_H

#include <stddef.h>
#include <stdint.h>

#define CCL_CHANGES 3

/* What a labeller works on. Its result is a label for every pixel: the number of one pixel, or of
 * one block of 2 x 2 pixels, of the component. Rows are padded to whole blocks, so that half a
 * pixel's number is its slot's (see CclCudaFrame), and a row has as many blocks as slots. */
typedef struct CclLabelImage
{
  uint32_t pitch;   /* pixels of a row, even */
  uint32_t *pixels; /* [height * pitch] the labels; CCL_NO_LABEL in the background */
  uint32_t *blocks; /* [n_blocks] union-find over blocks, from 0 on */
  uint8_t *infos;   /* [n_blocks] what a block keeps from one kernel to the next */
  uint32_t *firsts; /* [n_blocks] the slot of the first pixel of a component, by its block; NULL
                     * where labels are pixels: these are the first ones already */
  size_t n_blocks;
  uint32_t layer_blocks; /* of them that have the same two rows, or slices of a volume ... */
  uint32_t layer_rows;   /* ... which are so many rows */
  uint32_t *changes;     /* [CCL_CHANGES] of iterative algorithms */
} CclLabelImage;

/* Of a component of a volume, what a component of a frame has not. */
typedef struct CclDepthSums
{
  uint64_t sum_z;
  uint32_t min_y, max_y; /* in a slice */
} CclDepthSums;

/* A volume is a frame of height * depth rows; blocks are 2 x 2 x 2 voxels. */
typedef struct CclVolumeTables
{
  uint32_t height, depth;   /* depth 0: the frame is none */
  uint32_t *infos;          /* [n_blocks] in place of those of bytes */
  CclDepthSums *sums;       /* as CclCudaFrame.features; NULL: the frame is no volume */
  struct CclSlices *slices; /* [capacity] */
} CclVolumeTables;

#endif
