/* cudaccl - collects the boxes of a picture
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclboxes.h"

#include <math.h>

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

void
gst_ccl_collector_add (GstCclCollector *self, gfloat x, gfloat y, gfloat width, gfloat height,
                       gfloat confidence, guint class_id)
{
  GstCclBox box = { x - width / 2,       y - height / 2, width,     height,
                    MIN (confidence, 1), class_id,       self->row, 0 };
  GstCclBox *heap;
  guint i;

  if (self->classes &&
      (class_id >= self->classes->len || !g_array_index (self->classes, gboolean, class_id)))
    return;
  if (!isfinite (box.x) || !isfinite (box.y) || !isfinite (width) || !isfinite (height)) {
    self->has_nan = TRUE;
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

void
gst_ccl_collector_add_corners (GstCclCollector *self, gfloat x1, gfloat y1, gfloat x2, gfloat y2,
                               gfloat confidence, guint class_id)
{
  gst_ccl_collector_add (self, (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, confidence,
                         class_id);
}

gboolean
gst_ccl_collector_passes (GstCclCollector *self, gfloat score)
{
  if (isnan (score))
    self->has_nan = TRUE;

  return score >= self->threshold;
}

guint
gst_ccl_collector_find_class (GstCclCollector *self, const gfloat *scores, gint64 n, gint64 step,
                              gfloat *score)
{
  gint64 best = 0, i;

  g_assert (n > 0);
  for (i = 0; i < n; i++) {
    gfloat value = scores[i * step];

    if (isnan (value))
      self->has_nan = TRUE;
    if (value > scores[best * step])
      best = i;
  }
  *score = scores[best * step];

  return (guint) best;
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

void
gst_ccl_boxes_sort (GArray *boxes)
{
  g_array_sort (boxes, compare_boxes);
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
