/* cudaccl-watch - HTTP digest authentication
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_ONVIF_DIGEST_H__
#define __WATCH_ONVIF_DIGEST_H__

#include <glib.h>

G_BEGIN_DECLS

/* RFC 7616 with MD5 and SHA-256, auth and auth-int. Each nonce is signed with a key of this
 * process, valid for WATCH_DIGEST_LIFETIME, and accepts each count once: a captured header cannot
 * be sent again, whatever the body. Clients without qop (RFC 2069) can use a nonce once. Memory is
 * bounded, and only clients that know the password use it. Times are monotonic, in microseconds.
 * Belongs to one thread. */
typedef struct _WatchDigest WatchDigest;

#define WATCH_DIGEST_LIFETIME (60 * G_TIME_SPAN_SECOND)
#define WATCH_DIGEST_MAX_NONCES 1024 /* in use; with more, the oldest are stale early */
#define WATCH_DIGEST_MAX_HEADER 4096 /* bytes */

typedef enum
{
  WATCH_DIGEST_INVALID, /* malformed, not offered, or for another request */
  WATCH_DIGEST_STALE,   /* the nonce is not ours or has expired, or the count was used */
  WATCH_DIGEST_CLAIMED, /* valid if the secrets are equal */
} WatchDigestResult;

typedef struct
{
  const gchar *method, *path, *query; /* as sent; @query may be NULL */
  gconstpointer body;                 /* may be NULL if @size is 0 */
  gsize size;
} WatchDigestRequest;

typedef struct
{
  gchar *right, *given; /* to be compared in constant time */
  gchar *nonce;
  guint32 count; /* 0: without qop */
} WatchDigestClaim;

WatchDigest *watch_digest_new (const gchar *realm);
void watch_digest_free (WatchDigest *self);

/* Returns the value of a header WWW-Authenticate for each algorithm, the most compatible first.
 * All have one new nonce: some clients mix them up. */
GStrv watch_digest_make_challenges (WatchDigest *self, gboolean stale, gint64 now);

/* Reads a header Authorization. Says nothing about the password before WATCH_DIGEST_CLAIMED, which
 * sets @claim; clear it in any case. */
WatchDigestResult watch_digest_read (WatchDigest *self, const gchar *header,
                                     const WatchDigestRequest *request, const gchar *user,
                                     const gchar *password, gint64 now, WatchDigestClaim *claim);
/* Marks the count of @claim as used. Call it at once if the secrets are equal. */
void watch_digest_use (WatchDigest *self, const WatchDigestClaim *claim, gint64 now);

void watch_digest_claim_clear (WatchDigestClaim *claim);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchDigest, watch_digest_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (WatchDigestClaim, watch_digest_claim_clear)

G_END_DECLS

#endif /* __WATCH_ONVIF_DIGEST_H__ */
