/* cudaccl - frames in system memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclsystem.h"

#include "gstcclpool.h"

static gboolean
system_map (GstCclMapper *mapper, GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
            guint n_planes, GError **error)
{
  guint i;

  if (!gst_ccl_frame_map (frame, info, buffer, n_planes, GST_MAP_READ, error))
    return FALSE;
  for (i = 0; i < n_planes; i++) {
    GstCclPlane *plane = &frame->planes[i];

    if (plane->map.memory && gst_ccl_pool_is_pinned (plane->map.memory))
      plane->image.memory = CCL_MEMORY_PINNED;
  }
  gst_ccl_frame_set_image (frame, info, n_planes);

  return TRUE;
}

static void
system_unmap (GstCclMapper *mapper, GstCclFrame *frame)
{
  gst_ccl_frame_unmap (frame);
}

const GstCclMapperClass gst_ccl_system_mapper = {
  .feature = GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY,
  .formats = GST_CCL_SYSTEM_FORMATS,
  .map = system_map,
  .unmap = system_unmap,
};
