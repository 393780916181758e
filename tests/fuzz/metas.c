/* cudaccl - fuzzing: frames and their metadata, as broken elements and other processes make them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/metas.h"

#include <math.h>
#include <string.h>

#define MOST_COMPONENTS 12

void
fuzz_component (FuzzInput *input, guint width, guint height, GstCclComponent *component)
{
  gboolean hostile = fuzz_one_in (input, 3);

  memset (component, 0, sizeof (*component));
  if (hostile) {
    component->label = fuzz_hostile_u32 (input);
    component->x = fuzz_hostile_u32 (input);
    component->y = fuzz_hostile_u32 (input);
    component->width = fuzz_hostile_u32 (input);
    component->height = fuzz_hostile_u32 (input);
    component->area = fuzz_hostile_u64 (input);
    component->centroid_x = fuzz_hostile_double (input);
    component->centroid_y = fuzz_hostile_double (input);
  } else {
    component->label = fuzz_u8 (input);
    component->x = fuzz_u32 (input) % MAX (width, 1);
    component->y = fuzz_u8 (input) % MAX (height, 1);
    component->width = 1 + fuzz_u8 (input) % MAX (width - component->x, 1);
    component->height = 1 + fuzz_u8 (input) % MAX (height - component->y, 1);
    component->area = MAX ((guint64) component->width * component->height / 2, 1);
    component->centroid_x = component->x + (component->width - 1) / 2.0;
    component->centroid_y = component->y + (component->height - 1) / 2.0;
  }
  if (!fuzz_one_in (input, 3))
    return;
  component->track = hostile ? fuzz_hostile_u32 (input) : 1 + fuzz_below (input, 9);
  component->age = fuzz_hostile_u64 (input);
  component->velocity_x = fuzz_hostile_double (input);
  component->velocity_y = fuzz_hostile_double (input);
}

/* Zones at the corners and centroids of the components, and an event for each. They take no
 * input bytes, so the corpus keeps its meaning. */
static void
add_zones_meta (GstBuffer *buffer, guint width, guint height, const GstCclComponent *components,
                guint n)
{
  gdouble points[2 * MOST_COMPONENTS], line[4];
  GstCclZone zones[] = { { (gchar *) "a", FALSE, components[0].label, n, points, 1, 2, 3 },
                         { (gchar *) "\"\xff\n", TRUE, 0, 2, line, G_MAXUINT64, 0, 0 } };
  GstCclZoneEvent events[MOST_COMPONENTS];
  GstCclZonesMeta *meta;
  guint i;

  for (i = 0; i < n; i++) {
    const GstCclComponent *c = &components[i];

    points[2 * i] = c->centroid_x;
    points[2 * i + 1] = c->centroid_y;
    events[i] = (GstCclZoneEvent){ (GstCclZoneEventType) (c->label / 4 % 6),
                                   i % 2,
                                   c->track,
                                   c->age,
                                   c->x,
                                   c->centroid_y,
                                   c->area,
                                   c->area,
                                   c->width,
                                   (gint64) c->age };
  }
  line[0] = components[0].x;
  line[1] = components[0].y;
  line[2] = components[0].centroid_x;
  line[3] = components[0].centroid_y;
  meta =
      gst_buffer_add_ccl_zones_meta (buffer, MAX (width, 1), MAX (height, 1), zones, 2, events, n);
  meta->width = width;
  meta->height = height;
}

/* Classes by the labels, with names or without: they take no input bytes. */
static void
set_classes (GstCclMeta *meta)
{
  static const gchar *const strings[] = { "person", "\"\xff\n", "", "person", NULL };
  GstCclClassNames *names;
  guint i;

  for (i = 0; i < meta->n_components; i++) {
    GstCclComponent *component = &meta->components[i];

    component->class_id = component->label % 7;
    component->confidence =
        component->class_id < 5 ? component->class_id / 4.0 : component->centroid_x;
    component->flags = component->label % 5 < 2 ? component->label % 5 * 2 + 1 : 0;
    component->static_age = component->flags ? component->x : 0;
  }
  if (meta->n_components == 0 || meta->components[0].label % 3 == 0)
    return;
  names = gst_ccl_class_names_new (strings + meta->components[0].label % 2);
  gst_ccl_meta_set_class_names (meta, names);
  gst_ccl_class_names_unref (names);
}

static void
add_ccl_meta (FuzzInput *input, GstBuffer *buffer, guint width, guint height)
{
  GstCclComponent components[MOST_COMPONENTS];
  guint n = fuzz_below (input, MOST_COMPONENTS + 1), found = n, i;

  if (fuzz_one_in (input, 4)) {
    width = fuzz_hostile_u32 (input);
    height = fuzz_hostile_u32 (input);
  }
  if (fuzz_one_in (input, 8)) {
    found = fuzz_hostile_u32 (input);
    found = MAX (found, n);
  }
  for (i = 0; i < n; i++)
    fuzz_component (input, width, height, &components[i]);
  set_classes (gst_buffer_add_ccl_meta (buffer, width, height, found, components, n));
  if (n > 0 && components[0].label % 4 == 3)
    add_zones_meta (buffer, width, height, components, n);
}

/* A field that may have another type than ours, or be missing. */
static void
set_field (FuzzInput *input, GstStructure *param, const gchar *name, GType type)
{
  switch (fuzz_below (input, 10)) {
  case 0:
    return;
  case 1:
    gst_structure_set (param, name, G_TYPE_STRING, "text", NULL);
    return;
  case 2:
    gst_structure_set (param, name, G_TYPE_INT64, (gint64) fuzz_hostile_u64 (input), NULL);
    return;
  default:
    break;
  }
  if (type == G_TYPE_UINT)
    gst_structure_set (param, name, type, fuzz_hostile_u32 (input), NULL);
  else if (type == G_TYPE_UINT64)
    gst_structure_set (param, name, type, fuzz_hostile_u64 (input), NULL);
  else
    gst_structure_set (param, name, type, fuzz_hostile_double (input), NULL);
}

/* A class and a confidence, or something else, by the label: they take no input bytes. */
static void
set_class (GstStructure *param)
{
  static const gchar *const names[] = { "person", "", "\xff\x01\"", "car" };
  static const gdouble confidences[] = { 0.5, -1.0, NAN, 1e300, 1.0 };
  guint label;

  if (!gst_structure_get_uint (param, "label", &label) || label % 2)
    return;
  gst_structure_set (param, "class", G_TYPE_STRING, names[label / 2 % 4], "confidence",
                     G_TYPE_DOUBLE, confidences[label / 8 % 5], NULL);
}

static void
add_roi (FuzzInput *input, GstBuffer *buffer, guint width, guint height)
{
  static const gchar *const types[] = { "component", "face", "" };
  static const struct
  {
    const gchar *name;
    GType type;
  } fields[] = {
    { "label", G_TYPE_UINT },        { "area", G_TYPE_UINT64 },
    { "centroid-x", G_TYPE_DOUBLE }, { "centroid-y", G_TYPE_DOUBLE },
    { "track", G_TYPE_UINT },        { "age", G_TYPE_UINT64 },
    { "velocity-x", G_TYPE_DOUBLE }, { "velocity-y", G_TYPE_DOUBLE },
  };
  GstVideoRegionOfInterestMeta *roi;
  GstCclComponent box;
  guint i, n_params = fuzz_below (input, 3);

  fuzz_component (input, width, height, &box);
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, types[fuzz_below (input, 3)], box.x,
                                                      box.y, box.width, box.height);
  roi->id = (gint) (fuzz_one_in (input, 4) ? fuzz_hostile_u32 (input) : fuzz_below (input, 9));
  roi->parent_id = fuzz_one_in (input, 8) ? (gint) fuzz_hostile_u32 (input) : -1;
  for (i = 0; i < n_params; i++) {
    GstStructure *param =
        gst_structure_new_empty (fuzz_one_in (input, 4) ? "detection" : "cudaccl");
    guint k;

    for (k = 0; k < G_N_ELEMENTS (fields); k++)
      set_field (input, param, fields[k].name, fields[k].type);
    set_class (param);
    gst_video_region_of_interest_meta_add_param (roi, param);
  }
}

static void
add_crop (FuzzInput *input, GstBuffer *buffer, guint width, guint height)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  if (fuzz_one_in (input, 2)) {
    crop->x = fuzz_hostile_u32 (input);
    crop->y = fuzz_hostile_u32 (input);
    crop->width = fuzz_hostile_u32 (input);
    crop->height = fuzz_hostile_u32 (input);
  } else {
    crop->x = fuzz_u8 (input) % (width + 1);
    crop->y = fuzz_u8 (input) % (height + 1);
    crop->width = fuzz_u8 (input) % (width - crop->x + 1);
    crop->height = fuzz_u8 (input) % (height - crop->y + 1);
  }
}

static void
add_found (FuzzInput *input, GstBuffer *buffer, guint width, guint height)
{
  guint n, i;

  if (!fuzz_one_in (input, 4))
    add_ccl_meta (input, buffer, width, height);
  if (!fuzz_one_in (input, 3))
    return;
  n = fuzz_below (input, 6);
  for (i = 0; i < n; i++)
    add_roi (input, buffer, width, height);
}

void
fuzz_add_metas (FuzzInput *input, GstBuffer *buffer, guint width, guint height)
{
  if (fuzz_one_in (input, 4))
    add_crop (input, buffer, width, height);
  add_found (input, buffer, width, height);
}

/* Strides and offsets of pixels that may not exist. */
static void
lie_about_planes (FuzzInput *input, GstVideoMeta *meta)
{
  guint i;

  for (i = 0; i < meta->n_planes; i++) {
    if (fuzz_one_in (input, 2))
      meta->stride[i] = (gint) fuzz_hostile_u32 (input);
    else if (fuzz_one_in (input, 2))
      meta->stride[i] = -meta->stride[i];
    if (fuzz_one_in (input, 2))
      meta->offset[i] = fuzz_one_in (input, 2) ? fuzz_hostile_u64 (input) : fuzz_u8 (input);
  }
}

/* Says too few bytes, or other pixels than there are. */
static void
damage (FuzzInput *input, GstBuffer *buffer, GstVideoMeta *meta)
{
  gsize size = gst_buffer_get_size (buffer);
  guint i;

  /* An error, not a crash: seldom, as everything ends there. */
  if (fuzz_one_in (input, 16))
    gst_buffer_set_size (buffer, (gssize) fuzz_below (input, (guint) size));
  for (i = 0; fuzz_one_in (input, 8) && i < meta->n_planes; i++)
    meta->offset[i] %= size;

  if (fuzz_one_in (input, 8))
    lie_about_planes (input, meta);
}

/* The part of a larger frame that the caps describe. */
static void
add_true_crop (FuzzInput *input, GstBuffer *buffer, const GstVideoInfo *larger,
               const GstVideoInfo *info)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  crop->x = fuzz_below (input, (guint) (larger->width - info->width) + 1);
  crop->y = fuzz_below (input, (guint) (larger->height - info->height) + 1);
  /* Their pixels share chroma in pairs. */
  if (GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_YUY2 ||
      GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_UYVY)
    crop->x -= crop->x % 2;
  crop->width = (guint) info->width;
  crop->height = (guint) info->height;
}

/* A GstVideoMeta of the caps' format, and perhaps of a larger frame with larger strides. */
static GstBuffer *
padded_frame_new (FuzzInput *input, const GstVideoInfo *info, FuzzMetas kind)
{
  GstVideoInfo larger = *info;
  GstVideoAlignment align;
  GstVideoMeta *meta;
  GstBuffer *buffer;

  gst_video_alignment_reset (&align);
  /* GStreamer forgets rows of chroma if the luma's padding is odd. */
  align.padding_left = 2 * fuzz_below (input, 5);
  align.padding_top = 2 * fuzz_below (input, 3);
  align.padding_right = 2 * fuzz_below (input, 5);
  align.padding_bottom = 2 * fuzz_below (input, 3);
  if (fuzz_one_in (input, 3)) { /* for a GstVideoCropMeta */
    gst_video_info_set_format (&larger, GST_VIDEO_INFO_FORMAT (info),
                               (guint) info->width + fuzz_below (input, 20),
                               (guint) info->height + fuzz_below (input, 20));
  }
  if (!gst_video_info_align (&larger, &align))
    larger = *info;
  buffer = gst_buffer_new_allocate (NULL, larger.size, NULL);
  gst_buffer_memset (buffer, 0, 80, larger.size);
  meta = gst_buffer_add_video_meta_full (
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (&larger), (guint) larger.width,
      (guint) larger.height, GST_VIDEO_INFO_N_PLANES (&larger), larger.offset, larger.stride);
  if (kind != FUZZ_METAS_TRUE)
    damage (input, buffer, meta);
  else if (larger.width != info->width || larger.height != info->height)
    add_true_crop (input, buffer, &larger, info);

  return buffer;
}

/* A GstVideoMeta that elements must not trust. */
static void
add_hostile_video_meta (FuzzInput *input, GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta =
      gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1);
  guint i;

  meta->format =
      fuzz_one_in (input, 2) ? GST_VIDEO_FORMAT_UNKNOWN : (GstVideoFormat) fuzz_below (input, 80);
  meta->width = fuzz_one_in (input, 2) ? fuzz_hostile_u32 (input) : (guint) info->width;
  meta->height = fuzz_one_in (input, 2) ? fuzz_hostile_u32 (input) : (guint) info->height;
  meta->n_planes = fuzz_below (input, GST_VIDEO_MAX_PLANES + 1);
  for (i = 0; i < GST_VIDEO_MAX_PLANES; i++) {
    meta->offset[i] = fuzz_hostile_u64 (input);
    meta->stride[i] = (gint) fuzz_hostile_u32 (input);
  }
}

GstBuffer *
fuzz_frame (FuzzInput *input, const GstVideoInfo *info, FuzzMetas kind)
{
  GstBuffer *buffer;

  switch (fuzz_below (input, 4)) {
  case 0:
    buffer = kind == FUZZ_METAS_HOSTILE ? gst_buffer_new () : padded_frame_new (input, info, kind);
    break;
  case 1:
    if (kind == FUZZ_METAS_HOSTILE) {
      buffer = gst_buffer_new ();
      add_hostile_video_meta (input, buffer, info);
      break;
    }
    /* fall through */
  default:
    buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
    gst_buffer_memset (buffer, 0, fuzz_u8 (input), info->size);
  }
  if (kind == FUZZ_METAS_TRUE)
    add_found (input, buffer, (guint) info->width, (guint) info->height);
  else
    fuzz_add_metas (input, buffer, (guint) info->width, (guint) info->height);

  return buffer;
}
