/* cudaccl - CUDA backend: features of runs and components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_FEATURES_CUH
#define CCL_CUDA_FEATURES_CUH

#include "cuda/bits.cuh"
#include "ccl/sums.h"

/* Runs of one row, as far as their features can be summed up: the row gives the rest. */
struct RowSums
{
  uint64_t sum_x, sum_xx;
  uint32_t area;
  uint32_t min_x, max_x;
};

static __device__ inline RowSums
sums_of_run (const CclCudaFrame &f, uint32_t start, uint32_t end)
{
  RowSums s;

  s.area = end - start;
  s.sum_x = ccl_run_sum_x (start, end);
  s.sum_xx = f.moments ? ccl_run_sum_xx (start, end) : 0;
  s.min_x = start;
  s.max_x = end - 1;
  return s;
}

static __device__ inline RowSums
sums_of_nothing (void)
{
  RowSums s = { 0, 0, 0, UINT32_MAX, 0 };

  return s;
}

static __device__ inline void
sums_add (RowSums *to, const RowSums &s)
{
  to->sum_x += s.sum_x;
  to->sum_xx += s.sum_xx;
  to->area += s.area;
  to->min_x = min (to->min_x, s.min_x);
  to->max_x = max (to->max_x, s.max_x);
}

/* Another lane's sums. */
static __device__ inline RowSums
sums_shuffle (const CclCudaFrame &f, const RowSums &s, uint32_t lane)
{
  RowSums other;

  other.sum_x = __shfl_sync (ALL_LANES, (unsigned long long) s.sum_x, lane);
  other.sum_xx = f.moments ? __shfl_sync (ALL_LANES, (unsigned long long) s.sum_xx, lane) : 0;
  other.area = __shfl_sync (ALL_LANES, s.area, lane);
  other.min_x = __shfl_sync (ALL_LANES, s.min_x, lane);
  other.max_x = __shfl_sync (ALL_LANES, s.max_x, lane);
  return other;
}

/* Makes @s, of row @y, all that is known of the component @label. */
static __device__ inline void
features_set (const CclCudaFrame &f, uint32_t label, const RowSums &s, uint32_t y)
{
  CclFeatures features = { s.sum_x, (uint64_t) s.area * y, s.area, s.min_x, s.max_x, y };

  f.features[label] = features;
  if (f.moments) {
    CclMoments moments = { s.sum_xx, (uint64_t) s.area * y * y, s.sum_x * y };

    f.moments[label] = moments;
  }
}

/* The state before the first run. */
static __device__ inline void
features_clear (const CclCudaFrame &f, uint32_t label)
{
  CclFeatures features = { 0, 0, 0, UINT32_MAX, 0, 0 };

  f.features[label] = features;
  if (f.moments) {
    CclMoments moments = { 0, 0, 0 };

    f.moments[label] = moments;
  }
}

static __device__ inline void
add64 (uint64_t *address, uint64_t value)
{
  atomicAdd ((unsigned long long *) address, (unsigned long long) value);
}

/* Adds @s, of row @y, to the component @label: the seven features of paper 003, less MIN_y, which
 * the label holds (paper 000, section IV-D). */
static __device__ inline void
feature_update (const CclCudaFrame &f, uint32_t label, const RowSums &s, uint32_t y)
{
  CclFeatures *features = &f.features[label];

  atomicAdd (&features->area, s.area);
  add64 (&features->sum_x, s.sum_x);
  add64 (&features->sum_y, (uint64_t) s.area * y);
  atomicMin (&features->min_x, s.min_x);
  atomicMax (&features->max_x, s.max_x);
  atomicMax (&features->max_y, y);
  if (f.moments) {
    add64 (&f.moments[label].sum_xx, s.sum_xx);
    add64 (&f.moments[label].sum_yy, (uint64_t) s.area * y * y);
    add64 (&f.moments[label].sum_xy, s.sum_x * y);
  }
}

/* Adds the features of the lanes' runs, of row @y, to their components: paper 003, algorithm 3. A
 * reduction over all groups of lanes with one label at once, into the first lane of each. Lanes
 * without a run pass CCL_NO_LABEL. */
static __device__ inline void
feature_update_cd (const CclCudaFrame &f, uint32_t label, RowSums s, uint32_t y)
{
  uint32_t lane = lane_id (), peers = __match_any_sync (ALL_LANES, label);
  uint32_t rank = __popc (peers & bits_below (lane));
  bool leader = rank == 0 && label != CCL_NO_LABEL;

  peers = label == CCL_NO_LABEL ? 0 : peers & ~bits_below (lane) & ~(1u << lane);
  while (__any_sync (ALL_LANES, peers)) {
    RowSums other = sums_shuffle (f, s, peers ? __ffs (peers) - 1 : lane);

    if (peers)
      sums_add (&s, other);
    peers &= __ballot_sync (ALL_LANES, rank % 2 == 0);
    rank >>= 1;
  }
  if (leader)
    feature_update (f, label, s, y);
}

/* A component whose sums, of runs in one row, a warp keeps to itself for a while. */
struct HeldComponent
{
  uint32_t label; /* the same in all lanes */
  RowSums sums;   /* of this lane */
};

static __device__ inline void
held_flush (const CclCudaFrame &f, HeldComponent *held, uint32_t y)
{
  if (held->label == CCL_NO_LABEL)
    return;
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    sums_add (&held->sums, sums_shuffle (f, held->sums, lane_id () ^ distance));
  if (lane_id () == 0)
    feature_update (f, held->label, held->sums, y);
  held->label = CCL_NO_LABEL;
  held->sums = sums_of_nothing ();
}

#define HOLD_LANES 8 /* a component is worth keeping from so many lanes on */

/* As feature_update_cd(), but what belongs to a component that fills much of the warp is kept in
 * @held until the row has no more of it. */
static __device__ inline void
feature_update_held (const CclCudaFrame &f, HeldComponent *held, uint32_t label, const RowSums &s,
                     uint32_t y)
{
  if (!__any_sync (ALL_LANES, label == held->label && label != CCL_NO_LABEL)) {
    uint32_t many =
        __ballot_sync (ALL_LANES, __popc (__match_any_sync (ALL_LANES, label)) >= HOLD_LANES &&
                                      label != CCL_NO_LABEL);

    held_flush (f, held, y);
    if (many)
      held->label = __shfl_sync (ALL_LANES, label, __ffs (many) - 1);
  }
  if (label == held->label && label != CCL_NO_LABEL) {
    sums_add (&held->sums, s);
    label = CCL_NO_LABEL;
  }
  if (__any_sync (ALL_LANES, label != CCL_NO_LABEL))
    feature_update_cd (f, label, s, y);
}

#endif
