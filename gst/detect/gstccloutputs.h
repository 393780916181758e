/* cudaccl - reads the boxes in a network's outputs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OUTPUTS_H__
#define __GST_CCL_OUTPUTS_H__

#include <gst/gst.h>

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
} GstCclOutput;

const gchar *gst_ccl_output_get_name (GstCclOutput output);

#define GST_CCL_TENSOR_MAX_DIMS 8
#define GST_CCL_MAX_OUTPUTS 16

/* A tensor that a network returned. */
typedef struct
{
  const gchar *name;
  gint type; /* ORT_TYPE_… */
  guint n_dims;
  gint64 dims[GST_CCL_TENSOR_MAX_DIMS];
  gconstpointer data; /* as many elements as the dimensions say */
} GstCclTensor;

/* A box in pixels of the network's input. */
typedef struct
{
  gfloat x, y, width, height;
  gfloat confidence;
  guint class_id; /* from 0 on */
} GstCclBox;

/* Most boxes kept of a picture, the best ones. */
#define GST_CCL_MAX_BOXES 1024

/* Finds out by names and shapes what the outputs of a network with an input of @width by @height
 * pixels mean, or checks that they can be @wanted. The error names the shapes. */
gboolean gst_ccl_outputs_recognise (const GstCclTensor *tensors, guint n, guint width, guint height,
                                    GstCclOutput wanted, GstCclOutput *output, GError **error);

/* Returns the number of classes of recognised outputs; 0: unknown. */
guint gst_ccl_outputs_get_n_classes (const GstCclTensor *tensors, GstCclOutput output);

/* Replaces @boxes (GstCclBox) by those of picture @index of a batch of @batch, best first.
 * Leaves out boxes with less confidence than @threshold, of classes that are FALSE in @classes
 * (a gboolean for each class; NULL: all count), and that overlap by more than @iou with a better
 * box of their class. Fails if the outputs do not have the recognised shapes, or have values
 * that are not numbers. */
gboolean gst_ccl_outputs_read (const GstCclTensor *tensors, guint n, GstCclOutput output,
                               guint width, guint height, guint index, guint batch,
                               gdouble threshold, gdouble iou, const GArray *classes, GArray *boxes,
                               GError **error);

/* Drops boxes that overlap by more than @iou with a better one of their class. @boxes are
 * sorted, best first. */
void gst_ccl_boxes_suppress (GArray *boxes, gdouble iou);

G_END_DECLS

#endif /* __GST_CCL_OUTPUTS_H__ */
