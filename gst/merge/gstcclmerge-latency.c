/* cudaccl - cclmerge: how late the components of a live branch are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmerge-latency.h"

#define MIN_FRAMES 4

void
gst_ccl_lateness_reset (GstCclLateness *self)
{
  self->n = self->next = 0;
}

void
gst_ccl_lateness_add (GstCclLateness *self, GstClockTimeDiff time)
{
  self->times[self->next] = time;
  self->next = (self->next + 1) % G_N_ELEMENTS (self->times);
  self->n = MIN (self->n + 1, G_N_ELEMENTS (self->times));
}

GstClockTimeDiff
gst_ccl_lateness_get_last (const GstCclLateness *self)
{
  if (self->n == 0)
    return 0;

  return self->times[(self->next + G_N_ELEMENTS (self->times) - 1) % G_N_ELEMENTS (self->times)];
}

GstClockTimeDiff
gst_ccl_lateness_get_usual (const GstCclLateness *self)
{
  GstClockTimeDiff largest = G_MININT64, second = G_MININT64;
  guint i;

  if (self->n < MIN_FRAMES)
    return 0;

  for (i = 0; i < self->n; i++) {
    GstClockTimeDiff time = self->times[i];

    if (time > largest) {
      second = largest;
      largest = time;
    } else if (time > second) {
      second = time;
    }
  }

  return second;
}

GstClockTime
gst_ccl_lateness_get_missing (const GstCclLateness *self, GstClockTime latency, GstClockTime step)
{
  GstClockTimeDiff usual = gst_ccl_lateness_get_usual (self);
  GstClockTime needed = (GstClockTime) MAX (usual, 0);

  return needed > latency ? ((needed - latency) / step + 1) * step : 0;
}
