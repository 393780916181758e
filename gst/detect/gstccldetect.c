/* cudaccl - finds objects by a neural network
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccldetect
 * @title: ccldetect
 * @short_description: finds objects by a neural network, where something moves
 *
 * Looks at frames with a neural network in the ONNX format, and attaches what it finds. The network
 * runs on ONNX Runtime, which is found at run time, on the CPU or on a GPU. See docs/detection.md
 * for how to get it and a model, and what it costs.
 *
 * With #ccldetect:region `moving`, it looks only at what `cclmotion` in front of it found, and only
 * if the network does not know it well yet: it is new, has merged with another, has changed its
 * size, or its last look is older than #ccldetect:refresh. Parts of the frame are packed into one
 * picture, scaled so that small things become large enough. Where nothing moves, the network rests.
 *
 * Frames never wait for the network: it runs in a thread of its own, and what it finds is attached
 * to a later frame, with its age. Elements with the same model and settings share the network; it
 * takes their pictures together if the model's batch is open. With #ccldetect:wait, each frame gets
 * its own results instead, as for recordings.
 *
 * Each object is a #GstVideoRegionOfInterestMeta: its type is the name of the class, and its
 * parameters `ccldetect` have the fields
 *
 * - #gint64 `frame-age`: how much older the frame is that it was found in, in nanoseconds
 * - #gdouble `confidence`: how certain it is, up to 1
 * - #guint `class-id`: its class, from 1 on, as in #GstCclComponent
 * - of segmentation networks #GstValueArray `outline`: #gdouble x and y of its corners in turn,
 *   clockwise, as shares of the box, #gdouble `fill`: the share of the box that is the object, and
 *   #gdouble `centroid-x` and `centroid-y`, likewise
 *
 * Each part of the frame that was looked at is one of the type `ccldetect-look`, with `frame-age`
 * alone: where no object is in it, there was none. #GstCclMeta on the frame gets the names of
 * the classes. `ccltrack` behind this element takes both, see there.
 *
 * The kind of network is recognised by its outputs, and its input is prepared accordingly:
 *
 * - YOLOX: blue, green, red from 0 to 255, at the top left
 * - YOLOv5, v7 (rows), v8 to v26 (columns), v10 and v26 end-to-end: red, green, blue from 0 to 1,
 *   in the center
 * - SSD and others with boxes, scores and classes: the same, stretched
 * - D-FINE, DEIM, DEIMv2, RT-DETR and RT-DETRv2, with or without an input for the size of the
 *   picture, and others with boxes and logits or probabilities of queries: the same, stretched;
 *   RF-DETR: with ImageNet's mean and deviation
 *
 * Models that need something else have a file `.modelinfo` beside them, as those for GStreamer's
 * `onnxinference`, or properties say it.
 *
 * Frames may be in any memory that `cudaccl` takes; those on a GPU are cropped and scaled there,
 * with the same result.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cclmotion ! ccldetect
 * model=yolox_nano.onnx region=moving ! ccltrack ! ccloverlay ! videoconvert ! autovideosink
 * ]|
 * Tracks the moving objects of a recording, and tells people from cars.
 * |[
 * gst-launch-1.0 filesrc location=street.mp4 ! decodebin ! videoconvert ! ccldetect
 * model=yolox_nano.onnx classes=person wait=true ! ccltrack ! ccljson ! filesink
 * location=people.jsonl
 * ]|
 * Looks at every frame of a recording.
 *
 * Since: 0.1
 */

#include "gstccldetect.h"

#include <math.h>
#include <string.h>
#include "gst/analysis/memory/gstcclcropper.h"
#include "gst/analysis/memory/gstcclmappers.h"
#include <gst/base/gstcclregister.h>
#include <gst/base/gstccltime.h>
#include <gst/base/gstcclutils.h>
#include <gst/ccl/gstccl.h>
#include <gst/found/gstccldetections.h>
#include <gst/found/gstcclroi.h>
#include "gstccllabels.h"
#include "gstccldetectsettings.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_detect_debug);
#define GST_CAT_DEFAULT gst_ccl_detect_debug

#define SETTINGS_OFFSET G_STRUCT_OFFSET (GstCclDetect, settings)

typedef struct
{
  guint64 frames, looks, whole, busy, objects, failed;
  guint64 crops, batches;            /* sums over looks: crops, and pictures in their batches */
  GstClockTime crop_time, look_time; /* sums over looks */
} Stats;

struct _GstCclDetect
{
  GstBaseTransform parent;

  /* Protected by the object lock. */
  GstCclDetectSettings settings;
  Stats stats;
  GstCclNetworkInfo info; /* all 0 without a network */

  GstCclMapper **mappers;

  /* Set at start; streaming thread. */
  GstCclNetwork *network; /* NULL after an error with on-error=continue */
  GstCclClassNames *names;
  GArray *quarks;  /* GQuark: type of regions of interest, by class */
  GArray *classes; /* gboolean: wanted classes; NULL: all */
  GstCclLooks *looks;
  GstCclTime time;
  gboolean failing;      /* the last look failed */
  gboolean warned_still; /* warned that frames have no components */

  /* Set with the caps; streaming thread. */
  GstVideoInfo video;
  GstCclMapper *mapper; /* NULL without caps or after an error */
  GstCclDevice device;
  CclCropper *cropper; /* NULL before the first look */

  /* The pending look, or the next one; streaming thread. */
  GstCclRequest *request;
  gboolean pending;
  gboolean stale; /* the pending look belongs to an earlier stream */
  GstCclView view;
  gdouble crops_iou;         /* see gst_ccl_view_map() */
  GstClockTime looked;       /* time of the last look, or GST_CLOCK_TIME_NONE */
  GstClockTime looked_frame; /* the same, for whole frames */
};

G_DECLARE_FINAL_TYPE (GstCclDetect, gst_ccl_detect, GST, CCL_DETECT, GstBaseTransform)
#define gst_ccl_detect_parent_class parent_class
G_DEFINE_TYPE (GstCclDetect, gst_ccl_detect, GST_TYPE_BASE_TRANSFORM)
GST_CCL_REGISTER_DEFINE (ccldetect, gst_ccl_detect_get_type ())

/* Posts and frees @error: as an error or, with on-error=continue, as a warning. Returns whether
 * to go on. */
static gboolean
gst_ccl_detect_fail (GstCclDetect *self, GError *error)
{
  gboolean go_on;

  GST_OBJECT_LOCK (self);
  go_on = self->settings.on_error == GST_CCL_DETECT_CONTINUE;
  GST_OBJECT_UNLOCK (self);

  gst_element_message_full (GST_ELEMENT (self), go_on ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR,
                            error->domain, error->code, g_strdup (error->message), NULL, __FILE__,
                            GST_FUNCTION, __LINE__);
  g_error_free (error);

  return go_on;
}

/* Parses one number, or three separated by commas. NULL and empty text change nothing. */
static gboolean
parse_numbers (const gchar *name, const gchar *text, gdouble values[3], GError **error)
{
  gchar **parts;
  guint i, n;

  if (!text || !*text)
    return TRUE;

  parts = g_strsplit (text, ",", 4);
  n = g_strv_length (parts);
  for (i = 0; i < 3 && (n == 1 || n == 3); i++) {
    const gchar *part = g_strstrip (parts[n == 1 ? 0 : i]);
    gchar *end;

    values[i] = g_ascii_strtod (part, &end);
    if (end == part || *end || !isfinite (values[i]))
      break;
  }
  g_strfreev (parts);
  if (i == 3)
    return TRUE;

  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
               "The property %s must be one number, or three separated by commas.", name);

  return FALSE;
}

static gboolean
gst_ccl_detect_load_network (GstCclDetect *self, const GstCclDetectSettings *settings,
                             GError **error)
{
  GstCclNetworkConfig config = {
    .model = settings->model,
    .library = settings->library && *settings->library ? settings->library : NULL,
    .provider = settings->provider,
    .device = settings->device,
    .threads = settings->threads,
    .output = settings->output,
    .width = settings->input_width,
    .height = settings->input_height,
    .color_order = settings->color_order,
  };

  if (!config.model || !*config.model) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "No model is set: set the property model to an ONNX file.");
    return FALSE;
  }
  if (!parse_numbers ("input-mean", settings->input_mean, config.mean, error) ||
      !parse_numbers ("input-scale", settings->input_scale, config.scale, error))
    return FALSE;
  if (settings->input_scale && *settings->input_scale &&
      !(config.scale[0] > 0 && config.scale[1] > 0 && config.scale[2] > 0)) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 "The property input-scale must be above 0; without it, it depends on the model.");
    return FALSE;
  }

  config.has_mean = settings->input_mean && *settings->input_mean;
  self->network = gst_ccl_network_get (&config, error);

  return self->network != NULL;
}

static gboolean
gst_ccl_detect_load_classes (GstCclDetect *self, const GstCclDetectSettings *settings,
                             GError **error)
{
  const GstCclNetworkInfo *info = gst_ccl_network_get_info (self->network);
  gchar **names =
      gst_ccl_labels_load (settings->labels && *settings->labels ? settings->labels : NULL,
                           info->names, info->format.n_classes, error);
  guint i;

  if (!names)
    return FALSE;

  self->quarks = g_array_new (FALSE, FALSE, sizeof (GQuark));
  for (i = 0; names[i]; i++) {
    GQuark quark = g_quark_from_string (names[i]);

    g_array_append_val (self->quarks, quark);
  }
  if (names[0])
    self->names = gst_ccl_class_names_new ((const gchar *const *) names);
  if (settings->classes && *settings->classes)
    self->classes = gst_ccl_classes_parse (settings->classes, names, error);
  g_strfreev (names);

  return self->classes || !settings->classes || !*settings->classes;
}

static void
gst_ccl_detect_unload (GstCclDetect *self)
{
  if (self->pending)
    gst_ccl_network_cancel (self->network, self->request);
  else if (self->request)
    gst_ccl_request_unref (self->request);
  self->request = NULL;
  self->pending = FALSE;
  g_clear_pointer (&self->network, gst_ccl_network_unref);
  g_clear_pointer (&self->names, gst_ccl_class_names_unref);
  g_clear_pointer (&self->quarks, g_array_unref);
  g_clear_pointer (&self->classes, g_array_unref);
}

static gboolean
gst_ccl_detect_start (GstBaseTransform *trans)
{
  GstCclDetect *self = (GstCclDetect *) trans;
  GError *error = NULL;
  GstCclDetectSettings *settings;
  gboolean loaded;

  GST_OBJECT_LOCK (self);
  settings = gst_ccl_properties_copy (self, SETTINGS_OFFSET, sizeof (*settings));
  self->stats = (Stats){ 0 };
  self->info = (GstCclNetworkInfo){ 0 };
  GST_OBJECT_UNLOCK (self);

  gst_ccl_time_init (&self->time);
  gst_ccl_looks_reset (self->looks);
  self->looked = self->looked_frame = GST_CLOCK_TIME_NONE;
  self->failing = self->warned_still = FALSE;

  loaded = gst_ccl_detect_load_network (self, settings, &error) &&
           gst_ccl_detect_load_classes (self, settings, &error);
  gst_ccl_properties_free_copy (self, SETTINGS_OFFSET, sizeof (*settings), settings);
  if (!loaded) {
    gst_ccl_detect_unload (self);
    return gst_ccl_detect_fail (self, error);
  }

  self->request = gst_ccl_request_new (self->network);
  GST_OBJECT_LOCK (self);
  self->info = *gst_ccl_network_get_info (self->network);
  GST_INFO_OBJECT (self, "%s network of %ux%u pixels, %u classes, up to %u pictures at once",
                   gst_ccl_output_get_name (self->info.format.output), self->info.width,
                   self->info.height, self->info.format.n_classes, self->info.batch);
  GST_OBJECT_UNLOCK (self);

  return TRUE;
}

static void
gst_ccl_detect_unset_caps (GstCclDetect *self)
{
  g_clear_pointer (&self->cropper, ccl_cropper_free);
  if (self->mapper && self->mapper->klass->close)
    self->mapper->klass->close (self->mapper);
  self->mapper = NULL;
}

static gboolean
gst_ccl_detect_stop (GstBaseTransform *trans)
{
  GstCclDetect *self = (GstCclDetect *) trans;

  gst_ccl_detect_unload (self);
  gst_ccl_detect_unset_caps (self);
  gst_ccl_mappers_close (self->mappers);

  return TRUE;
}

/* Forgets earlier frames. */
static void
gst_ccl_detect_restart (GstCclDetect *self)
{
  gst_ccl_looks_reset (self->looks);
  self->stale = self->pending;
  self->looked = self->looked_frame = GST_CLOCK_TIME_NONE;
}

static gboolean
gst_ccl_detect_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclDetect *self = (GstCclDetect *) trans;
  GError *error = NULL;

  gst_ccl_detect_restart (self);
  gst_ccl_detect_unset_caps (self);
  gst_ccl_time_set_caps (&self->time, incaps);
  if (!gst_ccl_caps_get_video_info (incaps, &self->video, &error))
    return gst_ccl_detect_fail (self, error);

  self->mapper = gst_ccl_mappers_find (self->mappers, incaps);
  GST_OBJECT_LOCK (self);
  self->device = (GstCclDevice){ self->settings.device, NULL };
  GST_OBJECT_UNLOCK (self);
  if (self->mapper->klass->open &&
      !self->mapper->klass->open (self->mapper, &self->video, &self->device, &error)) {
    gst_ccl_detect_unset_caps (self);
    return gst_ccl_detect_fail (self, error);
  }

  return TRUE;
}

static gboolean
gst_ccl_detect_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclDetect *self = (GstCclDetect *) trans;

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP ||
      GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    GST_DEBUG_OBJECT (self, "%s: start anew", GST_EVENT_TYPE_NAME (event));
    gst_ccl_detect_restart (self);
    gst_ccl_time_restart (&self->time);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_GAP) {
    gst_ccl_time_skip (&self->time, &trans->segment, event);
  }

  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

static gboolean
gst_ccl_detect_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCclDetect *self = (GstCclDetect *) trans;
  gint device;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT) {
    GST_OBJECT_LOCK (self);
    device = self->settings.device;
    GST_OBJECT_UNLOCK (self);
    if (gst_ccl_mappers_query_context (self->mappers, query, device, TRUE))
      return TRUE;
  }
  if (direction == GST_PAD_SRC && gst_ccl_query_is_finding (query))
    return TRUE;

  return GST_BASE_TRANSFORM_CLASS (parent_class)->query (trans, direction, query);
}

static void
gst_ccl_detect_set_context (GstElement *element, GstContext *context)
{
  GstCclDetect *self = (GstCclDetect *) element;
  gint device;

  GST_OBJECT_LOCK (self);
  device = self->settings.device;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_mappers_set_context (self->mappers, context, device);

  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

static GQuark
gst_ccl_detect_get_quark (GstCclDetect *self, guint class_id)
{
  gchar *name;
  GQuark quark;

  if (class_id < self->quarks->len)
    return g_array_index (self->quarks, GQuark, class_id);

  name = g_strdup_printf ("class-%u", class_id + 1);
  quark = g_quark_from_string (name);
  g_free (name);

  return quark;
}

/* Converts a box of the network, in pixels of the frame, and its outline, which may be NULL. */
static GstCclComponent
convert_box (const GstCclBox *box, const GstCclOutline *outline)
{
  GstCclComponent component = { .x = (guint) (box->x + 0.5f), .y = (guint) (box->y + 0.5f) };

  component.width = MAX ((guint) (box->x + box->width + 0.5f) - component.x, 1);
  component.height = MAX ((guint) (box->y + box->height + 0.5f) - component.y, 1);
  component.class_id = box->class_id + 1;
  component.confidence = box->confidence;
  if (outline) {
    component.area = (guint64) (outline->area + 0.5);
    component.centroid_x = outline->centroid_x - 0.5;
    component.centroid_y = outline->centroid_y - 0.5;
  }

  return component;
}

/* Attaches the boxes of the finished look, in pixels of the frame. */
static void
gst_ccl_detect_attach (GstCclDetect *self, GstBuffer *buffer)
{
  const gint64 age = (gint64) (self->time.time - self->looked);
  const GArray *boxes = self->request->boxes;
  const gint first = gst_ccl_rois_find_free_ids (buffer, self->view.n + boxes->len, FALSE);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint i;

  for (i = 0; i < self->view.n; i++) {
    const CclCrop *crop = &self->view.crops[i];
    const GstCclComponent part = {
      .x = crop->x, .y = crop->y, .width = crop->width, .height = crop->height
    };

    gst_ccl_detections_add_part (buffer, first + (gint) i, &part, age);
  }
  for (i = 0; i < boxes->len; i++) {
    const GstCclBox *box = &g_array_index (boxes, GstCclBox, i);
    const GstCclOutline *outline =
        box->outline > 0 ? g_ptr_array_index (self->request->outlines, box->outline - 1) : NULL;
    const GstCclComponent component = convert_box (box, outline);

    gst_ccl_detections_add_box (buffer, gst_ccl_detect_get_quark (self, box->class_id),
                                first + (gint) (self->view.n + i), &component,
                                outline ? outline->points : NULL, age);
  }
  /* Components that have classes keep their names. */
  if (meta && self->names && !gst_ccl_meta_get_class_names (meta))
    gst_ccl_meta_set_class_names (meta, self->names);
}

/* Counts a failed look, and posts @error unless the last look failed, too. Frees @error. */
static GstFlowReturn
gst_ccl_detect_look_failed (GstCclDetect *self, GError *error)
{
  gboolean go_on;

  GST_OBJECT_LOCK (self);
  self->stats.failed++;
  go_on = self->settings.on_error == GST_CCL_DETECT_CONTINUE;
  GST_OBJECT_UNLOCK (self);

  if (self->failing && go_on)
    g_error_free (error);
  else
    gst_ccl_detect_fail (self, error);
  self->failing = TRUE;

  return go_on ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* Takes the result of the pending look if it is done; with @wait, waits for it. */
static GstFlowReturn
gst_ccl_detect_collect (GstCclDetect *self, GstBuffer *buffer, gboolean wait)
{
  GstCclRequest *request = self->request;
  const guint width = (guint) GST_VIDEO_INFO_WIDTH (&self->video);
  const guint height = (guint) GST_VIDEO_INFO_HEIGHT (&self->video);

  if (!self->pending)
    return GST_FLOW_OK;
  if (wait)
    gst_ccl_network_wait (self->network, request);
  else if (!gst_ccl_network_is_done (self->network, request))
    return GST_FLOW_OK;
  self->pending = FALSE;
  if (self->stale) {
    self->stale = FALSE;
    return GST_FLOW_OK;
  }
  if (request->error)
    return gst_ccl_detect_look_failed (self, g_steal_pointer (&request->error));

  self->failing = FALSE;
  gst_ccl_view_map (&self->view, width, height, self->crops_iou, request->boxes, request->outlines);
  gst_ccl_detect_attach (self, buffer);
  GST_OBJECT_LOCK (self);
  self->stats.objects += request->boxes->len;
  self->stats.look_time += request->time;
  self->stats.batches += request->batch;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "found %u objects in %u crops, %" GST_TIME_FORMAT " later",
                  request->boxes->len, self->view.n,
                  GST_TIME_ARGS (self->time.time - self->looked));

  return GST_FLOW_OK;
}

static gboolean
has_passed (GstClockTime now, GstClockTime since, GstClockTime interval)
{
  return !GST_CLOCK_TIME_IS_VALID (since) || now - since >= interval;
}

/* Chooses where to look in this frame. Returns FALSE for nowhere. */
static gboolean
gst_ccl_detect_choose (GstCclDetect *self, GstBuffer *buffer)
{
  const GstCclNetworkInfo *info = gst_ccl_network_get_info (self->network);
  const guint width = (guint) GST_VIDEO_INFO_WIDTH (&self->video);
  const guint height = (guint) GST_VIDEO_INFO_HEIGHT (&self->video);
  const GstClockTime now = self->time.time;
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  gboolean wanted = FALSE, whole, allowed, fits;
  GstClockTime refresh, interval;
  GstCclDetectRegion region;
  GstCclLetterbox letterbox;
  gdouble budget;

  GST_OBJECT_LOCK (self);
  region = self->settings.region;
  refresh = self->settings.refresh;
  interval = self->settings.interval;
  budget = self->settings.budget;
  letterbox = self->settings.letterbox;
  GST_OBJECT_UNLOCK (self);
  if (letterbox == GST_CCL_LETTERBOX_AUTO)
    letterbox =
        info->format.output == GST_CCL_OUTPUT_YOLOX ? GST_CCL_LETTERBOX_TOP_LEFT
        : info->format.output == GST_CCL_OUTPUT_SSD || info->format.output == GST_CCL_OUTPUT_DETR
            ? GST_CCL_LETTERBOX_STRETCH
            : GST_CCL_LETTERBOX_CENTER;

  whole = (region == GST_CCL_DETECT_FRAME || interval > 0) &&
          has_passed (now, self->looked_frame, interval);
  fits = meta && meta->width == width && meta->height == height;
  if (region == GST_CCL_DETECT_MOVING && fits) {
    wanted = gst_ccl_looks_update (self->looks, now, refresh, meta->components, meta->n_components,
                                   width, height);
  } else if (region == GST_CCL_DETECT_MOVING && !self->warned_still) {
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
                         ("Frames have no components of their size, so that nothing seems to "
                          "move. Put cclmotion before this element, or set region=frame."),
                         (NULL));
    self->warned_still = TRUE;
  }
  if (!whole && !wanted)
    return FALSE;

  allowed = !self->pending &&
            (budget <= 0 || has_passed (now, self->looked, (GstClockTime) (GST_SECOND / budget)));
  if (!allowed) {
    GST_OBJECT_LOCK (self);
    self->stats.busy++;
    GST_OBJECT_UNLOCK (self);
    return FALSE;
  }

  if (whole) {
    if (region == GST_CCL_DETECT_MOVING && fits)
      gst_ccl_looks_choose_frame (self->looks, info->width, info->height, letterbox, &self->view);
    else
      gst_ccl_view_set_frame (&self->view, width, height, info->width, info->height, letterbox);
  } else {
    gst_ccl_looks_choose (self->looks, info->width, info->height, letterbox, &self->view);
  }

  return TRUE;
}

static CclColors
get_colors (const GstVideoInfo *info)
{
  const gboolean full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;

  if (info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709)
    return full ? CCL_COLORS_BT709_FULL : CCL_COLORS_BT709;

  return full ? CCL_COLORS_BT601_FULL : CCL_COLORS_BT601;
}

/* Draws the picture of the view. */
static gboolean
gst_ccl_detect_draw (GstCclDetect *self, GstBuffer *buffer, GError **error)
{
  const GstCclNetworkInfo *info = gst_ccl_network_get_info (self->network);
  const GstCclMapperClass *klass = self->mapper->klass;
  GstCclFrame frame = { .device = self->device };
  const uint8_t *picture = NULL;
  gboolean drawn;

  if (!klass->map (self->mapper, &frame, &self->video, buffer,
                   GST_VIDEO_INFO_N_PLANES (&self->video), error))
    return FALSE;
  drawn =
      gst_ccl_cropper_ensure (&self->cropper, &self->device, &frame.device, info->width,
                              info->height) &&
      ccl_cropper_draw (self->cropper, &frame.image, (uint32_t) GST_VIDEO_INFO_WIDTH (&self->video),
                        (uint32_t) GST_VIDEO_INFO_HEIGHT (&self->video), get_colors (&self->video),
                        self->view.crops, self->view.n, &picture) == CCL_OK;
  klass->unmap (self->mapper, &frame);
  if (!drawn) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                 "Could not crop the frame: %s.", ccl_last_error ());
    g_clear_pointer (&self->cropper, ccl_cropper_free);
    return FALSE;
  }
  memcpy (self->request->picture, picture, (gsize) 3 * info->width * info->height);

  return TRUE;
}

/* Draws and submits the picture of the view. */
static GstFlowReturn
gst_ccl_detect_look (GstCclDetect *self, GstBuffer *buffer)
{
  const CclCrop *crop = &self->view.crops[0];
  const gboolean whole = self->view.n == 1 && crop->width == (guint) self->video.width &&
                         crop->height == (guint) self->video.height;
  GstClockTime start = gst_util_get_timestamp ();
  GError *error = NULL;

  self->looked = self->time.time;
  if (whole)
    self->looked_frame = self->looked;
  if (!gst_ccl_detect_draw (self, buffer, &error))
    return gst_ccl_detect_look_failed (self, error);

  GST_OBJECT_LOCK (self);
  self->request->threshold = self->settings.threshold;
  self->request->iou = self->crops_iou = self->settings.iou_threshold;
  if (self->settings.iou_threshold < 0) {
    self->request->iou = self->info.format.iou;
    self->crops_iou = MIN (self->info.format.iou, GST_CCL_SAME_IOU);
  }
  self->request->classes = self->classes;
  self->stats.looks++;
  self->stats.whole += whole;
  self->stats.crops += self->view.n;
  self->stats.crop_time += gst_util_get_timestamp () - start;
  GST_OBJECT_UNLOCK (self);

  self->pending = TRUE;
  gst_ccl_network_submit (self->network, self->request);

  return GST_FLOW_OK;
}

static GstFlowReturn
gst_ccl_detect_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclDetect *self = (GstCclDetect *) trans;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean wait;

  gst_ccl_time_advance (&self->time, GST_ELEMENT (self), &trans->segment, buffer);
  if (gst_ccl_buffer_is_gap (buffer) || !self->network || !self->mapper)
    return GST_FLOW_OK;

  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  wait = self->settings.wait;
  GST_OBJECT_UNLOCK (self);

  flow = gst_ccl_detect_collect (self, buffer, wait);
  if (flow == GST_FLOW_OK && gst_ccl_detect_choose (self, buffer))
    flow = gst_ccl_detect_look (self, buffer);
  if (flow == GST_FLOW_OK && wait)
    flow = gst_ccl_detect_collect (self, buffer, TRUE);

  return flow;
}

static void
gst_ccl_detect_get_stats (gpointer object, GValue *value)
{
  GstCclDetect *self = object;
  const Stats *stats = &self->stats;
  const GstCclNetworkInfo *info = &self->info;
  GstStructure *structure;
  guint64 looks;
  gchar *input;

  GST_OBJECT_LOCK (self);
  looks = MAX (stats->looks, 1);
  input = g_strdup_printf ("%ux%u", info->width, info->height);
  structure = gst_structure_new (
      "application/x-ccldetect-stats", "frames", G_TYPE_UINT64, stats->frames, "inferences",
      G_TYPE_UINT64, stats->looks, "whole-frames", G_TYPE_UINT64, stats->whole, "crops",
      G_TYPE_UINT64, stats->crops, "busy", G_TYPE_UINT64, stats->busy, "objects", G_TYPE_UINT64,
      stats->objects, "failed", G_TYPE_UINT64, stats->failed, "average-crop-time", G_TYPE_UINT64,
      stats->crop_time / looks, "average-inference-time", G_TYPE_UINT64, stats->look_time / looks,
      "average-batch", G_TYPE_DOUBLE, (gdouble) stats->batches / (gdouble) looks, "output",
      G_TYPE_STRING, gst_ccl_output_get_name (info->format.output), "input", G_TYPE_STRING, input,
      "classes", G_TYPE_UINT, info->format.n_classes, "onnxruntime", G_TYPE_STRING, info->version,
      NULL);
  GST_OBJECT_UNLOCK (self);
  g_free (input);

  g_value_take_boxed (value, structure);
}

static void
gst_ccl_detect_finalize (GObject *object)
{
  GstCclDetect *self = (GstCclDetect *) object;

  gst_ccl_mappers_free (self->mappers);
  gst_ccl_looks_free (self->looks);
  gst_ccl_properties_clear (self);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_detect_class_init (GstCclDetectClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCaps *caps = gst_ccl_mappers_get_caps ();

  gobject_class->finalize = gst_ccl_detect_finalize;
  gst_ccl_detect_settings_install (gobject_class, SETTINGS_OFFSET);

  /**
   * ccldetect:stats:
   *
   * Statistics since the last start, a #GstStructure:
   *
   * - #guint64 `frames`
   * - #guint64 `inferences`: pictures that the network looked at
   * - #guint64 `whole-frames`: of these, those of the whole frame
   * - #guint64 `crops`: parts of frames in these pictures
   * - #guint64 `busy`: frames that it did not look at, since it was busy or its budget was used up
   * - #guint64 `objects`: what it found
   * - #guint64 `failed`: pictures that failed
   * - #guint64 `average-crop-time`: to make a picture, in nanoseconds; frames wait for this
   * - #guint64 `average-inference-time`: of the network for a batch, in nanoseconds; they do not
   * wait
   * - #gdouble `average-batch`: pictures in a batch, also of other elements
   * - #gchararray `output`: what kind of network it is, see #ccldetect:output
   * - #gchararray `input`: its size in pixels, such as `416x416`
   * - #guint `classes`: their number, 0 if it is not known
   * - #gchararray `onnxruntime`: the version
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_COMPUTED (gst_ccl_detect_get_stats),
                              g_param_spec_boxed ("stats", "Statistics",
                                                  "Statistics since the last start.",
                                                  GST_TYPE_STRUCTURE, GST_CCL_READ_ONLY));

  gst_element_class_set_static_metadata (element_class, "Object detector", "Filter/Analyzer/Video",
                                         "Finds objects by a neural network, where something moves",
                                         "The cudaccl authors");
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);

  element_class->set_context = GST_DEBUG_FUNCPTR (gst_ccl_detect_set_context);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_detect_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_detect_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_detect_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_detect_sink_event);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_ccl_detect_query);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_propose_downstream);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_prepare_metadata);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_detect_transform_ip);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_detect_debug, "ccldetect", 0, "objects by neural networks");
}

static void
gst_ccl_detect_init (GstCclDetect *self)
{
  gst_ccl_properties_init (self);
  self->mappers = gst_ccl_mappers_new (GST_ELEMENT (self));
  self->looks = gst_ccl_looks_new ();
  gst_video_info_init (&self->video);

  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
}
