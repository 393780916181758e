/* cudaccl-watch - a camera's stream: one pipeline for one try
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_STREAM_H__
#define __WATCH_CAMERA_STREAM_H__

#include <gst/video/video.h>

#include "apps/web/reason.h"
#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

/* Connects to a camera, and passes on frames until it fails or is stopped. The pipeline starts
 * and stops in threads of its own: a source that hangs blocks nothing else. */
typedef struct _WatchStream WatchStream;

typedef struct
{
  gboolean key;      /* the frame was decoded from a key frame */
  gboolean live;     /* from a camera, not a file */
  gboolean mappable; /* its pixels can be read */
  guint64 late;      /* frames skipped so far because the machine is too slow */
  guint64 excess;    /* frames skipped so far beyond `max-rate` */
} WatchFrameInfo;

/* The first two are called in streaming threads, one at a time, and never after
 * watch_stream_stop(). */
typedef struct
{
  /* An access unit of H.264 or H.265 with running time as timestamps. May be NULL. */
  void (*encoded) (GstBuffer *buffer, GstCaps *caps, gint64 time, gpointer user_data);
  /* A frame with its metadata; @time is when it was taken. */
  void (*frame) (GstBuffer *buffer, const GstVideoInfo *video, const WatchFrameInfo *info,
                 gint64 time, gpointer user_data);
  /* In the main thread, once: the stream has failed, or is @finished, as a file. @decoder: the
   * decoder failed, and another one may work. */
  void (*ended) (const WebReason *reason, gboolean finished, gboolean decoder, gpointer user_data);
} WatchStreamFuncs;

/* Starts a stream. Without @analyse, there are only access units. Skips the @skip_decoders best
 * decoders. */
WatchStream *watch_stream_new (WatchSettings *settings, WatchCameraSettings *camera,
                               const gchar *uri, gboolean analyse, guint skip_decoders,
                               const WatchStreamFuncs *funcs, gpointer user_data);

/* Takes other zones, tripwires, and times until objects dwell or are static. */
void watch_stream_update (WatchStream *self, WatchCameraSettings *camera);

/* Begins to stop; no callback runs afterwards. */
void watch_stream_stop (WatchStream *self);
/* Waits for the end, but not beyond @deadline (monotonic time). Returns whether the stream has
 * stopped. */
gboolean watch_stream_wait (WatchStream *self, gint64 deadline);
/* Call after watch_stream_stop(). Does not wait. */
void watch_stream_unref (WatchStream *self);

/* Returns the names of the decoder's factory and of cclmotion's backend, or NULL. */
void watch_stream_get_elements (WatchStream *self, gchar **decoder, gchar **backend);
/* Whether there are access units to record. */
gboolean watch_stream_can_record (WatchStream *self);

G_END_DECLS

#endif /* __WATCH_CAMERA_STREAM_H__ */
