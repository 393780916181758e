/* cudaccl - helpers for the tests of elements: harnesses, frames in and out, messages, events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_ELEMENT_TEST_H__
#define __CCL_ELEMENT_TEST_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

/* Like g_object_set_valist(), but the first property may be NULL. */
void ccl_test_set_valist (GstElement *element, va_list args);

/* Makes the element of a launch line, whose values may be in single quotes; several elements come
 * in a bin. Fails on errors. */
GstElement *ccl_test_parse (const gchar *line, ...) G_GNUC_PRINTF (1, 2);

/* Gives @element a bus for ccl_test_pop_message(). Remove it, which stops the element, before
 * dropping the last reference. */
void ccl_test_add_bus (GstElement *element);
void ccl_test_remove_bus (GstElement *element);

/* A harness around @element, which is consumed, with a bus for ccl_test_pop_message(). */
GstHarness *ccl_test_harness_new (GstElement *element, const gchar *format, gint width,
                                  gint height);
void ccl_test_harness_free (GstHarness *h);

/* The same around the elements of a launch line, for frames in GRAY8. */
GstHarness *ccl_test_launch (gint width, gint height, const gchar *line, ...) G_GNUC_PRINTF (3, 4);

/* Caps for the next frames, one per second. */
void ccl_test_set_caps (GstHarness *h, const gchar *format, gint width, gint height);

/* Whether the element accepts a caps event; gst_harness_set_src_caps() does not tell. */
gboolean ccl_test_send_caps (GstHarness *h, GstCaps *caps);

/* Asserts that caps without a frame size are refused with an error that says so. */
void ccl_test_check_size_needed (GstHarness *h);

/* Sets the element to @state and back to PLAYING. Its pads lose their caps. */
void ccl_test_restart (GstHarness *h, GstState state);

/* Pushes @buffer and drops the buffer that comes out; asserts that one does. */
void ccl_test_push (GstHarness *h, GstBuffer *buffer);

/* A frame without pixels. */
GstBuffer *ccl_test_gap_new (GstClockTime pts);

/* Pushes a time segment. */
void ccl_test_push_segment (GstHarness *h, GstClockTime start, GstClockTime base);

/* Flushes. Asserts that @buffer, which is consumed, is refused meanwhile. */
void ccl_test_flush (GstHarness *h, GstBuffer *buffer);

/* Drops the events that came out, up to the first of that type, and returns it; NULL without one.
 */
GstEvent *ccl_test_pull_event (GstHarness *h, GstEventType type);

/* Waits for an event of that type, and drops the others. */
GstEvent *ccl_test_wait_event (GstHarness *h, GstEventType type);

/* Drops the events that came out, and returns how many were of that type. */
guint ccl_test_count_events (GstHarness *h, GstEventType type);

/* The next message of that type, or NULL. */
GstMessage *ccl_test_pop_message (GstHarness *h, GstMessageType type);

/* Drops all messages and events. */
void ccl_test_drain (GstHarness *h);

/* Asserts that an error with that domain and code, and with @text in it, was posted or is soon. */
void ccl_test_check_error (GstHarness *h, GQuark domain, gint code, const gchar *text);

/* Asserts that @element, which is consumed, fails to start with such an error. */
void ccl_test_check_start_fails (GstElement *element, GQuark domain, gint code, const gchar *text);

/* Drop the warnings that were posted, and return how many have @text in them; assert that all do.
 */
guint ccl_test_count_warnings (GstHarness *h, const gchar *text);
guint ccl_test_check_warnings (GstHarness *h, const gchar *text);

/* A field of the element's statistics: a number, or a text to be freed. */
guint64 ccl_test_stat (GstElement *element, const gchar *name);
gchar *ccl_test_stat_text (GstElement *element, const gchar *name);

/* Asserts that a field of the statistics has that text. */
void ccl_test_check_stat (GstElement *element, const gchar *name, const gchar *expected);

/* Calls @callback with each buffer on the pad of the element @name. */
void ccl_test_probe (GstElement *pipeline, const gchar *name, const gchar *pad_name,
                     GstPadProbeCallback callback, gpointer data);

/* Waits for a message of that type from @pipeline; asserts that no error comes
 * first. */
void ccl_test_wait_for (GstElement *pipeline, GstMessageType type);

/* Plays @pipeline to its end, and stops it; asserts that no error comes first. */
void ccl_test_play (GstElement *pipeline);

/* Collects the buffers that reach the sink @name from now on; it needs signal-handoffs=true. */
GPtrArray *ccl_test_collect (GstElement *pipeline, const gchar *name);

/* Runs @func in @n threads, each with an item of the array @data, whose items have @size bytes.
 * @func returns how many frames came out wrong, as GUINT_TO_POINTER (); asserts that none did.
 * Only the main thread may assert. */
void ccl_test_run_threads (GThreadFunc func, gpointer data, gsize size, guint n);

/* An active pool of one buffer of @size bytes, which is acquired. */
GstBufferPool *ccl_test_pool_new (guint size, GstBuffer **buffer);

/* Asserts that the pool has its buffer back, or does not. */
void ccl_test_check_pool (GstBufferPool *pool, gboolean is_back);

/* Set all times and offsets of a buffer; assert that @buffer has them. */
void ccl_test_set_times (GstBuffer *buffer);
void ccl_test_check_times (GstBuffer *buffer);

#endif /* __CCL_ELEMENT_TEST_H__ */
