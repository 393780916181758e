/* cudaccl - finds the pairs of tracks and detections near each other
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PAIRS_H__
#define __GST_CCL_PAIRS_H__

#include "assignment.h"
#include "track.h"

G_BEGIN_DECLS

/* The detections, sorted by the cells of a grid. */
typedef struct
{
  gdouble origin[2], per_cell[2]; /* cells per pixel */
  guint n_cells[2];
  gdouble large[2];   /* larger detections share a cell of their own, the last one */
  gdouble most[2];    /* size of the largest other one */
  guint n;            /* number of entries */
  GArray *blobs;      /* guint: of each entry */
  GArray *values;     /* gfloat: of each entry, one field after another */
  gboolean has_rules; /* not all are plain components */
  GArray *cells;      /* guint: the first entry of each cell, and the end */
} Grid;

/* A track and a detection near each other are an edge of the assignment, with a negative score if
 * they cannot be the same object, and the area that their boxes have in common. */
typedef struct
{
  GstCclAssignmentEdge *edges;
  gfloat *common;
  guint n, allocated;
  GArray *starts; /* guint: the first pair of each track, and the end */
  Grid grid;
} GstCclPairs;

void gst_ccl_pairs_init (GstCclPairs *self);

void gst_ccl_pairs_clear (GstCclPairs *self);

/* Finds the pairs of @tracks (Track) and @blobs (Blob), which are the same object only from an IoU
 * of @iou_threshold on. Detections smaller than @noise pixels are in no pair. Returns the number of
 * tracks that were not compared with everything near them. */
guint gst_ccl_pairs_find (GstCclPairs *self, const GArray *tracks, GArray *blobs, gdouble noise,
                          gdouble iou_threshold);

G_END_DECLS

#endif /* __GST_CCL_PAIRS_H__ */
