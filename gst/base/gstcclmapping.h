/* cudaccl - mapping the pixels of buffers, with checks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MAPPING_H__
#define __GST_CCL_MAPPING_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* gst_video_frame_map() trusts the strides and offsets of GstVideoMeta. Elements map pixels with
 * these functions only: they check that all pixels are in the mapped memory. Planes may overlap, as
 * those do whose rows alternate. */

/* A mapped plane. */
typedef struct
{
  guint8 *data; /* first visible pixel */
  gssize stride;
  GstMapInfo map;
  GstVideoMeta *meta; /* metadata whose own function mapped it, or NULL */
} GstCclMapping;

/* Maps the visible part of plane @index, whose rows must be stored top down. It begins with the
 * sample that the first pixel has. The layout is that of the buffer's GstVideoMeta, or of @info if
 * it has none. If a plane spans several memories, the mapped one is a copy, which may be of another
 * type; for writing, it replaces them. */
gboolean gst_ccl_mapping_map (GstCclMapping *mapping, const GstVideoInfo *info, GstBuffer *buffer,
                              guint index, GstMapFlags flags, GError **error);

/* Unmaps plane @index. @meta is that of the mapping. */
void gst_ccl_mapping_unmap (GstBuffer *buffer, GstVideoMeta *meta, guint index, GstMapInfo *map);

/* Maps all planes, of any format, without cropping them: the mapped frame ends with the visible
 * part, and may be smaller than the caps say. Rows may be stored bottom up. A buffer that is mapped
 * for writing must be writable. */
gboolean gst_ccl_video_frame_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                                  GstMapFlags flags, GError **error);
void gst_ccl_video_frame_unmap (GstVideoFrame *frame);

/* The visible part of a plane. If a plane has two components, they alternate. */
typedef struct
{
  guint component; /* any component of the plane */
  gsize row;       /* bytes per row, without padding */
  gsize rows;
} GstCclPlaneSize;

GstCclPlaneSize gst_ccl_plane_get_size (const GstVideoInfo *info, guint index);

/* Returns the offset in plane @index, with rows @stride bytes apart, of the pixel (@x, @y) of
 * the frame. */
guint64 gst_ccl_plane_get_start (const GstVideoInfo *info, guint index, guint64 stride, guint64 x,
                                 guint64 y);

G_END_DECLS

#endif /* __GST_CCL_MAPPING_H__ */
