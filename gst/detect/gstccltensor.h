/* cudaccl - tensors that a network returned
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TENSOR_H__
#define __GST_CCL_TENSOR_H__

#include <gst/gst.h>
#include <string.h>

#include "gstcclort.h"

G_BEGIN_DECLS

#define GST_CCL_TENSOR_MAX_DIMS 8
#define GST_CCL_MAX_OUTPUTS 16

typedef struct
{
  const gchar *name;
  gint type; /* ORT_TYPE_… */
  guint n_dims;
  gint64 dims[GST_CCL_TENSOR_MAX_DIMS];
  gconstpointer data; /* as many elements as the dimensions say */
} GstCclTensor;

/* Returns whether the name has this part, in any case. */
static inline gboolean
gst_ccl_tensor_has_name (const GstCclTensor *tensor, const gchar *part)
{
  gchar *name = g_ascii_strdown (tensor->name ? tensor->name : "", -1);
  gboolean has = strstr (name, part) != NULL;

  g_free (name);

  return has;
}

/* Returns whether it is [batch, n, m] of floats, with positive n and m. */
static inline gboolean
gst_ccl_tensor_is_table (const GstCclTensor *tensor)
{
  return tensor->type == ORT_TYPE_FLOAT && tensor->n_dims == 3 && tensor->dims[1] > 0 &&
         tensor->dims[2] > 0 && tensor->dims[1] <= G_MAXINT32 && tensor->dims[2] <= G_MAXINT32;
}

G_END_DECLS

#endif /* __GST_CCL_TENSOR_H__ */
