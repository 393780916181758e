/* cudaccl-watch - finds pictures that do not change
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/frozen.h"

#include <string.h>

#define INTERVAL (G_USEC_PER_SEC / 2) /* between comparisons */
#define ROWS 4                        /* every fourth row */
#define WITHOUT_KEYS 12               /* times longer without key frames */
#define CHANGES 5                     /* changes in a row that end a freeze without key frames */

/* FNV-1a over words of 8 bytes, of rows of the first plane. */
static gboolean
get_hash (GstBuffer *buffer, const GstVideoInfo *video, guint64 *hash)
{
  GstVideoFrame frame;
  gsize size;

  if (!gst_video_frame_map (&frame, video, buffer, GST_MAP_READ))
    return FALSE;
  size = (gsize) GST_VIDEO_FRAME_COMP_WIDTH (&frame, 0) * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0);
  *hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);
  for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, 0); y += ROWS) {
    const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                        (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);

    for (gsize x = 0; x + 8 <= size; x += 8) {
      guint64 word;

      memcpy (&word, row + x, sizeof (word));
      *hash = (*hash ^ word) * G_GUINT64_CONSTANT (0x100000001b3);
      *hash ^= *hash >> 32; /* mix in the upper bits */
    }
  }
  gst_video_frame_unmap (&frame);
  return TRUE;
}

void
watch_frozen_restart (WatchFrozen *self)
{
  self->key.since = self->any.since = 0;
  self->changes = 0;
}

static void
add_key (WatchFrozen *self, guint64 hash, gint64 now, gint64 after)
{
  if (!self->key.since || hash != self->key.hash) {
    if (self->key.since)
      self->frozen = FALSE;
    self->key.since = now;
  } else if (now >= self->key.since + after) {
    self->frozen = TRUE;
  }
  self->key.hash = hash;
  self->key.last = now;
}

static void
add_any (WatchFrozen *self, guint64 hash, gint64 now, gint64 after)
{
  if (!self->any.since || hash != self->any.hash) {
    if (self->any.since && ++self->changes >= CHANGES && now > self->key.last + after)
      self->frozen = FALSE;
    self->any.since = now;
  } else {
    self->changes = 0;
    if (now >= self->any.since + WITHOUT_KEYS * after)
      self->frozen = TRUE;
  }
  self->any.hash = hash;
  self->any.last = now;
}

gboolean
watch_frozen_add (WatchFrozen *self, GstBuffer *frame, const GstVideoInfo *video, gboolean key,
                  gint64 now, gint64 after)
{
  guint64 hash;

  key = key && now >= self->key.last + INTERVAL;
  if ((key || now >= self->any.last + 2 * INTERVAL) && get_hash (frame, video, &hash)) {
    if (key)
      add_key (self, hash, now, after);
    add_any (self, hash, now, after);
  }
  return self->frozen;
}
