/* cudaccl - the file that tells what GStreamer is to know about a model
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MODELINFO_H__
#define __GST_CCL_MODELINFO_H__

#include <gst/gst.h>

#include "gstccloutputs.h"

G_BEGIN_DECLS

typedef struct
{
  GstCclOutput output;     /* GST_CCL_OUTPUT_AUTO if it does not say */
  guint n_ranges;          /* 0: it does not say; 1: of all channels; 3 */
  gdouble low[3], high[3]; /* what the input has for pixels of 0 and 255, by channel */
} GstCclModelinfo;

/* Reads the file `model.onnx.modelinfo` or `model.modelinfo` beside @model, as GStreamer 1.28 has
 * it: a key file with a group for each tensor. Without such a file @self is empty. Fails if the
 * file cannot be read, or the ranges of the tensor @input are not some of numbers. */
gboolean gst_ccl_modelinfo_load (GstCclModelinfo *self, const gchar *model, const gchar *input,
                                 GError **error);

G_END_DECLS

#endif /* __GST_CCL_MODELINFO_H__ */
