/* cudaccl-watch - finds pictures that do not change
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_FROZEN_H__
#define __WATCH_CAMERA_FROZEN_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* A sensor's noise makes every picture differ. But an encoder may leave out the noise until the
 * next key frame, or encode a frozen picture slightly differently until then. So key frames are
 * compared with each other, and all frames only over a much longer time. */
typedef struct
{
  struct
  {
    guint64 hash;
    gint64 since; /* start of this picture; 0: there was none */
    gint64 last;  /* last comparison */
  } key, any;
  guint changes; /* changes of `any` in a row */
  gboolean frozen;
} WatchFrozen;

/* Begins another stream, whose pictures are not compared with earlier ones. A frozen camera
 * stays frozen until its picture changes. */
void watch_frozen_restart (WatchFrozen *self);

/* Takes a frame at @now (monotonic time). Returns whether the picture has been the same for @after
 * microseconds. */
gboolean watch_frozen_add (WatchFrozen *self, GstBuffer *frame, const GstVideoInfo *video,
                           gboolean key, gint64 now, gint64 after);

G_END_DECLS

#endif /* __WATCH_CAMERA_FROZEN_H__ */
