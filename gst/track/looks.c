/* cudaccl - what a detector found in an earlier frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A detector that takes its time tells of a frame that is past. Tracks go back to where they were
 * then, get its boxes, and come back with the difference.
 *
 * In between, components carry them if looks are far apart. Otherwise predictions are better than
 * components that break and merge: one that was like the track's box in the frame of a look only
 * shows how it moves. */

#include "tracker-private.h"

#define LOOK_ALPHA 0.6   /* share of a new size, if looks are at LOOK_RATE */
#define LOOK_RATE 20.0   /* looks per second */
#define LOOK_COVER 0.8   /* share of a track's box in the frame that was looked at */
#define HIDDEN_COVER 0.4 /* share of it that a box covers which hides it */
#define FIRST_GAP 1.0    /* s, as long as it is not known */
#define GAP_SHARE 0.3    /* of a new time between looks */
#define LONGEST_GAP 5.0  /* s */
#define LONGEST_PAST 2.0 /* s */
#define SAME_FRAME (50 * GST_MSECOND)
#define MOST_COMPONENTS 1024 /* of a frame that are kept */

/* Detectors' boxes and components */
#define MOVING_COVER 0.15  /* share of a box that components fill if it moves */
#define CERTAIN 0.5        /* confidence of a box that components are compared with */
#define FIRST_FIT 0.7      /* IoU, as long as it is not known */
#define FIT_SHARE 0.1      /* of a new IoU in the smoothed one */
#define MOST_TESTS 4194304 /* boxes times components */
#define BESIDE 0.1         /* sizes from a side to a box that hides what is there */
#define CUT_SHARE 0.5      /* of a side that it hides */
#define CUT_CONFIDENCE 0.4 /* of such a box */
#define ALONE_SHARE 0.3    /* of a box in that of a track which a component shows better */
#define TRAVEL 0.4         /* sizes from where a track was found first */
#define HOLD_IOU 0.5       /* of a track and a component that shows how it moves */
#define HOLD_RATIO 1.6     /* of sides of that component from frame to frame, and before */
#define HOLD_NOISE 0.12    /* standard deviation of its sides, in sizes of the track */
#define HOLD_ERROR 0.3     /* sizes from where a side is expected that double its variance */
#define CARRIER_SHARE 0.2  /* of a new size of that component in the smoothed one */

/* What moves in a frame. */
typedef struct
{
  Box box;
  gdouble fill; /* share of the box that are pixels of it */
} Component;

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
  Component *components;
  guint n_components;
  guint n;
  Place places[]; /* by serial */
} Past;

void
gst_ccl_tracker_init_looks (GstCclTracker *self)
{
  g_queue_init (&self->past);
  gst_ccl_tracker_reset_looks (self);
}

static void
past_free (gpointer data)
{
  Past *past = data;

  g_free (past->components);
  g_free (past);
}

void
gst_ccl_tracker_reset_looks (GstCclTracker *self)
{
  g_queue_clear_full (&self->past, past_free);
  self->last_look = GST_CLOCK_TIME_NONE;
  self->n_looks = 0;
  self->look_gap = FIRST_GAP;
  self->fit = FIRST_FIT;
}

static void
keep_components (const GstCclTracker *self, Past *past)
{
  guint i;

  past->components = g_new (Component, MIN (self->blobs->len, MOST_COMPONENTS));
  past->n_components = 0;
  for (i = 0; i < self->blobs->len && past->n_components < MOST_COMPONENTS; i++) {
    const Blob *blob = get_blob (self, i);

    if (!blob->object)
      past->components[past->n_components++] =
          (Component){ blob->box, MIN (blob->area / get_area (&blob->box), 1.0) };
  }
}

void
gst_ccl_tracker_keep_past (GstCclTracker *self)
{
  const guint n = self->tracks->len;
  Past *past = g_malloc (sizeof (Past) + n * sizeof (Place));
  guint i, k;

  past->time = self->time;
  keep_components (self, past);
  past->n = n;
  for (i = 0; i < n; i++) {
    const Track *track = get_track (self, i);

    past->places[i].serial = track->serial;
    for (k = 0; k < 2; k++)
      past->places[i].centre[k] = (gfloat) track->centre[k].position;
  }
  g_queue_push_tail (&self->past, past);
  while (((Past *) g_queue_peek_head (&self->past))->time + LONGEST_PAST * GST_SECOND < self->time)
    past_free (g_queue_pop_head (&self->past));
}

/* The frame nearest to @time, NULL if all are more than @most later or earlier. */
static const Past *
find_past (GstCclTracker *self, GstClockTime time, GstClockTimeDiff most)
{
  const Past *best = NULL;
  GstClockTimeDiff least = most;
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
  const Past *past = find_past (self, time, SAME_FRAME);
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

/* Finds out whether components of @past are where a detector's box is, and how similar one is. */
static void
compare_components (const Past *past, Blob *blob, guint most)
{
  gdouble moving = 0.0;
  guint i;

  blob->fit = 0.0;
  for (i = 0; past && i < MIN (past->n_components, most); i++) {
    const Component *component = &past->components[i];

    moving += component->fill * get_common (&blob->box, &component->box);
    blob->fit = MAX (blob->fit, get_boxes_iou (&blob->box, &component->box));
  }
  blob->moving = moving >= MOVING_COVER * get_area (&blob->box);
}

/* Finds the sides of a detector's box that @other hides: what is nearer to the camera reaches
 * farther down. */
static void
find_cuts (Blob *blob, const Blob *other)
{
  const Box *a = &blob->box, *b = &other->box;
  guint k;

  if (b->high[1] <= a->high[1] || get_certainty (other) < CUT_CONFIDENCE)
    return;

  for (k = 0; k < 2; k++) {
    gdouble beside = BESIDE * get_length (a, k);
    gdouble across = MIN (a->high[!k], b->high[!k]) - MAX (a->low[!k], b->low[!k]);

    if (across < CUT_SHARE * get_length (a, !k))
      continue;
    blob->cut[k][0] |= b->low[k] < a->low[k] - beside && b->high[k] > a->low[k] - beside;
    blob->cut[k][1] |= b->high[k] > a->high[k] + beside && b->low[k] < a->high[k] + beside;
  }
}

/* Compares a detector's boxes with each other, and with what moved at @time. */
void
gst_ccl_tracker_compare_boxes (GstCclTracker *self, GstClockTime time)
{
  const Past *past = find_past (self, time, LONGEST_PAST * GST_SECOND);
  const guint n = self->blobs->len, most = MOST_TESTS / MAX (n, 1);
  guint i, k;

  for (i = 0; i < n; i++) {
    Blob *blob = get_blob (self, i);

    compare_components (past, blob, most);
    if (blob->moving && get_certainty (blob) > CERTAIN)
      self->fit += FIT_SHARE * (blob->fit - self->fit);
    for (k = 0; k < MIN (n, most); k++)
      find_cuts (blob, get_blob (self, k));
  }
}

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

  if (!track->fresh || get_boxes_iou (&blob->box, &track->box) < HOLD_IOU)
    return track->held && is_same_length (get_length (&blob->box, 0), track->carrier[0]) &&
           is_same_length (get_length (&blob->box, 1), track->carrier[1]);

  track->held = TRUE;
  for (k = 0; k < 2; k++) {
    track->offset[k][0] = track->box.low[k] - blob->box.low[k];
    track->offset[k][1] = track->box.high[k] - blob->box.high[k];
    track->carrier[k] = get_length (&blob->box, k);
  }

  return TRUE;
}

/* Moves a track as its component has moved since the look. Returns FALSE if it shows something
 * else. */
gboolean
gst_ccl_tracker_carry (Track *track, const Blob *blob)
{
  const gdouble variance = 2.0 * square (MAX (HOLD_NOISE * get_scale (track), 0.5));
  guint k, side;

  track->partner = 0;
  if (!is_holding (track, blob))
    return FALSE;

  for (k = 0; k < 2; k++) {
    const gdouble half = track->size[k] / 2.0;
    const gdouble sides[2] = { blob->box.low[k] + track->offset[k][0] + half,
                               blob->box.high[k] + track->offset[k][1] - half };
    const gdouble expected = track->centre[k].position;
    const gdouble change = fabs (sides[1] - sides[0]);

    for (side = 0; side < 2; side++) {
      /* Where one side has changed, that which is not as expected has. */
      gdouble error = MIN (fabs (sides[side] - expected), change) / track->size[k];

      gst_ccl_kalman_measure (&track->centre[k], sides[side],
                              variance * (1.0 + square (error / HOLD_ERROR)));
    }
    track->carrier[k] += CARRIER_SHARE * (get_length (&blob->box, k) - track->carrier[k]);
  }

  return TRUE;
}

static gboolean
was_looked_at (const GstCclTracker *self, const Track *track, const GstCclLook *looks, guint n)
{
  const Box frame = { { 0.0, 0.0 }, { self->params.width, self->params.height } };
  const gdouble area =
      self->params.width ? get_common (&frame, &track->box) : get_area (&track->box);
  guint i;

  for (i = 0; i < n; i++) {
    const Box look = { { looks[i].x, looks[i].y },
                       { looks[i].x + looks[i].width, looks[i].y + looks[i].height } };

    if (get_common (&look, &track->box) >= LOOK_COVER * area)
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
    } else if (was_looked_at (self, track, looks, n_looks)) {
      track->denied++;
      track->behind = is_behind (self, i);
    }
  }
}

/* The part of @blob that is measured: little of it if a component shows the track better. */
static Blob
weigh (const GstCclTracker *self, const Track *track, const Blob *blob)
{
  Blob result = *blob;
  guint k;

  for (k = 0; track->known && track->alone && is_led_by_motion (self) && k < 2; k++) {
    gdouble middle = track->centre[k].position, length = track->size[k];

    middle += ALONE_SHARE * (get_middle (&blob->box, k) - middle);
    length += ALONE_SHARE * (get_length (&blob->box, k) - length);
    result.box.low[k] = middle - length / 2.0;
    result.box.high[k] = middle + length / 2.0;
  }

  return result;
}

/* A look at a frame @age seconds ago found a track. */
static void
find (GstCclTracker *self, Track *track, gdouble age)
{
  const Blob blob = weigh (self, track, get_blob (self, (guint) track->blob));
  const gdouble gap = MAX (track->unfound - age, 0.0);
  gdouble way[2];
  guint k;

  if (!track->known) {
    /* What it was before may have been a part, or several objects. */
    for (k = 0; k < 2; k++) {
      track->size[k] = get_length (&blob.box, k);
      track->centre[k].position = track->origin[k] = get_middle (&blob.box, k);
    }
  }
  gst_ccl_tracker_measure (self, track, &blob, 1.0 - pow (1.0 - LOOK_ALPHA, gap * LOOK_RATE));
  for (k = 0; k < 2; k++)
    way[k] = track->centre[k].position - track->origin[k];
  track->travelled |= hypot (way[0], way[1]) > TRAVEL * get_scale (track);
  track->hits++;
  track->missed = 0.0;
  track->unfound = age;
  track->fresh = TRUE;
  track->held &= age > 0.0; /* it may have turned since an earlier frame */
  gst_ccl_tracker_classify (self, track, &blob);
}

void
gst_ccl_tracker_look (GstCclTracker *self, GstClockTime time, const GstCclDetection *boxes,
                      guint n_boxes, const GstCclLook *looks, guint n_looks)
{
  const gdouble age = (gdouble) GST_CLOCK_DIFF (time, self->time) / GST_SECOND;
  guint n, i;

  self->looking = TRUE;
  if (self->n_looks > 0 && time > self->last_look) {
    gdouble gap = MIN ((gdouble) (time - self->last_look) / GST_SECOND, LONGEST_GAP);

    self->look_gap += (self->n_looks > 1 ? GAP_SHARE : 1.0) * (gap - self->look_gap);
  }
  self->n_looks += self->n_looks == 0 || time > self->last_look;
  self->last_look = time;

  self->dt = 0.0;
  go_back (self, time);
  self->at_look = TRUE;
  gst_ccl_tracker_assign (self, time, boxes, n_boxes);
  find_behind (self, looks, n_looks);
  n = self->tracks->len;
  for (i = 0; i < n; i++) {
    if (get_track (self, i)->blob >= 0)
      find (self, get_track (self, i), age);
  }
  gst_ccl_tracker_add (self);
  self->at_look = FALSE;
  come_back (self, time);
}

gboolean
gst_ccl_tracker_is_looking (const GstCclTracker *self)
{
  return self->looking;
}
