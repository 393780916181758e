/* cudaccl - updates tracks that share a detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tracker-private.h"

#define LARGE_STEP 0.25   /* sizes from frame to frame */
#define PASSING_GAP 0.25  /* sizes between the sides of members that pass each other */
#define PASSING_DRIFT 0.3 /* sizes per s */
#define GROUP_GAIN 0.12   /* share of a group's box that a visible member must explain */
#define TWIN_TIME 1.0     /* s, see find_twins() */
#define TWIN_RATIO 2.0

/* Whether a member may reach from one side of its group to the other. */
static gboolean
is_spanning (const GstCclTracker *self, guint track, const Blob *blob, guint k)
{
  return blob->high[k] - blob->low[k] < 1.3 * self->tracks.size[k][track];
}

/* Where the side of a member is expected if its group is too long for one. Members that meet stop
 * rather than go on behind each other: after a large step, half of it does not count. */
static gdouble
get_side (const GstCclTracker *self, guint track, const Blob *blob, guint k, gboolean high)
{
  const Box *box = &self->predictions[track].box;
  gdouble side = high ? box->high[k] : box->low[k];
  gdouble step = self->tracks.v[k][track] * self->dt;

  if (ABS (step) < LARGE_STEP * self->tracks.size[k][track] || is_spanning (self, track, blob, k))
    return side;

  return side - step / 2.0;
}

/* The members at the sides of a group, in the direction of @k: two where it is too long for one. */
static void
find_owners (GstCclTracker *self, const Blob *blob, guint k, gint owners[2])
{
  const guint *members = (const guint *) self->members->data;
  gint second[2] = { -1, -1 };
  gdouble best[2] = { 0.0, 0.0 }, next[2] = { 0.0, 0.0 };
  guint i, side;

  owners[0] = owners[1] = -1;
  for (i = 0; i < self->members->len; i++) {
    for (side = 0; side < 2; side++) {
      gdouble outwards = get_side (self, members[i], blob, k, side) * (side ? 1.0 : -1.0);

      if (owners[side] < 0 || outwards > best[side]) {
        second[side] = owners[side];
        next[side] = best[side];
        owners[side] = (gint) members[i];
        best[side] = outwards;
      } else if (second[side] < 0 || outwards > next[side]) {
        second[side] = (gint) members[i];
        next[side] = outwards;
      }
    }
  }

  if (owners[0] == owners[1] && !is_spanning (self, (guint) owners[0], blob, k)) {
    side = best[0] - next[0] < best[1] - next[1] ? 0 : 1;
    owners[side] = second[side];
  }
}

/* The variance of a side of a group as a measurement of a member, relative to that of a single
 * object. Members that pass each other would get each other's velocities while it is uncertain
 * whose side it is; members that go together share it. */
static gdouble
get_uncertainty (GstCclTracker *self, guint track, guint owner, const Blob *blob, guint k,
                 gboolean high)
{
  const guint *members = (const guint *) self->members->data;
  const gdouble *before = self->tracks.before;
  const Box *box = &self->predictions[track].box;
  gdouble size = self->tracks.size[k][track], most = 0.0;
  guint i;

  if (track == owner && !is_spanning (self, track, blob, k))
    return 1.0;

  for (i = 0; i < self->members->len; i++) {
    guint other = members[i];
    const Box *other_box = &self->predictions[other].box;
    gdouble gap, drift;

    if (other == track || (track != owner && other != owner))
      continue;
    gap = ABS (high ? other_box->high[k] - box->high[k] : other_box->low[k] - box->low[k]) / size;
    drift = (before[other] - before[track]) / size;
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
  const Tracks *tracks = &self->tracks;
  gint owners[2];
  guint i;

  find_owners (self, blob, k, owners);
  for (i = 0; i < self->members->len; i++)
    tracks->before[members[i]] = tracks->v[k][members[i]];

  for (i = 0; i < self->members->len; i++) {
    guint track = members[i];
    gdouble size = tracks->size[k][track], *p = &tracks->p[k][track];
    gdouble variance = square (MAX (1.5 * MEASUREMENT_NOISE * get_scale (tracks, track), 0.5));
    gdouble low = get_uncertainty (self, track, (guint) owners[0], blob, k, FALSE);
    gdouble high = get_uncertainty (self, track, (guint) owners[1], blob, k, TRUE);

    if (owners[0] != owners[1] && !is_spanning (self, track, blob, k)) {
      if (track == (guint) owners[0])
        high = G_MAXDOUBLE;
      else if (track == (guint) owners[1])
        low = G_MAXDOUBLE;
    }
    if (low < 20.0 && !touches (self, blob, k, FALSE))
      measure_axis (tracks, track, k, blob->low[k] + size / 2.0, variance * low);
    if (high < 20.0 && !touches (self, blob, k, TRUE))
      measure_axis (tracks, track, k, blob->high[k] - size / 2.0, variance * high);

    /* No member is outside of the group. */
    if (size < blob->high[k] - blob->low[k])
      *p = CLAMP (*p, blob->low[k] + size / 2.0, blob->high[k] - size / 2.0);
  }
}

/* Finds the members that the box of the group shows: first the most similar one, then those that
 * explain enough of the rest of the box. */
static void
find_seen (GstCclTracker *self, const Blob *blob)
{
  const guint *members = (const guint *) self->members->data;
  gdouble explained, area = get_box_area (blob->low, blob->high);
  gint64 *seen = self->tracks.seen;
  gint next = (gint) members[0];
  Box shown;
  guint i, k;

  for (i = 1; i < self->members->len; i++) {
    if (get_iou (self, members[i], blob->low, blob->high) >
        get_iou (self, (guint) next, blob->low, blob->high))
      next = (gint) members[i];
  }
  shown = self->predictions[next].box;
  explained = get_common (shown.low, shown.high, blob->low, blob->high) / area;

  while (next >= 0) {
    gdouble best = explained + GROUP_GAIN;
    Box best_box = shown;

    seen[next] = -1;
    next = -1;
    for (i = 0; i < self->members->len; i++) {
      Box box = self->predictions[members[i]].box;
      gdouble share;

      if (seen[members[i]])
        continue;
      for (k = 0; k < 2; k++) {
        box.low[k] = MIN (shown.low[k], box.low[k]);
        box.high[k] = MAX (shown.high[k], box.high[k]);
      }
      share = get_common (box.low, box.high, blob->low, blob->high) / area;
      if (share > best) {
        best = share;
        best_box = box;
        next = (gint) members[i];
      }
    }
    explained = best;
    shown = best_box;
  }
}

/* Ends members that are parts of another member rather than objects of their own: they have been in
 * its group for much longer than they were ever apart. */
static void
find_twins (GstCclTracker *self, const Blob *blob, gdouble dt)
{
  const guint *members = (const guint *) self->members->data;
  const Tracks *tracks = &self->tracks;
  guint oldest = members[0], i, k;

  for (i = 1; i < self->members->len; i++) {
    guint track = members[i];

    if (tracks->partner[track] != tracks->id[oldest]) {
      tracks->partner[track] = tracks->id[oldest];
      tracks->joined[track] = 0.0;
    }
    tracks->joined[track] += dt;
    if (tracks->joined[track] < MAX (TWIN_TIME, TWIN_RATIO * tracks->apart[track]))
      continue;

    tracks->over[track] = TRUE;
    if (self->members->len > 2)
      continue;
    for (k = 0; k < 2; k++) {
      tracks->size[k][oldest] = blob->high[k] - blob->low[k];
      tracks->p[k][oldest] = (blob->low[k] + blob->high[k]) / 2.0;
    }
    tracks->area[oldest] = blob->area;
  }
}

void
gst_ccl_tracker_update_group (GstCclTracker *self, const Blob *blob, gdouble dt)
{
  gint member;
  guint k;

  g_array_set_size (self->members, 0);
  for (member = blob->first; member >= 0; member = self->tracks.next[member])
    g_array_append_val (self->members, member);

  find_seen (self, blob);
  for (k = 0; k < 2; k++)
    update_group (self, blob, k);
  find_twins (self, blob, dt);
}
