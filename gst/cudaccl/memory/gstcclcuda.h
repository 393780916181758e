/* cudaccl - frames in GstCuda's memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CUDA_H__
#define __GST_CCL_CUDA_H__

#include "gstcclframe.h"

G_BEGIN_DECLS

/* In builds with HAVE_GSTCUDA. */
extern const GstCclMapperClass gst_ccl_cuda_mapper;

G_END_DECLS

#endif /* __GST_CCL_CUDA_H__ */
