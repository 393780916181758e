/* cudaccl - zones and tripwires, and what crosses them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_SET_H__
#define __GST_CCL_ZONE_SET_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* Limits for memory and time per frame. */
#define GST_CCL_MAX_ZONES 1024
#define GST_CCL_MAX_ZONE_POINTS 32768 /* of all zones */
#define GST_CCL_MAX_ZONE_OBJECTS 4096 /* at a time */
#define GST_CCL_MAX_ZONE_CLASSES 256  /* that a zone counts on their own */
#define GST_CCL_MAX_ZONE_EVENTS 8192  /* in a frame */

typedef struct
{
  gdouble hysteresis;   /* share of an object's size that it must be beyond a border to be there */
  GstClockTime settle;  /* or for how long */
  GstClockTime dwell;   /* time until GST_CCL_ZONE_DWELL; 0: never */
  GstClockTime timeout; /* an object that is not there for this time has left */
} GstCclZoneParams;

/* A tracked object. */
typedef struct
{
  guint track;
  gdouble x, y; /* the point that counts, in pixels */
  gdouble size; /* of the object, in pixels */
  guint class_id;
} GstCclZonePoint;

/* What objects of a class did at a zone; see GstCclZone. */
typedef struct
{
  guint class_id;
  guint64 in, out;
  guint inside;
} GstCclZoneCount;

typedef struct _GstCclZoneSet GstCclZoneSet;

void gst_ccl_zone_params_init (GstCclZoneParams *params);

GstCclZoneSet *gst_ccl_zone_set_new (void);

/* Takes ownership of what @zone points to, and adds it. Its points are fractions of the frame if
 * none is above 1, otherwise pixels. Unless it is NULL, only objects of @classes count: it is a set
 * of names, and consumed. Returns NULL, or what is wrong with the zone; then it is not added. */
const gchar *gst_ccl_zone_set_take_zone (GstCclZoneSet *self, GstCclZone *zone,
                                         GHashTable *classes);

void gst_ccl_zone_set_free (GstCclZoneSet *self);

/* Takes over counts and states of zones that are the same in @old. */
void gst_ccl_zone_set_take_state (GstCclZoneSet *self, const GstCclZoneSet *old);

/* Forgets where objects are, without events. Counts stay. */
void gst_ccl_zone_set_reset (GstCclZoneSet *self);

/* The zones, in pixels of the last frame, and what happened in the last one of the calls below.
 * Valid until the next call; the caller does not own the arrays. */
GstCclZonesMeta gst_ccl_zone_set_get_meta (const GstCclZoneSet *self);

/* How many objects, in each frame, and events were left out because there were too many. The counts
 * include such events. */
guint64 gst_ccl_zone_set_get_exceeded (const GstCclZoneSet *self);

/* Whether a point in pixels of the last frame is in one of the polygons. TRUE if there are none. */
gboolean gst_ccl_zone_set_contains (const GstCclZoneSet *self, gdouble x, gdouble y);

/* The counts of zone @index by class, in the order in which classes came, of
 * GST_CCL_MAX_ZONE_CLASSES at most. */
const GstCclZoneCount *gst_ccl_zone_set_get_counts (const GstCclZoneSet *self, guint index,
                                                    guint *n);

/* Sets the names of classes, from 1 on. Those before do not change. */
void gst_ccl_zone_set_set_class_names (GstCclZoneSet *self, const GstCclClassNames *names);

/* Goes on to the frame of @time, which is not before the last one. */
void gst_ccl_zone_set_update (GstCclZoneSet *self, const GstCclZoneParams *params,
                              GstClockTime time, guint width, guint height,
                              const GstCclZonePoint *points, guint n_points);

/* Decides pending crossings, as at the end of the stream: each object is on the side where it was
 * seen last. */
void gst_ccl_zone_set_settle (GstCclZoneSet *self);

/* Forgets all objects, as if none was seen again: settles them, and lets them leave their zones. */
void gst_ccl_zone_set_finish (GstCclZoneSet *self);

G_END_DECLS

#endif /* __GST_CCL_ZONE_SET_H__ */
