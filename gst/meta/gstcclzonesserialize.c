/* cudaccl - serialisation of GstCclZonesMeta
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Version 3, or 2 if nothing stands, which programs with 0.1 read. See gstcclbytes.h for numbers.
 *
 *   width, height
 *   the names of classes, see gst_ccl_put_names() (not in version 1)
 *   n_zones
 *   for each zone:
 *     a byte of flags
 *     length of the name, and its bytes
 *     FLAG_COLOR: color
 *     n_points
 *     x and y of each point: doubles; with FLAG_WHOLE, signed differences from the
 *       previous point
 *     in, out, inside
 *   n_events
 *   for each event:
 *     a byte: the type, from GST_CCL_ZONE_STOPPED on only in version 3, and flags
 *     zone, track
 *     FLAG_DWELL: dwell
 *     x and y, doubles
 *     in, out, inside
 *     FLAG_AGE: frame_age, signed
 *     FLAG_CLASS: class_id (not in version 1) */

#include <gst/ccl/gstcclzonesmeta.h>

#include "gstcclbytes.h"

#if GST_CHECK_VERSION(1, 24, 0)

#define VERSION 3
#define WITHOUT_STANDING 2
#define WITHOUT_CLASSES 1 /* the oldest version that is read */

#define FLAG_TRIPWIRE (1 << 0)
#define FLAG_COLOR (1 << 1)
#define FLAG_WHOLE (1 << 2)
#define ZONE_FLAGS (FLAG_TRIPWIRE | FLAG_COLOR | FLAG_WHOLE)

#define TYPE_MASK 15
#define FLAG_DWELL (1 << 4)
#define FLAG_AGE (1 << 5)
#define FLAG_CLASS (1 << 6)
#define OLD_EVENT_FLAGS (FLAG_DWELL | FLAG_AGE)
#define EVENT_FLAGS (OLD_EVENT_FLAGS | FLAG_CLASS)

#define MAX_FRAME_SIZE (4 * GST_CCL_MAX_VARINT_SIZE)
#define MAX_ZONE_SIZE (1 + 6 * GST_CCL_MAX_VARINT_SIZE) /* without name and points */
#define MAX_POINT_SIZE (2 * GST_CCL_MAX_VARINT_SIZE)
#define MAX_EVENT_SIZE (1 + 8 * GST_CCL_MAX_VARINT_SIZE + 2 * 8)
#define MIN_ZONE_SIZE 6
#define MIN_EVENT_SIZE (6 + 2 * 8)

/* Larger coordinates are clamped when they are written, and rejected when they are read, so that
 * scaling cannot overflow. */
#define MAX_COORDINATE 1e15

static gsize
get_name_length (const GstCclZone *zone)
{
  return zone->name ? strlen (zone->name) : 0;
}

/* Zones are often given in whole pixels. */
static gboolean
is_whole (const GstCclZone *zone)
{
  gsize i;

  for (i = 0; i < 2 * (gsize) zone->n_points; i++) {
    gdouble value = zone->points[i];

    if (!(ABS (value) <= G_MAXINT) || value != rint (value) || (value == 0.0 && signbit (value)))
      return FALSE;
  }

  return TRUE;
}

/* Writes a number that receivers accept. */
static guint8 *
put_coordinate (guint8 *bytes, gdouble value)
{
  return gst_ccl_put_double (bytes,
                             isnan (value) ? 0.0 : CLAMP (value, -MAX_COORDINATE, MAX_COORDINATE));
}

static guint8 *
put_points (guint8 *bytes, const GstCclZone *zone, gboolean whole)
{
  gint64 before[2] = { 0, 0 };
  gsize i;

  for (i = 0; i < 2 * (gsize) zone->n_points; i++) {
    if (whole) {
      gint64 value = (gint64) zone->points[i];

      bytes = gst_ccl_put_signed (bytes, value - before[i % 2]);
      before[i % 2] = value;
    } else {
      bytes = put_coordinate (bytes, zone->points[i]);
    }
  }

  return bytes;
}

static guint8 *
put_zone (guint8 *bytes, const GstCclZone *zone)
{
  gsize length = get_name_length (zone);
  gboolean whole = is_whole (zone);

  *bytes++ = (guint8) ((zone->tripwire ? FLAG_TRIPWIRE : 0) | (zone->color ? FLAG_COLOR : 0) |
                       (whole ? FLAG_WHOLE : 0));
  bytes = gst_ccl_put_varint (bytes, length);
  if (length > 0)
    memcpy (bytes, zone->name, length);
  bytes += length;
  if (zone->color)
    bytes = gst_ccl_put_varint (bytes, zone->color);
  bytes = gst_ccl_put_varint (bytes, zone->n_points);
  bytes = put_points (bytes, zone, whole);
  bytes = gst_ccl_put_varint (bytes, zone->in);
  bytes = gst_ccl_put_varint (bytes, zone->out);

  return gst_ccl_put_varint (bytes, zone->inside);
}

static guint8 *
put_event (guint8 *bytes, const GstCclZoneEvent *event)
{
  *bytes++ = (guint8) (((guint) event->type & TYPE_MASK) | (event->dwell ? FLAG_DWELL : 0) |
                       (event->frame_age ? FLAG_AGE : 0) | (event->class_id ? FLAG_CLASS : 0));
  bytes = gst_ccl_put_varint (bytes, event->zone);
  bytes = gst_ccl_put_varint (bytes, event->track);
  if (event->dwell)
    bytes = gst_ccl_put_varint (bytes, event->dwell);
  bytes = put_coordinate (bytes, event->x);
  bytes = put_coordinate (bytes, event->y);
  bytes = gst_ccl_put_varint (bytes, event->in);
  bytes = gst_ccl_put_varint (bytes, event->out);
  bytes = gst_ccl_put_varint (bytes, event->inside);
  if (event->frame_age)
    bytes = gst_ccl_put_signed (bytes, event->frame_age);
  if (event->class_id)
    bytes = gst_ccl_put_varint (bytes, event->class_id);

  return bytes;
}

gboolean
gst_ccl_zones_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstCclZonesMeta *self = (const GstCclZonesMeta *) meta;
  gsize most = MAX_FRAME_SIZE + gst_ccl_get_names_size (self->class_names) +
               (gsize) self->n_events * MAX_EVENT_SIZE;
  guint8 *bytes, *end;
  guint i;

  for (i = 0; i < self->n_zones; i++)
    most += MAX_ZONE_SIZE + get_name_length (&self->zones[i]) +
            (gsize) self->zones[i].n_points * MAX_POINT_SIZE;

  bytes = end = g_malloc (most);
  end = gst_ccl_put_varint (end, self->width);
  end = gst_ccl_put_varint (end, self->height);
  end = gst_ccl_put_names (end, self->class_names);
  end = gst_ccl_put_varint (end, self->n_zones);
  for (i = 0; i < self->n_zones; i++)
    end = put_zone (end, &self->zones[i]);
  end = gst_ccl_put_varint (end, self->n_events);
  *version = WITHOUT_STANDING;
  for (i = 0; i < self->n_events; i++) {
    end = put_event (end, &self->events[i]);
    if (self->events[i].type >= GST_CCL_ZONE_STOPPED)
      *version = VERSION;
  }

  return gst_ccl_take_bytes (data, bytes, end);
}

static gboolean
read_coordinate (GstCclReader *reader, gdouble *value)
{
  return gst_ccl_read_double (reader, value) && ABS (*value) <= MAX_COORDINATE;
}

static gboolean
read_points (GstCclReader *reader, gboolean whole, GstCclZone *zone)
{
  gint64 before[2] = { 0, 0 };
  guint64 n;
  gsize i;

  if (!gst_ccl_read_varint (reader, &n) || n > G_MAXINT ||
      n > reader->size / (whole ? 2 : 2 * sizeof (gdouble)))
    return FALSE;

  zone->n_points = (guint) n;
  zone->points = g_new (gdouble, 2 * (gsize) n);
  for (i = 0; i < 2 * (gsize) n; i++) {
    gint64 difference;

    if (!whole) {
      if (!read_coordinate (reader, &zone->points[i]))
        return FALSE;
      continue;
    }
    if (!gst_ccl_read_signed (reader, &difference) || difference < -2 * (gint64) G_MAXINT ||
        difference > 2 * (gint64) G_MAXINT || ABS (before[i % 2] + difference) > G_MAXINT)
      return FALSE;
    before[i % 2] += difference;
    zone->points[i] = (gdouble) before[i % 2];
  }

  return TRUE;
}

/* On failure, the caller frees what @zone has. */
static gboolean
read_zone (GstCclReader *reader, GstCclZone *zone)
{
  guint8 flags;

  if (!gst_ccl_read_byte (reader, &flags) || (flags & ~ZONE_FLAGS) != 0 ||
      !gst_ccl_read_string (reader, &zone->name))
    return FALSE;
  zone->tripwire = (flags & FLAG_TRIPWIRE) != 0;
  if ((flags & FLAG_COLOR) && !gst_ccl_read_uint (reader, &zone->color))
    return FALSE;

  return read_points (reader, (flags & FLAG_WHOLE) != 0, zone) &&
         gst_ccl_read_varint (reader, &zone->in) && gst_ccl_read_varint (reader, &zone->out) &&
         gst_ccl_read_uint (reader, &zone->inside);
}

static gboolean
read_event (GstCclReader *reader, guint8 version, guint n_zones, GstCclZoneEvent *event)
{
  const guint8 known_flags = version == WITHOUT_CLASSES ? OLD_EVENT_FLAGS : EVENT_FLAGS;
  guint8 byte;

  if (!gst_ccl_read_byte (reader, &byte) || (byte & ~(known_flags | TYPE_MASK)) != 0)
    return FALSE;
  event->type = (GstCclZoneEventType) (byte & TYPE_MASK);

  if (!gst_ccl_zone_event_type_get_name (event->type) ||
      (version <= WITHOUT_STANDING && event->type >= GST_CCL_ZONE_STOPPED) ||
      !gst_ccl_read_uint (reader, &event->zone) || event->zone >= n_zones ||
      !gst_ccl_read_uint (reader, &event->track) ||
      ((byte & FLAG_DWELL) && !gst_ccl_read_varint (reader, &event->dwell)))
    return FALSE;

  return read_coordinate (reader, &event->x) && read_coordinate (reader, &event->y) &&
         gst_ccl_read_varint (reader, &event->in) && gst_ccl_read_varint (reader, &event->out) &&
         gst_ccl_read_uint (reader, &event->inside) &&
         (!(byte & FLAG_AGE) || gst_ccl_read_signed (reader, &event->frame_age)) &&
         (!(byte & FLAG_CLASS) || gst_ccl_read_uint (reader, &event->class_id));
}

/* The data comes from another process and is not trusted. */
GstMeta *
gst_ccl_zones_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data,
                                gsize size, guint8 version)
{
  GstCclReader reader = { data, size };
  GstCclClassNames *names = NULL;
  GstCclZoneEvent *events = NULL;
  GstCclZonesMeta *meta = NULL;
  GstCclZone *zones = NULL;
  guint width, height, n_zones = 0, n_events = 0, i;
  gboolean valid;

  if (!gst_ccl_check_version ("zones", version, WITHOUT_CLASSES, VERSION))
    return NULL;

  valid = gst_ccl_read_size (&reader, &width, &height) &&
          (version == WITHOUT_CLASSES || gst_ccl_read_names (&reader, &names)) &&
          gst_ccl_read_count (&reader, MIN_ZONE_SIZE, &n_zones);
  if (valid)
    zones = g_new0 (GstCclZone, n_zones);
  for (i = 0; valid && i < n_zones; i++)
    valid = read_zone (&reader, &zones[i]);

  valid = valid && gst_ccl_read_count (&reader, MIN_EVENT_SIZE, &n_events);
  if (valid)
    events = g_new0 (GstCclZoneEvent, n_events);
  for (i = 0; valid && i < n_events; i++)
    valid = read_event (&reader, version, n_zones, &events[i]);

  if (valid && reader.size == 0) {
    meta = gst_buffer_add_ccl_zones_meta (buffer, width, height, zones, n_zones, events, n_events);
    gst_ccl_zones_meta_set_class_names (meta, names);
  } else {
    gst_ccl_warn_invalid ("zones", &reader, size);
  }
  g_clear_pointer (&names, gst_ccl_class_names_unref);

  for (i = 0; zones && i < n_zones; i++) {
    g_free (zones[i].name);
    g_free (zones[i].points);
  }
  g_free (zones);
  g_free (events);

  return (GstMeta *) meta;
}

#endif
