/* cudaccl - tests that device memory stays flat over state changes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/device.h"

#ifdef HAVE_GSTCUDA
#include "tests/lib/cclcudatest.h"
#endif
#ifdef HAVE_NVMM
#include "tests/lib/cclnvmmtest.h"
#endif

#define WARM_UP 20
#define LOOK 1100
#define LOOKS 3

/* The driver allocates blocks of this size. */
#define BLOCK (2 << 20)

#define SYSTEM_CAPS "video/x-raw,format=NV12,width=13,height=7,framerate=1/1"

static void
check_out (GstBuffer *out)
{
  fail_unless (out != NULL);
  ccl_test_check_picture (out);
  gst_buffer_unref (out);
}

static void
push_system (GstHarness *h, guint cycle)
{
  gst_harness_set_src_caps_str (h, SYSTEM_CAPS);
  check_out (gst_harness_push_and_pull (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED)));
}

static guint
count_pinned (GstAllocator *allocator)
{
  guint n;

  g_object_get (allocator, "pinned", &n, NULL);

  return n;
}

/* A frame in the proposed pool. The device's free bytes do not show pinned memory, so the
 * allocator counts it. */
static void
push_pool (GstHarness *h, guint cycle)
{
  GstBuffer *picture = ccl_test_picture_new ("NV12", LAYOUT_PACKED), *buffer;
  GstAllocator *allocator;
  GstBufferPool *pool;
  GstQuery *query;
  GstMapInfo map;
  GstCaps *caps;

  gst_harness_set_src_caps_str (h, SYSTEM_CAPS);
  caps = gst_pad_get_current_caps (h->srcpad);
  query = gst_query_new_allocation (caps, TRUE);
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 1);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_OK);
  fail_unless (gst_memory_is_type (gst_buffer_peek_memory (buffer, 0), "CclPinnedMemory"));
  allocator = gst_object_ref (gst_buffer_peek_memory (buffer, 0)->allocator);
  fail_unless (count_pinned (allocator) > 0);

  gst_buffer_map (picture, &map, GST_MAP_READ);
  gst_buffer_fill (buffer, 0, map.data, map.size);
  gst_buffer_unmap (picture, &map);
  check_out (gst_harness_push_and_pull (h, buffer));

  gst_buffer_pool_set_active (pool, FALSE);
  gst_buffer_unref (picture);
  gst_object_unref (pool);
  gst_query_unref (query);
  gst_caps_unref (caps);
  fail_unless_equals_int (count_pinned (allocator), 0);
  gst_object_unref (allocator);
}

#ifdef HAVE_GSTCUDA
/* In a given context or, now and then, in one that the element makes, which takes long. */
static void
push_cuda (GstHarness *h, guint cycle)
{
  static GstCudaContext *context;

  if (!context)
    context = gst_cuda_context_new (TEST_DEVICE);
  if (cycle % 50 != 0) {
    GstContext *shared = gst_context_new_cuda_context (context);

    gst_element_set_context (h->element, shared);
    gst_context_unref (shared);
  }
  gst_harness_set_src_caps_str (h, "video/x-raw(memory:CUDAMemory),format=NV12,width=13,height=7,"
                                   "framerate=1/1");
  ccl_test_cuda_push (h, ccl_test_cuda_picture_new (context, "NV12", TRUE));
}
#endif

#ifdef HAVE_NVMM
static void
push_nvmm (GstHarness *h, guint cycle)
{
  static const NvmmKind kinds[] = {
    { NVBUF_MEM_CUDA_DEVICE, NVBUF_LAYOUT_PITCH },
    { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_PITCH },
    { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_BLOCK_LINEAR },
  };
  const NvmmKind *kind = &kinds[cycle % G_N_ELEMENTS (kinds)];

  ccl_test_nvmm_set_caps (h, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  ccl_test_nvmm_push (h, ccl_test_nvmm_buffer_new (
                             ccl_test_nvmm_memory_new (ccl_test_nvmm_surface_new (kind, FALSE))));
}
#endif

static const struct
{
  const gchar *name;
  void (*push) (GstHarness *h, guint cycle);
} memories[] = {
  { "system memory", push_system },
  { "the pool", push_pool },
#ifdef HAVE_GSTCUDA
  { "CUDAMemory", push_cuda },
#endif
#ifdef HAVE_NVMM
  { "NVMM", push_nvmm },
#endif
};

/* Device memory stays flat over state changes. The last round switches between memory kinds. */
GST_START_TEST (test_states)
{
  gboolean all = __i__ == G_N_ELEMENTS (memories);
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new ("cuda", NULL), "NV12", PICTURE_WIDTH,
                                        PICTURE_HEIGHT);
  CclTestUsage usage = { 0 };
  guint i;

  GST_INFO ("%s", all ? "all" : memories[__i__].name);
  for (i = 0; i <= WARM_UP + (LOOKS - 1) * LOOK; i++) {
    if (i >= WARM_UP && (i - WARM_UP) % LOOK == 0)
      ccl_test_usage_look (&usage, G_MAXSIZE - test_device_free_bytes ());
    ccl_test_restart (h, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    memories[all ? i % G_N_ELEMENTS (memories) : (guint) __i__].push (h, i / 2);
    ccl_test_drain (h);
  }
  /* A leak of 2 KB a cycle adds up to a block in every interval; the driver's own allocations
   * are occasional. */
  fail_unless_equals_int (usage.n_looks, LOOKS);
  fail_unless (usage.least < BLOCK, "%" G_GSSIZE_FORMAT " bytes more each %d cycles", usage.least,
               LOOK);

  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
devicecycles_suite (void)
{
  Suite *s = suite_create ("devicecycles");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
#ifdef HAVE_GSTCUDA
  gst_cuda_load_library ();
#endif
  tcase_add_loop_test (tc, test_states, 0, G_N_ELEMENTS (memories) + 1);

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, devicecycles_suite, "devicecycles", __FILE__);
}
