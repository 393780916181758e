/* cudaccl - compositions blended into frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_BLEND_H__
#define __GST_CCL_BLEND_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Whether a rectangle is blended into frames of this kind without a look at the rest of its rows.
 */
gboolean gst_ccl_blend_is_local (const GstVideoInfo *info);

/* Blends @composition into @frame, which is mapped for reading and writing. FALSE if frames of this
 * format cannot be drawn on. */
gboolean gst_ccl_blend (GstVideoOverlayComposition *composition, GstVideoFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_BLEND_H__ */
