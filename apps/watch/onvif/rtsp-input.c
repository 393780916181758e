/* cudaccl-watch - what strangers may send over RTSP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/onvif/rtsp-input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BUFFER 4096
#define INPUT "rtsp-input" /* data of GSocket */
/* gst-rtsp-server lets GLib make the object of a connection, and GLib chooses its class by family,
 * type and protocol of the GSocket. No other stream in the process has this protocol. For the
 * kernel, the socket is TCP. */
#define PROTOCOL G_SOCKET_PROTOCOL_UDP

struct _WatchRtspInput
{
  GFilterInputStream parent;
  GSocket *socket; /* borrowed: the base stream holds it */
  guint8 buffer[BUFFER];
  gsize start, end; /* of what is in the buffer */
  gsize received;   /* before the login; at most WATCH_RTSP_MAX_STRANGE */
  gboolean trusted, over;
  gboolean had_turn; /* the next read that finds the buffer empty lets others go first */
};

static void watch_rtsp_input_pollable_init (GPollableInputStreamInterface *iface);

G_DEFINE_TYPE_WITH_CODE (WatchRtspInput, watch_rtsp_input, G_TYPE_FILTER_INPUT_STREAM,
                         G_IMPLEMENT_INTERFACE (G_TYPE_POLLABLE_INPUT_STREAM,
                                                watch_rtsp_input_pollable_init))

static GInputStream *
get_base (WatchRtspInput *self)
{
  return g_filter_input_stream_get_base_stream (G_FILTER_INPUT_STREAM (self));
}

static gsize
take (WatchRtspInput *self, void *buffer, gsize count)
{
  const gsize n = MIN (count, self->end - self->start);

  memcpy (buffer, self->buffer + self->start, n);
  self->start += n;
  return n;
}

/* The answer may be lost: closing a socket with unread bytes resets the connection. */
static gssize
refuse (WatchRtspInput *self, GError **error)
{
  static const gchar answer[] = "RTSP/1.0 413 Request Entity Too Large\r\n\r\n";

  if (!self->over)
    g_socket_send_with_blocking (self->socket, answer, strlen (answer), FALSE, NULL, NULL);
  self->over = TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
               "more than %d bytes without a login", WATCH_RTSP_MAX_STRANGE);
  return -1;
}

/* Reads into the empty buffer. Returns the number of bytes, 0 at the end, or -1 and sets @error. */
static gssize
fill (WatchRtspInput *self, gboolean blocking, GCancellable *cancellable, GError **error)
{
  gsize max = sizeof (self->buffer);
  gssize n;

  if (!self->trusted) {
    if (self->received >= WATCH_RTSP_MAX_STRANGE)
      return refuse (self, error);
    max = MIN (max, WATCH_RTSP_MAX_STRANGE - self->received);
  }
  n = g_pollable_stream_read (get_base (self), self->buffer, max, blocking, cancellable, error);
  self->start = 0;
  self->end = n > 0 ? (gsize) n : 0;
  if (!self->trusted)
    self->received += self->end;
  return n;
}

static gssize
watch_rtsp_input_read (GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable,
                       GError **error)
{
  WatchRtspInput *self = WATCH_RTSP_INPUT (stream);
  const gssize n = self->start < self->end ? 1 : fill (self, TRUE, cancellable, error);

  return n > 0 ? (gssize) take (self, buffer, count) : n;
}

/* After each system call, fails once with WOULD_BLOCK, so that the loop serves other connections.
 */
static gssize
watch_rtsp_input_read_nonblocking (GPollableInputStream *stream, void *buffer, gsize count,
                                   GError **error)
{
  WatchRtspInput *self = WATCH_RTSP_INPUT (stream);
  gssize n = 1;

  if (self->start == self->end) {
    if (self->had_turn) {
      self->had_turn = FALSE;
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK, "others first");
      return -1;
    }
    n = fill (self, FALSE, NULL, error);
    self->had_turn = n > 0;
  }
  return n > 0 ? (gssize) take (self, buffer, count) : n;
}

static gboolean
watch_rtsp_input_is_readable (GPollableInputStream *stream)
{
  WatchRtspInput *self = WATCH_RTSP_INPUT (stream);

  return self->start < self->end ||
         g_pollable_input_stream_is_readable (G_POLLABLE_INPUT_STREAM (get_base (self)));
}

/* Ready while the buffer has bytes: polling the socket does not show them. */
typedef struct
{
  GSource parent;
  WatchRtspInput *input; /* borrowed: the source above holds it */
} Buffered;

static gboolean
buffered_check (GSource *source)
{
  const WatchRtspInput *self = ((Buffered *) source)->input;

  return self->start < self->end;
}

static gboolean
buffered_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;
  return buffered_check (source);
}

static gboolean
buffered_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

static GSource *
watch_rtsp_input_create_source (GPollableInputStream *stream, GCancellable *cancellable)
{
  static GSourceFuncs functions = {
    buffered_prepare, buffered_check, buffered_dispatch, NULL, NULL, NULL
  };
  WatchRtspInput *self = WATCH_RTSP_INPUT (stream);
  GSource *socket = g_pollable_input_stream_create_source (
      G_POLLABLE_INPUT_STREAM (get_base (self)), cancellable);
  GSource *source = g_pollable_source_new_full (stream, socket, NULL);
  GSource *buffered = g_source_new (&functions, sizeof (Buffered));

  ((Buffered *) buffered)->input = self;
  g_source_add_child_source (source, buffered);
  g_source_unref (buffered);
  g_source_unref (socket);
  return source;
}

static void
watch_rtsp_input_pollable_init (GPollableInputStreamInterface *iface)
{
  iface->is_readable = watch_rtsp_input_is_readable;
  iface->create_source = watch_rtsp_input_create_source;
  iface->read_nonblocking = watch_rtsp_input_read_nonblocking;
}

static void
watch_rtsp_input_dispose (GObject *object)
{
  WatchRtspInput *self = WATCH_RTSP_INPUT (object);

  if (self->socket)
    g_object_set_data (G_OBJECT (self->socket), INPUT, NULL);
  self->socket = NULL;
  G_OBJECT_CLASS (watch_rtsp_input_parent_class)->dispose (object);
}

static void
watch_rtsp_input_class_init (WatchRtspInputClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = watch_rtsp_input_dispose;
  G_INPUT_STREAM_CLASS (klass)->read_fn = watch_rtsp_input_read;
}

static void
watch_rtsp_input_init (WatchRtspInput *self)
{
}

void
watch_rtsp_input_trust (WatchRtspInput *self)
{
  self->trusted = TRUE;
}

gboolean
watch_rtsp_input_is_over (WatchRtspInput *self)
{
  return self->over;
}

WatchRtspInput *
watch_rtsp_input_get (GSocket *socket)
{
  return g_object_get_data (G_OBJECT (socket), INPUT);
}

/* --- Connections that have it --- */

#define WATCH_TYPE_RTSP_CONNECTION (watch_rtsp_connection_get_type ())
G_DECLARE_FINAL_TYPE (WatchRtspConnection, watch_rtsp_connection, WATCH, RTSP_CONNECTION,
                      GTcpConnection)

struct _WatchRtspConnection
{
  GTcpConnection parent;
  WatchRtspInput *input;
};

G_DEFINE_TYPE (WatchRtspConnection, watch_rtsp_connection, G_TYPE_TCP_CONNECTION)

static GInputStream *
watch_rtsp_connection_get_input_stream (GIOStream *stream)
{
  return G_INPUT_STREAM (WATCH_RTSP_CONNECTION (stream)->input);
}

static void
watch_rtsp_connection_constructed (GObject *object)
{
  WatchRtspConnection *self = WATCH_RTSP_CONNECTION (object);
  GSocket *socket = g_socket_connection_get_socket (G_SOCKET_CONNECTION (self));
  GInputStream *base;

  G_OBJECT_CLASS (watch_rtsp_connection_parent_class)->constructed (object);
  base =
      G_IO_STREAM_CLASS (watch_rtsp_connection_parent_class)->get_input_stream (G_IO_STREAM (self));
  self->input = g_object_new (WATCH_TYPE_RTSP_INPUT, "base-stream", base, NULL);
  self->input->socket = socket;
  /* Borrowed, as the input holds the socket, by its base stream. */
  g_object_set_data (G_OBJECT (socket), INPUT, self->input);
}

static void
watch_rtsp_connection_finalize (GObject *object)
{
  g_object_unref (WATCH_RTSP_CONNECTION (object)->input);
  G_OBJECT_CLASS (watch_rtsp_connection_parent_class)->finalize (object);
}

static void
watch_rtsp_connection_class_init (WatchRtspConnectionClass *klass)
{
  G_OBJECT_CLASS (klass)->constructed = watch_rtsp_connection_constructed;
  G_OBJECT_CLASS (klass)->finalize = watch_rtsp_connection_finalize;
  G_IO_STREAM_CLASS (klass)->get_input_stream = watch_rtsp_connection_get_input_stream;
}

static void
watch_rtsp_connection_init (WatchRtspConnection *self)
{
}

/* Registers the class once in the process. */
static void
register_connection (void)
{
  static gsize done;

  if (!g_once_init_enter (&done))
    return;
  g_socket_connection_factory_register_type (WATCH_TYPE_RTSP_CONNECTION, G_SOCKET_FAMILY_IPV4,
                                             G_SOCKET_TYPE_STREAM, PROTOCOL);
  g_socket_connection_factory_register_type (WATCH_TYPE_RTSP_CONNECTION, G_SOCKET_FAMILY_IPV6,
                                             G_SOCKET_TYPE_STREAM, PROTOCOL);
  g_once_init_leave (&done, 1);
}

/* A GSocket keeps the protocol with which it was made, and the sockets that it accepts inherit it.
 * So this makes one with PROTOCOL, and replaces its descriptor with that of @socket. */
GSocket *
watch_rtsp_input_listen (GSocket *socket, GError **error)
{
  g_autoptr (GSocket) self =
      g_socket_new (g_socket_get_family (socket), G_SOCKET_TYPE_DATAGRAM, PROTOCOL, error);

  if (!self)
    return NULL;
  if (dup3 (g_socket_get_fd (socket), g_socket_get_fd (self), O_CLOEXEC) < 0) {
    g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (errno), g_strerror (errno));
    return NULL;
  }
  /* The client may be gone before it is accepted. */
  g_socket_set_blocking (self, FALSE);
  register_connection ();
  return g_steal_pointer (&self);
}
