/* cudaccl - tests of the CUDA context that all pipelines of a process share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Needs no device: the driver's functions that the elements call, and those of GstCuda that call
 * the driver, are replaced by those below. They pretend that there are N_DEVICES devices. */

#include "tests/lib/cclcudatest.h"

#include <gmodule.h>

#define N_DEVICES 2
#define N_PIPELINES 16

static gint n_wrapped; /* atomic: contexts made so far */

static CUcontext
primary_context (CUdevice device)
{
  return GSIZE_TO_POINTER (4096 * (gsize) (device + 1));
}

G_MODULE_EXPORT CUresult
cuInit (unsigned int flags)
{
  return CUDA_SUCCESS;
}

G_MODULE_EXPORT CUresult
cuDeviceGet (CUdevice *device, int ordinal)
{
  *device = ordinal;

  return ordinal < N_DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

G_MODULE_EXPORT CUresult
cuDevicePrimaryCtxRetain (CUcontext *context, CUdevice device)
{
  *context = primary_context (device);

  return CUDA_SUCCESS;
}

G_MODULE_EXPORT CUresult
cuCtxPushCurrent_v2 (CUcontext context)
{
  return CUDA_SUCCESS;
}

G_MODULE_EXPORT CUresult
cuCtxPopCurrent_v2 (CUcontext *context)
{
  return CUDA_SUCCESS;
}

G_MODULE_EXPORT CUresult
cuCtxGetApiVersion (CUcontext context, unsigned *version)
{
  *version = 3020;

  return CUDA_SUCCESS;
}

G_MODULE_EXPORT CUresult
cuCtxGetDevice (CUdevice *device)
{
  return CUDA_ERROR_INVALID_CONTEXT;
}

G_MODULE_EXPORT gboolean
gst_cuda_load_library (void)
{
  return TRUE;
}

static GstCudaContext *
context_new (gint device)
{
  GstCudaContext *context =
      g_object_new (GST_TYPE_CUDA_CONTEXT, "cuda-device-id", (guint) device, NULL);

  return gst_object_ref_sink (context);
}

G_MODULE_EXPORT GstCudaContext *
gst_cuda_context_new_wrapped (CUcontext handle, CUdevice device)
{
  fail_unless (handle == primary_context (device));
  g_atomic_int_inc (&n_wrapped);

  return context_new (device);
}

/* An element that gets its context as a decoder does, but makes none of its own. */
typedef struct
{
  GstElement parent;

  gint device; /* -1: any */
  GstCudaContext *context;
} Decoder;

typedef GstElementClass DecoderClass;

GType decoder_get_type (void);
G_DEFINE_TYPE (Decoder, decoder, GST_TYPE_ELEMENT)

static void
decoder_set_context (GstElement *element, GstContext *context)
{
  Decoder *self = (Decoder *) element;

  gst_cuda_handle_set_context (element, context, self->device, &self->context);
  GST_ELEMENT_CLASS (decoder_parent_class)->set_context (element, context);
}

static gboolean
ask_peer (Decoder *self, const gchar *name)
{
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (self), name);
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstContext *context;

  if (gst_pad_peer_query (pad, query)) {
    gst_query_parse_context (query, &context);
    gst_element_set_context (GST_ELEMENT (self), context);
  }
  gst_query_unref (query);
  gst_object_unref (pad);

  return self->context != NULL;
}

static GstStateChangeReturn
decoder_change_state (GstElement *element, GstStateChange transition)
{
  Decoder *self = (Decoder *) element;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !self->context && !ask_peer (self, "src") &&
      !ask_peer (self, "sink"))
    gst_element_post_message (
        element, gst_message_new_need_context (GST_OBJECT (element), GST_CUDA_CONTEXT_TYPE));
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_clear_object (&self->context);

  return GST_ELEMENT_CLASS (decoder_parent_class)->change_state (element, transition);
}

static gboolean
decoder_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT &&
      gst_cuda_handle_context_query (GST_ELEMENT (parent), query, ((Decoder *) parent)->context))
    return TRUE;

  return gst_pad_query_default (pad, parent, query);
}

static void
decoder_finalize (GObject *object)
{
  gst_clear_object (&((Decoder *) object)->context);
  G_OBJECT_CLASS (decoder_parent_class)->finalize (object);
}

static void
decoder_class_init (DecoderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = decoder_finalize;
  klass->set_context = decoder_set_context;
  klass->change_state = decoder_change_state;
  gst_element_class_set_static_metadata (klass, "Decoder", "Test", "Asks for a context", "cudaccl");
}

static void
add_pad (Decoder *self, const gchar *name, GstPadDirection direction)
{
  GstPad *pad = gst_pad_new (name, direction);

  gst_pad_set_query_function (pad, decoder_query);
  gst_element_add_pad (GST_ELEMENT (self), pad);
}

static void
decoder_init (Decoder *self)
{
  self->device = -1;
  add_pad (self, "sink", GST_PAD_SINK);
  add_pad (self, "src", GST_PAD_SRC);
}

/* A pipeline of two decoders with elements between them. */
typedef struct
{
  GstElement *pipeline;
  Decoder *first, *last;
} Line;

static Decoder *
add_decoder (GstElement *pipeline)
{
  Decoder *decoder = g_object_new (decoder_get_type (), NULL);

  gst_bin_add (GST_BIN (pipeline), GST_ELEMENT (decoder));

  return decoder;
}

static void
line_init (Line *self, const gchar *elements)
{
  GError *error = NULL;
  GstElement *bin = gst_parse_bin_from_description (elements, TRUE, &error);

  fail_unless (bin != NULL, "%s", error ? error->message : "");
  self->pipeline = gst_pipeline_new (NULL);
  self->first = add_decoder (self->pipeline);
  gst_bin_add (GST_BIN (self->pipeline), bin);
  self->last = add_decoder (self->pipeline);
  fail_unless (
      gst_element_link_many (GST_ELEMENT (self->first), bin, GST_ELEMENT (self->last), NULL));
}

static void
line_open (Line *self)
{
  fail_unless_equals_int (gst_element_set_state (self->pipeline, GST_STATE_READY),
                          GST_STATE_CHANGE_SUCCESS);
}

static void
line_clear (Line *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->pipeline);
}

static gint
device_of (GstCudaContext *context)
{
  guint device;

  g_object_get (context, "cuda-device-id", &device, NULL);

  return (gint) device;
}

static gpointer
open_line (gpointer line)
{
  line_open (line);

  return NULL;
}

/* Pipelines that open at the same time get one context, which goes away with the last of them. */
GST_START_TEST (test_pipelines)
{
  static const gchar *const elements[] = { "cudaccl", "cclcolor", "cudaccl ! queue ! cclcolor" };
  gint wrapped = g_atomic_int_get (&n_wrapped);
  GThread *threads[N_PIPELINES];
  Line lines[N_PIPELINES];
  GstCudaContext *context;
  guint i;

  for (i = 0; i < N_PIPELINES; i++)
    line_init (&lines[i], elements[i % G_N_ELEMENTS (elements)]);
  for (i = 0; i < N_PIPELINES; i++)
    threads[i] = g_thread_new (NULL, open_line, &lines[i]);
  for (i = 0; i < N_PIPELINES; i++)
    g_thread_join (threads[i]);

  context = lines[0].last->context;
  fail_unless (context != NULL);
  fail_unless_equals_int (device_of (context), 0);
  g_object_add_weak_pointer (G_OBJECT (context), (gpointer *) &context);
  for (i = 0; i < N_PIPELINES; i++) {
    fail_unless (lines[i].last->context == context);
    fail_unless (lines[i].first->context == context);
  }
  fail_unless_equals_int (g_atomic_int_get (&n_wrapped), wrapped + 1);

  for (i = 0; i < N_PIPELINES; i++) {
    fail_unless (context != NULL);
    line_clear (&lines[i]);
  }
  fail_unless (context == NULL);

  /* The next one is as good as the first. */
  line_init (&lines[0], "cudaccl");
  line_open (&lines[0]);
  fail_unless (lines[0].last->context != NULL);
  fail_unless_equals_int (g_atomic_int_get (&n_wrapped), wrapped + 2);
  line_clear (&lines[0]);
}
GST_END_TEST;

/* A context for each device; devices that do not exist and the CPU backend have none. */
GST_START_TEST (test_devices)
{
  static const struct
  {
    const gchar *elements;
    gint device; /* -1: none */
  } cases[] = {
    { "cudaccl cuda-device-id=0", 0 },
    { "cudaccl cuda-device-id=1 backend=cuda", 1 },
    { "cudaccl cuda-device-id=2", -1 },
    { "cudaccl backend=cpu", -1 },
    { "cudaccl backend=cpu ! cudaccl cuda-device-id=1", 1 },
  };
  Line lines[G_N_ELEMENTS (cases)];
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    line_init (&lines[i], cases[i].elements);
    line_open (&lines[i]);
    fail_unless_equals_int (lines[i].first->context ? device_of (lines[i].first->context) : -1,
                            cases[i].device);
    for (j = 0; j < i; j++)
      fail_unless_equals_int (cases[i].device == cases[j].device,
                              lines[i].first->context == lines[j].first->context);
  }

  /* A neighbour that wants another device does not take it. */
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    line_clear (&lines[i]);
  line_init (&lines[0], "cudaccl cuda-device-id=1");
  lines[0].last->device = 0;
  line_open (&lines[0]);
  fail_unless (lines[0].last->context == NULL);
  fail_unless_equals_int (device_of (lines[0].first->context), 1);
  line_clear (&lines[0]);
}
GST_END_TEST;

/* Answers elements of ours that need a context, as an application with one does. */
static GstBusSyncReply
give_context (GstBus *bus, GstMessage *message, gpointer data)
{
  const gchar *type;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_NEED_CONTEXT &&
      gst_message_parse_context_type (message, &type) &&
      g_str_equal (type, GST_CUDA_CONTEXT_TYPE)) {
    GstContext *context = gst_context_new_cuda_context (data);

    gst_element_set_context (GST_ELEMENT (GST_MESSAGE_SRC (message)), context);
    gst_context_unref (context);
  }

  return GST_BUS_PASS;
}

/* The contexts of the application and of neighbours come before the shared one. */
GST_START_TEST (test_precedence)
{
  GstCudaContext *own = context_new (0);
  gint wrapped = g_atomic_int_get (&n_wrapped);
  GstBus *bus;
  Line line;

  line_init (&line, "cudaccl ! cclcolor");
  bus = gst_element_get_bus (line.pipeline);
  gst_bus_set_sync_handler (bus, give_context, own, NULL);
  line_open (&line);
  fail_unless (line.first->context == own);
  fail_unless (line.last->context == own);
  line_clear (&line);
  gst_object_unref (bus);

  line_init (&line, "cudaccl ! cclcolor");
  line.first->context = gst_object_ref (own);
  line_open (&line);
  fail_unless (line.last->context == own);
  line_clear (&line);

  fail_unless_equals_int (g_atomic_int_get (&n_wrapped), wrapped);
  fail_unless_equals_int (G_OBJECT (own)->ref_count, 1);
  gst_object_unref (own);
}
GST_END_TEST;

/* Other contexts than CUDA's are left to others. */
GST_START_TEST (test_other_types)
{
  GstElement *element = ccl_test_element_new (NULL, NULL);
  GstPad *pad = gst_element_get_static_pad (element, "src");
  GstQuery *query = gst_query_new_context ("gst.gl.GLDisplay");

  fail_if (gst_pad_query (pad, query));

  gst_query_unref (query);
  gst_object_unref (pad);
  gst_object_unref (element);
}
GST_END_TEST;

static Suite *
cudashared_suite (void)
{
  Suite *s = suite_create ("cudashared");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_pipelines);
  tcase_add_test (tc, test_devices);
  tcase_add_test (tc, test_precedence);
  tcase_add_test (tc, test_other_types);

  return s;
}

GST_CHECK_MAIN (cudashared);
