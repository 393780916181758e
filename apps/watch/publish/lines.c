/* cudaccl-watch - writes lines to a file, or to standard output
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/publish/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW 512

/* A ready pipe takes this many bytes without waiting. */
#define CHUNK 4096

/* Longest wait while nothing wakes the sink, in milliseconds. */
#define POLL 1000

typedef struct
{
  WatchSink sink;
  gchar *path; /* NULL: standard output */
  int fd;      /* -1: not open */
  gboolean regular;
  GString *rest; /* rest of a line that a pipe has not taken yet */
} LinesSink;

static gboolean
set_errno (GError **error, const gchar *what, const gchar *path)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "cannot %s %s: %s", what,
               path ? path : "standard output", g_strerror (errno));
  return FALSE;
}

static void
close_file (LinesSink *self)
{
  if (self->path && self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

/* Opens the file, again if it was moved or removed: for programs that rotate logs. */
static gboolean
open_file (LinesSink *self, GError **error)
{
  struct stat file, named;
  gchar last = '\n';
  int flags = O_RDWR;

  if (self->fd >= 0 &&
      (!self->path || (fstat (self->fd, &file) == 0 && stat (self->path, &named) == 0 &&
                       file.st_dev == named.st_dev && file.st_ino == named.st_ino)))
    return TRUE;

  close_file (self);
  if (self->path && stat (self->path, &named) == 0 && S_ISFIFO (named.st_mode))
    flags = O_WRONLY; /* fails without a reader */
  self->fd = self->path
                 ? open (self->path, flags | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640)
                 : STDOUT_FILENO;
  if (self->fd < 0 || fstat (self->fd, &file) < 0)
    return set_errno (error, "open", self->path);
  self->regular = S_ISREG (file.st_mode);
  /* End the part of a line that a crash left behind: the whole line follows. */
  if (self->regular && file.st_size > 0 && pread (self->fd, &last, 1, file.st_size - 1) == 1 &&
      last != '\n' && write (self->fd, "\n", 1) != 1)
    return set_errno (error, "write to", self->path);
  return TRUE;
}

/* Writes all lines of @text to a regular file, or none. */
static gboolean
write_file (LinesSink *self, const GString *text, GError **error)
{
  struct stat before;
  gsize done = 0;

  if (fstat (self->fd, &before) < 0)
    return set_errno (error, "write to", self->path);
  while (done < text->len) {
    ssize_t n = write (self->fd, text->str + done, text->len - done);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      set_errno (error, "write to", self->path);
      if (self->path && ftruncate (self->fd, before.st_size) < 0)
        g_prefix_error (error, "lines may be incomplete: ");
      return FALSE;
    }
    done += (gsize) n;
  }
  return fdatasync (self->fd) == 0 || errno == EINVAL || errno == EROFS ||
         set_errno (error, "write to", self->path);
}

/* Writes what a pipe or terminal takes now. */
static gboolean
write_pipe (LinesSink *self, GError **error)
{
  while (self->rest->len > 0) {
    struct pollfd fds[] = { { self->fd, POLLOUT, 0 }, { self->sink.wake, POLLIN, 0 } };
    eventfd_t value;
    ssize_t n;

    /* New lines do not end the wait; the end of the program does. */
    poll (fds, G_N_ELEMENTS (fds), POLL);
    if (fds[1].revents) {
      eventfd_read (self->sink.wake, &value);
      self->sink.at_end = FALSE;
    }
    if (!fds[0].revents) {
      watch_sink_set_state (&self->sink, FALSE, web_reason_new (WEB_REASON_READER_HANGS, NULL));
      if (!watch_sink_goes_on (&self->sink, TRUE))
        return TRUE;
      continue;
    }
    n = write (self->fd, self->rest->str, MIN (self->rest->len, CHUNK));
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return set_errno (error, "write to", self->path);
    if (n > 0)
      g_string_erase (self->rest, 0, n);
  }
  return TRUE;
}

static gboolean
write_lines (LinesSink *self, GError **error)
{
  WatchSink *sink = &self->sink;
  g_autoptr (GString) text = NULL;

  if (!open_file (self, error))
    return FALSE;
  watch_sink_set_state (sink, TRUE, NULL);
  if (self->regular) {
    text = g_string_new (NULL);
    for (guint i = 0; i < sink->lines->len; i++) {
      g_string_append (text, g_array_index (sink->lines, WatchSinkLine, i).line->line);
      g_string_append_c (text, '\n');
    }
    if (text->len > 0 && !write_file (self, text, error))
      return FALSE;
    for (guint i = 0; i < sink->lines->len; i++)
      watch_sink_done (sink, sink->first + i, NULL);
    return TRUE;
  }

  for (guint i = 0; i < sink->lines->len; i++) {
    g_string_assign (self->rest, g_array_index (sink->lines, WatchSinkLine, i).line->line);
    g_string_append_c (self->rest, '\n');
    if (!write_pipe (self, error))
      return FALSE;
    if (self->rest->len > 0)
      return TRUE;
    watch_sink_done (sink, sink->first + i, NULL);
  }
  return TRUE;
}

static void
run (WatchSink *sink)
{
  LinesSink *self = (LinesSink *) sink;

  while (watch_sink_goes_on (sink, FALSE)) {
    g_autoptr (GError) error = NULL;
    struct pollfd wake = { sink->wake, POLLIN, 0 };
    eventfd_t value;

    watch_sink_fill (sink, WINDOW);
    if (!write_lines (self, &error)) {
      close_file (self);
      watch_sink_take (sink, TRUE);
      watch_sink_fail (sink, error->message);
      watch_sink_back_off (sink, 0);
      continue;
    }
    watch_sink_take (sink, TRUE);
    if (sink->at_end && watch_sink_goes_on (sink, FALSE)) {
      poll (&wake, 1, POLL);
      eventfd_read (sink->wake, &value);
    }
  }
}

static void
lines_free (WatchSink *sink)
{
  LinesSink *self = (LinesSink *) sink;

  close_file (self);
  g_string_free (self->rest, TRUE);
  g_free (self->path);
  watch_sink_clear (sink);
  g_free (self);
}

static gboolean
make (const WatchSettings *settings, WatchSinkAdd add, gpointer user_data, GError **error)
{
  static const WatchSinkClass klass = { run, lines_free };
  LinesSink *self;

  if (!settings->lines)
    return TRUE;
  self = g_new0 (LinesSink, 1);
  watch_sink_init (&self->sink, &klass, g_strdup ("lines"), g_strdup ("lines"),
                   settings->line_kinds);
  self->fd = -1;
  self->rest = g_string_new (NULL);
  if (!g_str_equal (settings->lines, "-"))
    self->path = g_strdup (settings->lines);
  add (&self->sink, user_data);
  return TRUE;
}

const WatchSinkType watch_sink_lines = { "lines", make };
