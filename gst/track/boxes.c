/* cudaccl - compares the boxes of a look with each other, and with what moved
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "boxes.h"

/* A box that hides a side of another one reaches beyond it by this many sizes, which is more than
 * jitter, and covers this share of it. It has this confidence: a false box hides nothing. */
#define BESIDE 0.1
#define CUT_SHARE 0.5
#define CUT_CONFIDENCE 0.4

/* Share of a box that components fill if it moves: they may be outlines. */
#define MOVING_COVER 0.15

/* Least confidence of a moving box that starts a track: few mistakes move. */
#define MOVING_CONFIDENCE 0.5

/* Confidence of boxes that components are compared with: false ones say nothing about them. */
#define CERTAIN 0.5

/* IoU of boxes and components, assumed before the first look. */
#define FIRST_FIT 0.7

/* Weight of a new IoU in the running mean: some ten boxes count. */
#define FIT_SHARE 0.1

/* IoU from which on a component is the object of a box, and no part of it or group. The share of
 * such boxes is that of some two hundred, and half before the first ones. */
#define OWN_IOU 0.5
#define OWN_SHARE 0.005
#define FIRST_OWN 0.5
#define FIRST_BOXES 10

/* Finds out whether components of @past are where a box is. Writes the IoU with the most similar
 * one to @iou. */
static gboolean
is_moving (const PastFrame *past, const Blob *blob, guint most, gdouble *iou)
{
  gdouble moving = 0.0;
  guint i;

  *iou = 0.0;
  for (i = 0; past && i < MIN (past->n_components, most); i++) {
    const Component *component = &past->components[i];

    moving += component->fill * get_common (&blob->box, &component->box);
    *iou = MAX (*iou, get_boxes_iou (&blob->box, &component->box));
  }

  return moving >= MOVING_COVER * get_area (&blob->box);
}

/* Finds the sides of a box that @other hides: what is nearer to the camera reaches farther down. */
static void
find_cuts (Blob *blob, const Blob *other)
{
  const Box *a = &blob->box, *b = &other->box;
  guint k;

  if (b->high[1] <= a->high[1] || get_certainty (other) < CUT_CONFIDENCE)
    return;

  for (k = 0; k < 2; k++) {
    gdouble beside = BESIDE * get_length (a, k);
    gdouble across = MIN (a->high[!k], b->high[!k]) - MAX (a->low[!k], b->low[!k]);

    if (across < CUT_SHARE * get_length (a, !k))
      continue;
    blob->cut[k][0] |= b->low[k] < a->low[k] - beside && b->high[k] > a->low[k] - beside;
    blob->cut[k][1] |= b->high[k] > a->high[k] + beside && b->low[k] < a->high[k] + beside;
  }
}

void
gst_ccl_likeness_init (GstCclLikeness *self)
{
  self->fit = FIRST_FIT;
  self->own = FIRST_OWN;
  self->n = 0;
}

static void
count_likeness (GstCclLikeness *self, gdouble iou)
{
  const gdouble share = MAX (1.0 / (self->n + FIRST_BOXES), OWN_SHARE);

  self->fit += FIT_SHARE * (iou - self->fit);
  self->own += share * ((iou >= OWN_IOU ? 1.0 : 0.0) - self->own);
  if (self->n < G_MAXUINT - FIRST_BOXES)
    self->n++;
}

void
gst_ccl_boxes_compare (GArray *boxes, const PastFrame *past, gdouble min_confidence,
                       GstCclLikeness *likeness)
{
  const gdouble least = MIN (min_confidence, MOVING_CONFIDENCE);
  const guint n = boxes->len, most = MOST_TESTS / MAX (n, 1);
  guint i, k;

  for (i = 0; i < n; i++) {
    Blob *blob = &g_array_index (boxes, Blob, i);
    gdouble iou;

    if (is_moving (past, blob, most, &iou)) {
      blob->doubtful &= get_certainty (blob) < least;
      if (get_certainty (blob) > CERTAIN)
        count_likeness (likeness, iou);
    }
    for (k = 0; k < MIN (n, most); k++)
      find_cuts (blob, &g_array_index (boxes, Blob, k));
  }
}
