/* cudaccl - CUDA backend: block equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Zavalishin, I. Safonov, Y. Bekhtin, I. Kurilin: Block Equivalence Algorithm for Labeling 2D
 * and 3D Images on GPU, as told by paper 002, section 3.1: BE, label equivalence (paper 001) over
 * blocks of 2 x 2 pixels and a map of which of them touch. The loop is in the kernel; see
 * iterate.cuh. */

#include "cuda/device/blocks.cuh"
#include "cuda/device/iterate.cuh"

/* The block label map and the connectivity map. */
static __global__ void
init_blocks (CclCudaFrame f)
{
  static const uint16_t neighbours[] = { SQUARE_P, SQUARE_Q, SQUARE_R, SQUARE_S,
                                         SQUARE_E, SQUARE_T, SQUARE_U, SQUARE_V };
  Block b = get_block (f);
  uint32_t square = load_square (f, b, 4), touching = touching_block (square), map = 0;

  if (!b.inside)
    return;
  for (uint32_t i = 0; i < 8; i++)
    map |= (touching & neighbours[i] ? 1u : 0u) << i;
  f.labelled.infos[b.label] = (uint8_t) map;
  f.labelled.blocks[b.label] = own_pixels (square) ? b.label : CCL_NO_LABEL;
}

/* The lowest label of the blocks that touch block @i. */
static __device__ inline uint32_t
lowest_label (const CclCudaFrame &f, uint32_t i)
{
  const uint32_t *labels = f.labelled.blocks;
  const int32_t row = (int32_t) f.slots;
  const int32_t steps[] = { -row - 1, -row, 1 - row, -1, 1, row - 1, row, row + 1 };
  uint32_t map = f.labelled.infos[i], lowest = CCL_NO_LABEL;

#pragma unroll
  for (uint32_t k = 0; k < 8; k++) {
    if (map >> k & 1)
      lowest = min (lowest, labels[i + (uint32_t) steps[k]]);
  }
  return lowest;
}

static __global__ void
scan_and_analyse (CclCudaFrame f)
{
  repeat_scan_and_analysis (f, f.labelled.blocks, (size_t) block_rows (f) * f.slots, lowest_label);
}

static __global__ void
final_labeling (CclCudaFrame f)
{
  label_block (f);
}

extern "C" cudaError_t
ccl_cuda_be (const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error;

  init_blocks<<<block_grid (f), block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  error = enqueue_iterations (scan_and_analyse, f, stream);
  ccl_cuda_stage (f, "scanning and analysis", stream);
  final_labeling<<<block_grid (f), block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "final labeling", stream);
  return error == cudaSuccess ? cudaGetLastError () : error;
}
