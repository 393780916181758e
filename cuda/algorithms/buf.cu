/* cudaccl - CUDA backend: block-based union-find
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Allegretti, F. Bolelli, C. Grana: Optimized Block-Based Algorithms to Label Connected
 * Components on GPUs (paper 002), BUF (algorithm 2) and BUF_IC.
 *
 * Where this differs from the paper as printed:
 * - Labels of blocks are not kept in the label image, every fourth pixel of it, but side by side in
 *   a table of their own, which is there anyway once the geometry is known, and takes a quarter of
 *   the memory transfers.
 * - Unions that follow from others are left out, as Playne and Hawick do for pixels; see
 *   needed_unions(). */

#include "cuda/device/blocks.cuh"

static __global__ void
initialization (CclCudaFrame f)
{
  Block b = get_block (f);

  if (b.inside)
    f.labelled.blocks[b.label] = b.label;
}

static __global__ void
merge_blocks (CclCudaFrame f)
{
  Block b = get_block (f);
  uint32_t unions = needed_unions (load_square (f, b, 3)), *labels = f.labelled.blocks;

  if (unions & SQUARE_P)
    unite (labels, b.label, b.label - f.slots - 1);
  if (unions & SQUARE_Q)
    unite (labels, b.label, b.label - f.slots);
  if (unions & SQUARE_R)
    unite (labels, b.label, b.label - f.slots + 1);
  if (unions & SQUARE_S)
    unite (labels, b.label, b.label - 1);
}

static __global__ void
final_labeling (CclCudaFrame f)
{
  label_block (f);
}

static cudaError_t
enqueue (const CclCudaFrame *f, bool in_line, cudaStream_t stream)
{
  unsigned grid = block_grid (f);

  initialization<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  merge_blocks<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_compression (f->labelled.blocks, n_blocks (f), in_line, stream);
  ccl_cuda_stage (f, "compression", stream);
  final_labeling<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "final labeling", stream);
  return cudaGetLastError ();
}

extern "C" cudaError_t
ccl_cuda_buf (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, false, stream);
}

extern "C" cudaError_t
ccl_cuda_buf_ic (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, true, stream);
}
