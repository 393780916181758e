/* cudaccl-watch - searches over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/http/search.h"

#include "apps/watch/http/app.h"
#include "apps/watch/records/json.h"

#include <math.h>
#include <string.h>

#define MAX_POINTS 64
#define DEFAULT_LIMIT 100
#define MAX_LIMIT 1000
#define MAX_MINUTES 100000 /* in an answer: ten weeks */

typedef struct
{
  WatchStore *store;
  GPtrArray *texts; /* strings that the query points to */
  gdouble points[2 * MAX_POINTS];
  WatchQuery query;
  enum
  {
    EVENTS,
    TRACKS,
    MINUTES
  } what;
} Search;

static void
search_free (gpointer data)
{
  Search *search = data;

  g_ptr_array_unref (search->texts);
  g_free (search);
}

/* --- Reading the query --- */

static const gchar *
keep (Search *search, const gchar *text)
{
  if (text)
    g_ptr_array_add (search->texts, g_strdup (text));
  return text ? g_ptr_array_index (search->texts, search->texts->len - 1) : NULL;
}

/* `x,y x,y …`, each 0 to 1 */
static gboolean
read_points (const gchar *text, Search *search)
{
  const gchar *at = text;
  guint n = 0;

  while (*at) {
    gchar *end;
    gdouble value = g_ascii_strtod (at, &end);

    /* x is followed by a comma, y by a space or the end. */
    if (end == at || n == 2 * MAX_POINTS || !(value >= 0 && value <= 1) ||
        (n % 2 == 0 ? *end != ',' : *end != '\0' && *end != ' '))
      return FALSE;
    search->points[n++] = value;
    at = *end ? end + 1 : end;
  }
  search->query.points = search->points;
  search->query.n_points = n / 2;
  return n % 2 == 0 && n >= 4;
}

static gboolean
read_time (const WebRequest *request, const gchar *name, gint64 *time)
{
  const gchar *text = web_http_get (request, name);

  return !text || watch_time_from_string (text, time) ||
         web_http_refuse_value (request, name,
                                "a time such as 2026-01-31T12:00:00Z, or seconds since 1970");
}

static gboolean
read_query (const WebRequest *request, Search *search)
{
  WatchQuery *query = &search->query;
  const gchar *kind = web_http_get (request, "kind"), *before = web_http_get (request, "before");
  const gchar *limit = web_http_get (request, "limit");
  const gchar *points = web_http_get (request, "points");
  guint64 row = 0, n = search->what == MINUTES ? MAX_MINUTES : DEFAULT_LIMIT;
  WatchEventKind event_kind;

  query->camera = keep (search, web_http_get (request, "camera"));
  query->zone = keep (search, web_http_get (request, "zone"));
  query->class_name = keep (search, web_http_get (request, "class"));
  query->kind = -1;
  if (!read_time (request, "begin", &query->begin) || !read_time (request, "end", &query->end))
    return FALSE;
  if (query->end && query->end < query->begin)
    return web_http_refuse_value (request, "end", "a time after begin");
  if (kind) {
    if (!watch_event_kind_from_name (kind, &event_kind))
      return web_http_refuse_value (request, "kind",
                                    "motion, still, enter, leave, dwell, in, out, lost or back");
    query->kind = event_kind;
  }
  if (before && !g_ascii_string_to_unsigned (before, 10, 1, G_MAXINT64, &row, NULL))
    return web_http_refuse_value (request, "before", "the number that next had");
  if (limit && !g_ascii_string_to_unsigned (limit, 10, 1, MAX_LIMIT, &n, NULL))
    return web_http_refuse_value (request, "limit", "1 to 1000");
  if (points && !read_points (points, search))
    return web_http_refuse_value (request, "points",
                                  "2 to 64 points x,y of 0 to 1, separated by spaces");
  query->before = (gint64) row;
  query->limit = (guint) n;
  return TRUE;
}

/* --- Searching, in a thread --- */

static void
add_records (GString *json, const Search *search, GPtrArray *records)
{
  for (guint i = 0; i < records->len; i++) {
    gpointer record = g_ptr_array_index (records, i);
    g_autofree gchar *line = NULL;

    if (search->what == EVENTS)
      line = watch_event_to_json (record);
    else if (search->what == TRACKS)
      line = watch_track_to_json (record);
    else
      line = watch_minute_to_json (record);
    /* One record a line. */
    web_json_add_json (json, NULL, i ? "\n" : "");
    g_string_append (json, line);
  }
}

static void
run (WebAnswer *answer, gpointer data, GCancellable *cancellable)
{
  static const gchar *const names[] = { "events", "tracks", "minutes" };
  Search *search = data;
  g_autoptr (GPtrArray) records = NULL;
  GString *json;
  gint64 next = 0;
  gchar *text;

  if (search->what == EVENTS)
    records = watch_store_find_events (search->store, &search->query, &next, &answer->error);
  else if (search->what == TRACKS)
    records = watch_store_find_tracks (search->store, &search->query, &next, &answer->error);
  else
    records = watch_store_find_minutes (search->store, &search->query, &answer->error);
  if (records && records->len == MAX_MINUTES) {
    answer->error = web_reason_to_error (web_reason_new (WEB_REASON_SEARCH_LARGE, NULL));
    g_clear_pointer (&records, g_ptr_array_unref);
  }
  if (!records)
    return;
  json = web_json_new ();
  web_json_begin_array (json, names[search->what]);
  add_records (json, search, records);
  web_json_end_array (json);
  if (next)
    web_json_add_int (json, "next", next);
  answer->status = SOUP_STATUS_OK;
  answer->type = "application/json";
  text = web_json_take (json);
  answer->body = g_bytes_new_take (text, strlen (text));
}

static void
start (const WebRequest *request, guint what)
{
  Search *search = g_new0 (Search, 1);

  search->store = ((WatchApp *) request->app)->shared.store;
  search->texts = g_ptr_array_new_with_free_func (g_free);
  search->what = what;
  if (read_query (request, search))
    web_http_run (request, run, search, search_free);
  else
    search_free (search);
}

void
watch_api_events (const WebRequest *request)
{
  start (request, EVENTS);
}

void
watch_api_tracks (const WebRequest *request)
{
  start (request, TRACKS);
}

void
watch_api_minutes (const WebRequest *request)
{
  start (request, MINUTES);
}
