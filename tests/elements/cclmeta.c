/* cudaccl - tests of libgstccl: metadata, transport between processes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmetatest.h"
#include "tests/lib/ccltest.h"

#include <math.h>
#include <string.h>

/* Programs rely on where the members are. */
#if GLIB_SIZEOF_VOID_P == 8
#define LAYOUT(type, size, last, offset) \
  G_STATIC_ASSERT (sizeof (type) == (size) && G_STRUCT_OFFSET (type, last) == (offset))

LAYOUT (GstCclComponent, 152, luma_max, 148);
LAYOUT (GstCclMeta, 64, signatures, 56);
LAYOUT (GstCclZone, 56, inside, 48);
LAYOUT (GstCclZoneEvent, 80, class_id, 72);
LAYOUT (GstCclZonesMeta, 56, class_names, 48);
#endif

static const GstCclComponent components[] = {
  { 1, 2, 1, 6, 4, 20, 4.0, 2.5 },
  { 2, 12, 6, 1, 1, 1, 12.0, 6.0 },
  { 3, 3, 5, 5, 2, 10, 5.0, 5.5 },
};

static GstBuffer *
buffer_with_components (guint width, guint height)
{
  GstBuffer *buffer = ccl_test_black_new (width, height);

  fail_unless (gst_buffer_add_ccl_meta (buffer, width, height, 5, components,
                                        G_N_ELEMENTS (components)) != NULL);

  return buffer;
}

static void
set_names (GstCclMeta *meta)
{
  static const gchar *const strings[] = { "person", "\xffthing", NULL };

  ccl_test_set_names (meta, strings);
}

static void
check_names (const GstCclMeta *meta)
{
  GstCclClassNames *names = gst_ccl_meta_get_class_names (meta);

  fail_unless (names != NULL);
  fail_unless_equals_int (gst_ccl_class_names_get_n_names (names), 2);
  fail_unless (gst_ccl_meta_get_class_name (meta, 0) == NULL);
  fail_unless_equals_string (gst_ccl_meta_get_class_name (meta, 1), "person");
  fail_unless_equals_string (gst_ccl_meta_get_class_name (meta, 2), "\xef\xbf\xbdthing");
  fail_unless (gst_ccl_meta_get_class_name (meta, 3) == NULL);
  fail_unless (gst_ccl_meta_get_class_name (meta, G_MAXUINT) == NULL);
}

static void
check_meta (GstCclMeta *meta, guint width, guint height, guint found,
            const GstCclComponent *expected, guint n)
{
  guint i;

  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->width, width);
  fail_unless_equals_int (meta->height, height);
  fail_unless_equals_int (meta->found, found);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), n);
  for (i = 0; i < n; i++)
    ccl_test_check_component (gst_ccl_meta_get_component (meta, i), &expected[i], 1e-6);
  fail_unless (gst_ccl_meta_get_component (meta, n) == NULL);
}

/* Shapes are copied, and scaled with the frame. */
GST_START_TEST (test_features)
{
  GstCclComponent component = { .label = 1,
                                .x = 2,
                                .y = 1,
                                .width = 6,
                                .height = 4,
                                .area = 20,
                                .features = GST_CCL_FEATURE_ELLIPSE | GST_CCL_FEATURE_HOLES |
                                            GST_CCL_FEATURE_PERIMETER | GST_CCL_FEATURE_LUMA,
                                .holes = 2,
                                .perimeter = 16.5,
                                .orientation = 0.25,
                                .major_axis = 6.0,
                                .minor_axis = 3.0,
                                .luma_mean = 200.5,
                                .luma_min = 190,
                                .luma_max = 255 };
  GstBuffer *buffer = ccl_test_black_new (16, 8), *copy;
  GstCclMeta *meta;
  const GstCclComponent *got;

  meta = gst_buffer_add_ccl_meta (buffer, 16, 8, 1, &component, 1);
  copy = gst_buffer_copy (buffer);
  got = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (copy), 0);
  fail_unless (memcmp (got, &component, sizeof (component)) == 0);
  gst_buffer_unref (copy);

  copy = ccl_test_scaled_new (buffer, &meta->meta, 16, 8, 32, 16);
  got = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (copy), 0);
  fail_unless_equals_int (got->features, component.features);
  fail_unless_equals_int (got->holes, 2);
  fail_unless_equals_int (got->luma_max, 255);
  fail_unless (ABS (got->perimeter - 33.0) < 1e-9 && ABS (got->orientation - 0.25) < 1e-9 &&
               ABS (got->major_axis - 12.0) < 1e-9 && ABS (got->minor_axis - 6.0) < 1e-9);
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
}
GST_END_TEST;

GST_START_TEST (test_boxed)
{
  GstCclComponent *copy = g_boxed_copy (GST_TYPE_CCL_COMPONENT, &components[0]);

  fail_unless (copy != &components[0]);
  ccl_test_check_component (copy, &components[0], 1e-6);
  g_boxed_free (GST_TYPE_CCL_COMPONENT, copy);
}
GST_END_TEST;

GST_START_TEST (test_type)
{
  const GstMetaInfo *info;
  const gchar *const *tags = gst_meta_api_type_get_tags (GST_CCL_META_API_TYPE);

  fail_unless_equals_int (g_strv_length ((gchar **) tags), 3);
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_STR));
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_SIZE_STR));
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_ORIENTATION_STR));
  fail_unless (GST_CCL_META_INFO != NULL);
  info = GST_CCL_META_INFO; /* registers the type */
  fail_unless (info && info == gst_meta_get_info ("GstCclMeta"));
}
GST_END_TEST;

GST_START_TEST (test_add_replaces)
{
  GstBuffer *buffer = buffer_with_components (13, 7);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  check_meta (meta, 13, 7, 5, components, 3);

  /* The argument is the array that is replaced and freed. */
  gst_buffer_add_ccl_meta (buffer, 14, 8, 9, &meta->components[1], 2);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE), 1);
  check_meta (gst_buffer_get_ccl_meta (buffer), 14, 8, 9, &components[1], 2);

  gst_buffer_add_ccl_meta (buffer, 14, 8, 0, NULL, 0);
  check_meta (gst_buffer_get_ccl_meta (buffer), 14, 8, 0, NULL, 0);

  g_test_expect_message ("GStreamer-Ccl", G_LOG_LEVEL_CRITICAL, "*found >= n_components*");
  fail_unless (gst_buffer_add_ccl_meta (buffer, 14, 8, 1, components, 2) == NULL);
  g_test_assert_expected_messages ();
  gst_buffer_unref (buffer);
}
GST_END_TEST;

GST_START_TEST (test_copy_is_deep)
{
  GstBuffer *buffer = buffer_with_components (13, 7);
  GstBuffer *copies[3];
  guint i;

  copies[0] = gst_buffer_copy (buffer);
  copies[1] = gst_buffer_copy_deep (buffer);
  copies[2] = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 16, 32);

  memset (gst_buffer_get_ccl_meta (buffer)->components, 0, sizeof (components));
  gst_buffer_unref (buffer);

  for (i = 0; i < G_N_ELEMENTS (copies); i++) {
    check_meta (gst_buffer_get_ccl_meta (copies[i]), 13, 7, 5, components, 3);
    gst_buffer_unref (copies[i]);
  }
}
GST_END_TEST;

/* Copies and scaled frames share the names; they stay when the first one goes, and go with metadata
 * that is replaced. */
GST_START_TEST (test_class_names)
{
  GstBuffer *buffer = buffer_with_components (13, 7), *copies[3];
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstCclClassNames *names;
  guint i;

  fail_unless (gst_ccl_meta_get_class_names (meta) == NULL);
  fail_unless (gst_ccl_meta_get_class_name (meta, 1) == NULL);
  set_names (meta);
  names = gst_ccl_meta_get_class_names (meta);
  gst_ccl_meta_set_class_names (meta, names);
  check_names (meta);

  copies[0] = gst_buffer_copy (buffer);
  copies[1] = gst_buffer_copy_deep (buffer);
  copies[2] = ccl_test_scaled_new (buffer, &meta->meta, 13, 7, 13, 7);
  fail_unless (gst_ccl_meta_crop (meta, 1, 1, 5, 5));
  check_names (meta);
  gst_ccl_meta_set_class_names (meta, NULL);
  fail_unless (gst_ccl_meta_get_class_names (meta) == NULL);
  gst_buffer_unref (buffer);

  for (i = 0; i < G_N_ELEMENTS (copies); i++) {
    meta = gst_buffer_get_ccl_meta (copies[i]);
    fail_unless (gst_ccl_meta_get_class_names (meta) == names);
    check_names (meta);
    meta = gst_buffer_add_ccl_meta (copies[i], 13, 7, 0, NULL, 0);
    fail_unless (gst_ccl_meta_get_class_names (meta) == NULL);
    gst_buffer_unref (copies[i]);
  }
}
GST_END_TEST;

/* A component, and the same after scaling. */
static const struct
{
  guint in_width, in_height, out_width, out_height;
  GstCclComponent in, out;
} scales[] = {
  /* A single pixel becomes four; the centroid is between them. */
  { 13, 7, 26, 14, { 1, 3, 1, 1, 1, 1, 3.0, 1.0 }, { 1, 6, 2, 2, 2, 4, 6.5, 2.5 } },
  /* A component smaller than a pixel of the result keeps one. */
  { 12, 8, 6, 2, { 1, 11, 7, 1, 1, 1, 11.0, 7.0 }, { 1, 5, 1, 1, 1, 1, 5.25, 1.375 } },
  { 4, 4, 3, 3, { 1, 1, 0, 2, 4, 8, 1.5, 1.5 }, { 1, 0, 0, 3, 3, 5, 1.0, 1.0 } },
  /* Edges on pixel boundaries stay there, although 1/3 is not exact. */
  { 147, 3, 49, 1, { 1, 3, 0, 144, 3, 432, 74.5, 1.0 }, { 1, 1, 0, 48, 1, 48, 24.5, 0.0 } },
  /* The whole frame. */
  { 7, 7, 5, 3, { 1, 0, 0, 7, 7, 49, 3.0, 3.0 }, { 1, 0, 0, 5, 3, 15, 2.0, 1.0 } },
  { 1, 1, 100, 1, { 1, 0, 0, 1, 1, 1, 0.0, 0.0 }, { 1, 0, 0, 100, 1, 100, 49.5, 0.0 } },
  /* Areas beyond 32 bits. */
  { 65535,
    65535,
    32767,
    65535,
    { 1, 0, 0, 65535, 65535, G_GUINT64_CONSTANT (4294836225), 32767.0, 32767.0 },
    { 1, 0, 0, 32767, 65535, G_GUINT64_CONSTANT (2147385345), 16383.0, 32767.0 } },
  /* Velocities are in pixels of the new frame. */
  { 4,
    4,
    8,
    12,
    { 1, 1, 1, 2, 2, 4, 1.5, 1.5, 7, 9, 5, -3.0, 1.5, 2, 1, 0.75 },
    { 1, 2, 3, 4, 6, 24, 3.5, 5.5, 7, 9, 5, -6.0, 4.5, 2, 1, 0.75 } },
  /* No change of size. */
  { 13, 7, 13, 7, { 1, 2, 1, 6, 4, 20, 4.0, 2.5 }, { 1, 2, 1, 6, 4, 20, 4.0, 2.5 } },
};

GST_START_TEST (test_scale)
{
  GstBuffer *in = gst_buffer_new (), *out;
  GstCclMeta *meta;

  meta = gst_buffer_add_ccl_meta (in, scales[__i__].in_width, scales[__i__].in_height, 3,
                                  &scales[__i__].in, 1);
  out = ccl_test_scaled_new (in, &meta->meta, scales[__i__].in_width, scales[__i__].in_height,
                             scales[__i__].out_width, scales[__i__].out_height);
  check_meta (gst_buffer_get_ccl_meta (out), scales[__i__].out_width, scales[__i__].out_height, 3,
              &scales[__i__].out, 1);
  ccl_test_check_component (gst_ccl_meta_get_component (meta, 0), &scales[__i__].in, 1e-6);

  /* Old scalers copy the metadata as well, afterwards. */
  gst_buffer_copy_into (out, in, GST_BUFFER_COPY_METADATA, 0, -1);
  check_meta (gst_buffer_get_ccl_meta (out), scales[__i__].out_width, scales[__i__].out_height, 3,
              &scales[__i__].out, 1);

  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* Sizes and components that no frame has: the result, if any, is a frame with components inside
 * it. Criticals are fatal. */
GST_START_TEST (test_scale_odd)
{
  static const guint sizes[] = { 0, 1, 13, G_MAXINT, 1u << 31, G_MAXUINT };
  static const guint n = G_N_ELEMENTS (sizes);
  guint i;

  for (i = 0; i < n * n * n; i++) {
    guint size = sizes[i % n], in_size = sizes[i / n % n], out_size = sizes[i / n / n];
    GstCclComponent odd = { 1, size, G_MAXUINT, G_MAXUINT, size, G_MAXUINT64, NAN, INFINITY };
    GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
    GstVideoInfo in_info, out_info;
    GstVideoMetaTransform trans = { &in_info, &out_info };
    GstCclMeta *meta = gst_buffer_add_ccl_meta (in, size, size, 1, &odd, 1);

    gst_video_info_init (&in_info);
    gst_video_info_init (&out_info);
    in_info.width = in_info.height = (gint) in_size;
    out_info.width = out_info.height = (gint) out_size;
    GST_CCL_META_INFO->transform_func (out, &meta->meta, in,
                                       gst_video_meta_transform_scale_get_quark (), &trans);
    meta = gst_buffer_get_ccl_meta (out);
    if (meta) {
      const GstCclComponent *scaled = gst_ccl_meta_get_component (meta, 0);

      fail_unless (meta->width > 0 && meta->width <= G_MAXINT && scaled->width > 0 &&
                       (guint64) scaled->x + scaled->width <= meta->width && scaled->height > 0 &&
                       (guint64) scaled->y + scaled->height <= meta->height,
                   "%u x %u to %u", size, in_size, out_size);
    }
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
}
GST_END_TEST;

GST_START_TEST (test_unknown_transform)
{
  GstBuffer *in = buffer_with_components (13, 7), *out = gst_buffer_new ();

  fail_if (GST_CCL_META_INFO->transform_func (out, &gst_buffer_get_ccl_meta (in)->meta, in,
                                              g_quark_from_static_string ("test-transform"), NULL));
  fail_unless (gst_buffer_get_ccl_meta (out) == NULL);

  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* GStreamer's scaler scales the metadata. */
GST_START_TEST (test_videoscale)
{
  static const GstCclComponent expected[] = {
    { 1, 4, 3, 12, 12, 120, 8.5, 8.5 },
    { 2, 24, 18, 2, 3, 6, 24.5, 19.0 },
    { 3, 6, 15, 10, 6, 60, 10.5, 17.5 },
  };
  GstHarness *h = gst_harness_new ("videoscale");
  GstBuffer *buffer;

  gst_harness_set_caps_str (h, "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1",
                            "video/x-raw,format=GRAY8,width=26,height=21,framerate=1/1");
  buffer = gst_harness_push_and_pull (h, buffer_with_components (13, 7));
  check_meta (gst_buffer_get_ccl_meta (buffer), 26, 21, 5, expected, 3);

  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

static const struct
{
  guint x, y, width, height;
  gboolean fits;
  guint found, n;
  GstCclComponent out[3];
} crops[] = {
  /* The whole frame. */
  { 0,
    0,
    13,
    7,
    TRUE,
    5,
    3,
    { { 1, 2, 1, 6, 4, 20, 4.0, 2.5 },
      { 2, 12, 6, 1, 1, 1, 12.0, 6.0 },
      { 3, 3, 5, 5, 2, 10, 5.0, 5.5 } } },
  /* One is cut, one dropped, one moved; two that were never listed still count as found. */
  { 3, 2, 9, 5, TRUE, 4, 2, { { 1, 0, 0, 5, 3, 20, 1.0, 0.5 }, { 3, 0, 3, 5, 2, 10, 2.0, 3.5 } } },
  /* A box that only touches the crop rectangle is outside. */
  { 8, 5, 4, 2, TRUE, 2, 0, { { 0, 0, 0, 0, 0, 0, 0.0, 0.0 } } },
  { 7, 4, 1, 1, TRUE, 3, 1, { { 1, 0, 0, 1, 1, 20, -3.0, -1.5 } } },
  { 0, 0, 0, 7, FALSE, 5, 3, { { 0, 0, 0, 0, 0, 0, 0.0, 0.0 } } },
  { 1, 0, 13, 7, FALSE, 5, 3, { { 0, 0, 0, 0, 0, 0, 0.0, 0.0 } } },
  { 0, G_MAXUINT, 1, 1, FALSE, 5, 3, { { 0, 0, 0, 0, 0, 0, 0.0, 0.0 } } },
};

GST_START_TEST (test_crop)
{
  GstBuffer *buffer = buffer_with_components (13, 7);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  gboolean fits = gst_ccl_meta_crop (meta, crops[__i__].x, crops[__i__].y, crops[__i__].width,
                                     crops[__i__].height);

  fail_unless_equals_int (fits, crops[__i__].fits);
  if (fits)
    check_meta (meta, crops[__i__].width, crops[__i__].height, crops[__i__].found, crops[__i__].out,
                crops[__i__].n);
  else
    check_meta (meta, 13, 7, 5, components, 3);

  gst_buffer_unref (buffer);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 28, 0)
/* Scaled by two from and to a rectangle, with cropping at its edges; and a quarter turn. */
GST_START_TEST (test_matrix)
{
  static const gfloat turn[3][3] = { { 0, -1, 7 }, { 1, 0, 0 }, { 0, 0, 1 } };
  static const GstCclComponent scaled[] = { { 1, 9, 1, 10, 6, 80, 11.5, 2.5 },
                                            { 3, 9, 7, 10, 4, 40, 13.5, 8.5 } };
  static const GstCclComponent turned[] = { { 1, 2, 2, 4, 6, 20, 3.5, 4.0 },
                                            { 2, 0, 12, 1, 1, 1, 0.0, 12.0 },
                                            { 3, 0, 3, 2, 5, 10, 0.5, 5.0 } };
  GstVideoRectangle in_rect = { 3, 2, 9, 5 }, out_rect = { 9, 1, 18, 10 };
  GstVideoRectangle all = { 0, 0, 13, 7 }, frame = { 0, 0, 7, 13 };
  GstBuffer *in = buffer_with_components (13, 7), *out = gst_buffer_new ();
  GstVideoMetaTransformMatrix trans;
  GstVideoInfo in_info, out_info;
  GstMeta *meta = &gst_buffer_get_ccl_meta (in)->meta;
  GQuark quark = gst_video_meta_transform_matrix_get_quark ();

  gst_video_info_set_format (&in_info, GST_VIDEO_FORMAT_GRAY8, 13, 7);
  gst_video_info_set_format (&out_info, GST_VIDEO_FORMAT_GRAY8, 40, 12);
  gst_video_meta_transform_matrix_init (&trans, &in_info, &in_rect, &out_info, &out_rect);
  fail_unless (GST_CCL_META_INFO->transform_func (out, meta, in, quark, &trans));
  check_meta (gst_buffer_get_ccl_meta (out), 40, 12, 4, scaled, 2);

  gst_video_info_set_format (&out_info, GST_VIDEO_FORMAT_GRAY8, 7, 13);
  gst_video_meta_transform_matrix_init (&trans, &in_info, &all, &out_info, &frame);
  memcpy (trans.matrix, turn, sizeof (turn));
  fail_unless (GST_CCL_META_INFO->transform_func (out, meta, in, quark, &trans));
  check_meta (gst_buffer_get_ccl_meta (out), 7, 13, 5, turned, 3);

  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* A component whose centroid and velocity are projected. Nothing is where the projection has no
 * place for it: no number that is not finite goes on. */
GST_START_TEST (test_projection)
{
  static const struct
  {
    const gchar *name;
    gfloat matrix[3][3];
    gdouble velocity[2], centroid_x;
    gboolean kept;
    gdouble projected[2]; /* the velocity */
  } cases[] = {
    { "a turn", { { 0, -1, 7 }, { 1, 0, 0 }, { 0, 0, 1 } }, { 3, -1 }, 4, TRUE, { 1, 3 } },
    { "a mirror", { { -1, 0, 13 }, { 0, 1, 0 }, { 0, 0, 1 } }, { 3, -1 }, 4, TRUE, { -3, -1 } },
    { "behind", { { 1, 0, 0 }, { 0, 1, 0 }, { 0.25f, 0, -1 } }, { 0, 0 }, 4, FALSE },
    { "not a number", { { NAN, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { 0, 0 }, 4, FALSE },
    { "infinite", { { INFINITY, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { 0, 0 }, 4, FALSE },
    { "a centroid at the horizon",
      { { 1, 0, 0 }, { 0, 1, 0 }, { -0.0625f, 0, 1 } },
      { 0, 0 },
      15.5,
      FALSE },
    { "a velocity to the horizon",
      { { 1, 0, 0 }, { 0, 1, 0 }, { -0.0625f, 0, 1 } },
      { 11.5 * 1024, 0 },
      4,
      TRUE,
      { 0, 0 } },
    { "a velocity beyond the horizon",
      { { 1, 0, 0 }, { 0, 1, 0 }, { -0.0625f, 0, 1 } },
      { 1e9, 0 },
      4,
      TRUE,
      { 0, 0 } },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
    GstVideoRectangle rectangle = { 0, 0, 13, 13 };
    GstCclComponent component = components[0];
    GstVideoMetaTransformMatrix trans;
    GstVideoInfo info;
    GstCclMeta *meta;

    component.centroid_x = cases[i].centroid_x;
    component.velocity_x = cases[i].velocity[0];
    component.velocity_y = cases[i].velocity[1];
    meta = gst_buffer_add_ccl_meta (in, 13, 13, 1, &component, 1);
    gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, 13, 13);
    gst_video_meta_transform_matrix_init (&trans, &info, &rectangle, &info, &rectangle);
    memcpy (trans.matrix, cases[i].matrix, sizeof (trans.matrix));
    fail_unless (GST_CCL_META_INFO->transform_func (
        out, &meta->meta, in, gst_video_meta_transform_matrix_get_quark (), &trans));
    meta = gst_buffer_get_ccl_meta (out);
    fail_unless (meta->n_components == (guint) cases[i].kept, "%s: %u", cases[i].name,
                 meta->n_components);
    if (cases[i].kept) {
      const GstCclComponent *got = &meta->components[0];

      fail_unless (isfinite (got->centroid_x) && isfinite (got->centroid_y));
      fail_unless (ABS (got->velocity_x - cases[i].projected[0]) < 1e-6 &&
                       ABS (got->velocity_y - cases[i].projected[1]) < 1e-6,
                   "%s: %f, %f", cases[i].name, got->velocity_x, got->velocity_y);
    }
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
}
GST_END_TEST;
#endif

#if GST_CHECK_VERSION(1, 24, 0)
static void
check_round_trip (guint width, guint height, const GstCclComponent *expected, guint n,
                  gsize max_size)
{
  GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
  GByteArray *data = g_byte_array_new ();
  guint32 consumed = 0;
  GstCclMeta *meta = gst_buffer_add_ccl_meta (in, width, height, n + 3, expected, n);
  guint i;

  set_names (meta);
  fail_unless (gst_meta_serialize_simple (&meta->meta, data));
  fail_unless (data->len <= max_size, "%u components take %u bytes", n, data->len);
  meta = (GstCclMeta *) gst_meta_deserialize (out, data->data, data->len, &consumed);
  fail_unless (meta != NULL);
  fail_unless_equals_int (consumed, data->len);
  check_meta (meta, width, height, n + 3, expected, n);
  check_names (meta);
  /* Doubles to the last bit. */
  for (i = 0; i < n; i++)
    ccl_test_check_component (gst_ccl_meta_get_component (meta, i), &expected[i], 0.0);
  /* With shapes. */
  fail_unless (n == 0 ||
               memcmp (&meta->components[n - 1], &expected[n - 1], sizeof (*expected)) == 0);

  g_byte_array_unref (data);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}

GST_START_TEST (test_serialize)
{
  static const GstCclComponent odd[] = {
    /* Labels with gaps and repeats, centroids that are no quotient or outside of the box. */
    { G_MAXUINT, 5, 900, 1, 1, 1, 5.25, -0.0, 7, 0, 5, -3.0, 1.5 },
    { 0, G_MAXINT - 1, 0, 1, G_MAXINT, G_MAXUINT64, -1e300, 1e-300 },
    { 1, 0, G_MAXINT - 1, G_MAXINT, 1, 1, G_MAXUINT, 3.0, 0, 0, G_MAXUINT64, 0.0, G_MINDOUBLE },
    { 1, 1, 1, 3, 3, G_MAXUINT, 2.0, 2.0, G_MAXUINT, 0, G_MAXUINT64, -1e300, 1e300 },
    { 2, 1, 1, 3, 3, 9, 2.0, 2.0, 1, 0, 1, 0.0, 0.0, 2, 0, 0.7 },
    { 3, 1, 1, 3, 3, 9, 2.0, 2.0, 0, 0, 0, 0.0, 0.0, G_MAXUINT, 0, 1.0 },
    { 4, 1, 1, 3, 3, 9, 2.0, 2.0, 0, 0, 0, 0.0, 0.0, 0, 0, G_MINDOUBLE },
    { 5, 1, 1, 3, 3, 9, 2.0, 2.0, 0, 0, 0, 0.0, -1e-300 },
    { .label = 6,
      .x = 1,
      .y = 1,
      .width = 3,
      .height = 3,
      .area = 9,
      .centroid_x = 2.0,
      .centroid_y = 2.0,
      .features = GST_CCL_FEATURE_LUMA | GST_CCL_FEATURE_HOLES,
      .holes = G_MAXUINT,
      .perimeter = 1e300,
      .orientation = -1.5,
      .major_axis = 3.0,
      .minor_axis = 1e-300,
      .luma_mean = 200.5,
      .luma_min = 190,
      .luma_max = 255 },
  };
  static const GstCclComponent standing[] = {
    { 1, 1, 1, 3, 3, 9, 2.0, 2.0, 0, G_MAXUINT, .flags = GST_CCL_COMPONENT_STATIC },
    { 2, 1, 1, 3, 3, 9, 2.0, 2.0, 7, 9, 5, .flags = 3, .confidence = 0.5 },
    { 3, 1, 1, 3, 3, 9, 2.0, 2.0 },
  };
  GstCclComponent many[1024];
  guint32 seed = g_random_int ();
  GRand *random = g_rand_new_with_seed (seed);
  guint i;

  check_round_trip (13, 7, components, G_N_ELEMENTS (components), 100);
  check_round_trip (G_MAXINT, G_MAXINT, odd, G_N_ELEMENTS (odd), 1000);
  check_round_trip (1, 1, NULL, 0, 100);
  check_round_trip (13, 7, standing, G_N_ELEMENTS (standing), 200);

  /* Components as in a frame: their centroids are sums divided by their areas. */
  g_print ("seed %u\n", seed);
  for (i = 0; i < G_N_ELEMENTS (many); i++) {
    GstCclComponent *component = &many[i];
    guint64 sum;

    memset (component, 0, sizeof (*component));
    component->label = i + 1;
    component->width = (guint) g_rand_int_range (random, 1, 30);
    component->height = (guint) g_rand_int_range (random, 1, 30);
    component->x = (guint) g_rand_int_range (random, 0, 1920 - 30);
    component->y = i;
    component->area = (guint64) component->width * component->height;
    sum = component->area * component->x +
          (guint64) g_rand_int_range (random, 0, (gint) (component->area * component->width));
    component->centroid_x = (gdouble) sum / (gdouble) component->area;
    sum = component->area * component->y +
          (guint64) g_rand_int_range (random, 0, (gint) (component->area * component->height));
    component->centroid_y = (gdouble) sum / (gdouble) component->area;
  }
  g_rand_free (random);
  check_round_trip (1920, 1080, many, G_N_ELEMENTS (many), 14 * G_N_ELEMENTS (many));
}
GST_END_TEST;

/* A confidence that receivers would not take, and ages of frames. */
GST_START_TEST (test_serialize_frame)
{
  static const struct
  {
    gdouble sent, received;
    gint64 age;
  } cases[] = {
    { 0.5, 0.5, 40 },         { 7.0, 1.0, -40 }, { INFINITY, 1.0, G_MAXINT64 },
    { NAN, 0.0, G_MININT64 }, { -1.0, 0.0, 1 },  { -INFINITY, 0.0, -1 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
    GByteArray *data = g_byte_array_new ();
    GstCclComponent component = components[0];
    GstCclMeta *meta;
    guint32 consumed;

    component.class_id = 1;
    component.confidence = cases[i].sent;
    meta = gst_buffer_add_ccl_meta (in, 13, 7, 1, &component, 1);
    meta->frame_age = cases[i].age;
    fail_unless (gst_meta_serialize_simple (&meta->meta, data));
    meta = (GstCclMeta *) gst_meta_deserialize (out, data->data, data->len, &consumed);
    fail_unless (meta != NULL);
    fail_unless_equals_int64 (meta->frame_age, cases[i].age);
    component.confidence = cases[i].received;
    ccl_test_check_component (&meta->components[0], &component, 0.0);
    g_byte_array_unref (data);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
}
GST_END_TEST;

/* Version and bytes that another process may send, and their fault: a frame of 13x7 pixels in
 * which 5 components were found, with one 4x3 component at (2, 1). */
#define HEADER "\x0d\x07\x05\x01"
#define COMPONENT "\x06\x02\x02\x04\x03\x0c\x12\x0c"
#define NO_NAMES "\x00"
#define CLASS "\x16\x02\x02\x04\x03\x0c\x12\x0c"    /* and what follows */
#define SHAPE "\x26\x02\x02\x04\x03\x0c\x12\x0c"    /* and what follows */
#define STANDING "\x46\x02\x02\x04\x03\x0c\x12\x0c" /* and what follows */
#define TRACK "\x0e\x02\x02\x04\x03\x0c\x12\x0c"    /* and what follows */
#define ONE "\0\0\0\0\0\0\xf0\x3f"
#define NUMBERS ONE ONE ONE ONE ONE
#define NOT_A_NUMBER "\x01\x00\x00\x00\x00\x00\xf8\x7f"
#define INFINITE "\x00\x00\x00\x00\x00\x00\xf0\xff"

#define BYTES(bytes) bytes, sizeof (bytes) - 1

static const CclTestSerialized sent[] = {
  { "all as it should be", 2, BYTES (HEADER COMPONENT), TRUE },
  { "no component", 2, BYTES ("\x0d\x07\x05\x00"), TRUE },
  { "version 0", 0, BYTES (HEADER COMPONENT), FALSE },
  { "version 1", 1, BYTES (HEADER COMPONENT), FALSE },
  { "version 5", 5, BYTES (HEADER NO_NAMES COMPONENT), TRUE },
  { "version 6", 6, BYTES (HEADER NO_NAMES COMPONENT), FALSE },
  { "version 3 without names", 3, BYTES (HEADER NO_NAMES COMPONENT), TRUE },
  { "names", 3,
    BYTES (HEADER "\x02\x03"
                  "cat"
                  "\x00" COMPONENT),
    TRUE },
  { "names in version 2", 2,
    BYTES (HEADER "\x01\x03"
                  "cat" COMPONENT),
    FALSE },
  { "fewer names than promised", 3,
    BYTES (HEADER "\x7f\x03"
                  "cat"),
    FALSE },
  { "2^32 - 1 names", 3, BYTES (HEADER "\xff\xff\xff\xff\x0f" COMPONENT), FALSE },
  { "a name past the end", 3,
    BYTES (HEADER "\x01\x7f"
                  "cat" COMPONENT),
    FALSE },
  { "a name that is not UTF-8", 3,
    BYTES (HEADER "\x01\x03"
                  "c\xff"
                  "t" COMPONENT),
    FALSE },
  { "a name with a 0", 3,
    BYTES (HEADER "\x01\x03"
                  "c\0"
                  "t" COMPONENT),
    FALSE },
  { "a class", 3, BYTES (HEADER NO_NAMES CLASS "\x02\0\0\0\0\0\0\xe0\x3f"), TRUE },
  { "a class in version 2", 2, BYTES (HEADER CLASS "\x02\0\0\0\0\0\0\xe0\x3f"), FALSE },
  { "a class above 2^32 - 1", 3,
    BYTES (HEADER NO_NAMES CLASS "\x80\x80\x80\x80\x10\0\0\0\0\0\0\xe0\x3f"), FALSE },
  { "a confidence above 1", 3, BYTES (HEADER NO_NAMES CLASS "\x02\x01\0\0\0\0\0\xf0\x3f"), FALSE },
  { "a confidence below 0", 3, BYTES (HEADER NO_NAMES CLASS "\x02\x01\0\0\0\0\0\0\x80"), FALSE },
  { "a confidence that is no number", 3, BYTES (HEADER NO_NAMES CLASS "\x02" NOT_A_NUMBER), FALSE },
  { "a shape", 4, BYTES (HEADER NO_NAMES SHAPE "\x0f\x01\x80\x01\xff\x01" NUMBERS), TRUE },
  { "a shape in version 3", 3, BYTES (HEADER NO_NAMES SHAPE "\x0f\x01\x80\x01\xff\x01" NUMBERS),
    FALSE },
  { "a shape without features", 4, BYTES (HEADER NO_NAMES SHAPE "\0\0\0\0" NUMBERS), FALSE },
  { "unknown features", 4, BYTES (HEADER NO_NAMES SHAPE "\x10\0\0\0" NUMBERS), FALSE },
  { "a shape cut short", 4, BYTES (HEADER NO_NAMES SHAPE "\x01\0\0\0\0\0\0"), FALSE },
  { "one that stands", 5, BYTES (HEADER NO_NAMES STANDING "\x03\x80\x02"), TRUE },
  { "one that stands in version 4", 4, BYTES (HEADER NO_NAMES STANDING "\x03\x80\x02"), FALSE },
  { "unknown flags", 5, BYTES (HEADER NO_NAMES STANDING "\x04\x80\x02"), FALSE },
  { "an age without flags", 5, BYTES (HEADER NO_NAMES STANDING "\x00\x80\x02"), TRUE },
  { "neither", 5, BYTES (HEADER NO_NAMES STANDING "\x00\x00"), FALSE },
  { "one that has stood for 2^32 ms", 5,
    BYTES (HEADER NO_NAMES STANDING "\x01\x80\x80\x80\x80\x10"), FALSE },
  { "a track", 2, BYTES (HEADER TRACK "\x07\x05" ONE ONE), TRUE },
  { "a track above 2^32 - 1", 2, BYTES (HEADER TRACK "\x80\x80\x80\x80\x10\x05" ONE ONE), FALSE },
  { "nothing", 2, BYTES (""), FALSE },
  { "width 0", 2, BYTES ("\x00\x07\x05\x00"), FALSE },
  { "height 0", 2, BYTES ("\x0d\x00\x05\x00"), FALSE },
  { "width 2^31 - 1", 2, BYTES ("\xff\xff\xff\xff\x07\x07\x05\x00"), TRUE },
  { "width 2^31", 2, BYTES ("\x80\x80\x80\x80\x08\x07\x05\x00"), FALSE },
  { "height 2^31", 2, BYTES ("\x0d\x80\x80\x80\x80\x08\x05\x00"), FALSE },
  { "width 2^32 + 13", 2, BYTES ("\x8d\x80\x80\x80\x10\x07\x05\x00"), FALSE },
  { "fewer found than there are", 2, BYTES ("\x0d\x07\x00\x01" COMPONENT), FALSE },
  { "2^32 - 1 components", 2, BYTES ("\x0d\x07\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f" COMPONENT),
    FALSE },
  { "a component too many", 2, BYTES (HEADER COMPONENT COMPONENT), FALSE },
  { "a byte too many, after the age", 2, BYTES (HEADER COMPONENT "\x01\x00"), FALSE },
  { "a number of more than 64 bits", 2,
    BYTES ("\x0d\x07\x05\x01\x06\x02\x02\x04\x03\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x12\x0c"),
    FALSE },
  { "an unknown flag", 2, BYTES (HEADER "\x16\x02\x02\x04\x03\x0c\x12\x0c"), FALSE },
  { "label -1", 2, BYTES (HEADER "\x07\x03\x02\x02\x04\x03\x0c\x12\x0c"), FALSE },
  { "label 2^32", 2, BYTES (HEADER "\x07\xfe\xff\xff\xff\x1f\x02\x02\x04\x03\x0c\x12\x0c"), FALSE },
  { "x of 2^32 + 2", 2, BYTES (HEADER "\x06\x82\x80\x80\x80\x10\x02\x04\x03\x0c\x12\x0c"), FALSE },
  { "y of 2^62 + 1", 2,
    BYTES (HEADER "\x06\x02\x82\x80\x80\x80\x80\x80\x80\x80\x80\x01\x04\x03\x0c\x12\x0c"), FALSE },
  { "an area above 2^32 - 1 with a sum", 2,
    BYTES (HEADER "\x06\x02\x02\x04\x03\x8c\x80\x80\x80\x10\x12\x0c"), FALSE },
  { "a sum above 2^53", 2,
    BYTES (HEADER "\x06\x02\x02\x04\x03\x0c\x81\x80\x80\x80\x80\x80\x80\x10\x0c"), FALSE },
  { "past the right", 2, BYTES (HEADER "\x06\x0a\x02\x04\x03\x0c\x12\x0c"), FALSE },
  { "past the bottom", 2, BYTES (HEADER "\x06\x02\x0a\x04\x03\x0c\x12\x0c"), FALSE },
  { "above the top", 2, BYTES (HEADER "\x06\x02\x01\x04\x03\x0c\x12\x0c"), FALSE },
  { "component's width 0", 2, BYTES (HEADER "\x06\x02\x02\x00\x03\x0c\x12\x0c"), FALSE },
  { "component's height 0", 2, BYTES (HEADER "\x06\x02\x02\x04\x00\x0c\x12\x0c"), FALSE },
  { "area 0", 2, BYTES (HEADER "\x06\x02\x02\x04\x03\x00\x12\x0c"), FALSE },
  { "a centroid that is no number", 2,
    BYTES (HEADER "\x04\x02\x02\x04\x03\x0c" NOT_A_NUMBER "\x0c"), FALSE },
  { "an infinite centroid", 2, BYTES (HEADER "\x02\x02\x02\x04\x03\x0c\x12" INFINITE), FALSE },
  { "a velocity cut short", 2, BYTES (HEADER TRACK "\x07\x05" ONE "\0\0\0\0\0\0\xf0"), FALSE },
};

static gboolean
receive (const gchar *bytes, gsize size, guint8 version)
{
  GstCclComponent expected = { 1, 2, 1, 4, 3, 12, 3.5, 2.0 };
  /* Ends with its allocation, so that memory checkers see every overrun. */
  guint8 *copy = g_memdup2 (bytes, size);
  GstBuffer *buffer = gst_buffer_new ();
  GstMeta *meta =
      GST_CCL_META_INFO->deserialize_func (GST_CCL_META_INFO, buffer, copy, size, version);

  fail_unless (meta == (GstMeta *) gst_buffer_get_ccl_meta (buffer));
  if (meta && ((GstCclMeta *) meta)->n_components > 0) {
    if (((GstCclMeta *) meta)->components[0].class_id) {
      expected.class_id = 2;
      expected.confidence = 0.5;
    }
    if (((GstCclMeta *) meta)->components[0].static_age) {
      expected.flags = ((GstCclMeta *) meta)->components[0].flags & 3;
      expected.static_age = 256;
    }
    if (((GstCclMeta *) meta)->components[0].track) {
      expected.track = 7;
      expected.age = 5;
      expected.velocity_x = expected.velocity_y = 1.0;
    }
    check_meta ((GstCclMeta *) meta, 13, 7, 5, &expected, 1);
  }
  gst_buffer_unref (buffer);
  g_free (copy);

  return meta != NULL;
}

/* Invalid bytes are dropped, with a warning. */
GST_START_TEST (test_received)
{
  ccl_test_check_received (&sent[__i__], receive);
}
GST_END_TEST;

#define NONE "\0\0\0\0\0\0\0\0"

/* Asserts that the component of the frame has no velocity, and all else that TRACK has. */
static void
check_stopped (GstMeta *meta, const gchar *what)
{
  static const GstCclComponent expected = { 1, 2, 1, 4, 3, 12, 3.5, 2.0, .track = 7, .age = 5 };

  fail_unless (meta != NULL, "%s: dropped", what);
  fail_unless (((GstCclMeta *) meta)->components[0].velocity_x == 0.0 &&
                   ((GstCclMeta *) meta)->components[0].velocity_y == 0.0,
               "%s: kept", what);
  check_meta ((GstCclMeta *) meta, 13, 7, 5, &expected, 1);
}

/* A velocity that is not finite is cleared where it is sent and where it is received, with one
 * warning of the process; the components of its frame stay. */
GST_START_TEST (test_velocity_not_finite)
{
  static const struct
  {
    const gchar *what, *bytes;
    gdouble x, y;
  } cases[] = {
    { "no number across", HEADER TRACK "\x07\x05" NOT_A_NUMBER ONE, NAN, 1.0 },
    { "no number down", HEADER TRACK "\x07\x05" ONE NOT_A_NUMBER, 1.0, NAN },
    { "infinite across", HEADER TRACK "\x07\x05" INFINITE NONE, -INFINITY, 0.0 },
    { "infinite down", HEADER TRACK "\x07\x05" NONE INFINITE, 0.0, -INFINITY },
    { "both", HEADER TRACK "\x07\x05" INFINITE NOT_A_NUMBER, -INFINITY, NAN },
  };
  const gsize size = sizeof (HEADER TRACK "\x07\x05" ONE ONE) - 1;
  guint n = 0, i;

  ccl_test_count_logged (&n);
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstCclComponent sent = { 1,
                                   2,
                                   1,
                                   4,
                                   3,
                                   12,
                                   3.5,
                                   2.0,
                                   .track = 7,
                                   .age = 5,
                                   .velocity_x = cases[i].x,
                                   .velocity_y = cases[i].y };
    GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new (), *raw = gst_buffer_new ();
    GByteArray *data = g_byte_array_new ();
    guint8 *copy = g_memdup2 (cases[i].bytes, size);
    const guint8 *velocity;
    guint32 consumed;

    check_stopped (GST_CCL_META_INFO->deserialize_func (GST_CCL_META_INFO, raw, copy, size, 2),
                   cases[i].what);

    fail_unless (
        gst_meta_serialize_simple (&gst_buffer_add_ccl_meta (in, 13, 7, 5, &sent, 1)->meta, data));
    velocity = data->data + data->len - 16;
    fail_unless (memcmp (velocity, NONE NONE, 16) == 0, "%s: sent", cases[i].what);
    check_stopped (gst_meta_deserialize (out, data->data, data->len, &consumed), cases[i].what);

    g_free (copy);
    g_byte_array_unref (data);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_buffer_unref (raw);
  }
  ccl_test_stop_counting ();
  fail_unless_equals_int (n, 1);
}
GST_END_TEST;

/* Each name takes far more memory than the byte of its length. */
GST_START_TEST (test_most_names)
{
  const guint sizes[] = { 65535, 65536 };
  guint i;

  for (i = 0; i < 2; i++) {
    const guint8 head[] = { 13,
                            7,
                            0,
                            0,
                            (guint8) (sizes[i] | 128),
                            (guint8) (sizes[i] >> 7 | 128),
                            (guint8) (sizes[i] >> 14) };
    gsize size = sizeof (head) + sizes[i];
    g_autofree guint8 *bytes = g_malloc0 (size);
    GstBuffer *buffer = gst_buffer_new ();

    memcpy (bytes, head, sizeof (head));
    fail_unless_equals_int (
        GST_CCL_META_INFO->deserialize_func (GST_CCL_META_INFO, buffer, bytes, size, 3) != NULL,
        i == 0);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST;
#endif

/* Not in the program with newer.h, where GStreamer has no such elements. */
#if GST_CHECK_VERSION(1, 24, 0) && !defined(TESTS_FUZZ_NEWER_H)
#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1"

static void
check_same (GstBuffer *buffer, GstBuffer *expected)
{
  GstCclMeta *a = gst_buffer_get_ccl_meta (buffer);
  GstCclMeta *b = gst_buffer_get_ccl_meta (expected);
  guint i;

  fail_unless (a != NULL && b != NULL);
  fail_unless_equals_int (a->width, b->width);
  fail_unless_equals_int (a->height, b->height);
  fail_unless_equals_int (a->found, b->found);
  fail_unless_equals_int (a->n_components, b->n_components);
  for (i = 0; i < a->n_components; i++)
    ccl_test_check_component (&a->components[i], &b->components[i], 0.0);
}

/* Asserts that a received frame has the components of its pixels. */
static void
check_frame (GstHarness *analyser, GstBuffer *received)
{
  GstBuffer *pixels = gst_buffer_new (), *expected;

  gst_buffer_copy_into (pixels, received, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_TIMESTAMPS, 0,
                        -1);
  expected = gst_harness_push_and_pull (analyser, pixels);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (expected)->n_components, 1);
  check_same (received, expected);
  gst_buffer_unref (expected);
}

GST_START_TEST (test_unixfd)
{
  CclTestSocket socket;
  GstHarness *analyser;
  guint i;

  if (!ccl_test_socket_open (&socket, "videotestsrc is-live=true pattern=ball ! " CAPS
                                      " ! cudaccl backend=cpu threshold=100"))
    return;
  analyser = ccl_test_launch (64, 48, "cudaccl backend=cpu threshold=100");

  for (i = 0; i < 5; i++) {
    GstBuffer *received = gst_harness_pull (socket.receiver);

    fail_unless (received != NULL);
    check_frame (analyser, received);
    gst_buffer_unref (received);
  }

  ccl_test_socket_close (&socket);
  ccl_test_harness_free (analyser);
}
GST_END_TEST;
#endif

static Suite *
cclmeta_suite (void)
{
  Suite *s = suite_create ("cclmeta");
  TCase *tc;

  tc = tcase_create ("metadata");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_features);
  tcase_add_test (tc, test_boxed);
  tcase_add_test (tc, test_type);
  tcase_add_test (tc, test_add_replaces);
  tcase_add_test (tc, test_copy_is_deep);
  tcase_add_test (tc, test_class_names);
  tcase_add_loop_test (tc, test_scale, 0, G_N_ELEMENTS (scales));
  tcase_add_test (tc, test_scale_odd);
  tcase_add_test (tc, test_unknown_transform);
  tcase_add_test (tc, test_videoscale);
  tcase_add_loop_test (tc, test_crop, 0, G_N_ELEMENTS (crops));
#if GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tc, test_matrix);
  tcase_add_test (tc, test_projection);
#endif
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test (tc, test_serialize);
  tcase_add_test (tc, test_serialize_frame);
  tcase_add_test (tc, test_velocity_not_finite);
  tcase_add_test (tc, test_most_names);
  tcase_add_loop_test (tc, test_received, 0, G_N_ELEMENTS (sent));
#endif

#if GST_CHECK_VERSION(1, 24, 0) && !defined(TESTS_FUZZ_NEWER_H)
  tc = tcase_create ("transport");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_unixfd);
#endif

  return s;
}

GST_CHECK_MAIN (cclmeta);
