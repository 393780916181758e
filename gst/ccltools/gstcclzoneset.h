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

/* Parses `name: x,y x,y x,y; ...`; either may be NULL, names may be left out. Returns NULL with an
 * error of GST_RESOURCE_ERROR that names the place. */
GstCclZoneSet *gst_ccl_zone_set_new_from_text (const gchar *zones, const gchar *tripwires,
                                               GError **error);

#ifdef HAVE_JSON_GLIB
/* Parses an object with the arrays `zones` and `tripwires`, whose items have `id` and `points`. */
GstCclZoneSet *gst_ccl_zone_set_new_from_json (const gchar *text, GError **error);
#endif

void gst_ccl_zone_set_free (GstCclZoneSet *self);

/* Takes over the counts, and what is where, of zones that are the same in @old. */
void gst_ccl_zone_set_take_state (GstCclZoneSet *self, GstCclZoneSet *old);

/* Forgets where objects are, without events. Counts stay. */
void gst_ccl_zone_set_reset (GstCclZoneSet *self);

/* Points of a zone are shares of the frame if none is above 1, else pixels. */
const GstCclZone *gst_ccl_zone_set_get_zones (const GstCclZoneSet *self, guint *n_zones);

/* Attaches the zones to @buffer, which must be writable, and @events, which happened in its frame.
 */
void gst_ccl_zone_set_attach (const GstCclZoneSet *self, GstBuffer *buffer, guint width,
                              guint height, const GArray *events);

/* Goes on to the frame of @time, and appends what happened, GstCclZoneEvent, to @events. */
void gst_ccl_zone_set_update (GstCclZoneSet *self, const GstCclZoneParams *params,
                              GstClockTime time, guint width, guint height,
                              const GstCclZonePoint *points, guint n_points, GArray *events);

G_END_DECLS

#endif /* __GST_CCL_ZONE_SET_H__ */
