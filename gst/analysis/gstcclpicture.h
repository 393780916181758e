/* cudaccl - for elements that output a picture of each frame's components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PICTURE_H__
#define __GST_CCL_PICTURE_H__

#include "gstcclanalysis.h"

G_BEGIN_DECLS

/* Makes an element output pictures of one plane, drawn by @draw, instead of the frames; @segment
 * adds them as segmentations. The pads' templates say which formats; metadata on the layout and the
 * meaning of pixel values is dropped. */
void gst_ccl_picture_class_init (GstCclAnalysisClass *klass, GstCclDrawFunc draw,
                                 GstCclSegmentFunc segment);

G_END_DECLS

#endif /* __GST_CCL_PICTURE_H__ */
