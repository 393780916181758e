/* cudaccl - tests of the parts of the tracker: assignment and the Kalman filter
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "gst/track/assignment.h"
#include "gst/track/kalman.h"
#include "tests/lib/noise.h"

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

    gst_ccl_assignment_solve (assignment, SIDE, SIDE, starts, edges, G_MAXUINT, matches);
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

/* The order of edges does not matter, even where all scores are equal: the lowest column counts. */
GST_START_TEST (test_ties)
{
  GstCclAssignment *assignment = gst_ccl_assignment_new ();
  guint state = 1, starts[SIDE + 1], round, row, i, k;

  for (row = 0; row <= SIDE; row++)
    starts[row] = row * SIDE;
  for (round = 0; round < 200; round++) {
    GstCclAssignmentEdge edges[SIDE * SIDE];
    gint matches[SIDE], again[SIDE];

    for (i = 0; i < SIDE * SIDE; i++) {
      edges[i].column = i % SIDE;
      edges[i].score = round == 0 ? 0.5 : ceil (2.0 * get_noise (&state)) / 2.0;
    }
    gst_ccl_assignment_solve (assignment, SIDE, SIDE, starts, edges, G_MAXUINT, matches);
    for (row = 0; round == 0 && row < SIDE; row++)
      fail_unless_equals_int (matches[row], row);

    for (i = 0; i < SIDE * SIDE; i++) {
      GstCclAssignmentEdge edge = edges[i];

      k = i / SIDE * SIDE + (guint) ((get_noise (&state) + 1.0) / 2.0 * SIDE);
      edges[i] = edges[k];
      edges[k] = edge;
    }
    gst_ccl_assignment_solve (assignment, SIDE, SIDE, starts, edges, G_MAXUINT, again);
    fail_unless (memcmp (matches, again, sizeof (matches)) == 0, "round %u", round);
  }
  gst_ccl_assignment_free (assignment);
}
GST_END_TEST;

/* Without work, each row takes the best column that is left, in order. */
GST_START_TEST (test_no_work)
{
  static const GstCclAssignmentEdge edges[] = { { 0, 0.9 },  { 1, 0.8 }, { 0, 0.9 }, { 0, 0.8 },
                                                { 2, -1.0 }, { 0, 0.5 }, { 2, 0.2 }, { 3, 0.3 } };
  static const guint starts[] = { 0, 2, 3, 5, 8 };
  static const gint best[] = { 1, 0, -1, 3 }, greedy[] = { 0, -1, -1, 3 };
  GstCclAssignment *assignment = gst_ccl_assignment_new ();
  gint matches[4];

  fail_unless_equals_int (gst_ccl_assignment_solve (assignment, 4, 4, starts, edges, 100, matches),
                          0);
  fail_unless (memcmp (matches, best, sizeof (best)) == 0);
  fail_unless_equals_int (gst_ccl_assignment_solve (assignment, 4, 4, starts, edges, 0, matches),
                          3);
  fail_unless (memcmp (matches, greedy, sizeof (greedy)) == 0);
  gst_ccl_assignment_free (assignment);
}
GST_END_TEST;

/* Two steps by hand, with the matrices written out. */
GST_START_TEST (test_kalman)
{
  gdouble x = 10.0, v = 0.0, pp = 4.0, pv = 0.0, vv = 9.0, dt = 0.5, density = 2.0, variance = 1.5;
  GstCclKalman kalman;
  guint i;

  gst_ccl_kalman_init (&kalman, x, pp, vv);
  for (i = 0; i < 3; i++) {
    gdouble error, gain_p, gain_v;

    gst_ccl_kalman_predict (&kalman, dt, density);
    x += dt * v;
    pp = pp + 2.0 * dt * pv + dt * dt * vv + density * pow (dt, 3.0) / 3.0;
    pv = pv + dt * vv + density * dt * dt / 2.0;
    vv = vv + density * dt;
    fail_unless (fabs (kalman.position - x) < 1e-9);
    fail_unless (fabs (kalman.pp - pp) < 1e-9);
    gst_ccl_kalman_measure (&kalman, 12.0 + i, variance);
    error = 12.0 + i - x;
    gain_p = pp / (pp + variance);
    gain_v = pv / (pp + variance);
    v += gain_v * error;
    x += gain_p * error;
    vv -= gain_v * pv;
    pv *= 1.0 - gain_p;
    pp *= 1.0 - gain_p;
    fail_unless (fabs (kalman.velocity - v) < 1e-9 && fabs (kalman.vv - vv) < 1e-9);
  }
}
GST_END_TEST;

static Suite *
ccltrackparts_suite (void)
{
  Suite *s = suite_create ("ccltrackparts");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_assignment);
  tcase_add_test (tc, test_ties);
  tcase_add_test (tc, test_no_work);
  tcase_add_test (tc, test_kalman);
  return s;
}

GST_CHECK_MAIN (ccltrackparts);
