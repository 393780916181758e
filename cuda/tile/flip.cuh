/* cudaccl - CUDA backend: the tile algorithm, which components are flipped
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_TILE_FLIP_CUH
#define CCL_CUDA_TILE_FLIP_CUH

#include "cuda/device/foreground.cuh"
#include "cuda/tile/tile.h"

/* Whether a component is flipped. @below_top: it has no pixel in the frame's first row. */
static __device__ inline bool
flips_component (const CclCudaFrame &f, const CclFlipPass &pass, const CclFeatures &c,
                 bool below_top)
{
  if (!pass.fill)
    return c.area < pass.size;
  return below_top && c.min_x > 0 && c.max_x < f.width - 1 && c.max_y < f.height - 1 &&
         (pass.size == 0 || c.area <= pass.size);
}

/* Returns the mask's word at @x. @kept: the pixels of components that are not flipped. */
template <typename Word>
static __device__ inline Word
flipped_word (const CclCudaFrame &f, const CclFlipPass &pass, Word kept, uint32_t x)
{
  const uint32_t size = 8 * sizeof (Word);

  if (!pass.fill)
    return kept;
  return f.width - x < size ? ~kept & (((Word) 1 << (f.width - x)) - 1) : ~kept;
}

#endif
