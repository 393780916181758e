/* cudaccl - helpers for the tests of ccloverlay
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccloverlaytest.h"

const GstCclComponent ccl_overlay_boxes[2] = {
  { 1, 5, 3, 8, 6, 30, 8.5, 5.5 },
  { 2, 15, 10, 3, 3, 30, 16.0, 11.0 },
};

GstHarness *
ccl_overlay_harness_new (const gchar *caps, ...)
{
  GstElement *element = gst_element_factory_make ("ccloverlay", NULL);
  GstHarness *h;
  va_list args;

  fail_unless (element != NULL, "the plugin is not in GST_PLUGIN_PATH");
  g_object_set (element, "line-width", 1, "font-size", 7, "color", 0xffffffff, NULL);
  va_start (args, caps);
  ccl_test_set_valist (element, args);
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

GstBuffer *
ccl_overlay_boxes_new (void)
{
  return ccl_overlay_frame_new (WIDTH, HEIGHT, WIDTH, HEIGHT, ccl_overlay_boxes, 2);
}

guint8
ccl_overlay_pixel (GstBuffer *buffer, guint x, guint y)
{
  guint8 pixel;

  fail_unless_equals_int (gst_buffer_extract (buffer, y * WIDTH + x, &pixel, 1), 1);

  return pixel;
}

void
ccl_overlay_check_drawn (GstBuffer *buffer, gboolean attached)
{
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (buffer);

  fail_unless_equals_int (ccl_overlay_pixel (buffer, 5, 3), attached ? BACKGROUND : 255);
  fail_unless_equals_int (ccl_overlay_pixel (buffer, 17, 12), attached ? BACKGROUND : 255);
  fail_unless_equals_int (ccl_overlay_pixel (buffer, 6, 4), BACKGROUND);
  fail_unless_equals_int (gst_buffer_n_memory (buffer), 1);
  fail_unless (attached == (meta != NULL));
}
