/* cudaccl-watch - tests of what ONVIF needs: metadata passed on, messages of SOAP, probes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/app/app.h>
#include <gst/ccl/gstccl.h>
#include <gst/check/gstcheck.h>
#include <string.h>

#include "apps/watch/camera/metadata.h"
#include "apps/watch/onvif/probe.h"
#include "apps/watch/onvif/soap.h"
#include "apps/watch/settings/settings.h"

/* --- Metadata --- */

static GstElement *
make_reader (WatchMetadata *metadata, const gchar *camera, GstState state)
{
  GstElement *pipeline =
      gst_parse_launch ("appsrc name=source format=time is-live=true do-timestamp=true ! "
                        "appsink name=sink sync=false",
                        NULL);
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");

  gst_element_set_state (pipeline, state);
  watch_metadata_add_source (metadata, camera, GST_APP_SRC (source));
  gst_object_unref (source);
  return pipeline;
}

static void
free_reader (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* How many buffers wait in the source. */
static guint64
count_waiting (GstElement *pipeline)
{
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  guint64 n;

  g_object_get (source, "current-level-buffers", &n, NULL);
  gst_object_unref (source);
  return n;
}

/* Returns the next buffer and its size, or NULL at the end of the stream. */
static GstBuffer *
pull (GstElement *pipeline, gint *width)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 20 * GST_SECOND);
  GstBuffer *buffer = NULL;

  if (sample) {
    buffer = gst_buffer_ref (gst_sample_get_buffer (sample));
    fail_unless (gst_structure_get_int (gst_caps_get_structure (gst_sample_get_caps (sample), 0),
                                        "width", width));
    gst_sample_unref (sample);
  } else {
    fail_unless (gst_app_sink_is_eos (GST_APP_SINK (sink)), "nothing came");
  }
  gst_object_unref (sink);
  return buffer;
}

static guint n_present;

static void
on_changed (const gchar *camera, gboolean present, gpointer user_data)
{
  n_present += present ? 1 : (guint) -1;
}

GST_START_TEST (test_metadata)
{
  static const GstCclComponent object = { .label = 1, .width = 8, .height = 8, .track = 5 };
  g_autoptr (WatchMetadata) metadata = watch_metadata_new ();
  GstBuffer *frame = gst_buffer_new_and_alloc (1000), *copy, *found;
  GstElement *yard, *door;
  GstReferenceTimestampMeta *time;
  GstCclMeta *meta;
  guint64 n[2];
  gint width;

  watch_metadata_add_camera (metadata, "yard");
  watch_metadata_set_changed (metadata, on_changed, NULL);
  watch_metadata_add_camera (metadata, "door");
  fail_unless_equals_int (n_present, 2);
  fail_if (watch_metadata_is_wanted (metadata, "yard", 1234566));
  gst_buffer_add_ccl_meta (frame, 640, 480, 1, &object, 1);

  /* Not passed on to a source that does not play yet: its timestamp could be wrong. */
  yard = make_reader (metadata, "yard", GST_STATE_PAUSED);
  n[0] = count_waiting (yard);
  copy = watch_metadata_copy (frame, 1234566);
  watch_metadata_push (metadata, "yard", copy, 640, 480);
  gst_buffer_unref (copy);
  n[1] = count_waiting (yard);
  free_reader (yard);
  fail_unless_equals_uint64 (n[0], 1);
  fail_unless_equals_uint64 (n[1], 1);

  yard = make_reader (metadata, "yard", GST_STATE_PLAYING);
  door = make_reader (metadata, "door", GST_STATE_PLAYING);
  fail_unless (watch_metadata_is_wanted (metadata, "door", 7));
  copy = watch_metadata_copy (frame, 1234567);
  gst_buffer_unref (frame);
  watch_metadata_push (metadata, "yard", copy, 640, 480);
  gst_buffer_unref (copy);
  watch_metadata_remove_camera (metadata, "door");

  /* The first is there at once, and says nothing; its time is not after that of the next. */
  found = pull (yard, &width);
  fail_unless (gst_buffer_get_ccl_meta (found) == NULL);
  time = gst_buffer_get_reference_timestamp_meta (found, NULL);
  fail_unless_equals_uint64 (time->timestamp, 1234566000);
  gst_buffer_unref (found);
  found = pull (yard, &width);
  fail_unless_equals_int (width, 640);
  fail_unless_equals_int (gst_buffer_get_size (found), 0);
  meta = gst_buffer_get_ccl_meta (found);
  fail_unless (meta && meta->n_components == 1 && meta->components[0].track == 5);
  time = gst_buffer_get_reference_timestamp_meta (found, NULL);
  fail_unless_equals_uint64 (time->timestamp, 1234567000);
  gst_buffer_unref (found);

  gst_buffer_unref (pull (door, &width));
  fail_unless (pull (door, &width) == NULL, "the other camera's, or no end");
  fail_unless_equals_int (n_present, 1);

  free_reader (door);
  free_reader (yard);
  /* The next frame finds that they are gone. */
  copy = gst_buffer_new ();
  watch_metadata_push (metadata, "yard", copy, 640, 480);
  gst_buffer_unref (copy);
  fail_if (watch_metadata_is_wanted (metadata, "yard", 1234568));
}
GST_END_TEST;

/* --- SOAP --- */

#define ENVELOPE(header, body)                                                                    \
  "<?xml version=\"1.0\"?><s:Envelope xmlns:s=\"a\"><s:Header>" header "</s:Header><s:Body>" body \
  "</s:Body></s:Envelope>"

GST_START_TEST (test_soap)
{
  static const struct
  {
    const gchar *text, *operation, *value; /* Get/A */
  } cases[] = {
    { ENVELOPE ("", "<t:Get/>"), "Get", "" },
    { ENVELOPE ("", "<Get><t:A> a&amp;<!-- b --><![CDATA[<]]> </t:A></Get>"), "Get", "a&<" },
    { ENVELOPE ("", "<Get><A>a</A><A>b</A></Get>"), "Get", "a b" },
    { ENVELOPE ("", "<Get><B><A>a</A></B></Get>"), "Get", "" },
    { ENVELOPE ("<Get><A>h</A></Get>", "<Get/><Other/>"), "Get", "h" },
    { ENVELOPE ("", ""), NULL, NULL },
    { ENVELOPE ("", "<Get></Other>"), NULL, NULL },
    { "<Body><Get/></Body>", NULL, NULL },
    { "<a><Envelope><Body><Get/></Body></Envelope></a>", NULL, NULL },
    { "<!DOCTYPE a [<!ENTITY b \"c\">]>" ENVELOPE ("", "<Get><A>&b;</A></Get>"), NULL, NULL },
    { ENVELOPE ("", "<Get>\xff</Get>"), NULL, NULL },
    { "", NULL, NULL },
  };
  g_autofree gchar *many = g_strnfill (WATCH_SOAP_MAX_TEXT, 'a'), *text = NULL, *deep = NULL;
  g_autoptr (GString) values = g_string_new (NULL), begin = g_string_new (NULL);
  g_autoptr (GString) end = g_string_new (NULL);
  g_auto (WatchSoap) soap = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (WatchSoap) one = { 0 };
    gboolean valid = watch_soap_parse (&one, cases[i].text, strlen (cases[i].text));

    fail_unless (valid == (cases[i].operation != NULL), "%s", cases[i].text);
    if (valid) {
      fail_unless_equals_string (one.operation, cases[i].operation);
      fail_unless_equals_string (watch_soap_get (&one, NULL, "A"), cases[i].value);
    }
  }
  /* Elements may be nested, but not without end: a reader's time would grow with its square. */
  for (guint depth = 4; depth <= WATCH_SOAP_MAX_DEPTH + 1; depth++) {
    g_auto (WatchSoap) one = { 0 };

    g_string_append (begin, "<A>");
    g_string_append (end, "</A>");
    g_free (deep);
    deep = g_strdup_printf (ENVELOPE ("", "<Get>%s%s</Get>"), begin->str, end->str);
    fail_unless (watch_soap_parse (&one, deep, strlen (deep)) == (depth <= WATCH_SOAP_MAX_DEPTH));
  }
  /* Objects beyond the limit are left out. */
  for (guint i = 0; i < 2 * WATCH_SOAP_MAX_VALUES; i++)
    g_string_append_printf (values, "<A%u>%s</A%u><B>%s</B>", i, many, i, many);
  text = g_strdup_printf (ENVELOPE ("", "<Get>%s<C>%s&#98;</C></Get>"), values->str, many);
  fail_unless (watch_soap_parse (&soap, text, strlen (text)));
  fail_unless_equals_int (g_hash_table_size (soap.values), WATCH_SOAP_MAX_VALUES);
  fail_unless_equals_int (strlen (watch_soap_get (&soap, NULL, "B")), WATCH_SOAP_MAX_TEXT);
}
GST_END_TEST;

/* --- Probes --- */

/* As short as clients send them. */
#define PROBE_WITH(header, content)                                                \
  "<e:Envelope xmlns:e=\"http://www.w3.org/2003/05/soap-envelope\""                \
  " xmlns:a=\"http://schemas.xmlsoap.org/ws/2004/08/addressing\""                  \
  " xmlns:d=\"http://schemas.xmlsoap.org/ws/2005/04/discovery\"><e:Header>" header \
  "<a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>"                      \
  "<a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action>"     \
  "</e:Header><e:Body>" content "</e:Body></e:Envelope>"
#define PROBE(content) PROBE_WITH ("<a:MessageID>uuid:&lt;1&gt;</a:MessageID>", content)
#define SECOND G_TIME_SPAN_SECOND

static gchar *
answer_probe (WatchProbe *probe, const gchar *text, const gchar *address, guint port, gint64 now)
{
  g_autoptr (GSocketAddress) sender = g_inet_socket_address_new_from_string (address, port);
  gchar *answer = watch_probe_make_answer (probe, text, strlen (text), sender, now);

  fail_if (answer && strlen (answer) > 4 * strlen (text), "%s", text);
  return answer;
}

static WatchProbe *
make_probe (const gchar *listen, const gchar *uri)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (WatchSettings) settings =
      watch_settings_parse ("/watch.conf", "[watch]\ndata = /tmp\n", &error);

  fail_unless (settings != NULL, "%s", error ? error->message : "");
  g_free (settings->listen);
  settings->listen = g_strdup (listen);
  return watch_probe_new (settings, uri);
}

GST_START_TEST (test_probe)
{
  static const struct
  {
    const gchar *text;
    gboolean answered;
  } cases[] = {
    { PROBE ("<d:Probe/>"), TRUE },
    { PROBE ("<Probe><Types>dn:NetworkVideoTransmitter</Types></Probe>"), TRUE },
    { PROBE ("<Probe><Types>x:Printer  y:Device</Types></Probe>"), TRUE },
    { PROBE ("<Probe><Types>x:Printer</Types></Probe>"), FALSE },
    { PROBE ("<Probe><Types>NetworkVideoTransmitters</Types></Probe>"), FALSE },
    { PROBE ("<Probe><Scopes>onvif://www.onvif.org/type\n onvif://www.onvif.org/</Scopes></Probe>"),
      TRUE },
    { PROBE ("<Probe><Scopes>onvif://www.onvif.org/type/analytics</Scopes></Probe>"), TRUE },
    { PROBE ("<Probe><Scopes>onvif://www.onvif.org/type/analy</Scopes></Probe>"), FALSE },
    { PROBE (
          "<Probe><Scopes>onvif://www.onvif.org onvif://www.onvif.org/type/ptz</Scopes></Probe>"),
      FALSE },
    { PROBE ("<ProbeMatches/>"), FALSE },
    { PROBE_WITH ("", "<d:Probe/>"), FALSE },
    { PROBE_WITH ("<a:MessageID> </a:MessageID>", "<d:Probe/>"), FALSE },
    { ENVELOPE ("<MessageID>1</MessageID>", "<Probe/>"), FALSE }, /* too short */
    { "<Probe/>", FALSE },
  };
  g_autoptr (WatchProbe) probe = make_probe ("0.0.0.0:8480", "https://vm:8480/");
  /* Where the page has one address, the machine's others do not answer. */
  g_autoptr (WatchProbe) of_one = make_probe ("192.0.2.9:8480", "http://192.0.2.9:8480/");
  g_autofree gchar *answer_of_one =
      answer_probe (of_one, cases[0].text, "127.0.0.1", 40000, SECOND);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *answer =
        answer_probe (probe, cases[i].text, "127.0.0.1", 40000, (i + 1) * 10 * SECOND);

    fail_unless ((answer != NULL) == cases[i].answered, "%s", cases[i].text);
    fail_if (answer && !strstr (answer, ">https://127.0.0.1:8480/onvif/device_service<"));
    fail_if (answer && !strstr (answer, "<a:RelatesTo>uuid:&lt;1&gt;</a:RelatesTo>"));
  }
  fail_unless (strstr (answer_of_one, ">http://192.0.2.9:8480/onvif/device_service<") != NULL);
}
GST_END_TEST;

static gboolean
is_answered (WatchProbe *probe, guint id, const gchar *address, guint port, gint64 now)
{
  g_autofree gchar *text =
      g_strdup_printf (PROBE_WITH ("<a:MessageID>%u</a:MessageID>", "<d:Probe/>"), id);
  g_autofree gchar *answer = answer_probe (probe, text, address, port, now);

  return answer != NULL;
}

/* Forged senders get few bytes, and keep no other from an answer. */
GST_START_TEST (test_hostile_probes)
{
  g_autoptr (WatchProbe) probe = make_probe ("0.0.0.0:8480", "http://vm:8480/");
  g_autofree gchar *id = g_strnfill (300, '&'), *escaped = g_markup_escape_text (id, -1);
  g_autofree gchar *long_id =
      g_strdup_printf (PROBE_WITH ("<a:MessageID>%s</a:MessageID>", "<d:Probe/>"), escaped);
  g_autofree gchar *of_long_id = answer_probe (probe, long_id, "127.0.0.1", 40000, SECOND);
  guint n = 0;

  fail_if (of_long_id);
  for (guint i = 0; i < 1000; i++)
    g_free (
        answer_probe (probe, i % 2 ? "garbage" : PROBE ("<Other/>"), "127.0.0.1", 40000, SECOND));
  fail_unless (is_answered (probe, 1, "127.0.0.1", 40000, SECOND));
  /* Sent twice; another socket of the machine. */
  fail_if (is_answered (probe, 1, "127.0.0.1", 40000, SECOND + SECOND / 2));
  fail_if (is_answered (probe, 1, "127.0.0.1", 40000, 2 * SECOND));
  fail_unless (is_answered (probe, 1, "127.0.0.1", 40001, 2 * SECOND));
  fail_unless (is_answered (probe, 1, "127.0.0.1", 40000, 4 * SECOND), "with the same id");
  fail_if (is_answered (probe, 2, "127.0.0.1", 19, 10 * SECOND), "chargen");
  /* This machine is in one of these networks at most. */
  fail_if (is_answered (probe, 2, "198.51.100.7", 40000, 10 * SECOND) &&
           is_answered (probe, 2, "203.0.113.7", 40000, 10 * SECOND));
  fail_if (is_answered (probe, 2, "239.255.255.250", 3702, 10 * SECOND));
  fail_if (is_answered (probe, 2, "255.255.255.255", 3702, 10 * SECOND));
  for (guint i = 0; i < 100; i++)
    n += is_answered (probe, i, "127.0.0.2", 40000, 10 * SECOND);
  fail_unless_equals_int (n, 5);
  fail_unless (is_answered (probe, 2, "127.0.0.1", 40000, 10 * SECOND), "another address");
  fail_if (is_answered (probe, 99, "127.0.0.2", 40000, 11 * SECOND - 1));
  fail_unless (is_answered (probe, 99, "127.0.0.2", 40000, 11 * SECOND), "the next second");
  n = 0;
  for (guint i = 0; i < 250; i++) {
    g_autofree gchar *address = g_strdup_printf ("127.0.1.%u", i);

    n += is_answered (probe, 1, address, 40000, 20 * SECOND);
  }
  fail_unless_equals_int (n, 100);
}
GST_END_TEST;

static Suite *
onvif_suite (void)
{
  Suite *s = suite_create ("onvif");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_metadata);
  tcase_add_test (tc, test_soap);
  tcase_add_test (tc, test_probe);
  tcase_add_test (tc, test_hostile_probes);
  return s;
}

GST_CHECK_MAIN (onvif);
