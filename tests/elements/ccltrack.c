/* cudaccl - tests of ccltrack
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"
#include "tests/lib/ccltimingtest.h"
#include "tests/lib/sanitizer.h"

#include <time.h>

#define WIDTH 160
#define HEIGHT 120

static GstCclComponent
component_new (guint label, guint x, guint y, guint width, guint height)
{
  GstCclComponent component = { label,
                                x,
                                y,
                                width,
                                height,
                                (guint64) width * height,
                                x + (width - 1) / 2.0,
                                y + (height - 1) / 2.0 };

  return component;
}

/* A frame of these components, and their regions of interest if @rois. */
static GstBuffer *
components_frame_new (guint number, const GstCclComponent *components, guint n, gboolean rois)
{
  GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
  guint i;

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n);
  for (i = 0; rois && i < n; i++)
    ccl_test_add_roi (buffer, "thing", (gint) i, &components[i]);

  return buffer;
}

/* Two objects, 20 x 40, that go towards each other, are a single component for a while, and part.
 */
static GstBuffer *
meeting_new (guint number, gboolean rois)
{
  guint left = 10 + 4 * number, right = 130 - 4 * number;
  guint one = MIN (left, right), last = MAX (left, right);
  GstCclComponent components[2];

  if (last <= one + 20) {
    components[0] = component_new (1, one, 30, last + 20 - one, 40);
    return components_frame_new (number, components, 1, rois);
  }
  components[0] = component_new (1, one, 30, 20, 40);
  components[1] = component_new (2, last, 30, 20, 40);

  return components_frame_new (number, components, 2, rois);
}

static const GstCclComponent *
find_track (GstBuffer *buffer, guint track)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint i;

  for (i = 0; i < meta->n_components; i++) {
    if (meta->components[i].track == track)
      return &meta->components[i];
  }

  return NULL;
}

/* The fields of a region say the same as the component of its track. */
static void
check_roi (GstBuffer *buffer, const GstCclComponent *component)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;
    GstStructure *param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
    gdouble velocity_x, velocity_y;
    guint64 age;
    guint track;

    fail_unless (g_quark_to_string (roi->roi_type) != NULL);
    fail_unless_equals_string (g_quark_to_string (roi->roi_type), "thing");
    if (!gst_structure_get_uint (param, "track", &track) || track != component->track)
      continue;
    fail_unless (gst_structure_get (param, "age", G_TYPE_UINT64, &age, "velocity-x", G_TYPE_DOUBLE,
                                    &velocity_x, "velocity-y", G_TYPE_DOUBLE, &velocity_y, NULL));
    fail_unless_equals_uint64 (age, component->age);
    fail_unless (velocity_x == component->velocity_x && velocity_y == component->velocity_y);
    fail_unless_equals_int (roi->x, component->x);
    fail_unless_equals_int (roi->w, component->width);
    return;
  }
  fail ("no region of track %u", component->track);
}

GST_START_TEST (test_meeting)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=300000000 objects=%s",
                                   __i__ ? "false" : "true");
  guint number;

  for (number = 0; number < 30; number++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, meeting_new (number, TRUE));
    GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
    const GstCclComponent *one = find_track (buffer, 1), *other = find_track (buffer, 2);
    gboolean apart = ABS (120 - 8 * (gint) number) > 20;

    fail_unless_equals_int (
        gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
        meta->n_components);
    if (number < 2) {
      fail_unless (!one && !other);
      fail_unless_equals_int (meta->n_components, __i__ ? 2 : 0);
      fail_unless_equals_int (meta->found, 2);
    } else if (apart || !__i__) {
      fail_unless (one != NULL && other != NULL, "frame %u", number);
      fail_unless_equals_int (meta->n_components, 2);
      fail_unless (ABS ((gint) one->x - (10 + 4 * (gint) number)) <= 3, "frame %u: %u", number,
                   one->x);
      fail_unless (ABS ((gint) other->x - (130 - 4 * (gint) number)) <= 3);
      fail_unless (one->velocity_x > 20.0 && other->velocity_x < -20.0);
      fail_unless_equals_uint64 (one->age, number * FRAME_TIME);
      check_roi (buffer, one);
      check_roi (buffer, other);
    } else {
      fail_unless (one != NULL);
      fail_unless_equals_int (meta->n_components, 1);
    }
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Pushes a frame, and returns the id of its only object, 0 if there is none. */
static guint
push_frame (GstHarness *h, GstBuffer *buffer)
{
  GstCclMeta *meta;
  guint track;

  buffer = gst_harness_push_and_pull (h, buffer);
  meta = gst_buffer_get_ccl_meta (buffer);
  track = meta->n_components > 0 ? meta->components[0].track : 0;
  gst_buffer_unref (buffer);

  return track;
}

/* Pushes a still object, and returns its id. */
static guint
push_still (GstHarness *h, guint number, guint x)
{
  GstCclComponent component = component_new (1, x, 50, 20, 40);

  return push_frame (h, components_frame_new (number, &component, 1, FALSE));
}

/* Pushes frames without pixels. */
static void
push_gaps (GstHarness *h, guint first, guint end)
{
  guint number;

  for (number = first; number < end; number++)
    ccl_test_push (h, ccl_test_gap_new (number * FRAME_TIME));
}

GST_START_TEST (test_flush_and_caps)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0");
  GstCclComponent component = component_new (1, 50, 50, 20, 40);

  fail_unless_equals_int (push_still (h, 0, 50), 1);
  fail_unless_equals_int (push_still (h, 1, 50), 1);

  /* Frames were lost: what stands still is the same. */
  fail_unless_equals_int (push_still (h, 10, 50), 1);
  fail_unless_equals_int (push_still (h, 40, 50), 1);

  ccl_test_flush (h, components_frame_new (40, &component, 1, FALSE));
  fail_unless_equals_int (push_still (h, 0, 50), 2);

  ccl_test_set_caps (h, "GRAY8", WIDTH + 2, HEIGHT);
  ccl_test_set_caps (h, "GRAY8", WIDTH, HEIGHT);
  fail_unless_equals_int (push_still (h, 1, 50), 3);

  ccl_test_restart (h, GST_STATE_READY);
  ccl_test_set_caps (h, "GRAY8", WIDTH, HEIGHT);
  fail_unless_equals_int (push_still (h, 0, 50), 1);
  fail_unless (ccl_test_pop_message (h, GST_MESSAGE_WARNING) == NULL);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static GstPadProbeReturn
note_track (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (GST_PAD_PROBE_INFO_BUFFER (info));
  GArray *tracks = data;

  if (meta && meta->n_components > 0)
    g_array_append_val (tracks, meta->components[0].track);

  return GST_PAD_PROBE_OK;
}

/* Two streams, one after the other: the same ball in each is two objects. */
GST_START_TEST (test_two_streams)
{
  GstElement *pipeline = gst_parse_launch (
      "concat name=both ! ccltrack min-persistence=0 name=track ! fakesink "
      "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format=GRAY8,width=160,height=120 ! "
      "cudaccl backend=cpu ! both. "
      "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format=GRAY8,width=160,height=120 ! "
      "cudaccl backend=cpu ! both.",
      NULL);
  GArray *tracks = g_array_new (FALSE, FALSE, sizeof (guint));
  guint i;

  ccl_test_probe (pipeline, "track", "src", note_track, tracks);
  ccl_test_play (pipeline);
  fail_unless_equals_int (tracks->len, 40);
  for (i = 0; i < tracks->len; i++)
    fail_unless_equals_int (g_array_index (tracks, guint, i), i < 20 ? 1 : 2);

  g_array_unref (tracks);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_max_tracks)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0 max-tracks=2");
  GstCclComponent components[3] = { component_new (1, 10, 10, 10, 10),
                                    component_new (2, 60, 10, 10, 10),
                                    component_new (3, 110, 10, 10, 10) };
  guint64 exceeded;
  guint tracks, i;

  for (i = 0; i < 2; i++) {
    GstBuffer *buffer =
        gst_harness_push_and_pull (h, components_frame_new (i, components, 3, FALSE));

    fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, 2);
    fail_unless (find_track (buffer, 1) && find_track (buffer, 2) && !find_track (buffer, 3));
    gst_buffer_unref (buffer);
  }
  g_object_get (h->element, "tracks", &tracks, "exceeded", &exceeded, NULL);
  fail_unless_equals_int (tracks, 2);
  fail_unless_equals_uint64 (exceeded, 2);
  fail_unless_equals_int (ccl_test_count_warnings (h, ""), 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

#define CROWD 1024

/* More components in one place than can be compared are counted, and said once. */
GST_START_TEST (test_crowd)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0 max-tracks=2000");
  GstCclComponent *components = g_new (GstCclComponent, CROWD);
  guint64 crowded;
  guint i;

  for (i = 0; i < CROWD; i++)
    components[i] = component_new (i + 1, 50, 50, 20, 40);
  for (i = 0; i < 3; i++) {
    g_object_get (h->element, "crowded", &crowded, NULL);
    fail_unless (crowded == 0 || i == 2);
    ccl_test_push (h, components_frame_new (i, components, CROWD, FALSE));
  }
  g_object_get (h->element, "crowded", &crowded, NULL);
  fail_unless (crowded >= 2 * CROWD);
  fail_unless_equals_int (ccl_test_count_warnings (h, ""), 1);
  ccl_test_restart (h, GST_STATE_READY);
  g_object_get (h->element, "crowded", &crowded, NULL);
  fail_unless_equals_uint64 (crowded, 0);
  g_free (components);
  ccl_test_harness_free (h);
}
GST_END_TEST;

#define MANY 50000

/* As many regions as a frame may have, whose labels are in the wrong order. */
GST_START_TEST (test_many_regions)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack objects=false");
  GstCclComponent *components = g_new (GstCclComponent, MANY);
  GstBuffer *buffer;
  clock_t time;
  guint i;

  for (i = 0; i < MANY; i++)
    components[i] = component_new (MANY - i, i % 140, i / 140 % 100, 10, 10);
  buffer = components_frame_new (0, components, MANY, TRUE);
  for (i = 0; i < MANY; i++)
    components[i].label = i + 1;
  gst_buffer_remove_meta (buffer, &gst_buffer_get_ccl_meta (buffer)->meta);
  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, MANY, components, MANY);
  time = clock ();
  buffer = gst_harness_push_and_pull (h, buffer);
  time = clock () - time;
  fail_unless (TEST_SANITIZER || time < CLOCKS_PER_SEC / 2, "%ld", (glong) time);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), MANY);
  gst_buffer_unref (buffer);
  g_free (components);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Specks start no tracks beside an object, and do not change it; alone they are objects. */
GST_START_TEST (test_noise)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0");
  guint number, i;

  for (number = 0; number < 8; number++) {
    GstCclComponent components[41];
    GstCclMeta *meta;
    GstBuffer *buffer;

    components[0] = component_new (1, 20 + 2 * number, 50, 20, 40);
    for (i = 1; i < 41; i++)
      components[i] = component_new (i + 1, 3 * i + 2 * number, 30 + i, 2, 2);
    buffer = gst_harness_push_and_pull (h, components_frame_new (number, components, 41, TRUE));
    meta = gst_buffer_get_ccl_meta (buffer);
    fail_unless_equals_int (meta->n_components, 1);
    fail_unless_equals_int (meta->found, 41);
    fail_unless_equals_int (meta->components[0].track, 1);
    fail_unless_equals_int (meta->components[0].width, 20);
    fail_unless_equals_int (
        gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);

  h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0");
  for (number = 0; number < 2; number++) {
    GstCclComponent component = component_new (1, 50, 50, 2, 2);
    GstBuffer *buffer =
        gst_harness_push_and_pull (h, components_frame_new (number, &component, 1, FALSE));

    fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, 1);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* An object has the features of its component. */
GST_START_TEST (test_features)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack");
  guint number;

  for (number = 0; number < 20; number++) {
    GstCclComponent component = component_new (1, 10 + 3 * number, 20, 30, 20);
    const GstCclComponent *object;
    GstBuffer *buffer;

    component.features = GST_CCL_FEATURE_ELLIPSE | GST_CCL_FEATURE_LUMA;
    component.orientation = 0.5;
    component.major_axis = 30.0 + number;
    component.luma_max = 200;
    buffer = gst_harness_push_and_pull (h, components_frame_new (number, &component, 1, FALSE));
    object = find_track (buffer, 1);
    fail_unless (object || number < 19);
    if (object) {
      fail_unless_equals_int (object->features, component.features);
      fail_unless (object->orientation == 0.5 && object->major_axis == component.major_axis);
      fail_unless_equals_int (object->luma_max, 200);
    }
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Regions of other detectors are tracked where they are. */
GST_START_TEST (test_foreign)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack");
  guint number;

  for (number = 0; number < 6; number++) {
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
    GstVideoRegionOfInterestMeta *roi;
    GstStructure *param;
    guint track = 0;

    gst_buffer_add_video_region_of_interest_meta (buffer, "car", 10 + 3 * number, 20, 30, 20);
    buffer = gst_harness_push_and_pull (h, buffer);
    roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
    fail_unless (roi != NULL);
    fail_unless_equals_string (g_quark_to_string (roi->roi_type), "car");
    fail_unless (ABS ((gint) roi->x - (10 + 3 * (gint) number)) <= 1); /* smoothed */
    fail_unless_equals_int (
        gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
    param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
    fail_unless (!param == (number < 1));
    if (param) {
      fail_unless (gst_structure_get_uint (param, "track", &track));
      fail_unless_equals_int (track, 1);
    }
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A region of an object that is lost for a moment. */
GST_START_TEST (test_foreign_lost)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack objects=%s", __i__ ? "false" : "true");
  guint number, expected;

  for (number = 0; number < 9; number++) {
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
    GstVideoRegionOfInterestMeta *roi;
    guint n;

    if (number < 5)
      gst_buffer_add_video_region_of_interest_meta (buffer, "car", 10 + 3 * number, 20, 30, 20);
    buffer = gst_harness_push_and_pull (h, buffer);
    n = gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    expected = number < 5 || (!__i__ && number < 7);
    fail_unless (n == expected, "frame %u: %u", number, n);
    if (n > 0) {
      roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
      fail_unless_equals_string (g_quark_to_string (roi->roi_type), "car");
      fail_unless (ABS ((gint) roi->x - (10 + 3 * (gint) number)) <= 1);
      fail_unless (!gst_video_region_of_interest_meta_get_param (roi, "cudaccl") == (number < 1));
    }
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Adds a region as ccldetect does: an object with its confidence, or the area that it looked at. */
static void
add_look (GstBuffer *buffer, const gchar *type, guint x, guint y, guint width, guint height,
          gdouble confidence, guint late)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (buffer, type, x, y, width, height);
  GstStructure *param = gst_structure_new ("ccldetect", "frame-age", G_TYPE_INT64,
                                           (gint64) (late * FRAME_TIME), NULL);

  if (confidence > 0.0)
    gst_structure_set (param, "confidence", G_TYPE_DOUBLE, confidence, "class-id", G_TYPE_UINT, 1,
                       NULL);
  gst_video_region_of_interest_meta_add_param (roi, param);
}

/* Two objects move; a network knows one of them, and says so three frames later. Without motion,
 * the one that it knows goes on alone. */
GST_START_TEST (test_looks)
{
  const gboolean components = __i__ < 2, classes_only = __i__ == 1;
  GstHarness *h =
      ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=200000000 classes-only=%s",
                       classes_only ? "true" : "false");
  guint number, i;

  for (number = 0; number < 20; number++) {
    const GstCclComponent items[2] = { component_new (1, 10 + 3 * number, 10, 20, 40),
                                       component_new (2, 120 - 3 * number, 70, 20, 40) };
    GstBuffer *buffer = components ? components_frame_new (number, items, 2, FALSE)
                                   : ccl_test_black_new (WIDTH, HEIGHT);
    GstCclMeta *meta;

    GST_BUFFER_PTS (buffer) = number * FRAME_TIME;
    if (number % 4 == 3) {
      add_look (buffer, "ccldetect-look", 0, 0, WIDTH, HEIGHT, 0.0, 3);
      add_look (buffer, "person", 10 + 3 * (number - 3), 10, 20, 40, 0.95, 3);
    }
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless_equals_int (
        gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 0);
    meta = gst_buffer_get_ccl_meta (buffer);
    if (number >= 12) {
      gboolean person = FALSE, unknown = FALSE;

      fail_unless (meta != NULL);
      for (i = 0; i < meta->n_components; i++) {
        const GstCclComponent *item = &meta->components[i];
        const gchar *name = gst_ccl_meta_get_class_name (meta, item->class_id);

        person |= g_strcmp0 (name, "person") == 0 && ABS ((gint) item->x - (gint) items[0].x) <= 4;
        unknown |=
            g_strcmp0 (name, "unknown") == 0 && ABS ((gint) item->x - (gint) items[1].x) <= 4;
      }
      fail_unless (person, "case %u, frame %u", __i__, number);
      fail_unless (unknown == (__i__ == 0), "case %u, frame %u", __i__, number);
      fail_unless_equals_int (meta->n_components, 1 + unknown);
    }
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* An object lost for less than max-miss keeps its id, across gaps, gap events and dropped frames
 * alike; after that it is new. Consecutive segments do not matter, a new stream and a seek do. */
GST_START_TEST (test_coming_back)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0 max-miss=1000000000");

  fail_unless_equals_int (push_still (h, 0, 50), 1);
  fail_unless_equals_int (push_still (h, 1, 50), 1);
  push_gaps (h, 2, 3);
  fail_unless (gst_harness_push_event (h, gst_event_new_gap (3 * FRAME_TIME, 5 * FRAME_TIME)));
  fail_unless_equals_int (push_still (h, 8, 50), 1);
  ccl_test_push (h, components_frame_new (9, NULL, 0, FALSE));
  ccl_test_push (h, components_frame_new (17, NULL, 0, FALSE));
  fail_unless_equals_int (push_still (h, 18, 50), 1);
  ccl_test_push (h, components_frame_new (29, NULL, 0, FALSE));
  fail_unless_equals_int (push_still (h, 30, 50), 2);

  /* The next segment begins at 0 again, but running time goes on. */
  ccl_test_push_segment (h, 0, 31 * FRAME_TIME);
  fail_unless_equals_int (push_still (h, 0, 50), 2);
  fail_unless_equals_int (push_still (h, 1, 50), 2);

  fail_unless (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
  ccl_test_push_segment (h, 0, 31 * FRAME_TIME);
  fail_unless_equals_int (push_still (h, 2, 50), 3);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The track in frame @number, 0 if there is none. An object moves through frames 0 to 19, and
 * another one stands in frames 30 and on. */
static guint
push_timed (GstHarness *h, const CclTestTiming *timing, guint number)
{
  GstCclComponent component = component_new (1, number < 20 ? 5 + 6 * number : 20, 50, 20, 40);
  GstBuffer *buffer = components_frame_new (number, &component, number < 20 || number >= 30, FALSE);

  ccl_test_timing_stamp (timing, buffer, number);
  if (timing->rate == 0 && !GST_CLOCK_TIME_IS_VALID (timing->duration))
    gst_harness_set_time (h, number * FRAME_TIME);

  return push_frame (h, buffer);
}

/* With any timestamps, an object keeps its id, ends when it is gone for max-miss, and the next
 * one is another. */
GST_START_TEST (test_timing)
{
  const CclTestTiming *timing = &ccl_test_timings[__i__];
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0 max-miss=500000000");
  guint number, tracks, n_warnings;

  gst_harness_use_testclock (h);
  ccl_test_timing_start (timing, h, WIDTH, HEIGHT);
  for (number = 0; number < 40; number++) {
    guint expected = number < 20 ? 1 : number < 30 ? 0 : 2, track;

    if (ccl_test_timing_drops (timing, number))
      continue;
    track = push_timed (h, timing, number);
    fail_unless (track == expected, "%s, frame %u: %u", timing->name, number, track);
    g_object_get (h->element, "tracks", &tracks, NULL);
    fail_unless (number >= 25 || tracks == 1, "%s, frame %u: none", timing->name, number);
    fail_unless (number < 26 || number >= 30 || tracks == 0, "%s, frame %u: %u tracks",
                 timing->name, number, tracks);
  }
  n_warnings = ccl_test_count_warnings (h, "");
  fail_unless (!n_warnings == !timing->jumps, "%s: %u warnings", timing->name, n_warnings);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames without pixels say nothing: not that an object is gone, nor that none was there. */
GST_START_TEST (test_gaps)
{
  GstHarness *h =
      ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=200000000 max-miss=100000000");

  fail_unless_equals_int (push_still (h, 0, 50), 0);
  push_gaps (h, 1, 9);
  fail_unless_equals_int (push_still (h, 9, 50), 1);
  push_gaps (h, 10, 600);
  fail_unless_equals_int (push_still (h, 600, 50), 1);
  fail_unless (gst_harness_push_event (h, gst_event_new_gap (61 * GST_SECOND, 59 * GST_SECOND)));
  fail_unless_equals_int (push_still (h, 1200, 50), 1);
  fail_unless (ccl_test_pop_message (h, GST_MESSAGE_WARNING) == NULL);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A frame with one object that moves 10 pixels a frame, after three of them. */
static GstBuffer *
moving_new (GstHarness *h)
{
  guint number;

  for (number = 0;; number++) {
    GstCclComponent component = component_new (1, 20 + 10 * number, 40, 20, 40);
    GstBuffer *buffer =
        gst_harness_push_and_pull (h, components_frame_new (number, &component, 1, TRUE));

    if (number == 5)
      return buffer;
    gst_buffer_unref (buffer);
  }
}

static void
check_velocity (GstBuffer *buffer, gdouble velocity_x, gdouble velocity_y)
{
  const GstCclComponent *component = find_track (buffer, 1);

  fail_unless (component != NULL);
  fail_unless_equals_uint64 (component->age, 5 * FRAME_TIME);
  fail_unless (ABS (component->velocity_x - velocity_x) < 0.2 * velocity_x, "%f",
               component->velocity_x);
  fail_unless (ABS (component->velocity_y - velocity_y) < 1.0);
}

/* Ids and velocities in copies, scaled and cropped frames, on other branches and in messages. */
GST_START_TEST (test_ways)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack post-messages=true min-persistence=0");
  GstBuffer *buffer = moving_new (h), *copy = gst_buffer_copy (buffer), *scaled, *cropped;
  GstMessage *message = NULL, *next;
  const GValue *components;
  const GstStructure *item;
  gdouble velocity;
  GstCclMeta *meta;
  guint track;
  Pair pair;

  check_velocity (buffer, 100.0, 0.0);
  check_velocity (copy, 100.0, 0.0);

  meta = gst_buffer_get_ccl_meta (buffer);
  scaled = ccl_test_scaled_new (buffer, &meta->meta, WIDTH, HEIGHT, WIDTH / 2, HEIGHT * 2);
  check_velocity (scaled, 50.0, 0.0);

  cropped = gst_buffer_copy (buffer);
  fail_unless (gst_ccl_meta_crop (gst_buffer_get_ccl_meta (cropped), 30, 20, 100, 80));
  check_velocity (cropped, 100.0, 0.0);
  fail_unless_equals_int (find_track (cropped, 1)->x, find_track (buffer, 1)->x - 30);

  /* The mask of cclmerge is a quarter of the video. */
  pair_init (&pair);
  GST_BUFFER_PTS (copy) = 0;
  gst_buffer_add_ccl_meta (copy, MASK_WIDTH, MASK_HEIGHT, meta->found, meta->components,
                           meta->n_components);
  copy = pair_merge (&pair, copy, video_new (0));
  check_velocity (copy, 200.0, 0.0);
  check_roi (copy, find_track (copy, 1));
  gst_buffer_unref (copy);
  pair_clear (&pair);

  while ((next = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT))) {
    gst_clear_message (&message);
    message = next;
  }
  fail_unless (gst_message_has_name (message, "ccltrack"));
  components = gst_structure_get_value (gst_message_get_structure (message), "components");
  fail_unless_equals_int (gst_value_list_get_size (components), 1);
  item = gst_value_get_structure (gst_value_list_get_value (components, 0));
  fail_unless (gst_structure_get (item, "track", G_TYPE_UINT, &track, "velocity-x", G_TYPE_DOUBLE,
                                  &velocity, NULL));
  fail_unless_equals_int (track, 1);
  fail_unless (velocity == find_track (buffer, 1)->velocity_x);
  gst_message_unref (message);

  gst_buffer_unref (scaled);
  gst_buffer_unref (cropped);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames without metadata and gaps go through. */
GST_START_TEST (test_nothing)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack");
  GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_test_black_new (WIDTH, HEIGHT));

  ccl_test_check_nothing (buffer);
  gst_buffer_unref (buffer);

  buffer = gst_harness_push_and_pull (h, ccl_test_gap_new (GST_CLOCK_TIME_NONE));
  ccl_test_check_nothing (buffer);
  gst_buffer_unref (buffer);
  ccl_test_check_size_needed (h);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
ccltrack_suite (void)
{
  Suite *suite = suite_create ("ccltrack");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_meeting, 0, 2);
  tcase_add_test (tcase, test_flush_and_caps);
  tcase_add_test (tcase, test_two_streams);
  tcase_add_test (tcase, test_max_tracks);
  tcase_add_test (tcase, test_crowd);
  tcase_add_test (tcase, test_many_regions);
  tcase_add_test (tcase, test_noise);
  tcase_add_test (tcase, test_features);
  tcase_add_test (tcase, test_foreign);
  tcase_add_loop_test (tcase, test_foreign_lost, 0, 2);
  tcase_add_loop_test (tcase, test_looks, 0, 3);
  tcase_add_test (tcase, test_coming_back);
  tcase_add_loop_test (tcase, test_timing, 0, (int) ccl_test_n_timings);
  tcase_add_test (tcase, test_gaps);
  tcase_add_test (tcase, test_ways);
  tcase_add_test (tcase, test_nothing);

  return suite;
}

GST_CHECK_MAIN (ccltrack)
