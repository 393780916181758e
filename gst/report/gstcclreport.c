/* cudaccl - elements that write what was found in frames as text
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclreport.h"

#include <gst/video/video.h>
#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclutils.h>
#include <gst/found/gstcclfound.h>

#include "gstcclutc.h"

typedef struct
{
  /* Protected by the object lock. */
  gboolean empty_frames;
  gboolean needs_utc;
  gchar *source;

  /* Streaming thread. */
  guint64 n_frames;
  GstClockTime start; /* UTC when the element started */
  gboolean live, live_known;
  GstCclUtc utc;
  GstCaps *utc_caps; /* caps of the texts' reference timestamps */
  GstBuffer *stamp;  /* flags and times of the last frame; may be NULL */
  GQueue texts;      /* GstBuffer, to be pushed */
} GstCclReportPrivate;

#define gst_ccl_report_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstCclReport, gst_ccl_report, GST_TYPE_CCL_FILTER)
#define PRIV(self) ((GstCclReportPrivate *) gst_ccl_report_get_instance_private (self))

static void
gst_ccl_report_finalize (GObject *object)
{
  GstCclReport *self = GST_CCL_REPORT (object);

  gst_caps_unref (PRIV (self)->utc_caps);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_report_source_changed (gpointer self)
{
  gchar *source = PRIV (self)->source;

  if (!source)
    return;
  PRIV (self)->source = g_utf8_make_valid (source, -1);
  g_free (source);
}

static gboolean
gst_ccl_report_start (GstBaseTransform *trans)
{
  GstCclReport *self = GST_CCL_REPORT (trans);

  PRIV (self)->n_frames = 0;
  PRIV (self)->start = (GstClockTime) g_get_real_time () * GST_USECOND;
  PRIV (self)->live_known = FALSE;
  PRIV (self)->utc.known = FALSE;

  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static void
clear_texts (GstCclReport *self)
{
  g_queue_clear_full (&PRIV (self)->texts, (GDestroyNotify) gst_buffer_unref);
}

static gboolean
gst_ccl_report_stop (GstBaseTransform *trans)
{
  GstCclReport *self = GST_CCL_REPORT (trans);

  clear_texts (self);
  gst_clear_buffer (&PRIV (self)->stamp);

  return TRUE;
}

static void
gst_ccl_report_restart (GstCclFilter *filter, GstCclRestart why)
{
  GstCclReport *self = GST_CCL_REPORT (filter);

  if (why == GST_CCL_RESTART_STREAM)
    PRIV (self)->live_known = FALSE; /* the source may have changed */
  else if (why == GST_CCL_RESTART_FLUSH)
    clear_texts (self);
}

/* The caps of one pad do not depend on those of the other. */
static GstCaps *
gst_ccl_report_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;

  return gst_ccl_caps_filter (gst_pad_get_pad_template_caps (other), filter);
}

/* The element allocates its buffers. */
static gboolean
gst_ccl_report_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  return TRUE;
}

static gboolean
is_live (GstCclReport *self)
{
  GstQuery *query;

  if (!PRIV (self)->live_known) {
    query = gst_query_new_latency ();
    PRIV (self)->live = FALSE;
    if (gst_pad_peer_query (GST_BASE_TRANSFORM (self)->sinkpad, query))
      gst_query_parse_latency (query, &PRIV (self)->live, NULL, NULL);
    PRIV (self)->live_known = TRUE;
    gst_query_unref (query);
  }

  return PRIV (self)->live;
}

/* The running time of frames from a file has no relation to the time of day. */
static GstClockTime
get_utc (GstCclReport *self, GstBuffer *buffer, GstClockTime running_time)
{
  GstClockTime utc = gst_ccl_utc_from_reference (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (utc) && is_live (self))
    utc = gst_ccl_utc_from_clock (&PRIV (self)->utc, GST_ELEMENT (self), running_time);
  if (GST_CLOCK_TIME_IS_VALID (utc) || !PRIV (self)->needs_utc)
    return utc;

  if (GST_CLOCK_TIME_IS_VALID (running_time) && running_time < G_MAXINT64)
    return PRIV (self)->start + running_time;

  return (GstClockTime) g_get_real_time () * GST_USECOND;
}

/* Returns the zones of @inbuf in pixels of a frame of @width x @height. If they have another
 * size, for example because the frame was cropped after cclzones, scales a copy in @scaled. */
static const GstCclZonesMeta *
get_scaled_zones (GstBuffer *inbuf, guint width, guint height, GstCclFindings *scaled)
{
  const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (inbuf);

  if (!zones || zones->n_events == 0 || (zones->width == width && zones->height == height))
    return zones;

  gst_ccl_findings_init (scaled, inbuf, width, height);
  gst_ccl_findings_scale (scaled, width, height);

  return scaled->zones.width > 0 ? &scaled->zones : NULL;
}

/* Keeps the flags and times for all texts of a frame. */
static void
set_stamp (GstCclReport *self, GstBuffer *inbuf, GstClockTime utc)
{
  const guint flags = GST_BUFFER_FLAG_LIVE | GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC;
  GstBuffer *stamp = gst_buffer_new ();

  GST_BUFFER_FLAG_SET (stamp, GST_BUFFER_FLAGS (inbuf) & flags);
  GST_BUFFER_PTS (stamp) = GST_BUFFER_PTS (inbuf);
  GST_BUFFER_DTS (stamp) = GST_BUFFER_DTS (inbuf);
  GST_BUFFER_DURATION (stamp) = GST_BUFFER_DURATION (inbuf);
  if (GST_CLOCK_TIME_IS_VALID (utc))
    gst_buffer_add_reference_timestamp_meta (stamp, PRIV (self)->utc_caps, utc,
                                             GST_CLOCK_TIME_NONE);
  gst_clear_buffer (&PRIV (self)->stamp);
  PRIV (self)->stamp = stamp;
}

void
gst_ccl_report_take_text (GstCclReport *self, GString *text)
{
  const gsize size = text->len;
  GstBuffer *buffer = gst_buffer_new_wrapped (g_string_free (text, FALSE), size);

  gst_buffer_copy_into (buffer, PRIV (self)->stamp, GST_BUFFER_COPY_METADATA, 0, (gsize) -1);
  GST_BUFFER_FLAG_UNSET (PRIV (self)->stamp, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC);
  g_queue_push_tail (&PRIV (self)->texts, buffer);
}

void
gst_ccl_report_set_needs_utc (GstCclReport *self, gboolean needs_utc)
{
  PRIV (self)->needs_utc = needs_utc;
}

void
gst_ccl_report_push (GstCclReport *self)
{
  GstBuffer *buffer;

  while ((buffer = g_queue_pop_head (&PRIV (self)->texts)))
    gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), buffer);
}

static void
write_frame (GstCclReport *self, GstBuffer *inbuf)
{
  const GstCclFilter *filter = GST_CCL_FILTER (self);
  GstCclFindings scaled = { FALSE };
  GstCclReportFrame frame;
  GstCclFound found;
  gboolean has_size, wanted;
  gchar *source;

  GST_OBJECT_LOCK (self);
  wanted = PRIV (self)->empty_frames;
  source = g_strdup (PRIV (self)->source);
  GST_OBJECT_UNLOCK (self);

  gst_ccl_found_init (&found, inbuf, filter->width, filter->height, GST_CCL_FOUND_CROP);
  frame.source = source;
  frame.number = PRIV (self)->n_frames++;
  frame.timestamp = GST_BUFFER_PTS (inbuf);
  frame.duration = GST_BUFFER_DURATION (inbuf);
  gst_ccl_segment_get_times (&GST_BASE_TRANSFORM (self)->segment, frame.timestamp,
                             &frame.stream_time, &frame.running_time);
  frame.utc = get_utc (self, inbuf, frame.running_time);
  /* Metadata of other elements may have no size. */
  has_size = found.width > 0 && found.height > 0;
  frame.width = has_size ? found.width : filter->width;
  frame.height = has_size ? found.height : filter->height;
  frame.found = found.found;
  frame.frame_age = found.frame_age;
  frame.n_components = found.n_components;
  frame.components = found.components;
  frame.class_names = found.class_names;
  frame.zones = get_scaled_zones (inbuf, frame.width, frame.height, &scaled);

  set_stamp (self, inbuf, frame.utc);
  wanted |= frame.n_components > 0 || (frame.zones && frame.zones->n_events > 0);
  GST_CCL_REPORT_GET_CLASS (self)->write (self, inbuf, &frame, wanted);

  gst_ccl_findings_clear (&scaled);
  gst_ccl_found_clear (&found);
  g_free (source);
}

/* Tells sinks not to wait for a text. */
static void
push_gap (GstCclReport *self, GstBuffer *inbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);

  if (trans->segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (inbuf))
    gst_pad_push_event (trans->srcpad,
                        gst_event_new_gap (GST_BUFFER_PTS (inbuf), GST_BUFFER_DURATION (inbuf)));
}

/* Outputs the texts of a frame, one in each call, or a gap event instead. */
static GstFlowReturn
gst_ccl_report_generate_output (GstBaseTransform *trans, GstBuffer **outbuf)
{
  GstCclReport *self = GST_CCL_REPORT (trans);
  GstBuffer *inbuf = g_steal_pointer (&trans->queued_buf);
  GstFlowReturn result = GST_FLOW_OK;

  if (inbuf) {
    write_frame (self, inbuf);
    if (g_queue_is_empty (&PRIV (self)->texts)) {
      push_gap (self, inbuf);
      result = GST_BASE_TRANSFORM_FLOW_DROPPED;
    }
    gst_buffer_unref (inbuf);
  }
  *outbuf = g_queue_pop_head (&PRIV (self)->texts);

  return result;
}

static void
gst_ccl_report_class_init (GstCclReportClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCclFilterClass *filter_class = GST_CCL_FILTER_CLASS (klass);

  gobject_class->finalize = gst_ccl_report_finalize;

  /**
   * ccljson:empty-frames:
   *
   * Also write frames that have no components. If disabled, they become gap events, unless they
   * have events of `cclzones`.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class,
      GST_CCL_FIELD_AT (GstCclReport_private_offset, GstCclReportPrivate, empty_frames),
      g_param_spec_boolean ("empty-frames", "Empty frames",
                            "Also write frames that have no components.", TRUE, GST_CCL_PLAYING));

  /**
   * ccljson:source:
   *
   * Name of the source, such as a camera, which is written for each frame; omitted if unset.
   * Invalid UTF-8 is replaced.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class,
                              GST_CCL_FIELD_AT (GstCclReport_private_offset, GstCclReportPrivate,
                                                source, .changed = gst_ccl_report_source_changed),
                              g_param_spec_string ("source", "Source",
                                                   "Name of the source, such as a camera.", NULL,
                                                   GST_CCL_PLAYING));

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_report_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_report_stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_report_transform_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_propose_any_layout);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR (gst_ccl_report_decide_allocation);
  trans_class->generate_output = GST_DEBUG_FUNCPTR (gst_ccl_report_generate_output);
  /* The output is text: a frame makes none, one or several buffers. */
  trans_class->transform_ip = NULL;

  filter_class->restart = GST_DEBUG_FUNCPTR (gst_ccl_report_restart);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_REPORT, 0);
}

static void
gst_ccl_report_init (GstCclReport *self)
{
  PRIV (self)->utc_caps = gst_caps_new_empty_simple ("timestamp/x-unix");
  g_queue_init (&PRIV (self)->texts);

  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}
