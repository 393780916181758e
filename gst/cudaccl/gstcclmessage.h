/* cudaccl - components to element messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MESSAGE_H__
#define __GST_CCL_MESSAGE_H__

#include <gst/video/video.h>
#include <ccl/ccl.h>

G_BEGIN_DECLS

/* The message for one frame, as documented with the element. */
GstMessage *gst_ccl_message_new (GstObject *source, const GstSegment *segment, GstBuffer *buffer,
                                 const GstVideoInfo *info, const CclComponents *components);

G_END_DECLS

#endif /* __GST_CCL_MESSAGE_H__ */
