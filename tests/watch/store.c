/* cudaccl-watch - tests of the store
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apps/watch/records/json.h"
#include "apps/watch/store/path.h"
#include "apps/watch/store/store.h"
#include "tests/lib/watchstore.h"
#include "tests/reference/path.h"

#define SCALE 16384

static const gchar *program;

static WatchTrack *
new_track (const gchar *camera, guint64 number, gint64 begin, gint64 end, const gchar *class_name,
           WatchPoint *points, guint n_points, gchar **zones)
{
  WatchTrack track = { (gchar *) camera,
                       (gchar *) "session",
                       number,
                       begin,
                       end,
                       (gchar *) class_name,
                       0.75,
                       n_points,
                       points,
                       zones,
                       NULL };
  return watch_track_copy (&track);
}

static guint64
get_last_track (WatchStore *store, const gchar *camera)
{
  WatchStorePast past;

  watch_store_get_past (store, camera, &past);
  watch_store_past_clear (&past);
  return past.last_track;
}

static void
check_counts (WatchStore *store, const gchar *camera, const gchar *zone, guint64 in, guint64 out)
{
  WatchStorePast past;
  guint n = 0;

  watch_store_get_past (store, camera, &past);
  for (guint i = 0; i < past.counts->len; i++) {
    const WatchStoreCounts *counts = &g_array_index (past.counts, WatchStoreCounts, i);

    if (!g_str_equal (counts->zone, zone))
      continue;
    n++;
    fail_unless_equals_uint64 (counts->in, in);
    fail_unless_equals_uint64 (counts->out, out);
  }
  fail_unless_equals_int (n, 1);
  watch_store_past_clear (&past);
}

GST_START_TEST (test_events)
{
  static const struct
  {
    WatchQuery query;
    const gchar *numbers;
  } cases[] = {
    { { .kind = -1, .limit = 1000 }, "3 5 4 2 1" },
    { { .kind = -1, .limit = 2 }, "3 5 4 2 1" },
    { { .kind = -1, .limit = 5, .camera = "yard" }, "3 2 1" },
    { { .kind = -1, .limit = 1, .zone = "door" }, "5 2 1" },
    { { .kind = -1, .limit = 1, .class_name = "dog" }, "4 2" },
    { { .kind = WATCH_EVENT_IN, .limit = 10 }, "5 1" },
    { { .kind = -1, .limit = 10, .begin = TIME + 2, .end = TIME + 9 }, "5 4 2" },
    { { .kind = -1, .limit = 10, .camera = "roof" }, "" },
    { { .kind = -1, .limit = 10, .camera = "hall", .zone = "door", .class_name = "cat" }, "5" },
  };
  WatchStore *store = open_store ();

  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", "cat"));
  watch_store_add_event (store, new_event ("yard", 2, TIME + 2, WATCH_EVENT_OUT, "door", "dog"));
  watch_store_add_event (store, new_event ("yard", 3, TIME + 9, WATCH_EVENT_MOTION, NULL, NULL));
  /* At the same time. */
  watch_store_add_event (store, new_event ("hall", 4, TIME + 5, WATCH_EVENT_ENTER, "rug", "dog"));
  watch_store_add_event (store, new_event ("hall", 5, TIME + 5, WATCH_EVENT_IN, "door", "cat"));

  for (guint restart = 0; restart < 2; restart++) {
    fail_unless (watch_store_flush (store));
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
      g_autofree gchar *numbers = find_numbers (store, cases[i].query, FALSE);

      fail_unless (g_str_equal (numbers, cases[i].numbers), "case %u: %s", i, numbers);
    }
    fail_unless_equals_uint64 (get_last_track (store, "yard"), 7);
    fail_unless_equals_uint64 (get_last_track (store, "roof"), 0);
    check_counts (store, "yard", "door", 2, 2);
    check_counts (store, "hall", "door", 5, 2);
    check_counts (store, "hall", "rug", 4, 2);
    watch_store_close (store);
    store = open_store ();
  }

  /* All that an event has. */
  {
    WatchQuery query = { .kind = -1, .limit = 1, .begin = TIME, .end = TIME + 1 };
    g_autoptr (WatchEvent) event = new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", "cat");
    g_autofree gchar *expected = watch_event_to_json (event);
    g_autofree gchar *line = NULL;
    gint64 next;
    g_autoptr (GPtrArray) found = watch_store_find_events (store, &query, &next, NULL);

    line = watch_event_to_json (g_ptr_array_index (found, 0));
    fail_unless_equals_string (line, expected);
  }
  watch_store_close (store);
}
GST_END_TEST;

GST_START_TEST (test_wrong_queries)
{
  static const gdouble points[] = { 0, 0, 1, NAN, 0.5, 0.5 };
  static const WatchQuery queries[] = {
    { .limit = 0 },
    { .limit = 1001 },
    { .limit = 1, .begin = 2, .end = 2 },
    { .limit = 1, .points = points, .n_points = 1 },
    { .limit = 1, .points = points, .n_points = 2 },
    { .limit = 1, .points = points, .n_points = 65 },
  };
  WatchStore *store = open_store ();

  for (guint i = 0; i < G_N_ELEMENTS (queries); i++) {
    g_autoptr (GError) error = NULL;
    gint64 next;

    fail_if (watch_store_find_tracks (store, &queries[i], &next, &error) != NULL, "query %u", i);
    fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT));
  }
  watch_store_close (store);
}
GST_END_TEST;

GST_START_TEST (test_track)
{
  WatchPoint points[] = { { TIME, -0.25, 0.5, 0.25, 0.125 },
                          { TIME + 1500000, 0.125, 0.5, 0.25, 0.5 },
                          { TIME + 90000000, 1, 0, 0, 1 } };
  gchar *zones[] = { (gchar *) "door", (gchar *) "hall", NULL };
  WatchQuery query = { .limit = 1 };
  g_autoptr (WatchTrack) track =
      new_track ("yard", 42, TIME, TIME + 90000000, "person", points, 3, zones);
  g_autofree gchar *expected = watch_track_to_json (track), *line = NULL;
  WatchStore *store = open_store ();
  g_autoptr (GPtrArray) found = NULL;
  gint64 next, end;

  watch_store_add_track (store, watch_track_copy (track));
  watch_store_flush (store);
  found = watch_store_find_tracks (store, &query, &next, NULL);
  fail_unless_equals_int (found->len, 1);
  line = watch_track_to_json (g_ptr_array_index (found, 0));
  fail_unless_equals_string (line, expected);
  fail_unless_equals_uint64 (get_last_track (store, "yard"), 42);
  fail_unless (watch_store_get_session_end (store, "session", &end, NULL));
  fail_unless_equals_int64 (end, TIME + 90000000);
  fail_unless (watch_store_get_session_end (store, "another", &end, NULL));
  fail_unless_equals_int64 (end, 0);
  watch_store_close (store);
}
GST_END_TEST;

GST_START_TEST (test_minutes)
{
  static const WatchMinute minutes[] = {
    { (gchar *) "yard", NULL, TIME, 1, 2, 3 },
    { (gchar *) "yard", NULL, TIME, 10, 20, 1 },
    { (gchar *) "yard", (gchar *) "door", TIME, 4, 5, 6 },
    { (gchar *) "hall", NULL, TIME - 60 * SECOND, 7, 8, 9 },
  };
  static const struct
  {
    WatchQuery query;
    const gchar *text;
  } cases[] = {
    { { .limit = 10 }, "hall 7/8/9, yard 11/22/3, " },
    { { .limit = 10, .camera = "yard" }, "yard 11/22/3, " },
    { { .limit = 10, .camera = "yard", .zone = "door" }, "yard 4/5/6, " },
    { { .limit = 10, .begin = TIME }, "yard 11/22/3, " },
    { { .limit = 10, .end = TIME }, "hall 7/8/9, " },
  };
  WatchStore *store = open_store ();

  for (guint i = 0; i < G_N_ELEMENTS (minutes); i++) {
    WatchMinute *minute = g_memdup2 (&minutes[i], sizeof (minutes[i]));

    minute->camera = g_strdup (minute->camera);
    minute->zone = g_strdup (minute->zone);
    watch_store_add_minute (store, minute);
  }
  watch_store_flush (store);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) found = watch_store_find_minutes (store, &cases[i].query, NULL);
    g_autoptr (GString) text = g_string_new (NULL);

    for (guint j = 0; j < found->len; j++) {
      WatchMinute *minute = g_ptr_array_index (found, j);

      g_string_append_printf (text, "%s %d/%d/%u, ", minute->camera, (int) minute->in,
                              (int) minute->out, minute->inside);
    }
    fail_unless (g_str_equal (text->str, cases[i].text), "case %u: %s", i, text->str);
  }
  watch_store_close (store);
}
GST_END_TEST;

/* --- Searching paths --- */

static gint
latest_first (gconstpointer a, gconstpointer b)
{
  const WatchTrack *x = *(WatchTrack *const *) a, *y = *(WatchTrack *const *) b;

  if (x->begin != y->begin)
    return x->begin < y->begin ? 1 : -1;
  return x->number < y->number ? 1 : -1;
}

static gdouble
random_share (GRand *rand, gdouble low, gdouble high)
{
  /* Coarse, so that lines often touch or share points. */
  gint step = g_rand_boolean (rand) ? 1 : SCALE / 64;

  return floor (g_rand_double_range (rand, low, high) * SCALE / step) * step / SCALE;
}

static const gchar *const cameras[] = { "yard", "hall", "roof" };
static const gchar *const classes[] = { "person", "car", NULL };
static const gchar *const zone_names[] = { "door", "lawn", "gate" };

static WatchTrack *
random_track (GRand *rand, guint64 number)
{
  WatchPoint points[12];
  guint n_points = g_rand_int_range (rand, 1, G_N_ELEMENTS (points) + 1), n_zones = 0;
  /* Few different times, so that they are often equal. */
  gint64 begin = TIME + g_rand_int_range (rand, 0, 2000) * SECOND;
  gchar *zones[G_N_ELEMENTS (zone_names) + 1] = { NULL };
  gdouble x = random_share (rand, -0.25, 1), y = random_share (rand, -0.25, 1);

  for (guint i = 0; i < n_points; i++) {
    points[i] = (WatchPoint){ begin + i * SECOND, x, y, random_share (rand, 0, 0.25),
                              random_share (rand, 0, 0.25) };
    x += random_share (rand, -0.125, 0.125);
    y += random_share (rand, -0.125, 0.125);
  }
  for (guint i = 0; i < G_N_ELEMENTS (zone_names); i++) {
    if (g_rand_int_range (rand, 0, 4) == 0)
      zones[n_zones++] = (gchar *) zone_names[i];
  }
  return new_track (cameras[g_rand_int_range (rand, 0, 3)], number, begin,
                    points[n_points - 1].time, classes[g_rand_int_range (rand, 0, 3)], points,
                    n_points, n_zones ? zones : NULL);
}

GST_START_TEST (test_search)
{
  const gchar *given = g_getenv ("SEED");
  guint32 seed = given ? g_ascii_strtoull (given, NULL, 10) : g_random_int ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) tracks = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_track_free);
  WatchStore *store = open_store ();
  guint n_found = 0;

  g_print ("SEED=%u\n", seed);
  /* Two blocks and some. */
  for (guint i = 0; i < 2500; i++) {
    WatchTrack *track = random_track (rand, i + 1);

    g_ptr_array_add (tracks, track);
    watch_store_add_track (store, watch_track_copy (track));
    if (i % 500 == 0)
      watch_store_flush (store);
  }
  watch_store_close (store);
  store = open_store ();
  g_ptr_array_sort (tracks, latest_first);

  for (guint i = 0; i < 300; i++) {
    guint n = g_rand_int_range (rand, 0, 4) == 0 ? 0 : g_rand_int_range (rand, 2, 9);
    gdouble size = g_rand_boolean (rand) ? 1 : 0.0625;
    gdouble x = random_share (rand, -0.25, 1), y = random_share (rand, -0.25, 1), points[16];
    ReferencePoint shape[8];
    g_autoptr (GString) expected = g_string_new (NULL);
    g_autofree gchar *numbers = NULL;
    WatchQuery query = { .limit = g_rand_int_range (rand, 1, 1000), .n_points = n };

    for (guint j = 0; j < n; j++) {
      points[2 * j] = x + random_share (rand, -size, size);
      points[2 * j + 1] = y + random_share (rand, -size, size);
      shape[j] = (ReferencePoint){ points[2 * j], points[2 * j + 1] };
    }
    query.points = n ? points : NULL;
    if (g_rand_boolean (rand))
      query.camera = cameras[g_rand_int_range (rand, 0, 3)];
    if (g_rand_int_range (rand, 0, 3) == 0)
      query.class_name = classes[g_rand_int_range (rand, 0, 2)];
    if (g_rand_int_range (rand, 0, 3) == 0)
      query.zone = zone_names[g_rand_int_range (rand, 0, 3)];
    if (g_rand_boolean (rand)) {
      query.begin = TIME + g_rand_int_range (rand, 0, 2000) * SECOND;
      query.end = query.begin + g_rand_int_range (rand, 1, 500) * SECOND;
    }
    for (guint j = 0; j < tracks->len; j++) {
      WatchTrack *track = g_ptr_array_index (tracks, j);

      if ((query.camera && !g_str_equal (query.camera, track->camera)) ||
          (query.class_name && g_strcmp0 (query.class_name, track->class_name) != 0) ||
          (query.zone &&
           (!track->zones || !g_strv_contains ((const gchar *const *) track->zones, query.zone))) ||
          track->end < query.begin || (query.end && track->begin >= query.end) ||
          (n && !reference_path_fits (track, shape, n)))
        continue;
      g_string_append_printf (expected, "%s%" G_GUINT64_FORMAT, expected->len ? " " : "",
                              track->number);
      n_found++;
    }
    numbers = find_numbers (store, query, TRUE);
    fail_unless (g_str_equal (numbers, expected->str), "SEED=%u query %u: %s\nexpected %s", seed, i,
                 numbers, expected->str);
  }
  fail_unless (n_found > 1000);
  watch_store_close (store);
}
GST_END_TEST;

/* Damaged data is read without harm, and cut short. */
GST_START_TEST (test_path_zones)
{
  static const guint32 numbers[] = { 3, 4, 5, 127, 300 };
  g_autoptr (GByteArray) data = g_byte_array_new ();

  watch_path_pack (data, numbers, G_N_ELEMENTS (numbers), TIME, NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    fail_unless (watch_path_has_zone (data->data, data->len, numbers[i]), "%u", numbers[i]);
  fail_if (watch_path_has_zone (data->data, data->len, 6));
}
GST_END_TEST;

GST_START_TEST (test_damaged_paths)
{
  const gchar *given = g_getenv ("SEED");
  guint32 seed = given ? g_ascii_strtoull (given, NULL, 10) : g_random_int ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  const gdouble polygon[] = { 0, 0, 1, 0, 1, 1 };
  WatchPoint points[] = { { TIME, 0.5, 0.5, 0.25, 0.25 }, { TIME + SECOND, 0.25, 0.5, 0.5, 0.25 } };
  const guint32 numbers[] = { 3, 300 };
  guint n_damaged = 0;
  WatchShape shape;

  g_print ("SEED=%u\n", seed);
  fail_unless (watch_shape_init (&shape, polygon, 3));
  for (guint i = 0; i < 20000; i++) {
    g_autoptr (GByteArray) data = g_byte_array_new ();
    g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (WatchPoint));
    g_autoptr (GArray) zones = g_array_new (FALSE, FALSE, sizeof (guint32));
    g_autofree guint8 *copy = NULL;

    watch_path_pack (data, numbers, 2, TIME, points, 2);
    for (guint n = g_rand_int_range (rand, 0, 4); n > 0; n--)
      data->data[g_rand_int_range (rand, 0, (gint) data->len)] = g_rand_int (rand);
    g_byte_array_set_size (data, g_rand_int_range (rand, 0, (gint) data->len + 1));
    /* So that a sanitizer sees what is read beyond the end. */
    copy = g_memdup2 (data->data, data->len);
    n_damaged += !watch_path_unpack (copy, data->len, TIME, zones, found);
    watch_path_has_zone (copy, data->len, 7);
    watch_path_get_grid (copy, data->len);
    watch_shape_matches (&shape, copy, data->len);
    fail_unless (found->len <= data->len && zones->len <= data->len, "SEED=%u", seed);
    for (guint j = 0; j < found->len; j++) {
      const WatchPoint *point = &g_array_index (found, WatchPoint, j);

      fail_unless (ABS (point->x) <= 4 && ABS (point->height) <= 4, "SEED=%u", seed);
    }
  }
  fail_unless (n_damaged > 1000);
}
GST_END_TEST;

/* --- The spool --- */

static gchar *
peek (WatchStore *store, const gchar *sink, gint64 row, gint64 *last)
{
  g_autoptr (GPtrArray) lines = watch_store_peek (store, sink, row, 1000);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < lines->len; i++) {
    WatchLine *line = g_ptr_array_index (lines, i);

    g_string_append_printf (text, "%s %s %.2s, ", line->camera,
                            watch_line_kind_get_name (line->kind), line->line);
    *last = line->row;
  }
  return g_string_free (text, FALSE);
}

#define fail_unless_lines(store, sink, row, last, expected)  \
  G_STMT_START {                                             \
    g_autofree gchar *found = peek (store, sink, row, last); \
    fail_unless_equals_string (found, expected);             \
  }                                                          \
  G_STMT_END

GST_START_TEST (test_spool)
{
  static const gchar *const names[] = { "mqtt", "kafka", NULL };
  static const WatchLineKinds kinds[] = { WATCH_LINE_EVENTS,
                                          WATCH_LINE_EVENTS | WATCH_LINE_FRAMES };
  static const gchar *const other_names[] = { "lines", "kafka", NULL };
  static const WatchLineKinds other_kinds[] = { WATCH_LINE_TRACKS,
                                                WATCH_LINE_EVENTS | WATCH_LINE_FRAMES };
  WatchStore *store = open_store ();
  WatchSpoolStats stats;
  gint64 last = 0, all = 0;

  /* Not for any sink. */
  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  watch_store_set_sinks (store, names, kinds, 1 << 20);
  watch_store_add_event (store, new_event ("yard", 2, TIME, WATCH_EVENT_IN, "door", NULL));
  watch_store_add_line (store, "hall", WATCH_LINE_FRAMES, g_strdup ("f1"));
  watch_store_add_line (store, "hall", WATCH_LINE_TRACKS, g_strdup ("t1"));
  watch_store_add_line (store, "hall", WATCH_LINE_FRAMES, g_strdup ("f2"));
  watch_store_flush (store);

  for (guint restart = 0; restart < 2; restart++) {
    fail_unless_lines (store, "mqtt", 0, &last, "yard events {\", ");
    fail_unless_lines (store, "kafka", 0, &all,
                       "yard events {\", hall frames f1, hall frames f2, ");
    fail_unless_lines (store, "kafka", last, &all, "hall frames f1, hall frames f2, ");
    fail_unless_lines (store, "lines", 0, &all, "");
    watch_store_get_spool_stats (store, "kafka", &stats);
    fail_unless_equals_uint64 (stats.pending, 3);
    watch_store_close (store);
    store = open_store ();
  }

  watch_store_taken (store, "kafka", last);
  watch_store_taken (store, "kafka", 0);
  fail_unless_lines (store, "kafka", 0, &all, "hall frames f1, hall frames f2, ");
  fail_unless_lines (store, "mqtt", 0, &last, "yard events {\", ");

  /* Not any more. */
  watch_store_stop_spooling (store);
  watch_store_add_event (store, new_event ("yard", 3, TIME, WATCH_EVENT_IN, "door", NULL));
  watch_store_flush (store);
  fail_unless_lines (store, "mqtt", 0, &last, "yard events {\", ");
  watch_store_close (store);
  store = open_store ();

  /* The first is forgotten, the second keeps its place, a new one begins here. */
  watch_store_set_sinks (store, other_names, other_kinds, 1 << 20);
  watch_store_add_line (store, "hall", WATCH_LINE_TRACKS, g_strdup ("t2"));
  watch_store_flush (store);
  fail_unless_lines (store, "mqtt", 0, &all, "");
  fail_unless_lines (store, "lines", 0, &all, "hall tracks t2, ");
  fail_unless_lines (store, "kafka", 0, &all, "hall frames f1, hall frames f2, ");

  /* More than fits: the oldest go, counted where they were wanted. */
  watch_store_set_sinks (store, other_names, other_kinds, 10000);
  for (guint i = 0; i < 200; i++)
    watch_store_add_line (store, "hall", WATCH_LINE_FRAMES, g_strnfill (100, '0' + i % 10));
  watch_store_flush (store);
  watch_store_get_spool_stats (store, "kafka", &stats);
  fail_unless_equals_uint64 (stats.pending + stats.dropped, 202);
  fail_unless (stats.pending >= 30 && stats.pending <= 100, "%d", (int) stats.pending);
  watch_store_close (store);
  store = open_store ();
  {
    g_autoptr (GPtrArray) lines = watch_store_peek (store, "kafka", 0, 1000);
    WatchLine *line = g_ptr_array_index (lines, lines->len - 1);

    fail_unless_equals_uint64 (lines->len, stats.pending);
    fail_unless (line->line[0] == '9');
    watch_store_taken (store, "kafka", line->row);
  }
  watch_store_get_spool_stats (store, "kafka", &stats);
  fail_unless_equals_uint64 (stats.pending, 0);
  fail_unless (stats.dropped >= 102);
  watch_store_get_spool_stats (store, "lines", &stats);
  fail_unless_equals_uint64 (stats.dropped, 1);
  watch_store_close (store);
}
GST_END_TEST;

/* --- Removing --- */

GST_START_TEST (test_remove)
{
  static const gchar *const files[] = { "a.jpg", "b.mp4", NULL };
  WatchPoint point = { TIME, 0, 0, 0.5, 0.5 };
  WatchQuery query = { .limit = 1000, .kind = -1 };
  g_autoptr (GPtrArray) found = NULL;
  WatchStore *store = open_store ();
  WatchEvent *event = new_event ("yard", 9999, TIME + 20000, WATCH_EVENT_IN, "door", NULL);
  gint64 next;

  event->picture = g_strdup ("a.jpg");
  event->clip = g_strdup ("b.mp4");
  watch_store_add_event (store, event);
  for (guint i = 1; i <= 9000; i++) {
    watch_store_add_event (store, new_event ("yard", i, TIME + i, WATCH_EVENT_IN, "door", NULL));
    if (i <= 3000)
      watch_store_add_track (store,
                             new_track ("yard", i, TIME + i, TIME + i, NULL, &point, 1, NULL));
  }
  watch_store_forget_files (store, files);
  watch_store_flush (store);
  fail_unless_equals_int64 (count ("SELECT count(*) FROM blocks"), 2);
  watch_store_remove_before (store, TIME + 2990);
  watch_store_flush (store);
  /* Removals step by step are queued behind. */
  watch_store_flush (store);
  watch_store_flush (store);
  {
    g_autofree gchar *numbers = find_numbers (store, query, TRUE);

    fail_unless_equals_string (numbers, "3000 2999 2998 2997 2996 2995 2994 2993 2992 2991 2990");
  }
  fail_unless_equals_int64 (count ("SELECT count(*) FROM events"), 9000 - 2989 + 1);
  fail_unless_equals_int64 (count ("SELECT count(*) FROM blocks"), 0);
  query.begin = TIME + 20000;
  found = watch_store_find_events (store, &query, &next, NULL);
  event = g_ptr_array_index (found, 0);
  fail_unless (event->picture == NULL && event->clip == NULL);
  /* Counts stay when their events are gone. */
  watch_store_remove_before (store, TIME + 30000);
  for (guint i = 0; i < 4; i++)
    watch_store_flush (store);
  fail_unless_equals_int64 (count ("SELECT count(*) FROM events"), 0);
  fail_unless_equals_uint64 (get_last_track (store, "yard"), 3000);
  watch_store_close (store);
}
GST_END_TEST;

/* --- Files that are not as they should be --- */

GST_START_TEST (test_locked)
{
  WatchStore *store = open_store ();
  g_autoptr (GError) error = NULL;

  WatchQuery query = { .limit = 10, .kind = -1 };
  g_autofree gchar *numbers = NULL;
  WatchStore *reader;

  fail_if (watch_store_open (folder, &error) != NULL);
  fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY));
  fail_unless (strstr (error->message, "another cudaccl-watch") != NULL);
  g_clear_error (&error);

  /* Others may read. */
  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_IN, "door", NULL));
  watch_store_flush (store);
  reader = watch_store_open_for_reading (folder, &error);
  fail_unless (reader != NULL, "%s", error ? error->message : "");
  numbers = find_numbers (reader, query, FALSE);
  fail_unless_equals_string (numbers, "1");
  watch_store_close (reader);
  watch_store_close (store);
  watch_store_close (open_store ());

  fail_if (watch_store_open_for_reading ("/nonexistent", &error) != NULL);
  fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_FAILED));
}
GST_END_TEST;

/* Finds an event whose text is that of new_event(), and whose reason is @reason. */
static void
check_reason (WatchStore *store, guint64 number, const gchar *reason)
{
  WatchQuery query = { .limit = 10, .kind = -1 };
  gint64 next = 0;
  g_autoptr (GPtrArray) found = watch_store_find_events (store, &query, &next, NULL);

  for (guint i = 0; i < found->len; i++) {
    const WatchEvent *event = g_ptr_array_index (found, i);

    if (event->number != number)
      continue;
    fail_unless_equals_string (event->text, "a \"text\"");
    fail_unless_equals_string (event->reason, reason);
    return;
  }
  fail ("there is no such event");
}

/* A database as version 1 left it, without reasons. */
GST_START_TEST (test_upgrade)
{
  static const gchar reason[] = "{\"code\":\"no-route\"}";
  WatchEvent *event = new_event ("yard", 2, TIME + 1, WATCH_EVENT_LOST, NULL, NULL);
  WatchStore *store = open_store ();

  watch_store_add_event (store, new_event ("yard", 1, TIME, WATCH_EVENT_LOST, NULL, NULL));
  watch_store_close (store);
  count ("ALTER TABLE events DROP COLUMN reason");
  count ("PRAGMA user_version = 1");

  store = watch_store_open_for_reading (folder, NULL);
  check_reason (store, 1, NULL);
  watch_store_close (store);

  store = open_store ();
  event->reason = g_strdup (reason);
  watch_store_add_event (store, event);
  fail_unless (watch_store_flush (store));
  check_reason (store, 1, NULL);
  check_reason (store, 2, reason);
  watch_store_close (store);
  store = open_store ();
  check_reason (store, 2, reason);
  watch_store_close (store);
}
GST_END_TEST;

/* --- kill -9 --- */

static void
tell_committed (GPtrArray *events, gpointer user_data)
{
  WatchEvent *last = g_ptr_array_index (events, events->len - 1);
  guint64 number = last->number;

  if (write (STDOUT_FILENO, &number, sizeof (number)) != sizeof (number))
    _exit (1);
}

/* Adds events and tracks until it is killed, and tells the number of the last one committed. */
static void
run_child (const gchar *data)
{
  static const gchar *const names[] = { "mqtt", NULL };
  static const WatchLineKinds kinds[] = { WATCH_LINE_EVENTS | WATCH_LINE_TRACKS };
  WatchStore *store = watch_store_open (data, NULL);
  WatchPoint point = { TIME, 0, 0, 0.5, 0.5 };

  watch_store_set_sinks (store, names, kinds, G_MAXINT64);
  watch_store_set_committed (store, tell_committed, NULL);
  for (guint64 number = 1;; number++) {
    watch_store_add_track (
        store, new_track ("yard", number, TIME + number, TIME + number, NULL, &point, 1, NULL));
    watch_store_add_event (store,
                           new_event ("yard", number, TIME + number, WATCH_EVENT_IN, "door", NULL));
    if (number % 64 == 0)
      watch_store_flush (store);
  }
}

GST_START_TEST (test_kill)
{
  for (guint round = 0; round < 3; round++) {
    g_autoptr (GSubprocess) child = NULL;
    guint64 number = 0, last = 0;
    WatchSpoolStats stats;
    WatchStore *store;
    GInputStream *out;
    g_autofree gchar *sql = NULL;

    child =
        g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL, program, "--child", folder, NULL);
    fail_unless (child != NULL);
    out = g_subprocess_get_stdout_pipe (child);
    /* In the second round, blocks are made. */
    while (g_input_stream_read_all (out, &number, sizeof (number), NULL, NULL, NULL) && number) {
      last = number;
      number = 0;
      if (last > 500 + round * 1500)
        g_subprocess_send_signal (child, SIGKILL);
    }
    g_subprocess_wait (child, NULL, NULL);
    fail_unless (last > 500);

    store = open_store ();
    sql = g_strdup_printf ("SELECT count(DISTINCT number) = count(*) AND count(*) = max(number) "
                           "AND max(number) >= %" G_GUINT64_FORMAT " FROM events",
                           last);
    fail_unless_equals_int64 (count (sql), 1);
    fail_unless (get_last_track (store, "yard") >= last);
    watch_store_get_spool_stats (store, "mqtt", &stats);
    fail_unless_equals_uint64 (stats.pending, count ("SELECT count(*) FROM events") +
                                                  count ("SELECT count(*) FROM tracks"));
    fail_unless_equals_int64 (count ("SELECT count(*) FROM blocks"),
                              count ("SELECT count(*) FROM tracks") / 1024);
    watch_store_close (store);
    teardown ();
    setup ();
  }
}
GST_END_TEST;

static Suite *
store_suite (void)
{
  Suite *s = suite_create ("store");
  TCase *tc = tcase_create ("store");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_wrong_queries);
  tcase_add_test (tc, test_track);
  tcase_add_test (tc, test_minutes);
  tcase_add_test (tc, test_search);
  tcase_add_test (tc, test_path_zones);
  tcase_add_test (tc, test_damaged_paths);
  tcase_add_test (tc, test_spool);
  tcase_add_test (tc, test_remove);
  tcase_add_test (tc, test_locked);
  tcase_add_test (tc, test_upgrade);
  tcase_add_test (tc, test_kill);
  return s;
}

int
main (int argc, char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "--child"))
    run_child (argv[2]);
  program = argv[0];
  gst_check_init (&argc, &argv);
  return gst_check_run_suite (store_suite (), "store", __FILE__);
}
