/* cudaccl - the base class of the elements that find what moves
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmotionanalysis.h"

#include <gst/base/gstcclutils.h>

#define MIN_LEARNING_TIME GST_MSECOND
#define MAX_LEARNING_TIME (24 * 3600 * GST_SECOND)

/* Objects are too near when they have reached over half of the picture for this much longer than
 * not. Cars seen from above do so for at most 9 % of the time, people at eye level for at least
 * 70 %. */
#define TOO_NEAR_AFTER (5 * GST_SECOND)

#define gst_ccl_motion_analysis_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE (GstCclMotionAnalysis, gst_ccl_motion_analysis, GST_TYPE_CCL_ANALYSIS)

static GType
method_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { 0, "Mean and mean difference", "sigma-delta" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCclMotionMethod", values);
}

static GType
shadows_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_MOTION_SHADOWS_DROP, "Shadows are background", "drop" },
    { GST_CCL_MOTION_SHADOWS_KEEP, "Shadows are foreground", "keep" },
    { GST_CCL_MOTION_SHADOWS_MARK, "Shadows are background, and 127 in the masks of cclmask",
      "mark" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCclMotionShadows", values);
}

#define INSTALL(field, pspec) \
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclAnalysis, settings.field), pspec)

static void
install_properties (GObjectClass *gobject_class)
{
  CclMotionParams params;

  ccl_motion_params_init (&params);

  /**
   * cclmotion:morphology:
   *
   * Operations that clean the mask, see #cudaccl:morphology. `auto` chooses them by the size of the
   * frame and of the objects in it, in shares of the frame's shorter side:
   *
   * * while nothing is larger than 1/320 of its square, objects are far away: `close` joins their
   *   parts over .006 of the side, and `drop` removes what is below 1/5000 of its square;
   * * after 0.3 s with a larger object in each frame, or with more than 12, objects are near:
   * `median3`, `open` with .003 by .03, `fill`, and `drop` with 1/830, until there was no large
   * object for 10 minutes, or the model starts anew.
   *
   * Small objects count beside near ones where something that small has gone somewhere (see
   * docs/motion.md). Masks (#cclmask) and components with #cudaccl:features have none of them.
   *
   * Both backends choose the same. It cannot know what is small and near, such as insects, while
   * nothing else moves. `none` are no operations.
   *
   * Since: 0.1
   */
  gst_ccl_install_morphology (gobject_class, GST_CCL_SETTINGS_OFFSET, "auto");

  /**
   * cclmotion:method:
   *
   * The background model.
   *
   * Since: 0.1
   */
  INSTALL (motion.method, g_param_spec_enum ("method", "Method", "Background model.",
                                             method_get_type (), 0, GST_CCL_READY));

  /**
   * cclmotion:learning-time:
   *
   * How long an object must stand still to become background, in nanoseconds, from 1000000 (1 ms)
   * to 86400000000000 (a day). Other values are an error: GObject would only ignore them.
   *
   * Since: 0.1
   */
  INSTALL (motion.learning_time,
           g_param_spec_uint64 ("learning-time", "Learning time",
                                "Nanoseconds that an object must stand still to become "
                                "background, from 1 ms to a day.",
                                0, G_MAXUINT64, params.learning_time, GST_CCL_PLAYING));

  /**
   * cclmotion:static-time:
   *
   * How long a component must stand still to be static, in nanoseconds; 0: none ever is. A static
   * component has the flag %GST_CCL_COMPONENT_STATIC and its age, and stays in the metadata until
   * it leaves, also after #cclmotion:learning-time, when its pixels are background, or while
   * something passes in front of it. If something was not put there, but taken away, it is
   * %GST_CCL_COMPONENT_REMOVED, too: the outline of what has changed is then an edge of the
   * background rather than of the frame.
   *
   * What stands must differ in luma from what it hides. At most 64 components can stand at a time.
   * Nothing is static with #cudaccl:invert.
   *
   * Since: 0.2
   */
  INSTALL (motion.static_time,
           g_param_spec_uint64 (
               "static-time", "Static time",
               "Nanoseconds that a component must stand still to be static (0 = never).", 0,
               G_MAXINT64, 0, GST_CCL_PLAYING));

  /**
   * cclmotion:static-limit:
   *
   * How long a static component stays in the metadata after it stopped, in nanoseconds; 0: until it
   * leaves.
   *
   * Since: 0.2
   */
  INSTALL (motion.static_limit,
           g_param_spec_uint64 (
               "static-limit", "Static limit",
               "Nanoseconds that static components stay in the metadata (0 = until they leave).", 0,
               G_MAXINT64, 0, GST_CCL_PLAYING));

  /**
   * cclmotion:noise-floor:
   *
   * Minimum difference in luma, in grey levels, of a foreground pixel from the background. Noisy
   * pixels have a higher threshold, dark frames (mean luma below 96) a lower one, down to half.
   *
   * Since: 0.1
   */
  INSTALL (motion.noise_floor,
           g_param_spec_uint ("noise-floor", "Noise floor",
                              "Minimum difference in luma of foreground pixels.", 0, G_MAXUINT8,
                              params.noise_floor, GST_CCL_PLAYING));

  /**
   * cclmotion:shadows:
   *
   * How shadows are treated.
   *
   * Since: 0.1
   */
  INSTALL (motion.shadows,
           g_param_spec_enum ("shadows", "Shadows", "How shadows are treated.", shadows_get_type (),
                              GST_CCL_MOTION_SHADOWS_DROP, GST_CCL_PLAYING));

  /**
   * cclmotion:warm-up:
   *
   * How long a new model learns before it reports components, in nanoseconds.
   *
   * Since: 0.1
   */
  INSTALL (motion.warm_up,
           g_param_spec_uint64 ("warm-up", "Warm-up",
                                "Nanoseconds that a new model learns before it reports components.",
                                0, G_MAXUINT64, params.warm_up, GST_CCL_PLAYING));

  /**
   * cclmotion:light-change:
   *
   * Percentage of foreground above which frames have no components, since the light or the scene
   * has changed. If that lasts for 0.3 s, and is not a change of light which the background can
   * follow, a new model is started. 0 disables this.
   *
   * Since: 0.1
   */
  INSTALL (motion.light_change,
           g_param_spec_uint ("light-change", "Light change",
                              "Percentage of foreground that means a change of light (0 = never).",
                              0, 100, params.light_change, GST_CCL_PLAYING));

  /**
   * cclmotion:freeze:
   *
   * Stop learning: nothing becomes background.
   *
   * Since: 0.1
   */
  INSTALL (motion.freeze, g_param_spec_boolean ("freeze", "Freeze", "Stop learning.", params.freeze,
                                                GST_CCL_PLAYING));

  /**
   * cclmotion:scale:
   *
   * Pixels of the frame per pixel of the model in each direction: 1, 2 or 4. The model takes their
   * mean, which saves time; components are still in pixels of the frame. Other values are an error
   * when the element starts.
   *
   * Since: 0.1
   */
  INSTALL (
      motion.scale,
      g_param_spec_uint ("scale", "Scale",
                         "Pixels of the frame per pixel of the model in each direction: 1, 2 or 4.",
                         1, 4, 1, GST_CCL_READY));
}

static void
gst_ccl_motion_analysis_reset (GstCclMotionAnalysis *self)
{
  GST_OBJECT_LOCK (self);
  self->reset = TRUE;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_motion_analysis_start_anew (GstCclMotionAnalysis *self)
{
  CclAnalyzer *analyzer = GST_CCL_ANALYSIS (self)->session.analyzer;

  if (analyzer)
    ccl_analyzer_reset (analyzer);
  if (self->statics)
    gst_ccl_statics_reset (self->statics);
}

static gboolean
gst_ccl_motion_analysis_start (GstBaseTransform *trans)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (trans);
  guint64 learning_time;

  GST_OBJECT_LOCK (self);
  learning_time = GST_CCL_ANALYSIS (self)->settings.motion.learning_time;
  GST_OBJECT_UNLOCK (self);
  if (learning_time < MIN_LEARNING_TIME || learning_time > MAX_LEARNING_TIME) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
                       ("learning-time is %" G_GUINT64_FORMAT
                        ", in nanoseconds; use 1000000 (1 ms) to 86400000000000 (a day).",
                        learning_time),
                       (NULL));
    return FALSE;
  }

  gst_ccl_time_init (&self->time);

  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

/* Forgets static components, which belong to the model of the former caps. */
static void
gst_ccl_motion_analysis_forget (GstCclMotionAnalysis *self)
{
  g_clear_pointer (&self->statics, gst_ccl_statics_free);
  gst_ccl_places_clear (&self->places);
  self->starts = 0;
}

static gboolean
gst_ccl_motion_analysis_stop (GstBaseTransform *trans)
{
  gst_ccl_motion_analysis_forget (GST_CCL_MOTION_ANALYSIS (trans));

  return GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);
}

static gboolean
gst_ccl_motion_analysis_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  gst_ccl_time_set_caps (&GST_CCL_MOTION_ANALYSIS (trans)->time, incaps);
  gst_ccl_motion_analysis_forget (GST_CCL_MOTION_ANALYSIS (trans));

  return GST_BASE_TRANSFORM_CLASS (parent_class)->set_caps (trans, incaps, outcaps);
}

/* The camera's view after a flushing seek has nothing to do with the one before. */
static gboolean
gst_ccl_motion_analysis_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (trans);

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_FLUSH_STOP:
    gst_ccl_motion_analysis_start_anew (self);
    gst_ccl_time_restart (&self->time);
    break;
  case GST_EVENT_STREAM_START:
    gst_ccl_time_restart (&self->time);
    self->warned_near = FALSE;
    self->near_time = 0;
    break;
  case GST_EVENT_GAP:
    gst_ccl_time_skip (&self->time, &trans->segment, event);
    break;
  default:
    break;
  }

  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* From now on, components get signatures. */
static gboolean
gst_ccl_motion_analysis_src_event (GstBaseTransform *trans, GstEvent *event)
{
  if (!gst_ccl_event_wants_signatures (event))
    return GST_BASE_TRANSFORM_CLASS (parent_class)->src_event (trans, event);

  g_atomic_int_set (&GST_CCL_ANALYSIS (trans)->session.wants_signatures, TRUE);
  gst_event_unref (event);

  return TRUE;
}

/* Returns the time since the last frame as the camera saw it: at another rate, more or less of
 * it passes than in running time. */
static GstClockTime
gst_ccl_motion_analysis_tick (GstCclMotionAnalysis *self, GstBuffer *buffer)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime last = self->time.time;
  GstClockTime now = gst_ccl_time_advance (&self->time, GST_ELEMENT (self), segment, buffer);
  gdouble elapsed;

  /* A model ignores the time before its first frame. */
  if (!GST_CLOCK_TIME_IS_VALID (last))
    return 0;

  if (segment->rate == 1.0)
    return now - last;

  /* A rate may be as large as a double. */
  elapsed = (gdouble) (now - last) * ABS (segment->rate);

  return elapsed < (gdouble) G_MAXINT64 ? (GstClockTime) elapsed : G_MAXINT64;
}

static void
gst_ccl_motion_analysis_prepare (GstCclAnalysis *analysis, GstBuffer *buffer, CclParams *params)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (analysis);
  const GstCclMotionSettings *settings = &analysis->settings.motion;
  gboolean reset;

  GST_OBJECT_LOCK (self);
  params->motion.learning_time = settings->learning_time;
  params->motion.warm_up = settings->warm_up;
  params->motion.noise_floor = (guint8) settings->noise_floor;
  params->motion.light_change = (guint8) settings->light_change;
  params->motion.freeze = settings->freeze;
  params->motion.keep_shadows = settings->shadows == GST_CCL_MOTION_SHADOWS_KEEP;
  self->statics_params = (GstCclStaticsParams){ .static_time = settings->static_time,
                                                .static_limit = settings->static_limit,
                                                .learning_time = settings->learning_time };
  self->marked = settings->shadows == GST_CCL_MOTION_SHADOWS_MARK;
  reset = self->reset;
  self->reset = FALSE;
  GST_OBJECT_UNLOCK (self);

  if (reset)
    gst_ccl_motion_analysis_start_anew (self);
  params->elapsed = self->elapsed = gst_ccl_motion_analysis_tick (self, buffer);
  self->inverted = params->invert;
}

/* Warns if objects are most of the time so near that their boxes cover each other. */
static void
gst_ccl_motion_analysis_review (GstCclAnalysis *analysis, const CclComponents *components)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (analysis);
  const GstVideoInfo *info = &analysis->session.info;
  gboolean large = FALSE;
  guint i;

  if (self->warned_near || self->inverted)
    return;
  for (i = 0; i < components->count && !large; i++)
    large = components->items[i].width > (guint) GST_VIDEO_INFO_WIDTH (info) / 2 ||
            components->items[i].height > (guint) GST_VIDEO_INFO_HEIGHT (info) / 2;
  self->near_time = large ? self->near_time + self->elapsed
                          : self->near_time - MIN (self->near_time, self->elapsed);
  if (self->near_time < TOO_NEAR_AFTER)
    return;

  self->warned_near = TRUE;
  GST_ELEMENT_WARNING (
      self, STREAM, FAILED,
      ("Most of the time, objects reach over half of the picture. Motion alone cannot tell apart "
       "or "
       "count objects that are so near, since they cover each other; a detector (ccldetect) can."),
      (NULL));
}

static gboolean
gst_ccl_motion_analysis_read (gpointer self, gboolean background, GstCclPatch *patch)
{
  return gst_ccl_places_read (&GST_CCL_MOTION_ANALYSIS (self)->places, background, patch);
}

/* Finds out what stands. */
static guint
gst_ccl_motion_analysis_complete (GstCclAnalysis *analysis, GstBuffer *buffer,
                                  GstCclComponent **components, guint n)
{
  GstCclMotionAnalysis *self = GST_CCL_MOTION_ANALYSIS (analysis);
  GstCclStaticsParams *params = &self->statics_params;
  CclInfo info;

  if (params->static_time == 0 || self->inverted) {
    g_clear_pointer (&self->statics, gst_ccl_statics_free);
    return n;
  }

  if (!self->statics)
    self->statics = gst_ccl_statics_new ();
  ccl_analyzer_info (analysis->session.analyzer, &info);
  if (info.motion.starts != self->starts)
    gst_ccl_statics_restart (self->statics);
  self->starts = info.motion.starts;
  params->width = (guint) GST_VIDEO_INFO_WIDTH (&analysis->session.info);
  params->height = (guint) GST_VIDEO_INFO_HEIGHT (&analysis->session.info);
  /* When the light has changed, the components say nothing. */
  if (info.motion.light_change) {
    gst_ccl_statics_skip (self->statics);
  } else {
    gst_ccl_places_set_frame (&self->places, buffer);
    gst_ccl_statics_update (self->statics, params, self->elapsed, *components, n,
                            gst_ccl_motion_analysis_read, self);
  }

  return gst_ccl_statics_apply (self->statics, components, n);
}

static void
gst_ccl_motion_analysis_class_init (GstCclMotionAnalysisClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  install_properties (G_OBJECT_CLASS (klass));

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

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_motion_analysis_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_motion_analysis_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_motion_analysis_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_motion_analysis_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_ccl_motion_analysis_src_event);

  GST_CCL_ANALYSIS_CLASS (klass)->needs = GST_CCL_NEEDS_MODEL;
  GST_CCL_ANALYSIS_CLASS (klass)->prepare = gst_ccl_motion_analysis_prepare;
  GST_CCL_ANALYSIS_CLASS (klass)->complete = gst_ccl_motion_analysis_complete;
  GST_CCL_ANALYSIS_CLASS (klass)->review = gst_ccl_motion_analysis_review;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_ANALYSIS, 0);
}

static void
gst_ccl_motion_analysis_init (GstCclMotionAnalysis *self)
{
  gst_ccl_places_init (&self->places, &GST_CCL_ANALYSIS (self)->session);
}
