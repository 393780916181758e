/* cudaccl - names of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/ccl/gstcclclassnames.h>

struct _GstCclClassNames
{
  guint n_names;
  gchar **names;
};

G_DEFINE_BOXED_TYPE (GstCclClassNames, gst_ccl_class_names, gst_ccl_class_names_ref,
                     gst_ccl_class_names_unref)

/**
 * gst_ccl_class_names_new:
 * @names: (array zero-terminated=1): the names, from that of class 1 on
 *
 * Creates a table of names. They are copied; bytes that are not valid UTF-8 become U+FFFD.
 *
 * Returns: (transfer full): the names, to be freed with gst_ccl_class_names_unref()
 *
 * Since: 0.1
 */
GstCclClassNames *
gst_ccl_class_names_new (const gchar *const *names)
{
  GstCclClassNames *self;
  guint i;

  g_return_val_if_fail (names != NULL, NULL);

  self = g_atomic_rc_box_new (GstCclClassNames);
  self->n_names = g_strv_length ((gchar **) names);
  self->names = g_new (gchar *, self->n_names);
  for (i = 0; i < self->n_names; i++)
    self->names[i] = g_utf8_make_valid (names[i], -1);

  return self;
}

/**
 * gst_ccl_class_names_ref:
 * @self: a #GstCclClassNames
 *
 * Adds a reference to @self.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.1
 */
GstCclClassNames *
gst_ccl_class_names_ref (GstCclClassNames *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

static void
free_names (gpointer data)
{
  GstCclClassNames *self = data;
  guint i;

  for (i = 0; i < self->n_names; i++)
    g_free (self->names[i]);
  g_free (self->names);
}

/**
 * gst_ccl_class_names_unref:
 * @self: (transfer full): a #GstCclClassNames
 *
 * Drops a reference to @self, and frees it with the last one.
 *
 * Since: 0.1
 */
void
gst_ccl_class_names_unref (GstCclClassNames *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release_full (self, free_names);
}

/**
 * gst_ccl_class_names_get_n_names:
 * @self: a #GstCclClassNames
 *
 * Gets the number of names, which is the largest class that has one.
 *
 * Returns: the number of names
 *
 * Since: 0.1
 */
guint
gst_ccl_class_names_get_n_names (const GstCclClassNames *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_names;
}

/**
 * gst_ccl_class_names_get_name:
 * @self: a #GstCclClassNames
 * @class_id: a class, from 1 on
 *
 * Gets the name of a class.
 *
 * Returns: (transfer none) (nullable): the name, in UTF-8 and valid as long as @self is, or %NULL
 *   if the class has none
 *
 * Since: 0.1
 */
const gchar *
gst_ccl_class_names_get_name (const GstCclClassNames *self, guint class_id)
{
  g_return_val_if_fail (self != NULL, NULL);

  return class_id > 0 && class_id <= self->n_names ? self->names[class_id - 1] : NULL;
}
