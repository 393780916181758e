/* cudaccl - tests of all elements that touch pixels, with frames whose metadata lies
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/sanitizer.h"

#include <string.h>

#define WIDTH 32
#define HEIGHT 16
/* A sanitizer guards the memory itself. */
#define GUARD (TEST_SANITIZER ? 0 : 65536)
#define BACKGROUND 60
#define GUARDED 0xa5

/* The elements, and the formats of their frames. */
static const struct
{
  const gchar *line;
  gboolean reads_chroma, bottom_up;
  const gchar *const *formats;
} elements[] = {
#define ANALYSED                                         \
  (const gchar *const[])                                 \
  {                                                      \
    "GRAY8", "NV12", "I420", "Y444", "RGB", "YUY2", NULL \
  }
  { "cudaccl backend=cpu", FALSE, FALSE, ANALYSED },
  { "cclcolor backend=cpu", FALSE, FALSE, ANALYSED },
  { "cclmotion", TRUE, FALSE, ANALYSED },
  { "cclmask", TRUE, FALSE, ANALYSED },
#ifdef HAVE_OVERLAY
#define DRAWN                                                                                     \
  (const gchar *const[])                                                                          \
  {                                                                                               \
    "GRAY8", "NV12", "I420", "Y444", "RGB", "YUY2", "BGRA", "RGB16", "P010_10LE", "v210", "UYVP", \
        "A420", "NV12_10LE32", "Y41B", "v308", "NV12_64Z32", "NV12_4L4", NULL                     \
  }
  /* Opaque shapes replace bytes, translucent ones are blended. */
  { "ccloverlay draw=boxes+centroids+zones line-width=2", TRUE, TRUE, DRAWN },
  { "ccloverlay draw=boxes+centroids+zones line-width=2 color=0x80ffffff", TRUE, TRUE, DRAWN },
#endif
};

/* A stride or an offset: a sum. */
typedef struct
{
  gint halves; /* of the plane's rows */
  gint sizes;  /* of the buffer */
  gint64 bytes;
} Value;

static const struct
{
  const gchar *name;
  gboolean sets_stride, sets_offset;
  Value stride, offset;
  gboolean from_last; /* the offset counts from where the last row would begin top down */
} lies[] = {
  { "stride of the buffer", TRUE, FALSE, { 0, 1, 0 } },
  { "stride of 1 MB", TRUE, FALSE, { 0, 0, 1 << 20 } },
  { "stride 2^31-1", TRUE, FALSE, { 0, 0, G_MAXINT } },
  { "stride -2^31", TRUE, FALSE, { 0, 0, G_MININT } },
  { "stride 0", TRUE, FALSE, { 0, 0, 0 } },
  { "stride 1", TRUE, FALSE, { 0, 0, 1 } },
  { "rows that overlap by a half", TRUE, FALSE, { 1, 0, 0 } },
  { "bottom up before the memory", TRUE, TRUE, { -2, 0, 0 }, { 0, 0, 0 } },
  { "bottom up, one byte before", TRUE, TRUE, { -2, 0, 0 }, { 0, 0, -1 }, TRUE },
  { "bottom up, beyond", TRUE, TRUE, { -2, 0, 0 }, { 0, 1, -1 } },
  { "offset of the last byte", FALSE, TRUE, { 0 }, { 0, 1, -1 } },
  { "offset of the end", FALSE, TRUE, { 0 }, { 0, 1, 0 } },
  { "offset in the next page", FALSE, TRUE, { 0 }, { 0, 1, 4096 } },
  { "offset -1", FALSE, TRUE, { 0 }, { 0, 0, -1 } },
  { "offset -4096", FALSE, TRUE, { 0 }, { 0, 0, -4096 } },
  { "offset 2^63", FALSE, TRUE, { 0 }, { 0, 0, G_MININT64 } },
  { "offset 2^63-1", FALSE, TRUE, { 0 }, { 0, 0, G_MAXINT64 } },
};

/* The memory of a frame, with guards at both ends that must not change. */
typedef struct
{
  guint8 *block;
  gsize size;
} Guarded;

static void
guarded_init (Guarded *self, gsize size)
{
  self->size = size;
  self->block = g_malloc (size + 2 * GUARD);
  memset (self->block, GUARDED, size + 2 * GUARD);
  memset (self->block + GUARD, BACKGROUND, size);
}

static void
guarded_check (const Guarded *self, const gchar *about)
{
  gsize i, n_changed = 0;

  for (i = 0; i < GUARD; i++)
    n_changed += self->block[i] != GUARDED || self->block[GUARD + self->size + i] != GUARDED;
  fail_unless (n_changed == 0, "%s: wrote outside of the memory", about);
}

static void
add_things_to_draw (GstBuffer *buffer)
{
  static const GstCclComponent components[] = {
    { 1, 0, 0, WIDTH, HEIGHT, 9, WIDTH / 2.0, HEIGHT / 2.0 },
    { 2, WIDTH - 4, HEIGHT - 4, 4, 4, 9, WIDTH - 2.0, HEIGHT - 2.0 },
  };
  gdouble points[] = { 0, 0, WIDTH - 1, 0, WIDTH - 1, HEIGHT - 1, 0, HEIGHT - 1 };
  GstCclZone zone = { (gchar *) "all", FALSE, 0, 4, points, 0, 0, 0 };

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 2, components, 2);
  gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, &zone, 1, NULL, 0);
}

static GstBuffer *
frame_new (Guarded *memory, const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstVideoInfo layout = *info;

  gst_buffer_append_memory (buffer, gst_memory_new_wrapped (0, memory->block + GUARD, memory->size,
                                                            0, memory->size, NULL, NULL));
  GST_BUFFER_PTS (buffer) = 0;
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  WIDTH, HEIGHT, GST_VIDEO_INFO_N_PLANES (info), layout.offset,
                                  layout.stride);
  add_things_to_draw (buffer);

  return buffer;
}

static GstHarness *
harness_new (const gchar *line, const gchar *format)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_parse ("%s", line), format, WIDTH, HEIGHT);

  if (g_str_has_prefix (line, "cclcolor"))
    gst_harness_set_sink_caps_str (h, "video/x-raw,format=RGB");

  return h;
}

static gint64
get_value (const Value *value, gint row, gsize size)
{
  return value->halves * (gint64) (row / 2) + value->sizes * (gint64) size + value->bytes;
}

/* Offsets below zero wrap around. */
static void
lie_about (GstBuffer *buffer, const GstVideoInfo *info, guint plane, guint lie)
{
  gint row = GST_VIDEO_INFO_PLANE_STRIDE (info, plane);
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  gsize size = gst_buffer_get_size (buffer);

  if (lies[lie].sets_stride)
    meta->stride[plane] = (gint) get_value (&lies[lie].stride, row, size);
  if (lies[lie].sets_offset)
    meta->offset[plane] = (gsize) get_value (&lies[lie].offset, row, size);
  if (lies[lie].from_last)
    meta->offset[plane] += (gsize) (GST_VIDEO_INFO_COMP_HEIGHT (info, plane) - 1) * (gsize) row;
}

/* Whether elements may take a lie, because they do not look at that plane. */
static gboolean
may_be_taken (guint element, guint plane)
{
  return plane > 0 && !elements[element].reads_chroma;
}

static void
check_lie (GstHarness *h, guint element, const GstVideoInfo *info, guint plane, guint lie)
{
  gchar *about = g_strdup_printf ("%s: %s in plane %u: %s", elements[element].line,
                                  GST_VIDEO_INFO_NAME (info), plane, lies[lie].name);
  GstBuffer *buffer;
  Guarded memory;
  GstFlowReturn flow;

  GST_INFO ("%s", about);
  guarded_init (&memory, GST_VIDEO_INFO_SIZE (info));
  buffer = frame_new (&memory, info);
  lie_about (buffer, info, plane, lie);
  flow = gst_harness_push (h, buffer);
  guarded_check (&memory, about);
  if (flow != GST_FLOW_OK || !may_be_taken (element, plane)) {
    fail_unless (flow == GST_FLOW_ERROR, "%s: was taken", about);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frame");
  }
  while ((buffer = gst_harness_try_pull (h)))
    gst_buffer_unref (buffer);
  ccl_test_drain (h);
  g_free (memory.block);
  g_free (about);
}

/* Whether a lie is about rows that a tiled format does not have. */
static gboolean
needs_rows (const GstVideoInfo *info, guint lie)
{
  return GST_VIDEO_FORMAT_INFO_IS_TILED (info->finfo) && lies[lie].sets_stride &&
         lies[lie].sets_offset;
}

GST_START_TEST (test_lies)
{
  const gchar *const *format;
  guint plane, lie;

  for (format = elements[__i__].formats; *format; format++) {
    GstHarness *h = harness_new (elements[__i__].line, *format);
    GstVideoInfo info;

    gst_video_info_set_format (&info, gst_video_format_from_string (*format), WIDTH, HEIGHT);
    for (plane = 0; plane < GST_VIDEO_INFO_N_PLANES (&info); plane++)
      for (lie = 0; lie < G_N_ELEMENTS (lies); lie++)
        if (!needs_rows (&info, lie))
          check_lie (h, __i__, &info, plane, lie);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* Odd layouts that are honest. */
typedef enum
{
  PACKED,
  LARGER, /* padding of rows and planes */
  CROPPED,
  PLANES,  /* a memory per plane */
  SPLIT,   /* planes that span two of three memories */
  OVERLAP, /* chroma is where luma is */
  BOTTOM_UP,
  N_SHAPES
} Shape;

static void
split_at (GstBuffer *buffer, const gsize *at, guint n)
{
  GstMemory *all = gst_buffer_get_all_memory (buffer);
  guint i;

  gst_buffer_remove_all_memory (buffer);
  for (i = 0; i + 1 < n; i++)
    gst_buffer_append_memory (buffer,
                              gst_memory_copy (all, (gssize) at[i], (gssize) (at[i + 1] - at[i])));
  gst_memory_unref (all);
}

static GstBuffer *
shape_new (Guarded *memory, const GstVideoInfo *info, Shape shape)
{
  GstVideoInfo larger = *info;
  gsize at[GST_VIDEO_MAX_PLANES + 1] = { 0 };
  GstVideoCropMeta *crop;
  GstBuffer *buffer;
  GstVideoMeta *meta;
  guint i;

  if (shape == LARGER || shape == CROPPED)
    gst_video_info_set_format (&larger, GST_VIDEO_INFO_FORMAT (info), WIDTH + 16, HEIGHT + 8);
  guarded_init (memory, GST_VIDEO_INFO_SIZE (&larger));
  buffer = frame_new (memory, &larger);
  meta = gst_buffer_get_video_meta (buffer);

  switch (shape) {
  case CROPPED:
    meta->width = WIDTH + 16;
    meta->height = HEIGHT + 8;
    crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = 16;
    crop->y = 8;
    crop->width = WIDTH;
    crop->height = HEIGHT;
    break;
  case PLANES:
    for (i = 0; i < meta->n_planes; i++)
      at[i] = meta->offset[i];
    at[i] = memory->size;
    split_at (buffer, at, meta->n_planes + 1);
    break;
  case SPLIT:
    at[1] = memory->size / 5;
    at[2] = memory->size / 5 * 4 + 1;
    at[3] = memory->size;
    split_at (buffer, at, 4);
    break;
  case OVERLAP:
    for (i = 1; i < meta->n_planes; i++)
      meta->offset[i] = 0;
    break;
  case BOTTOM_UP:
    for (i = 0; i < meta->n_planes; i++) {
      meta->offset[i] +=
          (gsize) (GST_VIDEO_INFO_COMP_HEIGHT (info, i) - 1) * (gsize) meta->stride[i];
      meta->stride[i] = -meta->stride[i];
    }
    break;
  default:
    break;
  }

  return buffer;
}

/* The components of the visible part, top down. */
static GByteArray *
get_pixels (GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  GByteArray *bytes = g_byte_array_new ();
  guint i, x = crop ? crop->x : 0, y = crop ? crop->y : 0;
  gint row;

  for (i = 0; i < GST_VIDEO_INFO_N_COMPONENTS (info); i++) {
    const GstVideoFormatInfo *format = info->finfo;
    guint plane = GST_VIDEO_INFO_COMP_PLANE (info, i);
    gint pixel = GST_VIDEO_INFO_COMP_PSTRIDE (info, i), k;

    for (row = 0; row < GST_VIDEO_INFO_COMP_HEIGHT (info, i); row++) {
      for (k = 0; k < GST_VIDEO_INFO_COMP_WIDTH (info, i); k++) {
        gint64 at =
            (gint64) meta->offset[plane] +
            ((gint64) (y >> GST_VIDEO_FORMAT_INFO_H_SUB (format, i)) + row) * meta->stride[plane] +
            ((gint64) (x >> GST_VIDEO_FORMAT_INFO_W_SUB (format, i)) + k) * pixel +
            GST_VIDEO_INFO_COMP_POFFSET (info, i);
        guint8 value;

        fail_unless_equals_int (gst_buffer_extract (buffer, (gsize) at, &value, 1), 1);
        g_byte_array_append (bytes, &value, 1);
      }
    }
  }

  return bytes;
}

/* All shapes of a frame are taken, and ccloverlay draws the same on them. */
GST_START_TEST (test_honest_shapes)
{
  const gchar *const *format;
  guint shape;

  for (format = elements[__i__].formats; *format; format++) {
    GstHarness *h = harness_new (elements[__i__].line, *format);
    GByteArray *expected = NULL;
    GstVideoInfo info;

    gst_video_info_set_format (&info, gst_video_format_from_string (*format), WIDTH, HEIGHT);
    for (shape = 0; shape < N_SHAPES; shape++) {
      gboolean tiled = GST_VIDEO_FORMAT_INFO_IS_TILED (info.finfo);
      gchar *about = g_strdup_printf ("%s: %s in shape %u", elements[__i__].line, *format, shape);
      GByteArray *pixels;
      GstBuffer *buffer;
      Guarded memory;

      GST_INFO ("%s", about);
      if ((shape == BOTTOM_UP && (!elements[__i__].bottom_up || tiled)) ||
          (shape == CROPPED && GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0) <= 0)) {
        g_free (about);
        continue;
      }
      buffer = shape_new (&memory, &info, (Shape) shape);
      fail_unless (gst_harness_push (h, buffer) == GST_FLOW_OK, "%s: was refused", about);
      buffer = gst_harness_pull (h);
      if (elements[__i__].bottom_up && shape != OVERLAP &&
          GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0) > 0 && !tiled) {
        pixels = get_pixels (buffer, &info);
        if (expected) {
          fail_unless (pixels->len == expected->len &&
                           memcmp (pixels->data, expected->data, pixels->len) == 0,
                       "%s: was drawn differently", about);
          g_byte_array_unref (pixels);
        } else {
          expected = pixels;
        }
      }
      gst_buffer_unref (buffer);
      guarded_check (&memory, about);
      g_free (memory.block);
      g_free (about);
    }
    g_clear_pointer (&expected, g_byte_array_unref);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* Rows at odd addresses are drawn on or refused. */
GST_START_TEST (test_unaligned)
{
  const gchar *const *format;
  gsize at;

  for (format = elements[__i__].formats; *format; format++) {
    GstHarness *h = harness_new (elements[__i__].line, *format);
    GstVideoInfo info;

    gst_video_info_set_format (&info, gst_video_format_from_string (*format), WIDTH, HEIGHT);
    for (at = 1; at < 8; at++) {
      Guarded memory;
      GstBuffer *buffer;
      GstVideoMeta *meta;
      GstFlowReturn flow;
      guint i;

      guarded_init (&memory, 2 * GST_VIDEO_INFO_SIZE (&info));
      buffer = frame_new (&memory, &info);
      meta = gst_buffer_get_video_meta (buffer);
      for (i = 0; i < meta->n_planes; i++) {
        meta->offset[i] += at;
        if (!GST_VIDEO_FORMAT_INFO_IS_TILED (info.finfo))
          meta->stride[i] += (gint) (at / 2);
      }
      flow = gst_harness_push (h, buffer);
      guarded_check (&memory, *format);
      if (flow != GST_FLOW_OK)
        ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "aligned");
      while ((buffer = gst_harness_try_pull (h)))
        gst_buffer_unref (buffer);
      ccl_test_drain (h);
      g_free (memory.block);
    }
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static Suite *
cclhostileframes_suite (void)
{
  Suite *s = suite_create ("cclhostileframes");
  TCase *tc = tcase_create ("frames");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_lies, 0, G_N_ELEMENTS (elements));
  tcase_add_loop_test (tc, test_honest_shapes, 0, G_N_ELEMENTS (elements));
  tcase_add_loop_test (tc, test_unaligned, 0, G_N_ELEMENTS (elements));

  return s;
}

GST_CHECK_MAIN (cclhostileframes);
