/* cudaccl - a component after tracking
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltrackoutput.h"

#include <math.h>

void
gst_ccl_track_output_set_track (GstCclComponent *component, const GstCclTrackInfo *track)
{
  component->track = track->id;
  component->age = track->age;
  component->velocity_x = track->velocity_x;
  component->velocity_y = track->velocity_y;
  component->class_id = track->class_id;
  component->confidence = track->confidence;
}

gboolean
gst_ccl_track_output_set_box (GstCclComponent *component, const GstCclTrackInfo *track, guint width,
                              guint height)
{
  gdouble x1 = MAX (rint (track->x), 0.0), y1 = MAX (rint (track->y), 0.0);
  gdouble x2 = MIN (rint (track->x + track->width), width);
  gdouble y2 = MIN (rint (track->y + track->height), height);

  if (!(x1 < x2 && y1 < y2))
    return FALSE;

  component->x = (guint) x1;
  component->y = (guint) y1;
  component->width = (guint) (x2 - x1);
  component->height = (guint) (y2 - y1);
  component->centroid_x = track->centroid_x;
  component->centroid_y = track->centroid_y;
  /* Areas from other elements may not fit in an integer. */
  component->area = (guint64) CLAMP (rint (track->area), 1.0, 1e18);

  return TRUE;
}
