/* cudaccl - handshakes of TLS, a few at a time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_HANDSHAKES_H__
#define __WEB_HANDSHAKES_H__

#include "apps/web/clients.h"

G_BEGIN_DECLS

/* GIO blocks a thread of its pool for each handshake, so few may run at a time. Those that stall
 * give way to others. Main thread only. */
typedef struct _WebHandshakes WebHandshakes;

/* Takes a connection that is ready for requests. */
typedef void (*WebSecured) (GIOStream *tls, GSocketAddress *local, GSocketAddress *remote,
                            gpointer user_data);

WebHandshakes *web_handshakes_new (WebSecured secured, gpointer user_data);
/* Ends all handshakes. */
void web_handshakes_free (WebHandshakes *self);

/* Borrows @client: @remote must hold a reference to it. */
void web_handshakes_add (WebHandshakes *self, GIOStream *stream, GTlsCertificate *certificate,
                         WebClient *client, GSocketAddress *local, GSocketAddress *remote);

G_END_DECLS

#endif /* __WEB_HANDSHAKES_H__ */
