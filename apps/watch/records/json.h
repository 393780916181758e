/* cudaccl-watch - records as JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_JSON_H__
#define __WATCH_JSON_H__

#include "apps/watch/records/records.h"
#include "apps/watch/records/status.h"
#include "apps/web/json.h"

G_BEGIN_DECLS

/* docs/watch.md describes the members; events and tracks share their names with ccljson. Lines
 * have no newline. */

/* RFC 3339; @value is in microseconds since 1970. */
void watch_json_add_time (GString *json, const gchar *name, gint64 value);

gchar *watch_event_to_json (const WatchEvent *event);
gchar *watch_track_to_json (const WatchTrack *track);
gchar *watch_minute_to_json (const WatchMinute *minute);

/* The line of a frame; @boxes has WatchBox. */
gchar *watch_frame_to_json (const gchar *camera, const gchar *session, guint64 frame, gint64 time,
                            const GArray *boxes);

/* Add members to a camera's object: all of them, or the summary for the fleet. */
void watch_camera_status_add_json (GString *json, const gchar *name,
                                   const WatchCameraStatus *status);
void watch_camera_status_add_summary (GString *json, const gchar *name,
                                      const WatchCameraStatus *status);

G_END_DECLS

#endif /* __WATCH_JSON_H__ */
