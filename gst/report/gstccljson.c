/* cudaccl - writes the components of frames as lines of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccljson
 * @title: ccljson
 * @short_description: writes the components of frames as lines of JSON
 *
 * Converts frames with metadata of `cudaccl` to lines of JSON: a UTF-8 object and a newline for
 * each frame, in a buffer with the timestamp and duration of the frame. The lines can be written to
 * files (`filesink`), to other programs (`fdsink`), or to a network (`tcpserversink`, `udpsink`).
 * Only the metadata of the frames is read; they may be in any memory.
 *
 * ## Lines
 *
 * Each object has these members, in this order:
 *
 * * `source`: the string #ccljson:source; only if it is set,
 * * `frame`: the number of the frame, from 0, since the element started,
 * * `utc`: the time of day at which the frame was taken, a string such as
 *   `2026-01-31T12:00:00.123456789Z`, or null; see below,
 * * `timestamp`, `stream-time`, `running-time`, `duration`: of the frame, in nanoseconds, or null,
 * * `width`, `height`: the size of the frame,
 * * `found`: the number of components found in the frame, or null if unknown,
 * * `count`: the number of `components`; less than `found` if `max-components` was exceeded,
 * * `frame-age`: how much older the frame is in which the components were found, in nanoseconds;
 *   only if it is a different one, see `cclmerge`,
 * * `components`: an array of objects with
 *   * `label`, `x`, `y`, `width`, `height`, `area`: integers,
 *   * `centroid-x`, `centroid-y`: numbers with a decimal point, in pixel centres,
 *   * `track`, `age`: integers, the id of the object and how long it has been tracked, in
 *     nanoseconds; only after `ccltrack`, and only for objects that it tracks,
 *   * `velocity-x`, `velocity-y`: numbers with a decimal point, in pixels per second; with `track`,
 * * `events`: an array of the events of `cclzones`, with the fields of its messages except the
 *   times, and `frame-age` if an event happened in another frame; only if there are any.
 *
 * Integers are exact, numbers with a decimal point are rounded to thousandths. `docs/json.md` has
 * the schema.
 *
 * Components are read from the frame's #GstCclMeta. If it has none, they are read from the regions
 * of interest that `cudaccl` attached, and `found` is null. If it has neither, because it was not
 * analysed or nothing was found with `attach=roi`, `found` is null and `components` is empty.
 *
 * ## Time of day
 *
 * `utc` is the frame's #GstReferenceTimestampMeta, if it has one with the caps `timestamp/x-unix`,
 * `timestamp/x-ntp` or `timestamp/x-ptp`: the camera's own time, as `rtspsrc
 * add-reference-timestamp-meta=true` attaches it. PTP time is assumed to be 37 s ahead of UTC, as
 * it has been since 2017.
 *
 * Otherwise, in a live pipeline, it is the system time at which the pipeline's clock showed the
 * frame's running time, whatever clock that is. It is as accurate as the source's timestamps and
 * the system time; synchronise the latter by NTP. Corrections of less than 10 ms are ignored, so
 * that the intervals between frames remain those of the pipeline's clock; larger ones make `utc`
 * jump.
 *
 * Otherwise, as when a file is read, `utc` is null: only `stream-time` is meaningful then.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! cudaccl !
 * ccljson ! fdsink
 * ]|
 * Prints the position of the ball.
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball is-live=true ! video/x-raw,format=GRAY8 ! cudaccl !
 * ccljson source=ball ! fdsink | mosquitto_pub -l -t components
 * ]|
 * Sends it to an MQTT broker.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! segmentation test-mode=true ! videoconvert !
 * video/x-raw,format=GRAY8 ! cudaccl min-area=50 ! ccljson empty-frames=false !
 * tcpserversink host=0.0.0.0 port=5000
 * ]|
 * Sends the positions of moving objects to all clients that connect.
 *
 * Since: 0.1
 */

#include "gstccljson.h"

#include <gst/video/video.h>
#include <gst/common/gstcclroi.h>
#include <gst/common/gstcclutils.h>

#include "gstccljsonwriter.h"
#include <gst/common/gstcclfindings.h>
#include "gstcclutc.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_json_debug);
#define GST_CAT_DEFAULT gst_ccl_json_debug

#define SRC_CAPS "application/x-json, format=(string)cudaccl"

#define DEFAULT_EMPTY_FRAMES TRUE
#define DEFAULT_SOURCE NULL

enum
{
  PROP_0,
  PROP_EMPTY_FRAMES,
  PROP_SOURCE,
};

typedef struct
{
  /* Protected by the object lock. */
  gboolean empty_frames;
  gchar *source;

  /* Streaming thread. */
  guint width; /* of the frames */
  guint height;
  guint64 n_frames;
  GstClockTime start; /* UTC at which the element started */
  gboolean live, live_known;
  GstCclUtc utc;
  GstCaps *utc_caps; /* of the reference timestamps of the lines */
} GstCclJsonPrivate;

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SRC_CAPS));

#define gst_ccl_json_parent_class parent_class
G_DEFINE_TYPE_WITH_PRIVATE (GstCclJson, gst_ccl_json, GST_TYPE_BASE_TRANSFORM)
#define PRIV(self) ((GstCclJsonPrivate *) gst_ccl_json_get_instance_private (self))
GST_ELEMENT_REGISTER_DEFINE (ccljson, "ccljson", GST_RANK_NONE, GST_TYPE_CCL_JSON)

static void gst_ccl_json_set_property (GObject *object, guint prop_id, const GValue *value,
                                       GParamSpec *pspec);
static void gst_ccl_json_get_property (GObject *object, guint prop_id, GValue *value,
                                       GParamSpec *pspec);
static void gst_ccl_json_finalize (GObject *object);

static GstCaps *gst_ccl_json_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                             GstCaps *caps, GstCaps *filter);
static gboolean gst_ccl_json_start (GstBaseTransform *trans);
static gboolean gst_ccl_json_sink_event (GstBaseTransform *trans, GstEvent *event);
static gboolean gst_ccl_json_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps);
static gboolean gst_ccl_json_decide_allocation (GstBaseTransform *trans, GstQuery *query);
static GstFlowReturn gst_ccl_json_generate_output (GstBaseTransform *trans, GstBuffer **outbuf);

static void
gst_ccl_json_class_init (GstCclJsonClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gobject_class->set_property = gst_ccl_json_set_property;
  gobject_class->get_property = gst_ccl_json_get_property;
  gobject_class->finalize = gst_ccl_json_finalize;

  /**
   * ccljson:empty-frames:
   *
   * Write a line for frames without components, too. If disabled, such frames become gap events,
   * unless they have events of `cclzones`.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_EMPTY_FRAMES,
      g_param_spec_boolean ("empty-frames", "Empty frames",
                            "Write a line for frames without components too.", DEFAULT_EMPTY_FRAMES,
                            G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                GST_PARAM_MUTABLE_PLAYING));

  /**
   * ccljson:source:
   *
   * Name of the source in each line, such as that of a camera. If unset, lines lack this member.
   * Invalid UTF-8 is replaced.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_SOURCE,
      g_param_spec_string (
          "source", "Source", "Name of the source in each line, such as that of a camera.",
          DEFAULT_SOURCE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));

  gst_element_class_set_static_metadata (element_class, "Components as JSON", "Converter/Video",
                                         "Writes the components of video frames as lines of JSON",
                                         "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_json_start);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_json_sink_event);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_propose_any_layout);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR (gst_ccl_json_decide_allocation);
  trans_class->generate_output = GST_DEBUG_FUNCPTR (gst_ccl_json_generate_output);

  klass->write = gst_ccl_json_write_frame;

  GST_DEBUG_CATEGORY_INIT (gst_ccl_json_debug, "ccljson", 0, "components as lines of JSON");
}

static void
gst_ccl_json_init (GstCclJson *self)
{
  PRIV (self)->empty_frames = DEFAULT_EMPTY_FRAMES;
  PRIV (self)->source = g_strdup (DEFAULT_SOURCE);
  PRIV (self)->utc_caps = gst_caps_new_empty_simple ("timestamp/x-unix");

  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_ccl_json_finalize (GObject *object)
{
  GstCclJson *self = GST_CCL_JSON (object);

  g_free (PRIV (self)->source);
  gst_caps_unref (PRIV (self)->utc_caps);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_json_set_property (GObject *object, guint prop_id, const GValue *value, GParamSpec *pspec)
{
  GstCclJson *self = GST_CCL_JSON (object);
  const gchar *source;

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
  case PROP_EMPTY_FRAMES:
    PRIV (self)->empty_frames = g_value_get_boolean (value);
    break;
  case PROP_SOURCE:
    source = g_value_get_string (value);
    g_free (PRIV (self)->source);
    PRIV (self)->source = source ? g_utf8_make_valid (source, -1) : NULL;
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_json_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  GstCclJson *self = GST_CCL_JSON (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
  case PROP_EMPTY_FRAMES:
    g_value_set_boolean (value, PRIV (self)->empty_frames);
    break;
  case PROP_SOURCE:
    g_value_set_string (value, PRIV (self)->source);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_ccl_json_start (GstBaseTransform *trans)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  PRIV (self)->n_frames = 0;
  PRIV (self)->start = (GstClockTime) g_get_real_time () * GST_USECOND;
  PRIV (self)->live_known = FALSE;
  PRIV (self)->utc.known = FALSE;

  return TRUE;
}

static gboolean
gst_ccl_json_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  /* The source may be another one. */
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    PRIV (self)->live_known = FALSE;

  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* The caps of one pad do not depend on those of the other. */
static GstCaps *
gst_ccl_json_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                             GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;

  return gst_ccl_caps_filter (gst_pad_get_pad_template_caps (other), filter);
}

static gboolean
gst_ccl_json_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  return gst_ccl_caps_require_size (GST_ELEMENT (self), incaps, &PRIV (self)->width,
                                    &PRIV (self)->height);
}

/* Lines are allocated by the element. */
static gboolean
gst_ccl_json_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  return TRUE;
}

static gboolean
is_live (GstCclJson *self)
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

/* For frames read from a file, the running time has no relation to the time of day. */
static GstClockTime
get_utc (GstCclJson *self, GstBuffer *buffer, GstClockTime running_time)
{
  GstClockTime utc = gst_ccl_utc_from_reference (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (utc) && is_live (self))
    utc = gst_ccl_utc_from_clock (&PRIV (self)->utc, GST_ELEMENT (self), running_time);
  if (GST_CLOCK_TIME_IS_VALID (utc) || !GST_CCL_JSON_GET_CLASS (self)->needs_utc)
    return utc;

  if (GST_CLOCK_TIME_IS_VALID (running_time) && running_time < G_MAXINT64)
    return PRIV (self)->start + running_time;

  return (GstClockTime) g_get_real_time () * GST_USECOND;
}

/* The zones of @inbuf, in pixels of a frame of @width x @height. If they have another size, e.g.
 * because the frame was cropped after cclzones, they are copied to @scaled. */
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

static GstBuffer *
gst_ccl_json_write_line (GstCclJson *self, GstBuffer *inbuf, guint64 number, const gchar *source,
                         const GstCclMeta *meta, const GstCclRois *rois)
{
  const guint copied_flags =
      GST_BUFFER_FLAG_LIVE | GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC;
  GstCclFindings scaled = { FALSE };
  GstCclJsonFrame frame;
  GstBuffer *buffer;
  gboolean has_size;
  GString *line;
  gsize length;

  frame.source = source;
  frame.number = number;
  frame.timestamp = GST_BUFFER_PTS (inbuf);
  frame.duration = GST_BUFFER_DURATION (inbuf);
  gst_ccl_segment_get_times (&GST_BASE_TRANSFORM (self)->segment, frame.timestamp,
                             &frame.stream_time, &frame.running_time);
  frame.utc = get_utc (self, inbuf, frame.running_time);
  /* Metadata of others may have no size. */
  has_size = meta && meta->width > 0 && meta->height > 0;
  frame.width = has_size ? meta->width : PRIV (self)->width;
  frame.height = has_size ? meta->height : PRIV (self)->height;
  frame.found = meta ? (gint64) meta->found : -1;
  frame.frame_age = meta ? meta->frame_age : rois->frame_age;
  frame.n_components = meta ? meta->n_components : rois->n;
  frame.components = meta ? meta->components : rois->components;
  frame.zones = get_scaled_zones (inbuf, frame.width, frame.height, &scaled);

  line = GST_CCL_JSON_GET_CLASS (self)->write (&frame);
  gst_ccl_findings_clear (&scaled);
  length = line->len;
  buffer = gst_buffer_new_wrapped (g_string_free (line, FALSE), length);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_PTS (inbuf);
  GST_BUFFER_DTS (buffer) = GST_BUFFER_DTS (inbuf);
  GST_BUFFER_DURATION (buffer) = GST_BUFFER_DURATION (inbuf);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAGS (inbuf) & copied_flags);
  if (GST_CLOCK_TIME_IS_VALID (frame.utc))
    gst_buffer_add_reference_timestamp_meta (buffer, PRIV (self)->utc_caps, frame.utc,
                                             GST_CLOCK_TIME_NONE);

  return buffer;
}

/* Tells sinks not to wait for a line. */
static void
gst_ccl_json_push_gap (GstCclJson *self, GstBuffer *inbuf)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);

  if (trans->segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (inbuf))
    gst_pad_push_event (trans->srcpad,
                        gst_event_new_gap (GST_BUFFER_PTS (inbuf), GST_BUFFER_DURATION (inbuf)));
}

/* Outputs a line or a gap event instead of the frame. */
static GstFlowReturn
gst_ccl_json_generate_output (GstBaseTransform *trans, GstBuffer **outbuf)
{
  GstCclJson *self = GST_CCL_JSON (trans);
  GstBuffer *inbuf = g_steal_pointer (&trans->queued_buf);
  GstFlowReturn result = GST_FLOW_OK;
  GstCclFindings cropped = { FALSE };
  GstCclRois rois = { 0 };
  gboolean wanted;
  GstCclZonesMeta *zones;
  GstCclMeta *meta;
  guint64 number;
  gchar *source;

  *outbuf = NULL;
  if (!inbuf)
    return GST_FLOW_OK;

  number = PRIV (self)->n_frames++;
  GST_OBJECT_LOCK (self);
  wanted = PRIV (self)->empty_frames;
  source = g_strdup (PRIV (self)->source);
  GST_OBJECT_UNLOCK (self);

  meta = gst_buffer_get_ccl_meta (inbuf);
  if (!meta) {
    gst_ccl_rois_init (&rois, inbuf);
  } else if (meta->width != PRIV (self)->width || meta->height != PRIV (self)->height) {
    gst_ccl_findings_init (&cropped, inbuf, 0, 0);
    meta = &cropped.components;
  }

  zones = gst_buffer_get_ccl_zones_meta (inbuf);
  wanted |= (meta ? meta->n_components : rois.n) > 0 || (zones && zones->n_events > 0);
  if (wanted) {
    *outbuf = gst_ccl_json_write_line (self, inbuf, number, source, meta, &rois);
  } else {
    gst_ccl_json_push_gap (self, inbuf);
    result = GST_BASE_TRANSFORM_FLOW_DROPPED;
  }

  gst_ccl_rois_clear (&rois);
  g_free (source);
  gst_ccl_findings_clear (&cropped);
  gst_buffer_unref (inbuf);

  return result;
}
