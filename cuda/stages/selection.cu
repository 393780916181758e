/* cudaccl - CUDA backend: from roots to the canonical result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Labels are numbered in raster order, and a root is its component's smallest label. So counting
 * the roots in each part of a row, and a scan over the counts, give every root its place in the
 * result; no sort is needed. */

#include "cuda/device/launch.cuh"
#include "cuda/device/selection.cuh"
#include "cuda/stages/slots.cuh"

static __device__ inline Selection
select_slot (const CclComponentTable &t, const CclCudaResult &r, const Part &part, uint32_t slot)
{
  return slot < part.to ? select_label (t, r, part.row + slot, part.y) : DROPPED;
}

static __global__ void
count_slots (Slots slots, CclComponentTable t, CclCudaResult r, uint64_t *counts)
{
  uint32_t kept = 0, tied = 0;
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    Selection selection = select_slot (t, r, part, slot + lane_id ());

    kept += __popc (__ballot_sync (ALL_LANES, selection == KEPT));
    tied += __popc (__ballot_sync (ALL_LANES, selection == TIED));
  }
  if (lane_id () == 0)
    counts[part.index] = pack_counts (kept, tied);
}

static __global__ void
write_slots (Slots slots, CclComponentTable t, CclCudaResult r, const uint32_t *starts,
             const uint64_t *counts)
{
  __shared__ WriteBuffer buffers[PART_WARPS];
  uint64_t before, after;
  Part part;

  if (!get_part (slots, &part))
    return;
  before = counts[part.index];
  after = counts[part.index + 1];
  if (part.index == (size_t) slots.height * slots.parts - 1 && lane_id () == 0)
    r.header->kept = place (r, after);
  if (before == after)
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot + lane_id ();
    Selection selection = select_slot (t, r, part, slot + lane_id ());
    uint32_t kept = __ballot_sync (ALL_LANES, selection == KEPT);
    uint32_t tied = __ballot_sync (ALL_LANES, selection == TIED);
    uint32_t lanes = bits_below (lane_id ());

    before += pack_counts (__popc (kept & lanes), __popc (tied & lanes));
    write_warp (t, r, &buffers[threadIdx.y], label, selection == DROPPED ? 0 : starts[label],
                part.y, selection, before);
    before += pack_counts (__popc (kept & ~lanes), __popc (tied & ~lanes));
  }
}

static __global__ void
count_slot_areas (Slots slots, CclComponentTable t, CclCudaResult r, CclTopKSearch search)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot;

    if (t.parents[label] == label)
      count_area (t, r, search, label, part.y);
  }
}

static size_t
n_counts (const CclCudaWork *work)
{
  return (size_t) work->frame.height * work->slots.parts + 1;
}

extern "C" cudaError_t
ccl_cuda_slots_scratch (const CclCudaWork *work, size_t *size)
{
  return CCL_CUDA (ccl_cuda_exclusive_sum, NULL, size, work->slots.counts, n_counts (work), NULL);
}

extern "C" cudaError_t
ccl_cuda_slots_select (const CclCudaWork *work, cudaStream_t stream)
{
  const CclComponentTable *t = &work->components;
  const CclSlotTable *s = &work->slots;
  size_t scratch_size = s->scratch_size;
  size_t labels = (size_t) work->frame.height * t->slots * sizeof *work->result.labels;
  cudaError_t error = cudaSuccess;

  if (work->result.labels)
    error = CCL_CUDA (cudaMemsetAsync, work->result.labels, 0, labels, stream);
  if (error == cudaSuccess)
    error = launch (count_slots, part_grid (work), part_block (), 0, stream, slots_of (work), *t,
                    work->result, s->counts);
  if (error == cudaSuccess)
    error = CCL_CUDA (ccl_cuda_exclusive_sum, s->scratch, &scratch_size, s->counts, n_counts (work),
                      stream);
  if (error == cudaSuccess)
    error = launch (write_slots, part_grid (work), part_block (), 0, stream, slots_of (work), *t,
                    work->result, s->starts, s->counts);
  if (error == cudaSuccess && work->slices)
    error = ccl_cuda_write_slices (work, stream);
  ccl_cuda_stage (work, CCL_STAGE_SELECTION, stream);
  return error;
}

extern "C" cudaError_t
ccl_cuda_slots_count_areas (const CclCudaWork *work, const CclTopKSearch *search,
                            cudaStream_t stream)
{
  cudaError_t error = clear_histogram (&work->result, stream);

  if (error != cudaSuccess)
    return error;
  return launch (count_slot_areas, part_grid (work), part_block (), 0, stream, slots_of (work),
                 work->components, work->result, *search);
}
