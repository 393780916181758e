/* cudaccl - zones and tripwires, and what crosses them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_SET_H__
#define __GST_CCL_ZONE_SET_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

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
} GstCclZonePoint;

typedef struct _GstCclZoneSet GstCclZoneSet;

void gst_ccl_zone_params_init (GstCclZoneParams *params);

GstCclZoneSet *gst_ccl_zone_set_new (void);

/* Checks @zone, takes ownership of what it points to, and adds it. @place is where it stands. */
gboolean gst_ccl_zone_set_take_zone (GstCclZoneSet *self, GstCclZone *zone, const gchar *place,
                                     GError **error);

/* Adds polygons or tripwires from the property @name: `name: x,y x,y x,y; ...`, or a JSON array as
 * in gst_ccl_zone_set_add_config(). Names may be left out. Fails with an error of
 * GST_RESOURCE_ERROR that names the place; the set is then incomplete. */
gboolean gst_ccl_zone_set_add_text (GstCclZoneSet *self, const gchar *text, gboolean tripwires,
                                    const gchar *name, GError **error);

/* Adds those of a JSON file: an object with the arrays `zones` and `tripwires`, whose items have
 * `id` and `points`. */
gboolean gst_ccl_zone_set_add_file (GstCclZoneSet *self, const gchar *path, GError **error);

void gst_ccl_zone_set_free (GstCclZoneSet *self);

/* Takes over the counts, and what is where, of zones that are the same in @old. */
void gst_ccl_zone_set_take_state (GstCclZoneSet *self, GstCclZoneSet *old);

/* Forgets where objects are, without events. Counts stay. */
void gst_ccl_zone_set_reset (GstCclZoneSet *self);

/* Points of a zone are fractions of the frame if none is above 1, otherwise pixels. */
const GstCclZone *gst_ccl_zone_set_get_zones (const GstCclZoneSet *self, guint *n_zones);

/* Attaches the zones to @buffer, which must be writable, and @events, which happened in its frame.
 */
void gst_ccl_zone_set_attach (const GstCclZoneSet *self, GstBuffer *buffer, guint width,
                              guint height, const GArray *events);

/* Whether a point in pixels is in one of the polygons. TRUE if there are none. */
gboolean gst_ccl_zone_set_contains (const GstCclZoneSet *self, guint width, guint height, gdouble x,
                                    gdouble y);

/* Goes on to the frame of @time, and appends what happened, GstCclZoneEvent, to @events. */
void gst_ccl_zone_set_update (GstCclZoneSet *self, const GstCclZoneParams *params,
                              GstClockTime time, guint width, guint height,
                              const GstCclZonePoint *points, guint n_points, GArray *events);

/* Decides pending crossings, as at the end of the stream: each object is on the side where it was
 * seen last. Appends what happened to @events. */
void gst_ccl_zone_set_settle (GstCclZoneSet *self, GArray *events);

/* Forgets all objects, as if none was seen again: settles them, lets them leave their zones, and
 * appends what happened to @events. */
void gst_ccl_zone_set_finish (GstCclZoneSet *self, GArray *events);

G_END_DECLS

#endif /* __GST_CCL_ZONE_SET_H__ */
