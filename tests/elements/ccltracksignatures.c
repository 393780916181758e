/* cudaccl - tests of tracks that are told apart by what they look like
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/signature.h>
#include <gst/ccl/gstccl.h>
#include <gst/check/gstcheck.h>
#include <gst/video/video.h>
#include <string.h>

#include "gst/track/tracker.h"

#define WIDTH 768
#define HEIGHT 576
#define RATE 10

/* Two persons of one size stand side by side, are hidden for half a second, and have changed places
 * then, or not. Where they come back is about as near to either. */
#define HIDDEN 2.0
#define BACK 2.5
#define END 4.0

static const gdouble places[3][2][2] = {
  { { 370, 200 }, { 410, 200 } }, /* at first */
  { { 382, 170 }, { 398, 250 } }, /* not changed */
  { { 398, 170 }, { 382, 250 } },
};

/* Histograms of a colour, with noise. */
static void
draw_signature (guint8 signature[GST_CCL_SIGNATURE], guint person, GRand *random)
{
  guint histogram, i, start = 0;

  for (histogram = 0; histogram < 6; histogram++) {
    const guint bins = histogram % 3 == 0 ? 16 : 8;

    for (i = 0; i < bins; i++)
      signature[start + i] = (guint8) g_rand_int_range (random, 0, 256 / (gint) bins);
    signature[start + person * bins / 2 + bins / 4] = 128;
    start += bins;
  }
}

static guint
find_track (GstCclTracker *tracker, const gdouble place[2])
{
  const GstCclTrackInfo *tracks;
  guint n, i;

  tracks = gst_ccl_tracker_get_tracks (tracker, &n);
  for (i = 0; i < n; i++) {
    if (tracks[i].shown && ABS (tracks[i].x + tracks[i].width / 2.0 - place[0]) < 10.0 &&
        ABS (tracks[i].y - place[1]) < 10.0)
      return tracks[i].id;
  }

  return 0;
}

/* Returns whether both have their ids from before at the end. */
static gboolean
run_return (gboolean changed, gboolean looks, gboolean boxes, GRand *random)
{
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  guint8 signatures[2][GST_CCL_SIGNATURE];
  const gdouble (*place)[2] = places[0];
  GstCclTrackerParams params;
  guint before[2] = { 0, 0 }, after[2], frame, k;

  gst_ccl_tracker_params_init (&params);
  params.width = WIDTH;
  params.height = HEIGHT;
  gst_ccl_tracker_set_params (tracker, &params);
  for (frame = 0; frame < END * RATE; frame++) {
    const gdouble time = (gdouble) frame / RATE;
    const guint n = time >= HIDDEN && time < BACK ? 0 : 2;
    GstCclDetection found[2] = { { 0 } };
    gint indices[2];

    place = places[time < BACK ? 0 : changed ? 2 : 1];
    for (k = 0; k < n; k++) {
      const gdouble x = place[k][0] + g_rand_double_range (random, -1.0, 1.0);
      const gdouble y = place[k][1] + g_rand_double_range (random, -1.0, 1.0);

      draw_signature (signatures[k], k, random);
      found[k] = (GstCclDetection){ .x = x - 15.0,
                                    .y = y,
                                    .width = 30.0,
                                    .height = 75.0,
                                    .centroid_x = x,
                                    .centroid_y = y + 37.0,
                                    .area = 1500.0,
                                    .object = boxes,
                                    .signature = looks ? signatures[k] : NULL };
    }
    gst_ccl_tracker_update (tracker, (GstClockTime) (time * GST_SECOND), found, n, indices);
    if (time < HIDDEN)
      for (k = 0; k < 2; k++)
        before[k] = find_track (tracker, place[k]);
  }
  for (k = 0; k < 2; k++)
    after[k] = find_track (tracker, place[k]);
  gst_ccl_tracker_free (tracker);

  fail_unless (before[0] != 0 && before[1] != 0 && before[0] != before[1]);

  return before[0] == after[0] && before[1] == after[1];
}

/* Only appearance tells the two objects apart: positions alone lead to the wrong ids. */
GST_START_TEST (test_return)
{
  const guint32 seed = g_random_int ();
  GRand *random = g_rand_new_with_seed (seed);
  guint i, wrong = 0;

  g_print ("seed %u\n", seed);
  for (i = 0; i < 40; i++)
    fail_unless (run_return (i % 2, TRUE, i / 20, random), "return %u: other ids", i);
  for (i = 0; i < 40; i++)
    wrong += !run_return (i % 2, FALSE, i / 20, random);
  fail_unless (wrong >= 20, "without looks, only %u are wrong", wrong);
  g_rand_free (random);
}
GST_END_TEST;

/* Tracks come and go, and others get the memory of their looks; nothing of it is mixed up. */
GST_START_TEST (test_places)
{
  GRand *random = g_rand_new_with_seed (1);
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  GstCclTrackerParams params;
  guint8 signatures[20][GST_CCL_SIGNATURE];
  guint frame, i;

  gst_ccl_tracker_params_init (&params);
  params.width = WIDTH;
  params.height = HEIGHT;
  for (frame = 0; frame < 400; frame++) {
    GstCclDetection found[20];
    gint indices[20];
    guint n = (guint) g_rand_int_range (random, 0, 21);

    for (i = 0; i < n; i++) {
      const gdouble x = g_rand_double_range (random, 0.0, WIDTH - 40.0);

      draw_signature (signatures[i], i % 2, random);
      found[i] = (GstCclDetection){ x, 100.0, 30.0, 75.0, x + 15.0, 137.0, 1500.0 };
      found[i].signature = i % 3 ? signatures[i] : NULL;
    }
    params.max_tracks = frame % 50 == 49 ? 3 : 1024;
    gst_ccl_tracker_set_params (tracker, &params);
    if (frame % 100 == 99)
      gst_ccl_tracker_reset (tracker);
    gst_ccl_tracker_update (tracker, frame * GST_SECOND / 10, found, n, indices);
  }
  gst_ccl_tracker_free (tracker);
  g_rand_free (random);
}
GST_END_TEST;

/* Counts of what passed a pad. */
typedef struct
{
  guint frames, components, signed_frames;
  gboolean right; /* all signatures are those of the frame's pixels */
} Seen;

static GstPadProbeReturn
look (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = gst_pad_probe_info_get_buffer (info);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GBytes *signatures = meta ? gst_ccl_meta_get_signatures (meta) : NULL;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  Seen *seen = data;
  GstVideoInfo video;
  GstVideoFrame frame;
  CclChroma chroma = { .step = 1 };
  CclImage image;
  guint i;

  seen->frames++;
  seen->components += meta ? meta->n_components : 0;
  fail_unless (gst_video_info_from_caps (&video, caps));
  gst_caps_unref (caps);
  if (!signatures)
    return GST_PAD_PROBE_OK;

  seen->signed_frames++;
  fail_unless (gst_video_frame_map (&frame, &video, buffer, GST_MAP_READ));
  ccl_image_init (&image, GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
                  (size_t) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
  for (i = 0; i < 2; i++)
    ccl_image_init (&chroma.planes[i], GST_VIDEO_FRAME_PLANE_DATA (&frame, 1 + i),
                    (size_t) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 1 + i));
  image.chroma = &chroma;
  for (i = 0; i < meta->n_components; i++) {
    const GstCclComponent *c = &meta->components[i];
    const CclBox box = { c->x, c->y, c->width, c->height };
    CclSignature expected;

    fail_unless (ccl_signature (&image, meta->width, meta->height, &box, NULL, &expected) ==
                 CCL_OK);
    seen->right &=
        memcmp ((const guint8 *) g_bytes_get_data (signatures, NULL) + i * GST_CCL_SIGNATURE_SIZE,
                &expected, sizeof (expected)) == 0;
  }
  gst_video_frame_unmap (&frame);

  return GST_PAD_PROBE_OK;
}

static Seen
run_pipeline (const gchar *behind)
{
  gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=60 pattern=ball ! video/x-raw,format=I420,width=160,height=120,"
      "framerate=30/1 ! cclmotion name=motion backend=cpu warm-up=0 ! %s ! fakesink",
      behind);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *motion = gst_bin_get_by_name (GST_BIN (pipeline), "motion");
  GstPad *pad = gst_element_get_static_pad (motion, "src");
  GstBus *bus = gst_element_get_bus (pipeline);
  Seen seen = { .right = TRUE };
  GstMessage *message;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, look, &seen, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s", line);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (motion);
  gst_object_unref (pipeline);
  g_free (line);
  fail_unless_equals_int (seen.frames, 60);
  fail_unless (seen.components > 30, "%u components", seen.components);

  return seen;
}

/* cclmotion has signatures only for those that ask, also behind other elements. */
GST_START_TEST (test_asking)
{
  static const gchar *const behind[] = { "ccltrack", "identity ! ccltrack",
                                         "tee name=t ! queue ! ccltrack ! fakesink t. ! queue" };
  Seen seen = run_pipeline ("identity");
  guint i;

  fail_unless_equals_int (seen.signed_frames, 0);
  for (i = 0; i < G_N_ELEMENTS (behind); i++) {
    seen = run_pipeline (behind[i]);
    fail_unless (seen.signed_frames > 30, "%s: %u frames", behind[i], seen.signed_frames);
    fail_unless (seen.right, "%s: other signatures", behind[i]);
  }
}
GST_END_TEST;

static Suite *
ccltracksignatures_suite (void)
{
  Suite *s = suite_create ("ccltracksignatures");
  TCase *tc = tcase_create ("signatures");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_return);
  tcase_add_test (tc, test_places);
  tcase_add_test (tc, test_asking);

  return s;
}

GST_CHECK_MAIN (ccltracksignatures);
