/* cudaccl - CUDA backend: features of runs and components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_FEATURES_CUH
#define CCL_CUDA_FEATURES_CUH

#include "cuda/device/bits.cuh"
#include "ccl/sums.h"

/* So many lanes with one component are worth a reduction before they add to its sums. */
#define REDUCE_LANES 8

/* Features of a run, or of several. */
struct Sums
{
  CclFeatures features;
  CclMoments moments; /* only kept where the frame has moments */
};

static __device__ inline Sums
sums_of_nothing (void)
{
  Sums s = { { 0, 0, 0, UINT32_MAX, 0, 0 }, { 0, 0, 0 } };

  return s;
}

static __device__ inline Sums
sums_of_run (const CclCudaFrame &f, uint32_t start, uint32_t end, uint32_t y)
{
  uint32_t area = end - start;
  uint64_t sum_x = ccl_run_sum_x (start, end), sum_y = (uint64_t) area * y;
  Sums s = { { sum_x, sum_y, area, start, end - 1, y }, { 0, 0, 0 } };

  if (f.moments) {
    s.moments.sum_xx = ccl_run_sum_xx (start, end);
    s.moments.sum_yy = sum_y * y;
    s.moments.sum_xy = sum_x * y;
  }
  return s;
}

/* What is known of the component @label. */
static __device__ inline Sums
sums_of_component (const CclCudaFrame &f, uint32_t label)
{
  Sums s = { f.features[label], { 0, 0, 0 } };

  if (f.moments)
    s.moments = f.moments[label];
  return s;
}

static __device__ inline void
sums_add (const CclCudaFrame &f, Sums *to, const Sums &s)
{
  to->features.sum_x += s.features.sum_x;
  to->features.sum_y += s.features.sum_y;
  to->features.area += s.features.area;
  to->features.min_x = min (to->features.min_x, s.features.min_x);
  to->features.max_x = max (to->features.max_x, s.features.max_x);
  to->features.max_y = max (to->features.max_y, s.features.max_y);
  if (f.moments) {
    to->moments.sum_xx += s.moments.sum_xx;
    to->moments.sum_yy += s.moments.sum_yy;
    to->moments.sum_xy += s.moments.sum_xy;
  }
}

static __device__ inline uint64_t
shuffle64 (uint64_t value, uint32_t lane)
{
  return __shfl_sync (ALL_LANES, (unsigned long long) value, lane);
}

/* Another lane's sums. */
static __device__ inline Sums
sums_shuffle (const CclCudaFrame &f, const Sums &s, uint32_t lane)
{
  Sums other = sums_of_nothing ();

  other.features.sum_x = shuffle64 (s.features.sum_x, lane);
  other.features.sum_y = shuffle64 (s.features.sum_y, lane);
  other.features.area = __shfl_sync (ALL_LANES, s.features.area, lane);
  other.features.min_x = __shfl_sync (ALL_LANES, s.features.min_x, lane);
  other.features.max_x = __shfl_sync (ALL_LANES, s.features.max_x, lane);
  other.features.max_y = __shfl_sync (ALL_LANES, s.features.max_y, lane);
  if (f.moments) {
    other.moments.sum_xx = shuffle64 (s.moments.sum_xx, lane);
    other.moments.sum_yy = shuffle64 (s.moments.sum_yy, lane);
    other.moments.sum_xy = shuffle64 (s.moments.sum_xy, lane);
  }
  return other;
}

static __device__ inline void
count_update (const CclCudaFrame &f, uint32_t label)
{
  if (f.updates)
    atomicAdd (&f.updates[label], 1);
}

/* Makes @s all that is known of the component @label; in a volume, it is of one row at most. */
static __device__ inline void
features_set (const CclCudaFrame &f, uint32_t label, const Sums &s)
{
  if (s.features.area > 0)
    count_update (f, label);
  if (f.volume.sums) {
    uint32_t z = s.features.max_y / f.volume.height, y = s.features.max_y - z * f.volume.height;

    f.volume.sums[label] = s.features.area > 0
                               ? CclDepthSums{ (uint64_t) s.features.area * z, y, y }
                               : CclDepthSums{ 0, UINT32_MAX, 0 };
  }
  f.features[label] = s.features;
  if (f.moments)
    f.moments[label] = s.moments;
}

/* The halves of features, as memory takes them at a time. */
union FeatureHalves
{
  CclFeatures features;
  uint4 halves[2];
};

/* The same for all lanes of a warp, as far as their labels are not CCL_NO_LABEL. Two lanes at a
 * time write the features of one of them and then of the other, so that whole sectors are written.
 */
static __device__ inline void
features_set_warp (const CclCudaFrame &f, uint32_t label, const Sums &s)
{
  uint32_t odd = lane_id () & 1, other = __shfl_xor_sync (ALL_LANES, label, 1);
  uint32_t labels[2] = { odd ? other : label, odd ? label : other };
  FeatureHalves own = { s.features };
  uint4 sent = odd ? own.halves[0] : own.halves[1], got;

  got.x = __shfl_xor_sync (ALL_LANES, sent.x, 1);
  got.y = __shfl_xor_sync (ALL_LANES, sent.y, 1);
  got.z = __shfl_xor_sync (ALL_LANES, sent.z, 1);
  got.w = __shfl_xor_sync (ALL_LANES, sent.w, 1);
  if (labels[0] != CCL_NO_LABEL)
    ((FeatureHalves *) &f.features[labels[0]])->halves[odd] = odd ? got : own.halves[0];
  if (labels[1] != CCL_NO_LABEL)
    ((FeatureHalves *) &f.features[labels[1]])->halves[odd] = odd ? own.halves[1] : got;
  if (label == CCL_NO_LABEL)
    return;
  count_update (f, label);
  if (f.moments)
    f.moments[label] = s.moments;
}

static __device__ inline void
add64 (uint64_t *address, uint64_t value)
{
  atomicAdd ((unsigned long long *) address, (unsigned long long) value);
}

/* Adds what depends on slices and on rows of a slice to the component @label of a volume. All of @s
 * is of one row. */
static __device__ inline void
depth_update (const CclCudaFrame &f, uint32_t label, const Sums &s)
{
  uint32_t z = s.features.max_y / f.volume.height, y = s.features.max_y - z * f.volume.height;
  CclDepthSums *sums = &f.volume.sums[label];

  if (z > 0)
    add64 (&sums->sum_z, (uint64_t) s.features.area * z);
  atomicMin (&sums->min_y, y);
  atomicMax (&sums->max_y, y);
}

/* Adds @s to the component @label: the seven features of paper 003, less MIN_y, which the label
 * holds (paper 000, section IV-D). */
static __device__ inline void
feature_update (const CclCudaFrame &f, uint32_t label, const Sums &s)
{
  CclFeatures *features = &f.features[label];

  count_update (f, label);
  atomicAdd (&features->area, s.features.area);
  add64 (&features->sum_x, s.features.sum_x);
  add64 (&features->sum_y, s.features.sum_y);
  atomicMin (&features->min_x, s.features.min_x);
  atomicMax (&features->max_x, s.features.max_x);
  atomicMax (&features->max_y, s.features.max_y);
  if (f.moments) {
    add64 (&f.moments[label].sum_xx, s.moments.sum_xx);
    add64 (&f.moments[label].sum_yy, s.moments.sum_yy);
    add64 (&f.moments[label].sum_xy, s.moments.sum_xy);
  }
  if (f.volume.sums)
    depth_update (f, label, s);
}

/* Adds the lanes' sums to their components: paper 003, algorithm 3. A reduction over all groups of
 * lanes with one label at once, into the first lane of each. Lanes without sums pass
 * CCL_NO_LABEL. */
static __device__ inline void
feature_update_cd (const CclCudaFrame &f, uint32_t label, Sums s)
{
  uint32_t lane = lane_id (), peers = __match_any_sync (ALL_LANES, label);
  uint32_t rank = __popc (peers & bits_below (lane));
  bool leader = rank == 0 && label != CCL_NO_LABEL;

  peers = label == CCL_NO_LABEL ? 0 : peers & ~bits_below (lane) & ~(1u << lane);
  while (__any_sync (ALL_LANES, peers)) {
    Sums other = sums_shuffle (f, s, peers ? __ffs (peers) - 1 : lane);

    if (peers)
      sums_add (f, &s, other);
    peers &= __ballot_sync (ALL_LANES, rank % 2 == 0);
    rank >>= 1;
  }
  if (leader)
    feature_update (f, label, s);
}

/* A component whose sums a warp keeps to itself for a while. */
struct HeldComponent
{
  uint32_t label; /* the same in all lanes */
  Sums sums;      /* of this lane */
};

static __device__ inline HeldComponent
held_nothing (void)
{
  HeldComponent held = { CCL_NO_LABEL, sums_of_nothing () };

  return held;
}

/* Leaves the sums of all lanes in the first one, at least. */
static __device__ inline void
held_reduce (const CclCudaFrame &f, HeldComponent *held)
{
  if (held->label == CCL_NO_LABEL)
    return;
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    sums_add (f, &held->sums, sums_shuffle (f, held->sums, lane_id () ^ distance));
}

static __device__ inline void
held_flush (const CclCudaFrame &f, HeldComponent *held)
{
  if (held->label == CCL_NO_LABEL)
    return;
  held_reduce (f, held);
  if (lane_id () == 0)
    feature_update (f, held->label, held->sums);
  *held = held_nothing ();
}

#define HOLD_LANES \
  8 /* a component is worth keeping from so many lanes on, or half of those in use */

/* As feature_update_cd(), but what belongs to a component that fills much of the warp is kept in
 * @held until another one does. */
static __device__ inline void
feature_update_held (const CclCudaFrame &f, HeldComponent *held, uint32_t label, const Sums &s)
{
  if (!__any_sync (ALL_LANES, label == held->label && label != CCL_NO_LABEL)) {
    uint32_t used = __popc (__ballot_sync (ALL_LANES, label != CCL_NO_LABEL));
    uint32_t least = min ((used + 1) / 2, HOLD_LANES);
    uint32_t many = __ballot_sync (
        ALL_LANES, __popc (__match_any_sync (ALL_LANES, label)) >= least && label != CCL_NO_LABEL);

    if (many) {
      held_flush (f, held);
      held->label = __shfl_sync (ALL_LANES, label, __ffs (many) - 1);
    }
  }
  if (label == held->label && label != CCL_NO_LABEL) {
    sums_add (f, &held->sums, s);
    label = CCL_NO_LABEL;
  }
  if (__any_sync (ALL_LANES, label != CCL_NO_LABEL))
    feature_update_cd (f, label, s);
}

#endif
