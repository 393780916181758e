/* cudaccl-watch - tells brokers, web hooks and files
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/publish/publisher.h"

#include "apps/watch/publish/sink.h"

/* How long watch_publisher_free() waits. */
#define FREE_TIME (2 * G_TIME_SPAN_SECOND)

/* The store has no place for more. */
#define MAX_SINKS 16

struct _WatchPublisher
{
  WatchStore *store;
  GPtrArray *sinks; /* of WatchSink */
  WatchSink *mqtt;  /* one of them, or NULL */
  WatchSink *kafka; /* the same */
};

static void
free_sink (gpointer data)
{
  WatchSink *sink = data;

  if (sink->thread)
    g_thread_join (sink->thread);
  sink->free (sink);
}

static gboolean
add_sink (WatchPublisher *self, WatchSink *sink)
{
  guint same = 1;

  if (!sink)
    return FALSE;
  /* Two web hooks may have the same host: in metrics the name distinguishes them. */
  for (guint i = 0; i < self->sinks->len; i++)
    same += g_str_has_prefix (((WatchSink *) g_ptr_array_index (self->sinks, i))->name, sink->name);
  if (same > 1) {
    gchar *name = g_strdup_printf ("%s (%u)", sink->name, same);

    g_free (sink->name);
    sink->name = name;
  }
  g_ptr_array_add (self->sinks, sink);
  return TRUE;
}

static gboolean
add_sinks (WatchPublisher *self, const WatchSettings *settings, GError **error)
{
  if (settings->mqtt) {
    self->mqtt = watch_sink_new_mqtt (settings, error);
    if (!add_sink (self, self->mqtt))
      return FALSE;
  }
  if (settings->kafka) {
    self->kafka = watch_sink_new_kafka (settings, error);
    if (!add_sink (self, self->kafka))
      return FALSE;
  }
  if (settings->lines && !add_sink (self, watch_sink_new_lines (settings, error)))
    return FALSE;
  for (gchar **url = settings->webhooks; url && *url; url++) {
    if (!add_sink (self, watch_sink_new_webhook (*url, error)))
      return FALSE;
  }
  if (self->sinks->len <= MAX_SINKS)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "webhooks: expected fewer than %u addresses", MAX_SINKS - 2);
  return FALSE;
}

/* Tells the store what the sinks want. */
static void
set_sinks (WatchPublisher *self, const WatchSettings *settings)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) kinds = g_ptr_array_new ();
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  g_autofree gchar *wanted = NULL;

  if (settings->line_events)
    g_ptr_array_add (words, "events");
  if (settings->line_tracks)
    g_ptr_array_add (words, "tracks");
  if (settings->line_frames)
    g_ptr_array_add (words, "frames");
  g_ptr_array_add (words, NULL);
  wanted = g_strjoinv ("+", (gchar **) words->pdata);
  for (guint i = 0; i < self->sinks->len; i++) {
    const WatchSink *sink = g_ptr_array_index (self->sinks, i);

    g_ptr_array_add (names, sink->key);
    g_ptr_array_add (kinds, (gpointer) (sink->kinds ? sink->kinds : wanted));
  }
  g_ptr_array_add (names, NULL);
  g_ptr_array_add (kinds, NULL);
  watch_store_set_sinks (self->store, (const gchar *const *) names->pdata,
                         (const gchar *const *) kinds->pdata, settings->spool_bytes);
}

WatchPublisher *
watch_publisher_new (WatchSettings *settings, const WatchShared *shared, GError **error)
{
  WatchPublisher *self = g_new0 (WatchPublisher, 1);

  self->store = shared->store;
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

void
watch_publisher_set_camera (WatchPublisher *self, const gchar *camera,
                            const WatchCameraStatus *status)
{
  if (self->mqtt)
    watch_sink_set_camera (self->mqtt, camera, status);
}

void
watch_publisher_set_picture (WatchPublisher *self, const gchar *camera, GBytes *jpeg)
{
  if (self->mqtt)
    watch_sink_set_picture (self->mqtt, camera, jpeg);
}

void
watch_publisher_set_status (WatchPublisher *self, const gchar *program, gchar *status)
{
  if (self->kafka)
    watch_sink_set_status (self->kafka, program, status);
  else
    g_free (status);
}

static void
clear_status (gpointer data)
{
  WatchSinkStatus *status = data;

  g_free (status->name);
  g_free (status->text);
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
    status.text = g_strdup (sink->text);
    g_mutex_unlock (&sink->lock);
    g_array_append_val (all, status);
  }
  return all;
}
