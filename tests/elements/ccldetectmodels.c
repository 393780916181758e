/* cudaccl - tests of ccldetect with models of many kinds, from a fake of ONNX Runtime
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccldetect.h"
#include "gst/detect/gstcclhalf.h"

/* A model whose numbers have 16 bits finds the same. */
GST_START_TEST (test_half)
{
  static guint16 halves[CELLS * COLUMNS];
  const GstVideoRegionOfInterestMeta *roi = NULL;
  GstBuffer *buffer;
  GstHarness *h;
  guint i;

  for (i = 0; i < CELLS * COLUMNS; i++)
    halves[i] = gst_ccl_half_from_float (table[i]);
  ort_fake.input.type = ort_fake.outputs[0].type = ORT_TYPE_FLOAT16;
  ort_fake.outputs[0].data = halves;
  h = ccl_test_harness_new (element_new ("wait", TRUE, NULL), "GRAY8", WIDTH, HEIGHT);
  for (i = 0; i < 2; i++) {
    buffer = look_at (h, i);
    fail_unless_equals_int (count_regions (buffer, "class-2", &roi), 1);
    fail_unless (roi->x == 40 && roi->y == 24 && roi->w == 32 && roi->h == 32);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The network's input for a grey frame of 128, and for black. */
GST_START_TEST (test_input)
{
  static const struct
  {
    gboolean last;
    gint type;
    const gchar *mean, *scale, *order;
    gfloat first[3];
  } inputs[] = {
    { FALSE, ORT_TYPE_FLOAT, NULL, NULL, "auto", { 128, 128, 128 } },
    { TRUE, ORT_TYPE_FLOAT, NULL, NULL, "auto", { 128, 128, 128 } },
    { TRUE, ORT_TYPE_UINT8, NULL, NULL, "auto", { 128, 128, 128 } },
    { FALSE, ORT_TYPE_FLOAT, "28", "0.5", "auto", { 50, 50, 50 } },
    { FALSE, ORT_TYPE_FLOAT, "28,8, 0", "0.5,1,2", "rgb", { 50, 120, 256 } },
    { FALSE, ORT_TYPE_FLOAT, "28,8, 0", "0.5,1,2", "auto", { 256, 120, 50 } },
    { FALSE, ORT_TYPE_FLOAT16, "128.5,130,0", "0.5,3,1", "rgb", { -0.25, -6, 128 } },
    { TRUE, ORT_TYPE_FLOAT16, NULL, "0.00001,600,1", "rgb", { 1.28e-3f, INFINITY, 128 } },
  };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (inputs); i++) {
    GstHarness *h;
    GstElement *element;
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, 0);

    ort_fake.input.type = inputs[i].type;
    ort_fake.input.dims[1] = inputs[i].last ? SIZE : 3;
    ort_fake.input.dims[3] = inputs[i].last ? 3 : SIZE;
    element = element_new ("wait", TRUE, "input-mean", inputs[i].mean, "input-scale",
                           inputs[i].scale, NULL);
    gst_util_set_object_arg (G_OBJECT (element), "color-order", inputs[i].order);
    h = ccl_test_harness_new (element, "GRAY8", WIDTH, HEIGHT);
    gst_buffer_memset (buffer, 0, 128, G_MAXSIZE);
    ccl_test_push (h, buffer);
    for (k = 0; k < 6; k++) {
      const gfloat sample = ort_fake.first[k / 3][k % 3], expected = inputs[i].first[k % 3];

      fail_unless (sample == expected || fabsf (sample - expected) < 1e-6f, "%u, %u: %g", i, k,
                   sample);
    }
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* A DETR that takes the size of the picture, and decides on its own: both boxes of one object stay,
 * unless it is said to keep only the best. Its frames are stretched, here from 128x64 to 64x64. */
GST_START_TEST (test_sizes)
{
  static const gint types[] = { ORT_TYPE_INT64, ORT_TYPE_INT32, ORT_TYPE_FLOAT };
  static const gfloat corners[] = { 8, 16, 24, 56, 9, 16, 24, 56 }, scores[] = { 0.9f, 0.8f };
  static const gint64 labels[] = { 1, 1 };
  const GstVideoRegionOfInterestMeta *roi = NULL;
  GstBuffer *buffer;
  GstHarness *h;
  guint i, k;

  ort_fake.n_inputs = 2;
  ort_fake.n_outputs = 3;
  ort_fake.input.dims[0] = -1;
  ort_fake.input.dims[3] = SIZE / 2;
  ort_fake.outputs[0] = (GstCclTensor){ "labels", ORT_TYPE_INT64, 2, { -1, 2 }, labels };
  ort_fake.outputs[1] = (GstCclTensor){ "boxes", ORT_TYPE_FLOAT, 3, { -1, 2, 4 }, corners };
  ort_fake.outputs[2] = (GstCclTensor){ "scores", ORT_TYPE_FLOAT, 2, { -1, 2 }, scores };
  for (i = 0; i < G_N_ELEMENTS (types); i++) {
    /* The sizes may say how large a batch is. */
    ort_fake.second = (GstCclTensor){ "orig_target_sizes", types[i], 2, { i == 1 ? 3 : -1, 2 } };
    ort_fake.n_pictures = 0;
    for (k = 0; k < 2; k++) {
      GstElement *element = element_new ("wait", TRUE, NULL);

      if (k == 1)
        g_object_set (element, "iou-threshold", 0.5, NULL);
      h = ccl_test_harness_new (element, "GRAY8", WIDTH, HEIGHT);
      buffer = look_at (h, 0);
      fail_unless_equals_int (count_regions (buffer, "class-2", k == 1 ? &roi : NULL), 2 - k);
      if (k == 1)
        fail_unless (roi->x == 32 && roi->y == 16 && roi->w == 64 && roi->h == 40, "%u, %u: %ux%u",
                     roi->x, roi->y, roi->w, roi->h);
      gst_buffer_unref (buffer);
      fail_unless (ort_fake.sizes[0] == SIZE / 2 && ort_fake.sizes[1] == SIZE);
      ccl_test_check_stat (h->element, "output", "detr");
      ccl_test_harness_free (h);
    }
    fail_unless (i != 1 || ort_fake.n_pictures % 3 == 0, "%d pictures", ort_fake.n_pictures);
  }
}
GST_END_TEST;

/* How the input is scaled follows from the file beside the model, then from the kind of network;
 * properties count more. */
GST_START_TEST (test_norms)
{
  static const struct
  {
    const gchar *ranges, *boxes_name, *mean, *scale;
    gfloat first[3];
  } cases[] = {
    { NULL, "pred_boxes", NULL, NULL, { 0.2f, 0.2f, 0.2f } },
    { NULL,
      "dets",
      NULL,
      NULL,
      { (0.2f - 0.485f) / 0.229f, (0.2f - 0.456f) / 0.224f, (0.2f - 0.406f) / 0.225f } },
    { "-1,1", "dets", NULL, NULL, { -0.6f, -0.6f, -0.6f } },
    { "0,1;0,10;-1,1", "pred_boxes", NULL, NULL, { 0.2f, 2, -0.6f } },
    { "-1,1", "dets", NULL, "2", { 102, 102, 102 } },
    { "-1,1", "dets", "1", "2", { 100, 100, 100 } },
    { NULL, "pred_boxes", "51,0,0", NULL, { 0, 0.2f, 0.2f } },
  };
  static const gfloat coordinates[2][4], logits[2][3];
  g_autofree gchar *path = g_strconcat (model, ".modelinfo", NULL);
  guint i, k;

  ort_fake.n_outputs = 2;
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, 0);
    GstHarness *h;

    ort_fake.outputs[0] =
        (GstCclTensor){ cases[i].boxes_name, ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, coordinates };
    ort_fake.outputs[1] = (GstCclTensor){ "logits", ORT_TYPE_FLOAT, 3, { 1, 2, 3 }, logits };
    if (cases[i].ranges) {
      g_autofree gchar *text = g_strdup_printf ("[images]\nranges=%s\n", cases[i].ranges);

      fail_unless (g_file_set_contents (path, text, -1, NULL));
    }
    h = ccl_test_harness_new (element_new ("wait", TRUE, "input-mean", cases[i].mean, "input-scale",
                                           cases[i].scale, NULL),
                              "GRAY8", WIDTH, HEIGHT);
    gst_buffer_memset (buffer, 0, 51, G_MAXSIZE);
    ccl_test_push (h, buffer);
    for (k = 0; k < 3; k++)
      fail_unless (fabsf (ort_fake.first[0][k] - cases[i].first[k]) < 1e-5f, "%u, %u: %g", i, k,
                   ort_fake.first[0][k]);
    ccl_test_harness_free (h);
    g_remove (path);
  }

  fail_unless (g_file_set_contents (path, "[images]\nranges=0\n", -1, NULL));
  ccl_test_check_start_fails (element_new (NULL, NULL), GST_RESOURCE_ERROR,
                              GST_RESOURCE_ERROR_SETTINGS, path);
  g_remove (path);
}
GST_END_TEST;

/* The metadata decides where shapes are ambiguous: seven columns are final boxes with an angle. */
GST_START_TEST (test_end_to_end)
{
  static gfloat rows[300][7] = { { 16, 16, 32, 32, 0.9f, 1, 0.5f } };

  ort_fake.outputs[0] = (GstCclTensor){ "output0", ORT_TYPE_FLOAT, 3, { 1, 300, 7 }, rows };
  ort_fake.names = "{0: 'bird', 1: 'owl'}";
  ort_fake.end_to_end = "True";
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = ccl_test_harness_new (element_new ("wait", TRUE, NULL), "GRAY8", WIDTH, HEIGHT);
    GstBuffer *buffer = look_at (h, 0);

    fail_unless_equals_int (count_regions (buffer, "owl", NULL), i == 0);
    gst_buffer_unref (buffer);
    ccl_test_check_stat (h->element, "output", i == 0 ? "yolov10" : "yolov5");
    ccl_test_harness_free (h);
    ort_fake.end_to_end = NULL;
  }
}
GST_END_TEST;

/* The outline of an object is relative to its box; ccltrack takes its area. */
GST_START_TEST (test_outlines)
{
  static gfloat rows[300][7] = { { 16, 16, 48, 48, 0.9f, 1, 1 } }, prototype[SIZE][SIZE];
  static const gdouble expected[] = { 0, 0, 0.25, 0, 0.25, 1, 0, 1 };
  const GstVideoRegionOfInterestMeta *roi = NULL;
  GstHarness *h;
  GstBuffer *buffer;
  const GValue *outline;
  const GstCclMeta *meta;
  gdouble fill, x;
  guint i;

  for (i = 0; i < SIZE * SIZE; i++)
    prototype[i / SIZE][i % SIZE] = i % SIZE < 24 ? 1 : -1;
  ort_fake.n_outputs = 2;
  ort_fake.outputs[0] = (GstCclTensor){ "output0", ORT_TYPE_FLOAT, 3, { 1, 300, 7 }, rows };
  ort_fake.outputs[1] =
      (GstCclTensor){ "output1", ORT_TYPE_FLOAT, 4, { 1, 1, SIZE, SIZE }, prototype };
  ort_fake.names = "{0: 'bird', 1: 'owl'}";

  h = ccl_test_harness_new (element_new ("wait", TRUE, NULL), "GRAY8", WIDTH, HEIGHT);
  for (i = 0; i < 2; i++) {
    buffer = look_at (h, i);
    fail_unless_equals_int (count_regions (buffer, "owl", &roi), 1);
    fail_unless (roi->x == 32 && roi->y == 0 && roi->w == 64 && roi->h == 64);
    outline = gst_structure_get_value (gst_video_region_of_interest_meta_get_param (
                                           (GstVideoRegionOfInterestMeta *) roi, "ccldetect"),
                                       "outline");
    fail_unless_equals_int (gst_value_array_get_size (outline), G_N_ELEMENTS (expected));
    for (guint k = 0; k < G_N_ELEMENTS (expected); k++)
      fail_unless (g_value_get_double (gst_value_array_get_value (outline, k)) == expected[k]);
    fail_unless (gst_structure_get (gst_video_region_of_interest_meta_get_param (
                                        (GstVideoRegionOfInterestMeta *) roi, "ccldetect"),
                                    "fill", G_TYPE_DOUBLE, &fill, "centroid-x", G_TYPE_DOUBLE, &x,
                                    NULL));
    fail_unless (fill == 0.25 && x == 0.125, "%g, %g", fill, x);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);

  h = ccl_test_launch (WIDTH, HEIGHT,
                       "ccldetect model='%s' library='%s' wait=true ! ccltrack min-persistence=0",
                       model, ort_fake_path ());
  buffer = look_at (h, 0);
  meta = gst_buffer_get_ccl_meta (buffer);
  fail_unless_equals_int (meta->n_components, 1);
  fail_unless_equals_uint64 (meta->components[0].area, 1024);
  fail_unless_equals_int (meta->components[0].width, 64);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static void
check_fails (GstElement *element, GQuark domain, gint code, const gchar *text)
{
  GstHarness *h;
  GstMessage *message;

  g_object_ref_sink (element);
  ccl_test_check_start_fails (gst_object_ref (element), domain, code, text);
  gst_object_unref (element);

  /* With on-error=continue, frames pass. */
  element = element_new ("on-error", 1, "model", text[0] == '/' ? text : model, NULL);
  h = ccl_test_harness_new (element, "GRAY8", WIDTH, HEIGHT);
  message = ccl_test_pop_message (h, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  ccl_test_check_nothing (look_at (h, 0));
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR));
  ccl_test_harness_free (h);
}

GST_START_TEST (test_bad_models)
{
  GstElement *element = gst_element_factory_make ("ccldetect", NULL);

  ccl_test_check_start_fails (element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                              "No model is set");
  ccl_test_check_start_fails (element_new ("library", "/nowhere.so", NULL), GST_RESOURCE_ERROR,
                              GST_RESOURCE_ERROR_NOT_FOUND, "/nowhere.so");
  ccl_test_check_start_fails (element_new ("library", "libm.so.6", NULL), GST_LIBRARY_ERROR,
                              GST_LIBRARY_ERROR_INIT, "not ONNX Runtime");
  ccl_test_check_start_fails (element_new ("input-mean", "1,2", NULL), GST_LIBRARY_ERROR,
                              GST_LIBRARY_ERROR_SETTINGS, "input-mean");
  ccl_test_check_start_fails (element_new ("input-scale", "1,0,1", NULL), GST_LIBRARY_ERROR,
                              GST_LIBRARY_ERROR_SETTINGS, "input-scale must be above 0");
  ccl_test_check_start_fails (element_new ("input-scale", "-1", NULL), GST_LIBRARY_ERROR,
                              GST_LIBRARY_ERROR_SETTINGS, "input-scale must be above 0");
  check_fails (element_new ("model", "/nowhere.onnx", NULL), GST_RESOURCE_ERROR,
               GST_RESOURCE_ERROR_NOT_FOUND, "/nowhere.onnx");

  ort_fake.input.dims[1] = 4;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "not a picture");
  ort_fake.input.dims[1] = 3;
  ort_fake.input.dims[2] = 100000;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "64x100000 pixels");
  ort_fake.input.dims[2] = SIZE;
  ort_fake.input.dims[0] = 1000;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "1000 pictures");
  ort_fake.input.dims[0] = 64;
  ort_fake.input.dims[2] = ort_fake.input.dims[3] = 2048;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "1 GiB");
  ort_fake.input.dims[0] = 1;
  ort_fake.input.dims[2] = ort_fake.input.dims[3] = SIZE;
  ort_fake.no_input = TRUE;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "not a tensor");
  ort_fake.no_input = FALSE;
  ort_fake.n_inputs = 3;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "3 inputs");
  ort_fake.n_inputs = 2;
  ort_fake.second = (GstCclTensor){ "mask", ORT_TYPE_INT64, 3, { 1, 64, 64 } };
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "mask, is not the size");
  ort_fake.second = (GstCclTensor){ "sizes", ORT_TYPE_INT64, 2, { 2, 2 } };
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "1 pictures at once, but the sizes of 2");
  ort_fake.n_inputs = 1;
  ort_fake.outputs[0].dims[1] = 83;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "output [1x83x7]");
  ort_fake.outputs[0].n_dims = 0;
  check_fails (element_new (NULL, NULL), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "not a tensor");
}
GST_END_TEST;

/* Each call that fails ends the start with its reason, and leaves nothing behind. */
GST_START_TEST (test_failing_calls)
{
  static const guint slots[] = { 7,  9,  10, 23, 24, 30, 31, 33,  36,  37, 49,
                                 50, 51, 55, 60, 61, 62, 65, 111, 116, 130 };
  static const guint devices[][3] = { { 204, 205, 206 }, { 170, 171, 172 } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (slots); i++) {
    ort_fake.fail_slot = slots[i];
    check_fails (element_new (NULL, NULL), GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED,
                 "the fake says no");
  }
  for (k = 0; k < 2; k++) {
    for (i = 0; i < 3; i++) {
      ort_fake.fail_slot = devices[k][i];
      ccl_test_check_start_fails (element_new ("provider", k + 1, NULL), GST_LIBRARY_ERROR,
                                  GST_LIBRARY_ERROR_FAILED, k ? "TensorRT" : "CUDA");
    }
    ort_fake.fail_slot = 0;
    ccl_test_harness_free (
        ccl_test_harness_new (element_new ("provider", k + 1, NULL), "GRAY8", WIDTH, HEIGHT));
    fail_unless_equals_string (ort_fake.provider, k ? "tensorrt" : "cuda");
  }
}
GST_END_TEST;

static Suite *
ccldetectmodels_suite (void)
{
  Suite *suite = suite_create ("ccldetectmodels");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_unchecked_fixture (tcase, make_model, remove_model);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, test_half);
  tcase_add_test (tcase, test_input);
  tcase_add_test (tcase, test_sizes);
  tcase_add_test (tcase, test_norms);
  tcase_add_test (tcase, test_end_to_end);
  tcase_add_test (tcase, test_outlines);
  tcase_add_test (tcase, test_bad_models);
  tcase_add_test (tcase, test_failing_calls);

  return suite;
}

GST_CHECK_MAIN (ccldetectmodels)
