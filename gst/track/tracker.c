/* cudaccl - tracks objects from frame to frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame goes through these steps:
 *
 *  1. predict: a Kalman filter per axis with constant velocity (kalman.c).
 *  2. pairs of a track and a detection near each other, found with a grid (pairs.c).
 *  3. match: the optimal assignment of tracks and detections, one to one (assignment.c).
 *  4. fragments: a detection that is left over inside the box of a track belongs to it.
 *  5. groups: a track that is left over inside a detection shares it with the track it was
 *     assigned to (groups.c). A group is nothing more than that: its members remain tracks, so that
 *     they are assigned to the parts when the detection splits.
 *  6. update: a detection measures the position of its track; that of a group measures with each
 *     of its four sides only the members there (groups.c). Then tracks get ids, end and begin.
 *
 * Distances are relative to the size of the object, and times are in seconds, so that neither the
 * resolution nor the frame rate matters. */

#include "tracker-private.h"

#include <string.h>

#define DEFAULT_IOU_THRESHOLD 0.2
#define DEFAULT_MIN_PERSISTENCE (800 * GST_MSECOND)
#define DEFAULT_MAX_MISS (1500 * GST_MSECOND)
#define DEFAULT_SMOOTH_ALPHA 0.2
#define DEFAULT_MAX_TRACKS 1024
#define DEFAULT_MIN_AREA 0.0005
#define DEFAULT_MIN_CONFIDENCE 0.7

/* Noise is small compared with the detections that make up most of the foreground: detections below
 * this share of the typical area, averaged over this time, start no track, and those below
 * NOISE_SHARE of the area that starts one are not even fragments. */
#define MIN_TYPICAL_SHARE 0.2
#define TYPICAL_TIME 5.0 /* s */
#define NOISE_SHARE 0.25

/* Square root of the spectral density of the acceleration, in sizes of the object per s^1.5; of
 * what detectors' boxes carry it is less, as they do not jump where masks break. */
#define ACCELERATION 0.8
#define ACCELERATION_KNOWN 0.6
#define LOST_DAMPING 3.0 /* s until the velocity of a lost track falls to 1 / e */

/* Largest distance of the centres of a track and a detection, in sizes and standard deviations. */
#define GATE_SIZE 1.0
#define GATE_SIGMA 2.0

/* Standard deviations of the velocity of a new track, per s. */
#define FIRST_VELOCITY 1.5        /* in sizes of the object */
#define FIRST_VELOCITY_FRAME 0.06 /* in diagonals of the frame */

#define MOST_WORK 500000 /* edges that the assignment looks at in a frame, a few milliseconds */

#define FRAGMENT_COVER 0.4 /* share of a fragment inside of the box of its track */
#define SPLIT_TIME 0.2     /* s until separate parts of a track are tracks */

#define SMOOTH_RATE 10.0 /* frame rate as at which sizes are smoothed */

/* Boxes of detectors */
#define EVIDENCE 1.8      /* sum of confidence that confirms a track */
#define SELDOM_GAP 0.12   /* s between looks, see is_seldom() */
#define SELDOM_NOISE 0.04 /* MEASUREMENT_NOISE of boxes of such looks */
#define DOUBLE_IOU 0.7    /* of two boxes of one object */

/* s that tracks are shown without being seen: in a group, found by a detector, and behind another
 */
#define SHOW_MEMBER 0.5
#define SHOW_LOST 0.2
#define SHOW_HIDDEN 1.0

/* What has not moved is doubtful if its boxes are, see is_doubtful_thing() */
#define BELIEF_SHARE 0.1 /* of a new confidence in the smoothed one */
#define LEAST_BELIEF 0.65
#define DOUBT_TIME 0.5 /* s */

#define LOST_BELIEF 0.5 /* of what is shown without being found */
#define UNKNOWN_FIT 0.7 /* of components that show what a detector does not know */

#define LOOK_GAPS 1.5 /* between looks that a track lives on without being found */
#define EXPLAINED                                                                \
  0.3 /* share of a component's box that a known one has, or the other way round \
       */
#define MOST_EXPLAINED 4194304 /* such comparisons in a frame */

/* Sides of a box that change more than this in a frame were cut or joined. */
#define PARTIAL 0.75

void
gst_ccl_tracker_params_init (GstCclTrackerParams *params)
{
  params->iou_threshold = DEFAULT_IOU_THRESHOLD;
  params->min_persistence = DEFAULT_MIN_PERSISTENCE;
  params->max_miss = DEFAULT_MAX_MISS;
  params->smooth_alpha = DEFAULT_SMOOTH_ALPHA;
  params->max_tracks = DEFAULT_MAX_TRACKS;
  params->min_area = DEFAULT_MIN_AREA;
  params->min_confidence = DEFAULT_MIN_CONFIDENCE;
  params->width = params->height = 0;
}

GstCclTracker *
gst_ccl_tracker_new (void)
{
  GstCclTracker *self = g_new0 (GstCclTracker, 1);

  gst_ccl_tracker_params_init (&self->params);
  self->tracks = g_array_new (FALSE, TRUE, sizeof (Track));
  self->time = GST_CLOCK_TIME_NONE;
  self->blobs = g_array_new (FALSE, TRUE, sizeof (Blob));
  gst_ccl_tracker_init_pairs (self);
  gst_ccl_tracker_init_looks (self);
  self->assignment = gst_ccl_assignment_new ();
  self->matches = g_array_new (FALSE, FALSE, sizeof (gint));
  self->leftovers = g_array_new (FALSE, FALSE, sizeof (guint));
  self->members = g_ptr_array_new ();
  self->out = g_array_new (FALSE, TRUE, sizeof (GstCclTrackInfo));

  return self;
}

void
gst_ccl_tracker_free (GstCclTracker *self)
{
  g_array_unref (self->tracks);
  g_array_unref (self->blobs);
  gst_ccl_tracker_free_pairs (self);
  gst_ccl_tracker_reset_looks (self);
  gst_ccl_assignment_free (self->assignment);
  g_array_unref (self->matches);
  g_array_unref (self->leftovers);
  g_ptr_array_unref (self->members);
  g_array_unref (self->out);
  g_free (self);
}

void
gst_ccl_tracker_set_params (GstCclTracker *self, const GstCclTrackerParams *params)
{
  self->params = *params;
  self->params.max_tracks = MAX (params->max_tracks, 1);
  g_array_set_size (self->tracks, MIN (self->tracks->len, self->params.max_tracks));
}

void
gst_ccl_tracker_reset (GstCclTracker *self)
{
  g_array_set_size (self->tracks, 0);
  g_array_set_size (self->out, 0);
  memset (self->areas, 0, sizeof (self->areas));
  gst_ccl_tracker_reset_looks (self);
  self->looking = FALSE;
  self->time = GST_CLOCK_TIME_NONE;
}

static void
read_detections (GstCclTracker *self, const GstCclDetection *detections, guint n)
{
  guint i;

  g_array_set_size (self->blobs, n);
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
    blob->owner = blob->first = -1;
    blob->members = 0;
    blob->into = -1;
    blob->largest = (gint) i;
    blob->largest_area = blob->area;
    blob->confidence = detection->confidence;
    blob->class_id = detection->class_id;
    blob->moving = FALSE;
    memset (blob->cut, 0, sizeof (blob->cut));
  }
}

/* The bin of an area of 1 or more: four for each power of two. */
static guint
get_area_bin (gdouble area)
{
  gint exponent;
  gdouble fraction = frexp (area, &exponent);

  return MIN ((guint) (4 * (exponent - 1)) + (guint) (8.0 * fraction - 4.0), N_AREA_BINS - 1);
}

/* The least area of a bin. */
static gdouble
get_bin_area (guint bin)
{
  return ldexp (1.0 + bin % 4 / 4.0, (gint) (bin / 4));
}

/* Finds the least area that starts a track. The typical area is that of the component which the
 * median pixel of the foreground belongs to: many specks do not make it small, and where objects
 * are small, so is the limit. */
static void
find_min_area (GstCclTracker *self)
{
  const gdouble decay = exp (-self->dt / TYPICAL_TIME);
  gdouble limit = self->params.min_area * self->params.width * self->params.height;
  gdouble total = 0.0, sum = 0.0;
  guint i;

  self->min_area = 0.0;
  if (limit <= 1.0)
    return;

  for (i = 0; i < N_AREA_BINS; i++)
    self->areas[i] *= decay;
  for (i = 0; i < self->blobs->len; i++) {
    const Blob *blob = get_blob (self, i);

    self->areas[get_area_bin (blob->area)] += blob->area;
  }
  for (i = 0; i < N_AREA_BINS; i++)
    total += self->areas[i];
  for (i = 0; i < N_AREA_BINS && sum < total / 2.0; i++)
    sum += self->areas[i];

  self->min_area = MIN (limit, MIN_TYPICAL_SHARE * get_bin_area (i));
}

/* Step 1 */

/* Whether a detector that looks at some frames only has not denied a track. */
static gboolean
is_between (const GstCclTracker *self, const Track *track)
{
  return self->looking && track->known && track->denied == 0;
}

static void
predict (GstCclTracker *self)
{
  const gdouble damping = exp (-self->dt / LOST_DAMPING);
  const gboolean by_components = self->looking && is_led_by_motion (self);
  guint i, k;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gdouble density = square (track->known && !by_components ? ACCELERATION_KNOWN : ACCELERATION) *
                      track->size[0] * track->size[1];
    gdouble side = (track->size[0] + track->size[1]) / 2.0;

    for (k = 0; k < 2; k++) {
      GstCclKalman *centre = &track->centre[k];
      gdouble gate;

      if (track->missed > 0.0 && !is_between (self, track))
        centre->velocity *= damping;
      gst_ccl_kalman_predict (centre, self->dt, density);
      track->box.low[k] = centre->position - track->size[k] / 2.0;
      track->box.high[k] = centre->position + track->size[k] / 2.0;
      gate = GATE_SIGMA * sqrt (centre->pp);
      if (track->hits > 2)
        gate = MIN (gate, 2.0 * side);
      track->reach[k] = GATE_SIZE * (track->size[k] + side) / 2.0 + gate;
    }
    track->confidence = !track->id ? 0.6 : track->missed > 0.0 ? 0.9 : 1.0;
    track->blob = track->next = -1;
    track->seen = track->hidden = track->over = FALSE;
    track->alone &= self->at_look;
  }
}

/* Step 3 */

static void
match (GstCclTracker *self)
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

/* Step 4 */

static gint
compare_indices (gconstpointer a, gconstpointer b)
{
  const guint *p = a, *q = b;

  return (*p > *q) - (*p < *q);
}

/* The detections inside the box of a track that have no track, in raster order. */
static void
find_leftovers (GstCclTracker *self, guint track)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  guint i;

  g_array_set_size (self->leftovers, 0);
  for (i = starts[track]; i < starts[track + 1]; i++) {
    const guint index = self->pairs.edges[i].column;
    const Blob *blob = get_blob (self, index);

    if (blob->members == 0 && blob->into < 0 &&
        self->pairs.common[i] >= FRAGMENT_COVER * get_area (&blob->box))
      g_array_append_val (self->leftovers, index);
  }
  if (self->leftovers->len > 1)
    g_array_sort (self->leftovers, compare_indices);
}

static void
unite (Blob *blob, const Blob *fragment, guint index)
{
  gdouble share = fragment->area / (blob->area + fragment->area);
  guint k;

  unite_boxes (&blob->box, &fragment->box);
  for (k = 0; k < 2; k++)
    blob->centroid[k] += share * (fragment->centroid[k] - blob->centroid[k]);
  blob->area += fragment->area;
  if (fragment->area > blob->largest_area) {
    blob->largest_area = fragment->area;
    blob->largest = (gint) index;
  }
}

/* Whether the union of a track's detection and a leftover is like the track. */
static gboolean
is_like (const Track *track, const Box *box, const Box *both)
{
  return get_iou (track, both) >= get_iou (track, box) - 0.02 &&
         get_length (both, 0) < 1.35 * track->size[0] &&
         get_length (both, 1) < 1.35 * track->size[1];
}

/* Whether two parts of a track look like objects rather than fragments: they are side by side, and
 * both about as high as the track. What is one above the other belongs together. */
static gboolean
is_separate (const Track *track, const Box *a, const Box *b)
{
  gdouble gap = MAX (a->low[0], b->low[0]) - MIN (a->high[0], b->high[0]);

  return gap >= 0.0 && MIN (get_length (a, 1), get_length (b, 1)) > 0.6 * track->size[1];
}

/* What is left over of a detector's boxes may be a second box of an object. */
static void
find_doubles (GstCclTracker *self, guint track)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  const gint own = get_track (self, track)->blob;
  const Box *box = &get_blob (self, (guint) own)->box;
  guint i;

  for (i = starts[track]; i < starts[track + 1]; i++) {
    Blob *blob = get_blob (self, self->pairs.edges[i].column);

    if (blob->object && blob->members == 0 && blob->into < 0 &&
        get_boxes_iou (box, &blob->box) >= DOUBLE_IOU)
      blob->into = own;
  }
}

static void
find_fragments (GstCclTracker *self)
{
  guint i, j, k;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gboolean split = FALSE;
    Blob *blob;

    if (track->blob < 0 || !track->id)
      continue;
    blob = get_blob (self, (guint) track->blob);
    if (blob->object) { /* a look: says nothing of components */
      if (self->n_left > 0)
        find_doubles (self, i);
      continue;
    }
    if (self->n_left == 0) {
      track->split = 0.0;
      continue;
    }
    find_leftovers (self, i);

    for (j = 0; j < self->leftovers->len; j++) {
      const guint index = g_array_index (self->leftovers, guint, j);
      Blob *leftover = get_blob (self, index), both = *blob;

      unite (&both, leftover, index);
      if (!is_like (track, &blob->box, &both.box))
        continue;
      if (is_separate (track, &blob->box, &leftover->box)) {
        split = TRUE;
        if (track->split >= SPLIT_TIME) {
          for (k = 0; k < 2; k++)
            track->size[k] = get_length (&blob->box, k);
          continue;
        }
      }

      *blob = both;
      leftover->into = track->blob;
    }
    track->split = split ? track->split + self->dt : 0.0;
  }
}

/* Step 6 */

/* Whether looks are so far apart that each box counts. */
static gboolean
is_seldom (const GstCclTracker *self)
{
  return self->n_looks > 1 && self->look_gap > SELDOM_GAP;
}

/* Whether the boxes of a look are better than what is known of their tracks, which was predicted
 * for a long time, and not carried by components. */
static gboolean
is_better (const GstCclTracker *self)
{
  return self->at_look && is_seldom (self) && !is_led_by_motion (self);
}

/* Measures a track in one direction. Returns the share of the new size in the smoothed one: less if
 * the detection is cut by another object. */
static gdouble
measure_axis (const GstCclTracker *self, Track *track, const Blob *blob, guint k, gdouble variance,
              gdouble share)
{
  const Box *box = &blob->box;
  gdouble *size = &track->size[k], length = get_length (box, k), middle = get_middle (box, k);
  gdouble low = box->low[k] + *size / 2.0, high = box->high[k] - *size / 2.0;
  gboolean low_cut = blob->cut[k][0] || touches (self, box, k, FALSE);
  gboolean high_cut = blob->cut[k][1] || touches (self, box, k, TRUE);
  GstCclKalman *centre = &track->centre[k];

  if (low_cut != high_cut) {
    /* What enters or leaves the frame, or is behind another: the size is that of all of it. */
    gst_ccl_kalman_measure (centre, length >= *size ? middle : low_cut ? high : low, variance);
    *size = MAX (*size, length);
    return share;
  }
  if (is_better (self) || (length >= PARTIAL * *size && length <= *size / PARTIAL)) {
    gst_ccl_kalman_measure (centre, middle, variance);
  } else {
    /* The side that is where it was expected to be is the one to trust. */
    gdouble low_error = (low - centre->position) / *size;
    gdouble high_error = (high - centre->position) / *size;

    gst_ccl_kalman_measure (centre, low, variance * (1.0 + square (low_error / 0.1)));
    gst_ccl_kalman_measure (centre, high, variance * (1.0 + square (high_error / 0.1)));
    if (track->id)
      share *= 0.5;
  }
  *size += share * (length - *size);

  return share;
}

/* A track that has a detection for itself. */
void
gst_ccl_tracker_measure (const GstCclTracker *self, Track *track, const Blob *blob, gdouble alpha)
{
  const gdouble noise = is_better (self) ? SELDOM_NOISE : MEASUREMENT_NOISE;
  gdouble variance = square (MAX (noise * get_scale (track), 0.5));
  gdouble share = MAX (alpha, 1.0 / (track->hits + 1.0));
  guint k;

  if (!blob->object && is_led_by_looks (self, track)) {
    track->seen = gst_ccl_tracker_carry (track, blob);
    return;
  }
  if (blob->object) /* detectors tell sizes better than masks */
    share = MAX (share, alpha * (2.0 - alpha));
  else if (self->looking && track->known && blob->owner < 0)
    share = 0.0; /* a component for several, or none */
  for (k = 0; k < 2; k++)
    share = measure_axis (self, track, blob, k, variance, share);
  track->area += share * (blob->area - track->area);
  track->apart += self->dt;
  track->seen = TRUE;
  track->alone = !blob->object;
  track->partner = 0;
  if (!blob->object) { /* its sides are those of the component */
    memset (track->offset, 0, sizeof (track->offset));
    track->held = FALSE;
  }
}

static void
measure_all (GstCclTracker *self)
{
  const gdouble alpha =
      1.0 - pow (1.0 - MIN (self->params.smooth_alpha, 0.9999), self->dt * SMOOTH_RATE);
  guint i;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    const Blob *blob;

    if (track->blob < 0)
      continue;
    blob = get_blob (self, (guint) track->blob);
    if (blob->members == 1)
      gst_ccl_tracker_measure (self, track, blob, alpha);
    else if (blob->first == (gint) i) /* the oldest member measures all */
      gst_ccl_tracker_measure_group (self, blob);
  }
}

static gboolean
is_over (const GstCclTracker *self, const Track *track)
{
  const gdouble frame[2] = { self->params.width, self->params.height };
  guint k;

  if (!track->id)
    return self->looking && track->known
               ? track->denied > 0 || track->missed > LOOK_GAPS * self->look_gap
               : track->missed > 1.5 * self->dt;
  if (track->missed <= 0.0)
    return FALSE; /* frames at the same time */
  if (track->missed > (gdouble) self->params.max_miss / GST_SECOND &&
      !(self->looking && track->known && track->missed <= LOOK_GAPS * self->look_gap))
    return TRUE;
  for (k = 0; k < 2; k++) {
    gdouble position = track->centre[k].position;

    if (frame[k] > 0.0 && (position < 0.0 || position > frame[k]))
      return TRUE;
  }

  return FALSE;
}

/* Whether components need not be found for some time. */
static gboolean
is_at_once (const GstCclTracker *self)
{
  return self->params.min_persistence < GST_USECOND;
}

/* Gives a track its id if it is certain: components may be noise, so it must be found for some
 * time; boxes of detectors must be confident. A frame lasts from the one before. */
static void
confirm (GstCclTracker *self, Track *track)
{
  const gdouble persistence = (gdouble) self->params.min_persistence / GST_SECOND;

  if (!track->id && (is_at_once (self) || track->age + self->dt >= persistence - 1e-6 ||
                     (track->known && (track->evidence >= EVIDENCE || is_seldom (self)))))
    track->id = ++self->last_id;
}

/* What its own detection says about an object. */
void
gst_ccl_tracker_classify (GstCclTracker *self, Track *track, const Blob *blob)
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

/* Counts frames and times, gives ids, and removes tracks that are over. */
static void
age_tracks (GstCclTracker *self)
{
  guint i, n = 0;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);

    track->age += self->dt;
    track->unfound += self->dt;
    track->fresh = FALSE;
    if (track->seen) {
      track->hits++;
      track->missed = 0.0;
      if (get_blob (self, (guint) track->blob)->members == 1)
        gst_ccl_tracker_classify (self, track, get_blob (self, (guint) track->blob));
      confirm (self, track);
    } else {
      track->missed += track->blob >= 0 ? self->dt / 2.0 : self->dt;
      track->over |= is_over (self, track);
    }
    if (track->over)
      continue;
    if (n < i)
      *get_track (self, n) = *track;
    n++;
  }
  g_array_set_size (self->tracks, n);
}

static void
add_track (GstCclTracker *self, guint index)
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
  track.serial = ++self->last_serial;
  gst_ccl_tracker_classify (self, &track, blob);
  g_array_append_val (self->tracks, track);
}

static gboolean
is_noise (const GstCclTracker *self, const Blob *blob)
{
  return blob->object ? is_doubtful (self, blob) && !is_at_once (self)
                      : blob->area < self->min_area;
}

/* What is left over begins a track, unless it is noise. */
void
gst_ccl_tracker_add (GstCclTracker *self)
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

/* From seconds. Tracks that were never missed may be older than a clock time can say. */
static GstClockTime
to_clock_time (gdouble seconds)
{
  return (GstClockTime) MIN (seconds * GST_SECOND + 0.5, (gdouble) G_MAXINT64);
}

/* Whether a track goes out of the frame. */
static gboolean
is_leaving (const GstCclTracker *self, const Track *track)
{
  guint k;

  for (k = 0; k < 2; k++) {
    if (touches (self, &track->box, k, track->centre[k].velocity > 0.0))
      return TRUE;
  }

  return FALSE;
}

/* Whether a component is what a detector knows by other boxes: its box overlaps with theirs. */
static gboolean
is_explained (const GstCclTracker *self, const Track *track, guint most)
{
  guint i;

  for (i = 0; i < self->tracks->len && most > 0; i++) {
    const Track *other = get_track (self, i);
    gdouble least = MIN (get_area (&track->box), get_area (&other->box));

    if (!other->known || !other->id)
      continue;
    most--;
    if (get_common (&track->box, &other->box) > EXPLAINED * least)
      return TRUE;
  }

  return FALSE;
}

/* Detectors take mannequins, posters and lampposts for people. They are less certain of them, and
 * those never move. */
static gboolean
is_doubtful_thing (const Track *track)
{
  return !track->travelled && track->belief < LEAST_BELIEF &&
         track->age - track->found > DOUBT_TIME;
}

/* Whether what the looks know is shown. */
static gboolean
is_known_shown (const GstCclTracker *self, const Track *track)
{
  gdouble most = SHOW_LOST;

  if (track->blob >= 0 && is_led_by_motion (self))
    return track->missed <= SHOW_MEMBER;
  if (is_doubtful_thing (track))
    return FALSE;
  if (track->denied == 0)
    return track->unfound <= MAX (most, LOOK_GAPS * self->look_gap);

  if (track->belief < LOST_BELIEF)
    return FALSE;
  if (track->behind || track->missed <= 0.0)
    most = SHOW_HIDDEN;

  return track->unfound <= most && !is_leaving (self, track);
}

/* Whether what the looks do not know is shown. Where components are not what a detector finds, such
 * as in crowds, they count until it has looked. */
static gboolean
is_unknown_shown (const GstCclTracker *self, const Track *track)
{
  return track->blob >= 0 && track->missed <= SHOW_MEMBER &&
         (track->denied == 0 || self->fit >= UNKNOWN_FIT) &&
         !is_explained (self, track, MOST_EXPLAINED / self->tracks->len);
}

static gboolean
is_shown (const GstCclTracker *self, const Track *track)
{
  if (!track->id)
    return FALSE;
  if (self->looking)
    return track->known ? is_known_shown (self, track) : is_unknown_shown (self, track);
  if (track->blob >= 0)
    return track->missed <= SHOW_MEMBER;

  return track->known && track->missed <= (track->hidden ? SHOW_HIDDEN : SHOW_LOST) &&
         !is_leaving (self, track);
}

static void
write_tracks (GstCclTracker *self)
{
  guint i;

  g_array_set_size (self->out, self->tracks->len);
  for (i = 0; i < self->tracks->len; i++) {
    GstCclTrackInfo *out = &g_array_index (self->out, GstCclTrackInfo, i);
    const Track *track = get_track (self, i);
    const GstCclKalman *x = &track->centre[0], *y = &track->centre[1];
    const Blob *blob = track->blob >= 0 ? get_blob (self, (guint) track->blob) : NULL;
    gboolean alone = blob && blob->members == 1;

    out->id = track->id;
    out->detection = blob ? blob->largest : -1;
    out->x = x->position - track->size[0] / 2.0;
    out->y = y->position - track->size[1] / 2.0;
    out->width = track->size[0];
    out->height = track->size[1];
    out->centroid_x = alone ? blob->centroid[0] : x->position;
    out->centroid_y = alone ? blob->centroid[1] : y->position;
    out->velocity_x = x->velocity;
    out->velocity_y = y->velocity;
    out->area = alone ? blob->area : track->area;
    out->age = to_clock_time (track->age);
    out->missed = to_clock_time (track->missed);
    out->shown = is_shown (self, track);
    out->known = track->known;
    out->class_id = gst_ccl_votes_get (&track->votes);
    out->confidence = track->trust;
  }
}

/* The oldest track of each detection, and of the one that it is a fragment of. */
static void
write_indices (const GstCclTracker *self, gint *indices)
{
  guint i;

  for (i = 0; i < self->blobs->len; i++)
    indices[i] = -1;
  for (i = self->tracks->len; i-- > 0;) {
    if (get_track (self, i)->blob >= 0)
      indices[get_track (self, i)->blob] = (gint) i;
  }
  for (i = 0; i < self->blobs->len; i++) {
    if (get_blob (self, i)->into >= 0)
      indices[i] = indices[get_blob (self, i)->into];
  }
}

static void
advance (GstCclTracker *self, GstClockTime time)
{
  self->dt = 0.0;
  if (GST_CLOCK_TIME_IS_VALID (self->time) && time > self->time)
    self->dt = (gdouble) (time - self->time) / GST_SECOND;
  self->time = time;
}

void
gst_ccl_tracker_assign (GstCclTracker *self, GstClockTime time, const GstCclDetection *boxes,
                        guint n)
{
  read_detections (self, boxes, n);
  gst_ccl_tracker_compare_boxes (self, time);
  predict (self);
  gst_ccl_tracker_find_pairs (self, 0.0);
  match (self);
  find_fragments (self);
}

void
gst_ccl_tracker_update (GstCclTracker *self, GstClockTime time, const GstCclDetection *detections,
                        guint n_detections, gint *indices)
{
  advance (self, time);
  read_detections (self, detections, n_detections);
  find_min_area (self);

  predict (self);
  gst_ccl_tracker_find_pairs (self, NOISE_SHARE * self->min_area);
  match (self);
  find_fragments (self);
  gst_ccl_tracker_find_groups (self);
  measure_all (self);
  age_tracks (self);
  gst_ccl_tracker_add (self);

  if (self->looking)
    gst_ccl_tracker_keep_past (self);

  write_tracks (self);
  write_indices (self, indices);
}

void
gst_ccl_tracker_skip (GstCclTracker *self, GstClockTime time)
{
  advance (self, time);
  g_array_set_size (self->blobs, 0);
  predict (self);
  age_tracks (self);
  if (self->looking)
    gst_ccl_tracker_keep_past (self);
  write_tracks (self);
}

const GstCclTrackInfo *
gst_ccl_tracker_get_tracks (GstCclTracker *self, guint *n_tracks)
{
  *n_tracks = self->out->len;

  return (const GstCclTrackInfo *) self->out->data;
}

guint64
gst_ccl_tracker_get_exceeded (const GstCclTracker *self)
{
  return self->exceeded;
}

guint64
gst_ccl_tracker_get_crowded (const GstCclTracker *self)
{
  return self->crowded;
}
