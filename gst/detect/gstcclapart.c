/* cudaccl - outputs that have boxes and scores apart
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclapart.h"

#include <math.h>

/* Coordinates are shares of the picture if none is much above 1. */
#define MOST_SHARE 2.0f

/* The first DETR has COCO's 91 classes, and one for nothing. */
#define WITH_NOTHING 92

/* Returns whether @tensor is a list of an item for each box, with a batch dimension if the boxes
 * have one. */
static gboolean
is_list (const GstCclTensor *tensor, const GstCclTensor *boxes)
{
  guint i;

  for (i = 0; i + 1 < boxes->n_dims && i < tensor->n_dims; i++) {
    if (tensor->dims[i] != boxes->dims[i])
      return FALSE;
  }

  return tensor->n_dims + 1 == boxes->n_dims;
}

/* Returns whether @tensor has a row of scores for each box. */
static gboolean
is_rows (const GstCclTensor *tensor, const GstCclTensor *boxes)
{
  return boxes->n_dims == 3 && gst_ccl_tensor_is_table (tensor) &&
         tensor->dims[0] == boxes->dims[0] && tensor->dims[1] == boxes->dims[1];
}

/* Returns whether @tensor has a number for each picture of a batch. */
static gboolean
is_count (const GstCclTensor *tensor, const GstCclTensor *boxes)
{
  return boxes->n_dims == 3 && tensor->n_dims == 1 && tensor->dims[0] == boxes->dims[0];
}

static gint64
get_n (const GstCclTensor *boxes)
{
  return boxes->dims[boxes->n_dims - 2];
}

static gboolean
are_boxes (const GstCclTensor *tensor)
{
  return tensor->type == ORT_TYPE_FLOAT && (tensor->n_dims == 2 || tensor->n_dims == 3) &&
         tensor->dims[tensor->n_dims - 1] == 4 && get_n (tensor) >= 0 &&
         get_n (tensor) <= G_MAXINT32;
}

/* Of a DETR with four classes, the scores have the shape of the boxes. */
static gint
find_boxes (const GstCclTensor *tensors, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (are_boxes (&tensors[i]) && !gst_ccl_tensor_has_name (&tensors[i], "score") &&
        !gst_ccl_tensor_has_name (&tensors[i], "logit") &&
        !gst_ccl_tensor_has_name (&tensors[i], "label"))
      return (gint) i;
  }

  return -1;
}

/* Whether boxes are centers and sizes by their names, which Transformers and RF-DETR have. */
static gboolean
has_centers (const GstCclTensor *boxes)
{
  return gst_ccl_tensor_has_name (boxes, "pred_boxes") || gst_ccl_tensor_has_name (boxes, "dets");
}

/* Scores of anchors have a column for the background, and are named so in exports. Those of queries
 * are "logits", or "labels" although they are floats. */
static gboolean
are_queries (const GstCclTensor *boxes, const GstCclTensor *scores)
{
  if (get_n (boxes) > GST_CCL_MAX_QUERIES)
    return FALSE;

  return gst_ccl_tensor_has_name (scores, "logit") || gst_ccl_tensor_has_name (scores, "label") ||
         gst_ccl_tensor_has_name (scores, "prob") || has_centers (boxes);
}

gboolean
gst_ccl_apart_find (const GstCclTensor *tensors, guint n, GstCclApart *self)
{
  const GstCclTensor *boxes;
  guint i;

  *self = (GstCclApart){
    .boxes = find_boxes (tensors, n), .scores = -1, .classes = -1, .count = -1, .n_columns = 1
  };
  if (self->boxes < 0)
    return FALSE;

  boxes = &tensors[self->boxes];
  self->batched = boxes->n_dims == 3;
  self->centers = has_centers (boxes);
  self->rows_first = gst_ccl_tensor_has_name (boxes, "detection_boxes");
  for (i = 0; i < n; i++) {
    const GstCclTensor *tensor = &tensors[i];
    const gboolean is_float = tensor->type == ORT_TYPE_FLOAT;

    if (tensor == boxes)
      continue;
    if (is_float && is_list (tensor, boxes) &&
        (gst_ccl_tensor_has_name (tensor, "score") || gst_ccl_tensor_has_name (tensor, "conf"))) {
      self->scores = (gint) i;
      self->n_columns = 1; /* even if there are also scores of all classes */
    } else if (is_list (tensor, boxes) && (!is_float || gst_ccl_tensor_has_name (tensor, "class") ||
                                           gst_ccl_tensor_has_name (tensor, "label")))
      self->classes = (gint) i;
    else if (is_float && is_list (tensor, boxes) && self->scores < 0)
      self->scores = (gint) i;
    else if (is_rows (tensor, boxes) && self->scores < 0) {
      self->scores = (gint) i;
      self->n_columns = tensor->dims[2];
    } else if (is_count (tensor, boxes) && self->count < 0)
      self->count = (gint) i;
  }
  if (self->scores < 0)
    return FALSE;
  if (tensors[self->scores].n_dims < boxes->n_dims) {
    self->kind = GST_CCL_APART_LISTS;
    return self->classes >= 0;
  }
  self->kind =
      are_queries (boxes, &tensors[self->scores]) ? GST_CCL_APART_QUERIES : GST_CCL_APART_ANCHORS;

  return self->kind == GST_CCL_APART_QUERIES || self->n_columns > 1;
}

gboolean
gst_ccl_apart_fits (const GstCclApart *self, const GstCclTensor *tensors, guint n, guint batch)
{
  const GstCclTensor *boxes, *scores;

  if (MAX (MAX (self->boxes, self->scores), MAX (self->classes, self->count)) >= (gint) n)
    return FALSE;

  boxes = &tensors[self->boxes];
  scores = &tensors[self->scores];
  if (!are_boxes (boxes) || boxes->n_dims != (self->batched ? 3 : 2) ||
      batch != (self->batched ? boxes->dims[0] : 1) || scores->type != ORT_TYPE_FLOAT ||
      (self->count >= 0 && !is_count (&tensors[self->count], boxes)))
    return FALSE;
  if (self->kind == GST_CCL_APART_LISTS)
    return is_list (scores, boxes) && is_list (&tensors[self->classes], boxes);

  return is_rows (scores, boxes) && scores->dims[2] == self->n_columns;
}

/* Returns element @i of a tensor of numbers. */
static gdouble
get_number (const GstCclTensor *tensor, gint64 i)
{
  switch (tensor->type) {
  case ORT_TYPE_FLOAT:
    return ((const gfloat *) tensor->data)[i];
  case ORT_TYPE_UINT8:
    return ((const guint8 *) tensor->data)[i];
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

/* Only boxes that count tell whether coordinates are shares. */
static void
scale_shares (GArray *boxes, guint width, guint height)
{
  guint i;

  for (i = 0; i < boxes->len; i++) {
    const GstCclBox *box = &g_array_index (boxes, GstCclBox, i);

    if (box->x + box->width > MOST_SHARE || box->y + box->height > MOST_SHARE)
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
read_boxes (const GstCclApart *self, const GstCclTensor *tensors, guint index, guint width,
            guint height, GstCclCollector *collector)
{
  const gfloat *all_scores = tensors[self->scores].data;
  gint64 n = get_n (&tensors[self->boxes]), i;
  const gint64 first = (gint64) index * n;
  const gfloat *box = (const gfloat *) tensors[self->boxes].data + first * 4;

  if (self->count >= 0) {
    gdouble count = get_number (&tensors[self->count], index);

    n = count >= 0 && count < (gdouble) n ? (gint64) count : n;
  }
  for (i = 0; i < n; i++, box += 4) {
    const gfloat x1 = box[self->rows_first], y1 = box[!self->rows_first];
    const gfloat x2 = box[2 + self->rows_first], y2 = box[2 + !self->rows_first];
    guint class_id;
    gfloat score;

    if (self->kind == GST_CCL_APART_ANCHORS) {
      const gfloat *scores = all_scores + (first + i) * self->n_columns;

      class_id =
          gst_ccl_collector_find_class (collector, scores + 1, self->n_columns - 1, 1, &score);
    } else {
      score = all_scores[first + i];
      class_id = get_class (&tensors[self->classes], first + i);
    }
    if (gst_ccl_collector_passes (collector, score))
      gst_ccl_collector_add_corners (collector, x1, y1, x2, y2, score, class_id);
  }
  scale_shares (collector->boxes, width, height);
}

gboolean
gst_ccl_queries_have_background_column (gint64 n_columns)
{
  return n_columns == WITH_NOTHING;
}

/* Units of the boxes and scores of a picture. */
typedef struct
{
  gboolean centers; /* x, y, width and height: as corners, some would be no boxes */
  gboolean pixels;
  gboolean logits; /* not within 0 to 1 */
} Units;

/* Queries vote, so that a degenerate one does not change the boxes of all. Corners are in order
 * except by rounding, but centers and sizes are not for boxes that are small or far from the
 * origin, which some of the queries have, whatever the picture shows. Rows of zeros are padding. */
static Units
find_units (const gfloat *boxes, gint64 box_step, const gfloat *scores, gint64 score_step, gint64 n,
            gint64 n_columns)
{
  gint64 n_rows = 0, n_centers = 0, n_pixels = 0, n_logits = 0, i, k;

  for (i = 0; i < n; i++) {
    const gfloat *box = boxes + i * box_step, *score = scores + i * score_step;
    gboolean pixels = FALSE, logits = FALSE;

    if (box[0] == 0.0f && box[1] == 0.0f && box[2] == 0.0f && box[3] == 0.0f)
      continue;
    for (k = 0; k < 4; k++)
      pixels |= box[k] > MOST_SHARE;
    for (k = 0; k < n_columns && !logits; k++)
      logits = score[k] < 0.0f || score[k] > 1.0f;
    n_rows++;
    n_centers += box[2] < box[0] || box[3] < box[1];
    n_pixels += pixels;
    n_logits += logits;
  }

  return (Units){ n_centers > n_rows / 10, n_pixels > n_rows / 2, n_logits > n_rows / 2 };
}

/* Turns the best logit of a query into a probability. With a class for nothing, they are those of a
 * softmax. */
static gfloat
to_probability (gfloat best, const gfloat *scores, gint64 n)
{
  gfloat sum = 0.0f;
  gint64 i;

  if (!gst_ccl_queries_have_background_column (n))
    return 1.0f / (1.0f + expf (-best));

  for (i = 0; i < n; i++)
    sum += expf (scores[i] - best);

  return 1.0f / sum;
}

void
gst_ccl_queries_read (const gfloat *boxes, gint64 box_step, const gfloat *scores, gint64 score_step,
                      gint64 n, gint64 n_columns, guint width, guint height, gboolean centers,
                      GstCclCollector *collector)
{
  const Units units = find_units (boxes, box_step, scores, score_step, n, n_columns);
  const gint64 n_classes = n_columns - gst_ccl_queries_have_background_column (n_columns);
  const gfloat scale_x = units.pixels ? 1.0f : (gfloat) width;
  const gfloat scale_y = units.pixels ? 1.0f : (gfloat) height;
  gint64 i;

  for (i = 0; i < n; i++, boxes += box_step, scores += score_step) {
    const gfloat x = boxes[0] * scale_x, y = boxes[1] * scale_y;
    const gfloat right = boxes[2] * scale_x, bottom = boxes[3] * scale_y;
    guint class_id;
    gfloat score;

    class_id = gst_ccl_collector_find_class (collector, scores, n_classes, 1, &score);
    if (units.logits)
      score = to_probability (score, scores, n_columns);
    if (!gst_ccl_collector_passes (collector, score))
      continue;
    if (centers || units.centers)
      gst_ccl_collector_add (collector, x, y, right, bottom, score, class_id);
    else
      gst_ccl_collector_add_corners (collector, x, y, right, bottom, score, class_id);
  }
}

void
gst_ccl_apart_read (const GstCclApart *self, const GstCclTensor *tensors, guint index, guint width,
                    guint height, GstCclCollector *collector)
{
  const gint64 n = get_n (&tensors[self->boxes]), first = (gint64) index * n;

  if (self->kind == GST_CCL_APART_QUERIES)
    gst_ccl_queries_read ((const gfloat *) tensors[self->boxes].data + first * 4, 4,
                          (const gfloat *) tensors[self->scores].data + first * self->n_columns,
                          self->n_columns, n, self->n_columns, width, height, self->centers,
                          collector);
  else
    read_boxes (self, tensors, index, width, height, collector);
}
