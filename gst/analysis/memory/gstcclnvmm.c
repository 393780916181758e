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

#include "gstcclnvbufsurface.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

typedef struct
{
  GstCclMapper parent;

  gint device; /* the user's setting, or -1 */
} GstCclNvmmMapper;

/* The origin of the visible part of a surface. */
typedef struct
{
  guint x, y;
} Window;

/* A surface registered with CUDA. */
typedef struct
{
  gint n_references; /* held by the memory and by mapped frames; atomic */
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
  Registration *current; /* may be NULL; protected by @lock */
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

/* Returns whether @surface, the current one of a memory, is the registered one. Address and
 * descriptor do not suffice, since both are reused; then the EGL image differs. */
static gboolean
registration_is_of (const Registration *registration, const NvBufSurface *surface)
{
  const NvBufSurfaceParams *params = &surface->surfaceList[0];

  return registration->surface == surface && registration->descriptor == params->bufferDesc &&
         registration->egl_image == params->mappedAddr.eglImage;
}

/* Returns whether we must unmap the EGL image, now that the memory has @surface. If that is
 * another surface, the registered one may be gone, and its image is left to its owner. */
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

/* Drops the registration of another surface than the current one. Called with the lock. If the
 * EGL image must be unmapped to map the same surface again, waits for other readers, as CUDA
 * must release it first. */
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

/* Returns a reference to the registration of a memory, and registers the memory if necessary. */
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

/* Gets the origin of the visible part of a frame, and checks that the part is inside of @width x
 * @height pixels. */
static gboolean
find_window (Window *window, GstBuffer *buffer, const GstVideoInfo *info, guint width, guint height,
             GError **error)
{
  GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta (buffer);

  window->x = meta ? meta->x : 0;
  window->y = meta ? meta->y : 0;
  if ((guint64) window->x + (guint) GST_VIDEO_INFO_WIDTH (info) <= width &&
      (guint64) window->y + (guint) GST_VIDEO_INFO_HEIGHT (info) <= height)
    return TRUE;

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "Got a surface of %ux%u pixels, but %dx%d pixels from (%u, %u) on are needed.",
               width, height, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), window->x,
               window->y);

  return FALSE;
}

/* Sets the image of a plane to pixels at an address. */
static gboolean
take_address (CclImage *image, const GstVideoInfo *info, const NvBufSurfaceParams *params,
              const Window *window, guint index, GError **error)
{
  GstCclPlaneSize size = gst_ccl_plane_get_size (info, index);
  guint64 stride = params->planeParams.pitch[index], start, end;

  start = params->planeParams.offset[index] +
          gst_ccl_plane_get_start (info, index, stride, window->x, window->y);
  end = start + (size.rows - 1) * stride + size.row;
  if (!params->dataPtr || params->layout != NVBUF_LAYOUT_PITCH || stride < size.row ||
      (index > 0 && params->planeParams.num_planes <= index) || end > params->dataSize) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The surface of %u bytes, with a stride of %" G_GUINT64_FORMAT
                 ", does not contain the %s of %ux%u pixels in rows.",
                 params->dataSize, stride, index == 0 ? "luma" : "chroma", params->width,
                 params->height);
    return FALSE;
  }

  image->data = (const guint8 *) params->dataPtr + start;
  image->stride = stride;

  return TRUE;
}

/* Sets the image of a plane to an EGL frame of CUDA, whose rows may have strides that CUDA does
 * not know. */
static gboolean
take_egl_plane (CclImage *image, const GstVideoInfo *info, const NvBufSurfaceParams *params,
                const CclEglImage *egl, const Window *window, guint index, GError **error)
{
  if (egl->n_chroma < index) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "CUDA found no chroma in the image of the frame.");
    return FALSE;
  }

  *image = index == 0 ? egl->luma : egl->chroma[index - 1];
  if (image->memory == CCL_MEMORY_ARRAY) {
    if (window->x == 0 && window->y == 0)
      return TRUE;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Cropping a block-linear surface at (%u, %u) is not supported. Crop with "
                 "nvvidconv before this element.",
                 window->x, window->y);
    return FALSE;
  }

  if (index > 0 && params->planeParams.num_planes > index && params->planeParams.pitch[index] > 0)
    image->stride = params->planeParams.pitch[index];
  if (image->stride < gst_ccl_plane_get_size (info, index).row) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The stride of the frame's plane %u is %" G_GSIZE_FORMAT " bytes, too small.",
                 index, image->stride);
    return FALSE;
  }
  image->data += gst_ccl_plane_get_start (info, index, image->stride, window->x, window->y);

  return TRUE;
}

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

/* Sets the image of the frame, whose memory stays mapped, to the pixels of @surface. */
static gboolean
take_surface (GstCclFrame *frame, const GstVideoInfo *info, NvBufSurface *surface, guint n_planes,
              GError **error)
{
  const NvBufSurfaceParams *params = &surface->surfaceList[0];
  CclMemory memory = CCL_MEMORY_DEVICE;
  const CclEglImage *egl = NULL; /* NULL: the pixels are at an address */
  Registration *registration;
  CclEglImage array;
  Window window;
  guint i;

  switch ((gint) surface->memType) {
  case NVBUF_MEM_CUDA_DEVICE:
  case NVBUF_MEM_CUDA_UNIFIED:
    break;
  case NVBUF_MEM_CUDA_PINNED:
    memory = CCL_MEMORY_PINNED;
    break;
  case NVBUF_MEM_SYSTEM:
    memory = CCL_MEMORY_HOST;
    break;
  case NVBUF_MEM_SURFACE_ARRAY:
    registration = ensure_registration (frame->planes[0].map.memory, surface, error);
    if (!registration)
      return FALSE;
    frame->priv = registration;
    egl = &registration->image;
    break;
  case GST_CCL_NVBUF_MEM_CUDA_ARRAY:
    if (!find_array (&array, surface, error))
      return FALSE;
    egl = &array;
    break;
  default:
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Surfaces in memory of type %d are not supported. Use nvbuf-memory-type=0, the "
                 "default of the platform.",
                 (gint) surface->memType);
    return FALSE;
  }

  if (!find_window (&window, frame->buffer, info, egl ? egl->width : params->width,
                    egl ? egl->height : params->height, error))
    return FALSE;
  for (i = 0; i < n_planes; i++) {
    CclImage *image = &frame->planes[i].image;

    *image = (CclImage){ .memory = memory };
    if (!(egl ? take_egl_plane (image, info, params, egl, &window, i, error)
              : take_address (image, info, params, &window, i, error)))
      return FALSE;
  }
  gst_ccl_frame_set_image (frame, info, n_planes);

  return TRUE;
}

static void
nvmm_unmap (GstCclMapper *mapper, GstCclFrame *frame)
{
  GstMapInfo *map = &frame->planes[0].map;

  if (frame->priv)
    release_registration (map->memory, frame->priv);
  gst_memory_unmap (map->memory, map);
}

static gboolean
nvmm_map (GstCclMapper *mapper, GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
          guint n_planes, GError **error)
{
  GstCclNvmmMapper *self = (GstCclNvmmMapper *) mapper;
  GstMapInfo *map = &frame->planes[0].map;
  GstMemory *memory;
  NvBufSurface *surface;

  if (gst_buffer_n_memory (buffer) != 1) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The NVMM buffer has %u memories instead of one surface.",
                 gst_buffer_n_memory (buffer));
    return FALSE;
  }

  /* Use the pool's memory: other elements may have made temporary shares of it. */
  memory = gst_buffer_peek_memory (buffer, 0);
  while (memory->parent)
    memory = memory->parent;

  if (!gst_memory_map (memory, map, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Could not map the memory of the frame for reading.");
    return FALSE;
  }

  frame->buffer = buffer;
  surface = (NvBufSurface *) map->data;
  frame->priv = NULL;
  if (check_surface (map, error) &&
      gst_ccl_frame_check_device ((gint) surface->gpuId, self->device, error) &&
      take_surface (frame, info, surface, n_planes, error)) {
    frame->device = (GstCclDevice){ (gint) surface->gpuId, NULL };
    return TRUE;
  }

  nvmm_unmap (mapper, frame);
  return FALSE;
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
  .size = sizeof (GstCclNvmmMapper),
  .open = nvmm_open,
};
