/* cudaccl-watch - events, tracks and minutes from the frames of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* An event that needs a picture waits until its frame is encoded, and so do later events: all
 * reach the store in the order of their numbers. Frames never wait. */

#include "apps/watch/camera/analysis.h"

#include <string.h>
#include <gst/ccl/gstccl.h>

#include "apps/watch/camera/jpeg.h"
#include "apps/watch/camera/tracks.h"
#include "apps/watch/records/json.h"

#define STILL_AFTER (5 * G_USEC_PER_SEC)
/* Twice ccltrack's max-miss, which runs at half the speed in groups, and more. */
#define TRACK_ENDS_AFTER (4 * G_USEC_PER_SEC)
/* Ended tracks that ccltrack may still bring back. */
#define MAX_ENDED 256
#define MINUTE (60 * G_USEC_PER_SEC)
/* Pictures of tracks: how much larger an object must have become for a new one, how many frames
 * wait to be encoded, and how many tracks keep one. */
#define CLEARLY_LARGER 1.25
/* Shortest time between pictures of tracks: two a second per camera, ten for all. */
#define PICTURE_INTERVAL (G_USEC_PER_SEC / 2)
#define CAMERA_INTERVAL (G_USEC_PER_SEC / 10)
#define MAX_JOBS 3
#define MAX_PICTURES 32
#define MAX_WAITING 256 /* events */

typedef struct
{
  gchar *name;
  gboolean tripwire;
  guint64 in, out; /* kept over restarts */
  guint inside;
  guint64 minute_in, minute_out;
  guint minute_inside;
} Zone;

typedef struct
{
  WatchEvent *event;
  guint64 job; /* job whose picture the event gets; 0: none */
} Waiting;

struct _WatchAnalysis
{
  gchar *camera;
  WatchShared shared;
  WatchRecorder *recorder;
  gboolean line_frames;

  GMutex lock;
  GCond idle;
  guint64 number;           /* number of the last event */
  guint64 track_base;       /* added to ccltrack's ids */
  guint64 last_track;       /* the highest number */
  GHashTable *tracks;       /* ccltrack's id to WatchLiveTrack */
  guint64 ended[MAX_ENDED]; /* numbers of the last tracks that ended */
  guint n_ended;
  GPtrArray *zones;   /* Zone: all that ever existed */
  GPtrArray *present; /* Zone, in the order of cclzones; borrowed */
  gboolean moving;
  gint64 last_object;
  gint64 minute; /* start of the present minute */
  guint64 minute_in, minute_out;
  guint minute_inside;
  guint64 frames;
  guint width, height, objects;
  GArray *boxes; /* WatchBox */

  GQueue waiting; /* Waiting */
  guint64 last_job;
  guint n_jobs;
  gint64 picture_interval;
  gint64 last_picture;
};

static void
zone_free (gpointer data)
{
  Zone *zone = data;

  g_free (zone->name);
  g_free (zone);
}

/* A camera that is removed and added again in a session goes on with its numbers. */
typedef struct
{
  guint64 event, track;
} Numbers;

static GMutex numbers_lock;
static GHashTable *numbers; /* `SESSION CAMERA` to Numbers; for the life of the program */

static void
exchange_numbers (WatchAnalysis *self)
{
  gchar *key = g_strconcat (self->shared.session, " ", self->camera, NULL);
  Numbers *last;

  g_mutex_lock (&numbers_lock);
  if (!numbers)
    numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  last = g_hash_table_lookup (numbers, key);
  if (!last) {
    last = g_new0 (Numbers, 1);
    g_hash_table_insert (numbers, g_steal_pointer (&key), last);
  }
  self->number = last->event = MAX (last->event, self->number);
  self->last_track = last->track = MAX (last->track, self->last_track);
  g_mutex_unlock (&numbers_lock);
  g_free (key);
}

static Zone *
add_zone (WatchAnalysis *self, const gchar *name)
{
  Zone *zone = g_new0 (Zone, 1);

  zone->name = g_strdup (name);
  g_ptr_array_add (self->zones, zone);
  return zone;
}

WatchAnalysis *
watch_analysis_new (WatchSettings *settings, const gchar *camera, const WatchStorePast *past,
                    const WatchShared *shared)
{
  WatchAnalysis *self = g_new0 (WatchAnalysis, 1);

  self->camera = g_strdup (camera);
  self->shared = *shared;
  self->line_frames = (settings->lines || settings->mqtt || settings->kafka) &&
                      settings->line_kinds & WATCH_LINE_FRAMES;
  self->picture_interval = MAX (PICTURE_INTERVAL, settings->cameras->len * CAMERA_INTERVAL);
  self->last_track = past->last_track;
  exchange_numbers (self);
  self->track_base = self->last_track;
  self->tracks = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) watch_live_track_free);
  self->zones = g_ptr_array_new_with_free_func (zone_free);
  /* Load everything now: the streaming thread must not wait for the database. */
  for (guint i = 0; i < past->counts->len; i++) {
    const WatchStoreCounts *counts = &g_array_index (past->counts, WatchStoreCounts, i);
    Zone *zone = add_zone (self, counts->zone);

    zone->in = counts->in;
    zone->out = counts->out;
  }
  self->present = g_ptr_array_new ();
  self->boxes = watch_boxes_new ();
  g_queue_init (&self->waiting);
  g_mutex_init (&self->lock);
  g_cond_init (&self->idle);
  if (shared->metadata)
    watch_metadata_add_camera (shared->metadata, camera);
  return self;
}

void
watch_analysis_set_recorder (WatchAnalysis *self, WatchRecorder *recorder)
{
  g_mutex_lock (&self->lock);
  self->recorder = recorder;
  g_mutex_unlock (&self->lock);
}

/* --- Events; call with the lock held --- */

static void
store_event (WatchAnalysis *self, WatchEvent *event)
{
  watch_store_add_event (self->shared.store, event);
}

/* Stores the events up to the first that waits for its picture. */
static void
flush_events (WatchAnalysis *self, gboolean all)
{
  Waiting *first;

  while ((first = g_queue_peek_head (&self->waiting)) && (all || !first->job)) {
    store_event (self, first->event);
    g_free (g_queue_pop_head (&self->waiting));
  }
}

static WatchEvent *
event_new (WatchAnalysis *self, WatchEventKind kind, gint64 time)
{
  WatchEvent *event = g_new0 (WatchEvent, 1);

  event->camera = g_strdup (self->camera);
  event->session = g_strdup (self->shared.session);
  event->number = ++self->number;
  event->time = time;
  event->kind = kind;
  event->x = event->y = -1;
  return event;
}

/* Takes @event, which gets the picture of @job unless that is 0. */
static void
push_event (WatchAnalysis *self, WatchEvent *event, guint64 job)
{
  Waiting *waiting = g_new (Waiting, 1);

  waiting->event = event;
  waiting->job = job;
  g_queue_push_tail (&self->waiting, waiting);
  flush_events (self, g_queue_get_length (&self->waiting) > MAX_WAITING);
}

/* --- Pictures --- */

typedef struct
{
  WatchAnalysis *analysis;
  guint64 number;
  GstBuffer *frame;
  GstVideoInfo video;
  gint64 time;
} Job;

static gchar *
save_picture (WatchAnalysis *self, gint64 time, guint64 number, GBytes *jpeg)
{
  if (self->shared.picture)
    self->shared.picture (self->camera, jpeg, self->shared.picture_data);
  return watch_media_add_picture (self->shared.media, self->camera, time, number, jpeg);
}

/* Gives a picture to the events and tracks that wait for it. */
static void
finish_job (WatchAnalysis *self, const Job *job, GBytes *jpeg)
{
  g_autofree gchar *name = NULL;
  GHashTableIter iter;
  gpointer value;

  for (GList *item = self->waiting.head; item; item = item->next) {
    Waiting *waiting = item->data;

    if (waiting->job != job->number)
      continue;
    if (jpeg && !name)
      name = save_picture (self, job->time, waiting->event->number, jpeg);
    waiting->event->picture = g_strdup (name);
    waiting->job = 0;
  }
  g_hash_table_iter_init (&iter, self->tracks);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    WatchLiveTrack *track = value;

    if (track->job != job->number)
      continue;
    track->job = 0;
    if (!jpeg) {
      track->area = 0;
      continue;
    }
    g_clear_pointer (&track->jpeg, g_bytes_unref);
    g_free (track->picture);
    track->jpeg = g_bytes_ref (jpeg);
    track->picture_time = job->time;
    track->picture = g_strdup (name);
  }
  flush_events (self, FALSE);
}

static void
run_job (gpointer data, gpointer user_data)
{
  /* One per encoder thread. */
  static GPrivate encoder = G_PRIVATE_INIT ((GDestroyNotify) watch_jpeg_free);
  Job *job = data;
  WatchAnalysis *self = job->analysis;
  WatchJpeg *jpeg = g_private_get (&encoder);
  GBytes *bytes;

  if (!jpeg) {
    jpeg = watch_jpeg_new (FALSE);
    g_private_set (&encoder, jpeg);
  }
  bytes = jpeg ? watch_jpeg_encode (jpeg, job->frame, &job->video) : NULL;
  gst_buffer_unref (job->frame);
  g_mutex_lock (&self->lock);
  finish_job (self, job, bytes);
  self->n_jobs--;
  g_cond_broadcast (&self->idle);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&bytes, g_bytes_unref);
  g_free (job);
}

/* The frame that is being analysed. */
typedef struct
{
  GstBuffer *buffer;
  const GstVideoInfo *video;
  gboolean mappable;
  gint64 time;
  guint64 job; /* job that encodes the frame, or 0 */
} Frame;

/* Begins to encode the frame, unless it already has or too many wait. */
static void
start_job (WatchAnalysis *self, Frame *frame)
{
  Job *job;

  if (frame->job || !frame->mappable || self->n_jobs >= MAX_JOBS)
    return;
  job = g_new0 (Job, 1);
  job->analysis = self;
  job->number = frame->job = ++self->last_job;
  job->frame = gst_buffer_ref (frame->buffer);
  job->video = *frame->video;
  job->time = frame->time;
  self->n_jobs++;
  self->last_picture = frame->time;
  watch_jpeg_run (run_job, job);
}

/* Takes @event, which gets the picture of @track or, if there is none, of the frame. */
static void
push_with_picture (WatchAnalysis *self, Frame *frame, WatchEvent *event, WatchLiveTrack *track)
{
  if (track && track->jpeg) {
    if (!track->picture)
      track->picture = save_picture (self, track->picture_time, event->number, track->jpeg);
    event->picture = g_strdup (track->picture);
    push_event (self, event, 0);
    return;
  }
  start_job (self, frame);
  push_event (self, event, frame->job);
}

/* Encodes the frame if objects are clearly larger than in their pictures. */
static void
take_pictures (WatchAnalysis *self, Frame *frame)
{
  gboolean due = frame->time >= self->last_picture + self->picture_interval ||
                 frame->time < self->last_picture;
  guint n = 0;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->tracks);
  while (g_hash_table_iter_next (&iter, NULL, &value) && n < MAX_PICTURES) {
    WatchLiveTrack *track = value;

    n += track->area > 0;
    if (track->last != frame->time || track->job || track->seen <= track->area * CLEARLY_LARGER)
      continue;
    if (due)
      start_job (self, frame);
    if (!frame->job)
      return;
    n += track->area == 0;
    track->job = frame->job;
    track->area = track->seen;
  }
}

/* --- Tracks --- */

static void
finish_track (WatchAnalysis *self, WatchLiveTrack *track)
{
  WatchTrack *finished;

  if (track->jpeg && !track->picture)
    track->picture = save_picture (self, track->picture_time, track->number, track->jpeg);
  finished = watch_live_track_finish (track, self->camera, self->shared.session);
  self->ended[self->n_ended++ % MAX_ENDED] = track->number;
  watch_store_add_track (self->shared.store, finished);
  self->minute_out++;
}

static gboolean
has_ended (WatchAnalysis *self, guint64 number)
{
  for (guint i = 0; i < MIN (self->n_ended, MAX_ENDED); i++)
    if (self->ended[i] == number)
      return TRUE;
  return FALSE;
}

static void
finish_tracks (WatchAnalysis *self, gint64 before)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->tracks);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    WatchLiveTrack *track = value;

    /* The timestamp lies in the future: the clock was set back. */
    if (track->last < before || track->last - MINUTE > before) {
      finish_track (self, track);
      g_hash_table_iter_remove (&iter);
    }
  }
}

static void
set_class (WatchLiveTrack *track, const gchar *name, gdouble confidence)
{
  if (g_strcmp0 (track->class_name, name) != 0) {
    g_free (track->class_name);
    track->class_name = g_strdup (name);
  }
  track->confidence = confidence;
}

static void
add_object (WatchAnalysis *self, const GstCclMeta *meta, const GstCclComponent *component,
            gint64 time)
{
  const WatchPoint point = { time, (gfloat) component->x / meta->width,
                             (gfloat) component->y / meta->height,
                             (gfloat) component->width / meta->width,
                             (gfloat) component->height / meta->height };
  const gchar *name =
      component->class_id ? gst_ccl_meta_get_class_name (meta, component->class_id) : NULL;
  gpointer key = GUINT_TO_POINTER (component->track);
  WatchLiveTrack *track = g_hash_table_lookup (self->tracks, key);
  WatchBox box = { self->track_base + component->track,
                   g_strdup (name),
                   point.x,
                   point.y,
                   point.width,
                   point.height };

  g_array_append_val (self->boxes, box);
  /* A number stands for one track: a track that comes back too late is only shown. */
  if (!track && has_ended (self, box.track))
    return;
  if (!track) {
    track = watch_live_track_new (box.track);
    g_hash_table_insert (self->tracks, key, track);
    self->last_track = MAX (self->last_track, box.track);
    self->minute_in++;
  }
  watch_live_track_add (track, &point);
  set_class (track, name, component->confidence);
}

/* --- Zones --- */

static Zone *
find_zone (WatchAnalysis *self, const GstCclZone *from)
{
  for (guint i = 0; i < self->zones->len; i++) {
    Zone *zone = g_ptr_array_index (self->zones, i);

    if (g_str_equal (zone->name, from->name))
      return zone;
  }
  return add_zone (self, from->name);
}

static void
set_zones (WatchAnalysis *self, const GstCclZonesMeta *meta)
{
  g_ptr_array_set_size (self->present, 0);
  for (guint i = 0; i < meta->n_zones; i++) {
    Zone *zone = find_zone (self, &meta->zones[i]);

    zone->tripwire = meta->zones[i].tripwire;
    zone->inside = meta->zones[i].inside;
    zone->minute_inside = MAX (zone->minute_inside, zone->inside);
    g_ptr_array_add (self->present, zone);
  }
}

static void
add_zone_event (WatchAnalysis *self, Frame *frame, const GstCclZonesMeta *meta,
                const GstCclZoneEvent *from)
{
  static const WatchEventKind kinds[] = {
    [GST_CCL_ZONE_ENTER] = WATCH_EVENT_ENTER, [GST_CCL_ZONE_LEAVE] = WATCH_EVENT_LEAVE,
    [GST_CCL_ZONE_DWELL] = WATCH_EVENT_DWELL, [GST_CCL_ZONE_IN] = WATCH_EVENT_IN,
    [GST_CCL_ZONE_OUT] = WATCH_EVENT_OUT,     [GST_CCL_ZONE_STOPPED] = WATCH_EVENT_STOPPED,
    [GST_CCL_ZONE_LEFT] = WATCH_EVENT_LEFT,   [GST_CCL_ZONE_REMOVED] = WATCH_EVENT_REMOVED,
  };
  WatchLiveTrack *track = g_hash_table_lookup (self->tracks, GUINT_TO_POINTER (from->track));
  gint64 time = frame->time - from->frame_age / 1000;
  Zone *zone = g_ptr_array_index (self->present, from->zone);
  WatchEvent *event = event_new (self, kinds[from->type], time);

  if (from->type == GST_CCL_ZONE_ENTER || from->type == GST_CCL_ZONE_IN) {
    zone->in++;
    zone->minute_in++;
  } else if (from->type == GST_CCL_ZONE_LEAVE || from->type == GST_CCL_ZONE_OUT) {
    zone->out++;
    zone->minute_out++;
  }
  event->zone = g_strdup (zone->name);
  event->track = self->track_base + from->track;
  event->class_name =
      g_strdup (from->class_id ? gst_ccl_zones_meta_get_class_name (meta, from->class_id) : NULL);
  event->x = CLAMP (from->x / meta->width, 0, 1);
  event->y = CLAMP (from->y / meta->height, 0, 1);
  event->dwell = (gint64) (from->dwell / 1000);
  event->in = zone->in;
  event->out = zone->out;
  event->inside = from->inside;
  if (track)
    watch_live_track_add_zone (track, zone->name);
  if (self->recorder)
    event->clip = watch_recorder_trigger (self->recorder, time, event->number);
  push_with_picture (self, frame, event, track);
}

/* --- Motion --- */

static void
begin_motion (WatchAnalysis *self, Frame *frame)
{
  WatchEvent *event = event_new (self, WATCH_EVENT_MOTION, frame->time);
  const WatchBox *box = &g_array_index (self->boxes, WatchBox, 0);

  self->moving = TRUE;
  event->track = box->track;
  event->class_name = g_strdup (box->class_name);
  event->x = CLAMP (box->x + box->width / 2, 0, 1);
  event->y = CLAMP (box->y + box->height / 2, 0, 1);
  if (self->recorder)
    event->clip = watch_recorder_trigger (self->recorder, frame->time, event->number);
  push_with_picture (self, frame, event, NULL);
}

static void
end_motion (WatchAnalysis *self, gint64 time)
{
  if (!self->moving)
    return;
  self->moving = FALSE;
  push_event (self, event_new (self, WATCH_EVENT_STILL, time), 0);
}

/* --- Minutes --- */

static void
add_minute (WatchAnalysis *self, const gchar *zone, guint64 in, guint64 out, guint inside)
{
  WatchMinute *minute;

  if (!in && !out && !inside)
    return;
  minute = g_new0 (WatchMinute, 1);
  minute->camera = g_strdup (self->camera);
  minute->zone = g_strdup (zone);
  minute->time = self->minute;
  minute->in = in;
  minute->out = out;
  minute->inside = inside;
  watch_store_add_minute (self->shared.store, minute);
}

/* Begins the minute of @time, unless it is the present one. */
static void
set_minute (WatchAnalysis *self, gint64 time)
{
  gint64 minute = time - time % MINUTE;

  /* Ignore a clock that is set back a little. */
  if (minute <= self->minute && time > self->minute - MINUTE)
    return;
  add_minute (self, NULL, self->minute_in, self->minute_out, self->minute_inside);
  self->minute_in = self->minute_out = 0;
  self->minute_inside = self->objects;
  for (guint i = 0; i < self->zones->len; i++) {
    Zone *zone = g_ptr_array_index (self->zones, i);

    add_minute (self, zone->name, zone->minute_in, zone->minute_out, zone->minute_inside);
    zone->minute_in = zone->minute_out = 0;
    zone->minute_inside = zone->inside;
  }
  self->minute = minute;
}

/* --- Frames --- */

static void
add_frame_line (WatchAnalysis *self, gint64 time)
{
  watch_store_add_line (
      self->shared.store, self->camera, WATCH_LINE_FRAMES,
      watch_frame_to_json (self->camera, self->shared.session, self->frames, time, self->boxes));
}

/* Passes on the metadata, with ids and counts that go on over streams and restarts, as in
 * events. */
static void
pass_metadata (WatchAnalysis *self, const Frame *frame)
{
  GstBuffer *buffer;
  GstCclMeta *meta;
  GstCclZonesMeta *zones;

  if (!self->shared.metadata ||
      !watch_metadata_is_wanted (self->shared.metadata, self->camera, frame->time))
    return;
  buffer = watch_metadata_copy (frame->buffer, frame->time);
  meta = gst_buffer_get_ccl_meta (buffer);
  zones = gst_buffer_get_ccl_zones_meta (buffer);
  for (guint i = 0; meta && i < meta->n_components; i++)
    if (meta->components[i].track)
      meta->components[i].track += (guint) self->track_base;
  for (guint i = 0; zones && i < zones->n_events; i++) {
    GstCclZoneEvent *event = &zones->events[i];
    const Zone *zone = g_ptr_array_index (self->present, event->zone);

    event->track += (guint) self->track_base;
    event->in += zone->in - zones->zones[event->zone].in;
    event->out += zone->out - zones->zones[event->zone].out;
  }
  watch_metadata_push (self->shared.metadata, self->camera, buffer, self->width, self->height);
  gst_buffer_unref (buffer);
}

static void
add_objects (WatchAnalysis *self, Frame *frame)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (frame->buffer);
  gboolean moves = FALSE;

  g_array_set_size (self->boxes, 0);
  for (guint i = 0; meta && i < meta->n_components; i++) {
    if (!meta->components[i].track)
      continue;
    add_object (self, meta, &meta->components[i], frame->time);
    /* With `static-time`, a parked car is an object for as long as it is there. */
    moves = moves || meta->components[i].static_age == 0;
  }
  self->objects = self->boxes->len;
  self->minute_inside = MAX (self->minute_inside, self->objects);
  if (moves) {
    self->last_object = frame->time;
    if (!self->moving)
      begin_motion (self, frame);
  } else if (frame->time > self->last_object + STILL_AFTER ||
             frame->time < self->last_object - MINUTE) {
    end_motion (self, frame->time);
  }
}

void
watch_analysis_add_frame (WatchAnalysis *self, GstBuffer *buffer, const GstVideoInfo *video,
                          gboolean mappable, gint64 time)
{
  const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);
  Frame frame = { buffer, video, mappable, time, 0 };

  g_mutex_lock (&self->lock);
  self->frames++;
  self->width = (guint) GST_VIDEO_INFO_WIDTH (video);
  self->height = (guint) GST_VIDEO_INFO_HEIGHT (video);
  set_minute (self, time);
  add_objects (self, &frame);
  if (zones) {
    set_zones (self, zones);
    for (guint i = 0; i < zones->n_events; i++)
      add_zone_event (self, &frame, zones, &zones->events[i]);
  }
  pass_metadata (self, &frame);
  take_pictures (self, &frame);
  finish_tracks (self, time - TRACK_ENDS_AFTER);
  if (self->line_frames && self->objects)
    add_frame_line (self, time);
  g_mutex_unlock (&self->lock);
}

/* --- The rest --- */

static void
end_all (WatchAnalysis *self, gint64 time)
{
  finish_tracks (self, G_MAXINT64);
  end_motion (self, time);
  g_array_set_size (self->boxes, 0);
  self->objects = 0;
  for (guint i = 0; i < self->zones->len; i++)
    ((Zone *) g_ptr_array_index (self->zones, i))->inside = 0;
  self->track_base = self->last_track;
}

void
watch_analysis_restart (WatchAnalysis *self, gint64 time)
{
  g_mutex_lock (&self->lock);
  end_all (self, time);
  g_mutex_unlock (&self->lock);
}

void
watch_analysis_add_event (WatchAnalysis *self, WatchEventKind kind, gint64 time,
                          const WebReason *reason, gint64 dwell)
{
  WatchEvent *event;

  g_mutex_lock (&self->lock);
  event = event_new (self, kind, time);
  event->text = g_strdup (web_reason_get_text (reason));
  event->reason = reason ? web_reason_to_json (reason) : NULL;
  event->dwell = dwell;
  push_event (self, event, 0);
  g_mutex_unlock (&self->lock);
}

void
watch_analysis_tick (WatchAnalysis *self, gint64 now)
{
  g_mutex_lock (&self->lock);
  /* Frames arrive somewhat late. */
  finish_tracks (self, now - 2 * TRACK_ENDS_AFTER);
  set_minute (self, now - TRACK_ENDS_AFTER);
  g_mutex_unlock (&self->lock);
}

void
watch_analysis_get_status (WatchAnalysis *self, WatchCameraStatus *status)
{
  g_mutex_lock (&self->lock);
  status->frames = self->frames;
  status->width = self->width;
  status->height = self->height;
  status->objects = self->objects;
  status->moving = self->moving;
  for (guint i = 0; i < self->present->len; i++) {
    const Zone *zone = g_ptr_array_index (self->present, i);
    WatchZoneCounts counts = { g_strdup (zone->name), zone->tripwire, zone->in, zone->out,
                               zone->inside };

    g_array_append_val (status->zones, counts);
  }
  for (guint i = 0; i < self->boxes->len; i++) {
    WatchBox box = g_array_index (self->boxes, WatchBox, i);

    box.class_name = g_strdup (box.class_name);
    g_array_append_val (status->boxes, box);
  }
  g_mutex_unlock (&self->lock);
}

void
watch_analysis_free (WatchAnalysis *self)
{
  gint64 now = g_get_real_time ();

  if (self->shared.metadata)
    watch_metadata_remove_camera (self->shared.metadata, self->camera);
  g_mutex_lock (&self->lock);
  while (self->n_jobs)
    g_cond_wait (&self->idle, &self->lock);
  end_all (self, now);
  set_minute (self, now + MINUTE);
  flush_events (self, TRUE);
  exchange_numbers (self);
  g_mutex_unlock (&self->lock);
  g_hash_table_unref (self->tracks);
  g_ptr_array_unref (self->zones);
  g_ptr_array_unref (self->present);
  g_array_unref (self->boxes);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->idle);
  g_free (self->camera);
  g_free (self);
}
