/* cudaccl - helpers for the tests of elements and metadata: frames, and what is found in them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_TEST_H__
#define __CCL_TEST_H__

#include "tests/lib/cclelementtest.h"

#include <gst/video/video.h>
#include <cudaccl/ccl.h>
#include <gst/ccl/gstccl.h>

/* The size of the picture that ccl_test_picture_new() draws. */
#define PICTURE_WIDTH 13
#define PICTURE_HEIGHT 7

/* How a picture lies in its buffer. Everything but its luma is foreground. */
typedef enum
{
  LAYOUT_PACKED,    /* as in the caps */
  LAYOUT_PADDED,    /* wider rows and a start offset, in a GstVideoMeta */
  LAYOUT_WINDOW,    /* a GstVideoMeta whose planes begin inside a larger surface */
  LAYOUT_CROP_META, /* a larger GstVideoMeta with a GstVideoCropMeta */
  LAYOUT_PLANES,    /* a memory per plane, the luma last */
  N_LAYOUTS
} Layout;

typedef struct
{
  guint x, y, width, height;
  guint64 area;
  gdouble centroid_x, centroid_y;
} Blob;

/* The picture's components with the default properties. */
extern const Blob picture_blobs[];
extern const guint n_picture_blobs;

/* cudaccl's formats; ends with NULL. */
extern const gchar *const picture_formats[];

/* The duration of a frame from ccl_test_frame_new(). */
#define FRAME_TIME (GST_SECOND / 10)

/* The backends of this machine: the CPU, and CUDA if there is a device. */
guint ccl_test_n_backends (void);
const gchar *ccl_test_backend (gint index);

/* The main function of a test that needs a CUDA device: without one, exit status 77. */
int ccl_test_main_with_device (int argc, char **argv, Suite *(*suite) (void), const gchar *name,
                               const gchar *file);

/* A cudaccl element with properties as in g_object_set(). */
GstElement *ccl_test_element_new (const gchar *backend, ...) G_GNUC_NULL_TERMINATED;

/* A harness around cudaccl, for the picture in GRAY8, with properties as in g_object_set(). */
GstHarness *ccl_test_picture_harness_new (gint backend, ...) G_GNUC_NULL_TERMINATED;

/* Resource usage, sampled at regular intervals. Zero-initialise it. */
typedef struct
{
  guint n_looks;
  gsize before;
  gssize least; /* least growth between two samples */
} CclTestUsage;

void ccl_test_usage_look (CclTestUsage *usage, gsize now);

/* Limits the address space to what is used now and @bytes more, until ccl_test_unlimit_memory().
 * Returns FALSE, without a limit, where limits are not enforced: sanitizers and emulators. */
gboolean ccl_test_limit_memory (gsize bytes);
void ccl_test_unlimit_memory (void);

/* The number of allocations in the element's statistics. */
guint64 ccl_test_allocations (GstHarness *h);

/* The picture in read-only memory. Its timestamp and duration are one second. */
GstBuffer *ccl_test_picture_new (const gchar *format, Layout layout);

/* Writes the sample of @component whose highest 8 bits are @value; lower ones are random. */
void ccl_test_write_sample (const GstVideoFormatInfo *format, guint component, guint8 *sample,
                            guint8 value);

/* Crops @buffer, a frame of @width x @height, with metadata alone, as videocrop does. */
void ccl_test_crop (GstBuffer *buffer, guint width, guint height, guint left, guint top,
                    guint cropped_width, guint cropped_height);

/* A GRAY8 frame of background. */
GstBuffer *ccl_test_black_new (guint width, guint height);

/* The same with the times of frame @number of a stream of ten frames per second. */
GstBuffer *ccl_test_frame_new (guint width, guint height, guint number);

/* Adds a component's region of interest as cudaccl does; returns its parameters. */
GstStructure *ccl_test_add_roi (GstBuffer *buffer, const gchar *type, gint id,
                                const GstCclComponent *component);

/* Names the classes of @meta, from 1 on; @names ends with NULL. */
void ccl_test_set_names (GstCclMeta *meta, const gchar *const *names);

/* A buffer with @meta of @buffer as a scaler transforms it, from a frame of @old_width x
 * @old_height to one of @width x @height. */
GstBuffer *ccl_test_scaled_new (GstBuffer *buffer, GstMeta *meta, guint old_width, guint old_height,
                                guint width, guint height);

/* Asserts that both components are equal, their centroids up to @tolerance. */
void ccl_test_check_component (const GstCclComponent *component, const GstCclComponent *expected,
                               gdouble tolerance);

/* Asserts that @buffer has these components, in its GstCclMeta and in its regions of interest. */
void ccl_test_check_blobs (GstBuffer *buffer, const Blob *blobs, guint n_blobs, guint found);

/* Pushes @buffer, and asserts that it comes out with these components. */
void ccl_test_push_blobs (GstHarness *h, GstBuffer *buffer, const Blob *blobs, guint n_blobs,
                          guint found);

/* The same for the picture's components. */
void ccl_test_check_picture (GstBuffer *buffer);

/* Pushes the picture in GRAY8, and asserts that it comes out with its components. */
void ccl_test_push_picture (GstHarness *h);

/* Whether @buffer, which may be NULL, has the picture's components in its GstCclMeta. For threads
 * that must not assert. */
gboolean ccl_test_has_picture (GstBuffer *buffer);

/* Asserts that @buffer has neither a GstCclMeta nor regions of interest. */
void ccl_test_check_nothing (GstBuffer *buffer);

#endif /* __CCL_TEST_H__ */
