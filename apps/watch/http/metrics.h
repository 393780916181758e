/* cudaccl-watch - metrics in the text format of Prometheus
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_METRICS_H__
#define __WATCH_METRICS_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

void watch_metrics (const WebRequest *request);

G_END_DECLS

#endif /* __WATCH_METRICS_H__ */
