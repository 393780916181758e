/* cudaccl - open connections of clients, with deadlines
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_CLIENTS_H__
#define __WEB_CLIENTS_H__

#include <gio/gio.h>

G_BEGIN_DECLS

/* Once all places are taken, the oldest connection that has not shown the right token gives way.
 * Main thread only. */
typedef struct _WebClients WebClients;

/* A connection. It may outlive its stream; its functions then do nothing. */
typedef struct _WebClient WebClient;

/* Milliseconds, rounded up to whole seconds. Slow bytes do not extend them. */
typedef struct
{
  guint headers; /* from the connection to the end of the headers, TLS included */
  guint body;    /* from there to the end of the body */
} WebDeadlines;

WebClients *web_clients_new (void);
void web_clients_free (WebClients *self);

void web_clients_set_deadlines (WebClients *self, const WebDeadlines *deadlines);

/* Adds a connection until @stream is finalized, and returns a new reference. If there is no
 * place, shuts down the oldest one that may give way, or returns NULL if none may. */
WebClient *web_clients_add (WebClients *self, GIOStream *stream, GInetAddress *address);

guint web_clients_count (WebClients *self);

void web_client_unref (gpointer self);

const gchar *web_client_get_network (WebClient *self);
/* Whether it has been shut down. */
gboolean web_client_has_ended (WebClient *self);

/* --- The state of a connection --- */

void web_client_begin_body (WebClient *self);   /* the headers of a request have come */
void web_client_begin_answer (WebClient *self); /* its body, too: no deadline */

/* The client has shown the right token, or none is needed. */
void web_client_trust (WebClient *self);

G_END_DECLS

#endif /* __WEB_CLIENTS_H__ */
