/* cudaccl - tracks of objects that stand, and walk on
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_STANDING_H__
#define __GST_CCL_TRACK_STANDING_H__

#include "scene.h"

G_BEGIN_DECLS

/* After the measurement: if the place of a standing object is empty, and another track began there,
 * the object has walked on, and its track takes over the other one. */
void gst_ccl_scene_resume (GstCclScene *self);

G_END_DECLS

#endif /* __GST_CCL_TRACK_STANDING_H__ */
