/* cudaccl - the certificate of a server, read again when it is renewed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/certificate.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>

/* Identity of a file, links followed; all zero if it does not exist. */
typedef struct
{
  guint64 device, inode, size;
  gint64 seconds, nanoseconds;
} Stamp;

struct _WebCertificate
{
  gchar *paths[2]; /* of the certificate and the key */
  Stamp stamps[2]; /* from before the last read, also if it failed: bad files are read once */
  GTlsCertificate *certificate;
};

/* --- Whether certificate and key belong together --- */

typedef struct
{
  guint left;
  GCancellable *cancellable;
  GError *error;
} Handshake;

static void
on_handshake (GObject *connection, GAsyncResult *result, gpointer user_data)
{
  Handshake *self = user_data;
  g_autoptr (GError) error = NULL;

  self->left--;
  if (g_tls_connection_handshake_finish (G_TLS_CONNECTION (connection), result, &error))
    return;
  if (!self->error)
    self->error = g_steal_pointer (&error);
  g_cancellable_cancel (self->cancellable);
}

static GIOStream *
make_stream (gint fd)
{
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, NULL);

  g_assert (socket);
  return G_IO_STREAM (g_socket_connection_factory_create_connection (socket));
}

GTlsConnection *
web_certificate_new_server (GIOStream *stream, GTlsCertificate *certificate, GError **error)
{
  return g_initable_new (g_tls_backend_get_server_connection_type (g_tls_backend_get_default ()),
                         NULL, error, "base-io-stream", stream, "certificate", certificate,
                         "database", NULL, NULL);
}

static GTlsConnection *
new_client (GIOStream *stream, GError **error)
{
  return g_initable_new (g_tls_backend_get_client_connection_type (g_tls_backend_get_default ()),
                         NULL, error, "base-io-stream", stream, "database", NULL, NULL);
}

static gboolean
accept_any (GTlsConnection *client, GTlsCertificate *certificate, GTlsCertificateFlags errors,
            gpointer user_data)
{
  return TRUE;
}

/* GIO does not check whether the key belongs to the certificate. A handshake does: the client
 * verifies what the server has signed. */
static gboolean
check_pair (GTlsCertificate *certificate, GError **error)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GIOStream) server_stream = NULL, client_stream = NULL;
  g_autoptr (GTlsConnection) server = NULL, client = NULL;
  Handshake handshake = { 2, cancellable, NULL };
  gint ends[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "socketpair: %s",
                 g_strerror (errno));
    return FALSE;
  }
  g_main_context_push_thread_default (context);
  server_stream = make_stream (ends[0]);
  client_stream = make_stream (ends[1]);
  server = web_certificate_new_server (server_stream, certificate, error);
  client = new_client (client_stream, server ? error : NULL);
  if (server && client) {
    g_signal_connect (client, "accept-certificate", G_CALLBACK (accept_any), NULL);
    g_tls_connection_handshake_async (server, G_PRIORITY_DEFAULT, cancellable, on_handshake,
                                      &handshake);
    g_tls_connection_handshake_async (client, G_PRIORITY_DEFAULT, cancellable, on_handshake,
                                      &handshake);
    while (handshake.left)
      g_main_context_iteration (context, TRUE);
    if (handshake.error)
      g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
                   "the key is not that of the certificate (%s)", handshake.error->message);
  }
  g_main_context_pop_thread_default (context);
  if (!server || !client || handshake.error) {
    g_clear_error (&handshake.error);
    return FALSE;
  }
  return TRUE;
}

/* --- Files --- */

static Stamp
get_stamp (const gchar *path)
{
  GStatBuf state;
  Stamp stamp = { 0 };

  if (g_stat (path, &state) == 0)
    stamp = (Stamp){ state.st_dev, state.st_ino, (guint64) state.st_size, state.st_ctim.tv_sec,
                     state.st_ctim.tv_nsec };
  return stamp;
}

static gboolean
has_changed (WebCertificate *self)
{
  Stamp before[2];

  memcpy (before, self->stamps, sizeof before);
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    self->stamps[i] = get_stamp (self->paths[i]);
  return memcmp (before, self->stamps, sizeof before) != 0;
}

static gboolean
read_files (WebCertificate *self, GError **error)
{
  GTlsCertificate *certificate =
      g_tls_certificate_new_from_files (self->paths[0], self->paths[1], error);

  if (!certificate || !check_pair (certificate, error)) {
    g_prefix_error (error, "certificate=%s, key=%s: ", self->paths[0], self->paths[1]);
    g_clear_object (&certificate);
    return FALSE;
  }
  g_clear_object (&self->certificate);
  self->certificate = certificate;
  return TRUE;
}

WebCertificate *
web_certificate_new (const gchar *certificate, const gchar *key, GError **error)
{
  g_autoptr (WebCertificate) self = g_new0 (WebCertificate, 1);

  self->paths[0] = g_strdup (certificate);
  self->paths[1] = g_strdup (key);
  has_changed (self);
  return read_files (self, error) ? g_steal_pointer (&self) : NULL;
}

void
web_certificate_free (WebCertificate *self)
{
  g_free (self->paths[0]);
  g_free (self->paths[1]);
  g_clear_object (&self->certificate);
  g_free (self);
}

GTlsCertificate *
web_certificate_get (WebCertificate *self)
{
  g_autoptr (GError) error = NULL;

  if (!has_changed (self))
    return self->certificate;
  if (read_files (self, &error))
    g_message ("certificate=%s: read again", self->paths[0]);
  else
    g_warning ("%s; new connections still get the old certificate", error->message);
  return self->certificate;
}
