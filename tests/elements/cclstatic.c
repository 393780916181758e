/* cudaccl - tests of what cclmotion says of components that stand
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <string.h>

/* Large enough for a camera that was knocked. */
#define WIDTH 208
#define HEIGHT 200
#define FPS 10

/* Where the thing is put, and the seconds until it is static and learnt. */
#define X 60
#define Y 50
#define THING_WIDTH 28
#define THING_HEIGHT 20
#define STATIC_TIME 2
#define LEARNING_TIME 6

typedef struct
{
  GstHarness *h;
  GRand *random;
  const gchar *format;
  guint frame;
  gdouble gain;
  gint thing_x;  /* NONE: there is none */
  gint walker_x; /* likewise */
  gint dx, dy;   /* how far the camera was knocked */
  gboolean busy; /* there are strong edges everywhere */
  GstBuffer *last;
} Camera;

#define NONE G_MININT

static void
camera_init (Camera *camera, const gchar *format, const gchar *properties)
{
  const guint32 seed = g_random_int ();

  g_print ("seed %u\n", seed);
  *camera = (Camera){ .format = format,
                      .random = g_rand_new_with_seed (seed),
                      .gain = 1.0,
                      .thing_x = NONE,
                      .walker_x = NONE };
  camera->h = ccl_test_harness_new (
      ccl_test_parse ("cclmotion backend=cpu morphology=open3x3 learning-time=%u000000000 "
                      "static-time=%u000000000 %s",
                      LEARNING_TIME, STATIC_TIME, properties),
      format, WIDTH, HEIGHT);
}

static void
camera_clear (Camera *camera)
{
  gst_clear_buffer (&camera->last);
  g_rand_free (camera->random);
  ccl_test_harness_free (camera->h);
}

static gboolean
is_in (gint x, gint y, gint left, gint top, gint width, gint height)
{
  return left != NONE && x >= left && x < left + width && y >= top && y < top + height;
}

static gint
luma_at (const Camera *camera, gint x, gint y)
{
  x += camera->dx;
  y += camera->dy;
  if (is_in (x, y, camera->walker_x, 20, 20, 90))
    return 40 + (x - camera->walker_x + y) % 7;
  if (is_in (x, y, camera->thing_x, Y, THING_WIDTH, THING_HEIGHT))
    return 180 + (x / 3 + y / 3) % 5 * 4;

  if (camera->busy)
    return (x / 3 + y / 5) % 3 == 0 ? 150 : 60;

  return 100 + ((x + WIDTH) / 8 + (y + HEIGHT) / 8) % 5 * 3;
}

/* Pushes a frame, and keeps what comes out. */
static void
shoot (Camera *camera)
{
  GstVideoInfo info;
  GstBuffer *buffer;
  GstMapInfo map;
  gint x, y;

  gst_video_info_set_format (&info, gst_video_format_from_string (camera->format), WIDTH, HEIGHT);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  memset (map.data, 128, map.size);
  for (y = 0; y < HEIGHT; y++) {
    for (x = 0; x < WIDTH; x++) {
      const gint luma =
          (gint) (luma_at (camera, x, y) * camera->gain) + g_rand_int_range (camera->random, -2, 3);

      map.data[y * GST_VIDEO_INFO_PLANE_STRIDE (&info, 0) + x] = (guint8) CLAMP (luma, 0, 255);
    }
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = camera->frame++ * GST_SECOND / FPS;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / FPS;
  gst_clear_buffer (&camera->last);
  camera->last = gst_harness_push_and_pull (camera->h, buffer);
}

static const GstCclComponent *
find_static (const Camera *camera, guint *n)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (camera->last);
  const GstCclComponent *found = NULL;
  guint i;

  *n = 0;
  for (i = 0; i < meta->n_components; i++) {
    if (!(meta->components[i].flags & GST_CCL_COMPONENT_STATIC))
      continue;
    found = &meta->components[i];
    (*n)++;
  }
  fail_unless (meta->found >= meta->n_components);

  return found;
}

/* Goes on for some seconds, and asserts that each frame has @expected static components. */
static void
expect (Camera *camera, gdouble seconds, guint expected)
{
  const guint end = camera->frame + (guint) (seconds * FPS + 0.5);
  guint n;

  while (camera->frame < end) {
    shoot (camera);
    find_static (camera, &n);
    fail_unless (n == expected, "frame %u has %u static components instead of %u", camera->frame, n,
                 expected);
  }
}

/* Goes on, whatever is static. */
static void
wait_for (Camera *camera, gdouble seconds)
{
  const guint end = camera->frame + (guint) (seconds * FPS + 0.5);

  while (camera->frame < end)
    shoot (camera);
}

static void
check_place (const GstCclComponent *component)
{
  fail_unless (ABS ((gint) component->x - X) <= 2 && ABS ((gint) component->y - Y) <= 2 &&
                   ABS ((gint) component->width - THING_WIDTH) <= 4 &&
                   ABS ((gint) component->height - THING_HEIGHT) <= 4,
               "%u,%u %ux%u", component->x, component->y, component->width, component->height);
  fail_unless (ABS ((gint) component->area - THING_WIDTH * THING_HEIGHT) <= 200);
  fail_unless (ABS (component->centroid_x - (X + (THING_WIDTH - 1) / 2.0)) < 2.0);
  fail_unless (ABS (component->centroid_y - (Y + (THING_HEIGHT - 1) / 2.0)) < 2.0);
}

/* Asserts that there is one static component, the thing. */
static void
check_thing (const Camera *camera, guint flags, gdouble age)
{
  guint n;
  const GstCclComponent *component = find_static (camera, &n);

  fail_unless_equals_int (n, 1);
  check_place (component);
  fail_unless_equals_int (component->flags, flags);
  fail_unless (ABS (component->static_age / 1000.0 - age) <= 0.5, "an age of %u ms, not %f s",
               component->static_age, age);
}

/* The seconds that somebody takes to pass by. */
#define PASS_TIME ((WIDTH + 20 + 7) / 8 / 10.0)

static void
pass_by (Camera *camera)
{
  gint x;

  for (x = -20; x < WIDTH; x += 8) {
    camera->walker_x = x;
    expect (camera, 0.1, 1);
  }
  camera->walker_x = NONE;
}

/* The thing is put down, is learnt, stays while somebody passes, and leaves. */
static void
check_left (const gchar *format, const gchar *properties)
{
  Camera camera;

  camera_init (&camera, format, properties);
  expect (&camera, 5, 0);
  camera.thing_x = X;
  expect (&camera, STATIC_TIME - 0.3, 0);
  wait_for (&camera, 0.6);
  expect (&camera, 1, 1);
  check_thing (&camera, GST_CCL_COMPONENT_STATIC, STATIC_TIME + 1.3);
  pass_by (&camera);
  expect (&camera, 2 * LEARNING_TIME, 1);
  /* It is background now. */
  fail_unless_equals_int (gst_buffer_get_ccl_meta (camera.last)->n_components, 1);
  pass_by (&camera);
  expect (&camera, LEARNING_TIME, 1);
  check_thing (&camera, GST_CCL_COMPONENT_STATIC,
               STATIC_TIME + 1.3 + 3 * LEARNING_TIME + 2 * PASS_TIME);

  camera.thing_x = NONE;
  wait_for (&camera, 2);
  expect (&camera, 2 * LEARNING_TIME, 0);
  camera_clear (&camera);
}

GST_START_TEST (test_left)
{
  check_left ("GRAY8", "");
  check_left ("NV12", "scale=2");
}
GST_END_TEST;

/* It is static after it was learnt. */
GST_START_TEST (test_later)
{
  Camera camera;

  camera_init (&camera, "I420", "");
  g_object_set (camera.h->element, "static-time", 2 * LEARNING_TIME * GST_SECOND, NULL);
  expect (&camera, 5, 0);
  camera.thing_x = X;
  expect (&camera, 2 * LEARNING_TIME - 0.3, 0);
  wait_for (&camera, 0.6);
  expect (&camera, LEARNING_TIME, 1);
  check_thing (&camera, GST_CCL_COMPONENT_STATIC, 3 * LEARNING_TIME + 0.3);
  camera_clear (&camera);
}
GST_END_TEST;

/* It was there from the start, and is taken away. */
GST_START_TEST (test_removed)
{
  Camera camera;

  camera_init (&camera, "GRAY8", "");
  camera.thing_x = X;
  expect (&camera, 10, 0);
  camera.thing_x = NONE;
  wait_for (&camera, STATIC_TIME + 0.5);
  expect (&camera, 2 * LEARNING_TIME, 1);
  check_thing (&camera, GST_CCL_COMPONENT_STATIC | GST_CCL_COMPONENT_REMOVED,
               STATIC_TIME + 0.5 + 2 * LEARNING_TIME);
  camera.thing_x = X;
  wait_for (&camera, 2);
  expect (&camera, LEARNING_TIME, 0);
  camera_clear (&camera);
}
GST_END_TEST;

/* Objects that are put down or taken away in front of strong edges, which are sharper in frames
 * than in the background. */
GST_START_TEST (test_edges)
{
  Camera camera;

  camera_init (&camera, __i__ < 2 ? "GRAY8" : "NV12", __i__ < 2 ? "" : "scale=2");
  camera.busy = TRUE;
  camera.thing_x = __i__ % 2 ? X : NONE;
  expect (&camera, 10, 0);
  camera.thing_x = __i__ % 2 ? NONE : X;
  wait_for (&camera, STATIC_TIME + 0.5);
  expect (&camera, 1, 1);
  check_thing (&camera, GST_CCL_COMPONENT_STATIC | (__i__ % 2 ? GST_CCL_COMPONENT_REMOVED : 0),
               STATIC_TIME + 1.5);
  camera_clear (&camera);
}
GST_END_TEST;

/* Somebody knocks the camera, before or after the thing was learnt: its place shows a part less of
 * it, and it is still static there, or shows something else. */
GST_START_TEST (test_knocked)
{
  static const gint shifts[][2] = { { 6, -5 }, { 38, -24 } };
  const guint expected = __i__ < 2;
  Camera camera;
  guint i, k, n;

  camera_init (&camera, "GRAY8", "");
  expect (&camera, 5, 0);
  camera.thing_x = X;
  wait_for (&camera, STATIC_TIME + 0.5);
  expect (&camera, __i__ % 2 ? 2 * LEARNING_TIME : 1, 1);
  camera.dx = shifts[__i__ / 2][0];
  camera.dy = shifts[__i__ / 2][1];
  wait_for (&camera, LEARNING_TIME);
  for (i = 0; i < 2 * LEARNING_TIME * FPS; i++) {
    const GstCclMeta *meta;

    shoot (&camera);
    meta = gst_buffer_get_ccl_meta (camera.last);
    for (n = k = 0; k < meta->n_components; k++)
      n += meta->components[k].flags != 0 && ABS ((gint) meta->components[k].x - X) < 12;
    fail_unless_equals_int (n, expected);
  }
  fail_unless_equals_int (ccl_test_stat (camera.h->element, "displaced"), 1);
  camera_clear (&camera);
}
GST_END_TEST;

/* It moves on before it is static, and walks on after. */
GST_START_TEST (test_moving)
{
  Camera camera;
  guint i;

  camera_init (&camera, "GRAY8", "");
  expect (&camera, 5, 0);
  for (i = 0; i < 6; i++) {
    camera.thing_x = 10 + 22 * (gint) i;
    expect (&camera, STATIC_TIME - 0.3, 0);
  }
  camera.thing_x = NONE;
  expect (&camera, 3, 0);

  camera.thing_x = X;
  wait_for (&camera, STATIC_TIME + 0.5);
  expect (&camera, 1, 1);
  for (; camera.thing_x < WIDTH; camera.thing_x += 4)
    wait_for (&camera, 0.1);
  camera.thing_x = NONE;
  wait_for (&camera, 1);
  expect (&camera, LEARNING_TIME, 0);
  camera_clear (&camera);
}
GST_END_TEST;

/* The limit passes, and it is not static again. */
GST_START_TEST (test_limit)
{
  Camera camera;

  camera_init (&camera, "GRAY8", "static-limit=4000000000 freeze=true");
  expect (&camera, 1, 0);
  camera.thing_x = X;
  wait_for (&camera, STATIC_TIME + 0.3);
  expect (&camera, 1, 1);
  wait_for (&camera, 1);
  expect (&camera, 10, 0);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (camera.last)->n_components, 1);
  camera_clear (&camera);
}
GST_END_TEST;

/* The light changes while it stands, before and after it is learnt; the model starts anew; and a
 * flush forgets it. */
GST_START_TEST (test_light)
{
  Camera camera;

  camera_init (&camera, "GRAY8", "");
  expect (&camera, 5, 0);
  camera.thing_x = X;
  wait_for (&camera, STATIC_TIME + 0.5);
  camera.gain = 1.2;
  expect (&camera, 2 * LEARNING_TIME, 1);
  camera.gain = 0.7;
  expect (&camera, 3, 1);
  pass_by (&camera);
  expect (&camera, 3, 1);

  g_signal_emit_by_name (camera.h->element, "reset");
  wait_for (&camera, 0.1);
  expect (&camera, LEARNING_TIME, 0);
  camera_clear (&camera);
}
GST_END_TEST;

/* Nothing is static without a time, with components inverted, or after a flush. */
GST_START_TEST (test_off)
{
  Camera camera;

  camera_init (&camera, "GRAY8", "");
  g_object_set (camera.h->element, "static-time", (guint64) 0, NULL);
  wait_for (&camera, 5);
  camera.thing_x = X;
  expect (&camera, 3, 0);
  g_object_set (camera.h->element, "static-time", STATIC_TIME * GST_SECOND, NULL);
  wait_for (&camera, STATIC_TIME + 0.3);
  expect (&camera, 0.5, 1);
  g_object_set (camera.h->element, "invert", TRUE, NULL);
  expect (&camera, STATIC_TIME + 1, 0);
  g_object_set (camera.h->element, "invert", FALSE, NULL);
  camera_clear (&camera);
}
GST_END_TEST;

/* Regions of interest and messages have the age. */
GST_START_TEST (test_fields)
{
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *param;
  GstMessage *message, *last = NULL;
  const GValue *list;
  guint64 age = 0;
  gboolean removed = TRUE;
  Camera camera;

  camera_init (&camera, "GRAY8", "attach=components+roi post-messages=true");
  wait_for (&camera, 5);
  camera.thing_x = X;
  wait_for (&camera, STATIC_TIME + 1);
  roi = gst_buffer_get_video_region_of_interest_meta_id (camera.last, 0);
  fail_unless (roi != NULL);
  param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
  fail_unless (gst_structure_get (param, "static-age", G_TYPE_UINT64, &age, "removed",
                                  G_TYPE_BOOLEAN, &removed, NULL));
  fail_unless (ABS ((gdouble) age / GST_SECOND - STATIC_TIME - 1) < 0.5 && !removed);

  while ((message = ccl_test_pop_message (camera.h, GST_MESSAGE_ELEMENT))) {
    gst_clear_message (&last);
    last = message;
  }
  list = gst_structure_get_value (gst_message_get_structure (last), "components");
  fail_unless_equals_int (gst_value_list_get_size (list), 1);
  removed = TRUE;
  fail_unless (gst_structure_get (gst_value_get_structure (gst_value_list_get_value (list, 0)),
                                  "removed", G_TYPE_BOOLEAN, &removed, "static-age", G_TYPE_UINT64,
                                  &age, NULL));
  fail_unless (!removed);
  gst_message_unref (last);
  camera_clear (&camera);
}
GST_END_TEST;

static Suite *
cclstatic_suite (void)
{
  Suite *suite = suite_create ("cclstatic");
  TCase *tcase = tcase_create ("static");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_left);
  tcase_add_test (tcase, test_later);
  tcase_add_test (tcase, test_removed);
  tcase_add_loop_test (tcase, test_edges, 0, 4);
  tcase_add_loop_test (tcase, test_knocked, 0, 4);
  tcase_add_test (tcase, test_moving);
  tcase_add_test (tcase, test_limit);
  tcase_add_test (tcase, test_light);
  tcase_add_test (tcase, test_off);
  tcase_add_test (tcase, test_fields);

  return suite;
}

GST_CHECK_MAIN (cclstatic)
