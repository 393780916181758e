/* cudaccl - what cleans the masks of a stream: operations and regions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CLEANING_H__
#define __GST_CCL_CLEANING_H__

#include <gst/gst.h>
#include <cudaccl/ccl.h>

G_BEGIN_DECLS

/* The values of the properties; NULL and blank strings have no effect. */
typedef struct
{
  gchar *morphology;
  gchar *include;
  gchar *exclude;
  gchar *region_file;
} GstCclCleaningSettings;

void gst_ccl_cleaning_settings_copy (const GstCclCleaningSettings *settings,
                                     GstCclCleaningSettings *copy);
void gst_ccl_cleaning_settings_clear (GstCclCleaningSettings *settings);

typedef struct _GstCclCleaning GstCclCleaning;

/* Parses the settings and reads the region file. Returns NULL on failure. */
GstCclCleaning *gst_ccl_cleaning_new (const GstCclCleaningSettings *settings, GError **error);
void gst_ccl_cleaning_free (GstCclCleaning *cleaning);

/* Gets the operations, which belong to @cleaning, and their number. */
const CclOperation *gst_ccl_cleaning_get_operations (const GstCclCleaning *cleaning, guint32 *n);

/* Makes the region for frames of this size in @mask, to be freed with ccl_mask_free(). @mask has no
 * words if the region is the whole frame. On failure, ccl_last_error() says why. */
CclStatus gst_ccl_cleaning_make_region (const GstCclCleaning *cleaning, guint32 width,
                                        guint32 height, CclMask *mask);

G_END_DECLS

#endif /* __GST_CCL_CLEANING_H__ */
