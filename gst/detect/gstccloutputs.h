/* cudaccl - reads the boxes in a network's outputs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OUTPUTS_H__
#define __GST_CCL_OUTPUTS_H__

#include <gst/gst.h>

#include "gstcclapart.h"

G_BEGIN_DECLS

/* Kinds of outputs. The values are those of the property. */
typedef enum
{
  GST_CCL_OUTPUT_AUTO,
  GST_CCL_OUTPUT_YOLOX,
  GST_CCL_OUTPUT_YOLOV5,
  GST_CCL_OUTPUT_YOLOV8,
  GST_CCL_OUTPUT_YOLOV10,
  GST_CCL_OUTPUT_SSD,
  GST_CCL_OUTPUT_DETR,
} GstCclOutput;

const gchar *gst_ccl_output_get_name (GstCclOutput output);

/* Returns the kind whose name is in @text between hyphens, underscores or dots, such as
 * "group-of-yolo-v8-out", or GST_CCL_OUTPUT_AUTO. */
GstCclOutput gst_ccl_output_find_name (const gchar *text);

/* Hints from the model's metadata. */
typedef struct
{
  GstCclOutput output;  /* or GST_CCL_OUTPUT_AUTO; shapes that cannot be it count more */
  guint n_names;        /* of classes */
  gboolean end_to_end;  /* each object has one box */
  gboolean takes_sizes; /* a second input is the size of the picture: boxes are pixels of it */
} GstCclHints;

/* The meaning of a network's outputs. */
typedef struct
{
  GstCclOutput output;
  guint n_classes;   /* 0: unknown */
  gint prototypes;   /* index of the tensor with prototypes of masks, or -1 */
  gdouble iou;       /* overlap of boxes of one class of which only the best is kept */
  gboolean imagenet; /* the input has ImageNet's mean and scale */
  gboolean is_apart; /* boxes and scores are apart, as @apart says */
  GstCclApart apart;
} GstCclOutputFormat;

/* Finds out by names and shapes what the outputs of a network with an input of @width by @height
 * pixels mean, or checks that they can be @wanted. The error names the shapes, and those that are
 * known. */
gboolean gst_ccl_outputs_recognise (const GstCclTensor *tensors, guint n, guint width, guint height,
                                    GstCclOutput wanted, const GstCclHints *hints,
                                    GstCclOutputFormat *format, GError **error);

/* Replaces @boxes (GstCclBox) by those of picture @index of a batch of @batch, best first.
 * Leaves out boxes with less confidence than @threshold, of classes that are FALSE in @classes
 * (a gboolean for each class; NULL: all count), and that overlap by more than @iou with a better
 * box of their class. Fails if the outputs do not have the recognised shapes, or have values
 * that are not numbers. */
gboolean gst_ccl_outputs_read (const GstCclTensor *tensors, guint n,
                               const GstCclOutputFormat *format, guint width, guint height,
                               guint index, guint batch, gdouble threshold, gdouble iou,
                               const GArray *classes, GArray *boxes, GError **error);

G_END_DECLS

#endif /* __GST_CCL_OUTPUTS_H__ */
