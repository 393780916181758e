/* cudaccl - helpers for caps, allocation queries and buffers that the plugins share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclutils.h"

GstCaps *
gst_ccl_caps_filter (GstCaps *caps, GstCaps *filter)
{
  GstCaps *filtered;

  if (!filter)
    return caps;

  filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);

  return filtered;
}

gboolean
gst_ccl_caps_get_size (GstCaps *caps, guint *width, guint *height)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint w, h;

  if (!gst_structure_get_int (structure, "width", &w) ||
      !gst_structure_get_int (structure, "height", &h) || w <= 0 || h <= 0)
    return FALSE;

  *width = (guint) w;
  *height = (guint) h;

  return TRUE;
}

gboolean
gst_ccl_caps_require_size (GstElement *element, GstCaps *caps, guint *width, guint *height)
{
  if (gst_ccl_caps_get_size (caps, width, height))
    return TRUE;

  GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("The video caps have no valid frame size."),
                     ("%" GST_PTR_FORMAT, caps));

  return FALSE;
}

/* Before GStreamer 1.24, overflow of strides is not reported. */
static gboolean
has_valid_layout (const GstVideoInfo *info)
{
  guint i;

  for (i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++) {
    if (GST_VIDEO_INFO_PLANE_STRIDE (info, i) <= 0)
      return FALSE;
  }

  return TRUE;
}

/* Returns whether @caps are invalid because of the frame size. */
static gboolean
is_too_large (GstCaps *caps)
{
  const gchar *name = gst_structure_get_string (gst_caps_get_structure (caps, 0), "format");
  GstVideoFormat format = name ? gst_video_format_from_string (name) : GST_VIDEO_FORMAT_UNKNOWN;
  guint width, height;
  GstVideoInfo info;

  return format != GST_VIDEO_FORMAT_UNKNOWN && gst_ccl_caps_get_size (caps, &width, &height) &&
         !(gst_video_info_set_format (&info, format, width, height) && has_valid_layout (&info));
}

gboolean
gst_ccl_caps_get_video_info (GstCaps *caps, GstVideoInfo *info, GError **error)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *mode = gst_structure_get_string (structure, "interlace-mode");
  GstVideoInfo parsed;
  gchar *text;

  /* Proper caps have a feature for this, which none of our elements supports. */
  if (g_strcmp0 (mode, "alternate") == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Buffers with a single field (interlace-mode=alternate) are not supported. "
                 "Deinterlace the video before this element.");
    return FALSE;
  }

  if (gst_video_info_from_caps (&parsed, caps) && has_valid_layout (&parsed)) {
    *info = parsed;
    return TRUE;
  }

  text = gst_caps_to_string (caps);
  if (is_too_large (caps))
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Unsupported frame size in %s. Use smaller frames.", text);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "Invalid video caps %s.", text);
  g_free (text);

  return FALSE;
}

void
gst_ccl_allow_any_layout (GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
}

gboolean
gst_ccl_propose_any_layout (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  gst_ccl_allow_any_layout (query);

  return TRUE;
}

gboolean
gst_ccl_propose_downstream (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (trans), query);
}

GstFlowReturn
gst_ccl_prepare_metadata (GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer **outbuf)
{
  *outbuf = gst_buffer_is_writable (inbuf) ? inbuf : gst_ccl_buffer_copy_shallow (inbuf);

  return GST_FLOW_OK;
}

#define SIGNATURES "cudaccl-signatures"

gboolean
gst_ccl_event_wants_signatures (GstEvent *event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM &&
         gst_event_has_name (event, SIGNATURES);
}

gboolean
gst_ccl_pad_ask_for_signatures (GstPad *pad)
{
  return gst_pad_push_event (
      pad, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty (SIGNATURES)));
}

#define FINDING "cudaccl-finding"

gboolean
gst_ccl_query_is_finding (GstQuery *query)
{
  const GstStructure *structure =
      GST_QUERY_TYPE (query) == GST_QUERY_CUSTOM ? gst_query_get_structure (query) : NULL;

  return structure && gst_structure_has_name (structure, FINDING);
}

gboolean
gst_ccl_peer_is_finding (GstPad *pad)
{
  GstQuery *query = gst_query_new_custom (GST_QUERY_CUSTOM, gst_structure_new_empty (FINDING));
  const gboolean answered = gst_pad_peer_query (pad, query);

  gst_query_unref (query);

  return answered;
}

gboolean
gst_ccl_buffer_is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

void
gst_ccl_buffer_copy_meta (GstBuffer *dest, GstBuffer *source, GstMeta *meta)
{
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };

  if (meta->info->transform_func)
    meta->info->transform_func (dest, meta, source, _gst_meta_transform_copy, &copy);
}

static gboolean
copy_meta (GstBuffer *buffer, GstMeta **meta, gpointer dest)
{
  gst_ccl_buffer_copy_meta (dest, buffer, *meta);

  return TRUE;
}

GstBuffer *
gst_ccl_buffer_copy_shallow (GstBuffer *buffer)
{
  GstBuffer *copy = gst_buffer_new ();
  guint i;

  for (i = 0; i < gst_buffer_n_memory (buffer); i++)
    gst_buffer_append_memory (copy, gst_buffer_get_memory (buffer, i));
  gst_buffer_copy_into (copy, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0,
                        (gsize) -1);
  gst_buffer_foreach_meta (buffer, copy_meta, copy);

  /* The pool must not reuse the buffer while its memory is in use downstream. */
  if (buffer->pool)
    gst_buffer_add_parent_buffer_meta (copy, buffer);

  return copy;
}

void
gst_ccl_segment_get_times (const GstSegment *segment, GstClockTime timestamp,
                           GstClockTime *stream_time, GstClockTime *running_time)
{
  *stream_time = GST_CLOCK_TIME_NONE;
  *running_time = GST_CLOCK_TIME_NONE;

  /* Application sources may use segments in bytes. */
  if (segment->format == GST_FORMAT_TIME) {
    *stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, timestamp);
    *running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME, timestamp);
  }
}

GstClockTimeDiff
gst_ccl_time_diff (GstClockTimeDiff a, GstClockTimeDiff b)
{
  if (b < 0 && a > G_MAXINT64 + b)
    return G_MAXINT64;
  if (b > 0 && a < -G_MAXINT64 + b)
    return -G_MAXINT64;

  return a - b;
}
