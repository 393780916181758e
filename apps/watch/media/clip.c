/* cudaccl-watch - an MP4 file from encoded frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The file is fragmented until it is finished: whatever happens to the process, all but the last
 * second plays. mp4mux then hides the fragments behind one index, so that players can seek.
 *
 * Cameras over RTP give presentation times only, and DTS that are times of arrival. Decoding times
 * are made from the presentation times: the n-th frame is decoded at the n-th smallest PTS, and all
 * are presented later by as much as the worst of them needs. */

#include "apps/watch/media/clip.h"

#include <errno.h>
#include <fcntl.h>
#include <gst/base/base.h>
#include <string.h>
#include <unistd.h>

/* Most frames decoded before one that is presented earlier; both standards allow 16. */
#define MAX_REORDER 16
/* Shortest time between two frames: MP4 forbids durations of 0. */
#define MIN_DURATION GST_MSECOND
/* Patience with the muxer at the end of a file. */
#define FINISH_TIMEOUT (30 * GST_SECOND)

/* A buffered filesink goes on after errors, and leaves holes. */
#define WRITE                                                                                    \
  " ! mp4mux trak-timescale=90000 fragment-duration=1000 fragment-mode=first-moov-then-finalise" \
  " ! filesink name=sink async=false buffer-mode=unbuffered"

struct _WatchClip
{
  GstElement *pipeline;
  GstPad *pad;   /* pushes into the pipeline */
  GQueue held;   /* the latest frames, in decoding order */
  GArray *times; /* their PTS, in order of time */
  gboolean started;
  GstClockTime base;          /* DTS of the first frame */
  GstClockTime shift;         /* of presentation against decoding */
  GstClockTime dts, duration; /* of the last frame */
};

/* GStreamer has what the system says for developers only. */
static void
parse_error (GstMessage *message, GError **error)
{
  g_autofree gchar *debug = NULL;
  g_autoptr (GError) failure = NULL;
  const gchar *detail, *reason;

  gst_message_parse_error (message, &failure, &debug);
  detail = debug ? strrchr (debug, '\n') : NULL;
  reason = detail ? g_strrstr (detail, ": ") : NULL;
  if (failure->domain == GST_RESOURCE_ERROR && reason)
    g_set_error (error, failure->domain, failure->code, "%s %s", failure->message, reason + 2);
  else
    g_propagate_error (error, g_steal_pointer (&failure));
}

static void
set_error (WatchClip *self, GstFlowReturn flow, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  if (message)
    parse_error (message, error);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_MUX, "the muxer returned %s",
                 gst_flow_get_name (flow));
}

WatchClip *
watch_clip_new (const gchar *path, GstCaps *caps, GError **error)
{
  g_autoptr (GstElement) pipeline = NULL, parse = NULL, sink = NULL;
  g_autoptr (GstPad) sink_pad = NULL;
  const gchar *format = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  const gchar *description;
  WatchClip *self;
  GstSegment segment;

  /* hvc1 is the only form of H.265 that Safari plays. */
  if (g_str_equal (format, "video/x-h264")) {
    description = "h264parse name=parse ! video/x-h264,stream-format=avc,alignment=au" WRITE;
  } else if (g_str_equal (format, "video/x-h265")) {
    description = "h265parse name=parse ! video/x-h265,stream-format=hvc1,alignment=au" WRITE;
  } else {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                 "%s cannot be recorded: set the camera to H.264 or H.265", format);
    return NULL;
  }
  pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  if (!pipeline)
    return NULL;
  gst_object_ref_sink (pipeline);
  parse = gst_bin_get_by_name (GST_BIN (pipeline), "parse");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (sink, "location", path, NULL);

  self = g_new0 (WatchClip, 1);
  self->pipeline = g_steal_pointer (&pipeline);
  self->pad = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  self->times = g_array_new (FALSE, FALSE, sizeof (GstClockTime));
  sink_pad = gst_element_get_static_pad (parse, "sink");
  gst_pad_link (self->pad, sink_pad);
  gst_pad_set_active (self->pad, TRUE);
  if (gst_element_set_state (self->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    set_error (self, GST_FLOW_ERROR, error);
    watch_clip_abort (self);
    return NULL;
  }
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (self->pad, gst_event_new_stream_start ("clip"));
  gst_pad_push_event (self->pad, gst_event_new_caps (caps));
  gst_pad_push_event (self->pad, gst_event_new_segment (&segment));
  return self;
}

static void
start (WatchClip *self)
{
  guint i = 0;

  for (GList *item = self->held.head; item; item = item->next, i++) {
    const GstClockTime time = g_array_index (self->times, GstClockTime, i);

    if (time > GST_BUFFER_PTS (item->data))
      self->shift = MAX (self->shift, time - GST_BUFFER_PTS (item->data));
  }
  self->base = g_array_index (self->times, GstClockTime, 0);
  self->started = TRUE;
}

/* Passes the oldest held frame to the muxer. */
static gboolean
push (WatchClip *self, GError **error)
{
  g_autoptr (GstBuffer) buffer = NULL;
  const gboolean first = !self->started;
  GstClockTime time, dts, pts;
  GstFlowReturn flow;

  if (first)
    start (self);
  buffer = g_queue_pop_head (&self->held);
  time = g_array_index (self->times, GstClockTime, 0);
  g_array_remove_index (self->times, 0);
  dts = time > self->base ? time - self->base : 0;
  if (!first)
    dts = MAX (dts, self->dts + MIN_DURATION);
  pts = GST_BUFFER_PTS (buffer) + self->shift;
  pts = pts > self->base + dts ? pts - self->base : dts;
  if (self->times->len)
    self->duration = MAX (g_array_index (self->times, GstClockTime, 0) - time, MIN_DURATION);
  self->dts = dts;

  /* Others hold references to the frame, too. */
  buffer = gst_buffer_make_writable (g_steal_pointer (&buffer));
  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DTS (buffer) = dts;
  GST_BUFFER_DURATION (buffer) = self->duration;
  flow = gst_pad_push (self->pad, g_steal_pointer (&buffer));
  if (flow == GST_FLOW_OK)
    return TRUE;
  set_error (self, flow, error);
  return FALSE;
}

gboolean
watch_clip_add (WatchClip *self, GstBuffer *buffer, GError **error)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer);
  guint i = self->times->len;

  while (i && g_array_index (self->times, GstClockTime, i - 1) > pts)
    i--;
  g_array_insert_val (self->times, i, pts);
  g_queue_push_tail (&self->held, gst_buffer_ref (buffer));
  return self->held.length <= MAX_REORDER || push (self, error);
}

gboolean
watch_clip_finish (WatchClip *self, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  g_autoptr (GstMessage) message = NULL;
  gboolean ok = TRUE;

  while (ok && self->held.length)
    ok = push (self, error);
  if (ok) {
    gst_pad_push_event (self->pad, gst_event_new_eos ());
    message = gst_bus_timed_pop_filtered (bus, FINISH_TIMEOUT, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    ok = message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (message && !ok)
      parse_error (message, error);
    else if (!message)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "the disk is too slow");
  }
  watch_clip_abort (self);
  return ok;
}

void
watch_clip_abort (WatchClip *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_pad_set_active (self->pad, FALSE);
  g_queue_clear_full (&self->held, (GDestroyNotify) gst_buffer_unref);
  g_array_unref (self->times);
  gst_object_unref (self->pad);
  gst_object_unref (self->pipeline);
  g_free (self);
}

/* --- Files that were not finished --- */

gboolean
watch_clip_repair (const gchar *path)
{
  const int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  guint64 offset = 0, complete = 0;
  gboolean indexed = FALSE, ok;
  guint8 header[16];
  off_t size;

  if (fd < 0)
    return FALSE;
  size = lseek (fd, 0, SEEK_END);
  /* Boxes: a fragment's data comes before its moof. */
  while (pread (fd, header, sizeof (header), offset) >= 8) {
    guint64 length = GST_READ_UINT32_BE (header);

    if (length == 1)
      length = GST_READ_UINT64_BE (header + 8);
    if (length < 8 || length > size - offset)
      break;
    offset += length;
    if (!memcmp (header + 4, "moov", 4))
      indexed = TRUE;
    if (indexed && (!memcmp (header + 4, "moov", 4) || !memcmp (header + 4, "moof", 4)))
      complete = offset;
  }
  ok = indexed && (complete == (guint64) size || ftruncate (fd, complete) == 0);
  close (fd);
  return ok;
}
