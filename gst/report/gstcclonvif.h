/* cudaccl - writes the components of frames as ONVIF metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ONVIF_H__
#define __GST_CCL_ONVIF_H__

#include "gstcclreport.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_ONVIF (gst_ccl_onvif_get_type ())
G_DECLARE_FINAL_TYPE (GstCclOnvif, gst_ccl_onvif, GST, CCL_ONVIF, GstCclReport)

GST_ELEMENT_REGISTER_DECLARE (cclonvif);

G_END_DECLS

#endif /* __GST_CCL_ONVIF_H__ */
