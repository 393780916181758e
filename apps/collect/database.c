/* cudaccl-collect - its tables in PostgreSQL
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/collect/database.h"

#include <string.h>

#include "apps/web/reason.h"

/* PostgreSQL takes `infinity`, `now` and times of its own time zone, too, and as text, 10:00 is
 * before 9:00. */
#define IS_UTC "'^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$'"

/* Several programs may start at the same time. */
static const gchar schema[] =
    "BEGIN; SELECT pg_advisory_xact_lock(723390690146385);"
    "CREATE TABLE IF NOT EXISTS events ("
    "  camera text, session uuid, number bigint CHECK (number > 0), utc timestamptz NOT NULL, "
    "event text NOT NULL,"
    "  line jsonb NOT NULL CHECK (line->>'utc' ~ " IS_UTC "),"
    "  row bigint GENERATED ALWAYS AS IDENTITY,"
    "  PRIMARY KEY (camera, session, number));"
    "CREATE INDEX IF NOT EXISTS events_utc ON events (utc, row);"
    "CREATE INDEX IF NOT EXISTS events_camera ON events (camera, utc, row);"
    /* A session numbers its events 1, 2, 3, …: if `number`, the highest, is not their count,
     * some are missing. */
    "CREATE TABLE IF NOT EXISTS sessions ("
    "  camera text, session uuid, number bigint NOT NULL, stored bigint NOT NULL,"
    "  first timestamptz NOT NULL, last timestamptz NOT NULL, PRIMARY KEY (camera, session));"
    "CREATE INDEX IF NOT EXISTS sessions_missing ON sessions (last) WHERE number > stored;"
    "CREATE TABLE IF NOT EXISTS programs ("
    "  program text PRIMARY KEY, seen timestamptz NOT NULL, status jsonb NOT NULL);"
    "COMMIT";

static const gchar *const writes[] = {
  [COLLECT_EVENTS] =
      "WITH fresh AS ("
      "  INSERT INTO events (camera, session, number, utc, event, line)"
      "  SELECT l->>'camera', (l->>'session')::uuid, (l->>'number')::bigint,"
      "    (l->>'utc')::timestamptz, l->>'event', l FROM jsonb_array_elements($1::jsonb) l"
      "  ON CONFLICT DO NOTHING RETURNING camera, session, number, utc),"
      " told AS ("
      "  INSERT INTO sessions AS s (camera, session, number, stored, first, last)"
      "  SELECT camera, session, max(number), count(*), min(utc), max(utc) FROM fresh"
      "  GROUP BY camera, session ORDER BY camera, session"
      "  ON CONFLICT (camera, session) DO UPDATE SET number = greatest(s.number, EXCLUDED.number),"
      "    stored = s.stored + EXCLUDED.stored, first = least(s.first, EXCLUDED.first),"
      "    last = greatest(s.last, EXCLUDED.last))"
      "SELECT count(*) FROM fresh",
  /* The latest state of each program; states may come out of order. One from the
   * future, by a wrong clock, must not keep others out. */
  [COLLECT_STATES] =
      "WITH told AS ("
      "  INSERT INTO programs AS p"
      "  SELECT DISTINCT ON (l->>'program') l->>'program', now(), l"
      "  FROM jsonb_array_elements($1::jsonb) l"
      "  WHERE l->>'program' IS NOT NULL AND l->>'utc' ~ " IS_UTC
      "  ORDER BY l->>'program', l->>'utc' DESC"
      "  ON CONFLICT (program) DO UPDATE SET seen = EXCLUDED.seen, status = EXCLUDED.status"
      "  WHERE p.status->>'utc' <= EXCLUDED.status->>'utc'"
      "    OR p.status->>'utc' > to_char(now() AT TIME ZONE 'UTC' + interval '1 minute',"
      "      'YYYY-MM-DD\"T\"HH24:MI:SS')"
      "    OR p.status->>'utc' !~ " IS_UTC ")"
      "SELECT 0",
};

static const gchar *const trims[] = {
  "DELETE FROM events WHERE ctid IN (SELECT ctid FROM events"
  "  WHERE utc < now() - $1::int * interval '1 day' LIMIT 50000)",
  "DELETE FROM sessions WHERE last < now() - $1::int * interval '1 day'",
};

/* Keep programs that have ended for a while, since older states may still come. */
static const gchar trim_programs[] =
    "DELETE FROM programs WHERE seen < now() - interval '1 day'"
    "  OR (status->>'ends' = 'true' AND seen < now() - interval '1 minute')";

const gchar collect_db_fleet[] =
    "WITH p AS (SELECT program, status, seen, seen < now() - interval '15 seconds' AS gone"
    "    FROM programs WHERE coalesce(status->>'ends', '') <> 'true'),"
    "  c AS (SELECT DISTINCT ON (e->>'camera') e, program, gone, seen"
    "    FROM p, jsonb_array_elements(CASE jsonb_typeof(status->'cameras') WHEN 'array'"
    "      THEN status->'cameras' ELSE '[]' END) e"
    "    WHERE e->>'camera' IS NOT NULL ORDER BY e->>'camera', gone, seen DESC),"
    "  n AS MATERIALIZED (SELECT program, count(*) AS cameras FROM c GROUP BY program)"
    "SELECT json_build_object("
    "  'programs', (SELECT coalesce(json_agg(status - 'cameras' || jsonb_build_object("
    "      'seen', seen, 'gone', gone, 'cameras', coalesce(n.cameras, 0))"
    "    ORDER BY length(program), program), '[]') FROM p LEFT JOIN n USING (program)),"
    "  'cameras', (SELECT coalesce(json_agg(e || jsonb_build_object('program', program)"
    "      || CASE WHEN gone THEN jsonb_build_object('state', 'gone', 'since', seen) ELSE '{}' END"
    "    ORDER BY e->>'camera'), '[]') FROM c),"
    "  'events', (SELECT coalesce(sum(stored), 0) FROM sessions),"
    "  'missing', (SELECT coalesce(sum(number - stored), 0) FROM sessions WHERE number > stored))";

const gchar collect_db_events[] =
    "WITH found AS (SELECT line, utc, row FROM events"
    "  WHERE ($1::text IS NULL OR camera = $1) AND ($2::text IS NULL OR event = $2)"
    "    AND ($3::bigint IS NULL OR utc >= to_timestamp($3 / 1e6))"
    "    AND ($4::bigint IS NULL OR utc < to_timestamp($4 / 1e6))"
    "    AND ($5::bigint IS NULL OR (utc, row) < (to_timestamp($5 / 1e6), $6::bigint))"
    "  ORDER BY utc DESC, row DESC LIMIT $7::bigint)"
    "SELECT json_build_object("
    "  'events', coalesce(json_agg(line ORDER BY utc DESC, row DESC), '[]'),"
    "  'next', CASE WHEN count(*) = $7::bigint THEN"
    "    (SELECT (extract(epoch FROM utc) * 1e6)::bigint || '-' || row FROM found"
    "      ORDER BY utc, row LIMIT 1) END) FROM found";

/* If the first numbers were removed by age, only gaps between others count. */
const gchar collect_db_missing[] =
    "SELECT json_build_object('missing', coalesce(json_agg(m), '[]')) FROM ("
    "  SELECT camera, session, number - stored AS missing, first, last,"
    "    (SELECT json_agg(json_build_array(a, b) ORDER BY a) FROM ("
    "      SELECT coalesce(lag(e.number) OVER (ORDER BY e.number),"
    "        CASE WHEN $1::int = 0 OR s.first > now() - $1::int * interval '1 day' THEN 0 END) + 1 "
    "AS a,"
    "        e.number - 1 AS b FROM events e WHERE e.camera = s.camera AND e.session = s.session) r"
    "      WHERE a <= b) AS numbers"
    "  FROM sessions s WHERE number > stored ORDER BY last DESC LIMIT 100) m";

const gchar collect_db_totals[] =
    "WITH p AS (SELECT status, seen > now() - interval '15 seconds' AS up FROM programs"
    "    WHERE coalesce(status->>'ends', '') <> 'true')"
    "SELECT format(E'programs{state=\"up\"} %s\\nprograms{state=\"gone\"} %s\\nmissing %s\\n',"
    "  (SELECT count(*) FROM p WHERE up), (SELECT count(*) FROM p WHERE NOT up),"
    "  (SELECT coalesce(sum(number - stored), 0) FROM sessions WHERE number > stored))";

/* Errors of libpq end with a newline. */
static void
set_error (GError **error, const gchar *text)
{
  g_autofree gchar *line = g_strchomp (g_utf8_make_valid (text, -1));

  g_propagate_error (error,
                     web_reason_to_error (web_reason_new (WEB_REASON_POSTGRESQL_FAILED, "detail",
                                                          g_strdelimit (line, "\n", ' '), NULL)));
}

static CollectResult
check (PGresult *result, GError **error)
{
  const gchar *code = PQresultErrorField (result, PG_DIAG_SQLSTATE);
  ExecStatusType status = PQresultStatus (result);

  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
    return COLLECT_DONE;
  set_error (error, PQresultErrorMessage (result));
  /* Wrong values, violated constraints, and limits such as that of an index. */
  return code && (g_str_has_prefix (code, "22") || g_str_has_prefix (code, "23") ||
                  g_str_has_prefix (code, "54"))
             ? COLLECT_REFUSED
             : COLLECT_AGAIN;
}

/* Notice a host that vanishes. */
static PGconn *
connect_to (const gchar *address, const gchar *options, GError **error)
{
  const gchar *const names[] = { "dbname",
                                 "connect_timeout",
                                 "tcp_user_timeout",
                                 "fallback_application_name",
                                 "client_encoding",
                                 "options",
                                 NULL };
  const gchar *const values[] = { address, "5", "10000", "cudaccl-collect", "UTF8", options, NULL };
  PGconn *db = PQconnectdbParams (names, values, TRUE);

  if (PQstatus (db) == CONNECTION_OK)
    return db;
  set_error (error, PQerrorMessage (db));
  PQfinish (db);
  return NULL;
}

static void
ignore_notice (void *data, const PGresult *result)
{
}

PGconn *
collect_db_open (const gchar *address, GError **error)
{
  PGconn *db = connect_to (address, "-c statement_timeout=60s", error);
  PGresult *result;

  if (!db)
    return NULL;
  /* Silence notices that the tables exist already. */
  PQsetNoticeReceiver (db, ignore_notice, NULL);
  result = PQexec (db, schema);
  if (check (result, error) != COLLECT_DONE)
    g_clear_pointer (&db, PQfinish);
  PQclear (result);
  return db;
}

CollectResult
collect_db_write (PGconn *db, CollectKind kind, const gchar *lines, guint64 *stored, GError **error)
{
  g_autofree gchar *array = g_strdup_printf ("[%s]", lines);
  const gchar *const values[] = { array };
  PGresult *answer = PQexecParams (db, writes[kind], 1, NULL, values, NULL, NULL, 0);
  CollectResult result = check (answer, error);

  if (result == COLLECT_DONE)
    *stored += g_ascii_strtoull (PQgetvalue (answer, 0, 0), NULL, 10);
  PQclear (answer);
  return result;
}

CollectResult
collect_db_trim (PGconn *db, guint days, GError **error)
{
  g_autofree gchar *text = g_strdup_printf ("%u", days);
  const gchar *const values[] = { text };
  PGresult *answer = PQexec (db, trim_programs);
  CollectResult result = check (answer, error);

  PQclear (answer);
  for (guint i = 0; i < G_N_ELEMENTS (trims) && days && result == COLLECT_DONE; i++) {
    answer = PQexecParams (db, trims[i], 1, NULL, values, NULL, NULL, 0);
    result = check (answer, error);
    PQclear (answer);
  }
  return result;
}

gchar *
collect_db_query (const gchar *address, const gchar *query, const gchar *const *values, guint n,
                  GError **error)
{
  PGconn *db = connect_to (address, "-c statement_timeout=5s", error);
  PGresult *answer;
  gchar *text = NULL;

  if (!db)
    return NULL;
  answer = PQexecParams (db, query, (int) n, NULL, values, NULL, NULL, 0);
  if (check (answer, error) == COLLECT_DONE)
    text = g_strdup (PQgetvalue (answer, 0, 0));
  PQclear (answer);
  PQfinish (db);
  return text;
}
