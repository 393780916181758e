/* cudaccl - handshakes of TLS, a few at a time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/handshakes.h"

#include "apps/web/certificate.h"
#include "apps/web/records.h"

#define MAX_RUNNING 8 /* GIO's pool has ten threads, and adds more slowly */
#define PATIENCE G_USEC_PER_SEC
#define TICK 100 /* ms */

struct _WebHandshakes
{
  WebSecured secured;
  gpointer user_data;
  GQueue waiting; /* Handshake, the newest first: stalled ones hold up no others */
  GQueue running; /* Handshake, the oldest first */
  guint timer;    /* source of tick() while any wait, or 0 */
  gboolean told;  /* the log names old versions once */
};

typedef struct
{
  WebHandshakes *owner; /* NULL once it is freed */
  GIOStream *stream;
  GTlsCertificate *certificate;
  WebClient *client; /* borrowed from `remote` */
  GSocketAddress *local, *remote;
  WebRecords *records; /* borrowed from the connection that runs */
  GCancellable *cancellable;
  gint64 begun; /* monotonic time */
} Handshake;

static void proceed (WebHandshakes *self);

static void
handshake_free (gpointer data)
{
  Handshake *self = data;

  g_object_unref (self->stream);
  g_object_unref (self->certificate);
  g_object_unref (self->local);
  g_object_unref (self->remote);
  g_object_unref (self->cancellable);
  g_free (self);
}

WebHandshakes *
web_handshakes_new (WebSecured secured, gpointer user_data)
{
  WebHandshakes *self = g_new0 (WebHandshakes, 1);

  self->secured = secured;
  self->user_data = user_data;
  return self;
}

void
web_handshakes_free (WebHandshakes *self)
{
  Handshake *one;

  g_queue_clear_full (&self->waiting, handshake_free);
  while ((one = g_queue_pop_head (&self->running))) {
    one->owner = NULL;
    g_cancellable_cancel (one->cancellable);
  }
  g_clear_handle_id (&self->timer, g_source_remove);
  g_free (self);
}

/* --- Running handshakes --- */

/* The backend may accept old versions, and GIO has no way to forbid them. */
static gboolean
check_version (WebHandshakes *self, GTlsConnection *tls)
{
  GTlsProtocolVersion version = G_TLS_PROTOCOL_VERSION_UNKNOWN;

  /* A property of GLib 2.70, which libsoup 3 needs anyway. */
  g_object_get (tls, "protocol-version", &version, NULL);
  if (version == G_TLS_PROTOCOL_VERSION_UNKNOWN || version >= G_TLS_PROTOCOL_VERSION_TLS_1_2)
    return TRUE;
  if (!self->told)
    g_message ("refused a client without TLS 1.2; further ones are not logged");
  self->told = TRUE;
  return FALSE;
}

static void
on_shaken (GObject *tls, GAsyncResult *result, gpointer user_data)
{
  Handshake *one = user_data;
  WebHandshakes *self = one->owner;
  gboolean ok = g_tls_connection_handshake_finish (G_TLS_CONNECTION (tls), result, NULL);

  if (self) {
    g_queue_remove (&self->running, one);
    if (ok && check_version (self, G_TLS_CONNECTION (tls))) {
      web_records_forbid_handshakes (one->records);
      self->secured (G_IO_STREAM (tls), one->local, one->remote, self->user_data);
    }
    proceed (self);
  }
  handshake_free (one);
}

static void
run (WebHandshakes *self, Handshake *one)
{
  g_autoptr (GIOStream) base = web_records_new (one->stream, &one->records);
  g_autoptr (GTlsConnection) tls = web_certificate_new_server (base, one->certificate, NULL);

  if (!tls) {
    handshake_free (one);
    return;
  }
  one->begun = g_get_monotonic_time ();
  g_queue_push_tail (&self->running, one);
  g_tls_connection_handshake_async (tls, G_PRIORITY_DEFAULT, one->cancellable, on_shaken, one);
}

/* --- Waiting ones --- */

static void
drop_ended (WebHandshakes *self)
{
  for (GList *l = self->waiting.head, *next; l; l = next) {
    Handshake *one = l->data;

    next = l->next;
    if (web_client_has_ended (one->client)) {
      g_queue_delete_link (&self->waiting, l);
      handshake_free (one);
    }
  }
}

static guint
count_running (WebHandshakes *self, WebClient *client)
{
  guint n = 0;

  for (GList *l = self->running.head; l; l = l->next)
    n += g_str_equal (web_client_get_network (((Handshake *) l->data)->client),
                      web_client_get_network (client));
  return n;
}

/* Takes the newest one of the network that has the fewest running. */
static Handshake *
take_next (WebHandshakes *self)
{
  guint least = G_MAXUINT;
  GList *next = NULL;
  Handshake *one;

  for (GList *l = self->waiting.head; l; l = l->next) {
    guint n = count_running (self, ((Handshake *) l->data)->client);

    if (n < least) {
      least = n;
      next = l;
    }
  }
  one = next->data;
  g_queue_delete_link (&self->waiting, next);
  return one;
}

static gboolean
tick (gpointer user_data)
{
  WebHandshakes *self = user_data;
  const gint64 begun = g_get_monotonic_time () - PATIENCE;
  guint n;

  drop_ended (self);
  n = self->waiting.length;
  for (GList *l = self->running.head; l && n; l = l->next, n--) {
    Handshake *one = l->data;

    if (one->begun > begun)
      break;
    g_cancellable_cancel (one->cancellable);
  }
  if (self->waiting.length)
    return G_SOURCE_CONTINUE;
  self->timer = 0;
  return G_SOURCE_REMOVE;
}

static void
proceed (WebHandshakes *self)
{
  while (self->running.length < MAX_RUNNING && self->waiting.length)
    run (self, take_next (self));
  if (self->waiting.length && !self->timer)
    self->timer = g_timeout_add (TICK, tick, self);
}

void
web_handshakes_add (WebHandshakes *self, GIOStream *stream, GTlsCertificate *certificate,
                    WebClient *client, GSocketAddress *local, GSocketAddress *remote)
{
  Handshake *one = g_new0 (Handshake, 1);

  *one = (Handshake){ .owner = self,
                      .stream = g_object_ref (stream),
                      .certificate = g_object_ref (certificate),
                      .client = client,
                      .local = g_object_ref (local),
                      .remote = g_object_ref (remote),
                      .cancellable = g_cancellable_new () };
  g_queue_push_head (&self->waiting, one);
  proceed (self);
}
