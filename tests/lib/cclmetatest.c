/* cudaccl - helpers for tests of serialized metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmetatest.h"

#include <gst/check/gstcheck.h>
#include <glib/gstdio.h>

static void
count_warnings (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                gpointer n)
{
  if (level == GST_LEVEL_WARNING && g_str_equal (gst_debug_category_get_name (category), "cclmeta"))
    (*(guint *) n)++;
}

void
ccl_test_count_logged (guint *n)
{
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (count_warnings, n, NULL);
  gst_debug_set_active (TRUE);
  gst_debug_set_default_threshold (GST_LEVEL_WARNING);
}

void
ccl_test_stop_counting (void)
{
  gst_debug_remove_log_function (count_warnings);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
}

void
ccl_test_check_received (const CclTestSerialized *sent, CclTestReceiveFunc receive)
{
  guint n = 0;
  gsize size;

  ccl_test_count_logged (&n);
  fail_unless (receive (sent->bytes, sent->size, sent->version) == sent->valid, "%s", sent->what);
  fail_unless_equals_int (n, !sent->valid);
  for (size = 0; sent->valid && size < sent->size; size++)
    fail_if (receive (sent->bytes, size, sent->version), "%s: taken, but truncated", sent->what);
  if (sent->valid)
    fail_unless_equals_int64 (n, sent->size);
  ccl_test_stop_counting ();
}

gboolean
ccl_test_socket_open (CclTestSocket *socket, const gchar *line)
{
  GstElementFactory *factory = gst_element_factory_find ("unixfdsrc");
  GstElement *source;
  gchar *description;

  if (!factory) {
    g_printerr ("skipped: no element unixfdsrc\n");
    return FALSE;
  }
  gst_object_unref (factory);

  socket->folder = g_dir_make_tmp ("cudaccl-XXXXXX", NULL);
  fail_unless (socket->folder != NULL);
  socket->path = g_build_filename (socket->folder, "socket", NULL);
  description =
      g_strdup_printf ("%s ! unixfdsink socket-path=%s sync=false async=false", line, socket->path);
  socket->sender = gst_parse_launch (description, NULL);
  g_free (description);
  fail_unless (gst_element_set_state (socket->sender, GST_STATE_PLAYING) !=
               GST_STATE_CHANGE_FAILURE);

  /* The path must be set before the harness starts the element. */
  source = gst_element_factory_make ("unixfdsrc", NULL);
  g_object_set (source, "socket-path", socket->path, NULL);
  socket->receiver = gst_harness_new_with_element (source, NULL, "src");
  gst_object_unref (source);
  gst_harness_use_systemclock (socket->receiver);
  gst_harness_play (socket->receiver);

  return TRUE;
}

void
ccl_test_socket_close (CclTestSocket *socket)
{
  gst_harness_teardown (socket->receiver);
  gst_element_set_state (socket->sender, GST_STATE_NULL);
  gst_object_unref (socket->sender);
  g_unlink (socket->path);
  fail_unless_equals_int (g_rmdir (socket->folder), 0);
  g_free (socket->path);
  g_free (socket->folder);
}
