/* cudaccl - helpers for the tests of elements and metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/sanitizer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Below Meson's limit for a test, so that what did not come is named; yet far above what a slow
 * machine takes, as it does not grow with Meson's. */
#define TIMEOUT (150 * GST_SECOND)

/* '#' is 255, '+' is 128, '-' is 127 and '.' is 0: a blob just above the default threshold, and
 * one just below. */
static const gchar *const picture[PICTURE_HEIGHT] = {
  "##.........#.", /* */
  "##........#..", /* */
  "......+++....", /* */
  "......+.+....", /* */
  "......+++....", /* */
  ".............", /* */
  "#...........-", /* */
};

const Blob picture_blobs[] = {
  { 0, 0, 2, 2, 4, 0.5, 0.5 },
  { 10, 0, 2, 2, 2, 10.5, 0.5 },
  { 6, 2, 3, 3, 8, 7.0, 3.0 },
  { 0, 6, 1, 1, 1, 0.0, 6.0 },
};
const guint n_picture_blobs = G_N_ELEMENTS (picture_blobs);

const gchar *const picture_formats[] = { "GRAY8", "NV12",      "NV21",      "I420", "YV12", "Y42B",
                                         "Y444",  "YUY2",      "UYVY",      "RGB",  "BGR",  "RGBx",
                                         "BGRx",  "xRGB",      "xBGR",      "RGBA", "BGRA", "ARGB",
                                         "ABGR",  "GRAY16_LE", "GRAY16_BE", NULL };

guint
ccl_test_n_backends (void)
{
  static gboolean told = FALSE;
  gboolean have_cuda = ccl_cuda_device_count () > 0;

  if (!have_cuda && !told)
    g_print ("skipping CUDA: %s\n", ccl_last_error ());
  told = TRUE;

  return have_cuda ? 2 : 1;
}

const gchar *
ccl_test_backend (gint index)
{
  return index == 0 ? "cpu" : "cuda";
}

int
ccl_test_main_with_device (int argc, char **argv, Suite *(*suite) (void), const gchar *name,
                           const gchar *file)
{
  gst_check_init (&argc, &argv);
  if (ccl_cuda_device_count () == 0) {
    g_print ("skipped: %s\n", ccl_last_error ());
    return 77;
  }

  return gst_check_run_suite (suite (), name, file);
}

void
ccl_test_set_valist (GstElement *element, va_list args)
{
  const gchar *property = va_arg (args, const gchar *);

  if (property)
    g_object_set_valist (G_OBJECT (element), property, args);
}

GstElement *
ccl_test_element_new (const gchar *backend, ...)
{
  GstElement *element = gst_element_factory_make ("cudaccl", NULL);
  va_list args;

  fail_unless (element != NULL, "the plugin is not in GST_PLUGIN_PATH");
  if (backend)
    gst_util_set_object_arg (G_OBJECT (element), "backend", backend);

  va_start (args, backend);
  ccl_test_set_valist (element, args);
  va_end (args);

  return element;
}

void
ccl_test_add_bus (GstElement *element)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_object_set_data_full (G_OBJECT (element), "test-bus", bus, gst_object_unref);
}

void
ccl_test_remove_bus (GstElement *element)
{
  GstBus *bus = g_object_get_data (G_OBJECT (element), "test-bus");

  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  /* Its messages hold references to the element, which holds one to the bus. */
  gst_bus_set_flushing (bus, TRUE);
}

GstHarness *
ccl_test_harness_new (GstElement *element, const gchar *format, gint width, gint height)
{
  GstHarness *h;

  ccl_test_add_bus (element);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  ccl_test_set_caps (h, format, width, height);

  return h;
}

GstHarness *
ccl_test_picture_harness_new (gint backend, ...)
{
  GstElement *element = ccl_test_element_new (ccl_test_backend (backend), NULL);
  va_list args;

  va_start (args, backend);
  ccl_test_set_valist (element, args);
  va_end (args);

  return ccl_test_harness_new (element, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
}

void
ccl_test_set_caps (GstHarness *h, const gchar *format, gint width, gint height)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                       G_TYPE_INT, width, "height", G_TYPE_INT, height, "framerate",
                                       GST_TYPE_FRACTION, 1, 1, NULL);

  gst_harness_set_src_caps (h, caps);
}

void
ccl_test_harness_free (GstHarness *h)
{
  ccl_test_remove_bus (h->element);
  gst_harness_teardown (h);
}

GstMessage *
ccl_test_pop_message (GstHarness *h, GstMessageType type)
{
  GstBus *bus = g_object_get_data (G_OBJECT (h->element), "test-bus");

  return gst_bus_pop_filtered (bus, type);
}

void
ccl_test_restart (GstHarness *h, GstState state)
{
  fail_unless_equals_int (gst_element_set_state (h->element, state), GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PLAYING),
                          GST_STATE_CHANGE_SUCCESS);
}

void
ccl_test_drain (GstHarness *h)
{
  GstMessage *message;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  while ((message = ccl_test_pop_message (h, GST_MESSAGE_ANY)))
    gst_message_unref (message);
}

static void
check_error (GstElement *element, GQuark domain, gint code, const gchar *text)
{
  GstBus *bus = g_object_get_data (G_OBJECT (element), "test-bus");
  GstMessage *message = gst_bus_timed_pop_filtered (bus, TIMEOUT, GST_MESSAGE_ERROR);
  GError *error = NULL;

  fail_unless (message != NULL, "no error was posted");
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code), "got %s %d: %s",
               g_quark_to_string (error->domain), error->code, error->message);
  fail_unless (strstr (error->message, text) != NULL, "'%s' is not in: %s", text, error->message);
  g_error_free (error);
  gst_message_unref (message);
}

void
ccl_test_check_error (GstHarness *h, GQuark domain, gint code, const gchar *text)
{
  check_error (h->element, domain, code, text);
}

void
ccl_test_check_start_fails (GstElement *element, GQuark domain, gint code, const gchar *text)
{
  ccl_test_add_bus (element);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
                          GST_STATE_CHANGE_FAILURE);
  check_error (element, domain, code, text);
  ccl_test_remove_bus (element);
  gst_object_unref (element);
}

void
ccl_test_wait_for (GstElement *pipeline, GstMessageType type)
{
  GstMessage *message =
      gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), TIMEOUT, type | GST_MESSAGE_ERROR);

  fail_unless (message && GST_MESSAGE_TYPE (message) == type);
  gst_message_unref (message);
}

static void
collect (GstElement *sink, GstBuffer *buffer, GstPad *pad, GPtrArray *buffers)
{
  g_ptr_array_add (buffers, gst_buffer_ref (buffer));
}

GPtrArray *
ccl_test_collect (GstElement *pipeline, const gchar *name)
{
  GPtrArray *buffers = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_signal_connect (sink, "handoff", G_CALLBACK (collect), buffers);
  gst_object_unref (sink);

  return buffers;
}

void
ccl_test_run_threads (GThreadFunc func, gpointer data, gsize size, guint n)
{
  GThread **threads = g_new (GThread *, n);
  guint i;

  for (i = 0; i < n; i++)
    threads[i] = g_thread_new (NULL, func, (guint8 *) data + i * size);
  for (i = 0; i < n; i++)
    fail_unless_equals_int (GPOINTER_TO_UINT (g_thread_join (threads[i])), 0);
  g_free (threads);
}

GstBufferPool *
ccl_test_pool_new (guint size, GstBuffer **buffer)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, size, 1, 1);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, buffer, NULL), GST_FLOW_OK);

  return pool;
}

void
ccl_test_check_pool (GstBufferPool *pool, gboolean is_back)
{
  GstBufferPoolAcquireParams params = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
  GstBuffer *buffer = NULL;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, &params),
                          is_back ? GST_FLOW_OK : GST_FLOW_EOS);
  gst_clear_buffer (&buffer);
}

void
ccl_test_set_times (GstBuffer *buffer)
{
  GST_BUFFER_PTS (buffer) = 7 * GST_SECOND;
  GST_BUFFER_DTS (buffer) = 6 * GST_SECOND;
  GST_BUFFER_DURATION (buffer) = 5 * GST_SECOND;
  GST_BUFFER_OFFSET (buffer) = 4;
  GST_BUFFER_OFFSET_END (buffer) = 3;
}

void
ccl_test_check_times (GstBuffer *buffer)
{
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 7 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), 6 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 5 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), 4);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (buffer), 3);
}

void
ccl_test_flush (GstHarness *h, GstBuffer *buffer)
{
  GstSegment segment;

  gst_harness_push_event (h, gst_event_new_flush_start ());
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_FLUSHING);
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

gboolean
ccl_test_send_caps (GstHarness *h, GstCaps *caps)
{
  GstPad *pad = gst_pad_get_peer (h->srcpad);
  gboolean taken = gst_pad_send_event (pad, gst_event_new_caps (caps));

  gst_object_unref (pad);

  return taken;
}

void
ccl_test_check_size_needed (GstHarness *h)
{
  static const gchar *const texts[] = { "video/x-raw,format=GRAY8,framerate=1/1",
                                        "video/x-raw,format=GRAY8,width=0,height=7" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++) {
    GstCaps *caps = gst_caps_from_string (texts[i]);

    fail_if (ccl_test_send_caps (h, caps), "%s", texts[i]);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "size");
    gst_caps_unref (caps);
  }
}

void
ccl_test_usage_look (CclTestUsage *usage, gsize now)
{
  gssize growth = (gssize) (now - usage->before);

  if (usage->n_looks > 0)
    usage->least = usage->n_looks > 1 ? MIN (usage->least, growth) : growth;
  usage->before = now;
  usage->n_looks++;
}

static struct rlimit unlimited;

gboolean
ccl_test_limit_memory (gsize bytes)
{
  struct rlimit low;
  gchar *statm;
  gpointer more;

  fail_unless (g_file_get_contents ("/proc/self/statm", &statm, NULL, NULL));
  fail_unless_equals_int (getrlimit (RLIMIT_AS, &unlimited), 0);
  low = unlimited;
  low.rlim_cur = strtoul (statm, NULL, 10) * (gulong) sysconf (_SC_PAGESIZE) + bytes;
  g_free (statm);

#if TEST_SANITIZER
  return FALSE; /* it needs terabytes of addresses */
#endif
  fail_unless_equals_int (setrlimit (RLIMIT_AS, &low), 0);
  more = mmap (NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (more == MAP_FAILED)
    return TRUE;

  munmap (more, 2 * bytes);
  ccl_test_unlimit_memory ();
  g_print ("skipped: limits of the address space are not enforced\n");

  return FALSE;
}

void
ccl_test_unlimit_memory (void)
{
  fail_unless_equals_int (setrlimit (RLIMIT_AS, &unlimited), 0);
}

guint64
ccl_test_allocations (GstHarness *h)
{
  GstStructure *stats;
  guint64 n;

  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "allocations", &n));
  gst_structure_free (stats);

  return n;
}

static guint8
picture_value (guint x, guint y)
{
  switch (picture[y][x]) {
  case '#':
    return 255;
  case '+':
    return 128;
  case '-':
    return 127;
  default:
    return 0;
  }
}

static GstMemory *
read_only_memory (guint8 *data, gsize size)
{
  return gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, data, size, 0, size, data, g_free);
}

/* Draws the picture in grey, with all @bytes of a pixel of one value. */
static guint8 *
draw (gsize size, gsize start, gint stride, gsize bytes)
{
  guint8 *data = g_malloc (size);
  guint x, y;

  memset (data, 255, size);
  for (y = 0; y < PICTURE_HEIGHT; y++) {
    for (x = 0; x < PICTURE_WIDTH; x++)
      memset (data + start + y * (gsize) stride + x * bytes, picture_value (x, y), bytes);
  }

  return data;
}

/* Appends the planes of @meta_info, each in a memory of its own, chroma first. */
static void
append_planes (GstBuffer *buffer, GstVideoInfo *meta_info)
{
  const gsize chroma_size = 512;
  guint i, n_planes = GST_VIDEO_INFO_N_PLANES (meta_info);
  gsize bytes = (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (meta_info, 0);
  gsize luma_size = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (meta_info, 0) * PICTURE_HEIGHT;

  for (i = 1; i < n_planes; i++) {
    GST_VIDEO_INFO_PLANE_OFFSET (meta_info, i) = (i - 1) * chroma_size;
    gst_buffer_append_memory (buffer, read_only_memory (g_malloc0 (chroma_size), chroma_size));
  }

  GST_VIDEO_INFO_PLANE_OFFSET (meta_info, 0) = (n_planes - 1) * chroma_size;
  gst_buffer_append_memory (
      buffer,
      read_only_memory (draw (luma_size, 0, GST_VIDEO_INFO_PLANE_STRIDE (meta_info, 0), bytes),
                        luma_size));
}

static void
add_video_meta (GstBuffer *buffer, const GstVideoInfo *info)
{
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                                  GST_VIDEO_INFO_N_PLANES (info), (gsize *) info->offset,
                                  (gint *) info->stride);
}

GstBuffer *
ccl_test_picture_new (const gchar *format, Layout layout)
{
  GstVideoFormat video_format = gst_video_format_from_string (format);
  GstBuffer *buffer = gst_buffer_new ();
  GstVideoInfo info, larger;
  GstVideoCropMeta *crop;
  gsize start = 0, size, bytes;
  gint stride;

  gst_video_info_set_format (&info, video_format, PICTURE_WIDTH, PICTURE_HEIGHT);
  gst_video_info_set_format (&larger, video_format, 40, 30);
  stride = GST_VIDEO_INFO_PLANE_STRIDE (layout == LAYOUT_PACKED ? &info : &larger, 0);
  size = GST_VIDEO_INFO_SIZE (layout == LAYOUT_PACKED ? &info : &larger);
  bytes = (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0);

  GST_BUFFER_PTS (buffer) = GST_SECOND;
  GST_BUFFER_DURATION (buffer) = GST_SECOND;

  if (layout == LAYOUT_PADDED)
    start = 5;
  else if (layout == LAYOUT_WINDOW || layout == LAYOUT_CROP_META)
    start = 9 * (gsize) stride + 11 * bytes;

  if (layout != LAYOUT_PLANES)
    gst_buffer_append_memory (buffer, read_only_memory (draw (size, start, stride, bytes), size));
  else
    append_planes (buffer, &info);

  if (layout == LAYOUT_PADDED || layout == LAYOUT_WINDOW) {
    memcpy (info.offset, larger.offset, sizeof (info.offset));
    memcpy (info.stride, larger.stride, sizeof (info.stride));
    GST_VIDEO_INFO_PLANE_OFFSET (&info, 0) = start;
  }

  if (layout == LAYOUT_CROP_META) {
    add_video_meta (buffer, &larger);
    crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = 11;
    crop->y = 9;
    crop->width = PICTURE_WIDTH;
    crop->height = PICTURE_HEIGHT;
  } else if (layout != LAYOUT_PACKED) {
    add_video_meta (buffer, &info);
  }

  return buffer;
}

void
ccl_test_crop (GstBuffer *buffer, guint width, guint height, guint left, guint top,
               guint cropped_width, guint cropped_height)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

  crop->x = left;
  crop->y = top;
  crop->width = cropped_width;
  crop->height = cropped_height;
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width,
                             height);
}

GstBuffer *
ccl_test_black_new (guint width, guint height)
{
  GstVideoInfo info;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, width, height);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_memset (buffer, 0, 0, GST_VIDEO_INFO_SIZE (&info));

  return buffer;
}

void
ccl_test_check_component (const GstCclComponent *component, const GstCclComponent *expected,
                          gdouble tolerance)
{
  fail_unless_equals_int (component->label, expected->label);
  fail_unless_equals_int (component->x, expected->x);
  fail_unless_equals_int (component->y, expected->y);
  fail_unless_equals_int (component->width, expected->width);
  fail_unless_equals_int (component->height, expected->height);
  fail_unless_equals_uint64 (component->area, expected->area);
  fail_unless (ABS (component->centroid_x - expected->centroid_x) <= tolerance, "%f is not %f",
               component->centroid_x, expected->centroid_x);
  fail_unless (ABS (component->centroid_y - expected->centroid_y) <= tolerance, "%f is not %f",
               component->centroid_y, expected->centroid_y);
  fail_unless_equals_int (component->track, expected->track);
  fail_unless_equals_uint64 (component->age, expected->age);
  fail_unless (ABS (component->velocity_x - expected->velocity_x) <= tolerance);
  fail_unless (ABS (component->velocity_y - expected->velocity_y) <= tolerance);
  fail_unless_equals_int (component->class_id, expected->class_id);
  fail_unless (component->confidence == expected->confidence, "%f is not %f", component->confidence,
               expected->confidence);
}

static void
check_roi (GstBuffer *buffer, guint index, const Blob *blob)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_get_video_region_of_interest_meta_id (buffer, (gint) index);
  gdouble centroid_x, centroid_y;
  GstStructure *param;
  guint64 area;
  guint label;

  fail_unless (roi != NULL, "no region of interest %u", index);
  fail_unless_equals_string (g_quark_to_string (roi->roi_type), "blob");
  fail_unless_equals_int (roi->x, blob->x);
  fail_unless_equals_int (roi->y, blob->y);
  fail_unless_equals_int (roi->w, blob->width);
  fail_unless_equals_int (roi->h, blob->height);

  param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
  fail_unless (param != NULL);
  fail_unless_equals_int (gst_structure_n_fields (param), 4);
  fail_unless (gst_structure_get (param, "label", G_TYPE_UINT, &label, "area", G_TYPE_UINT64, &area,
                                  "centroid-x", G_TYPE_DOUBLE, &centroid_x, "centroid-y",
                                  G_TYPE_DOUBLE, &centroid_y, NULL));
  fail_unless_equals_int (label, index + 1);
  fail_unless_equals_uint64 (area, blob->area);
  fail_unless (ABS (centroid_x - blob->centroid_x) < 1e-9);
  fail_unless (ABS (centroid_y - blob->centroid_y) < 1e-9);
}

void
ccl_test_check_blobs (GstBuffer *buffer, const Blob *blobs, guint n_blobs, guint found)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint i;

  fail_unless (meta != NULL);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (meta), n_blobs);
  fail_unless_equals_int (meta->found, found);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), n_blobs);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE), 1);

  for (i = 0; i < n_blobs; i++) {
    const Blob *blob = &blobs[i];
    const GstCclComponent expected = {
      i + 1,        blob->x,    blob->y,          blob->width,
      blob->height, blob->area, blob->centroid_x, blob->centroid_y,
    };

    ccl_test_check_component (gst_ccl_meta_get_component (meta, i), &expected, 1e-9);
    check_roi (buffer, i, blob);
  }
}

void
ccl_test_check_picture (GstBuffer *buffer)
{
  ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
}

void
ccl_test_push_picture (GstHarness *h)
{
  GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));

  ccl_test_check_picture (buffer);
  gst_buffer_unref (buffer);
}

gboolean
ccl_test_has_picture (GstBuffer *buffer)
{
  GstCclMeta *meta = buffer ? gst_buffer_get_ccl_meta (buffer) : NULL;
  guint i;

  if (!meta || meta->n_components != n_picture_blobs)
    return FALSE;
  for (i = 0; i < n_picture_blobs; i++) {
    const GstCclComponent *component = gst_ccl_meta_get_component (meta, i);

    if (component->x != picture_blobs[i].x || component->y != picture_blobs[i].y ||
        component->area != picture_blobs[i].area)
      return FALSE;
  }

  return TRUE;
}

void
ccl_test_check_nothing (GstBuffer *buffer)
{
  fail_unless (gst_buffer_get_ccl_meta (buffer) == NULL);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 0);
}
