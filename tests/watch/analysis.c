/* cudaccl-watch - tests of events, tracks, minutes and pictures that come from metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/analysis.h"

#include <gst/ccl/gstccl.h>

#include "tests/lib/waitfor.h"
#include "tests/lib/watchstore.h"

#define WIDTH 64
#define HEIGHT 48
#define SIZE 8

static WatchMedia *media;
static WatchSettings *settings;
static gint n_pictures; /* atomic */

static void
on_picture (const gchar *camera, GBytes *jpeg, gpointer user_data)
{
  g_atomic_int_inc (&n_pictures);
}

static WatchShared
get_shared (WatchStore *store)
{
  return (
      WatchShared){ .session = "session", .store = store, .media = media, .picture = on_picture };
}

static void
begin (void)
{
  g_autofree gchar *path = NULL;

  setup ();
  path = g_build_filename (folder, "watch.conf", NULL);
  media = watch_media_open (folder, 0, 0, NULL);
  settings = watch_settings_parse (path, "[camera yard]\nuri = test://\n", NULL);
  fail_unless (media != NULL && settings != NULL);
  g_atomic_int_set (&n_pictures, 0);
}

static void
end (void)
{
  watch_settings_unref (settings);
  watch_media_unref (media);
  teardown ();
}

static WatchAnalysis *
analysis_new (WatchStore *store)
{
  const WatchShared shared = get_shared (store);
  WatchStorePast past;
  WatchAnalysis *self;

  watch_store_get_past (store, "yard", &past);
  self = watch_analysis_new (settings, "yard", &past, &shared);
  watch_store_past_clear (&past);
  return self;
}

/* Adds a frame with @track, unless that is 0, whose box has @size pixels, and @event, which may be
 * NULL. */
/* How long the object of the next frames has stood, in milliseconds. */
static guint static_age = 0;

static void
add_frame (WatchAnalysis *self, gint64 time, guint track, guint size, const GstCclZoneEvent *event)
{
  static const gchar *const names[] = { "cat", "dog", NULL };
  static const GstCclZone zones[] = {
    { .name = (gchar *) "lawn", .inside = 2 },
    { .name = (gchar *) "gate", .tripwire = TRUE },
  };
  const GstCclComponent component = { .x = 8,
                                      .y = 8,
                                      .width = size,
                                      .height = size,
                                      .area = size * size,
                                      .track = track,
                                      .static_age = static_age,
                                      .class_id = track ? 1 + (track & 1) : 0,
                                      .confidence = 0.5 };
  g_autoptr (GstBuffer) frame = NULL;
  g_autoptr (GstCclClassNames) classes = gst_ccl_class_names_new (names);
  GstVideoInfo video;
  gsize bytes;

  gst_video_info_set_format (&video, GST_VIDEO_FORMAT_I420, WIDTH, HEIGHT);
  bytes = GST_VIDEO_INFO_SIZE (&video);
  frame = gst_buffer_new_wrapped (g_malloc0 (bytes), bytes);
  gst_ccl_meta_set_class_names (
      gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, track != 0, &component, track != 0), classes);
  gst_ccl_zones_meta_set_class_names (gst_buffer_add_ccl_zones_meta (frame, WIDTH, HEIGHT, zones,
                                                                     G_N_ELEMENTS (zones), event,
                                                                     event != NULL),
                                      classes);
  watch_analysis_add_frame (self, frame, &video, TRUE, time);
}

static GPtrArray *
find_events (WatchStore *store)
{
  const WatchQuery query = { .kind = -1, .limit = 1000 };
  GPtrArray *events;
  gint64 next;

  fail_unless (watch_store_flush (store));
  events = watch_store_find_events (store, &query, &next, NULL);
  fail_unless (events != NULL);
  return events;
}

/* Standing objects are no motion, however long they stand. */
GST_START_TEST (test_standing)
{
  WatchStore *store = open_store ();
  WatchAnalysis *analysis = analysis_new (store);
  g_autoptr (GPtrArray) events = NULL;
  const WatchEvent *event;
  guint i;

  for (i = 0; i < 100; i++) {
    static_age = i < 20 ? 0 : (i - 18) * 100;
    add_frame (analysis, TIME + i * SECOND / 10, 1, 9, NULL);
  }
  static_age = 0;
  watch_analysis_free (analysis);
  events = find_events (store);
  fail_unless_equals_int (events->len, 2);
  event = g_ptr_array_index (events, 0); /* the last one */
  fail_unless_equals_int (event->kind, WATCH_EVENT_STILL);
  fail_unless (event->time <= TIME + 7 * SECOND);
  watch_store_close (store);
}
GST_END_TEST;

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  const WatchEvent *x = *(WatchEvent *const *) a, *y = *(WatchEvent *const *) b;

  return (x->number > y->number) - (x->number < y->number);
}

/* Zone events become stored events, and counts continue after a restart. */
GST_START_TEST (test_zones)
{
  static const struct
  {
    GstCclZoneEvent event;
    WatchEventKind kind;
    guint64 in, out;
    gdouble x, y;
  } cases[] = {
    { { GST_CCL_ZONE_ENTER, 0, 1, 0, 32, 24 }, WATCH_EVENT_ENTER, 1, 0, 0.5, 0.5 },
    { { GST_CCL_ZONE_DWELL, 0, 1, 1500000000, 32, 24 }, WATCH_EVENT_DWELL, 1, 0, 0.5, 0.5 },
    { { GST_CCL_ZONE_LEAVE, 0, 1, 0, 80, -8 }, WATCH_EVENT_LEAVE, 1, 1, 1, 0 },
    { { GST_CCL_ZONE_IN, 1, 1, 0, 16, 24, .class_id = 1 }, WATCH_EVENT_IN, 1, 0, 0.25, 0.5 },
    { { GST_CCL_ZONE_OUT, 1, 1, 0, 16, 24, .class_id = 2 }, WATCH_EVENT_OUT, 1, 1, 0.25, 0.5 },
    { { GST_CCL_ZONE_STOPPED, 0, 1, 9000000000, 32, 24 }, WATCH_EVENT_STOPPED, 1, 1, 0.5, 0.5 },
    { { GST_CCL_ZONE_LEFT, 0, 1, 8000000000, 32, 24 }, WATCH_EVENT_LEFT, 1, 1, 0.5, 0.5 },
    { { GST_CCL_ZONE_REMOVED, 0, 1, 7000000000, 32, 24 }, WATCH_EVENT_REMOVED, 1, 1, 0.5, 0.5 },
    { { GST_CCL_ZONE_ENTER, 0, 2, 0, 0, 0, .frame_age = 250000000 },
      WATCH_EVENT_ENTER,
      2,
      1,
      0,
      0 },
  };
  static const gchar *const zones[] = { "lawn", "gate" };
  static const gchar *const classes[] = { NULL, "cat", "dog" };
  WatchStore *store = open_store ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstCclZoneEvent *from = &cases[i].event;
    WatchAnalysis *analysis = analysis_new (store);
    g_autoptr (GPtrArray) events = NULL;
    const WatchEvent *event = NULL;

    add_frame (analysis, TIME + i * SECOND, 0, 0, from);
    watch_analysis_free (analysis);
    events = find_events (store);
    for (guint k = 0; k < events->len && !event; k++)
      if (((WatchEvent *) g_ptr_array_index (events, k))->number == i + 1)
        event = g_ptr_array_index (events, k);
    fail_unless (event != NULL, "case %u: no event", i);
    fail_unless (
        event->kind == cases[i].kind && event->in == cases[i].in && event->out == cases[i].out,
        "case %u: kind %u, in %u, out %u", i, event->kind, (guint) event->in, (guint) event->out);
    fail_unless_equals_int64 (event->time, TIME + i * SECOND - from->frame_age / 1000);
    fail_unless_equals_int64 (event->dwell, from->dwell / 1000);
    fail_unless_equals_string (event->zone, zones[from->zone]);
    fail_unless (g_strcmp0 (event->class_name, classes[from->class_id]) == 0, "case %u: %s", i,
                 event->class_name);
    fail_unless_equals_float (event->x, cases[i].x);
    fail_unless_equals_float (event->y, cases[i].y);
  }
  watch_store_close (store);
}
GST_END_TEST;

/* When movement begins and ends, and when a track does. */
GST_START_TEST (test_times)
{
  enum
  {
    FRAME,
    RESTART, /* the stream begins anew */
    TICK
  };
  typedef struct
  {
    gint action;
    gdouble time; /* s */
    guint track;
  } Step;
  static const struct
  {
    Step steps[8];
    guint n;
    const gchar *events; /* kinds and seconds */
    const gchar *tracks; /* numbers, and seconds from begin to end, latest first */
  } cases[] = {
    { { { FRAME, 0, 1 }, { FRAME, 1, 1 }, { FRAME, 5.5, 0 }, { FRAME, 6.5, 0 } },
      4,
      "motion 0.0, still 6.5, ",
      "1: 0.0-1.0, " },
    /* Another object keeps it moving. */
    { { { FRAME, 0, 1 }, { FRAME, 4.5, 2 }, { FRAME, 9, 0 }, { FRAME, 9.75, 0 } },
      4,
      "motion 0.0, still 9.8, ",
      "2: 4.5-4.5, 1: 0.0-0.0, " },
    /* A track that comes back too late is no other one. */
    { { { FRAME, 0, 1 }, { FRAME, 4, 1 }, { FRAME, 8.5, 0 }, { FRAME, 8.75, 1 } },
      4,
      "motion 0.0, ",
      "1: 0.0-4.0, " },
    /* Numbers go on in another stream. */
    { { { FRAME, 0, 1 }, { FRAME, 1, 2 }, { RESTART, 2 }, { FRAME, 3, 1 } },
      4,
      "motion 0.0, still 2.0, motion 3.0, ",
      "3: 3.0-3.0, 2: 1.0-1.0, 1: 0.0-0.0, " },
    /* Without frames. */
    { { { FRAME, 0, 1 }, { TICK, 7 }, { FRAME, 7.5, 2 }, { TICK, 16 } },
      4,
      "motion 0.0, ",
      "2: 7.5-7.5, 1: 0.0-0.0, " },
    /* The clock is set back: by little, and by much. */
    { { { FRAME, 0, 1 }, { FRAME, -30, 0 }, { FRAME, 1, 1 } }, 3, "motion 0.0, ", "1: 0.0-1.0, " },
    { { { FRAME, 0, 1 }, { FRAME, -90, 0 }, { FRAME, -89, 2 } },
      3,
      "motion 0.0, still -90.0, motion -89.0, ",
      "1: 0.0-0.0, 2: -89.0--89.0, " },
    { { { FRAME, 0, 1 }, { FRAME, -90, 0 }, { FRAME, -89, 1 } },
      3,
      "motion 0.0, still -90.0, motion -89.0, ",
      "1: 0.0-0.0, " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *data = g_strdup_printf ("%s/%u", folder, i);
    g_autoptr (GString) text = g_string_new (NULL), tracks_text = g_string_new (NULL);
    const WatchQuery query = { .limit = 1000 };
    WatchStore *store = watch_store_open (data, NULL);
    WatchAnalysis *analysis = analysis_new (store);
    g_autoptr (GPtrArray) events = NULL, tracks = NULL;
    guint64 base;
    gint64 next;

    for (guint k = 0; k < cases[i].n; k++) {
      const Step *step = &cases[i].steps[k];
      const gint64 time = TIME + (gint64) (step->time * SECOND);

      if (step->action == FRAME)
        add_frame (analysis, time, step->track, SIZE, NULL);
      else if (step->action == TICK)
        watch_analysis_tick (analysis, time);
      else
        watch_analysis_restart (analysis, time);
    }
    watch_analysis_free (analysis);
    events = find_events (store);
    g_ptr_array_sort (events, compare_numbers);
    /* Numbers go on in a session. */
    base = ((WatchEvent *) g_ptr_array_index (events, 0))->track - 1;
    for (guint k = 0; k < events->len; k++) {
      const WatchEvent *event = g_ptr_array_index (events, k);

      /* The last one is that of the end. */
      if (event->kind == WATCH_EVENT_STILL && event->time > TIME + 3600 * SECOND)
        continue;
      g_string_append_printf (text, "%s %.1f, ", watch_event_kind_get_name (event->kind),
                              (gdouble) (event->time - TIME) / SECOND);
    }
    tracks = watch_store_find_tracks (store, &query, &next, NULL);
    for (guint k = 0; k < tracks->len; k++) {
      const WatchTrack *track = g_ptr_array_index (tracks, k);

      g_string_append_printf (tracks_text, "%u: %.1f-%.1f, ", (guint) (track->number - base),
                              (gdouble) (track->begin - TIME) / SECOND,
                              (gdouble) (track->end - TIME) / SECOND);
    }
    fail_unless (g_str_equal (text->str, cases[i].events), "case %u: %s", i, text->str);
    fail_unless (g_str_equal (tracks_text->str, cases[i].tracks), "case %u: %s", i,
                 tracks_text->str);
    watch_store_close (store);
  }
}
GST_END_TEST;

/* An event gets the picture of its track, or that of its frame; a track has the one in which it is
 * largest. */
GST_START_TEST (test_pictures)
{
  const GstCclZoneEvent enter = { GST_CCL_ZONE_ENTER, 0, 1, 0, 32, 24 };
  const GstCclZoneEvent unknown = { GST_CCL_ZONE_ENTER, 0, 7, 0, 32, 24 };
  WatchStore *store = open_store ();
  WatchAnalysis *analysis = analysis_new (store);
  const WatchQuery query = { .limit = 1000 };
  g_autoptr (GPtrArray) events = NULL, tracks = NULL;
  const WatchEvent *motion, *entered, *other;
  const WatchTrack *track, *second;
  gint64 next;

  add_frame (analysis, TIME, 1, SIZE, NULL);
  WAIT_FOR (g_atomic_int_get (&n_pictures) == 1);
  add_frame (analysis, TIME + SECOND, 1, SIZE, &enter);
  add_frame (analysis, TIME + 2 * SECOND, 1, SIZE, &unknown);
  WAIT_FOR (g_atomic_int_get (&n_pictures) == 2);
  /* Saved when it is asked for: when the track ends. */
  add_frame (analysis, TIME + 3 * SECOND, 2, SIZE, NULL);
  watch_analysis_free (analysis);
  watch_media_flush (media);
  fail_unless_equals_int (g_atomic_int_get (&n_pictures), 3);

  events = find_events (store);
  g_ptr_array_sort (events, compare_numbers);
  fail_unless_equals_int (events->len, 4);
  motion = g_ptr_array_index (events, 0);
  entered = g_ptr_array_index (events, 1);
  other = g_ptr_array_index (events, 2);
  fail_unless (motion->picture && other->picture);
  fail_unless_equals_string (entered->picture, motion->picture);
  fail_if (g_str_equal (other->picture, motion->picture));
  tracks = watch_store_find_tracks (store, &query, &next, NULL);
  fail_unless_equals_int (tracks->len, 2);
  second = g_ptr_array_index (tracks, 0);
  track = g_ptr_array_index (tracks, 1);
  fail_unless_equals_string (track->picture, motion->picture);
  fail_unless_equals_string (track->class_name, "dog");
  fail_unless (second->picture && strstr (second->picture, "/120003-"), "%s", second->picture);
  fail_unless_equals_string (second->class_name, "cat");
  for (guint i = 0; i < tracks->len; i++) {
    const WatchTrack *one = g_ptr_array_index (tracks, i);
    g_autofree gchar *path = watch_media_get_path (media, one->picture);

    fail_unless (g_file_test (path, G_FILE_TEST_EXISTS));
  }
  watch_store_close (store);
}
GST_END_TEST;

/* A track that grows gets another picture, but not at once. */
GST_START_TEST (test_growth)
{
  static const struct
  {
    gdouble after; /* the first frame, in seconds */
    guint size;
    gboolean taken;
  } cases[] = {
    { 0.25, 4 * SIZE, FALSE }, { 0.45, 4 * SIZE, FALSE }, { 0.5, SIZE + 1, TRUE },
    { 0.5, SIZE, FALSE },      { 0.5, 4 * SIZE, TRUE },   { -0.1, 4 * SIZE, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *data = g_strdup_printf ("%s/%u", folder, i);
    const gint64 time = TIME + (gint64) (cases[i].after * SECOND);
    WatchStore *store = watch_store_open (data, NULL);
    WatchAnalysis *analysis = analysis_new (store);
    const gint before = g_atomic_int_get (&n_pictures);

    add_frame (analysis, TIME, 1, SIZE, NULL);
    WAIT_FOR (g_atomic_int_get (&n_pictures) == before + 1);
    add_frame (analysis, time, 1, cases[i].size, NULL);
    watch_analysis_free (analysis);
    /* The first is that of the event `motion`. */
    fail_unless (g_atomic_int_get (&n_pictures) == before + 1 + cases[i].taken, "case %u", i);
    watch_store_close (store);
  }
}
GST_END_TEST;

/* Lines of frames have all boxes, and there is none of an empty frame. */
GST_START_TEST (test_lines)
{
  static const struct
  {
    const gchar *settings;
    guint n;
  } cases[] = {
    { "[lines]\nkinds = frames\nfile = lines\n", 1 },
    { "[lines]\nkinds = frames\n[mqtt]\nbroker = mqtt://localhost\n", 1 },
    { "[lines]\nkinds = events,frames\n[kafka]\nbrokers = localhost\n", 1 },
    { "[lines]\nkinds = tracks\nfile = lines\n", 0 },
    { "[lines]\nkinds = frames\n", 0 },
  };
  static const gchar *const sinks[] = { "sink", NULL };
  static const WatchLineKinds kinds[] = { WATCH_LINE_FRAMES };
  WatchStore *store = open_store ();
  g_autofree gchar *path = g_build_filename (folder, "watch.conf", NULL);
  gint64 last = 0;

  watch_store_set_sinks (store, sinks, kinds, 1 << 20);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text =
        g_strconcat ("[camera yard]\nuri = test://\n", cases[i].settings, NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (GPtrArray) lines = NULL;
    WatchAnalysis *analysis;
    const WatchLine *line;

    watch_settings_unref (settings);
    settings = watch_settings_parse (path, text, &error);
    fail_unless (settings != NULL, "case %u: %s", i, error ? error->message : "");
    analysis = analysis_new (store);
    add_frame (analysis, TIME, 0, 0, NULL);
    add_frame (analysis, TIME + SECOND, 2, SIZE, NULL);
    add_frame (analysis, TIME + 2 * SECOND, 0, 0, NULL);
    watch_analysis_free (analysis);
    fail_unless (watch_store_flush (store));
    lines = watch_store_peek (store, "sink", last, 10);
    fail_unless (lines->len == cases[i].n, "case %u: %u lines", i, lines->len);
    if (!lines->len)
      continue;
    line = g_ptr_array_index (lines, 0);
    last = line->row;
    fail_unless (strstr (line->line, "\"camera\":\"yard\",\"session\":\"session\",\"frame\":2,"),
                 "%s", line->line);
    fail_unless (strstr (line->line, "\"class\":\"cat\""), "%s", line->line);
  }
  watch_store_close (store);
}
GST_END_TEST;

/* Counts of minutes, while the clock goes on and is set back. */
GST_START_TEST (test_minutes)
{
  static const struct
  {
    gint time; /* s */
    guint track;
  } frames[] = { { 0, 1 }, { 50, 2 }, { 61, 2 }, { 59, 3 }, { 62, 4 }, { -300, 5 }, { -299, 0 } };
  WatchStore *store = open_store ();
  WatchAnalysis *analysis = analysis_new (store);
  g_autoptr (GPtrArray) minutes = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  const WatchQuery query = { .limit = 100, .camera = "yard", .end = TIME + 3600 * SECOND };

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++)
    add_frame (analysis, TIME + frames[i].time * SECOND, frames[i].track, SIZE, NULL);
  watch_analysis_free (analysis);
  fail_unless (watch_store_flush (store));
  minutes = watch_store_find_minutes (store, &query, NULL);
  for (guint i = 0; i < minutes->len; i++) {
    const WatchMinute *minute = g_ptr_array_index (minutes, i);

    g_string_append_printf (text, "%d: %u in, %u out, %u inside; ",
                            (gint) ((minute->time - TIME) / SECOND), (guint) minute->in,
                            (guint) minute->out, minute->inside);
  }
  fail_unless_equals_string (text->str, "-300: 1 in, 4 out, 1 inside; 0: 2 in, 1 out, 1 inside; "
                                        "60: 2 in, 0 out, 1 inside; ");
  watch_store_close (store);
}
GST_END_TEST;

static Suite *
analysis_suite (void)
{
  Suite *s = suite_create ("analysis");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, begin, end);
  tcase_add_test (tc, test_zones);
  tcase_add_test (tc, test_standing);
  tcase_add_test (tc, test_times);
  tcase_add_test (tc, test_pictures);
  tcase_add_test (tc, test_growth);
  tcase_add_test (tc, test_lines);
  tcase_add_test (tc, test_minutes);
  return s;
}

GST_CHECK_MAIN (analysis);
