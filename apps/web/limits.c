/* cudaccl - limits by address
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/limits.h"

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
  gchar *key; /* secret and network */
  guint n;
  gint64 first;
  GList link; /* in `order` */
} Failures;

struct _WebFailures
{
  GHashTable *table; /* Failures by key */
  GQueue order;      /* the same, by `first` */
};

static void
failures_free (gpointer data)
{
  g_free (((Failures *) data)->key);
  g_free (data);
}

WebFailures *
web_failures_new (void)
{
  WebFailures *self = g_new0 (WebFailures, 1);

  self->table = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, failures_free);
  return self;
}

void
web_failures_free (WebFailures *self)
{
  g_hash_table_unref (self->table);
  g_free (self);
}

static void
forget (WebFailures *self, Failures *failures)
{
  g_queue_unlink (&self->order, &failures->link);
  g_hash_table_remove (self->table, failures->key);
}

static void
forget_old (WebFailures *self, gint64 now)
{
  Failures *oldest;

  while ((oldest = g_queue_peek_head (&self->order)) &&
         oldest->first + WEB_AUTH_BLOCK * G_USEC_PER_SEC <= now)
    forget (self, oldest);
}

static Failures *
add (WebFailures *self, gchar *key, gint64 now)
{
  Failures *failures = g_new0 (Failures, 1);

  if (g_hash_table_size (self->table) >= WEB_AUTH_MAX_NETWORKS)
    forget (self, g_queue_peek_head (&self->order));
  failures->key = key;
  failures->first = now;
  failures->link.data = failures;
  g_hash_table_insert (self->table, key, failures);
  g_queue_push_tail_link (&self->order, &failures->link);
  return failures;
}

WebAuthResult
web_failures_count (WebFailures *self, const gchar *secret, gboolean right, GInetAddress *address,
                    gint64 now)
{
  g_autofree gchar *network = web_network_get_name (address);
  g_autofree gchar *key = g_strdup_printf ("%s %s", secret, network);
  Failures *failures;

  forget_old (self, now);
  failures = g_hash_table_lookup (self->table, key);
  if (failures && failures->n >= WEB_AUTH_FAILURES)
    return WEB_AUTH_TOO_MANY;
  if (right) {
    if (failures)
      forget (self, failures);
    return WEB_AUTH_OK;
  }
  if (!failures)
    failures = add (self, g_steal_pointer (&key), now);
  failures->n++;
  return WEB_AUTH_WRONG;
}
