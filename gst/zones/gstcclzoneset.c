/* cudaccl - zones and tripwires, and what crosses them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclzoneset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Within the hysteresis, an object has crossed a border when it is beyond it by this many standard
 * deviations of its position, and for this time. */
#define SURE_SIGMA 3.0
#define SURE_TIME (300 * GST_MSECOND)
#define NOISE_TIME 1.0  /* averaging time of the noise in seconds */
#define NOISE_SAMPLES 3 /* second differences needed before the noise is known */

/* The state of an object at a zone. */
typedef struct
{
  GstClockTime since;  /* when it entered, or GST_CLOCK_TIME_NONE */
  GstClockTime beyond; /* on the other side since then, but not far enough, or NONE */
  gint over;           /* crossings inwards minus outwards since @side was certain */
  gint8 side;          /* certain side: 1 for inside or `in`, -1 for the other, 0 for unknown */
  gint8 last;          /* side where it was last seen */
  guint8 dwelled;
  guint8 stood; /* it is static, and has had its event */
} State;

typedef struct
{
  guint track;
  guint class_id;
  GstClockTime seen;
  State *states; /* one for each zone */
  guint n_points;
  gdouble points[2][2]; /* the last two positions */
  gdouble noise[2];     /* variances of x and y */
  gboolean gone;
} Object;

/* The private part of a zone. */
typedef struct
{
  gdouble *points; /* as configured */
  gdouble left, top, right, bottom;
  GHashTable *classes; /* names of classes that count; NULL if all do */
  GByteArray *wanted;  /* whether each class counts, by class id */
  GArray *counts;      /* GstCclZoneCount */
} Shape;

struct _GstCclZoneSet
{
  GArray *zones;       /* GstCclZone, in frame pixels */
  GArray *shapes;      /* Shape, one for each zone */
  guint n_points;      /* in all zones */
  guint width, height; /* of the last frame; 0 before the first */
  GArray *objects;     /* Object, sorted by track */
  GArray *events;      /* GstCclZoneEvent of the last call */
  guint64 exceeded;
};

void
gst_ccl_zone_params_init (GstCclZoneParams *params)
{
  params->hysteresis = 0.2;
  params->settle = GST_SECOND;
  params->dwell = 0;
  params->timeout = 2 * GST_SECOND;
}

static void
clear_zone (gpointer data)
{
  GstCclZone *zone = data;

  g_free (zone->name);
  g_free (zone->points);
}

static void
clear_shape (gpointer data)
{
  Shape *shape = data;

  g_free (shape->points);
  g_clear_pointer (&shape->classes, g_hash_table_unref);
  g_byte_array_unref (shape->wanted);
  g_array_unref (shape->counts);
}

static void
clear_object (gpointer data)
{
  g_free (((Object *) data)->states);
}

static GArray *
array_new (gsize size, GDestroyNotify clear)
{
  GArray *array = g_array_new (FALSE, TRUE, (guint) size);

  g_array_set_clear_func (array, clear);

  return array;
}

GstCclZoneSet *
gst_ccl_zone_set_new (void)
{
  GstCclZoneSet *self = g_new0 (GstCclZoneSet, 1);

  self->zones = array_new (sizeof (GstCclZone), clear_zone);
  self->shapes = array_new (sizeof (Shape), clear_shape);
  self->objects = array_new (sizeof (Object), clear_object);
  self->events = array_new (sizeof (GstCclZoneEvent), NULL);

  return self;
}

void
gst_ccl_zone_set_free (GstCclZoneSet *self)
{
  g_array_unref (self->zones);
  g_array_unref (self->shapes);
  g_array_unref (self->objects);
  g_array_unref (self->events);
  g_free (self);
}

static GstCclZone *
get_zone (const GstCclZoneSet *self, guint index)
{
  return &g_array_index (self->zones, GstCclZone, index);
}

static Shape *
get_shape (const GstCclZoneSet *self, guint index)
{
  return &g_array_index (self->shapes, Shape, index);
}

static Object *
get_object (const GstCclZoneSet *self, guint index)
{
  return &g_array_index (self->objects, Object, index);
}

void
gst_ccl_zone_set_reset (GstCclZoneSet *self)
{
  guint i, k;

  g_array_set_size (self->objects, 0);
  for (i = 0; i < self->zones->len; i++) {
    GArray *counts = get_shape (self, i)->counts;

    get_zone (self, i)->inside = 0;
    for (k = 0; k < counts->len; k++)
      g_array_index (counts, GstCclZoneCount, k).inside = 0;
  }
}

const GstCclZoneCount *
gst_ccl_zone_set_get_counts (const GstCclZoneSet *self, guint index, guint *n)
{
  const GArray *counts = get_shape (self, index)->counts;

  *n = counts->len;

  return (const GstCclZoneCount *) counts->data;
}

/* Only looks at new names. */
static void
find_wanted (Shape *shape, const GstCclClassNames *names)
{
  const guint n = gst_ccl_class_names_get_n_names (names);
  guint i;

  for (i = shape->wanted->len; shape->classes && i <= n; i++) {
    const gchar *name = gst_ccl_class_names_get_name (names, i);
    const guint8 wanted = name && g_hash_table_contains (shape->classes, name);

    g_byte_array_append (shape->wanted, &wanted, 1);
  }
}

void
gst_ccl_zone_set_set_class_names (GstCclZoneSet *self, const GstCclClassNames *names)
{
  guint i;

  for (i = 0; i < self->shapes->len; i++)
    find_wanted (get_shape (self, i), names);
}

static gboolean
is_wanted (const Shape *shape, guint class_id)
{
  return !shape->classes || (class_id < shape->wanted->len && shape->wanted->data[class_id]);
}

/* Returns the counts of a class; NULL if they are not kept separately. */
static GstCclZoneCount *
get_count (const Shape *shape, guint class_id)
{
  const GstCclZoneCount count = { .class_id = class_id };
  guint i;

  if (class_id == 0)
    return NULL;
  for (i = 0; i < shape->counts->len; i++) {
    if (g_array_index (shape->counts, GstCclZoneCount, i).class_id == class_id)
      return &g_array_index (shape->counts, GstCclZoneCount, i);
  }
  if (i == GST_CCL_MAX_ZONE_CLASSES)
    return NULL;
  g_array_append_val (shape->counts, count);

  return &g_array_index (shape->counts, GstCclZoneCount, i);
}

GstCclZonesMeta
gst_ccl_zone_set_get_meta (const GstCclZoneSet *self)
{
  return (GstCclZonesMeta){ .width = self->width,
                            .height = self->height,
                            .n_zones = self->zones->len,
                            .n_events = self->events->len,
                            .zones = (GstCclZone *) self->zones->data,
                            .events = (GstCclZoneEvent *) self->events->data };
}

guint64
gst_ccl_zone_set_get_exceeded (const GstCclZoneSet *self)
{
  return self->exceeded;
}

/* Returns whether all points are on a line, up to rounding errors. The signed area does not
 * tell: it is also 0 for some polygons whose sides cross. */
static gboolean
is_flat (const GstCclZone *zone)
{
  gdouble far_x = 0.0, far_y = 0.0, far = 0.0;
  guint i;

  for (i = 1; i < zone->n_points; i++) {
    gdouble x = zone->points[2 * i] - zone->points[0];
    gdouble y = zone->points[2 * i + 1] - zone->points[1];

    if (hypot (x, y) > far) {
      far_x = x;
      far_y = y;
      far = hypot (x, y);
    }
  }
  for (i = 1; i < zone->n_points && far > 0.0; i++) {
    gdouble x = zone->points[2 * i] - zone->points[0];
    gdouble y = zone->points[2 * i + 1] - zone->points[1];

    if (fabs (far_x / far * y - far_y / far * x) > 1e-9 * far)
      return FALSE;
  }

  return TRUE;
}

static gboolean
has_name (const GstCclZoneSet *self, const gchar *name)
{
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    if (g_str_equal (get_zone (self, i)->name, name))
      return TRUE;
  }

  return FALSE;
}

/* Returns NULL, or a description of what is wrong with a zone. */
static const gchar *
find_problem (const GstCclZoneSet *self, const GstCclZone *zone)
{
  if (!g_utf8_validate (zone->name, -1, NULL))
    return "the name is not UTF-8";
  if (zone->tripwire && zone->n_points != 2)
    return "a tripwire has two points";
  if (zone->tripwire && memcmp (zone->points, zone->points + 2, 2 * sizeof (gdouble)) == 0)
    return "the points of a tripwire must differ";
  if (!zone->tripwire && zone->n_points < 3)
    return "a zone has three points or more";
  if (!zone->tripwire && is_flat (zone))
    return "the zone has no area";
  if (self->zones->len >= GST_CCL_MAX_ZONES)
    return "there are more than " G_STRINGIFY (GST_CCL_MAX_ZONES) " zones and tripwires";
  if (self->n_points + zone->n_points > GST_CCL_MAX_ZONE_POINTS)
    return "the zones have more than " G_STRINGIFY (GST_CCL_MAX_ZONE_POINTS) " points";
  if (has_name (self, zone->name))
    return "the name is taken";

  return NULL;
}

const gchar *
gst_ccl_zone_set_take_zone (GstCclZoneSet *self, GstCclZone *zone, GHashTable *classes)
{
  const gchar *problem = find_problem (self, zone);
  Shape shape = { .classes = classes };

  if (problem) {
    clear_zone (zone);
    g_clear_pointer (&classes, g_hash_table_unref);
    return problem;
  }

  shape.wanted = g_byte_array_new ();
  shape.counts = array_new (sizeof (GstCclZoneCount), NULL);

  shape.points = g_memdup2 (zone->points, 2 * zone->n_points * sizeof (gdouble));
  self->n_points += zone->n_points;
  g_array_append_val (self->zones, *zone);
  g_array_append_val (self->shapes, shape);

  return NULL;
}

/* Scales the points of @zone to a frame of @width x @height, and sets the box around them. */
static void
place_zone (GstCclZone *zone, Shape *shape, guint width, guint height)
{
  gboolean shares = TRUE;
  gdouble scale[2];
  guint i;

  for (i = 0; i < 2 * zone->n_points; i++)
    shares = shares && shape->points[i] <= 1.0;
  scale[0] = shares ? width : 1.0;
  scale[1] = shares ? height : 1.0;

  shape->left = shape->top = G_MAXDOUBLE;
  shape->right = shape->bottom = -G_MAXDOUBLE;
  for (i = 0; i < zone->n_points; i++) {
    gdouble *point = &zone->points[2 * i];

    point[0] = shape->points[2 * i] * scale[0];
    point[1] = shape->points[2 * i + 1] * scale[1];
    shape->left = MIN (shape->left, point[0]);
    shape->top = MIN (shape->top, point[1]);
    shape->right = MAX (shape->right, point[0]);
    shape->bottom = MAX (shape->bottom, point[1]);
  }
}

static void
set_size (GstCclZoneSet *self, guint width, guint height)
{
  guint i;

  if (width == self->width && height == self->height)
    return;

  for (i = 0; i < self->zones->len; i++)
    place_zone (get_zone (self, i), get_shape (self, i), width, height);
  self->width = width;
  self->height = height;
}

static State *
states_new (const GstCclZoneSet *self)
{
  State *states = g_new0 (State, self->zones->len);
  guint i;

  for (i = 0; i < self->zones->len; i++)
    states[i].since = states[i].beyond = GST_CLOCK_TIME_NONE;

  return states;
}

static gboolean
are_same_classes (GHashTable *a, GHashTable *b)
{
  GHashTableIter iter;
  gpointer name;

  if (!a || !b)
    return a == b;
  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &name, NULL)) {
    if (!g_hash_table_contains (b, name))
      return FALSE;
  }

  return g_hash_table_size (a) == g_hash_table_size (b);
}

/* Returns the index in @old of the same zone as @index of @self, or the number of zones of @old. */
static guint
find_same (const GstCclZoneSet *old, const GstCclZoneSet *self, guint index)
{
  const GstCclZone *zone = get_zone (self, index);
  const gdouble *points = get_shape (self, index)->points;
  guint i;

  for (i = 0; i < old->zones->len; i++) {
    const GstCclZone *before = get_zone (old, i);

    if (zone->tripwire == before->tripwire && zone->n_points == before->n_points &&
        g_str_equal (zone->name, before->name) &&
        are_same_classes (get_shape (self, index)->classes, get_shape (old, i)->classes) &&
        memcmp (points, get_shape (old, i)->points, 2 * zone->n_points * sizeof (gdouble)) == 0)
      break;
  }

  return i;
}

void
gst_ccl_zone_set_take_state (GstCclZoneSet *self, const GstCclZoneSet *old)
{
  guint i, j, k;

  self->exceeded = old->exceeded;
  g_array_set_size (self->objects, 0);
  g_array_append_vals (self->objects, old->objects->data, old->objects->len);
  for (k = 0; k < self->objects->len; k++)
    get_object (self, k)->states = states_new (self);

  for (i = 0; i < self->zones->len; i++) {
    GstCclZone *zone = get_zone (self, i);

    j = find_same (old, self, i);
    if (j == old->zones->len)
      continue;
    zone->in = get_zone (old, j)->in;
    zone->out = get_zone (old, j)->out;
    zone->inside = get_zone (old, j)->inside;
    g_array_append_vals (get_shape (self, i)->counts, get_shape (old, j)->counts->data,
                         get_shape (old, j)->counts->len);
    for (k = 0; k < self->objects->len; k++)
      get_object (self, k)->states[i] = get_object (old, k)->states[j];
  }
}

static gdouble
get_cross (const gdouble *a, const gdouble *b, const gdouble *p)
{
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

static gdouble
get_segment_distance (const gdouble *a, const gdouble *b, const gdouble *p)
{
  gdouble dx = b[0] - a[0], dy = b[1] - a[1], length = dx * dx + dy * dy;
  gdouble share = length > 0.0 ? ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length : 0.0;

  share = CLAMP (share, 0.0, 1.0);

  dx = p[0] - a[0] - share * dx;
  dy = p[1] - a[1] - share * dy;

  return sqrt (dx * dx + dy * dy);
}

/* Returns whether @p is in a polygon, by the even-odd rule, or on its border. */
static gboolean
is_inside (const GstCclZone *zone, const Shape *shape, const gdouble *p)
{
  const gdouble *a = &zone->points[2 * (zone->n_points - 1)], *b = zone->points;
  gboolean inside = FALSE;
  guint i;

  if (!(p[0] >= shape->left && p[0] <= shape->right && p[1] >= shape->top && p[1] <= shape->bottom))
    return FALSE;

  for (i = 0; i < zone->n_points; i++, a = b, b += 2) {
    gboolean spans = (a[1] > p[1]) != (b[1] > p[1]);

    /* Most sides are above, below or left of the point and do not count. */
    if (((a[0] < p[0]) & (b[0] < p[0])) | ((a[1] > p[1]) & (b[1] > p[1])) |
        ((a[1] < p[1]) & (b[1] < p[1])))
      continue;
    if (a[0] > p[0] && b[0] > p[0]) {
      inside ^= spans;
      continue;
    }
    if (get_segment_distance (a, b, p) == 0.0)
      return TRUE;
    if (spans && p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
      inside = !inside;
  }

  return inside;
}

gboolean
gst_ccl_zone_set_contains (const GstCclZoneSet *self, gdouble x, gdouble y)
{
  const gdouble p[2] = { x, y };
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    const GstCclZone *zone = get_zone (self, i);

    any = any || !zone->tripwire;
    if (!zone->tripwire && is_inside (zone, get_shape (self, i), p))
      return TRUE;
  }

  return !any;
}

/* Returns the distance to the line of a tripwire, positive on the side `in`. */
static gdouble
get_offset (const GstCclZone *zone, const gdouble *p)
{
  const gdouble *a = zone->points, *b = a + 2;

  return get_cross (a, b, p) / hypot (b[0] - a[0], b[1] - a[1]);
}

/* Returns whether @p is at least @limit away from the border. */
static gboolean
is_far (const GstCclZone *zone, const gdouble *p, gdouble limit)
{
  const gdouble *a = &zone->points[2 * (zone->n_points - 1)], *b = zone->points;
  guint i;

  if (zone->tripwire)
    return fabs (get_offset (zone, p)) >= limit;

  for (i = 0; i < zone->n_points; i++, a = b, b += 2) {
    if (p[0] - limit > MAX (a[0], b[0]) || p[0] + limit < MIN (a[0], b[0]) ||
        p[1] - limit > MAX (a[1], b[1]) || p[1] + limit < MIN (a[1], b[1]))
      continue;
    if (!(get_segment_distance (a, b, p) >= limit))
      return FALSE;
  }

  return TRUE;
}

/* Returns whether the path from @from to @to crosses the tripwire. The points are on different
 * sides of its line. */
static gboolean
is_crossing (const GstCclZone *zone, const gdouble *from, const gdouble *to)
{
  return (get_cross (from, to, zone->points) > 0.0) !=
         (get_cross (from, to, zone->points + 2) > 0.0);
}

static void
add_event (GstCclZoneSet *self, GstCclZoneEventType type, guint index, const Object *object,
           GstClockTime time, GstClockTime since)
{
  const GstCclZone *zone = get_zone (self, index);
  const gdouble *p = object->points[1];
  GstCclZoneEvent event = { type, index,    object->track, 0,           p[0],
                            p[1], zone->in, zone->out,     zone->inside };

  event.class_id = object->class_id;

  if (self->events->len == GST_CCL_MAX_ZONE_EVENTS) {
    self->exceeded++;
    return;
  }
  if (GST_CLOCK_TIME_IS_VALID (since) && time > since)
    event.dwell = time - since;
  g_array_append_val (self->events, event);
}

/* An object stands in a zone, or walks on. */
static void
update_standing (GstCclZoneSet *self, guint index, const Object *object,
                 const GstCclZonePoint *point, GstClockTime time)
{
  State *state = &object->states[index];
  const guint n = self->events->len;
  GstCclZoneEventType type = GST_CCL_ZONE_LEFT;

  if (get_zone (self, index)->tripwire || state->side <= 0 || point->stood == 0) {
    state->stood = FALSE;
    return;
  }
  if (state->stood)
    return;

  state->stood = TRUE;
  if (point->removed)
    type = GST_CCL_ZONE_REMOVED;
  else if (point->moved)
    type = GST_CCL_ZONE_STOPPED;
  add_event (self, type, index, object, time, time);
  /* It may have stood since before the first frame with this zone. */
  if (self->events->len > n)
    g_array_index (self->events, GstCclZoneEvent, n).dwell = point->stood;
}

static void
change_side (GstCclZoneSet *self, guint index, const Object *object, GstClockTime time)
{
  GstCclZone *zone = get_zone (self, index);
  GstCclZoneCount none = { 0 }, *count = get_count (get_shape (self, index), object->class_id);
  State *state = &object->states[index];
  gint8 side = state->last;

  if (!count)
    count = &none;
  if (!zone->tripwire && side > 0) {
    /* An object that appears inside has entered as well. */
    zone->in++;
    zone->inside++;
    count->in++;
    count->inside++;
    state->since = time;
    state->dwelled = FALSE;
    add_event (self, GST_CCL_ZONE_ENTER, index, object, time, time);
  } else if (!zone->tripwire && state->side > 0) {
    zone->out++;
    zone->inside--;
    count->out++;
    count->inside--;
    add_event (self, GST_CCL_ZONE_LEAVE, index, object, time, state->since);
    state->since = GST_CLOCK_TIME_NONE;
  } else if (zone->tripwire && state->over * side > 0) {
    *(side > 0 ? &zone->in : &zone->out) += 1;
    *(side > 0 ? &count->in : &count->out) += 1;
    add_event (self, side > 0 ? GST_CCL_ZONE_IN : GST_CCL_ZONE_OUT, index, object, time, time);
  }
  state->side = side;
  state->over = 0;
  state->beyond = GST_CLOCK_TIME_NONE;
}

/* Adds a position, and estimates the noise of positions: three successive ones of an object that
 * moves smoothly are on a line, evenly spaced, so that their second difference has 6 times the
 * variance of one position. Gaps make the estimate larger, never too small. */
static void
add_position (Object *object, const GstCclZonePoint *point, GstClockTime time)
{
  gdouble dt = time > object->seen ? (gdouble) (time - object->seen) / GST_SECOND : 0.0;
  gdouble now[2] = { point->x, point->y };
  guint k;

  for (k = 0; k < 2; k++) {
    gdouble bend = now[k] - 2.0 * object->points[1][k] + object->points[0][k];

    if (object->n_points >= 2) {
      gdouble share = MAX (1.0 / (object->n_points - 1), MIN (dt / NOISE_TIME, 1.0));

      object->noise[k] += share * (bend * bend / 6.0 - object->noise[k]);
    }
    object->points[0][k] = object->points[1][k];
    object->points[1][k] = now[k];
  }
  object->n_points = MIN (object->n_points + 1, G_MAXINT);
  object->seen = time;
}

/* Returns how far noise alone may take an object beyond a border. */
static gdouble
get_uncertainty (const GstCclZone *zone, const Object *object)
{
  gdouble variance = MAX (object->noise[0], object->noise[1]);

  if (object->n_points < NOISE_SAMPLES + 2)
    return G_MAXDOUBLE;
  if (zone->tripwire) {
    gdouble dx = zone->points[2] - zone->points[0], dy = zone->points[3] - zone->points[1];

    variance = (dy * dy * object->noise[0] + dx * dx * object->noise[1]) / (dx * dx + dy * dy);
  }

  return SURE_SIGMA * sqrt (variance);
}

/* Returns whether an object has certainly crossed a border: it is beyond it by the hysteresis,
 * or for the settling time, or for SURE_TIME by more than the uncertainty of its position. */
static gboolean
is_beyond (const GstCclZone *zone, const Object *object, GstClockTime since,
           const GstCclZoneParams *params, gdouble size)
{
  const gdouble *p = object->points[1];

  return since >= params->settle || is_far (zone, p, params->hysteresis * size) ||
         (since >= SURE_TIME && is_far (zone, p, get_uncertainty (zone, object)));
}

/* An object that has changed sides has crossed a tripwire if it went over it, not past one of
 * its ends. */
static void
update_state (GstCclZoneSet *self, guint index, const Object *object,
              const GstCclZoneParams *params, gdouble size, GstClockTime time)
{
  const GstCclZone *zone = get_zone (self, index);
  const Shape *shape = get_shape (self, index);
  State *state = &object->states[index];
  const gdouble *p = object->points[1];
  gint8 side;

  side = (zone->tripwire ? get_offset (zone, p) >= 0.0 : is_inside (zone, shape, p)) ? 1 : -1;
  if (zone->tripwire && state->last && side != state->last &&
      is_crossing (zone, object->points[0], p))
    state->over += side;
  state->last = side;

  if (side == state->side) {
    /* An object that goes round the end of a tripwire and back over it has crossed it. */
    if (zone->tripwire && state->over * side > 0)
      change_side (self, index, object, time);
    state->beyond = GST_CLOCK_TIME_NONE;
  } else {
    if (!GST_CLOCK_TIME_IS_VALID (state->beyond))
      state->beyond = time;
    if (!state->side || is_beyond (zone, object, time - state->beyond, params, size))
      change_side (self, index, object, time);
  }

  if (!zone->tripwire && state->side > 0 && params->dwell && !state->dwelled &&
      time - state->since >= params->dwell) {
    state->dwelled = TRUE;
    add_event (self, GST_CCL_ZONE_DWELL, index, object, time, state->since);
  }
}

/* Returns the object of a track, or NULL. */
static Object *
find_object (const GstCclZoneSet *self, guint track)
{
  guint low = 0, high = self->objects->len;

  while (low < high) {
    guint middle = (low + high) / 2;

    if (get_object (self, middle)->track < track)
      low = middle + 1;
    else
      high = middle;
  }

  return low < self->objects->len && get_object (self, low)->track == track ? get_object (self, low)
                                                                            : NULL;
}

static gint
compare_tracks (gconstpointer a, gconstpointer b)
{
  guint first = *(const guint *) a, second = *(const guint *) b;

  return (first > second) - (first < second);
}

/* Adds objects for new tracks while there is room. */
static void
add_objects (GstCclZoneSet *self, const GstCclZonePoint *points, guint n_points)
{
  guint n_before = self->objects->len, *tracks = g_new (guint, n_points), n = 0, n_new = 0, i;

  for (i = 0; i < n_points; i++) {
    if (!find_object (self, points[i].track))
      tracks[n++] = points[i].track;
  }
  if (n > 0)
    qsort (tracks, n, sizeof (*tracks), compare_tracks);
  for (i = 0; i < n && n_before + n_new < GST_CCL_MAX_ZONE_OBJECTS; i++) {
    if (n_new == 0 || tracks[i] != tracks[n_new - 1])
      tracks[n_new++] = tracks[i];
  }

  /* Merges from the end, so that each object moves only once. */
  g_array_set_size (self->objects, n_before + n_new);
  while (n_new > 0) {
    Object *to = get_object (self, n_before + n_new - 1);

    if (n_before > 0 && get_object (self, n_before - 1)->track > tracks[n_new - 1])
      *to = *get_object (self, --n_before);
    else
      *to = (Object){ .track = tracks[--n_new], .states = states_new (self) };
  }
  g_free (tracks);
}

/* An object that is gone stays on the side where it was last seen. */
static void
settle_object (GstCclZoneSet *self, const Object *object)
{
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    if (object->states[i].last != object->states[i].side)
      change_side (self, i, object, object->seen);
  }
}

static void
leave_zones (GstCclZoneSet *self, const Object *object)
{
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    State *state = &object->states[i];

    if (get_zone (self, i)->tripwire || state->side <= 0)
      continue;
    state->last = -1;
    change_side (self, i, object, object->seen);
  }
}

/* The tracker has changed the class of an object. It leaves zones where its class no longer
 * counts, and is inside the others as the new class, as which it stands there, too. */
static void
change_class (GstCclZoneSet *self, Object *object, guint class_id, GstClockTime time)
{
  const guint before = object->class_id;
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    State *state = &object->states[i];
    const Shape *shape = get_shape (self, i);
    const gboolean inside = state->side > 0 && !get_zone (self, i)->tripwire;
    GstCclZoneCount *count;

    if (!is_wanted (shape, class_id)) {
      if (inside) {
        state->last = -1;
        change_side (self, i, object, time);
      }
      *state = (State){ .since = GST_CLOCK_TIME_NONE, .beyond = GST_CLOCK_TIME_NONE };
    } else if (inside) {
      count = get_count (shape, before);
      if (count)
        count->inside--;
      count = get_count (shape, class_id);
      if (count)
        count->inside++;
      state->stood = state->stood && class_id == 0;
    }
  }
  object->class_id = class_id;
}

/* Removes objects not seen for @timeout. */
static void
remove_objects (GstCclZoneSet *self, GstClockTime timeout, GstClockTime time)
{
  guint n = 0, i;

  for (i = self->objects->len; i-- > 0;) {
    Object *object = get_object (self, i);

    if (time <= object->seen + timeout)
      continue;
    settle_object (self, object);
    leave_zones (self, object);
    g_clear_pointer (&object->states, g_free);
    object->gone = TRUE;
  }

  for (i = 0; i < self->objects->len; i++) {
    Object object = *get_object (self, i);

    get_object (self, i)->states = NULL;
    if (!object.gone)
      *get_object (self, n++) = object;
  }
  g_array_set_size (self->objects, n);
}

void
gst_ccl_zone_set_settle (GstCclZoneSet *self)
{
  guint i;

  g_array_set_size (self->events, 0);
  for (i = 0; i < self->objects->len; i++)
    settle_object (self, get_object (self, i));
}

void
gst_ccl_zone_set_finish (GstCclZoneSet *self)
{
  guint i;

  g_array_set_size (self->events, 0);
  for (i = 0; i < self->objects->len; i++) {
    settle_object (self, get_object (self, i));
    leave_zones (self, get_object (self, i));
  }
  gst_ccl_zone_set_reset (self);
}

void
gst_ccl_zone_set_update (GstCclZoneSet *self, const GstCclZoneParams *params, GstClockTime time,
                         guint width, guint height, const GstCclZonePoint *points, guint n_points)
{
  guint i, j;

  g_array_set_size (self->events, 0);
  set_size (self, width, height);
  add_objects (self, points, n_points);
  for (i = 0; i < n_points; i++) {
    Object *object = find_object (self, points[i].track);

    if (!object) {
      self->exceeded++;
      continue;
    }
    if (points[i].class_id != object->class_id)
      change_class (self, object, points[i].class_id, time);
    add_position (object, &points[i], time);
    for (j = 0; j < self->zones->len; j++) {
      if (is_wanted (get_shape (self, j), object->class_id))
        update_state (self, j, object, params, points[i].size, time);
      update_standing (self, j, object, &points[i], time);
    }
  }
  remove_objects (self, params->timeout, time);
}
