/* cudaccl - CUDA backend: union-find as the labellers' papers have it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Algorithm 1 of paper 002. Labels point to smaller labels or, roots, to themselves. Readers may
 * find an older parent in their L1 cache, which is an ancestor still; what they do with what was a
 * root is atomic, and tells them. That cache makes all the difference where paths are long. */

#ifndef CCL_CUDA_FOREST_CUH
#define CCL_CUDA_FOREST_CUH

#include "cuda/device/bits.cuh"

#define FOREST_THREADS 256

/* Find: the root of @label. */
static __device__ inline uint32_t
find (const uint32_t *labels, uint32_t label)
{
  uint32_t parent;

  while ((parent = labels[label]) != label)
    label = parent;
  return label;
}

/* Union, after Oliveira and Lotufo: links the higher root to the lower one, and goes on from what
 * another thread has linked it to meanwhile. All that it writes is atomic, so that @labels may be
 * shared memory. */
static __device__ inline void
unite (uint32_t *labels, uint32_t label1, uint32_t label2)
{
  for (;;) {
    uint32_t high, low, found;

    label1 = find (labels, label1);
    label2 = find (labels, label2);
    if (label1 == label2)
      return;
    high = max (label1, label2);
    low = min (label1, label2);
    found = atomicMin (&labels[high], low);
    if (found == high)
      return;
    label1 = found;
    label2 = low;
  }
}

/* What a label points to; none where there is none. */
static __device__ inline uint32_t
parent_of (const uint32_t *labels, uint32_t label)
{
  return label == CCL_NO_LABEL ? label : labels[label];
}

/* Compress, and with @in_line InlineCompress, which stores every step on the way, so that others
 * find their way shortened. Nothing is linked meanwhile. @next: the parent of @label's @parent. */
static __device__ inline void
compress_label (uint32_t *labels, size_t label, uint32_t parent, uint32_t next, bool in_line)
{
  if (next == parent)
    return;
  while (next != parent) {
    parent = next;
    if (in_line)
      labels[label] = parent;
    next = labels[parent];
  }
  if (!in_line)
    labels[label] = parent;
}

static __global__ void
compression (uint32_t *labels, size_t count, bool in_line)
{
  size_t label = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t parent;

  if (label >= count)
    return;
  parent = labels[label];
  compress_label (labels, label, parent, parent_of (labels, parent), in_line);
}

static inline void
enqueue_compression (uint32_t *labels, size_t count, bool in_line, cudaStream_t stream)
{
  unsigned blocks = (unsigned) ((count - 1) / FOREST_THREADS + 1);

  compression<<<blocks, FOREST_THREADS, 0, stream>>> (labels, count, in_line);
}

#define SHALLOW_LABELS 4 /* of a thread */

/* The same where most labels point to their root or to one that does. So there is little to be
 * gained from what other threads have shortened, and more from waiting for several labels at once.
 */
static __global__ void
shallow_compression (uint32_t *labels, size_t count, bool in_line)
{
  size_t first = ((size_t) blockIdx.x * blockDim.x + threadIdx.x) * SHALLOW_LABELS;
  uint32_t parents[SHALLOW_LABELS], nexts[SHALLOW_LABELS];

#pragma unroll
  for (uint32_t k = 0; k < SHALLOW_LABELS; k++)
    parents[k] = first + k < count ? labels[first + k] : CCL_NO_LABEL;
#pragma unroll
  for (uint32_t k = 0; k < SHALLOW_LABELS; k++)
    nexts[k] = parent_of (labels, parents[k]);
#pragma unroll
  for (uint32_t k = 0; k < SHALLOW_LABELS; k++) {
    compress_label (labels, first + k, parents[k], nexts[k], in_line);
    __syncwarp (); /* the warp's threads go on together */
  }
}

static inline void
enqueue_shallow_compression (uint32_t *labels, size_t count, bool in_line, cudaStream_t stream)
{
  unsigned blocks = (unsigned) ((count - 1) / (FOREST_THREADS * SHALLOW_LABELS) + 1);

  shallow_compression<<<blocks, FOREST_THREADS, 0, stream>>> (labels, count, in_line);
}

#endif
