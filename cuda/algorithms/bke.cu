/* cudaccl - CUDA backend: block-based Komura equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Allegretti, F. Bolelli, C. Grana: Optimized Block-Based Algorithms to Label Connected
 * Components on GPUs (paper 002, section 5.2), BKE and BKE_IC.
 *
 * Where this differs from the paper as printed:
 * - Labels and information bytes of blocks are not kept in the label image but side by side in
 *   tables of their own; see buf.cu. So frames of odd sizes are no special case.
 * - Unions that follow from others are left out; see needed_unions(). */

#include "cuda/device/blocks.cuh"

/* The information byte (table 1): the block's foreground pixels in the low half, and the neighbours
 * that it was not linked to. */
enum
{
  INFO_PIXELS = 0x0f,
  INFO_Q = 0x20,
  INFO_R = 0x40,
  INFO_S = 0x80,
};

#define QUAD 4 /* blocks side by side, of a thread */

/* Links a block to the first of its neighbours; its information byte. */
static __device__ inline uint32_t
link_block (const CclCudaFrame &f, uint32_t square, uint32_t *label)
{
  uint32_t unions = needed_unions (square), info = own_pixels (square);

  info |= (unions & SQUARE_Q ? INFO_Q : 0) | (unions & SQUARE_R ? INFO_R : 0) |
          (unions & SQUARE_S ? INFO_S : 0);
  if (unions & SQUARE_P) {
    *label -= f.slots + 1;
  } else if (info & INFO_Q) {
    *label -= f.slots;
    info &= ~INFO_Q;
  } else if (info & INFO_R) {
    *label -= f.slots - 1;
    info &= ~INFO_R;
  } else if (info & INFO_S) {
    *label -= 1;
    info &= ~INFO_S;
  }
  return info;
}

static __global__ void
initialization (CclCudaFrame f)
{
  uint32_t quads = (f.slots - 1) / QUAD + 1, columns = (quads - 1) / BLOCKS_WIDE + 1;
  uint32_t row = blockIdx.x / columns, y = row * BLOCKS_HIGH + threadIdx.y;
  uint32_t x = ((blockIdx.x - row * columns) * BLOCKS_WIDE + threadIdx.x) * QUAD;
  uint32_t rows[3], labels[QUAD], infos[QUAD], first = y * f.slots + x;

  if (x >= f.slots || y >= block_rows (f))
    return;
#pragma unroll
  for (uint32_t i = 0; i < 3; i++)
    rows[i] = foreground_around (f, 2 * x, 2 * y + i - 1, 3);
#pragma unroll
  for (uint32_t k = 0; k < QUAD; k++) {
    uint32_t square = 0;

    for (uint32_t i = 0; i < 3; i++)
      square |= (rows[i] >> 2 * k & 15) << 4 * i;
    labels[k] = first + k;
    infos[k] = link_block (f, square, &labels[k]);
  }
  if (f.slots % QUAD == 0) {
    *(uint4 *) &f.labelled.blocks[first] = make_uint4 (labels[0], labels[1], labels[2], labels[3]);
    *(uint32_t *) &f.labelled.infos[first] =
        infos[0] | infos[1] << 8 | infos[2] << 16 | infos[3] << 24;
    return;
  }
#pragma unroll
  for (uint32_t k = 0; k < QUAD; k++) {
    if (x + k < f.slots) {
      f.labelled.blocks[first + k] = labels[k];
      f.labelled.infos[first + k] = (uint8_t) infos[k];
    }
  }
}

static __global__ void
reduction (CclCudaFrame f, size_t count)
{
  size_t index = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t info = index < count ? f.labelled.infos[index] : 0, label = (uint32_t) index;
  uint32_t *labels = f.labelled.blocks;

  if (info & INFO_Q)
    unite (labels, label, label - f.slots);
  if (info & INFO_R)
    unite (labels, label, label - f.slots + 1);
  if (info & INFO_S)
    unite (labels, label, label - 1);
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
  unsigned grid = block_grid (f), quads = (f->slots - 1) / (QUAD * BLOCKS_WIDE) + 1;
  size_t count = n_blocks (f);

  initialization<<<quads *((block_rows (*f) - 1) / BLOCKS_HIGH + 1), block_threads (), 0,
                   stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.blocks, count, in_line, stream);
  ccl_cuda_stage (f, "compression", stream);
  reduction<<<(unsigned) ((count - 1) / FOREST_THREADS + 1), FOREST_THREADS, 0, stream>>> (*f,
                                                                                           count);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_shallow_compression (f->labelled.blocks, count, in_line, stream);
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
