/* cudaccl - zones, tripwires and their events as metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONES_META_H__
#define __GST_CCL_ZONES_META_H__

#include <gst/gst.h>
#include <gst/ccl/ccl-prelude.h>
#include <gst/ccl/gstcclclassnames.h>

G_BEGIN_DECLS

/**
 * GstCclZone:
 * @name: name of the zone, UTF-8
 * @tripwire: whether it is a tripwire, a line from its first point to its second, not a polygon
 * @color: colour to draw it with, 0xAARRGGBB, or 0 if it has none of its own
 * @n_points: number of points
 * @points: x and y of each point, in pixels of the frame
 * @in: number of objects that entered, or crossed the tripwire inwards, so far
 * @out: number of objects that left, or crossed the tripwire outwards, so far
 * @inside: number of objects in the polygon; 0 for tripwires
 *
 * A zone or a tripwire, and its counts after the frame. Seen along a tripwire, `in` is towards the
 * right: downwards if it goes from left to right.
 *
 * Since: 0.1
 */
typedef struct _GstCclZone GstCclZone;

struct _GstCclZone
{
  gchar *name;
  gboolean tripwire;
  guint32 color;
  guint n_points;
  /*< private >*/ /* bindings use gst_ccl_zone_get_points() */
  gdouble *points;
  /*< public >*/
  guint64 in;
  guint64 out;
  guint inside;
};

/**
 * GstCclZoneEventType:
 * @GST_CCL_ZONE_ENTER: an object entered a zone
 * @GST_CCL_ZONE_LEAVE: an object left a zone
 * @GST_CCL_ZONE_DWELL: an object has been in a zone for the dwell time
 * @GST_CCL_ZONE_IN: an object crossed a tripwire inwards
 * @GST_CCL_ZONE_OUT: an object crossed a tripwire outwards
 * @GST_CCL_ZONE_STOPPED: an object that moved stands in a zone, as a car that parks. Since: 0.2
 * @GST_CCL_ZONE_LEFT: something was put down in a zone. Since: 0.2
 * @GST_CCL_ZONE_REMOVED: something was taken away from a zone. Since: 0.2
 *
 * An event of an object at a zone or tripwire.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_ZONE_ENTER,
  GST_CCL_ZONE_LEAVE,
  GST_CCL_ZONE_DWELL,
  GST_CCL_ZONE_IN,
  GST_CCL_ZONE_OUT,
  GST_CCL_ZONE_STOPPED,
  GST_CCL_ZONE_LEFT,
  GST_CCL_ZONE_REMOVED,
} GstCclZoneEventType;

/**
 * GstCclZoneEvent:
 * @type: what happened
 * @zone: index of the zone in its metadata
 * @track: id of the object
 * @dwell: how long the object has been in the zone, in nanoseconds; 0 for tripwires. From
 *   %GST_CCL_ZONE_STOPPED on, how long it has stood
 * @x: where the object is, in pixels of the frame
 * @y: where the object is, in pixels of the frame
 * @in: count of the zone after the event
 * @out: count of the zone after the event
 * @inside: count of the zone after the event
 * @frame_age: how much earlier than the frame it happened, in nanoseconds; 0 if it happened in the
 *   frame, negative if it happened later
 * @class_id: class of the object, from 1 on, or 0 if it has none;
 * gst_ccl_zones_meta_get_class_name() returns its name
 *
 * Something that an object did at a zone or tripwire.
 *
 * Since: 0.1
 */
typedef struct _GstCclZoneEvent GstCclZoneEvent;

struct _GstCclZoneEvent
{
  GstCclZoneEventType type;
  guint zone;
  guint track;
  guint64 dwell;
  gdouble x;
  gdouble y;
  guint64 in;
  guint64 out;
  guint inside;
  gint64 frame_age;
  guint class_id;
};

/**
 * GstCclZonesMeta:
 * @meta: parent #GstMeta
 * @width: width of the frame that the points belong to, in pixels
 * @height: height of the frame that the points belong to, in pixels
 * @n_zones: number of zones
 * @n_events: number of events
 * @zones: the zones; bindings use gst_ccl_zones_meta_get_zones()
 * @events: what happened, in order; bindings use gst_ccl_zones_meta_get_events()
 *
 * The zones and tripwires of `cclzones`, and what happened in the frame. A buffer has at most one
 * such metadata: a second `cclzones` adds its zones to it. To read it:
 *
 * ```c
 * GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);
 *
 * for (guint i = 0; meta && i < meta->n_events; i++)
 *   g_print ("%s: %s\n", meta->zones[meta->events[i].zone].name,
 *            gst_ccl_zone_event_type_get_name (meta->events[i].type));
 * ```
 *
 * ```python
 * meta = GstCcl.buffer_get_ccl_zones_meta(buffer)
 * for event in meta.get_events() if meta else []:
 *     print(meta.get_zone(event.zone).name, GstCcl.ccl_zone_event_type_get_name(event.type))
 * ```
 *
 * Each event is in the metadata of exactly one frame, usually that in which it happened. Events
 * between frames, as when a new stream begins, go to the next frame. `cclmerge` may attach an event
 * to an earlier or a later frame of the video. `frame_age` is the difference. Events after the last
 * frame, as at the end of the stream, are only posted as messages.
 *
 * Copies of the buffer get a copy of it, and elements that scale frames (or, from GStreamer 1.28
 * on, crop, flip or rotate them) transform it:
 *
 * - All zones and events stay, with their counts. Their points may be outside of the new frame.
 * - The points of a tripwire change places when the frame is mirrored: `in` is still towards the
 * right.
 *
 * Since: 0.1
 */
typedef struct _GstCclZonesMeta GstCclZonesMeta;

struct _GstCclZonesMeta
{
  GstMeta meta;

  guint width;
  guint height;
  guint n_zones;
  guint n_events;

  /*< private >*/ /* bindings cannot know their lengths */
  GstCclZone *zones;
  GstCclZoneEvent *events;
  GstCclClassNames *class_names; /* shared; NULL if there are none */
};

/**
 * GST_TYPE_CCL_ZONE:
 *
 * The boxed type of #GstCclZone.
 *
 * Since: 0.1
 */
#define GST_TYPE_CCL_ZONE (gst_ccl_zone_get_type ())

/**
 * GST_TYPE_CCL_ZONE_EVENT_TYPE:
 *
 * The type of #GstCclZoneEventType.
 *
 * Since: 0.1
 */
#define GST_TYPE_CCL_ZONE_EVENT_TYPE (gst_ccl_zone_event_type_get_type ())

/**
 * GST_TYPE_CCL_ZONE_EVENT:
 *
 * The boxed type of #GstCclZoneEvent.
 *
 * Since: 0.1
 */
#define GST_TYPE_CCL_ZONE_EVENT (gst_ccl_zone_event_get_type ())

/**
 * GST_CCL_ZONES_META_API_TYPE:
 *
 * The type of #GstCclZonesMeta's API.
 *
 * Since: 0.1
 */
#define GST_CCL_ZONES_META_API_TYPE (gst_ccl_zones_meta_api_get_type ())

/**
 * GST_CCL_ZONES_META_INFO:
 *
 * The #GstMetaInfo of #GstCclZonesMeta.
 *
 * Since: 0.1
 */
#define GST_CCL_ZONES_META_INFO (gst_ccl_zones_meta_get_info ())

GST_CCL_API
GType gst_ccl_zone_get_type (void);

GST_CCL_API
GstCclZone *gst_ccl_zone_new (const gchar *name, gboolean tripwire, const gdouble *points,
                              guint n_values);

GST_CCL_API
GstCclZone *gst_ccl_zone_copy (const GstCclZone *zone);

GST_CCL_API
void gst_ccl_zone_free (GstCclZone *zone);

GST_CCL_API
const gdouble *gst_ccl_zone_get_points (const GstCclZone *zone, guint *n_values);

GST_CCL_API
GType gst_ccl_zone_event_type_get_type (void);

GST_CCL_API
const gchar *gst_ccl_zone_event_type_get_name (GstCclZoneEventType type);

GST_CCL_API
GType gst_ccl_zone_event_get_type (void);

GST_CCL_API
GstCclZoneEvent *gst_ccl_zone_event_copy (const GstCclZoneEvent *event);

GST_CCL_API
void gst_ccl_zone_event_free (GstCclZoneEvent *event);

GST_CCL_API
GType gst_ccl_zones_meta_api_get_type (void);

GST_CCL_API
const GstMetaInfo *gst_ccl_zones_meta_get_info (void);

GST_CCL_API
GstCclZonesMeta *gst_buffer_add_ccl_zones_meta (GstBuffer *buffer, guint width, guint height,
                                                const GstCclZone *zones, guint n_zones,
                                                const GstCclZoneEvent *events, guint n_events);

GST_CCL_API
GstCclZonesMeta *gst_buffer_get_ccl_zones_meta (GstBuffer *buffer);

GST_CCL_API
guint gst_ccl_zones_meta_get_n_zones (const GstCclZonesMeta *meta);

GST_CCL_API
const GstCclZone *gst_ccl_zones_meta_get_zones (const GstCclZonesMeta *meta, guint *n_zones);

GST_CCL_API
const GstCclZone *gst_ccl_zones_meta_get_zone (const GstCclZonesMeta *meta, guint index);

GST_CCL_API
guint gst_ccl_zones_meta_get_n_events (const GstCclZonesMeta *meta);

GST_CCL_API
const GstCclZoneEvent *gst_ccl_zones_meta_get_events (const GstCclZonesMeta *meta, guint *n_events);

GST_CCL_API
const GstCclZoneEvent *gst_ccl_zones_meta_get_event (const GstCclZonesMeta *meta, guint index);

GST_CCL_API
void gst_ccl_zones_meta_set_class_names (GstCclZonesMeta *meta, GstCclClassNames *names);

GST_CCL_API
GstCclClassNames *gst_ccl_zones_meta_get_class_names (const GstCclZonesMeta *meta);

GST_CCL_API
const gchar *gst_ccl_zones_meta_get_class_name (const GstCclZonesMeta *meta, guint class_id);

GST_CCL_API
gboolean gst_ccl_zones_meta_crop (GstCclZonesMeta *meta, guint x, guint y, guint width,
                                  guint height);

G_END_DECLS

#endif /* __GST_CCL_ZONES_META_H__ */
