/* cudaccl-collect - its tables in PostgreSQL
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __COLLECT_DATABASE_H__
#define __COLLECT_DATABASE_H__

#include <gio/gio.h>
#include <libpq-fe.h>

G_BEGIN_DECLS

typedef enum
{
  COLLECT_EVENTS,
  COLLECT_STATES,
} CollectKind;

typedef enum
{
  COLLECT_DONE,
  COLLECT_REFUSED, /* one of the lines is wrong */
  COLLECT_AGAIN,   /* the database is unreachable, or cannot do it now */
} CollectResult;

/* Connects, and creates missing tables. @address is a connection string of libpq, which fills
 * gaps from its environment and files. */
PGconn *collect_db_open (const gchar *address, GError **error);

/* Stores @lines, the items of an array of JSON, in one transaction. Adds how many were new to
 * @stored. */
CollectResult collect_db_write (PGconn *db, CollectKind kind, const gchar *lines, guint64 *stored,
                                GError **error);

/* Removes rows older than @days, some at a time. */
CollectResult collect_db_trim (PGconn *db, guint days, GError **error);

/* Runs a query with @n parameters, each of which may be NULL, on its own connection, for some
 * seconds at most. Returns its only value, text. */
gchar *collect_db_query (const gchar *address, const gchar *query, const gchar *const *values,
                         guint n, GError **error);

/* Queries that return JSON. */
extern const gchar collect_db_fleet[];   /* programs and cameras, as of now */
extern const gchar collect_db_events[];  /* camera, kind, begin, end (both in microseconds),
                                            microseconds  and row of the first page's end, limit */
extern const gchar collect_db_missing[]; /* parameter: days that are kept */
extern const gchar collect_db_totals[];  /* lines for Prometheus */

G_END_DECLS

#endif /* __COLLECT_DATABASE_H__ */
