/* cudaccl - CUDA backend: HA4
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/algorithms/ha4.cuh"
#include "cuda/device/label_map.cuh"

#define MAP_BLOCKS 4 /* at a time: a lane's loads of labels overlap */

/* Returns the result label of the run that starts at this lane's pixel of a block; 0 if none starts
 * there. */
static __device__ inline uint32_t
label_of_run (const CclComponentTable &t, const CclCudaResult &r, uint32_t y, uint32_t base,
              uint64_t pixels)
{
  int x = candidate (pixels);

  return is_start (pixels, x) ? result_label (t, r, y * t.slots + (base + x) / 2) : 0;
}

/* Algorithm 5, lines 9 and 10: writes the labels of a block. @label: that of the run that starts at
 * this lane's pixel. */
static __device__ inline void
store_block_labels (const CclCudaFrame &f, const CclCudaResult &r, uint32_t y, uint32_t base,
                    uint64_t pixels, uint32_t label)
{
  for (int x = (int) lane_id (); x < Ha4<uint64_t>::block; x += WARP_LANES) {
    int start = x - start_distance (pixels, x);
    uint32_t of_run = __shfl_sync (ALL_LANES, label, start / Ha4<uint64_t>::lane_pixels);

    store_label (r, f.width, base + x, y, pixels >> x & 1 ? of_run : 0);
  }
}

/* Algorithm 5: writes the label map, for every variant. In each block of 64 pixels a run has a
 * label at least where it starts. */
static __global__ void
ha4_write_label_map (CclCudaFrame f, CclComponentTable t, CclCudaResult r)
{
  const uint32_t block = Ha4<uint64_t>::block, chunk = Ha4<uint64_t>::chunk;
  uint32_t chunks = (f.width - 1) / chunk + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;
  uint32_t y = (uint32_t) (index / chunks);
  uint32_t first = (uint32_t) (index - (size_t) y * chunks) * chunk;
  uint64_t pixels;

  if (y >= f.height)
    return;
  pixels = load_lane_block<uint64_t> (f, y, first + lane_id () * block);
  for (uint32_t i = 0; i < WARP_LANES && first + i * block < f.width; i += MAP_BLOCKS) {
    uint32_t base = first + i * block, labels[MAP_BLOCKS];

#pragma unroll
    for (uint32_t k = 0; k < MAP_BLOCKS; k++)
      labels[k] = label_of_run (t, r, y, base + k * block, warp_shuffle (pixels, i + k));
#pragma unroll
    for (uint32_t k = 0; k < MAP_BLOCKS; k++)
      store_block_labels (f, r, y, base + k * block, warp_shuffle (pixels, i + k), labels[k]);
  }
}

cudaError_t
ccl_cuda_ha4_select (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  size_t chunks = f->height * (size_t) ((f->width - 1) / Ha4<uint64_t>::chunk + 1);
  cudaError_t error = ccl_cuda_slots_select (work, stream);

  if (error != cudaSuccess || !work->result.label_map)
    return error;
  error = launch (ha4_write_label_map, warp_grid (chunks, HA4_STRIP), strip_threads (), 0, stream,
                  *f, work->components, work->result);
  ccl_cuda_stage_label_map (work, stream);
  return error;
}

cudaError_t
ccl_cuda_ha4_label (const CclCudaWork *work, cudaStream_t stream)
{
  return ha4_label<uint64_t, false> (work, stream);
}

static cudaError_t
ha4_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_ha4_label (work, stream);

  return error == cudaSuccess ? ha4_add_features<uint64_t, false> (work, stream) : error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_ha4) = HA4_ALGORITHM (
    "ha4", "HA4: strips of bitmasks, two pixels per thread (Hennequin et al. 2018)", ha4_enqueue);
