/* cudaccl-watch - a camera: connects, tries again, and finds out when it freezes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/camera.h"

#include "apps/watch/camera/analysis.h"
#include "apps/watch/camera/frozen.h"
#include "apps/watch/camera/limit.h"
#include "apps/watch/camera/stream.h"
#include "apps/watch/camera/viewers.h"
#include "apps/watch/settings/values.h"

#define CONNECT_TIMEOUT (20 * G_USEC_PER_SEC) /* until the first frame */
#define RECORD_TIMEOUT (20 * G_USEC_PER_SEC)  /* between access units of the stream to record */
#define SUCCESS_AFTER (10 * G_USEC_PER_SEC)   /* after this, a failure counts as the first */
#define SLOWEST 4                             /* failures after which tries are 16 seconds apart */
#define MAX_STARTING 8                        /* most streams without a frame at a time, */
#define STARTING_TIME (3 * G_USEC_PER_SEC)    /* each for at most this long */
#define MAX_HANGING 3                         /* most streams that hang while stopping */
#define EXCESS_TIME (10 * G_USEC_PER_SEC)     /* for which the status shows excess frames */
#define FREE_TIMEOUT (5 * G_USEC_PER_SEC)

typedef struct _Camera Camera;

/* A stream, to analyse or only to record, and the attempts to connect. Main thread only unless
 * noted. */
typedef struct
{
  Camera *camera;
  WatchStream *stream; /* NULL between attempts; protected by the camera's lock */
  GPtrArray *hanging;  /* streams that are still stopping */
  guint failures;      /* in a row */
  guint retry;         /* source id, or 0 */
  guint skip_decoders; /* decoders that failed */
  gint64 started;      /* monotonic time */
  gint64 last;         /* time of the last frame or access unit, or 0; protected by lock */
} Feed;

/* Feeds of all cameras without a frame so far, latest first. */
static GList *starting;

struct _Camera
{
  WatchCamera parent;
  WatchSettings *settings;
  WatchShared shared;
  WatchCameraChanged changed;
  gpointer user_data;
  WatchAnalysis *analysis;
  WatchViewers *viewers;
  WatchRecorder *recorder; /* or NULL */
  Feed analyse, record;
  guint tick;
  guint idle;          /* source of on_running(), or 0; protected by lock */
  gboolean finished;   /* the file has ended */
  gint64 away_since;   /* time of the last event `lost`, or 0 */
  gint64 tick_time;    /* monotonic time of the last tick */
  guint64 tick_frames; /* frames up to then */

  GMutex lock;
  WatchCameraState state;
  gint64 since;
  WebReason *reason; /* may be NULL */
  guint64 lost, late, frames;
  gdouble rate;
  guint64 late_before; /* late frames of earlier streams */
  guint64 excess;      /* frames of this stream beyond `max-rate` */
  gint64 excess_time;  /* monotonic time of the last one, or 0 */
  gint64 frozen_after;
  gboolean frozen;      /* the picture does not change */
  WatchFrozen pictures; /* streaming thread only */
};

/* Takes @reason, which may be NULL. */
static void
set_state (Camera *self, WatchCameraState state, WebReason *reason)
{
  gboolean changed;

  g_mutex_lock (&self->lock);
  changed = self->state != state ||
            g_strcmp0 (web_reason_get_text (self->reason), web_reason_get_text (reason)) != 0;
  if (self->state != state)
    self->since = g_get_real_time ();
  self->state = state;
  g_clear_pointer (&self->reason, web_reason_free);
  self->reason = reason;
  g_mutex_unlock (&self->lock);
  if (changed && self->changed)
    self->changed (&self->parent, self->user_data);
}

static void start_feed (Feed *feed);

/* --- Frames and access units; streaming threads --- */

static void
on_encoded (GstBuffer *buffer, GstCaps *caps, gint64 time, gpointer user_data)
{
  Feed *feed = user_data;
  Camera *self = feed->camera;

  g_mutex_lock (&self->lock);
  feed->last = MAX (feed->last, feed == &self->record ? g_get_monotonic_time () : 0);
  g_mutex_unlock (&self->lock);
  watch_recorder_add (self->recorder, buffer, caps, time);
}

static gboolean
on_running (gpointer user_data)
{
  Camera *self = user_data;
  WatchCameraState state;
  gint64 now = g_get_real_time ();

  g_mutex_lock (&self->lock);
  self->idle = 0;
  state = self->state;
  g_mutex_unlock (&self->lock);
  if (!self->analyse.stream || state == WATCH_CAMERA_RUNNING || state == WATCH_CAMERA_OFF)
    return G_SOURCE_REMOVE;
  if (self->away_since)
    watch_analysis_add_event (self->analysis, WATCH_EVENT_BACK, now, NULL, now - self->away_since);
  self->away_since = 0;
  set_state (self, WATCH_CAMERA_RUNNING, NULL);
  return G_SOURCE_REMOVE;
}

static void
on_frame (GstBuffer *buffer, const GstVideoInfo *video, const WatchFrameInfo *info, gint64 time,
          gpointer user_data)
{
  Feed *feed = user_data;
  Camera *self = feed->camera;
  gint64 now = g_get_monotonic_time (), after;
  gboolean frozen = FALSE;

  g_mutex_lock (&self->lock);
  after = self->frozen_after;
  g_mutex_unlock (&self->lock);
  /* The picture of a file may stay the same. */
  if (info->mappable && info->live)
    frozen = watch_frozen_add (&self->pictures, buffer, video, info->key, now, after);
  g_mutex_lock (&self->lock);
  self->frozen = frozen;
  feed->last = now;
  self->frames++;
  self->late = self->late_before + info->late;
  if (info->excess != self->excess)
    self->excess_time = info->excess ? now : 0;
  self->excess = info->excess;
  if (!self->idle && !frozen && self->state != WATCH_CAMERA_RUNNING)
    self->idle = g_idle_add (on_running, self);
  g_mutex_unlock (&self->lock);

  watch_analysis_add_frame (self->analysis, buffer, video, info->mappable, time);
  if (info->mappable)
    watch_viewers_add_frame (self->viewers, buffer, video);
}

/* --- Attempts --- */

/* Forgets streams that have stopped. */
static void
forget_stopped (Feed *feed)
{
  for (guint i = feed->hanging->len; i-- > 0;) {
    WatchStream *stream = g_ptr_array_index (feed->hanging, i);

    if (watch_stream_wait (stream, 0))
      g_ptr_array_remove_index (feed->hanging, i);
  }
}

static void
stop_feed (Feed *feed)
{
  Camera *self = feed->camera;
  WatchStream *stream = feed->stream;

  g_clear_handle_id (&feed->retry, g_source_remove);
  starting = g_list_remove (starting, feed);
  if (!stream)
    return;
  watch_stream_stop (stream);
  g_mutex_lock (&self->lock);
  feed->stream = NULL;
  feed->last = 0;
  if (feed == &self->analyse) {
    self->late_before = self->late;
    self->frozen = FALSE;
    g_clear_handle_id (&self->idle, g_source_remove);
  }
  g_mutex_unlock (&self->lock);
  g_ptr_array_add (feed->hanging, stream);
  if (feed == &self->analyse)
    watch_analysis_restart (self->analysis, g_get_real_time ());
}

/* Whether another stream may start now. Decoders and models start one after another: if many
 * began at once, none might have a frame in time. */
static gboolean
may_start (void)
{
  gint64 now = g_get_monotonic_time ();
  guint n = 0;

  for (GList *item = starting, *next; item; item = next) {
    Feed *feed = item->data;
    gboolean waits;

    next = item->next;
    g_mutex_lock (&feed->camera->lock);
    waits = feed->stream && !feed->last;
    g_mutex_unlock (&feed->camera->lock);
    if (waits && now < feed->started + STARTING_TIME)
      n++;
    else
      starting = g_list_delete_link (starting, item);
  }
  return n < MAX_STARTING;
}

/* Starts the feed now, or soon. */
static gboolean
on_retry (gpointer user_data)
{
  Feed *feed = user_data;

  if (may_start ()) {
    feed->retry = 0;
    start_feed (feed);
  } else {
    feed->retry = g_timeout_add (100, on_retry, feed);
  }
  return G_SOURCE_REMOVE;
}

/* Stops the stream, and tries again later. */
static void
retry_feed (Feed *feed)
{
  guint delay = 1u << MIN (feed->failures, SLOWEST);

  stop_feed (feed);
  feed->failures++;
  /* Spread the attempts of cameras that were lost together. */
  feed->retry = g_timeout_add ((guint) (delay * g_random_double_range (750, 1250)), on_retry, feed);
}

/* The camera is lost or frozen. Takes @reason. */
static void
lose (Camera *self, WatchCameraState state, WebReason *reason)
{
  gint64 now;

  retry_feed (&self->analyse);
  now = g_get_real_time (); /* later than the events that retry_feed() ended */
  if (!self->away_since) {
    self->away_since = now;
    g_mutex_lock (&self->lock);
    self->lost++;
    g_mutex_unlock (&self->lock);
    watch_analysis_add_event (self->analysis, WATCH_EVENT_LOST, now, reason, 0);
  }
  set_state (self, state, reason);
}

static void
on_ended (const WebReason *reason, gboolean finished, gboolean decoder, gpointer user_data)
{
  Feed *feed = user_data;
  Camera *self = feed->camera;

  if (decoder && !feed->last)
    feed->skip_decoders++;
  if (watch_limit_is_reason (reason))
    feed->failures = MAX (feed->failures, SLOWEST);
  if (feed == &self->record) {
    g_message ("%s: recording: %s", self->parent.settings->name, reason->text);
    retry_feed (feed);
  } else if (finished) {
    stop_feed (feed);
    self->finished = TRUE;
    set_state (self, WATCH_CAMERA_OFF, web_reason_copy (reason));
  } else {
    lose (self, WATCH_CAMERA_LOST, web_reason_copy (reason));
  }
}

static void
start_feed (Feed *feed)
{
  Camera *self = feed->camera;
  gboolean analyse = feed == &self->analyse;
  gboolean both = !self->parent.settings->record_uri;
  const WatchStreamFuncs funcs = {
    .encoded = self->recorder && (!analyse || both) ? on_encoded : NULL,
    .frame = on_frame,
    .ended = on_ended,
  };
  WatchStream *stream;

  forget_stopped (feed);
  if (feed->hanging->len >= MAX_HANGING) {
    if (analyse)
      lose (self, WATCH_CAMERA_LOST, web_reason_new (WEB_REASON_SOURCE_HANGS, NULL));
    else
      retry_feed (feed);
    return;
  }
  feed->started = g_get_monotonic_time ();
  if (analyse)
    watch_frozen_restart (&self->pictures);
  stream =
      watch_stream_new (self->settings, self->parent.settings,
                        analyse ? self->parent.settings->uri : self->parent.settings->record_uri,
                        analyse, feed->skip_decoders, &funcs, feed);
  g_mutex_lock (&self->lock);
  feed->stream = stream;
  g_mutex_unlock (&self->lock);
  starting = g_list_prepend (starting, feed);
}

/* --- Once a second --- */

static void
check_analysed (Camera *self, gint64 now)
{
  Feed *feed = &self->analyse;
  gint64 last, after;
  gboolean frozen, running;
  g_autofree gchar *seconds = NULL;

  if (!feed->stream)
    return;
  g_mutex_lock (&self->lock);
  last = feed->last;
  after = self->frozen_after;
  frozen = self->frozen;
  running = self->state == WATCH_CAMERA_RUNNING;
  g_mutex_unlock (&self->lock);
  if (!last) {
    if (now > feed->started + CONNECT_TIMEOUT)
      lose (self, WATCH_CAMERA_LOST, web_reason_new (WEB_REASON_NO_PICTURE, NULL));
  } else if (now > last + after) {
    seconds = g_strdup_printf ("%d", (int) (after / G_USEC_PER_SEC));
    lose (self, WATCH_CAMERA_FROZEN,
          web_reason_new (WEB_REASON_PICTURE_LATE, "seconds", seconds, NULL));
  } else if (frozen && (running || now > feed->started + after + SUCCESS_AFTER)) {
    seconds = g_strdup_printf ("%d", (int) (after / G_USEC_PER_SEC));
    lose (self, WATCH_CAMERA_FROZEN,
          web_reason_new (WEB_REASON_PICTURE_FROZEN, "seconds", seconds, NULL));
  } else if (!frozen && now > feed->started + SUCCESS_AFTER) {
    feed->failures = 0;
  }
}

static void
check_recorded (Camera *self, gint64 now)
{
  Feed *feed = &self->record;
  gint64 last;

  if (!feed->stream)
    return;
  g_mutex_lock (&self->lock);
  last = MAX (feed->last, feed->started);
  g_mutex_unlock (&self->lock);
  if (now > last + RECORD_TIMEOUT)
    retry_feed (feed);
  else if (feed->last && now > feed->started + SUCCESS_AFTER)
    feed->failures = 0;
}

/* Starts or stops the streams as the settings and the schedule say. */
static void
apply (Camera *self)
{
  const WatchCameraSettings *camera = self->parent.settings;
  gboolean scheduled = watch_schedule_includes (camera->schedule, g_get_real_time ());
  gboolean run = camera->enabled && scheduled && !self->finished;

  if (!run) {
    stop_feed (&self->analyse);
    stop_feed (&self->record);
    if (!self->finished)
      set_state (self, WATCH_CAMERA_OFF,
                 web_reason_new (
                     camera->enabled ? WEB_REASON_OUTSIDE_SCHEDULE : WEB_REASON_DISABLED, NULL));
    return;
  }
  if (!self->analyse.stream && !self->analyse.retry) {
    g_autofree gchar *uri = watch_uri_redact (camera->uri);

    if (self->state != WATCH_CAMERA_LOST && self->state != WATCH_CAMERA_FROZEN)
      set_state (self, WATCH_CAMERA_CONNECTING,
                 web_reason_new (WEB_REASON_CONNECTING, "address", uri, NULL));
    on_retry (&self->analyse);
  }
  if (camera->record_uri && self->recorder) {
    if (!self->record.stream && !self->record.retry)
      on_retry (&self->record);
  } else {
    stop_feed (&self->record);
  }
}

static void
count_frames (Camera *self, gint64 now)
{
  g_mutex_lock (&self->lock);
  if (now > self->tick_time && self->tick_time) {
    gdouble rate = (self->frames - self->tick_frames) * 1e6 / (now - self->tick_time);

    /* Smoothed over the last seconds. */
    self->rate = self->rate > 0 && rate > 0 ? 0.7 * self->rate + 0.3 * rate : rate;
  }
  self->tick_time = now;
  self->tick_frames = self->frames;
  g_mutex_unlock (&self->lock);
}

static gboolean
on_tick (gpointer user_data)
{
  Camera *self = user_data;
  gint64 now = g_get_monotonic_time ();

  count_frames (self, now);
  check_analysed (self, now);
  check_recorded (self, now);
  apply (self);
  watch_analysis_tick (self->analysis, g_get_real_time ());
  return G_SOURCE_CONTINUE;
}

/* --- The interface --- */

/* Returns what is wrong although the camera runs, or NULL. */
static WebReason *
get_hint (Camera *self)
{
  if (self->state == WATCH_CAMERA_RUNNING && self->excess_time &&
      g_get_monotonic_time () < self->excess_time + EXCESS_TIME) {
    g_autofree gchar *rate = g_strdup_printf ("%u", self->parent.settings->max_rate);
    g_autofree gchar *count = g_strdup_printf ("%" G_GUINT64_FORMAT, self->excess);

    return web_reason_new (WEB_REASON_RATE_LIMITED, "rate", rate, "count", count, NULL);
  }
  if (self->state != WATCH_CAMERA_RUNNING || !self->recorder || self->parent.settings->record_uri ||
      !self->analyse.stream || watch_stream_can_record (self->analyse.stream))
    return NULL;
  return web_reason_new (g_str_has_prefix (self->parent.settings->uri, "rtsp")
                             ? WEB_REASON_NO_CLIPS_RTSP
                             : WEB_REASON_NO_CLIPS,
                         NULL);
}

static void
get_status (WatchCamera *camera, WatchCameraStatus *status)
{
  Camera *self = (Camera *) camera;

  watch_camera_status_init (status);
  g_mutex_lock (&self->lock);
  status->state = self->state;
  status->since = self->since;
  status->reason = self->reason ? web_reason_copy (self->reason) : get_hint (self);
  status->lost = self->lost;
  status->late = self->late;
  status->rate = self->state == WATCH_CAMERA_RUNNING ? self->rate : 0;
  if (self->analyse.stream)
    watch_stream_get_elements (self->analyse.stream, &status->decoder, &status->backend);
  g_mutex_unlock (&self->lock);
  watch_analysis_get_status (self->analysis, status);
}

static guint
add_viewer (WatchCamera *camera, gboolean boxes, guint rate, WatchPicture func, gpointer user_data)
{
  return watch_viewers_add (((Camera *) camera)->viewers, boxes, rate, func, user_data);
}

static void
remove_viewer (WatchCamera *camera, guint id)
{
  watch_viewers_remove (((Camera *) camera)->viewers, id);
}

/* --- Starting and stopping --- */

static void
feed_init (Feed *feed, Camera *camera)
{
  feed->camera = camera;
  feed->hanging = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_stream_unref);
}

/* Stops both streams, and waits for them. */
static void
clear_feeds (Camera *self)
{
  gint64 deadline = g_get_monotonic_time () + FREE_TIMEOUT;
  Feed *feeds[] = { &self->analyse, &self->record };

  for (guint i = 0; i < G_N_ELEMENTS (feeds); i++)
    stop_feed (feeds[i]);
  for (guint i = 0; i < G_N_ELEMENTS (feeds); i++) {
    for (guint k = 0; k < feeds[i]->hanging->len; k++) {
      if (!watch_stream_wait (g_ptr_array_index (feeds[i]->hanging, k), deadline))
        g_message ("%s: a source hangs, and is left to its thread", self->parent.settings->name);
    }
    g_ptr_array_set_size (feeds[i]->hanging, 0);
  }
}

static void
set_camera (Camera *self, WatchCameraSettings *camera)
{
  g_clear_pointer (&self->parent.settings, watch_camera_settings_unref);
  self->parent.settings = watch_camera_settings_ref (camera);
  g_mutex_lock (&self->lock);
  self->frozen_after = (gint64) camera->frozen_after * G_USEC_PER_SEC;
  g_mutex_unlock (&self->lock);
}

static void
make_recorder (Camera *self)
{
  if (!self->parent.settings->record || self->recorder)
    return;
  self->recorder = watch_recorder_new (
      self->shared.media, self->parent.settings->name, self->settings->pre_roll * GST_SECOND,
      self->settings->post_roll * GST_SECOND, self->settings->ring_bytes);
}

static void
stop (WatchCamera *camera)
{
  Camera *self = (Camera *) camera;

  g_clear_handle_id (&self->tick, g_source_remove);
  stop_feed (&self->analyse);
  stop_feed (&self->record);
}

static void
camera_free (WatchCamera *camera)
{
  Camera *self = (Camera *) camera;

  stop (camera);
  clear_feeds (self);
  watch_viewers_free (self->viewers);
  watch_analysis_free (self->analysis);
  g_clear_pointer (&self->recorder, watch_recorder_free);
  g_ptr_array_unref (self->analyse.hanging);
  g_ptr_array_unref (self->record.hanging);
  watch_settings_unref (self->settings);
  watch_camera_settings_unref (self->parent.settings);
  g_mutex_clear (&self->lock);
  g_clear_pointer (&self->reason, web_reason_free);
  g_free (self);
}

static gboolean
needs_restart (const WatchCameraSettings *a, const WatchCameraSettings *b)
{
  static const gchar *const names[] = { "uri",        "record-uri", "credentials", "classes",
                                        "detect",     "record",     "loop",        "max-pixels",
                                        "max-memory", "max-rate" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!watch_camera_settings_equal (a, b, names[i]))
      return TRUE;
  }
  return FALSE;
}

static void
update (WatchCamera *one, WatchCameraSettings *camera)
{
  Camera *self = (Camera *) one;
  gboolean restart = needs_restart (self->parent.settings, camera);

  if (watch_camera_settings_equal (self->parent.settings, camera, NULL))
    return;
  if (restart) {
    /* Do not wait: sources that hang would add up, and block the page. */
    stop_feed (&self->analyse);
    stop_feed (&self->record);
  }
  set_camera (self, camera);
  if (restart) {
    self->finished = FALSE;
    self->analyse.failures = self->record.failures = 0;
    self->analyse.skip_decoders = 0;
    make_recorder (self);
    if (!camera->record) {
      watch_analysis_set_recorder (self->analysis, NULL);
      g_clear_pointer (&self->recorder, watch_recorder_free);
    }
    watch_analysis_set_recorder (self->analysis, self->recorder);
  } else if (self->analyse.stream) {
    watch_stream_update (self->analyse.stream, camera);
  }
  apply (self);
}

static const WatchCameraInterface interface = { update,        get_status, add_viewer,
                                                remove_viewer, stop,       camera_free };

WatchCamera *
watch_camera_new (WatchSettings *settings, WatchCameraSettings *camera, const WatchShared *shared,
                  WatchCameraChanged changed, gpointer user_data)
{
  Camera *self = g_new0 (Camera, 1);
  WatchStorePast past;

  self->parent.interface = &interface;
  g_mutex_init (&self->lock);
  self->settings = watch_settings_ref (settings);
  set_camera (self, camera);
  self->shared = *shared;
  self->since = g_get_real_time ();
  feed_init (&self->analyse, self);
  feed_init (&self->record, self);
  make_recorder (self);
  watch_store_get_past (shared->store, camera->name, &past);
  self->analysis = watch_analysis_new (settings, camera->name, &past, shared);
  /* The camera is `back` when it comes, also after a restart. */
  self->away_since = past.lost_since;
  watch_store_past_clear (&past);
  watch_analysis_set_recorder (self->analysis, self->recorder);
  self->viewers = watch_viewers_new ();
  apply (self);
  self->tick = g_timeout_add_seconds (1, on_tick, self);
  /* Not earlier: the caller did not have the camera. */
  self->changed = changed;
  self->user_data = user_data;
  return &self->parent;
}

/* --- Any camera --- */

const gchar *
watch_camera_get_name (WatchCamera *self)
{
  return self->settings->name;
}

WatchCameraSettings *
watch_camera_get_settings (WatchCamera *self)
{
  return self->settings;
}

void
watch_camera_update (WatchCamera *self, WatchCameraSettings *settings)
{
  self->interface->update (self, settings);
}

void
watch_camera_get_status (WatchCamera *self, WatchCameraStatus *status)
{
  self->interface->get_status (self, status);
}

guint
watch_camera_add_viewer (WatchCamera *self, gboolean boxes, guint rate, WatchPicture func,
                         gpointer user_data)
{
  return self->interface->add_viewer (self, boxes, rate, func, user_data);
}

void
watch_camera_remove_viewer (WatchCamera *self, guint id)
{
  self->interface->remove_viewer (self, id);
}

void
watch_camera_stop (WatchCamera *self)
{
  self->interface->stop (self);
}

void
watch_camera_free (WatchCamera *self)
{
  self->interface->free (self);
}
