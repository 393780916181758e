/* cudaccl - a pool of pinned memory for upstream elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpool.h"

#include <gst/video/video.h>
#include <cudaccl/ccl.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

#define MEMORY_TYPE "CclPinnedMemory"
#define MIN_BUFFERS 2

enum
{
  PROP_0,
  PROP_ALLOCATIONS,
  PROP_PINNED,
};

typedef struct
{
  GstMemory parent;

  guint8 *data;
  gint device;
  gpointer block; /* owned; NULL for a share of another memory */
} PinnedMemory;

typedef struct
{
  GstAllocator parent;

  gint device;
  guint allocations; /* atomic */
  guint pinned;      /* not freed yet; atomic */
} GstCclPinnedAllocator;

typedef GstAllocatorClass GstCclPinnedAllocatorClass;

GType gst_ccl_pinned_allocator_get_type (void);
G_DEFINE_TYPE (GstCclPinnedAllocator, gst_ccl_pinned_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *
new_memory (GstAllocator *allocator, GstMemory *parent, GstMemoryFlags flags, gsize maxsize,
            gsize align, gsize offset, gsize size)
{
  PinnedMemory *self = g_new0 (PinnedMemory, 1);

  gst_memory_init (GST_MEMORY_CAST (self), flags, allocator, parent, maxsize, align, offset, size);

  return GST_MEMORY_CAST (self);
}

static GstMemory *
pinned_alloc (GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  gint device = ((GstCclPinnedAllocator *) allocator)->device;
  gsize maxsize = params->prefix + size + params->padding;
  GstMemory *memory;
  PinnedMemory *self;
  gpointer block;
  gsize skip;

  /* Falls back to pageable memory. */
  if (ccl_pinned_alloc (device, maxsize + params->align, &block) != CCL_OK) {
    GST_WARNING_OBJECT (allocator, "could not pin memory, using pageable memory: %s",
                        ccl_last_error ());
    return gst_allocator_alloc (NULL, size, params);
  }

  g_atomic_int_inc (&((GstCclPinnedAllocator *) allocator)->allocations);
  g_atomic_int_inc (&((GstCclPinnedAllocator *) allocator)->pinned);
  memory =
      new_memory (allocator, NULL, params->flags, maxsize, params->align, params->prefix, size);
  skip = -(gsize) ((guint8 *) block + params->prefix) & params->align;
  self = (PinnedMemory *) memory;
  self->data = (guint8 *) block + skip;
  self->device = device;
  self->block = block;

  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset (self->data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset (self->data + params->prefix + size, 0, params->padding);

  return memory;
}

static void
pinned_free (GstAllocator *allocator, GstMemory *memory)
{
  PinnedMemory *self = (PinnedMemory *) memory;

  if (self->block) {
    ccl_pinned_free (self->device, self->block);
    g_atomic_int_add (&((GstCclPinnedAllocator *) allocator)->pinned, -1);
  }
  g_free (self);
}

static gpointer
pinned_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  return ((PinnedMemory *) memory)->data;
}

static void
pinned_unmap (GstMemory *memory)
{
}

static GstMemory *
pinned_share (GstMemory *memory, gssize offset, gssize size)
{
  GstMemory *whole = memory->parent ? memory->parent : memory;
  gsize start = (gsize) ((gssize) memory->offset + offset);
  GstMemory *part;

  if (size < 0)
    size = (gssize) memory->size - offset;
  part = new_memory (memory->allocator, whole,
                     GST_MINI_OBJECT_FLAGS (whole) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
                     memory->maxsize, memory->align, start, (gsize) size);
  ((PinnedMemory *) part)->data = ((PinnedMemory *) memory)->data;

  return part;
}

/* Copies are plain memory: they may be made for each frame, and pinning takes longer than the
 * analysis. */
static GstMemory *
pinned_copy (GstMemory *memory, gssize offset, gssize size)
{
  GstAllocationParams params = { .align = memory->align };
  const guint8 *from = ((PinnedMemory *) memory)->data + memory->offset + offset;
  GstMemory *copy;
  GstMapInfo to;

  if (size < 0)
    size = (gssize) memory->size - offset;
  copy = gst_allocator_alloc (NULL, (gsize) size, &params);
  if (!copy || !gst_memory_map (copy, &to, GST_MAP_WRITE)) {
    g_clear_pointer (&copy, gst_memory_unref);
    return NULL;
  }
  memcpy (to.data, from, (gsize) size);
  gst_memory_unmap (copy, &to);

  return copy;
}

static void
gst_ccl_pinned_allocator_get_property (GObject *object, guint prop_id, GValue *value,
                                       GParamSpec *pspec)
{
  GstCclPinnedAllocator *self = (GstCclPinnedAllocator *) object;

  switch (prop_id) {
  case PROP_ALLOCATIONS:
    g_value_set_uint (value, (guint) g_atomic_int_get (&self->allocations));
    break;
  case PROP_PINNED:
    g_value_set_uint (value, (guint) g_atomic_int_get (&self->pinned));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
}

static void
gst_ccl_pinned_allocator_class_init (GstCclPinnedAllocatorClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);

  gobject_class->get_property = gst_ccl_pinned_allocator_get_property;
  g_object_class_install_property (
      gobject_class, PROP_ALLOCATIONS,
      g_param_spec_uint ("allocations", "Allocations", "Number of times memory was pinned.", 0,
                         G_MAXUINT, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (
      gobject_class, PROP_PINNED,
      g_param_spec_uint ("pinned", "Pinned", "Number of pinned memories not freed yet.", 0,
                         G_MAXUINT, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  klass->alloc = pinned_alloc;
  klass->free = pinned_free;
}

static void
gst_ccl_pinned_allocator_init (GstCclPinnedAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  allocator->mem_type = MEMORY_TYPE;
  allocator->mem_map = pinned_map;
  allocator->mem_unmap = pinned_unmap;
  allocator->mem_share = pinned_share;
  allocator->mem_copy = pinned_copy;
}

gboolean
gst_ccl_pool_is_pinned (GstMemory *memory)
{
  return gst_memory_is_type (memory, MEMORY_TYPE);
}

/* Returns whether the allocator, NULL for the default one, uses malloc(). */
static gboolean
is_plain_allocator (GstAllocator *allocator)
{
  GstAllocator *chosen = allocator ? gst_object_ref (allocator) : gst_allocator_find (NULL);
  gboolean plain = g_strcmp0 (chosen->mem_type, GST_ALLOCATOR_SYSMEM) == 0;

  gst_object_unref (chosen);

  return plain;
}

/* Returns whether the pool is one of GStreamer's with plain memory, which filters without a
 * preference propose. */
static gboolean
is_plain_pool (GstBufferPool *pool)
{
  GType type = G_OBJECT_TYPE (pool);
  GstAllocator *allocator = NULL;
  GstStructure *config;
  gboolean plain;

  if (type != GST_TYPE_BUFFER_POOL && type != GST_TYPE_VIDEO_BUFFER_POOL)
    return FALSE;

  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_allocator (config, &allocator, NULL);
  plain = is_plain_allocator (allocator);
  gst_structure_free (config);

  return plain;
}

/* Returns whether downstream proposes only plain memory, or none. */
static gboolean
is_all_plain (GstQuery *query)
{
  guint i, n_pools = gst_query_get_n_allocation_pools (query);
  guint n_params = gst_query_get_n_allocation_params (query);
  gboolean plain = TRUE;

  for (i = 0; i < n_pools && plain; i++) {
    GstBufferPool *pool;

    gst_query_parse_nth_allocation_pool (query, i, &pool, NULL, NULL, NULL);
    plain = !pool || is_plain_pool (pool);
    gst_clear_object (&pool);
  }
  for (i = 0; i < n_params && plain; i++) {
    GstAllocator *allocator;

    gst_query_parse_nth_allocation_param (query, i, &allocator, NULL);
    plain = is_plain_allocator (allocator);
    gst_clear_object (&allocator);
  }

  return plain;
}

static void
set_allocator (GstQuery *query, GstAllocator *allocator, GstAllocationParams *params)
{
  gst_allocation_params_init (params);
  if (gst_query_get_n_allocation_params (query) > 0) {
    gst_query_parse_nth_allocation_param (query, 0, NULL, params);
    gst_query_set_nth_allocation_param (query, 0, allocator, params);
  } else {
    gst_query_add_allocation_param (query, allocator, params);
  }
}

/* Merges allocation parameters to satisfy both. */
static void
merge_params (GstAllocationParams *params, const GstAllocationParams *others)
{
  params->flags |= others->flags;
  params->align |= others->align; /* a power of two minus one */
  params->prefix = MAX (params->prefix, others->prefix);
  params->padding = MAX (params->padding, others->padding);
}

/* Keeps what downstream configured for its pool. */
static void
set_pool (GstQuery *query, GstCaps *caps, gsize frame_size, GstAllocator *allocator,
          const GstAllocationParams *params)
{
  GstAllocationParams pool_params;
  GstBufferPool *pool = gst_video_buffer_pool_new (), *theirs = NULL;
  gboolean replaces = gst_query_get_n_allocation_pools (query) > 0;
  guint size = 0, min = 0, max = 0;
  GstStructure *config;

  if (replaces)
    gst_query_parse_nth_allocation_pool (query, 0, &theirs, &size, &min, &max);
  size = MAX (size, (guint) frame_size);
  min = MAX (min, MIN_BUFFERS);
  if (max > 0)
    max = MAX (max, min);

  config = gst_buffer_pool_get_config (theirs ? theirs : pool);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  gst_buffer_pool_config_get_allocator (config, NULL, &pool_params);
  merge_params (&pool_params, params);
  gst_buffer_pool_config_set_allocator (config, allocator, &pool_params);
  if (!gst_buffer_pool_set_config (pool, config))
    GST_WARNING_OBJECT (pool, "could not configure the pool, using pageable memory");
  else if (replaces)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);

  gst_clear_object (&theirs);
  gst_object_unref (pool);
}

void
gst_ccl_pool_propose (GstQuery *query, gint device)
{
  GstCclPinnedAllocator *allocator;
  GstAllocationParams params;
  gboolean need_pool;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (!caps || !gst_video_info_from_caps (&info, caps) || !is_all_plain (query))
    return;

  allocator = g_object_new (gst_ccl_pinned_allocator_get_type (), NULL);
  gst_object_ref_sink (allocator);
  allocator->device = device;

  set_allocator (query, GST_ALLOCATOR (allocator), &params);
  if (need_pool && GST_VIDEO_INFO_SIZE (&info) <= G_MAXUINT)
    set_pool (query, caps, GST_VIDEO_INFO_SIZE (&info), GST_ALLOCATOR (allocator), &params);
  gst_object_unref (allocator);
}
