/* cudaccl - reads ONVIF metadata as components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclonvifread
 * @title: cclonvifread
 * @short_description: reads a camera's own ONVIF metadata as components, without pictures
 *
 * The counterpart of `cclonvif`: cameras with analytics of their own send what they find as ONVIF
 * metadata, documents `tt:MetadataStream`. Each `tt:Frame` becomes a frame without pixels, whose
 * #GstCclMeta has its objects: `cclzones` counts them, `ccljson` writes them, and nothing has to be
 * decoded.
 *
 * Each buffer has a document. Its `tt:Event`s and what else it has are left out; a document without
 * a `tt:Frame` gives no frame.
 *
 * ## Frames
 *
 * Their caps are `video/x-raw(meta:GstCclMeta)`, of #cclonvifread:width by #cclonvifread:height
 * pixels: elements that need pixels do not take them. The first one has the time of its document,
 * others are as much later as their `UtcTime` says, which all have as #GstReferenceTimestampMeta
 * (`timestamp/x-unix`).
 *
 * ## Objects
 *
 * * An `ObjectId` is the track; 0 becomes 4294967295. Put `ccltrack` behind the element if the
 * camera gives none.
 * * `tt:BoundingBox` is the box, after the `tt:Transformation`s of frame and object, limited to the
 *   frame; objects without one, or outside, are left out. `tt:CenterOfGravity` is the centroid.
 * * `tt:Type` of `tt:Class`, or the likeliest `tt:ClassCandidate`, is the class, with its
 *   `Likelihood` as confidence. ONVIF's names become those that detectors use: a `Human` a
 * `person`, a `Vehicle` whose `tt:VehicleInfo` says `Car` a `car`.
 *
 * ## Errors
 *
 * Documents have at most 1 MiB, 64 frames, 4096 objects and 64 levels. Others, and those that are
 * not well-formed, are dropped, which #cclonvifread:refused counts: the first posts a warning, ten
 * in a row an error.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m rtspsrc location=rtsp://CAMERA/stream ! application/x-rtp,media=application !
 * rtponvifmetadatadepay ! cclonvifread ! cclzones tripwires="gate: 0.3,0.5 0.7,0.5" ! fakesink
 * ]|
 * Prints who crosses the gate, as the camera sees it. `rtponvifmetadatadepay` is in GStreamer's
 * plugin `rsonvif` (gst-plugins-rs).
 *
 * Since: 0.3
 */

#include "gstcclonvifread.h"

#include <gst/base/gstbasetransform.h>
#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclregister.h>
#include <gst/ccl/gstccl.h>

#include "gstcclonvifparser.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_onvif_read_debug);
#define GST_CAT_DEFAULT gst_ccl_onvif_read_debug

#define MOST_REFUSED 10 /* in a row */
#define MOST_PIXELS 16384

#define GST_TYPE_CCL_ONVIF_READ (gst_ccl_onvif_read_get_type ())
G_DECLARE_FINAL_TYPE (GstCclOnvifRead, gst_ccl_onvif_read, GST, CCL_ONVIF_READ, GstBaseTransform)

struct _GstCclOnvifRead
{
  GstBaseTransform parent;

  /* Protected by the object lock. */
  guint width, height;
  guint64 refused;

  /* Streaming thread. */
  guint frame_width, frame_height; /* in caps */
  GstCclClasses *classes;
  GQueue frames;   /* GstBuffer: of the last document */
  guint n_refused; /* in a row */
  GstCaps *utc;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-onvif-metadata"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(meta:GstCclMeta)"));

#define gst_ccl_onvif_read_parent_class parent_class
G_DEFINE_TYPE (GstCclOnvifRead, gst_ccl_onvif_read, GST_TYPE_BASE_TRANSFORM)
GST_CCL_REGISTER_DEFINE (cclonvifread, GST_TYPE_CCL_ONVIF_READ)

static GstCaps *
gst_ccl_onvif_read_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                   GstCaps *caps, GstCaps *filter)
{
  GstCclOnvifRead *self = GST_CCL_ONVIF_READ (trans);
  GstCaps *result, *filtered;

  if (direction == GST_PAD_SRC) {
    result = gst_static_pad_template_get_caps (&sink_template);
  } else {
    result = gst_caps_make_writable (gst_static_pad_template_get_caps (&src_template));
    GST_OBJECT_LOCK (self);
    /* The format has no meaning, but caps of video have one. */
    gst_caps_set_simple (result, "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT,
                         (gint) self->width, "height", G_TYPE_INT, (gint) self->height, "framerate",
                         GST_TYPE_FRACTION, 0, 1, NULL);
    GST_OBJECT_UNLOCK (self);
  }
  if (!filter)
    return result;
  filtered = gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (result);

  return filtered;
}

static gboolean
gst_ccl_onvif_read_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclOnvifRead *self = GST_CCL_ONVIF_READ (trans);
  const GstStructure *structure = gst_caps_get_structure (outcaps, 0);
  gint width, height;

  if (!gst_structure_get_int (structure, "width", &width) ||
      !gst_structure_get_int (structure, "height", &height))
    return FALSE;
  self->frame_width = (guint) width;
  self->frame_height = (guint) height;

  return TRUE;
}

static void
gst_ccl_onvif_read_clear_frames (GstCclOnvifRead *self)
{
  GstBuffer *buffer;

  while ((buffer = g_queue_pop_head (&self->frames)))
    gst_buffer_unref (buffer);
}

static gboolean
gst_ccl_onvif_read_start (GstBaseTransform *trans)
{
  GstCclOnvifRead *self = GST_CCL_ONVIF_READ (trans);

  GST_OBJECT_LOCK (self);
  self->refused = 0;
  GST_OBJECT_UNLOCK (self);
  self->n_refused = 0;
  self->classes = gst_ccl_classes_new ();

  return TRUE;
}

static gboolean
gst_ccl_onvif_read_stop (GstBaseTransform *trans)
{
  GstCclOnvifRead *self = GST_CCL_ONVIF_READ (trans);

  gst_ccl_onvif_read_clear_frames (self);
  g_clear_pointer (&self->classes, gst_ccl_classes_free);

  return TRUE;
}

static gboolean
gst_ccl_onvif_read_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_ccl_onvif_read_clear_frames (GST_CCL_ONVIF_READ (trans));

  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* Frees @error. */
static GstFlowReturn
gst_ccl_onvif_read_refuse (GstCclOnvifRead *self, GError *error)
{
  const gboolean fatal = ++self->n_refused == MOST_REFUSED;

  GST_OBJECT_LOCK (self);
  self->refused++;
  GST_OBJECT_UNLOCK (self);
  if (fatal)
    GST_ELEMENT_ERROR (
        self, STREAM, DECODE,
        ("%d documents of ONVIF metadata in a row are invalid: %s.", MOST_REFUSED, error->message),
        (NULL));
  else if (self->n_refused == 1)
    GST_ELEMENT_WARNING (
        self, STREAM, DECODE,
        ("A document of ONVIF metadata is invalid, and left out: %s.", error->message), (NULL));
  g_error_free (error);

  return fatal ? GST_FLOW_ERROR : GST_FLOW_OK;
}

/* Makes the buffer of @frame. @first: the first one of its document @input. */
static GstBuffer *
gst_ccl_onvif_read_make_buffer (GstCclOnvifRead *self, GstBuffer *input,
                                const GstCclOnvifFrame *frame, const GstCclOnvifFrame *first)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclMeta *meta;

  GST_BUFFER_PTS (buffer) = GST_BUFFER_PTS (input);
  if (frame == first)
    GST_BUFFER_DURATION (buffer) = GST_BUFFER_DURATION (input);
  else if (GST_CLOCK_TIME_IS_VALID (GST_BUFFER_PTS (buffer)) &&
           GST_CLOCK_TIME_IS_VALID (frame->utc) && GST_CLOCK_TIME_IS_VALID (first->utc) &&
           frame->utc > first->utc)
    GST_BUFFER_PTS (buffer) += frame->utc - first->utc;
  if (GST_CLOCK_TIME_IS_VALID (frame->utc))
    gst_buffer_add_reference_timestamp_meta (buffer, self->utc, frame->utc, GST_CLOCK_TIME_NONE);
  meta = gst_buffer_add_ccl_meta (
      buffer, self->frame_width, self->frame_height, frame->components->len,
      (const GstCclComponent *) frame->components->data, frame->components->len);
  if (gst_ccl_classes_get_names (self->classes))
    gst_ccl_meta_set_class_names (meta, gst_ccl_classes_get_names (self->classes));

  return buffer;
}

/* Queues the frames of a document. */
static GstFlowReturn
gst_ccl_onvif_read_document (GstCclOnvifRead *self, GstBuffer *document)
{
  GError *error = NULL;
  GArray *frames;
  GstMapInfo map;
  guint i;

  if (!gst_buffer_map (document, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("Could not map a document."), (NULL));
    return GST_FLOW_ERROR;
  }
  frames = gst_ccl_onvif_parse ((const gchar *) map.data, map.size, self->frame_width,
                                self->frame_height, self->classes, &error);
  gst_buffer_unmap (document, &map);
  if (!frames)
    return gst_ccl_onvif_read_refuse (self, error);

  self->n_refused = 0;
  for (i = 0; i < frames->len; i++) {
    const GstCclOnvifFrame *all = (const GstCclOnvifFrame *) frames->data;

    g_queue_push_tail (&self->frames,
                       gst_ccl_onvif_read_make_buffer (self, document, &all[i], &all[0]));
  }
  g_array_unref (frames);

  return GST_FLOW_OK;
}

static GstFlowReturn
gst_ccl_onvif_read_submit (GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstFlowReturn ret =
      GST_BASE_TRANSFORM_CLASS (parent_class)->submit_input_buffer (trans, is_discont, input);
  GstBuffer *document = g_steal_pointer (&trans->queued_buf);

  if (ret == GST_FLOW_OK && document)
    ret = gst_ccl_onvif_read_document (GST_CCL_ONVIF_READ (trans), document);
  gst_clear_buffer (&document);

  return ret;
}

static GstFlowReturn
gst_ccl_onvif_read_generate (GstBaseTransform *trans, GstBuffer **output)
{
  *output = g_queue_pop_head (&GST_CCL_ONVIF_READ (trans)->frames);

  return GST_FLOW_OK;
}

static void
gst_ccl_onvif_read_constructed (GObject *object)
{
  gst_ccl_properties_init (object);

  G_OBJECT_CLASS (parent_class)->constructed (object);
}

static void
gst_ccl_onvif_read_finalize (GObject *object)
{
  gst_caps_unref (GST_CCL_ONVIF_READ (object)->utc);
  gst_ccl_properties_clear (object);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_onvif_read_install_properties (GObjectClass *gobject_class)
{
  /**
   * cclonvifread:width:
   *
   * Width of frames in pixels. Coordinates of ONVIF have none: with the size of the video that the
   * metadata belongs to, `cclmerge` attaches it to that.
   *
   * Since: 0.3
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclOnvifRead, width),
                              g_param_spec_uint ("width", "Width", "Width of frames in pixels.", 1,
                                                 MOST_PIXELS, 1920, GST_CCL_READY));

  /**
   * cclonvifread:height:
   *
   * Height of frames in pixels.
   *
   * Since: 0.3
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclOnvifRead, height),
                              g_param_spec_uint ("height", "Height", "Height of frames in pixels.",
                                                 1, MOST_PIXELS, 1080, GST_CCL_READY));

  /**
   * cclonvifread:refused:
   *
   * How many documents were left out because they are invalid.
   *
   * Since: 0.3
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclOnvifRead, refused),
                              g_param_spec_uint64 ("refused", "Refused",
                                                   "How many documents were invalid.", 0,
                                                   G_MAXUINT64, 0, GST_CCL_READ_ONLY));
}

static void
gst_ccl_onvif_read_class_init (GstCclOnvifReadClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gobject_class->constructed = gst_ccl_onvif_read_constructed;
  gobject_class->finalize = gst_ccl_onvif_read_finalize;
  gst_ccl_onvif_read_install_properties (gobject_class);

  gst_element_class_set_static_metadata (
      element_class, "ONVIF metadata as components", "Converter/Metadata",
      "Reads a camera's own ONVIF metadata as components, without pictures", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_onvif_read_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_onvif_read_set_caps);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_onvif_read_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_onvif_read_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_onvif_read_sink_event);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR (gst_ccl_onvif_read_submit);
  trans_class->generate_output = GST_DEBUG_FUNCPTR (gst_ccl_onvif_read_generate);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_onvif_read_debug, "cclonvifread", 0, "reading ONVIF metadata");
}

static void
gst_ccl_onvif_read_init (GstCclOnvifRead *self)
{
  g_queue_init (&self->frames);
  self->utc = gst_caps_new_empty_simple ("timestamp/x-unix");
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), FALSE);
}
