/* cudaccl - tests of frames in NVIDIA's video memory, in a stand-in for it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccltest.h"
#include "standin/nvstandin.h"

static const struct
{
  NvBufSurfaceMemType type;
  NvBufSurfaceLayout layout;
} kinds[] = {
  { NVBUF_MEM_CUDA_DEVICE, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_CUDA_UNIFIED, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_CUDA_PINNED, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SYSTEM, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_BLOCK_LINEAR },
};

static const gchar *const formats[] = { "NV12", "I420", "GRAY8" };

static gboolean
have_device (void)
{
  gboolean have = ccl_cuda_device_count () > 0;

  if (!have)
    g_print ("skipped: %s\n", ccl_last_error ());

  return have;
}

static void
set_nvmm_caps (GstHarness *h, const gchar *format, guint width, guint height)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                       G_TYPE_INT, (gint) width, "height", G_TYPE_INT,
                                       (gint) height, "framerate", GST_TYPE_FRACTION, 1, 1, NULL);

  gst_caps_set_features_simple (caps, gst_caps_features_new ("memory:NVMM", NULL));
  gst_harness_set_src_caps (h, caps);
}

static GstHarness *
harness_new (const gchar *format, guint width, guint height)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new ("auto", NULL), "GRAY8", 8, 8);

  set_nvmm_caps (h, format, width, height);

  return h;
}

/* The luma of the picture, or of the larger one that it is cut from. */
static NvBufSurface *
surface_new (guint kind, gboolean larger)
{
  GstBuffer *picture = ccl_test_picture_new ("GRAY8", larger ? LAYOUT_CROP_META : LAYOUT_PACKED);
  GstVideoMeta *meta = gst_buffer_get_video_meta (picture);
  NvBufSurface *surface;
  GstMapInfo map;

  gst_buffer_map (picture, &map, GST_MAP_READ);
  surface = nv_standin_surface_new (
      kinds[kind].type, kinds[kind].layout, map.data,
      larger ? (guint) meta->stride[0] : (guint) GST_ROUND_UP_4 (PICTURE_WIDTH),
      larger ? meta->width : PICTURE_WIDTH, larger ? meta->height : PICTURE_HEIGHT);
  gst_buffer_unmap (picture, &map);
  gst_buffer_unref (picture);

  return surface;
}

/* As NVIDIA's elements have it: the data of the memory is the surface, which goes with it. */
static GstMemory *
memory_new (NvBufSurface *surface)
{
  return gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, surface, sizeof (*surface), 0,
                                 sizeof (*surface), surface,
                                 (GDestroyNotify) nv_standin_surface_free);
}

static GstBuffer *
buffer_new (GstMemory *memory)
{
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_append_memory (buffer, memory);

  return buffer;
}

static void
check_picture (GstHarness *h, GstBuffer *buffer)
{
  GstBuffer *out = gst_harness_push_and_pull (h, buffer);

  fail_unless (out != NULL);
  ccl_test_check_blobs (out, picture_blobs, n_picture_blobs, n_picture_blobs);
  gst_buffer_unref (out);
}

/* Asserts that the frame makes the element fail with @text. */
static void
check_refused (GstHarness *h, GstBuffer *buffer, GQuark domain, gint code, const gchar *text)
{
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  ccl_test_check_error (h, domain, code, text);
}

/* Every kind of memory in every format gives what the picture has. */
GST_START_TEST (test_kinds)
{
  guint kind, i;

  for (kind = 0; have_device () && kind < G_N_ELEMENTS (kinds); kind++) {
    for (i = 0; i < G_N_ELEMENTS (formats); i++) {
      GstHarness *h = harness_new (formats[i], PICTURE_WIDTH, PICTURE_HEIGHT);

      check_picture (h, buffer_new (memory_new (surface_new (kind, FALSE))));
      ccl_test_harness_free (h);
    }
  }
}
GST_END_TEST;

/* Only what is visible is looked at; blocks have no addresses from which that could begin. */
GST_START_TEST (test_crop)
{
  guint kind;

  for (kind = 0; have_device () && kind < G_N_ELEMENTS (kinds); kind++) {
    GstHarness *h = harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
    GstBuffer *buffer = buffer_new (memory_new (surface_new (kind, TRUE)));
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

    crop->x = 11;
    crop->y = 9;
    crop->width = PICTURE_WIDTH;
    crop->height = PICTURE_HEIGHT;
    if (kinds[kind].layout == NVBUF_LAYOUT_PITCH)
      check_picture (h, buffer);
    else
      check_refused (h, buffer, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "nvvidconv");
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static void
check_counts (const NvStandinCounts *before, guint made, guint undone)
{
  const NvStandinCounts *now = nv_standin_counts ();

  fail_unless_equals_int (now->mapped - before->mapped, made);
  fail_unless_equals_int (now->registered - before->registered, made);
  fail_unless_equals_int (now->unmapped - before->unmapped, undone);
  fail_unless_equals_int (now->unregistered - before->unregistered, undone);
}

/* Every surface of a pool is shown to CUDA once: whatever comes in between, and whichever element
 * reads it. The end of the pool undoes that. */
GST_START_TEST (test_registered_once)
{
  NvStandinCounts before = *nv_standin_counts ();
  GstMemory *memories[6];
  GstHarness *h[2];
  guint i, k;

  if (!have_device ())
    return;

  for (i = 0; i < G_N_ELEMENTS (memories); i++)
    memories[i] = memory_new (surface_new (4 + i % 2, FALSE));
  for (i = 0; i < 2; i++)
    h[i] = harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);

  for (k = 0; k < 5; k++) {
    for (i = 0; i < G_N_ELEMENTS (memories); i++) {
      check_picture (h[0], buffer_new (gst_memory_ref (memories[i])));
      /* A share has the same surface. */
      check_picture (h[1], buffer_new (gst_memory_share (memories[i], 0, -1)));
    }
    set_nvmm_caps (h[0], formats[k % G_N_ELEMENTS (formats)], PICTURE_WIDTH, PICTURE_HEIGHT);
    if (k == 2) {
      ccl_test_harness_free (h[1]);
      h[1] = harness_new ("GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
    }
  }
  check_counts (&before, G_N_ELEMENTS (memories), 0);

  for (i = 0; i < 2; i++)
    ccl_test_harness_free (h[i]);
  check_counts (&before, G_N_ELEMENTS (memories), 0);
  for (i = 0; i < G_N_ELEMENTS (memories); i++)
    gst_memory_unref (memories[i]);
  check_counts (&before, G_N_ELEMENTS (memories), G_N_ELEMENTS (memories));
}
GST_END_TEST;

/* A memory that got another surface is shown again; an image that others made is theirs. */
GST_START_TEST (test_other_surface)
{
  NvStandinCounts before = *nv_standin_counts ();
  NvBufSurface *surface;
  GstMemory *memory;
  GstHarness *h;

  if (!have_device ())
    return;

  surface = surface_new (4, FALSE);
  memory = memory_new (surface);
  h = harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  check_picture (h, buffer_new (gst_memory_ref (memory)));
  check_counts (&before, 1, 0);
  surface->surfaceList[0].bufferDesc++;
  check_picture (h, buffer_new (gst_memory_ref (memory)));
  fail_unless_equals_int (nv_standin_counts ()->registered - before.registered, 2);
  gst_memory_unref (memory);
  fail_unless_equals_int (nv_standin_counts ()->unregistered - before.unregistered, 2);

  before = *nv_standin_counts ();
  surface = surface_new (5, FALSE);
  surface->surfaceList[0].mappedAddr.eglImage = surface;
  check_picture (h, buffer_new (memory_new (surface)));
  fail_unless_equals_int (nv_standin_counts ()->registered - before.registered, 1);
  fail_unless_equals_int (nv_standin_counts ()->unregistered - before.unregistered, 1);
  fail_unless_equals_int (nv_standin_counts ()->mapped, before.mapped);
  fail_unless_equals_int (nv_standin_counts ()->unmapped, before.unmapped);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Whatever goes wrong on the way to CUDA is told, and leaves nothing behind. */
GST_START_TEST (test_faults)
{
  static const struct
  {
    NvStandinFault fault;
    const gchar *text;
  } faults[] = {
    { NV_STANDIN_NO_EGL, "EGL image" },
    { NV_STANDIN_NO_CUDA, "registering an EGL image" },
    { NV_STANDIN_NO_PLANES, "no plane" },
    { NV_STANDIN_WIDE_PIXELS, "one byte a pixel" },
    { NV_STANDIN_UNKNOWN_TYPE, "one byte a pixel" },
  };
  guint i;

  for (i = 0; have_device () && i < G_N_ELEMENTS (faults); i++) {
    NvStandinCounts before = *nv_standin_counts ();
    GstHarness *h = harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);

    nv_standin_set_fault (faults[i].fault);
    check_refused (h, buffer_new (memory_new (surface_new (4, FALSE))), GST_RESOURCE_ERROR,
                   GST_RESOURCE_ERROR_READ, faults[i].text);
    nv_standin_set_fault (NV_STANDIN_WORKS);
    fail_unless_equals_int (nv_standin_counts ()->mapped - before.mapped,
                            nv_standin_counts ()->unmapped - before.unmapped);
    fail_unless_equals_int (nv_standin_counts ()->registered - before.registered,
                            nv_standin_counts ()->unregistered - before.unregistered);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* The image may be smaller than its surface says. */
GST_START_TEST (test_small_image)
{
  guint kind;

  for (kind = 4; have_device () && kind < G_N_ELEMENTS (kinds); kind++) {
    GstHarness *h = harness_new ("NV12", PICTURE_WIDTH + 1, PICTURE_HEIGHT);

    check_refused (h, buffer_new (memory_new (surface_new (kind, FALSE))), GST_STREAM_ERROR,
                   GST_STREAM_ERROR_FORMAT, "13x7");
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* Without a device such frames fail when their caps come, and the CPU is never offered them. */
GST_START_TEST (test_negotiation)
{
  GstElement *element = ccl_test_element_new ("cpu", NULL);
  GstHarness *h = ccl_test_harness_new (element, "GRAY8", 8, 8);
  GstCaps *caps = gst_caps_from_string ("video/x-raw(memory:NVMM),format=NV12,width=8,height=8");
  GstPad *pad = gst_element_get_static_pad (element, "sink");

  fail_if (gst_pad_query_accept_caps (pad, caps));
  ccl_test_harness_free (h);
  gst_object_unref (pad);

  element = ccl_test_element_new ("auto", NULL);
  pad = gst_element_get_static_pad (element, "sink");
  fail_unless (gst_pad_query_accept_caps (pad, caps));
  if (!have_device ()) {
    h = ccl_test_harness_new (element, "GRAY8", 8, 8);
    set_nvmm_caps (h, "NV12", 8, 8);
    ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "CUDA");
    ccl_test_harness_free (h);
  } else {
    gst_object_unref (element);
  }
  gst_object_unref (pad);
  gst_caps_unref (caps);
}
GST_END_TEST;

static Suite *
nvmm_suite (void)
{
  Suite *s = suite_create ("nvmm");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_kinds);
  tcase_add_test (tc, test_crop);
  tcase_add_test (tc, test_registered_once);
  tcase_add_test (tc, test_other_surface);
  tcase_add_test (tc, test_faults);
  tcase_add_test (tc, test_small_image);
  tcase_add_test (tc, test_negotiation);

  return s;
}

GST_CHECK_MAIN (nvmm);
