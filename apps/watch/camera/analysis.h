/* cudaccl-watch - events, tracks and minutes from the frames of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_ANALYSIS_H__
#define __WATCH_CAMERA_ANALYSIS_H__

#include <gst/video/video.h>

#include "apps/watch/camera/shared.h"
#include "apps/watch/media/recorder.h"
#include "apps/watch/records/status.h"
#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

/* Lives as long as the camera: numbers and counts go on from stream to stream. Thread-safe;
 * frames of one stream at a time. */
typedef struct _WatchAnalysis WatchAnalysis;

/* Numbers and counts go on from @past. @settings tell which lines are wanted. */
WatchAnalysis *watch_analysis_new (WatchSettings *settings, const gchar *camera,
                                   const WatchStorePast *past, const WatchShared *shared);
/* Records clips; borrowed, may be NULL. */
void watch_analysis_set_recorder (WatchAnalysis *self, WatchRecorder *recorder);
/* Ends tracks and movement, and waits for pictures that are being encoded. */
void watch_analysis_free (WatchAnalysis *self);

/* Begins a new stream, in which ccltrack counts from 1 again, and ends the tracks and movement
 * of the last one. */
void watch_analysis_restart (WatchAnalysis *self, gint64 time);

/* Takes a frame with the metadata of cclzones. Only @mappable frames become pictures. */
void watch_analysis_add_frame (WatchAnalysis *self, GstBuffer *frame, const GstVideoInfo *video,
                               gboolean mappable, gint64 time);

/* Adds an event of the camera itself. @reason may be NULL. */
void watch_analysis_add_event (WatchAnalysis *self, WatchEventKind kind, gint64 time,
                               const WebReason *reason, gint64 dwell);

/* Once a second: ends tracks and minutes even if there are no frames. */
void watch_analysis_tick (WatchAnalysis *self, gint64 now);

/* Fills in the fields known from frames: frames, size, objects, moving, zones, boxes. */
void watch_analysis_get_status (WatchAnalysis *self, WatchCameraStatus *status);

G_END_DECLS

#endif /* __WATCH_CAMERA_ANALYSIS_H__ */
