/* cudaccl-watch - tracks of a camera: paths, zones and pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/tracks.h"

#include <math.h>

#define TOLERANCE 0.01
/* Bounds the time per frame and the memory per track. */
#define MAX_RECENT 64
#define MAX_PATH 4096
#define MAX_ZONES 64

WatchLiveTrack *
watch_live_track_new (guint64 number)
{
  WatchLiveTrack *self = g_new0 (WatchLiveTrack, 1);

  self->number = number;
  self->path = g_array_new (FALSE, FALSE, sizeof (WatchPoint));
  self->recent = g_array_new (FALSE, FALSE, sizeof (WatchPoint));
  self->zones = g_ptr_array_new_with_free_func (g_free);
  return self;
}

void
watch_live_track_free (WatchLiveTrack *self)
{
  g_free (self->class_name);
  g_array_unref (self->path);
  g_array_unref (self->recent);
  g_ptr_array_unref (self->zones);
  g_clear_pointer (&self->jpeg, g_bytes_unref);
  g_free (self->picture);
  g_free (self);
}

/* Whether @point is near the line from @a to @b at its time. */
static gboolean
is_near (const WatchPoint *a, const WatchPoint *b, const WatchPoint *point)
{
  gdouble t = b->time > a->time ? (gdouble) (point->time - a->time) / (b->time - a->time) : 0;

  return fabs (a->x + t * (b->x - a->x) - point->x) <= TOLERANCE &&
         fabs (a->y + t * (b->y - a->y) - point->y) <= TOLERANCE &&
         fabs (a->width + t * (b->width - a->width) - point->width) <= TOLERANCE &&
         fabs (a->height + t * (b->height - a->height) - point->height) <= TOLERANCE;
}

void
watch_live_track_add (WatchLiveTrack *self, const WatchPoint *point)
{
  const WatchPoint *recent = (const WatchPoint *) self->recent->data;
  gboolean straight = self->recent->len < MAX_RECENT;

  self->seen = (gdouble) point->width * point->height;
  self->last = point->time;
  if (self->path->len == 0) {
    self->begin = point->time;
    g_array_append_vals (self->path, point, 1);
    return;
  }
  for (guint i = 0; straight && i < self->recent->len; i++)
    straight =
        is_near (&g_array_index (self->path, WatchPoint, self->path->len - 1), point, &recent[i]);
  if (!straight) {
    /* A longer track goes straight to its end. */
    if (self->path->len < MAX_PATH)
      g_array_append_vals (self->path, &recent[self->recent->len - 1], 1);
    g_array_set_size (self->recent, 0);
  }
  g_array_append_vals (self->recent, point, 1);
}

void
watch_live_track_add_zone (WatchLiveTrack *self, const gchar *zone)
{
  if (self->zones->len < MAX_ZONES &&
      !g_ptr_array_find_with_equal_func (self->zones, zone, g_str_equal, NULL))
    g_ptr_array_add (self->zones, g_strdup (zone));
}

WatchTrack *
watch_live_track_finish (WatchLiveTrack *self, const gchar *camera, const gchar *session)
{
  WatchTrack *track = g_new0 (WatchTrack, 1);

  if (self->recent->len)
    g_array_append_vals (self->path,
                         &g_array_index (self->recent, WatchPoint, self->recent->len - 1), 1);
  track->camera = g_strdup (camera);
  track->session = g_strdup (session);
  track->number = self->number;
  track->begin = self->begin;
  track->end = self->last;
  track->class_name = g_strdup (self->class_name);
  track->confidence = self->confidence;
  track->n_points = self->path->len;
  track->points = g_memdup2 (self->path->data, self->path->len * sizeof (WatchPoint));
  track->picture = g_strdup (self->picture);
  if (self->zones->len) {
    track->zones = g_new0 (gchar *, self->zones->len + 1);
    for (guint i = 0; i < self->zones->len; i++)
      track->zones[i] = g_strdup (g_ptr_array_index (self->zones, i));
  }
  return track;
}
