/* cudaccl-watch - numbers of names in the database
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/store/names.h"

struct _WatchNames
{
  GMutex lock;
  GPtrArray *names; /* the number of a name is its index + 1 */
  GHashTable *numbers;
};

WatchNames *
watch_names_new (void)
{
  WatchNames *self = g_new0 (WatchNames, 1);

  g_mutex_init (&self->lock);
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->numbers = g_hash_table_new (g_str_hash, g_str_equal);
  return self;
}

void
watch_names_free (WatchNames *self)
{
  g_hash_table_unref (self->numbers);
  g_ptr_array_unref (self->names);
  g_mutex_clear (&self->lock);
  g_free (self);
}

guint32
watch_names_get_number (WatchNames *self, const gchar *name, gboolean add)
{
  guint32 number;

  if (!name)
    return 0;
  g_mutex_lock (&self->lock);
  number = GPOINTER_TO_UINT (g_hash_table_lookup (self->numbers, name));
  if (number == 0 && add) {
    gchar *copy = g_strdup (name);

    g_ptr_array_add (self->names, copy);
    number = self->names->len;
    g_hash_table_insert (self->numbers, copy, GUINT_TO_POINTER (number));
  }
  g_mutex_unlock (&self->lock);
  return number ? number : G_MAXUINT32;
}

gchar *
watch_names_get_name (WatchNames *self, guint32 number)
{
  gchar *name = NULL;

  g_mutex_lock (&self->lock);
  if (number > 0 && number <= self->names->len)
    name = g_strdup (g_ptr_array_index (self->names, number - 1));
  g_mutex_unlock (&self->lock);
  return name;
}

guint
watch_names_get_n (WatchNames *self)
{
  guint n;

  g_mutex_lock (&self->lock);
  n = self->names->len;
  g_mutex_unlock (&self->lock);
  return n;
}
