/* cudaccl - CUDA backend: the tables of algorithms that label pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LABEL_IMAGE_H
#define CCL_CUDA_LABEL_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define CCL_CHANGES 3

/* A label for every pixel: the index of one pixel of its component, or of one block of 2 x 2
 * pixels. Rows are padded to whole blocks. So half the index of a pixel is its slot (see
 * CclComponentTable), and a row has as many blocks as slots. A volume is a frame of height * depth
 * rows; its blocks are 2 x 2 x 2 voxels. Passed to kernels by value. */
typedef struct CclLabelImage
{
  uint32_t pitch;     /* pixels of a row; even, but for classes */
  uint32_t per_slot;  /* pixels of a slot: 2; of classes, whose runs may touch, 1 */
  uint32_t *pixels;   /* [height * pitch] labels; CCL_NO_LABEL in the background */
  uint32_t *blocks;   /* [n_blocks] union-find over blocks; NULL: labels are pixels */
  uint8_t *infos;     /* [n_blocks] what kernels pass on about a block */
  uint32_t *infos_3d; /* [n_blocks] the same for volumes */
  uint32_t *firsts;   /* [n_blocks] the slot of a component's first pixel, by the component's block;
                       * NULL if labels are pixels, which are the first ones already */
  size_t n_blocks;
  uint32_t block_pitch;         /* blocks of a row */
  uint32_t layer_blocks;        /* blocks that share two rows or, in a volume, two slices ... */
  uint32_t layer_rows;          /* ... and the number of these rows */
  uint32_t slice_height, depth; /* of a volume; depth 0: a frame */
  uint32_t *changes;            /* [CCL_CHANGES] of iterative algorithms */
} CclLabelImage;

#endif
