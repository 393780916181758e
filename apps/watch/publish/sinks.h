/* cudaccl-watch - the kinds of sinks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SINKS_H__
#define __WATCH_SINKS_H__

#include "apps/watch/publish/sink.h"

G_BEGIN_DECLS

extern const WatchSinkType watch_sink_mqtt, watch_sink_kafka, watch_sink_lines, watch_sink_webhooks;

/* In the order of the page; to be used once. */
#define WATCH_SINK_TYPES                                                         \
  {                                                                              \
    &watch_sink_mqtt, &watch_sink_kafka, &watch_sink_lines, &watch_sink_webhooks \
  }

G_END_DECLS

#endif /* __WATCH_SINKS_H__ */
