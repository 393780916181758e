/* cudaccl-watch - commands for recordings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_COMMANDS_H__
#define __WATCH_COMMANDS_H__

#include <glib.h>

G_BEGIN_DECLS

/* The options --scan and --synopsis, and those that belong to them. */
GOptionGroup *watch_commands_get_options (void);

/* Whether one of them was given: then other arguments are recordings. */
gboolean watch_commands_given (void);

/* Runs the command. @path is the default file of settings, which need not exist; --settings
 * overrides it. @files are recordings, NULL-terminated. */
gboolean watch_commands_run (const gchar *path, gchar **files, GError **error);

G_END_DECLS

#endif /* __WATCH_COMMANDS_H__ */
