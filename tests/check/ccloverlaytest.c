/* cudaccl - what the tests of ccloverlay share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccloverlaytest.h"

GstHarness *
ccl_overlay_harness_new (const gchar *caps, ...)
{
  GstElement *element = gst_element_factory_make ("ccloverlay", NULL);
  const gchar *property;
  GstHarness *h;
  va_list args;

  fail_unless (element != NULL, "the plugin is not in GST_PLUGIN_PATH");
  g_object_set (element, "line-width", 1, "font-size", 7, "color", 0xffffffff, NULL);
  va_start (args, caps);
  property = va_arg (args, const gchar *);
  if (property)
    g_object_set_valist (G_OBJECT (element), property, args);
  va_end (args);

  h = ccl_test_harness_new (element, "GRAY8", 1, 1);
  gst_harness_set_src_caps_str (h, caps);

  return h;
}

GstBuffer *
ccl_overlay_frame_new (guint width, guint height, guint meta_width, guint meta_height,
                       const GstCclComponent *components, guint n_components)
{
  GstBuffer *buffer = ccl_test_black_new (width, height);

  gst_buffer_memset (buffer, 0, BACKGROUND, gst_buffer_get_size (buffer));
  gst_buffer_add_ccl_meta (buffer, meta_width, meta_height, n_components, components, n_components);

  return buffer;
}
