/* cudaccl - the elements of the plugin
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ELEMENTS_H__
#define __GST_CCL_ELEMENTS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (cudaccl);
GST_ELEMENT_REGISTER_DECLARE (cclcolor);
GST_ELEMENT_REGISTER_DECLARE (cclmotion);
GST_ELEMENT_REGISTER_DECLARE (cclmask);

G_END_DECLS

#endif /* __GST_CCL_ELEMENTS_H__ */
