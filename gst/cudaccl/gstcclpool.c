/* cudaccl - page-locked memory for those who make frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpool.h"

#include <gst/video/video.h>
#include <ccl/ccl.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

#define MEMORY_TYPE "CclPinnedMemory"
#define MIN_BUFFERS 2

typedef struct
{
  GstMemory parent;

  guint8 *data;
  gint device;
  gpointer block; /* to be freed; NULL: a part of another memory */
} PinnedMemory;

typedef struct
{
  GstAllocator parent;

  gint device;
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

  /* Frames in any memory are better than none. */
  if (ccl_pinned_alloc (device, maxsize + params->align, &block) != CCL_OK) {
    GST_WARNING_OBJECT (allocator, "frames will not be page-locked: %s", ccl_last_error ());
    return gst_allocator_alloc (NULL, size, params);
  }

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

  ccl_pinned_free (self->device, self->block);
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

static void
gst_ccl_pinned_allocator_class_init (GstCclPinnedAllocatorClass *klass)
{
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
}

gboolean
gst_ccl_pool_is_pinned (GstMemory *memory)
{
  return gst_memory_is_type (memory, MEMORY_TYPE);
}

static GstBufferPool *
new_pool (GstCaps *caps, guint size, GstAllocator *allocator, const GstAllocationParams *params)
{
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, MIN_BUFFERS, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, params);
  if (!gst_buffer_pool_set_config (pool, config))
    gst_clear_object (&pool);

  return pool;
}

void
gst_ccl_pool_propose (GstQuery *query, gint device)
{
  GstAllocationParams params;
  GstAllocator *allocator = NULL;
  GstBufferPool *pool;
  gboolean need_pool;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (!caps || !gst_video_info_from_caps (&info, caps) ||
      gst_query_get_n_allocation_pools (query) > 0)
    return;

  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  if (allocator) {
    gst_object_unref (allocator);
    return;
  }

  allocator = g_object_new (gst_ccl_pinned_allocator_get_type (), NULL);
  gst_object_ref_sink (allocator);
  ((GstCclPinnedAllocator *) allocator)->device = device;

  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_set_nth_allocation_param (query, 0, allocator, &params);
  else
    gst_query_add_allocation_param (query, allocator, &params);

  pool =
      need_pool ? new_pool (caps, (guint) GST_VIDEO_INFO_SIZE (&info), allocator, &params) : NULL;
  if (pool) {
    gst_query_add_allocation_pool (query, pool, (guint) GST_VIDEO_INFO_SIZE (&info), MIN_BUFFERS,
                                   0);
    gst_object_unref (pool);
  }
  gst_object_unref (allocator);
}
