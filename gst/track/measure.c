/* cudaccl - corrects tracks by detections of their own
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "measure.h"

#include "groups.h"

/* Frame rate at which smooth-alpha is the weight of a new size; at other rates, sizes change as
 * much per second. */
#define SMOOTH_RATE 10.0

/* MEASUREMENT_NOISE of better boxes. */
#define BETTER_NOISE 0.04

/* Ratio of the length of a detection and a track beyond which one was cut or joined: objects do not
 * change that much in a frame. */
#define PARTIAL 0.75

/* Measures a track in one direction. Returns the weight of the new size: less than @share if the
 * detection is cut by another object. */
static gdouble
measure_axis (const GstCclScene *self, Track *track, const Blob *blob, guint k, gdouble variance,
              gdouble share, gboolean better)
{
  const Box *box = &blob->box;
  gdouble *size = &track->size[k], length = get_length (box, k), middle = get_middle (box, k);
  gdouble low = box->low[k] + *size / 2.0, high = box->high[k] - *size / 2.0;
  gboolean low_cut = blob->cut[k][0] || touches (self, box, k, FALSE);
  gboolean high_cut = blob->cut[k][1] || touches (self, box, k, TRUE);
  GstCclKalman *centre = &track->centre[k];

  if (low_cut != high_cut) {
    /* It enters or leaves the frame, or is behind another: the size is that of all of it. */
    gst_ccl_kalman_measure (centre, length >= *size ? middle : low_cut ? high : low, variance);
    *size = MAX (*size, length);
    return share;
  }
  if (better || (length >= PARTIAL * *size && length <= *size / PARTIAL)) {
    gst_ccl_kalman_measure (centre, middle, variance);
  } else {
    /* Trust the side that is where it was expected. */
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

void
gst_ccl_scene_measure (const GstCclScene *self, Track *track, const Blob *blob, gdouble share,
                       gboolean better)
{
  const gdouble noise = better ? BETTER_NOISE : MEASUREMENT_NOISE;
  const gdouble variance = square (MAX (noise * get_scale (track), 0.5));
  guint k;

  for (k = 0; k < 2; k++)
    share = measure_axis (self, track, blob, k, variance, share, better);
  track->area += share * (blob->area - track->area);
  track->seen = TRUE;
  track->alone = !blob->object;
  track->group.apart += self->dt;
  track->group.partner = 0;
}

gdouble
gst_ccl_measure_get_share (const Track *track, const Blob *blob, gdouble alpha)
{
  gdouble share = MAX (alpha, 1.0 / (track->hits + 1.0));

  /* Detectors tell sizes better than masks. */
  return blob->object ? MAX (share, alpha * (2.0 - alpha)) : share;
}

void
gst_ccl_scene_measure_all (GstCclScene *self)
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
      self->mode->measure (self, track, blob, alpha);
    else if (blob->first == (gint) i) /* the oldest member measures all */
      gst_ccl_scene_measure_group (self, blob);
  }
}
