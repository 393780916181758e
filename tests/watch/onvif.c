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
make_reader (WatchMetadata *metadata, const gchar *camera)
{
  GstElement *pipeline =
      gst_parse_launch ("appsrc name=source format=time is-live=true do-timestamp=true ! "
                        "appsink name=sink sync=false",
                        NULL);
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
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
  gint width;

  watch_metadata_add_camera (metadata, "yard");
  watch_metadata_set_changed (metadata, on_changed, NULL);
  watch_metadata_add_camera (metadata, "door");
  fail_unless_equals_int (n_present, 2);
  fail_if (watch_metadata_is_wanted (metadata, "yard", 1234566));
  yard = make_reader (metadata, "yard");
  door = make_reader (metadata, "door");
  fail_unless (watch_metadata_is_wanted (metadata, "door", 7));

  gst_buffer_add_ccl_meta (frame, 640, 480, 1, &object, 1);
  /* It is not passed on: its timestamp could be wrong. */
  gst_element_set_state (yard, GST_STATE_PAUSED);
  copy = watch_metadata_copy (frame, 1234566);
  watch_metadata_push (metadata, "yard", copy, 640, 480);
  gst_buffer_unref (copy);
  gst_element_set_state (yard, GST_STATE_PLAYING);

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

#define PROBE(content) ENVELOPE ("<a:MessageID>uuid:&lt;1&gt;</a:MessageID>", content)

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
    { "<Probe/>", FALSE },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (WatchSettings) settings =
      watch_settings_parse ("/watch.conf", "[watch]\ndata = /tmp\n", &error);
  g_autoptr (WatchProbe) probe = NULL, of_one = NULL;
  g_autofree gchar *answer_of_one = NULL;

  fail_unless (settings != NULL, "%s", error ? error->message : "");
  g_free (settings->listen);
  settings->listen = g_strdup ("0.0.0.0:8480");
  probe = watch_probe_new (settings, "https://vm:8480/");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *answer =
        watch_probe_make_answer (probe, cases[i].text, strlen (cases[i].text), "192.0.2.7");

    fail_unless ((answer != NULL) == cases[i].answered, "%s", cases[i].text);
    fail_if (answer && !strstr (answer, ">https://192.0.2.7:8480/onvif/device_service<"));
    fail_if (answer && !strstr (answer, "<a:RelatesTo>uuid:&lt;1&gt;</a:RelatesTo>"));
  }
  /* Where the page has one address, the machine's others do not answer. */
  g_free (settings->listen);
  settings->listen = g_strdup ("192.0.2.9:8480");
  of_one = watch_probe_new (settings, "http://192.0.2.9:8480/");
  answer_of_one =
      watch_probe_make_answer (of_one, cases[0].text, strlen (cases[0].text), "192.0.2.7");
  fail_unless (strstr (answer_of_one, ">http://192.0.2.9:8480/onvif/device_service<") != NULL);
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
  return s;
}

GST_CHECK_MAIN (onvif);
