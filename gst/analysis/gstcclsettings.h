/* cudaccl - the settings of the elements that analyse frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SETTINGS_H__
#define __GST_CCL_SETTINGS_H__

#include <cudaccl/ccl.h>
#include <gst/base/gstcclproperties.h>
#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclattach.h>

G_BEGIN_DECLS

/**
 * GstCclMotionShadows:
 * @GST_CCL_MOTION_SHADOWS_DROP: shadows are background
 * @GST_CCL_MOTION_SHADOWS_KEEP: shadows are foreground
 * @GST_CCL_MOTION_SHADOWS_MARK: shadows are background, and 127 in the masks of `cclmask`
 *
 * How shadows are treated.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_MOTION_SHADOWS_DROP,
  GST_CCL_MOTION_SHADOWS_KEEP,
  GST_CCL_MOTION_SHADOWS_MARK,
} GstCclMotionShadows;

/* The properties of a background model. */
typedef struct
{
  gint method; /* unused: there is only one */
  guint64 learning_time, warm_up;
  guint64 static_time, static_limit;
  guint noise_floor;
  GstCclMotionShadows shadows;
  guint light_change;
  gboolean freeze;
  guint scale;
} GstCclMotionSettings;

/* The values of the properties. */
typedef struct
{
  /* Changes take effect at the next start. */
  CclBackend backend;
  gint cuda_device_id;
  gint algorithm;
  guint connectivity;
  guint max_components;
  GstCclFeatures features;
  guint threads;
  CclSync cuda_sync;
  gboolean cuda_graphs;
  CclUpload upload;
  gchar *morphology, *include, *exclude, *region_file; /* NULL and blank strings have no effect */
  CclValues values;
  gchar *labels;
  gboolean segmentation;

  /* Changes take effect with the next frame. */
  guint threshold, low, high;
  gboolean invert;
  guint64 min_area, max_area; /* in pixels */
  gdouble min_relative_area;  /* share of the frame's area */
  guint min_width, min_height;
  GstCclAttach attach;
  gchar *roi_type;
  gboolean post_messages;

  GstCclMotionSettings motion;
} GstCclSettings;

/* Installs the properties of all elements. The settings start @offset bytes into the instance.
 * @areas_changed is called with the object lock when a limit of areas was set. */
void gst_ccl_install_properties (GObjectClass *gobject_class, gssize offset,
                                 void (*areas_changed) (gpointer self));

/* Installs the property `morphology`. Subclasses may install it again with another initial
 * value. */
void gst_ccl_install_morphology (GObjectClass *gobject_class, gssize offset, const gchar *initial);

/* Installs the properties of elements whose frames are masks. */
void gst_ccl_install_mask_properties (GObjectClass *gobject_class, gssize offset);

/* Gets the configuration of the analyzer without the frame size, the operations and the region. */
void gst_ccl_settings_get_config (const GstCclSettings *settings, CclConfig *config);

/* Gets the parameters for a frame of @pixels pixels. */
void gst_ccl_settings_get_params (const GstCclSettings *settings, gdouble pixels,
                                  CclParams *params);

G_END_DECLS

#endif /* __GST_CCL_SETTINGS_H__ */
