/* cudaccl - the class of a track, by vote
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_VOTES_H__
#define __GST_CCL_VOTES_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Classes that are counted: more than a detector confuses for one object. */
#define GST_CCL_N_VOTES 4

typedef struct
{
  guint class_id[GST_CCL_N_VOTES]; /* 0: free */
  gdouble weight[GST_CCL_N_VOTES];
  gdouble time; /* of the last vote */
} GstCclVotes;

/* Adds a vote of @confidence, 0 if unknown, at @time in seconds. Earlier votes lose half their
 * weight every five seconds. A vote for class 0 does not count. */
void gst_ccl_votes_add (GstCclVotes *self, guint class_id, gdouble confidence, gdouble time);

/* Returns the class with the largest weight, or 0 without votes. */
guint gst_ccl_votes_get (const GstCclVotes *self);

G_END_DECLS

#endif /* __GST_CCL_VOTES_H__ */
