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
 * * `timestamp`, `stream-time`, `running-time`, `duration`: of the frame, in nanoseconds, or null,
 * * `width`, `height`: the size of the frame,
 * * `found`: the number of components found in the frame, or null if unknown,
 * * `count`: the number of `components`; less than `found` if there were more than fit,
 * * `components`: an array of objects with
 *   * `label`, `x`, `y`, `width`, `height`, `area`: integers,
 *   * `centroid-x`, `centroid-y`: numbers with a decimal point, in pixel centres,
 *   * `track`, `age`: integers, the id of the object and how long it has been tracked, in
 *     nanoseconds; only after `ccltrack`, and only for objects that it tracks,
 *   * `velocity-x`, `velocity-y`: numbers with a decimal point, in pixels per second; with `track`.
 *
 * Numbers are exact: those with a decimal point have enough digits to restore the same double.
 * `docs/json.md` has the schema.
 *
 * Components are read from the frame's #GstCclMeta. If it has none, they are read from the regions
 * of interest that cudaccl attached, and `found` is null. For a frame with neither, which was not
 * analysed or had nothing found with `attach=roi`, `found` is null and `components` is empty.
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

#include <math.h>
#include <string.h>
#include <json-glib/json-glib.h>
#include <gst/video/video.h>
#include <gst/common/gstcclroi.h>
#include <gst/common/gstcclutils.h>
#include "gstccltransfer.h"

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

/* What a line says about a frame. Times are in nanoseconds or GST_CLOCK_TIME_NONE. */
typedef struct
{
  const gchar *source; /* UTF-8, or NULL */
  GstClockTime timestamp;
  GstClockTime stream_time;
  GstClockTime running_time;
  GstClockTime duration;
  guint width;
  guint height;
  gint64 found; /* -1 if unknown */
  guint n_components;
  const GstCclComponent *components;
} Frame;

struct _GstCclJson
{
  GstBaseTransform parent;

  /* Protected by the object lock. */
  gboolean empty_frames;
  gchar *source;

  /* Streaming thread: the size of the frames. */
  guint width;
  guint height;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SRC_CAPS));

#define gst_ccl_json_parent_class parent_class
G_DEFINE_TYPE (GstCclJson, gst_ccl_json, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (ccljson, "ccljson", GST_RANK_NONE, GST_TYPE_CCL_JSON)

static void gst_ccl_json_set_property (GObject *object, guint prop_id, const GValue *value,
                                       GParamSpec *pspec);
static void gst_ccl_json_get_property (GObject *object, guint prop_id, GValue *value,
                                       GParamSpec *pspec);
static void gst_ccl_json_finalize (GObject *object);

static GstCaps *gst_ccl_json_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                             GstCaps *caps, GstCaps *filter);
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
   * Write a line for frames without components too. If disabled, such frames become gap events.
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
   * Name of the source in each line, such as that of a camera. If unset, lines have no such member.
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

  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_propose_any_layout);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR (gst_ccl_json_decide_allocation);
  trans_class->generate_output = GST_DEBUG_FUNCPTR (gst_ccl_json_generate_output);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_json_debug, "ccljson", 0, "components as lines of JSON");
}

static void
gst_ccl_json_init (GstCclJson *self)
{
  self->empty_frames = DEFAULT_EMPTY_FRAMES;
  self->source = g_strdup (DEFAULT_SOURCE);

  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_ccl_json_finalize (GObject *object)
{
  GstCclJson *self = GST_CCL_JSON (object);

  g_free (self->source);

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
    self->empty_frames = g_value_get_boolean (value);
    break;
  case PROP_SOURCE:
    source = g_value_get_string (value);
    g_free (self->source);
    self->source = source ? g_utf8_make_valid (source, -1) : NULL;
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
    g_value_set_boolean (value, self->empty_frames);
    break;
  case PROP_SOURCE:
    g_value_set_string (value, self->source);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (self);
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

  return gst_ccl_caps_require_size (GST_ELEMENT (self), incaps, &self->width, &self->height);
}

/* Lines are allocated by the element. */
static gboolean
gst_ccl_json_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  return TRUE;
}

/* Values that do not fit json-glib's integers are GST_CLOCK_TIME_NONE and unknown. */
static void
add_uint64 (JsonBuilder *builder, const gchar *name, guint64 value)
{
  json_builder_set_member_name (builder, name);
  if (value <= G_MAXINT64)
    json_builder_add_int_value (builder, (gint64) value);
  else
    json_builder_add_null_value (builder);
}

/* JSON has no infinity or NaN. */
static void
add_double (JsonBuilder *builder, const gchar *name, gdouble value)
{
  json_builder_set_member_name (builder, name);
  if (isfinite (value))
    json_builder_add_double_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

static void
add_component (JsonBuilder *builder, const GstCclComponent *component)
{
  json_builder_begin_object (builder);
  add_uint64 (builder, "label", component->label);
  add_uint64 (builder, "x", component->x);
  add_uint64 (builder, "y", component->y);
  add_uint64 (builder, "width", component->width);
  add_uint64 (builder, "height", component->height);
  add_uint64 (builder, "area", component->area);
  add_double (builder, "centroid-x", component->centroid_x);
  add_double (builder, "centroid-y", component->centroid_y);
  if (component->track) {
    add_uint64 (builder, "track", component->track);
    add_uint64 (builder, "age", component->age);
    add_double (builder, "velocity-x", component->velocity_x);
    add_double (builder, "velocity-y", component->velocity_y);
  }
  json_builder_end_object (builder);
}

static JsonNode *
build_object (const Frame *frame)
{
  JsonBuilder *builder = json_builder_new ();
  JsonNode *root;
  guint i;

  json_builder_begin_object (builder);
  if (frame->source) {
    json_builder_set_member_name (builder, "source");
    json_builder_add_string_value (builder, frame->source);
  }
  add_uint64 (builder, "timestamp", frame->timestamp);
  add_uint64 (builder, "stream-time", frame->stream_time);
  add_uint64 (builder, "running-time", frame->running_time);
  add_uint64 (builder, "duration", frame->duration);
  add_uint64 (builder, "width", frame->width);
  add_uint64 (builder, "height", frame->height);
  add_uint64 (builder, "found", (guint64) frame->found);
  add_uint64 (builder, "count", frame->n_components);

  json_builder_set_member_name (builder, "components");
  json_builder_begin_array (builder);
  for (i = 0; i < frame->n_components; i++)
    add_component (builder, &frame->components[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  root = json_builder_get_root (builder);
  g_object_unref (builder);

  return root;
}

/* Appends the shortest text that restores the same number. */
static void
append_double (GString *line, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  guint digits;

  for (digits = 15; digits <= 17; digits++) {
    gchar format[8];

    g_snprintf (format, sizeof (format), "%%.%ug", digits);
    g_ascii_formatd (text, sizeof (text), format, value);
    if (g_ascii_strtod (text, NULL) == value)
      break;
  }

  g_string_append (line, text);
  if (!strpbrk (text, ".e"))
    g_string_append (line, ".0");
}

/* json-glib writes 0.1 as 0.10000000000000001, and 1e+22 as 1e+22.0, which is not even JSON. Copies
 * its text except for the numbers with a decimal point. */
static GString *
rewrite_doubles (const gchar *text)
{
  GString *line = g_string_sized_new (strlen (text) + 2);
  gboolean in_string = FALSE;

  while (*text) {
    gsize length = in_string ? 0 : strspn (text, "+-.0123456789eE");

    if (memchr (text, '.', length)) {
      append_double (line, g_ascii_strtod (text, NULL));
      text += length;
      continue;
    }

    if (*text == '"')
      in_string = !in_string;
    else if (*text == '\\' && text[1])
      g_string_append_c (line, *text++);
    g_string_append_c (line, *text++);
  }

  return line;
}

/* Returns an object and a newline. */
static GString *
write_frame (const Frame *frame)
{
  JsonGenerator *generator = json_generator_new ();
  JsonNode *root = build_object (frame);
  GString *line;
  gchar *text;

  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);
  line = rewrite_doubles (text);
  g_string_append_c (line, '\n');

  g_free (text);
  json_node_unref (root);
  g_object_unref (generator);

  return line;
}

static GstBuffer *
gst_ccl_json_write_line (GstCclJson *self, GstBuffer *inbuf, const gchar *source,
                         const GstCclMeta *meta, const GstCclRois *rois)
{
  const guint copied_flags =
      GST_BUFFER_FLAG_LIVE | GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC;
  Frame frame;
  GstBuffer *buffer;
  GString *line;
  gsize length;

  frame.source = source;
  frame.timestamp = GST_BUFFER_PTS (inbuf);
  frame.duration = GST_BUFFER_DURATION (inbuf);
  gst_ccl_segment_get_times (&GST_BASE_TRANSFORM (self)->segment, frame.timestamp,
                             &frame.stream_time, &frame.running_time);
  frame.width = meta ? meta->width : self->width;
  frame.height = meta ? meta->height : self->height;
  frame.found = meta ? (gint64) meta->found : -1;
  frame.n_components = meta ? meta->n_components : rois->n;
  frame.components = meta ? meta->components : rois->components;

  line = write_frame (&frame);
  length = line->len;
  buffer = gst_buffer_new_wrapped (g_string_free (line, FALSE), length);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_PTS (inbuf);
  GST_BUFFER_DTS (buffer) = GST_BUFFER_DTS (inbuf);
  GST_BUFFER_DURATION (buffer) = GST_BUFFER_DURATION (inbuf);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAGS (inbuf) & copied_flags);

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
  GstBuffer *inbuf = g_steal_pointer (&trans->queued_buf), *extracted = NULL;
  GstFlowReturn result = GST_FLOW_OK;
  GstCclRois rois = { 0, NULL, NULL };
  gboolean empty_frames;
  GstCclMeta *meta;
  gchar *source;

  *outbuf = NULL;
  if (!inbuf)
    return GST_FLOW_OK;

  GST_OBJECT_LOCK (self);
  empty_frames = self->empty_frames;
  source = g_strdup (self->source);
  GST_OBJECT_UNLOCK (self);

  meta = gst_buffer_get_ccl_meta (inbuf);
  if (!meta) {
    gst_ccl_rois_init (&rois, inbuf);
  } else if (meta->width != self->width || meta->height != self->height) {
    extracted = gst_ccl_transfer_extract (inbuf); /* may have been cropped */
    meta = gst_buffer_get_ccl_meta (extracted);
  }

  if (empty_frames || (meta ? meta->n_components : rois.n) > 0) {
    *outbuf = gst_ccl_json_write_line (self, inbuf, source, meta, &rois);
  } else {
    gst_ccl_json_push_gap (self, inbuf);
    result = GST_BASE_TRANSFORM_FLOW_DROPPED;
  }

  gst_ccl_rois_clear (&rois);
  g_free (source);
  gst_clear_buffer (&extracted);
  gst_buffer_unref (inbuf);

  return result;
}
