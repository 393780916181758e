/* cudaccl - CUDA backend: concurrent union-find
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_UNIONFIND_CUH
#define CCL_CUDA_UNIONFIND_CUH

#include <stdint.h>

/* Labels only ever point to smaller labels, so there are no cycles, and a label that is not a root
 * never becomes one again. Reads go past the L1 cache, which other blocks' writes don't reach. */

/* The root of @label. Halves the path on its way: its store may undo a union's atomicMin() on the
 * same label, which was no root then, but only with an ancestor of what that atomicMin() returned;
 * and with that the thread of the union goes on. Where it returned what it wanted to write, the two
 * were connected before, by links that lead to smaller labels still. */
static __device__ inline uint32_t
find_halving (uint32_t *labels, uint32_t label)
{
  uint32_t parent = __ldcg (&labels[label]);

  while (parent != label) {
    uint32_t grandparent = __ldcg (&labels[parent]);

    if (grandparent == parent)
      return parent;
    __stcg (&labels[label], grandparent);
    label = grandparent;
    parent = __ldcg (&labels[label]);
  }
  return label;
}

/* Merges the trees of two labels (paper 000, algorithm 2, after Komura and Playne). Tries first
 * whether the higher one is a root, as most are when they are merged for the first time. */
static __device__ inline void
merge (uint32_t *labels, uint32_t label1, uint32_t label2)
{
  bool first = true;

  while (label1 != label2) {
    uint32_t high = max (label1, label2), low = min (label1, label2);
    uint32_t found = atomicMin (&labels[high], low);

    if (found == high || found == low)
      return;
    /* high was no root: join what it pointed to. */
    label1 = first ? find_halving (labels, found) : found;
    label2 = first ? find_halving (labels, low) : low;
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

/* As merge(), where most labels are no roots and many share one: climbs both trees at a time, until
 * they meet or the higher label is a root. What it leaves behind points one step further. */
static __device__ inline void
join (uint32_t *labels, uint32_t label1, uint32_t label2)
{
  uint32_t from1 = label1, from2 = label2;

  while (label1 != label2) {
    uint32_t parent1, parent2;

    if (label1 < label2) {
      swap (&label1, &label2);
      swap (&from1, &from2);
    }
    parent1 = __ldcg (&labels[label1]);
    parent2 = __ldcg (&labels[label2]);
    if (parent1 == label1) {
      parent1 = atomicMin (&labels[label1], parent2);
      if (parent1 == label1)
        return;
    } else if (from1 != label1) {
      __stcg (&labels[from1], parent1);
    }
    if (from2 != label2 && parent2 != label2)
      __stcg (&labels[from2], parent2);
    from1 = label1;
    from2 = label2;
    label1 = parent1;
    label2 = parent2;
  }
}

/* Makes @label point to its root, or in a forest that is still being merged to an ancestor. Begins
 * with @parent, a lower label that it is connected to, and stores every ancestor on the way, so
 * that threads help each other along deep trees. That may undo what a merge has just stored there:
 * its thread goes on with what it found before, and connects that. */
static __device__ inline uint32_t
compress (uint32_t *labels, uint32_t label, uint32_t parent)
{
  uint32_t grandparent;

  while ((grandparent = __ldcg (&labels[parent])) != parent) {
    __stcg (&labels[label], grandparent);
    parent = grandparent;
  }
  return parent;
}

/* As merge(), where chains of labels grow everywhere at a time: each thread shortens the one that
 * its label begins, also where nothing else is left to do, and so all have shorter ones to climb.
 * That may cut the label off from what was found there, which join() connects again. */
static __device__ inline void
merge_and_compress (uint32_t *labels, uint32_t label1, uint32_t label2)
{
  uint32_t high = max (label1, label2), low = min (label1, label2), found;

  if (high == low)
    return;
  found = atomicMin (&labels[high], low);
  if (found == low)
    return;
  low = compress (labels, high, low);
  if (found != high)
    join (labels, found, low);
}

#endif
