/* cudaccl-watch - metadata of frames for clients that are connected
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/metadata.h"

#include <gst/ccl/gstccl.h>

typedef struct
{
  gchar *camera;
  GWeakRef source; /* GstAppSrc */
} Reader;

struct _WatchMetadata
{
  gint refs;
  gint n_readers; /* read without the lock */
  GMutex lock;
  GPtrArray *readers;           /* Reader */
  GHashTable *cameras;          /* name to the time of the last frame, 0 if there was none */
  WatchMetadataChanged changed; /* main thread only */
  gpointer user_data;
};

static void
reader_free (gpointer data)
{
  Reader *reader = data;

  g_free (reader->camera);
  g_weak_ref_clear (&reader->source);
  g_free (reader);
}

WatchMetadata *
watch_metadata_new (void)
{
  WatchMetadata *self = g_new0 (WatchMetadata, 1);

  self->refs = 1;
  self->readers = g_ptr_array_new_with_free_func (reader_free);
  self->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_mutex_init (&self->lock);
  return self;
}

WatchMetadata *
watch_metadata_ref (WatchMetadata *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
watch_metadata_unref (WatchMetadata *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  g_ptr_array_unref (self->readers);
  g_hash_table_unref (self->cameras);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Forgets readers whose sources were freed. Call with the lock held. */
static void
forget_freed (WatchMetadata *self)
{
  for (guint i = self->readers->len; i-- > 0;) {
    Reader *reader = g_ptr_array_index (self->readers, i);
    g_autoptr (GstAppSrc) source = g_weak_ref_get (&reader->source);

    if (!source)
      g_ptr_array_remove_index_fast (self->readers, i);
  }
  g_atomic_int_set (&self->n_readers, (gint) self->readers->len);
}

/* Returns references to the sources of the camera. */
static GPtrArray *
get_sources (WatchMetadata *self, const gchar *camera)
{
  GPtrArray *sources = g_ptr_array_new_with_free_func (gst_object_unref);

  g_mutex_lock (&self->lock);
  forget_freed (self);
  for (guint i = 0; i < self->readers->len; i++) {
    Reader *reader = g_ptr_array_index (self->readers, i);
    GstAppSrc *source =
        g_str_equal (reader->camera, camera) ? g_weak_ref_get (&reader->source) : NULL;

    if (source)
      g_ptr_array_add (sources, source);
  }
  g_mutex_unlock (&self->lock);
  return sources;
}

void
watch_metadata_add_camera (WatchMetadata *self, const gchar *camera)
{
  g_mutex_lock (&self->lock);
  g_hash_table_insert (self->cameras, g_strdup (camera), g_new0 (gint64, 1));
  g_mutex_unlock (&self->lock);
  if (self->changed)
    self->changed (camera, TRUE, self->user_data);
}

void
watch_metadata_remove_camera (WatchMetadata *self, const gchar *camera)
{
  g_autoptr (GPtrArray) sources = get_sources (self, camera);

  if (self->changed)
    self->changed (camera, FALSE, self->user_data);
  for (guint i = 0; i < sources->len; i++)
    gst_app_src_end_of_stream (g_ptr_array_index (sources, i));
  g_mutex_lock (&self->lock);
  g_hash_table_remove (self->cameras, camera);
  g_mutex_unlock (&self->lock);
}

void
watch_metadata_set_changed (WatchMetadata *self, WatchMetadataChanged func, gpointer user_data)
{
  GHashTableIter iter;
  gpointer camera;

  self->changed = func;
  self->user_data = user_data;
  g_hash_table_iter_init (&iter, self->cameras);
  while (func && g_hash_table_iter_next (&iter, &camera, NULL))
    func (camera, TRUE, user_data);
}

static void
push (GstAppSrc *source, GstBuffer *buffer, guint width, guint height)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width",
                                       G_TYPE_INT, (gint) width, "height", G_TYPE_INT,
                                       (gint) height, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  GstSample *sample = gst_sample_new (buffer, caps, NULL, NULL);

  /* Sets the caps if they differ from the last. */
  gst_app_src_push_sample (source, sample);
  gst_sample_unref (sample);
  gst_caps_unref (caps);
}

GstBuffer *
watch_metadata_copy (GstBuffer *frame, gint64 time)
{
  GstMeta *metas[] = { (GstMeta *) gst_buffer_get_ccl_meta (frame),
                       (GstMeta *) gst_buffer_get_ccl_zones_meta (frame) };
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };
  GstBuffer *buffer = gst_buffer_new ();
  GstCaps *caps = gst_caps_new_empty_simple ("timestamp/x-unix");

  for (guint i = 0; i < G_N_ELEMENTS (metas); i++) {
    if (metas[i])
      metas[i]->info->transform_func (buffer, metas[i], frame, _gst_meta_transform_copy, &copy);
  }
  gst_buffer_add_reference_timestamp_meta (buffer, caps, (GstClockTime) time * GST_USECOND,
                                           GST_CLOCK_TIME_NONE);
  gst_caps_unref (caps);
  return buffer;
}

void
watch_metadata_add_source (WatchMetadata *self, const gchar *camera, GstAppSrc *source)
{
  Reader *reader = g_new0 (Reader, 1);
  GstBuffer *nothing = gst_buffer_new (), *first;
  const gint64 *last;
  gint64 time;

  /* Frames arrive late: the next one may have been taken before now. */
  g_mutex_lock (&self->lock);
  last = g_hash_table_lookup (self->cameras, camera);
  time = last && *last ? *last : g_get_real_time ();
  g_mutex_unlock (&self->lock);
  first = watch_metadata_copy (nothing, time);
  push (source, first, 1, 1);
  gst_buffer_unref (first);
  gst_buffer_unref (nothing);
  reader->camera = g_strdup (camera);
  g_weak_ref_init (&reader->source, source);
  g_mutex_lock (&self->lock);
  g_ptr_array_add (self->readers, reader);
  /* Sources of a camera without frames would stay. */
  forget_freed (self);
  g_mutex_unlock (&self->lock);
}

gboolean
watch_metadata_is_wanted (WatchMetadata *self, const gchar *camera, gint64 time)
{
  gint64 *last;

  g_mutex_lock (&self->lock);
  last = g_hash_table_lookup (self->cameras, camera);
  if (last)
    *last = time;
  g_mutex_unlock (&self->lock);
  return g_atomic_int_get (&self->n_readers) > 0;
}

void
watch_metadata_push (WatchMetadata *self, const gchar *camera, GstBuffer *buffer, guint width,
                     guint height)
{
  g_autoptr (GPtrArray) sources = get_sources (self, camera);

  for (guint i = 0; i < sources->len; i++) {
    /* A starting source has a clock before it has a base time: a buffer would get the clock's
     * own time, hours ahead, and the sink would wait for it. */
    if (GST_STATE (g_ptr_array_index (sources, i)) == GST_STATE_PLAYING)
      push (g_ptr_array_index (sources, i), buffer, width, height);
  }
}
