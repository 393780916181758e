/* cudaccl - scenes for the tracker with too many objects in one place
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CROWDS_H__
#define __CROWDS_H__

#include <math.h>
#include <time.h>

#include "gst/track/tracker.h"

#define CROWD_WIDTH 768
#define CROWD_HEIGHT 576

typedef struct
{
  const gchar *name;
  guint n, max_tracks;
  gdouble seconds; /* the most CPU time that a frame may take */
  gdouble x, y;    /* from object to object, modulo the frame */
  gdouble noise;   /* of positions, in pixels */
  gdouble width, height;
  gdouble speed; /* of every second one, in pixels a frame; the others go the other way */
} Crowd;

static const Crowd crowds[] = {
  { "equal boxes", 1024, 1024, 0.1, 0, 0, 0, 60, 60, 0 },
  { "boxes on one spot", 5000, 1024, 0.1, 0, 0, 5, 60, 60, 0 },
  { "diagonals", 1024, 1024, 0.1, 0.7, 0, 0, 500, 500, 2 },
  { "overlapping boxes", 20000, 65536, 0.5, 113, 71, 9, 200, 150, 1 },
  { "boxes on one spot, without limits", 60000, 65536, 0.5, 0, 0, 5, 60, 60, 0 },
  { "a frame full", 60000, 65536, 0.5, 3, 5, 1, 40, 30, 1 },
};

static inline GstCclTracker *
crowd_tracker_new (const Crowd *crowd)
{
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  GstCclTrackerParams params;

  gst_ccl_tracker_params_init (&params);
  params.max_tracks = crowd->max_tracks;
  params.min_persistence = 0;
  params.width = CROWD_WIDTH;
  params.height = CROWD_HEIGHT;
  params.min_area = 0.0;
  gst_ccl_tracker_set_params (tracker, &params);

  return tracker;
}

/* Plays frame @number, and returns the seconds of CPU time that it took. Pass the same @random for
 * all frames. */
static inline gdouble
crowd_update (const Crowd *crowd, GstCclTracker *tracker, guint number, GRand *random)
{
  GstCclDetection *detections = g_new0 (GstCclDetection, crowd->n);
  gint *indices = g_new (gint, crowd->n);
  struct timespec start, end;
  guint i;

  for (i = 0; i < crowd->n; i++) {
    GstCclDetection *detection = &detections[i];
    gdouble move = crowd->speed * number;

    detection->x = fmod (i * crowd->x, CROWD_WIDTH) + (i % 2 ? move : -move) +
                   crowd->noise * g_rand_double_range (random, -1.0, 1.0);
    detection->y =
        fmod (i * crowd->y, CROWD_HEIGHT) + crowd->noise * g_rand_double_range (random, -1.0, 1.0);
    detection->width = crowd->width;
    detection->height = crowd->height;
    detection->centroid_x = detection->x + crowd->width / 2.0;
    detection->centroid_y = detection->y + crowd->height / 2.0;
    detection->area = crowd->width * crowd->height;
  }
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &start);
  gst_ccl_tracker_update (tracker, number * 40 * GST_MSECOND, detections, crowd->n, indices);
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &end);
  g_free (indices);
  g_free (detections);

  return (gdouble) (end.tv_sec - start.tv_sec) + (gdouble) (end.tv_nsec - start.tv_nsec) / 1e9;
}

#endif /* __CROWDS_H__ */
