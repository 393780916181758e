/* cudaccl - helpers for the tests of elements and metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_TEST_H__
#define __CCL_TEST_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
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

/* The element's formats; ends with NULL. */
extern const gchar *const picture_formats[];

/* The backends of this machine: the CPU, and CUDA if there is a device. */
guint ccl_test_n_backends (void);
const gchar *ccl_test_backend (gint index);

/* The main function of a test that needs a CUDA device: without one, exit status 77. */
int ccl_test_main_with_device (int argc, char **argv, Suite *(*suite) (void), const gchar *name,
                               const gchar *file);

/* Like g_object_set_valist(), but the first property may be NULL. */
void ccl_test_set_valist (GstElement *element, va_list args);

/* A cudaccl element with properties as in g_object_set(). */
GstElement *ccl_test_element_new (const gchar *backend, ...) G_GNUC_NULL_TERMINATED;

/* Gives @element a bus for ccl_test_pop_message(). Remove it, which stops the element, before
 * dropping the last reference. */
void ccl_test_add_bus (GstElement *element);
void ccl_test_remove_bus (GstElement *element);

/* A harness around @element, which is consumed, with a bus for ccl_test_pop_message(). */
GstHarness *ccl_test_harness_new (GstElement *element, const gchar *format, gint width,
                                  gint height);
void ccl_test_harness_free (GstHarness *h);

/* A harness around cudaccl, for the picture in GRAY8, with properties as in g_object_set(). */
GstHarness *ccl_test_picture_harness_new (gint backend, ...) G_GNUC_NULL_TERMINATED;

/* Caps for the next frames, one per second. */
void ccl_test_set_caps (GstHarness *h, const gchar *format, gint width, gint height);

/* The next message of that type, or NULL. */
GstMessage *ccl_test_pop_message (GstHarness *h, GstMessageType type);

/* Sets the element to @state and back to PLAYING. Its pads lose their caps. */
void ccl_test_restart (GstHarness *h, GstState state);

/* Drops all messages and all events received. */
void ccl_test_drain (GstHarness *h);

/* Asserts that an error with that domain and code, and with @text in it, was posted or is soon. */
void ccl_test_check_error (GstHarness *h, GQuark domain, gint code, const gchar *text);

/* Asserts that @element, which is consumed, does not start and posts such an error. */
void ccl_test_check_start_fails (GstElement *element, GQuark domain, gint code, const gchar *text);

/* Waits for a message of that type from @pipeline; asserts that no error comes
 * first. */
void ccl_test_wait_for (GstElement *pipeline, GstMessageType type);

/* The buffers that reach the sink @name, which has signal-handoffs=true, from now on. */
GPtrArray *ccl_test_collect (GstElement *pipeline, const gchar *name);

/* Runs @func in @n threads, each with an item of the array @data, whose items have @size bytes.
 * @func returns how many frames came out wrong, as GUINT_TO_POINTER (); asserts that none did.
 * Assertions must not fail in other threads than the main one. */
void ccl_test_run_threads (GThreadFunc func, gpointer data, gsize size, guint n);

/* An active pool of one buffer of @size bytes, which is acquired. */
GstBufferPool *ccl_test_pool_new (guint size, GstBuffer **buffer);

/* Asserts that the pool has its buffer back, or that it does not. */
void ccl_test_check_pool (GstBufferPool *pool, gboolean is_back);

/* Give a buffer all times and offsets that a buffer may have; assert that @buffer has them. */
void ccl_test_set_times (GstBuffer *buffer);
void ccl_test_check_times (GstBuffer *buffer);

/* Flushes. Asserts that @buffer, which is consumed, is refused meanwhile. */
void ccl_test_flush (GstHarness *h, GstBuffer *buffer);

/* Whether the element accepts a caps event; gst_harness_set_src_caps() does not tell. */
gboolean ccl_test_send_caps (GstHarness *h, GstCaps *caps);

/* Asserts that caps without a frame size are refused with an error that says so. */
void ccl_test_check_size_needed (GstHarness *h);

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

/* Makes only a part of @buffer, a frame of @width x @height, visible, as videocrop does. */
void ccl_test_crop (GstBuffer *buffer, guint width, guint height, guint left, guint top,
                    guint cropped_width, guint cropped_height);

/* A GRAY8 frame of background. */
GstBuffer *ccl_test_black_new (guint width, guint height);

/* Asserts that both components are equal, their centroids up to @tolerance. */
void ccl_test_check_component (const GstCclComponent *component, const GstCclComponent *expected,
                               gdouble tolerance);

/* Asserts that @buffer has these components, in its GstCclMeta and in its regions of interest. */
void ccl_test_check_blobs (GstBuffer *buffer, const Blob *blobs, guint n_blobs, guint found);

/* The same for the picture's components. */
void ccl_test_check_picture (GstBuffer *buffer);

/* Pushes the picture in GRAY8, and asserts that it comes out with its components. */
void ccl_test_push_picture (GstHarness *h);

/* Whether @buffer, which may be NULL, has the picture's components in its GstCclMeta; for threads
 * other than the main one, where assertions must not fail. */
gboolean ccl_test_has_picture (GstBuffer *buffer);

/* Asserts that @buffer has neither a GstCclMeta nor regions of interest. */
void ccl_test_check_nothing (GstBuffer *buffer);

#endif /* __CCL_TEST_H__ */
