/* cudaccl - writes components, tracks and events as lines of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccljson
 * @title: ccljson
 * @short_description: writes components, tracks and events as lines of JSON
 *
 * Converts frames with metadata of `cudaccl` to lines of JSON: UTF-8 objects, each followed by a
 * newline. Each line is in a buffer with the timestamp and duration of its frame. They can be
 * written to files (`filesink`), to other programs (`fdsink`), or to a network (`tcpserversink`,
 * `udpsink`). Only the metadata of the frames is read; they may be in any memory.
 *
 * By default there is a line for each frame. It says when the frame was taken, and has the frame's
 * components with their tracks, and the events of `cclzones`. With #ccljson:lines there are lines
 * for tracks or events instead, or in addition: far fewer. [json.md](../json.md) describes all of
 * them, and has their schema. With #ccljson:schema, lines are like those of DeepStream or of Axis'
 * cameras, for programs that know these.
 *
 * Components are read from the frame's #GstCclMeta or, if it has none, from the regions of interest
 * that `cudaccl` attached.
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
 * |[
 * gst-launch-1.0 -q v4l2src ! cclmotion min-area=500 ! ccltrack !
 * cclzones tripwires="door: 0.4,0.9 0.6,0.9" ! ccljson lines=events ! fdsink
 * ]|
 * Prints a line whenever somebody crosses the tripwire.
 *
 * Since: 0.1
 */

#include "gstccljson.h"

#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclregister.h>

#include "gstccljsonforeign.h"
#include "gstccljsonwriter.h"
#include "gstccltracklog.h"

struct _GstCclJson
{
  GstCclReport parent;

  /* Protected by the object lock. */
  GstCclJsonLines lines;
  GstCclJsonSchema schema;

  /* Streaming thread. */
  GstCclJsonSchema now; /* schema, fixed at start */
  gchar *session;
  guint64 n_lines;
  GHashTable *tracks; /* log of tracks that have not ended */
  gboolean warned;    /* warned of too many tracks */
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS ("application/x-json, format=(string){ cudaccl, "
                                              "deepstream-minimal, axis }"));

#define gst_ccl_json_parent_class parent_class
G_DEFINE_TYPE (GstCclJson, gst_ccl_json, GST_TYPE_CCL_REPORT)
GST_CCL_REGISTER_DEFINE (ccljson, GST_TYPE_CCL_JSON)

#define GST_TYPE_CCL_JSON_LINES (gst_ccl_json_lines_get_type ())

static GType
gst_ccl_json_lines_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CCL_JSON_FRAMES, "A line for each frame, with its components and events", "frames" },
    { GST_CCL_JSON_TRACKS, "A line for each track that has ended", "tracks" },
    { GST_CCL_JSON_EVENTS, "A line for each event of cclzones", "events" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_flags (&type, "GstCclJsonLines", values);
}

#define GST_TYPE_CCL_JSON_SCHEMA (gst_ccl_json_schema_get_type ())

/* In the order of GstCclJsonSchema. */
static const GEnumValue schemas[] = {
  { GST_CCL_JSON_CUDACCL, "All that is known", "cudaccl" },
  { GST_CCL_JSON_DEEPSTREAM_MINIMAL, "Frames, in DeepStream's minimal schema",
    "deepstream-minimal" },
  { GST_CCL_JSON_AXIS, "Frames and tracks, in Axis' Analytics Data Format", "axis" },
  { 0, NULL, NULL },
};

static GType
gst_ccl_json_schema_get_type (void)
{
  static GType type = 0;

  return gst_ccl_register_enum (&type, "GstCclJsonSchema", schemas);
}

static void
gst_ccl_json_finalize (GObject *object)
{
  GstCclJson *self = GST_CCL_JSON (object);

  g_free (self->session);
  g_hash_table_unref (self->tracks);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static GstCclJsonLines
get_lines (GstCclJson *self)
{
  GstCclJsonLines lines;

  GST_OBJECT_LOCK (self);
  lines = self->lines;
  GST_OBJECT_UNLOCK (self);

  return lines;
}

static GstCclJsonSchema
get_schema (GstCclJson *self)
{
  GstCclJsonSchema schema;

  GST_OBJECT_LOCK (self);
  schema = self->schema;
  GST_OBJECT_UNLOCK (self);

  return schema;
}

static gboolean
gst_ccl_json_start (GstBaseTransform *trans)
{
  /* Lines that each schema has, by GstCclJsonSchema. */
  static const GstCclJsonLines known[] = {
    GST_CCL_JSON_FRAMES | GST_CCL_JSON_TRACKS | GST_CCL_JSON_EVENTS,
    GST_CCL_JSON_FRAMES,
    GST_CCL_JSON_FRAMES | GST_CCL_JSON_TRACKS,
  };
  GstCclJson *self = GST_CCL_JSON (trans);

  g_free (self->session);
  self->session = g_uuid_string_random ();
  self->n_lines = 0;
  self->warned = FALSE;
  g_hash_table_remove_all (self->tracks);
  self->now = get_schema (self);
  gst_ccl_report_set_needs_utc (GST_CCL_REPORT (self), self->now != GST_CCL_JSON_CUDACCL);
  if (!(get_lines (self) & known[self->now])) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
                       ("schema=%s has no lines of this kind: set lines=%s.",
                        schemas[self->now].value_nick,
                        self->now == GST_CCL_JSON_AXIS ? "frames or lines=tracks" : "frames"),
                       (NULL));
    return FALSE;
  }

  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static GstCaps *
gst_ccl_json_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                             GstCaps *filter)
{
  GstCaps *own,
      *result =
          GST_BASE_TRANSFORM_CLASS (parent_class)->transform_caps (trans, direction, caps, filter);

  if (direction == GST_PAD_SRC)
    return result;
  own = gst_caps_new_simple ("application/x-json", "format", G_TYPE_STRING,
                             schemas[get_schema (GST_CCL_JSON (trans))].value_nick, NULL);
  gst_caps_take (&result, gst_caps_intersect (result, own));
  gst_caps_unref (own);

  return result;
}

/* Returns the id of the next line. */
static GstCclJsonId
take_id (GstCclJson *self, const gchar *source)
{
  GstCclJsonId id = { source, self->session, self->n_lines++ };

  return id;
}

/* Writes the tracks that have ended at @time; GST_CLOCK_TIME_NONE: all. */
static void
write_tracks (GstCclJson *self, const gchar *source, GstClockTime time)
{
  GArray *ended = gst_ccl_track_log_take_ended (self->tracks, time);
  guint i;

  for (i = 0; i < ended->len; i++) {
    const GstCclTrackRecord *record = &g_array_index (ended, GstCclTrackRecord, i);
    GstCclJsonId id = take_id (self, source);

    gst_ccl_report_take_text (GST_CCL_REPORT (self),
                              self->now == GST_CCL_JSON_AXIS
                                  ? gst_ccl_json_write_axis_track (self->session, record)
                                  : gst_ccl_json_write_track (&id, record));
  }
  g_array_unref (ended);
}

static void
gst_ccl_json_finish (GstCclFilter *filter)
{
  GstCclJson *self = GST_CCL_JSON (filter);
  gchar *source;

  g_object_get (self, "source", &source, NULL);
  write_tracks (self, source, GST_CLOCK_TIME_NONE);
  gst_ccl_report_push (GST_CCL_REPORT (self));
  g_free (source);
}

static void
log_tracks (GstCclJson *self, GstBuffer *buffer, const GstCclReportFrame *frame)
{
  GstClockTime time = gst_ccl_filter_advance (GST_CCL_FILTER (self), buffer);

  if (!gst_ccl_track_log_add (self->tracks, frame, time) && !self->warned) {
    self->warned = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
                         ("There are too many tracks: some will have no line."), (NULL));
  }
  write_tracks (self, frame->source, time);
}

static GString *
write_frame (GstCclJson *self, const GstCclReportFrame *frame)
{
  GstCclJsonId id = take_id (self, frame->source);

  switch (self->now) {
  case GST_CCL_JSON_DEEPSTREAM_MINIMAL:
    return gst_ccl_json_write_deepstream (frame);
  case GST_CCL_JSON_AXIS:
    return gst_ccl_json_write_axis_frame (self->session, frame);
  default:
    return gst_ccl_json_write_frame (&id, frame);
  }
}

static void
gst_ccl_json_write (GstCclReport *report, GstBuffer *buffer, const GstCclReportFrame *frame,
                    gboolean wanted)
{
  GstCclJson *self = GST_CCL_JSON (report);
  const GstCclJsonLines lines = get_lines (self);
  GstCclJsonId id;
  guint i;

  if (wanted && (lines & GST_CCL_JSON_FRAMES))
    gst_ccl_report_take_text (report, write_frame (self, frame));
  if ((lines & GST_CCL_JSON_EVENTS) && self->now == GST_CCL_JSON_CUDACCL) {
    for (i = 0; frame->zones && i < frame->zones->n_events; i++) {
      id = take_id (self, frame->source);
      gst_ccl_report_take_text (report, gst_ccl_json_write_event (&id, frame, i));
    }
  }
  if ((lines & GST_CCL_JSON_TRACKS) && self->now != GST_CCL_JSON_DEEPSTREAM_MINIMAL)
    log_tracks (self, buffer, frame);
  else
    g_hash_table_remove_all (self->tracks);
}

static void
gst_ccl_json_class_init (GstCclJsonClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCclFilterClass *filter_class = GST_CCL_FILTER_CLASS (klass);
  GstCclReportClass *report_class = GST_CCL_REPORT_CLASS (klass);

  gobject_class->finalize = gst_ccl_json_finalize;

  /**
   * ccljson:lines:
   *
   * Which lines to write. A track ends when its object has not been found for 2 seconds, or when
   * the stream ends. The lines of frames contain their events, even if these have lines of their
   * own.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclJson, lines),
                              g_param_spec_flags ("lines", "Lines", "Which lines to write.",
                                                  GST_TYPE_CCL_JSON_LINES, GST_CCL_JSON_FRAMES,
                                                  GST_CCL_PLAYING));

  /**
   * ccljson:schema:
   *
   * What the lines are like. Frames without time of day then get one as in `cclonvif`, unless it is
   * `cudaccl`. Kinds of #ccljson:lines that a schema does not know have no lines.
   *
   * Since: 0.2
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclJson, schema),
                              g_param_spec_enum ("schema", "Schema", "What the lines are like.",
                                                 GST_TYPE_CCL_JSON_SCHEMA, GST_CCL_JSON_CUDACCL,
                                                 GST_CCL_READY));

  gst_element_class_set_static_metadata (
      element_class, "Components as JSON", "Converter/Video",
      "Writes the components, tracks and events of video frames as lines of JSON",
      "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_json_start);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_transform_caps);

  filter_class->finish = GST_DEBUG_FUNCPTR (gst_ccl_json_finish);

  report_class->write = gst_ccl_json_write;
}

static void
gst_ccl_json_init (GstCclJson *self)
{
  self->tracks = gst_ccl_track_log_new ();
}
