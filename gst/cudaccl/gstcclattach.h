/* cudaccl - components to metadata on buffers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ATTACH_H__
#define __GST_CCL_ATTACH_H__

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

G_END_DECLS

#endif /* __GST_CCL_ATTACH_H__ */
