/* cudaccl - access to the interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/auth.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define SESSION_TIME (WEB_AUTH_SESSION_DAYS * G_TIME_SPAN_DAY)
#define RENEW_TIME G_TIME_SPAN_DAY
#define DIGEST 32
#define TOKEN "token" /* name of the secret that opens sessions */

typedef struct
{
  guint8 id[DIGEST];    /* digest of the cookie's value */
  guint8 token[DIGEST]; /* digest of the token that opened it: another token ends it */
  gint64 expires;       /* 0: free */
  gint64 sent;          /* when the browser was given the cookie */
} Session;

struct _WebAuth
{
  Session sessions[WEB_AUTH_MAX_SESSIONS];
  WebFailures *failures;
};

WebAuth *
web_auth_new (void)
{
  WebAuth *self = g_new0 (WebAuth, 1);

  self->failures = web_failures_new ();
  return self;
}

void
web_auth_free (WebAuth *self)
{
  web_failures_free (self->failures);
  g_free (self);
}

static void
digest (const gchar *text, guint8 out[DIGEST])
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize size = DIGEST;

  g_checksum_update (checksum, (const guchar *) text, strlen (text));
  g_checksum_get_digest (checksum, out, &size);
}

gboolean
web_auth_equal (gconstpointer a, gconstpointer b, gsize size)
{
  volatile guint8 differ = 0;

  for (gsize i = 0; i < size; i++)
    differ |= ((const guint8 *) a)[i] ^ ((const guint8 *) b)[i];
  return differ == 0;
}

void
web_auth_get_random (gpointer bytes, gsize size)
{
  if (getrandom (bytes, size, 0) != (gssize) size)
    g_error ("getrandom: %s", g_strerror (errno));
}

WebAuthResult
web_auth_check_secret (WebAuth *self, const gchar *secret, const gchar *right, const gchar *given,
                       GInetAddress *address, gint64 now)
{
  guint8 expected[DIGEST], found[DIGEST];

  digest (right, expected);
  digest (given, found);
  return web_failures_count (self->failures, secret, web_auth_equal (expected, found, DIGEST),
                             address, now);
}

/* --- Sessions --- */

static gchar *
find_cookie (const gchar *cookies)
{
  g_auto (GStrv) items = g_strsplit (cookies ? cookies : "", ";", 64);

  for (gchar **item = items; *item; item++) {
    gchar *name = g_strstrip (*item);

    if (g_str_has_prefix (name, WEB_AUTH_COOKIE "="))
      return g_strdup (name + strlen (WEB_AUTH_COOKIE "="));
  }
  return NULL;
}

static Session *
find_session (WebAuth *self, const gchar *cookies)
{
  g_autofree gchar *value = find_cookie (cookies);
  Session *found = NULL;
  guint8 id[DIGEST];

  if (!value)
    return NULL;
  digest (value, id);
  for (guint i = 0; i < WEB_AUTH_MAX_SESSIONS; i++) {
    Session *session = &self->sessions[i];

    if (session->expires && web_auth_equal (session->id, id, DIGEST))
      found = session;
  }
  return found;
}

WebAuthResult
web_auth_check (WebAuth *self, const gchar *token, const gchar *authorization, const gchar *cookies,
                GInetAddress *address, gint64 now, gchar **renew)
{
  Session *session;
  guint8 right[DIGEST];

  if (authorization) {
    if (g_ascii_strncasecmp (authorization, "Bearer ", 7) != 0)
      return WEB_AUTH_NEEDED;
    return web_auth_check_secret (self, TOKEN, token, authorization + 7, address, now);
  }
  session = find_session (self, cookies);
  if (!session)
    return WEB_AUTH_NEEDED;
  digest (token, right);
  if (session->expires <= now || !web_auth_equal (session->token, right, DIGEST)) {
    session->expires = 0;
    return WEB_AUTH_NEEDED;
  }
  session->expires = now + SESSION_TIME;
  if (renew && now >= session->sent + RENEW_TIME) {
    session->sent = now;
    *renew = find_cookie (cookies);
  }
  return WEB_AUTH_OK;
}

WebAuthResult
web_auth_log_in (WebAuth *self, const gchar *token, const gchar *given, GInetAddress *address,
                 gint64 now, gchar **session)
{
  WebAuthResult result = web_auth_check_secret (self, TOKEN, token, given, address, now);
  Session *free_one = &self->sessions[0];
  guint8 random[DIGEST];
  GString *value;

  if (result != WEB_AUTH_OK)
    return result;
  web_auth_get_random (random, sizeof random);
  value = g_string_new (NULL);
  for (guint i = 0; i < sizeof random; i++)
    g_string_append_printf (value, "%02x", random[i]);

  /* A free session, or the one unused for longest. */
  for (guint i = 1; i < WEB_AUTH_MAX_SESSIONS; i++)
    if (self->sessions[i].expires < free_one->expires)
      free_one = &self->sessions[i];
  digest (value->str, free_one->id);
  digest (token, free_one->token);
  free_one->expires = now + SESSION_TIME;
  free_one->sent = now;
  *session = g_string_free (value, FALSE);
  return WEB_AUTH_OK;
}

void
web_auth_log_out (WebAuth *self, const gchar *cookies)
{
  Session *session = find_session (self, cookies);

  if (session)
    session->expires = 0;
}

/* --- Other sites --- */

gboolean
web_auth_is_local_host (const gchar *host)
{
  g_autoptr (GSocketConnectable) address = NULL;
  g_autoptr (GInetAddress) inet = NULL;
  const gchar *name;

  if (!host || strpbrk (host, "/@ \t"))
    return FALSE;
  address = g_network_address_parse (host, 80, NULL);
  if (!address)
    return FALSE;
  name = g_network_address_get_hostname (G_NETWORK_ADDRESS (address));
  inet = g_inet_address_new_from_string (name);
  return inet ? g_inet_address_get_is_loopback (inet) : !g_ascii_strcasecmp (name, "localhost");
}

gboolean
web_auth_is_foreign (const gchar *fetch_site, const gchar *fetch_mode, const gchar *origin,
                     const gchar *host, gboolean navigates)
{
  const gchar *origin_host;

  if (fetch_site) {
    if (g_str_equal (fetch_site, "same-origin") || g_str_equal (fetch_site, "none"))
      return FALSE;
    return !navigates || g_strcmp0 (fetch_mode, "navigate") != 0;
  }
  if (!origin)
    return FALSE;
  origin_host = strstr (origin, "://");
  return !origin_host || !host || g_ascii_strcasecmp (origin_host + 3, host) != 0;
}
