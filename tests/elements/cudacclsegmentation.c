/* cudaccl - tests of the element cudaccl: GStreamer's segmentation metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/analytics/analytics.h>

#include "tests/lib/ccltest.h"

#define WIDTH 160
#define HEIGHT 120
#define SEGMENTATION "cudaccl backend=cpu segmentation=true connectivity=4"

/* The classes of the mask's pixels; 0 is background. */
static const guint8 mask[] = {
  0, 0, 0, 0, 0, 0, 0, 0, /* */
  0, 7, 7, 0, 0, 0, 9, 9, /* */
  0, 7, 9, 9, 0, 0, 0, 9, /* */
  0, 0, 0, 0, 0, 0, 0, 0, /* */
  0, 0, 0, 0, 7, 7, 7, 7, /* */
  0, 0, 0, 0, 0, 0, 0, 0, /* */
};

/* Its components, in mask pixels, with 4-connectivity. */
static const struct
{
  guint x, y, width, height, area, class_id;
  gdouble centroid_x, centroid_y;
} objects[] = {
  { 1, 1, 2, 2, 3, 7, 4 / 3.0, 4 / 3.0 },
  { 6, 1, 2, 2, 3, 9, 20 / 3.0, 4 / 3.0 },
  { 2, 2, 2, 1, 2, 9, 2.5, 2.0 },
  { 4, 4, 4, 1, 4, 7, 5.5, 4.0 },
};

#define MASK_WIDTH 8
#define MASK_HEIGHT 6

static GstBuffer *
mask_new (GstVideoFormat format)
{
  const guint size = format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, sizeof (mask) * size + 2 * MASK_HEIGHT, NULL);
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { (gint) (MASK_WIDTH * size + 2) };
  GstMapInfo map;
  guint i;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  memset (map.data, 255, map.size);
  for (i = 0; i < sizeof (mask); i++) {
    guint8 *pixel = map.data + i / MASK_WIDTH * (guint) stride[0] + i % MASK_WIDTH * size;

    memset (pixel, 0, size);
    pixel[format == GST_VIDEO_FORMAT_GRAY16_BE] = mask[i];
  }
  gst_buffer_unmap (buffer, &map);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, MASK_WIDTH,
                                  MASK_HEIGHT, 1, offset, stride);

  return buffer;
}

/* A bright frame in colour, whose mask lies in the rectangle. */
static GstBuffer *
segmented_new (GstVideoFormat format, gint x, gint y, guint width, guint height)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3, NULL);
  GstAnalyticsSegmentationMtd segmentation;
  guint ids[] = { 0, 7, 9 };

  gst_buffer_memset (buffer, 0, 255, WIDTH * HEIGHT * 3);
  if (format != GST_VIDEO_FORMAT_UNKNOWN)
    fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (
        gst_buffer_add_analytics_relation_meta (buffer), mask_new (format),
        GST_SEGMENTATION_TYPE_SEMANTIC, G_N_ELEMENTS (ids), ids, x, y, width, height,
        &segmentation));

  return buffer;
}

/* Masks of all formats, ten frame pixels for each of theirs, at (x, 20), which may be outside. */
GST_START_TEST (test_masks)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE,
                                            GST_VIDEO_FORMAT_GRAY16_BE };
  static const gint lefts[] = { 0, 40, -30, 120 };
  GstHarness *h = ccl_test_harness_new (ccl_test_parse (SEGMENTATION), "RGB", WIDTH, HEIGHT);
  guint f, l, i;

  for (f = 0; f < G_N_ELEMENTS (formats); f++)
    for (l = 0; l < G_N_ELEMENTS (lefts); l++) {
      GstBuffer *out =
          gst_harness_push_and_pull (h, segmented_new (formats[f], lefts[l], 20, 80, 60));
      GstCclMeta *meta = gst_buffer_get_ccl_meta (out);

      fail_unless (meta);
      fail_unless_equals_int (meta->width, WIDTH);
      fail_unless_equals_int (meta->height, HEIGHT);
      fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), G_N_ELEMENTS (objects));
      for (i = 0; i < G_N_ELEMENTS (objects); i++) {
        const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
        gint left = lefts[l] + 10 * (gint) objects[i].x, right;

        right = CLAMP (left + 10 * (gint) objects[i].width, 1, WIDTH);
        left = CLAMP (left, 0, WIDTH - 1);
        fail_unless_equals_int (c->x, left);
        fail_unless_equals_int (c->width, MAX (right - left, 1));
        fail_unless_equals_int (c->y, 20 + 10 * objects[i].y);
        fail_unless_equals_int (c->height, 10 * objects[i].height);
        fail_unless_equals_int (c->area, 100 * objects[i].area);
        fail_unless_equals_int (c->class_id, objects[i].class_id);
        fail_unless (ABS (c->centroid_x - (lefts[l] + 10 * objects[i].centroid_x + 4.5)) < 1e-9);
        fail_unless (ABS (c->centroid_y - (20 + 10 * objects[i].centroid_y + 4.5)) < 1e-9);
      }
      gst_buffer_unref (out);
    }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frame pixels that a mask pixel covers in part are in the box. */
GST_START_TEST (test_fractions)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_parse (SEGMENTATION), "RGB", WIDTH, HEIGHT);
  GstBuffer *out =
      gst_harness_push_and_pull (h, segmented_new (GST_VIDEO_FORMAT_GRAY8, 0, 0, 10, 5));
  const GstCclComponent *c = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0);

  fail_unless_equals_int (c->x, 1);     /* 1.25 */
  fail_unless_equals_int (c->width, 3); /* to 3.75 */
  fail_unless_equals_int (c->y, 0);     /* 0.83 */
  fail_unless_equals_int (c->height, 3);
  fail_unless_equals_int (c->area, 3); /* 3.125 */
  gst_buffer_unref (out);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A network may skip frames. */
GST_START_TEST (test_no_mask)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_parse (SEGMENTATION), "RGB", WIDTH, HEIGHT);
  GstBuffer *out;

  out = gst_harness_push_and_pull (h, segmented_new (GST_VIDEO_FORMAT_UNKNOWN, 0, 0, 0, 0));
  fail_if (gst_buffer_get_ccl_meta (out));
  gst_buffer_unref (out);
  out = gst_harness_push_and_pull (h, segmented_new (GST_VIDEO_FORMAT_GRAY8, 0, 0, WIDTH, HEIGHT));
  fail_unless (gst_buffer_get_ccl_meta (out));
  gst_buffer_unref (out);
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_parse (SEGMENTATION), "RGB", WIDTH, HEIGHT);

  fail_unless_equals_int (
      gst_harness_push (h, segmented_new (GST_VIDEO_FORMAT_GRAY8, 0, 0, 0, HEIGHT)),
      GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "mask without size");
  ccl_test_harness_free (h);

  ccl_test_check_start_fails (ccl_test_parse (SEGMENTATION " features=ellipse"), GST_LIBRARY_ERROR,
                              GST_LIBRARY_ERROR_SETTINGS, "features");
}
GST_END_TEST;

/* Returns the value of a pixel of the mask, in the little-endian order. */
static guint
mask_value (GstBuffer *mask, guint x, guint y)
{
  GstVideoMeta *video = gst_buffer_get_video_meta (mask);
  const gboolean wide = video->format != GST_VIDEO_FORMAT_GRAY8;
  GstMapInfo map;
  guint8 *pixel;
  guint value;

  fail_unless (gst_buffer_map (mask, &map, GST_MAP_READ));
  pixel = map.data + video->offset[0] + y * (gsize) video->stride[0] + x * (wide ? 2 : 1);
  value = !wide                                         ? *pixel
          : video->format == GST_VIDEO_FORMAT_GRAY16_LE ? GST_READ_UINT16_LE (pixel)
                                                        : GST_READ_UINT16_BE (pixel);
  gst_buffer_unmap (mask, &map);

  return value;
}

static GstBuffer *
get_mask (GstBuffer *buffer, gsize n_regions, GstAnalyticsSegmentationMtd *segmentation)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  gpointer state = NULL;
  guint width, height;
  gint x, y;
  GstBuffer *mask;

  fail_unless (meta != NULL);
  fail_unless (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_segmentation_mtd_get_mtd_type (), segmentation));
  fail_unless_equals_int (gst_analytics_segmentation_mtd_get_region_count (segmentation),
                          n_regions);
  mask = gst_analytics_segmentation_mtd_get_mask (segmentation, &x, &y, &width, &height);
  fail_unless (x == 0 && y == 0 && width == PICTURE_WIDTH && height == PICTURE_HEIGHT);

  return mask;
}

/* cclcolor writes its labels as instances, whatever its output is. */
GST_START_TEST (test_instances)
{
  static const gchar *const outputs[] = { "RGBx", "GRAY16_LE", "GRAY16_BE" };
  GstHarness *h = ccl_test_launch (
      PICTURE_WIDTH, PICTURE_HEIGHT,
      "cclcolor backend=cpu attach=components+analytics ! capsfilter caps=video/x-raw,format=%s",
      outputs[__i__]);
  guint i, k;

  for (k = 0; k < 2; k++) {
    GstBuffer *out = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED)),
              *mask;
    GstAnalyticsSegmentationMtd segmentation;

    mask = get_mask (out, 1 + n_picture_blobs, &segmentation);
    for (i = 0; i < n_picture_blobs; i++) {
      fail_unless_equals_int (gst_analytics_segmentation_mtd_get_region_id (&segmentation, i), i);
      fail_unless_equals_int (mask_value (mask, picture_blobs[i].x + (i == 1), picture_blobs[i].y),
                              i + 1);
    }
    fail_unless_equals_int (mask_value (mask, 4, 1), 0);
    gst_buffer_unref (mask);
    gst_buffer_unref (out);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The pool of masks goes when the element stops, and comes again. */
GST_START_TEST (test_masks_pool)
{
  GstHarness *h = ccl_test_launch (
      PICTURE_WIDTH, PICTURE_HEIGHT,
      "cclcolor backend=cpu attach=analytics ! capsfilter caps=video/x-raw,format=RGBx");
  guint k;

  for (k = 0; k < 2; k++) {
    GstBuffer *out = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
    GstAnalyticsSegmentationMtd segmentation;
    GstBuffer *mask = get_mask (out, 1 + n_picture_blobs, &segmentation);
    GstBufferPool *pool = mask->pool;

    fail_unless (pool != NULL);
    g_object_add_weak_pointer (G_OBJECT (pool), (gpointer *) &pool);
    gst_buffer_unref (mask);
    gst_buffer_unref (out);
    ccl_test_restart (h, GST_STATE_READY);
    fail_unless (pool == NULL);
    ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* cclmask writes its mask as classes. */
GST_START_TEST (test_semantic)
{
  GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT,
                                   "cclmask backend=cpu attach=analytics shadows=mark warm-up=0 "
                                   "morphology=none");
  static const gchar *const names[] = { "background", "moving", "shadow" };
  GstAnalyticsSegmentationMtd segmentation;
  GstAnalyticsClsMtd classes;
  GstBuffer *out, *mask;
  guint i;

  for (i = 0; i < 20; i++) {
    out = gst_buffer_new_allocate (NULL, 16 * PICTURE_HEIGHT, NULL);
    gst_buffer_memset (out, 0, 100, 16 * PICTURE_HEIGHT);
    GST_BUFFER_PTS (out) = i * 100 * GST_MSECOND;
    if (i == 19)
      gst_buffer_memset (out, 0, 250, 16 * 2);
    out = gst_harness_push_and_pull (h, out);
    if (i < 19)
      gst_buffer_unref (out);
  }
  mask = get_mask (out, 3, &segmentation);
  fail_unless_equals_int (mask_value (mask, 3, 0), 255);
  fail_unless_equals_int (mask_value (mask, 3, 5), 0);
  fail_unless (gst_analytics_relation_meta_get_direct_related (
      segmentation.meta, segmentation.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_cls_mtd_get_mtd_type (), NULL, &classes));
  for (i = 0; i < 3; i++) {
    gsize index;

    fail_unless (gst_analytics_segmentation_mtd_get_region_index (&segmentation, &index,
                                                                  i == 0   ? 0
                                                                  : i == 1 ? 255
                                                                           : 127));
    fail_unless_equals_string (
        g_quark_to_string (gst_analytics_cls_mtd_get_quark (&classes, index)), names[i]);
  }
  gst_buffer_unref (mask);
  gst_buffer_unref (out);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cudacclsegmentation_suite (void)
{
  Suite *s = suite_create ("cudacclsegmentation");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_masks);
  tcase_add_test (tc, test_fractions);
  tcase_add_test (tc, test_no_mask);
  tcase_add_test (tc, test_errors);
  tcase_add_loop_test (tc, test_instances, 0, 3);
  tcase_add_test (tc, test_masks_pool);
  tcase_add_test (tc, test_semantic);

  return s;
}
GST_CHECK_MAIN (cudacclsegmentation);
