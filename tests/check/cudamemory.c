/* cudaccl - tests of frames in GstCuda's memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccltest.h"
#include "tests/common/device.h"

#include <string.h>

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

static const gchar *const formats[] = { "NV12", "NV21", "I420", "YV12", "Y42B", "Y444" };

static GstHarness *
harness_new (GstElement *element, const gchar *format, gint width, gint height)
{
  gchar *caps = g_strdup_printf ("video/x-raw(memory:CUDAMemory),format=%s,width=%d,height=%d,"
                                 "framerate=1/1",
                                 format, width, height);
  GstHarness *h = ccl_test_harness_new (element, "GRAY8", 1, 1);

  gst_harness_set_src_caps_str (h, caps);
  g_free (caps);

  return h;
}

static GstHarness *
picture_harness_new (void)
{
  return harness_new (ccl_test_element_new (NULL, NULL), "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
}

static GstBuffer *
buffer_new (GstCudaContext *context, const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstMemory *memory;

#if GST_CHECK_VERSION(1, 24, 0)
  memory = gst_cuda_allocator_alloc (NULL, context, NULL, info);
#else
  GstAllocator *allocator;

  gst_cuda_memory_init_once ();
  allocator = gst_allocator_find (GST_CUDA_MEMORY_TYPE_NAME);
  memory = gst_cuda_allocator_alloc (GST_CUDA_ALLOCATOR_CAST (allocator), context, info);
  gst_object_unref (allocator);
#endif
  fail_unless (memory != NULL);
  gst_buffer_append_memory (buffer, memory);

  return buffer;
}

static GstCudaMemory *
peek_memory (GstBuffer *buffer)
{
  return GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, 0));
}

static void
add_meta (GstBuffer *buffer)
{
  GstVideoInfo *info = &peek_memory (buffer)->info;

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                                  GST_VIDEO_INFO_N_PLANES (info), info->offset, info->stride);
}

/* The picture, still to be uploaded; beside it everything is foreground. */
static GstBuffer *
picture_new (GstCudaContext *context, const gchar *format, gboolean with_meta)
{
  GstBuffer *source = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED), *buffer;
  GstMapInfo from, to;
  GstVideoInfo info;
  gsize stride;
  guint y;

  gst_video_info_set_format (&info, gst_video_format_from_string (format), PICTURE_WIDTH,
                             PICTURE_HEIGHT);
  buffer = buffer_new (context, &info);
  stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&peek_memory (buffer)->info, 0);

  gst_buffer_map (source, &from, GST_MAP_READ);
  fail_unless (gst_buffer_map (buffer, &to, GST_MAP_WRITE));
  memset (to.data, 255, to.size);
  for (y = 0; y < PICTURE_HEIGHT; y++)
    memcpy (to.data + y * stride, from.data + y * GST_ROUND_UP_4 (PICTURE_WIDTH), PICTURE_WIDTH);
  gst_buffer_unmap (buffer, &to);
  gst_buffer_unmap (source, &from);
  gst_buffer_unref (source);

  if (with_meta)
    add_meta (buffer);

  return buffer;
}

static void
push_and_check (GstHarness *h, GstBuffer *buffer)
{
  GstCudaMemory *memory = peek_memory (buffer);

  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (peek_memory (buffer) == memory);
  ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
  gst_buffer_unref (buffer);
}

/* The context that the element tells of on @pad, without a reference; NULL if it has none. */
static GstCudaContext *
query_context (GstPad *pad)
{
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstCudaContext *found = NULL;
  GstContext *context;

  if (gst_pad_peer_query (pad, query)) {
    gst_query_parse_context (query, &context);
    fail_unless (gst_structure_get (gst_context_get_structure (context), GST_CUDA_CONTEXT_TYPE,
                                    GST_TYPE_CUDA_CONTEXT, &found, NULL));
    gst_object_unref (found);
  }
  gst_query_unref (query);

  return found;
}

GST_START_TEST (test_formats)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = harness_new (ccl_test_element_new (NULL, NULL), formats[__i__], PICTURE_WIDTH,
                               PICTURE_HEIGHT);
  GstStructure *stats;

  push_and_check (h, picture_new (context, formats[__i__], TRUE));
  push_and_check (h, picture_new (context, formats[__i__], FALSE));
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), "cuda");

  gst_structure_free (stats);
  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames on the device take no memory for transfers. */
GST_START_TEST (test_no_transfer)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = picture_harness_new ();
  guint64 before = 0, after = 0, upload = 1;
  GstStructure *stats;
  guint i;

  for (i = 0; i < 5; i++) {
    push_and_check (h, picture_new (context, "NV12", TRUE));
    g_object_get (h->element, "stats", &stats, NULL);
    fail_unless (gst_structure_get_uint64 (stats, "allocated-bytes", i == 0 ? &before : &after));
    fail_unless (gst_structure_get_uint64 (stats, "average-upload-time", &upload));
    gst_structure_free (stats);
  }
  fail_unless_equals_uint64 (before, after);

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Of a buffer that is cut by a GstVideoCropMeta, the visible part is looked at. */
GST_START_TEST (test_crop)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = harness_new (ccl_test_element_new (NULL, NULL), "NV12", 3, 3);
  const Blob ring = { 0, 0, 3, 3, 8, 1.0, 1.0 };
  GstBuffer *buffer = picture_new (context, "NV12", TRUE);
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

/* Buffers that are not what they say. */
static const struct
{
  const gchar *what;
  gint width, height; /* of the memory */
  gint stride;        /* of the GstVideoMeta; 0: the right one, -1: there is no such metadata */
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
  GstHarness *h = harness_new (ccl_test_element_new (NULL, NULL), "NV12", 64, 32);
  GstVideoInfo info, *layout;
  GstBuffer *buffer, *out;
  GstFlowReturn ret;

  GST_INFO ("%s", lies[__i__].what);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, (guint) lies[__i__].width,
                             (guint) lies[__i__].height);
  buffer = buffer_new (context, &info);
  layout = &peek_memory (buffer)->info;
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

/* System memory under caps that say otherwise, and nothing at all. */
GST_START_TEST (test_other_memory)
{
  GstHarness *h = picture_harness_new ();

  fail_unless_equals_int (gst_harness_push (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED)),
                          GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, GST_ALLOCATOR_SYSMEM);
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "no memory");

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The context that is given is taken and passed on; that of the frames replaces it. */
GST_START_TEST (test_sharing)
{
  GstCudaContext *given = gst_cuda_context_new (TEST_DEVICE);
  GstCudaContext *other = gst_cuda_context_new (TEST_DEVICE);
  GstContext *context = gst_context_new_cuda_context (given);
  GstElement *element = ccl_test_element_new (NULL, NULL);
  GstHarness *h;
  guint i;

  gst_element_set_context (element, context);
  gst_context_unref (context);
  h = harness_new (element, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  fail_unless (query_context (h->srcpad) == given);
  fail_unless (query_context (h->sinkpad) == given);

  for (i = 0; i < 3; i++) {
    push_and_check (h, picture_new (given, "NV12", TRUE));
    fail_unless (query_context (h->srcpad) == given);
    push_and_check (h, picture_new (other, "NV12", TRUE));
    fail_unless (query_context (h->srcpad) == other);
    fail_unless (query_context (h->sinkpad) == other);
  }

  /* One that is replaced is let go. */
  push_and_check (h, picture_new (given, "NV12", TRUE));
  fail_unless_equals_int (G_OBJECT (other)->ref_count, 1);

  gst_element_set_state (h->element, GST_STATE_READY);
  fail_unless (query_context (h->srcpad) == NULL);

  gst_object_unref (given);
  gst_object_unref (other);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Without a neighbour that has one, the element makes a context and tells everybody. */
GST_START_TEST (test_own_context)
{
  GstHarness *h = picture_harness_new ();
  GstMessage *message;

  fail_unless (query_context (h->srcpad) != NULL);
  message = ccl_test_pop_message (h, GST_MESSAGE_HAVE_CONTEXT);
  fail_unless (message != NULL);

  gst_message_unref (message);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Pretends that the memory is on another device, which need not be there. */
static void
move_to_device (GstCudaMemory *memory, guint device)
{
  gst_object_unref (memory->context);
  memory->context = g_object_new (GST_TYPE_CUDA_CONTEXT, "cuda-device-id", device, NULL);
  gst_object_ref_sink (memory->context);
}

GST_START_TEST (test_wrong_device)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE), *right;
  GstElement *element = ccl_test_element_new (NULL, "cuda-device-id", TEST_DEVICE, NULL);
  GstHarness *h = harness_new (element, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  GstBuffer *buffer = picture_new (context, "NV12", TRUE);
  GstCudaMemory *memory = peek_memory (buffer);

  push_and_check (h, gst_buffer_ref (buffer));
  right = gst_object_ref (memory->context);
  move_to_device (memory, TEST_DEVICE + 1);
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_ref (buffer)), GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "cuda-device-id");

  gst_object_unref (memory->context);
  memory->context = right;
  push_and_check (h, buffer);

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A context that was there before another device was wanted is not kept. */
GST_START_TEST (test_given_context_of_other_device)
{
  GstCudaContext *other =
      g_object_new (GST_TYPE_CUDA_CONTEXT, "cuda-device-id", TEST_DEVICE + 1, NULL);
  GstElement *element = ccl_test_element_new (NULL, NULL);
  GstContext *context;
  GstHarness *h;

  gst_object_ref_sink (other);
  context = gst_context_new_cuda_context (other);
  gst_element_set_context (element, context);
  gst_context_unref (context);
  g_object_set (element, "cuda-device-id", TEST_DEVICE, NULL);
  h = harness_new (element, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  fail_unless (query_context (h->srcpad) != NULL);
  fail_unless (query_context (h->srcpad) != other);

  ccl_test_harness_free (h);
  gst_object_unref (other);
}
GST_END_TEST;

/* Pixels that are only on their way when the frame comes. */
GST_START_TEST (test_late_pixels)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = picture_harness_new ();
  guint i;

  for (i = 0; i < 10; i++) {
    GstBuffer *picture = picture_new (context, "NV12", TRUE);
    GstBuffer *buffer = gst_buffer_new ();
    gpointer pixels, stream = (gpointer) CU_STREAM_LEGACY;
    GstCudaMemory *memory;
    GstVideoInfo info;
    GstMapInfo map;
    gsize size;

    gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, PICTURE_WIDTH, PICTURE_HEIGHT);
#if GST_CHECK_VERSION(1, 24, 0)
    {
      GstCudaStream *own = gst_cuda_stream_new (context);

      stream = gst_cuda_stream_get_handle (own);
      gst_buffer_append_memory (buffer, gst_cuda_allocator_alloc (NULL, context, own, &info));
      gst_cuda_stream_unref (own);
    }
#else
    gst_buffer_unref (buffer);
    buffer = buffer_new (context, &info);
#endif
    memory = peek_memory (buffer);
    add_meta (buffer);

    fail_unless (gst_buffer_map (picture, &map, GST_MAP_READ));
    size = map.size;
    fail_unless (gst_cuda_context_push (context));
    pixels = test_device_alloc (CCL_MEMORY_PINNED, size);
    memcpy (pixels, map.data, size);
    gst_buffer_unmap (picture, &map);
    fail_unless (gst_memory_map (GST_MEMORY_CAST (memory), &map,
                                 (GstMapFlags) (GST_MAP_WRITE | GST_MAP_CUDA)));
    test_device_upload_late (map.data, pixels, size, stream);
    gst_memory_unmap (GST_MEMORY_CAST (memory), &map);
    gst_cuda_context_pop (NULL);

    push_and_check (h, buffer);
    gst_cuda_context_push (context);
    test_device_free (CCL_MEMORY_PINNED, pixels);
    gst_cuda_context_pop (NULL);
    gst_buffer_unref (picture);
  }

  ccl_test_harness_free (h);
  gst_object_unref (context);
}
GST_END_TEST;

/* From memory to memory and back, on one element. */
GST_START_TEST (test_renegotiation)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = picture_harness_new ();
  guint i;

  for (i = 0; i < 4; i++) {
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (h, "video/x-raw(memory:CUDAMemory),format=I420,width=13,height=7,"
                                     "framerate=1/1");
    push_and_check (h, picture_new (context, "I420", TRUE));
    gst_harness_set_src_caps_str (h, "video/x-raw,format=I420,width=13,height=7,framerate=1/1");
    fail_unless (query_context (h->srcpad) == NULL);
    buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("I420", LAYOUT_PACKED));
    ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
    gst_buffer_unref (buffer);
  }

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

#define WARM_UP 20
#define CYCLES 1000

/* Through all states and back, in both kinds of memory: what the device holds stays the same. */
GST_START_TEST (test_states)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = picture_harness_new ();
  size_t before = 0, after;
  GstMessage *message;
  GstEvent *event;
  guint i;

  for (i = 0; i < WARM_UP + CYCLES; i++) {
    if (i == WARM_UP)
      before = test_device_free_bytes ();
    gst_element_set_state (h->element, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    if (i % 4 < 2) {
      GstContext *shared = gst_context_new_cuda_context (context);

      gst_element_set_context (h->element, shared);
      gst_context_unref (shared);
      gst_harness_set_src_caps_str (h, "video/x-raw(memory:CUDAMemory),format=NV12,width=13,"
                                       "height=7,framerate=1/1");
      push_and_check (h, picture_new (context, "NV12", TRUE));
    } else {
      gst_harness_set_src_caps_str (h, "video/x-raw,format=NV12,width=13,height=7,framerate=1/1");
      gst_buffer_unref (
          gst_harness_push_and_pull (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED)));
    }
    while ((event = gst_harness_try_pull_event (h)))
      gst_event_unref (event);
    while ((message = ccl_test_pop_message (h, GST_MESSAGE_ANY)))
      gst_message_unref (message);
  }
  after = test_device_free_bytes ();
  /* The driver takes what it needs by blocks of this size. */
  fail_unless (after + ((size_t) 2 << 20) >= before, "%zu bytes became %zu", before, after);

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static gpointer
run_many (gpointer data)
{
  GstCudaContext *context = data;
  GstHarness *h = picture_harness_new ();
  guint i;

  for (i = 0; i < 50; i++)
    push_and_check (h, picture_new (context, "NV12", i % 2));
  ccl_test_harness_free (h);

  return NULL;
}

/* Many elements at once, some in one context and some in others. */
GST_START_TEST (test_many)
{
  GstCudaContext *contexts[3];
  GThread *threads[12];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (contexts); i++)
    contexts[i] = gst_cuda_context_new (TEST_DEVICE);
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, run_many, contexts[i % G_N_ELEMENTS (contexts)]);
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  for (i = 0; i < G_N_ELEMENTS (contexts); i++)
    gst_object_unref (contexts[i]);
}
GST_END_TEST;

static gboolean
map_nowhere (GstVideoMeta *meta, guint plane, GstMapInfo *info, gpointer *data, gint *stride,
             GstMapFlags flags)
{
  *data = info->data = GSIZE_TO_POINTER (4096);
  info->size = 1 << 20;
  *stride = meta->stride[plane];

  return TRUE;
}

static gboolean
unmap_nowhere (GstVideoMeta *meta, guint plane, GstMapInfo *info)
{
  return TRUE;
}

/* A device that fails in mid-stream, because there is nothing where the pixels should be: an error,
 * and a clean end. In this process CUDA is of no use afterwards. */
GST_START_TEST (test_fault)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = picture_harness_new ();
  GstBuffer *buffer = picture_new (context, "NV12", TRUE);
  GstVideoMeta *meta;
  guint i;

  push_and_check (h, gst_buffer_ref (buffer));
  meta = gst_buffer_get_video_meta (buffer);
  meta->map = map_nowhere;
  meta->unmap = unmap_nowhere;
  for (i = 0; i < 2; i++) {
    fail_unless_equals_int (gst_harness_push (h, gst_buffer_ref (buffer)), GST_FLOW_ERROR);
    ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "restart the program");
  }

  gst_buffer_unref (buffer);
  gst_object_unref (context);
  ccl_test_harness_free (h);
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
  tcase_add_loop_test (tc, test_lies, 0, G_N_ELEMENTS (lies));
  tcase_add_test (tc, test_other_memory);
  tcase_add_test (tc, test_sharing);
  tcase_add_test (tc, test_own_context);
  tcase_add_test (tc, test_wrong_device);
  tcase_add_test (tc, test_given_context_of_other_device);
  tcase_add_test (tc, test_late_pixels);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_many);
  tcase_add_test (tc, test_fault); /* the last */

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, cudamemory_suite, "cudamemory", __FILE__);
}
