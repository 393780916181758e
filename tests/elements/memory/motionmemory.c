/* cudaccl - tests of cclmotion and cclmask with frames in every kind of memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#ifdef HAVE_GSTCUDA
#include "tests/lib/cclcudatest.h"
#endif
#ifdef HAVE_NVMM
#include "tests/lib/cclnvmmtest.h"
#endif
#include "tests/lib/device.h"

#include <string.h>

#define FRAME_WIDTH 148 /* rows without padding in GRAY8, but not of whole vectors */
#define FRAME_HEIGHT 74
#define FRAMES 30

/* Margins around the visible part of a crop. */
#define LEFT 6
#define TOP 4

/* A picture of a camera in system memory, with crop metadata if the visible part is smaller. */
typedef struct
{
  GstVideoInfo info;
  gboolean crop;
} Camera;

static void
camera_init (Camera *camera, const gchar *format, gboolean crop)
{
  camera->crop = crop;
  gst_video_info_set_format (&camera->info, gst_video_format_from_string (format),
                             FRAME_WIDTH + (crop ? 2 * LEFT : 0),
                             FRAME_HEIGHT + (crop ? 2 * TOP : 0));
}

static void
crop_buffer (const Camera *camera, GstBuffer *buffer)
{
  GstVideoCropMeta *meta;

  if (!camera->crop)
    return;
  meta = gst_buffer_add_video_crop_meta (buffer);
  meta->x = LEFT;
  meta->y = TOP;
  meta->width = FRAME_WIDTH;
  meta->height = FRAME_HEIGHT;
}

/* Frame number @n: texture with noise, and a square with a shadow and a colour of its own. */
static GstBuffer *
camera_shoot (const Camera *camera, guint n)
{
  GstVideoInfo *info = (GstVideoInfo *) &camera->info;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  gint left = (gint) (n * 7 % 90), x, y;
  GstVideoFrame frame;
  guint c;

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  (guint) GST_VIDEO_INFO_WIDTH (info),
                                  (guint) GST_VIDEO_INFO_HEIGHT (info),
                                  GST_VIDEO_INFO_N_PLANES (info), info->offset, info->stride);
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++) {
    gint scale = GST_VIDEO_INFO_WIDTH (info) / GST_VIDEO_FRAME_COMP_WIDTH (&frame, c);

    for (y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++) {
      guint8 *row = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c) +
                    y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c);

      for (x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++) {
        gint at = x * scale - left;
        gint value = c > 0 ? 128 : 90 + (x / 4 * 5 + y / 3 * 7) % 40;

        if (n > 10 && at >= 20 && at < 40)
          value = c > 0 ? 90 : 210;
        else if (n > 10 && at >= 40 && at < 60 && c == 0)
          value = value * 7 / 10;
        row[x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)] =
            (guint8) (value + g_random_int_range (0, 4));
      }
    }
  }
  gst_video_frame_unmap (&frame);
  crop_buffer (camera, buffer);

  return buffer;
}

/* A kind of memory: the caps of its frames, and copies of frames in it. */
typedef struct
{
  const gchar *what, *feature, *format;
  gboolean crop;
  GstBuffer *(*copy) (const Camera *camera, GstBuffer *buffer, gpointer data);
  gint data; /* index of a kind of surface */
} Kind;

static GstBuffer *
copy_system (const Camera *camera, GstBuffer *buffer, gpointer data)
{
  return gst_buffer_ref (buffer);
}

#ifdef HAVE_GSTCUDA
static GstBuffer *
copy_cuda (const Camera *camera, GstBuffer *buffer, gpointer data)
{
  GstBuffer *copy = ccl_test_cuda_buffer_new (data, &camera->info);
  GstVideoFrame from, to;

  ccl_test_cuda_add_meta (copy);
  fail_unless (gst_video_frame_map (&from, (GstVideoInfo *) &camera->info, buffer, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&to, (GstVideoInfo *) &camera->info, copy, GST_MAP_WRITE));
  fail_unless (gst_video_frame_copy (&to, &from));
  gst_video_frame_unmap (&from);
  gst_video_frame_unmap (&to);
  crop_buffer (camera, copy);

  return copy;
}
#endif

#ifdef HAVE_NVMM
static const NvmmKind surfaces[] = {
  { NVBUF_MEM_CUDA_DEVICE, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_CUDA_PINNED, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SYSTEM, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_BLOCK_LINEAR },
};

static GstBuffer *
copy_nvmm (const Camera *camera, GstBuffer *buffer, gpointer data)
{
  const NvmmKind *kind = data;
  NvFakePlane planes[GST_VIDEO_MAX_PLANES];
  NvBufSurface *surface;
  GstVideoFrame frame;
  guint i, c;

  fail_unless (gst_video_frame_map (&frame, (GstVideoInfo *) &camera->info, buffer, GST_MAP_READ));
  for (i = 0; i < GST_VIDEO_FRAME_N_PLANES (&frame); i++) {
    for (c = 0; GST_VIDEO_INFO_COMP_PLANE (&camera->info, c) != i; c++)
      ;
    planes[i] = (NvFakePlane){
      .pixels = GST_VIDEO_FRAME_PLANE_DATA (&frame, i),
      .stride = (guint) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, i),
      .width = (guint) (GST_VIDEO_FRAME_COMP_WIDTH (&frame, c) *
                        GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)),
      .height = (guint) GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c),
    };
  }
  surface = nv_fake_surface_new_planes (kind->type, kind->layout, planes,
                                        GST_VIDEO_FRAME_N_PLANES (&frame));
  gst_video_frame_unmap (&frame);
  buffer = ccl_test_nvmm_buffer_new (ccl_test_nvmm_memory_new (surface));
  crop_buffer (camera, buffer);

  return buffer;
}
#endif

static const Kind kinds[] = {
  { "system memory", NULL, "NV12", FALSE, copy_system, 0 },
  { "system memory, cropped", NULL, "I420", TRUE, copy_system, 0 },
  { "system memory, luma", NULL, "GRAY8", FALSE, copy_system, 0 },
#ifdef HAVE_GSTCUDA
  { "CUDAMemory", "memory:CUDAMemory", "NV12", FALSE, copy_cuda, 0 },
  { "CUDAMemory, cropped", "memory:CUDAMemory", "NV12", TRUE, copy_cuda, 0 },
  { "CUDAMemory", "memory:CUDAMemory", "NV21", FALSE, copy_cuda, 0 },
  { "CUDAMemory, cropped", "memory:CUDAMemory", "I420", TRUE, copy_cuda, 0 },
  { "CUDAMemory", "memory:CUDAMemory", "YV12", FALSE, copy_cuda, 0 },
  { "CUDAMemory", "memory:CUDAMemory", "Y42B", FALSE, copy_cuda, 0 },
  { "CUDAMemory", "memory:CUDAMemory", "Y444", FALSE, copy_cuda, 0 },
#endif
#ifdef HAVE_NVMM
  { "NVMM, device memory", "memory:NVMM", "NV12", FALSE, copy_nvmm, 0 },
  { "NVMM, device memory, cropped", "memory:NVMM", "NV12", TRUE, copy_nvmm, 0 },
  { "NVMM, device memory, cropped", "memory:NVMM", "I420", TRUE, copy_nvmm, 0 },
  { "NVMM, pinned memory", "memory:NVMM", "I420", FALSE, copy_nvmm, 1 },
  { "NVMM, host memory", "memory:NVMM", "NV12", FALSE, copy_nvmm, 2 },
  { "NVMM, EGL image in rows", "memory:NVMM", "NV12", FALSE, copy_nvmm, 3 },
  { "NVMM, EGL image in rows, cropped", "memory:NVMM", "I420", TRUE, copy_nvmm, 3 },
  { "NVMM, EGL image in blocks", "memory:NVMM", "NV12", FALSE, copy_nvmm, 4 },
  { "NVMM, EGL image in blocks", "memory:NVMM", "I420", FALSE, copy_nvmm, 4 },
  { "NVMM, EGL image in blocks", "memory:NVMM", "GRAY8", FALSE, copy_nvmm, 4 },
#endif
};

static GstHarness *
motion_new (const gchar *name, const gchar *backend, const gchar *feature, const gchar *format,
            guint scale)
{
  GstHarness *h =
      ccl_test_launch (8, 8, "%s backend=%s shadows=mark scale=%u", name, backend, scale);
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                       G_TYPE_INT, FRAME_WIDTH, "height", G_TYPE_INT, FRAME_HEIGHT,
                                       "framerate", GST_TYPE_FRACTION, 25, 1, NULL);

  if (feature)
    gst_caps_set_features_simple (caps, gst_caps_features_new (feature, NULL));
  gst_harness_set_src_caps (h, caps);

  return h;
}

static gboolean
same_component (const GstCclComponent *a, const GstCclComponent *b)
{
  return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height &&
         a->area == b->area && a->centroid_x == b->centroid_x && a->centroid_y == b->centroid_y;
}

/* Asserts that both frames have the same components; returns how many. */
static guint
compare_components (const gchar *what, guint n, GstBuffer *expected, GstBuffer *got)
{
  GstCclMeta *a = gst_buffer_get_ccl_meta (expected), *b = gst_buffer_get_ccl_meta (got);
  guint i;

  fail_unless (a && b);
  fail_unless (a->n_components == b->n_components, "%s, frame %u: %u components instead of %u",
               what, n, b->n_components, a->n_components);
  for (i = 0; i < a->n_components; i++)
    fail_unless (same_component (&a->components[i], &b->components[i]),
                 "%s, frame %u: component %u is another", what, n, i);

  return a->n_components;
}

static void
compare_pixels (const gchar *what, guint n, GstBuffer *expected, GstBuffer *got)
{
  GstMapInfo a, b;

  fail_unless (gst_buffer_map (expected, &a, GST_MAP_READ));
  fail_unless (gst_buffer_map (got, &b, GST_MAP_READ));
  fail_unless (a.size == b.size && memcmp (a.data, b.data, a.size) == 0,
               "%s, frame %u: another mask", what, n);
  gst_buffer_unmap (expected, &a);
  gst_buffer_unmap (got, &b);
}

/* The element finds the same as with the CPU. */
static void
check_kind (const gchar *name, const Kind *kind, guint scale)
{
  GstHarness *cpu = motion_new (name, "cpu", NULL, kind->format, scale);
  GstHarness *cuda = motion_new (name, "cuda", kind->feature, kind->format, scale);
  guint64 before = 0;
  gpointer data = NULL;
  guint n, found = 0;
  Camera camera;

#ifdef HAVE_GSTCUDA
  if (kind->copy == copy_cuda)
    data = gst_cuda_context_new (TEST_DEVICE);
#endif
#ifdef HAVE_NVMM
  if (kind->copy == copy_nvmm)
    data = (gpointer) &surfaces[kind->data];
#endif
  camera_init (&camera, kind->format, kind->crop);
  for (n = 0; n < FRAMES; n++) {
    GstBuffer *frame = camera_shoot (&camera, n), *copy, *expected, *got;

    GST_BUFFER_PTS (frame) = n * 40 * GST_MSECOND;
    copy = kind->copy (&camera, frame, data);
    if (copy != frame)
      GST_BUFFER_PTS (copy) = GST_BUFFER_PTS (frame);
    fail_unless_equals_int (gst_harness_push (cuda, copy), GST_FLOW_OK);
    fail_unless_equals_int (gst_harness_push (cpu, frame), GST_FLOW_OK);
    got = gst_harness_pull (cuda);
    expected = gst_harness_pull (cpu);
    found += compare_components (kind->what, n, expected, got);
    if (g_str_equal (name, "cclmask"))
      compare_pixels (kind->what, n, expected, got);
    gst_buffer_unref (expected);
    gst_buffer_unref (got);
    if (n == 1)
      before = ccl_test_allocations (cuda);
  }
  fail_unless (found > 0);
  fail_unless_equals_uint64 (ccl_test_allocations (cuda), before);

  ccl_test_harness_free (cpu);
  ccl_test_harness_free (cuda);
#ifdef HAVE_GSTCUDA
  if (kind->copy == copy_cuda)
    gst_object_unref (data);
#endif
}

GST_START_TEST (test_components)
{
  check_kind ("cclmotion", &kinds[__i__], 1);
}
GST_END_TEST;

GST_START_TEST (test_masks)
{
  check_kind ("cclmask", &kinds[__i__], 1U << __i__ % 3);
}
GST_END_TEST;

static Suite *
motionmemory_suite (void)
{
  Suite *s = suite_create ("motionmemory");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
#ifdef HAVE_GSTCUDA
  gst_cuda_load_library ();
#endif
  tcase_add_loop_test (tc, test_components, 0, G_N_ELEMENTS (kinds));
  tcase_add_loop_test (tc, test_masks, 0, G_N_ELEMENTS (kinds));

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, motionmemory_suite, "motionmemory", __FILE__);
}
