/* cudaccl-watch - what the parts of the server share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_HTTP_H__
#define __WATCH_HTTP_H__

#include "apps/web/auth.h"
#include "apps/web/json.h"
#include "apps/web/server.h"
#include "apps/watch/http/synopsis-job.h"

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* A request that passed all checks. */
typedef struct
{
  WatchServer *server;
  union
  {
    gpointer app; /* the program */
    Watch *watch; /* it, if it is cudaccl-watch */
  };
  SoupServerMessage *message;
  GHashTable *query; /* names that the route knows, UTF-8; or NULL */
  gchar *name;       /* what stands for {…} in the path, decoded; or NULL */
} WatchRequest;

typedef void (*WatchHandler) (const WatchRequest *request);

/* What is not behind the token. */
typedef enum
{
  WATCH_ROUTE_OPEN = 1 << 0,
  WATCH_ROUTE_BODY = 1 << 1,   /* takes a body of JSON */
  WATCH_ROUTE_STREAM = 1 << 2, /* has no end: not for HEAD */
  WATCH_ROUTE_SOAP = 1 << 3,   /* authenticates clients itself, by the body */
} WatchRouteFlags;

typedef struct
{
  const gchar *method;
  const gchar *path;  /* {…} stands for a part of it; {file} for the rest */
  const gchar *query; /* names of the parameters, separated by spaces, or NULL */
  WatchRouteFlags flags;
  WatchHandler handler;
} WatchRoute;

/* What a server serves. */
typedef struct
{
  const WatchRoute *routes;
  guint n_routes;
  const gchar *pages; /* folder of the files among the resources, with a slash at its end */
  /* Returns a new reference. */
  WatchSettings *(*get_settings) (gpointer app);
} WatchSite;

/* @site must stay valid. */
WatchServer *watch_server_new_for (const WatchSite *site, gpointer app, GError **error);

/* What a program keeps for its handlers until the server is freed. */
void watch_server_set_state (WatchServer *self, gpointer state, GDestroyNotify destroy);
gpointer watch_server_get_state (WatchServer *self);

/* The routes of cudaccl-watch, and its state. */
const WatchRoute *watch_http_get_routes (guint *n);
WatchSynopsisJob *watch_server_get_synopsis (WatchServer *self);

/* Takes a connection as if it had been accepted: for tests. */
gboolean watch_server_accept (WatchServer *self, GIOStream *stream, GSocketAddress *local,
                              GSocketAddress *remote);

/* --- Answers --- */

void watch_http_bytes (SoupServerMessage *message, guint status, const gchar *type, GBytes *body);
/* {"error": "…"}; the text is made valid UTF-8. */
void watch_http_error (SoupServerMessage *message, guint status, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Takes @text. */
void watch_http_json (SoupServerMessage *message, guint status, gchar *text);

/* An answer that a thread makes; @status 0 and @error give 400 with its message. */
typedef struct
{
  guint status;
  const gchar *type;
  GBytes *body;
  GError *error;
} WatchAnswer;

typedef void (*WatchWork) (WatchAnswer *answer, gpointer data, GCancellable *cancellable);

/* Runs @work in a thread, and answers with what it made. @slow: it waits for the network. Answers
 * 503 if too many wait. */
void watch_http_run (const WatchRequest *request, gboolean slow, WatchWork work, gpointer data,
                     GDestroyNotify destroy);

/* Returns the body as an object, or answers 400 and returns NULL. */
JsonObject *watch_http_get_object (const WatchRequest *request);

/* soup_server_message_pause() and _unpause(), which libsoup 3.0 has under other names. */
void watch_http_pause (SoupServerMessage *message);
void watch_http_unpause (SoupServerMessage *message);

/* Calls @finished once: when the message is finished or the client is gone, or when the server is
 * freed. Then @data must not be used any more. */
typedef void (*WatchFinished) (SoupServerMessage *message, gpointer data);
void watch_http_on_finished (WatchServer *self, SoupServerMessage *message, WatchFinished finished,
                             gpointer data);
/* Does so now. */
void watch_http_finish (WatchServer *self, gpointer data);

/* Ends the connection in the middle of an answer. */
void watch_http_abort (SoupServerMessage *message);

/* As watch_auth_check_secret(), for ONVIF's password and the client's address. */
WatchAuthResult watch_http_check_secret (const WatchRequest *request, const gchar *right,
                                         const gchar *given);

const gchar *watch_http_get (const WatchRequest *request, const gchar *name);

/* Answers with the file or the range of it that is asked for; 404 if there is none. Browsers save
 * it as @name, if that is not NULL. */
void watch_live_send_file (const WatchRequest *request, const gchar *path, const gchar *type,
                           const gchar *name);

/* --- Handlers, those that all programs have first --- */

void watch_http_page (const WatchRequest *request);
void watch_http_health (const WatchRequest *request);
void watch_http_log_in (const WatchRequest *request);
void watch_http_log_out (const WatchRequest *request);

void watch_api_cameras (const WatchRequest *request);
void watch_api_add_camera (const WatchRequest *request);
void watch_api_change_camera (const WatchRequest *request);
void watch_api_remove_camera (const WatchRequest *request);
void watch_api_status (const WatchRequest *request);
void watch_api_events (const WatchRequest *request);
void watch_api_tracks (const WatchRequest *request);
void watch_api_minutes (const WatchRequest *request);
void watch_api_discover (const WatchRequest *request);
void watch_api_try (const WatchRequest *request);
void watch_live_camera (const WatchRequest *request);
void watch_live_cameras (const WatchRequest *request);
void watch_live_snapshot (const WatchRequest *request);
void watch_live_events (const WatchRequest *request);
void watch_live_media (const WatchRequest *request);
void watch_synopsis_start (const WatchRequest *request);
void watch_synopsis_get (const WatchRequest *request);
void watch_synopsis_cancel (const WatchRequest *request);
void watch_synopsis_video (const WatchRequest *request);
void watch_metrics (const WatchRequest *request);

/* --- What others show --- */

typedef struct
{
  guint connections;
  guint streams;        /* pictures and events */
  guint64 answers;      /* since the start */
  guint64 refused;      /* connections and streams, because there were too many */
  guint64 rtsp_refused; /* the same of ONVIF's stream */
} WatchServerStats;

WatchServerStats *watch_server_get_stats (WatchServer *self);

G_END_DECLS

#endif /* __WATCH_HTTP_H__ */
