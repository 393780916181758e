/* cudaccl - CUDA backend: block-based union-find, for volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Allegretti, F. Bolelli, C. Grana: Optimized Block-Based Algorithms to Label Connected
 * Components on GPUs (Allegretti 2020, section 5.3), BUF and BUF_IC with 26-connectivity. As in the
 * paper, the merge stores which voxels of a block are foreground. */

#include "cuda/algorithms/voxel_blocks.cuh"

static __global__ void
buf_volume_initialize (CclLabelImage image)
{
  Cube c = get_cube (image);

  if (c.inside)
    image.blocks[c.label] = c.label;
}

static __global__ void
buf_volume_merge (CclCudaFrame f, CclLabelImage image)
{
  Cube c = get_cube (image);
  uint64_t voxels = load_cube (f, image, c);

  if (!c.inside)
    return;
  image.infos_3d[c.label] = own_voxels (voxels);
  unite_cubes (image, c.label, touching_neighbours (image, voxels, CUBE_EARLIER));
}

static __global__ void
buf_volume_label_voxels (CclLabelImage image)
{
  Cube c = get_cube (image);

  if (c.inside)
    label_voxels (image, c, image.infos_3d[c.label]);
}

template <bool in_line>
static cudaError_t
buf_volume_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);
  unsigned grid = cube_grid (work);
  cudaError_t error;

  error = launch (buf_volume_initialize, grid, block_threads (), 0, stream, *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = launch (buf_volume_merge, grid, block_threads (), 0, stream, work->frame, *image);
  ccl_cuda_stage (work, "merge", stream);
  if (error == cudaSuccess)
    error = compress_blocks (work, in_line, stream);
  ccl_cuda_stage (work, "compression", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (buf_volume_label_voxels, grid, block_threads (), 0, stream, *image);
  ccl_cuda_stage (work, "final labeling", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_volume_algorithm_buf) =
    CCL_CUDA_LABELLING ("buf", "BUF: block-based union-find (Allegretti et al. 2020)", 26,
                        ccl_cuda_block_image_open, buf_volume_label<false>);

CCL_CUDA_ALGORITHM (ccl_cuda_volume_algorithm_buf_ic) =
    CCL_CUDA_LABELLING ("buf-ic", "BUF with inline compression (Allegretti et al. 2020)", 26,
                        ccl_cuda_block_image_open, buf_volume_label<true>);
