/* cudaccl - what tracks look like
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Detections may have signatures, histograms of their colours. A track has a running mean of them,
 * as square roots of shares: their scalar product with those of a detection is the likeness. Noise
 * and blur make everything alike, so what counts is where a likeness is between that of different
 * objects and that of the same one, which the scene measures.
 *
 * Motion decides where objects are apart. Where they meet, part or come back, several detections
 * are near the places that are expected; then looks decide. */

#include "appearance.h"

#include <string.h>

/* Weight of looks in the score of a pair: as much as half of an overlap. */
#define WEIGHT 0.4f

/* Time constant of the running mean, in s, and how often it is updated: turning round changes what
 * an object looks like. */
#define LEARNING_TIME 2.0
#define LEARNING_INTERVAL 0.095

/* Least weight of a signature that is not like the track at all: it may be another object that has
 * taken its detection. */
#define LEAST_TRUST 0.1f

/* Ratio of the length of a detection and a track beyond which one was cut or joined. */
#define PARTIAL 0.75

/* Share of a box of a detector that another one covers if it also shows that. */
#define COVERED 0.1

/* Likeness of the same and of different objects, assumed at first, their least difference, and the
 * weight of a new one in the running means. */
#define FIRST_SAME 0.96f
#define FIRST_OTHER 0.8f
#define LEAST_DIFFERENCE 0.02f
#define LIKENESS_SHARE 0.01f

/* Signatures after which a track is known well enough for these means. */
#define KNOWN 4

/* Most candidates of a track that are compared. */
#define MOST_COMPARED 16

typedef gfloat V4 __attribute__ ((vector_size (16)));

void
gst_ccl_appearance_init (GstCclAppearance *self)
{
  guint i;

  /* Of all six histograms, whose shares are of 255, the squares sum up to 1. */
  for (i = 0; i < G_N_ELEMENTS (self->roots); i++)
    self->roots[i] = sqrtf ((gfloat) i / (6.0f * 255.0f));
  self->tracks = g_array_new (FALSE, FALSE, sizeof (GstCclLooksLike));
  self->places = g_array_new (FALSE, FALSE, sizeof (guint));
  self->blobs = g_array_new (FALSE, FALSE, sizeof (GstCclLooksLike));
  gst_ccl_appearance_reset (self);
}

void
gst_ccl_appearance_clear (GstCclAppearance *self)
{
  g_array_unref (self->tracks);
  g_array_unref (self->places);
  g_array_unref (self->blobs);
}

void
gst_ccl_appearance_reset (GstCclAppearance *self)
{
  g_array_set_size (self->tracks, 0);
  g_array_set_size (self->places, 0);
  self->same = FIRST_SAME;
  self->other = FIRST_OTHER;
}

/* Of a track that has learned what it looks like. */
static gfloat *
get_roots (const GstCclScene *self, const Track *track)
{
  return g_array_index (self->appearance.tracks, GstCclLooksLike, track->appearance.place - 1)
      .roots;
}

/* Of a detection that has a signature. They are computed when they are needed first. */
static const gfloat *
get_blob_roots (GstCclScene *self, Blob *blob)
{
  GArray *blobs = self->appearance.blobs;
  gfloat *roots;
  guint i;

  if (blob->like == 0) {
    g_array_set_size (blobs, blobs->len + 1);
    blob->like = blobs->len;
    roots = g_array_index (blobs, GstCclLooksLike, blob->like - 1).roots;
    for (i = 0; i < GST_CCL_SIGNATURE; i++)
      roots[i] = self->appearance.roots[blob->signature[i]];
  }

  return g_array_index (blobs, GstCclLooksLike, blob->like - 1).roots;
}

static gfloat
multiply (const gfloat a[GST_CCL_SIGNATURE], const gfloat b[GST_CCL_SIGNATURE])
{
  V4 sum = { 0.0f, 0.0f, 0.0f, 0.0f };
  guint i;

  for (i = 0; i < GST_CCL_SIGNATURE; i += 4) {
    V4 p, q;

    memcpy (&p, a + i, sizeof (p));
    memcpy (&q, b + i, sizeof (q));
    sum += p * q;
  }

  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* 0: as unlike as different objects, or more so; 1: as like as the same one. */
static gfloat
get_likeness_of (const GstCclScene *self, gfloat product)
{
  const GstCclAppearance *means = &self->appearance;
  const gfloat difference = MAX (means->same - means->other, LEAST_DIFFERENCE);

  return CLAMP ((product - means->other) / difference, 0.0f, 1.0f);
}

/* Whether the box of a detector shows another object, too: one near @track covers a part of it. */
static gboolean
is_covered (const GstCclScene *self, guint track, const Blob *blob)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  const gdouble most = COVERED * get_area (&blob->box);
  guint i;

  if (!blob->object)
    return FALSE;

  for (i = starts[track]; i < starts[track + 1]; i++) {
    const Blob *other = get_blob (self, self->pairs.edges[i].column);

    if (other != blob && other->object && get_common (&other->box, &blob->box) > most)
      return TRUE;
  }

  return FALSE;
}

/* Looks could not make a candidate with a lower score the best one. */
static gfloat
get_least_score (const GstCclAssignmentEdge *edges, guint n)
{
  gfloat best = 0.0f;
  guint i;

  for (i = 0; i < n; i++)
    best = MAX (best, edges[i].score);

  return MAX (best - WEIGHT, 0.0f);
}

/* Scores are relative to the mean of the candidates': a single one gains and loses nothing. */
static void
compare_track (GstCclScene *self, guint index)
{
  const guint *starts = (const guint *) self->pairs.starts->data;
  GstCclAssignmentEdge *edges = &self->pairs.edges[starts[index]];
  const guint n = starts[index + 1] - starts[index];
  gfloat likeness[MOST_COMPARED], mean = 0.0f, least;
  const Track *track = get_track (self, index);
  guint compared[MOST_COMPARED], n_compared = 0, n_near = 0, i;

  if (track->appearance.place == 0 || n < 2)
    return;

  least = get_least_score (edges, n);
  for (i = 0; i < n; i++)
    n_near += edges[i].score >= least;
  if (n_near < 2 || n_near > MOST_COMPARED)
    return;

  for (i = 0; i < n; i++) {
    Blob *blob = get_blob (self, edges[i].column);

    if (edges[i].score < least || !blob->signature || is_covered (self, index, blob))
      continue;
    likeness[n_compared] =
        get_likeness_of (self, multiply (get_roots (self, track), get_blob_roots (self, blob)));
    mean += likeness[n_compared];
    compared[n_compared++] = i;
  }
  if (n_compared < 2)
    return;

  mean /= (gfloat) n_compared;
  for (i = 0; i < n_compared; i++) {
    gfloat *score = &edges[compared[i]].score;

    *score = CLAMP (*score + WEIGHT * (likeness[i] - mean), 0.0f, 1.0f);
  }
}

void
gst_ccl_scene_compare_appearance (GstCclScene *self)
{
  guint i;

  g_array_set_size (self->appearance.blobs, 0);
  if (!self->has_signatures)
    return;

  for (i = 0; i < self->tracks->len; i++)
    compare_track (self, i);
}

/* Whether a detection shows all of a track, and nothing else. */
static gboolean
is_clear (const GstCclScene *self, guint index)
{
  const Track *track = get_track (self, index);
  const Blob *blob = track->blob >= 0 ? get_blob (self, (guint) track->blob) : NULL;
  guint k;

  if (!blob || !blob->signature || !track->seen || blob->members != 1 || blob->fragmented)
    return FALSE;

  for (k = 0; k < 2; k++) {
    const gdouble length = get_length (&blob->box, k);

    if (length < PARTIAL * track->size[k] || length > track->size[k] / PARTIAL ||
        touches (self, &blob->box, k, FALSE) || touches (self, &blob->box, k, TRUE))
      return FALSE;
  }

  return !is_covered (self, index, blob);
}

/* Measures how alike the same object is, and another one, @before. */
static gfloat
measure_likeness (GstCclScene *self, const Track *track, const Track *before, const gfloat *roots)
{
  GstCclAppearance *means = &self->appearance;
  const gfloat product = multiply (get_roots (self, track), roots);

  means->same += LIKENESS_SHARE * (product - means->same);
  if (before)
    means->other += LIKENESS_SHARE * (multiply (get_roots (self, before), roots) - means->other);

  return MAX (get_likeness_of (self, product), LEAST_TRUST);
}

static void
find_place (GstCclAppearance *self, Track *track)
{
  const guint n = self->places->len;

  if (n > 0) {
    track->appearance.place = g_array_index (self->places, guint, n - 1);
    g_array_set_size (self->places, n - 1);
  } else {
    g_array_set_size (self->tracks, self->tracks->len + 1);
    track->appearance.place = self->tracks->len;
  }
  memset (&g_array_index (self->tracks, GstCclLooksLike, track->appearance.place - 1), 0,
          sizeof (GstCclLooksLike));
}

static void
learn (GstCclScene *self, Track *track, const gfloat *roots, gfloat share)
{
  gfloat *own, length;
  guint i;

  if (track->appearance.place == 0)
    find_place (&self->appearance, track);
  own = get_roots (self, track);
  for (i = 0; i < GST_CCL_SIGNATURE; i++)
    own[i] += share * (roots[i] - own[i]);
  length = sqrtf (multiply (own, own));
  for (i = 0; length > 0.0f && i < GST_CCL_SIGNATURE; i++)
    own[i] /= length;
  track->appearance.n++;
  track->appearance.age = 0.0;
}

void
gst_ccl_scene_learn_appearance (GstCclScene *self)
{
  const Track *before = NULL;
  guint i;

  if (!self->has_signatures)
    return;

  for (i = 0; i < self->tracks->len; i++) {
    Track *track = get_track (self, i);
    const gfloat *roots;
    gfloat share;

    track->appearance.age += self->dt;
    if ((track->appearance.n > 0 && track->appearance.age < LEARNING_INTERVAL) ||
        !is_clear (self, i))
      continue;
    share = (gfloat) MAX (MIN (track->appearance.age / LEARNING_TIME, 1.0),
                          1.0 / (track->appearance.n + 1));
    roots = get_blob_roots (self, get_blob (self, (guint) track->blob));
    if (track->appearance.n >= KNOWN) {
      share *= measure_likeness (self, track, before, roots);
      before = track;
    }
    learn (self, track, roots, share);
  }
}
