/* cudaccl-watch - asks a running program whether it is well
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_HEALTH_H__
#define __WATCH_HEALTH_H__

#include <glib.h>

G_BEGIN_DECLS

/* Asks the program that runs with the settings @path on this machine whether it is ready: the
 * health check of containers. Takes five seconds at most. */
gboolean watch_health_check (const gchar *path, GError **error);

G_END_DECLS

#endif /* __WATCH_HEALTH_H__ */
