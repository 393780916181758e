/* cudaccl - helpers for the tests of elements: harnesses, frames in and out, messages, events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclelementtest.h"

#include <string.h>

/* Below Meson's time limit, so that a failure names what is missing; far above what a slow machine
 * takes, because it does not grow with Meson's multiplier. */
#define TIMEOUT (150 * GST_SECOND)

void
ccl_test_set_valist (GstElement *element, va_list args)
{
  const gchar *property = va_arg (args, const gchar *);

  if (property)
    g_object_set_valist (G_OBJECT (element), property, args);
}

static GstElement *
parse (const gchar *format, va_list args)
{
  gchar *line = g_strdelimit (g_strdup_vprintf (format, args), "'", '"');
  GError *error = NULL;
  GstElement *element = gst_parse_bin_from_description_full (
      line, TRUE, NULL, GST_PARSE_FLAG_NO_SINGLE_ELEMENT_BINS, &error);

  fail_unless (element && !error, "%s: %s", line, error ? error->message : "no element");
  g_free (line);

  return element;
}

GstElement *
ccl_test_parse (const gchar *line, ...)
{
  GstElement *element;
  va_list args;

  va_start (args, line);
  element = parse (line, args);
  va_end (args);

  return element;
}

void
ccl_test_add_bus (GstElement *element)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_object_set_data_full (G_OBJECT (element), "test-bus", bus, gst_object_unref);
}

void
ccl_test_remove_bus (GstElement *element)
{
  GstBus *bus = g_object_get_data (G_OBJECT (element), "test-bus");

  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  /* Its messages hold references to the element, which holds one to the bus. */
  gst_bus_set_flushing (bus, TRUE);
}

GstHarness *
ccl_test_harness_new (GstElement *element, const gchar *format, gint width, gint height)
{
  GstHarness *h;

  ccl_test_add_bus (element);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  ccl_test_set_caps (h, format, width, height);

  return h;
}

GstHarness *
ccl_test_launch (gint width, gint height, const gchar *line, ...)
{
  GstElement *element;
  va_list args;

  va_start (args, line);
  element = parse (line, args);
  va_end (args);

  return ccl_test_harness_new (element, "GRAY8", width, height);
}

void
ccl_test_set_caps (GstHarness *h, const gchar *format, gint width, gint height)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                       G_TYPE_INT, width, "height", G_TYPE_INT, height, "framerate",
                                       GST_TYPE_FRACTION, 1, 1, NULL);

  gst_harness_set_src_caps (h, caps);
}

void
ccl_test_harness_free (GstHarness *h)
{
  ccl_test_remove_bus (h->element);
  gst_harness_teardown (h);
}

GstMessage *
ccl_test_pop_message (GstHarness *h, GstMessageType type)
{
  GstBus *bus = g_object_get_data (G_OBJECT (h->element), "test-bus");

  return gst_bus_pop_filtered (bus, type);
}

void
ccl_test_restart (GstHarness *h, GstState state)
{
  fail_unless_equals_int (gst_element_set_state (h->element, state), GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PLAYING),
                          GST_STATE_CHANGE_SUCCESS);
}

void
ccl_test_push (GstHarness *h, GstBuffer *buffer)
{
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (buffer != NULL, "nothing came out");
  gst_buffer_unref (buffer);
}

GstBuffer *
ccl_test_gap_new (GstClockTime pts)
{
  GstBuffer *gap = gst_buffer_new ();

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS (gap) = pts;

  return gap;
}

void
ccl_test_push_segment (GstHarness *h, GstClockTime start, GstClockTime base)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = start;
  segment.base = base;
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
}

GstEvent *
ccl_test_pull_event (GstHarness *h, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)) && GST_EVENT_TYPE (event) != type)
    gst_event_unref (event);

  return event;
}

GstEvent *
ccl_test_wait_event (GstHarness *h, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_pull_event (h)) && GST_EVENT_TYPE (event) != type)
    gst_event_unref (event);
  fail_unless (event != NULL, "no event %s", gst_event_type_get_name (type));

  return event;
}

guint
ccl_test_count_events (GstHarness *h, GstEventType type)
{
  GstEvent *event;
  guint n = 0;

  while ((event = ccl_test_pull_event (h, type))) {
    gst_event_unref (event);
    n++;
  }

  return n;
}

void
ccl_test_drain (GstHarness *h)
{
  GstMessage *message;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  while ((message = ccl_test_pop_message (h, GST_MESSAGE_ANY)))
    gst_message_unref (message);
}

static void
check_error (GstElement *element, GQuark domain, gint code, const gchar *text)
{
  GstBus *bus = g_object_get_data (G_OBJECT (element), "test-bus");
  GstMessage *message = gst_bus_timed_pop_filtered (bus, TIMEOUT, GST_MESSAGE_ERROR);
  GError *error = NULL;

  fail_unless (message != NULL, "no error was posted");
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code), "got %s %d: %s",
               g_quark_to_string (error->domain), error->code, error->message);
  fail_unless (strstr (error->message, text) != NULL, "'%s' is not in: %s", text, error->message);
  g_error_free (error);
  gst_message_unref (message);
}

void
ccl_test_check_error (GstHarness *h, GQuark domain, gint code, const gchar *text)
{
  check_error (h->element, domain, code, text);
}

void
ccl_test_check_start_fails (GstElement *element, GQuark domain, gint code, const gchar *text)
{
  ccl_test_add_bus (element);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
                          GST_STATE_CHANGE_FAILURE);
  check_error (element, domain, code, text);
  ccl_test_remove_bus (element);
  gst_object_unref (element);
}

static guint
take_warnings (GstHarness *h, const gchar *text, gboolean all)
{
  GstMessage *message;
  guint n = 0;

  while ((message = ccl_test_pop_message (h, GST_MESSAGE_WARNING))) {
    GError *error = NULL;
    gboolean found;

    gst_message_parse_warning (message, &error, NULL);
    found = strstr (error->message, text) != NULL;
    fail_unless (found || !all, "'%s' is not in: %s", text, error->message);
    g_error_free (error);
    gst_message_unref (message);
    n += found;
  }

  return n;
}

guint
ccl_test_count_warnings (GstHarness *h, const gchar *text)
{
  return take_warnings (h, text, FALSE);
}

guint
ccl_test_check_warnings (GstHarness *h, const gchar *text)
{
  return take_warnings (h, text, TRUE);
}

guint64
ccl_test_stat (GstElement *element, const gchar *name)
{
  GValue number = G_VALUE_INIT;
  GstStructure *stats;
  const GValue *value;

  g_object_get (element, "stats", &stats, NULL);
  value = gst_structure_get_value (stats, name);
  g_value_init (&number, G_TYPE_UINT64);
  fail_unless (value && g_value_transform (value, &number), "no number %s", name);
  gst_structure_free (stats);

  return g_value_get_uint64 (&number);
}

gchar *
ccl_test_stat_text (GstElement *element, const gchar *name)
{
  GstStructure *stats;
  gchar *text;

  g_object_get (element, "stats", &stats, NULL);
  text = g_strdup (gst_structure_get_string (stats, name));
  gst_structure_free (stats);
  fail_unless (text != NULL, "no text %s", name);

  return text;
}

void
ccl_test_check_stat (GstElement *element, const gchar *name, const gchar *expected)
{
  gchar *text = ccl_test_stat_text (element, name);

  fail_unless (g_str_equal (text, expected), "%s is '%s', not '%s'", name, text, expected);
  g_free (text);
}

void
ccl_test_probe (GstElement *pipeline, const gchar *name, const gchar *pad_name,
                GstPadProbeCallback callback, gpointer data)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstPad *pad = gst_element_get_static_pad (element, pad_name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, callback, data, NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
}

void
ccl_test_wait_for (GstElement *pipeline, GstMessageType type)
{
  GstMessage *message =
      gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), TIMEOUT, type | GST_MESSAGE_ERROR);

  fail_unless (message && GST_MESSAGE_TYPE (message) == type);
  gst_message_unref (message);
}

void
ccl_test_play (GstElement *pipeline)
{
  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  ccl_test_wait_for (pipeline, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
collect (GstElement *sink, GstBuffer *buffer, GstPad *pad, GPtrArray *buffers)
{
  g_ptr_array_add (buffers, gst_buffer_ref (buffer));
}

GPtrArray *
ccl_test_collect (GstElement *pipeline, const gchar *name)
{
  GPtrArray *buffers = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_signal_connect (sink, "handoff", G_CALLBACK (collect), buffers);
  gst_object_unref (sink);

  return buffers;
}

void
ccl_test_flush (GstHarness *h, GstBuffer *buffer)
{
  gst_harness_push_event (h, gst_event_new_flush_start ());
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_FLUSHING);
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  ccl_test_push_segment (h, 0, 0);
}

gboolean
ccl_test_send_caps (GstHarness *h, GstCaps *caps)
{
  GstPad *pad = gst_pad_get_peer (h->srcpad);
  gboolean taken = gst_pad_send_event (pad, gst_event_new_caps (caps));

  gst_object_unref (pad);

  return taken;
}

void
ccl_test_check_size_needed (GstHarness *h)
{
  static const gchar *const texts[] = { "video/x-raw,format=GRAY8,framerate=1/1",
                                        "video/x-raw,format=GRAY8,width=0,height=7" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++) {
    GstCaps *caps = gst_caps_from_string (texts[i]);

    fail_if (ccl_test_send_caps (h, caps), "%s", texts[i]);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "size");
    gst_caps_unref (caps);
  }
}

GstBufferPool *
ccl_test_pool_new (guint size, GstBuffer **buffer)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, size, 1, 1);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, buffer, NULL), GST_FLOW_OK);

  return pool;
}

void
ccl_test_check_pool (GstBufferPool *pool, gboolean is_back)
{
  GstBufferPoolAcquireParams params = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
  GstBuffer *buffer = NULL;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, &params),
                          is_back ? GST_FLOW_OK : GST_FLOW_EOS);
  gst_clear_buffer (&buffer);
}

void
ccl_test_set_times (GstBuffer *buffer)
{
  GST_BUFFER_PTS (buffer) = 7 * GST_SECOND;
  GST_BUFFER_DTS (buffer) = 6 * GST_SECOND;
  GST_BUFFER_DURATION (buffer) = 5 * GST_SECOND;
  GST_BUFFER_OFFSET (buffer) = 4;
  GST_BUFFER_OFFSET_END (buffer) = 3;
}

void
ccl_test_check_times (GstBuffer *buffer)
{
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 7 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), 6 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 5 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), 4);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (buffer), 3);
}

void
ccl_test_run_threads (GThreadFunc func, gpointer data, gsize size, guint n)
{
  GThread **threads = g_new (GThread *, n);
  guint i;

  for (i = 0; i < n; i++)
    threads[i] = g_thread_new (NULL, func, (guint8 *) data + i * size);
  for (i = 0; i < n; i++)
    fail_unless_equals_int (GPOINTER_TO_UINT (g_thread_join (threads[i])), 0);
  g_free (threads);
}
