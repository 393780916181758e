/* cudaccl - tests of the tracker, on scenes whose truth is known
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "gst/track/tracker.h"
#include "tests/lib/crowds.h"
#include "tests/lib/noise.h"
#include "tests/lib/sanitizer.h"

#define MAX_OBJECTS 4
#define MAX_POINTS 6
#define FRAME_WIDTH 768
#define FRAME_HEIGHT 576

typedef struct
{
  gdouble time, x, y; /* centre */
} Point;

/* Moves from point to point, and is there from the first to the last. */
typedef struct
{
  gdouble width, height;
  Point points[MAX_POINTS];       /* ends with a time of 0, except for the first */
  gdouble hidden_from, hidden_to; /* not detected */
  gdouble broken_from, broken_to; /* into two fragments, one above the other */
} Object;

typedef struct
{
  const gchar *name;
  guint n_objects;
  Object objects[MAX_OBJECTS];
} Scene;

typedef struct
{
  gboolean alive, visible;
  gdouble low[2], high[2];
} Box;

static const gdouble rates[] = { 5.0, 10.0, 25.0, 30.0, 60.0 };

/* Objects that do not touch keep their ids, those that touch get theirs back. */
static const Scene scenes[] = {
  { "alone", 1, { { 30, 75, { { 0, 100, 300 }, { 6, 600, 320 } } } } },
  { "apart",
    2,
    { { 30, 75, { { 0, 100, 200 }, { 6, 600, 200 } } },
      { 30, 75, { { 0, 600, 320 }, { 6, 100, 320 } } } } },
  { "crossing",
    2,
    { { 30, 75, { { 0, 150, 300 }, { 6, 600, 300 } } },
      { 30, 75, { { 0, 600, 310 }, { 6, 150, 310 } } } } },
  { "crossing of a large and a small one",
    2,
    { { 40, 90, { { 0, 150, 300 }, { 6, 600, 300 } } },
      { 24, 50, { { 0, 600, 310 }, { 6, 150, 310 } } } } },
  { "overtaking",
    2,
    { { 30, 75, { { 0, 100, 300 }, { 8, 660, 300 } } },
      { 30, 75, { { 0, 250, 305 }, { 8, 500, 305 } } } } },
  { "diagonal",
    2,
    { { 30, 75, { { 0, 150, 150 }, { 6, 600, 450 } } },
      { 30, 75, { { 0, 150, 450 }, { 6, 600, 150 } } } } },
  { "meeting and turning back",
    2,
    { { 30, 75, { { 0, 150, 300 }, { 3, 360, 300 }, { 5, 360, 300 }, { 8, 150, 300 } } },
      { 30, 75, { { 0, 600, 304 }, { 3, 388, 304 }, { 5, 388, 304 }, { 8, 600, 304 } } } } },
  { "passing one who stands",
    2,
    { { 30, 75, { { 0, 120, 300 }, { 7, 650, 300 } } },
      { 30, 75, { { 0, 380, 290 }, { 7, 380, 290 } } } } },
  { "three",
    3,
    { { 30, 75, { { 0, 120, 300 }, { 7, 650, 300 } } },
      { 30, 75, { { 0, 650, 310 }, { 7, 120, 310 } } },
      { 30, 75, { { 0, 300, 120 }, { 7, 300, 520 } } } } },
  { "stopping",
    1,
    { { 30, 75, { { 0, 100, 300 }, { 3, 350, 300 }, { 8, 350, 300 }, { 11, 600, 300 } } } } },
  { "behind a post", 1, { { 30, 75, { { 0, 100, 300 }, { 6, 600, 300 } }, 2.5, 3.3 } } },
  { "hidden while standing",
    1,
    { { 30,
        75,
        { { 0, 100, 300 }, { 2, 300, 300 }, { 6, 300, 300 }, { 8, 500, 300 } },
        4.0,
        5.0 } } },
  { "broken", 1, { { 30, 75, { { 0, 100, 300 }, { 6, 500, 300 } }, 0, 0, 2.0, 4.0 } } },
  { "small and fast", 1, { { 8, 6, { { 0, 50, 100 }, { 6, 700, 400 } } } } },
};

static void
place (const Object *object, gdouble time, Box *box)
{
  const gdouble size[2] = { object->width, object->height };
  guint i, k;

  memset (box, 0, sizeof (*box));
  for (i = 0; i + 1 < MAX_POINTS && object->points[i + 1].time > 0.0; i++) {
    const Point *from = &object->points[i], *to = &object->points[i + 1];
    gdouble share = (time - from->time) / (to->time - from->time);
    gdouble centre[2];

    if (share < 0.0 || share > 1.0)
      continue;
    centre[0] = from->x + share * (to->x - from->x);
    centre[1] = from->y + share * (to->y - from->y);
    for (k = 0; k < 2; k++) {
      box->low[k] = centre[k] - size[k] / 2.0;
      box->high[k] = centre[k] + size[k] / 2.0;
    }
    box->alive = TRUE;
    box->visible = time < object->hidden_from || time >= object->hidden_to;
    return;
  }
}

static gboolean
boxes_touch (const Box *a, const Box *b)
{
  return a->low[0] < b->high[0] + 1.0 && b->low[0] < a->high[0] + 1.0 &&
         a->low[1] < b->high[1] + 1.0 && b->low[1] < a->high[1] + 1.0;
}

static void
add_detection (GstCclDetection *detections, guint *n, const Box *box, gdouble fill)
{
  GstCclDetection *detection = &detections[(*n)++];

  memset (detection, 0, sizeof (*detection));
  detection->x = box->low[0];
  detection->y = box->low[1];
  detection->width = box->high[0] - box->low[0];
  detection->height = box->high[1] - box->low[1];
  detection->centroid_x = (box->low[0] + box->high[0]) / 2.0;
  detection->centroid_y = (box->low[1] + box->high[1]) / 2.0;
  detection->area = detection->width * detection->height * fill;
}

/* The objects as a mask shows them: those that touch are one. Sides are noisy. */
static guint
detect (const Scene *scene, gdouble time, Box *boxes, guint *group, guint *state,
        GstCclDetection *detections)
{
  guint n = 0, i, j, k;
  gboolean changed = TRUE;

  for (i = 0; i < scene->n_objects; i++) {
    place (&scene->objects[i], time, &boxes[i]);
    group[i] = i;
  }
  while (changed) {
    changed = FALSE;
    for (i = 0; i < scene->n_objects; i++) {
      for (j = i + 1; j < scene->n_objects; j++) {
        if (group[i] != group[j] && boxes[i].visible && boxes[j].visible &&
            boxes_touch (&boxes[i], &boxes[j])) {
          group[i] = group[j] = MIN (group[i], group[j]);
          changed = TRUE;
        }
      }
    }
  }

  for (i = 0; i < scene->n_objects; i++) {
    const Object *object = &scene->objects[i];
    Box all = boxes[i];

    if (!all.visible || group[i] != i)
      continue;
    for (j = i + 1; j < scene->n_objects; j++) {
      for (k = 0; k < 2 && group[j] == i; k++) {
        all.low[k] = MIN (all.low[k], boxes[j].low[k]);
        all.high[k] = MAX (all.high[k], boxes[j].high[k]);
      }
    }
    for (k = 0; k < 2; k++) {
      gdouble noise = MIN (0.03 * (all.high[k] - all.low[k]), 1.5);

      all.low[k] += noise * get_noise (state);
      all.high[k] += noise * get_noise (state);
    }
    if (time >= object->broken_from && time < object->broken_to) {
      Box part = all;

      part.high[1] = all.low[1] + 0.35 * (all.high[1] - all.low[1]);
      add_detection (detections, &n, &part, 0.7);
      part = all;
      part.low[1] = all.low[1] + 0.45 * (all.high[1] - all.low[1]);
      add_detection (detections, &n, &part, 0.7);
    } else {
      add_detection (detections, &n, &all, 0.7);
    }
  }

  return n;
}

/* The confirmed track whose box is most like that of the object, 0 if none is like it. */
static guint
find_id (const GstCclTrackInfo *tracks, guint n_tracks, const Box *box)
{
  gdouble best = 0.3;
  guint id = 0, i;

  for (i = 0; i < n_tracks; i++) {
    const GstCclTrackInfo *track = &tracks[i];
    gdouble width = MIN (track->x + track->width, box->high[0]) - MAX (track->x, box->low[0]);
    gdouble height = MIN (track->y + track->height, box->high[1]) - MAX (track->y, box->low[1]);
    gdouble common = MAX (width, 0.0) * MAX (height, 0.0), iou;

    iou = common / (track->width * track->height +
                    (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]) - common);
    if (track->id && iou > best) {
      best = iou;
      id = track->id;
    }
  }

  return id;
}

/* Plays a scene. Every @lose-th frame does not arrive, if @lose is not 0. Asserts that no object
 * changes its id while it is alone, and that there are as many ids as objects. */
static void
play (const Scene *scene, gdouble rate, guint lose, guint seed)
{
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  GstCclTrackerParams params;
  guint ids[MAX_OBJECTS] = { 0 }, frame, i, j, n_tracks, highest = 0, state = seed;

  gst_ccl_tracker_params_init (&params);
  params.width = FRAME_WIDTH;
  params.height = FRAME_HEIGHT;
  gst_ccl_tracker_set_params (tracker, &params);

  for (frame = 0; frame / rate < 12.0; frame++) {
    GstCclDetection detections[2 * MAX_OBJECTS];
    guint group[MAX_OBJECTS], n;
    gint detected[2 * MAX_OBJECTS];
    Box boxes[MAX_OBJECTS];
    const GstCclTrackInfo *tracks;

    n = detect (scene, frame / rate, boxes, group, &state, detections);
    if (lose && frame % lose == lose - 1)
      continue;
    gst_ccl_tracker_update (tracker, (GstClockTime) (frame / rate * GST_SECOND), detections, n,
                            detected);
    tracks = gst_ccl_tracker_get_tracks (tracker, &n_tracks);
    for (i = 0; i < n_tracks; i++)
      highest = MAX (highest, tracks[i].id);

    for (i = 0; i < scene->n_objects; i++) {
      gboolean alone = boxes[i].alive && boxes[i].visible;
      guint id;

      for (j = 0; j < scene->n_objects; j++)
        alone = alone && (j == i || group[j] != group[i]);
      id = alone ? find_id (tracks, n_tracks, &boxes[i]) : 0;
      if (!id)
        continue;
      if (!ids[i])
        ids[i] = id;
      fail_unless (ids[i] == id,
                   "%s, %g/s, every %u. lost, seed %u, frame %u: object %u was %u, is %u",
                   scene->name, rate, lose, seed, frame, i, ids[i], id);
    }
  }

  for (i = 0; i < scene->n_objects; i++) {
    fail_unless (ids[i] != 0, "%s, %g/s: object %u has no id", scene->name, rate, i);
    for (j = 0; j < i; j++)
      fail_unless (ids[i] != ids[j], "%s, %g/s: one id for two objects", scene->name, rate);
  }
  fail_unless (highest == scene->n_objects, "%s, %g/s, every %u. lost, seed %u: %u ids",
               scene->name, rate, lose, seed, highest);

  gst_ccl_tracker_free (tracker);
}

GST_START_TEST (test_scenes)
{
  const Scene *scene = &scenes[__i__];
  guint i, seed;

  for (i = 0; i < G_N_ELEMENTS (rates); i++) {
    for (seed = 1; seed <= 40; seed++) {
      play (scene, rates[i], 0, seed);
      if (rates[i] >= 10.0) {
        play (scene, rates[i], 4, seed);
        play (scene, rates[i], 2, seed);
      }
    }
  }
}
GST_END_TEST;

/* A tracker for frames of FRAME_WIDTH x FRAME_HEIGHT; @persistence in ms. */
static GstCclTracker *
tracker_new (guint persistence, gdouble iou_threshold)
{
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  GstCclTrackerParams params;

  gst_ccl_tracker_params_init (&params);
  params.min_persistence = persistence * GST_MSECOND;
  params.iou_threshold = iou_threshold;
  params.width = FRAME_WIDTH;
  params.height = FRAME_HEIGHT;
  gst_ccl_tracker_set_params (tracker, &params);

  return tracker;
}

static Box
box_new (gdouble x, gdouble y, gdouble width, gdouble height)
{
  return (Box){
    TRUE, TRUE, { x - width / 2.0, y - height / 2.0 }, { x + width / 2.0, y + height / 2.0 }
  };
}

/* Goes on to the frame at @ms with @n objects, and returns the tracks. */
static const GstCclTrackInfo *
update (GstCclTracker *tracker, guint ms, const Box *boxes, guint n, guint *n_tracks)
{
  GstCclDetection detections[8] = { { 0 } };
  gint indices[8];
  guint i, k = 0;

  for (i = 0; i < n; i++)
    add_detection (detections, &k, &boxes[i], 1.0);
  gst_ccl_tracker_update (tracker, ms * GST_MSECOND, detections, n, indices);

  return gst_ccl_tracker_get_tracks (tracker, n_tracks);
}

/* A detection that does not overlap enough is the same object only if its area is not more than 4
 * times larger or smaller. */
GST_START_TEST (test_gate_of_area)
{
  static const struct
  {
    gdouble ratio;
    gboolean same;
  } cases[] = { { 1.5, TRUE }, { 3.8, TRUE }, { 4.2, FALSE }, { 7.0, FALSE } };
  guint i, invert;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    for (invert = 0; invert < 2; invert++) {
      GstCclTracker *tracker = tracker_new (80, 1.0);
      gdouble side = sqrt (cases[i].ratio);
      Box small = box_new (200, 200, 40, 40), large = box_new (205, 200, 40 * side, 40 * side);
      const GstCclTrackInfo *tracks;
      guint n;

      update (tracker, 0, invert ? &large : &small, 1, &n);
      tracks = update (tracker, 40, invert ? &small : &large, 1, &n);
      fail_unless_equals_int (n, cases[i].same ? 1 : 2);
      fail_unless_equals_int (tracks[0].id, cases[i].same);
      gst_ccl_tracker_free (tracker);
    }
  }
}
GST_END_TEST;

/* How far an object may be away: by its speed; if seen three times, by two sides more at most. */
GST_START_TEST (test_gate_of_distance)
{
  static const struct
  {
    guint hits, ms, away;
    gboolean same;
  } cases[] = { { 1, 400, 205, TRUE },   { 1, 400, 240, FALSE }, { 2, 1400, 320, TRUE },
                { 2, 1400, 560, FALSE }, { 3, 1400, 280, TRUE }, { 3, 1400, 320, FALSE } };
  guint i, k, n;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstCclTracker *tracker = gst_ccl_tracker_new ();
    Box box = box_new (1000, 1000, 100, 100);
    const GstCclTrackInfo *tracks;
    GstCclTrackerParams params;
    guint ms = 0;

    gst_ccl_tracker_params_init (&params);
    params.min_persistence = 0;
    gst_ccl_tracker_set_params (tracker, &params);
    for (k = 0; k < cases[i].hits; k++, ms += 40)
      update (tracker, ms, &box, 1, &n);
    box = box_new (1000.0 + cases[i].away, 1000, 100, 100);
    tracks = update (tracker, ms - 40 + cases[i].ms, &box, 1, &n);
    fail_unless ((tracks[0].detection == 0) == cases[i].same, "case %u", i);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

#define OLD_SIDE 100.0
#define GATE (OLD_SIDE + 2.0 * 0.08 * OLD_SIDE)

/* The score of a detection for a track of OLD_SIDE x OLD_SIDE at 300, 300 that was seen once. */
static gdouble
get_score (const Box *box)
{
  gdouble width = box->high[0] - box->low[0], height = box->high[1] - box->low[1];
  gdouble area = width * height, old_area = OLD_SIDE * OLD_SIDE, common = 1.0, away = 0.0;
  guint k;

  for (k = 0; k < 2; k++) {
    gdouble low = 300.0 - OLD_SIDE / 2.0, high = 300.0 + OLD_SIDE / 2.0;

    common *= MAX (MIN (high, box->high[k]) - MAX (low, box->low[k]), 0.0);
    away = hypot (away, ((box->low[k] + box->high[k]) / 2.0 - 300.0) / GATE);
  }

  return 0.6 * common / (area + old_area - common) +
         0.1 * MIN (area, old_area) / MAX (area, old_area) + 0.3 * (1.0 - MIN (away, 1.0));
}

/* Of two detections, the track gets the one with the better score. */
GST_START_TEST (test_score)
{
  guint state = 1, round, n_close = 0;

  for (round = 0; round < 2000; round++) {
    GstCclTracker *tracker = tracker_new (80, 0.0);
    Box old = box_new (300.0, 300.0, OLD_SIDE, OLD_SIDE), boxes[2];
    const GstCclTrackInfo *tracks;
    gdouble better;
    guint n, i;

    for (i = 0; i < 2; i++)
      boxes[i] =
          box_new (300.0 + 90.0 * get_noise (&state), 300.0 + 60.0 * get_noise (&state),
                   OLD_SIDE + 60.0 * get_noise (&state), OLD_SIDE + 60.0 * get_noise (&state));
    better = get_score (&boxes[0]) - get_score (&boxes[1]);
    update (tracker, 0, &old, 1, &n);
    tracks = update (tracker, 0, boxes, 2, &n);
    if (ABS (better) > 0.002)
      fail_unless (tracks[0].detection == (better > 0.0 ? 0 : 1), "round %u", round);
    n_close += ABS (better) < 0.02;
    gst_ccl_tracker_free (tracker);
  }
  fail_unless (n_close > 50);
}
GST_END_TEST;

/* Equal detections are taken in their order: as the track's own, as a fragment, as a group. */
GST_START_TEST (test_order)
{
  GstCclTracker *tracker = tracker_new (0, 0.2);
  Box boxes[3] = { box_new (300, 300, 40, 40) };
  const GstCclTrackInfo *tracks;
  guint n;

  update (tracker, 0, boxes, 1, &n);
  boxes[0] = box_new (290, 300, 40, 40);
  boxes[1] = box_new (310, 300, 40, 40);
  tracks = update (tracker, 0, boxes, 2, &n);
  fail_unless_equals_int (n, 2);
  fail_unless (tracks[0].id == 1 && tracks[0].detection == 0);
  gst_ccl_tracker_reset (tracker);

  /* The second one has no detection for itself, and both that are left cover it. */
  boxes[0] = box_new (100, 300, 60, 60);
  boxes[1] = box_new (400, 300, 20, 20);
  boxes[2] = box_new (600, 300, 60, 60);
  update (tracker, 1000, boxes, 3, &n);
  boxes[0] = box_new (100, 300, 60, 60);
  boxes[1] = box_new (380, 300, 400, 100);
  boxes[2] = box_new (420, 300, 400, 100);
  tracks = update (tracker, 1000, boxes, 3, &n);
  fail_unless_equals_int (tracks[1].detection, 1);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

/* A track has the index of its largest fragment, though another fits it better. */
GST_START_TEST (test_largest_fragment)
{
  GstCclDetection detections[2];
  guint order, n;

  for (order = 0; order < 2; order++) {
    GstCclTracker *tracker = tracker_new (0, 0.2);
    gint indices[2];

    detections[0] = (GstCclDetection){ .x = 300,
                                       .y = 300,
                                       .width = 100,
                                       .height = 100,
                                       .centroid_x = 350,
                                       .centroid_y = 350,
                                       .area = 5000 };
    gst_ccl_tracker_update (tracker, 0, detections, 1, indices);
    detections[0] = (GstCclDetection){ .x = 300,
                                       .y = 300,
                                       .width = 100,
                                       .height = 60,
                                       .centroid_x = 350,
                                       .centroid_y = 330,
                                       .area = 2500 };
    detections[1] = (GstCclDetection){ .x = 300,
                                       .y = 362,
                                       .width = 100,
                                       .height = 38,
                                       .centroid_x = 350,
                                       .centroid_y = 380,
                                       .area = order ? 3000 : 2000 };
    gst_ccl_tracker_update (tracker, 40 * GST_MSECOND, detections, 2, indices);
    fail_unless_equals_int (gst_ccl_tracker_get_tracks (tracker, &n)[0].detection, order);
    fail_unless_equals_int (n, 1);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

/* Fragments are taken in the order of detections, until the track is too wide. */
GST_START_TEST (test_fragments)
{
  const gdouble places[2] = { 250, 350 };
  guint order;

  for (order = 0; order < 2; order++) {
    GstCclTracker *tracker = tracker_new (0, 0.2);
    Box boxes[3] = { box_new (300, 300, 100, 100) };
    const GstCclTrackInfo *tracks;
    guint n;

    update (tracker, 0, boxes, 1, &n);
    boxes[0] = box_new (300, 300, 60, 100);
    boxes[1] = box_new (places[order], 300, 36, 100);
    boxes[2] = box_new (places[1 - order], 300, 36, 100);
    tracks = update (tracker, 40, boxes, 3, &n);
    fail_unless_equals_int (n, 2);
    fail_unless_equals_int (tracks[0].detection, 0);
    fail_unless_equals_int (tracks[1].detection, 2);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

/* A track that is confirmed gets the detection, even if one that is not is a little nearer. */
GST_START_TEST (test_confidence)
{
  GstCclTracker *tracker = tracker_new (80, 0.2);
  Box boxes[2] = { box_new (300, 300, 40, 40), box_new (330, 300, 40, 40) };
  const GstCclTrackInfo *tracks;
  guint n;

  update (tracker, 0, boxes, 1, &n);
  update (tracker, 40, boxes, 1, &n);
  update (tracker, 40, boxes, 2, &n);
  fail_unless_equals_int (n, 2);
  boxes[0] = box_new (320, 300, 40, 40);
  tracks = update (tracker, 40, boxes, 1, &n);
  fail_unless (tracks[0].id == 1 && tracks[0].detection == 0);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

/* A new object may be missed in one frame, not in two. */
GST_START_TEST (test_tentative)
{
  guint misses, i;

  for (misses = 0; misses < 4; misses++) {
    GstCclTracker *tracker = tracker_new (120, 0.2);
    Box box = box_new (300, 300, 40, 40);
    const GstCclTrackInfo *tracks;
    guint n;

    update (tracker, 0, &box, 1, &n);
    for (i = 1; i <= misses; i++)
      update (tracker, 40 * i, NULL, 0, &n);
    update (tracker, 40 * i, &box, 1, &n);
    tracks = update (tracker, 40 * i + 40, &box, 1, &n);
    fail_unless_equals_int (n, 1);
    fail_unless_equals_int (tracks[0].id, misses < 2);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

/* Frames at the same time take nothing away. */
GST_START_TEST (test_same_time)
{
  GstCclTracker *tracker = gst_ccl_tracker_new ();
  Box box = box_new (300, 300, 40, 40);
  GstCclTrackerParams params;
  guint n;

  gst_ccl_tracker_params_init (&params);
  params.min_persistence = 0;
  params.max_miss = 0;
  params.width = 290; /* its centre is outside */
  params.height = 290;
  gst_ccl_tracker_set_params (tracker, &params);
  update (tracker, 0, &box, 1, &n);
  update (tracker, 0, NULL, 0, &n);
  fail_unless_equals_int (n, 1);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

/* A lost track slows down: to 1 / e in 3 seconds. */
GST_START_TEST (test_lost)
{
  GstCclTracker *tracker = tracker_new (0, 0.2);
  const GstCclTrackInfo *tracks = NULL;
  guint n, i;

  for (i = 0; i < 50; i++) {
    Box box = box_new (100 + 4 * i, 300, 40, 40);

    tracks = update (tracker, 40 * i, &box, 1, &n);
  }
  fail_unless (fabs (tracks[0].velocity_x - 100.0) < 1.0, "%g", tracks[0].velocity_x);
  for (; i < 76; i++)
    tracks = update (tracker, 40 * i, NULL, 0, &n);
  /* The first frame in which it is lost is at full speed. */
  fail_unless (fabs (tracks[0].velocity_x - 100.0 * exp (-1.0 / 3.0)) < 2.0, "%g",
               tracks[0].velocity_x);
  fail_unless (fabs (tracks[0].x - (276 + 4 + 300.0 * (1.0 - exp (-1.0 / 3.0)))) < 3.0, "%g",
               tracks[0].x);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

/* A new size counts a fifth at 10 frames per second, half of that if a side was cut or joined. */
GST_START_TEST (test_sizes)
{
  static const struct
  {
    gdouble found, width;
  } cases[] = { { 110, 102 }, { 90, 98 }, { 50, 95 }, { 160, 106 } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstCclTracker *tracker = tracker_new (120, 0.2);
    Box box = box_new (300, 300, 100, 100);
    const GstCclTrackInfo *tracks;
    guint n;

    for (k = 0; k < 10; k++)
      update (tracker, 100 * k, &box, 1, &n);
    box = box_new (300, 300, cases[i].found, 100);
    tracks = update (tracker, 100 * k, &box, 1, &n);
    fail_unless (fabs (tracks[0].width - cases[i].width) < 1e-6, "%g: %g", cases[i].found,
                 tracks[0].width);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

/* Two tracks that are together for longer than a second, and twice as long as they were apart, are
 * one. */
GST_START_TEST (test_twins)
{
  static const guint apart[] = { 2, 4, 8, 12 }; /* frames of 0.1 s */
  guint i;

  for (i = 0; i < G_N_ELEMENTS (apart); i++) {
    GstCclTracker *tracker = tracker_new (0, 0.2);
    Box parts[2] = { box_new (280, 300, 38, 80), box_new (320, 300, 38, 80) };
    Box whole = box_new (300, 300, 78, 80);
    guint expected = MAX (10, 2 * apart[i]), frame = 0, together = 0, n;

    for (; frame < apart[i]; frame++)
      update (tracker, 100 * frame, parts, 2, &n);
    fail_unless_equals_int (n, 2);
    /* A break does not count. */
    for (; together < 5; together++)
      update (tracker, 100 * frame++, &whole, 1, &n);
    update (tracker, 100 * frame++, parts, 2, &n);
    for (together = 0; n == 2 && together < 100; together++)
      update (tracker, 100 * frame++, &whole, 1, &n);
    fail_unless (together >= expected && together <= expected + 1, "%u frames apart: %u", apart[i],
                 together);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

/* A track that is left over belongs to a detection that covers half of it. There it lives twice as
 * long as otherwise if it is not seen. */
GST_START_TEST (test_members)
{
  static const struct
  {
    gdouble covered;
    guint frames; /* of 0.1 s */
  } cases[] = { { 0.4, 15 }, { 0.6, 30 } };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstCclTracker *tracker = tracker_new (0, 0.2);
    Box boxes[2] = { box_new (300, 300, 60, 100), box_new (336, 300, 10, 12) }, both = boxes[0];
    guint frame = 0, n, left = 0;
    GstCclTrackerParams params;

    gst_ccl_tracker_params_init (&params);
    params.min_persistence = 0;
    params.min_area = 0.0;
    gst_ccl_tracker_set_params (tracker, &params);
    for (; frame < 30; frame++)
      update (tracker, 100 * frame, boxes, 2, &n);
    fail_unless_equals_int (n, 2);
    both.high[0] = boxes[1].low[0] + 10.0 * cases[i].covered;
    for (; n == 2 && left < 100; left++)
      update (tracker, 100 * frame++, &both, 1, &n);
    fail_unless (left >= cases[i].frames && left <= cases[i].frames + 1, "%g: %u", cases[i].covered,
                 left);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

/* Objects of a fifth of the typical area or more start tracks, and fragments of a quarter of that
 * or more belong to them. */
GST_START_TEST (test_noise)
{
  static const struct
  {
    gdouble width, height;
    guint n_tracks;
  } cases[] = { { 10, 9, 2 }, { 8, 7, 1 } };
  static const struct
  {
    gdouble height, area;
  } specks[] = { { 6, 436 }, { 3, 400 } };
  const GstCclTrackInfo *tracks;
  GstCclTracker *tracker;
  Box boxes[2];
  guint n, i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    tracker = tracker_new (0, 0.2);
    boxes[0] = box_new (200, 200, 20, 20);
    boxes[1] = box_new (500, 400, cases[i].width, cases[i].height);
    update (tracker, 0, boxes, 2, &n);
    fail_unless_equals_int (n, cases[i].n_tracks);
    gst_ccl_tracker_free (tracker);
  }

  /* The speck is inside of the predicted box. */
  for (i = 0; i < G_N_ELEMENTS (specks); i++) {
    tracker = tracker_new (0, 0.2);
    boxes[0] = box_new (200, 200, 20, 26);
    boxes[1] = box_new (200, 211, 6, specks[i].height);
    update (tracker, 0, boxes, 1, &n);
    boxes[0] = box_new (200, 197, 20, 20);
    tracks = update (tracker, 0, boxes, 2, &n);
    fail_unless_equals_int (n, 1);
    fail_unless (tracks[0].area == specks[i].area, "%g", tracks[0].area);
    gst_ccl_tracker_free (tracker);
  }
}
GST_END_TEST;

/* The typical size is forgotten in some seconds. */
GST_START_TEST (test_typical_time)
{
  GstCclTracker *tracker = tracker_new (0, 0.2);
  Box large = box_new (300, 300, 100, 100), small = box_new (600, 300, 10, 10);
  guint n = 0, i;

  for (i = 0; i < 10; i++)
    update (tracker, 100 * i, &large, 1, &n);
  for (; i < 30; i++)
    update (tracker, 100 * i, NULL, 0, &n);
  fail_unless_equals_int (n, 0);
  for (; n == 0 && i < 1000; i++)
    update (tracker, 100 * i, &small, 1, &n);
  fail_unless (i > 150 && i < 190, "%u", i);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

/* Small objects start tracks unless others are large; a reset forgets those. */
GST_START_TEST (test_reset)
{
  GstCclTracker *tracker = tracker_new (0, 0.2);
  Box boxes[2] = { box_new (200, 200, 100, 100), box_new (600, 400, 10, 10) };
  const GstCclTrackInfo *tracks;
  guint n;

  update (tracker, 0, boxes, 2, &n);
  fail_unless_equals_int (n, 1);
  update (tracker, 40, &boxes[1], 1, &n);
  fail_unless_equals_int (n, 1); /* lost */
  gst_ccl_tracker_reset (tracker);
  update (tracker, 80, NULL, 0, &n);
  fail_unless_equals_int (n, 0);
  tracks = update (tracker, 120, &boxes[1], 1, &n);
  fail_unless_equals_int (n, 1);
  fail_unless_equals_int (tracks[0].id, 2);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

static GstCclDetection
detection_new (gdouble x, gdouble y, gdouble width, gdouble height, gboolean stands)
{
  return (GstCclDetection){ .x = x,
                            .y = y,
                            .width = width,
                            .height = height,
                            .centroid_x = x + width / 2.0,
                            .centroid_y = y + height / 2.0,
                            .area = width * height,
                            .stands = stands };
}

/* The id of the track that is shown with a detection, or 0. */
static guint
get_shown (GstCclTracker *tracker, gint detection)
{
  const GstCclTrackInfo *tracks;
  guint n, i;

  tracks = gst_ccl_tracker_get_tracks (tracker, &n);
  for (i = 0; i < n; i++) {
    if (tracks[i].shown && tracks[i].detection == detection)
      return tracks[i].id;
  }

  return 0;
}

/* A standing object walks on: the detection at its place ends a second after it has moved beside
 * it, or after somebody else has come along. */
GST_START_TEST (test_standing)
{
  const gboolean passes = __i__ == 1;
  GstCclTracker *tracker = tracker_new (800, 0.2);
  GstCclDetection found[2];
  gint indices[2];
  guint frame, n;

  for (frame = 0; frame < 120; frame++) {
    const gboolean there = frame < 60, moves = passes ? frame >= 20 : frame >= 50;

    n = 0;
    if (there)
      found[n++] = detection_new (300, 300, 70, 40, TRUE);
    if (moves)
      found[n++] = detection_new (passes ? 60.0 + (frame - 20) * 5.0 : 300.0 + (frame - 50) * 5.0,
                                  passes ? 290.0 : 302.0, 66, 40, FALSE);
    gst_ccl_tracker_update (tracker, frame * 100 * GST_MSECOND, found, n, indices);
    if (there && frame >= 8)
      fail_unless_equals_int (get_shown (tracker, 0), 1);
    if (!passes && moves && there)
      fail_unless_equals_int (get_shown (tracker, 1), 0);
    if (!there)
      fail_unless_equals_int (get_shown (tracker, 0), passes ? 2 : 1);
  }
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

/* Parts side by side become tracks after 0.2 s. */
GST_START_TEST (test_split)
{
  GstCclTracker *tracker = tracker_new (0, 0.2);
  Box whole = box_new (300, 300, 64, 80);
  Box parts[2] = { box_new (283, 300, 30, 80), box_new (317, 300, 30, 80) };
  guint n, i;

  for (i = 0; i < 5; i++)
    update (tracker, 60 * i, &whole, 1, &n);
  for (; i < 9; i++) {
    update (tracker, 60 * i, parts, 2, &n);
    fail_unless_equals_int (n, 1);
  }
  update (tracker, 60 * i, parts, 2, &n);
  fail_unless_equals_int (n, 2);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

/* However many are in one place, a frame takes little time. What was left out is counted. */
GST_START_TEST (test_crowds)
{
  const Crowd *crowd = &crowds[__i__];
  GstCclTracker *tracker = crowd_tracker_new (crowd);
  GRand *random = g_rand_new_with_seed (1);
  /* Sanitizers and counts of coverage take longer; the square of the objects would take minutes. */
  const gdouble most = crowd->seconds * (TEST_SANITIZER ? 4 : 1);
  guint frame;

  for (frame = 0; frame < 5; frame++) {
    gdouble seconds = crowd_update (crowd, tracker, frame, random);

    fail_unless (seconds < most, "%s, frame %u: %g s", crowd->name, frame, seconds);
  }
  fail_unless (gst_ccl_tracker_get_crowded (tracker) > 0, "%s", crowd->name);
  /* Objects that do not change keep their tracks. */
  if (crowd->n == crowd->max_tracks)
    fail_unless (gst_ccl_tracker_get_exceeded (tracker) < crowd->n / 50, "%s", crowd->name);
  g_rand_free (random);
  gst_ccl_tracker_free (tracker);
}
GST_END_TEST;

static Suite *
ccltracker_suite (void)
{
  Suite *suite = suite_create ("ccltracker");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_gate_of_area);
  tcase_add_test (tcase, test_gate_of_distance);
  tcase_add_test (tcase, test_score);
  tcase_add_test (tcase, test_order);
  tcase_add_test (tcase, test_fragments);
  tcase_add_test (tcase, test_largest_fragment);
  tcase_add_test (tcase, test_confidence);
  tcase_add_test (tcase, test_tentative);
  tcase_add_test (tcase, test_same_time);
  tcase_add_test (tcase, test_lost);
  tcase_add_test (tcase, test_sizes);
  tcase_add_test (tcase, test_twins);
  tcase_add_test (tcase, test_members);
  tcase_add_test (tcase, test_noise);
  tcase_add_test (tcase, test_typical_time);
  tcase_add_test (tcase, test_reset);
  tcase_add_test (tcase, test_split);
  tcase_add_loop_test (tcase, test_standing, 0, 2);
  tcase_add_loop_test (tcase, test_crowds, 0, G_N_ELEMENTS (crowds));
  tcase_add_loop_test (tcase, test_scenes, 0, G_N_ELEMENTS (scenes));

  return suite;
}

GST_CHECK_MAIN (ccltracker)
