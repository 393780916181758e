/* cudaccl - tests of components as objects of DeepStream, with a fake of its library
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/nvdsfake/nvdsfake.h"

#include <string.h>

/* Each component is an object of the batch's frame. */
GST_START_TEST (test_objects)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GList *objects;
  guint i;

  gst_util_set_object_arg (G_OBJECT (h->element), "attach", "components+nvds");
  g_object_set (h->element, "roi-type", "blob", NULL);
  nv_ds_fake_add_batch (buffer, TRUE);
  buffer = gst_harness_push_and_pull (h, buffer);

  objects = nv_ds_fake_get_objects (buffer);
  fail_unless_equals_int (g_list_length (objects), n_picture_blobs);
  for (i = 0; i < n_picture_blobs; i++, objects = objects->next) {
    const NvDsObjectMeta *object = objects->data;
    const Blob *blob = &picture_blobs[i];

    fail_unless (object->rect_params.left == (gfloat) blob->x);
    fail_unless (object->rect_params.top == (gfloat) blob->y);
    fail_unless (object->rect_params.width == (gfloat) blob->width);
    fail_unless (object->rect_params.height == (gfloat) blob->height);
    fail_unless (object->detector_bbox_info.org_bbox_coords.left == (gfloat) blob->x);
    fail_unless (object->detector_bbox_info.org_bbox_coords.height == (gfloat) blob->height);
    fail_unless (object->confidence == 1.0f);
    fail_unless (object->object_id == UNTRACKED_OBJECT_ID);
    fail_unless_equals_int (object->class_id, 0);
    fail_unless_equals_string ((const gchar *) object->obj_label, "blob");
    fail_unless (object->parent == NULL);
  }
  fail_unless_equals_int (nv_ds_fake_locked (), 0);
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_WARNING));

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Frames without a batch pass with a warning, once. */
GST_START_TEST (test_no_batch)
{
  GstHarness *h = ccl_test_picture_harness_new (0, NULL);
  guint i, n = 0;

  gst_util_set_object_arg (G_OBJECT (h->element), "attach", "components+nvds");
  for (i = 0; i < 4; i++) {
    GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);

    if (i % 2)
      nv_ds_fake_add_batch (buffer, FALSE);
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless (gst_buffer_get_ccl_meta (buffer) != NULL);
    gst_buffer_unref (buffer);
    n += ccl_test_check_warnings (h, "nvstreammux");
  }
  fail_unless_equals_int (n, 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Boxes of a detector, and the tracked components; boxes without a size are not tracked. */
static const struct
{
  gfloat left, top, width, height;
  const gchar *label;
  gint class_id;
  gfloat confidence;
  GstCclComponent tracked;
  const gchar *name;
} found[] = {
  { 1.5f,
    2.0f,
    10.0f,
    20.0f,
    "car",
    0,
    0.5f,
    { .x = 1, .y = 2, .width = 11, .height = 20, .confidence = 0.5 },
    "car" },
  { -5.0f,
    30.0f,
    10.0f,
    1000.0f,
    "",
    2,
    -0.1f,
    { .x = 0, .y = 30, .width = 5, .height = 18 },
    "2" },
  { 40.0f,
    5.0f,
    10.0f,
    10.0f,
    "",
    -1,
    1.0f,
    { .x = 40, .y = 5, .width = 10, .height = 10, .confidence = 1.0 },
    NULL },
  { 64.0f, 0.0f, 5.0f, 5.0f, "car", 0, 0.5f, { 0 }, NULL },
  { 0.0f, 0.0f, -5.0f, 5.0f, "car", 0, 0.5f, { 0 }, NULL },
  { 1e30f, 0.0f, 1e30f, 5.0f, "car", 0, 0.5f, { 0 }, NULL },
};

/* Objects of DeepStream's detectors are tracked, and get the ids. */
GST_START_TEST (test_read)
{
  GstHarness *h = ccl_test_launch (64, 48, "ccltrack min-persistence=1");
  GstBuffer *buffer = ccl_test_black_new (64, 48);
  NvDsBatchMeta *batch;
  GstCclMeta *meta;
  GList *objects;
  guint i, n = 0;

  nv_ds_fake_add_batch (buffer, TRUE);
  batch = nv_ds_fake_get_batch (buffer);
  for (i = 0; i < G_N_ELEMENTS (found); i++) {
    NvDsObjectMeta *object = nv_ds_fake_add_object (batch);

    object->object_id = UNTRACKED_OBJECT_ID;
    object->class_id = found[i].class_id;
    object->confidence = found[i].confidence;
    g_strlcpy ((gchar *) object->obj_label, found[i].label, MAX_LABEL_SIZE);
    object->rect_params.left = found[i].left;
    object->rect_params.top = found[i].top;
    object->rect_params.width = found[i].width;
    object->rect_params.height = found[i].height;
  }
  buffer = gst_harness_push_and_pull (h, buffer);
  meta = gst_buffer_get_ccl_meta (buffer);
  objects = nv_ds_fake_get_objects (buffer);
  for (i = 0; i < G_N_ELEMENTS (found); i++, objects = objects->next) {
    const NvDsObjectMeta *object = objects->data;
    const GstCclComponent *expected = &found[i].tracked, *component;

    if (expected->width == 0) {
      fail_unless (object->object_id == UNTRACKED_OBJECT_ID);
      continue;
    }
    component = gst_ccl_meta_get_component (meta, n++);
    fail_unless (component && component->x == expected->x && component->y == expected->y &&
                 component->width == expected->width && component->height == expected->height);
    fail_unless_equals_int (component->track, n);
    fail_unless (object->object_id == n);
    fail_unless (component->confidence == expected->confidence);
    fail_unless_equals_string (gst_ccl_meta_get_class_name (meta, component->class_id),
                               found[i].name);
  }
  fail_unless_equals_int (meta->n_components, n);
  fail_unless_equals_int (nv_ds_fake_locked (), 0);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* ccltrack's objects become DeepStream's, with track and class; without a batch there is a warning.
 */
GST_START_TEST (test_track)
{
  static const gchar *const strings[] = { "person", "car", NULL };
  const GstCclComponent component = { .label = 1,
                                      .x = 1,
                                      .y = 2,
                                      .width = 11,
                                      .height = 20,
                                      .area = 220,
                                      .centroid_x = 6.0,
                                      .centroid_y = 11.5,
                                      .class_id = 2,
                                      .confidence = 0.5 };
  GstHarness *h = ccl_test_launch (64, 48, "ccltrack min-persistence=1 attach=nvds");
  const NvDsObjectMeta *object;
  guint i;

  for (i = 0; i < 2; i++) {
    GstBuffer *buffer = ccl_test_black_new (64, 48);

    if (i == 0)
      nv_ds_fake_add_batch (buffer, TRUE);
    ccl_test_set_names (gst_buffer_add_ccl_meta (buffer, 64, 48, 1, &component, 1), strings);
    buffer = gst_harness_push_and_pull (h, buffer);
    if (i == 0) {
      fail_unless_equals_int (g_list_length (nv_ds_fake_get_objects (buffer)), 1);
      object = nv_ds_fake_get_objects (buffer)->data;
      fail_unless (object->object_id == 1);
      fail_unless_equals_int (object->class_id, 1);
      fail_unless_equals_string ((const gchar *) object->obj_label, "car");
      fail_unless (object->confidence == 0.5f);
    }
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (ccl_test_check_warnings (h, "nvstreammux"), 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cudacclnvds_suite (void)
{
  Suite *s = suite_create ("cudacclnvds");
  TCase *tc = tcase_create ("nvds");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_objects, 0, (gint) ccl_test_n_backends ());
  tcase_add_test (tc, test_no_batch);
  tcase_add_test (tc, test_read);
  tcase_add_test (tc, test_track);

  return s;
}

GST_CHECK_MAIN (cudacclnvds);
