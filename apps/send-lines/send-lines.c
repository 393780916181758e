/* cudaccl - sends lines to a message broker, and loses none
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* send-lines [OPTION...] mqtt://HOST[:PORT][,HOST[:PORT]...]/TOPIC, or mqtts:// for TLS
 * send-lines [OPTION...] kafka://HOST[:PORT][,HOST[:PORT]...]/TOPIC
 *
 * Reads lines from standard input, and sends each as a message. A line is written to a file, the
 * spool, before it is sent, and forgotten when the broker has confirmed it: so neither a broker
 * that restarts nor this program, killed or not, loses a line that was read, and standard input
 * never waits for the broker. Lines keep their order. After such an interruption some may be sent
 * twice (with MQTT, and where this program restarts): ccljson numbers them, so receivers can tell.
 *
 * Ends with status 0 when standard input has ended and all lines are confirmed; with status 2 if it
 * is interrupted: then the spool has the rest, which the next start sends first.
 *
 * The spool is SPOOL, lines that end with a newline each, and SPOOL.sent, the number of its bytes
 * that are confirmed. */

#include "apps/brokers/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gio/gio.h>
#include <glib-unix.h>

#define DEFAULT_MAX_SPOOL 1024 /* MiB */

/* A spool whose lines are all confirmed is emptied from this size on. */
#define EMPTY_SIZE (1 << 20)

/* No frame's components make a longer line. */
#define MAX_LINE (64 << 20)

/* Most lines in flight. */
#define WINDOW 64

typedef struct
{
  gchar *path; /* NULL: a file without a name */
  int fd, sent_fd;
  off_t end;       /* end of the last line */
  off_t next;      /* start of the next line to send */
  off_t confirmed; /* bytes before this are confirmed */
} Spool;

/* A line that was sent, and where it ends. */
typedef struct
{
  off_t end;
  gboolean confirmed;
} Sent;

typedef struct
{
  Spool spool;
  GByteArray *input;     /* an unfinished line */
  GArray *window;        /* Sent, without gaps */
  guint64 first, number; /* numbers of the window's first line and of the next line */
  const Broker *broker;
  gpointer client;
  const gchar *topic, *key;
  GError *failure; /* set when the broker will never accept a line */
  guint64 refused; /* number of that line */
} Sender;

static volatile sig_atomic_t interrupted;

static void
interrupt (int signal)
{
  interrupted = 1;
}

static gboolean
set_errno (GError **error, const gchar *what, const gchar *path)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "cannot %s '%s': %s", what,
               path ? path : "the spool", g_strerror (errno));

  return FALSE;
}

/* Cut off the part of a line that a crash left behind. */
static off_t
find_last_line (int fd, off_t size)
{
  gchar buffer[4096];

  while (size > 0) {
    off_t start = MAX (size - (off_t) sizeof (buffer), 0);
    ssize_t n = pread (fd, buffer, (size_t) (size - start), start);

    while (n > 0) {
      if (buffer[n - 1] == '\n')
        return start + n;
      n--;
    }
    size = start;
  }

  return 0;
}

static gboolean
spool_save (Spool *spool, GError **error)
{
  gchar text[32];
  gint n = g_snprintf (text, sizeof (text), "%020" G_GINT64_FORMAT "\n", (gint64) spool->confirmed);

  if (spool->sent_fd < 0 || pwrite (spool->sent_fd, text, (size_t) n, 0) == n)
    return TRUE;

  return set_errno (error, "write", spool->path);
}

static gboolean
spool_open (Spool *spool, const gchar *path, GError **error)
{
  gchar text[32] = "";
  gchar *sent_path;
  struct stat status;

  spool->path = g_strdup (path);
  spool->fd = spool->sent_fd = -1;
  if (!path) {
    FILE *file = tmpfile ();

    if (!file)
      return set_errno (error, "create", g_get_tmp_dir ());
    spool->fd = dup (fileno (file));
    fclose (file);
    return spool->fd >= 0 || set_errno (error, "open", NULL);
  }

  spool->fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (spool->fd < 0)
    return set_errno (error, "open", path);
  /* Devices and pipes cannot keep lines, and would be removed at the end. */
  if (fstat (spool->fd, &status) < 0 || !S_ISREG (status.st_mode)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "'%s' is not a regular file",
                 path);
    return FALSE;
  }
  if (flock (spool->fd, LOCK_EX | LOCK_NB) < 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY, "'%s' is in use by another program", path);
    return FALSE;
  }
  sent_path = g_strconcat (path, ".sent", NULL);
  spool->sent_fd = open (sent_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  g_free (sent_path);
  if (spool->sent_fd < 0)
    return set_errno (error, "open", path);

  spool->end = find_last_line (spool->fd, lseek (spool->fd, 0, SEEK_END));
  if (ftruncate (spool->fd, spool->end) < 0)
    return set_errno (error, "write", path);
  if (pread (spool->sent_fd, text, sizeof (text) - 1, 0) > 0)
    spool->confirmed = (off_t) g_ascii_strtoll (text, NULL, 10);
  spool->next = spool->confirmed;
  if (spool->confirmed >= 0 && spool->confirmed <= spool->end)
    return TRUE;

  /* The spool was emptied without a note: write it before new lines look confirmed. */
  spool->confirmed = spool->next = 0;

  return spool_save (spool, error);
}

static gboolean
spool_append (Spool *spool, const guint8 *data, gsize length, GError **error)
{
  while (length > 0) {
    ssize_t n = pwrite (spool->fd, data, length, spool->end);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return set_errno (error, "write", spool->path);
    spool->end += n;
    data += n;
    length -= (gsize) n;
  }
  if (spool->path && fdatasync (spool->fd) < 0)
    return set_errno (error, "write", spool->path);

  return TRUE;
}

/* Reads the next line to be sent, without newline. Returns NULL if there is none, or with @error.
 */
static gchar *
spool_read (Spool *spool, gsize *length, GError **error)
{
  gsize size = 1 << 16;

  if (spool->next >= spool->end)
    return NULL;

  for (;; size *= 4) {
    gchar *buffer = g_malloc (size), *newline;
    ssize_t n = pread (spool->fd, buffer, size, spool->next);

    newline = n > 0 ? memchr (buffer, '\n', (gsize) n) : NULL;
    if (newline) {
      *length = (gsize) (newline - buffer);
      return buffer;
    }
    g_free (buffer);
    if (n <= 0) {
      set_errno (error, "read", spool->path);
      return NULL;
    }
  }
}

/* Everything before @offset is confirmed. */
static gboolean
spool_confirm (Spool *spool, off_t offset, GError **error)
{
  gboolean empties = offset == spool->end && offset >= EMPTY_SIZE;

  spool->confirmed = offset;
  if (empties) {
    if (ftruncate (spool->fd, 0) < 0)
      return set_errno (error, "write", spool->path);
    spool->confirmed = spool->next = spool->end = 0;
  }
  if (!spool_save (spool, error))
    return FALSE;

  /* If the machine crashes later, the old number must not cover new lines. */
  return !empties || spool->sent_fd < 0 || fdatasync (spool->sent_fd) == 0 ||
         set_errno (error, "write", spool->path);
}

/* Removes the spool if nothing is left in it. */
static void
spool_close (Spool *spool)
{
  if (spool->path && spool->fd >= 0 && spool->confirmed == spool->end && spool->sent_fd >= 0) {
    gchar *sent_path = g_strconcat (spool->path, ".sent", NULL);

    unlink (spool->path);
    unlink (sent_path);
    g_free (sent_path);
  }
  if (spool->fd >= 0)
    close (spool->fd);
  if (spool->sent_fd >= 0)
    close (spool->sent_fd);
  g_free (spool->path);
}

/* Notes that line @number was refused. The lines before it are still waited for; otherwise each
 * start would send them again. Takes @error. */
static void
refuse (Sender *self, guint64 number, GError *error)
{
  if (self->failure && self->refused <= number) {
    g_error_free (error);
    return;
  }
  g_clear_error (&self->failure);
  self->failure = error;
  self->refused = number;
}

static void
confirm (guint64 number, const GError *error, gpointer user_data)
{
  Sender *self = user_data;

  if (error) {
    refuse (self, number, g_error_copy (error));
    return;
  }
  if (number >= self->first && number - self->first < self->window->len)
    g_array_index (self->window, Sent, number - self->first).confirmed = TRUE;
}

/* Forgets confirmed lines; those after one that is not must wait. */
static gboolean
forget_confirmed (Sender *self, GError **error)
{
  off_t offset = 0;
  guint n = 0;

  while (n < self->window->len && g_array_index (self->window, Sent, n).confirmed)
    offset = g_array_index (self->window, Sent, n++).end;
  if (n == 0)
    return TRUE;

  g_array_remove_range (self->window, 0, n);
  self->first += n;

  return spool_confirm (&self->spool, offset, error);
}

static gboolean
send_some (Sender *self, GError **error)
{
  while (self->window->len < WINDOW && !self->failure) {
    GError *failure = NULL;
    Sent sent = { 0, FALSE };
    BrokerMessage message = { .topic = self->topic, .key = self->key };
    gboolean taken;
    gchar *line = spool_read (&self->spool, &message.length, &failure);

    if (!line) {
      if (failure)
        g_propagate_error (error, failure);
      return failure == NULL;
    }
    sent.end = self->spool.next + (off_t) message.length + 1;
    message.data = line;
    g_array_append_val (self->window, sent);
    taken = self->broker->send (self->client, self->number, &message, &failure);
    g_free (line);
    if (!taken) {
      g_array_set_size (self->window, self->window->len - 1);
      if (failure)
        refuse (self, self->number, failure);
      return TRUE;
    }
    self->spool.next = sent.end;
    self->number++;
  }

  return TRUE;
}

/* Moves all whole lines that can be read now to the spool. */
static gboolean
read_some (Sender *self, gboolean *eof, GError **error)
{
  guint8 buffer[1 << 16];
  ssize_t n = read (STDIN_FILENO, buffer, sizeof (buffer));
  const gsize before = self->input->len; /* without a newline */
  const guint8 *newline;
  gsize whole;

  if (n < 0)
    return errno == EAGAIN || errno == EINTR || set_errno (error, "read", "standard input");

  *eof = n == 0;
  g_byte_array_append (self->input, buffer, (guint) n);
  /* A last line without newline is a line. */
  if (*eof && self->input->len > 0)
    g_byte_array_append (self->input, (const guint8 *) "\n", 1);
  newline = self->input->len > before
                ? memrchr (self->input->data + before, '\n', self->input->len - before)
                : NULL;
  if (!newline) {
    if (self->input->len <= MAX_LINE)
      return TRUE;
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "a line is longer than %d bytes",
                 MAX_LINE);
    return FALSE;
  }

  whole = (gsize) (newline - self->input->data) + 1;
  if (!spool_append (&self->spool, self->input->data, whole, error))
    return FALSE;
  g_byte_array_remove_range (self->input, 0, (guint) whole);

  return TRUE;
}

/* Returns whether all lines were confirmed. */
static gboolean
run (Sender *self, off_t max_spool, GError **error)
{
  gboolean eof = FALSE;

  while (!interrupted) {
    struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
    /* If the spool is full, the pipeline waits. */
    gboolean reads = !eof && self->spool.end < max_spool;
    gboolean idle = self->window->len == 0 && self->spool.next == self->spool.end;

    if (eof && idle)
      return TRUE;

    if (reads && poll (&input, 1, idle ? 20 : 0) > 0 && !read_some (self, &eof, error))
      return FALSE;
    if (!send_some (self, error) || !self->broker->poll (self->client, idle ? 0 : 10, error) ||
        !forget_confirmed (self, error))
      return FALSE;
    if (self->failure && self->first == self->refused) {
      g_propagate_error (error, g_steal_pointer (&self->failure));
      return FALSE;
    }
  }

  return FALSE;
}

/* SCHEME://HOSTS/TOPIC; topics may have slashes. */
static gboolean
parse_target (const gchar *uri, gchar **scheme, gchar **hosts, const gchar **topic, GError **error)
{
  const gchar *colon = strstr (uri, "://"), *slash = colon ? strchr (colon + 3, '/') : NULL;

  if (!slash || slash == colon + 3 || !slash[1]) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "'%s' is not like mqtt://HOST/TOPIC or kafka://HOST/TOPIC", uri);
    return FALSE;
  }

  *scheme = g_strndup (uri, (gsize) (colon - uri));
  *hosts = g_strndup (colon + 3, (gsize) (slash - colon) - 3);
  *topic = slash + 1;

  return TRUE;
}

int
main (int argc, char **argv)
{
  static const BrokerCallbacks callbacks = { .confirmed = confirm };
  gchar *spool = NULL, *key = NULL, *scheme = NULL, *hosts = NULL, *ca_file = NULL, *client;
  gint max_spool = DEFAULT_MAX_SPOOL;
  const GOptionEntry entries[] = {
    { "key", 'k', 0, G_OPTION_ARG_STRING, &key,
      "Key of all messages, such as the camera's name: Kafka keeps the order of those with the "
      "same "
      "key, and for MQTT it distinguishes clients",
      "KEY" },
    { "spool", 's', 0, G_OPTION_ARG_FILENAME, &spool,
      "File for lines that are not confirmed; default: one without name, which does not survive "
      "this program",
      "FILE" },
    { "max-spool", 'm', 0, G_OPTION_ARG_INT, &max_spool,
      "Stop reading when the spool has this size; default: 1024", "MIB" },
    { "ca-file", 'c', 0, G_OPTION_ARG_FILENAME, &ca_file,
      "Certificates (PEM) of authorities for mqtts:// and Kafka; default: those of the system",
      "FILE" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  GOptionContext *context = g_option_context_new ("mqtt://HOST/TOPIC|kafka://HOST/TOPIC");
  struct sigaction action = { .sa_handler = interrupt };
  BrokerSettings settings = { .window = WINDOW, .wake = -1 };
  Sender sender = { 0 };
  GError *error = NULL;
  gboolean done = FALSE;

  sender.spool.fd = sender.spool.sent_fd = -1;
  sender.input = g_byte_array_new ();
  sender.window = g_array_new (FALSE, FALSE, sizeof (Sent));
  g_option_context_set_summary (context,
                                "Sends the lines of standard input to a broker and loses none. "
                                "BROKER_USER and BROKER_PASSWORD are read from the environment.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    goto done;
  if (argc != 2) {
    g_set_error (&error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "expected one broker; see --help");
    goto done;
  }
  if (!parse_target (argv[1], &scheme, &hosts, &sender.topic, &error))
    goto done;
  if (ca_file && g_str_equal (scheme, "mqtt")) {
    g_set_error (&error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "--ca-file needs TLS: write mqtts:// instead of mqtt://");
    goto done;
  }
  sender.broker = broker_find (scheme, &error);
  if (!sender.broker || !sender.broker->check_topic (sender.topic, &error) ||
      !spool_open (&sender.spool, spool, &error))
    goto done;
  sender.key = key ? key : g_get_host_name ();
  settings.hosts = hosts;
  settings.user = g_getenv ("BROKER_USER");
  settings.password = g_getenv ("BROKER_PASSWORD");
  settings.tls = ca_file || g_str_equal (scheme, "mqtts");
  settings.ca_file = ca_file;
  settings.client = client = g_strdup_printf ("cudaccl-%s", sender.key);
  sender.client = sender.broker->open (&settings, &callbacks, &sender, &error);
  g_free (client);
  if (!sender.client)
    goto done;

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  signal (SIGPIPE, SIG_IGN);
  g_unix_set_fd_nonblocking (STDIN_FILENO, TRUE, NULL);
  done = run (&sender, (off_t) MAX (max_spool, 1) << 20, &error);
  sender.broker->close (sender.client);

done:
  if (error)
    g_printerr ("send-lines: %s\n", error->message);
  else if (!done)
    g_printerr ("send-lines: interrupted%s\n",
                spool ? "; the next start sends the rest of the spool" : "");
  spool_close (&sender.spool);
  g_byte_array_unref (sender.input);
  g_array_unref (sender.window);
  g_option_context_free (context);
  g_clear_error (&sender.failure);
  g_free (hosts);
  g_free (scheme);
  g_free (ca_file);
  g_free (spool);
  g_free (key);
  if (error) {
    g_error_free (error);
    return 1;
  }

  return done ? 0 : 2;
}
