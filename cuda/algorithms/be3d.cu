/* cudaccl - CUDA backend: block equivalence, for volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* BE (see be.cu) with 26-connectivity: the connectivity map has a bit for each of 26 neighbours. */

#include "cuda/device/voxel_blocks.cuh"
#include "cuda/device/iterate.cuh"

/* The block label map and the connectivity map. */
static __global__ void
init_cubes (CclCudaFrame f)
{
  Cube c = get_cube (f);
  uint64_t voxels = load_cube (f, c);

  if (!c.inside)
    return;
  f.volume.infos[c.label] = touching_neighbours (f, voxels, CUBE_NEIGHBOURS);
  f.labelled.blocks[c.label] = own_voxels (voxels) ? c.label : CCL_NO_LABEL;
}

/* The lowest label of the blocks that touch block @i. */
static __device__ inline uint32_t
lowest_label (const CclCudaFrame &f, uint32_t i)
{
  uint32_t lowest = CCL_NO_LABEL;

  for (uint32_t map = f.volume.infos[i]; map; map &= map - 1) {
    uint64_t mask;
    uint32_t step;

    cube_neighbour (f, __ffs (map) - 1, &mask, &step);
    lowest = min (lowest, f.labelled.blocks[i + step]);
  }
  return lowest;
}

static __global__ void
scan_and_analyse (CclCudaFrame f)
{
  repeat_scan_and_analysis (f, f.labelled.blocks, n_cubes (f), lowest_label);
}

static __global__ void
final_labeling (CclCudaFrame f)
{
  Cube c = get_cube (f);
  uint32_t voxels = own_voxels (load_cube (f, c));

  if (c.inside)
    label_voxels (f, c, voxels);
}

extern "C" cudaError_t
ccl_cuda_be_3d (const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error;

  init_cubes<<<cube_grid (f), block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  error = enqueue_iterations (scan_and_analyse, f, stream);
  ccl_cuda_stage (f, "scanning and analysis", stream);
  final_labeling<<<cube_grid (f), block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "final labeling", stream);
  return error == cudaSuccess ? cudaGetLastError () : error;
}
