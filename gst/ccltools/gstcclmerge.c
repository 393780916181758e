/* cudaccl - merges the components of one branch into the frames of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmerge
 * @title: cclmerge
 * @short_description: merges the components of one branch into the frames of another
 *
 * The mask that `cudaccl` analyses is often made in a branch of its own, and smaller than the video
 * to be shown. cclmerge attaches the components of that branch, on the pad `components`, to the
 * frames on the pad `video`, scaled to their size. Frames pass through with their pixels unchanged,
 * in any memory; frames without components to attach are not touched at all.
 *
 * ## Matching frames
 *
 * A frame gets the components of the frame with the nearest running time, the earlier one of two
 * equally near ones, if their distance is at most #cclmerge:tolerance. So the components of one
 * frame may be attached to several frames of the video, or to none. Components that the video had
 * before are replaced; other regions of interest stay.
 *
 * A frame without match passes unchanged: once the other branch is past the time of a possible
 * match (by a frame, a gap or EOS), or, in a live pipeline, once the latency has elapsed. If there
 * is no pad `components`, frames pass immediately; release the pad to continue without it. If only
 * that branch ends, the rest of the video passes.
 *
 * Caps, segment, tags and EOS are those of the video.
 *
 * ## Latency
 *
 * In live pipelines, the element adds #cclmerge:tolerance to the latency: the timestamp of a match
 * may be that much later. Set the property `latency` to the time it takes to make and analyse the
 * mask, if that is longer.
 *
 * ## Metadata
 *
 * The #GstCclMeta of the matching frame, and the regions of interest that cudaccl attached to it,
 * with all of their parameters and the ids 0, 1, 2...
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

#include <gst/video/video.h>
#include <gst/common/gstcclutils.h>

#include "gstccltransfer.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_merge_debug);
#define GST_CAT_DEFAULT gst_ccl_merge_debug

#define CAPS "video/x-raw(ANY)"

#define DEFAULT_TOLERANCE GST_CLOCK_TIME_NONE

/* A year: small enough for sums with timestamps not to overflow. */
#define MAX_TOLERANCE (365 * 24 * 3600 * GST_SECOND)

enum
{
  PROP_0,
  PROP_TOLERANCE,
};

/* A frame of the components branch. */
typedef struct
{
  GstBuffer *buffer; /* NULL for none */
  GstClockTimeDiff time;
  guint width;
  guint height;
} Match;

/* Finds the frame of the components branch that matches a frame of the video. */
typedef struct
{
  guint width, height; /* of the current frames */
  Match last;          /* the latest one not after the video, reduced to its components */
  GMutex lock;         /* protects @last: flushes come from another thread than aggregate() */
} Matcher;

struct _GstCclMerge
{
  GstAggregator parent;

  GstAggregatorPad *video;

  /* Protected by the object lock. */
  GstClockTime tolerance;
  GstClockTime half_frame; /* of the video, from its caps; 0 if they have no frame rate */

  /* Streaming thread. */
  guint width, height; /* of the video */
  GstEvent *segment;   /* of the video; NULL once it was pushed */
  Matcher matcher;
};

static GstStaticPadTemplate video_template =
    GST_STATIC_PAD_TEMPLATE ("video", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate components_template =
    GST_STATIC_PAD_TEMPLATE ("components", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

#define gst_ccl_merge_parent_class parent_class
G_DEFINE_TYPE (GstCclMerge, gst_ccl_merge, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (cclmerge, "cclmerge", GST_RANK_NONE, GST_TYPE_CCL_MERGE)

static void gst_ccl_merge_set_property (GObject *object, guint prop_id, const GValue *value,
                                        GParamSpec *pspec);
static void gst_ccl_merge_get_property (GObject *object, guint prop_id, GValue *value,
                                        GParamSpec *pspec);
static void gst_ccl_merge_finalize (GObject *object);

static GstAggregatorPad *gst_ccl_merge_create_new_pad (GstAggregator *agg, GstPadTemplate *templ,
                                                       const gchar *req_name, const GstCaps *caps);
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

static void
matcher_init (Matcher *matcher)
{
  g_mutex_init (&matcher->lock);
}

static void
matcher_finalize (Matcher *matcher)
{
  gst_clear_buffer (&matcher->last.buffer);
  g_mutex_clear (&matcher->lock);
}

/* Forgets the frames seen so far. */
static void
matcher_clear (Matcher *matcher)
{
  g_mutex_lock (&matcher->lock);
  gst_clear_buffer (&matcher->last.buffer);
  g_mutex_unlock (&matcher->lock);
}

/* Drops all frames on @pad, which may be NULL. Returns TRUE if no more will come. */
static gboolean
matcher_drain (Matcher *matcher, GstAggregatorPad *pad)
{
  matcher_clear (matcher);
  while (pad && gst_aggregator_pad_drop_buffer (pad)) {
  }

  return !pad || gst_aggregator_pad_is_eos (pad);
}

/* Gets the running time of @timestamp, which is negative before the segment. Returns FALSE if it
 * has none. */
static gboolean
get_running_time (GstAggregatorPad *pad, GstClockTime timestamp, GstClockTimeDiff *time)
{
  guint64 running_time = 0;
  gint sign = 0;

  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    return FALSE;

  GST_OBJECT_LOCK (pad);
  if (pad->segment.format == GST_FORMAT_TIME)
    sign =
        gst_segment_to_running_time_full (&pad->segment, GST_FORMAT_TIME, timestamp, &running_time);
  GST_OBJECT_UNLOCK (pad);

  *time = sign * (GstClockTimeDiff) running_time;

  return sign != 0;
}

/* Gets the next buffer on @pad: a frame, or a gap with the time of its end. Drops buffers without
 * running time, which match nothing. */
static gboolean
matcher_peek (Matcher *matcher, GstAggregatorPad *pad, Match *next, gboolean *gap)
{
  GstBuffer *buffer;

  while ((buffer = gst_aggregator_pad_peek_buffer (pad))) {
    GstClockTime timestamp = GST_BUFFER_PTS (buffer);

    *gap = gst_ccl_buffer_is_gap (buffer);
    if (*gap && GST_CLOCK_TIME_IS_VALID (timestamp) && GST_BUFFER_DURATION_IS_VALID (buffer))
      timestamp += GST_BUFFER_DURATION (buffer);

    if (get_running_time (pad, timestamp, &next->time)) {
      next->buffer = buffer;
      next->width = matcher->width;
      next->height = matcher->height;
      return TRUE;
    }

    gst_buffer_unref (buffer);
    gst_aggregator_pad_drop_buffer (pad);
  }

  return FALSE;
}

static gboolean
matcher_find_unlocked (Matcher *matcher, GstAggregatorPad *pad, GstClockTimeDiff time,
                       GstClockTimeDiff tolerance, gboolean timeout, Match *match)
{
  Match *last = &matcher->last;
  gboolean decided = TRUE;

  match->buffer = NULL;

  for (;;) {
    gboolean last_fits = last->buffer && ABS (time - last->time) <= tolerance;
    /* A later frame would have to be nearer. */
    GstClockTimeDiff farthest = last_fits ? ABS (time - last->time) - 1 : tolerance;
    Match next;
    gboolean gap;

    if (farthest < 0 || !pad || !matcher_peek (matcher, pad, &next, &gap)) {
      decided = farthest < 0 || !pad || timeout || gst_aggregator_pad_is_eos (pad);
    } else if (next.time > time + farthest) {
      gst_buffer_unref (next.buffer);
    } else if (next.time > time && !gap) {
      *match = next;
      return TRUE;
    } else {
      /* Not after @time, or a gap that a nearer frame may follow. */
      if (!gap) {
        gst_clear_buffer (&last->buffer);
        *last = next;
        last->buffer = gst_ccl_transfer_extract (next.buffer);
      }
      gst_buffer_unref (next.buffer);
      gst_aggregator_pad_drop_buffer (pad);
      continue;
    }

    if (decided && last_fits) {
      *match = *last;
      gst_buffer_ref (match->buffer);
    }
    return decided;
  }
}

/* Finds the frame of @pad (which may be NULL) nearest to @time, at most @tolerance away, and drops
 * the frames that no later call needs. @match gets a reference to its buffer. Returns FALSE if the
 * match depends on data that has not arrived. */
static gboolean
matcher_find (Matcher *matcher, GstAggregatorPad *pad, GstClockTimeDiff time,
              GstClockTimeDiff tolerance, gboolean timeout, Match *match)
{
  gboolean decided;

  g_mutex_lock (&matcher->lock);
  decided = matcher_find_unlocked (matcher, pad, time, tolerance, timeout, match);
  g_mutex_unlock (&matcher->lock);

  return decided;
}

static void
gst_ccl_merge_class_init (GstCclMergeClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *agg_class = GST_AGGREGATOR_CLASS (klass);

  gobject_class->set_property = gst_ccl_merge_set_property;
  gobject_class->get_property = gst_ccl_merge_get_property;
  gobject_class->finalize = gst_ccl_merge_finalize;

  /**
   * cclmerge:tolerance:
   *
   * Maximum distance between the running times of matching frames, in nanoseconds. The default,
   * the maximum value, is half the duration of the video frame, or 0 if neither the frame nor the
   * caps have it.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_TOLERANCE,
      g_param_spec_uint64 ("tolerance", "Tolerance",
                           "Maximum distance between the running times of matching frames, in "
                           "nanoseconds (maximum value = half the duration of the video frame).",
                           0, G_MAXUINT64, DEFAULT_TOLERANCE,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));

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

  matcher_init (&self->matcher);
  self->tolerance = DEFAULT_TOLERANCE;
}

static void
gst_ccl_merge_finalize (GObject *object)
{
  GstCclMerge *self = GST_CCL_MERGE (object);

  matcher_finalize (&self->matcher);
  gst_clear_event (&self->segment);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

/* The timestamp of a match may be this much later than that of the frame. */
static void
gst_ccl_merge_update_latency (GstCclMerge *self)
{
  GstClockTime latency;

  GST_OBJECT_LOCK (self);
  latency = GST_CLOCK_TIME_IS_VALID (self->tolerance) ? MIN (self->tolerance, MAX_TOLERANCE)
                                                      : self->half_frame;
  GST_OBJECT_UNLOCK (self);

  gst_aggregator_set_latency (GST_AGGREGATOR (self), latency, GST_CLOCK_TIME_NONE);
}

static void
gst_ccl_merge_set_property (GObject *object, guint prop_id, const GValue *value, GParamSpec *pspec)
{
  GstCclMerge *self = GST_CCL_MERGE (object);

  switch (prop_id) {
  case PROP_TOLERANCE:
    GST_OBJECT_LOCK (self);
    self->tolerance = g_value_get_uint64 (value);
    GST_OBJECT_UNLOCK (self);
    gst_ccl_merge_update_latency (self);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
}

static void
gst_ccl_merge_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  GstCclMerge *self = GST_CCL_MERGE (object);

  switch (prop_id) {
  case PROP_TOLERANCE:
    GST_OBJECT_LOCK (self);
    g_value_set_uint64 (value, self->tolerance);
    GST_OBJECT_UNLOCK (self);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
}

/* Only one pad can be requested. */
static GstAggregatorPad *
gst_ccl_merge_create_new_pad (GstAggregator *agg, GstPadTemplate *templ, const gchar *req_name,
                              const GstCaps *caps)
{
  GstPad *existing = gst_element_get_static_pad (GST_ELEMENT (agg), "components");

  if (existing) {
    GST_WARNING_OBJECT (agg, "there already is a components pad");
    gst_object_unref (existing);
    return NULL;
  }

  return g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", "components", "direction", GST_PAD_SINK,
                       "template", templ, NULL);
}

static gboolean
gst_ccl_merge_stop (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  matcher_clear (&self->matcher);
  self->width = self->height = 0;
  self->matcher.width = self->matcher.height = 0;
  gst_clear_event (&self->segment);

  return TRUE;
}

static GstFlowReturn
gst_ccl_merge_flush (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  matcher_clear (&self->matcher);
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

  /* Pushed at once: the next thing upstream does may be an allocation query. */
  gst_aggregator_set_src_caps (GST_AGGREGATOR (self), caps);

  return TRUE;
}

/* GstAggregator pushes the segment with the next frame only, but no event may overtake it. */
static void
gst_ccl_merge_push_segment (GstCclMerge *self)
{
  GstPad *srcpad = GST_AGGREGATOR (self)->srcpad;

  if (self->segment && gst_pad_has_current_caps (srcpad))
    gst_pad_push_event (srcpad, g_steal_pointer (&self->segment));
}

static gboolean
gst_ccl_merge_video_event (GstCclMerge *self, GstEvent *event)
{
  GstAggregator *agg = GST_AGGREGATOR (self);
  const GstSegment *segment;
  GstCaps *caps;
  gboolean result;

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

  /* Tags and the like of the mask are dropped. */
  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps (event, &caps);
    if (!gst_ccl_caps_get_size (caps, &self->matcher.width, &self->matcher.height))
      self->matcher.width = self->matcher.height = 0;
    break;
  case GST_EVENT_FLUSH_STOP:
    /* GstAggregator only handles flushes of all pads together. Nothing can arrive between this
     * pad's flush start and flush stop. */
    matcher_clear (&self->matcher);
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

  get_running_time (self->video, GST_BUFFER_PTS (buffer), &time);
  gst_buffer_unref (buffer);

  return (GstClockTime) MAX (time, 0);
}

static GstClockTimeDiff
get_tolerance (GstCclMerge *self, GstBuffer *buffer)
{
  GstClockTime tolerance, half_frame;

  GST_OBJECT_LOCK (self);
  tolerance = self->tolerance;
  half_frame = self->half_frame;
  GST_OBJECT_UNLOCK (self);

  if (!GST_CLOCK_TIME_IS_VALID (tolerance)) {
    if (GST_BUFFER_DURATION_IS_VALID (buffer))
      half_frame = GST_BUFFER_DURATION (buffer) / 2;

    GST_OBJECT_LOCK (self->video);
    tolerance = (GstClockTime) (half_frame / ABS (self->video->segment.rate));
    GST_OBJECT_UNLOCK (self->video);
  }

  return (GstClockTimeDiff) MIN (tolerance, MAX_TOLERANCE);
}

/* Finds the match for @buffer, the next frame of the video. Returns FALSE if that needs more data.
 */
static gboolean
find_match (GstCclMerge *self, GstBuffer *buffer, gboolean timeout, Match *match)
{
  GstClockTimeDiff time;
  gboolean decided;
  GstPad *pad;

  match->buffer = NULL;
  if (!get_running_time (self->video, GST_BUFFER_PTS (buffer), &time))
    return TRUE;

  pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  decided = matcher_find (&self->matcher, (GstAggregatorPad *) pad, time,
                          get_tolerance (self, buffer), timeout, match);
  gst_clear_object (&pad);

  GST_LOG_OBJECT (self, "%s for the frame of %" GST_STIME_FORMAT,
                  match->buffer ? "components"
                  : decided     ? "no components"
                                : "waiting for components",
                  GST_STIME_ARGS (time));

  return decided;
}

static GstFlowReturn
push (GstCclMerge *self, GstBuffer *buffer, Match *match)
{
  GstAggregator *agg = GST_AGGREGATOR (self);

  if (gst_ccl_buffer_is_gap (buffer)) {
    gst_ccl_merge_push_segment (self);
    gst_pad_push_event (agg->srcpad,
                        gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }

  if (match->buffer && gst_ccl_transfer_has_components (match->buffer)) {
    if (!gst_buffer_is_writable (buffer)) {
      GstBuffer *shared = buffer;

      buffer = gst_ccl_buffer_copy_shallow (shared);
      gst_buffer_unref (shared);
    }
    gst_ccl_transfer_components (buffer, self->width, self->height, match->buffer, match->width,
                                 match->height);
  }

  gst_clear_event (&self->segment);

  return gst_aggregator_finish_buffer (agg, buffer);
}

/* After the end of the video, drops the frames of the other branch until it ends too: from
 * GStreamer 1.26 on, GstAggregator would let it block. EOS of a video without caps was not pushed,
 * so GstAggregator does that. */
static GstFlowReturn
drain (GstCclMerge *self)
{
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  gboolean ended = matcher_drain (&self->matcher, (GstAggregatorPad *) pad) ||
                   !GST_PAD_IS_EOS (GST_AGGREGATOR (self)->srcpad);

  gst_clear_object (&pad);

  return ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
}

static GstFlowReturn
gst_ccl_merge_aggregate (GstAggregator *agg, gboolean timeout)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->video);
  GstFlowReturn result = GST_AGGREGATOR_FLOW_NEED_DATA;
  Match match = { NULL, 0, 0, 0 };
  gboolean decided;

  if (!buffer)
    return gst_aggregator_pad_is_eos (self->video) ? drain (self) : result;

  decided = gst_ccl_buffer_is_gap (buffer) || find_match (self, buffer, timeout, &match);
  /* Without this reference, the buffer can be writable. */
  gst_buffer_unref (buffer);

  if (decided) {
    buffer = gst_aggregator_pad_pop_buffer (self->video);
    if (buffer)
      result = push (self, buffer, &match);
  }
  gst_clear_buffer (&match.buffer);

  return result;
}
