/* cudaccl - tests of the element cudaccl: GStreamer's analytics metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/analytics/analytics.h>
#include <string.h>

#include "tests/lib/ccltest.h"
#include "tests/lib/heap.h"

/* As many isolated pixels as fit, in a grid. */
#define GRID_WIDTH 256
#define GRID_HEIGHT 80
#define GRID_POINTS (GRID_WIDTH / 2 * GRID_HEIGHT / 2)

static GstBuffer *
grid_new (void)
{
  GstBuffer *buffer = ccl_test_black_new (GRID_WIDTH, GRID_HEIGHT);
  GstMapInfo map;
  guint x, y;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (y = 0; y < GRID_HEIGHT; y += 2)
    for (x = 0; x < GRID_WIDTH; x += 2)
      map.data[y * GRID_WIDTH + x] = 255;
  /* The last one is larger: it stays when components are left out. */
  map.data[GRID_WIDTH * GRID_HEIGHT - 2 * GRID_WIDTH + GRID_WIDTH - 1] = 255;
  map.data[GRID_WIDTH * GRID_HEIGHT - 1] = 255;
  gst_buffer_unmap (buffer, &map);

  return buffer;
}

static void
check_entry (GstAnalyticsRelationMeta *meta, guint i, const gchar *type, const Blob *blob)
{
  GstAnalyticsODMtd detection;
  gint x, y, width, height;
  gfloat confidence;

  fail_unless (gst_analytics_relation_meta_get_od_mtd (meta, i, &detection));
  fail_unless (
      gst_analytics_od_mtd_get_location (&detection, &x, &y, &width, &height, &confidence));
  fail_unless_equals_int (x, blob->x);
  fail_unless_equals_int (y, blob->y);
  fail_unless_equals_int (width, blob->width);
  fail_unless_equals_int (height, blob->height);
  fail_unless (confidence == 1.0f);
  fail_unless_equals_string (g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&detection)),
                             type);
}

static void
check_detections (GstBuffer *buffer, guint n_before, const gchar *type)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  guint i;

  fail_unless (meta != NULL);
  fail_unless_equals_int (gst_analytics_relation_get_length (meta), n_before + n_picture_blobs);
  for (i = 0; i < n_picture_blobs; i++)
    check_entry (meta, n_before + i, type, &picture_blobs[i]);
}

GST_START_TEST (test_content)
{
  GstHarness *h =
      ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=cpu attach=analytics");
  GstBuffer *buffer, *copy;

  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  ccl_test_check_nothing (buffer);
  check_detections (buffer, 0, "blob");
  copy = gst_buffer_copy (buffer);
  check_detections (copy, 0, "blob");
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);

  g_object_set (h->element, "roi-type", "person", NULL);
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  check_detections (buffer, 0, "person");
  gst_buffer_unref (buffer);

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The other metadata, without analytics (the default) and with it. */
GST_START_TEST (test_beside_components)
{
  GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=cpu attach=%s",
                                   __i__ ? "components+roi+analytics" : "components+roi");
  GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));

  ccl_test_check_picture (buffer);
  if (__i__)
    check_detections (buffer, 0, "blob");
  else
    fail_unless (gst_buffer_get_analytics_relation_meta (buffer) == NULL);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A frame without components has empty metadata. */
GST_START_TEST (test_empty)
{
  GstHarness *h =
      ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=cpu attach=analytics");
  GstBuffer *buffer =
      gst_harness_push_and_pull (h, ccl_test_black_new (PICTURE_WIDTH, PICTURE_HEIGHT));
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);

  fail_unless (meta != NULL);
  fail_unless_equals_int (gst_analytics_relation_get_length (meta), 0);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Other elements' detections stay. */
GST_START_TEST (test_beside_others)
{
  GstHarness *h =
      ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=cpu attach=analytics");
  GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  const Blob other = { 1, 2, 3, 4, 0, 0.0, 0.0 };
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsODMtd detection;

  meta = gst_buffer_add_analytics_relation_meta (buffer);
  gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_static_string ("cat"), other.x,
                                          other.y, other.width, other.height, 1.0f, &detection);
  buffer = gst_harness_push_and_pull (h, buffer);
  check_detections (buffer, 1, "blob");
  check_entry (gst_buffer_get_analytics_relation_meta (buffer), 0, "cat", &other);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The largest components are added in raster order, the first among equals. */
GST_START_TEST (test_limit)
{
  GstHarness *h =
      ccl_test_launch (GRID_WIDTH, GRID_HEIGHT,
                       "cudaccl backend=cpu attach=analytics+components max-components=65536");
  GstBuffer *buffer = gst_harness_push_and_pull (h, grid_new ());
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  const Blob last = { GRID_WIDTH - 2, GRID_HEIGHT - 2, 2, 2, 0, 0.0, 0.0 };
  Blob point = { 0, 0, 1, 1, 0, 0.0, 0.0 };
  const guint max = 4096;
  guint i;

  fail_unless (GRID_POINTS > max);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, GRID_POINTS);
  fail_unless_equals_int (gst_analytics_relation_get_length (meta), max);
  for (i = 0; i < max - 1; i++) {
    point.x = i % (GRID_WIDTH / 2) * 2;
    point.y = i / (GRID_WIDTH / 2) * 2;
    check_entry (meta, i, "blob", &point);
  }
  check_entry (meta, max - 1, "blob", &last);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

#ifdef HAVE_MALLINFO2
/* The n x n adjacency matrix is allocated once, and not larger than needed. */
GST_START_TEST (test_memory)
{
  const gsize n = 1024;
  GstHarness *h = ccl_test_launch (
      GRID_WIDTH, GRID_HEIGHT, "cudaccl backend=cpu attach=analytics max-components=%u", (guint) n);
  GstBuffer *buffer;
  gsize before, after;

  ccl_test_push (h, grid_new ());
  buffer = grid_new ();
  before = test_heap_bytes ();
  buffer = gst_harness_push_and_pull (h, buffer);
  after = test_heap_bytes ();

  fail_unless_equals_int (
      gst_analytics_relation_get_length (gst_buffer_get_analytics_relation_meta (buffer)), n);
  fail_unless (after - before >= n * n);
  fail_unless (after - before < n * n + n * 100 + 16384, "%" G_GSIZE_FORMAT " bytes",
               after - before);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;
#endif

/* GStreamer's own overlay draws the boxes: lines of some width near their edges. */
#define SCENE_WIDTH 96
#define SCENE_HEIGHT 72
#define NEAR 2

static const Blob scene[] = {
  { 10, 12, 30, 20, 600, 24.5, 21.5 },
  { 60, 40, 24, 24, 576, 71.5, 51.5 },
};

static GstBuffer *
scene_new (void)
{
  GstBuffer *buffer = ccl_test_black_new (SCENE_WIDTH, SCENE_HEIGHT);
  guint i, y;

  for (i = 0; i < G_N_ELEMENTS (scene); i++) {
    for (y = scene[i].y; y < scene[i].y + scene[i].height; y++)
      gst_buffer_memset (buffer, y * SCENE_WIDTH + scene[i].x, 255, scene[i].width);
  }

  return buffer;
}

/* Whether the pixel is neither black nor white, as the scene was. */
static gboolean
is_drawn (const guint8 *pixels, guint x, guint y)
{
  const guint8 *pixel = pixels + 4 * (y * SCENE_WIDTH + x);

  return pixel[0] != pixel[2];
}

static gboolean
is_at_edge (const Blob *box, guint x, guint y, guint distance)
{
  gint left = (gint) x - (gint) box->x, top = (gint) y - (gint) box->y;
  gint right = left - (gint) box->width + 1, bottom = top - (gint) box->height + 1;
  gint near = (gint) distance;

  return left >= -near && right <= near && top >= -near && bottom <= near &&
         (ABS (left) <= near || ABS (right) <= near || ABS (top) <= near || ABS (bottom) <= near);
}

/* Asserts that every pixel of the box's edges has a drawn one nearby. */
static void
check_edges (const guint8 *pixels, const Blob *box)
{
  guint x, y, i, k;

  for (y = box->y; y < box->y + box->height; y++) {
    for (x = box->x; x < box->x + box->width; x++) {
      gboolean drawn = FALSE;

      for (i = 0; i <= 2 * NEAR; i++) {
        for (k = 0; k <= 2 * NEAR; k++)
          drawn |= is_drawn (pixels, x + i - NEAR, y + k - NEAR);
      }
      fail_unless (drawn || !is_at_edge (box, x, y, 0), "nothing is drawn near (%u, %u)", x, y);
    }
  }
}

GST_START_TEST (test_overlay)
{
  GstElementFactory *factory = gst_element_factory_find ("objectdetectionoverlay");
  GstHarness *h;
  GstBuffer *buffer;
  GstMapInfo map;
  guint x, y;

  if (!factory) {
    g_printerr ("skipped: no element objectdetectionoverlay\n");
    return;
  }
  gst_object_unref (factory);

  h = gst_harness_new_parse ("cudaccl backend=cpu attach=analytics ! videoconvert ! "
                             "video/x-raw,format=BGRx ! objectdetectionoverlay draw-labels=false "
                             "object-detection-outline-color=0xffff0000");
  ccl_test_set_caps (h, "GRAY8", SCENE_WIDTH, SCENE_HEIGHT);
  buffer = gst_harness_push_and_pull (h, scene_new ());
  fail_unless (buffer && gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, SCENE_WIDTH * SCENE_HEIGHT * 4);
  for (y = 0; y < SCENE_HEIGHT; y++) {
    for (x = 0; x < SCENE_WIDTH; x++)
      fail_unless (!is_drawn (map.data, x, y) || is_at_edge (&scene[0], x, y, NEAR) ||
                       is_at_edge (&scene[1], x, y, NEAR),
                   "(%u, %u) is drawn on", x, y);
  }
  check_edges (map.data, &scene[0]);
  check_edges (map.data, &scene[1]);

  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
cudacclanalytics_suite (void)
{
  Suite *s = suite_create ("cudacclanalytics");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_content);
  tcase_add_loop_test (tc, test_beside_components, 0, 2);
  tcase_add_test (tc, test_empty);
  tcase_add_test (tc, test_beside_others);
  tcase_add_test (tc, test_limit);
#ifdef HAVE_MALLINFO2
  tcase_add_test (tc, test_memory);
#endif
  tcase_add_test (tc, test_overlay);

  return s;
}

GST_CHECK_MAIN (cudacclanalytics);
