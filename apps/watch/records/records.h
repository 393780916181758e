/* cudaccl-watch - events and tracks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_RECORDS_H__
#define __WATCH_RECORDS_H__

#include <glib.h>

G_BEGIN_DECLS

/* Times are in microseconds since 1970, UTC, as g_get_real_time() returns them. Positions and boxes
 * are shares of the frame: 0 is its left or top edge, 1 its right or bottom edge.
 *
 * (camera, session, number) identifies an event, and another such triple a track. The session is a
 * UUID that the program makes when it starts. Numbers only grow. */

typedef enum
{
  WATCH_EVENT_MOTION, /* movement begins */
  WATCH_EVENT_STILL,  /* movement ends */
  WATCH_EVENT_ENTER,  /* zones, see GstCclZoneEventType */
  WATCH_EVENT_LEAVE,
  WATCH_EVENT_DWELL,
  WATCH_EVENT_IN, /* tripwires */
  WATCH_EVENT_OUT,
  WATCH_EVENT_LOST,    /* the camera is lost or frozen; `text` says why */
  WATCH_EVENT_BACK,    /* it is back; `dwell` is how long it was away */
  WATCH_EVENT_STOPPED, /* zones; `dwell` is how long it has stood. Numbers are stored: append */
  WATCH_EVENT_LEFT,
  WATCH_EVENT_REMOVED,
  WATCH_N_EVENT_KINDS,
} WatchEventKind;

typedef struct
{
  gchar *camera;
  gchar *session;
  guint64 number;
  gint64 time;
  WatchEventKind kind;
  gchar *zone;       /* or NULL */
  guint64 track;     /* 0 for none */
  gchar *class_name; /* or NULL */
  gdouble x, y;      /* where the object is; negative if there is none */
  gint64 dwell;      /* in microseconds, or 0 */
  guint64 in, out;   /* the zone's counts after the event, kept over restarts */
  guint inside;
  gchar *text;    /* for people, or NULL */
  gchar *picture; /* file in the media folder, or NULL */
  gchar *clip;    /* file in the media folder, or NULL; it is complete some seconds later */
  gchar *reason;  /* the reason of the text as JSON, or NULL */
} WatchEvent;

/* The state of a file that a record names. */
typedef enum
{
  WATCH_FILE_THERE,
  WATCH_FILE_PENDING,
  WATCH_FILE_MISSING,
} WatchFileState;

/* Kinds of lines that sinks take. */
typedef enum
{
  WATCH_LINE_EVENTS = 1 << 0,
  WATCH_LINE_TRACKS = 1 << 1,
  WATCH_LINE_FRAMES = 1 << 2,
} WatchLineKinds;

/* The box of a track at one time. */
typedef struct
{
  gint64 time;
  gfloat x, y, width, height;
} WatchPoint;

/* A track that has ended. */
typedef struct
{
  gchar *camera;
  gchar *session;
  guint64 number;
  gint64 begin, end;
  gchar *class_name; /* or NULL */
  gdouble confidence;
  guint n_points;
  WatchPoint *points; /* its path, in order of time: the first, the last, and the points between
                         that a straight line would miss by more than a hundredth of the frame */
  gchar **zones;      /* zones entered and tripwires crossed; may be NULL */
  gchar *picture;     /* file in the media folder: the frame in which it was largest, or NULL */
} WatchTrack;

/* The counts of one minute, of a camera or one of its zones. */
typedef struct
{
  gchar *camera;
  gchar *zone; /* NULL: the whole picture; in and out are then the tracks that began and ended */
  gint64 time; /* start of the minute */
  guint64 in, out;
  guint inside; /* highest number at a time */
} WatchMinute;

const gchar *watch_event_kind_get_name (WatchEventKind kind);

/* Returns FALSE for an unknown name. */
gboolean watch_event_kind_from_name (const gchar *name, WatchEventKind *kind);

/* The same for one kind of line: `events`, `tracks` or `frames`. */
const gchar *watch_line_kind_get_name (WatchLineKinds kind);
gboolean watch_line_kind_from_name (const gchar *name, WatchLineKinds *kind);

WatchEvent *watch_event_copy (const WatchEvent *event);
void watch_event_free (WatchEvent *event);

WatchTrack *watch_track_copy (const WatchTrack *track);
void watch_track_free (WatchTrack *track);

void watch_minute_free (WatchMinute *minute);

/* Formats @time as RFC 3339 with milliseconds, UTC. */
gchar *watch_time_to_string (gint64 time);

/* Parses RFC 3339, or a number of seconds since 1970. */
gboolean watch_time_from_string (const gchar *text, gint64 *time);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchEvent, watch_event_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchTrack, watch_track_free)

G_END_DECLS

#endif /* __WATCH_RECORDS_H__ */
