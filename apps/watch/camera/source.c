/* cudaccl-watch - sources of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Elements are created and linked one by one, and the address is only the value of a property:
 * settings cannot add elements. */

#include "apps/watch/camera/stream-private.h"

#include <string.h>

#include "apps/watch/camera/confine.h"
#include "apps/watch/camera/errors.h"

void
watch_stream_post_failure (WatchStream *self, WebReason *reason)
{
  GError *error = web_reason_to_error (reason);

  gst_element_post_message (GST_ELEMENT (self->pipeline),
                            gst_message_new_error (GST_OBJECT (self->pipeline), error, NULL));
  g_error_free (error);
}

GstElement *
watch_stream_add_element (WatchStream *self, GstElement *bin, const gchar *name)
{
  GstElement *element = gst_element_factory_make (name, NULL);

  if (!element)
    watch_stream_post_failure (self, watch_missing_element_to_reason (name));
  else if (!gst_bin_add (GST_BIN (bin), element))
    return NULL;
  return element;
}

/* Hardware first, then by rank. */
static gint
compare_decoders (gconstpointer a, gconstpointer b)
{
  GstElementFactory *x = (GstElementFactory *) a, *y = (GstElementFactory *) b;
  gboolean x_hard = gst_element_factory_list_is_type (x, GST_ELEMENT_FACTORY_TYPE_HARDWARE);
  gboolean y_hard = gst_element_factory_list_is_type (y, GST_ELEMENT_FACTORY_TYPE_HARDWARE);

  if (x_hard != y_hard)
    return y_hard - x_hard;
  return gst_plugin_feature_rank_compare_func (x, y);
}

/* Gives a decoder the CUDA context of the analysis, which all cameras share. The decoder would
 * ask its neighbours, but has none yet, and would create a context of its own, with memory and
 * threads. */
static void
share_cuda_context (WatchStream *self, GstElement *decoder)
{
  GstQuery *query = gst_query_new_context ("gst.cuda.context");
  GstPad *pad = gst_element_get_static_pad (self->entry, "sink");
  GstContext *context = NULL;

  if (gst_pad_query (pad, query))
    gst_query_parse_context (query, &context);
  if (context)
    gst_element_set_context (decoder, context);
  gst_object_unref (pad);
  gst_query_unref (query);
}

/* Adds the best decoder that starts behind @last. Returns NULL after posting an error. */
static GstElement *
add_decoder (WatchStream *self, GstElement *bin, GstElement *last, const gchar *last_pad,
             GstCaps *caps)
{
  GList *all = gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_DECODER |
                                                          GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO |
                                                          GST_ELEMENT_FACTORY_TYPE_MEDIA_IMAGE,
                                                      GST_RANK_MARGINAL),
        *fitting = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE), *item;
  guint threads = CLAMP (g_get_num_processors () / MAX (self->settings->cameras->len, 1), 1, 4);
  guint n = 0, skip;
  GstElement *decoder = NULL;

  fitting = g_list_sort (fitting, compare_decoders);
  skip = fitting ? self->skip_decoders % g_list_length (fitting) : 0;
  for (item = fitting; item && !decoder; item = item->next) {
    if (n++ < skip)
      continue;
    decoder = gst_element_factory_create (item->data, NULL);
    if (!decoder)
      continue;
    /* Decoders of libav would have a thread per CPU, each. */
    if (g_object_class_find_property (G_OBJECT_GET_CLASS (decoder), "max-threads"))
      g_object_set (decoder, "max-threads", threads, NULL);
    gst_bin_add (GST_BIN (bin), decoder);
    share_cuda_context (self, decoder);
    if (gst_element_set_state (decoder, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE ||
        !gst_element_link_pads (last, last_pad, decoder, "sink")) {
      gst_element_set_state (decoder, GST_STATE_NULL);
      gst_bin_remove (GST_BIN (bin), decoder);
      decoder = NULL;
    }
  }
  gst_plugin_feature_list_free (fitting);
  gst_plugin_feature_list_free (all);
  if (!decoder) {
    watch_stream_post_failure (self, watch_missing_decoder_to_reason (caps));
    return NULL;
  }
  GST_OBJECT_LOCK (self->pipeline);
  g_free (self->decoder);
  self->decoder = g_strdup (GST_OBJECT_NAME (gst_element_get_factory (decoder)));
  GST_OBJECT_UNLOCK (self->pipeline);
  return decoder;
}

/* Links the bin's last element with the analysis. */
static gboolean
link_source (WatchStream *self, GstElement *bin, GstElement *last, const gchar *name)
{
  GstPad *pad = gst_element_get_static_pad (last, name),
         *sink = gst_element_get_static_pad (self->entry, "sink"),
         *ghost = gst_ghost_pad_new ("src", pad);
  gboolean linked;

  gst_pad_set_active (ghost, TRUE);
  gst_element_add_pad (bin, ghost);
  linked = gst_pad_link (ghost, sink) == GST_PAD_LINK_OK;
  gst_object_unref (pad);
  gst_object_unref (sink);
  if (!linked)
    watch_stream_post_failure (self, web_reason_new (WEB_REASON_FORMAT_UNKNOWN, NULL));
  return linked;
}

/* Parses H.264 or H.265 behind @last, for recording and decoding. Returns the last element, or NULL
 * after posting an error. */
static GstElement *
add_parser (WatchStream *self, GstElement *bin, GstElement *last, const gchar *last_pad,
            const gchar *media)
{
  GstElement *parser = watch_stream_add_element (
                 self, bin, g_str_equal (media, "video/x-h264") ? "h264parse" : "h265parse"),
             *filter = parser ? watch_stream_add_element (self, bin, "capsfilter") : NULL;
  GstCaps *caps;
  GstPad *probed;

  if (!filter)
    return NULL;
  /* Put the parameters in front of each key frame, for those who join later. */
  g_object_set (parser, "config-interval", -1, NULL);
  caps = gst_caps_new_simple (media, "alignment", G_TYPE_STRING, "au", NULL);
  g_object_set (filter, "caps", caps, NULL);
  gst_caps_unref (caps);
  if (!gst_element_link_pads (last, last_pad, parser, "sink") ||
      !gst_element_link (parser, filter)) {
    watch_stream_post_failure (self,
                               web_reason_new (WEB_REASON_PARSER_FAILED, "format", media, NULL));
    return NULL;
  }
  probed = gst_element_get_static_pad (filter, "src");
  watch_limit_add_pictures (self->limit, probed); /* before they are recorded */
  gst_pad_add_probe (probed, GST_PAD_PROBE_TYPE_BUFFER, self->on_encoded, self, NULL);
  gst_object_unref (probed);
  GST_OBJECT_LOCK (self->pipeline);
  self->can_record = TRUE;
  GST_OBJECT_UNLOCK (self->pipeline);
  gst_element_sync_state_with_parent (filter);
  gst_element_sync_state_with_parent (parser);
  return filter;
}

/* The limits need a size, which depayloaders do not give: adds a parser that finds it in the
 * headers. Returns the last element. */
static GstElement *
add_sizes (WatchStream *self, GstElement *bin, GstElement *last, const gchar **last_pad,
           const gchar *media, GstCaps *caps)
{
  GList *all, *fitting;
  GstElement *parser = NULL;

  if (gst_structure_has_field (gst_caps_get_structure (caps, 0), "width") ||
      g_str_equal (media, "video/x-h264") || g_str_equal (media, "video/x-h265"))
    return last;
  all = gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_PARSER, GST_RANK_MARGINAL);
  fitting = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);
  if (fitting)
    parser = gst_element_factory_create (fitting->data, NULL);
  gst_plugin_feature_list_free (fitting);
  gst_plugin_feature_list_free (all);
  if (!parser)
    return last;
  gst_bin_add (GST_BIN (bin), parser);
  if (!gst_element_link_pads (last, *last_pad, parser, "sink")) {
    gst_bin_remove (GST_BIN (bin), parser);
    return last;
  }
  gst_element_sync_state_with_parent (parser);
  *last_pad = "src";
  return parser;
}

/* Continues behind the pad @last_pad of @last, which has @caps. */
static void
link_video (WatchStream *self, GstElement *bin, GstElement *last, const gchar *last_pad,
            GstCaps *caps)
{
  const gchar *media = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  GstElement *element = last;
  const gchar *pad = last_pad;

  if (g_str_equal (media, "video/x-h264") || g_str_equal (media, "video/x-h265")) {
    element = add_parser (self, bin, last, last_pad, media);
    pad = "src";
    if (!element)
      return;
  } else if (!self->analyse) {
    watch_stream_post_failure (
        self, web_reason_new (WEB_REASON_FORMAT_NOT_RECORDED, "format", media, NULL));
    return;
  }
  if (!self->analyse) {
    GstElement *sink = watch_stream_add_element (self, bin, "fakesink");

    if (sink) {
      g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
      gst_element_link (element, sink);
      gst_element_sync_state_with_parent (sink);
    }
    return;
  }
  if (!g_str_equal (media, "video/x-raw")) {
    element = add_sizes (self, bin, element, &pad, media, caps);
    element = add_decoder (self, bin, element, pad, caps);
    pad = "src";
    if (!element)
      return;
  }
  if (link_source (self, bin, element, pad) && element != last)
    gst_element_sync_state_with_parent (element);
}

/* Returns whether this is the first video. */
static gboolean
take_video (WatchStream *self)
{
  gboolean first;

  GST_OBJECT_LOCK (self->pipeline);
  first = !self->linked;
  self->linked = TRUE;
  GST_OBJECT_UNLOCK (self->pipeline);
  return first;
}

static void
on_rtp_pad (GstElement *element, GstPad *src, gpointer user_data)
{
  WatchStream *self = user_data;
  g_autoptr (GstElement) bin = GST_ELEMENT (gst_element_get_parent (element));
  g_autoptr (GstCaps) caps = gst_pad_query_caps (src, NULL), media = NULL;
  GstStructure *structure = gst_caps_get_size (caps) ? gst_caps_get_structure (caps, 0) : NULL;
  const gchar *kind = structure ? gst_structure_get_string (structure, "media") : NULL;
  GList *all, *fitting;
  GstElement *depay = NULL;
  GstPad *pad;

  if (!bin || g_strcmp0 (kind, "video") != 0 || !take_video (self))
    return;
  all = gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_DEPAYLOADER,
                                               GST_RANK_MARGINAL);
  fitting = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);
  if (fitting)
    depay = gst_element_factory_create (fitting->data, NULL);
  gst_plugin_feature_list_free (fitting);
  gst_plugin_feature_list_free (all);
  if (!depay) {
    watch_stream_post_failure (self, watch_missing_decoder_to_reason (caps));
    return;
  }
  gst_bin_add (GST_BIN (bin), depay);
  pad = gst_element_get_static_pad (depay, "src");
  media = gst_pad_get_pad_template_caps (pad);
  gst_object_unref (pad);
  link_video (self, bin, depay, "src", media);
  gst_element_sync_state_with_parent (depay);
  pad = gst_element_get_static_pad (depay, "sink");
  gst_pad_link (src, pad);
  gst_object_unref (pad);
}

static gboolean
on_select_stream (GstElement *element, guint index, GstCaps *caps, gpointer user_data)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);

  return g_strcmp0 (gst_structure_get_string (structure, "media"), "video") == 0;
}

/* Pads of parsebin. */
static void
on_parsed_pad (GstElement *element, GstPad *src, gpointer user_data)
{
  WatchStream *self = user_data;
  g_autoptr (GstElement) bin = GST_ELEMENT (gst_element_get_parent (element));
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (src);
  g_autofree gchar *name = gst_pad_get_name (src);
  const gchar *media;

  if (!caps)
    caps = gst_pad_query_caps (src, NULL);
  if (!bin || gst_caps_is_empty (caps) || gst_caps_is_any (caps))
    return;
  media = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  if ((g_str_has_prefix (media, "video/") || g_str_has_prefix (media, "image/")) &&
      take_video (self))
    link_video (self, bin, element, name, caps);
}

static void
on_no_more_pads (GstElement *element, gpointer user_data)
{
  WatchStream *self = user_data;

  if (take_video (self))
    watch_stream_post_failure (self, web_reason_new (WEB_REASON_NO_VIDEO, NULL));
}

/* Adds the first element of the source. Returns FALSE after posting an error. */
static gboolean
add_rtsp (WatchStream *self, GstElement *bin)
{
  GstElement *source = watch_stream_add_element (self, bin, "rtspsrc");

  if (!source)
    return FALSE;
  g_object_set (source, "location", self->uri, "latency", 200, "tcp-timeout",
                (guint64) 10 * G_USEC_PER_SEC, "timeout", (guint64) 5 * G_USEC_PER_SEC, NULL);
  /* rtspt:// and rtspu:// name the protocol themselves. */
  if (g_str_has_prefix (self->uri, "rtsp:"))
    gst_util_set_object_arg (G_OBJECT (source), "protocols", "tcp");
  watch_confine_source (source, self->uri, self->user, self->password);
  g_signal_connect (source, "select-stream", G_CALLBACK (on_select_stream), self);
  g_signal_connect (source, "pad-added", G_CALLBACK (on_rtp_pad), self);
  g_signal_connect (source, "no-more-pads", G_CALLBACK (on_no_more_pads), self);
  return TRUE;
}

static gboolean
add_parsed (WatchStream *self, GstElement *bin, const gchar *name)
{
  GstElement *source = watch_stream_add_element (self, bin, name),
             *parsebin = source ? watch_stream_add_element (self, bin, "parsebin") : NULL;

  if (!parsebin)
    return FALSE;
  if (g_str_equal (name, "filesrc")) {
    g_autofree gchar *path = g_filename_from_uri (self->uri, NULL, NULL);

    g_object_set (source, "location", path, NULL);
  } else {
    g_object_set (source, "location", self->uri, "is-live", TRUE, "do-timestamp", TRUE, "timeout",
                  10, "retries", 0, NULL);
    watch_confine_source (source, self->uri, self->user, self->password);
  }
  watch_confine_parser (parsebin, GST_ELEMENT (self->pipeline), self->uri);
  g_signal_connect (parsebin, "pad-added", G_CALLBACK (on_parsed_pad), self);
  g_signal_connect (parsebin, "no-more-pads", G_CALLBACK (on_no_more_pads), self);
  return gst_element_link (source, parsebin);
}

/* Adds a device, or the ball of test://. */
static gboolean
add_raw (WatchStream *self, GstElement *bin, gboolean device)
{
  GstElement *source = watch_stream_add_element (self, bin, device ? "v4l2src" : "videotestsrc"),
             *filter = source ? watch_stream_add_element (self, bin, "capsfilter") : NULL;
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      device ? "video/x-raw" : "video/x-raw, format=I420, width=640, height=480, framerate=30/1");

  if (!filter)
    return FALSE;
  if (device) {
    g_object_set (source, "device", self->uri + strlen ("v4l2://"), NULL);
  } else {
    g_object_set (source, "is-live", TRUE, NULL);
    gst_util_set_object_arg (G_OBJECT (source), "pattern", "ball");
  }
  g_object_set (filter, "caps", caps, NULL);
  take_video (self);
  return gst_element_link (source, filter) && link_source (self, bin, filter, "src");
}

GstElement *
watch_stream_add_source (WatchStream *self)
{
  GstElement *bin = gst_bin_new ("source");
  gboolean added;

  gst_bin_add (GST_BIN (self->pipeline), bin);
  self->source = bin;
  if (g_str_has_prefix (self->uri, "rtsp"))
    added = add_rtsp (self, bin);
  else if (g_str_has_prefix (self->uri, "file:"))
    added = add_parsed (self, bin, "filesrc");
  else if (g_str_has_prefix (self->uri, "http"))
    added = add_parsed (self, bin, "souphttpsrc");
  else
    added = add_raw (self, bin, g_str_has_prefix (self->uri, "v4l2:"));
  return added ? bin : NULL;
}
