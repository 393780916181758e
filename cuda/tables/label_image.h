/* cudaccl - CUDA backend: the tables of algorithms that label pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LABEL_IMAGE_H
#define CCL_CUDA_LABEL_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define CCL_CHANGES 3

/* A label for every pixel: the index of one pixel of the component, or of one block of 2 x 2
 * pixels. Rows are padded to whole blocks, so that half a pixel's index is its slot (see
 * CclComponentTable), and a row has as many blocks as slots. For volumes, a frame of
 * height * depth rows, blocks are 2 x 2 x 2 voxels. Passed to kernels by value. */
typedef struct CclLabelImage
{
  uint32_t pitch;     /* pixels of a row, even */
  uint32_t *pixels;   /* [height * pitch] the labels; CCL_NO_LABEL in the background */
  uint32_t *blocks;   /* [n_blocks] union-find over blocks; NULL: labels are pixels */
  uint8_t *infos;     /* [n_blocks] what a block keeps from one kernel to the next */
  uint32_t *infos_3d; /* [n_blocks] the same of volumes */
  uint32_t *firsts;   /* [n_blocks] the slot of the first pixel of a component, by its block; NULL
                       * where labels are pixels: these are the first ones already */
  size_t n_blocks;
  uint32_t block_pitch;         /* blocks of a row */
  uint32_t layer_blocks;        /* blocks that share two rows or, of a volume, two slices ... */
  uint32_t layer_rows;          /* ... and how many rows these are */
  uint32_t slice_height, depth; /* of a volume; depth 0: a frame */
  uint32_t *changes;            /* [CCL_CHANGES] of iterative algorithms */
} CclLabelImage;

#endif
