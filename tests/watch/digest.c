/* cudaccl-watch - tests of HTTP digest authentication
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "apps/watch/onvif/digest.h"

#define REALM "watch"
#define PATH "/onvif/device_service"
#define SECOND G_TIME_SPAN_SECOND

static const WatchDigestRequest get_time = { "POST", PATH, NULL, "GetTime", 7 };
static const WatchDigestRequest set_time = { "POST", PATH, NULL, "SetTime", 7 };

/* --- A client --- */

typedef struct
{
  GChecksumType type;
  const gchar *algorithm, *qop; /* parts of the header, or "" */
  const gchar *nonce, *count, *body, *password;
} Client;

static gchar *
hash (GChecksumType type, gchar *text)
{
  gchar *sum = g_compute_checksum_for_string (type, text, -1);

  g_free (text);
  return sum;
}

static gchar *
make_header (const Client *client)
{
  const gboolean binds = g_str_equal (client->qop, "auth-int");
  g_autofree gchar *body =
      binds ? g_compute_checksum_for_string (client->type, client->body, -1) : NULL;
  g_autofree gchar *first =
      hash (client->type, g_strdup_printf ("user:" REALM ":%s", client->password));
  g_autofree gchar *second =
      hash (client->type, g_strconcat ("POST:" PATH, binds ? ":" : "", body, NULL));
  g_autofree gchar *middle =
      *client->qop ? g_strdup_printf ("%s:c:%s:", client->count, client->qop) : g_strdup ("");
  g_autofree gchar *response =
      hash (client->type, g_strdup_printf ("%s:%s:%s%s", first, client->nonce, middle, second));
  g_autofree gchar *counted =
      *client->qop ? g_strdup_printf (", qop=%s, nc=%s, cnonce=\"c\"", client->qop, client->count)
                   : g_strdup ("");

  return g_strdup_printf ("Digest username=\"user\", realm=\"" REALM "\", nonce=\"%s\", uri=\"" PATH
                          "\", response=\"%s\"%s%s%s",
                          client->nonce, response, *client->algorithm ? ", algorithm=" : "",
                          client->algorithm, counted);
}

static gchar *
get_nonce (WatchDigest *digest, gint64 now)
{
  g_auto (GStrv) challenges = watch_digest_make_challenges (digest, FALSE, now);
  gchar *nonce = g_strdup (strstr (challenges[0], "nonce=\"") + 7);

  fail_unless (g_str_has_prefix (challenges[0], "Digest realm=\"" REALM "\", nonce=\""));
  fail_unless (strstr (challenges[0], ", algorithm=MD5") != NULL);
  fail_unless (strstr (challenges[1], ", algorithm=SHA-256") != NULL);
  fail_unless (strstr (challenges[0], ", qop=\"auth,auth-int\"") != NULL);
  fail_if (strstr (challenges[0], "stale"));
  *strchr (nonce, '"') = '\0';
  fail_unless (strstr (challenges[1], nonce) != NULL);
  return nonce;
}

typedef enum
{
  INVALID,
  STALE,
  WRONG,
  RIGHT,
} Outcome;

static Outcome
send_header (WatchDigest *digest, const gchar *header, const WatchDigestRequest *request,
             gint64 now)
{
  g_auto (WatchDigestClaim) claim = { NULL };
  WatchDigestResult result =
      watch_digest_read (digest, header, request, "user", "secret", now, &claim);

  if (result != WATCH_DIGEST_CLAIMED) {
    fail_if (claim.right || claim.given);
    return result == WATCH_DIGEST_STALE ? STALE : INVALID;
  }
  if (!g_str_equal (claim.right, claim.given))
    return WRONG;
  watch_digest_use (digest, &claim, now);
  return RIGHT;
}

static Outcome
send_request (WatchDigest *digest, const Client *client, gint64 now)
{
  g_autofree gchar *header = make_header (client);

  return send_header (digest, header, &get_time, now);
}

/* --- Tests --- */

GST_START_TEST (test_clients)
{
  static const struct
  {
    GChecksumType type;
    const gchar *algorithm, *qop;
  } clients[] = {
    { G_CHECKSUM_MD5, "MD5", "auth" },
    { G_CHECKSUM_MD5, "", "auth" },
    { G_CHECKSUM_MD5, "md5", "auth-int" },
    { G_CHECKSUM_SHA256, "SHA-256", "auth" },
    { G_CHECKSUM_SHA256, "SHA-256", "auth-int" },
    { G_CHECKSUM_MD5, "", "" },
    { G_CHECKSUM_SHA256, "SHA-256", "" },
  };
  g_autoptr (WatchDigest) digest = watch_digest_new (REALM);

  for (guint i = 0; i < G_N_ELEMENTS (clients); i++) {
    g_autofree gchar *nonce = get_nonce (digest, SECOND);
    Client client = { clients[i].type, clients[i].algorithm, clients[i].qop,
                      nonce,           "00000001",           "GetTime",
                      "wrong" };
    g_autofree gchar *header = NULL;

    fail_unless_equals_int (send_request (digest, &client, 2 * SECOND), WRONG);
    client.password = "secret";
    client.body = "Other";
    fail_unless_equals_int (send_request (digest, &client, 2 * SECOND),
                            g_str_equal (client.qop, "auth-int") ? WRONG : RIGHT);
    client.body = "GetTime";
    client.count = "00000002";
    header = make_header (&client);
    fail_unless_equals_int (send_header (digest, header, &get_time, 2 * SECOND),
                            *client.qop ? RIGHT : STALE);
    /* The same header, with this body or another. */
    fail_unless_equals_int (send_header (digest, header, &get_time, 2 * SECOND), STALE);
    fail_unless_equals_int (send_header (digest, header, &set_time, 2 * SECOND), STALE);
  }
}
GST_END_TEST;

/* Where a header is captured before it is used, auth-int binds it to the body. */
GST_START_TEST (test_other_body)
{
  g_autoptr (WatchDigest) digest = watch_digest_new (REALM);
  g_autofree gchar *nonce = get_nonce (digest, SECOND);
  const Client client = { G_CHECKSUM_SHA256, "SHA-256", "auth-int", nonce,
                          "00000001",        "GetTime", "secret" };
  g_autofree gchar *header = make_header (&client);

  fail_unless_equals_int (send_header (digest, header, &set_time, SECOND), WRONG);
  fail_unless_equals_int (send_header (digest, header, &get_time, SECOND), RIGHT);
}
GST_END_TEST;

GST_START_TEST (test_nonces)
{
  g_autoptr (WatchDigest) digest = watch_digest_new (REALM), other = watch_digest_new (REALM);
  g_autofree gchar *nonce = get_nonce (digest, SECOND), *again = get_nonce (digest, SECOND);
  g_autofree gchar *of_other = get_nonce (other, SECOND), *of_future = get_nonce (digest, SECOND);
  g_autofree gchar *later = g_strdup (nonce), *upper = g_ascii_strup (nonce, -1);
  g_autofree gchar *longer = g_strconcat (nonce, "0", NULL), *shorter = g_strndup (nonce, 63);
  const gchar *invented[] = { "",     "1",     of_other,
                              later,  longer,  upper,
                              "\xff", shorter, "0000000000000000000000000000000000000000" };
  g_auto (GStrv) challenges = watch_digest_make_challenges (digest, TRUE, SECOND);
  Client client = { G_CHECKSUM_MD5, "MD5", "auth", nonce, "00000001", "", "secret" };

  fail_unless (strstr (challenges[0], ", stale=true") && strstr (challenges[1], ", stale=true"));
  fail_if (g_str_equal (nonce, again));
  later[14] ^= 1; /* made later */
  for (guint i = 0; i < G_N_ELEMENTS (invented); i++) {
    client.nonce = invented[i];
    fail_unless_equals_int (send_request (digest, &client, SECOND), STALE);
  }
  client.nonce = of_future;
  fail_unless_equals_int (send_request (digest, &client, SECOND - 1), STALE);
  /* Valid until the end of its time, whether it was used or not. */
  client.nonce = nonce;
  fail_unless_equals_int (send_request (digest, &client, SECOND + WATCH_DIGEST_LIFETIME - 1),
                          RIGHT);
  client.count = "00000002";
  fail_unless_equals_int (send_request (digest, &client, SECOND + WATCH_DIGEST_LIFETIME), STALE);
  client.nonce = again;
  fail_unless_equals_int (send_request (digest, &client, SECOND + WATCH_DIGEST_LIFETIME), STALE);
}
GST_END_TEST;

/* Each count is valid once, in any order that connections side by side can have. */
GST_START_TEST (test_counts)
{
  static const struct
  {
    const gchar *count;
    Outcome outcome;
  } counts[] = {
    { "00000002", RIGHT },    { "00000001", RIGHT },   { "00000001", STALE },
    { "00000002", STALE },    { "00000041", RIGHT },   { "00000002", STALE },
    { "00000003", RIGHT },    { "00000042", RIGHT },   { "00000003", STALE },
    { "00000002", STALE },    { "00000040", RIGHT },   { "00001000", RIGHT },
    { "00000fc0", STALE },    { "00000fc1", RIGHT },   { "00000fff", RIGHT },
    { "00000FFF", STALE },    { "00001000", STALE },   { "ffffffff", RIGHT },
    { "ffffffff", STALE },    { "fffffffe", RIGHT },   { "00000000", INVALID },
    { "100000001", INVALID }, { "1", INVALID },        { "-0000001", INVALID },
    { "0x000002", INVALID },  { "0000 002", INVALID },
  };
  g_autoptr (WatchDigest) digest = watch_digest_new (REALM);
  g_autofree gchar *nonce = get_nonce (digest, SECOND);
  Client client = { G_CHECKSUM_MD5, "MD5", "auth", nonce, NULL, "", "secret" };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    client.count = counts[i].count;
    fail_unless (send_request (digest, &client, SECOND) == counts[i].outcome, "%u: %s", i,
                 client.count);
  }
  /* A wrong password uses no count; without qop, only a fresh nonce is valid. */
  g_free (nonce);
  client.nonce = nonce = get_nonce (digest, SECOND);
  client.count = "00000001";
  client.password = "wrong";
  fail_unless_equals_int (send_request (digest, &client, SECOND), WRONG);
  client.password = "secret";
  fail_unless_equals_int (send_request (digest, &client, SECOND), RIGHT);
  client.qop = "";
  fail_unless_equals_int (send_request (digest, &client, SECOND), STALE);
  g_free (nonce);
  client.nonce = nonce = get_nonce (digest, SECOND);
  fail_unless_equals_int (send_request (digest, &client, SECOND), RIGHT);
  client.qop = "auth";
  fail_unless_equals_int (send_request (digest, &client, SECOND), STALE);
}
GST_END_TEST;

/* However many nonces clients use, none is valid twice, and a fresh one is valid. */
GST_START_TEST (test_many_nonces)
{
  enum
  {
    N = 4 * WATCH_DIGEST_MAX_NONCES
  };
  g_autoptr (WatchDigest) digest = watch_digest_new (REALM);
  g_autoptr (GPtrArray) headers = g_ptr_array_new_with_free_func (g_free);
  guint n_stale = 0;

  for (guint i = 0; i < N; i++) {
    /* Half of them at one time. */
    const gint64 now = SECOND + MIN (i, N / 2) * G_TIME_SPAN_MILLISECOND;
    g_autofree gchar *nonce = get_nonce (digest, now);
    const Client client = { G_CHECKSUM_MD5, "MD5", "auth", nonce, "00000001", "", "secret" };
    gchar *header = make_header (&client);

    g_ptr_array_add (headers, header);
    n_stale += send_header (digest, header, &get_time, now) != RIGHT;
  }
  /* Only nonces of the microsecond in which the table was full. */
  fail_unless (n_stale <= N / 2, "%u", n_stale);
  for (guint i = 0; i < N; i++)
    fail_unless_equals_int (
        send_header (digest, g_ptr_array_index (headers, i), &get_time, 5 * SECOND), STALE);
  {
    g_autofree gchar *nonce = get_nonce (digest, 6 * SECOND);
    const Client client = { G_CHECKSUM_MD5, "MD5", "auth", nonce, "00000001", "", "secret" };

    fail_unless_equals_int (send_request (digest, &client, 6 * SECOND), RIGHT);
  }
}
GST_END_TEST;

static gchar *
replace (const gchar *text, const gchar *old, const gchar *new)
{
  g_auto (GStrv) parts = g_strsplit (text, old, -1);

  return g_strjoinv (new, parts);
}

GST_START_TEST (test_headers)
{
  static const struct
  {
    const gchar *old, *new;
    Outcome outcome;
  } cases[] = {
    { "Digest ", "digest  ", RIGHT },
    { "qop=auth", "qop=\"auth\"", RIGHT },
    { "nc=00000001", "nc=\"00000001\"", RIGHT },
    { "\"user\"", "\"us\\er\"", RIGHT },
    { "uri=\"", "uri=\"http://other:1", WRONG }, /* the response is for another text */
    { "\"user\"", "\"User\"", WRONG },
    { "\"user\"", "\"\"", WRONG },
    { "response=\"", "response=\"0", WRONG },
    { "cnonce=\"c\"", "cnonce=\"d\"", WRONG },
    { "nonce=\"0", "nonce=\"1", STALE },
    { "Digest ", "Digest", INVALID },
    { "Digest ", "Basic ", INVALID },
    { "Digest ", "Digest ,, ", RIGHT },
    { "username=\"user\"", "username*=UTF-8''us%65r", RIGHT },
    { "username=\"user\"", "username", INVALID },
    { "username=\"user\", ", "", INVALID },
    { "realm=\"watch\"", "realm=\"other\"", INVALID },
    { "realm=\"watch\", ", "", INVALID },
    { "realm=", "nonce=\"1\", realm=", INVALID },
    { "response=", "response=\"1\", response=", INVALID },
    { "response=", "x=", INVALID },
    { "uri=", "x=", INVALID },
    { PATH, PATH "?a", INVALID },
    { PATH, "/onvif/media2_service", INVALID },
    { PATH, "/onvif/../onvif/device_service", INVALID },
    { PATH, "/onvif/device%5fservice", INVALID },
    { PATH, "*", INVALID },
    { PATH, "", INVALID },
    { PATH, "http://", INVALID },
    { PATH, "http://watch", INVALID },
    { PATH, "https://watch/", INVALID },
    { "algorithm=MD5", "algorithm=MD5-sess", INVALID },
    { "algorithm=MD5", "algorithm=SHA-512-256", INVALID },
    { "algorithm=MD5", "algorithm=\"\"", INVALID },
    { "algorithm=MD5", "algorithm", RIGHT },
    { "qop=auth", "qop=auth-conf", INVALID },
    { "qop=auth", "qop=\"auth,auth-int\"", INVALID },
    { "qop=auth", "qop=\"\"", INVALID },
    { "qop=auth, ", "", INVALID },
    { ", cnonce=\"c\"", "", INVALID },
    { "cnonce=\"c\"", "cnonce=\"\"", INVALID },
    { "nc=00000001, ", "", INVALID },
    { ", qop", ", userhash=true, qop", INVALID },
    { ", qop", ", userhash=false, qop", RIGHT },
    { ", qop", ", opaque=\"\", qop", RIGHT },
    { ", qop", ", Digest username=\"user\", nonce=\"1\", qop", INVALID },
  };
  g_autoptr (WatchDigest) digest = watch_digest_new (REALM);
  g_autofree gchar *long_one = NULL, *fill = g_strnfill (WATCH_DIGEST_MAX_HEADER, ',');
  const WatchDigestRequest with_query = { "POST", PATH, "a", NULL, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *nonce = get_nonce (digest, SECOND);
    const Client client = { G_CHECKSUM_MD5, "MD5", "auth", nonce, "00000001", "", "secret" };
    g_autofree gchar *header = make_header (&client);
    g_autofree gchar *text = replace (header, cases[i].old, cases[i].new);

    fail_unless (strstr (header, cases[i].old) != NULL, "%s", cases[i].old);
    fail_unless (send_header (digest, text, &get_time, SECOND) == cases[i].outcome, "%s", text);
    fail_unless_equals_int (send_header (digest, header, &with_query, SECOND), INVALID);
    fail_unless_equals_int (send_header (digest, header, &get_time, SECOND),
                            cases[i].outcome == RIGHT ? STALE : RIGHT);
    /* Cut anywhere. */
    for (gsize length = strlen (header); length > 0; length--) {
      text = (g_free (text), g_strndup (header, length - 1));
      fail_if (send_header (digest, text, &get_time, SECOND) == RIGHT, "%s", text);
    }
  }
  long_one = g_strconcat ("Digest ", fill, NULL);
  fail_unless_equals_int (send_header (digest, long_one, &get_time, SECOND), INVALID);
}
GST_END_TEST;

static Suite *
digest_suite (void)
{
  Suite *s = suite_create ("digest");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_clients);
  tcase_add_test (tc, test_other_body);
  tcase_add_test (tc, test_nonces);
  tcase_add_test (tc, test_counts);
  tcase_add_test (tc, test_many_nonces);
  tcase_add_test (tc, test_headers);
  return s;
}

GST_CHECK_MAIN (digest);
