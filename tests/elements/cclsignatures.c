/* cudaccl - tests of libgstccl: signatures of components in metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmetatest.h"
#include "tests/lib/ccltest.h"

#include <string.h>

#define SIZE GST_CCL_SIGNATURE_SIZE

static const GstCclComponent components[] = {
  { 1, 2, 1, 6, 4, 20, 4.0, 2.5 },
  { 2, 12, 6, 1, 1, 1, 12.0, 6.0 },
  { 3, 3, 5, 5, 2, 10, 5.0, 5.5 },
};

/* The bytes of each component are its label. */
static GstBuffer *
buffer_with_signatures (void)
{
  GstBuffer *buffer = ccl_test_black_new (13, 7);
  GstCclMeta *meta =
      gst_buffer_add_ccl_meta (buffer, 13, 7, 5, components, G_N_ELEMENTS (components));
  guint8 bytes[G_N_ELEMENTS (components) * SIZE];
  GBytes *signatures;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (components); i++)
    memset (bytes + i * SIZE, (gint) components[i].label, SIZE);
  signatures = g_bytes_new (bytes, sizeof (bytes));
  fail_unless (gst_ccl_meta_get_signatures (meta) == NULL);
  gst_ccl_meta_set_signatures (meta, signatures);
  fail_unless (gst_ccl_meta_get_signatures (meta) == signatures);
  g_bytes_unref (signatures);

  return buffer;
}

/* Each component still has its own bytes. */
static void
check (const GstCclMeta *meta, guint n)
{
  GBytes *signatures = gst_ccl_meta_get_signatures (meta);
  const guint8 *bytes;
  gsize size;
  guint i, k;

  fail_unless (signatures != NULL);
  fail_unless_equals_int (meta->n_components, n);
  bytes = g_bytes_get_data (signatures, &size);
  fail_unless_equals_int (size, n * SIZE);
  for (i = 0; i < n; i++)
    for (k = 0; k < SIZE; k++)
      fail_unless_equals_int (bytes[i * SIZE + k], meta->components[i].label);
}

/* They follow copies and scaled frames, are cropped with the components, and go with metadata that
 * is replaced. */
GST_START_TEST (test_transforms)
{
  GstBuffer *buffer = buffer_with_signatures (), *copy = gst_buffer_copy (buffer), *scaled;
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  check (meta, 3);
  scaled = ccl_test_scaled_new (buffer, &meta->meta, 13, 7, 26, 21);
  fail_unless (!gst_ccl_meta_crop (meta, 0, 0, 14, 7));
  check (meta, 3);
  fail_unless (gst_ccl_meta_crop (meta, 3, 5, 10, 2));
  fail_unless_equals_int (meta->components[0].label, 2);
  check (meta, 2);
  fail_unless (gst_ccl_meta_crop (meta, 0, 0, 1, 1));
  check (meta, 1);
  fail_unless (gst_ccl_meta_crop (meta, 0, 0, 1, 1));
  gst_buffer_unref (buffer);

  check (gst_buffer_get_ccl_meta (copy), 3);
  check (gst_buffer_get_ccl_meta (scaled), 3);
  meta = gst_buffer_add_ccl_meta (copy, 13, 7, 5, components, 1);
  fail_unless (gst_ccl_meta_get_signatures (meta) == NULL);
  gst_buffer_unref (copy);
  meta = gst_buffer_get_ccl_meta (scaled);
  gst_ccl_meta_set_signatures (meta, NULL);
  fail_unless (gst_ccl_meta_get_signatures (meta) == NULL);
  gst_buffer_unref (scaled);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 28, 0)
/* A part of the frame, in which the first and the last component are. */
GST_START_TEST (test_matrix)
{
  GstVideoRectangle in_rect = { 3, 2, 9, 5 }, out_rect = { 9, 1, 18, 10 };
  GstBuffer *in = buffer_with_signatures (), *out = gst_buffer_new ();
  GstVideoMetaTransformMatrix trans;
  GstVideoInfo in_info, out_info;
  GstMeta *meta = &gst_buffer_get_ccl_meta (in)->meta;

  gst_video_info_set_format (&in_info, GST_VIDEO_FORMAT_GRAY8, 13, 7);
  gst_video_info_set_format (&out_info, GST_VIDEO_FORMAT_GRAY8, 40, 12);
  gst_video_meta_transform_matrix_init (&trans, &in_info, &in_rect, &out_info, &out_rect);
  fail_unless (GST_CCL_META_INFO->transform_func (
      out, meta, in, gst_video_meta_transform_matrix_get_quark (), &trans));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (out)->components[1].label, 3);
  check (gst_buffer_get_ccl_meta (out), 2);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;
#endif

#if GST_CHECK_VERSION(1, 24, 0)
static gboolean
resize (GstByteArrayInterface *self, gsize length)
{
  self->data = g_realloc (self->data, length);
  self->len = length;

  return TRUE;
}

static guint8
get_version (GstCclMeta *meta)
{
  GstByteArrayInterface bytes = { .resize = resize };
  guint8 version = 0;

  fail_unless (GST_CCL_META_INFO->serialize_func (&meta->meta, &bytes, &version));
  g_free (bytes.data);

  return version;
}

/* The version is the oldest that has all: programs that know no signatures read frames without. */
GST_START_TEST (test_serialize)
{
  GstBuffer *in = buffer_with_signatures (), *out = gst_buffer_new ();
  GstCclMeta *meta = gst_buffer_get_ccl_meta (in);
  GByteArray *with = g_byte_array_new (), *without = g_byte_array_new ();
  guint32 consumed;

  meta->frame_age = -5;
  fail_unless_equals_int (get_version (meta), 6);
  fail_unless (gst_meta_serialize_simple (&meta->meta, with));
  meta = (GstCclMeta *) gst_meta_deserialize (out, with->data, with->len, &consumed);
  fail_unless (meta != NULL);
  fail_unless (meta->frame_age == -5);
  check (meta, 3);

  gst_ccl_meta_set_signatures (meta, NULL);
  fail_unless_equals_int (get_version (meta), 4);
  fail_unless (gst_meta_serialize_simple (&meta->meta, without));
  fail_unless_equals_int (with->len - without->len, 3 * SIZE);
  meta = (GstCclMeta *) gst_meta_deserialize (out, without->data, without->len, &consumed);
  fail_unless (gst_ccl_meta_get_signatures (meta) == NULL);

  g_byte_array_unref (with);
  g_byte_array_unref (without);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

#define FRAME            \
  "\x0d\x07\x05\x01\x00" \
  "\x06\x02\x02\x04\x03\x0c\x12\x0c"
#define EIGHT "\1\1\1\1\1\1\1\1"
#define SIGNATURE EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT
#define BYTES(bytes) bytes, sizeof (bytes) - 1

static const CclTestSerialized sent[] = {
  { "with a signature", 6, BYTES (FRAME "\x00" SIGNATURE), TRUE },
  { "without age", 6, BYTES (FRAME), FALSE },
  { "without one", 6, BYTES (FRAME "\x00"), FALSE },
  { "with more than one", 6, BYTES (FRAME "\x00" SIGNATURE "\1"), FALSE },
  { "in version 5", 5, BYTES (FRAME "\x00" SIGNATURE), FALSE },
  { "without components", 6, BYTES ("\x0d\x07\x00\x00\x00\x00"), TRUE },
  { "version 7", 7, BYTES (FRAME "\x00" SIGNATURE), FALSE },
};

static gboolean
receive (const gchar *bytes, gsize size, guint8 version)
{
  /* Ends with its allocation, so that memory checkers see every overrun. */
  guint8 *copy = g_memdup2 (bytes, size);
  GstBuffer *buffer = gst_buffer_new ();
  GstMeta *meta =
      GST_CCL_META_INFO->deserialize_func (GST_CCL_META_INFO, buffer, copy, size, version);

  if (meta && ((GstCclMeta *) meta)->n_components > 0)
    check ((GstCclMeta *) meta, 1);
  gst_buffer_unref (buffer);
  g_free (copy);

  return meta != NULL;
}

GST_START_TEST (test_received)
{
  ccl_test_check_received (&sent[__i__], receive);
}
GST_END_TEST;
#endif

static Suite *
cclsignatures_suite (void)
{
  Suite *s = suite_create ("cclsignatures");
  TCase *tc = tcase_create ("metadata");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_transforms);
#if GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tc, test_matrix);
#endif
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test (tc, test_serialize);
  tcase_add_loop_test (tc, test_received, 0, G_N_ELEMENTS (sent));
#endif

  return s;
}

GST_CHECK_MAIN (cclsignatures);
