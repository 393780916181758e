/* cudaccl - components as regions of interest on buffers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ROI_H__
#define __GST_CCL_ROI_H__

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* The name of the parameters that tell a component's region of interest from others. */
#define GST_CCL_ROI_PARAM "cudaccl"

/* The components that the regions of interest of @buffer tell of, in the order of their ids. */
typedef struct
{
  guint n;
  GstVideoRegionOfInterestMeta **rois;
  GstCclComponent *components;
} GstCclRois;

/* Finds those of @buffer; they are valid as long as its metadata is. */
void gst_ccl_rois_init (GstCclRois *rois, GstBuffer *buffer);

void gst_ccl_rois_clear (GstCclRois *rois);

/* Takes all of them off @buffer, which is writable. */
void gst_ccl_rois_remove (GstBuffer *buffer);

G_END_DECLS

#endif /* __GST_CCL_ROI_H__ */
