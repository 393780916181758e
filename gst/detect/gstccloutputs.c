/* cudaccl - reads the boxes in a network's outputs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloutputs.h"

#include <math.h>
#include <string.h>

#include "gstcclort.h"

/* Cell widths of YOLO's three grids in pixels. */
static const guint strides[] = { 8, 16, 32 };

const gchar *
gst_ccl_output_get_name (GstCclOutput output)
{
  static const gchar *const names[] = { "auto", "yolox", "yolov5", "yolov8", "yolov10", "ssd" };

  return names[output];
}

/* Returns dimension @i, or 1 if there are fewer. */
static gint64
get_dim (const GstCclTensor *tensor, guint i)
{
  return i < tensor->n_dims ? tensor->dims[i] : 1;
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

/* Returns whether @tensor is [batch, n, m] of floats, with positive n and m. */
static gboolean
is_table (const GstCclTensor *tensor)
{
  return tensor->type == ORT_TYPE_FLOAT && tensor->n_dims == 3 && tensor->dims[1] > 0 &&
         tensor->dims[2] > 0 && tensor->dims[1] <= G_MAXINT32 && tensor->dims[2] <= G_MAXINT32;
}

static gboolean
fits_table (const GstCclTensor *tensor, guint width, guint height, GstCclOutput output)
{
  const gint64 cells = count_cells (width, height);

  if (!is_table (tensor))
    return FALSE;

  switch (output) {
  case GST_CCL_OUTPUT_YOLOX:
    return tensor->dims[1] == cells && tensor->dims[2] > 5;
  case GST_CCL_OUTPUT_YOLOV5:
    return tensor->dims[2] > 5;
  case GST_CCL_OUTPUT_YOLOV8:
    return tensor->dims[1] > 4;
  case GST_CCL_OUTPUT_YOLOV10:
    return tensor->dims[2] == 6;
  default:
    return FALSE;
  }
}

/* Finds the meaning of the only output of a YOLO. Most have a row for each cell of the grids, or
 * three. */
static GstCclOutput
recognise_table (const GstCclTensor *tensor, guint width, guint height)
{
  const gint64 cells = count_cells (width, height);

  if (fits_table (tensor, width, height, GST_CCL_OUTPUT_YOLOX))
    return GST_CCL_OUTPUT_YOLOX;
  if (!is_table (tensor))
    return GST_CCL_OUTPUT_AUTO;
  if (tensor->dims[2] == 6 && tensor->dims[1] <= 1000 && tensor->dims[1] != 3 * cells)
    return GST_CCL_OUTPUT_YOLOV10;
  if (tensor->dims[2] == cells && tensor->dims[1] > 4)
    return GST_CCL_OUTPUT_YOLOV8;
  if (tensor->dims[2] > 5 && tensor->dims[1] >= 3 * cells)
    return GST_CCL_OUTPUT_YOLOV5;

  return GST_CCL_OUTPUT_AUTO;
}

/* The tensors of an SSD-like export. */
typedef struct
{
  const GstCclTensor *boxes;   /* [batch, n, 4] or [n, 4] */
  const GstCclTensor *scores;  /* [batch, n] or [n]; [batch, n, classes], 0 being background */
  const GstCclTensor *classes; /* shaped like scores; NULL if scores are for each class */
  const GstCclTensor *count;   /* [batch], or NULL */
  gboolean batched;
  gboolean rows_first; /* boxes are y1, x1, y2, x2 */
  gint64 n, n_classes; /* n_classes: classes of scores, or 1 */
} Ssd;

static gboolean
has_name (const GstCclTensor *tensor, const gchar *part)
{
  gchar *name = g_ascii_strdown (tensor->name ? tensor->name : "", -1);
  gboolean has = strstr (name, part) != NULL;

  g_free (name);

  return has;
}

/* Returns whether @tensor is a list of @n items, with a batch dimension if the boxes have one. */
static gboolean
is_list (const GstCclTensor *tensor, const Ssd *ssd)
{
  const guint first = ssd->batched;

  return tensor->n_dims == first + 1 && tensor->dims[first] == ssd->n &&
         (!ssd->batched || tensor->dims[0] == ssd->boxes->dims[0]);
}

static gboolean
find_boxes (const GstCclTensor *tensors, guint n, Ssd *ssd)
{
  guint i;

  for (i = 0; i < n && !ssd->boxes; i++) {
    const GstCclTensor *tensor = &tensors[i];

    if (tensor->type == ORT_TYPE_FLOAT && (tensor->n_dims == 2 || tensor->n_dims == 3) &&
        tensor->dims[tensor->n_dims - 1] == 4 && !has_name (tensor, "score"))
      ssd->boxes = tensor;
  }
  if (!ssd->boxes)
    return FALSE;

  ssd->batched = ssd->boxes->n_dims == 3;
  ssd->n = ssd->boxes->dims[ssd->batched];
  ssd->rows_first = has_name (ssd->boxes, "detection_boxes");

  return ssd->n >= 0 && ssd->n <= G_MAXINT32;
}

/* Of two lists of floats, the scores are the one named so, or the first. */
static gboolean
find_ssd (const GstCclTensor *tensors, guint n, Ssd *ssd)
{
  const guint first = 1;
  guint i;

  *ssd = (Ssd){ .n_classes = 1 };
  if (!find_boxes (tensors, n, ssd))
    return FALSE;

  for (i = 0; i < n; i++) {
    const GstCclTensor *tensor = &tensors[i];
    const gboolean is_float = tensor->type == ORT_TYPE_FLOAT;

    if (tensor == ssd->boxes)
      continue;
    if (is_float && is_list (tensor, ssd) &&
        (has_name (tensor, "score") || has_name (tensor, "conf"))) {
      ssd->scores = tensor;
      ssd->n_classes = 1; /* even if there are also scores of all classes */
    } else if (is_list (tensor, ssd) &&
               (!is_float || has_name (tensor, "class") || has_name (tensor, "label")))
      ssd->classes = tensor;
    else if (is_float && is_list (tensor, ssd) && !ssd->scores)
      ssd->scores = tensor;
    else if (is_float && ssd->batched && !ssd->scores && tensor->n_dims == 3 &&
             tensor->dims[0] == ssd->boxes->dims[0] && tensor->dims[first] == ssd->n &&
             tensor->dims[2] > 1 && tensor->dims[2] <= G_MAXINT32) {
      ssd->scores = tensor;
      ssd->n_classes = tensor->dims[2];
    } else if (tensor->n_dims == 1 && !ssd->count && ssd->batched &&
               tensor->dims[0] == ssd->boxes->dims[0])
      ssd->count = tensor;
  }

  return ssd->scores != NULL && (ssd->n_classes > 1 || ssd->classes != NULL);
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

gboolean
gst_ccl_outputs_recognise (const GstCclTensor *tensors, guint n, guint width, guint height,
                           GstCclOutput wanted, GstCclOutput *output, GError **error)
{
  GstCclOutput found = GST_CCL_OUTPUT_AUTO;
  gchar *shapes;
  Ssd ssd = { 0 };

  if (wanted == GST_CCL_OUTPUT_SSD || (wanted == GST_CCL_OUTPUT_AUTO && n > 1)) {
    if (find_ssd (tensors, n, &ssd))
      found = GST_CCL_OUTPUT_SSD;
  }
  /* Segmentation and pose networks have further outputs after the boxes. */
  if (found == GST_CCL_OUTPUT_AUTO && n > 0 && wanted == GST_CCL_OUTPUT_AUTO)
    found = recognise_table (&tensors[0], width, height);
  else if (n > 0 && fits_table (&tensors[0], width, height, wanted))
    found = wanted;
  if (found != GST_CCL_OUTPUT_AUTO) {
    *output = found;
    return TRUE;
  }

  shapes = describe (tensors, n);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "The outputs of the model are not those of %s: %s, for an input of %ux%u pixels.",
               wanted == GST_CCL_OUTPUT_AUTO ? "a known detector"
                                             : gst_ccl_output_get_name (wanted),
               shapes, width, height);
  g_free (shapes);

  return FALSE;
}

guint
gst_ccl_outputs_get_n_classes (const GstCclTensor *tensors, GstCclOutput output)
{
  switch (output) {
  case GST_CCL_OUTPUT_YOLOX:
  case GST_CCL_OUTPUT_YOLOV5:
    return (guint) get_dim (&tensors[0], 2) - 5;
  case GST_CCL_OUTPUT_YOLOV8:
    return (guint) get_dim (&tensors[0], 1) - 4;
  default:
    return 0;
  }
}

/* The boxes of a picture that is being read. */
typedef struct
{
  gfloat threshold;
  const GArray *classes;
  GArray *boxes; /* from GST_CCL_MAX_BOXES on, a heap with the worst box first */
  gboolean no_numbers;
} Reader;

static gboolean
is_worse (const GstCclBox *a, const GstCclBox *b)
{
  return a->confidence < b->confidence;
}

static void
sift_down (GstCclBox *heap, guint n, guint i)
{
  GstCclBox box = heap[i];

  for (;;) {
    guint child = 2 * i + 1;

    if (child >= n)
      break;
    if (child + 1 < n && is_worse (&heap[child + 1], &heap[child]))
      child++;
    if (!is_worse (&heap[child], &box))
      break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = box;
}

/* Adds a box given by its center. */
static void
add_box (Reader *self, gfloat x, gfloat y, gfloat width, gfloat height, gfloat confidence,
         guint class_id)
{
  GstCclBox box = { x - width / 2, y - height / 2, width, height, MIN (confidence, 1), class_id };
  GstCclBox *heap;
  guint i;

  if (self->classes &&
      (class_id >= self->classes->len || !g_array_index (self->classes, gboolean, class_id)))
    return;
  if (!isfinite (box.x) || !isfinite (box.y) || !isfinite (width) || !isfinite (height)) {
    self->no_numbers = TRUE;
    return;
  }
  if (!(width > 0 && height > 0))
    return;

  if (self->boxes->len < GST_CCL_MAX_BOXES) {
    g_array_append_val (self->boxes, box);
    if (self->boxes->len < GST_CCL_MAX_BOXES)
      return;
    heap = (GstCclBox *) (gpointer) self->boxes->data;
    for (i = GST_CCL_MAX_BOXES / 2; i-- > 0;)
      sift_down (heap, GST_CCL_MAX_BOXES, i);
    return;
  }
  heap = (GstCclBox *) (gpointer) self->boxes->data;
  if (is_worse (&heap[0], &box)) {
    heap[0] = box;
    sift_down (heap, GST_CCL_MAX_BOXES, 0);
  }
}

/* Returns whether a score counts. Notes values that are not numbers. */
static gboolean
passes (Reader *self, gfloat score)
{
  if (isnan (score))
    self->no_numbers = TRUE;

  return score >= self->threshold;
}

/* Returns the best of @n classes, whose scores are @step apart. */
static guint
find_class (Reader *self, const gfloat *scores, gint64 n, gint64 step, gfloat *score)
{
  gint64 best = 0, i;

  for (i = 0; i < n; i++) {
    gfloat value = scores[i * step];

    if (isnan (value))
      self->no_numbers = TRUE;
    if (value > scores[best * step])
      best = i;
  }
  *score = scores[best * step];

  return (guint) best;
}

/* Returns whether a row of box, objectness and class scores counts. */
static gboolean
read_scores (Reader *self, const gfloat *row, gint64 columns, gfloat *score, guint *class_id)
{
  if (!passes (self, row[4]))
    return FALSE;

  *class_id = find_class (self, row + 5, columns - 5, 1, score);

  return passes (self, *score *= row[4]);
}

static void
read_rows (Reader *self, const gfloat *row, gint64 n, gint64 columns)
{
  guint class_id;
  gfloat score;
  gint64 i;

  for (i = 0; i < n; i++, row += columns) {
    if (read_scores (self, row, columns, &score, &class_id))
      add_box (self, row[0], row[1], row[2], row[3], score, class_id);
  }
}

/* Reads rows of cells: centers are relative to the cell, in cells, and sizes are logarithms. */
static void
read_cells (Reader *self, const gfloat *row, gint64 columns, guint width, guint height)
{
  guint level, x, y, class_id;
  gfloat score;

  for (level = 0; level < G_N_ELEMENTS (strides); level++) {
    const gfloat stride = (gfloat) strides[level];

    for (y = 0; y < height / strides[level]; y++) {
      for (x = 0; x < width / strides[level]; x++, row += columns) {
        if (read_scores (self, row, columns, &score, &class_id))
          add_box (self, (row[0] + (gfloat) x) * stride, (row[1] + (gfloat) y) * stride,
                   expf (row[2]) * stride, expf (row[3]) * stride, score, class_id);
      }
    }
  }
}

/* Reads columns of box and class scores. */
static void
read_columns (Reader *self, const gfloat *data, gint64 rows, gint64 n)
{
  gint64 i;

  for (i = 0; i < n; i++) {
    gfloat score;
    guint class_id = find_class (self, data + 4 * n + i, rows - 4, n, &score);

    if (passes (self, score))
      add_box (self, data[i], data[n + i], data[2 * n + i], data[3 * n + i], score, class_id);
  }
}

/* Reads rows of corners, score and class. */
static void
read_final (Reader *self, const gfloat *row, gint64 n)
{
  gint64 i;

  for (i = 0; i < n; i++, row += 6) {
    if (passes (self, row[4]) && row[5] >= 0 && row[5] < G_MAXUINT16)
      add_box (self, (row[0] + row[2]) / 2, (row[1] + row[3]) / 2, row[2] - row[0], row[3] - row[1],
               row[4], (guint) row[5]);
  }
}

/* Returns element @i of a tensor of numbers. */
static gdouble
get_number (const GstCclTensor *tensor, gint64 i)
{
  switch (tensor->type) {
  case ORT_TYPE_FLOAT:
    return ((const gfloat *) tensor->data)[i];
  case ORT_TYPE_INT32:
    return ((const gint32 *) tensor->data)[i];
  case ORT_TYPE_INT64:
    return (gdouble) ((const gint64 *) tensor->data)[i];
  default:
    return -1;
  }
}

static guint
get_class (const GstCclTensor *tensor, gint64 i)
{
  gdouble number = get_number (tensor, i);

  return number >= 0 && number < G_MAXUINT16 ? (guint) number : G_MAXUINT16;
}

/* Coordinates are shares of the picture if none that counts is much above 1. */
static void
scale_shares (GArray *boxes, guint width, guint height)
{
  guint i;

  for (i = 0; i < boxes->len; i++) {
    const GstCclBox *box = &g_array_index (boxes, GstCclBox, i);

    if (box->x + box->width > 2 || box->y + box->height > 2)
      return;
  }
  for (i = 0; i < boxes->len; i++) {
    GstCclBox *box = &g_array_index (boxes, GstCclBox, i);

    box->x *= (gfloat) width;
    box->y *= (gfloat) height;
    box->width *= (gfloat) width;
    box->height *= (gfloat) height;
  }
}

static void
read_ssd (Reader *self, const Ssd *ssd, guint index, guint width, guint height)
{
  const gfloat *box = (const gfloat *) ssd->boxes->data + (gint64) index * ssd->n * 4;
  gint64 first = (gint64) index * ssd->n, n = ssd->n, i;

  if (ssd->count) {
    gdouble count = get_number (ssd->count, index);

    n = count >= 0 && count < (gdouble) n ? (gint64) count : n;
  }
  for (i = 0; i < n; i++, box += 4) {
    const gfloat x1 = box[ssd->rows_first], y1 = box[!ssd->rows_first];
    const gfloat x2 = box[2 + ssd->rows_first], y2 = box[2 + !ssd->rows_first];
    guint class_id;
    gfloat score;

    if (ssd->n_classes > 1) {
      const gfloat *scores = (const gfloat *) ssd->scores->data + (first + i) * ssd->n_classes;

      class_id = find_class (self, scores + 1, ssd->n_classes - 1, 1, &score);
    } else {
      score = ((const gfloat *) ssd->scores->data)[first + i];
      class_id = get_class (ssd->classes, first + i);
    }
    if (passes (self, score))
      add_box (self, (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, score, class_id);
  }
  scale_shares (self->boxes, width, height);
}

/* Best first. Ties are broken, so that the order does not depend on the sort. */
static gint
compare_boxes (gconstpointer a, gconstpointer b)
{
  const GstCclBox *p = a, *q = b;

  if (p->confidence != q->confidence)
    return p->confidence > q->confidence ? -1 : 1;
  if (p->class_id != q->class_id)
    return p->class_id < q->class_id ? -1 : 1;
  if (p->y != q->y)
    return p->y < q->y ? -1 : 1;

  return (p->x > q->x) - (p->x < q->x);
}

static gdouble
get_overlap (const GstCclBox *a, const GstCclBox *b)
{
  const gdouble width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  const gdouble height = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
  const gdouble common = width > 0 && height > 0 ? width * height : 0;

  return common / ((gdouble) a->width * a->height + (gdouble) b->width * b->height - common);
}

void
gst_ccl_boxes_suppress (GArray *boxes, gdouble iou)
{
  GstCclBox *all = (GstCclBox *) (gpointer) boxes->data;
  guint n = 0, i, k;

  for (i = 0; i < boxes->len; i++) {
    for (k = 0; k < n; k++) {
      if (all[k].class_id == all[i].class_id && get_overlap (&all[k], &all[i]) > iou)
        break;
    }
    if (k == n)
      all[n++] = all[i];
  }
  g_array_set_size (boxes, n);
}

gboolean
gst_ccl_outputs_read (const GstCclTensor *tensors, guint n, GstCclOutput output, guint width,
                      guint height, guint index, guint batch, gdouble threshold, gdouble iou,
                      const GArray *classes, GArray *boxes, GError **error)
{
  Reader reader = { (gfloat) threshold, classes, boxes, FALSE };
  const GstCclTensor *table = &tensors[0];
  const gboolean is_ssd = output == GST_CCL_OUTPUT_SSD;
  gboolean fits;
  gint64 size;
  Ssd ssd = { 0 };

  g_array_set_size (boxes, 0);
  fits = is_ssd ? find_ssd (tensors, n, &ssd) : n > 0 && fits_table (table, width, height, output);
  fits = fits &&
         (is_ssd && !ssd.batched ? batch == 1 : (is_ssd ? ssd.boxes : table)->dims[0] == batch);
  if (!fits) {
    gchar *shapes = describe (tensors, n);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The outputs of the model for %u pictures are not those of %s: %s.", batch,
                 gst_ccl_output_get_name (output), shapes);
    g_free (shapes);
    return FALSE;
  }

  size = is_ssd ? 0 : table->dims[1] * table->dims[2];
  switch (output) {
  case GST_CCL_OUTPUT_YOLOX:
    read_cells (&reader, (const gfloat *) table->data + index * size, table->dims[2], width,
                height);
    break;
  case GST_CCL_OUTPUT_YOLOV5:
    read_rows (&reader, (const gfloat *) table->data + index * size, table->dims[1],
               table->dims[2]);
    break;
  case GST_CCL_OUTPUT_YOLOV8:
    read_columns (&reader, (const gfloat *) table->data + index * size, table->dims[1],
                  table->dims[2]);
    break;
  case GST_CCL_OUTPUT_YOLOV10:
    read_final (&reader, (const gfloat *) table->data + index * size, table->dims[1]);
    break;
  default:
    read_ssd (&reader, &ssd, index, width, height);
    break;
  }
  if (reader.no_numbers) {
    g_array_set_size (boxes, 0);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                 "The model returned values that are no numbers. Check how its input is to be "
                 "scaled, or export it with more precision.");
    return FALSE;
  }

  g_array_sort (boxes, compare_boxes);
  gst_ccl_boxes_suppress (boxes, iou);

  return TRUE;
}
