/* cudaccl - components as metadata on buffers and as messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PUBLISH_H__
#define __GST_CCL_PUBLISH_H__

#include <gst/video/video.h>
#include <cudaccl/ccl.h>
#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* Where a mask lies in a frame of another size. */
typedef struct
{
  gint x, y;
  guint width, height;
  guint mask_width, mask_height, frame_width, frame_height;
} GstCclPlacement;

/* What is known of components beside what CclComponents say; arrays are in the order of labels. */
typedef struct
{
  guint features;                   /* those that are measured, #GstCclFeatures */
  const CclShape *shapes;           /* NULL if no feature needs them */
  const guint16 *values;            /* the components' classes; NULL if they have none */
  GstCclClassNames *names;          /* of the classes, or NULL */
  const GstCclPlacement *placement; /* of the mask that they are components of; NULL: the frame */
} GstCclDetails;

/* Converts components to an array of as many, to be freed. */
GstCclComponent *gst_ccl_components_convert (const CclComponents *components,
                                             const GstCclDetails *details);

/* Attaches one GstCclMeta, for frames of the size in @info. */
void gst_ccl_attach_meta (GstBuffer *buffer, const GstVideoInfo *info,
                          const CclComponents *components, const GstCclDetails *details);

/* Attaches one GstVideoRegionOfInterestMeta for each component, of the type @roi_type or, if its
 * class has one, of that name. Ids count from 0, or, if other regions have one of these ids, from
 * their highest id plus one. */
void gst_ccl_attach_rois (GstBuffer *buffer, GQuark roi_type, const CclComponents *components,
                          const GstCclDetails *details);

#ifdef HAVE_ANALYTICS
/* The relation metadata has a matrix of n x n bytes for n entries: 16 MiB for this many. */
#define GST_CCL_DETECTIONS_MAX 4096

/* Adds one object detection for each component to the buffer's GstAnalyticsRelationMeta, which is
 * created if there is none; types are as those of regions. If there are more than
 * GST_CCL_DETECTIONS_MAX components, adds the largest, in canonical order. Returns how many were
 * added. */
guint gst_ccl_attach_detections (GstBuffer *buffer, GQuark type, const CclComponents *components,
                                 const GstCclDetails *details);
#endif

/* Creates the element message for one frame, as documented with the element. */
GstMessage *gst_ccl_message_new (GstObject *source, const GstSegment *segment, GstBuffer *buffer,
                                 const GstVideoInfo *info, const CclComponents *components,
                                 const GstCclDetails *details);

G_END_DECLS

#endif /* __GST_CCL_PUBLISH_H__ */
