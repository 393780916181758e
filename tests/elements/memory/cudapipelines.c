/* cudaccl - tests of pipelines with GStreamer's elements for CUDA
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For every frame, the device's components are compared with the CPU's for the same pixels. */

#include "tests/lib/cclcudatest.h"

#include <string.h>

#include "tests/lib/rings.h"

/* Filled by the streaming thread, which must not assert. */
typedef struct
{
  CclAnalyzer *analyzer; /* on the CPU */
  GstVideoInfo info;
  guint frames, on_device, components;
  gchar *wrong; /* of the first wrong frame */
} Comparison;

static gboolean
comparison_start (Comparison *self, GstPad *pad)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  CclConfig config;
  gboolean ok = gst_video_info_from_caps (&self->info, caps);

  gst_caps_unref (caps);
  ccl_config_init (&config, (guint32) GST_VIDEO_INFO_WIDTH (&self->info),
                   (guint32) GST_VIDEO_INFO_HEIGHT (&self->info));
  config.backend = CCL_BACKEND_CPU;

  return ok && ccl_analyzer_new (&config, &self->analyzer) == CCL_OK;
}

static gboolean
is_same (const GstCclMeta *meta, const CclComponents *wanted)
{
  guint i, n = meta->n_components;

  for (i = 0; n == wanted->count && i < n; i++) {
    const GstCclComponent *a = &meta->components[i];
    const CclComponent *b = &wanted->items[i];

    if (a->x != b->x || a->y != b->y || a->width != b->width || a->height != b->height ||
        a->area != b->area)
      return FALSE;
  }

  return n == wanted->count && meta->found == wanted->found;
}

/* The fault of a mapped frame's components, or NULL. */
static gchar *
compare_frame (Comparison *self, GstVideoFrame *frame)
{
  CclImage image = {
    .data = GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
    .stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0),
    .memory = CCL_MEMORY_HOST,
  };
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (frame->buffer);
  CclComponents components;
  CclParams params;

  ccl_params_init (&params);
  if (ccl_analyzer_analyze (self->analyzer, &image, &params, &components) != CCL_OK)
    return g_strdup (ccl_last_error ());
  self->components += components.count;
  if (!meta)
    return g_strdup ("it has no components");
  if (!is_same (meta, &components))
    return g_strdup_printf ("it has %u components, of which the CPU finds %u", meta->n_components,
                            components.count);

  return NULL;
}

static gchar *
compare_buffer (Comparison *self, GstPad *pad, GstBuffer *buffer)
{
  GstVideoFrame frame;
  gchar *wrong;

  self->on_device += gst_is_cuda_memory (gst_buffer_peek_memory (buffer, 0));
  if (!self->analyzer && !comparison_start (self, pad))
    return g_strdup_printf ("its caps are wrong: %s", ccl_last_error ());
  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READ))
    return g_strdup ("it cannot be downloaded");
  wrong = compare_frame (self, &frame);
  gst_video_frame_unmap (&frame);

  return wrong;
}

/* On a frame that leaves the element. */
static GstPadProbeReturn
compare (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Comparison *self = data;

  if (!self->wrong)
    self->wrong = compare_buffer (self, pad, GST_PAD_PROBE_INFO_BUFFER (probe));
  self->frames++;

  return GST_PAD_PROBE_OK;
}

static gboolean
have_elements (const gchar *const *names)
{
  guint i;

  for (i = 0; names[i]; i++) {
    GstElementFactory *factory = gst_element_factory_find (names[i]);

    if (!factory) {
      g_print ("skipped: no element %s\n", names[i]);
      return FALSE;
    }
    gst_object_unref (factory);
  }

  return TRUE;
}

/* Pushes the video into the appsrc, if there is one. */
static void
push_video (GstElement *pipeline)
{
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstFlowReturn ret;
  GstBuffer *buffer;
  guchar *data;
  gsize size;

  if (!source)
    return;
  data = g_base64_decode (rings, &size);
  buffer = gst_buffer_new_wrapped (data, size);
  g_signal_emit_by_name (source, "push-buffer", buffer, &ret);
  fail_unless_equals_int (ret, GST_FLOW_OK);
  g_signal_emit_by_name (source, "end-of-stream", &ret);
  gst_buffer_unref (buffer);
  gst_object_unref (source);
}

/* Runs a pipeline with the element "ccl" to EOS, and asserts the number of frames and of those
 * in CUDAMemory. */
static void
run_pipeline (const gchar *description, guint frames, guint on_device)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);
  Comparison comparison = { .analyzer = NULL };
  GstMessage *message;
  GstBus *bus;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  ccl_test_probe (pipeline, "ccl", "src", compare, &comparison);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push_video (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (comparison.wrong == NULL, "of %u frames one is wrong: %s", comparison.frames,
               comparison.wrong);
  fail_unless (message != NULL, "after %u frames it hangs", comparison.frames);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    fail ("%s: %s", GST_MESSAGE_SRC_NAME (message), error->message);
  }
  fail_unless_equals_int (comparison.frames, frames);
  fail_unless_equals_int (comparison.on_device, on_device);
  fail_unless (comparison.components > frames);

  ccl_analyzer_free (comparison.analyzer);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

static const struct
{
  const gchar *format;
  const gchar *filter; /* after cudaupload, which does not upload if it need not */
  guint on_device;
} uploads[] = {
  { "NV12", "", 0 },
  { "NV12", "video/x-raw(memory:CUDAMemory) !", 20 },
  { "I420", "video/x-raw(memory:CUDAMemory) !", 20 },
  { "Y444", "video/x-raw(memory:CUDAMemory) ! queue !", 20 },
};

/* Upload, analysis, download. */
GST_START_TEST (test_upload)
{
  static const gchar *const needed[] = { "cudaupload", "cudadownload", NULL };
  gchar *description;

  if (!have_elements (needed))
    return;
  description = g_strdup_printf (
      "videotestsrc num-buffers=20 pattern=zone-plate kx2=14 ky2=14 kt=9 ! "
      "video/x-raw,format=%s,width=322,height=242 ! cudaupload ! %s cudaccl name=ccl "
      "backend=cuda ! cudadownload ! video/x-raw ! fakesink",
      uploads[__i__].format, uploads[__i__].filter);
  run_pipeline (description, 20, uploads[__i__].on_device);
  g_free (description);
}
GST_END_TEST;

static const gchar *const decoding[] = {
  "nvh264dec ! cudaccl name=ccl ! fakesink",
  "nvh264dec ! video/x-raw(memory:CUDAMemory) ! queue ! cudaccl name=ccl ! queue ! fakesink",
  "nvh264dec ! cudaccl name=ccl ! cudadownload ! video/x-raw ! fakesink",
};

/* Decoded frames are analysed on the device, even if another memory could be negotiated. */
GST_START_TEST (test_decoder)
{
  static const gchar *const needed[] = { "appsrc", "h264parse", "nvh264dec", "cudadownload", NULL };
  gchar *description;

  if (!have_elements (needed))
    return;
  description =
      g_strdup_printf ("appsrc name=source caps=video/x-h264,stream-format=byte-stream ! h264parse "
                       "! %s",
                       decoding[__i__]);
  run_pipeline (description, 12, 12);
  g_free (description);
}
GST_END_TEST;

static Suite *
cudapipelines_suite (void)
{
  Suite *s = suite_create ("cudapipelines");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  gst_cuda_load_library ();
  tcase_add_loop_test (tc, test_upload, 0, G_N_ELEMENTS (uploads));
  tcase_add_loop_test (tc, test_decoder, 0, G_N_ELEMENTS (decoding));

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, cudapipelines_suite, "cudapipelines", __FILE__);
}
