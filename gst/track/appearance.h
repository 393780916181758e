/* cudaccl - what tracks look like
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_APPEARANCE_H__
#define __GST_CCL_TRACK_APPEARANCE_H__

#include "scene.h"

G_BEGIN_DECLS

void gst_ccl_appearance_init (GstCclAppearance *self);
void gst_ccl_appearance_clear (GstCclAppearance *self);

/* Forgets all tracks. */
void gst_ccl_appearance_reset (GstCclAppearance *self);

/* Between steps 2 and 3: where a track has several detections to choose from, those that look like
 * it get a better score. */
void gst_ccl_scene_compare_appearance (GstCclScene *self);

/* In step 6: tracks learn what they look like from detections of their own. */
void gst_ccl_scene_learn_appearance (GstCclScene *self);

G_END_DECLS

#endif /* __GST_CCL_TRACK_APPEARANCE_H__ */
