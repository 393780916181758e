/* cudaccl-watch - the base of sinks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/publish/sink.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MIN_DELAY 500
#define MAX_DELAY 30000

/* Taking lines costs a transaction: take several at once. */
#define TAKE_LINES 128
#define TAKE_DELAY 200 /* ms */

static void
clear_line (gpointer data)
{
  watch_line_free (((WatchSinkLine *) data)->line);
}

void
watch_sink_init (WatchSink *self, const WatchSinkClass *klass, gchar *key, gchar *name,
                 WatchLineKinds kinds)
{
  self->klass = klass;
  self->key = key;
  self->name = name;
  self->kinds = kinds;
  self->wake = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->lines = g_array_new (FALSE, FALSE, sizeof (WatchSinkLine));
  g_array_set_clear_func (self->lines, clear_line);
  self->first = 1;
  self->delay = MIN_DELAY;
  self->reason = web_reason_new (WEB_REASON_SINK_WAITS, NULL);
  g_mutex_init (&self->lock);
  g_cond_init (&self->stopped);
}

void
watch_sink_clear (WatchSink *self)
{
  close (self->wake);
  g_array_unref (self->lines);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->stopped);
  web_reason_free (self->reason);
  g_free (self->key);
  g_free (self->name);
}

static gpointer
run (gpointer data)
{
  WatchSink *self = data;
  sigset_t signals;

  /* Without SIGPIPE, write() fails when a reader or broker closes the connection. */
  sigemptyset (&signals);
  sigaddset (&signals, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  self->klass->run (self);
  watch_sink_take (self, TRUE);
  return NULL;
}

void
watch_sink_start (WatchSink *self, WatchStore *store)
{
  self->store = store;
  self->thread = g_thread_new (self->key, run, self);
}

void
watch_sink_stop (WatchSink *self, gint64 deadline)
{
  g_mutex_lock (&self->lock);
  self->deadline = deadline;
  g_cond_signal (&self->stopped);
  g_mutex_unlock (&self->lock);
  watch_sink_wake (self);
}

void
watch_sink_wake (WatchSink *self)
{
  eventfd_write (self->wake, 1);
}

gboolean
watch_sink_goes_on (WatchSink *self, gboolean busy)
{
  gboolean connected;
  gint64 deadline;

  g_mutex_lock (&self->lock);
  deadline = self->deadline;
  connected = self->connected;
  g_mutex_unlock (&self->lock);
  if (!deadline)
    return TRUE;
  if (!connected || g_get_monotonic_time () >= deadline)
    return FALSE;
  if (busy || !self->at_end)
    return TRUE;
  for (guint i = 0; i < self->lines->len; i++) {
    if (g_array_index (self->lines, WatchSinkLine, i).state != WATCH_LINE_DONE)
      return TRUE;
  }
  return FALSE;
}

void
watch_sink_fill (WatchSink *self, guint max)
{
  g_autoptr (GPtrArray) more = NULL;
  guint want = max > self->lines->len ? max - self->lines->len : 0;

  if (want == 0)
    return;
  more = watch_store_peek (self->store, self->key, self->row, want);
  self->at_end = !more || more->len < want;
  if (!more)
    return;
  g_ptr_array_set_free_func (more, NULL);
  for (guint i = 0; i < more->len; i++) {
    WatchSinkLine line = { .line = g_ptr_array_index (more, i) };

    g_array_append_val (self->lines, line);
    self->row = line.line->row;
  }
}

void
watch_sink_done (WatchSink *self, guint64 number, const gchar *refused)
{
  WatchSinkLine *line;

  if (number < self->first || number - self->first >= self->lines->len)
    return;
  line = &g_array_index (self->lines, WatchSinkLine, number - self->first);
  if (line->state == WATCH_LINE_DONE)
    return;
  line->state = WATCH_LINE_DONE;
  self->delay = MIN_DELAY;
  if (!self->done_since)
    self->done_since = g_get_monotonic_time ();

  g_mutex_lock (&self->lock);
  if (refused && self->refused++ == 0)
    g_message ("%s: a line is dropped, and more may be: %s", self->name, refused);
  else if (!refused)
    self->sent++;
  g_mutex_unlock (&self->lock);
}

gint
watch_sink_take (WatchSink *self, gboolean now)
{
  gint64 age =
      self->done_since ? (g_get_monotonic_time () - self->done_since) / G_TIME_SPAN_MILLISECOND : 0;
  gint64 row = 0;
  guint n = 0;

  while (n < self->lines->len &&
         g_array_index (self->lines, WatchSinkLine, n).state == WATCH_LINE_DONE)
    row = g_array_index (self->lines, WatchSinkLine, n++).line->row;
  if (n == 0)
    return TAKE_DELAY;
  if (!now && n < TAKE_LINES && age < TAKE_DELAY)
    return (gint) (TAKE_DELAY - age);

  watch_store_taken (self->store, self->key, row);
  g_array_remove_range (self->lines, 0, n);
  self->first += n;
  self->done_since = 0;
  return TAKE_DELAY;
}

void
watch_sink_send_again (WatchSink *self)
{
  for (guint i = 0; i < self->lines->len; i++) {
    WatchSinkLine *line = &g_array_index (self->lines, WatchSinkLine, i);

    if (line->state == WATCH_LINE_SENT)
      line->state = WATCH_LINE_WAITING;
  }
}

void
watch_sink_set_state (WatchSink *self, gboolean connected, WebReason *reason)
{
  g_autoptr (WebReason) old = NULL;
  gboolean changed;

  g_mutex_lock (&self->lock);
  old = self->reason;
  changed = self->connected != connected ||
            g_strcmp0 (web_reason_get_text (old), web_reason_get_text (reason)) != 0;
  self->connected = connected;
  self->reason = reason;
  g_mutex_unlock (&self->lock);
  if (changed)
    g_message ("%s: %s", self->name, reason ? reason->text : "connected");
}

void
watch_sink_fail (WatchSink *self, const gchar *text)
{
  watch_sink_set_state (self, FALSE, web_reason_new (WEB_REASON_SINK_FAILED, "detail", text, NULL));
}

void
watch_sink_back_off (WatchSink *self, gint64 min)
{
  gint64 end = g_get_monotonic_time () + MAX (min, self->delay) * G_TIME_SPAN_MILLISECOND;

  self->delay = MIN (2 * self->delay, MAX_DELAY);
  g_mutex_lock (&self->lock);
  while (!self->deadline && g_cond_wait_until (&self->stopped, &self->lock, end))
    ;
  g_mutex_unlock (&self->lock);
}
