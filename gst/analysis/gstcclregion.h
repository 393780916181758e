/* cudaccl - the region of frames that is analysed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_REGION_H__
#define __GST_CCL_REGION_H__

#include <gst/gst.h>
#include <cudaccl/ccl.h>

G_BEGIN_DECLS

typedef struct _GstCclRegion GstCclRegion;

/* Reads the file and checks the polygons, all as the element's properties have them; NULL and blank
 * strings have no effect. Returns NULL on failure. */
GstCclRegion *gst_ccl_region_new (const gchar *include, const gchar *exclude, const gchar *file,
                                  GError **error);
void gst_ccl_region_free (GstCclRegion *region);

/* Draws the region for frames of this size into @mask, to be freed with ccl_mask_free(). @mask has
 * no words if the region is the whole frame. On failure, ccl_last_error() says why. */
CclStatus gst_ccl_region_draw (const GstCclRegion *region, guint32 width, guint32 height,
                               CclMask *mask);

/* Sets @error, unless @status is CCL_OK, to say that the value of @property is invalid, and why. */
gboolean gst_ccl_check_property (const gchar *property, CclStatus status, GError **error);

G_END_DECLS

#endif /* __GST_CCL_REGION_H__ */
