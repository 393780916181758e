/* cudaccl - frames in CUDA memory of GstCuda (memory:CUDAMemory)
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CUDA_H__
#define __GST_CCL_CUDA_H__

#include "gstcclframe.h"

G_BEGIN_DECLS

extern const GstCclMapperClass gst_ccl_cuda_mapper;

G_END_DECLS

#endif /* __GST_CCL_CUDA_H__ */
