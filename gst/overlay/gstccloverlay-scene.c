/* cudaccl - what ccloverlay draws in a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlay-scene.h"

#include <math.h>
#include <string.h>

#define OPAQUE 0xff000000
#define ZONE_COLOR 0xff30c0ff
#define TRIPWIRE_COLOR 0xffffd020
#define EVENT_COLOR 0xffff4040
#define TIME_COLOR 0xffffffff

#define EVENT_TIME (500 * GST_MSECOND)
#define MAX_EVENTS 1024

/* A longer line is drawn as several, each in a small rectangle. */
#define LINE_PIECE 64.0

#define TRAIL_POINTS 64

/* The default height of the font is the frame's shorter side divided by this. */
#define FONT_SHARE 36
#define MIN_FONT_SIZE 12
#define GLYPH_HEIGHT 7

typedef struct
{
  GstClockTime time;
  gfloat x, y; /* fractions of the frame, so that trails survive a change of its size */
} TrailPoint;

typedef struct
{
  GstClockTime seen;
  guint first, n;
  TrailPoint points[TRAIL_POINTS]; /* a ring */
} Trail;

typedef struct
{
  GstClockTime time;
  guint zone;
  gdouble x, y; /* fractions of the frame */
} Event;

struct _GstCclPainter
{
  GArray *shapes;     /* GstCclShape */
  GHashTable *trails; /* Trail of each track */
  GArray *events;     /* Event */
  GstClockTime time, cleaned;

  GstCclFont *font;
  gchar *font_name;
  guint font_size;

  /* Texts of the frame that were placed, in rows of the height of one. */
  GArray *texts;   /* GstCclRectangle */
  GArray *nexts;   /* gint: next text of the row, or -1 */
  GArray *rows;    /* gint: last text of each row, or -1 */
  gint row_height; /* at least that of all texts */
};

GstCclPainter *
gst_ccl_painter_new (void)
{
  GstCclPainter *self = g_new0 (GstCclPainter, 1);

  self->shapes = g_array_new (FALSE, TRUE, sizeof (GstCclShape));
  self->trails = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->events = g_array_new (FALSE, FALSE, sizeof (Event));
  self->texts = g_array_new (FALSE, FALSE, sizeof (GstCclRectangle));
  self->nexts = g_array_new (FALSE, FALSE, sizeof (gint));
  self->rows = g_array_new (FALSE, FALSE, sizeof (gint));
  self->time = self->cleaned = GST_CLOCK_TIME_NONE;

  return self;
}

void
gst_ccl_painter_free (GstCclPainter *self)
{
  g_array_unref (self->shapes);
  g_hash_table_unref (self->trails);
  g_array_unref (self->events);
  g_array_unref (self->texts);
  g_array_unref (self->nexts);
  g_array_unref (self->rows);
  g_clear_pointer (&self->font, gst_ccl_font_free);
  g_free (self->font_name);
  g_free (self);
}

void
gst_ccl_painter_reset (GstCclPainter *self)
{
  g_hash_table_remove_all (self->trails);
  g_array_set_size (self->events, 0);
  self->time = self->cleaned = GST_CLOCK_TIME_NONE;
}

static void
ensure_font (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene)
{
  guint size = style->font_size;

  if (size == 0 && style->font && style->font[0])
    size = (guint) MAX (MIN (scene->width, scene->height) / FONT_SHARE, MIN_FONT_SIZE);
  else if (size == 0)
    size = GLYPH_HEIGHT * (guint) gst_ccl_canvas_get_width (scene->width, scene->height, 1);

  if (self->font && self->font_size == size && g_strcmp0 (self->font_name, style->font) == 0) {
    gst_ccl_font_trim (self->font);
    return;
  }
  g_clear_pointer (&self->font, gst_ccl_font_free);
  g_free (self->font_name);
  self->font = gst_ccl_font_new (style->font, size);
  self->font_name = g_strdup (style->font);
  self->font_size = size;
}

static gint
get_line (const GstCclDrawStyle *style, const GstCclScene *scene)
{
  if (style->line_width > 0)
    return (gint) style->line_width;

  return gst_ccl_canvas_get_width (scene->width, scene->height, GST_CCL_MIN_LINE_WIDTH);
}

/* Clips a line to low...high in one direction. Returns FALSE if nothing is left. */
static gboolean
clip (gdouble start, gdouble length, gdouble low, gdouble high, gdouble *from, gdouble *to)
{
  gdouble first, last;

  if (length == 0.0)
    return start >= low && start <= high;
  first = (low - start) / length;
  last = (high - start) / length;
  *from = MAX (*from, MIN (first, last));
  *to = MIN (*to, MAX (first, last));

  return *from <= *to;
}

/* Adds the visible part of a line, whose ends may have any values. */
static void
add_line (GstCclPainter *self, const GstCclScene *scene, guint32 color, gint line, gdouble x1,
          gdouble y1, gdouble x2, gdouble y2)
{
  GstCclShape shape = { GST_CCL_SHAPE_LINE, color, line };
  gdouble from = 0.0, to = 1.0, dx = x2 - x1, dy = y2 - y1;
  gint i, n;

  if (!isfinite (x1) || !isfinite (y1) || !isfinite (dx) || !isfinite (dy) ||
      !clip (x1, dx, 0.0, scene->width - 1, &from, &to) ||
      !clip (y1, dy, 0.0, scene->height - 1, &from, &to))
    return;

  n = (gint) (MAX (ABS (dx), ABS (dy)) * (to - from) / LINE_PIECE) + 1;
  for (i = 0; i < n; i++) {
    gdouble first = from + (to - from) * i / n, last = from + (to - from) * (i + 1) / n;

    shape.x[0] = CLAMP (x1 + first * dx, 0.0, scene->width - 1);
    shape.y[0] = CLAMP (y1 + first * dy, 0.0, scene->height - 1);
    shape.x[1] = CLAMP (x1 + last * dx, 0.0, scene->width - 1);
    shape.y[1] = CLAMP (y1 + last * dy, 0.0, scene->height - 1);
    g_array_append_val (self->shapes, shape);
  }
}

/* Whether @box is free of texts; their margins may overlap. */
static gboolean
is_free (const GstCclPainter *self, const GstCclRectangle *box)
{
  gint row = box->y1 / self->row_height - 1, last = box->y2 / self->row_height + 1, i;

  for (row = MAX (row, 0); row <= MIN (last, (gint) self->rows->len - 1); row++) {
    for (i = g_array_index (self->rows, gint, row); i >= 0;
         i = g_array_index (self->nexts, gint, i)) {
      const GstCclRectangle *other = &g_array_index (self->texts, GstCclRectangle, i);

      if (box->x1 + 2 < other->x2 && other->x1 + 2 < box->x2 && box->y1 < other->y2 &&
          other->y1 < box->y2)
        return FALSE;
    }
  }

  return TRUE;
}

static void
begin_texts (GstCclPainter *self, const GstCclScene *scene)
{
  const gint none = -1;
  gint row;

  self->row_height = MAX (2 * (gint) self->font_size, 16);
  g_array_set_size (self->texts, 0);
  g_array_set_size (self->nexts, 0);
  g_array_set_size (self->rows, 0);
  for (row = 0; row <= scene->height / self->row_height; row++)
    g_array_append_val (self->rows, none);
}

/* Adds text at the first free place above, below, inside, right or left of @box, which is visible.
 * Text that has no room is left out. */
static void
add_text (GstCclPainter *self, const GstCclScene *scene, guint32 color, const GstCclRectangle *box,
          const gchar *string)
{
  const GstCclText *text = gst_ccl_font_get_text (self->font, string);
  const gint left = MAX (MIN (box->x1, scene->width - text->width), 0);
  const gint places[][2] = {
    { left, box->y1 - text->height },
    { left, box->y2 },
    { left, box->y1 },
    { box->x2, box->y1 },
    { box->x1 - text->width, box->y1 },
    { left, box->y1 - 2 * text->height },
    { left, box->y2 + text->height },
    { box->x2, box->y2 - text->height },
    { left, box->y2 - text->height },
  };
  GstCclShape shape = { GST_CCL_SHAPE_TEXT, color };
  gint row, last;
  guint i;

  shape.text = text;
  for (i = 0; i < G_N_ELEMENTS (places); i++) {
    shape.box.x1 = places[i][0];
    shape.box.y1 = places[i][1];
    shape.box.x2 = shape.box.x1 + text->width;
    shape.box.y2 = shape.box.y1 + text->height;
    /* Where nothing fits, a part of the text is outside of the frame. */
    if (i != 2 && (shape.box.x1 < 0 || shape.box.y1 < 0 || shape.box.x2 > scene->width ||
                   shape.box.y2 > scene->height))
      continue;
    if (is_free (self, &shape.box))
      break;
  }
  if (i == G_N_ELEMENTS (places))
    return;

  g_array_append_val (self->shapes, shape);
  row = CLAMP (shape.box.y1 / self->row_height, 0, (gint) self->rows->len - 1);
  last = (gint) self->texts->len;
  g_array_append_val (self->texts, shape.box);
  g_array_append_val (self->nexts, g_array_index (self->rows, gint, row));
  g_array_index (self->rows, gint, row) = last;
}

/* Gets the visible part of the box. Metadata may have any values. */
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

  return OPAQUE | gst_ccl_label_get_color (get_number (style, component));
}

/* Lightens colours that are hard to read on black: halfway to white. */
static guint32
get_text_color (guint32 color)
{
  guint luma = ((color >> 16 & 255) * 2 + (color >> 8 & 255) * 5 + (color & 255)) / 8;

  return luma < 110 ? (color >> 1 & 0x7f7f7f) + 0x808080 + (color & 0xff000000) : color;
}

static void
add_component (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene,
               const GstCclComponent *component)
{
  GstCclShape shape = { GST_CCL_SHAPE_BOX, get_color (style, component), get_line (style, scene) };

  if (!get_box (scene, component, &shape.box))
    return;

  if (style->draw & GST_CCL_OVERLAY_DRAW_BOXES)
    g_array_append_val (self->shapes, shape);
  if (style->draw & GST_CCL_OVERLAY_DRAW_CENTROIDS) {
    shape.type = GST_CCL_SHAPE_CROSS;
    shape.x[0] = component->centroid_x;
    shape.y[0] = component->centroid_y;
    g_array_append_val (self->shapes, shape);
  }
  if (style->draw & GST_CCL_OVERLAY_DRAW_VELOCITIES && component->track)
    add_line (self, scene, shape.color, shape.line, component->centroid_x, component->centroid_y,
              component->centroid_x + component->velocity_x,
              component->centroid_y + component->velocity_y);
}

static void
add_component_text (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene,
                    guint index)
{
  const GstCclComponent *component = &scene->components[index];
  gboolean tracked = (style->draw & GST_CCL_OVERLAY_DRAW_TRACKS) && component->track;
  GString *text;
  GstCclRectangle box;

  if (!get_box (scene, component, &box))
    return;

  text = g_string_new (NULL);
  if (style->draw & GST_CCL_OVERLAY_DRAW_NAMES && scene->names && scene->names[index] &&
      !gst_ccl_font_is_built_in (self->font))
    g_string_append (text, g_quark_to_string (scene->names[index]));
  if (tracked || style->draw & GST_CCL_OVERLAY_DRAW_LABELS)
    g_string_append_printf (text, "%s%u", text->len ? " " : "", get_number (style, component));
  if (style->draw & GST_CCL_OVERLAY_DRAW_AREAS)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, text->len ? ":" : "", component->area);
  if (text->len)
    add_text (self, scene, get_text_color (get_color (style, component)), &box, text->str);
  g_string_free (text, TRUE);
}

static void
add_trail (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene,
           const GstCclComponent *component)
{
  guint32 color = get_color (style, component);
  Trail *trail = g_hash_table_lookup (self->trails, GUINT_TO_POINTER (component->track));
  TrailPoint point = { scene->time, (gfloat) ((component->centroid_x + 0.5) / scene->width),
                       (gfloat) ((component->centroid_y + 0.5) / scene->height) };
  const TrailPoint *last;
  guint i;

  if (!trail) {
    trail = g_new0 (Trail, 1);
    g_hash_table_insert (self->trails, GUINT_TO_POINTER (component->track), trail);
  }
  trail->seen = scene->time;
  while (trail->n > 0 && trail->points[trail->first].time + style->trail_time < scene->time) {
    trail->first = (trail->first + 1) % TRAIL_POINTS;
    trail->n--;
  }

  last = &point;
  for (i = trail->n; i-- > 0;) {
    const TrailPoint *before = &trail->points[(trail->first + i) % TRAIL_POINTS];

    add_line (self, scene, color, get_line (style, scene), (gdouble) before->x * scene->width,
              (gdouble) before->y * scene->height, (gdouble) last->x * scene->width,
              (gdouble) last->y * scene->height);
    last = before;
  }

  last = trail->n ? &trail->points[(trail->first + trail->n - 1) % TRAIL_POINTS] : NULL;
  if (last && scene->time - last->time < style->trail_time / TRAIL_POINTS)
    return;
  if (trail->n == TRAIL_POINTS) {
    trail->first = (trail->first + 1) % TRAIL_POINTS;
    trail->n--;
  }
  trail->points[(trail->first + trail->n) % TRAIL_POINTS] = point;
  trail->n++;
}

static gboolean
is_old (gpointer track, gpointer value, gpointer user_data)
{
  const GstCclPainter *self = user_data;
  const Trail *trail = value;

  return trail->seen < self->cleaned;
}

/* Advances to the time of the frame. Without times, and after a jump backwards, forgets trails and
 * events. */
static gboolean
update_time (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene)
{
  guint i;

  if (!GST_CLOCK_TIME_IS_VALID (scene->time) ||
      (GST_CLOCK_TIME_IS_VALID (self->time) && scene->time < self->time))
    gst_ccl_painter_reset (self);
  self->time = scene->time;
  if (!GST_CLOCK_TIME_IS_VALID (scene->time))
    return FALSE;

  /* Trails of tracks that are gone are removed from time to time. */
  if (!GST_CLOCK_TIME_IS_VALID (self->cleaned) || scene->time - self->cleaned > style->trail_time) {
    if (GST_CLOCK_TIME_IS_VALID (self->cleaned))
      g_hash_table_foreach_remove (self->trails, is_old, self);
    self->cleaned = scene->time;
  }
  for (i = self->events->len; i-- > 0;) {
    if (g_array_index (self->events, Event, i).time + EVENT_TIME < scene->time)
      g_array_remove_index (self->events, i);
  }

  return TRUE;
}

/* Remembers the events of the frame. */
static void
take_events (GstCclPainter *self, const GstCclScene *scene)
{
  guint i;

  for (i = 0; i < scene->zones->n_events && self->events->len < MAX_EVENTS; i++) {
    const GstCclZoneEvent *event = &scene->zones->events[i];
    Event taken = { scene->time, event->zone,
                    (event->x - scene->zones_x) * scene->zones_scale_x / scene->width,
                    (event->y - scene->zones_y) * scene->zones_scale_y / scene->height };

    g_array_append_val (self->events, taken);
  }
}

static void
add_events (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene)
{
  GstCclShape shape = { GST_CCL_SHAPE_CROSS, EVENT_COLOR, 2 * get_line (style, scene) };
  guint i;

  for (i = 0; i < self->events->len; i++) {
    const Event *event = &g_array_index (self->events, Event, i);

    shape.x[0] = event->x * scene->width;
    shape.y[0] = event->y * scene->height;
    g_array_append_val (self->shapes, shape);
  }
}

static void
get_zone_point (const GstCclScene *scene, const GstCclZone *zone, guint index, gdouble *x,
                gdouble *y)
{
  *x = (zone->points[2 * index] - scene->zones_x) * scene->zones_scale_x;
  *y = (zone->points[2 * index + 1] - scene->zones_y) * scene->zones_scale_y;
}

/* An arrow from the middle of a tripwire to the side `in`. */
static void
add_arrow (GstCclPainter *self, const GstCclScene *scene, guint32 color, gint line,
           const GstCclZone *zone)
{
  gdouble length = 10.0 * line, x1, y1, x2, y2, x, y, size;

  get_zone_point (scene, zone, 0, &x1, &y1);
  get_zone_point (scene, zone, 1, &x2, &y2);
  size = hypot (x2 - x1, y2 - y1);
  if (!(size > 0.0))
    return;

  x = length * (y1 - y2) / size;
  y = length * (x2 - x1) / size;
  x1 = (x1 + x2) / 2.0;
  y1 = (y1 + y2) / 2.0;
  add_line (self, scene, color, line, x1, y1, x1 + x, y1 + y);
  add_line (self, scene, color, line, x1 + x, y1 + y, x1 + 0.6 * x - 0.3 * y,
            y1 + 0.6 * y + 0.3 * x);
  add_line (self, scene, color, line, x1 + x, y1 + y, x1 + 0.6 * x + 0.3 * y,
            y1 + 0.6 * y - 0.3 * x);
}

static void
add_zone (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene, guint index)
{
  const GstCclZone *zone = &scene->zones->zones[index];
  guint n = zone->tripwire ? MIN (zone->n_points, 2) : zone->n_points, i;
  guint32 color = zone->color ? zone->color : zone->tripwire ? TRIPWIRE_COLOR : ZONE_COLOR;
  gint line = get_line (style, scene), wide = line;

  for (i = 0; (style->draw & GST_CCL_OVERLAY_DRAW_EVENTS) && i < self->events->len; i++) {
    if (g_array_index (self->events, Event, i).zone == index)
      wide = 2 * line;
  }
  for (i = 0; i + zone->tripwire < n; i++) {
    gdouble x1, y1, x2, y2;

    get_zone_point (scene, zone, i, &x1, &y1);
    get_zone_point (scene, zone, (i + 1) % n, &x2, &y2);
    add_line (self, scene, color, wide, x1, y1, x2, y2);
  }
  if (zone->tripwire && n == 2)
    add_arrow (self, scene, color, line, zone);
}

static void
add_zone_text (GstCclPainter *self, const GstCclScene *scene, const GstCclZone *zone)
{
  guint32 color = zone->color ? zone->color : zone->tripwire ? TRIPWIRE_COLOR : ZONE_COLOR;
  gboolean built_in = gst_ccl_font_is_built_in (self->font);
  GstCclRectangle box;
  gdouble x, y;
  gchar *text;

  if (zone->n_points == 0)
    return;
  get_zone_point (scene, zone, 0, &x, &y);
  if (!isfinite (x) || !isfinite (y))
    return;

  if (zone->tripwire)
    text = built_in
               ? g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, zone->in, zone->out)
               : g_strdup_printf ("%s: %" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT " out",
                                  zone->name, zone->in, zone->out);
  else
    text = built_in ? g_strdup_printf ("%u", zone->inside)
                    : g_strdup_printf ("%s: %u inside, %" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT
                                       " out",
                                       zone->name, zone->inside, zone->in, zone->out);
  box.x1 = box.x2 = (gint) CLAMP (x, 0.0, scene->width - 1);
  box.y1 = box.y2 = (gint) CLAMP (y, 0.0, scene->height - 1);
  add_text (self, scene, color, &box, text);
  g_free (text);
}

static void
add_time (GstCclPainter *self, const GstCclScene *scene)
{
  static const GstCclRectangle corner = { 0, 0, 0, 0 };
  guint64 time = scene->stream_time / (100 * GST_MSECOND);
  guint64 hours = time / 36000;
  gchar *text;

  if (!GST_CLOCK_TIME_IS_VALID (scene->stream_time))
    return;
  if (gst_ccl_font_is_built_in (self->font))
    text = g_strdup_printf ("%" G_GUINT64_FORMAT ":%02u:%02u", hours, (guint) (time / 600 % 60),
                            (guint) (time / 10 % 60));
  else
    text = g_strdup_printf ("%" G_GUINT64_FORMAT ":%02u:%02u.%u", hours, (guint) (time / 600 % 60),
                            (guint) (time / 10 % 60), (guint) (time % 10));
  add_text (self, scene, TIME_COLOR, &corner, text);
  g_free (text);
}

const GArray *
gst_ccl_painter_paint (GstCclPainter *self, const GstCclDrawStyle *style, const GstCclScene *scene)
{
  const GstCclZonesMeta *zones =
      style->draw & (GST_CCL_OVERLAY_DRAW_ZONES | GST_CCL_OVERLAY_DRAW_EVENTS) ? scene->zones
                                                                               : NULL;
  gboolean remembers = update_time (self, style, scene);
  guint i;

  g_array_set_size (self->shapes, 0);
  ensure_font (self, style, scene);
  begin_texts (self, scene);
  if (zones && remembers)
    take_events (self, scene);

  for (i = 0; zones && (style->draw & GST_CCL_OVERLAY_DRAW_ZONES) && i < zones->n_zones; i++)
    add_zone (self, style, scene, i);
  for (i = 0; remembers && (style->draw & GST_CCL_OVERLAY_DRAW_TRAILS) && i < scene->n_components;
       i++) {
    if (scene->components[i].track)
      add_trail (self, style, scene, &scene->components[i]);
  }
  for (i = 0; i < scene->n_components; i++)
    add_component (self, style, scene, &scene->components[i]);
  if (style->draw & GST_CCL_OVERLAY_DRAW_EVENTS)
    add_events (self, style, scene);

  if (style->draw & GST_CCL_OVERLAY_DRAW_TIME)
    add_time (self, scene);
  for (i = 0; zones && (style->draw & GST_CCL_OVERLAY_DRAW_ZONES) && i < zones->n_zones; i++)
    add_zone_text (self, scene, &zones->zones[i]);
  for (i = 0; i < scene->n_components; i++)
    add_component_text (self, style, scene, i);

  return self->shapes;
}
