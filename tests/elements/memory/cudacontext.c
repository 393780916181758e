/* cudaccl - tests of the CUDA context that the element shares with its neighbours
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclcudatest.h"
#include "tests/lib/device.h"

/* The element's answer to a context query on @pad, without a reference, which the element or the
 * process keeps; NULL if it has none. */
static GstCudaContext *
query_context (GstPad *pad)
{
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstCudaContext *found = NULL;
  GstContext *context;

  if (gst_pad_peer_query (pad, query)) {
    gst_query_parse_context (query, &context);
    fail_unless (gst_structure_get (gst_context_get_structure (context), GST_CUDA_CONTEXT_TYPE,
                                    GST_TYPE_CUDA_CONTEXT, &found, NULL));
    gst_object_unref (found);
  }
  gst_query_unref (query);

  return found;
}

/* A context that is set is used and passed on; the frames' context replaces it. */
GST_START_TEST (test_sharing)
{
  GstCudaContext *given = gst_cuda_context_new (TEST_DEVICE);
  GstCudaContext *other = gst_cuda_context_new (TEST_DEVICE);
  GstContext *context = gst_context_new_cuda_context (given);
  GstElement *element = ccl_test_element_new (NULL, NULL);
  GstHarness *h;
  guint i;

  gst_element_set_context (element, context);
  gst_context_unref (context);
  h = ccl_test_cuda_harness_new (element, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  fail_unless (query_context (h->srcpad) == given);
  fail_unless (query_context (h->sinkpad) == given);

  for (i = 0; i < 3; i++) {
    ccl_test_cuda_push (h, ccl_test_cuda_picture_new (given, "NV12", TRUE));
    fail_unless (query_context (h->srcpad) == given);
    ccl_test_cuda_push (h, ccl_test_cuda_picture_new (other, "NV12", TRUE));
    fail_unless (query_context (h->srcpad) == other);
    fail_unless (query_context (h->sinkpad) == other);
  }

  /* A replaced context is released. */
  ccl_test_cuda_push (h, ccl_test_cuda_picture_new (given, "NV12", TRUE));
  fail_unless_equals_int (G_OBJECT (other)->ref_count, 1);

  gst_element_set_state (h->element, GST_STATE_READY);
  fail_unless (query_context (h->srcpad) != given);

  gst_object_unref (given);
  gst_object_unref (other);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* If no neighbour has a context, elements use the device's primary one and announce it: one for all
 * pipelines, also while other frames come in other contexts. */
GST_START_TEST (test_shared_context)
{
  GstCudaContext *other = gst_cuda_context_new (TEST_DEVICE), *shared;
  GstHarness *harnesses[16];
  void *primary;
  guint i;

  fail_unless_equals_int (ccl_cuda_primary_context (TEST_DEVICE, &primary), CCL_OK);
  for (i = 0; i < G_N_ELEMENTS (harnesses); i++) {
    GstMessage *message;

    harnesses[i] = ccl_test_cuda_picture_harness_new ();
    message = ccl_test_pop_message (harnesses[i], GST_MESSAGE_HAVE_CONTEXT);
    fail_unless (message != NULL);
    gst_message_unref (message);
  }
  shared = query_context (harnesses[0]->srcpad);
  fail_unless (shared != NULL);
  fail_unless (gst_cuda_context_get_handle (shared) == primary);

  for (i = 0; i < G_N_ELEMENTS (harnesses); i++) {
    fail_unless (query_context (harnesses[i]->srcpad) == shared);
    fail_unless (query_context (harnesses[i]->sinkpad) == shared);
    ccl_test_cuda_push (harnesses[i], ccl_test_cuda_picture_new (shared, "NV12", TRUE));
  }
  ccl_test_cuda_push (harnesses[0], ccl_test_cuda_picture_new (other, "NV12", TRUE));
  fail_unless (query_context (harnesses[0]->srcpad) == other);
  fail_unless (query_context (harnesses[1]->srcpad) == shared);

  g_object_add_weak_pointer (G_OBJECT (shared), (gpointer *) &shared);
  for (i = 0; i < G_N_ELEMENTS (harnesses); i++) {
    fail_unless (shared != NULL);
    ccl_test_harness_free (harnesses[i]);
  }
  fail_unless (shared == NULL);
  gst_object_unref (other);
}
GST_END_TEST;

/* Pretends that the memory is on another device, which need not exist. */
static void
move_to_device (GstCudaMemory *memory, guint device)
{
  gst_object_unref (memory->context);
  memory->context = g_object_new (GST_TYPE_CUDA_CONTEXT, "cuda-device-id", device, NULL);
  gst_object_ref_sink (memory->context);
}

GST_START_TEST (test_wrong_device)
{
  GstCudaContext *context = gst_cuda_context_new (TEST_DEVICE), *right;
  GstElement *element = ccl_test_element_new (NULL, "cuda-device-id", TEST_DEVICE, NULL);
  GstHarness *h = ccl_test_cuda_harness_new (element, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  GstBuffer *buffer = ccl_test_cuda_picture_new (context, "NV12", TRUE);
  GstCudaMemory *memory = ccl_test_cuda_peek (buffer);

  ccl_test_cuda_push (h, gst_buffer_ref (buffer));
  right = gst_object_ref (memory->context);
  move_to_device (memory, TEST_DEVICE + 1);
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_ref (buffer)), GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "cuda-device-id");

  gst_object_unref (memory->context);
  memory->context = right;
  ccl_test_cuda_push (h, buffer);

  gst_object_unref (context);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A context of another device than cuda-device-id is not kept. */
GST_START_TEST (test_given_context_of_other_device)
{
  GstCudaContext *other =
      g_object_new (GST_TYPE_CUDA_CONTEXT, "cuda-device-id", TEST_DEVICE + 1, NULL);
  GstElement *element = ccl_test_element_new (NULL, NULL);
  GstContext *context;
  GstHarness *h;

  gst_object_ref_sink (other);
  context = gst_context_new_cuda_context (other);
  gst_element_set_context (element, context);
  gst_context_unref (context);
  g_object_set (element, "cuda-device-id", TEST_DEVICE, NULL);
  h = ccl_test_cuda_harness_new (element, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);
  fail_unless (query_context (h->srcpad) != NULL);
  fail_unless (query_context (h->srcpad) != other);

  ccl_test_harness_free (h);
  gst_object_unref (other);
}
GST_END_TEST;

static void
check_device (GstHarness *h, gint device)
{
  GstStructure *stats;
  gint index;

  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_int (stats, "device-index", &index));
  fail_unless_equals_int (index, device);
  gst_structure_free (stats);
}

/* An element for each device, and one that follows the frames. */
GST_START_TEST (test_devices)
{
  GstHarness *anywhere = ccl_test_cuda_picture_harness_new ();
  gint device;

  for (device = 0; device < ccl_cuda_device_count (); device++) {
    GstCudaContext *context = gst_cuda_context_new ((guint) device);
    GstElement *element = ccl_test_element_new (NULL, "cuda-device-id", device, NULL);
    GstHarness *h = ccl_test_cuda_harness_new (element, "NV12", PICTURE_WIDTH, PICTURE_HEIGHT);

    ccl_test_cuda_push (h, ccl_test_cuda_picture_new (context, "NV12", TRUE));
    check_device (h, device);
    ccl_test_cuda_push (anywhere, ccl_test_cuda_picture_new (context, "NV12", TRUE));
    check_device (anywhere, device);

    gst_harness_set_src_caps_str (h, "video/x-raw,format=NV12,width=13,height=7,framerate=1/1");
    ccl_test_push (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED));
    check_device (h, device);

    gst_object_unref (context);
    ccl_test_harness_free (h);
  }
  ccl_test_harness_free (anywhere);
}
GST_END_TEST;

/* A context that is set while frames are in system memory is not kept. */
GST_START_TEST (test_unused_context)
{
  GstCudaContext *given = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new (NULL, NULL), "NV12", PICTURE_WIDTH,
                                        PICTURE_HEIGHT);
  GstContext *context = gst_context_new_cuda_context (given);

  ccl_test_push (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED));
  gst_element_set_context (h->element, context);
  fail_unless (query_context (h->srcpad) == given);
  gst_element_set_state (h->element, GST_STATE_READY);
  fail_unless (query_context (h->srcpad) != given);

  gst_context_unref (context);
  gst_object_unref (given);
  ccl_test_harness_free (h);
}
GST_END_TEST;

typedef struct
{
  GstElement *element;
  GstContext *context;
  gint over; /* atomic */
} Giver;

static gpointer
give_context (gpointer data)
{
  Giver *giver = data;

  while (!g_atomic_int_get (&giver->over))
    gst_element_set_context (giver->element, giver->context);

  return NULL;
}

/* Another thread sets a context while the element looks for one; no reference leaks. */
GST_START_TEST (test_context_of_other_thread)
{
  GstCudaContext *given = gst_cuda_context_new (TEST_DEVICE);
  GstHarness *h = ccl_test_cuda_picture_harness_new ();
  Giver giver = { h->element, gst_context_new_cuda_context (given), 0 };
  GThread *thread = g_thread_new (NULL, give_context, &giver);
  guint i;

  for (i = 0; i < 50; i++) {
    ccl_test_restart (h, GST_STATE_READY);
    gst_harness_set_src_caps_str (h, "video/x-raw(memory:CUDAMemory),format=NV12,width=13,"
                                     "height=7,framerate=1/1");
    ccl_test_cuda_push (h, ccl_test_cuda_picture_new (given, "NV12", TRUE));
    ccl_test_drain (h);
  }
  g_atomic_int_set (&giver.over, 1);
  g_thread_join (thread);
  ccl_test_harness_free (h);
  gst_context_unref (giver.context);
  fail_unless_equals_int (G_OBJECT (given)->ref_count, 1);
  gst_object_unref (given);
}
GST_END_TEST;

static Suite *
cudacontext_suite (void)
{
  Suite *s = suite_create ("cudacontext");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  gst_cuda_load_library ();
  tcase_add_test (tc, test_sharing);
  tcase_add_test (tc, test_shared_context);
  tcase_add_test (tc, test_wrong_device);
  tcase_add_test (tc, test_given_context_of_other_device);
  tcase_add_test (tc, test_devices);
  tcase_add_test (tc, test_unused_context);
  tcase_add_test (tc, test_context_of_other_thread);

  return s;
}

int
main (int argc, char **argv)
{
  return ccl_test_main_with_device (argc, argv, cudacontext_suite, "cudacontext", __FILE__);
}
