/* cudaccl - tracks objects from frame to frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame goes through these steps:
 *
 *  1. predict: a Kalman filter per axis with constant velocity (scene.c, kalman.c).
 *  2. pairs of a track and a detection near each other, found with a grid (pairs.c).
 *  3. match: the optimal assignment of tracks and detections, one to one (assignment.c).
 *  4. fragments: a detection that is left over inside the box of a track belongs to it
 *     (fragments.c).
 *  5. groups: a track that is left over inside a detection shares it with the track it was
 *     assigned to (groups.c). A group is nothing more than that: its members remain tracks, so that
 *     they are assigned to the parts when the detection splits.
 *  6. update: a detection measures the position of its track (measure.c); that of a group measures
 *     with each of its four sides only the members there (groups.c). What stood and has walked on
 *     goes on with its track (standing.c). Then tracks get ids, end and begin (scene.c).
 *
 * There are two modes, which answer the questions of GstCclTrackerMode: at first, each frame shows
 * all there is (components.c); from the first look on, a network knows some of it (looks.c).
 *
 * Distances are relative to the size of the object, and times are in seconds, so that neither the
 * resolution nor the frame rate matters. */

#include "tracker.h"

#include "appearance.h"

#include "components.h"
#include "fragments.h"
#include "groups.h"
#include "looks.h"
#include "measure.h"
#include "noise.h"
#include "standing.h"

#define DEFAULT_IOU_THRESHOLD 0.2
#define DEFAULT_MIN_PERSISTENCE (800 * GST_MSECOND)
#define DEFAULT_MAX_MISS (1500 * GST_MSECOND)
#define DEFAULT_SMOOTH_ALPHA 0.2
#define DEFAULT_MAX_TRACKS 1024
#define DEFAULT_MIN_AREA 0.0005
#define DEFAULT_MIN_CONFIDENCE 0.7

struct _GstCclTracker
{
  GstCclScene scene;
  GstCclNoise noise;
  GArray *out; /* GstCclTrackInfo */
};

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

  gst_ccl_scene_init (&self->scene);
  gst_ccl_appearance_init (&self->scene.appearance);
  gst_ccl_tracker_params_init (&self->scene.params);
  self->scene.mode = &gst_ccl_components_mode;
  self->scene.looks = gst_ccl_looks_new ();
  self->out = g_array_new (FALSE, TRUE, sizeof (GstCclTrackInfo));

  return self;
}

void
gst_ccl_tracker_free (GstCclTracker *self)
{
  gst_ccl_looks_free (self->scene.looks);
  gst_ccl_appearance_clear (&self->scene.appearance);
  gst_ccl_scene_clear (&self->scene);
  g_array_unref (self->out);
  g_free (self);
}

void
gst_ccl_tracker_set_params (GstCclTracker *self, const GstCclTrackerParams *params)
{
  GstCclScene *scene = &self->scene;
  guint i;

  scene->params = *params;
  scene->params.max_tracks = MAX (params->max_tracks, 1);
  for (i = scene->params.max_tracks; i < scene->tracks->len; i++)
    release_appearance (scene, get_track (scene, i));
  g_array_set_size (scene->tracks, MIN (scene->tracks->len, scene->params.max_tracks));
}

void
gst_ccl_tracker_reset (GstCclTracker *self)
{
  g_array_set_size (self->scene.tracks, 0);
  g_array_set_size (self->scene.standing, 0);
  g_array_set_size (self->out, 0);
  gst_ccl_appearance_reset (&self->scene.appearance);
  gst_ccl_noise_reset (&self->noise);
  gst_ccl_looks_reset (self->scene.looks);
  self->scene.mode = &gst_ccl_components_mode;
  self->scene.time = GST_CLOCK_TIME_NONE;
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
  const GstCclScene *scene = &self->scene;
  guint i;

  g_array_set_size (self->out, scene->tracks->len);
  for (i = 0; i < scene->tracks->len; i++) {
    GstCclTrackInfo *out = &g_array_index (self->out, GstCclTrackInfo, i);
    const Track *track = get_track (scene, i);
    const GstCclKalman *x = &track->centre[0], *y = &track->centre[1];
    const Blob *blob = track->blob >= 0 ? get_blob (scene, (guint) track->blob) : NULL;
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
    out->shown = scene->mode->is_shown (scene, track);
    out->known = track->known;
    out->class_id = gst_ccl_votes_get (&track->votes);
    out->confidence = track->trust;
  }
}

/* The oldest track of each detection, and of the one that it is a fragment of. */
static void
write_indices (const GstCclScene *scene, gint *indices)
{
  guint i;

  for (i = 0; i < scene->blobs->len; i++)
    indices[i] = -1;
  for (i = scene->tracks->len; i-- > 0;) {
    if (get_track (scene, i)->blob >= 0)
      indices[get_track (scene, i)->blob] = (gint) i;
  }
  for (i = 0; i < scene->blobs->len; i++) {
    if (get_blob (scene, i)->into >= 0)
      indices[i] = indices[get_blob (scene, i)->into];
  }
}

static void
advance (GstCclScene *scene, GstClockTime time)
{
  scene->dt = 0.0;
  if (GST_CLOCK_TIME_IS_VALID (scene->time) && time > scene->time)
    scene->dt = (gdouble) (time - scene->time) / GST_SECOND;
  scene->time = time;
}

static void
finish (GstCclTracker *self)
{
  GstCclScene *scene = &self->scene;

  if (scene->mode->end_frame)
    scene->mode->end_frame (scene);
  write_tracks (self);
}

void
gst_ccl_tracker_update (GstCclTracker *self, GstClockTime time, const GstCclDetection *detections,
                        guint n_detections, gint *indices)
{
  GstCclScene *scene = &self->scene;
  const GstCclTrackerParams *params = &scene->params;

  advance (scene, time);
  gst_ccl_scene_read (scene, detections, n_detections);
  scene->min_area = gst_ccl_noise_update (&self->noise, scene->blobs, scene->dt,
                                          params->min_area * params->width * params->height);

  gst_ccl_scene_predict (scene);
  gst_ccl_scene_find_pairs (scene, NOISE_SHARE * scene->min_area);
  gst_ccl_scene_compare_appearance (scene);
  gst_ccl_scene_match (scene);
  gst_ccl_scene_find_fragments (scene);
  gst_ccl_scene_find_groups (scene);
  gst_ccl_scene_measure_all (scene);
  gst_ccl_scene_learn_appearance (scene);
  gst_ccl_scene_resume (scene);
  gst_ccl_scene_age (scene);
  gst_ccl_scene_add (scene);

  finish (self);
  write_indices (scene, indices);
}

void
gst_ccl_tracker_skip (GstCclTracker *self, GstClockTime time)
{
  GstCclScene *scene = &self->scene;

  advance (scene, time);
  gst_ccl_scene_read (scene, NULL, 0);
  gst_ccl_scene_predict (scene);
  gst_ccl_scene_age (scene);
  finish (self);
}

void
gst_ccl_tracker_look (GstCclTracker *self, GstClockTime time, const GstCclDetection *boxes,
                      guint n_boxes, const GstCclLook *parts, guint n_parts)
{
  self->scene.mode = &gst_ccl_looks_mode;
  gst_ccl_looks_apply (&self->scene, time, boxes, n_boxes, parts, n_parts);
}

gboolean
gst_ccl_tracker_is_looking (const GstCclTracker *self)
{
  return self->scene.mode == &gst_ccl_looks_mode;
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
  return self->scene.exceeded;
}

guint64
gst_ccl_tracker_get_crowded (const GstCclTracker *self)
{
  return self->scene.crowded;
}
