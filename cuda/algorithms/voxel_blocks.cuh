/* cudaccl - CUDA backend: blocks of 2 x 2 x 2 voxels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* With 26-connectivity all foreground voxels of a block belong to one component (Allegretti 2020,
 * section 5.3). Each thread handles one block. A volume is a frame of height * depth rows, slice by
 * slice. */

#ifndef CCL_CUDA_VOXEL_BLOCKS_CUH
#define CCL_CUDA_VOXEL_BLOCKS_CUH

#include "cuda/algorithms/blocks.cuh"

#define CUBE_NEIGHBOURS 26
#define CUBE_EARLIER 13 /* those before the block in raster order */

struct Cube
{
  uint32_t x, y, z; /* in blocks */
  bool inside;      /* whether it is in the volume */
  uint32_t label;
};

static __host__ __device__ inline uint32_t
cube_rows (const CclLabelImage &image)
{
  return image.slice_height / 2 + image.slice_height % 2;
}

static __device__ inline Cube
get_cube (const CclLabelImage &image)
{
  uint32_t columns = (image.block_pitch - 1) / BLOCKS_WIDE + 1;
  uint32_t rows = (cube_rows (image) - 1) / BLOCKS_HIGH + 1, row = blockIdx.x / columns;
  Cube c;

  c.x = (blockIdx.x - row * columns) * BLOCKS_WIDE + threadIdx.x;
  c.y = row % rows * BLOCKS_HIGH + threadIdx.y;
  c.z = row / rows;
  c.inside = c.x < image.block_pitch && c.y < cube_rows (image);
  c.label = (c.z * cube_rows (image) + c.y) * image.block_pitch + c.x;
  return c;
}

static inline unsigned
cube_grid (const CclCudaWork *work)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);

  return ((image->block_pitch - 1) / BLOCKS_WIDE + 1) *
         ((cube_rows (*image) - 1) / BLOCKS_HIGH + 1) * (image->depth / 2 + image->depth % 2);
}

/* The 4 x 4 x 4 voxels around a block, which is in the middle, as bits 16 * slice + 4 * row +
 * column. The paper's figure 9 has them in another order. */
static __device__ inline uint64_t
load_cube (const CclCudaFrame &f, const CclLabelImage &image, const Cube &c)
{
  uint64_t voxels = 0;

#pragma unroll
  for (uint32_t i = 0; i < 16; i++) {
    uint32_t y = 2 * c.y + i % 4 - 1, z = 2 * c.z + i / 4 - 1; /* outside if it wraps */

    if (c.inside && y < image.slice_height && z < image.depth)
      voxels |= (uint64_t) foreground_around (f, 2 * c.x, z * image.slice_height + y, 1) << 4 * i;
  }
  return voxels;
}

/* The bit of a block's own voxel @i, in raster order. */
static __device__ inline uint32_t
own_voxel (uint32_t i)
{
  return 21 + i % 2 + i / 2 % 2 * 4 + i / 4 * 16;
}

/* The block's own voxels. */
static __device__ inline uint32_t
own_voxels (uint64_t voxels)
{
  uint32_t own = 0;

#pragma unroll
  for (uint32_t i = 0; i < 8; i++)
    own |= (uint32_t) (voxels >> own_voxel (i) & 1) << i;
  return own;
}

/* The voxels that touch one of the block's own: the neighbourhood of its first voxel, shifted to
 * each of them. */
static __device__ inline uint64_t
touching_cube (uint64_t voxels)
{
  uint64_t near = 0;

#pragma unroll
  for (uint32_t i = 0; i < 8; i++) {
    if (voxels >> own_voxel (i) & 1)
      near |= 0x077707770777ull << (own_voxel (i) - own_voxel (0));
  }
  return voxels & near;
}

/* Selects, from four bits in a row, those of the neighbours at @step -1, 0 or 1. Each bit is @unit
 * bits wide. */
static __device__ inline uint64_t
spread (uint64_t bits, int step, uint32_t unit)
{
  return step < 0 ? bits : step > 0 ? bits << 3 * unit : bits << unit | bits << 2 * unit;
}

/* Gets neighbour @k of 26, in raster order: its voxels, and the distance to its label. */
static __device__ inline void
cube_neighbour (const CclLabelImage &image, uint32_t k, uint64_t *voxels, uint32_t *step)
{
  uint32_t i = k < CUBE_EARLIER ? k : k + 1;
  int dx = (int) (i % 3) - 1, dy = (int) (i / 3 % 3) - 1, dz = (int) (i / 9) - 1;

  *voxels = spread (spread (spread (1, dx, 1), dy, 4), dz, 16);
  *step = ((uint32_t) dz * cube_rows (image) + (uint32_t) dy) * image.block_pitch + (uint32_t) dx;
}

/* The first @count neighbours that touch the block, as bits. */
static __device__ inline uint32_t
touching_neighbours (const CclLabelImage &image, uint64_t voxels, uint32_t count)
{
  uint64_t touching = touching_cube (voxels);
  uint32_t neighbours = 0;

#pragma unroll
  for (uint32_t k = 0; k < count; k++) {
    uint64_t mask;
    uint32_t step;

    cube_neighbour (image, k, &mask, &step);
    neighbours |= (touching & mask ? 1u : 0u) << k;
  }
  return neighbours;
}

/* Unites a block with those of the earlier neighbours whose bits are set in @neighbours. */
static __device__ inline void
unite_cubes (const CclLabelImage &image, uint32_t label, uint32_t neighbours)
{
#pragma unroll
  for (uint32_t k = 0; k < CUBE_EARLIER; k++) {
    uint64_t mask;
    uint32_t step;

    cube_neighbour (image, k, &mask, &step);
    if (neighbours >> k & 1)
      unite (CachedForest{ image.blocks }, label, label + step);
  }
}

/* FinalLabeling: gives the block's label to its foreground @voxels. */
static __device__ inline void
label_voxels (const CclLabelImage &image, const Cube &c, uint32_t voxels)
{
  uint32_t pitch = image.pitch, label = image.blocks[c.label];

  for (uint32_t i = 0; i < 4; i++, voxels >>= 2) {
    uint32_t y = 2 * c.y + i % 2, z = 2 * c.z + i / 2;
    size_t row = (size_t) z * image.slice_height + y;

    if (y < image.slice_height && z < image.depth)
      *(uint2 *) &image.pixels[row * pitch + 2 * c.x] =
          make_uint2 (voxels & 1 ? label : CCL_NO_LABEL, voxels & 2 ? label : CCL_NO_LABEL);
  }
}

#endif
