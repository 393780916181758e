/* cudaccl - collects the boxes of a picture
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_BOXES_H__
#define __GST_CCL_BOXES_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* A box in pixels of the network's input. */
typedef struct
{
  gfloat x, y, width, height;
  gfloat confidence;
  guint class_id; /* from 0 on */
  guint row;      /* place in the outputs */
  guint outline;  /* number of its outline, from 1 on; 0: none */
} GstCclBox;

/* Most boxes kept of a picture, the best ones. */
#define GST_CCL_MAX_BOXES 1024

/* The boxes of a picture that is being read. */
typedef struct
{
  gfloat threshold;
  const GArray *classes; /* gboolean: whether a class counts; NULL: all do */
  GArray *boxes;         /* from GST_CCL_MAX_BOXES on, a heap with the worst box first */
  gboolean has_nan;      /* a value was NaN */
  guint row;             /* of the next box */
} GstCclCollector;

/* Adds a box given by its center, unless its class does not count or it is not better than the
 * worst. */
void gst_ccl_collector_add (GstCclCollector *self, gfloat x, gfloat y, gfloat width, gfloat height,
                            gfloat confidence, guint class_id);

/* The same with its corners. */
void gst_ccl_collector_add_corners (GstCclCollector *self, gfloat x1, gfloat y1, gfloat x2,
                                    gfloat y2, gfloat confidence, guint class_id);

/* Returns whether a score counts. Notes values that are not numbers. */
gboolean gst_ccl_collector_passes (GstCclCollector *self, gfloat score);

/* Returns the best of @n classes, at least one, whose scores are @step apart. */
guint gst_ccl_collector_find_class (GstCclCollector *self, const gfloat *scores, gint64 n,
                                    gint64 step, gfloat *score);

/* Sorts boxes, best first. */
void gst_ccl_boxes_sort (GArray *boxes);

/* Drops boxes that overlap by more than @iou with a better one of their class. @boxes are
 * sorted, best first. */
void gst_ccl_boxes_suppress (GArray *boxes, gdouble iou);

G_END_DECLS

#endif /* __GST_CCL_BOXES_H__ */
