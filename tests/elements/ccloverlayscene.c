/* cudaccl - tests of the element ccloverlay: text, trails, zones and events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/heap.h"

#include <math.h>

#define WIDTH 160
#define HEIGHT 120
#define BACKGROUND 50

/* A harness around ccloverlay with lines and text that are easy to find. */
static GstHarness *
overlay_new (const gchar *properties)
{
  GstHarness *h = ccl_test_launch (
      WIDTH, HEIGHT, "ccloverlay line-width=1 font-size=7 color=0xffffffff %s", properties);

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=160,height=120,framerate=10/1");

  return h;
}

static GstBuffer *
grey_new (guint number)
{
  GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);

  gst_buffer_memset (buffer, 0, BACKGROUND, gst_buffer_get_size (buffer));

  return buffer;
}

static guint8
get_pixel (GstBuffer *buffer, guint x, guint y)
{
  guint8 pixel;

  fail_unless_equals_int (gst_buffer_extract (buffer, y * WIDTH + x, &pixel, 1), 1);

  return pixel;
}

static guint
count_pixels (GstBuffer *buffer, guint8 value)
{
  GstMapInfo map;
  guint i, n = 0;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (i = 0; i < map.size; i++)
    n += map.data[i] == value;
  gst_buffer_unmap (buffer, &map);

  return n;
}

/* Texts of neighbouring components do not cover each other. */
GST_START_TEST (test_no_overlap)
{
  GstHarness *h = overlay_new ("draw=areas");
  GstCclComponent components[10];
  guint n = G_N_ELEMENTS (components), expected = 0, i;
  GstBuffer *buffer;

  for (i = 0; i <= n; i++) {
    if (i < n) {
      const GstCclComponent component = { i + 1, 30 + 9 * i, 50 + i % 3, 8, 12, 1080 + i, 0, 0 };

      components[i] = component;
    }
    buffer = grey_new (i);
    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, i < n ? &components[i] : components,
                             i < n ? 1 : n);
    buffer = gst_harness_push_and_pull (h, buffer);
    if (i < n)
      expected += count_pixels (buffer, 255);
    else
      fail_unless_equals_int (count_pixels (buffer, 255), expected);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

static guint
count_ink (GstHarness *h, guint number, guint flags, guint static_age)
{
  const GstCclComponent component = {
    1, 50, 50, 20, 20, 400, 60, 60, 7, .static_age = static_age, .flags = flags
  };
  GstBuffer *buffer = grey_new (number);
  guint n;

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
  buffer = gst_harness_push_and_pull (h, buffer);
  n = WIDTH * HEIGHT - count_pixels (buffer, BACKGROUND);
  gst_buffer_unref (buffer);

  return n;
}

/* Static objects are drawn with how long they have stood, removed ones also with a word. */
GST_START_TEST (test_static)
{
  GstHarness *h = overlay_new ("draw=tracks");
  guint plain = count_ink (h, 0, 0, 12000), left, longer, removed;

  left = count_ink (h, 1, GST_CCL_COMPONENT_STATIC, 9999);
  longer = count_ink (h, 2, GST_CCL_COMPONENT_STATIC, 10000);
  removed = count_ink (h, 3, GST_CCL_COMPONENT_STATIC | GST_CCL_COMPONENT_REMOVED, 10000);
  fail_unless (plain > 0 && left > plain && longer > left && removed > longer, "%u %u %u %u", plain,
               left, longer, removed);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static void
check_trail (GstBuffer *buffer, guint x, guint y, gboolean drawn)
{
  fail_unless ((get_pixel (buffer, x, y) == 255) == drawn, "%u, %u is %u", x, y,
               get_pixel (buffer, x, y));
  gst_buffer_unref (buffer);
}

static GstBuffer *
moving_new (guint number, guint track, guint x)
{
  const GstCclComponent component = { 1, x - 4, 50, 9, 21, 100, x, 60, track };
  GstBuffer *buffer = grey_new (number);

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);

  return buffer;
}

/* The trail is as long as trail-time, belongs to one track, and does not survive a flush. */
GST_START_TEST (test_trails)
{
  GstHarness *h = overlay_new ("draw=trails trail-time=500000000");
  guint i;

  for (i = 0; i < 10; i++)
    ccl_test_push (h, moving_new (i, 7, 20 + 10 * i));
  check_trail (gst_harness_push_and_pull (h, moving_new (10, 7, 120)), 85, 60, TRUE);
  check_trail (gst_harness_push_and_pull (h, moving_new (11, 7, 130)), 75, 60, FALSE);
  check_trail (gst_harness_push_and_pull (h, moving_new (12, 8, 140)), 135, 60, FALSE);
  check_trail (gst_harness_push_and_pull (h, moving_new (13, 7, 140)), 135, 60, TRUE);
  ccl_test_flush (h, moving_new (14, 7, 140));
  check_trail (gst_harness_push_and_pull (h, moving_new (14, 7, 150)), 145, 60, FALSE);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A line is drawn up to the edge of the frame, however far beyond it ends: x = 40 + 9 s,
 * y = 20 + 10 s. */
GST_START_TEST (test_line_beyond)
{
  GstHarness *h = overlay_new ("draw=velocities");
  GstCclComponent component = { .label = 1,
                                .x = 38,
                                .y = 18,
                                .width = 5,
                                .height = 5,
                                .area = 25,
                                .centroid_x = 39.5,
                                .centroid_y = 19.5,
                                .track = 1,
                                .velocity_x = 9e5,
                                .velocity_y = 1e6 };
  GstBuffer *buffer = grey_new (0);
  guint s;

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
  buffer = gst_harness_push_and_pull (h, buffer);
  for (s = 0; s < 10; s++)
    fail_unless (get_pixel (buffer, 40 + 9 * s, 20 + 10 * s) != BACKGROUND ||
                     get_pixel (buffer, 41 + 9 * s, 20 + 10 * s) != BACKGROUND ||
                     get_pixel (buffer, 39 + 9 * s, 20 + 10 * s) != BACKGROUND,
                 "nothing at %u, %u", 40 + 9 * s, 20 + 10 * s);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* An ellipse of 60 by 20 pixels around (80, 60), upright or lying, and its major axis; only if it
 * is known. */
GST_START_TEST (test_ellipses)
{
  GstHarness *h = overlay_new ("draw=ellipses");
  gint upright, known;

  for (known = 0; known < 2; known++)
    for (upright = 0; upright < 2; upright++) {
      GstCclComponent component = { .label = 1,
                                    .x = 50,
                                    .y = 30,
                                    .width = 60,
                                    .height = 60,
                                    .area = 900,
                                    .centroid_x = 79.5,
                                    .centroid_y = 59.5,
                                    .features = known ? GST_CCL_FEATURE_ELLIPSE : 0,
                                    .orientation = upright ? G_PI / 2 : 0,
                                    .major_axis = 60,
                                    .minor_axis = 20 };
      GstBuffer *buffer = grey_new (0);
      guint far = 0, near = 0, i;

      gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
      buffer = gst_harness_push_and_pull (h, buffer);
      for (i = 0; i < 3; i++) { /* lines may be on either side of the point */
        far += get_pixel (buffer, upright ? 80 : 108 + i, upright ? 88 + i : 60) != BACKGROUND;
        near += get_pixel (buffer, upright ? 88 + i : 80, upright ? 60 : 68 + i) != BACKGROUND;
        fail_if (get_pixel (buffer, upright ? 95 + i : 80, upright ? 60 : 75 + i) != BACKGROUND);
      }
      fail_unless ((far > 0) == known && (near > 0) == known, "%u, %u", far, near);
      gst_buffer_unref (buffer);
    }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A tripwire and a zone, of a frame of half the size, with an event in frame 0. */
static GstBuffer *
zones_new (guint number)
{
  gdouble wire[] = { 20, 5, 20, 55 }, square[] = { 40, 10, 70, 10, 70, 50, 40, 50 };
  GstCclZone zones[] = { { (gchar *) "wire", TRUE, 0xff00ff00, 2, wire, 12, 3, 0 },
                         { (gchar *) "square", FALSE, 0, 4, square, 5, 1, 4 } };
  GstCclZoneEvent event = { GST_CCL_ZONE_OUT, 0, 1, 0, 30, 40, 12, 3, 0 };
  GstBuffer *buffer = grey_new (number);

  gst_buffer_add_ccl_zones_meta (buffer, WIDTH / 2, HEIGHT / 2, zones, 2, &event, number == 0);

  return buffer;
}

GST_START_TEST (test_zones)
{
  GstHarness *h = overlay_new ("");
  guint number;

  for (number = 0; number < 7; number++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, zones_new (number));
    gboolean recent = number <= 5;

    fail_unless (get_pixel (buffer, 40, 100) != BACKGROUND); /* the wire */
    fail_unless ((get_pixel (buffer, 39, 100) != BACKGROUND) == recent);
    fail_unless (get_pixel (buffer, 40, 114) == BACKGROUND);
    fail_unless (get_pixel (buffer, 32, 59) != BACKGROUND ||
                 get_pixel (buffer, 32, 60) != BACKGROUND); /* its arrow, to the right of it */
    fail_unless (get_pixel (buffer, 48, 60) == BACKGROUND);
    fail_unless (get_pixel (buffer, 140, 60) != BACKGROUND); /* the square */
    fail_unless (get_pixel (buffer, 100, 20) != BACKGROUND);
    fail_unless (get_pixel (buffer, 110, 60) == BACKGROUND);
    fail_unless ((get_pixel (buffer, 60, 80) != BACKGROUND) == recent); /* the event */
    fail_unless (count_pixels (buffer, 0) > 100);                       /* text */
    gst_buffer_unref (buffer);
  }

  /* Not asked for. */
  gst_util_set_object_arg (G_OBJECT (h->element), "draw", "boxes");
  {
    GstBuffer *buffer = gst_harness_push_and_pull (h, zones_new (0));

    fail_unless_equals_int (count_pixels (buffer, BACKGROUND), WIDTH * HEIGHT);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

static void
check_event (GstHarness *h, GstBuffer *buffer, gboolean drawn)
{
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless ((get_pixel (buffer, 60, 80) != BACKGROUND) == drawn);
  gst_buffer_unref (buffer);
}

/* Time jumps by @jump frames at frame 5. Trails go on, like the tracks that they belong to; they
 * and events end as they would without the jump. */
static void
check_jump (GstHarness *h, gint jump)
{
  const guint after = (guint) (5 + jump);
  guint i;

  for (i = 0; i < 5; i++)
    ccl_test_push (h, moving_new (1000000 + i, 7, 20 + 10 * i));
  check_trail (gst_harness_push_and_pull (h, moving_new (1000000 + after, 7, 70)), 65, 60, TRUE);
  check_trail (gst_harness_push_and_pull (h, moving_new (1000001 + after, 7, 80)), 45, 60, TRUE);
  for (i = 2; i < 6; i++)
    ccl_test_push (h, moving_new (1000000 + after + i, 7, 70 + 10 * i));
  check_trail (gst_harness_push_and_pull (h, moving_new (1000006 + after, 7, 130)), 65, 60, FALSE);

  check_event (h, zones_new (0), TRUE);
  check_event (h, grey_new (1 + (guint) MAX (jump, 0)), TRUE);
  check_event (h, grey_new (3 + (guint) MAX (jump, 0)), TRUE);
  check_event (h, grey_new (6 + (guint) MAX (jump, 0)), FALSE);
}

static const gint jumps[] = { 0, -864000, 864000, -100, 200 };

GST_START_TEST (test_jumps)
{
  GstHarness *h = overlay_new ("draw=trails+events trail-time=500000000");

  check_jump (h, jumps[__i__]);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Without timestamps, time goes on at the frame rate. */
GST_START_TEST (test_no_timestamps)
{
  GstHarness *h = overlay_new ("draw=trails trail-time=500000000");
  guint i;

  for (i = 0; i < 30; i++) {
    GstBuffer *buffer = moving_new (0, 7, 20 + 3 * i);

    GST_BUFFER_PTS (buffer) = GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
    buffer = gst_harness_push_and_pull (h, buffer);
    if (i >= 7)
      fail_unless (get_pixel (buffer, 20 + 3 * (i - 6), 60) == BACKGROUND);
    check_trail (buffer, 20 + 3 * i - 2, 60, i > 0);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Points anywhere, from a broken element. */
GST_START_TEST (test_hostile_zones)
{
  static const gdouble values[] = { 0.0, -1e9, 1e9, 1e300, -1e300, NAN, INFINITY, 79.5 };
  GstHarness *h = overlay_new ("draw=zones+events+trails");
  guint number = 0, i, j;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    for (j = 0; j < G_N_ELEMENTS (values); j++) {
      gdouble points[] = { values[i], values[j], values[j], values[i], 10, 10 };
      GstCclZone zones[] = { { (gchar *) "a", TRUE, 0, 2, points, 0, 0, 0 },
                             { (gchar *) "b", FALSE, 0, 3, points, 0, 0, 0 } };
      GstCclZoneEvent event = { GST_CCL_ZONE_IN, 1, 1, 0, values[i], values[j], 0, 0, 0 };
      const GstCclComponent component = { 1,         5, 5, 5, 5,         25,       values[i],
                                          values[j], 3, 0, 0, values[j], values[i] };
      GstBuffer *buffer = grey_new (number++);

      gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
      gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, zones, 2, &event, 1);
      ccl_test_push (h, buffer);
    }
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Names may have any bytes. Invalid ones print nothing to standard error. */
GST_START_TEST (test_invalid_name)
{
  GstHarness *h = overlay_new ("draw=names font=Sans font-size=16");
  GstBuffer *buffer = grey_new (13);
  GstVideoRegionOfInterestMeta *roi;
  GLogLevelFlags before;

  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "c\xffr", 60, 60, 30, 20);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, 1, NULL));
  before = g_log_set_always_fatal (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
  ccl_test_push (h, buffer);
  g_log_set_always_fatal (before);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The part of the frame that changed, apart from a box of a component. */
static void
find_text (GstBuffer *buffer, const GstCclComponent *box, guint *left, guint *top, guint *right,
           guint *bottom)
{
  guint x, y;

  *left = *top = G_MAXUINT;
  *right = *bottom = 0;
  for (y = 0; y < HEIGHT; y++) {
    for (x = 0; x < WIDTH; x++) {
      if (get_pixel (buffer, x, y) == BACKGROUND ||
          (x - box->x < box->width && y - box->y < box->height))
        continue;
      *left = MIN (*left, x);
      *top = MIN (*top, y);
      *right = MAX (*right, x + 1);
      *bottom = MAX (*bottom, y + 1);
    }
  }
}

/* Text is above its box or, without room there, below, inside or beside it. It is flush with the
 * box's left edge if it fits. */
GST_START_TEST (test_places)
{
  static const GstCclComponent boxes[] = {
    { 37, 40, 50, 30, 20, 600, 0, 0 },  { 37, 40, 2, 30, 20, 600, 0, 0 },
    { 37, 40, 0, 30, 120, 3600, 0, 0 }, { 37, 0, 0, 160, 120, 9000, 0, 0 },
    { 37, 155, 50, 5, 20, 100, 0, 0 },
  };
  GstHarness *h = overlay_new ("draw=boxes+labels+areas");
  guint i;

  for (i = 0; i < G_N_ELEMENTS (boxes); i++) {
    const GstCclComponent *box = &boxes[i];
    GstBuffer *buffer = grey_new (i);
    guint left, top, right, bottom, n_black;

    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, box, 1);
    buffer = gst_harness_push_and_pull (h, buffer);
    find_text (buffer, box, &left, &top, &right, &bottom);
    n_black = count_pixels (buffer, 0);
    fail_unless (n_black > 50);
    if (i == 0)
      fail_unless (left == box->x && bottom == box->y && top > box->y - 15 && right > left + 15);
    else if (i == 1)
      fail_unless (left == box->x && top == box->y + box->height && bottom < top + 15);
    else if (i == 2) /* inside; it is longer than the box is wide */
      fail_unless ((right == 0 || left == box->x + box->width) && bottom < 15);
    else if (i == 3)
      fail_unless (right == 0);
    else
      fail_unless (right == WIDTH && bottom == box->y);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Stacked marks stay inside of the text's black rectangle. */
GST_START_TEST (test_ink)
{
  GstHarness *h = overlay_new ("draw=names font-size=16");
  static const GstCclComponent none = { 0 };
  GstBuffer *buffer = grey_new (0);
  GstVideoRegionOfInterestMeta *roi;
  guint left, top, right, bottom, i;
  GString *name = g_string_new ("W");

  for (i = 0; i < 20; i++)
    g_string_append_unichar (name, i % 2 ? 0x323 : 0x302);
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, name->str, 60, 80, 30, 20);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, 1, NULL));
  buffer = gst_harness_push_and_pull (h, buffer);
  find_text (buffer, &none, &left, &top, &right, &bottom);
  fail_unless_equals_int (count_pixels (buffer, BACKGROUND),
                          WIDTH * HEIGHT - (right - left) * (bottom - top));
  gst_buffer_unref (buffer);
  g_string_free (name, TRUE);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The time; regions of other detectors with their names; frames without any. */
GST_START_TEST (test_text)
{
  GstHarness *h = overlay_new ("draw=time font=Sans font-size=16");
  GstBuffer *buffer = gst_harness_push_and_pull (h, grey_new (12));
  GstVideoRegionOfInterestMeta *roi;
  guint n_black = count_pixels (buffer, 0);

  fail_unless (n_black > 200 && get_pixel (buffer, 0, 0) == 0);
  gst_buffer_unref (buffer);

  gst_util_set_object_arg (G_OBJECT (h->element), "draw", "time+tracks+names");
  buffer = grey_new (13);
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "car", 60, 60, 30, 20);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, 1, "track", G_TYPE_UINT, 9, "age",
                              G_TYPE_UINT64, G_GUINT64_CONSTANT (1), NULL));
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (count_pixels (buffer, 0) > n_black + 200);
  fail_unless (get_pixel (buffer, 61, 59) != BACKGROUND); /* its text */
  gst_buffer_unref (buffer);

  gst_util_set_object_arg (G_OBJECT (h->element), "draw", "tracks");
  buffer = gst_harness_push_and_pull (h, grey_new (14));
  fail_unless_equals_int (count_pixels (buffer, BACKGROUND), WIDTH * HEIGHT);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Draws @name above a box at the top left, where it has no room: so it begins in row 1. */
static GstBuffer *
draw_name (GstHarness *h, const gchar *name)
{
  GstBuffer *buffer = grey_new (0);

  gst_util_set_object_arg (G_OBJECT (h->element), "draw", "names");
  gst_video_region_of_interest_meta_add_param (
      gst_buffer_add_video_region_of_interest_meta (buffer, name, 0, 0, 1, 1),
      gst_structure_new ("cudaccl", "label", G_TYPE_UINT, 1, NULL));

  return gst_harness_push_and_pull (h, buffer);
}

/* Whether @a, moved down by @rows, looks like @b. */
static gboolean
looks_like (GstBuffer *a, guint rows, GstBuffer *b)
{
  GstMapInfo map;
  gboolean same;

  fail_unless (gst_buffer_map (a, &map, GST_MAP_READ));
  same = gst_buffer_memcmp (b, rows * WIDTH, map.data, map.size - rows * WIDTH) == 0;
  gst_buffer_unmap (a, &map);

  return same;
}

GST_START_TEST (test_time)
{
  static const struct
  {
    guint64 tenths;
    const gchar *text;
  } times[] = {
    { 0, "0:00:00.0" },     { 12, "0:00:01.2" },     { 599, "0:00:59.9" },
    { 37234, "1:02:03.4" }, { 359999, "9:59:59.9" }, { 360000, "10:00:00.0" },
  };
  GstHarness *h = overlay_new ("");
  guint i;

  for (i = 0; i < G_N_ELEMENTS (times); i++) {
    GstBuffer *time = grey_new (0), *name = draw_name (h, times[i].text);

    gst_util_set_object_arg (G_OBJECT (h->element), "draw", "time");
    GST_BUFFER_PTS (time) = times[i].tenths * 100 * GST_MSECOND;
    time = gst_harness_push_and_pull (h, time);
    fail_unless (looks_like (time, 1, name), "not %s", times[i].text);
    gst_buffer_unref (time);
    gst_buffer_unref (name);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Names of up to 128 bytes are not cut. These are short, apart from spaces without width. */
GST_START_TEST (test_long_name)
{
  static const struct
  {
    const gchar *name;
    gboolean cut;
  } cases[] = { { "ab", FALSE }, { "abc", TRUE } };
  GstHarness *h = overlay_new ("font=Sans");
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *name = draw_name (h, cases[i].name), *longer;
    GString *text = g_string_new (cases[i].name);

    for (k = 0; k < 42; k++)
      g_string_append_unichar (text, 0x200b);
    fail_unless_equals_int (text->len, cases[i].cut ? 129 : 128);
    longer = draw_name (h, text->str);
    fail_unless (looks_like (name, 0, longer) == !cases[i].cut, "%u", i);
    g_string_free (text, TRUE);
    gst_buffer_unref (name);
    gst_buffer_unref (longer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

#ifdef HAVE_MALLINFO2
/* Texts hold no memory once they are drawn. */
GST_START_TEST (test_many_texts)
{
  GstHarness *h = overlay_new ("draw=labels font-size=100");
  gsize before = 0;
  guint i;

  for (i = 0; i < 500; i++) {
    GstBuffer *buffer = grey_new (i);
    GstVideoRegionOfInterestMeta *roi =
        gst_buffer_add_video_region_of_interest_meta (buffer, "car", 10, 10, 30, 20);

    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, 1000000 + i, NULL));
    ccl_test_push (h, buffer);
    if (i == 10)
      before = test_heap_bytes ();
  }
  fail_unless (test_heap_bytes () <= before + (4 << 20),
               "the heap has grown by %" G_GSIZE_FORMAT " bytes", test_heap_bytes () - before);
  ccl_test_harness_free (h);
}
GST_END_TEST;
#endif

static Suite *
ccloverlayscene_suite (void)
{
  Suite *suite = suite_create ("ccloverlayscene");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_no_overlap);
  tcase_add_test (tcase, test_trails);
  tcase_add_test (tcase, test_static);
  tcase_add_test (tcase, test_line_beyond);
  tcase_add_test (tcase, test_ellipses);
  tcase_add_loop_test (tcase, test_jumps, 0, G_N_ELEMENTS (jumps));
  tcase_add_test (tcase, test_no_timestamps);
  tcase_add_test (tcase, test_zones);
  tcase_add_test (tcase, test_hostile_zones);
  tcase_add_test (tcase, test_places);
  tcase_add_test (tcase, test_text);
  tcase_add_test (tcase, test_time);
  tcase_add_test (tcase, test_long_name);
  tcase_add_test (tcase, test_ink);
  tcase_add_test (tcase, test_invalid_name);
#ifdef HAVE_MALLINFO2
  tcase_add_test (tcase, test_many_texts);
#endif

  return suite;
}

GST_CHECK_MAIN (ccloverlayscene)
