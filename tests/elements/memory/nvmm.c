/* cudaccl - tests of frames in NVMM memory, with a fake of NVIDIA's library
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclnvmmtest.h"

#include "gst/analysis/memory/gstcclnvmm.h"

/* The mapper is linked into this program, too. */
GST_DEBUG_CATEGORY (gst_cuda_ccl_debug);

/* Numbers 4 and 5 are registered with CUDA. */
static const NvmmKind kinds[] = {
  { NVBUF_MEM_CUDA_DEVICE, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_CUDA_UNIFIED, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_CUDA_PINNED, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SYSTEM, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_PITCH },
  { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_BLOCK_LINEAR },
  { (NvBufSurfaceMemType) GST_CCL_NVBUF_MEM_CUDA_ARRAY, NVBUF_LAYOUT_BLOCK_LINEAR },
};

static const gchar *const formats[] = { "NV12", "I420", "GRAY8" };

/* Asserts that the frame is refused with an error that contains @text. */
static void
check_refused (GstHarness *h, GstBuffer *buffer, GQuark domain, gint code, const gchar *text)
{
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  ccl_test_check_error (h, domain, code, text);
}

/* Every kind of memory in every format. */
GST_START_TEST (test_kinds)
{
  guint kind, i;

  for (kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    for (i = 0; i < G_N_ELEMENTS (formats); i++) {
      GstHarness *h = ccl_test_nvmm_harness_new (formats[i], PICTURE_WIDTH, PICTURE_HEIGHT);

      ccl_test_nvmm_push (h, ccl_test_nvmm_buffer_new (ccl_test_nvmm_memory_new (
                                 ccl_test_nvmm_surface_new (&kinds[kind], FALSE))));
      ccl_test_harness_free (h);
    }
  }
}
GST_END_TEST;

/* Only the visible part is analysed; a block-linear surface cannot be cropped. */
GST_START_TEST (test_crop)
{
  guint kind;

  for (kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    GstHarness *h = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
    GstBuffer *buffer = ccl_test_nvmm_buffer_new (
        ccl_test_nvmm_memory_new (ccl_test_nvmm_surface_new (&kinds[kind], TRUE)));
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

    crop->x = 11;
    crop->y = 9;
    crop->width = PICTURE_WIDTH;
    crop->height = PICTURE_HEIGHT;
    if (kinds[kind].layout == NVBUF_LAYOUT_PITCH)
      ccl_test_nvmm_push (h, buffer);
    else
      check_refused (h, buffer, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "nvvidconv");
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static void
check_registered (const NvFakeCounts *before, guint made, guint undone)
{
  const NvFakeCounts *now = nv_fake_counts ();

  fail_unless_equals_int (now->registered - before->registered, made);
  fail_unless_equals_int (now->unregistered - before->unregistered, undone);
}

static void
check_counts (const NvFakeCounts *before, guint made, guint undone)
{
  const NvFakeCounts *now = nv_fake_counts ();

  fail_unless_equals_int (now->mapped - before->mapped, made);
  fail_unless_equals_int (now->unmapped - before->unmapped, undone);
  check_registered (before, made, undone);
}

/* Each surface of a pool is registered with CUDA once, by whichever element reads it first, and
 * unregistered with its memory. */
GST_START_TEST (test_registered_once)
{
  NvFakeCounts before = *nv_fake_counts ();
  GstMemory *memories[6];
  GstHarness *h[2];
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (memories); i++)
    memories[i] = ccl_test_nvmm_memory_new (ccl_test_nvmm_surface_new (&kinds[4 + i % 2], FALSE));
  for (i = 0; i < 2; i++)
    h[i] = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);

  for (k = 0; k < 5; k++) {
    for (i = 0; i < G_N_ELEMENTS (memories); i++) {
      ccl_test_nvmm_push (h[0], ccl_test_nvmm_buffer_new (gst_memory_ref (memories[i])));
      /* A shared memory has the same surface. */
      ccl_test_nvmm_push (h[1], ccl_test_nvmm_buffer_new (gst_memory_share (memories[i], 0, -1)));
    }
    ccl_test_nvmm_set_caps (h[0], formats[k % G_N_ELEMENTS (formats)], PICTURE_WIDTH,
                            PICTURE_HEIGHT);
    if (k == 2) {
      ccl_test_harness_free (h[1]);
      h[1] = ccl_test_nvmm_harness_new ("GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
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

typedef struct
{
  GstHarness *h;
  GstMemory **memories;
} Reader;

static gpointer
run_many (gpointer data)
{
  const Reader *reader = data;
  guint i, n_wrong = 0;

  for (i = 0; i < 300; i++) {
    GstBuffer *buffer = ccl_test_nvmm_buffer_new (gst_memory_ref (reader->memories[i % 3]));

    buffer = gst_harness_push_and_pull (reader->h, buffer);
    if (!ccl_test_has_picture (buffer))
      n_wrong++;
    gst_clear_buffer (&buffer);
  }

  return GUINT_TO_POINTER (n_wrong);
}

/* Many elements read the same memories at once; each is registered once. */
GST_START_TEST (test_many)
{
  NvFakeCounts before = *nv_fake_counts ();
  GstMemory *memories[3];
  Reader readers[8];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (memories); i++)
    memories[i] = ccl_test_nvmm_memory_new (ccl_test_nvmm_surface_new (&kinds[4 + i % 2], FALSE));
  for (i = 0; i < G_N_ELEMENTS (readers); i++)
    readers[i] =
        (Reader){ ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT), memories };
  ccl_test_run_threads (run_many, readers, sizeof (*readers), G_N_ELEMENTS (readers));
  for (i = 0; i < G_N_ELEMENTS (readers); i++)
    ccl_test_harness_free (readers[i].h);
  check_counts (&before, G_N_ELEMENTS (memories), 0);
  for (i = 0; i < G_N_ELEMENTS (memories); i++)
    gst_memory_unref (memories[i]);
  check_counts (&before, G_N_ELEMENTS (memories), G_N_ELEMENTS (memories));
}
GST_END_TEST;

/* A memory that got another surface is registered again, also when the new surface has the address
 * and the descriptor of the last one. The last one is gone by then: only its registration is
 * undone. */
GST_START_TEST (test_other_surface)
{
  NvFakeCounts before = *nv_fake_counts ();
  gboolean same_address = __i__;
  guint kind, n = 0;

  for (kind = 4; kind < 6; kind++) {
    GstHarness *h = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
    NvBufSurface *surface = ccl_test_nvmm_surface_new (&kinds[kind], FALSE);
    NvmmSlot *memory = ccl_test_nvmm_slot_new (surface);
    guint i;

    for (i = 0; i < 3; i++) {
      ccl_test_nvmm_push (h, ccl_test_nvmm_buffer_new (gst_memory_ref (GST_MEMORY_CAST (memory))));
      n++;
      check_registered (&before, n, n - 1);
      if (i == 2)
        break;
      if (same_address) {
        nv_fake_surface_renew (surface);
      } else {
        surface = ccl_test_nvmm_surface_new (&kinds[kind], FALSE);
        nv_fake_surface_free (memory->surface);
        memory->surface = surface;
      }
    }
    gst_memory_unref (GST_MEMORY_CAST (memory));
    check_registered (&before, n, n);
    /* Only the last surface was there until the end. */
    fail_unless_equals_int (nv_fake_counts ()->unmapped - before.unmapped, kind - 3);
    fail_unless (surface->surfaceList[0].mappedAddr.eglImage == NULL);
    nv_fake_surface_free (surface);
    ccl_test_harness_free (h);
  }
  fail_unless_equals_int (nv_fake_counts ()->strays, before.strays);
}
GST_END_TEST;

/* The surface is replaced after the last frame: the old address must not be touched. */
GST_START_TEST (test_unseen_surface)
{
  NvFakeCounts before = *nv_fake_counts ();
  guint kind;

  for (kind = 4; kind < 6; kind++) {
    GstHarness *h = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
    NvBufSurface *seen = ccl_test_nvmm_surface_new (&kinds[kind], FALSE);
    NvmmSlot *memory = ccl_test_nvmm_slot_new (seen);

    ccl_test_nvmm_push (h, ccl_test_nvmm_buffer_new (gst_memory_ref (GST_MEMORY_CAST (memory))));
    memory->surface = ccl_test_nvmm_surface_new (&kinds[kind], FALSE);
    nv_fake_surface_free (seen);
    seen = memory->surface;
    gst_memory_unref (GST_MEMORY_CAST (memory));
    nv_fake_surface_free (seen);
    ccl_test_harness_free (h);
  }
  fail_unless_equals_int (nv_fake_counts ()->registered - before.registered,
                          nv_fake_counts ()->unregistered - before.unregistered);
  fail_unless_equals_int (nv_fake_counts ()->unmapped, before.unmapped);
  fail_unless_equals_int (nv_fake_counts ()->strays, before.strays);
}
GST_END_TEST;

/* A surface with new content is registered again. */
GST_START_TEST (test_other_content)
{
  NvFakeCounts before = *nv_fake_counts ();
  NvBufSurface *surface;
  GstMemory *memory;
  GstHarness *h;

  surface = ccl_test_nvmm_surface_new (&kinds[4], FALSE);
  memory = ccl_test_nvmm_memory_new (surface);
  h = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  ccl_test_nvmm_push (h, ccl_test_nvmm_buffer_new (gst_memory_ref (memory)));
  check_counts (&before, 1, 0);
  surface->surfaceList[0].bufferDesc++;
  ccl_test_nvmm_push (h, ccl_test_nvmm_buffer_new (gst_memory_ref (memory)));
  check_counts (&before, 2, 1);
  gst_memory_unref (memory);
  check_counts (&before, 2, 2);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* An EGL image made by another element is neither mapped nor unmapped. */
GST_START_TEST (test_foreign_image)
{
  NvFakeCounts before = *nv_fake_counts ();
  NvBufSurface *surface;
  GstHarness *h;

  surface = ccl_test_nvmm_surface_new (&kinds[5], FALSE);
  surface->surfaceList[0].mappedAddr.eglImage = surface;
  h = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  ccl_test_nvmm_push (h, ccl_test_nvmm_buffer_new (ccl_test_nvmm_memory_new (surface)));
  check_registered (&before, 1, 1);
  fail_unless_equals_int (nv_fake_counts ()->mapped, before.mapped);
  fail_unless_equals_int (nv_fake_counts ()->unmapped, before.unmapped);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static gboolean
map_surface (GstCclFrame *frame, GstBuffer *buffer)
{
  GstCclMapper *mapper = g_malloc0 (gst_ccl_nvmm_mapper.size);
  GstCclDevice device = { -1, NULL };
  GstVideoInfo info;
  gboolean mapped;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, PICTURE_WIDTH, PICTURE_HEIGHT);
  mapper->klass = &gst_ccl_nvmm_mapper;
  mapped = gst_ccl_nvmm_mapper.open (mapper, &info, &device, NULL) &&
           gst_ccl_nvmm_mapper.map (mapper, frame, &info, buffer, 1, NULL);
  g_free (mapper);

  return mapped;
}

/* A memory's surface is replaced while another element reads the old one. */
GST_START_TEST (test_read_while_replaced)
{
  NvFakeCounts before = *nv_fake_counts ();
  NvBufSurface *surfaces[2];
  GstCclFrame frames[2];
  NvmmSlot *memory;
  GstBuffer *buffer;
  guint i;

  for (i = 0; i < 2; i++)
    surfaces[i] = ccl_test_nvmm_surface_new (&kinds[4], FALSE);
  memory = ccl_test_nvmm_slot_new (surfaces[0]);
  buffer = ccl_test_nvmm_buffer_new (GST_MEMORY_CAST (memory));
  fail_unless (map_surface (&frames[0], buffer));
  memory->surface = surfaces[1];
  fail_unless (map_surface (&frames[1], buffer));
  check_counts (&before, 2, 0);
  fail_unless (frames[0].image.data != frames[1].image.data);

  gst_ccl_nvmm_mapper.unmap (NULL, &frames[0]);
  fail_unless_equals_int (nv_fake_counts ()->unregistered - before.unregistered, 1);
  gst_ccl_nvmm_mapper.unmap (NULL, &frames[1]);
  fail_unless_equals_int (nv_fake_counts ()->unregistered - before.unregistered, 1);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (nv_fake_counts ()->unregistered - before.unregistered, 2);

  for (i = 0; i < 2; i++)
    nv_fake_surface_free (surfaces[i]);
  fail_unless_equals_int (nv_fake_counts ()->strays, before.strays);
}
GST_END_TEST;

static gpointer
map_and_unmap (gpointer data)
{
  GstCclFrame frame;

  if (!map_surface (&frame, data))
    return GUINT_TO_POINTER (1);
  gst_ccl_nvmm_mapper.unmap (NULL, &frame);

  return NULL;
}

/* A surface's content is replaced while another element reads it. The old image must be
 * unregistered before it is unmapped, that is when the first element is done. */
GST_START_TEST (test_content_while_read)
{
  NvFakeCounts before = *nv_fake_counts ();
  NvBufSurface *surface;
  GstCclFrame frame;
  GstBuffer *buffer;
  GThread *thread;

  surface = ccl_test_nvmm_surface_new (&kinds[4], FALSE);
  buffer = ccl_test_nvmm_buffer_new (ccl_test_nvmm_memory_new (surface));
  fail_unless (map_surface (&frame, buffer));
  surface->surfaceList[0].bufferDesc++;
  thread = g_thread_new (NULL, map_and_unmap, buffer);
  g_usleep (G_USEC_PER_SEC / 5); /* time for a premature unmap */
  check_counts (&before, 1, 0);

  gst_ccl_nvmm_mapper.unmap (NULL, &frame);
  fail_unless (g_thread_join (thread) == NULL);
  check_counts (&before, 2, 1);
  gst_buffer_unref (buffer);
  check_counts (&before, 2, 2);
  fail_unless_equals_int (nv_fake_counts ()->strays, before.strays);
}
GST_END_TEST;

/* Failures of EGL and CUDA are reported and leave nothing behind. */
GST_START_TEST (test_faults)
{
  static const struct
  {
    NvFakeFault fault;
    const gchar *text;
  } faults[] = {
    { NV_FAKE_NO_EGL, "EGL image" },
    { NV_FAKE_NO_CUDA, "registering an EGL image" },
    { NV_FAKE_NO_PLANES, "no plane" },
    { NV_FAKE_WIDE_PIXELS, "one byte per pixel" },
    { NV_FAKE_UNKNOWN_TYPE, "one byte per pixel" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (faults); i++) {
    NvFakeCounts before = *nv_fake_counts ();
    GstHarness *h = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH, PICTURE_HEIGHT);

    nv_fake_set_fault (faults[i].fault);
    check_refused (h,
                   ccl_test_nvmm_buffer_new (
                       ccl_test_nvmm_memory_new (ccl_test_nvmm_surface_new (&kinds[4], FALSE))),
                   GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, faults[i].text);
    nv_fake_set_fault (NV_FAKE_WORKS);
    fail_unless_equals_int (nv_fake_counts ()->mapped - before.mapped,
                            nv_fake_counts ()->unmapped - before.unmapped);
    fail_unless_equals_int (nv_fake_counts ()->registered - before.registered,
                            nv_fake_counts ()->unregistered - before.unregistered);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* The image may be smaller than its surface says. */
GST_START_TEST (test_small_image)
{
  guint kind;

  for (kind = 4; kind < 6; kind++) {
    GstHarness *h = ccl_test_nvmm_harness_new ("NV12", PICTURE_WIDTH + 1, PICTURE_HEIGHT);

    check_refused (h,
                   ccl_test_nvmm_buffer_new (
                       ccl_test_nvmm_memory_new (ccl_test_nvmm_surface_new (&kinds[kind], FALSE))),
                   GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "13x7");
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* NVMM caps are refused by the CPU backend, and are an error without a device. */
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
  if (ccl_test_n_backends () == 1) {
    h = ccl_test_harness_new (element, "GRAY8", 8, 8);
    ccl_test_nvmm_set_caps (h, "NV12", 8, 8);
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

  GST_DEBUG_CATEGORY_INIT (gst_cuda_ccl_debug, "cudaccl", 0, "connected component analysis");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_negotiation);
  if (ccl_test_n_backends () == 1)
    return s;

  tcase_add_test (tc, test_kinds);
  tcase_add_test (tc, test_crop);
  tcase_add_test (tc, test_registered_once);
  tcase_add_test (tc, test_many);
  tcase_add_loop_test (tc, test_other_surface, 0, 2);
  tcase_add_test (tc, test_unseen_surface);
  tcase_add_test (tc, test_other_content);
  tcase_add_test (tc, test_foreign_image);
  tcase_add_test (tc, test_read_while_replaced);
  tcase_add_test (tc, test_content_while_read);
  tcase_add_test (tc, test_faults);
  tcase_add_test (tc, test_small_image);

  return s;
}

GST_CHECK_MAIN (nvmm);
