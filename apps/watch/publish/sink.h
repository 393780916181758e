/* cudaccl-watch - the base of sinks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SINK_H__
#define __WATCH_SINK_H__

#include <gio/gio.h>

#include "apps/watch/records/status.h"
#include "apps/watch/settings/settings.h"
#include "apps/watch/store/store.h"
#include "apps/web/reason.h"
#include "watch-sinks.h"

G_BEGIN_DECLS

/* A sink takes lines from the spool in its own thread. It holds a window of them in the spool's
 * order, from the first that is not done to the last that was read. Finished lines at its front
 * are taken from the spool. Sink's thread only unless noted. */
typedef struct _WatchSink WatchSink;

typedef struct
{
  void (*run) (WatchSink *self); /* the thread */
  void (*free) (WatchSink *self);
  /* Take states, from any thread; NULL if the sink has no use for them. A NULL @status removes
   * the camera. */
  void (*set_camera) (WatchSink *self, const gchar *camera, const WatchCameraStatus *status);
  void (*set_picture) (WatchSink *self, const gchar *camera, GBytes *jpeg);
  void (*set_program) (WatchSink *self, const gchar *program, const gchar *status);
} WatchSinkClass;

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
  const WatchSinkClass *klass;
  gchar *key;  /* in the store */
  gchar *name; /* for people */
  WatchLineKinds kinds;
  WatchStore *store;

  GThread *thread;
  int wake; /* eventfd */

  /* Protected by lock. */
  GMutex lock;
  GCond stopped;
  gint64 deadline; /* when the thread ends at the latest, monotonic time; 0: never */
  gboolean connected;
  guint64 sent, refused;
  WebReason *reason; /* may be NULL */

  /* Sink's thread only. */
  GArray *lines; /* WatchSinkLine: the window */
  guint64 first; /* number of the first line in the window; numbers begin with 1 */
  gint64 row;    /* row of the last line in the window */
  gboolean at_end;
  gint64 done_since; /* start of the wait to take finished lines, monotonic time; or 0 */
  gint64 delay;      /* wait before the next attempt, in milliseconds */
};

typedef void (*WatchSinkAdd) (WatchSink *sink, gpointer user_data);

/* A kind of sink. */
typedef struct
{
  const gchar *group; /* group of the settings; when it changes, all sinks are made anew */
  /* Passes the sinks of the settings to @add. Returns FALSE and sets @error if the settings are
   * wrong. */
  gboolean (*make) (const WatchSettings *settings, WatchSinkAdd add, gpointer user_data,
                    GError **error);
} WatchSinkType;

/* Listed in meson.build. */
#define WATCH_DECLARE_SINK(name) extern const WatchSinkType watch_sink_##name;
WATCH_SINKS (WATCH_DECLARE_SINK)
#undef WATCH_DECLARE_SINK

/* Initialises the fields that all sinks have. Takes @key and @name. */
void watch_sink_init (WatchSink *self, const WatchSinkClass *klass, gchar *key, gchar *name,
                      WatchLineKinds kinds);
/* Undoes watch_sink_init(), for free(). */
void watch_sink_clear (WatchSink *self);

/* From the publisher's thread only. */
void watch_sink_start (WatchSink *self, WatchStore *store);
/* Lets the sink end by @deadline, or earlier if everything is sent or it is not connected. */
void watch_sink_stop (WatchSink *self, gint64 deadline);
void watch_sink_wake (WatchSink *self);

/* Whether the thread must go on. After watch_sink_stop(): while it is connected and has lines
 * left or is @busy. */
gboolean watch_sink_goes_on (WatchSink *self, gboolean busy);

/* Reads lines from the spool until the window has @max, or the spool has no more. */
void watch_sink_fill (WatchSink *self, guint max);
/* Line @number is done. @refused says why the receiver will never take it; NULL if it did. */
void watch_sink_done (WatchSink *self, guint64 number, const gchar *refused);
/* Tells the store which lines are done. Without @now, waits for more lines or some milliseconds,
 * since the store writes to the disk. Returns the milliseconds until the next call. */
gint watch_sink_take (WatchSink *self, gboolean now);
/* Marks lines that were sent and are not done to be sent again. */
void watch_sink_send_again (WatchSink *self);

/* Sets the state and takes @reason, why lines do not get through, without credentials; or NULL.
 * Logs a change. */
void watch_sink_set_state (WatchSink *self, gboolean connected, WebReason *reason);
/* The same for an error message of a library. */
void watch_sink_fail (WatchSink *self, const gchar *text);
/* Waits before the next attempt, longer each time until a line is done, but at least @min
 * milliseconds. New lines do not shorten the wait. */
void watch_sink_back_off (WatchSink *self, gint64 min);

G_END_DECLS

#endif /* __WATCH_SINK_H__ */
