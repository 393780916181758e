/* cudaccl - tests of pinned memory proposed to upstream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <string.h>

#define MEMORY_TYPE "CclPinnedMemory"

static GstQuery *
query_allocation (GstHarness *h, gboolean need_pool)
{
  GstCaps *caps = gst_pad_get_current_caps (h->srcpad);
  GstQuery *query = gst_query_new_allocation (caps, need_pool);

  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_caps_unref (caps);

  return query;
}

static GstAllocator *
get_allocator (GstHarness *h)
{
  GstQuery *query = query_allocation (h, FALSE);
  GstAllocator *allocator;

  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 0);
  fail_unless_equals_int (gst_query_get_n_allocation_params (query), 1);
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  gst_query_unref (query);
  fail_unless (allocator != NULL);

  return allocator;
}

/* Copies the picture into @buffer and pushes it. */
static GstBuffer *
push_picture_in (GstHarness *h, GstBuffer *buffer)
{
  GstBuffer *picture = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GstMapInfo map;

  gst_buffer_map (picture, &map, GST_MAP_READ);
  fail_unless_equals_uint64 (gst_buffer_fill (buffer, 0, map.data, map.size), map.size);
  gst_buffer_unmap (picture, &map);
  gst_buffer_unref (picture);

  return gst_harness_push_and_pull (h, buffer);
}

/* The pool's buffers are pinned, pass through, and need no staging buffer. */
GST_START_TEST (test_pool)
{
  GstHarness *h = ccl_test_picture_harness_new (1, NULL);
  guint64 before, pinned, staged;
  GstVideoInfo info;
  GstBufferPool *pool;
  GstStructure *config;
  GstAllocator *allocator;
  GstQuery *query;
  guint size, min, i;

  query = query_allocation (h, TRUE);
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 1);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, NULL);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, PICTURE_WIDTH, PICTURE_HEIGHT);
  fail_unless_equals_int (size, (gint) GST_VIDEO_INFO_SIZE (&info));
  fail_unless (gst_buffer_pool_has_option (pool, GST_BUFFER_POOL_OPTION_VIDEO_META));
  fail_unless (gst_buffer_pool_has_option (pool, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
  config = gst_buffer_pool_get_config (pool);
  fail_unless (gst_buffer_pool_config_get_allocator (config, &allocator, NULL));
  fail_unless_equals_string (allocator->mem_type, MEMORY_TYPE);
  gst_structure_free (config);
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));

  before = ccl_test_allocations (h);
  for (i = 0; i < 5; i++) {
    GstBuffer *buffer;
    GstMemory *memory;

    fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_OK);
    memory = gst_buffer_peek_memory (buffer, 0);
    fail_unless (gst_memory_is_type (memory, MEMORY_TYPE));
    buffer = push_picture_in (h, buffer);
    fail_unless (gst_buffer_peek_memory (buffer, 0) == memory);
    ccl_test_check_picture (buffer);
    gst_buffer_unref (buffer);
  }
  pinned = ccl_test_allocations (h);
  ccl_test_check_stat (h->element, "upload", "pixels");
  for (i = 0; i < 3; i++)
    ccl_test_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PADDED));
  staged = ccl_test_allocations (h);
  /* On integrated devices not even a device image is needed. */
  fail_unless (pinned <= before + 1, "%" G_GUINT64_FORMAT " more", pinned - before);
  fail_unless (staged > pinned);

  gst_buffer_pool_set_active (pool, FALSE);
  gst_query_unref (query);
  gst_object_unref (pool);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Allocation parameters, sharing, and memory that outlives the element. */
GST_START_TEST (test_memory)
{
  static const gsize aligns[] = { 0, 31, 4095, 65535 };
  GstHarness *h = ccl_test_picture_harness_new (1, NULL);
  GstAllocator *allocator = get_allocator (h);
  guint i, j;

  ccl_test_harness_free (h);
  for (i = 0; i < G_N_ELEMENTS (aligns); i++) {
    GstAllocationParams params = { .flags =
                                       GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED,
                                   .align = aligns[i],
                                   .prefix = 3 * i,
                                   .padding = 5 };
    GstMemory *memory = gst_allocator_alloc (allocator, 1000, &params), *part, *part_of_part;
    GstMapInfo map;
    gsize offset, maxsize;

    fail_unless (gst_memory_is_type (memory, MEMORY_TYPE));
    fail_unless_equals_uint64 (gst_memory_get_sizes (memory, &offset, &maxsize), 1000);
    fail_unless_equals_uint64 (offset, params.prefix);
    fail_unless (maxsize >= offset + 1000 + params.padding);
    fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
    fail_unless_equals_uint64 ((gsize) map.data & aligns[i], 0);
    for (j = 0; j < 1000; j++)
      map.data[j] = (guint8) (j % 251);
    for (j = 0; j < params.prefix; j++)
      fail_unless_equals_int (map.data[-1 - (gint) j], 0);
    for (j = 0; j < params.padding; j++)
      fail_unless_equals_int (map.data[1000 + j], 0);
    gst_memory_unmap (memory, &map);

    part = gst_memory_share (memory, 100, 500);
    part_of_part = gst_memory_share (part, 7, -1);
    gst_memory_unref (part);
    gst_memory_unref (memory);
    fail_unless (gst_memory_map (part_of_part, &map, GST_MAP_READ));
    fail_unless_equals_uint64 (map.size, 493);
    for (j = 0; j < 493; j++)
      fail_unless_equals_int (map.data[j], (j + 107) % 251);
    gst_memory_unmap (part_of_part, &map);
    gst_memory_unref (part_of_part);
  }
  gst_object_unref (allocator);
}
GST_END_TEST;

/* Shared parts of pinned memory are pinned. */
GST_START_TEST (test_part)
{
  GstHarness *h = ccl_test_picture_harness_new (1, NULL);
  GstAllocator *allocator = get_allocator (h);
  GstMemory *memory = gst_allocator_alloc (allocator, 4096, NULL), *part;
  GstBuffer *buffer = gst_buffer_new ();

  part = gst_memory_share (memory, 77, 16 * PICTURE_HEIGHT);
  gst_memory_unref (memory);
  gst_buffer_append_memory (buffer, part);
  buffer = push_picture_in (h, buffer);
  ccl_test_check_picture (buffer);

  gst_buffer_unref (buffer);
  gst_object_unref (allocator);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static guint
count_allocations (GstAllocator *allocator)
{
  guint n;

  g_object_get (allocator, "allocations", &n, NULL);

  return n;
}

/* Copies are in system memory: pinning memory for each would take too long. */
GST_START_TEST (test_copy)
{
  static const struct
  {
    gssize offset, size;
    gsize wanted;
  } copies[] = { { 0, -1, 1000 }, { 10, -1, 990 }, { 10, 100, 100 }, { 0, 0, 0 } };
  GstHarness *h = ccl_test_picture_harness_new (1, NULL);
  GstAllocator *allocator = get_allocator (h);
  GstAllocationParams params = { .prefix = 3, .align = 63 };
  GstMemory *memory = gst_allocator_alloc (allocator, 1007, &params), *part;
  GstMapInfo map;
  guint i, j;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
  for (i = 0; i < map.size; i++)
    map.data[i] = (guint8) (i % 251);
  gst_memory_unmap (memory, &map);
  part = gst_memory_share (memory, 7, -1);

  for (i = 0; i < G_N_ELEMENTS (copies); i++) {
    GstMemory *copy = gst_memory_copy (part, copies[i].offset, copies[i].size);

    fail_unless (gst_memory_is_type (copy, GST_ALLOCATOR_SYSMEM));
    fail_unless (gst_memory_map (copy, &map, GST_MAP_READ));
    fail_unless_equals_uint64 (map.size, copies[i].wanted);
    for (j = 0; j < map.size; j++)
      fail_unless_equals_int (map.data[j], (7 + (guint) copies[i].offset + j) % 251);
    gst_memory_unmap (copy, &map);
    gst_memory_unref (copy);
  }
  fail_unless_equals_int (count_allocations (allocator), 1);

  gst_memory_unref (part);
  gst_memory_unref (memory);
  gst_object_unref (allocator);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* How many frames leave the element in pinned memory. */
typedef struct
{
  guint frames, pinned;
  guint first, last; /* allocations after such a frame */
} Seen;

static GstPadProbeReturn
look_at_frame (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstMemory *memory = gst_buffer_peek_memory (GST_PAD_PROBE_INFO_BUFFER (probe), 0);
  Seen *seen = data;

  seen->frames++;
  if (gst_memory_is_type (memory, MEMORY_TYPE)) {
    seen->pinned++;
    seen->last = count_allocations (memory->allocator);
    if (seen->pinned == 1)
      seen->first = seen->last;
  }

  return GST_PAD_PROBE_OK;
}

/* An ordinary source uses the pool, whatever system memory downstream proposes; once it runs, no
 * more memory is pinned. */
static const gchar *const rests[] = {
  "fakesink enable-last-sample=false",
  "videoconvert ! video/x-raw,format=RGB ! fakesink enable-last-sample=false",
  "cudaccl backend=cuda ! fakesink enable-last-sample=false",
};

GST_START_TEST (test_source)
{
  gchar *description =
      g_strdup_printf ("videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=640,height=480 "
                       "! cudaccl name=ccl backend=cuda ! %s",
                       rests[__i__]);
  GstElement *pipeline = gst_parse_launch (description, NULL);
  Seen seen = { 0 };

  ccl_test_probe (pipeline, "ccl", "src", look_at_frame, &seen);
  ccl_test_play (pipeline);
  fail_unless_equals_int (seen.frames, 30);
  fail_unless_equals_int (seen.pinned, 30);
  fail_unless (seen.first > 0);
  fail_unless_equals_int (seen.last, seen.first);

  gst_object_unref (pipeline);
  g_free (description);
}
GST_END_TEST;

static Suite *
pinned_suite (void)
{
  Suite *s = suite_create ("pinned");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_pool);
  tcase_add_test (tc, test_memory);
  tcase_add_test (tc, test_part);
  tcase_add_test (tc, test_copy);
  tcase_add_loop_test (tc, test_source, 0, G_N_ELEMENTS (rests));

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, pinned_suite, "pinned", __FILE__);
}
