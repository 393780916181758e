/* cudaccl - open connections of clients, with deadlines
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/clients.h"

#include "apps/web/limits.h"

#define MAX_CLIENTS 256
#define MAX_OF_NETWORK (MAX_CLIENTS / 2)
/* Places for loopback alone, so that a health check gets in when viewers have all others. */
#define KEPT_PLACES 4

#define HEADERS_DEADLINE 10000
#define BODY_DEADLINE 20000

struct _WebClients
{
  GPtrArray *open; /* WebClient; those whose streams are gone are removed later */
  WebDeadlines deadlines;
  guint timer; /* source of sweep(), or 0 */
  guint64 added;
};

struct _WebClient
{
  WebClients *clients; /* NULL once that is freed */
  GSocket *socket;     /* NULL for a stream without one */
  gchar *network;
  guint64 number; /* the oldest has the lowest */
  gint64 end;     /* monotonic time, or G_MAXINT64 */
  gboolean trusted;
  gboolean ended; /* shut down: its stream is about to be finalized */
  gint closed;    /* atomic: handshakes may drop the last reference to a stream in their thread */
};

static void
clear_client (gpointer data)
{
  WebClient *self = data;

  g_clear_object (&self->socket);
  g_free (self->network);
}

void
web_client_unref (gpointer self)
{
  g_atomic_rc_box_release_full (self, clear_client);
}

const gchar *
web_client_get_network (WebClient *self)
{
  return self->network;
}

gboolean
web_client_has_ended (WebClient *self)
{
  return self->ended;
}

WebClients *
web_clients_new (void)
{
  WebClients *self = g_new0 (WebClients, 1);

  self->open = g_ptr_array_new_with_free_func (web_client_unref);
  self->deadlines = (WebDeadlines){ HEADERS_DEADLINE, BODY_DEADLINE };
  return self;
}

/* In any thread. */
static void
on_closed (gpointer client, GObject *stream)
{
  g_atomic_int_set (&((WebClient *) client)->closed, TRUE);
  web_client_unref (client);
}

static void
remove_closed (WebClients *self)
{
  for (guint i = self->open->len; i-- > 0;) {
    WebClient *client = g_ptr_array_index (self->open, i);

    if (g_atomic_int_get (&client->closed))
      g_ptr_array_remove_index_fast (self->open, i);
  }
}

void
web_clients_free (WebClients *self)
{
  for (guint i = 0; i < self->open->len; i++)
    ((WebClient *) g_ptr_array_index (self->open, i))->clients = NULL;
  g_ptr_array_unref (self->open);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_free (self);
}

void
web_clients_set_deadlines (WebClients *self, const WebDeadlines *deadlines)
{
  self->deadlines = *deadlines;
}

guint
web_clients_count (WebClients *self)
{
  remove_closed (self);
  return self->open->len;
}

/* Shuts down the socket only: the server then reads the end of the stream and closes it. It may be
 * using the stream now. */
static void
end (WebClient *client)
{
  client->ended = TRUE;
  g_socket_shutdown (client->socket, TRUE, TRUE, NULL);
}

static gboolean
sweep (gpointer user_data)
{
  WebClients *self = user_data;
  gint64 now = g_get_monotonic_time ();

  remove_closed (self);
  if (!self->open->len) {
    self->timer = 0;
    return G_SOURCE_REMOVE;
  }
  for (guint i = 0; i < self->open->len; i++) {
    WebClient *client = g_ptr_array_index (self->open, i);

    if (client->socket && !client->ended && client->end <= now)
      end (client);
  }
  return G_SOURCE_CONTINUE;
}

/* --- Places --- */

static void
count_open (WebClients *self, WebConnections *open)
{
  for (guint i = 0; i < self->open->len; i++) {
    const WebClient *client = g_ptr_array_index (self->open, i);

    if (!client->ended)
      web_connections_count (open, client->network);
  }
}

/* Returns the oldest connection that may give way, of @network, or of all if it is NULL. */
static WebClient *
find_oldest (WebClients *self, const gchar *network)
{
  WebClient *oldest = NULL;

  for (guint i = 0; i < self->open->len; i++) {
    WebClient *client = g_ptr_array_index (self->open, i);

    if (client->socket && !client->ended && !client->trusted &&
        (!network || g_str_equal (client->network, network)) &&
        (!oldest || client->number < oldest->number))
      oldest = client;
  }
  return oldest;
}

/* Keeps one network from taking all places. Loopback is exempt: it may be a proxy. */
static gboolean
make_place (WebClients *self, const gchar *network, gboolean loopback)
{
  WebConnections open = { .network = loopback ? NULL : network,
                          .max = MAX_CLIENTS + (loopback ? KEPT_PLACES : 0),
                          .max_of_network = MAX_OF_NETWORK };
  WebClient *oldest;

  count_open (self, &open);
  if (web_connections_allow (&open))
    return TRUE;
  oldest = find_oldest (self, open.n_of_network >= open.max_of_network ? network : NULL);
  if (!oldest)
    return FALSE;
  end (oldest);
  return TRUE;
}

static void
set_end (WebClient *self, guint milliseconds)
{
  self->end = g_get_monotonic_time () + milliseconds * (gint64) 1000;
}

WebClient *
web_clients_add (WebClients *self, GIOStream *stream, GInetAddress *address)
{
  g_autofree gchar *network = web_network_get_name (address);
  WebClient *client;

  remove_closed (self);
  if (!make_place (self, network, g_inet_address_get_is_loopback (address)))
    return NULL;
  client = g_atomic_rc_box_new0 (WebClient);
  client->clients = self;
  client->network = g_steal_pointer (&network);
  client->number = self->added++;
  if (G_IS_SOCKET_CONNECTION (stream))
    client->socket = g_object_ref (g_socket_connection_get_socket (G_SOCKET_CONNECTION (stream)));
  set_end (client, self->deadlines.headers);
  g_ptr_array_add (self->open, client);
  g_object_weak_ref (G_OBJECT (stream), on_closed, g_atomic_rc_box_acquire (client));
  if (!self->timer)
    self->timer = g_timeout_add_seconds (1, sweep, self);
  return g_atomic_rc_box_acquire (client);
}

/* --- The state of a connection --- */

void
web_client_begin_body (WebClient *self)
{
  if (self->clients)
    set_end (self, self->clients->deadlines.body);
}

void
web_client_begin_answer (WebClient *self)
{
  self->end = G_MAXINT64;
}

void
web_client_trust (WebClient *self)
{
  self->trusted = TRUE;
}
