/* cudaccl - counts tracked objects in zones and over tripwires
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclzones
 * @title: cclzones
 * @short_description: counts tracked objects in zones and over tripwires
 *
 * Finds which objects enter and leave zones, how long they stay, and which cross tripwires in which
 * direction. The objects are those that `ccltrack` tracks or, in frames without such, the
 * detections that another tracker gave an id: regions of interest with DL Streamer's parameter
 * `object_id` (`gvatrack`), object detections of GStreamer's analytics metadata with a related
 * `GstAnalyticsTrackingMtd` (`ioutracker`, `gvatrack`), or DeepStream's objects (`nvtracker`;
 * experimental); id 0 becomes 4294967295. The pixels of frames are neither changed nor copied. Each
 * frame gets a #GstCclZonesMeta with the zones, their counts and the events of the frame, which
 * `ccljson` writes and `ccloverlay` draws.
 *
 * Batches of several streams (GstAnalyticsBatchMeta, GStreamer 1.28) pass as they are, with a
 * warning: put the element before they are combined.
 *
 * The coordinates of a zone are fractions of the frame if none is above 1, otherwise pixels. A
 * tripwire goes from its first point to its second: `in` is a crossing to the right in this
 * direction, `out` to the left. So `in` is downwards over a tripwire from left to right.
 *
 * So that flicker is not counted, an object has crossed a border only when it is beyond it by
 * #cclzones:hysteresis of its size, or for a second, or when it is not seen again. An object that
 * moves smoothly has also crossed it when it is beyond it for 0.3 seconds by more than the
 * uncertainty of its position. An object that is gone for 2 seconds has left its zones.
 *
 * Times are those of the frames. Without timestamps, they go by the frames' durations or the frame
 * rate, or by when frames arrive. Where timestamps jump back, or ahead by more than ten seconds,
 * the element posts a warning, and objects go on as if they had not.
 *
 * When a new stream begins or the frame size changes, objects start anew: those before have left
 * their zones, and their undecided crossings count. A flush, as of a flushing seek, forgets objects
 * without events: no object is inside any more, and undecided crossings do not count. A seek that
 * does not flush changes nothing. Counts of `in` and `out` are kept until the element starts again.
 *
 * At the end of the stream, or when the element stops, undecided crossings count, but objects stay
 * in their zones. Events between frames are posted at once; the next frame, if one comes before the
 * element stops, also has them in its metadata, with their `frame_age`.
 *
 * ## JSON
 *
 * #cclzones:config is a file in the format of DL Streamer's `gvaanalytics`. Its arrays are also
 * accepted by #cclzones:zones and #cclzones:tripwires:
 *
 * ```json
 * {"zones": [{"id": "grass", "color": {"r": 255, "g": 0, "b": 0},
 *             "points": [{"x": 0, "y": 300}, {"x": 400, "y": 300}, {"x": 400, "y": 500}]},
 *            {"id": "roundabout", "type": "circle", "center": {"x": 600, "y": 200}, "radius": 80}],
 *  "tripwires": [{"id": "gate", "points": [{"x": 300, "y": 0}, {"x": 300, "y": 500}]}]}
 * ```
 *
 * Points may also be arrays, `[0, 300]`, and fractions of the frame. A zone or tripwire with
 * `"classes": ["person", "bicycle"]` has events of such objects alone, and counts only these; an
 * object that `ccltrack` takes for another one later leaves the zone. Other members, such as
 * `thickness`, are ignored. A circle becomes a polygon of 64 points. There may be 1024 zones and
 * tripwires with 32768 points in all, and 1 MiB of JSON.
 *
 * With #cclmotion:static-time, an object in a zone that becomes static has an event, too: `stopped`
 * if it moved before, as a car that parks, `left` if it was put down, and `removed` if it was taken
 * away. If it gets another class while it stands, the event is repeated with that.
 *
 * ## Messages
 *
 * Each event is an element message `cclzones` with these fields:
 *
 * * `timestamp`, `stream-time`, `running-time`: of the frame, guint64 in nanoseconds,
 * * `event`: the string `enter`, `leave`, `dwell`, `in`, `out`, `stopped`, `left` or `removed`,
 * * `zone`: the name of the zone or tripwire, a string,
 * * `track`: the id of the object, guint,
 * * `dwell`: how long it has been in the zone, or with the last three events how long it has stood,
 *   guint64 in nanoseconds,
 * * `x`, `y`: where it is, gdouble in pixels,
 * * `in`, `out`: the counts after the event, guint64, and `inside`, guint,
 * * `class`: the name of the object's class, a string, if it has one.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m filesrc location=recording.avi ! decodebin ! videoconvert ! segmentation
 * test-mode=true method=mog2 ! videoconvert ! video/x-raw,format=GRAY8 ! cudaccl min-area=200 !
 * ccltrack ! cclzones tripwires="path: 0.4,0.2 0.6,0.9" zones="grass: 0,0.6 0.5,0.6 0.5,1 0,1" !
 * fakesink
 * ]|
 * Prints who crosses the path, and who walks on the grass.
 *
 * Since: 0.1
 */

#include "gstcclzones.h"

#include <math.h>
#include <gst/video/video.h>
#include <gst/base/gstcclproperties.h>
#include <gst/base/gstcclregister.h>
#include <gst/base/gstcclutils.h>
#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>
#include <gst/found/gstcclfindings.h>
#include <gst/found/gstcclfound.h>
#include "gstcclzoneparser.h"
#include "gstcclzoneset.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_zones_debug);
#define GST_CAT_DEFAULT gst_ccl_zones_debug

#define UNTRACKED_FRAMES 30 /* without any track before a warning */

struct _GstCclZones
{
  GstCclFilter parent;

  /* Protected by the object lock. */
  gchar *zones, *tripwires, *config;
  gboolean changed; /* one of these was set since they were read */
  GstCclZonesPoint point;
  gboolean drop_outside;
  GstCclZoneParams params;
  GstCclZoneSet *set; /* may be NULL; only the streaming thread changes it */
  GstCclClasses *classes;

  /* Streaming thread. */
  GArray *points;     /* GstCclZonePoint */
  GArray *waiting;    /* events between frames, for the next one */
  guint n_untracked;  /* frames without any track; G_MAXUINT: no longer counted */
  guint64 n_exceeded; /* cclzones:exceeded at the last check */
};

#define gst_ccl_zones_parent_class parent_class
G_DEFINE_TYPE (GstCclZones, gst_ccl_zones, GST_TYPE_CCL_FILTER)
GST_CCL_REGISTER_DEFINE (cclzones, GST_TYPE_CCL_ZONES)

#define GST_TYPE_CCL_ZONES_POINT (gst_ccl_zones_point_get_type ())

static GType
gst_ccl_zones_point_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_ZONES_POINT_BOTTOM, "Middle of the bottom edge of the box", "bottom-center" },
    { GST_CCL_ZONES_POINT_CENTER, "Centre of the box", "center" },
    { GST_CCL_ZONES_POINT_TOP, "Middle of the top edge of the box", "top-center" },
    { GST_CCL_ZONES_POINT_CENTROID, "Centroid", "centroid" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCclZonesPoint", values);
}

static void gst_ccl_zones_finalize (GObject *object);

static gboolean gst_ccl_zones_start (GstBaseTransform *trans);
static gboolean gst_ccl_zones_stop (GstBaseTransform *trans);
static void gst_ccl_zones_restart (GstCclFilter *filter, GstCclRestart why);
static void gst_ccl_zones_finish (GstCclFilter *filter);
static GstFlowReturn gst_ccl_zones_process (GstCclFilter *filter, GstBuffer *buffer);
static void gst_ccl_zones_post (GstCclZones *self, const GstCclZonesMeta *meta,
                                GstClockTime timestamp);

/* Adds the counts by class to @count. */
static void
add_classes (GstCclZones *self, guint index, GstStructure *count)
{
  GstStructure *classes = gst_structure_new_empty ("classes");
  GstCclClassNames *names = gst_ccl_classes_get_names (self->classes);
  const GstCclZoneCount *counts;
  guint n, i;

  counts = gst_ccl_zone_set_get_counts (self->set, index, &n);
  for (i = 0; i < n; i++) {
    GstStructure *item =
        gst_structure_new ("class", "in", G_TYPE_UINT64, counts[i].in, "out", G_TYPE_UINT64,
                           counts[i].out, "inside", G_TYPE_UINT, counts[i].inside, NULL);

    gst_structure_set (classes, gst_ccl_class_names_get_name (names, counts[i].class_id),
                       GST_TYPE_STRUCTURE, item, NULL);
    gst_structure_free (item);
  }
  if (n > 0)
    gst_structure_set (count, "classes", GST_TYPE_STRUCTURE, classes, NULL);
  gst_structure_free (classes);
}

static void
gst_ccl_zones_get_counts (gpointer object, GValue *value)
{
  GstCclZones *self = object;
  GstStructure *counts = gst_structure_new_empty ("counts");
  GstCclZonesMeta meta = { .n_zones = 0 };
  guint i;

  GST_OBJECT_LOCK (self);
  if (self->set)
    meta = gst_ccl_zone_set_get_meta (self->set);
  for (i = 0; i < meta.n_zones; i++) {
    const GstCclZone *zone = &meta.zones[i];
    GstStructure *count = gst_structure_new (zone->tripwire ? "tripwire" : "zone", "in",
                                             G_TYPE_UINT64, zone->in, "out", G_TYPE_UINT64,
                                             zone->out, "inside", G_TYPE_UINT, zone->inside, NULL);

    add_classes (self, i, count);
    gst_structure_set (counts, zone->name, GST_TYPE_STRUCTURE, count, NULL);
    gst_structure_free (count);
  }
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value, counts);
}

static void
gst_ccl_zones_get_exceeded (gpointer object, GValue *value)
{
  GstCclZones *self = object;

  GST_OBJECT_LOCK (self);
  g_value_set_uint64 (value, self->set ? gst_ccl_zone_set_get_exceeded (self->set) : 0);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_zones_changed (gpointer self)
{
  GST_CCL_ZONES (self)->changed = TRUE;
}

static void
gst_ccl_zones_install_properties (GObjectClass *gobject_class)
{
  GstCclZoneParams params;

  gst_ccl_zone_params_init (&params);

  /**
   * cclzones:zones:
   *
   * Polygons, as `name: x,y x,y x,y; name: …`, or as a JSON array. If names are left out, they are
   * `zone1`, `zone2`, …. Zones that do not change keep their counts.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclZones, zones, .changed = gst_ccl_zones_changed),
      g_param_spec_string ("zones", "Zones", "Polygons, as name: x,y x,y x,y; ...", NULL,
                           GST_CCL_PLAYING));

  /**
   * cclzones:tripwires:
   *
   * Tripwires, as `name: x,y x,y; name: …`, or as a JSON array.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclZones, tripwires, .changed = gst_ccl_zones_changed),
      g_param_spec_string ("tripwires", "Tripwires", "Tripwires, as name: x,y x,y; ...", NULL,
                           GST_CCL_PLAYING));

  /**
   * cclzones:config:
   *
   * A JSON file with zones and tripwires, added to those of #cclzones:zones and
   * #cclzones:tripwires. Needs json-glib. The file is read when the element starts, and again with
   * the next frame after the property was set.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclZones, config, .changed = gst_ccl_zones_changed),
      g_param_spec_string ("config", "Configuration", "A JSON file with zones and tripwires.", NULL,
                           GST_CCL_PLAYING));

  /**
   * cclzones:drop-outside:
   *
   * Drop components, and regions of interest of `cudaccl`, that are not in a polygon. Without
   * polygons, all stay. Object detections of GStreamer's analytics metadata stay, since its
   * interface removes none; #ccltrack:attach `0` adds none.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclZones, drop_outside),
                              g_param_spec_boolean ("drop-outside", "Drop outside",
                                                    "Drop components that are not in a polygon.",
                                                    FALSE, GST_CCL_PLAYING));

  /**
   * cclzones:evaluation-point:
   *
   * Which point of an object counts.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclZones, point),
      g_param_spec_enum ("evaluation-point", "Evaluation point", "Which point of an object counts.",
                         GST_TYPE_CCL_ZONES_POINT, GST_CCL_ZONES_POINT_BOTTOM, GST_CCL_PLAYING));

  /**
   * cclzones:hysteresis:
   *
   * How far an object must be beyond a border to have crossed it, as a share of its size.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclZones, params.hysteresis),
      g_param_spec_double ("hysteresis", "Hysteresis",
                           "How far an object must be beyond a border, as a share of its size.",
                           0.0, 10.0, params.hysteresis, GST_CCL_PLAYING));

  /**
   * cclzones:dwell-time:
   *
   * How long an object must be in a zone for the event `dwell`, in nanoseconds; 0: no such events.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD (GstCclZones, params.dwell),
      g_param_spec_uint64 ("dwell-time", "Dwell time",
                           "How long an object must be in a zone for the event dwell.", 0,
                           G_MAXUINT64, params.dwell, GST_CCL_PLAYING));

  /**
   * cclzones:counts:
   *
   * The counts: a field for each zone and tripwire, a structure with `in` and `out` (guint64) and
   * `inside` (guint). If objects have classes, it also has `classes`, a structure with a field for
   * each class (256 at most): a structure with the same counts. Those of `in` and `out` are by the
   * class that an object had then, `inside` by the one that it has now.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_COMPUTED (gst_ccl_zones_get_counts),
                              g_param_spec_boxed ("counts", "Counts", "What was counted so far.",
                                                  GST_TYPE_STRUCTURE, GST_CCL_READ_ONLY));

  /**
   * cclzones:exceeded:
   *
   * How many objects were left out, in each frame, because there were 4096 others, and how many
   * events, because there were 8192 others in their frame. The element posts a warning for the
   * first one. The counts include such events.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_COMPUTED (gst_ccl_zones_get_exceeded),
      g_param_spec_uint64 ("exceeded", "Exceeded",
                           "How many objects and events were left out because of their number.", 0,
                           G_MAXUINT64, 0, GST_CCL_READ_ONLY));
}

static void
gst_ccl_zones_class_init (GstCclZonesClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCclFilterClass *filter_class = GST_CCL_FILTER_CLASS (klass);

  gobject_class->finalize = gst_ccl_zones_finalize;
  gst_ccl_zones_install_properties (gobject_class);

  gst_element_class_set_static_metadata (
      element_class, "Zones and tripwires", "Filter/Analyzer/Video",
      "Counts tracked objects in zones and over tripwires", "The cudaccl authors");
  gst_ccl_filter_class_pass_batches (filter_class);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_zones_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_zones_stop);

  filter_class->restart = GST_DEBUG_FUNCPTR (gst_ccl_zones_restart);
  filter_class->finish = GST_DEBUG_FUNCPTR (gst_ccl_zones_finish);
  filter_class->process = GST_DEBUG_FUNCPTR (gst_ccl_zones_process);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_zones_debug, "cclzones", 0, "zones and tripwires");
}

static void
gst_ccl_zones_init (GstCclZones *self)
{
  gst_ccl_zone_params_init (&self->params);
  self->points = g_array_new (FALSE, FALSE, sizeof (GstCclZonePoint));
  self->waiting = gst_ccl_events_new ();
  self->classes = gst_ccl_classes_new ();
}

static void
gst_ccl_zones_finalize (GObject *object)
{
  GstCclZones *self = GST_CCL_ZONES (object);

  g_clear_pointer (&self->set, gst_ccl_zone_set_free);
  gst_ccl_classes_free (self->classes);
  g_array_unref (self->points);
  g_array_unref (self->waiting);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

/* Parses the zones. If they are invalid, sets @error and keeps the previous ones. Reading the file
 * may block, so this must not hold the object lock. */
static gboolean
gst_ccl_zones_read (GstCclZones *self, GError **error)
{
  GstCclZoneSet *set = gst_ccl_zone_set_new (), *before;
  gchar *zones, *tripwires, *config;
  gboolean read;

  GST_OBJECT_LOCK (self);
  self->changed = FALSE;
  zones = g_strdup (self->zones);
  tripwires = g_strdup (self->tripwires);
  config = g_strdup (self->config);
  GST_OBJECT_UNLOCK (self);

  read = (!config || gst_ccl_zone_set_add_file (set, config, error)) &&
         (!zones || gst_ccl_zone_set_add_text (set, zones, FALSE, "zones", error)) &&
         (!tripwires || gst_ccl_zone_set_add_text (set, tripwires, TRUE, "tripwires", error));
  if (read) {
    GST_OBJECT_LOCK (self);
    before = self->set;
    if (before)
      gst_ccl_zone_set_take_state (set, before);
    self->set = set;
    GST_OBJECT_UNLOCK (self);
    set = before;
  }
  g_clear_pointer (&set, gst_ccl_zone_set_free);
  g_free (zones);
  g_free (tripwires);
  g_free (config);

  return read;
}

static gboolean
gst_ccl_zones_start (GstBaseTransform *trans)
{
  GstCclZones *self = GST_CCL_ZONES (trans);
  GError *error = NULL;

  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->set, gst_ccl_zone_set_free);
  gst_ccl_classes_free (self->classes);
  self->classes = gst_ccl_classes_new ();
  GST_OBJECT_UNLOCK (self);
  g_array_set_size (self->waiting, 0);
  self->n_untracked = 0;
  self->n_exceeded = 0;
  if (gst_ccl_zones_read (self, &error))
    return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);

  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("Invalid zones: %s.", error->message), (NULL));
  g_clear_error (&error);

  return FALSE;
}

/* Returns the zones and the last events, with the names of classes. */
static GstCclZonesMeta
get_meta (GstCclZones *self)
{
  GstCclZonesMeta meta = gst_ccl_zone_set_get_meta (self->set);

  GST_OBJECT_LOCK (self);
  meta.class_names = gst_ccl_classes_get_names (self->classes);
  GST_OBJECT_UNLOCK (self);

  return meta;
}

/* Decides pending crossings: each object is on the side where it was last seen. With @forget,
 * objects also leave their zones, because their ids may be reused. The events are attached to
 * the next frame. */
static void
gst_ccl_zones_settle (GstCclZones *self, gboolean forget)
{
  GstCclZonesMeta meta;

  if (!self->set)
    return;

  GST_OBJECT_LOCK (self);
  if (forget)
    gst_ccl_zone_set_finish (self->set);
  else
    gst_ccl_zone_set_settle (self->set);
  GST_OBJECT_UNLOCK (self);
  meta = get_meta (self);
  gst_ccl_events_add (self->waiting, &meta, self->parent.time.running);
  gst_ccl_zones_post (self, &meta, GST_BASE_TRANSFORM (self)->segment.position);
}

/* The set is kept: counts can be read until the next start. */
static gboolean
gst_ccl_zones_stop (GstBaseTransform *trans)
{
  gst_ccl_zones_settle (GST_CCL_ZONES (trans), FALSE);

  return TRUE;
}

static void
gst_ccl_zones_restart (GstCclFilter *filter, GstCclRestart why)
{
  GstCclZones *self = GST_CCL_ZONES (filter);

  if (why != GST_CCL_RESTART_FLUSH) {
    gst_ccl_zones_settle (self, TRUE);
    return;
  }

  GST_OBJECT_LOCK (self);
  if (self->set)
    gst_ccl_zone_set_reset (self->set);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_zones_finish (GstCclFilter *filter)
{
  gst_ccl_zones_settle (GST_CCL_ZONES (filter), FALSE);
}

/* Time for which an object was tracked before it stood if it has moved: for what is put down, this
 * is how long its bearer needs to leave it. */
#define MOVED_TIME (1500 * GST_MSECOND)

static GstCclZonePoint
get_point (GstCclZonesPoint which, const GstCclComponent *component)
{
  GstCclZonePoint point;

  point.track = component->track;
  point.class_id = component->class_id;
  point.x = component->x + component->width / 2.0;
  point.y = component->y;
  point.size = sqrt ((gdouble) component->width * component->height);
  point.stood =
      component->flags & GST_CCL_COMPONENT_STATIC ? component->static_age * GST_MSECOND : 0;
  point.moved = component->age > point.stood + MOVED_TIME;
  point.removed = (component->flags & GST_CCL_COMPONENT_REMOVED) != 0;
  switch (which) {
  case GST_CCL_ZONES_POINT_BOTTOM:
    point.y += component->height;
    break;
  case GST_CCL_ZONES_POINT_CENTER:
    point.y += component->height / 2.0;
    break;
  case GST_CCL_ZONES_POINT_CENTROID:
    point.x = component->centroid_x + 0.5;
    point.y = component->centroid_y + 0.5;
    break;
  case GST_CCL_ZONES_POINT_TOP:
    break;
  }

  return point;
}

static gboolean
is_inside (GstCclZones *self, GstCclZonesPoint which, const GstCclComponent *component)
{
  GstCclZonePoint point = get_point (which, component);

  return gst_ccl_zone_set_contains (self->set, point.x, point.y);
}

static gboolean
remove_marked (GstBuffer *buffer, GstMeta **meta, gpointer marked)
{
  if (g_hash_table_contains (marked, *meta))
    *meta = NULL;

  return TRUE;
}

/* Only the streaming thread changes the set. */
static void
gst_ccl_zones_drop_outside (GstCclZones *self, GstBuffer *buffer, const GstCclRois *rois,
                            GstCclZonesPoint which)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GHashTable *outside = g_hash_table_new (NULL, NULL);
  guint i, n = 0;

  for (i = 0; meta && i < meta->n_components; i++) {
    if (is_inside (self, which, &meta->components[i]))
      meta->components[n++] = meta->components[i];
  }
  if (meta) {
    /* Components dropped here no longer count as found, unlike those dropped by the analysis. */
    meta->found -= meta->n_components - n;
    meta->n_components = n;
  }
  for (i = 0; i < rois->n; i++) {
    if (!is_inside (self, which, &rois->components[i]))
      g_hash_table_add (outside, rois->rois[i]);
  }
  gst_buffer_foreach_meta (buffer, remove_marked, outside);
  g_hash_table_unref (outside);
}

static GstMessage *
gst_ccl_zones_new_message (GstCclZones *self, GstClockTime timestamp, const GstCclZoneEvent *event,
                           const GstCclZonesMeta *meta)
{
  const GstCclZone *zone = &meta->zones[event->zone];
  const gchar *name = gst_ccl_zones_meta_get_class_name (meta, event->class_id);
  GstClockTime stream_time, running_time;
  GstStructure *structure;

  gst_ccl_segment_get_times (&GST_BASE_TRANSFORM (self)->segment, timestamp, &stream_time,
                             &running_time);

  structure = gst_structure_new (
      "cclzones", "timestamp", G_TYPE_UINT64, timestamp, "stream-time", G_TYPE_UINT64, stream_time,
      "running-time", G_TYPE_UINT64, running_time, "event", G_TYPE_STRING,
      gst_ccl_zone_event_type_get_name (event->type), "zone", G_TYPE_STRING, zone->name, "track",
      G_TYPE_UINT, event->track, "dwell", G_TYPE_UINT64, event->dwell, "x", G_TYPE_DOUBLE, event->x,
      "y", G_TYPE_DOUBLE, event->y, "in", G_TYPE_UINT64, event->in, "out", G_TYPE_UINT64,
      event->out, "inside", G_TYPE_UINT, event->inside, NULL);
  if (name)
    gst_structure_set (structure, "class", G_TYPE_STRING, name, NULL);

  return gst_message_new_element (GST_OBJECT (self), structure);
}

/* Posts the events, and a warning when the first ones are left out. */
static void
gst_ccl_zones_post (GstCclZones *self, const GstCclZonesMeta *meta, GstClockTime timestamp)
{
  guint64 n_exceeded = gst_ccl_zone_set_get_exceeded (self->set);
  guint i;

  for (i = 0; i < meta->n_events; i++)
    gst_element_post_message (GST_ELEMENT (self),
                              gst_ccl_zones_new_message (self, timestamp, &meta->events[i], meta));
  if (n_exceeded > 0 && self->n_exceeded == 0)
    GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
                         ("More than %u objects at a time, or %u events in a frame: the others "
                          "are left out. The property \"exceeded\" counts them.",
                          GST_CCL_MAX_ZONE_OBJECTS, GST_CCL_MAX_ZONE_EVENTS),
                         (NULL));
  self->n_exceeded = n_exceeded;
}

/* Updates the zones with the points of a frame, and attaches the result to @buffer. */
static void
gst_ccl_zones_update (GstCclZones *self, GstBuffer *buffer, guint width, guint height)
{
  const GstCclZonesMeta *others = gst_buffer_get_ccl_zones_meta (buffer);
  guint first = others ? others->n_zones : 0;
  GstCclZonesMeta meta;

  GST_OBJECT_LOCK (self);
  if (gst_ccl_classes_get_names (self->classes))
    gst_ccl_zone_set_set_class_names (self->set, gst_ccl_classes_get_names (self->classes));
  gst_ccl_zone_set_update (self->set, &self->params, self->parent.time.time, width, height,
                           (const GstCclZonePoint *) self->points->data, self->points->len);
  GST_OBJECT_UNLOCK (self);

  meta = get_meta (self);
  if (meta.n_zones > 0) {
    GstCclZonesMeta *added = gst_buffer_add_ccl_zones_meta (
        buffer, width, height, meta.zones, meta.n_zones, meta.events, meta.n_events);

    /* Without events, the array is NULL. */
    if (meta.n_events > 0)
      gst_ccl_zones_translate_events (added, &added->events[added->n_events - meta.n_events],
                                      meta.n_events, meta.class_names);
  }
  /* Running time restarts after a flush. */
  gst_ccl_events_attach (self->waiting, buffer, width, height, first, 0,
                         MAX (self->parent.time.running, self->parent.last_running));
  gst_ccl_zones_post (self, &meta, GST_BUFFER_PTS (buffer));
}

/* Nothing is counted without tracks. New objects have no track in their first frames. @n_objects:
 * components, or detections of other elements. */
static void
gst_ccl_zones_check_tracks (GstCclZones *self, guint n_objects)
{
  if (self->points->len > 0)
    self->n_untracked = G_MAXUINT;
  if (n_objects == 0 || self->n_untracked == G_MAXUINT || ++self->n_untracked < UNTRACKED_FRAMES)
    return;

  self->n_untracked = G_MAXUINT;
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
                       ("Objects have no tracks, so nothing is counted. Put ccltrack, or another "
                        "tracker such as ioutracker, gvatrack or nvtracker, before this element."),
                       (NULL));
}

/* Adds the points of objects that are tracked. With object lock. */
static void
gst_ccl_zones_add_points (GstCclZones *self, const GstCclFound *found, gboolean translated,
                          GstCclZonesPoint which)
{
  guint i;

  for (i = 0; i < found->n_components; i++) {
    if (found->components[i].track) {
      GstCclZonePoint point = get_point (which, &found->components[i]);

      if (!translated)
        point.class_id =
            gst_ccl_classes_translate (self->classes, found->class_names, point.class_id);
      g_array_append_val (self->points, point);
    }
  }
}

/* Adds those of the detections of other elements. Returns the number of detections. */
static guint
gst_ccl_zones_read_others (GstCclZones *self, GstBuffer *buffer, GstCclZonesPoint which)
{
  GstCclFound others = { .width = self->parent.width, .height = self->parent.height };
  guint n;

  GST_OBJECT_LOCK (self);
  gst_ccl_found_read_detections (&others, buffer, self->classes);
  gst_ccl_zones_add_points (self, &others, TRUE, which);
  GST_OBJECT_UNLOCK (self);
  n = others.n_components;
  gst_ccl_found_clear (&others);

  return n;
}

static GstFlowReturn
gst_ccl_zones_process (GstCclFilter *filter, GstBuffer *buffer)
{
  GstCclZones *self = GST_CCL_ZONES (filter);
  gboolean changed, drop_outside, has_size;
  guint n_others = 0;
  GstCclZonesPoint which;
  GError *error = NULL;
  GstCclFound found;

  GST_OBJECT_LOCK (self);
  changed = self->changed;
  which = self->point;
  drop_outside = self->drop_outside;
  GST_OBJECT_UNLOCK (self);
  if (changed && !gst_ccl_zones_read (self, &error)) {
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
                         ("Invalid zones: %s. Those before stay.", error->message), (NULL));
    g_clear_error (&error);
  }

  g_array_set_size (self->points, 0);
  gst_ccl_found_init (&found, buffer, filter->width, filter->height,
                      drop_outside ? GST_CCL_FOUND_BOTH : 0);
  GST_OBJECT_LOCK (self);
  gst_ccl_zones_add_points (self, &found, FALSE, which);
  GST_OBJECT_UNLOCK (self);
  if (self->points->len == 0)
    n_others = gst_ccl_zones_read_others (self, buffer, which);
  gst_ccl_filter_feed (filter, found.kind != GST_CCL_FOUND_NOTHING || n_others > 0,
                       "Frames have had no objects for a second, so nothing is counted. Put an "
                       "element that finds objects, such as cclmotion, and ccltrack before this "
                       "one.");
  gst_ccl_zones_check_tracks (self, found.n_components + n_others);
  has_size = found.width > 0 && found.height > 0;
  gst_ccl_zones_update (self, buffer, has_size ? found.width : filter->width,
                        has_size ? found.height : filter->height);
  if (drop_outside)
    gst_ccl_zones_drop_outside (self, buffer, found.rois, which);
  gst_ccl_found_clear (&found);

  return GST_FLOW_OK;
}
