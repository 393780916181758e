/* cudaccl-watch - functions that are called with each event
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/records/listeners.h"

typedef struct
{
  guint id;
  WatchEventFunc func;
  gpointer user_data;
} Listener;

struct _WatchListeners
{
  GArray *all; /* Listener */
  guint last;
};

WatchListeners *
watch_listeners_new (void)
{
  WatchListeners *self = g_new0 (WatchListeners, 1);

  self->all = g_array_new (FALSE, FALSE, sizeof (Listener));
  return self;
}

void
watch_listeners_free (WatchListeners *self)
{
  g_array_unref (self->all);
  g_free (self);
}

/* Returns its index, or -1. */
static gint
find (WatchListeners *self, guint id)
{
  for (guint i = 0; i < self->all->len; i++) {
    if (g_array_index (self->all, Listener, i).id == id)
      return (gint) i;
  }
  return -1;
}

guint
watch_listeners_add (WatchListeners *self, WatchEventFunc func, gpointer user_data)
{
  const Listener listener = { ++self->last, func, user_data };

  g_array_append_val (self->all, listener);
  return listener.id;
}

void
watch_listeners_remove (WatchListeners *self, guint id)
{
  gint index = find (self, id);

  g_return_if_fail (index >= 0);
  g_array_remove_index (self->all, (guint) index);
}

guint
watch_listeners_get_n (WatchListeners *self)
{
  return self->all->len;
}

void
watch_listeners_call (WatchListeners *self, const WatchEvent *event)
{
  g_autoptr (GArray) all = g_array_copy (self->all);

  for (guint i = 0; i < all->len; i++) {
    const Listener *listener = &g_array_index (all, Listener, i);

    if (find (self, listener->id) >= 0)
      listener->func (event, listener->user_data);
  }
}
