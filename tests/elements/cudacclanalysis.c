/* cudaccl - tests of the element cudaccl: components, regions of interest, messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

/* Every format in every layout. */
GST_START_TEST (test_picture)
{
  GstHarness *h = ccl_test_launch (1, 1, "cudaccl backend=%s", ccl_test_backend (__i__));
  guint i, layout;

  for (i = 0; picture_formats[i]; i++) {
    ccl_test_set_caps (h, picture_formats[i], PICTURE_WIDTH, PICTURE_HEIGHT);

    for (layout = 0; layout < N_LAYOUTS; layout++) {
      GstBuffer *in = ccl_test_picture_new (picture_formats[i], layout), *out;
      GstMemory *first = gst_buffer_peek_memory (in, 0);

      GST_INFO ("%s, layout %u", picture_formats[i], layout);
      GST_BUFFER_OFFSET (in) = 42;
      GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_MARKER);

      /* Not shared, so the same buffer comes out. */
      out = gst_harness_push_and_pull (h, in);
      fail_unless (out == in && gst_buffer_peek_memory (out, 0) == first);
      fail_unless_equals_uint64 (GST_BUFFER_PTS (out), GST_SECOND);
      fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), GST_SECOND);
      fail_unless_equals_uint64 (GST_BUFFER_OFFSET (out), 42);
      fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_MARKER));

      ccl_test_check_picture (out);
      fail_unless_equals_int (gst_buffer_get_ccl_meta (out)->width, PICTURE_WIDTH);
      fail_unless_equals_int (gst_buffer_get_ccl_meta (out)->height, PICTURE_HEIGHT);
      gst_buffer_unref (out);
    }
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* GstBaseTransform asks for it where it allocates frames. */
GST_START_TEST (test_unit_size)
{
  GstElement *element = ccl_test_element_new (ccl_test_backend (0), NULL);
  GstBaseTransform *trans = GST_BASE_TRANSFORM (element);
  GstCaps *caps = gst_caps_from_string ("video/x-raw,format=GRAY8,width=30,height=20");
  gsize size = 0;

  fail_unless (GST_BASE_TRANSFORM_GET_CLASS (trans)->get_unit_size (trans, caps, &size));
  fail_unless_equals_uint64 (size, 32 * 20);
  gst_caps_set_simple (caps, "format", G_TYPE_STRING, "none", NULL);
  fail_if (GST_BASE_TRANSFORM_GET_CLASS (trans)->get_unit_size (trans, caps, &size));
  gst_caps_unref (caps);
  gst_object_unref (element);
}
GST_END_TEST;

/* A plane that spans two memories. */
GST_START_TEST (test_split_memory)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstBuffer *whole = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GstBuffer *tail =
      gst_buffer_copy_region (whole, GST_BUFFER_COPY_MEMORY, 50, gst_buffer_get_size (whole) - 50);
  GstBuffer *split = gst_buffer_copy_region (whole, GST_BUFFER_COPY_MEMORY, 0, 50), *out;

  split = gst_buffer_append (split, tail);
  fail_unless_equals_int (gst_buffer_n_memory (split), 2);
  out = gst_harness_push_and_pull (h, split);
  ccl_test_check_picture (out);

  gst_buffer_unref (out);
  gst_buffer_unref (whole);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Very small, wide and tall frames. */
GST_START_TEST (test_extreme_sizes)
{
  static const guint sizes[][2] = { { 1, 1 }, { 4097, 1 }, { 1, 4097 }, { 1021, 769 } };
  GstHarness *h = ccl_test_launch (1, 1, "cudaccl backend=%s", ccl_test_backend (__i__));
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    guint width = sizes[i][0], height = sizes[i][1];
    Blob all = {
      0, 0, width, height, (guint64) width * height, (width - 1) / 2.0, (height - 1) / 2.0
    };
    GstBuffer *buffer = ccl_test_black_new (width, height);

    ccl_test_set_caps (h, "GRAY8", width, height);

    gst_buffer_memset (buffer, 0, 255, gst_buffer_get_size (buffer));
    ccl_test_push_blobs (h, buffer, &all, 1, 1);
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Other elements' metadata stays, an earlier cudaccl's is replaced. */
GST_START_TEST (test_earlier_metadata)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstHarness *second = ccl_test_picture_harness_new (__i__, "min-area", (guint64) 5, NULL);
  GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint n_faces = 0, n_blobs = 0;

  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4);
  roi->id = 77;
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new_empty ("detection"));
  gst_buffer_add_video_region_of_interest_meta (buffer, "blob", 5, 6, 7, 8)->id = 78;

  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, n_picture_blobs);
  buffer = gst_harness_push_and_pull (second, buffer);

  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE), 1);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, 1);

  while ((roi = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    if (gst_video_region_of_interest_meta_get_param (roi, "cudaccl"))
      n_blobs++;
    else
      n_faces++;
  }
  fail_unless_equals_int (n_blobs, 1);
  fail_unless_equals_int (n_faces, 2);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 77);
  fail_unless (roi && roi->x == 1 && roi->y == 2 && roi->w == 3 && roi->h == 4);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  fail_unless (roi && roi->x == picture_blobs[2].x && roi->y == picture_blobs[2].y);

  /* Even if nothing replaces it. */
  g_object_set (second->element, "attach", 0, NULL);
  buffer = gst_harness_push_and_pull (second, buffer);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE), 0);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 2);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
  ccl_test_harness_free (second);
}
GST_END_TEST;

/* The ids of regions of interest start at 0, or after other elements' ids that would collide. */
GST_START_TEST (test_roi_ids)
{
  static const struct
  {
    gint others[3], first;
  } cases[] = {
    { { -1, -1, -1 }, 0 },
    { { 0, -1, -1 }, 1 },
    { { 0, 0, -1 }, 1 },
    { { 7, 3, -1 }, 8 },
    { { 7, 4, -1 }, 0 },
    { { G_MAXINT, 2, -1 }, 3 },
    { { G_MAXINT - 4, 0, G_MAXINT - 9 }, G_MAXINT - 3 },
    { { 0, G_MAXINT - 5, G_MAXINT - 3 }, 1 },
  };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=cpu");
    GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);

    for (j = 0; j < G_N_ELEMENTS (cases[i].others); j++) {
      if (cases[i].others[j] >= 0)
        gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4)->id =
            cases[i].others[j];
    }
    buffer = gst_harness_push_and_pull (h, buffer);
    for (j = 0; j < n_picture_blobs; j++) {
      GstVideoRegionOfInterestMeta *roi =
          gst_buffer_get_video_region_of_interest_meta_id (buffer, cases[i].first + (gint) j);

      fail_unless (roi && gst_video_region_of_interest_meta_get_param (roi, "cudaccl") &&
                       roi->x == picture_blobs[j].x,
                   "case %u, component %u", i, j);
    }

    gst_buffer_unref (buffer);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static void
check_message_component (const GValue *value, guint index)
{
  const GstStructure *component = gst_value_get_structure (value);
  const Blob *blob = &picture_blobs[index];
  guint label, x, y, width, height;
  gdouble centroid_x, centroid_y;
  guint64 area;

  fail_unless (gst_structure_get (
      component, "label", G_TYPE_UINT, &label, "x", G_TYPE_UINT, &x, "y", G_TYPE_UINT, &y, "width",
      G_TYPE_UINT, &width, "height", G_TYPE_UINT, &height, "area", G_TYPE_UINT64, &area,
      "centroid-x", G_TYPE_DOUBLE, &centroid_x, "centroid-y", G_TYPE_DOUBLE, &centroid_y, NULL));
  fail_unless_equals_int (gst_structure_n_fields (component), 8);
  fail_unless_equals_int (label, index + 1);
  fail_unless_equals_int (x, blob->x);
  fail_unless_equals_int (y, blob->y);
  fail_unless_equals_int (width, blob->width);
  fail_unless_equals_int (height, blob->height);
  fail_unless_equals_uint64 (area, blob->area);
  fail_unless (centroid_x == blob->centroid_x && centroid_y == blob->centroid_y);
}

static void
check_message (GstHarness *h, guint64 timestamp, guint64 stream_time, guint64 running_time,
               guint64 duration, guint n)
{
  GstMessage *message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);
  const GstStructure *s;
  guint64 times[4];
  guint width, height, found, i;
  const GValue *list;

  fail_unless (message != NULL);
  s = gst_message_get_structure (message);
  fail_unless_equals_string (gst_structure_get_name (s), "cudaccl");
  fail_unless (gst_structure_get (
      s, "timestamp", G_TYPE_UINT64, &times[0], "stream-time", G_TYPE_UINT64, &times[1],
      "running-time", G_TYPE_UINT64, &times[2], "duration", G_TYPE_UINT64, &times[3], "width",
      G_TYPE_UINT, &width, "height", G_TYPE_UINT, &height, "found", G_TYPE_UINT, &found, NULL));
  fail_unless_equals_int (gst_structure_n_fields (s), 8);
  fail_unless_equals_uint64 (times[0], timestamp);
  fail_unless_equals_uint64 (times[1], stream_time);
  fail_unless_equals_uint64 (times[2], running_time);
  fail_unless_equals_uint64 (times[3], duration);
  fail_unless_equals_int (width, PICTURE_WIDTH);
  fail_unless_equals_int (height, PICTURE_HEIGHT);
  fail_unless_equals_int (found, n_picture_blobs);

  list = gst_structure_get_value (s, "components");
  fail_unless (list && GST_VALUE_HOLDS_LIST (list));
  fail_unless_equals_int (gst_value_list_get_size (list), n);
  for (i = 0; i < n; i++)
    check_message_component (gst_value_list_get_value (list, i), i);

  gst_message_unref (message);
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ELEMENT));
}

GST_START_TEST (test_messages)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, "max-components", 3, NULL);
  GstBuffer *buffer;
  GstSegment segment;

  gst_harness_set_drop_buffers (h, TRUE);
  gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ELEMENT));

  /* Messages are posted without metadata, too. */
  g_object_set (h->element, "post-messages", TRUE, "attach", 0, NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = GST_SECOND / 2;
  segment.time = 7 * GST_SECOND;
  segment.base = 20 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));

  gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  check_message (h, GST_SECOND, 7 * GST_SECOND + GST_SECOND / 2, 20 * GST_SECOND + GST_SECOND / 2,
                 GST_SECOND, 3);

  buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  gst_harness_push (h, buffer);
  check_message (h, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE,
                 GST_CLOCK_TIME_NONE, 3);

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  check_message (h, GST_SECOND, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_SECOND, 3);

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* GStreamer's scaler keeps the boxes on the blobs. */
GST_START_TEST (test_scaled)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=1 pattern=ball ! video/x-raw,format=GRAY8,width=320,height=240 ! "
      "cudaccl name=first ! videoscale method=nearest-neighbour ! "
      "video/x-raw,width=640,height=720 ! fakesink name=sink enable-last-sample=true",
      NULL);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "first");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstHarness *h;
  GstSample *sample;
  GstBuffer *scaled, *analysed;
  GstCclMeta *carried, *fresh;

  gst_util_set_object_arg (G_OBJECT (element), "backend", ccl_test_backend (__i__));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  ccl_test_wait_for (pipeline, GST_MESSAGE_EOS);

  g_object_get (sink, "last-sample", &sample, NULL);
  scaled = gst_sample_get_buffer (sample);
  carried = gst_buffer_get_ccl_meta (scaled);
  fail_unless (carried != NULL);

  /* Scaling by whole numbers repeats pixels, so an analysis of the scaled frame gives the same. */
  h = ccl_test_launch (640, 720, "cudaccl backend=%s", ccl_test_backend (__i__));
  analysed = gst_buffer_copy_region (scaled, GST_BUFFER_COPY_MEMORY, 0, -1);
  analysed = gst_harness_push_and_pull (h, analysed);
  fresh = gst_buffer_get_ccl_meta (analysed);

  fail_unless_equals_int (carried->n_components, 1);
  fail_unless_equals_int (carried->width, 640);
  fail_unless_equals_int (carried->height, 720);
  fail_unless_equals_int (fresh->n_components, 1);
  ccl_test_check_component (&carried->components[0], &fresh->components[0], 1e-6);

  gst_buffer_unref (analysed);
  gst_sample_unref (sample);
  ccl_test_harness_free (h);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* The picture of a rectangle with a hole. */
static GstBuffer *
make_ring (void)
{
  GstBuffer *buffer = ccl_test_black_new (40, 30);
  guint x, y;

  for (y = 10; y < 16; y++) {
    for (x = 10; x < 20; x++) {
      guint8 value = (guint8) (190 + x);

      if (y == 12 && x == 14)
        continue;
      gst_buffer_fill (buffer, (gsize) y * 40 + x, &value, 1);
    }
  }

  return buffer;
}

/* Features are measured only if asked for, and are in the metadata and the messages. */
GST_START_TEST (test_features)
{
  static const guint all = GST_CCL_FEATURE_ELLIPSE | GST_CCL_FEATURE_HOLES |
                           GST_CCL_FEATURE_PERIMETER | GST_CCL_FEATURE_LUMA;
  guint features;

  for (features = 0; features <= all; features += 5) {
    GstHarness *h =
        ccl_test_harness_new (ccl_test_element_new (ccl_test_backend (__i__), "post-messages", TRUE,
                                                    "features", features, NULL),
                              "GRAY8", 40, 30);
    GstBuffer *out = gst_harness_push_and_pull (h, make_ring ());
    GstMessage *message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);
    const GValue *list =
        gst_structure_get_value (gst_message_get_structure (message), "components");
    const GstStructure *item = gst_value_get_structure (gst_value_list_get_value (list, 0));
    const GstCclComponent *c = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0);

    fail_unless_equals_int (c->features, features);
    fail_unless_equals_int (c->area, 59);
    fail_unless_equals_int (c->holes, features & GST_CCL_FEATURE_HOLES ? 1 : 0);
    fail_unless ((c->perimeter > 28.0) == ((features & GST_CCL_FEATURE_PERIMETER) != 0));
    fail_unless ((c->major_axis > c->minor_axis) == ((features & GST_CCL_FEATURE_ELLIPSE) != 0));
    fail_unless_equals_int (c->luma_min, features & GST_CCL_FEATURE_LUMA ? 200 : 0);
    fail_unless_equals_int (c->luma_max, features & GST_CCL_FEATURE_LUMA ? 209 : 0);
    fail_unless ((c->luma_mean > 204.0) == ((features & GST_CCL_FEATURE_LUMA) != 0));
    fail_unless (gst_structure_has_field (item, "orientation") ==
                 ((features & GST_CCL_FEATURE_ELLIPSE) != 0));
    fail_unless (gst_structure_has_field (item, "holes") ==
                 ((features & GST_CCL_FEATURE_HOLES) != 0));
    fail_unless (gst_structure_has_field (item, "perimeter") ==
                 ((features & GST_CCL_FEATURE_PERIMETER) != 0));
    fail_unless (gst_structure_has_field (item, "luma-mean") ==
                 ((features & GST_CCL_FEATURE_LUMA) != 0));

    gst_message_unref (message);
    gst_buffer_unref (out);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static Suite *
cudacclanalysis_suite (void)
{
  Suite *s = suite_create ("cudacclanalysis");
  TCase *tc = tcase_create ("general");
  gint n_backends = (gint) ccl_test_n_backends ();

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_picture, 0, n_backends);
  tcase_add_test (tc, test_unit_size);
  tcase_add_loop_test (tc, test_split_memory, 0, n_backends);
  tcase_add_loop_test (tc, test_extreme_sizes, 0, n_backends);
  tcase_add_loop_test (tc, test_earlier_metadata, 0, n_backends);
  tcase_add_test (tc, test_roi_ids);
  tcase_add_loop_test (tc, test_messages, 0, n_backends);
  tcase_add_loop_test (tc, test_scaled, 0, n_backends);
  tcase_add_loop_test (tc, test_features, 0, n_backends);

  return s;
}

GST_CHECK_MAIN (cudacclanalysis);
