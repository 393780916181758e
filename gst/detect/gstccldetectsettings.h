/* cudaccl - the properties of ccldetect
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_DETECT_SETTINGS_H__
#define __GST_CCL_DETECT_SETTINGS_H__

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

/* The values of all properties that can be set. */
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

void gst_ccl_detect_settings_init (GstCclDetectSettings *self);
void gst_ccl_detect_settings_copy (const GstCclDetectSettings *from, GstCclDetectSettings *to);
void gst_ccl_detect_settings_clear (GstCclDetectSettings *self);

/* Set and get the property @prop_id. */
void gst_ccl_detect_settings_set (GstCclDetectSettings *self, guint prop_id, const GValue *value);
void gst_ccl_detect_settings_get (const GstCclDetectSettings *self, guint prop_id, GValue *value);

/* Installs them. Their ids are below GST_CCL_DETECT_FIRST_ID. */
void gst_ccl_detect_settings_install (GObjectClass *gobject_class);
#define GST_CCL_DETECT_FIRST_ID 64

G_END_DECLS

#endif /* __GST_CCL_DETECT_SETTINGS_H__ */
