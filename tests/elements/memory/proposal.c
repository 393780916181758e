/* cudaccl - tests of the allocation proposed to upstream, given downstream's proposal
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include "gst/analysis/memory/gstcclpool.h"

#define OURS "CclPinnedMemory"
#define THEIRS "TestMemory"

/* The pool is linked into this program. */
GST_DEBUG_CATEGORY (gst_cuda_ccl_debug);

/* Special memory and pools, such as those of dmabuf, displays or GstCuda. */

typedef GstAllocator TestAllocator;
typedef GstAllocatorClass TestAllocatorClass;
GType test_allocator_get_type (void);
G_DEFINE_TYPE (TestAllocator, test_allocator, GST_TYPE_ALLOCATOR)

static void
test_allocator_class_init (TestAllocatorClass *klass)
{
}

static void
test_allocator_init (TestAllocator *self)
{
  self->mem_type = THEIRS;
}

typedef GstVideoBufferPool TestPool;
typedef GstVideoBufferPoolClass TestPoolClass;
GType test_pool_get_type (void);
G_DEFINE_TYPE (TestPool, test_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static void
test_pool_class_init (TestPoolClass *klass)
{
}

static void
test_pool_init (TestPool *self)
{
}

typedef enum
{
  NOTHING, /* no entry */
  NONE,    /* NULL with sizes */
  PLAIN,
  VIDEO,
  SPECIAL,
} Pool;

typedef enum
{
  ANY, /* NULL */
  SYSTEM,
  OWN,
} Memory;

static const struct
{
  const gchar *what;
  gboolean need_pool;
  Pool pool;
  Memory pool_memory;
  gboolean has_params;
  Memory params_memory;
  Pool other; /* a second pool */
  gboolean pool_is_ours, allocator_is_ours;
} cases[] = {
  { "nothing", TRUE, NOTHING, ANY, FALSE, ANY, NOTHING, TRUE, TRUE },
  { "nothing, and no pool is needed", FALSE, NOTHING, ANY, FALSE, ANY, NOTHING, FALSE, TRUE },
  { "a wish for alignment", TRUE, NOTHING, ANY, TRUE, ANY, NOTHING, TRUE, TRUE },
  { "system memory", TRUE, NOTHING, ANY, TRUE, SYSTEM, NOTHING, TRUE, TRUE },
  { "memory of its own", TRUE, NOTHING, ANY, TRUE, OWN, NOTHING, FALSE, FALSE },
  { "a number of buffers", TRUE, NONE, ANY, FALSE, ANY, NOTHING, TRUE, TRUE },
  { "a plain pool", TRUE, PLAIN, ANY, FALSE, ANY, NOTHING, TRUE, TRUE },
  { "a video pool, as filters do", TRUE, VIDEO, ANY, TRUE, ANY, NOTHING, TRUE, TRUE },
  { "one with system memory", TRUE, VIDEO, SYSTEM, TRUE, SYSTEM, NOTHING, TRUE, TRUE },
  { "a video pool that is not needed", FALSE, VIDEO, ANY, FALSE, ANY, NOTHING, FALSE, TRUE },
  { "one with memory of its own", TRUE, VIDEO, OWN, FALSE, ANY, NOTHING, FALSE, FALSE },
  { "one beside memory of its own", TRUE, VIDEO, ANY, TRUE, OWN, NOTHING, FALSE, FALSE },
  { "a pool of its own", TRUE, SPECIAL, ANY, FALSE, ANY, NOTHING, FALSE, FALSE },
  { "a pool of its own, second", TRUE, VIDEO, ANY, FALSE, ANY, SPECIAL, FALSE, FALSE },
  { "a second plain pool", TRUE, VIDEO, ANY, FALSE, ANY, PLAIN, TRUE, TRUE },
};

#define SIZE 5000 /* more than the frame has */
#define MIN_BUFFERS 5
#define MAX_BUFFERS 9
#define OPTION "TestOption"

static const GstAllocationParams params = { .align = 31, .prefix = 8, .padding = 16 };
static const GstAllocationParams pool_params = { .align = 63, .padding = 32 };

static GstAllocator *
allocator_new (Memory memory)
{
  switch (memory) {
  case SYSTEM:
    return gst_allocator_find (GST_ALLOCATOR_SYSMEM);
  case OWN:
    return gst_object_ref_sink (g_object_new (test_allocator_get_type (), NULL));
  default:
    return NULL;
  }
}

static GstBufferPool *
pool_new (Pool kind, Memory memory, GstCaps *caps)
{
  GstBufferPool *pool = kind == PLAIN   ? gst_buffer_pool_new ()
                        : kind == VIDEO ? gst_video_buffer_pool_new ()
                                        : g_object_new (test_pool_get_type (), NULL);
  GstAllocator *allocator = allocator_new (memory);
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_object_ref_sink (pool);
  gst_buffer_pool_config_set_params (config, caps, SIZE, MIN_BUFFERS, MAX_BUFFERS);
  gst_buffer_pool_config_set_allocator (config, allocator, &pool_params);
  gst_buffer_pool_config_add_option (config, OPTION);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  gst_clear_object (&allocator);

  return pool;
}

static void
add_pool (GstQuery *query, Pool kind, Memory memory, GstCaps *caps)
{
  GstBufferPool *pool = kind == NONE ? NULL : pool_new (kind, memory, caps);

  gst_query_add_allocation_pool (query, pool, SIZE, MIN_BUFFERS, MAX_BUFFERS);
  gst_clear_object (&pool);
}

/* Our pool keeps the settings of the one it replaces, and the query's allocation parameters. */
static void
check_pool (GstQuery *query, Pool replaced, gboolean has_params)
{
  const GstAllocationParams none = { 0 }, *wanted = has_params ? &params : &none,
                            *theirs = replaced >= PLAIN ? &pool_params : &none;
  guint size, min, max, config_size, config_min, config_max;
  GstAllocator *allocator;
  GstAllocationParams found;
  GstBufferPool *pool;
  GstStructure *config;

  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  fail_unless_equals_int (G_OBJECT_TYPE (pool), GST_TYPE_VIDEO_BUFFER_POOL);
  config = gst_buffer_pool_get_config (pool);
  fail_unless (
      gst_buffer_pool_config_get_params (config, NULL, &config_size, &config_min, &config_max));
  fail_unless_equals_int (config_size, size);
  fail_unless_equals_int (config_min, min);
  fail_unless_equals_int (config_max, max);
  fail_unless_equals_int (size, replaced == NOTHING ? 16 * PICTURE_HEIGHT : SIZE);
  fail_unless_equals_int (max, replaced == NOTHING ? 0 : MAX_BUFFERS);
  fail_unless (min >= (replaced == NOTHING ? 2 : MIN_BUFFERS));
  fail_unless_equals_int (gst_buffer_pool_config_has_option (config, OPTION), replaced >= PLAIN);
  fail_unless (gst_buffer_pool_config_get_allocator (config, &allocator, &found));
  fail_unless_equals_string (allocator->mem_type, OURS);
  fail_unless_equals_uint64 (found.align, MAX (wanted->align, theirs->align));
  fail_unless_equals_uint64 (found.prefix, MAX (wanted->prefix, theirs->prefix));
  fail_unless_equals_uint64 (found.padding, MAX (wanted->padding, theirs->padding));
  gst_structure_free (config);
  gst_object_unref (pool);
}

GST_START_TEST (test_proposal)
{
  GstCaps *caps = gst_caps_from_string ("video/x-raw,format=GRAY8,width=13,height=7");
  GstQuery *query = gst_query_new_allocation (caps, cases[__i__].need_pool);
  GstAllocator *wanted = allocator_new (cases[__i__].params_memory), *allocator = NULL;
  GstBufferPool *before = NULL, *after = NULL;
  GstAllocationParams found;

  GST_INFO ("%s", cases[__i__].what);
  if (cases[__i__].pool != NOTHING)
    add_pool (query, cases[__i__].pool, cases[__i__].pool_memory, caps);
  if (cases[__i__].other != NOTHING)
    add_pool (query, cases[__i__].other, ANY, caps);
  if (cases[__i__].has_params)
    gst_query_add_allocation_param (query, wanted, &params);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &before, NULL, NULL, NULL);

  gst_ccl_pool_propose (query, 0);

  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &after, NULL, NULL, NULL);
  if (cases[__i__].pool_is_ours)
    check_pool (query, cases[__i__].pool, cases[__i__].has_params);
  else
    fail_unless (after == before, "%s", cases[__i__].what);

  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &found);
  if (cases[__i__].allocator_is_ours) {
    fail_unless_equals_int (gst_query_get_n_allocation_params (query), 1);
    fail_unless_equals_string (allocator->mem_type, OURS);
  } else {
    fail_unless (allocator == wanted, "%s", cases[__i__].what);
  }
  /* Downstream's allocation parameters are kept. */
  if (cases[__i__].has_params) {
    fail_unless_equals_uint64 (found.align, params.align);
    fail_unless_equals_uint64 (found.prefix, params.prefix);
    fail_unless_equals_uint64 (found.padding, params.padding);
  }

  gst_clear_object (&before);
  gst_clear_object (&after);
  gst_clear_object (&wanted);
  gst_clear_object (&allocator);
  gst_query_unref (query);
  gst_caps_unref (caps);
}
GST_END_TEST;

static Suite *
proposal_suite (void)
{
  Suite *s = suite_create ("proposal");
  TCase *tc = tcase_create ("general");

  GST_DEBUG_CATEGORY_INIT (gst_cuda_ccl_debug, "cudaccl", 0, "connected component analysis");
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_proposal, 0, G_N_ELEMENTS (cases));

  return s;
}

GST_CHECK_MAIN (proposal);
