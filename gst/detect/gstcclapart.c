/* cudaccl - outputs that have boxes and scores apart
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclapart.h"

#include <math.h>

/* Coordinates are shares of the picture if none is much above 1. */
#define MOST_SHARE 2.0f

/* The first DETR has COCO's 91 classes, and one for nothing. */
#define WITH_NOTHING 92

/* Returns whether @tensor is a list of @n items, with a batch dimension if the boxes have one. */
static gboolean
is_list (const GstCclTensor *tensor, const GstCclApart *self)
{
  const guint first = self->batched;

  return tensor->n_dims == first + 1 && tensor->dims[first] == self->n &&
         (!self->batched || tensor->dims[0] == self->boxes->dims[0]);
}

/* Returns whether @tensor has a row of scores for each box. */
static gboolean
is_rows (const GstCclTensor *tensor, const GstCclApart *self)
{
  return self->batched && gst_ccl_tensor_is_table (tensor) &&
         tensor->dims[0] == self->boxes->dims[0] && tensor->dims[1] == self->n;
}

/* Of a DETR with four classes, the scores have the shape of the boxes. */
static gboolean
find_boxes (const GstCclTensor *tensors, guint n, GstCclApart *self)
{
  guint i;

  for (i = 0; i < n && !self->boxes; i++) {
    const GstCclTensor *tensor = &tensors[i];

    if (tensor->type == ORT_TYPE_FLOAT && (tensor->n_dims == 2 || tensor->n_dims == 3) &&
        tensor->dims[tensor->n_dims - 1] == 4 && !gst_ccl_tensor_has_name (tensor, "score") &&
        !gst_ccl_tensor_has_name (tensor, "logit") && !gst_ccl_tensor_has_name (tensor, "label"))
      self->boxes = tensor;
  }
  if (!self->boxes)
    return FALSE;

  self->batched = self->boxes->n_dims == 3;
  self->n = self->boxes->dims[self->batched];
  self->rows_first = gst_ccl_tensor_has_name (self->boxes, "detection_boxes");

  return self->n >= 0 && self->n <= G_MAXINT32;
}

/* Scores of anchors have a column for the background, and are named so in exports. Those of queries
 * are "logits", or "labels" although they are floats. */
static gboolean
is_queries (const GstCclApart *self)
{
  if (self->n > GST_CCL_MAX_QUERIES)
    return FALSE;

  return gst_ccl_tensor_has_name (self->scores, "logit") ||
         gst_ccl_tensor_has_name (self->scores, "label") ||
         gst_ccl_tensor_has_name (self->scores, "prob") ||
         gst_ccl_tensor_has_name (self->boxes, "pred_boxes") ||
         gst_ccl_tensor_has_name (self->boxes, "dets");
}

gboolean
gst_ccl_apart_find (const GstCclTensor *tensors, guint n, GstCclApart *self)
{
  guint i;

  *self = (GstCclApart){ .n_classes = 1 };
  if (!find_boxes (tensors, n, self))
    return FALSE;

  for (i = 0; i < n; i++) {
    const GstCclTensor *tensor = &tensors[i];
    const gboolean is_float = tensor->type == ORT_TYPE_FLOAT;

    if (tensor == self->boxes)
      continue;
    if (is_float && is_list (tensor, self) &&
        (gst_ccl_tensor_has_name (tensor, "score") || gst_ccl_tensor_has_name (tensor, "conf"))) {
      self->scores = tensor;
      self->n_classes = 1; /* even if there are also scores of all classes */
    } else if (is_list (tensor, self) && (!is_float || gst_ccl_tensor_has_name (tensor, "class") ||
                                          gst_ccl_tensor_has_name (tensor, "label")))
      self->classes = tensor;
    else if (is_float && is_list (tensor, self) && !self->scores)
      self->scores = tensor;
    else if (is_rows (tensor, self) && !self->scores) {
      self->scores = tensor;
      self->n_classes = tensor->dims[2];
      self->kind = is_queries (self) ? GST_CCL_APART_QUERIES : GST_CCL_APART_ANCHORS;
    } else if (tensor->n_dims == 1 && !self->count && self->batched &&
               tensor->dims[0] == self->boxes->dims[0])
      self->count = tensor;
  }
  if (!self->scores)
    return FALSE;
  if (self->scores->n_dims == self->boxes->n_dims)
    return self->kind == GST_CCL_APART_QUERIES || self->n_classes > 1;
  self->kind = GST_CCL_APART_LISTS;

  return self->classes != NULL;
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
read_boxes (const GstCclApart *self, guint index, guint width, guint height,
            GstCclCollector *collector)
{
  const gfloat *box = (const gfloat *) self->boxes->data + (gint64) index * self->n * 4;
  gint64 first = (gint64) index * self->n, n = self->n, i;

  if (self->count) {
    gdouble count = get_number (self->count, index);

    n = count >= 0 && count < (gdouble) n ? (gint64) count : n;
  }
  for (i = 0; i < n; i++, box += 4) {
    const gfloat x1 = box[self->rows_first], y1 = box[!self->rows_first];
    const gfloat x2 = box[2 + self->rows_first], y2 = box[2 + !self->rows_first];
    guint class_id;
    gfloat score;

    if (self->kind == GST_CCL_APART_ANCHORS) {
      const gfloat *scores = (const gfloat *) self->scores->data + (first + i) * self->n_classes;

      class_id =
          gst_ccl_collector_find_class (collector, scores + 1, self->n_classes - 1, 1, &score);
    } else {
      score = ((const gfloat *) self->scores->data)[first + i];
      class_id = get_class (self->classes, first + i);
    }
    if (gst_ccl_collector_passes (collector, score))
      gst_ccl_collector_add_corners (collector, x1, y1, x2, y2, score, class_id);
  }
  scale_shares (collector->boxes, width, height);
}

gboolean
gst_ccl_queries_have_nothing (gint64 n)
{
  return n == WITH_NOTHING;
}

/* What all queries of a picture tell about their numbers. */
typedef struct
{
  gboolean centers; /* x, y, width and height: as corners, some would be no boxes */
  gboolean pixels;
  gboolean logits; /* not within 0 to 1 */
} Units;

static Units
find_units (const gfloat *boxes, gint64 box_step, const gfloat *scores, gint64 score_step, gint64 n,
            gint64 n_classes)
{
  Units units = { FALSE, FALSE, FALSE };
  gint64 i, k;

  for (i = 0; i < n; i++) {
    const gfloat *box = boxes + i * box_step, *score = scores + i * score_step;

    units.centers |= box[2] < box[0] || box[3] < box[1];
    for (k = 0; k < 4; k++)
      units.pixels |= box[k] > MOST_SHARE;
    for (k = 0; k < n_classes && !units.logits; k++)
      units.logits = score[k] < 0.0f || score[k] > 1.0f;
  }

  return units;
}

/* Turns the best logit of a query into a probability. With a class for nothing, they are those of a
 * softmax. */
static gfloat
to_probability (gfloat best, const gfloat *scores, gint64 n)
{
  gfloat sum = 0.0f;
  gint64 i;

  if (!gst_ccl_queries_have_nothing (n))
    return 1.0f / (1.0f + expf (-best));

  for (i = 0; i < n; i++)
    sum += expf (scores[i] - best);

  return 1.0f / sum;
}

void
gst_ccl_queries_read (const gfloat *boxes, gint64 box_step, const gfloat *scores, gint64 score_step,
                      gint64 n, gint64 n_classes, guint width, guint height,
                      GstCclCollector *collector)
{
  const Units units = find_units (boxes, box_step, scores, score_step, n, n_classes);
  const gfloat scale_x = units.pixels ? 1.0f : (gfloat) width;
  const gfloat scale_y = units.pixels ? 1.0f : (gfloat) height;
  gint64 i;

  for (i = 0; i < n; i++, boxes += box_step, scores += score_step) {
    const gint64 last = gst_ccl_queries_have_nothing (n_classes) ? n_classes - 1 : n_classes;
    const gfloat x = boxes[0] * scale_x, y = boxes[1] * scale_y;
    const gfloat right = boxes[2] * scale_x, bottom = boxes[3] * scale_y;
    guint class_id;
    gfloat score;

    class_id = gst_ccl_collector_find_class (collector, scores, last, 1, &score);
    if (units.logits)
      score = to_probability (score, scores, n_classes);
    if (!gst_ccl_collector_passes (collector, score))
      continue;
    if (units.centers)
      gst_ccl_collector_add (collector, x, y, right, bottom, score, class_id);
    else
      gst_ccl_collector_add_corners (collector, x, y, right, bottom, score, class_id);
  }
}

void
gst_ccl_apart_read (const GstCclApart *self, guint index, guint width, guint height,
                    GstCclCollector *collector)
{
  const gint64 first = (gint64) index * self->n;

  if (self->kind == GST_CCL_APART_QUERIES)
    gst_ccl_queries_read ((const gfloat *) self->boxes->data + first * 4, 4,
                          (const gfloat *) self->scores->data + first * self->n_classes,
                          self->n_classes, self->n, self->n_classes, width, height, collector);
  else
    read_boxes (self, index, width, height, collector);
}
