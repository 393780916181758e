/* cudaccl - tests of the element's properties: what they are and what they do
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <gst/controller/controller.h>
#include <string.h>

#define READY GST_PARAM_MUTABLE_READY
#define PLAYING GST_PARAM_MUTABLE_PLAYING

static const struct
{
  const gchar *name;
  const gchar *type;
  const gchar *value; /* the default, as text */
  GParamFlags flags;
} properties[] = {
  { "backend", "GstCudaCclBackend", "auto", G_PARAM_READWRITE | READY },
  { "cuda-device-id", "gint", "-1", G_PARAM_READWRITE | READY },
  { "algorithm", "GstCudaCclAlgorithm", "auto", G_PARAM_READWRITE | READY },
  { "connectivity", "GstCudaCclConnectivity", "8", G_PARAM_READWRITE | READY },
  { "cuda-sync", "GstCudaCclSync", "auto", G_PARAM_READWRITE | READY },
  { "threshold", "guint", "127", G_PARAM_READWRITE | PLAYING | GST_PARAM_CONTROLLABLE },
  { "invert", "gboolean", "false", G_PARAM_READWRITE | PLAYING },
  { "min-area", "guint64", "1", G_PARAM_READWRITE | PLAYING },
  { "max-area", "guint64", "18446744073709551615", G_PARAM_READWRITE | PLAYING },
  { "max-components", "guint", "1024", G_PARAM_READWRITE | READY },
  { "attach", "GstCudaCclAttach", "components+roi", G_PARAM_READWRITE | PLAYING },
  { "roi-type", "gchararray", "blob", G_PARAM_READWRITE | PLAYING },
  { "post-messages", "gboolean", "false", G_PARAM_READWRITE | PLAYING },
  { "threads", "guint", "1", G_PARAM_READWRITE | READY },
  { "stats", "GstStructure", NULL, G_PARAM_READABLE },
};

GST_START_TEST (test_property)
{
  const GParamFlags mask = G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_CONSTRUCT_ONLY |
                           GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_READY |
                           GST_PARAM_MUTABLE_PAUSED | GST_PARAM_MUTABLE_PLAYING;
  GstElement *element = ccl_test_element_new (NULL, NULL);
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), properties[__i__].name);
  GValue value = G_VALUE_INIT, expected = G_VALUE_INIT;

  fail_unless (pspec != NULL, "no property %s", properties[__i__].name);
  fail_unless_equals_string (g_type_name (pspec->value_type), properties[__i__].type);
  fail_unless_equals_int (pspec->flags & mask, properties[__i__].flags);
  fail_unless (g_str_has_suffix (g_param_spec_get_blurb (pspec), "."));

  if (properties[__i__].value) {
    g_value_init (&value, pspec->value_type);
    g_value_init (&expected, pspec->value_type);
    g_object_get_property (G_OBJECT (element), pspec->name, &value);
    fail_unless (gst_value_deserialize (&expected, properties[__i__].value));
    fail_unless_equals_int (gst_value_compare (&value, &expected), GST_VALUE_EQUAL);
    fail_unless (g_param_value_defaults (pspec, &value));
    g_value_unset (&value);
    g_value_unset (&expected);
  }

  gst_object_unref (element);
}
GST_END_TEST;

GST_START_TEST (test_no_other_property)
{
  GstElement *element = ccl_test_element_new (NULL, NULL);
  guint i, n, own = 0;
  GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (i = 0; i < n; i++)
    own += pspecs[i]->owner_type == G_OBJECT_TYPE (element);
  fail_unless_equals_int (own, G_N_ELEMENTS (properties));

  g_free (pspecs);
  gst_object_unref (element);
}
GST_END_TEST;

/* What is set is what is got. */
GST_START_TEST (test_round_trip)
{
  static const gchar *const values[][2] = {
    { "backend", "cpu" },          { "cuda-device-id", "3" },   { "connectivity", "4" },
    { "threshold", "200" },        { "invert", "true" },        { "min-area", "12345678901" },
    { "max-area", "98765432109" }, { "max-components", "7" },   { "attach", "roi" },
    { "roi-type", "car" },         { "post-messages", "true" }, { "threads", "5" },
    { "cuda-sync", "block" },
  };
  GstElement *element = ccl_test_element_new (NULL, NULL);
  gchar *roi_type;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    gst_util_set_object_arg (G_OBJECT (element), values[i][0], values[i][1]);

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    GValue value = G_VALUE_INIT;
    GValue expected = G_VALUE_INIT;

    g_object_get_property (G_OBJECT (element), values[i][0], &value);
    g_value_init (&expected, G_VALUE_TYPE (&value));
    fail_unless (gst_value_deserialize (&expected, values[i][1]));
    fail_unless_equals_int (gst_value_compare (&value, &expected), GST_VALUE_EQUAL);
    g_value_unset (&expected);
    g_value_unset (&value);
  }

  g_object_set (element, "roi-type", NULL, NULL);
  g_object_get (element, "roi-type", &roi_type, NULL);
  fail_unless_equals_string (roi_type, "blob");
  g_free (roi_type);

  gst_object_unref (element);
}
GST_END_TEST;

/* The enumeration has what the engine has, and the same values in every build. */
GST_START_TEST (test_algorithms)
{
  static const struct
  {
    gint value;
    const gchar *name;
  } fixed[] = { { 0, "auto" }, { 1, "tile" }, { 2, "flsl-cd" }, { 3, "ha4" }, { 100, "runs" } };
  GEnumClass *klass = g_type_class_ref (g_type_from_name ("GstCudaCclAlgorithm"));
  const CclAlgorithm *algorithm;
  GEnumValue *value;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (fixed); i++) {
    value = g_enum_get_value_by_nick (klass, fixed[i].name);
    fail_unless (value && value->value == fixed[i].value, "%s", fixed[i].name);
    fail_unless (value->value_name && *value->value_name);
  }
  for (i = 0; (algorithm = ccl_algorithm (i)); i++) {
    value = g_enum_get_value_by_nick (klass, algorithm->name);
    fail_unless (value != NULL, "%s has no value", algorithm->name);
    fail_unless_equals_string (value->value_name, algorithm->description);
  }

  g_type_class_unref (klass);
}
GST_END_TEST;

/* Results for the picture with one or two properties set, on each backend and algorithm. */
#define SQUARE              \
  {                         \
    0, 0, 2, 2, 4, 0.5, 0.5 \
  }
#define DIAGONAL              \
  {                           \
    10, 0, 2, 2, 2, 10.5, 0.5 \
  }
#define RING                \
  {                         \
    6, 2, 3, 3, 8, 7.0, 3.0 \
  }
#define DOT                 \
  {                         \
    0, 6, 1, 1, 1, 0.0, 6.0 \
  }
#define SHADOW                \
  {                           \
    12, 6, 1, 1, 1, 12.0, 6.0 \
  }

static const struct
{
  const gchar *name, *value;
  guint n, found;
  Blob blobs[6];
} effects[] = {
  { "threshold", "127", 4, 4, { SQUARE, DIAGONAL, RING, DOT } },
  { "threshold", "128", 3, 3, { SQUARE, DIAGONAL, DOT } },
  { "threshold", "126", 5, 5, { SQUARE, DIAGONAL, RING, DOT, SHADOW } },
  { "threshold", "0", 5, 5, { SQUARE, DIAGONAL, RING, DOT, SHADOW } },
  { "threshold", "255", 0, 0, { SQUARE } },
  { "connectivity",
    "4",
    5,
    5,
    { SQUARE, { 11, 0, 1, 1, 1, 11.0, 0.0 }, { 10, 1, 1, 1, 1, 10.0, 1.0 }, RING, DOT } },
  { "invert",
    "true",
    2,
    2,
    { { 0, 0, 13, 7, 75, 460.0 / 75, 237.0 / 75 }, { 7, 3, 1, 1, 1, 7.0, 3.0 } } },
  { "min-area", "0", 4, 4, { SQUARE, DIAGONAL, RING, DOT } },
  { "min-area", "4", 2, 2, { SQUARE, RING } },
  { "min-area", "5", 1, 1, { RING } },
  { "min-area", "92", 0, 0, { SQUARE } },
  { "max-area", "4", 3, 3, { SQUARE, DIAGONAL, DOT } },
  { "max-area", "3", 2, 2, { DIAGONAL, DOT } },
  { "max-area", "0", 0, 0, { SQUARE } },
  { "max-components", "4", 4, 4, { SQUARE, DIAGONAL, RING, DOT } },
  { "max-components", "3", 3, 4, { SQUARE, DIAGONAL, RING } },
  { "max-components", "1", 1, 4, { RING } },
};

GST_START_TEST (test_effect)
{
  const CclAlgorithm *algorithm;
  guint i;

  for (i = 0; (algorithm = ccl_algorithm (i)); i++) {
    GstElement *element;
    guint64 truncated;
    GstStructure *stats;
    GstBuffer *buffer;
    GstHarness *h;

    if (algorithm->backend == CCL_BACKEND_CUDA && ccl_test_n_backends () < 2)
      continue;
    if (strcmp (effects[__i__].name, "connectivity") == 0 && !(algorithm->connectivity & 4))
      continue;
    if (strcmp (effects[__i__].name, "connectivity") != 0 && !(algorithm->connectivity & 8))
      continue;

    element = ccl_test_element_new (ccl_backend_name (algorithm->backend), NULL);
    gst_util_set_object_arg (G_OBJECT (element), "algorithm", algorithm->name);
    gst_util_set_object_arg (G_OBJECT (element), effects[__i__].name, effects[__i__].value);
    h = ccl_test_harness_new (element, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);

    buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
    ccl_test_check_blobs (buffer, effects[__i__].blobs, effects[__i__].n, effects[__i__].found);
    gst_buffer_unref (buffer);

    g_object_get (element, "stats", &stats, NULL);
    fail_unless_equals_string (gst_structure_get_string (stats, "algorithm"), algorithm->name);
    fail_unless (gst_structure_get_uint64 (stats, "truncated", &truncated));
    fail_unless_equals_uint64 (truncated, effects[__i__].n < effects[__i__].found ? 1 : 0);
    gst_structure_free (stats);

    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* What may change in PLAYING does so from frame to frame. */
GST_START_TEST (test_change_in_playing)
{
  static const Blob ring[] = { RING };
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *buffer;

  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
  gst_buffer_unref (buffer);

  g_object_set (h->element, "min-area", (guint64) 5, NULL);
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  ccl_test_check_blobs (buffer, ring, 1, 1);
  gst_buffer_unref (buffer);

  gst_util_set_object_arg (G_OBJECT (h->element), "attach", "components");
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, 1);
  fail_if (gst_buffer_get_video_region_of_interest_meta_id (buffer, 0));
  gst_buffer_unref (buffer);

  gst_util_set_object_arg (G_OBJECT (h->element), "attach", "roi");
  g_object_set (h->element, "roi-type", "car", NULL);
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  fail_if (gst_buffer_get_ccl_meta (buffer));
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  fail_unless_equals_string (g_quark_to_string (roi->roi_type), "car");
  gst_buffer_unref (buffer);

  gst_util_set_object_arg (G_OBJECT (h->element), "attach", "");
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  ccl_test_check_nothing (buffer);
  gst_buffer_unref (buffer);

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* What may change in READY counts from the next start on, also when the size changes before. */
GST_START_TEST (test_change_in_ready)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstBuffer *buffer;

  g_object_set (h->element, "max-components", 2, NULL);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=16,height=8,framerate=1/1");
  gst_buffer_unref (gst_harness_push_and_pull (h, ccl_test_black_new (16, 8)));
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1");
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, n_picture_blobs);
  gst_buffer_unref (buffer);

  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1");
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, 2);
  gst_buffer_unref (buffer);

  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_controlled_threshold)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstControlSource *source = gst_interpolation_control_source_new ();
  guint n[] = { 0, 0, 0 }, i;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 126);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), GST_SECOND, 127);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 2 * GST_SECOND, 128);
  fail_unless (gst_object_add_control_binding (
      GST_OBJECT (h->element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (h->element), "threshold", source)));

  for (i = 0; i < 3; i++) {
    GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);

    GST_BUFFER_PTS (buffer) = i * GST_SECOND;
    buffer = gst_harness_push_and_pull (h, buffer);
    n[i] = gst_buffer_get_ccl_meta (buffer)->n_components;
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (n[0], 5);
  fail_unless_equals_int (n[1], 4);
  fail_unless_equals_int (n[2], 3);

  gst_object_unref (source);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Area limits that nothing can pass are worth one warning each time they are set. */
GST_START_TEST (test_area_warning)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  guint64 min_area;
  guint i;

  gst_harness_set_drop_buffers (h, TRUE);
  for (min_area = 11; min_area > 8; min_area--) {
    g_object_set (h->element, "min-area", min_area, "max-area", (guint64) 9, NULL);
    for (i = 0; i < 3; i++) {
      GstMessage *message;

      gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
      message = ccl_test_pop_message (h, GST_MESSAGE_WARNING);
      fail_unless_equals_int (message != NULL, i == 0 && min_area > 9);
      gst_clear_message (&message);
    }
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Limits that are set together are not looked at one by one. */
GST_START_TEST (test_areas_set_together)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, "max-area", (guint64) 9, NULL);
  guint i;

  gst_harness_set_drop_buffers (h, TRUE);
  g_object_freeze_notify (G_OBJECT (h->element));
  for (i = 0; i < 2; i++) {
    g_object_set (h->element, i == 0 ? "min-area" : "max-area", (guint64) (10 + i), NULL);
    gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  }
  g_object_thaw_notify (G_OBJECT (h->element));
  gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_WARNING));

  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_stats)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, "max-components", 3, NULL);
  guint64 frames, components, truncated, allocations, bytes, time, part[3];
  GstStructure *stats;
  gint index, i;

  gst_harness_set_drop_buffers (h, TRUE);
  for (i = 0; i < 5; i++)
    gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  g_object_set (h->element, "min-area", (guint64) 5, NULL);
  gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));

  /* They outlive the analysis. */
  gst_element_set_state (h->element, GST_STATE_NULL);
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), ccl_test_backend (__i__));
  fail_unless (gst_structure_get_string (stats, "algorithm") != NULL);
  fail_unless (strlen (gst_structure_get_string (stats, "device")) > 0);
  fail_unless (gst_structure_get (
      stats, "frames", G_TYPE_UINT64, &frames, "components", G_TYPE_UINT64, &components,
      "truncated", G_TYPE_UINT64, &truncated, "device-index", G_TYPE_INT, &index, "allocations",
      G_TYPE_UINT64, &allocations, "allocated-bytes", G_TYPE_UINT64, &bytes, "average-time",
      G_TYPE_UINT64, &time, "average-upload-time", G_TYPE_UINT64, &part[0], "average-analysis-time",
      G_TYPE_UINT64, &part[1], "average-download-time", G_TYPE_UINT64, &part[2], NULL));
  fail_unless_equals_uint64 (frames, 6);
  fail_unless_equals_uint64 (components, 5 * 3 + 1);
  fail_unless_equals_uint64 (truncated, 5);
  fail_unless_equals_int (index, __i__ == 0 ? -1 : 0);
  fail_unless (allocations > 0 && bytes > 0);
  fail_unless (time > 0 && part[1] > 0);
  gst_structure_free (stats);

  gst_element_set_state (h->element, GST_STATE_PAUSED);
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "frames", &frames));
  fail_unless_equals_uint64 (frames, 0);
  gst_structure_free (stats);

  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
properties_suite (void)
{
  Suite *s = suite_create ("properties");
  TCase *tc = tcase_create ("general");
  gint n_backends = (gint) ccl_test_n_backends ();

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_property, 0, G_N_ELEMENTS (properties));
  tcase_add_test (tc, test_no_other_property);
  tcase_add_test (tc, test_round_trip);
  tcase_add_test (tc, test_algorithms);
  tcase_add_loop_test (tc, test_effect, 0, G_N_ELEMENTS (effects));
  tcase_add_loop_test (tc, test_change_in_playing, 0, n_backends);
  tcase_add_loop_test (tc, test_change_in_ready, 0, n_backends);
  tcase_add_loop_test (tc, test_controlled_threshold, 0, n_backends);
  tcase_add_loop_test (tc, test_area_warning, 0, n_backends);
  tcase_add_loop_test (tc, test_areas_set_together, 0, n_backends);
  tcase_add_loop_test (tc, test_stats, 0, n_backends);

  return s;
}

GST_CHECK_MAIN (properties);
