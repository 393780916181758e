/* cudaccl - components as metadata on buffers and as messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PUBLISH_H__
#define __GST_CCL_PUBLISH_H__

#include <gst/video/video.h>
#include <ccl/ccl.h>

G_BEGIN_DECLS

/* Attaches one GstCclMeta. */
void gst_ccl_attach_components (GstBuffer *buffer, const GstVideoInfo *info,
                                const CclComponents *components);

/* Removes the GstCclMeta and the GstVideoRegionOfInterestMeta of an earlier analysis; everybody
 * else's stay. */
void gst_ccl_attach_nothing (GstBuffer *buffer);

/* Attaches one GstVideoRegionOfInterestMeta for each component. Their ids count from 0, or, when
 * others' would be among these, from the one after the highest of those. */
void gst_ccl_attach_roi (GstBuffer *buffer, GQuark roi_type, const CclComponents *components);

#ifdef HAVE_ANALYTICS
/* The relation metadata holds a matrix of n x n bytes for n entries: 16 MiB for these. */
#define GST_CCL_ANALYTICS_MAX 4096

/* Adds one object detection for each component to the buffer's GstAnalyticsRelationMeta, which is
 * made when there is none. Of more than GST_CCL_ANALYTICS_MAX components the largest are added, in
 * their order, which is logged as @element's warning unless @truncated says that it was. */
void gst_ccl_attach_analytics (GstElement *element, GstBuffer *buffer, GQuark type,
                               const CclComponents *components, gboolean *truncated);
#endif

/* The message for one frame, as documented with the element. */
GstMessage *gst_ccl_message_new (GstObject *source, const GstSegment *segment, GstBuffer *buffer,
                                 const GstVideoInfo *info, const CclComponents *components);

G_END_DECLS

#endif /* __GST_CCL_PUBLISH_H__ */
