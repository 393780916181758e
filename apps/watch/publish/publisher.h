/* cudaccl-watch - tells brokers, web hooks and files
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_PUBLISHER_H__
#define __WATCH_PUBLISHER_H__

#include "apps/watch/records/status.h"
#include "apps/watch/settings/settings.h"
#include "apps/watch/store/store.h"

G_BEGIN_DECLS

/* Takes lines from the store's spool to the sinks of the settings, at least once: a line leaves
 * the spool when its sink has confirmed it. Each sink has its own thread. Retained states of
 * MQTT (availability, motion, occupancy, counts, pictures, Home Assistant's discovery) are not
 * spooled: only the latest is sent, once the broker is connected. */
typedef struct _WatchPublisher WatchPublisher;

typedef struct
{
  gchar *name; /* mqtt, kafka, lines, or webhook and the host: no credentials */
  gboolean connected;
  guint64 sent;    /* lines confirmed in this session */
  guint64 pending; /* lines in the spool */
  guint64 dropped; /* lines dropped from the spool since the database was created */
  guint64 refused; /* lines that the receiver will never take, such as too long; in this session */
  WebReason *reason; /* why lines do not get through, or NULL */
} WatchSinkStatus;

/* @store must live longer. */
WatchPublisher *watch_publisher_new (const WatchSettings *settings, WatchStore *store,
                                     GError **error);
/* Whether @b needs other sinks. */
gboolean watch_publisher_differs (const WatchSettings *a, const WatchSettings *b);
/* Sends pending lines for at most two seconds. */
void watch_publisher_free (WatchPublisher *self);

/* Tells the sinks that the spool has lines. From any thread; cheap. */
void watch_publisher_wake (WatchPublisher *self);

/* The state of a camera, for sinks that keep states; a NULL @status removes the camera. */
void watch_publisher_set_camera (WatchPublisher *self, const gchar *camera,
                                 const WatchCameraStatus *status);
/* The latest picture of an event of the camera. */
void watch_publisher_set_picture (WatchPublisher *self, const gchar *camera, GBytes *jpeg);

/* The state of this program and its cameras, a line of JSON, for those who look at many programs.
 * Only the latest is sent. */
void watch_publisher_set_program (WatchPublisher *self, const gchar *program, const gchar *status);

/* Returns an array of WatchSinkStatus, which clears its items. */
GArray *watch_publisher_get_status (WatchPublisher *self);

G_END_DECLS

#endif /* __WATCH_PUBLISHER_H__ */
