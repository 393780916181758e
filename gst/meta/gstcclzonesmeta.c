/* cudaccl - zones, tripwires and their events as metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/ccl/gstcclzonesmeta.h>

#include <math.h>
#include <gst/ccl/gstcclmeta.h>

#include "gstcclmetaprivate.h"

G_DEFINE_BOXED_TYPE (GstCclZone, gst_ccl_zone, gst_ccl_zone_copy, gst_ccl_zone_free)
G_DEFINE_BOXED_TYPE (GstCclZoneEvent, gst_ccl_zone_event, gst_ccl_zone_event_copy,
                     gst_ccl_zone_event_free)

static void
init_zone (GstCclZone *zone, const GstCclZone *source, gdouble scale_x, gdouble scale_y)
{
  guint i;

  *zone = *source;
  zone->name = source->name ? g_utf8_make_valid (source->name, -1) : NULL;
  zone->points = g_new (gdouble, 2 * (gsize) source->n_points);
  for (i = 0; i < source->n_points; i++) {
    zone->points[2 * i] = source->points[2 * i] * scale_x;
    zone->points[2 * i + 1] = source->points[2 * i + 1] * scale_y;
  }
}

static void
clear_zone (GstCclZone *zone)
{
  g_free (zone->name);
  g_free (zone->points);
}

/**
 * gst_ccl_zone_new:
 * @name: name of the zone, UTF-8
 * @tripwire: whether it is a tripwire, a line from its first point to its second, not a polygon
 * @points: (array length=n_values): x and y of each point, in pixels of the frame
 * @n_values: number of values in @points, two for each point
 *
 * Makes a zone, for gst_buffer_add_ccl_zones_meta(). Its other fields are 0.
 *
 * Returns: (transfer full): a zone, to be freed with gst_ccl_zone_free()
 *
 * Since: 0.1
 */
GstCclZone *
gst_ccl_zone_new (const gchar *name, gboolean tripwire, const gdouble *points, guint n_values)
{
  GstCclZone zone = { 0 };

  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (points != NULL || n_values == 0, NULL);
  g_return_val_if_fail (n_values % 2 == 0, NULL);

  zone.name = (gchar *) name;
  zone.tripwire = tripwire;
  zone.n_points = n_values / 2;
  zone.points = (gdouble *) points;

  return gst_ccl_zone_copy (&zone);
}

/**
 * gst_ccl_zone_copy:
 * @zone: a #GstCclZone
 *
 * Copies @zone.
 *
 * Returns: (transfer full): a copy, to be freed with gst_ccl_zone_free()
 *
 * Since: 0.1
 */
GstCclZone *
gst_ccl_zone_copy (const GstCclZone *zone)
{
  GstCclZone *copy;

  g_return_val_if_fail (zone != NULL, NULL);

  copy = g_new (GstCclZone, 1);
  init_zone (copy, zone, 1.0, 1.0);

  return copy;
}

/**
 * gst_ccl_zone_free:
 * @zone: (transfer full) (nullable): a #GstCclZone
 *
 * Frees a zone made by gst_ccl_zone_new() or gst_ccl_zone_copy().
 *
 * Since: 0.1
 */
void
gst_ccl_zone_free (GstCclZone *zone)
{
  if (!zone)
    return;

  clear_zone (zone);
  g_free (zone);
}

/**
 * gst_ccl_zone_get_points:
 * @zone: a #GstCclZone
 * @n_values: (out): the number of values, two for each point
 *
 * Gets x and y of each point, in pixels of the frame.
 *
 * Returns: (transfer none) (array length=n_values): the points, valid as long as @zone is
 *
 * Since: 0.1
 */
const gdouble *
gst_ccl_zone_get_points (const GstCclZone *zone, guint *n_values)
{
  g_return_val_if_fail (n_values != NULL, NULL);
  *n_values = 0;
  g_return_val_if_fail (zone != NULL, NULL);

  *n_values = 2 * zone->n_points;

  return zone->points;
}

GType
gst_ccl_zone_event_type_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_ZONE_ENTER, "GST_CCL_ZONE_ENTER", "enter" },
    { GST_CCL_ZONE_LEAVE, "GST_CCL_ZONE_LEAVE", "leave" },
    { GST_CCL_ZONE_DWELL, "GST_CCL_ZONE_DWELL", "dwell" },
    { GST_CCL_ZONE_IN, "GST_CCL_ZONE_IN", "in" },
    { GST_CCL_ZONE_OUT, "GST_CCL_ZONE_OUT", "out" },
    { GST_CCL_ZONE_STOPPED, "GST_CCL_ZONE_STOPPED", "stopped" },
    { GST_CCL_ZONE_LEFT, "GST_CCL_ZONE_LEFT", "left" },
    { GST_CCL_ZONE_REMOVED, "GST_CCL_ZONE_REMOVED", "removed" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclZoneEventType", values));

  return type;
}

/**
 * gst_ccl_zone_event_type_get_name:
 * @type: a #GstCclZoneEventType
 *
 * Gets the name of @type in messages and JSON.
 *
 * Returns: (nullable): `enter`, `leave`, `dwell`, `in`, `out`, `stopped`, `left` or `removed`, or
 * %NULL if @type is not valid
 *
 * Since: 0.1
 */
const gchar *
gst_ccl_zone_event_type_get_name (GstCclZoneEventType type)
{
  static const gchar *const names[] = { "enter", "leave",   "dwell", "in",
                                        "out",   "stopped", "left",  "removed" };

  return (guint) type < G_N_ELEMENTS (names) ? names[type] : NULL;
}

/**
 * gst_ccl_zone_event_copy:
 * @event: a #GstCclZoneEvent
 *
 * Copies @event.
 *
 * Returns: (transfer full): a copy, to be freed with gst_ccl_zone_event_free()
 *
 * Since: 0.1
 */
GstCclZoneEvent *
gst_ccl_zone_event_copy (const GstCclZoneEvent *event)
{
  g_return_val_if_fail (event != NULL, NULL);

  return g_memdup2 (event, sizeof (*event));
}

/**
 * gst_ccl_zone_event_free:
 * @event: (transfer full) (nullable): a #GstCclZoneEvent
 *
 * Frees a copy made by gst_ccl_zone_event_copy().
 *
 * Since: 0.1
 */
void
gst_ccl_zone_event_free (GstCclZoneEvent *event)
{
  g_free (event);
}

/**
 * gst_ccl_zones_meta_api_get_type:
 *
 * Returns: the type of #GstCclZonesMeta's API
 *
 * Since: 0.1
 */
GType
gst_ccl_zones_meta_api_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_ccl_meta_register_api ("GstCclZonesMetaAPI"));

  return type;
}

static gboolean
gst_ccl_zones_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstCclZonesMeta *self = (GstCclZonesMeta *) meta;

  self->width = self->height = 0;
  self->n_zones = self->n_events = 0;
  self->zones = NULL;
  self->events = NULL;
  self->class_names = NULL;

  return TRUE;
}

static void
gst_ccl_zones_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstCclZonesMeta *self = (GstCclZonesMeta *) meta;
  guint i;

  for (i = 0; i < self->n_zones; i++)
    clear_zone (&self->zones[i]);
  g_clear_pointer (&self->zones, g_free);
  g_clear_pointer (&self->events, g_free);
  g_clear_pointer (&self->class_names, gst_ccl_class_names_unref);
  self->n_zones = self->n_events = 0;
}

/* Appends the zones and events, scaled. They may be those of @self. */
static void
append (GstCclZonesMeta *self, const GstCclZone *zones, guint n_zones,
        const GstCclZoneEvent *events, guint n_events, gdouble scale_x, gdouble scale_y)
{
  GstCclZone *all_zones = g_new (GstCclZone, (gsize) self->n_zones + n_zones);
  GstCclZoneEvent *all_events = g_new (GstCclZoneEvent, (gsize) self->n_events + n_events);
  guint i;

  for (i = 0; i < self->n_zones; i++)
    all_zones[i] = self->zones[i];
  for (i = 0; i < n_zones; i++)
    init_zone (&all_zones[self->n_zones + i], &zones[i], scale_x, scale_y);
  for (i = 0; i < self->n_events; i++)
    all_events[i] = self->events[i];
  for (i = 0; i < n_events; i++) {
    GstCclZoneEvent *event = &all_events[self->n_events + i];

    *event = events[i];
    event->zone += self->n_zones;
    event->x *= scale_x;
    event->y *= scale_y;
  }
  g_free (self->zones);
  g_free (self->events);
  self->zones = all_zones;
  self->events = all_events;
  self->n_zones += n_zones;
  self->n_events += n_events;
}

/* Adds a scaled copy of @self to @dest, for a frame of @width x @height. */
static GstCclZonesMeta *
add_copy (GstBuffer *dest, const GstCclZonesMeta *self, guint width, guint height, gdouble scale_x,
          gdouble scale_y)
{
  GstCclZonesMeta *copy =
      (GstCclZonesMeta *) gst_buffer_add_meta (dest, GST_CCL_ZONES_META_INFO, NULL);

  copy->width = width;
  copy->height = height;
  append (copy, self->zones, self->n_zones, self->events, self->n_events, scale_x, scale_y);
  gst_ccl_zones_meta_set_class_names (copy, self->class_names);

  return copy;
}

/* The size of the zones' frame may differ from that of the input. */
static gboolean
transform_scale (GstBuffer *dest, const GstCclZonesMeta *self, const GstVideoMetaTransform *trans)
{
  guint width = self->width, height = self->height;
  GstCclScale scale;

  if (!gst_ccl_scale_init (&scale, trans, "zones"))
    return FALSE;
  gst_ccl_scale_size (&scale, &width, &height);
  add_copy (dest, self, width, height, scale.x, scale.y);

  return TRUE;
}

#if GST_CHECK_VERSION(1, 28, 0)
static gboolean
project (const GstVideoMetaTransformMatrix *trans, gdouble *point)
{
  return gst_ccl_project_point (trans, &point[0], &point[1]) > 0.0 && isfinite (point[0]) &&
         isfinite (point[1]);
}

static void
reverse_tripwire (GstCclZone *zone)
{
  guint j;

  for (j = 0; j < 2; j++) {
    gdouble first = zone->points[j];

    zone->points[j] = zone->points[2 + j];
    zone->points[2 + j] = first;
  }
}

/* Points behind the projection have no position: a zone with such a point loses all its points,
 * and such an event is at (-1, -1). */
static gboolean
transform_matrix (GstBuffer *dest, const GstCclZonesMeta *self,
                  const GstVideoMetaTransformMatrix *trans)
{
  gboolean mirrored = gst_ccl_project_get_determinant (trans) < 0.0;
  gint width = GST_VIDEO_INFO_WIDTH (trans->out_info);
  gint height = GST_VIDEO_INFO_HEIGHT (trans->out_info);
  GstCclZonesMeta *projected;
  guint i, j;

  if (width <= 0 || height <= 0)
    return FALSE;

  /* The size of the zones' frame may differ from that of the input. */
  projected = add_copy (dest, self, (guint) width, (guint) height,
                        (gdouble) GST_VIDEO_INFO_WIDTH (trans->in_info) / MAX (self->width, 1),
                        (gdouble) GST_VIDEO_INFO_HEIGHT (trans->in_info) / MAX (self->height, 1));
  for (i = 0; i < projected->n_zones; i++) {
    GstCclZone *zone = &projected->zones[i];

    for (j = 0; j < zone->n_points; j++) {
      if (!project (trans, &zone->points[2 * j]))
        zone->n_points = 0;
    }
    if (mirrored && zone->tripwire && zone->n_points == 2) /* "in" stays towards the right */
      reverse_tripwire (zone);
  }
  for (i = 0; i < projected->n_events; i++) {
    gdouble point[2] = { projected->events[i].x, projected->events[i].y };
    gboolean visible = project (trans, point);

    projected->events[i].x = visible ? point[0] : -1.0;
    projected->events[i].y = visible ? point[1] : -1.0;
  }

  return TRUE;
}
#endif

static gboolean
gst_ccl_zones_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                              gpointer data)
{
  const GstCclZonesMeta *self = (const GstCclZonesMeta *) meta;

  /* Before 1.22, GStreamer's scalers first scale the metadata and then copy it to the same buffer.
   */
  if (gst_buffer_get_ccl_zones_meta (dest))
    return TRUE;

  if (GST_META_TRANSFORM_IS_COPY (type))
    return add_copy (dest, self, self->width, self->height, 1.0, 1.0) != NULL;

  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return transform_scale (dest, self, data);

#if GST_CHECK_VERSION(1, 28, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX (type))
    return transform_matrix (dest, self, data);
#endif

  return FALSE;
}

GST_CCL_DEFINE_REGISTER (GstCclZonesMeta, gst_ccl_zones_meta)

/**
 * gst_ccl_zones_meta_get_info:
 *
 * Registers #GstCclZonesMeta with GStreamer. A program that receives zones from another process
 * with `unixfdsrc` must call this before the first frame arrives, unless it uses an element of
 * cudaccl: metadata that is not registered is dropped.
 *
 * Returns: (transfer none): the #GstMetaInfo of #GstCclZonesMeta
 *
 * Since: 0.1
 */
const GstMetaInfo *
gst_ccl_zones_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **) &info)) {
    const GstMetaInfo *new_info;

    gst_ccl_meta_get_info (); /* initialises the debug category */
    new_info = gst_ccl_zones_meta_register ();
    g_once_init_leave ((GstMetaInfo **) &info, (GstMetaInfo *) new_info);
  }

  return info;
}

/**
 * gst_buffer_add_ccl_zones_meta:
 * @buffer: a writable #GstBuffer
 * @width: width of the frame, in pixels, 1 or more
 * @height: height of the frame, in pixels, 1 or more
 * @zones: (array length=n_zones) (nullable): the zones, which are copied
 * @n_zones: number of @zones
 * @events: (array length=n_events) (nullable): what happened, which is copied; `zone` is an index
 *   of @zones
 * @n_events: number of @events
 *
 * Attaches zones and events to @buffer. If it has some already, they are added to them, in pixels
 * of the frame of the earlier ones.
 *
 * Returns: (transfer none): the #GstCclZonesMeta on @buffer
 *
 * Since: 0.1
 */
GstCclZonesMeta *
gst_buffer_add_ccl_zones_meta (GstBuffer *buffer, guint width, guint height,
                               const GstCclZone *zones, guint n_zones,
                               const GstCclZoneEvent *events, guint n_events)
{
  GstCclZonesMeta *meta;
  guint i;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), NULL);
  g_return_val_if_fail (width > 0 && height > 0, NULL);
  g_return_val_if_fail (zones != NULL || n_zones == 0, NULL);
  g_return_val_if_fail (events != NULL || n_events == 0, NULL);
  for (i = 0; i < n_events; i++)
    g_return_val_if_fail (events[i].zone < n_zones, NULL);

  meta = gst_buffer_get_ccl_zones_meta (buffer);
  if (!meta) {
    meta = (GstCclZonesMeta *) gst_buffer_add_meta (buffer, GST_CCL_ZONES_META_INFO, NULL);
    meta->width = width;
    meta->height = height;
  }
  append (meta, zones, n_zones, events, n_events, (gdouble) meta->width / width,
          (gdouble) meta->height / height);

  return meta;
}

/**
 * gst_buffer_get_ccl_zones_meta:
 * @buffer: a #GstBuffer
 *
 * Gets the zones attached to @buffer. They are valid as long as @buffer is.
 *
 * Returns: (transfer none) (nullable): the #GstCclZonesMeta of @buffer, or %NULL if it has none
 *
 * Since: 0.1
 */
GstCclZonesMeta *
gst_buffer_get_ccl_zones_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  /* Frames from other processes only keep metadata that is registered. */
  gst_ccl_zones_meta_get_info ();

  return (GstCclZonesMeta *) gst_buffer_get_meta (buffer, GST_CCL_ZONES_META_API_TYPE);
}

/**
 * gst_ccl_zones_meta_get_n_zones:
 * @meta: a #GstCclZonesMeta
 *
 * Gets the number of zones and tripwires.
 *
 * Returns: the number of zones
 *
 * Since: 0.1
 */

/**
 * gst_ccl_zones_meta_get_zones:
 * @meta: a #GstCclZonesMeta
 * @n_zones: (out): the number of zones
 *
 * Gets all zones and tripwires.
 *
 * Returns: (transfer none) (array length=n_zones) (nullable): the zones, valid as long as @meta is,
 *   or %NULL if there are none
 *
 * Since: 0.1
 */

/**
 * gst_ccl_zones_meta_get_zone:
 * @meta: a #GstCclZonesMeta
 * @index: index of the zone, from 0
 *
 * Gets a zone or tripwire.
 *
 * Returns: (transfer none) (nullable): the zone, valid as long as @meta is, or %NULL if @index is
 *   out of range
 *
 * Since: 0.1
 */
GST_CCL_DEFINE_ARRAY (GstCclZonesMeta, gst_ccl_zones_meta, GstCclZone, zone, zones)

/**
 * gst_ccl_zones_meta_get_n_events:
 * @meta: a #GstCclZonesMeta
 *
 * Gets the number of events.
 *
 * Returns: the number of events
 *
 * Since: 0.1
 */

/**
 * gst_ccl_zones_meta_get_events:
 * @meta: a #GstCclZonesMeta
 * @n_events: (out): the number of events
 *
 * Gets all events, in order.
 *
 * Returns: (transfer none) (array length=n_events) (nullable): the events, valid as long as @meta
 *   is, or %NULL if there are none
 *
 * Since: 0.1
 */

/**
 * gst_ccl_zones_meta_get_event:
 * @meta: a #GstCclZonesMeta
 * @index: index of the event, from 0
 *
 * Gets an event.
 *
 * Returns: (transfer none) (nullable): the event, valid as long as @meta is, or %NULL if @index is
 *   out of range
 *
 * Since: 0.1
 */
GST_CCL_DEFINE_ARRAY (GstCclZonesMeta, gst_ccl_zones_meta, GstCclZoneEvent, event, events)

/**
 * gst_ccl_zones_meta_set_class_names:
 * @meta: a #GstCclZonesMeta on a writable buffer
 * @names: (nullable): the names of the classes in its events, or %NULL for none
 *
 * Sets the names of the classes. Adds a reference to @names; strings are not copied.
 *
 * Since: 0.1
 */
void
gst_ccl_zones_meta_set_class_names (GstCclZonesMeta *meta, GstCclClassNames *names)
{
  g_return_if_fail (meta != NULL);

  gst_ccl_class_names_replace (&meta->class_names, names);
}

/**
 * gst_ccl_zones_meta_get_class_names:
 * @meta: a #GstCclZonesMeta
 *
 * Gets the names of the classes.
 *
 * Returns: (transfer none) (nullable): the names, or %NULL if there are none
 *
 * Since: 0.1
 */
GstCclClassNames *
gst_ccl_zones_meta_get_class_names (const GstCclZonesMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->class_names;
}

/**
 * gst_ccl_zones_meta_get_class_name:
 * @meta: a #GstCclZonesMeta
 * @class_id: a class, as of an event
 *
 * Gets the name of a class.
 *
 * Returns: (transfer none) (nullable): the name, in UTF-8 and valid as long as @meta is, or %NULL
 *   if the class has none
 *
 * Since: 0.1
 */
const gchar *
gst_ccl_zones_meta_get_class_name (const GstCclZonesMeta *meta, guint class_id)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->class_names ? gst_ccl_class_names_get_name (meta->class_names, class_id) : NULL;
}

/**
 * gst_ccl_zones_meta_crop:
 * @meta: a #GstCclZonesMeta on a writable buffer
 * @x: left edge of the rectangle, in pixels
 * @y: top edge of the rectangle, in pixels
 * @width: width of the rectangle, in pixels
 * @height: height of the rectangle, in pixels
 *
 * Crops the frame of @meta to a rectangle, as described for #GstCclZonesMeta. Like
 * gst_ccl_meta_crop(), it is for code that crops frames.
 *
 * Returns: %FALSE if the rectangle is empty or not inside the frame; then @meta is unchanged
 *
 * Since: 0.1
 */
gboolean
gst_ccl_zones_meta_crop (GstCclZonesMeta *meta, guint x, guint y, guint width, guint height)
{
  guint i, j;

  g_return_val_if_fail (meta != NULL, FALSE);

  if (width == 0 || height == 0 || (guint64) x + width > meta->width ||
      (guint64) y + height > meta->height)
    return FALSE;

  for (i = 0; i < meta->n_zones; i++) {
    GstCclZone *zone = &meta->zones[i];

    for (j = 0; j < zone->n_points; j++) {
      zone->points[2 * j] -= x;
      zone->points[2 * j + 1] -= y;
    }
  }
  for (i = 0; i < meta->n_events; i++) {
    meta->events[i].x -= x;
    meta->events[i].y -= y;
  }
  meta->width = width;
  meta->height = height;

  return TRUE;
}
