/* cudaccl - a component after tracking
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_OUTPUT_H__
#define __GST_CCL_TRACK_OUTPUT_H__

#include <gst/ccl/gstccl.h>
#include "tracker.h"

G_BEGIN_DECLS

void gst_ccl_track_output_set_track (GstCclComponent *component, const GstCclTrackInfo *track);

/* Sets the box, clipped to the frame. Returns FALSE if nothing is left. */
gboolean gst_ccl_track_output_set_box (GstCclComponent *component, const GstCclTrackInfo *track,
                                       guint width, guint height);

G_END_DECLS

#endif /* __GST_CCL_TRACK_OUTPUT_H__ */
