/* cudaccl-watch - who may use the interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_AUTH_H__
#define __WATCH_AUTH_H__

#include <gio/gio.h>

G_BEGIN_DECLS

/* Sessions of people who have logged in, and failed attempts by address. Both are bounded. Times
 * are in microseconds of a clock that does not jump. For the main thread. */
typedef struct _WatchAuth WatchAuth;

typedef enum
{
  WATCH_AUTH_OK,
  WATCH_AUTH_NEEDED,   /* neither a token nor a session */
  WATCH_AUTH_WRONG,    /* a wrong token; counts as failed */
  WATCH_AUTH_TOO_MANY, /* of this address: see WATCH_AUTH_BLOCK */
} WatchAuthResult;

/* After this many failures, an address is refused until WATCH_AUTH_BLOCK seconds after the first.
 */
#define WATCH_AUTH_FAILURES 5
#define WATCH_AUTH_BLOCK 60

#define WATCH_AUTH_MAX_SESSIONS 64
#define WATCH_AUTH_SESSION_DAYS 30 /* without use */
#define WATCH_AUTH_COOKIE "cudaccl-watch"

WatchAuth *watch_auth_new (void);
void watch_auth_free (WatchAuth *self);

/* Checks the header Authorization (`Bearer TOKEN`), or else the header Cookie; both may be NULL, as
 * may @address. @token is the right one. Once a day, sets @renew, which may be NULL, to the
 * cookie's value: it must be sent again, since browsers forget it after WATCH_AUTH_SESSION_DAYS. */
WatchAuthResult watch_auth_check (WatchAuth *self, const gchar *token, const gchar *authorization,
                                  const gchar *cookies, GInetAddress *address, gint64 now,
                                  gchar **renew);

/* What counts as one @address, which may be NULL, as text: who has a network of IPv6 has 2^64. */
gchar *watch_auth_get_network (GInetAddress *address);

/* Counts the failures of an address, of which a few are allowed in a while. Each @secret, a name,
 * has counts of its own: knowing one does not help to guess another. */
WatchAuthResult watch_auth_count (WatchAuth *self, const gchar *secret, gboolean right,
                                  GInetAddress *address, gint64 now);

/* Whether @given is @right: compares in constant time, and counts as watch_auth_count() does. */
WatchAuthResult watch_auth_check_secret (WatchAuth *self, const gchar *secret, const gchar *right,
                                         const gchar *given, GInetAddress *address, gint64 now);

/* Checks @given, and makes a session if it is right: its value for the cookie. */
WatchAuthResult watch_auth_log_in (WatchAuth *self, const gchar *token, const gchar *given,
                                   GInetAddress *address, gint64 now, gchar **session);
void watch_auth_log_out (WatchAuth *self, const gchar *cookies);

/* Whether the header @host, which may have a port, names this machine's loopback interface. Another
 * name comes from a page whose name was made to resolve to it. */
gboolean watch_auth_is_local_host (const gchar *host);

/* Whether the browser says that another site made the request. Each header may be NULL. @navigates:
 * a link from there may lead here. */
gboolean watch_auth_is_foreign (const gchar *fetch_site, const gchar *fetch_mode,
                                const gchar *origin, const gchar *host, gboolean navigates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchAuth, watch_auth_free)

G_END_DECLS

#endif /* __WATCH_AUTH_H__ */
