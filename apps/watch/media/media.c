/* cudaccl-watch - the media folder: its thread, names and limits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/media/private.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "apps/watch/media/clip.h"

/* Most bytes that wait for the disk; most of them are still in the rings anyway. */
#define QUEUE_BYTES (G_GUINT64_CONSTANT (256) << 20)
/* Reserve for the database and the rest of the machine. */
#define RESERVE (G_GUINT64_CONSTANT (256) << 20)
/* Pause after a file could not be written. */
#define HOLD (10 * G_USEC_PER_SEC)
/* Time to write queued files when the folder is closed. */
#define CLOSE_TIMEOUT (10 * G_USEC_PER_SEC)
#define FOLDER_MODE 0750
#define MAX_FAILED 65536 /* names, some 6 MB */

#define CAMERA "[A-Za-z0-9_-]{1,64}"
#define DAY "[0-9]{4}-[0-9]{2}-[0-9]{2}"
#define FILE_NAME "[0-9]{6}-[0-9]{6,20}-[0-9a-f]{4}\\.(mp4|jpg)"
/* Suffix of unfinished clips. */
#define PART ".part"

struct _WatchWriting
{
  gatomicrefcount refs;
  WatchMedia *media;
  gchar *name;
  GstCaps *caps;
  gint64 patience;
  gint ended;

  /* Thread only. */
  WatchClip *clip;
  gchar *path, *part;
  guint64 bytes;
  gint64 touched;
};

typedef struct
{
  WatchWriting *writing;
  GstBuffer *buffer; /* NULL: the clip ends */
  gchar *name;       /* name of a picture */
  GBytes *jpeg;
  gboolean stock;  /* counts all files again */
  gboolean limits; /* sets `reserve` and `hold` */
  guint64 reserve;
  gint64 hold;
  gsize bytes;
} Job;

/* The file @name is written, or never will be. */
static void
settle (WatchMedia *self, const gchar *name)
{
  g_mutex_lock (&self->lock);
  g_hash_table_remove (self->pending, name);
  g_mutex_unlock (&self->lock);
}

static void
writing_unref (WatchWriting *writing)
{
  if (!g_atomic_ref_count_dec (&writing->refs))
    return;
  settle (writing->media, writing->name);
  gst_caps_unref (writing->caps);
  g_free (writing->name);
  g_free (writing->path);
  g_free (writing->part);
  g_free (writing);
}

static WatchWriting *
writing_ref (WatchWriting *writing)
{
  g_atomic_ref_count_inc (&writing->refs);
  return writing;
}

static void
job_free (WatchMedia *self, Job *job)
{
  if (job->name)
    settle (self, job->name);
  g_clear_pointer (&job->writing, writing_unref);
  gst_clear_buffer (&job->buffer);
  g_clear_pointer (&job->jpeg, g_bytes_unref);
  g_free (job->name);
  g_free (job);
}

void
watch_media_take_error (WatchMedia *self, WebReason *reason)
{
  g_autoptr (WebReason) old = NULL;

  g_mutex_lock (&self->lock);
  old = self->stats.last_error;
  self->stats.last_error = reason;
  if (reason && g_strcmp0 (web_reason_get_text (old), reason->text))
    g_message ("%s", reason->text);
  g_mutex_unlock (&self->lock);
}

/* --- Files --- */

/* Hold the index's lock until there is a file: an empty folder may be removed. */
static gboolean
make_folder (WatchMedia *self, const gchar *name, GError **error)
{
  g_autofree gchar *day = g_path_get_dirname (name);
  g_autofree gchar *path = g_build_filename (self->folder, day, NULL);

  if (g_mkdir_with_parents (path, FOLDER_MODE) == 0) {
    g_hash_table_remove (self->absent, day);
    return TRUE;
  }
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", path,
               g_strerror (errno));
  return FALSE;
}

guint64
watch_media_get_size (const gchar *path)
{
  GStatBuf status;

  return g_lstat (path, &status) == 0 && S_ISREG (status.st_mode) ? (guint64) status.st_size : 0;
}

/* A file of CAMERA/DAY has @bytes, of which @counted are in the statistics. */
static void
add_file (WatchMedia *self, const gchar *day, guint64 bytes, guint64 counted)
{
  guint64 *sum;

  g_mutex_lock (&self->index_lock);
  sum = g_hash_table_lookup (self->days, day);
  if (!sum) {
    sum = g_new0 (guint64, 1);
    g_hash_table_insert (self->days, g_strdup (day), sum);
  }
  *sum += bytes;
  g_mutex_unlock (&self->index_lock);
  g_mutex_lock (&self->lock);
  self->stats.bytes += bytes - counted;
  g_mutex_unlock (&self->lock);
}

static gboolean
has_space (WatchMedia *self, guint64 needed)
{
  g_autofree gchar *free_text = NULL, *reserve = NULL;
  struct statvfs space;
  guint64 available;
  int result;

  do
    result = statvfs (self->folder, &space);
  while (result < 0 && errno == EINTR);
  if (result < 0 || space.f_flag & ST_RDONLY) {
    WebReason *reason =
        result < 0 ? web_reason_new (WEB_REASON_MEDIA_UNWRITABLE, "path", self->folder, "detail",
                                     g_strerror (errno), NULL)
                   : web_reason_new (WEB_REASON_MEDIA_READ_ONLY, "path", self->folder, NULL);

    g_atomic_int_set (&self->full, TRUE);
    watch_media_take_error (self, reason);
    return FALSE;
  }
  available = (guint64) space.f_bavail * space.f_frsize;
  if (available >= needed)
    return TRUE;
  free_text = g_strdup_printf ("%" G_GUINT64_FORMAT, available / 1000000);
  reserve = g_strdup_printf ("%" G_GUINT64_FORMAT, (needed + 999999) / 1000000);
  g_atomic_int_set (&self->full, TRUE);
  watch_media_take_error (self, web_reason_new (WEB_REASON_MEDIA_FULL, "path", self->folder, "free",
                                                free_text, "reserve", reserve, NULL));
  return FALSE;
}

/* Whether a new file may be written. */
static gboolean
check_space (WatchMedia *self)
{
  if (!has_space (self, self->reserve) || g_get_monotonic_time () < self->full_until)
    return FALSE;
  if (g_atomic_int_compare_and_exchange (&self->full, TRUE, FALSE))
    watch_media_take_error (self, NULL);
  return TRUE;
}

static void
fail (WatchMedia *self, const gchar *name, const GError *error)
{
  /* An error of the muxer concerns one camera, an error of the disk all of them. */
  if (error->domain == GST_RESOURCE_ERROR || error->domain == G_FILE_ERROR) {
    self->full_until = g_get_monotonic_time () + self->hold;
    g_atomic_int_set (&self->full, TRUE);
  }
  watch_media_take_error (self, web_reason_new (WEB_REASON_MEDIA_NOT_WRITTEN, "path", name,
                                                "detail", error->message, NULL));
}

/* Counts the file @name, which was written or not. */
static void
count (WatchMedia *self, guint64 *counter, const gchar *name, gboolean ok)
{
  g_mutex_lock (&self->lock);
  if (ok) {
    ++*counter;
    /* Finishing a clip for want of space frees none. */
    if (!g_atomic_int_get (&self->full))
      g_clear_pointer (&self->stats.last_error, web_reason_free);
  } else {
    self->stats.failed++;
    /* The store has looked at the older ones long since. */
    if (g_hash_table_size (self->failed) >= MAX_FAILED)
      g_hash_table_remove_all (self->failed);
    g_hash_table_add (self->failed, g_strdup (name));
  }
  g_mutex_unlock (&self->lock);
}

/* --- Counting files --- */

void
watch_media_list_day (WatchMedia *self, const gchar *day, WatchFileFunc func, gpointer user_data)
{
  g_autofree gchar *path = g_build_filename (self->folder, day, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *file;

  while (dir && (file = g_dir_read_name (dir)))
    func (self, day, file, user_data);
}

static gboolean
is_open (WatchMedia *self, const gchar *part)
{
  for (guint i = 0; i < self->open->len; i++) {
    if (g_str_equal (((WatchWriting *) g_ptr_array_index (self->open, i))->part, part))
      return TRUE;
  }
  return FALSE;
}

static void
take_stock (WatchMedia *self, const gchar *day, const gchar *file, gpointer user_data)
{
  g_autofree gchar *path = g_build_filename (self->folder, day, file, NULL);

  if (g_regex_match (self->temporary_name, file, 0, NULL)) {
    g_autofree gchar *whole = g_strndup (path, strlen (path) - strlen (PART));

    if (is_open (self, path))
      return;
    /* A clip left by a process that was killed. */
    if (!g_str_has_suffix (path, PART) || !watch_clip_repair (path)) {
      g_unlink (path);
      return;
    }
    if (g_rename (path, whole) < 0) {
      watch_media_take_error (self, web_reason_new (WEB_REASON_MEDIA_NOT_WRITTEN, "path", whole,
                                                    "detail", g_strerror (errno), NULL));
      g_unlink (path);
      return;
    }
    add_file (self, day, watch_media_get_size (whole), 0);
  } else if (g_regex_match (self->file_name, file, 0, NULL)) {
    add_file (self, day, watch_media_get_size (path), 0);
  }
}

static void
take_stock_of_all (WatchMedia *self)
{
  g_autoptr (GDir) cameras = g_dir_open (self->folder, 0, NULL);
  const gchar *camera, *day;

  while (cameras && (camera = g_dir_read_name (cameras))) {
    g_autofree gchar *path = g_build_filename (self->folder, camera, NULL);
    g_autoptr (GDir) days = g_dir_open (path, 0, NULL);

    while (days && (day = g_dir_read_name (days))) {
      g_autofree gchar *name = g_build_filename (camera, day, NULL);

      if (!g_regex_match (self->day_name, name, 0, NULL))
        continue;
      add_file (self, name, 0, 0);
      watch_media_list_day (self, name, take_stock, NULL);
    }
  }
}

/* Returns whether the folder is another than before. */
static gboolean
note_folder (WatchMedia *self)
{
  GStatBuf status;

  if (g_stat (self->folder, &status) < 0 ||
      (self->device == status.st_dev && self->number == status.st_ino))
    return FALSE;
  self->device = status.st_dev;
  self->number = status.st_ino;
  return TRUE;
}

/* Forgets the files of the disk that was there before. Clips that are being written stay counted.
 */
static void
take_stock_again (WatchMedia *self)
{
  GHashTableIter iter;
  gpointer sum;

  g_mutex_lock (&self->index_lock);
  g_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, self->days);
  while (g_hash_table_iter_next (&iter, NULL, &sum))
    self->stats.bytes -= *(guint64 *) sum;
  g_mutex_unlock (&self->lock);
  g_hash_table_remove_all (self->days);
  g_mutex_unlock (&self->index_lock);
  take_stock_of_all (self);
}

/* --- The thread --- */

static void
write_picture (WatchMedia *self, Job *job)
{
  g_autofree gchar *path = g_build_filename (self->folder, job->name, NULL);
  g_autofree gchar *day = g_path_get_dirname (job->name);
  g_autoptr (GError) error = NULL;
  gsize size;
  const gchar *data = g_bytes_get_data (job->jpeg, &size);
  gboolean ok = FALSE;

  if (check_space (self)) {
    g_mutex_lock (&self->index_lock);
    ok = make_folder (self, job->name, &error) && g_file_set_contents (path, data, size, &error);
    g_mutex_unlock (&self->index_lock);
    if (ok)
      add_file (self, day, size, 0);
    else
      fail (self, job->name, error);
  }
  count (self, &self->stats.pictures, job->name, ok);
}

/* Ends the clip; @ok is FALSE if it failed. Keeps what can be played. */
static void
close_writing (WatchMedia *self, WatchWriting *writing, gboolean ok)
{
  g_autoptr (GError) error = NULL;
  gboolean kept;

  g_atomic_int_set (&writing->ended, TRUE);
  if (!writing->clip)
    return;
  if (!ok) {
    watch_clip_abort (writing->clip);
  } else {
    ok = watch_clip_finish (writing->clip, &error);
    if (!ok)
      fail (self, writing->name, error);
  }
  writing->clip = NULL;
  kept = ok || watch_clip_repair (writing->part);
  if (kept && g_rename (writing->part, writing->path) < 0) {
    g_clear_error (&error);
    g_set_error (&error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s", g_strerror (errno));
    fail (self, writing->name, error);
    kept = ok = FALSE;
  }
  count (self, &self->stats.clips, writing->name, ok);
  if (kept) {
    g_autofree gchar *day = g_path_get_dirname (writing->name);

    add_file (self, day, watch_media_get_size (writing->path), writing->bytes);
  } else {
    g_unlink (writing->part);
    g_mutex_lock (&self->lock);
    self->stats.bytes -= writing->bytes;
    g_mutex_unlock (&self->lock);
  }
  g_ptr_array_remove_fast (self->open, writing);
}

static void
close_all (WatchMedia *self)
{
  while (self->open->len)
    close_writing (self, g_ptr_array_index (self->open, 0), TRUE);
}

static gboolean
open_writing (WatchMedia *self, WatchWriting *writing)
{
  g_autoptr (GError) error = NULL;

  if (check_space (self)) {
    writing->path = g_build_filename (self->folder, writing->name, NULL);
    writing->part = g_strconcat (writing->path, PART, NULL);
    g_mutex_lock (&self->index_lock);
    if (make_folder (self, writing->name, &error))
      writing->clip = watch_clip_new (writing->part, writing->caps, &error);
    g_mutex_unlock (&self->index_lock);
    if (writing->clip) {
      g_ptr_array_add (self->open, writing_ref (writing));
      return TRUE;
    }
    fail (self, writing->name, error);
  }
  count (self, NULL, writing->name, FALSE);
  g_atomic_int_set (&writing->ended, TRUE);
  return FALSE;
}

static void
write_frame (WatchMedia *self, WatchWriting *writing, GstBuffer *buffer)
{
  g_autoptr (GError) error = NULL;
  const gsize size = gst_buffer_get_size (buffer);

  if (g_atomic_int_get (&writing->ended) || (!writing->clip && !open_writing (self, writing)))
    return;
  writing->touched = g_get_monotonic_time ();
  if (writing->touched > self->checked + G_USEC_PER_SEC) {
    self->checked = writing->touched;
    if (!has_space (self, self->reserve / 2)) {
      close_all (self);
      return;
    }
  }
  writing->bytes += size;
  g_mutex_lock (&self->lock);
  self->stats.bytes += size;
  g_mutex_unlock (&self->lock);
  if (!watch_clip_add (writing->clip, buffer, &error)) {
    fail (self, writing->name, error);
    close_writing (self, writing, FALSE);
  }
}

static void
run_job (WatchMedia *self, Job *job)
{
  if (job->stock) {
    take_stock_again (self);
  } else if (job->limits) {
    self->reserve = job->reserve;
    self->hold = job->hold;
    self->full_until = self->checked = 0;
    check_space (self);
  } else if (job->jpeg)
    write_picture (self, job);
  else if (job->buffer)
    write_frame (self, job->writing, job->buffer);
  else
    close_writing (self, job->writing, TRUE);
}

static void
close_overdue (WatchMedia *self)
{
  const gint64 now = g_get_monotonic_time ();

  for (guint i = self->open->len; i > 0; i--) {
    WatchWriting *writing = g_ptr_array_index (self->open, i - 1);

    if (now > writing->touched + writing->patience)
      close_writing (self, writing, TRUE);
  }
}

static gpointer
run (gpointer data)
{
  WatchMedia *self = data;

  g_mutex_lock (&self->lock);
  for (;;) {
    Job *job = g_queue_pop_head (&self->jobs);

    self->busy = job != NULL;
    if (job) {
      self->queued -= job->bytes;
      g_mutex_unlock (&self->lock);
      run_job (self, job);
      job_free (self, job);
      g_mutex_lock (&self->lock);
    } else if (self->quit) {
      break;
    } else {
      g_cond_broadcast (&self->idle);
      /* Open clips and a full disk need attention between jobs. */
      if (!self->open->len && !g_atomic_int_get (&self->full)) {
        g_cond_wait (&self->wake, &self->lock);
        continue;
      }
      g_cond_wait_until (&self->wake, &self->lock, g_get_monotonic_time () + G_USEC_PER_SEC);
      g_mutex_unlock (&self->lock);
      close_overdue (self);
      if (g_atomic_int_get (&self->full))
        check_space (self);
      g_mutex_lock (&self->lock);
    }
  }
  g_mutex_unlock (&self->lock);
  close_all (self);
  g_mutex_lock (&self->lock);
  self->done = TRUE;
  g_cond_broadcast (&self->idle);
  g_mutex_unlock (&self->lock);
  return NULL;
}

static gboolean
add_job (WatchMedia *self, Job *job)
{
  gboolean ok;

  g_mutex_lock (&self->lock);
  ok = !job->bytes || self->queued + job->bytes <= QUEUE_BYTES;
  if (ok) {
    self->queued += job->bytes;
    g_queue_push_tail (&self->jobs, job);
    g_cond_signal (&self->wake);
  } else {
    self->stats.failed++;
  }
  g_mutex_unlock (&self->lock);
  if (!ok) {
    job_free (self, job);
    watch_media_take_error (self,
                            web_reason_new (WEB_REASON_MEDIA_SLOW, "path", self->folder, NULL));
  }
  return ok;
}

/* The thread counts: it knows which files are being written. */
gboolean
watch_media_notice_disk (WatchMedia *self)
{
  Job *job;

  if (!note_folder (self))
    return FALSE;
  job = g_new0 (Job, 1);
  job->stock = TRUE;
  return add_job (self, job);
}

/* --- Opening --- */

static GRegex *
compile (const gchar *pattern)
{
  return g_regex_new (pattern, G_REGEX_RAW | G_REGEX_DOLLAR_ENDONLY, 0, NULL);
}

WatchMedia *
watch_media_open (const gchar *data, guint retention_days, guint64 retention_bytes, GError **error)
{
  g_autofree gchar *folder = g_build_filename (data, "media", NULL);
  WatchMedia *self;

  if (g_mkdir_with_parents (folder, FOLDER_MODE) < 0 || g_access (folder, W_OK | X_OK) < 0) {
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
                 "the folder for clips, %s, cannot be used: %s", folder, g_strerror (errno));
    return NULL;
  }
  self = g_new0 (WatchMedia, 1);
  self->refs = 1;
  self->folder = g_steal_pointer (&folder);
  self->retention_days = retention_days;
  self->retention_bytes = retention_bytes;
  self->reserve = RESERVE;
  self->hold = HOLD;
  self->serial = g_random_int_range (0, 0x10000);
  self->any_name = compile ("^" CAMERA "/" DAY "/" FILE_NAME "$");
  self->day_name = compile ("^" CAMERA "/" DAY "$");
  self->file_name = compile ("^" FILE_NAME "$");
  /* Temporary files of this program and of g_file_set_contents(). */
  self->temporary_name = compile ("^" FILE_NAME "\\.[A-Za-z0-9]{4,8}$");
  self->days = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->absent = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->failed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->pending = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->open = g_ptr_array_new_with_free_func ((GDestroyNotify) writing_unref);
  g_mutex_init (&self->lock);
  g_mutex_init (&self->index_lock);
  g_cond_init (&self->wake);
  g_cond_init (&self->idle);
  g_queue_init (&self->jobs);
  note_folder (self);
  take_stock_of_all (self);
  check_space (self);
  self->thread = g_thread_new ("watch-media", run, self);
  return self;
}

WatchMedia *
watch_media_ref (WatchMedia *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
watch_media_unref (WatchMedia *self)
{
  const gint64 end = g_get_monotonic_time () + CLOSE_TIMEOUT;
  gboolean done;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  g_mutex_lock (&self->lock);
  self->quit = TRUE;
  g_cond_signal (&self->wake);
  while (!self->done && g_cond_wait_until (&self->idle, &self->lock, end))
    ;
  done = self->done;
  g_mutex_unlock (&self->lock);
  if (!done) {
    /* The disk hangs, and the thread with it. */
    g_warning ("clips could not be finished: the disk of %s does not answer", self->folder);
    g_thread_unref (self->thread);
    return;
  }
  g_thread_join (self->thread);
  g_ptr_array_unref (self->open);
  g_hash_table_unref (self->days);
  g_hash_table_unref (self->absent);
  g_hash_table_unref (self->failed);
  g_hash_table_unref (self->pending);
  g_regex_unref (self->any_name);
  g_regex_unref (self->day_name);
  g_regex_unref (self->file_name);
  g_regex_unref (self->temporary_name);
  g_mutex_clear (&self->lock);
  g_mutex_clear (&self->index_lock);
  g_cond_clear (&self->wake);
  g_cond_clear (&self->idle);
  g_clear_pointer (&self->stats.last_error, web_reason_free);
  g_free (self->folder);
  g_free (self);
}

void
watch_media_set_reserve (WatchMedia *self, guint64 bytes, gint64 hold)
{
  Job *job = g_new0 (Job, 1);

  job->limits = TRUE;
  job->reserve = bytes;
  job->hold = hold;
  add_job (self, job);
}

void
watch_media_flush (WatchMedia *self)
{
  g_mutex_lock (&self->lock);
  while (self->jobs.length || self->busy)
    g_cond_wait (&self->idle, &self->lock);
  g_mutex_unlock (&self->lock);
}

void
watch_media_get_stats (WatchMedia *self, WatchMediaStats *stats)
{
  g_mutex_lock (&self->lock);
  *stats = self->stats;
  stats->last_error = web_reason_copy (self->stats.last_error);
  g_mutex_unlock (&self->lock);
}

/* --- Names --- */

/* Returns the name of a new file, or NULL if there is no space. */
static gchar *
make_name (WatchMedia *self, const gchar *camera, gint64 time, guint64 number, const gchar *type)
{
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_utc (time / G_USEC_PER_SEC);
  g_autofree gchar *day = date ? g_date_time_format (date, "%Y-%m-%d/%H%M%S") : NULL;
  g_autofree gchar *name = NULL;

  if (g_atomic_int_get (&self->full))
    return NULL;
  name = g_strdup_printf ("%s/%s-%06" G_GUINT64_FORMAT "-%04x.%s", camera, day ? day : "", number,
                          (guint) g_atomic_int_add (&self->serial, 1) & 0xffff, type);
  if (g_regex_match (self->any_name, name, 0, NULL)) {
    g_mutex_lock (&self->lock);
    g_hash_table_add (self->pending, g_strdup (name));
    g_mutex_unlock (&self->lock);
    return g_steal_pointer (&name);
  }
  g_critical ("%s is no name of a file", name);
  return NULL;
}

gchar *
watch_media_get_path (WatchMedia *self, const gchar *name)
{
  if (!g_regex_match (self->any_name, name, 0, NULL))
    return NULL;
  return g_build_filename (self->folder, name, NULL);
}

WatchFileState
watch_media_get_state (WatchMedia *self, const gchar *name)
{
  g_autofree gchar *path = watch_media_get_path (self, name);
  g_autofree gchar *day = g_path_get_dirname (name);
  g_autofree gchar *folder = g_build_filename (self->folder, day, NULL);
  gboolean pending, failed, absent;
  GStatBuf status;

  g_mutex_lock (&self->lock);
  pending = g_hash_table_contains (self->pending, name);
  failed = g_hash_table_contains (self->failed, name);
  g_mutex_unlock (&self->lock);
  if (pending)
    return WATCH_FILE_PENDING;
  if (!path || g_lstat (path, &status) == 0 || errno != ENOENT)
    return WATCH_FILE_THERE;
  if (failed)
    return WATCH_FILE_MISSING;
  g_mutex_lock (&self->index_lock);
  absent = g_hash_table_contains (self->absent, day);
  g_mutex_unlock (&self->index_lock);
  /* Without a reason for it, a day that is not there is on a disk that is not mounted now, or not
   * yet: records keep their files. */
  return absent || g_lstat (folder, &status) == 0 ? WATCH_FILE_MISSING : WATCH_FILE_THERE;
}

/* --- Adding --- */

gchar *
watch_media_add_picture (WatchMedia *self, const gchar *camera, gint64 time, guint64 number,
                         GBytes *jpeg)
{
  g_autofree gchar *name = make_name (self, camera, time, number, "jpg");
  Job *job;

  if (!name)
    return NULL;
  job = g_new0 (Job, 1);
  job->name = g_strdup (name);
  job->jpeg = g_bytes_ref (jpeg);
  job->bytes = g_bytes_get_size (jpeg);
  return add_job (self, job) ? g_steal_pointer (&name) : NULL;
}

WatchWriting *
watch_media_begin_clip (WatchMedia *self, const gchar *camera, gint64 time, guint64 number,
                        GstCaps *caps, gint64 patience)
{
  gchar *name = make_name (self, camera, time, number, "mp4");
  WatchWriting *writing;

  if (!name)
    return NULL;
  writing = g_new0 (WatchWriting, 1);
  g_atomic_ref_count_init (&writing->refs);
  writing->media = self;
  writing->name = name;
  writing->caps = gst_caps_ref (caps);
  writing->patience = patience;
  return writing;
}

const gchar *
watch_writing_get_name (WatchWriting *writing)
{
  return writing->name;
}

gboolean
watch_writing_has_ended (WatchWriting *writing)
{
  return g_atomic_int_get (&writing->ended);
}

gboolean
watch_media_add_frame (WatchMedia *self, WatchWriting *writing, GstBuffer *buffer)
{
  Job *job;

  if (g_atomic_int_get (&writing->ended))
    return FALSE;
  job = g_new0 (Job, 1);
  job->writing = writing_ref (writing);
  job->buffer = gst_buffer_ref (buffer);
  job->bytes = gst_buffer_get_size (buffer);
  return add_job (self, job);
}

void
watch_media_end_clip (WatchMedia *self, WatchWriting *writing)
{
  Job *job = g_new0 (Job, 1);

  job->writing = writing;
  add_job (self, job);
}
