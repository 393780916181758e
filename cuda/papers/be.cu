/* cudaccl - CUDA backend: block equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* BE: S. Zavalishin, I. Safonov, Y. Bekhtin, I. Kurilin: Block Equivalence Algorithm for Labeling
 * 2D and 3D Images on GPU, as described by Allegretti 2020, section 3.1. Label equivalence
 * (Kalentev 2011) over blocks of 2 x 2 pixels and a map of which of them touch. The loop is inside
 * the kernel; see iterate.cuh. */

#include "cuda/papers/iterate.cuh"
#include "cuda/algorithms/voxel_blocks.cuh"

/* The block label map and the connectivity map. */
static __global__ void
be_initialize (CclCudaFrame f, CclLabelImage image)
{
  static const uint16_t neighbours[] = { SQUARE_P, SQUARE_Q, SQUARE_R, SQUARE_S,
                                         SQUARE_E, SQUARE_T, SQUARE_U, SQUARE_V };
  Block b = get_block (f, image);
  uint32_t square = load_square (f, b, 4), touching = touching_block (square), map = 0;

  if (!b.inside)
    return;
  for (uint32_t i = 0; i < 8; i++)
    map |= (touching & neighbours[i] ? 1u : 0u) << i;
  image.infos[b.label] = (uint8_t) map;
  image.blocks[b.label] = own_pixels (square) ? b.label : CCL_NO_LABEL;
}

/* Returns the lowest label of the blocks that touch block @i. */
static __device__ inline uint32_t
lowest_block_label (const CclCudaFrame &f, const CclLabelImage &image, uint32_t i)
{
  const int32_t row = (int32_t) image.block_pitch;
  const int32_t steps[] = { -row - 1, -row, 1 - row, -1, 1, row - 1, row, row + 1 };
  uint32_t map = image.infos[i], lowest = CCL_NO_LABEL;

#pragma unroll
  for (uint32_t k = 0; k < 8; k++) {
    if (map >> k & 1)
      lowest = min (lowest, image.blocks[i + (uint32_t) steps[k]]);
  }
  return lowest;
}

static __global__ void
be_scan_and_analyse (CclCudaFrame f, CclLabelImage image)
{
  repeat_scan_and_analysis<lowest_block_label> (f, image, image.blocks, image.n_blocks);
}

static __global__ void
be_label_pixels (CclCudaFrame f, CclLabelImage image)
{
  label_block (f, image);
}

static cudaError_t
enqueue (const CclCudaWork *work, unsigned grid, PixelKernel initialize, PixelKernel iterate,
         PixelKernel label, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  const CclLabelImage *image = ccl_cuda_label_image (work);
  cudaError_t error;

  error = launch (initialize, grid, block_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = enqueue_iterations (work, iterate, stream);
  ccl_cuda_stage (work, "scanning and analysis", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (label, grid, block_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "final labeling", stream);
  return error;
}

static cudaError_t
be_label (const CclCudaWork *work, cudaStream_t stream)
{
  return enqueue (work, block_grid (work), be_initialize, be_scan_and_analyse, be_label_pixels,
                  stream);
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_be) =
    CCL_CUDA_LABELLING ("be", "BE: block equivalence, iterative (Zavalishin et al. 2016)", 8,
                        ccl_cuda_block_image_open, be_label);

/* Volumes, with 26-connectivity: the connectivity map has a bit for each of 26 neighbours. */

static __global__ void
be_volume_initialize (CclCudaFrame f, CclLabelImage image)
{
  Cube c = get_cube (image);
  uint64_t voxels = load_cube (f, image, c);

  if (!c.inside)
    return;
  image.infos_3d[c.label] = touching_neighbours (image, voxels, CUBE_NEIGHBOURS);
  image.blocks[c.label] = own_voxels (voxels) ? c.label : CCL_NO_LABEL;
}

static __device__ inline uint32_t
lowest_volume_label (const CclCudaFrame &f, const CclLabelImage &image, uint32_t i)
{
  uint32_t lowest = CCL_NO_LABEL;

  for (uint32_t map = image.infos_3d[i]; map; map &= map - 1) {
    uint64_t mask;
    uint32_t step;

    cube_neighbour (image, __ffs (map) - 1, &mask, &step);
    lowest = min (lowest, image.blocks[i + step]);
  }
  return lowest;
}

static __global__ void
be_volume_scan_and_analyse (CclCudaFrame f, CclLabelImage image)
{
  repeat_scan_and_analysis<lowest_volume_label> (f, image, image.blocks, image.n_blocks);
}

static __global__ void
be_volume_label_voxels (CclCudaFrame f, CclLabelImage image)
{
  Cube c = get_cube (image);
  uint32_t voxels = own_voxels (load_cube (f, image, c));

  if (c.inside)
    label_voxels (image, c, voxels);
}

static cudaError_t
be_volume_label (const CclCudaWork *work, cudaStream_t stream)
{
  return enqueue (work, cube_grid (work), be_volume_initialize, be_volume_scan_and_analyse,
                  be_volume_label_voxels, stream);
}

CCL_CUDA_ALGORITHM (ccl_cuda_volume_algorithm_be) =
    CCL_CUDA_LABELLING ("be", "BE: block equivalence, iterative (Zavalishin et al. 2016)", 26,
                        ccl_cuda_block_image_open, be_volume_label);
