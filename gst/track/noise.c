/* cudaccl - tells components of objects from noise by their area
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Noise is small compared with the detections that make up most of the foreground. The typical area
 * is that of the component which the median pixel of the foreground belongs to: many specks do not
 * make it small, and where objects are small, so is the limit. */

#include "noise.h"

#include <string.h>

#define MIN_TYPICAL_SHARE 0.2 /* least share of the typical area that starts a track */
#define TYPICAL_TIME 5.0      /* s over which it is averaged: a frame may show noise alone */

void
gst_ccl_noise_reset (GstCclNoise *self)
{
  memset (self, 0, sizeof (*self));
}

/* The bin of an area of 1 or more. */
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

gdouble
gst_ccl_noise_update (GstCclNoise *self, const GArray *blobs, gdouble dt, gdouble limit)
{
  const gdouble decay = exp (-dt / TYPICAL_TIME);
  gdouble total = 0.0, sum = 0.0;
  guint i;

  if (limit <= 1.0)
    return 0.0;

  for (i = 0; i < N_AREA_BINS; i++)
    self->areas[i] *= decay;
  for (i = 0; i < blobs->len; i++) {
    const gdouble area = g_array_index (blobs, Blob, i).area;

    self->areas[get_area_bin (area)] += area;
  }
  for (i = 0; i < N_AREA_BINS; i++)
    total += self->areas[i];
  for (i = 0; i < N_AREA_BINS && sum < total / 2.0; i++)
    sum += self->areas[i];

  return MIN (limit, MIN_TYPICAL_SHARE * get_bin_area (i));
}
