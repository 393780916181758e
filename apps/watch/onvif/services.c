/* cudaccl-watch - ONVIF's services over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/onvif/services.h"

#include "apps/watch/http/app.h"
#include "apps/watch/onvif/digest.h"
#include "apps/watch/onvif/soap.h"

#include <string.h>

#define REALM "cudaccl-watch"
#define MAX_AGE 300      /* validity of a UsernameToken in seconds, and tolerance of clocks */
#define MAX_TOKENS 32768 /* 54 calls per second, in 2 * MAX_AGE */
#define SCOPE "onvif://www.onvif.org/"

/* Per server. */
typedef struct
{
  WatchDigest *digest; /* of HTTP */
  GHashTable *tokens;  /* digest of a UsernameToken to the second (gint64) in which it expires */
  gint64 cleaned;      /* second of the last removal of those */
} Onvif;

/* A call: a request and its answer. */
typedef struct
{
  const WebRequest *request;
  Onvif *onvif;
  const WatchSettings *settings;
  const WatchSoap *soap;
  GString *body;  /* body of the answer */
  guint status;   /* status of a fault, or 0 */
  gboolean stale; /* a fresh nonce may help: clients try again without asking */
} Call;

/* --- Identity --- */

gchar *
watch_onvif_get_id (const WatchSettings *settings)
{
  g_autofree gchar *machine = NULL, *text = NULL, *sum = NULL;

  if (!g_file_get_contents ("/etc/machine-id", &machine, NULL, NULL))
    machine = g_strdup (g_get_host_name ());
  text = g_strconcat ("cudaccl-watch ", machine, settings->data, NULL);
  sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
  /* Version 8: custom. */
  return g_strdup_printf ("%.8s-%.4s-8%.3s-a%.3s-%.12s", sum, sum + 8, sum + 12, sum + 15,
                          sum + 18);
}

gchar *
watch_onvif_get_scopes (void)
{
  g_autofree gchar *host = g_uri_escape_string (g_get_host_name (), NULL, FALSE);

  return g_strdup_printf (SCOPE "type/analytics " SCOPE "hardware/cudaccl-watch " SCOPE "name/%s",
                          host);
}

/* Returns the address of the service, with the host by which the client found this machine. @scheme
 * may be NULL, @port 0: those of the request. */
static gchar *
make_uri (const Call *call, const gchar *scheme, gint port, const gchar *path)
{
  SoupServerMessage *message = call->request->message;
  GUri *uri = soup_server_message_get_uri (message);
  GSocketAddress *own = soup_server_message_get_local_address (message);
  const gchar *host = g_uri_get_host (uri);
  gint own_port = g_uri_get_port (uri);
  g_autofree gchar *text = NULL, *address = NULL;

  if (!*host && G_IS_INET_SOCKET_ADDRESS (own)) { /* Host may be empty */
    GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS (own);

    host = address = g_inet_address_to_string (g_inet_socket_address_get_address (inet));
    own_port = g_inet_socket_address_get_port (inet);
  }
  text = g_uri_join (G_URI_FLAGS_NONE, scheme ? scheme : g_uri_get_scheme (uri), NULL, host,
                     port ? port : own_port, path, NULL, NULL);
  return g_markup_escape_text (text, -1);
}

/* --- Faults --- */

/* @detail may be NULL. */
static void
fail (Call *call, guint status, const gchar *code, const gchar *detail, const gchar *reason)
{
  g_string_truncate (call->body, 0);
  g_string_append_printf (call->body,
                          "<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode>"
                          "<s:Value>ter:%s</s:Value>",
                          code);
  if (detail)
    g_string_append_printf (call->body, "<s:Subcode><s:Value>ter:%s</s:Value></s:Subcode>", detail);
  g_string_append_printf (call->body,
                          "</s:Subcode></s:Code><s:Reason><s:Text xml:lang=\"en\">%s</s:Text>"
                          "</s:Reason></s:Fault>",
                          reason);
  call->status = status;
}

/* --- Device --- */

static void
get_date (Call *call)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();

  g_string_append_printf (
      call->body,
      "<tds:SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType>"
      "<tt:DaylightSavings>false</tt:DaylightSavings><tt:TimeZone><tt:TZ>UTC0</tt:TZ></tt:TimeZone>"
      "<tt:UTCDateTime><tt:Time><tt:Hour>%d</tt:Hour><tt:Minute>%d</tt:Minute>"
      "<tt:Second>%d</tt:Second></tt:Time><tt:Date><tt:Year>%d</tt:Year><tt:Month>%d</tt:Month>"
      "<tt:Day>%d</tt:Day></tt:Date></tt:UTCDateTime></tds:SystemDateAndTime>",
      g_date_time_get_hour (now), g_date_time_get_minute (now), g_date_time_get_second (now),
      g_date_time_get_year (now), g_date_time_get_month (now), g_date_time_get_day_of_month (now));
}

static void
get_information (Call *call)
{
  g_autofree gchar *id = watch_onvif_get_id (call->settings);

  g_string_append_printf (call->body,
                          "<tds:Manufacturer>cudaccl</tds:Manufacturer>"
                          "<tds:Model>cudaccl-watch</tds:Model>"
                          "<tds:FirmwareVersion>" PACKAGE_VERSION "</tds:FirmwareVersion>"
                          "<tds:SerialNumber>%s</tds:SerialNumber>"
                          "<tds:HardwareId>cudaccl-watch</tds:HardwareId>",
                          id);
}

#define DEVICE_CAPABILITIES                                                                    \
  "<tds:Capabilities><tds:Network/><tds:Security UsernameToken=\"true\" HttpDigest=\"true\"/>" \
  "<tds:System/></tds:Capabilities>"
#define MEDIA_CAPABILITIES                                                     \
  "<tr2:Capabilities><tr2:ProfileCapabilities MaximumNumberOfProfiles=\"256\"" \
  " ConfigurationsSupported=\"Metadata\"/>"                                    \
  "<tr2:StreamingCapabilities RTSPStreaming=\"true\" RTP_RTSP_TCP=\"true\"/></tr2:Capabilities>"

static void
get_device_capabilities (Call *call)
{
  g_string_append (call->body, DEVICE_CAPABILITIES);
}

static void
append_service (Call *call, const gchar *space, const gchar *path, const gchar *capabilities,
                gint major, gint minor)
{
  const gchar *include = watch_soap_get (call->soap, NULL, "IncludeCapability");
  g_autofree gchar *uri = make_uri (call, NULL, 0, path);

  g_string_append_printf (call->body,
                          "<tds:Service><tds:Namespace>http://www.onvif.org/%s/wsdl"
                          "</tds:Namespace><tds:XAddr>%s</tds:XAddr>",
                          space, uri);
  if (g_str_equal (include, "true") || g_str_equal (include, "1"))
    g_string_append_printf (call->body, "<tds:Capabilities>%s</tds:Capabilities>", capabilities);
  g_string_append_printf (call->body,
                          "<tds:Version><tt:Major>%d</tt:Major><tt:Minor>%d</tt:Minor>"
                          "</tds:Version></tds:Service>",
                          major, minor);
}

static void
get_services (Call *call)
{
  append_service (call, "ver10/device", WATCH_ONVIF_DEVICE_PATH, DEVICE_CAPABILITIES, 19, 12);
  append_service (call, "ver20/media", WATCH_ONVIF_MEDIA_PATH, MEDIA_CAPABILITIES, 19, 12);
}

/* The predecessor of GetServices, which knows no Media2. */
static void
get_capabilities (Call *call)
{
  const gchar *category = watch_soap_get (call->soap, NULL, "Category");
  g_autofree gchar *uri = make_uri (call, NULL, 0, WATCH_ONVIF_DEVICE_PATH);

  if (*category && !strstr (category, "All") && !strstr (category, "Device"))
    fail (call, SOUP_STATUS_BAD_REQUEST, "ActionNotSupported", "NoSuchService",
          "only Device and All are known here: call GetServices");
  else
    g_string_append_printf (call->body,
                            "<tds:Capabilities><tt:Device><tt:XAddr>%s</tt:XAddr></tt:Device>"
                            "</tds:Capabilities>",
                            uri);
}

static void
get_scopes (Call *call)
{
  g_autofree gchar *text = watch_onvif_get_scopes ();
  g_auto (GStrv) scopes = g_strsplit (text, " ", -1);

  for (gchar **scope = scopes; *scope; scope++) {
    g_autofree gchar *escaped = g_markup_escape_text (*scope, -1);

    g_string_append_printf (call->body,
                            "<tds:Scopes><tt:ScopeDef>Fixed</tt:ScopeDef>"
                            "<tt:ScopeItem>%s</tt:ScopeItem></tds:Scopes>",
                            escaped);
  }
}

static void
get_hostname (Call *call)
{
  g_autofree gchar *name = g_markup_escape_text (g_get_host_name (), -1);

  g_string_append_printf (call->body,
                          "<tds:HostnameInformation><tt:FromDHCP>false</tt:FromDHCP>"
                          "<tt:Name>%s</tt:Name></tds:HostnameInformation>",
                          name);
}

/* --- Media2 --- */

static void
get_media_capabilities (Call *call)
{
  g_string_append (call->body, MEDIA_CAPABILITIES);
}

/* Profile, configuration and camera have one name, which needs no escaping. */
static void
append_configuration (Call *call, const gchar *element, const gchar *camera)
{
  g_string_append_printf (
      call->body,
      "<tr2:%s token=\"%s\"><tt:Name>%s</tt:Name><tt:UseCount>1</tt:UseCount><tt:Events/>"
      "<tt:Analytics>true</tt:Analytics><tt:Multicast><tt:Address><tt:Type>IPv4</tt:Type>"
      "<tt:IPv4Address>0.0.0.0</tt:IPv4Address></tt:Address><tt:Port>0</tt:Port><tt:TTL>0</tt:TTL>"
      "<tt:AutoStart>false</tt:AutoStart></tt:Multicast>"
      "<tt:SessionTimeout>PT60S</tt:SessionTimeout></tr2:%s>",
      element, camera, camera, element);
}

/* Returns TRUE if @token is empty or names a camera; else makes a fault. */
static gboolean
check_token (Call *call, const gchar *token, const gchar *code)
{
  if (!*token || watch_app_find_camera (call->request->app, token))
    return TRUE;
  fail (call, SOUP_STATUS_BAD_REQUEST, "InvalidArgVal", code, "there is no such token");
  return FALSE;
}

static void
get_profiles (Call *call)
{
  WatchApp *app = call->request->app;
  const gchar *token = watch_soap_get (call->soap, NULL, "Token");
  const gchar *types = watch_soap_get (call->soap, NULL, "Type");

  if (!check_token (call, token, "NoProfile"))
    return;
  for (guint i = 0; i < app->cameras->len; i++) {
    const gchar *name = watch_camera_get_name (g_ptr_array_index (app->cameras, i));

    if (*token && !g_str_equal (token, name))
      continue;
    g_string_append_printf (call->body,
                            "<tr2:Profiles token=\"%s\" fixed=\"true\"><tr2:Name>%s</tr2:Name>",
                            name, name);
    if (strstr (types, "All") || strstr (types, "Metadata")) {
      g_string_append (call->body, "<tr2:Configurations>");
      append_configuration (call, "Metadata", name);
      g_string_append (call->body, "</tr2:Configurations>");
    }
    g_string_append (call->body, "</tr2:Profiles>");
  }
}

static void
get_metadata (Call *call)
{
  WatchApp *app = call->request->app;
  const gchar *configuration = watch_soap_get (call->soap, NULL, "ConfigurationToken");
  const gchar *profile = watch_soap_get (call->soap, NULL, "ProfileToken");

  if (!check_token (call, configuration, "NoConfig") || !check_token (call, profile, "NoProfile"))
    return;
  for (guint i = 0; i < app->cameras->len; i++) {
    const gchar *name = watch_camera_get_name (g_ptr_array_index (app->cameras, i));

    if ((!*configuration || g_str_equal (configuration, name)) &&
        (!*profile || g_str_equal (profile, name)))
      append_configuration (call, "Configurations", name);
  }
}

static void
get_metadata_options (Call *call)
{
  g_string_append (call->body, "<tr2:Options><tt:PTZStatusFilterOptions>"
                               "<tt:PanTiltStatusSupported>false</tt:PanTiltStatusSupported>"
                               "<tt:ZoomStatusSupported>false</tt:ZoomStatusSupported>"
                               "</tt:PTZStatusFilterOptions></tr2:Options>");
}

static void
get_uri (Call *call)
{
  const gchar *protocol = watch_soap_get (call->soap, NULL, "Protocol");
  const gchar *token = watch_soap_get (call->soap, NULL, "ProfileToken");
  g_autofree gchar *path = g_strconcat ("/", token, NULL), *uri = NULL;

  if (!*token || !check_token (call, token, "NoProfile")) {
    fail (call, SOUP_STATUS_BAD_REQUEST, "InvalidArgVal", "NoProfile", "there is no such profile");
  } else if (!g_str_equal (protocol, "RTSP") && !g_str_equal (protocol, "RtspUnicast")) {
    fail (call, SOUP_STATUS_BAD_REQUEST, "InvalidArgVal", "InvalidStreamSetup",
          "expected the protocol RTSP or RtspUnicast");
  } else {
    uri = make_uri (call, "rtsp", (gint) call->settings->rtsp_port, path);
    g_string_append_printf (call->body, "<tr2:Uri>%s</tr2:Uri>", uri);
  }
}

/* --- Calls --- */

typedef struct
{
  const gchar *name;
  void (*answer) (Call *call); /* NULL: the answer is empty */
} Operation;

static const Operation device_operations[] = {
  { "GetSystemDateAndTime", get_date },    { "GetDeviceInformation", get_information },
  { "GetServices", get_services },         { "GetServiceCapabilities", get_device_capabilities },
  { "GetCapabilities", get_capabilities }, { "GetScopes", get_scopes },
  { "GetHostname", get_hostname },
};

static const Operation media_operations[] = {
  { "GetServiceCapabilities", get_media_capabilities },
  { "GetProfiles", get_profiles },
  { "GetMetadataConfigurations", get_metadata },
  { "GetMetadataConfigurationOptions", get_metadata_options },
  { "GetStreamUri", get_uri },
  { "SetSynchronizationPoint", NULL }, /* each document is complete */
  { "GetVideoSourceConfigurations", NULL },
  { "GetVideoEncoderConfigurations", NULL },
  { "GetAudioSourceConfigurations", NULL },
  { "GetAudioEncoderConfigurations", NULL },
  { "GetAudioOutputConfigurations", NULL },
  { "GetAudioDecoderConfigurations", NULL },
  { "GetAnalyticsConfigurations", NULL },
};

static const Operation *
find_operation (const Operation *operations, guint n, const gchar *name)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (operations[i].name, name))
      return &operations[i];
  return NULL;
}

/* --- Authentication --- */

static gboolean
is_over (gpointer key, gpointer value, gpointer now)
{
  return *(gint64 *) value < *(gint64 *) now;
}

/* Returns whether the token is new, and remembers its digest for as long as it is valid. A nonce
 * can be written in several ways. */
static gboolean
use_token (Onvif *self, const gchar *digest, gint64 now)
{
  const gint64 end = now + 2 * MAX_AGE;

  if (self->cleaned != now)
    g_hash_table_foreach_remove (self->tokens, is_over, (gpointer) &now);
  self->cleaned = now;
  if (g_hash_table_size (self->tokens) >= MAX_TOKENS)
    return FALSE;
  if (g_hash_table_contains (self->tokens, digest))
    return FALSE;
  g_hash_table_insert (self->tokens, g_strdup (digest), g_memdup2 (&end, sizeof end));
  return TRUE;
}

/* Base64 of SHA-1 of nonce, time and password (Web Services Security, UsernameToken Profile). */
static gchar *
make_digest (const gchar *nonce, const gchar *created, const gchar *password)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA1);
  guint8 digest[20];
  gsize size, digest_size = sizeof digest;
  g_autofree guchar *bytes = g_base64_decode (nonce, &size);

  g_checksum_update (sum, bytes, (gssize) size);
  g_checksum_update (sum, (const guchar *) created, (gssize) strlen (created));
  g_checksum_update (sum, (const guchar *) password, (gssize) strlen (password));
  g_checksum_get_digest (sum, digest, &digest_size);
  return g_base64_encode (digest, digest_size);
}

static WebAuthResult
check_username_token (Call *call)
{
  const gchar *user = watch_soap_get (call->soap, "UsernameToken", "Username");
  const gchar *given = watch_soap_get (call->soap, "UsernameToken", "Password");
  const gchar *nonce = watch_soap_get (call->soap, "UsernameToken", "Nonce");
  const gchar *created = watch_soap_get (call->soap, "UsernameToken", "Created");
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (created, utc);
  const gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  g_autofree gchar *digest = make_digest (nonce, created, call->settings->onvif_password);
  g_autofree gchar *right = g_strconcat (call->settings->onvif_user, "\n", digest, NULL);
  g_autofree gchar *text = g_strconcat (user, "\n", given, NULL);
  WebAuthResult result = web_http_check_secret (call->request, "onvif", right, text);

  if (result != WEB_AUTH_OK)
    return result;
  if (!*nonce || !time || ABS (g_date_time_to_unix (time) - now) > MAX_AGE ||
      !use_token (call->onvif, digest, now))
    return WEB_AUTH_NEEDED;
  return WEB_AUTH_OK;
}

static WebAuthResult
check_http_digest (Call *call)
{
  SoupServerMessage *message = call->request->message;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  const gchar *header = soup_message_headers_get_list (headers, "Authorization");
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (message));
  GUri *uri = soup_server_message_get_uri (message);
  const WatchDigestRequest request = { soup_server_message_get_method (message),
                                       g_uri_get_path (uri), g_uri_get_query (uri),
                                       g_bytes_get_data (body, NULL), g_bytes_get_size (body) };
  const gint64 now = g_get_monotonic_time ();
  g_auto (WatchDigestClaim) claim = { NULL };
  WatchDigestResult read;
  WebAuthResult result;

  if (!header)
    return WEB_AUTH_NEEDED;
  read = watch_digest_read (call->onvif->digest, header, &request, call->settings->onvif_user,
                            call->settings->onvif_password, now, &claim);
  call->stale = read == WATCH_DIGEST_STALE;
  if (read != WATCH_DIGEST_CLAIMED)
    return WEB_AUTH_NEEDED;
  result = web_http_check_secret (call->request, "onvif", claim.right, claim.given);
  if (result == WEB_AUTH_OK)
    watch_digest_use (call->onvif->digest, &claim, now);
  return result;
}

static void
challenge (const Call *call)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (call->request->message);
  g_auto (GStrv) challenges =
      watch_digest_make_challenges (call->onvif->digest, call->stale, g_get_monotonic_time ());

  for (gchar **one = challenges; *one; one++)
    soup_message_headers_append (headers, "WWW-Authenticate", *one);
}

/* Returns TRUE if the call may go on; else makes a fault. */
static gboolean
check_user (Call *call)
{
  WebAuthResult result = *watch_soap_get (call->soap, "UsernameToken", "Username")
                             ? check_username_token (call)
                             : check_http_digest (call);

  if (result == WEB_AUTH_OK)
    return TRUE;
  if (result == WEB_AUTH_TOO_MANY)
    fail (call, 429, "NotAuthorized", NULL, "too many wrong passwords: wait a minute");
  else
    fail (call, SOUP_STATUS_UNAUTHORIZED, "NotAuthorized", NULL,
          result == WEB_AUTH_WRONG
              ? "the user or password is wrong"
              : "expected a UsernameToken with the digest of the password, made in the last five "
                "minutes and not used before, or HTTP digest authentication with the nonce of this "
                "answer and a count not used before");
  challenge (call);
  return FALSE;
}

static void
run (Call *call, gboolean media)
{
  const gchar *name = call->soap->operation, *prefix = media ? "tr2" : "tds";
  const Operation *operation =
      media ? find_operation (media_operations, G_N_ELEMENTS (media_operations), name)
            : find_operation (device_operations, G_N_ELEMENTS (device_operations), name);
  g_autofree gchar *start = NULL;

  /* Clients need the time to make a UsernameToken. */
  if (!(operation && operation->answer == get_date) && !check_user (call))
    return;
  if (!operation) {
    fail (call, SOUP_STATUS_BAD_REQUEST, "ActionNotSupported", NULL,
          "this operation is not supported");
    return;
  }
  if (operation->answer)
    operation->answer (call);
  if (call->status)
    return;
  start = g_strdup_printf ("<%s:%sResponse>", prefix, name);
  g_string_prepend (call->body, start);
  g_string_append_printf (call->body, "</%s:%sResponse>", prefix, name);
}

static void
onvif_free (gpointer data)
{
  Onvif *self = data;

  g_hash_table_unref (self->tokens);
  watch_digest_free (self->digest);
  g_free (self);
}

static Onvif *
get_onvif (const WebRequest *request)
{
  GObject *server = g_object_get_data (G_OBJECT (request->message), "soup");
  Onvif *self = g_object_get_data (server, "onvif");

  if (!self) {
    self = g_new0 (Onvif, 1);
    self->tokens = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
    self->digest = watch_digest_new (REALM);
    g_object_set_data_full (server, "onvif", self, onvif_free);
  }
  return self;
}

void
watch_onvif_answer (const WebRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_app_get_settings (request->app);
  SoupServerMessage *message = request->message;
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (message));
  g_auto (WatchSoap) soap = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);
  Call call = { request, get_onvif (request), settings, &soap, text, 0, FALSE };
  const gchar *path = g_uri_get_path (soup_server_message_get_uri (message));
  gchar *answer;

  if (!settings->onvif_user) {
    web_http_error (message, SOUP_STATUS_NOT_FOUND, "ONVIF is off: see the group [onvif]");
    return;
  }
  if (watch_soap_parse (&soap, g_bytes_get_data (body, NULL), g_bytes_get_size (body)))
    run (&call, g_str_equal (path, WATCH_ONVIF_MEDIA_PATH));
  else if (g_bytes_get_size (body) > 0 ||
           check_user (&call)) /* curl's request for a challenge has no body */
    fail (&call, SOUP_STATUS_BAD_REQUEST, "WellFormed", NULL, "expected an envelope of SOAP");
  answer = watch_soap_make (text->str);
  soup_server_message_set_status (message, call.status ? call.status : SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (message, "application/soap+xml; charset=utf-8",
                                    SOUP_MEMORY_TAKE, answer, strlen (answer));
}
