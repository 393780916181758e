/* cudaccl - names of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CLASS_NAMES_H__
#define __GST_CCL_CLASS_NAMES_H__

#include <gst/gst.h>
#include <gst/ccl/ccl-prelude.h>

G_BEGIN_DECLS

/**
 * GstCclClassNames:
 *
 * The names of the classes of a stream, such as "person" and "car". The first is that of class 1;
 * 0 stands for no class. Names never change, so frames share them, and threads may.
 *
 * Since: 0.1
 */
typedef struct _GstCclClassNames GstCclClassNames;

/**
 * GST_TYPE_CCL_CLASS_NAMES:
 *
 * The boxed type of #GstCclClassNames.
 *
 * Since: 0.1
 */
#define GST_TYPE_CCL_CLASS_NAMES (gst_ccl_class_names_get_type ())

GST_CCL_API
GType gst_ccl_class_names_get_type (void);

GST_CCL_API
GstCclClassNames *gst_ccl_class_names_new (const gchar *const *names);

GST_CCL_API
GstCclClassNames *gst_ccl_class_names_ref (GstCclClassNames *self);

GST_CCL_API
void gst_ccl_class_names_unref (GstCclClassNames *self);

GST_CCL_API
guint gst_ccl_class_names_get_n_names (const GstCclClassNames *self);

GST_CCL_API
const gchar *gst_ccl_class_names_get_name (const GstCclClassNames *self, guint class_id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclClassNames, gst_ccl_class_names_unref)

G_END_DECLS

#endif /* __GST_CCL_CLASS_NAMES_H__ */
