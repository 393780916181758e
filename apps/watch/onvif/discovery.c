/* cudaccl-watch - finds cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* WS-Discovery: devices answer to the sender of a probe, which goes to a multicast group in each
 * network. Anybody in the network can send answers: they are limited in number and size, and
 * only the text of a few elements is used. A device has the address from which it answers,
 * not one that the answer gives: people enter the password next, and it must go nowhere else. */

#include "apps/watch/onvif/discovery.h"

#include "apps/watch/onvif/soap.h"
#include "apps/web/json.h"

#include <gst/gst.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#define GROUP "239.255.255.250"
#define PORT 3702
#define TIME (3 * G_USEC_PER_SEC)
#define MAX_DEVICES 128
#define MAX_NETWORKS 16
#define MAX_ANSWER 65536 /* bytes of a datagram */
#define MAX_TEXT 8192    /* of an element */
#define MAX_NAME 128

static void
device_free (gpointer data)
{
  WatchDevice *device = data;

  g_free (device->kind);
  g_free (device->name);
  g_free (device->model);
  g_free (device->address);
  g_free (device->uri);
  g_free (device);
}

GPtrArray *
watch_devices_new (void)
{
  return g_ptr_array_new_with_free_func (device_free);
}

/* --- Answers of WS-Discovery --- */

typedef struct
{
  GPtrArray *devices;
  const gchar *sender;
  gchar *addresses, *scopes; /* of the current match, or NULL */
} Reader;

/* Returns the scope with @prefix, without it and unescaped; or NULL. */
static gchar *
find_scope (gchar **scopes, const gchar *prefix)
{
  for (; *scopes; scopes++) {
    g_autofree gchar *value = g_str_has_prefix (*scopes, prefix)
                                  ? g_uri_unescape_string (*scopes + strlen (prefix), NULL)
                                  : NULL;

    if (value && *value && g_utf8_validate (value, -1, NULL)) {
      if (g_utf8_strlen (value, -1) > MAX_NAME)
        *g_utf8_offset_to_pointer (value, MAX_NAME) = '\0';
      return g_steal_pointer (&value);
    }
  }
  return NULL;
}

static gboolean
has_http (gchar **addresses)
{
  for (; *addresses; addresses++) {
    g_autoptr (GUri) uri = g_uri_parse (*addresses, G_URI_FLAGS_NONE, NULL);
    const gchar *scheme = uri ? g_uri_get_scheme (uri) : "";
    const gchar *host = uri ? g_uri_get_host (uri) : NULL;

    if (host && *host && (g_str_equal (scheme, "http") || g_str_equal (scheme, "https")))
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_known (const GPtrArray *devices, const gchar *uri)
{
  for (guint i = 0; i < devices->len; i++)
    if (g_str_equal (((WatchDevice *) g_ptr_array_index (devices, i))->uri, uri))
      return TRUE;
  return FALSE;
}

static void
add_device (GPtrArray *devices, WatchDevice *device)
{
  if (devices->len < MAX_DEVICES && !is_known (devices, device->uri))
    g_ptr_array_add (devices, device);
  else
    device_free (device);
}

static void
end_match (Reader *reader)
{
  g_auto (GStrv) addresses =
      g_strsplit_set (reader->addresses ? reader->addresses : "", " \t\r\n", 32);
  g_auto (GStrv) scopes = g_strsplit_set (reader->scopes ? reader->scopes : "", " \t\r\n", 256);
  WatchDevice *device;

  g_clear_pointer (&reader->addresses, g_free);
  g_clear_pointer (&reader->scopes, g_free);
  if (!has_http (addresses))
    return;
  device = g_new0 (WatchDevice, 1);
  device->kind = g_strdup ("onvif");
  device->name = find_scope (scopes, "onvif://www.onvif.org/name/");
  device->model = find_scope (scopes, "onvif://www.onvif.org/hardware/");
  if (g_strcmp0 (device->model, "cudaccl-watch") == 0) { /* another one, or this one */
    device_free (device);
    return;
  }
  device->address = g_strdup (reader->sender);
  device->uri = g_uri_join (G_URI_FLAGS_NONE, "rtsp", NULL, reader->sender, -1, "/", NULL, NULL);
  add_device (reader->devices, device);
}

static void
on_element (const gchar *parent, const gchar *name, const gchar *text, gpointer user_data)
{
  Reader *reader = user_data;
  gchar **place = g_str_equal (name, "XAddrs")   ? &reader->addresses
                  : g_str_equal (name, "Scopes") ? &reader->scopes
                                                 : NULL;

  if (place && g_str_equal (parent, "ProbeMatch")) {
    g_free (*place);
    *place = g_strdup (text);
  } else if (g_str_equal (name, "ProbeMatch")) {
    end_match (reader);
  }
}

void
watch_discovery_parse (const gchar *text, gsize size, const gchar *sender, GPtrArray *devices)
{
  Reader reader = { devices, sender, NULL, NULL };

  if (size > MAX_ANSWER || !g_utf8_validate (text, (gssize) size, NULL))
    return;
  watch_soap_read (text, size, MAX_TEXT, on_element, &reader, NULL);
  g_free (reader.addresses);
  g_free (reader.scopes);
}

/* --- Probes --- */

static gchar *
make_probe (void)
{
  g_autofree gchar *id = g_uuid_string_random ();

  return g_strdup_printf (
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\""
      " xmlns:a=\"http://schemas.xmlsoap.org/ws/2004/08/addressing\""
      " xmlns:d=\"http://schemas.xmlsoap.org/ws/2005/04/discovery\""
      " xmlns:dn=\"http://www.onvif.org/ver10/network/wsdl\">"
      "<s:Header><a:MessageID>uuid:%s</a:MessageID>"
      "<a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>"
      "<a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action></s:Header>"
      "<s:Body><d:Probe><d:Types>dn:NetworkVideoTransmitter</d:Types></d:Probe></s:Body>"
      "</s:Envelope>",
      id);
}

/* Returns a socket bound to the address, from which the probe was sent, or NULL. */
static GSocket *
send_probe (const struct sockaddr_in *own, const gchar *probe)
{
  g_autoptr (GSocketAddress) from = g_socket_address_new_from_native ((gpointer) own, sizeof *own);
  g_autoptr (GSocketAddress) to = g_inet_socket_address_new_from_string (GROUP, PORT);
  g_autoptr (GSocket) socket =
      g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);

  if (!socket || !g_socket_bind (socket, from, FALSE, NULL) ||
      !g_socket_set_option (socket, IPPROTO_IP, IP_MULTICAST_IF, (gint) own->sin_addr.s_addr, NULL))
    return NULL;
  g_socket_set_blocking (socket, FALSE);
  if (g_socket_send_to (socket, to, probe, strlen (probe), NULL, NULL) < 0)
    return NULL;
  return g_steal_pointer (&socket);
}

static guint
send_probes (GSocket *sockets[MAX_NETWORKS])
{
  g_autofree gchar *probe = make_probe ();
  struct ifaddrs *all = NULL;
  guint n = 0;

  if (getifaddrs (&all) != 0)
    return 0;
  for (const struct ifaddrs *one = all; one && n < MAX_NETWORKS; one = one->ifa_next) {
    struct sockaddr_in own;
    GSocket *socket;

    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !(one->ifa_flags & IFF_UP) ||
        !(one->ifa_flags & IFF_MULTICAST))
      continue;
    memcpy (&own, one->ifa_addr, sizeof own);
    own.sin_port = 0;
    socket = send_probe (&own, probe);
    if (socket)
      sockets[n++] = socket;
  }
  freeifaddrs (all);
  return n;
}

/* Returns whether there was an answer. */
static gboolean
read_answer (GSocket *socket, gchar *text, GPtrArray *devices)
{
  g_autoptr (GSocketAddress) from = NULL;
  gssize size = g_socket_receive_from (socket, &from, text, MAX_ANSWER, NULL, NULL);
  g_autofree gchar *sender = NULL;

  if (size <= 0 || !from)
    return FALSE;
  sender =
      g_inet_address_to_string (g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (from)));
  watch_discovery_parse (text, (gsize) size, sender, devices);
  return TRUE;
}

static void
find_onvif (GPtrArray *devices, GCancellable *cancellable)
{
  gint64 end = g_get_monotonic_time () + TIME;
  GSocket *sockets[MAX_NETWORKS];
  guint n = send_probes (sockets);
  g_autofree gchar *text = g_malloc (MAX_ANSWER);

  while (n && g_get_monotonic_time () < end && devices->len < MAX_DEVICES &&
         !g_cancellable_is_cancelled (cancellable)) {
    for (guint i = 0; i < n; i++)
      while (g_get_monotonic_time () < end && read_answer (sockets[i], text, devices))
        ;
    g_usleep (20000);
  }
  while (n)
    g_object_unref (sockets[--n]);
}

static void
find_v4l2 (GPtrArray *devices)
{
  g_autoptr (GstDeviceMonitor) monitor = gst_device_monitor_new ();
  GList *found;

  gst_device_monitor_add_filter (monitor, "Video/Source", NULL);
  if (!gst_device_monitor_start (monitor))
    return;
  found = gst_device_monitor_get_devices (monitor);
  for (GList *l = found; l; l = l->next) {
    g_autoptr (GstStructure) properties = gst_device_get_properties (l->data);
    const gchar *path = properties ? gst_structure_get_string (properties, "device.path") : NULL;
    WatchDevice *device;

    if (!path && properties)
      path = gst_structure_get_string (properties, "api.v4l2.path");
    if (!path || !g_str_has_prefix (path, "/dev/"))
      continue;
    device = g_new0 (WatchDevice, 1);
    device->kind = g_strdup ("v4l2");
    device->name = gst_device_get_display_name (l->data);
    device->uri = g_strconcat ("v4l2://", path, NULL);
    add_device (devices, device);
  }
  g_list_free_full (found, gst_object_unref);
  gst_device_monitor_stop (monitor);
}

GPtrArray *
watch_discover (GCancellable *cancellable)
{
  GPtrArray *devices = watch_devices_new ();

  find_v4l2 (devices);
  find_onvif (devices, cancellable);
  return devices;
}

/* --- Over HTTP --- */

static void
run (WebAnswer *answer, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GPtrArray) devices = watch_discover (cancellable);
  GString *json = web_json_new ();
  gchar *text;

  web_json_begin_array (json, "devices");
  for (guint i = 0; i < devices->len; i++) {
    const WatchDevice *device = g_ptr_array_index (devices, i);

    web_json_begin_object (json, NULL);
    web_json_add_string (json, "kind", device->kind);
    web_json_add_string (json, "name", device->name);
    web_json_add_string (json, "model", device->model);
    web_json_add_string (json, "address", device->address);
    web_json_add_string (json, "uri", device->uri);
    web_json_end_object (json);
  }
  web_json_end_array (json);
  text = web_json_take (json);
  answer->status = SOUP_STATUS_OK;
  answer->type = "application/json";
  answer->body = g_bytes_new_take (text, strlen (text));
}

void
watch_discovery_answer (const WebRequest *request)
{
  web_http_run (request, run, NULL, (GDestroyNotify) g_free);
}
