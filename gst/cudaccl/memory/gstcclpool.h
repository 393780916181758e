/* cudaccl - page-locked memory for those who make frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_POOL_H__
#define __GST_CCL_POOL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Puts a pool and an allocator of page-locked memory, from where CUDA device number @device reads
 * at the speed of its bus, into the answer to an allocation query. They take the place of plain
 * ones, which GStreamer itself makes of memory like any other, with their sizes and options; but
 * where downstream has memory of its own kind, everything stays: it has more to lose. The
 * allocator's property "allocations" counts what was page-locked, and "page-locked" what still is.
 */
void gst_ccl_pool_propose (GstQuery *query, gint device);

/* Whether the memory is page-locked, by the allocator of such a pool. */
gboolean gst_ccl_pool_is_pinned (GstMemory *memory);

G_END_DECLS

#endif /* __GST_CCL_POOL_H__ */
