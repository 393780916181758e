/* cudaccl - merges the components of one branch into the frames of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmerge
 * @title: cclmerge
 * @short_description: merges the components of one branch into the frames of another
 *
 * The mask that `cudaccl` analyses is often made in a separate branch, and smaller than the video
 * to be shown. `cclmerge` attaches the components of that branch, on the pad `components`, to the
 * frames on the pad `video`, scaled to their size. Frames may be in any memory, and their pixels do
 * not change; frames without components to attach pass through. The zones of `cclzones` and their
 * events are attached with the components.
 *
 * ## Matching frames
 *
 * With #cclmerge:mode=wait, a frame gets the components of the frame with the nearest running time,
 * the earlier one of two equally near ones, if their distance is at most #cclmerge:tolerance. So
 * the components of one frame may be attached to several frames of the video, or to none.
 *
 * With mode=latest, a frame gets the last components not later than itself, if they are not older
 * than #cclmerge:max-age: for masks that have fewer frames than the video.
 *
 * Components that the video had before are replaced; other regions of interest stay. A frame
 * without match passes unchanged: once the other branch is past the time of a possible match (by a
 * frame, a gap or EOS), or, in a live pipeline, once the latency has elapsed. If there is no pad
 * `components`, frames pass immediately; release the pad to continue without it. If only that
 * branch ends, the rest of the video passes.
 *
 * Caps, segment, tags and EOS are those of the video.
 *
 * Where timestamps jump, the element posts a warning and goes on: it does not wait for a time that
 * may be days away. A frame of the video passes if later ones are earlier by more than a second,
 * and frames of the other branch are dropped if they are far ahead of the video, and of later ones,
 * of the video before it went back, or of the clock of a live pipeline.
 *
 * ## Live pipelines
 *
 * In a live pipeline a frame waits only as long as the latency allows. With mode=wait this is the
 * sum of the latency that the branches report, the property `latency`, the tolerance (a match may
 * be that much later), and an amount that the element measures: it raises its latency to the
 * lateness of the components, up to #cclmerge:max-latency. The application gets a latency message,
 * and must call gst_bin_recalculate_latency() as for any other. The latency is not lowered until
 * the element stops. Frames that left before it was raised have no components, and the element does
 * not wait for a single component that is later than usual.
 *
 * With mode=latest nothing is added: a frame waits until its running time plus the branches'
 * latency, and then takes the last components that have come.
 *
 * If frames should have had components and did not, the element posts a warning for the tenth one,
 * then for every thousandth. #cclmerge:stats counts them, and reports how late the last components
 * were.
 *
 * ## Masks slower than the video
 *
 * A mask that takes 60 ms per frame cannot keep up with 30 frames per second. Drop frames before it
 * with a leaky queue, or they pile up there until the queue is full and the camera itself blocks:
 * |[
 * gst-launch-1.0 v4l2src ! tee name=t
 * t. ! queue ! cclmerge name=merge mode=latest ! ccloverlay ! videoconvert ! autovideosink
 * t. ! queue leaky=downstream max-size-buffers=1 ! videoconvert ! segmentation test-mode=true !
 * videoconvert ! video/x-raw,format=GRAY8 ! cudaccl ! merge.components
 * ]|
 * Each frame gets the last components that are finished; its metadata contains their age.
 *
 * If the mask keeps up and only has a high latency, use mode=wait. The queue of the video must hold
 * all frames that wait; its default limit of 10 MB is three frames of 1920x1080. Set
 * `max-size-bytes=0` there.
 *
 * ## Metadata
 *
 * The #GstCclMeta of the matching frame, and the regions of interest that cudaccl attached to it,
 * with all of their parameters and the ids 0, 1, 2... If the components are those of a frame with a
 * different time, `frame_age` of the #GstCclMeta and the field `frame-age` (#gint64) of the
 * regions' parameters are how much older that frame is, in nanoseconds.
 *
 * If `cclzones` is in the branch of the components, frames get its zones and counts, too, in a
 * #GstCclZonesMeta; they are added to zones that the video had before. Each event is attached to
 * exactly one frame of the video, even if its components are attached to several frames or to none;
 * in the latter case to the next frame that leaves. `frame_age` of the #GstCclZoneEvent is how much
 * earlier it happened, negative if later. Events after the last frame of the video are lost: there
 * is a warning, and #cclmerge:stats counts them. A flush drops waiting events.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -q cclmerge name=merge ! ccljson ! fdsink
 * videotestsrc pattern=ball num-buffers=30 ! video/x-raw,width=1280,height=720 ! tee name=t
 * t. ! queue ! merge.video
 * t. ! queue ! videoscale ! videoconvert ! video/x-raw,format=GRAY8,width=320,height=180 !
 * cudaccl ! merge.components
 * ]|
 * Finds the ball in small frames, and prints its position in the large ones. Each branch needs a
 * queue.
 *
 * Since: 0.1
 */

#include "gstcclmerge.h"

#include <string.h>
#include <gst/video/video.h>
#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclregister.h>
#include <gst/base/gstcclutils.h>

#include "gstcclmerge-arrivals.h"
#include "gstcclmerge-match.h"
#include "gstcclmerge-stats.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_merge_debug);
#define GST_CAT_DEFAULT gst_ccl_merge_debug

#define CAPS "video/x-raw(ANY)"

/* A year: small enough for sums with timestamps not to overflow. */
#define MAX_DISTANCE (365 * 24 * 3600 * GST_SECOND)

struct _GstCclMerge
{
  GstAggregator parent;

  GstAggregatorPad *video;

  /* Protected by the object lock. */
  GstCclMergeMode mode;
  GstClockTime tolerance;
  GstClockTime max_latency;
  GstClockTime max_age;
  GstClockTime half_frame; /* of the video, by its caps; 0 without a frame rate */
  GstClockTime followed;   /* latency added because components are late */
  GstCclMergeStats stats;

  GstCclArrivals arrivals;

  /* Streaming thread. */
  guint width, height; /* of the video */
  GstEvent *segment;   /* segment of the video; NULL once pushed */
  GstCclMatcher matcher;
};

static GstStaticPadTemplate video_template =
    GST_STATIC_PAD_TEMPLATE ("video", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate components_template =
    GST_STATIC_PAD_TEMPLATE ("components", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

#define gst_ccl_merge_parent_class parent_class
G_DEFINE_TYPE (GstCclMerge, gst_ccl_merge, GST_TYPE_AGGREGATOR)
GST_CCL_REGISTER_DEFINE (cclmerge, GST_TYPE_CCL_MERGE)

static void gst_ccl_merge_max_latency_changed (gpointer object);
static void gst_ccl_merge_update_latency (gpointer object);
static void gst_ccl_merge_get_stats (gpointer object, GValue *value);
static void gst_ccl_merge_finalize (GObject *object);

static GstAggregatorPad *gst_ccl_merge_create_new_pad (GstAggregator *agg, GstPadTemplate *templ,
                                                       const gchar *req_name, const GstCaps *caps);
static gboolean gst_ccl_merge_start (GstAggregator *agg);
static gboolean gst_ccl_merge_stop (GstAggregator *agg);
static GstFlowReturn gst_ccl_merge_flush (GstAggregator *agg);
static gboolean gst_ccl_merge_sink_event (GstAggregator *agg, GstAggregatorPad *pad,
                                          GstEvent *event);
static gboolean gst_ccl_merge_sink_query (GstAggregator *agg, GstAggregatorPad *pad,
                                          GstQuery *query);
static gboolean gst_ccl_merge_src_event (GstAggregator *agg, GstEvent *event);
static gboolean gst_ccl_merge_src_query (GstAggregator *agg, GstQuery *query);
static GstClockTime gst_ccl_merge_get_next_time (GstAggregator *agg);
static GstFlowReturn gst_ccl_merge_aggregate (GstAggregator *agg, gboolean timeout);

GType
gst_ccl_merge_mode_get_type (void)
{
  static const GEnumValue values[] = {
    { GST_CCL_MERGE_MODE_WAIT, "Wait for the components of the nearest frame", "wait" },
    { GST_CCL_MERGE_MODE_LATEST, "Attach the last components that have arrived", "latest" },
    { 0, NULL, NULL },
  };
  static GType type = 0;

  return gst_ccl_register_enum (&type, "GstCclMergeMode", values);
}

static void
gst_ccl_merge_class_init (GstCclMergeClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *agg_class = GST_AGGREGATOR_CLASS (klass);

  gobject_class->finalize = gst_ccl_merge_finalize;

  /**
   * cclmerge:mode:
   *
   * Which components a frame gets: those of the nearest frame, for which it waits, or the last ones
   * that have arrived.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclMerge, mode, .applied = gst_ccl_merge_update_latency),
      g_param_spec_enum ("mode", "Mode", "Which components a frame gets.", GST_TYPE_CCL_MERGE_MODE,
                         GST_CCL_MERGE_MODE_WAIT, GST_CCL_PLAYING));

  /**
   * cclmerge:tolerance:
   *
   * Maximum distance between the running times of matching frames, in nanoseconds, with mode=wait.
   * The default, the maximum value, is half the duration of the video frame, or 0 if neither the
   * frame nor the caps have it.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class,
      GST_CCL_FIELD (GstCclMerge, tolerance, .applied = gst_ccl_merge_update_latency),
      g_param_spec_uint64 ("tolerance", "Tolerance",
                           "Maximum distance between the running times of matching frames, in "
                           "nanoseconds, with mode=wait (maximum value = half the duration of the "
                           "video frame).",
                           0, G_MAXUINT64, GST_CLOCK_TIME_NONE, GST_CCL_PLAYING));

  /**
   * cclmerge:max-latency:
   *
   * Maximum latency, in nanoseconds, that the element adds in a live pipeline with mode=wait
   * because components arrive late. 0 adds none.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class,
      GST_CCL_FIELD (GstCclMerge, max_latency, .changed = gst_ccl_merge_max_latency_changed,
                     .applied = gst_ccl_merge_update_latency),
      g_param_spec_uint64 ("max-latency", "Maximum latency",
                           "Maximum latency added because components arrive late, in nanoseconds, "
                           "with mode=wait (0 = none).",
                           0, G_MAXUINT64, 500 * GST_MSECOND, GST_CCL_PLAYING));

  /**
   * cclmerge:max-age:
   *
   * Maximum age of components in nanoseconds, with mode=latest; older ones are not attached. The
   * maximum value means no limit.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclMerge, max_age),
      g_param_spec_uint64 ("max-age", "Maximum age",
                           "Maximum age of components in nanoseconds, with mode=latest "
                           "(maximum value = no limit).",
                           0, G_MAXUINT64, GST_SECOND, GST_CCL_PLAYING));

  /**
   * cclmerge:stats:
   *
   * Statistics since the last start, a structure `application/x-cclmerge-stats`:
   *
   * * `frames` (`guint64`): frames of the video,
   * * `matched` (`guint64`): frames that got components of the other branch,
   * * `unmatched` (`guint64`): the other frames,
   * * `late` (`guint64`): unmatched frames whose components had not arrived when the latency had
   *   elapsed,
   * * `dropped` (`guint64`): frames of the branch that were dropped because its timestamps, or
   * those of the video, jump,
   * * `lost-events` (`guint64`): events of `cclzones` that came after the last frame of the video,
   * * `lateness` (`gint64`): how long after its running time the last frame of the branch arrived,
   *   in nanoseconds; 0 if the pipeline is not live,
   * * `added-latency` (`guint64`): the latency that the element adds because components are late,
   *   in nanoseconds.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_COMPUTED (gst_ccl_merge_get_stats),
                              g_param_spec_boxed ("stats", "Statistics",
                                                  "Statistics since the last start.",
                                                  GST_TYPE_STRUCTURE, GST_CCL_READ_ONLY));

  gst_element_class_set_static_metadata (
      element_class, "Components merger", "Filter/Video",
      "Merges the connected components of one branch into the video frames of another",
      "The cudaccl authors");
  gst_element_class_add_static_pad_template_with_gtype (element_class, &video_template,
                                                        GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class, &components_template,
                                                        GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class, &src_template,
                                                        GST_TYPE_AGGREGATOR_PAD);

  agg_class->create_new_pad = GST_DEBUG_FUNCPTR (gst_ccl_merge_create_new_pad);
  agg_class->start = GST_DEBUG_FUNCPTR (gst_ccl_merge_start);
  agg_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_merge_stop);
  agg_class->flush = GST_DEBUG_FUNCPTR (gst_ccl_merge_flush);
  agg_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_merge_sink_event);
  agg_class->sink_query = GST_DEBUG_FUNCPTR (gst_ccl_merge_sink_query);
  agg_class->src_event = GST_DEBUG_FUNCPTR (gst_ccl_merge_src_event);
  agg_class->src_query = GST_DEBUG_FUNCPTR (gst_ccl_merge_src_query);
  agg_class->get_next_time = GST_DEBUG_FUNCPTR (gst_ccl_merge_get_next_time);
  agg_class->aggregate = GST_DEBUG_FUNCPTR (gst_ccl_merge_aggregate);
  /* The caps are those of the video. */
  agg_class->negotiate = NULL;

  GST_DEBUG_CATEGORY_INIT (gst_ccl_merge_debug, "cclmerge", 0,
                           "components merged from another branch");
}

static void
gst_ccl_merge_init (GstCclMerge *self)
{
  GstPadTemplate *templ =
      gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), "video");

  self->video = g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", "video", "direction", GST_PAD_SINK,
                              "template", templ, NULL);
  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (self->video));

  gst_ccl_matcher_init (&self->matcher);
  gst_ccl_arrivals_init (&self->arrivals, GST_ELEMENT (self), self->video, &self->matcher);
  gst_ccl_arrivals_watch (&self->arrivals, self->video);
  gst_ccl_properties_init (self);
}

static void
gst_ccl_merge_finalize (GObject *object)
{
  GstCclMerge *self = GST_CCL_MERGE (object);

  gst_ccl_arrivals_finalize (&self->arrivals);
  gst_ccl_matcher_finalize (&self->matcher);
  gst_clear_event (&self->segment);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

/* Returns the latency that the element itself adds. Called with the object lock. */
static GstClockTime
get_own_latency_unlocked (GstCclMerge *self)
{
  GstClockTime tolerance =
      GST_CLOCK_TIME_IS_VALID (self->tolerance) ? self->tolerance : self->half_frame;

  if (self->mode == GST_CCL_MERGE_MODE_LATEST)
    return 0;

  return MIN (tolerance, MAX_DISTANCE) + self->followed;
}

/* Posts a latency message if it changed. */
static void
gst_ccl_merge_update_latency (gpointer object)
{
  GstCclMerge *self = object;
  GstClockTime latency;

  GST_OBJECT_LOCK (self);
  latency = get_own_latency_unlocked (self);
  GST_OBJECT_UNLOCK (self);

  gst_aggregator_set_latency (GST_AGGREGATOR (self), latency, GST_CLOCK_TIME_NONE);
}

static gboolean
is_live (GstCclMerge *self)
{
  return GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR (self)));
}

/* Raises the latency so that components arrive in time. */
static void
gst_ccl_merge_follow (GstCclMerge *self)
{
  GstClockTime latency = gst_aggregator_get_latency (GST_AGGREGATOR (self)), step;
  GstClockTimeDiff missing = gst_ccl_arrivals_get_usual_lateness (&self->arrivals);
  gboolean raise = FALSE;

  if (!is_live (self))
    return;

  GST_OBJECT_LOCK (self);
  /* The other branches and the property `latency` add the rest. */
  latency -= MIN (latency, get_own_latency_unlocked (self));
  missing = gst_ccl_time_diff (missing, (GstClockTimeDiff) MIN (latency, G_MAXINT64));
  if (self->mode == GST_CCL_MERGE_MODE_WAIT && missing > 0) {
    /* In steps of frames: each one disturbs the pipeline. */
    step = self->half_frame > 0 ? 2 * self->half_frame : 20 * GST_MSECOND;
    latency =
        MIN (((GstClockTime) missing / step + 1) * step, MIN (self->max_latency, MAX_DISTANCE));
    raise = latency > self->followed;
    self->followed = MAX (latency, self->followed);
  }
  GST_OBJECT_UNLOCK (self);

  if (raise) {
    GST_INFO_OBJECT (self, "components arrive late: adding %" GST_TIME_FORMAT " of latency",
                     GST_TIME_ARGS (latency));
    gst_ccl_merge_update_latency (self);
  }
}

static void
gst_ccl_merge_get_stats (gpointer object, GValue *value)
{
  GstCclMerge *self = object;
  GstClockTimeDiff lateness = 0;
  GstClockTime followed;
  GstCclMergeStats stats;

  GST_OBJECT_LOCK (self);
  stats = self->stats;
  followed = self->mode == GST_CCL_MERGE_MODE_WAIT ? self->followed : 0;
  GST_OBJECT_UNLOCK (self);
  stats.dropped = gst_ccl_matcher_get_dropped (&self->matcher);
  if (is_live (self))
    lateness = gst_ccl_arrivals_get_last_lateness (&self->arrivals);

  g_value_take_boxed (value, gst_ccl_merge_stats_to_structure (&stats, lateness, followed));
}

static void
gst_ccl_merge_max_latency_changed (gpointer object)
{
  GstCclMerge *self = object;

  self->followed = MIN (self->followed, self->max_latency);
}

/* Only one pad can be requested. */
static GstAggregatorPad *
gst_ccl_merge_create_new_pad (GstAggregator *agg, GstPadTemplate *templ, const gchar *req_name,
                              const GstCaps *caps)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstPad *existing = gst_element_get_static_pad (GST_ELEMENT (agg), "components");
  GstAggregatorPad *pad;

  if (existing) {
    GST_WARNING_OBJECT (agg, "there already is a components pad");
    gst_object_unref (existing);
    return NULL;
  }

  pad = g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", "components", "direction", GST_PAD_SINK,
                      "template", templ, NULL);
  gst_ccl_arrivals_watch (&self->arrivals, pad);

  return pad;
}

static gboolean
gst_ccl_merge_start (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof (self->stats));
  self->followed = 0;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_matcher_start (&self->matcher);
  gst_ccl_merge_update_latency (self);

  return TRUE;
}

static gboolean
gst_ccl_merge_stop (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  /* video_arrives() may have peeked at a frame after the streaming thread had ended, and
   * GstAggregator would keep it until the next start. */
  gst_aggregator_pad_drop_buffer (self->video);
  gst_ccl_matcher_clear (&self->matcher);
  gst_ccl_arrivals_reset (&self->arrivals);
  self->width = self->height = 0;
  self->matcher.width = self->matcher.height = 0;
  gst_clear_event (&self->segment);

  return TRUE;
}

static GstFlowReturn
gst_ccl_merge_flush (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  gst_ccl_matcher_clear (&self->matcher);
  gst_clear_event (&self->segment);

  return GST_FLOW_OK;
}

static gboolean
gst_ccl_merge_set_video_caps (GstCclMerge *self, GstCaps *caps)
{
  GstClockTime half_frame = 0;
  gint fps_n = 0, fps_d = 1;

  if (!gst_ccl_caps_require_size (GST_ELEMENT (self), caps, &self->width, &self->height))
    return FALSE;

  gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &fps_n, &fps_d);
  if (fps_n > 0)
    half_frame = gst_util_uint64_scale_int (GST_SECOND, fps_d, fps_n) / 2;

  GST_OBJECT_LOCK (self);
  self->half_frame = half_frame;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_merge_update_latency (self);

  /* Pushed at once: upstream may send an allocation query next. */
  gst_aggregator_set_src_caps (GST_AGGREGATOR (self), caps);

  return TRUE;
}

/* GstAggregator only pushes the segment with the next frame, but no event may overtake it. */
static void
gst_ccl_merge_push_segment (GstCclMerge *self)
{
  GstPad *srcpad = GST_AGGREGATOR (self)->srcpad;

  if (self->segment && gst_pad_has_current_caps (srcpad))
    gst_pad_push_event (srcpad, g_steal_pointer (&self->segment));
}

static void
count_frame (GstCclMerge *self, GstCclMatchResult result)
{
  GstCclMergeStats stats;
  gboolean latest, warn;
  gchar *text;

  GST_OBJECT_LOCK (self);
  warn = gst_ccl_merge_stats_add (&self->stats, result);
  stats = self->stats;
  latest = self->mode == GST_CCL_MERGE_MODE_LATEST;
  GST_OBJECT_UNLOCK (self);
  if (!warn)
    return;

  text = gst_ccl_merge_stats_make_warning (&stats, result, latest,
                                           gst_ccl_arrivals_get_usual_lateness (&self->arrivals),
                                           gst_aggregator_get_latency (GST_AGGREGATOR (self)));
  GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", text), (NULL));
  g_free (text);
}

/* Pushes frames of the video that need not wait for components. */
static GstFlowReturn
push_early (GstCclMerge *self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *buffer;

  do {
    g_mutex_lock (&self->arrivals.video_lock);
    buffer = gst_ccl_arrivals_take_early (&self->arrivals);
    g_mutex_unlock (&self->arrivals.video_lock);
    if (buffer) {
      count_frame (self, GST_CCL_MATCH_NONE);
      gst_clear_event (&self->segment);
      flow = gst_aggregator_finish_buffer (GST_AGGREGATOR (self), buffer);
    }
  } while (buffer && flow == GST_FLOW_OK);

  return flow;
}

static gboolean
gst_ccl_merge_video_event (GstCclMerge *self, GstEvent *event)
{
  GstAggregator *agg = GST_AGGREGATOR (self);
  const GstSegment *segment;
  GstCaps *caps;
  gboolean result;

  if (GST_EVENT_IS_SERIALIZED (event) && GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    push_early (self);

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps (event, &caps);
    result = gst_ccl_merge_set_video_caps (self, caps);
    gst_event_unref (event);
    return result;
  case GST_EVENT_SEGMENT:
    gst_event_parse_segment (event, &segment);
    gst_aggregator_update_segment (agg, segment);
    gst_event_replace (&self->segment, event);
    break;
  case GST_EVENT_EOS:
    /* GstAggregator pushes EOS only when both branches have ended. */
    gst_ccl_merge_push_segment (self);
    if (gst_pad_has_current_caps (agg->srcpad))
      gst_pad_push_event (agg->srcpad, gst_event_ref (event));
    break;
  case GST_EVENT_STREAM_START:
  case GST_EVENT_GAP:
  case GST_EVENT_FLUSH_STOP:
    break;
  default:
    if (!GST_EVENT_IS_SERIALIZED (event))
      break;
    gst_ccl_merge_push_segment (self);
    return gst_pad_push_event (agg->srcpad, event);
  }

  return GST_AGGREGATOR_CLASS (parent_class)->sink_event (agg, self->video, event);
}

static gboolean
gst_ccl_merge_sink_event (GstAggregator *agg, GstAggregatorPad *pad, GstEvent *event)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstCaps *caps;

  if (pad == self->video)
    return gst_ccl_merge_video_event (self, event);

  /* The mask's other events, such as tags, are dropped. */
  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps (event, &caps);
    if (!gst_ccl_caps_get_size (caps, &self->matcher.width, &self->matcher.height))
      self->matcher.width = self->matcher.height = 0;
    break;
  case GST_EVENT_FLUSH_STOP:
    /* GstAggregator only handles flushes of all pads together. Nothing can arrive between this
     * pad's flush start and flush stop. */
    gst_ccl_matcher_clear (&self->matcher);
    return GST_AGGREGATOR_CLASS (parent_class)->sink_event (agg, pad, event);
  case GST_EVENT_FLUSH_START:
  case GST_EVENT_STREAM_START:
  case GST_EVENT_SEGMENT:
  case GST_EVENT_GAP:
  case GST_EVENT_EOS:
    return GST_AGGREGATOR_CLASS (parent_class)->sink_event (agg, pad, event);
  default:
    break;
  }
  gst_event_unref (event);

  return TRUE;
}

/* Answers a caps query on @pad with the caps of the peer of @opposite that match the template. */
static gboolean
gst_ccl_merge_caps_query (GstPad *pad, GstPad *opposite, GstQuery *query)
{
  GstCaps *filter, *templ, *peer_caps, *result;

  gst_query_parse_caps (query, &filter);
  templ = gst_pad_get_pad_template_caps (pad);
  peer_caps = gst_pad_peer_query_caps (opposite, filter);
  result = gst_caps_intersect_full (peer_caps, templ, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result (query, result);

  gst_caps_unref (templ);
  gst_caps_unref (peer_caps);
  gst_caps_unref (result);

  return TRUE;
}

static gboolean
gst_ccl_merge_sink_query (GstAggregator *agg, GstAggregatorPad *pad, GstQuery *query)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  switch (GST_QUERY_TYPE (query)) {
  case GST_QUERY_CAPS:
    if (pad == self->video)
      return gst_ccl_merge_caps_query (GST_PAD (pad), agg->srcpad, query);
    break;
  case GST_QUERY_ALLOCATION:
    if (pad == self->video)
      return gst_pad_peer_query (agg->srcpad, query);
    /* The pixels of the mask are not read. */
    gst_ccl_allow_any_layout (query);
    return TRUE;
  default:
    break;
  }

  return GST_AGGREGATOR_CLASS (parent_class)->sink_query (agg, pad, query);
}

static gboolean
gst_ccl_merge_src_event (GstAggregator *agg, GstEvent *event)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_RECONFIGURE:
  case GST_EVENT_NAVIGATION:
    return gst_pad_push_event (GST_PAD (self->video), event);
  default:
    return GST_AGGREGATOR_CLASS (parent_class)->src_event (agg, event);
  }
}

static gboolean
gst_ccl_merge_src_query (GstAggregator *agg, GstQuery *query)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  switch (GST_QUERY_TYPE (query)) {
  case GST_QUERY_CAPS:
    return gst_ccl_merge_caps_query (agg->srcpad, GST_PAD (self->video), query);
  case GST_QUERY_POSITION:
  case GST_QUERY_DURATION:
  case GST_QUERY_SEEKING:
  case GST_QUERY_SEGMENT:
  case GST_QUERY_FORMATS:
  case GST_QUERY_CONVERT:
  case GST_QUERY_URI:
    return gst_pad_peer_query (GST_PAD (self->video), query);
  default:
    return GST_AGGREGATOR_CLASS (parent_class)->src_query (agg, query);
  }
}

/* In live pipelines, a frame waits for this time plus the latency. */
static GstClockTime
gst_ccl_merge_get_next_time (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->video);
  GstClockTimeDiff time = 0;

  if (!buffer)
    return GST_CLOCK_TIME_NONE;

  gst_ccl_pad_get_running_time (self->video, GST_BUFFER_PTS (buffer), &time);
  gst_buffer_unref (buffer);

  return gst_ccl_arrivals_get_due (&self->arrivals, time);
}

/* Returns the largest distance of a match, or with @latest its largest age. */
static GstClockTimeDiff
get_limit (GstCclMerge *self, GstBuffer *buffer, gboolean *latest)
{
  GstClockTime limit, half_frame;

  GST_OBJECT_LOCK (self);
  *latest = self->mode == GST_CCL_MERGE_MODE_LATEST;
  limit = *latest ? self->max_age : self->tolerance;
  half_frame = self->half_frame;
  GST_OBJECT_UNLOCK (self);

  if (!GST_CLOCK_TIME_IS_VALID (limit)) {
    if (*latest)
      return G_MAXINT64;

    if (GST_BUFFER_DURATION_IS_VALID (buffer))
      half_frame = GST_BUFFER_DURATION (buffer) / 2;
    GST_OBJECT_LOCK (self->video);
    /* The rate may be so low that the result overflows a clock time. */
    limit = (GstClockTime) MIN (
        (gdouble) MIN (half_frame, MAX_DISTANCE) / ABS (self->video->segment.rate), MAX_DISTANCE);
    GST_OBJECT_UNLOCK (self->video);
  }

  return (GstClockTimeDiff) MIN (limit, MAX_DISTANCE);
}

/* Finds the match for @buffer, the next frame of the video. */
static GstCclMatchResult
find_match (GstCclMerge *self, GstBuffer *buffer, gboolean timeout)
{
  GstCclMatchRequest request = { .now = GST_CLOCK_STIME_NONE, .timeout = timeout };
  GstCclMatchResult result;
  GstPad *pad;

  if (!gst_ccl_pad_get_running_time (self->video, GST_BUFFER_PTS (buffer), &request.time))
    request.time = GST_CLOCK_STIME_NONE;
  if (is_live (self))
    request.now = gst_ccl_arrivals_get_now (&self->arrivals);
  request.limit = get_limit (self, buffer, &request.latest);
  pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  result = gst_ccl_matcher_find (&self->matcher, (GstAggregatorPad *) pad, &request);
  gst_clear_object (&pad);

  GST_LOG_OBJECT (self, "%s for the frame of %" GST_STIME_FORMAT,
                  result == GST_CCL_MATCH_FOUND     ? "components"
                  : result == GST_CCL_MATCH_PENDING ? "waiting for components"
                                                    : "no components",
                  GST_STIME_ARGS (request.time));

  return result;
}

static GstFlowReturn
push_gap (GstCclMerge *self, GstBuffer *buffer)
{
  gst_ccl_merge_push_segment (self);
  /* Gap buffers from upstream may have no timestamp, which a gap event needs. */
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    gst_pad_push_event (GST_AGGREGATOR (self)->srcpad,
                        gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
  gst_buffer_unref (buffer);

  return GST_FLOW_OK;
}

/* After the end of the video, drops the frames of the other branch until it ends too: from
 * GStreamer 1.26 on, GstAggregator would let it block. EOS of a video without caps was not pushed,
 * so GstAggregator does that. */
static GstFlowReturn
drain (GstCclMerge *self)
{
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  guint64 n_lost = 0, n_before;
  gboolean ended = gst_ccl_matcher_drain (&self->matcher, (GstAggregatorPad *) pad, &n_lost) ||
                   !GST_PAD_IS_EOS (GST_AGGREGATOR (self)->srcpad);

  gst_clear_object (&pad);

  GST_OBJECT_LOCK (self);
  n_before = self->stats.lost_events;
  self->stats.lost_events += n_lost;
  GST_OBJECT_UNLOCK (self);
  if (n_lost > 0 && n_before == 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
                         ("Events of cclzones came after the last frame of the video, so no frame "
                          "has them. The messages and counts of cclzones include them."),
                         (NULL));

  return ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* Finds the match for the next frame of the video, and takes the frame from its pad. Returns NULL,
 * with GST_CCL_MATCH_IDLE if there is no frame, or GST_CCL_MATCH_PENDING if it stays there. */
static GstBuffer *
take_frame (GstCclMerge *self, gboolean timeout, GstCclMatchResult *result)
{
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->video);

  *result = GST_CCL_MATCH_IDLE;
  if (buffer && !gst_ccl_buffer_is_gap (buffer))
    *result = find_match (self, buffer, timeout);
  gst_clear_buffer (&buffer); /* keep no other reference: the frame can be writable */

  return *result != GST_CCL_MATCH_PENDING ? gst_ccl_arrivals_pop (&self->arrivals) : NULL;
}

static GstFlowReturn
gst_ccl_merge_aggregate (GstAggregator *agg, gboolean timeout)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstFlowReturn flow = push_early (self);
  GstCclMatchResult result;
  GstBuffer *buffer;

  gst_ccl_merge_follow (self);
  if (flow != GST_FLOW_OK)
    return flow;

  g_mutex_lock (&self->arrivals.video_lock);
  buffer = take_frame (self, timeout, &result);
  g_mutex_unlock (&self->arrivals.video_lock);
  if (!buffer)
    return result == GST_CCL_MATCH_IDLE && gst_aggregator_pad_is_eos (self->video)
               ? drain (self)
               : GST_AGGREGATOR_FLOW_NEED_DATA;
  if (gst_ccl_buffer_is_gap (buffer))
    return push_gap (self, buffer);

  count_frame (self, result);
  if (self->width > 0)
    buffer = gst_ccl_matcher_attach (&self->matcher, buffer, self->width, self->height);
  gst_clear_event (&self->segment);

  return gst_aggregator_finish_buffer (agg, buffer);
}
