/* cudaccl - where a network looks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccllooks.h"

#include <math.h>
#include <string.h>

/* Smaller things, as shares of the frame, are noise. */
#define MIN_SHARE 1e-4

/* Most things that are remembered. Of a frame's components, the largest are. */
#define MAX_THINGS 128

/* How long a thing must be seen before the network looks at it: much of what appears is noise. */
#define SETTLE (100 * GST_MSECOND)

/* A thing not seen for this long is forgotten. */
#define FORGET (1 * GST_SECOND)

/* From frame to frame, a thing's center moves by less than this share of its size, and its area
 * changes by less than this factor. */
#define REACH 0.75
#define MOST_GROWTH 4

/* The network looks again after the area has changed by this factor. */
#define GROWTH 1.7

/* The network looks again at things that have merged or grown after this part of the usual time. */
#define SOONER 4

/* Where things reach over half of the picture for most of the time, they are groups that always
 * change. There the network looks at whole frames, after this part of the usual time: ccltrack
 * predicts well up to 0.4 s. */
#define NEAR_LENGTH 0.5
#define NEAR_SHARE 0.5
#define NEAR_TIME (2 * GST_SECOND) /* of the running mean */
#define NEAR_SOONER 12

/* How far a new thing may be from another to count as a part of it, as a share of its longer
 * side. */
#define BESIDE 0.2

/* Margin of crops around a thing, as a share of its longer side: networks need context. */
#define MARGIN 0.35

/* Things are scaled so that their longer side has this share of the picture. */
#define WANTED_SIZE 0.3

/* If all things have at least this share of the whole frame anyway, the picture shows the whole
 * frame: it costs the same, cuts nothing, and shows what does not move, too. */
#define ENOUGH_SIZE 0.05
#define MAX_SCALE 2.5

typedef struct
{
  gdouble x, y, width, height; /* box in the last frame in which it was seen */
  GstClockTime since, seen, looked;
  gdouble looked_area; /* area at the last look; 0: never */
  gboolean wanted;     /* the network should look at it */
  gboolean merged;     /* another thing has merged with it since the last look */
} Thing;

struct _GstCclLooks
{
  GArray *things; /* Thing */
  GstClockTime time;
  guint width, height; /* of frames */
  gdouble near;        /* share of the time with things over half of the picture, running mean */
  GstClockTime looked; /* time of the last look */
};

GstCclLooks *
gst_ccl_looks_new (void)
{
  GstCclLooks *self = g_new0 (GstCclLooks, 1);

  self->things = g_array_new (FALSE, FALSE, sizeof (Thing));
  gst_ccl_looks_reset (self);

  return self;
}

void
gst_ccl_looks_free (GstCclLooks *self)
{
  g_array_unref (self->things);
  g_free (self);
}

void
gst_ccl_looks_reset (GstCclLooks *self)
{
  g_array_set_size (self->things, 0);
  self->near = 0;
  self->time = self->looked = GST_CLOCK_TIME_NONE;
}

static Thing *
get_thing (GstCclLooks *self, guint i)
{
  return &g_array_index (self->things, Thing, i);
}

static gdouble
get_area (const Thing *thing)
{
  return thing->width * thing->height;
}

/* Returns how far @component is from where @thing was, in sizes of the larger one. From 1 on
 * they are different things; this common case must be fast. */
static gdouble
get_distance (const Thing *thing, const GstCclComponent *component)
{
  const gdouble width = REACH * MAX (thing->width, component->width);
  const gdouble height = REACH * MAX (thing->height, component->height);
  const gdouble dx = fabs (thing->x - component->x + (thing->width - component->width) / 2);
  const gdouble dy = fabs (thing->y - component->y + (thing->height - component->height) / 2);
  gdouble area, before;

  if (dx >= width || dy >= height)
    return 1;

  area = (gdouble) component->width * component->height;
  before = get_area (thing);

  return area > MOST_GROWTH * before || area * MOST_GROWTH < before ? 1
                                                                    : MAX (dx / width, dy / height);
}

static gboolean
contains_center (const GstCclComponent *component, const Thing *thing)
{
  const gdouble x = thing->x + thing->width / 2 - component->x;
  const gdouble y = thing->y + thing->height / 2 - component->y;

  return x >= 0 && x < component->width && y >= 0 && y < component->height;
}

/* Returns the nearest of the first @n things that were not seen in this frame, or -1. */
static gint
find_thing (GstCclLooks *self, guint n, const GstCclComponent *component)
{
  gdouble best = 1;
  gint found = -1;
  guint i;

  for (i = 0; i < n; i++) {
    const Thing *thing = get_thing (self, i);
    gdouble distance = thing->seen == self->time ? 1 : get_distance (thing, component);

    if (distance < best) {
      best = distance;
      found = (gint) i;
    }
  }

  return found;
}

/* Adds a thing for @component. If it appears beside a thing that the network has looked at, such
 * as a fragment of it, it counts as looked at, too. */
static Thing
make_thing (GstCclLooks *self, guint n_old, const GstCclComponent *component)
{
  const gdouble x = component->x + component->width / 2.0;
  const gdouble y = component->y + component->height / 2.0;
  Thing thing = { .since = self->time };
  guint i;

  for (i = 0; i < n_old; i++) {
    const Thing *near = get_thing (self, i);
    const gdouble margin = BESIDE * MAX (near->width, near->height);

    if (near->looked_area > 0 && near->looked >= thing.looked && x >= near->x - margin &&
        x < near->x + near->width + margin && y >= near->y - margin &&
        y < near->y + near->height + margin) {
      thing.since = MIN (thing.since, near->since);
      thing.looked = near->looked;
      thing.looked_area = (gdouble) component->width * component->height;
    }
  }

  return thing;
}

static void
see (GstCclLooks *self, guint n_old, const GstCclComponent *component)
{
  gint index = find_thing (self, n_old, component);
  Thing *thing;

  if (index < 0) {
    Thing new_thing = make_thing (self, n_old, component);

    index = (gint) self->things->len;
    g_array_append_val (self->things, new_thing);
  }
  thing = get_thing (self, (guint) index);
  thing->x = component->x;
  thing->y = component->y;
  thing->width = component->width;
  thing->height = component->height;
  thing->seen = self->time;
}

/* Forgets things that vanish inside of another one: they have merged with it. */
static void
merge_things (GstCclLooks *self, const GstCclComponent *components, guint n)
{
  guint i, k, m;

  for (i = 0; i < self->things->len;) {
    const Thing *gone = get_thing (self, i);
    gboolean merged = FALSE;

    for (k = 0; gone->seen != self->time && !merged && k < n; k++) {
      for (m = 0; !merged && m < self->things->len && contains_center (&components[k], gone); m++) {
        Thing *thing = get_thing (self, m);

        if (thing->seen == self->time && contains_center (&components[k], thing)) {
          thing->merged |= gone->looked_area > 0;
          merged = TRUE;
        }
      }
    }
    if (merged || self->time - gone->seen > FORGET)
      g_array_remove_index (self->things, i);
    else
      i++;
  }
}

static gboolean
is_wanted (const Thing *thing, GstClockTime time, GstClockTime refresh)
{
  const gdouble area = get_area (thing);

  if (thing->seen != time || time - thing->since < SETTLE)
    return FALSE;

  if (thing->looked_area == 0 || time - thing->looked >= refresh)
    return TRUE;

  return time - thing->looked >= refresh / SOONER &&
         (thing->merged || area > GROWTH * thing->looked_area ||
          area * GROWTH < thing->looked_area);
}

static gint
compare_sizes (gconstpointer a, gconstpointer b)
{
  const GstCclComponent *p = *(const GstCclComponent *const *) a;
  const GstCclComponent *q = *(const GstCclComponent *const *) b;
  const guint64 first = (guint64) p->width * p->height, second = (guint64) q->width * q->height;

  return first != second ? (first > second ? -1 : 1) : (p > q) - (p < q);
}

/* Counts the time in which things reach over half of the picture, up to @time. */
static void
count_near (GstCclLooks *self, GstClockTime time, const GstCclComponent *components, guint n,
            guint width, guint height)
{
  const gdouble passed = GST_CLOCK_TIME_IS_VALID (self->time) && time > self->time
                             ? (gdouble) (time - self->time) / NEAR_TIME
                             : 0;
  gboolean is_near = FALSE;
  guint i;

  for (i = 0; i < n && !is_near; i++)
    is_near =
        components[i].width > NEAR_LENGTH * width || components[i].height > NEAR_LENGTH * height;
  self->near += (1 - exp (-passed)) * (is_near - self->near);
}

static gboolean
has_groups (const GstCclLooks *self)
{
  return self->near > NEAR_SHARE;
}

gboolean
gst_ccl_looks_update (GstCclLooks *self, GstClockTime time, GstClockTime refresh,
                      const GstCclComponent *components, guint n, guint width, guint height)
{
  const gdouble least = MIN_SHARE * width * height;
  GPtrArray *largest = g_ptr_array_new ();
  const guint n_old = self->things->len;
  gboolean wanted = FALSE;
  guint i;

  count_near (self, time, components, n, width, height);
  self->time = time;
  self->width = width;
  self->height = height;
  for (i = 0; i < n; i++) {
    if (components[i].x < width && components[i].y < height && components[i].width > 0 &&
        components[i].height > 0 && (gdouble) components[i].width * components[i].height >= least)
      g_ptr_array_add (largest, (gpointer) &components[i]);
  }
  g_ptr_array_sort (largest, compare_sizes);
  for (i = 0; i < largest->len && self->things->len < 2 * MAX_THINGS; i++)
    see (self, n_old, g_ptr_array_index (largest, i));
  g_ptr_array_unref (largest);
  merge_things (self, components, n);

  for (i = 0; i < self->things->len; i++) {
    Thing *thing = get_thing (self, i);

    thing->wanted = is_wanted (thing, time, refresh);
    wanted |= thing->wanted;
  }
  if (!has_groups (self))
    return wanted;

  return n > 0 &&
         (!GST_CLOCK_TIME_IS_VALID (self->looked) || time - self->looked >= refresh / NEAR_SOONER);
}

void
gst_ccl_view_set_frame (GstCclView *self, guint frame_width, guint frame_height, guint width,
                        guint height, GstCclLetterbox letterbox)
{
  const gdouble scale = MIN ((gdouble) width / frame_width, (gdouble) height / frame_height);
  CclCrop crop = { 0, 0, frame_width, frame_height, 0, 0, width, height };

  if (letterbox != GST_CCL_LETTERBOX_STRETCH) {
    crop.to_width = CLAMP ((guint) (frame_width * scale + 0.5), 1, width);
    crop.to_height = CLAMP ((guint) (frame_height * scale + 0.5), 1, height);
  }
  if (letterbox == GST_CCL_LETTERBOX_CENTER) {
    crop.to_x = (width - crop.to_width) / 2;
    crop.to_y = (height - crop.to_height) / 2;
  }
  self->n = 1;
  self->crops[0] = crop;
}

/* Marks the things whose center is in @view as looked at. */
static void
mark_seen (GstCclLooks *self, const GstCclView *view)
{
  guint i, k;

  self->looked = self->time;

  for (i = 0; i < self->things->len; i++) {
    Thing *thing = get_thing (self, i);
    const gdouble x = thing->x + thing->width / 2, y = thing->y + thing->height / 2;

    for (k = 0; thing->seen == self->time && k < view->n; k++) {
      const CclCrop *crop = &view->crops[k];

      if (x >= crop->x && x < crop->x + crop->width && y >= crop->y && y < crop->y + crop->height) {
        thing->looked = self->time;
        thing->looked_area = get_area (thing);
        thing->merged = FALSE;
        break;
      }
    }
  }
}

void
gst_ccl_looks_choose_frame (GstCclLooks *self, guint width, guint height, GstCclLetterbox letterbox,
                            GstCclView *view)
{
  gst_ccl_view_set_frame (view, self->width, self->height, width, height, letterbox);
  mark_seen (self, view);
}

/* A part of the frame to be shown. */
typedef struct
{
  gdouble x1, y1, x2, y2;
  gdouble scale; /* makes its thing large enough */
  gboolean wanted;
  GstClockTime looked;
} Part;

static Part
make_part (const GstCclLooks *self, const Thing *thing, guint size)
{
  const gdouble longer = MAX (thing->width, thing->height), margin = MARGIN * longer;
  Part part = {
    .x1 = MAX (thing->x - margin, 0),
    .y1 = MAX (thing->y - margin, 0),
    .x2 = MIN (thing->x + thing->width + margin, self->width),
    .y2 = MIN (thing->y + thing->height + margin, self->height),
    .scale = MIN (WANTED_SIZE * size / longer, MAX_SCALE),
    .wanted = thing->wanted,
    .looked = thing->looked_area > 0 ? thing->looked : 0,
  };

  return part;
}

static gdouble
get_part_area (const Part *part)
{
  return (part->x2 - part->x1) * (part->y2 - part->y1);
}

/* Unites parts that overlap by much. */
static void
join_parts (GArray *parts)
{
  guint i, k;

  for (i = 0; i < parts->len; i++) {
    for (k = 0; k < parts->len; k++) {
      Part *a = &g_array_index (parts, Part, i), *b = &g_array_index (parts, Part, k), both = *a;
      const gdouble width = MIN (a->x2, b->x2) - MAX (a->x1, b->x1);
      const gdouble height = MIN (a->y2, b->y2) - MAX (a->y1, b->y1);

      if (i == k || width <= 0 || height <= 0)
        continue;
      both.x1 = MIN (a->x1, b->x1);
      both.y1 = MIN (a->y1, b->y1);
      both.x2 = MAX (a->x2, b->x2);
      both.y2 = MAX (a->y2, b->y2);
      if (get_part_area (&both) > 1.15 * (get_part_area (a) + get_part_area (b) - width * height) &&
          width * height < 0.5 * MIN (get_part_area (a), get_part_area (b)))
        continue;
      both.scale = MAX (a->scale, b->scale);
      both.wanted = a->wanted || b->wanted;
      both.looked = MIN (a->looked, b->looked);
      *a = both;
      g_array_remove_index (parts, k);
      /* The united part may overlap with others. */
      i = G_MAXUINT;
      break;
    }
  }
}

/* Wanted things first, then those looked at longest ago. */
static gint
compare_parts (gconstpointer a, gconstpointer b)
{
  const Part *p = a, *q = b;

  if (p->wanted != q->wanted)
    return p->wanted ? -1 : 1;
  if (p->looked != q->looked)
    return p->looked < q->looked ? -1 : 1;
  if (p->y1 != q->y1)
    return p->y1 < q->y1 ? -1 : 1;

  return (p->x1 > q->x1) - (p->x1 < q->x1);
}

/* Shelves of crops in the picture, from top to bottom. */
typedef struct
{
  guint width, height; /* of the picture */
  guint y;             /* top of the last shelf */
  guint used, tallest; /* width used and height of the last shelf */
} Shelves;

/* Gap between crops, so that the network does not take two for one. */
#define GAP 4

static gboolean
place (Shelves *shelves, CclCrop *crop)
{
  if (crop->to_width > shelves->width || crop->to_height > shelves->height)
    return FALSE;
  if (shelves->used + crop->to_width > shelves->width) {
    if (shelves->y + shelves->tallest + GAP + crop->to_height > shelves->height)
      return FALSE;
    shelves->y += shelves->tallest + GAP;
    shelves->used = shelves->tallest = 0;
  }
  if (shelves->y + crop->to_height > shelves->height)
    return FALSE;

  crop->to_x = shelves->used;
  crop->to_y = shelves->y;
  shelves->used += crop->to_width + GAP;
  shelves->tallest = MAX (shelves->tallest, crop->to_height);

  return TRUE;
}

/* Places parts in the picture, scaled by their own scale times @factor. Returns FALSE if a
 * wanted part does not fit. */
static gboolean
pack (const GArray *parts, gdouble factor, guint width, guint height, GstCclView *view)
{
  Shelves shelves = { .width = width, .height = height };
  guint i;

  view->n = 0;
  for (i = 0; i < parts->len; i++) {
    const Part *part = &g_array_index (parts, Part, i);
    const gdouble scale = part->scale * factor;
    CclCrop crop = { .x = (guint) part->x1, .y = (guint) part->y1 };

    crop.width = (guint) ceil (part->x2) - crop.x;
    crop.height = (guint) ceil (part->y2) - crop.y;
    crop.to_width = (guint) MAX (crop.width * scale + 0.5, 1);
    crop.to_height = (guint) MAX (crop.height * scale + 0.5, 1);
    if (view->n < CCL_MAX_CROPS && place (&shelves, &crop))
      view->crops[view->n++] = crop;
    else if (part->wanted)
      return FALSE;
  }

  return TRUE;
}

void
gst_ccl_looks_choose (GstCclLooks *self, guint width, guint height, GstCclLetterbox letterbox,
                      GstCclView *view)
{
  const gdouble whole = MIN ((gdouble) width / self->width, (gdouble) height / self->height);
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  gdouble factor = 1, best = 0, smallest = G_MAXDOUBLE;
  gboolean packed = FALSE;
  guint i;

  for (i = 0; i < self->things->len; i++) {
    const Thing *thing = get_thing (self, i);
    Part part;

    if (thing->seen != self->time)
      continue;
    if (thing->wanted)
      smallest = MIN (smallest, MAX (thing->width, thing->height));
    part = make_part (self, thing, MIN (width, height));
    g_array_append_val (parts, part);
  }
  join_parts (parts);
  g_array_sort (parts, compare_parts);
  for (i = 0; i < parts->len; i++)
    best = MAX (best, g_array_index (parts, Part, i).scale);

  /* Scale down until all wanted parts fit, or they are as small as in the whole frame. Crops would
   * cut groups. */
  if (has_groups (self) || smallest * whole >= ENOUGH_SIZE * MIN (width, height))
    factor = 0;
  for (; !packed && factor * best > whole; factor *= 0.85)
    packed = pack (parts, factor, width, height, view);
  g_array_unref (parts);
  if (packed)
    mark_seen (self, view);
  else
    gst_ccl_looks_choose_frame (self, width, height, letterbox, view);
}

/* Returns the crop whose place has the center of @box, or NULL. */
static const CclCrop *
find_crop (const GstCclView *self, const GstCclBox *box)
{
  const gdouble x = box->x + box->width / 2.0, y = box->y + box->height / 2.0;
  guint i;

  for (i = 0; i < self->n; i++) {
    const CclCrop *crop = &self->crops[i];

    if (x >= crop->to_x && x < crop->to_x + crop->to_width && y >= crop->to_y &&
        y < crop->to_y + crop->to_height)
      return crop;
  }

  return NULL;
}

/* Clips @start and @size to the range from @from to @to. Returns the share that is left. */
static gdouble
limit (gdouble *start, gdouble *size, gdouble from, gdouble to)
{
  const gdouble end = MIN (*start + *size, to), before = *size;

  *start = MAX (*start, from);
  *size = end - *start;

  return *size / before;
}

/* Returns whether an edge of the crop inside of the frame cuts the box. */
static gboolean
is_cut (const CclCrop *crop, gdouble x, gdouble y, gdouble width, gdouble height, guint frame_width,
        guint frame_height)
{
  const gdouble near_x = 0.02 * crop->width, near_y = 0.02 * crop->height;

  return (crop->x > 0 && x < crop->x + near_x) || (crop->y > 0 && y < crop->y + near_y) ||
         (crop->x + crop->width < frame_width && x + width > crop->x + crop->width - near_x) ||
         (crop->y + crop->height < frame_height && y + height > crop->y + crop->height - near_y);
}

/* Returns the share of @a that @b covers. */
static gdouble
get_cover (const GstCclBox *a, const GstCclBox *b)
{
  const gdouble width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  const gdouble height = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);

  return width > 0 && height > 0 ? width * height / ((gdouble) a->width * a->height) : 0;
}

/* Drops cut boxes if another box shows more of the object. */
static void
drop_cut (GArray *boxes, GArray *cut)
{
  GstCclBox *all = (GstCclBox *) (gpointer) boxes->data;
  guint n = 0, i, k;

  for (i = 0; i < boxes->len; i++) {
    gboolean keep = TRUE;

    for (k = 0; g_array_index (cut, gboolean, i) && keep && k < boxes->len; k++)
      keep = k == i || all[k].class_id != all[i].class_id ||
             all[k].width * all[k].height <= all[i].width * all[i].height ||
             get_cover (&all[i], &all[k]) < 0.7;
    g_array_index (cut, gboolean, i) = !keep;
  }
  for (i = 0; i < boxes->len; i++) {
    if (!g_array_index (cut, gboolean, i))
      all[n++] = all[i];
  }
  g_array_set_size (boxes, n);
}

/* Converts an outline of a picture to pixels of the frame. */
static void
map_outline (const CclCrop *crop, GstCclOutline *outline)
{
  const gdouble scale_x = (gdouble) crop->width / crop->to_width;
  const gdouble scale_y = (gdouble) crop->height / crop->to_height;
  gfloat *points = (gfloat *) (gpointer) outline->points->data;
  guint i;

  for (i = 0; i < outline->points->len; i += 2) {
    points[i] = (gfloat) (crop->x + (points[i] - crop->to_x) * scale_x);
    points[i + 1] = (gfloat) (crop->y + (points[i + 1] - crop->to_y) * scale_y);
  }
  outline->area *= scale_x * scale_y;
  outline->centroid_x = crop->x + (outline->centroid_x - crop->to_x) * scale_x;
  outline->centroid_y = crop->y + (outline->centroid_y - crop->to_y) * scale_y;
}

void
gst_ccl_view_map (const GstCclView *self, guint frame_width, guint frame_height, gdouble iou,
                  GArray *boxes, GPtrArray *outlines)
{
  GArray *cut = g_array_new (FALSE, FALSE, sizeof (gboolean));
  GstCclBox *all = (GstCclBox *) (gpointer) boxes->data;
  guint n = 0, i;

  for (i = 0; i < boxes->len; i++) {
    const CclCrop *crop = find_crop (self, &all[i]);
    gdouble x, y, width, height, scale_x, scale_y, share;
    gboolean box_cut;

    if (!crop)
      continue;
    scale_x = (gdouble) crop->width / crop->to_width;
    scale_y = (gdouble) crop->height / crop->to_height;
    x = crop->x + (all[i].x - crop->to_x) * scale_x;
    y = crop->y + (all[i].y - crop->to_y) * scale_y;
    width = all[i].width * scale_x;
    height = all[i].height * scale_y;
    box_cut = is_cut (crop, x, y, width, height, frame_width, frame_height);
    share = limit (&x, &width, crop->x, crop->x + crop->width);
    share *= limit (&y, &height, crop->y, crop->y + crop->height);
    if (!(share > 0.5) || width < 1 || height < 1)
      continue;
    if (all[i].outline > 0)
      map_outline (crop, g_ptr_array_index (outlines, all[i].outline - 1));
    all[n] = all[i];
    all[n].x = (gfloat) x;
    all[n].y = (gfloat) y;
    all[n].width = (gfloat) width;
    all[n].height = (gfloat) height;
    g_array_append_val (cut, box_cut);
    n++;
  }
  g_array_set_size (boxes, n);
  if (self->n > 1) {
    drop_cut (boxes, cut);
    gst_ccl_boxes_suppress (boxes, iou);
  }
  g_array_unref (cut);
}
