/* cudaccl - long runs: kill -9 of either side of a socket
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/soak/soak.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib/gstdio.h>

#define PATIENCE (30 * 1000) /* ms */

/* A process of this program, and the pipe to which it writes a byte for each frame. */
typedef struct
{
  GPid pid;
  gint frames;
} Side;

static const gchar sender[] =
    "videotestsrc is-live=true pattern=ball ! "
    "video/x-raw,format=GRAY8,width=320,height=240,framerate=100/1 ! cudaccl backend=cpu ! "
    "identity name=frames signal-handoffs=true ! unixfdsink sync=false socket-path=";
static const gchar receiver[] = "ccltrack min-persistence=1 ! ccljson empty-frames=false ! "
                                "fakesink name=frames sync=false signal-handoffs=true";

static void
count_frame (GstElement *element, GstBuffer *buffer)
{
  if (write (STDOUT_FILENO, "f", 1) != 1)
    exit (EXIT_FAILURE);
}

int
soak_socket_side (const gchar *side, const gchar *path)
{
  gboolean sends = g_str_equal (side, "sender");
  gchar *launch = sends ? g_strconcat (sender, path, NULL)
                        : g_strconcat ("unixfdsrc socket-path=", path, " ! ", receiver, NULL);
  GstElement *pipeline = gst_parse_launch (launch, NULL), *frames;
  GstMessage *message;
  GstBus *bus;

  if (!pipeline)
    return EXIT_FAILURE;
  frames = gst_bin_get_by_name (GST_BIN (pipeline), "frames");
  g_signal_connect (frames, "handoff", G_CALLBACK (count_frame), NULL);
  gst_object_unref (frames);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus (pipeline);
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (launch);

  return EXIT_SUCCESS;
}

static gboolean
start (Side *side, const gchar *program, const gchar *role, const gchar *path)
{
  const gchar *argv[] = { program, "--side", role, "--path", path, NULL };

  return g_spawn_async_with_pipes (NULL, (gchar **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                                   NULL, &side->pid, NULL, &side->frames, NULL, NULL);
}

/* Drops what has arrived, and waits for @n more frames. */
static gboolean
wait_for_frames (Side *side, guint n)
{
  struct pollfd fd = { side->frames, POLLIN, 0 };
  gchar bytes[4096];

  while (poll (&fd, 1, 0) > 0 && read (side->frames, bytes, sizeof (bytes)) > 0)
    ;
  while (n > 0) {
    gssize got;

    if (poll (&fd, 1, PATIENCE) <= 0)
      return FALSE;
    got = read (side->frames, bytes, n);
    if (got <= 0)
      return FALSE;
    n -= (guint) got;
  }

  return TRUE;
}

/* Returns how it ended, -1 if it did not. */
static int
finish (Side *side, gboolean kill_it)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE * G_TIME_SPAN_MILLISECOND;
  int status = -1;

  if (kill_it)
    kill (side->pid, SIGKILL);
  while (waitpid (side->pid, &status, WNOHANG) == 0) {
    gchar bytes[4096];
    struct pollfd fd = { side->frames, POLLIN, 0 };

    /* Its pipe must not be full. */
    if (poll (&fd, 1, 10) > 0 && read (side->frames, bytes, sizeof (bytes)) <= 0)
      g_usleep (10000);
    if (g_get_monotonic_time () > deadline) {
      kill (side->pid, SIGKILL);
      waitpid (side->pid, &status, 0);
      status = -1;
      break;
    }
  }
  close (side->frames);
  g_spawn_close_pid (side->pid);

  return status;
}

static guint
count_descriptors (GPid pid)
{
  gchar *path = g_strdup_printf ("/proc/%d/fd", (gint) pid);
  GDir *dir = g_dir_open (path, 0, NULL);
  guint n = 0;

  while (dir && g_dir_read_name (dir))
    n++;
  g_clear_pointer (&dir, g_dir_close);
  g_free (path);

  return n;
}

/* Receivers come and are killed; the sender goes on, and keeps nothing of them. */
static gboolean
kill_receivers (const gchar *program, const gchar *path, guint64 n)
{
  guint before = 0, after = 0;
  gboolean ok = TRUE;
  Side send, receive;
  guint64 i;

  if (!start (&send, program, "sender", path) || !wait_for_frames (&send, 3))
    return FALSE;
  for (i = 0; ok && i < n; i++) {
    ok = start (&receive, program, "receiver", path);
    if (ok && !wait_for_frames (&receive, 3)) {
      g_printerr ("socket: receiver %" G_GUINT64_FORMAT " gets no frames\n", i);
      ok = FALSE;
    }
    finish (&receive, TRUE);
    ok &= wait_for_frames (&send, 20);
    if (i == 0)
      before = count_descriptors (send.pid);
  }
  after = count_descriptors (send.pid);
  finish (&send, TRUE);
  g_print ("socket: %" G_GUINT64_FORMAT " receivers killed, the sender has %u file descriptors "
           "open, %u after the first\n",
           i, after, before);
  if (after > before + 4) {
    g_printerr ("socket: the sender keeps file descriptors\n");
    ok = FALSE;
  }

  return ok;
}

/* The sender is killed: its receiver ends by itself. */
static gboolean
kill_senders (const gchar *program, const gchar *path, guint64 n)
{
  gboolean ok = TRUE;
  guint64 i;

  for (i = 0; ok && i < n; i++) {
    Side send, receive;
    int status;

    g_unlink (path);
    if (!start (&send, program, "sender", path) || !wait_for_frames (&send, 3) ||
        !start (&receive, program, "receiver", path))
      return FALSE;
    ok = wait_for_frames (&receive, 3);
    finish (&send, TRUE);
    status = finish (&receive, FALSE);
    if (!ok || status == -1 || !WIFEXITED (status) || WEXITSTATUS (status) != 0) {
      g_printerr ("socket: the receiver %s\n", !ok            ? "gets no frames"
                                               : status == -1 ? "does not end after its sender"
                                                              : "crashes after its sender");
      ok = FALSE;
    }
  }
  g_print ("socket: %" G_GUINT64_FORMAT " senders killed\n", i);

  return ok;
}

gboolean
soak_socket (const SoakOptions *options, const gchar *program, gboolean *skipped)
{
  GstElementFactory *factory = gst_element_factory_find ("unixfdsink");
  gchar *folder, *path;
  gboolean ok;

  /* shmsink carries no metadata. */
  if (!factory) {
    g_print ("socket: skipped, this GStreamer has no unixfdsink (1.24)\n");
    *skipped = TRUE;
    return TRUE;
  }
  gst_object_unref (factory);
  folder = g_dir_make_tmp ("soak-XXXXXX", NULL);
  path = g_build_filename (folder, "socket", NULL);
  ok = kill_receivers (program, path, (options->kills + 1) / 2);
  ok = kill_senders (program, path, options->kills / 2) && ok;
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);

  return ok;
}
