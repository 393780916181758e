/* cudaccl - tracks objects from frame to frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame goes through these steps:
 *
 *  1. predict: a Kalman filter per axis with constant velocity.
 *  2. pairs of a track and a detection near each other, found with a grid.
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

#include "tracker-private.h"

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

/* Standard deviations of the velocity of a new track, per s. */
#define FIRST_VELOCITY 1.5        /* in sizes of the object */
#define FIRST_VELOCITY_FRAME 0.06 /* in diagonals of the frame */

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
  self->out = g_array_new (FALSE, TRUE, sizeof (GstCclTrackInfo));
  self->blobs = g_array_new (FALSE, TRUE, sizeof (Blob));
  self->starts = g_array_new (FALSE, FALSE, sizeof (guint));
  self->cells = g_array_new (FALSE, TRUE, sizeof (guint));
  self->places = g_array_new (FALSE, FALSE, sizeof (Place));
  self->members = g_array_new (FALSE, FALSE, sizeof (guint));

  return self;
}

void
gst_ccl_tracker_free (GstCclTracker *self)
{
  gst_ccl_assignment_free (self->assignment);
  gst_ccl_tracker_free_tracks (self);
  g_array_unref (self->out);
  g_array_unref (self->blobs);
  g_array_unref (self->starts);
  g_array_unref (self->cells);
  gst_ccl_tracker_free_pairs (self);
  g_array_unref (self->places);
  g_array_unref (self->members);
  g_free (self);
}

void
gst_ccl_tracker_set_params (GstCclTracker *self, const GstCclTrackerParams *params)
{
  self->params = *params;
  self->params.max_tracks = MAX (params->max_tracks, 1);
  self->tracks.len = MIN (self->tracks.len, self->params.max_tracks);
}

void
gst_ccl_tracker_reset (GstCclTracker *self)
{
  self->tracks.len = 0;
  g_array_set_size (self->out, 0);
  memset (self->areas, 0, sizeof (self->areas));
  self->time = GST_CLOCK_TIME_NONE;
}

/* Step 3 */

static void
match (GstCclTracker *self)
{
  const Tracks *tracks = &self->tracks;
  guint i;

  gst_ccl_assignment_solve (self->assignment, tracks->len, self->blobs->len,
                            (guint *) self->starts->data, self->pairs.edges, tracks->match);

  self->n_left = self->blobs->len;
  for (i = 0; i < tracks->len; i++) {
    if (tracks->match[i] >= 0) {
      Blob *blob = get_blob (self, (guint) tracks->match[i]);

      blob->first = (gint) i;
      blob->members = 1;
      tracks->next[i] = -1;
      self->n_left--;
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
is_separate (gdouble track_height, const Blob *first, const Blob *second)
{
  gdouble gap = MAX (first->low[0], second->low[0]) - MIN (first->high[0], second->high[0]);
  gdouble height = MIN (first->high[1] - first->low[1], second->high[1] - second->low[1]);

  return gap >= 0.0 && height > 0.6 * track_height;
}

/* The order of a track's pairs only matters if more than one of their detections is left over. */
static void
sort_leftovers (GstCclTracker *self, guint track)
{
  const guint *starts = (const guint *) self->starts->data;
  guint n = 0, i;

  for (i = starts[track]; i < starts[track + 1]; i++) {
    const Blob *blob = get_blob (self, self->pairs.edges[i].column);

    n += (blob->members == 0) & (self->pairs.common[i] >= 0.0);
  }
  if (n > 1)
    gst_ccl_tracker_sort_pairs (self, track);
}

static void
find_fragments (GstCclTracker *self, gdouble dt)
{
  const guint *starts = (const guint *) self->starts->data;
  const Tracks *tracks = &self->tracks;
  guint i, j, k;

  /* Without leftover detections there are no fragments. */
  if (self->n_left == 0) {
    for (i = 0; i < tracks->len; i++) {
      if (tracks->match[i] >= 0 && tracks->id[i])
        tracks->split[i] = 0.0;
    }
    return;
  }

  for (i = 0; i < tracks->len; i++) {
    const gint main = tracks->match[i];
    gboolean split = FALSE;
    Blob *blob;

    if (main < 0 || !tracks->id[i])
      continue;
    if (starts[i + 1] == starts[i] + 1) { /* with its own detection */
      tracks->split[i] = 0.0;
      continue;
    }
    blob = get_blob (self, (guint) main);
    sort_leftovers (self, i);

    for (j = starts[i]; j < starts[i + 1]; j++) {
      const guint detection = self->pairs.edges[j].column;
      const gdouble common = self->pairs.common[j];
      Blob *other = get_blob (self, detection), both;
      gdouble before, after;
      gboolean fits = TRUE;

      if (other->members > 0 || other->into >= 0 ||
          common / get_box_area (other->low, other->high) < FRAGMENT_COVER)
        continue;

      both = *blob;
      unite (&both, other, (gint) detection);
      before = get_iou (self, i, blob->low, blob->high);
      after = get_iou (self, i, both.low, both.high);
      for (k = 0; k < 2; k++)
        fits = fits && both.high[k] - both.low[k] < 1.35 * tracks->size[k][i];
      if (after < before - 0.02 || !fits)
        continue;
      if (is_separate (tracks->size[1][i], blob, other)) {
        split = TRUE;
        if (tracks->split[i] >= SPLIT_TIME) {
          for (k = 0; k < 2; k++)
            tracks->size[k][i] = blob->high[k] - blob->low[k];
          continue;
        }
      }

      *blob = both;
      other->into = main;
      self->n_fragments++;
    }
    tracks->split[i] = split ? tracks->split[i] + dt : 0.0;
  }
}

/* Step 5 */

/* Adds a track to those of a detection, which are in order of age. */
static void
join (GstCclTracker *self, Blob *blob, guint index)
{
  gint *next = &blob->first;

  while (*next >= 0 && *next < (gint) index)
    next = &self->tracks.next[*next];
  self->tracks.next[index] = *next;
  *next = (gint) index;
  blob->members++;
}

static void
find_groups (GstCclTracker *self)
{
  const guint *starts = (const guint *) self->starts->data;
  const Tracks *tracks = &self->tracks;
  guint i, j;

  for (i = 0; i < tracks->len; i++) {
    gdouble best = MEMBER_COVER;

    if (tracks->match[i] >= 0 || !tracks->id[i] || starts[i + 1] == starts[i])
      continue;

    gst_ccl_tracker_sort_pairs (self, i);
    for (j = starts[i]; j < starts[i + 1]; j++) {
      const guint detection = self->pairs.edges[j].column;
      const Blob *blob = get_blob (self, detection);
      gdouble cover = self->pairs.common[j] / (tracks->size[0][i] * tracks->size[1][i]);

      if (cover <= best)
        continue;
      best = cover;
      tracks->match[i] = blob->into >= 0 ? blob->into : (gint) detection;
    }
    if (tracks->match[i] >= 0)
      join (self, get_blob (self, (guint) tracks->match[i]), i);
  }
}

/* Step 6 */

static gboolean
is_over (const GstCclTracker *self, guint track, gdouble dt)
{
  const Tracks *tracks = &self->tracks;
  const gdouble frame[2] = { self->params.width, self->params.height };
  guint k;

  if (!tracks->id[track])
    return tracks->missed[track] > 1.5 * dt;
  if (tracks->missed[track] <= 0.0)
    return FALSE; /* frames at the same time */
  if (tracks->missed[track] > (gdouble) self->params.max_miss / GST_SECOND)
    return TRUE;
  for (k = 0; k < 2; k++) {
    if (frame[k] > 0.0 && (tracks->p[k][track] < 0.0 || tracks->p[k][track] > frame[k]))
      return TRUE;
  }

  return FALSE;
}

/* Counts frames and times, gives ids, and ends tracks. */
static void
age_tracks (GstCclTracker *self, gdouble dt)
{
  const Tracks *tracks = &self->tracks;
  guint i;

  for (i = 0; i < tracks->len; i++) {
    tracks->age[i] += dt;
    if (tracks->seen[i]) {
      tracks->hits[i] += 1.0;
      tracks->missed[i] = 0.0;
      if (!tracks->id[i] && tracks->hits[i] >= self->params.min_persistence)
        tracks->id[i] = ++self->last_id;
    } else {
      tracks->missed[i] += tracks->match[i] >= 0 ? dt / 2.0 : dt;
      tracks->over[i] |= is_over (self, i, dt);
    }
  }
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
add_track (GstCclTracker *self, const Blob *blob, gdouble diagonal)
{
  guint i = gst_ccl_tracker_add_track (self), k;
  const Tracks *tracks = &self->tracks;
  gdouble scale;

  for (k = 0; k < 2; k++)
    tracks->size[k][i] = blob->high[k] - blob->low[k];
  scale = get_scale (tracks, i);
  for (k = 0; k < 2; k++) {
    tracks->p[k][i] = (blob->low[k] + blob->high[k]) / 2.0;
    tracks->pp[k][i] = square (MAX (MEASUREMENT_NOISE * scale, 0.5));
    tracks->vv[k][i] = square (FIRST_VELOCITY * scale) + square (FIRST_VELOCITY_FRAME * diagonal);
  }
  tracks->area[i] = blob->area;
  tracks->hits[i] = 1.0;
  tracks->seen[i] = -1;
  if (self->params.min_persistence <= 1)
    tracks->id[i] = ++self->last_id;
}

static void
add_tracks (GstCclTracker *self)
{
  const gdouble diagonal = hypot (self->params.width, self->params.height);
  guint i;

  for (i = 0; i < self->blobs->len && self->n_left > 0; i++) {
    Blob *blob = get_blob (self, i);

    if (blob->first >= 0 || blob->into >= 0 || blob->area < self->min_area)
      continue;
    if (self->tracks.len >= self->params.max_tracks) {
      self->exceeded++;
      continue;
    }

    add_track (self, blob, diagonal);
    self->tracks.match[self->tracks.len - 1] = (gint) i;
    blob->members = 1;
  }
}

static GstCclTrackState
get_state (const Tracks *tracks, guint i)
{
  if (!tracks->id[i])
    return GST_CCL_TRACK_TENTATIVE;
  if (tracks->seen[i])
    return GST_CCL_TRACK_CONFIRMED;

  return tracks->match[i] >= 0 ? GST_CCL_TRACK_HIDDEN : GST_CCL_TRACK_LOST;
}

/* From seconds. Tracks that were never missed may be older than a clock time can say. */
static GstClockTime
to_clock_time (gdouble seconds)
{
  return (GstClockTime) MIN (seconds * GST_SECOND + 0.5, (gdouble) G_MAXINT64);
}

static void
write_tracks (GstCclTracker *self)
{
  static const Blob none = { .largest = -1 };
  const Tracks *tracks = &self->tracks;
  guint i;

  g_array_set_size (self->out, tracks->len);
  for (i = 0; i < tracks->len; i++) {
    GstCclTrackInfo *out = &g_array_index (self->out, GstCclTrackInfo, i);
    const gint match = tracks->match[i];
    const Blob *blob = match >= 0 ? get_blob (self, (guint) match) : &none;
    gboolean alone = blob->members == 1;

    out->id = tracks->id[i];
    out->state = get_state (tracks, i);
    out->detection = blob->largest;
    out->members = blob->members;
    out->fragments = blob->fragments;
    out->x = tracks->p[0][i] - tracks->size[0][i] / 2.0;
    out->y = tracks->p[1][i] - tracks->size[1][i] / 2.0;
    out->width = tracks->size[0][i];
    out->height = tracks->size[1][i];
    out->centroid_x = alone ? blob->centroid[0] : tracks->p[0][i];
    out->centroid_y = alone ? blob->centroid[1] : tracks->p[1][i];
    out->velocity_x = tracks->v[0][i];
    out->velocity_y = tracks->v[1][i];
    out->area = alone ? blob->area : tracks->area[i];
    out->age = to_clock_time (tracks->age[i]);
    out->missed = to_clock_time (tracks->missed[i]);
  }
}

/* The track of each detection, and that of the detection which it is a fragment of. */
static void
write_indices (const GstCclTracker *self, gint *indices)
{
  const Blob *blobs = (const Blob *) self->blobs->data;
  const gint *match = self->tracks.match;
  guint i;

  for (i = 0; i < self->blobs->len; i++)
    indices[i] = -1;
  for (i = self->tracks.len; i-- > 0;) {
    if (match[i] >= 0)
      indices[match[i]] = (gint) i;
  }
  for (i = 0; i < self->blobs->len && self->n_fragments > 0; i++) {
    if (blobs[i].into >= 0)
      indices[i] = indices[blobs[i].into];
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
  gst_ccl_tracker_predict (self, dt);
  gst_ccl_tracker_find_pairs (self);
  match (self);
  find_fragments (self, dt);
  find_groups (self);
  gst_ccl_tracker_measure (self, dt);
  age_tracks (self, dt);
  gst_ccl_tracker_remove_tracks (self);
  add_tracks (self);
  write_tracks (self);
  write_indices (self, indices);
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
