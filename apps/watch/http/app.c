/* cudaccl-watch - the program, as its handlers see it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/http/app.h"

WatchSettings *
watch_app_get_settings (WatchApp *self)
{
  return watch_settings_ref (self->settings);
}

WatchCamera *
watch_app_find_camera (WatchApp *self, const gchar *name)
{
  for (guint i = 0; i < self->cameras->len; i++) {
    WatchCamera *camera = g_ptr_array_index (self->cameras, i);

    if (g_str_equal (watch_camera_get_name (camera), name))
      return camera;
  }
  return NULL;
}

void
watch_app_refuse_camera (const WebRequest *request)
{
  g_autofree gchar *name = g_strndup (request->name, 64);

  web_http_refuse (request->message, SOUP_STATUS_NOT_FOUND,
                   web_reason_new (WEB_REASON_CAMERA_UNKNOWN, "camera", name, NULL));
}
