/* cudaccl - what was found in a frame: its components, zones and events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclfindings.h"

#include <string.h>

#include <gst/base/gstcclutils.h>

const GstVideoCropMeta *
gst_ccl_find_crop (GstBuffer *buffer, guint width, guint height)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const GstVideoMeta *video = gst_buffer_get_video_meta (buffer);

  if (!crop || !video || width != video->width || height != video->height ||
      (width == crop->width && height == crop->height) || crop->width == 0 || crop->height == 0 ||
      (guint64) crop->x + crop->width > width || (guint64) crop->y + crop->height > height)
    return NULL;

  return crop;
}

static GstCclComponent *
copy_components (const GstCclComponent *components, guint n)
{
  return g_memdup2 (components, n * sizeof (*components));
}

static void
copy_zones (GstCclZonesMeta *copy, const GstCclZonesMeta *meta)
{
  guint i;

  *copy = *meta;
  if (copy->class_names)
    gst_ccl_class_names_ref (copy->class_names);
  copy->zones = g_new (GstCclZone, meta->n_zones);
  copy->events = g_memdup2 (meta->events, meta->n_events * sizeof (*meta->events));
  for (i = 0; i < meta->n_zones; i++) {
    GstCclZone *zone = gst_ccl_zone_copy (&meta->zones[i]);

    copy->zones[i] = *zone;
    g_free (zone);
  }
}

static void
clear_zones (GstCclZonesMeta *meta)
{
  guint i;

  for (i = 0; i < meta->n_zones; i++) {
    g_free (meta->zones[i].name);
    g_free (meta->zones[i].points);
  }
  g_free (meta->zones);
  g_free (meta->events);
  g_clear_pointer (&meta->class_names, gst_ccl_class_names_unref);
  memset (meta, 0, sizeof (*meta));
}

static void
crop_rois (GstCclRois *rois, guint width, guint height, const GstVideoCropMeta *crop)
{
  GstCclComponent *before = rois->components;
  GstCclMeta meta = { .width = width,
                      .height = height,
                      .found = rois->n,
                      .n_components = rois->n,
                      .components = copy_components (before, rois->n) };
  guint i;

  /* Cropping drops components: the labels tell which remain. */
  for (i = 0; i < rois->n; i++)
    meta.components[i].label = i;
  gst_ccl_meta_crop (&meta, crop->x, crop->y, crop->width, crop->height);
  for (i = 0; i < meta.n_components; i++) {
    guint index = meta.components[i].label;

    rois->rois[i] = rois->rois[index];
    meta.components[i].label = before[index].label;
  }
  rois->n = meta.n_components;
  rois->components = meta.components;
  g_free (before);
}

void
gst_ccl_findings_init (GstCclFindings *self, GstBuffer *buffer, guint width, guint height)
{
  const GstCclMeta *components = gst_buffer_get_ccl_meta (buffer);
  const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);
  const GstVideoCropMeta *crop;

  memset (self, 0, sizeof (*self));
  gst_ccl_rois_init (&self->rois, buffer);
  self->has_components = components || self->rois.n > 0;
  self->rois_width = components ? components->width : width;
  self->rois_height = components ? components->height : height;
  if (components) {
    self->components = *components;
    self->components.components =
        copy_components (components->components, components->n_components);
    if (components->class_names)
      gst_ccl_class_names_ref (components->class_names);
    crop = gst_ccl_find_crop (buffer, components->width, components->height);
    if (crop) {
      gst_ccl_meta_crop (&self->components, crop->x, crop->y, crop->width, crop->height);
      crop_rois (&self->rois, components->width, components->height, crop);
      self->rois_width = crop->width;
      self->rois_height = crop->height;
    }
  }
  gst_ccl_rois_own (&self->rois);

  if (zones && zones->width > 0 && zones->height > 0) {
    copy_zones (&self->zones, zones);
    crop = gst_ccl_find_crop (buffer, zones->width, zones->height);
    if (crop)
      gst_ccl_zones_meta_crop (&self->zones, crop->x, crop->y, crop->width, crop->height);
  }
}

void
gst_ccl_findings_clear (GstCclFindings *self)
{
  g_clear_pointer (&self->components.components, g_free);
  g_clear_pointer (&self->components.class_names, gst_ccl_class_names_unref);
  gst_ccl_rois_clear (&self->rois);
  clear_zones (&self->zones);
}

/* Scales components of a frame of @from_width x @from_height with GstCclMeta's transform
 * function. If the size is the same, copies them, which changes no bit. Returns FALSE if the
 * size is not valid. */
static gboolean
scale_components (const GstCclComponent *components, guint n, guint from_width, guint from_height,
                  guint width, guint height, GstCclComponent **scaled)
{
  GstCclMeta meta = { .meta = { .info = GST_CCL_META_INFO },
                      .width = from_width,
                      .height = from_height,
                      .found = n,
                      .n_components = n,
                      .components = (GstCclComponent *) components };
  GstVideoInfo in_info, out_info;
  GstVideoMetaTransform trans = { &in_info, &out_info };
  GstBuffer *buffer;

  *scaled = NULL;
  if (from_width == 0 || from_height == 0 || from_width > G_MAXINT || from_height > G_MAXINT)
    return FALSE;

  if (n == 0 || (from_width == width && from_height == height)) {
    *scaled = copy_components (components, n);
    return TRUE;
  }

  gst_video_info_init (&in_info);
  gst_video_info_init (&out_info);
  GST_VIDEO_INFO_WIDTH (&in_info) = (gint) from_width;
  GST_VIDEO_INFO_HEIGHT (&in_info) = (gint) from_height;
  GST_VIDEO_INFO_WIDTH (&out_info) = (gint) width;
  GST_VIDEO_INFO_HEIGHT (&out_info) = (gint) height;
  buffer = gst_buffer_new ();
  if (meta.meta.info->transform_func (buffer, &meta.meta, NULL,
                                      gst_video_meta_transform_scale_get_quark (), &trans))
    *scaled = g_steal_pointer (&gst_buffer_get_ccl_meta (buffer)->components);
  gst_buffer_unref (buffer);

  return *scaled != NULL;
}

static void
scale_zones (GstCclZonesMeta *meta, guint width, guint height)
{
  gdouble scale[2] = { (gdouble) width / meta->width, (gdouble) height / meta->height };
  guint i, k;

  for (i = 0; i < meta->n_zones; i++) {
    for (k = 0; k < 2 * meta->zones[i].n_points; k++)
      meta->zones[i].points[k] *= scale[k % 2];
  }
  for (i = 0; i < meta->n_events; i++) {
    meta->events[i].x *= scale[0];
    meta->events[i].y *= scale[1];
  }
  meta->width = width;
  meta->height = height;
}

void
gst_ccl_findings_scale (GstCclFindings *self, guint width, guint height)
{
  GstCclMeta *meta = &self->components;
  GstCclRois *rois = &self->rois;
  GstCclComponent *scaled;

  if (scale_components (meta->components, meta->n_components, meta->width, meta->height, width,
                        height, &scaled)) {
    meta->width = width;
    meta->height = height;
  } else {
    meta->n_components = 0;
  }
  g_free (meta->components);
  meta->components = scaled;

  if (!scale_components (rois->components, rois->n, self->rois_width, self->rois_height, width,
                         height, &scaled))
    gst_ccl_rois_clear (rois);
  g_free (rois->components);
  rois->components = scaled;
  self->rois_width = width;
  self->rois_height = height;

  if (self->zones.width > 0)
    scale_zones (&self->zones, width, height);
}

void
gst_ccl_findings_attach_components (const GstCclFindings *self, GstBuffer *dest, guint width,
                                    guint height, GstClockTimeDiff age)
{
  const GstCclMeta *meta = &self->components;
  const GstCclRois *rois = &self->rois;
  GstCclComponent *scaled;
  GstCclMeta *attached;
  guint i;

  gst_ccl_buffer_remove_components (dest);

  if (scale_components (meta->components, meta->n_components, meta->width, meta->height, width,
                        height, &scaled)) {
    attached =
        gst_buffer_add_ccl_meta (dest, width, height, meta->found, scaled, meta->n_components);
    if (attached) {
      attached->frame_age = gst_ccl_time_diff (meta->frame_age, -age);
      gst_ccl_meta_set_class_names (attached, meta->class_names);
    }
    g_free (scaled);
  }
  if (scale_components (rois->components, rois->n, self->rois_width, self->rois_height, width,
                        height, &scaled)) {
    for (i = 0; i < rois->n; i++)
      gst_ccl_rois_add_copy (dest, rois->rois[i], (gint) i, &scaled[i],
                             gst_ccl_rois_get_class_name (rois, scaled[i].class_id));
    g_free (scaled);
    if (age != 0 && rois->n > 0)
      gst_ccl_rois_set_frame_age (dest, gst_ccl_time_diff (rois->frame_age, -age));
  }
}

/* Returns the GstCclZonesMeta of @dest; adds one of that frame size if there is none. */
static GstCclZonesMeta *
ensure_zones (GstBuffer *dest, guint width, guint height)
{
  GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (dest);

  return meta ? meta : gst_buffer_add_ccl_zones_meta (dest, width, height, NULL, 0, NULL, 0);
}

void
gst_ccl_findings_attach_zones (const GstCclFindings *self, GstBuffer *dest, guint width,
                               guint height)
{
  const GstCclZonesMeta *zones = &self->zones;

  if (zones->width == 0)
    return;

  ensure_zones (dest, width, height);
  gst_buffer_add_ccl_zones_meta (dest, zones->width, zones->height, zones->zones, zones->n_zones,
                                 NULL, 0);
}

/* The events of a frame. */
typedef struct
{
  GstCclZonesMeta meta;
  GstClockTimeDiff time; /* of the frame, or GST_CLOCK_STIME_NONE */
} Events;

static void
clear_events (gpointer data)
{
  clear_zones (&((Events *) data)->meta);
}

GArray *
gst_ccl_events_new (void)
{
  GArray *self = g_array_new (FALSE, FALSE, sizeof (Events));

  g_array_set_clear_func (self, clear_events);

  return self;
}

guint64
gst_ccl_events_count (const GArray *self)
{
  guint64 n = 0;
  guint i;

  for (i = 0; i < self->len; i++)
    n += g_array_index (self, Events, i).meta.n_events;

  return n;
}

void
gst_ccl_events_add (GArray *self, const GstCclZonesMeta *meta, GstClockTimeDiff time)
{
  Events events = { { { 0 } }, time };

  if (meta->n_events == 0 || meta->width == 0 || meta->height == 0)
    return;

  copy_zones (&events.meta, meta);
  g_array_append_val (self, events);
}

/* Returns the class of @meta called @name, which is added if it is new. */
static guint
ensure_class (GstCclZonesMeta *meta, const gchar *name)
{
  const guint n = gst_ccl_class_names_get_n_names (meta->class_names);
  const gchar **names = g_new0 (const gchar *, (gsize) n + 2);
  GstCclClassNames *longer;
  guint i;

  for (i = 0; i < n; i++) {
    names[i] = gst_ccl_class_names_get_name (meta->class_names, i + 1);
    if (strcmp (names[i], name) == 0)
      break;
  }
  if (i == n) {
    names[n] = name;
    longer = gst_ccl_class_names_new (names);
    gst_ccl_zones_meta_set_class_names (meta, longer);
    gst_ccl_class_names_unref (longer);
  }
  g_free (names);

  return i + 1;
}

void
gst_ccl_zones_translate_events (GstCclZonesMeta *meta, GstCclZoneEvent *events, guint n,
                                GstCclClassNames *names)
{
  guint i;

  if (!names || names == meta->class_names)
    return;
  if (!meta->class_names) {
    gst_ccl_zones_meta_set_class_names (meta, names);
    return;
  }

  for (i = 0; i < n; i++) {
    const gchar *name = gst_ccl_class_names_get_name (names, events[i].class_id);

    events[i].class_id = name ? ensure_class (meta, name) : 0;
  }
}

/* Returns the index in @meta of the zone of an event: @index, or another zone from @first on with
 * the same name and kind. Returns the number of zones if there is none. */
static guint
find_zone (const GstCclZonesMeta *meta, guint first, const GstCclZone *zone, guint index)
{
  guint i, k;

  for (k = first; k <= meta->n_zones; k++) {
    const GstCclZone *other;

    i = k == first ? index : k - 1;
    other = gst_ccl_zones_meta_get_zone (meta, i);
    if (other && other->tripwire == zone->tripwire && g_strcmp0 (other->name, zone->name) == 0)
      return i;
  }

  return meta->n_zones;
}

/* Copies the events of @from to @copies, for the zones of @dest from @first on, and its size.
 * Returns their number. */
static guint
copy_events (GstBuffer *dest, guint first, const Events *from, GstClockTimeDiff time,
             GstCclZoneEvent *copies)
{
  const GstCclZonesMeta *meta = &from->meta;
  GstCclZonesMeta *to = gst_buffer_get_ccl_zones_meta (dest);
  GstClockTimeDiff age =
      GST_CLOCK_STIME_IS_VALID (from->time) ? gst_ccl_time_diff (time, from->time) : 0;
  guint i, n = 0;

  for (i = 0; i < meta->n_events; i++) {
    GstCclZoneEvent *event = &copies[n];
    const GstCclZone *zone = gst_ccl_zones_meta_get_zone (meta, meta->events[i].zone);

    if (!zone)
      continue;
    *event = meta->events[i];
    event->zone = find_zone (to, first, zone, first + event->zone);
    if (event->zone == to->n_zones)
      gst_buffer_add_ccl_zones_meta (dest, meta->width, meta->height, zone, 1, NULL, 0);
    event->x *= (gdouble) to->width / meta->width;
    event->y *= (gdouble) to->height / meta->height;
    event->frame_age = gst_ccl_time_diff (event->frame_age, -age);
    n++;
  }
  gst_ccl_zones_translate_events (to, copies, n, meta->class_names);

  return n;
}

void
gst_ccl_events_attach (GArray *self, GstBuffer *dest, guint width, guint height, guint first_zone,
                       guint index, GstClockTimeDiff time)
{
  GstCclZonesMeta *to;
  GstCclZoneEvent *events;
  guint i, n = index;

  if (self->len == 0)
    return;

  to = ensure_zones (dest, width, height);
  if (to->n_zones <= first_zone) { /* all of them, so that they keep their order */
    const GstCclZonesMeta *from = &g_array_index (self, Events, 0).meta;

    gst_buffer_add_ccl_zones_meta (dest, from->width, from->height, from->zones, from->n_zones,
                                   NULL, 0);
  }

  events = g_new (GstCclZoneEvent, gst_ccl_events_count (self) + to->n_events);
  for (i = 0; i < index; i++)
    events[i] = to->events[i];
  for (i = 0; i < self->len; i++)
    n += copy_events (dest, first_zone, &g_array_index (self, Events, i), time, &events[n]);
  for (i = index; i < to->n_events; i++)
    events[n++] = to->events[i];

  g_free (to->events);
  to->events = events;
  to->n_events = n;
  g_array_set_size (self, 0);
}
