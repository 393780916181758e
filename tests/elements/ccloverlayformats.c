/* cudaccl - tests of the element ccloverlay: every format
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccloverlaytest.h"

#include <string.h>

/* Everything is a multiple of this, so that no format has pixels of both kinds sharing chroma. */
#define BLOCK 4
#define SIDE (12 * BLOCK)
#define COLOR 0xff20c040

static const GstCclComponent boxes[] = {
  { 1, 2 * BLOCK, 3 * BLOCK, 7 * BLOCK, 5 * BLOCK, 9, 0.0, 0.0 },
  { 2, 10 * BLOCK, 9 * BLOCK, 2 * BLOCK, 3 * BLOCK, 9, 0.0, 0.0 },
};

/* Lines are as wide as blocks. */
static gboolean
is_on_line (guint x, guint y)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (boxes); i++) {
    guint left = x - boxes[i].x, top = y - boxes[i].y;

    if (left < boxes[i].width && top < boxes[i].height &&
        (left < BLOCK || top < BLOCK || left >= boxes[i].width - BLOCK ||
         top >= boxes[i].height - BLOCK))
      return TRUE;
  }

  return FALSE;
}

/* A row of pixels with 8 or 16 bits for alpha and each of three colours, as 8 bits; what is missing
 * in deeper formats is as good as nothing. */
static void
unpack (const GstVideoFrame *frame, gint y, guint8 *pixels)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  guint wide = GST_VIDEO_FORMAT_INFO_BITS (gst_video_format_get_info (format->unpack_format)) / 8;
  guint8 *row = g_malloc0 ((SIDE + 16) * 4 * wide);
  guint i;

  format->unpack_func (format, GST_VIDEO_PACK_FLAG_NONE, row, frame->data, frame->info.stride, 0, y,
                       SIDE);
  for (i = 0; i < 4 * SIDE; i++)
    pixels[i] = wide == 1 ? row[i] : (guint8) (((guint16 *) row)[i] >> 8);
  g_free (row);
}

static GstBuffer *
random_picture_new (GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GRand *random = g_rand_new_with_seed ((guint32) GST_VIDEO_INFO_FORMAT (info));
  gsize size = (SIDE + 16) * 8;
  guint8 *row = g_malloc (size);
  GstVideoFrame frame;
  gint y;
  gsize i;

  gst_buffer_memset (buffer, 0, 0, GST_VIDEO_INFO_SIZE (info));
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READWRITE));
  for (y = 0; y < SIDE; y++) {
    for (i = 0; i < size; i++)
      row[i] = (guint8) g_rand_int_range (random, 30, 220);
    info->finfo->pack_func (info->finfo, GST_VIDEO_PACK_FLAG_NONE, row, 0, frame.data,
                            frame.info.stride, info->chroma_site, y, SIDE);
  }
  gst_video_frame_unmap (&frame);
  g_free (row);
  g_rand_free (random);

  return buffer;
}

/* The colour in the frames' own way: three values of 0 to 255, in the order of unpacked pixels. */
static void
get_color (const GstVideoInfo *info, gdouble *parts)
{
  gdouble r = COLOR >> 16 & 255, g = COLOR >> 8 & 255, b = COLOR & 255, kr, kb, y;
  gboolean full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;

  parts[0] = r;
  parts[1] = g;
  parts[2] = b;
  if (GST_VIDEO_INFO_IS_RGB (info))
    return;

  kr = info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709 ? 0.2126 : 0.299;
  kb = info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709 ? 0.0722 : 0.114;
  y = kr * r + (1 - kr - kb) * g + kb * b;
  parts[0] = full ? y : 16 + y * 219 / 255;
  parts[1] = 128 + (b - y) / (2 - 2 * kb) * (full ? 1 : 224.0 / 255);
  parts[2] = 128 + (r - y) / (2 - 2 * kr) * (full ? 1 : 224.0 / 255);
}

/* Asserts that lines have the colour and that all else is as it was. */
static void
check_frames (const GstVideoFrame *before, const GstVideoFrame *after)
{
  const GstVideoInfo *info = &before->info;
  gdouble depth = GST_VIDEO_INFO_COMP_DEPTH (info, 0), tolerance = depth < 8 ? 9 : 2, parts[3];
  guint n_parts = GST_VIDEO_INFO_IS_GRAY (info) ? 1 : 3, x, i;
  guint8 old_row[4 * SIDE], new_row[4 * SIDE];
  gint y;

  get_color (info, parts);
  for (y = 0; y < SIDE; y++) {
    unpack (before, y, old_row);
    unpack (after, y, new_row);
    for (x = 0; x < SIDE; x++) {
      const guint8 *new_pixel = new_row + 4 * x;

      if (!is_on_line (x, (guint) y)) {
        fail_unless (memcmp (new_pixel, old_row + 4 * x, 4) == 0, "%s: (%u, %d) has changed",
                     GST_VIDEO_INFO_NAME (info), x, y);
        continue;
      }
      for (i = 0; i < n_parts; i++)
        fail_unless (ABS (new_pixel[1 + i] - parts[i]) <= tolerance,
                     "%s: part %u of (%u, %d) is %u, not %.1f", GST_VIDEO_INFO_NAME (info), i, x, y,
                     new_pixel[1 + i], parts[i]);
    }
  }
}

static void
check_format (GstHarness *h, GstVideoFormat format, const gchar *more)
{
  gchar *text = g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=1/1%s",
                                 gst_video_format_to_string (format), SIDE, SIDE, more);
  GstCaps *caps = gst_caps_from_string (text);
  GstBuffer *buffer, *copy;
  GstVideoFrame before, after;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_harness_set_src_caps (h, caps);
  buffer = random_picture_new (&info);
  copy = gst_buffer_copy_deep (buffer);
  gst_buffer_add_ccl_meta (buffer, SIDE, SIDE, G_N_ELEMENTS (boxes), boxes, G_N_ELEMENTS (boxes));
  buffer = gst_harness_push_and_pull (h, buffer);

  fail_unless (gst_video_frame_map (&before, &info, copy, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&after, &info, buffer, GST_MAP_READ));
  check_frames (&before, &after);
  gst_video_frame_unmap (&before);
  gst_video_frame_unmap (&after);
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
  g_free (text);
}

/* Every format that there is, but for those with a palette. */
GST_START_TEST (test_formats)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, "color", COLOR, "line-width", BLOCK, NULL);
  guint i, n, n_tested = 0;
  const GstVideoFormat *formats = gst_video_formats_raw (&n);

  for (i = 0; i < n; i++) {
    if (GST_VIDEO_FORMAT_INFO_HAS_PALETTE (gst_video_format_get_info (formats[i])))
      continue;
    check_format (h, formats[i], "");
    n_tested++;
  }
  fail_unless (n_tested > 80);

  check_format (h, GST_VIDEO_FORMAT_I420, ",colorimetry=bt709");
  check_format (h, GST_VIDEO_FORMAT_NV12, ",colorimetry=1:4:0:0");
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
ccloverlayformats_suite (void)
{
  Suite *s = suite_create ("ccloverlayformats");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_formats);

  return s;
}

GST_CHECK_MAIN (ccloverlayformats);
