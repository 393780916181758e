/* cudaccl - helpers for the tests of elements and metadata: frames, and what is found in them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/sanitizer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>

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

const gchar *const picture_formats[] = {
  "GRAY8",     "NV12",      "NV21",      "I420",      "YV12",      "Y42B",      "Y444",
  "YUY2",      "UYVY",      "RGB",       "BGR",       "RGBx",      "BGRx",      "xRGB",
  "xBGR",      "RGBA",      "BGRA",      "ARGB",      "ABGR",      "GRAY16_LE", "GRAY16_BE",
  "I420_10LE", "I422_10LE", "Y444_10LE", "P010_10LE", "I420_12LE", "I422_12LE", "Y444_12LE",
  "P012_LE",   "P016_LE",   "Y444_16LE", NULL
};

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
  return FALSE; /* a sanitizer needs terabytes of addresses */
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
  return ccl_test_stat (h->element, "allocations");
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

void
ccl_test_write_sample (const GstVideoFormatInfo *format, guint component, guint8 *sample,
                       guint8 value)
{
  guint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, component);
  guint shift = GST_VIDEO_FORMAT_INFO_SHIFT (format, component);
  guint16 deep;

  if (depth <= 8) {
    *sample = value;
    return;
  }
  deep = (guint16) ((value << (depth - 8)) + g_random_int_range (0, 1 << (depth - 8)));
  deep = (guint16) (deep << shift);
  deep = GST_VIDEO_FORMAT_INFO_IS_LE (format) ? GUINT16_TO_LE (deep) : GUINT16_TO_BE (deep);
  memcpy (sample, &deep, sizeof deep); /* perhaps at an odd address */
}

/* Draws the picture in grey. */
static guint8 *
draw (const GstVideoFormatInfo *format, gsize size, gsize start, gint stride)
{
  gsize bytes = (gsize) GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0);
  guint8 *data = g_malloc (size);
  guint x, y;

  memset (data, 255, size);
  for (y = 0; y < PICTURE_HEIGHT; y++) {
    for (x = 0; x < PICTURE_WIDTH; x++) {
      guint8 *pixel = data + start + y * (gsize) stride + x * bytes, value = picture_value (x, y);

      /* All bytes of a colour, or of a pair's luma and chroma, are the same. */
      if (GST_VIDEO_FORMAT_INFO_DEPTH (format, 0) > 8)
        ccl_test_write_sample (format, 0, pixel, value);
      else
        memset (pixel, value, bytes);
    }
  }

  return data;
}

/* Appends the planes of @meta_info, one memory each, chroma first. */
static void
append_planes (GstBuffer *buffer, GstVideoInfo *meta_info)
{
  const gsize chroma_size = 512;
  guint i, n_planes = GST_VIDEO_INFO_N_PLANES (meta_info);
  gsize luma_size = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (meta_info, 0) * PICTURE_HEIGHT;

  for (i = 1; i < n_planes; i++) {
    GST_VIDEO_INFO_PLANE_OFFSET (meta_info, i) = (i - 1) * chroma_size;
    gst_buffer_append_memory (buffer, read_only_memory (g_malloc0 (chroma_size), chroma_size));
  }

  GST_VIDEO_INFO_PLANE_OFFSET (meta_info, 0) = (n_planes - 1) * chroma_size;
  gst_buffer_append_memory (buffer,
                            read_only_memory (draw (meta_info->finfo, luma_size, 0,
                                                    GST_VIDEO_INFO_PLANE_STRIDE (meta_info, 0)),
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
    gst_buffer_append_memory (buffer,
                              read_only_memory (draw (info.finfo, size, start, stride), size));
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

GstBuffer *
ccl_test_frame_new (guint width, guint height, guint number)
{
  GstBuffer *buffer = ccl_test_black_new (width, height);

  GST_BUFFER_PTS (buffer) = number * FRAME_TIME;
  GST_BUFFER_DURATION (buffer) = FRAME_TIME;

  return buffer;
}

GstStructure *
ccl_test_add_roi (GstBuffer *buffer, const gchar *type, gint id, const GstCclComponent *component)
{
  GstStructure *param =
      gst_structure_new ("cudaccl", "label", G_TYPE_UINT, component->label, "area", G_TYPE_UINT64,
                         component->area, "centroid-x", G_TYPE_DOUBLE, component->centroid_x,
                         "centroid-y", G_TYPE_DOUBLE, component->centroid_y, NULL);
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
      buffer, type, component->x, component->y, component->width, component->height);

  roi->id = id;
  gst_video_region_of_interest_meta_add_param (roi, param);

  return param;
}

void
ccl_test_set_names (GstCclMeta *meta, const gchar *const *names)
{
  GstCclClassNames *table = gst_ccl_class_names_new (names);

  gst_ccl_meta_set_class_names (meta, table);
  gst_ccl_class_names_unref (table);
}

GstBuffer *
ccl_test_scaled_new (GstBuffer *buffer, GstMeta *meta, guint old_width, guint old_height,
                     guint width, guint height)
{
  GstBuffer *scaled = gst_buffer_new ();
  GstVideoInfo from, to;
  GstVideoMetaTransform trans = { &from, &to };

  gst_video_info_set_format (&from, GST_VIDEO_FORMAT_GRAY8, old_width, old_height);
  gst_video_info_set_format (&to, GST_VIDEO_FORMAT_GRAY8, width, height);
  fail_unless (meta->info->transform_func (scaled, meta, buffer,
                                           gst_video_meta_transform_scale_get_quark (), &trans));

  return scaled;
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
  fail_unless_equals_int (component->flags, expected->flags);
  fail_unless_equals_int (component->static_age, expected->static_age);
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
ccl_test_push_blobs (GstHarness *h, GstBuffer *buffer, const Blob *blobs, guint n_blobs,
                     guint found)
{
  buffer = gst_harness_push_and_pull (h, buffer);
  ccl_test_check_blobs (buffer, blobs, n_blobs, found);
  gst_buffer_unref (buffer);
}

void
ccl_test_check_picture (GstBuffer *buffer)
{
  ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
}

void
ccl_test_push_picture (GstHarness *h)
{
  ccl_test_push_blobs (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED), picture_blobs,
                       n_picture_blobs, n_picture_blobs);
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
