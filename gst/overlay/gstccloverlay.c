/* cudaccl - draws components on video
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccloverlay
 * @title: ccloverlay
 * @short_description: draws the components of frames on them
 *
 * Draws metadata on the video, depending on #ccloverlay:draw: boxes, centroids, labels and areas of
 * components, their classes and how certain these are, the ids, trails and velocities that
 * `ccltrack` gives them, the zones and tripwires of `cclzones` with their counts and events, and
 * the time. The video may have been scaled since the analysis, or, with `cclmerge`, be a different
 * one. Frames with nothing to draw pass through.
 *
 * The element reads #GstCclMeta, which `cudaccl` and `cclmotion` attach if their property `attach`
 * includes `components`. For frames without it, it draws the regions of interest of `cudaccl`, and
 * those of other detectors that `ccltrack` tracks.
 *
 * Lines are drawn on the outermost pixels of the box. Text is drawn on black above the box, or, if
 * there is no room, below, inside or beside it. Text without any room is left out. The area comes
 * after the label or id, separated by a colon. Behind the label or id of what is static, see
 * #cclmotion:static-time, are the seconds that it has stood, and `removed` if it was taken away.
 *
 * If downstream elements can draw, such as video sinks on a GPU, the drawing is attached to the
 * frame as #GstVideoOverlayCompositionMeta, and the frame can be in any memory. Otherwise the
 * drawing is blended into the frame, which must be in system memory; its pixels are copied if the
 * frame is shared with other branches.
 *
 * With subsampled chroma, as in I420, GStreamer blends only the chroma of the upper left of the
 * pixels that share it: lines one pixel wide may lack colour.
 *
 * The work on a frame is limited, to about 20 ms. What does not fit, such as thousands of long
 * trails, is left out and counted in #ccloverlay:stats, and a warning is posted once. Names longer
 * than 128 bytes are cut.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=GRAY8 ! cudaccl ! videoconvert !
 * video/x-raw,format=I420 ! ccloverlay draw=boxes+centroids+areas ! videoconvert ! autovideosink
 * ]|
 * Marks the ball.
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! cclmotion ! ccltrack !
 * cclzones tripwires="gate: 0.5,0 0.5,1" ! ccloverlay draw=boxes+tracks+trails+zones+events !
 * videoconvert ! autovideosink
 * ]|
 * Marks moving objects in a recording, and counts those that cross a line.
 *
 * Since: 0.1
 */

#include "gstccloverlay.h"

#include <gst/video/video.h>
#include <gst/base/gstcclmapping.h>
#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclregister.h>
#include <gst/base/gstccltime.h>
#include <gst/base/gstcclutils.h>
#include <gst/found/gstcclclasses.h>
#include <gst/found/gstcclfound.h>

#include "gstcclpainter.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_overlay_debug);
#define GST_CAT_DEFAULT gst_ccl_overlay_debug

#define COMPOSITION GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION

#define MAX_TRAIL_TIME (3600 * GST_SECOND)
#define MAX_SIZE 1000

struct _GstCclOverlay
{
  GstCclFilter parent;

  /* Protected by the object lock. */
  GstCclDrawStyle style;
  guint64 frames, left_out;

  /* Streaming thread. */
  gboolean attach;        /* negotiated: pictures are attached to frames, not blended into them */
  GstVideoInfo info;      /* valid unless @attach */
  GstCclClasses *classes; /* numbers classes for the stream, so that colours do not change */
  GstCclPainter *painter;
  GstCclCanvas *canvas; /* picture of the current frame */
  gboolean drawn;       /* the picture is not empty */
  gboolean warned;
};

/* The values of #ccloverlay:draw. */
#define GST_TYPE_CCL_OVERLAY_DRAW (gst_ccl_overlay_draw_get_type ())

static GType
gst_ccl_overlay_draw_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CCL_OVERLAY_DRAW_BOXES, "Bounding boxes", "boxes" },
    { GST_CCL_OVERLAY_DRAW_CENTROIDS, "A cross at each centroid", "centroids" },
    { GST_CCL_OVERLAY_DRAW_LABELS, "Labels", "labels" },
    { GST_CCL_OVERLAY_DRAW_AREAS, "Areas in pixels", "areas" },
    { GST_CCL_OVERLAY_DRAW_TRACKS, "Ids of tracked objects", "tracks" },
    { GST_CCL_OVERLAY_DRAW_VELOCITIES, "Where tracked objects will be in a second", "velocities" },
    { GST_CCL_OVERLAY_DRAW_TRAILS, "Where tracked objects came from", "trails" },
    { GST_CCL_OVERLAY_DRAW_ZONES, "Zones, tripwires and their counts", "zones" },
    { GST_CCL_OVERLAY_DRAW_EVENTS, "Events of zones and tripwires", "events" },
    { GST_CCL_OVERLAY_DRAW_NAMES, "Types of regions of interest", "names" },
    { GST_CCL_OVERLAY_DRAW_TIME, "Stream time", "time" },
    { GST_CCL_OVERLAY_DRAW_CLASSES, "Classes and confidences", "classes" },
    { GST_CCL_OVERLAY_DRAW_ELLIPSES, "Ellipses, with the major axis", "ellipses" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_flags (&type, "GstCclOverlayDraw", values);
}

#define gst_ccl_overlay_parent_class parent_class
G_DEFINE_TYPE (GstCclOverlay, gst_ccl_overlay, GST_TYPE_CCL_FILTER)
GST_CCL_REGISTER_DEFINE (ccloverlay, GST_TYPE_CCL_OVERLAY)

static void gst_ccl_overlay_finalize (GObject *object);

static gboolean gst_ccl_overlay_start (GstBaseTransform *trans);
static gboolean gst_ccl_overlay_stop (GstBaseTransform *trans);
static GstCaps *gst_ccl_overlay_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                                GstCaps *caps, GstCaps *filter);
static GstCaps *gst_ccl_overlay_fixate_caps (GstBaseTransform *trans, GstPadDirection direction,
                                             GstCaps *caps, GstCaps *othercaps);
static gboolean gst_ccl_overlay_set_caps (GstBaseTransform *trans, GstCaps *incaps,
                                          GstCaps *outcaps);
static GstFlowReturn gst_ccl_overlay_prepare_output_buffer (GstBaseTransform *trans,
                                                            GstBuffer *inbuf, GstBuffer **outbuf);
static void gst_ccl_overlay_restart (GstCclFilter *filter, GstCclRestart why);
static GstFlowReturn gst_ccl_overlay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer);

static void
gst_ccl_overlay_get_stats (gpointer object, GValue *value)
{
  GstCclOverlay *self = object;

  GST_OBJECT_LOCK (self);
  g_value_take_boxed (value, gst_structure_new ("application/x-ccloverlay-stats", "frames",
                                                G_TYPE_UINT64, self->frames, "left-out",
                                                G_TYPE_UINT64, self->left_out, NULL));
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_overlay_install_properties (GObjectClass *gobject_class)
{
  /**
   * ccloverlay:draw:
   *
   * What to draw.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclOverlay, style.draw),
      g_param_spec_flags ("draw", "Draw", "What to draw.", GST_TYPE_CCL_OVERLAY_DRAW,
                          GST_CCL_OVERLAY_DRAW_BOXES | GST_CCL_OVERLAY_DRAW_TRACKS |
                              GST_CCL_OVERLAY_DRAW_ZONES | GST_CCL_OVERLAY_DRAW_EVENTS,
                          GST_CCL_PLAYING));

  /**
   * ccloverlay:color:
   *
   * Colour of all components, 0xAARRGGBB. If alpha is 0, each component has the colour of its
   * label, the same one as with `cclcolor`, or that of its class, see #ccloverlay:color-by-class.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclOverlay, style.color),
      g_param_spec_uint (
          "color", "Color",
          "Colour of all components, 0xAARRGGBB (alpha 0 = the colour of each label).", 0,
          G_MAXUINT32, 0, GST_CCL_PLAYING));

  /**
   * ccloverlay:line-width:
   *
   * Width of lines in pixels; 0 makes it proportional to the frame size.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclOverlay, style.line_width),
      g_param_spec_uint ("line-width", "Line width",
                         "Width of lines in pixels (0 = proportional to the frame size).", 0,
                         MAX_SIZE, 0, GST_CCL_PLAYING));

  /**
   * ccloverlay:font-size:
   *
   * Size of the font in pixels; 0 makes it proportional to the frame size.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclOverlay, style.font_size),
      g_param_spec_uint ("font-size", "Font size",
                         "Size of the font in pixels (0 = proportional to the frame size).", 0,
                         MAX_SIZE, 0, GST_CCL_PLAYING));

  /**
   * ccloverlay:font:
   *
   * The font as a Pango font description, such as `Sans Bold` or `DejaVu Sans Mono`. Its size is
   * that of #ccloverlay:font-size. Without any font on the system, there is no text.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclOverlay, style.font),
                              g_param_spec_string ("font", "Font", "Pango font description.",
                                                   "Sans Bold", GST_CCL_PLAYING));

  /**
   * ccloverlay:trail-time:
   *
   * How long trails are, in nanoseconds.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclOverlay, style.trail_time),
      g_param_spec_uint64 ("trail-time", "Trail time", "How long trails are, in nanoseconds.", 0,
                           MAX_TRAIL_TIME, 3 * GST_SECOND, GST_CCL_PLAYING));

  /**
   * ccloverlay:color-by-class:
   *
   * Objects that have a class get its colour, instead of that of their label or id.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclOverlay, style.color_by_class),
                              g_param_spec_boolean ("color-by-class", "Color by class",
                                                    "Objects that have a class get its colour.",
                                                    FALSE, GST_CCL_PLAYING));

  /**
   * ccloverlay:stats:
   *
   * Statistics since the last start, as a structure:
   *
   * - `frames` (#guint64): frames that were drawn on
   * - `left-out` (#guint64): shapes that would have taken too long
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_COMPUTED (gst_ccl_overlay_get_stats),
                              g_param_spec_boxed ("stats", "Statistics",
                                                  "Statistics since the last start.",
                                                  GST_TYPE_STRUCTURE, GST_CCL_READ_ONLY));
}

static void
gst_ccl_overlay_class_init (GstCclOverlayClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCclFilterClass *filter_class = GST_CCL_FILTER_CLASS (klass);

  gobject_class->finalize = gst_ccl_overlay_finalize;
  gst_ccl_overlay_install_properties (gobject_class);

  gst_element_class_set_static_metadata (
      element_class, "Components on video", "Filter/Editor/Video",
      "Draws the components of video frames on them", "The cudaccl authors");

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_overlay_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_overlay_stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_fixate_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_overlay_set_caps);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_overlay_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_overlay_transform_ip);

  filter_class->restart = GST_DEBUG_FUNCPTR (gst_ccl_overlay_restart);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_overlay_debug, "ccloverlay", 0, "components drawn on video");
}

static void
gst_ccl_overlay_init (GstCclOverlay *self)
{
  self->classes = gst_ccl_classes_new ();
  self->painter = gst_ccl_painter_new ();
  self->canvas = gst_ccl_canvas_new ();
  gst_video_info_init (&self->info);

  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_ccl_overlay_finalize (GObject *object)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (object);

  gst_ccl_classes_free (self->classes);
  gst_ccl_painter_free (self->painter);
  gst_ccl_canvas_free (self->canvas);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static gboolean
gst_ccl_overlay_start (GstBaseTransform *trans)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  GST_OBJECT_LOCK (self);
  self->frames = self->left_out = 0;
  GST_OBJECT_UNLOCK (self);
  self->warned = FALSE;
  gst_ccl_classes_free (self->classes);
  self->classes = gst_ccl_classes_new ();

  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static gboolean
gst_ccl_overlay_stop (GstBaseTransform *trans)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  self->attach = FALSE;
  self->drawn = FALSE;
  gst_video_info_init (&self->info);
  gst_ccl_painter_reset (self->painter);
  gst_ccl_canvas_reset (self->canvas);

  return TRUE;
}

static void
gst_ccl_overlay_restart (GstCclFilter *filter, GstCclRestart why)
{
  gst_ccl_painter_reset (GST_CCL_OVERLAY (filter)->painter);
}

static GstCaps *
make_blend_caps (void)
{
  GArray *formats = g_array_new (FALSE, FALSE, sizeof (GstVideoFormat));
  const GstVideoFormat *all;
  GstCaps *caps;
  guint i, n;

  /* With a palette, blending would also change the colours of other pixels. */
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

/* Returns the caps of frames that can be drawn on: those that GstVideo blends without loss.
 * Borrowed. */
static GstCaps *
blend_caps (void)
{
  static GstCaps *caps = NULL;

  if (g_once_init_enter (&caps))
    g_once_init_leave (&caps, make_blend_caps ());

  return caps;
}

/* Copies one structure of @caps with the feature @add, without the feature @remove. Both may be
 * NULL. */
static GstCaps *
copy_structure (GstCaps *caps, guint index, const gchar *add, const gchar *remove)
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
copy_blendable (GstCaps *caps, guint index)
{
  GstCaps *all = copy_structure (caps, index, NULL, NULL);
  GstCaps *result = gst_caps_intersect (all, blend_caps ());

  gst_caps_unref (all);

  return result;
}

/* Transforms sink caps to source caps: with the composition feature, or unchanged if frames can
 * be drawn on. */
static GstCaps *
gst_ccl_overlay_get_src_caps (GstCaps *caps)
{
  GstCaps *result = gst_caps_new_empty ();
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++)
    result = gst_caps_merge (result, copy_structure (caps, i, COMPOSITION, NULL));
  for (i = 0; i < gst_caps_get_size (caps); i++)
    result = gst_caps_merge (result, copy_blendable (caps, i));

  return result;
}

/* Transforms source caps to sink caps. */
static GstCaps *
gst_ccl_overlay_get_sink_caps (GstCaps *caps)
{
  GstCaps *result = gst_caps_new_empty ();
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);

    if (gst_caps_features_is_any (features) || gst_caps_features_contains (features, COMPOSITION)) {
      result = gst_caps_merge (result, copy_structure (caps, i, NULL, NULL));
      result = gst_caps_merge (result, copy_structure (caps, i, NULL, COMPOSITION));
    } else {
      result = gst_caps_merge (result, copy_blendable (caps, i));
    }
  }

  return result;
}

/* Fixates the first of @caps with or without the composition feature. Returns NULL if there is
 * none. */
static GstCaps *
gst_ccl_overlay_select_caps (GstCaps *caps, gboolean composition)
{
  guint i;

  for (i = 0; i < gst_caps_get_size (caps); i++) {
    if (gst_caps_features_contains (gst_caps_get_features (caps, i), COMPOSITION) == composition)
      return gst_caps_fixate (copy_structure (caps, i, NULL, NULL));
  }

  return NULL;
}

static GstCaps *
gst_ccl_overlay_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                GstCaps *filter)
{
  return gst_ccl_caps_filter (direction == GST_PAD_SINK ? gst_ccl_overlay_get_src_caps (caps)
                                                        : gst_ccl_overlay_get_sink_caps (caps),
                              filter);
}

/* Returns whether downstream draws compositions on frames with these caps. Accepting the caps is
 * not enough: elements that accept anything may drop compositions. */
static gboolean
gst_ccl_overlay_downstream_draws (GstPad *srcpad, GstCaps *caps)
{
  GstQuery *query = gst_query_new_allocation (caps, FALSE);
  gboolean drawn;

  /* Many elements answer only once they have the caps. If downstream is relinked meanwhile, the
   * next frame negotiates again. */
  drawn =
      gst_pad_set_caps (srcpad, caps) && gst_pad_peer_query (srcpad, query) &&
      gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL) &&
      gst_pad_peer_query_accept_caps (srcpad, caps);
  gst_query_unref (query);

  return drawn;
}

/* Sets size and format. Attaching only needs the size: this version of GStreamer may not know
 * the format. On failure, changes nothing. */
static gboolean
gst_ccl_overlay_set_info (GstCclOverlay *self, GstCaps *caps)
{
  GstVideoInfo info = self->info;
  guint width, height;

  if (!gst_ccl_caps_get_size (caps, &width, &height) || width > GST_CCL_CANVAS_MAX_SIZE ||
      height > GST_CCL_CANVAS_MAX_SIZE ||
      (!self->attach && !gst_video_info_from_caps (&info, caps)))
    return FALSE;

  self->parent.width = width;
  self->parent.height = height;
  self->info = info;
  gst_ccl_time_set_caps (&self->parent.time, caps);

  return TRUE;
}

/* Chooses between attaching and blending. There is no choice if upstream attached a composition,
 * or if frames cannot be drawn on. Also stores the frame size: if both caps are the current
 * ones, set_caps() is not called, even if others were refused in between. */
static GstCaps *
gst_ccl_overlay_fixate_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                             GstCaps *othercaps)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);
  GstCaps *attached = gst_ccl_overlay_select_caps (othercaps, TRUE);
  GstCaps *blended = gst_ccl_overlay_select_caps (othercaps, FALSE);

  self->attach =
      attached && (!blended || gst_ccl_overlay_downstream_draws (trans->srcpad, attached));
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

  guint width, height;

  if (!gst_ccl_caps_require_size (GST_ELEMENT (self), incaps, &width, &height))
    return FALSE;
  if (gst_ccl_overlay_set_info (self, incaps))
    return TRUE;

  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                     ("Unsupported frame size %ux%u. Use smaller frames.", width, height),
                     ("%" GST_PTR_FORMAT, incaps));

  return FALSE;
}

/* Gets the origin of the visible part of a frame. Metadata may have any values: cropping outside
 * of the frame is ignored. */
static void
gst_ccl_overlay_get_origin (GstCclOverlay *self, GstBuffer *buffer, gint *x, gint *y)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const GstVideoMeta *video = gst_buffer_get_video_meta (buffer);
  guint width = video ? video->width : self->parent.width,
        height = video ? video->height : self->parent.height;

  *x = *y = 0;
  if (!crop)
    return;
  if ((guint64) crop->x + self->parent.width > MIN (width, G_MAXINT) ||
      (guint64) crop->y + self->parent.height > MIN (height, G_MAXINT)) {
    GST_WARNING_OBJECT (self, "ignoring cropping to %ux%u at %u,%u outside of %ux%u pixels",
                        crop->width, crop->height, crop->x, crop->y, width, height);
    return;
  }
  *x = (gint) crop->x;
  *y = (gint) crop->y;
}

/* Sets the zones of a frame, and how they map to it: it may have been cropped and scaled after
 * cclzones. */
static void
gst_ccl_overlay_place_zones (GstCclOverlay *self, GstBuffer *buffer, GstCclScene *scene)
{
  const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);
  const GstVideoCropMeta *crop;
  guint width, height;

  if (!zones)
    return;

  crop = gst_ccl_find_crop (buffer, zones->width, zones->height);
  width = crop ? crop->width : zones->width;
  height = crop ? crop->height : zones->height;
  scene->zones = zones;
  scene->zones_x = crop ? crop->x : 0;
  scene->zones_y = crop ? crop->y : 0;
  scene->zones_scale_x = (gdouble) self->parent.width / width;
  scene->zones_scale_y = (gdouble) self->parent.height / height;
}

/* Returns the type of each component's region of interest, or 0. Free the array with g_free(). */
static GQuark *
find_names (const GstCclRois *rois, const GstCclComponent *components, guint n)
{
  GHashTable *types = g_hash_table_new (NULL, NULL);
  GQuark *names = g_new (GQuark, n);
  guint i;

  for (i = 0; i < rois->n; i++)
    g_hash_table_insert (types, GUINT_TO_POINTER (rois->components[i].label),
                         GUINT_TO_POINTER (rois->rois[i]->roi_type));
  for (i = 0; i < n; i++)
    names[i] =
        GPOINTER_TO_UINT (g_hash_table_lookup (types, GUINT_TO_POINTER (components[i].label)));
  g_hash_table_unref (types);

  return names;
}

/* Replaces the components of @scene by a copy with this element's class ids. Free the copy with
 * g_free(). */
static GstCclComponent *
gst_ccl_overlay_take_classes (GstCclOverlay *self, GstCclScene *scene, GstCclClassNames *names)
{
  GstCclComponent *components =
      g_memdup2 (scene->components, scene->n_components * sizeof (*components));
  guint i;

  for (i = 0; i < scene->n_components; i++)
    components[i].class_id =
        gst_ccl_classes_translate (self->classes, names, components[i].class_id);
  scene->components = components;
  scene->class_names = gst_ccl_classes_get_names (self->classes);

  return components;
}

/* Counts shapes that were left out, and warns of the first ones. */
static void
gst_ccl_overlay_count (GstCclOverlay *self)
{
  const guint left_out = gst_ccl_canvas_get_left_out (self->canvas);

  GST_OBJECT_LOCK (self);
  self->frames += self->drawn;
  self->left_out += left_out;
  GST_OBJECT_UNLOCK (self);

  if (left_out == 0 || self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
                       ("A frame has too much to draw: %u shapes were left out. Draw less (draw), "
                        "or with thinner lines (line-width).",
                        left_out),
                       (NULL));
}

/* Paints the metadata of @buffer: components, scaled and cropped like the frame, or without them
 * regions of interest. Returns FALSE if there is no memory. */
static gboolean
gst_ccl_overlay_paint (GstCclOverlay *self, GstBuffer *buffer)
{
  GstCclScene scene = { NULL, (gint) self->parent.width, (gint) self->parent.height };
  GstCclFoundFlags flags = GST_CCL_FOUND_SCALE;
  GstCclComponent *components = NULL;
  GQuark *names = NULL;
  GstClockTime running_time;
  GstCclDrawStyle style;
  GstCclFound found;
  gboolean painted;

  GST_OBJECT_LOCK (self);
  style = self->style;
  style.font = g_strdup (self->style.font);
  GST_OBJECT_UNLOCK (self);

  if (!self->attach && !GST_VIDEO_INFO_IS_RGB (&self->info))
    scene.yuv = &self->info;
  if (style.draw & GST_CCL_OVERLAY_DRAW_NAMES)
    flags |= GST_CCL_FOUND_BOTH;
  gst_ccl_found_init (&found, buffer, self->parent.width, self->parent.height, flags);
  scene.components = found.components;
  scene.n_components = found.n_components;
  if (style.draw & GST_CCL_OVERLAY_DRAW_NAMES)
    scene.names = names = find_names (found.rois, scene.components, scene.n_components);
  if (style.draw & GST_CCL_OVERLAY_DRAW_CLASSES || style.color_by_class)
    components = gst_ccl_overlay_take_classes (self, &scene, found.class_names);
  gst_ccl_overlay_place_zones (self, buffer, &scene);
  gst_ccl_segment_get_times (&GST_BASE_TRANSFORM (self)->segment, GST_BUFFER_PTS (buffer),
                             &scene.stream_time, &running_time);
  scene.time = self->parent.time.time;
  painted = gst_ccl_painter_paint (self->painter, self->canvas, &style, &scene);

  g_free (components);
  g_free (names);
  g_free (style.font);
  gst_ccl_found_clear (&found);

  return painted;
}

/* Frames with nothing to draw stay shared. Others need writable metadata; shared memory is
 * copied when it is mapped. */
static GstFlowReturn
gst_ccl_overlay_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *inbuf,
                                       GstBuffer **outbuf)
{
  GstCclOverlay *self = GST_CCL_OVERLAY (trans);

  *outbuf = inbuf;
  self->drawn = FALSE;
  gst_ccl_filter_advance (&self->parent, inbuf);
  if (gst_buffer_get_size (inbuf) == 0)
    return GST_FLOW_OK; /* gap */

  if (!gst_ccl_overlay_paint (self, inbuf)) {
    GST_ELEMENT_ERROR (
        self, RESOURCE, NO_SPACE_LEFT,
        ("No memory to draw on a frame of %ux%u pixels.", self->parent.width, self->parent.height),
        (NULL));
    return GST_FLOW_ERROR;
  }
  self->drawn = !gst_ccl_canvas_is_empty (self->canvas);
  gst_ccl_overlay_count (self);
  if (self->drawn && !gst_buffer_is_writable (inbuf))
    *outbuf = gst_ccl_buffer_copy_shallow (inbuf);

  return GST_FLOW_OK;
}

/* Attaches the picture, together with upstream's composition. */
static void
gst_ccl_overlay_attach (GstCclOverlay *self, GstBuffer *buffer)
{
  GstVideoOverlayCompositionMeta *earlier = gst_buffer_get_video_overlay_composition_meta (buffer);
  GstVideoOverlayComposition *composition =
      gst_ccl_canvas_compose (self->canvas, earlier ? earlier->overlay : NULL);

  GST_LOG_OBJECT (self, "attaching %u rectangles",
                  gst_video_overlay_composition_n_rectangles (composition));
  if (earlier)
    gst_buffer_remove_video_overlay_composition_meta (buffer, earlier);
  gst_buffer_add_video_overlay_composition_meta (buffer, composition);
  gst_video_overlay_composition_unref (composition);
}

static GstFlowReturn
gst_ccl_overlay_blend (GstCclOverlay *self, GstBuffer *buffer)
{
  GstVideoFrame frame;
  GError *error = NULL;
  gboolean blended;
  gint x, y;

  if (!gst_ccl_video_frame_map (&frame, &self->info, buffer, GST_MAP_READWRITE, &error)) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
                              g_strdup (error->message),
                              gst_info_strdup_printf ("%" GST_PTR_FORMAT, (gpointer) buffer),
                              __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
    return GST_FLOW_ERROR;
  }
  if (!gst_ccl_canvas_fits (self->canvas, &frame)) {
    gst_ccl_video_frame_unmap (&frame);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                       ("The rows of the frame are not aligned to its pixels, so ccloverlay cannot "
                        "draw on it. Let the source align them to 4 bytes, or use opaque colors on "
                        "I420, NV12 or RGB."),
                       ("%" GST_PTR_FORMAT, buffer));
    return GST_FLOW_ERROR;
  }
  gst_ccl_overlay_get_origin (self, buffer, &x, &y);
  blended = gst_ccl_canvas_blend (self->canvas, &frame, x, y);
  gst_ccl_video_frame_unmap (&frame);

  if (!blended) {
    GST_ELEMENT_ERROR (
        self, STREAM, FORMAT,
        ("Drawing on %s frames is not supported. Put videoconvert before ccloverlay.",
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

  if (!self->drawn)
    return GST_FLOW_OK;
  self->drawn = FALSE;
  if (!self->attach)
    return gst_ccl_overlay_blend (self, buffer);
  gst_ccl_overlay_attach (self, buffer);

  return GST_FLOW_OK;
}
