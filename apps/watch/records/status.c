/* cudaccl-watch - the state of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/records/status.h"

const gchar *
watch_camera_state_get_name (WatchCameraState state)
{
  static const gchar *const names[] = { "off", "connecting", "running", "frozen", "lost" };

  return names[state];
}

static void
clear_zone (gpointer data)
{
  g_free (((WatchZoneCounts *) data)->name);
}

static void
clear_box (gpointer data)
{
  g_free (((WatchBox *) data)->class_name);
}

GArray *
watch_zone_counts_new (void)
{
  GArray *zones = g_array_new (FALSE, FALSE, sizeof (WatchZoneCounts));

  g_array_set_clear_func (zones, clear_zone);
  return zones;
}

GArray *
watch_boxes_new (void)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (WatchBox));

  g_array_set_clear_func (boxes, clear_box);
  return boxes;
}

void
watch_camera_status_init (WatchCameraStatus *status)
{
  *status = (WatchCameraStatus){ .zones = watch_zone_counts_new (), .boxes = watch_boxes_new () };
}

void
watch_camera_status_clear (WatchCameraStatus *status)
{
  g_clear_pointer (&status->reason, web_reason_free);
  g_clear_pointer (&status->decoder, g_free);
  g_clear_pointer (&status->backend, g_free);
  g_clear_pointer (&status->zones, g_array_unref);
  g_clear_pointer (&status->boxes, g_array_unref);
}
