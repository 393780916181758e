/* cudaccl - frames in NVIDIA's video memory (memory:NVMM)
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_NVMM_H__
#define __GST_CCL_NVMM_H__

#include "gstcclframe.h"

G_BEGIN_DECLS

extern const GstCclMapperClass gst_ccl_nvmm_mapper;

G_END_DECLS

#endif /* __GST_CCL_NVMM_H__ */
