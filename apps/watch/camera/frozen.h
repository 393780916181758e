/* cudaccl-watch - finds pictures that do not change
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_FROZEN_H__
#define __WATCH_CAMERA_FROZEN_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* A sensor has noise, so that two pictures are never the same. But an encoder may leave out the
 * noise up to the next key frame, and encode a frozen picture somewhat differently up to it. So key
 * frames are compared with each other, and only after a much longer time all frames. */
typedef struct
{
  struct
  {
    guint64 hash;
    gint64 since; /* the picture is this one; 0: there was none */
    gint64 last;  /* look */
  } key, any;
  guint changes; /* of `any`, in a row */
  gboolean frozen;
} WatchFrozen;

/* Another stream begins: pictures are not compared with those before. A frozen camera stays frozen
 * until its picture changes. */
void watch_frozen_restart (WatchFrozen *self);

/* Takes a frame at @now (monotonic time). Returns whether the picture has been the same for @after
 * microseconds. */
gboolean watch_frozen_add (WatchFrozen *self, GstBuffer *frame, const GstVideoInfo *video,
                           gboolean key, gint64 now, gint64 after);

G_END_DECLS

#endif /* __WATCH_CAMERA_FROZEN_H__ */
