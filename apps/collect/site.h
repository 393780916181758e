/* cudaccl-collect - its page and interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __COLLECT_SITE_H__
#define __COLLECT_SITE_H__

#include "apps/collect/collect.h"
#include "apps/web/server.h"

G_BEGIN_DECLS

WebServer *collect_site_new (Collect *collect, GError **error);

G_END_DECLS

#endif /* __COLLECT_SITE_H__ */
