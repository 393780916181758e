/* cudaccl - tests of cclmotion without properties: the operations it chooses, and its warning
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <string.h>

#define WIDTH 320
#define HEIGHT 240
#define INTERVAL (40 * GST_MSECOND)

typedef struct
{
  gint x, y, width, height; /* width 0: nothing */
} Box;

/* A grey frame with a bright box; not always as bright, which would be leaves that wave. */
static GstBuffer *
box_frame_new (guint number, const Box *box)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstMapInfo map;
  gint y;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  memset (map.data, 90, map.size);
  for (y = box->y; box->width > 0 && y < box->y + box->height; y++)
    memset (map.data + y * WIDTH + box->x, 130 + (gint) (number * 47 % 120), (gsize) box->width);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * INTERVAL;
  GST_BUFFER_DURATION (buffer) = INTERVAL;

  return buffer;
}

/* Pushes frames from @number on in which a box moves to the right; returns the number of components
 * of the last. */
static guint
push_moving (GstHarness *h, guint *number, guint n, Box box)
{
  guint count = 0, i;

  for (i = 0; i < n; i++, (*number)++) {
    GstBuffer *buffer;
    GstCclMeta *meta;

    box.x = (box.x + 7) % (WIDTH - box.width);
    buffer = gst_harness_push_and_pull (h, box_frame_new (*number, &box));
    fail_unless (buffer != NULL);
    meta = gst_buffer_get_ccl_meta (buffer);
    count = meta ? meta->n_components : 0;
    gst_buffer_unref (buffer);
  }

  return count;
}

static const struct
{
  const gchar *line;
  const gchar *first, *near; /* the operations before and after near objects */
} settings[] = {
  { "cclmotion", "close3x3,drop11", "median3,open1x7,fill,drop69" },
  { "cclmask", "close3x3,drop11", "median3,open1x7,fill,drop69" },
  { "cclmotion morphology=auto", "close3x3,drop11", "median3,open1x7,fill,drop69" },
  { "cclmotion morphology=none", "", "" },
  { "cclmotion morphology=''", "", "" },
  { "cclmotion morphology=' median3,drop5'", "median3,drop5", "median3,drop5" },
  { "cudaccl", "", "" },
  { "cudaccl morphology=auto", "close3x3,drop11", "median3,open1x7,fill,drop69" },
};

/* Far objects of 6x6 pixels are kept until near ones have been there for 0.3 s; then, cclmotion
 * keeps those that have gone somewhere. */
GST_START_TEST (test_settings)
{
  const Box far = { 10, 20, 6, 6 }, near = { 10, 60, 16, 40 }, nothing = { 0 };
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "%s", settings[__i__].line);
  gboolean changes = strcmp (settings[__i__].first, settings[__i__].near) != 0;
  gboolean mask = g_str_has_prefix (settings[__i__].line, "cclmask");
  gboolean follows = g_str_has_prefix (settings[__i__].line, "cclmotion");
  guint number = 0;

  push_moving (h, &number, 5, nothing);
  fail_unless_equals_int (push_moving (h, &number, 20, far), 1);
  ccl_test_check_stat (h->element, "morphology", settings[__i__].first);

  fail_unless_equals_int (push_moving (h, &number, 20, near), 1);
  ccl_test_check_stat (h->element, "morphology", settings[__i__].near);
  fail_unless_equals_int (push_moving (h, &number, 2, far), changes ? 0 : 1);
  fail_unless_equals_int (push_moving (h, &number, 18, far), changes && !follows ? 0 : 1);
  if (follows)
    fail_unless_equals_int (ccl_test_stat (h->element, "far-places") > 0, changes);

  /* A new model begins with far objects. */
  if (changes && !g_str_has_prefix (settings[__i__].line, "cudaccl")) {
    g_signal_emit_by_name (h->element, "reset");
    push_moving (h, &number, 5, nothing);
    ccl_test_check_stat (h->element, "morphology", settings[__i__].first);
    fail_unless_equals_int (push_moving (h, &number, 5, far), 1);
  }
  fail_unless (mask || ccl_test_pop_message (h, GST_MESSAGE_WARNING) == NULL);

  ccl_test_harness_free (h);
}
GST_END_TEST;

static const struct
{
  Box box;
  guint on, off; /* frames with it and without, in turn */
  gboolean invert;
  gboolean warns;
} views[] = {
  { { 10, 40, 30, 130 }, 1, 0, FALSE, TRUE },  /* tall */
  { { 10, 40, 170, 30 }, 1, 0, FALSE, TRUE },  /* wide */
  { { 10, 40, 30, 130 }, 3, 1, FALSE, TRUE },  /* most of the time */
  { { 10, 40, 30, 130 }, 1, 1, FALSE, FALSE }, /* half of it */
  { { 10, 40, 30, 110 }, 1, 0, FALSE, FALSE }, /* not so near */
  { { 10, 40, 30, 130 }, 1, 0, TRUE, FALSE },  /* what does not move */
};

/* The warning about objects that cover each other is posted once a stream. */
GST_START_TEST (test_near_objects)
{
  const Box nothing = { 0 };
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclmotion");
  guint stream, number = 0, i;

  g_object_set (h->element, "invert", views[__i__].invert, NULL);
  for (stream = 0; stream < 2; stream++) {
    push_moving (h, &number, 5, nothing);
    for (i = 0; i < 400; i += views[__i__].on + views[__i__].off) {
      Box box = views[__i__].box;

      box.x = (gint) (i * 29 % 100);
      box.y = (gint) (i * 37 % 100);
      push_moving (h, &number, views[__i__].on, box);
      push_moving (h, &number, views[__i__].off, nothing);
    }
    fail_unless_equals_int (ccl_test_check_warnings (h, "ccldetect"), views[__i__].warns);

    fail_unless (gst_harness_push_event (h, gst_event_new_stream_start ("another")));
    ccl_test_set_caps (h, "GRAY8", WIDTH, HEIGHT);
    ccl_test_drain (h);
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cclmotionauto_suite (void)
{
  Suite *suite = suite_create ("cclmotionauto");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_settings, 0, G_N_ELEMENTS (settings));
  tcase_add_loop_test (tcase, test_near_objects, 0, G_N_ELEMENTS (views));

  return suite;
}

GST_CHECK_MAIN (cclmotionauto);
