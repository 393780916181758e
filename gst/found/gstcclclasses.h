/* cudaccl - the classes of a stream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CLASSES_H__
#define __GST_CCL_CLASSES_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* The most classes that are told apart: names may come from outside. */
#define GST_CCL_MAX_CLASSES 4096

/* Classes numbered by name, so that those of any frame compare with those of the frames before,
 * whatever numbers the frame has. */
typedef struct _GstCclClasses GstCclClasses;

GstCclClasses *gst_ccl_classes_new (void);

void gst_ccl_classes_free (GstCclClasses *self);

/* Finds the class called @name, which is added if it is new. Returns 0 if it has no name (NULL or
 * empty), or if there are too many. */
guint gst_ccl_classes_find (GstCclClasses *self, const gchar *name);

/* Finds the class that is @class_id in @names, or NULL. One without a name is called by its number.
 * The first names are taken as they are, so that classes keep their numbers. */
guint gst_ccl_classes_translate (GstCclClasses *self, GstCclClassNames *names, guint class_id);

/* The names of all classes so far, NULL if there are none. Valid until another is added. */
GstCclClassNames *gst_ccl_classes_get_names (GstCclClasses *self);

G_END_DECLS

#endif /* __GST_CCL_CLASSES_H__ */
