/* cudaccl-watch - metadata of frames for clients that are connected
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_METADATA_H__
#define __WATCH_METADATA_H__

#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Passes the metadata of cameras' frames, without pixels, to sources of other pipelines. Costs
 * next to nothing while there are none. From any thread, unless noted. */
typedef struct _WatchMetadata WatchMetadata;

WatchMetadata *watch_metadata_new (void);
WatchMetadata *watch_metadata_ref (WatchMetadata *self);
void watch_metadata_unref (WatchMetadata *self);

/* Add or remove a camera; removing it sends EOS to its sources. Main thread only. */
void watch_metadata_add_camera (WatchMetadata *self, const gchar *camera);
void watch_metadata_remove_camera (WatchMetadata *self, const gchar *camera);

/* Calls @func whenever a camera is added or removed, and now for each known one; NULL stops the
 * calls. Main thread only. */
typedef void (*WatchMetadataChanged) (const gchar *camera, gboolean present, gpointer user_data);
void watch_metadata_set_changed (WatchMetadata *self, WatchMetadataChanged func,
                                 gpointer user_data);

/* Feeds @source for as long as it lives, with empty buffers that carry GstCclMeta,
 * GstCclZonesMeta, and the time as GstReferenceTimestampMeta. The first comes at once, with the
 * time of the last frame and no objects, so that a pipeline need not wait for a lost camera. */
void watch_metadata_add_source (WatchMetadata *self, const gchar *camera, GstAppSrc *source);

/* Notes the time of a frame. Returns whether any camera has sources. */
gboolean watch_metadata_is_wanted (WatchMetadata *self, const gchar *camera, gint64 time);

/* Returns a buffer with only the metadata of @frame, which was taken at @time. */
GstBuffer *watch_metadata_copy (GstBuffer *frame, gint64 time);

/* Passes such a buffer, of a frame of the given size, to all playing sources. */
void watch_metadata_push (WatchMetadata *self, const gchar *camera, GstBuffer *buffer, guint width,
                          guint height);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchMetadata, watch_metadata_unref)

G_END_DECLS

#endif /* __WATCH_METADATA_H__ */
