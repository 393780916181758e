/* cudaccl - CUDA backend: interleaved colours to luma and chroma
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_COLOR_H
#define CCL_CUDA_COLOR_H

#include <cuda_runtime_api.h>

#include "engine/color.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A frame in device memory, and where its planes go. */
typedef struct CclCudaColors
{
  CclColorWeights weights;
  CclCut cut;
  const uint8_t *from;
  size_t stride;
  uint32_t width, height;
  const uint8_t *samples[2]; /* chroma of 16-bit samples, */
  size_t samples_stride[2];  /* the bytes from row to row, */
  uint32_t step;             /* and from sample to sample */
  uint8_t *luma, *chroma[2]; /* the latter NULL without chroma */
  size_t luma_stride, chroma_stride;
} CclCudaColors;

cudaError_t ccl_cuda_convert_colors (const CclCudaColors *colors, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
