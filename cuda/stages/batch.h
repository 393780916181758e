/* cudaccl - CUDA backend: stacking the frames of a batch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_BATCH_H
#define CCL_CUDA_BATCH_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A frame in device memory. */
typedef struct CclCudaSource
{
  const uint8_t *pixels;
  size_t stride;
} CclCudaSource;

/* A CclStack as the kernels take it: in words of four pixels or, with bits, of 64 pixels. */
typedef struct CclCudaStack
{
  uint8_t *to; /* [frames * (height + 1) * pitch], aligned as memory from cudaMalloc() */
  size_t pitch;
  uint32_t width, height; /* of a frame */
  bool bits;
  const CclCudaSource *sources; /* [n] on the device */
  uint32_t n, frames;
  uint8_t fill;
  bool all_set;
} CclCudaStack;

cudaError_t ccl_cuda_stack_rows (const CclCudaStack *stack, cudaStream_t stream);

/* The way back, of label maps: each frame gets the labels of its own result. */
typedef struct CclCudaUnstack
{
  const uint32_t *map;           /* of the stack, [frames * (height + 1) * width] */
  const uint32_t *result_labels; /* of the stack's components, in their order, on the device */
  uint8_t *to;
  size_t stride, step;    /* bytes of @to from row to row, from frame to frame */
  uint32_t width, height; /* of a frame */
  uint32_t n;             /* frames */
} CclCudaUnstack;

cudaError_t ccl_cuda_unstack_labels (const CclCudaUnstack *unstack, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
