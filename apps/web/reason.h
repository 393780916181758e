/* cudaccl - reasons, for people and programs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_REASON_H__
#define __WEB_REASON_H__

#include <glib.h>

G_BEGIN_DECLS

/* Each has a code and an English sentence in reason.c, words in the languages of the page in
 * apps/web/page/reasons.js, and a line in docs/watch.md. Codes are stable: others may count on
 * them. */
typedef enum
{
  /* The source of a camera failed. */
  WEB_REASON_LOGIN_REFUSED,
  WEB_REASON_STREAM_FORBIDDEN,
  WEB_REASON_STREAM_MISSING,
  WEB_REASON_SESSION_ENDED,
  WEB_REASON_CAMERA_BUSY,
  WEB_REASON_TCP_REFUSED,
  WEB_REASON_CONNECTION_REFUSED,
  WEB_REASON_NO_ROUTE,
  WEB_REASON_NETWORK_UNREACHABLE,
  WEB_REASON_NO_ANSWER,
  WEB_REASON_HOST_UNKNOWN,
  WEB_REASON_CONNECTION_INSECURE,
  WEB_REASON_CERTIFICATE_INVALID,
  WEB_REASON_CONNECTION_CLOSED,
  WEB_REASON_CONNECTION_BROKEN,
  WEB_REASON_FILE_MISSING,
  WEB_REASON_FILE_FORBIDDEN,
  WEB_REASON_DEVICE_BUSY,
  WEB_REASON_NO_RTSP_SERVER,
  WEB_REASON_CAMERA_MOVED,
  WEB_REASON_PLAYLIST_REFUSED,
  WEB_REASON_PICTURE_TOO_LARGE,
  WEB_REASON_PICTURE_TOO_LONG,
  WEB_REASON_DECODER_TOO_LARGE,
  WEB_REASON_FORMAT_REFUSED,
  WEB_REASON_SOURCE_FAILED,
  /* Its stream ended, or cannot be used. */
  WEB_REASON_FILE_ENDED,
  WEB_REASON_FILE_EMPTY,
  WEB_REASON_STREAM_ENDED,
  WEB_REASON_ELEMENT_MISSING,
  WEB_REASON_DECODER_MISSING,
  WEB_REASON_FORMAT_UNKNOWN,
  WEB_REASON_PARSER_FAILED,
  WEB_REASON_FORMAT_NOT_RECORDED,
  WEB_REASON_NO_VIDEO,
  /* The state of a camera. */
  WEB_REASON_CONNECTING,
  WEB_REASON_DISABLED,
  WEB_REASON_OUTSIDE_SCHEDULE,
  WEB_REASON_NO_PICTURE,
  WEB_REASON_PICTURE_LATE,
  WEB_REASON_PICTURE_FROZEN,
  WEB_REASON_SOURCE_HANGS,
  WEB_REASON_RATE_LIMITED,
  WEB_REASON_NO_CLIPS,
  WEB_REASON_NO_CLIPS_RTSP,
  /* Test pictures. */
  WEB_REASON_TEST_ENDED,
  WEB_REASON_TEST_LATE,
  WEB_REASON_TESTS_HANG,
  /* Answers over HTTP. */
  WEB_REASON_FILE_NEEDS_TOKEN,
  WEB_REASON_TOKEN_NEEDED,
  WEB_REASON_TOKEN_WRONG,
  WEB_REASON_TOKENS_WRONG,
  WEB_REASON_TOKEN_UNSET,
  WEB_REASON_REQUESTS_WAIT,
  WEB_REASON_VALUE_WRONG,
  WEB_REASON_CONTROL_CHARACTER,
  WEB_REASON_SETTINGS_REFUSED,
  WEB_REASON_CAMERA_EXISTS,
  WEB_REASON_CAMERA_UNKNOWN,
  WEB_REASON_SEARCH_SLOW,
  WEB_REASON_SEARCH_LARGE,
  WEB_REASON_DATABASE_FAILED,
  WEB_REASON_POSTGRESQL_FAILED,
  WEB_REASON_SYNOPSIS_BUSY,
  WEB_REASON_SYNOPSIS_NO_CLIPS,
  WEB_REASON_SYNOPSIS_STILL,
  WEB_REASON_SYNOPSIS_FULL,
  WEB_REASON_SYNOPSIS_FAILED,
  WEB_REASON_SYNOPSIS_KILLED,
  WEB_REASON_SYNOPSIS_LOST,
  /* Brokers, web hooks and files. */
  WEB_REASON_SINK_WAITS,
  WEB_REASON_SINK_FAILED,
  WEB_REASON_READER_HANGS,
  WEB_REASON_WEBHOOK_MOVED,
  WEB_REASON_WEBHOOK_FAILED,
  WEB_REASON_WEBHOOK_SILENT,
  WEB_REASON_WEBHOOK_BROKEN,
  /* Database and disk. */
  WEB_REASON_DATABASE_FULL,
  WEB_REASON_DATABASE_UNWRITABLE,
  WEB_REASON_DATABASE_REMOVED,
  WEB_REASON_MEDIA_UNWRITABLE,
  WEB_REASON_MEDIA_READ_ONLY,
  WEB_REASON_MEDIA_FULL,
  WEB_REASON_MEDIA_SLOW,
  WEB_REASON_MEDIA_NOT_WRITTEN,
  WEB_REASON_MEDIA_NOT_REMOVED,
  WEB_REASON_MEDIA_TOO_LARGE,
  WEB_N_REASONS,
} WebReasonCode;

typedef struct
{
  gchar *code;       /* such as `no-route`; perhaps of another version of the program */
  gchar **arguments; /* name, value, name, value, …; NULL-terminated */
  gchar *text;       /* the sentence in English, without credentials */
} WebReason;

/* The arguments are pairs of name and value, const gchar *, and a NULL. The sentence tells which
 * ones are needed. */
WebReason *web_reason_new (WebReasonCode code, ...) G_GNUC_NULL_TERMINATED;
WebReason *web_reason_copy (const WebReason *self); /* may be NULL */
void web_reason_free (WebReason *self);             /* may be NULL */

/* Returns the sentence, or NULL if @self is NULL. */
const gchar *web_reason_get_text (const WebReason *self);

/* Adds {"code": …, "arguments": {…}, "text": …}; a NULL @self is left out. */
void web_reason_add_json (GString *json, const gchar *name, const WebReason *self);

/* Adds the members `text` and `reason`; a NULL @self is left out. */
void web_reason_add_both (GString *json, const WebReason *self);
gchar *web_reason_to_json (const WebReason *self);

/* Errors of this domain carry a reason, and have its WebReasonCode as code. */
#define WEB_REASON_ERROR (web_reason_error_quark ())
GQuark web_reason_error_quark (void);

/* Takes @self. */
GError *web_reason_to_error (WebReason *self);
/* Returns the reason that @error carries, or NULL. */
const WebReason *web_reason_from_error (const GError *error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebReason, web_reason_free)

G_END_DECLS

#endif /* __WEB_REASON_H__ */
