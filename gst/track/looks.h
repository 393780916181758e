/* cudaccl - the tracker's mode for a network that looks at some frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_LOOKS_H__
#define __GST_CCL_LOOKS_H__

#include "scene.h"

G_BEGIN_DECLS

extern const GstCclTrackerMode gst_ccl_looks_mode;

GstCclLooks *gst_ccl_looks_new (void);

void gst_ccl_looks_free (GstCclLooks *self);

/* Forgets all looks. */
void gst_ccl_looks_reset (GstCclLooks *self);

/* Applies what the network found at @time, see gst_ccl_tracker_look(). */
void gst_ccl_looks_apply (GstCclScene *scene, GstClockTime time, const GstCclDetection *boxes,
                          guint n_boxes, const GstCclLook *parts, guint n_parts);

G_END_DECLS

#endif /* __GST_CCL_LOOKS_H__ */
