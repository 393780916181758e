/* cudaccl - draws components on video
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccloverlay
 * @title: ccloverlay
 * @short_description: draws the components of frames on them
 *
 * Draws what the metadata of `cudaccl` tells on the video: boxes, centroids, labels and areas, as
 * #ccloverlay:draw wants. The video may have been scaled since, or, with `cclmerge`, be another one
 * than the components were found in. Frames with nothing to be drawn on them pass as they are.
 *
 * It reads the #GstCclMeta, which cudaccl attaches unless its property `attach` leaves `components`
 * out, and draws nothing of frames that have regions of interest only.
 *
 * Boxes are drawn on their outermost pixels. The numbers, which are on black, are above the box, or
 * below it where there is no room, or in it. With both labels and areas, a colon is between them.
 *
 * Elements downstream that can draw, such as video sinks on a GPU, get the drawing beside the
 * frame, as a #GstVideoOverlayCompositionMeta, and it may be in any memory. For others it is drawn
 * here, and the frame must be in system memory: its pixels are copied if another branch uses them
 * too.
 *
 * Where several pixels share their chroma, as in I420, GStreamer's blending sets that of the upper
 * left one of them. So lines that are one pixel wide do not get their colour everywhere.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! cudaccl ! ccloverlay draw=boxes+centroids+areas !
 * videoconvert ! autovideosink
 * ]|
 * Shows where the ball is.
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! tee name=t
 * t. ! queue ! cclmerge name=merge ! ccloverlay ! videoconvert ! autovideosink
 * t. ! queue ! videoconvert ! segmentation test-mode=true ! videoconvert ! cudaccl min-area=100 !
 * merge.components
 * ]|
 * Shows what moves in a recording.
 *
 * Since: 0.1
 */

#include "gstccloverlay.h"

#include <gst/video/video.h>
#include <gst/common/gstcclutils.h>

#include "gstccloverlay-compose.h"
#include "gstccltransfer.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_overlay_debug);
#define GST_CAT_DEFAULT gst_ccl_overlay_debug

#define COMPOSITION GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION

#define DEFAULT_DRAW GST_CCL_OVERLAY_DRAW_BOXES
#define DEFAULT_COLOR 0
#define DEFAULT_LINE_WIDTH 0
#define DEFAULT_FONT_SIZE 0
#define SIZE_MAX_PROP 1000

enum
{
  PROP_0,
  PROP_DRAW,
  PROP_COLOR,
  PROP_LINE_WIDTH,
  PROP_FONT_SIZE,
};

struct _GstCclOverlay
{
  GstBaseTransform parent;

  GstCclDrawStyle style; /* under the object lock */

  /* The streaming thread's. */
  gboolean attach; /* what was negotiated: compositions go beside the frames, or are blended */
  guint width, height;
  GstVideoInfo info;                       /* if not @attach */
  GstVideoOverlayComposition *composition; /* of the frame on its way */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

#define gst_ccl_overlay_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclOverlay, gst_ccl_overlay, GST_TYPE_BASE_TRANSFORM,
                         GST_DEBUG_CATEGORY_INIT (gst_ccl_overlay_debug, "ccloverlay", 0,
                                                  "components drawn on video"))
GST_ELEMENT_REGISTER_DEFINE (ccloverlay, "ccloverlay", GST_RANK_NONE, GST_TYPE_CCL_OVERLAY)

static void gst_ccl_overlay_set_property (GObject *object, guint prop_id, const GValue *value,
                                          GParamSpec *pspec);
static void gst_ccl_overlay_get_property (GObject *object, guint prop_id, GValue *value,
                                          GParamSpec *pspec);

static gboolean gst_ccl_overlay_stop (GstBaseTransform *trans);
static GstCaps *gst_ccl_overlay_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                                GstCaps *caps, GstCaps *filter);
static GstCaps *gst_ccl_overlay_fixate_caps (GstBaseTransform *trans, GstPadDirection direction,
                                             GstCaps *caps, GstCaps *othercaps);
static gboolean gst_ccl_overlay_set_caps (GstBaseTransform *trans, GstCaps *incaps,
                                          GstCaps *outcaps);
static gboolean gst_ccl_overlay_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query,
                                                    GstQuery *query);
static GstFlowReturn gst_ccl_overlay_prepare_output_buffer (GstBaseTransform *trans,
                                                            GstBuffer *inbuf, GstBuffer **outbuf);
static GstFlowReturn gst_ccl_overlay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer);

static void
gst_ccl_overlay_install_properties (GObjectClass *gobject_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  /**
   * ccloverlay:draw:
   *
   * What is drawn of each component.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_DRAW,
      g_param_spec_flags ("draw", "Draw", "What is drawn of each component.",
                          GST_TYPE_CCL_OVERLAY_DRAW, DEFAULT_DRAW, flags));

  /**
   * ccloverlay:color:
   *
   * The colour of all components, 0xAARRGGBB. While its alpha is 0, each component has the colour
   * of its label: the one that `cclcolor` gives it.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_COLOR,
      g_param_spec_uint ("color", "Color",
                         "The colour of all components, 0xAARRGGBB; each has its own where alpha "
                         "is 0.",
                         0, G_MAXUINT32, DEFAULT_COLOR, flags));

  /**
   * ccloverlay:line-width:
   *
   * The width of lines, in pixels. 0 takes one that suits the size of the frame.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_LINE_WIDTH,
      g_param_spec_uint ("line-width", "Line width",
                         "The width of lines, in pixels; 0 suits the size of the frame.", 0,
                         SIZE_MAX_PROP, DEFAULT_LINE_WIDTH, flags));

  /**
   * ccloverlay:font-size:
   *
   * The height of digits, in pixels, rounded down to a multiple of 7. 0 takes one that suits the
   * size of the frame.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_FONT_SIZE,
      g_param_spec_uint ("font-size", "Font size",
                         "The height of digits, in pixels; 0 suits the size of the frame.", 0,
                         SIZE_MAX_PROP, DEFAULT_FONT_SIZE, flags));
}

static void
gst_ccl_overlay_class_init (GstCclOverlayClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gobject_class->set_property = gst_ccl_overlay_set_property;
  gobject_class->get_property = gst_ccl_overlay_get_property;
  gst_ccl_overlay_install_properties (gobject_class);

  gst_element_class_set_static_metadata (
      element_class, "Components on video", "Filter/Editor/Video",
      "Draws the components of video frames on them", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_overlay_stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_fixate_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_overlay_propose_allocation);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_overlay_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_overlay_transform_ip);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_OVERLAY_DRAW, 0);
}

static void
gst_ccl_overlay_init (GstCclOverlay *self)
{
  self->style.draw = DEFAULT_DRAW;
  self->style.color = DEFAULT_COLOR;
  self->style.line_width = DEFAULT_LINE_WIDTH;
  self->style.font_size = DEFAULT_FONT_SIZE;
  gst_video_info_init (&self->info);

  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_ccl_overlay_set_property (GObject *object, guint prop_id, const GValue *value,
                              GParamSpec *pspec)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
  case PROP_DRAW:
    self->style.draw = g_value_get_flags (value);
    break;
  case PROP_COLOR:
    self->style.color = g_value_get_uint (value);
    break;
  case PROP_LINE_WIDTH:
    self->style.line_width = g_value_get_uint (value);
    break;
  case PROP_FONT_SIZE:
    self->style.font_size = g_value_get_uint (value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_overlay_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
  case PROP_DRAW:
    g_value_set_flags (value, self->style.draw);
    break;
  case PROP_COLOR:
    g_value_set_uint (value, self->style.color);
    break;
  case PROP_LINE_WIDTH:
    g_value_set_uint (value, self->style.line_width);
    break;
  case PROP_FONT_SIZE:
    g_value_set_uint (value, self->style.font_size);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_ccl_overlay_stop (GstBaseTransform *trans)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  self->attach = FALSE;
  gst_video_info_init (&self->info);

  return TRUE;
}

static GstCaps *
make_blend_caps (void)
{
  GArray *formats = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));
  const GstVideoFormat *all;
  GstCaps *caps;
  guint i, n;

  /* What is not drawn on would be given other colours, too, where there are but a few. */
  all = gst_video_formats_raw (&n);
  for (i = 0; i < n; i++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info (all[i]);

    if (!GST_VIDEO_FORMAT_INFO_HAS_PALETTE (info))
      g_array_append_val (formats, all[i]);
  }
  caps = gst_video_make_raw_caps ((const GstVideoFormat *) formats->data, formats->len);
  g_array_unref (formats);
  GST_MINI_OBJECT_FLAG_SET (caps, GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED);

  return caps;
}

/* The frames that can be drawn on: those that GstVideo can blend without loss. */
static GstCaps *
blend_caps (void)
{
  static GstCaps *caps = NULL;

  if (g_once_init_enter (&caps))
    g_once_init_leave (&caps, make_blend_caps ());

  return caps;
}

/* A structure of @caps alone, with @add, or without @remove. */
static GstCaps *
take (GstCaps *caps, guint index, const gchar *add, const gchar *remove)
{
  GstCapsFeatures *features = gst_caps_features_copy (gst_caps_get_features (caps, index));
  GstCaps *result = gst_caps_new_empty ();

  if (!gst_caps_features_is_any (features)) {
    if (add && !gst_caps_features_contains (features, add))
      gst_caps_features_add (features, add);
    if (remove)
      gst_caps_features_remove (features, remove);
  }
  gst_caps_append_structure_full (result, gst_structure_copy (gst_caps_get_structure (caps, index)),
                                  features);

  return result;
}

static GstCaps *
take_blendable (GstCaps *caps, guint index)
{
  GstCaps *all = take (caps, index, NULL, NULL);
  GstCaps *result = gst_caps_intersect (all, blend_caps ());

  gst_caps_unref (all);

  return result;
}

/* What can come out when frames of @caps go in: with what says that there are compositions, and as
 * it was, if the frames can be drawn on. */
static GstCaps *
gst_ccl_overlay_caps_after (GstCaps *caps)
{
  GstCaps *result = gst_caps_new_empty ();
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++)
    result = gst_caps_merge (result, take (caps, i, COMPOSITION, NULL));
  for (i = 0; i < gst_caps_get_size (caps); i++)
    result = gst_caps_merge (result, take_blendable (caps, i));

  return result;
}

/* What can go in when @caps come out. */
static GstCaps *
gst_ccl_overlay_caps_before (GstCaps *caps)
{
  GstCaps *result = gst_caps_new_empty ();
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);

    if (gst_caps_features_is_any (features) || gst_caps_features_contains (features, COMPOSITION)) {
      result = gst_caps_merge (result, take (caps, i, NULL, NULL));
      result = gst_caps_merge (result, take (caps, i, NULL, COMPOSITION));
    } else {
      result = gst_caps_merge (result, take_blendable (caps, i));
    }
  }

  return result;
}

/* The first of @caps that says that there are compositions, or that does not say so, fixated; NULL
 * if there is none. */
static GstCaps *
gst_ccl_overlay_caps_select (GstCaps *caps, gboolean composition)
{
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++) {
    if (gst_caps_features_contains (gst_caps_get_features (caps, i), COMPOSITION) == composition)
      return gst_caps_fixate (take (caps, i, NULL, NULL));
  }

  return NULL;
}

static GstCaps *
gst_ccl_overlay_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                GstCaps *filter)
{
  return gst_ccl_caps_filter (direction == GST_PAD_SINK ? gst_ccl_overlay_caps_after (caps)
                                                        : gst_ccl_overlay_caps_before (caps),
                              filter);
}

/* Whether downstream draws compositions on frames of these caps. An element that takes them but
 * does not say so, as those do that take everything, may lose them. */
static gboolean
gst_ccl_overlay_is_drawn_downstream (GstPad *srcpad, GstCaps *caps)
{
  GstQuery *query = gst_query_new_allocation (caps, FALSE);
  gboolean drawn;

  /* Many elements answer only once they know the caps. While they do, what is downstream may become
   * another; it is asked again when the next frame comes. */
  drawn =
      gst_pad_set_caps (srcpad, caps) && gst_pad_peer_query (srcpad, query) &&
      gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL) &&
      gst_pad_peer_query_accept_caps (srcpad, caps);
  gst_query_unref (query);

  return drawn;
}

/* Formats that this GStreamer does not know have a size too, which is enough to attach. */
static gboolean
gst_ccl_overlay_set_info (GstCclOverlay *self, GstCaps *caps)
{
  return gst_ccl_caps_get_size (caps, &self->width, &self->height) &&
         (self->attach || gst_video_info_from_caps (&self->info, caps));
}

/* Every negotiation ends here, whoever began it, with the ways that are possible. Compositions that
 * came from upstream can only be attached, and it was for upstream to ask; neither is there a
 * choice for frames that cannot be drawn on. When the base class finds that both caps are the
 * current ones, set_caps() is not called, but others may have come in between, and been refused. */
static GstCaps *
gst_ccl_overlay_fixate_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                             GstCaps *othercaps)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  GstCaps *attached = gst_ccl_overlay_caps_select (othercaps, TRUE);
  GstCaps *blended = gst_ccl_overlay_caps_select (othercaps, FALSE);

  self->attach =
      attached && (!blended || gst_ccl_overlay_is_drawn_downstream (trans->srcpad, attached));
  GST_DEBUG_OBJECT (self, "compositions will be %s", self->attach ? "attached" : "blended");
  gst_ccl_overlay_set_info (self, caps);

  gst_caps_replace (&othercaps, self->attach ? attached : blended);
  gst_clear_caps (&attached);
  gst_clear_caps (&blended);

  return othercaps;
}

static gboolean
gst_ccl_overlay_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  if (!gst_ccl_caps_require_size (GST_ELEMENT (self), incaps, &self->width, &self->height))
    return FALSE;
  if (gst_ccl_overlay_set_info (self, incaps))
    return TRUE;

  GST_ELEMENT_ERROR (
      self, STREAM, FORMAT,
      ("Frames of %ux%u cannot be drawn on. Use smaller ones.", self->width, self->height),
      ("%" GST_PTR_FORMAT, incaps));

  return FALSE;
}

/* Frames go on as they came, or drawn on. */
static gboolean
gst_ccl_overlay_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query,
                                    GstQuery *query)
{
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (trans), query);
}

/* Where the visible part of the frame begins, when it is drawn on: compositions that are attached
 * are for what will be seen. */
static void
gst_ccl_overlay_init_target (GstCclOverlay *self, GstCclTarget *target, GstBuffer *buffer)
{
  GstVideoCropMeta *crop = self->attach ? NULL : gst_buffer_get_video_crop_meta (buffer);

  target->width = (gint) self->width;
  target->height = (gint) self->height;
  target->x = crop ? (gint) crop->x : 0;
  target->y = crop ? (gint) crop->y : 0;
  /* Others get the format that everybody knows. */
  target->yuv = self->attach || GST_VIDEO_INFO_IS_RGB (&self->info) ? NULL : &self->info;
  /* Those who upload rectangles like few better than many. */
  target->in_bands = self->attach || !gst_ccl_blend_is_local (&self->info);
}

/* What is to be seen of @buffer's components, with what upstream wants to be seen; NULL when there
 * is nothing of ours. */
static GstVideoOverlayComposition *
gst_ccl_overlay_compose (GstCclOverlay *self, GstBuffer *buffer, const GstCclMeta *meta)
{
  GstVideoOverlayCompositionMeta *earlier =
      self->attach ? gst_buffer_get_video_overlay_composition_meta (buffer) : NULL;
  GstVideoOverlayComposition *composition = earlier ? earlier->overlay : NULL, *result;
  GstCclDrawStyle style;
  GstCclTarget target;

  GST_OBJECT_LOCK (self);
  style = self->style;
  GST_OBJECT_UNLOCK (self);

  gst_ccl_overlay_init_target (self, &target, buffer);
  result = gst_ccl_compose (composition ? gst_video_overlay_composition_ref (composition) : NULL,
                            &target, &style, meta->components, meta->n_components);
  if (result && result == composition) {
    gst_video_overlay_composition_unref (result);
    return NULL;
  }

  return result;
}

/* Components may be those of a frame of another size, or of what this one was cropped from. */
static GstVideoOverlayComposition *
gst_ccl_overlay_compose_scaled (GstCclOverlay *self, GstBuffer *buffer)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstVideoOverlayComposition *composition = NULL;
  GstBuffer *scaled;

  if (!meta || meta->n_components == 0)
    return NULL;
  if (meta->width == self->width && meta->height == self->height)
    return gst_ccl_overlay_compose (self, buffer, meta);

  scaled = gst_buffer_new ();
  gst_ccl_transfer_components (scaled, self->width, self->height, buffer, self->width,
                               self->height);
  meta = gst_buffer_get_ccl_meta (scaled);
  if (meta && meta->n_components > 0)
    composition = gst_ccl_overlay_compose (self, buffer, meta);
  gst_buffer_unref (scaled);

  return composition;
}

/* Frames that nothing is drawn on stay shared, if they are. Of others, the metadata must be
 * writable; memory that others use too is copied when it is mapped. */
static GstFlowReturn
gst_ccl_overlay_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *inbuf,
                                       GstBuffer **outbuf)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  *outbuf = inbuf;
  if (gst_buffer_get_size (inbuf) == 0)
    return GST_FLOW_OK; /* a gap */

  self->composition = gst_ccl_overlay_compose_scaled (self, inbuf);
  if (self->composition && !gst_buffer_is_writable (inbuf))
    *outbuf = gst_ccl_buffer_copy_shallow (inbuf);

  return GST_FLOW_OK;
}

static void
gst_ccl_overlay_attach (GstBuffer *buffer, GstVideoOverlayComposition *composition)
{
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (buffer);

  /* Ours has all that was there. */
  if (meta)
    gst_buffer_remove_video_overlay_composition_meta (buffer, meta);
  gst_buffer_add_video_overlay_composition_meta (buffer, composition);
}

static GstFlowReturn
gst_ccl_overlay_blend (GstCclOverlay *self, GstBuffer *buffer,
                       GstVideoOverlayComposition *composition)
{
  GstVideoFrame frame;
  gboolean blended;

  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READWRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
                       ("A frame is smaller than its caps say, or its memory cannot be written."),
                       ("%" GST_PTR_FORMAT, buffer));
    return GST_FLOW_ERROR;
  }
  blended = gst_ccl_blend (composition, &frame);
  gst_video_frame_unmap (&frame);

  if (!blended) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                       ("Frames in %s cannot be drawn on; put videoconvert before ccloverlay.",
                        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->info))),
                       (NULL));
    return GST_FLOW_ERROR;
  }

  return GST_FLOW_OK;
}

static GstFlowReturn
gst_ccl_overlay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  GstVideoOverlayComposition *composition = g_steal_pointer (&self->composition);
  GstFlowReturn ret = GST_FLOW_OK;

  if (!composition)
    return GST_FLOW_OK;

  GST_LOG_OBJECT (self, "drawing in %u rectangles",
                  gst_video_overlay_composition_n_rectangles (composition));
  if (self->attach)
    gst_ccl_overlay_attach (buffer, composition);
  else
    ret = gst_ccl_overlay_blend (self, buffer, composition);
  gst_video_overlay_composition_unref (composition);

  return ret;
}
