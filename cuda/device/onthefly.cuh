/* cudaccl - CUDA backend: features that go along with merges
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* On-the-fly feature merge (OTF), section 3.2 of paper 003. Every label that has ever been a root
 * may hold features; whoever merges it takes them along. The fences keep two things apart for
 * everybody: whoever adds features to a label looks afterwards whether it is still a root, and
 * whoever merges a root takes its features afterwards. So one of the two carries them on. */

#ifndef CCL_CUDA_ONTHEFLY_CUH
#define CCL_CUDA_ONTHEFLY_CUH

#include "cuda/device/features.cuh"
#include "cuda/device/unionfind.cuh"

static __device__ inline uint64_t
exchange64 (uint64_t *address, uint64_t value)
{
  return atomicExch ((unsigned long long *) address, (unsigned long long) value);
}

/* Takes the features away from @label; nobody else gets them. */
static __device__ inline Sums
features_take (const CclCudaFrame &f, uint32_t label)
{
  CclFeatures *features = &f.features[label];
  Sums s = sums_of_nothing ();

  s.features.sum_x = exchange64 (&features->sum_x, s.features.sum_x);
  s.features.sum_y = exchange64 (&features->sum_y, s.features.sum_y);
  s.features.area = atomicExch (&features->area, s.features.area);
  s.features.min_x = atomicExch (&features->min_x, s.features.min_x);
  s.features.max_x = atomicExch (&features->max_x, s.features.max_x);
  s.features.max_y = atomicExch (&features->max_y, s.features.max_y);
  if (f.moments) {
    CclMoments *moments = &f.moments[label];

    s.moments.sum_xx = exchange64 (&moments->sum_xx, 0);
    s.moments.sum_yy = exchange64 (&moments->sum_yy, 0);
    s.moments.sum_xy = exchange64 (&moments->sum_xy, 0);
  }
  return s;
}

/* Moves the features of one label to another. Some of them may be under way from elsewhere while
 * others have come, but every one that is there says so by itself. */
static __device__ inline void
features_move (const CclCudaFrame &f, uint32_t from, uint32_t to)
{
  Sums s = features_take (f, from);
  const CclFeatures *a = &s.features;
  const CclMoments *m = &s.moments;

  if ((a->sum_x | a->sum_y | a->area | a->max_x | a->max_y) != 0 || a->min_x != UINT32_MAX ||
      (m->sum_xx | m->sum_yy | m->sum_xy) != 0)
    feature_update (f, to, s);
}

/* Lines 14 to 22 of algorithm 2: features that were added to @label reach an actual root. */
static __device__ inline void
settle (const CclCudaFrame &f, uint32_t label)
{
  uint32_t root = find_halving (f.labels, label);

  __threadfence ();
  while (root != label) {
    features_move (f, label, root);
    __threadfence ();
    label = root;
    root = find_halving (f.labels, label);
    __threadfence ();
  }
}

/* Adds features to the component of @label while others merge it. */
static __device__ inline void
feature_update_otf (const CclCudaFrame &f, uint32_t label, const Sums &s)
{
  uint32_t root = find_halving (f.labels, label);

  __threadfence ();
  feature_update (f, root, s);
  __threadfence ();
  settle (f, root);
}

/* Algorithm 2 of paper 003: merges the trees of two labels and their features. */
static __device__ inline void
merge_otf (const CclCudaFrame &f, uint32_t label1, uint32_t label2)
{
  label1 = find_halving (f.labels, label1);
  label2 = find_halving (f.labels, label2);
  __threadfence ();
  if (label1 == label2)
    return;
  do {
    uint32_t high = max (label1, label2), low = min (label1, label2);
    uint32_t found = atomicMin (&f.labels[high], low);

    __threadfence ();
    features_move (f, high, low);
    __threadfence ();
    label1 = low;
    if (found == high)
      break;
    label2 = found;
  } while (label1 != label2);
  settle (f, label1);
}

#endif
