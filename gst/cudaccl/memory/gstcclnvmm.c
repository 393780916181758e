/* cudaccl - frames in NVIDIA's video memory (memory:NVMM)
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The data of such a buffer is a NvBufSurface, which says where the pixels are. A discrete GPU's
 * are at an address of its memory. A Jetson's are in memory that CUDA can read only after it was
 * made an EGL image and registered, which takes longer than the analysis of a frame: so that is
 * done once for each GstMemory, and undone when its pool frees it. Several elements may read the
 * same memory, so what is registered is counted. */

#include "gstcclnvmm.h"

#include <dlfcn.h>
#include <string.h>

#include <ccl/eglimage.h>

#include "gstcclnvbufsurface.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

typedef struct
{
  GstCclMapper parent;

  gint device; /* the user's, or -1 */
} GstCclNvmmMapper;

/* The part of a surface that is analysed. */
typedef struct
{
  guint x, y, width, height;
} Window;

/* A surface that CUDA was shown. */
typedef struct
{
  gint n_references; /* atomic: of its memory, and of frames that are mapped */
  NvBufSurface *surface;
  guint64 descriptor;
  gpointer egl_image;
  gboolean made; /* by the element; else it was there before */
  CclEglImage image;
} Registration;

/* What a memory has for its elements. */
typedef struct
{
  GstMemory *memory;
  GMutex lock;
  GCond unmapped;
  Registration *current; /* under the lock */
} Shown;

/* NVIDIA's library, which is there on Jetsons and with DeepStream. */
static struct
{
  int (*map_egl_image) (NvBufSurface *surface, int index);
  int (*unmap_egl_image) (NvBufSurface *surface, int index);
} library;

static const gchar *const library_names[] = { "libnvbufsurface.so.1.0.0", "libnvbufsurface.so" };

static gboolean
load_library (void)
{
  void *handle = NULL, *map_symbol, *unmap_symbol;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (library_names) && !handle; i++)
    handle = dlopen (library_names[i], RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    GST_WARNING ("%s", dlerror ());
    return FALSE;
  }

  map_symbol = dlsym (handle, "NvBufSurfaceMapEglImage");
  unmap_symbol = dlsym (handle, "NvBufSurfaceUnMapEglImage");
  if (!map_symbol || !unmap_symbol) {
    GST_WARNING ("%s", dlerror ());
    return FALSE;
  }

  memcpy (&library.map_egl_image, &map_symbol, sizeof (map_symbol));
  memcpy (&library.unmap_egl_image, &unmap_symbol, sizeof (unmap_symbol));

  return TRUE;
}

static gboolean
ensure_library (GError **error)
{
  static gsize loaded = 0;

  if (g_once_init_enter (&loaded))
    g_once_init_leave (&loaded, load_library () ? 1 : 2);
  if (loaded == 1)
    return TRUE;

  g_set_error (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "A Jetson's video memory cannot be read without NVIDIA's library %s; in a container, "
      "mount the host's (--runtime nvidia).",
      library_names[0]);

  return FALSE;
}

static void
registration_unref (Registration *registration)
{
  if (!g_atomic_int_dec_and_test (&registration->n_references))
    return;

  ccl_egl_image_unregister (&registration->image);
  g_free (registration);
}

/* Whether @surface, which a memory has now, is what was shown. Neither its address nor its
 * descriptor tells, as both are used again for others; the EGL image of another is another. */
static gboolean
registration_is_of (const Registration *registration, const NvBufSurface *surface)
{
  const NvBufSurfaceParams *params = &surface->surfaceList[0];

  return registration->surface == surface && registration->descriptor == params->bufferDesc &&
         registration->egl_image == params->mappedAddr.eglImage;
}

/* Whether the EGL image is to be unmapped by the element that made it, now that its memory has
 * @surface. Where any other surface is, or whether, nobody knows: its image is its owner's. */
static gboolean
registration_has_image (const Registration *registration, const NvBufSurface *surface)
{
  return registration->made && registration->surface == surface &&
         registration->egl_image == surface->surfaceList[0].mappedAddr.eglImage;
}

/* Drops the reference of a memory that has @surface. */
static void
registration_drop (Registration *registration, NvBufSurface *surface)
{
  gboolean has_image = registration_has_image (registration, surface);

  registration_unref (registration);
  if (has_image)
    library.unmap_egl_image (surface, 0);
}

static Registration *
registration_new (NvBufSurface *surface, GError **error)
{
  NvBufSurfaceParams *params = &surface->surfaceList[0];
  Registration *registration;

  if (!ensure_library (error))
    return NULL;

  registration = g_new0 (Registration, 1);
  registration->n_references = 1;
  registration->surface = surface;
  registration->descriptor = params->bufferDesc;

  if (!params->mappedAddr.eglImage) {
    if (library.map_egl_image (surface, 0) != 0 || !params->mappedAddr.eglImage) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                   "NVIDIA's library made no EGL image of a frame. Is EGL usable here (without a "
                   "display, unset DISPLAY)?");
      g_free (registration);
      return NULL;
    }
    registration->made = TRUE;
  }
  registration->egl_image = params->mappedAddr.eglImage;

  if (ccl_egl_image_register (&registration->image, registration->egl_image,
                              (gint) surface->gpuId) != CCL_OK) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "CUDA cannot read a frame in a Jetson's video memory: %s.", ccl_last_error ());
    if (registration->made)
      library.unmap_egl_image (surface, 0);
    g_free (registration);
    return NULL;
  }

  return registration;
}

/* To look a quark up takes a lock of GLib's. */
static GQuark
shown_quark (void)
{
  static gsize quark = 0;

  if (g_once_init_enter (&quark))
    g_once_init_leave (&quark, g_quark_from_static_string ("GstCclNvmmShown"));

  return (GQuark) quark;
}

/* What is attached to a memory goes before the memory does, so that this can still tell which
 * surface it has: that of the last frame may be gone. */
static void
shown_free (Shown *shown)
{
  GstMapInfo map;

  if (shown->current && gst_memory_map (shown->memory, &map, GST_MAP_READ)) {
    registration_drop (shown->current, (NvBufSurface *) map.data);
    gst_memory_unmap (shown->memory, &map);
  } else if (shown->current) {
    registration_unref (shown->current);
  }
  g_cond_clear (&shown->unmapped);
  g_mutex_clear (&shown->lock);
  g_free (shown);
}

/* Only the first frame in a memory takes a lock that others may want. */
static Shown *
ensure_shown (GstMemory *memory)
{
  static GMutex mutex;
  GstMiniObject *object = GST_MINI_OBJECT_CAST (memory);
  Shown *shown = gst_mini_object_get_qdata (object, shown_quark ());

  if (shown)
    return shown;

  g_mutex_lock (&mutex);
  shown = gst_mini_object_get_qdata (object, shown_quark ());
  if (!shown) {
    shown = g_new0 (Shown, 1);
    shown->memory = memory;
    g_mutex_init (&shown->lock);
    g_cond_init (&shown->unmapped);
    gst_mini_object_set_qdata (object, shown_quark (), shown, (GDestroyNotify) shown_free);
  }
  g_mutex_unlock (&mutex);

  return shown;
}

/* Drops what a memory had for another surface than the one that it has now, under the lock. An EGL
 * image that has to make room for the next one of the same surface stays as long as others read it:
 * CUDA must let go of it first. */
static void
forget_other_surface (Shown *shown, NvBufSurface *surface)
{
  while (shown->current && !registration_is_of (shown->current, surface)) {
    if (registration_has_image (shown->current, surface) &&
        g_atomic_int_get (&shown->current->n_references) > 1)
      g_cond_wait (&shown->unmapped, &shown->lock);
    else
      registration_drop (g_steal_pointer (&shown->current), surface);
  }
}

/* The registration of a memory, from its first frame on, with a reference. */
static Registration *
ensure_registration (GstMemory *memory, NvBufSurface *surface, GError **error)
{
  Shown *shown = ensure_shown (memory);
  Registration *registration;

  g_mutex_lock (&shown->lock);
  forget_other_surface (shown, surface);
  if (!shown->current)
    shown->current = registration_new (surface, error);
  registration = shown->current;
  if (registration)
    g_atomic_int_inc (&registration->n_references);
  g_mutex_unlock (&shown->lock);

  return registration;
}

/* A frame in @memory is not read any more. */
static void
release_registration (GstMemory *memory, Registration *registration)
{
  Shown *shown = ensure_shown (memory);

  g_mutex_lock (&shown->lock);
  registration_unref (registration);
  g_cond_broadcast (&shown->unmapped);
  g_mutex_unlock (&shown->lock);
}

/* What is mapped is read as a surface: whether it looks like one. */
static gboolean
check_surface (const GstMapInfo *map, GError **error)
{
  const NvBufSurface *surface = (const NvBufSurface *) map->data;

  if (map->size < GST_CCL_NV_BUF_SURFACE_SIZE ||
      (gsize) map->data % G_ALIGNOF (NvBufSurface *) != 0 || !surface->surfaceList ||
      (gsize) surface->surfaceList % G_ALIGNOF (NvBufSurfaceParams *) != 0 ||
      surface->batchSize == 0 || surface->numFilled > surface->batchSize) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The %" G_GSIZE_FORMAT
                 " bytes of an NVMM buffer are not a NvBufSurface as JetPack "
                 "5, DeepStream 5 and newer have it.",
                 map->size);
    return FALSE;
  }

  if (surface->batchSize > 1) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "A buffer holds a batch of %u frames, and one at a time can be analysed: put "
                 "nvstreamdemux before cudaccl, or set nvstreammux batch-size=1.",
                 surface->batchSize);
    return FALSE;
  }

  return TRUE;
}

/* Finds the visible part of a frame, and whether @width x @height pixels hold it. */
static gboolean
find_window (Window *window, GstBuffer *buffer, const GstVideoInfo *info, guint width, guint height,
             GError **error)
{
  GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta (buffer);

  window->x = meta ? meta->x : 0;
  window->y = meta ? meta->y : 0;
  window->width = (guint) GST_VIDEO_INFO_WIDTH (info);
  window->height = (guint) GST_VIDEO_INFO_HEIGHT (info);
  if ((guint64) window->x + window->width <= width &&
      (guint64) window->y + window->height <= height)
    return TRUE;

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "A surface of %ux%u pixels came where %ux%u from (%u, %u) on were negotiated.",
               width, height, window->width, window->height, window->x, window->y);

  return FALSE;
}

/* The image of pixels that have addresses. */
static gboolean
take_address (GstCclFrame *frame, const GstVideoInfo *info, const NvBufSurface *surface,
              CclMemory memory, GError **error)
{
  const NvBufSurfaceParams *params = &surface->surfaceList[0];
  guint64 stride = params->planeParams.pitch[0], start, end;
  Window window;

  if (!find_window (&window, frame->buffer, info, params->width, params->height, error))
    return FALSE;

  start = params->planeParams.offset[0] + window.y * stride + window.x;
  end = start + (window.height - 1) * stride + window.width;
  if (!params->dataPtr || params->layout != NVBUF_LAYOUT_PITCH || stride < params->width ||
      end > params->dataSize) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "A surface of %u bytes, %" G_GUINT64_FORMAT " from row to row, cannot have %ux%u "
                 "pixels in rows.",
                 params->dataSize, stride, params->width, params->height);
    return FALSE;
  }

  frame->image = (CclImage){
    .data = (const guint8 *) params->dataPtr + start,
    .stride = stride,
    .memory = memory,
  };

  return TRUE;
}

/* The image of pixels that CUDA was shown. */
static gboolean
take_egl_image (GstCclFrame *frame, const GstVideoInfo *info, NvBufSurface *surface, GError **error)
{
  Registration *registration = ensure_registration (frame->map.memory, surface, error);
  const CclEglImage *image;
  Window window;

  if (!registration)
    return FALSE;

  image = &registration->image;
  if (!find_window (&window, frame->buffer, info, image->width, image->height, error))
    goto failed;

  if (image->luma.memory == CCL_MEMORY_ARRAY && (window.x > 0 || window.y > 0)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "A block-linear surface can be read from its corner on, not from (%u, %u): let "
                 "nvvidconv crop before cudaccl.",
                 window.x, window.y);
    goto failed;
  }

  frame->image = image->luma;
  frame->image.data += window.y * image->luma.stride + window.x;
  frame->priv = registration;

  return TRUE;

failed:
  release_registration (frame->map.memory, registration);
  return FALSE;
}

static gboolean
take_surface (GstCclFrame *frame, const GstVideoInfo *info, NvBufSurface *surface, GError **error)
{
  switch (surface->memType) {
  case NVBUF_MEM_CUDA_DEVICE:
  case NVBUF_MEM_CUDA_UNIFIED:
    return take_address (frame, info, surface, CCL_MEMORY_DEVICE, error);
  case NVBUF_MEM_CUDA_PINNED:
    return take_address (frame, info, surface, CCL_MEMORY_PINNED, error);
  case NVBUF_MEM_SYSTEM:
    return take_address (frame, info, surface, CCL_MEMORY_HOST, error);
  case NVBUF_MEM_SURFACE_ARRAY:
    return take_egl_image (frame, info, surface, error);
  default:
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Surfaces in memory of type %d cannot be read: have them made with "
                 "nvbuf-memory-type=0, the platform's own.",
                 (gint) surface->memType);
    return FALSE;
  }
}

static gboolean
nvmm_map (GstCclMapper *mapper, GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
          GError **error)
{
  GstCclNvmmMapper *self = (GstCclNvmmMapper *) mapper;
  GstMemory *memory;
  NvBufSurface *surface;

  if (gst_buffer_n_memory (buffer) != 1) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "An NVMM buffer has %u memories, and not one surface.",
                 gst_buffer_n_memory (buffer));
    return FALSE;
  }

  /* That of the pool, not the share of it that another element may have made for a while. */
  memory = gst_buffer_peek_memory (buffer, 0);
  while (memory->parent)
    memory = memory->parent;

  if (!gst_memory_map (memory, &frame->map, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "The memory of a frame could not be mapped for reading.");
    return FALSE;
  }

  frame->buffer = buffer;
  surface = (NvBufSurface *) frame->map.data;
  frame->priv = NULL;
  if (check_surface (&frame->map, error) &&
      gst_ccl_frame_check_device ((gint) surface->gpuId, self->device, error) &&
      take_surface (frame, info, surface, error)) {
    frame->place = (GstCclPlace){ (gint) surface->gpuId, NULL };
    return TRUE;
  }

  gst_memory_unmap (memory, &frame->map);
  return FALSE;
}

static void
nvmm_unmap (GstCclMapper *mapper, GstCclFrame *frame)
{
  if (frame->priv)
    release_registration (frame->map.memory, frame->priv);
  frame->priv = NULL;
  gst_memory_unmap (frame->map.memory, &frame->map);
}

/* NVIDIA's elements use the CUDA runtime, that is, a device's primary context. */
static gboolean
nvmm_open (GstCclMapper *mapper, const GstVideoInfo *info, GstCclPlace *place, GError **error)
{
  GstCclNvmmMapper *self = (GstCclNvmmMapper *) mapper;

  self->device = place->device;
  place->device = MAX (place->device, 0);

  return TRUE;
}

const GstCclMapperClass gst_ccl_nvmm_mapper = {
  .feature = "memory:NVMM",
  .formats = "{ NV12, I420, GRAY8 }",
  .needs_cuda = TRUE,
  .map = nvmm_map,
  .unmap = nvmm_unmap,
  .size = sizeof (GstCclNvmmMapper),
  .open = nvmm_open,
};
