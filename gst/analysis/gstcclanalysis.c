/* cudaccl - the base class of the elements that analyse frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclanalysis.h"

#include <string.h>

#include <gst/base/gstcclutils.h>
#include <gst/found/gstcclanalytics.h>
#include <gst/found/gstcclmessage.h>
#include <gst/found/gstcclroi.h>

#include "gstcclconvert.h"
#include "gstcclfeatures.h"
#include "gstcclsegmentation.h"
#include "memory/gstcclmappers.h"
#include "memory/gstcclpool.h"

GST_DEBUG_CATEGORY (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

#define gst_ccl_analysis_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE (GstCclAnalysis, gst_ccl_analysis, GST_TYPE_BASE_TRANSFORM)

static void
gst_ccl_analysis_constructed (GObject *object)
{
  gst_ccl_properties_init (object);

  G_OBJECT_CLASS (parent_class)->constructed (object);
}

static void
gst_ccl_analysis_finalize (GObject *object)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (object);

  gst_ccl_session_clear (&self->session);
  gst_ccl_properties_clear (self);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static gboolean
is_area (const GParamSpec *pspec)
{
  return g_str_has_suffix (pspec->name, "-area");
}

/* Postpones the check until all properties that are set together have been set. */
static void
gst_ccl_analysis_areas_changed (gpointer self)
{
  GST_CCL_ANALYSIS (self)->check_areas = FALSE;
}

/* Called once for all properties that are set together. Only now are the area limits consistent. */
static void
gst_ccl_analysis_dispatch_properties_changed (GObject *object, guint n_pspecs, GParamSpec **pspecs)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (object);
  guint i;

  GST_OBJECT_LOCK (self);
  for (i = 0; i < n_pspecs; i++) {
    self->check_areas |= is_area (pspecs[i]);
  }
  GST_OBJECT_UNLOCK (self);

  G_OBJECT_CLASS (parent_class)->dispatch_properties_changed (object, n_pspecs, pspecs);
}

static void
gst_ccl_analysis_get_stats (gpointer self, GValue *value)
{
  g_value_take_boxed (value, gst_ccl_session_get_stats (&GST_CCL_ANALYSIS (self)->session));
}

static void
gst_ccl_analysis_set_context (GstElement *element, GstContext *context)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (element);
  gint device;

  GST_OBJECT_LOCK (self);
  device = self->settings.cuda_device_id;
  GST_OBJECT_UNLOCK (self);

  gst_ccl_mappers_set_context (self->session.mappers, context, device);

  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

/* Posts and frees @error. */
static void
post (GstCclAnalysis *self, GstMessageType type, GError *error, gconstpointer about)
{
  gst_element_message_full (GST_ELEMENT (self), type, error->domain, error->code,
                            g_strdup (error->message),
                            about ? gst_info_strdup_printf ("%" GST_PTR_FORMAT, about) : NULL,
                            __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

void
gst_ccl_analysis_post_error (GstCclAnalysis *self, GError *error, gconstpointer about)
{
  post (self, GST_MESSAGE_ERROR, error, about);
}

static void
gst_ccl_analysis_post_warning (GstCclAnalysis *self)
{
  if (self->session.warning)
    post (self, GST_MESSAGE_WARNING, g_steal_pointer (&self->session.warning), NULL);
}

/* Checks whether segmentation masks can be analysed. Their values are classes, whatever the
 * settings say. */
static gboolean
gst_ccl_analysis_start_segmentation (GstCclSettings *settings, GError **error)
{
  settings->values = CCL_VALUES_EQUAL;
  if (!gst_ccl_segmentation_is_supported ())
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 "This build of cudaccl cannot read segmentation metadata, which needs GStreamer "
                 "1.26 with its analytics library.");
  else if (settings->features)
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 "Components of segmentation masks have no features, since masks may have another "
                 "shape than the frame; leave features out.");

  return gst_ccl_segmentation_is_supported () && !settings->features;
}

static gboolean
gst_ccl_analysis_start (GstBaseTransform *trans)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (trans);
  GstCclAnalysisClass *klass = GST_CCL_ANALYSIS_GET_CLASS (self);
  GstCclSettings *settings;
  GError *error = NULL;
  gboolean started;

  GST_OBJECT_LOCK (self);
  settings = gst_ccl_properties_copy (self, GST_CCL_SETTINGS_OFFSET, sizeof (*settings));
  self->check_areas = TRUE;
  GST_OBJECT_UNLOCK (self);

  self->warned_truncated = FALSE;
  self->warned_nvds = FALSE;
#ifdef HAVE_ANALYTICS
  self->warned_detections = FALSE;
#endif

  self->segmentation = settings->segmentation;
  gst_video_info_init (&self->frame);
  started = (!self->segmentation || gst_ccl_analysis_start_segmentation (settings, &error)) &&
            gst_ccl_session_start (&self->session, settings, klass->needs, &error);
  gst_ccl_properties_free_copy (self, GST_CCL_SETTINGS_OFFSET, sizeof (*settings), settings);
  if (!started)
    gst_ccl_analysis_post_error (self, error, NULL);

  return started;
}

static gboolean
gst_ccl_analysis_stop (GstBaseTransform *trans)
{
  gst_ccl_session_stop (&GST_CCL_ANALYSIS (trans)->session);

  return TRUE;
}

static gboolean
gst_ccl_analysis_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (trans);
  GError *error = NULL;

  if (GST_CCL_ANALYSIS_GET_CLASS (self)->set_output &&
      !GST_CCL_ANALYSIS_GET_CLASS (self)->set_output (self, outcaps, &error)) {
    gst_ccl_analysis_post_error (self, error, outcaps);
    return FALSE;
  }
  if (self->segmentation ? !gst_ccl_caps_get_video_info (incaps, &self->frame, &error)
                         : !gst_ccl_session_set_caps (&self->session, incaps, &error)) {
    gst_video_info_init (&self->frame);
    gst_ccl_analysis_post_error (self, error, incaps);
    return FALSE;
  }
  gst_ccl_analysis_post_warning (self);

  return TRUE;
}

static gboolean
gst_ccl_analysis_get_unit_size (GstBaseTransform *trans, GstCaps *caps, gsize *size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;

  *size = GST_VIDEO_INFO_SIZE (&info);

  return TRUE;
}

static gboolean
gst_ccl_analysis_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (trans);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT) {
    CclBackend backend;
    gint device;

    GST_OBJECT_LOCK (self);
    backend = self->settings.backend;
    device = self->settings.cuda_device_id;
    GST_OBJECT_UNLOCK (self);
    if (gst_ccl_mappers_query_context (self->session.mappers, query, device,
                                       backend != CCL_BACKEND_CPU))
      return TRUE;
  }

  return GST_BASE_TRANSFORM_CLASS (parent_class)->query (trans, direction, query);
}

static void
gst_ccl_analysis_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstClockTime timestamp = GST_BUFFER_PTS (buffer);

  if (trans->segment.format != GST_FORMAT_TIME)
    return;

  timestamp = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, timestamp);
  if (GST_CLOCK_TIME_IS_VALID (timestamp))
    gst_object_sync_values (GST_OBJECT (trans), timestamp);
}

/* The settings for the next frame. */
typedef struct
{
  CclParams params;
  GstCclAttach attach;
  GQuark roi_type;
  gboolean post_messages;
} Plan;

/* Makes the plan for the next frame. Caps must be set. Warns if new area limits drop all
 * components. */
static void
gst_ccl_analysis_plan (GstCclAnalysis *self, Plan *plan)
{
  const GstVideoInfo *info = &self->session.info;
  const GstCclSettings *settings = &self->settings;
  CclParams *params = &plan->params;
  gboolean check_areas;
  const gchar *limit;

  GST_OBJECT_LOCK (self);
  gst_ccl_settings_get_params (
      settings, (gdouble) GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_INFO_HEIGHT (info), params);
  plan->attach = settings->attach;
  plan->roi_type = g_quark_from_string (settings->roi_type);
  plan->post_messages = settings->post_messages;
  limit = params->min_area > settings->min_area ? "min-relative-area" : "min-area";
  check_areas = self->check_areas;
  self->check_areas = FALSE;
  GST_OBJECT_UNLOCK (self);

  if (check_areas && params->min_area > params->max_area)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
                         ("All components are dropped: %s (%" G_GUINT64_FORMAT
                          " pixels) is above max-area (%" G_GUINT64_FORMAT ").",
                          limit, params->min_area, params->max_area),
                         (NULL));
}

/* Sets the caps again if others were refused since: the base class does not set the same caps
 * twice. */
static gboolean
gst_ccl_analysis_ensure_caps (GstCclAnalysis *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstCaps *incaps, *outcaps;
  gboolean set;

  if (self->segmentation ? GST_VIDEO_INFO_WIDTH (&self->frame) > 0 : self->session.mapper != NULL)
    return TRUE;

  incaps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (trans));
  outcaps = gst_pad_get_current_caps (GST_BASE_TRANSFORM_SRC_PAD (trans));
  set =
      incaps && outcaps && GST_BASE_TRANSFORM_GET_CLASS (trans)->set_caps (trans, incaps, outcaps);
  gst_clear_caps (&incaps);
  gst_clear_caps (&outcaps);

  return set;
}

/* Returns the format of the frames that get the components. */
static const GstVideoInfo *
gst_ccl_analysis_get_info (const GstCclAnalysis *self)
{
  return self->segmentation ? &self->frame : &self->session.info;
}

G_STATIC_ASSERT (sizeof (CclSignature) == GST_CCL_SIGNATURE_SIZE);

/* Attaches what the first components look like; others stand, and were found before. */
static void
gst_ccl_analysis_attach_signatures (GstCclAnalysis *self, GstCclMeta *meta)
{
  const GArray *found = self->session.signatures;
  GBytes *bytes;
  guint8 *all;

  if (found->len == 0 || found->len > meta->n_components)
    return;

  all = g_malloc0 ((gsize) meta->n_components * GST_CCL_SIGNATURE_SIZE);
  memcpy (all, found->data, (gsize) found->len * GST_CCL_SIGNATURE_SIZE);
  bytes = g_bytes_new_take (all, (gsize) meta->n_components * GST_CCL_SIGNATURE_SIZE);
  gst_ccl_meta_set_signatures (meta, bytes);
  g_bytes_unref (bytes);
}

/* Attaches @converted, which the buffer's metadata then owns, and posts it. */
static void
gst_ccl_analysis_publish (GstCclAnalysis *self, GstBuffer *inbuf, GstBuffer *outbuf,
                          const Plan *plan, guint found, GstCclComponent *converted, guint n,
                          GstCclClassNames *class_names)
{
  const GstVideoInfo *info = gst_ccl_analysis_get_info (self);
  const guint width = (guint) GST_VIDEO_INFO_WIDTH (info);
  const guint height = (guint) GST_VIDEO_INFO_HEIGHT (info);
  const GstCclAttachment attachment = { converted, n, class_names, width, height, plan->roi_type };
  GError *error = NULL;
  GstCclMeta *meta;

  if (plan->attach & GST_CCL_ATTACH_COMPONENTS) {
    meta = gst_buffer_add_ccl_meta (outbuf, width, height, found, NULL, 0);
    meta->components = converted;
    meta->n_components = n;
    if (class_names)
      gst_ccl_meta_set_class_names (meta, class_names);
    gst_ccl_analysis_attach_signatures (self, meta);
  }
  if (!gst_ccl_attach (outbuf, plan->attach, &attachment, &error)) {
    if (!self->warned_nvds)
      GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", error->message), (NULL));
    self->warned_nvds = TRUE;
    g_clear_error (&error);
  }
  if ((plan->attach & GST_CCL_ATTACH_ANALYTICS) && n > GST_CCL_ANALYTICS_MAX &&
      !self->warned_detections) {
    GST_WARNING_OBJECT (self,
                        "added only the %u largest of %u components to the analytics metadata",
                        GST_CCL_ANALYTICS_MAX, n);
    self->warned_detections = TRUE;
  }

  if (plan->post_messages)
    gst_element_post_message (GST_ELEMENT (self),
                              gst_ccl_components_message_new (
                                  GST_OBJECT (self), "cudaccl", &GST_BASE_TRANSFORM (self)->segment,
                                  inbuf, width, height, found, converted, n, class_names));
  if (!(plan->attach & GST_CCL_ATTACH_COMPONENTS))
    g_free (converted);
}

/* Returns details by the session's configuration: properties may have changed since the start. */
static GstCclDetails
gst_ccl_analysis_get_details (GstCclAnalysis *self)
{
  const CclConfig *config = &self->session.config;
  GstCclDetails details = { .features = gst_ccl_features_from_config (config) };

  if (config->values == CCL_VALUES_EQUAL &&
      ccl_analyzer_values (self->session.analyzer, &details.values) == CCL_OK)
    details.names = self->session.class_names;
  if (config->shapes && ccl_analyzer_shapes (self->session.analyzer, &details.shapes) != CCL_OK)
    details.features &= GST_CCL_FEATURE_ELLIPSE;

  return details;
}

/* Attaches and posts the components that were found in @source. */
static void
gst_ccl_analysis_deliver (GstCclAnalysis *self, GstBuffer *inbuf, GstBuffer *outbuf,
                          GstBuffer *source, const Plan *plan, const CclComponents *components,
                          const GstCclDetails *details)
{
  GstCclComponent *converted = gst_ccl_components_convert (components, details);
  guint n = components->count;

  if (GST_CCL_ANALYSIS_GET_CLASS (self)->complete)
    n = GST_CCL_ANALYSIS_GET_CLASS (self)->complete (self, source, &converted, n);
  gst_ccl_analysis_publish (self, inbuf, outbuf, plan, components->found + (n - components->count),
                            converted, n, details->names);
}

/* Analyses @source: @inbuf, or its mask, which lies at @placement. */
static GstFlowReturn
gst_ccl_analysis_process_source (GstCclAnalysis *self, GstBuffer *inbuf, GstBuffer *outbuf,
                                 GstBuffer *source, const GstCclPlacement *placement)
{
  Plan plan;
  CclComponents components;
  GstCclDetails details;
  GError *error = NULL;

  gst_ccl_analysis_plan (self, &plan);
  if (GST_CCL_ANALYSIS_GET_CLASS (self)->prepare)
    GST_CCL_ANALYSIS_GET_CLASS (self)->prepare (self, inbuf, &plan.params);
  if (!gst_ccl_session_analyze (&self->session, source, &plan.params, &components, &error)) {
    gst_ccl_analysis_post_error (self, error, inbuf);
    return GST_FLOW_ERROR;
  }
  gst_ccl_analysis_post_warning (self);
  details = gst_ccl_analysis_get_details (self);
  details.placement = placement;

  GST_LOG_OBJECT (self, "found %u components, kept %u", components.found, components.count);
  if (components.found > components.count && !self->warned_truncated) {
    GST_WARNING_OBJECT (self,
                        "found %u components, kept only the %u largest; consider a larger "
                        "max-components or min-area",
                        components.found, components.count);
    self->warned_truncated = TRUE;
  }

  if (GST_CCL_ANALYSIS_GET_CLASS (self)->review)
    GST_CCL_ANALYSIS_GET_CLASS (self)->review (self, &components);
  gst_ccl_buffer_remove_components (outbuf);
  if (plan.attach || plan.post_messages)
    gst_ccl_analysis_deliver (self, inbuf, outbuf, source, &plan, &components, &details);

  return GST_FLOW_OK;
}

/* Analyses the mask of a frame. Frames without a mask pass unchanged. */
static GstFlowReturn
gst_ccl_analysis_process_mask (GstCclAnalysis *self, GstBuffer *inbuf, GstBuffer *outbuf)
{
  const GstVideoInfo *before = &self->session.info;
  GstCclPlacement placement;
  GstFlowReturn result = GST_FLOW_ERROR;
  GstVideoInfo info;
  GstCaps *caps = NULL;
  GError *error = NULL;
  GstBuffer *mask = gst_ccl_segmentation_get (inbuf, &self->frame, &caps, &placement, &error);

  if (!mask && !error)
    return GST_FLOW_OK;

  if (mask && gst_ccl_caps_get_video_info (caps, &info, &error) &&
      ((self->session.mapper && gst_video_info_is_equal (&info, before)) ||
       gst_ccl_session_set_caps (&self->session, caps, &error)))
    result = gst_ccl_analysis_process_source (self, inbuf, outbuf, mask, &placement);
  else
    gst_ccl_analysis_post_error (self, error, inbuf);
  gst_clear_caps (&caps);
  gst_clear_buffer (&mask);

  return result;
}

GstFlowReturn
gst_ccl_analysis_process (GstCclAnalysis *self, GstBuffer *inbuf, GstBuffer *outbuf)
{
  if (!gst_ccl_analysis_ensure_caps (self))
    return GST_FLOW_ERROR;

  return self->segmentation ? gst_ccl_analysis_process_mask (self, inbuf, outbuf)
                            : gst_ccl_analysis_process_source (self, inbuf, outbuf, inbuf, NULL);
}

gboolean
gst_ccl_analysis_check (GstCclAnalysis *self, CclStatus status)
{
  GError *error = NULL;

  if (status == CCL_OK)
    return TRUE;

  gst_ccl_session_fail (&self->session, status, &error);
  gst_ccl_analysis_post_error (self, error, NULL);

  return FALSE;
}

/* The CPU backend accepts only memory that the CPU can read, unless it analyses masks instead of
 * frames. */
static GstCaps *
pass_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                     GstCaps *filter)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (trans);
  gboolean on_cpu;

  GST_OBJECT_LOCK (self);
  on_cpu = self->settings.backend == CCL_BACKEND_CPU && !self->settings.segmentation;
  GST_OBJECT_UNLOCK (self);

  caps = gst_ccl_caps_filter (gst_caps_ref (caps), filter);

  return on_cpu ? gst_ccl_mappers_remove_cuda (caps) : caps;
}

/* Prefers downstream's memory, since frames pass through and a sink may need its own. Otherwise,
 * pinned memory is best for uploads. */
static gboolean
pass_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (trans);
  gboolean answered = gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (trans), query);
  gint device = gst_ccl_session_get_upload_device (&self->session);

  if (device < 0)
    return answered;

  gst_ccl_pool_propose (query, device);

  return TRUE;
}

static GstFlowReturn
pass_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  if (gst_ccl_buffer_is_gap (buffer))
    return GST_FLOW_OK;

  return gst_ccl_analysis_process (GST_CCL_ANALYSIS (trans), buffer, buffer);
}

void
gst_ccl_analysis_class_add_sink_template (GstCclAnalysisClass *klass)
{
  GstCaps *caps = gst_ccl_mappers_get_caps ();

  gst_element_class_add_pad_template (
      GST_ELEMENT_CLASS (klass), gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
}

void
gst_ccl_analysis_class_pass_frames (GstCclAnalysisClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCaps *caps = gst_ccl_mappers_get_caps ();

  gst_ccl_analysis_class_add_sink_template (klass);
  gst_element_class_add_pad_template (
      GST_ELEMENT_CLASS (klass), gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);

  trans_class->transform_caps = GST_DEBUG_FUNCPTR (pass_transform_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (pass_propose_allocation);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_prepare_metadata);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (pass_transform_ip);
}

static void
gst_ccl_analysis_class_init (GstCclAnalysisClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gobject_class->constructed = gst_ccl_analysis_constructed;
  gobject_class->finalize = gst_ccl_analysis_finalize;
  gobject_class->dispatch_properties_changed = gst_ccl_analysis_dispatch_properties_changed;

  gst_ccl_install_properties (gobject_class, GST_CCL_SETTINGS_OFFSET,
                              gst_ccl_analysis_areas_changed);

  /**
   * cudaccl:stats:
   *
   * Statistics since the last start.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_COMPUTED (gst_ccl_analysis_get_stats),
                              g_param_spec_boxed ("stats", "Statistics",
                                                  "Statistics since the last start.",
                                                  GST_TYPE_STRUCTURE, GST_CCL_READ_ONLY));

  element_class->set_context = GST_DEBUG_FUNCPTR (gst_ccl_analysis_set_context);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_analysis_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_analysis_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_analysis_set_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR (gst_ccl_analysis_get_unit_size);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_ccl_analysis_query);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_ccl_analysis_before_transform);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_ANALYSIS, 0);

  GST_DEBUG_CATEGORY_INIT (gst_cuda_ccl_debug, "cudaccl", 0, "connected component analysis");
}

static void
gst_ccl_analysis_init (GstCclAnalysis *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);

  gst_ccl_session_init (&self->session, GST_ELEMENT (self));

  gst_base_transform_set_gap_aware (trans, TRUE);
  gst_base_transform_set_qos_enabled (trans, TRUE);
}
