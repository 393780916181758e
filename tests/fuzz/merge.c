/* cudaccl - fuzzing: cclmerge with hostile streams
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two streams of frames, gaps, segments, caps and flushes in any order with any times, from two
 * threads. Both end, and then so must the output. */

#include "tests/fuzz/elements.h"
#include "tests/fuzz/metas.h"

#define MOST_ITEMS 16
#define ALTERNATE                                                                    \
  "video/x-raw(format:Interlaced),format=(string)NV12,width=(int)16,height=(int)16," \
  "interlace-mode=(string)alternate,framerate=(fraction)25/1"

typedef struct
{
  GstPad *pad;
  GPtrArray *items;       /* GstMiniObject */
  gboolean pushed, ended; /* all items; the last one, EOS, was accepted */
} Stream;

/* Queries for the caps of a pad without template use its current caps without a reference. */
static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GMutex lock;
static GCond cond;
static gboolean ended; /* the output */

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_gst_init ();

  return 0;
}

static GstFlowReturn
take_frame (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);
  guint i;

  fuzz_check (!meta || meta->n_components <= meta->found, "more components than found");
  for (i = 0; zones && i < zones->n_events; i++)
    fuzz_check (zones->events[i].zone < zones->n_zones, "an event of no zone");
  gst_buffer_unref (buffer);

  return GST_FLOW_OK;
}

static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    g_mutex_lock (&lock);
    ended = TRUE;
    g_cond_signal (&cond);
    g_mutex_unlock (&lock);
  }
  gst_event_unref (event);

  return TRUE;
}

static GstCaps *
draw_caps (FuzzInput *input, GstVideoInfo *info)
{
  static const gchar *const hostile[] = {
    "video/x-raw",
    "video/x-raw,format=(string)GRAY8,width=(int)0,height=(int)0",
    (ALTERNATE),
    "video/x-raw(memory:CUDAMemory),format=(string)NV12,width=(int)16,height=(int)16",
    "video/x-raw,format=(string)GRAY8,width=(int)2147483647,height=(int)2147483647",
    "video/x-raw,format=(string)GRAY8,width=(int)16,height=(int)16,framerate=(fraction)2147483647/"
    "1",
    "video/x-raw,format=(string)GRAY8,width=(int)16,height=(int)16,framerate=(fraction)1/"
    "2147483647",
  };
  GstCaps *caps;

  gst_video_info_set_format (info, GST_VIDEO_FORMAT_GRAY8, 1 + fuzz_below (input, 60),
                             1 + fuzz_below (input, 40));
  info->fps_n = 25;
  if (!fuzz_one_in (input, 4))
    return gst_video_info_to_caps (info);
  caps = gst_caps_from_string (hostile[fuzz_below (input, G_N_ELEMENTS (hostile))]);

  return caps;
}

/* GstAggregator itself cannot do without a segment in time format. */
static GstEvent *
draw_segment (FuzzInput *input)
{
  GstSegment segment;

  fuzz_segment (input, &segment);
  if (segment.format != GST_FORMAT_TIME)
    gst_segment_init (&segment, GST_FORMAT_TIME);

  return gst_event_new_segment (&segment);
}

/* A stream has either gaps or flushes: GstAggregator itself clips gaps with the segment that a
 * flush has just cleared. */
static void
add_item (FuzzInput *input, GPtrArray *items, GstVideoInfo *info, gboolean flushes, guint index)
{
  GstSegment segment;
  GstClockTime time;
  GstBuffer *buffer;
  GstCaps *caps;

  switch (fuzz_below (input, 12)) {
  case 0:
    caps = draw_caps (input, info);
    g_ptr_array_add (items, gst_event_new_caps (caps));
    gst_caps_unref (caps);
    return;
  case 1:
    g_ptr_array_add (items, draw_segment (input));
    return;
  case 2:
    time = fuzz_one_in (input, 2) ? fuzz_hostile_u64 (input) : index * (GST_SECOND / 25);
    if (!flushes && time != GST_CLOCK_TIME_NONE)
      g_ptr_array_add (items, gst_event_new_gap (time, fuzz_hostile_u64 (input)));
    return;
  case 3:
    if (flushes) {
      g_ptr_array_add (items, gst_event_new_flush_start ());
      g_ptr_array_add (items, gst_event_new_flush_stop (TRUE));
      gst_segment_init (&segment, GST_FORMAT_TIME);
      g_ptr_array_add (items, gst_event_new_segment (&segment));
      return;
    }
    g_ptr_array_add (items, gst_event_new_tag (gst_tag_list_new_empty ()));
    return;
  default:
    buffer = fuzz_frame (input, info, FUZZ_METAS_HOSTILE);
    fuzz_times (input, buffer, index);
    g_ptr_array_add (items, buffer);
  }
}

/* Events and buffers of a stream, from its start to its end. */
static GPtrArray *
draw_items (FuzzInput *input, const gchar *id)
{
  GPtrArray *items = g_ptr_array_new ();
  guint n = fuzz_below (input, MOST_ITEMS + 1), i;
  gboolean flushes = fuzz_one_in (input, 3);
  GstVideoInfo info;
  GstCaps *caps = draw_caps (input, &info);

  g_ptr_array_add (items, gst_event_new_stream_start (id));
  if (!fuzz_one_in (input, 16))
    g_ptr_array_add (items, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  g_ptr_array_add (items, draw_segment (input));
  for (i = 0; i < n; i++)
    add_item (input, items, &info, flushes, i);
  g_ptr_array_add (items, gst_event_new_eos ());

  return items;
}

static gpointer
push_items (gpointer data)
{
  Stream *stream = data;
  gboolean pushed = TRUE;
  guint i;

  for (i = 0; i < stream->items->len; i++) {
    GstMiniObject *item = g_ptr_array_index (stream->items, i);

    if (GST_IS_BUFFER (item))
      gst_pad_push (stream->pad, GST_BUFFER (item));
    else
      pushed = gst_pad_push_event (stream->pad, GST_EVENT (item));
  }

  g_mutex_lock (&lock);
  stream->pushed = TRUE;
  stream->ended = pushed; /* EOS */
  g_cond_signal (&cond);
  g_mutex_unlock (&lock);

  return NULL;
}

static GstPad *
link_input (GstElement *merge, const gchar *name)
{
  GstPad *pad = gst_element_get_static_pad (merge, name);
  GstPad *src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));

  if (!pad)
    pad = gst_element_request_pad_simple (merge, name);
  fuzz_check (gst_pad_link (src, pad) == GST_PAD_LINK_OK, "cannot link");
  gst_pad_set_active (src, TRUE);
  gst_object_unref (pad);

  return src;
}

static void
unlink_input (GstPad *src)
{
  GstPad *pad = gst_pad_get_peer (src);

  gst_pad_set_active (src, FALSE);
  gst_pad_unlink (src, pad);
  gst_object_unref (pad);
  gst_object_unref (src);
}

/* Waits until both streams have pushed all items and the output has ended, if both were accepted.
 * After an error or its own end, GstAggregator pauses its task, and a flush of one stream alone
 * does not start it again: what that stream pushes then waits for a change of state. */
static void
wait_for_end (const Stream *video, const Stream *components, GstPad *srcpad)
{
  gint64 deadline = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&lock);
  while (!video->pushed || !components->pushed || (video->ended && components->ended && !ended)) {
    if (gst_pad_get_task_state (srcpad) != GST_TASK_STARTED)
      break;
    fuzz_check (g_get_monotonic_time () < deadline, "%s",
                video->pushed && components->pushed ? "the output does not end"
                                                    : "a stream is blocked");
    g_cond_wait_until (&cond, &lock, g_get_monotonic_time () + 5 * G_TIME_SPAN_MILLISECOND);
  }
  g_mutex_unlock (&lock);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  GstElement *merge = gst_object_ref_sink (gst_element_factory_make ("cclmerge", NULL));
  GstPad *srcpad = gst_element_get_static_pad (merge, "src");
  GstPad *sink = gst_object_ref_sink (gst_pad_new_from_static_template (&sink_template, "sink"));
  Stream video = { NULL }, components = { NULL };
  GThread *threads[2];

  if (fuzz_one_in (&input, 3))
    g_object_set (merge, "tolerance", fuzz_hostile_u64 (&input), NULL);
  video.items = draw_items (&input, "video");
  components.items = draw_items (&input, "components");

  ended = FALSE;
  gst_pad_set_chain_function (sink, take_frame);
  gst_pad_set_event_function (sink, take_event);
  fuzz_check (gst_pad_link (srcpad, sink) == GST_PAD_LINK_OK, "cannot link");
  gst_pad_set_active (sink, TRUE);
  video.pad = link_input (merge, "video");
  components.pad = link_input (merge, "components");
  fuzz_check (gst_element_set_state (merge, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE,
              "cclmerge does not start");

  threads[0] = g_thread_new ("video", push_items, &video);
  threads[1] = g_thread_new ("components", push_items, &components);
  wait_for_end (&video, &components, srcpad);

  gst_element_set_state (merge, GST_STATE_NULL);
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  unlink_input (video.pad);
  unlink_input (components.pad);
  gst_pad_set_active (sink, FALSE);
  gst_pad_unlink (srcpad, sink);
  gst_object_unref (sink);
  gst_object_unref (srcpad);
  gst_object_unref (merge);
  g_ptr_array_unref (video.items);
  g_ptr_array_unref (components.items);

  return 0;
}
