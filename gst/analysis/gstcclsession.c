/* cudaccl - a session: the analysis of one stream of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclsession.h"

#include <gst/detect/gstccllabels.h>
#include <gst/base/gstcclutils.h>

#include "memory/gstcclmappers.h"
#include "memory/gstcclsystem.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

/* Sets @error from the engine's @status and @reason. */
static void
set_reason (GError **error, CclStatus status, const gchar *reason)
{
  switch (status) {
  case CCL_ERROR_NO_DEVICE:
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "Could not use the CUDA device: %s.", reason);
    break;
  case CCL_ERROR_NO_MEMORY:
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "Not enough memory: %s.", reason);
    break;
  case CCL_ERROR_DEVICE:
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                 "The device that analyses the frames failed: %s.", reason);
    break;
  case CCL_ERROR_UNSUPPORTED:
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 "Unsupported combination of settings: %s.", reason);
    break;
  default:
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "Unsupported frames: %s.",
                 reason);
    break;
  }
}

void
gst_ccl_session_fail (GstCclSession *self, CclStatus status, GError **error)
{
  set_reason (error, status, ccl_last_error ());
  g_clear_pointer (&self->analyzer, ccl_analyzer_free);
}

void
gst_ccl_session_init (GstCclSession *self, GstElement *element)
{
  self->mappers = gst_ccl_mappers_new (element);
  self->element = element;
  self->signatures = g_array_new (FALSE, TRUE, sizeof (CclSignature));
  gst_video_info_init (&self->info);
  g_mutex_init (&self->stats_lock);
  gst_ccl_stats_reset (&self->stats);
}

/* Returns to the state without caps. */
static void
gst_ccl_session_unset_caps (GstCclSession *self)
{
  g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  if (self->mapper && self->mapper->klass->close)
    self->mapper->klass->close (self->mapper);
  self->mapper = NULL;
}

void
gst_ccl_session_clear (GstCclSession *self)
{
  gst_ccl_session_stop (self);
  gst_ccl_mappers_free (self->mappers);
  gst_ccl_stats_reset (&self->stats);
  g_array_unref (self->signatures);
  g_mutex_clear (&self->stats_lock);
}

/* Reads the names of classes from the file @path, unless it is NULL or empty. */
static gboolean
gst_ccl_session_load_names (GstCclSession *self, const gchar *path, GError **error)
{
  gchar **names;

  g_clear_pointer (&self->class_names, gst_ccl_class_names_unref);
  if (!path || !*path)
    return TRUE;
  names = gst_ccl_labels_load (path, NULL, 0, error);
  if (!names)
    return FALSE;
  /* Skip the background's. */
  self->class_names = gst_ccl_class_names_new ((const gchar *const *) names + 1);
  g_strfreev (names);

  return TRUE;
}

gboolean
gst_ccl_session_start (GstCclSession *self, const GstCclSettings *settings, GstCclNeeds needs,
                       GError **error)
{
  CclConfig *config = &self->config;
  CclStatus status = CCL_OK;

  gst_ccl_settings_get_config (settings, config);
  config->labels = (needs & GST_CCL_NEEDS_LABELS) != 0;
  config->mask = self->motion.shadows = (needs & GST_CCL_NEEDS_MASKS) != 0;
  config->motion = needs & GST_CCL_NEEDS_MODEL ? &self->motion : NULL;
  config->signatures = config->motion != NULL; /* asked for while frames flow */
  self->motion.scale = settings->motion.scale;
  config->auto_operations = g_strcmp0 (settings->morphology, "auto") == 0;
  if (!config->auto_operations && g_strcmp0 (settings->morphology, "none") != 0)
    status = ccl_operations_parse (settings->morphology, self->operations, &config->n_operations);
  config->operations = self->operations;
  if (!gst_ccl_check_property ("morphology", status, error))
    return FALSE;

  if (!gst_ccl_session_load_names (self, settings->labels, error))
    return FALSE;
  g_clear_pointer (&self->region, gst_ccl_region_free); /* left by a failed start */
  self->region =
      gst_ccl_region_new (settings->include, settings->exclude, settings->region_file, error);
  if (!self->region)
    return FALSE;

  g_mutex_lock (&self->stats_lock);
  gst_ccl_stats_reset (&self->stats);
  g_mutex_unlock (&self->stats_lock);

  /* With a frame of one pixel, only settings can be wrong. */
  status = ccl_config_check (config);
  if (status != CCL_OK)
    set_reason (error, status == CCL_ERROR_INVALID ? CCL_ERROR_UNSUPPORTED : status,
                ccl_last_error ());

  return status == CCL_OK;
}

void
gst_ccl_session_stop (GstCclSession *self)
{
  g_atomic_int_set (&self->wants_signatures, FALSE);
  gst_ccl_session_unset_caps (self);
  g_clear_pointer (&self->region, gst_ccl_region_free);
  g_clear_pointer (&self->class_names, gst_ccl_class_names_unref);
  g_clear_error (&self->warning);
  gst_ccl_mappers_close (self->mappers);
}

/* Returns whether a usable device failed. */
static gboolean
is_device_failure (CclStatus status)
{
  return status == CCL_ERROR_NO_MEMORY || status == CCL_ERROR_DEVICE;
}

/* Sets the warning that the session falls back to the CPU because of @error, and frees @error. */
static void
gst_ccl_session_warn (GstCclSession *self, GError *error)
{
  g_prefix_error (&error, "Falling back to the CPU until the next caps. ");
  g_clear_error (&self->warning);
  self->warning = error;
  self->fell_back = TRUE;
}

static void
gst_ccl_session_log_analyzer (GstCclSession *self)
{
  GError *error = NULL;
  CclInfo info;

  ccl_analyzer_info (self->analyzer, &info);
  if (info.fallback)
    GST_INFO_OBJECT (self->element, "analysing on %s with %s, because %s", info.device_name,
                     info.algorithm, info.fallback);
  else
    GST_INFO_OBJECT (self->element, "analysing on %s with %s", info.device_name, info.algorithm);
  if (self->config.motion)
    GST_INFO_OBJECT (self->element, "new background model of %ux%u pixels", info.motion.width,
                     info.motion.height);

  if (is_device_failure (info.fallback_status)) {
    set_reason (&error, info.fallback_status, info.fallback);
    gst_ccl_session_warn (self, error);
  }
}

/* Ensures that there is an analyzer on @device. */
static gboolean
gst_ccl_session_ensure_analyzer (GstCclSession *self, const CclConfig *config,
                                 const GstCclDevice *device, GError **error)
{
  CclConfig complete = *config;
  CclMask region;
  CclStatus status;

  if (device->number != self->device.number || device->context != self->device.context)
    g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  if (self->analyzer)
    return TRUE;

  /* Even if this fails: the mapper may not keep the previous context. */
  self->device = *device;
  complete.device = device->number;
  complete.cuda_context = device->context;
  status = gst_ccl_region_draw (self->region, config->width, config->height, &region);
  if (status == CCL_OK) {
    complete.region = region.words ? &region : NULL;
    status = ccl_analyzer_new (&complete, &self->analyzer);
    ccl_mask_free (&region);
  }
  if (status != CCL_OK) {
    set_reason (error, status, ccl_last_error ());
    return FALSE;
  }

  g_mutex_lock (&self->stats_lock);
  gst_ccl_stats_set_analyzer (&self->stats, self->analyzer);
  g_mutex_unlock (&self->stats_lock);
  gst_ccl_session_log_analyzer (self);

  return TRUE;
}

gboolean
gst_ccl_session_set_caps (GstCclSession *self, GstCaps *caps, GError **error)
{
  GstCclMapper *mapper = gst_ccl_mappers_find (self->mappers, caps);
  CclConfig config = self->config;
  GstCclDevice device = self->device;
  GstVideoInfo info;

  if (!gst_ccl_caps_get_video_info (caps, &info, error)) {
    gst_ccl_session_unset_caps (self);
    return FALSE;
  }
  config.width = (uint32_t) GST_VIDEO_INFO_WIDTH (&info);
  config.height = (uint32_t) GST_VIDEO_INFO_HEIGHT (&info);
  self->motion.format =
      GST_VIDEO_INFO_N_COMPONENTS (&info) > 1 ? CCL_MOTION_LUMA_420 : CCL_MOTION_LUMA;

  if (mapper != self->mapper) {
    gst_ccl_session_unset_caps (self);
    device = (GstCclDevice){ config.device, NULL };
    if (mapper->klass->open && !mapper->klass->open (mapper, &info, &device, error))
      goto failed;
  }

  /* A new size, or a background model, needs a new analyzer. A new format or frame rate does
   * not, unless a device failed: then it is tried again. The old analyzer is freed first,
   * because memory may not suffice for both. */
  if (config.width != self->config.width || config.height != self->config.height ||
      self->fell_back || config.motion)
    g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  self->fell_back = FALSE;
  if (!gst_ccl_session_ensure_analyzer (self, &config, &device, error))
    goto failed;

  self->config = config;
  self->info = info;
  self->mapper = mapper;

  return TRUE;

failed:
  self->mapper = mapper; /* close() it even if open() fails */
  gst_ccl_session_unset_caps (self);
  return FALSE;
}

gint
gst_ccl_session_get_upload_device (const GstCclSession *self)
{
  CclInfo info;

  if (!self->analyzer || self->mapper->klass != &gst_ccl_system_mapper)
    return -1;

  ccl_analyzer_info (self->analyzer, &info);

  return info.backend == CCL_BACKEND_CUDA ? info.device : -1;
}

/* After the device failed on a frame with @status: falls back to the CPU, with a warning about
 * @failure, if the backend is auto and the CPU can read the frame. */
static gboolean
gst_ccl_session_fall_back (GstCclSession *self, const GstCclFrame *frame, CclStatus status,
                           GError **failure)
{
  CclConfig config = self->config;
  CclInfo info;

  ccl_analyzer_info (self->analyzer, &info);
  if (!is_device_failure (status) || info.backend != CCL_BACKEND_CUDA ||
      config.backend != CCL_BACKEND_AUTO || self->device.number >= 0 || self->device.context ||
      (frame->image.memory != CCL_MEMORY_HOST && frame->image.memory != CCL_MEMORY_PINNED))
    return FALSE;

  g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  config.backend = CCL_BACKEND_CPU;
  if (!gst_ccl_session_ensure_analyzer (self, &config, &frame->device, NULL))
    return FALSE;
  gst_ccl_session_warn (self, g_steal_pointer (failure));

  return TRUE;
}

/* Finds what the components look like, while the frame is mapped. */
static CclStatus
gst_ccl_session_find_signatures (GstCclSession *self, const CclComponents *components)
{
  CclBox *boxes;
  CclStatus status;
  guint i;

  g_array_set_size (self->signatures, 0);
  if (!g_atomic_int_get (&self->wants_signatures) || components->count == 0)
    return CCL_OK;

  g_array_set_size (self->signatures, components->count);
  boxes = g_new (CclBox, components->count);
  for (i = 0; i < components->count; i++) {
    const CclComponent *c = &components->items[i];

    boxes[i] = (CclBox){ c->x, c->y, c->width, c->height };
  }
  status = ccl_analyzer_signatures (self->analyzer, boxes, components->count,
                                    (CclSignature *) self->signatures->data);
  g_free (boxes);

  return status;
}

static CclStatus
gst_ccl_session_analyze_image (GstCclSession *self, const CclImage *image, const CclParams *params,
                               CclComponents *components, GError **error)
{
  CclStatus status = ccl_analyzer_analyze (self->analyzer, image, params, components);

  if (status == CCL_OK && self->config.signatures)
    status = gst_ccl_session_find_signatures (self, components);

  if (status != CCL_OK)
    set_reason (error, status, ccl_last_error ());

  return status;
}

gboolean
gst_ccl_session_analyze (GstCclSession *self, GstBuffer *buffer, const CclParams *params,
                         CclComponents *components, GError **error)
{
  const GstCclMapperClass *klass = self->mapper->klass;
  guint n_planes = self->config.motion ? GST_VIDEO_INFO_N_PLANES (&self->info) : 1;
  GstCclFrame frame = { .device = self->device };
  GError *failure = NULL;
  GstClockTime start;
  CclStatus status;

  if (!klass->map (self->mapper, &frame, &self->info, buffer, n_planes, error))
    return FALSE;
  if (!gst_ccl_session_ensure_analyzer (self, &self->config, &frame.device, error)) {
    klass->unmap (self->mapper, &frame);
    return FALSE;
  }

  start = gst_util_get_timestamp ();
  status = gst_ccl_session_analyze_image (self, &frame.image, params, components, &failure);
  if (status != CCL_OK && gst_ccl_session_fall_back (self, &frame, status, &failure))
    status = gst_ccl_session_analyze_image (self, &frame.image, params, components, &failure);
  klass->unmap (self->mapper, &frame);

  if (status != CCL_OK) {
    g_propagate_error (error, failure);
    g_clear_pointer (&self->analyzer, ccl_analyzer_free);
    return FALSE;
  }

  g_mutex_lock (&self->stats_lock);
  gst_ccl_stats_add (&self->stats, self->analyzer, components, gst_util_get_timestamp () - start);
  g_mutex_unlock (&self->stats_lock);

  return TRUE;
}

GstStructure *
gst_ccl_session_get_stats (GstCclSession *self)
{
  GstStructure *structure;

  g_mutex_lock (&self->stats_lock);
  structure = gst_ccl_stats_to_structure (&self->stats);
  g_mutex_unlock (&self->stats_lock);

  return structure;
}
