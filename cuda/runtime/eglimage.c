/* cudaccl - CUDA backend: EGL images
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/api.h"
#include "cuda/runtime/context.h"
#include "cuda/runtime/error.h"

#include <cudaccl/eglimage.h>

#include <string.h>

static bool
have_egl (void)
{
  const CclCudaApi *api = &ccl_cuda_api;

  return api->cuGraphicsEGLRegisterImage && api->cuGraphicsResourceGetMappedEglFrame &&
         api->cuGraphicsUnregisterResource;
}

static CclStatus
fail_format (void)
{
  return ccl_fail (CCL_ERROR_UNSUPPORTED,
                   "the first plane of the EGL image does not have one byte per pixel; use NV12, "
                   "I420 or GRAY8");
}

/* The array's own format and size are reliable; the frame's need not be. */
static CclStatus
take_array (CclEglImage *self, void *array)
{
  struct cudaChannelFormatDesc format;
  struct cudaExtent extent;
  cudaArray_t plane = array;
  cudaError_t error = CCL_CUDA (cudaArrayGetInfo, &format, &extent, NULL, array);
  CclStatus status;

  if (error == cudaSuccess && format.f == cudaChannelFormatKindNV12) {
    error = CCL_CUDA (cudaArrayGetPlane, &plane, array, 0);
    if (error == cudaSuccess)
      error = CCL_CUDA (cudaArrayGetInfo, &format, &extent, NULL, plane);
  }
  status = ccl_cuda_check (error, "querying the size of an image");
  if (status != CCL_OK)
    return status;
  if (format.x != 8 || format.y || format.z || format.w)
    return fail_format ();
  self->luma = (CclImage){ .data = (const uint8_t *) plane, .memory = CCL_MEMORY_ARRAY };
  self->width = (uint32_t) extent.width;
  self->height = (uint32_t) extent.height;
  return CCL_OK;
}

/* Adds the interleaved chroma of an NV12 array; other arrays have only one plane. */
static CclStatus
take_array_chroma (CclEglImage *self, void *array)
{
  cudaArray_t plane;
  CclStatus status;

  if (self->luma.data == array)
    return CCL_OK;
  status = ccl_cuda_check (CCL_CUDA (cudaArrayGetPlane, &plane, array, 1), "querying an image");
  if (status == CCL_OK)
    self->chroma[self->n_chroma++] =
        (CclImage){ .data = (const uint8_t *) plane, .memory = CCL_MEMORY_ARRAY };
  return status;
}

/* Adds the planes after the first. CUDA reports only the pitch of the first one; interleaved chroma
 * has the same. */
static void
take_chroma (CclEglImage *self, const CclEglFrame *frame)
{
  for (unsigned i = 1; i < frame->n_planes && i < 3 && frame->planes[i]; i++)
    self->chroma[self->n_chroma++] = (CclImage){
      .data = frame->planes[i],
      .stride = frame->n_planes == 2 ? self->luma.stride : 0,
      .memory = self->luma.memory,
    };
}

static CclStatus
take_luma (CclEglImage *self, const CclEglFrame *frame)
{
  if (frame->type == CCL_EGL_FRAME_ARRAY)
    return take_array (self, frame->planes[0]);
  if (frame->type != CCL_EGL_FRAME_PITCH || frame->format != CU_AD_FORMAT_UNSIGNED_INT8)
    return fail_format ();
  self->luma = (CclImage){
    .data = frame->planes[0],
    .stride = frame->pitch,
    .memory = CCL_MEMORY_DEVICE,
  };
  self->width = frame->width;
  self->height = frame->height;
  return CCL_OK;
}

static CclStatus
take_frame (CclEglImage *self)
{
  CclEglFrame frame;
  CclStatus status;

  memset (&frame, 0, sizeof frame);
  status =
      ccl_cuda_check (CCL_CUDA (cuGraphicsResourceGetMappedEglFrame, &frame, self->resource, 0, 0),
                      "mapping an EGL image");
  if (status != CCL_OK)
    return status;
  if (frame.n_planes == 0 || !frame.planes[0])
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "the EGL image has no plane that CUDA can read");
  status = take_luma (self, &frame);
  if (status == CCL_OK)
    take_chroma (self, &frame);
  return status;
}

CclStatus
ccl_egl_image_from_array (CclEglImage *self, void *array, int device)
{
  CUcontext context = NULL;
  CclStatus status = ccl_cuda_context_find (device, &context);

  *self = (CclEglImage){ .context = context };
  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = take_array (self, array);
  if (status == CCL_OK)
    status = take_array_chroma (self, array);
  ccl_cuda_context_leave ();
  return status;
}

CclStatus
ccl_egl_image_register (CclEglImage *self, void *image, int device)
{
  CUcontext context = NULL;
  CUgraphicsResource resource;
  CclStatus status = ccl_cuda_context_find (device, &context);

  *self = (CclEglImage){ .context = context };
  if (status == CCL_OK && !have_egl ())
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "this NVIDIA driver does not support EGL images");
  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = ccl_cuda_check (CCL_CUDA (cuGraphicsEGLRegisterImage, &resource, image, 0),
                           "registering an EGL image");
  if (status == CCL_OK) {
    self->resource = resource;
    status = take_frame (self);
    if (status != CCL_OK)
      CCL_CUDA (cuGraphicsUnregisterResource, resource);
  }
  ccl_cuda_context_leave ();
  return status;
}

void
ccl_egl_image_unregister (CclEglImage *self)
{
  if (ccl_cuda_context_enter (self->context) != CCL_OK)
    return;
  CCL_CUDA (cuGraphicsUnregisterResource, self->resource);
  ccl_cuda_context_leave ();
}
