/* cudaccl - long runs with flat memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_SOAK_SOAK_H
#define TESTS_SOAK_SOAK_H

#include <gst/gst.h>

/* How often a part does what it does. */
typedef struct
{
  guint64 frames, cycles, seeks, kills;
  const gchar *backend; /* of cudaccl and cclcolor */
  guint32 seed;
} SoakOptions;

/* Samples of this process's memory, taken in the same phase of what is repeated. */
typedef struct
{
  const gchar *name;
  GArray *samples; /* Sample */
  gint64 start;
} SoakWatch;

void soak_watch_init (SoakWatch *watch, const gchar *name);
void soak_watch_sample (SoakWatch *watch);

/* Prints the figures. Returns FALSE, with a message, if memory grew from the second quarter of the
 * samples to the last: the first one is for caches to fill. */
gboolean soak_watch_report (SoakWatch *watch, guint64 n, const gchar *what);

/* Random numbers that are the same everywhere; @n is at least 1. */
guint32 soak_random (guint32 n);

/* Waits for a message of one of @types, at most a minute. Prints errors of elements. */
GstMessage *soak_wait (GstElement *pipeline, GstMessageType types);

/* The parts: each returns FALSE, with a message, if something went wrong. */
gboolean soak_frames (const SoakOptions *options);
gboolean soak_cycles (const SoakOptions *options);
gboolean soak_seeks (const SoakOptions *options);

/* Prints why if it has to be skipped. @program is this program, which is one side of the connection
 * when it is called with --side. */
gboolean soak_socket (const SoakOptions *options, const gchar *program, gboolean *skipped);
int soak_socket_side (const gchar *side, const gchar *path);

#endif
