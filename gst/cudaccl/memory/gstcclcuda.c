/* cudaccl - frames in CUDA memory of GstCuda (memory:CUDAMemory)
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* GstCuda does not use the primary contexts of devices, so the analyzer runs in the context of the
 * frames. Before the first frame, that is the context shared with neighbouring elements. */

#include "gstcclcuda.h"

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
  GThread *asking; /* protected by @lock; the streaming thread while it asks for a context */

  /* Streaming thread. */
  GstCudaContext *answer;   /* the context it got when it asked */
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

/* Keeps the first context that is offered. Takes ownership of @context. */
static void
offer_context (CudaMapper *self, GstCudaContext *context)
{
  g_mutex_lock (&self->lock);
  if (!self->context)
    self->context = g_steal_pointer (&context);
  g_mutex_unlock (&self->lock);

  gst_clear_object (&context);
}

static void
cuda_set_context (GstCclMapper *mapper, GstContext *context, gint device)
{
  CudaMapper *self = (CudaMapper *) mapper;
  GstCudaContext *found = NULL;
  gboolean is_answer;

  g_mutex_lock (&self->lock);
  is_answer = self->asking == g_thread_self ();
  g_mutex_unlock (&self->lock);

  if (is_answer)
    gst_cuda_handle_set_context (mapper->element, context, device, &self->answer);
  else if (gst_cuda_handle_set_context (mapper->element, context, device, &found))
    offer_context (self, found);
}

static gboolean
cuda_query_context (GstCclMapper *mapper, GstQuery *query)
{
  CudaMapper *self = (CudaMapper *) mapper;
  GstCudaContext *context = NULL;
  gboolean answered;

  g_mutex_lock (&self->lock);
  if (self->context)
    context = gst_object_ref (self->context);
  g_mutex_unlock (&self->lock);

  answered = gst_cuda_handle_context_query (mapper->element, query, context);
  gst_clear_object (&context);

  return answered;
}

static void
set_asking (CudaMapper *self, GThread *thread)
{
  g_mutex_lock (&self->lock);
  self->asking = thread;
  g_mutex_unlock (&self->lock);
}

/* Gets the context of the neighbours or of the application, or creates one. Meanwhile, other
 * threads may set a context or query ours, so no lock is held, and GstCuda stores the answer in a
 * field of the streaming thread. */
static GstCudaContext *
ensure_context (CudaMapper *self, gint device)
{
  GstElement *element = self->parent.element;
  GstCudaContext *context;

  g_mutex_lock (&self->lock);
  context = self->context;
  g_mutex_unlock (&self->lock);
  if (context)
    return context;

  set_asking (self, g_thread_self ());
  gst_cuda_ensure_element_context (element, device, &self->answer);
  set_asking (self, NULL);
  if (self->answer)
    offer_context (self, g_steal_pointer (&self->answer));

  g_mutex_lock (&self->lock);
  context = self->context;
  g_mutex_unlock (&self->lock);

  return context;
}

static gboolean
cuda_open (GstCclMapper *mapper, const GstVideoInfo *info, GstCclPlace *place, GError **error)
{
  CudaMapper *self = (CudaMapper *) mapper;
  GstCudaContext *context;

  if (!gst_cuda_load_library ()) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "Could not load the NVIDIA driver, which frames in CUDA memory need.");
    return FALSE;
  }

  /* The context may have been set before cuda-device-id was changed. */
  context = ensure_context (self, place->device);
  if (context && place->device >= 0 && get_device (context) != place->device) {
    cuda_close (mapper);
    context = ensure_context (self, place->device);
  }
  if (!context) {
    g_set_error (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "Could not create a context on CUDA device %d. Set cuda-device-id to the device of the "
        "frames, or to -1.",
        MAX (place->device, 0));
    return FALSE;
  }
  place->cuda_context = gst_cuda_context_get_handle (context);

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

/* The stream on which the pixels become ready, NULL if they are ready already. Before
 * GStreamer 1.24, memory does not have its stream: elements synchronize after writing, but copies
 * between memories are only enqueued, on the legacy stream of the context. Waiting for that stream
 * also waits for the work enqueued so far on all blocking streams of the context, such as uploads
 * and decoders of other pipelines; cudaStreamQuery() cannot tell them apart. It does not wait for
 * other elements of ours, whose streams are non-blocking. */
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

static gboolean
cuda_map (GstCclMapper *mapper, GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
          GError **error)
{
  CudaMapper *self = (CudaMapper *) mapper;
  GstMemory *first = gst_buffer_n_memory (buffer) > 0 ? gst_buffer_peek_memory (buffer, 0) : NULL;
  GstCudaMemory *memory = GST_CUDA_MEMORY_CAST (first);
  GstVideoInfo layout = *info;

  if (!gst_is_cuda_memory (first)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Got a frame in %s memory, but CUDA memory was negotiated.",
                 first ? first->allocator->mem_type : "no");
    return FALSE;
  }

  /* Without GstVideoMeta, the layout is that of the allocation, not the default one of the caps. */
  if (!gst_buffer_get_video_meta (buffer)) {
    if (!check_info (info, &memory->info, error))
      return FALSE;
    layout = memory->info;
    GST_VIDEO_INFO_WIDTH (&layout) = GST_VIDEO_INFO_WIDTH (info);
    GST_VIDEO_INFO_HEIGHT (&layout) = GST_VIDEO_INFO_HEIGHT (info);
  }

  if (!gst_ccl_frame_map_plane (frame, &layout, buffer, 0,
                                GST_MAP_READ | (GstMapFlags) GST_MAP_CUDA, error))
    return FALSE;
  if (memory->context != self->context &&
      !adopt_context (self, memory->context, frame->place.device, error)) {
    gst_ccl_frame_unmap_plane (frame);
    return FALSE;
  }

  frame->place.cuda_context = gst_cuda_context_get_handle (self->context);
  /* GstBuffer copies a plane that spans several memories to system memory. */
  if (!frame->map.memory || gst_is_cuda_memory (frame->map.memory)) {
    frame->image.memory = CCL_MEMORY_DEVICE;
    frame->image.stream = find_stream (memory);
  }

  return TRUE;
}

static void
cuda_unmap (GstCclMapper *mapper, GstCclFrame *frame)
{
  gst_ccl_frame_unmap_plane (frame);
  gst_clear_object (&((CudaMapper *) mapper)->previous);
}

const GstCclMapperClass gst_ccl_cuda_mapper = {
  .feature = GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY,
  .formats = "{ NV12, NV21, I420, YV12, Y42B, Y444 }",
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
