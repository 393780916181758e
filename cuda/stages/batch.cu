/* cudaccl - CUDA backend: stacking the frames of a batch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/stages/batch.h"
#include "cuda/device/launch.cuh"

#define STACK_THREADS 256
#define STACK_BLOCKS 1024

/* Each thread writes four pixels of the stack; its rows end with whole words. */
static __global__ void
batch_stack_rows (CclCudaStack s)
{
  size_t words = (s.width - 1) / 4 + 1, n = words * (s.height + 1) * s.frames;

  for (size_t i = (size_t) blockIdx.x * STACK_THREADS + threadIdx.x; i < n;
       i += (size_t) STACK_BLOCKS * STACK_THREADS) {
    uint32_t row = (uint32_t) (i / words), x = 4 * (uint32_t) (i - row * words);
    uint32_t frame = row / (s.height + 1), y = row - frame * (s.height + 1), pixels = 0;
    bool inside = frame < s.n && y < s.height;
    const uint8_t *from = inside ? s.sources[frame].pixels + y * s.sources[frame].stride : NULL;

    for (uint32_t k = 0; k < 4; k++) {
      uint32_t pixel = s.fill;

      if (inside && x + k < s.width)
        pixel = s.all_set ? 1 : from[x + k];
      pixels |= pixel << 8 * k;
    }
    *(uint32_t *) (s.to + row * s.pitch + x) = pixels;
  }
}

/* The same for bits, 64 per thread. Kernels read whole words of a mask; bits past the width may
 * have any value. */
static __global__ void
batch_stack_bits (CclCudaStack s)
{
  size_t words = (s.width - 1) / 64 + 1, n = words * (s.height + 1) * s.frames;

  for (size_t i = (size_t) blockIdx.x * STACK_THREADS + threadIdx.x; i < n;
       i += (size_t) STACK_BLOCKS * STACK_THREADS) {
    uint32_t row = (uint32_t) (i / words), w = (uint32_t) (i - row * words);
    uint32_t frame = row / (s.height + 1), y = row - frame * (s.height + 1);
    uint64_t pixels = s.fill * 0x0101010101010101u;

    if (frame < s.n && y < s.height)
      pixels = ((const uint64_t *) (s.sources[frame].pixels + y * s.sources[frame].stride))[w];
    ((uint64_t *) (s.to + row * s.pitch))[w] = pixels;
  }
}

static __global__ void
batch_unstack_labels (CclCudaUnstack u)
{
  size_t n = (size_t) u.width * u.height * u.n;

  for (size_t i = (size_t) blockIdx.x * STACK_THREADS + threadIdx.x; i < n;
       i += (size_t) STACK_BLOCKS * STACK_THREADS) {
    uint32_t row = (uint32_t) (i / u.width), x = (uint32_t) (i - (size_t) row * u.width);
    uint32_t frame = row / u.height, y = row - frame * u.height;
    uint32_t label = u.map[((size_t) row + frame) * u.width + x];

    ((uint32_t *) (u.to + frame * u.step + y * u.stride))[x] =
        label > 0 ? u.result_labels[label - 1] : 0;
  }
}

extern "C" cudaError_t
ccl_cuda_unstack_labels (const CclCudaUnstack *u, cudaStream_t stream)
{
  return launch (batch_unstack_labels, STACK_BLOCKS, STACK_THREADS, 0, stream, *u);
}

extern "C" cudaError_t
ccl_cuda_stack_rows (const CclCudaStack *s, cudaStream_t stream)
{
  return launch (s->bits ? batch_stack_bits : batch_stack_rows, STACK_BLOCKS, STACK_THREADS, 0,
                 stream, *s);
}
