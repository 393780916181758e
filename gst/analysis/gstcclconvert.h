/* cudaccl - converts the engine's components to GstCclComponent
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CONVERT_H__
#define __GST_CCL_CONVERT_H__

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

/* Data beside CclComponents; arrays are in the order of labels. */
typedef struct
{
  GstCclFeatures features;          /* those that are measured */
  const CclShape *shapes;           /* NULL if no feature needs them */
  const guint16 *values;            /* the components' classes; NULL if they have none */
  GstCclClassNames *names;          /* of the classes, or NULL */
  const GstCclPlacement *placement; /* of the mask that they are components of; NULL: the frame */
} GstCclDetails;

/* Converts @components to an array of as many. Free with g_free(). */
GstCclComponent *gst_ccl_components_convert (const CclComponents *components,
                                             const GstCclDetails *details);

G_END_DECLS

#endif /* __GST_CCL_CONVERT_H__ */
