/* cudaccl - finds the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cudaccl
 * @title: cudaccl
 * @short_description: finds the connected components (blobs) of video frames
 *
 * Finds the connected components of binarized frames, such as the masks of background subtraction
 * or of a threshold, on an NVIDIA GPU or on the CPU, and attaches the bounding box, the area and
 * the centroid of each to the frame. Of colour frames the luma is looked at. Pixels are neither
 * changed nor copied: a frame that other branches of the pipeline use too stays shared.
 *
 * A pixel is foreground when its value is above #cudaccl:threshold. Components come in the order of
 * their first pixels, row by row, whatever backend and algorithm found them. Gaps without pixels
 * pass as they are.
 *
 * ## Metadata
 *
 * According to #cudaccl:attach, frames get
 *
 * * one #GstCclMeta with all components, and
 * * one #GstVideoRegionOfInterestMeta for each component, whose type is #cudaccl:roi-type and whose
 *   ids are 0, 1, 2...; it has one parameter structure named `cudaccl` with the fields
 *   * `label` (#guint): 1...n, in order,
 *   * `area` (#guint64): the number of pixels,
 *   * `centroid-x`, `centroid-y` (#gdouble): the centre of gravity, in pixel centres,
 * * one object detection for each component in the frame's `GstAnalyticsRelationMeta`, beside what
 *   others found, in builds with GstAnalytics (GStreamer 1.24): its type is #cudaccl:roi-type, its
 *   confidence 1.0. Of more than 4096 components the largest are added, as that metadata has a
 *   matrix of n x n bytes.
 *
 * Metadata of an earlier cudaccl is replaced. Coordinates are relative to the visible part of the
 * frame, if it carries a #GstVideoCropMeta.
 *
 * ## Messages
 *
 * With #cudaccl:post-messages, each frame makes one element message named `cudaccl` with the fields
 *
 * * #guint64 `timestamp`: the frame's timestamp,
 * * #guint64 `stream-time`: its stream time,
 * * #guint64 `running-time`: its running time,
 * * #guint64 `duration`: its duration; each of these in nanoseconds or #GST_CLOCK_TIME_NONE,
 * * #guint `width`, `height`: the size of the frame,
 * * #guint `found`: the number of components found,
 * * #GstValueList of #GstStructure `components`: the components that there was room for, each with
 *   * #guint `label`, `x`, `y`, `width`, `height`,
 *   * #guint64 `area`,
 *   * #gdouble `centroid-x`, `centroid-y`.
 *
 * ## Statistics
 *
 * #cudaccl:stats counts from the last start on, and has the fields
 *
 * * #guint64 `frames`, `components`: how many were analysed, and how many components they got,
 * * #guint64 `truncated`: frames in which more than #cudaccl:max-components were found,
 * * #gchararray `backend`, `algorithm`, `device`, and #gint `device-index`: what does the work;
 *   the index is -1 on the CPU,
 * * #guint64 `allocations`, `allocated-bytes`: how often memory was allocated for the analysis, and
 *   how much it holds; both change with the size of the frames only,
 * * #guint64 `average-time`: of one frame, in nanoseconds, and the parts of it that the backend
 *   measures: `average-upload-time`, `average-analysis-time`, `average-download-time`.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=ball num-buffers=30 ! cudaccl post-messages=true !
 * fakesink
 * ]|
 * Prints where the ball is.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! segmentation test-mode=true ! videoconvert ! cudaccl
 * min-area=50 ! videoconvert ! autovideosink
 * ]|
 * Finds what moves in front of a camera.
 *
 * Since: 0.1
 */

#include "gstcudaccl.h"

#ifdef HAVE_ANALYTICS
#include "gstcclanalytics.h"
#endif
#include "gstcclattach.h"
#include "gstcclenums.h"
#include "gstcclframe.h"
#include "gstcclmessage.h"

GST_DEBUG_CATEGORY (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

enum
{
  PROP_0,
  PROP_STATS,
  PROP_SETTINGS, /* the first of those in gstcclsettings.c */
};

#define gst_cuda_ccl_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCudaCcl, gst_cuda_ccl, GST_TYPE_BASE_TRANSFORM,
                         GST_DEBUG_CATEGORY_INIT (gst_cuda_ccl_debug, "cudaccl", 0,
                                                  "connected component analysis"))
GST_ELEMENT_REGISTER_DEFINE (cudaccl, "cudaccl", GST_RANK_NONE, GST_TYPE_CUDA_CCL)

static void gst_cuda_ccl_set_property (GObject *object, guint prop_id, const GValue *value,
                                       GParamSpec *pspec);
static void gst_cuda_ccl_get_property (GObject *object, guint prop_id, GValue *value,
                                       GParamSpec *pspec);
static void gst_cuda_ccl_finalize (GObject *object);

static void gst_cuda_ccl_set_context (GstElement *element, GstContext *context);
static gboolean gst_cuda_ccl_start (GstBaseTransform *trans);
static gboolean gst_cuda_ccl_stop (GstBaseTransform *trans);
static GstCaps *gst_cuda_ccl_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                             GstCaps *caps, GstCaps *filter);
static gboolean gst_cuda_ccl_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps);
static gboolean gst_cuda_ccl_get_unit_size (GstBaseTransform *trans, GstCaps *caps, gsize *size);
static gboolean gst_cuda_ccl_query (GstBaseTransform *trans, GstPadDirection direction,
                                    GstQuery *query);
static gboolean gst_cuda_ccl_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query,
                                                 GstQuery *query);
static GstFlowReturn gst_cuda_ccl_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *inbuf,
                                                         GstBuffer **outbuf);
static void gst_cuda_ccl_before_transform (GstBaseTransform *trans, GstBuffer *buffer);
static GstFlowReturn gst_cuda_ccl_transform_ip (GstBaseTransform *trans, GstBuffer *buffer);

static void
gst_cuda_ccl_add_pad_templates (GstElementClass *klass)
{
  GstCaps *caps = gst_ccl_mappers_get_caps ();

  gst_element_class_add_pad_template (
      klass, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      klass, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
}

static void
gst_cuda_ccl_class_init (GstCudaCclClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gobject_class->set_property = gst_cuda_ccl_set_property;
  gobject_class->get_property = gst_cuda_ccl_get_property;
  gobject_class->finalize = gst_cuda_ccl_finalize;

  gst_ccl_settings_install_properties (gobject_class, PROP_SETTINGS);

  /**
   * cudaccl:stats:
   *
   * What was done since the last start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What was done since the last start.",
                          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_set_static_metadata (
      element_class, "Connected components", "Filter/Analyzer/Video/Hardware",
      "Finds the connected components of video frames on a GPU or on the CPU",
      "The cudaccl authors");
  gst_cuda_ccl_add_pad_templates (element_class);

  element_class->set_context = GST_DEBUG_FUNCPTR (gst_cuda_ccl_set_context);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuda_ccl_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuda_ccl_stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_cuda_ccl_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_cuda_ccl_set_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR (gst_cuda_ccl_get_unit_size);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuda_ccl_query);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_cuda_ccl_propose_allocation);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_cuda_ccl_prepare_output_buffer);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_cuda_ccl_before_transform);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_cuda_ccl_transform_ip);

  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CCL_BACKEND, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CCL_ALGORITHM, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CCL_CONNECTIVITY, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CCL_SYNC, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CCL_ATTACH, 0);
}

static void
gst_cuda_ccl_init (GstCudaCcl *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);

  gst_ccl_settings_init (&self->settings);
  gst_ccl_stats_reset (&self->stats);
  gst_video_info_init (&self->info);
  self->mappers = gst_ccl_mappers_new (GST_ELEMENT (self));

  gst_base_transform_set_in_place (trans, TRUE);
  gst_base_transform_set_gap_aware (trans, TRUE);
  gst_base_transform_set_qos_enabled (trans, TRUE);
}

static void
gst_cuda_ccl_finalize (GObject *object)
{
  GstCudaCcl *self = GST_CUDA_CCL (object);

  gst_ccl_stats_reset (&self->stats);
  gst_ccl_mappers_free (self->mappers);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_ccl_set_property (GObject *object, guint prop_id, const GValue *value, GParamSpec *pspec)
{
  GstCudaCcl *self = GST_CUDA_CCL (object);
  CclParams *params = &self->settings.params;
  guint64 min_area, max_area;
  gboolean known;

  GST_OBJECT_LOCK (self);
  min_area = params->min_area;
  max_area = params->max_area;
  known = gst_ccl_settings_set (&self->settings, prop_id - PROP_SETTINGS, value);
  if (params->min_area != min_area || params->max_area != max_area)
    self->check_areas = TRUE;
  GST_OBJECT_UNLOCK (self);

  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_cuda_ccl_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  GstCudaCcl *self = GST_CUDA_CCL (object);
  gboolean known = TRUE;

  GST_OBJECT_LOCK (self);
  if (prop_id == PROP_STATS)
    g_value_take_boxed (value, gst_ccl_stats_to_structure (&self->stats));
  else
    known = gst_ccl_settings_get (&self->settings, prop_id - PROP_SETTINGS, value);
  GST_OBJECT_UNLOCK (self);

  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_cuda_ccl_set_context (GstElement *element, GstContext *context)
{
  GstCudaCcl *self = GST_CUDA_CCL (element);
  gint device;
  guint i;

  GST_OBJECT_LOCK (self);
  device = self->settings.cuda_device_id;
  GST_OBJECT_UNLOCK (self);

  for (i = 0; self->mappers[i]; i++) {
    if (self->mappers[i]->klass->set_context)
      self->mappers[i]->klass->set_context (self->mappers[i], context, device);
  }

  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

/* Posts what the engine says went wrong. */
static void
gst_cuda_ccl_post_error (GstCudaCcl *self, CclStatus status)
{
  switch (status) {
  case CCL_ERROR_NO_DEVICE:
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
                       ("There is no such CUDA device: %s.", ccl_last_error ()), (NULL));
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
                       ("These settings do not go together: %s.", ccl_last_error ()), (NULL));
    break;
  default:
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                       ("Frames like these cannot be analysed: %s.", ccl_last_error ()), (NULL));
    break;
  }
}

/* A device that was asked for by name or number must be there. The engine says so too, but not when
 * its build has no CUDA, and not when it may take the CPU instead. */
static gboolean
gst_cuda_ccl_check_device (GstCudaCcl *self, const CclConfig *config)
{
  gint n_devices;

  if (config->backend == CCL_BACKEND_CPU ||
      (config->backend == CCL_BACKEND_AUTO && config->device < 0))
    return TRUE;

  n_devices = ccl_cuda_device_count ();
  if (n_devices == 0) {
    gst_cuda_ccl_post_error (self, CCL_ERROR_NO_DEVICE);
    return FALSE;
  }

  if (config->device >= n_devices) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
                       ("There is no CUDA device %d: this machine's are numbered from 0 to %d. Set "
                        "cuda-device-id to one of them, or to -1 for any.",
                        config->device, n_devices - 1),
                       (NULL));
    return FALSE;
  }

  return TRUE;
}

static void
gst_cuda_ccl_log_backend (GstCudaCcl *self, const CclAnalyzer *analyzer)
{
  CclInfo info;

  ccl_analyzer_info (analyzer, &info);

  if (self->config.backend == CCL_BACKEND_AUTO && info.backend == CCL_BACKEND_CPU &&
      ccl_cuda_device_count () == 0)
    GST_INFO_OBJECT (self, "analysing on the %s: %s", info.device_name, ccl_last_error ());
  else
    GST_INFO_OBJECT (self, "analysing on %s with %s", info.device_name, info.algorithm);
}

static gboolean
gst_cuda_ccl_start (GstBaseTransform *trans)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  CclAnalyzer *trial = NULL;
  CclConfig config;
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

  if (!gst_cuda_ccl_check_device (self, &self->config))
    return FALSE;

  /* What can never work fails here, not at the first frame. */
  config = self->config;
  config.max_components = 1;
  status = ccl_analyzer_new (&config, &trial);
  if (status != CCL_OK) {
    gst_cuda_ccl_post_error (self, status);
    return FALSE;
  }

  gst_cuda_ccl_log_backend (self, trial);
  ccl_analyzer_free (trial);

  return TRUE;
}

static void
gst_cuda_ccl_post_gerror (GstCudaCcl *self, GError *error, gchar *debug)
{
  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
                            g_strdup (error->message), debug, __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

/* No caps are set any more. */
static void
gst_cuda_ccl_close (GstCudaCcl *self)
{
  g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  if (self->mapper && self->mapper->klass->close)
    self->mapper->klass->close (self->mapper);
  self->mapper = NULL;
  gst_video_info_init (&self->info);
}

static gboolean
gst_cuda_ccl_stop (GstBaseTransform *trans)
{
  gst_cuda_ccl_close (GST_CUDA_CCL (trans));

  return TRUE;
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

  return TRUE;
}

/* What the CPU cannot read does not go with backend cpu. */
static GstCaps *
gst_cuda_ccl_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                             GstCaps *filter)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  CclBackend backend;

  GST_OBJECT_LOCK (self);
  backend = self->settings.backend;
  GST_OBJECT_UNLOCK (self);

  caps = filter ? gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST)
                : gst_caps_ref (caps);

  return backend == CCL_BACKEND_CPU ? gst_ccl_mappers_remove_cuda (caps) : caps;
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

  gst_cuda_ccl_post_gerror (self, error, gst_info_strdup_printf ("%" GST_PTR_FORMAT, caps));
  gst_cuda_ccl_close (self);
  return FALSE;
}

static gboolean
gst_cuda_ccl_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  GstCclPlace place = self->place;
  guint width, height;

  if (gst_ccl_mappers_find (self->mappers, incaps) != self->mapper)
    gst_cuda_ccl_close (self);

  if (!gst_video_info_from_caps (&self->info, incaps)) {
    gchar *caps = gst_caps_to_string (incaps);

    /* The caps fit the template, so it is the size that GStreamer cannot handle. */
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                       ("Frames like these cannot be analysed: %s. Use smaller ones.", caps),
                       (NULL));
    g_free (caps);
    return FALSE;
  }

  width = GST_VIDEO_INFO_WIDTH (&self->info);
  height = GST_VIDEO_INFO_HEIGHT (&self->info);

  /* A new frame rate or format needs no new analyzer, a new size does. */
  if (width != self->config.width || height != self->config.height)
    g_clear_pointer (&self->analyzer, ccl_analyzer_free);
  self->config.width = width;
  self->config.height = height;

  if (!self->mapper && !gst_cuda_ccl_open_mapper (self, incaps, &place))
    return FALSE;

  return gst_cuda_ccl_ensure_analyzer (self, &place);
}

static gboolean
gst_cuda_ccl_get_unit_size (GstBaseTransform *trans, GstCaps *caps, gsize *size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;

  *size = GST_VIDEO_INFO_SIZE (&info);

  return TRUE;
}

static gboolean
gst_cuda_ccl_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  guint i;

  for (i = 0; GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && self->mappers[i]; i++) {
    if (self->mappers[i]->klass->query_context &&
        self->mappers[i]->klass->query_context (self->mappers[i], query))
      return TRUE;
  }

  return GST_BASE_TRANSFORM_CLASS (parent_class)->query (trans, direction, query);
}

/* Frames go on as they came, so it is for downstream to say where they should lie: a sink may want
 * memory of its own. */
static gboolean
gst_cuda_ccl_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (trans), query);
}

/* Only metadata must be writable: a buffer that others use too gives a new one with the same
 * memory. */
static GstFlowReturn
gst_cuda_ccl_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer **outbuf)
{
  if (gst_buffer_is_writable (inbuf)) {
    *outbuf = inbuf;
    return GST_FLOW_OK;
  }

  *outbuf = gst_buffer_copy (inbuf);
  if (!*outbuf) {
    GST_ELEMENT_ERROR (trans, RESOURCE, NO_SPACE_LEFT,
                       ("The metadata of a frame could not be copied."), (NULL));
    return GST_FLOW_ERROR;
  }

  /* Its pool must not count on a buffer whose memory is still on its way downstream. */
  if (inbuf->pool)
    gst_buffer_add_parent_buffer_meta (*outbuf, inbuf);

  return GST_FLOW_OK;
}

static void
gst_cuda_ccl_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstClockTime timestamp = GST_BUFFER_PTS (buffer);

  if (trans->segment.format != GST_FORMAT_TIME)
    return;

  timestamp = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, timestamp);
  if (GST_CLOCK_TIME_IS_VALID (timestamp))
    gst_object_sync_values (GST_OBJECT (trans), timestamp);
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
  GstCclFrame frame;
  CclStatus status;

  frame.place = self->place;
  if (!klass->map (self->mapper, &frame, &self->info, buffer, &error)) {
    gst_cuda_ccl_post_gerror (self, error, gst_info_strdup_printf ("%" GST_PTR_FORMAT, buffer));
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

  if (!gst_cuda_ccl_analyze (self, inbuf, &settings.params, &components))
    return GST_FLOW_ERROR;

  GST_LOG_OBJECT (self, "found %u components, kept %u", components.found, components.count);
  if (components.found > components.count && !self->truncated) {
    GST_WARNING_OBJECT (self,
                        "found %u components and kept the %u largest; more max-components "
                        "or a larger min-area help",
                        components.found, components.count);
    self->truncated = TRUE;
  }

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

static GstFlowReturn
gst_cuda_ccl_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  if (!gst_cuda_ccl_has_pixels (buffer))
    return GST_FLOW_OK;

  return gst_cuda_ccl_process (GST_CUDA_CCL (trans), buffer, buffer);
}
