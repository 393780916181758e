/* cudaccl - CUDA backend: frames of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_CLASSES_TABLE_H
#define CCL_CUDA_CLASSES_TABLE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which neighbours have the same class, as bits: algorithms never see values. Each plane has a bit
 * for each pixel; all have the rows and the pitch of the frame that algorithms analyse
 * (CclCudaFrame.bits), one plane below the other. */
typedef enum CclClassPlane
{
  CCL_CLASS_PIXELS, /* the pixel has a class, and so has ... */
  CCL_CLASS_LEFT,   /* ... the same one as its left neighbour */
  CCL_CLASS_UP,     /* ... as the pixel above */
  CCL_CLASS_FALL,   /* ... as the pixel above on the left */
  CCL_CLASS_RISE,   /* the pixel above has the same class as the left neighbour */
  CCL_CLASS_PLANES,
} CclClassPlane;

/* A frame of values on the device. Passed to kernels by value. */
typedef struct CclClassFrame
{
  const uint8_t *pixels; /* at any address */
  size_t pitch;          /* bytes */
  uint32_t width, height;
  uint8_t size;           /* bytes of a pixel: 1, 2 or 4; those of 4 are aligned */
  bool big_endian;        /* those of 2 */
  const uint32_t *region; /* words of a mask: pixels outside have value 0; NULL: the whole frame */
  size_t region_pitch;    /* words */
} CclClassFrame;

/* Enqueues the planes. @to: [CCL_CLASS_PLANES * height * pitch] words; @pitch: at least one word
 * for 32 pixels. */
cudaError_t ccl_cuda_find_classes (const CclClassFrame *frame, uint32_t *to, size_t pitch,
                                   cudaStream_t stream);

/* Enqueues the values of @count components, which the device can read. */
cudaError_t ccl_cuda_gather_values (const CclClassFrame *frame, const CclComponent *components,
                                    uint32_t count, uint16_t *values, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
