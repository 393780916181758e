/* cudaccl - tracks objects from frame to frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame goes through these steps:
 *
 *  1. predict: a Kalman filter per axis with constant velocity.
 *  2. edges: pairs of a track and a detection near each other, found with a grid.
 *  3. match: the optimal assignment of tracks and detections, one to one.
 *  4. fragments: a detection that is left over inside the box of a track belongs to it.
 *  5. groups: a track that is left over inside a detection shares it with the track it was
 *     assigned to. A group is nothing more than that: its members remain tracks, so that they are
 *     assigned to the parts when the detection splits.
 *  6. update: a detection measures the position of its track; that of a group measures with each
 *     of its four sides only the members there.
 *
 * Distances are relative to the size of the object, and times are in seconds, so that neither the
 * resolution nor the frame rate matters. */

#include "gstccltracker-private.h"

#include <string.h>

#define DEFAULT_IOU_THRESHOLD 0.2
#define DEFAULT_MIN_PERSISTENCE 3
#define DEFAULT_MAX_MISS (1500 * GST_MSECOND)
#define DEFAULT_SMOOTH_ALPHA 0.2
#define DEFAULT_MAX_TRACKS 1024
#define DEFAULT_MIN_AREA 0.0005

/* Noise is small compared with the detections that make up most of the foreground: detections below
 * this share of the typical area, averaged over this time, start no track, and much smaller ones
 * are not even fragments. */
#define MIN_TYPICAL_SHARE 0.2
#define TYPICAL_TIME 5.0 /* s */

/* The motion model, in sizes of the object. */
#define ACCELERATION 0.8          /* square root of the spectral density, per s^1.5 */
#define FIRST_VELOCITY 1.5        /* standard deviation, per s */
#define FIRST_VELOCITY_FRAME 0.06 /* same, in diagonals of the frame */
#define LOST_DAMPING 3.0          /* s until the velocity of a lost track falls to 1 / e */

/* The sizes of detections are smoothed as at this frame rate. */
#define SMOOTH_RATE 10.0

/* Largest distance of the centres of a track and a detection, in sizes. */
#define GATE_SIZE 1.0
#define GATE_SIGMA 2.0

/* Sides of a box that change more than this in a frame were cut or joined. */
#define PARTIAL 0.75

#define SPLIT_TIME 0.2 /* s until separate parts of a track are tracks */

void
gst_ccl_tracker_params_init (GstCclTrackerParams *params)
{
  params->iou_threshold = DEFAULT_IOU_THRESHOLD;
  params->min_persistence = DEFAULT_MIN_PERSISTENCE;
  params->max_miss = DEFAULT_MAX_MISS;
  params->smooth_alpha = DEFAULT_SMOOTH_ALPHA;
  params->max_tracks = DEFAULT_MAX_TRACKS;
  params->min_area = DEFAULT_MIN_AREA;
  params->width = params->height = 0;
}

GstCclTracker *
gst_ccl_tracker_new (void)
{
  GstCclTracker *self = g_new0 (GstCclTracker, 1);

  gst_ccl_tracker_params_init (&self->params);
  self->assignment = gst_ccl_assignment_new ();
  self->time = GST_CLOCK_TIME_NONE;
  self->tracks = g_array_new (FALSE, TRUE, sizeof (Track));
  self->out = g_array_new (FALSE, TRUE, sizeof (GstCclTrackInfo));
  self->blobs = g_array_new (FALSE, TRUE, sizeof (Blob));
  self->starts = g_array_new (FALSE, FALSE, sizeof (guint));
  self->candidate_starts = g_array_new (FALSE, FALSE, sizeof (guint));
  self->matches = g_array_new (FALSE, FALSE, sizeof (gint));
  self->cells = g_array_new (FALSE, TRUE, sizeof (guint));
  self->places = g_array_new (FALSE, FALSE, sizeof (Place));
  self->members = g_array_new (FALSE, FALSE, sizeof (guint));

  return self;
}

void
gst_ccl_tracker_free (GstCclTracker *self)
{
  gst_ccl_assignment_free (self->assignment);
  g_array_unref (self->tracks);
  g_array_unref (self->out);
  g_array_unref (self->blobs);
  g_free (self->edges);
  g_array_unref (self->starts);
  g_free (self->candidates);
  g_array_unref (self->candidate_starts);
  g_array_unref (self->matches);
  g_array_unref (self->cells);
  gst_ccl_tracker_free_entries (self);
  g_array_unref (self->places);
  g_array_unref (self->members);
  g_free (self);
}

void
gst_ccl_tracker_set_params (GstCclTracker *self, const GstCclTrackerParams *params)
{
  self->params = *params;
  self->params.max_tracks = MAX (params->max_tracks, 1);
  if (self->tracks->len > self->params.max_tracks)
    g_array_set_size (self->tracks, self->params.max_tracks);
}

void
gst_ccl_tracker_reset (GstCclTracker *self)
{
  g_array_set_size (self->tracks, 0);
  g_array_set_size (self->out, 0);
  memset (self->areas, 0, sizeof (self->areas));
  self->time = GST_CLOCK_TIME_NONE;
}

/* write_tracks() stores these as vectors. */
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclTrackInfo, y) ==
                 G_STRUCT_OFFSET (GstCclTrackInfo, x) + sizeof (gdouble));
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclTrackInfo, height) ==
                 G_STRUCT_OFFSET (GstCclTrackInfo, width) + sizeof (gdouble));
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclTrackInfo, centroid_y) ==
                 G_STRUCT_OFFSET (GstCclTrackInfo, centroid_x) + sizeof (gdouble));
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclTrackInfo, velocity_y) ==
                 G_STRUCT_OFFSET (GstCclTrackInfo, velocity_x) + sizeof (gdouble));

/* Step 1 */

static void
predict (GstCclTracker *self, gdouble dt)
{
  const gdouble lost_damping = exp (-dt / LOST_DAMPING);
  const Vector none = { 0.0, 0.0 };
  guint i;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gdouble density = square (ACCELERATION) * track->size[0] * track->size[1];
    gdouble damping = track->missed > 0.0 ? lost_damping : 1.0;
    gdouble side = (track->size[0] + track->size[1]) / 2.0;
    gdouble most = track->hits > 2 ? 2.0 * side : G_MAXDOUBLE;
    Vector size = load (track->size), v = load (track->v) * damping, p = load (track->p) + v * dt;
    Vector pp = load (track->pp), pv = load (track->pv), vv = load (track->vv);
    Vector reach, sigma;

    pp += dt * (2.0 * pv + dt * vv) + density * dt * dt * dt / 3.0;
    pv += dt * vv + density * dt * dt / 2.0;
    vv += density * dt;
    store (track->v, v);
    store (track->p, p);
    store (track->pp, pp);
    store (track->pv, pv);
    store (track->vv, vv);
    store (track->low, p - size / 2.0);
    store (track->high, p + size / 2.0);

    sigma = (Vector){ sqrt (pp[0]), sqrt (pp[1]) };
    reach = GATE_SIZE * (size + side) / 2.0 + get_least (GATE_SIGMA * sigma, none + most);
    store (track->reach, reach);
    store (track->per_reach, 1.0 / reach);

    track->age += dt;
    track->seen = FALSE;
    track->next = -1;
  }
}

/* Step 3 */

static void
match (GstCclTracker *self)
{
  guint i;
  gint *matches;

  g_array_set_size (self->matches, self->tracks->len);
  matches = (gint *) self->matches->data;
  gst_ccl_assignment_solve (self->assignment, self->tracks->len, self->blobs->len,
                            (guint *) self->candidate_starts->data, self->candidates, matches);

  for (i = 0; i < self->tracks->len; i++) {
    if (matches[i] >= 0) {
      Blob *blob = get_blob (self, matches[i]);

      blob->first = (gint) i;
      blob->members = 1;
    }
  }
}

/* Step 4 */

static void
unite (Blob *blob, const Blob *fragment, gint index)
{
  gdouble share = fragment->area / (blob->area + fragment->area);
  guint k;

  for (k = 0; k < 2; k++) {
    blob->low[k] = MIN (blob->low[k], fragment->low[k]);
    blob->high[k] = MAX (blob->high[k], fragment->high[k]);
    blob->centroid[k] += share * (fragment->centroid[k] - blob->centroid[k]);
  }
  blob->area += fragment->area;
  blob->fragments++;
  if (fragment->area > blob->largest_area) {
    blob->largest_area = fragment->area;
    blob->largest = index;
  }
}

/* Whether two parts of a track look like objects rather than fragments: they are side by side, and
 * both about as high as the track. What is one above the other belongs together. */
static gboolean
is_separate (const Track *track, const Blob *first, const Blob *second)
{
  gdouble gap = MAX (first->low[0], second->low[0]) - MIN (first->high[0], second->high[0]);
  gdouble height = MIN (first->high[1] - first->low[1], second->high[1] - second->low[1]);

  return gap >= 0.0 && height > 0.6 * track->size[1];
}

static void
find_fragments (GstCclTracker *self, gdouble dt)
{
  const guint *starts = (const guint *) self->starts->data;
  guint i, j, k;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gint main = g_array_index (self->matches, gint, i);
    gboolean split = FALSE;
    Blob *blob;

    if (main < 0 || !track->id)
      continue;
    /* Most tracks have no other edge than that to their detection. */
    if (starts[i + 1] == starts[i] ||
        (starts[i + 1] == starts[i] + 1 && self->edges[starts[i]].detection == (guint) main)) {
      track->split = 0.0;
      continue;
    }
    blob = get_blob (self, main);

    for (j = starts[i]; j < starts[i + 1]; j++) {
      const Edge *edge = &self->edges[j];
      Blob *other = get_blob (self, edge->detection), both;
      gdouble before, after, area = track->size[0] * track->size[1];
      gboolean fits = TRUE;

      if (other->members > 0 || other->into >= 0 ||
          edge->common / get_box_area (other->low, other->high) < FRAGMENT_COVER)
        continue;

      both = *blob;
      unite (&both, other, (gint) edge->detection);
      before = get_common (track->low, track->high, blob->low, blob->high);
      before /= area + get_box_area (blob->low, blob->high) - before;
      after = get_common (track->low, track->high, both.low, both.high);
      after /= area + get_box_area (both.low, both.high) - after;
      for (k = 0; k < 2; k++)
        fits = fits && both.high[k] - both.low[k] < 1.35 * track->size[k];
      if (after < before - 0.02 || !fits)
        continue;
      if (is_separate (track, blob, other)) {
        split = TRUE;
        if (track->split >= SPLIT_TIME) {
          for (k = 0; k < 2; k++)
            track->size[k] = blob->high[k] - blob->low[k];
          continue;
        }
      }

      *blob = both;
      other->into = main;
      self->n_fragments++;
    }
    track->split = split ? track->split + dt : 0.0;
  }
}

/* Step 5 */

/* Adds a track to those of a detection, which are in order of age. */
static void
join (GstCclTracker *self, Blob *blob, guint index)
{
  gint *next = &blob->first;

  while (*next >= 0 && *next < (gint) index)
    next = &get_track (self, (guint) *next)->next;
  get_track (self, index)->next = *next;
  *next = (gint) index;
  blob->members++;
}

static void
find_groups (GstCclTracker *self)
{
  const guint *starts = (const guint *) self->starts->data;
  gint *matches = (gint *) self->matches->data;
  guint i, j;

  for (i = 0; i < self->tracks->len; i++) {
    const Track *track = get_track (self, i);
    gdouble best = MEMBER_COVER;

    if (matches[i] >= 0 || !track->id)
      continue;

    for (j = starts[i]; j < starts[i + 1]; j++) {
      const Edge *edge = &self->edges[j];
      const Blob *blob = get_blob (self, edge->detection);
      gdouble cover = edge->common / (track->size[0] * track->size[1]);

      if (cover <= best)
        continue;
      best = cover;
      matches[i] = blob->into >= 0 ? blob->into : (gint) edge->detection;
    }
    if (matches[i] >= 0)
      join (self, get_blob (self, matches[i]), i);
  }
}

/* Step 6 */

/* One direction of a track that is cut by the edge of the frame, or by another object. Returns the
 * share of the new size in the smoothed one. */
static gdouble
update_cut (GstCclTracker *self, Track *track, const Blob *blob, guint k, gdouble variance,
            gdouble slow)
{
  gdouble size = track->size[k], length = blob->high[k] - blob->low[k];
  gdouble low = blob->low[k] + size / 2.0, high = blob->high[k] - size / 2.0;
  gboolean low_cut = touches (self, blob, k, FALSE), high_cut = touches (self, blob, k, TRUE);

  if (low_cut != high_cut) {
    /* What enters or leaves the frame: the size is that of the whole object. */
    if (length >= size) {
      track->size[k] = length;
      measure_axis (track, k, (blob->low[k] + blob->high[k]) / 2.0, variance);
    } else {
      measure_axis (track, k, low_cut ? high : low, variance);
    }
    return slow;
  }
  if (length >= PARTIAL * size && length <= size / PARTIAL) {
    measure_axis (track, k, (blob->low[k] + blob->high[k]) / 2.0, variance);
  } else {
    /* The side that is where it was expected to be is the one to trust. */
    gdouble low_error = (low - track->p[k]) / size, high_error = (high - track->p[k]) / size;

    measure_axis (track, k, low, variance * (1.0 + square (low_error / 0.1)));
    measure_axis (track, k, high, variance * (1.0 + square (high_error / 0.1)));
    if (track->hits >= self->params.min_persistence)
      slow *= 0.5;
  }
  track->size[k] += slow * (length - size);

  return slow;
}

/* Both directions of a track that is not cut, as measure_axis() does. */
static void
update_whole (Track *track, const Blob *blob, gdouble variance, gdouble slow)
{
  Vector low = load (blob->low), high = load (blob->high), size = load (track->size);
  Vector p = load (track->p), pp = load (track->pp), pv = load (track->pv);
  Vector total = pp + variance, gain_p = pp / total, gain_v = pv / total;
  Vector innovation = (low + high) / 2.0 - p;

  store (track->p, p + gain_p * innovation);
  store (track->v, load (track->v) + gain_v * innovation);
  store (track->vv, load (track->vv) - gain_v * pv);
  store (track->pv, pv - gain_p * pv);
  store (track->pp, pp - gain_p * pp);
  store (track->size, size + slow * (high - low - size));
}

static void
update_alone (GstCclTracker *self, Track *track, const Blob *blob, gdouble alpha,
              const gdouble inner[2][2])
{
  Vector low = load (blob->low), high = load (blob->high), size = load (track->size);
  VectorMask whole = (low > load (inner[0])) & (high < load (inner[1])) &
                     (high - low >= PARTIAL * size) & (high - low <= size / PARTIAL);
  gdouble variance = square (MAX (MEASUREMENT_NOISE * get_scale (track), 0.5));
  gdouble slow = MAX (alpha, 1.0 / (track->hits + 1.0));
  guint k;

  if (whole[0] & whole[1]) {
    update_whole (track, blob, variance, slow);
  } else {
    for (k = 0; k < 2; k++)
      slow = update_cut (self, track, blob, k, variance, slow);
  }
  track->area += slow * (blob->area - track->area);
  store (track->centroid, load (blob->centroid));
}

static void
update_tracks (GstCclTracker *self, gdouble dt)
{
  const gint *matches = (const gint *) self->matches->data;
  gdouble alpha = 1.0 - pow (1.0 - MIN (self->params.smooth_alpha, 0.9999), dt * SMOOTH_RATE);
  gdouble inner[2][2]; /* beyond, boxes are cut by the edge of the frame */
  guint i, k;

  for (k = 0; k < 2; k++) {
    guint length = k == 0 ? self->params.width : self->params.height;

    inner[0][k] = length ? 1.5 : -G_MAXDOUBLE;
    inner[1][k] = length ? length - 1.5 : G_MAXDOUBLE;
  }

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    const Blob *blob;

    if (matches[i] < 0)
      continue;
    blob = get_blob (self, matches[i]);
    if (blob->members == 1) {
      track->seen = TRUE;
      track->apart += dt;
      track->partner = 0;
      update_alone (self, track, blob, alpha, inner);
      continue;
    }

    /* The oldest member updates all. */
    if (blob->first != (gint) i)
      continue;
    gst_ccl_tracker_update_group (self, blob, dt);
  }

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);

    if (track->seen) {
      track->hits++;
      track->missed = 0.0;
    } else {
      track->missed += matches[i] >= 0 ? dt / 2.0 : dt;
    }
    if (!track->id && track->seen && track->hits >= self->params.min_persistence)
      track->id = ++self->last_id;
  }
}

static gboolean
is_over (const GstCclTracker *self, const Track *track, gdouble dt)
{
  const gdouble frame[2] = { self->params.width, self->params.height };
  guint k;

  if (track->over)
    return TRUE;
  if (!track->id)
    return track->missed > 1.5 * dt;
  if (track->missed > (gdouble) self->params.max_miss / GST_SECOND)
    return TRUE;
  if (track->missed > 0.0) {
    for (k = 0; k < 2; k++) {
      if (frame[k] > 0.0 && (track->p[k] < 0.0 || track->p[k] > frame[k]))
        return TRUE;
    }
  }

  return FALSE;
}

/* Removes the tracks that are over. Moves each run of others at once. */
static void
remove_tracks (GstCclTracker *self, gdouble dt)
{
  Track *tracks = (Track *) self->tracks->data;
  gint *matches = (gint *) self->matches->data;
  guint len = self->tracks->len, first, end = 0, n = 0;

  while (end < len) {
    for (first = end; end < len && !is_over (self, &tracks[end], dt); end++)
      ;
    if (n != first) {
      memmove (&tracks[n], &tracks[first], sizeof (Track) * (end - first));
      memmove (&matches[n], &matches[first], sizeof (gint) * (end - first));
    }
    n += end - first;
    for (; end < len && is_over (self, &tracks[end], dt); end++)
      ;
  }
  g_array_set_size (self->tracks, n);
  g_array_set_size (self->matches, n);
}

/* Areas are 1 or more. */
static guint
get_area_bin (gfloat area)
{
  guint32 bits;

  memcpy (&bits, &area, sizeof (bits));

  return MIN ((bits >> AREA_BIT) - (127u << (23 - AREA_BIT)), N_AREA_BINS - 1);
}

/* The least area of a bin. */
static gdouble
get_bin_area (guint bin)
{
  guint32 bits = (bin + (127u << (23 - AREA_BIT))) << AREA_BIT;
  gfloat area;

  memcpy (&area, &bits, sizeof (area));

  return area;
}

/* Finds the least area that starts a track. The typical area is that of the component which the
 * median pixel of the foreground belongs to: many specks do not make it small, and where objects
 * are small, so is the limit. */
static void
find_min_area (GstCclTracker *self, gdouble dt)
{
  const gdouble decay = exp (-dt / TYPICAL_TIME);
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

    self->areas[get_area_bin ((gfloat) blob->area)] += blob->area;
  }
  for (i = 0; i < N_AREA_BINS; i++)
    total += self->areas[i];
  for (i = 0; i < N_AREA_BINS && sum < total / 2.0; i++)
    sum += self->areas[i];

  self->min_area = MIN (limit, MIN_TYPICAL_SHARE * get_bin_area (i));
}

static void
add_tracks (GstCclTracker *self)
{
  const gdouble diagonal = hypot (self->params.width, self->params.height);
  guint i, k;

  for (i = 0; i < self->blobs->len; i++) {
    const Blob *blob = get_blob (self, i);
    gint match = (gint) i;
    gdouble scale;
    Track track;

    if (blob->first >= 0 || blob->into >= 0 || blob->area < self->min_area)
      continue;
    if (self->tracks->len >= self->params.max_tracks) {
      self->exceeded++;
      continue;
    }

    memset (&track, 0, sizeof (track));
    for (k = 0; k < 2; k++)
      track.size[k] = blob->high[k] - blob->low[k];
    scale = get_scale (&track);
    for (k = 0; k < 2; k++) {
      track.p[k] = (blob->low[k] + blob->high[k]) / 2.0;
      track.pp[k] = square (MAX (MEASUREMENT_NOISE * scale, 0.5));
      track.vv[k] = square (FIRST_VELOCITY * scale) + square (FIRST_VELOCITY_FRAME * diagonal);
      track.centroid[k] = blob->centroid[k];
    }
    track.area = blob->area;
    track.hits = 1;
    track.seen = TRUE;
    if (self->params.min_persistence <= 1)
      track.id = ++self->last_id;
    g_array_append_val (self->tracks, track);
    g_array_append_val (self->matches, match);
    get_blob (self, i)->members = 1;
  }
}

static GstCclTrackState
get_state (const Track *track, gint match)
{
  if (!track->id)
    return GST_CCL_TRACK_TENTATIVE;
  if (track->seen)
    return GST_CCL_TRACK_CONFIRMED;

  return match >= 0 ? GST_CCL_TRACK_HIDDEN : GST_CCL_TRACK_LOST;
}

/* From seconds. Tracks that were never missed may be older than a clock time can say. */
static GstClockTime
to_clock_time (gdouble seconds)
{
  return (GstClockTime) MIN (seconds * GST_SECOND + 0.5, (gdouble) G_MAXINT64);
}

static void
write_tracks (GstCclTracker *self, gint *indices)
{
  const gint *matches = (const gint *) self->matches->data;
  guint i;

  g_array_set_size (self->out, self->tracks->len);
  for (i = 0; i < self->tracks->len; i++) {
    const Track *track = get_track (self, i);
    GstCclTrackInfo *out = &g_array_index (self->out, GstCclTrackInfo, i);
    const Blob *blob = matches[i] >= 0 ? get_blob (self, matches[i]) : NULL;
    gboolean alone = blob && blob->members == 1;

    out->id = track->id;
    out->state = get_state (track, matches[i]);
    out->detection = blob ? blob->largest : -1;
    out->members = blob ? blob->members : 0;
    out->fragments = blob ? blob->fragments : 0;
    store (&out->x, load (track->p) - load (track->size) / 2.0);
    store (&out->width, load (track->size));
    store (&out->centroid_x, load (alone ? track->centroid : track->p));
    store (&out->velocity_x, load (track->v));
    out->area = alone ? blob->area : track->area;
    out->age = to_clock_time (track->age);
    out->missed = to_clock_time (track->missed);
  }

  for (i = 0; i < self->blobs->len; i++)
    indices[i] = -1;
  for (i = self->tracks->len; i-- > 0;) {
    if (matches[i] >= 0)
      indices[matches[i]] = (gint) i;
  }
  for (i = 0; i < self->blobs->len && self->n_fragments > 0; i++) {
    if (get_blob (self, i)->into >= 0)
      indices[i] = indices[get_blob (self, i)->into];
  }
}

static void
read_detections (GstCclTracker *self, const GstCclDetection *detections, guint n)
{
  guint i;

  g_array_set_size (self->blobs, n);
  for (i = 0; i < n; i++) {
    const GstCclDetection *detection = &detections[i];
    Blob *blob = get_blob (self, i);

    blob->low[0] = detection->x;
    blob->low[1] = detection->y;
    blob->high[0] = detection->x + MAX (detection->width, 1.0);
    blob->high[1] = detection->y + MAX (detection->height, 1.0);
    blob->area = MAX (detection->area, 1.0);
    blob->centroid[0] = detection->centroid_x;
    blob->centroid[1] = detection->centroid_y;
    blob->first = -1;
    blob->into = -1;
    blob->fragments = 1;
    blob->members = 0;
    blob->largest = (gint) i;
    blob->largest_area = blob->area;
  }
}

void
gst_ccl_tracker_update (GstCclTracker *self, GstClockTime time, const GstCclDetection *detections,
                        guint n_detections, gint *indices)
{
  gdouble dt = 0.0;

  if (GST_CLOCK_TIME_IS_VALID (time)) {
    if (GST_CLOCK_TIME_IS_VALID (self->time) && time > self->time)
      dt = (gdouble) (time - self->time) / GST_SECOND;
    self->time = time;
  }

  self->dt = dt;
  self->n_fragments = 0;
  read_detections (self, detections, n_detections);
  find_min_area (self, dt);
  predict (self, dt);
  gst_ccl_tracker_find_edges (self);
  match (self);
  find_fragments (self, dt);
  find_groups (self);
  update_tracks (self, dt);
  remove_tracks (self, dt);
  add_tracks (self);
  write_tracks (self, indices);
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
