/* cudaccl - reads ONVIF metadata as components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ONVIF_READ_H__
#define __GST_CCL_ONVIF_READ_H__

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (cclonvifread)

G_END_DECLS

#endif /* __GST_CCL_ONVIF_READ_H__ */
