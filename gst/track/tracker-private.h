/* cudaccl - what the parts of the tracker share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACKER_PRIVATE_H__
#define __GST_CCL_TRACKER_PRIVATE_H__

#include <math.h>

#include "assignment.h"
#include "kalman.h"
#include "tracker.h"
#include "votes.h"

G_BEGIN_DECLS

/* Standard deviation of a measured side, in sizes of the object. */
#define MEASUREMENT_NOISE 0.08

/* Least confidence of a detector's box that starts a track, if something moves there. */
#define MOVING_CONFIDENCE 0.5

#define LONG_GAP 0.4 /* s between looks, see is_led_by_motion() */

/* In [2], x comes before y. */
typedef struct
{
  gdouble low[2], high[2];
} Box;

/* An object. Times are in seconds. */
typedef struct
{
  guint id;               /* 1 and up; 0 until confirmed */
  GstCclKalman centre[2]; /* of the box */
  gdouble size[2];        /* of the box, smoothed */
  gdouble area;           /* smoothed */
  guint hits;             /* number of frames in which it was seen */
  gdouble age, missed;    /* since the first and the last of them */
  gdouble split;          /* since when its parts have looked like objects */
  gdouble apart;          /* with a detection for itself, in total */
  guint partner;          /* id of the oldest other member of its group, 0 if it is in none */
  gdouble joined;         /* in a group with the partner, without a break */
  GstCclVotes votes;      /* of its detections, for its class; time is its age */
  gdouble trust;          /* confidence of the last detection that had one, or 0 */
  gboolean known;         /* found by a detector */
  gdouble evidence;       /* sum of the confidence of its boxes */
  guint serial;           /* 1 and up, in the order of tracks */
  guint denied;           /* looks at it, since the last one that found it */
  gboolean behind;        /* the last look found another object before it */
  gdouble unfound;        /* since the frame in which a detector found it */
  gdouble found;          /* its age when a detector first found it */
  gdouble belief;         /* confidence of its boxes, smoothed */
  gdouble origin[2];      /* its centre then */
  gboolean travelled;     /* it has moved away from there */
  gboolean alone;         /* a component was all of it in the last frame */
  gboolean fresh;         /* found since the last frame */
  gboolean held;          /* its box goes with that of a component, at a distance of @offset */
  gdouble offset[2][2];   /* of the low and the high sides, by axis; that to a group, too */
  gdouble carrier[2];     /* size of the component */
  gdouble moved[2];       /* since the frame of a look */
  gdouble speed[2];       /* before the look */
  gboolean carried;       /* by a component, when the look came */

  /* Of a frame. */
  Box box;            /* predicted */
  gdouble reach[2];   /* gate around the predicted centre */
  gdouble confidence; /* 0...1 */
  gdouble before;     /* velocity before its group is measured */
  gint blob;          /* index of its detection, or -1 */
  gint next;          /* the next younger track with that, or -1 */
  gboolean seen;      /* not only covered by its group */
  gboolean hidden;    /* it has no detection, and is behind that of another track */
  gboolean over;      /* to be removed */
} Track;

/* A detection, or the union of a track's fragments. */
typedef struct
{
  Box box;
  gdouble area;
  gdouble centroid[2];
  gboolean object; /* see GstCclDetection */
  gint owner;      /* the track that it was assigned to, or -1 */
  gint first;      /* oldest of its tracks, or -1 */
  guint members;   /* number of them */
  gint into;       /* the detection that this is a fragment of, or -1 */
  gint largest;    /* index of the largest fragment */
  gdouble largest_area;
  gdouble confidence; /* of the detection */
  guint class_id;
  guint cell; /* in the grid */

  /* Of a detector's box that a look tells of. */
  gboolean moving;    /* components are where it is */
  gboolean cut[2][2]; /* the low and the high sides, by axis, that another box hides */
  gdouble fit;        /* IoU with the most similar component */
} Blob;

/* A pair of a track and a detection near each other is an edge of the assignment, with a negative
 * score if they are not the same object, and the area that their boxes have in common. */
typedef struct
{
  GstCclAssignmentEdge *edges;
  gfloat *common;
  guint n, allocated;
  GArray *starts; /* guint: the first pair of each track, and the end */
} Pairs;

/* The detections, sorted by the cells of a grid. */
typedef struct
{
  gdouble origin[2], per_cell[2]; /* cells per pixel */
  guint n_cells[2];
  gdouble large[2];   /* detections above this size are in a cell of their own, the last one */
  gdouble most[2];    /* size of the largest other one */
  guint n;            /* number of entries */
  GArray *blobs;      /* guint: of each entry */
  GArray *values;     /* gfloat: of each entry, one field after another */
  gboolean has_rules; /* not all are plain components */
  GArray *cells;      /* guint: the first entry of each cell, and the end */
} Grid;

#define N_AREA_BINS 256 /* see get_area_bin() */

struct _GstCclTracker
{
  GstCclTrackerParams params;
  GArray *tracks; /* Track, oldest first */
  GstClockTime time;
  guint last_id;
  guint64 exceeded, crowded;
  guint last_serial;

  /* Of a detector that looks at some frames only, in looks.c. */
  gboolean looking;
  gboolean at_look; /* detections are those of a look */
  gdouble fit;      /* IoU of boxes and components, smoothed */
  GstClockTime last_look;
  guint n_looks;
  gdouble look_gap; /* s from look to look, on average */
  GQueue past;
  gdouble areas[N_AREA_BINS]; /* total area of recent detections of such areas */

  /* Of a frame. */
  gdouble dt;       /* s since the frame before */
  gdouble min_area; /* of a detection that starts a track, in pixels */
  GArray *blobs;    /* Blob */
  guint n_left;     /* number of those that no track was assigned to */
  Grid grid;
  Pairs pairs;
  GstCclAssignment *assignment;
  GArray *matches;    /* gint: blob of each track, or -1 */
  GArray *leftovers;  /* guint: blobs */
  GPtrArray *members; /* Track: of a group */
  GArray *out;        /* GstCclTrackInfo */
};

static inline Track *
get_track (const GstCclTracker *self, guint index)
{
  return &g_array_index (self->tracks, Track, index);
}

static inline Blob *
get_blob (const GstCclTracker *self, guint index)
{
  return &g_array_index (self->blobs, Blob, index);
}

/* A detector that does not say how certain it is, is. */
static inline gdouble
get_certainty (const Blob *blob)
{
  return blob->confidence > 0.0 ? blob->confidence : 1.0;
}

static inline gdouble
square (gdouble value)
{
  return value * value;
}

/* Whether a detector is so uncertain of a box that it starts no track. What moves is less likely to
 * be a mistake. */
static inline gboolean
is_doubtful (const GstCclTracker *self, const Blob *blob)
{
  gdouble least = self->params.min_confidence;

  return blob->object &&
         get_certainty (blob) < (blob->moving ? MIN (least, MOVING_CONFIDENCE) : least);
}

/* Whether components rather than predictions carry what a detector knows: it looks so seldom that
 * predictions are wrong in between. */
static inline gboolean
is_led_by_motion (const GstCclTracker *self)
{
  return !self->looking || self->look_gap >= LONG_GAP;
}

/* Whether components only help to predict where a track is until the next look. */
static inline gboolean
is_led_by_looks (const GstCclTracker *self, const Track *track)
{
  return track->known && !is_led_by_motion (self);
}

static inline gdouble
get_length (const Box *box, guint k)
{
  return box->high[k] - box->low[k];
}

static inline gdouble
get_middle (const Box *box, guint k)
{
  return (box->low[k] + box->high[k]) / 2.0;
}

static inline gdouble
get_area (const Box *box)
{
  return get_length (box, 0) * get_length (box, 1);
}

/* Area of the intersection. */
static inline gdouble
get_common (const Box *a, const Box *b)
{
  gdouble width = MIN (a->high[0], b->high[0]) - MAX (a->low[0], b->low[0]);
  gdouble height = MIN (a->high[1], b->high[1]) - MAX (a->low[1], b->low[1]);

  return MAX (width, 0.0) * MAX (height, 0.0);
}

static inline void
unite_boxes (Box *box, const Box *other)
{
  guint k;

  for (k = 0; k < 2; k++) {
    box->low[k] = MIN (box->low[k], other->low[k]);
    box->high[k] = MAX (box->high[k], other->high[k]);
  }
}

static inline gdouble
get_boxes_iou (const Box *a, const Box *b)
{
  gdouble common = get_common (a, b);

  return common / (get_area (a) + get_area (b) - common);
}

/* Intersection over union of a box and that predicted of a track. */
static inline gdouble
get_iou (const Track *track, const Box *box)
{
  gdouble common = get_common (&track->box, box);

  return common / (track->size[0] * track->size[1] + get_area (box) - common);
}

/* The size that distances are relative to. */
static inline gdouble
get_scale (const Track *track)
{
  return sqrt (track->size[0] * track->size[1]);
}

/* Whether a box touches the low or the high edge of the frame. */
static inline gboolean
touches (const GstCclTracker *self, const Box *box, guint k, gboolean high)
{
  guint length = k == 0 ? self->params.width : self->params.height;

  if (length == 0)
    return FALSE;

  return high ? box->high[k] >= length - 1.5 : box->low[k] <= 1.5;
}

/* Steps that looks have, too. The first does all up to the doubles. */
void gst_ccl_tracker_assign (GstCclTracker *self, GstClockTime time, const GstCclDetection *boxes,
                             guint n);
void gst_ccl_tracker_measure (const GstCclTracker *self, Track *track, const Blob *blob,
                              gdouble alpha);
void gst_ccl_tracker_classify (GstCclTracker *self, Track *track, const Blob *blob);
void gst_ccl_tracker_add (GstCclTracker *self);

/* In looks.c. */
void gst_ccl_tracker_init_looks (GstCclTracker *self);
void gst_ccl_tracker_reset_looks (GstCclTracker *self);
void gst_ccl_tracker_keep_past (GstCclTracker *self);
void gst_ccl_tracker_compare_boxes (GstCclTracker *self, GstClockTime time);
gboolean gst_ccl_tracker_carry (Track *track, const Blob *blob);

/* Step 2, in pairs.c. Detections of less than @noise are in no pair. */
void gst_ccl_tracker_init_pairs (GstCclTracker *self);
void gst_ccl_tracker_free_pairs (GstCclTracker *self);
void gst_ccl_tracker_find_pairs (GstCclTracker *self, gdouble noise);

/* Steps 5 and 6 of tracks that share a detection, in groups.c. */
void gst_ccl_tracker_find_groups (GstCclTracker *self);
void gst_ccl_tracker_measure_group (GstCclTracker *self, const Blob *blob);

G_END_DECLS

#endif /* __GST_CCL_TRACKER_PRIVATE_H__ */
