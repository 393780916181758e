/* cudaccl - tracks of objects that stand, and walk on
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_STANDING_H__
#define __GST_CCL_TRACK_STANDING_H__

#include "scene.h"

G_BEGIN_DECLS

/* After the measurement: an object that stood has walked on, if its place is empty, and what came
 * from there has a track. That continues the object's. */
void gst_ccl_scene_resume (GstCclScene *self);

G_END_DECLS

#endif /* __GST_CCL_TRACK_STANDING_H__ */
