/* cudaccl - tests of elements whose properties change, and are read, while frames pass
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/values.h"
#include "tests/lib/ccltest.h"
#include "tests/lib/ortfake/ortfake.h"

#include <glib/gstdio.h>

/* Nothing is expected but that frames pass and streams end. What else is wrong, GLib's criticals
 * and sanitizers say, most of all that for threads. */

#define N_FRAMES 40
#define N_STARTS 10

#define SOURCE                                              \
  "videotestsrc name=source num-buffers=%d pattern=ball ! " \
  "video/x-raw,format=%s,width=96,height=64,framerate=25/1 ! "

typedef struct
{
  const gchar *format, *elements;
} Case;

static const Case cases[] = {
  { "GRAY8", "cudaccl backend=cpu ! cclzones zones=\"a: 0,0 0.5,0 0.5,1 0,1\"" },
  { "RGB", "cclcolor backend=cpu ! ccltrack ! cclonvif" },
  { "I420", "cclmask backend=cpu" },
  { "NV12", "cclmotion backend=cpu ! ccltrack ! cclzones tripwires=\"b: 0.5,0 0.5,1\""
#ifdef HAVE_OVERLAY
            " ! ccloverlay"
#endif
#ifdef HAVE_JSON_GLIB
            " ! ccljson"
#endif
  },
  { "GRAY8", "tee name=t t. ! queue ! cclmerge name=merge t. ! queue ! cudaccl backend=cpu ! "
             "merge.components merge." },
  { "RGB", "ccldetect model=%s library=%s ! ccltrack" },
};

static gchar *model;

/* The fake's model sees pictures of 64x64 pixels, and finds nothing. */
static void
make_model (void)
{
  static gfloat table[84 * 7];
  gint fd;

  model = g_build_filename (g_get_tmp_dir (), "cclthreads-model-XXXXXX", NULL);
  fd = g_mkstemp (model);
  fail_unless (fd >= 0);
  g_close (fd, NULL);
  ort_fake = (OrtFake){
    .input = { "images", ORT_TYPE_FLOAT, 4, { 1, 3, 64, 64 } },
    .n_inputs = 1,
    .n_outputs = 1,
    .outputs = { { "output", ORT_TYPE_FLOAT, 3, { 1, 84, 7 }, table } },
  };
}

static void
remove_model (void)
{
  g_remove (model);
  g_clear_pointer (&model, g_free);
}

typedef struct
{
  GstElement *pipeline;
  guint32 seed;
  gint ended;
} Visitor;

/* Whether the element is one of ours. */
static gboolean
is_ours (GstElement *element)
{
  return g_str_has_prefix (G_OBJECT_TYPE_NAME (element), "GstCcl") ||
         g_str_has_prefix (G_OBJECT_TYPE_NAME (element), "GstCudaccl");
}

/* Whether to set the property; not if most values are errors: names of files, and what ccljson's
 * schemas do not have. */
static gboolean
is_settable (const GParamSpec *spec)
{
  const GParamFlags flags = G_PARAM_WRITABLE | GST_PARAM_MUTABLE_PLAYING;

  return (spec->flags & flags) == flags && !g_str_equal (spec->name, "config") &&
         !g_str_equal (spec->name, "lines");
}

static void
visit_property (GstElement *element, GParamSpec *spec, FuzzInput *input)
{
  GValue value = G_VALUE_INIT;

  if (is_settable (spec) && !fuzz_one_in (input, 3)) {
    gchar *text = fuzz_valid_value (input, spec);

    gst_util_set_object_arg (G_OBJECT (element), spec->name, text);
    g_free (text);
  } else if (spec->flags & G_PARAM_READABLE) {
    g_value_init (&value, spec->value_type);
    g_object_get_property (G_OBJECT (element), spec->name, &value);
    g_value_unset (&value);
  }
}

static void
query (GstElement *element, GstQuery *query)
{
  gst_element_query (element, query);
  gst_query_unref (query);
}

static void
visit (GstElement *element, FuzzInput *input)
{
  GParamSpec **specs;
  guint n;

  switch (fuzz_below (input, 20)) {
  case 0:
    query (element, gst_query_new_latency ());
    break;
  case 1:
    query (element, gst_query_new_caps (NULL));
    break;
  default:
    specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
    visit_property (element, specs[fuzz_below (input, n)], input);
    g_free (specs);
  }
}

/* Runs in a thread: it must not assert. */
static gpointer
visit_all (gpointer data)
{
  const Visitor *visitor = data;
  GRand *random = g_rand_new_with_seed (visitor->seed);
  guint8 bytes[256];
  guint i;

  while (!g_atomic_int_get (&visitor->ended)) {
    FuzzInput input = { bytes, sizeof (bytes) };
    GList *element;

    for (i = 0; i < sizeof (bytes); i++)
      bytes[i] = (guint8) g_rand_int (random);
    for (element = GST_BIN (visitor->pipeline)->children; element; element = element->next) {
      if (is_ours (element->data) && fuzz_one_in (&input, 2))
        visit (element->data, &input);
    }
    g_usleep (100);
  }
  g_rand_free (random);

  return NULL;
}

/* Plays until the stream ends, or an error by values that contradict each other ends it. */
static void
play (GstElement *pipeline)
{
  const GstMessageType types = GST_MESSAGE_EOS | GST_MESSAGE_ERROR;
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), 100 * GST_SECOND, types);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (message != NULL, "the stream does not end");
  gst_message_unref (message);
}

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  gint *n = user_data;

  g_atomic_int_inc (n);

  return GST_PAD_PROBE_OK;
}

/* Two threads visit all elements while these start, pass frames, and stop. */
GST_START_TEST (test_threads)
{
  const guint32 seed = g_random_int ();
  g_autofree gchar *elements = g_strdup_printf (cases[__i__].elements, model, ort_fake_path ());
  g_autofree gchar *text =
      g_strdup_printf (SOURCE "%s ! fakesink", N_FRAMES, cases[__i__].format, elements);
  GstElement *pipeline = gst_parse_launch (text, NULL);
  Visitor visitors[2] = { { pipeline, seed }, { pipeline, seed + 1 } };
  GThread *threads[2];
  gint n_frames = 0;
  guint i;

  g_print ("%s: seed %u\n", elements, seed);
  fail_unless (pipeline != NULL, "%s", text);
  ccl_test_probe (pipeline, "source", "src", count_frame, &n_frames);
  for (i = 0; i < 2; i++)
    threads[i] = g_thread_new (NULL, visit_all, &visitors[i]);
  for (i = 0; i < N_STARTS; i++)
    play (pipeline);
  for (i = 0; i < 2; i++) {
    g_atomic_int_set (&visitors[i].ended, TRUE);
    g_thread_join (threads[i]);
  }
  g_print ("%d frames\n", n_frames);
  /* Each start has one frame more only if the one before it was no error. */
  fail_unless (n_frames > N_STARTS);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
cclthreads_suite (void)
{
  Suite *s = suite_create ("cclthreads");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_unchecked_fixture (tc, make_model, remove_model);
  tcase_add_loop_test (tc, test_threads, 0, G_N_ELEMENTS (cases));

  return s;
}

GST_CHECK_MAIN (cclthreads);
