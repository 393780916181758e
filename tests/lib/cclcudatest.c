/* cudaccl - helpers for the tests of GstCuda's memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclcudatest.h"

#include <string.h>

GstHarness *
ccl_test_cuda_harness_new (GstElement *element, const gchar *format, gint width, gint height)
{
  gchar *caps = g_strdup_printf ("video/x-raw(memory:CUDAMemory),format=%s,width=%d,height=%d,"
                                 "framerate=1/1",
                                 format, width, height);
  GstHarness *h = ccl_test_harness_new (element, "GRAY8", 1, 1);

  gst_harness_set_src_caps_str (h, caps);
  g_free (caps);

  return h;
}

GstHarness *
ccl_test_cuda_picture_harness_new (void)
{
  return ccl_test_cuda_harness_new (ccl_test_element_new (NULL, NULL), "NV12", PICTURE_WIDTH,
                                    PICTURE_HEIGHT);
}

GstBuffer *
ccl_test_cuda_buffer_new (GstCudaContext *context, const GstVideoInfo *info)
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

GstCudaMemory *
ccl_test_cuda_peek (GstBuffer *buffer)
{
  return GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, 0));
}

void
ccl_test_cuda_add_meta (GstBuffer *buffer)
{
  GstVideoInfo *info = &ccl_test_cuda_peek (buffer)->info;

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                                  GST_VIDEO_INFO_N_PLANES (info), info->offset, info->stride);
}

GstBuffer *
ccl_test_cuda_picture_new (GstCudaContext *context, const gchar *format, gboolean with_meta)
{
  GstBuffer *source, *buffer;
  GstMapInfo from, to;
  GstVideoInfo info, luma;
  gsize stride, row;
  guint y;

  gst_video_info_set_format (&info, gst_video_format_from_string (format), PICTURE_WIDTH,
                             PICTURE_HEIGHT);
  gst_video_info_set_format (&luma,
                             GST_VIDEO_INFO_COMP_DEPTH (&info, 0) > 8
                                 ? GST_VIDEO_INFO_FORMAT (&info)
                                 : GST_VIDEO_FORMAT_GRAY8,
                             PICTURE_WIDTH, PICTURE_HEIGHT);
  row = (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (&luma, 0) * PICTURE_WIDTH;
  source = ccl_test_picture_new (gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&luma)),
                                 LAYOUT_PACKED);
  buffer = ccl_test_cuda_buffer_new (context, &info);
  stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&ccl_test_cuda_peek (buffer)->info, 0);

  gst_buffer_map (source, &from, GST_MAP_READ);
  fail_unless (gst_buffer_map (buffer, &to, GST_MAP_WRITE));
  memset (to.data, 255, to.size);
  for (y = 0; y < PICTURE_HEIGHT; y++)
    memcpy (to.data + y * stride, from.data + y * (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&luma, 0),
            row);
  gst_buffer_unmap (buffer, &to);
  gst_buffer_unmap (source, &from);
  gst_buffer_unref (source);

  if (with_meta)
    ccl_test_cuda_add_meta (buffer);

  return buffer;
}

void
ccl_test_cuda_push (GstHarness *h, GstBuffer *buffer)
{
  GstCudaMemory *memory = ccl_test_cuda_peek (buffer);

  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (ccl_test_cuda_peek (buffer) == memory);
  ccl_test_check_picture (buffer);
  gst_buffer_unref (buffer);
}
