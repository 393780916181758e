/* cudaccl-watch - frames as JPEG pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The elements stand outside of a pipeline: pushing a buffer into the first runs all of them in
 * the caller's thread, and the last pad keeps the result. A picture needs neither threads nor
 * queues. */

#include "apps/watch/camera/jpeg.h"

#include <gst/ccl/gstccl.h>

#define MAX_WIDTH 1280
/* Encoder threads of the process: an event waits for its picture. */
#define MIN_THREADS 2
#define MAX_THREADS 8

struct _WatchJpeg
{
  GstElement *overlay; /* or NULL */
  GstElement *encoder;
  GstPad *src, *sink;
  GstVideoInfo in, small, out;  /* @small: @in, scaled */
  GstVideoConverter *scaler;    /* NULL if frames are small enough */
  GstVideoConverter *converter; /* NULL before the first frame */
  GstBuffer *scaled;            /* NULL without @scaler */
  GBytes *result;
};

/* Without a template, a pad refuses caps other than its first: pictures of one size only. */
static GstStaticPadTemplate any_caps =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GstFlowReturn
take_result (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  WatchJpeg *self = gst_pad_get_element_private (pad);
  GstMapInfo map;

  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    g_clear_pointer (&self->result, g_bytes_unref);
    self->result = g_bytes_new (map.data, map.size);
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstElement *
make (const gchar *name)
{
  GstElement *element = gst_element_factory_make (name, NULL);

  return element ? gst_object_ref_sink (element) : NULL;
}

static void
link_to_element (GstPad *src, GstElement *element)
{
  GstPad *sink = gst_element_get_static_pad (element, "sink");

  gst_pad_link (src, sink);
  gst_object_unref (sink);
}

WatchJpeg *
watch_jpeg_new (gboolean boxes)
{
  GstElement *encoder = make ("jpegenc");
  GstPad *last;
  WatchJpeg *self;

  if (!encoder)
    return NULL;
  self = g_new0 (WatchJpeg, 1);
  self->encoder = encoder;
  gst_video_info_init (&self->in);
  gst_video_info_init (&self->out);
  self->src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  self->sink = gst_object_ref_sink (gst_pad_new_from_static_template (&any_caps, "sink"));
  gst_pad_set_element_private (self->sink, self);
  gst_pad_set_chain_function (self->sink, take_result);
  gst_pad_set_active (self->src, TRUE);
  gst_pad_set_active (self->sink, TRUE);

  self->overlay = boxes ? make ("ccloverlay") : NULL;
  if (self->overlay) {
    GstPad *pad = gst_element_get_static_pad (self->overlay, "src");

    gst_util_set_object_arg (G_OBJECT (self->overlay), "draw", "boxes+tracks+zones+classes");
    link_to_element (self->src, self->overlay);
    link_to_element (pad, encoder);
    gst_object_unref (pad);
    gst_element_set_state (self->overlay, GST_STATE_PLAYING);
  } else {
    link_to_element (self->src, encoder);
  }
  last = gst_element_get_static_pad (encoder, "src");
  gst_pad_link (last, self->sink);
  gst_object_unref (last);
  gst_element_set_state (encoder, GST_STATE_PLAYING);
  gst_pad_push_event (self->src, gst_event_new_stream_start ("watch"));
  return self;
}

static void
free_converters (WatchJpeg *self)
{
  g_clear_pointer (&self->scaler, gst_video_converter_free);
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_clear_buffer (&self->scaled);
}

void
watch_jpeg_free (WatchJpeg *self)
{
  if (self->overlay)
    gst_element_set_state (self->overlay, GST_STATE_NULL);
  gst_element_set_state (self->encoder, GST_STATE_NULL);
  gst_pad_set_active (self->src, FALSE);
  gst_pad_set_active (self->sink, FALSE);
  g_clear_object (&self->overlay);
  gst_object_unref (self->encoder);
  gst_object_unref (self->src);
  gst_object_unref (self->sink);
  free_converters (self);
  g_clear_pointer (&self->result, g_bytes_unref);
  g_free (self);
}

/* Sets @info to @like with another format and size. */
static gboolean
set_info (GstVideoInfo *info, GstVideoFormat format, const GstVideoInfo *like, guint width,
          guint height)
{
  if (!gst_video_info_set_interlaced_format (info, format, GST_VIDEO_INFO_INTERLACE_MODE (like),
                                             width, height))
    return FALSE;
  info->fps_n = GST_VIDEO_INFO_FPS_N (like);
  info->fps_d = GST_VIDEO_INFO_FPS_D (like);
  info->par_n = GST_VIDEO_INFO_PAR_N (like);
  info->par_d = GST_VIDEO_INFO_PAR_D (like);
  info->colorimetry = like->colorimetry;
  info->chroma_site = like->chroma_site;
  return TRUE;
}

static GstVideoConverter *
new_converter (const GstVideoInfo *in, const GstVideoInfo *out)
{
  return gst_video_converter_new (
      in, out,
      gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD,
                         GST_TYPE_VIDEO_RESAMPLER_METHOD, GST_VIDEO_RESAMPLER_METHOD_LINEAR, NULL));
}

static gboolean
set_format (WatchJpeg *self, const GstVideoInfo *info)
{
  gint width = MAX (GST_VIDEO_INFO_WIDTH (info), 2), height = MAX (GST_VIDEO_INFO_HEIGHT (info), 2);
  gboolean large = width > MAX_WIDTH;
  GstSegment segment;
  GstCaps *caps;

  if (self->converter && gst_video_info_is_equal (info, &self->in))
    return TRUE;
  free_converters (self);
  if (large) {
    height = MAX (gst_util_uint64_scale_int (height, MAX_WIDTH, width), 2);
    width = MAX_WIDTH;
  }
  width &= ~1;
  height &= ~1;
  self->in = *info;
  self->small = *info;
  if (!set_info (&self->out, GST_VIDEO_FORMAT_I420, info, width, height) ||
      (large && !set_info (&self->small, GST_VIDEO_INFO_FORMAT (info), info, width, height)))
    return FALSE;
  /* JFIF's is BT.601 in full range. FCC's matrix is the same to two digits: between formats with
   * one matrix the converter copies samples whatever their range. */
  gst_video_colorimetry_from_string (&self->out.colorimetry, "1:2:0:0");
  /* Scaling the planes first takes less than half of the time of a converter that does both. */
  if (large) {
    self->scaler = new_converter (&self->in, &self->small);
    self->scaled = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&self->small), NULL);
  }
  self->converter = new_converter (&self->small, &self->out);
  if (!self->converter || !self->scaler != !large) {
    free_converters (self);
    return FALSE;
  }
  caps = gst_video_info_to_caps (&self->out);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (self->src, gst_event_new_caps (caps));
  gst_pad_push_event (self->src, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return TRUE;
}

/* Copies metadata of components and zones, scaled. */
static void
copy_meta (WatchJpeg *self, GstBuffer *from, GstBuffer *to)
{
  GstVideoMetaTransform scale = { &self->in, &self->out };
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (from, &state))) {
    if (meta->info->api == GST_CCL_META_API_TYPE || meta->info->api == GST_CCL_ZONES_META_API_TYPE)
      meta->info->transform_func (to, meta, from, gst_video_meta_transform_scale_get_quark (),
                                  &scale);
  }
}

static gboolean
convert (GstVideoConverter *converter, const GstVideoInfo *in, GstBuffer *from,
         const GstVideoInfo *out, GstBuffer *to)
{
  GstVideoFrame read, written;

  if (!gst_video_frame_map (&read, in, from, GST_MAP_READ))
    return FALSE;
  if (!gst_video_frame_map (&written, out, to, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&read);
    return FALSE;
  }
  gst_video_converter_frame (converter, &read, &written);
  gst_video_frame_unmap (&written);
  gst_video_frame_unmap (&read);
  return TRUE;
}

GBytes *
watch_jpeg_encode (WatchJpeg *self, GstBuffer *frame, const GstVideoInfo *info)
{
  GstBuffer *buffer;

  if (!set_format (self, info))
    return NULL;
  if (self->scaler && !convert (self->scaler, &self->in, frame, &self->small, self->scaled))
    return NULL;
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&self->out), NULL);
  if (!convert (self->converter, &self->small, self->scaler ? self->scaled : frame, &self->out,
                buffer)) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  GST_BUFFER_PTS (buffer) = GST_BUFFER_PTS (frame);
  if (self->overlay)
    copy_meta (self, frame, buffer);
  gst_pad_push (self->src, buffer);
  return g_steal_pointer (&self->result);
}

typedef struct
{
  GFunc func;
  gpointer data;
} Job;

static void
run_job (gpointer data, gpointer user_data)
{
  Job *job = data;

  job->func (job->data, NULL);
  g_free (job);
}

void
watch_jpeg_run (GFunc func, gpointer data)
{
  static gsize pool = 0;
  Job *job = g_new (Job, 1);

  /* Exclusive threads stay alive, and so do their encoders. */
  if (g_once_init_enter (&pool)) {
    gint threads = CLAMP ((gint) g_get_num_processors () / 4, MIN_THREADS, MAX_THREADS);

    g_once_init_leave (&pool, (gsize) g_thread_pool_new (run_job, NULL, threads, TRUE, NULL));
  }
  job->func = func;
  job->data = data;
  g_thread_pool_push ((GThreadPool *) pool, job, NULL);
}
