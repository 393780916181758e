/* cudaccl-watch - the table of events, from the fields of events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table begins with row and time, by which searches page; the other columns follow in the
 * order of the fields. Statements name columns, since a column of a later version comes last in
 * a database that was upgraded. */

#include "apps/watch/store/private.h"

#include "apps/watch/records/fields.h"

#define N_KEYS 2 /* row and time */

static const gchar *
get_sql_type (const WatchField *field)
{
  switch (field->type) {
  case WATCH_FIELD_TEXT:
  case WATCH_FIELD_JSON:
    return "TEXT";
  case WATCH_FIELD_SHARE:
    return "REAL";
  default:
    return "INTEGER";
  }
}

/* Whether a database of @version has the field, apart from the time, which is a key. */
static gboolean
is_column (const WatchField *field, guint version)
{
  return field->type != WATCH_FIELD_TIME && field->version <= version;
}

gchar *
watch_events_get_schema (guint version)
{
  GString *sql = g_string_new (NULL);

  if (version == 1)
    g_string_append (sql,
                     "CREATE TABLE events (row INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER");
  for (const WatchField *field = watch_event_fields; field->name; field++) {
    if (!is_column (field, version) || field->version != version)
      continue;
    g_string_append_printf (sql, version == 1 ? ", %s %s" : "ALTER TABLE events ADD COLUMN %s %s;",
                            field->column, get_sql_type (field));
  }
  if (version == 1)
    g_string_append (sql, ");");
  return g_string_free (sql, FALSE);
}

guint
watch_events_get_version (void)
{
  guint version = 1;

  for (const WatchField *field = watch_event_fields; field->name; field++)
    version = MAX (version, field->version);
  return version;
}

/* Returns the names of the columns after `row`, separated by commas. */
static GString *
list_columns (guint version, guint *n)
{
  GString *columns = g_string_new ("time");

  *n = 1;
  for (const WatchField *field = watch_event_fields; field->name; field++) {
    if (!is_column (field, version))
      continue;
    g_string_append_printf (columns, ", %s", field->column);
    ++*n;
  }
  return columns;
}

gchar *
watch_events_get_select (guint version)
{
  guint n;
  GString *sql = list_columns (version, &n);

  g_string_prepend (sql, "SELECT row, ");
  g_string_append (sql, " FROM events");
  return g_string_free (sql, FALSE);
}

gchar *
watch_events_get_insert (void)
{
  guint n;
  g_autoptr (GString) columns = list_columns (G_MAXUINT, &n);
  GString *sql = g_string_new (NULL);

  g_string_printf (sql, "INSERT INTO events (%s) VALUES (?", columns->str);
  while (--n)
    g_string_append (sql, ", ?");
  g_string_append_c (sql, ')');
  return g_string_free (sql, FALSE);
}

static void
bind_field (WatchStore *self, sqlite3_stmt *statement, int i, const WatchEvent *event,
            const WatchField *field)
{
  switch (field->type) {
  case WATCH_FIELD_TEXT:
  case WATCH_FIELD_JSON:
    sqlite3_bind_text (statement, i, G_STRUCT_MEMBER (gchar *, event, field->offset), -1,
                       SQLITE_STATIC);
    break;
  case WATCH_FIELD_NAME:
    sqlite3_bind_int64 (statement, i,
                        watch_names_get_number (
                            self->names, G_STRUCT_MEMBER (gchar *, event, field->offset), TRUE));
    break;
  case WATCH_FIELD_SHARE:
    sqlite3_bind_double (statement, i, G_STRUCT_MEMBER (gdouble, event, field->offset));
    break;
  case WATCH_FIELD_KIND:
    sqlite3_bind_int64 (statement, i, G_STRUCT_MEMBER (WatchEventKind, event, field->offset));
    break;
  case WATCH_FIELD_UINT:
    sqlite3_bind_int64 (statement, i, G_STRUCT_MEMBER (guint, event, field->offset));
    break;
  case WATCH_FIELD_UINT64:
  case WATCH_FIELD_TIME:
  case WATCH_FIELD_DURATION:
    sqlite3_bind_int64 (statement, i, G_STRUCT_MEMBER (gint64, event, field->offset));
    break;
  }
}

int
watch_events_insert (WatchStore *self, const WatchEvent *event)
{
  sqlite3_stmt *statement = watch_db_prepare (self->db, self->event_insert);
  int i = 1;

  if (!statement)
    return sqlite3_extended_errcode (self->db->db);
  sqlite3_bind_int64 (statement, i++, event->time);
  for (const WatchField *field = watch_event_fields; field->name; field++) {
    if (is_column (field, G_MAXUINT))
      bind_field (self, statement, i++, event, field);
  }
  sqlite3_step (statement);
  return sqlite3_reset (statement);
}

static void
read_field (WatchStore *self, sqlite3_stmt *statement, int i, WatchEvent *event,
            const WatchField *field)
{
  switch (field->type) {
  case WATCH_FIELD_TEXT:
  case WATCH_FIELD_JSON:
    G_STRUCT_MEMBER (gchar *, event, field->offset) =
        g_strdup ((const gchar *) sqlite3_column_text (statement, i));
    break;
  case WATCH_FIELD_NAME:
    G_STRUCT_MEMBER (gchar *, event, field->offset) =
        watch_names_get_name (self->names, (guint32) sqlite3_column_int64 (statement, i));
    break;
  case WATCH_FIELD_SHARE:
    G_STRUCT_MEMBER (gdouble, event, field->offset) = sqlite3_column_double (statement, i);
    break;
  case WATCH_FIELD_KIND:
    G_STRUCT_MEMBER (WatchEventKind, event, field->offset) =
        CLAMP (sqlite3_column_int (statement, i), 0, WATCH_N_EVENT_KINDS - 1);
    break;
  case WATCH_FIELD_UINT:
    G_STRUCT_MEMBER (guint, event, field->offset) = (guint) sqlite3_column_int64 (statement, i);
    break;
  case WATCH_FIELD_UINT64:
  case WATCH_FIELD_TIME:
  case WATCH_FIELD_DURATION:
    G_STRUCT_MEMBER (gint64, event, field->offset) = sqlite3_column_int64 (statement, i);
    break;
  }
}

WatchEvent *
watch_events_read (WatchStore *self, sqlite3_stmt *statement)
{
  WatchEvent *event = g_new0 (WatchEvent, 1);
  int i = N_KEYS;

  event->time = sqlite3_column_int64 (statement, 1);
  for (const WatchField *field = watch_event_fields; field->name; field++) {
    if (is_column (field, self->version))
      read_field (self, statement, i++, event, field);
  }
  return event;
}
