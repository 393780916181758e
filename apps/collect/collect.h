/* cudaccl-collect - events of many programs in one database
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __COLLECT_H__
#define __COLLECT_H__

#include "apps/watch/settings/settings.h"
#include "apps/web/reason.h"

G_BEGIN_DECLS

/* Reads events and states of all programs from Kafka and writes them to PostgreSQL, in its own
 * thread. Kafka learns of a line after its commit, and a repeated line is stored once: no kill
 * loses or doubles lines. Any number of collectors may run: Kafka shares the partitions among
 * them. */
typedef struct _Collect Collect;

/* Fails if the settings are wrong; Kafka and PostgreSQL may be away. */
Collect *collect_new (WatchSettings *settings, GError **error);
void collect_free (Collect *self);

typedef struct
{
  guint64 stored, again; /* new events, and repeated ones; since the start */
  guint64 refused;       /* lines that are neither events nor states */
  gint64 last;           /* time of the last line, or 0 */
  WebReason *reason;     /* the present problem, or NULL; web_reason_free() */
} CollectStats;

/* From any thread. */
void collect_get_stats (Collect *self, CollectStats *stats);

WatchSettings *collect_get_settings (Collect *self);

G_END_DECLS

#endif /* __COLLECT_H__ */
