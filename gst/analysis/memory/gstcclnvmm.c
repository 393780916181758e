/* cudaccl - frames in NVIDIA's video memory (memory:NVMM)
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each buffer contains a NvBufSurface, which describes where the pixels are. On a discrete GPU,
 * they are at an address in its memory. On a Jetson, CUDA can read them only after they were mapped
 * as an EGL image and registered, which takes longer than the analysis of a frame. So that is done
 * once for each GstMemory, and undone when its pool frees it. Registrations are reference counted,
 * since several elements may read the same memory. */

#include "gstcclnvmm.h"

#include <dlfcn.h>
#include <string.h>

#include <cudaccl/eglimage.h>

#include "gstcclchroma.h"
#include "gstcclnvbufsurface.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

typedef struct
{
  GstCclMapper parent;

  gint device; /* the user's, or -1 */
} GstCclNvmmMapper;

/* The visible part of a surface. */
typedef struct
{
  guint x, y, width, height;
} Window;

/* A surface registered with CUDA. */
typedef struct
{
  gint n_references; /* atomic: held by the memory and by mapped frames */
  NvBufSurface *surface;
  guint64 descriptor;
  gpointer egl_image;
  gboolean owns_image; /* mapped by us, not by upstream */
  CclEglImage image;
} Registration;

/* Attached to each memory; shared by all elements that read it. */
typedef struct
{
  GstMemory *memory;
  GMutex lock;
  GCond unmapped;
  Registration *current; /* protected by @lock; NULL if there is none */
} Slot;

/* NVIDIA's library, installed on Jetsons and with DeepStream. */
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
      "Could not load NVIDIA's library %s, which is needed to read a Jetson's video memory. In a "
      "container, mount that of the host (--runtime nvidia).",
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

/* Whether @surface, the current one of a memory, is the registered one. Neither address nor
 * descriptor suffice, since both are reused, but the EGL image then differs. */
static gboolean
registration_is_of (const Registration *registration, const NvBufSurface *surface)
{
  const NvBufSurfaceParams *params = &surface->surfaceList[0];

  return registration->surface == surface && registration->descriptor == params->bufferDesc &&
         registration->egl_image == params->mappedAddr.eglImage;
}

/* Whether we must unmap the EGL image, now that the memory has @surface. If that is another
 * surface, the registered one may be gone, and its image is left to its owner. */
static gboolean
registration_has_image (const Registration *registration, const NvBufSurface *surface)
{
  return registration->owns_image && registration->surface == surface &&
         registration->egl_image == surface->surfaceList[0].mappedAddr.eglImage;
}

/* Drops the reference held by the memory, which now has @surface. */
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
                   "Could not map the frame as an EGL image. Check that EGL works (without a "
                   "display, unset DISPLAY).");
      g_free (registration);
      return NULL;
    }
    registration->owns_image = TRUE;
  }
  registration->egl_image = params->mappedAddr.eglImage;

  if (ccl_egl_image_register (&registration->image, registration->egl_image,
                              (gint) surface->gpuId) != CCL_OK) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Could not register the frame in a Jetson's video memory with CUDA: %s.",
                 ccl_last_error ());
    if (registration->owns_image)
      library.unmap_egl_image (surface, 0);
    g_free (registration);
    return NULL;
  }

  return registration;
}

/* Cached, since looking up a quark takes a global lock. */
static GQuark
slot_quark (void)
{
  static gsize quark = 0;

  if (g_once_init_enter (&quark))
    g_once_init_leave (&quark, g_quark_from_static_string ("GstCclNvmmSlot"));

  return (GQuark) quark;
}

/* Called before the memory is freed, so its current surface can still be compared with the
 * registered one, which may be gone. */
static void
slot_free (Slot *slot)
{
  GstMapInfo map;

  if (slot->current && gst_memory_map (slot->memory, &map, GST_MAP_READ)) {
    registration_drop (slot->current, (NvBufSurface *) map.data);
    gst_memory_unmap (slot->memory, &map);
  } else if (slot->current) {
    registration_unref (slot->current);
  }
  g_cond_clear (&slot->unmapped);
  g_mutex_clear (&slot->lock);
  g_free (slot);
}

/* Takes the global lock only for the first frame in a memory. */
static Slot *
ensure_slot (GstMemory *memory)
{
  static GMutex mutex;
  GstMiniObject *object = GST_MINI_OBJECT_CAST (memory);
  Slot *slot = gst_mini_object_get_qdata (object, slot_quark ());

  if (slot)
    return slot;

  g_mutex_lock (&mutex);
  slot = gst_mini_object_get_qdata (object, slot_quark ());
  if (!slot) {
    slot = g_new0 (Slot, 1);
    slot->memory = memory;
    g_mutex_init (&slot->lock);
    g_cond_init (&slot->unmapped);
    gst_mini_object_set_qdata (object, slot_quark (), slot, (GDestroyNotify) slot_free);
  }
  g_mutex_unlock (&mutex);

  return slot;
}

/* Drops the registration if it is that of another surface than the current one. Called with the
 * lock. If the EGL image must be unmapped to map the same surface again, waits for other readers,
 * as CUDA must release it first. */
static void
forget_other_surface (Slot *slot, NvBufSurface *surface)
{
  while (slot->current && !registration_is_of (slot->current, surface)) {
    if (registration_has_image (slot->current, surface) &&
        g_atomic_int_get (&slot->current->n_references) > 1)
      g_cond_wait (&slot->unmapped, &slot->lock);
    else
      registration_drop (g_steal_pointer (&slot->current), surface);
  }
}

/* Gets a reference to the registration of a memory, which is registered if necessary. */
static Registration *
ensure_registration (GstMemory *memory, NvBufSurface *surface, GError **error)
{
  Slot *slot = ensure_slot (memory);
  Registration *registration;

  g_mutex_lock (&slot->lock);
  forget_other_surface (slot, surface);
  if (!slot->current)
    slot->current = registration_new (surface, error);
  registration = slot->current;
  if (registration)
    g_atomic_int_inc (&registration->n_references);
  g_mutex_unlock (&slot->lock);

  return registration;
}

/* Releases the reference of a frame in @memory. */
static void
release_registration (GstMemory *memory, Registration *registration)
{
  Slot *slot = ensure_slot (memory);

  g_mutex_lock (&slot->lock);
  registration_unref (registration);
  g_cond_broadcast (&slot->unmapped);
  g_mutex_unlock (&slot->lock);
}

/* Checks that the mapped data looks like a surface before it is read as one. */
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
                 " bytes of the NVMM buffer are not a NvBufSurface as defined "
                 "by JetPack 5, DeepStream 5 and newer.",
                 map->size);
    return FALSE;
  }

  if (surface->batchSize > 1) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Batches are not supported, but the buffer has one of %u frames. Put "
                 "nvstreamdemux before this element, or set nvstreammux batch-size=1.",
                 surface->batchSize);
    return FALSE;
  }

  return TRUE;
}

/* Gets the visible part of a frame, and checks that it is inside of @width x @height pixels. */
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
               "Got a surface of %ux%u pixels, but %ux%u pixels from (%u, %u) on are needed.",
               width, height, window->width, window->height, window->x, window->y);

  return FALSE;
}

/* Sets the image to pixels at an address. */
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
                 "The surface of %u bytes, with a stride of %" G_GUINT64_FORMAT
                 ", does not contain "
                 "%ux%u pixels in rows.",
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

static gboolean
take_image (GstCclFrame *frame, const GstVideoInfo *info, const CclEglImage *image, GError **error)
{
  Window window;

  if (!find_window (&window, frame->buffer, info, image->width, image->height, error))
    return FALSE;

  if (image->luma.memory == CCL_MEMORY_ARRAY && (window.x > 0 || window.y > 0)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Cropping a block-linear surface at (%u, %u) is not supported. Crop with "
                 "nvvidconv before this element.",
                 window.x, window.y);
    return FALSE;
  }

  frame->image = image->luma;
  frame->image.data += window.y * image->luma.stride + window.x;

  return TRUE;
}

/* Sets the image to pixels registered with CUDA. */
static gboolean
take_egl_image (GstCclFrame *frame, const GstVideoInfo *info, NvBufSurface *surface, GError **error)
{
  Registration *registration = ensure_registration (frame->map.memory, surface, error);

  if (!registration)
    return FALSE;
  if (!take_image (frame, info, &registration->image, error)) {
    release_registration (frame->map.memory, registration);
    return FALSE;
  }
  frame->priv = registration;

  return TRUE;
}

/* Describes the CUDA array of a surface, which needs no registration. */
static gboolean
find_array (CclEglImage *image, const NvBufSurface *surface, GError **error)
{
  gpointer array = surface->surfaceList[0].dataPtr;

  if (!array) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The surface of memory type %d has no CUDA array.", (gint) surface->memType);
    return FALSE;
  }
  if (ccl_egl_image_from_array (image, array, (gint) surface->gpuId) != CCL_OK) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Could not read the CUDA array of a surface: %s.", ccl_last_error ());
    return FALSE;
  }

  return TRUE;
}

/* Sets the image to a CUDA array. */
static gboolean
take_array (GstCclFrame *frame, const GstVideoInfo *info, const NvBufSurface *surface,
            GError **error)
{
  CclEglImage image;

  return find_array (&image, surface, error) && take_image (frame, info, &image, error);
}

static gboolean
take_surface (GstCclFrame *frame, const GstVideoInfo *info, NvBufSurface *surface, GError **error)
{
  switch ((gint) surface->memType) {
  case NVBUF_MEM_CUDA_DEVICE:
  case NVBUF_MEM_CUDA_UNIFIED:
    return take_address (frame, info, surface, CCL_MEMORY_DEVICE, error);
  case NVBUF_MEM_CUDA_PINNED:
    return take_address (frame, info, surface, CCL_MEMORY_PINNED, error);
  case NVBUF_MEM_SYSTEM:
    return take_address (frame, info, surface, CCL_MEMORY_HOST, error);
  case NVBUF_MEM_SURFACE_ARRAY:
    return take_egl_image (frame, info, surface, error);
  case GST_CCL_NVBUF_MEM_CUDA_ARRAY:
    return take_array (frame, info, surface, error);
  default:
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Surfaces in memory of type %d are not supported. Use nvbuf-memory-type=0, the "
                 "default of the platform.",
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
                 "The NVMM buffer has %u memories instead of one surface.",
                 gst_buffer_n_memory (buffer));
    return FALSE;
  }

  /* The memory of the pool, as other elements may have made temporary shares of it. */
  memory = gst_buffer_peek_memory (buffer, 0);
  while (memory->parent)
    memory = memory->parent;

  if (!gst_memory_map (memory, &frame->map, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Could not map the memory of the frame for reading.");
    return FALSE;
  }

  frame->buffer = buffer;
  surface = (NvBufSurface *) frame->map.data;
  frame->priv = NULL;
  if (check_surface (&frame->map, error) &&
      gst_ccl_frame_check_device ((gint) surface->gpuId, self->device, error) &&
      take_surface (frame, info, surface, error)) {
    frame->device = (GstCclDevice){ (gint) surface->gpuId, NULL };
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

/* The byte of a chroma plane at which the visible part begins. */
static guint64
chroma_start (const Window *window, const GstVideoInfo *info, guint64 stride)
{
  const GstVideoFormatInfo *format = info->finfo;
  guint component = GST_VIDEO_COMP_U; /* both have the same size and, in pairs, the same plane */
  guint64 x = window->x >> GST_VIDEO_FORMAT_INFO_W_SUB (format, component);
  guint64 y = window->y >> GST_VIDEO_FORMAT_INFO_H_SUB (format, component);

  return y * stride + x * (guint64) GST_VIDEO_INFO_COMP_PSTRIDE (info, component);
}

/* A plane of chroma at an address. */
static gboolean
take_chroma_address (CclImage *image, const GstVideoInfo *info, const NvBufSurfaceParams *params,
                     const Window *window, guint index, GError **error)
{
  const NvBufSurfacePlaneParams *planes = &params->planeParams;
  guint64 stride = planes->pitch[index];
  guint64 row = (guint64) GST_VIDEO_INFO_COMP_WIDTH (info, GST_VIDEO_COMP_U) *
                (guint64) GST_VIDEO_INFO_COMP_PSTRIDE (info, GST_VIDEO_COMP_U);
  guint64 rows = (guint64) GST_VIDEO_INFO_COMP_HEIGHT (info, GST_VIDEO_COMP_U);
  guint64 start = planes->offset[index] + chroma_start (window, info, stride);

  if (planes->num_planes <= index || stride < row ||
      start + (rows - 1) * stride + row > params->dataSize) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The surface of %u bytes, with a stride of %" G_GUINT64_FORMAT
                 " for chroma, does not contain the chroma of %ux%u pixels.",
                 params->dataSize, stride, params->width, params->height);
    return FALSE;
  }

  *image = (CclImage){ .data = (const guint8 *) params->dataPtr + start, .stride = stride };

  return TRUE;
}

/* A plane of chroma that CUDA found; luma was too, so the visible part is inside. */
static gboolean
take_chroma_egl (CclImage *image, const GstVideoInfo *info, const NvBufSurfaceParams *params,
                 const CclEglImage *egl, const Window *window, guint index, GError **error)
{
  if (egl->n_chroma < index) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "CUDA found no chroma in the image of the frame.");
    return FALSE;
  }

  *image = egl->chroma[index - 1];
  if (image->memory == CCL_MEMORY_ARRAY)
    return TRUE;
  if (params->planeParams.num_planes > index && params->planeParams.pitch[index] > 0)
    image->stride = params->planeParams.pitch[index];
  if (image->stride < (gsize) GST_VIDEO_INFO_COMP_WIDTH (info, GST_VIDEO_COMP_U) *
                          (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, GST_VIDEO_COMP_U)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The stride of the frame's chroma is %" G_GSIZE_FORMAT " bytes, too small.",
                 image->stride);
    return FALSE;
  }
  image->data += chroma_start (window, info, image->stride);

  return TRUE;
}

/* The planes stay mapped with luma. */
static gboolean
nvmm_map_chroma (GstCclMapper *mapper, GstCclFrame *frame, GstCclChroma *chroma,
                 const GstVideoInfo *info, GError **error)
{
  const NvBufSurface *surface = (const NvBufSurface *) frame->map.data;
  const NvBufSurfaceParams *params = &surface->surfaceList[0];
  const Registration *registration = frame->priv;
  const CclEglImage *image = registration ? &registration->image : NULL;
  guint n = GST_VIDEO_INFO_N_PLANES (info) - 1, i;
  CclImage planes[2];
  CclEglImage array;
  Window window;

  chroma->n_frames = 0;
  if (!find_window (&window, frame->buffer, info, G_MAXUINT, G_MAXUINT, error))
    return FALSE;
  if (n > 0 && (gint) surface->memType == GST_CCL_NVBUF_MEM_CUDA_ARRAY) {
    if (!find_array (&array, surface, error))
      return FALSE;
    image = &array;
  }
  for (i = 0; i < n; i++) {
    if (image ? !take_chroma_egl (&planes[i], info, params, image, &window, i + 1, error)
              : !take_chroma_address (&planes[i], info, params, &window, i + 1, error))
      return FALSE;
    if (!image)
      planes[i].memory = frame->image.memory;
  }
  if (n > 0)
    gst_ccl_chroma_set_planes (chroma, info, planes);

  return TRUE;
}

/* NVIDIA's elements use the CUDA runtime, that is, the primary context of a device. */
static gboolean
nvmm_open (GstCclMapper *mapper, const GstVideoInfo *info, GstCclDevice *device, GError **error)
{
  GstCclNvmmMapper *self = (GstCclNvmmMapper *) mapper;

  self->device = device->number;
  device->number = MAX (device->number, 0);

  return TRUE;
}

const GstCclMapperClass gst_ccl_nvmm_mapper = {
  .feature = "memory:NVMM",
  .formats = "{ NV12, I420, GRAY8 }",
  .needs_cuda = TRUE,
  .map = nvmm_map,
  .unmap = nvmm_unmap,
  .map_chroma = nvmm_map_chroma,
  .size = sizeof (GstCclNvmmMapper),
  .open = nvmm_open,
};
