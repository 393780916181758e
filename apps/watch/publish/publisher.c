/* cudaccl-watch - tells brokers, web hooks and files
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/publish/publisher.h"

#include "apps/watch/publish/sink.h"

/* How long watch_publisher_free() waits. */
#define FREE_TIME (2 * G_TIME_SPAN_SECOND)

/* The store has room for no more. */
#define MAX_SINKS 16

#define SINK(name) &watch_sink_##name,
static const WatchSinkType *const types[] = { WATCH_SINKS (SINK) };

struct _WatchPublisher
{
  WatchStore *store;
  GPtrArray *sinks; /* WatchSink */
};

static void
free_sink (gpointer data)
{
  WatchSink *sink = data;

  if (sink->thread)
    g_thread_join (sink->thread);
  sink->klass->free (sink);
}

static void
add_sink (WatchSink *sink, gpointer user_data)
{
  WatchPublisher *self = user_data;
  guint same = 1;

  /* Two web hooks may have the same host: in metrics the name distinguishes them. */
  for (guint i = 0; i < self->sinks->len; i++)
    same += g_str_has_prefix (((WatchSink *) g_ptr_array_index (self->sinks, i))->name, sink->name);
  if (same > 1) {
    gchar *name = g_strdup_printf ("%s (%u)", sink->name, same);

    g_free (sink->name);
    sink->name = name;
  }
  g_ptr_array_add (self->sinks, sink);
}

static gboolean
add_sinks (WatchPublisher *self, const WatchSettings *settings, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (!types[i]->make (settings, add_sink, self, error))
      return FALSE;
  }
  if (self->sinks->len <= MAX_SINKS)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "webhooks: expected fewer than %u addresses", MAX_SINKS - 2);
  return FALSE;
}

/* Tells the store which lines the sinks want. */
static void
set_sinks (WatchPublisher *self, const WatchSettings *settings)
{
  const gchar *names[MAX_SINKS + 1] = { NULL };
  WatchLineKinds kinds[MAX_SINKS];

  for (guint i = 0; i < self->sinks->len; i++) {
    const WatchSink *sink = g_ptr_array_index (self->sinks, i);

    names[i] = sink->key;
    kinds[i] = sink->kinds;
  }
  watch_store_set_sinks (self->store, names, kinds, settings->spool_bytes);
}

WatchPublisher *
watch_publisher_new (const WatchSettings *settings, WatchStore *store, GError **error)
{
  WatchPublisher *self = g_new0 (WatchPublisher, 1);

  self->store = store;
  self->sinks = g_ptr_array_new_with_free_func (free_sink);
  if (!add_sinks (self, settings, error)) {
    watch_publisher_free (self);
    return NULL;
  }
  set_sinks (self, settings);
  for (guint i = 0; i < self->sinks->len; i++)
    watch_sink_start (g_ptr_array_index (self->sinks, i), self->store);
  return self;
}

void
watch_publisher_free (WatchPublisher *self)
{
  gint64 deadline = g_get_monotonic_time () + FREE_TIME;

  for (guint i = 0; i < self->sinks->len; i++)
    watch_sink_stop (g_ptr_array_index (self->sinks, i), deadline);
  g_ptr_array_unref (self->sinks);
  g_free (self);
}

void
watch_publisher_wake (WatchPublisher *self)
{
  for (guint i = 0; i < self->sinks->len; i++)
    watch_sink_wake (g_ptr_array_index (self->sinks, i));
}

gboolean
watch_publisher_differs (const WatchSettings *a, const WatchSettings *b)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (!watch_settings_equal (a, b, types[i]->group, NULL))
      return TRUE;
  }
  return FALSE;
}

void
watch_publisher_set_camera (WatchPublisher *self, const gchar *camera,
                            const WatchCameraStatus *status)
{
  for (guint i = 0; i < self->sinks->len; i++) {
    WatchSink *sink = g_ptr_array_index (self->sinks, i);

    if (sink->klass->set_camera)
      sink->klass->set_camera (sink, camera, status);
  }
}

void
watch_publisher_set_picture (WatchPublisher *self, const gchar *camera, GBytes *jpeg)
{
  for (guint i = 0; i < self->sinks->len; i++) {
    WatchSink *sink = g_ptr_array_index (self->sinks, i);

    if (sink->klass->set_picture)
      sink->klass->set_picture (sink, camera, jpeg);
  }
}

void
watch_publisher_set_program (WatchPublisher *self, const gchar *program, const gchar *status)
{
  for (guint i = 0; i < self->sinks->len; i++) {
    WatchSink *sink = g_ptr_array_index (self->sinks, i);

    if (sink->klass->set_program)
      sink->klass->set_program (sink, program, status);
  }
}

static void
clear_status (gpointer data)
{
  WatchSinkStatus *status = data;

  g_free (status->name);
  web_reason_free (status->reason);
}

GArray *
watch_publisher_get_status (WatchPublisher *self)
{
  GArray *all = g_array_new (FALSE, TRUE, sizeof (WatchSinkStatus));

  g_array_set_clear_func (all, clear_status);
  for (guint i = 0; self && i < self->sinks->len; i++) {
    WatchSink *sink = g_ptr_array_index (self->sinks, i);
    WatchSpoolStats spool = { 0, 0 };
    WatchSinkStatus status = { g_strdup (sink->name) };

    watch_store_get_spool_stats (self->store, sink->key, &spool);
    status.pending = spool.pending;
    status.dropped = spool.dropped;
    g_mutex_lock (&sink->lock);
    status.connected = sink->connected;
    status.sent = sink->sent;
    status.refused = sink->refused;
    status.reason = web_reason_copy (sink->reason);
    g_mutex_unlock (&sink->lock);
    g_array_append_val (all, status);
  }
  return all;
}
