/* cudaccl-watch - a camera's stream: one pipeline for one try
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The source is a bin that ends with the decoder; the analysis behind it lives as long as the
 * stream. When a file is repeated, a new source takes the place of the old one, and the analysis
 * sees one stream that goes on.
 *
 *   source: rtspsrc ! depay ! parse ! decoder      analysis: identity ! videoconvert ! cclmotion
 *   or filesrc ! parsebin ! parse ! decoder   !    ! ccldetect ! ccltrack ! cclzones ! fakesink
 *
 * There is no queue: frames are analysed in the thread that decodes them. Where that is too slow,
 * frames are dropped in front of the analysis, or groups of pictures in front of the decoder. */

#include "apps/watch/camera/stream-private.h"

#include <gio/gio.h>
#include <string.h>
#include <gst/ccl/gstccl.h>

#include "apps/watch/camera/errors.h"
#include "apps/watch/settings/values.h"

/* Lateness, compared with other frames, from which frames and access units are dropped. */
#define MAX_LATE (1 * GST_SECOND)
#define MAX_DECODE_LATE (4 * GST_SECOND)
/* Lateness that a stream with wrong timestamps may keep. */
#define MAX_BASELINE (5 * GST_SECOND)
#define BASELINE_STEP GST_MSECOND /* a frame */

#define MAX_BURST 4.0 /* seconds of `max-rate` that may come at once, such as after connecting */

#define DIAGNOSE_TIMEOUT 5 /* seconds */

static WatchStream *
stream_ref (WatchStream *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
watch_stream_unref (WatchStream *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  gst_object_unref (self->pipeline);
  watch_limit_unref (self->limit);
  gst_object_unref (self->clock);
  g_clear_pointer (&self->settings, watch_settings_unref);
  watch_camera_settings_unref (self->camera);
  g_free (self->uri);
  g_free (self->user);
  g_free (self->password);
  g_free (self->decoder);
  g_mutex_clear (&self->lock);
  g_mutex_clear (&self->state_lock);
  g_mutex_clear (&self->done_lock);
  g_cond_clear (&self->done_cond);
  g_free (self);
}

/* The thread that stops the pipeline holds the stream until the last callback has returned:
 * signals and probes need no references. */
static void
add_probe (WatchStream *self, GstElement *element, const gchar *name, GstPadProbeType type,
           GstPadProbeCallback func)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_pad_add_probe (pad, type, func, self, NULL);
  gst_object_unref (pad);
}

/* --- Time --- */

static GstClockTimeDiff
get_elapsed (WatchStream *self)
{
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT (self->pipeline));

  /* There is no base time before PLAYING. */
  return base ? GST_CLOCK_DIFF (base, gst_clock_get_time (self->clock)) : 0;
}

/* The running time of a timestamp at @pad, without the offset; or GST_CLOCK_STIME_NONE. */
static GstClockTimeDiff
get_running (GstPad *pad, GstClockTime timestamp)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  GstClockTimeDiff running = GST_CLOCK_STIME_NONE;
  const GstSegment *segment;
  guint64 value;
  gint sign;

  if (!event)
    return running;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (timestamp)) {
    sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, timestamp, &value);
    if (sign)
      running = sign > 0 ? (GstClockTimeDiff) value : -(GstClockTimeDiff) value;
  }
  gst_event_unref (event);
  return running;
}

/* The wall-clock time of running time, which includes the offset. */
static gint64
get_wall_time (WatchStream *self, GstClockTimeDiff running)
{
  gint64 now = g_get_real_time ();

  return GST_CLOCK_STIME_IS_VALID (running) ? now + (running - get_elapsed (self)) / 1000 : now;
}

/* Returns how late a frame is, compared with the earliest recent ones. */
static GstClockTimeDiff
get_lateness (WatchStream *self, GstClockTimeDiff running, gboolean adapt)
{
  GstClockTimeDiff late;

  if (self->paced || !GST_CLOCK_STIME_IS_VALID (running))
    return 0;
  late = get_elapsed (self) - running;
  if (adapt)
    self->baseline = MIN (MIN (late, self->baseline + BASELINE_STEP), MAX_BASELINE);
  return late - self->baseline;
}

/* --- Access units --- */

static void
pass_encoded (WatchStream *self, GstPad *pad, GstBuffer *buffer, GstClockTimeDiff running)
{
  GstClockTimeDiff dts = get_running (pad, GST_BUFFER_DTS (buffer));
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstBuffer *copy = gst_buffer_copy (buffer); /* shares the data */

  /* Negative only at the start. */
  GST_BUFFER_PTS (copy) =
      GST_CLOCK_STIME_IS_VALID (running) ? (GstClockTime) MAX (running, 0) : GST_CLOCK_TIME_NONE;
  GST_BUFFER_DTS (copy) = GST_CLOCK_STIME_IS_VALID (dts)
                              ? (GstClockTime) MAX (dts + self->offset, 0)
                              : GST_CLOCK_TIME_NONE;
  g_mutex_lock (&self->lock);
  if (self->active && caps)
    self->funcs.encoded (copy, caps, get_wall_time (self, running), self->user_data);
  g_mutex_unlock (&self->lock);
  gst_buffer_unref (copy);
  gst_clear_caps (&caps);
}

/* Behind the parser. */
static GstPadProbeReturn
on_encoded (GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  WatchStream *self = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  gboolean key = !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  GstClockTimeDiff running = get_running (pad, GST_BUFFER_PTS (buffer));
  GstClockTimeDiff late = get_lateness (self, running, FALSE);

  if (GST_CLOCK_STIME_IS_VALID (running))
    running += self->offset;
  if (self->funcs.encoded)
    pass_encoded (self, pad, buffer, running);
  if (!self->analyse)
    return GST_PAD_PROBE_OK;

  if (late > MAX_DECODE_LATE)
    self->dropping = TRUE;
  else if (key && late < MAX_LATE)
    self->dropping = FALSE;
  if (self->dropping) {
    self->info.late++;
    return GST_PAD_PROBE_DROP;
  }
  self->has_keys = TRUE;
  if (key && GST_CLOCK_STIME_IS_VALID (running)) {
    self->keys[self->next_key++ % N_KEYS] = (GstClockTime) running;
  }
  return GST_PAD_PROBE_OK;
}

/* --- Frames --- */

static gboolean
is_key (WatchStream *self, GstClockTimeDiff running)
{
  if (!self->has_keys)
    return TRUE;
  for (guint i = 0; i < N_KEYS; i++) {
    if (self->keys[i] == (GstClockTime) running)
      return TRUE;
  }
  return FALSE;
}

/* Whether the frame is beyond the camera's rate. */
static gboolean
is_excess (WatchStream *self, gint64 now)
{
  if (self->credit_time)
    self->credit += (gdouble) (now - self->credit_time) * self->max_rate / G_USEC_PER_SEC;
  self->credit = MIN (self->credit, MAX_BURST * self->max_rate);
  self->credit_time = now;
  if (self->credit < 1) {
    self->info.excess++;
    return TRUE;
  }
  self->credit--;
  return FALSE;
}

/* In front of the analysis. */
static GstPadProbeReturn
on_decoded (GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  WatchStream *self = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  GstClockTimeDiff late = get_lateness (self, get_running (pad, GST_BUFFER_PTS (buffer)), TRUE);
  gint64 now = g_get_monotonic_time ();

  /* Let two frames a second pass in any case. */
  if (late > MAX_LATE && now < self->last_frame + G_USEC_PER_SEC / 2) {
    self->info.late++;
    return GST_PAD_PROBE_DROP;
  }
  if (is_excess (self, now))
    return GST_PAD_PROBE_DROP;
  self->last_frame = now;
  return GST_PAD_PROBE_OK;
}

/* Between ccltrack and cclzones: drops objects of other classes than the camera's. */
static GstPadProbeReturn
on_tracked (GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  WatchStream *self = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  WatchCameraSettings *camera;
  GstCclMeta *meta;
  guint n = 0;

  if (!gst_buffer_get_ccl_meta (buffer))
    return GST_PAD_PROBE_OK;
  g_mutex_lock (&self->lock);
  camera = watch_camera_settings_ref (self->camera);
  g_mutex_unlock (&self->lock);
  if (camera->classes) {
    buffer = gst_buffer_make_writable (buffer);
    meta = gst_buffer_get_ccl_meta (buffer);
    for (guint i = 0; i < meta->n_components; i++) {
      const gchar *name = gst_ccl_meta_get_class_name (meta, meta->components[i].class_id);

      if (name && g_strv_contains ((const gchar *const *) camera->classes, name))
        meta->components[n++] = meta->components[i];
    }
    meta->n_components = n;
    GST_PAD_PROBE_INFO_DATA (probe) = buffer;
  }
  watch_camera_settings_unref (camera);
  return GST_PAD_PROBE_OK;
}

static void
set_video (WatchStream *self, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  self->has_video = gst_video_info_from_caps (&self->video, caps);
  self->info.mappable =
      !gst_caps_features_contains (gst_caps_get_features (caps, 0), "memory:NVMM");
}

/* At the end of the analysis. */
static GstPadProbeReturn
on_frame (GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  WatchStream *self = user_data;
  GstBuffer *buffer;
  GstClockTimeDiff running;

  if (GST_PAD_PROBE_INFO_TYPE (probe) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (probe)) == GST_EVENT_CAPS)
      set_video (self, GST_PAD_PROBE_INFO_EVENT (probe));
    return GST_PAD_PROBE_OK;
  }
  buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  running = get_running (pad, GST_BUFFER_PTS (buffer));
  self->info.key = is_key (self, running);
  g_mutex_lock (&self->lock);
  if (self->active && self->has_video)
    self->funcs.frame (buffer, &self->video, &self->info, get_wall_time (self, running),
                       self->user_data);
  g_mutex_unlock (&self->lock);
  return GST_PAD_PROBE_OK;
}

/* --- Repeating a file --- */

static gpointer
replace_source (gpointer data)
{
  WatchStream *self = data;
  GstElement *source;
  GstPad *pad;

  g_mutex_lock (&self->state_lock);
  if (!g_atomic_int_get (&self->stopping)) {
    gst_element_set_state (self->source, GST_STATE_NULL);
    gst_bin_remove (GST_BIN (self->pipeline), self->source);
    GST_OBJECT_LOCK (self->pipeline);
    self->linked = FALSE;
    GST_OBJECT_UNLOCK (self->pipeline);
    self->offset = get_elapsed (self);
    memset (self->keys, 0xff, sizeof (self->keys));
    pad = gst_element_get_static_pad (self->entry, "sink");
    gst_pad_set_offset (pad, self->offset);
    gst_object_unref (pad);
    source = watch_stream_add_source (self);
    if (source)
      gst_element_sync_state_with_parent (source);
  }
  g_mutex_unlock (&self->state_lock);
  watch_stream_unref (self);
  return NULL;
}

static void
run_thread (WatchStream *self, const gchar *name, GThreadFunc func)
{
  g_thread_unref (g_thread_new (name, func, stream_ref (self)));
}

/* In front of the analysis of a repeated file. */
static GstPadProbeReturn
on_source_event (GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  WatchStream *self = user_data;

  switch (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (probe))) {
  case GST_EVENT_EOS:
    if (self->last_frame <= self->last_source) {
      watch_stream_post_failure (self, web_reason_new (WEB_REASON_FILE_EMPTY, NULL));
      return GST_PAD_PROBE_OK;
    }
    self->last_source = g_get_monotonic_time ();
    run_thread (self, "watch-repeat", replace_source);
    return GST_PAD_PROBE_DROP;
  case GST_EVENT_STREAM_START:
    /* The analysis sees one stream. */
    return self->offset ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  default:
    return GST_PAD_PROBE_OK;
  }
}

/* --- Building --- */

/* Sets the zones of @zones or, if that is NULL, of the present element, and what stands. */
static void
set_zones (WatchStream *self, GstElement *zones, WatchCameraSettings *camera)
{
  GstElement *motion;

  g_mutex_lock (&self->lock);
  if (zones)
    self->zones = zones;
  if (camera) {
    watch_camera_settings_ref (camera);
    watch_camera_settings_unref (self->camera);
    self->camera = camera;
  }
  camera = self->camera;
  if (self->zones)
    g_object_set (self->zones, "zones", camera->zones ? camera->zones : "", "tripwires",
                  camera->tripwires ? camera->tripwires : "", "dwell-time", camera->dwell_time,
                  NULL);
  motion = g_atomic_pointer_get (&self->motion);
  if (motion)
    g_object_set (motion, "static-time", camera->static_time, NULL);
  g_mutex_unlock (&self->lock);
}

static void
set_detector (WatchStream *self, GstElement *detect)
{
  const WatchSettings *settings = self->settings;

  g_object_set (detect, "model", settings->model, NULL);
  if (settings->labels)
    g_object_set (detect, "labels", settings->labels, NULL);
  if (settings->provider)
    gst_util_set_object_arg (G_OBJECT (detect), "provider", settings->provider);
  if (self->camera->classes) {
    g_autofree gchar *classes = g_strjoinv (",", self->camera->classes);

    g_object_set (detect, "classes", classes, NULL);
  }
  gst_util_set_object_arg (G_OBJECT (detect), "region", "moving");
}

/* Adds the analysis. Returns FALSE after posting an error. */
static gboolean
add_analysis (WatchStream *self)
{
  static const gchar *const names[] = { "identity", "videoconvert", "cclmotion", "ccldetect",
                                        "ccltrack", "cclzones",     "fakesink" };
  GstElement *pipeline = GST_ELEMENT (self->pipeline), *last = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstElement *element;

    if (g_str_equal (names[i], "ccldetect") && !self->camera->detect)
      continue;
    element = watch_stream_add_element (self, pipeline, names[i]);
    if (!element || (last && !gst_element_link (last, element)))
      return FALSE;
    last = element;
    if (g_str_equal (names[i], "identity")) {
      self->entry = element;
      g_object_set (element, "sync", self->paced, NULL);
    } else if (g_str_equal (names[i], "cclmotion")) {
      g_atomic_pointer_set (&self->motion, element);
      gst_util_set_object_arg (G_OBJECT (element), "attach", "components");
    } else if (g_str_equal (names[i], "ccldetect")) {
      set_detector (self, element);
    } else if (g_str_equal (names[i], "ccltrack")) {
      add_probe (self, element, "src", GST_PAD_PROBE_TYPE_BUFFER, on_tracked);
    } else if (g_str_equal (names[i], "cclzones")) {
      set_zones (self, element, NULL);
    }
  }
  g_object_set (last, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  add_probe (self, self->entry, "src", GST_PAD_PROBE_TYPE_BUFFER, on_decoded);
  add_probe (self, last, "sink", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
             on_frame);
  if (self->loop)
    add_probe (self, self->entry, "sink", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_source_event);
  return TRUE;
}

/* --- Starting and stopping --- */

static gpointer
start_thread (gpointer data)
{
  WatchStream *self = data;

  g_mutex_lock (&self->state_lock);
  if (!g_atomic_int_get (&self->stopping) && (!self->analyse || add_analysis (self)) &&
      watch_stream_add_source (self))
    gst_element_set_state (GST_ELEMENT (self->pipeline), GST_STATE_PLAYING);
  g_mutex_unlock (&self->state_lock);
  watch_stream_unref (self);
  return NULL;
}

static gpointer
stop_thread (gpointer data)
{
  WatchStream *self = data;

  g_mutex_lock (&self->state_lock);
  gst_element_set_state (GST_ELEMENT (self->pipeline), GST_STATE_NULL);
  g_mutex_unlock (&self->state_lock);
  g_mutex_lock (&self->done_lock);
  self->done = TRUE;
  g_cond_broadcast (&self->done_cond);
  g_mutex_unlock (&self->done_lock);
  watch_stream_unref (self);
  return NULL;
}

/* Takes @reason. */
static void
end (WatchStream *self, WebReason *reason, gboolean finished, gboolean decoder)
{
  gboolean active;

  g_mutex_lock (&self->lock);
  active = self->active;
  self->active = FALSE;
  g_mutex_unlock (&self->lock);
  if (active)
    self->funcs.ended (reason, finished, decoder, self->user_data);
  web_reason_free (reason);
}

/* Finds out why rtspsrc could not connect: it does not tell. */
typedef struct
{
  WatchStream *stream;
  WebReason *reason;
} Diagnosis;

static gboolean
on_diagnosed (gpointer data)
{
  Diagnosis *diagnosis = data;

  end (diagnosis->stream, diagnosis->reason, FALSE, FALSE);
  watch_stream_unref (diagnosis->stream);
  g_free (diagnosis);
  return G_SOURCE_REMOVE;
}

static gpointer
diagnose (gpointer data)
{
  WatchStream *self = data;
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GSocketConnection) connection = NULL;
  g_autofree gchar *address = watch_uri_redact (self->uri);
  g_autoptr (GError) cause = NULL, error = NULL;
  Diagnosis *diagnosis = g_new (Diagnosis, 1);

  g_socket_client_set_enable_proxy (client, FALSE);
  g_socket_client_set_timeout (client, DIAGNOSE_TIMEOUT);
  connection = g_socket_client_connect_to_uri (client, self->uri, 554, NULL, &cause);
  error = connection
              ? web_reason_to_error (
                    web_reason_new (WEB_REASON_NO_RTSP_SERVER, "address", address, NULL))
              : g_error_new_literal (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, cause->message);
  diagnosis->stream = self;
  diagnosis->reason = watch_error_to_reason (error, NULL, NULL, self->uri, self->password);
  g_idle_add (on_diagnosed, diagnosis);
  return NULL;
}

static void
on_error (WatchStream *self, GstMessage *message)
{
  GstObject *source = GST_MESSAGE_SRC (message);
  GstElementFactory *factory =
      GST_IS_ELEMENT (source) ? gst_element_get_factory (GST_ELEMENT (source)) : NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  gst_message_parse_error (message, &error, &debug);
  if (debug && strstr (debug, "Failed to connect") && g_str_has_prefix (self->uri, "rtsp")) {
    run_thread (self, "watch-diagnose", diagnose);
    return;
  }
  end (self,
       watch_error_to_reason (error, debug, factory ? GST_OBJECT_NAME (factory) : NULL, self->uri,
                              self->password),
       FALSE,
       factory && gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_DECODER));
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  WatchStream *self = stream_ref (user_data); /* ended() may drop the last reference */

  switch (GST_MESSAGE_TYPE (message)) {
  case GST_MESSAGE_ERROR:
    on_error (self, message);
    break;
  case GST_MESSAGE_EOS:
    if (g_str_has_prefix (self->uri, "file:"))
      end (self, web_reason_new (WEB_REASON_FILE_ENDED, NULL), TRUE, FALSE);
    else
      end (self, web_reason_new (WEB_REASON_STREAM_ENDED, NULL), FALSE, FALSE);
    break;
  case GST_MESSAGE_LATENCY:
    gst_bin_recalculate_latency (GST_BIN (self->pipeline));
    break;
  default:
    break;
  }
  watch_stream_unref (self);
  return G_SOURCE_CONTINUE;
}

WatchStream *
watch_stream_new (WatchSettings *settings, WatchCameraSettings *camera, const gchar *uri,
                  gboolean analyse, guint skip_decoders, const WatchStreamFuncs *funcs,
                  gpointer user_data)
{
  WatchStream *self = g_new0 (WatchStream, 1);
  GstBus *bus;

  self->refs = 1;
  self->settings = watch_settings_ref (settings);
  self->camera = watch_camera_settings_ref (camera);
  self->uri = g_strdup (uri);
  self->user = g_strdup (camera->user);
  self->password = g_strdup (camera->password);
  self->loop = camera->loop && g_str_has_prefix (uri, "file:");
  self->analyse = analyse;
  self->max_rate = camera->max_rate;
  self->credit = MAX_BURST * camera->max_rate;
  self->paced = g_str_has_prefix (uri, "file:") || g_str_has_prefix (uri, "http");
  self->skip_decoders = skip_decoders;
  self->funcs = *funcs;
  self->user_data = user_data;
  self->on_encoded = on_encoded;
  self->active = TRUE;
  self->baseline = MAX_BASELINE;
  memset (self->keys, 0xff, sizeof (self->keys));
  self->info.live = !g_str_has_prefix (uri, "file:") && !g_str_has_prefix (uri, "test:");
  g_mutex_init (&self->lock);
  g_mutex_init (&self->state_lock);
  g_mutex_init (&self->done_lock);
  g_cond_init (&self->done_cond);
  self->pipeline = GST_PIPELINE (gst_object_ref_sink (gst_pipeline_new (NULL)));
  self->limit =
      watch_limit_new (GST_ELEMENT (self->pipeline), uri, camera->max_pixels, camera->max_memory);
  watch_limit_add_all (self->limit);
  self->clock = gst_system_clock_obtain ();
  gst_pipeline_use_clock (self->pipeline, self->clock);
  bus = gst_pipeline_get_bus (self->pipeline);
  self->watch = gst_bus_add_watch (bus, on_message, self);
  gst_object_unref (bus);
  run_thread (self, "watch-start", start_thread);
  return self;
}

void
watch_stream_update (WatchStream *self, WatchCameraSettings *camera)
{
  set_zones (self, NULL, camera);
}

void
watch_stream_stop (WatchStream *self)
{
  g_mutex_lock (&self->lock);
  self->active = FALSE;
  g_mutex_unlock (&self->lock);
  g_source_remove (self->watch);
  /* Do not wait for a start that hangs. */
  g_atomic_int_set (&self->stopping, TRUE);
  run_thread (self, "watch-stop", stop_thread);
}

gboolean
watch_stream_wait (WatchStream *self, gint64 deadline)
{
  gboolean done;

  g_mutex_lock (&self->done_lock);
  while (!self->done && g_cond_wait_until (&self->done_cond, &self->done_lock, deadline)) {
  }
  done = self->done;
  g_mutex_unlock (&self->done_lock);
  return done;
}

void
watch_stream_get_elements (WatchStream *self, gchar **decoder, gchar **backend)
{
  GstElement *motion = g_atomic_pointer_get (&self->motion);
  GstStructure *stats = NULL;

  *backend = NULL;
  GST_OBJECT_LOCK (self->pipeline);
  *decoder = g_strdup (self->decoder);
  GST_OBJECT_UNLOCK (self->pipeline);
  if (motion)
    g_object_get (motion, "stats", &stats, NULL);
  if (stats) {
    *backend = g_strdup (gst_structure_get_string (stats, "backend"));
    gst_structure_free (stats);
  }
}

gboolean
watch_stream_can_record (WatchStream *self)
{
  gboolean can_record;

  GST_OBJECT_LOCK (self->pipeline);
  can_record = self->can_record;
  GST_OBJECT_UNLOCK (self->pipeline);
  return can_record;
}
