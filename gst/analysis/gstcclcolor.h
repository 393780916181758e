/* cudaccl - shows the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_COLOR_H__
#define __GST_CCL_COLOR_H__

#include "gstcudaccl.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_COLOR (gst_ccl_color_get_type ())
#define GST_CCL_COLOR(obj) (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CCL_COLOR, GstCclColor))

GType gst_ccl_color_get_type (void);

GST_ELEMENT_REGISTER_DECLARE (cclcolor);

G_END_DECLS

#endif /* __GST_CCL_COLOR_H__ */
