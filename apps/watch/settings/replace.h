/* cudaccl-watch - replaces small files in one step
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_REPLACE_H__
#define __WATCH_REPLACE_H__

#include <glib.h>

G_BEGIN_DECLS

/* Writes @text to a new file, syncs it and renames it to @path. The new file is
 * named PATH.cudaccl-XXXXXX: if the process is killed, watch_replace_clean() recognises it. */
gboolean watch_replace_file (const gchar *path, const gchar *text, gint mode, GError **error);

/* Removes new files that killed processes left in @folder, those of the file @name or, if it is
 * NULL, of all. Keeps those that a process is writing. */
void watch_replace_clean (const gchar *folder, const gchar *name);

G_END_DECLS

#endif /* __WATCH_REPLACE_H__ */
