/* cudaccl - tracks of objects that stand, and walk on
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A standing object keeps a detection at its place until it has certainly left. By then it has been
 * detected beside that place, and has a second track. Once the place is empty, the first track
 * takes over the second one. */

#include "standing.h"

/* s that an object may need to leave its place, and that another one waits in front of it. */
#define LONGEST 5.0

/* Objects that walk on in a frame: looking for them takes time. */
#define MOST_RESUMED 64

/* The track of what has come from the place of one that stood, the most similar one, or NULL. */
static Track *
find_heir (const GstCclScene *self, const Track *track)
{
  Track *heir = NULL;
  gdouble best = LEAST_LIKENESS;
  guint i;

  for (i = 0; i < self->tracks->len; i++) {
    Track *other = get_track (self, i);
    const gdouble likeness = get_likeness (track->area, other->area);

    if (other == track || other->stands || other->age > LONGEST + STANDING_TIME ||
        other->blob < 0 || !other->seen || get_blob (self, (guint) other->blob)->members != 1 ||
        likeness < best || !is_at (&track->box, other->origin))
      continue;
    best = likeness;
    heir = other;
  }

  return heir;
}

/* Moves a track to where its heir is, which ends. */
static void
take_over (Track *track, Track *heir)
{
  guint k;

  for (k = 0; k < 2; k++) {
    track->centre[k] = heir->centre[k];
    track->size[k] = heir->size[k];
  }
  track->area = heir->area;
  track->box = heir->box;
  track->blob = heir->blob;
  track->alone = heir->alone;
  track->seen = TRUE;
  track->over = FALSE;
  track->group = heir->group;
  heir->blob = -1;
  heir->seen = FALSE;
  heir->over = TRUE;
}

/* A track that came from the place of one that stands, and has become about as large, waits for its
 * id as long as it is there, and a while longer. */
static void
wait_for_standing (const GstCclScene *self, Track *track)
{
  guint i;

  track->waits -= MIN (track->waits, self->dt);
  for (i = 0; i < self->standing->len && track->age < LONGEST; i++) {
    const Track *other = &g_array_index (self->standing, Track, i);

    if (is_at (&other->box, track->origin) && get_common (&other->box, &track->box) > 0.0 &&
        get_likeness (other->area, track->area) >= LEAST_LIKENESS)
      track->waits = STANDING_TIME;
  }
}

void
gst_ccl_scene_resume (GstCclScene *self)
{
  guint n = 0, i;

  g_array_set_size (self->standing, 0);
  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i), *heir;
    const Blob *blob = track->blob >= 0 ? get_blob (self, (guint) track->blob) : NULL;

    if (blob && blob->members == 1) {
      track->stands = blob->stands;
    } else if (track->stands && track->id && n++ < MOST_RESUMED) {
      heir = find_heir (self, track);
      if (heir)
        take_over (track, heir);
      track->stands = !heir;
    }
    if (track->stands && self->standing->len < MOST_STANDING)
      g_array_append_val (self->standing, *track);
  }
  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);

    if (!track->id && !track->stands && (self->standing->len > 0 || track->waits > 0.0))
      wait_for_standing (self, track);
  }
}
