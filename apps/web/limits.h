/* cudaccl - limits by address
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_LIMITS_H__
#define __WEB_LIMITS_H__

#include <gio/gio.h>

G_BEGIN_DECLS

/* Addresses are counted by network: the whole address with IPv4, its first half with IPv6, where
 * each customer has 2^64 addresses. */

/* Returns the network of @address as text; @address may be NULL. */
gchar *web_network_get_name (GInetAddress *address);

/* --- Connections --- */

/* Decides about a new connection: set the limits, count each open connection, and ask. */
typedef struct
{
  const gchar *network; /* network of the new connection; NULL: only `max` limits it */
  guint max;            /* open connections in all */
  guint max_of_network;
  guint n, n_of_network; /* counted so far */
} WebConnections;

/* Counts an open connection from @network; NULL: it counts for no network. */
void web_connections_count (WebConnections *self, const gchar *network);
gboolean web_connections_allow (const WebConnections *self);

/* --- Failed attempts --- */

/* After this many failures, a network is refused until WEB_AUTH_BLOCK seconds after the first. */
#define WEB_AUTH_FAILURES 5
#define WEB_AUTH_BLOCK 60
/* Networks whose failures are counted at a time; beyond, the oldest count is forgotten. Failures of
 * others never refuse a network. */
#define WEB_AUTH_MAX_NETWORKS 16384

typedef enum
{
  WEB_AUTH_OK,
  WEB_AUTH_NEEDED,   /* neither a token nor a session */
  WEB_AUTH_WRONG,    /* a wrong token; counts as a failure */
  WEB_AUTH_TOO_MANY, /* failures from this network: see WEB_AUTH_BLOCK */
} WebAuthResult;

/* Counts failures by secret and network. Not thread-safe. */
typedef struct _WebFailures WebFailures;

WebFailures *web_failures_new (void);
void web_failures_free (WebFailures *self);

/* Counts an attempt at @now, a monotonic time in microseconds. Each @secret, a name, has counts of
 * its own: knowing one secret does not help to guess another. */
WebAuthResult web_failures_count (WebFailures *self, const gchar *secret, gboolean right,
                                  GInetAddress *address, gint64 now);

G_END_DECLS

#endif /* __WEB_LIMITS_H__ */
