/* cudaccl-watch - values of settings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/settings/values.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

gboolean
watch_has_control (const gchar *text, const gchar *allowed)
{
  for (const guchar *c = (const guchar *) text; *c; c++) {
    if ((*c < ' ' || *c == 0x7f) && !strchr (allowed, *c))
      return TRUE;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
      return TRUE;
  }
  return FALSE;
}

gboolean
watch_parse_uint (const gchar *text, guint64 min, guint64 max, guint64 *value)
{
  return g_ascii_string_to_unsigned (text, 10, min, max, value, NULL);
}

gboolean
watch_parse_seconds (const gchar *text, guint64 *value)
{
  gchar *end;
  gdouble seconds = g_ascii_strtod (text, &end);

  if (end == text || *end || !(seconds >= 0 && seconds <= 86400))
    return FALSE;
  *value = (guint64) (seconds * 1e9 + 0.5);
  return TRUE;
}

gboolean
watch_parse_size (const gchar *text, guint64 *value)
{
  static const struct
  {
    const gchar *unit;
    gdouble bytes;
  } units[] = {
    { "", 1 },
    { "B", 1 },
    { "kB", 1e3 },
    { "MB", 1e6 },
    { "GB", 1e9 },
    { "TB", 1e12 },
    { "KiB", 1024 },
    { "MiB", 1048576.0 },
    { "GiB", 1073741824.0 },
    { "TiB", 1099511627776.0 },
  };
  gchar *unit;
  gdouble number = g_ascii_strtod (text, &unit);

  if (unit == text || !(number >= 0))
    return FALSE;
  while (g_ascii_isspace (*unit))
    unit++;
  for (guint i = 0; i < G_N_ELEMENTS (units); i++) {
    /* The limit keeps sums of several from overflowing. */
    if (g_ascii_strcasecmp (unit, units[i].unit) == 0 && number * units[i].bytes <= 1e18) {
      *value = (guint64) (number * units[i].bytes);
      return TRUE;
    }
  }
  return FALSE;
}

gboolean
watch_parse_boolean (const gchar *text, gboolean *value)
{
  static const gchar *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    if (g_ascii_strcasecmp (text, words[i]) == 0) {
      *value = i & 1;
      return TRUE;
    }
  }
  return FALSE;
}

/* --- Schedules --- */

typedef struct
{
  guint days;       /* bit 0 is Monday */
  guint begin, end; /* minutes of the day; an end that is not after the begin is on the next day */
} Span;

static gboolean
read_day (const gchar **text, guint *day)
{
  static const gchar *const names[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };

  for (*day = 0; *day < G_N_ELEMENTS (names); ++*day) {
    if (g_ascii_strncasecmp (*text, names[*day], 3) == 0) {
      *text += 3;
      return TRUE;
    }
  }
  return FALSE;
}

/* HH:MM, 00:00 to 24:00 */
static gboolean
read_time (const gchar **text, guint *minutes)
{
  const gchar *t = *text;
  guint hour, minute;

  if (!g_ascii_isdigit (t[0]) || !g_ascii_isdigit (t[1]) || t[2] != ':' ||
      !g_ascii_isdigit (t[3]) || !g_ascii_isdigit (t[4]))
    return FALSE;
  hour = (guint) (10 * (t[0] - '0') + t[1] - '0');
  minute = (guint) (10 * (t[3] - '0') + t[4] - '0');
  *minutes = 60 * hour + minute;
  *text += 5;
  return minute < 60 && *minutes <= 24 * 60;
}

static void
skip_spaces (const gchar **text)
{
  while (g_ascii_isspace (**text))
    ++*text;
}

static gboolean
read_span (const gchar **text, Span *span)
{
  guint first, last;

  skip_spaces (text);
  span->days = 0;
  if (read_day (text, &first)) {
    last = first;
    if (**text == '-') {
      ++*text;
      if (!read_day (text, &last))
        return FALSE;
    }
    for (; first != last; first = (first + 1) % 7)
      span->days |= 1u << first;
    span->days |= 1u << last;
    if (!g_ascii_isspace (**text))
      return FALSE;
    skip_spaces (text);
  } else {
    span->days = 127;
  }
  if (!read_time (text, &span->begin) || span->begin == 24 * 60 || **text != '-')
    return FALSE;
  ++*text;
  if (!read_time (text, &span->end))
    return FALSE;
  skip_spaces (text);
  return TRUE;
}

static gboolean
span_includes (const Span *span, guint day, guint minute)
{
  if (span->begin < span->end)
    return (span->days >> day & 1) && minute >= span->begin && minute < span->end;
  return ((span->days >> day & 1) && minute >= span->begin) ||
         ((span->days >> (day + 6) % 7 & 1) && minute < span->end);
}

/* Returns FALSE if the text is no schedule. */
static gboolean
check_schedule (const gchar *text, guint day, guint minute, gboolean *included)
{
  Span span;

  *included = FALSE;
  for (;; text++) {
    if (!read_span (&text, &span))
      return FALSE;
    *included = *included || span_includes (&span, day, minute);
    if (*text != ',')
      return !*text;
  }
}

gboolean
watch_parse_schedule (const gchar *text)
{
  gboolean included;

  return check_schedule (text, 0, 0, &included);
}

gboolean
watch_schedule_includes (const gchar *text, gint64 time)
{
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_local (time / G_USEC_PER_SEC);
  gboolean included;

  if (!text || !date)
    return TRUE;
  return !check_schedule (
             text, (guint) g_date_time_get_day_of_week (date) - 1,
             (guint) (60 * g_date_time_get_hour (date) + g_date_time_get_minute (date)),
             &included) ||
         included;
}

/* --- Addresses --- */

gboolean
watch_parse_listen (const gchar *text, gboolean *local)
{
  g_autoptr (GInetAddress) address = NULL;
  const gchar *colon = strrchr (text, ':');
  g_autofree gchar *host = NULL;
  guint64 port;

  if (!colon || !watch_parse_uint (colon + 1, 0, 65535, &port))
    return FALSE;
  host = g_strndup (text, (gsize) (colon - text));
  *local = g_str_equal (host, "localhost");
  if (*local)
    return TRUE;
  if (host[0] == '[' && g_str_has_suffix (host, "]")) {
    host[strlen (host) - 1] = '\0';
    address = g_inet_address_new_from_string (host + 1);
  } else if (!strchr (host, ':')) {
    address = g_inet_address_new_from_string (host);
  }
  *local = address && g_inet_address_get_is_loopback (address);
  return address != NULL;
}

gchar *
watch_uri_redact (const gchar *uri)
{
  const gchar *colon = strstr (uri, "://");
  /* A password may contain unescaped separators: cut off too much rather than too little. */
  const gchar *at = strrchr (uri, '@');
  const gchar *rest = at ? at + 1 : colon ? colon + 3 : uri;
  gsize scheme = colon && (!at || colon < at) ? (gsize) (colon + 3 - uri) : 0;
  g_autofree gchar *text =
      g_strdup_printf ("%.*s%.*s", (int) scheme, uri, (int) strcspn (rest, "?#"), rest);

  return g_utf8_make_valid (text, -1);
}

#define EXPECTED_URI                                                                          \
  "an address like rtsp://192.168.1.20/stream, http://…, file:///…, v4l2:///dev/video0, " \
  "or the path of a file"
#define URI_FLAGS \
  (G_URI_FLAGS_ENCODED_PATH | G_URI_FLAGS_ENCODED_QUERY | G_URI_FLAGS_ENCODED_FRAGMENT)

gchar *
watch_parse_camera_uri (const gchar *text, gchar **user, gchar **password, const gchar **expected)
{
  static const gchar *const network[] = { "rtsp", "rtsps", "rtspt", "rtspu", "http", "https" };
  g_autoptr (GUri) uri = NULL;
  const gchar *scheme, *path, *host;
  gboolean is_network = FALSE;

  *user = *password = NULL;
  *expected = EXPECTED_URI;
  if (!g_utf8_validate (text, -1, NULL) || strlen (text) > 2048)
    return NULL;
  for (const gchar *c = text; *c; c++) {
    if (g_ascii_iscntrl (*c) || (*c == ' ' && text[0] != '/'))
      return NULL;
  }
  if (g_str_has_prefix (text, "/dev/video"))
    return text[strspn (text, "/" G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-")]
               ? NULL
               : g_strconcat ("v4l2://", text, NULL);
  if (text[0] == '/')
    return g_filename_to_uri (text, NULL, NULL);
  uri = g_uri_parse (text, G_URI_FLAGS_HAS_PASSWORD | URI_FLAGS, NULL);
  if (!uri) {
    if (strchr (text, '@'))
      *expected = EXPECTED_URI "; in a user or password, write @ as %40, / as %2F and : as %3A, or "
                               "use a file, `credentials`";
    return NULL;
  }
  scheme = g_uri_get_scheme (uri);
  path = g_uri_get_path (uri);
  host = g_uri_get_host (uri);
  for (guint i = 0; i < G_N_ELEMENTS (network); i++)
    is_network = is_network || g_str_equal (scheme, network[i]);
  if (is_network) {
    if (!host || !host[0])
      return NULL;
    *user = g_strdup (g_uri_get_user (uri));
    *password = g_strdup (g_uri_get_password (uri));
    return g_uri_join (URI_FLAGS, scheme, NULL, host, g_uri_get_port (uri), path,
                       g_uri_get_query (uri), NULL);
  }
  if (g_uri_get_userinfo (uri) || g_uri_get_query (uri) || (host && host[0]) ||
      g_uri_get_port (uri) >= 0)
    return NULL;
  /* Compare as text, as readers of the address do. */
  if (g_str_has_prefix (text, "file:///") || g_str_equal (text, "test://") ||
      (g_str_has_prefix (text, "v4l2:///dev/") && !strstr (text, "..")))
    return g_strdup (text);
  return NULL;
}

/* Returns the scheme and port of @uri, or NULL if it is no address. */
static const gchar *
get_origin (GUri *uri, gint *port)
{
  static const struct
  {
    const gchar *scheme, *same;
    gint port;
  } schemes[] = {
    { "rtsp", "rtsp", 554 },   { "rtspt", "rtsp", 554 }, { "rtspu", "rtsp", 554 },
    { "rtsps", "rtsps", 322 }, { "http", "http", 80 },   { "https", "https", 443 },
  };

  if (!uri || !g_uri_get_host (uri))
    return NULL;
  *port = g_uri_get_port (uri);
  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++) {
    if (!g_str_equal (g_uri_get_scheme (uri), schemes[i].scheme))
      continue;
    if (*port < 0)
      *port = schemes[i].port;
    return schemes[i].same;
  }
  return g_uri_get_scheme (uri);
}

gboolean
watch_uri_is_same_origin (const gchar *a, const gchar *b)
{
  g_autoptr (GUri) x = g_uri_parse (a, URI_FLAGS, NULL), y = g_uri_parse (b, URI_FLAGS, NULL);
  gint port = -1, other_port = -1;
  const gchar *scheme = get_origin (x, &port), *other = get_origin (y, &other_port);

  return scheme && other && port == other_port && g_str_equal (scheme, other) &&
         g_ascii_strcasecmp (g_uri_get_host (x), g_uri_get_host (y)) == 0;
}
