/* cudaccl - tests of the tracker, on scenes whose truth is known
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "gst/track/assignment.h"
#include "gst/track/tracker.h"

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

/* The same numbers on all machines. */
static gdouble
get_noise (guint *state)
{
  *state = *state * 1664525u + 1013904223u;

  return (gdouble) (*state >> 8) / (1u << 24) * 2.0 - 1.0;
}

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

  detection->x = box->low[0];
  detection->y = box->low[1];
  detection->width = box->high[0] - box->low[0];
  detection->height = box->high[1] - box->low[1];
  detection->centroid_x = (box->low[0] + box->high[0]) / 2.0;
  detection->centroid_y = (box->low[1] + box->high[1]) / 2.0;
  detection->area = detection->width * detection->height * fill;
}

/* What a mask shows of the objects: those that touch are one. Sides are noisy. */
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

#define SIDE 6

/* The best sum of scores of rows from @row on. */
static gdouble
find_best (gdouble scores[SIDE][SIDE], guint row, guint taken)
{
  gdouble best = 0.0;
  guint column;

  if (row == SIDE)
    return 0.0;

  best = find_best (scores, row + 1, taken);
  for (column = 0; column < SIDE; column++) {
    if (scores[row][column] > 0.0 && !(taken & 1u << column))
      best = MAX (best, scores[row][column] + find_best (scores, row + 1, taken | 1u << column));
  }

  return best;
}

/* Compares assignments with an exhaustive search. */
GST_START_TEST (test_assignment)
{
  GstCclAssignment *assignment = gst_ccl_assignment_new ();
  guint state = 1, round, row, column;

  for (round = 0; round < 500; round++) {
    GstCclAssignmentEdge edges[SIDE * SIDE];
    gdouble scores[SIDE][SIDE], sum = 0.0;
    guint starts[SIDE + 1], n = 0, taken = 0;
    gint matches[SIDE];

    for (row = 0; row < SIDE; row++) {
      starts[row] = n;
      for (column = 0; column < SIDE; column++) {
        gdouble score = get_noise (&state);

        scores[row][column] = MAX (score, 0.0);
        if (score > -0.5 && score <= 0.0)
          continue;
        edges[n].column = column;
        edges[n++].score = score; /* negative ones are never matched */
      }
    }
    starts[SIDE] = n;

    gst_ccl_assignment_solve (assignment, SIDE, SIDE, starts, edges, matches);
    for (row = 0; row < SIDE; row++) {
      if (matches[row] < 0)
        continue;
      fail_if (taken & 1u << matches[row]);
      taken |= 1u << matches[row];
      fail_unless (scores[row][matches[row]] > 0.0);
      sum += scores[row][matches[row]];
    }
    fail_unless (ABS (sum - find_best (scores, 0, 0)) < 1e-9, "round %u", round);
  }
  gst_ccl_assignment_free (assignment);
}
GST_END_TEST;

static Suite *
ccltracker_suite (void)
{
  Suite *suite = suite_create ("ccltracker");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_assignment);
  tcase_add_loop_test (tcase, test_scenes, 0, G_N_ELEMENTS (scenes));

  return suite;
}

GST_CHECK_MAIN (ccltracker)
