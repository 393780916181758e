/* cudaccl - tests of the element ccljson: lines, streams, events, queries
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccljsontest.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#define UUID_LENGTH 36

static const GstCclComponent extremes[] = {
  { 1, 0, 0, 1, 1, 1, 0.0, 0.0 },
  { 2, 3, 4, 5, 6, 30, 0.1, 1.0 / 3.0 },
  { 3, 100, 7, 9, 1, 9, 104.0, 6.9999 },
  { 4, 100, 7, 9, 1, 9, 1234.5678, 9.9994 },
  { 5, 100, 7, 9, 1, 9, 1234.0625, 0.01 },
  { 77, 1, 1, 2, 2, (G_GUINT64_CONSTANT (1) << 53) + 1, 999999999999999.9, 1e-7 },
  { G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXINT64, -123456789012.345, -0.5 },
  { 79, 1, 1, 2, 2, 4, -0.0001, 2.2250738585072014e-308 },
};

GST_START_TEST (test_accept)
{
  static const gchar *const accepted[] = {
    CAPS,
    "video/x-raw,format=P010_10LE,width=3840,height=2160,framerate=60/1",
    "video/x-raw(memory:CUDAMemory),format=NV12,width=13,height=7,framerate=30/1",
    "video/x-raw(memory:NVMM),format=NV12,width=13,height=7,framerate=30/1",
    "video/x-raw(memory:DMABuf),format=DMA_DRM,width=13,height=7,framerate=30/1",
  };
  static const gchar *const refused[] = { "video/x-h264", "audio/x-raw", "application/x-json" };
  GstHarness *h;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (accepted); i++) {
    GstCaps *caps;

    h = json_harness_new (accepted[i]);
    ccl_test_push (h, frame_new (0, 1));
    caps = gst_pad_get_current_caps (h->sinkpad);
    fail_unless_equals_string (
        gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"), "cudaccl");
    fail_unless (gst_structure_has_name (gst_caps_get_structure (caps, 0), "application/x-json"));
    gst_caps_unref (caps);
    gst_harness_teardown (h);
  }

  h = gst_harness_new ("ccljson");
  for (i = 0; i < G_N_ELEMENTS (refused); i++) {
    GstCaps *caps = gst_caps_from_string (refused[i]);

    fail_if (gst_pad_peer_query_accept_caps (h->srcpad, caps), "%s is accepted", refused[i]);
    gst_caps_unref (caps);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The text is what the documentation shows. */
GST_START_TEST (test_text)
{
  static const GstCclComponent components[] = {
    { 1, 10, 20, 3, 4, 12, 11.0, 21.5 },
    { 2, 30, 40, 1, 2, 2, 0.05, 1.0 / 3.0, 3, 0, GST_SECOND, 0.9996, -2.0 },
    { 3, 5, 6, 1, 1, 1, 5.0, 6.0, .static_age = 12345, .flags = GST_CCL_COMPONENT_STATIC },
  };
  GstHarness *h = json_harness_new (CAPS);
  GstBuffer *buffer = frame_new (GST_SECOND, 40 * GST_MSECOND);
  GstCaps *caps = gst_caps_new_empty_simple ("timestamp/x-unix");
  gchar *line, *session;

  g_object_set (h->element, "source", "gate", NULL);
  gst_buffer_add_reference_timestamp_meta (buffer, caps, G_GUINT64_CONSTANT (1769860800123456789),
                                           GST_CLOCK_TIME_NONE);
  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 5, components, G_N_ELEMENTS (components))
      ->frame_age = -7;
  line = take_line (gst_harness_push_and_pull (h, buffer));
  session = strstr (line, "\"session\":\"");
  fail_unless (session != NULL);
  session += strlen ("\"session\":\"");
  fail_unless (strlen (session) > UUID_LENGTH && session[UUID_LENGTH] == '"');
  memset (session, 'x', UUID_LENGTH);
  fail_unless_equals_string (
      line,
      "{\"source\":\"gate\",\"session\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\","
      "\"line\":0,\"frame\":0,\"utc\":\"2026-01-31T12:00:00.123456789Z\","
      "\"timestamp\":1000000000,\"stream-time\":1000000000,"
      "\"running-time\":1000000000,\"duration\":40000000,\"width\":64,\"height\":48,"
      "\"found\":5,\"count\":3,\"frame-age\":-7,\"components\":["
      "{\"label\":1,\"x\":10,\"y\":20,\"width\":3,\"height\":4,\"area\":12,"
      "\"centroid-x\":11.0,\"centroid-y\":21.5},"
      "{\"label\":2,\"x\":30,\"y\":40,\"width\":1,\"height\":2,\"area\":2,"
      "\"centroid-x\":0.05,\"centroid-y\":0.333,\"track\":3,\"age\":1000000000,"
      "\"velocity-x\":1.0,\"velocity-y\":-2.0},"
      "{\"label\":3,\"x\":5,\"y\":6,\"width\":1,\"height\":1,\"area\":1,"
      "\"centroid-x\":5.0,\"centroid-y\":6.0,\"static-age\":12345000000,\"removed\":false}]}");

  g_free (line);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Every field with extreme values, in several locales. */
GST_START_TEST (test_content)
{
  static const gchar *const locales[] = { "C", "de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8" };
  GstHarness *h = json_harness_new (CAPS);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (locales); i++) {
    GstBuffer *in = frame_new (i * GST_SECOND, GST_SECOND), *out;
    JsonObject *object;

    if (!setlocale (LC_ALL, locales[i])) {
      g_print ("skipping the locale %s\n", locales[i]);
      gst_buffer_unref (in);
      continue;
    }

    gst_buffer_add_ccl_meta (in, 320, 240, G_MAXUINT, extremes, G_N_ELEMENTS (extremes));
    out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
    fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (in), 1);
    gst_buffer_unref (in);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), i * GST_SECOND);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), GST_SECOND);

    object = take_object (out);
    fail_unless_equals_int (json_object_get_size (object), 13);
    check_integer (object, "width", 320);
    check_integer (object, "height", 240);
    check_integer (object, "found", G_MAXUINT);
    check_components (object, extremes, G_N_ELEMENTS (extremes));
    json_object_unref (object);
  }

  setlocale (LC_ALL, "C");
  gst_harness_teardown (h);
}
GST_END_TEST;

/* NaN, infinity and numbers that are too large become null: JSON has no such numbers. */
GST_START_TEST (test_not_numbers)
{
  GstCclComponent component = { 1,        2, 3, 4,          5,    G_MAXUINT64, NAN,
                                INFINITY, 6, 0, G_MAXINT64, 1e15, -G_MAXDOUBLE };
  GstHarness *h = json_harness_new (CAPS);
  GstBuffer *buffer = frame_new (0, 1);
  JsonObject *object, *entry;

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
  object = take_object (gst_harness_push_and_pull (h, buffer));
  entry = json_array_get_object_element (json_object_get_array_member (object, "components"), 0);
  check_null (entry, "area");
  check_null (entry, "centroid-x");
  check_null (entry, "centroid-y");
  check_null (entry, "velocity-x");
  check_null (entry, "velocity-y");
  check_integer (entry, "age", G_MAXINT64);
  check_integer (entry, "height", 5);

  json_object_unref (object);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_times)
{
  static const struct
  {
    GstFormat format;
    guint64 start, stop, time, base, pts, duration, stream_time, running_time;
  } cases[] = {
    { GST_FORMAT_TIME, 0, -1, 0, 0, 0, 1, 0, 0 },
    { GST_FORMAT_TIME, 100, -1, 7, 1000, 110, 20, 17, 1010 },
    { GST_FORMAT_TIME, 100, 200, 100, 0, 250, 20, -1, -1 },
    { GST_FORMAT_TIME, 0, -1, 0, 0, -1, -1, -1, -1 },
    { GST_FORMAT_TIME, 0, -1, 0, 0, G_MAXINT64, 1, G_MAXINT64, G_MAXINT64 },
    { GST_FORMAT_BYTES, 0, -1, 0, 0, 30, 40, -1, -1 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = json_harness_new (CAPS);
    GstSegment segment;
    JsonObject *object;

    gst_segment_init (&segment, cases[i].format);
    segment.start = cases[i].start;
    segment.stop = cases[i].stop;
    segment.time = cases[i].time;
    segment.base = cases[i].base;
    gst_harness_push_event (h, gst_event_new_segment (&segment));

    object =
        take_object (gst_harness_push_and_pull (h, frame_new (cases[i].pts, cases[i].duration)));
    check_time (object, "timestamp", cases[i].pts);
    check_time (object, "duration", cases[i].duration);
    check_time (object, "stream-time", cases[i].stream_time);
    check_time (object, "running-time", cases[i].running_time);
    json_object_unref (object);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

static void
add_roi (GstBuffer *buffer, gint id, const GstCclComponent *component)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
      buffer, "blob", component->x, component->y, component->width, component->height);

  roi->id = id;
  gst_video_region_of_interest_meta_add_param (
      roi,
      gst_structure_new ("cudaccl", "label", G_TYPE_UINT, component->label, "area", G_TYPE_UINT64,
                         component->area, "centroid-x", G_TYPE_DOUBLE, component->centroid_x,
                         "centroid-y", G_TYPE_DOUBLE, component->centroid_y, NULL));
}

/* Without a GstCclMeta, cudaccl's regions of interest are written, ordered by id, and no others. */
GST_START_TEST (test_roi)
{
  GstHarness *h = json_harness_new (CAPS);
  GstBuffer *buffer = frame_new (0, 1), *both;
  JsonObject *object;
  guint i;

  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4)->id = 1;
  for (i = G_N_ELEMENTS (extremes); i > 0; i--)
    add_roi (buffer, (gint) i - 1, &extremes[i - 1]);
  both = gst_buffer_copy (buffer);

  object = take_object (gst_harness_push_and_pull (h, buffer));
  check_null (object, "found");
  check_integer (object, "width", WIDTH);
  check_integer (object, "height", HEIGHT);
  check_components (object, extremes, G_N_ELEMENTS (extremes));
  json_object_unref (object);

  gst_buffer_add_ccl_meta (both, 320, 240, 9, extremes + 1, 1);
  object = take_object (gst_harness_push_and_pull (h, both));
  check_integer (object, "found", 9);
  check_components (object, extremes + 1, 1);
  json_object_unref (object);

  gst_harness_teardown (h);
}
GST_END_TEST;

/* Takes the next line's member `utc` in nanoseconds since 1970, GST_CLOCK_TIME_NONE for null. */
static guint64
take_utc (GstBuffer *buffer)
{
  JsonObject *object = take_object (buffer);
  guint64 utc = GST_CLOCK_TIME_NONE;

  fail_unless (json_object_has_member (object, "utc"));
  if (!json_object_get_null_member (object, "utc")) {
    const gchar *text = json_object_get_string_member (object, "utc");
    GDateTime *time = g_date_time_new_from_iso8601 (text, NULL);

    fail_unless_equals_int (strlen (text), strlen ("2026-01-31T12:00:00.123456789Z"));
    fail_unless (time != NULL, "%s", text);
    utc = (guint64) g_date_time_to_unix (time) * GST_SECOND +
          g_ascii_strtoull (strchr (text, '.') + 1, NULL, 10);
    g_date_time_unref (time);
  }
  json_object_unref (object);

  return utc;
}

#define NTP_1970 (G_GUINT64_CONSTANT (2208988800) * GST_SECOND)

/* Reference timestamps: the best known one counts, whatever the order. */
GST_START_TEST (test_utc_reference)
{
  static const struct
  {
    const gchar *first, *second;
    guint64 first_time, second_time, utc;
  } cases[] = {
    { "timestamp/x-unix", NULL, 5, 0, 5 },
    { "timestamp/x-unix", NULL, 0, 0, 0 },
    { "timestamp/x-ntp", NULL, NTP_1970 + 5, 0, 5 },
    { "timestamp/x-ptp", NULL, 37 * GST_SECOND + 5, 0, 5 },
    { "timestamp/x-ntp", "timestamp/x-unix", NTP_1970 + 5, 6, 6 },
    { "timestamp/x-unix", "timestamp/x-ntp", 6, NTP_1970 + 5, 6 },
    { "timestamp/x-other", NULL, 5, 0, GST_CLOCK_TIME_NONE },
    { "timestamp/x-ntp", NULL, 5, 0, GST_CLOCK_TIME_NONE }, /* before 1970 */
    { "timestamp/x-unix", NULL, G_MAXUINT64 - 1, 0, G_MAXUINT64 - 1 },
  };
  GstHarness *h = json_harness_new (CAPS);
  guint i;

  gst_harness_set_live (h, FALSE);
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = frame_new (GST_SECOND, 1);
    GstCaps *caps = gst_caps_new_empty_simple (cases[i].first);

    gst_buffer_add_reference_timestamp_meta (buffer, caps, cases[i].first_time, 1);
    gst_caps_unref (caps);
    if (cases[i].second) {
      caps = gst_caps_new_empty_simple (cases[i].second);
      gst_buffer_add_reference_timestamp_meta (buffer, caps, cases[i].second_time, 1);
      gst_caps_unref (caps);
    }
    fail_unless_equals_uint64 (take_utc (gst_harness_push_and_pull (h, buffer)), cases[i].utc);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Live, running times become times of day; frames keep their exact distance. Files have none. */
GST_START_TEST (test_utc_clock)
{
  GstHarness *h;
  gboolean live;

  for (live = FALSE; live <= TRUE; live++) {
    guint64 one, other;
    gint64 before, after;

    h = gst_harness_new ("ccljson");
    gst_harness_set_live (h, live);
    gst_harness_set_src_caps_str (h, CAPS);
    gst_harness_set_time (h, 100 * GST_SECOND);
    before = g_get_real_time ();
    one = take_utc (gst_harness_push_and_pull (h, frame_new (99 * GST_SECOND, 1)));
    other = take_utc (gst_harness_push_and_pull (h, frame_new (99 * GST_SECOND + 7, 1)));
    after = g_get_real_time ();
    fail_unless_equals_int (one != GST_CLOCK_TIME_NONE, live);
    if (live) {
      fail_unless_equals_uint64 (other, one + 7);
      fail_unless (one / 1000 + 1000000 >= (guint64) before);
      fail_unless (one / 1000 + 1000000 <= (guint64) after + 1);
      fail_unless_equals_uint64 (
          take_utc (gst_harness_push_and_pull (h, frame_new (GST_CLOCK_TIME_NONE, 1))),
          GST_CLOCK_TIME_NONE);
    }

    /* The source of a new stream may be another one; nothing else asks it again. */
    gst_harness_set_live (h, !live);
    gst_harness_push_event (h, gst_event_new_tag (gst_tag_list_new_empty ()));
    one = take_utc (gst_harness_push_and_pull (h, frame_new (99 * GST_SECOND, 1)));
    fail_unless_equals_int (one != GST_CLOCK_TIME_NONE, live);
    gst_harness_push_event (h, gst_event_new_stream_start ("other"));
    one = take_utc (gst_harness_push_and_pull (h, frame_new (99 * GST_SECOND, 1)));
    fail_unless_equals_int (one != GST_CLOCK_TIME_NONE, !live);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* Frames are numbered, with and without a line. */
GST_START_TEST (test_numbers)
{
  GstHarness *h = json_harness_new (CAPS);
  guint i;

  g_object_set (h->element, "empty-frames", FALSE, NULL);
  for (i = 0; i < 10; i++) {
    GstBuffer *buffer = frame_new (i, 1);
    JsonObject *object;

    if (i % 3 == 2)
      gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, extremes, 1);
    gst_harness_push (h, buffer);
    if (i % 3 != 2)
      continue;
    object = take_object (gst_harness_pull (h));
    check_integer (object, "frame", i);
    json_object_unref (object);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Events of cclzones, also with empty-frames=false. Without events, zones make no line. */
GST_START_TEST (test_frame_events)
{
  gdouble points[] = { 0.0, 0.0, 1.0, 1.0 };
  GstCclZone zone = { (gchar *) "a \"b\"\x1f", TRUE, 0, 2, points, 5, 6, 0 };
  GstCclZoneEvent zone_events[] = {
    { GST_CCL_ZONE_IN, 0, 7, G_MAXINT64, 0.1, NAN, G_MAXUINT64, 3, 4 },
    { GST_CCL_ZONE_OUT, 0, 8, 0, 1.0, 2.0, 1, 2, 3, -40 },
  };
  GstHarness *h = json_harness_new (CAPS);
  guint n;

  g_object_set (h->element, "empty-frames", FALSE, NULL);
  for (n = 0; n <= 2; n++) {
    GstBuffer *buffer = frame_new (0, 1);
    JsonObject *object, *event;
    JsonArray *events;

    gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, &zone, 1, zone_events, n);
    gst_harness_push (h, buffer);
    buffer = gst_harness_try_pull (h);
    fail_unless_equals_int (buffer != NULL, n > 0);
    if (!buffer)
      continue;

    object = take_object (buffer);
    events = json_object_get_array_member (object, "events");
    fail_unless_equals_int (json_array_get_length (events), n);
    event = json_array_get_object_element (events, 0);
    fail_unless_equals_int (json_object_get_size (event), 9);
    fail_unless_equals_string (json_object_get_string_member (event, "event"), "in");
    fail_unless_equals_string (json_object_get_string_member (event, "zone"), zone.name);
    check_integer (event, "track", 7);
    check_integer (event, "dwell", G_MAXINT64);
    check_double (event, "x", 0.1);
    check_null (event, "y");
    check_null (event, "in");
    check_integer (event, "out", 3);
    check_integer (event, "inside", 4);
    if (n > 1)
      check_integer (json_array_get_object_element (events, 1), "frame-age", -40);
    json_object_unref (object);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

static guint
count_gaps (GstHarness *h, GstClockTime timestamp)
{
  GstClockTime gap_timestamp, gap_duration;
  GstEvent *event;
  guint n = 0;

  while ((event = gst_harness_try_pull_event (h))) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_GAP) {
      gst_event_parse_gap (event, &gap_timestamp, &gap_duration);
      fail_unless_equals_uint64 (gap_timestamp, timestamp);
      fail_unless_equals_uint64 (gap_duration, GST_SECOND);
      n++;
    }
    gst_event_unref (event);
  }

  return n;
}

/* A frame that was not analysed, one without components and a gap: each is a line or a GAP
 * event. */
GST_START_TEST (test_empty_frames)
{
  GstHarness *h = json_harness_new (CAPS);
  gboolean wanted;
  guint i;

  for (wanted = FALSE; wanted <= TRUE; wanted++) {
    g_object_set (h->element, "empty-frames", wanted, NULL);

    for (i = 0; i < 3; i++) {
      GstBuffer *buffer = frame_new (i * GST_SECOND, GST_SECOND);
      JsonObject *object;

      if (i == 1)
        gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 0, NULL, 0);
      else if (i == 2)
        GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
      fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);

      buffer = gst_harness_try_pull (h);
      fail_unless_equals_int (count_gaps (h, i * GST_SECOND), wanted ? 0 : 1);
      fail_unless_equals_int (buffer != NULL, wanted);
      if (!buffer)
        continue;

      fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
      object = take_object (buffer);
      check_components (object, NULL, 0);
      check_time (object, "found", i == 1 ? 0 : GST_CLOCK_TIME_NONE);
      json_object_unref (object);
    }
  }

  g_object_set (h->element, "empty-frames", FALSE, NULL);
  for (i = 0; i < 2; i++) {
    GstBuffer *buffer = frame_new (0, 1);

    if (i == 0)
      gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, extremes, 1);
    else
      add_roi (buffer, 0, extremes);
    json_object_unref (take_object (gst_harness_push_and_pull (h, buffer)));
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_source)
{
  static const gchar *const sources[][2] = {
    { "camera 1", "camera 1" },
    { "\"1.50\", \\ 2.50", "\"1.50\", \\ 2.50" },
    { "", "" },
    { "\n\t\x01\x1f\x7f", "\n\t\x01\x1f\x7f" },
    { "Stra\303\237e \360\237\232\227", "Stra\303\237e \360\237\232\227" },
    { "Stra\337e 1.10", "Stra\357\277\275e 1.10" },
    { NULL, NULL },
  };
  GstHarness *h = json_harness_new (CAPS);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sources); i++) {
    JsonObject *object;
    gchar *value;

    g_object_set (h->element, "source", sources[i][0], NULL);
    g_object_get (h->element, "source", &value, NULL);
    fail_unless (g_strcmp0 (value, sources[i][1]) == 0);
    g_free (value);

    object = take_object (gst_harness_push_and_pull (h, frame_new (0, 1)));
    fail_unless_equals_int (json_object_has_member (object, "source"), sources[i][1] != NULL);
    if (sources[i][1]) {
      fail_unless_equals_string (json_object_get_string_member (object, "source"), sources[i][1]);
    }
    json_object_unref (object);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Reproducible noise; its density grows with @number. */
static GstBuffer *
noise_new (guint number)
{
  GRand *random = g_rand_new_with_seed (number);
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  GstMapInfo map;
  gsize i;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (i = 0; i < map.size; i++)
    map.data[i] = g_rand_int_range (random, 0, 40) < (gint32) number ? 255 : 0;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * GST_SECOND;
  GST_BUFFER_DURATION (buffer) = GST_SECOND;
  g_rand_free (random);

  return buffer;
}

/* The lines of a whole stream equal the engine's own results. */
GST_START_TEST (test_stream)
{
  GstHarness *h = gst_harness_new_parse ("cudaccl backend=cpu max-components=100 ! ccljson");
  CclAnalyzer *analyzer;
  CclConfig config;
  CclParams params;
  guint i, n_found = 0;

  ccl_config_init (&config, WIDTH, HEIGHT);
  config.backend = CCL_BACKEND_CPU;
  config.max_components = 100;
  ccl_params_init (&params);
  fail_unless_equals_int (ccl_analyzer_new (&config, &analyzer), CCL_OK);
  gst_harness_set_src_caps_str (h, CAPS);

  for (i = 0; i <= 40; i++) {
    GstBuffer *buffer = noise_new (i);
    GstCclComponent expected[100];
    CclComponents components;
    CclImage image = { .stride = WIDTH };
    JsonObject *object;
    GstMapInfo map;
    guint k;

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    image.data = map.data;
    fail_unless_equals_int (ccl_analyzer_analyze (analyzer, &image, &params, &components), CCL_OK);
    for (k = 0; k < components.count; k++) {
      const CclComponent *item = &components.items[k];
      GstCclComponent component = { item->label,
                                    item->x,
                                    item->y,
                                    item->width,
                                    item->height,
                                    item->area,
                                    ccl_component_centroid_x (item),
                                    ccl_component_centroid_y (item) };

      expected[k] = component;
    }
    gst_buffer_unmap (buffer, &map);

    object = take_object (gst_harness_push_and_pull (h, buffer));
    check_integer (object, "timestamp", i * GST_SECOND);
    check_integer (object, "found", components.found);
    check_components (object, expected, components.count);
    json_object_unref (object);
    n_found += components.found;
  }
  fail_unless (n_found > 1000);

  ccl_analyzer_free (analyzer);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Without metadata the size comes from the caps, also after they change. */
GST_START_TEST (test_renegotiation)
{
  GstHarness *h = json_harness_new (CAPS);
  guint i;

  for (i = 1; i < 10; i++) {
    JsonObject *object;

    ccl_test_set_caps (h, "NV12", (gint) i, 5);
    object = take_object (gst_harness_push_and_pull (h, frame_new (0, 1)));
    check_integer (object, "width", i);
    check_integer (object, "height", 5);
    json_object_unref (object);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Missing lines are explained by an error. */
GST_START_TEST (test_size_needed)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson");

  ccl_test_check_size_needed (h);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* After a crop behind cudaccl, components, events and size describe the visible part. Zones of
 * another size are scaled. */
GST_START_TEST (test_later_crop)
{
  static const GstCclComponent components[] = { { 1, 12, 9, 6, 4, 9, 14.5, 10.5 },
                                                { 2, 50, 30, 6, 4, 9, 52.5, 31.5 } };
  static const GstCclComponent seen = { 1, 2, 1, 6, 4, 9, 4.5, 2.5 };
  GstHarness *h = json_harness_new ("video/x-raw,format=GRAY8,width=30,height=20,framerate=1/1");
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  gdouble points[] = { 0.0, 0.0, 1.0, 1.0 };
  GstCclZone zone = { (gchar *) "a", TRUE, 0, 2, points, 0, 0, 0 };
  GstCclZoneEvent zone_event = { GST_CCL_ZONE_IN, 0, 7, 0, 12.5, 9.0, 1, 0, 0, 0 };
  JsonObject *object, *event;

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 2, components, 2);
  gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, &zone, 1, &zone_event, 1);
  ccl_test_crop (buffer, WIDTH, HEIGHT, 10, 8, 30, 20);
  object = take_object (gst_harness_push_and_pull (h, buffer));
  check_integer (object, "width", 30);
  check_integer (object, "height", 20);
  check_integer (object, "found", 1);
  check_components (object, &seen, 1);
  event = json_array_get_object_element (json_object_get_array_member (object, "events"), 0);
  check_double (event, "x", 2.5);
  check_double (event, "y", 1.0);
  json_object_unref (object);

  buffer = frame_new (0, 1);
  gst_buffer_add_ccl_meta (buffer, 30, 20, 0, NULL, 0);
  gst_buffer_add_ccl_zones_meta (buffer, 60, 80, &zone, 1, &zone_event, 1);
  object = take_object (gst_harness_push_and_pull (h, buffer));
  event = json_array_get_object_element (json_object_get_array_member (object, "events"), 0);
  check_double (event, "x", 6.25);
  check_double (event, "y", 2.25);
  json_object_unref (object);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_queries)
{
  GstHarness *h = json_harness_new (CAPS);
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_query_unref (query);

  gst_harness_set_upstream_latency (h, 30 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 30 * GST_MSECOND);

  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

static GstEventType
pull_event_type (GstHarness *h)
{
  GstEvent *event = gst_harness_try_pull_event (h);
  GstEventType type = event ? GST_EVENT_TYPE (event) : GST_EVENT_UNKNOWN;

  gst_clear_event (&event);

  return type;
}

GST_START_TEST (test_events)
{
  GstHarness *h = json_harness_new (CAPS);
  guint i;

  for (i = 0; i < 3; i++) {
    json_object_unref (take_object (gst_harness_push_and_pull (h, frame_new (0, 1))));
    ccl_test_flush (h, frame_new (0, 1));
  }
  json_object_unref (take_object (gst_harness_push_and_pull (h, frame_new (0, 1))));

  while (pull_event_type (h) != GST_EVENT_UNKNOWN)
    ;
  gst_harness_push_event (h, gst_event_new_gap (GST_SECOND, GST_SECOND));
  fail_unless_equals_int (pull_event_type (h), GST_EVENT_GAP);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (pull_event_type (h), GST_EVENT_EOS);
  fail_unless_equals_int (gst_harness_push (h, frame_new (0, 1)), GST_FLOW_EOS);

  gst_harness_teardown (h);
}
GST_END_TEST;

/* Late frames, and only those, make no line. */
GST_START_TEST (test_qos)
{
  GstHarness *h = json_harness_new (CAPS);

  json_object_unref (take_object (gst_harness_push_and_pull (h, frame_new (0, GST_SECOND))));
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 3 * GST_SECOND, GST_SECOND));
  fail_unless_equals_int (gst_harness_push (h, frame_new (2 * GST_SECOND, GST_SECOND)),
                          GST_FLOW_OK);
  fail_if (gst_harness_try_pull (h));
  json_object_unref (
      take_object (gst_harness_push_and_pull (h, frame_new (60 * GST_SECOND, GST_SECOND))));

  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
ccljson_suite (void)
{
  Suite *s = suite_create ("ccljson");
  TCase *tc;

  tc = tcase_create ("lines");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_accept);
  tcase_add_test (tc, test_text);
  tcase_add_test (tc, test_content);
  tcase_add_test (tc, test_not_numbers);
  tcase_add_test (tc, test_times);
  tcase_add_test (tc, test_utc_reference);
  tcase_add_test (tc, test_utc_clock);
  tcase_add_test (tc, test_numbers);
  tcase_add_test (tc, test_frame_events);
  tcase_add_test (tc, test_roi);
  tcase_add_test (tc, test_empty_frames);
  tcase_add_test (tc, test_source);

  tc = tcase_create ("flow");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_stream);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_size_needed);
  tcase_add_test (tc, test_later_crop);
  tcase_add_test (tc, test_queries);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_qos);

  return s;
}

GST_CHECK_MAIN (ccljson);
