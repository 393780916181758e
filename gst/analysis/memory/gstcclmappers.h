/* cudaccl - the mappers of all memory types this build supports
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MAPPERS_H__
#define __GST_CCL_MAPPERS_H__

#include "gstcclframe.h"

G_BEGIN_DECLS

/* Creates the mappers of an element: a NULL-terminated array, one for each memory type. */
GstCclMapper **gst_ccl_mappers_new (GstElement *element);
void gst_ccl_mappers_free (GstCclMapper **mappers);

/* Closes all mappers. */
void gst_ccl_mappers_close (GstCclMapper **mappers);

/* Finds the mapper for the memory type of fixed @caps. */
GstCclMapper *gst_ccl_mappers_find (GstCclMapper **mappers, const GstCaps *caps);

/* Offers a context to all mappers. @cuda_device is the user's setting. May be called from any
 * thread. */
void gst_ccl_mappers_set_context (GstCclMapper **mappers, GstContext *context, gint cuda_device);

/* Answers a context query. Returns FALSE if no mapper can. With @may_share, a mapper without a
 * context may answer with the plugin's. May be called from any thread. */
gboolean gst_ccl_mappers_query_context (GstCclMapper **mappers, GstQuery *query, gint cuda_device,
                                        gboolean may_share);

/* Returns the caps of all memory types, for pad templates. */
GstCaps *gst_ccl_mappers_get_caps (void);

/* Removes from @caps the memory types that the CPU cannot read. Takes ownership of @caps. */
GstCaps *gst_ccl_mappers_remove_cuda (GstCaps *caps);

G_END_DECLS

#endif /* __GST_CCL_MAPPERS_H__ */
