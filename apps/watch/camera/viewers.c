/* cudaccl-watch - live pictures of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/viewers.h"

#include "apps/watch/camera/jpeg.h"

#define MAX_RATE 30

typedef struct
{
  guint id;
  gboolean boxes;
  gint64 interval, last; /* monotonic time */
  WatchPicture func;
  gpointer user_data;
} Viewer;

/* A picture, with or without boxes. */
typedef struct
{
  gint64 interval; /* interval of the fastest viewer; 0: there is none */
  gint64 last;     /* time of the last frame */
  gboolean busy;
  WatchJpeg *jpeg; /* used by the job only while it is busy; or NULL */
} Kind;

struct _WatchViewers
{
  gint refs;
  GArray *viewers; /* main thread only */
  guint last_id;
  gboolean closed;

  GMutex lock;
  Kind kinds[2];
};

typedef struct
{
  WatchViewers *viewers;
  guint kind;
  GstBuffer *frame;
  GstVideoInfo video;
  GBytes *bytes;
} Job;

WatchViewers *
watch_viewers_new (void)
{
  WatchViewers *self = g_new0 (WatchViewers, 1);

  self->refs = 1;
  self->viewers = g_array_new (FALSE, FALSE, sizeof (Viewer));
  g_mutex_init (&self->lock);
  return self;
}

static void
viewers_unref (WatchViewers *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (self->kinds); i++)
    g_clear_pointer (&self->kinds[i].jpeg, watch_jpeg_free);
  g_array_unref (self->viewers);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static void
update_kinds (WatchViewers *self)
{
  g_mutex_lock (&self->lock);
  for (guint kind = 0; kind < G_N_ELEMENTS (self->kinds); kind++) {
    Kind *of = &self->kinds[kind];

    of->interval = 0;
    for (guint i = 0; i < self->viewers->len; i++) {
      const Viewer *viewer = &g_array_index (self->viewers, Viewer, i);

      if (viewer->boxes == (gboolean) kind && (!of->interval || viewer->interval < of->interval))
        of->interval = viewer->interval;
    }
    if (!of->interval && !of->busy)
      g_clear_pointer (&of->jpeg, watch_jpeg_free);
  }
  g_mutex_unlock (&self->lock);
}

void
watch_viewers_free (WatchViewers *self)
{
  g_autoptr (GArray) viewers = g_steal_pointer (&self->viewers);

  self->closed = TRUE;
  self->viewers = g_array_new (FALSE, FALSE, sizeof (Viewer));
  for (guint i = 0; i < viewers->len; i++) {
    const Viewer *viewer = &g_array_index (viewers, Viewer, i);

    viewer->func (NULL, viewer->user_data);
  }
  update_kinds (self);
  viewers_unref (self);
}

guint
watch_viewers_add (WatchViewers *self, gboolean boxes, guint rate, WatchPicture func,
                   gpointer user_data)
{
  const Viewer viewer = {
    ++self->last_id, boxes != FALSE, G_USEC_PER_SEC / CLAMP (rate, 1, MAX_RATE), 0, func, user_data
  };

  g_array_append_val (self->viewers, viewer);
  update_kinds (self);
  return viewer.id;
}

void
watch_viewers_remove (WatchViewers *self, guint id)
{
  for (guint i = 0; i < self->viewers->len; i++) {
    if (g_array_index (self->viewers, Viewer, i).id == id) {
      g_array_remove_index (self->viewers, i);
      break;
    }
  }
  update_kinds (self);
}

/* Main thread. Viewers may be added and removed meanwhile. */
static gboolean
deliver (gpointer data)
{
  Job *job = data;
  WatchViewers *self = job->viewers;
  gint64 now = g_get_monotonic_time ();
  g_autoptr (GArray) viewers = g_array_copy (self->viewers);

  for (guint i = 0; i < viewers->len; i++) {
    const Viewer *viewer = &g_array_index (viewers, Viewer, i);
    gboolean due = FALSE;

    if (viewer->boxes != (gboolean) job->kind)
      continue;
    for (guint k = 0; k < self->viewers->len; k++) {
      Viewer *present = &g_array_index (self->viewers, Viewer, k);

      /* Frames come at their own rate: rather a little early than a frame late. */
      if (present->id == viewer->id && now >= present->last + present->interval * 3 / 4) {
        present->last = now;
        due = TRUE;
      }
    }
    if (due && !self->closed)
      viewer->func (job->bytes, viewer->user_data);
  }
  g_bytes_unref (job->bytes);
  g_free (job);
  viewers_unref (self);
  return G_SOURCE_REMOVE;
}

static void
encode (gpointer data, gpointer user_data)
{
  Job *job = data;
  Kind *kind = &job->viewers->kinds[job->kind];

  if (!kind->jpeg)
    kind->jpeg = watch_jpeg_new (job->kind);
  job->bytes = kind->jpeg ? watch_jpeg_encode (kind->jpeg, job->frame, &job->video) : NULL;
  gst_buffer_unref (job->frame);
  g_mutex_lock (&job->viewers->lock);
  kind->busy = FALSE;
  if (!kind->interval)
    g_clear_pointer (&kind->jpeg, watch_jpeg_free);
  g_mutex_unlock (&job->viewers->lock);
  if (job->bytes) {
    g_idle_add (deliver, job);
  } else {
    viewers_unref (job->viewers);
    g_free (job);
  }
}

void
watch_viewers_add_frame (WatchViewers *self, GstBuffer *frame, const GstVideoInfo *video)
{
  gint64 now = g_get_monotonic_time ();

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < G_N_ELEMENTS (self->kinds); i++) {
    Kind *kind = &self->kinds[i];
    Job *job;

    if (!kind->interval || kind->busy || now < kind->last + kind->interval * 7 / 8)
      continue;
    kind->busy = TRUE;
    kind->last = now;
    g_atomic_int_inc (&self->refs);
    job = g_new0 (Job, 1);
    job->viewers = self;
    job->kind = i;
    job->frame = gst_buffer_ref (frame);
    job->video = *video;
    watch_jpeg_run (encode, job);
  }
  g_mutex_unlock (&self->lock);
}
