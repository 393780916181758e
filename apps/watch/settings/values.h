/* cudaccl-watch - values of settings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SETTINGS_VALUES_H__
#define __WATCH_SETTINGS_VALUES_H__

#include <glib.h>

G_BEGIN_DECLS

/* Whether @text has control characters (U+0001 to U+001F, U+007F to U+009F) other than @allowed. */
gboolean watch_has_control (const gchar *text, const gchar *allowed);

/* Each returns FALSE if @text is not such a value. */

/* A whole number in [@min, @max]. */
gboolean watch_parse_uint (const gchar *text, guint64 min, guint64 max, guint64 *value);
/* Seconds, such as `2.5`, at most a day, as nanoseconds. */
gboolean watch_parse_seconds (const gchar *text, guint64 *value);
/* Bytes, such as `20 GB`, `512MiB` or `1048576`. */
gboolean watch_parse_size (const gchar *text, guint64 *value);
/* `true`, `yes`, `on`, `1` or their opposites. */
gboolean watch_parse_boolean (const gchar *text, gboolean *value);
gboolean watch_parse_schedule (const gchar *text);
/* ADDRESS:PORT; @local: whether it can be reached from this machine alone. */
gboolean watch_parse_listen (const gchar *text, gboolean *local);

/* Checks the address of a camera, which may also be the absolute path of a file or device.
 * Returns it without user and password, which go to @user and @password unless there are none. On
 * failure, returns NULL and describes a valid address in @expected, without quoting @text. */
gchar *watch_parse_camera_uri (const gchar *text, gchar **user, gchar **password,
                               const gchar **expected);

/* Whether both addresses lead to the same scheme, host and port: only then may one get the
 * credentials of the other. RTSP over UDP or TCP is one scheme, a missing port the scheme's. */
gboolean watch_uri_is_same_origin (const gchar *a, const gchar *b);

/* Whether the schedule @text includes @time (microseconds since 1970), in local time. */
gboolean watch_schedule_includes (const gchar *text, gint64 time);

/* Returns @uri without user, password and query: for logs and pages. */
gchar *watch_uri_redact (const gchar *uri);

G_END_DECLS

#endif /* __WATCH_SETTINGS_VALUES_H__ */
