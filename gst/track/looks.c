/* cudaccl - what a detector found in an earlier frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A detector that takes its time tells of a frame that is past. Tracks go back to where they were
 * then, get its boxes, and come back with the difference. From frame to frame, components carry
 * them. */

#include "tracker-private.h"

#define LOOK_ALPHA 0.6   /* share of a new size */
#define LOOK_COVER 0.8   /* share of a track's box that was looked at */
#define HIDDEN_COVER 0.4 /* share of it that a box covers which hides it */
#define FIRST_GAP 1.0    /* s, as long as it is not known */
#define GAP_SHARE 0.3    /* of a new time between looks */
#define LONGEST_GAP 5.0  /* s */
#define LONGEST_PAST 2.0 /* s */

/* Where a track was. */
typedef struct
{
  guint serial;
  gfloat centre[2];
} Place;

/* A frame. */
typedef struct
{
  GstClockTime time;
  guint n;
  Place places[]; /* by serial */
} Past;

void
gst_ccl_tracker_init_looks (GstCclTracker *self)
{
  g_queue_init (&self->past);
  gst_ccl_tracker_reset_looks (self);
}

void
gst_ccl_tracker_reset_looks (GstCclTracker *self)
{
  g_queue_clear_full (&self->past, g_free);
  self->last_look = GST_CLOCK_TIME_NONE;
  self->look_gap = FIRST_GAP;
}

void
gst_ccl_tracker_keep_past (GstCclTracker *self)
{
  const guint n = self->tracks->len;
  Past *past = g_malloc (sizeof (Past) + n * sizeof (Place));
  guint i, k;

  past->time = self->time;
  past->n = n;
  for (i = 0; i < n; i++) {
    const Track *track = get_track (self, i);

    past->places[i].serial = track->serial;
    for (k = 0; k < 2; k++)
      past->places[i].centre[k] = (gfloat) track->centre[k].position;
  }
  g_queue_push_tail (&self->past, past);
  while (((Past *) g_queue_peek_head (&self->past))->time + LONGEST_PAST * GST_SECOND < self->time)
    g_free (g_queue_pop_head (&self->past));
}

/* The frame nearest to @time, NULL if all are much later or earlier. */
static const Past *
find_past (GstCclTracker *self, GstClockTime time)
{
  const Past *best = NULL;
  GstClockTimeDiff least = 50 * GST_MSECOND;
  GList *l;

  for (l = self->past.head; l; l = l->next) {
    const Past *past = l->data;
    GstClockTimeDiff away = ABS (GST_CLOCK_DIFF (past->time, time));

    if (away <= least) {
      least = away;
      best = past;
    }
  }

  return best;
}

/* Tracks go back to where they were at @time. */
static void
go_back (GstCclTracker *self, GstClockTime time)
{
  const Past *past = find_past (self, time);
  const gdouble age = (gdouble) GST_CLOCK_DIFF (time, self->time) / GST_SECOND;
  const gdouble rest = past ? (gdouble) GST_CLOCK_DIFF (time, past->time) / GST_SECOND : age;
  guint i, k, j = 0;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gboolean found;

    while (past && j < past->n && past->places[j].serial < track->serial)
      j++;
    track->carried = track->missed <= 0.0;
    found = past && j < past->n && past->places[j].serial == track->serial;
    for (k = 0; k < 2; k++) {
      GstCclKalman *centre = &track->centre[k];

      track->moved[k] = centre->velocity * (found ? rest : age);
      if (found)
        track->moved[k] += centre->position - past->places[j].centre[k];
      centre->position -= track->moved[k];
      track->speed[k] = centre->velocity;
    }
  }
}

/* What was only predicted since then moved at the wrong speed. */
static void
come_back (GstCclTracker *self, GstClockTime time)
{
  const gdouble age = (gdouble) GST_CLOCK_DIFF (time, self->time) / GST_SECOND;
  guint i, k;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);

    for (k = 0; k < 2; k++) {
      GstCclKalman *centre = &track->centre[k];

      centre->position += track->moved[k];
      if (!track->carried)
        centre->position += age * (centre->velocity - track->speed[k]);
    }
  }
}

static gboolean
was_looked_at (const Track *track, const GstCclLook *looks, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    const Box look = { { looks[i].x, looks[i].y },
                       { looks[i].x + looks[i].width, looks[i].y + looks[i].height } };

    if (get_common (&look, &track->box) >= LOOK_COVER * get_area (&track->box))
      return TRUE;
  }

  return FALSE;
}

/* Whether a box that another track has is before a track. */
static gboolean
is_behind (const GstCclTracker *self, guint index)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  const Track *track = get_track (self, index);
  guint i;

  for (i = starts[index]; i < starts[index + 1]; i++) {
    if (get_blob (self, self->pairs.edges[i].column)->owner >= 0 &&
        self->pairs.common[i] >= HIDDEN_COVER * get_area (&track->box))
      return TRUE;
  }

  return FALSE;
}

static void
find_behind (GstCclTracker *self, const GstCclLook *looks, guint n_looks)
{
  guint i;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);

    if (track->blob >= 0) {
      track->denied = 0;
      track->behind = FALSE;
    } else if (was_looked_at (track, looks, n_looks)) {
      track->denied++;
      track->behind = is_behind (self, i);
    }
  }
}

static void
find (GstCclTracker *self, Track *track)
{
  const Blob *blob = get_blob (self, (guint) track->blob);
  guint k;

  if (!track->known) {
    /* What it was before may have been a part, or several objects. */
    for (k = 0; k < 2; k++) {
      track->size[k] = get_length (&blob->box, k);
      track->centre[k].position = get_middle (&blob->box, k);
    }
  }
  gst_ccl_tracker_measure (self, track, blob, LOOK_ALPHA);
  track->hits++;
  track->missed = 0.0;
  gst_ccl_tracker_classify (self, track, blob);
}

void
gst_ccl_tracker_look (GstCclTracker *self, GstClockTime time, const GstCclDetection *boxes,
                      guint n_boxes, const GstCclLook *looks, guint n_looks)
{
  guint n, i;

  self->looking = TRUE;
  if (GST_CLOCK_TIME_IS_VALID (self->last_look) && time > self->last_look) {
    gdouble gap = MIN ((gdouble) (time - self->last_look) / GST_SECOND, LONGEST_GAP);

    self->look_gap += GAP_SHARE * (gap - self->look_gap);
  }
  self->last_look = time;

  self->dt = 0.0;
  go_back (self, time);
  gst_ccl_tracker_assign (self, boxes, n_boxes);
  find_behind (self, looks, n_looks);
  n = self->tracks->len;
  for (i = 0; i < n; i++) {
    if (get_track (self, i)->blob >= 0)
      find (self, get_track (self, i));
  }
  gst_ccl_tracker_add (self);
  come_back (self, time);
}

gboolean
gst_ccl_tracker_is_looking (const GstCclTracker *self)
{
  return self->looking;
}
