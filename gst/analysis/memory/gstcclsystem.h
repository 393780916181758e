/* cudaccl - frames in system memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SYSTEM_H__
#define __GST_CCL_SYSTEM_H__

#include "gstcclframe.h"

G_BEGIN_DECLS

#define GST_CCL_SYSTEM_FORMATS                                                    \
  "{ GRAY8, NV12, NV21, I420, YV12, Y42B, Y444, YUY2, UYVY, " GST_CCL_RGB_FORMATS \
  ", GRAY16_LE, GRAY16_BE, " GST_CCL_DEEP_FORMATS ", GRAY10_LE16 }"

extern const GstCclMapperClass gst_ccl_system_mapper;

G_END_DECLS

#endif /* __GST_CCL_SYSTEM_H__ */
