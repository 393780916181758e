/* cudaccl - a pool of pinned memory for upstream elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_POOL_H__
#define __GST_CCL_POOL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Adds a pool and an allocator of pinned memory, which CUDA device @device reads at full bus
 * speed, to the answer to an allocation query. They replace plain ones of GStreamer, keeping
 * sizes and options. If downstream proposes memory of its own kind, changes nothing: copying
 * frames there would cost more. The allocator's properties "allocations" and "pinned" count how
 * often memory was pinned, and how much of it still is. */
void gst_ccl_pool_propose (GstQuery *query, gint device);

/* Returns whether @memory was pinned by such an allocator. */
gboolean gst_ccl_pool_is_pinned (GstMemory *memory);

G_END_DECLS

#endif /* __GST_CCL_POOL_H__ */
