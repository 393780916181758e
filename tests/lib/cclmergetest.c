/* cudaccl - helpers for the tests of cclmerge
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

#include <string.h>

/* A harness that is live or not, and has its latency, before the element plays and asks for it:
 * GstAggregator may keep the answer to an earlier query even if the first frame comes after it. */
static GstHarness *
harness_new (GstElement *element, gboolean live, GstClockTime latency, const gchar *sink,
             const gchar *src)
{
  static GstStaticPadTemplate from = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                                                              GST_STATIC_CAPS_ANY),
                              to = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                                                            GST_STATIC_CAPS_ANY);
  GstHarness *h = gst_harness_new_empty ();

  gst_harness_set_live (h, live);
  gst_harness_set_upstream_latency (h, latency);
  gst_harness_add_element_full (h, element, &from, sink, &to, src);

  return h;
}

static void
init (Pair *pair, gboolean live, GstClockTime latency)
{
  GstElement *element = gst_element_factory_make ("cclmerge", NULL);

  fail_unless (element != NULL, "the plugin is not in GST_PLUGIN_PATH");
  ccl_test_add_bus (element);
  pair->video = harness_new (element, live, latency, "video", "src");
  pair->mask = harness_new (element, live, 0, "components", NULL);
  gst_object_unref (element);
  gst_harness_play (pair->video);

  ccl_test_set_caps (pair->video, "NV12", VIDEO_WIDTH, VIDEO_HEIGHT);
  ccl_test_set_caps (pair->mask, "GRAY8", MASK_WIDTH, MASK_HEIGHT);
}

void
pair_init (Pair *pair)
{
  init (pair, FALSE, 0);
}

void
pair_init_live (Pair *pair, GstClockTime latency)
{
  init (pair, TRUE, latency);
}

void
pair_clear (Pair *pair)
{
  ccl_test_remove_bus (pair->video->element);
  gst_harness_teardown (pair->mask);
  gst_harness_teardown (pair->video);
}

void
pair_push_segment (Pair *pair, guint64 start)
{
  ccl_test_push_segment (pair->video, start, 0);
  ccl_test_push_segment (pair->mask, start, 0);
}

void
pair_flush (Pair *pair)
{
  GstEvent *start = gst_event_new_flush_start (), *stop = gst_event_new_flush_stop (TRUE);

  gst_event_set_seqnum (stop, gst_event_get_seqnum (start));
  gst_harness_push_event (pair->mask, gst_event_ref (start));
  gst_harness_push_event (pair->video, start);
  gst_harness_push_event (pair->mask, gst_event_ref (stop));
  gst_harness_push_event (pair->video, stop);
}

void
pair_flush_mask (Pair *pair)
{
  gst_harness_push_event (pair->mask, gst_event_new_flush_start ());
  gst_harness_push_event (pair->mask, gst_event_new_flush_stop (TRUE));
  ccl_test_push_segment (pair->mask, 0, 0);
}

GstBuffer *
video_new (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, VIDEO_WIDTH * VIDEO_HEIGHT * 3 / 2, NULL);

  GST_BUFFER_PTS (buffer) = pts;

  return buffer;
}

GstBuffer *
empty_mask_new (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = pts;

  return buffer;
}

GstBuffer *
mask_new (GstClockTime pts, guint label)
{
  GstCclComponent component = { label, 8, 6, 4, 3, 12, 9.5, 7.0 };
  GstBuffer *buffer = empty_mask_new (pts);

  gst_buffer_add_ccl_meta (buffer, MASK_WIDTH, MASK_HEIGHT, 1, &component, 1);
  add_roi (buffer, "blob", 0, &component);

  return buffer;
}

GstBuffer *
zones_new (GstClockTime pts, guint number, guint n_events)
{
  GstBuffer *buffer = mask_new (pts, number);

  add_events (buffer, "gate", number, n_events);

  return buffer;
}

void
add_events (GstBuffer *buffer, const gchar *name, guint number, guint n_events)
{
  static gdouble points[] = { 0.0, MASK_HEIGHT / 2, MASK_WIDTH, MASK_HEIGHT / 2 };
  GstCclZone zone = { (gchar *) name, TRUE, 0, 2, points, number, 0, 0 };
  GstCclZoneEvent event = { GST_CCL_ZONE_IN, 0, number, 0, 16.0, 6.0, number, 0, 0, 0 };
  guint i;

  gst_buffer_add_ccl_zones_meta (buffer, MASK_WIDTH, MASK_HEIGHT, &zone, 1, NULL, 0);
  for (i = 0; i < n_events; i++) {
    GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);

    meta->events = g_renew (GstCclZoneEvent, meta->events, meta->n_events + 1);
    event.zone = meta->n_zones - 1;
    meta->events[meta->n_events++] = event;
  }
}

void
add_roi (GstBuffer *buffer, const gchar *type, gint id, const GstCclComponent *component)
{
  GstStructure *param = ccl_test_add_roi (buffer, type, id, component);

  gst_structure_set (param, "colour", G_TYPE_STRING, "red", NULL);
  gst_video_region_of_interest_meta_add_param (
      gst_buffer_get_video_region_of_interest_meta_id (buffer, id),
      gst_structure_new ("tracker", "id", G_TYPE_INT, 7, NULL));
}

guint
take_label (GstBuffer *buffer)
{
  GstCclMeta *meta;
  guint label;

  fail_unless (buffer != NULL, "no frame came");
  meta = gst_buffer_get_ccl_meta (buffer);
  label = meta ? meta->components[0].label : 0;
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), label != 0);
  gst_buffer_unref (buffer);

  return label;
}

guint
pair_pull_label (Pair *pair, GstClockTime pts)
{
  GstBuffer *buffer = gst_harness_pull (pair->video);

  fail_unless (buffer != NULL, "no frame came");
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), pts);

  return take_label (buffer);
}

GstBuffer *
pair_merge (Pair *pair, GstBuffer *mask, GstBuffer *video)
{
  fail_unless_equals_int (gst_harness_push (pair->mask, mask), GST_FLOW_OK);

  return gst_harness_push_and_pull (pair->video, video);
}

void
pair_push_video (Pair *pair, GstClockTime pts, guint label)
{
  gst_harness_push (pair->video, video_new (pts));
  fail_unless_equals_int (pair_pull_label (pair, pts), label);
}

void
pair_push_partners (Pair *pair, GstClockTime pts, guint label)
{
  gst_harness_push (pair->mask, mask_new (pts, label));
  pair_push_video (pair, pts, label);
}

static void
append_events (GString *text, const GstCclZonesMeta *meta)
{
  guint i;

  for (i = 0; i < meta->n_events; i++) {
    const GstCclZoneEvent *event = &meta->events[i];

    fail_unless_equals_int (event->type, GST_CCL_ZONE_IN);
    fail_unless_equals_string (meta->zones[event->zone].name, "gate");
    fail_unless_equals_float (event->x, 16.0 * VIDEO_WIDTH / MASK_WIDTH);
    fail_unless_equals_float (event->y, 6.0 * VIDEO_HEIGHT / MASK_HEIGHT);
    g_string_append_printf (text, "%c%u@%d", i > 0 ? ',' : ':', event->track,
                            (gint) (event->frame_age / (gint64) GST_MSECOND));
  }
}

void
append_frame (GString *text, GstBuffer *buffer)
{
  const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);
  const GstCclMeta *components = gst_buffer_get_ccl_meta (buffer);
  guint label = components ? components->components[0].label : 0;

  g_string_append_printf (text, "%s%u", text->len > 0 ? " " : "", label);
  if (!zones)
    return;

  fail_unless (zones->width == VIDEO_WIDTH && zones->height == VIDEO_HEIGHT);
  fail_unless_equals_int (zones->n_zones, 1);
  fail_unless_equals_float (zones->zones[0].points[2], VIDEO_WIDTH);
  fail_unless_equals_float (zones->zones[0].points[3], VIDEO_HEIGHT / 2);
  append_events (text, zones);
}

void
pair_wait_for_end (Pair *pair)
{
  gint64 deadline = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  GstPad *pad = gst_element_get_static_pad (pair->video->element, "src");

  while (gst_pad_get_task_state (pad) == GST_TASK_STARTED) {
    fail_unless (g_get_monotonic_time () < deadline, "the output does not end");
    g_usleep (100);
  }
  gst_object_unref (pad);
}

void
pair_branch_parse (PairBranch *branch, const gchar *text)
{
  gchar *end;

  for (branch->n = 0; *text; branch->n++) {
    PairItem *item = &branch->items[branch->n];

    item->time = (guint) g_ascii_strtoull (text, &end, 10);
    item->gap = *end == '+' ? (guint) g_ascii_strtoull (end + 1, &end, 10) : 0;
    item->n_events = (guint) strspn (end, "!");
    text = end + item->n_events;
    text += *text == ' ';
  }
}

typedef struct
{
  GstHarness *h;
  const PairBranch *branch;
  gboolean is_mask;
} Feed;

/* Runs in a thread: must not assert. */
static gpointer
feed (gpointer data)
{
  const Feed *self = data;
  guint i, number = 0;

  for (i = 0; i < self->branch->n; i++) {
    const PairItem *item = &self->branch->items[i];
    GstClockTime time = item->time * GST_MSECOND;

    if (item->gap > 0)
      gst_harness_push_event (self->h, gst_event_new_gap (time, item->gap * GST_MSECOND));
    else
      gst_harness_push (self->h, self->is_mask ? zones_new (time, ++number, item->n_events)
                                               : video_new (time));
  }
  gst_harness_push_event (self->h, gst_event_new_eos ());

  return NULL;
}

gchar *
pair_run (Pair *pair, const PairBranch *video, const PairBranch *mask)
{
  Feed feeds[2] = { { pair->video, video, FALSE }, { pair->mask, mask, TRUE } };
  GString *text = g_string_new (NULL);
  GThread *threads[2];
  guint i;

  for (i = 0; i < 2; i++)
    threads[i] = g_thread_new (NULL, feed, &feeds[i]);
  for (i = 0; i < video->n; i++) {
    GstBuffer *buffer = gst_harness_pull (pair->video);
    const GstCclZonesMeta *zones;
    guint64 count;
    guint label;

    fail_unless (buffer != NULL, "no frame came");
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), video->items[i].time * GST_MSECOND);
    append_frame (text, buffer);
    zones = gst_buffer_get_ccl_zones_meta (buffer);
    count = zones ? zones->zones[0].in : 0;
    label = take_label (buffer);
    fail_unless (label == 0 || count == label, "the count is that of frame %" G_GUINT64_FORMAT,
                 count);
  }
  for (i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  pair_wait_for_end (pair);
  fail_if (gst_harness_try_pull (pair->video));

  return g_string_free (text, FALSE);
}
