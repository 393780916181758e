/* cudaccl - CUDA backend: block-based Komura equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Allegretti, F. Bolelli, C. Grana: Optimized Block-Based Algorithms to Label Connected
 * Components on GPUs (paper 002, section 5.2), BKE and BKE_IC.
 *
 * Where this differs from the paper as printed: labels and information bytes of blocks are not kept
 * in the label image but side by side in tables of their own; see buf.cu. So frames of odd sizes
 * are no special case. */

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
  uint32_t square = load_square (f, b, 3), touching = touching_block (square);
  uint32_t info = own_pixels (square), label = b.label;

  if (!b.inside)
    return;
  info |= (touching & SQUARE_Q ? INFO_Q : 0) | (touching & SQUARE_R ? INFO_R : 0) |
          (touching & SQUARE_S ? INFO_S : 0);
  if (touching & SQUARE_P) {
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

static __global__ void
reduction (CclCudaFrame f)
{
  Block b = get_block (f);
  uint32_t info = b.inside ? f.labelled.infos[b.label] : 0, *labels = f.labelled.blocks;

  if (info & INFO_Q)
    unite (labels, b.label, b.label - f.slots);
  if (info & INFO_R)
    unite (labels, b.label, b.label - f.slots + 1);
  if (info & INFO_S)
    unite (labels, b.label, b.label - 1);
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

  initialization<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.blocks, n_blocks (f), in_line, stream);
  ccl_cuda_stage (f, "compression", stream);
  reduction<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_compression (f->labelled.blocks, n_blocks (f), in_line, stream);
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
