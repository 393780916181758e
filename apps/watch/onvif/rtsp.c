/* cudaccl-watch - ONVIF's metadata over RTSP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A client that asks for rtsp://…/CAMERA gets a pipeline of the server, which all clients of the
 * camera share:
 *
 *   appsrc ! cclonvif ! payloader
 *
 * The pipeline of the camera feeds it with metadata, without waiting for it. */

#include "apps/watch/onvif/rtsp.h"

#include "apps/watch/onvif/rtsp-input.h"
#include "apps/web/limits.h"

#include <gio/gio.h>

#ifdef HAVE_RTSP_SERVER

#include <gst/rtp/rtp.h>
#include <gst/rtsp-server/rtsp-server.h>
#include <sys/resource.h>

#define REALM "cudaccl-watch"
#define ROLE "user"
#define MAX_CLIENTS 512     /* a client has one per camera */
#define FILES_SHARE 4       /* clients may use one in this many of the files that may be open */
#define NETWORK_SHARE 4     /* one in this many clients may be strangers from one network */
#define MAX_BODY 65536      /* bytes of a request, announced or sent */
#define MAX_ACCEPTED 64     /* connections in one iteration of the loop */
#define LOGIN_SECONDS 30    /* until a connection without a login is closed */
#define REFUSED_INTERVAL 60 /* seconds between messages */
#define MAX_QUEUED 50       /* documents queued for a slow client */
#define CLEANUP_INTERVAL 10 /* seconds; sessions end after 60 without a sign of life */

/* --- The payloader --- */

/* A document is split over packets; the last one has the marker (ONVIF Streaming Specification). */
#define WATCH_TYPE_RTSP_PAY (watch_rtsp_pay_get_type ())
G_DECLARE_FINAL_TYPE (WatchRtspPay, watch_rtsp_pay, WATCH, RTSP_PAY, GstRTPBasePayload)

struct _WatchRtspPay
{
  GstRTPBasePayload parent;
};

G_DEFINE_TYPE (WatchRtspPay, watch_rtsp_pay, GST_TYPE_RTP_BASE_PAYLOAD)

static GstFlowReturn
watch_rtsp_pay_handle_buffer (GstRTPBasePayload *self, GstBuffer *document)
{
  const gsize size = gst_buffer_get_size (document);
  const gsize max = gst_rtp_buffer_calc_payload_len (GST_RTP_BASE_PAYLOAD_MTU (self), 0, 0);
  GstBufferList *packets = gst_buffer_list_new ();

  for (gsize offset = 0; offset < size; offset += max) {
    GstBuffer *packet = gst_rtp_base_payload_allocate_output_buffer (self, 0, 0, 0);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (packet, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_marker (&rtp, offset + max >= size);
    gst_rtp_buffer_unmap (&rtp);
    GST_BUFFER_PTS (packet) = GST_BUFFER_PTS (document);
    gst_buffer_copy_into (packet, document, GST_BUFFER_COPY_MEMORY, offset,
                          MIN (max, size - offset));
    gst_buffer_list_add (packets, packet);
  }
  gst_buffer_unref (document);
  return gst_rtp_base_payload_push_list (self, packets);
}

static gboolean
watch_rtsp_pay_set_caps (GstRTPBasePayload *self, GstCaps *caps)
{
  gst_rtp_base_payload_set_options (self, "application", TRUE, "VND.ONVIF.METADATA", 90000);
  return gst_rtp_base_payload_set_outcaps (self, NULL);
}

static void
watch_rtsp_pay_class_init (WatchRtspPayClass *klass)
{
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE (
      "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-onvif-metadata"));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                               GST_STATIC_CAPS ("application/x-rtp, media=(string)application, "
                                                "clock-rate=(int)90000, "
                                                "encoding-name=(string)VND.ONVIF.METADATA"));
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstRTPBasePayloadClass *pay_class = GST_RTP_BASE_PAYLOAD_CLASS (klass);

  gst_element_class_add_static_pad_template (element_class, &sink);
  gst_element_class_add_static_pad_template (element_class, &src);
  gst_element_class_set_static_metadata (element_class, "ONVIF metadata payloader",
                                         "Codec/Payloader/Network/RTP",
                                         "Splits documents over packets", "The cudaccl authors");
  pay_class->set_caps = watch_rtsp_pay_set_caps;
  pay_class->handle_buffer = watch_rtsp_pay_handle_buffer;
}

static void
watch_rtsp_pay_init (WatchRtspPay *self)
{
}

/* --- Pipelines --- */

#define WATCH_TYPE_RTSP_FACTORY (watch_rtsp_factory_get_type ())
G_DECLARE_FINAL_TYPE (WatchRtspFactory, watch_rtsp_factory, WATCH, RTSP_FACTORY,
                      GstRTSPMediaFactory)

struct _WatchRtspFactory
{
  GstRTSPMediaFactory parent;
  gchar *camera;
  WatchMetadata *metadata;
};

G_DEFINE_TYPE (WatchRtspFactory, watch_rtsp_factory, GST_TYPE_RTSP_MEDIA_FACTORY)

/* In a thread of the server. */
static GstElement *
watch_rtsp_factory_create_element (GstRTSPMediaFactory *factory, const GstRTSPUrl *url)
{
  WatchRtspFactory *self = WATCH_RTSP_FACTORY (factory);
  GstElement *bin = gst_bin_new (NULL), *source = gst_element_factory_make ("appsrc", NULL);
  GstElement *writer = gst_element_factory_make ("cclonvif", NULL);
  GstElement *pay = g_object_new (WATCH_TYPE_RTSP_PAY, "name", "pay0", "pt", 98, NULL);

  if (!source || !writer) {
    g_warning ("rtsp: there is no element %s", source ? "cclonvif" : "appsrc");
    gst_clear_object (&source);
    gst_clear_object (&writer);
    gst_object_unref (gst_object_ref_sink (pay));
    gst_object_unref (gst_object_ref_sink (bin));
    return NULL;
  }
  g_object_set (source, "is-live", TRUE, "do-timestamp", TRUE, "format", GST_FORMAT_TIME,
                "max-bytes", G_GUINT64_CONSTANT (0), "max-buffers", (guint64) MAX_QUEUED, NULL);
  gst_util_set_object_arg (G_OBJECT (source), "leaky-type", "downstream");
  g_object_set (writer, "source", self->camera, "qos", FALSE, NULL);
  gst_bin_add_many (GST_BIN (bin), source, writer, pay, NULL);
  gst_element_link_many (source, writer, pay, NULL);
  watch_metadata_add_source (self->metadata, self->camera, GST_APP_SRC (source));
  return bin;
}

static void
watch_rtsp_factory_finalize (GObject *object)
{
  WatchRtspFactory *self = WATCH_RTSP_FACTORY (object);

  g_free (self->camera);
  g_clear_pointer (&self->metadata, watch_metadata_unref);
  G_OBJECT_CLASS (watch_rtsp_factory_parent_class)->finalize (object);
}

static void
watch_rtsp_factory_class_init (WatchRtspFactoryClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = watch_rtsp_factory_finalize;
  GST_RTSP_MEDIA_FACTORY_CLASS (klass)->create_element = watch_rtsp_factory_create_element;
}

static void
watch_rtsp_factory_init (WatchRtspFactory *self)
{
}

/* --- Connections and passwords --- */

/* Data of a GstRTSPClient. Thread of the clients only. */
#define CONNECTED "connected"

typedef struct
{
  gchar *network;
  gint64 since;
  WatchRtspInput *input; /* may be NULL */
  gboolean logged_in;
  gboolean challenged; /* got 401 */
} Connected;

static void
connected_free (Connected *self)
{
  g_free (self->network);
  g_clear_object (&self->input);
  g_free (self);
}

static Connected *
get_connected (gpointer client)
{
  return g_object_get_data (client, CONNECTED);
}

/* Limits wrong passwords, as the page does, and connections. */
#define WATCH_TYPE_RTSP_AUTH (watch_rtsp_auth_get_type ())
G_DECLARE_FINAL_TYPE (WatchRtspAuth, watch_rtsp_auth, WATCH, RTSP_AUTH, GstRTSPAuth)

struct _WatchRtspAuth
{
  GstRTSPAuth parent;
  GMutex lock;
  WebFailures *failures;
  guint max_clients;
  WatchApp *app;
  gint64 refused; /* time of the last message, or 0; thread of the clients only */
};

G_DEFINE_TYPE (WatchRtspAuth, watch_rtsp_auth, GST_TYPE_RTSP_AUTH)

static gchar *
get_network (GstRTSPConnection *connection)
{
  g_autoptr (GInetAddress) address =
      g_inet_address_new_from_string (gst_rtsp_connection_get_ip (connection));

  return web_network_get_name (address);
}

/* Counts a connection from @network that is refused or closed, and logs it once in
 * REFUSED_INTERVAL. */
static void
refuse (WatchRtspAuth *self, const gchar *network, const gchar *why)
{
  const gint64 now = g_get_monotonic_time ();

  g_atomic_int_inc (&self->app->rtsp_refused);
  if (self->refused && now < self->refused + REFUSED_INTERVAL * G_USEC_PER_SEC)
    return;
  self->refused = now;
  g_warning ("rtsp: a connection from %s is closed: %s", network, why);
}

/* Returns the oldest stranger from @network or, if it is NULL, from the network that has the most
 * strangers; NULL if there is none. Borrowed from @clients. */
static GstRTSPClient *
find_stranger (GList *clients, const gchar *network)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  guint most = 0;
  GstRTSPClient *found = NULL;

  for (GList *one = clients; one; one = one->next) {
    const Connected *connected = get_connected (one->data);
    guint n;

    if (connected->logged_in || (network && !g_str_equal (network, connected->network)))
      continue;
    n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, connected->network)) + 1;
    g_hash_table_insert (counts, connected->network, GUINT_TO_POINTER (n));
    most = MAX (most, n);
  }
  for (GList *one = clients; one; one = one->next) {
    const Connected *connected = get_connected (one->data);

    if (!connected->logged_in &&
        GPOINTER_TO_UINT (g_hash_table_lookup (counts, connected->network)) == most &&
        (!found || connected->since < get_connected (found)->since))
      found = one->data;
  }
  return found;
}

/* In the thread of the clients, before the connection has a client. Strangers, who have not logged
 * in, give way, so that somebody with the password gets in. */
static gboolean
may_connect (WatchRtspAuth *self, GstRTSPContext *context)
{
  g_autofree gchar *network = get_network (context->conn);
  WebConnections open = { .network = network,
                          .max = self->max_clients,
                          .max_of_network = self->max_clients / NETWORK_SHARE };
  GList *clients = gst_rtsp_server_client_filter (context->server, NULL, NULL);
  GstRTSPClient *stranger = NULL;
  gboolean ok = TRUE;

  for (GList *one = clients; one; one = one->next)
    web_connections_count (
        &open, get_connected (one->data)->logged_in ? NULL : get_connected (one->data)->network);
  if (open.n_of_network >= open.max_of_network)
    stranger = find_stranger (clients, network);
  else if (open.n >= open.max)
    stranger = find_stranger (clients, NULL);
  if (stranger) {
    refuse (self, get_connected (stranger)->network,
            "there are too many, and this one has not logged in");
    gst_rtsp_client_close (stranger);
  } else if (!web_connections_allow (&open)) {
    refuse (self, network, "there are too many");
    ok = FALSE;
  }
  g_list_free_full (clients, g_object_unref);
  return ok;
}

/* Returns TRUE, or sends 401 and returns FALSE. */
static gboolean
log_in (GstRTSPAuth *auth, GstRTSPContext *context)
{
  GstRTSPAuthClass *klass = GST_RTSP_AUTH_GET_CLASS (auth);

  if (klass->authenticate (auth, context) && context->token)
    return TRUE;
  gst_rtsp_message_init_response (context->response, GST_RTSP_STS_UNAUTHORIZED,
                                  gst_rtsp_status_as_text (GST_RTSP_STS_UNAUTHORIZED),
                                  context->request);
  klass->generate_authenticate_header (auth, context);
  gst_rtsp_client_send_message (context->client, context->session, context->response);
  return FALSE;
}

/* Lifts the limits for strangers. A tunnel over HTTP has two sockets, and the second may come
 * later. */
static void
trust (GstRTSPContext *context)
{
  GSocket *sockets[] = { gst_rtsp_connection_get_read_socket (context->conn),
                         gst_rtsp_connection_get_write_socket (context->conn) };

  get_connected (context->client)->logged_in = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (sockets); i++)
    if (sockets[i] && watch_rtsp_input_get (sockets[i]))
      watch_rtsp_input_trust (watch_rtsp_input_get (sockets[i]));
}

/* gst-rtsp-server would look up the camera before it asks for the password, and answer 404 to
 * strangers, who could guess names. */
static gboolean
watch_rtsp_auth_check (GstRTSPAuth *auth, GstRTSPContext *context, const gchar *check)
{
  const GstRTSPMethod methods = GST_RTSP_DESCRIBE | GST_RTSP_SETUP | GST_RTSP_ANNOUNCE;

  if (g_str_equal (check, GST_RTSP_AUTH_CHECK_CONNECT))
    return may_connect (WATCH_RTSP_AUTH (auth), context);
  if (context->client && get_connected (context->client)->logged_in)
    trust (context);
  if (g_str_equal (check, GST_RTSP_AUTH_CHECK_URL) && context->method & methods)
    return log_in (auth, context);
  return GST_RTSP_AUTH_CLASS (watch_rtsp_auth_parent_class)->check (auth, context, check);
}

/* In a thread of the server. If it returns FALSE, the client gets 401, as with a wrong password.
 * Credentials sent before a challenge are no guess: they answer that of another connection. */
static gboolean
watch_rtsp_auth_authenticate (GstRTSPAuth *auth, GstRTSPContext *context)
{
  WatchRtspAuth *self = WATCH_RTSP_AUTH (auth);
  gboolean ok = GST_RTSP_AUTH_CLASS (watch_rtsp_auth_parent_class)->authenticate (auth, context);
  gboolean right = ok && context->token;
  Connected *connected = get_connected (context->client);
  const gboolean challenged = connected->challenged;
  g_autoptr (GInetAddress) address = NULL;
  gchar *given;

  connected->challenged = TRUE;
  if (gst_rtsp_message_get_header (context->request, GST_RTSP_HDR_AUTHORIZATION, &given, 0) !=
          GST_RTSP_OK ||
      (!right && !challenged))
    return ok;
  address = g_inet_address_new_from_string (gst_rtsp_connection_get_ip (context->conn));
  g_mutex_lock (&self->lock);
  ok = web_failures_count (self->failures, "rtsp", right, address, g_get_monotonic_time ()) ==
       WEB_AUTH_OK;
  g_mutex_unlock (&self->lock);
  if (ok)
    trust (context);
  return ok;
}

static void
watch_rtsp_auth_finalize (GObject *object)
{
  WatchRtspAuth *self = WATCH_RTSP_AUTH (object);

  web_failures_free (self->failures);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (watch_rtsp_auth_parent_class)->finalize (object);
}

static void
watch_rtsp_auth_class_init (WatchRtspAuthClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = watch_rtsp_auth_finalize;
  GST_RTSP_AUTH_CLASS (klass)->authenticate = watch_rtsp_auth_authenticate;
  GST_RTSP_AUTH_CLASS (klass)->check = watch_rtsp_auth_check;
}

static void
watch_rtsp_auth_init (WatchRtspAuth *self)
{
  g_mutex_init (&self->lock);
  self->failures = web_failures_new ();
}

/* --- The server --- */

struct _WatchRtsp
{
  WatchMetadata *metadata;
  GstRTSPServer *server;
  GstRTSPMountPoints *mounts;
  GstRTSPSessionPool *sessions;
  WatchRtspAuth *auth;
  GSocket *socket;         /* accepts connections */
  GstRTSPThread *thread;   /* of all clients; runs `accept` and `sweep` */
  GSource *accept, *sweep; /* may be NULL */
  GAsyncQueue *ended;
  guint cleanup;
};

static void
on_camera (const gchar *camera, gboolean present, gpointer user_data)
{
  WatchRtsp *self = user_data;
  g_autofree gchar *path = g_strconcat ("/", camera, NULL);
  WatchRtspFactory *factory;

  if (!present) {
    gst_rtsp_mount_points_remove_factory (self->mounts, path);
    return;
  }
  factory = g_object_new (WATCH_TYPE_RTSP_FACTORY, NULL);
  factory->camera = g_strdup (camera);
  factory->metadata = watch_metadata_ref (self->metadata);
  gst_rtsp_media_factory_set_shared (GST_RTSP_MEDIA_FACTORY (factory), TRUE);
  gst_rtsp_media_factory_set_protocols (GST_RTSP_MEDIA_FACTORY (factory),
                                        GST_RTSP_LOWER_TRANS_UDP | GST_RTSP_LOWER_TRANS_TCP);
  gst_rtsp_media_factory_add_role (
      GST_RTSP_MEDIA_FACTORY (factory), ROLE, GST_RTSP_PERM_MEDIA_FACTORY_ACCESS, G_TYPE_BOOLEAN,
      TRUE, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT, G_TYPE_BOOLEAN, TRUE, NULL);
  gst_rtsp_mount_points_add_factory (self->mounts, path, GST_RTSP_MEDIA_FACTORY (factory));
}

/* In a thread of the server. Without this, a session outlives a client that vanishes by a minute.
 */
static void
on_closed (GstRTSPClient *client, gpointer session)
{
  GstRTSPSessionPool *sessions = gst_rtsp_client_get_session_pool (client);

  gst_rtsp_session_pool_remove (sessions, session);
  g_object_unref (sessions);
}

static void
on_session (GstRTSPClient *client, GstRTSPSession *session, gpointer user_data)
{
  g_signal_connect_data (client, "closed", G_CALLBACK (on_closed), g_object_ref (session),
                         (GClosureNotify) (void (*) (void)) g_object_unref, 0);
}

static void
on_disconnected (GstRTSPClient *client, gpointer auth)
{
  const Connected *connected = get_connected (client);

  if (connected->input && watch_rtsp_input_is_over (connected->input))
    refuse (auth, connected->network,
            "it sent more than " G_STRINGIFY (WATCH_RTSP_MAX_STRANGE) " bytes without logging in");
}

static void
on_connected (GstRTSPServer *server, GstRTSPClient *client, gpointer auth)
{
  GstRTSPConnection *connection = gst_rtsp_client_get_connection (client);
  Connected *connected = g_new0 (Connected, 1);

  connected->network = get_network (connection);
  connected->since = g_get_monotonic_time ();
  connected->input = watch_rtsp_input_get (gst_rtsp_connection_get_read_socket (connection));
  if (connected->input)
    g_object_ref (connected->input);
  g_object_set_data_full (G_OBJECT (client), CONNECTED, connected, (GDestroyNotify) connected_free);
  g_signal_connect (client, "new-session", G_CALLBACK (on_session), NULL);
  g_signal_connect (client, "closed", G_CALLBACK (on_disconnected), auth);
}

/* In the thread of the clients, as gst-rtsp-server closes connections without a lock. Accepts many
 * at once, or each would wait for a turn of all clients. The source has a lower priority than idle
 * sources, in which gst-rtsp-server frees closed connections: otherwise, a flood of connections
 * uses up the file descriptors. */
static gboolean
on_accept (GSocket *socket, GIOCondition condition, gpointer user_data)
{
  WatchRtsp *self = user_data;

  for (guint i = 0; i < MAX_ACCEPTED && g_socket_condition_check (socket, G_IO_IN); i++)
    gst_rtsp_server_io_func (socket, G_IO_IN, self->server);
  return G_SOURCE_CONTINUE;
}

static GstRTSPFilterResult
remove_late (GstRTSPServer *server, GstRTSPClient *client, gpointer auth)
{
  const Connected *connected = get_connected (client);

  if (connected->logged_in ||
      g_get_monotonic_time () < connected->since + LOGIN_SECONDS * G_USEC_PER_SEC)
    return GST_RTSP_FILTER_KEEP;
  refuse (auth, connected->network,
          "it has not logged in for " G_STRINGIFY (LOGIN_SECONDS) " seconds");
  return GST_RTSP_FILTER_REMOVE;
}

static gboolean
on_sweep (gpointer user_data)
{
  WatchRtsp *self = user_data;

  g_list_free (gst_rtsp_server_client_filter (self->server, remove_late, self->auth));
  return G_SOURCE_CONTINUE;
}

/* Leaves files to cameras, the database and the page. */
static guint
get_max_clients (void)
{
  struct rlimit files;

  if (getrlimit (RLIMIT_NOFILE, &files) < 0)
    return MAX_CLIENTS;
  return (guint) MIN (files.rlim_cur / FILES_SHARE, MAX_CLIENTS);
}

static void
set_auth (WatchRtsp *self, WatchApp *app)
{
  const WatchSettings *settings = app->settings;
  GstRTSPAuth *auth = g_object_new (WATCH_TYPE_RTSP_AUTH, NULL);
  GstRTSPToken *token =
      gst_rtsp_token_new (GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, G_TYPE_STRING, ROLE, NULL);

  WATCH_RTSP_AUTH (auth)->max_clients = get_max_clients ();
  WATCH_RTSP_AUTH (auth)->app = app;
  gst_rtsp_auth_set_supported_methods (auth, GST_RTSP_AUTH_DIGEST);
  gst_rtsp_auth_set_realm (auth, REALM);
  gst_rtsp_auth_add_digest (auth, settings->onvif_user, settings->onvif_password, token);
  gst_rtsp_server_set_auth (self->server, auth);
  gst_rtsp_token_unref (token);
  self->auth = WATCH_RTSP_AUTH (auth);
}

/* Accepts connections and closes those of strangers in the thread of the clients. */
static gboolean
listen_for_clients (WatchRtsp *self)
{
  g_autoptr (GSocket) socket = gst_rtsp_server_create_socket (self->server, NULL, NULL);
  GstRTSPThreadPool *pool;

  self->socket = socket ? watch_rtsp_input_listen (socket, NULL) : NULL;
  if (!self->socket)
    return FALSE;
  pool = gst_rtsp_server_get_thread_pool (self->server);
  /* All clients share one: the default of thread pools. */
  self->thread = gst_rtsp_thread_pool_get_thread (pool, GST_RTSP_THREAD_TYPE_CLIENT, NULL);
  g_object_unref (pool);
  self->accept = g_socket_create_source (self->socket, G_IO_IN, NULL);
  g_source_set_callback (self->accept, G_SOURCE_FUNC (on_accept), self, NULL);
  g_source_set_priority (self->accept, G_PRIORITY_LOW);
  g_source_attach (self->accept, self->thread->context);
  self->sweep = g_timeout_source_new_seconds (1);
  g_source_set_callback (self->sweep, on_sweep, self, NULL);
  g_source_attach (self->sweep, self->thread->context);
  return TRUE;
}

static gboolean
on_cleanup (gpointer user_data)
{
  gst_rtsp_session_pool_cleanup (((WatchRtsp *) user_data)->sessions);
  return G_SOURCE_CONTINUE;
}

WatchRtsp *
watch_rtsp_new (WatchApp *app, GError **error)
{
  const WatchSettings *settings = app->settings;
  g_autoptr (WatchRtsp) self = g_new0 (WatchRtsp, 1);
  g_autoptr (GSocketConnectable) listen = g_network_address_parse (settings->listen, 0, error);
  g_autofree gchar *service = g_strdup_printf ("%u", settings->rtsp_port);

  self->ended = g_async_queue_new ();
  self->server = gst_rtsp_server_new ();
  self->mounts = gst_rtsp_server_get_mount_points (self->server);
  self->sessions = gst_rtsp_server_get_session_pool (self->server);
  if (!listen)
    return NULL;
  gst_rtsp_server_set_address (self->server,
                               g_network_address_get_hostname (G_NETWORK_ADDRESS (listen)));
  gst_rtsp_server_set_service (self->server, service);
  /* A client connects for all cameras at once; connections beyond the backlog wait a second. */
  gst_rtsp_server_set_backlog (self->server, MAX_CLIENTS);
  /* Also before the login. gst-rtsp-server has no limit by default. */
  gst_rtsp_server_set_content_length_limit (self->server, MAX_BODY);
  gst_rtsp_session_pool_set_max_sessions (self->sessions, MAX_CLIENTS);
  set_auth (self, app);
  g_signal_connect (self->server, "client-connected", G_CALLBACK (on_connected), self->auth);
  self->metadata = watch_metadata_ref (app->shared.metadata);
  watch_metadata_set_changed (self->metadata, on_camera, self);
  if (!listen_for_clients (self)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE,
                 "port %u is not free: set rtsp-port in [onvif] to another one",
                 settings->rtsp_port);
    return NULL;
  }
  self->cleanup = g_timeout_add_seconds (CLEANUP_INTERVAL, on_cleanup, self);
  return g_steal_pointer (&self);
}

static GstRTSPFilterResult
remove_client (GstRTSPServer *server, GstRTSPClient *client, gpointer user_data)
{
  return GST_RTSP_FILTER_REMOVE;
}

/* Runs in the clients' thread, which uses their connections without a lock. */
static gboolean
on_end (gpointer user_data)
{
  WatchRtsp *self = user_data;
  g_autoptr (GAsyncQueue) ended = g_async_queue_ref (self->ended);

  g_source_destroy (self->accept);
  g_source_destroy (self->sweep);
  g_list_free (gst_rtsp_server_client_filter (self->server, remove_client, NULL));
  g_async_queue_push (ended, self);
  return G_SOURCE_REMOVE;
}

static void
close_clients (WatchRtsp *self)
{
  GSource *source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, on_end, self, NULL);
  g_source_attach (source, self->thread->context);
  g_async_queue_pop (self->ended);
  g_source_unref (source);
  g_source_unref (self->accept);
  g_source_unref (self->sweep);
  gst_rtsp_thread_stop (self->thread);
}

static GstRTSPFilterResult
remove_session (GstRTSPSessionPool *sessions, GstRTSPSession *session, gpointer user_data)
{
  return GST_RTSP_FILTER_REMOVE;
}

void
watch_rtsp_free (WatchRtsp *self)
{
  if (self->metadata)
    watch_metadata_set_changed (self->metadata, NULL, NULL);
  g_clear_handle_id (&self->cleanup, g_source_remove);
  if (self->thread)
    close_clients (self);
  g_clear_object (&self->socket);
  g_list_free (gst_rtsp_session_pool_filter (self->sessions, remove_session, NULL));
  g_object_unref (self->sessions);
  g_object_unref (self->mounts);
  g_object_unref (self->server);
  g_clear_object (&self->auth);
  g_async_queue_unref (self->ended);
  g_clear_pointer (&self->metadata, watch_metadata_unref);
  g_free (self);
}

#else

struct _WatchRtsp
{
  gint unused;
};

WatchRtsp *
watch_rtsp_new (WatchApp *app, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "the group [onvif] needs gst-rtsp-server, which this build does not have");
  return NULL;
}

void
watch_rtsp_free (WatchRtsp *self)
{
}

#endif
