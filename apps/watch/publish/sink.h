/* cudaccl-watch - what the sinks of the publisher share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SINK_H__
#define __WATCH_SINK_H__

#include <gio/gio.h>

#include "apps/watch/camera/camera.h"

G_BEGIN_DECLS

/* A sink takes lines from the spool in a thread of its own. It holds a window of them, in the order
 * of the spool: from the first that is not done to the last that was read. Lines in front that are
 * done are taken from the spool. Functions are for the sink's thread unless noted. */
typedef struct _WatchSink WatchSink;

typedef enum
{
  WATCH_LINE_WAITING,
  WATCH_LINE_SENT,
  WATCH_LINE_DONE,
} WatchLineState;

typedef struct
{
  WatchLine *line;
  WatchLineState state;
} WatchSinkLine;

struct _WatchSink
{
  gchar *key;  /* in the store */
  gchar *name; /* for people */
  const gchar *kinds;
  WatchStore *store;
  void (*run) (WatchSink *self); /* the thread */
  void (*free) (WatchSink *self);

  GThread *thread;
  int wake; /* eventfd */

  GMutex lock;
  GCond stopped;
  gint64 deadline; /* when the thread ends at the latest, monotonic time; 0: it goes on */
  gboolean connected;
  guint64 sent, refused;
  gchar *text;

  GArray *lines; /* of WatchSinkLine: the window */
  guint64 first; /* number of the first line in the window; numbers begin with 1 */
  gint64 row;    /* of the last line in the window */
  gboolean at_end;
  gint64 done_since; /* lines wait to be taken; monotonic time, or 0 */
  gint64 delay;      /* of the next attempt, in milliseconds */
};

/* Sinks by their settings. Each returns NULL and sets @error if the settings are wrong. */
WatchSink *watch_sink_new_mqtt (const WatchSettings *settings, GError **error);
WatchSink *watch_sink_new_kafka (const WatchSettings *settings, GError **error);
WatchSink *watch_sink_new_lines (const WatchSettings *settings, GError **error);
WatchSink *watch_sink_new_webhook (const gchar *url, GError **error);

/* For MQTT: as the publisher's functions of the same names. From any thread. */
void watch_sink_set_camera (WatchSink *sink, const gchar *camera, const WatchCameraStatus *status);
void watch_sink_set_picture (WatchSink *sink, const gchar *camera, GBytes *jpeg);

/* For Kafka: sends what the program and its cameras do, with the program as key; only the latest is
 * kept. Takes @status, a line of JSON. From any thread. */
void watch_sink_set_status (WatchSink *sink, const gchar *program, gchar *status);

/* Sets what all sinks have; for functions that make one. Takes @key and @name. */
void watch_sink_init (WatchSink *self, gchar *key, gchar *name, const gchar *kinds);
/* The opposite of watch_sink_init(), for `free`. */
void watch_sink_clear (WatchSink *self);

/* From the publisher's thread. */
void watch_sink_start (WatchSink *self, WatchStore *store);
/* Lets it end by @deadline, or earlier if all is sent or it is not connected. */
void watch_sink_stop (WatchSink *self, gint64 deadline);
void watch_sink_wake (WatchSink *self);

/* Whether the thread shall go on. While it ends: as long as it is connected, and lines are left or
 * it is @busy. */
gboolean watch_sink_goes_on (WatchSink *self, gboolean busy);

/* Reads lines from the spool until the window has @max, or the spool has no more. */
void watch_sink_fill (WatchSink *self, guint max);
/* Line @number was taken, or it never will be: then @refused says why. */
void watch_sink_done (WatchSink *self, guint64 number, const gchar *refused);
/* Tells the store what is done: at once with @now, else some lines or milliseconds later, since the
 * store then writes to the disk. Returns milliseconds until it must be called again. */
gint watch_sink_take (WatchSink *self, gboolean now);
/* Lines that are sent and not done must be sent again. */
void watch_sink_send_again (WatchSink *self);

/* @text says what is wrong, without credentials; NULL if nothing is. Logged if it is new. */
void watch_sink_set_state (WatchSink *self, gboolean connected, const gchar *text);
/* Waits before the next attempt: longer each time until something is done. Lines that arrive do not
 * shorten it. @min is in milliseconds. */
void watch_sink_back_off (WatchSink *self, gint64 min);

G_END_DECLS

#endif /* __WATCH_SINK_H__ */
