/* cudaccl - CUDA backend: block-based union-find, for volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 002, section 5.3: BUF and BUF_IC with 26-connectivity. As there, the merge keeps which
 * voxels of a block are foreground; labels are in a table of their own, see buf.cu. */

#include "cuda/device/voxel_blocks.cuh"

static __global__ void
initialization (CclCudaFrame f)
{
  Cube c = get_cube (f);

  if (c.inside)
    f.labelled.blocks[c.label] = c.label;
}

static __global__ void
merge_cubes (CclCudaFrame f)
{
  Cube c = get_cube (f);
  uint64_t voxels = load_cube (f, c);

  if (!c.inside)
    return;
  f.volume.infos[c.label] = own_voxels (voxels);
  unite_cubes (f, c.label, touching_neighbours (f, voxels, CUBE_EARLIER));
}

static __global__ void
final_labeling (CclCudaFrame f)
{
  Cube c = get_cube (f);

  if (c.inside)
    label_voxels (f, c, f.volume.infos[c.label]);
}

static cudaError_t
enqueue (const CclCudaFrame *f, bool in_line, cudaStream_t stream)
{
  unsigned grid = cube_grid (f);

  initialization<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  merge_cubes<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_compression (f->labelled.blocks, n_cubes (*f), in_line, stream);
  ccl_cuda_stage (f, "compression", stream);
  final_labeling<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "final labeling", stream);
  return cudaGetLastError ();
}

extern "C" cudaError_t
ccl_cuda_buf_3d (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, false, stream);
}

extern "C" cudaError_t
ccl_cuda_buf_ic_3d (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, true, stream);
}
