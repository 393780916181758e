/* cudaccl - helpers for tests of serialized metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmetatest.h"

#include <gst/check/gstcheck.h>

static void
count_warnings (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                gpointer n)
{
  if (level == GST_LEVEL_WARNING && g_str_equal (gst_debug_category_get_name (category), "cclmeta"))
    (*(guint *) n)++;
}

void
ccl_test_check_received (const CclTestSerialized *sent, CclTestReceiveFunc receive)
{
  guint n = 0;
  gsize size;

  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (count_warnings, &n, NULL);
  gst_debug_set_active (TRUE);
  gst_debug_set_default_threshold (GST_LEVEL_WARNING);

  fail_unless (receive (sent->bytes, sent->size, sent->version) == sent->valid, "%s", sent->what);
  fail_unless_equals_int (n, !sent->valid);
  for (size = 0; sent->valid && size < sent->size; size++)
    fail_if (receive (sent->bytes, size, sent->version), "%s: taken, but truncated", sent->what);
  if (sent->valid)
    fail_unless_equals_int64 (n, sent->size);

  gst_debug_remove_log_function (count_warnings);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
}
