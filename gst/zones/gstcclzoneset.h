/* cudaccl - zones and tripwires, and what crosses them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_SET_H__
#define __GST_CCL_ZONE_SET_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* Limits for memory and time per frame. */
#define GST_CCL_MAX_ZONES 1024
#define GST_CCL_MAX_ZONE_POINTS 32768 /* in all zones */
#define GST_CCL_MAX_ZONE_OBJECTS 4096 /* at a time */
#define GST_CCL_MAX_ZONE_CLASSES 256  /* with counts of their own, per zone */
#define GST_CCL_MAX_ZONE_EVENTS 8192  /* per frame */

typedef struct
{
  gdouble hysteresis; /* how far beyond a border an object has crossed it, as a share of its size */
  GstClockTime settle;  /* how long beyond a border it has crossed it, however far */
  GstClockTime dwell;   /* time in a zone until GST_CCL_ZONE_DWELL; 0: never */
  GstClockTime timeout; /* an object not seen for this long has left */
} GstCclZoneParams;

/* A tracked object. */
typedef struct
{
  guint track;
  gdouble x, y; /* evaluation point in pixels */
  gdouble size; /* of the object in pixels */
  guint class_id;
  GstClockTime stood; /* how long it has stood, if it is static; 0: it is not */
  gboolean moved;     /* before that */
  gboolean removed;   /* it is what was taken away */
} GstCclZonePoint;

/* The counts of a zone for one class; see GstCclZone. */
typedef struct
{
  guint class_id;
  guint64 in, out;
  guint inside;
} GstCclZoneCount;

typedef struct _GstCclZoneSet GstCclZoneSet;

void gst_ccl_zone_params_init (GstCclZoneParams *params);

GstCclZoneSet *gst_ccl_zone_set_new (void);

/* Adds @zone, and takes ownership of its members. Its points are fractions of the frame if none
 * is above 1, otherwise pixels. Only objects of @classes count, a set of names that is taken;
 * NULL: all do. Returns NULL, or a description of why the zone was not added. */
const gchar *gst_ccl_zone_set_take_zone (GstCclZoneSet *self, GstCclZone *zone,
                                         GHashTable *classes);

void gst_ccl_zone_set_free (GstCclZoneSet *self);

/* Takes over counts and states of zones that are equal in @old. */
void gst_ccl_zone_set_take_state (GstCclZoneSet *self, const GstCclZoneSet *old);

/* Forgets all objects without events. Counts stay. */
void gst_ccl_zone_set_reset (GstCclZoneSet *self);

/* Returns the zones, in pixels of the last frame, and the events of the last call to one of the
 * functions below. The arrays are borrowed and valid until the next call. */
GstCclZonesMeta gst_ccl_zone_set_get_meta (const GstCclZoneSet *self);

/* Returns how many objects, in each frame, and events were left out because there were too many.
 * The counts include such events. */
guint64 gst_ccl_zone_set_get_exceeded (const GstCclZoneSet *self);

/* Returns whether a point, in pixels of the last frame, is in one of the polygons, or there are
 * none. */
gboolean gst_ccl_zone_set_contains (const GstCclZoneSet *self, gdouble x, gdouble y);

/* Returns the counts of zone @index by class, in the order in which classes came; at most
 * GST_CCL_MAX_ZONE_CLASSES. */
const GstCclZoneCount *gst_ccl_zone_set_get_counts (const GstCclZoneSet *self, guint index,
                                                    guint *n);

/* Sets the names of classes, by class id from 1. @names may only have grown since the last call. */
void gst_ccl_zone_set_set_class_names (GstCclZoneSet *self, const GstCclClassNames *names);

/* Advances to a frame. @time is not before that of the last one. */
void gst_ccl_zone_set_update (GstCclZoneSet *self, const GstCclZoneParams *params,
                              GstClockTime time, guint width, guint height,
                              const GstCclZonePoint *points, guint n_points);

/* Decides pending crossings, as at EOS: each object is on the side where it was last seen. */
void gst_ccl_zone_set_settle (GstCclZoneSet *self);

/* Settles all objects, lets them leave their zones, and forgets them. */
void gst_ccl_zone_set_finish (GstCclZoneSet *self);

G_END_DECLS

#endif /* __GST_CCL_ZONE_SET_H__ */
