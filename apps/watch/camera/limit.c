/* cudaccl-watch - limits on what a camera makes decoders allocate
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/limit.h"

#include <string.h>

#include "apps/watch/camera/headers.h"
#include "apps/watch/settings/values.h"

#define MEGABYTE 1000000

struct _WatchLimit
{
  gatomicrefcount refs;
  GstElement *pipeline; /* borrowed: it owns the pads with probes */
  gchar *uri;
  guint64 max_pixels, max_memory;
  GMutex lock;
  gsize bytes;  /* since the last picture; protected by lock */
  gint refused; /* an error was posted; atomic */
};

/* Of one pad; its streaming thread only. */
typedef struct
{
  WatchLimit *limit;
  gboolean decoded;
  gboolean closes; /* the decoder would decode what follows a frame */
  WatchHeaders headers;
} Gate;

WatchLimit *
watch_limit_new (GstElement *pipeline, const gchar *uri, guint64 max_pixels, guint64 max_memory)
{
  WatchLimit *self = g_new0 (WatchLimit, 1);

  g_atomic_ref_count_init (&self->refs);
  self->pipeline = pipeline;
  self->uri = g_strdup (uri);
  self->max_pixels = max_pixels;
  self->max_memory = max_memory;
  g_mutex_init (&self->lock);
  return self;
}

static WatchLimit *
limit_ref (WatchLimit *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
watch_limit_unref (WatchLimit *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  g_mutex_clear (&self->lock);
  g_free (self->uri);
  g_free (self);
}

static void
gate_free (gpointer data)
{
  watch_limit_unref (((Gate *) data)->limit);
  g_free (data);
}

/* Posts the first error. Takes @reason. */
static void
refuse (WatchLimit *self, WebReason *reason)
{
  GError *error = web_reason_to_error (reason);

  if (g_atomic_int_compare_and_exchange (&self->refused, FALSE, TRUE))
    gst_element_post_message (self->pipeline,
                              gst_message_new_error (GST_OBJECT (self->pipeline), error, NULL));
  g_error_free (error);
}

static void
refuse_bytes (WatchLimit *self)
{
  g_autofree gchar *address = watch_uri_redact (self->uri);

  refuse (self, web_reason_new (WEB_REASON_PICTURE_TOO_LONG, "address", address, "limit",
                                G_STRINGIFY (32), NULL));
}

static void
check_size (WatchLimit *self, const WatchHeaders *headers)
{
  g_autofree gchar *address = NULL, *width = NULL, *height = NULL, *size = NULL, *limit = NULL;
  gboolean large = (guint64) headers->width * headers->height > self->max_pixels;

  if (!large && headers->memory <= self->max_memory)
    return;
  address = watch_uri_redact (self->uri);
  width = g_strdup_printf ("%u", headers->width);
  height = g_strdup_printf ("%u", headers->height);
  if (large) {
    limit = g_strdup_printf ("%" G_GUINT64_FORMAT, self->max_pixels);
    refuse (self, web_reason_new (WEB_REASON_PICTURE_TOO_LARGE, "address", address, "width", width,
                                  "height", height, "limit", limit, NULL));
  } else {
    size = g_strdup_printf ("%" G_GUINT64_FORMAT, headers->memory / MEGABYTE);
    limit = g_strdup_printf ("%" G_GUINT64_FORMAT, self->max_memory / MEGABYTE);
    refuse (self, web_reason_new (WEB_REASON_DECODER_TOO_LARGE, "address", address, "width", width,
                                  "height", height, "size", size, "limit", limit, NULL));
  }
}

static void
refuse_format (WatchLimit *self, const gchar *media)
{
  g_autofree gchar *address = watch_uri_redact (self->uri);

  refuse (self,
          web_reason_new (WEB_REASON_FORMAT_REFUSED, "address", address, "format", media, NULL));
}

static void
take_caps (Gate *gate, const GstCaps *caps)
{
  const gchar *media = gst_structure_get_name (gst_caps_get_structure (caps, 0));

  watch_headers_set_caps (&gate->headers, caps);
  /* The size of other pictures is known only after their decoder has allocated them. */
  if (g_str_has_prefix (media, "image/") && !g_str_equal (media, "image/jpeg") &&
      !g_str_equal (media, "image/png"))
    refuse_format (gate->limit, media);
  check_size (gate->limit, &gate->headers);
}

/* Appends the index of a VP9 superframe with @buffer as its only frame. Takes @buffer. */
static GstBuffer *
close_frame (GstBuffer *buffer)
{
  const gsize size = gst_buffer_get_size (buffer);
  const guint8 marker = 0xc0 | 3 << 3; /* a frame, four bytes for its size */
  const guint8 index[] = {
    marker, (guint8) size, (guint8) (size >> 8), (guint8) (size >> 16), (guint8) (size >> 24),
    marker
  };

  return gst_buffer_append (buffer, gst_buffer_new_memdup (index, sizeof (index)));
}

/* Returns @buffer, which it takes, or what the decoder is given in its place. */
static GstBuffer *
take_picture (Gate *gate, GstBuffer *buffer)
{
  WatchLimit *self = gate->limit;
  gboolean open = FALSE;
  GstMapInfo map;

  if (!gate->decoded && gst_buffer_get_size (buffer) > WATCH_LIMIT_BYTES)
    refuse_bytes (self);
  if (!gate->decoded && gate->headers.format && gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    watch_headers_read (&gate->headers, map.data, map.size);
    open = gate->closes && watch_headers_are_open (&gate->headers, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    check_size (self, &gate->headers);
    if (gate->headers.unknown)
      refuse_format (self, "video/x-av1");
  }
  /* A piece of JPEG is no picture. */
  if (gate->decoded || gate->headers.format != WATCH_HEADERS_JPEG) {
    g_mutex_lock (&self->lock);
    self->bytes = 0;
    g_mutex_unlock (&self->lock);
  }
  return open ? close_frame (buffer) : buffer;
}

static GstPadProbeReturn
on_gate (GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  Gate *gate = user_data;

  if (GST_PAD_PROBE_INFO_TYPE (probe) & GST_PAD_PROBE_TYPE_BUFFER) {
    probe->data = take_picture (gate, GST_PAD_PROBE_INFO_BUFFER (probe));
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (probe)) == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (probe), &caps);
    take_caps (gate, caps);
  } else {
    return GST_PAD_PROBE_OK;
  }
  return g_atomic_int_get (&gate->limit->refused) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

/* Whether @pad is one of libvpx's decoder for VP9. */
static gboolean
is_libvpx (GstPad *pad)
{
  GstElement *element = gst_pad_get_parent_element (pad);
  GstElementFactory *factory = element ? gst_element_get_factory (element) : NULL;
  gboolean is = factory && g_str_equal (GST_OBJECT_NAME (factory), "vp9dec");

  gst_clear_object (&element);
  return is;
}

static void
add_gate (WatchLimit *self, GstPad *pad, gboolean decoded)
{
  Gate *gate = g_new0 (Gate, 1);
  GstCaps *caps = gst_pad_get_current_caps (pad);

  gate->limit = limit_ref (self);
  gate->decoded = decoded;
  gate->closes = !decoded && is_libvpx (pad);
  if (caps)
    take_caps (gate, caps);
  gst_clear_caps (&caps);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_gate,
                     gate, gate_free);
}

void
watch_limit_add_pictures (WatchLimit *self, GstPad *pad)
{
  add_gate (self, pad, FALSE);
}

void
watch_limit_add_frames (WatchLimit *self, GstPad *pad)
{
  add_gate (self, pad, TRUE);
}

static gboolean
add_size (GstBuffer **buffer, guint i, gpointer sum)
{
  *(gsize *) sum += gst_buffer_get_size (*buffer);
  return TRUE;
}

static GstPadProbeReturn
on_source (GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  WatchLimit *self = user_data;
  gboolean beyond;
  gsize size = 0;

  if (GST_PAD_PROBE_INFO_TYPE (probe) & GST_PAD_PROBE_TYPE_BUFFER_LIST)
    gst_buffer_list_foreach (GST_PAD_PROBE_INFO_BUFFER_LIST (probe), add_size, &size);
  else
    size = gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (probe));
  g_mutex_lock (&self->lock);
  self->bytes += size;
  beyond = self->bytes > WATCH_LIMIT_BYTES;
  g_mutex_unlock (&self->lock);
  if (beyond)
    refuse_bytes (self);
  return g_atomic_int_get (&self->refused) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

void
watch_limit_add_source (WatchLimit *self, GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_source,
                     limit_ref (self), (GDestroyNotify) watch_limit_unref);
}

static void
add_to (WatchLimit *self, GstElement *element, const gchar *name,
        void (*add) (WatchLimit *self, GstPad *pad))
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  if (pad)
    add (self, pad);
  gst_clear_object (&pad);
}

static void
on_element (GstBin *bin, GstBin *parent, GstElement *element, gpointer user_data)
{
  WatchLimit *self = user_data;
  GstElementFactory *factory = gst_element_get_factory (element);

  if (!factory)
    return;
  if (gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_DECODER |
                                                     GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO |
                                                     GST_ELEMENT_FACTORY_TYPE_MEDIA_IMAGE)) {
    add_to (self, element, "sink", watch_limit_add_pictures);
    add_to (self, element, "src", watch_limit_add_frames);
  } else if (gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_DEPAYLOADER)) {
    add_to (self, element, "sink", watch_limit_add_source);
  } else if (g_str_has_prefix (self->uri, "http") &&
             gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_SRC)) {
    add_to (self, element, "src", watch_limit_add_source);
  }
}

static void
closure_unref (gpointer data, GClosure *closure)
{
  watch_limit_unref (data);
}

void
watch_limit_add_all (WatchLimit *self)
{
  g_signal_connect_data (self->pipeline, "deep-element-added", G_CALLBACK (on_element),
                         limit_ref (self), closure_unref, 0);
}

gboolean
watch_limit_is_reason (const WebReason *reason)
{
  static const gchar *const codes[] = { "picture-too-large", "picture-too-long",
                                        "decoder-too-large", "format-refused", NULL };

  return g_strv_contains (codes, reason->code);
}
