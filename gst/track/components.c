/* cudaccl - the tracker's mode for frames that show all there is
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each frame brings all components of a mask, or all boxes of a detector. A track without one is
 * lost or hidden. */

#include "components.h"

#include "measure.h"

/* Sum of confidence that confirms a track: two boxes from 0.9 on, or three. */
#define EVIDENCE 1.8

static Rules
get_rules (G_GNUC_UNUSED const GstCclScene *scene, const Track *track)
{
  return (Rules){ .steady = track->known, .fading = track->missed > 0.0 };
}

static void
measure (const GstCclScene *scene, Track *track, const Blob *blob, gdouble alpha)
{
  gst_ccl_scene_measure (scene, track, blob, gst_ccl_measure_get_share (track, blob, alpha), FALSE);
}

/* Components are all that is known of their members. */
static void
get_offset (G_GNUC_UNUSED Track *track, G_GNUC_UNUSED const Box *box, G_GNUC_UNUSED guint k,
            gdouble offset[2])
{
  offset[0] = offset[1] = 0.0;
}

/* Components may be noise, so they must be found for some time, longer in front of what stands;
 * boxes of detectors must be confident. A frame lasts from the one before. */
static gboolean
is_certain (const GstCclScene *scene, const Track *track)
{
  const gdouble persistence = (gdouble) scene->params.min_persistence / GST_SECOND;

  if (track->waits > 0.0)
    return FALSE;

  return gst_ccl_scene_is_immediate (scene) || track->age + scene->dt >= persistence - 1e-6 ||
         (track->known && track->evidence >= EVIDENCE);
}

static gboolean
is_over (const GstCclScene *scene, const Track *track)
{
  if (!track->id)
    return track->missed > 1.5 * scene->dt;
  if (track->missed <= 0.0)
    return FALSE; /* frames at the same time */

  return track->missed > (gdouble) scene->params.max_miss / GST_SECOND ||
         gst_ccl_scene_has_left (scene, track);
}

static gboolean
is_shown (const GstCclScene *scene, const Track *track)
{
  if (!track->id)
    return FALSE;
  if (track->blob >= 0)
    return track->missed <= SHOW_MEMBER;

  return track->known && track->missed <= (track->hidden ? SHOW_HIDDEN : SHOW_LOST) &&
         !gst_ccl_scene_is_leaving (scene, track);
}

const GstCclTrackerMode gst_ccl_components_mode = {
  .get_rules = get_rules,
  .measure = measure,
  .get_offset = get_offset,
  .is_certain = is_certain,
  .is_over = is_over,
  .is_shown = is_shown,
};
