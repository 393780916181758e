/* cudaccl-watch - functions that are called with each event
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_LISTENERS_H__
#define __WATCH_LISTENERS_H__

#include "apps/watch/records/records.h"

G_BEGIN_DECLS

/* Not thread-safe. */
typedef struct _WatchListeners WatchListeners;

typedef void (*WatchEventFunc) (const WatchEvent *event, gpointer user_data);

WatchListeners *watch_listeners_new (void);
void watch_listeners_free (WatchListeners *self);

/* Returns a number for watch_listeners_remove(), never 0. */
guint watch_listeners_add (WatchListeners *self, WatchEventFunc func, gpointer user_data);
void watch_listeners_remove (WatchListeners *self, guint id);
guint watch_listeners_get_n (WatchListeners *self);

/* Calls all functions. They may add and remove functions; added ones are not called yet. */
void watch_listeners_call (WatchListeners *self, const WatchEvent *event);

G_END_DECLS

#endif /* __WATCH_LISTENERS_H__ */
