/* cudaccl - CUDA backend: block-based union-find, for frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Allegretti, F. Bolelli, C. Grana: Optimized Block-Based Algorithms to Label Connected
 * Components on GPUs (Allegretti 2020), BUF (algorithm 2) and BUF_IC. Volumes:
 * algorithms/volume_buf.cu.
 *
 * Where this differs from the paper as printed:
 * - Labels of blocks are not kept in every fourth pixel of the label image, but side by side in a
 *   table of their own, which takes a quarter of the memory transfers.
 * - Unions that follow from others are left out, as Playne and Hawick do for pixels; see
 *   needed_unions(). */

#include "cuda/algorithms/blocks.cuh"

static __global__ void
buf_initialize (CclCudaFrame f, CclLabelImage image)
{
  Block b = get_block (f, image);

  if (b.inside)
    image.blocks[b.label] = b.label;
}

/* @bits: CclCudaFrame.bits. */
template <bool bits>
static __global__ void
buf_merge (CclCudaFrame f, CclLabelImage image)
{
  Block b = get_block (f, image);
  uint32_t unions, pitch = image.block_pitch;
  CachedForest forest = { image.blocks };

  f.bits = bits;
  unions = needed_unions (load_square (f, b, 3));
  if (unions & SQUARE_P)
    unite (forest, b.label, b.label - pitch - 1);
  if (unions & SQUARE_Q)
    unite (forest, b.label, b.label - pitch);
  if (unions & SQUARE_R)
    unite (forest, b.label, b.label - pitch + 1);
  if (unions & SQUARE_S)
    unite (forest, b.label, b.label - 1);
}

template <bool bits>
static __global__ void
buf_label_pixels (CclCudaFrame f, CclLabelImage image)
{
  f.bits = bits;
  label_block (f, image);
}

template <bool in_line>
static cudaError_t
buf_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  const CclLabelImage *image = ccl_cuda_label_image (work);
  unsigned grid = block_grid (work);
  cudaError_t error;

  error = launch (buf_initialize, grid, block_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = launch (f->bits ? buf_merge<true> : buf_merge<false>, grid, block_threads (), 0, stream,
                    *f, *image);
  ccl_cuda_stage (work, "merge", stream);
  if (error == cudaSuccess)
    error = compress_blocks (work, in_line, stream);
  ccl_cuda_stage (work, "compression", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (f->bits ? buf_label_pixels<true> : buf_label_pixels<false>, grid,
                  block_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "final labeling", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_buf) =
    CCL_CUDA_LABELLING ("buf", "BUF: block-based union-find (Allegretti et al. 2020)", 8,
                        ccl_cuda_block_image_open, buf_label<false>);

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_buf_ic) =
    CCL_CUDA_LABELLING ("buf-ic", "BUF with inline compression (Allegretti et al. 2020)", 8,
                        ccl_cuda_block_image_open, buf_label<true>);
