/* cudaccl - small pictures of places in a frame, and what they show
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpatch.h"

/* Surroundings on each side: their contrast with the object tells whether it is there. */
#define MARGIN_PART 4 /* of the box's side */
#define LEAST_MARGIN 4

#define LEAST_CONTRAST 0.5 /* of the light now; the most is its inverse */
#define SURELY 0.5         /* of the other distance */

/* Differences are those above this many times what is usual in the surroundings, and above this
 * many grey levels. */
#define USUAL 3
#define LEAST_DIFFERENCE 4

static void
place_side (guint *start, guint *size, guint frame_size, guint *samples, guint *first, guint *end)
{
  const guint margin = MAX (*size / MARGIN_PART, LEAST_MARGIN);
  const guint box = *start, box_end = *start + *size;
  const guint last = MIN (box_end + margin, frame_size);

  *start -= MIN (*start, margin);
  *size = last - *start;
  *samples = MIN (*size, GST_CCL_PATCH_SIDE);
  *first = (box - *start) * *samples / *size;
  *end = ((box_end - *start) * *samples + *size - 1) / *size;
}

void
gst_ccl_patch_place (GstCclPatch *self, guint x, guint y, guint width, guint height,
                     guint frame_width, guint frame_height)
{
  self->x = x;
  self->y = y;
  self->width = width;
  self->height = height;
  place_side (&self->x, &self->width, frame_width, &self->columns, &self->left, &self->right);
  place_side (&self->y, &self->height, frame_height, &self->rows, &self->top, &self->bottom);
}

/* Returns the weight of each of a sample's two neighbours, 1/256, that blurs it as the model blurs
 * its pixels. A pixel of the model may be larger than a sample, or smaller. */
static guint
get_weight (guint size, guint samples, guint scale)
{
  const guint weight = 64 * scale * samples / size;

  return weight <= 64 ? weight : weight * weight / 64;
}

static void
blur_line (guint8 *samples, guint n, guint step, guint weight)
{
  guint before = samples[0], i;

  if (weight > 64) {
    blur_line (samples, n, step, weight - 64);
    weight = 64;
    before = samples[0];
  }
  for (i = 0; i < n; i++, samples += step) {
    const guint now = *samples, next = i + 1 < n ? samples[step] : now;

    *samples = (guint8) ((weight * (before + next) + (256 - 2 * weight) * now + 128) / 256);
    before = now;
  }
}

void
gst_ccl_patch_blur (GstCclPatch *self, guint scale)
{
  guint x, y;

  for (y = 0; y < self->rows; y++)
    blur_line (self->samples + y * self->columns, self->columns, 1,
               get_weight (self->width, self->columns, scale));
  for (x = 0; x < self->columns; x++)
    blur_line (self->samples + x, self->rows, self->columns,
               get_weight (self->height, self->rows, scale));
}

gdouble
gst_ccl_patch_get_distance (const GstCclPatch *a, const GstCclPatch *b)
{
  const gdouble n = a->columns * a->rows;
  gint64 sum_a = 0, sum_b = 0, sum_aa = 0, sum_bb = 0, sum_ab = 0;
  gdouble var_a, var_b, cov, gain = 1.0;
  guint i;

  for (i = 0; i < a->columns * a->rows; i++) {
    const gint p = a->samples[i], q = b->samples[i];

    sum_a += p;
    sum_b += q;
    sum_aa += p * p;
    sum_bb += q * q;
    sum_ab += p * q;
  }
  var_a = (gdouble) sum_aa / n - (gdouble) sum_a / n * ((gdouble) sum_a / n);
  var_b = (gdouble) sum_bb / n - (gdouble) sum_b / n * ((gdouble) sum_b / n);
  cov = (gdouble) sum_ab / n - (gdouble) sum_a / n * ((gdouble) sum_b / n);
  if (var_b > 0.0)
    gain = CLAMP (cov / var_b, LEAST_CONTRAST, 1.0 / LEAST_CONTRAST);

  return MAX (var_a - 2.0 * gain * cov + gain * gain * var_b, 0.0);
}

gboolean
gst_ccl_patch_shows (const GstCclPatch *now, const GstCclPatch *object, const GstCclPatch *before)
{
  const gdouble distance = gst_ccl_patch_get_distance (now, object);

  return distance <= gst_ccl_patch_get_distance (now, before) &&
         distance <= gst_ccl_patch_get_distance (object, before);
}

gboolean
gst_ccl_patch_shows_before (const GstCclPatch *now, const GstCclPatch *object,
                            const GstCclPatch *before)
{
  const gdouble distance = gst_ccl_patch_get_distance (now, before);

  return distance < SURELY * gst_ccl_patch_get_distance (now, object) &&
         distance < SURELY * gst_ccl_patch_get_distance (object, before);
}

static guint
get_difference (const GstCclPatch *a, const GstCclPatch *b, guint i)
{
  return (guint) ABS (a->samples[i] - b->samples[i]);
}

static gboolean
is_in_box (const GstCclPatch *patch, guint x, guint y)
{
  return x >= patch->left && x < patch->right && y >= patch->top && y < patch->bottom;
}

/* Returns the difference above which samples differ, from their median in the surroundings. */
static guint
get_floor (const GstCclPatch *object, const GstCclPatch *before)
{
  guint counts[256] = { 0 }, n = 0, seen = 0, median, x, y;

  for (y = 0; y < object->rows; y++) {
    for (x = 0; x < object->columns; x++) {
      if (is_in_box (object, x, y))
        continue;
      counts[get_difference (object, before, y * object->columns + x)]++;
      n++;
    }
  }
  for (median = 0; median < 255 && (seen += counts[median]) <= n / 2; median++)
    ;

  return MAX (USUAL * (n > 0 ? median : 0), LEAST_DIFFERENCE);
}

gdouble
gst_ccl_patch_differs (const GstCclPatch *object, const GstCclPatch *before)
{
  const guint floor = get_floor (object, before);
  guint found = 0, x, y;

  for (y = object->top; y < object->bottom; y++) {
    for (x = object->left; x < object->right; x++)
      found += get_difference (object, before, y * object->columns + x) > floor;
  }

  return (gdouble) found / ((object->right - object->left) * (object->bottom - object->top));
}

typedef struct
{
  const GstCclPatch *object, *before;
  guint floor;
  guint8 changed[GST_CCL_PATCH_SIDE * GST_CCL_PATCH_SIDE]; /* whether a sample differs */
} Change;

/* Finds which samples differ, by the majority of 3x3, so that single ones do not count. */
static void
find_change (Change *self)
{
  const gint columns = (gint) self->object->columns, rows = (gint) self->object->rows;
  gint x, y, i, j;

  for (y = 0; y < rows; y++) {
    for (x = 0; x < columns; x++) {
      guint n = 0, all = 0;

      for (j = MAX (y - 1, 0); j <= MIN (y + 1, rows - 1); j++) {
        for (i = MAX (x - 1, 0); i <= MIN (x + 1, columns - 1); i++, all++)
          n += get_difference (self->object, self->before, (guint) (j * columns + i)) > self->floor;
      }
      self->changed[y * columns + x] = 2 * n > all;
    }
  }
}

/* The vote of the border between two neighbours, @first and the one @step further, if one of them
 * has changed and the other has not: 1 if @before has the higher contrast there, -1 if @object has.
 * Samples one step away from the border are compared, where nothing is blurred. @room: whether
 * there are such samples on either side. */
static gint
get_vote (const Change *self, guint first, guint step, gboolean room_before, gboolean room_behind)
{
  const gboolean changed = self->changed[first];
  guint p = first, q = first + step;
  gint difference;

  if (changed == self->changed[q])
    return 0;
  if (room_before && self->changed[p - step] == changed)
    p -= step;
  if (room_behind && self->changed[q + step] != changed)
    q += step;
  difference = ABS (self->before->samples[p] - self->before->samples[q]) -
               ABS (self->object->samples[p] - self->object->samples[q]);

  return (difference > (gint) self->floor) - (difference < -(gint) self->floor);
}

gboolean
gst_ccl_patch_is_removed (const GstCclPatch *object, const GstCclPatch *before)
{
  const guint columns = object->columns;
  Change change = { object, before, get_floor (object, before), { 0 } };
  gint votes = 0;
  guint x, y;

  find_change (&change);
  for (y = 0; y < object->rows; y++) {
    for (x = 0; x < columns; x++) {
      const guint i = y * columns + x;

      if (x + 1 < columns)
        votes += get_vote (&change, i, 1, x > 0, x + 2 < columns);
      if (y + 1 < object->rows)
        votes += get_vote (&change, i, columns, y > 0, y + 2 < object->rows);
    }
  }

  return votes > 0;
}
