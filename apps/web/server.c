/* cudaccl - a server of a page and its interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Connections are accepted here rather than by SoupServer, so that their number and the time that
 * they may wait are limited. A request is checked when its headers are there, before any of its
 * body is kept: in the order of check_request(). */

#include "apps/web/server.h"

#include <string.h>

#include "apps/web/certificate.h"
#include "apps/web/handshakes.h"

#define MAX_TARGET 8192   /* bytes of path and query */
#define MAX_BODY 262144   /* bytes */
#define WORK_THREADS 2    /* for each kind of work */
#define MAX_WAITING 32    /* answers that wait for these */
#define SOCKET_TIMEOUT 30 /* seconds without a byte in or out */
#define BACKLOG 256       /* connections that wait to be accepted */

/* Required on every request that changes something: foreign pages cannot send it unasked. */
#define CSRF_HEADER "X-Cudaccl-Watch"

struct _WebServer
{
  const WebSite *site;
  gpointer app, state;
  GDestroyNotify free_state; /* or NULL */
  SoupServer *soup;
  GSocketService *service;
  WebCertificate *certificate; /* or NULL, without TLS */
  WebAuth *auth;
  gboolean local; /* listens on a loopback address */
  gchar *uri;
  WebClients *clients;
  WebHandshakes *handshakes;
  GHashTable *unfinished; /* Unfinished, by data */
  GHashTable *pools;      /* GThreadPool by WebWork: no kind of work waits for another */
  WebServerStats stats;
};

/* --- Routes --- */

/* Returns the decoded part of @path for {…} in @pattern, "" if there is none, or NULL if they do
 * not match. Both begin with a slash. */
static gchar *
match (const gchar *pattern, const gchar *path)
{
  const gchar *open = strchr (pattern, '{'), *rest, *end;
  gboolean all;

  if (!open)
    return g_str_equal (pattern, path) ? g_strdup ("") : NULL;
  if (strncmp (pattern, path, (gsize) (open - pattern)) != 0)
    return NULL;
  all = g_str_has_prefix (open, "{file}");
  rest = path + (open - pattern);
  end = all ? rest + strlen (rest) : rest + strcspn (rest, "/");
  if (!g_str_equal (strchr (open, '}') + 1, end))
    return NULL;
  return g_uri_unescape_segment (rest, end, all ? "" : "/");
}

/* Returns the route, or NULL and the status of the error. */
static const WebRoute *
find_route (const WebSite *site, const gchar *method, const gchar *path, gchar **name,
            guint *status)
{
  gboolean head = g_str_equal (method, "HEAD");

  *status = SOUP_STATUS_NOT_FOUND;
  for (guint i = 0; i < site->n_routes; i++) {
    const WebRoute *route = &site->routes[i];
    g_autofree gchar *part = match (route->path, path);

    if (!part || (route->handler == web_http_page && *status == SOUP_STATUS_METHOD_NOT_ALLOWED))
      continue;
    if (!g_utf8_validate (part, -1, NULL))
      break;
    if (g_str_equal (head ? "GET" : method, route->method) &&
        !(head && route->flags & WEB_ROUTE_STREAM)) {
      *name = g_steal_pointer (&part);
      return route;
    }
    *status = SOUP_STATUS_METHOD_NOT_ALLOWED;
  }
  return NULL;
}

/* --- Unfinished answers --- */

typedef struct
{
  WebServer *server;
  SoupServerMessage *message;
  WebFinished finished;
  gpointer data;
} Unfinished;

static void
on_finished (SoupServerMessage *message, gpointer user_data)
{
  Unfinished *one = user_data;

  web_http_finish (one->server, one->data);
}

void
web_http_on_finished (WebServer *self, SoupServerMessage *message, WebFinished finished,
                      gpointer data)
{
  Unfinished *one = g_new (Unfinished, 1);

  *one = (Unfinished){ self, g_object_ref (message), finished, data };
  g_hash_table_insert (self->unfinished, data, one);
  g_signal_connect (message, "finished", G_CALLBACK (on_finished), one);
}

void
web_http_finish (WebServer *self, gpointer data)
{
  Unfinished *one = NULL;

  if (!g_hash_table_steal_extended (self->unfinished, data, NULL, (gpointer *) &one))
    return;
  g_signal_handlers_disconnect_by_data (one->message, one);
  one->finished (one->message, one->data);
  g_object_unref (one->message);
  g_free (one);
}

/* --- Answers made in threads --- */

typedef struct
{
  WebServer *server;
  SoupServerMessage *message;
  gboolean finished; /* the client or the server is gone; main thread only */
  GCancellable *cancellable;
  WebWork work;
  gpointer data;
  GDestroyNotify destroy;
  WebAnswer answer;
} Job;

static void
on_job_finished (SoupServerMessage *message, gpointer data)
{
  Job *job = data;

  job->finished = TRUE;
  g_cancellable_cancel (job->cancellable);
}

static gboolean
end_job (gpointer user_data)
{
  Job *job = user_data;
  WebAnswer *answer = &job->answer;

  if (!job->finished) {
    guint status = answer->status ? answer->status : SOUP_STATUS_BAD_REQUEST;

    if (answer->body)
      web_http_bytes (job->message, status, answer->type, answer->body);
    else if (answer->error)
      web_http_fail (job->message, status, answer->error);
    else
      web_http_error (job->message, status, "cancelled");
    web_http_unpause (job->message);
    web_http_finish (job->server, job);
  }
  job->destroy (job->data);
  g_clear_pointer (&answer->body, g_bytes_unref);
  g_clear_error (&answer->error);
  g_object_unref (job->cancellable);
  g_object_unref (job->message);
  g_free (job);
  return G_SOURCE_REMOVE;
}

static void
run_job (gpointer data, gpointer user_data)
{
  Job *job = data;

  if (!g_cancellable_is_cancelled (job->cancellable))
    job->work (&job->answer, job->data, job->cancellable);
  else
    job->answer.status = SOUP_STATUS_SERVICE_UNAVAILABLE;
  g_idle_add_full (G_PRIORITY_DEFAULT, end_job, job, NULL);
}

/* Finishes the work that waits. */
static void
end_pool (gpointer pool)
{
  g_thread_pool_free (pool, FALSE, TRUE);
}

void
web_http_run (const WebRequest *request, WebWork work, gpointer data, GDestroyNotify destroy)
{
  WebServer *self = request->server;
  GThreadPool *pool = g_hash_table_lookup (self->pools, work);
  Job *job;

  if (!pool) {
    pool = g_thread_pool_new (run_job, NULL, WORK_THREADS, FALSE, NULL);
    g_hash_table_insert (self->pools, work, pool);
  }
  if (g_thread_pool_unprocessed (pool) >= MAX_WAITING) {
    web_http_refuse (request->message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                     web_reason_new (WEB_REASON_REQUESTS_WAIT, NULL));
    destroy (data);
    return;
  }
  job = g_new0 (Job, 1);
  job->server = self;
  job->message = g_object_ref (request->message);
  job->cancellable = g_cancellable_new ();
  job->work = work;
  job->data = data;
  job->destroy = destroy;
  web_http_on_finished (self, job->message, on_job_finished, job);
  web_http_pause (job->message);
  g_thread_pool_push (pool, job, NULL);
}

/* --- The page --- */

static const gchar *
get_type (const gchar *name)
{
  static const struct
  {
    const gchar *suffix, *type;
  } types[] = {
    { ".html", "text/html; charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".svg", "image/svg+xml" },
    { ".json", "application/json" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_has_suffix (name, types[i].suffix))
      return types[i].type;
  return "application/octet-stream";
}

void
web_http_page (const WebRequest *request)
{
  SoupServerMessage *message = request->message;
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  const gchar *known, *name = request->name && *request->name ? request->name : "index.html";
  g_autofree gchar *path = NULL, *sum = NULL, *tag = NULL;
  g_autoptr (GBytes) body = NULL;

  if (g_str_equal (g_uri_get_path (soup_server_message_get_uri (message)), "/openapi.json"))
    name = "openapi.json";
  path = g_strconcat (request->server->site->pages, name, NULL);
  /* The resource has no names such as `../a`. */
  body = g_resources_lookup_data (path, 0, NULL);
  if (!body) {
    web_http_error (message, SOUP_STATUS_NOT_FOUND, "there is no such page");
    return;
  }
  sum = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, body);
  tag = g_strdup_printf ("\"%.16s\"", sum);
  soup_message_headers_replace (headers, "ETag", tag);
  soup_message_headers_replace (headers, "Cache-Control", "no-cache");
  known = soup_message_headers_get_one (soup_server_message_get_request_headers (message),
                                        "If-None-Match");
  if (known && g_str_equal (known, tag))
    soup_server_message_set_status (message, SOUP_STATUS_NOT_MODIFIED, NULL);
  else
    web_http_bytes (message, SOUP_STATUS_OK, get_type (name), body);
}

void
web_http_health (const WebRequest *request)
{
  web_http_json (request->message, SOUP_STATUS_OK, g_strdup ("{\"status\":\"ok\"}"));
}

/* --- Checks --- */

#define CLIENT "cudaccl-client"

static WebClient *
get_client (SoupServerMessage *message)
{
  return g_object_get_data (G_OBJECT (soup_server_message_get_remote_address (message)), CLIENT);
}

static void
on_body (SoupServerMessage *message, gpointer user_data)
{
  web_client_begin_answer (get_client (message));
}

static GInetAddress *
get_address (SoupServerMessage *message)
{
  GSocketAddress *address = soup_server_message_get_remote_address (message);

  return G_IS_INET_SOCKET_ADDRESS (address)
             ? g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address))
             : NULL;
}

WebAuthResult
web_http_check_secret (const WebRequest *request, const gchar *secret, const gchar *right,
                       const gchar *given)
{
  WebAuthResult result =
      web_auth_check_secret (request->server->auth, secret, right, given,
                             get_address (request->message), g_get_monotonic_time ());

  if (result == WEB_AUTH_OK)
    web_client_trust (get_client (request->message));
  return result;
}

static void
refuse (SoupServerMessage *message, WebAuthResult result)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);

  if (result == WEB_AUTH_TOO_MANY) {
    soup_message_headers_replace (headers, "Retry-After", G_STRINGIFY (WEB_AUTH_BLOCK));
    web_http_refuse (message, 429, web_reason_new (WEB_REASON_TOKENS_WRONG, NULL));
    return;
  }
  soup_message_headers_replace (headers, "WWW-Authenticate", "Bearer");
  web_http_refuse (
      message, SOUP_STATUS_UNAUTHORIZED,
      web_reason_new (result == WEB_AUTH_WRONG ? WEB_REASON_TOKEN_WRONG : WEB_REASON_TOKEN_NEEDED,
                      NULL));
}

static void
set_cookie (WebServer *self, SoupServerMessage *message, const gchar *value, guint days)
{
  g_autofree gchar *cookie =
      g_strdup_printf (WEB_AUTH_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%u%s",
                       value, days * 24 * 3600, self->certificate ? "; Secure" : "");

  soup_message_headers_append (soup_server_message_get_response_headers (message), "Set-Cookie",
                               cookie);
}

void
web_http_log_in (const WebRequest *request)
{
  WebServer *self = request->server;
  g_autofree gchar *token = self->site->get_token (self->app);
  g_autoptr (JsonObject) object = web_http_get_object (request);
  g_autofree gchar *session = NULL;
  const gchar *given;
  WebAuthResult result;

  if (!object)
    return;
  given = json_object_has_member (object, "token")
              ? json_node_get_string (json_object_get_member (object, "token"))
              : NULL;
  if (!token) {
    web_http_refuse (request->message, SOUP_STATUS_NOT_FOUND,
                     web_reason_new (WEB_REASON_TOKEN_UNSET, NULL));
    return;
  }
  if (!given) {
    web_http_error (request->message, SOUP_STATUS_BAD_REQUEST, "expected {\"token\": \"…\"}");
    return;
  }
  result = web_auth_log_in (self->auth, token, given, get_address (request->message),
                            g_get_monotonic_time (), &session);
  if (result != WEB_AUTH_OK) {
    refuse (request->message, result);
    return;
  }
  web_client_trust (get_client (request->message));
  set_cookie (self, request->message, session, WEB_AUTH_SESSION_DAYS);
  web_http_json (request->message, SOUP_STATUS_OK, g_strdup ("{}"));
}

void
web_http_log_out (const WebRequest *request)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (request->message);

  web_auth_log_out (request->server->auth, soup_message_headers_get_list (headers, "Cookie"));
  set_cookie (request->server, request->message, "", 0);
  web_http_json (request->message, SOUP_STATUS_OK, g_strdup ("{}"));
}

/* Answers with an error unless the query has only what the route knows, as UTF-8. */
static gboolean
check_query (SoupServerMessage *message, const WebRoute *route, GHashTable *query)
{
  g_auto (GStrv) known = g_strsplit (route->query ? route->query : "", " ", -1);
  GHashTableIter iter;
  gpointer name, value;

  if (!query)
    return TRUE;
  g_hash_table_iter_init (&iter, query);
  while (g_hash_table_iter_next (&iter, &name, &value)) {
    if (!g_utf8_validate (name, -1, NULL) || !g_utf8_validate (value, -1, NULL)) {
      web_http_error (message, SOUP_STATUS_BAD_REQUEST, "the query is not UTF-8");
      return FALSE;
    }
    if (!g_strv_contains ((const gchar *const *) known, name)) {
      web_http_error (message, SOUP_STATUS_BAD_REQUEST, "unknown parameter %.64s; known: %s",
                      (gchar *) name, route->query ? route->query : "none");
      return FALSE;
    }
  }
  return TRUE;
}

/* Answers 405 with the methods that the path has. */
static void
refuse_method (const WebSite *site, SoupServerMessage *message, const gchar *path)
{
  const WebRoute *routes = site->routes;
  g_autoptr (GString) methods = g_string_new (NULL);

  for (guint i = 0; i < site->n_routes; i++) {
    g_autofree gchar *part = match (routes[i].path, path);

    if (part && (routes[i].handler != web_http_page || !methods->len))
      g_string_append_printf (methods, "%s%s", methods->len ? ", " : "", routes[i].method);
  }
  soup_message_headers_replace (soup_server_message_get_response_headers (message), "Allow",
                                methods->str);
  web_http_error (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "expected %s, not %.16s", methods->str,
                  soup_server_message_get_method (message));
}

/* Returns the route, or answers with an error and returns NULL. */
static const WebRoute *
check_request (WebServer *self, SoupServerMessage *message, gchar **name)
{
  g_autofree gchar *token = self->site->get_token (self->app);
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  const gchar *method = soup_server_message_get_method (message);
  GUri *uri = soup_server_message_get_uri (message);
  const gchar *path = g_uri_get_path (uri), *query = g_uri_get_query (uri);
  const gchar *host = soup_message_headers_get_one (headers, "Host");
  const gchar *origin = soup_message_headers_get_one (headers, "Origin");
  const gchar *site = soup_message_headers_get_one (headers, "Sec-Fetch-Site");
  const gchar *mode = soup_message_headers_get_one (headers, "Sec-Fetch-Mode");
  const gchar *authorization = soup_message_headers_get_one (headers, "Authorization");
  gboolean reads = g_str_equal (method, "GET") || g_str_equal (method, "HEAD");
  g_autofree gchar *session = NULL;
  const WebRoute *route;
  WebAuthResult result;
  guint status;

  if (strlen (path) + (query ? strlen (query) : 0) > MAX_TARGET) {
    web_http_error (message, SOUP_STATUS_REQUEST_URI_TOO_LONG, "more than %d bytes of address",
                    MAX_TARGET);
    return NULL;
  }
  /* With a token, a name made to resolve to this machine has no cookie. */
  if (self->local && !token && !web_auth_is_local_host (host)) {
    web_http_error (message, SOUP_STATUS_FORBIDDEN,
                    "only http://localhost is served without a token: set token-file");
    return NULL;
  }
  if (web_auth_is_foreign (site, mode, origin, host, reads)) {
    web_http_error (message, SOUP_STATUS_FORBIDDEN, "requests of other sites are refused");
    return NULL;
  }
  route = find_route (self->site, method, path, name, &status);
  if (!reads && !authorization && !(route && route->flags & WEB_ROUTE_SOAP) &&
      !soup_message_headers_get_one (headers, CSRF_HEADER)) {
    web_http_error (message, SOUP_STATUS_FORBIDDEN, "the header " CSRF_HEADER ": 1 is needed");
    return NULL;
  }
  if (!token)
    web_client_trust (get_client (message));
  if (token && !(route && route->flags & WEB_ROUTE_OPEN)) {
    result = web_auth_check (self->auth, token, authorization,
                             soup_message_headers_get_list (headers, "Cookie"),
                             get_address (message), g_get_monotonic_time (), &session);
    if (result != WEB_AUTH_OK) {
      refuse (message, result);
      return NULL;
    }
    web_client_trust (get_client (message));
    if (session)
      set_cookie (self, message, session, WEB_AUTH_SESSION_DAYS);
  }
  if (!route && status == SOUP_STATUS_METHOD_NOT_ALLOWED)
    refuse_method (self->site, message, path);
  else if (!route)
    web_http_error (message, status, "there is no such page");
  return route;
}

static void
on_chunk (SoupServerMessage *message, GBytes *chunk, gpointer user_data)
{
  goffset *left = user_data;

  *left -= g_bytes_get_size (chunk);
  if (*left < 0)
    web_http_abort (message);
}

/* Clients write before they read: drain a refused body, if it is small. */
static void
skip_body (SoupServerMessage *message)
{
  goffset *left = g_new (goffset, 1);

  *left = 4 * MAX_BODY;
  soup_message_body_set_accumulate (soup_server_message_get_request_body (message), FALSE);
  g_signal_connect_data (message, "got-chunk", G_CALLBACK (on_chunk), left,
                         (GClosureNotify) (void (*) (void)) g_free, 0);
}

static void
on_headers (SoupServer *soup, SoupServerMessage *message, const gchar *path, GHashTable *query,
            gpointer user_data)
{
  static const gchar *const always[][2] = {
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
      "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
      "frame-ancestors 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "X-Frame-Options", "DENY" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cache-Control", "no-store" },
    /* SoupServer keeps only connections of its own listeners. A client that is not told may send
     * its next request to a closed connection. */
    { "Connection", "close" },
  };
  WebServer *self = user_data;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  SoupEncoding encoding = soup_message_headers_get_encoding (headers);
  g_autofree gchar *name = NULL;
  const WebRoute *route;

  for (guint i = 0; i < G_N_ELEMENTS (always); i++)
    soup_message_headers_replace (soup_server_message_get_response_headers (message), always[i][0],
                                  always[i][1]);
  g_object_set_data (G_OBJECT (message), "soup", soup);
  self->stats.answers++;
  web_client_begin_body (get_client (message));
  g_signal_connect (message, "got-body", G_CALLBACK (on_body), NULL);
  route = check_request (self, message, &name);
  if (encoding == SOUP_ENCODING_NONE || (encoding == SOUP_ENCODING_CONTENT_LENGTH &&
                                         soup_message_headers_get_content_length (headers) == 0))
    return;
  if (route && !(route->flags & WEB_ROUTE_BODY))
    web_http_error (message, SOUP_STATUS_BAD_REQUEST, "no body is expected here");
  else if (route && encoding != SOUP_ENCODING_CONTENT_LENGTH)
    web_http_error (message, SOUP_STATUS_LENGTH_REQUIRED, "the header Content-Length is needed");
  else if (route && soup_message_headers_get_content_length (headers) > MAX_BODY)
    web_http_error (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "a body has at most %d bytes",
                    MAX_BODY);
  if (soup_server_message_get_status (message))
    skip_body (message);
}

static void
on_request (SoupServer *soup, SoupServerMessage *message, const gchar *path, GHashTable *query,
            gpointer user_data)
{
  WebServer *self = user_data;
  g_autofree gchar *name = NULL;
  const WebRoute *route;
  guint status;

  route = find_route (self->site, soup_server_message_get_method (message),
                      g_uri_get_path (soup_server_message_get_uri (message)), &name, &status);
  g_return_if_fail (route);
  if (check_query (message, route, query))
    route->handler (&(WebRequest){ self, self->app, message, query, name });
}

/* --- Connections --- */

static void
on_secured (GIOStream *tls, GSocketAddress *local, GSocketAddress *remote, gpointer user_data)
{
  soup_server_accept_iostream (((WebServer *) user_data)->soup, tls, local, remote, NULL);
}

gboolean
web_server_accept (WebServer *self, GIOStream *stream, GSocketAddress *local,
                   GSocketAddress *remote)
{
  GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS (remote);
  GInetAddress *address = g_inet_socket_address_get_address (inet);
  g_autoptr (GSocketAddress) own =
      g_inet_socket_address_new (address, g_inet_socket_address_get_port (inet));
  WebClient *client = web_clients_add (self->clients, stream, address);

  if (!client) {
    self->stats.refused++;
    return FALSE;
  }
  /* Messages do not give their stream, but this object, of which each connection has its own. */
  g_object_set_data_full (G_OBJECT (own), CLIENT, client, web_client_unref);
  if (!self->certificate)
    return soup_server_accept_iostream (self->soup, stream, local, own, NULL);
  web_handshakes_add (self->handshakes, stream, web_certificate_get (self->certificate), client,
                      local, own);
  return TRUE;
}

static gboolean
on_incoming (GSocketService *service, GSocketConnection *connection, GObject *source,
             gpointer user_data)
{
  g_autoptr (GSocketAddress) local = g_socket_connection_get_local_address (connection, NULL);
  g_autoptr (GSocketAddress) remote = g_socket_connection_get_remote_address (connection, NULL);

  g_socket_set_timeout (g_socket_connection_get_socket (connection), SOCKET_TIMEOUT);
  if (local && remote)
    web_server_accept (user_data, G_IO_STREAM (connection), local, remote);
  return TRUE;
}

/* Resolves no name but `localhost`: any other may have several addresses. */
static GSocketAddress *
parse_address (const gchar *listen, GError **error)
{
  g_autoptr (GSocketConnectable) address = g_network_address_parse (listen, 0, NULL);
  const gchar *name = NULL;
  g_autoptr (GInetAddress) inet = NULL;

  if (address) {
    name = g_network_address_get_hostname (G_NETWORK_ADDRESS (address));
    inet = g_inet_address_new_from_string (g_str_equal (name, "localhost") ? "127.0.0.1" : name);
  }
  if (inet)
    return g_inet_socket_address_new (inet,
                                      g_network_address_get_port (G_NETWORK_ADDRESS (address)));
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "listen=%s: expected ADDRESS:PORT, such as 127.0.0.1:8480, 0.0.0.0:8480 or "
               "[::]:8480",
               listen);
  return NULL;
}

static gboolean
start_listening (WebServer *self, const WebAddress *where, GError **error)
{
  g_autoptr (GSocketAddress) address = parse_address (where->listen, error), effective = NULL;
  g_autofree gchar *host = NULL, *token = self->site->get_token (self->app);
  GInetAddress *inet;

  if (!address)
    return FALSE;
  inet = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address));
  self->local = g_inet_address_get_is_loopback (inet);
  if (!self->local && !token) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                 "listen=%s: others could see the cameras. Set token-file in [server] to a file "
                 "with a long random text, or listen=127.0.0.1:8480",
                 where->listen);
    return FALSE;
  }
  if (where->certificate) {
    self->certificate = web_certificate_new (where->certificate, where->key, error);
    if (!self->certificate)
      return FALSE;
  }
  self->service = g_socket_service_new ();
  /* By default 10 connections may wait. Linux drops what comes beyond, and the client tries again
   * after one second, and after three. */
  g_socket_listener_set_backlog (G_SOCKET_LISTENER (self->service), BACKLOG);
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), address,
                                      G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &effective,
                                      error)) {
    g_prefix_error (error, "listen=%s: ", where->listen);
    return FALSE;
  }
  g_signal_connect (self->service, "incoming", G_CALLBACK (on_incoming), self);
  host = g_inet_address_get_is_any (inet) ? g_strdup (g_get_host_name ())
                                          : g_inet_address_to_string (inet);
  self->uri = g_uri_join (G_URI_FLAGS_NONE, self->certificate ? "https" : "http", NULL, host,
                          g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (effective)), "/",
                          NULL, NULL);
  return TRUE;
}

WebServer *
web_server_new (const WebSite *site, gpointer app, const WebAddress *address, GError **error)
{
  WebServer *self = g_new0 (WebServer, 1);

  self->site = site;
  self->app = app;
  self->clients = web_clients_new ();
  self->handshakes = web_handshakes_new (on_secured, self);
  self->unfinished = g_hash_table_new (NULL, NULL);
  self->auth = web_auth_new ();
  self->pools = g_hash_table_new_full (NULL, NULL, NULL, end_pool);
  self->soup = soup_server_new (NULL, NULL);
  soup_server_add_early_handler (self->soup, NULL, on_headers, self, NULL);
  soup_server_add_handler (self->soup, NULL, on_request, self, NULL);
  if (start_listening (self, address, error))
    return self;
  web_server_free (self);
  return NULL;
}

void
web_server_free (WebServer *self)
{
  GHashTableIter iter;
  gpointer data;

  if (self->service) {
    g_socket_service_stop (self->service);
    g_socket_listener_close (G_SOCKET_LISTENER (self->service));
    g_object_unref (self->service);
  }
  /* SoupServer finishes messages later, or not at all. */
  g_hash_table_iter_init (&iter, self->unfinished);
  while (g_hash_table_iter_next (&iter, &data, NULL)) {
    web_http_finish (self, data);
    g_hash_table_iter_init (&iter, self->unfinished);
  }
  g_hash_table_unref (self->unfinished);
  g_hash_table_unref (self->pools);
  soup_server_disconnect (self->soup);
  g_object_unref (self->soup);
  web_handshakes_free (self->handshakes);
  web_clients_free (self->clients);
  web_auth_free (self->auth);
  g_clear_pointer (&self->certificate, web_certificate_free);
  if (self->free_state)
    self->free_state (self->state);
  g_free (self->uri);
  g_free (self);
}

void
web_server_set_state (WebServer *self, gpointer state, GDestroyNotify destroy)
{
  self->state = state;
  self->free_state = destroy;
}

gpointer
web_server_get_state (WebServer *self)
{
  return self->state;
}

const gchar *
web_server_get_uri (WebServer *self)
{
  return self->uri;
}

void
web_server_set_deadlines (WebServer *self, const WebDeadlines *deadlines)
{
  web_clients_set_deadlines (self->clients, deadlines);
}

WebServerStats *
web_server_get_stats (WebServer *self)
{
  self->stats.connections = web_clients_count (self->clients);
  return &self->stats;
}
