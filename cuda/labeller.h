/* cudaccl - CUDA backend: the tables of algorithms that label pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LABELLER_H
#define CCL_CUDA_LABELLER_H

#include <stdint.h>

#define CCL_CHANGES 3

/* What a labeller works on. Its result is a label for every pixel: the number of one pixel, or of
 * one block of 2 x 2 pixels, of the component. Rows are padded to whole blocks, so that half a
 * pixel's number is its slot's (see CclCudaFrame), and a row has as many blocks as slots. */
typedef struct CclLabelImage
{
  uint32_t pitch;    /* pixels of a row, even */
  uint32_t *pixels;  /* [height * pitch] the labels; CCL_NO_LABEL in the background */
  uint32_t *blocks;  /* [(height + 1) / 2 * slots] union-find over blocks, from 0 on */
  uint8_t *infos;    /* the same: what a block keeps from one kernel to the next */
  uint32_t *firsts;  /* the same: the slot of the first pixel of a component, by its block; NULL
                      * where  labels are pixels: these are the first ones already */
  uint32_t *changes; /* [CCL_CHANGES] of iterative algorithms */
} CclLabelImage;

#endif
