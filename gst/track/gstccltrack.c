/* cudaccl - tracks components from frame to frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccltrack
 * @title: ccltrack
 * @short_description: tracks components from frame to frame
 *
 * Tracks objects from frame to frame, and gives each an id that lasts. Only metadata is read and
 * changed; frames may be in any memory.
 *
 * - Objects that touch become one component. They keep their ids meanwhile, and get the right ones
 *   back when they part, by their predicted positions and sizes.
 * - An object that breaks into fragments, such as head and legs, keeps one id.
 * - An object that is not found for up to #ccltrack:max-miss keeps its id.
 * - Where objects meet and part, what they look like decides, too: `cclmotion` in front finds their
 *   colours from the second frame on, as this element asks for them (see
 *   gst_ccl_meta_set_signatures()).
 *
 * Batches of several streams (GstAnalyticsBatchMeta, GStreamer 1.28) pass as they are, with a
 * warning: put the element before they are combined.
 *
 * By default, components become objects: a component that shows several objects is replaced with
 * one for each, with its predicted box and the label of the component; fragments are replaced with
 * one component, with the box around them, all their pixels and the label of the largest. What is
 * not tracked is dropped: noise (see #ccltrack:min-relative-area), objects in their first frames
 * (see #ccltrack:min-persistence), and those beyond #ccltrack:max-tracks. With #ccltrack:objects
 * disabled, all components stay as they are, and one that shows several objects has the id of the
 * oldest.
 *
 * Ids are in #GstCclComponent's field `track`, with `age`, `velocity_x` and `velocity_y`, and in
 * the fields `track`, `age`, `velocity-x` and `velocity-y` of the `cudaccl` parameters of regions
 * of interest, which also have `class`, the name, and `confidence`. `ccljson`, `cclmerge` and
 * elements that scale or crop frames keep them.
 *
 * Object detections of GStreamer's analytics metadata (GStreamer 1.24) that have the box of a
 * component get a related `GstAnalyticsTrackingMtd`; an object that is not found in the frame has
 * one that is lost.
 *
 * Frames that have neither #GstCclMeta nor regions of interest of `cudaccl` may have those of other
 * detectors. Each box is one object and all of it. Regions get the smoothed box, and `cudaccl`
 * parameters with the id; an object that is lost has a region for another 0.2 seconds, and for a
 * second if it is behind another. Regions without an object stay as they are, as do all with
 * #ccltrack:objects disabled. Without any regions, object detections of GStreamer's analytics
 * metadata or, without those, DeepStream's objects (experimental) are tracked: then the frame gets
 * a #GstCclMeta, and DeepStream's objects their ids.
 *
 * `ccldetect` looks at some frames or parts of them, and its results are late. They are applied to
 * where objects were in the frame that it looked at. In between, objects go on with the components
 * that move, or as fast as before where there are none; an object that it looked for and did not
 * find is lost. Boxes where something moves need less confidence, and what it is uncertain of and
 * what does not move is not shown. Components that it does not know are objects of the class
 * `unknown` (see #ccltrack:classes-only), unless they overlap what it knows, or it has denied them
 * in a crowd. With #ccltrack:objects, its regions are replaced, too.
 *
 * ## Classes
 *
 * Detectors say what an object is, and how certain they are: in #GstCclComponent's fields
 * `class_id` and `confidence`, by the type of a region of interest and a field `confidence` or
 * `score` of its parameters, as DL Streamer does, by the type of an object detection, or by the
 * label of DeepStream's object. An object has the class that most of its detections say, each
 * counting by its confidence, and half as much every five seconds. So a mistake in one frame
 * changes nothing, and the class stays while no detector looks. The confidence is that of the last
 * detection that has one.
 *
 * Times are those of the frames: neither the frame rate nor dropped frames matter. Without
 * timestamps, they go by the frames' durations or the frame rate, or by when frames arrive. Where
 * timestamps jump back, or ahead by more than ten seconds, the element posts a warning, and objects
 * go on as if they had not. After a flushing seek, the start of a new stream or a change of the
 * frame size, tracking starts anew; ids are not reused until the element stops. After a seek that
 * does not flush, objects that are found where they are expected keep their ids.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=recording.avi ! decodebin ! videoconvert ! segmentation
 * test-mode=true method=mog2 ! videoconvert ! video/x-raw,format=GRAY8 ! cudaccl min-area=200 !
 * ccltrack ! ccljson ! filesink location=tracks.jsonl
 * ]|
 * Writes the positions, ids and velocities of moving objects.
 *
 * Since: 0.1
 */

#include "gstccltrack.h"

#include <math.h>
#include <string.h>
#include <gst/video/video.h>
#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclregister.h>
#include <gst/base/gstcclutils.h>
#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclattach.h>
#include <gst/found/gstccldetections.h>
#include <gst/found/gstcclfound.h>
#include <gst/found/gstcclmessage.h>
#include "gstccltrackoutput.h"
#include "tracker.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_track_debug);
#define GST_CAT_DEFAULT gst_ccl_track_debug

#define MAX_TRACKS 65536

G_STATIC_ASSERT (GST_CCL_SIGNATURE == GST_CCL_SIGNATURE_SIZE);

/* Older results of a network count as this old. */
#define OLDEST_LOOK (2 * GST_SECOND)

struct _GstCclTrack
{
  GstCclFilter parent;

  /* Protected by the object lock. */
  GstCclTrackerParams params;
  gboolean objects, classes_only;
  gboolean post_messages;
  GstCclAttach attach;
  guint n_tracks;
  guint64 exceeded, crowded;

  /* Streaming thread. */
  GstCclTracker *tracker;
  GstCclClasses *classes;
  gboolean warned;    /* warned of metadata that cannot be attached */
  gboolean asked;     /* asked upstream for signatures */
  GArray *detections; /* GstCclDetection */
  GArray *indices;    /* gint: track of each detection */
  GArray *looks;      /* GstCclLook */
  GArray *output;     /* GstCclComponent */
  GArray *sources;    /* guint: component of each output, or GST_CCL_NO_SOURCE */
  GstCclDetections look;
  GstCclFoundKind foreign; /* kind of the last detections of other elements */
};

#define gst_ccl_track_parent_class parent_class
G_DEFINE_TYPE (GstCclTrack, gst_ccl_track, GST_TYPE_CCL_FILTER)
GST_CCL_REGISTER_DEFINE (ccltrack, GST_TYPE_CCL_TRACK)

static void gst_ccl_track_finalize (GObject *object);

static gboolean gst_ccl_track_start (GstBaseTransform *trans);
static gboolean gst_ccl_track_stop (GstBaseTransform *trans);
static void gst_ccl_track_restart (GstCclFilter *filter, GstCclRestart why);
static GstFlowReturn gst_ccl_track_process (GstCclFilter *filter, GstBuffer *buffer);

static void
gst_ccl_track_install_properties (GObjectClass *gobject_class)
{
  GstCclTrackerParams params;

  gst_ccl_tracker_params_init (&params);

  /**
   * ccltrack:iou-threshold:
   *
   * Minimum overlap of a component with the predicted box of its object: their intersection over
   * their union. Components that overlap less must be near and of similar size.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, params.iou_threshold),
      g_param_spec_double ("iou-threshold", "IoU threshold",
                           "Minimum overlap of a component with the predicted box of its object.",
                           0.0, 1.0, params.iou_threshold, GST_CCL_PLAYING));

  /**
   * ccltrack:min-persistence:
   *
   * How long components must be found before they are an object with an id, in nanoseconds: noise
   * is gone by then. Boxes of detectors are objects from the second frame on, or the third if
   * their confidence is below 0.9. With 0, everything is an object at once.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, params.min_persistence),
      g_param_spec_uint64 ("min-persistence", "Minimum persistence",
                           "How long components are found before they are an object, in "
                           "nanoseconds.",
                           0, G_MAXUINT64, params.min_persistence, GST_CCL_PLAYING));

  /**
   * ccltrack:max-miss:
   *
   * How long an object that is not found keeps its id, in nanoseconds.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, params.max_miss),
      g_param_spec_uint64 ("max-miss", "Maximum miss",
                           "How long an object that is not found keeps its id, in nanoseconds.", 0,
                           G_MAXUINT64, params.max_miss, GST_CCL_PLAYING));

  /**
   * ccltrack:smooth-alpha:
   *
   * Weight of a new size in the smoothed size of an object, at 10 frames per second; it is adapted
   * to the frame rate. With 1, sizes are not smoothed.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, params.smooth_alpha),
      g_param_spec_double ("smooth-alpha", "Smoothing",
                           "Weight of a new size in the smoothed size of an object.", 0.0, 1.0,
                           params.smooth_alpha, GST_CCL_PLAYING));

  /**
   * ccltrack:max-tracks:
   *
   * Maximum number of objects at a time. Others are not tracked: #ccltrack:exceeded counts them,
   * and the element posts a warning for the first one.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclTrack, params.max_tracks),
                              g_param_spec_uint ("max-tracks", "Maximum tracks",
                                                 "Maximum number of objects at a time.", 1,
                                                 MAX_TRACKS, params.max_tracks, GST_CCL_PLAYING));

  /**
   * ccltrack:min-relative-area:
   *
   * Minimum area of a component that starts a track, as a share of the frame; 0 means no limit.
   * Smaller ones are taken for noise, unless objects are small in general: the limit is at most a
   * fifth of the area of typical components. Does not apply to the regions of other detectors.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, params.min_area),
      g_param_spec_double (
          "min-relative-area", "Minimum relative area",
          "Minimum area of a component that starts a track, as a share of the frame.", 0.0, 1.0,
          params.min_area, GST_CCL_PLAYING));

  /**
   * ccltrack:min-confidence:
   *
   * Minimum confidence of a detector's box that starts an object. Boxes below it only continue
   * objects, if they overlap them well. Boxes without confidence count as certain.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, params.min_confidence),
      g_param_spec_double ("min-confidence", "Minimum confidence",
                           "Minimum confidence of a detector's box that starts an object.", 0.0,
                           1.0, params.min_confidence, GST_CCL_PLAYING));

  /**
   * ccltrack:objects:
   *
   * Replace components with objects: a component that shows several objects with one for each,
   * fragments with a single one; components that are not tracked are dropped.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclTrack, objects),
                              g_param_spec_boolean ("objects", "Objects",
                                                    "Replace components with objects.", TRUE,
                                                    GST_CCL_PLAYING));

  /**
   * ccltrack:classes-only:
   *
   * With a network in front (`ccldetect`): track only what it found. Otherwise, what moves and the
   * network does not know is an object, too, of the class `unknown`.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, classes_only),
      g_param_spec_boolean ("classes-only", "Classes only",
                            "Track only what a network in front found, not all that moves.", FALSE,
                            GST_CCL_PLAYING));

  /**
   * ccltrack:post-messages:
   *
   * Post an element message `ccltrack` for each frame, with the fields of those of
   * #cudaccl:post-messages, and for each object that is tracked `track`, `age`, `velocity-x` and
   * `velocity-y`; for those that have them `class-id`, `class` (its name) and `confidence`.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclTrack, post_messages),
                              g_param_spec_boolean ("post-messages", "Post messages",
                                                    "Post an element message for each frame.",
                                                    FALSE, GST_CCL_PLAYING));

  /**
   * ccltrack:attach:
   *
   * What else to attach to frames that have a #GstCclMeta, for elements that read other metadata:
   * the objects as regions of interest or as object detections of GStreamer's analytics metadata
   * (GStreamer 1.24; 2048 at most), unless the frame has such, or as DeepStream's objects
   * (experimental). Without this GStreamer, the default is 0. Their types or labels are the names
   * of the classes, or `object`. Regions of interest have the parameters `detection` and
   * `object_id`, which DL Streamer reads, too.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, attach),
      g_param_spec_flags ("attach", "Attach", "What else to attach to frames with a GstCclMeta.",
                          GST_TYPE_CCL_OBJECT_ATTACH, GST_CCL_ATTACH_NATIVE, GST_CCL_PLAYING));

  /**
   * ccltrack:tracks:
   *
   * Number of objects that currently have an id, including those that are temporarily not found.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclTrack, n_tracks),
                              g_param_spec_uint ("tracks", "Tracks",
                                                 "Number of objects that currently have an id.", 0,
                                                 G_MAXUINT, 0, GST_CCL_READ_ONLY));

  /**
   * ccltrack:exceeded:
   *
   * How many times a new component was not tracked because there were #ccltrack:max-tracks objects.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, exceeded),
      g_param_spec_uint64 ("exceeded", "Exceeded",
                           "How many times a new component was not tracked because of max-tracks.",
                           0, G_MAXUINT64, 0, GST_CCL_READ_ONLY));

  /**
   * ccltrack:crowded:
   *
   * How many times an object had so many components near it that some were left out, or that the
   * best one for all was not looked for, so that the frame did not take long. This takes dozens
   * that overlap. The element posts a warning for the first time.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclTrack, crowded),
      g_param_spec_uint64 ("crowded", "Crowded",
                           "How many times an object had too many components near it.", 0,
                           G_MAXUINT64, 0, GST_CCL_READ_ONLY));
}

static void
gst_ccl_track_class_init (GstCclTrackClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCclFilterClass *filter_class = GST_CCL_FILTER_CLASS (klass);

  gobject_class->finalize = gst_ccl_track_finalize;
  gst_ccl_track_install_properties (gobject_class);

  gst_element_class_set_static_metadata (
      element_class, "Component tracker", "Filter/Analyzer/Video",
      "Tracks connected components from frame to frame", "The cudaccl authors");
  gst_ccl_filter_class_pass_batches (GST_CCL_FILTER_CLASS (klass));

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_track_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_track_stop);

  filter_class->restart = GST_DEBUG_FUNCPTR (gst_ccl_track_restart);
  filter_class->process = GST_DEBUG_FUNCPTR (gst_ccl_track_process);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_OBJECT_ATTACH, 0);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_track_debug, "ccltrack", 0, "tracks of components");
}

static void
gst_ccl_track_init (GstCclTrack *self)
{
  gst_ccl_tracker_params_init (&self->params);
  self->classes = gst_ccl_classes_new ();
  self->detections = g_array_new (FALSE, FALSE, sizeof (GstCclDetection));
  self->indices = g_array_new (FALSE, FALSE, sizeof (gint));
  self->looks = g_array_new (FALSE, FALSE, sizeof (GstCclLook));
  self->output = g_array_new (FALSE, FALSE, sizeof (GstCclComponent));
  self->sources = g_array_new (FALSE, FALSE, sizeof (guint));
  gst_ccl_detections_init (&self->look);
}

static void
gst_ccl_track_finalize (GObject *object)
{
  GstCclTrack *self = GST_CCL_TRACK (object);

  g_clear_pointer (&self->tracker, gst_ccl_tracker_free);
  gst_ccl_classes_free (self->classes);
  g_array_unref (self->detections);
  g_array_unref (self->indices);
  g_array_unref (self->looks);
  g_array_unref (self->output);
  g_array_unref (self->sources);
  gst_ccl_detections_clear (&self->look);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static gboolean
gst_ccl_track_start (GstBaseTransform *trans)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);

  self->tracker = gst_ccl_tracker_new ();
  gst_ccl_classes_free (self->classes);
  self->classes = gst_ccl_classes_new ();
  self->foreign = GST_CCL_FOUND_REGIONS;
  self->warned = self->asked = FALSE;
  GST_OBJECT_LOCK (self);
  self->n_tracks = 0;
  self->exceeded = self->crowded = 0;
  GST_OBJECT_UNLOCK (self);

  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static gboolean
gst_ccl_track_stop (GstBaseTransform *trans)
{
  g_clear_pointer (&GST_CCL_TRACK (trans)->tracker, gst_ccl_tracker_free);

  return TRUE;
}

static void
gst_ccl_track_restart (GstCclFilter *filter, GstCclRestart why)
{
  GST_DEBUG_OBJECT (filter, "start anew, with frames of %u x %u pixels", filter->width,
                    filter->height);
  gst_ccl_tracker_reset (GST_CCL_TRACK (filter)->tracker);
  GST_CCL_TRACK (filter)->asked = FALSE;
}

/* The settings for a frame. */
typedef struct
{
  gboolean objects, classes_only, post_messages;
  GstCclAttach attach;
} Options;

/* Passes the settings to the tracker. The minimum area applies only to components. */
static Options
gst_ccl_track_set_params (GstCclTrack *self, const GstCclFound *found, gboolean components)
{
  GstCclTrackerParams params;
  Options options;

  GST_OBJECT_LOCK (self);
  params = self->params;
  options.objects = self->objects;
  options.classes_only = self->classes_only;
  options.post_messages = self->post_messages;
  options.attach = self->attach;
  GST_OBJECT_UNLOCK (self);

  params.width = found->width;
  params.height = found->height;
  if (!components)
    params.min_area = 0.0;
  gst_ccl_tracker_set_params (self->tracker, &params);

  return options;
}

/* Publishes the counts of tracks, and warns of the first ones left out. */
static void
gst_ccl_track_count (GstCclTrack *self)
{
  const GstCclTrackInfo *tracks;
  guint n_tracks, n_confirmed = 0, max_tracks, i;
  gboolean exceeded, crowded;

  tracks = gst_ccl_tracker_get_tracks (self->tracker, &n_tracks);
  for (i = 0; i < n_tracks; i++)
    n_confirmed += tracks[i].id != 0;

  GST_OBJECT_LOCK (self);
  max_tracks = self->params.max_tracks;
  self->n_tracks = n_confirmed;
  exceeded = self->exceeded == 0 && gst_ccl_tracker_get_exceeded (self->tracker) > 0;
  self->exceeded = gst_ccl_tracker_get_exceeded (self->tracker);
  crowded = self->crowded == 0 && gst_ccl_tracker_get_crowded (self->tracker) > 0;
  self->crowded = gst_ccl_tracker_get_crowded (self->tracker);
  GST_OBJECT_UNLOCK (self);

  if (exceeded)
    GST_ELEMENT_WARNING (
        self, RESOURCE, NO_SPACE_LEFT,
        ("There are more objects than max-tracks (%u); others are not tracked.", max_tracks),
        (NULL));
  if (crowded)
    GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
                         ("Too many components overlap. Objects among them may be mistaken."),
                         (NULL));
}

/* Sets the detections from @n components. @signatures may be NULL. */
static void
gst_ccl_track_set_detections (GstCclTrack *self, const GstCclComponent *components, guint n,
                              const guint8 *signatures, gboolean all_objects)
{
  static const guint8 unknown[GST_CCL_SIGNATURE_SIZE];

  guint i;

  g_array_set_size (self->detections, n);
  for (i = 0; i < n; i++) {
    const GstCclComponent *component = &components[i];
    const guint8 *signature =
        signatures ? signatures + (gsize) i * GST_CCL_SIGNATURE_SIZE : unknown;

    g_array_index (self->detections, GstCclDetection, i) =
        (GstCclDetection){ .x = component->x,
                           .y = component->y,
                           .width = component->width,
                           .height = component->height,
                           .centroid_x = component->centroid_x,
                           .centroid_y = component->centroid_y,
                           .area = (gdouble) component->area,
                           .object = all_objects || component->class_id != 0,
                           .class_id = component->class_id,
                           .stands = component->static_age > 0,
                           .signature =
                               memcmp (signature, unknown, sizeof (unknown)) ? signature : NULL,
                           .confidence = component->confidence };
  }
}

/* Tells the tracker what a network found in an earlier frame. */
static void
gst_ccl_track_apply_look (GstCclTrack *self)
{
  const GstCclDetections *look = &self->look;
  guint i;

  gst_ccl_track_set_detections (self, (const GstCclComponent *) look->boxes->data, look->boxes->len,
                                NULL, TRUE);
  g_array_set_size (self->looks, look->parts->len);
  for (i = 0; i < look->parts->len; i++) {
    const GstCclComponent *part = &g_array_index (look->parts, GstCclComponent, i);

    g_array_index (self->looks, GstCclLook, i) =
        (GstCclLook){ part->x, part->y, part->width, part->height };
  }
  gst_ccl_tracker_look (self->tracker,
                        self->parent.time.time - MIN (look->age, self->parent.time.time),
                        (const GstCclDetection *) self->detections->data, self->detections->len,
                        (const GstCclLook *) self->looks->data, self->looks->len);
}

/* Advances the tracker to the frame. Where a network looks only at some frames, objects go on
 * without detections. */
static void
gst_ccl_track_advance (GstCclTrack *self, const GstCclFound *found, gboolean looked,
                       gboolean components)
{
  if (looked)
    gst_ccl_track_apply_look (self);
  if (found->kind == GST_CCL_FOUND_NOTHING) {
    gst_ccl_tracker_skip (self->tracker, self->parent.time.time);
  } else {
    gst_ccl_track_set_detections (self, found->components, found->n_components, found->signatures,
                                  !components);
    g_array_set_size (self->indices, self->detections->len);
    gst_ccl_tracker_update (self->tracker, self->parent.time.time,
                            (const GstCclDetection *) self->detections->data, self->detections->len,
                            (gint *) self->indices->data);
  }
  gst_ccl_track_count (self);
}

/* An object to be shown. */
typedef struct
{
  guint source; /* its component, or GST_CCL_NO_SOURCE */
  guint label;  /* for objects without a component */
  const GstCclTrackInfo *track;
} Shown;

static gint
compare_shown (gconstpointer a, gconstpointer b)
{
  const Shown *p = a, *q = b;

  if (p->source != q->source)
    return p->source < q->source ? -1 : 1;

  return p->track->id < q->track->id ? -1 : p->track->id > q->track->id;
}

/* Lists the objects to be shown, sorted by source and track. Objects without a component get
 * labels after the last of @found. With @apart, only the oldest of the objects that share a
 * component has it. */
static GArray *
gst_ccl_track_list_shown (GstCclTrack *self, const GstCclFound *found, gboolean apart,
                          gboolean known_only)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Shown));
  const GstCclTrackInfo *tracks;
  guint n_tracks, last = 0, i;

  for (i = 0; i < found->n_components; i++)
    last = MAX (last, found->components[i].label);
  tracks = gst_ccl_tracker_get_tracks (self->tracker, &n_tracks);
  for (i = 0; i < n_tracks; i++) {
    Shown shown = { GST_CCL_NO_SOURCE, 0, &tracks[i] };
    const gint source = tracks[i].detection;

    if (!tracks[i].shown || (known_only && !tracks[i].known))
      continue;
    if (source >= 0 && (!apart || g_array_index (self->indices, gint, source) == (gint) i))
      shown.source = (guint) source;
    else
      shown.label = ++last;
    g_array_append_val (list, shown);
  }
  g_array_sort (list, compare_shown);

  return list;
}

static void
gst_ccl_track_add_object (GstCclTrack *self, const GstCclComponent *object, guint source)
{
  g_array_append_vals (self->output, object, 1);
  g_array_append_val (self->sources, source);
}

/* Outputs a component for each object to be shown. */
static void
gst_ccl_track_make_objects (GstCclTrack *self, const GstCclFound *found, gboolean apart,
                            gboolean classes_only)
{
  const gboolean looking = gst_ccl_tracker_is_looking (self->tracker);
  GArray *list = gst_ccl_track_list_shown (self, found, apart, looking && classes_only);
  guint i;

  for (i = 0; i < list->len; i++) {
    const Shown *shown = &g_array_index (list, Shown, i);
    GstCclComponent object = { .label = shown->label };

    if (shown->source != GST_CCL_NO_SOURCE)
      object = found->components[shown->source];
    gst_ccl_track_output_set_track (&object, shown->track);
    if (looking && !shown->track->known)
      object.class_id = gst_ccl_classes_find (self->classes, "unknown");
    if (gst_ccl_track_output_set_box (&object, shown->track, found->width, found->height))
      gst_ccl_track_add_object (self, &object, shown->source);
  }
  g_array_unref (list);
}

/* Outputs the components as they are, with their tracks. */
static void
gst_ccl_track_make_components (GstCclTrack *self, const GstCclFound *found)
{
  const gint *indices = (const gint *) self->indices->data;
  const GstCclTrackInfo *tracks;
  guint n_tracks, i;

  tracks = gst_ccl_tracker_get_tracks (self->tracker, &n_tracks);
  for (i = 0; i < found->n_components; i++) {
    GstCclComponent object = found->components[i];

    if (indices[i] >= 0 && tracks[indices[i]].id)
      gst_ccl_track_output_set_track (&object, &tracks[indices[i]]);
    gst_ccl_track_add_object (self, &object, i);
  }
}

/* Replaces the GstCclMeta of @buffer, or adds one. */
static void
gst_ccl_track_put_meta (GstCclTrack *self, GstBuffer *buffer, const GstCclFound *found,
                        guint n_found)
{
  GstCclMeta *meta =
      gst_buffer_add_ccl_meta (buffer, found->width, found->height, n_found,
                               (const GstCclComponent *) self->output->data, self->output->len);

  gst_ccl_meta_set_class_names (meta, gst_ccl_classes_get_names (self->classes));
}

/* Attaches the objects as the other kinds of metadata. */
static void
gst_ccl_track_attach (GstCclTrack *self, GstBuffer *buffer, const GstCclFound *found,
                      GstCclAttach attach)
{
  const GstCclAttachment attachment = {
    .components = (const GstCclComponent *) self->output->data,
    .n_components = self->output->len,
    .class_names = gst_ccl_classes_get_names (self->classes),
    .width = found->width,
    .height = found->height,
    .type = g_quark_from_static_string ("object"),
    .tracked = TRUE,
    .sources = (const guint *) self->sources->data,
  };
  GError *error = NULL;

  if (!attach || gst_ccl_attach (buffer, attach, &attachment, &error))
    return;

  if (!self->warned)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", error->message), (NULL));
  self->warned = TRUE;
  g_clear_error (&error);
}

/* Writes the objects to the metadata in which they were found and, as the properties say, to
 * other metadata and a message. */
static void
gst_ccl_track_write (GstCclTrack *self, GstBuffer *buffer, const GstCclFound *found,
                     gboolean replaces_look, const Options *options)
{
  const GstCclComponent *objects = (const GstCclComponent *) self->output->data;
  const gboolean in_meta =
      found->kind == GST_CCL_FOUND_META || found->kind == GST_CCL_FOUND_NOTHING;
  const gboolean in_regions =
      found->kind == GST_CCL_FOUND_ROIS || found->kind == GST_CCL_FOUND_REGIONS;
  const guint n = self->output->len;
  const guint n_found =
      MAX (found->kind == GST_CCL_FOUND_META ? (guint) found->found : found->n_components, n);

  gst_ccl_found_write_objects (found, buffer, self->classes, objects,
                               (const guint *) self->sources->data, n);
  if (replaces_look)
    gst_ccl_detections_remove (buffer);
  /* Elements behind this one read regions as they are. */
  if (in_meta || (!in_regions && (found->n_components > 0 || n > 0)))
    gst_ccl_track_put_meta (self, buffer, found, n_found);
  if (in_meta)
    gst_ccl_track_attach (self, buffer, found, options->attach);
  if (options->post_messages)
    gst_element_post_message (
        GST_ELEMENT (self), gst_ccl_components_message_new (
                                GST_OBJECT (self), "ccltrack", &GST_BASE_TRANSFORM (self)->segment,
                                buffer, found->width, found->height, n_found, objects, n,
                                gst_ccl_classes_get_names (self->classes)));
}

/* Reads components or, unless a network looks at some frames, the detections of other elements.
 * Translates classes to the stream's. */
static void
gst_ccl_track_read (GstCclTrack *self, GstBuffer *buffer, gboolean looked, GstCclFound *found)
{
  guint i;

  gst_ccl_found_init (found, buffer, self->parent.width, self->parent.height, GST_CCL_FOUND_BOTH);
  for (i = 0; i < found->n_components; i++)
    found->components[i].class_id = gst_ccl_classes_translate (self->classes, found->class_names,
                                                               found->components[i].class_id);
  if (found->kind != GST_CCL_FOUND_NOTHING || looked || gst_ccl_tracker_is_looking (self->tracker))
    return;

  gst_ccl_found_read_detections (found, buffer, self->classes);
  for (i = 0; i < found->n_components; i++)
    found->components[i].track = 0; /* another tracker's */
  if (found->kind == GST_CCL_FOUND_NOTHING)
    found->kind = self->foreign; /* for objects that are lost */
  self->foreign = found->kind;
}

/* Asks for signatures, once in a stream. */
static void
gst_ccl_track_ask (GstCclTrack *self, const GstCclFound *found)
{
  gboolean answered;

  if (self->asked || found->kind != GST_CCL_FOUND_META || found->signatures ||
      found->n_components == 0)
    return;

  answered = gst_ccl_pad_ask_for_signatures (GST_BASE_TRANSFORM_SINK_PAD (self));
  GST_DEBUG_OBJECT (self, "asked for signatures: %s", answered ? "granted" : "not known");
  self->asked = TRUE;
}

static GstFlowReturn
gst_ccl_track_process (GstCclFilter *filter, GstBuffer *buffer)
{
  GstCclTrack *self = GST_CCL_TRACK (filter);
  gboolean looked, components, objects;
  GstCclFound found;
  Options options;

  looked = gst_ccl_detections_read (&self->look, buffer, self->classes, OLDEST_LOOK);
  gst_ccl_track_read (self, buffer, looked, &found);
  gst_ccl_filter_feed (
      filter, looked || found.n_components > 0 || found.kind == GST_CCL_FOUND_META,
      "Frames have had no components or detections for a second, so nothing is tracked. Put an "
      "element that finds objects, such as cclmotion or ccldetect, before this one.");
  gst_ccl_track_ask (self, &found);
  components = found.kind == GST_CCL_FOUND_META || found.kind == GST_CCL_FOUND_ROIS;
  options = gst_ccl_track_set_params (self, &found, components);
  gst_ccl_track_advance (self, &found, looked, components);

  objects = options.objects || found.kind == GST_CCL_FOUND_NOTHING;
  g_array_set_size (self->output, 0);
  g_array_set_size (self->sources, 0);
  if (objects)
    gst_ccl_track_make_objects (self, &found, !components, components && options.classes_only);
  else
    gst_ccl_track_make_components (self, &found);
  gst_ccl_track_write (self, buffer, &found,
                       found.kind == GST_CCL_FOUND_NOTHING || (looked && objects), &options);
  gst_ccl_found_clear (&found);

  return GST_FLOW_OK;
}
