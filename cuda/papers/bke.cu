/* cudaccl - CUDA backend: block-based Komura equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* S. Allegretti, F. Bolelli, C. Grana: Optimized Block-Based Algorithms to Label Connected
 * Components on GPUs (Allegretti 2020, section 5.2), BKE and BKE_IC; section 5.3 for volumes.
 *
 * Where this differs from the paper as printed:
 * - Labels and information bytes of blocks are not kept in the label image but side by side in
 *   tables of their own; see buf.cu. So frames of odd sizes are not special.
 * - Unions that follow from others are left out; see needed_unions(). */

#include "cuda/algorithms/voxel_blocks.cuh"

/* The information byte (table 1): the block's foreground pixels, and the neighbours that it must
 * still be united with because it was not linked to them. */
enum
{
  INFO_PIXELS = 0x0f,
  INFO_Q = 0x20,
  INFO_R = 0x40,
  INFO_S = 0x80,
};

#define BKE_BLOCKS 4 /* of a thread, side by side */

/* Links a block to the first of its neighbours. Returns its information byte. */
static __device__ inline uint32_t
link_block (uint32_t pitch, uint32_t square, uint32_t *label)
{
  uint32_t unions = needed_unions (square), info = own_pixels (square);

  info |= (unions & SQUARE_Q ? INFO_Q : 0) | (unions & SQUARE_R ? INFO_R : 0) |
          (unions & SQUARE_S ? INFO_S : 0);
  if (unions & SQUARE_P) {
    *label -= pitch + 1;
  } else if (info & INFO_Q) {
    *label -= pitch;
    info &= ~INFO_Q;
  } else if (info & INFO_R) {
    *label -= pitch - 1;
    info &= ~INFO_R;
  } else if (info & INFO_S) {
    *label -= 1;
    info &= ~INFO_S;
  }
  return info;
}

/* @bits: CclCudaFrame.bits. */
template <bool bits>
static __global__ void
bke_initialize (CclCudaFrame f, CclLabelImage image)
{
  uint32_t pitch = image.block_pitch, threads = (pitch - 1) / BKE_BLOCKS + 1;
  uint32_t columns = (threads - 1) / BLOCKS_WIDE + 1;
  uint32_t row = blockIdx.x / columns, y = row * BLOCKS_HIGH + threadIdx.y;
  uint32_t x = ((blockIdx.x - row * columns) * BLOCKS_WIDE + threadIdx.x) * BKE_BLOCKS;
  uint32_t rows[3], labels[BKE_BLOCKS], infos[BKE_BLOCKS], first = y * pitch + x;

  f.bits = bits;
  if (x >= pitch || y >= block_rows (f))
    return;
#pragma unroll
  for (uint32_t i = 0; i < 3; i++)
    rows[i] = foreground_around (f, 2 * x, 2 * y + i - 1, 3);
#pragma unroll
  for (uint32_t k = 0; k < BKE_BLOCKS; k++) {
    uint32_t square = 0;

    for (uint32_t i = 0; i < 3; i++)
      square |= (rows[i] >> 2 * k & 15) << 4 * i;
    labels[k] = first + k;
    infos[k] = link_block (pitch, square, &labels[k]);
  }
  if (pitch % BKE_BLOCKS == 0) {
    *(uint4 *) &image.blocks[first] = make_uint4 (labels[0], labels[1], labels[2], labels[3]);
    *(uint32_t *) &image.infos[first] = infos[0] | infos[1] << 8 | infos[2] << 16 | infos[3] << 24;
    return;
  }
#pragma unroll
  for (uint32_t k = 0; k < BKE_BLOCKS; k++) {
    if (x + k < pitch) {
      image.blocks[first + k] = labels[k];
      image.infos[first + k] = (uint8_t) infos[k];
    }
  }
}

#define BKE_REDUCE_THREADS 256

static __global__ void
bke_reduce (CclLabelImage image)
{
  size_t index = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t info = index < image.n_blocks ? image.infos[index] : 0, label = (uint32_t) index;
  CachedForest forest = { image.blocks };

  if (info & INFO_Q)
    unite (forest, label, label - image.block_pitch);
  if (info & INFO_R)
    unite (forest, label, label - image.block_pitch + 1);
  if (info & INFO_S)
    unite (forest, label, label - 1);
}

static __global__ void
bke_label_pixels (CclCudaFrame f, CclLabelImage image)
{
  Block b = get_block (f, image);

  if (b.inside)
    label_pixels (f, image, b, image.infos[b.label] & INFO_PIXELS, image.blocks[b.label]);
}

template <bool in_line>
static cudaError_t
bke_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  const CclLabelImage *image = ccl_cuda_label_image (work);
  unsigned columns = (image->block_pitch - 1) / (BKE_BLOCKS * BLOCKS_WIDE) + 1;
  unsigned rows = (block_rows (*f) - 1) / BLOCKS_HIGH + 1;
  unsigned blocks = (unsigned) ((image->n_blocks - 1) / BKE_REDUCE_THREADS + 1);
  cudaError_t error;

  error = launch (f->bits ? bke_initialize<true> : bke_initialize<false>, columns * rows,
                  block_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = compress_blocks (work, in_line, stream);
  ccl_cuda_stage (work, "compression", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (bke_reduce, blocks, BKE_REDUCE_THREADS, 0, stream, *image);
  ccl_cuda_stage (work, "reduction", stream);
  if (error == cudaSuccess)
    error = compress_blocks_shallow (work, in_line, stream);
  ccl_cuda_stage (work, "second compression", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (bke_label_pixels, block_grid (work), block_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "final labeling", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_bke) =
    CCL_CUDA_LABELLING ("bke", "BKE: block-based Komura equivalence (Allegretti et al. 2020)", 8,
                        ccl_cuda_block_image_open, bke_label<false>);

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_bke_ic) =
    CCL_CUDA_LABELLING ("bke-ic", "BKE with inline compression (Allegretti et al. 2020)", 8,
                        ccl_cuda_block_image_open, bke_label<true>);

/* Volumes, with 26-connectivity */

/* A block's information: its foreground voxels, and from bit INFO_NEIGHBOURS on the neighbours that
 * it was not linked to. */
#define INFO_VOXELS 0xff
#define INFO_NEIGHBOURS 8

static __global__ void
bke_volume_initialize (CclCudaFrame f, CclLabelImage image)
{
  Cube c = get_cube (image);
  uint64_t voxels = load_cube (f, image, c), mask;
  uint32_t neighbours = touching_neighbours (image, voxels, CUBE_EARLIER), step = 0;

  if (!c.inside)
    return;
  if (neighbours)
    cube_neighbour (image, __ffs (neighbours) - 1, &mask, &step);
  neighbours &= neighbours - 1;
  image.blocks[c.label] = c.label + step;
  image.infos_3d[c.label] = own_voxels (voxels) | neighbours << INFO_NEIGHBOURS;
}

static __global__ void
bke_volume_reduce (CclLabelImage image)
{
  Cube c = get_cube (image);

  if (c.inside)
    unite_cubes (image, c.label, image.infos_3d[c.label] >> INFO_NEIGHBOURS);
}

static __global__ void
bke_volume_label_voxels (CclLabelImage image)
{
  Cube c = get_cube (image);

  if (c.inside)
    label_voxels (image, c, image.infos_3d[c.label] & INFO_VOXELS);
}

template <bool in_line>
static cudaError_t
bke_volume_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);
  unsigned grid = cube_grid (work);
  cudaError_t error;

  error = launch (bke_volume_initialize, grid, block_threads (), 0, stream, work->frame, *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = compress_blocks (work, in_line, stream);
  ccl_cuda_stage (work, "compression", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (bke_volume_reduce, grid, block_threads (), 0, stream, *image);
  ccl_cuda_stage (work, "reduction", stream);
  if (error == cudaSuccess)
    error = compress_blocks_shallow (work, in_line, stream);
  ccl_cuda_stage (work, "second compression", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (bke_volume_label_voxels, grid, block_threads (), 0, stream, *image);
  ccl_cuda_stage (work, "final labeling", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_volume_algorithm_bke) =
    CCL_CUDA_LABELLING ("bke", "BKE: block-based Komura equivalence (Allegretti et al. 2020)", 26,
                        ccl_cuda_block_image_open, bke_volume_label<false>);

CCL_CUDA_ALGORITHM (ccl_cuda_volume_algorithm_bke_ic) =
    CCL_CUDA_LABELLING ("bke-ic", "BKE with inline compression (Allegretti et al. 2020)", 26,
                        ccl_cuda_block_image_open, bke_volume_label<true>);
