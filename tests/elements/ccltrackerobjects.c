/* cudaccl - tests of the tracker on boxes of detectors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <math.h>

#include "gst/track/tracker.h"

#define WIDTH 768
#define HEIGHT 576
#define FRAME 100 /* ms */
#define MOST 8

typedef struct
{
  GstCclTracker *tracker;
  guint time; /* of the next frame, in ms */
  GstCclDetection detections[MOST];
  guint n;
  gint indices[MOST];
} Player;

static void
player_init (Player *player)
{
  GstCclTrackerParams params;

  player->tracker = gst_ccl_tracker_new ();
  player->time = player->n = 0;
  gst_ccl_tracker_params_init (&params);
  params.width = WIDTH;
  params.height = HEIGHT;
  gst_ccl_tracker_set_params (player->tracker, &params);
}

static void
player_clear (Player *player)
{
  gst_ccl_tracker_free (player->tracker);
}

/* Adds a detector's box to the next frame. */
static void
add (Player *player, gdouble x, gdouble y, gdouble width, gdouble height, gdouble confidence,
     guint class_id)
{
  GstCclDetection detection = {
    x,    y,          width,   height, x + width / 2.0, y + height / 2.0, width * height,
    TRUE, confidence, class_id
  };

  player->detections[player->n++] = detection;
}

static const GstCclTrackInfo *
play (Player *player, guint *n_tracks)
{
  gst_ccl_tracker_update (player->tracker, player->time * GST_MSECOND, player->detections,
                          player->n, player->indices);
  player->time += FRAME;
  player->n = 0;

  return gst_ccl_tracker_get_tracks (player->tracker, n_tracks);
}

/* Plays frames with a box of 40 x 80 that moves. */
static const GstCclTrackInfo *
play_one (Player *player, guint frames, gdouble x, gdouble speed, guint *n_tracks)
{
  const GstCclTrackInfo *tracks = NULL;
  guint i;

  for (i = 0; i < frames; i++) {
    add (player, x + i * speed, 200, 40, 80, 1.0, 0);
    tracks = play (player, n_tracks);
  }

  return tracks;
}

/* The lower the confidence, the more boxes it takes; a component takes time. */
GST_START_TEST (test_evidence)
{
  static const struct
  {
    gdouble confidence;
    guint frames; /* until it has an id; 0: never */
  } cases[] = { { 0.0, 2 }, { 1.0, 2 }, { 0.9, 2 }, { 0.89, 3 }, { 0.71, 3 }, { 0.69, 0 } };
  const GstCclTrackInfo *tracks;
  guint i, k, n;

  for (i = 0; i <= G_N_ELEMENTS (cases); i++) {
    gboolean object = i < G_N_ELEMENTS (cases);
    guint frames = object ? cases[i].frames : 8;
    Player player;

    player_init (&player);
    for (k = 1; k < 12; k++) {
      add (&player, 100, 200, 40, 80, object ? cases[i].confidence : 0.0, 0);
      player.detections[0].object = object;
      tracks = play (&player, &n);
      fail_unless_equals_int (n, frames != 0);
      fail_unless (n == 0 || (tracks[0].id != 0) == (k >= frames), "case %u, frame %u", i, k);
      fail_unless (n == 0 || tracks[0].shown == (k >= frames));
    }
    player_clear (&player);
  }
}
GST_END_TEST;

/* A doubtful box keeps a track alive, but not if there is a better one. */
GST_START_TEST (test_doubtful)
{
  const GstCclTrackInfo *tracks;
  Player player;
  guint n;

  player_init (&player);
  play_one (&player, 5, 300, 0, &n);
  add (&player, 300, 200, 40, 80, 0.3, 0);
  tracks = play (&player, &n);
  fail_unless_equals_int (n, 1);
  fail_unless (tracks[0].detection == 0 && tracks[0].missed == 0);
  fail_unless (tracks[0].confidence == 0.3);
  /* It overlaps too little. */
  add (&player, 314, 200, 40, 80, 0.3, 0);
  tracks = play (&player, &n);
  fail_unless_equals_int (n, 1);
  fail_unless (tracks[0].detection < 0 && tracks[0].missed > 0);

  add (&player, 301, 200, 40, 80, 0.3, 0);
  add (&player, 312, 200, 40, 80, 0.9, 0);
  tracks = play (&player, &n);
  fail_unless_equals_int (n, 1);
  fail_unless_equals_int (tracks[0].detection, 1);
  player_clear (&player);
}
GST_END_TEST;

/* A second box of an object is no other object, a box beside it is. */
GST_START_TEST (test_doubles)
{
  static const struct
  {
    gdouble x;
    guint n;
  } cases[] = { { 306, 1 }, { 309, 2 }, { 330, 2 } };
  guint i, k, n;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    Player player;

    player_init (&player);
    play_one (&player, 5, 300, 0, &n);
    for (k = 0; k < 3; k++) {
      add (&player, 300, 200, 40, 80, 0.9, 0);
      add (&player, cases[i].x, 200, 40, 80, 0.9, 0);
      play (&player, &n);
      fail_unless (n == cases[i].n, "%g: %u", cases[i].x, n);
      fail_unless_equals_int (player.indices[1], (gint) n - 1);
    }
    player_clear (&player);
  }
}
GST_END_TEST;

/* Another class is another object, unless its box is the same; then most boxes decide. */
GST_START_TEST (test_classes)
{
  static const struct
  {
    gdouble x;
    guint old_class, class_id, n;
  } cases[] = {
    { 306, 1, 2, 1 }, { 309, 1, 2, 2 }, { 309, 0, 2, 1 }, { 309, 1, 0, 1 }, { 309, 1, 1, 1 },
  };
  const GstCclTrackInfo *tracks;
  Player player;
  guint i, k, n;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    player_init (&player);
    for (k = 0; k < 4; k++) {
      add (&player, 300, 200, 40, 80, 1.0, cases[i].old_class);
      play (&player, &n);
    }
    add (&player, cases[i].x, 200, 40, 80, 1.0, cases[i].class_id);
    tracks = play (&player, &n);
    fail_unless (n == cases[i].n, "case %u: %u", i, n);
    fail_unless_equals_int (tracks[0].class_id, cases[i].old_class ? cases[i].old_class : 2);
    player_clear (&player);
  }

  /* Four votes for the first class, then as many for the second. */
  player_init (&player);
  for (k = 0; k < 9; k++) {
    add (&player, 300, 200, 40, 80, 1.0, k < 4 ? 1 : 2);
    tracks = play (&player, &n);
    fail_unless_equals_int (n, 1);
    fail_unless (tracks[0].class_id == (k < 7 ? 1 : 2), "frame %u: %u", k, tracks[0].class_id);
  }
  player_clear (&player);
}
GST_END_TEST;

/* A box that is hardly larger than its object's hides others, one that is much larger shows them.
 */
GST_START_TEST (test_groups)
{
  static const struct
  {
    gdouble height;
    gboolean member;
  } cases[] = { { 80, FALSE }, { 92, FALSE }, { 130, TRUE } };
  const GstCclTrackInfo *tracks;
  guint i, k, n;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    Player player;

    player_init (&player);
    for (k = 0; k < 10; k++) {
      add (&player, 300, 200, 60, 80, 1.0, 0);
      add (&player, 318, 200, 30, 80, 1.0, 0);
      play (&player, &n);
    }
    fail_unless_equals_int (n, 2);
    add (&player, 300, 200, 60, cases[i].height, 1.0, 0);
    tracks = play (&player, &n);
    fail_unless_equals_int (n, 2);
    fail_unless (tracks[0].detection == 0);
    fail_unless (tracks[1].detection == (cases[i].member ? 0 : -1), "%g", cases[i].height);
    fail_unless (tracks[1].shown);
    player_clear (&player);
  }
}
GST_END_TEST;

/* A lost object is shown for 0.2 s, behind another for a second, and not where it leaves. */
GST_START_TEST (test_lost)
{
  static const struct
  {
    const gchar *name;
    gdouble x, speed; /* of the last frame with it */
    gdouble front;    /* width of the box before it, or 0 */
    guint frames;     /* for which it is shown */
  } cases[] = {
    { "alone", 300, 10, 0, 2 },
    { "behind", 300, 0, 60, 10 },
    { "half behind", 300, 0, 18, 10 },
    { "beside", 300, 0, 14, 2 },
    { "leaving on the right", 720, 20, 0, 0 },
    { "leaving on the left", 8, -20, 0, 0 },
    { "coming from the left", 10, 20, 0, 2 },
  };
  const GstCclTrackInfo *tracks;
  guint i, k, n;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gdouble front_y = 200 - 60;
    Player player;

    player_init (&player);
    for (k = 0; k < 8; k++) {
      if (cases[i].front > 0.0)
        add (&player, 300, front_y, cases[i].front, 200, 1.0, 0);
      add (&player, cases[i].x + ((gdouble) k - 7) * cases[i].speed, 200, 40, 80, 1.0, 0);
      tracks = play (&player, &n);
    }
    fail_unless_equals_int (n, 1 + (cases[i].front > 0.0));
    for (k = 1; k < 13; k++) {
      const GstCclTrackInfo *track;

      if (cases[i].front > 0.0)
        add (&player, 300, front_y, cases[i].front, 200, 1.0, 0);
      tracks = play (&player, &n);
      track = n > 0 ? &tracks[n - 1] : NULL;
      fail_unless ((track && track->detection < 0 && track->shown) == (k <= cases[i].frames),
                   "%s, frame %u", cases[i].name, k);
    }
    player_clear (&player);
  }
}
GST_END_TEST;

/* A new size counts more than a component's: 1 - 0.8^2. */
GST_START_TEST (test_size)
{
  const GstCclTrackInfo *tracks;
  Player player;
  guint n;

  player_init (&player);
  play_one (&player, 10, 300, 0, &n);
  add (&player, 298, 200, 44, 80, 1.0, 0);
  tracks = play (&player, &n);
  fail_unless (fabs (tracks[0].width - (40 + 0.36 * 4)) < 1e-6, "%g", tracks[0].width);
  player_clear (&player);
}
GST_END_TEST;

/* The first two sizes of a component count the same, later ones less. */
GST_START_TEST (test_first_sizes)
{
  /* Each weighs 1 / (n + 1), as long as smooth-alpha is less. */
  static const gdouble widths[][2] = { { 40, 40 }, { 44, 42 }, { 45, 43 } };
  const GstCclTrackInfo *tracks;
  Player player;
  guint k, n;

  player_init (&player);
  for (k = 0; k < 3; k++) {
    const gdouble width = widths[k][0];

    add (&player, 300 - width / 2, 200, width, 80, 0.0, 0);
    player.detections[0].object = FALSE;
    tracks = play (&player, &n);
    fail_unless_equals_int (n, 1);
    fail_unless (fabs (tracks[0].width - widths[k][1]) < 1e-6, "%u: %g", k, tracks[0].width);
  }
  player_clear (&player);
}
GST_END_TEST;

/* A turn changes the velocity of what a detector found less than that of a component. */
GST_START_TEST (test_turn)
{
  gdouble speeds[2];
  guint object, k, n;

  for (object = 0; object < 2; object++) {
    Player player;

    player_init (&player);
    for (k = 0; k < 23; k++) {
      add (&player, k < 20 ? 100 + 10 * k : 290, 200, 40, 80, 1.0, 0);
      player.detections[0].object = object;
      speeds[object] = play (&player, &n)[0].velocity_x;
    }
    fail_unless_equals_int (n, 1);
    player_clear (&player);
  }
  fail_unless (speeds[1] > speeds[0] + 5.0 && speeds[1] < speeds[0] + 20.0, "%g and %g", speeds[0],
               speeds[1]);
}
GST_END_TEST;

static Suite *
ccltrackerobjects_suite (void)
{
  Suite *suite = suite_create ("ccltrackerobjects");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_evidence);
  tcase_add_test (tcase, test_doubtful);
  tcase_add_test (tcase, test_doubles);
  tcase_add_test (tcase, test_classes);
  tcase_add_test (tcase, test_groups);
  tcase_add_test (tcase, test_lost);
  tcase_add_test (tcase, test_size);
  tcase_add_test (tcase, test_first_sizes);
  tcase_add_test (tcase, test_turn);

  return suite;
}

GST_CHECK_MAIN (ccltrackerobjects)
