/* cudaccl - optimal assignment on sparse graphs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ASSIGNMENT_H__
#define __GST_CCL_ASSIGNMENT_H__

#include <glib.h>

G_BEGIN_DECLS

/* A row and a column. The score is in the range 0...1, or negative if they must not be matched. */
typedef struct
{
  guint column;
  gfloat score;
} GstCclAssignmentEdge;

typedef struct _GstCclAssignment GstCclAssignment;

GstCclAssignment *gst_ccl_assignment_new (void);

void gst_ccl_assignment_free (GstCclAssignment *self);

/* Matches rows and columns one to one, so that the sum of scores is the maximum; rows and columns
 * may stay alone. The edges of row i are edges[starts[i]] ... edges[starts[i + 1] - 1]. Writes the
 * column of each row to @matches, or -1. Ties are always broken in the same way.
 *
 * Takes linear time if the connected parts of the graph are small. In large ones, each row may look
 * at all edges; after @most_work of them, the remaining rows take the best free column, in order.
 * Returns the number of these rows. */
guint gst_ccl_assignment_solve (GstCclAssignment *self, guint n_rows, guint n_columns,
                                const guint *starts, const GstCclAssignmentEdge *edges,
                                guint most_work, gint *matches);

G_END_DECLS

#endif /* __GST_CCL_ASSIGNMENT_H__ */
