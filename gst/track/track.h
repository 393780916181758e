/* cudaccl - a track, and a detection that it may be assigned to
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_TRACK_H__
#define __GST_CCL_TRACK_TRACK_H__

#include <math.h>

#include "kalman.h"
#include "types.h"
#include "votes.h"

G_BEGIN_DECLS

/* Comparisons of boxes that a part of a frame may take: a few milliseconds, whatever it shows. */
#define MOST_TESTS 4194304

/* In [2], x comes before y; in [2][2], the second index is the low or the high side. */
typedef struct
{
  gdouble low[2], high[2];
} Box;

/* How a mode treats a track in a frame. */
typedef struct
{
  gboolean steady; /* accelerates less: boxes carry it, which do not jump where masks break */
  gboolean fading; /* its velocity decays: nothing shows that it still moves */
  gboolean sized;  /* its size is known: a component is the same object only if it has that size */
  gboolean guided; /* predictions carry it: a component only shows how it moves */
} Rules;

/* An object. Times are in seconds. */
typedef struct
{
  guint id;               /* 1 and up; 0 until confirmed */
  guint serial;           /* 1 and up, in the order of tracks */
  GstCclKalman centre[2]; /* of the box */
  gdouble size[2];        /* of the box, smoothed */
  gdouble area;           /* smoothed */
  gdouble origin[2];      /* its centre when it was found first */
  guint hits;             /* number of frames in which it was seen */
  gdouble age, missed;    /* since the first and the last of them */
  gdouble split;          /* how long its parts have looked like objects */
  gboolean alone;         /* a component was all of it in the last frame */
  gboolean stands;        /* its last detection stood */
  gdouble waits;          /* s that it has no id yet, since it may be one that has stood */

  /* Set by detections of detectors. */
  GstCclVotes votes; /* for its class; time is the track's age */
  gdouble trust;     /* confidence of the last detection that had one, or 0 */
  gboolean known;    /* a detector found it */
  gdouble found;     /* its age at that time */
  gdouble unfound;   /* since the last frame in which one did */
  gdouble evidence;  /* sum of the confidence of its boxes */
  gdouble belief;    /* running mean of that confidence */

  /* Set by groups.c. */
  struct
  {
    gdouble apart;  /* total time with a detection of its own */
    guint partner;  /* id of the oldest other member, 0 outside of groups */
    gdouble joined; /* how long it has been in a group with the partner, without a break */
    gdouble before; /* velocity before the group is measured */
  } group;

  /* Set by looks.c. */
  struct
  {
    guint denied;         /* looks at its place since the last one that found it */
    gboolean behind;      /* the last look found another object in front of it */
    gboolean travelled;   /* it has left its origin */
    gboolean fresh;       /* found since the last frame */
    gboolean held;        /* its box moves with that of a component, at a distance of @offset */
    gdouble offset[2][2]; /* from the sides of that component, or of its group, by axis */
    gdouble carrier[2];   /* size of the component */
  } look;

  /* Set by appearance.c. */
  struct
  {
    guint place; /* of its signature in GstCclAppearance; 0: none */
    guint n;     /* signatures that it has learned */
    gdouble age; /* since the last one */
  } appearance;

  /* Of the current frame. */
  Rules rules;
  Box box;            /* predicted */
  gdouble reach[2];   /* gate around the predicted centre */
  gdouble confidence; /* 0...1, weight of its pairs */
  gint blob;          /* index of its detection, or -1 */
  gint next;          /* the next younger track with the same one, or -1 */
  gboolean seen;      /* not merely covered by its group */
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
  gdouble confidence;
  guint class_id;
  gboolean stands;         /* likewise */
  const guint8 *signature; /* likewise */
  guint like;              /* place of its roots in GstCclAppearance.blobs; 0: none yet */
  gboolean fragmented;     /* a union: the signature is that of a part */
  gboolean doubtful;       /* the detector is too uncertain of it for a new track */
  gboolean cut[2][2];      /* sides that another box hides, by axis */

  gint owner;    /* the track that it was assigned to, or -1 */
  gint first;    /* its oldest track, or -1 */
  guint members; /* number of its tracks */
  gint into;     /* the detection that this is a fragment of, or -1 */
  gint largest;  /* index of the largest fragment */
  gdouble largest_area;
  guint cell; /* in the grid of pairs.c */
} Blob;

static inline gdouble
square (gdouble value)
{
  return value * value;
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

/* Whether a point is in a box, or beside it by at most a quarter of its size. */
static inline gboolean
is_at (const Box *box, const gdouble point[2])
{
  guint k;

  for (k = 0; k < 2; k++) {
    const gdouble margin = (box->high[k] - box->low[k]) / 4.0;

    if (point[k] < box->low[k] - margin || point[k] > box->high[k] + margin)
      return FALSE;
  }

  return TRUE;
}

/* Ratio of two areas, at most 1. */
static inline gdouble
get_likeness (gdouble a, gdouble b)
{
  return MIN (a, b) / MAX (a, b);
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

/* Intersection over union of a box and the predicted one of a track. */
static inline gdouble
get_iou (const Track *track, const Box *box)
{
  gdouble common = get_common (&track->box, box);

  return common / (track->size[0] * track->size[1] + get_area (box) - common);
}

/* The size of the object that distances are relative to. */
static inline gdouble
get_scale (const Track *track)
{
  return sqrt (track->size[0] * track->size[1]);
}

/* A detector that gives no confidence is taken to be certain. */
static inline gdouble
get_certainty (const Blob *blob)
{
  return blob->confidence > 0.0 ? blob->confidence : 1.0;
}

G_END_DECLS

#endif /* __GST_CCL_TRACK_TRACK_H__ */
