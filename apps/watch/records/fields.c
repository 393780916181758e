/* cudaccl-watch - the fields of events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/records/fields.h"

#define FIELD(name, column, type, member, presence, version)                \
  {                                                                         \
    name, column, WATCH_FIELD_##type, G_STRUCT_OFFSET (WatchEvent, member), \
        WATCH_FIELD_##presence, version                                     \
  }

/* A new field may stand anywhere, with the next version of the database: older databases get its
 * column when they are opened. */
const WatchField watch_event_fields[] = {
  FIELD ("camera", "camera", NAME, camera, ALWAYS, 1),
  FIELD ("session", "session", NAME, session, ALWAYS, 1),
  FIELD ("number", "number", UINT64, number, ALWAYS, 1),
  FIELD ("utc", "time", TIME, time, ALWAYS, 1),
  FIELD ("event", "kind", KIND, kind, ALWAYS, 1),
  FIELD ("zone", "zone", NAME, zone, IF_SET, 1),
  FIELD ("track", "track", UINT64, track, IF_SET, 1),
  FIELD ("class", "class", NAME, class_name, IF_SET, 1),
  FIELD ("x", "x", SHARE, x, IF_PLACED, 1),
  FIELD ("y", "y", SHARE, y, IF_PLACED, 1),
  FIELD ("dwell", "dwell", DURATION, dwell, IF_SET, 1),
  FIELD ("in", "\"in\"", UINT64, in, IF_ZONE, 1),
  FIELD ("out", "out", UINT64, out, IF_ZONE, 1),
  FIELD ("inside", "inside", UINT, inside, IF_ZONE, 1),
  FIELD ("text", "text", TEXT, text, IF_SET, 1),
  FIELD ("reason", "reason", JSON, reason, IF_SET, 2),
  FIELD ("picture", "picture", TEXT, picture, IF_SET, 1),
  FIELD ("clip", "clip", TEXT, clip, IF_SET, 1),
  { NULL },
};

static gboolean
is_set (const WatchEvent *event, const WatchField *field)
{
  switch (field->type) {
  case WATCH_FIELD_TEXT:
  case WATCH_FIELD_JSON:
  case WATCH_FIELD_NAME:
    return G_STRUCT_MEMBER (gchar *, event, field->offset) != NULL;
  case WATCH_FIELD_UINT:
    return G_STRUCT_MEMBER (guint, event, field->offset) != 0;
  case WATCH_FIELD_UINT64:
  case WATCH_FIELD_TIME:
  case WATCH_FIELD_DURATION:
    return G_STRUCT_MEMBER (gint64, event, field->offset) != 0;
  case WATCH_FIELD_KIND:
  case WATCH_FIELD_SHARE:
    break;
  }
  return TRUE;
}

gboolean
watch_event_has (const WatchEvent *event, const WatchField *field)
{
  switch (field->presence) {
  case WATCH_FIELD_IF_SET:
    return is_set (event, field);
  case WATCH_FIELD_IF_PLACED:
    return event->x >= 0;
  case WATCH_FIELD_IF_ZONE:
    return event->zone != NULL;
  case WATCH_FIELD_ALWAYS:
    break;
  }
  return TRUE;
}

static gboolean
is_text (const WatchField *field)
{
  return field->type <= WATCH_FIELD_NAME;
}

WatchEvent *
watch_event_copy (const WatchEvent *event)
{
  WatchEvent *copy = g_memdup2 (event, sizeof (*event));

  for (const WatchField *field = watch_event_fields; field->name; field++) {
    if (is_text (field))
      G_STRUCT_MEMBER (gchar *, copy, field->offset) =
          g_strdup (G_STRUCT_MEMBER (gchar *, event, field->offset));
  }
  return copy;
}

void
watch_event_free (WatchEvent *event)
{
  for (const WatchField *field = watch_event_fields; field->name; field++) {
    if (is_text (field))
      g_free (G_STRUCT_MEMBER (gchar *, event, field->offset));
  }
  g_free (event);
}
