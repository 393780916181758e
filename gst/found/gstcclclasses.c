/* cudaccl - the classes of a stream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclclasses.h"

struct _GstCclClasses
{
  GHashTable *ids;         /* from names to classes */
  GPtrArray *names;        /* by class, from 1 on; ends with NULL */
  GstCclClassNames *table; /* of all names, or NULL */

  /* The table that was translated last, and for each of its classes its own, or 0 if that is not
   * known yet. */
  GstCclClassNames *from;
  GArray *map;
};

GstCclClasses *
gst_ccl_classes_new (void)
{
  GstCclClasses *self = g_new0 (GstCclClasses, 1);

  self->ids = g_hash_table_new (g_str_hash, g_str_equal);
  self->names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->names, NULL);
  self->map = g_array_new (FALSE, TRUE, sizeof (guint));

  return self;
}

void
gst_ccl_classes_free (GstCclClasses *self)
{
  g_hash_table_unref (self->ids);
  g_ptr_array_unref (self->names);
  g_array_unref (self->map);
  g_clear_pointer (&self->table, gst_ccl_class_names_unref);
  g_clear_pointer (&self->from, gst_ccl_class_names_unref);
  g_free (self);
}

/* Adds a name; if it is there already, the class before keeps it. */
static void
add_name (GstCclClasses *self, const gchar *name)
{
  gchar *copy = g_strdup (name);

  g_ptr_array_index (self->names, self->names->len - 1) = copy;
  if (!g_hash_table_contains (self->ids, copy))
    g_hash_table_insert (self->ids, copy, GUINT_TO_POINTER (self->names->len));
  g_ptr_array_add (self->names, NULL);
}

static guint
count (const GstCclClasses *self)
{
  return self->names->len - 1;
}

guint
gst_ccl_classes_find (GstCclClasses *self, const gchar *name)
{
  gpointer class_id;

  if (!name || !*name)
    return 0;
  class_id = g_hash_table_lookup (self->ids, name);
  if (class_id || count (self) >= GST_CCL_MAX_CLASSES)
    return GPOINTER_TO_UINT (class_id);

  add_name (self, name);
  g_clear_pointer (&self->table, gst_ccl_class_names_unref);

  return count (self);
}

static void
set_from (GstCclClasses *self, GstCclClassNames *names)
{
  const guint n = gst_ccl_class_names_get_n_names (names);
  guint i;

  g_clear_pointer (&self->from, gst_ccl_class_names_unref);
  self->from = gst_ccl_class_names_ref (names);
  g_array_set_size (self->map, 0);
  g_array_set_size (self->map, MIN (n, GST_CCL_MAX_CLASSES));

  if (count (self) > 0 || n > GST_CCL_MAX_CLASSES)
    return;
  for (i = 1; i <= n; i++)
    add_name (self, gst_ccl_class_names_get_name (names, i));
  self->table = gst_ccl_class_names_ref (names);
}

guint
gst_ccl_classes_translate (GstCclClasses *self, GstCclClassNames *names, guint class_id)
{
  const gchar *name = names ? gst_ccl_class_names_get_name (names, class_id) : NULL;
  gchar number[12];
  guint *known;

  if (class_id == 0)
    return 0;
  if (!name) {
    g_snprintf (number, sizeof (number), "%u", class_id);
    return gst_ccl_classes_find (self, number);
  }

  if (names != self->from)
    set_from (self, names);
  if (names == self->table)
    return class_id;
  if (class_id > self->map->len)
    return gst_ccl_classes_find (self, name);
  known = &g_array_index (self->map, guint, class_id - 1);
  if (*known == 0)
    *known = gst_ccl_classes_find (self, name);

  return *known;
}

GstCclClassNames *
gst_ccl_classes_get_names (GstCclClasses *self)
{
  if (!self->table && count (self) > 0)
    self->table = gst_ccl_class_names_new ((const gchar *const *) self->names->pdata);

  return self->table;
}
