/* cudaccl - what the parts of the tracker share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACKER_PRIVATE_H__
#define __GST_CCL_TRACKER_PRIVATE_H__

#include <math.h>

#include "gstcclassignment.h"
#include "gstccltracker.h"

G_BEGIN_DECLS

#define MEMBER_COVER 0.5   /* share of a track's box inside of the detection of its group */
#define FRAGMENT_COVER 0.4 /* share of a detection inside of the box of its track */

/* Standard deviation of a measured side, in sizes of the object. */
#define MEASUREMENT_NOISE 0.08

typedef struct
{
  gdouble p, v; /* centre of the box, and its velocity per second */
  gdouble pp, pv, vv;
} Axis;

typedef struct
{
  GstCclTrackInfo out;
  guint hits;
  gboolean seen;              /* in this frame: not only covered by its group */
  gboolean over;              /* to be removed */
  gdouble age, missed, split; /* s */
  gdouble apart;              /* s with a detection for itself */
  gdouble joined;             /* s in a group with `partner`, without a break */
  guint partner;              /* id of the oldest other member */
  gint next;                  /* next younger member of the group, or -1 */
  gdouble size[2];            /* smoothed */
  gdouble area;
  Axis axis[2];
  gdouble low[2], high[2]; /* predicted box */
  gdouble reach[2];        /* gate around the centre */
  gdouble per_reach[2];
  gdouble before[2]; /* velocity before its group is measured */
} Track;

typedef struct
{
  guint detection;
  gdouble track_cover;     /* share of the track's box inside of the detection */
  gdouble detection_cover; /* share of the detection inside of the track's box */
} Edge;

/* A detection in the grid. */
typedef struct
{
  gfloat centre[2], half[2]; /* sizes */
  guint blob;
} Entry;

/* What is searched for in the grid. */
typedef struct
{
  gfloat centre[2], half[2];
  gfloat per_reach[2]; /* inverse of the reach of centres */
} Reach;

/* A detection, or the union of a track's fragments. */
typedef struct
{
  gdouble low[2], high[2];
  gdouble area;
  gdouble centroid[2];
  gint track;      /* the one assigned to it, or -1 */
  gint first;      /* oldest of its tracks, or -1 */
  gint into;       /* the detection that this is a fragment of, or -1 */
  guint fragments; /* 1 and up */
  guint members;
  gint largest; /* index of the largest fragment */
  gdouble largest_area;
} Blob;

/* Areas of detections, in four bins for each power of two. */
#define AREA_BIT 21 /* lowest of a float's exponent and the first two bits of its fraction */
#define N_AREA_BINS (64 << (23 - AREA_BIT))

struct _GstCclTracker
{
  GstCclTrackerParams params;
  GstCclAssignment *assignment;
  GstClockTime time;
  gdouble dt; /* s since the frame before */
  guint last_id;
  guint64 exceeded;
  gdouble areas[N_AREA_BINS]; /* total area of recent detections of such areas */
  gdouble min_area;           /* of a detection that starts a track, in pixels */

  GArray *tracks; /* Track, in order of age */
  GArray *out;    /* GstCclTrackInfo */

  /* Of a frame. */
  GArray *blobs; /* Blob */
  Edge *edges;
  guint n_edges, max_edges;
  GArray *starts;                   /* guint: first edge of each track, and the end */
  GstCclAssignmentEdge *candidates; /* with room for as many as edges */
  guint n_candidates;
  GArray *candidate_starts;
  GArray *matches; /* gint: blob of each track */
  GArray *cells;   /* guint: first entry of each cell, of large detections, of noise, and the end */
  GArray *entries; /* Entry */
  GArray *cell_of; /* guint: cell of each detection */
  GArray *near;    /* guint: blobs near a track */
  GArray *members; /* guint: tracks of a group */

  gfloat origin[2], per_cell[2]; /* cells per pixel */
  gfloat large[2];               /* detections above this size are large */
  gfloat small[2];               /* half of the size of the largest other one */
  gint n_cells[2];
};

static inline Track *
get_track (GstCclTracker *self, guint index)
{
  return &g_array_index (self->tracks, Track, index);
}

static inline Blob *
get_blob (GstCclTracker *self, guint index)
{
  return &g_array_index (self->blobs, Blob, index);
}

/* The size that distances are relative to. */
static inline gdouble
get_scale (const Track *track)
{
  return sqrt (track->size[0] * track->size[1]);
}

static inline gdouble
square (gdouble value)
{
  return value * value;
}

static inline void
measure_axis (Axis *axis, gdouble position, gdouble variance)
{
  gdouble total = axis->pp + variance;
  gdouble gain_p = axis->pp / total, gain_v = axis->pv / total;
  gdouble innovation = position - axis->p;

  axis->p += gain_p * innovation;
  axis->v += gain_v * innovation;
  axis->vv -= gain_v * axis->pv;
  axis->pv -= gain_p * axis->pv;
  axis->pp -= gain_p * axis->pp;
}

static inline gdouble
get_common (const gdouble *low1, const gdouble *high1, const gdouble *low2, const gdouble *high2)
{
  gdouble width = MIN (high1[0], high2[0]) - MAX (low1[0], low2[0]);
  gdouble height = MIN (high1[1], high2[1]) - MAX (low1[1], low2[1]);

  return width > 0.0 && height > 0.0 ? width * height : 0.0;
}

static inline gdouble
get_box_area (const gdouble *low, const gdouble *high)
{
  return (high[0] - low[0]) * (high[1] - low[1]);
}

static inline gboolean
touches (const GstCclTracker *self, const Blob *blob, guint k, gboolean high)
{
  guint length = k == 0 ? self->params.width : self->params.height;

  if (length == 0)
    return FALSE;

  return high ? blob->high[k] >= length - 1.5 : blob->low[k] <= 1.5;
}

/* Step 2: finds the pairs of tracks and detections near each other. */
void gst_ccl_tracker_find_edges (GstCclTracker *self);

/* Step 6 for the members of a group: measures them, and finds those that are seen. */
void gst_ccl_tracker_update_group (GstCclTracker *self, const Blob *blob, gdouble dt);

G_END_DECLS

#endif /* __GST_CCL_TRACKER_PRIVATE_H__ */
