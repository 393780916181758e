/* cudaccl - the chroma planes of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclchroma.h"

void
gst_ccl_chroma_set_planes (GstCclChroma *chroma, const GstVideoInfo *info, const CclImage *planes)
{
  const GstVideoFormatInfo *format = info->finfo;
  guint i;

  for (i = 0; i < 2; i++) {
    guint component = GST_VIDEO_COMP_U + i;
    CclImage *image = &chroma->image.planes[i];

    *image = planes[GST_VIDEO_INFO_COMP_PLANE (info, component) - 1];
    chroma->image.step = (guint) GST_VIDEO_INFO_COMP_PSTRIDE (info, component)
                         << (1 - GST_VIDEO_FORMAT_INFO_W_SUB (format, component));
    if (image->memory == CCL_MEMORY_ARRAY)
      continue;
    image->data += GST_VIDEO_FORMAT_INFO_POFFSET (format, component);
    image->stride <<= 1 - GST_VIDEO_FORMAT_INFO_H_SUB (format, component);
  }
}

gboolean
gst_ccl_chroma_map (GstCclChroma *chroma, const GstVideoInfo *layout, GstBuffer *buffer,
                    GstMapFlags flags, GError **error)
{
  guint n = GST_VIDEO_INFO_N_PLANES (layout) - 1, i;
  CclImage planes[2];

  chroma->n_frames = 0;
  for (i = 0; i < n; i++) {
    if (!gst_ccl_frame_map_plane (&chroma->frames[i], layout, buffer, i + 1, flags, error)) {
      gst_ccl_chroma_unmap (chroma);
      return FALSE;
    }
    chroma->n_frames++;
    planes[i] = chroma->frames[i].image;
  }
  if (n > 0)
    gst_ccl_chroma_set_planes (chroma, layout, planes);

  return TRUE;
}

void
gst_ccl_chroma_unmap (GstCclChroma *chroma)
{
  while (chroma->n_frames > 0)
    gst_ccl_frame_unmap_plane (&chroma->frames[--chroma->n_frames]);
}
