/* cudaccl - finds objects by a neural network
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_DETECT_H__
#define __GST_CCL_DETECT_H__

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (ccldetect);

G_END_DECLS

#endif /* __GST_CCL_DETECT_H__ */
