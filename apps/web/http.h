/* cudaccl - requests and answers over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_HTTP_H__
#define __WEB_HTTP_H__

#include <json-glib/json-glib.h>
#include <libsoup/soup.h>

#include "apps/web/reason.h"

G_BEGIN_DECLS

typedef struct _WebServer WebServer;

/* A request that passed all checks. */
typedef struct
{
  WebServer *server;
  gpointer app; /* the program, as given to web_server_new() */
  SoupServerMessage *message;
  GHashTable *query; /* parameters that the route knows, UTF-8; or NULL */
  gchar *name;       /* the part of the path that {…} stands for, decoded; or NULL */
} WebRequest;

/* Returns the parameter, or NULL if it is missing or empty. */
const gchar *web_http_get (const WebRequest *request, const gchar *name);

/* Returns the body as an object, or answers 400 and returns NULL. */
JsonObject *web_http_get_object (const WebRequest *request);

void web_http_bytes (SoupServerMessage *message, guint status, const gchar *type, GBytes *body);
/* {"error": "…"}; the text is made valid UTF-8. */
void web_http_error (SoupServerMessage *message, guint status, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);
/* The same with the reason beside its text, for errors that the page shows. Takes @reason. */
void web_http_refuse (SoupServerMessage *message, guint status, WebReason *reason);
/* The same for @error, whether it carries a reason or not. */
void web_http_fail (SoupServerMessage *message, guint status, const GError *error);
/* Answers 400: the value of @name is wrong, @expected describes a right one. Returns FALSE. */
gboolean web_http_refuse_value (const WebRequest *request, const gchar *name,
                                const gchar *expected);
/* Takes @text. */
void web_http_json (SoupServerMessage *message, guint status, gchar *text);

/* soup_server_message_pause() and _unpause(), which libsoup 3.0 has under other names. */
void web_http_pause (SoupServerMessage *message);
void web_http_unpause (SoupServerMessage *message);

/* Closes the connection in the middle of an answer. */
void web_http_abort (SoupServerMessage *message);

G_END_DECLS

#endif /* __WEB_HTTP_H__ */
