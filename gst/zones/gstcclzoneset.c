/* cudaccl - zones and tripwires, and what crosses them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclzoneset.h"

#include <math.h>
#include <string.h>

/* Within the hysteresis, an object has crossed a border when it is beyond it by this many standard
 * deviations of its position, and for this time. */
#define SURE_SIGMA 3.0
#define SURE_TIME (300 * GST_MSECOND)
#define NOISE_TIME 1.0  /* s that the noise is averaged over */
#define NOISE_SAMPLES 3 /* second differences needed before the noise is known */

/* What is known about an object and a zone. */
typedef struct
{
  gint side;           /* 1: inside, or on the side `in`; -1: the other; 0: not known yet */
  gint last;           /* side where it was seen last, certain or not */
  gdouble x, y;        /* where that was */
  gint over;           /* times it crossed the tripwire inwards, less outwards, since certain */
  GstClockTime since;  /* entered, or GST_CLOCK_TIME_NONE */
  GstClockTime beyond; /* on the other side since then, though not far enough, or NONE */
  gboolean dwelled;
} State;

typedef struct
{
  guint track;
  GstClockTime seen;
  State *states; /* of each zone */
  guint n_points;
  gdouble points[2][2]; /* the last two */
  gdouble noise[2];     /* variances of x and y */
} Object;

struct _GstCclZoneSet
{
  GArray *zones;   /* GstCclZone */
  GArray *objects; /* Object, by track */
  GstClockTime time;
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
clear_object (gpointer data)
{
  g_free (((Object *) data)->states);
}

GstCclZoneSet *
gst_ccl_zone_set_new (void)
{
  GstCclZoneSet *self = g_new0 (GstCclZoneSet, 1);

  self->zones = g_array_new (FALSE, TRUE, sizeof (GstCclZone));
  g_array_set_clear_func (self->zones, clear_zone);
  self->objects = g_array_new (FALSE, TRUE, sizeof (Object));
  g_array_set_clear_func (self->objects, clear_object);

  return self;
}

void
gst_ccl_zone_set_free (GstCclZoneSet *self)
{
  g_array_unref (self->zones);
  g_array_unref (self->objects);
  g_free (self);
}

void
gst_ccl_zone_set_reset (GstCclZoneSet *self)
{
  guint i;

  self->time = 0;
  g_array_set_size (self->objects, 0);
  for (i = 0; i < self->zones->len; i++)
    g_array_index (self->zones, GstCclZone, i).inside = 0;
}

const GstCclZone *
gst_ccl_zone_set_get_zones (const GstCclZoneSet *self, guint *n_zones)
{
  *n_zones = self->zones->len;

  return (const GstCclZone *) self->zones->data;
}

/* Whether all points are on a line, up to rounding errors. The signed area cannot tell: it may be 0
 * if sides cross. */
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

gboolean
gst_ccl_zone_set_take_zone (GstCclZoneSet *self, GstCclZone *zone, const gchar *place,
                            GError **error)
{
  const gchar *problem = NULL;
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    if (g_str_equal (g_array_index (self->zones, GstCclZone, i).name, zone->name))
      problem = "the name is taken";
  }
  if (!g_utf8_validate (zone->name, -1, NULL))
    problem = "the name is not UTF-8";
  else if (zone->tripwire && zone->n_points != 2)
    problem = "a tripwire has two points";
  else if (zone->tripwire && memcmp (zone->points, zone->points + 2, 2 * sizeof (gdouble)) == 0)
    problem = "the points of a tripwire must differ";
  else if (!zone->tripwire && zone->n_points < 3)
    problem = "a zone has three points or more";
  else if (!zone->tripwire && is_flat (zone))
    problem = "the zone has no area";

  if (problem) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "%s: %s", place, problem);
    clear_zone (zone);
    return FALSE;
  }
  g_array_append_val (self->zones, *zone);

  return TRUE;
}

static gboolean
is_same (const GstCclZone *a, const GstCclZone *b)
{
  return a->tripwire == b->tripwire && a->n_points == b->n_points &&
         g_str_equal (a->name, b->name) &&
         memcmp (a->points, b->points, 2 * a->n_points * sizeof (gdouble)) == 0;
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

void
gst_ccl_zone_set_take_state (GstCclZoneSet *self, GstCclZoneSet *old)
{
  guint i, j, k;

  self->time = old->time;
  g_array_set_size (self->objects, 0);
  for (k = 0; k < old->objects->len; k++) {
    Object object = g_array_index (old->objects, Object, k);

    object.states = states_new (self);
    g_array_append_val (self->objects, object);
  }

  for (i = 0; i < self->zones->len; i++) {
    GstCclZone *zone = &g_array_index (self->zones, GstCclZone, i);

    for (j = 0; j < old->zones->len; j++) {
      const GstCclZone *before = &g_array_index (old->zones, GstCclZone, j);

      if (!is_same (zone, before))
        continue;
      zone->in = before->in;
      zone->out = before->out;
      zone->inside = before->inside;
      for (k = 0; k < old->objects->len; k++)
        g_array_index (self->objects, Object, k).states[i] =
            g_array_index (old->objects, Object, k).states[j];
    }
  }
}

static void
get_scale (const GstCclZone *zone, guint width, guint height, gdouble scale[2])
{
  gboolean shares = TRUE;
  guint i;

  for (i = 0; i < 2 * zone->n_points; i++)
    shares = shares && zone->points[i] <= 1.0;
  scale[0] = shares ? width : 1.0;
  scale[1] = shares ? height : 1.0;
}

void
gst_ccl_zone_set_attach (const GstCclZoneSet *self, GstBuffer *buffer, guint width, guint height,
                         const GArray *events)
{
  GstCclZonesMeta *meta;
  guint first, i, j;

  meta = gst_buffer_get_ccl_zones_meta (buffer);
  first = meta ? meta->n_zones : 0;
  meta = gst_buffer_add_ccl_zones_meta (buffer, width, height,
                                        (const GstCclZone *) self->zones->data, self->zones->len,
                                        (const GstCclZoneEvent *) events->data, events->len);
  for (i = 0; i < self->zones->len; i++) {
    GstCclZone *zone = &meta->zones[first + i];
    gdouble scale[2];

    get_scale (&g_array_index (self->zones, GstCclZone, i), width, height, scale);
    for (j = 0; j < 2 * zone->n_points; j++)
      zone->points[j] *= scale[j % 2];
  }
}

static gdouble
get_cross (gdouble ax, gdouble ay, gdouble bx, gdouble by, gdouble px, gdouble py)
{
  return (bx - ax) * (py - ay) - (by - ay) * (px - ax);
}

static gdouble
get_segment_distance (gdouble ax, gdouble ay, gdouble bx, gdouble by, gdouble px, gdouble py)
{
  gdouble dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
  gdouble share = length > 0.0 ? ((px - ax) * dx + (py - ay) * dy) / length : 0.0;

  share = CLAMP (share, 0.0, 1.0);

  return hypot (px - ax - share * dx, py - ay - share * dy);
}

/* The distance to the border of a polygon, negative outside. The even-odd rule counts. */
static gdouble
get_depth (const GstCclZone *zone, const gdouble scale[2], gdouble x, gdouble y)
{
  gdouble distance = G_MAXDOUBLE;
  gboolean inside = FALSE;
  guint i;

  for (i = 0; i < zone->n_points; i++) {
    const gdouble *a = &zone->points[2 * i], *b = &zone->points[2 * ((i + 1) % zone->n_points)];
    gdouble ax = a[0] * scale[0], ay = a[1] * scale[1], bx = b[0] * scale[0], by = b[1] * scale[1];

    distance = MIN (distance, get_segment_distance (ax, ay, bx, by, x, y));
    if ((ay > y) != (by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax))
      inside = !inside;
  }

  return inside ? distance : -distance;
}

gboolean
gst_ccl_zone_set_contains (const GstCclZoneSet *self, guint width, guint height, gdouble x,
                           gdouble y)
{
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    const GstCclZone *zone = &g_array_index (self->zones, GstCclZone, i);
    gdouble scale[2];

    if (zone->tripwire)
      continue;
    any = TRUE;
    get_scale (zone, width, height, scale);
    if (get_depth (zone, scale, x, y) >= 0.0)
      return TRUE;
  }

  return !any;
}

/* The distance to the line of a tripwire, positive on the side `in`. */
static gdouble
get_offset (const GstCclZone *zone, const gdouble scale[2], gdouble x, gdouble y)
{
  const gdouble *p = zone->points;
  gdouble ax = p[0] * scale[0], ay = p[1] * scale[1], bx = p[2] * scale[0], by = p[3] * scale[1];

  return get_cross (ax, ay, bx, by, x, y) / hypot (bx - ax, by - ay);
}

/* Whether the way from one side of the line to the other led over the tripwire. */
static gboolean
is_crossing (const GstCclZone *zone, const gdouble scale[2], const State *state, gdouble x,
             gdouble y)
{
  const gdouble *p = zone->points;
  gdouble ax = p[0] * scale[0], ay = p[1] * scale[1], bx = p[2] * scale[0], by = p[3] * scale[1];

  return (get_cross (state->x, state->y, x, y, ax, ay) > 0.0) !=
         (get_cross (state->x, state->y, x, y, bx, by) > 0.0);
}

static void
add_event (GArray *events, GstCclZoneEventType type, const GstCclZone *zone, guint index,
           const GstCclZonePoint *point, GstClockTime time, GstClockTime since)
{
  GstCclZoneEvent event = { type,     index,    point->track, 0,           point->x,
                            point->y, zone->in, zone->out,    zone->inside };

  if (GST_CLOCK_TIME_IS_VALID (since) && time > since)
    event.dwell = time - since;
  g_array_append_val (events, event);
}

static void
change_side (GstCclZone *zone, guint index, State *state, const GstCclZonePoint *point,
             GstClockTime time, GArray *events)
{
  gint side = state->last;

  if (!zone->tripwire && side > 0) {
    /* What appears inside has entered as well. */
    zone->in++;
    zone->inside++;
    state->since = time;
    state->dwelled = FALSE;
    add_event (events, GST_CCL_ZONE_ENTER, zone, index, point, time, time);
  } else if (!zone->tripwire && state->side > 0) {
    zone->out++;
    zone->inside--;
    add_event (events, GST_CCL_ZONE_LEAVE, zone, index, point, time, state->since);
    state->since = GST_CLOCK_TIME_NONE;
  } else if (zone->tripwire && state->over * side > 0) {
    *(side > 0 ? &zone->in : &zone->out) += 1;
    add_event (events, side > 0 ? GST_CCL_ZONE_IN : GST_CCL_ZONE_OUT, zone, index, point, time,
               time);
  }
  state->side = side;
  state->over = 0;
  state->beyond = GST_CLOCK_TIME_NONE;
}

/* Estimates the noise of an object's position. Of an object that moves smoothly, three successive
 * positions are on a line, evenly spaced: their second difference has 6 times the variance of one
 * position. Gaps make the estimate larger, never too small. */
static void
update_noise (Object *object, const GstCclZonePoint *point, GstClockTime time)
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
}

/* How far an object may be beyond a border by its noise alone. */
static gdouble
get_uncertainty (const GstCclZone *zone, const gdouble scale[2], const Object *object)
{
  gdouble variance = MAX (object->noise[0], object->noise[1]);

  if (object->n_points < NOISE_SAMPLES + 2)
    return G_MAXDOUBLE;
  if (zone->tripwire) {
    gdouble dx = (zone->points[2] - zone->points[0]) * scale[0];
    gdouble dy = (zone->points[3] - zone->points[1]) * scale[1];

    variance = (dy * dy * object->noise[0] + dx * dx * object->noise[1]) / (dx * dx + dy * dy);
  }

  return SURE_SIGMA * sqrt (variance);
}

/* Whether an object has certainly crossed a border: it is beyond it by the hysteresis, or for the
 * settling time, or for SURE_TIME and by more than the uncertainty of its position. */
static gboolean
is_beyond (const GstCclZone *zone, const gdouble scale[2], const Object *object, const State *state,
           const GstCclZoneParams *params, gdouble size, gdouble offset, GstClockTime time)
{
  GstClockTime since = time - state->beyond;

  if (ABS (offset) >= params->hysteresis * size || since >= params->settle)
    return TRUE;

  return since >= SURE_TIME && ABS (offset) >= get_uncertainty (zone, scale, object);
}

/* An object that has changed sides has crossed a tripwire if it went over the line itself
 * meanwhile, not past one of its ends. */
static void
update_state (GstCclZone *zone, guint index, const Object *object, State *state,
              const GstCclZoneParams *params, const GstCclZonePoint *point, GstClockTime time,
              guint width, guint height, GArray *events)
{
  gdouble scale[2], offset;
  gint side;

  get_scale (zone, width, height, scale);
  offset = zone->tripwire ? get_offset (zone, scale, point->x, point->y)
                          : get_depth (zone, scale, point->x, point->y);
  side = offset >= 0.0 ? 1 : -1;

  if (zone->tripwire && state->last && side != state->last &&
      is_crossing (zone, scale, state, point->x, point->y))
    state->over += side;
  state->last = side;
  state->x = point->x;
  state->y = point->y;

  if (side == state->side) {
    /* Those who go round the end of a tripwire and back over it have crossed it. */
    if (zone->tripwire && state->over * side > 0)
      change_side (zone, index, state, point, time, events);
    state->beyond = GST_CLOCK_TIME_NONE;
  } else {
    if (!GST_CLOCK_TIME_IS_VALID (state->beyond))
      state->beyond = time;
    if (!state->side || is_beyond (zone, scale, object, state, params, point->size, offset, time))
      change_side (zone, index, state, point, time, events);
  }

  if (!zone->tripwire && state->side > 0 && params->dwell && !state->dwelled &&
      time - state->since >= params->dwell) {
    state->dwelled = TRUE;
    add_event (events, GST_CCL_ZONE_DWELL, zone, index, point, time, state->since);
  }
}

/* Finds or adds the object of a track. */
static Object *
get_object (GstCclZoneSet *self, guint track)
{
  guint low = 0, high = self->objects->len;
  Object object = { .track = track };

  while (low < high) {
    guint middle = (low + high) / 2;

    if (g_array_index (self->objects, Object, middle).track < track)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < self->objects->len && g_array_index (self->objects, Object, low).track == track)
    return &g_array_index (self->objects, Object, low);

  object.states = states_new (self);
  g_array_insert_val (self->objects, low, object);

  return &g_array_index (self->objects, Object, low);
}

/* An object that is not seen again stays on the side where it was last. */
static void
settle_object (GstCclZoneSet *self, const Object *object, GArray *events)
{
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    State *state = &object->states[i];
    GstCclZonePoint point = { object->track, state->x, state->y, 0.0 };

    if (state->last != state->side)
      change_side (&g_array_index (self->zones, GstCclZone, i), i, state, &point, object->seen,
                   events);
  }
}

static void
leave_zones (GstCclZoneSet *self, const Object *object, GArray *events)
{
  guint i;

  for (i = 0; i < self->zones->len; i++) {
    GstCclZone *zone = &g_array_index (self->zones, GstCclZone, i);
    State *state = &object->states[i];
    GstCclZonePoint point = { object->track, state->x, state->y, 0.0 };

    if (zone->tripwire || state->side <= 0)
      continue;
    state->last = -1;
    change_side (zone, i, state, &point, object->seen, events);
  }
}

/* Removes objects that were not there for long. */
static void
remove_objects (GstCclZoneSet *self, const GstCclZoneParams *params, GstClockTime time,
                GArray *events)
{
  guint i;

  for (i = self->objects->len; i-- > 0;) {
    const Object *object = &g_array_index (self->objects, Object, i);

    if (time <= object->seen + params->timeout)
      continue;
    settle_object (self, object, events);
    leave_zones (self, object, events);
    g_array_remove_index (self->objects, i);
  }
}

void
gst_ccl_zone_set_settle (GstCclZoneSet *self, GArray *events)
{
  guint i;

  for (i = 0; i < self->objects->len; i++)
    settle_object (self, &g_array_index (self->objects, Object, i), events);
}

void
gst_ccl_zone_set_finish (GstCclZoneSet *self, GArray *events)
{
  guint i;

  for (i = 0; i < self->objects->len; i++) {
    const Object *object = &g_array_index (self->objects, Object, i);

    settle_object (self, object, events);
    leave_zones (self, object, events);
  }
  gst_ccl_zone_set_reset (self);
}

void
gst_ccl_zone_set_update (GstCclZoneSet *self, const GstCclZoneParams *params, GstClockTime time,
                         guint width, guint height, const GstCclZonePoint *points, guint n_points,
                         GArray *events)
{
  guint i, j;

  self->time = time = MAX (time, self->time);
  for (i = 0; i < n_points; i++) {
    Object *object = get_object (self, points[i].track);

    update_noise (object, &points[i], time);
    object->seen = time;
    for (j = 0; j < self->zones->len; j++)
      update_state (&g_array_index (self->zones, GstCclZone, j), j, object, &object->states[j],
                    params, &points[i], time, width, height, events);
  }
  remove_objects (self, params, time, events);
}
