/* cudaccl - the region of frames that is analysed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_REGION_H__
#define __GST_CCL_REGION_H__

#include <gst/gst.h>
#include <cudaccl/ccl.h>

G_BEGIN_DECLS

typedef struct _GstCclRegion GstCclRegion;

/* Reads the file and checks the polygons. The strings are values of the element's properties;
 * NULL and blank strings have no effect. Returns NULL on failure. */
GstCclRegion *gst_ccl_region_new (const gchar *include, const gchar *exclude, const gchar *file,
                                  GError **error);
void gst_ccl_region_free (GstCclRegion *region);

/* Draws the region for frames of this size into @mask, to be freed with ccl_mask_free(). If the
 * region is the whole frame, @mask has no words. On failure, ccl_last_error() has the reason. */
CclStatus gst_ccl_region_draw (const GstCclRegion *region, guint32 width, guint32 height,
                               CclMask *mask);

/* Returns TRUE if @status is CCL_OK; otherwise sets @error: the value of @property is invalid. */
gboolean gst_ccl_check_property (const gchar *property, CclStatus status, GError **error);

G_END_DECLS

#endif /* __GST_CCL_REGION_H__ */
