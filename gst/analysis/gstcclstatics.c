/* cudaccl - components that stand, and what has become of them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A component that is where another was before belongs to the same item. An item goes through these
 * states:
 *
 *  1. young: it loses time whenever it is not seen. Most are places that something moves through.
 *  2. settled: a quarter of the learning time (or the static time) long it has not moved. Its two
 *     pictures are taken, before the model learns it. From here on, only pictures end it: what
 *     passes in front of it does not.
 *  3. learnt: no component is there any more, and the background looks like the item. A component
 *     there is news.
 *
 * A settled item that has stood for the static time is static. */

#include "gstcclstatics.h"

#include <math.h>
#include <string.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

#define LOG_ITEM(item, what)                                                                     \
  GST_DEBUG ("%u,%u %ux%u, for %" GST_TIME_FORMAT ": " what, (item)->place[0], (item)->place[1], \
             (item)->place[2], (item)->place[3], GST_TIME_ARGS ((item)->stood))

#define MOST_ITEMS 64

/* Components of the same item have this overlap, and their centres differ by at most a part of its
 * size: masks of what stands are ragged. */
#define SAME_OVERLAP 0.5
#define SAME_PART 4.0
#define SAME_PIXELS 2.0

/* An item that begins to move keeps its size and still overlaps its place. */
#define MOVING_OVERLAP 0.2
#define LIKE_SIZE 1.3

/* A component covers an item, or touches it, from this share of its box on. */
#define COVERED 0.5
#define TOUCHED 0.1

#define SMOOTH 0.1           /* weight of a new box */
#define SETTLE_PART 4        /* of the learning time */
#define SEEN_PART 2          /* at least this part of its time, a young item was seen */
#define LEAST_DIFFERENCE 0.2 /* share of its box in which a settled item differs */

#define SAME 0.1 /* distance of pictures that show the same, of that from what was there before */
#define CALM (300 * GST_MSECOND)
#define CALM_INTERVAL (5 * GST_SECOND)
#define LOOK_INTERVAL GST_SECOND /* while something is at an item's place */
#define MOST_DOUBTS 2
#define MOST_TRIES 3 /* to settle */

typedef struct
{
  gdouble x, y, width, height;
} Box;

typedef struct
{
  Box anchor;     /* its first box, or that in which it settled */
  Box box;        /* smoothed until it settles, as are area and centroid */
  guint place[4]; /* x, y, width and height of that box in pixels, once it has settled */
  gdouble area;
  gdouble centroid_x, centroid_y;
  GstClockTime stood; /* since it began to stand */
  GstClockTime seen;  /* the part of it in which a component was there */
  guint tries;

  /* settled */
  gboolean settled, learnt, is_static, removed, expired;
  GstClockTime calm;   /* since a component was there */
  GstClockTime looked; /* since the last look at the frame */
  gboolean checked;    /* since then */
  gboolean moved;      /* before it was learnt, since it was seen at its place */
  guint doubts;        /* looks in a row that did not show it */
  GstCclPatch *before, *object;

  /* Of the last frame. */
  gint component; /* its index, or -1 */
  gint like;      /* index of one of its size beside it: itself, most likely */
  gboolean covered, touched;
} Item;

struct _GstCclStatics
{
  Item items[MOST_ITEMS]; /* oldest first */
  guint n;
};

/* A call of gst_ccl_statics_update(). */
typedef struct
{
  GstCclStatics *self;
  const GstCclStaticsParams *params;
  GstClockTime elapsed;
  const GstCclComponent *components;
  guint n;
  GstCclReadPatchFunc read;
  gpointer data;
} Frame;

GstCclStatics *
gst_ccl_statics_new (void)
{
  return g_new0 (GstCclStatics, 1);
}

static void
clear_item (Item *item)
{
  g_clear_pointer (&item->before, g_free);
  g_clear_pointer (&item->object, g_free);
}

static void
remove_item (GstCclStatics *self, guint i)
{
  clear_item (&self->items[i]);
  memmove (&self->items[i], &self->items[i + 1], (--self->n - i) * sizeof (Item));
}

void
gst_ccl_statics_reset (GstCclStatics *self)
{
  while (self->n > 0)
    remove_item (self, self->n - 1);
}

void
gst_ccl_statics_free (GstCclStatics *self)
{
  gst_ccl_statics_reset (self);
  g_free (self);
}

void
gst_ccl_statics_restart (GstCclStatics *self)
{
  guint i;

  for (i = self->n; i-- > 0;) {
    Item *item = &self->items[i];

    if (!item->is_static) {
      remove_item (self, i);
      continue;
    }
    item->learnt = TRUE; /* everything is background */
    item->checked = FALSE;
    item->calm = 0;
  }
}

static Box
get_box (const GstCclComponent *component)
{
  return (Box){ component->x, component->y, component->width, component->height };
}

static gdouble
get_common (const Box *a, const Box *b)
{
  gdouble width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  gdouble height = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);

  return MAX (width, 0.0) * MAX (height, 0.0);
}

static gdouble
get_overlap (const Box *a, const Box *b)
{
  const gdouble common = get_common (a, b);

  return common / (a->width * a->height + b->width * b->height - common);
}

/* The share of @a that @b covers. */
static gdouble
get_share (const Box *a, const Box *b)
{
  return get_common (a, b) / (a->width * a->height);
}

static gboolean
is_near (gdouble a, gdouble a_size, gdouble b, gdouble b_size, gdouble size)
{
  return fabs (a + a_size / 2.0 - b - b_size / 2.0) <= MAX (size / SAME_PART, SAME_PIXELS);
}

static gboolean
is_same (const Item *item, const Box *box)
{
  const Box *anchor = &item->anchor;

  return get_overlap (anchor, box) >= SAME_OVERLAP &&
         is_near (anchor->x, anchor->width, box->x, box->width, anchor->width) &&
         is_near (anchor->y, anchor->height, box->y, box->height, anchor->height);
}

static void
smooth (gdouble *value, gdouble to)
{
  *value += (to - *value) * SMOOTH;
}

static void
follow_component (Item *item, const GstCclComponent *component)
{
  smooth (&item->box.x, component->x);
  smooth (&item->box.y, component->y);
  smooth (&item->box.width, component->width);
  smooth (&item->box.height, component->height);
  smooth (&item->area, (gdouble) component->area);
  smooth (&item->centroid_x, component->centroid_x);
  smooth (&item->centroid_y, component->centroid_y);
}

static gboolean
is_like (const Item *item, const Box *box)
{
  const Box *anchor = &item->anchor;

  return get_overlap (anchor, box) >= MOVING_OVERLAP &&
         MAX (anchor->width, box->width) <= LIKE_SIZE * MIN (anchor->width, box->width) &&
         MAX (anchor->height, box->height) <= LIKE_SIZE * MIN (anchor->height, box->height);
}

/* Finds the component of an item, which @taken does not have yet, and what else is there. */
static void
find_component (const Frame *frame, Item *item, guint8 *taken)
{
  gdouble best = 0.0, touched = 0.0;
  guint i;

  item->component = -1;
  item->like = -1;
  item->covered = FALSE;
  for (i = 0; i < frame->n; i++) {
    const Box box = get_box (&frame->components[i]);
    const gdouble share = get_share (&item->anchor, &box);

    if (share <= 0.0)
      continue;
    touched += share;
    item->covered |= share >= COVERED;
    if (is_like (item, &box))
      item->like = (gint) i;
    if (!taken[i] && is_same (item, &box) && get_overlap (&item->anchor, &box) > best) {
      best = get_overlap (&item->anchor, &box);
      item->component = (gint) i;
    }
  }
  item->touched = touched >= TOUCHED;
  if (item->component >= 0)
    taken[item->component] = TRUE;
  item->moved = item->component < 0 && (item->moved || item->like >= 0);
}

/* Rounds a side of a box, and keeps it inside of the frame. */
static void
place_side (gdouble start, gdouble size, guint frame_size, guint *x, guint *length)
{
  const gdouble first = CLAMP (rint (start), 0.0, frame_size - 1.0);

  *x = (guint) first;
  *length = (guint) (CLAMP (rint (start + size), first + 1.0, frame_size) - first);
}

static void
place_item (const Frame *frame, Item *item)
{
  item->anchor = item->box;
  place_side (item->box.x, item->box.width, frame->params->width, &item->place[0], &item->place[2]);
  place_side (item->box.y, item->box.height, frame->params->height, &item->place[1],
              &item->place[3]);
}

static gboolean
read_patch (const Frame *frame, gboolean background, const Item *item, GstCclPatch *patch)
{
  gst_ccl_patch_place (patch, item->place[0], item->place[1], item->place[2], item->place[3],
                       frame->params->width, frame->params->height);

  return frame->read (frame->data, background, patch);
}

/* Takes the pictures of an item, which a component shows. Without a difference in luma, which alone
 * tells whether it is there, it stays young. */
static void
settle (const Frame *frame, Item *item)
{
  GstCclPatch before, object;

  item->tries++;
  place_item (frame, item);
  if (!read_patch (frame, TRUE, item, &before) || !read_patch (frame, FALSE, item, &object) ||
      gst_ccl_patch_differs (&object, &before) < LEAST_DIFFERENCE)
    return;
  item->before = g_memdup2 (&before, sizeof (before));
  item->object = g_memdup2 (&object, sizeof (object));
  item->settled = TRUE;
  LOG_ITEM (item, "has settled");
}

/* Updates a young item. Returns whether it goes on. */
static gboolean
update_young (const Frame *frame, Item *item)
{
  const GstCclStaticsParams *params = frame->params;
  const GstClockTime enough = MIN (params->static_time, params->learning_time / SETTLE_PART);

  if (item->component >= 0) {
    item->stood += frame->elapsed;
    item->seen += frame->elapsed;
  } else if (item->covered) {
    item->stood += frame->elapsed;
  } else {
    item->stood -= MIN (item->stood, 2 * frame->elapsed);
    item->seen -= MIN (item->seen, 2 * frame->elapsed);
  }
  if (item->component >= 0 && item->seen >= item->stood / SEEN_PART &&
      item->stood >= enough * (item->tries + 1)) {
    if (item->tries == MOST_TRIES)
      return FALSE;
    settle (frame, item);
  }

  return item->stood > 0 || item->component >= 0;
}

/* Whether the frame, in which nothing else is at the item's place, still shows it. Something beside
 * it may be in the picture: one look proves little. */
static gboolean
check_frame (const Frame *frame, Item *item)
{
  GstCclPatch now;

  item->looked = 0;
  if (!read_patch (frame, FALSE, item, &now))
    return TRUE;
  if (!gst_ccl_patch_shows (&now, item->object, item->before))
    return ++item->doubts < MOST_DOUBTS;
  item->doubts = 0;
  if (gst_ccl_patch_get_distance (&now, item->object) <
      SAME * gst_ccl_patch_get_distance (item->object, item->before))
    *item->object = now; /* in today's light */

  return TRUE;
}

/* The same of the background: it was learnt, or it is gone. */
static gboolean
check_background (const Frame *frame, Item *item)
{
  GstCclPatch now;

  item->checked = TRUE;
  if (!read_patch (frame, TRUE, item, &now))
    return TRUE;
  if (!gst_ccl_patch_shows (&now, item->object, item->before))
    return FALSE;
  item->learnt = TRUE;
  LOG_ITEM (item, "is in the background");

  return TRUE;
}

/* The same while something is at the item's place, which may be in front of it. The background
 * shows what is behind. */
static gboolean
check_behind (const Frame *frame, Item *item)
{
  GstCclPatch now;

  item->looked = 0;
  if (read_patch (frame, FALSE, item, &now) &&
      gst_ccl_patch_shows_before (&now, item->object, item->before))
    return FALSE;

  return !item->learnt || !read_patch (frame, TRUE, item, &now) ||
         !gst_ccl_patch_shows_before (&now, item->object, item->before);
}

/* The item's place has a component. Before it is learnt, one of its size is itself; later, that is
 * what it leaves behind. */
static gboolean
check_touched (const Frame *frame, Item *item)
{
  item->calm = 0;
  item->checked = FALSE;
  if ((item->component >= 0 && !item->learnt) || item->looked < LOOK_INTERVAL)
    return TRUE;

  return item->component < 0 ? check_behind (frame, item) : check_frame (frame, item);
}

/* The item's place has none. */
static gboolean
check_calm (const Frame *frame, Item *item)
{
  item->calm += frame->elapsed;
  if (item->calm < CALM)
    return TRUE;
  if (!item->checked)
    return check_background (frame, item) && check_frame (frame, item);

  return item->looked < (item->doubts > 0 ? LOOK_INTERVAL : CALM_INTERVAL) ||
         check_frame (frame, item);
}

/* Decides whether a settled item, which has stood long enough, is static. */
static void
become_static (const Frame *frame, Item *item)
{
  GstCclPatch now;

  if (!item->learnt) {
    if (item->component < 0 || !read_patch (frame, FALSE, item, &now))
      return;
    /* It moves within its box. */
    if (!gst_ccl_patch_shows (&now, item->object, item->before)) {
      *item->object = now;
      item->stood = 0;
      LOG_ITEM (item, "moves");
      return;
    }
  }
  item->is_static = TRUE;
  item->removed = gst_ccl_patch_is_removed (item->object, item->before);
  if (item->removed)
    LOG_ITEM (item, "was removed");
  else
    LOG_ITEM (item, "is static");
}

/* Updates a settled item. Returns whether it goes on. */
static gboolean
update_settled (const Frame *frame, Item *item)
{
  const GstCclStaticsParams *params = frame->params;

  item->stood += frame->elapsed;
  item->looked += frame->elapsed;
  if (!(item->touched ? check_touched (frame, item) : check_calm (frame, item)))
    return FALSE;
  if (!item->is_static && item->stood >= params->static_time)
    become_static (frame, item);
  item->expired = params->static_limit > 0 && item->stood > params->static_limit;

  return TRUE;
}

/* Makes room for an item, instead of one that has stood for a shorter time. */
static gboolean
make_room (GstCclStatics *self)
{
  gint least = -1;
  guint i;

  if (self->n < MOST_ITEMS)
    return TRUE;
  for (i = 0; i < self->n; i++) {
    if (!self->items[i].settled && (least < 0 || self->items[i].stood < self->items[least].stood))
      least = (gint) i;
  }
  if (least < 0 || self->items[least].stood > 0)
    return FALSE;
  remove_item (self, (guint) least);

  return TRUE;
}

/* Whether a component is a part of one that is settled, but not yet learnt. */
static gboolean
is_part (const GstCclStatics *self, const Box *box)
{
  guint i;

  for (i = 0; i < self->n; i++) {
    const Item *item = &self->items[i];

    if (item->settled && !item->learnt && get_share (box, &item->anchor) >= COVERED)
      return TRUE;
  }

  return FALSE;
}

/* Returns FALSE if there is no room. */
static gboolean
add_item (const Frame *frame, guint i)
{
  const GstCclComponent *component = &frame->components[i];
  GstCclStatics *self = frame->self;
  const Box box = get_box (component);

  if (is_part (self, &box))
    return TRUE;
  if (!make_room (self))
    return FALSE;
  self->items[self->n++] = (Item){ .anchor = box,
                                   .box = box,
                                   .area = (gdouble) component->area,
                                   .centroid_x = component->centroid_x,
                                   .centroid_y = component->centroid_y,
                                   .component = (gint) i };

  return TRUE;
}

void
gst_ccl_statics_update (GstCclStatics *self, const GstCclStaticsParams *params,
                        GstClockTime elapsed, const GstCclComponent *components, guint n,
                        GstCclReadPatchFunc read, gpointer data)
{
  /* A single frame proves little, however long the gap before it. */
  const Frame frame = { self,       params, MIN (elapsed, params->learning_time / SETTLE_PART),
                        components, n,      read,
                        data };
  g_autofree guint8 *taken = g_new0 (guint8, n + 1);
  guint i, kept = 0;

  for (i = 0; i < self->n; i++) {
    Item *item = &self->items[i];

    find_component (&frame, item, taken);
    if (item->component >= 0 && !item->settled)
      follow_component (item, &components[item->component]);
    if (item->settled ? update_settled (&frame, item) : update_young (&frame, item)) {
      self->items[kept++] = *item;
      continue;
    }
    if (item->settled)
      LOG_ITEM (item, "has left");
    clear_item (item);
  }
  self->n = kept;
  for (i = 0; i < n && (taken[i] || add_item (&frame, i)); i++)
    ;
}

void
gst_ccl_statics_skip (GstCclStatics *self)
{
  guint i;

  for (i = 0; i < self->n; i++) {
    self->items[i].component = self->items[i].like = -1;
    self->items[i].calm = 0;
  }
}

static void
set_flags (const Item *item, GstCclComponent *component)
{
  if (item->is_static)
    component->flags = GST_CCL_COMPONENT_STATIC | (item->removed ? GST_CCL_COMPONENT_REMOVED : 0);
  component->static_age = (guint) MIN (item->stood / GST_MSECOND, G_MAXUINT);
}

guint
gst_ccl_statics_apply (const GstCclStatics *self, GstCclComponent **components, guint n)
{
  guint label = 0, i;

  for (i = 0; i < n; i++)
    label = MAX (label, (*components)[i].label);
  for (i = 0; i < self->n; i++) {
    const Item *item = &self->items[i];
    const gint own = item->component >= 0 ? item->component : item->like;

    if (!item->settled || item->expired)
      continue;
    if (own >= 0 && !item->learnt) {
      set_flags (item, &(*components)[own]);
      continue;
    }
    if (!item->learnt && (item->moved || !item->is_static))
      continue;
    *components = g_renew (GstCclComponent, *components, n + 1);
    (*components)[n++] = (GstCclComponent){
      .label = ++label,
      .x = item->place[0],
      .y = item->place[1],
      .width = item->place[2],
      .height = item->place[3],
      .area = (guint64) MAX (item->area + 0.5, 1.0),
      .centroid_x = item->centroid_x,
      .centroid_y = item->centroid_y,
    };
    set_flags (item, &(*components)[n - 1]);
  }

  return n;
}
