/* cudaccl - CUDA backend: from roots to the canonical result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Labels are numbered in raster order and a root is its component's smallest label, so counting the
 * roots of each part of a row and a scan over the counts gives each its place, and no sort is
 * needed. */

#include "cuda/device/selection.cuh"

#include <cub/device/device_scan.cuh>

static __device__ inline Verdict
judge_slot (const CclCudaFrame &f, const Part &part, uint32_t slot)
{
  return slot < part.to ? judge (f, part.row + slot) : OUT;
}

static __global__ void
count_roots (CclCudaFrame f)
{
  uint32_t kept = 0, tied = 0;
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    Verdict verdict = judge_slot (f, part, slot + lane_id ());

    kept += __popc (__ballot_sync (ALL_LANES, verdict == KEPT));
    tied += __popc (__ballot_sync (ALL_LANES, verdict == TIED));
  }
  if (lane_id () == 0)
    f.counts[part.index] = pack_counts (kept, tied);
}

static __global__ void
write_components (CclCudaFrame f)
{
  __shared__ WriteBuffer buffers[PART_WARPS];
  uint64_t before, after;
  Part part;

  if (!get_part (f, &part))
    return;
  before = f.counts[part.index];
  after = f.counts[part.index + 1];
  if (part.index == (size_t) f.height * f.parts - 1 && lane_id () == 0)
    f.header->kept = place (f, after);
  if (before == after)
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot + lane_id ();
    Verdict verdict = judge_slot (f, part, slot + lane_id ());
    uint32_t kept = __ballot_sync (ALL_LANES, verdict == KEPT);
    uint32_t tied = __ballot_sync (ALL_LANES, verdict == TIED);
    uint32_t lanes = bits_below (lane_id ());

    before += pack_counts (__popc (kept & lanes), __popc (tied & lanes));
    write_warp (f, &buffers[threadIdx.y], label, verdict == OUT ? 0 : f.starts[label], part.y,
                verdict, before);
    before += pack_counts (__popc (kept & ~lanes), __popc (tied & ~lanes));
  }
}

static __global__ void
count_areas (CclCudaFrame f, CclCutSearch search)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot;

    if (f.labels[label] == label)
      count_area (f, search, label);
  }
}

static size_t
n_counts (const CclCudaFrame *f)
{
  return (size_t) f->height * f->parts + 1;
}

extern "C" cudaError_t
ccl_cuda_compact_scratch (const CclCudaFrame *f, size_t *size)
{
  return cub::DeviceScan::ExclusiveSum (NULL, *size, f->counts, f->counts, n_counts (f));
}

extern "C" cudaError_t
ccl_cuda_compact (const CclCudaFrame *f, cudaStream_t stream)
{
  dim3 block (WARP_LANES, PART_WARPS);
  size_t scratch_size = f->scratch_size;
  cudaError_t error;

  count_roots<<<part_blocks (f), block, 0, stream>>> (*f);
  error = cub::DeviceScan::ExclusiveSum (f->scratch, scratch_size, f->counts, f->counts,
                                         n_counts (f), stream);
  if (error != cudaSuccess)
    return error;
  write_components<<<part_blocks (f), block, 0, stream>>> (*f);
  return cudaGetLastError ();
}

extern "C" cudaError_t
ccl_cuda_histogram (const CclCudaFrame *f, const CclCutSearch *search, cudaStream_t stream)
{
  cudaError_t error = clear_histogram (f, stream);

  if (error != cudaSuccess)
    return error;
  count_areas<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f, *search);
  return cudaGetLastError ();
}
