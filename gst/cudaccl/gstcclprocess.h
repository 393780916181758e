/* cudaccl - the way of a frame through the element
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PROCESS_H__
#define __GST_CCL_PROCESS_H__

#include "gstcudaccl.h"

G_BEGIN_DECLS

/* What the element does between start and stop, in the streaming thread or while there is none;
 * gst_cuda_ccl_process() belongs to it. What fails has posted an error. */

/* Takes the settings that count from the start on. What can never work fails here. */
gboolean gst_cuda_ccl_open (GstCudaCcl *self);

/* Gets ready for frames with these caps. */
gboolean gst_cuda_ccl_prepare (GstCudaCcl *self, GstCaps *caps);

/* Frees what gst_cuda_ccl_prepare() made. */
void gst_cuda_ccl_close (GstCudaCcl *self);

G_END_DECLS

#endif /* __GST_CCL_PROCESS_H__ */
