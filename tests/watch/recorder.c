/* cudaccl-watch - tests of clips, pictures and the folder for them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apps/watch/media/clip.h"
#include "apps/watch/media/recorder.h"
#include "tests/lib/pullsamples.h"
#include "tests/lib/removetree.h"

/* 2026-01-31T12:00:00Z */
#define TIME G_GINT64_CONSTANT (1769860800000000)
#define SECOND G_USEC_PER_SEC

static const gchar *data; /* a new folder for each test */

static void
setup (void)
{
  data = g_dir_make_tmp ("watch-XXXXXX", NULL);
  fail_unless (data != NULL);
}

static void
teardown (void)
{
  remove_tree (data);
  g_clear_pointer ((gchar **) &data, g_free);
}

static WatchMedia *
open_media (guint days, guint64 bytes)
{
  g_autoptr (GError) error = NULL;
  WatchMedia *media = watch_media_open (data, days, bytes, &error);

  fail_unless (media != NULL, "%s", error ? error->message : "");
  watch_media_set_reserve (media, 0, 0);
  return media;
}

/* Runs the pipeline, and returns the samples of its appsink `out`. */
static GPtrArray *
run (const gchar *description)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *samples = pull_samples (description, &error);

  fail_unless (samples != NULL, "%s: %s", description, error ? error->message : "");
  return samples;
}

static gboolean
have (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);

  return factory != NULL;
}

typedef struct
{
  const gchar *name;
  const gchar *encoder; /* %u: frames between key frames */
  const gchar *parser;  /* with caps */
  const gchar *decoder;
} Codec;

#define AVC "video/x-h264,alignment=au,stream-format=avc"
#define X264 "x264enc tune=zerolatency key-int-max=%u"
#define X264_B "x264enc key-int-max=%u b-adapt=false bframes=3 b-pyramid=true rc-lookahead=5"

static const Codec codecs[] = {
  { "H.264", X264, "h264parse ! " AVC, "avdec_h264" },
  { "H.264 with B-frames", X264_B, "h264parse ! " AVC, "avdec_h264" },
  { "H.264 byte-stream", X264_B,
    "h264parse config-interval=-1 ! video/x-h264,alignment=au,stream-format=byte-stream",
    "avdec_h264" },
  { "H.265", "x265enc key-int-max=%u option-string=keyint=%u:min-keyint=%u:bframes=3:log-level=0",
    "h265parse ! video/x-h265,alignment=au,stream-format=hvc1", "avdec_h265" },
};

static gboolean
have_codec (const Codec *codec)
{
  g_auto (GStrv) encoder = g_strsplit (codec->encoder, " ", 2);
  g_auto (GStrv) parser = g_strsplit (codec->parser, " ", 2);

  if (have (encoder[0]) && have (parser[0]) && have (codec->decoder) && have ("mp4mux"))
    return TRUE;
  g_print ("skipped: %s: needs %s, %s, %s and mp4mux\n", codec->name, encoder[0], parser[0],
           codec->decoder);
  return FALSE;
}

/* The first encoder that is there, or NULL. */
static const Codec *
find_codec (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (codecs); i++)
    if (have_codec (&codecs[i]))
      return &codecs[i];
  return NULL;
}

/* Returns @frames at @rate per second, with a key frame each second. */
static GPtrArray *
encode (const Codec *codec, guint frames, guint rate, guint width)
{
  g_auto (GStrv) parts = g_strsplit (codec->encoder, "%u", -1);
  g_autofree gchar *number = g_strdup_printf ("%u", rate);
  g_autofree gchar *encoder = g_strjoinv (number, parts);
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc pattern=ball num-buffers=%u ! "
      "video/x-raw,format=I420,width=%u,height=64,framerate=%u/1 ! %s ! %s ! appsink name=out",
      frames, width, rate, encoder, codec->parser);
  GPtrArray *samples = run (text);

  fail_unless_equals_int (samples->len, frames);
  return samples;
}

static GstClockTime
get_pts (GPtrArray *samples, guint i)
{
  GstSample *sample = g_ptr_array_index (samples, i);

  return gst_segment_to_running_time (gst_sample_get_segment (sample), GST_FORMAT_TIME,
                                      GST_BUFFER_PTS (gst_sample_get_buffer (sample)));
}

static gboolean
is_key (GPtrArray *samples, guint i)
{
  return !GST_BUFFER_FLAG_IS_SET (gst_sample_get_buffer (g_ptr_array_index (samples, i)),
                                  GST_BUFFER_FLAG_DELTA_UNIT);
}

static gint64
get_time (GPtrArray *samples, guint i)
{
  return TIME + (gint64) GST_TIME_AS_USECONDS (get_pts (samples, i) - get_pts (samples, 0));
}

static void
add (WatchRecorder *recorder, GPtrArray *samples, guint i)
{
  GstSample *sample = g_ptr_array_index (samples, i);

  watch_recorder_add (recorder, gst_sample_get_buffer (sample), gst_sample_get_caps (sample),
                      get_time (samples, i));
}

/* Returns the frames of a clip, encoded, after checking that each can be decoded. */
static GPtrArray *
read_clip (WatchMedia *media, const gchar *name, const Codec *codec)
{
  g_autofree gchar *path = watch_media_get_path (media, name);
  g_autofree gchar *parser = g_strndup (codec->parser, strcspn (codec->parser, " "));
  g_autofree gchar *demux =
      g_strdup_printf ("filesrc location=%s ! qtdemux ! appsink name=out", path);
  g_autofree gchar *decode = g_strdup_printf (
      "filesrc location=%s ! qtdemux ! %s ! %s ! appsink name=out", path, parser, codec->decoder);
  g_autoptr (GPtrArray) pictures = run (decode);
  GPtrArray *frames = run (demux);

  fail_unless (frames->len > 0);
  fail_unless (is_key (frames, 0));
  fail_unless_equals_int (pictures->len, frames->len);
  for (guint i = 0; i < pictures->len; i++) {
    GstBuffer *buffer = gst_sample_get_buffer (g_ptr_array_index (pictures, i));

    fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_CORRUPTED));
  }
  fail_unless_equals_uint64 (get_pts (pictures, 0), 0);
  return frames;
}

/* The last key frame of the first @end that is at or before @time. */
static guint
find_key (GPtrArray *samples, guint end, gint64 time)
{
  guint key = 0;

  for (guint i = 0; i < end; i++)
    if (is_key (samples, i) && get_time (samples, i) <= time)
      key = i;
  return key;
}

/* Every frame from the key frame before the pre-roll to the end of the post-roll, with its bytes
 * and times. */
GST_START_TEST (test_exact)
{
  const Codec *codec = &codecs[__i__];
  g_autoptr (GPtrArray) samples = NULL, frames = NULL;
  const gint64 time = TIME + 9400000, end = time + SECOND;
  WatchMedia *media;
  WatchRecorder *recorder;
  g_autofree gchar *name = NULL;
  guint first, i, n = 0;

  if (!have_codec (codec))
    return;
  samples = encode (codec, 300, 25, 64);
  media = open_media (0, 0);
  recorder = watch_recorder_new (media, "yard", 2 * GST_SECOND, GST_SECOND, 1 << 20);
  fail_unless (watch_recorder_trigger (recorder, TIME, 1) == NULL);
  for (i = 0; i < 250; i++)
    add (recorder, samples, i);
  name = watch_recorder_trigger (recorder, time, 42);
  fail_unless (g_str_has_prefix (name, "yard/2026-01-31/120009-000042-"));
  for (; i < samples->len; i++)
    add (recorder, samples, i);
  watch_recorder_free (recorder);
  watch_media_flush (media);

  frames = read_clip (media, name, codec);
  first = find_key (samples, 250, time - 2 * SECOND);
  fail_unless (get_time (samples, first) > time - 4 * SECOND);
  for (i = first; i < samples->len && n < frames->len; i++) {
    GstBuffer *frame = gst_sample_get_buffer (g_ptr_array_index (frames, n));
    GstBuffer *sample = gst_sample_get_buffer (g_ptr_array_index (samples, i));
    const GstClockTimeDiff pts = GST_CLOCK_DIFF (get_pts (samples, first), get_pts (samples, i));
    GstMapInfo map;

    /* Pictures that need the group before. */
    if (pts < 0)
      continue;
    fail_unless (is_key (frames, n) == is_key (samples, i), "frame %u", n);
    /* MP4 counts in 1/90000 s. */
    fail_unless (ABS (GST_CLOCK_DIFF (get_pts (frames, n), pts)) < 12 * GST_USECOND,
                 "frame %u is at %" GST_TIME_FORMAT ", not %" GST_TIME_FORMAT, n,
                 GST_TIME_ARGS (get_pts (frames, n)), GST_TIME_ARGS (pts));
    if (!strstr (codec->parser, "byte-stream")) {
      gst_buffer_map (sample, &map, GST_MAP_READ);
      fail_unless_equals_int (gst_buffer_get_size (frame), map.size);
      fail_unless (gst_buffer_memcmp (frame, 0, map.data, map.size) == 0);
      gst_buffer_unmap (sample, &map);
    }
    n++;
  }
  /* Frames that are not in the clip are after its end. */
  fail_unless_equals_int (n, frames->len);
  fail_unless (i < samples->len);
  for (; i < samples->len; i++)
    fail_unless (get_time (samples, i) > end);
  watch_media_unref (media);
}
GST_END_TEST;

/* Frames that are shown before the first key frame are left out, until one is shown after it. */
GST_START_TEST (test_leading)
{
  const Codec *codec = find_codec ();
  g_autoptr (GPtrArray) samples = NULL, frames = NULL;
  WatchMedia *media;
  WatchRecorder *recorder;
  g_autofree gchar *name = NULL;

  if (!codec)
    return;
  samples = encode (codec, 50, 25, 64);
  media = open_media (0, 0);
  recorder = watch_recorder_new (media, "yard", 0, GST_SECOND, 1 << 20);
  for (guint i = 0; i < 30; i++) {
    add (recorder, samples, i);
    if (i == 25) {
      GstSample *sample = g_ptr_array_index (samples, 24);
      g_autoptr (GstBuffer) buffer = gst_buffer_copy (gst_sample_get_buffer (sample));

      watch_recorder_add (recorder, buffer, gst_sample_get_caps (sample), get_time (samples, 25));
    }
  }
  fail_unless (is_key (samples, 25) && !is_key (samples, 24));
  name = watch_recorder_trigger (recorder, get_time (samples, 29), 1);
  watch_recorder_free (recorder);
  watch_media_flush (media);
  frames = read_clip (media, name, codec);
  fail_unless_equals_int (frames->len, 5);
  watch_media_unref (media);
}
GST_END_TEST;

/* Events for 320 s: the first clip is as long as it may be, the second has its own pre-roll. */
GST_START_TEST (test_long)
{
  const Codec *codec = find_codec ();
  g_autoptr (GPtrArray) samples = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  gint64 events[8] = { 0 };
  WatchMedia *media;
  WatchRecorder *recorder;
  WatchMediaStats stats;

  if (!codec)
    return;
  samples = encode (codec, 330 * 4, 4, 64);
  media = open_media (0, 0);
  recorder = watch_recorder_new (media, "yard", 5 * GST_SECOND, 5 * GST_SECOND, 1 << 20);
  for (guint i = 0; i < samples->len; i++) {
    g_autofree gchar *name = NULL;

    add (recorder, samples, i);
    if (i % 7 || i >= 320 * 4)
      continue;
    name = watch_recorder_trigger (recorder, get_time (samples, i), i + 1);
    fail_unless (name != NULL);
    if (names->len && !g_strcmp0 (name, g_ptr_array_index (names, names->len - 1)))
      continue;
    fail_unless (names->len < G_N_ELEMENTS (events));
    events[names->len] = get_time (samples, i);
    g_ptr_array_add (names, g_steal_pointer (&name));
  }
  watch_recorder_free (recorder);
  watch_media_flush (media);
  watch_media_get_stats (media, &stats);
  fail_unless_equals_int (names->len, 2);
  fail_unless_equals_uint64 (stats.clips, 2);
  fail_unless_equals_uint64 (stats.failed, 0);
  /* The first event after which the clip would be longer than five minutes from its pre-roll. */
  fail_unless (events[1] > TIME + 290 * SECOND && events[1] < TIME + 292 * SECOND);

  for (guint i = 0; i < names->len; i++) {
    g_autoptr (GPtrArray) frames = read_clip (media, g_ptr_array_index (names, i), codec);
    const guint first = find_key (samples, samples->len, events[i] - 5 * SECOND);
    const GstClockTime length = get_pts (frames, frames->len - 1);
    const gint64 last = get_time (samples, first) + GST_TIME_AS_USECONDS (length);

    fail_unless (length < 302 * GST_SECOND);
    fail_unless (last >= (i ? TIME + 323 * SECOND : events[1]));
  }
  watch_media_unref (media);
}
GST_END_TEST;

/* Whatever happens to the stream in the middle of a clip, the clip and the next one play. */
GST_START_TEST (test_breaks)
{
  static const struct
  {
    const gchar *name;
    gint64 pts, time; /* are added from frame 100 on, in seconds */
    gboolean caps, missing;
    gboolean ends;
  } cases[] = {
    { "nothing", 0, 0, FALSE, FALSE, FALSE },
    { "a gap", 4, 4, FALSE, FALSE, FALSE },
    { "a long gap", 60, 60, FALSE, FALSE, TRUE },
    { "a source that begins anew", -3600, 2, FALSE, FALSE, TRUE },
    { "PTS far in the future", 100000, 0, FALSE, FALSE, TRUE },
    { "PTS a little back", -1, 0, FALSE, FALSE, FALSE },
    { "a clock that was set back", 0, -3600, FALSE, FALSE, TRUE },
    { "another size", 0, 0, TRUE, FALSE, TRUE },
    { "no PTS", 0, 0, FALSE, TRUE, FALSE },
  };
  const Codec *codec = find_codec ();
  g_autoptr (GPtrArray) narrow = NULL, wide = NULL;

  if (!codec)
    return;
  narrow = encode (codec, 300, 25, 64);
  wide = encode (codec, 300, 25, 96);
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    WatchMedia *media = open_media (0, 0);
    WatchRecorder *recorder =
        watch_recorder_new (media, "yard", GST_SECOND, 10 * GST_SECOND, 1 << 20);
    g_autofree gchar *first = NULL, *second = NULL;
    g_autoptr (GPtrArray) frames = NULL, rest = NULL;
    WatchMediaStats stats;

    for (guint i = 0; i < 300; i++) {
      const gboolean after = i >= 100;
      GPtrArray *samples = after && cases[c].caps ? wide : narrow;
      GstSample *sample = g_ptr_array_index (samples, i);
      g_autoptr (GstBuffer) buffer = gst_buffer_copy (gst_sample_get_buffer (sample));
      gint64 time = get_time (samples, i);

      /* All sources begin after an hour. */
      GST_BUFFER_PTS (buffer) += 3600 * GST_SECOND;
      if (after) {
        time += cases[c].time * SECOND;
        GST_BUFFER_PTS (buffer) += cases[c].pts * GST_SECOND;
        if (cases[c].missing)
          GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
      }
      watch_recorder_add (recorder, buffer, gst_sample_get_caps (sample), time);
      if (i == 90)
        first = watch_recorder_trigger (recorder, time, 1);
      else if (i == 210)
        second = watch_recorder_trigger (recorder, time, 2);
    }
    watch_recorder_free (recorder);
    watch_media_flush (media);
    watch_media_get_stats (media, &stats);
    fail_unless_equals_uint64 (stats.failed, 0);
    fail_unless (first && second);
    frames = read_clip (media, first, codec);
    rest = read_clip (media, second, codec);
    fail_unless (g_str_equal (first, second) == !cases[c].ends, "%s: %s, %s", cases[c].name, first,
                 second);
    /* The first begins with frame 50, and has all until the break or the end. */
    fail_unless (frames->len == (cases[c].ends ? 50 : 250), "%s: %u frames", cases[c].name,
                 frames->len);
    watch_media_unref (media);
  }
}
GST_END_TEST;

GST_START_TEST (test_ring)
{
  const Codec *codec = find_codec ();
  g_autoptr (GPtrArray) samples = NULL, frames = NULL;
  WatchMedia *media;
  WatchRecorder *recorder;
  WatchMediaStats stats;
  g_autofree gchar *name = NULL;
  gsize group = 0, size = 0;

  if (!codec)
    return;
  samples = encode (codec, 500, 25, 64);
  /* The largest group of pictures. */
  for (guint i = 0; i < samples->len; i++) {
    size = is_key (samples, i) ? 0 : size;
    size += gst_buffer_get_size (gst_sample_get_buffer (g_ptr_array_index (samples, i)));
    group = MAX (group, size);
  }
  media = open_media (0, 0);
  recorder = watch_recorder_new (media, "yard", 60 * GST_SECOND, GST_SECOND, 3 * group);
  for (guint i = 0; i < samples->len; i++)
    add (recorder, samples, i);
  name = watch_recorder_trigger (recorder, get_time (samples, samples->len - 1), 1);
  watch_recorder_free (recorder);
  watch_media_flush (media);
  frames = read_clip (media, name, codec);
  size = 0;
  for (guint i = 0; i < frames->len; i++)
    size += gst_buffer_get_size (gst_sample_get_buffer (g_ptr_array_index (frames, i)));
  fail_unless (size <= 3 * group);
  fail_unless (frames->len >= 50);

  /* Not even one fits. */
  recorder = watch_recorder_new (media, "yard", GST_SECOND, GST_SECOND, 100);
  for (guint i = 0; i < 100; i++)
    add (recorder, samples, i);
  fail_unless (watch_recorder_trigger (recorder, get_time (samples, 99), 2) == NULL);
  watch_recorder_free (recorder);
  watch_media_get_stats (media, &stats);
  fail_unless (strstr (web_reason_get_text (stats.last_error), "raise `memory`") != NULL);
  web_reason_free (stats.last_error);
  watch_media_unref (media);
}
GST_END_TEST;

/* No space: nothing is begun, what runs is finished, and it goes on by itself. */
GST_START_TEST (test_full)
{
  const Codec *codec = find_codec ();
  g_autoptr (GBytes) jpeg = g_bytes_new_static ("jpeg", 4);
  g_autoptr (GPtrArray) samples = NULL;
  g_autofree gchar *name = NULL, *picture = NULL;
  g_autofree gchar *folder = g_build_filename (data, "media", NULL);
  g_autofree gchar *moved = g_build_filename (data, "moved", NULL);
  WatchMedia *media;
  WatchRecorder *recorder;
  WatchMediaStats stats;

  if (!codec)
    return;
  samples = encode (codec, 200, 25, 64);
  media = open_media (0, 0);
  recorder = watch_recorder_new (media, "yard", GST_SECOND, 10 * GST_SECOND, 1 << 20);
  for (guint i = 0; i < 100; i++)
    add (recorder, samples, i);
  name = watch_recorder_trigger (recorder, get_time (samples, 99), 1);
  fail_unless (name != NULL);
  watch_media_flush (media);
  watch_media_set_reserve (media, G_MAXINT64, 0);
  watch_media_flush (media);
  fail_unless (watch_media_add_picture (media, "yard", TIME, 2, jpeg) == NULL);
  for (guint i = 100; i < 200; i++)
    add (recorder, samples, i);
  watch_media_flush (media);
  fail_unless (watch_recorder_trigger (recorder, get_time (samples, 199), 2) == NULL);
  g_ptr_array_unref (read_clip (media, name, codec));
  watch_media_get_stats (media, &stats);
  fail_unless (strstr (web_reason_get_text (stats.last_error), "make space") != NULL);
  web_reason_free (stats.last_error);
  fail_unless_equals_uint64 (stats.clips, 1);

  watch_media_set_reserve (media, 0, 0);
  watch_media_flush (media);
  picture = watch_media_add_picture (media, "yard", TIME, 2, jpeg);
  fail_unless (picture != NULL);
  g_clear_pointer (&name, g_free);
  name = watch_recorder_trigger (recorder, get_time (samples, 199), 2);
  watch_recorder_free (recorder);
  watch_media_flush (media);
  g_ptr_array_unref (read_clip (media, name, codec));
  watch_media_get_stats (media, &stats);
  fail_unless (stats.last_error == NULL);
  fail_unless_equals_uint64 (stats.pictures, 1);
  fail_unless_equals_uint64 (stats.failed, 0);

  /* A folder that is gone is not a full disk. */
  fail_unless_equals_int (g_rename (folder, moved), 0);
  watch_media_set_reserve (media, 0, 0);
  watch_media_flush (media);
  watch_media_get_stats (media, &stats);
  fail_unless (stats.last_error &&
                   strstr (web_reason_get_text (stats.last_error), g_strerror (ENOENT)),
               "%s", web_reason_get_text (stats.last_error));
  web_reason_free (stats.last_error);
  watch_media_unref (media);
}
GST_END_TEST;

/* The disk fails in the middle of a clip. */
GST_START_TEST (test_write_error)
{
  const Codec *codec = find_codec ();
  g_autoptr (GPtrArray) samples = NULL;
  g_autofree gchar *name = NULL;
  struct rlimit old, limit;
  WatchMedia *media;
  WatchRecorder *recorder;
  WatchMediaStats stats;

  if (!codec)
    return;
  samples = encode (codec, 1000, 25, 320);
  media = open_media (0, 0);
  watch_media_set_reserve (media, 0, 1000 * SECOND);
  recorder = watch_recorder_new (media, "yard", GST_SECOND, 60 * GST_SECOND, 1 << 20);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 100000;
  setrlimit (RLIMIT_FSIZE, &limit);
  add (recorder, samples, 0);
  name = watch_recorder_trigger (recorder, TIME, 1);
  for (guint i = 1; i < samples->len; i++)
    add (recorder, samples, i);
  watch_media_flush (media);
  setrlimit (RLIMIT_FSIZE, &old);
  watch_media_get_stats (media, &stats);
  fail_unless_equals_uint64 (stats.failed, 1);
  fail_unless_equals_uint64 (stats.clips, 0);
  fail_unless (stats.bytes > 0 && stats.bytes <= 100000);
  fail_unless (strstr (web_reason_get_text (stats.last_error), "could not be written") != NULL);
  web_reason_free (stats.last_error);
  /* Its first part is kept. */
  g_ptr_array_unref (read_clip (media, name, codec));
  fail_unless (watch_recorder_trigger (recorder, get_time (samples, 999), 2) == NULL);

  watch_media_set_reserve (media, 0, 0);
  watch_media_flush (media);
  g_clear_pointer (&name, g_free);
  name = watch_recorder_trigger (recorder, get_time (samples, 999), 2);
  fail_unless (name != NULL);
  watch_recorder_free (recorder);
  watch_media_flush (media);
  g_ptr_array_unref (read_clip (media, name, codec));
  watch_media_unref (media);
}
GST_END_TEST;

/* A camera whose stream cannot be recorded does not stop the others. */
GST_START_TEST (test_neighbour)
{
  static const gchar *const wrong[] = { "image/jpeg", AVC, "video/x-h265,stream-format=hvc1" };
  const Codec *codec = find_codec ();
  g_autoptr (GPtrArray) samples = NULL;
  WatchMedia *media;
  WatchRecorder *yard;
  WatchMediaStats stats;

  if (!codec)
    return;
  samples = encode (codec, 50, 25, 64);
  media = open_media (0, 0);
  watch_media_set_reserve (media, 0, 1000 * SECOND);
  yard = watch_recorder_new (media, "yard", GST_SECOND, GST_SECOND, 1 << 20);
  for (guint i = 0; i < samples->len; i++)
    add (yard, samples, i);
  for (guint w = 0; w < G_N_ELEMENTS (wrong); w++) {
    WatchRecorder *gate = watch_recorder_new (media, "gate", GST_SECOND, GST_SECOND, 1 << 20);
    g_autoptr (GstCaps) caps = gst_caps_from_string (wrong[w]);
    g_autofree gchar *name = NULL, *other = NULL;

    for (guint i = 0; i < samples->len; i++) {
      g_autoptr (GstBuffer) buffer = gst_buffer_new_memdup ("not a frame", 11);

      GST_BUFFER_PTS (buffer) = get_pts (samples, i);
      watch_recorder_add (gate, buffer, caps, get_time (samples, i));
    }
    name = watch_recorder_trigger (gate, get_time (samples, 40), 1);
    watch_recorder_free (gate);
    watch_media_flush (media);
    watch_media_get_stats (media, &stats);
    fail_unless_equals_uint64 (stats.failed, w + 1);
    fail_unless (strstr (web_reason_get_text (stats.last_error), name) != NULL);
    web_reason_free (stats.last_error);
    other = watch_recorder_trigger (yard, get_time (samples, 40), 2 + w);
    fail_unless (other != NULL);
  }
  watch_recorder_free (yard);
  watch_media_flush (media);
  watch_media_get_stats (media, &stats);
  fail_unless_equals_uint64 (stats.clips, 1);
  web_reason_free (stats.last_error);
  watch_media_unref (media);
}
GST_END_TEST;

/* A clip of a killed process, cut anywhere, plays or is removed. */
GST_START_TEST (test_killed)
{
  const Codec *codec = find_codec ();
  const guint32 seed = g_random_int ();
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) samples = NULL;
  g_autofree gchar *name = NULL, *path = NULL, *part = NULL, *content = NULL;
  WatchMedia *media;
  WatchRecorder *recorder;
  WatchMediaStats stats;
  gsize size;
  guint kept = 0;

  if (!codec)
    return;
  g_print ("seed %u\n", seed);
  samples = encode (codec, 500, 25, 320);
  media = open_media (0, 0);
  recorder = watch_recorder_new (media, "yard", GST_SECOND, 60 * GST_SECOND, 1 << 20);
  add (recorder, samples, 0);
  name = watch_recorder_trigger (recorder, TIME, 1);
  for (guint i = 1; i < samples->len; i++)
    add (recorder, samples, i);
  watch_media_flush (media);
  path = watch_media_get_path (media, name);
  part = g_strconcat (path, ".part", NULL);
  fail_unless (g_file_get_contents (part, &content, &size, NULL));
  watch_recorder_free (recorder);
  watch_media_unref (media);
  fail_if (g_file_test (part, G_FILE_TEST_EXISTS));

  for (guint i = 0; i < 30; i++) {
    const gsize length = i ? (gsize) g_rand_int_range (random, 0, size + 1) : size;

    g_unlink (path);
    fail_unless (g_file_set_contents (part, content, length, NULL));
    media = open_media (0, 0);
    watch_media_get_stats (media, &stats);
    fail_if (g_file_test (part, G_FILE_TEST_EXISTS));
    fail_unless_equals_int (g_file_test (path, G_FILE_TEST_EXISTS), stats.bytes > 0);
    if (stats.bytes) {
      g_autoptr (GPtrArray) frames = read_clip (media, name, codec);

      fail_unless (frames->len <= samples->len);
      fail_unless (i || frames->len > samples->len / 2);
      kept++;
    }
    watch_media_unref (media);
  }
  fail_unless (kept > 1);
}
GST_END_TEST;

static void
write_file (const gchar *name, gsize size)
{
  g_autofree gchar *path = g_build_filename (data, "media", name, NULL);
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autofree gchar *content = g_malloc0 (size + 1);

  g_mkdir_with_parents (folder, 0700);
  fail_unless (g_file_set_contents (path, content, size, NULL));
}

GST_START_TEST (test_retention)
{
  /* Each has 100 bytes; in order of age. */
  static const gchar *const files[] = {
    "gate/2025-12-30/235959-000001-aaaa.mp4", "yard/2026-01-01/115959-000002-aaaa.jpg",
    "gate/2026-01-01/120000-000003-aaaa.mp4", "yard/2026-01-01/120001-000004-aaaa.mp4",
    "yard/2026-01-31/110000-000005-aaaa.mp4", "gate/2026-01-31/115000-000006-aaaa.mp4",
  };
  /* They are not ours. */
  static const gchar *const others[] = { "notes.txt", "yard/2026-01-01/notes.txt",
                                         "yard/2026-01-02/000000-000001-aaaa.avi" };
  static const struct
  {
    guint days;
    guint64 bytes;
    guint removed;
  } cases[] = {
    { 0, 0, 0 },  { 0, 600, 0 }, { 0, 599, 1 },  { 0, 201, 4 },   { 0, 1, 6 }, { 32, 0, 0 },
    { 31, 0, 1 }, { 30, 0, 2 },  { 30, 399, 3 }, { 30, 1000, 2 }, { 1, 0, 4 }, { 30, 250, 4 },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autofree gchar *gate = g_build_filename (data, "media/gate/2025-12-30", NULL);
    g_auto (GStrv) removed = NULL;
    WatchMedia *media;
    WatchMediaStats stats;

    for (guint i = 0; i < G_N_ELEMENTS (files); i++)
      write_file (files[i], 100);
    for (guint i = 0; i < G_N_ELEMENTS (others); i++)
      write_file (others[i], 100);
    media = open_media (cases[c].days, cases[c].bytes);
    removed = watch_media_sweep (media, TIME);
    watch_media_get_stats (media, &stats);
    fail_unless (g_strv_length (removed) == cases[c].removed, "%u days, %u bytes: %u",
                 cases[c].days, (guint) cases[c].bytes, g_strv_length (removed));
    fail_unless_equals_uint64 (stats.removed, cases[c].removed);
    fail_unless_equals_uint64 (stats.bytes, 600 - 100 * cases[c].removed);
    for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
      g_autofree gchar *path = watch_media_get_path (media, files[i]);

      fail_unless_equals_int (g_file_test (path, G_FILE_TEST_EXISTS), i >= cases[c].removed);
      if (i < cases[c].removed)
        fail_unless_equals_string (removed[i], files[i]);
    }
    for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
      g_autofree gchar *path = g_build_filename (data, "media", others[i], NULL);

      fail_unless (g_file_test (path, G_FILE_TEST_EXISTS));
    }
    fail_unless_equals_int (g_file_test (gate, G_FILE_TEST_EXISTS), cases[c].removed == 0);
    watch_media_unref (media);
  }
}
GST_END_TEST;

static guint64
read_size (const gchar *path)
{
  GStatBuf status;

  fail_unless_equals_int (g_stat (path, &status), 0);
  return (guint64) status.st_size;
}

static void
expect_state (WatchMedia *media, const gchar *name, WatchFileState expected, const gchar *when)
{
  WatchFileState state = watch_media_get_state (media, name);

  fail_unless (state == expected, "%s, %s: state %u", name, when, state);
}

/* Which files records are to forget. */
GST_START_TEST (test_missing)
{
  static const gchar *const old = "yard/2026-01-01/120000-000001-aaaa.mp4";
  static const gchar *const lost = "yard/2026-01-31/120000-000002-aaaa.mp4";
  g_autofree gchar *folder = g_build_filename (data, "media", NULL);
  g_autofree gchar *away = g_build_filename (data, "away", NULL);
  g_autofree gchar *link = g_build_filename (folder, "roof", NULL);
  g_autoptr (GBytes) jpeg = g_bytes_new_static ("jpeg", 4);
  g_autofree gchar *kept = NULL, *unwritten = NULL, *full = NULL;
  g_auto (GStrv) removed = NULL;
  WatchMedia *media;

  write_file (old, 100);
  media = open_media (10, 0);
  kept = watch_media_add_picture (media, "yard", TIME, 1, jpeg);
  fail_unless_equals_int (symlink ("nowhere", link), 0);
  unwritten = watch_media_add_picture (media, "roof", TIME, 1, jpeg);
  watch_media_flush (media);
  expect_state (media, old, WATCH_FILE_THERE, "as found");
  expect_state (media, kept, WATCH_FILE_THERE, "as written");
  expect_state (media, lost, WATCH_FILE_MISSING, "without the file");
  expect_state (media, unwritten, WATCH_FILE_MISSING, "the folder could not be made");
  removed = watch_media_sweep (media, TIME);
  fail_unless_equals_int (g_strv_length (removed), 1);
  expect_state (media, old, WATCH_FILE_MISSING, "removed");
  /* Named before the thread, which writes others, has seen that the disk is full. */
  for (guint i = 0; i < 1000 && !full; i++) {
    watch_media_set_reserve (media, 0, 0);
    watch_media_flush (media);
    for (guint k = 0; k < 20; k++)
      g_free (watch_media_add_picture (media, "hall", TIME, 1, jpeg));
    watch_media_set_reserve (media, G_MAXINT64, 0);
    full = watch_media_add_picture (media, "hall", TIME, 1, jpeg);
    watch_media_flush (media);
  }
  fail_unless (full != NULL, "the thread was always faster");
  expect_state (media, full, WATCH_FILE_MISSING, "the disk is full");

  /* As if another disk were mounted. */
  fail_unless_equals_int (g_rename (folder, away), 0);
  fail_unless_equals_int (g_mkdir (folder, 0700), 0);
  expect_state (media, kept, WATCH_FILE_THERE, "without its disk");
  watch_media_unref (media);
  write_file ("yard/2026-01-20/120000-000001-aaaa.mp4", 100);
  media = open_media (10, 0);
  expect_state (media, kept, WATCH_FILE_THERE, "not mounted yet");
  watch_media_unref (media);
}
GST_END_TEST;

/* A disk is mounted after the start: its files count, and those of the folder below no longer.
 * Clips that are being written there go on. */
GST_START_TEST (test_late_disk)
{
  const Codec *codec = find_codec ();
  g_autofree gchar *folder = g_build_filename (data, "media", NULL);
  g_autofree gchar *away = g_build_filename (data, "away", NULL);
  g_autofree gchar *name = NULL, *path = NULL, *part = NULL;
  g_autoptr (GPtrArray) samples = NULL;
  WatchMediaStats stats;
  WatchRecorder *recorder;
  WatchMedia *media;

  if (!codec)
    return;
  samples = encode (codec, 50, 25, 64);
  write_file ("yard/2026-01-30/120000-000001-aaaa.mp4", 1 << 20);
  media = open_media (10, 1 << 20);
  fail_unless_equals_int (g_rename (folder, away), 0);
  write_file ("yard/2026-01-10/120000-000001-aaaa.mp4", 100);
  write_file ("yard/2026-01-29/120000-000002-aaaa.mp4", 1 << 19);
  write_file ("gate/2026-01-30/120000-000003-aaaa.mp4", 1 << 18);
  write_file ("gate/2026-01-30/130000-000004-aaaa.mp4.part", 100);
  recorder = watch_recorder_new (media, "yard", GST_SECOND, 60 * GST_SECOND, 1 << 20);
  add (recorder, samples, 0);
  name = watch_recorder_trigger (recorder, TIME, 5);
  for (guint i = 1; i < samples->len; i++)
    add (recorder, samples, i);
  watch_media_flush (media);
  path = watch_media_get_path (media, name);
  part = g_strconcat (path, ".part", NULL);
  fail_unless (g_file_test (part, G_FILE_TEST_EXISTS));
  for (guint i = 0; i < 3; i++) {
    g_auto (GStrv) removed = watch_media_sweep (media, TIME);

    watch_media_flush (media);
    fail_unless_equals_int (g_strv_length (removed), i == 1 ? 1 : 0);
    if (i == 1)
      fail_unless_equals_string (removed[0], "yard/2026-01-10/120000-000001-aaaa.mp4");
  }
  watch_recorder_free (recorder);
  watch_media_flush (media);
  fail_unless (g_file_test (path, G_FILE_TEST_EXISTS));
  watch_media_get_stats (media, &stats);
  fail_unless_equals_uint64 (stats.clips, 1);
  fail_unless_equals_uint64 (stats.failed, 0);
  fail_unless_equals_uint64 (stats.bytes, (1 << 19) + (1 << 18) + read_size (path));
  watch_media_unref (media);
}
GST_END_TEST;

/* The newer and many files of a camera that floods the folder go, not the older ones of another. */
GST_START_TEST (test_flood)
{
  g_autofree gchar *calm = NULL;
  g_auto (GStrv) removed = NULL;
  WatchMedia *media;
  WatchMediaStats stats;

  write_file ("calm/2026-01-10/120000-000001-aaaa.mp4", 300);
  write_file ("calm/2026-01-30/120000-000002-aaaa.mp4", 200);
  for (guint i = 0; i < 20; i++) {
    g_autofree gchar *name =
        g_strdup_printf ("flood/2026-01-%u/1100%02u-%06u-aaaa.mp4", 30 + i / 10, i, i + 1);

    write_file (name, 100);
  }
  media = open_media (30, 1000);
  removed = watch_media_sweep (media, TIME);
  watch_media_get_stats (media, &stats);
  fail_unless_equals_uint64 (stats.bytes, 1000);
  fail_unless_equals_int (g_strv_length (removed), 15);
  for (guint i = 0; i < 15; i++)
    fail_unless (g_str_has_prefix (removed[i], "flood/"), "%s", removed[i]);
  calm = watch_media_get_path (media, "calm/2026-01-10/120000-000001-aaaa.mp4");
  fail_unless (g_file_test (calm, G_FILE_TEST_EXISTS));
  watch_media_unref (media);
}
GST_END_TEST;

GST_START_TEST (test_names)
{
  static const gchar *const wrong[] = {
    "",
    "/",
    "..",
    "/etc/passwd",
    "../watch.sqlite",
    "yard/../../watch.sqlite",
    "../2026-01-31/120000-000001-aaaa.jpg",
    "./2026-01-31/120000-000001-aaaa.jpg",
    "yard/2026-01-31/120000-000001-aaaa.jpg/",
    "yard/2026-01-31/120000-000001-aaaa.jpg\n",
    "yard/2026-01-31/120000-000001-aaaa.mp4.part",
    "yard/2026-01-31/../120000-000001-aaaa.jpg",
    "/yard/2026-01-31/120000-000001-aaaa.jpg",
    "yard//2026-01-31/120000-000001-aaaa.jpg",
    "yard\\2026-01-31\\120000-000001-aaaa.jpg",
    "yard/2026-01-31/120000-000001-aaaa.svg",
    "y\xff/2026-01-31/120000-000001-aaaa.jpg",
  };
  g_autoptr (GBytes) jpeg = g_bytes_new_static ("jpeg", 4);
  g_autofree gchar *first = NULL, *second = NULL, *path = NULL, *content = NULL;
  WatchMedia *media = open_media (0, 0);
  WatchMediaStats stats;

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    fail_unless (watch_media_get_path (media, wrong[i]) == NULL, "%s", wrong[i]);
  /* An event and a track may have the same number and time. */
  first = watch_media_add_picture (media, "yard", TIME, 7, jpeg);
  second = watch_media_add_picture (media, "yard", TIME, 7, jpeg);
  fail_if (g_str_equal (first, second));
  watch_media_flush (media);
  path = watch_media_get_path (media, first);
  fail_unless (g_file_get_contents (path, &content, NULL, NULL));
  fail_unless_equals_string (content, "jpeg");
  watch_media_get_stats (media, &stats);
  fail_unless_equals_uint64 (stats.pictures, 2);
  fail_unless_equals_uint64 (stats.bytes, 8);
  watch_media_unref (media);
}
GST_END_TEST;

static Suite *
recorder_suite (void)
{
  Suite *suite = suite_create ("recorder");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_loop_test (tcase, test_exact, 0, G_N_ELEMENTS (codecs));
  tcase_add_test (tcase, test_leading);
  tcase_add_test (tcase, test_long);
  tcase_add_test (tcase, test_breaks);
  tcase_add_test (tcase, test_ring);
  tcase_add_test (tcase, test_full);
  tcase_add_test (tcase, test_write_error);
  tcase_add_test (tcase, test_neighbour);
  tcase_add_test (tcase, test_killed);
  tcase_add_test (tcase, test_retention);
  tcase_add_test (tcase, test_missing);
  tcase_add_test (tcase, test_late_disk);
  tcase_add_test (tcase, test_flood);
  tcase_add_test (tcase, test_names);
  return suite;
}

GST_CHECK_MAIN (recorder);
