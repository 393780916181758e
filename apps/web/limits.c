/* cudaccl - limits by address
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/limits.h"

#define MAX_NETWORKS 1024

gchar *
web_network_get_name (GInetAddress *address)
{
  const guint8 *bytes;

  if (!address)
    return g_strdup ("");
  if (g_inet_address_get_family (address) != G_SOCKET_FAMILY_IPV6)
    return g_inet_address_to_string (address);
  bytes = g_inet_address_to_bytes (address);
  return g_strdup_printf ("%02x%02x:%02x%02x:%02x%02x:%02x%02x::/64", bytes[0], bytes[1], bytes[2],
                          bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
}

/* --- Connections --- */

void
web_connections_count (WebConnections *self, const gchar *network)
{
  self->n++;
  self->n_of_network += network && g_strcmp0 (network, self->network) == 0;
}

gboolean
web_connections_allow (const WebConnections *self)
{
  return self->n < self->max && self->n_of_network < self->max_of_network;
}

/* --- Failed attempts --- */

typedef struct
{
  guint n;
  gint64 first;
} Failures;

struct _WebFailures
{
  GHashTable *table; /* Failures by secret and network */
};

WebFailures *
web_failures_new (void)
{
  WebFailures *self = g_new0 (WebFailures, 1);

  self->table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
web_failures_free (WebFailures *self)
{
  g_hash_table_unref (self->table);
  g_free (self);
}

static gboolean
is_over (gpointer key, gpointer value, gpointer now)
{
  return ((Failures *) value)->first + WEB_AUTH_BLOCK * G_USEC_PER_SEC <= *(gint64 *) now;
}

/* Returns the count of the network; once there are too many networks, new ones share a count. */
static Failures *
get_failures (WebFailures *self, const gchar *secret, GInetAddress *address, gint64 now)
{
  g_autofree gchar *network = web_network_get_name (address);
  g_autofree gchar *key = g_strdup_printf ("%s %s", secret, network);
  Failures *failures;

  g_hash_table_foreach_remove (self->table, is_over, &now);
  failures = g_hash_table_lookup (self->table, key);
  if (!failures && g_hash_table_size (self->table) >= MAX_NETWORKS) {
    g_free (key);
    key = g_strconcat (secret, " others", NULL);
    failures = g_hash_table_lookup (self->table, key);
  }
  if (!failures) {
    failures = g_new0 (Failures, 1);
    failures->first = now;
    g_hash_table_insert (self->table, g_steal_pointer (&key), failures);
  }
  return failures;
}

WebAuthResult
web_failures_count (WebFailures *self, const gchar *secret, gboolean right, GInetAddress *address,
                    gint64 now)
{
  Failures *failures = get_failures (self, secret, address, now);

  if (failures->n >= WEB_AUTH_FAILURES)
    return WEB_AUTH_TOO_MANY;
  failures->n = right ? 0 : failures->n + 1;
  return right ? WEB_AUTH_OK : WEB_AUTH_WRONG;
}
