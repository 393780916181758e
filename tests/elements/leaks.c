/* cudaccl - tests that no GStreamer object leaks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

/* Microseconds for threads to end. */
#define SETTLE 100000

/* The leaks tracer's GstStructures. They are never freed: their references are not theirs to
 * drop. */
static GPtrArray *snapshots;

static GstTracer *
find_tracer (void)
{
  GList *tracers = gst_tracing_get_active_tracers (), *l;
  GstTracer *found = NULL;

  for (l = tracers; l; l = l->next) {
    if (g_str_equal (G_OBJECT_TYPE_NAME (l->data), "GstLeaksTracer"))
      found = gst_object_ref (l->data);
  }
  g_list_free_full (tracers, gst_object_unref);

  return found;
}

/* The addresses of all live objects. */
static GHashTable *
live_objects (GstTracer *tracer)
{
  GHashTable *set = g_hash_table_new (NULL, NULL);
  GstStructure *s = NULL;
  const GValue *list;
  guint i;

  g_signal_emit_by_name (tracer, "get-live-objects", &s);
  g_ptr_array_add (snapshots, s);
  list = gst_structure_get_value (s, "live-objects-list");
  fail_unless (list != NULL);

  for (i = 0; i < gst_value_list_get_size (list); i++) {
    const GstStructure *entry = gst_value_get_structure (gst_value_list_get_value (list, i));
    const GValue *object = gst_structure_get_value (entry, "object");

    g_hash_table_insert (set, g_value_peek_pointer (object),
                         (gpointer) g_type_name (G_VALUE_TYPE (object)));
  }

  return set;
}

/* The number of objects in @after that are not in @before. */
static guint
count_new (GHashTable *before, GHashTable *after)
{
  GHashTableIter iter;
  gpointer object, name;
  guint n = 0;

  g_hash_table_iter_init (&iter, after);
  while (g_hash_table_iter_next (&iter, &object, &name)) {
    if (g_hash_table_contains (before, object))
      continue;
    g_printerr ("still alive: %s %p\n", (const gchar *) name, object);
    n++;
  }

  return n;
}

#ifdef HAVE_OVERLAY
#define OVERLAY "ccloverlay"
#else
#define OVERLAY "identity"
#endif

#ifdef HAVE_JSON_GLIB
#define JSON "ccljson empty-frames=false source=test"
#else
#define JSON "identity"
#endif

static void
run_pipeline (const gchar *backend)
{
  gchar *description = g_strdup_printf (
      "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=NV12 ! tee name=t "
      "t. ! queue ! cudaccl backend=%s post-messages=true ! videoscale ! "
      "video/x-raw,width=64,height=64 ! " OVERLAY " ! fakesink "
      "t. ! queue ! cudaccl backend=%s max-components=1 ! cudaccl backend=%s ! " OVERLAY " ! "
      "fakesink "
      "t. ! queue ! cclcolor backend=%s ! video/x-raw,format=RGB ! fakesink "
      "t. ! queue ! cclmotion ! " OVERLAY " ! fakesink "
      "t. ! queue ! cclmask scale=2 shadows=mark ! fakesink "
      "t. ! queue ! cclmerge name=merge ! " JSON " ! fakesink "
      "t. ! queue ! cudaccl backend=%s ! merge.components",
      backend, backend, backend, backend, backend);
  GstElement *pipeline = gst_parse_launch (description, NULL);
  guint i;

  /* Once to EOS, once stopped midway. */
  for (i = 0; i < 2; i++) {
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    ccl_test_wait_for (pipeline, i == 0 ? GST_MESSAGE_EOS : GST_MESSAGE_ELEMENT);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }

  gst_object_unref (pipeline);
  g_free (description);
}

#ifdef HAVE_OVERLAY
/* Attached, and blended into a frame that is too small. */
static void
run_overlay (void)
{
  static const GstCclComponent component = { 1, 1, 1, 9, 9, 9, 5.0, 5.0 };
  GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "ccloverlay");
  GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);

  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_harness_set_sink_caps_str (h, "video/x-raw(ANY)");
  gst_buffer_add_ccl_meta (buffer, PICTURE_WIDTH, PICTURE_HEIGHT, 1, &component, 1);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (gst_buffer_get_video_overlay_composition_meta (buffer) != NULL);
  gst_buffer_unref (buffer);

  gst_harness_set_sink_caps_str (h, "video/x-raw");
  buffer = gst_buffer_new_allocate (NULL, 1, NULL);
  gst_buffer_add_ccl_meta (buffer, PICTURE_WIDTH, PICTURE_HEIGHT, 1, &component, 1);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  ccl_test_harness_free (h);
}

#endif

static void
run_errors (const gchar *backend)
{
  GstHarness *h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=%s", backend);
  GstElement *element = ccl_test_element_new ("cuda", "cuda-device-id", 99, NULL);

  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
  ccl_test_harness_free (h);

  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
                          GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);

#ifdef HAVE_OVERLAY
  run_overlay ();
#endif
}

GST_START_TEST (test_leaks)
{
  GstTracer *tracer = find_tracer ();
  GHashTable *before = NULL, *after;
  guint i, n;

  if (!tracer) {
    g_print ("skipping: this GStreamer has no leaks tracer\n");
    return;
  }

  /* The first run leaves objects that stay: template caps, the clock. */
  for (i = 0; i < 2; i++) {
    run_pipeline (ccl_test_backend (__i__));
    run_errors (ccl_test_backend (__i__));
    g_usleep (SETTLE);
    if (i == 0)
      before = live_objects (tracer);
  }

  /* A thread may drop its task only after the state change has returned. */
  for (i = 0; i < 20; i++) {
    after = live_objects (tracer);
    n = count_new (before, after);
    g_hash_table_unref (after);
    if (n == 0)
      break;
    g_usleep (SETTLE);
  }
  fail_unless_equals_int (n, 0);

  g_hash_table_unref (before);
  gst_object_unref (tracer);
}
GST_END_TEST;

/* The check above finds a leaked object. */
GST_START_TEST (test_finds_leak)
{
  GstTracer *tracer = find_tracer ();
  GHashTable *before, *after;
  GstBuffer *forgotten;

  if (!tracer)
    return;

  before = live_objects (tracer);
  forgotten = gst_buffer_new ();
  after = live_objects (tracer);
  fail_unless_equals_int (count_new (before, after), 1);

  gst_buffer_unref (forgotten);
  g_hash_table_unref (before);
  g_hash_table_unref (after);
  gst_object_unref (tracer);
}
GST_END_TEST;

static Suite *
leaks_suite (void)
{
  Suite *s = suite_create ("leaks");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_leaks, 0, (gint) ccl_test_n_backends ());
  tcase_add_test (tc, test_finds_leak);

  return s;
}

int
main (int argc, char **argv)
{
  Suite *s;

  /* Before gst_init(). The tracer must not check at exit: the snapshots hold references they do
   * not own. */
  g_setenv ("GST_TRACERS", "leaks", TRUE);
  gst_check_init (&argc, &argv);
  snapshots = g_ptr_array_new ();
  s = leaks_suite ();

  return gst_check_run_suite (s, "leaks", __FILE__);
}
