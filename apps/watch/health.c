/* cudaccl-watch - asks a running program whether it is well
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/health.h"

#include <libsoup/soup.h>
#include <string.h>

#include "apps/watch/settings/settings.h"

#define TIMEOUT 5 /* seconds */

/* The certificate names the machine for others. Nothing secret is sent. */
static gboolean
on_certificate (SoupMessage *message, GTlsCertificate *certificate, GTlsCertificateFlags errors,
                gpointer user_data)
{
  return TRUE;
}

static gchar *
make_uri (const WatchSettings *settings)
{
  const gchar *colon = strrchr (settings->listen, ':');
  g_autofree gchar *host = g_strndup (settings->listen, (gsize) (colon - settings->listen));
  const gchar *name = host;

  /* The server listens on all addresses. */
  if (g_str_equal (host, "0.0.0.0"))
    name = "127.0.0.1";
  else if (g_str_equal (host, "[::]"))
    name = "[::1]";
  return g_strdup_printf ("%s://%s%s/readyz", settings->certificate ? "https" : "http", name,
                          colon);
}

gboolean
watch_health_check (const gchar *path, GError **error)
{
  g_autoptr (WatchSettings) settings = watch_settings_load (path, error);
  g_autoptr (SoupSession) session = NULL;
  g_autoptr (SoupMessage) message = NULL;
  g_autoptr (GBytes) answer = NULL;
  g_autofree gchar *uri = NULL;

  if (!settings)
    return FALSE;
  uri = make_uri (settings);
  session = soup_session_new_with_options ("timeout", TIMEOUT, "proxy-resolver", NULL, NULL);
  message = soup_message_new (SOUP_METHOD_GET, uri);
  g_signal_connect (message, "accept-certificate", G_CALLBACK (on_certificate), NULL);
  answer = soup_session_send_and_read (session, message, NULL, error);
  if (!answer) {
    g_prefix_error (error, "%s: ", uri);
    return FALSE;
  }
  if (soup_message_get_status (message) != SOUP_STATUS_OK) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %u %.*s", uri,
                 soup_message_get_status (message), (int) MIN (g_bytes_get_size (answer), 200),
                 (const gchar *) g_bytes_get_data (answer, NULL));
    return FALSE;
  }
  return TRUE;
}
