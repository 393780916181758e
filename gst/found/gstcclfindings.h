/* cudaccl - what was found in a frame: its components, zones and events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FINDINGS_H__
#define __GST_CCL_FINDINGS_H__

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclroi.h>

G_BEGIN_DECLS

/* Some elements, such as videocrop, crop a frame by attaching a GstVideoCropMeta, and leave other
 * metadata unchanged: components found earlier still refer to the whole frame, of @width x @height
 * pixels, those found later to the visible part. Returns how to crop metadata of that size, or
 * NULL if it needs no cropping, or if the visible part is not inside the frame. */
const GstVideoCropMeta *gst_ccl_find_crop (GstBuffer *buffer, guint width, guint height);

/* Copies of a frame's metadata, cropped to its visible part, without its pixels. The `meta` of the
 * members is unused. */
typedef struct
{
  gboolean has_components;
  GstCclMeta components; /* of the GstCclMeta; `width` is 0 without one */
  GstCclRois rois;       /* components that are regions of interest */
  guint rois_width;      /* the size of their frame */
  guint rois_height;
  GstCclZonesMeta zones; /* `width` is 0 without a GstCclZonesMeta */
} GstCclFindings;

/* Copies the metadata of @buffer. Only regions of interest without a GstCclMeta, which do not store
 * the size of their frame, need @width and @height. Free with gst_ccl_findings_clear(). */
void gst_ccl_findings_init (GstCclFindings *self, GstBuffer *buffer, guint width, guint height);

void gst_ccl_findings_clear (GstCclFindings *self);

/* Scales everything to a frame of @width x @height. Components without a valid frame size are
 * dropped.
 */
void gst_ccl_findings_scale (GstCclFindings *self, guint width, guint height);

/* Replaces the components of the writable @dest, a frame of @width x @height, with scaled copies of
 * the components of @self. The age of their frame grows by @age. */
void gst_ccl_findings_attach_components (const GstCclFindings *self, GstBuffer *dest, guint width,
                                         guint height, GstClockTimeDiff age);

/* Adds the zones of @self, without events, to the writable @dest, scaled to its size, or to that of
 * the zones that it has already. */
void gst_ccl_findings_attach_zones (const GstCclFindings *self, GstBuffer *dest, guint width,
                                    guint height);

/* Replaces the classes of @n events, numbered as in @names (may be NULL), by the classes of @meta
 * with the same names, adding those that it lacks. */
void gst_ccl_zones_translate_events (GstCclZonesMeta *meta, GstCclZoneEvent *events, guint n,
                                     GstCclClassNames *names);

/* A list of events that no frame has yet, and their zones. */
GArray *gst_ccl_events_new (void);

guint64 gst_ccl_events_count (const GArray *self);

/* Adds copies of the events of @meta, which happened at @time or, if that is GST_CLOCK_STIME_NONE,
 * in the frame that they are attached to. */
void gst_ccl_events_add (GArray *self, const GstCclZonesMeta *meta, GstClockTimeDiff time);

/* Moves all events to the writable @dest, the frame at @time, of @width x @height: they are
 * inserted before its event @index, and their age is added to their frame_age. Their zones are
 * matched by name and kind, and by index if names repeat, with those of @dest from @first_zone on.
 * Missing ones are added. */
void gst_ccl_events_attach (GArray *self, GstBuffer *dest, guint width, guint height,
                            guint first_zone, guint index, GstClockTimeDiff time);

G_END_DECLS

#endif /* __GST_CCL_FINDINGS_H__ */
