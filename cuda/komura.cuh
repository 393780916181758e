/* cudaccl - CUDA backend: the second compression of Komura equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_KOMURA_CUH
#define CCL_CUDA_KOMURA_CUH

#include "cuda/forest.cuh"

#define KOMURA_LABELS 4 /* of a thread */

/* Most labels point to their root by now or to one that does. So there is little to be gained from
 * what other threads have shortened, and more from waiting for several labels at once. */
static __global__ void
second_compression (uint32_t *labels, size_t count, bool in_line)
{
  size_t first = ((size_t) blockIdx.x * blockDim.x + threadIdx.x) * KOMURA_LABELS;
  uint32_t parents[KOMURA_LABELS];

#pragma unroll
  for (uint32_t k = 0; k < KOMURA_LABELS; k++)
    parents[k] = first + k < count ? labels[first + k] : CCL_NO_LABEL;
#pragma unroll
  for (uint32_t k = 0; k < KOMURA_LABELS; k++)
    compress_label (labels, first + k, parents[k], in_line);
}

static inline void
enqueue_second_compression (uint32_t *labels, size_t count, bool in_line, cudaStream_t stream)
{
  unsigned blocks = (unsigned) ((count - 1) / (FOREST_THREADS * KOMURA_LABELS) + 1);

  second_compression<<<blocks, FOREST_THREADS, 0, stream>>> (labels, count, in_line);
}

#endif
