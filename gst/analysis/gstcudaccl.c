/* cudaccl - finds the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cudaccl
 * @title: cudaccl
 * @short_description: finds the connected components (blobs) of video frames
 *
 * Finds the connected components of binary frames, such as masks made by background subtraction or
 * thresholding, on an NVIDIA GPU or on the CPU, and attaches the bounding box, area and centroid of
 * each to the frame. For colour formats only the luma plane is analysed. Pixels are neither changed
 * nor copied: a frame shared with other branches of the pipeline stays shared.
 *
 * A pixel is foreground if its value is above #cudaccl:threshold. #cudaccl:morphology cleans noisy
 * masks; #cudaccl:include, #cudaccl:exclude and #cudaccl:region-file limit the analysis to regions.
 * Components are sorted by their first pixel in raster order, independent of backend and algorithm.
 * Gaps without pixels pass through.
 *
 * ## Memory
 *
 * Frames in system memory are uploaded to the GPU, see #cudaccl:upload. The element proposes a pool
 * of page-locked buffers upstream, unless downstream proposes memory of its own: the GPU reads
 * these without the CPU, and without any transfer if it shares the host's memory.
 *
 * Frames in `memory:CUDAMemory` are read in place, in builds with GstCuda (GStreamer 1.22) and the
 * CUDA backend. The element works in the CUDA context of the frames, and shares that of its
 * neighbours and of the application. If they have none, all elements of this plugin in a process
 * share one context for each device, its primary one, and give it to neighbours that ask, such as
 * decoders. With several devices, set #cudaccl:cuda-device-id to the neighbours': the default
 * shares the context of device 0. Frames on a device other than #cudaccl:cuda-device-id are an
 * error. `cudaupload` passes system memory through if downstream accepts it, as this element does;
 * `video/x-raw(memory:CUDAMemory)` caps after it make it upload.
 *
 * Frames in `memory:NVMM` (Jetson, DeepStream) are read in place too, in builds with the CUDA
 * backend; block-linear ones are copied once, on the device.
 *
 * With #cudaccl:backend `cpu`, only system memory is accepted.
 *
 * ## Metadata
 *
 * Depending on #cudaccl:attach, each frame gets
 *
 * * one #GstCclMeta with all components,
 * * one #GstVideoRegionOfInterestMeta for each component, of the type #cudaccl:roi-type. Ids are
 *   0, 1, 2..., or, if other regions of the frame have one of these ids, continue after the highest
 *   of theirs. A parameter structure named `cudaccl` has the fields
 *   * `label` (#guint): 1...n, in order,
 *   * `area` (#guint64): the number of pixels,
 *   * `centroid-x`, `centroid-y` (#gdouble): the centroid, in pixel centres,
 * * one object detection for each component in the frame's `GstAnalyticsRelationMeta`, beside those
 *   of other elements, in builds with GstAnalytics (GStreamer 1.24). The type is
 *   #cudaccl:roi-type, the confidence 1.0. If there are more than 4096 components, only the largest
 *   are added, since this metadata has a matrix of n x n bytes,
 * * one `NvDsObjectMeta` for each component in the frame's `NvDsBatchMeta`, for DeepStream's
 *   elements behind `nvstreammux batch-size=1`. The label is #cudaccl:roi-type, the confidence 1.0,
 *   the class 0. Frames without `NvDsBatchMeta` get none, and the element posts a warning.
 *
 * Metadata of an earlier `cudaccl` is removed, except for object detections and DeepStream's
 * objects. Coordinates are relative to the visible part of the frame if it has a #GstVideoCropMeta.
 *
 * ## Messages
 *
 * If #cudaccl:post-messages is set, the element posts one element message named `cudaccl` for each
 * frame, with the fields
 *
 * * #guint64 `timestamp`: the timestamp of the frame,
 * * #guint64 `stream-time`: the stream time of the frame,
 * * #guint64 `running-time`: the running time of the frame,
 * * #guint64 `duration`: the duration of the frame; all times are in nanoseconds, or
 *   #GST_CLOCK_TIME_NONE,
 * * #guint `width`, `height`: the size of the frame,
 * * #guint `found`: the number of components found,
 * * #GstValueList of #GstStructure `components`: at most #cudaccl:max-components components, each
 *   with
 *   * #guint `label`, `x`, `y`, `width`, `height`,
 *   * #guint64 `area`,
 *   * #gdouble `centroid-x`, `centroid-y`.
 *
 * ## Statistics
 *
 * #cudaccl:stats is reset when the element starts, and has the fields
 *
 * * #guint64 `frames`: the number of analysed frames,
 * * #guint64 `components`: the number of components in all frames,
 * * #guint64 `truncated`: the number of frames with more than #cudaccl:max-components components,
 * * #gchararray `backend`, `algorithm`, `device`, and #gint `device-index`: what analyses the
 *   frames; the index is -1 on the CPU,
 * * #gchararray `upload`: what of the last frame crossed the bus to the device: `pixels`, `bits`,
 *   or `none` on the CPU and for frames that were on the device already,
 * * #guint64 `allocations`, `allocated-bytes`: how often memory was allocated for the analysis, and
 *   its current size; both change only with the size of the frames,
 * * #guint64 `average-time`: the average time per frame, in nanoseconds, and the parts of it that
 *   the backend measures: `average-upload-time`, `average-analysis-time`, `average-download-time`.
 *   The parts are averages of the frames that are measured: on a CUDA device one in 16.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 !
 * cudaccl post-messages=true ! fakesink
 * ]|
 * Prints the position of the ball.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! segmentation test-mode=true ! videoconvert !
 * video/x-raw,format=GRAY8 ! cudaccl min-area=50 ! ccloverlay ! videoconvert ! autovideosink
 * ]|
 * Marks moving objects in the mask of a camera's video.
 * |[
 * gst-launch-1.0 -m filesrc location=video.h264 ! h264parse ! nvh264dec !
 * 'video/x-raw(memory:CUDAMemory)' ! cudaccl threshold=200 post-messages=true ! fakesink
 * ]|
 * Finds bright spots in a video that stays on the GPU.
 *
 * Since: 0.1
 */

#include "gstcudaccl.h"

#include <math.h>
#include <gst/common/gstcclutils.h>

#include "gstcclnvds.h"
#include "gstcclpublish.h"
#include "memory/gstcclmappers.h"
#include "memory/gstcclpool.h"

GST_DEBUG_CATEGORY (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

enum
{
  PROP_0,
  PROP_STATS,
  PROP_SETTINGS, /* the first one of gstcclproperties.c */
};

#define gst_cuda_ccl_parent_class parent_class
G_DEFINE_TYPE (GstCudaCcl, gst_cuda_ccl, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (cudaccl, "cudaccl", GST_RANK_NONE, GST_TYPE_CUDA_CCL)

static void gst_cuda_ccl_set_property (GObject *object, guint prop_id, const GValue *value,
                                       GParamSpec *pspec);
static void gst_cuda_ccl_get_property (GObject *object, guint prop_id, GValue *value,
                                       GParamSpec *pspec);
static void gst_cuda_ccl_dispatch_properties_changed (GObject *object, guint n_pspecs,
                                                      GParamSpec **pspecs);
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
  gobject_class->dispatch_properties_changed = gst_cuda_ccl_dispatch_properties_changed;

  gst_ccl_settings_install_properties (gobject_class, PROP_SETTINGS);

  /**
   * cudaccl:stats:
   *
   * Statistics since the last start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "Statistics since the last start.",
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
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CCL_UPLOAD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CUDA_CCL_ATTACH, 0);

  GST_DEBUG_CATEGORY_INIT (gst_cuda_ccl_debug, "cudaccl", 0, "connected component analysis");
}

static void
gst_cuda_ccl_init (GstCudaCcl *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);

  gst_ccl_settings_init (&self->settings);
  self->mappers = gst_ccl_mappers_new (GST_ELEMENT (self));
  self->session = gst_ccl_session_new (self->mappers, G_OBJECT (self));

  gst_base_transform_set_in_place (trans, TRUE);
  gst_base_transform_set_gap_aware (trans, TRUE);
  gst_base_transform_set_qos_enabled (trans, TRUE);
}

static void
gst_cuda_ccl_finalize (GObject *object)
{
  GstCudaCcl *self = GST_CUDA_CCL (object);

  gst_ccl_session_free (self->session);
  gst_ccl_mappers_free (self->mappers);
  gst_ccl_settings_clear (&self->settings);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_ccl_set_property (GObject *object, guint prop_id, const GValue *value, GParamSpec *pspec)
{
  GstCudaCcl *self = GST_CUDA_CCL (object);
  CclParams *params = &self->settings.params;
  guint64 min_area, max_area;
  gdouble min_relative_area;
  gboolean known;

  GST_OBJECT_LOCK (self);
  min_area = params->min_area;
  max_area = params->max_area;
  min_relative_area = self->settings.min_relative_area;
  known = gst_ccl_settings_set (&self->settings, prop_id - PROP_SETTINGS, value);
  if (params->min_area != min_area || params->max_area != max_area ||
      self->settings.min_relative_area != min_relative_area)
    self->check_areas = FALSE;
  GST_OBJECT_UNLOCK (self);

  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

/* Called once for all properties that are set together: only now are the area limits consistent. */
static void
gst_cuda_ccl_dispatch_properties_changed (GObject *object, guint n_pspecs, GParamSpec **pspecs)
{
  GstCudaCcl *self = GST_CUDA_CCL (object);
  guint i;

  GST_OBJECT_LOCK (self);
  for (i = 0; i < n_pspecs; i++) {
    if (g_str_has_suffix (pspecs[i]->name, "-area"))
      self->check_areas = TRUE;
  }
  GST_OBJECT_UNLOCK (self);

  G_OBJECT_CLASS (parent_class)->dispatch_properties_changed (object, n_pspecs, pspecs);
}

static void
gst_cuda_ccl_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  GstCudaCcl *self = GST_CUDA_CCL (object);
  gboolean known;

  if (prop_id == PROP_STATS) {
    g_value_take_boxed (value, gst_ccl_session_get_stats (self->session));
    return;
  }

  GST_OBJECT_LOCK (self);
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

  GST_OBJECT_LOCK (self);
  device = self->settings.cuda_device_id;
  GST_OBJECT_UNLOCK (self);

  gst_ccl_mappers_set_context (self->mappers, context, device);

  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

void
gst_cuda_ccl_post_error (GstCudaCcl *self, GError *error, gconstpointer about)
{
  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
                            g_strdup (error->message),
                            about ? gst_info_strdup_printf ("%" GST_PTR_FORMAT, about) : NULL,
                            __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

static void
gst_cuda_ccl_post_warning (GstCudaCcl *self)
{
  GError *warning = gst_ccl_session_take_warning (self->session);

  if (!warning)
    return;

  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_WARNING, warning->domain, warning->code,
                            g_strdup (warning->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (warning);
}

static gboolean
gst_cuda_ccl_start (GstBaseTransform *trans)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  GstCudaCclClass *klass = GST_CUDA_CCL_GET_CLASS (self);
  GstCclCleaningSettings cleaning;
  GError *error = NULL;
  CclConfig config;
  gboolean started;

  GST_OBJECT_LOCK (self);
  gst_ccl_settings_get_config (&self->settings, &config);
  gst_ccl_cleaning_settings_copy (&self->settings.cleaning, &cleaning);
  self->check_areas = TRUE;
  GST_OBJECT_UNLOCK (self);
  config.labels = klass->labels;

  self->warned_truncated = FALSE;
  self->warned_nvds = FALSE;
#ifdef HAVE_ANALYTICS
  self->warned_detections = FALSE;
#endif

  started = (!klass->configure || klass->configure (self, &config, &error)) &&
            gst_ccl_session_start (self->session, &config, &cleaning, &error);
  gst_ccl_cleaning_settings_clear (&cleaning);
  if (!started)
    gst_cuda_ccl_post_error (self, error, NULL);

  return started;
}

static gboolean
gst_cuda_ccl_stop (GstBaseTransform *trans)
{
  gst_ccl_session_stop (GST_CUDA_CCL (trans)->session);

  return TRUE;
}

/* With the CPU backend, only memory that the CPU can read is accepted. */
static GstCaps *
gst_cuda_ccl_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                             GstCaps *filter)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  CclBackend backend;

  GST_OBJECT_LOCK (self);
  backend = self->settings.backend;
  GST_OBJECT_UNLOCK (self);

  caps = gst_ccl_caps_filter (gst_caps_ref (caps), filter);

  return backend == CCL_BACKEND_CPU ? gst_ccl_mappers_remove_cuda (caps) : caps;
}

static gboolean
gst_cuda_ccl_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  GError *error = NULL;

  if (!gst_ccl_session_set_caps (self->session, incaps, &error)) {
    gst_cuda_ccl_post_error (self, error, incaps);
    return FALSE;
  }
  gst_cuda_ccl_post_warning (self);

  return TRUE;
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

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT) {
    CclBackend backend;
    gint device;

    GST_OBJECT_LOCK (self);
    backend = self->settings.backend;
    device = self->settings.cuda_device_id;
    GST_OBJECT_UNLOCK (self);
    if (gst_ccl_mappers_query_context (self->mappers, query, device, backend != CCL_BACKEND_CPU))
      return TRUE;
  }

  return GST_BASE_TRANSFORM_CLASS (parent_class)->query (trans, direction, query);
}

/* Frames pass through, so downstream's memory takes precedence: a sink may need its own. If it has
 * no preference, page-locked memory is best for uploads. */
static gboolean
gst_cuda_ccl_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  gboolean answered = gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (trans), query);
  gint device = gst_ccl_session_get_upload_device (self->session);

  if (device < 0)
    return answered;

  gst_ccl_pool_propose (query, device);

  return TRUE;
}

/* Only the metadata must be writable. */
static GstFlowReturn
gst_cuda_ccl_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer **outbuf)
{
  *outbuf = gst_buffer_is_writable (inbuf) ? inbuf : gst_ccl_buffer_copy_shallow (inbuf);

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

static GstFlowReturn
gst_cuda_ccl_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  if (gst_ccl_buffer_is_gap (buffer))
    return GST_FLOW_OK;

  return gst_cuda_ccl_process (GST_CUDA_CCL (trans), buffer, buffer);
}

/* Gets the settings for the next frame; caps must be set. Warns once if no component can match the
 * area limits. */
static void
gst_cuda_ccl_take_settings (GstCudaCcl *self, GstCclSettings *settings)
{
  const GstVideoInfo *info = gst_ccl_session_get_video_info (self->session);
  gdouble pixels = (gdouble) GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_INFO_HEIGHT (info);
  const gchar *limit = "min-area";
  gboolean check_areas;
  guint64 min_area;

  GST_OBJECT_LOCK (self);
  *settings = self->settings;
  settings->cleaning = (GstCclCleaningSettings){ NULL }; /* may change from now on */
  check_areas = self->check_areas;
  self->check_areas = FALSE;
  GST_OBJECT_UNLOCK (self);

  /* Shares such as 0.07 are not exact: 7 of 100 pixels are 0.07 of them. */
  min_area = (guint64) ceil (settings->min_relative_area * pixels * (1.0 - 1e-12));
  if (min_area > settings->params.min_area) {
    settings->params.min_area = min_area;
    limit = "min-relative-area";
  }

  if (check_areas && settings->params.min_area > settings->params.max_area)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
                         ("All components are dropped: %s (%" G_GUINT64_FORMAT
                          " pixels) is above max-area (%" G_GUINT64_FORMAT ").",
                          limit, settings->params.min_area, settings->params.max_area),
                         (NULL));
}

/* If new caps are refused and the old ones come again, the base class does not set them again. */
static gboolean
gst_cuda_ccl_ensure_caps (GstCudaCcl *self)
{
  GstCaps *caps;
  gboolean set;

  if (gst_ccl_session_has_caps (self->session))
    return TRUE;

  caps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (self));
  set = caps && gst_cuda_ccl_set_caps (GST_BASE_TRANSFORM (self), caps, caps);
  gst_clear_caps (&caps);

  return set;
}

static void
gst_cuda_ccl_attach (GstCudaCcl *self, GstBuffer *buffer, const GstCclSettings *settings,
                     const CclComponents *components)
{
  gst_ccl_buffer_remove_components (buffer);
  if (settings->attach & GST_CUDA_CCL_ATTACH_COMPONENTS)
    gst_ccl_attach_meta (buffer, gst_ccl_session_get_video_info (self->session), components);
  if (settings->attach & GST_CUDA_CCL_ATTACH_ROI)
    gst_ccl_attach_rois (buffer, settings->roi_type, components);
#ifdef HAVE_ANALYTICS
  if (settings->attach & GST_CUDA_CCL_ATTACH_ANALYTICS) {
    guint n = gst_ccl_attach_detections (buffer, settings->roi_type, components);

    if (n < components->count && !self->warned_detections) {
      GST_WARNING_OBJECT (self,
                          "added only the %u largest of %u components to the analytics metadata", n,
                          components->count);
      self->warned_detections = TRUE;
    }
  }
#endif
  if (settings->attach & GST_CUDA_CCL_ATTACH_NVDS) {
    GError *error = NULL;

    if (!gst_ccl_attach_nvds (buffer, g_quark_to_string (settings->roi_type), components, &error)) {
      if (!self->warned_nvds)
        GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", error->message), (NULL));
      self->warned_nvds = TRUE;
      g_clear_error (&error);
    }
  }
}

GstFlowReturn
gst_cuda_ccl_process (GstCudaCcl *self, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCclSettings settings;
  CclComponents components;
  GError *error = NULL;

  if (!gst_cuda_ccl_ensure_caps (self))
    return GST_FLOW_ERROR;
  gst_cuda_ccl_take_settings (self, &settings);
  if (!gst_ccl_session_analyze (self->session, inbuf, &settings.params, &components, &error)) {
    gst_cuda_ccl_post_error (self, error, inbuf);
    return GST_FLOW_ERROR;
  }
  gst_cuda_ccl_post_warning (self);

  GST_LOG_OBJECT (self, "found %u components, kept %u", components.found, components.count);
  if (components.found > components.count && !self->warned_truncated) {
    GST_WARNING_OBJECT (self,
                        "found %u components, kept only the %u largest; consider a larger "
                        "max-components or min-area",
                        components.found, components.count);
    self->warned_truncated = TRUE;
  }

  gst_cuda_ccl_attach (self, outbuf, &settings, &components);
  if (settings.post_messages)
    gst_element_post_message (
        GST_ELEMENT (self),
        gst_ccl_message_new (GST_OBJECT (self), &GST_BASE_TRANSFORM (self)->segment, inbuf,
                             gst_ccl_session_get_video_info (self->session), &components));

  return GST_FLOW_OK;
}

gboolean
gst_cuda_ccl_get_labels (GstCudaCcl *self, CclLabels *labels)
{
  GError *error = NULL;

  if (!gst_ccl_session_get_labels (self->session, labels, &error)) {
    gst_cuda_ccl_post_error (self, error, NULL);
    return FALSE;
  }

  return TRUE;
}
