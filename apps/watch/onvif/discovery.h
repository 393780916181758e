/* cudaccl-watch - finds cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_DISCOVERY_H__
#define __WATCH_DISCOVERY_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *kind;    /* onvif or v4l2 */
  gchar *name;    /* for people, or NULL */
  gchar *model;   /* or NULL */
  gchar *address; /* where the answer came from, or NULL */
  gchar *uri;     /* a first guess: paths differ among cameras */
} WatchDevice;

/* Adds the device of an answer of WS-Discovery to @devices (WatchDevice) if it is not there.
 * Ignores any other text. The device gets the address @sender; those in @text are not used. */
void watch_discovery_parse (const gchar *text, gsize size, const gchar *sender, GPtrArray *devices);

GPtrArray *watch_devices_new (void);

/* Searches the networks for ONVIF cameras, and GStreamer for local devices; takes three seconds.
 * Thread-safe. */
GPtrArray *watch_discover (GCancellable *cancellable);

/* Answers with the devices. */
void watch_discovery_answer (const WebRequest *request);

G_END_DECLS

#endif /* __WATCH_DISCOVERY_H__ */
