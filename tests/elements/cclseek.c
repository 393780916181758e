/* cudaccl - tests of ccltrack and cclzones in pipelines that seek or join streams
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#define WIDTH 200
#define HEIGHT 100
#define N_FRAMES 10 /* in a second, and in each of two streams */
#define CAPS "video/x-raw,format=GRAY8,width=200,height=100,framerate=10/1"

#define TRACK "ccltrack min-persistence=1 name=element"
#define ZONES                                                                               \
  "cclzones name=element zones=\"area: 50,30 150,30 150,90 50,90\" tripwires=\"gate: 0,50 " \
  "200,50\""

/* Heights of the bottom of the object: it is on either side of the tripwire, or so little beyond it
 * that it has not crossed it yet. */
#define ABOVE 45
#define PENDING 51
#define BELOW 55

static GstBuffer *
add_object (GstBuffer *buffer, guint bottom)
{
  GstCclComponent component = {
    .label = 1, .x = 90, .y = bottom - 20, .width = 20, .height = 20, .area = 400, .track = 1
  };

  component.centroid_x = component.x + 9.5;
  component.centroid_y = component.y + 9.5;
  buffer = gst_buffer_make_writable (buffer);
  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);

  return buffer;
}

/* Each second has an object, which stands on the other side of the tripwire than in the one before.
 */
static GstPadProbeReturn
add_by_time (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  info->data = add_object (buffer, GST_BUFFER_PTS (buffer) / GST_SECOND % 2 ? BELOW : ABOVE);

  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
note_track (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (GST_PAD_PROBE_INFO_BUFFER (info));
  guint track = meta && meta->n_components == 1 ? meta->components[0].track : 0;
  GArray *tracks = data;

  g_array_append_val (tracks, track);

  return GST_PAD_PROBE_OK;
}

/* The ids in the order of their frames, as `frames x id`. */
static void
describe_tracks (GString *text, GArray *tracks)
{
  guint i, n = 0;

  for (i = 0; i < tracks->len; i++) {
    n++;
    if (i + 1 < tracks->len &&
        g_array_index (tracks, guint, i + 1) == g_array_index (tracks, guint, i))
      continue;
    g_string_append_printf (text, " %u x %u;", n, g_array_index (tracks, guint, i));
    n = 0;
  }
  g_array_set_size (tracks, 0);
}

/* The count of a zone, as `in/out/inside`. */
static void
describe_count (GString *text, GstElement *pipeline, const gchar *zone)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "element");
  GstStructure *counts, *count;
  guint64 in, out;
  guint inside;

  g_object_get (element, "counts", &counts, NULL);
  fail_unless (gst_structure_get (counts, zone, GST_TYPE_STRUCTURE, &count, NULL));
  fail_unless (gst_structure_get (count, "in", G_TYPE_UINT64, &in, "out", G_TYPE_UINT64, &out,
                                  "inside", G_TYPE_UINT, &inside, NULL));
  g_string_append_printf (text, " %s %u/%u/%u;", zone, (guint) in, (guint) out, inside);
  gst_structure_free (count);
  gst_structure_free (counts);
  gst_object_unref (element);
}

/* The metadata of the frames since the last call, and the counts with @zones. */
static void
describe (GString *text, GstElement *pipeline, GArray *tracks, gboolean zones)
{
  describe_tracks (text, tracks);
  if (zones) {
    describe_count (text, pipeline, "area");
    describe_count (text, pipeline, "gate");
  }
}

/* Each plays a second from @start; then this is what ccltrack and cclzones say. */
static const struct
{
  GstSeekFlags flags;
  guint start; /* s */
  const gchar *expected[2];
} seeks[] = {
  { GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT,
    1,
    { " 10 x 2;", " 10 x 1; area 2/0/1; gate 0/0/0;" } },
  { GST_SEEK_FLAG_SEGMENT, 0, { " 10 x 2;", " 10 x 1; area 2/0/1; gate 0/1/0;" } },
  { GST_SEEK_FLAG_SEGMENT, 7, { " 10 x 2;", " 10 x 1; area 2/0/1; gate 1/1/0;" } },
  { GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT,
    7,
    { " 10 x 3;", " 10 x 1; area 3/0/1; gate 1/1/0;" } },
  { GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT,
    0,
    { " 10 x 4;", " 10 x 1; area 4/0/1; gate 1/1/0;" } },
  { GST_SEEK_FLAG_NONE, 0, { " 10 x 4;", " 10 x 1; area 4/0/1; gate 1/1/0;" } },
  { GST_SEEK_FLAG_FLUSH, 3, { " 10 x 5;", " 10 x 1; area 5/0/1; gate 1/1/0;" } },
};

/* A flushing seek begins anew, at another place or the same. After one that does not flush, the
 * object is still the same, and crosses the tripwire from segment to segment. */
GST_START_TEST (test_seek)
{
  gchar *line = g_strdup_printf ("videotestsrc name=source ! " CAPS " ! %s ! fakesink",
                                 __i__ ? ZONES : TRACK);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GArray *tracks = g_array_new (FALSE, FALSE, sizeof (guint));
  GString *texts[G_N_ELEMENTS (seeks)];
  guint i;

  ccl_test_probe (pipeline, "source", "src", add_by_time, NULL);
  ccl_test_probe (pipeline, "element", "src", note_track, tracks);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  ccl_test_wait_for (pipeline, GST_MESSAGE_ASYNC_DONE);
  g_array_set_size (tracks, 0);

  for (i = 0; i < G_N_ELEMENTS (seeks); i++) {
    fail_unless (gst_element_seek (pipeline, 1.0, GST_FORMAT_TIME, seeks[i].flags,
                                   GST_SEEK_TYPE_SET, (gint64) (seeks[i].start * GST_SECOND),
                                   GST_SEEK_TYPE_SET,
                                   (gint64) ((seeks[i].start + 1) * GST_SECOND)));
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    ccl_test_wait_for (pipeline, seeks[i].flags & GST_SEEK_FLAG_SEGMENT ? GST_MESSAGE_SEGMENT_DONE
                                                                        : GST_MESSAGE_EOS);
    texts[i] = g_string_new (NULL);
    describe (texts[i], pipeline, tracks, __i__ == 1);
  }

  /* A pipeline that still runs when a check fails would never end. */
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (i = 0; i < G_N_ELEMENTS (seeks); i++) {
    fail_unless_equals_string (texts[i]->str, seeks[i].expected[__i__]);
    g_string_free (texts[i], TRUE);
  }
  g_array_unref (tracks);
  gst_object_unref (pipeline);
  g_free (line);
}
GST_END_TEST;

static GstPadProbeReturn
add_above (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const guint *last = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  info->data = add_object (buffer, GST_BUFFER_OFFSET (buffer) == N_FRAMES - 1 ? *last : ABOVE);

  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
add_below (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  info->data = add_object (GST_PAD_PROBE_INFO_BUFFER (info), BELOW);

  return GST_PAD_PROBE_OK;
}

/* Runs @pipeline to its end. Returns the events of cclzones, with their running times. */
static gchar *
collect_events (GstElement *pipeline)
{
  GstMessageType types = GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR;
  GString *text = g_string_new (NULL);
  gboolean ended = FALSE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended) {
    GstMessage *message =
        gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), 60 * GST_SECOND, types);
    guint64 running_time;

    fail_unless (message && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (gst_message_has_name (message, "cclzones")) {
      const GstStructure *structure = gst_message_get_structure (message);

      fail_unless (gst_structure_get_uint64 (structure, "running-time", &running_time));
      g_string_append_printf (text, "%s%s %s %u ms", text->len ? ", " : "",
                              gst_structure_get_string (structure, "event"),
                              gst_structure_get_string (structure, "zone"),
                              (guint) (running_time / GST_MSECOND));
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);

  return g_string_free (text, FALSE);
}

static const struct
{
  guint last; /* where the object is in the last frame of the first stream */
  const gchar *events, *counts;
} joins[] = {
  { ABOVE, "enter area 0 ms, leave area 1000 ms, enter area 1000 ms", " area 2/1/1; gate 0/0/0;" },
  { PENDING, "enter area 0 ms, in gate 1000 ms, leave area 1000 ms, enter area 1000 ms",
    " area 2/1/1; gate 1/0/0;" },
};

/* Two streams with the same id, on either side of the tripwire: nothing crosses it between them,
 * and objects inside the zone leave it. */
GST_START_TEST (test_join)
{
  GstElement *pipeline =
      gst_parse_launch ("concat name=both ! " ZONES " ! fakesink "
                        "videotestsrc name=one num-buffers=10 ! " CAPS " ! both. "
                        "videotestsrc name=other num-buffers=10 ! " CAPS " ! both.",
                        NULL);
  GString *counts = g_string_new (NULL);
  guint last = joins[__i__].last;
  gchar *events;

  ccl_test_probe (pipeline, "one", "src", add_above, &last);
  ccl_test_probe (pipeline, "other", "src", add_below, NULL);
  events = collect_events (pipeline);
  fail_unless_equals_string (events, joins[__i__].events);
  describe_count (counts, pipeline, "area");
  describe_count (counts, pipeline, "gate");
  fail_unless_equals_string (counts->str, joins[__i__].counts);
  g_string_free (counts, TRUE);
  g_free (events);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
cclseek_suite (void)
{
  Suite *suite = suite_create ("cclseek");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_seek, 0, 2);
  tcase_add_loop_test (tcase, test_join, 0, G_N_ELEMENTS (joins));

  return suite;
}

GST_CHECK_MAIN (cclseek)
