/* cudaccl - tests of elements whose device fails
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* This program contains the plugin, so that it can make calls of CUDA fail. Most tests run on a
 * fake of CUDA, which finds no components: a frame with components was analysed by the CPU. */

#include "tests/lib/ccltest.h"
#include "tests/lib/cudafake.h"
#include "tests/lib/cudafault.h"
#include "tests/lib/device.h"

#include <string.h>

void gst_plugin_cudaccl_register (void);

/* A way to fail. */
static const struct
{
  const gchar *only; /* the function that fails; NULL: any */
  cudaError_t error;
  gboolean sticky;
  gint code; /* of the message, in the domain of resources */
} failures[] = {
  { "cudaMalloc", cudaErrorMemoryAllocation, FALSE, GST_RESOURCE_ERROR_NO_SPACE_LEFT },
  { "cudaHostAlloc", cudaErrorMemoryAllocation, FALSE, GST_RESOURCE_ERROR_NO_SPACE_LEFT },
  { "cudaStreamCreateWithFlags", cudaErrorMemoryAllocation, FALSE,
    GST_RESOURCE_ERROR_NO_SPACE_LEFT },
  { "cuDevicePrimaryCtxRetain", cudaErrorMemoryAllocation, FALSE,
    GST_RESOURCE_ERROR_NO_SPACE_LEFT },
  { "cudaMalloc", cudaErrorECCUncorrectable, TRUE, GST_RESOURCE_ERROR_FAILED },
};

/* The same for a frame of a size for which there is an analyzer. */
static const struct
{
  const gchar *only;
  cudaError_t error;
  gboolean sticky;
  gint code;
  gboolean late; /* the device is still working when it is waited for */
} frame_failures[] = {
  { "cudaHostAlloc", cudaErrorMemoryAllocation, FALSE, GST_RESOURCE_ERROR_NO_SPACE_LEFT },
  { "cudaHostGetDevicePointer", cudaErrorIllegalAddress, TRUE, GST_RESOURCE_ERROR_FAILED },
  { "cuStreamWriteValue32_v2", cudaErrorLaunchFailure, TRUE, GST_RESOURCE_ERROR_FAILED },
  { "cudaStreamQuery", cudaErrorIllegalAddress, TRUE, GST_RESOURCE_ERROR_FAILED, TRUE },
  { "cuCtxPushCurrent_v2", cudaErrorContextIsDestroyed, TRUE, GST_RESOURCE_ERROR_FAILED },
};

static void
begin (void)
{
  test_cuda_fake_late_values = FALSE;
  test_cuda_fake_devices = 1;
  test_cuda_fault_begin (&test_cuda_fake);
}

static void
arm (const gchar *only, cudaError_t error, gboolean sticky)
{
  test_cuda_fault_arm (only ? 1 : 0, error, sticky);
  test_cuda_fault.only = only;
}

static void
disarm (void)
{
  arm (NULL, cudaSuccess, FALSE);
}

/* Everything is freed, whatever has failed. */
static void
end (void)
{
  gboolean lost = test_cuda_fault.failed && g_str_has_prefix (test_cuda_fault.failed, "cuCtx");

  fail_unless (test_cuda_fault.live == 0 || lost, "%u resources of CUDA are left",
               test_cuda_fault.live);
  fail_unless (!test_cuda_fault.freed_twice);
  fail_unless_equals_int (test_cuda_fault.entered, 0);
  test_cuda_fault_end ();
}

/* One message says that the CPU goes on, and why. */
static void
check_warning (GstHarness *h, gint code)
{
  GstMessage *message = ccl_test_pop_message (h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  GError *error = NULL;

  fail_unless (message != NULL, "no warning was posted");
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code), "got %s %d: %s",
               g_quark_to_string (error->domain), error->code, error->message);
  fail_unless (strstr (error->message, "CPU") && strstr (error->message, "CUDA: "), "%s",
               error->message);
  if (test_cuda_fault.failed)
    fail_unless (strstr (error->message, test_cuda_fault.failed) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
}

static void
check_no_message (GstHarness *h)
{
  fail_unless (ccl_test_pop_message (h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
}

/* With backend auto, the CPU goes on where CUDA does not start. */
GST_START_TEST (test_auto_at_start)
{
  GstHarness *h;

  begin ();
  arm (failures[__i__].only, failures[__i__].error, failures[__i__].sticky);
  h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=auto");
  ccl_test_push_picture (h);
  check_warning (h, failures[__i__].code);
  ccl_test_push_picture (h);
  check_no_message (h);

  ccl_test_harness_free (h);
  end ();
}
GST_END_TEST;

/* The same when the caps change; with the next caps, CUDA is tried again. */
GST_START_TEST (test_auto_at_caps)
{
  GstHarness *h;

  begin ();
  h = ccl_test_launch (40, 30, "cudaccl backend=auto");
  ccl_test_push (h, ccl_test_black_new (40, 30));
  check_no_message (h);

  arm (failures[__i__].only, failures[__i__].error, failures[__i__].sticky);
  ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
  ccl_test_push_picture (h);
  check_warning (h, failures[__i__].code);

  disarm ();
  ccl_test_set_caps (h, "GRAY8", 40, 30);
  ccl_test_push (h, ccl_test_black_new (40, 30));
  check_no_message (h);
  fail_unless (test_cuda_fault.calls > 0, "CUDA is not tried again");

  ccl_test_harness_free (h);
  end ();
}
GST_END_TEST;

/* The same on a frame, which is not lost; the next caps may be of the same size. */
GST_START_TEST (test_auto_on_frame)
{
  GstHarness *h;

  begin ();
  h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=auto");
  arm (frame_failures[__i__].only, frame_failures[__i__].error, frame_failures[__i__].sticky);
  test_cuda_fake_late_values = frame_failures[__i__].late;
  ccl_test_push_picture (h);
  check_warning (h, frame_failures[__i__].code);
  ccl_test_push_picture (h);
  check_no_message (h);

  disarm ();
  ccl_test_set_caps (h, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  check_no_message (h);
  fail_unless (test_cuda_fault.calls > 0, "CUDA is not tried again");

  ccl_test_harness_free (h);
  end ();
}
GST_END_TEST;

/* With cclmotion, whichever call fails, of the model or of the analysis: of the caps, then of a
 * frame. */
GST_START_TEST (test_auto_with_model)
{
  const cudaError_t error = __i__ % 2 ? cudaErrorIllegalAddress : cudaErrorMemoryAllocation;
  gboolean at_caps = __i__ < 2, all = FALSE;
  guint64 n;
  guint frame;

  for (n = 1; !all; n++) {
    GstElement *element = gst_element_factory_make ("cclmotion", NULL);
    GstHarness *h;

    begin ();
    if (at_caps)
      test_cuda_fault_arm (n, error, __i__ % 2);
    h = ccl_test_harness_new (element, "GRAY8", 40, 30);
    for (frame = 0; frame < 3; frame++) {
      if (!at_caps && frame == 1)
        test_cuda_fault_arm (n, error, __i__ % 2);
      fail_unless (gst_harness_push (h, ccl_test_black_new (40, 30)) == GST_FLOW_OK,
                   "frame %u is lost when call %" G_GUINT64_FORMAT " fails", frame, n);
    }
    all = test_cuda_fault.calls < n;
    if (all)
      check_no_message (h);

    ccl_test_harness_free (h);
    end ();
  }
  fail_unless (n > 20, "only %" G_GUINT64_FORMAT " calls were made to fail", n);
}
GST_END_TEST;

/* With backend cuda, all of these are errors, and the next start works. */
GST_START_TEST (test_cuda)
{
  GstHarness *h;

  begin ();
  h = ccl_test_launch (40, 30, "cudaccl backend=cuda");
  ccl_test_push (h, ccl_test_black_new (40, 30));

  arm (failures[__i__].only, failures[__i__].error, failures[__i__].sticky);
  ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
  ccl_test_check_error (h, GST_RESOURCE_ERROR, failures[__i__].code, failures[__i__].only);

  disarm ();
  ccl_test_restart (h, GST_STATE_READY);
  ccl_test_drain (h);
  ccl_test_set_caps (h, "GRAY8", 40, 30);
  ccl_test_push (h, ccl_test_black_new (40, 30));
  check_no_message (h);

  ccl_test_harness_free (h);
  end ();
}
GST_END_TEST;

GST_START_TEST (test_cuda_on_frame)
{
  GstHarness *h;

  begin ();
  h = ccl_test_launch (40, 30, "cudaccl backend=cuda");
  arm (frame_failures[__i__].only, frame_failures[__i__].error, frame_failures[__i__].sticky);
  test_cuda_fake_late_values = frame_failures[__i__].late;
  fail_unless_equals_int (gst_harness_push (h, ccl_test_black_new (40, 30)), GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_RESOURCE_ERROR, frame_failures[__i__].code,
                        frame_failures[__i__].only);
  ccl_test_harness_free (h);

  disarm ();
  h = ccl_test_launch (40, 30, "cudaccl backend=cuda");
  ccl_test_push (h, ccl_test_black_new (40, 30));
  check_no_message (h);

  ccl_test_harness_free (h);
  end ();
}
GST_END_TEST;

/* The device is gone after a restart. That is what backend auto is for, and needs no warning. */
GST_START_TEST (test_device_gone)
{
  gboolean is_auto = __i__ == 0;
  GstHarness *h;

  begin ();
  h = ccl_test_launch (40, 30, "cudaccl backend=%s", is_auto ? "auto" : "cuda");
  ccl_test_push (h, ccl_test_black_new (40, 30));

  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_READY),
                          GST_STATE_CHANGE_SUCCESS);
  test_cuda_fake_devices = 0;
  if (is_auto) {
    ccl_test_restart (h, GST_STATE_READY);
    ccl_test_drain (h);
    ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
    ccl_test_push_picture (h);
    check_no_message (h);
  } else {
    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PAUSED),
                            GST_STATE_CHANGE_FAILURE);
    ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "CUDA");
  }

  ccl_test_harness_free (h);
  end ();
}
GST_END_TEST;

/* Another user of the device takes its memory while frames flow. */
GST_START_TEST (test_full_device)
{
  const gint width = 3840, height = 2160;
  GstHarness *h, *other;
  void *ballast;

  if (!test_device_available ()) {
    g_print ("skipping the full device: %s\n", ccl_last_error ());
    return;
  }

  h = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=auto");
  other = ccl_test_launch (PICTURE_WIDTH, PICTURE_HEIGHT, "cudaccl backend=cuda");
  ccl_test_push_picture (h);
  ccl_test_push_picture (other);
  ballast = test_device_fill ();
  ccl_test_push_picture (h);
  ccl_test_push_picture (other);

  ccl_test_set_caps (h, "GRAY8", width, height);
  ccl_test_push (h, ccl_test_black_new ((guint) width, (guint) height));
  check_warning (h, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  ccl_test_set_caps (other, "GRAY8", width, height);
  ccl_test_check_error (other, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "cudaMalloc");

  test_device_empty (ballast);
  ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
  ccl_test_push_picture (h);
  check_no_message (h);
  ccl_test_restart (other, GST_STATE_READY);
  ccl_test_drain (other);
  ccl_test_set_caps (other, "GRAY8", width, height);
  ccl_test_push (other, ccl_test_black_new ((guint) width, (guint) height));
  check_no_message (other);

  ccl_test_harness_free (other);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
devicefailures_suite (void)
{
  Suite *s = suite_create ("devicefailures");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_auto_at_start, 0, G_N_ELEMENTS (failures));
  tcase_add_loop_test (tc, test_auto_at_caps, 0, G_N_ELEMENTS (failures));
  tcase_add_loop_test (tc, test_auto_on_frame, 0, G_N_ELEMENTS (frame_failures));
  tcase_add_loop_test (tc, test_auto_with_model, 0, 4);
  tcase_add_loop_test (tc, test_cuda, 0, G_N_ELEMENTS (failures));
  tcase_add_loop_test (tc, test_cuda_on_frame, 0, G_N_ELEMENTS (frame_failures));
  tcase_add_loop_test (tc, test_device_gone, 0, 2);
  tcase_add_test (tc, test_full_device);

  return s;
}

int
main (int argc, char **argv)
{
  /* Only the elements in this program: those of the plugin have a table of their own. */
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_check_init (&argc, &argv);
  gst_plugin_cudaccl_register ();

  return gst_check_run_suite (devicefailures_suite (), "devicefailures", __FILE__);
}
