/* cudaccl - a frame's components as ONVIF metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclonvifwriter.h"

#include <math.h>
#include <string.h>

static void
append_attribute (GString *xml, const gchar *name, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  /* The schema has numbers of single precision. What other elements make up may not be one. */
  value = isnan (value) ? 0.0 : CLAMP (value, -G_MAXFLOAT, G_MAXFLOAT);
  g_ascii_formatd (text, sizeof (text), "%.6g", value);
  g_string_append_printf (xml, " %s=\"%s\"", name, text);
}

/* From pixels to -1...1, from left to right and from bottom to top. */
static gdouble
normalize_x (const GstCclJsonFrame *frame, gdouble x)
{
  return 2.0 * x / frame->width - 1.0;
}

static gdouble
normalize_y (const GstCclJsonFrame *frame, gdouble y)
{
  return 1.0 - 2.0 * y / frame->height;
}

static void
append_object (GString *xml, const GstCclJsonFrame *frame, const GstCclComponent *component)
{
  gdouble right = (gdouble) component->x + component->width;
  gdouble bottom = (gdouble) component->y + component->height;

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
  g_string_append (xml, "/></tt:Shape></tt:Appearance></tt:Object>");
}

/* XML has no way to write most control characters, and two noncharacters. */
static void
append_source (GString *xml, const gchar *source)
{
  gchar *valid = g_utf8_make_valid (source, -1), *s, *escaped;

  for (s = valid; *s; s = g_utf8_next_char (s)) {
    gunichar c = g_utf8_get_char (s);

    if (c < 0x20 || c == 0x7f)
      *s = ' ';
    else if (c == 0xfffe || c == 0xffff)
      memset (s, ' ', 3);
  }
  escaped = g_markup_escape_text (valid, -1);
  g_string_append_printf (xml, " Source=\"%s\"", escaped);
  g_free (escaped);
  g_free (valid);
}

GString *
gst_ccl_onvif_write_frame (const GstCclJsonFrame *frame)
{
  GString *xml = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                               "<tt:MetadataStream "
                               "xmlns:tt=\"http://www.onvif.org/ver10/schema\">"
                               "<tt:VideoAnalytics><tt:Frame UtcTime=");
  guint i;

  gst_ccl_json_append_utc (xml, frame->utc);
  if (frame->source)
    append_source (xml, frame->source);
  g_string_append_c (xml, '>');
  for (i = 0; i < frame->n_components; i++)
    append_object (xml, frame, &frame->components[i]);
  g_string_append (xml, "</tt:Frame></tt:VideoAnalytics></tt:MetadataStream>\n");

  return xml;
}
