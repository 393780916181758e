/* cudaccl - predicts and measures the tracker's tracks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tracker-private.h"

/* The motion model, in sizes of the object. */
#define ACCELERATION 0.8 /* square root of the spectral density, per s^1.5 */
#define LOST_DAMPING 3.0 /* s until the velocity of a lost track falls to 1 / e */

/* The sizes of detections are smoothed as at this frame rate. */
#define SMOOTH_RATE 10.0

/* Largest distance of the centres of a track and a detection, in sizes. */
#define GATE_SIZE 1.0
#define GATE_SIGMA 2.0

/* Sides of a box that change more than this in a frame were cut or joined. */
#define PARTIAL 0.75

/* Two tracks in one direction. */
static inline void
predict_two (const Tracks *tracks, guint i, guint k, gdouble dt, Vector2 density, Vector2 side,
             Vector2 most, Vector2 damping, Prediction *predictions)
{
  Vector2 p = vector2_load (&tracks->p[k][i]), v = vector2_load (&tracks->v[k][i]),
          size = vector2_load (&tracks->size[k][i]);
  Vector2 pp = vector2_load (&tracks->pp[k][i]), pv = vector2_load (&tracks->pv[k][i]),
          vv = vector2_load (&tracks->vv[k][i]);
  Vector2 low, high, reach, per_reach;
  guint j;

  v *= damping;
  p += v * dt;
  pp += dt * (2.0 * pv + dt * vv) + density * dt * dt * dt / 3.0;
  pv += dt * vv + density * dt * dt / 2.0;
  vv += density * dt;
  vector2_store (&tracks->p[k][i], p);
  vector2_store (&tracks->v[k][i], v);
  vector2_store (&tracks->pp[k][i], pp);
  vector2_store (&tracks->pv[k][i], pv);
  vector2_store (&tracks->vv[k][i], vv);

  reach = GATE_SIZE * (size + side) / 2.0 + vector2_min (GATE_SIGMA * vector2_sqrt (pp), most);
  vector2_store (&tracks->reach[k][i], reach);
  per_reach = 1.0 / reach;
  low = p - size / 2.0;
  high = p + size / 2.0;
  for (j = 0; j < 2; j++) {
    predictions[j].box.low[k] = low[j];
    predictions[j].box.high[k] = high[j];
    predictions[j].centre[k] = p[j];
    predictions[j].per_reach[k] = per_reach[j];
  }
}

void
gst_ccl_tracker_predict (GstCclTracker *self, gdouble dt)
{
  const gdouble lost_damping = exp (-dt / LOST_DAMPING);
  const Vector2 damped = { lost_damping, lost_damping }, none = { 1.0, 1.0 };
  const Vector2 no_limit = { G_MAXDOUBLE, G_MAXDOUBLE };
  const Tracks *tracks = &self->tracks;
  guint i, j, k;

  for (i = 0; i < tracks->len; i += 2) {
    Prediction *predictions = &self->predictions[i];
    Vector2 width = vector2_load (&tracks->size[0][i]), height = vector2_load (&tracks->size[1][i]);
    Vector2 density = square (ACCELERATION) * width * height, side = (width + height) / 2.0;
    Vector2 most = vector2_select (vector2_load (&tracks->hits[i]) > 2.0, 2.0 * side, no_limit);
    Vector2 damping = vector2_select (vector2_load (&tracks->missed[i]) > 0.0, damped, none);

    for (k = 0; k < 2; k++)
      predict_two (tracks, i, k, dt, density, side, most, damping, predictions);
    for (j = 0; j < 2; j++) {
      predictions[j].area = width[j] * height[j];
      predictions[j].confidence = !tracks->id[i + j]            ? 0.6
                                  : tracks->missed[i + j] > 0.0 ? 0.9
                                                                : 1.0;
    }
  }
}

/* One direction of a track that is cut by the edge of the frame, or by another object. Returns the
 * share of the new size in the smoothed one. */
static gdouble
measure_cut_axis (GstCclTracker *self, guint track, const Blob *blob, guint k, gdouble variance,
                  gdouble share)
{
  const Tracks *tracks = &self->tracks;
  gdouble *size = &tracks->size[k][track], length = blob->high[k] - blob->low[k];
  gdouble low = blob->low[k] + *size / 2.0, high = blob->high[k] - *size / 2.0;
  gboolean low_cut = touches (self, blob, k, FALSE), high_cut = touches (self, blob, k, TRUE);

  if (low_cut != high_cut) {
    /* What enters or leaves the frame: the size is that of the whole object. */
    if (length >= *size) {
      *size = length;
      measure_axis (tracks, track, k, (blob->low[k] + blob->high[k]) / 2.0, variance);
    } else {
      measure_axis (tracks, track, k, low_cut ? high : low, variance);
    }
    return share;
  }
  if (length >= PARTIAL * *size && length <= *size / PARTIAL) {
    measure_axis (tracks, track, k, (blob->low[k] + blob->high[k]) / 2.0, variance);
  } else {
    /* The side that is where it was expected to be is the one to trust. */
    gdouble low_error = (low - tracks->p[k][track]) / *size;
    gdouble high_error = (high - tracks->p[k][track]) / *size;

    measure_axis (tracks, track, k, low, variance * (1.0 + square (low_error / 0.1)));
    measure_axis (tracks, track, k, high, variance * (1.0 + square (high_error / 0.1)));
    if (tracks->hits[track] >= self->params.min_persistence)
      share *= 0.5;
  }
  *size += share * (length - *size);

  return share;
}

/* Two tracks in one direction, as measure_axis() does, where the mask is set. Elsewhere the gains
 * are 0. */
static inline void
measure_two (const Tracks *tracks, guint i, guint k, Vector2 low, Vector2 high, Vector2 variance,
             Vector2 share, Mask2 mask)
{
  Vector2 p = vector2_load (&tracks->p[k][i]), v = vector2_load (&tracks->v[k][i]),
          pp = vector2_load (&tracks->pp[k][i]);
  Vector2 pv = vector2_load (&tracks->pv[k][i]), vv = vector2_load (&tracks->vv[k][i]);
  Vector2 size = vector2_load (&tracks->size[k][i]), total = pp + variance;
  Vector2 gain_p = vector2_and (pp / total, mask), gain_v = vector2_and (pv / total, mask);
  Vector2 innovation = (low + high) / 2.0 - p;

  /* Adding a gain of 0.0 would change -0.0. */
  vector2_store (&tracks->p[k][i], vector2_select (mask, p + gain_p * innovation, p));
  vector2_store (&tracks->v[k][i], vector2_select (mask, v + gain_v * innovation, v));
  vector2_store (&tracks->vv[k][i], vv - gain_v * pv);
  vector2_store (&tracks->pv[k][i], pv - gain_p * pv);
  vector2_store (&tracks->pp[k][i], pp - gain_p * pp);
  vector2_store (&tracks->size[k][i], size + share * (high - low - size));
}

/* Measures the tracks that have a detection for themselves, if that is neither cut by the edge of
 * the frame nor by another object. */
static void
measure_whole (const GstCclTracker *self, gdouble dt, gdouble alpha)
{
  /* Never whole: its sides are negative. */
  static const Blob none = { .low = { 0.0, 0.0 }, .high = { -1.0, -1.0 } };
  const Blob *blobs = (const Blob *) self->blobs->data;
  const Tracks *tracks = &self->tracks;
  const guint length[2] = { self->params.width, self->params.height };
  const Vector2 least_noise = { 0.5, 0.5 }, least_share = { alpha, alpha }, passed = { dt, dt };
  gdouble least[2], most[2];
  guint i, j, k;

  for (k = 0; k < 2; k++) {
    least[k] = length[k] ? 1.5 : -G_MAXDOUBLE;
    most[k] = length[k] ? length[k] - 1.5 : G_MAXDOUBLE;
  }

  for (i = 0; i < tracks->len; i += 2) {
    const Blob *found[2];
    Vector2 low[2], high[2], apart = vector2_load (&tracks->apart[i]),
                             area = vector2_load (&tracks->area[i]);
    Vector2 scale =
        vector2_sqrt (vector2_load (&tracks->size[0][i]) * vector2_load (&tracks->size[1][i]));
    Vector2 variance, share, found_area;
    Mask2 whole = { -1, -1 };

    for (j = 0; j < 2; j++) {
      const gint match = i + j < tracks->len ? tracks->match[i + j] : -1;

      found[j] = match >= 0 && blobs[match].members == 1 ? &blobs[match] : &none;
    }
    for (k = 0; k < 2; k++) {
      Vector2 size = vector2_load (&tracks->size[k][i]);

      low[k] = (Vector2){ found[0]->low[k], found[1]->low[k] };
      high[k] = (Vector2){ found[0]->high[k], found[1]->high[k] };
      whole = mask2_and (whole, mask2_and (low[k] > least[k], high[k] < most[k]));
      /* Without a division, so slightly stricter than PARTIAL in measure_cut_axis(), which
       * measures the rest. */
      whole = mask2_and (whole, mask2_and (high[k] - low[k] >= PARTIAL * size,
                                           (high[k] - low[k]) * (PARTIAL + 1e-9) <= size));
    }

    variance = vector2_max (MEASUREMENT_NOISE * scale, least_noise);
    variance *= variance;
    share = vector2_and (vector2_max (least_share, 1.0 / (vector2_load (&tracks->hits[i]) + 1.0)),
                         whole);
    for (k = 0; k < 2; k++)
      measure_two (tracks, i, k, low[k], high[k], variance, share, whole);
    found_area = (Vector2){ found[0]->area, found[1]->area };
    vector2_store (&tracks->area[i], area + share * (found_area - area));
    vector2_store (&tracks->apart[i], apart + vector2_and (passed, whole));
    *(Mask2 *) &tracks->seen[i] = whole;
    for (j = 0; j < 2; j++)
      tracks->partner[i + j] &= ~(guint) whole[j];
  }
}

static void
measure_cut (GstCclTracker *self, guint track, const Blob *blob, gdouble dt, gdouble alpha)
{
  const Tracks *tracks = &self->tracks;
  gdouble variance = square (MAX (MEASUREMENT_NOISE * get_scale (tracks, track), 0.5));
  gdouble share = MAX (alpha, 1.0 / (tracks->hits[track] + 1.0));
  guint k;

  for (k = 0; k < 2; k++)
    share = measure_cut_axis (self, track, blob, k, variance, share);
  tracks->area[track] += share * (blob->area - tracks->area[track]);
  tracks->apart[track] += dt;
  tracks->seen[track] = -1;
  tracks->partner[track] = 0;
}

void
gst_ccl_tracker_measure (GstCclTracker *self, gdouble dt)
{
  gdouble alpha = 1.0 - pow (1.0 - MIN (self->params.smooth_alpha, 0.9999), dt * SMOOTH_RATE);
  const Tracks *tracks = &self->tracks;
  guint i;

  measure_whole (self, dt, alpha);
  for (i = 0; i < tracks->len; i++) {
    const Blob *blob;

    if (tracks->seen[i] || tracks->match[i] < 0)
      continue;
    blob = get_blob (self, (guint) tracks->match[i]);
    if (blob->members == 1)
      measure_cut (self, i, blob, dt, alpha);
    else if (blob->first == (gint) i) /* the oldest member updates all */
      gst_ccl_tracker_update_group (self, blob, dt);
  }
}
