/* cudaccl - a neural network that elements share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_NETWORK_H__
#define __GST_CCL_NETWORK_H__

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

/* What makes a network; those that are equal are shared. */
typedef struct
{
  const gchar *model;   /* path */
  const gchar *library; /* see gst_ccl_ort_load() */
  GstCclProvider provider;
  gint device;   /* of CUDA, -1: the first */
  guint threads; /* 0: ONNX Runtime decides */
  GstCclOutput output;
  guint width, height; /* of the input, where the model leaves it open; 0: 640 */
  GstCclColorOrder color_order;
  gdouble mean[3];  /* of red, green and blue, from 0 to 255 */
  gdouble scale[3]; /* 0: by the kind of network. The input is (pixel - mean) * scale */
} GstCclNetworkConfig;

/* A network and its thread. Its functions may be called from any thread. */
typedef struct _GstCclNetwork GstCclNetwork;

/* What a network is; does not change. */
typedef struct
{
  guint width, height; /* of the input */
  guint batch;         /* most pictures in one run of the network */
  GstCclOutput output;
  guint n_classes;      /* 0: not known */
  const gchar *names;   /* the entry "names" of the model's metadata, or NULL */
  const gchar *version; /* of ONNX Runtime */
} GstCclNetworkInfo;

/* One picture for a network, and the boxes found in it. */
typedef struct
{
  /* Set by the element. */
  guint8 *picture; /* red, green and blue, three planes of the network's size */
  gdouble threshold, iou;
  const GArray *classes; /* see gst_ccl_outputs_read() */

  /* Set by the network. */
  GArray *boxes;     /* GstCclBox */
  GError *error;     /* ready to be posted; NULL: it worked */
  GstClockTime time; /* that the network took for the batch */
  guint batch;       /* pictures in it */

  /*< private >*/
  gint ref_count;
  gboolean done;
} GstCclRequest;

/* Returns a new reference to the network of @config, which is loaded unless an element has it. This
 * takes long. */
GstCclNetwork *gst_ccl_network_get (const GstCclNetworkConfig *config, GError **error);
void gst_ccl_network_unref (GstCclNetwork *self);

const GstCclNetworkInfo *gst_ccl_network_get_info (const GstCclNetwork *self);

/* Makes a request with an uninitialised picture. @classes is not copied and must outlive it. */
GstCclRequest *gst_ccl_request_new (const GstCclNetwork *self);
void gst_ccl_request_unref (GstCclRequest *request);

/* Hands in a request, which the network then changes until it is done. Requests are taken in order;
 * those of one batch may be of different elements. */
void gst_ccl_network_submit (GstCclNetwork *self, GstCclRequest *request);

gboolean gst_ccl_network_is_done (GstCclNetwork *self, GstCclRequest *request);

/* Waits until @request is done. */
void gst_ccl_network_wait (GstCclNetwork *self, GstCclRequest *request);

/* Drops a request that may not be done: afterwards the network does not use it any more. Consumes
 * the reference. */
void gst_ccl_network_cancel (GstCclNetwork *self, GstCclRequest *request);

G_END_DECLS

#endif /* __GST_CCL_NETWORK_H__ */
