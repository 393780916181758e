/* cudaccl - a fake of NVIDIA's library for NVMM memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/nvfake/nvfake.h"

#include <dlfcn.h>
#include <string.h>

#include "cuda/runtime/eglframe.h"
#include "tests/lib/device.h"

#ifdef HAVE_CUDA_EGL_H
#include <cudaEGL.h>

/* The engine's own declaration of CUeglFrame must match CUDA's. */
#define ASSERT_SAME(ours, theirs) \
  G_STATIC_ASSERT (offsetof (CclEglFrame, ours) == offsetof (CUeglFrame, theirs))
G_STATIC_ASSERT (sizeof (CclEglFrame) == sizeof (CUeglFrame));
ASSERT_SAME (planes, frame);
ASSERT_SAME (width, width);
ASSERT_SAME (pitch, pitch);
ASSERT_SAME (n_planes, planeCount);
ASSERT_SAME (n_channels, numChannels);
ASSERT_SAME (type, frameType);
ASSERT_SAME (color_format, eglColorFormat);
ASSERT_SAME (format, cuFormat);
G_STATIC_ASSERT ((gint) CCL_EGL_FRAME_ARRAY == (gint) CU_EGL_FRAME_TYPE_ARRAY);
G_STATIC_ASSERT ((gint) CCL_EGL_FRAME_PITCH == (gint) CU_EGL_FRAME_TYPE_PITCH);
#endif

/* Bytes before the luma, so that ignoring the plane's offset fails. */
#define LUMA_OFFSET 512

/* Padding, and bytes before the luma, are foreground. */
#define FILL 255

#define EXPORT __attribute__ ((visibility ("default")))

typedef struct
{
  NvBufSurface surface;
  NvBufSurfaceParams params;
  void *arrays[NVBUF_MAX_PLANES]; /* CUarrays */
  guint generation;
} Surface;

/* A registration with CUDA; it may outlive the surface. */
typedef struct
{
  Surface *surface;
  guint generation;
} Resource;

/* Protected by the lock: elements call from many threads. */
static GMutex lock;
static NvFakeCounts counts;
static GHashTable *surfaces, *resources; /* that exist */

static NvFakeFault fault;

EXPORT int NvBufSurfaceMapEglImage (NvBufSurface *surface, int index);
EXPORT int NvBufSurfaceUnMapEglImage (NvBufSurface *surface, int index);
EXPORT CUresult cuGraphicsEGLRegisterImage (CUgraphicsResource *resource, void *image,
                                            unsigned flags);
EXPORT CUresult cuGraphicsUnregisterResource (CUgraphicsResource resource);
#ifndef HAVE_CUDA_EGL_H
EXPORT CUresult cuGraphicsResourceGetMappedEglFrame (CclEglFrame *frame,
                                                     CUgraphicsResource resource, unsigned index,
                                                     unsigned level);
#endif

EXPORT NvFakeCounts *
nv_fake_counts (void)
{
  return &counts;
}

EXPORT void
nv_fake_set_fault (NvFakeFault new_fault)
{
  fault = new_fault;
}

static void
remember (GHashTable **table, gpointer what)
{
  g_mutex_lock (&lock);
  if (!*table)
    *table = g_hash_table_new (NULL, NULL);
  g_hash_table_add (*table, what);
  g_mutex_unlock (&lock);
}

/* Call with the lock held. */
static gboolean
is_there (GHashTable *table, gconstpointer what)
{
  return table && g_hash_table_contains (table, what);
}

static CclMemory
kind_of_memory (const NvBufSurface *surface)
{
  switch (surface->memType) {
  case NVBUF_MEM_SYSTEM:
    return CCL_MEMORY_HOST;
  case NVBUF_MEM_CUDA_PINNED:
    return CCL_MEMORY_PINNED;
  default:
    return CCL_MEMORY_DEVICE;
  }
}

static void
allocate_rows (Surface *self, const NvFakePlane *planes, guint n)
{
  NvBufSurfaceParams *params = &self->params;
  CclMemory memory = kind_of_memory (&self->surface);
  gsize size = LUMA_OFFSET;
  guint8 *data;
  guint i, y;

  for (i = 0; i < n; i++) {
    gsize pitch = (planes[i].width + 255) / 256 * 256;

    params->planeParams.pitch[i] = (guint32) pitch;
    params->planeParams.offset[i] = (guint32) size;
    size += pitch * planes[i].height;
  }
  data = g_malloc (size);
  memset (data, FILL, size);
  for (i = 0; i < n; i++) {
    for (y = 0; y < planes[i].height; y++)
      memcpy (data + params->planeParams.offset[i] + y * params->planeParams.pitch[i],
              planes[i].pixels + y * (gsize) planes[i].stride, planes[i].width);
  }

  params->dataPtr = data;
  params->dataSize = (guint32) size;
  params->pitch = params->planeParams.pitch[0];
  if (memory == CCL_MEMORY_HOST)
    return;

  params->dataPtr = test_device_alloc (memory, size);
  if (memory == CCL_MEMORY_DEVICE)
    test_device_upload (params->dataPtr, data, size);
  else
    memcpy (params->dataPtr, data, size);
  g_free (data);
}

EXPORT NvBufSurface *
nv_fake_surface_new_planes (NvBufSurfaceMemType type, NvBufSurfaceLayout layout,
                            const NvFakePlane *planes, guint n)
{
  static gint descriptor = 100;
  Surface *self = g_new0 (Surface, 1);
  NvBufSurfaceParams *params = &self->params;
  guint i;

  self->surface.batchSize = self->surface.numFilled = 1;
  self->surface.memType = type;
  self->surface.surfaceList = params;
  params->width = planes[0].width;
  params->height = planes[0].height;
  params->layout = layout;
  params->bufferDesc = (guint64) g_atomic_int_add (&descriptor, 1);
  params->planeParams.num_planes = n;
  for (i = 0; i < n; i++) {
    params->planeParams.bytesPerPix[i] = i == 1 && n == 2 ? 2 : 1;
    params->planeParams.width[i] = planes[i].width / params->planeParams.bytesPerPix[i];
    params->planeParams.height[i] = planes[i].height;
    if (layout == NVBUF_LAYOUT_BLOCK_LINEAR)
      self->arrays[i] = test_device_array_new (planes[i].pixels, planes[i].stride, planes[i].width,
                                               planes[i].height);
  }
  if (layout != NVBUF_LAYOUT_BLOCK_LINEAR)
    allocate_rows (self, planes, n);
  if ((gint) type == GST_CCL_NVBUF_MEM_CUDA_ARRAY)
    params->dataPtr = self->arrays[0];
  remember (&surfaces, self);

  return &self->surface;
}

EXPORT NvBufSurface *
nv_fake_surface_new (NvBufSurfaceMemType type, NvBufSurfaceLayout layout, const guint8 *pixels,
                     guint stride, guint width, guint height)
{
  const NvFakePlane luma = { pixels, stride, width, height };

  return nv_fake_surface_new_planes (type, layout, &luma, 1);
}

EXPORT void
nv_fake_surface_free (NvBufSurface *surface)
{
  Surface *self = (Surface *) surface;
  guint i;

  g_mutex_lock (&lock);
  g_hash_table_remove (surfaces, self);
  g_mutex_unlock (&lock);

  for (i = 0; i < NVBUF_MAX_PLANES && self->arrays[i]; i++)
    test_device_array_free (self->arrays[i]);
  if (surface->memType == NVBUF_MEM_SYSTEM)
    g_free (self->params.dataPtr);
  else if (self->params.dataPtr != self->arrays[0])
    test_device_free (kind_of_memory (surface), self->params.dataPtr);
  g_free (self);
}

EXPORT void
nv_fake_surface_renew (NvBufSurface *surface)
{
  Surface *self = (Surface *) surface;

  g_mutex_lock (&lock);
  self->generation++;
  self->params.mappedAddr.eglImage = NULL;
  g_mutex_unlock (&lock);
}

/* The EGL image is the surface itself. */
int
NvBufSurfaceMapEglImage (NvBufSurface *surface, int index)
{
  gboolean possible =
      surface->memType == NVBUF_MEM_SURFACE_ARRAY && index == 0 && fault != NV_FAKE_NO_EGL;

  if (!possible)
    return -1;

  g_mutex_lock (&lock);
  surface->surfaceList[0].mappedAddr.eglImage = surface;
  counts.mapped++;
  g_mutex_unlock (&lock);

  return 0;
}

int
NvBufSurfaceUnMapEglImage (NvBufSurface *surface, int index)
{
  gboolean possible;

  g_mutex_lock (&lock);
  possible =
      is_there (surfaces, surface) && index == 0 && surface->surfaceList[0].mappedAddr.eglImage;
  if (possible) {
    surface->surfaceList[0].mappedAddr.eglImage = NULL;
    counts.unmapped++;
  } else {
    counts.strays++;
  }
  g_mutex_unlock (&lock);

  return possible ? 0 : -1;
}

/* Like CUDA's functions, these need a current context. */
static gboolean
have_context (void)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void *symbol = driver ? dlsym (driver, "cuCtxGetCurrent") : NULL;
  CUresult (*get_current) (CUcontext * context);
  CUcontext context = NULL;

  if (!symbol)
    return FALSE;
  memcpy (&get_current, &symbol, sizeof (symbol));

  return get_current (&context) == CUDA_SUCCESS && context;
}

CUresult
cuGraphicsEGLRegisterImage (CUgraphicsResource *resource, void *image, unsigned flags)
{
  Resource *self;

  if (!have_context ())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (fault == NV_FAKE_NO_CUDA)
    return CUDA_ERROR_INVALID_HANDLE;

  self = g_new0 (Resource, 1);
  self->surface = image;
  self->generation = self->surface->generation;
  remember (&resources, self);
  *resource = (CUgraphicsResource) self;
  g_mutex_lock (&lock);
  counts.registered++;
  g_mutex_unlock (&lock);

  return CUDA_SUCCESS;
}

CUresult
cuGraphicsUnregisterResource (CUgraphicsResource resource)
{
  Resource *self = (Resource *) resource;
  gboolean good;

  if (!have_context ())
    return CUDA_ERROR_INVALID_CONTEXT;

  g_mutex_lock (&lock);
  /* Must precede the unmapping of the image, unless the surface is gone with it. */
  good = g_hash_table_remove (resources, self) &&
         (!is_there (surfaces, self->surface) || self->generation != self->surface->generation ||
          self->surface->params.mappedAddr.eglImage);
  if (good)
    counts.unregistered++;
  else
    counts.strays++;
  g_mutex_unlock (&lock);
  if (good)
    g_free (self);

  return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult
get_frame (CclEglFrame *frame, CUgraphicsResource resource)
{
  const Surface *self = ((const Resource *) resource)->surface;
  guint n = self->params.planeParams.num_planes, i;

  memset (frame, 0, sizeof (*frame));
  frame->width = self->params.width;
  frame->height = self->params.height;
  frame->n_planes = fault == NV_FAKE_NO_PLANES ? 0 : n;
  frame->n_channels = 1;
  frame->format =
      fault == NV_FAKE_WIDE_PIXELS ? CU_AD_FORMAT_UNSIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT8;
  frame->type = self->arrays[0] ? CCL_EGL_FRAME_ARRAY : CCL_EGL_FRAME_PITCH;
  frame->pitch = self->params.planeParams.pitch[0];
  for (i = 0; i < n; i++)
    frame->planes[i] = self->arrays[0]
                           ? self->arrays[i]
                           : (guint8 *) self->params.dataPtr + self->params.planeParams.offset[i];
  if (fault == NV_FAKE_UNKNOWN_TYPE)
    frame->type = 7;

  return CUDA_SUCCESS;
}

#ifdef HAVE_CUDA_EGL_H
EXPORT CUresult
cuGraphicsResourceGetMappedEglFrame (CUeglFrame *frame, CUgraphicsResource resource, unsigned index,
                                     unsigned level)
{
  return get_frame ((CclEglFrame *) frame, resource);
}
#else
CUresult
cuGraphicsResourceGetMappedEglFrame (CclEglFrame *frame, CUgraphicsResource resource,
                                     unsigned index, unsigned level)
{
  return get_frame (frame, resource);
}
#endif
