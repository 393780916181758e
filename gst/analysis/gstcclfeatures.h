/* cudaccl - features of components: the property, and how the engine measures them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FEATURES_H__
#define __GST_CCL_FEATURES_H__

#include <cudaccl/ccl.h>
#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* GstCudaCclFeatures, the type of the property. */
GType gst_ccl_features_get_type (void);

/* Lets the engine measure @features. */
void gst_ccl_features_configure (GstCclFeatures features, CclConfig *config);

/* Returns the features that the engine measures. */
GstCclFeatures gst_ccl_features_from_config (const CclConfig *config);

/* Sets the fields of @features, none of which may need @shape if that is NULL. */
void gst_ccl_features_set (GstCclComponent *component, const CclComponent *source,
                           const CclShape *shape, GstCclFeatures features);

G_END_DECLS

#endif /* __GST_CCL_FEATURES_H__ */
