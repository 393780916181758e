/* cudaccl-watch - numbers of names in the database
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_NAMES_H__
#define __WATCH_NAMES_H__

#include <glib.h>

G_BEGIN_DECLS

/* Numbers the names of cameras, sessions, classes and zones from 1, without gaps. Thread-safe. */
typedef struct _WatchNames WatchNames;

WatchNames *watch_names_new (void);
void watch_names_free (WatchNames *self);

/* Returns the number of the name, 0 for NULL. With @add, adds a new name; without, returns
 * G_MAXUINT32 for it. */
guint32 watch_names_get_number (WatchNames *self, const gchar *name, gboolean add);

/* Returns the name of a number, or NULL if there is none; free it. */
gchar *watch_names_get_name (WatchNames *self, guint32 number);

/* Returns how many names there are. */
guint watch_names_get_n (WatchNames *self);

G_END_DECLS

#endif /* __WATCH_NAMES_H__ */
