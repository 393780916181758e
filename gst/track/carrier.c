/* cudaccl - components that show how a known track moves between looks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "carrier.h"

/* IoU of a component and the track's box at the look: with less, it is something else. */
#define HOLD_IOU 0.5

/* Ratio of its lengths before and now: with more, it has broken or merged. */
#define HOLD_RATIO 1.6

/* Standard deviation of its sides, in sizes of the track: more than that of boxes, as it shows the
 * motion only. */
#define HOLD_NOISE 0.12

/* Sizes that a side is off its place when its variance doubles. */
#define HOLD_ERROR 0.3

/* Weight of its new size in the running mean: shapes change slowly. */
#define CARRIER_SHARE 0.2

/* Sizes from a side of a group to that of a member: no more than a head or feet. */
#define MOST_OFFSET 0.15

/* Ratio of the lengths of a group before and now: with more, its members have changed. */
#define SAME_LENGTH 1.2

static gboolean
is_same_length (gdouble a, gdouble b)
{
  return a <= b * HOLD_RATIO && b <= a * HOLD_RATIO;
}

/* Whether a component is the one that holds a track, or begins to after a look. */
static gboolean
is_holding (Track *track, const Blob *blob)
{
  guint k;

  if (!track->look.fresh || get_boxes_iou (&blob->box, &track->box) < HOLD_IOU)
    return track->look.held &&
           is_same_length (get_length (&blob->box, 0), track->look.carrier[0]) &&
           is_same_length (get_length (&blob->box, 1), track->look.carrier[1]);

  track->look.held = TRUE;
  for (k = 0; k < 2; k++) {
    track->look.offset[k][0] = track->box.low[k] - blob->box.low[k];
    track->look.offset[k][1] = track->box.high[k] - blob->box.high[k];
    track->look.carrier[k] = get_length (&blob->box, k);
  }

  return TRUE;
}

gboolean
gst_ccl_carrier_move (Track *track, const Blob *blob)
{
  const gdouble variance = 2.0 * square (MAX (HOLD_NOISE * get_scale (track), 0.5));
  guint k, side;

  track->group.partner = 0;
  if (!is_holding (track, blob))
    return FALSE;

  for (k = 0; k < 2; k++) {
    const gdouble half = track->size[k] / 2.0;
    const gdouble sides[2] = { blob->box.low[k] + track->look.offset[k][0] + half,
                               blob->box.high[k] + track->look.offset[k][1] - half };
    const gdouble expected = track->centre[k].position;
    const gdouble change = fabs (sides[1] - sides[0]);

    for (side = 0; side < 2; side++) {
      /* If the length has changed, the side that is not where it was expected has moved. */
      gdouble error = MIN (fabs (sides[side] - expected), change) / track->size[k];

      gst_ccl_kalman_measure (&track->centre[k], sides[side],
                              variance * (1.0 + square (error / HOLD_ERROR)));
    }
    track->look.carrier[k] += CARRIER_SHARE * (get_length (&blob->box, k) - track->look.carrier[k]);
  }

  return TRUE;
}

void
gst_ccl_carrier_get_offset (Track *track, const Box *box, guint k, gdouble offset[2])
{
  const gdouble length = get_length (box, k), most = MOST_OFFSET * track->size[k];
  const gdouble low = track->centre[k].position - track->size[k] / 2.0;
  gdouble *kept = track->look.offset[k];

  if (track->look.fresh) {
    kept[0] = CLAMP (low - box->low[k], -most, most);
    kept[1] = CLAMP (low + track->size[k] - box->high[k], -most, most);
  } else if (length > SAME_LENGTH * track->look.carrier[k] ||
             track->look.carrier[k] > SAME_LENGTH * length) {
    kept[0] = kept[1] = 0.0;
  }
  track->look.carrier[k] = length;
  track->look.held = FALSE;
  offset[0] = kept[0];
  offset[1] = kept[1];
}
