/* cudaccl - EGL images as CUDA sees them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* On Jetsons, CUDA reads the memory of cameras and decoders only through EGL images. */

#ifndef CCL_EGL_IMAGE_H
#define CCL_EGL_IMAGE_H

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An EGL image that is registered with CUDA, until ccl_egl_image_unregister(). */
typedef struct CclEglImage
{
  CclImage luma;          /* the first plane: CCL_MEMORY_DEVICE when its rows follow each other,
                           * CCL_MEMORY_ARRAY when it is made of blocks */
  uint32_t width, height; /* of that plane */
  CclImage chroma[2];     /* the other planes, of bytes or of pairs of bytes, in the same memory; a
                           * stride of 0 is not known */
  unsigned n_chroma;
  void *context;  /* CUcontext: the device's primary one */
  void *resource; /* CUgraphicsResource */
} CclEglImage;

/* Registers an EGLImageKHR with CUDA device number @device. Its first plane must have one byte per
 * pixel, and it must exist until it is unregistered. Errors: CCL_ERROR_NO_DEVICE,
 * CCL_ERROR_UNSUPPORTED (the driver does not support EGL, the plane has other pixels, this build
 * has no CUDA backend), CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_egl_image_register (CclEglImage *self, void *image, int device);

/* Describes a CUDA array, a cudaArray_t with pixels of one byte or in NV12, as if it were an EGL
 * image of device number @device. It need not be unregistered. Errors: as above. */
CCL_API CclStatus ccl_egl_image_from_array (CclEglImage *self, void *array, int device);

/* From any thread, after the last access to the image. */
CCL_API void ccl_egl_image_unregister (CclEglImage *self);

#ifdef __cplusplus
}
#endif

#endif
