/* cudaccl - CUDA backend: block-based Komura equivalence, for volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 002, section 5.3: BKE and BKE_IC with 26-connectivity. Labels and information are in tables
 * of their own, see buf.cu. */

#include "cuda/device/voxel_blocks.cuh"

/* A block's information: its foreground voxels, and above them the neighbours that it was not
 * linked to. */
#define INFO_VOXELS 0xff
#define INFO_NEIGHBOURS 8 /* bits from here on */

/* Links every block to the first of its neighbours. */
static __global__ void
initialization (CclCudaFrame f)
{
  Cube c = get_cube (f);
  uint64_t voxels = load_cube (f, c), mask;
  uint32_t neighbours = touching_neighbours (f, voxels, CUBE_EARLIER), step = 0;

  if (!c.inside)
    return;
  if (neighbours)
    cube_neighbour (f, __ffs (neighbours) - 1, &mask, &step);
  neighbours &= neighbours - 1;
  f.labelled.blocks[c.label] = c.label + step;
  f.volume.infos[c.label] = own_voxels (voxels) | neighbours << INFO_NEIGHBOURS;
}

static __global__ void
reduction (CclCudaFrame f)
{
  Cube c = get_cube (f);

  if (c.inside)
    unite_cubes (f, c.label, f.volume.infos[c.label] >> INFO_NEIGHBOURS);
}

static __global__ void
final_labeling (CclCudaFrame f)
{
  Cube c = get_cube (f);

  if (c.inside)
    label_voxels (f, c, f.volume.infos[c.label] & INFO_VOXELS);
}

static cudaError_t
enqueue (const CclCudaFrame *f, bool in_line, cudaStream_t stream)
{
  unsigned grid = cube_grid (f);

  initialization<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.blocks, n_cubes (*f), in_line, stream);
  ccl_cuda_stage (f, "compression", stream);
  reduction<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_shallow_compression (f->labelled.blocks, n_cubes (*f), in_line, stream);
  ccl_cuda_stage (f, "second compression", stream);
  final_labeling<<<grid, block_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "final labeling", stream);
  return cudaGetLastError ();
}

extern "C" cudaError_t
ccl_cuda_bke_3d (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, false, stream);
}

extern "C" cudaError_t
ccl_cuda_bke_ic_3d (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue (f, true, stream);
}
