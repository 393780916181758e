/* cudaccl - the tracker's mode for a network that looks at some frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A network takes its time: its boxes belong to a past frame. Tracks go back to where they were
 * then, get the boxes, and come back with the difference.
 *
 * In between, components carry the known tracks, those that the network has found, if they are
 * objects, or if looks are far apart: not where people stand so near that components are groups.
 * Otherwise predictions are better than components that break and merge: one that was like
 * the track's box in the frame of a look only shows how it moves. Tracks that the network does not
 * know follow the rules of components. */

#include "looks.h"

#include "boxes.h"
#include "carrier.h"
#include "components.h"
#include "fragments.h"
#include "measure.h"
#include "past.h"

#include <string.h>

/* Time between looks, in s. */
#define FIRST_GAP 1.0   /* assumed before the second look */
#define LONGEST_GAP 5.0 /* most that counts: a pause is not the usual gap */
#define GAP_SHARE 0.3   /* weight of a new gap in the running mean: the load of networks changes */
#define SELDOM_GAP 0.12 /* from here on one box confirms a track: the next is long in coming */
#define CARRIED_GAP 0.4 /* from here on predictions are wrong, and components carry tracks */

/* Gaps that a track lives without being found: the next look may be late. */
#define LOOK_GAPS 1.5

/* Largest time between the frame of a look and the past frame whose places count. */
#define SAME_FRAME (50 * GST_MSECOND)

/* Weight of a new size if looks come at this rate, per s; at other rates, sizes change as much per
 * second. */
#define LOOK_ALPHA 0.6
#define LOOK_RATE 20.0

/* Share of the score of unknown tracks: boxes are for known ones first. */
#define NEW_WEIGHT 0.3

/* Share of a track's box that was looked at if the network denies it. */
#define LOOK_COVER 0.8

/* Weight of a box that is measured where a component shows the track better. */
#define ALONE_SHARE 0.3

/* Sizes from its origin at which a track has moved, rather than jittered. */
#define TRAVEL 0.4

/* Things that never moved are doubtful below this mean confidence, after this time in s: what moves
 * has moved by then. */
#define LEAST_BELIEF 0.65
#define DOUBT_TIME 0.5

/* Mean confidence from which on tracks are shown although a look denied them. */
#define LOST_BELIEF 0.5

/* Mean IoU of boxes and components from which on components are shown although a look denied them:
 * below, as in crowds, they are not objects. */
#define UNKNOWN_FIT 0.7

/* Components are groups if less than half of the boxes have one of their own, or, where components
 * reach over half of the picture most of the time, less than most: what is so near covers others.
 */
#define GROUPS_OWN 0.5
#define CLEAR_OWN 0.7
#define NEAR_SHARE 0.5

/* Where looks are not far apart, predictions are good. Components must be better: almost never
 * near. */
#define CLEAR_NEAR 0.1
#define NEAR_LENGTH 0.5
#define NEAR_TIME 2.0 /* s of the running mean */

/* Share of the smaller one of two boxes that makes a component a known object. */
#define EXPLAINED 0.3

struct _GstCclLooks
{
  GstCclPast past;
  GstClockTime last;
  guint n;     /* number of looks at different times */
  gdouble gap; /* s from look to look, running mean */
  GstCclLikeness likeness;
  gdouble near;     /* share of the time with a component over half of the picture, likewise */
  GArray *journeys; /* Journey: of each track, during a look */
};

/* The way of a track since the frame of a look. */
typedef struct
{
  gdouble moved[2];
  gdouble speed[2]; /* before the look */
  gboolean seen;    /* not only predicted */
} Journey;

GstCclLooks *
gst_ccl_looks_new (void)
{
  GstCclLooks *self = g_new0 (GstCclLooks, 1);

  gst_ccl_past_init (&self->past);
  self->journeys = g_array_new (FALSE, FALSE, sizeof (Journey));
  gst_ccl_looks_reset (self);

  return self;
}

void
gst_ccl_looks_free (GstCclLooks *self)
{
  gst_ccl_past_clear (&self->past);
  g_array_unref (self->journeys);
  g_free (self);
}

void
gst_ccl_looks_reset (GstCclLooks *self)
{
  gst_ccl_past_clear (&self->past);
  self->last = GST_CLOCK_TIME_NONE;
  self->n = 0;
  self->gap = FIRST_GAP;
  gst_ccl_likeness_init (&self->likeness);
  self->near = 0.0;
}

/* Whether looks are so far apart that each box counts. */
static gboolean
is_seldom (const GstCclLooks *self)
{
  return self->n > 1 && self->gap > SELDOM_GAP;
}

/* Whether components are groups of objects: they say whether something is there, not where it ends.
 */
static gboolean
has_groups (const GstCclLooks *self)
{
  return self->likeness.own < (self->near > NEAR_SHARE ? CLEAR_OWN : GROUPS_OWN);
}

/* Whether components carry known tracks between looks, rather than predictions. */
static gboolean
is_carried (const GstCclLooks *self)
{
  if (self->gap < CARRIED_GAP)
    return self->likeness.own >= CLEAR_OWN && self->near < CLEAR_NEAR;

  return !has_groups (self);
}

/* Between looks */

static Rules
get_rules (const GstCclScene *scene, const Track *track)
{
  const gboolean guided = track->known && !is_carried (scene->looks);

  return (Rules){ .steady = guided,
                  .fading = track->missed > 0.0 && !(track->known && track->look.denied == 0),
                  .sized = track->known,
                  .guided = guided };
}

static void
measure (const GstCclScene *scene, Track *track, const Blob *blob, gdouble alpha)
{
  gdouble share;

  if (!blob->object && track->rules.guided) {
    track->seen = gst_ccl_carrier_move (track, blob);
    return;
  }
  share = gst_ccl_measure_get_share (track, blob, alpha);
  if (!blob->object && track->known && blob->owner < 0)
    share = 0.0; /* the track joined it: a component of several objects, or of none */
  gst_ccl_scene_measure (scene, track, blob, share, FALSE);
  if (!blob->object) { /* its sides are those of the component */
    memset (track->look.offset, 0, sizeof (track->look.offset));
    track->look.held = FALSE;
  }
}

static gboolean
is_certain (const GstCclScene *scene, const Track *track)
{
  return gst_ccl_components_mode.is_certain (scene, track) ||
         (track->known && is_seldom (scene->looks));
}

static gboolean
is_over (const GstCclScene *scene, const Track *track)
{
  const gdouble max_miss = (gdouble) scene->params.max_miss / GST_SECOND;
  const gdouble patience = LOOK_GAPS * scene->looks->gap;

  if (!track->known)
    return gst_ccl_components_mode.is_over (scene, track);
  if (!track->id)
    return track->look.denied > 0 || track->missed > patience;
  if (track->missed <= 0.0)
    return FALSE; /* frames at the same time */

  return track->missed > MAX (max_miss, patience) || gst_ccl_scene_has_left (scene, track);
}

/* Networks take mannequins, posters and lampposts for people, but are less certain of them; and
 * those never move. */
static gboolean
is_doubtful_thing (const Track *track)
{
  return !track->look.travelled && track->belief < LEAST_BELIEF &&
         track->age - track->found > DOUBT_TIME;
}

static gboolean
is_known_shown (const GstCclScene *scene, const Track *track)
{
  gdouble most = SHOW_LOST;

  if (track->blob >= 0 && is_carried (scene->looks) && scene->looks->gap >= CARRIED_GAP)
    return track->missed <= SHOW_MEMBER;
  if (is_doubtful_thing (track))
    return FALSE;
  if (track->look.denied == 0)
    return track->unfound <= MAX (most, LOOK_GAPS * scene->looks->gap);

  if (track->belief < LOST_BELIEF)
    return FALSE;
  if (track->look.behind || track->missed <= 0.0)
    most = SHOW_HIDDEN;

  return track->unfound <= most && !gst_ccl_scene_is_leaving (scene, track);
}

/* Whether a component is something that the network knows: their boxes overlap. */
static gboolean
is_explained (const GstCclScene *scene, const Track *track, guint most)
{
  guint i;

  for (i = 0; i < scene->tracks->len && most > 0; i++) {
    const Track *other = get_track (scene, i);
    gdouble least = MIN (get_area (&track->box), get_area (&other->box));

    if (!other->known || !other->id)
      continue;
    most--;
    if (get_common (&track->box, &other->box) > EXPLAINED * least)
      return TRUE;
  }

  return FALSE;
}

/* Where components are not what the network finds, such as in crowds, they are shown until it has
 * looked; groups are not. */
static gboolean
is_unknown_shown (const GstCclScene *scene, const Track *track)
{
  return track->blob >= 0 && track->missed <= SHOW_MEMBER && !has_groups (scene->looks) &&
         (track->look.denied == 0 || scene->looks->likeness.fit >= UNKNOWN_FIT) &&
         !is_explained (scene, track, MOST_TESTS / scene->tracks->len);
}

static gboolean
is_shown (const GstCclScene *scene, const Track *track)
{
  if (!track->id)
    return FALSE;

  return track->known ? is_known_shown (scene, track) : is_unknown_shown (scene, track);
}

/* Counts the time in which components reach over half of the picture. */
static void
count_near (GstCclScene *scene)
{
  const gdouble most[2] = { NEAR_LENGTH * scene->params.width, NEAR_LENGTH * scene->params.height };
  gdouble *near = &scene->looks->near;
  gboolean is_near = FALSE;
  guint i, k;

  for (i = 0; i < scene->blobs->len && !is_near; i++) {
    const Blob *blob = get_blob (scene, i);

    for (k = 0; k < 2; k++)
      is_near |= !blob->object && most[k] > 0.0 && get_length (&blob->box, k) > most[k];
  }
  *near += (1.0 - exp (-scene->dt / NEAR_TIME)) * (is_near - *near);
}

static void
end_frame (GstCclScene *scene)
{
  guint i;

  count_near (scene);
  for (i = 0; i < scene->tracks->len; i++)
    get_track (scene, i)->look.fresh = FALSE;
  gst_ccl_past_keep (&scene->looks->past, scene->time, scene->tracks, scene->blobs);
}

const GstCclTrackerMode gst_ccl_looks_mode = {
  .get_rules = get_rules,
  .measure = measure,
  .get_offset = gst_ccl_carrier_get_offset,
  .is_certain = is_certain,
  .is_over = is_over,
  .is_shown = is_shown,
  .end_frame = end_frame,
};

/* A look */

static void
count_look (GstCclLooks *self, GstClockTime time)
{
  if (self->n > 0 && time > self->last) {
    gdouble gap = MIN ((gdouble) (time - self->last) / GST_SECOND, LONGEST_GAP);

    self->gap += (self->n > 1 ? GAP_SHARE : 1.0) * (gap - self->gap);
  }
  self->n += self->n == 0 || time > self->last;
  self->last = time;
}

/* Tracks go back to where they were at @time, @age seconds ago. */
static void
go_back (GstCclScene *scene, GstClockTime time, gdouble age)
{
  const PastFrame *past = gst_ccl_past_find (&scene->looks->past, time, SAME_FRAME);
  const gdouble rest = past ? (gdouble) GST_CLOCK_DIFF (time, past->time) / GST_SECOND : age;
  GArray *journeys = scene->looks->journeys;
  guint i, k, j = 0;

  g_array_set_size (journeys, scene->tracks->len);
  for (i = 0; i < scene->tracks->len; i++) {
    Journey *journey = &g_array_index (journeys, Journey, i);
    Track *track = get_track (scene, i);
    gboolean found;

    while (past && j < past->n && past->places[j].serial < track->serial)
      j++;
    found = past && j < past->n && past->places[j].serial == track->serial;
    journey->seen = track->missed <= 0.0;
    for (k = 0; k < 2; k++) {
      GstCclKalman *centre = &track->centre[k];

      journey->moved[k] = centre->velocity * (found ? rest : age);
      if (found)
        journey->moved[k] += centre->position - past->places[j].centre[k];
      journey->speed[k] = centre->velocity;
      centre->position -= journey->moved[k];
    }
  }
}

/* Tracks that were only predicted since then moved at the wrong speed. */
static void
come_back (GstCclScene *scene, gdouble age)
{
  const GArray *journeys = scene->looks->journeys;
  guint i, k;

  for (i = 0; i < journeys->len; i++) {
    const Journey *journey = &g_array_index (journeys, Journey, i);

    for (k = 0; k < 2; k++) {
      GstCclKalman *centre = &get_track (scene, i)->centre[k];

      centre->position += journey->moved[k];
      if (!journey->seen)
        centre->position += age * (centre->velocity - journey->speed[k]);
    }
  }
}

static gboolean
was_looked_at (const GstCclScene *scene, const Track *track, const GstCclLook *parts, guint n)
{
  const Box frame = { { 0.0, 0.0 }, { scene->params.width, scene->params.height } };
  const gdouble area =
      scene->params.width ? get_common (&frame, &track->box) : get_area (&track->box);
  guint i;

  for (i = 0; i < n; i++) {
    const Box part = { { parts[i].x, parts[i].y },
                       { parts[i].x + parts[i].width, parts[i].y + parts[i].height } };

    if (get_common (&part, &track->box) >= LOOK_COVER * area)
      return TRUE;
  }

  return FALSE;
}

/* Whether a box of another track is in front of a track. */
static gboolean
is_behind (const GstCclScene *scene, guint index)
{
  const guint *starts = (const guint *) scene->pairs.starts->data;
  const Track *track = get_track (scene, index);
  guint i;

  for (i = starts[index]; i < starts[index + 1]; i++) {
    if (get_blob (scene, scene->pairs.edges[i].column)->owner >= 0 &&
        scene->pairs.common[i] >= HIDDEN_COVER * get_area (&track->box))
      return TRUE;
  }

  return FALSE;
}

static void
deny_unfound (GstCclScene *scene, const GstCclLook *parts, guint n_parts)
{
  guint i;

  for (i = 0; i < scene->tracks->len; i++) {
    Track *track = get_track (scene, i);

    if (track->blob >= 0) {
      track->look.denied = 0;
      track->look.behind = FALSE;
    } else if (was_looked_at (scene, track, parts, n_parts)) {
      track->look.denied++;
      track->look.behind = is_behind (scene, i);
    }
  }
}

/* The box of a track as it is measured: close to the track if a component shows it better. */
static Blob
weigh (const GstCclScene *scene, const Track *track)
{
  Blob result = *get_blob (scene, (guint) track->blob);
  guint k;

  if (!track->known || !track->alone || !is_carried (scene->looks))
    return result;

  for (k = 0; k < 2; k++) {
    gdouble middle = track->centre[k].position, length = track->size[k];

    middle += ALONE_SHARE * (get_middle (&result.box, k) - middle);
    length += ALONE_SHARE * (get_length (&result.box, k) - length);
    result.box.low[k] = middle - length / 2.0;
    result.box.high[k] = middle + length / 2.0;
  }

  return result;
}

static void
measure_box (const GstCclScene *scene, Track *track, const Blob *blob, gdouble age)
{
  const gdouble gap = MAX (track->unfound - age, 0.0);
  const gdouble alpha = 1.0 - pow (1.0 - LOOK_ALPHA, gap * LOOK_RATE);
  const gdouble share = gst_ccl_measure_get_share (track, blob, alpha);
  const gboolean long_predicted = is_seldom (scene->looks) && !is_carried (scene->looks);
  gdouble way[2];
  guint k;

  if (!track->known) {
    /* Until now, it may have been a part, or several objects. */
    for (k = 0; k < 2; k++) {
      track->size[k] = get_length (&blob->box, k);
      track->centre[k].position = track->origin[k] = get_middle (&blob->box, k);
    }
  }
  gst_ccl_scene_measure (scene, track, blob, share, long_predicted);
  for (k = 0; k < 2; k++)
    way[k] = track->centre[k].position - track->origin[k];
  track->look.travelled |= hypot (way[0], way[1]) > TRAVEL * get_scale (track);
}

/* A look at a frame @age seconds ago found a track. */
static void
find (GstCclScene *scene, Track *track, gdouble age)
{
  const Blob blob = weigh (scene, track);

  measure_box (scene, track, &blob, age);
  track->hits++;
  track->missed = 0.0;
  track->unfound = age;
  track->look.fresh = TRUE;
  track->look.held &= age > 0.0; /* it may have turned since an earlier frame */
  gst_ccl_scene_classify (scene, track, &blob);
}

void
gst_ccl_looks_apply (GstCclScene *scene, GstClockTime time, const GstCclDetection *boxes,
                     guint n_boxes, const GstCclLook *parts, guint n_parts)
{
  const gdouble age = (gdouble) GST_CLOCK_DIFF (time, scene->time) / GST_SECOND;
  guint n, i;

  count_look (scene->looks, time);
  scene->dt = 0.0;
  go_back (scene, time, age);
  gst_ccl_scene_read (scene, boxes, n_boxes);
  gst_ccl_boxes_compare (scene->blobs,
                         gst_ccl_past_find (&scene->looks->past, time, LONGEST_PAST * GST_SECOND),
                         scene->params.min_confidence, &scene->looks->likeness);
  gst_ccl_scene_expect (scene);
  n = scene->tracks->len;
  for (i = 0; i < n; i++)
    get_track (scene, i)->confidence *= get_track (scene, i)->known ? 1.0 : NEW_WEIGHT;
  gst_ccl_scene_find_pairs (scene, 0.0);
  gst_ccl_scene_match (scene);
  gst_ccl_scene_find_fragments (scene);
  deny_unfound (scene, parts, n_parts);
  for (i = 0; i < n; i++) {
    if (get_track (scene, i)->blob >= 0)
      find (scene, get_track (scene, i), age);
  }
  gst_ccl_scene_add (scene);
  come_back (scene, age);
}
