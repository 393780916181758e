/* cudaccl - tests of outputs that have boxes and scores apart, and of queries
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "tests/elements/ccldetectoutputs.h"

/* Three queries: two boxes that overlap, and nothing. */
typedef struct
{
  const gchar *boxes_name, *scores_name;
  gboolean centers, shares, logits, with_nothing, imagenet;
} Queries;

#define MOST_CLASSES 92

static void
check_queries (const Queries *q, guint index, guint batch)
{
  static gfloat coordinates[2][3][4], scores[2][3][MOST_CLASSES];
  const guint n_classes = q->with_nothing ? 92 : 3;
  const gfloat corners[3][4] = { { 8, 16, 24, 56 }, { 9, 16, 24, 56 }, { 50, 50, 60, 60 } };
  const gfloat sure[3] = { 0.9f, 0.8f, 0.01f };
  GstCclTensor tensors[] = {
    { q->scores_name, ORT_TYPE_FLOAT, 3, { batch, 3, n_classes }, scores },
    { q->boxes_name, ORT_TYPE_FLOAT, 3, { batch, 3, 4 }, coordinates },
  };
  gfloat *score = (gfloat *) scores + index * 3 * n_classes;
  GstCclOutputFormat format;
  guint i, k;

  memset (coordinates, 0, sizeof (coordinates));
  for (i = 0; i < 2 * 3 * MOST_CLASSES; i++)
    ((gfloat *) scores)[i] = q->logits ? -20 : 0;
  for (i = 0; i < 3; i++) {
    gfloat *box = coordinates[index][i];

    memcpy (box, corners[i], sizeof (corners[i]));
    if (q->centers) {
      for (k = 0; k < 2; k++) {
        box[2 + k] -= box[k];
        box[k] += box[2 + k] / 2;
      }
    }
    for (k = 0; k < 4 && q->shares; k++)
      box[k] /= SIZE;
    score[i * n_classes + 2] = q->logits ? logf (sure[i] / (1 - sure[i])) : sure[i];
    if (q->with_nothing) /* its exponential and that of the class make the sum */
      score[i * n_classes + 91] = 0;
  }
  format = recognise_as (tensors, 2, GST_CCL_OUTPUT_AUTO, &no_hints);
  fail_unless_equals_int (format.output, GST_CCL_OUTPUT_DETR);
  fail_unless_equals_int (format.n_classes, q->with_nothing ? 91 : 3);
  fail_unless_equals_int (format.imagenet, q->imagenet);
  fail_unless (format.iou >= 1);
  fail_unless (gst_ccl_outputs_read (tensors, 2, &format, SIZE, SIZE, index, batch, 0.3, format.iou,
                                     NULL, boxes, NULL));
  fail_unless_equals_int (boxes->len, 2);
  check_box (0, 8, 16, 16, 40, 0.9f, 2);
  check_box (1, 9, 16, 15, 40, 0.8f, 2);
}

GST_START_TEST (test_queries)
{
  static const Queries cases[] = {
    { "pred_boxes", "logits", TRUE, TRUE, TRUE, FALSE, FALSE }, /* RT-DETRv2 of Transformers */
    { "dets", "labels", TRUE, TRUE, TRUE, FALSE, TRUE },        /* RF-DETR */
    { "pred_boxes", "logits", TRUE, TRUE, TRUE, TRUE, FALSE },  /* the first DETR */
    { "boxes", "probabilities", FALSE, TRUE, FALSE, FALSE, FALSE },
    { "boxes", "probabilities", FALSE, FALSE, FALSE, FALSE, FALSE },
    { "boxes", "pred_logits", TRUE, FALSE, TRUE, FALSE, FALSE },
  };

  check_queries (&cases[__i__], 0, 1);
  check_queries (&cases[__i__], 1, 2);
}
GST_END_TEST;

/* Four classes: the scores are shaped like the boxes. And scores without a telling name, which are
 * those of anchors unless it is said what they are. */
GST_START_TEST (test_queries_by_name)
{
  const gfloat coordinates[] = { 0.5f, 0.5f, 0.25f, 0.5f, 0.9f, 0.9f, 0.1f, 0.1f };
  const gfloat logits[] = { -9, 3, -9, -9, -9, -9, -9, -9 };
  const gfloat shares[] = { 0.9f, 0.1f, 0.05f, 0.1f, 0.2f, 0.1f };
  const GstCclTensor four[] = {
    { "logits", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, logits },
    { "pred_boxes", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, coordinates },
  };
  const GstCclTensor unnamed[] = {
    { "a", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, coordinates },
    { "b", ORT_TYPE_FLOAT, 3, { 1, 2, 3 }, shares },
  };
  const GstCclHints detr = { .output = GST_CCL_OUTPUT_DETR };

  fail_unless_equals_int (recognise (four, 2), GST_CCL_OUTPUT_DETR);
  read_boxes (four, 2, GST_CCL_OUTPUT_AUTO, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 24, 16, 16, 32, 1 / (1 + expf (-3)), 1);

  fail_unless_equals_int (recognise (unnamed, 2), GST_CCL_OUTPUT_SSD);
  fail_unless_equals_int (recognise_as (unnamed, 2, GST_CCL_OUTPUT_AUTO, &detr).output,
                          GST_CCL_OUTPUT_DETR);
  read_boxes (unnamed, 2, GST_CCL_OUTPUT_DETR, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 24, 16, 16, 32, 0.9f, 0);
}
GST_END_TEST;

/* Scores of one column are those of queries: anchors would have another one for the background. */
GST_START_TEST (test_one_column)
{
  g_autofree gfloat *coordinates = g_memdup2 ((const gfloat[]){ 0.5f, 0.5f, 0.25f, 0.5f }, 16);
  g_autofree gfloat *logit = g_memdup2 ((const gfloat[]){ 3 }, 4);
  const GstCclTensor tensors[] = {
    { "logits", ORT_TYPE_FLOAT, 3, { 1, 1, 1 }, logit },
    { "pred_boxes", ORT_TYPE_FLOAT, 3, { 1, 1, 4 }, coordinates },
  };
  const GstCclHints ssd = { .output = GST_CCL_OUTPUT_SSD };
  GstCclOutputFormat format;
  GError *error = NULL;

  fail_if (gst_ccl_outputs_recognise (tensors, 2, SIZE, SIZE, GST_CCL_OUTPUT_SSD, &no_hints,
                                      &format, &error));
  fail_unless (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  g_clear_error (&error);

  format = recognise_as (tensors, 2, GST_CCL_OUTPUT_AUTO, &ssd);
  fail_unless_equals_int (format.output, GST_CCL_OUTPUT_DETR);
  fail_unless (gst_ccl_outputs_read (tensors, 2, &format, SIZE, SIZE, 0, 1, 0.3, format.iou, NULL,
                                     boxes, NULL));
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 24, 16, 16, 32, 1 / (1 + expf (-3)), 0);
}
GST_END_TEST;

/* Boxes with scores of anchors stay such if the network takes the size of the picture. */
GST_START_TEST (test_anchors_with_sizes)
{
  const gfloat corners[] = { 8, 16, 24, 56, 9, 16, 24, 56 };
  const gfloat scores[] = { 0.1f, 0, 0.9f, 0.2f, 0, 0.8f };
  const GstCclTensor tensors[] = {
    { "boxes", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, corners },
    { "scores", ORT_TYPE_FLOAT, 3, { 1, 2, 3 }, scores },
  };
  const GstCclHints hints = { .takes_sizes = TRUE };
  const GstCclOutputFormat format = recognise_as (tensors, 2, GST_CCL_OUTPUT_AUTO, &hints);

  fail_unless_equals_int (format.output, GST_CCL_OUTPUT_SSD);
  fail_unless (gst_ccl_outputs_read (tensors, 2, &format, SIZE, SIZE, 0, 1, 0.3, format.iou, NULL,
                                     boxes, NULL));
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 8, 16, 16, 40, 0.9f, 1);
}
GST_END_TEST;

/* A query that is degenerate, far outside or above a probability by rounding does not change what
 * the numbers of the others mean. */
GST_START_TEST (test_odd_query)
{
  static const gfloat odd[][5] = {
    { 0.6f, 0.6f, 0.5f, 0.7f, 0.01f },
    { 0.1f, 0.1f, 2.5f, 0.2f, 0.01f },
    { 0.1f, 0.1f, 0.2f, 0.2f, 1.0000001f },
  };
  gfloat coordinates[20][4], scores[20][2] = { { 0 } };
  const GstCclTensor tensors[] = {
    { "boxes", ORT_TYPE_FLOAT, 3, { 1, 20, 4 }, coordinates },
    { "probabilities", ORT_TYPE_FLOAT, 3, { 1, 20, 2 }, scores },
  };
  guint i;

  for (i = 0; i < 20; i++)
    memcpy (coordinates[i], (const gfloat[]){ 0.25f, 0.25f, 0.5f, 0.75f }, 16);
  memcpy (coordinates[3], odd[__i__], 16);
  scores[3][1] = odd[__i__][4];
  scores[7][0] = 0.9f;
  read_boxes (tensors, 2, GST_CCL_OUTPUT_AUTO, 0, 1);
  fail_unless_equals_int (boxes->len, odd[__i__][4] > 0.3f ? 2 : 1);
  check_box (boxes->len - 1, 16, 16, 16, 32, 0.9f, 0);
}
GST_END_TEST;

/* Ultralytics' RT-DETR has one table, which the number of names tells. */
GST_START_TEST (test_query_table)
{
  static gfloat data[100][7];
  const GstCclTensor tensor = { "output0", ORT_TYPE_FLOAT, 3, { 1, 100, 7 }, data };
  const GstCclHints hints = { .n_names = 3 };
  GstCclOutputFormat format;

  memset (data, 0, sizeof (data));
  memcpy (data[7], (const gfloat[]){ 0.5f, 0.5f, 0.25f, 0.5f, 0.1f, 0.2f, 0.7f }, sizeof (data[7]));
  format = recognise_as (&tensor, 1, GST_CCL_OUTPUT_AUTO, &hints);
  fail_unless_equals_int (format.output, GST_CCL_OUTPUT_DETR);
  fail_unless_equals_int (format.n_classes, 3);
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_DETR, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 24, 16, 16, 32, 0.7f, 2);
}
GST_END_TEST;

/* D-FINE and DEIMv2, which take the size of the picture and return what they have decided. */
GST_START_TEST (test_sizes)
{
  const gfloat corners[] = { 8, 16, 24, 56, 9, 16, 24, 56 }, scores[] = { 0.9f, 0.8f };
  const gint64 labels[] = { 3, 3 };
  const guint8 bytes[] = { 3, 3 };
  GstCclTensor tensors[] = {
    { "labels", ORT_TYPE_INT64, 2, { 1, 2 }, labels },
    { "boxes", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, corners },
    { "scores", ORT_TYPE_FLOAT, 2, { 1, 2 }, scores },
  };
  const GstCclHints hints = { .takes_sizes = TRUE };
  guint i;

  for (i = 0; i < 2; i++) {
    GstCclOutputFormat format = recognise_as (tensors, 3, GST_CCL_OUTPUT_AUTO, &hints);

    fail_unless_equals_int (format.output, GST_CCL_OUTPUT_DETR);
    fail_unless (gst_ccl_outputs_read (tensors, 3, &format, SIZE, SIZE, 0, 1, 0.3, format.iou, NULL,
                                       boxes, NULL));
    fail_unless_equals_int (boxes->len, 2);
    check_box (0, 8, 16, 16, 40, 0.9f, 3);
    tensors[0].type = ORT_TYPE_UINT8;
    tensors[0].data = bytes;
  }
}
GST_END_TEST;

static Suite *
ccldetectqueries_suite (void)
{
  Suite *suite = suite_create ("ccldetectqueries");
  TCase *tcase = tcase_create ("queries");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_loop_test (tcase, test_queries, 0, 6);
  tcase_add_test (tcase, test_queries_by_name);
  tcase_add_test (tcase, test_one_column);
  tcase_add_test (tcase, test_anchors_with_sizes);
  tcase_add_loop_test (tcase, test_odd_query, 0, 3);
  tcase_add_test (tcase, test_query_table);
  tcase_add_test (tcase, test_sizes);

  return suite;
}

GST_CHECK_MAIN (ccldetectqueries)
