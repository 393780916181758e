/* cudaccl - the classes of a stream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CLASSES_H__
#define __GST_CCL_CLASSES_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* Limit on classes: names may come from outside. */
#define GST_CCL_MAX_CLASSES 4096

/* Numbers classes by name, so that a class has the same number in all frames of a stream, even if
 * the frames number their classes differently. */
typedef struct _GstCclClasses GstCclClasses;

GstCclClasses *gst_ccl_classes_new (void);

void gst_ccl_classes_free (GstCclClasses *self);

/* Finds the class called @name, or adds it. Returns 0 if @name is NULL or empty, or if there are
 * too many classes. */
guint gst_ccl_classes_find (GstCclClasses *self, const gchar *name);

/* Finds the class that is @class_id in @names, or NULL. One without a name is called by its number.
 * The first names are taken as they are, so that classes keep their numbers. */
guint gst_ccl_classes_translate (GstCclClasses *self, GstCclClassNames *names, guint class_id);

/* Returns the names of all classes so far, or NULL without any. Valid until a class is added. */
GstCclClassNames *gst_ccl_classes_get_names (GstCclClasses *self);

G_END_DECLS

#endif /* __GST_CCL_CLASSES_H__ */
