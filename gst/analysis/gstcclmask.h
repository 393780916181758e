/* cudaccl - shows what moves in video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MASK_H__
#define __GST_CCL_MASK_H__

#include "gstcclmotion.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_MASK (gst_ccl_mask_get_type ())
#define GST_CCL_MASK(obj) (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CCL_MASK, GstCclMask))

GType gst_ccl_mask_get_type (void);

GST_ELEMENT_REGISTER_DECLARE (cclmask);

G_END_DECLS

#endif /* __GST_CCL_MASK_H__ */
