/* cudaccl - CUDA backend: features merged on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* On-the-fly feature merge (OTF; Lemaitre 2021, section 3.2). It relies on these invariants:
 *
 * O1. Any label that has ever been a root may hold features.
 * O2. A thread that adds features to a label checks afterwards whether the label is still a root.
 *     If not, it moves them to the new root and checks again.
 * O3. A thread that links a root to another label takes the root's features afterwards. Both sides
 *     have a __threadfence() between their two steps, so at least one of two threads sees the
 *     other, and no features are left behind.
 * O4. Features are taken one by one, by exchange with the neutral element of their sum, minimum or
 *     maximum. So each value is moved exactly once, even if several threads move parts of one
 *     record.
 *
 * All threads write, by atomics only. */

#ifndef CCL_CUDA_ONTHEFLY_CUH
#define CCL_CUDA_ONTHEFLY_CUH

#include "cuda/device/features.cuh"
#include "cuda/device/unionfind.cuh"

static __device__ inline uint32_t
atomic_exchange (uint32_t *address, uint32_t value)
{
  return atomicExch (address, value);
}

static __device__ inline uint64_t
atomic_exchange (uint64_t *address, uint64_t value)
{
  return atomicExch ((unsigned long long *) address, (unsigned long long) value);
}

/* Exchanges @to, which other threads add to, with @from. */
struct AtomicExchange
{
  template <typename T>
  __device__ void
  sum (T &to, T &from) const
  {
    from = atomic_exchange (&to, from);
  }
  template <typename T>
  __device__ void
  minimum (T &to, T &from) const
  {
    sum (to, from);
  }
  template <typename T>
  __device__ void
  maximum (T &to, T &from) const
  {
    sum (to, from);
  }
};

/* Takes the features of @label, and leaves neutral elements (O4). */
static __device__ inline FeatureRecord
features_take (const CclComponentTable &t, uint32_t label)
{
  FeatureRecord r = record_empty ();

  for_each_feature (t.features[label], r.features, AtomicExchange{});
  if (t.moments)
    for_each_moment (t.moments[label], r.moments, AtomicExchange{});
  return r;
}

/* Moves the features of one label to another. Other threads may be halfway through adding to @from;
 * they move the rest themselves (O2). */
static __device__ inline void
features_move (const CclComponentTable &t, uint32_t from, uint32_t to)
{
  FeatureRecord r = features_take (t, from);
  const CclFeatures *a = &r.features;
  const CclMoments *m = &r.moments;

  if ((a->sum_x | a->sum_y | a->area | a->max_x | a->max_y) != 0 || a->min_x != UINT32_MAX ||
      (m->sum_xx | m->sum_yy | m->sum_xy) != 0)
    features_add (t, to, r);
}

/* Moves features that were added to @label to its root, until that is still a root afterwards
 * (Lemaitre 2021, algorithm 2, lines 14 to 22). */
static __device__ inline void
features_settle (const CclComponentTable &t, uint32_t label)
{
  GlobalForest forest = { t.parents };
  uint32_t root = find_halving (forest, label);

  __threadfence ();
  while (root != label) {
    features_move (t, label, root);
    __threadfence ();
    label = root;
    root = find_halving (forest, label);
    __threadfence ();
  }
}

/* Adds features to the component of @label while other threads merge it. */
static __device__ inline void
features_add_otf (const CclComponentTable &t, uint32_t label, const FeatureRecord &r)
{
  uint32_t root = find_halving (GlobalForest{ t.parents }, label);

  __threadfence ();
  features_add (t, root, r);
  __threadfence ();
  features_settle (t, root);
}

/* Merges the trees of two labels, and their features (Lemaitre 2021, algorithm 2). */
static __device__ inline void
merge_otf (const CclComponentTable &t, uint32_t label1, uint32_t label2)
{
  GlobalForest forest = { t.parents };

  label1 = find_halving (forest, label1);
  label2 = find_halving (forest, label2);
  __threadfence ();
  if (label1 == label2)
    return;
  do {
    uint32_t high = max (label1, label2), low = min (label1, label2);
    uint32_t found = lower_parent (forest, high, low);

    __threadfence ();
    features_move (t, high, low);
    __threadfence ();
    label1 = low;
    if (found == high)
      break;
    label2 = found;
  } while (label1 != label2);
  features_settle (t, label1);
}

/* Calls merge() or, with @on_the_fly, merge_otf(). */
template <bool on_the_fly>
static __device__ inline void
merge_components (const CclComponentTable &t, uint32_t label1, uint32_t label2)
{
  if (on_the_fly)
    merge_otf (t, label1, label2);
  else
    merge (GlobalForest{ t.parents }, label1, label2);
}

#endif
