/* cudaccl-watch - replaces small files in one step
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_REPLACE_H__
#define __WATCH_REPLACE_H__

#include <glib.h>

G_BEGIN_DECLS

/* Writes @text to a new file, syncs it and renames it to @path. The name of the new file,
 * PATH.cudaccl-XXXXXX, tells it from those of others: if the process is killed, the next one
 * removes it. */
gboolean watch_replace_file (const gchar *path, const gchar *text, gint mode, GError **error);

/* Removes what killed processes left in @folder: of the file @name, or of all if it is NULL. Keeps
 * files that a process is writing. */
void watch_replace_clean (const gchar *folder, const gchar *name);

G_END_DECLS

#endif /* __WATCH_REPLACE_H__ */
