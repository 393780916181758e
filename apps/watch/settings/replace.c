/* cudaccl-watch - replaces small files in one step
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/settings/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".cudaccl-"
#define N_RANDOM 6

static gboolean
fail (const gchar *path, GError **error)
{
  int code = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s: %s", path,
               g_strerror (code));
  return FALSE;
}

static gboolean
write_all (int fd, const gchar *text)
{
  gsize size = strlen (text);

  while (size > 0) {
    gssize n = write (fd, text, size);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return FALSE;
    text += n;
    size -= (gsize) n;
  }
  return fsync (fd) == 0;
}

gboolean
watch_replace_file (const gchar *path, const gchar *text, gint mode, GError **error)
{
  g_autofree gchar *name = g_strconcat (path, MARK "XXXXXX", NULL);
  int fd = g_mkstemp_full (name, O_RDWR | O_CLOEXEC, 0600);
  gboolean done;

  if (fd < 0)
    return fail (path, error);
  /* The lock tells watch_replace_clean() that the file is in use. Some network file systems have
   * none. */
  flock (fd, LOCK_EX);
  done = fchmod (fd, (mode_t) mode) == 0 && write_all (fd, text) && g_rename (name, path) == 0;
  if (!done) {
    fail (path, error);
    g_unlink (name);
  }
  close (fd);
  return done;
}

/* Whether @file is NAME.cudaccl-XXXXXX. */
static gboolean
is_leftover (const gchar *file, const gchar *name)
{
  const gchar *mark = g_strrstr (file, MARK);
  const gchar *random = mark ? mark + strlen (MARK) : NULL;

  if (!mark || mark == file || strlen (random) != N_RANDOM)
    return FALSE;
  for (guint i = 0; i < N_RANDOM; i++) {
    if (!g_ascii_isalnum (random[i]))
      return FALSE;
  }
  return !name || (strlen (name) == (gsize) (mark - file) &&
                   strncmp (file, name, (gsize) (mark - file)) == 0);
}

static void
remove_unused (const gchar *path)
{
  int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info;

  if (fd < 0)
    return;
  if (fstat (fd, &info) == 0 && S_ISREG (info.st_mode) && info.st_uid == geteuid () &&
      flock (fd, LOCK_EX | LOCK_NB) == 0)
    g_unlink (path);
  close (fd);
}

void
watch_replace_clean (const gchar *folder, const gchar *name)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *file;

  while (dir && (file = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, file, NULL);

    if (is_leftover (file, name))
      remove_unused (path);
  }
}
