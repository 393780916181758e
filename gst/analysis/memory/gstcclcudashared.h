/* cudaccl - the CUDA contexts that all elements of a process share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CUDA_SHARED_H__
#define __GST_CCL_CUDA_SHARED_H__

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>

G_BEGIN_DECLS

/* Gets this process's shared context on @device: all callers get the same object as long as
 * anything holds a reference to it. Returns a new reference, or NULL, with a warning in the log, if
 * the device or its driver does not work. The driver must have been loaded by
 * gst_cuda_load_library(). May be called from any thread. */
GstCudaContext *gst_ccl_shared_cuda_context (gint device);

G_END_DECLS

#endif /* __GST_CCL_CUDA_SHARED_H__ */
