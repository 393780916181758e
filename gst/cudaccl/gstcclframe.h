/* cudaccl - where the pixels of a buffer are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FRAME_H__
#define __GST_CCL_FRAME_H__

#include <gst/video/video.h>
#include <ccl/ccl.h>

G_BEGIN_DECLS

typedef struct
{
  CclImage image; /* the visible part of the luma plane */

  GstBuffer *buffer;
  GstVideoMeta *meta; /* the one that mapped the plane, NULL when the buffer itself did */
  GstMapInfo map;
} GstCclFrame;

/* Maps the luma plane of @buffer for reading; the pixels stay where they are. The image has the
 * size of @info. */
gboolean gst_ccl_frame_map (GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                            GError **error);

void gst_ccl_frame_unmap (GstCclFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_FRAME_H__ */
