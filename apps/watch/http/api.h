/* cudaccl-watch - cameras and state over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_API_H__
#define __WATCH_API_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

void watch_api_status (const WebRequest *request);
void watch_api_cameras (const WebRequest *request);
void watch_api_add_camera (const WebRequest *request);
void watch_api_change_camera (const WebRequest *request);
void watch_api_remove_camera (const WebRequest *request);
void watch_api_try (const WebRequest *request);

G_END_DECLS

#endif /* __WATCH_API_H__ */
