/* cudaccl - components from frame to frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_META_H__
#define __GST_CCL_MERGE_META_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Whether @buffer has components to put on another frame. */
gboolean gst_ccl_merge_has_components (GstBuffer *buffer);

/* A buffer with nothing but the components of @buffer, so that the frame itself can go. They are
 * cropped to what is to be seen of the frame, if it was cropped after they were found. */
GstBuffer *gst_ccl_merge_keep_components (GstBuffer *buffer);

/* Puts the components of @source, of a frame of one size, on @dest, a writable frame of another;
 * those that @dest had are replaced. As above, they are cropped before. */
void gst_ccl_merge_put_components (GstBuffer *dest, guint dest_width, guint dest_height,
                                   GstBuffer *source, guint source_width, guint source_height);

G_END_DECLS

#endif /* __GST_CCL_MERGE_META_H__ */
