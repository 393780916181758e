/* cudaccl - access to the interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_AUTH_H__
#define __WEB_AUTH_H__

#include <gio/gio.h>

#include "apps/web/limits.h"

G_BEGIN_DECLS

/* Sessions of people who have logged in, and failed attempts by address. Both are bounded. Times
 * are monotonic, in microseconds. Main thread only. */
typedef struct _WebAuth WebAuth;

#define WEB_AUTH_MAX_SESSIONS 64
#define WEB_AUTH_SESSION_DAYS 30 /* without use */
#define WEB_AUTH_COOKIE "cudaccl-watch"

WebAuth *web_auth_new (void);
void web_auth_free (WebAuth *self);

/* Checks the header Authorization (`Bearer TOKEN`), or else the header Cookie; both may be NULL, as
 * may @address. @token is the right one. Once a day, sets @renew, which may be NULL, to the
 * cookie's value: it must be sent again, since browsers forget it after WEB_AUTH_SESSION_DAYS. */
WebAuthResult web_auth_check (WebAuth *self, const gchar *token, const gchar *authorization,
                              const gchar *cookies, GInetAddress *address, gint64 now,
                              gchar **renew);

/* Compares @given with @right in constant time, and counts failures as web_failures_count() does.
 */
WebAuthResult web_auth_check_secret (WebAuth *self, const gchar *secret, const gchar *right,
                                     const gchar *given, GInetAddress *address, gint64 now);

/* Checks @given and, if it is right, starts a session: sets @session to the cookie's value. */
WebAuthResult web_auth_log_in (WebAuth *self, const gchar *token, const gchar *given,
                               GInetAddress *address, gint64 now, gchar **session);
void web_auth_log_out (WebAuth *self, const gchar *cookies);

/* Compares @size bytes in a time that does not depend on them. */
gboolean web_auth_equal (gconstpointer a, gconstpointer b, gsize size);

/* Fills @bytes with up to 256 cryptographically secure random bytes. */
void web_auth_get_random (gpointer bytes, gsize size);

/* Whether the header @host, which may have a port, names this machine's loopback interface. Any
 * other name comes from a page whose name was made to resolve to it. */
gboolean web_auth_is_local_host (const gchar *host);

/* Whether the browser says that another site made the request. Each header may be NULL. @navigates:
 * a link from there may lead here. */
gboolean web_auth_is_foreign (const gchar *fetch_site, const gchar *fetch_mode, const gchar *origin,
                              const gchar *host, gboolean navigates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebAuth, web_auth_free)

G_END_DECLS

#endif /* __WEB_AUTH_H__ */
