/* cudaccl - finds the detections that are parts of a track
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FRAGMENTS_H__
#define __GST_CCL_FRAGMENTS_H__

#include "scene.h"

G_BEGIN_DECLS

/* Step 4. Unites the detections of tracks with those that are left over inside them, and leaves out
 * second boxes of an object. */
void gst_ccl_scene_find_fragments (GstCclScene *self);

G_END_DECLS

#endif /* __GST_CCL_FRAGMENTS_H__ */
