/* cudaccl - reasons, for people and programs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/reason.h"

#include <stdarg.h>
#include <string.h>

#include "apps/web/json.h"

/* In the order of WebReasonCode. {…} names an argument. A `detail` is what a library or another
 * program says, in English. */
static const struct
{
  WebReasonCode number;
  const gchar *code, *sentence;
} reasons[] = {
  { WEB_REASON_LOGIN_REFUSED, "login-refused",
    "{address}: the camera refuses the user or password; check `credentials`" },
  { WEB_REASON_STREAM_FORBIDDEN, "stream-forbidden",
    "{address}: the camera does not allow this user to see the stream (403)" },
  { WEB_REASON_STREAM_MISSING, "stream-missing",
    "{address}: the camera has no such stream (404); check the path in `uri`" },
  { WEB_REASON_SESSION_ENDED, "session-ended", "{address}: the camera ended the session" },
  { WEB_REASON_CAMERA_BUSY, "camera-busy",
    "{address}: the camera is busy (503): perhaps it serves no more viewers" },
  { WEB_REASON_TCP_REFUSED, "tcp-refused",
    "{address}: the camera cannot send over TCP; try rtspu:// instead of rtsp://" },
  { WEB_REASON_CONNECTION_REFUSED, "connection-refused",
    "{address}: nothing answers at this address and port; is the camera on?" },
  { WEB_REASON_NO_ROUTE, "no-route",
    "{address}: there is no way to this address; check the network and the address" },
  { WEB_REASON_NETWORK_UNREACHABLE, "network-unreachable",
    "{address}: there is no way to this address; check the network" },
  { WEB_REASON_NO_ANSWER, "no-answer",
    "{address}: the camera does not answer; is it on, and in this network?" },
  { WEB_REASON_HOST_UNKNOWN, "host-unknown",
    "{address}: there is no machine of this name; check the address" },
  { WEB_REASON_CONNECTION_INSECURE, "connection-insecure",
    "{address}: the connection is not secure: its certificate is not valid; use rtsp:// or http:// "
    "in a network that you trust" },
  { WEB_REASON_CERTIFICATE_INVALID, "certificate-invalid",
    "{address}: the certificate of the camera is not valid" },
  { WEB_REASON_CONNECTION_CLOSED, "connection-closed",
    "{address}: the camera closed the connection" },
  { WEB_REASON_CONNECTION_BROKEN, "connection-broken",
    "{address}: the connection to the camera broke" },
  { WEB_REASON_FILE_MISSING, "file-missing", "{address}: there is no such file or device" },
  { WEB_REASON_FILE_FORBIDDEN, "file-forbidden",
    "{address}: the file or device may not be read; check its permissions" },
  { WEB_REASON_DEVICE_BUSY, "device-busy", "{address}: another program uses the device" },
  { WEB_REASON_NO_RTSP_SERVER, "no-rtsp-server",
    "{address}: what answers there is no RTSP server" },
  { WEB_REASON_CAMERA_MOVED, "camera-moved",
    "{address}: the camera redirects to another address, which does not get the password; set the "
    "address it redirects to" },
  { WEB_REASON_PLAYLIST_REFUSED, "playlist-refused",
    "{address}: this is a playlist, which may lead to other machines and files; set the address of "
    "the stream itself" },
  { WEB_REASON_PICTURE_TOO_LARGE, "picture-too-large",
    "{address}: a picture of {width}×{height} pixels is beyond `max-pixels`, {limit}; if the "
    "camera is right, set a larger one" },
  { WEB_REASON_PICTURE_TOO_LONG, "picture-too-long",
    "{address}: {limit} MB came without a complete picture; check the format in the camera's "
    "settings" },
  { WEB_REASON_DECODER_TOO_LARGE, "decoder-too-large",
    "{address}: pictures of {width}×{height} pixels with their references take about {size} MB "
    "in the decoder, beyond `max-memory`, {limit} MB; if the camera is right, set a larger one" },
  { WEB_REASON_FORMAT_REFUSED, "format-refused",
    "{address}: {format} is refused, as its size is known only after it is decoded; choose JPEG, "
    "PNG or H.264 in the camera's settings" },
  { WEB_REASON_SOURCE_FAILED, "source-failed", "{address}: {detail}" },

  { WEB_REASON_FILE_ENDED, "file-ended", "the file has ended; `loop = true` repeats it" },
  { WEB_REASON_FILE_EMPTY, "file-empty", "the file has no frames that can be decoded" },
  { WEB_REASON_STREAM_ENDED, "stream-ended", "the camera ended the stream" },
  { WEB_REASON_ELEMENT_MISSING, "element-missing",
    "GStreamer's element {element} is missing; install the package {package}, or add its folder to "
    "GST_PLUGIN_PATH" },
  { WEB_REASON_DECODER_MISSING, "decoder-missing",
    "there is no decoder for {codec}; install the package gstreamer1.0-libav, or choose another "
    "codec, such as H.264, in the camera's settings" },
  { WEB_REASON_FORMAT_UNKNOWN, "format-unknown", "the video has a format that cannot be analysed" },
  { WEB_REASON_PARSER_FAILED, "parser-failed", "{format} cannot be parsed" },
  { WEB_REASON_FORMAT_NOT_RECORDED, "format-not-recorded",
    "only H.264 and H.265 can be recorded, and this is {format}" },
  { WEB_REASON_NO_VIDEO, "no-video", "there is no video in the stream" },

  { WEB_REASON_CONNECTING, "connecting", "connecting to {address}" },
  { WEB_REASON_DISABLED, "disabled", "disabled" },
  { WEB_REASON_OUTSIDE_SCHEDULE, "outside-schedule", "outside of its schedule" },
  { WEB_REASON_NO_PICTURE, "no-picture",
    "the camera is connected, but sends no picture; check the path in `uri`" },
  { WEB_REASON_PICTURE_LATE, "picture-late",
    "no new picture for {seconds} seconds; if this lasts, restart the camera" },
  { WEB_REASON_PICTURE_FROZEN, "picture-frozen",
    "the picture has been the same for {seconds} seconds; if this lasts, restart the camera" },
  { WEB_REASON_SOURCE_HANGS, "source-hangs",
    "the source hangs and cannot be stopped; check the device, or restart cudaccl-watch" },
  { WEB_REASON_RATE_LIMITED, "rate-limited",
    "the camera sends more than {rate} frames a second (`max-rate`); {count} were not analysed" },
  { WEB_REASON_NO_CLIPS, "no-clips", "no clips: only H.264 and H.265 are recorded" },
  { WEB_REASON_NO_CLIPS_RTSP, "no-clips-rtsp",
    "no clips: only H.264 and H.265 are recorded; choose one of them in the camera's settings, or "
    "set `record-uri`" },

  { WEB_REASON_TEST_ENDED, "test-ended", "there is no picture" },
  { WEB_REASON_TEST_LATE, "test-late", "no picture came within {seconds} seconds" },
  { WEB_REASON_TESTS_HANG, "tests-hang",
    "the sources of earlier test pictures hang; check these devices, or restart cudaccl-watch" },

  { WEB_REASON_FILE_NEEDS_TOKEN, "file-needs-token",
    "addresses with file: need a token: set token-file, or write the address into the file of "
    "settings" },
  { WEB_REASON_TOKEN_NEEDED, "token-needed", "a token is needed: Authorization: Bearer TOKEN" },
  { WEB_REASON_TOKEN_WRONG, "token-wrong", "the token is wrong" },
  { WEB_REASON_TOKENS_WRONG, "tokens-wrong", "too many wrong tokens: wait a minute" },
  { WEB_REASON_TOKEN_UNSET, "token-unset", "no token is set" },
  { WEB_REASON_REQUESTS_WAIT, "requests-wait", "too many requests of this kind wait: try again" },
  { WEB_REASON_VALUE_WRONG, "value-wrong", "{name}: expected {detail}" },
  { WEB_REASON_CONTROL_CHARACTER, "control-character",
    "{name}: control characters, such as tabs and line breaks, are not allowed here; remove them" },
  { WEB_REASON_SETTINGS_REFUSED, "settings-refused", "{detail}" },
  { WEB_REASON_CAMERA_EXISTS, "camera-exists", "there is a camera {camera} already" },
  { WEB_REASON_CAMERA_UNKNOWN, "camera-unknown", "there is no camera {camera}" },
  { WEB_REASON_SEARCH_SLOW, "search-slow",
    "The search took more than {seconds} s; give a camera or a shorter time" },
  { WEB_REASON_SEARCH_LARGE, "search-large",
    "more than 100 000 minutes; ask for one camera, or for a shorter time" },
  { WEB_REASON_DATABASE_FAILED, "database-failed", "Database: {detail}" },
  { WEB_REASON_POSTGRESQL_FAILED, "postgresql-failed", "PostgreSQL: {detail}" },
  { WEB_REASON_SYNOPSIS_BUSY, "synopsis-busy",
    "a synopsis of {camera} is being made: wait, or cancel it" },
  { WEB_REASON_SYNOPSIS_NO_CLIPS, "synopsis-no-clips",
    "The camera {camera} has no clips of that day; is recording on?" },
  { WEB_REASON_SYNOPSIS_STILL, "synopsis-still", "Nothing moves in the recordings" },
  { WEB_REASON_SYNOPSIS_FULL, "synopsis-full",
    "Less than 256 MiB are free on the disk: the objects that were cut out cannot be kept" },
  { WEB_REASON_SYNOPSIS_FAILED, "synopsis-failed", "{detail}" },
  { WEB_REASON_SYNOPSIS_KILLED, "synopsis-killed",
    "the process was ended by the signal {signal} ({detail})" },
  { WEB_REASON_SYNOPSIS_LOST, "synopsis-lost",
    "the process ended without a video; the log may say why" },

  { WEB_REASON_SINK_WAITS, "sink-waits", "not connected yet" },
  { WEB_REASON_SINK_FAILED, "sink-failed", "{detail}" },
  { WEB_REASON_READER_HANGS, "reader-hangs", "the reader does not read" },
  { WEB_REASON_WEBHOOK_MOVED, "webhook-moved",
    "the server answers {status} and redirects: set the address it redirects to" },
  { WEB_REASON_WEBHOOK_FAILED, "webhook-failed",
    "the server answers {status} {detail}; trying again" },
  { WEB_REASON_WEBHOOK_SILENT, "webhook-silent", "no answer within {seconds} s; trying again" },
  { WEB_REASON_WEBHOOK_BROKEN, "webhook-broken", "{detail}; trying again" },

  { WEB_REASON_DATABASE_FULL, "database-full", "{path}: no space on the disk" },
  { WEB_REASON_DATABASE_UNWRITABLE, "database-unwritable", "{path}: {detail}" },
  { WEB_REASON_DATABASE_REMOVED, "database-removed",
    "{path} was removed or replaced, and cannot be written again; events wait in memory: make the "
    "folder writable, and free space" },
  { WEB_REASON_MEDIA_UNWRITABLE, "media-unwritable", "nothing is recorded: {path}: {detail}" },
  { WEB_REASON_MEDIA_READ_ONLY, "media-read-only",
    "nothing is recorded: {path}: the file system is mounted read-only" },
  { WEB_REASON_MEDIA_FULL, "media-full",
    "nothing is recorded: {path} can take only {free} MB, and {reserve} MB are kept free; make "
    "space on its disk, or lower the retention" },
  { WEB_REASON_MEDIA_SLOW, "media-slow",
    "the disk of {path} is slower than the cameras: clips and pictures are left out" },
  { WEB_REASON_MEDIA_NOT_WRITTEN, "media-not-written", "{path} could not be written: {detail}" },
  { WEB_REASON_MEDIA_NOT_REMOVED, "media-not-removed", "{path} cannot be removed: {detail}" },
  { WEB_REASON_MEDIA_TOO_LARGE, "media-too-large",
    "{camera}: a group of pictures does not fit into memory: raise `memory` of [record], or let "
    "the camera send key frames more often" },
};

G_STATIC_ASSERT (G_N_ELEMENTS (reasons) == WEB_N_REASONS);

static const gchar *
get_argument (const gchar *const *arguments, const gchar *name, gsize length)
{
  for (; *arguments; arguments += 2) {
    if (strlen (arguments[0]) == length && strncmp (arguments[0], name, length) == 0)
      return arguments[1];
  }
  g_return_val_if_reached ("");
}

static gchar *
fill (const gchar *sentence, const gchar *const *arguments)
{
  GString *text = g_string_new (NULL);
  const gchar *open;

  while ((open = strchr (sentence, '{'))) {
    const gchar *close = strchr (open, '}');

    g_string_append_len (text, sentence, open - sentence);
    g_string_append (text, get_argument (arguments, open + 1, (gsize) (close - open - 1)));
    sentence = close + 1;
  }
  g_string_append (text, sentence);
  return g_string_free (text, FALSE);
}

WebReason *
web_reason_new (WebReasonCode code, ...)
{
  WebReason *self = g_new0 (WebReason, 1);
  GPtrArray *arguments = g_ptr_array_new ();
  const gchar *name;
  va_list args;

  g_assert (reasons[code].number == code);
  va_start (args, code);
  while ((name = va_arg (args, const gchar *))) {
    const gchar *value = va_arg (args, const gchar *);

    g_ptr_array_add (arguments, g_strdup (name));
    g_ptr_array_add (arguments, g_strdup (value ? value : ""));
  }
  va_end (args);
  g_ptr_array_add (arguments, NULL);
  self->code = g_strdup (reasons[code].code);
  self->arguments = (gchar **) g_ptr_array_free (arguments, FALSE);
  self->text = fill (reasons[code].sentence, (const gchar *const *) self->arguments);
  return self;
}

WebReason *
web_reason_copy (const WebReason *self)
{
  WebReason *copy;

  if (!self)
    return NULL;
  copy = g_new0 (WebReason, 1);
  copy->code = g_strdup (self->code);
  copy->arguments = g_strdupv (self->arguments);
  copy->text = g_strdup (self->text);
  return copy;
}

void
web_reason_free (WebReason *self)
{
  if (!self)
    return;
  g_free (self->code);
  g_strfreev (self->arguments);
  g_free (self->text);
  g_free (self);
}

const gchar *
web_reason_get_text (const WebReason *self)
{
  return self ? self->text : NULL;
}

/* --- JSON --- */

#define DIGITS 3 /* of seconds */

static gboolean
is_number (const gchar *name)
{
  static const gchar *const names[] = { "count",   "free",   "height", "limit",  "rate",  "reserve",
                                        "seconds", "signal", "size",   "status", "width", NULL };

  return g_strv_contains (names, name);
}

static void
add_members (GString *json, const WebReason *self)
{
  web_json_add_string (json, "code", self->code);
  web_json_begin_object (json, "arguments");
  for (gchar **argument = self->arguments; *argument; argument += 2) {
    if (is_number (argument[0]))
      web_json_add_decimal (json, argument[0], g_ascii_strtod (argument[1], NULL), DIGITS);
    else
      web_json_add_string (json, argument[0], argument[1]);
  }
  web_json_end_object (json);
  web_json_add_string (json, "text", self->text);
}

void
web_reason_add_json (GString *json, const gchar *name, const WebReason *self)
{
  if (!self)
    return;
  web_json_begin_object (json, name);
  add_members (json, self);
  web_json_end_object (json);
}

void
web_reason_add_both (GString *json, const WebReason *self)
{
  web_json_add_string (json, "text", web_reason_get_text (self));
  web_reason_add_json (json, "reason", self);
}

gchar *
web_reason_to_json (const WebReason *self)
{
  GString *json = web_json_new ();

  add_members (json, self);
  return web_json_take (json);
}

/* --- Errors --- */

typedef struct
{
  WebReason *reason;
} WebReasonErrorPrivate;

static void
web_reason_error_private_init (WebReasonErrorPrivate *priv)
{
}

static void
web_reason_error_private_copy (const WebReasonErrorPrivate *src, WebReasonErrorPrivate *dest)
{
  dest->reason = web_reason_copy (src->reason);
}

static void
web_reason_error_private_clear (WebReasonErrorPrivate *priv)
{
  g_clear_pointer (&priv->reason, web_reason_free);
}

G_DEFINE_EXTENDED_ERROR (WebReasonError, web_reason_error)

GError *
web_reason_to_error (WebReason *self)
{
  GError *error;
  gint code = 0;

  while (code < WEB_N_REASONS && !g_str_equal (reasons[code].code, self->code))
    code++;
  error = g_error_new_literal (WEB_REASON_ERROR, code, self->text);
  web_reason_error_get_private (error)->reason = self;
  return error;
}

const WebReason *
web_reason_from_error (const GError *error)
{
  return error && error->domain == WEB_REASON_ERROR ? web_reason_error_get_private (error)->reason
                                                    : NULL;
}
