/* cudaccl - GStreamer's analytics metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ANALYTICS_H__
#define __GST_CCL_ANALYTICS_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>

G_BEGIN_DECLS

/* The most entries in a buffer's relation metadata, whose matrix then takes 16 MiB. */
#define GST_CCL_ANALYTICS_MAX 4096

/* Appends the boxes, classes, confidences and tracks of the object detections in the
 * GstAnalyticsRelationMeta of @buffer to @components, GstCclComponent, each with its id as label;
 * those without pixels inside of the frame are left out. The track is that of a related
 * GstAnalyticsTrackingMtd that is not lost. Appends nothing if this GStreamer has no
 * analytics metadata. */
void gst_ccl_analytics_read (GstBuffer *buffer, guint width, guint height, GstCclClasses *classes,
                             GArray *components);

/* Adds an object detection for each component, whose type is the name of its class or @no_class.
 * With @tracked, adds tracks, too, but nothing if @buffer has detections. The relation metadata has
 * a matrix of all pairs of entries: of more components than GST_CCL_ANALYTICS_MAX, only the largest
 * are added; with @tracked, which takes two entries each, the first half of that. Tracks of
 * components whose source is GST_CCL_NO_SOURCE are lost; without @sources (NULL), none are. @buffer
 * must be writable. */
void gst_ccl_analytics_add (GstBuffer *buffer, const GstCclComponent *components, guint n,
                            GstCclClassNames *names, GQuark no_class, gboolean tracked,
                            const guint *sources);

/* Adds a GstAnalyticsTrackingMtd for each of the @n objects that is tracked, and relates it to the
 * object detection with the box of components[sources[i]], which objects[i] was made of; with
 * GST_CCL_NO_SOURCE, to none, and says that the track is lost; with @lost, also if @buffer has no
 * object detections. Only the first GST_CCL_ANALYTICS_MAX objects get one. @buffer must be
 * writable. */
void gst_ccl_analytics_put_tracks (GstBuffer *buffer, guint width, guint height,
                                   GstCclClasses *classes, const GstCclComponent *objects,
                                   const GstCclComponent *components, const guint *sources, guint n,
                                   gboolean lost);

G_END_DECLS

#endif /* __GST_CCL_ANALYTICS_H__ */
