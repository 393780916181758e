/* cudaccl - a server of a page and its interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_SERVER_H__
#define __WEB_SERVER_H__

#include "apps/web/auth.h"
#include "apps/web/clients.h"
#include "apps/web/http.h"

G_BEGIN_DECLS

typedef void (*WebHandler) (const WebRequest *request);

typedef enum
{
  WEB_ROUTE_OPEN = 1 << 0,   /* needs no token */
  WEB_ROUTE_BODY = 1 << 1,   /* takes a body of JSON */
  WEB_ROUTE_STREAM = 1 << 2, /* has no end: not for HEAD */
  WEB_ROUTE_SOAP = 1 << 3,   /* authenticates clients itself, by the body */
} WebRouteFlags;

typedef struct
{
  const gchar *method;
  const gchar *path;  /* {…} stands for a part of it; {file} for the rest */
  const gchar *query; /* known parameters, separated by spaces; or NULL */
  WebRouteFlags flags;
  WebHandler handler;
} WebRoute;

typedef struct
{
  const WebRoute *routes;
  guint n_routes;
  const gchar *pages; /* resource folder of the files, with a trailing slash */
  /* Returns the present token, or NULL if none is set; free it. */
  gchar *(*get_token) (gpointer app);
} WebSite;

typedef struct
{
  const gchar *listen;            /* ADDRESS:PORT */
  const gchar *certificate, *key; /* PEM files, both or neither */
} WebAddress;

/* @site must stay valid. Without a token, only loopback addresses are served. */
WebServer *web_server_new (const WebSite *site, gpointer app, const WebAddress *address,
                           GError **error);
void web_server_free (WebServer *self);

/* The address of the page, such as http://127.0.0.1:8480/. */
const gchar *web_server_get_uri (WebServer *self);

/* Data of the program for its handlers, kept until the server is freed. */
void web_server_set_state (WebServer *self, gpointer state, GDestroyNotify destroy);
gpointer web_server_get_state (WebServer *self);

typedef struct
{
  guint connections;
  guint streams;   /* open streams, counted by their handlers */
  guint64 answers; /* since the start */
  guint64 refused; /* connections and streams without a place */
} WebServerStats;

WebServerStats *web_server_get_stats (WebServer *self);

/* Sets other deadlines: for tests. */
void web_server_set_deadlines (WebServer *self, const WebDeadlines *deadlines);

/* Takes a connection as if it had been accepted: for tests. */
gboolean web_server_accept (WebServer *self, GIOStream *stream, GSocketAddress *local,
                            GSocketAddress *remote);

/* --- For handlers --- */

/* An answer made in a thread. @status 0 with @error is sent as 400 with its message. */
typedef struct
{
  guint status;
  const gchar *type;
  GBytes *body;
  GError *error;
} WebAnswer;

typedef void (*WebWork) (WebAnswer *answer, gpointer data, GCancellable *cancellable);

/* Runs @work in a thread, and sends its answer. Each function has two threads of its own. Answers
 * 503 if too many wait for these. */
void web_http_run (const WebRequest *request, WebWork work, gpointer data, GDestroyNotify destroy);

/* Calls @finished once: when the message is finished or the client is gone, or when the server is
 * freed. Then @data must not be used any more. */
typedef void (*WebFinished) (SoupServerMessage *message, gpointer data);
void web_http_on_finished (WebServer *self, SoupServerMessage *message, WebFinished finished,
                           gpointer data);
/* Calls it now. */
void web_http_finish (WebServer *self, gpointer data);

/* As web_auth_check_secret(), with the client's address. */
WebAuthResult web_http_check_secret (const WebRequest *request, const gchar *secret,
                                     const gchar *right, const gchar *given);

/* --- Handlers that all programs have --- */

void web_http_page (const WebRequest *request);
void web_http_health (const WebRequest *request);
void web_http_log_in (const WebRequest *request);
void web_http_log_out (const WebRequest *request);

G_END_DECLS

#endif /* __WEB_SERVER_H__ */
