/* cudaccl - fuzzing: transforms of GstCclMeta and GstCclZonesMeta
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies, scales, crops and matrices, one after the other, of components that are in their frame or
 * anything at all, and of zones. Components that are in their frame must stay in it; zones and
 * events all stay, and events on the same side of tripwires. */

#include "tests/fuzz/metainit.h"

#include "tests/fuzz/input.h"

#include <math.h>
#include <string.h>

#include "gst/meta/gstcclmetaprivate.h"

#define MOST_COMPONENTS 6

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_meta_init ();

  return 0;
}

static guint
draw_side (FuzzInput *input)
{
  guint side = fuzz_one_in (input, 4) ? fuzz_hostile_u32 (input) : 1 + fuzz_below (input, 5000);

  return CLAMP (side, 1, G_MAXINT);
}

static void
draw_component (FuzzInput *input, gboolean hostile, guint width, guint height,
                GstCclComponent *component)
{
  memset (component, 0, sizeof (*component));
  component->label = fuzz_hostile_u32 (input);
  component->x = fuzz_hostile_u32 (input);
  component->y = fuzz_hostile_u32 (input);
  component->width = fuzz_hostile_u32 (input);
  component->height = fuzz_hostile_u32 (input);
  component->class_id = component->label % 3;
  component->confidence = component->class_id / 2.0;
  if (hostile) {
    component->area = fuzz_hostile_u64 (input);
    component->centroid_x = fuzz_hostile_double (input);
    component->centroid_y = fuzz_hostile_double (input);
    component->track = fuzz_hostile_u32 (input);
    component->velocity_x = fuzz_hostile_double (input);
    component->velocity_y = fuzz_hostile_double (input);
    return;
  }
  component->x %= width;
  component->y %= height;
  component->width = 1 + component->width % (width - component->x);
  component->height = 1 + component->height % (height - component->y);
  component->area = 1 + fuzz_hostile_u64 (input) % ((guint64) component->width * component->height);
  component->centroid_x = component->x + component->width / 2;
  component->centroid_y = component->y + component->height / 2;
  if (fuzz_one_in (input, 2)) {
    component->track = 1;
    component->velocity_x = (gint) fuzz_u32 (input) / 1000.0;
    component->velocity_y = (gint) fuzz_u32 (input) / 1000.0;
  }
}

/* A tripwire across the frame, a polygon of the centroids, and an event at each of them. */
static void
add_zones (GstBuffer *buffer, guint width, guint height, const GstCclComponent *components, guint n)
{
  gdouble line[] = { 0.0, height / 2.0, width, height / 2.0 }, points[2 * MOST_COMPONENTS];
  GstCclZone zones[] = { { (gchar *) "line", TRUE, 0, 2, line, 1, 2, 3 },
                         { (gchar *) "polygon", FALSE, 7, n, points, 4, 5, 6 } };
  GstCclZoneEvent events[MOST_COMPONENTS];
  GstCclZonesMeta *meta;
  guint i;

  for (i = 0; i < n; i++) {
    points[2 * i] = components[i].centroid_x;
    points[2 * i + 1] = components[i].centroid_y;
    events[i] = (GstCclZoneEvent){ GST_CCL_ZONE_IN, i % 2, i, i, points[2 * i], points[2 * i + 1] };
  }
  meta =
      gst_buffer_add_ccl_zones_meta (buffer, MAX (width, 1), MAX (height, 1), zones, 2, events, n);
  meta->width = width;
  meta->height = height;
}

/* On which side of the tripwire an event is, or 0 if that is not certain. */
static gint
find_side (const GstCclZonesMeta *meta, const GstCclZoneEvent *event)
{
  const gdouble *p = meta->zones[0].points;
  gdouble dx, dy, distance;

  if (meta->zones[0].n_points != 2 || (event->x == -1.0 && event->y == -1.0))
    return 0;
  dx = p[2] - p[0];
  dy = p[3] - p[1];
  distance = (dx * (event->y - p[1]) - dy * (event->x - p[0])) / (dx * dx + dy * dy);
  if (!isfinite (distance) || !(fabs (distance) > 1e-3) || hypot (dx, dy) < 1.0 ||
      hypot (p[0], p[1]) > 1e6 * hypot (dx, dy) ||
      hypot (event->x - p[0], event->y - p[1]) > 1e6 * hypot (dx, dy))
    return 0;

  return distance > 0.0 ? 1 : -1;
}

/* All zones and events stay. */
static void
check_zones (const GstCclZonesMeta *before, const GstCclZonesMeta *after, gboolean sides)
{
  guint i;

  fuzz_check (after && after->n_zones == before->n_zones && after->n_events == before->n_events,
              "zones or events are lost");
  for (i = 0; i < after->n_zones; i++) {
    const GstCclZone *a = &before->zones[i], *b = &after->zones[i];

    fuzz_check (strcmp (a->name, b->name) == 0 && a->tripwire == b->tripwire &&
                    a->color == b->color && a->in == b->in && a->out == b->out &&
                    a->inside == b->inside && (a->n_points == b->n_points || b->n_points == 0),
                "zone %u is another", i);
  }
  for (i = 0; i < after->n_events; i++) {
    const GstCclZoneEvent *a = &before->events[i], *b = &after->events[i];

    fuzz_check (a->type == b->type && a->zone == b->zone && a->track == b->track &&
                    a->dwell == b->dwell && a->frame_age == b->frame_age,
                "event %u is another", i);
    fuzz_check (!sides || find_side (before, a) * find_side (after, b) >= 0,
                "event %u is on the other side of the tripwire", i);
  }
}

static void
transform_zones (GstBuffer *dest, GstBuffer *buffer, GQuark type, gpointer data, gboolean sides)
{
  GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);

  if (!dest)
    return;
  fuzz_check (fuzz_zones_info->transform_func (dest, &meta->meta, buffer, type, data),
              "zones are dropped");
  check_zones (meta, gst_buffer_get_ccl_zones_meta (dest), sides);
}

/* The new buffer with the transformed components, or NULL. */
static GstBuffer *
scale (FuzzInput *input, GstBuffer *buffer, GstCclMeta *meta, gboolean *hostile)
{
  GstVideoInfo in, out;
  GstVideoMetaTransform trans = { &in, &out };
  GstBuffer *dest = gst_buffer_new ();

  gst_video_info_init (&in);
  gst_video_info_init (&out);
  /* The analysed frame may have had another size: then its components may be anywhere. */
  *hostile |= fuzz_one_in (input, 4);
  in.width = (gint) (*hostile ? draw_side (input) : meta->width);
  in.height = (gint) (*hostile ? draw_side (input) : meta->height);
  out.width = (gint) draw_side (input);
  out.height = (gint) draw_side (input);
  if (!fuzz_ccl_info->transform_func (dest, &meta->meta, buffer,
                                      gst_video_meta_transform_scale_get_quark (), &trans))
    gst_clear_buffer (&dest);
  transform_zones (dest, buffer, gst_video_meta_transform_scale_get_quark (), &trans, TRUE);

  return dest;
}

static GstVideoRectangle
draw_rectangle (FuzzInput *input, guint width, guint height)
{
  GstVideoRectangle rectangle = { 0, 0, (gint) width, (gint) height };

  if (!fuzz_one_in (input, 2))
    return rectangle;
  rectangle.x = (gint) fuzz_hostile_u32 (input);
  rectangle.y = (gint) fuzz_hostile_u32 (input);
  rectangle.w = (gint) (fuzz_hostile_u32 (input) & G_MAXINT);
  rectangle.h = (gint) (fuzz_hostile_u32 (input) & G_MAXINT);

  return rectangle;
}

static GstBuffer *
project (FuzzInput *input, GstBuffer *buffer, GstCclMeta *meta)
{
  GstVideoInfo in, out;
  GstVideoMetaTransformMatrix trans;
  GstBuffer *dest = gst_buffer_new ();
  gdouble most = 0.0;
  guint i;

  memset (&trans, 0, sizeof (trans));
  gst_video_info_init (&in);
  gst_video_info_init (&out);
  in.width = (gint) MIN (meta->width, G_MAXINT);
  in.height = (gint) MIN (meta->height, G_MAXINT);
  out.width = (gint) draw_side (input);
  out.height = (gint) draw_side (input);
  trans.in_info = &in;
  trans.out_info = &out;
  trans.in_rectangle = draw_rectangle (input, (guint) in.width, (guint) in.height);
  trans.out_rectangle = draw_rectangle (input, (guint) out.width, (guint) out.height);
  for (i = 0; i < 9; i++) {
    trans.matrix[i / 3][i % 3] = i % 4 == 0;
    if (fuzz_one_in (input, 3)) {
      gdouble value = fuzz_hostile_double (input);

      trans.matrix[i / 3][i % 3] = (gfloat) CLAMP (value, -1e30, 1e30);
    }
    most = MAX (most, fabs (trans.matrix[i / 3][i % 3]));
  }
  if (!fuzz_ccl_info->transform_func (dest, &meta->meta, buffer,
                                      gst_video_meta_transform_matrix_get_quark (), &trans))
    gst_clear_buffer (&dest);
  /* If the matrix is nearly singular, sides are rounding errors. */
  transform_zones (dest, buffer, gst_video_meta_transform_matrix_get_quark (), &trans,
                   fabs (gst_ccl_project_get_determinant (&trans)) > 1e-6 * most * most * most);

  return dest;
}

static GstBuffer *
copy (FuzzInput *input, GstBuffer *buffer, GstCclMeta *meta)
{
  GstMetaTransformCopy data = { fuzz_one_in (input, 2), fuzz_u8 (input), fuzz_u8 (input) };
  GstBuffer *dest = gst_buffer_new ();

  if (fuzz_one_in (input, 4)) /* replaced, or kept as it is */
    gst_buffer_add_ccl_meta (dest, 1, 1, 0, NULL, 0);
  if (!fuzz_ccl_info->transform_func (dest, &meta->meta, buffer, _gst_meta_transform_copy, &data))
    gst_clear_buffer (&dest);
  transform_zones (dest, buffer, _gst_meta_transform_copy, &data, TRUE);

  return dest;
}

static void
crop_zones (GstBuffer *buffer, guint x, guint y, guint width, guint height)
{
  GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer), *before;
  GstBuffer *whole = gst_buffer_copy (buffer);
  gboolean inside = width > 0 && height > 0 && (guint64) x + width <= meta->width &&
                    (guint64) y + height <= meta->height;

  before = gst_buffer_get_ccl_zones_meta (whole);
  fuzz_check (gst_ccl_zones_meta_crop (meta, x, y, width, height) == inside,
              "zones are cropped to %u,%u %ux%u", x, y, width, height);
  fuzz_check (meta->width == (inside ? width : before->width) &&
                  meta->height == (inside ? height : before->height),
              "zones are cropped to %ux%u", meta->width, meta->height);
  check_zones (before, meta, TRUE);
  gst_buffer_unref (whole);
}

static GstBuffer *
crop (FuzzInput *input, GstBuffer *buffer, GstCclMeta *meta)
{
  guint x = fuzz_hostile_u32 (input), y = fuzz_hostile_u32 (input);
  guint width = fuzz_hostile_u32 (input), height = fuzz_hostile_u32 (input);
  gboolean inside;

  if (fuzz_one_in (input, 2) && meta->width > 0 && meta->height > 0) {
    x %= meta->width;
    y %= meta->height;
    width = 1 + width % (meta->width - x);
    height = 1 + height % (meta->height - y);
  }
  inside = width > 0 && height > 0 && (guint64) x + width <= meta->width &&
           (guint64) y + height <= meta->height;
  fuzz_check (gst_ccl_meta_crop (meta, x, y, width, height) == inside, "crop to %u,%u %ux%u", x, y,
              width, height);
  if (inside)
    fuzz_check (meta->width == width && meta->height == height, "cropped to %ux%u, not %ux%u",
                meta->width, meta->height, width, height);
  crop_zones (buffer, x, y, width, height);

  return gst_buffer_ref (buffer);
}

static void
check_meta (const GstCclMeta *meta, gboolean hostile, gboolean finite, const gchar *what)
{
  guint i;

  fuzz_check (meta->found >= meta->n_components, "%s: %u components of %u found", what,
              meta->n_components, meta->found);
  for (i = 0; !hostile && i < meta->n_components; i++) {
    const GstCclComponent *c = &meta->components[i];

    fuzz_check (c->width > 0 && c->height > 0 && (guint64) c->x + c->width <= meta->width &&
                    (guint64) c->y + c->height <= meta->height,
                "%s: component %u, %ux%u at %u,%u, is not in the frame of %ux%u", what, i, c->width,
                c->height, c->x, c->y, meta->width, meta->height);
    fuzz_check (c->area > 0, "%s: component %u has no pixels", what, i);
    fuzz_check (c->class_id == c->label % 3 && c->confidence == c->class_id / 2.0,
                "%s: component %u has another class", what, i);
    fuzz_check (!finite || (isfinite (c->centroid_x) && isfinite (c->centroid_y)),
                "%s: the centroid of component %u is not finite", what, i);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  gboolean hostile = fuzz_one_in (&input, 3);
  gboolean finite = TRUE; /* matrices may divide by nearly nothing */
  guint width = draw_side (&input), height = draw_side (&input);
  guint n = fuzz_below (&input, MOST_COMPONENTS + 1), steps = 1 + fuzz_below (&input, 4), i;
  GstCclComponent components[MOST_COMPONENTS];
  GstBuffer *buffer = gst_buffer_new ();

  if (hostile) {
    width = fuzz_hostile_u32 (&input);
    height = fuzz_hostile_u32 (&input);
  }
  for (i = 0; i < n; i++)
    draw_component (&input, hostile, width, height, &components[i]);
  gst_buffer_add_ccl_meta (buffer, width, height, n + fuzz_below (&input, 3), components, n);
  add_zones (buffer, width, height, components, n);

  for (i = 0; i < steps && buffer; i++) {
    static const gchar *const names[] = { "copy", "scale", "crop", "matrix" };
    GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
    guint kind = fuzz_below (&input, 4);
    GstBuffer *next;

    switch (kind) {
    case 0:
      next = copy (&input, buffer, meta);
      break;
    case 1:
      next = scale (&input, buffer, meta, &hostile);
      break;
    case 2:
      next = crop (&input, buffer, meta);
      break;
    default:
      next = project (&input, buffer, meta);
      finite = FALSE;
    }
    gst_buffer_unref (buffer);
    buffer = next;
    if (buffer)
      check_meta (gst_buffer_get_ccl_meta (buffer), hostile, finite, names[kind]);
  }
  gst_clear_buffer (&buffer);

  return 0;
}
