/* cudaccl - transfers components and zones from one frame to another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/common/gstccltransfer.h>

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>
#include <gst/common/gstcclroi.h>
#include <gst/common/gstcclutils.h>

gboolean
gst_ccl_transfer_has_components (GstBuffer *buffer)
{
  GstCclRois rois;
  gboolean has;

  if (gst_buffer_get_ccl_meta (buffer))
    return TRUE;

  gst_ccl_rois_init (&rois, buffer);
  has = rois.n > 0;
  gst_ccl_rois_clear (&rois);

  return has;
}

/* Scales @meta with its own transform function, or copies it if the size is the same, so that no
 * bit changes. Returns the new metadata, NULL if @meta has no valid size. */
static GstCclMeta *
scale_meta (GstBuffer *dest, guint width, guint height, GstBuffer *source, GstCclMeta *meta)
{
  GstVideoInfo in_info, out_info;
  GstVideoMetaTransform trans = { &in_info, &out_info };

  if (meta->width == 0 || meta->height == 0 || meta->width > G_MAXINT || meta->height > G_MAXINT)
    return NULL;

  if (meta->width == width && meta->height == height) {
    gst_ccl_buffer_copy_meta (dest, source, &meta->meta);
  } else {
    gst_video_info_init (&in_info);
    gst_video_info_init (&out_info);
    GST_VIDEO_INFO_WIDTH (&in_info) = (gint) meta->width;
    GST_VIDEO_INFO_HEIGHT (&in_info) = (gint) meta->height;
    GST_VIDEO_INFO_WIDTH (&out_info) = (gint) width;
    GST_VIDEO_INFO_HEIGHT (&out_info) = (gint) height;
    meta->meta.info->transform_func (dest, &meta->meta, source,
                                     gst_video_meta_transform_scale_get_quark (), &trans);
  }

  return gst_buffer_get_ccl_meta (dest);
}

/* Regions of interest do not have the size of their frame, and GStreamer's transform function loses
 * their parameters. So they are cropped (if @crop is not NULL) and scaled as components. */
static void
put_rois (GstBuffer *dest, guint width, guint height, const GstCclRois *rois, guint source_width,
          guint source_height, const GstVideoCropMeta *crop)
{
  GstBuffer *before = gst_buffer_new (), *after = gst_buffer_new ();
  GstCclMeta *meta;
  guint i;

  meta = gst_buffer_add_ccl_meta (before, source_width, source_height, rois->n, rois->components,
                                  rois->n);
  /* Cropping drops some: labels identify the rest. */
  for (i = 0; i < meta->n_components; i++)
    meta->components[i].label = i;
  if (crop)
    gst_ccl_meta_crop (meta, crop->x, crop->y, crop->width, crop->height);
  meta = scale_meta (after, width, height, before, meta);
  for (i = 0; meta && i < meta->n_components; i++)
    gst_ccl_rois_add_copy (dest, rois->rois[meta->components[i].label], (gint) i,
                           &meta->components[i]);

  gst_buffer_unref (before);
  gst_buffer_unref (after);
}

const GstVideoCropMeta *
gst_ccl_transfer_find_crop (GstBuffer *buffer, guint width, guint height)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const GstVideoMeta *video = gst_buffer_get_video_meta (buffer);

  if (!crop || !video || width != video->width || height != video->height ||
      (width == crop->width && height == crop->height) || crop->width == 0 || crop->height == 0 ||
      (guint64) crop->x + crop->width > width || (guint64) crop->y + crop->height > height)
    return NULL;

  return crop;
}

GstBuffer *
gst_ccl_transfer_extract (GstBuffer *buffer)
{
  GstBuffer *extracted = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  const GstVideoCropMeta *crop =
      meta ? gst_ccl_transfer_find_crop (buffer, meta->width, meta->height) : NULL;
  GstCclRois rois;
  guint i;

  if (meta) {
    gst_ccl_buffer_copy_meta (extracted, buffer, &meta->meta);
    if (crop)
      gst_ccl_meta_crop (gst_buffer_get_ccl_meta (extracted), crop->x, crop->y, crop->width,
                         crop->height);
  }

  gst_ccl_rois_init (&rois, buffer);
  if (crop && rois.n > 0)
    put_rois (extracted, crop->width, crop->height, &rois, meta->width, meta->height, crop);
  for (i = 0; !crop && i < rois.n; i++)
    gst_ccl_buffer_copy_meta (extracted, buffer, &rois.rois[i]->meta);
  gst_ccl_rois_clear (&rois);

  return extracted;
}

void
gst_ccl_transfer_components (GstBuffer *dest, guint dest_width, guint dest_height,
                             GstBuffer *source, guint source_width, guint source_height,
                             GstClockTimeDiff age)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (source);
  GstBuffer *cropped = NULL;
  GstCclRois rois;

  gst_ccl_buffer_remove_components (dest);

  if (meta && gst_ccl_transfer_find_crop (source, meta->width, meta->height)) {
    source = cropped = gst_ccl_transfer_extract (source);
    meta = gst_buffer_get_ccl_meta (source);
  }
  if (meta) {
    source_width = meta->width;
    source_height = meta->height;
    meta = scale_meta (dest, dest_width, dest_height, source, meta);
    if (meta)
      meta->frame_age = gst_ccl_time_diff (meta->frame_age, -age);
  }

  gst_ccl_rois_init (&rois, source);
  if (rois.n > 0)
    put_rois (dest, dest_width, dest_height, &rois, source_width, source_height, NULL);
  if (age != 0 && rois.n > 0)
    gst_ccl_rois_set_frame_age (dest, gst_ccl_time_diff (rois.frame_age, -age));
  gst_ccl_rois_clear (&rois);
  gst_clear_buffer (&cropped);
}

GstBuffer *
gst_ccl_transfer_extract_zones (GstBuffer *buffer)
{
  GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);
  const GstVideoCropMeta *crop;
  GstBuffer *extracted;

  if (!meta || meta->width == 0 || meta->height == 0)
    return NULL;

  extracted = gst_buffer_new ();
  gst_ccl_buffer_copy_meta (extracted, buffer, &meta->meta);
  crop = gst_ccl_transfer_find_crop (buffer, meta->width, meta->height);
  if (crop)
    gst_ccl_zones_meta_crop (gst_buffer_get_ccl_zones_meta (extracted), crop->x, crop->y,
                             crop->width, crop->height);

  return extracted;
}

void
gst_ccl_transfer_zones (GstBuffer *dest, guint dest_width, guint dest_height, GstBuffer *source)
{
  GstBuffer *extracted = gst_ccl_transfer_extract_zones (source);
  GstCclZonesMeta *meta;

  if (!extracted)
    return;

  if (!gst_buffer_get_ccl_zones_meta (dest))
    gst_buffer_add_ccl_zones_meta (dest, dest_width, dest_height, NULL, 0, NULL, 0);
  meta = gst_buffer_get_ccl_zones_meta (extracted);
  gst_buffer_add_ccl_zones_meta (dest, meta->width, meta->height, meta->zones, meta->n_zones,
                                 meta->events, meta->n_events);
  gst_buffer_unref (extracted);
}

/* The index of @zone in @meta, or its number of zones. Zones of several elements may have the same
 * name: the one at @index is preferred. */
static guint
find_zone (const GstCclZonesMeta *meta, const GstCclZone *zone, guint index)
{
  guint i, k;

  for (k = 0; k <= meta->n_zones; k++) {
    const GstCclZone *other;

    i = k == 0 ? index : k - 1;
    other = gst_ccl_zones_meta_get_zone (meta, i);
    if (other && other->tripwire == zone->tripwire && g_strcmp0 (other->name, zone->name) == 0)
      return i;
  }

  return meta->n_zones;
}

/* Copies the events of @from to @events, for the zones and the size of @to; returns their number.
 */
static guint
copy_events (GstBuffer *dest, guint first, const GstCclZonesMeta *from, GstClockTimeDiff age,
             GstCclZoneEvent *events)
{
  const GstCclZonesMeta *to = gst_buffer_get_ccl_zones_meta (dest);
  guint i, n = 0;

  for (i = 0; i < from->n_events; i++) {
    GstCclZoneEvent *event = &events[n];
    const GstCclZone *zone;

    *event = from->events[i];
    zone = gst_ccl_zones_meta_get_zone (from, event->zone);
    if (!zone)
      continue;
    event->zone = find_zone (to, zone, first + event->zone);
    if (event->zone == to->n_zones)
      gst_buffer_add_ccl_zones_meta (dest, from->width, from->height, zone, 1, NULL, 0);
    event->x *= (gdouble) to->width / from->width;
    event->y *= (gdouble) to->height / from->height;
    event->frame_age = gst_ccl_time_diff (event->frame_age, -age);
    n++;
  }

  return n;
}

static const GstCclZonesMeta *
get_events (GstBuffer *buffer)
{
  const GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);

  return meta && meta->n_events > 0 && meta->width > 0 && meta->height > 0 ? meta : NULL;
}

void
gst_ccl_transfer_events (GstBuffer *dest, guint first, const GstCclEvents *sources, guint n_sources)
{
  const GstCclZonesMeta *from;
  GstCclZonesMeta *to = NULL;
  GstCclZoneEvent *events;
  gsize most = 0;
  guint i, n = 0;

  for (i = 0; i < n_sources; i++) {
    from = get_events (sources[i].zones);
    if (!from)
      continue;
    most += from->n_events;
    if (to)
      continue;
    to = gst_buffer_add_ccl_zones_meta (dest, from->width, from->height, NULL, 0, NULL, 0);
    if (to->n_zones == 0) /* all of them, so that they keep their order */
      gst_buffer_add_ccl_zones_meta (dest, from->width, from->height, from->zones, from->n_zones,
                                     NULL, 0);
  }
  if (!to)
    return;

  events = g_new (GstCclZoneEvent, most + to->n_events);
  for (i = 0; i < n_sources; i++) {
    from = get_events (sources[i].zones);
    if (from)
      n += copy_events (dest, first, from, sources[i].age, &events[n]);
  }
  for (i = 0; i < to->n_events; i++)
    events[n++] = to->events[i];

  g_free (to->events);
  to->events = events;
  to->n_events = n;
}
