/* cudaccl - a neural network that elements share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_NETWORK_H__
#define __GST_CCL_NETWORK_H__

#include "gstcclmasks.h"
#include "gstccloutputs.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_PROVIDER_CPU,
  GST_CCL_PROVIDER_CUDA,
  GST_CCL_PROVIDER_TENSORRT,
} GstCclProvider;

typedef enum
{
  GST_CCL_COLOR_ORDER_AUTO,
  GST_CCL_COLOR_ORDER_RGB,
  GST_CCL_COLOR_ORDER_BGR,
} GstCclColorOrder;

/* Identifies a network: elements with equal configurations share one. */
typedef struct
{
  const gchar *model;   /* path */
  const gchar *library; /* see gst_ccl_ort_load() */
  GstCclProvider provider;
  gint device;   /* CUDA device, -1: the first */
  guint threads; /* 0: ONNX Runtime decides */
  GstCclOutput output;
  guint width, height; /* input size, where the model leaves it open; 0: 640 */
  GstCclColorOrder color_order;
  /* input = (pixel - mean) * scale, for red, green and blue. A scale of 0, and the mean unless it
   * or the scale is set, are those of the kind of network. */
  gboolean has_mean;
  gdouble mean[3]; /* 0 to 255 */
  gdouble scale[3];
} GstCclNetworkConfig;

/* A network and its worker thread. Functions may be called from any thread. */
typedef struct _GstCclNetwork GstCclNetwork;

/* Facts about a network; never change. */
typedef struct
{
  guint width, height; /* input size */
  guint batch;         /* most pictures in one run of the network */
  GstCclOutputFormat format;
  const gchar *names;   /* entry "names" of the model's metadata; may be NULL */
  const gchar *version; /* version of ONNX Runtime */
} GstCclNetworkInfo;

/* A picture for a network, and the boxes found in it. */
typedef struct
{
  /* Set by the element. */
  guint8 *picture; /* planes of red, green and blue of the network's size */
  gdouble threshold, iou;
  const GArray *classes; /* see gst_ccl_outputs_read() */

  /* Set by the network. */
  GArray *boxes;       /* GstCclBox */
  GPtrArray *outlines; /* GstCclOutline: of the boxes that have a mask */
  GError *error;       /* ready to be posted; NULL on success */
  GstClockTime time;   /* time that the network took for the batch */
  guint batch;         /* pictures in the batch */

  /*< private >*/
  gint ref_count;
  gboolean done;
} GstCclRequest;

/* Returns a new reference to the network of @config. Loads it, which takes long, unless another
 * element has it. */
GstCclNetwork *gst_ccl_network_get (const GstCclNetworkConfig *config, GError **error);
void gst_ccl_network_unref (GstCclNetwork *self);

const GstCclNetworkInfo *gst_ccl_network_get_info (const GstCclNetwork *self);

/* Makes a request with an uninitialised picture. @classes is borrowed. */
GstCclRequest *gst_ccl_request_new (const GstCclNetwork *self);
void gst_ccl_request_unref (GstCclRequest *request);

/* Submits a request. The network owns it until it is done. Requests are processed in order;
 * those of a batch may be from different elements. */
void gst_ccl_network_submit (GstCclNetwork *self, GstCclRequest *request);

gboolean gst_ccl_network_is_done (GstCclNetwork *self, GstCclRequest *request);

/* Waits until @request is done. */
void gst_ccl_network_wait (GstCclNetwork *self, GstCclRequest *request);

/* Withdraws a request, done or not: afterwards the network no longer uses it. Takes the
 * reference. */
void gst_ccl_network_cancel (GstCclNetwork *self, GstCclRequest *request);

G_END_DECLS

#endif /* __GST_CCL_NETWORK_H__ */
