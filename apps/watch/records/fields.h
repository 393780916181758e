/* cudaccl-watch - the fields of events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_FIELDS_H__
#define __WATCH_FIELDS_H__

#include "apps/watch/records/records.h"

G_BEGIN_DECLS

typedef enum
{
  WATCH_FIELD_TEXT,     /* gchar *, may be NULL */
  WATCH_FIELD_JSON,     /* the same, an object of JSON */
  WATCH_FIELD_NAME,     /* a text of a few values: the database stores it as a number */
  WATCH_FIELD_TIME,     /* gint64, since 1970 in microseconds */
  WATCH_FIELD_DURATION, /* gint64, in microseconds */
  WATCH_FIELD_KIND,     /* WatchEventKind */
  WATCH_FIELD_UINT,     /* guint */
  WATCH_FIELD_UINT64,   /* guint64 */
  WATCH_FIELD_SHARE,    /* gdouble, of the frame */
} WatchFieldType;

typedef enum
{
  WATCH_FIELD_ALWAYS,
  WATCH_FIELD_IF_SET,    /* not 0 */
  WATCH_FIELD_IF_PLACED, /* the event has a position */
  WATCH_FIELD_IF_ZONE,   /* the event has a zone */
} WatchFieldPresence;

/* A field of WatchEvent, which the database and JSON have, too. To add one, add a member to
 * WatchEvent and a line to the table: copies, the database and JSON follow. */
typedef struct
{
  const gchar *name;   /* member of JSON */
  const gchar *column; /* of the table `events`, quoted if SQL needs it */
  WatchFieldType type;
  gsize offset;
  WatchFieldPresence presence; /* in JSON */
  guint version;               /* of the first database that has the column */
} WatchField;

/* In the order of JSON; ends with a field without a name. */
extern const WatchField watch_event_fields[];

/* Whether JSON has the field. */
gboolean watch_event_has (const WatchEvent *event, const WatchField *field);

G_END_DECLS

#endif /* __WATCH_FIELDS_H__ */
