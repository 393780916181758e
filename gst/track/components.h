/* cudaccl - the tracker's mode for frames that show all there is
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_COMPONENTS_H__
#define __GST_CCL_COMPONENTS_H__

#include "scene.h"

G_BEGIN_DECLS

extern const GstCclTrackerMode gst_ccl_components_mode;

G_END_DECLS

#endif /* __GST_CCL_COMPONENTS_H__ */
