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

/* Where the outputs are; indices of tensors, -1: none. */
typedef struct
{
  GstCclApartKind kind;
  gint boxes;   /* [batch, n, 4] or [n, 4] */
  gint scores;  /* [batch, n] or [n]; [batch, n, n_columns] */
  gint classes; /* of lists, shaped like scores */
  gint count;   /* [batch] */
  gboolean batched;
  gboolean rows_first; /* boxes are y1, x1, y2, x2 */
  gboolean centers;    /* boxes of queries are centers and sizes by their names */
  gint64 n_columns;    /* of scores, or 1 */
} GstCclApart;

/* Finds the tensors by their shapes and, of several lists of floats, by their names. */
gboolean gst_ccl_apart_find (const GstCclTensor *tensors, guint n, GstCclApart *self);

/* Returns whether @n tensors have the shapes of @self, for @batch pictures. */
gboolean gst_ccl_apart_fits (const GstCclApart *self, const GstCclTensor *tensors, guint n,
                             guint batch);

/* Adds the boxes of picture @index of the batch, in pixels of the network's input of @width by
 * @height pixels. The tensors fit. */
void gst_ccl_apart_read (const GstCclApart *self, const GstCclTensor *tensors, guint index,
                         guint width, guint height, GstCclCollector *collector);

/* Whether the last of @n_columns scores of queries says that there is nothing, as in the first
 * DETR. */
gboolean gst_ccl_queries_have_background_column (gint64 n_columns);

/* Adds the boxes of @n queries, which are @box_step and @score_step floats apart. Unless @centers
 * says that they are centers and sizes, it is found by all of them whether they are corners, and
 * also whether they are shares or pixels, and logits or probabilities. */
void gst_ccl_queries_read (const gfloat *boxes, gint64 box_step, const gfloat *scores,
                           gint64 score_step, gint64 n, gint64 n_columns, guint width, guint height,
                           gboolean centers, GstCclCollector *collector);

G_END_DECLS

#endif /* __GST_CCL_APART_H__ */
