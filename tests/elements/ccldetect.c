/* cudaccl - tests of ccldetect, with a fake of ONNX Runtime
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dlfcn.h>

#include "ccldetect.h"

/* Asserts that @buffer has the object, found @age ago, and consumes it. */
static void
check_object (GstBuffer *buffer, const gchar *type, gint64 age)
{
  const GstVideoRegionOfInterestMeta *roi = NULL;
  GstStructure *param;
  gdouble confidence;
  guint class_id;
  gint64 got;

  fail_unless_equals_int (count_regions (buffer, "ccldetect-look", &roi), 1);
  fail_unless (roi->x == 0 && roi->y == 0 && roi->w == WIDTH && roi->h == HEIGHT);
  fail_unless_equals_int (count_regions (buffer, type, &roi), 1);
  fail_unless_equals_int (roi->x, 40);
  fail_unless_equals_int (roi->y, 24);
  fail_unless_equals_int (roi->w, 32);
  fail_unless_equals_int (roi->h, 32);
  param = gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) roi,
                                                       "ccldetect");
  fail_unless (gst_structure_get (param, "frame-age", G_TYPE_INT64, &got, "confidence",
                                  G_TYPE_DOUBLE, &confidence, "class-id", G_TYPE_UINT, &class_id,
                                  NULL));
  fail_unless_equals_int64 (got, age);
  fail_unless (fabs (confidence - 0.9) < 1e-6);
  fail_unless_equals_int (class_id, 2);
  gst_buffer_unref (buffer);
}

GST_START_TEST (test_wait)
{
  GstHarness *h = ccl_test_harness_new (element_new ("wait", TRUE, NULL), "GRAY8", WIDTH, HEIGHT);
  guint i;

  for (i = 0; i < 3; i++)
    check_object (look_at (h, i), "class-2", 0);
  ccl_test_check_stat (h->element, "output", "yolox");
  ccl_test_check_stat (h->element, "input", "64x64");
  ccl_test_check_stat (h->element, "onnxruntime", "1.2.3");
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "inferences"), 3);
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "objects"), 3);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames do not wait for a slow network; a later one has the result, and its age. */
GST_START_TEST (test_later)
{
  GstHarness *h = ccl_test_harness_new (element_new (NULL, NULL), "GRAY8", WIDTH, HEIGHT);
  GstBuffer *buffer;
  guint i;

  ort_fake.delay = 50000;
  for (i = 0; i < 3; i++) {
    buffer = look_at (h, i);
    fail_unless_equals_int (count_regions (buffer, "ccldetect-look", NULL), 0);
    gst_buffer_unref (buffer);
  }
  while (g_atomic_int_get (&ort_fake.n_runs) < 2)
    g_usleep (1000);
  g_usleep (20000);
  check_object (look_at (h, 7), "class-2", 7 * FRAME_TIME);
  fail_unless (ccl_test_stat (h->element, "busy") >= 2);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Results from before a flush do not belong to the frames after it. Later ones do. */
GST_START_TEST (test_flush)
{
  GstHarness *h = ccl_test_harness_new (element_new (NULL, NULL), "GRAY8", WIDTH, HEIGHT);
  GstBuffer *buffer;
  guint i;

  ort_fake.delay = 10000;
  gst_buffer_unref (look_at (h, 0));
  ccl_test_flush (h, ccl_test_frame_new (WIDTH, HEIGHT, 1));
  g_usleep (100000);
  buffer = look_at (h, 1);
  fail_unless_equals_int (count_regions (buffer, "ccldetect-look", NULL), 0);
  for (i = 2; i < 500 && count_regions (buffer, "ccldetect-look", NULL) == 0; i++) {
    gst_buffer_unref (buffer);
    g_usleep (10000);
    buffer = look_at (h, i);
  }
  fail_unless_equals_int (count_regions (buffer, "ccldetect-look", NULL), 1);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static guint
count_looks (GstHarness *h, guint n)
{
  guint i;

  for (i = 0; i < n; i++)
    gst_buffer_unref (look_at (h, i));

  return (guint) ccl_test_stat (h->element, "inferences");
}

GST_START_TEST (test_rates)
{
  GstHarness *h;

  h = ccl_test_harness_new (element_new ("wait", TRUE, "interval", GST_SECOND / 2, NULL), "GRAY8",
                            WIDTH, HEIGHT);
  fail_unless_equals_int (count_looks (h, 20), 4);
  ccl_test_harness_free (h);

  h = ccl_test_harness_new (element_new ("wait", TRUE, "budget", 2.5, NULL), "GRAY8", WIDTH,
                            HEIGHT);
  fail_unless_equals_int (count_looks (h, 20), 5);
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "busy"), 15);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames with a thing of 20 x 20 pixels that moves to the right; none from 20 on. */
static GstBuffer *
moving_new (guint number)
{
  GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
  GstCclComponent thing = { 1, 10 + 2 * number, 20, 20, 20, 400, 19.5 + 2 * number, 29.5 };

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, number < 20 ? 1 : 0, &thing, number < 20 ? 1 : 0);

  return buffer;
}

GST_START_TEST (test_moving)
{
  GstHarness *h =
      ccl_test_harness_new (element_new ("wait", TRUE, "region", 1, NULL), "GRAY8", WIDTH, HEIGHT);
  GstBuffer *buffer;
  guint i;

  for (i = 0; i < 100; i++) {
    buffer = gst_harness_push_and_pull (h, moving_new (i));
    if (count_regions (buffer, "ccldetect-look", NULL) > 0)
      fail_unless_equals_string (gst_ccl_meta_get_class_name (gst_buffer_get_ccl_meta (buffer), 2),
                                 "class-2");
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "inferences"), 1);

  /* Again, with a look every half second. */
  ccl_test_restart (h, GST_STATE_READY);
  ccl_test_set_caps (h, "GRAY8", WIDTH, HEIGHT);
  g_object_set (h->element, "refresh", GST_SECOND / 2, NULL);
  for (i = 0; i < 100; i++)
    ccl_test_push (h, moving_new (i));
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "inferences"), 4);
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_WARNING));

  gst_buffer_unref (look_at (h, 101));
  fail_unless_equals_int (ccl_test_count_warnings (h, ""), 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A network that has one box for each object may have two where crops share a part of the frame:
 * the default keeps the better one, 1 keeps all. */
GST_START_TEST (test_several_crops)
{
  static gfloat rows[300][6];
  const gdouble overlaps[] = { -1, 0.5, 1 };
  guint counts[3], i, k;

  /* Two boxes of each tile of the picture, so that some are in each crop. */
  for (i = 0; i < 128; i++) {
    const gfloat x = (gfloat) (i / 2 % 8 * 8), y = (gfloat) (i / 16 * 8);

    memcpy (rows[i], (const gfloat[]){ x, y, x + 6, y + 6, i % 2 ? 0.9f : 0.8f, 1 }, 24);
  }
  ort_fake.outputs[0] = (GstCclTensor){ "output0", ORT_TYPE_FLOAT, 3, { 1, 300, 6 }, rows };
  for (k = 0; k < 3; k++) {
    GstElement *element =
        element_new ("wait", TRUE, "region", 1, "iou-threshold", overlaps[k], NULL);
    GstHarness *h = ccl_test_harness_new (element, "GRAY8", 640, 360);

    for (i = 0; ccl_test_stat (element, "inferences") == 0; i++) {
      GstBuffer *buffer = ccl_test_frame_new (640, 360, i);
      const GstCclComponent things[] = {
        { 1, 40 + 2 * i, 40, 20, 20, 400, 49.5 + 2 * i, 49.5 },
        { 2, 500 + 2 * i, 300, 20, 20, 400, 509.5 + 2 * i, 309.5 },
      };

      fail_unless (i < 50);
      gst_buffer_add_ccl_meta (buffer, 640, 360, 2, things, 2);
      buffer = gst_harness_push_and_pull (h, buffer);
      counts[k] = count_regions (buffer, "class-2", NULL);
      gst_buffer_unref (buffer);
    }
    fail_unless_equals_uint64 (ccl_test_stat (element, "crops"), 2);
    ccl_test_harness_free (h);
  }
  fail_unless (counts[0] > 1);
  fail_unless_equals_int (counts[1], counts[0]);
  fail_unless_equals_int (counts[2], 2 * counts[0]);
}
GST_END_TEST;

/* Elements share one session; it takes their pictures together. */
GST_START_TEST (test_share)
{
  GstHarness *h[4];
  guint i;

  ort_fake.input.dims[0] = -1;
  ort_fake.outputs[0].dims[0] = -1;
  for (i = 0; i < 4; i++)
    h[i] = ccl_test_harness_new (element_new (NULL, NULL), "GRAY8", WIDTH, HEIGHT);
  fail_unless_equals_int (ort_fake.n_sessions, 1);

  ort_fake.delay = 50000;
  for (i = 0; i < 4; i++)
    gst_buffer_unref (look_at (h[i], 0));
  while (g_atomic_int_get (&ort_fake.n_pictures) < 5)
    g_usleep (1000);
  g_usleep (20000);
  for (i = 0; i < 4; i++)
    check_object (look_at (h[i], 1), "class-2", FRAME_TIME);
  fail_unless (g_atomic_int_get (&ort_fake.n_runs) <= 3);
  for (i = 0; i < 4; i++)
    ccl_test_harness_free (h[i]);
}
GST_END_TEST;

/* An hour of a still scene, at 5 frames a second: nothing moves but noise, so that the network only
 * looks at whole frames, each interval. */
GST_START_TEST (test_still)
{
  static const struct
  {
    guint interval; /* s */
    guint inferences;
  } cases[] = { { 0, 0 }, { 60, 60 } };
  guint8 noise[WIDTH * HEIGHT + 1024];
  GRand *random = g_rand_new_with_seed (1);
  guint i, frame;

  for (i = 0; i < sizeof (noise); i++)
    noise[i] = (guint8) (100 + i % WIDTH / 2 + g_rand_int_range (random, -2, 3));
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = ccl_test_launch (WIDTH, HEIGHT,
                                     "cclmotion ! ccldetect model='%s' library='%s' region=moving "
                                     "wait=true interval=%u000000000",
                                     model, ort_fake_path (), cases[i].interval);
    GstElement *detect = gst_harness_find_element (h, "ccldetect");

    for (frame = 0; frame < 5 * 3600; frame++) {
      GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

      gst_buffer_fill (buffer, 0, noise + 512 * g_rand_int_range (random, 0, 3), WIDTH * HEIGHT);
      GST_BUFFER_PTS (buffer) = frame * GST_SECOND / 5;
      GST_BUFFER_DURATION (buffer) = GST_SECOND / 5;
      ccl_test_push (h, buffer);
    }
    fail_unless_equals_uint64 (ccl_test_stat (detect, "inferences"), cases[i].inferences);
    gst_object_unref (detect);
    ccl_test_harness_free (h);
  }
  g_rand_free (random);
}
GST_END_TEST;

/* Elements with nothing to work on say once what is missing, after a second; not behind a network,
 * whose first results may be late. */
GST_START_TEST (test_missing)
{
  static const struct
  {
    const gchar *launch;
    guint frames, warnings;
  } cases[] = {
    { "identity", 60, 2 },
    { "identity", 25, 0 },
    { "cclmotion", 60, 0 },
    { "ccldetect model='%s' library='%s' region=moving", 60, 0 },
  };
  guint i, frame;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *before = g_strdup_printf (cases[i].launch, model, ort_fake_path ());
    GstHarness *h = ccl_test_launch (WIDTH, HEIGHT,
                                     "%s ! ccltrack ! cclzones zones='a: 0,0 1,0 1,1 0,1'", before);

    for (frame = 0; frame < cases[i].frames; frame++) {
      GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

      GST_BUFFER_PTS (buffer) = frame * GST_SECOND / 25;
      GST_BUFFER_DURATION (buffer) = GST_SECOND / 25;
      ccl_test_push (h, buffer);
    }
    fail_unless_equals_int (ccl_test_count_warnings (h, "for a second, so nothing is"),
                            cases[i].warnings);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

GST_START_TEST (test_classes)
{
  gchar *labels = g_build_filename (g_get_tmp_dir (), "ccldetect-labels-XXXXXX", NULL);
  gint fd = g_mkstemp (labels);
  GstBuffer *buffer;
  GstHarness *h;

  g_close (fd, NULL);
  fail_unless (g_file_set_contents (labels, "dog\r\ncat\n", -1, NULL));
  h = ccl_test_harness_new (element_new ("wait", TRUE, "labels", labels, "classes", "cat", NULL),
                            "GRAY8", WIDTH, HEIGHT);
  check_object (look_at (h, 0), "cat", 0);
  ccl_test_harness_free (h);

  h = ccl_test_harness_new (element_new ("wait", TRUE, "labels", labels, "classes", "0", NULL),
                            "GRAY8", WIDTH, HEIGHT);
  buffer = look_at (h, 0);
  fail_unless_equals_int (count_regions (buffer, "cat", NULL), 0);
  fail_unless_equals_int (count_regions (buffer, "ccldetect-look", NULL), 1);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);

  /* The names in the model count where there is no file. */
  ort_fake.names = "{0: 'bird', 1: 'owl'}";
  h = ccl_test_harness_new (element_new ("wait", TRUE, "classes", "owl", NULL), "GRAY8", WIDTH,
                            HEIGHT);
  check_object (look_at (h, 0), "owl", 0);
  ccl_test_harness_free (h);
  h = ccl_test_harness_new (element_new ("wait", TRUE, "labels", labels, NULL), "GRAY8", WIDTH,
                            HEIGHT);
  check_object (look_at (h, 0), "cat", 0);
  ccl_test_harness_free (h);

  ccl_test_check_start_fails (element_new ("labels", labels, "classes", "cow", NULL),
                              GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "no class \"cow\"");
  ccl_test_check_start_fails (element_new ("labels", "/nowhere", NULL), GST_RESOURCE_ERROR,
                              GST_RESOURCE_ERROR_OPEN_READ, "/nowhere");
  g_remove (labels);
  g_free (labels);
}
GST_END_TEST;

/* It leaves queries for contexts that it does not know to others. */
GST_START_TEST (test_context)
{
  GstHarness *h = ccl_test_harness_new (element_new ("wait", TRUE, NULL), "GRAY8", WIDTH, HEIGHT);
  GstQuery *query = gst_query_new_context ("none");

  fail_if (gst_pad_query (GST_PAD_PEER (h->sinkpad), query));
  gst_query_unref (query);
  gst_buffer_unref (look_at (h, 0));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Numbers that are none, or too many; an empty text is no number, and changes nothing. */
GST_START_TEST (test_numbers)
{
  static const gchar *const bad[] = { "a",     "1,2", "1,2,3,4", "1,,3",
                                      "1,2,x", "1 2", "nan",     "1,inf,2" };
  GstHarness *h;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (bad); i++) {
    ccl_test_check_start_fails (element_new ("input-mean", bad[i], NULL), GST_LIBRARY_ERROR,
                                GST_LIBRARY_ERROR_SETTINGS, "input-mean must be one number");
    ccl_test_check_start_fails (element_new ("input-scale", bad[i], NULL), GST_LIBRARY_ERROR,
                                GST_LIBRARY_ERROR_SETTINGS, "input-scale must be one number");
  }
  h = ccl_test_harness_new (element_new ("wait", TRUE, "input-mean", "", "input-scale", "",
                                         "labels", "", "classes", "", NULL),
                            "GRAY8", WIDTH, HEIGHT);
  check_object (look_at (h, 0), "class-2", 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The network sees the colours that the caps mean. */
GST_START_TEST (test_colors)
{
  static const struct
  {
    const gchar *colorimetry;
    gdouble red, blue; /* shares of luma */
    gboolean full;
  } cases[] = {
    { "bt601", 0.299, 0.114, FALSE },
    { "bt709", 0.2126, 0.0722, FALSE },
    { "1:4:0:0", 0.299, 0.114, TRUE },
    { "1:3:5:1", 0.2126, 0.0722, TRUE },
  };
  const gdouble y = 100, u = 110, v = 150;
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *caps =
        g_strdup_printf ("video/x-raw,format=NV12,width=%u,height=%u,framerate=25/1,colorimetry=%s",
                         WIDTH, HEIGHT, cases[i].colorimetry);
    const gdouble luma = cases[i].full ? y : (y - 16) * 255 / 219;
    const gdouble scale = (cases[i].full ? 1.0 : 255.0 / 224) * 2;
    const gdouble red = luma + scale * (1 - cases[i].red) * (v - 128);
    const gdouble blue = luma + scale * (1 - cases[i].blue) * (u - 128);
    const gdouble green =
        (luma - cases[i].red * red - cases[i].blue * blue) / (1 - cases[i].red - cases[i].blue);
    const gdouble expected[] = { red, green, blue };
    GstElement *element = element_new ("wait", TRUE, NULL);
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3 / 2, NULL);
    GstHarness *h;
    guint8 *pixels;
    GstMapInfo map;

    gst_util_set_object_arg (G_OBJECT (element), "color-order", "rgb");
    h = gst_harness_new_with_element (gst_object_ref_sink (element), "sink", "src");
    gst_harness_set_src_caps_str (h, caps);
    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    pixels = map.data;
    memset (pixels, (gint) y, WIDTH * HEIGHT);
    for (k = 0; k < WIDTH * HEIGHT / 2; k += 2) {
      pixels[WIDTH * HEIGHT + k] = (guint8) u;
      pixels[WIDTH * HEIGHT + k + 1] = (guint8) v;
    }
    gst_buffer_unmap (buffer, &map);
    GST_BUFFER_PTS (buffer) = 0;
    gst_buffer_unref (gst_harness_push_and_pull (h, buffer));
    for (k = 0; k < 3; k++)
      fail_unless (fabs (ort_fake.first[0][k] - expected[k]) < 2, "%s, %u: %f, not %f",
                   cases[i].colorimetry, k, ort_fake.first[0][k], expected[k]);
    gst_harness_teardown (h);
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* Regions of interest of others keep their ids, whatever these are; new ones are different. */
GST_START_TEST (test_ids)
{
  static const struct
  {
    gint others[5], first;
  } cases[] = {
    { { -1, -1, -1, -1, -1 }, 0 },
    { { 5, -1, G_MAXINT, G_MAXINT - 1, 7 }, 8 },
    { { G_MAXINT / 2 - 1, G_MAXINT / 2, -1, -1, -1 }, G_MAXINT / 2 + 1 },
    { { G_MAXINT - 2, -1, 0, -1, -1 }, G_MAXINT - 1 },
    { { G_MAXINT - 2, G_MAXINT - 4, G_MAXINT, 3, 3 }, 4 },
    { { G_MAXINT - 1, 3, -1, -1, -1 }, 4 },
    { { G_MAXINT - 1, 2, -1, -1, -1 }, 3 },
  };
  const GstCclComponent component = { .width = 1, .height = 1, .area = 1 };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = ccl_test_harness_new (element_new ("wait", TRUE, NULL), "GRAY8", WIDTH, HEIGHT);
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, 0);
    gpointer state = NULL;
    GstMeta *meta;
    gint n = 0;

    for (k = 0; k < G_N_ELEMENTS (cases[i].others); k++)
      ccl_test_add_roi (buffer, "other", cases[i].others[k], &component);
    buffer = gst_harness_push_and_pull (h, buffer);
    while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                     GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
      const GstVideoRegionOfInterestMeta *roi = (const GstVideoRegionOfInterestMeta *) meta;

      if (roi->roi_type != g_quark_from_string ("other"))
        fail_unless (roi->id == cases[i].first + n++, "case %u: %d", i, roi->id);
    }
    fail_unless_equals_int (n, 2);
    gst_buffer_unref (buffer);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* Without components of its size, a frame has nothing that moves, which is said once. A gap is not
 * looked at. */
GST_START_TEST (test_no_components)
{
  GstHarness *h = ccl_test_harness_new (element_new ("wait", TRUE, NULL), "GRAY8", WIDTH, HEIGHT);
  GstMessage *message;
  GstBuffer *buffer;
  guint i;

  buffer = gst_buffer_new ();
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  gst_buffer_unref (gst_harness_push_and_pull (h, buffer));
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "frames"), 0);
  gst_util_set_object_arg (G_OBJECT (h->element), "region", "moving");
  for (i = 1; i < 4; i++) {
    buffer = ccl_test_frame_new (WIDTH, HEIGHT, i);
    gst_buffer_add_ccl_meta (buffer, WIDTH / 2, HEIGHT, 0, NULL, 0);
    gst_buffer_unref (gst_harness_push_and_pull (h, buffer));
    message = ccl_test_pop_message (h, GST_MESSAGE_WARNING);
    fail_unless_equals_int (message != NULL, i == 1);
    gst_clear_message (&message);
  }
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "inferences"), 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A network that fails later stops the stream, or a warning is posted, once. */
GST_START_TEST (test_failing_looks)
{
  const gboolean go_on = __i__ % 2, has_nan = __i__ / 2;
  GstHarness *h = ccl_test_harness_new (element_new ("wait", TRUE, "on-error", go_on, NULL),
                                        "GRAY8", WIDTH, HEIGHT);
  gfloat *score = table + (2 * 8 + 3) * COLUMNS + 4;
  GstBuffer *buffer;
  guint i;

  check_object (look_at (h, 0), "class-2", 0);
  if (has_nan)
    *score = NAN;
  else
    ort_fake.fail_slot = 9;
  if (!go_on) {
    fail_unless_equals_int (gst_harness_push (h, ccl_test_frame_new (WIDTH, HEIGHT, 1)),
                            GST_FLOW_ERROR);
    if (has_nan)
      ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "no numbers");
    else
      ccl_test_check_error (h, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "the fake says no");
    ccl_test_harness_free (h);
    return;
  }

  for (i = 1; i < 4; i++) {
    buffer = look_at (h, i);
    fail_unless_equals_int (count_regions (buffer, "ccldetect-look", NULL), 0);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (ccl_test_count_warnings (h, ""), 1);
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "failed"), 3);

  *score = 0.9f;
  ort_fake.fail_slot = 0;
  check_object (look_at (h, 4), "class-2", 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A library that is too old. It is loaded once, so that this test is the first. */
GST_START_TEST (test_old)
{
  ort_fake.old = TRUE;
  ccl_test_check_start_fails (element_new (NULL, NULL), GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
                              "1.2.3 is too old");
}
GST_END_TEST;

/* A library whose name has the minor version, as Debian's. */
GST_START_TEST (test_library_name)
{
  gpointer handle = dlopen (ORT_NAMED, RTLD_NOW | RTLD_LOCAL);
  OrtFake *named = handle ? dlsym (handle, "ort_fake_named") : NULL;
  GstHarness *h;

  fail_unless (named != NULL, "%s", dlerror ());
  *named = ort_fake;
  if (g_getenv ("CUDACCL_ONNXRUNTIME") || dlopen ("libonnxruntime.so.1", RTLD_NOW | RTLD_LOCAL))
    return;
  h = ccl_test_harness_new (element_new ("library", NULL, NULL), "GRAY8", WIDTH, HEIGHT);
  gst_buffer_unref (look_at (h, 0));
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A real model, named by the environment. */
GST_START_TEST (test_real)
{
  const gchar *path = g_getenv ("CUDACCL_TEST_MODEL");
  GstBuffer *buffer;
  GstHarness *h;

  if (!path)
    return;

  h = ccl_test_harness_new (element_new ("model", path, "library", NULL, "wait", TRUE, NULL),
                            "GRAY8", WIDTH, HEIGHT);
  buffer = look_at (h, 0);
  fail_unless_equals_int (count_regions (buffer, "ccldetect-look", NULL), 1);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
ccldetect_suite (void)
{
  Suite *suite = suite_create ("ccldetect");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_unchecked_fixture (tcase, make_model, remove_model);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, test_old);
  tcase_add_test (tcase, test_library_name);
  tcase_add_test (tcase, test_wait);
  tcase_add_test (tcase, test_later);
  tcase_add_test (tcase, test_flush);
  tcase_add_test (tcase, test_rates);
  tcase_add_test (tcase, test_moving);
  tcase_add_test (tcase, test_several_crops);
  tcase_add_test (tcase, test_share);
  tcase_add_test (tcase, test_still);
  tcase_add_test (tcase, test_missing);
  tcase_add_test (tcase, test_classes);
  tcase_add_test (tcase, test_context);
  tcase_add_test (tcase, test_numbers);
  tcase_add_test (tcase, test_colors);
  tcase_add_test (tcase, test_ids);
  tcase_add_test (tcase, test_no_components);
  tcase_add_loop_test (tcase, test_failing_looks, 0, 4);
  tcase_add_test (tcase, test_real);

  return suite;
}

GST_CHECK_MAIN (ccldetect)
