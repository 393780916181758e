/* cudaccl - fuzzing: the interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Requests, raw or made of a route and text, for a server with a token and one without. It ends in
 * the middle of what it does. No answer tells a password, and none is an error of the server's own
 * (500). /api/try and /api/discover are left out: they use the network. */

#include "apps/watch/http/synopsis-job.h"
#include "apps/watch/routes.h"
#include "tests/fuzz/input.h"
#include "tests/lib/watchfake.h"

#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#define CAMERAS                                                                                \
  "[camera yard]\nuri = rtsp://owner:s3cret@192.0.2.1/?key=s3cret\nzones = lawn: 0,0.5 1,0.5 " \
  "1,1\n"

static const gchar *const settings[] = {
  "[watch]\ndata = FOLDER\n[server]\nlisten = 127.0.0.1:0\n" CAMERAS,
  "[watch]\ndata = FOLDER\n[server]\nlisten = 127.0.0.1:0\ntoken-file = token\n[onvif]\n"
  "credentials = user\n" CAMERAS,
};
static WatchApp *watches[G_N_ELEMENTS (settings)];

static void
remove_watches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (watches); i++)
    watch_fake_free (watches[i]);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  g_autoptr (GBytes) picture = g_bytes_new_static ("\xff\xd8\xff\xd9", 4);

  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  gst_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (watches); i++) {
    watches[i] = watch_fake_new (settings[i]);
    watch_fake_set_picture (watches[i], picture);
  }
  atexit (remove_watches);
  return 0;
}

/* An envelope of SOAP with @text, mostly. Operations that need a password, which no input can have,
 * are refused. */
static char *
make_body (FuzzInput *input, const WebRoute *route, char *text)
{
  static const char *const operations[] = { "GetSystemDateAndTime", "GetProfiles", "Get" };
  const char *operation = operations[fuzz_below (input, G_N_ELEMENTS (operations))];
  char *body;

  if (!(route->flags & WEB_ROUTE_SOAP) || fuzz_one_in (input, 4))
    return text;
  body = g_strdup_printf ("<s:Envelope><s:Header>%s</s:Header><s:Body><%s>%s</%s></s:Body>"
                          "</s:Envelope>",
                          text, operation, text, operation);
  free (text);
  return body;
}

/* A route with text for its parts, headers, and a body. */
static GString *
make_request (FuzzInput *input)
{
  static const gchar *const headers[] = {
    "Host: localhost\r\n",
    "Host: ",
    "Authorization: Bearer a-long-token\r\n",
    "Authorization: ",
    "Cookie: cudaccl-watch=",
    "Range: bytes=",
    "Last-Event-ID: ",
    "Origin: http://localhost\r\n",
    "Sec-Fetch-Site: ",
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: ",
    "",
  };
  guint n_routes;
  const WebRoute *routes = watch_routes_get (&n_routes);
  const WebRoute *route = &routes[fuzz_below (input, n_routes)];
  GString *request = g_string_new (NULL);
  g_autofree gchar *path = g_strdup (route->path);
  gchar *part = strchr (path, '{'), *text;
  guint header;

  if (part)
    *part = '\0';
  text = fuzz_text (input, 256);
  g_string_append_printf (request, "%s %s%s%s%s", fuzz_one_in (input, 8) ? "HEAD" : route->method,
                          path, part ? (fuzz_one_in (input, 2) ? text : "yard") : "",
                          part ? strchr (route->path, '}') + 1 : "",
                          fuzz_one_in (input, 2) ? "?" : "");
  free (text);
  for (guint n = fuzz_below (input, 4); n > 0 && route->query; n--) {
    g_auto (GStrv) names = g_strsplit (route->query, " ", -1);

    text = fuzz_text (input, 64);
    g_string_append_printf (request, "&%s=%s", names[fuzz_below (input, g_strv_length (names))],
                            text);
    free (text);
  }
  g_string_append (request, " HTTP/1.1\r\nX-Cudaccl-Watch: 1\r\n");
  while ((header = fuzz_below (input, G_N_ELEMENTS (headers) + 4)) < G_N_ELEMENTS (headers) &&
         input->size) {
    g_string_append (request, headers[header]);
    if (g_str_has_suffix (headers[header], "\n"))
      continue;
    text = fuzz_text (input, 64);
    g_string_append_printf (request, "%s\r\n", text);
    free (text);
  }
  text = make_body (input, route, fuzz_text (input, input->size));
  if (route->flags & WEB_ROUTE_BODY && !strstr (request->str, "Content-Length"))
    g_string_append_printf (request, "Host: localhost\r\nContent-Length: %zu\r\n", strlen (text));
  g_string_append_printf (request, "\r\n%s", text);
  free (text);
  return request;
}

static void
check_answer (GMemoryOutputStream *stream)
{
  gsize size = g_memory_output_stream_get_data_size (stream);
  const gchar *answer = g_memory_output_stream_get_data (stream);

  if (!answer)
    return;
  fuzz_check (!memmem (answer, size, "s3cret", 6), "a secret in %.*s", (int) size, answer);
  fuzz_check (size < 12 || memcmp (answer, "HTTP/1.1 500", 12) != 0, "%.*s", (int) size, answer);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  WatchApp *watch = watches[fuzz_below (&input, G_N_ELEMENTS (watches))];
  g_autoptr (GString) request =
      fuzz_one_in (&input, 3) ? g_string_new_len ((const gchar *) input.data, (gssize) input.size)
                              : make_request (&input);
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new_from_string ("127.0.0.1", 80);
  g_autoptr (GInputStream) in = NULL;
  g_autoptr (GOutputStream) out = g_memory_output_stream_new_resizable ();
  GError *error = NULL;
  WebServer *server = watch_server_new (watch, &error);
  GIOStream *stream;
  gpointer alive;

  fuzz_check (server != NULL, "%s", error ? error->message : "");
  /* Else it would run this program. */
  watch_synopsis_job_set_program (web_server_get_state (server), "/bin/true");
  g_string_replace (request, "/api/try", "/api/tri", 0);
  g_string_replace (request, "/api/discover", "/api/discovet", 0);
  in = g_memory_input_stream_new_from_data (request->str, (gssize) request->len, NULL);
  stream = alive = g_simple_io_stream_new (in, out);
  g_object_add_weak_pointer (G_OBJECT (stream), &alive);
  web_server_accept (server, stream, address, address);
  g_object_unref (stream);
  for (guint idle = 0; alive && idle < 20;) {
    if (!g_main_context_iteration (NULL, FALSE)) {
      g_usleep (50);
      idle++;
    }
  }
  if (alive)
    g_object_remove_weak_pointer (alive, &alive);
  web_server_free (server);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  fuzz_check (watch_fake_get_viewers (watch) == 0, "a viewer is left");
  check_answer (G_MEMORY_OUTPUT_STREAM (out));
  watch_fake_reset (watch);
  return 0;
}
