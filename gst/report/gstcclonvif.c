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
 * store and draw it. Only the metadata of the frames is read; they may be in any memory.
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
 *   1, from left to right and from bottom to top, with six digits,
 * * `tt:Class` has the object's class as one of ONVIF's types (`Human`, `Vehicle`, `Bicycle`,
 *   `Animal` and so on), whichever of their usual names a detector has for it, with the confidence
 *   as `Likelihood`; `tt:VehicleInfo` says `Car`, `Truck`, `Bus`, `Motorcycle` or `Bicycle`.
 * Classes that ONVIF has no name for keep their own.
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

#include "gstccljsonwriter.h"
#include "gstcclonviftypes.h"

struct _GstCclOnvif
{
  GstCclReport parent;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-onvif-metadata, encoding=(string)utf8, parsed=(boolean)true"));

G_DEFINE_TYPE (GstCclOnvif, gst_ccl_onvif, GST_TYPE_CCL_REPORT)
GST_ELEMENT_REGISTER_DEFINE (cclonvif, "cclonvif", GST_RANK_NONE, GST_TYPE_CCL_ONVIF)

static void
append_attribute (GString *xml, const gchar *name, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  /* The schema's numbers have single precision. Other elements may attach numbers beyond it. */
  value = isnan (value) ? 0.0 : CLAMP (value, -G_MAXFLOAT, G_MAXFLOAT);
  g_ascii_formatd (text, sizeof (text), "%.6g", value);
  g_string_append_printf (xml, " %s=\"%s\"", name, text);
}

/* Convert from pixels to -1...1, from left to right and from bottom to top. */
static gdouble
normalize_x (const GstCclReportFrame *frame, gdouble x)
{
  return 2.0 * x / frame->width - 1.0;
}

static gdouble
normalize_y (const GstCclReportFrame *frame, gdouble y)
{
  return 1.0 - 2.0 * y / frame->height;
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

/* Appends a type with its likelihood, unless that is not known. */
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
append_object (GString *xml, const GstCclReportFrame *frame, const GstCclComponent *component)
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
  append_attribute (xml, "bottom", normalize_y (frame, bottom));
  append_attribute (xml, "top", normalize_y (frame, component->y));
  append_attribute (xml, "right", normalize_x (frame, right));
  append_attribute (xml, "left", normalize_x (frame, component->x));
  g_string_append (xml, "/><tt:CenterOfGravity");
  /* The centre of the first pixel is at 0. */
  append_attribute (xml, "x", normalize_x (frame, component->centroid_x + 0.5));
  append_attribute (xml, "y", normalize_y (frame, component->centroid_y + 0.5));
  g_string_append (xml, "/></tt:Shape>");
  if (name)
    append_class (xml, name, component->confidence);
  g_string_append (xml, "</tt:Appearance></tt:Object>");
}

static void
gst_ccl_onvif_write (GstCclReport *report, GstBuffer *buffer, const GstCclReportFrame *frame,
                     gboolean wanted)
{
  GString *xml;
  guint i;

  if (!wanted)
    return;

  xml = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><tt:MetadataStream "
                      "xmlns:tt=\"http://www.onvif.org/ver10/schema\">"
                      "<tt:VideoAnalytics><tt:Frame UtcTime=");
  gst_ccl_json_append_utc (xml, frame->utc);
  if (frame->source) {
    gchar *escaped = escape (frame->source);

    g_string_append_printf (xml, " Source=\"%s\"", escaped);
    g_free (escaped);
  }
  g_string_append_c (xml, '>');
  for (i = 0; i < frame->n_components; i++)
    append_object (xml, frame, &frame->components[i]);
  g_string_append (xml, "</tt:Frame></tt:VideoAnalytics></tt:MetadataStream>\n");

  gst_ccl_report_take_text (report, xml);
}

static void
gst_ccl_onvif_class_init (GstCclOnvifClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCclReportClass *report_class = GST_CCL_REPORT_CLASS (klass);

  gst_element_class_set_static_metadata (
      element_class, "Components as ONVIF metadata", "Converter/Video",
      "Writes the components of video frames as ONVIF metadata", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &src_template);

  report_class->write = gst_ccl_onvif_write;
  report_class->needs_utc = TRUE;
}

static void
gst_ccl_onvif_init (GstCclOnvif *self)
{
}
