/* cudaccl-watch - the share of cameras of each of several programs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SHARE_H__
#define __WATCH_SHARE_H__

#include <glib.h>

G_BEGIN_DECLS

/* Returns which of @count programs, numbered from 0, watches the camera: docs/scale.md describes
 * the function, since others may want to compute it. One more program takes 1 / (@count + 1) of the
 * cameras, and no other camera moves. */
guint watch_share_find (const gchar *camera, guint count);

/* Parses `INDEX/COUNT`, INDEX below COUNT, or `auto/COUNT`, where the index is the number at the
 * end of @host, which may also be COUNT or more: then it has no cameras. */
gboolean watch_share_parse (const gchar *text, const gchar *host, guint *index, guint *count);

G_END_DECLS

#endif /* __WATCH_SHARE_H__ */
