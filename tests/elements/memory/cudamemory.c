/* cudaccl - tests of frames in GstCuda's memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclcudatest.h"
#include "tests/lib/device.h"

#include <string.h>

static const gchar *const formats[] = { "NV12", "NV21",      "I420",      "YV12",   "Y42B",
                                        "Y444", "P010_10LE", "I420_10LE", "P016_LE" };

GST_START_TEST (test_formats)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_harness_new (ccl_test_element_new (NULL, NULL), formats[__i__],
                                             PICTURE_WIDTH, PICTURE_HEIGHT);
  GstStructure *stats;

  ccl_test_cuda_push (h, ccl_test_cuda_picture_new (context, formats[__i__], TRUE));
  ccl_test_cuda_push (h, ccl_test_cuda_picture_new (context, formats[__i__], FALSE));
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), "cuda");

  gst_structure_free (stats);
  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames on the device need no memory and no time for transfers. */
GST_START_TEST (test_no_transfer)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_picture_harness_new ();
  guint64 before = 0, after = 0, upload = 1, analysis = 0;
  GstStructure *stats;
  guint i;

  for (i = 0; i < 5; i++) {
    ccl_test_cuda_push (h, ccl_test_cuda_picture_new (context, "NV12", TRUE));
    g_object_get (h->element, "stats", &stats, NULL);
    fail_unless (gst_structure_get_uint64 (stats, "allocated-bytes", i == 0 ? &before : &after));
    fail_unless (gst_structure_get_uint64 (stats, "average-upload-time", &upload));
    fail_unless (gst_structure_get_uint64 (stats, "average-analysis-time", &analysis));
    fail_unless_equals_string (gst_structure_get_string (stats, "upload"), "none");
    gst_structure_free (stats);
  }
  fail_unless_equals_uint64 (before, after);
  fail_unless_equals_uint64 (upload, 0);
  fail_unless (analysis > 0);

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Only the part inside a GstVideoCropMeta is analysed. */
GST_START_TEST (test_crop)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_harness_new (ccl_test_element_new (NULL, NULL), "NV12", 3, 3);
  const Blob ring = { 0, 0, 3, 3, 8, 1.0, 1.0 };
  GstBuffer *buffer = ccl_test_cuda_picture_new (context, "NV12", TRUE);
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  crop->x = picture_blobs[2].x;
  crop->y = picture_blobs[2].y;
  crop->width = crop->height = 3;
  buffer = gst_harness_push_and_pull (h, buffer);
  ccl_test_check_blobs (buffer, &ring, 1, 1);

  gst_buffer_unref (buffer);
  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Luma whose first rows are at the end of one memory, and the others in the next. */
GST_START_TEST (test_split_memory)
{
  const guint n_first = 3; /* rows */
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_picture_harness_new ();
  GstBuffer *picture = ccl_test_cuda_picture_new (context, "NV12", FALSE), *buffer, *second;
  GstCudaMemory *memory = ccl_test_cuda_peek (picture);
  gsize stride = (gsize) memory->info.stride[0], size = gst_buffer_get_size (picture);
  gsize offset[GST_VIDEO_MAX_PLANES] = { size - n_first * stride };
  GstMapInfo from, to;

  buffer = ccl_test_cuda_buffer_new (context, &memory->info);
  second = ccl_test_cuda_buffer_new (context, &memory->info);
  gst_buffer_append_memory (buffer, gst_buffer_get_memory (second, 0));
  gst_buffer_unref (second);
  fail_unless (gst_buffer_map (picture, &from, GST_MAP_READ));
  fail_unless (gst_memory_map (gst_buffer_peek_memory (buffer, 0), &to, GST_MAP_WRITE));
  memset (to.data, 255, to.size);
  memcpy (to.data + offset[0], from.data, n_first * stride);
  gst_memory_unmap (gst_buffer_peek_memory (buffer, 0), &to);
  fail_unless (gst_memory_map (gst_buffer_peek_memory (buffer, 1), &to, GST_MAP_WRITE));
  memset (to.data, 255, to.size);
  memcpy (to.data, from.data + n_first * stride, (PICTURE_HEIGHT - n_first) * stride);
  gst_memory_unmap (gst_buffer_peek_memory (buffer, 1), &to);
  gst_buffer_unmap (picture, &from);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12,
                                  PICTURE_WIDTH, PICTURE_HEIGHT, 2, offset, memory->info.stride);

  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (gst_buffer_n_memory (buffer), 2);
  fail_unless (gst_is_cuda_memory (gst_buffer_peek_memory (buffer, 0)));
  ccl_test_check_picture (buffer);
  gst_buffer_unref (buffer);
  ccl_test_cuda_push (h, picture);

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Buffers that may not match their description. */
static const struct
{
  const gchar *what;
  gint width, height; /* of the memory */
  gint stride;        /* of the GstVideoMeta; 0: the right one, -1: no GstVideoMeta */
  gsize offset;
  gboolean good;
} lies[] = {
  { "all as it should be", 64, 32, 0, 0, TRUE },
  { "a stride that goes past the memory", 64, 32, 1 << 20, 0, FALSE },
  { "rows that overlap", 64, 32, 63, 0, FALSE },
  { "bottom up", 64, 32, -64, 31 * 64, FALSE },
  { "an offset past the end", 64, 32, 0, 1 << 24, FALSE },
  { "too low, without metadata", 64, 30, -1, 0, FALSE },
  { "too narrow, without metadata", 32, 32, -1, 0, FALSE },
  { "larger, without metadata", 128, 64, -1, 0, TRUE },
};

GST_START_TEST (test_lies)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_harness_new (ccl_test_element_new (NULL, NULL), "NV12", 64, 32);
  GstVideoInfo info, *layout;
  GstBuffer *buffer, *out;
  GstFlowReturn ret;

  GST_INFO ("%s", lies[__i__].what);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, (guint) lies[__i__].width,
                             (guint) lies[__i__].height);
  buffer = ccl_test_cuda_buffer_new (context, &info);
  layout = &ccl_test_cuda_peek (buffer)->info;
  if (lies[__i__].stride != -1) {
    gsize offset[GST_VIDEO_MAX_PLANES] = { lies[__i__].offset, layout->offset[1] };
    gint stride[GST_VIDEO_MAX_PLANES] = { lies[__i__].stride, layout->stride[1] };

    if (stride[0] == 0)
      stride[0] = layout->stride[0];
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 64,
                                    32, 2, offset, stride);
  }
  gst_buffer_memset (buffer, 0, 0, gst_buffer_get_size (buffer));

  ret = gst_harness_push (h, buffer);
  out = gst_harness_try_pull (h);
  fail_unless_equals_int (ret, lies[__i__].good ? GST_FLOW_OK : GST_FLOW_ERROR);
  fail_unless_equals_int (out != NULL, lies[__i__].good);
  if (!out)
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frame");
  gst_clear_buffer (&out);

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* System memory with caps for CUDAMemory, and a buffer without memory. */
GST_START_TEST (test_other_memory)
{
  GstHarness *h = ccl_test_cuda_picture_harness_new ();

  fail_unless_equals_int (gst_harness_push (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED)),
                          GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, GST_ALLOCATOR_SYSMEM);
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "no memory");

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A buffer for the picture and the stream on which it is written: its own from GStreamer 1.24
 * on. */
static GstBuffer *
empty_picture_new (GstCudaContext *context, gpointer *stream)
{
  GstVideoInfo info;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, PICTURE_WIDTH, PICTURE_HEIGHT);
#if GST_CHECK_VERSION(1, 24, 0)
  {
    GstCudaStream *own = gst_cuda_stream_new (context);

    buffer = gst_buffer_new ();
    *stream = gst_cuda_stream_get_handle (own);
    gst_buffer_append_memory (buffer, gst_cuda_allocator_alloc (NULL, context, own, &info));
    gst_cuda_stream_unref (own);
  }
#else
  buffer = ccl_test_cuda_buffer_new (context, &info);
  *stream = (gpointer) CU_STREAM_LEGACY;
#endif
  ccl_test_cuda_add_meta (buffer);

  return buffer;
}

/* The upload is still pending when the frame comes. */
GST_START_TEST (test_late_pixels)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_picture_harness_new ();
  guint i;

  for (i = 0; i < 10; i++) {
    GstBuffer *picture = ccl_test_cuda_picture_new (context, "NV12", TRUE);
    gpointer pixels, stream;
    GstBuffer *buffer = empty_picture_new (context, &stream);
    GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
    GstMapInfo map;
    gsize size;

    fail_unless (gst_buffer_map (picture, &map, GST_MAP_READ));
    size = map.size;
    fail_unless (gst_cuda_context_push (context));
    pixels = test_device_alloc (CCL_MEMORY_PINNED, size);
    memcpy (pixels, map.data, size);
    gst_buffer_unmap (picture, &map);
    fail_unless (gst_memory_map (memory, &map, (GstMapFlags) (GST_MAP_WRITE | GST_MAP_CUDA)));
    test_device_upload_late (map.data, pixels, size, stream);
    gst_memory_unmap (memory, &map);
    gst_cuda_context_pop (NULL);

    ccl_test_cuda_push (h, buffer);
    gst_cuda_context_push (context);
    test_device_free (CCL_MEMORY_PINNED, pixels);
    gst_cuda_context_pop (NULL);
    gst_buffer_unref (picture);
  }

  ccl_test_harness_free (h);
  gst_object_unref (context);
}
GST_END_TEST;

/* A device copy of a frame that reaches the next element before the copy is complete. */
GST_START_TEST (test_copies)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *first = ccl_test_cuda_picture_harness_new ();
  GstHarness *second = ccl_test_cuda_picture_harness_new ();
  guint i;

  for (i = 0; i < 50; i++) {
    GstBuffer *buffer = ccl_test_cuda_picture_new (context, "NV12", i % 2), *copy;

    buffer = gst_harness_push_and_pull (first, buffer);
    copy = gst_buffer_copy_deep (buffer);
    fail_unless (gst_buffer_peek_memory (copy, 0) != gst_buffer_peek_memory (buffer, 0));
    gst_buffer_unref (buffer);
    ccl_test_cuda_push (second, copy);
  }

  gst_object_unref (context);
  ccl_test_harness_free (first);
  ccl_test_harness_free (second);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 24, 0)
/* The element waits for the frame's stream alone, not for other work in the same context, such
 * as another pipeline's upload. */
GST_START_TEST (test_busy_neighbour)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_picture_harness_new ();
  GstBuffer *picture = ccl_test_cuda_picture_new (context, "NV12", TRUE), *buffer;
  GstMapInfo from, to;
  gpointer stream, hold;
  guint i;

  g_object_set (h->element, "cuda-graphs", __i__, NULL);
  buffer = empty_picture_new (context, &stream);
  fail_unless (gst_buffer_map (picture, &from, GST_MAP_READ));
  fail_unless (gst_buffer_map (buffer, &to, GST_MAP_WRITE));
  memcpy (to.data, from.data, from.size);
  gst_buffer_unmap (buffer, &to);
  gst_buffer_unmap (picture, &from);

  /* Until everything is allocated. */
  for (i = 0; i < 3; i++)
    ccl_test_cuda_push (h, gst_buffer_ref (buffer));
  fail_unless (gst_cuda_context_push (context));
  hold = test_device_hold_new ();
  gst_cuda_context_pop (NULL);
  for (i = 0; i < 3; i++)
    ccl_test_cuda_push (h, gst_buffer_ref (buffer));
  fail_unless (gst_cuda_context_push (context));
  fail_unless (test_device_hold_free (hold));
  gst_cuda_context_pop (NULL);

  gst_buffer_unref (picture);
  gst_buffer_unref (buffer);
  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;
#endif

/* One element switches between memory kinds. */
GST_START_TEST (test_renegotiation)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_picture_harness_new ();
  guint i;

  for (i = 0; i < 4; i++) {
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (h, "video/x-raw(memory:CUDAMemory),format=I420,width=13,height=7,"
                                     "framerate=1/1");
    ccl_test_cuda_push (h, ccl_test_cuda_picture_new (context, "I420", TRUE));
    gst_harness_set_src_caps_str (h, "video/x-raw,format=I420,width=13,height=7,framerate=1/1");
    buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("I420", LAYOUT_PACKED));
    ccl_test_check_picture (buffer);
    gst_buffer_unref (buffer);
  }

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

typedef struct
{
  GstHarness *h;
  GstBuffer *pictures[50];
} Stream;

static gpointer
run_many (gpointer data)
{
  const Stream *stream = data;
  guint i, n_wrong = 0;

  for (i = 0; i < G_N_ELEMENTS (stream->pictures); i++) {
    GstBuffer *buffer = gst_harness_push_and_pull (stream->h, stream->pictures[i]);

    if (!ccl_test_has_picture (buffer))
      n_wrong++;
    gst_clear_buffer (&buffer);
  }

  return GUINT_TO_POINTER (n_wrong);
}

/* Many elements at once, in several contexts. */
GST_START_TEST (test_many)
{
  GstCudaContext *contexts[3];
  Stream streams[12];
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (contexts); i++)
    contexts[i] = gst_cuda_context_new (TEST_DEVICE);
  for (i = 0; i < G_N_ELEMENTS (streams); i++) {
    streams[i].h = ccl_test_cuda_picture_harness_new ();
    for (k = 0; k < G_N_ELEMENTS (streams[i].pictures); k++)
      streams[i].pictures[k] =
          ccl_test_cuda_picture_new (contexts[i % G_N_ELEMENTS (contexts)], "NV12", k % 2);
  }
  ccl_test_run_threads (run_many, streams, sizeof (*streams), G_N_ELEMENTS (streams));
  for (i = 0; i < G_N_ELEMENTS (streams); i++)
    ccl_test_harness_free (streams[i].h);
  for (i = 0; i < G_N_ELEMENTS (contexts); i++)
    gst_object_unref (contexts[i]);
}
GST_END_TEST;

static Suite *
cudamemory_suite (void)
{
  Suite *s = suite_create ("cudamemory");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  gst_cuda_load_library ();
  tcase_add_loop_test (tc, test_formats, 0, G_N_ELEMENTS (formats));
  tcase_add_test (tc, test_no_transfer);
  tcase_add_test (tc, test_crop);
  tcase_add_test (tc, test_split_memory);
  tcase_add_loop_test (tc, test_lies, 0, G_N_ELEMENTS (lies));
  tcase_add_test (tc, test_other_memory);
  tcase_add_test (tc, test_late_pixels);
  tcase_add_test (tc, test_copies);
  tcase_add_test (tc, test_renegotiation);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_loop_test (tc, test_busy_neighbour, FALSE, TRUE + 1);
#endif
  tcase_add_test (tc, test_many);

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, cudamemory_suite, "cudamemory", __FILE__);
}
