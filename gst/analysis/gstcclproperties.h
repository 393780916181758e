/* cudaccl - the writable properties of the elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PROPERTIES_H__
#define __GST_CCL_PROPERTIES_H__

#include <gst/gst.h>
#include <cudaccl/ccl.h>

#include "gstcclcleaning.h"

G_BEGIN_DECLS

/**
 * GstCudaCclAttach:
 * @GST_CUDA_CCL_ATTACH_COMPONENTS: one #GstCclMeta with all components
 * @GST_CUDA_CCL_ATTACH_ROI: one #GstVideoRegionOfInterestMeta for each component
 * @GST_CUDA_CCL_ATTACH_ANALYTICS: one object detection for each component, in one
 *   #GstAnalyticsRelationMeta; in builds with gstreamer-analytics-1.0 only
 * @GST_CUDA_CCL_ATTACH_NVDS: one NvDsObjectMeta for each component, in frames of DeepStream
 *
 * Metadata to attach to frames.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CUDA_CCL_ATTACH_COMPONENTS = 1 << 0,
  GST_CUDA_CCL_ATTACH_ROI = 1 << 1,
  GST_CUDA_CCL_ATTACH_ANALYTICS = 1 << 2,
  GST_CUDA_CCL_ATTACH_NVDS = 1 << 3,
} GstCudaCclAttach;

/* The automatic choice in the algorithm enumeration. */
#define GST_CUDA_CCL_ALGORITHM_AUTO 0

#define GST_TYPE_CUDA_CCL_BACKEND (gst_cuda_ccl_backend_get_type ())
#define GST_TYPE_CUDA_CCL_ALGORITHM (gst_cuda_ccl_algorithm_get_type ())
#define GST_TYPE_CUDA_CCL_CONNECTIVITY (gst_cuda_ccl_connectivity_get_type ())
#define GST_TYPE_CUDA_CCL_SYNC (gst_cuda_ccl_sync_get_type ())
#define GST_TYPE_CUDA_CCL_UPLOAD (gst_cuda_ccl_upload_get_type ())
#define GST_TYPE_CUDA_CCL_ATTACH (gst_cuda_ccl_attach_get_type ())

GType gst_cuda_ccl_backend_get_type (void);
GType gst_cuda_ccl_algorithm_get_type (void);
GType gst_cuda_ccl_connectivity_get_type (void);
GType gst_cuda_ccl_sync_get_type (void);
GType gst_cuda_ccl_upload_get_type (void);
GType gst_cuda_ccl_attach_get_type (void);

/* Returns the engine's name for a value of the algorithm enumeration, NULL for the automatic
 * choice.
 */
const gchar *gst_cuda_ccl_algorithm_get_name (gint value);

typedef struct
{
  /* Fixed while the element is started: changes take effect at the next start. */
  CclBackend backend;
  gint cuda_device_id;
  gint algorithm;
  guint connectivity;
  guint max_components;
  guint threads;
  CclSync cuda_sync;
  CclUpload upload;
  GstCclCleaningSettings cleaning;

  /* Taken for each frame. */
  CclParams params;
  gdouble min_relative_area; /* of the frame; not in @params */
  GstCudaCclAttach attach;
  GQuark roi_type;
  gboolean post_messages;
} GstCclSettings;

/* Sets the defaults. */
void gst_ccl_settings_init (GstCclSettings *settings);

/* Frees the strings of the settings. */
void gst_ccl_settings_clear (GstCclSettings *settings);

/* Smaller property ids are free for others. */
#define GST_CCL_SETTINGS_FIRST_ID 2

/* Installs the properties of all elements. */
void gst_ccl_settings_install_properties (GObjectClass *gobject_class);

/* Installs those of elements whose frames are masks. */
void gst_ccl_settings_install_mask_properties (GObjectClass *gobject_class);

/* Set and get a property. Return FALSE if @prop_id is none of these. */
gboolean gst_ccl_settings_set (GstCclSettings *settings, guint prop_id, const GValue *value);
gboolean gst_ccl_settings_get (const GstCclSettings *settings, guint prop_id, GValue *value);

/* Gets the configuration of the analyzer without the frame size, the operations and the region. */
void gst_ccl_settings_get_config (const GstCclSettings *settings, CclConfig *config);

G_END_DECLS

#endif /* __GST_CCL_PROPERTIES_H__ */
