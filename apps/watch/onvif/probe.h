/* cudaccl-watch - answers probes for ONVIF devices
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_ONVIF_PROBE_H__
#define __WATCH_ONVIF_PROBE_H__

#include <gio/gio.h>

#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

/* Answers probes of WS-Discovery. Main thread only. */
typedef struct _WatchProbe WatchProbe;

/* @uri is the address of the page. Clients get its scheme and port, with this machine's address
 * in their network, or its own host if the page listens on one address only. */
WatchProbe *watch_probe_new (WatchSettings *settings, const gchar *uri);
/* Begins to answer, or logs why it cannot. */
void watch_probe_start (WatchProbe *self);
void watch_probe_free (WatchProbe *self);

/* Returns the answer to @text, or NULL if it gets none: it is not a probe for such a device, was
 * answered already, comes from a network that this machine is not in, or a limit is reached. @now
 * is monotonic, in microseconds. */
gchar *watch_probe_make_answer (WatchProbe *self, const gchar *text, gsize size,
                                GSocketAddress *sender, gint64 now);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchProbe, watch_probe_free)

G_END_DECLS

#endif /* __WATCH_ONVIF_PROBE_H__ */
