/* cudaccl-watch - tests of failures of I/O: clips and pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/watch/iofailures.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/watch/media/recorder.h"
#include "apps/watch/store/store.h"
#include "tests/lib/pullsamples.h"

#define RATE 25
#define N_FRAMES 200
#define N_HEALED 125 /* the failure ends before this frame */
#define N_KILLED 190
#define PICTURE_BYTES 20000
#define PATIENCE (20 * G_USEC_PER_SEC)

/* A stream, encoded once. */
typedef struct
{
  guint n;
  gchar caps[4096];
  struct
  {
    guint64 pts, offset, size;
    gboolean key;
  } frames[N_FRAMES];
  guint8 data[4 << 20];
} Stream;

static Stream *stream;

/* Returns the samples of the appsink `out`, or NULL. */
static GPtrArray *
run_pipeline (IoCase *self, const gchar *description)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *samples = pull_samples (description, &error);

  EXPECT (self, samples, "%s: %s", description, error->message);
  return samples;
}

static void
encode (IoCase *self)
{
  g_autofree gchar *text =
      g_strdup_printf ("videotestsrc pattern=ball num-buffers=%d ! "
                       "video/x-raw,format=I420,width=64,height=64,framerate=%d/1 ! "
                       "x264enc tune=zerolatency key-int-max=%d ! h264parse ! "
                       "video/x-h264,alignment=au,stream-format=avc ! appsink name=out",
                       N_FRAMES, RATE, RATE);
  GPtrArray *samples = run_pipeline (self, text);
  guint64 offset = 0;

  for (guint i = 0; i < samples->len; i++) {
    GstSample *sample = g_ptr_array_index (samples, i);
    GstBuffer *buffer = gst_sample_get_buffer (sample);
    g_autofree gchar *caps = gst_caps_to_string (gst_sample_get_caps (sample));

    g_strlcpy (stream->caps, caps, sizeof stream->caps);
    stream->frames[i].pts = i * GST_SECOND / RATE;
    stream->frames[i].offset = offset;
    stream->frames[i].size = gst_buffer_get_size (buffer);
    stream->frames[i].key = !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    EXPECT (self, offset + stream->frames[i].size <= sizeof stream->data,
            "the stream is too large");
    gst_buffer_extract (buffer, 0, stream->data + offset, stream->frames[i].size);
    offset += stream->frames[i].size;
  }
  stream->n = samples->len;
}

static gboolean
prepare (IoCase *self)
{
  static const gchar *const names[] = { "x264enc", "h264parse", "mp4mux", "qtdemux" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (names[i]);

    if (!factory) {
      g_snprintf (self->error, sizeof self->error, "skipped: needs %s", names[i]);
      return FALSE;
    }
  }
  stream = mmap (NULL, sizeof *stream, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return stream != MAP_FAILED && io_case_run_process (self, encode, "encoding");
}

static void
clean_up (void)
{
}

static void
begin (IoCase *self)
{
}

/* --- Recording --- */

static WatchMedia *
open_media (IoCase *self)
{
  g_autoptr (GError) error = NULL;
  WatchMedia *media = watch_media_open (self->folder, 0, 0, &error);

  EXPECT (self, media, "%s", error->message);
  watch_media_set_reserve (media, 0, 0);
  watch_media_flush (media);
  return media;
}

static GBytes *
picture_new (guint64 number)
{
  guint8 *data = g_malloc (PICTURE_BYTES);

  memset (data, (gint) number, PICTURE_BYTES);
  return g_bytes_new_take (data, PICTURE_BYTES);
}

static void
add_event (IoCase *self, WatchMedia *media, WatchRecorder *recorder, WatchStore *store,
           guint64 number, gint64 time)
{
  g_autoptr (GBytes) jpeg = picture_new (number);
  g_autofree gchar *picture = watch_media_add_picture (media, "yard", time, number, jpeg);
  g_autofree gchar *clip = watch_recorder_trigger (recorder, time, number);
  const WatchEvent event = {
    .camera = (gchar *) "yard",
    .session = (gchar *) "session",
    .number = number,
    .time = time,
    .kind = WATCH_EVENT_MOTION,
    .picture = picture,
    .clip = clip,
  };

  self->named += (picture != NULL) + (clip != NULL);
  watch_store_add_event (store, watch_event_copy (&event));
}

static WatchFileState
get_state (const gchar *name, gpointer user_data)
{
  return watch_media_get_state (user_data, name);
}

static void
sweep (WatchMedia *media, WatchStore *store)
{
  watch_media_flush (media);
  watch_store_flush (store);
  watch_store_forget_missing (store, get_state, media);
  watch_store_flush (store);
}

/* Recording goes on: the folder takes files again. */
static void
wait_healed (IoCase *self, WatchMedia *media)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  g_autoptr (GBytes) jpeg = picture_new (0);
  WatchMediaStats stats = { 0 };
  guint64 before;

  watch_media_flush (media);
  watch_media_get_stats (media, &stats);
  before = stats.pictures;
  do {
    EXPECT (self, g_get_monotonic_time () < end, "records nothing after the failure: %s",
            web_reason_get_text (stats.last_error));
    g_usleep (20000);
    web_reason_free (stats.last_error);
    g_free (watch_media_add_picture (media, "yard", TIME, 0, jpeg));
    watch_media_flush (media);
    watch_media_get_stats (media, &stats);
  } while (stats.pictures == before);
  EXPECT (self, !stats.last_error, "still: %s", stats.last_error->text);
}

/* The files that events name. */
static guint
count_files (IoCase *self, WatchStore *store)
{
  const WatchQuery query = { .limit = 1000, .kind = -1 };
  gint64 next;
  g_autoptr (GPtrArray) events = watch_store_find_events (store, &query, &next, NULL);
  guint n = 0;

  EXPECT (self, events, "no events can be read");
  for (guint i = 0; i < events->len; i++) {
    const WatchEvent *event = g_ptr_array_index (events, i);

    n += (event->picture != NULL) + (event->clip != NULL);
  }
  return n;
}

static void
run (IoCase *self)
{
  WatchMedia *media = open_media (self);
  WatchStore *store = watch_store_open (self->folder, NULL);
  WatchRecorder *recorder = watch_recorder_new (media, "yard", GST_SECOND, GST_SECOND, 1 << 20);
  g_autoptr (GstCaps) caps = gst_caps_from_string (stream->caps);
  WatchMediaStats stats;

  for (guint i = 0; i < stream->n; i++) {
    g_autoptr (GstBuffer) buffer =
        gst_buffer_new_memdup (stream->data + stream->frames[i].offset, stream->frames[i].size);
    const gint64 time = TIME + (gint64) (stream->frames[i].pts / 1000);

    if (i == N_HEALED && self->heals) {
      io_case_heal (self);
      wait_healed (self, media);
      self->complete = TRUE;
    }
    if (i == N_KILLED && self->killed) {
      watch_media_flush (media);
      watch_store_flush (store);
      _exit (EXIT_SUCCESS);
    }
    GST_BUFFER_PTS (buffer) = stream->frames[i].pts;
    if (!stream->frames[i].key)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    watch_recorder_add (recorder, buffer, caps, time);
    /* Each has a clip of its own, but for one that the next extends. */
    if (i % 60 == 20 || i == 150)
      add_event (self, media, recorder, store, i, time);
    if (i % 50 == 49)
      sweep (media, store);
  }
  watch_recorder_free (recorder);
  sweep (media, store);
  watch_media_get_stats (media, &stats);
  EXPECT (self, stats.failed || count_files (self, store) == self->named,
          "%u of %u files are there, and none has failed", count_files (self, store), self->named);
  EXPECT (self,
          !stats.failed || io_case_has_message (self, "could not be written", g_strerror (EIO)) ||
              io_case_has_message (self, "could not be written", "No space left"),
          "the log does not tell what failed, but: %s", self->messages[0]);
  EXPECT (self, stats.clips + stats.pictures > 0 || !self->heals, "nothing was recorded");
  web_reason_free (stats.last_error);
  watch_store_close (store);
  watch_media_unref (media);
}

/* --- After a restart --- */

static guint64
add_up (IoCase *self, const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;
  guint64 bytes = 0;

  while ((name = g_dir_read_name (dir))) {
    g_autofree gchar *child = g_build_filename (path, name, NULL);
    GStatBuf status;

    if (g_file_test (child, G_FILE_TEST_IS_DIR)) {
      bytes += add_up (self, child);
      continue;
    }
    EXPECT (self, g_str_has_suffix (name, ".jpg") || g_str_has_suffix (name, ".mp4"), "%s is left",
            name);
    bytes += g_stat (child, &status) == 0 ? (guint64) status.st_size : 0;
  }
  return bytes;
}

static void
check_picture (IoCase *self, WatchMedia *media, const WatchEvent *event)
{
  g_autofree gchar *path = watch_media_get_path (media, event->picture);
  g_autoptr (GBytes) expected = picture_new (event->number);
  g_autofree gchar *data = NULL;
  gsize size;

  EXPECT (self, g_file_get_contents (path, &data, &size, NULL), "%s is missing", event->picture);
  EXPECT (self, size == PICTURE_BYTES && !memcmp (data, g_bytes_get_data (expected, NULL), size),
          "%s is not what was written", event->picture);
}

static void
check_clip (IoCase *self, WatchMedia *media, const WatchEvent *event)
{
  g_autofree gchar *path = watch_media_get_path (media, event->clip);
  g_autofree gchar *text =
      g_strdup_printf ("filesrc location=%s ! qtdemux ! h264parse ! appsink name=out", path);
  g_autoptr (GPtrArray) samples = NULL;

  EXPECT (self, g_file_test (path, G_FILE_TEST_EXISTS), "%s is missing", event->clip);
  samples = run_pipeline (self, text);
  EXPECT (self, samples->len > 0, "%s has no frames", event->clip);
}

static void
check (IoCase *self)
{
  g_autofree gchar *folder = g_build_filename (self->folder, "media", NULL);
  const WatchQuery query = { .limit = 1000, .kind = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) events = NULL;
  WatchMedia *media = open_media (self);
  WatchStore *store = watch_store_open (self->folder, &error);
  WatchMediaStats stats;
  guint with_both = 0;
  gint64 next;

  EXPECT (self, store, "%s", error->message);
  watch_media_get_stats (media, &stats);
  EXPECT (self, !stats.last_error, "%s", stats.last_error->text);
  EXPECT (self, stats.bytes == add_up (self, folder), "%d bytes are counted, and there are %d",
          (int) stats.bytes, (int) add_up (self, folder));
  sweep (media, store);
  events = watch_store_find_events (store, &query, &next, &error);
  EXPECT (self, events, "%s", error->message);
  for (guint i = 0; i < events->len; i++) {
    const WatchEvent *event = g_ptr_array_index (events, i);

    if (event->picture)
      check_picture (self, media, event);
    if (event->clip)
      check_clip (self, media, event);
    with_both += event->number >= N_HEALED && event->picture && event->clip;
  }
  /* Those after the failure: two, of which kill -9 may have cut the clip of the last. */
  EXPECT (self, !self->complete || with_both >= 1, "no event after the failure has its files");
  watch_store_close (store);
  watch_media_unref (media);
}

const IoScenario io_media = { "media", 30, "/media", prepare, clean_up, begin, run, check };
