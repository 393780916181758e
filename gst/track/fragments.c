/* cudaccl - finds the detections that are parts of a track
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fragments.h"

/* Share of a fragment inside of the box of its track: a limb may be outside. */
#define FRAGMENT_COVER 0.4

/* s until separate parts of a track are tracks: masks break for a frame or two. */
#define SPLIT_TIME 0.2

/* IoU of two boxes of a detector for one object. */
#define DOUBLE_IOU 0.7

static gint
compare_indices (gconstpointer a, gconstpointer b)
{
  const guint *p = a, *q = b;

  return (*p > *q) - (*p < *q);
}

/* The detections inside the box of a track that have no track, in raster order. */
static void
find_leftovers (GstCclScene *self, guint track)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  guint i;

  g_array_set_size (self->leftovers, 0);
  for (i = starts[track]; i < starts[track + 1]; i++) {
    const guint index = self->pairs.edges[i].column;
    const Blob *blob = get_blob (self, index);

    if (blob->members == 0 && blob->into < 0 &&
        self->pairs.common[i] >= FRAGMENT_COVER * get_area (&blob->box))
      g_array_append_val (self->leftovers, index);
  }
  if (self->leftovers->len > 1)
    g_array_sort (self->leftovers, compare_indices);
}

static void
unite (Blob *blob, const Blob *fragment, guint index)
{
  gdouble share = fragment->area / (blob->area + fragment->area);
  guint k;

  unite_boxes (&blob->box, &fragment->box);
  for (k = 0; k < 2; k++)
    blob->centroid[k] += share * (fragment->centroid[k] - blob->centroid[k]);
  blob->area += fragment->area;
  if (fragment->area > blob->largest_area) {
    blob->largest_area = fragment->area;
    blob->largest = (gint) index;
  }
}

/* Whether the union of a track's detection and a leftover is like the track. */
static gboolean
is_like (const Track *track, const Box *box, const Box *both)
{
  return get_iou (track, both) >= get_iou (track, box) - 0.02 &&
         get_length (both, 0) < 1.35 * track->size[0] &&
         get_length (both, 1) < 1.35 * track->size[1];
}

/* Whether two parts of a track look like objects rather than fragments: they are side by side, and
 * both about as high as the track. Parts one above the other belong together. */
static gboolean
is_separate (const Track *track, const Box *a, const Box *b)
{
  gdouble gap = MAX (a->low[0], b->low[0]) - MIN (a->high[0], b->high[0]);

  return gap >= 0.0 && MIN (get_length (a, 1), get_length (b, 1)) > 0.6 * track->size[1];
}

/* A box of a detector that is left over may be a second one of an object. */
static void
find_doubles (GstCclScene *self, guint track)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  const gint own = get_track (self, track)->blob;
  const Box *box = &get_blob (self, (guint) own)->box;
  guint i;

  for (i = starts[track]; i < starts[track + 1]; i++) {
    Blob *blob = get_blob (self, self->pairs.edges[i].column);

    if (blob->object && blob->members == 0 && blob->into < 0 &&
        get_boxes_iou (box, &blob->box) >= DOUBLE_IOU)
      blob->into = own;
  }
}

void
gst_ccl_scene_find_fragments (GstCclScene *self)
{
  guint i, j, k;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    gboolean split = FALSE;
    Blob *blob;

    if (track->blob < 0 || !track->id)
      continue;
    blob = get_blob (self, (guint) track->blob);
    if (blob->object) { /* boxes do not break */
      if (self->n_left > 0)
        find_doubles (self, i);
      continue;
    }
    if (self->n_left == 0) {
      track->split = 0.0;
      continue;
    }
    find_leftovers (self, i);

    for (j = 0; j < self->leftovers->len; j++) {
      const guint index = g_array_index (self->leftovers, guint, j);
      Blob *leftover = get_blob (self, index), both = *blob;

      unite (&both, leftover, index);
      if (!is_like (track, &blob->box, &both.box))
        continue;
      if (is_separate (track, &blob->box, &leftover->box)) {
        split = TRUE;
        if (track->split >= SPLIT_TIME) {
          for (k = 0; k < 2; k++)
            track->size[k] = get_length (&blob->box, k);
          continue;
        }
      }

      *blob = both;
      blob->fragmented = TRUE;
      leftover->into = track->blob;
    }
    track->split = split ? track->split + self->dt : 0.0;
  }
}
