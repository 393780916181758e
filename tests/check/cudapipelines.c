/* cudaccl - tests of pipelines with GStreamer's elements for CUDA
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Of all frames, what the element finds in CUDAMemory is what the CPU finds in the same pixels. */

#include "cclcudatest.h"

#include <string.h>

#include "rings.h"

typedef struct
{
  CclAnalyzer *analyzer; /* on the CPU */
  GstVideoInfo info;
  guint frames, components;
} Comparison;

static void
comparison_start (Comparison *self, GstPad *pad)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  CclConfig config;

  fail_unless (gst_video_info_from_caps (&self->info, caps));
  gst_caps_unref (caps);
  ccl_config_init (&config, (guint32) GST_VIDEO_INFO_WIDTH (&self->info),
                   (guint32) GST_VIDEO_INFO_HEIGHT (&self->info));
  config.backend = CCL_BACKEND_CPU;
  fail_unless (ccl_analyzer_new (&config, &self->analyzer) == CCL_OK);
}

static void
check_components (const GstCclMeta *meta, const CclComponents *wanted)
{
  guint i;

  fail_unless_equals_int (meta->found, wanted->found);
  fail_unless_equals_int (meta->n_components, wanted->count);
  for (i = 0; i < wanted->count; i++) {
    const GstCclComponent *a = &meta->components[i];
    const CclComponent *b = &wanted->items[i];

    fail_unless_equals_int (a->x, b->x);
    fail_unless_equals_int (a->y, b->y);
    fail_unless_equals_int (a->width, b->width);
    fail_unless_equals_int (a->height, b->height);
    fail_unless_equals_uint64 (a->area, b->area);
  }
}

/* Of a frame that leaves the element. */
static GstPadProbeReturn
compare (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  Comparison *self = data;
  CclImage image = { .memory = CCL_MEMORY_HOST };
  CclComponents components;
  GstVideoFrame frame;
  CclParams params;

  if (!self->analyzer)
    comparison_start (self, pad);
  fail_unless (gst_is_cuda_memory (gst_buffer_peek_memory (buffer, 0)));
  fail_unless (gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READ));
  image.data = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
  image.stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
  ccl_params_init (&params);
  fail_unless (ccl_analyzer_analyze (self->analyzer, &image, &params, &components) == CCL_OK);
  check_components (gst_buffer_get_ccl_meta (buffer), &components);
  gst_video_frame_unmap (&frame);
  self->frames++;
  self->components += components.count;

  return GST_PAD_PROBE_OK;
}

static gboolean
have_elements (const gchar *const *names)
{
  guint i;

  for (i = 0; names[i]; i++) {
    GstElementFactory *factory = gst_element_factory_find (names[i]);

    if (!factory) {
      g_print ("skipped: there is no element %s here\n", names[i]);
      return FALSE;
    }
    gst_object_unref (factory);
  }

  return TRUE;
}

/* Gives the video to the source, if there is one to be given to. */
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

/* Runs to the end a pipeline with the element "ccl", and asserts that it gave so many frames. */
static void
run_pipeline (const gchar *description, guint frames)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error), *element;
  Comparison comparison = { NULL };
  GstMessage *message;
  GstPad *pad;
  GstBus *bus;

  fail_unless (error == NULL, "%s", error ? error->message : "");
  element = gst_bin_get_by_name (GST_BIN (pipeline), "ccl");
  pad = gst_element_get_static_pad (element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, compare, &comparison, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push_video (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "it hangs");
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    fail ("%s: %s", GST_MESSAGE_SRC_NAME (message), error->message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (comparison.frames, frames);
  fail_unless (comparison.components > frames);

  ccl_analyzer_free (comparison.analyzer);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

static const gchar *const formats[] = { "NV12", "I420", "Y444" };

/* Up, through the element and down again. */
GST_START_TEST (test_upload)
{
  static const gchar *const needed[] = { "cudaupload", "cudadownload", NULL };
  gchar *description;

  if (!have_elements (needed))
    return;
  description = g_strdup_printf (
      "videotestsrc num-buffers=20 pattern=zone-plate kx2=14 ky2=14 kt=9 ! "
      "video/x-raw,format=%s,width=322,height=242 ! cudaupload ! cudaccl name=ccl ! cudadownload ! "
      "video/x-raw ! fakesink",
      formats[__i__]);
  run_pipeline (description, 20);
  g_free (description);
}
GST_END_TEST;

static const gchar *const decoding[] = {
  "nvh264dec ! cudaccl name=ccl ! fakesink",
  "nvh264dec ! video/x-raw(memory:CUDAMemory) ! queue ! cudaccl name=ccl ! queue ! fakesink",
  "nvh264dec ! cudaccl name=ccl ! cudadownload ! video/x-raw ! fakesink",
};

/* What a decoder leaves on the device is read there, also where it may go elsewhere. */
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
  run_pipeline (description, 12);
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
  tcase_add_loop_test (tc, test_upload, 0, G_N_ELEMENTS (formats));
  tcase_add_loop_test (tc, test_decoder, 0, G_N_ELEMENTS (decoding));

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, cudapipelines_suite, "cudapipelines", __FILE__);
}
