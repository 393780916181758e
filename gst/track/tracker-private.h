/* cudaccl - what the parts of the tracker share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACKER_PRIVATE_H__
#define __GST_CCL_TRACKER_PRIVATE_H__

#include <math.h>

#include "assignment.h"
#include "gstccltracker-vector.h"
#include "tracker.h"

G_BEGIN_DECLS

#define MEMBER_COVER 0.5   /* share of a track's box inside of the detection of its group */
#define FRAGMENT_COVER 0.4 /* share of a detection inside of the box of its track */

/* Standard deviation of a measured side, in sizes of the object. */
#define MEASUREMENT_NOISE 0.08

/* The tracks, oldest first. Each value has an array of its own, so that neighbouring tracks fill a
 * vector. Loops may access up to LANES - 1 entries past the last track. [2]: x and y. */
typedef struct
{
  guint len, allocated;
  union
  {
    struct
    {
      gdouble *p[2], *v[2];           /* centre of the box, and its velocity per second */
      gdouble *pp[2], *pv[2], *vv[2]; /* covariances of both */
      gdouble *size[2];               /* smoothed */
      gdouble *area;
      gdouble *age, *missed, *split; /* s */
      gdouble *apart;                /* s with a detection for itself */
      gdouble *joined;               /* s in a group with `partner`, without a break */
      gdouble *hits;                 /* number of frames in which it was seen */

      /* Of a frame. */
      gdouble *reach[2]; /* gate around the predicted centre */
      gdouble *before;   /* velocity before the group is measured */
      gint64 *seen;      /* mask: not only covered by its group */
    };
    gdouble *values[23];
  };
  union
  {
    struct
    {
      guint *id;      /* 0 until confirmed */
      guint *partner; /* id of the oldest other member */

      /* Of a frame. */
      gint *match; /* its blob, or -1 */
      gint *next;  /* next younger member of the group, or -1 */
      gint *over;  /* boolean: to be removed */
    };
    gint *numbers[5];
  };
} Tracks;

typedef struct
{
  gdouble low[2], high[2];
} Box;

/* What is predicted of a track for a frame. */
typedef struct
{
  Box box;
  gdouble centre[2];
  gdouble per_reach[2]; /* inverse of the gate around the centre */
  gdouble area;         /* of the box */
  gdouble confidence;   /* 0...1 */
} Prediction;

/* The detections in the grid, in the order of cells. */
typedef struct
{
  gfloat *centre[2], *half[2]; /* half of their sizes */
  guint *blobs;
  guint size; /* allocated */
} Entries;

/* Pairs of a track and a detection near each other, in the order of tracks. Negative scores and
 * areas mean: not the same object, and neither is a part of the other. */
typedef struct
{
  gint32 *tracks, *entries;
  GstCclAssignmentEdge *edges; /* detections and scores */
  gdouble *common;             /* area that the boxes have in common */
  guint n, allocated;
} Pairs;

/* A detection in the grid. */
typedef struct
{
  gfloat values[4]; /* x and y of its centre, half of its width and height */
  guint cells[2];   /* those that list it */
} Place;

/* A detection, or the union of a track's fragments. */
typedef struct
{
  gdouble low[2], high[2];
  gdouble area;
  gdouble centroid[2];
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

  Tracks tracks;
  GArray *out; /* GstCclTrackInfo */

  Prediction *predictions; /* of the tracks */
  GArray *blobs;           /* Blob */
  Pairs pairs;
  GArray *starts; /* guint: first pair of each track, and the end */
  GArray *cells;  /* guint: first entry of each cell, of large detections, of those never searched;
                     and the end */
  Entries entries;
  GArray *places;  /* Place: of each detection */
  GArray *members; /* guint: tracks of a group */
  guint n_left;    /* detections that are not assigned to a track */
  guint n_fragments;

  /* Of the grid. */
  gfloat origin[2], per_cell[2]; /* cells per pixel */
  guint n_cells[2];
  gfloat large[2];     /* detections above this half of the size are large */
  gfloat small[2];     /* half of the size of the largest other one */
  gfloat per_order[2]; /* same as per_cell, of the cells that pairs are sorted by */
  guint n_order[2];
};

static inline Blob *
get_blob (GstCclTracker *self, guint index)
{
  return &g_array_index (self->blobs, Blob, index);
}

/* The size that distances are relative to. */
static inline gdouble
get_scale (const Tracks *tracks, guint i)
{
  return sqrt (tracks->size[0][i] * tracks->size[1][i]);
}

static inline gdouble
square (gdouble value)
{
  return value * value;
}

static inline void
measure_axis (const Tracks *tracks, guint i, guint k, gdouble position, gdouble variance)
{
  gdouble *pp = &tracks->pp[k][i], *pv = &tracks->pv[k][i];
  gdouble total = *pp + variance, gain_p = *pp / total, gain_v = *pv / total;
  gdouble innovation = position - tracks->p[k][i];

  tracks->p[k][i] += gain_p * innovation;
  tracks->v[k][i] += gain_v * innovation;
  tracks->vv[k][i] -= gain_v * *pv;
  *pv -= gain_p * *pv;
  *pp -= gain_p * *pp;
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

/* Intersection over union of a box and that predicted of a track. */
static inline gdouble
get_iou (const GstCclTracker *self, guint track, const gdouble *low, const gdouble *high)
{
  const Box *box = &self->predictions[track].box;
  gdouble area = self->tracks.size[0][track] * self->tracks.size[1][track];
  gdouble common = get_common (box->low, box->high, low, high);

  return common / (area + get_box_area (low, high) - common);
}

static inline gboolean
touches (const GstCclTracker *self, const Blob *blob, guint k, gboolean high)
{
  guint length = k == 0 ? self->params.width : self->params.height;

  if (length == 0)
    return FALSE;

  return high ? blob->high[k] >= length - 1.5 : blob->low[k] <= 1.5;
}

void gst_ccl_tracker_free_tracks (GstCclTracker *self);

/* Adds a track, all of whose values are 0, and returns its index. The arrays may move, and
 * predictions are lost. */
guint gst_ccl_tracker_add_track (GstCclTracker *self);

/* Removes the tracks that are over. */
void gst_ccl_tracker_remove_tracks (GstCclTracker *self);

/* Step 1. */
void gst_ccl_tracker_predict (GstCclTracker *self, gdouble dt);

/* Step 6: measures the tracks that have a detection. */
void gst_ccl_tracker_measure (GstCclTracker *self, gdouble dt);

/* Step 2: finds the pairs of tracks and detections near each other. */
void gst_ccl_tracker_find_pairs (GstCclTracker *self);

/* Sorts the edges and common areas of a track's pairs by position, so that results do not depend on
 * the grid. The pairs' tracks and entries are not valid afterwards. */
void gst_ccl_tracker_sort_pairs (GstCclTracker *self, guint track);

void gst_ccl_tracker_free_pairs (GstCclTracker *self);

/* As step 6, of the members of a group: measures them, and finds those that are seen. */
void gst_ccl_tracker_update_group (GstCclTracker *self, const Blob *blob, gdouble dt);

G_END_DECLS

#endif /* __GST_CCL_TRACKER_PRIVATE_H__ */
