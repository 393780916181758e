/* cudaccl - outputs that have boxes and scores apart
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_APART_H__
#define __GST_CCL_APART_H__

#include "gstcclboxes.h"
#include "gstccltensor.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_APART_LISTS,   /* of boxes, scores and classes: what the network has decided */
  GST_CCL_APART_ANCHORS, /* boxes with a score for each class, class 0 being background */
  GST_CCL_APART_QUERIES, /* boxes with a logit or a probability for each class: DETR */
} GstCclApartKind;

/* Most queries of a DETR. A network with more boxes has anchors. */
#define GST_CCL_MAX_QUERIES 1000

typedef struct
{
  GstCclApartKind kind;
  const GstCclTensor *boxes;   /* [batch, n, 4] or [n, 4] */
  const GstCclTensor *scores;  /* [batch, n] or [n]; [batch, n, classes] */
  const GstCclTensor *classes; /* of lists, shaped like scores */
  const GstCclTensor *count;   /* [batch], or NULL */
  gboolean batched;
  gboolean rows_first; /* boxes are y1, x1, y2, x2 */
  gint64 n, n_classes; /* n_classes: columns of scores, or 1 */
} GstCclApart;

/* Finds the tensors by their shapes and, of several lists of floats, by their names. */
gboolean gst_ccl_apart_find (const GstCclTensor *tensors, guint n, GstCclApart *self);

/* Adds the boxes of picture @index of the batch, in pixels of the network's input of @width by
 * @height pixels. */
void gst_ccl_apart_read (const GstCclApart *self, guint index, guint width, guint height,
                         GstCclCollector *collector);

/* Whether the last of @n columns of scores of queries says that there is nothing, as in the first
 * DETR. */
gboolean gst_ccl_queries_have_nothing (gint64 n);

/* Adds the boxes of @n queries, which are @box_step and @score_step floats apart. Whether they
 * are corners or centers and sizes, and shares or pixels, is found by all of them. */
void gst_ccl_queries_read (const gfloat *boxes, gint64 box_step, const gfloat *scores,
                           gint64 score_step, gint64 n, gint64 n_classes, guint width, guint height,
                           GstCclCollector *collector);

G_END_DECLS

#endif /* __GST_CCL_APART_H__ */
