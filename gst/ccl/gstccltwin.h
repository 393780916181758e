/* cudaccl - buffers that share their memory; part of the plugins, not of libgstccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TWIN_H__
#define __GST_CCL_TWIN_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* A new buffer with the memory and a copy of all metadata of @buffer, whose own metadata cannot be
 * written because others use it too. */
GstBuffer *gst_ccl_twin_new (GstBuffer *buffer);

G_END_DECLS

#endif /* __GST_CCL_TWIN_H__ */
