/* cudaccl - the chroma planes of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CHROMA_H__
#define __GST_CCL_CHROMA_H__

#include "gstcclframe.h"

G_BEGIN_DECLS

/* The chroma of a mapped frame, half its samples in each direction. Formats with more chroma are
 * subsampled. */
struct _GstCclChroma
{
  CclChroma image;

  GstCclFrame frames[2]; /* of the planes that are mapped */
  guint n_frames;
};

/* Maps the chroma planes of @buffer, none in GRAY8. @layout: the format, and the layout of buffers
 * without GstVideoMeta. Images are in host memory. */
gboolean gst_ccl_chroma_map (GstCclChroma *chroma, const GstVideoInfo *layout, GstBuffer *buffer,
                             GstMapFlags flags, GError **error);
void gst_ccl_chroma_unmap (GstCclChroma *chroma);

/* For mappers: sets the images from those of the planes after luma. */
void gst_ccl_chroma_set_planes (GstCclChroma *chroma, const GstVideoInfo *info,
                                const CclImage *planes);

G_END_DECLS

#endif /* __GST_CCL_CHROMA_H__ */
