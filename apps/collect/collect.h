/* cudaccl-collect - events of many programs in one database
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __COLLECT_H__
#define __COLLECT_H__

#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

/* Reads events and states of all programs from Kafka and writes them to PostgreSQL, in a thread of
 * its own. Kafka learns that a line was read after it was committed, and a line that comes twice is
 * stored once: so none is lost or doubled whenever this or the others are killed. Any number may
 * run: Kafka shares the partitions among them. */
typedef struct _Collect Collect;

/* Fails if the settings are wrong; Kafka and PostgreSQL may be away. */
Collect *collect_new (WatchSettings *settings, GError **error);
void collect_free (Collect *self);

typedef struct
{
  guint64 stored, again; /* events that were new, and that were there already; since the start */
  guint64 refused;       /* lines that are no events or states */
  gint64 last;           /* when the last line came, or 0 */
  gchar *text;           /* what is wrong, in words, or NULL; g_free() */
} CollectStats;

/* From any thread. */
void collect_get_stats (Collect *self, CollectStats *stats);

WatchSettings *collect_get_settings (Collect *self);

G_END_DECLS

#endif /* __COLLECT_H__ */
