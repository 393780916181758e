/* cudaccl-watch - internals of a stream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_STREAM_PRIVATE_H__
#define __WATCH_CAMERA_STREAM_PRIVATE_H__

#include "apps/watch/camera/stream.h"

G_BEGIN_DECLS

#define N_KEYS 16 /* frames in a decoder, at most */

struct _WatchStream
{
  gint refs;
  WatchSettings *settings;
  gchar *uri, *user, *password;
  gboolean loop;
  gboolean analyse, paced;
  guint skip_decoders;
  WatchStreamFuncs funcs;
  gpointer user_data;
  GstPadProbeCallback on_encoded; /* for access units behind the parser */
  GstPipeline *pipeline;
  GstClock *clock;
  guint watch; /* of the bus; main thread */

  /* Held while functions are called from streaming threads. */
  GMutex lock;
  gboolean active; /* functions may be called */
  WatchCameraSettings *camera;
  GstElement *zones;

  /* Held while the state is changed. */
  GMutex state_lock;
  gint stopping;

  GMutex done_lock;
  GCond done_cond;
  gboolean done; /* stopped */

  /* Under the object lock of the pipeline. */
  GstElement *source;
  GstElement *motion;
  GstElement *entry; /* of the analysis */
  gchar *decoder;
  gboolean can_record, linked;

  /* Streaming thread. */
  GstClockTimeDiff offset; /* of running time, of a file that is repeated */
  gboolean dropping;       /* access units up to the next key frame */
  GstClockTimeDiff baseline;
  gint64 last_frame;  /* that was not dropped, monotonic time */
  gint64 last_source; /* was replaced */
  WatchFrameInfo info;
  GstClockTime keys[N_KEYS]; /* running time of key frames that were decoded last */
  guint next_key;
  gboolean has_keys;
  GstVideoInfo video;
  gboolean has_video;
};

/* source.c */

/* Posts an error that carries @reason, and takes it. */
void watch_stream_post_failure (WatchStream *self, WebReason *reason);

/* Returns a new element in @bin, or NULL after posting an error. */
GstElement *watch_stream_add_element (WatchStream *self, GstElement *bin, const gchar *name);

/* Adds the source to the pipeline. Returns NULL after posting an error. It links itself with the
 * analysis when it knows what comes. */
GstElement *watch_stream_add_source (WatchStream *self);

G_END_DECLS

#endif /* __WATCH_CAMERA_STREAM_PRIVATE_H__ */
