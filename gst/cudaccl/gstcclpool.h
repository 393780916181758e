/* cudaccl - page-locked memory for those who make frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_POOL_H__
#define __GST_CCL_POOL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Adds a pool and an allocator of page-locked memory to the answer to an allocation query, from
 * where CUDA device number @device reads at the speed of its bus. Those that are in the answer
 * already stay: who wants memory of its own downstream has more to lose. */
void gst_ccl_pool_propose (GstQuery *query, gint device);

/* Whether the memory is page-locked, by the allocator of such a pool. */
gboolean gst_ccl_pool_is_pinned (GstMemory *memory);

G_END_DECLS

#endif /* __GST_CCL_POOL_H__ */
