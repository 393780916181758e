/* cudaccl - CUDA backend: concurrent union-find
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A forest of labels that all threads of all blocks may merge at the same time, without locks.
 * Forests differ in how a parent is read and written; four functions define that, and everything
 * else is written once. It relies on these invariants:
 *
 * U1. A parent is never greater than its label, and a root is its own parent. So there are no
 *     cycles.
 * U2. A root gets a parent only by an atomic minimum, lower_parent(). If that returns anything but
 *     the label itself, another thread linked the label to the returned one first, and the caller
 *     goes on to connect that. So no link is lost.
 * U3. A non-root never becomes a root again. Any other write, shorten(), stores an ancestor of what
 *     the label pointed to. It may undo a lower_parent() on the same label, whose caller still
 *     connects what was there before (U2).
 * U4. A stale parent, for example from the L1 cache, is an ancestor, too, or was a root; only
 *     lower_parent() finds out whether it still is one.
 * U5. Roots are final only after a kernel boundary or a grid barrier that follows the last merge.
 *     Until then no features go through roots, except on the fly (onthefly.cuh).
 *
 * Links are single words, so no fences are needed. */

#ifndef CCL_CUDA_UNIONFIND_CUH
#define CCL_CUDA_UNIONFIND_CUH

#include "cuda/tables/components.h"

/* Kinds of forests
 *
 *   uint32_t load_link (forest, label)             what is stored for a label
 *   uint32_t parent_in (forest, link)              the parent in it
 *   void shorten (forest, label, link, ancestor)   see U3; @link was loaded before
 *   uint32_t lower_parent (forest, label, parent)  see U2; returns the parent before */

/* In global memory, merged by all blocks at once. Reads bypass the L1 cache, which does not see
 * other blocks' writes. */
struct GlobalForest
{
  uint32_t *parents;
};

static __device__ inline uint32_t
load_link (const GlobalForest &forest, uint32_t label)
{
  return __ldcg (&forest.parents[label]);
}

static __device__ inline void
shorten (const GlobalForest &forest, uint32_t label, uint32_t link, uint32_t ancestor)
{
  __stcg (&forest.parents[label], ancestor);
}

/* In shared memory. Every write is atomic, because other threads read at the same time. */
struct SharedForest
{
  uint32_t *parents;
};

static __device__ inline uint32_t
load_link (const SharedForest &forest, uint32_t label)
{
  return ((const volatile uint32_t *) forest.parents)[label];
}

static __device__ inline void
shorten (const SharedForest &forest, uint32_t label, uint32_t link, uint32_t ancestor)
{
  atomicMin (&forest.parents[label], ancestor);
}

/* In global or shared memory, read through the L1 cache (U4), as in the papers' labelling
 * algorithms. This is many times faster where paths are long. */
struct CachedForest
{
  uint32_t *parents;
};

static __device__ inline uint32_t
load_link (const CachedForest &forest, uint32_t label)
{
  return forest.parents[label];
}

static __device__ inline void
shorten (const CachedForest &forest, uint32_t label, uint32_t link, uint32_t ancestor)
{
  forest.parents[label] = ancestor;
}

/* Common to all forests */

template <typename Forest>
static __device__ inline uint32_t
parent_in (const Forest &forest, uint32_t link)
{
  return link;
}

template <typename Forest>
static __device__ inline uint32_t
lower_parent (const Forest &forest, uint32_t label, uint32_t parent)
{
  return atomicMin (&forest.parents[label], parent);
}

template <typename Forest>
static __device__ inline uint32_t
load_parent (const Forest &forest, uint32_t label)
{
  return parent_in (forest, load_link (forest, label));
}

/* Finding roots */

/* Returns the root of @label. */
template <typename Forest>
static __device__ inline uint32_t
find (const Forest &forest, uint32_t label)
{
  uint32_t parent;

  while ((parent = load_parent (forest, label)) != label)
    label = parent;
  return label;
}

/* Returns the root of @label, and halves the path to it. */
template <typename Forest>
static __device__ inline uint32_t
find_halving (const Forest &forest, uint32_t label)
{
  uint32_t link = load_link (forest, label), parent = parent_in (forest, link);

  while (parent != label) {
    uint32_t grandparent = load_parent (forest, parent);

    if (grandparent == parent)
      return parent;
    shorten (forest, label, link, grandparent);
    label = grandparent;
    link = load_link (forest, label);
    parent = parent_in (forest, link);
  }
  return label;
}

/* Path compression: makes @label point to its root, or to an ancestor if the forest is still being
 * merged, and returns that. Starts from the parent in @link, which was loaded before or is a lower
 * label known to be connected. Stores every ancestor on the way, so that threads shorten each
 * other's paths. */
template <typename Forest>
static __device__ inline uint32_t
compress (const Forest &forest, uint32_t label, uint32_t link)
{
  uint32_t parent = parent_in (forest, link), grandparent;

  while ((grandparent = load_parent (forest, parent)) != parent) {
    shorten (forest, label, link, grandparent);
    parent = grandparent;
  }
  return parent;
}

/* Merging trees */

/* Merges the trees of two labels: the union of Oliveira and Lotufo (see papers/uf.cu). */
template <typename Forest>
static __device__ inline void
unite (const Forest &forest, uint32_t label1, uint32_t label2)
{
  for (;;) {
    uint32_t high, low, found;

    label1 = find (forest, label1);
    label2 = find (forest, label2);
    if (label1 == label2)
      return;
    high = max (label1, label2);
    low = min (label1, label2);
    found = lower_parent (forest, high, low);
    if (found == high)
      return;
    label1 = found;
    label2 = low;
  }
}

/* Merges the trees of two labels (Hennequin 2018, algorithm 2, after Komura and Playne). Tries
 * first whether the higher label is a root, as most are when they are merged for the first time. */
template <typename Forest>
static __device__ inline void
merge (const Forest &forest, uint32_t label1, uint32_t label2)
{
  bool first = true;

  while (label1 != label2) {
    uint32_t high = max (label1, label2), low = min (label1, label2);
    uint32_t found = lower_parent (forest, high, low);

    if (found == high || found == low)
      return;
    /* high was not a root: connect what it pointed to. */
    label1 = first ? find_halving (forest, found) : found;
    label2 = first ? find_halving (forest, low) : low;
    first = false;
  }
}

static __device__ inline void
swap (uint32_t *a, uint32_t *b)
{
  uint32_t old = *a;

  *a = *b;
  *b = old;
}

/* As merge(), for labels of which most are not roots but share one. Climbs both trees at once until
 * they meet or the higher label is a root, and splits paths on the way. */
template <typename Forest>
static __device__ inline void
join (const Forest &forest, uint32_t label1, uint32_t label2)
{
  uint32_t from1 = label1, from2 = label2;

  while (label1 != label2) {
    uint32_t parent1, parent2;

    if (label1 < label2) {
      swap (&label1, &label2);
      swap (&from1, &from2);
    }
    parent1 = load_parent (forest, label1);
    parent2 = load_parent (forest, label2);
    if (parent1 == label1) {
      parent1 = lower_parent (forest, label1, parent2);
      if (parent1 == label1)
        return;
    } else if (from1 != label1) {
      shorten (forest, from1, label1, parent1);
    }
    if (from2 != label2 && parent2 != label2)
      shorten (forest, from2, label2, parent2);
    from1 = label1;
    from2 = label2;
    label1 = parent1;
    label2 = parent2;
  }
}

/* As merge(), where long chains of labels grow everywhere at the same time. Each thread compresses
 * the path from its label even if there is nothing left to merge, so that all threads have shorter
 * paths to climb. That may overwrite the link to the parent that lower_parent() returned; join()
 * connects that parent again (U3). */
template <typename Forest>
static __device__ inline void
merge_and_compress (const Forest &forest, uint32_t label1, uint32_t label2)
{
  uint32_t high = max (label1, label2), low = min (label1, label2), found;

  if (high == low)
    return;
  found = lower_parent (forest, high, low);
  if (found == low)
    return;
  low = compress (forest, high, low);
  if (found != high)
    join (forest, found, low);
}

#endif
