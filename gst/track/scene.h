/* cudaccl - tracks, the detections of a frame, and the steps that all modes share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SCENE_H__
#define __GST_CCL_SCENE_H__

#include "pairs.h"
#include "types.h"

G_BEGIN_DECLS

/* Standard deviation of a measured side, in sizes of the object: masks are ragged. */
#define MEASUREMENT_NOISE 0.08

/* s that tracks are shown without being seen. A member of a group may leave it unseen. */
#define SHOW_MEMBER 0.5
#define SHOW_LOST 0.2   /* of those that a detector found: it misses some frames */
#define SHOW_HIDDEN 1.0 /* the same, behind another object: it usually comes out again */

/* An object that walks on has at least this likeness, in area, with the one that stood: doors open,
 * and other things hide parts. */
#define LEAST_LIKENESS 0.25

/* s until it is known that what stood has left, from when nothing is there. */
#define STANDING_TIME 1.2

/* Standing objects in front of which new ones wait for their ids. */
#define MOST_STANDING 64

/* Share of a track's box that another object's box covers if it hides the track. */
#define HIDDEN_COVER 0.4

/* The square roots of a signature's shares; the sum of squares is 1. */
typedef struct
{
  gfloat roots[GST_CCL_SIGNATURE];
} GstCclLooksLike;

/* The appearance of objects; see appearance.c. */
typedef struct
{
  gfloat same, other; /* running means of likeness: of an object with itself, and with others */
  gfloat roots[256];  /* of all shares */
  GArray *tracks;     /* GstCclLooksLike: of tracks, at their places, less 1 */
  GArray *places;     /* guint: those that are free */
  GArray *blobs;      /* GstCclLooksLike: of the detections of the frame that were compared */
} GstCclAppearance;

typedef struct _GstCclLooks GstCclLooks;
typedef struct _GstCclScene GstCclScene;

/* A mode of the tracker: components.c and looks.c have one each. */
typedef struct
{
  /* Before a frame. */
  Rules (*get_rules) (const GstCclScene *scene, const Track *track);

  /* Corrects a track by a detection of its own. @alpha is the weight of its size. */
  void (*measure) (const GstCclScene *scene, Track *track, const Blob *blob, gdouble alpha);

  /* Writes how far the sides of a member are expected from those of its group, the box. */
  void (*get_offset) (Track *track, const Box *box, guint k, gdouble offset[2]);

  /* Whether a track gets its id, ends without a detection, and is shown. */
  gboolean (*is_certain) (const GstCclScene *scene, const Track *track);
  gboolean (*is_over) (const GstCclScene *scene, const Track *track);
  gboolean (*is_shown) (const GstCclScene *scene, const Track *track);

  /* After a frame; may be NULL. */
  void (*end_frame) (GstCclScene *scene);
} GstCclTrackerMode;

struct _GstCclScene
{
  GstCclTrackerParams params;
  const GstCclTrackerMode *mode;
  GstCclLooks *looks; /* state of the looks' mode; unused by the steps */

  GArray *tracks; /* Track, oldest first */
  guint last_id, last_serial;
  guint64 exceeded, crowded;

  GstClockTime time; /* of the last frame */
  gdouble dt;        /* s since the frame before, 0 at a look */
  gdouble min_area;  /* of a component that starts a track, in pixels */
  GArray *blobs;     /* Blob, of the frame or look */
  guint n_left;      /* number of those that no track was assigned to */
  GstCclPairs pairs;
  gboolean has_signatures; /* some detection of the frame has one */
  GstCclAppearance appearance;
  GArray *standing; /* Track: copies of those that stand, at most MOST_STANDING */

  /* Scratch. */
  GstCclAssignment *assignment;
  GArray *matches;    /* gint: blob of each track, or -1 */
  GArray *leftovers;  /* guint: blobs */
  GPtrArray *members; /* Track: of a group */
};

static inline Track *
get_track (const GstCclScene *self, guint index)
{
  return &g_array_index (self->tracks, Track, index);
}

static inline Blob *
get_blob (const GstCclScene *self, guint index)
{
  return &g_array_index (self->blobs, Blob, index);
}

/* Before a track is removed. */
static inline void
release_appearance (GstCclScene *self, Track *track)
{
  if (track->appearance.place > 0)
    g_array_append_val (self->appearance.places, track->appearance.place);
  track->appearance.place = 0;
}

/* Whether a box touches the low or the high edge of the frame. */
static inline gboolean
touches (const GstCclScene *self, const Box *box, guint k, gboolean high)
{
  guint length = k == 0 ? self->params.width : self->params.height;

  if (length == 0)
    return FALSE;

  return high ? box->high[k] >= length - 1.5 : box->low[k] <= 1.5;
}

void gst_ccl_scene_init (GstCclScene *self);

void gst_ccl_scene_clear (GstCclScene *self);

/* The detections of a frame or look. */
void gst_ccl_scene_read (GstCclScene *self, const GstCclDetection *detections, guint n);

/* Step 1. Tracks move to where they are expected in the frame. */
void gst_ccl_scene_predict (GstCclScene *self);

/* The part of it for tracks that are where they are expected. */
void gst_ccl_scene_expect (GstCclScene *self);

/* Step 2. Detections smaller than @noise pixels get no track. */
void gst_ccl_scene_find_pairs (GstCclScene *self, gdouble noise);

/* Step 3. */
void gst_ccl_scene_match (GstCclScene *self);

/* The second half of step 6: counts frames and times, gives ids, and removes tracks. */
void gst_ccl_scene_age (GstCclScene *self);

/* Starts tracks from detections that are left over, unless they are noise. */
void gst_ccl_scene_add (GstCclScene *self);

/* Updates a track from what its own detection says about the object. */
void gst_ccl_scene_classify (GstCclScene *self, Track *track, const Blob *blob);

/* Whether everything that is found is a track at once. */
gboolean gst_ccl_scene_is_immediate (const GstCclScene *self);

/* Whether a track moves out of the frame, and whether its centre has left it. */
gboolean gst_ccl_scene_is_leaving (const GstCclScene *self, const Track *track);
gboolean gst_ccl_scene_has_left (const GstCclScene *self, const Track *track);

G_END_DECLS

#endif /* __GST_CCL_SCENE_H__ */
