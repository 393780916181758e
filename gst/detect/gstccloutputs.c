/* cudaccl - reads the boxes in a network's outputs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloutputs.h"

#include <math.h>
#include <string.h>

/* Cell widths of YOLO's three grids in pixels. */
static const guint strides[] = { 8, 16, 32 };

/* Overlap of boxes of which only the best is kept. YOLOX's authors have 0.65, which is good for
 * their measure: it does not mind second boxes of little confidence, but tracks do. What decides on
 * its own that each object has one box needs none. */
#define IOU_SOME 0.45
#define IOU_NONE 1.0

static const struct
{
  const gchar *name;
  const gchar *parts[4]; /* as names of models have them, in small letters */
} kinds[] = {
  [GST_CCL_OUTPUT_AUTO] = { "auto", { NULL } },
  [GST_CCL_OUTPUT_YOLOX] = { "yolox", { "yolox", NULL } },
  [GST_CCL_OUTPUT_YOLOV5] = { "yolov5", { "yolov5", "yolo-v5", NULL } },
  [GST_CCL_OUTPUT_YOLOV8] = { "yolov8", { "yolov8", "yolo-v8", NULL } },
  [GST_CCL_OUTPUT_YOLOV10] = { "yolov10", { "yolov10", "yolo-v10", NULL } },
  [GST_CCL_OUTPUT_SSD] = { "ssd", { "ssd", NULL } },
  [GST_CCL_OUTPUT_DETR] = { "detr", { "detr", "rtdetr", "rfdetr", NULL } },
};

const gchar *
gst_ccl_output_get_name (GstCclOutput output)
{
  return kinds[output].name;
}

static gboolean
is_separator (gchar c)
{
  return c == '\0' || c == '-' || c == '_' || c == '.';
}

/* Returns whether @text has @part between separators: "facedetresult" is no "detr". */
static gboolean
has_words (const gchar *text, const gchar *part)
{
  const gchar *found;

  for (found = strstr (text, part); found; found = strstr (found + 1, part)) {
    if ((found == text || is_separator (found[-1])) && is_separator (found[strlen (part)]))
      return TRUE;
  }

  return FALSE;
}

GstCclOutput
gst_ccl_output_find_name (const gchar *text)
{
  gchar *small = g_ascii_strdown (text, -1);
  GstCclOutput found = GST_CCL_OUTPUT_AUTO;
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (kinds); i++) {
    for (k = 0; kinds[i].parts[k]; k++) {
      if (has_words (small, kinds[i].parts[k]))
        found = (GstCclOutput) i;
    }
  }
  g_free (small);

  return found;
}

static gint64
count_cells (guint width, guint height)
{
  gint64 n = 0;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (strides); i++)
    n += (gint64) (width / strides[i]) * (height / strides[i]);

  return n;
}

/* Returns the index of the prototypes of masks behind the boxes, [batch, n, height, width], and
 * their number, or -1 and 0. */
static gint
find_prototypes (const GstCclTensor *tensors, guint n, gint64 *n_prototypes)
{
  guint i;

  *n_prototypes = 0;
  for (i = 1; i < n; i++) {
    if (tensors[i].type == ORT_TYPE_FLOAT && tensors[i].n_dims == 4 &&
        tensors[i].dims[0] == tensors[0].dims[0] && tensors[i].dims[1] > 0 &&
        tensors[i].dims[1] <= 256) {
      *n_prototypes = tensors[i].dims[1];
      return (gint) i;
    }
  }

  return -1;
}

/* Returns whether the first output may be a table of this kind, with @extra columns for masks. */
static gboolean
fits_table (const GstCclTensor *tensor, guint width, guint height, GstCclOutput output,
            gint64 extra)
{
  if (!gst_ccl_tensor_is_table (tensor))
    return FALSE;

  switch (output) {
  case GST_CCL_OUTPUT_YOLOX:
    return tensor->dims[1] == count_cells (width, height) && tensor->dims[2] > 5;
  case GST_CCL_OUTPUT_YOLOV5:
    return tensor->dims[2] > 5 + extra;
  case GST_CCL_OUTPUT_YOLOV8:
    return tensor->dims[1] > 4 + extra;
  case GST_CCL_OUTPUT_YOLOV10:
    return tensor->dims[2] >= 6;
  case GST_CCL_OUTPUT_DETR:
    return tensor->dims[2] > 4 && tensor->dims[1] <= GST_CCL_MAX_QUERIES;
  default:
    return FALSE;
  }
}

/* Finds the meaning of the only output of a YOLO. Most have a row for each cell of the grids, or
 * three; those that need no suppression, and DETRs, have a few hundred boxes. */
static GstCclOutput
recognise_table (const GstCclTensor *tensor, guint width, guint height, gint64 extra,
                 const GstCclHints *hints)
{
  const gint64 cells = count_cells (width, height);
  const gint64 rows = tensor->dims[1], columns = tensor->dims[2];

  if (!gst_ccl_tensor_is_table (tensor))
    return GST_CCL_OUTPUT_AUTO;
  if (hints->output != GST_CCL_OUTPUT_AUTO &&
      fits_table (tensor, width, height, hints->output, extra))
    return hints->output;
  if (hints->end_to_end && fits_table (tensor, width, height, GST_CCL_OUTPUT_YOLOV10, extra))
    return GST_CCL_OUTPUT_YOLOV10;
  if (fits_table (tensor, width, height, GST_CCL_OUTPUT_YOLOX, 0))
    return GST_CCL_OUTPUT_YOLOX;
  if (columns == 6 + extra && rows <= GST_CCL_MAX_QUERIES && rows != 3 * cells)
    return GST_CCL_OUTPUT_YOLOV10;
  if (columns == cells && fits_table (tensor, width, height, GST_CCL_OUTPUT_YOLOV8, extra))
    return GST_CCL_OUTPUT_YOLOV8;
  if (rows >= 3 * cells && fits_table (tensor, width, height, GST_CCL_OUTPUT_YOLOV5, extra))
    return GST_CCL_OUTPUT_YOLOV5;
  /* A table of few classes and any number of rows could be anything. */
  if (hints->n_names > 0 && columns == 4 + (gint64) hints->n_names && rows <= GST_CCL_MAX_QUERIES)
    return GST_CCL_OUTPUT_DETR;

  return GST_CCL_OUTPUT_AUTO;
}

/* The same for outputs with boxes and scores apart. If @wanted is SSD or DETR, names are ignored.
 */
static gboolean
find_apart (const GstCclTensor *tensors, guint n, GstCclOutput wanted, GstCclApart *apart)
{
  if (!gst_ccl_apart_find (tensors, n, apart))
    return FALSE;
  if (apart->kind == GST_CCL_APART_LISTS)
    return TRUE;
  if (wanted == GST_CCL_OUTPUT_DETR)
    apart->kind = GST_CCL_APART_QUERIES;
  else if (wanted == GST_CCL_OUTPUT_SSD)
    apart->kind = GST_CCL_APART_ANCHORS;

  /* One column is for the background. */
  return apart->kind == GST_CCL_APART_QUERIES || apart->n_columns > 1;
}

static GstCclOutput
recognise_apart (const GstCclTensor *tensors, guint n, GstCclOutput wanted,
                 const GstCclHints *hints, GstCclOutputFormat *format)
{
  const gboolean any = wanted == GST_CCL_OUTPUT_AUTO;
  GstCclApart *apart = &format->apart;

  format->is_apart = find_apart (tensors, n, any ? hints->output : wanted, apart) ||
                     (any && find_apart (tensors, n, GST_CCL_OUTPUT_AUTO, apart));
  if (!format->is_apart)
    return GST_CCL_OUTPUT_AUTO;

  format->iou = apart->kind == GST_CCL_APART_ANCHORS ? IOU_SOME : IOU_NONE;
  switch (apart->kind) {
  case GST_CCL_APART_QUERIES:
    format->n_classes =
        (guint) (apart->n_columns - gst_ccl_queries_have_background_column (apart->n_columns));
    format->imagenet = gst_ccl_tensor_has_name (&tensors[apart->boxes], "dets");
    return GST_CCL_OUTPUT_DETR;
  case GST_CCL_APART_ANCHORS:
    return GST_CCL_OUTPUT_SSD;
  default:
    return hints->takes_sizes ? GST_CCL_OUTPUT_DETR : GST_CCL_OUTPUT_SSD;
  }
}

static gchar *
describe (const GstCclTensor *tensors, guint n)
{
  GString *text = g_string_new (NULL);
  guint i, k;

  for (i = 0; i < n; i++) {
    g_string_append_printf (text, "%s%s [", i ? ", " : "",
                            tensors[i].name ? tensors[i].name : "unnamed");
    for (k = 0; k < tensors[i].n_dims; k++)
      g_string_append_printf (text, "%s%" G_GINT64_FORMAT, k ? "x" : "", tensors[i].dims[k]);
    g_string_append_printf (text, "]%s", tensors[i].type == ORT_TYPE_FLOAT ? "" : " not float32");
  }

  return g_string_free (text, FALSE);
}

static void
set_unknown (GError **error, const GstCclTensor *tensors, guint n, guint width, guint height,
             GstCclOutput wanted)
{
  gchar *shapes = describe (tensors, n);

  if (wanted != GST_CCL_OUTPUT_AUTO)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The outputs of the model are not those of %s: %s, for an input of %ux%u pixels.",
                 gst_ccl_output_get_name (wanted), shapes, width, height);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The outputs of the model are not those of a known detector: %s, for an input of "
                 "%ux%u pixels. These are known, of float32 or float16 with C classes: "
                 "[Nx%" G_GINT64_FORMAT "x(5+C)] (YOLOX), [Nx%" G_GINT64_FORMAT
                 "x(5+C)] (YOLOv5, v7), [Nx(4+C)x%" G_GINT64_FORMAT
                 "] (YOLOv8 to 26), [Nx300x6] (YOLOv10, 26), boxes [NxQx4] and logits or scores "
                 "[NxQxC] (DETR, SSD), boxes [NxQx4], scores and labels [NxQ]. If it is one of "
                 "these in other sizes, set the property output.",
                 shapes, width, height, count_cells (width, height),
                 3 * count_cells (width, height), count_cells (width, height));
  g_free (shapes);
}

/* Sets what follows from a table of this kind. */
static void
set_table (GstCclOutputFormat *format, const GstCclTensor *table, GstCclOutput output, gint64 extra,
           const GstCclHints *hints)
{
  static const guint boxes[] = { 0, 5, 5, 4, 6, 0, 4 };
  const gint64 columns = table->dims[output == GST_CCL_OUTPUT_YOLOV8 ? 1 : 2];
  const gint64 rest = columns - boxes[output] - extra;

  format->iou =
      output == GST_CCL_OUTPUT_YOLOV10 || output == GST_CCL_OUTPUT_DETR ? IOU_NONE : IOU_SOME;
  /* Columns behind the classes are key points or angles. */
  if (output == GST_CCL_OUTPUT_YOLOV10)
    format->n_classes = hints->n_names;
  else if (hints->n_names > 0 && hints->n_names < rest)
    format->n_classes = hints->n_names;
  else
    format->n_classes = (guint) rest;
}

gboolean
gst_ccl_outputs_recognise (const GstCclTensor *tensors, guint n, guint width, guint height,
                           GstCclOutput wanted, const GstCclHints *hints,
                           GstCclOutputFormat *format, GError **error)
{
  const gboolean any = wanted == GST_CCL_OUTPUT_AUTO;
  GstCclOutput found = GST_CCL_OUTPUT_AUTO;
  gint64 extra = 0;

  *format = (GstCclOutputFormat){ .prototypes = -1 };
  if (any ? n > 1 : wanted == GST_CCL_OUTPUT_SSD || wanted == GST_CCL_OUTPUT_DETR)
    found = recognise_apart (tensors, n, wanted, hints, format);
  if (found != GST_CCL_OUTPUT_AUTO) {
    format->output = any ? found : wanted;
    return TRUE;
  }

  /* Segmentation and pose networks have further outputs after the boxes. */
  if (n > 0) {
    format->prototypes = find_prototypes (tensors, n, &extra);
    if (any)
      found = recognise_table (&tensors[0], width, height, extra, hints);
    else if (fits_table (&tensors[0], width, height, wanted, extra))
      found = wanted;
  }
  if (found == GST_CCL_OUTPUT_AUTO) {
    set_unknown (error, tensors, n, width, height, wanted);
    return FALSE;
  }
  if (found == GST_CCL_OUTPUT_YOLOX || found == GST_CCL_OUTPUT_DETR) {
    format->prototypes = -1;
    extra = 0;
  }
  format->output = found;
  set_table (format, &tensors[0], found, extra, hints);

  return TRUE;
}

/* Returns whether a row of box, objectness and class scores counts. */
static gboolean
read_scores (GstCclCollector *self, const gfloat *row, gint64 n_classes, gfloat *score,
             guint *class_id)
{
  if (!gst_ccl_collector_passes (self, row[4]))
    return FALSE;

  *class_id = gst_ccl_collector_find_class (self, row + 5, n_classes, 1, score);

  return gst_ccl_collector_passes (self, *score *= row[4]);
}

static void
read_rows (GstCclCollector *self, const gfloat *row, gint64 n, gint64 columns, gint64 n_classes)
{
  guint class_id;
  gfloat score;
  gint64 i;

  for (i = 0; i < n; i++, row += columns) {
    self->row = (guint) i;
    if (read_scores (self, row, n_classes, &score, &class_id))
      gst_ccl_collector_add (self, row[0], row[1], row[2], row[3], score, class_id);
  }
}

/* Reads rows of cells: centers are relative to the cell, in cells, and sizes are logarithms. */
static void
read_cells (GstCclCollector *self, const gfloat *row, gint64 columns, gint64 n_classes, guint width,
            guint height)
{
  guint level, x, y, class_id;
  gfloat score;

  for (level = 0; level < G_N_ELEMENTS (strides); level++) {
    const gfloat stride = (gfloat) strides[level];

    for (y = 0; y < height / strides[level]; y++) {
      for (x = 0; x < width / strides[level]; x++, row += columns) {
        if (read_scores (self, row, n_classes, &score, &class_id))
          gst_ccl_collector_add (self, (row[0] + (gfloat) x) * stride,
                                 (row[1] + (gfloat) y) * stride, expf (row[2]) * stride,
                                 expf (row[3]) * stride, score, class_id);
      }
    }
  }
}

/* Reads columns of box and class scores. */
static void
read_columns (GstCclCollector *self, const gfloat *data, gint64 n_classes, gint64 n)
{
  gint64 i;

  for (i = 0; i < n; i++) {
    gfloat score;
    guint class_id;

    self->row = (guint) i;
    class_id = gst_ccl_collector_find_class (self, data + 4 * n + i, n_classes, n, &score);

    if (gst_ccl_collector_passes (self, score))
      gst_ccl_collector_add (self, data[i], data[n + i], data[2 * n + i], data[3 * n + i], score,
                             class_id);
  }
}

/* Reads rows of corners, score and class. */
static void
read_final (GstCclCollector *self, const gfloat *row, gint64 n, gint64 columns)
{
  gint64 i;

  for (i = 0; i < n; i++, row += columns) {
    self->row = (guint) i;
    if (gst_ccl_collector_passes (self, row[4]) && row[5] >= 0 && row[5] < G_MAXUINT16)
      gst_ccl_collector_add_corners (self, row[0], row[1], row[2], row[3], row[4], (guint) row[5]);
  }
}

static void
read_table (GstCclCollector *self, const GstCclTensor *table, const GstCclOutputFormat *format,
            guint width, guint height, guint index)
{
  const gint64 rows = table->dims[1], columns = table->dims[2];
  const gfloat *data = (const gfloat *) table->data + index * rows * columns;
  const gint64 n_classes = format->n_classes;

  switch (format->output) {
  case GST_CCL_OUTPUT_YOLOX:
    read_cells (self, data, columns, n_classes, width, height);
    break;
  case GST_CCL_OUTPUT_YOLOV5:
    read_rows (self, data, rows, columns, n_classes);
    break;
  case GST_CCL_OUTPUT_YOLOV8:
    read_columns (self, data, n_classes, columns);
    break;
  case GST_CCL_OUTPUT_YOLOV10:
    read_final (self, data, rows, columns);
    break;
  default:
    gst_ccl_queries_read (data, columns, data + 4, columns, rows, n_classes, width, height, TRUE,
                          self);
    break;
  }
}

/* Returns whether a table has the classes that it was recognised with. */
static gboolean
has_classes (const GstCclTensor *table, const GstCclOutputFormat *format)
{
  const gint64 columns = table->dims[format->output == GST_CCL_OUTPUT_YOLOV8 ? 1 : 2];

  switch (format->output) {
  case GST_CCL_OUTPUT_YOLOV10:
    return TRUE;
  case GST_CCL_OUTPUT_YOLOX:
  case GST_CCL_OUTPUT_YOLOV5:
    return (gint64) format->n_classes + 5 <= columns;
  default:
    return (gint64) format->n_classes + 4 <= columns;
  }
}

gboolean
gst_ccl_outputs_read (const GstCclTensor *tensors, guint n, const GstCclOutputFormat *format,
                      guint width, guint height, guint index, guint batch, gdouble threshold,
                      gdouble iou, const GArray *classes, GArray *boxes, GError **error)
{
  GstCclCollector collector = { .threshold = (gfloat) threshold,
                                .classes = classes,
                                .boxes = boxes };
  const GstCclTensor *table = &tensors[0];
  gboolean fits;

  g_array_set_size (boxes, 0);
  if (format->is_apart)
    fits = gst_ccl_apart_fits (&format->apart, tensors, n, batch);
  else
    fits = n > 0 && fits_table (table, width, height, format->output, 0) &&
           has_classes (table, format) && table->dims[0] == batch;
  if (!fits) {
    gchar *shapes = describe (tensors, n);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The outputs of the model for %u pictures are not those of %s: %s.", batch,
                 gst_ccl_output_get_name (format->output), shapes);
    g_free (shapes);
    return FALSE;
  }

  if (format->is_apart)
    gst_ccl_apart_read (&format->apart, tensors, index, width, height, &collector);
  else
    read_table (&collector, table, format, width, height, index);
  if (collector.has_nan) {
    g_array_set_size (boxes, 0);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                 "The model returned values that are no numbers. Check how its input is to be "
                 "scaled, or export it with more precision.");
    return FALSE;
  }

  gst_ccl_boxes_sort (boxes);
  gst_ccl_boxes_suppress (boxes, iou);

  return TRUE;
}
