/* cudaccl-watch - records as JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/records/json.h"

#include <math.h>

#include "apps/watch/records/fields.h"

#define SHARE_DIGITS 4 /* enough to tell pixels apart */
#define SECONDS_DIGITS 3

void
watch_json_add_time (GString *json, const gchar *name, gint64 value)
{
  g_autofree gchar *text = watch_time_to_string (value);

  web_json_add_string (json, name, text);
}

static void
add_seconds (GString *json, const gchar *name, gint64 value)
{
  web_json_add_decimal (json, name, value / 1e6, SECONDS_DIGITS);
}

static void
add_share (GString *json, const gchar *name, gdouble value)
{
  web_json_add_decimal (json, name, value, SHARE_DIGITS);
}

static void
add_field (GString *json, const WatchEvent *event, const WatchField *field)
{
  switch (field->type) {
  case WATCH_FIELD_TEXT:
  case WATCH_FIELD_NAME:
    web_json_add_string (json, field->name, G_STRUCT_MEMBER (gchar *, event, field->offset));
    break;
  case WATCH_FIELD_JSON:
    web_json_add_json (json, field->name, G_STRUCT_MEMBER (gchar *, event, field->offset));
    break;
  case WATCH_FIELD_TIME:
    watch_json_add_time (json, field->name, G_STRUCT_MEMBER (gint64, event, field->offset));
    break;
  case WATCH_FIELD_DURATION:
    add_seconds (json, field->name, G_STRUCT_MEMBER (gint64, event, field->offset));
    break;
  case WATCH_FIELD_KIND:
    web_json_add_string (
        json, field->name,
        watch_event_kind_get_name (G_STRUCT_MEMBER (WatchEventKind, event, field->offset)));
    break;
  case WATCH_FIELD_UINT:
    web_json_add_uint (json, field->name, G_STRUCT_MEMBER (guint, event, field->offset));
    break;
  case WATCH_FIELD_UINT64:
    web_json_add_uint (json, field->name, G_STRUCT_MEMBER (guint64, event, field->offset));
    break;
  case WATCH_FIELD_SHARE:
    add_share (json, field->name, G_STRUCT_MEMBER (gdouble, event, field->offset));
    break;
  }
}

gchar *
watch_event_to_json (const WatchEvent *event)
{
  GString *json = web_json_new ();

  for (const WatchField *field = watch_event_fields; field->name; field++) {
    if (watch_event_has (event, field))
      add_field (json, event, field);
  }
  return web_json_take (json);
}

gchar *
watch_track_to_json (const WatchTrack *track)
{
  GString *json = web_json_new ();

  web_json_add_string (json, "camera", track->camera);
  web_json_add_string (json, "session", track->session);
  web_json_add_uint (json, "track", track->number);
  watch_json_add_time (json, "begin", track->begin);
  watch_json_add_time (json, "end", track->end);
  web_json_add_string (json, "class", track->class_name);
  if (track->confidence > 0)
    add_share (json, "confidence", track->confidence);
  web_json_add_strings (json, "zones", (const gchar *const *) track->zones);
  web_json_begin_array (json, "path");
  for (guint i = 0; i < track->n_points; i++) {
    const WatchPoint *point = &track->points[i];

    /* Seconds since `begin`, and the box. */
    web_json_begin_array (json, NULL);
    add_seconds (json, NULL, point->time - track->begin);
    add_share (json, NULL, point->x);
    add_share (json, NULL, point->y);
    add_share (json, NULL, point->width);
    add_share (json, NULL, point->height);
    web_json_end_array (json);
  }
  web_json_end_array (json);
  web_json_add_string (json, "picture", track->picture);
  return web_json_take (json);
}

gchar *
watch_minute_to_json (const WatchMinute *minute)
{
  GString *json = web_json_new ();

  web_json_add_string (json, "camera", minute->camera);
  web_json_add_string (json, "zone", minute->zone);
  watch_json_add_time (json, "utc", minute->time);
  web_json_add_int (json, "in", (gint64) minute->in);
  web_json_add_int (json, "out", (gint64) minute->out);
  web_json_add_uint (json, "inside", minute->inside);
  return web_json_take (json);
}

gchar *
watch_frame_to_json (const gchar *camera, const gchar *session, guint64 frame, gint64 time,
                     const GArray *boxes)
{
  GString *json = web_json_new ();

  web_json_add_string (json, "camera", camera);
  web_json_add_string (json, "session", session);
  web_json_add_int (json, "frame", (gint64) frame);
  watch_json_add_time (json, "utc", time);
  web_json_begin_array (json, "objects");
  for (guint i = 0; i < boxes->len; i++) {
    const WatchBox *box = &g_array_index (boxes, WatchBox, i);
    const gfloat values[] = { box->x, box->y, box->width, box->height };

    web_json_begin_object (json, NULL);
    web_json_add_int (json, "track", (gint64) box->track);
    web_json_add_string (json, "class", box->class_name);
    web_json_begin_array (json, "box");
    for (guint k = 0; k < G_N_ELEMENTS (values); k++)
      web_json_add_double (json, NULL, round (values[k] * 1e4) / 1e4);
    web_json_end_array (json);
    web_json_end_object (json);
  }
  web_json_end_array (json);
  return web_json_take (json);
}

/* --- Cameras --- */

/* Rounds to what a frame of 10 000 pixels needs. */
static void
add_rounded (GString *json, const gchar *name, gdouble value)
{
  web_json_add_double (json, name, (gint64) (value * 10000 + (value < 0 ? -0.5 : 0.5)) / 1e4);
}

static void
add_zones (GString *json, const GArray *zones)
{
  web_json_begin_array (json, "zones");
  for (guint i = 0; i < zones->len; i++) {
    const WatchZoneCounts *zone = &g_array_index (zones, WatchZoneCounts, i);

    web_json_begin_object (json, NULL);
    web_json_add_string (json, "name", zone->name);
    web_json_add_boolean (json, "tripwire", zone->tripwire);
    web_json_add_int (json, "in", (gint64) zone->in);
    web_json_add_int (json, "out", (gint64) zone->out);
    web_json_add_int (json, "inside", zone->inside);
    web_json_end_object (json);
  }
  web_json_end_array (json);
}

static void
add_boxes (GString *json, const GArray *boxes)
{
  web_json_begin_array (json, "boxes");
  for (guint i = 0; i < boxes->len; i++) {
    const WatchBox *box = &g_array_index (boxes, WatchBox, i);

    web_json_begin_object (json, NULL);
    web_json_add_int (json, "track", (gint64) box->track);
    web_json_add_string (json, "class", box->class_name);
    add_rounded (json, "x", box->x);
    add_rounded (json, "y", box->y);
    add_rounded (json, "width", box->width);
    add_rounded (json, "height", box->height);
    web_json_end_object (json);
  }
  web_json_end_array (json);
}

static void
add_state (GString *json, const gchar *member, const gchar *name, const WatchCameraStatus *status)
{
  web_json_add_string (json, member, name);
  web_json_add_string (json, "state", watch_camera_state_get_name (status->state));
  watch_json_add_time (json, "since", status->since);
  web_reason_add_both (json, status->reason);
}

void
watch_camera_status_add_json (GString *json, const gchar *name, const WatchCameraStatus *status)
{
  add_state (json, "name", name, status);
  web_json_add_int (json, "frames", (gint64) status->frames);
  web_json_add_int (json, "lost", (gint64) status->lost);
  web_json_add_int (json, "late", (gint64) status->late);
  web_json_add_double (json, "rate", (gint64) (status->rate * 10 + 0.5) / 10.0);
  web_json_add_int (json, "width", status->width);
  web_json_add_int (json, "height", status->height);
  web_json_add_string (json, "decoder", status->decoder);
  web_json_add_string (json, "backend", status->backend);
  web_json_add_int (json, "objects", status->objects);
  web_json_add_boolean (json, "moving", status->moving);
  add_zones (json, status->zones);
  add_boxes (json, status->boxes);
}

void
watch_camera_status_add_summary (GString *json, const gchar *name, const WatchCameraStatus *status)
{
  add_state (json, "camera", name, status);
  web_json_add_int (json, "rate", (gint64) (status->rate + 0.5));
  web_json_add_int (json, "objects", status->objects);
  web_json_add_boolean (json, "moving", status->moving);
}
