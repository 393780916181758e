/* cudaccl - caps with and without overlay compositions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlaycaps.h"

#define COMPOSITION GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION

static GstCaps *
make_blend_caps (void)
{
  GArray *formats = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));
  const GstVideoFormat *all;
  GstCaps *caps;
  guint i, n;

  /* What is not drawn on would be given other colours, too, where there are but a few. */
  all = gst_video_formats_raw (&n);
  for (i = 0; i < n; i++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info (all[i]);

    if (!GST_VIDEO_FORMAT_INFO_HAS_PALETTE (info))
      g_array_append_val (formats, all[i]);
  }
  caps = gst_video_make_raw_caps ((const GstVideoFormat *) formats->data, formats->len);
  g_array_unref (formats);
  GST_MINI_OBJECT_FLAG_SET (caps, GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED);

  return caps;
}

/* The frames that can be drawn on: those that GstVideo can blend without loss. */
static GstCaps *
blend_caps (void)
{
  static GstCaps *caps = NULL;

  if (g_once_init_enter (&caps))
    g_once_init_leave (&caps, make_blend_caps ());

  return caps;
}

/* A structure of @caps alone, with @add, or without @remove. */
static GstCaps *
take (GstCaps *caps, guint index, const gchar *add, const gchar *remove)
{
  GstCapsFeatures *features = gst_caps_features_copy (gst_caps_get_features (caps, index));
  GstCaps *result = gst_caps_new_empty ();

  if (!gst_caps_features_is_any (features)) {
    if (add && !gst_caps_features_contains (features, add))
      gst_caps_features_add (features, add);
    if (remove)
      gst_caps_features_remove (features, remove);
  }
  gst_caps_append_structure_full (result, gst_structure_copy (gst_caps_get_structure (caps, index)),
                                  features);

  return result;
}

static GstCaps *
take_blendable (GstCaps *caps, guint index)
{
  GstCaps *all = take (caps, index, NULL, NULL);
  GstCaps *result = gst_caps_intersect (all, blend_caps ());

  gst_caps_unref (all);

  return result;
}

GstCaps *
gst_ccl_overlay_caps_after (GstCaps *caps)
{
  GstCaps *result = gst_caps_new_empty ();
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++)
    result = gst_caps_merge (result, take (caps, i, COMPOSITION, NULL));
  for (i = 0; i < gst_caps_get_size (caps); i++)
    result = gst_caps_merge (result, take_blendable (caps, i));

  return result;
}

GstCaps *
gst_ccl_overlay_caps_before (GstCaps *caps)
{
  GstCaps *result = gst_caps_new_empty ();
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);

    if (gst_caps_features_is_any (features) || gst_caps_features_contains (features, COMPOSITION)) {
      result = gst_caps_merge (result, take (caps, i, NULL, NULL));
      result = gst_caps_merge (result, take (caps, i, NULL, COMPOSITION));
    } else {
      result = gst_caps_merge (result, take_blendable (caps, i));
    }
  }

  return result;
}

GstCaps *
gst_ccl_overlay_caps_select (GstCaps *caps, gboolean composition)
{
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++) {
    if (gst_caps_features_contains (gst_caps_get_features (caps, i), COMPOSITION) == composition)
      return gst_caps_fixate (take (caps, i, NULL, NULL));
  }

  return NULL;
}
