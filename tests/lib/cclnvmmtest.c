/* cudaccl - helpers for the tests of NVMM memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclnvmmtest.h"

GstHarness *
ccl_test_nvmm_harness_new (const gchar *format, guint width, guint height)
{
  GstHarness *h = ccl_test_launch (8, 8, "cudaccl");

  ccl_test_nvmm_set_caps (h, format, width, height);

  return h;
}

void
ccl_test_nvmm_set_caps (GstHarness *h, const gchar *format, guint width, guint height)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                       G_TYPE_INT, (gint) width, "height", G_TYPE_INT,
                                       (gint) height, "framerate", GST_TYPE_FRACTION, 1, 1, NULL);

  gst_caps_set_features_simple (caps, gst_caps_features_new ("memory:NVMM", NULL));
  gst_harness_set_src_caps (h, caps);
}

NvBufSurface *
ccl_test_nvmm_surface_new (const NvmmKind *kind, gboolean larger)
{
  GstBuffer *picture = ccl_test_picture_new ("GRAY8", larger ? LAYOUT_CROP_META : LAYOUT_PACKED);
  GstVideoMeta *meta = gst_buffer_get_video_meta (picture);
  NvBufSurface *surface;
  GstMapInfo map;

  gst_buffer_map (picture, &map, GST_MAP_READ);
  surface = nv_fake_surface_new (
      kind->type, kind->layout, map.data,
      larger ? (guint) meta->stride[0] : (guint) GST_ROUND_UP_4 (PICTURE_WIDTH),
      larger ? meta->width : PICTURE_WIDTH, larger ? meta->height : PICTURE_HEIGHT);
  gst_buffer_unmap (picture, &map);
  gst_buffer_unref (picture);

  return surface;
}

GstMemory *
ccl_test_nvmm_memory_new (NvBufSurface *surface)
{
  return gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, surface, sizeof (*surface), 0,
                                 sizeof (*surface), surface, (GDestroyNotify) nv_fake_surface_free);
}

typedef GstAllocator SlotAllocator;
typedef GstAllocatorClass SlotAllocatorClass;
GType slot_allocator_get_type (void);
G_DEFINE_TYPE (SlotAllocator, slot_allocator, GST_TYPE_ALLOCATOR)

static gpointer
slot_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  return ((NvmmSlot *) memory)->surface;
}

static void
slot_unmap (GstMemory *memory)
{
}

static void
slot_free (GstAllocator *allocator, GstMemory *memory)
{
  g_free (memory);
}

static void
slot_allocator_class_init (SlotAllocatorClass *klass)
{
  klass->free = slot_free;
}

static void
slot_allocator_init (SlotAllocator *self)
{
  self->mem_type = "NvmmSlot";
  self->mem_map = slot_map;
  self->mem_unmap = slot_unmap;
}

NvmmSlot *
ccl_test_nvmm_slot_new (NvBufSurface *surface)
{
  GstAllocator *allocator = g_object_new (slot_allocator_get_type (), NULL);
  NvmmSlot *self = g_new0 (NvmmSlot, 1);

  gst_object_ref_sink (allocator);
  gst_memory_init (GST_MEMORY_CAST (self), GST_MEMORY_FLAG_READONLY, allocator, NULL,
                   sizeof (*surface), 0, 0, sizeof (*surface));
  gst_object_unref (allocator);
  self->surface = surface;

  return self;
}

GstBuffer *
ccl_test_nvmm_buffer_new (GstMemory *memory)
{
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_append_memory (buffer, memory);

  return buffer;
}

void
ccl_test_nvmm_push (GstHarness *h, GstBuffer *buffer)
{
  GstBuffer *out = gst_harness_push_and_pull (h, buffer);

  fail_unless (out != NULL);
  ccl_test_check_picture (out);
  gst_buffer_unref (out);
}
