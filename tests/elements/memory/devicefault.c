/* cudaccl - tests of a device that fails while pipelines run
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* After such a failure CUDA is unusable in the process, so each kind of memory has its own: this
 * program with the kind as argument. */

#include "tests/lib/ccltest.h"
#include "tests/lib/device.h"

#include <string.h>
#include <unistd.h>

#ifdef HAVE_GSTCUDA
#include "tests/lib/cclcudatest.h"
#endif
#ifdef HAVE_NVMM
#include "tests/lib/cclnvmmtest.h"
#endif

/* An address that is not mapped. */
#define NOWHERE GSIZE_TO_POINTER (4096)

#define GOOD_FRAMES 20

/* A pipeline that runs until the device fails. */
typedef struct
{
  const gchar *memory;
  GstBuffer *frame; /* pushed by appsrc again and again; NULL: another source */
  gpointer context; /* of the frames; NULL: the device's primary one */
  gboolean lie;     /* a frame with a bad address makes the device fail */
  gboolean trap;    /* a kernel of the application does */
  gint n_frames;    /* atomic */
} Run;

/* Makes the device fail, as any other user of the context may. */
static gboolean
break_device (gpointer context)
{
  CclImage image = { .data = NOWHERE, .stride = 64, .memory = CCL_MEMORY_DEVICE };
  CclComponents components;
  CclAnalyzer *analyzer;
  CclConfig config;
  CclParams params;
  CclStatus status;

  ccl_config_init (&config, 64, 64);
  ccl_params_init (&params);
  config.backend = CCL_BACKEND_CUDA;
  config.device = TEST_DEVICE;
  config.cuda_context = context;
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK)
    return FALSE;
  status = ccl_analyzer_analyze (analyzer, &image, &params, &components);
  ccl_analyzer_free (analyzer);

  return status == CCL_ERROR_DEVICE;
}

static gboolean
map_nowhere (GstVideoMeta *meta, guint plane, GstMapInfo *info, gpointer *data, gint *stride,
             GstMapFlags flags)
{
  *data = info->data = NOWHERE;
  info->size = 1 << 20;
  *stride = meta->stride[plane];

  return TRUE;
}

static gboolean
unmap_nowhere (GstVideoMeta *meta, guint plane, GstMapInfo *info)
{
  return TRUE;
}

static GstPadProbeReturn
on_frame (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Run *run = data;

  if (g_atomic_int_add (&run->n_frames, 1) != GOOD_FRAMES)
    return GST_PAD_PROBE_OK;

  if (run->lie) {
    GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (probe));
    GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

    meta->map = map_nowhere;
    meta->unmap = unmap_nowhere;
    GST_PAD_PROBE_INFO_DATA (probe) = buffer;
  } else if (run->trap) {
    test_device_trap ();
  } else if (!break_device (run->context)) {
    g_printerr ("the device does not fail: %s\n", ccl_last_error ());
    _exit (1);
  }

  return GST_PAD_PROBE_OK;
}

static void
on_need_data (GstElement *source, guint length, gpointer data)
{
  Run *run = data;
  GstFlowReturn ret;

  g_signal_emit_by_name (source, "push-buffer", run->frame, &ret);
}

static GstElement *
pipeline_new (Run *run)
{
  GstElement *pipeline, *source;
  gchar *description;

  description = g_strdup_printf (
      "%s ! queue ! cudaccl name=ccl backend=cuda ! queue ! fakesink",
      run->frame ? "appsrc name=source format=time"
                 : "videotestsrc name=source ! video/x-raw,format=GRAY8,width=320,height=240");
  pipeline = gst_parse_launch (description, NULL);
  g_free (description);
  if (run->frame) {
    gchar *text = g_strdup_printf ("video/x-raw(%s),format=NV12,width=%d,height=%d,framerate=30/1",
                                   run->memory, PICTURE_WIDTH, PICTURE_HEIGHT);
    GstCaps *caps = gst_caps_from_string (text);

    source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
    g_object_set (source, "caps", caps, NULL);
    g_signal_connect (source, "need-data", G_CALLBACK (on_need_data), run);
    gst_object_unref (source);
    gst_caps_unref (caps);
    g_free (text);
  }
  ccl_test_probe (pipeline, "ccl", "sink", on_frame, run);

  return pipeline;
}

/* Whether the message is the element's error about the failed device. */
static gboolean
check_message (GstMessage *message)
{
  GError *error = NULL;
  gboolean good;

  if (!message || GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR) {
    g_printerr ("no error came\n");
    return FALSE;
  }
  gst_message_parse_error (message, &error, NULL);
  good = g_str_equal (GST_MESSAGE_SRC_NAME (message), "ccl") &&
         g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED) &&
         strstr (error->message, "restart the program") != NULL;
  if (!good)
    g_printerr ("%s posted %s %d: %s\n", GST_MESSAGE_SRC_NAME (message),
                g_quark_to_string (error->domain), error->code, error->message);
  g_error_free (error);

  return good;
}

/* Frames flow, the device fails, the element posts an error, and the pipeline stops. */
static gboolean
run_until_failure (Run *run)
{
  GstElement *pipeline = pipeline_new (run);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gboolean good;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  good = check_message (message) && g_atomic_int_get (&run->n_frames) > GOOD_FRAMES;
  gst_clear_message (&message);
  if (gst_element_set_state (pipeline, GST_STATE_NULL) != GST_STATE_CHANGE_SUCCESS) {
    g_printerr ("the pipeline does not stop\n");
    good = FALSE;
  }
  gst_object_unref (bus);
  gst_object_unref (pipeline);

  return good;
}

static gboolean
run_pool (void)
{
  Run run = { .memory = NULL };

  return run_until_failure (&run);
}

static gboolean
run_trap (void)
{
  Run run = { .trap = TRUE };

  return run_until_failure (&run);
}

/* The analyzer of @context, which the application has destroyed, fails. */
static gboolean
check_destroyed (CclAnalyzer *analyzer, const CclImage *image)
{
  CclComponents components;
  CclParams params;

  ccl_params_init (&params);
  if (ccl_analyzer_analyze (analyzer, image, &params, &components) == CCL_OK ||
      !strstr (ccl_last_error (), "CUDA: ")) {
    g_printerr ("a destroyed context works: %s\n", ccl_last_error ());
    return FALSE;
  }

  return TRUE;
}

/* Somebody else destroys the context: an error, nothing hangs, and another context works. */
static gboolean
run_destroyed (void)
{
  static guint8 pixels[64 * 64];
  CclImage image = { .data = pixels, .stride = 64, .memory = CCL_MEMORY_HOST };
  gboolean good = TRUE;
  gint i;

  for (i = 0; i < 3; i++) {
    gpointer context = test_device_context_new ();
    CclComponents components;
    CclAnalyzer *analyzer;
    CclConfig config;
    CclParams params;
    gint k;

    ccl_config_init (&config, 64, 64);
    ccl_params_init (&params);
    config.backend = CCL_BACKEND_CUDA;
    config.cuda_context = context;
    if (ccl_analyzer_new (&config, &analyzer) != CCL_OK) {
      g_printerr ("start %d fails: %s\n", i, ccl_last_error ());
      return FALSE;
    }
    for (k = 0; k < GOOD_FRAMES; k++)
      good = good && ccl_analyzer_analyze (analyzer, &image, &params, &components) == CCL_OK;
    test_device_context_free (context);
    good = good && check_destroyed (analyzer, &image);
    ccl_analyzer_free (analyzer);
  }

  return good;
}

#ifdef HAVE_GSTCUDA
static gboolean
run_cuda (gboolean lie)
{
  GstCudaContext *context;
  Run run = { .memory = "memory:CUDAMemory", .lie = lie };

  gst_cuda_load_library ();
  context = gst_cuda_context_new (TEST_DEVICE);
  run.context = gst_cuda_context_get_handle (context);
  run.frame = ccl_test_cuda_picture_new (context, "NV12", TRUE);

  return run_until_failure (&run);
}

static gboolean
run_cuda_failure (void)
{
  return run_cuda (FALSE);
}

static gboolean
run_cuda_lie (void)
{
  return run_cuda (TRUE);
}
#endif

#ifdef HAVE_NVMM
/* The surface is not freed: a failed device frees nothing. */
static gboolean
run_nvmm (void)
{
  const NvmmKind kind = { NVBUF_MEM_SURFACE_ARRAY, NVBUF_LAYOUT_PITCH };
  Run run = { .memory = "memory:NVMM" };

  run.frame = ccl_test_nvmm_buffer_new (
      ccl_test_nvmm_memory_new (ccl_test_nvmm_surface_new (&kind, FALSE)));

  return run_until_failure (&run);
}
#endif

static const struct
{
  const gchar *name;
  gboolean (*run) (void);
} runs[] = {
  { "pool", run_pool },         { "trap", run_trap },         { "destroyed", run_destroyed },
#ifdef HAVE_GSTCUDA
  { "cuda", run_cuda_failure }, { "cuda-lie", run_cuda_lie },
#endif
#ifdef HAVE_NVMM
  { "nvmm", run_nvmm },
#endif
};

GST_START_TEST (test_failure)
{
  const gchar *argv[] = { "/proc/self/exe", runs[__i__].name, NULL };
  GError *error = NULL;
  gint status = -1;

  fail_unless (g_spawn_sync (NULL, (gchar **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                             &status, &error),
               "%s", error ? error->message : "");
  fail_unless_equals_int (status, 0);
}
GST_END_TEST;

static guint chosen;

/* In the process for one kind. */
GST_START_TEST (test_chosen)
{
  fail_unless (runs[chosen].run ());
}
GST_END_TEST;

static Suite *
chosen_suite (void)
{
  Suite *s = suite_create (runs[chosen].name);
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_chosen);

  return s;
}

static Suite *
devicefault_suite (void)
{
  Suite *s = suite_create ("devicefault");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_failure, 0, G_N_ELEMENTS (runs));

  return s;
}

int
main (int argc, char **argv)
{
  for (chosen = 0; argc == 2 && chosen < G_N_ELEMENTS (runs); chosen++) {
    if (g_str_equal (argv[1], runs[chosen].name))
      return ccl_test_main_with_device (argc, argv, chosen_suite, runs[chosen].name, __FILE__);
  }

  return ccl_test_main_with_device (argc, argv, devicefault_suite, "devicefault", __FILE__);
}
