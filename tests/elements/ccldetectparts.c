/* cudaccl - tests of the parts of ccldetect: outputs of networks, names of classes, where to look
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>
#include <glib/gstdio.h>

#include "gst/detect/gstccllabels.h"
#include "gst/detect/gstccllooks.h"
#include "gst/detect/gstcclmodelinfo.h"
#include "tests/elements/ccldetectoutputs.h"

#define CELLS 84 /* of 8, 16 and 32 pixels */

static guint
count_classes (const GstCclTensor *tensor)
{
  return recognise_as (tensor, 1, GST_CCL_OUTPUT_AUTO, &no_hints).n_classes;
}

GST_START_TEST (test_yolox)
{
  static gfloat data[2][CELLS][7];
  GstCclTensor tensor = { "output", ORT_TYPE_FLOAT, 3, { 2, CELLS, 7 }, data };

  memset (data, 0, sizeof (data));
  /* The last cell of the first grid, and the second of the last. */
  memcpy (data[1][63], (const gfloat[]){ 0, 0, 0, 0, 0.8f, 0.1f, 1 }, sizeof (data[1][63]));
  memcpy (data[1][81], (const gfloat[]){ 0.5f, 0.5f, -1, 0, 1, 0.5f, 0.4f }, sizeof (data[1][81]));
  fail_unless_equals_int (recognise (&tensor, 1), GST_CCL_OUTPUT_YOLOX);
  fail_unless_equals_int (count_classes (&tensor), 2);
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_YOLOX, 0, 2);
  fail_unless_equals_int (boxes->len, 0);
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_YOLOX, 1, 2);
  fail_unless_equals_int (boxes->len, 2);
  check_box (0, 52, 52, 8, 8, 0.8f, 1);
  check_box (1, 48 - 16 / (gfloat) M_E, 0, 32 / (gfloat) M_E, 32, 0.5f, 0);
}
GST_END_TEST;

GST_START_TEST (test_yolov5)
{
  static gfloat data[3 * CELLS][7];
  GstCclTensor tensor = { "output0", ORT_TYPE_FLOAT, 3, { 1, 3 * CELLS, 7 }, data };

  memset (data, 0, sizeof (data));
  memcpy (data[200], (const gfloat[]){ 30, 20, 10, 8, 0.9f, 0, 1 }, sizeof (data[200]));
  /* Suppressed, another class, and too unlikely. */
  memcpy (data[0], (const gfloat[]){ 30, 20, 10, 9, 0.8f, 0, 1 }, sizeof (data[0]));
  memcpy (data[1], (const gfloat[]){ 30, 20, 10, 8, 0.7f, 1, 0 }, sizeof (data[1]));
  memcpy (data[2], (const gfloat[]){ 50, 20, 10, 8, 0.5f, 0.5f, 0 }, sizeof (data[2]));
  fail_unless_equals_int (recognise (&tensor, 1), GST_CCL_OUTPUT_YOLOV5);
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_YOLOV5, 0, 1);
  fail_unless_equals_int (boxes->len, 2);
  check_box (0, 25, 16, 10, 8, 0.9f, 1);
  check_box (1, 25, 16, 10, 8, 0.7f, 0);
}
GST_END_TEST;

GST_START_TEST (test_yolov8)
{
  static gfloat data[7][CELLS];
  GstCclTensor tensor = { "output0", ORT_TYPE_FLOAT, 3, { 1, 7, CELLS }, data };
  const gfloat column[7] = { 30, 20, 10, 8, 0.1f, 0.2f, 0.6f };
  guint i;

  memset (data, 0, sizeof (data));
  for (i = 0; i < 7; i++)
    data[i][70] = column[i];
  fail_unless_equals_int (recognise (&tensor, 1), GST_CCL_OUTPUT_YOLOV8);
  fail_unless_equals_int (count_classes (&tensor), 3);
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_YOLOV8, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 25, 16, 10, 8, 0.6f, 2);
}
GST_END_TEST;

GST_START_TEST (test_yolov10)
{
  static gfloat data[300][6];
  GstCclTensor tensor = { "output0", ORT_TYPE_FLOAT, 3, { 1, 300, 6 }, data };

  memset (data, 0, sizeof (data));
  memcpy (data[5], (const gfloat[]){ 10, 20, 30, 50, 0.5f, 7 }, sizeof (data[5]));
  memcpy (data[6], (const gfloat[]){ 10, 20, 30, 50, 0.5f, -1 }, sizeof (data[6]));
  fail_unless_equals_int (recognise (&tensor, 1), GST_CCL_OUTPUT_YOLOV10);
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_YOLOV10, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 10, 20, 20, 30, 0.5f, 7);
}
GST_END_TEST;

/* Exports of TensorFlow, with shares and rows first; of torchvision, with pixels; and with scores
 * of each class. */
GST_START_TEST (test_ssd)
{
  const gfloat shares[] = { 0.25f, 0.5f, 0.75f, 1, 0, 0, 1, 1 };
  const gfloat pixels[] = { 10, 20, 30, 50, 0, 0, 64, 64 };
  const gfloat scores[] = { 0.9f, 0.8f }, classes[] = { 3, 1 }, count[] = { 1 };
  const gint64 labels[] = { 3, 1 };
  const gfloat all[] = { 0.9f, 0.1f, 0, 0.1f, 0.2f, 0.7f };
  const GstCclTensor tensorflow[] = {
    { "detection_boxes", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, shares },
    { "detection_classes", ORT_TYPE_FLOAT, 2, { 1, 2 }, classes },
    { "detection_scores", ORT_TYPE_FLOAT, 2, { 1, 2 }, scores },
    { "num_detections", ORT_TYPE_FLOAT, 1, { 1 }, count },
  };
  /* Its whole export: the scores of all classes come before those of the best. */
  const GstCclTensor whole[] = {
    { "detection_boxes", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, shares },
    { "detection_classes", ORT_TYPE_FLOAT, 2, { 1, 2 }, classes },
    { "detection_multiclass_scores", ORT_TYPE_FLOAT, 3, { 1, 2, 3 }, all },
    { "detection_scores", ORT_TYPE_FLOAT, 2, { 1, 2 }, scores },
    { "num_detections", ORT_TYPE_FLOAT, 1, { 1 }, count },
  };
  const GstCclTensor torch[] = {
    { "boxes", ORT_TYPE_FLOAT, 2, { 2, 4 }, pixels },
    { "labels", ORT_TYPE_INT64, 1, { 2 }, labels },
    { "scores", ORT_TYPE_FLOAT, 1, { 2 }, scores },
  };
  const GstCclTensor both[] = {
    { "scores", ORT_TYPE_FLOAT, 3, { 1, 2, 3 }, all },
    { "boxes", ORT_TYPE_FLOAT, 3, { 1, 2, 4 }, pixels },
  };

  fail_unless_equals_int (recognise (tensorflow, 4), GST_CCL_OUTPUT_SSD);
  read_boxes (tensorflow, 4, GST_CCL_OUTPUT_SSD, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 32, 16, 32, 32, 0.9f, 3);
  fail_unless_equals_int (recognise (whole, 5), GST_CCL_OUTPUT_SSD);
  read_boxes (whole, 5, GST_CCL_OUTPUT_SSD, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 32, 16, 32, 32, 0.9f, 3);

  fail_unless_equals_int (recognise (torch, 3), GST_CCL_OUTPUT_SSD);
  read_boxes (torch, 3, GST_CCL_OUTPUT_SSD, 0, 1);
  fail_unless_equals_int (boxes->len, 2);
  check_box (0, 10, 20, 20, 30, 0.9f, 3);

  fail_unless_equals_int (recognise (both, 2), GST_CCL_OUTPUT_SSD);
  read_boxes (both, 2, GST_CCL_OUTPUT_SSD, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 0, 0, 64, 64, 0.7f, 1);
}
GST_END_TEST;

/* YOLO26, whose objects have one box each, also with coefficients of masks, and key points behind
 * the class. */
GST_START_TEST (test_end_to_end)
{
  static const struct
  {
    gint64 columns, n_prototypes;
    gboolean says; /* in its metadata */
  } cases[] = { { 6, 0, FALSE }, { 38, 32, FALSE }, { 57, 0, TRUE }, { 6, 0, TRUE } };
  static gfloat data[300][57];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gint64 columns = cases[i].columns;
    const GstCclTensor tensors[] = {
      { "output0", ORT_TYPE_FLOAT, 3, { 1, 300, columns }, data },
      { "output1", ORT_TYPE_FLOAT, 4, { 1, cases[i].n_prototypes, 16, 16 }, NULL },
    };
    const guint n = cases[i].n_prototypes > 0 ? 2 : 1;
    const GstCclHints hints = { .end_to_end = cases[i].says, .n_names = 9 };
    GstCclOutputFormat format;

    memset (data, 0, sizeof (data));
    memcpy ((gfloat *) data + 5 * columns, (const gfloat[]){ 10, 20, 30, 50, 0.5f, 7 },
            6 * sizeof (gfloat));
    memcpy ((gfloat *) data + 6 * columns, (const gfloat[]){ 11, 20, 30, 50, 0.4f, 7 },
            6 * sizeof (gfloat));
    format = recognise_as (tensors, n, GST_CCL_OUTPUT_AUTO, &hints);
    fail_unless_equals_int (format.output, GST_CCL_OUTPUT_YOLOV10);
    fail_unless_equals_int (format.n_classes, 9);
    fail_unless_equals_int (format.prototypes, n - 2 + (n == 2));
    fail_unless (gst_ccl_outputs_read (tensors, n, &format, SIZE, SIZE, 0, 1, 0.3, format.iou, NULL,
                                       boxes, NULL));
    fail_unless_equals_int (boxes->len, 2);
    check_box (0, 10, 20, 20, 30, 0.5f, 7);
  }
}
GST_END_TEST;

/* The columns of masks are no classes, and neither are those behind the classes that have names. */
GST_START_TEST (test_more_columns)
{
  static gfloat columns[40][CELLS], rows[3 * CELLS][39];
  const GstCclTensor yolov8[] = {
    { "output0", ORT_TYPE_FLOAT, 3, { 1, 40, CELLS }, columns },
    { "output1", ORT_TYPE_FLOAT, 4, { 1, 32, 16, 16 }, NULL },
  };
  const GstCclTensor yolov5[] = {
    { "output0", ORT_TYPE_FLOAT, 3, { 1, 3 * CELLS, 39 }, rows },
    { "output1", ORT_TYPE_FLOAT, 4, { 1, 32, 16, 16 }, NULL },
  };
  const GstCclHints named = { .n_names = 2 };
  const gfloat column[] = { 30, 20, 10, 8, 0.1f, 0.2f, 0.3f, 0.6f, 5 };
  GstCclOutputFormat format;
  guint i;

  memset (columns, 0, sizeof (columns));
  memset (rows, 0, sizeof (rows));
  for (i = 0; i < G_N_ELEMENTS (column); i++)
    columns[i][70] = column[i];
  memcpy (rows[9], (const gfloat[]){ 30, 20, 10, 8, 0.9f, 0, 1, 9 }, 8 * sizeof (gfloat));

  format = recognise_as (yolov8, 2, GST_CCL_OUTPUT_AUTO, &no_hints);
  fail_unless_equals_int (format.output, GST_CCL_OUTPUT_YOLOV8);
  fail_unless_equals_int (format.n_classes, 4);
  fail_unless_equals_int (format.prototypes, 1);
  read_boxes (yolov8, 2, GST_CCL_OUTPUT_AUTO, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 25, 16, 10, 8, 0.6f, 3);

  format = recognise_as (yolov5, 2, GST_CCL_OUTPUT_AUTO, &no_hints);
  fail_unless_equals_int (format.output, GST_CCL_OUTPUT_YOLOV5);
  fail_unless_equals_int (format.n_classes, 2);
  read_boxes (yolov5, 2, GST_CCL_OUTPUT_AUTO, 0, 1);
  fail_unless_equals_int (boxes->len, 1);
  check_box (0, 25, 16, 10, 8, 0.9f, 1);

  /* Of a pose network, whose further columns no tensor explains. */
  fail_unless_equals_int (recognise_as (yolov8, 1, GST_CCL_OUTPUT_AUTO, &named).n_classes, 2);
}
GST_END_TEST;

/* Reads the outlines of boxes whose coefficient of the only prototype is 1. The caller frees them.
 */
static GPtrArray *
read_outlines (const gfloat *prototype, guint size, const gfloat (*rows)[7], guint n)
{
  static gfloat columns[6][CELLS];
  const GstCclTensor final[] = {
    { "output0", ORT_TYPE_FLOAT, 3, { 1, n, 7 }, rows },
    { "output1", ORT_TYPE_FLOAT, 4, { 1, 1, size, size }, prototype },
  };
  const GstCclTensor yolov8[] = {
    { "output0", ORT_TYPE_FLOAT, 3, { 1, 6, CELLS }, columns },
    { "output1", ORT_TYPE_FLOAT, 4, { 1, 1, size, size }, prototype },
  };
  GPtrArray *outlines[2];
  guint i, k;

  memset (columns, 0, sizeof (columns));
  for (i = 0; i < n; i++) {
    const gfloat *row = rows[i], width = row[2] - row[0], height = row[3] - row[1];
    const gfloat column[6] = {
      row[0] + width / 2, row[1] + height / 2, width, height, row[4], row[6]
    };

    for (k = 0; k < 6; k++)
      columns[k][i + 3] = column[k];
  }
  for (i = 0; i < 2; i++) {
    const GstCclTensor *tensors = i ? yolov8 : final;
    const GstCclOutputFormat format = recognise_as (tensors, 2, GST_CCL_OUTPUT_AUTO, &no_hints);

    outlines[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_ccl_outline_free);
    fail_unless (
        gst_ccl_outputs_read (tensors, 2, &format, SIZE, SIZE, 0, 1, 0.3, 1, NULL, boxes, NULL));
    fail_unless_equals_int (boxes->len, n);
    gst_ccl_masks_read (tensors, 2, &format, SIZE, SIZE, 0, boxes, outlines[i]);
  }
  fail_unless_equals_int (outlines[0]->len, outlines[1]->len);
  for (i = 0; i < outlines[0]->len; i++) {
    const GstCclOutline *a = g_ptr_array_index (outlines[0], i);
    const GstCclOutline *b = g_ptr_array_index (outlines[1], i);

    fail_unless (a->area == b->area && a->points->len == b->points->len, "%u: %g, %g", i, a->area,
                 b->area);
  }
  g_ptr_array_unref (outlines[1]);

  return outlines[0];
}

/* Twice the area inside of an outline, positive if it is clockwise. */
static gdouble
measure_twice (const GstCclOutline *outline)
{
  const gfloat *points = (const gfloat *) (gconstpointer) outline->points->data;
  const guint n = outline->points->len / 2;
  gdouble sum = 0;
  guint i;

  for (i = 0; i < n; i++)
    sum += points[2 * i] * points[2 * ((i + 1) % n) + 1] -
           points[2 * ((i + 1) % n)] * points[2 * i + 1];

  return sum;
}

/* Prototypes as large as the picture: an outline is exactly that of the largest part within the
 * box. Holes and parts that touch at a corner do not change it. */
GST_START_TEST (test_outline)
{
  static gfloat prototype[SIZE][SIZE];
  static const guint parts[][4] = { /* x, y, width, height */
                                    { 10, 10, 20, 4 },
                                    { 10, 14, 6, 20 },
                                    { 16, 34, 3, 3 },
                                    { 40, 40, 5, 5 },
                                    { 60, 60, 4, 4 }
  };
  static const gfloat rows[][7] = {
    { 5, 5, 50, 50, 0.9f, 0, 1 },   /* the first and the second part; the third is smaller */
    { 12, 12, 50, 50, 0.8f, 0, 1 }, /* the box cuts them */
    { 32, 5, 39, 30, 0.7f, 0, 1 },  /* nothing */
    { 50, 50, 64, 64, 0.6f, 0, 1 }, /* to the edge of the picture */
    { 5, 5, 50, 50, 0.5f, 0, -1 },  /* all but these */
  };
  static const gfloat whole[] = { 10, 10, 30, 10, 30, 14, 16, 14, 16, 34, 10, 34 };
  static const gfloat cut[] = { 12, 12, 30, 12, 30, 14, 16, 14, 16, 34, 12, 34 };
  static const gfloat corner[] = { 60, 60, 64, 60, 64, 64, 60, 64 };
  static const struct
  {
    const gfloat *points;
    guint n;
    gdouble area;
  } cases[] = { { whole, 12, 199 }, { cut, 12, 115 }, { corner, 8, 16 } };
  GPtrArray *outlines;
  guint i, k, x, y;

  for (i = 0; i < SIZE * SIZE; i++)
    prototype[i / SIZE][i % SIZE] = -1;
  for (i = 0; i < G_N_ELEMENTS (parts); i++) {
    for (y = 0; y < parts[i][3]; y++) {
      for (x = 0; x < parts[i][2]; x++)
        prototype[parts[i][1] + y][parts[i][0] + x] = 1;
    }
  }
  prototype[20][13] = -1; /* a hole */
  outlines = read_outlines (prototype[0], SIZE, rows, G_N_ELEMENTS (rows));
  fail_unless_equals_int (outlines->len, 4);
  fail_unless_equals_int (g_array_index (boxes, GstCclBox, 2).outline, 0);
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint number = g_array_index (boxes, GstCclBox, i < 2 ? i : 3).outline;
    const GstCclOutline *outline = g_ptr_array_index (outlines, number - 1);

    fail_unless (outline->area == cases[i].area, "case %u: %g", i, outline->area);
    fail_unless_equals_int (outline->points->len, cases[i].n);
    for (k = 0; k < cases[i].n; k++)
      fail_unless (g_array_index (outline->points, gfloat, k) == cases[i].points[k], "case %u, %u",
                   i, k);
  }
  fail_unless (((GstCclOutline *) g_ptr_array_index (outlines, 2))->centroid_x == 62);
  /* Of what is left of the box, the outline goes around, and the parts are holes. */
  fail_unless (measure_twice (g_ptr_array_index (outlines, 3)) == 2 * 45 * 45);
  g_ptr_array_unref (outlines);
}
GST_END_TEST;

/* Prototypes are smaller than the picture, usually a quarter; a disc remains one. */
GST_START_TEST (test_disc)
{
  static gfloat prototype[16][16];
  static const gfloat rows[][7] = { { 8, 8, 56, 56, 0.9f, 0, 1 }, { 8, 8, 32, 56, 0.8f, 0, 2 } };
  const gdouble area = G_PI * 20 * 20;
  GPtrArray *outlines;
  guint i;

  for (i = 0; i < 256; i++)
    prototype[i / 16][i % 16] = 5 - hypotf ((gfloat) (i / 16) - 7.5f, (gfloat) (i % 16) - 7.5f);
  outlines = read_outlines (prototype[0], 16, rows, 2);
  fail_unless_equals_int (outlines->len, 2);
  for (i = 0; i < 2; i++) {
    const GstCclOutline *outline = g_ptr_array_index (outlines, i);
    const gdouble expected = i ? area / 2 : area;
    guint k;

    fail_unless (fabs (outline->area / expected - 1) < 0.02, "%g", outline->area);
    fail_unless (fabs (measure_twice (outline) / 2 / expected - 1) < 0.04, "%g",
                 measure_twice (outline));
    fail_unless (fabs (outline->centroid_x - (i ? 32 - 4 * 20 / (3 * G_PI) : 32)) < 0.3);
    fail_unless (fabs (outline->centroid_y - 32) < 0.3);
    fail_unless (outline->points->len < 80);
    for (k = 0; k < outline->points->len; k += 2) {
      const gfloat x = g_array_index (outline->points, gfloat, k) - 32;
      const gfloat y = g_array_index (outline->points, gfloat, k + 1) - 32;

      fail_unless (hypotf (x, y) < 21.5f && (hypotf (x, y) > 18.5f || (i && x == 0)), "%g, %g", x,
                   y);
    }
  }
  g_ptr_array_unref (outlines);
}
GST_END_TEST;

/* Each kind of network has its own suppression. */
GST_START_TEST (test_own_suppression)
{
  const GstCclTensor yolox = { "x", ORT_TYPE_FLOAT, 3, { 1, CELLS, 85 }, NULL };
  const GstCclTensor yolov8 = { "x", ORT_TYPE_FLOAT, 3, { 1, 44, CELLS }, NULL };
  const GstCclTensor final = { "x", ORT_TYPE_FLOAT, 3, { 1, 300, 6 }, NULL };

  fail_unless (recognise_as (&yolox, 1, GST_CCL_OUTPUT_AUTO, &no_hints).iou == 0.45);
  fail_unless (recognise_as (&yolov8, 1, GST_CCL_OUTPUT_AUTO, &no_hints).iou == 0.45);
  fail_unless (recognise_as (&final, 1, GST_CCL_OUTPUT_AUTO, &no_hints).iou == 1);
}
GST_END_TEST;

/* The file beside a model. */
GST_START_TEST (test_modelinfo)
{
  static const struct
  {
    const gchar *text; /* NULL: no file */
    GstCclOutput output;
    guint n_ranges;    /* G_MAXUINT: an error */
    gdouble low, high; /* of the last channel */
  } cases[] = {
    { NULL, GST_CCL_OUTPUT_AUTO, 0, 0, 0 },
    { "[modelinfo]\nversion=1.0\ngroup-id=rf-detr-out\n[in]\nranges=0.0,1.0\n", GST_CCL_OUTPUT_DETR,
      1, 0, 1 },
    { "[in]\nranges=-2,2;-1,1; -3.5 , 4 ;\n[out]\nid=yolo-v8-out\n", GST_CCL_OUTPUT_YOLOV8, 3, -3.5,
      4 },
    { "[in]\nid=images\n", GST_CCL_OUTPUT_AUTO, 0, 0, 0 },
    { "[out]\nid=classdetections\n", GST_CCL_OUTPUT_AUTO, 0, 0, 0 },
    { "[out]\nid=facedetresult-rtdetr\n", GST_CCL_OUTPUT_DETR, 0, 0, 0 },
    { "[out]\nid=yolo-v8x_ssd\n", GST_CCL_OUTPUT_SSD, 0, 0, 0 },
    { "[in]\nranges=1,0\n", GST_CCL_OUTPUT_AUTO, G_MAXUINT, 0, 0 },
    { "[in]\nranges=0,1;0,1\n", GST_CCL_OUTPUT_AUTO, G_MAXUINT, 0, 0 },
    { "[in]\nranges=0,1;0,1;0,1;0,1\n", GST_CCL_OUTPUT_AUTO, G_MAXUINT, 0, 0 },
    { "[in]\nranges=0,nan\n", GST_CCL_OUTPUT_AUTO, G_MAXUINT, 0, 0 },
    { "[in]\nranges=\n", GST_CCL_OUTPUT_AUTO, G_MAXUINT, 0, 0 },
    { "nothing\n", GST_CCL_OUTPUT_AUTO, G_MAXUINT, 0, 0 },
  };
  g_autofree gchar *folder = g_dir_make_tmp ("ccldetect-XXXXXX", NULL);
  g_autofree gchar *model = g_build_filename (folder, "a.onnx", NULL);
  g_autofree gchar *long_path = g_build_filename (folder, "a.onnx.modelinfo", NULL);
  g_autofree gchar *short_path = g_build_filename (folder, "a.modelinfo", NULL);
  const gchar *const paths[] = { long_path, short_path };
  guint i, k;

  for (i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    const gchar *text = cases[i / 2].text;
    GstCclModelinfo info;
    GError *error = NULL;
    gboolean loaded;

    if (text)
      fail_unless (g_file_set_contents (paths[i % 2], text, -1, NULL));
    loaded = gst_ccl_modelinfo_load (&info, model, "in", &error);
    fail_unless_equals_int (loaded, cases[i / 2].n_ranges != G_MAXUINT);
    if (loaded) {
      fail_unless_equals_int (info.output, cases[i / 2].output);
      fail_unless_equals_int (info.n_ranges, cases[i / 2].n_ranges);
      k = MAX (info.n_ranges, 1) - 1;
      fail_unless (info.low[k] == cases[i / 2].low && info.high[k] == cases[i / 2].high);
    } else {
      fail_unless (strstr (error->message, paths[i % 2]) != NULL, "%s", error->message);
      g_clear_error (&error);
    }
    g_remove (paths[i % 2]);
  }
  g_rmdir (folder);
}
GST_END_TEST;

GST_START_TEST (test_unknown)
{
  static const gint64 shapes[][3] = {
    { 1, 83, 7 }, { 1, CELLS, 5 }, { 1, 4, CELLS }, { 1, 10, 20 }, { 1, 0, 7 }
  };
  const GstCclOutputFormat yolox = { .output = GST_CCL_OUTPUT_YOLOX, .n_classes = 2 };
  GstCclOutputFormat format;
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (shapes); i++) {
    for (k = 0; k < 3; k++) {
      GstCclTensor tensor = { "x", k == 1 ? ORT_TYPE_INT64 : ORT_TYPE_FLOAT, k == 2 ? 2 : 3 };
      GError *error = NULL;

      memcpy (tensor.dims, shapes[i], sizeof (shapes[i]));
      fail_if (gst_ccl_outputs_recognise (&tensor, 1, SIZE, SIZE, GST_CCL_OUTPUT_AUTO, &no_hints,
                                          &format, &error));
      fail_unless (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
      fail_unless (strstr (error->message, "x [1x") != NULL);
      fail_unless (strstr (error->message, "[Nx84x(5+C)] (YOLOX)") != NULL, "%s", error->message);
      g_clear_error (&error);
      fail_if (gst_ccl_outputs_read (&tensor, 1, &yolox, SIZE, SIZE, 0, 1, 0.3, 0.5, NULL, boxes,
                                     &error));
      g_clear_error (&error);
    }
  }
}
GST_END_TEST;

/* Sets a row of YOLOv5's output. No box covers another. */
static void
set_box (gfloat *data, guint i, gfloat score)
{
  const gfloat row[6] = { (gfloat) (i % 1000) * 10, (gfloat) (i / 1000) * 10, 8, 8, score, 1 };

  memcpy (data + 6 * (gsize) i, row, sizeof (row));
}

/* Of a million boxes, exactly the best stay. */
GST_START_TEST (test_million)
{
  const guint n = 1000000;
  const gdouble least = 0.5 + (n - GST_CCL_MAX_BOXES - 0.5) / (2 * n);
  gfloat *data = g_new0 (gfloat, 6 * (gsize) n);
  GstCclTensor tensor = { "x", ORT_TYPE_FLOAT, 3, { 1, n, 6 }, data };
  guint i;

  for (i = 0; i < n; i++)
    set_box (data, i, (gfloat) (0.5 + (gdouble) ((guint64) i * 7919 % n) / (2 * n)));
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_YOLOV5, 0, 1);
  fail_unless_equals_int (boxes->len, GST_CCL_MAX_BOXES);
  for (i = 0; i < boxes->len; i++)
    fail_unless (g_array_index (boxes, GstCclBox, i).confidence > least);
  g_free (data);
}
GST_END_TEST;

/* A box that is better than the worst alone takes its place. */
GST_START_TEST (test_second_worst)
{
  const guint n = GST_CCL_MAX_BOXES + 1;
  gfloat *data = g_new0 (gfloat, 6 * (gsize) n);
  GstCclTensor tensor = { "x", ORT_TYPE_FLOAT, 3, { 1, n, 6 }, data };
  guint i;

  for (i = 0; i < n; i++)
    set_box (data, i, i == 0 ? 0.5f : i == n - 1 ? 0.6f : 0.9f);
  read_boxes (&tensor, 1, GST_CCL_OUTPUT_YOLOV5, 0, 1);
  fail_unless_equals_int (boxes->len, GST_CCL_MAX_BOXES);
  for (i = 0; i < boxes->len; i++)
    fail_unless (g_array_index (boxes, GstCclBox, i).confidence > 0.55);
  g_free (data);
}
GST_END_TEST;

GST_START_TEST (test_no_numbers)
{
  static const gfloat bad[] = { NAN, INFINITY, -INFINITY };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (bad); i++) {
    for (k = 0; k < 7; k++) {
      gfloat row[7] = { 30, 20, 10, 8, 0.9f, 0.2f, 0.9f };
      GstCclTensor tensor = { "x", ORT_TYPE_FLOAT, 3, { 1, 1, 7 }, row };
      GError *error = NULL;
      const GstCclOutputFormat format = recognise_as (&tensor, 1, GST_CCL_OUTPUT_YOLOV5, &no_hints);
      gboolean read;

      row[k] = bad[i];
      read = gst_ccl_outputs_read (&tensor, 1, &format, SIZE, SIZE, 0, 1, 0.3, 0.5, NULL, boxes,
                                   &error);
      fail_unless (read || g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE));
      fail_if (read && (k < 4 || i == 0), "%u %u", i, k);
      fail_if (!read && boxes->len > 0);
      fail_if (boxes->len > 0 && g_array_index (boxes, GstCclBox, 0).confidence > 1);
      g_clear_error (&error);
    }
  }
}
GST_END_TEST;

GST_START_TEST (test_labels)
{
  static const gchar *const bad[] = { "", "\n \n", "\xff\n" };
  GString *text = g_string_new ("one\r\n two \n\nfour\n\n");
  GError *error = NULL;
  gchar **names;
  GArray *classes;
  guint i;

  names = gst_ccl_labels_parse (text->str, text->len, "x", NULL);
  fail_unless_equals_int (g_strv_length (names), 4);
  fail_unless_equals_string (names[0], "one");
  fail_unless_equals_string (names[1], "two");
  fail_unless_equals_string (names[2], "class-3");
  fail_unless_equals_string (names[3], "four");

  classes = gst_ccl_classes_parse ("two, 3", names, NULL);
  fail_unless_equals_int (classes->len, 4);
  for (i = 0; i < 4; i++)
    fail_unless_equals_int (g_array_index (classes, gboolean, i), i == 1 || i == 3);
  g_array_unref (classes);
  fail_if (gst_ccl_classes_parse ("two,5", names, &error));
  g_clear_error (&error);
  fail_if (gst_ccl_classes_parse ("two,,", names, &error));
  g_clear_error (&error);
  g_strfreev (names);

  for (i = 0; i < G_N_ELEMENTS (bad); i++) {
    fail_if (gst_ccl_labels_parse (bad[i], strlen (bad[i]), "x", &error));
    fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
    g_clear_error (&error);
  }
  for (i = 0; i < 300; i++)
    g_string_append_c (text, 'x');
  fail_if (gst_ccl_labels_parse (text->str, text->len, "x", &error));
  g_clear_error (&error);
  g_string_free (text, TRUE);

  /* COCO's categories have numbers up to 90, of which some are not used. */
  names = gst_ccl_labels_load (NULL, NULL, 91, NULL);
  fail_unless_equals_string (names[0], "class-1");
  fail_unless_equals_string (names[1], "person");
  fail_unless_equals_string (names[13], "stop sign");
  fail_unless_equals_string (names[83], "class-84");
  fail_unless_equals_string (names[90], "toothbrush");
  fail_unless_equals_int (g_strv_length (names), 91);
  g_strfreev (names);

  names = gst_ccl_labels_load (NULL, "{0: 'a'", 80, NULL);
  fail_unless_equals_string (names[0], "person");
  fail_unless_equals_string (names[79], "toothbrush");
  g_strfreev (names);
}
GST_END_TEST;

/* Names of classes in a model's metadata, as Python writes a dictionary. */
GST_START_TEST (test_dictionary)
{
  static const struct
  {
    const gchar *text;
    guint n_classes;
    const gchar *names; /* separated by commas, or NULL: it is none */
  } cases[] = {
    { "{0: 'person', 1: 'bicycle'}", 2, "person,bicycle" },
    { " { 1 :\"farmer's dog\" ,0:'a\\'b'} ", 2, "a'b,farmer's dog" },
    { "{2: 'c'}", 4, "class-1,class-2,c,class-4" },
    { "{2: 'c', 2: 'd'}", 0, "class-1,class-2,d" },
    { "{2: 'c'}", 2, NULL },
    { "{99999999999999999999: 'c'}", 0, NULL },
    { "{0: 'c'", 1, NULL },
    { "{0: 'c}", 1, NULL },
    { "{0: 'c',}", 1, NULL },
    { "{0: c}", 1, NULL },
    { "{0: ''}", 1, NULL },
    { "{-1: 'c'}", 1, NULL },
    { "['c']", 1, NULL },
    { "{0: '\xff'}", 1, NULL },
    { "{}", 1, NULL },
    { "", 1, NULL },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar **names = gst_ccl_labels_parse_dictionary (cases[i].text, cases[i].n_classes);
    gchar *all = names ? g_strjoinv (",", names) : NULL;

    fail_unless (g_strcmp0 (all, cases[i].names) == 0, "%s: %s", cases[i].text, all);
    g_free (all);
    g_strfreev (names);
  }
}
GST_END_TEST;

static void
check_view (const GstCclView *view, guint frame_width, guint frame_height)
{
  guint i, k;

  for (i = 0; i < view->n; i++) {
    const CclCrop *a = &view->crops[i];

    fail_unless (a->width > 0 && a->height > 0 && a->to_width > 0 && a->to_height > 0);
    fail_unless (a->x + a->width <= frame_width && a->y + a->height <= frame_height);
    fail_unless (a->to_x + a->to_width <= SIZE && a->to_y + a->to_height <= SIZE);
    for (k = 0; k < i; k++) {
      const CclCrop *b = &view->crops[k];

      fail_unless (a->to_x >= b->to_x + b->to_width || b->to_x >= a->to_x + a->to_width ||
                   a->to_y >= b->to_y + b->to_height || b->to_y >= a->to_y + a->to_height);
    }
  }
}

/* Random things never make a view that cannot be drawn. */
GST_START_TEST (test_random_looks)
{
  GRand *rand = g_rand_new_with_seed ((guint32) __i__);
  GstCclLooks *looks = gst_ccl_looks_new ();
  const guint width = (guint) g_rand_int_range (rand, 1, 2000);
  const guint height = (guint) g_rand_int_range (rand, 1, 2000);
  GstClockTime time = 0;
  guint frame, i;

  for (frame = 0; frame < 200; frame++) {
    GstCclComponent things[40] = { { 0 } };
    const guint n = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (things));
    GstCclView view;

    for (i = 0; i < n; i++) {
      things[i].x = (guint) g_rand_int_range (rand, 0, (gint32) width);
      things[i].y = (guint) g_rand_int_range (rand, 0, (gint32) height);
      things[i].width = 1 + (width - things[i].x - 1) / (guint) g_rand_int_range (rand, 1, 20);
      things[i].height = 1 + (height - things[i].y - 1) / (guint) g_rand_int_range (rand, 1, 20);
    }
    time += (guint64) g_rand_int_range (rand, 0, 300) * GST_MSECOND;
    if (!gst_ccl_looks_update (looks, time, GST_SECOND, things, n, width, height))
      continue;
    gst_ccl_looks_choose (looks, SIZE, SIZE, GST_CCL_LETTERBOX_CENTER, &view);
    fail_unless (view.n > 0);
    check_view (&view, width, height);
  }
  gst_ccl_looks_free (looks);
  g_rand_free (rand);
}
GST_END_TEST;

/* Small things far apart are shown large; boxes come back to where they are. */
GST_START_TEST (test_crops)
{
  static const GstCclComponent things[] = {
    { .x = 100, .y = 100, .width = 20, .height = 20 },
    { .x = 1700, .y = 900, .width = 20, .height = 20 },
    { .x = 1920, .y = 900, .width = 20, .height = 20 }, /* outside of the frame */
  };
  GstCclLooks *looks = gst_ccl_looks_new ();
  GstCclView view;
  guint i;

  for (i = 0; i < 2; i++)
    fail_unless_equals_int (
        gst_ccl_looks_update (looks, i * GST_SECOND, 10 * GST_SECOND, things, 3, 1920, 1080), i);
  gst_ccl_looks_choose (looks, SIZE, SIZE, GST_CCL_LETTERBOX_CENTER, &view);
  fail_unless_equals_int (view.n, 2);
  check_view (&view, 1920, 1080);
  fail_unless (view.crops[0].to_width * 2 > view.crops[0].width);

  for (i = 0; i < 2; i++) {
    const CclCrop *crop = &view.crops[i];
    const gfloat scale = (gfloat) crop->to_width / (gfloat) crop->width;
    const GstCclBox box = { (gfloat) crop->to_x + ((gfloat) (things[i].x - crop->x)) * scale,
                            (gfloat) crop->to_y + ((gfloat) (things[i].y - crop->y)) * scale,
                            20 * scale,
                            20 * scale,
                            0.9f - 0.1f * (gfloat) i,
                            0 };

    g_array_append_val (boxes, box);
  }
  gst_ccl_view_map (&view, 1920, 1080, 0.5, boxes, NULL);
  fail_unless_equals_int (boxes->len, 2);
  for (i = 0; i < 2; i++) {
    const GstCclBox *box = &g_array_index (boxes, GstCclBox, i);

    fail_unless (fabsf (box->x - (gfloat) things[i].x) < 1.5f, "%g", box->x);
    fail_unless (fabsf (box->y - (gfloat) things[i].y) < 1.5f);
    fail_unless (fabsf (box->width - 20) < 1.5f);
  }

  /* They are known now. */
  fail_if (gst_ccl_looks_update (looks, 2 * GST_SECOND, 10 * GST_SECOND, things, 2, 1920, 1080));
  gst_ccl_looks_reset (looks);
  fail_if (gst_ccl_looks_update (looks, 3 * GST_SECOND, 10 * GST_SECOND, things, 2, 1920, 1080));
  fail_unless (
      gst_ccl_looks_update (looks, 4 * GST_SECOND, 10 * GST_SECOND, things, 2, 1920, 1080));
  gst_ccl_looks_free (looks);
}
GST_END_TEST;

/* Where something reaches over half of the picture most of the time, looks come three times a
 * second while anything moves, and show whole frames; elsewhere small things are shown large. */
GST_START_TEST (test_near)
{
  guint i, k;

  for (i = 0; i < 3; i++) {
    const GstCclComponent things[] = {
      { .x = 100, .y = 100, .width = i == 1 ? 900 : 1000, .height = i == 2 ? 600 : 500 },
      { .x = 1700, .y = 900, .width = 20, .height = 20 },
    };
    GstCclLooks *looks = gst_ccl_looks_new ();
    guint n = 0, whole = 0;
    GstCclView view;

    for (k = 0; k < 130; k++) {
      const guint shown = k < 100 ? 2 : k < 105 ? 0 : 1;

      if (!gst_ccl_looks_update (looks, k * 100 * GST_MSECOND, 3600 * GST_MSECOND, things, shown,
                                 1920, 1080))
        continue;
      fail_if (k >= 100 && k < 105);
      gst_ccl_looks_choose (looks, SIZE, SIZE, GST_CCL_LETTERBOX_CENTER, &view);
      n += k >= 40 && k < 100;
      whole += k >= 40 && k < 100 && view.n == 1 && view.crops[0].width == 1920;
    }
    if (i == 1)
      fail_unless (n <= 4 && whole == 0, "%u, %u", n, whole);
    else
      fail_unless (n == 20 && whole == 20, "%u, %u", n, whole);

    /* The next stream knows nothing of it. */
    gst_ccl_looks_reset (looks);
    fail_if (gst_ccl_looks_update (looks, 0, 3600 * GST_MSECOND, things, 2, 1920, 1080));
    gst_ccl_looks_free (looks);
  }
}
GST_END_TEST;

/* A frame of 2:1 in a square, and boxes that are outside of it. */
GST_START_TEST (test_letterboxes)
{
  static const guint places[][4] = { { 0, 0, 64, 32 }, { 0, 16, 64, 32 }, { 0, 0, 64, 64 } };
  const GstCclBox outside = { 10, -30, 20, 20, 1, 0 }, inside = { 16, 20, 8, 4, 1, 0 };
  GstCclView view;
  guint i;

  for (i = 0; i < 3; i++) {
    const guint *place = places[i];

    gst_ccl_view_set_frame (&view, 128, 64, SIZE, SIZE, GST_CCL_LETTERBOX_TOP_LEFT + i);
    fail_unless_equals_int (view.n, 1);
    fail_unless (view.crops[0].to_x == place[0] && view.crops[0].to_y == place[1]);
    fail_unless (view.crops[0].to_width == place[2] && view.crops[0].to_height == place[3]);
    g_array_set_size (boxes, 0);
    g_array_append_val (boxes, outside);
    g_array_append_val (boxes, inside);
    gst_ccl_view_map (&view, 128, 64, 0.5, boxes, NULL);
    fail_unless_equals_int (boxes->len, 1);
    check_box (0, 32, (20 - (gfloat) place[1]) * 64 / (gfloat) place[3], 16,
               4 * 64 / (gfloat) place[3], 1, 0);
  }
}
GST_END_TEST;

/* A box that a crop cuts off goes where another crop shows the whole object, in any order. */
GST_START_TEST (test_cut_boxes)
{
  static const GstCclView view = {
    2, { { 0, 0, 100, 100, 0, 0, 100, 100 }, { 50, 0, 200, 100, 0, 100, 200, 100 } }
  };
  /* From 60 to 140, of which the first crop shows the left half. */
  static const GstCclBox half = { 60, 20, 40, 40, 1, 0 }, whole = { 10, 120, 80, 40, 1, 0 };
  guint i;

  for (i = 0; i < 4; i++) {
    const gboolean other_class = i >= 2;
    GstCclBox first = i % 2 ? whole : half, second = i % 2 ? half : whole;

    second.class_id = other_class;
    g_array_set_size (boxes, 0);
    g_array_append_val (boxes, first);
    g_array_append_val (boxes, second);
    gst_ccl_view_map (&view, 400, 200, 0.9, boxes, NULL);
    fail_unless_equals_int (boxes->len, other_class ? 2 : 1);
    if (!other_class)
      check_box (0, 60, 20, 80, 40, 1, 0);
  }
}
GST_END_TEST;

/* An object in two crops that share it: the overlap that is asked for counts, also 1. */
GST_START_TEST (test_shared_object)
{
  static const GstCclView view = {
    2, { { 0, 0, 100, 100, 0, 0, 100, 100 }, { 0, 0, 200, 100, 0, 100, 200, 100 } }
  };
  static const GstCclBox first = { 20, 20, 40, 40, 1, 0 }, second = { 20, 120, 40, 40, 0.9f, 0 };
  const gdouble iou = __i__ ? 1.0 : 0.9;

  g_array_append_val (boxes, first);
  g_array_append_val (boxes, second);
  gst_ccl_view_map (&view, 400, 200, iou, boxes, NULL);
  fail_unless_equals_int (boxes->len, 1 + __i__);
}
GST_END_TEST;

static Suite *
ccldetectparts_suite (void)
{
  Suite *suite = suite_create ("ccldetectparts");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, test_yolox);
  tcase_add_test (tcase, test_yolov5);
  tcase_add_test (tcase, test_yolov8);
  tcase_add_test (tcase, test_yolov10);
  tcase_add_test (tcase, test_ssd);
  tcase_add_test (tcase, test_end_to_end);
  tcase_add_test (tcase, test_more_columns);
  tcase_add_test (tcase, test_outline);
  tcase_add_test (tcase, test_disc);
  tcase_add_test (tcase, test_own_suppression);
  tcase_add_test (tcase, test_modelinfo);
  tcase_add_test (tcase, test_unknown);
  tcase_add_test (tcase, test_million);
  tcase_add_test (tcase, test_second_worst);
  tcase_add_test (tcase, test_no_numbers);
  tcase_add_test (tcase, test_labels);
  tcase_add_test (tcase, test_dictionary);
  tcase_add_loop_test (tcase, test_random_looks, 0, 20);
  tcase_add_test (tcase, test_crops);
  tcase_add_test (tcase, test_near);
  tcase_add_test (tcase, test_letterboxes);
  tcase_add_test (tcase, test_cut_boxes);
  tcase_add_loop_test (tcase, test_shared_object, 0, 2);

  return suite;
}

GST_CHECK_MAIN (ccldetectparts)
