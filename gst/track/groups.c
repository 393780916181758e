/* cudaccl - tracks that share a detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "groups.h"

/* Share of a track's box inside of the detection of its group: with less, it is beside it. */
#define MEMBER_COVER 0.5

/* Area of a detector's box that may be a group, in areas of its track: more than jitter. */
#define GROUP_SIZE 1.3

/* Sizes from frame to frame from which on a step is large: frames are far apart, or predictions
 * wild. */
#define LARGE_STEP 0.25

/* Members pass each other if their sides are this close, in sizes: either may be the one seen. */
#define PASSING_GAP 0.25

/* Sizes per s that two members drift apart at which the variance of their side doubles. */
#define PASSING_DRIFT 0.3

/* Times the variance of a side of a single object up to which it measures a member: beyond, it
 * would hardly count. */
#define MOST_UNCERTAIN 20

/* Share of a group's box that a visible member must explain: more than ragged edges. */
#define GROUP_GAIN 0.12

/* Members that have been in a group for this time, in s, and for this many times as long as ever
 * apart are parts of another member: objects that merely meet part earlier. */
#define TWIN_TIME 1.0
#define TWIN_RATIO 2.0

/* Whether a detector's box may show several objects: it is too large for its own one. Otherwise it
 * hides others, but says nothing about where they are. */
static gboolean
is_group (const GstCclScene *self, guint index)
{
  const Blob *blob = get_blob (self, index);
  const Track *owner;

  if (blob->owner < 0)
    return FALSE;
  owner = get_track (self, (guint) blob->owner);

  return get_area (&blob->box) >= GROUP_SIZE * owner->size[0] * owner->size[1];
}

/* Whether a component only shows how its track moves. */
static gboolean
is_taken (const GstCclScene *self, guint index)
{
  const Blob *blob = get_blob (self, index);

  return blob->owner >= 0 && get_track (self, (guint) blob->owner)->rules.guided;
}

/* A track that is left over joins the detection that covers most of its box, the first of equal
 * ones. */
void
gst_ccl_scene_find_groups (GstCclScene *self)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  guint i, j;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gdouble best = MEMBER_COVER;
    gint found = -1;

    if (track->blob >= 0 || !track->id || track->rules.guided)
      continue;
    for (j = starts[i]; j < starts[i + 1]; j++) {
      const gint blob = (gint) self->pairs.edges[j].column;
      gdouble cover = self->pairs.common[j] / (track->size[0] * track->size[1]);

      if (get_blob (self, (guint) blob)->object && !is_group (self, (guint) blob)) {
        track->hidden |= cover >= HIDDEN_COVER && get_blob (self, (guint) blob)->owner >= 0;
        continue;
      }
      if (is_taken (self, (guint) blob))
        continue;
      if (cover > best || (cover == best && found >= 0 && blob < found)) {
        best = cover;
        found = blob;
      }
    }
    if (found >= 0) {
      const gint into = get_blob (self, (guint) found)->into;

      track->blob = into >= 0 ? into : found;
      get_blob (self, (guint) track->blob)->members++;
    }
  }

  for (i = self->tracks->len; i-- > 0;) {
    Track *track = get_track (self, i);

    if (track->blob >= 0) {
      Blob *blob = get_blob (self, (guint) track->blob);

      track->next = blob->first;
      blob->first = (gint) i;
    }
  }
}

/* Whether a member may reach from one side of its group to the other. */
static gboolean
is_spanning (const Track *track, const Box *box, guint k)
{
  return get_length (box, k) < 1.3 * track->size[k];
}

/* Where the side of a member is expected if its group is too long for one. Members that meet stop
 * rather than go on behind each other: after a large step, half of it does not count. */
static gdouble
get_side (const GstCclScene *self, const Track *track, const Box *box, guint k, gboolean high)
{
  gdouble side = high ? track->box.high[k] : track->box.low[k];
  gdouble step = track->centre[k].velocity * self->dt;

  if (ABS (step) < LARGE_STEP * track->size[k] || is_spanning (track, box, k))
    return side;

  return side - step / 2.0;
}

/* The members at the sides of a group, in the direction of @k: two where it is too long for one. */
static void
find_owners (const GstCclScene *self, const Box *box, guint k, const Track *owners[2])
{
  const Track *second[2] = { NULL, NULL };
  gdouble best[2] = { 0.0, 0.0 }, next[2] = { 0.0, 0.0 };
  guint i, side;

  owners[0] = owners[1] = NULL;
  for (i = 0; i < self->members->len; i++) {
    const Track *track = g_ptr_array_index (self->members, i);

    for (side = 0; side < 2; side++) {
      gdouble outwards = get_side (self, track, box, k, side) * (side ? 1.0 : -1.0);

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

  if (owners[0] == owners[1] && !is_spanning (owners[0], box, k)) {
    side = best[0] - next[0] < best[1] - next[1] ? 0 : 1;
    owners[side] = second[side];
  }
}

/* Distance of the sides of two tracks, in sizes of @track. */
static gdouble
get_gap (const Track *track, const Track *other, guint k, gboolean high)
{
  gdouble gap = high ? other->box.high[k] - track->box.high[k] //
                     : other->box.low[k] - track->box.low[k];

  return ABS (gap) / track->size[k];
}

/* How fast they pass each other, in sizes of @track per second. */
static gdouble
get_drift (const Track *track, const Track *other, guint k)
{
  return (other->group.before - track->group.before) / track->size[k];
}

/* The variance of a side of a group as a measurement of a member, relative to that of a single
 * object. Members that pass each other would get each other's velocities while it is uncertain
 * whose side it is; members that go together share it. */
static gdouble
get_uncertainty (const GstCclScene *self, const Track *track, const Track *owner, const Box *box,
                 guint k, gboolean high)
{
  gdouble most = 0.0;
  guint i;

  if (track != owner)
    return (1.0 + square (get_gap (track, owner, k, high) / 0.1)) *
           (1.0 + square (get_drift (track, owner, k) / PASSING_DRIFT));
  if (!is_spanning (track, box, k))
    return 1.0;

  for (i = 0; i < self->members->len; i++) {
    const Track *other = g_ptr_array_index (self->members, i);

    if (other != track && get_gap (track, other, k, high) < PASSING_GAP)
      most = MAX (most, square (get_drift (track, other, k) / PASSING_DRIFT));
  }

  return 1.0 + most;
}

/* Each side of a group measures the members whose sides are there. */
static void
measure_sides (GstCclScene *self, const Box *box, guint k)
{
  const Track *owners[2];
  guint i;

  find_owners (self, box, k, owners);
  for (i = 0; i < self->members->len; i++) {
    Track *track = g_ptr_array_index (self->members, i);

    track->group.before = track->centre[k].velocity;
  }

  for (i = 0; i < self->members->len; i++) {
    Track *track = g_ptr_array_index (self->members, i);
    GstCclKalman *centre = &track->centre[k];
    gdouble half = track->size[k] / 2.0;
    gdouble sides[2], offset[2];
    gdouble variance = square (MAX (1.5 * MEASUREMENT_NOISE * get_scale (track), 0.5));
    gboolean single = owners[0] != owners[1] && !is_spanning (track, box, k);
    gdouble low = single && track == owners[1]
                      ? G_MAXDOUBLE
                      : get_uncertainty (self, track, owners[0], box, k, FALSE);
    gdouble high = single && track == owners[0]
                       ? G_MAXDOUBLE
                       : get_uncertainty (self, track, owners[1], box, k, TRUE);

    self->mode->get_offset (track, box, k, offset);
    sides[0] = box->low[k] + offset[0];
    sides[1] = box->high[k] + offset[1];
    if (low < MOST_UNCERTAIN && !touches (self, box, k, FALSE))
      gst_ccl_kalman_measure (centre, sides[0] + half, variance * low);
    if (high < MOST_UNCERTAIN && !touches (self, box, k, TRUE))
      gst_ccl_kalman_measure (centre, sides[1] - half, variance * high);

    /* No member is outside of the group. */
    if (track->size[k] < get_length (box, k))
      centre->position = CLAMP (centre->position, MIN (sides[0], box->low[k]) + half,
                                MAX (sides[1], box->high[k]) - half);
  }
}

/* Finds the members that the box of the group shows: first the most similar one, then those that
 * explain enough of the rest of the box. */
static void
find_seen (GstCclScene *self, const Box *box)
{
  Track *next = g_ptr_array_index (self->members, 0);
  gdouble explained;
  Box shown;
  guint i;

  for (i = 1; i < self->members->len; i++) {
    Track *track = g_ptr_array_index (self->members, i);

    if (get_iou (track, box) > get_iou (next, box))
      next = track;
  }
  shown = next->box;
  explained = get_common (&shown, box) / get_area (box);

  while (next) {
    gdouble best = explained + GROUP_GAIN;
    Box best_box = shown;

    next->seen = TRUE;
    next = NULL;
    for (i = 0; i < self->members->len; i++) {
      Track *track = g_ptr_array_index (self->members, i);
      Box both = track->box;
      gdouble share;

      if (track->seen)
        continue;
      unite_boxes (&both, &shown);
      share = get_common (&both, box) / get_area (box);
      if (share > best) {
        best = share;
        best_box = both;
        next = track;
      }
    }
    explained = best;
    shown = best_box;
  }
}

/* Ends members that are parts of another member rather than objects of their own: they have been in
 * its group for much longer than they were ever apart. */
static void
end_twins (GstCclScene *self, const Blob *blob)
{
  Track *oldest = g_ptr_array_index (self->members, 0);
  guint i, k;

  for (i = 1; i < self->members->len; i++) {
    Track *track = g_ptr_array_index (self->members, i);

    if (track->group.partner != oldest->id) {
      track->group.partner = oldest->id;
      track->group.joined = 0.0;
    }
    track->group.joined += self->dt;
    if (track->group.joined < MAX (TWIN_TIME, TWIN_RATIO * track->group.apart))
      continue;

    track->over = TRUE;
    if (self->members->len > 2)
      continue;
    for (k = 0; k < 2; k++) {
      oldest->size[k] = get_length (&blob->box, k);
      oldest->centre[k].position = get_middle (&blob->box, k);
    }
    oldest->area = blob->area;
  }
}

void
gst_ccl_scene_measure_group (GstCclScene *self, const Blob *blob)
{
  gint i;
  guint k;

  g_ptr_array_set_size (self->members, 0);
  for (i = blob->first; i >= 0; i = get_track (self, (guint) i)->next)
    g_ptr_array_add (self->members, get_track (self, (guint) i));

  find_seen (self, &blob->box);
  for (k = 0; k < 2; k++)
    measure_sides (self, &blob->box, k);
  end_twins (self, blob);
}
