/* cudaccl - records of TLS from a client
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/records.h"

#define HEADER 5 /* bytes: type, version, and length */
#define HANDSHAKE 22

struct _WebRecords
{
  GFilterInputStream parent;
  GIOStream *connection;
  guint8 header[HEADER];
  guint n_header; /* bytes of the header read so far */
  gsize left;     /* bytes of the record still to come */
  gint forbidden; /* atomic */
};

static void web_records_pollable_init (GPollableInputStreamInterface *iface);

G_DEFINE_TYPE_WITH_CODE (WebRecords, web_records, G_TYPE_FILTER_INPUT_STREAM,
                         G_IMPLEMENT_INTERFACE (G_TYPE_POLLABLE_INPUT_STREAM,
                                                web_records_pollable_init))

/* Returns FALSE where a forbidden handshake starts. */
static gboolean
follow (WebRecords *self, const guint8 *data, gsize size)
{
  while (size) {
    gsize n = MIN (self->left, size);

    self->left -= n;
    data += n;
    size -= n;
    if (!size)
      break;
    if (self->n_header == 0 && *data == HANDSHAKE && g_atomic_int_get (&self->forbidden))
      return FALSE;
    self->header[self->n_header++] = *data++;
    size--;
    if (self->n_header == HEADER) {
      self->left = (gsize) self->header[3] << 8 | self->header[4];
      self->n_header = 0;
    }
  }
  return TRUE;
}

static gssize
check (WebRecords *self, const void *data, gssize size, GError **error)
{
  if (size <= 0 || follow (self, data, (gsize) size))
    return size;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED,
                       "the client asks for another handshake");
  return -1;
}

static gssize
web_records_read (GInputStream *stream, void *buffer, gsize size, GCancellable *cancellable,
                  GError **error)
{
  GInputStream *base = G_FILTER_INPUT_STREAM (stream)->base_stream;

  return check (WEB_RECORDS (stream), buffer,
                g_input_stream_read (base, buffer, size, cancellable, error), error);
}

static gssize
web_records_read_nonblocking (GPollableInputStream *stream, void *buffer, gsize size,
                              GError **error)
{
  GInputStream *base = G_FILTER_INPUT_STREAM (stream)->base_stream;

  return check (WEB_RECORDS (stream), buffer,
                g_pollable_input_stream_read_nonblocking (G_POLLABLE_INPUT_STREAM (base), buffer,
                                                          size, NULL, error),
                error);
}

static gboolean
web_records_is_readable (GPollableInputStream *stream)
{
  return g_pollable_input_stream_is_readable (
      G_POLLABLE_INPUT_STREAM (G_FILTER_INPUT_STREAM (stream)->base_stream));
}

static GSource *
web_records_create_source (GPollableInputStream *stream, GCancellable *cancellable)
{
  GInputStream *base = G_FILTER_INPUT_STREAM (stream)->base_stream;
  g_autoptr (GSource) source =
      g_pollable_input_stream_create_source (G_POLLABLE_INPUT_STREAM (base), NULL);

  return g_pollable_source_new_full (stream, source, cancellable);
}

/* Else the socket would stay open until it is finalized. */
static gboolean
web_records_close (GInputStream *stream, GCancellable *cancellable, GError **error)
{
  return g_io_stream_close (WEB_RECORDS (stream)->connection, cancellable, error);
}

static void
web_records_finalize (GObject *object)
{
  g_object_unref (WEB_RECORDS (object)->connection);
  G_OBJECT_CLASS (web_records_parent_class)->finalize (object);
}

static void
web_records_class_init (WebRecordsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = web_records_finalize;
  G_INPUT_STREAM_CLASS (klass)->read_fn = web_records_read;
  G_INPUT_STREAM_CLASS (klass)->close_fn = web_records_close;
}

static void
web_records_pollable_init (GPollableInputStreamInterface *iface)
{
  iface->is_readable = web_records_is_readable;
  iface->create_source = web_records_create_source;
  iface->read_nonblocking = web_records_read_nonblocking;
}

static void
web_records_init (WebRecords *self)
{
}

GIOStream *
web_records_new (GIOStream *connection, WebRecords **input)
{
  g_autoptr (WebRecords) self = g_object_new (WEB_TYPE_RECORDS, "base-stream",
                                              g_io_stream_get_input_stream (connection), NULL);

  self->connection = g_object_ref (connection);
  *input = self;
  return g_simple_io_stream_new (G_INPUT_STREAM (self), g_io_stream_get_output_stream (connection));
}

void
web_records_forbid_handshakes (WebRecords *self)
{
  g_atomic_int_set (&self->forbidden, TRUE);
}
