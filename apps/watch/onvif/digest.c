/* cudaccl-watch - HTTP digest authentication
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/onvif/digest.h"

#include <libsoup/soup.h>
#include <string.h>

#include "apps/web/auth.h"

#define KEY 32        /* bytes */
#define NONCE_TEXT 32 /* hexadecimal digits of time and random number, before the signature */
#define SIGNATURE 32  /* hexadecimal digits: half of SHA-256 */
#define WINDOW 64 /* counts below the highest that may still come: requests overtake each other */

typedef struct
{
  const gchar *name;
  GChecksumType type;
} Algorithm;

/* Python's urllib, libsoup and older .NET look at the first challenge only, and know MD5; others
 * choose SHA-256 wherever it stands. */
static const Algorithm algorithms[] = {
  { "MD5", G_CHECKSUM_MD5 },
  { "SHA-256", G_CHECKSUM_SHA256 },
};

/* A nonce in use. */
typedef struct
{
  gint64 made;
  guint32 highest; /* count */
  guint64 used;    /* bit i: @highest - i was used */
} Nonce;

struct _WatchDigest
{
  gchar *realm;
  guint8 key[KEY];
  GHashTable *nonces; /* text of the nonce to Nonce */
  gint64 floor;       /* nonces made until then are stale */
};

WatchDigest *
watch_digest_new (const gchar *realm)
{
  WatchDigest *self = g_new0 (WatchDigest, 1);

  self->realm = g_strdup (realm);
  web_auth_get_random (self->key, sizeof self->key);
  self->nonces = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
watch_digest_free (WatchDigest *self)
{
  g_hash_table_unref (self->nonces);
  g_free (self->realm);
  g_free (self);
}

void
watch_digest_claim_clear (WatchDigestClaim *claim)
{
  g_clear_pointer (&claim->right, g_free);
  g_clear_pointer (&claim->given, g_free);
  g_clear_pointer (&claim->nonce, g_free);
}

/* --- Nonces --- */

static gchar *
sign (const WatchDigest *self, const gchar *text)
{
  gchar *signature = g_compute_hmac_for_data (G_CHECKSUM_SHA256, self->key, sizeof self->key,
                                              (const guchar *) text, NONCE_TEXT);

  signature[SIGNATURE] = '\0';
  return signature;
}

static gchar *
make_nonce (const WatchDigest *self, gint64 now)
{
  g_autofree gchar *text = NULL, *signature = NULL;
  guint64 random;

  web_auth_get_random (&random, sizeof random);
  text = g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", (guint64) now,
                          random);
  signature = sign (self, text);
  return g_strconcat (text, signature, NULL);
}

/* Returns when we made @nonce, or -1 if we did not. */
static gint64
get_time (const WatchDigest *self, const gchar *nonce)
{
  g_autofree gchar *signature = NULL, *time = NULL;

  if (strlen (nonce) != NONCE_TEXT + SIGNATURE)
    return -1;
  signature = sign (self, nonce);
  if (!web_auth_equal (signature, nonce + NONCE_TEXT, SIGNATURE))
    return -1;
  time = g_strndup (nonce, 16);
  return (gint64) g_ascii_strtoull (time, NULL, 16);
}

static gboolean
is_over (const WatchDigest *self, gint64 made, gint64 now)
{
  return made < 0 || made > now || made <= self->floor || now - made >= WATCH_DIGEST_LIFETIME;
}

static gboolean
is_used (const WatchDigest *self, const WatchDigestClaim *claim)
{
  const Nonce *nonce = g_hash_table_lookup (self->nonces, claim->nonce);
  guint32 age;

  if (!nonce || (claim->count && claim->count > nonce->highest))
    return FALSE;
  age = nonce->highest - claim->count;
  return claim->count == 0 || age >= WINDOW || nonce->used & (G_GUINT64_CONSTANT (1) << age);
}

static gboolean
is_below (gpointer key, gpointer value, gpointer floor)
{
  return ((const Nonce *) value)->made <= *(const gint64 *) floor;
}

/* Makes room for a nonce. Raises the floor, so that those it forgets stay stale. */
static void
forget (WatchDigest *self, gint64 now)
{
  gint64 floor = MAX (self->floor, now - WATCH_DIGEST_LIFETIME);

  while (g_hash_table_size (self->nonces) >= WATCH_DIGEST_MAX_NONCES) {
    g_hash_table_foreach_remove (self->nonces, is_below, &floor);
    self->floor = floor;
    floor += (now - floor + 1) / 2;
  }
}

void
watch_digest_use (WatchDigest *self, const WatchDigestClaim *claim, gint64 now)
{
  Nonce *nonce = g_hash_table_lookup (self->nonces, claim->nonce);

  if (!nonce) {
    forget (self, now);
    nonce = g_new0 (Nonce, 1);
    nonce->made = get_time (self, claim->nonce);
    g_hash_table_insert (self->nonces, g_strdup (claim->nonce), nonce);
  }
  if (!claim->count) {
    nonce->highest = G_MAXUINT32;
    nonce->used = G_MAXUINT64;
  } else if (claim->count > nonce->highest) {
    const guint32 step = claim->count - nonce->highest;

    nonce->used = (step < WINDOW ? nonce->used << step : 0) | 1;
    nonce->highest = claim->count;
  } else {
    nonce->used |= G_GUINT64_CONSTANT (1) << (nonce->highest - claim->count);
  }
}

GStrv
watch_digest_make_challenges (WatchDigest *self, gboolean stale, gint64 now)
{
  g_autofree gchar *nonce = make_nonce (self, now);
  GStrv challenges = g_new0 (gchar *, G_N_ELEMENTS (algorithms) + 1);

  /* Older clients look for "auth" between commas, without spaces. */
  for (guint i = 0; i < G_N_ELEMENTS (algorithms); i++)
    challenges[i] =
        g_strdup_printf ("Digest realm=\"%s\", nonce=\"%s\", qop=\"auth,auth-int\", algorithm=%s%s",
                         self->realm, nonce, algorithms[i].name, stale ? ", stale=true" : "");
  return challenges;
}

/* --- Headers --- */

/* Returns the parameters, or NULL if they are malformed, or one is there twice. */
static GHashTable *
parse_header (const gchar *header)
{
  if (strlen (header) > WATCH_DIGEST_MAX_HEADER || g_ascii_strncasecmp (header, "Digest ", 7) != 0)
    return NULL;
  return soup_header_parse_param_list_strict (header + 7);
}

static const Algorithm *
find_algorithm (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (algorithms); i++)
    if (!name || !g_ascii_strcasecmp (name, algorithms[i].name))
      return &algorithms[i];
  return NULL;
}

/* Returns the count in @text, eight hexadecimal digits, or 0 if it is malformed or NULL. */
static guint32
parse_count (const gchar *text)
{
  if (!text || strlen (text) != 8 || strspn (text, "0123456789abcdefABCDEF") != 8)
    return 0;
  return (guint32) g_ascii_strtoull (text, NULL, 16);
}

/* Whether @uri is the request's. Its scheme and host do not matter: proxies change them, and the
 * nonce is ours. */
static gboolean
is_target (const gchar *uri, const WatchDigestRequest *request)
{
  g_autofree gchar *target = request->query ? g_strconcat (request->path, "?", request->query, NULL)
                                            : g_strdup (request->path);
  const gchar *authority = strstr (uri, "://");

  if (*uri != '/' && authority && g_str_has_prefix (uri, "http"))
    uri = strchr (authority + 3, '/');
  return uri && g_str_equal (uri, target);
}

static gchar *
hash (const Algorithm *algorithm, const gchar *first, ...)
{
  GChecksum *sum = g_checksum_new (algorithm->type);
  const gchar *separator = "";
  gchar *text;
  va_list parts;

  va_start (parts, first);
  for (const gchar *part = first; part; part = va_arg (parts, const gchar *)) {
    g_checksum_update (sum, (const guchar *) separator, -1);
    g_checksum_update (sum, (const guchar *) part, -1);
    separator = ":";
  }
  va_end (parts);
  text = g_strdup (g_checksum_get_string (sum));
  g_checksum_free (sum);
  return text;
}

/* The parameters of a header that is well formed. */
typedef struct
{
  const Algorithm *algorithm;
  const gchar *user, *uri, *response, *qop, *count, *cnonce; /* the last three may be NULL */
} Credentials;

static gchar *
make_response (const WatchDigest *self, const Credentials *credentials, const gchar *nonce,
               const WatchDigestRequest *request, const gchar *user, const gchar *password)
{
  const Algorithm *algorithm = credentials->algorithm;
  g_autofree gchar *first = hash (algorithm, user, self->realm, password, NULL);
  g_autofree gchar *body =
      g_strcmp0 (credentials->qop, "auth-int") == 0
          ? g_compute_checksum_for_data (algorithm->type, request->body, request->size)
          : NULL;
  g_autofree gchar *second = hash (algorithm, request->method, credentials->uri, body, NULL);

  return credentials->qop ? hash (algorithm, first, nonce, credentials->count, credentials->cnonce,
                                  credentials->qop, second, NULL)
                          : hash (algorithm, first, nonce, second, NULL);
}

/* Returns FALSE if something is missing, or is not what was offered. */
static gboolean
get_credentials (const WatchDigest *self, GHashTable *parameters, Credentials *credentials,
                 guint32 *count)
{
  const gchar *hashed = g_hash_table_lookup (parameters, "userhash");

  *credentials = (Credentials){
    .algorithm = find_algorithm (g_hash_table_lookup (parameters, "algorithm")),
    .user = g_hash_table_lookup (parameters, "username"),
    .uri = g_hash_table_lookup (parameters, "uri"),
    .response = g_hash_table_lookup (parameters, "response"),
    .qop = g_hash_table_lookup (parameters, "qop"),
    .count = g_hash_table_lookup (parameters, "nc"),
    .cnonce = g_hash_table_lookup (parameters, "cnonce"),
  };
  *count = parse_count (credentials->count);
  if (!credentials->algorithm || !credentials->user || !credentials->uri ||
      !credentials->response || !g_hash_table_lookup (parameters, "nonce") ||
      g_strcmp0 (g_hash_table_lookup (parameters, "realm"), self->realm) != 0 ||
      (hashed && g_ascii_strcasecmp (hashed, "false") != 0))
    return FALSE;
  if (!credentials->qop)
    return !credentials->count && !credentials->cnonce;
  return *count && credentials->cnonce && *credentials->cnonce &&
         (g_str_equal (credentials->qop, "auth") || g_str_equal (credentials->qop, "auth-int"));
}

WatchDigestResult
watch_digest_read (WatchDigest *self, const gchar *header, const WatchDigestRequest *request,
                   const gchar *user, const gchar *password, gint64 now, WatchDigestClaim *claim)
{
  GHashTable *parameters = parse_header (header);
  WatchDigestResult result = WATCH_DIGEST_INVALID;
  g_autofree gchar *response = NULL;
  Credentials credentials;

  *claim = (WatchDigestClaim){ NULL };
  if (!parameters)
    return result;
  if (get_credentials (self, parameters, &credentials, &claim->count) &&
      is_target (credentials.uri, request)) {
    claim->nonce = g_strdup (g_hash_table_lookup (parameters, "nonce"));
    result = WATCH_DIGEST_STALE;
    if (!is_over (self, get_time (self, claim->nonce), now) && !is_used (self, claim)) {
      response = make_response (self, &credentials, claim->nonce, request, user, password);
      claim->right = g_strconcat (user, "\n", response, NULL);
      claim->given = g_strconcat (credentials.user, "\n", credentials.response, NULL);
      result = WATCH_DIGEST_CLAIMED;
    }
  }
  soup_header_free_param_list (parameters);
  return result;
}
