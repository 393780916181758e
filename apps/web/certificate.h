/* cudaccl - the certificate of a server, read again when it is renewed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_CERTIFICATE_H__
#define __WEB_CERTIFICATE_H__

#include <gio/gio.h>

G_BEGIN_DECLS

/* A certificate and its key. Belongs to one thread. */
typedef struct _WebCertificate WebCertificate;

/* Reads the PEM files. Fails if the key belongs to another certificate. */
WebCertificate *web_certificate_new (const gchar *certificate, const gchar *key, GError **error);
void web_certificate_free (WebCertificate *self);

/* Reads the files again if they have changed. If they cannot be used, warns and returns what was
 * read before. The certificate is borrowed until the next call. */
GTlsCertificate *web_certificate_get (WebCertificate *self);

/* As g_tls_server_connection_new(), but without a database: that would read all authorities of the
 * system for each connection, though clients send no certificates. In any thread. */
GTlsConnection *web_certificate_new_server (GIOStream *stream, GTlsCertificate *certificate,
                                            GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebCertificate, web_certificate_free)

G_END_DECLS

#endif /* __WEB_CERTIFICATE_H__ */
