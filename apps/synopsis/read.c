/* cudaccl-watch - cuts objects out of recordings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/synopsis/private.h"

#include <errno.h>
#include <gst/app/gstappsink.h>
#include <gst/ccl/gstccl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Each frame arrives twice: as it is, and as a mask with tracks. */
#define PIPELINE                                                                                  \
  "filesrc name=source ! decodebin name=decoder expose-all-streams=false "                        \
  "! videorate drop-only=true max-rate=" G_STRINGIFY (                                            \
      WATCH_SYNOPSIS_RATE) " ! videoconvert "                                                     \
                           "! videoscale add-borders=true ! capsfilter name=size ! tee name=tee " \
                           "tee. ! queue max-size-buffers=4 ! appsink name=frames sync=false "    \
                           "max-buffers=2 "                                                       \
                           "tee. ! queue max-size-buffers=4 ! cclmask ! ccltrack ! appsink "      \
                           "name=masks sync=false "                                               \
                           "max-buffers=2"

#define MAX_FILE_SIZE (G_GUINT64_CONSTANT (4) << 30)
/* Disk space that is left to the database. */
#define MIN_FREE (G_GUINT64_CONSTANT (256) << 20)
/* Bytes of cut-outs between checks of the disk. */
#define CHECK_SIZE (G_GUINT64_CONSTANT (16) << 20)
/* Longer tracks are split. */
#define MAX_TUBE_TIME (12 * G_TIME_SPAN_SECOND)
#define MIN_TUBE_TIME (G_TIME_SPAN_SECOND / 2)
/* So are tracks without pixels for longer than this. */
#define MAX_GAP (G_TIME_SPAN_SECOND / 2)
/* Least share of foreground in a box. */
#define MIN_FILL 0.1
#define MARGIN 2
/* Frames between samples of the background, and time that one background covers. */
#define BACKGROUND_STEP 3
#define BACKGROUND_TIME (10 * G_TIME_SPAN_MINUTE)
#define MAX_BACKGROUNDS 64

typedef struct
{
  WatchScenes *scenes;
  const WatchRecording *recording;
  GHashTable *open; /* track to WatchTube, of tracks that have not ended */
  GstVideoInfo info;
  guint n_frames;

  /* Sum and number of the background samples of each pixel, I420. */
  guint32 *sums;
  guint16 *counts;
  guint8 *last; /* frame */
  gint64 background_begin;
} Reader;

static void
tube_free (WatchTube *tube)
{
  g_array_unref (tube->cuts);
  g_free (tube);
}

static void
scenes_add (WatchScenes *self, WatchTube *tube)
{
  /* There is none where the first cut-out could not be written. */
  if (tube->cuts->len == 0 ||
      g_array_index (tube->cuts, WatchCut, tube->cuts->len - 1).time < MIN_TUBE_TIME)
    tube_free (tube);
  else
    g_ptr_array_add (self->tubes, tube);
}

/* --- Backgrounds --- */

static gsize
get_frame_size (const WatchScenes *scenes)
{
  return (gsize) scenes->width * scenes->height * 3 / 2;
}

static void
end_background (Reader *self, gint64 time)
{
  GArray *backgrounds = self->scenes->backgrounds;
  gsize size = get_frame_size (self->scenes);
  WatchBackground background = { (self->background_begin + time) / 2, g_malloc (size) };

  for (gsize i = 0; i < size; i++)
    background.data[i] =
        self->counts[i] ? (self->sums[i] + self->counts[i] / 2) / self->counts[i] : self->last[i];
  memset (self->sums, 0, size * sizeof (*self->sums));
  memset (self->counts, 0, size * sizeof (*self->counts));
  self->background_begin = time;
  if (backgrounds->len == MAX_BACKGROUNDS) {
    /* Keep every other one. */
    for (guint i = MAX_BACKGROUNDS - 1; i < MAX_BACKGROUNDS; i -= 2)
      g_array_remove_index (backgrounds, i);
  }
  g_array_append_val (backgrounds, background);
}

static void
add_plane (Reader *self, const GstVideoFrame *frame, const GstVideoFrame *mask, guint plane,
           gsize offset)
{
  guint step = plane ? 2 : 1;
  guint width = self->scenes->width / step, height = self->scenes->height / step;

  for (guint y = 0; y < height; y++) {
    const guint8 *pixels = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, plane) +
                           y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
    const guint8 *bits = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (mask, 0) +
                         y * step * GST_VIDEO_FRAME_PLANE_STRIDE (mask, 0);
    gsize row = offset + (gsize) y * width;

    memcpy (self->last + row, pixels, width);
    for (guint x = 0; x < width; x++) {
      if (!bits[x * step] && self->counts[row + x] < G_MAXUINT16) {
        self->sums[row + x] += pixels[x];
        self->counts[row + x]++;
      }
    }
  }
}

static void
add_background (Reader *self, const GstVideoFrame *frame, const GstVideoFrame *mask, gint64 time)
{
  gsize size = (gsize) self->scenes->width * self->scenes->height;

  if (time - self->background_begin >= BACKGROUND_TIME)
    end_background (self, time);
  for (guint plane = 0; plane < 3; plane++)
    add_plane (self, frame, mask, plane, plane ? size + (plane - 1) * size / 4 : 0);
}

/* --- Objects --- */

/* Alpha of a pixel is the share of its neighbourhood that is foreground, which smooths edges.
 * Returns the number of foreground pixels. */
static guint
get_alpha (const WatchCut *cut, const GstVideoFrame *mask, guint8 *alpha)
{
  const guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (mask, 0);
  gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (mask, 0);
  gint width = GST_VIDEO_FRAME_WIDTH (mask), height = GST_VIDEO_FRAME_HEIGHT (mask);
  guint n = 0;

  for (gint y = cut->y; y < cut->y + cut->height; y++) {
    for (gint x = cut->x; x < cut->x + cut->width; x++) {
      guint sum = 0;

      for (gint v = MAX (y - 1, 0); v <= MIN (y + 1, height - 1); v++) {
        for (gint u = MAX (x - 1, 0); u <= MIN (x + 1, width - 1); u++)
          sum += data[v * stride + u] == 255;
      }
      n += data[y * stride + x] == 255;
      *alpha++ = MIN (sum * 42, 255);
    }
  }
  return n;
}

static void
copy_plane (const GstVideoFrame *frame, guint plane, guint x, guint y, guint width, guint height,
            guint8 **to)
{
  const guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (frame, plane);

  for (guint i = 0; i < height; i++, *to += width)
    memcpy (*to, data + (y + i) * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane) + x, width);
}

static gboolean
check_space (const WatchScenes *scenes, GError **error)
{
  struct statvfs info;

  if (fstatvfs (scenes->file, &info) != 0 || (guint64) info.f_bavail * info.f_frsize >= MIN_FREE)
    return TRUE;
  g_propagate_error (error, web_reason_to_error (web_reason_new (WEB_REASON_SYNOPSIS_FULL, NULL)));
  return FALSE;
}

/* Appends the cut-out to the file. */
static gboolean
write_cut (Reader *self, WatchCut *cut, const GstVideoFrame *frame, const guint8 *alpha,
           GError **error)
{
  gsize size = watch_cut_get_size (cut), done = 0;
  g_autofree guint8 *data = g_malloc (size);
  guint8 *to = data;

  copy_plane (frame, 0, cut->x, cut->y, cut->width, cut->height, &to);
  for (guint plane = 1; plane < 3; plane++)
    copy_plane (frame, plane, cut->x / 2, cut->y / 2, cut->width / 2, cut->height / 2, &to);
  memcpy (to, alpha, (gsize) cut->width * cut->height);
  cut->offset = self->scenes->size;
  if (cut->offset / CHECK_SIZE != (cut->offset + size) / CHECK_SIZE &&
      !check_space (self->scenes, error))
    return FALSE;
  while (done < size) {
    gssize n = pwrite (self->scenes->file, data + done, size - done, cut->offset + done);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
                   "Cannot keep the objects that were cut out: %s", g_strerror (errno));
      return FALSE;
    }
    done += n;
  }
  self->scenes->size += size;
  return TRUE;
}

static gboolean
add_object (Reader *self, const GstCclMeta *meta, const GstCclComponent *component,
            const GstVideoFrame *frame, const GstVideoFrame *mask, gint64 time, GError **error)
{
  guint width = self->scenes->width, height = self->scenes->height;
  gpointer key = GUINT_TO_POINTER (component->track);
  WatchTube *tube = g_hash_table_lookup (self->open, key);
  guint x = MAX (component->x, MARGIN) - MARGIN, y = MAX (component->y, MARGIN) - MARGIN;
  guint right = MIN (component->x + component->width + MARGIN, width);
  guint bottom = MIN (component->y + component->height + MARGIN, height);
  WatchCut cut = { .x = x & ~1u, .y = y & ~1u };
  g_autofree guint8 *alpha = NULL;

  if (meta->width != width || meta->height != height || right <= x || bottom <= y)
    return TRUE;
  cut.width = MIN ((right - cut.x + 1) & ~1u, width - cut.x);
  cut.height = MIN ((bottom - cut.y + 1) & ~1u, height - cut.y);
  alpha = g_malloc ((gsize) cut.width * cut.height);
  /* A predicted box has no pixels. */
  if (get_alpha (&cut, mask, alpha) < MIN_FILL * component->width * component->height)
    return TRUE;

  if (tube) {
    gint64 age = time - tube->begin;

    if (age >= MAX_TUBE_TIME ||
        age - g_array_index (tube->cuts, WatchCut, tube->cuts->len - 1).time > MAX_GAP) {
      g_hash_table_steal (self->open, key);
      scenes_add (self->scenes, g_steal_pointer (&tube));
    }
  }
  if (!tube) {
    tube = g_new0 (WatchTube, 1);
    tube->begin = time;
    tube->cuts = g_array_new (FALSE, FALSE, sizeof (WatchCut));
    g_hash_table_insert (self->open, key, tube);
  }
  cut.time = time - tube->begin;
  if (!write_cut (self, &cut, frame, alpha, error))
    return FALSE;
  g_array_append_val (tube->cuts, cut);
  return TRUE;
}

static gboolean
add_frame (Reader *self, GstBuffer *frame_buffer, GstBuffer *mask_buffer,
           const GstVideoInfo *mask_info, gint64 time, GError **error)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (mask_buffer);
  gboolean done = TRUE;
  GstVideoFrame frame, mask;

  if (!gst_video_frame_map (&frame, &self->info, frame_buffer, GST_MAP_READ))
    return TRUE;
  if (!gst_video_frame_map (&mask, mask_info, mask_buffer, GST_MAP_READ)) {
    gst_video_frame_unmap (&frame);
    return TRUE;
  }
  if (self->n_frames % BACKGROUND_STEP == 0)
    add_background (self, &frame, &mask, time);
  self->n_frames++;
  for (guint i = 0; meta && done && i < meta->n_components; i++) {
    if (meta->components[i].track && self->scenes->size < MAX_FILE_SIZE)
      done = add_object (self, meta, &meta->components[i], &frame, &mask, time, error);
  }
  gst_video_frame_unmap (&mask);
  gst_video_frame_unmap (&frame);
  return done;
}

/* --- The pipeline --- */

/* All recordings are scaled to the size of the first one, at most 640 x 480. */
static void
set_size (GstElement *pipeline, const WatchScenes *scenes)
{
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "size");
  g_autofree gchar *text =
      scenes->width
          ? g_strdup_printf ("video/x-raw,format=I420,pixel-aspect-ratio=1/1,width=%u,height=%u",
                             scenes->width, scenes->height)
          : g_strdup ("video/x-raw,format=I420,pixel-aspect-ratio=1/1,"
                      "width=[16,640,2],height=[16,480,2]");
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);

  g_object_set (filter, "caps", caps, NULL);
}

static gboolean
start (Reader *self, GstSample *sample)
{
  WatchScenes *scenes = self->scenes;

  if (!gst_video_info_from_caps (&self->info, gst_sample_get_caps (sample)))
    return FALSE;
  scenes->width = GST_VIDEO_INFO_WIDTH (&self->info);
  scenes->height = GST_VIDEO_INFO_HEIGHT (&self->info);
  self->sums = g_new0 (guint32, get_frame_size (scenes));
  self->counts = g_new0 (guint16, get_frame_size (scenes));
  self->last = g_new0 (guint8, get_frame_size (scenes));
  self->background_begin = self->recording->begin;
  return TRUE;
}

/* Waits for a sample. Returns NULL at the end, after an error, or if cancelled. */
static GstSample *
pull (GstElement *sink, GstBus *bus, GCancellable *cancellable)
{
  while (!g_cancellable_is_cancelled (cancellable)) {
    GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 10);
    g_autoptr (GstMessage) message = NULL;

    if (sample || gst_app_sink_is_eos (GST_APP_SINK (sink)))
      return sample;
    message = gst_bus_peek (bus);
    while (message && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR) {
      gst_message_unref (gst_bus_pop (bus));
      gst_message_unref (message);
      message = gst_bus_peek (bus);
    }
    if (message)
      return NULL;
  }
  return NULL;
}

static void
tell_progress (GstElement *pipeline, const Reader *self, GstClockTime time,
               WatchSynopsisProgress reached, gpointer user_data)
{
  gint64 duration;

  if (reached && self->n_frames % 64 == 1 &&
      gst_element_query_duration (pipeline, GST_FORMAT_TIME, &duration) && duration > 0)
    reached (MIN ((gdouble) time / duration, 1), user_data);
}

gboolean
watch_scenes_read (WatchScenes *scenes, const WatchRecording *recording,
                   WatchSynopsisProgress reached, gpointer user_data, GCancellable *cancellable,
                   GError **error)
{
  Reader self = { scenes, recording, g_hash_table_new (NULL, NULL) };
  g_autoptr (GstElement) pipeline =
      gst_parse_launch_full (PIPELINE, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  g_autoptr (GstElement) source = NULL, frames = NULL, masks = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstCaps) video = gst_caps_from_string ("video/x-raw(ANY)");
  gboolean done = TRUE;
  gint64 last = recording->begin;
  GHashTableIter iter;
  gpointer tube;

  if (!pipeline) {
    g_hash_table_unref (self.open);
    return FALSE;
  }
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  frames = gst_bin_get_by_name (GST_BIN (pipeline), "frames");
  masks = gst_bin_get_by_name (GST_BIN (pipeline), "masks");
  bus = gst_element_get_bus (pipeline);
  g_object_set (source, "location", recording->path, NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (pipeline), "decoder::caps", video, NULL);
  set_size (pipeline, scenes);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);

  while (done) {
    g_autoptr (GstSample) frame = pull (frames, bus, cancellable);
    g_autoptr (GstSample) mask = frame ? pull (masks, bus, cancellable) : NULL;
    GstVideoInfo mask_info;
    GstClockTime time;

    if (!mask || (!self.sums && !start (&self, frame)))
      break;
    time = gst_segment_to_stream_time (gst_sample_get_segment (frame), GST_FORMAT_TIME,
                                       GST_BUFFER_PTS (gst_sample_get_buffer (frame)));
    if (!gst_video_info_from_caps (&mask_info, gst_sample_get_caps (mask)) ||
        !GST_CLOCK_TIME_IS_VALID (time))
      continue;
    last = recording->begin + time / 1000;
    done = add_frame (&self, gst_sample_get_buffer (frame), gst_sample_get_buffer (mask),
                      &mask_info, last, error);
    tell_progress (pipeline, &self, time, reached, user_data);
  }

  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_hash_table_iter_init (&iter, self.open);
  while (g_hash_table_iter_next (&iter, NULL, &tube))
    scenes_add (scenes, tube);
  g_hash_table_unref (self.open);
  if (self.n_frames > 0)
    end_background (&self, last);
  g_free (self.sums);
  g_free (self.counts);
  g_free (self.last);

  if (g_cancellable_set_error_if_cancelled (cancellable, done ? error : NULL))
    return FALSE;
  if (done && self.n_frames == 0) {
    g_autoptr (GError) cause = NULL;

    if (message)
      gst_message_parse_error (message, &cause, NULL);
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", recording->path,
                 cause ? cause->message : "no video");
    done = FALSE;
  }
  return done;
}
