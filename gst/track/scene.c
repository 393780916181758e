/* cudaccl - tracks, the detections of a frame, and the steps that all modes share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scene.h"

#include <string.h>

/* Square root of the spectral density of the acceleration, in sizes of the object per s^1.5. */
#define ACCELERATION 0.8
#define ACCELERATION_STEADY 0.6 /* boxes of detectors do not jump where masks break */

/* s until the velocity of a lost track falls to 1 / e: it may have stopped. */
#define LOST_DAMPING 3.0

/* Largest distance of the centres of a track and a detection, in sizes and standard deviations:
 * one size for boxes that are cut, two deviations for 95 % of what the prediction gets wrong. */
#define GATE_SIZE 1.0
#define GATE_SIGMA 2.0

/* Standard deviations of the velocity of a new track, per s. Small objects that are close move
 * further than their size, so the frame counts, too. */
#define FIRST_VELOCITY 1.5        /* in sizes of the object */
#define FIRST_VELOCITY_FRAME 0.06 /* in diagonals of the frame */

/* Edges that the assignment looks at in a frame, so that it takes a few milliseconds at most. */
#define MOST_WORK 500000

/* Weight of a new confidence in the running mean: some ten boxes count. */
#define BELIEF_SHARE 0.1

void
gst_ccl_scene_init (GstCclScene *self)
{
  memset (self, 0, sizeof (*self));
  self->tracks = g_array_new (FALSE, TRUE, sizeof (Track));
  self->time = GST_CLOCK_TIME_NONE;
  self->blobs = g_array_new (FALSE, TRUE, sizeof (Blob));
  gst_ccl_pairs_init (&self->pairs);
  self->assignment = gst_ccl_assignment_new ();
  self->matches = g_array_new (FALSE, FALSE, sizeof (gint));
  self->leftovers = g_array_new (FALSE, FALSE, sizeof (guint));
  self->members = g_ptr_array_new ();
  self->standing = g_array_new (FALSE, FALSE, sizeof (Track));
}

void
gst_ccl_scene_clear (GstCclScene *self)
{
  g_array_unref (self->tracks);
  g_array_unref (self->blobs);
  gst_ccl_pairs_clear (&self->pairs);
  gst_ccl_assignment_free (self->assignment);
  g_array_unref (self->matches);
  g_array_unref (self->leftovers);
  g_ptr_array_unref (self->members);
  g_array_unref (self->standing);
}

void
gst_ccl_scene_read (GstCclScene *self, const GstCclDetection *detections, guint n)
{
  guint i;

  g_array_set_size (self->blobs, n);
  self->has_signatures = FALSE;
  for (i = 0; i < n; i++) {
    const GstCclDetection *detection = &detections[i];
    Blob *blob = get_blob (self, i);

    blob->box.low[0] = detection->x;
    blob->box.low[1] = detection->y;
    blob->box.high[0] = detection->x + MAX (detection->width, 1.0);
    blob->box.high[1] = detection->y + MAX (detection->height, 1.0);
    blob->area = MAX (detection->area, 1.0);
    blob->centroid[0] = detection->centroid_x;
    blob->centroid[1] = detection->centroid_y;
    blob->object = detection->object;
    blob->confidence = detection->confidence;
    blob->class_id = detection->class_id;
    blob->stands = detection->stands;
    blob->signature = detection->signature;
    blob->fragmented = FALSE;
    blob->like = 0;
    self->has_signatures |= detection->signature != NULL;
    blob->doubtful = blob->object && get_certainty (blob) < self->params.min_confidence;
    memset (blob->cut, 0, sizeof (blob->cut));
    blob->owner = blob->first = -1;
    blob->members = 0;
    blob->into = -1;
    blob->largest = (gint) i;
    blob->largest_area = blob->area;
  }
}

/* The box and the gate of a track that is where it is expected. */
static inline void
expect (Track *track)
{
  const gdouble side = (track->size[0] + track->size[1]) / 2.0;
  guint k;

  for (k = 0; k < 2; k++) {
    const GstCclKalman *centre = &track->centre[k];
    gdouble gate = GATE_SIGMA * sqrt (centre->pp);

    track->box.low[k] = centre->position - track->size[k] / 2.0;
    track->box.high[k] = centre->position + track->size[k] / 2.0;
    if (track->hits > 2)
      gate = MIN (gate, 2.0 * side);
    track->reach[k] = GATE_SIZE * (track->size[k] + side) / 2.0 + gate;
  }
  track->confidence = !track->id ? 0.6 : track->missed > 0.0 ? 0.9 : 1.0;
  track->blob = track->next = -1;
  track->seen = track->hidden = track->over = FALSE;
}

void
gst_ccl_scene_expect (GstCclScene *self)
{
  guint i;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);

    track->rules = self->mode->get_rules (self, track);
    expect (track);
  }
}

void
gst_ccl_scene_predict (GstCclScene *self)
{
  const gdouble damping = exp (-self->dt / LOST_DAMPING);
  guint i, k;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gdouble density;

    track->rules = self->mode->get_rules (self, track);
    density = square (track->rules.steady ? ACCELERATION_STEADY : ACCELERATION) * track->size[0] *
              track->size[1];
    for (k = 0; k < 2; k++) {
      if (track->rules.fading)
        track->centre[k].velocity *= damping;
      gst_ccl_kalman_predict (&track->centre[k], self->dt, density);
    }
    track->alone = FALSE;
    expect (track);
  }
}

void
gst_ccl_scene_find_pairs (GstCclScene *self, gdouble noise)
{
  self->crowded += gst_ccl_pairs_find (&self->pairs, self->tracks, self->blobs, noise,
                                       self->params.iou_threshold);
}

void
gst_ccl_scene_match (GstCclScene *self)
{
  const guint n = self->tracks->len;
  guint i;

  g_array_set_size (self->matches, n);
  self->n_left = self->blobs->len;
  self->crowded += gst_ccl_assignment_solve (
      self->assignment, n, self->blobs->len, (const guint *) self->pairs.starts->data,
      self->pairs.edges, MOST_WORK, (gint *) self->matches->data);
  for (i = 0; i < n; i++) {
    Track *track = get_track (self, i);

    track->blob = g_array_index (self->matches, gint, i);
    if (track->blob >= 0) {
      get_blob (self, (guint) track->blob)->owner = (gint) i;
      get_blob (self, (guint) track->blob)->members = 1;
      self->n_left--;
    }
  }
}

gboolean
gst_ccl_scene_is_immediate (const GstCclScene *self)
{
  return self->params.min_persistence < GST_USECOND;
}

static void
confirm (GstCclScene *self, Track *track)
{
  if (!track->id && self->mode->is_certain (self, track))
    track->id = ++self->last_id;
}

void
gst_ccl_scene_classify (GstCclScene *self, Track *track, const Blob *blob)
{
  gst_ccl_votes_add (&track->votes, blob->class_id, blob->confidence, track->age);
  if (blob->confidence > 0.0)
    track->trust = blob->confidence;
  if (blob->object) {
    if (!track->known) {
      track->found = track->age;
      track->belief = get_certainty (blob);
    }
    track->known = TRUE;
    track->belief += BELIEF_SHARE * (get_certainty (blob) - track->belief);
    track->evidence += get_certainty (blob);
  }
  confirm (self, track);
}

void
gst_ccl_scene_age (GstCclScene *self)
{
  guint i, n = 0;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);

    track->age += self->dt;
    track->unfound += self->dt;
    if (track->seen) {
      track->hits++;
      track->missed = 0.0;
      if (get_blob (self, (guint) track->blob)->members == 1)
        gst_ccl_scene_classify (self, track, get_blob (self, (guint) track->blob));
      confirm (self, track);
    } else {
      track->missed += track->blob >= 0 ? self->dt / 2.0 : self->dt;
      track->over |= self->mode->is_over (self, track);
    }
    if (track->over) {
      release_appearance (self, track);
      continue;
    }
    if (n < i)
      *get_track (self, n) = *track;
    n++;
  }
  g_array_set_size (self->tracks, n);
}

static void
add_track (GstCclScene *self, guint index)
{
  const gdouble diagonal = hypot (self->params.width, self->params.height);
  const Blob *blob = get_blob (self, index);
  Track track = { .area = blob->area, .hits = 1, .blob = (gint) index, .next = -1, .seen = TRUE };
  gdouble scale;
  guint k;

  for (k = 0; k < 2; k++) {
    track.size[k] = get_length (&blob->box, k);
    track.origin[k] = get_middle (&blob->box, k);
  }
  scale = get_scale (&track);
  for (k = 0; k < 2; k++)
    gst_ccl_kalman_init (
        &track.centre[k], get_middle (&blob->box, k), square (MAX (MEASUREMENT_NOISE * scale, 0.5)),
        square (FIRST_VELOCITY * scale) + square (FIRST_VELOCITY_FRAME * diagonal));
  track.stands = blob->stands;
  track.serial = ++self->last_serial;
  gst_ccl_scene_classify (self, &track, blob);
  g_array_append_val (self->tracks, track);
}

static gboolean
is_noise (const GstCclScene *self, const Blob *blob)
{
  return blob->object ? blob->doubtful && !gst_ccl_scene_is_immediate (self)
                      : blob->area < self->min_area;
}

void
gst_ccl_scene_add (GstCclScene *self)
{
  guint i;

  for (i = 0; i < self->blobs->len; i++) {
    Blob *blob = get_blob (self, i);

    if (blob->members > 0 || blob->into >= 0 || is_noise (self, blob))
      continue;
    if (self->tracks->len >= self->params.max_tracks) {
      self->exceeded++;
      continue;
    }
    add_track (self, i);
    blob->members = 1;
  }
}

gboolean
gst_ccl_scene_is_leaving (const GstCclScene *self, const Track *track)
{
  guint k;

  for (k = 0; k < 2; k++) {
    if (touches (self, &track->box, k, track->centre[k].velocity > 0.0))
      return TRUE;
  }

  return FALSE;
}

gboolean
gst_ccl_scene_has_left (const GstCclScene *self, const Track *track)
{
  const gdouble frame[2] = { self->params.width, self->params.height };
  guint k;

  for (k = 0; k < 2; k++) {
    gdouble position = track->centre[k].position;

    if (frame[k] > 0.0 && (position < 0.0 || position > frame[k]))
      return TRUE;
  }

  return FALSE;
}
