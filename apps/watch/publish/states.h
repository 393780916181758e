/* cudaccl-watch - retained states of MQTT, and Home Assistant's discovery
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_STATES_H__
#define __WATCH_STATES_H__

#include "apps/watch/records/status.h"
#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

/* Holds the latest payload of each retained topic, and which ones the broker does not have yet.
 * A file lists the topics, so that a removed camera or zone loses its topics even if the program
 * was not running at the time. Thread-safe. */
typedef struct _WatchStates WatchStates;

/* @discovery is Home Assistant's prefix, or empty. @file may not exist. */
WatchStates *watch_states_new (const WatchSettings *settings, const gchar *file);
void watch_states_free (WatchStates *self);

void watch_states_set_online (WatchStates *self, gboolean online);
/* As the publisher's functions. */
void watch_states_set_camera (WatchStates *self, const gchar *camera,
                              const WatchCameraStatus *status);
void watch_states_set_picture (WatchStates *self, const gchar *camera, GBytes *jpeg);

/* Sends all states again: the broker may have lost them. */
void watch_states_send_again (WatchStates *self);

/* Returns the next state to send, or FALSE. An empty payload clears the topic. */
gboolean watch_states_next (WatchStates *self, gchar **topic, GBytes **payload);
/* The broker has a payload of watch_states_next(). */
void watch_states_done (WatchStates *self, const gchar *topic, GBytes *payload);

/* Returns @name as a level of a topic: `/ + # %` and all characters that MQTT forbids become
 * %XX, so that different names stay different. */
gchar *watch_topic_level (const gchar *name);

G_END_DECLS

#endif /* __WATCH_STATES_H__ */
