/* cudaccl - CUDA backend: features of components that a thread block has in shared memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* In the coordinates of a tile or strip 32 bits suffice, and area and sum of y share a word. Each
 * feature is an array, so that lanes with neighbouring components cause no bank conflicts. */

#ifndef CCL_CUDA_LOCAL_FEATURES_CUH
#define CCL_CUDA_LOCAL_FEATURES_CUH

#include "cuda/device/features.cuh"

enum LocalFeature
{
  AREA_Y, /* area in the lower bits, sum of y above */
  SUM_X,
  MIN_X,
  MAX_X,
  MAX_Y,
  N_FEATURES,
  SUM_XX = N_FEATURES, /* only with moments */
  SUM_YY,
  SUM_XY,
  N_FEATURES_AND_MOMENTS,
};

/* The features of one or more pieces of a component. @N: N_FEATURES, or N_FEATURES_AND_MOMENTS
 * where the caller may want moments. */
template <uint32_t N> struct LocalRecord
{
  uint32_t values[N];
};

/* The features of several components; feature i of component c is memory[i * capacity + c]. */
struct LocalTable
{
  uint32_t *memory;
  uint32_t first, capacity; /* of components: the number of the first one, and the room */
};

static __device__ inline uint32_t *
local_feature (const LocalTable &t, uint32_t feature, uint32_t c)
{
  return t.memory + feature * t.capacity + c;
}

static __device__ inline uint32_t
local_value (const LocalTable &t, uint32_t feature, uint32_t c)
{
  return *local_feature (t, feature, c);
}

/* The number of features that are summed up. */
template <uint32_t N>
static __device__ inline uint32_t
n_features (bool moments)
{
  return N > N_FEATURES && moments ? N : N_FEATURES;
}

/* Initializes the features of component @c with @r; not atomic. */
template <uint32_t N>
static __device__ inline void
local_begin (const LocalTable &t, uint32_t c, const LocalRecord<N> &r, bool moments)
{
#pragma unroll
  for (uint32_t i = 0; i < N; i++)
    if (i < n_features<N> (moments))
      *local_feature (t, i, c) = r.values[i];
}

/* Combines each feature of @from with to(feature); for @operation see for_each_feature(). */
template <uint32_t N, typename To, typename Operation>
static __device__ inline void
local_combine (const To &to, const LocalRecord<N> &from, bool moments, const Operation &operation)
{
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    if (i >= n_features<N> (moments))
      continue;
    if (i == MIN_X)
      operation.minimum (to (i), from.values[i]);
    else if (i == MAX_X || i == MAX_Y)
      operation.maximum (to (i), from.values[i]);
    else
      operation.sum (to (i), from.values[i]);
  }
}

/* As AtomicCombine, for extents that rarely change: reading them first avoids most atomics. */
struct AtomicCombineIfNew
{
  __device__ void
  sum (uint32_t &to, uint32_t from) const
  {
    atomicAdd (&to, from);
  }
  __device__ void
  minimum (uint32_t &to, uint32_t from) const
  {
    if (*(volatile uint32_t *) &to > from)
      atomicMin (&to, from);
  }
  __device__ void
  maximum (uint32_t &to, uint32_t from) const
  {
    if (*(volatile uint32_t *) &to < from)
      atomicMax (&to, from);
  }
};

/* Whether the device has instructions for reductions. */
#if __CUDA_ARCH__ >= 800
#define CAN_REDUCE 1
#else
#define CAN_REDUCE 0
#endif

#if CAN_REDUCE

/* Reduces over the lanes of @mask, each of which gets the result. Exactly these lanes call this. */
struct WarpReduce
{
  uint32_t mask;

  __device__ void
  sum (uint32_t &to, uint32_t from) const
  {
    to = __reduce_add_sync (mask, from);
  }
  __device__ void
  minimum (uint32_t &to, uint32_t from) const
  {
    to = __reduce_min_sync (mask, from);
  }
  __device__ void
  maximum (uint32_t &to, uint32_t from) const
  {
    to = __reduce_max_sync (mask, from);
  }
};

#endif

/* Adds the lanes' records to their components with @operation, AtomicCombine or AtomicCombineIfNew.
 * Lanes without a record pass CCL_NO_LABEL; @make_record makes the others'. If many lanes share the
 * first lane's component, their records are reduced first, since atomics on one address serialise.
 * All lanes call this. */
template <uint32_t N, typename MakeRecord, typename Operation>
static __device__ inline void
local_add_warp (const LocalTable &t, uint32_t c, bool moments, const MakeRecord &make_record,
                const Operation &operation)
{
  LocalRecord<N> r;
#if CAN_REDUCE
  uint32_t lanes = __ballot_sync (ALL_LANES, c != CCL_NO_LABEL), leader, same;

  if (!lanes)
    return;
  leader = __ffs (lanes) - 1;
  same = __ballot_sync (ALL_LANES, c == __shfl_sync (ALL_LANES, c, leader));
#endif
  if (c == CCL_NO_LABEL)
    return;
  r = make_record ();
#if CAN_REDUCE
  if (__popc (same) >= REDUCE_LANES && same >> lane_id () & 1) {
    auto own = [&] (uint32_t i) -> uint32_t & { return r.values[i]; };

    local_combine (own, r, moments, WarpReduce{ same });
    if (lane_id () != leader)
      return;
  }
#endif
  auto component = [&] (uint32_t i) -> uint32_t & { return *local_feature (t, i, c); };

  local_combine (component, r, moments, operation);
}

#endif
