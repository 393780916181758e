/* cudaccl - the base class of the elements that find what moves
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmotionanalysis.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_motion_analysis_debug);
#define GST_CAT_DEFAULT gst_ccl_motion_analysis_debug

#define MIN_LEARNING_TIME GST_MSECOND
#define MAX_LEARNING_TIME (24 * 3600 * GST_SECOND)
#define UNKNOWN_DURATION (GST_SECOND / 25)

#define DEFAULT_METHOD GST_CCL_MOTION_METHOD_SIGMA_DELTA
#define DEFAULT_SHADOWS GST_CCL_MOTION_SHADOWS_DROP
#define DEFAULT_SCALE 1

#define READY_FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define PLAYING_FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_0,
  PROP_METHOD,
  PROP_LEARNING_TIME,
  PROP_NOISE_FLOOR,
  PROP_SHADOWS,
  PROP_WARM_UP,
  PROP_LIGHT_CHANGE,
  PROP_FREEZE,
  PROP_SCALE,
};

#define gst_ccl_motion_analysis_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE (GstCclMotionAnalysis, gst_ccl_motion_analysis, GST_TYPE_CCL_ANALYSIS)

GType
gst_ccl_motion_method_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_MOTION_METHOD_SIGMA_DELTA, "Mean and mean difference", "sigma-delta" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclMotionMethod", values));

  return type;
}

GType
gst_ccl_motion_shadows_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_MOTION_SHADOWS_DROP, "Shadows are background", "drop" },
    { GST_CCL_MOTION_SHADOWS_KEEP, "Shadows are foreground", "keep" },
    { GST_CCL_MOTION_SHADOWS_MARK, "Shadows are background, and 127 in the masks of cclmask",
      "mark" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclMotionShadows", values));

  return type;
}

static void gst_ccl_motion_analysis_set_property (GObject *object, guint prop_id,
                                                  const GValue *value, GParamSpec *pspec);
static void gst_ccl_motion_analysis_get_property (GObject *object, guint prop_id, GValue *value,
                                                  GParamSpec *pspec);
static gboolean gst_ccl_motion_analysis_configure (GstCclAnalysis *ccl, CclConfig *config,
                                                   GError **error);
static gboolean gst_ccl_motion_analysis_sink_event (GstBaseTransform *trans, GstEvent *event);
static void gst_ccl_motion_analysis_reset (GstCclMotionAnalysis *self);
static void gst_ccl_motion_analysis_prepare (GstCclAnalysis *analysis, GstBuffer *buffer,
                                             CclParams *params);

static void
install_properties (GObjectClass *gobject_class)
{
  CclMotionParams params;

  ccl_motion_params_init (&params);

  /**
   * cclmotion:method:
   *
   * The background model.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_METHOD,
                                   g_param_spec_enum ("method", "Method", "Background model.",
                                                      GST_TYPE_CCL_MOTION_METHOD, DEFAULT_METHOD,
                                                      READY_FLAGS));

  /**
   * cclmotion:learning-time:
   *
   * How long an object must stand still to become background, in nanoseconds.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_LEARNING_TIME,
      g_param_spec_uint64 ("learning-time", "Learning time",
                           "Nanoseconds that an object must stand still to become background.",
                           MIN_LEARNING_TIME, MAX_LEARNING_TIME, params.learning_time,
                           PLAYING_FLAGS));

  /**
   * cclmotion:noise-floor:
   *
   * Minimum difference in luma, in grey levels, of a foreground pixel from the background. Noisy
   * pixels have a higher threshold.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_NOISE_FLOOR,
      g_param_spec_uint ("noise-floor", "Noise floor",
                         "Minimum difference in luma of foreground pixels.", 0, G_MAXUINT8,
                         params.noise_floor, PLAYING_FLAGS));

  /**
   * cclmotion:shadows:
   *
   * How shadows are treated.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_SHADOWS,
      g_param_spec_enum ("shadows", "Shadows", "How shadows are treated.",
                         GST_TYPE_CCL_MOTION_SHADOWS, DEFAULT_SHADOWS, PLAYING_FLAGS));

  /**
   * cclmotion:warm-up:
   *
   * How long a new model learns before it reports components, in nanoseconds.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_WARM_UP,
      g_param_spec_uint64 ("warm-up", "Warm-up",
                           "Nanoseconds that a new model learns before it reports components.", 0,
                           G_MAXUINT64, params.warm_up, PLAYING_FLAGS));

  /**
   * cclmotion:light-change:
   *
   * Percentage of foreground above which the light is taken to have changed: such frames have no
   * components, and if the change lasts for 0.3 s, a new model is started. 0 disables this.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_LIGHT_CHANGE,
      g_param_spec_uint ("light-change", "Light change",
                         "Percentage of foreground that means a change of light (0 = never).", 0,
                         100, params.light_change, PLAYING_FLAGS));

  /**
   * cclmotion:freeze:
   *
   * Stop learning: nothing becomes background.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_FREEZE,
      g_param_spec_boolean ("freeze", "Freeze", "Stop learning.", params.freeze, PLAYING_FLAGS));

  /**
   * cclmotion:scale:
   *
   * Pixels of the frame per pixel of the model in each direction: 1, 2 or 4. The model takes their
   * mean, which saves time; components are still in pixels of the frame. Other values are an error
   * when the element starts.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_SCALE,
      g_param_spec_uint ("scale", "Scale",
                         "Pixels of the frame per pixel of the model in each direction: 1, 2 or 4.",
                         1, 4, DEFAULT_SCALE, READY_FLAGS));
}

static void
gst_ccl_motion_analysis_class_init (GstCclMotionAnalysisClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gobject_class->set_property = gst_ccl_motion_analysis_set_property;
  gobject_class->get_property = gst_ccl_motion_analysis_get_property;

  install_properties (gobject_class);

  /**
   * cclmotion::reset:
   * @self: the element
   *
   * Starts a new model with the next frame.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler (
      "reset", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_ccl_motion_analysis_reset), NULL, NULL, NULL, G_TYPE_NONE, 0);

  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_motion_analysis_sink_event);

  GST_CCL_ANALYSIS_CLASS (klass)->configure = gst_ccl_motion_analysis_configure;
  GST_CCL_ANALYSIS_CLASS (klass)->prepare = gst_ccl_motion_analysis_prepare;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_ANALYSIS, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_METHOD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_SHADOWS, 0);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_motion_analysis_debug, "cclmotion", 0, "moving objects");
}

static void
gst_ccl_motion_analysis_init (GstCclMotionAnalysis *self)
{
  ccl_motion_params_init (&self->params);
  self->method = DEFAULT_METHOD;
  self->shadows = DEFAULT_SHADOWS;
  self->scale = DEFAULT_SCALE;
}

static void
gst_ccl_motion_analysis_set_property (GObject *object, guint prop_id, const GValue *value,
                                      GParamSpec *pspec)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
  case PROP_METHOD:
    self->method = (GstCclMotionMethod) g_value_get_enum (value);
    break;
  case PROP_LEARNING_TIME:
    self->params.learning_time = g_value_get_uint64 (value);
    break;
  case PROP_NOISE_FLOOR:
    self->params.noise_floor = (guint8) g_value_get_uint (value);
    break;
  case PROP_SHADOWS:
    self->shadows = (GstCclMotionShadows) g_value_get_enum (value);
    break;
  case PROP_WARM_UP:
    self->params.warm_up = g_value_get_uint64 (value);
    break;
  case PROP_LIGHT_CHANGE:
    self->params.light_change = (guint8) g_value_get_uint (value);
    break;
  case PROP_FREEZE:
    self->params.freeze = g_value_get_boolean (value);
    break;
  case PROP_SCALE:
    self->scale = g_value_get_uint (value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_motion_analysis_get_property (GObject *object, guint prop_id, GValue *value,
                                      GParamSpec *pspec)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
  case PROP_METHOD:
    g_value_set_enum (value, (gint) self->method);
    break;
  case PROP_LEARNING_TIME:
    g_value_set_uint64 (value, self->params.learning_time);
    break;
  case PROP_NOISE_FLOOR:
    g_value_set_uint (value, self->params.noise_floor);
    break;
  case PROP_SHADOWS:
    g_value_set_enum (value, (gint) self->shadows);
    break;
  case PROP_WARM_UP:
    g_value_set_uint64 (value, self->params.warm_up);
    break;
  case PROP_LIGHT_CHANGE:
    g_value_set_uint (value, self->params.light_change);
    break;
  case PROP_FREEZE:
    g_value_set_boolean (value, self->params.freeze);
    break;
  case PROP_SCALE:
    g_value_set_uint (value, self->scale);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_motion_analysis_reset (GstCclMotionAnalysis *self)
{
  GST_OBJECT_LOCK (self);
  self->reset = TRUE;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_ccl_motion_analysis_configure (GstCclAnalysis *ccl, CclConfig *config, GError **error)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (ccl);

  ccl_motion_config_init (&self->motion);
  GST_OBJECT_LOCK (self);
  self->motion.scale = self->scale;
  self->reset = FALSE;
  GST_OBJECT_UNLOCK (self);
  /* Elements that draw masks. */
  config->mask = self->motion.shadows = GST_CCL_ANALYSIS_GET_CLASS (self)->draw != NULL;
  config->motion = &self->motion;
  self->timestamp = GST_CLOCK_TIME_NONE;

  if (self->motion.scale == 3) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 "The scale of the background model must be 1, 2 or 4.");
    return FALSE;
  }

  return TRUE;
}

/* The camera's view after a flushing seek has nothing to do with the one before. What lies between
 * the timestamps of two segments is not time that passed. */
static gboolean
gst_ccl_motion_analysis_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_ccl_session_reset_model (GST_CCL_ANALYSIS (self)->session);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    self->timestamp = GST_CLOCK_TIME_NONE;

  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* The time since the last frame. */
static GstClockTime
gst_ccl_motion_analysis_tick (GstCclMotionAnalysis *self, const GstVideoInfo *info,
                              GstBuffer *buffer)
{
  GstClockTime last = self->timestamp, elapsed = UNKNOWN_DURATION;

  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    elapsed = GST_BUFFER_DURATION (buffer);
  else if (GST_VIDEO_INFO_FPS_N (info) > 0)
    elapsed = gst_util_uint64_scale_int (GST_SECOND, GST_VIDEO_INFO_FPS_D (info),
                                         GST_VIDEO_INFO_FPS_N (info));

  if (!GST_BUFFER_PTS_IS_VALID (buffer)) {
    if (GST_CLOCK_TIME_IS_VALID (last))
      self->timestamp = last + elapsed;
    return elapsed;
  }

  /* Timestamps go back when a file is played again or backwards. */
  self->timestamp = GST_BUFFER_PTS (buffer);

  return GST_CLOCK_TIME_IS_VALID (last) && self->timestamp >= last ? self->timestamp - last
                                                                   : elapsed;
}

/* Gets the settings for the next frame. */
static void
gst_ccl_motion_analysis_take_settings (GstCclMotionAnalysis *self, CclMotionParams *params)
{
  gboolean reset;

  GST_OBJECT_LOCK (self);
  *params = self->params;
  params->keep_shadows = self->shadows == GST_CCL_MOTION_SHADOWS_KEEP;
  self->marked = self->shadows == GST_CCL_MOTION_SHADOWS_MARK;
  reset = self->reset;
  self->reset = FALSE;
  GST_OBJECT_UNLOCK (self);

  if (reset)
    gst_ccl_session_reset_model (GST_CCL_ANALYSIS (self)->session);
}

static void
gst_ccl_motion_analysis_prepare (GstCclAnalysis *analysis, GstBuffer *buffer, CclParams *params)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (analysis);

  gst_ccl_motion_analysis_take_settings (self, &params->motion);
  params->elapsed = gst_ccl_motion_analysis_tick (
      self, gst_ccl_session_get_video_info (analysis->session), buffer);
}
