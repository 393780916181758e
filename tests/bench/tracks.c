/* cudaccl - time of the tracker
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tracks objects that move through a frame of 1920 x 1080 pixels at 30 frames a second, and turn at
 * its edges. Prints the shortest and the median time of a frame, on one thread, without the costs
 * of metadata.
 *
 *   track-bench [OBJECTS [FRAMES]]
 *   track-bench crowds              the longest frame of scenes with too many objects in one place
 *   track-bench boxes WIDTH HEIGHT RATE < BOXES
 *                                   tracks a detector's boxes: lines of frame,id,x,y,width,height,
 *                                   confidence, sorted by frame; prints such lines with ids
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gst/track/tracker.h"
#include "tests/lib/crowds.h"

#define WIDTH 1920.0
#define HEIGHT 1080.0
#define RATE 30.0
#define WARM_UP 20

static const gdouble sizes[] = { 8.0, 20.0, 60.0 };

static int
compare_times (const void *a, const void *b)
{
  const gint64 p = *(const gint64 *) a, q = *(const gint64 *) b;

  return (p > q) - (p < q);
}

static void
move (gdouble *position, gdouble *velocity, gdouble end)
{
  *position += *velocity / RATE;
  if ((*position < 0.0 && *velocity < 0.0) || (*position > end && *velocity > 0.0))
    *velocity = -*velocity;
}

static gint64
get_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);

  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

static void
measure (guint n, guint frames, gdouble size)
{
  GstCclDetection *objects = g_new0 (GstCclDetection, n);
  guint8 *signatures = g_new (guint8, (gsize) n * GST_CCL_SIGNATURE);
  gdouble *velocities = g_new (gdouble, 2 * n);
  gint64 *times = g_new (gint64, frames);
  gint *indices = g_new (gint, n);
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  GRand *random = g_rand_new_with_seed (1);
  const GstCclTrackInfo *tracks;
  GstCclTrackerParams params;
  guint i, k, frame, n_tracks, last = 0;

  for (i = 0; i < n; i++) {
    objects[i].x = g_rand_double_range (random, 0.0, WIDTH);
    objects[i].y = g_rand_double_range (random, 0.0, HEIGHT);
    objects[i].width = size * g_rand_double_range (random, 0.7, 1.3);
    objects[i].height = size * g_rand_double_range (random, 0.7, 1.3);
    objects[i].area = 0.7 * objects[i].width * objects[i].height;
    velocities[2 * i] = g_rand_double_range (random, -100.0, 100.0);
    velocities[2 * i + 1] = g_rand_double_range (random, -100.0, 100.0);
    for (k = 0; k < GST_CCL_SIGNATURE; k++)
      signatures[i * GST_CCL_SIGNATURE + k] = (guint8) g_rand_int_range (random, 0, 64);
    objects[i].signature = signatures + i * GST_CCL_SIGNATURE;
  }

  gst_ccl_tracker_params_init (&params);
  params.width = (guint) WIDTH;
  params.height = (guint) HEIGHT;
  params.max_tracks = 2 * n;
  gst_ccl_tracker_set_params (tracker, &params);

  for (frame = 0; frame < frames + WARM_UP; frame++) {
    gint64 start;

    for (i = 0; i < n; i++) {
      move (&objects[i].x, &velocities[2 * i], WIDTH - objects[i].width);
      move (&objects[i].y, &velocities[2 * i + 1], HEIGHT - objects[i].height);
      objects[i].centroid_x = objects[i].x + objects[i].width / 2.0;
      objects[i].centroid_y = objects[i].y + objects[i].height / 2.0;
    }
    start = get_time ();
    gst_ccl_tracker_update (tracker, (GstClockTime) (frame * (GST_SECOND / RATE)), objects, n,
                            indices);
    if (frame >= WARM_UP)
      times[frame - WARM_UP] = get_time () - start;
  }

  tracks = gst_ccl_tracker_get_tracks (tracker, &n_tracks);
  for (i = 0; i < n_tracks; i++)
    last = MAX (last, tracks[i].id);
  qsort (times, frames, sizeof (*times), compare_times);
  printf ("%8u %6.0f %9.1f %9.1f %8u %8u\n", n, size, (gdouble) times[0] / 1e3,
          (gdouble) times[frames / 2] / 1e3, n_tracks, last);

  g_rand_free (random);
  gst_ccl_tracker_free (tracker);
  g_free (indices);
  g_free (times);
  g_free (velocities);
  g_free (signatures);
  g_free (objects);
}

static void
measure_crowd (const Crowd *crowd)
{
  GstCclTracker *tracker = crowd_tracker_new (crowd);
  GRand *random = g_rand_new_with_seed (1);
  gdouble most = 0.0;
  guint frame;

  for (frame = 0; frame < 25; frame++) {
    gdouble seconds = crowd_update (crowd, tracker, frame, random);

    most = MAX (most, seconds);
  }
  printf ("%-34s %8u %10u %8.1f\n", crowd->name, crowd->n, crowd->max_tracks, 1e3 * most);
  g_rand_free (random);
  gst_ccl_tracker_free (tracker);
}

#define MOST_BOXES 4096

static void
print_tracks (GstCclTracker *tracker, guint frame, gdouble width, gdouble height)
{
  const GstCclTrackInfo *tracks;
  guint n, i;

  tracks = gst_ccl_tracker_get_tracks (tracker, &n);
  for (i = 0; i < n; i++) {
    gdouble x = MAX (tracks[i].x, 0.0), y = MAX (tracks[i].y, 0.0);

    if (tracks[i].shown)
      printf ("%u,%u,%.1f,%.1f,%.1f,%.1f\n", frame, tracks[i].id, x, y,
              MIN (tracks[i].x + tracks[i].width, width) - x,
              MIN (tracks[i].y + tracks[i].height, height) - y);
  }
}

static void
track_boxes (gdouble width, gdouble height, gdouble rate)
{
  GstCclDetection *boxes = g_new (GstCclDetection, MOST_BOXES);
  gint *indices = g_new (gint, MOST_BOXES);
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  guint frame = 0, number, n = 0;
  GstCclTrackerParams params;
  gchar line[256];

  gst_ccl_tracker_params_init (&params);
  params.width = (guint) width;
  params.height = (guint) height;
  gst_ccl_tracker_set_params (tracker, &params);

  while (TRUE) {
    gboolean more = fgets (line, sizeof (line), stdin) != NULL;
    gdouble x, y, w, h, confidence = 1.0;

    if (more &&
        sscanf (line, "%u,%*[^,],%lf,%lf,%lf,%lf,%lf", &number, &x, &y, &w, &h, &confidence) < 5)
      continue;
    for (; !more || frame < number; frame++, n = 0) {
      gst_ccl_tracker_update (tracker, (GstClockTime) (frame / rate * GST_SECOND), boxes, n,
                              indices);
      print_tracks (tracker, frame, width, height);
      if (!more)
        break;
    }
    if (!more)
      break;
    /* The part inside of the frame, as regions have it. */
    w = MIN (rint (x + w), width) - MAX (rint (x), 0.0);
    h = MIN (rint (y + h), height) - MAX (rint (y), 0.0);
    x = MAX (rint (x), 0.0);
    y = MAX (rint (y), 0.0);
    if (w > 0.0 && h > 0.0 && n < MOST_BOXES)
      boxes[n++] =
          (GstCclDetection){ x, y, w, h, x + w / 2.0, y + h / 2.0, w * h, TRUE, confidence, 0 };
  }
  gst_ccl_tracker_free (tracker);
  g_free (indices);
  g_free (boxes);
}

int
main (int argc, char **argv)
{
  gint n = argc > 1 ? atoi (argv[1]) : 1000, frames = argc > 2 ? atoi (argv[2]) : 300;
  guint i;

  if (argc == 2 && strcmp (argv[1], "crowds") == 0) {
    printf ("%-34s  objects max-tracks most, ms\n", "scene");
    for (i = 0; i < G_N_ELEMENTS (crowds); i++)
      measure_crowd (&crowds[i]);
    return 0;
  }
  if (argc == 5 && strcmp (argv[1], "boxes") == 0 && atof (argv[4]) > 0.0) {
    track_boxes (atof (argv[2]), atof (argv[3]), atof (argv[4]));
    return 0;
  }
  if (argc > 3 || n < 1 || n > 100000 || frames < 1 || frames > 1000000) {
    fprintf (stderr, "usage: %s [OBJECTS [FRAMES]] | crowds | boxes WIDTH HEIGHT RATE\n", argv[0]);
    return 2;
  }

  printf (" objects   size least, µs      µs   tracks  last id\n");
  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    measure ((guint) n, (guint) frames, sizes[i]);

  return 0;
}
