/* cudaccl - CUDA backend: shapes while they are found
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_SHAPE_H
#define CCL_CUDA_SHAPE_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As CclShape; all 0 without pixels. */
typedef struct CclCudaShape
{
  unsigned long long edges, luma, euler; /* modulo 2^64 */
  uint32_t straight, diagonal, turning;
  uint32_t darkness; /* 255 - the minimum */
  uint32_t brightness;
  uint32_t reserved;
} CclCudaShape;

/* Label map and luma, in device memory. Passed to kernels by value. */
typedef struct CclShapeFrame
{
  const uint32_t *labels; /* [height * width] */
  uint32_t width, height;
  const uint8_t *luma; /* only with CCL_SHAPES_LUMA */
  size_t pitch;
  uint32_t connectivity;
  uint32_t wanted; /* CclShapeFlags */
} CclShapeFrame;

/* Enqueues the sums over all pixels, with those of label 1 first. */
cudaError_t ccl_cuda_sum_shapes (const CclShapeFrame *frame, CclCudaShape *sums,
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
