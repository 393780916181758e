/* cudaccl - CUDA backend: CUDA's description of an EGL image
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CUeglFrame of cudaEGL.h. That header needs EGL's headers, which may not be installed. */

#ifndef CCL_CUDA_EGL_FRAME_H
#define CCL_CUDA_EGL_FRAME_H

#include <cuda.h>

enum
{
  CCL_EGL_FRAME_ARRAY = 0, /* the planes are CUarrays */
  CCL_EGL_FRAME_PITCH = 1, /* the planes are at addresses */
};

typedef struct CclEglFrame
{
  void *planes[3];
  unsigned width, height, depth, pitch; /* of the first plane */
  unsigned n_planes;
  unsigned n_channels;
  unsigned type;
  unsigned color_format;
  CUarray_format format;
} CclEglFrame;

#endif
