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
 * ## Memory
 *
 * Frames in system memory are brought to the GPU. Upstream is offered a pool of page-locked buffers
 * for that, unless downstream proposes memory of its own; from these it takes no copy, and on GPUs
 * that share the host's memory no transfer. Frames in `memory:CUDAMemory` are read where they are,
 * in builds with GstCuda (GStreamer 1.22) and the CUDA backend: the element shares its CUDA context
 * with its neighbours, and works in that of the frames. It is an error when these are on another
 * device than the one that #cudaccl:cuda-device-id names. Frames in `memory:NVMM`, a Jetson's or
 * DeepStream's, are read where they are as well, in builds with the CUDA backend; block-linear ones
 * are copied once, on the device. With #cudaccl:backend `cpu` only system memory is accepted.
 *
 * ## Metadata
 *
 * According to #cudaccl:attach, frames get
 *
 * * one #GstCclMeta with all components, and
 * * one #GstVideoRegionOfInterestMeta for each component, whose type is #cudaccl:roi-type and whose
 *   ids are 0, 1, 2..., or, if the frame has other regions with one of these ids, those after the
 *   highest; it has one parameter structure named `cudaccl` with the fields
 *   * `label` (#guint): 1...n, in order,
 *   * `area` (#guint64): the number of pixels,
 *   * `centroid-x`, `centroid-y` (#gdouble): the centre of gravity, in pixel centres,
 * * one object detection for each component in the frame's `GstAnalyticsRelationMeta`, beside what
 *   others found, in builds with GstAnalytics (GStreamer 1.24): its type is #cudaccl:roi-type, its
 *   confidence 1.0. Of more than 4096 components the largest are added, as that metadata has a
 *   matrix of n x n bytes.
 *
 * What an earlier cudaccl attached is removed, but for object detections. Coordinates are relative
 * to the visible part of the frame, if it carries a #GstVideoCropMeta.
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
 * |[
 * gst-launch-1.0 -m filesrc location=video.h264 ! h264parse ! nvh264dec !
 * 'video/x-raw(memory:CUDAMemory)' ! cudaccl threshold=200 post-messages=true ! fakesink
 * ]|
 * Finds bright spots in a video that never leaves the GPU.
 *
 * Since: 0.1
 */

#include "gstcudaccl.h"

#include <gst/common/gstcclutils.h>

#include "memory/gstcclpool.h"
#include "gstcclprocess.h"

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
    self->check_areas = FALSE;
  GST_OBJECT_UNLOCK (self);

  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

/* The area limits are looked at once all properties that are set together are set. */
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

static gboolean
gst_cuda_ccl_start (GstBaseTransform *trans)
{
  return gst_cuda_ccl_open (GST_CUDA_CCL (trans));
}

static gboolean
gst_cuda_ccl_stop (GstBaseTransform *trans)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);

  gst_cuda_ccl_close (self);
  gst_ccl_mappers_close (self->mappers);

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

  caps = gst_ccl_caps_filter (gst_caps_ref (caps), filter);

  return backend == CCL_BACKEND_CPU ? gst_ccl_mappers_remove_cuda (caps) : caps;
}

static gboolean
gst_cuda_ccl_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  return gst_cuda_ccl_prepare (GST_CUDA_CCL (trans), incaps);
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
 * memory of its own. When nobody does, or any memory will do, it is where CUDA reads it best. */
static gboolean
gst_cuda_ccl_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);
  gboolean answered = gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (trans), query);
  CclInfo info;

  if (!self->analyzer || self->mapper->klass != &gst_ccl_system_mapper)
    return answered;

  ccl_analyzer_info (self->analyzer, &info);
  if (info.backend != CCL_BACKEND_CUDA)
    return answered;

  gst_ccl_pool_propose (query, info.device);

  return TRUE;
}

/* Only metadata must be writable. */
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
  if (!gst_cuda_ccl_has_pixels (buffer))
    return GST_FLOW_OK;

  return gst_cuda_ccl_process (GST_CUDA_CCL (trans), buffer, buffer);
}
