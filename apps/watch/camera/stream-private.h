/* cudaccl-watch - internals of a stream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_STREAM_PRIVATE_H__
#define __WATCH_CAMERA_STREAM_PRIVATE_H__

#include "apps/watch/camera/limit.h"
#include "apps/watch/camera/stream.h"

G_BEGIN_DECLS

#define N_KEYS 16 /* most frames in a decoder */

struct _WatchStream
{
  gint refs;
  WatchSettings *settings;
  gchar *uri, *user, *password;
  gboolean loop;
  gboolean analyse, paced;
  guint skip_decoders, max_rate;
  WatchStreamFuncs funcs;
  gpointer user_data;
  GstPadProbeCallback on_encoded; /* probe for access units behind the parser */
  GstPipeline *pipeline;
  WatchLimit *limit;
  GstClock *clock;
  guint watch; /* watch of the bus; main thread only */

  /* Held while `funcs` are called from streaming threads. */
  GMutex lock;
  gboolean active; /* `funcs` may be called */
  WatchCameraSettings *camera;
  GstElement *zones;

  /* Held while the pipeline's state changes. */
  GMutex state_lock;
  gint stopping;

  GMutex done_lock;
  GCond done_cond;
  gboolean done; /* the pipeline has stopped */

  /* Protected by the pipeline's object lock. */
  GstElement *source;
  GstElement *motion;
  GstElement *entry; /* first element of the analysis */
  gchar *decoder;
  gboolean can_record, linked;

  /* Streaming thread only. */
  GstClockTimeDiff offset; /* running time at which a repeated file began again */
  gboolean dropping;       /* drop access units up to the next key frame */
  GstClockTimeDiff baseline;
  gdouble credit;     /* frames that may pass now */
  gint64 credit_time; /* monotonic time of `credit` */
  gint64 last_frame;  /* monotonic time of the last frame that was not dropped */
  gint64 last_source; /* when the last source was replaced */
  WatchFrameInfo info;
  GstClockTime keys[N_KEYS]; /* running time of the last decoded key frames */
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

/* Adds the source to the pipeline; it links itself with the analysis once it knows the format.
 * Returns NULL after posting an error. */
GstElement *watch_stream_add_source (WatchStream *self);

G_END_DECLS

#endif /* __WATCH_CAMERA_STREAM_PRIVATE_H__ */
