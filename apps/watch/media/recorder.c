/* cudaccl-watch - clips from a ring of encoded frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/media/recorder.h"

/* Longest clip, from the pre-roll of its first event. */
#define MAX_CLIP (300 * G_USEC_PER_SEC)
#define MAX_ROLL (60 * G_USEC_PER_SEC)
/* Most clips at a time: one that events extend, and others that wait for their end. */
#define MAX_CLIPS 4
/* Events arrive some time after their frame. */
#define LATENCY (3 * G_USEC_PER_SEC)
/* Jumps of time that end a clip; a shorter gap is shown as a still picture. */
#define MAX_GAP (10 * G_USEC_PER_SEC)
#define MAX_STEP_BACK (5 * G_USEC_PER_SEC)

typedef struct
{
  GstBuffer *buffer; /* with a valid PTS */
  gint64 time;
} Frame;

typedef struct
{
  WatchWriting *writing;
  gint64 first;         /* time of the first frame */
  GstClockTime leading; /* PTS of the first frame, until one is later */
  gint64 begin;         /* start of the pre-roll */
  gint64 end;           /* end of the post-roll */
  gint64 over;          /* time of the first frame after `end`, or 0 */
} Clip;

struct _WatchRecorder
{
  WatchMedia *media;
  gchar *camera;
  gint64 pre_roll, post_roll; /* in microseconds */
  guint64 ring_bytes;

  GMutex lock;
  GstCaps *caps;
  GQueue ring; /* Frame; the first is a key frame */
  GQueue keys; /* links of `ring`'s key frames */
  guint64 bytes;
  GQueue clips; /* Clip; the newest last */
  gboolean started;
  gint64 time, pts; /* largest values since the last jump, in microseconds */
};

static gboolean
is_key (const Frame *frame)
{
  return !GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_DELTA_UNIT);
}

/* --- Ring --- */

/* Drops the oldest group of pictures. */
static void
drop_group (WatchRecorder *self)
{
  g_queue_pop_head (&self->keys);
  do {
    Frame *frame = g_queue_pop_head (&self->ring);

    self->bytes -= gst_buffer_get_size (frame->buffer);
    gst_buffer_unref (frame->buffer);
    g_free (frame);
  } while (self->ring.head != (self->keys.head ? self->keys.head->data : NULL));
}

/* Takes the buffer of @frame. */
static void
add_to_ring (WatchRecorder *self, const Frame *frame)
{
  if (!self->ring.head && !is_key (frame)) {
    gst_buffer_unref (frame->buffer);
    return;
  }
  g_queue_push_tail (&self->ring, g_memdup2 (frame, sizeof (*frame)));
  if (is_key (frame))
    g_queue_push_tail (&self->keys, self->ring.tail);
  self->bytes += gst_buffer_get_size (frame->buffer);

  while (self->keys.length > 1) {
    const GList *second = self->keys.head->next->data;

    if (self->bytes <= self->ring_bytes &&
        ((Frame *) second->data)->time > self->time - self->pre_roll - LATENCY)
      return;
    drop_group (self);
  }
  if (self->bytes > self->ring_bytes) {
    drop_group (self);
    watch_media_take_error (
        self->media, web_reason_new (WEB_REASON_MEDIA_TOO_LARGE, "camera", self->camera, NULL));
  }
}

/* --- Clips --- */

static void
end_clip (WatchRecorder *self, Clip *clip)
{
  g_queue_remove (&self->clips, clip);
  watch_media_end_clip (self->media, clip->writing);
  g_free (clip);
}

/* Appends the frame, or ends the clip. */
static void
feed (WatchRecorder *self, Clip *clip, const Frame *frame)
{
  if (frame->time > clip->end) {
    /* Earlier frames may need the first frame after the end, in decoding order. */
    if (is_key (frame) || (clip->over && frame->time > clip->over)) {
      end_clip (self, clip);
      return;
    }
    if (!clip->over)
      clip->over = frame->time;
  }
  /* Pictures between the first key frame and the one before it need both. */
  if (GST_CLOCK_TIME_IS_VALID (clip->leading)) {
    if (GST_BUFFER_PTS (frame->buffer) < clip->leading)
      return;
    if (GST_BUFFER_PTS (frame->buffer) > clip->leading)
      clip->leading = GST_CLOCK_TIME_NONE;
  }
  if (!watch_media_add_frame (self->media, clip->writing, frame->buffer))
    end_clip (self, clip);
}

static void
reset (WatchRecorder *self)
{
  while (self->clips.head)
    end_clip (self, self->clips.head->data);
  while (self->ring.head)
    drop_group (self);
  self->started = FALSE;
}

static gboolean
is_jump (gint64 value, gint64 last)
{
  return value < last - MAX_STEP_BACK || value > last + MAX_GAP;
}

WatchRecorder *
watch_recorder_new (WatchMedia *media, const gchar *camera, GstClockTime pre_roll,
                    GstClockTime post_roll, guint64 ring_bytes)
{
  WatchRecorder *self = g_new0 (WatchRecorder, 1);

  self->media = watch_media_ref (media);
  self->camera = g_strdup (camera);
  self->pre_roll = MIN ((gint64) GST_TIME_AS_USECONDS (pre_roll), MAX_ROLL);
  self->post_roll = MIN ((gint64) GST_TIME_AS_USECONDS (post_roll), MAX_ROLL);
  self->ring_bytes = ring_bytes;
  g_mutex_init (&self->lock);
  return self;
}

void
watch_recorder_free (WatchRecorder *self)
{
  reset (self);
  gst_clear_caps (&self->caps);
  watch_media_unref (self->media);
  g_mutex_clear (&self->lock);
  g_free (self->camera);
  g_free (self);
}

void
watch_recorder_add (WatchRecorder *self, GstBuffer *buffer, GstCaps *caps, gint64 time)
{
  Frame frame = { .time = time };
  gpointer data;
  gsize size;
  gint64 pts;

  if (!gst_buffer_get_size (buffer))
    return;
  /* A copy frees the source's memory, which may be a small pool or packets in much larger
   * blocks. */
  gst_buffer_extract_dup (buffer, 0, -1, &data, &size);
  frame.buffer = gst_buffer_new_wrapped (data, size);
  GST_BUFFER_FLAGS (frame.buffer) = GST_BUFFER_FLAGS (buffer) & GST_BUFFER_FLAG_DELTA_UNIT;

  g_mutex_lock (&self->lock);
  if (!self->caps || !gst_caps_is_equal (self->caps, caps)) {
    reset (self);
    gst_caps_replace (&self->caps, caps);
  }
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    pts = GST_TIME_AS_USECONDS (GST_BUFFER_PTS (buffer));
  else
    pts = self->started ? self->pts + MAX (time - self->time, 1000) : 0;
  if (self->started && (is_jump (pts, self->pts) || is_jump (time, self->time)))
    reset (self);
  self->pts = self->started ? MAX (pts, self->pts) : pts;
  self->time = self->started ? MAX (time, self->time) : time;
  self->started = TRUE;
  GST_BUFFER_PTS (frame.buffer) = pts * GST_USECOND;
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    GST_BUFFER_PTS (frame.buffer) = GST_BUFFER_PTS (buffer);

  for (GList *item = self->clips.head, *next; item; item = next) {
    next = item->next;
    feed (self, item->data, &frame);
  }
  add_to_ring (self, &frame);
  g_mutex_unlock (&self->lock);
}

/* Begins a clip with the last key frame before @begin, or the first one. */
static gchar *
begin_clip (WatchRecorder *self, gint64 time, guint64 number)
{
  const gint64 begin = time - self->pre_roll;
  GList *key = self->keys.tail, *frame;
  g_autofree gchar *name = NULL;
  Clip *clip;

  while (key->prev && ((Frame *) ((GList *) key->data)->data)->time > begin)
    key = key->prev;
  frame = key->data;
  clip = g_new0 (Clip, 1);
  clip->writing = watch_media_begin_clip (self->media, self->camera, time, number, self->caps,
                                          self->post_roll + MAX_GAP);
  if (!clip->writing) {
    g_free (clip);
    return NULL;
  }
  name = g_strdup (watch_writing_get_name (clip->writing));
  clip->first = ((Frame *) frame->data)->time;
  clip->leading = GST_BUFFER_PTS (((Frame *) frame->data)->buffer);
  clip->begin = begin;
  clip->end = time + self->post_roll;
  g_queue_push_tail (&self->clips, clip);
  for (; frame && g_queue_peek_tail (&self->clips) == clip; frame = frame->next)
    feed (self, clip, frame->data);
  return g_steal_pointer (&name);
}

gchar *
watch_recorder_trigger (WatchRecorder *self, gint64 time, guint64 number)
{
  const gint64 end = time + self->post_roll;
  gchar *name = NULL;
  Clip *clip;

  g_mutex_lock (&self->lock);
  clip = g_queue_peek_tail (&self->clips);
  if (clip && watch_writing_has_ended (clip->writing)) {
    end_clip (self, clip);
    clip = NULL;
  }
  if (clip && end <= MAX (clip->end, clip->begin + MAX_CLIP) &&
      (time >= clip->first || self->clips.length >= MAX_CLIPS)) {
    if (end > clip->end) {
      clip->end = end;
      clip->over = 0;
    }
    name = g_strdup (watch_writing_get_name (clip->writing));
  } else if (self->ring.head && self->time >= time - self->pre_roll) {
    name = begin_clip (self, time, number);
  }
  g_mutex_unlock (&self->lock);
  return name;
}
