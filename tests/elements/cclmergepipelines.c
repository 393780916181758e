/* cudaccl - tests of the element cclmerge in pipelines: a tee, a small mask, seeks, leaks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

/* Time for threads to end, in microseconds. */
#define SETTLE 10000

#define PIPELINE                                                                              \
  "videotestsrc name=src pattern=ball num-buffers=%d ! "                                      \
  "video/x-raw,format=NV12,width=160,height=120,framerate=10/1 ! tee name=t "                 \
  "t. ! queue ! cclmerge name=merge ! %s fakesink name=a signal-handoffs=true sync=false "    \
  "t. ! queue ! videoscale ! video/x-raw,width=80,height=60 ! cudaccl backend=cpu ! queue ! " \
  "merge.components t. ! queue ! fakesink name=b signal-handoffs=true sync=false"

static void
collect (GstElement *sink, GstBuffer *buffer, GstPad *pad, GPtrArray *buffers)
{
  g_ptr_array_add (buffers, gst_buffer_ref (buffer));
}

static void
connect_sink (GstElement *pipeline, const gchar *name, GPtrArray *buffers)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_signal_connect (sink, "handoff", G_CALLBACK (collect), buffers);
  gst_object_unref (sink);
}

static void
wait_for (GstElement *pipeline, GstMessageType type)
{
  GstMessage *message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), 20 * GST_SECOND,
                                                    type | GST_MESSAGE_ERROR);

  fail_unless (message && GST_MESSAGE_TYPE (message) == type);
  gst_message_unref (message);
}

/* A real tee: every frame has the ball's box, and the pixels that the other branch has. */
GST_START_TEST (test_tee)
{
  gchar *description = g_strdup_printf (PIPELINE, 20, "");
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GPtrArray *buffers[2];
  guint i;

  for (i = 0; i < 2; i++) {
    buffers[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
    connect_sink (pipeline, i == 0 ? "a" : "b", buffers[i]);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for (pipeline, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);

  fail_unless_equals_int (buffers[0]->len, 20);
  fail_unless_equals_int (buffers[1]->len, 20);
  for (i = 0; i < 20; i++) {
    GstBuffer *a = g_ptr_array_index (buffers[0], i), *b = g_ptr_array_index (buffers[1], i);
    GstCclMeta *meta = gst_buffer_get_ccl_meta (a);

    fail_unless (gst_buffer_peek_memory (a, 0) == gst_buffer_peek_memory (b, 0));
    fail_unless (meta && meta->n_components == 1);
    fail_unless_equals_int (meta->width, 160);
    ccl_test_check_nothing (b);
  }
  for (i = 0; i < 2; i++)
    g_ptr_array_unref (buffers[i]);
  gst_object_unref (pipeline);
  g_free (description);
}
GST_END_TEST;

#define LARGE_WIDTH 3840
#define LARGE_HEIGHT 2160
#define SCALE 6
#define LINE 6 /* what ccloverlay takes for frames of this size */
#define GRAY 100

/* Asserts that of the luma, which was copied, just the outline of the box has another value. */
static void
check_luma (GstBuffer *drawn, GstBuffer *plain, const GstCclComponent *box)
{
  GstMapInfo after, before;
  guint x, y;

  fail_unless (gst_buffer_map (drawn, &after, GST_MAP_READ));
  fail_unless (gst_buffer_map (plain, &before, GST_MAP_READ));
  for (y = 0; y < LARGE_HEIGHT; y++) {
    for (x = 0; x < LARGE_WIDTH; x++) {
      guint left = x - box->x * SCALE, top = y - box->y * SCALE;
      guint right = box->width * SCALE - 1 - left, bottom = box->height * SCALE - 1 - top;
      gboolean inside = left < box->width * SCALE && top < box->height * SCALE;
      gboolean line = inside && (left < LINE || top < LINE || right < LINE || bottom < LINE);
      gsize i = (gsize) y * LARGE_WIDTH + x;

      if (after.data[i] != (line ? GRAY : before.data[i]))
        fail ("(%u, %u) is %u", x, y, after.data[i]);
      /* The ball is in the box, but for what the smaller frame cannot show. */
      if (!inside && before.data[i] > 200)
        fail_unless (left + SCALE < (box->width + 2) * SCALE &&
                     top + SCALE < (box->height + 2) * SCALE);
    }
  }
  gst_buffer_unmap (plain, &before);
  gst_buffer_unmap (drawn, &after);
}

/* Components of a mask of 640x360 are drawn where they are on frames of 3840x2160. */
GST_START_TEST (test_small_mask)
{
  static const gchar *const names[] = { "drawn", "plain", "mask" };
  const guint n = 3;
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc pattern=ball num-buffers=3 ! "
      "video/x-raw,format=GRAY8,width=3840,height=2160,framerate=1/1 ! tee name=t "
      "t. ! queue ! cclmerge name=merge ! ccloverlay color=0xff646464 ! "
      "fakesink name=drawn signal-handoffs=true sync=false "
      "t. ! queue ! fakesink name=plain signal-handoffs=true sync=false "
      "t. ! queue ! videoscale method=nearest-neighbour ! video/x-raw,width=640,height=360 ! "
      "cudaccl backend=cpu ! tee name=m m. ! queue ! merge.components "
      "m. ! queue ! fakesink name=mask signal-handoffs=true sync=false",
      NULL);
  GPtrArray *buffers[3];
  guint i;

  for (i = 0; i < 3; i++) {
    buffers[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
    connect_sink (pipeline, names[i], buffers[i]);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for (pipeline, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);

  for (i = 0; i < 3; i++)
    fail_unless_equals_int (buffers[i]->len, n);
  for (i = 0; i < n; i++) {
    GstCclMeta *meta = gst_buffer_get_ccl_meta (g_ptr_array_index (buffers[2], i));

    fail_unless (meta && meta->width == LARGE_WIDTH / SCALE && meta->n_components == 1);
    check_luma (g_ptr_array_index (buffers[0], i), g_ptr_array_index (buffers[1], i),
                &meta->components[0]);
  }
  for (i = 0; i < 3; i++)
    g_ptr_array_unref (buffers[i]);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* Both branches come from one source, which is sought through both; back and forth. */
GST_START_TEST (test_seek)
{
  gchar *description = g_strdup_printf (PIPELINE, -1, "ccloverlay color=0xffffffff !");
  GstElement *pipeline = gst_parse_launch (description, NULL);
  guint i, k;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  wait_for (pipeline, GST_MESSAGE_ASYNC_DONE);
  for (i = 0; i < 4; i++) {
    GstClockTime start = (i % 2 ? 1 : 50) * GST_SECOND;
    GPtrArray *buffers = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
    GstElement *sink;

    connect_sink (pipeline, "a", buffers);
    fail_unless (gst_element_seek (
        pipeline, 1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
        GST_SEEK_TYPE_SET, (gint64) start, GST_SEEK_TYPE_SET, (gint64) (start + GST_SECOND)));
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_for (pipeline, GST_MESSAGE_EOS);

    sink = gst_bin_get_by_name (GST_BIN (pipeline), "a");
    g_signal_handlers_disconnect_by_func (sink, collect, buffers);
    gst_object_unref (sink);
    fail_unless_equals_int (buffers->len, 10);
    for (k = 0; k < 10; k++) {
      GstBuffer *buffer = g_ptr_array_index (buffers, k);
      GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
      guint8 corner;

      fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), start + k * GST_SECOND / 10);
      fail_unless (meta && meta->n_components == 1);
      gst_buffer_extract (buffer, meta->components[0].y * 160 + meta->components[0].x, &corner, 1);
      fail_unless_equals_int (corner, 235); /* white in video range; behind the ball it is black */
    }
    g_ptr_array_unref (buffers);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (description);
}
GST_END_TEST;

static gint n_alive;

static void
forget (gpointer data, GstMiniObject *object)
{
  g_atomic_int_dec_and_test (&n_alive);
}

static GstPadProbeReturn
watch (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  g_atomic_int_inc (&n_alive);
  gst_mini_object_weak_ref (GST_PAD_PROBE_INFO_DATA (info), forget, NULL);

  return GST_PAD_PROBE_OK;
}

/* Nothing that flows through is left when all is over, be it by the end or by a stop on the way. */
GST_START_TEST (test_leaks)
{
  static const gchar *const names[] = { "video", "components", "src" };
#ifdef HAVE_JSON_GLIB
  const gchar *more = "! ccljson empty-frames=false source=test";
#else
  const gchar *more = "";
#endif
  guint i, k, n_watched;

  for (i = 0; i < 2; i++) {
    gchar *description = g_strdup_printf (
        "videotestsrc num-buffers=%d pattern=ball ! tee name=t t. ! queue ! cclmerge name=merge "
        "%s ! fakesink name=sink t. ! queue ! cudaccl backend=cpu ! merge.components",
        i == 0 ? 20 : -1, more);
    GstElement *pipeline = gst_parse_launch (description, NULL);
    GstElement *merge = gst_bin_get_by_name (GST_BIN (pipeline), "merge");
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    GstPad *pad = gst_element_get_static_pad (sink, "sink");
    GstPadProbeType type = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM;

    gst_pad_add_probe (pad, type, watch, NULL, NULL);
    gst_object_unref (pad);
    for (k = 0; k < G_N_ELEMENTS (names); k++) {
      pad = gst_element_get_static_pad (merge, names[k]);
      gst_pad_add_probe (pad, type, watch, NULL, NULL);
      gst_object_unref (pad);
    }

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    if (i == 0)
      wait_for (pipeline, GST_MESSAGE_EOS);
    else
      g_usleep (20 * SETTLE);
    n_watched = (guint) g_atomic_int_get (&n_alive);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (merge);
    gst_object_unref (sink);
    ASSERT_OBJECT_REFCOUNT (pipeline, "pipeline", 1);
    gst_object_unref (pipeline);
    g_free (description);

    fail_unless (n_watched > 0);
    for (k = 0; k < 100 && g_atomic_int_get (&n_alive) > 0; k++)
      g_usleep (SETTLE);
    fail_unless_equals_int (g_atomic_int_get (&n_alive), 0);
  }
}
GST_END_TEST;

static Suite *
cclmergepipelines_suite (void)
{
  Suite *s = suite_create ("cclmergepipelines");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_tee);
  tcase_add_test (tc, test_small_mask);
  tcase_add_test (tc, test_seek);
  tcase_add_test (tc, test_leaks);

  return s;
}

GST_CHECK_MAIN (cclmergepipelines);
