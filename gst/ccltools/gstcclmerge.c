/* cudaccl - puts the components of one branch on the frames of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmerge
 * @title: cclmerge
 * @short_description: puts the components of one branch on the frames of another
 *
 * The mask in which `cudaccl` finds components is often made in a branch beside the video that is
 * looked at, and is smaller. cclmerge puts the components of that branch, which ends at the pad
 * `components`, on the frames of the pad `video`, scaled to their size. The frames pass through:
 * pixels are neither copied nor looked at, whatever memory they are in, and a frame that gets
 * nothing is not touched at all.
 *
 * ## Partners
 *
 * A frame gets the components of the frame of the other branch whose running time is nearest, the
 * earlier one of two that are equally near, if it is no farther away than #cclmerge:tolerance. So
 * one frame of the components may serve several frames of the video, or none. Components that the
 * video had are replaced; regions of interest of others stay.
 *
 * A frame without a partner passes on unchanged: as soon as the other branch is past the time that
 * its partner could have, by a frame, a gap or its end; or in a live pipeline as soon as the
 * latency is over. It passes at once while there is no pad `components`; release it to go on
 * without. When only that branch ends, the rest of the video passes.
 *
 * Whatever concerns the stream is that of the video: caps, segment, tags, the end.
 *
 * ## Latency
 *
 * In live pipelines, the latency grows by the time for which a partner may be late by its
 * timestamp, #cclmerge:tolerance. The property `latency` adds the time that it takes to make and
 * analyse the mask, if that is more.
 *
 * ## Metadata
 *
 * The #GstCclMeta of the partner and the regions of interest that cudaccl attached to it, with all
 * of their parameters and the ids 0, 1, 2...
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -q cclmerge name=merge ! ccljson ! fdsink
 * videotestsrc pattern=ball num-buffers=30 ! video/x-raw,width=1280,height=720 ! tee name=t
 * t. ! queue ! merge.video
 * t. ! queue ! videoscale ! video/x-raw,width=320,height=180 ! cudaccl ! merge.components
 * ]|
 * Finds the ball in small frames, and prints where it is in the large ones. Both branches need a
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

/* Times can be added to it: a year. */
#define GST_CCL_MERGE_MAX_TOLERANCE (365 * 24 * 3600 * GST_SECOND)

enum
{
  PROP_0,
  PROP_TOLERANCE,
};

/* A frame of the components' branch. */
typedef struct
{
  GstBuffer *buffer; /* NULL for none */
  GstClockTimeDiff time;
  guint width;
  guint height;
} GstCclMergeFrame;

typedef struct
{
  guint width, height;   /* of the frames that come now */
  GstCclMergeFrame last; /* the latest one that is not after the video; has only components */
  GMutex lock; /* for @last: the pad is flushed by another thread than the streaming one */
} GstCclMergeMatcher;

struct _GstCclMerge
{
  GstAggregator parent;

  GstAggregatorPad *video;

  /* Under the object lock. */
  GstClockTime tolerance;
  GstClockTime half_frame; /* of the video, by its caps; 0 when they do not tell */

  /* The streaming thread's. */
  guint width, height; /* of the video */
  GstEvent *segment;   /* of the video; NULL when it was pushed */
  GstCclMergeMatcher matcher;
};

static GstStaticPadTemplate video_template =
    GST_STATIC_PAD_TEMPLATE ("video", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate components_template =
    GST_STATIC_PAD_TEMPLATE ("components", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

#define gst_ccl_merge_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclMerge, gst_ccl_merge, GST_TYPE_AGGREGATOR,
                         GST_DEBUG_CATEGORY_INIT (gst_ccl_merge_debug, "cclmerge", 0,
                                                  "components from branch to branch"))
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
gst_ccl_merge_matcher_init (GstCclMergeMatcher *matcher)
{
  g_mutex_init (&matcher->lock);
}

static void
gst_ccl_merge_matcher_finalize (GstCclMergeMatcher *matcher)
{
  gst_clear_buffer (&matcher->last.buffer);
  g_mutex_clear (&matcher->lock);
}

static void
gst_ccl_merge_matcher_clear (GstCclMergeMatcher *matcher)
{
  g_mutex_lock (&matcher->lock);
  gst_clear_buffer (&matcher->last.buffer);
  g_mutex_unlock (&matcher->lock);
}

static gboolean
gst_ccl_merge_matcher_drain (GstCclMergeMatcher *matcher, GstAggregatorPad *pad)
{
  gst_ccl_merge_matcher_clear (matcher);
  while (pad && gst_aggregator_pad_drop_buffer (pad)) {
  }

  return !pad || gst_aggregator_pad_is_eos (pad);
}

static gboolean
gst_ccl_merge_is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

static gboolean
gst_ccl_merge_get_time (GstAggregatorPad *pad, GstClockTime timestamp, GstClockTimeDiff *time)
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

/* What comes next on @pad: a frame, or a gap and the time of its end. Those without a time are no
 * one's partners. */
static gboolean
peek (GstCclMergeMatcher *matcher, GstAggregatorPad *pad, GstCclMergeFrame *next, gboolean *gap)
{
  GstBuffer *buffer;

  while ((buffer = gst_aggregator_pad_peek_buffer (pad))) {
    GstClockTime timestamp = GST_BUFFER_PTS (buffer);

    *gap = gst_ccl_merge_is_gap (buffer);
    if (*gap && GST_CLOCK_TIME_IS_VALID (timestamp) && GST_BUFFER_DURATION_IS_VALID (buffer))
      timestamp += GST_BUFFER_DURATION (buffer);

    if (gst_ccl_merge_get_time (pad, timestamp, &next->time)) {
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
find_unlocked (GstCclMergeMatcher *matcher, GstAggregatorPad *pad, GstClockTimeDiff time,
               GstClockTimeDiff tolerance, gboolean timeout, GstCclMergeFrame *partner)
{
  GstCclMergeFrame *last = &matcher->last;
  gboolean decided = TRUE;

  partner->buffer = NULL;

  for (;;) {
    gboolean last_fits = last->buffer && ABS (time - last->time) <= tolerance;
    /* A later partner would have to be nearer. */
    GstClockTimeDiff farthest = last_fits ? ABS (time - last->time) - 1 : tolerance;
    GstCclMergeFrame next;
    gboolean gap;

    if (farthest < 0 || !pad || !peek (matcher, pad, &next, &gap)) {
      decided = farthest < 0 || !pad || timeout || gst_aggregator_pad_is_eos (pad);
    } else if (next.time > time + farthest) {
      gst_buffer_unref (next.buffer);
    } else if (next.time > time && !gap) {
      *partner = next;
      return TRUE;
    } else {
      /* It is past, or a gap of which something nearer may still follow. */
      if (!gap) {
        gst_clear_buffer (&last->buffer);
        *last = next;
        last->buffer = gst_ccl_merge_keep_components (next.buffer);
      }
      gst_buffer_unref (next.buffer);
      gst_aggregator_pad_drop_buffer (pad);
      continue;
    }

    if (decided && last_fits) {
      *partner = *last;
      gst_buffer_ref (partner->buffer);
    }
    return decided;
  }
}

static gboolean
gst_ccl_merge_matcher_find (GstCclMergeMatcher *matcher, GstAggregatorPad *pad,
                            GstClockTimeDiff time, GstClockTimeDiff tolerance, gboolean timeout,
                            GstCclMergeFrame *partner)
{
  gboolean decided;

  g_mutex_lock (&matcher->lock);
  decided = find_unlocked (matcher, pad, time, tolerance, timeout, partner);
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
   * How far away the running time of a partner may be, in nanoseconds; the maximum stands for half
   * the duration of the video's frame, and for 0 when neither the frame nor the caps tell that.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_TOLERANCE,
      g_param_spec_uint64 ("tolerance", "Tolerance",
                           "How far away the running time of a partner may be, in nanoseconds "
                           "(maximum = half the duration of the video's frame).",
                           0, G_MAXUINT64, DEFAULT_TOLERANCE,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));

  gst_element_class_set_static_metadata (
      element_class, "Components merger", "Filter/Video",
      "Puts the connected components of one branch on the video frames of another",
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
}

static void
gst_ccl_merge_init (GstCclMerge *self)
{
  GstPadTemplate *templ =
      gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), "video");

  self->video = g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", "video", "direction", GST_PAD_SINK,
                              "template", templ, NULL);
  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (self->video));

  gst_ccl_merge_matcher_init (&self->matcher);
  self->tolerance = DEFAULT_TOLERANCE;
}

static void
gst_ccl_merge_finalize (GObject *object)
{
  GstCclMerge *self = GST_CCL_MERGE (object);

  gst_ccl_merge_matcher_finalize (&self->matcher);
  gst_clear_event (&self->segment);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

/* A partner's timestamp may be later than the frame's by this much. */
static void
gst_ccl_merge_update_latency (GstCclMerge *self)
{
  GstClockTime latency;

  GST_OBJECT_LOCK (self);
  latency = GST_CLOCK_TIME_IS_VALID (self->tolerance)
                ? MIN (self->tolerance, GST_CCL_MERGE_MAX_TOLERANCE)
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

/* There is one pad to ask for. */
static GstAggregatorPad *
gst_ccl_merge_create_new_pad (GstAggregator *agg, GstPadTemplate *templ, const gchar *req_name,
                              const GstCaps *caps)
{
  GstPad *existing = gst_element_get_static_pad (GST_ELEMENT (agg), "components");

  if (existing) {
    GST_WARNING_OBJECT (agg, "there is a pad for components already");
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

  gst_ccl_merge_matcher_clear (&self->matcher);
  self->width = self->height = 0;
  self->matcher.width = self->matcher.height = 0;
  gst_clear_event (&self->segment);

  return TRUE;
}

static GstFlowReturn
gst_ccl_merge_flush (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);

  gst_ccl_merge_matcher_clear (&self->matcher);
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

  /* Pushed right away: upstream may ask downstream about buffers next. */
  gst_aggregator_set_src_caps (GST_AGGREGATOR (self), caps);

  return TRUE;
}

/* Events that follow a segment must not overtake it, and GstAggregator pushes it with the next
 * frame only. */
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
    /* Not that of GstAggregator, which comes when both branches have ended. */
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

  /* What the mask is called is of no interest to those who see the video. */
  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps (event, &caps);
    if (!gst_ccl_caps_get_size (caps, &self->matcher.width, &self->matcher.height))
      self->matcher.width = self->matcher.height = 0;
    break;
  case GST_EVENT_FLUSH_STOP:
    /* GstAggregator's flush is for all pads together. From the start of this one's on, nothing
     * has come. */
    gst_ccl_merge_matcher_clear (&self->matcher);
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

/* Answers a caps query at @pad: what is beyond @opposite, in the limits of the template. */
static gboolean
gst_ccl_merge_caps_query (GstPad *pad, GstPad *opposite, GstQuery *query)
{
  GstCaps *filter, *templ, *beyond, *result;

  gst_query_parse_caps (query, &filter);
  templ = gst_pad_get_pad_template_caps (pad);
  beyond = gst_pad_peer_query_caps (opposite, filter);
  result = gst_caps_intersect_full (beyond, templ, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result (query, result);

  gst_caps_unref (templ);
  gst_caps_unref (beyond);
  gst_caps_unref (result);

  return TRUE;
}

static gboolean
gst_ccl_merge_mask_allocation_query (GstQuery *query)
{
  gst_ccl_allow_any_layout (query);

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
    return pad == self->video ? gst_pad_peer_query (agg->srcpad, query)
                              : gst_ccl_merge_mask_allocation_query (query);
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

/* In live pipelines, a frame waits until its time plus the latency. */
static GstClockTime
gst_ccl_merge_get_next_time (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->video);
  GstClockTimeDiff time = 0;

  if (!buffer)
    return GST_CLOCK_TIME_NONE;

  gst_ccl_merge_get_time (self->video, GST_BUFFER_PTS (buffer), &time);
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

  return (GstClockTimeDiff) MIN (tolerance, GST_CCL_MERGE_MAX_TOLERANCE);
}

/* Finds the components for @buffer, which is next on the video's pad. FALSE if that takes more
 * data. */
static gboolean
find_partner (GstCclMerge *self, GstBuffer *buffer, gboolean timeout, GstCclMergeFrame *partner)
{
  GstClockTimeDiff time;
  gboolean decided;
  GstPad *pad;

  partner->buffer = NULL;
  if (!gst_ccl_merge_get_time (self->video, GST_BUFFER_PTS (buffer), &time))
    return TRUE;

  pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  decided = gst_ccl_merge_matcher_find (&self->matcher, (GstAggregatorPad *) pad, time,
                                        get_tolerance (self, buffer), timeout, partner);
  gst_clear_object (&pad);

  GST_LOG_OBJECT (self, "%s for the frame of %" GST_STIME_FORMAT,
                  partner->buffer ? "components"
                  : decided       ? "no components"
                                  : "waiting for components",
                  GST_STIME_ARGS (time));

  return decided;
}

static GstFlowReturn
push (GstCclMerge *self, GstBuffer *buffer, GstCclMergeFrame *partner)
{
  GstAggregator *agg = GST_AGGREGATOR (self);

  if (gst_ccl_merge_is_gap (buffer)) {
    gst_ccl_merge_push_segment (self);
    gst_pad_push_event (agg->srcpad,
                        gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }

  if (partner->buffer && gst_ccl_merge_has_components (partner->buffer)) {
    if (!gst_buffer_is_writable (buffer)) {
      GstBuffer *shared = buffer;

      buffer = gst_ccl_buffer_copy_shallow (shared);
      gst_buffer_unref (shared);
    }
    gst_ccl_merge_put_components (buffer, self->width, self->height, partner->buffer,
                                  partner->width, partner->height);
  }

  gst_clear_event (&self->segment);

  return gst_aggregator_finish_buffer (agg, buffer);
}

/* What the other branch still makes after the end of the video is dropped until that ends too: from
 * GStreamer 1.26 on, GstAggregator would let it block. The end of a video without caps could not be
 * pushed on its own, so GstAggregator does that. */
static GstFlowReturn
drain (GstCclMerge *self)
{
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  gboolean ended = gst_ccl_merge_matcher_drain (&self->matcher, (GstAggregatorPad *) pad) ||
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
  GstCclMergeFrame partner = { NULL, 0, 0, 0 };
  gboolean decided;

  if (!buffer)
    return gst_aggregator_pad_is_eos (self->video) ? drain (self) : result;

  decided = gst_ccl_merge_is_gap (buffer) || find_partner (self, buffer, timeout, &partner);
  /* Without this reference, the buffer may be writable. */
  gst_buffer_unref (buffer);

  if (decided) {
    buffer = gst_aggregator_pad_pop_buffer (self->video);
    if (buffer)
      result = push (self, buffer, &partner);
  }
  gst_clear_buffer (&partner.buffer);

  return result;
}
