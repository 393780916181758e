/* cudaccl - CUDA backend: from roots to the canonical result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Labels are numbered in raster order and a root is its component's smallest label, so counting the
 * roots of each part of a row and a scan over the counts gives each its place, and no sort is
 * needed. */

#include "cuda/bits.cuh"

#include <cub/device/device_scan.cuh>

/* How a root stands to the result. */
enum Verdict
{
  OUT,  /* no root, or not of a wanted area */
  TIED, /* of the cut's area: in while there is room */
  KEPT,
};

static __device__ inline bool
passes (const CclCudaFrame &f, uint32_t area)
{
  return area >= f.min_area && area <= f.max_area;
}

static __device__ inline bool
is_root (const CclCudaFrame &f, const Part &part, uint32_t slot)
{
  return slot < part.to && f.labels[part.row + slot] == part.row + slot;
}

static __device__ inline Verdict
judge (const CclCudaFrame &f, const Part &part, uint32_t slot)
{
  uint32_t area;

  if (!is_root (f, part, slot))
    return OUT;
  area = f.features[part.row + slot].area;
  if (!passes (f, area) || area < f.cut.area)
    return OUT;
  return area == f.cut.area ? TIED : KEPT;
}

static __global__ void
count_roots (CclCudaFrame f)
{
  uint32_t kept = 0, tied = 0;
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    Verdict verdict = judge (f, part, slot + lane_id ());

    kept += __popc (__ballot_sync (ALL_LANES, verdict == KEPT));
    tied += __popc (__ballot_sync (ALL_LANES, verdict == TIED));
  }
  if (lane_id () == 0)
    f.counts[part.index] = (uint64_t) kept << 32 | tied;
}

/* How many components counts of kept and tied roots make. */
static __device__ inline uint32_t
place (const CclCudaFrame &f, uint32_t kept, uint32_t tied)
{
  return kept + min (tied, f.cut.ties);
}

static __device__ inline void
write_component (const CclCudaFrame &f, const Part &part, uint32_t slot, uint32_t place)
{
  uint32_t label = part.row + slot;
  CclFeatures features = f.features[label];
  CclComponent component = { features.area, features.sum_x, features.sum_y };

  if (f.moments) {
    component.sum_xx = f.moments[label].sum_xx;
    component.sum_yy = f.moments[label].sum_yy;
    component.sum_xy = f.moments[label].sum_xy;
  }
  component.label = place + 1;
  component.x = features.min_x;
  component.y = part.y;
  component.width = features.max_x - features.min_x + 1;
  component.height = features.max_y - part.y + 1;
  component.first_x = f.starts[label];
  f.components[place] = component;
}

static __global__ void
write_components (CclCudaFrame f)
{
  uint64_t before, after;
  uint32_t kept, tied;
  Part part;

  if (!get_part (f, &part))
    return;
  before = f.counts[part.index];
  after = f.counts[part.index + 1];
  kept = (uint32_t) (before >> 32);
  tied = (uint32_t) before;
  if (part.index == (size_t) f.height * f.parts - 1 && lane_id () == 0)
    f.header->kept = place (f, (uint32_t) (after >> 32), (uint32_t) after);
  if (before == after)
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    Verdict verdict = judge (f, part, slot + lane_id ());
    uint32_t keeps = __ballot_sync (ALL_LANES, verdict == KEPT);
    uint32_t ties = __ballot_sync (ALL_LANES, verdict == TIED);
    uint32_t my_kept = kept + __popc (keeps & bits_below (lane_id ()));
    uint32_t my_tied = tied + __popc (ties & bits_below (lane_id ()));
    uint32_t my_place = place (f, my_kept, my_tied);

    if ((verdict == KEPT || (verdict == TIED && my_tied < f.cut.ties)) && my_place < f.capacity)
      write_component (f, part, slot + lane_id (), my_place);
    kept += __popc (keeps);
    tied += __popc (ties);
  }
}

static __global__ void
count_areas (CclCudaFrame f, CclCutSearch search)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t area = is_root (f, part, slot) ? f.features[part.row + slot].area : 0;
    int bin = area > 0 && passes (f, area) ? ccl_cut_bin (&search, area) : -1;

    if (bin >= 0)
      atomicAdd (&f.histogram[bin], 1);
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
ccl_cuda_compact (const CclCudaFrame *f, void *scratch, size_t scratch_size, cudaStream_t stream)
{
  dim3 block (WARP_LANES, PART_WARPS);
  cudaError_t error;

  count_roots<<<part_blocks (f), block, 0, stream>>> (*f);
  error = cub::DeviceScan::ExclusiveSum (scratch, scratch_size, f->counts, f->counts, n_counts (f),
                                         stream);
  if (error != cudaSuccess)
    return error;
  write_components<<<part_blocks (f), block, 0, stream>>> (*f);
  return cudaGetLastError ();
}

extern "C" cudaError_t
ccl_cuda_histogram (const CclCudaFrame *f, const CclCutSearch *search, cudaStream_t stream)
{
  cudaError_t error =
      cudaMemsetAsync (f->histogram, 0, CCL_CUT_BINS * sizeof *f->histogram, stream);

  if (error != cudaSuccess)
    return error;
  count_areas<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f, *search);
  return cudaGetLastError ();
}
