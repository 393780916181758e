/* cudaccl - tests of classes and confidences, from detectors to reports
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

#include <string.h>

#define WIDTH 160
#define HEIGHT 120

static const gchar *const strings[] = { "person", "car", NULL };
static const gchar *const turned[] = { "dog", "car", "person", NULL };

/* A frame with a component of that class. */
static GstBuffer *
classified_new (guint number, const gchar *const *names, guint class_id, gdouble confidence)
{
  GstCclComponent component = { 1, 50 + number, 30, 20, 40, 800, 59.5 + number, 49.5 };
  GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
  GstCclMeta *meta;

  component.class_id = class_id;
  component.confidence = confidence;
  meta = gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
  if (names)
    ccl_test_set_names (meta, names);

  return buffer;
}

static void
check_component (GstBuffer *buffer, const gchar *name, gdouble confidence)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->n_components, 1);
  fail_unless_equals_string (gst_ccl_meta_get_class_name (meta, meta->components[0].class_id),
                             name);
  fail_unless_equals_float (meta->components[0].confidence, confidence);
}

/* A region of another element, and what it says. */
static const struct
{
  const gchar *type, *params; /* params: one, or two with ';' between them */
  const gchar *name;          /* of the class, NULL for none */
  gdouble confidence;
} regions[] = {
  { "car", NULL, "car", 0.0 },
  { "", NULL, NULL, 0.0 },
  /* DL Streamer: with names or without, and with a classification. */
  { "person", "detection, confidence=(double)0.75, label_id=(int)3", "person", 0.75 },
  { "", "detection, confidence=(double)0.75, label_id=(int)3", "3", 0.75 },
  { "car", "color, confidence=(double)0.25; detection, confidence=(double)0.75", "car", 0.75 },
  /* Others. */
  { "car", "ssd, score=(float)0.5", "car", 0.5 },
  { "car", "ObjectDetection, confidence=(double)62.5", "car", 0.625 },
  { "car", "ObjectDetection, confidence=(uint)50", "car", 0.5 },
  { "car", "x, score=(double)0.5; y, confidence=(double)0.25", "car", 0.5 },
  /* No confidence. */
  { "car", "detection, confidence=(string)high", "car", 0.0 },
  { "car", "detection, confidence=(double)-0.1", "car", 0.0 },
  { "car", "detection, confidence=(double)101", "car", 0.0 },
  { "car", "roi/x264enc, delta-qp=(int)5", "car", 0.0 },
};

/* Tracked regions get the class and the confidence. */
GST_START_TEST (test_region)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=1");
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  GstVideoRegionOfInterestMeta *roi;
  gchar **params = g_strsplit (regions[__i__].params ? regions[__i__].params : "", ";", -1);
  gdouble confidence = 0.0;
  GstStructure *param;
  guint i;

  roi = gst_buffer_add_video_region_of_interest_meta (buffer, regions[__i__].type, 10, 20, 30, 40);
  for (i = 0; params[i]; i++) {
    param = gst_structure_from_string (g_strstrip (params[i]), NULL);
    fail_unless (param != NULL, "%s", params[i]);
    gst_video_region_of_interest_meta_add_param (roi, param);
  }
  g_strfreev (params);

  buffer = gst_harness_push_and_pull (h, buffer);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
  fail_unless (param != NULL);
  fail_unless_equals_string (gst_structure_get_string (param, "class"), regions[__i__].name);
  fail_unless_equals_int (gst_structure_get_double (param, "confidence", &confidence),
                          regions[__i__].confidence > 0.0);
  fail_unless (confidence == regions[__i__].confidence);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames with an object, its class in each by the first letter of its name, and how certain it is;
 * and the class at the end. */
static const struct
{
  const gchar *classes; /* p: person, c: car, -: none */
  gdouble confidence[10];
  const gchar *last;
  gdouble last_confidence;
} votes[] = {
  { "-----", { 0 }, NULL, 0.0 },
  { "ppppp", { 0.5, 0.5, 0.5, 0.5, 0.25 }, "person", 0.25 },
  /* A mistake is outvoted, and so are many that are not certain. */
  { "ppcpp", { 0.5, 0.5, 0.75, 0.5, 0.5 }, "person", 0.5 },
  { "cpppp", { 0.875, 0.125, 0.125, 0.125, 0.125 }, "car", 0.125 },
  { "cpppp", { 0.5, 0.5, 0.5, 0.5, 0.5 }, "person", 0.5 },
  /* Without a detector's word, the class stays. */
  { "pc----", { 0.75, 0.5 }, "person", 0.5 },
  /* Without confidences, each vote counts the same. */
  { "pcc", { 0 }, "car", 0.0 },
};

GST_START_TEST (test_votes)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=1 min-relative-area=0");
  GstBuffer *buffer = NULL;
  guint i;

  for (i = 0; votes[__i__].classes[i]; i++) {
    const gchar *class_id = strchr ("-pc", votes[__i__].classes[i]);

    gst_clear_buffer (&buffer);
    buffer = gst_harness_push_and_pull (
        h, classified_new (i, strings, (guint) (class_id - "-pc"), votes[__i__].confidence[i]));
  }
  check_component (buffer, votes[__i__].last, votes[__i__].last_confidence);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Classes go by name, not by number: the table of a stream may change. */
GST_START_TEST (test_other_numbers)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=1 min-relative-area=0");
  GstBuffer *buffers[4];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (buffers); i++) {
    buffers[i] = gst_harness_push_and_pull (h, i % 2 ? classified_new (i, turned, 3, 0.5)
                                                     : classified_new (i, strings, 1, 0.5));
    check_component (buffers[i], "person", 0.5);
    /* Frames share the table. */
    fail_unless (i < 2 || gst_buffer_get_ccl_meta (buffers[i])->class_names ==
                              gst_buffer_get_ccl_meta (buffers[1])->class_names);
  }
  for (i = 0; i < G_N_ELEMENTS (buffers); i++)
    gst_buffer_unref (buffers[i]);

  ccl_test_harness_free (h);

  /* A class without a name is called by its number. */
  h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=1 min-relative-area=0");
  buffers[0] = gst_harness_push_and_pull (h, classified_new (0, NULL, 7, 0.5));
  check_component (buffers[0], "7", 0.5);
  gst_buffer_unref (buffers[0]);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A region whose type is its class gets the track's class as type; any other type stays. */
GST_START_TEST (test_type_of_region)
{
  static const gchar *const types[] = { "car", "thing" };
  static const GstCclComponent component = { 1, 50, 30, 20, 40, 800, 59.5, 49.5 };
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=1 min-relative-area=0");
  guint i;

  for (i = 0; i < 3; i++) {
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, i);
    GstVideoRegionOfInterestMeta *roi;
    const gchar *name = i == 2 ? "car" : "person";
    gdouble confidence;
    GstStructure *param;

    param = ccl_test_add_roi (buffer, __i__ == 0 ? name : types[__i__], 0, &component);
    gst_structure_set (param, "class", G_TYPE_STRING, name, "confidence", G_TYPE_DOUBLE, 0.5, NULL);
    buffer = gst_harness_push_and_pull (h, buffer);
    roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
    fail_unless_equals_string (g_quark_to_string (roi->roi_type),
                               __i__ == 0 ? "person" : types[__i__]);
    param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
    fail_unless_equals_string (gst_structure_get_string (param, "class"), "person");
    fail_unless (gst_structure_get_double (param, "confidence", &confidence));
    fail_unless_equals_float (confidence, 0.5);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Messages have the class and the confidence of those that have them. */
GST_START_TEST (test_message)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=1 post-messages=true");
  const GstStructure *component;
  GstMessage *message;
  gdouble confidence;
  guint class_id;

  ccl_test_push (h, __i__ == 0 ? classified_new (0, strings, 2, 0.5)
                               : classified_new (0, NULL, 0, 0.0));
  message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  component = gst_value_get_structure (gst_value_list_get_value (
      gst_structure_get_value (gst_message_get_structure (message), "components"), 0));
  fail_unless_equals_string (gst_structure_get_string (component, "class"),
                             __i__ == 0 ? "car" : NULL);
  fail_unless_equals_int (gst_structure_get_uint (component, "class-id", &class_id), __i__ == 0);
  fail_unless_equals_int (gst_structure_get_double (component, "confidence", &confidence),
                          __i__ == 0);
  if (__i__ == 0) {
    fail_unless_equals_int (class_id, 2);
    fail_unless_equals_float (confidence, 0.5);
  }
  gst_message_unref (message);
  ccl_test_harness_free (h);
}
GST_END_TEST;

#ifdef HAVE_JSON_GLIB
/* The classes of an object that moves through a zone and back, and over the tripwire in its middle,
 * a letter for each second; and the events and counts: E, L: enters and leaves the zone; i, o:
 * crosses the tripwire. */
static const struct
{
  const gchar *classes; /* of the zone and the tripwire, in JSON; NULL: none are given */
  const gchar *objects, *events, *counts;
} moves[] = {
  { NULL, "ppppppppp", "Ep ip op Lp ", "person 1 1 0" },
  { NULL, "---------", "E- i- o- L- ", "" },
  { "[]", "ppppppppp", "", "" },
  { "[\"car\"]", "ppppppppp", "", "" },
  { "[\"car\", \"person\"]", "ppppppppp", "Ep ip op Lp ", "person 1 1 0" },
  { "[\"person\"]", "---------", "", "" },
  /* An object that starts to count enters where it is; one that no longer counts leaves there. */
  { "[\"person\"]", "---pppppp", "Ep ip op Lp ", "person 1 1 0" },
  { "[\"person\"]", "pppcccccc", "Ep Lp ", "person 1 1 0" },
  /* Without a choice, a change of mind is no event. */
  { NULL, "pppcccccc", "Ep ic oc Lc ", "person 1 0 0, car 0 1 0" },
  { NULL, "ppppc", "Ep ic ", "person 1 0 0, car 0 0 1" },
};

static void
append_counts (GString *counts, const GstStructure *zone)
{
  const GValue *classes = gst_structure_get_value (zone, "classes");
  const GstStructure *all = classes ? gst_value_get_structure (classes) : NULL;
  gint i;

  for (i = 0; all && i < gst_structure_n_fields (all); i++) {
    const gchar *name = gst_structure_nth_field_name (all, (guint) i);
    const GstStructure *item = gst_value_get_structure (gst_structure_get_value (all, name));
    guint64 in, out;
    guint inside;

    fail_unless (gst_structure_get (item, "in", G_TYPE_UINT64, &in, "out", G_TYPE_UINT64, &out,
                                    "inside", G_TYPE_UINT, &inside, NULL));
    g_string_append_printf (counts, "%s%s %u %u %u", counts->len ? ", " : "", name, (guint) in,
                            (guint) out, inside);
  }
}

/* Appends a frame's events, which the messages must repeat. */
static void
append_events (GString *events, GstHarness *h, GstBuffer *buffer)
{
  const GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);
  guint i;

  for (i = 0; i < meta->n_events; i++) {
    const gchar *name = gst_ccl_zones_meta_get_class_name (meta, meta->events[i].class_id);
    GstMessage *message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);

    fail_unless (message != NULL);
    fail_unless_equals_string (
        gst_structure_get_string (gst_message_get_structure (message), "class"), name);
    gst_message_unref (message);
    g_string_append_printf (events, "%c%c ", "ELDioSlr"[meta->events[i].type],
                            name ? name[0] : '-');
  }
}

GST_START_TEST (test_zones)
{
  static const guint places[] = { 5, 30, 60, 60, 100, 100, 60, 60, 5 };
  const gchar *classes = moves[__i__].classes;
  gchar *member = classes ? g_strdup_printf (", \"classes\": %s", classes) : g_strdup ("");
  gchar *zones = g_strdup_printf ("[{\"id\": \"zone\", \"points\": [[20, 0], [140, 0], [140, 120], "
                                  "[20, 120]]%s}]",
                                  member);
  gchar *tripwires =
      g_strdup_printf ("[{\"id\": \"wire\", \"points\": [[80, 120], [80, 0]]%s}]", member);
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones evaluation-point=center");
  GString *events = g_string_new (NULL), *counts = g_string_new (NULL);
  GstStructure *all;
  guint i;

  g_object_set (h->element, "zones", zones, "tripwires", tripwires, NULL);
  for (i = 0; moves[__i__].objects[i]; i++) {
    GstBuffer *buffer = classified_new (
        10 * i, strings, (guint) (strchr ("-pc", moves[__i__].objects[i]) - "-pc"), 0.5);
    GstCclComponent *component = gst_buffer_get_ccl_meta (buffer)->components;

    component->track = 1;
    component->x = places[i] - MIN (places[i], 10);
    component->width = 2 * (places[i] - component->x);
    buffer = gst_harness_push_and_pull (h, buffer);
    append_events (events, h, buffer);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_string (events->str, moves[__i__].events);
  g_object_get (h->element, "counts", &all, NULL);
  append_counts (counts, gst_value_get_structure (gst_structure_get_value (all, "zone")));
  fail_unless_equals_string (counts->str, moves[__i__].counts);

  gst_structure_free (all);
  g_string_free (events, TRUE);
  g_string_free (counts, TRUE);
  g_free (member);
  g_free (zones);
  g_free (tripwires);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The classes of an object that is static from the third frame on, and events: S: stands. */
static const struct
{
  const gchar *classes, *objects, *events;
} stays[] = {
  { NULL, "ppppp", "Ep Sp " },
  { NULL, "----ppp", "E- S- Sp " },
  { NULL, "ppppcc--cc", "Ep Sp Sc Sc " },
  { NULL, "pcccc", "Ep Sc " },
  { "[\"car\"]", "ppppccc", "Ec Sc " },
  { "[\"person\"]", "----ppccpp", "Ep Sp Lp Ep Sp " },
  { "[\"person\", \"car\"]", "ppppccc", "Ep Sp Sc " },
};

GST_START_TEST (test_standing)
{
  const gchar *classes = stays[__i__].classes;
  gchar *member = classes ? g_strdup_printf (", \"classes\": %s", classes) : g_strdup ("");
  gchar *zones = g_strdup_printf ("[{\"id\": \"zone\", \"points\": [[0, 0], [160, 0], [160, 120], "
                                  "[0, 120]]%s}]",
                                  member);
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones");
  GString *events = g_string_new (NULL);
  guint i;

  g_object_set (h->element, "zones", zones, NULL);
  for (i = 0; stays[__i__].objects[i]; i++) {
    GstBuffer *buffer =
        classified_new (0, strings, (guint) (strchr ("-pc", stays[__i__].objects[i]) - "-pc"), 0.5);
    GstCclComponent *component = gst_buffer_get_ccl_meta (buffer)->components;

    GST_BUFFER_PTS (buffer) = i * 100 * GST_MSECOND;
    component->track = 1;
    component->age = 5 * GST_SECOND;
    if (i >= 2) {
      component->flags = GST_CCL_COMPONENT_STATIC;
      component->static_age = 1000;
    }
    buffer = gst_harness_push_and_pull (h, buffer);
    append_events (events, h, buffer);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_string (events->str, stays[__i__].events);

  g_string_free (events, TRUE);
  g_free (member);
  g_free (zones);
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_wrong_classes)
{
  static const gchar *const wrong[] = { "\"person\"", "[1]", "{}", "null", "[\"a\", [\"b\"]]" };
  GstElement *element = gst_element_factory_make ("cclzones", NULL);
  gchar *zones = g_strdup_printf ("[{\"id\": \"a\", \"points\": [[0, 0], [1, 0], [1, 1]], "
                                  "\"classes\": %s}]",
                                  wrong[__i__]);

  g_object_set (element, "zones", zones, NULL);
  ccl_test_check_start_fails (element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                              "[0].classes: expected an array of strings");
  g_free (zones);
}
GST_END_TEST;

/* A cclzones behind another one, whose classes have other numbers: both know them by name. */
GST_START_TEST (test_zones_twice)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='a: 0,0 1,0 1,1 0,1'");
  GstHarness *second = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='b: 0,0 1,0 1,1 0,1'");
  GstBuffer *buffer = classified_new (0, strings, 2, 0.5);
  GstCclComponent *component = gst_buffer_get_ccl_meta (buffer)->components;
  GstCclZonesMeta *meta;

  component->track = 1;
  buffer = gst_harness_push_and_pull (h, buffer);
  meta = gst_buffer_get_ccl_zones_meta (buffer);
  fail_unless_equals_string (gst_ccl_zones_meta_get_class_name (meta, meta->events[0].class_id),
                             "car");
  /* Meanwhile the object has become a dog. */
  ccl_test_set_names (gst_buffer_get_ccl_meta (buffer), turned);
  gst_buffer_get_ccl_meta (buffer)->components[0].class_id = 1;
  buffer = gst_harness_push_and_pull (second, buffer);
  meta = gst_buffer_get_ccl_zones_meta (buffer);
  fail_unless_equals_int (meta->n_events, 2);
  fail_unless_equals_string (gst_ccl_zones_meta_get_class_name (meta, meta->events[0].class_id),
                             "car");
  fail_unless_equals_string (gst_ccl_zones_meta_get_class_name (meta, meta->events[1].class_id),
                             "dog");
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
  ccl_test_harness_free (second);
}
GST_END_TEST;
#endif

/* ccltrack attaches its objects as regions of interest, unless the frame has some. */
GST_START_TEST (test_attach)
{
  GstHarness *h =
      ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=1 min-relative-area=0 attach=roi");
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *buffer;
  GstStructure *param;
  gdouble confidence, left, right, top, bottom;
  guint track;
  gint id;

  buffer = gst_harness_push_and_pull (h, classified_new (0, strings, (guint) __i__, 0.5));
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  fail_unless (roi != NULL);
  fail_unless_equals_string (g_quark_to_string (roi->roi_type), __i__ == 0 ? "object" : "person");
  fail_unless (roi->x == 50 && roi->y == 30 && roi->w == 20 && roi->h == 40);
  param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
  fail_unless_equals_string (gst_structure_get_string (param, "class"),
                             __i__ == 0 ? NULL : "person");
  fail_unless (gst_structure_get (param, "track", G_TYPE_UINT, &track, "confidence", G_TYPE_DOUBLE,
                                  &confidence, NULL));
  fail_unless (track == 1 && confidence == 0.5);

  /* The same for DL Streamer. */
  param = gst_video_region_of_interest_meta_get_param (roi, "detection");
  fail_unless (gst_structure_get (param, "x_min", G_TYPE_DOUBLE, &left, "x_max", G_TYPE_DOUBLE,
                                  &right, "y_min", G_TYPE_DOUBLE, &top, "y_max", G_TYPE_DOUBLE,
                                  &bottom, "confidence", G_TYPE_DOUBLE, &confidence, NULL));
  fail_unless (fabs (left * WIDTH - 50) < 1e-9 && fabs (right * WIDTH - 70) < 1e-9);
  fail_unless (fabs (top * HEIGHT - 30) < 1e-9 && fabs (bottom * HEIGHT - 70) < 1e-9);
  fail_unless (confidence == 0.5);
  fail_unless (gst_structure_get_int (param, "label_id", &id) == (__i__ > 0));
  fail_unless (__i__ == 0 || id == 0);
  param = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  fail_unless (gst_structure_get_int (param, "id", &id) && id == 1);
  gst_buffer_unref (buffer);

  buffer = classified_new (1, strings, 1, 0.5);
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* cclmerge carries classes to the frames of the video, which have another size. */
GST_START_TEST (test_merge)
{
  GstBuffer *mask = mask_new (0, 5), *buffer;
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (mask, 0);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (mask);
  Pair pair;

  ccl_test_set_names (meta, strings);
  meta->components[0].class_id = 2;
  meta->components[0].confidence = 0.5;
  gst_structure_set (gst_video_region_of_interest_meta_get_param (roi, "cudaccl"), "class",
                     G_TYPE_STRING, "car", "confidence", G_TYPE_DOUBLE, 0.5, NULL);
  pair_init (&pair);
  buffer = pair_merge (&pair, mask, video_new (0));
  check_component (buffer, "car", 0.5);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  fail_unless_equals_string (
      gst_structure_get_string (gst_video_region_of_interest_meta_get_param (roi, "cudaccl"),
                                "class"),
      "car");
  gst_buffer_unref (buffer);
  pair_clear (&pair);
}
GST_END_TEST;

#ifdef HAVE_OVERLAY
/* The class of a frame's object, by the table or the other one, and the colour of its box. */
static const struct
{
  const gchar *properties;
  const gchar *const *names;
  guint class_id;
  guint color; /* a label's */
} colors[] = {
  { "color-by-class=true", strings, 2, 2 },
  { "color-by-class=true", strings, 1, 1 },
  /* The same for all frames, whatever number the class has. */
  { "color-by-class=true", turned, 3, 1 },
  { "color-by-class=true", turned, 1, 3 },
  { "color-by-class=true", strings, 0, 9 },
  { "color-by-class=false", strings, 2, 9 },
};

GST_START_TEST (test_colors)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccloverlay draw=boxes line-width=1");
  guint i;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=RGB,width=160,height=120,framerate=10/1");
  for (i = 0; i < G_N_ELEMENTS (colors); i++) {
    GstBuffer *frame = classified_new (i, colors[i].names, colors[i].class_id, 0.5);
    GstCclComponent *component = gst_buffer_get_ccl_meta (frame)->components;
    guint32 color = gst_ccl_label_get_color (colors[i].color);
    guint8 pixel[3];

    component->label = 9;
    gst_buffer_remove_all_memory (frame);
    gst_buffer_append_memory (frame, gst_allocator_alloc (NULL, WIDTH * HEIGHT * 3, NULL));
    gst_buffer_memset (frame, 0, 0, WIDTH * HEIGHT * 3);
    gst_util_set_object_arg (G_OBJECT (h->element), "color-by-class",
                             strchr (colors[i].properties, '=') + 1);
    frame = gst_harness_push_and_pull (h, frame);
    gst_buffer_extract (frame, (30 * WIDTH + 50 + i) * 3, pixel, 3);
    fail_unless (pixel[0] == color >> 16 && pixel[1] == (color >> 8 & 255) &&
                     pixel[2] == (color & 255),
                 "%u: %02x%02x%02x, not %06x", i, pixel[0], pixel[1], pixel[2], color);
    gst_buffer_unref (frame);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The class is written as the type of a region is, once if they are the same. */
GST_START_TEST (test_label)
{
  static const struct
  {
    const gchar *draw, *type;
    guint class_id;
    gdouble confidence;
  } labels[] = {
    { "names", "person", 1, 0.0 },         { "classes", "x", 1, 0.0 },
    { "names+classes", "person", 1, 0.0 }, { "names", "person 75%", 1, 0.75 },
    { "classes", "x", 1, 0.749 },          { "names", "car person 100%", 1, 0.0 },
    { "names+classes", "car", 1, 7.0 },
  };
  GstMapInfo before, now;
  GstBuffer *last = NULL;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (labels); i++) {
    GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccloverlay color=0xffffffff font-size=10");
    GstBuffer *frame = classified_new (0, strings, labels[i].class_id, labels[i].confidence);
    GstVideoRegionOfInterestMeta *roi =
        gst_buffer_add_video_region_of_interest_meta (frame, labels[i].type, 50, 30, 20, 40);
    gboolean same = i == 1 || i == 2 || i == 4 || i == 6; /* as the one before */

    gst_util_set_object_arg (G_OBJECT (h->element), "draw", labels[i].draw);
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, 1, NULL));
    frame = gst_harness_push_and_pull (h, frame);
    if (last) {
      fail_unless (gst_buffer_map (last, &before, GST_MAP_READ) &&
                   gst_buffer_map (frame, &now, GST_MAP_READ));
      fail_unless ((memcmp (before.data, now.data, now.size) == 0) == same, "label %u", i);
      gst_buffer_unmap (last, &before);
      gst_buffer_unmap (frame, &now);
    }
    gst_clear_buffer (&last);
    last = frame;
    ccl_test_harness_free (h);
  }
  gst_buffer_unref (last);
}
GST_END_TEST;
#endif

/* A component's class and confidence, the name of class 2, and what reports say of it. */
static const struct
{
  guint class_id;
  gdouble confidence;
  const gchar *name, *json, *xml;
} reports[] = {
  { 0, 0.0, "car", "49.5}", "</tt:Shape></tt:Appearance>" },
  { 0, 0.75, "car", "49.5,\"confidence\":0.75}", "</tt:Shape></tt:Appearance>" },
  { 2, 0.75, "car", ",\"confidence\":0.75,\"class-id\":2,\"class\":\"car\"}",
    "</tt:Shape><tt:Class><tt:Type Likelihood=\"0.75\">Vehicle</tt:Type></tt:Class><tt:VehicleInfo>"
    "<tt:Type Likelihood=\"0.75\">Car</tt:Type></tt:VehicleInfo></tt:Appearance>" },
  { 2, 0.0, "Person", "49.5,\"class-id\":2,\"class\":\"Person\"}",
    "<tt:Class><tt:Type>Human</tt:Type></tt:Class></tt:Appearance>" },
  { 2, 5.0, "dog", "\"confidence\":1.0,", "<tt:Type Likelihood=\"1\">Animal</tt:Type>" },
  { 2, -1.0, "motorbike", "49.5,\"class-id\":2,",
    "<tt:Type>Bike</tt:Type></tt:Class><tt:VehicleInfo><tt:Type>Motorcycle</tt:Type>" },
  /* ONVIF has no name for it. */
  { 2, 0.0, "<\"&\x01>", "\"class\":\"<\\\"&\\u0001>\"",
    "<tt:Type>&lt;&quot;&amp; &gt;</tt:Type></tt:Class></tt:Appearance>" },
  { 3, 0.0, "car", "49.5,\"class-id\":3}", "</tt:Shape></tt:Appearance>" },
};

static void
check_text (GstBuffer *buffer, const gchar *expected)
{
  gchar *text = NULL;
  gsize size;

  gst_buffer_extract_dup (buffer, 0, (gsize) -1, (gpointer *) &text, &size);
  fail_unless (g_strstr_len (text, (gssize) size, expected) != NULL, "no %s in %.*s", expected,
               (int) size, text);
  g_free (text);
  gst_buffer_unref (buffer);
}

GST_START_TEST (test_report)
{
  const gchar *const names[] = { "person", reports[__i__].name, NULL };
  GstBuffer *frame = classified_new (0, names, reports[__i__].class_id, reports[__i__].confidence);
  GstHarness *json = ccl_test_launch (WIDTH, HEIGHT, "ccljson"),
             *onvif = ccl_test_launch (WIDTH, HEIGHT, "cclonvif");

  check_text (gst_harness_push_and_pull (json, gst_buffer_ref (frame)), reports[__i__].json);
  check_text (gst_harness_push_and_pull (onvif, frame), reports[__i__].xml);
  ccl_test_harness_free (json);
  ccl_test_harness_free (onvif);
}
GST_END_TEST;

/* The line of a track has the names of its first frame and of its last one. */
GST_START_TEST (test_track_line)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT,
                                   "ccltrack min-persistence=1 min-relative-area=0 ! "
                                   "ccljson lines=tracks");
  guint i;

  for (i = 0; i < 4; i++)
    gst_harness_push (h, classified_new (i, i < 1 ? strings : turned, i < 1 ? 2 : 1, 0.5));
  gst_harness_push_event (h, gst_event_new_eos ());
  check_text (gst_buffer_ref (gst_harness_pull (h)), "\"class\":\"car\"}},\"last\":");
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cclclasses_suite (void)
{
  Suite *suite = suite_create ("cclclasses");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_region, 0, G_N_ELEMENTS (regions));
  tcase_add_loop_test (tcase, test_votes, 0, G_N_ELEMENTS (votes));
  tcase_add_test (tcase, test_other_numbers);
  tcase_add_loop_test (tcase, test_type_of_region, 0, 2);
  tcase_add_loop_test (tcase, test_message, 0, 2);
  tcase_add_loop_test (tcase, test_report, 0, G_N_ELEMENTS (reports));
  tcase_add_test (tcase, test_track_line);
  tcase_add_loop_test (tcase, test_attach, 0, 2);
  tcase_add_test (tcase, test_merge);
#ifdef HAVE_OVERLAY
  tcase_add_test (tcase, test_colors);
  tcase_add_test (tcase, test_label);
#endif
#ifdef HAVE_JSON_GLIB
  tcase_add_loop_test (tcase, test_zones, 0, G_N_ELEMENTS (moves));
  tcase_add_loop_test (tcase, test_standing, 0, G_N_ELEMENTS (stays));
  tcase_add_loop_test (tcase, test_wrong_classes, 0, 5);
  tcase_add_test (tcase, test_zones_twice);
#endif

  return suite;
}

GST_CHECK_MAIN (cclclasses)
