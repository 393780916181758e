/* cudaccl-watch - internals of reading and editing settings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SETTINGS_PRIVATE_H__
#define __WATCH_SETTINGS_PRIVATE_H__

#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

#define WATCH_CAMERA_PREFIX "camera " /* prefix of their groups */

/* Whether there is such a key in the groups of cameras. */
gboolean watch_settings_is_camera_key (const gchar *name);

/* Returns the text of the file, or NULL. */
gchar *watch_settings_read_file (const gchar *path, GError **error);

G_END_DECLS

#endif /* __WATCH_SETTINGS_PRIVATE_H__ */
