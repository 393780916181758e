/* cudaccl - tests of the element cudaccl: properties, negotiation, errors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <gst/base/gstbasetransform.h>
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
  { "values", "GstCudaCclValues", "above", G_PARAM_READWRITE | READY },
  { "low", "guint", "1", G_PARAM_READWRITE | PLAYING | GST_PARAM_CONTROLLABLE },
  { "high", "guint", "65535", G_PARAM_READWRITE | PLAYING | GST_PARAM_CONTROLLABLE },
  { "labels", "gchararray", NULL, G_PARAM_READWRITE | READY },
  { "segmentation", "gboolean", "false", G_PARAM_READWRITE | READY },
  { "invert", "gboolean", "false", G_PARAM_READWRITE | PLAYING },
  { "min-area", "guint64", "1", G_PARAM_READWRITE | PLAYING },
  { "max-area", "guint64", "18446744073709551615", G_PARAM_READWRITE | PLAYING },
  { "max-components", "guint", "1024", G_PARAM_READWRITE | READY },
  { "features", "GstCudaCclFeatures", "0", G_PARAM_READWRITE | READY },
  { "attach", "GstCudaCclAttach", "components+roi", G_PARAM_READWRITE | PLAYING },
  { "roi-type", "gchararray", "blob", G_PARAM_READWRITE | PLAYING },
  { "post-messages", "gboolean", "false", G_PARAM_READWRITE | PLAYING },
  { "threads", "guint", "1", G_PARAM_READWRITE | READY },
  { "cuda-graphs", "gboolean", "false", G_PARAM_READWRITE | READY },
  { "upload", "GstCudaCclUpload", "auto", G_PARAM_READWRITE | READY },
  { "morphology", "gchararray", NULL, G_PARAM_READWRITE | READY },
  { "include", "gchararray", NULL, G_PARAM_READWRITE | READY },
  { "exclude", "gchararray", NULL, G_PARAM_READWRITE | READY },
  { "region-file", "gchararray", NULL, G_PARAM_READWRITE | READY },
  { "min-relative-area", "gdouble", "0", G_PARAM_READWRITE | PLAYING },
  { "min-width", "guint", "1", G_PARAM_READWRITE | PLAYING },
  { "min-height", "guint", "1", G_PARAM_READWRITE | PLAYING },
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
    own += pspecs[i]->owner_type != GST_TYPE_BASE_TRANSFORM &&
           g_type_is_a (pspecs[i]->owner_type, GST_TYPE_BASE_TRANSFORM);
  fail_unless_equals_int (own, G_N_ELEMENTS (properties));

  g_free (pspecs);
  gst_object_unref (element);
}
GST_END_TEST;

/* Properties return the values that were set. */
GST_START_TEST (test_round_trip)
{
  static const gchar *const values[][2] = {
    { "backend", "cpu" },           { "cuda-device-id", "3" },    { "connectivity", "4" },
    { "threshold", "200" },         { "invert", "true" },         { "min-area", "12345678901" },
    { "max-area", "98765432109" },  { "max-components", "7" },    { "attach", "roi" },
    { "roi-type", "car" },          { "post-messages", "true" },  { "threads", "5" },
    { "cuda-sync", "block" },       { "upload", "bits" },         { "morphology", "median3" },
    { "include", "0,0 1,0 0,1" },   { "exclude", "0,0 1,1 0,1" }, { "region-file", "region.pgm" },
    { "min-relative-area", "0.5" }, { "min-width", "3" },         { "min-height", "4" },
    { "cuda-graphs", "true" },
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

/* The enumeration has all of the engine's algorithms, and fixed values in every build. */
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

/* All blobs that some setting finds in the picture. */
enum
{
  SQUARE,
  DIAGONAL,
  RING,
  DOT,
  SHADOW,
  UPPER,
  LOWER,
  SURROUNDINGS,
  HOLE,
};

static const Blob found_blobs[] = {
  [SQUARE] = { 0, 0, 2, 2, 4, 0.5, 0.5 },
  [DIAGONAL] = { 10, 0, 2, 2, 2, 10.5, 0.5 },
  [RING] = { 6, 2, 3, 3, 8, 7.0, 3.0 },
  [DOT] = { 0, 6, 1, 1, 1, 0.0, 6.0 },
  [SHADOW] = { 12, 6, 1, 1, 1, 12.0, 6.0 },
  [UPPER] = { 11, 0, 1, 1, 1, 11.0, 0.0 }, /* the diagonal's pixels */
  [LOWER] = { 10, 1, 1, 1, 1, 10.0, 1.0 },
  [SURROUNDINGS] = { 0, 0, 13, 7, 75, 460.0 / 75, 237.0 / 75 },
  [HOLE] = { 7, 3, 1, 1, 1, 7.0, 3.0 },
};

/* The picture's components with one property set. */
static const struct
{
  const gchar *name, *value;
  guint n, found;
  guint blobs[5];
} effects[] = {
  { "threshold", "127", 4, 4, { SQUARE, DIAGONAL, RING, DOT } },
  { "threshold", "128", 3, 3, { SQUARE, DIAGONAL, DOT } },
  { "threshold", "126", 5, 5, { SQUARE, DIAGONAL, RING, DOT, SHADOW } },
  { "threshold", "0", 5, 5, { SQUARE, DIAGONAL, RING, DOT, SHADOW } },
  { "threshold", "255", 0, 0, { 0 } },
  { "connectivity", "4", 5, 5, { SQUARE, UPPER, LOWER, RING, DOT } },
  { "invert", "true", 2, 2, { SURROUNDINGS, HOLE } },
  { "min-area", "0", 4, 4, { SQUARE, DIAGONAL, RING, DOT } },
  { "min-area", "4", 2, 2, { SQUARE, RING } },
  { "min-area", "5", 1, 1, { RING } },
  { "min-area", "92", 0, 0, { 0 } },
  { "max-area", "4", 3, 3, { SQUARE, DIAGONAL, DOT } },
  { "max-area", "3", 2, 2, { DIAGONAL, DOT } },
  { "max-area", "0", 0, 0, { 0 } },
  { "min-relative-area", "0.02", 3, 3, { SQUARE, DIAGONAL, RING } },
  { "min-relative-area", "0.04", 2, 2, { SQUARE, RING } },
  { "min-width", "2", 3, 3, { SQUARE, DIAGONAL, RING } },
  { "min-height", "3", 1, 1, { RING } },
  { "morphology", "drop3", 2, 2, { SQUARE, RING } },
  { "exclude", "0,0 0.5,0 0.5,0.3 0,0.3", 3, 3, { DIAGONAL, RING, DOT } },
  { "max-components", "4", 4, 4, { SQUARE, DIAGONAL, RING, DOT } },
  { "max-components", "3", 3, 4, { SQUARE, DIAGONAL, RING } },
  { "max-components", "1", 1, 4, { RING } },
};

GST_START_TEST (test_effect)
{
  gboolean connectivity_4 = g_str_equal (effects[__i__].name, "connectivity");
  const CclAlgorithm *algorithm;
  Blob expected[5];
  guint i;

  for (i = 0; i < effects[__i__].n; i++)
    expected[i] = found_blobs[effects[__i__].blobs[i]];
  for (i = 0; (algorithm = ccl_algorithm (i)); i++) {
    GstElement *element;
    GstHarness *h;

    if (algorithm->backend == CCL_BACKEND_CUDA && ccl_test_n_backends () < 2)
      continue;
    if (!(algorithm->connectivity & (connectivity_4 ? 4 : 8)))
      continue;

    element = ccl_test_element_new (ccl_backend_name (algorithm->backend), NULL);
    gst_util_set_object_arg (G_OBJECT (element), "algorithm", algorithm->name);
    gst_util_set_object_arg (G_OBJECT (element), effects[__i__].name, effects[__i__].value);
    h = ccl_test_harness_new (element, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);

    ccl_test_push_blobs (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED), expected,
                         effects[__i__].n, effects[__i__].found);
    ccl_test_check_stat (element, "algorithm", algorithm->name);
    fail_unless_equals_uint64 (ccl_test_stat (element, "truncated"),
                               effects[__i__].n < effects[__i__].found ? 1 : 0);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* Properties mutable in PLAYING apply from the next frame on. */
GST_START_TEST (test_change_in_playing)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *buffer;

  ccl_test_push_picture (h);

  g_object_set (h->element, "min-area", (guint64) 5, NULL);
  ccl_test_push_blobs (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED), &found_blobs[RING], 1, 1);

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

/* Properties mutable in READY apply from the next start on, even if the caps change before. */
GST_START_TEST (test_change_in_ready)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstBuffer *buffer;

  g_object_set (h->element, "max-components", 2, NULL);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=16,height=8,framerate=1/1");
  ccl_test_push (h, ccl_test_black_new (16, 8));
  ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, n_picture_blobs);
  gst_buffer_unref (buffer);

  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
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

/* Area limits that exclude everything give one warning each time they are set. */
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

/* No warning for limits that are inconsistent only until notifications are thawed. */
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
  GstClockTime start = gst_util_get_timestamp (), passed;
  GstStructure *stats;
  gint index, i;

  gst_harness_set_drop_buffers (h, TRUE);
  for (i = 0; i < 5; i++)
    gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  g_object_set (h->element, "min-area", (guint64) 5, NULL);
  gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));

  /* The statistics outlive the analysis. */
  gst_element_set_state (h->element, GST_STATE_NULL);
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), ccl_test_backend (__i__));
  fail_unless (gst_structure_get_string (stats, "algorithm") != NULL);
  fail_unless (strlen (gst_structure_get_string (stats, "device")) > 0);
  fail_unless_equals_string (gst_structure_get_string (stats, "upload"),
                             __i__ == 0 ? "none" : "bits");
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
  passed = gst_util_get_timestamp () - start;
  fail_unless (time > 0 && time <= passed && part[1] > 0 && part[1] <= passed);
  gst_structure_free (stats);

  gst_element_set_state (h->element, GST_STATE_PAUSED);
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "frames"), 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static GstCaps *
query_caps (GstElement *element, const gchar *pad_name)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);
  GstCaps *caps = gst_pad_query_caps (pad, NULL);

  gst_object_unref (pad);

  return caps;
}

static gboolean
accepts (GstElement *element, const gchar *pad_name, const gchar *caps_string)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);
  GstCaps *caps = gst_caps_from_string (caps_string);
  gboolean result = gst_pad_query_accept_caps (pad, caps);

  gst_caps_unref (caps);
  gst_object_unref (pad);

  return result;
}

GST_START_TEST (test_accept)
{
  static const gchar *const refused[] = {
    "video/x-raw,format=RGB16,width=13,height=7",
    "video/x-raw,format=I420_10BE,width=13,height=7",
    "video/x-raw,format=v210,width=13,height=7",
    "video/x-raw(memory:CUDAMemory),format=GRAY8,width=13,height=7",
    "video/x-raw(memory:GLMemory),format=NV12,width=13,height=7",
    "audio/x-raw",
  };
  GstElement *element = ccl_test_element_new (NULL, NULL);
  guint i;

  for (i = 0; picture_formats[i]; i++) {
    gchar *caps = g_strdup_printf ("video/x-raw,format=%s,width=13,height=7,framerate=30/1",
                                   picture_formats[i]);

    fail_unless (accepts (element, "sink", caps), "%s is not accepted", caps);
    fail_unless (accepts (element, "src", caps), "%s is not accepted", caps);
    g_free (caps);
  }

  for (i = 0; i < G_N_ELEMENTS (refused); i++) {
    fail_if (accepts (element, "sink", refused[i]), "%s is accepted", refused[i]);
    fail_if (accepts (element, "src", refused[i]), "%s is accepted", refused[i]);
  }

  gst_object_unref (element);
}
GST_END_TEST;

#ifdef HAVE_GSTCUDA
/* CUDA memory is accepted by all backends but the CPU's. */
GST_START_TEST (test_accept_memory)
{
  static const gchar *const formats[] = { "NV12", "NV21", "I420", "YV12",
                                          "Y42B", "Y444", "BGR",  "RGBA" };
  static const gchar *const backends[] = { "auto", "cuda", "cpu" };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (backends); i++) {
    GstElement *element = ccl_test_element_new (backends[i], NULL);

    for (j = 0; j < G_N_ELEMENTS (formats); j++) {
      gchar *caps = g_strdup_printf ("video/x-raw(memory:CUDAMemory),format=%s,width=13,height=7,"
                                     "framerate=30/1",
                                     formats[j]);
      gboolean wanted = !g_str_equal (backends[i], "cpu");

      fail_unless_equals_int (accepts (element, "sink", caps), wanted);
      fail_unless_equals_int (accepts (element, "src", caps), wanted);
      g_free (caps);
    }
    gst_object_unref (element);
  }
}
GST_END_TEST;
#endif

/* Each pad's caps are limited by the other pad's peer. */
GST_START_TEST (test_both_directions)
{
  const gchar *limits = "video/x-raw,format={GRAY8,RGB16,NV12},width=[1,320],height=240";
  const gchar *expected = "video/x-raw,format={GRAY8,NV12},width=[1,320],height=240,"
                          "framerate=[0/1,2147483647/1]";
  static const gchar *const pads[][2] = { { "sink", "src" }, { "src", "sink" } };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (pads); i++) {
    GstElement *pipeline = gst_pipeline_new (NULL);
    GstElement *element = ccl_test_element_new (NULL, NULL);
    GstElement *filter = gst_element_factory_make ("capsfilter", NULL);
    GstCaps *caps = gst_caps_from_string (limits), *want = gst_caps_from_string (expected);

    g_object_set (filter, "caps", caps, NULL);
    gst_caps_unref (caps);
    gst_bin_add_many (GST_BIN (pipeline), element, filter, NULL);
    fail_unless (i == 0 ? gst_element_link (element, filter) : gst_element_link (filter, element));

    caps = query_caps (element, pads[i][0]);
    fail_unless (gst_caps_is_equal (caps, want), "%" GST_PTR_FORMAT, caps);

    gst_caps_unref (caps);
    gst_caps_unref (want);
    gst_object_unref (pipeline);
  }
}
GST_END_TEST;

GST_START_TEST (test_caps_pass_unchanged)
{
  const gchar *text = "video/x-raw,format=NV12,width=13,height=7,framerate=25/2,"
                      "pixel-aspect-ratio=4/3,interlace-mode=mixed,colorimetry=bt709,"
                      "multiview-mode=mono,x-unknown=1";
  GstHarness *h = ccl_test_launch (1, 1, "cudaccl backend=cpu");
  GstCaps *caps = gst_caps_from_string (text), *out;

  gst_harness_set_src_caps_str (h, text);
  ccl_test_push (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED));
  out = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_caps_is_equal (out, caps), "%" GST_PTR_FORMAT, out);

  gst_caps_unref (out);
  gst_caps_unref (caps);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Size and format change in mid-stream, repeatedly. */
GST_START_TEST (test_renegotiation)
{
  GstHarness *h = ccl_test_launch (640, 480, "cudaccl backend=%s", ccl_test_backend (__i__));
  guint i;

  for (i = 0; i < 3 * g_strv_length ((gchar **) picture_formats); i++) {
    const gchar *format = picture_formats[i % g_strv_length ((gchar **) picture_formats)];
    guint size = 1 + 97 * i;
    GstBuffer *buffer;

    ccl_test_set_caps (h, "GRAY8", size, 5);
    buffer = gst_harness_push_and_pull (h, ccl_test_black_new (size, 5));
    fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->width, size);
    ccl_test_check_blobs (buffer, NULL, 0, 0);
    gst_buffer_unref (buffer);

    ccl_test_set_caps (h, format, PICTURE_WIDTH, PICTURE_HEIGHT);
    buffer = gst_harness_push_and_pull (h, ccl_test_picture_new (format, LAYOUT_PADDED));
    ccl_test_check_picture (buffer);
    gst_buffer_unref (buffer);
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Buffers pass through, so downstream decides the allocation. */
GST_START_TEST (test_allocation)
{
  gboolean downstream_can;

  for (downstream_can = FALSE; downstream_can <= TRUE; downstream_can++) {
    GstHarness *h = ccl_test_launch (64, 48, "cudaccl backend=cpu");
    GstAllocationParams params = { .align = 31, .padding = 16 };
    GstAllocator *allocator = NULL;
    GstCaps *caps;
    GstQuery *query;

    if (downstream_can) {
      gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
      gst_harness_set_propose_allocator (h, NULL, &params);
    }
    ccl_test_push (h, ccl_test_black_new (64, 48));

    caps = gst_pad_get_current_caps (h->srcpad);
    query = gst_query_new_allocation (caps, TRUE);
    gst_pad_peer_query (h->srcpad, query);
    fail_unless_equals_int (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL),
                            downstream_can);
    if (downstream_can) {
      fail_unless_equals_int (gst_query_get_n_allocation_params (query), 1);
      gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
      fail_unless_equals_int (params.align, 31);
      fail_unless_equals_int (params.padding, 16);
    }

    gst_query_unref (query);
    gst_caps_unref (caps);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static gboolean
build_has_cuda (void)
{
  return ccl_algorithm (0)->backend == CCL_BACKEND_CUDA;
}

/* Without a device or a CUDA build, the error says what to do. */
GST_START_TEST (test_no_device)
{
  if (build_has_cuda ())
    ccl_test_check_start_fails (ccl_test_element_new ("cuda", NULL), GST_RESOURCE_ERROR,
                                GST_RESOURCE_ERROR_NOT_FOUND, "backend cpu");
  else
    ccl_test_check_start_fails (ccl_test_element_new ("cuda", NULL), GST_LIBRARY_ERROR,
                                GST_LIBRARY_ERROR_SETTINGS, "this build has no CUDA backend");
}
GST_END_TEST;

GST_START_TEST (test_no_such_device)
{
  static const gchar *const backends[] = { "auto", "cuda" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (backends); i++) {
    GstElement *element = ccl_test_element_new (backends[i], "cuda-device-id", 99, NULL);

    if (!build_has_cuda ())
      ccl_test_check_start_fails (element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                                  "any device");
    else
      ccl_test_check_start_fails (element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                                  ccl_test_n_backends () > 1 ? "-1 takes any" : "backend cpu");
  }
}
GST_END_TEST;

static void
collect_info (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
              const gchar *function, gint line, GObject *object, GstDebugMessage *message,
              gpointer log)
{
  if (level == GST_LEVEL_INFO && g_str_equal (gst_debug_category_get_name (category), "cudaccl"))
    g_string_append (log, gst_debug_message_get (message));
}

/* The log names the backend in use and, if it is a fallback, the reason. */
GST_START_TEST (test_log)
{
  GString *log = g_string_new (NULL);
  GstHarness *h;
  GstStructure *stats;

  gst_debug_add_log_function (collect_info, log, NULL);
  gst_debug_set_threshold_for_name ("cudaccl", GST_LEVEL_INFO);
  h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=auto");
  gst_debug_unset_threshold_for_name ("cudaccl");
  gst_debug_remove_log_function (collect_info);

#ifndef GST_DISABLE_GST_DEBUG
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (strstr (log->str, gst_structure_get_string (stats, "device")) != NULL, "%s",
               log->str);
  fail_unless (strstr (log->str, gst_structure_get_string (stats, "algorithm")) != NULL, "%s",
               log->str);
  gst_structure_free (stats);
  fail_unless_equals_int (strstr (log->str, "because") != NULL, ccl_test_n_backends () == 1);
  if (ccl_test_n_backends () == 1)
    fail_unless (strstr (log->str, build_has_cuda () ? "driver" : "no CUDA backend") != NULL, "%s",
                 log->str);
#endif

  g_string_free (log, TRUE);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Without a device, auto falls back to the CPU. */
GST_START_TEST (test_fallback)
{
  GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=auto");
  GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));

  ccl_test_check_picture (buffer);
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  ccl_test_check_stat (h->element, "backend", ccl_test_n_backends () > 1 ? "cuda" : "cpu");
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* An algorithm of another backend is refused. */
GST_START_TEST (test_algorithm_of_other_backend)
{
  const CclAlgorithm *algorithm;
  guint i;

  for (i = 0; (algorithm = ccl_algorithm (i)); i++) {
    CclBackend other = algorithm->backend == CCL_BACKEND_CPU ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
    GstElement *element;

    if (other == CCL_BACKEND_CUDA && ccl_test_n_backends () < 2)
      continue;

    element = ccl_test_element_new (ccl_backend_name (other), NULL);
    gst_util_set_object_arg (G_OBJECT (element), "algorithm", algorithm->name);
    ccl_test_check_start_fails (element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                                algorithm->name);
  }
}
GST_END_TEST;

/* Starts that fail leave nothing behind, as the leak sanitizer checks. */
GST_START_TEST (test_start_after_failures)
{
  GstElement *element = ccl_test_element_new ("cpu", "include", "0,0 1,0 1,1", NULL);
  guint i;

  gst_util_set_object_arg (G_OBJECT (element), "algorithm", "tile");
  for (i = 0; i < 2; i++) {
    ccl_test_check_start_fails (gst_object_ref (element), GST_LIBRARY_ERROR,
                                GST_LIBRARY_ERROR_SETTINGS, "tile");
    gst_element_set_state (element, GST_STATE_NULL);
  }
  gst_util_set_object_arg (G_OBJECT (element), "algorithm", "auto");
  fail_unless (gst_element_set_state (element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}
GST_END_TEST;

/* More pixels than the engine supports. */
GST_START_TEST (test_huge_frame)
{
  GstHarness *h = ccl_test_launch (65536, 65536, "cudaccl backend=%s", ccl_test_backend (__i__));

  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_NOT_NEGOTIATED);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "65536");
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* More memory than there is. */
GST_START_TEST (test_no_memory)
{
  GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=cpu");
  GstBuffer *buffer;

  /* Enough for everything but the analyzer's tables. */
  if (!ccl_test_limit_memory (32 << 20)) {
    ccl_test_harness_free (h);
    return;
  }
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=65535,height=30000,"
                                   "framerate=1/1");
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_NOT_NEGOTIATED);
  ccl_test_unlimit_memory ();
  ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                        "use smaller frames");

  ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  ccl_test_check_picture (buffer);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames of 13x7 GRAY8 pixels whose buffers may not match their description. Stride 0: no
 * GstVideoMeta. */
static const struct
{
  const gchar *what;
  gsize size;
  gint stride;
  gsize offset;
  guint width, height;
  guint crop_x, crop_y;
  gboolean good;
} frames[] = {
  { "empty", 0, 0, 0, 0, 0, 0, 0, FALSE },
  { "one byte short", 16 * 7 - 1, 0, 0, 0, 0, 0, 0, FALSE },
  { "all there", 16 * 7, 0, 0, 0, 0, 0, 0, TRUE },
  { "last row cut after its pixels", 6 * 20 + 13, 20, 0, 13, 7, 0, 0, TRUE },
  { "last pixel missing", 6 * 20 + 12, 20, 0, 13, 7, 0, 0, FALSE },
  { "a stride that goes past the memory", 16 * 7, 4096, 0, 13, 7, 0, 0, FALSE },
  { "the largest stride", 16 * 7, G_MAXINT, 0, 13, 7, 0, 0, FALSE },
  { "rows that overlap", 16 * 7, 12, 0, 13, 7, 0, 0, FALSE },
  { "no stride", 16 * 7, -1, 0, 13, 7, 0, 0, FALSE },
  { "bottom up", 16 * 7, -16, 6 * 16, 13, 7, 0, 0, FALSE },
  { "an offset that moves the end out", 16 * 7, 16, 4, 13, 7, 0, 0, FALSE },
  { "an offset that just fits", 16 * 7, 16, 3, 13, 7, 0, 0, TRUE },
  { "an offset past the end", 16 * 7, 16, 16 * 7, 13, 7, 0, 0, FALSE },
  { "the largest offset", 16 * 7, 16, G_MAXSIZE, 13, 7, 0, 0, FALSE },
  { "too narrow", 16 * 7, 16, 0, 12, 7, 0, 0, FALSE },
  { "too low", 16 * 7, 16, 0, 13, 6, 0, 0, FALSE },
  { "larger than the caps", 32 * 32, 32, 0, 32, 32, 0, 0, TRUE },
  { "cropped", 32 * 32, 32, 0, 32, 32, 19, 25, TRUE },
  { "cropped past the right", 32 * 32, 32, 0, 32, 32, 20, 25, FALSE },
  { "cropped past the bottom", 32 * 32, 32, 0, 32, 32, 19, 26, FALSE },
  { "cropped at the far end", 32 * 32, 32, 0, 32, 32, G_MAXUINT, G_MAXUINT, FALSE },
  { "cropped where no memory is", 32 * 31, 32, 0, 32, 32, 19, 25, FALSE },
};

static GstBuffer *
make_frame (guint i)
{
  GstBuffer *buffer = gst_buffer_new ();
  gsize offset[GST_VIDEO_MAX_PLANES] = { frames[i].offset };
  gint stride[GST_VIDEO_MAX_PLANES] = { frames[i].stride };

  /* Memory of exactly that size, so that memory checkers detect every overrun. */
  if (frames[i].size > 0) {
    gpointer data = g_malloc0 (frames[i].size);

    gst_buffer_append_memory (
        buffer, gst_memory_new_wrapped (0, data, frames[i].size, 0, frames[i].size, data, g_free));
  }

  if (frames[i].stride != 0)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                    frames[i].width, frames[i].height, 1, offset, stride);

  if (frames[i].crop_x > 0) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

    crop->x = frames[i].crop_x;
    crop->y = frames[i].crop_y;
    crop->width = PICTURE_WIDTH;
    crop->height = PICTURE_HEIGHT;
  }

  return buffer;
}

GST_START_TEST (test_frame)
{
  gint backend;

  for (backend = 0; backend < (gint) ccl_test_n_backends (); backend++) {
    GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=%s",
                                     ccl_test_backend (backend));
    GstFlowReturn ret = gst_harness_push (h, make_frame (__i__));
    GstBuffer *buffer = gst_harness_try_pull (h);

    GST_INFO ("%s", frames[__i__].what);
    fail_unless_equals_int (ret, frames[__i__].good ? GST_FLOW_OK : GST_FLOW_ERROR);
    fail_unless_equals_int (buffer != NULL, frames[__i__].good);
    if (buffer) {
      ccl_test_check_blobs (buffer, NULL, 0, 0);
      gst_buffer_unref (buffer);
    } else {
      ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frame");
    }
    fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR));

    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* After a bad frame, good ones are analysed, with or without a restart. */
GST_START_TEST (test_recovery)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  guint i;

  for (i = 0; i < 4; i++) {
    fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "bytes");

    if (i % 2) {
      gst_element_set_state (h->element, i == 1 ? GST_STATE_READY : GST_STATE_NULL);
      gst_element_set_state (h->element, GST_STATE_PLAYING);
      ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
    }

    ccl_test_push_picture (h);
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cudaccl_suite (void)
{
  Suite *s = suite_create ("cudaccl");
  TCase *tc;
  gint n_backends = (gint) ccl_test_n_backends ();

  tc = tcase_create ("properties");
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

  tc = tcase_create ("caps");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_accept);
#ifdef HAVE_GSTCUDA
  tcase_add_test (tc, test_accept_memory);
#endif
  tcase_add_test (tc, test_both_directions);
  tcase_add_test (tc, test_caps_pass_unchanged);
  tcase_add_loop_test (tc, test_renegotiation, 0, (gint) ccl_test_n_backends ());
  tcase_add_test (tc, test_allocation);

  tc = tcase_create ("errors");
  suite_add_tcase (s, tc);
  if (n_backends == 1)
    tcase_add_test (tc, test_no_device);
  tcase_add_test (tc, test_no_such_device);
  tcase_add_test (tc, test_fallback);
  tcase_add_test (tc, test_log);
  tcase_add_test (tc, test_no_memory);
  tcase_add_test (tc, test_algorithm_of_other_backend);
  tcase_add_test (tc, test_start_after_failures);
  tcase_add_loop_test (tc, test_huge_frame, 0, n_backends);
  tcase_add_loop_test (tc, test_frame, 0, G_N_ELEMENTS (frames));
  tcase_add_loop_test (tc, test_recovery, 0, n_backends);

  return s;
}

GST_CHECK_MAIN (cudaccl);
