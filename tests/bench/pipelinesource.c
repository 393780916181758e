/* cudaccl - ccl-bench pipeline: a cheap source
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every buffer of the pool gets its frame once; from then on acquired buffers already hold one. */

#include "tests/bench/pipeline.h"

#include <gst/base/gstpushsrc.h>

typedef struct PipelineSource
{
  GstPushSrc parent;

  GstCaps *caps;
  GstVideoInfo info;
  const guint8 *masks; /* PIPELINE_FRAMES frames, for n_buffers of a pool, or ... */
  guint n_buffers;
  GPtrArray *buffers; /* ... buffers to push */
  gboolean want_proposed, has_proposed;
  GstBufferPool *filled;   /* its buffers hold frames */
  GstAllocator *allocator; /* of the proposed pool */
  guint64 n;               /* frames pushed */
} PipelineSource;

typedef struct PipelineSourceClass
{
  GstPushSrcClass parent;
} PipelineSourceClass;

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

G_DEFINE_TYPE (PipelineSource, pipeline_source, GST_TYPE_PUSH_SRC)

static GstCaps *
pipeline_source_get_caps (GstBaseSrc *src, GstCaps *filter)
{
  return gst_caps_ref (((PipelineSource *) src)->caps);
}

/* The first proposed pool, if wanted, or GStreamer's own, with a buffer per frame and some for
 * the sink. */
static gboolean
pipeline_source_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  PipelineSource *self = (PipelineSource *) src;
  GstBufferPool *pool = NULL;
  guint size = (guint) self->info.size, n = self->n_buffers;
  GstAllocator *allocator = NULL;
  GstStructure *config;

  self->has_proposed = FALSE;
  if (self->want_proposed && gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, NULL, NULL);
  self->has_proposed = pool != NULL;
  if (!pool)
    pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, self->caps, size, n, n);
  gst_buffer_pool_config_get_allocator (config, &allocator, NULL);
  gst_object_replace ((GstObject **) &self->allocator,
                      self->has_proposed ? GST_OBJECT_CAST (allocator) : NULL);
  if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config (pool, config))
    GST_WARNING_OBJECT (self, "unexpected pool configuration");

  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, n, n);
  else
    gst_query_add_allocation_pool (query, pool, size, n, n);
  gst_object_unref (pool);
  return TRUE;
}

static gboolean
fill (PipelineSource *self, GstBuffer *buffer, const guint8 *mask)
{
  gint width = GST_VIDEO_INFO_WIDTH (&self->info), height = GST_VIDEO_INFO_HEIGHT (&self->info);
  GstVideoFrame frame;
  guint plane;
  gint y;

  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_WRITE))
    return FALSE;
  for (y = 0; y < height; y++)
    memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
            mask + (gsize) y * (gsize) width, (gsize) width);
  for (plane = 1; plane < GST_VIDEO_FRAME_N_PLANES (&frame); plane++)
    memset (GST_VIDEO_FRAME_PLANE_DATA (&frame, plane), 128,
            (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, plane) *
                (gsize) GST_VIDEO_FRAME_COMP_HEIGHT (&frame, plane));
  gst_video_frame_unmap (&frame);
  return TRUE;
}

static GstFlowReturn
fill_pool (PipelineSource *self, GstBufferPool *pool)
{
  gsize size =
      (gsize) GST_VIDEO_INFO_WIDTH (&self->info) * (gsize) GST_VIDEO_INFO_HEIGHT (&self->info);
  GstBuffer *buffers[PIPELINE_MOST_BUFFERS] = { NULL };
  GstFlowReturn ret = GST_FLOW_OK;
  guint i;

  for (i = 0; i < self->n_buffers && ret == GST_FLOW_OK; i++) {
    ret = gst_buffer_pool_acquire_buffer (pool, &buffers[i], NULL);
    if (ret == GST_FLOW_OK && !fill (self, buffers[i], self->masks + i % PIPELINE_FRAMES * size))
      ret = GST_FLOW_ERROR;
  }
  for (i = 0; i < self->n_buffers; i++)
    gst_clear_buffer (&buffers[i]);
  self->filled = pool;
  return ret;
}

static GstFlowReturn
pipeline_source_create (GstPushSrc *src, GstBuffer **buffer)
{
  PipelineSource *self = (PipelineSource *) src;
  GstFlowReturn ret = GST_FLOW_OK;

  if (self->buffers) {
    *buffer = gst_buffer_copy (g_ptr_array_index (self->buffers, self->n % self->buffers->len));
  } else {
    GstBufferPool *pool = gst_base_src_get_buffer_pool (GST_BASE_SRC (src));

    if (pool != self->filled)
      ret = fill_pool (self, pool);
    if (ret == GST_FLOW_OK)
      ret = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
    gst_object_unref (pool);
  }
  if (ret != GST_FLOW_OK)
    return ret;

  GST_BUFFER_PTS (*buffer) = self->n++ * GST_SECOND / 30;
  GST_BUFFER_DURATION (*buffer) = GST_SECOND / 30;
  return GST_FLOW_OK;
}

/* Makes a live source wait for the time of each frame. */
static void
pipeline_source_get_times (GstBaseSrc *src, GstBuffer *buffer, GstClockTime *start,
                           GstClockTime *end)
{
  *start = gst_base_src_is_live (src) ? GST_BUFFER_PTS (buffer) : GST_CLOCK_TIME_NONE;
  *end = GST_CLOCK_TIME_NONE;
}

static void
pipeline_source_finalize (GObject *object)
{
  PipelineSource *self = (PipelineSource *) object;

  gst_clear_caps (&self->caps);
  g_clear_pointer (&self->buffers, g_ptr_array_unref);
  gst_clear_object (&self->allocator);
  G_OBJECT_CLASS (pipeline_source_parent_class)->finalize (object);
}

static void
pipeline_source_class_init (PipelineSourceClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = pipeline_source_finalize;
  gst_element_class_set_static_metadata (element_class, "Masks", "Source/Video",
                                         "Pushes prepared frames", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &src_template);
  src_class->get_caps = pipeline_source_get_caps;
  src_class->decide_allocation = pipeline_source_decide_allocation;
  src_class->get_times = pipeline_source_get_times;
  GST_PUSH_SRC_CLASS (klass)->create = pipeline_source_create;
}

static void
pipeline_source_init (PipelineSource *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}

GstElement *
pipeline_source_new (const PipelineOptions *options, const guint8 *masks, GstCaps *caps,
                     gboolean proposed)
{
  PipelineSource *self = g_object_new (PIPELINE_TYPE_SOURCE, NULL);

  self->caps = gst_caps_ref (caps);
  self->masks = masks;
  self->n_buffers = options->buffers;
  self->want_proposed = proposed;
  gst_base_src_set_live (GST_BASE_SRC (self), options->live);
  gst_video_info_from_caps (&self->info, caps);
  return GST_ELEMENT (self);
}

GstElement *
pipeline_source_new_from_buffers (GstCaps *caps, GPtrArray *buffers, gboolean live)
{
  PipelineSource *self = g_object_new (PIPELINE_TYPE_SOURCE, NULL);

  self->caps = gst_caps_ref (caps);
  self->buffers = g_ptr_array_ref (buffers);
  gst_base_src_set_live (GST_BASE_SRC (self), live);
  gst_video_info_from_caps (&self->info, caps);
  return GST_ELEMENT (self);
}

GstCaps *
pipeline_source_caps (GstElement *source)
{
  return ((PipelineSource *) source)->caps;
}

gboolean
pipeline_source_has_proposed_pool (GstElement *source)
{
  return ((PipelineSource *) source)->has_proposed;
}

guint
pipeline_source_pinned_allocations (GstElement *source)
{
  GstAllocator *allocator = ((PipelineSource *) source)->allocator;
  guint n = 0;

  if (allocator && g_object_class_find_property (G_OBJECT_GET_CLASS (allocator), "allocations"))
    g_object_get (allocator, "allocations", &n, NULL);
  return n;
}
