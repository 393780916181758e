/* cudaccl - the base class of the elements that work on metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclfilter.h"

#include "gstcclproperties.h"
#include "gstcclutils.h"

#define FRAMES "video/x-raw(ANY)"

/* Streams that were combined, in a GstAnalyticsBatchMeta (GStreamer 1.28). */
#define BATCH "multistream/x-analytics-batch"

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (FRAMES));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (FRAMES));

static GstStaticPadTemplate batch_sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (FRAMES "; " BATCH "(ANY)"));

static GstStaticPadTemplate batch_src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (FRAMES "; " BATCH "(ANY)"));

#define gst_ccl_filter_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE (GstCclFilter, gst_ccl_filter, GST_TYPE_BASE_TRANSFORM)

static void
gst_ccl_filter_constructed (GObject *object)
{
  gst_ccl_properties_init (object);

  G_OBJECT_CLASS (parent_class)->constructed (object);
}

static void
gst_ccl_filter_finalize (GObject *object)
{
  gst_ccl_properties_clear (object);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static gboolean
gst_ccl_filter_start (GstBaseTransform *trans)
{
  GstCclFilter *self = GST_CCL_FILTER (trans);

  gst_ccl_time_init (&self->time);
  self->last_running = 0;
  self->width = self->height = 0;
  self->fed = self->warned_batches = FALSE;
  self->first = GST_CLOCK_TIME_NONE;

  return TRUE;
}

static void
gst_ccl_filter_restart (GstCclFilter *self, GstCclRestart why)
{
  if (GST_CCL_FILTER_GET_CLASS (self)->restart)
    GST_CCL_FILTER_GET_CLASS (self)->restart (self, why);
}

static gboolean
gst_ccl_filter_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclFilter *self = GST_CCL_FILTER (trans);
  const guint width = self->width, height = self->height;

  self->batches = gst_structure_has_name (gst_caps_get_structure (incaps, 0), BATCH);
  if (self->batches)
    return TRUE;
  if (!gst_ccl_caps_require_size (GST_ELEMENT (self), incaps, &self->width, &self->height))
    return FALSE;

  gst_ccl_time_set_caps (&self->time, incaps);
  if (width != self->width || height != self->height)
    gst_ccl_filter_restart (self, GST_CCL_RESTART_SIZE);

  return TRUE;
}

static gboolean
gst_ccl_filter_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclFilter *self = GST_CCL_FILTER (trans);

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_STREAM_START:
    gst_ccl_filter_restart (self, GST_CCL_RESTART_STREAM);
    gst_ccl_time_restart (&self->time);
    break;
  case GST_EVENT_FLUSH_STOP:
    gst_ccl_filter_restart (self, GST_CCL_RESTART_FLUSH);
    gst_ccl_time_restart (&self->time);
    break;
  case GST_EVENT_GAP:
    gst_ccl_time_skip (&self->time, &trans->segment, event);
    break;
  case GST_EVENT_EOS:
    if (GST_CCL_FILTER_GET_CLASS (self)->finish)
      GST_CCL_FILTER_GET_CLASS (self)->finish (self);
    break;
  default:
    break;
  }

  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

void
gst_ccl_filter_feed (GstCclFilter *self, gboolean has_metadata, const gchar *missing)
{
  if (has_metadata)
    self->fed = TRUE;
  if (self->fed)
    return;

  if (!GST_CLOCK_TIME_IS_VALID (self->first))
    self->first = self->time.time;
  if (self->time.time - self->first < GST_SECOND)
    return;

  self->fed = TRUE;
  if (!gst_ccl_peer_is_finding (GST_BASE_TRANSFORM_SINK_PAD (self)))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", missing), (NULL));
}

GstClockTime
gst_ccl_filter_advance (GstCclFilter *self, GstBuffer *buffer)
{
  self->last_running = self->time.running;

  return gst_ccl_time_advance (&self->time, GST_ELEMENT (self), &GST_BASE_TRANSFORM (self)->segment,
                               buffer);
}

/* A gap was not analysed: objects are not gone because it has none. */
static GstFlowReturn
gst_ccl_filter_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclFilter *self = GST_CCL_FILTER (trans);

  if (self->batches) {
    if (!self->warned_batches)
      GST_ELEMENT_WARNING (self, STREAM, FORMAT,
                           ("Batches of several streams pass as they are. Put this element before "
                            "they are combined, or after they are split."),
                           (NULL));
    self->warned_batches = TRUE;
    return GST_FLOW_OK;
  }
  gst_ccl_filter_advance (self, buffer);
  if (gst_ccl_buffer_is_gap (buffer))
    return GST_FLOW_OK;

  return GST_CCL_FILTER_GET_CLASS (self)->process (self, buffer);
}

void
gst_ccl_filter_class_pass_batches (GstCclFilterClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_static_pad_template (element_class, &batch_sink_template);
  gst_element_class_add_static_pad_template (element_class, &batch_src_template);
}

static void
gst_ccl_filter_class_init (GstCclFilterClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gobject_class->constructed = gst_ccl_filter_constructed;
  gobject_class->finalize = gst_ccl_filter_finalize;

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_filter_start);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_filter_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_filter_sink_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_propose_downstream);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_prepare_metadata);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_filter_transform_ip);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_FILTER, 0);
}

static void
gst_ccl_filter_init (GstCclFilter *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);

  gst_base_transform_set_in_place (trans, TRUE);
  gst_base_transform_set_passthrough (trans, FALSE);
  gst_base_transform_set_gap_aware (trans, TRUE);
  gst_base_transform_set_qos_enabled (trans, FALSE);
}
