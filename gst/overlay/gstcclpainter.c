/* cudaccl - what ccloverlay draws in a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpainter.h"

#include <math.h>
#include <string.h>

#define OPAQUE 0xff000000
#define ZONE_COLOR 0xff30c0ff
#define TRIPWIRE_COLOR 0xffffd020
#define EVENT_COLOR 0xffff4040
#define TIME_COLOR 0xffffffff

#define EVENT_TIME (500 * GST_MSECOND)
#define MAX_EVENTS 1024

#define ELLIPSE_SIDES 32

#define TRAIL_POINTS 64
#define MAX_TRAILS 4096

#define MAX_NAME 128 /* bytes */
#define ELLIPSIS "\xe2\x80\xa6"

/* The default line width and font size are the frame's shorter side divided by these. Lines
 * thinner than two pixels may miss the pixels whose chroma is used in subsampled formats. */
#define LINE_SHARE 360
#define MIN_LINE 2
#define FONT_SHARE 36
#define MIN_FONT_SIZE 12

/* The side of the cells that text occupies, in pixels. */
#define CELL 4

typedef struct
{
  GstClockTime time;
  gfloat x, y; /* fractions of the frame: trails survive a change of its size */
} TrailPoint;

typedef struct
{
  GstClockTime seen;
  guint first, n;
  TrailPoint points[TRAIL_POINTS]; /* ring buffer */
} Trail;

typedef struct
{
  GstClockTime time;
  guint zone;
  gdouble x, y; /* fractions of the frame */
} Event;

struct _GstCclPainter
{
  GHashTable *trails; /* Trail by track */
  GArray *events;     /* Event */

  /* The scene that is being painted. */
  GstCclCanvas *canvas;
  const GstCclDrawStyle *style;
  const GstCclScene *scene;
  gint line;
  guint8 *cells; /* 1 if occupied by text */
  gint columns, rows;
};

GstCclPainter *
gst_ccl_painter_new (void)
{
  GstCclPainter *self = g_new0 (GstCclPainter, 1);

  self->trails = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->events = g_array_new (FALSE, FALSE, sizeof (Event));

  return self;
}

void
gst_ccl_painter_free (GstCclPainter *self)
{
  g_hash_table_unref (self->trails);
  g_array_unref (self->events);
  g_free (self);
}

void
gst_ccl_painter_reset (GstCclPainter *self)
{
  g_hash_table_remove_all (self->trails);
  g_array_set_size (self->events, 0);
}

static gboolean
is_old (gpointer track, gpointer value, gpointer user_data)
{
  const GstCclPainter *self = user_data;
  const Trail *trail = value;

  return self->scene->time - trail->seen > self->style->trail_time;
}

/* Forgets old events, and trails of tracks not seen for too long. */
static void
forget_old (GstCclPainter *self)
{
  guint i;

  g_hash_table_foreach_remove (self->trails, is_old, self);
  for (i = self->events->len; i-- > 0;) {
    if (self->scene->time - g_array_index (self->events, Event, i).time > EVENT_TIME)
      g_array_remove_index (self->events, i);
  }
}

/* Returns the cells that the visible part of @area touches. */
static GstCclRectangle
get_cells (const GstCclPainter *self, const GstCclRectangle *area)
{
  const GstCclRectangle cells = { MAX (area->x1, 0) / CELL, MAX (area->y1, 0) / CELL,
                                  MIN ((area->x2 + CELL - 1) / CELL, self->columns),
                                  MIN ((area->y2 + CELL - 1) / CELL, self->rows) };

  return cells;
}

static gboolean
is_free (const GstCclPainter *self, const GstCclRectangle *area)
{
  const GstCclRectangle cells = get_cells (self, area);
  gint y;

  for (y = cells.y1; y < cells.y2; y++) {
    if (memchr (self->cells + y * self->columns + cells.x1, 1, (gsize) (cells.x2 - cells.x1)))
      return FALSE;
  }

  return TRUE;
}

/* Draws text at the first free place above, below, inside, right or left of @box, which is
 * visible. Without room, the text is left out. */
static void
draw_text (GstCclPainter *self, guint32 color, const GstCclRectangle *box, const gchar *text)
{
  const gint frame_width = self->scene->width, frame_height = self->scene->height;
  GstCclRectangle area, cells;
  gint width, height, left, y;
  guint i;

  if (!gst_ccl_canvas_set_text (self->canvas, text, &width, &height))
    return;

  left = MAX (MIN (box->x1, frame_width - width), 0);
  for (i = 0;; i++) {
    const gint places[][2] = {
      { left, box->y1 - height },
      { left, box->y2 },
      { left, box->y1 },
      { box->x2, box->y1 },
      { box->x1 - width, box->y1 },
      { left, box->y1 - 2 * height },
      { left, box->y2 + height },
      { box->x2, box->y2 - height },
      { left, box->y2 - height },
    };

    if (i == G_N_ELEMENTS (places))
      return;
    area.x1 = places[i][0];
    area.y1 = places[i][1];
    area.x2 = area.x1 + width;
    area.y2 = area.y1 + height;
    /* As a last resort, text in the box may extend beyond the frame. */
    if ((i == 2 ||
         (area.x1 >= 0 && area.y1 >= 0 && area.x2 <= frame_width && area.y2 <= frame_height)) &&
        is_free (self, &area))
      break;
  }

  gst_ccl_canvas_draw_text (self->canvas, color, area.x1, area.y1);
  cells = get_cells (self, &area);
  for (y = cells.y1; y < cells.y2; y++)
    memset (self->cells + y * self->columns + cells.x1, 1, (gsize) (cells.x2 - cells.x1));
}

/* Appends a name, cut to MAX_NAME bytes. */
static void
append_name (GString *text, const gchar *name)
{
  gsize n = strnlen (name, MAX_NAME + 1);

  if (n <= MAX_NAME) {
    g_string_append (text, name);
    return;
  }

  /* Keep characters whole. */
  for (n = MAX_NAME; n > 0 && ((guchar) name[n] & 0xc0) == 0x80; n--)
    ;
  g_string_append_len (text, name, (gssize) n);
  g_string_append (text, ELLIPSIS);
}

/* Gets the visible part of a box. Metadata may have any values. */
static gboolean
get_box (const GstCclScene *scene, const GstCclComponent *component, GstCclRectangle *box)
{
  guint64 width = (guint64) scene->width, height = (guint64) scene->height;

  box->x1 = (gint) MIN (component->x, width);
  box->y1 = (gint) MIN (component->y, height);
  box->x2 = (gint) MIN ((guint64) component->x + component->width, width);
  box->y2 = (gint) MIN ((guint64) component->y + component->height, height);

  return box->x1 < box->x2 && box->y1 < box->y2;
}

static guint
get_number (const GstCclDrawStyle *style, const GstCclComponent *component)
{
  return (style->draw & GST_CCL_OVERLAY_DRAW_TRACKS) && component->track ? component->track
                                                                         : component->label;
}

static guint32
get_color (const GstCclDrawStyle *style, const GstCclComponent *component)
{
  if (style->color >> 24)
    return style->color;

  return OPAQUE | gst_ccl_label_get_color (style->color_by_class && component->class_id
                                               ? component->class_id
                                               : get_number (style, component));
}

/* Makes colours that are hard to read on black lighter, halfway to white. */
static guint32
get_text_color (guint32 color)
{
  guint luma = ((color >> 16 & 255) * 2 + (color >> 8 & 255) * 5 + (color & 255)) / 8;

  return luma < 110 ? (color >> 1 & 0x7f7f7f) + 0x808080 + (color & 0xff000000) : color;
}

/* Draws the ellipse around (@x, @y), and its major axis. */
static void
draw_ellipse (GstCclPainter *self, guint32 color, gdouble x, gdouble y,
              const GstCclComponent *component)
{
  const gdouble c = cos (component->orientation), s = sin (component->orientation);
  const gdouble a = component->major_axis / 2.0, b = component->minor_axis / 2.0;
  gdouble last_x = x + a * c, last_y = y + a * s;
  guint i;

  gst_ccl_canvas_set_pen (self->canvas, color, self->line);
  gst_ccl_canvas_draw_line (self->canvas, x - a * c, y - a * s, last_x, last_y);
  for (i = 1; i <= ELLIPSE_SIDES; i++) {
    const gdouble angle = 2.0 * G_PI * i / ELLIPSE_SIDES;
    const gdouble u = a * cos (angle), v = b * sin (angle);
    const gdouble next_x = x + u * c - v * s, next_y = y + u * s + v * c;

    gst_ccl_canvas_draw_line (self->canvas, last_x, last_y, next_x, next_y);
    last_x = next_x;
    last_y = next_y;
  }
  gst_ccl_canvas_lift_pen (self->canvas);
}

static void
draw_component (GstCclPainter *self, const GstCclComponent *component)
{
  const GstCclOverlayDraw draw = self->style->draw;
  const guint32 color = get_color (self->style, component);
  /* Centroids are relative to the centre of the first pixel, canvases to its corner. */
  const gdouble x = component->centroid_x + 0.5, y = component->centroid_y + 0.5;
  GstCclRectangle box;

  if (!get_box (self->scene, component, &box))
    return;

  if (draw & GST_CCL_OVERLAY_DRAW_BOXES)
    gst_ccl_canvas_draw_box (self->canvas, color, self->line, &box);
  if (draw & GST_CCL_OVERLAY_DRAW_CENTROIDS)
    gst_ccl_canvas_draw_cross (self->canvas, color, self->line, x, y);
  if (draw & GST_CCL_OVERLAY_DRAW_ELLIPSES && component->features & GST_CCL_FEATURE_ELLIPSE)
    draw_ellipse (self, color, x, y, component);
  if (draw & GST_CCL_OVERLAY_DRAW_VELOCITIES && component->track) {
    gst_ccl_canvas_set_pen (self->canvas, color, self->line);
    gst_ccl_canvas_draw_line (self->canvas, x, y, x + component->velocity_x,
                              y + component->velocity_y);
    gst_ccl_canvas_lift_pen (self->canvas);
  }
}

static void
append_class (GString *text, const gchar *name, gdouble confidence)
{
  if (text->len)
    g_string_append_c (text, ' ');
  append_name (text, name);
  if (confidence > 0.0)
    g_string_append_printf (text, " %u%%", (guint) (MIN (confidence, 1.0) * 100.0 + 0.5));
}

/* For how long it has stood, and that nothing is there. */
static void
append_static (GString *text, const GstCclComponent *component)
{
  g_string_append_printf (text, "%s%s%u s", text->len ? " " : "",
                          component->flags & GST_CCL_COMPONENT_REMOVED ? "removed " : "",
                          component->static_age / 1000);
}

static void
draw_component_text (GstCclPainter *self, guint index)
{
  const GstCclComponent *component = &self->scene->components[index];
  const GstCclOverlayDraw draw = self->style->draw;
  const GQuark name = self->scene->names ? self->scene->names[index] : 0;
  const gchar *class_name = NULL;
  GstCclRectangle box;
  GString *text;

  if (!get_box (self->scene, component, &box))
    return;

  text = g_string_new (NULL);
  if (draw & GST_CCL_OVERLAY_DRAW_CLASSES && self->scene->class_names)
    class_name = gst_ccl_class_names_get_name (self->scene->class_names, component->class_id);
  /* The type of a region is often its class. */
  if (draw & GST_CCL_OVERLAY_DRAW_NAMES && name &&
      g_strcmp0 (class_name, g_quark_to_string (name)) != 0)
    append_name (text, g_quark_to_string (name));
  if (class_name)
    append_class (text, class_name, component->confidence);
  if (draw & GST_CCL_OVERLAY_DRAW_LABELS ||
      (draw & GST_CCL_OVERLAY_DRAW_TRACKS && component->track))
    g_string_append_printf (text, "%s%u", text->len ? " " : "",
                            get_number (self->style, component));
  if (draw & (GST_CCL_OVERLAY_DRAW_LABELS | GST_CCL_OVERLAY_DRAW_TRACKS) &&
      component->flags & GST_CCL_COMPONENT_STATIC)
    append_static (text, component);
  if (draw & GST_CCL_OVERLAY_DRAW_AREAS)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, text->len ? ":" : "", component->area);
  if (text->len)
    draw_text (self, get_text_color (get_color (self->style, component)), &box, text->str);
  g_string_free (text, TRUE);
}

/* Returns the trail of a track, or NULL if there are too many. */
static Trail *
find_trail (GstCclPainter *self, guint track)
{
  Trail *trail = g_hash_table_lookup (self->trails, GUINT_TO_POINTER (track));

  if (!trail && g_hash_table_size (self->trails) < MAX_TRAILS) {
    trail = g_new0 (Trail, 1);
    g_hash_table_insert (self->trails, GUINT_TO_POINTER (track), trail);
  }

  return trail;
}

/* Draws the trail of a component, then extends it. */
static void
draw_trail (GstCclPainter *self, const GstCclComponent *component)
{
  const gdouble width = self->scene->width, height = self->scene->height;
  const TrailPoint point = { self->scene->time, (gfloat) ((component->centroid_x + 0.5) / width),
                             (gfloat) ((component->centroid_y + 0.5) / height) };
  const TrailPoint *last = &point;
  Trail *trail = find_trail (self, component->track);
  guint i;

  if (!trail) {
    gst_ccl_canvas_leave_out (self->canvas);
    return;
  }
  trail->seen = self->scene->time;
  while (trail->n > 0 &&
         self->scene->time - trail->points[trail->first].time > self->style->trail_time) {
    trail->first = (trail->first + 1) % TRAIL_POINTS;
    trail->n--;
  }

  gst_ccl_canvas_set_pen (self->canvas, get_color (self->style, component), self->line);
  for (i = trail->n; i-- > 0;) {
    const TrailPoint *before = &trail->points[(trail->first + i) % TRAIL_POINTS];

    gst_ccl_canvas_draw_line (self->canvas, before->x * width, before->y * height, last->x * width,
                              last->y * height);
    last = before;
  }
  gst_ccl_canvas_lift_pen (self->canvas);

  last = trail->n ? &trail->points[(trail->first + trail->n - 1) % TRAIL_POINTS] : NULL;
  if (last && self->scene->time - last->time < self->style->trail_time / TRAIL_POINTS)
    return;
  if (trail->n == TRAIL_POINTS) {
    trail->first = (trail->first + 1) % TRAIL_POINTS;
    trail->n--;
  }
  trail->points[(trail->first + trail->n) % TRAIL_POINTS] = point;
  trail->n++;
}

/* Keeps the events of the scene for the next frames. */
static void
take_events (GstCclPainter *self)
{
  const GstCclScene *scene = self->scene;
  guint i;

  for (i = 0; i < scene->zones->n_events; i++) {
    const GstCclZoneEvent *event = &scene->zones->events[i];
    Event taken = { self->scene->time, event->zone,
                    (event->x - scene->zones_x) * scene->zones_scale_x / scene->width,
                    (event->y - scene->zones_y) * scene->zones_scale_y / scene->height };

    if (self->events->len < MAX_EVENTS)
      g_array_append_val (self->events, taken);
    else
      gst_ccl_canvas_leave_out (self->canvas);
  }
}

static void
draw_events (GstCclPainter *self)
{
  guint i;

  for (i = 0; i < self->events->len; i++) {
    const Event *event = &g_array_index (self->events, Event, i);

    gst_ccl_canvas_draw_cross (self->canvas, EVENT_COLOR, 2 * self->line,
                               event->x * self->scene->width, event->y * self->scene->height);
  }
}

static guint32
get_zone_color (const GstCclZone *zone)
{
  if (zone->color)
    return zone->color;

  return zone->tripwire ? TRIPWIRE_COLOR : ZONE_COLOR;
}

static void
get_zone_point (const GstCclScene *scene, const GstCclZone *zone, guint index, gdouble *x,
                gdouble *y)
{
  *x = (zone->points[2 * index] - scene->zones_x) * scene->zones_scale_x;
  *y = (zone->points[2 * index + 1] - scene->zones_y) * scene->zones_scale_y;
}

/* Draws an arrow from the middle of a tripwire to the side `in`. */
static void
draw_arrow (GstCclPainter *self, const GstCclZone *zone)
{
  gdouble length = 10.0 * self->line, x1, y1, x2, y2, x, y, size;

  get_zone_point (self->scene, zone, 0, &x1, &y1);
  get_zone_point (self->scene, zone, 1, &x2, &y2);
  size = hypot (x2 - x1, y2 - y1);
  if (!(size > 0.0))
    return;

  x = length * (y1 - y2) / size;
  y = length * (x2 - x1) / size;
  x1 = (x1 + x2) / 2.0;
  y1 = (y1 + y2) / 2.0;
  gst_ccl_canvas_set_pen (self->canvas, get_zone_color (zone), self->line);
  gst_ccl_canvas_draw_line (self->canvas, x1, y1, x1 + x, y1 + y);
  gst_ccl_canvas_draw_line (self->canvas, x1 + x, y1 + y, x1 + 0.6 * x - 0.3 * y,
                            y1 + 0.6 * y + 0.3 * x);
  gst_ccl_canvas_draw_line (self->canvas, x1 + x, y1 + y, x1 + 0.6 * x + 0.3 * y,
                            y1 + 0.6 * y - 0.3 * x);
  gst_ccl_canvas_lift_pen (self->canvas);
}

static void
draw_zone (GstCclPainter *self, const GstCclZone *zone, gboolean has_event)
{
  const guint n = zone->tripwire ? MIN (zone->n_points, 2) : zone->n_points;
  guint i;

  gst_ccl_canvas_set_pen (self->canvas, get_zone_color (zone),
                          has_event ? 2 * self->line : self->line);
  for (i = 0; i + zone->tripwire < n; i++) {
    gdouble x1, y1, x2, y2;

    get_zone_point (self->scene, zone, i, &x1, &y1);
    get_zone_point (self->scene, zone, (i + 1) % n, &x2, &y2);
    gst_ccl_canvas_draw_line (self->canvas, x1, y1, x2, y2);
  }
  gst_ccl_canvas_lift_pen (self->canvas);
  if (zone->tripwire && n == 2)
    draw_arrow (self, zone);
}

static void
draw_zones (GstCclPainter *self)
{
  const GstCclZonesMeta *zones = self->scene->zones;
  guint8 *has_event = g_new0 (guint8, zones->n_zones);
  guint i;

  for (i = 0; self->style->draw & GST_CCL_OVERLAY_DRAW_EVENTS && i < self->events->len; i++) {
    const Event *event = &g_array_index (self->events, Event, i);

    if (event->zone < zones->n_zones)
      has_event[event->zone] = 1;
  }
  for (i = 0; i < zones->n_zones; i++)
    draw_zone (self, &zones->zones[i], has_event[i]);
  g_free (has_event);
}

static void
draw_zone_text (GstCclPainter *self, const GstCclZone *zone)
{
  GstCclRectangle box;
  GString *text;
  gdouble x, y;

  if (zone->n_points == 0)
    return;
  get_zone_point (self->scene, zone, 0, &x, &y);
  if (!isfinite (x) || !isfinite (y))
    return;

  text = g_string_new (NULL);
  append_name (text, zone->name);
  g_string_append (text, ": ");
  if (!zone->tripwire)
    g_string_append_printf (text, "%u inside, ", zone->inside);
  g_string_append_printf (text, "%" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT " out", zone->in,
                          zone->out);
  box.x1 = box.x2 = (gint) CLAMP (x, 0.0, self->scene->width - 1);
  box.y1 = box.y2 = (gint) CLAMP (y, 0.0, self->scene->height - 1);
  draw_text (self, get_zone_color (zone), &box, text->str);
  g_string_free (text, TRUE);
}

static void
draw_time (GstCclPainter *self)
{
  static const GstCclRectangle corner = { 0, 0, 0, 0 };
  const guint64 time = self->scene->stream_time / (100 * GST_MSECOND);
  gchar *text;

  if (!GST_CLOCK_TIME_IS_VALID (self->scene->stream_time))
    return;
  text = g_strdup_printf ("%" G_GUINT64_FORMAT ":%02u:%02u.%u", time / 36000,
                          (guint) (time / 600 % 60), (guint) (time / 10 % 60), (guint) (time % 10));
  draw_text (self, TIME_COLOR, &corner, text);
  g_free (text);
}

/* Draws the scene. Later shapes cover earlier ones. */
static void
draw_scene (GstCclPainter *self)
{
  const GstCclScene *scene = self->scene;
  const GstCclOverlayDraw draw = self->style->draw;
  const gboolean has_zones = scene->zones && draw & GST_CCL_OVERLAY_DRAW_ZONES;
  guint i;

  if (scene->zones && draw & (GST_CCL_OVERLAY_DRAW_ZONES | GST_CCL_OVERLAY_DRAW_EVENTS))
    take_events (self);
  if (has_zones)
    draw_zones (self);
  for (i = 0; draw & GST_CCL_OVERLAY_DRAW_TRAILS && i < scene->n_components; i++) {
    if (scene->components[i].track)
      draw_trail (self, &scene->components[i]);
  }
  for (i = 0; i < scene->n_components; i++)
    draw_component (self, &scene->components[i]);
  if (draw & GST_CCL_OVERLAY_DRAW_EVENTS)
    draw_events (self);

  if (draw & GST_CCL_OVERLAY_DRAW_TIME)
    draw_time (self);
  for (i = 0; has_zones && i < scene->zones->n_zones; i++)
    draw_zone_text (self, &scene->zones->zones[i]);
  for (i = 0; i < scene->n_components; i++)
    draw_component_text (self, i);
}

gboolean
gst_ccl_painter_paint (GstCclPainter *self, GstCclCanvas *canvas, const GstCclDrawStyle *style,
                       const GstCclScene *scene)
{
  const gint side = MIN (scene->width, scene->height);
  const gint font_size =
      style->font_size ? (gint) style->font_size : MAX (side / FONT_SHARE, MIN_FONT_SIZE);

  if (!gst_ccl_canvas_begin (canvas, scene->width, scene->height, scene->yuv, style->font,
                             font_size))
    return FALSE;

  self->canvas = canvas;
  self->style = style;
  self->scene = scene;
  self->line = style->line_width ? (gint) style->line_width
                                 : MAX ((side + LINE_SHARE / 2) / LINE_SHARE, MIN_LINE);
  self->columns = (scene->width + CELL - 1) / CELL;
  self->rows = (scene->height + CELL - 1) / CELL;
  self->cells = g_malloc0_n ((gsize) self->columns, (gsize) self->rows);
  forget_old (self);
  draw_scene (self);
  g_clear_pointer (&self->cells, g_free);

  return TRUE;
}
