/* cudaccl - updates tracks that share a detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltracker-private.h"

#include <string.h>

#define LARGE_STEP 0.25   /* sizes from frame to frame */
#define PASSING_GAP 0.25  /* sizes between the sides of members that pass each other */
#define PASSING_DRIFT 0.3 /* sizes per s */
#define GROUP_GAIN 0.12   /* share of a group's box that a visible member must explain */
#define TWIN_TIME 1.0     /* s, see find_twins() */
#define TWIN_RATIO 2.0

/* Whether a member may reach from one side of its group to the other. */
static gboolean
is_spanning (const Track *track, const Blob *blob, guint k)
{
  return blob->high[k] - blob->low[k] < 1.3 * track->size[k];
}

/* Where the side of a member is expected if its group is too long for one. Members that meet stop
 * rather than go on behind each other: after a large step, half of it does not count. */
static gdouble
get_side (const GstCclTracker *self, const Track *track, const Blob *blob, guint k, gboolean high)
{
  gdouble side = high ? track->high[k] : track->low[k], step = track->v[k] * self->dt;

  if (ABS (step) < LARGE_STEP * track->size[k] || is_spanning (track, blob, k))
    return side;

  return side - step / 2.0;
}

/* The members at the sides of a group, in the direction of @k: two where it is too long for one. */
static void
find_owners (GstCclTracker *self, const Blob *blob, guint k, const Track *owners[2])
{
  const guint *members = (const guint *) self->members->data;
  const Track *second[2] = { NULL, NULL };
  gdouble best[2] = { 0.0, 0.0 }, next[2] = { 0.0, 0.0 };
  guint i, side;

  owners[0] = owners[1] = NULL;
  for (i = 0; i < self->members->len; i++) {
    const Track *track = get_track (self, members[i]);

    for (side = 0; side < 2; side++) {
      gdouble outwards = get_side (self, track, blob, k, side) * (side ? 1.0 : -1.0);

      if (!owners[side] || outwards > best[side]) {
        second[side] = owners[side];
        next[side] = best[side];
        owners[side] = track;
        best[side] = outwards;
      } else if (!second[side] || outwards > next[side]) {
        second[side] = track;
        next[side] = outwards;
      }
    }
  }

  if (owners[0] == owners[1] && !is_spanning (owners[0], blob, k)) {
    side = best[0] - next[0] < best[1] - next[1] ? 0 : 1;
    owners[side] = second[side];
  }
}

/* The variance of a side of a group as a measurement of a member, relative to that of a single
 * object. Members that pass each other would get each other's velocities while it is uncertain
 * whose side it is; members that go together share it. */
static gdouble
get_uncertainty (GstCclTracker *self, const Track *track, const Track *owner, const Blob *blob,
                 guint k, gboolean high)
{
  const guint *members = (const guint *) self->members->data;
  gdouble own = high ? track->high[k] : track->low[k], size = track->size[k];
  gdouble most = 0.0;
  guint i;

  if (track == owner && !is_spanning (track, blob, k))
    return 1.0;

  for (i = 0; i < self->members->len; i++) {
    const Track *other = get_track (self, members[i]);
    gdouble gap, drift;

    if (other == track || (track != owner && other != owner))
      continue;
    gap = ABS ((high ? other->high[k] : other->low[k]) - own) / size;
    drift = (other->before[k] - track->before[k]) / size;
    if (gap < PASSING_GAP)
      most = MAX (most, square (drift / PASSING_DRIFT));
    if (track != owner)
      return (1.0 + square (gap / 0.1)) * (1.0 + square (drift / PASSING_DRIFT));
  }

  return 1.0 + most;
}

/* Each side of a group measures the members whose sides are there. */
static void
update_group (GstCclTracker *self, const Blob *blob, guint k)
{
  const guint *members = (const guint *) self->members->data;
  const Track *owners[2];
  guint i;

  find_owners (self, blob, k, owners);
  for (i = 0; i < self->members->len; i++) {
    Track *track = get_track (self, members[i]);

    track->before[k] = track->v[k];
  }

  for (i = 0; i < self->members->len; i++) {
    Track *track = get_track (self, members[i]);
    gdouble size = track->size[k];
    gdouble variance = square (MAX (1.5 * MEASUREMENT_NOISE * get_scale (track), 0.5));
    gdouble low = get_uncertainty (self, track, owners[0], blob, k, FALSE);
    gdouble high = get_uncertainty (self, track, owners[1], blob, k, TRUE);

    if (owners[0] != owners[1] && !is_spanning (track, blob, k)) {
      if (track == owners[0])
        high = G_MAXDOUBLE;
      else if (track == owners[1])
        low = G_MAXDOUBLE;
    }
    if (low < 20.0 && !touches (self, blob, k, FALSE))
      measure_axis (track, k, blob->low[k] + size / 2.0, variance * low);
    if (high < 20.0 && !touches (self, blob, k, TRUE))
      measure_axis (track, k, blob->high[k] - size / 2.0, variance * high);

    /* No member is outside of the group. */
    if (size < blob->high[k] - blob->low[k])
      track->p[k] = CLAMP (track->p[k], blob->low[k] + size / 2.0, blob->high[k] - size / 2.0);
  }
}

static gdouble
get_iou (const Track *track, const Blob *blob)
{
  gdouble common = get_common (track->low, track->high, blob->low, blob->high);

  return common / (track->size[0] * track->size[1] + get_box_area (blob->low, blob->high) - common);
}

/* Finds the members that the box of the group shows: first the most similar one, then those that
 * explain enough of the rest of the box. */
static void
find_seen (GstCclTracker *self, const Blob *blob)
{
  const guint *members = (const guint *) self->members->data;
  gdouble low[2], high[2], explained, area = get_box_area (blob->low, blob->high);
  Track *next = NULL;
  guint i, k;

  for (i = 0; i < self->members->len; i++) {
    Track *track = get_track (self, members[i]);

    if (!next || get_iou (track, blob) > get_iou (next, blob))
      next = track;
  }
  memcpy (low, next->low, sizeof (low));
  memcpy (high, next->high, sizeof (high));
  explained = get_common (low, high, blob->low, blob->high) / area;

  while (next) {
    gdouble best = explained + GROUP_GAIN;

    next->seen = TRUE;
    next = NULL;
    for (i = 0; i < self->members->len; i++) {
      Track *track = get_track (self, members[i]);
      gdouble new_low[2], new_high[2], share;

      if (track->seen)
        continue;
      for (k = 0; k < 2; k++) {
        new_low[k] = MIN (low[k], track->low[k]);
        new_high[k] = MAX (high[k], track->high[k]);
      }
      share = get_common (new_low, new_high, blob->low, blob->high) / area;
      if (share > best) {
        best = share;
        next = track;
      }
    }
    if (!next)
      break;
    explained = best;
    for (k = 0; k < 2; k++) {
      low[k] = MIN (low[k], next->low[k]);
      high[k] = MAX (high[k], next->high[k]);
    }
  }
}

/* Ends members that are parts of another member rather than objects of their own: they have been in
 * its group for much longer than they were ever apart. */
static void
find_twins (GstCclTracker *self, const Blob *blob, gdouble dt)
{
  const guint *members = (const guint *) self->members->data;
  Track *oldest = get_track (self, members[0]);
  guint i, k;

  for (i = 1; i < self->members->len; i++) {
    Track *track = get_track (self, members[i]);

    if (track->partner != oldest->id) {
      track->partner = oldest->id;
      track->joined = 0.0;
    }
    track->joined += dt;
    if (track->joined < MAX (TWIN_TIME, TWIN_RATIO * track->apart))
      continue;

    track->over = TRUE;
    if (self->members->len > 2)
      continue;
    for (k = 0; k < 2; k++) {
      oldest->size[k] = blob->high[k] - blob->low[k];
      oldest->p[k] = (blob->low[k] + blob->high[k]) / 2.0;
    }
    oldest->area = blob->area;
  }
}

void
gst_ccl_tracker_update_group (GstCclTracker *self, const Blob *blob, gdouble dt)
{
  gint member;
  guint k;

  g_array_set_size (self->members, 0);
  for (member = blob->first; member >= 0; member = get_track (self, (guint) member)->next)
    g_array_append_val (self->members, member);

  find_seen (self, blob);
  for (k = 0; k < 2; k++)
    update_group (self, blob, k);
  find_twins (self, blob, dt);
}
