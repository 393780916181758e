/* cudaccl-watch - frames as JPEG pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The elements are not in a pipeline: pushing a buffer into the first runs them all in the caller's
 * thread, and the last pad keeps the result. So a picture needs neither threads nor queues. */

#include "camera-jpeg.h"

#include <gst/ccl/gstccl.h>

#define MAX_WIDTH 1280
#define THREADS 2

struct _WatchJpeg
{
  GstElement *overlay; /* or NULL */
  GstElement *encoder;
  GstPad *src, *sink;
  GstVideoInfo in, out;
  GstVideoConverter *converter; /* NULL before the first frame */
  GBytes *result;
};

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
  self->sink = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
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
  g_clear_pointer (&self->converter, gst_video_converter_free);
  g_clear_pointer (&self->result, g_bytes_unref);
  g_free (self);
}

static gboolean
set_format (WatchJpeg *self, const GstVideoInfo *info)
{
  gint width = MAX (GST_VIDEO_INFO_WIDTH (info), 2), height = MAX (GST_VIDEO_INFO_HEIGHT (info), 2);
  GstSegment segment;
  GstCaps *caps;

  if (self->converter && gst_video_info_is_equal (info, &self->in))
    return TRUE;
  g_clear_pointer (&self->converter, gst_video_converter_free);
  if (width > MAX_WIDTH) {
    height = gst_util_uint64_scale_int (height, MAX_WIDTH, width);
    width = MAX_WIDTH;
  }
  self->in = *info;
  if (!gst_video_info_set_format (&self->out, GST_VIDEO_FORMAT_I420, width & ~1,
                                  MAX (height, 2) & ~1))
    return FALSE;
  self->out.fps_n = GST_VIDEO_INFO_FPS_N (info);
  self->out.fps_d = GST_VIDEO_INFO_FPS_D (info);
  self->out.interlace_mode = GST_VIDEO_INFO_INTERLACE_MODE (info);
  self->out.par_n = GST_VIDEO_INFO_PAR_N (info);
  self->out.par_d = GST_VIDEO_INFO_PAR_D (info);
  /* That of JFIF: BT.601 in full range. */
  gst_video_colorimetry_from_string (&self->out.colorimetry, "1:4:0:0");
  /* Two thirds of the time that the default, cubic, takes. */
  self->converter = gst_video_converter_new (
      &self->in, &self->out,
      gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD,
                         GST_TYPE_VIDEO_RESAMPLER_METHOD, GST_VIDEO_RESAMPLER_METHOD_LINEAR, NULL));
  if (!self->converter)
    return FALSE;
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
convert (WatchJpeg *self, GstBuffer *from, GstBuffer *to)
{
  GstVideoFrame in, out;

  if (!gst_video_frame_map (&in, &self->in, from, GST_MAP_READ))
    return FALSE;
  if (!gst_video_frame_map (&out, &self->out, to, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&in);
    return FALSE;
  }
  gst_video_converter_frame (self->converter, &in, &out);
  gst_video_frame_unmap (&out);
  gst_video_frame_unmap (&in);
  return TRUE;
}

GBytes *
watch_jpeg_encode (WatchJpeg *self, GstBuffer *frame, const GstVideoInfo *info)
{
  GstBuffer *buffer;

  if (!set_format (self, info))
    return NULL;
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&self->out), NULL);
  if (!convert (self, frame, buffer)) {
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

  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, (gsize) g_thread_pool_new (run_job, NULL, THREADS, FALSE, NULL));
  job->func = func;
  job->data = data;
  g_thread_pool_push ((GThreadPool *) pool, job, NULL);
}
