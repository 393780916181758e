/* cudaccl - frames in CUDA memory of GstCuda (memory:CUDAMemory)
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The analyzer runs in the context of the frames. Before the first frame, it takes the context
 * of a neighbouring element or of the application; if none has one, the context that all
 * elements of this plugin share and offer to neighbours that ask, such as decoders. */

#include "gstcclcuda.h"

#include "gstcclcudashared.h"

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

typedef struct
{
  GstCclMapper parent;

  GMutex lock;
  GstCudaContext *context; /* protected by @lock; replaced only by the streaming thread */

  /* Streaming thread. */
  GstCudaContext *previous; /* kept alive for the old analyzer until the frame is unmapped */
} CudaMapper;

static void
cuda_init (GstCclMapper *mapper)
{
  g_mutex_init (&((CudaMapper *) mapper)->lock);
}

static void
cuda_close (GstCclMapper *mapper)
{
  CudaMapper *self = (CudaMapper *) mapper;
  GstCudaContext *context;

  g_mutex_lock (&self->lock);
  context = g_steal_pointer (&self->context);
  g_mutex_unlock (&self->lock);

  gst_clear_object (&context);
  gst_clear_object (&self->previous);
}

static void
cuda_finalize (GstCclMapper *mapper)
{
  cuda_close (mapper);
  g_mutex_clear (&((CudaMapper *) mapper)->lock);
}

static gint
get_device (GstCudaContext *context)
{
  guint device;

  g_object_get (context, "cuda-device-id", &device, NULL);

  return (gint) device;
}

/* Keeps the first context offered. Takes ownership of @context. */
static void
offer_context (CudaMapper *self, GstCudaContext *context)
{
  g_mutex_lock (&self->lock);
  if (!self->context)
    self->context = g_steal_pointer (&context);
  g_mutex_unlock (&self->lock);

  gst_clear_object (&context);
}

/* Returns a new reference, or NULL. */
static GstCudaContext *
ref_context (CudaMapper *self)
{
  GstCudaContext *context;

  g_mutex_lock (&self->lock);
  context = self->context ? gst_object_ref (self->context) : NULL;
  g_mutex_unlock (&self->lock);

  return context;
}

static gboolean
has_context (CudaMapper *self)
{
  gboolean has;

  g_mutex_lock (&self->lock);
  has = self->context != NULL;
  g_mutex_unlock (&self->lock);

  return has;
}

static void
cuda_set_context (GstCclMapper *mapper, GstContext *context, gint device)
{
  GstCudaContext *found = NULL;

  if (gst_cuda_handle_set_context (mapper->element, context, device, &found))
    offer_context ((CudaMapper *) mapper, found);
}

static gboolean
query_peer (const GValue *item, GValue *answered, gpointer query)
{
  gboolean found = gst_pad_peer_query (g_value_get_object (item), query);

  g_value_set_boolean (answered, found);

  return !found;
}

static void
ask_peers (GstElement *element, GstIterator *pads)
{
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GValue answered = G_VALUE_INIT;
  GstContext *context = NULL;

  g_value_init (&answered, G_TYPE_BOOLEAN);
  while (gst_iterator_fold (pads, query_peer, &answered, query) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (pads);
  if (g_value_get_boolean (&answered))
    gst_query_parse_context (query, &context);
  if (context)
    gst_element_set_context (element, context);

  g_value_unset (&answered);
  gst_iterator_free (pads);
  gst_query_unref (query);
}

/* Set in threads that look for a context, whose queries also reach other elements of this plugin.
 */
static GPrivate is_looking = G_PRIVATE_INIT (NULL);

/* Asks the neighbours, then the bins and the application, which answer with set_context(). Must
 * not hold a lock: neighbours may ask back. */
static void
look_for_context (CudaMapper *self)
{
  GstElement *element = self->parent.element;

  g_private_set (&is_looking, self);
  ask_peers (element, gst_element_iterate_src_pads (element));
  if (!has_context (self))
    ask_peers (element, gst_element_iterate_sink_pads (element));
  if (!has_context (self))
    gst_element_post_message (
        element, gst_message_new_need_context (GST_OBJECT (element), GST_CUDA_CONTEXT_TYPE));
  g_private_set (&is_looking, NULL);
}

/* Returns the context of the neighbours or of the application, or else announces the shared one.
 * Returns a new reference, or NULL if the device does not work. */
static GstCudaContext *
find_context (CudaMapper *self, gint device)
{
  GstElement *element = self->parent.element;
  GstCudaContext *context;

  look_for_context (self);
  context = ref_context (self);
  if (context)
    return context;

  context = gst_ccl_shared_cuda_context (MAX (device, 0));
  if (context)
    gst_element_post_message (
        element, gst_message_new_have_context (GST_OBJECT (element),
                                               gst_context_new_cuda_context (context)));

  return context;
}

/* A neighbour that asks gets the context that the element would work in. It keeps the shared one
 * alive, so the element need not. */
static gboolean
cuda_query_context (GstCclMapper *mapper, GstQuery *query, gint device, gboolean may_share)
{
  CudaMapper *self = (CudaMapper *) mapper;
  const gchar *type = NULL;
  GstCudaContext *context;
  gboolean answered;

  gst_query_parse_context_type (query, &type);
  if (g_strcmp0 (type, GST_CUDA_CONTEXT_TYPE) != 0)
    return FALSE;

  context = ref_context (self);
  if (!context && may_share && !g_private_get (&is_looking) && gst_cuda_load_library ())
    context = find_context (self, device);
  answered = gst_cuda_handle_context_query (mapper->element, query, context);
  gst_clear_object (&context);

  return answered;
}

/* Returns the element's context, borrowed. */
static GstCudaContext *
ensure_context (CudaMapper *self, gint device)
{
  GstCudaContext *context;

  if (!has_context (self)) {
    context = find_context (self, device);
    if (context)
      offer_context (self, context);
  }

  g_mutex_lock (&self->lock);
  context = self->context;
  g_mutex_unlock (&self->lock);

  return context;
}

static gboolean
cuda_open (GstCclMapper *mapper, const GstVideoInfo *info, GstCclDevice *device, GError **error)
{
  CudaMapper *self = (CudaMapper *) mapper;
  GstCudaContext *context;

  if (!gst_cuda_load_library ()) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "Could not load the NVIDIA driver, which is needed for frames in CUDA memory.");
    return FALSE;
  }

  /* The context may have been set before cuda-device-id was changed. */
  context = ensure_context (self, device->number);
  if (context && device->number >= 0 && get_device (context) != device->number) {
    cuda_close (mapper);
    context = ensure_context (self, device->number);
  }
  if (!context) {
    g_set_error (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "Could not create a context on CUDA device %d. Set cuda-device-id to the device of the "
        "frames, or to -1.",
        MAX (device->number, 0));
    return FALSE;
  }
  device->context = gst_cuda_context_get_handle (context);

  return TRUE;
}

/* Switches to the context of the frames, unless the user chose another device. */
static gboolean
adopt_context (CudaMapper *self, GstCudaContext *context, gint wanted, GError **error)
{
  if (!gst_ccl_frame_check_device (get_device (context), wanted, error))
    return FALSE;

  g_mutex_lock (&self->lock);
  self->previous = self->context;
  self->context = gst_object_ref (context);
  g_mutex_unlock (&self->lock);

  return TRUE;
}

/* Returns the stream on which the pixels become ready; NULL if they are. Before GStreamer 1.24,
 * memory does not know its stream: elements synchronize after writing, but copies between
 * memories are only enqueued, on the legacy stream of the context. Waiting for that stream also
 * waits for the work enqueued so far on all blocking streams of the context, such as uploads and
 * decoders of other pipelines; cudaStreamQuery() cannot tell them apart. It does not wait for
 * our other elements, whose streams are non-blocking. */
static gpointer
find_stream (GstCudaMemory *memory)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaStream *stream = gst_cuda_memory_get_stream (memory);

  if (stream)
    return GST_MEMORY_FLAG_IS_SET (memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC)
               ? gst_cuda_stream_get_handle (stream)
               : NULL;
#endif

  return CU_STREAM_LEGACY;
}

static gboolean
check_info (const GstVideoInfo *wanted, const GstVideoInfo *info, GError **error)
{
  if (GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_INFO_FORMAT (wanted) &&
      GST_VIDEO_INFO_WIDTH (info) >= GST_VIDEO_INFO_WIDTH (wanted) &&
      GST_VIDEO_INFO_HEIGHT (info) >= GST_VIDEO_INFO_HEIGHT (wanted))
    return TRUE;

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "Got a frame with memory for %dx%d pixels in %s, but %dx%d in %s was negotiated.",
               GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
               gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)),
               GST_VIDEO_INFO_WIDTH (wanted), GST_VIDEO_INFO_HEIGHT (wanted),
               gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (wanted)));
  return FALSE;
}

/* Without GstVideoMeta, the layout is that of the allocation, not the default one of the caps. */
static gboolean
find_layout (GstVideoInfo *layout, const GstVideoInfo *info, GstBuffer *buffer,
             const GstCudaMemory *memory, GError **error)
{
  *layout = *info;
  if (gst_buffer_get_video_meta (buffer))
    return TRUE;

  if (!check_info (info, &memory->info, error))
    return FALSE;
  *layout = memory->info;
  GST_VIDEO_INFO_WIDTH (layout) = GST_VIDEO_INFO_WIDTH (info);
  GST_VIDEO_INFO_HEIGHT (layout) = GST_VIDEO_INFO_HEIGHT (info);

  return TRUE;
}

/* GstBuffer copies a plane that spans several memories to system memory: luma may be such a copy.
 * Otherwise, all planes must be in CUDA memory of one context, as those of GstCuda's buffers are.
 */
static gboolean
take_planes (GstCclFrame *frame, GstCudaMemory *first, GError **error)
{
  guint i;

  for (i = 0; i < frame->n_planes; i++) {
    GstCclPlane *plane = &frame->planes[i];
    GstMemory *memory = plane->map.memory ? plane->map.memory : GST_MEMORY_CAST (first);

    if (gst_is_cuda_memory (memory) && GST_CUDA_MEMORY_CAST (memory)->context == first->context) {
      plane->image.memory = CCL_MEMORY_DEVICE;
      plane->image.stream = find_stream (GST_CUDA_MEMORY_CAST (memory));
    } else if (frame->n_planes > 1) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "The planes of the frame are in different CUDA contexts or kinds of memory.");
      return FALSE;
    }
  }

  return TRUE;
}

static gboolean
cuda_map (GstCclMapper *mapper, GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
          guint n_planes, GError **error)
{
  CudaMapper *self = (CudaMapper *) mapper;
  GstMemory *first = gst_buffer_n_memory (buffer) > 0 ? gst_buffer_peek_memory (buffer, 0) : NULL;
  GstCudaMemory *memory = GST_CUDA_MEMORY_CAST (first);
  GstVideoInfo layout;

  if (!gst_is_cuda_memory (first)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Got a frame in %s memory, but CUDA memory was negotiated.",
                 first ? first->allocator->mem_type : "no");
    return FALSE;
  }

  if (!find_layout (&layout, info, buffer, memory, error) ||
      !gst_ccl_frame_map (frame, &layout, buffer, n_planes,
                          GST_MAP_READ | (GstMapFlags) GST_MAP_CUDA, error))
    return FALSE;
  if (!take_planes (frame, memory, error) ||
      (memory->context != self->context &&
       !adopt_context (self, memory->context, frame->device.number, error))) {
    gst_ccl_frame_unmap (frame);
    return FALSE;
  }
  gst_ccl_frame_set_image (frame, &layout, n_planes);
  frame->device.context = gst_cuda_context_get_handle (self->context);

  return TRUE;
}

static void
cuda_unmap (GstCclMapper *mapper, GstCclFrame *frame)
{
  gst_ccl_frame_unmap (frame);
  gst_clear_object (&((CudaMapper *) mapper)->previous);
}

const GstCclMapperClass gst_ccl_cuda_mapper = {
  .feature = GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY,
  .formats =
      "{ NV12, NV21, I420, YV12, Y42B, Y444, " GST_CCL_RGB_FORMATS ", " GST_CCL_DEEP_FORMATS " }",
  .needs_cuda = TRUE,
  .map = cuda_map,
  .unmap = cuda_unmap,
  .size = sizeof (CudaMapper),
  .init = cuda_init,
  .finalize = cuda_finalize,
  .open = cuda_open,
  .close = cuda_close,
  .set_context = cuda_set_context,
  .query_context = cuda_query_context,
};
