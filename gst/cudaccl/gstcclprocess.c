/* cudaccl - the way of a frame through the element
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclprocess.h"

#include "gstcclpublish.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

/* Posts what the engine says went wrong, and what to do about it. */
static void
gst_cuda_ccl_post_error (GstCudaCcl *self, CclStatus status)
{
  switch (status) {
  case CCL_ERROR_NO_DEVICE:
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
                       ("The CUDA device cannot be used: %s.", ccl_last_error ()), (NULL));
    break;
  case CCL_ERROR_NO_MEMORY:
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
                       ("There is not enough memory: %s.", ccl_last_error ()), (NULL));
    break;
  case CCL_ERROR_DEVICE:
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
                       ("The device that analyses the frames failed: %s.", ccl_last_error ()),
                       (NULL));
    break;
  case CCL_ERROR_UNSUPPORTED:
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
                       ("This cannot be had with these settings: %s.", ccl_last_error ()), (NULL));
    break;
  default:
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                       ("Frames like these cannot be analysed: %s.", ccl_last_error ()), (NULL));
    break;
  }
}

/* Posts an error of a mapper, which is consumed, with what it was about. */
static void
gst_cuda_ccl_post_gerror (GstCudaCcl *self, GError *error, gconstpointer object)
{
  gst_element_message_full (
      GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code, g_strdup (error->message),
      gst_info_strdup_printf ("%" GST_PTR_FORMAT, object), __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

gboolean
gst_cuda_ccl_open (GstCudaCcl *self)
{
  CclStatus status;

  GST_OBJECT_LOCK (self);
  gst_ccl_settings_get_config (&self->settings, 1, 1, &self->config);
  self->config.labels = GST_CUDA_CCL_GET_CLASS (self)->labels;
  gst_ccl_stats_reset (&self->stats);
  self->check_areas = TRUE;
  GST_OBJECT_UNLOCK (self);
  self->truncated = FALSE;
#ifdef HAVE_ANALYTICS
  self->analytics_truncated = FALSE;
#endif

  status = ccl_config_check (&self->config);
  if (status != CCL_OK)
    gst_cuda_ccl_post_error (self, status);

  return status == CCL_OK;
}

void
gst_cuda_ccl_close (GstCudaCcl *self)
{
  g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  if (self->mapper && self->mapper->klass->close)
    self->mapper->klass->close (self->mapper);
  self->mapper = NULL;
  gst_video_info_init (&self->info);
}

static void
gst_cuda_ccl_log_analyzer (GstCudaCcl *self)
{
  CclInfo info;

  ccl_analyzer_info (self->analyzer, &info);
  if (info.fallback)
    GST_INFO_OBJECT (self, "analysing on %s with %s, because %s", info.device_name, info.algorithm,
                     info.fallback);
  else
    GST_INFO_OBJECT (self, "analysing on %s with %s", info.device_name, info.algorithm);
}

/* Makes the analyzer for the current caps, if there is none at that place. */
static gboolean
gst_cuda_ccl_ensure_analyzer (GstCudaCcl *self, const GstCclPlace *place)
{
  CclConfig config = self->config;
  CclStatus status;

  if (place->device != self->place.device || place->cuda_context != self->place.cuda_context)
    g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  if (self->analyzer)
    return TRUE;

  self->place = *place;
  config.device = place->device;
  config.cuda_context = place->cuda_context;
  status = ccl_analyzer_new (&config, &self->analyzer);
  if (status != CCL_OK) {
    gst_cuda_ccl_post_error (self, status);
    return FALSE;
  }

  GST_OBJECT_LOCK (self);
  gst_ccl_stats_set_analyzer (&self->stats, self->analyzer);
  GST_OBJECT_UNLOCK (self);
  gst_cuda_ccl_log_analyzer (self);

  return TRUE;
}

/* Finds the place of frames with these caps. */
static gboolean
gst_cuda_ccl_open_mapper (GstCudaCcl *self, GstCaps *caps, GstCclPlace *place)
{
  const GstCclMapperClass *klass;
  GError *error = NULL;

  self->mapper = gst_ccl_mappers_find (self->mappers, caps);
  *place = (GstCclPlace){ self->config.device, NULL };
  klass = self->mapper->klass;
  if (!klass->open || klass->open (self->mapper, &self->info, place, &error))
    return TRUE;

  gst_cuda_ccl_post_gerror (self, error, caps);
  return FALSE;
}

static gboolean
gst_cuda_ccl_set_info (GstCudaCcl *self, GstCaps *caps)
{
  gchar *text;

  if (gst_video_info_from_caps (&self->info, caps))
    return TRUE;

  /* The caps fit the template, so it is the size that GStreamer cannot handle. */
  text = gst_caps_to_string (caps);
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                     ("Frames like these cannot be analysed: %s. Use smaller ones.", text), (NULL));
  g_free (text);

  return FALSE;
}

gboolean
gst_cuda_ccl_prepare (GstCudaCcl *self, GstCaps *caps)
{
  GstCclPlace place = self->place;
  guint width, height;

  if (gst_ccl_mappers_find (self->mappers, caps) != self->mapper)
    gst_cuda_ccl_close (self);

  if (!gst_cuda_ccl_set_info (self, caps))
    goto failed;

  width = GST_VIDEO_INFO_WIDTH (&self->info);
  height = GST_VIDEO_INFO_HEIGHT (&self->info);

  /* A new frame rate or format needs no new analyzer, a new size does. */
  if (width != self->config.width || height != self->config.height)
    g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  self->config.width = width;
  self->config.height = height;

  if ((!self->mapper && !gst_cuda_ccl_open_mapper (self, caps, &place)) ||
      !gst_cuda_ccl_ensure_analyzer (self, &place))
    goto failed;

  return TRUE;

failed:
  gst_cuda_ccl_close (self);
  return FALSE;
}

/* When new caps were refused and the old ones come again, the base class takes these for granted.
 */
static gboolean
gst_cuda_ccl_ensure_prepared (GstCudaCcl *self)
{
  GstCaps *caps;
  gboolean prepared;

  if (self->mapper)
    return TRUE;

  caps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (self));
  prepared = caps && gst_cuda_ccl_prepare (self, caps);
  gst_clear_caps (&caps);

  return prepared;
}

/* The settings for the next frame, with a warning when no component can pass them. */
static void
gst_cuda_ccl_take_settings (GstCudaCcl *self, GstCclSettings *settings)
{
  gboolean check_areas;

  GST_OBJECT_LOCK (self);
  *settings = self->settings;
  check_areas = self->check_areas;
  self->check_areas = FALSE;
  GST_OBJECT_UNLOCK (self);

  if (check_areas && settings->params.min_area > settings->params.max_area)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
                         ("No component passes: min-area is %" G_GUINT64_FORMAT
                          " and max-area is %" G_GUINT64_FORMAT ".",
                          settings->params.min_area, settings->params.max_area),
                         (NULL));
}

static gboolean
gst_cuda_ccl_analyze (GstCudaCcl *self, GstBuffer *buffer, const CclParams *params,
                      CclComponents *components)
{
  const GstCclMapperClass *klass = self->mapper->klass;
  GstClockTime start;
  GError *error = NULL;
  GstCclFrame frame = { .place = self->place };
  CclStatus status;

  if (!klass->map (self->mapper, &frame, &self->info, buffer, &error)) {
    gst_cuda_ccl_post_gerror (self, error, buffer);
    return FALSE;
  }
  if (!gst_cuda_ccl_ensure_analyzer (self, &frame.place)) {
    klass->unmap (self->mapper, &frame);
    return FALSE;
  }

  start = gst_util_get_timestamp ();
  status = ccl_analyzer_analyze (self->analyzer, &frame.image, params, components);
  klass->unmap (self->mapper, &frame);

  if (status != CCL_OK) {
    gst_cuda_ccl_post_error (self, status);
    /* After a failure of the device it is of no more use, and after any other one a new one is as
     * good. */
    g_clear_pointer (&self->analyzer, ccl_analyzer_free);
    return FALSE;
  }

  GST_OBJECT_LOCK (self);
  gst_ccl_stats_add (&self->stats, self->analyzer, components, gst_util_get_timestamp () - start);
  GST_OBJECT_UNLOCK (self);

  return TRUE;
}

GstFlowReturn
gst_cuda_ccl_process (GstCudaCcl *self, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCclSettings settings;
  CclComponents components;

  gst_cuda_ccl_take_settings (self, &settings);

  if (!gst_cuda_ccl_ensure_prepared (self) ||
      !gst_cuda_ccl_analyze (self, inbuf, &settings.params, &components))
    return GST_FLOW_ERROR;

  GST_LOG_OBJECT (self, "found %u components, kept %u", components.found, components.count);
  if (components.found > components.count && !self->truncated) {
    GST_WARNING_OBJECT (self,
                        "found %u components and kept the %u largest; more max-components "
                        "or a larger min-area help",
                        components.found, components.count);
    self->truncated = TRUE;
  }

  gst_ccl_attach_nothing (outbuf);
  if (settings.attach & GST_CUDA_CCL_ATTACH_COMPONENTS)
    gst_ccl_attach_components (outbuf, &self->info, &components);
  if (settings.attach & GST_CUDA_CCL_ATTACH_ROI)
    gst_ccl_attach_roi (outbuf, settings.roi_type, &components);
#ifdef HAVE_ANALYTICS
  if (settings.attach & GST_CUDA_CCL_ATTACH_ANALYTICS)
    gst_ccl_attach_analytics (GST_ELEMENT (self), outbuf, settings.roi_type, &components,
                              &self->analytics_truncated);
#endif

  if (settings.post_messages)
    gst_element_post_message (GST_ELEMENT (self),
                              gst_ccl_message_new (GST_OBJECT (self),
                                                   &GST_BASE_TRANSFORM (self)->segment, inbuf,
                                                   &self->info, &components));

  return GST_FLOW_OK;
}

gboolean
gst_cuda_ccl_get_labels (GstCudaCcl *self, CclLabels *labels)
{
  CclStatus status = ccl_analyzer_labels (self->analyzer, labels);

  if (status == CCL_OK)
    return TRUE;

  gst_cuda_ccl_post_error (self, status);
  g_clear_pointer (&self->analyzer, ccl_analyzer_free);

  return FALSE;
}
