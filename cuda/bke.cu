/* cudaccl - CUDA backend: block-based Komura equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Allegretti, F. Bolelli, C. Grana: Optimized Block-Based Algorithms to Label Connected
 * Components on GPUs (paper 002, section 5.2), BKE and BKE_IC.
 *
 * Where this differs from the paper as printed:
 * - Labels and information bytes of blocks are not kept in the label image but side by side in
 *   tables of their own; see buf.cu. So frames of odd sizes are no special case.
 * - Unions that follow from others are left out; see needed_unions(). */

#include "cuda/blocks.cuh"

/* The information byte (table 1): the block's foreground pixels in the low half, and the neighbours
 * that it was not linked to. */
enum
{
  INFO_PIXELS = 0x0f,
  INFO_Q = 0x20,
  INFO_R = 0x40,
  INFO_S = 0x80,
};

/* Links every block to the first of its neighbours. */
static __global__ void
initialization (CclCudaFrame f)
{
  Block b = get_block (f);
  uint32_t square = load_square (f, b, 3), unions = needed_unions (square);
  uint32_t info = own_pixels (square), label = b.label;

  if (!b.inside)
    return;
  info |= (unions & SQUARE_Q ? INFO_Q : 0) | (unions & SQUARE_R ? INFO_R : 0) |
          (unions & SQUARE_S ? INFO_S : 0);
  if (unions & SQUARE_P) {
    label -= f.slots + 1;
  } else if (info & INFO_Q) {
    label -= f.slots;
    info &= ~INFO_Q;
  } else if (info & INFO_R) {
    label -= f.slots - 1;
    info &= ~INFO_R;
  } else if (info & INFO_S) {
    label -= 1;
    info &= ~INFO_S;
  }
  f.labelled.blocks[b.label] = label;
  f.labelled.infos[b.label] = (uint8_t) info;
}

#define REDUCTION_BLOCKS 4 /* of a thread */

static __global__ void
reduction (CclCudaFrame f, size_t count)
{
  size_t first = ((size_t) blockIdx.x * blockDim.x + threadIdx.x) * REDUCTION_BLOCKS;
  uint32_t infos[REDUCTION_BLOCKS], *labels = f.labelled.blocks;

#pragma unroll
  for (uint32_t k = 0; k < REDUCTION_BLOCKS; k++)
    infos[k] = first + k < count ? f.labelled.infos[first + k] : 0;
#pragma unroll
  for (uint32_t k = 0; k < REDUCTION_BLOCKS; k++) {
    uint32_t label = (uint32_t) first + k;

    if (infos[k] & INFO_Q)
      unite (labels, label, label - f.slots);
    if (infos[k] & INFO_R)
      unite (labels, label, label - f.slots + 1);
    if (infos[k] & INFO_S)
      unite (labels, label, label - 1);
  }
}

static __global__ void
final_labeling (CclCudaFrame f)
{
  Block b = get_block (f);

  if (b.inside)
    label_pixels (f, b, f.labelled.infos[b.label] & INFO_PIXELS, f.labelled.blocks[b.label]);
}

static cudaError_t
enqueue (const CclCudaFrame *f, bool in_line, cudaStream_t stream)
{
  unsigned grid = block_grid (f);
  size_t count = n_blocks (f);

  initialization<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.blocks, count, in_line, stream);
  ccl_cuda_stage (f, "compression", stream);
  reduction<<<(unsigned) ((count - 1) / (FOREST_THREADS * REDUCTION_BLOCKS) + 1), FOREST_THREADS, 0,
              stream>>> (*f, count);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_compression (f->labelled.blocks, count, in_line, stream);
  ccl_cuda_stage (f, "second compression", stream);
  final_labeling<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "final labeling", stream);
  return cudaGetLastError ();
}

extern "C" cudaError_t
ccl_cuda_bke (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, false, stream);
}

extern "C" cudaError_t
ccl_cuda_bke_ic (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, true, stream);
}
