/* cudaccl-watch - metrics in the text format of Prometheus
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/http/metrics.h"

#include "apps/watch/http/app.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

typedef struct
{
  const gchar *name; /* name of the label, or NULL */
  const gchar *value;
} Label;

/* Appends `name{a="b",…} value`. */
static void
add (GString *text, const gchar *name, Label a, Label b, gdouble value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];
  const Label labels[] = { a, b };
  guint n = 0;

  g_string_append_printf (text, "cudaccl_watch_%s", name);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    g_autofree gchar *valid = NULL;

    if (!labels[i].name)
      continue;
    valid = g_utf8_make_valid (labels[i].value ? labels[i].value : "", -1);
    g_string_append_printf (text, "%s%s=\"", n++ ? "," : "{", labels[i].name);
    for (const gchar *c = valid; *c; c++) {
      if (*c == '\n') {
        g_string_append (text, "\\n");
        continue;
      }
      if (*c == '"' || *c == '\\')
        g_string_append_c (text, '\\');
      g_string_append_c (text, *c);
    }
    g_string_append_c (text, '"');
  }
  g_string_append_printf (text, "%s %s\n", n ? "}" : "",
                          g_ascii_formatd (number, sizeof number, "%.17g", value));
}

static void
describe (GString *text, const gchar *name, const gchar *help)
{
  g_string_append_printf (text, "# HELP cudaccl_watch_%s %s\n# TYPE cudaccl_watch_%s %s\n", name,
                          help, name, g_str_has_suffix (name, "_total") ? "counter" : "gauge");
}

static void
add_one (GString *text, const gchar *name, const gchar *help, gdouble value)
{
  describe (text, name, help);
  add (text, name, (Label){ 0 }, (Label){ 0 }, value);
}

/* --- Cameras --- */

typedef struct
{
  const gchar *name;
  WatchCameraStatus status;
} Camera;

static void
camera_clear (gpointer data)
{
  watch_camera_status_clear (&((Camera *) data)->status);
}

static gdouble
get_up (const WatchCameraStatus *status)
{
  return status->state == WATCH_CAMERA_RUNNING;
}

static gdouble
get_frames (const WatchCameraStatus *status)
{
  return status->frames;
}

static gdouble
get_lost (const WatchCameraStatus *status)
{
  return status->lost;
}

static gdouble
get_late (const WatchCameraStatus *status)
{
  return status->late;
}

static gdouble
get_rate (const WatchCameraStatus *status)
{
  return status->rate;
}

static gdouble
get_objects (const WatchCameraStatus *status)
{
  return status->objects;
}

static gdouble
get_moving (const WatchCameraStatus *status)
{
  return status->moving;
}

static void
add_zones (GString *text, GArray *cameras, const gchar *name, const gchar *help, guint which)
{
  describe (text, name, help);
  for (guint i = 0; i < cameras->len; i++) {
    const Camera *camera = &g_array_index (cameras, Camera, i);
    GArray *zones = camera->status.zones;

    for (guint z = 0; zones && z < zones->len; z++) {
      const WatchZoneCounts *zone = &g_array_index (zones, WatchZoneCounts, z);
      const gdouble values[] = { zone->in, zone->out, zone->inside };

      /* A tripwire has no inside. */
      if (which < 2 || !zone->tripwire)
        add (text, name, (Label){ "camera", camera->name }, (Label){ "zone", zone->name },
             values[which]);
    }
  }
}

static void
add_cameras (GString *text, const GPtrArray *all)
{
  static const struct
  {
    const gchar *name, *help;
    gdouble (*get) (const WatchCameraStatus *status);
  } metrics[] = {
    { "camera_up", "Whether the camera sends new pictures.", get_up },
    { "camera_frames_total", "Frames analysed since the program started.", get_frames },
    { "camera_lost_total", "Times that the camera was lost or frozen.", get_lost },
    { "camera_late_frames_total", "Frames dropped because the machine is too slow.", get_late },
    { "camera_frame_rate", "Frames per second, over the last seconds.", get_rate },
    { "camera_objects", "Objects in the last frame.", get_objects },
    { "camera_moving", "Whether something moves.", get_moving },
  };
  g_autoptr (GArray) cameras = g_array_sized_new (FALSE, TRUE, sizeof (Camera), all->len);

  g_array_set_clear_func (cameras, camera_clear);
  g_array_set_size (cameras, all->len);
  for (guint i = 0; i < all->len; i++) {
    Camera *camera = &g_array_index (cameras, Camera, i);

    camera->name = watch_camera_get_name (g_ptr_array_index (all, i));
    watch_camera_get_status (g_ptr_array_index (all, i), &camera->status);
  }
  for (guint m = 0; m < G_N_ELEMENTS (metrics); m++) {
    describe (text, metrics[m].name, metrics[m].help);
    for (guint i = 0; i < cameras->len; i++) {
      const Camera *camera = &g_array_index (cameras, Camera, i);

      add (text, metrics[m].name, (Label){ "camera", camera->name }, (Label){ 0 },
           metrics[m].get (&camera->status));
    }
  }
  describe (text, "camera_state", "1 for the state that the camera is in.");
  for (guint i = 0; i < cameras->len; i++) {
    const Camera *camera = &g_array_index (cameras, Camera, i);

    for (guint state = WATCH_CAMERA_OFF; state <= WATCH_CAMERA_LOST; state++)
      add (text, "camera_state", (Label){ "camera", camera->name },
           (Label){ "state", watch_camera_state_get_name (state) }, camera->status.state == state);
  }
  add_zones (text, cameras, "zone_in_total", "Objects that entered or crossed inwards.", 0);
  add_zones (text, cameras, "zone_out_total", "Objects that left or crossed outwards.", 1);
  add_zones (text, cameras, "zone_inside", "Objects in the zone.", 2);
}

/* --- Everything else --- */

static void
add_sinks (GString *text, WatchApp *app)
{
  static const struct
  {
    const gchar *name, *help;
  } metrics[] = {
    { "sink_up", "Whether there is a connection." },
    { "sink_sent_total", "Lines that the sink has confirmed." },
    { "sink_pending", "Lines that wait on the disk." },
    { "sink_dropped_total", "Lines dropped because too many waited." },
    { "sink_refused_total", "Lines that the receiver will never take." },
  };
  g_autoptr (GArray) sinks = app->get_sinks (app);

  for (guint m = 0; m < G_N_ELEMENTS (metrics); m++) {
    describe (text, metrics[m].name, metrics[m].help);
    for (guint i = 0; i < sinks->len; i++) {
      const WatchSinkStatus *sink = &g_array_index (sinks, WatchSinkStatus, i);
      const gdouble values[] = { sink->connected, sink->sent, sink->pending, sink->dropped,
                                 sink->refused };

      add (text, metrics[m].name, (Label){ "sink", sink->name }, (Label){ 0 }, values[m]);
    }
  }
}

static void
add_store (GString *text, const WatchShared *shared)
{
  WatchStoreStats store = { 0 };
  WatchMediaStats media = { 0 };

  watch_store_get_stats (shared->store, &store);
  add_one (text, "events_total", "Events stored since the program started.", store.events);
  add_one (text, "tracks_total", "Tracks stored since the program started.", store.tracks);
  add_one (text, "store_dropped_total", "Records that could not be stored.", store.dropped);
  add_one (text, "store_queued", "Records that wait to be stored.", store.queued);
  add_one (text, "store_bytes", "Size of the database.", store.bytes);
  add_one (text, "store_failing", "Whether the database cannot be written.",
           store.last_error != NULL);
  web_reason_free (store.last_error);

  watch_media_get_stats (shared->media, &media);
  add_one (text, "media_bytes", "Size of clips and pictures.", media.bytes);
  add_one (text, "media_clips_total", "Clips written.", media.clips);
  add_one (text, "media_pictures_total", "Pictures written.", media.pictures);
  add_one (text, "media_failed_total", "Files that could not be written.", media.failed);
  add_one (text, "media_removed_total", "Files removed by the limits.", media.removed);
  web_reason_free (media.last_error);
}

/* Returns the allocated bytes. Unlike resident memory, which grows for hours while blocks are
 * first used, they grow only with a leak. */
static gdouble
get_heap (void)
{
#ifdef __GLIBC__
  struct mallinfo2 heap = mallinfo2 ();

  return (gdouble) heap.uordblks + (gdouble) heap.hblkhd;
#else
  return 0;
#endif
}

static void
add_process (GString *text, const WatchApp *app, const WebServerStats *server)
{
  g_autofree gchar *stat = NULL;
  unsigned long long user = 0, system = 0;
  long pages = 0, threads = 0;
  const gchar *fields;

  add_one (text, "start_time_seconds", "When the program started, since 1970.", app->start / 1e6);
  add_one (text, "http_connections", "Open connections to this server.", server->connections);
  add_one (text, "http_streams", "Open streams of pictures and events.", server->streams);
  add_one (text, "http_requests_total", "Requests to this server.", server->answers);
  add_one (text, "http_refused_total", "Connections and streams refused, as too many were open.",
           server->refused);
  add_one (text, "rtsp_refused_total", "Connections of RTSP refused, or closed before a login.",
           (guint) g_atomic_int_get (&app->rtsp_refused));

  /* Skip the program's name, which may have spaces and brackets: see proc(5). */
  fields = g_file_get_contents ("/proc/self/stat", &stat, NULL, NULL) ? strrchr (stat, ')') : NULL;
  if (!fields || sscanf (fields,
                         ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d "
                         "%*d %ld %*d %*u %*u %ld",
                         &user, &system, &threads, &pages) != 4)
    return;
  add_one (text, "cpu_seconds_total", "Processor time.",
           (gdouble) (user + system) / sysconf (_SC_CLK_TCK));
  add_one (text, "memory_bytes", "Memory that is resident.",
           (gdouble) pages * sysconf (_SC_PAGESIZE));
  add_one (text, "heap_bytes", "Memory that is allocated.", get_heap ());
  add_one (text, "threads", "Threads.", threads);
}

void
watch_metrics (const WebRequest *request)
{
  SoupServerMessage *message = request->message;
  WatchApp *app = request->app;
  GString *text = g_string_new (NULL);
  gsize size;

  describe (text, "info", "The version; always 1.");
  add (text, "info", (Label){ "version", PACKAGE_VERSION }, (Label){ 0 }, 1);
  add_cameras (text, app->cameras);
  add_sinks (text, app);
  add_store (text, &app->shared);
  add_process (text, app, web_server_get_stats (request->server));
  size = text->len;
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (message, "text/plain; version=0.0.4; charset=utf-8",
                                    SOUP_MEMORY_TAKE, g_string_free (text, FALSE), size);
}
