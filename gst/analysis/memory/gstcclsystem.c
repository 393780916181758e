/* cudaccl - frames in system memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclsystem.h"

#include "gstcclchroma.h"
#include "gstcclpool.h"

static gboolean
system_map (GstCclMapper *mapper, GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
            GError **error)
{
  if (!gst_ccl_frame_map_plane (frame, info, buffer, 0, GST_MAP_READ, error))
    return FALSE;
  if (frame->map.memory && gst_ccl_pool_is_pinned (frame->map.memory))
    frame->image.memory = CCL_MEMORY_PINNED;

  return TRUE;
}

static void
system_unmap (GstCclMapper *mapper, GstCclFrame *frame)
{
  gst_ccl_frame_unmap_plane (frame);
}

static gboolean
system_map_chroma (GstCclMapper *mapper, GstCclFrame *frame, GstCclChroma *chroma,
                   const GstVideoInfo *info, GError **error)
{
  guint i;

  if (!gst_ccl_chroma_map (chroma, info, frame->buffer, GST_MAP_READ, error))
    return FALSE;
  for (i = 0; i < 2 && chroma->n_frames > 0; i++) {
    const GstMapInfo *map = &chroma->frames[MIN (i, chroma->n_frames - 1)].map;

    if (map->memory && gst_ccl_pool_is_pinned (map->memory))
      chroma->image.planes[i].memory = CCL_MEMORY_PINNED;
  }

  return TRUE;
}

const GstCclMapperClass gst_ccl_system_mapper = {
  .feature = GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY,
  .formats = GST_CCL_SYSTEM_FORMATS,
  .map = system_map,
  .unmap = system_unmap,
  .map_chroma = system_map_chroma,
};
