/* cudaccl - the properties of ccldetect
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_DETECT_SETTINGS_H__
#define __GST_CCL_DETECT_SETTINGS_H__

#include <gst/base/gstcclproperties.h>

#include "gstccllooks.h"
#include "gstcclnetwork.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_DETECT_FRAME,
  GST_CCL_DETECT_MOVING,
} GstCclDetectRegion;

typedef enum
{
  GST_CCL_DETECT_STOP,
  GST_CCL_DETECT_CONTINUE,
} GstCclDetectOnError;

/* The values of the writable properties. */
typedef struct
{
  gchar *model, *labels, *classes, *library, *input_mean, *input_scale;
  gdouble threshold, iou_threshold, budget;
  GstCclProvider provider;
  gint device;
  guint threads, input_width, input_height;
  GstCclDetectRegion region;
  GstClockTime refresh, interval;
  gboolean wait;
  GstCclDetectOnError on_error;
  GstCclOutput output;
  GstCclColorOrder color_order;
  GstCclLetterbox letterbox;
} GstCclDetectSettings;

/* Installs the properties. The settings start @offset bytes into the instance. */
void gst_ccl_detect_settings_install (GObjectClass *gobject_class, gssize offset);

G_END_DECLS

#endif /* __GST_CCL_DETECT_SETTINGS_H__ */
