/* cudaccl - tracks that share a detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_GROUPS_H__
#define __GST_CCL_GROUPS_H__

#include "scene.h"

G_BEGIN_DECLS

/* Step 5. Tracks that are left over inside a detection share it. */
void gst_ccl_scene_find_groups (GstCclScene *self);

/* The part of step 6 for the members of the group whose detection @blob is. */
void gst_ccl_scene_measure_group (GstCclScene *self, const Blob *blob);

G_END_DECLS

#endif /* __GST_CCL_GROUPS_H__ */
