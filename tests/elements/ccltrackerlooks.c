/* cudaccl - tests of the tracker with a detector that looks at some frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <math.h>

#include "gst/track/tracker.h"

#define WIDTH 768
#define HEIGHT 576
#define FRAME 100 /* ms */

static const GstCclLook everywhere = { 0, 0, WIDTH, HEIGHT };

typedef struct
{
  GstCclTracker *tracker;
  guint frame; /* next one */
  const GstCclTrackInfo *tracks;
  guint n;
} Player;

static void
player_init (Player *player)
{
  GstCclTrackerParams params;

  player->tracker = gst_ccl_tracker_new ();
  player->frame = player->n = 0;
  gst_ccl_tracker_params_init (&params);
  params.min_persistence = 300 * GST_MSECOND;
  params.width = WIDTH;
  params.height = HEIGHT;
  gst_ccl_tracker_set_params (player->tracker, &params);
}

static void
player_clear (Player *player)
{
  gst_ccl_tracker_free (player->tracker);
}

static GstCclDetection
detection_new (gdouble x, gdouble width, gboolean object)
{
  return (GstCclDetection){
    x, 200, width, 80, x + width / 2.0, 240, width * 80, object, object ? 0.95 : 0.0, object
  };
}

/* A look at the frame @late before the next one, which found a box; or none, with a width of 0. */
static void
look (Player *player, guint late, gdouble x, gdouble width, const GstCclLook *part)
{
  const GstCclDetection box = detection_new (x, width, TRUE);

  gst_ccl_tracker_look (player->tracker, (player->frame - late) * FRAME * GST_MSECOND, &box,
                        width > 0.0, part, 1);
}

/* The next frame, with components; or, with @n < 0, with nothing known about it. */
static void
play (Player *player, const GstCclDetection *components, gint n)
{
  const GstClockTime time = player->frame++ * FRAME * GST_MSECOND;
  gint indices[4];

  if (n < 0)
    gst_ccl_tracker_skip (player->tracker, time);
  else
    gst_ccl_tracker_update (player->tracker, time, components, (guint) n, indices);
  player->tracks = gst_ccl_tracker_get_tracks (player->tracker, &player->n);
}

static void
play_one (Player *player, gdouble x, gdouble width)
{
  const GstCclDetection component = detection_new (x, width, FALSE);

  play (player, &component, 1);
}

/* Lets the tracker learn that components are groups, and forget what it saw. */
static void
play_groups (Player *player)
{
  guint k;

  for (k = 0; k < 100; k++) {
    if (k % 2 == 0)
      look (player, 0, 300, k < 50 ? 40 : 0, &everywhere);
    if (k < 50)
      play_one (player, 300, 130);
    else
      play (player, NULL, 0);
  }
  fail_unless_equals_int (player->n, 0);
}

/* A box is applied to where its object was then: one that turned, one that stopped, and one that is
 * not seen between looks. */
GST_START_TEST (test_late)
{
  static const struct
  {
    const gchar *name;
    guint late;
    gdouble speed, speed_later; /* in pixels a frame, the later one from frame 20 on */
  } cases[] = {
    { "at once", 0, 10, 10 }, { "still", 8, 0, 0 },   { "on its way", 5, 10, 10 },
    { "stopped", 6, 12, 0 },  { "turned", 6, 8, -5 },
  };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gdouble places[40], x = 200;
    Player player;

    player_init (&player);
    for (k = 0; k < 40; k++) {
      places[k] = x;
      x += k < 20 ? cases[i].speed : cases[i].speed_later;
    }
    for (k = 0; k < 32; k++) {
      guint then = k - cases[i].late;

      if (k >= 10 && k % 5 == 4)
        look (&player, cases[i].late, places[then], 40, &everywhere);
      play_one (&player, places[k], 40);
      fail_unless (player.n == 1, "%s, frame %u: %u", cases[i].name, k, player.n);
      if (k >= 12 && (k < 20 || k > 26))
        fail_unless (fabs (player.tracks[0].x - places[k]) < 4.0, "%s, frame %u: %g for %g",
                     cases[i].name, k, player.tracks[0].x, places[k]);
    }
    fail_unless (player.tracks[0].id == 1 && player.tracks[0].known);
    fail_unless_equals_int (player.tracks[0].class_id, 1);
    player_clear (&player);
  }
}
GST_END_TEST;

/* A detected object lives on between its looks, and moves on. When a look does not find it, it
 * is gone soon; a look elsewhere says nothing. */
GST_START_TEST (test_between)
{
  static const GstCclLook elsewhere = { 500, 0, 200, HEIGHT };
  guint i, k;

  for (i = 0; i < 3; i++) {
    Player player;

    player_init (&player);
    fail_if (gst_ccl_tracker_is_looking (player.tracker));
    for (k = 0; k < 30; k++) {
      if (k % 10 == 0)
        look (&player, 0, 100 + 4 * k, 40, &everywhere);
      play (&player, NULL, -1);
      fail_unless_equals_int (player.n, 1);
      fail_unless (player.tracks[0].shown == (k >= 10), "frame %u", k);
      if (k > 20)
        fail_unless (fabs (player.tracks[0].x - (100 + 4 * k)) < 10.0, "frame %u: %g", k,
                     player.tracks[0].x);
    }
    fail_unless (gst_ccl_tracker_is_looking (player.tracker));
    for (; k < 40; k++) {
      if (k == 30 && i > 0)
        look (&player, 0, 0, 0, i == 1 ? &everywhere : &elsewhere);
      play (&player, NULL, -1);
      fail_unless ((player.n > 0 && player.tracks[0].shown) == (i != 1 && k < 34),
                   "case %u, frame %u", i, k);
    }
    player_clear (&player);
  }

  /* An object of one look that the next denies is dropped. */
  {
    Player player;

    player_init (&player);
    look (&player, 0, 100, 40, &everywhere);
    play (&player, NULL, -1);
    look (&player, 0, 0, 0, &everywhere);
    play (&player, NULL, -1);
    fail_unless_equals_int (player.n, 0);
    player_clear (&player);
  }
}
GST_END_TEST;

/* A component that a detector knows gets its box. */
GST_START_TEST (test_known)
{
  Player player;
  guint k;

  player_init (&player);
  for (k = 0; k < 6; k++)
    play_one (&player, 300, 40);
  fail_if (player.tracks[0].known);
  look (&player, 1, 296, 52, &everywhere);
  play (&player, NULL, 0);
  fail_unless_equals_int (player.n, 1);
  fail_unless (player.tracks[0].known && player.tracks[0].id == 1);
  fail_unless (fabs (player.tracks[0].width - 52.0) < 1e-6, "%g", player.tracks[0].width);
  fail_unless (fabs (player.tracks[0].x - 296.0) < 2.0, "%g", player.tracks[0].x);
  player_clear (&player);
}
GST_END_TEST;

/* A box counts less for a track that a component shows in the same frame. */
GST_START_TEST (test_alone)
{
  gdouble widths[2];
  guint seen, k;

  for (seen = 0; seen < 2; seen++) {
    Player player;

    player_init (&player);
    for (k = 0; k < 20; k++) {
      if (k % 10 == 5)
        look (&player, 1, 300, 40, &everywhere);
      play_one (&player, 300, 40);
    }
    play (&player, NULL, 0);
    if (seen)
      play_one (&player, 300, 40);
    look (&player, 1, 294, 52, &everywhere);
    play (&player, NULL, 0);
    fail_unless_equals_int (player.n, 1);
    widths[seen] = player.tracks[0].width;
    player_clear (&player);
  }
  fail_unless (widths[0] > 50.0 && widths[1] < 45.0, "%g and %g", widths[0], widths[1]);
}
GST_END_TEST;

/* A component beside a detector's objects is one of its own; one that overlaps them is not. */
GST_START_TEST (test_unknown)
{
  static const struct
  {
    gdouble x;
    gboolean shown;
  } cases[] = { { 400, TRUE }, { 332, TRUE }, { 326, FALSE } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstCclDetection components[2] = { detection_new (300, 40, FALSE),
                                            detection_new (cases[i].x, 40, FALSE) };
    Player player;

    player_init (&player);
    for (k = 0; k < 10; k++) {
      if (k % 4 == 2)
        look (&player, 1, 300, 40, &everywhere);
      play (&player, components, 2);
    }
    fail_unless_equals_int (player.n, 2);
    fail_unless (player.tracks[0].known && player.tracks[0].shown);
    fail_unless (!player.tracks[1].known);
    fail_unless (player.tracks[1].shown == cases[i].shown, "%g", cases[i].x);
    player_clear (&player);
  }
}
GST_END_TEST;

/* Where looks are rare, an object has the box of its component in between, but not that of one
 * which overlaps too little. */
GST_START_TEST (test_carried)
{
  static const struct
  {
    gdouble width; /* of the component, from 300 on */
    gboolean own;
  } cases[] = { { 40, TRUE }, { 90, TRUE }, { 110, FALSE } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstCclDetection components[2] = { detection_new (300, cases[i].width, FALSE),
                                            detection_new (600, 40, FALSE) };
    Player player;

    player_init (&player);
    for (k = 0; k < 21; k++) {
      if (k % 10 == 0)
        look (&player, 0, 300, 40, &everywhere);
      play (&player, NULL, 0);
    }
    play (&player, components, 2);
    fail_unless_equals_int (player.n, 2);
    /* The other way, it is a member of a group of one. */
    fail_unless_equals_int (player.tracks[0].detection, 0);
    play (&player, components, 2);
    fail_unless ((player.tracks[0].width > 41.0) == (cases[i].own && cases[i].width > 41.0),
                 "%g: %g", cases[i].width, player.tracks[0].width);
    player_clear (&player);
  }
}
GST_END_TEST;

/* Where looks are rare, two objects that merge have their places in the component from the last
 * look, until its width jumps. */
GST_START_TEST (test_merged)
{
  guint i, k;
  Player player;

  player_init (&player);
  for (k = 0; k < 40; k++) {
    const gdouble x = 200 + 3 * k, wider = k < 36 ? 0 : 40;
    const GstCclDetection boxes[2] = { detection_new (x, 40, TRUE),
                                       detection_new (x + 44, 40, TRUE) };
    const GstCclDetection apart[2] = { detection_new (x, 40, FALSE),
                                       detection_new (x + 44, 40, FALSE) };
    const GstCclDetection merged = detection_new (x + 4, 74 + wider, FALSE);

    if (k % 10 == 0)
      gst_ccl_tracker_look (player.tracker, k * FRAME * GST_MSECOND, boxes, 2, &everywhere, 1);
    if (k < 20)
      play (&player, apart, 2);
    else
      play (&player, &merged, 1);
    fail_unless_equals_int (player.n, 2);
    if (k < 30)
      continue;
    for (i = 0; i < 2; i++)
      fail_unless ((fabs (player.tracks[i].x - boxes[i].x) < 1.5) == (k < 36),
                   "frame %u: %g for %g", k, player.tracks[i].x, boxes[i].x);
  }
  player_clear (&player);
}
GST_END_TEST;

/* Where looks are seldom, the box that they find is right whatever was predicted, and one is enough
 * for an object. Where they are not, most of it is jitter. */
GST_START_TEST (test_seldom)
{
  guint gap, k;

  for (gap = 1; gap <= 3; gap++) { /* frames */
    const gboolean seldom = gap > 1;
    GstCclDetection boxes[2] = { detection_new (200, 40, TRUE), detection_new (600, 40, TRUE) };
    const GstCclTrackInfo *track;
    Player player;

    player_init (&player);
    for (k = 0; k < 10; k++) {
      look (&player, 0, 200, 40, &everywhere);
      play (&player, NULL, -1);
      player.frame += gap - 1;
    }
    boxes[0].x = 180;
    boxes[0].width = 60;
    boxes[1].confidence = 0.75;
    gst_ccl_tracker_look (player.tracker, player.frame * FRAME * GST_MSECOND, boxes, 2, &everywhere,
                          1);
    play (&player, NULL, -1);
    fail_unless_equals_int (player.n, 2);
    track = player.tracks;
    fail_unless ((fabs (track->x - 180) < 3.0 && fabs (track->width - 60) < 3.0) == seldom,
                 "gap %u: %g, %g", gap, track->x, track->width);
    fail_unless ((track[1].id != 0) == seldom, "gap %u: %u", gap, track[1].id);
    player_clear (&player);
  }
}
GST_END_TEST;

/* Where looks are not rare and components are often groups, one that was like the object only shows
 * how it moves: the box keeps its size and its place in the component. */
GST_START_TEST (test_held)
{
  static const struct
  {
    gdouble left, right, later; /* of the component beyond the box; on the right, after the looks */
    gboolean held;
  } cases[] = { { 0, 0, 0, TRUE },   { 4, 10, 10, TRUE },   { -5, 3, 3, TRUE },
                { 4, 10, 20, TRUE }, { 30, 30, 30, FALSE }, { 4, 10, 60, FALSE } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gdouble x = 200;
    Player player;

    player_init (&player);
    play_groups (&player);
    for (k = 0; k < 30; k++, x += k < 22 ? 6 : -6) {
      const gdouble right = k <= 21 ? cases[i].right : cases[i].later;

      if (k % 2 == 0 && k < 22)
        look (&player, 0, x, 40, &everywhere);
      play_one (&player, x - cases[i].left, 40 + cases[i].left + right);
    }
    x += 6;
    fail_unless (player.n >= 1 && player.tracks[0].known);
    fail_unless (fabs (player.tracks[0].width - 40.0) < 0.1, "case %u: %g", i,
                 player.tracks[0].width);
    fail_unless ((fabs (player.tracks[0].x - x) < 25.0) == cases[i].held, "case %u: %g for %g", i,
                 player.tracks[0].x, x);
    player_clear (&player);
  }
}
GST_END_TEST;

/* The box keeps its place in a component that is larger on one side alone, either one. */
GST_START_TEST (test_held_side)
{
  static const gdouble sides[][2] = { { 16, 0 }, { 0, 16 } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (sides); i++) {
    gdouble x = 200;
    Player player;

    player_init (&player);
    play_groups (&player);
    for (k = 0; k < 24; k++, x += 6) {
      if (k % 2 == 0 && k < 22)
        look (&player, 0, x, 40, &everywhere);
      play_one (&player, x - sides[i][0], 40 + sides[i][0] + sides[i][1]);
      fail_unless (player.n >= 1);
      if (k >= 15)
        fail_unless (fabs (player.tracks[0].x - x) < 0.25, "side %u, frame %u: %g for %g", i, k,
                     player.tracks[0].x, x);
    }
    player_clear (&player);
  }
}
GST_END_TEST;

/* Another component that merges with one which shows how an object moves, for a while, does not
 * take it away. */
GST_START_TEST (test_joined)
{
  gdouble x = 200;
  guint k;
  Player player;

  player_init (&player);
  play_groups (&player);
  for (k = 0; k < 30; k++, x += k < 24 ? 6 : -6) {
    const gboolean joined = k == 21 || k == 22;
    const GstCclDetection components[2] = { detection_new (x, joined ? 68 : 46, FALSE),
                                            detection_new (x + 48, 20, FALSE) };

    if (k % 2 == 0 && k <= 20)
      look (&player, 0, x, 40, &everywhere);
    play (&player, components, joined ? 1 : 2);
    fail_unless (player.n >= 1 && player.tracks[0].known);
    fail_unless (k < 27 || fabs (player.tracks[0].x - x) < 12.0, "frame %u: %g for %g", k,
                 player.tracks[0].x, x);
  }
  player_clear (&player);
}
GST_END_TEST;

/* Components of a known object that go apart become tracks, however often a network looks. */
GST_START_TEST (test_apart)
{
  const GstCclDetection parts[2] = { detection_new (283, 30, FALSE),
                                     detection_new (317, 30, FALSE) };
  guint k;
  Player player;

  player_init (&player);
  for (k = 0; k < 24; k++) {
    if (k % 2 == 0)
      look (&player, 0, 283, 64, &everywhere);
    if (k < 14)
      play_one (&player, 283, 64);
    else
      play (&player, parts, 2);
    fail_unless_equals_int (player.n, k < 16 ? 1 : 2);
  }
  player_clear (&player);
}
GST_END_TEST;

/* A doubtful box is an object if something moves there, but not for long if it goes nowhere. */
GST_START_TEST (test_doubtful)
{
  static const struct
  {
    gdouble confidence, component, speed; /* place of the component relative to the box, or NaN */
    guint first, end;                     /* frames in which the object is shown */
  } cases[] = { { 0.6, 0, 6, 2, 30 },
                { 0.6, 0, 0, 2, 6 },
                { 0.6, 100, 0, 30, 30 },
                { 0.6, 0.0 / 0.0, 0, 30, 30 },
                { 0.8, 100, 0, 2, 30 } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    Player player;

    player_init (&player);
    for (k = 0; k < 30; k++) {
      const gdouble x = 100 + cases[i].speed * k;
      GstCclDetection box = detection_new (x, 40, TRUE);
      const GstCclDetection component = detection_new (x + cases[i].component, 40, FALSE);
      guint n;

      box.confidence = cases[i].confidence;
      gst_ccl_tracker_look (player.tracker, k * FRAME * GST_MSECOND, &box, 1, &everywhere, 1);
      play (&player, &component, isfinite (cases[i].component));
      for (n = 0; n < player.n && !(player.tracks[n].known && player.tracks[n].shown); n++)
        ;
      /* The component, too, counts until the box is found. */
      fail_unless ((n < player.n) == (k >= cases[i].first && k < cases[i].end), "case %u, frame %u",
                   i, k);
    }
    player_clear (&player);
  }
}
GST_END_TEST;

/* An object that walks behind another keeps its size while part of it is hidden. */
GST_START_TEST (test_cut)
{
  guint k;
  Player player;

  player_init (&player);
  for (k = 0; k < 20; k++) {
    const gdouble x = 100 + 5 * k, front = 182; /* the front one hides what is beyond */
    GstCclDetection boxes[2] = { detection_new (x, MIN (40, front - x), TRUE),
                                 detection_new (front, 60, TRUE) };

    boxes[1].height = 120;
    boxes[1].y = 190;
    gst_ccl_tracker_look (player.tracker, k * FRAME * GST_MSECOND, boxes, 2, &everywhere, 1);
    play (&player, NULL, 0);
    if (k < 13) { /* then less than half of it is seen */
      fail_unless_equals_int (player.n, 2);
      fail_unless (fabs (player.tracks[0].width - 40.0) < 1.0, "frame %u: %g", k,
                   player.tracks[0].width);
      fail_unless (fabs (player.tracks[0].x - x) < 3.0, "frame %u: %g for %g", k,
                   player.tracks[0].x, x);
    }
  }
  player_clear (&player);
}
GST_END_TEST;

/* Where components are not what the detector finds, one that it denies is not shown; nor is one
 * that has left the frame in part. */
GST_START_TEST (test_denied)
{
  static const struct
  {
    gdouble width, left; /* of the first component; the place of the other one when it is denied */
    gboolean shown;
  } cases[] = { { 40, 600, TRUE }, { 130, 600, FALSE }, { 130, -16, FALSE } };
  const GstCclLook right = { 200, 0, WIDTH - 200, HEIGHT };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    Player player;

    player_init (&player);
    for (k = 0; k < 20; k++) {
      const gdouble x = cases[i].left + 2 * (19 - (gdouble) k);
      const GstCclDetection components[2] = { detection_new (300, cases[i].width, FALSE),
                                              detection_new (MAX (x, 0), 40 + MIN (x, 0), FALSE) };

      if (k == 5 || k > 8)
        look (&player, 0, 300, 40, k < 18 ? &right : &everywhere);
      play (&player, components, 2);
    }
    for (k = 0; k < player.n && player.tracks[k].known; k++)
      ;
    fail_unless (k < player.n && fabs (player.tracks[k].x - cases[i].left) < 4.0, "case %u", i);
    fail_unless (player.tracks[k].shown == cases[i].shown, "case %u", i);
    player_clear (&player);
  }
}
GST_END_TEST;

/* However often the network looks, an object has the box of its component if components are
 * objects, and nothing is near. */
GST_START_TEST (test_clear)
{
  static const struct
  {
    gdouble other; /* width of another component, and of its box */
    gboolean groups, carried;
  } cases[] = { { 60, FALSE, TRUE }, { 60, TRUE, FALSE }, { WIDTH / 2 + 10, FALSE, FALSE } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    Player player;

    player_init (&player);
    if (cases[i].groups)
      play_groups (&player);
    for (k = 0; k < 33; k++) {
      const GstCclDetection boxes[2] = { detection_new (600, 40, TRUE),
                                         detection_new (20, cases[i].other, TRUE) };
      const GstCclDetection components[2] = { detection_new (600, k <= 30 ? 40 : 60, FALSE),
                                              detection_new (20, cases[i].other, FALSE) };

      if (k % 2 == 0 && k <= 30)
        gst_ccl_tracker_look (player.tracker, player.frame * FRAME * GST_MSECOND, boxes, 2,
                              &everywhere, 1);
      play (&player, components, 2);
    }
    fail_unless_equals_int (player.n, 2);
    for (k = 0; k < 2; k++) {
      if (player.tracks[k].x > 500)
        fail_unless ((player.tracks[k].width > 41.0) == cases[i].carried, "case %u: %g", i,
                     player.tracks[k].width);
    }
    player_clear (&player);
  }
}
GST_END_TEST;

/* Components that reach over half of the picture most of the time are groups: they do not carry
 * what is known where looks are rare, and are not shown where they are unknown. Not if they are
 * what the network finds. */
GST_START_TEST (test_groups)
{
  static const struct
  {
    gdouble large; /* width of the large component, from 20 on */
    gdouble box;   /* of the box that a look finds there */
    gboolean grouped;
  } cases[] = { { WIDTH / 2 - 10, 100, FALSE },
                { WIDTH / 2 + 10, 100, TRUE },
                { WIDTH / 2 + 10, 394, FALSE } };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstCclDetection components[3] = { detection_new (20, cases[i].large, FALSE),
                                            detection_new (500, 40, FALSE),
                                            detection_new (640, 40, FALSE) };
    const GstCclDetection boxes[2] = { detection_new (20, cases[i].box, TRUE),
                                       detection_new (500, 36, TRUE) };
    const GstCclDetection moved[3] = { components[0], detection_new (512, 40, FALSE),
                                       components[2] };
    Player player;

    player_init (&player);
    for (k = 0; k < 61; k++) {
      if (k % 10 == 0)
        gst_ccl_tracker_look (player.tracker, k * FRAME * GST_MSECOND, boxes, 2, &everywhere, 0);
      play (&player, components, 3);
    }
    for (k = 0; k < 3; k++)
      play (&player, moved, 3);
    for (k = 0; k < player.n; k++) {
      const GstCclTrackInfo *track = &player.tracks[k];

      if (track->x > 600)
        fail_unless (!track->known && track->shown != cases[i].grouped, "case %u", i);
      else if (track->x > 400)
        fail_unless (track->known && (track->width > 38.0) != cases[i].grouped, "case %u: %g", i,
                     track->width);
    }
    fail_unless (player.n >= 3);
    player_clear (&player);
  }
}
GST_END_TEST;

static Suite *
ccltrackerlooks_suite (void)
{
  Suite *suite = suite_create ("ccltrackerlooks");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_late);
  tcase_add_test (tcase, test_between);
  tcase_add_test (tcase, test_known);
  tcase_add_test (tcase, test_alone);
  tcase_add_test (tcase, test_unknown);
  tcase_add_test (tcase, test_carried);
  tcase_add_test (tcase, test_merged);
  tcase_add_test (tcase, test_seldom);
  tcase_add_test (tcase, test_held);
  tcase_add_test (tcase, test_held_side);
  tcase_add_test (tcase, test_joined);
  tcase_add_test (tcase, test_apart);
  tcase_add_test (tcase, test_doubtful);
  tcase_add_test (tcase, test_cut);
  tcase_add_test (tcase, test_denied);
  tcase_add_test (tcase, test_clear);
  tcase_add_test (tcase, test_groups);

  return suite;
}

GST_CHECK_MAIN (ccltrackerlooks)
