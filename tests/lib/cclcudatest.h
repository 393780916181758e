/* cudaccl - helpers for the tests of GstCuda's memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_CUDA_TEST_H__
#define __CCL_CUDA_TEST_H__

#include "tests/lib/ccltest.h"

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

/* Like ccl_test_harness_new(), for frames in CUDA memory; the second takes the picture in NV12. */
GstHarness *ccl_test_cuda_harness_new (GstElement *element, const gchar *format, gint width,
                                       gint height);
GstHarness *ccl_test_cuda_picture_harness_new (void);

/* A new buffer with one memory, and the memory of such a buffer. */
GstBuffer *ccl_test_cuda_buffer_new (GstCudaContext *context, const GstVideoInfo *info);
GstCudaMemory *ccl_test_cuda_peek (GstBuffer *buffer);

/* Adds the GstVideoMeta for its memory. */
void ccl_test_cuda_add_meta (GstBuffer *buffer);

/* The picture, uploaded when it is mapped; everything around it is foreground. */
GstBuffer *ccl_test_cuda_picture_new (GstCudaContext *context, const gchar *format,
                                      gboolean with_meta);

/* Pushes a picture, and asserts that it comes out in the same memory, with its components. */
void ccl_test_cuda_push (GstHarness *h, GstBuffer *buffer);

#endif /* __CCL_CUDA_TEST_H__ */
