/* cudaccl - writes the components of frames as ONVIF metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclonvif
 * @title: cclonvif
 * @short_description: writes the components of frames as ONVIF metadata
 *
 * Converts frames with metadata of `cudaccl` to the XML that video management systems read: a
 * document `tt:MetadataStream` of the ONVIF schema (Analytics Service Specification) for each
 * frame, in a buffer with the timestamp and duration of the frame. GStreamer's ONVIF elements send,
 * store and draw it; `cudaccl-watch` [serves it](../watch.md#onvif). Only the metadata of the
 * frames is read; they may be in any memory.
 *
 * ## Documents
 *
 * A document has a `tt:VideoAnalytics` with one `tt:Frame`:
 *
 * * its `UtcTime` is the frame's time of day, found [as by `ccljson`](../json.md#time-of-day). If
 *   there is none, as when a file is read, it is the time at which the element started plus the
 *   running time,
 * * its `Source` is the property #ccljson:source,
 * * it has a `tt:Object` for each component, whose `ObjectId` is the id of `ccltrack`. Without
 *   `ccltrack` objects have no id, and clients cannot follow them from frame to frame,
 * * `tt:BoundingBox` and `tt:CenterOfGravity` are in the frame's normalised coordinates, from -1 to
 *   1, from left to right and from bottom to top, with six digits; with `coordinates=pixels` in
 *   pixels from the top left corner, with a `tt:Transformation` to the former,
 * * `tt:Class` has the object's class as one of ONVIF's types (`Human`, `Vehicle`, `Bicycle`,
 *   `Animal` and so on), whichever of their usual names a detector has for it, with the confidence
 *   as `Likelihood`; `tt:VehicleInfo` says `Car`, `Truck`, `Bus`, `Motorcycle` or `Bicycle`.
 *
 * Classes that ONVIF has no name for keep their own.
 *
 * Behind that is a `tt:Event`, if there are events of `cclzones`, with a `wsnt:NotificationMessage`
 * for each:
 *
 * | event | topic, in `tns1:RuleEngine` | data |
 * |---|---|---|
 * | `in`, `out` | `LineDetector/Crossed` | `ObjectId`, `Direction` (`in` or `out`) |
 * | `in`, `out` | `CountAggregation/Counter` | `Count` of that direction |
 * | `enter`, `leave` | `FieldDetector/ObjectsInside` | `IsInside`; the key is `ObjectId` |
 * | `dwell` | `LoiteringDetector/ObjectIsLoitering` | `Since`, when it entered; the same key |
 * | `stopped` | `LoiteringDetector/ObjectIsLoitering` | `Since`, when it stopped; the same key |
 * | `left` | `AbandonedObject/Object` | `Since`, when it was put down; the same key |
 * | `removed` | `MissingObject/Object` | `Since`, when it was taken away; the same key |
 *
 * ONVIF's Analytics Service Specification has no rules for what was left or removed.
 * `AbandonedObject` and `MissingObject` are names that makers of cameras use.
 *
 * The rule of a counter is the name of the tripwire and `/in` or `/out`.
 * The others have the name of the zone or tripwire. `UtcTime` is that of the event, and
 * `VideoSourceConfigurationToken` and `VideoAnalyticsConfigurationToken` are #ccljson:source, or
 * `0`. `ClassTypes` has the class of the object, if it has one.
 *
 * Clients find the frame of the video by `UtcTime`, so both must use the same clock. The buffer has
 * this time as #GstReferenceTimestampMeta with the caps `timestamp/x-unix`.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! cudaccl !
 * ccltrack ! cclonvif ! fdsink
 * ]|
 * Prints the documents.
 * |[
 * gst-launch-1.0 rtspsrc location=rtsp://CAMERA/stream add-reference-timestamp-meta=true !
 * application/x-rtp,media=video ! decodebin ! videoconvert ! segmentation test-mode=true !
 * videoconvert ! video/x-raw,format=GRAY8 ! cudaccl min-area=100 ! ccltrack !
 * cclonvif source=gate ! rtponvifmetadatapay ! udpsink host=VMS port=5000
 * ]|
 * Sends the objects to a video management system, as RTP with the camera's own time.
 * `rtponvifmetadatapay` is in GStreamer's plugin `rsonvif` (gst-plugins-rs). In a server of
 * `gst-rtsp-server`, name it `pay1` beside the video's `pay0`.
 *
 * Since: 0.1
 */

#include "gstcclonvif.h"

#include <math.h>
#include <string.h>
#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclregister.h>

#include "gstccljsonwriter.h"
#include "gstcclonviftypes.h"

/* The coordinate system. */
typedef enum
{
  GST_CCL_ONVIF_NORMALIZED,
  GST_CCL_ONVIF_PIXELS,
} GstCclOnvifCoordinates;

struct _GstCclOnvif
{
  GstCclReport parent;

  /* Protected by the object lock. */
  GstCclOnvifCoordinates coordinates;
};

/* Maps pixels of a frame to coordinates: @scale * pixels + @offset. */
typedef struct
{
  gdouble x_scale, x_offset;
  gdouble y_scale, y_offset;
} Coordinates;

#define GST_TYPE_CCL_ONVIF_COORDINATES (gst_ccl_onvif_coordinates_get_type ())

static GType
gst_ccl_onvif_coordinates_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_ONVIF_NORMALIZED, "From -1 to 1, from left to right and from bottom to top",
      "normalized" },
    { GST_CCL_ONVIF_PIXELS, "Pixels from the top left corner, with a tt:Transformation", "pixels" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCclOnvifCoordinates", values);
}

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-onvif-metadata, encoding=(string)utf8, parsed=(boolean)true"));

G_DEFINE_TYPE (GstCclOnvif, gst_ccl_onvif, GST_TYPE_CCL_REPORT)
GST_CCL_REGISTER_DEFINE (cclonvif, GST_TYPE_CCL_ONVIF)

static void
append_attribute (GString *xml, const gchar *name, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  /* The schema's numbers have single precision, which metadata of other elements may exceed. */
  value = isnan (value) ? 0.0 : CLAMP (value, -G_MAXFLOAT, G_MAXFLOAT);
  g_ascii_formatd (text, sizeof (text), "%.6g", value);
  g_string_append_printf (xml, " %s=\"%s\"", name, text);
}

static gdouble
map_x (const Coordinates *coordinates, gdouble x)
{
  return coordinates->x_scale * x + coordinates->x_offset;
}

static gdouble
map_y (const Coordinates *coordinates, gdouble y)
{
  return coordinates->y_scale * y + coordinates->y_offset;
}

/* XML cannot represent most control characters and two noncharacters. */
static gchar *
escape (const gchar *text)
{
  gchar *valid = g_utf8_make_valid (text, -1), *s, *escaped;

  for (s = valid; *s; s = g_utf8_next_char (s)) {
    gunichar c = g_utf8_get_char (s);

    if (c < 0x20 || c == 0x7f)
      *s = ' ';
    else if (c == 0xfffe || c == 0xffff)
      memset (s, ' ', 3);
  }
  escaped = g_markup_escape_text (valid, -1);
  g_free (valid);

  return escaped;
}

/* Appends a type, with its likelihood if known. */
static void
append_type (GString *xml, const gchar *type, gdouble likelihood)
{
  gchar *escaped = escape (type);

  g_string_append (xml, "<tt:Type");
  if (likelihood > 0.0)
    append_attribute (xml, "Likelihood", MIN (likelihood, 1.0));
  g_string_append_printf (xml, ">%s</tt:Type>", escaped);
  g_free (escaped);
}

static void
append_class (GString *xml, const gchar *name, gdouble confidence)
{
  const gchar *vehicle, *type = gst_ccl_onvif_find_type (name, &vehicle);

  g_string_append (xml, "<tt:Class>");
  append_type (xml, type, confidence);
  g_string_append (xml, "</tt:Class>");
  if (vehicle) {
    g_string_append (xml, "<tt:VehicleInfo>");
    append_type (xml, vehicle, confidence);
    g_string_append (xml, "</tt:VehicleInfo>");
  }
}

static void
append_object (GString *xml, const GstCclReportFrame *frame, const Coordinates *coordinates,
               const GstCclComponent *component)
{
  gdouble right = (gdouble) component->x + component->width;
  gdouble bottom = (gdouble) component->y + component->height;
  const gchar *name = frame->class_names
                          ? gst_ccl_class_names_get_name (frame->class_names, component->class_id)
                          : NULL;

  g_string_append (xml, "<tt:Object");
  if (component->track)
    g_string_append_printf (xml, " ObjectId=\"%u\"", component->track);
  g_string_append (xml, "><tt:Appearance><tt:Shape><tt:BoundingBox");
  append_attribute (xml, "bottom", map_y (coordinates, bottom));
  append_attribute (xml, "top", map_y (coordinates, component->y));
  append_attribute (xml, "right", map_x (coordinates, right));
  append_attribute (xml, "left", map_x (coordinates, component->x));
  g_string_append (xml, "/><tt:CenterOfGravity");
  /* The centre of the first pixel is at 0. */
  append_attribute (xml, "x", map_x (coordinates, component->centroid_x + 0.5));
  append_attribute (xml, "y", map_y (coordinates, component->centroid_y + 0.5));
  g_string_append (xml, "/></tt:Shape>");
  if (name)
    append_class (xml, name, component->confidence);
  g_string_append (xml, "</tt:Appearance></tt:Object>");
}

static void
append_item (GString *xml, const gchar *name, const gchar *value)
{
  gchar *escaped = escape (value);

  g_string_append_printf (xml, "<tt:SimpleItem Name=\"%s\" Value=\"%s\"/>", name, escaped);
  g_free (escaped);
}

static void
append_number_item (GString *xml, const gchar *name, guint64 value)
{
  g_string_append_printf (xml, "<tt:SimpleItem Name=\"%s\" Value=\"%" G_GUINT64_FORMAT "\"/>", name,
                          value);
}

/* Returns the time @age nanoseconds before the frame, or that of the frame if the time is out of
 * range, as with metadata of other elements. */
static GstClockTime
time_before (const GstCclReportFrame *frame, gdouble age)
{
  const gdouble time = frame->utc - age;

  return time >= 0.0 && time < 0x1p63 ? frame->utc - (gint64) age : frame->utc;
}

/* Begins a message of @rule about @event, up to the end of its source. */
static void
begin_message (GString *xml, const GstCclReportFrame *frame, const GstCclZoneEvent *event,
               const gchar *topic, const gchar *rule, gboolean property)
{
  const gchar *source = frame->source ? frame->source : "0";

  g_string_append_printf (
      xml,
      "<wsnt:NotificationMessage><wsnt:Topic Dialect=\"http://www.onvif.org/ver10/tev/"
      "topicExpression/ConcreteSet\">tns1:RuleEngine/%s</wsnt:Topic><wsnt:Message><tt:Message "
      "UtcTime=",
      topic);
  gst_ccl_json_append_utc (xml, time_before (frame, event->frame_age));
  if (property)
    g_string_append (xml, " PropertyOperation=\"Changed\"");
  g_string_append (xml, "><tt:Source>");
  append_item (xml, "VideoSourceConfigurationToken", source);
  append_item (xml, "VideoAnalyticsConfigurationToken", source);
  append_item (xml, "Rule", rule);
  g_string_append (xml, "</tt:Source>");
}

static void
end_message (GString *xml)
{
  g_string_append (xml, "</tt:Data></tt:Message></wsnt:Message></wsnt:NotificationMessage>");
}

static void
append_event (GString *xml, const GstCclReportFrame *frame, const GstCclZoneEvent *event)
{
  static const gchar *const topics[] = {
    [GST_CCL_ZONE_ENTER] = "FieldDetector/ObjectsInside",
    [GST_CCL_ZONE_LEAVE] = "FieldDetector/ObjectsInside",
    [GST_CCL_ZONE_DWELL] = "LoiteringDetector/ObjectIsLoitering",
    [GST_CCL_ZONE_IN] = "LineDetector/Crossed",
    [GST_CCL_ZONE_OUT] = "LineDetector/Crossed",
    [GST_CCL_ZONE_STOPPED] = "LoiteringDetector/ObjectIsLoitering",
    [GST_CCL_ZONE_LEFT] = "AbandonedObject/Object",
    [GST_CCL_ZONE_REMOVED] = "MissingObject/Object",
  };
  const gboolean tripwire = event->type == GST_CCL_ZONE_IN || event->type == GST_CCL_ZONE_OUT;
  const GstCclZone *zone = gst_ccl_zones_meta_get_zone (frame->zones, event->zone);
  const gchar *rule = zone && zone->name ? zone->name : "";
  const gchar *name = gst_ccl_zones_meta_get_class_name (frame->zones, event->class_id);
  const gchar *direction = gst_ccl_zone_event_type_get_name (event->type);

  if (!direction)
    return;

  begin_message (xml, frame, event, topics[event->type], rule, !tripwire);
  if (!tripwire) {
    g_string_append (xml, "<tt:Key>");
    append_number_item (xml, "ObjectId", event->track);
    g_string_append (xml, "</tt:Key>");
  }
  g_string_append (xml, "<tt:Data>");
  if (tripwire) {
    append_number_item (xml, "ObjectId", event->track);
    append_item (xml, "Direction", direction);
  } else if (event->type == GST_CCL_ZONE_DWELL || event->type >= GST_CCL_ZONE_STOPPED) {
    g_string_append (xml, "<tt:SimpleItem Name=\"Since\" Value=");
    gst_ccl_json_append_utc (xml, time_before (frame, (gdouble) event->frame_age + event->dwell));
    g_string_append (xml, "/>");
  } else {
    append_item (xml, "IsInside", event->type == GST_CCL_ZONE_ENTER ? "true" : "false");
  }
  if (name) {
    const gchar *vehicle;

    append_item (xml, "ClassTypes", gst_ccl_onvif_find_type (name, &vehicle));
  }
  end_message (xml);

  if (tripwire) {
    gchar *counter = g_strconcat (rule, "/", direction, NULL);

    begin_message (xml, frame, event, "CountAggregation/Counter", counter, TRUE);
    g_string_append (xml, "<tt:Data>");
    append_number_item (xml, "Count", event->type == GST_CCL_ZONE_IN ? event->in : event->out);
    end_message (xml);
    g_free (counter);
  }
}

static void
gst_ccl_onvif_write (GstCclReport *report, GstBuffer *buffer, const GstCclReportFrame *frame,
                     gboolean wanted)
{
  GstCclOnvif *self = GST_CCL_ONVIF (report);
  const guint n_events = frame->zones ? frame->zones->n_events : 0;
  Coordinates coordinates = { 2.0 / frame->width, -1.0, -2.0 / frame->height, 1.0 };
  gboolean pixels;
  GString *xml;
  guint i;

  if (!wanted)
    return;

  GST_OBJECT_LOCK (self);
  pixels = self->coordinates == GST_CCL_ONVIF_PIXELS;
  GST_OBJECT_UNLOCK (self);

  xml = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><tt:MetadataStream "
                      "xmlns:tt=\"http://www.onvif.org/ver10/schema\"");
  if (n_events)
    g_string_append (xml, " xmlns:wsnt=\"http://docs.oasis-open.org/wsn/b-2\" "
                          "xmlns:tns1=\"http://www.onvif.org/ver10/topics\"");
  g_string_append (xml, "><tt:VideoAnalytics><tt:Frame UtcTime=");
  gst_ccl_json_append_utc (xml, frame->utc);
  if (frame->source) {
    gchar *escaped = escape (frame->source);

    g_string_append_printf (xml, " Source=\"%s\"", escaped);
    g_free (escaped);
  }
  g_string_append_c (xml, '>');
  if (pixels) {
    g_string_append (xml, "<tt:Transformation><tt:Translate");
    append_attribute (xml, "x", coordinates.x_offset);
    append_attribute (xml, "y", coordinates.y_offset);
    g_string_append (xml, "/><tt:Scale");
    append_attribute (xml, "x", coordinates.x_scale);
    append_attribute (xml, "y", coordinates.y_scale);
    g_string_append (xml, "/></tt:Transformation>");
    coordinates = (Coordinates){ 1.0, 0.0, 1.0, 0.0 };
  }
  for (i = 0; i < frame->n_components; i++)
    append_object (xml, frame, &coordinates, &frame->components[i]);
  g_string_append (xml, "</tt:Frame></tt:VideoAnalytics>");
  if (n_events) {
    g_string_append (xml, "<tt:Event>");
    for (i = 0; i < n_events; i++)
      append_event (xml, frame, &frame->zones->events[i]);
    g_string_append (xml, "</tt:Event>");
  }
  g_string_append (xml, "</tt:MetadataStream>\n");

  gst_ccl_report_take_text (report, xml);
}

static void
gst_ccl_onvif_class_init (GstCclOnvifClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCclReportClass *report_class = GST_CCL_REPORT_CLASS (klass);

  /**
   * cclonvif:coordinates:
   *
   * Where coordinates count from.
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclOnvif, coordinates),
                              g_param_spec_enum ("coordinates", "Coordinates",
                                                 "Where coordinates count from.",
                                                 GST_TYPE_CCL_ONVIF_COORDINATES,
                                                 GST_CCL_ONVIF_NORMALIZED, GST_CCL_PLAYING));

  gst_element_class_set_static_metadata (
      element_class, "Components as ONVIF metadata", "Converter/Video",
      "Writes the components of video frames as ONVIF metadata", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &src_template);

  report_class->write = gst_ccl_onvif_write;
}

static void
gst_ccl_onvif_init (GstCclOnvif *self)
{
  gst_ccl_report_set_needs_utc (GST_CCL_REPORT (self), TRUE);
}
