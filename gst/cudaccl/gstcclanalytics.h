/* cudaccl - components to GStreamer's analytics metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ANALYTICS_H__
#define __GST_CCL_ANALYTICS_H__

#include <gst/gst.h>
#include <ccl/ccl.h>

G_BEGIN_DECLS

/* The relation metadata holds a matrix of n x n bytes for n entries: 16 MiB for these. */
#define GST_CCL_ANALYTICS_MAX 4096

/* Adds one object detection for each component to the buffer's GstAnalyticsRelationMeta, which is
 * made when there is none. Of more than GST_CCL_ANALYTICS_MAX components the largest are added, in
 * their order, which is logged as @element's warning unless @truncated says that it was. */
void gst_ccl_attach_analytics (GstElement *element, GstBuffer *buffer, GQuark type,
                               const CclComponents *components, gboolean *truncated);

G_END_DECLS

#endif /* __GST_CCL_ANALYTICS_H__ */
