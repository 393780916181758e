/* cudaccl - tests of the element ccloverlay: what is drawn where, in every format
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccloverlaytest.h"

#include <string.h>

enum
{
  BOXES = 1,
  CENTROIDS = 2,
  LABELS = 4,
};

typedef struct
{
  const gchar *name;
  guint draw, line_width, meta_width, meta_height;
  GstCclComponent components[2]; /* the second one may have no label */
  guint first;                   /* row in @expected */
  const gchar *expected[HEIGHT]; /* '#' is the colour, '.' (or no row) the frame */
} Picture;

static const Picture pictures[] = {
  { "a box",
    BOXES,
    1,
    24,
    14,
    { { 1, 5, 3, 8, 6, 30, 8.5, 5.5 } },
    3,
    { ".....########...........", /* */
      ".....#......#...........", /* */
      ".....#......#...........", /* */
      ".....#......#...........", /* */
      ".....#......#...........", /* */
      ".....########..........." } },
  { "a box with thick lines",
    BOXES,
    2,
    24,
    14,
    { { 1, 5, 3, 8, 6, 30, 8.5, 5.5 } },
    3,
    { ".....########...........", /* */
      ".....########...........", /* */
      ".....##....##...........", /* */
      ".....##....##...........", /* */
      ".....########...........", /* */
      ".....########..........." } },
  { "boxes at the corners",
    BOXES,
    2,
    24,
    14,
    { { 1, 0, 0, 6, 6, 30, 2.5, 2.5 }, { 2, 18, 9, 6, 5, 30, 20.5, 11 } },
    0,
    { "######..................", /* */
      "######..................", /* */
      "##..##..................", /* */
      "##..##..................", /* */
      "######..................", /* */
      "######..................", /* */
      NULL,                       /* */
      NULL,                       /* */
      NULL,                       /* */
      "..................######", /* */
      "..................######", /* */
      "..................##..##", /* */
      "..................######", /* */
      "..................######" } },
  { "the whole frame, and a box too small for its lines",
    BOXES,
    2,
    24,
    14,
    { { 1, 0, 0, 24, 14, 99, 12, 6 }, { 2, 8, 5, 4, 5, 12, 9.5, 6 } },
    0,
    { "########################", /* */
      "########################", /* */
      "##....................##", /* */
      "##....................##", /* */
      "##....................##", /* */
      "##......####..........##", /* */
      "##......####..........##", /* */
      "##......####..........##", /* */
      "##......####..........##", /* */
      "##......####..........##", /* */
      "##....................##", /* */
      "##....................##", /* */
      "########################", /* */
      "########################" } },
  { "centroids, one of them at the edge",
    CENTROIDS,
    1,
    24,
    14,
    { { 1, 5, 3, 8, 6, 30, 8.49, 5.5 }, { 2, 0, 0, 3, 3, 9, 0, -0.4 } },
    0,
    { "###.....................", /* */
      "#.......................", /* */
      "#.......................", /* */
      NULL,                       /* */
      "........#...............", /* */
      "........#...............", /* */
      "......#####.............", /* */
      "........#...............", /* */
      "........#..............." } },
  { "a thick centroid",
    CENTROIDS,
    2,
    24,
    14,
    { { 1, 5, 3, 8, 6, 30, 8.49, 5.5 } },
    1,
    { ".......##...............", /* */
      ".......##...............", /* */
      ".......##...............", /* */
      ".......##...............", /* */
      "...##########...........", /* */
      "...##########...........", /* */
      ".......##...............", /* */
      ".......##...............", /* */
      ".......##...............", /* */
      ".......##..............." } },
  { "a centroid that was cut off",
    BOXES | CENTROIDS,
    1,
    24,
    14,
    { { 1, 0, 3, 3, 3, 30, -8.5, 4 } },
    3,
    { "###.....................", /* */
      "#.#.....................", /* */
      "###....................." } },
  { "components of a frame half as large",
    BOXES | CENTROIDS,
    1,
    12,
    7,
    { { 1, 1, 1, 3, 2, 5, 2.5, 1.5 }, { 2, 11, 6, 1, 1, 1, 11, 6 } },
    2,
    { "..######................", /* */
      "..#...##................", /* */
      "..#.#####...............", /* */
      "..######................", /* */
      "......#.................", /* */
      NULL,                       /* */
      NULL,                       /* */
      NULL,                       /* */
      NULL,                       /* */
      ".......................#", /* */
      "......................##", /* */
      ".....................###" } },
  { "components of a larger frame",
    BOXES,
    1,
    48,
    56,
    { { 1, 5, 8, 8, 30, 5, 2.5, 1.5 } },
    2,
    { "..#####.................", /* */
      "..#...#.................", /* */
      "..#...#.................", /* */
      "..#...#.................", /* */
      "..#...#.................", /* */
      "..#...#.................", /* */
      "..#...#.................", /* */
      "..#####................." } },
  { "a box that is partly outside, and one that is not inside",
    BOXES,
    1,
    24,
    14,
    { { 1, 20, 10, 100, 4294967295u, 5, 1, 1 }, { 2, 4294967295u, 3, 4294967295u, 3, 5, 1, 1 } },
    10,
    { "....................####", /* */
      "....................#..#", /* */
      "....................#..#", /* */
      "....................####" } },
};

static gchar
symbol (guint8 value)
{
  switch (value) {
  case 255:
    return '#';
  case BACKGROUND:
    return '.';
  default:
    return '?';
  }
}

/* Asserts that @buffer looks as expected. Takes ownership of it. */
static void
check_picture (const Picture *picture, GstBuffer *buffer)
{
  GString *got = g_string_new (NULL), *wanted = g_string_new (NULL);
  GstVideoFrame frame;
  GstVideoInfo info;
  guint x, y;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (y = 0; y < HEIGHT; y++) {
    const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                        y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    const gchar *expected = y < picture->first ? NULL : picture->expected[y - picture->first];

    for (x = 0; x < WIDTH; x++) {
      g_string_append_c (got, symbol (row[x]));
      g_string_append_c (wanted, expected ? expected[x] : '.');
    }
    g_string_append_c (got, '\n');
    g_string_append_c (wanted, '\n');
  }
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (buffer);

  fail_unless (g_string_equal (got, wanted), "%s looks like\n%sbut should look like\n%s",
               picture->name, got->str, wanted->str);
  g_string_free (got, TRUE);
  g_string_free (wanted, TRUE);
}

GST_START_TEST (test_pictures)
{
  const Picture *p = &pictures[__i__];
  GstHarness *h =
      ccl_overlay_harness_new (CAPS, "draw", p->draw, "line-width", p->line_width, NULL);
  GstBuffer *buffer = ccl_overlay_frame_new (WIDTH, HEIGHT, p->meta_width, p->meta_height,
                                             p->components, p->components[1].label ? 2 : 1);

  check_picture (p, gst_harness_push_and_pull (h, buffer));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A half-transparent colour is blended once, also where boxes cross. */
GST_START_TEST (test_alpha)
{
  static const GstCclComponent boxes[] = {
    { 1, 5, 3, 8, 6, 30, 8.5, 5.5 },
    { 2, 15, 1, 3, 12, 30, 8.5, 5.5 },
    { 3, 9, 5, 12, 6, 30, 8.5, 5.5 },
  };
  static const struct
  {
    guint x, y;
    gboolean drawn;
  } pixels[] = { { 5, 3, TRUE },   { 12, 5, TRUE },  { 15, 5, TRUE }, { 17, 10, TRUE },
                 { 20, 10, TRUE }, { 4, 3, FALSE },  { 6, 4, FALSE }, { 11, 6, FALSE },
                 { 16, 6, FALSE }, { 18, 1, FALSE }, { 9, 12, FALSE } };
  GstHarness *h = ccl_overlay_harness_new (CAPS, "color", 0x80ffffff, NULL);
  GstBuffer *buffer = gst_harness_push_and_pull (
      h, ccl_overlay_frame_new (WIDTH, HEIGHT, WIDTH, HEIGHT, boxes, G_N_ELEMENTS (boxes)));
  guint i;

  for (i = 0; i < G_N_ELEMENTS (pixels); i++) {
    guint8 pixel = ccl_overlay_pixel (buffer, pixels[i].x, pixels[i].y);

    fail_unless (pixels[i].drawn ? pixel >= 152 && pixel <= 154 : pixel == BACKGROUND,
                 "(%u, %u) is %u", pixels[i].x, pixels[i].y, pixel);
  }
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* By default, each component has its label's colour, as in cclcolor. */
GST_START_TEST (test_palette)
{
  const guint n = 20;
  GstHarness *h = ccl_overlay_harness_new (
      "video/x-raw,format=xRGB,width=160,height=8,framerate=1/1", "color", 0, NULL);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 160 * 8 * 4, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (buffer, 160, 8, n, NULL, 0);
  guint i;

  gst_buffer_memset (buffer, 0, BACKGROUND, 160 * 8 * 4);
  meta->components = g_new0 (GstCclComponent, n);
  meta->n_components = n;
  for (i = 0; i < n; i++) {
    GstCclComponent component = { 5000 * i + 1, 8 * i, 1, 5, 5, 9, 0.0, 0.0 };

    meta->components[i] = component;
  }

  buffer = gst_harness_push_and_pull (h, buffer);
  for (i = 0; i < n; i++) {
    guint8 pixel[4];

    gst_buffer_extract (buffer, (160 + 8 * i) * 4, pixel, 4);
    fail_unless_equals_int (GST_READ_UINT32_BE (pixel) & 0xffffff,
                            gst_ccl_label_get_color (5000 * i + 1));
  }
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Asserts that the box's outline is 100 in the visible part of the frame. */
static void
check_outline (GstBuffer *buffer, const GstCclComponent *component)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  guint right = component->width - 1, bottom = component->height - 1, x, y;
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, PICTURE_WIDTH, PICTURE_HEIGHT);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (y = 0; y <= bottom; y++) {
    for (x = 0; x <= right; x++) {
      guint column = component->x + x + (crop ? crop->x : 0);
      guint row = component->y + y + (crop ? crop->y : 0);
      const guint8 *pixels = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);

      if (x == 0 || y == 0 || x == right || y == bottom)
        fail_unless_equals_int (
            pixels[row * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + column], 100);
    }
  }
  gst_video_frame_unmap (&frame);
}

/* Read-only memory in every layout: only the outline in the visible part changes. */
GST_START_TEST (test_layouts)
{
  static const GstCclComponent component = { 1, 1, 1, 6, 4, 9, 0.0, 0.0 };
  GstHarness *h = ccl_overlay_harness_new (
      "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1", "color", 0xff646464, NULL);
  guint layout, i;

  for (layout = 0; layout < N_LAYOUTS; layout++) {
    GstBuffer *buffer = ccl_test_picture_new ("GRAY8", layout), *plain;
    GstMapInfo before, after;
    guint n_changed = 0;

    plain = gst_buffer_copy_deep (buffer);
    gst_buffer_add_ccl_meta (buffer, PICTURE_WIDTH, PICTURE_HEIGHT, 1, &component, 1);
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless_equals_int (gst_buffer_get_size (buffer), gst_buffer_get_size (plain));
    fail_unless (gst_buffer_map (plain, &before, GST_MAP_READ));
    fail_unless (gst_buffer_map (buffer, &after, GST_MAP_READ));
    for (i = 0; i < before.size; i++) {
      if (before.data[i] == after.data[i])
        continue;
      fail_unless_equals_int (after.data[i], 100);
      n_changed++;
    }
    fail_unless_equals_int (n_changed, 16);
    gst_buffer_unmap (plain, &before);
    gst_buffer_unmap (buffer, &after);
    check_outline (buffer, &component);
    gst_buffer_unref (plain);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A frame that was cropped behind cudaccl: the box is moved, not scaled. The other component is
 * outside. */
GST_START_TEST (test_later_crop)
{
  static const GstCclComponent components[] = { { 1, 12, 9, 6, 4, 9, 0.0, 0.0 },
                                                { 2, 50, 30, 6, 4, 9, 0.0, 0.0 } };
  static const GstCclComponent seen = { 1, 2, 1, 6, 4, 9, 0.0, 0.0 };
  GstHarness *h = ccl_overlay_harness_new (
      "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1", "color", 0xff646464, NULL);
  GstBuffer *buffer = ccl_overlay_frame_new (64, 48, 64, 48, components, 2), *plain;
  guint i, n_changed = 0;
  GstMapInfo map;

  ccl_test_crop (buffer, 64, 48, 10, 8, PICTURE_WIDTH, PICTURE_HEIGHT);
  buffer = gst_harness_push_and_pull (h, buffer);
  check_outline (buffer, &seen);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (i = 0; i < map.size; i++)
    n_changed += map.data[i] != BACKGROUND;
  fail_unless_equals_int (n_changed, 16);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);

  /* Both are outside. */
  plain = ccl_overlay_frame_new (64, 48, 64, 48, components, 2);
  ccl_test_crop (plain, 64, 48, 30, 8, PICTURE_WIDTH, PICTURE_HEIGHT);
  buffer = gst_harness_push_and_pull (h, gst_buffer_ref (plain));
  fail_unless (buffer == plain);
  gst_buffer_unref (plain);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A broken element crops beyond the frame: nothing is drawn outside of the frame's memory. */
static const struct
{
  guint x, y, width, height;
} hostile_crops[] = {
  { 2147483500, 0, 320, 240 },
  { 0, 2147483500, 320, 240 },
  { 4294967290u, 4294967290u, 320, 240 },
  { 0, 0, 2147483600, 240 },
  { 0, 0, 320, 2147483600 },
  { 4294967295u, 0, 4294967295u, 240 },
  { 200, 10, 320, 240 },
  { 0, 0, 0, 0 },
};

GST_START_TEST (test_hostile_crop)
{
  static const gchar *const formats[] = { "GRAY8", "RGBx", "I420", "v210", "NV12", "UYVP" };
  static const GstCclComponent components[] = { { 1, 2, 3, 20, 20, 9, 5.0, 5.0 },
                                                { 2, 140, 100, 150, 20, 9, 150.0, 110.0 } };
  guint i, j, k;

  for (i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *caps =
        g_strdup_printf ("video/x-raw,format=%s,width=320,height=240,framerate=1/1", formats[i]);
    GstHarness *h = ccl_overlay_harness_new (caps, "draw", BOXES | CENTROIDS | LABELS, NULL);
    GstVideoInfo info;
    GstCaps *fixed = gst_caps_from_string (caps);

    fail_unless (gst_video_info_from_caps (&info, fixed));
    gst_caps_unref (fixed);
    /* The metadata says that the components are of the frame, or of the cropped one. */
    for (j = 0; j < 2 * G_N_ELEMENTS (hostile_crops); j++) {
      GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
      GstVideoCropMeta *crop;
      guint width = j % 2 ? 320 : 160, height = j % 2 ? 240 : 120;

      gst_buffer_memset (buffer, 0, BACKGROUND, GST_VIDEO_INFO_SIZE (&info));
      gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (&info),
                                 320, 240);
      crop = gst_buffer_add_video_crop_meta (buffer);
      crop->x = hostile_crops[j / 2].x;
      crop->y = hostile_crops[j / 2].y;
      crop->width = hostile_crops[j / 2].width;
      crop->height = hostile_crops[j / 2].height;
      gst_buffer_add_ccl_meta (buffer, width, height, 2, components, 2);
      for (k = 0; k < 2; k++)
        gst_video_region_of_interest_meta_add_param (
            gst_buffer_add_video_region_of_interest_meta (buffer, "x", 1, 1, 3, 3),
            gst_structure_new ("cudaccl", "label", G_TYPE_UINT, k, NULL));
      ccl_test_push (h, buffer);
    }
    ccl_test_harness_free (h);
    g_free (caps);
  }
}
GST_END_TEST;

/* All coordinates are multiples of this, so that lines share chroma samples with nothing else. */
#define BLOCK 4
#define SIDE (12 * BLOCK)
#define COLOR 0xff20c040

static const GstCclComponent boxes[] = {
  { 1, 2 * BLOCK, 3 * BLOCK, 7 * BLOCK, 5 * BLOCK, 9, 0.0, 0.0 },
  { 2, 10 * BLOCK, 9 * BLOCK, 2 * BLOCK, 3 * BLOCK, 9, 0.0, 0.0 },
};

/* The line width is BLOCK. */
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

/* Unpacks a row to alpha and three channels of 8 bits. Deeper formats lose their low bits. */
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

/* The colour in the frame's colour space: three values of 0 to 255, in the order of unpacked
 * pixels. */
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

/* Asserts that the lines have the colour and all other pixels are unchanged. */
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

/* Every format except those with a palette. */
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
ccloverlay_suite (void)
{
  Suite *s = suite_create ("ccloverlay");
  TCase *tc;

  tc = tcase_create ("drawing");
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_pictures, 0, G_N_ELEMENTS (pictures));
  tcase_add_test (tc, test_alpha);
  tcase_add_test (tc, test_palette);
  tcase_add_test (tc, test_layouts);
  tcase_add_test (tc, test_later_crop);
  tcase_add_test (tc, test_hostile_crop);

  tc = tcase_create ("formats");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_formats);

  return s;
}

GST_CHECK_MAIN (ccloverlay);
