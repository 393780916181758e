/* cudaccl - the class of a track, by vote
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "votes.h"

#include <math.h>

/* s until a vote counts half: a track may have taken over another object. */
#define HALF_LIFE 5.0

/* Weight of a vote without a confidence: in the middle of those with one. */
#define USUAL_CONFIDENCE 0.5

/* The place of a class, or else that of the lightest one. */
static guint
find_place (const GstCclVotes *self, guint class_id)
{
  guint least = 0, i;

  for (i = 0; i < GST_CCL_N_VOTES; i++) {
    if (self->class_id[i] == class_id)
      return i;
    if (self->weight[i] < self->weight[least])
      least = i;
  }

  return least;
}

void
gst_ccl_votes_add (GstCclVotes *self, guint class_id, gdouble confidence, gdouble time)
{
  gdouble left;
  guint place, i;

  if (class_id == 0)
    return;

  left = exp2 (-(time - self->time) / HALF_LIFE);
  for (i = 0; i < GST_CCL_N_VOTES; i++)
    self->weight[i] *= left;
  self->time = time;

  place = find_place (self, class_id);
  if (self->class_id[place] != class_id) {
    self->class_id[place] = class_id;
    self->weight[place] = 0.0;
  }
  self->weight[place] += confidence > 0.0 ? confidence : USUAL_CONFIDENCE;
}

guint
gst_ccl_votes_get (const GstCclVotes *self)
{
  guint most = 0, i;

  for (i = 1; i < GST_CCL_N_VOTES; i++) {
    if (self->weight[i] > self->weight[most])
      most = i;
  }

  return self->class_id[most];
}
