/* watch-search - times of searches over many tracks, and of commits
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * watch-search [TRACKS [FOLDER]]: makes a database of a million tracks of 8 cameras in 30 days, or
 * takes that of FOLDER, and prints how long searches take: each kind 20 times with other shapes and
 * a page of 100 tracks. */

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>

#include "apps/watch/store/store.h"

#define DAYS 30
#define DAY (24 * G_TIME_SPAN_HOUR)
#define BEGIN G_GINT64_CONSTANT (1767225600000000) /* 2026-01-01 */
#define REPEATS 20

static const gchar *const classes[] = {
  "person", "person", "person", "car", "car", "bicycle", NULL
};

/* Most walk on one of a few lanes of the camera, through half of the picture. */
static WatchTrack *
make_track (GRand *rand, guint number, guint n_tracks)
{
  WatchTrack *track = g_new0 (WatchTrack, 1);
  guint camera = g_rand_int_range (rand, 0, 8), lane = g_rand_int_range (rand, 0, 4);
  gdouble angle = camera * 0.7 + lane * 1.1 + g_rand_double_range (rand, -0.1, 0.1);
  gdouble x = 0.5 + 0.45 * cos (angle), y = 0.5 + 0.45 * sin (angle), size = 0.05 + 0.1 * y;
  gdouble direction = angle + G_PI + g_rand_double_range (rand, -0.5, 0.5);

  track->camera = g_strdup_printf ("camera-%u", camera);
  track->session = g_strdup ("3f0e5b6a-7c1d-4e2f-9a8b-0c1d2e3f4a5b");
  track->number = number;
  track->begin = BEGIN + (gint64) ((gdouble) number / n_tracks * DAYS * DAY);
  track->class_name = g_strdup (g_rand_int_range (rand, 0, 10000) == 0
                                    ? "dog"
                                    : classes[g_rand_int_range (rand, 0, G_N_ELEMENTS (classes))]);
  track->confidence = 0.8;
  track->n_points = g_rand_int_range (rand, 4, 16);
  track->points = g_new (WatchPoint, track->n_points);
  for (guint i = 0; i < track->n_points; i++) {
    track->points[i] = (WatchPoint){ track->begin + i * G_TIME_SPAN_SECOND, x - size / 4, y - size,
                                     size / 2, size };
    direction += g_rand_double_range (rand, -0.3, 0.3);
    x += 0.05 * cos (direction);
    y += 0.05 * sin (direction);
  }
  track->end = track->points[track->n_points - 1].time;
  if (g_rand_int_range (rand, 0, 5) == 0)
    track->zones = g_strsplit (g_rand_boolean (rand) ? "door" : "door,lawn", ",", -1);
  return track;
}

static void
fill (WatchStore *store, guint n_tracks)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (30);
  gint64 begin = g_get_monotonic_time ();

  for (guint i = 0; i < n_tracks; i++) {
    watch_store_add_track (store, make_track (rand, i + 1, n_tracks));
    if (i % 4000 == 0)
      watch_store_flush (store);
  }
  watch_store_flush (store);
  g_print ("%u tracks written in %.1f s\n", n_tracks, (g_get_monotonic_time () - begin) / 1e6);
}

/* From adding an event to the callback. */
static void
on_committed (GPtrArray *events, gpointer user_data)
{
  g_atomic_pointer_set ((gpointer *) user_data, GSIZE_TO_POINTER (g_get_monotonic_time ()));
}

static void
measure_commits (WatchStore *store)
{
  gdouble sum = 0, worst = 0;
  gpointer committed = NULL;
  const guint n = 500;

  watch_store_set_committed (store, on_committed, &committed);
  for (guint i = 0; i < n; i++) {
    WatchEvent *event = g_new0 (WatchEvent, 1);
    gint64 begin;
    gdouble time;

    event->camera = g_strdup ("camera-0");
    event->session = g_strdup ("3f0e5b6a-7c1d-4e2f-9a8b-0c1d2e3f4a5b");
    event->number = i;
    event->time = BEGIN;
    event->kind = WATCH_EVENT_ENTER;
    event->zone = g_strdup ("door");
    event->track = i;
    event->class_name = g_strdup ("person");
    begin = g_get_monotonic_time ();
    watch_store_add_event (store, event);
    watch_store_flush (store);
    time = (GPOINTER_TO_SIZE (g_atomic_pointer_get (&committed)) - begin) / 1e3;
    sum += time;
    worst = MAX (worst, time);
    g_usleep (2000);
  }
  watch_store_set_committed (store, NULL, NULL);
  g_print ("event to commit, %u times: mean %.2f ms, worst %.2f ms\n", n, sum / n, worst);
}

typedef enum
{
  SHAPE_NONE,
  SHAPE_LINE,
  SHAPE_POLYGON,
  SHAPE_CORNER, /* where hardly any path is */
} Shape;

static void
measure (WatchStore *store, const gchar *name, Shape shape, const gchar *class_name,
         const gchar *zone, const gchar *camera, gint days)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  gdouble sum = 0, worst = 0;
  guint n_found = 0;

  for (guint i = 0; i < REPEATS; i++) {
    gdouble x = g_rand_double_range (rand, 0.2, 0.8), y = g_rand_double_range (rand, 0.2, 0.8);
    gdouble angle = g_rand_double_range (rand, 0, 2 * G_PI), points[12];
    WatchQuery query = { .camera = camera, .class_name = class_name, .zone = zone, .limit = 100 };
    g_autoptr (GError) error = NULL;
    g_autoptr (GPtrArray) found = NULL;
    gint64 next, begin;
    gdouble time;

    if (days) {
      query.end = BEGIN + g_rand_int_range (rand, days, DAYS + 1) * DAY;
      query.begin = query.end - days * DAY;
    }
    if (shape == SHAPE_CORNER)
      x = g_rand_double_range (rand, 0.001, 0.01), y = 0.005;
    query.n_points = shape == SHAPE_NONE ? 0 : shape == SHAPE_LINE ? 2 : 6;
    for (guint j = 0; j < query.n_points; j++) {
      gdouble radius = shape == SHAPE_LINE ? 0.1 : shape == SHAPE_POLYGON ? 0.05 : 0.005;

      points[2 * j] = x + radius * cos (angle + j * 2 * G_PI / query.n_points);
      points[2 * j + 1] = y + radius * sin (angle + j * 2 * G_PI / query.n_points);
    }
    query.points = query.n_points ? points : NULL;

    begin = g_get_monotonic_time ();
    found = watch_store_find_tracks (store, &query, &next, &error);
    time = (g_get_monotonic_time () - begin) / 1e3;
    if (!found)
      g_error ("%s", error->message);
    n_found += found->len;
    sum += time;
    worst = MAX (worst, time);
  }
  g_print ("| %s | %s | %.1f | %.1f | %.1f |\n", name, days ? "a day" : "all",
           n_found / 1. / REPEATS, sum / REPEATS, worst);
}

int
main (int argc, char **argv)
{
  guint n_tracks = argc > 1 ? atoi (argv[1]) : 1000000;
  g_autofree gchar *folder =
      g_strdup (argc > 2 ? argv[2] : g_dir_make_tmp ("watch-search-XXXXXX", NULL));
  g_autoptr (GError) error = NULL;
  WatchStore *store = watch_store_open (folder, &error);
  WatchQuery query = { .limit = 1 };
  WatchStoreStats stats;
  GPtrArray *found;
  gint64 next;

  if (!store)
    g_error ("%s", error->message);
  found = watch_store_find_tracks (store, &query, &next, NULL);
  if (!found->len)
    fill (store, n_tracks);
  g_ptr_array_unref (found);
  watch_store_get_stats (store, &stats);
  g_print ("%s: %.0f MB\n", folder, stats.bytes / 1e6);
  measure_commits (store);

  g_print ("\n| searched | in | found | mean, ms | worst, ms |\n|---|---|---|---|---|\n");
  for (gint days = 0; days < 2; days++) {
    measure (store, "nothing but time", SHAPE_NONE, NULL, NULL, NULL, days);
    measure (store, "camera", SHAPE_NONE, NULL, NULL, "camera-3", days);
    measure (store, "class, rare", SHAPE_NONE, "dog", NULL, NULL, days);
    measure (store, "class and zone, rare", SHAPE_NONE, "dog", "lawn", NULL, days);
    measure (store, "class and zone, none", SHAPE_NONE, "unicorn", "lawn", NULL, days);
    measure (store, "line", SHAPE_LINE, NULL, NULL, NULL, days);
    measure (store, "polygon", SHAPE_POLYGON, NULL, NULL, NULL, days);
    measure (store, "polygon, camera", SHAPE_POLYGON, NULL, NULL, "camera-3", days);
    measure (store, "polygon, class, rare", SHAPE_POLYGON, "dog", NULL, NULL, days);
    measure (store, "polygon in a corner", SHAPE_CORNER, NULL, NULL, NULL, days);
  }
  watch_store_close (store);
  return 0;
}
