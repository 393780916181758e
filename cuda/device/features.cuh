/* cudaccl - CUDA backend: features of runs and components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_FEATURES_CUH
#define CCL_CUDA_FEATURES_CUH

#include "engine/shared/sums.h"
#include "cuda/tables/components.h"
#include "cuda/device/warp.cuh"

/* With at least this many lanes on one component, reducing them before the atomic update pays
 * off. */
#define REDUCE_LANES 8

/* The features of one or more runs. */
struct FeatureRecord
{
  CclFeatures features;
  CclMoments moments; /* valid where the table has moments */
};

/* Lists the features and how each is combined: calls @operation with every member of @to and @from,
 * which can be of any type with the members of CclFeatures. */
template <typename To, typename From, typename Operation>
static __device__ inline void
for_each_feature (To &to, From &from, const Operation &operation)
{
  operation.sum (to.area, from.area);
  operation.sum (to.sum_x, from.sum_x);
  operation.sum (to.sum_y, from.sum_y);
  operation.minimum (to.min_x, from.min_x);
  operation.maximum (to.max_x, from.max_x);
  operation.maximum (to.max_y, from.max_y);
}

template <typename To, typename From, typename Operation>
static __device__ inline void
for_each_moment (To &to, From &from, const Operation &operation)
{
  operation.sum (to.sum_xx, from.sum_xx);
  operation.sum (to.sum_yy, from.sum_yy);
  operation.sum (to.sum_xy, from.sum_xy);
}

/* Begin */

/* The record of no pixels: the neutral element of record_combine(). */
static __device__ inline FeatureRecord
record_empty (void)
{
  FeatureRecord r = { { 0, 0, 0, UINT32_MAX, 0, 0 }, { 0, 0, 0 } };

  return r;
}

/* The record of pixels @start to @end - 1 of row @y. */
static __device__ inline FeatureRecord
record_of_run (const CclComponentTable &t, uint32_t start, uint32_t end, uint32_t y)
{
  uint32_t area = end - start;
  uint64_t sum_x = ccl_run_sum_x (start, end), sum_y = (uint64_t) area * y;
  FeatureRecord r = { { sum_x, sum_y, area, start, end - 1, y }, { 0, 0, 0 } };

  if (t.moments) {
    r.moments.sum_xx = ccl_run_sum_xx (start, end);
    r.moments.sum_yy = sum_y * y;
    r.moments.sum_xy = sum_x * y;
  }
  return r;
}

/* The record of the component @label in the table. */
static __device__ inline FeatureRecord
record_load (const CclComponentTable &t, uint32_t label)
{
  FeatureRecord r = { t.features[label], { 0, 0, 0 } };

  if (t.moments)
    r.moments = t.moments[label];
  return r;
}

/* Combine */

struct Combine
{
  template <typename T>
  __device__ void
  sum (T &to, T from) const
  {
    to += from;
  }
  template <typename T>
  __device__ void
  minimum (T &to, T from) const
  {
    to = min (to, from);
  }
  template <typename T>
  __device__ void
  maximum (T &to, T from) const
  {
    to = max (to, from);
  }
};

static __device__ inline void
record_combine (const CclComponentTable &t, FeatureRecord *to, const FeatureRecord &r)
{
  for_each_feature (to->features, r.features, Combine{});
  if (t.moments)
    for_each_moment (to->moments, r.moments, Combine{});
}

struct Shuffle
{
  uint32_t lane;

  template <typename T>
  __device__ void
  sum (T &to, T from) const
  {
    to = warp_shuffle (from, lane);
  }
  template <typename T>
  __device__ void
  minimum (T &to, T from) const
  {
    sum (to, from);
  }
  template <typename T>
  __device__ void
  maximum (T &to, T from) const
  {
    sum (to, from);
  }
};

/* Another lane's record. All lanes call this. */
static __device__ inline FeatureRecord
record_shuffle (const CclComponentTable &t, const FeatureRecord &r, uint32_t lane)
{
  FeatureRecord other = record_empty ();

  for_each_feature (other.features, r.features, Shuffle{ lane });
  if (t.moments)
    for_each_moment (other.moments, r.moments, Shuffle{ lane });
  return other;
}

/* Store and add to the table */

static __device__ inline void
count_update (const CclComponentTable &t, uint32_t label)
{
  if (t.updates)
    atomicAdd (&t.updates[label], 1);
}

/* Initializes the features of the component @label with @r. For volumes, @r lies in one row. */
static __device__ inline void
features_begin (const CclComponentTable &t, uint32_t label, const FeatureRecord &r)
{
  if (r.features.area > 0)
    count_update (t, label);
  if (t.depth_sums) {
    uint32_t z = r.features.max_y / t.slice_height, y = r.features.max_y - z * t.slice_height;

    t.depth_sums[label] = r.features.area > 0 ? CclDepthSums{ (uint64_t) r.features.area * z, y, y }
                                              : CclDepthSums{ 0, UINT32_MAX, 0 };
  }
  t.features[label] = r.features;
  if (t.moments)
    t.moments[label] = r.moments;
}

/* Features as two halves, each of which takes one memory access. */
union FeatureHalves
{
  CclFeatures features;
  uint4 halves[2];
};

/* Does features_begin() for all lanes of a warp whose label is not CCL_NO_LABEL; not for volumes.
 * Two lanes together write the features of one of them, then of the other, so that each access
 * covers a whole sector. All lanes call this. */
static __device__ inline void
features_begin_warp (const CclComponentTable &t, uint32_t label, const FeatureRecord &r)
{
  uint32_t odd = lane_id () & 1, other = __shfl_xor_sync (ALL_LANES, label, 1);
  uint32_t labels[2] = { odd ? other : label, odd ? label : other };
  FeatureHalves own = { r.features };
  uint4 sent = odd ? own.halves[0] : own.halves[1], got;

  got.x = __shfl_xor_sync (ALL_LANES, sent.x, 1);
  got.y = __shfl_xor_sync (ALL_LANES, sent.y, 1);
  got.z = __shfl_xor_sync (ALL_LANES, sent.z, 1);
  got.w = __shfl_xor_sync (ALL_LANES, sent.w, 1);
  if (labels[0] != CCL_NO_LABEL)
    ((FeatureHalves *) &t.features[labels[0]])->halves[odd] = odd ? got : own.halves[0];
  if (labels[1] != CCL_NO_LABEL)
    ((FeatureHalves *) &t.features[labels[1]])->halves[odd] = odd ? own.halves[1] : got;
  if (label == CCL_NO_LABEL)
    return;
  count_update (t, label);
  if (t.moments)
    t.moments[label] = r.moments;
}

static __device__ inline void
atomic_add (uint64_t *address, uint64_t value)
{
  atomicAdd ((unsigned long long *) address, (unsigned long long) value);
}

static __device__ inline void
atomic_add (uint32_t *address, uint32_t value)
{
  atomicAdd (address, value);
}

/* @to is shared or global memory that other threads add to. */
struct AtomicCombine
{
  template <typename T>
  __device__ void
  sum (T &to, T from) const
  {
    atomic_add (&to, from);
  }
  __device__ void
  minimum (uint32_t &to, uint32_t from) const
  {
    atomicMin (&to, from);
  }
  __device__ void
  maximum (uint32_t &to, uint32_t from) const
  {
    atomicMax (&to, from);
  }
};

/* Adds the sums that depend on slices, and on rows of a slice, to the component @label of a volume.
 * @r lies in one row. */
static __device__ inline void
depth_sums_add (const CclComponentTable &t, uint32_t label, const FeatureRecord &r)
{
  uint32_t z = r.features.max_y / t.slice_height, y = r.features.max_y - z * t.slice_height;
  CclDepthSums *sums = &t.depth_sums[label];

  if (z > 0)
    atomic_add (&sums->sum_z, (uint64_t) r.features.area * z);
  atomicMin (&sums->min_y, y);
  atomicMax (&sums->max_y, y);
}

/* Adds @r to the component @label: the seven features of Lemaitre 2021 except MIN_y, which follows
 * from the label (Hennequin 2018, section IV-D). */
static __device__ inline void
features_add (const CclComponentTable &t, uint32_t label, const FeatureRecord &r)
{
  count_update (t, label);
  for_each_feature (t.features[label], r.features, AtomicCombine{});
  if (t.moments)
    for_each_moment (t.moments[label], r.moments, AtomicCombine{});
  if (t.depth_sums)
    depth_sums_add (t, label, r);
}

/* Adds the lanes' records to their components with conflict detection (Lemaitre 2021, algorithm 3):
 * reduces each group of lanes with the same label into its first lane, all groups at once. Lanes
 * without a record pass CCL_NO_LABEL. All lanes call this. */
static __device__ inline void
features_add_warp (const CclComponentTable &t, uint32_t label, FeatureRecord r)
{
  uint32_t lane = lane_id (), peers = __match_any_sync (ALL_LANES, label);
  uint32_t rank = __popc (peers & bits_below (lane));
  bool leader = rank == 0 && label != CCL_NO_LABEL;

  peers = label == CCL_NO_LABEL ? 0 : peers & ~bits_below (lane) & ~(1u << lane);
  while (__any_sync (ALL_LANES, peers)) {
    FeatureRecord other = record_shuffle (t, r, peers ? __ffs (peers) - 1 : lane);

    if (peers)
      record_combine (t, &r, other);
    peers &= __ballot_sync (ALL_LANES, rank % 2 == 0);
    rank >>= 1;
  }
  if (leader)
    features_add (t, label, r);
}

/* Accumulate in a warp */

/* A component whose features a warp collects over several steps before it adds them to the table,
 * so that a component that fills much of the frame does not serialise all warps. */
struct WarpAccumulator
{
  uint32_t label;       /* the same in all lanes; CCL_NO_LABEL: empty */
  FeatureRecord record; /* of this lane */
};

static __device__ inline WarpAccumulator
accumulator_empty (void)
{
  WarpAccumulator a = { CCL_NO_LABEL, record_empty () };

  return a;
}

/* Reduces the records of all lanes; the first lane, at least, gets the result. All lanes call
 * this. */
static __device__ inline void
accumulator_reduce (const CclComponentTable &t, WarpAccumulator *a)
{
  if (a->label == CCL_NO_LABEL)
    return;
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    record_combine (t, &a->record, record_shuffle (t, a->record, lane_id () ^ distance));
}

/* Adds the accumulated record to its component. All lanes call this. */
static __device__ inline void
accumulator_flush (const CclComponentTable &t, WarpAccumulator *a)
{
  if (a->label == CCL_NO_LABEL)
    return;
  accumulator_reduce (t, a);
  if (lane_id () == 0)
    features_add (t, a->label, a->record);
  *a = accumulator_empty ();
}

/* A component with this many lanes, or half of those in use, is worth accumulating. */
#define ACCUMULATE_LANES 8

/* As features_add_warp(), but a component that fills much of the warp stays in @a until another one
 * does. All lanes call this. */
static __device__ inline void
accumulator_add (const CclComponentTable &t, WarpAccumulator *a, uint32_t label,
                 const FeatureRecord &r)
{
  if (!__any_sync (ALL_LANES, label == a->label && label != CCL_NO_LABEL)) {
    uint32_t used = __popc (__ballot_sync (ALL_LANES, label != CCL_NO_LABEL));
    uint32_t least = min ((used + 1) / 2, ACCUMULATE_LANES);
    uint32_t many = __ballot_sync (
        ALL_LANES, __popc (__match_any_sync (ALL_LANES, label)) >= least && label != CCL_NO_LABEL);

    if (many) {
      accumulator_flush (t, a);
      a->label = __shfl_sync (ALL_LANES, label, __ffs (many) - 1);
    }
  }
  if (label == a->label && label != CCL_NO_LABEL) {
    record_combine (t, &a->record, r);
    label = CCL_NO_LABEL;
  }
  if (__any_sync (ALL_LANES, label != CCL_NO_LABEL))
    features_add_warp (t, label, r);
}

#endif
