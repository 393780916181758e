/* cudaccl-watch - answers probes for ONVIF devices
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Anyone can send a probe to the multicast group, and forge the sender's address. So answers go
 * only to networks that this machine is in, without a router in between, have at most MAX_FACTOR
 * times the bytes of the probe, and are few per address. Only answers are counted: garbage costs a
 * little time, and silences nobody. */

#include "apps/watch/onvif/probe.h"

#include <gio/gio.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "apps/watch/onvif/soap.h"
#include "apps/watch/onvif/services.h"

#define GROUP "239.255.255.250"
#define PORT 3702
#define MAX_PROBE 16384 /* bytes of a datagram */
#define MAX_ID 256      /* bytes of a MessageID */
#define MAX_FACTOR 4    /* bytes of an answer per byte of the probe: 2 to 3 with known clients */
#define MIN_SENDER 1024 /* port: those of services, which may reply to an answer, are lower */
#define MAX_RATE 100    /* answers per second */
#define MAX_RATE_OF_ADDRESS 5
#define REPEAT_TIME (2 * G_TIME_SPAN_SECOND) /* probes are sent twice within half a second */
#define JOIN_INTERVAL 60                     /* seconds: networks come and go */
#define DISCOVERY "http://schemas.xmlsoap.org/ws/2005/04/discovery"
#define ANONYMOUS "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous"

struct _WatchProbe
{
  GUri *uri;
  gboolean any; /* the page listens on all addresses of this machine */
  gchar *id, *scopes;
  gint64 start;
  guint64 n_answers;
  gint64 second; /* of the last answer; how many were sent in it, in all and to each address */
  guint n_in_second;
  GHashTable *n_of_address; /* address to guint */
  GHashTable *answered;     /* sender and MessageID to the time (gint64), for REPEAT_TIME */
  GSocket *socket;
  GSource *source;
  guint join;
};

/* Whether we have the type; its prefix is the sender's choice. */
static gboolean
matches_types (const gchar *text)
{
  g_auto (GStrv) types = g_strsplit_set (text, " \t\r\n", -1);
  gboolean any = FALSE;

  for (gchar **type = types; *type; type++) {
    const gchar *colon = strchr (*type, ':'), *name = colon ? colon + 1 : *type;

    if (g_str_equal (name, "NetworkVideoTransmitter") || g_str_equal (name, "Device"))
      return TRUE;
    any |= *name != '\0';
  }
  return !any;
}

/* Whether each scope is a prefix of one of ours, in whole parts. */
static gboolean
matches_scopes (const gchar *text, const gchar *own)
{
  g_auto (GStrv) searched = g_strsplit_set (text, " \t\r\n", -1);
  g_auto (GStrv) scopes = g_strsplit (own, " ", -1);

  for (gchar **one = searched; *one; one++) {
    gsize length = strlen (*one);
    gboolean found = length == 0;

    for (gchar **scope = scopes; *scope && !found; scope++)
      found = g_str_has_prefix (*scope, *one) &&
              (strchr ("/", (*scope)[length]) || (*one)[length - 1] == '/');
    if (!found)
      return FALSE;
  }
  return TRUE;
}

/* The address of this machine from which @sender can be reached without a router, or NULL. */
static gchar *
find_host (GSocketAddress *sender)
{
  g_autoptr (GSocket) socket =
      g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  g_autoptr (GSocketAddress) own = NULL;

  if (!socket || !g_socket_set_option (socket, SOL_SOCKET, SO_DONTROUTE, 1, NULL) ||
      !g_socket_connect (socket, sender, NULL, NULL))
    return NULL;
  own = g_socket_get_local_address (socket, NULL);
  return own ? g_inet_address_to_string (
                   g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (own)))
             : NULL;
}

/* Declares only the prefixes that it uses, to stay below MAX_FACTOR. */
static gchar *
make_answer (WatchProbe *self, const gchar *probe_id, const gchar *host)
{
  g_autofree gchar *id = g_uuid_string_random (), *relates = NULL, *uri = NULL, *scopes = NULL;

  uri = g_uri_join (G_URI_FLAGS_NONE, g_uri_get_scheme (self->uri), NULL,
                    self->any ? host : g_uri_get_host (self->uri), g_uri_get_port (self->uri),
                    WATCH_ONVIF_DEVICE_PATH, NULL, NULL);
  relates = g_markup_escape_text (probe_id, -1);
  scopes = g_markup_escape_text (self->scopes, -1);
  return g_strdup_printf (
      "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\""
      " xmlns:a=\"http://schemas.xmlsoap.org/ws/2004/08/addressing\""
      " xmlns:d=\"" DISCOVERY "\" xmlns:dn=\"http://www.onvif.org/ver10/network/wsdl\""
      " xmlns:tds=\"http://www.onvif.org/ver10/device/wsdl\">"
      "<s:Header><a:MessageID>urn:uuid:%s</a:MessageID><a:RelatesTo>%s</a:RelatesTo>"
      "<a:To>" ANONYMOUS "</a:To><a:Action>" DISCOVERY "/ProbeMatches</a:Action>"
      "<d:AppSequence InstanceId=\"%" G_GINT64_FORMAT "\" MessageNumber=\"%" G_GUINT64_FORMAT
      "\"/></s:Header><s:Body><d:ProbeMatches><d:ProbeMatch><a:EndpointReference>"
      "<a:Address>urn:uuid:%s</a:Address></a:EndpointReference>"
      "<d:Types>dn:NetworkVideoTransmitter tds:Device</d:Types>"
      "<d:Scopes>%s</d:Scopes><d:XAddrs>%s</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion>"
      "</d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>",
      id, relates, self->start, ++self->n_answers, self->id, scopes, uri);
}

static gboolean
is_over (gpointer key, gpointer value, gpointer now)
{
  return *(const gint64 *) value + REPEAT_TIME <= *(const gint64 *) now;
}

/* Returns whether an answer to @address may be sent now. Counts it, and remembers the probe. Takes
 * @probe. The rate bounds the tables. */
static gboolean
may_answer (WatchProbe *self, const gchar *address, gchar *probe, gint64 now)
{
  const gint64 second = now / G_TIME_SPAN_SECOND;
  g_autofree gchar *key = probe;
  guint n;

  if (second != self->second) {
    self->second = second;
    self->n_in_second = 0;
    g_hash_table_remove_all (self->n_of_address);
    g_hash_table_foreach_remove (self->answered, is_over, &now);
  }
  n = GPOINTER_TO_UINT (g_hash_table_lookup (self->n_of_address, address));
  if (self->n_in_second >= MAX_RATE || n >= MAX_RATE_OF_ADDRESS ||
      g_hash_table_contains (self->answered, key))
    return FALSE;
  self->n_in_second++;
  g_hash_table_insert (self->n_of_address, g_strdup (address), GUINT_TO_POINTER (n + 1));
  g_hash_table_insert (self->answered, g_steal_pointer (&key), g_memdup2 (&now, sizeof now));
  return TRUE;
}

gchar *
watch_probe_make_answer (WatchProbe *self, const gchar *text, gsize size, GSocketAddress *sender,
                         gint64 now)
{
  GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS (sender);
  const guint port = g_inet_socket_address_get_port (inet);
  g_auto (WatchSoap) soap = { 0 };
  g_autofree gchar *address = NULL, *host = NULL, *answer = NULL;
  const gchar *id;

  if (port < MIN_SENDER || !memmem (text, size, "MessageID", 9) ||
      !watch_soap_parse (&soap, text, size) || !g_str_equal (soap.operation, "Probe") ||
      !matches_types (watch_soap_get (&soap, NULL, "Types")) ||
      !matches_scopes (watch_soap_get (&soap, NULL, "Scopes"), self->scopes))
    return NULL;
  id = watch_soap_get (&soap, "Header", "MessageID");
  host = *id && strlen (id) <= MAX_ID ? find_host (sender) : NULL;
  answer = host ? make_answer (self, id, host) : NULL;
  address = g_inet_address_to_string (g_inet_socket_address_get_address (inet));
  if (!answer || strlen (answer) > MAX_FACTOR * size ||
      !may_answer (self, address, g_strdup_printf ("%s %u %s", address, port, id), now))
    return NULL;
  return g_steal_pointer (&answer);
}

static gboolean
on_probe (GSocket *socket, GIOCondition condition, gpointer user_data)
{
  WatchProbe *self = user_data;
  gchar text[MAX_PROBE];
  g_autoptr (GSocketAddress) sender = NULL;
  gssize size = g_socket_receive_from (socket, &sender, text, sizeof text, NULL, NULL);
  g_autofree gchar *answer = NULL;

  if (size > 0 && sender)
    answer = watch_probe_make_answer (self, text, (gsize) size, sender, g_get_monotonic_time ());
  if (answer)
    g_socket_send_to (socket, sender, answer, strlen (answer), NULL, NULL);
  return G_SOURCE_CONTINUE;
}

/* Joins the group in all networks; fails harmlessly where it has joined already. */
static gboolean
join (gpointer user_data)
{
  WatchProbe *self = user_data;
  g_autoptr (GInetAddress) group = g_inet_address_new_from_string (GROUP);
  struct if_nameindex *all = if_nameindex ();

  for (struct if_nameindex *one = all; one && one->if_name; one++)
    g_socket_join_multicast_group (self->socket, group, FALSE, one->if_name, NULL);
  if (all)
    if_freenameindex (all);
  return G_SOURCE_CONTINUE;
}

static gboolean
open_socket (WatchProbe *self, GError **error)
{
  /* Bind to the group, not to an address of the machine: then only multicast probes arrive. */
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new_from_string (GROUP, PORT);

  self->socket =
      g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, error);
  if (!self->socket || !g_socket_bind (self->socket, address, TRUE, error) ||
      !g_socket_set_option (self->socket, SOL_SOCKET, SO_DONTROUTE, 1, error))
    return FALSE;
  g_socket_set_blocking (self->socket, FALSE);
  join (self);
  self->join = g_timeout_add_seconds (JOIN_INTERVAL, join, self);
  self->source = g_socket_create_source (self->socket, G_IO_IN, NULL);
  g_source_set_callback (self->source, G_SOURCE_FUNC (on_probe), self, NULL);
  g_source_attach (self->source, NULL);
  return TRUE;
}

void
watch_probe_start (WatchProbe *self)
{
  g_autoptr (GError) error = NULL;

  if (!open_socket (self, &error))
    g_warning ("ONVIF clients will not find this program by themselves: port %d: %s", PORT,
               error->message);
}

WatchProbe *
watch_probe_new (WatchSettings *settings, const gchar *uri)
{
  WatchProbe *self = g_new0 (WatchProbe, 1);

  self->any = g_str_has_prefix (settings->listen, "0.0.0.0:") ||
              g_str_has_prefix (settings->listen, "[::]:");
  self->uri = g_uri_parse (uri, G_URI_FLAGS_NONE, NULL);
  self->id = watch_onvif_get_id (settings);
  self->scopes = watch_onvif_get_scopes ();
  self->start = g_get_real_time () / G_USEC_PER_SEC;
  self->n_of_address = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->answered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
watch_probe_free (WatchProbe *self)
{
  g_clear_handle_id (&self->join, g_source_remove);
  if (self->source)
    g_source_destroy (self->source);
  g_clear_pointer (&self->source, g_source_unref);
  g_clear_object (&self->socket);
  g_hash_table_unref (self->n_of_address);
  g_hash_table_unref (self->answered);
  g_uri_unref (self->uri);
  g_free (self->id);
  g_free (self->scopes);
  g_free (self);
}
