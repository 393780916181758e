/* cudaccl - masks of objects by prototypes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A mask is where the sum of the prototypes, each times a coefficient of the object, is above 0
 * (Bolya 2019, YOLACT), within the box. Prototypes are smaller than the picture; sums are
 * interpolated. */

#include "gstcclmasks.h"

#include <math.h>
#include <string.h>

/* Largest distance of an outline from the mask's, in pixels. */
#define TOLERANCE 0.75f

/* Most pixels of all masks of a picture, in pictures. */
#define MOST_AREA 16

/* Pixels that are no part of the mask are 0, others 1 until they are known to be connected. */
#define CONNECTED 2

/* A part of a picture with a border of one pixel that is no part of a mask. */
typedef struct
{
  guint x, y;          /* of the first pixel inside of the border */
  guint width, height; /* with the border */
  guint8 *pixels;
} Mask;

void
gst_ccl_outline_free (GstCclOutline *self)
{
  g_array_unref (self->points);
  g_free (self);
}

/* Returns the coefficients of the object in @row of a table, @step floats apart, or NULL. */
static const gfloat *
find_coefficients (const GstCclTensor *table, const GstCclOutputFormat *format, guint index,
                   guint row, gint64 n, gint64 *step)
{
  const gboolean columns = format->output == GST_CCL_OUTPUT_YOLOV8;
  const gint64 boxes = table->dims[columns ? 2 : 1], values = table->dims[columns ? 1 : 2];
  const gfloat *data = (const gfloat *) table->data + index * boxes * values;

  if (row >= boxes || n > values)
    return NULL;
  *step = columns ? boxes : 1;

  /* They are behind all others. */
  return columns ? data + (values - n) * boxes + row : data + row * values + values - n;
}

/* Writes the sums of the prototypes in a part of them. */
static void
add_prototypes (gfloat *sums, const GstCclTensor *prototypes, guint index,
                const gfloat *coefficients, gint64 step, gint64 x, gint64 y, gint64 width,
                gint64 height)
{
  const gint64 n = prototypes->dims[1], rows = prototypes->dims[2], columns = prototypes->dims[3];
  const gfloat *plane = (const gfloat *) prototypes->data + index * n * rows * columns;
  gint64 i, j, k;

  memset (sums, 0, (gsize) (width * height) * sizeof (*sums));
  for (k = 0; k < n; k++, plane += rows * columns) {
    for (j = 0; j < height; j++) {
      for (i = 0; i < width; i++)
        sums[j * width + i] += coefficients[k * step] * plane[(y + j) * columns + x + i];
    }
  }
}

/* A pixel's place among the prototypes: between @low and the next one. */
static gfloat
find_place (guint pixel, gdouble scale, gint64 first, gint64 n, gint64 *low)
{
  const gdouble place = CLAMP ((pixel + 0.5) * scale - 0.5 - (gdouble) first, 0.0, n - 1.0);

  *low = MIN ((gint64) place, MAX (n - 2, 0));

  return (gfloat) (place - (gdouble) *low);
}

/* Sets the pixels of a mask where the interpolated sums are above 0. */
static void
draw (Mask *mask, const gfloat *sums, gint64 first_x, gint64 first_y, gint64 columns, gint64 rows,
      gdouble scale_x, gdouble scale_y)
{
  guint x, y;

  for (y = 1; y + 1 < mask->height; y++) {
    gint64 top, left;
    const gfloat down = find_place (mask->y + y - 1, scale_y, first_y, rows, &top);
    const gfloat *row = sums + top * columns, *next = rows > 1 ? row + columns : row;

    for (x = 1; x + 1 < mask->width; x++) {
      const gfloat right = find_place (mask->x + x - 1, scale_x, first_x, columns, &left);
      const gint64 other = columns > 1 ? left + 1 : left;
      const gfloat above = row[left] + right * (row[other] - row[left]);
      const gfloat below = next[left] + right * (next[other] - next[left]);

      mask->pixels[y * mask->width + x] = above + down * (below - above) > 0.0f;
    }
  }
}

/* Marks the pixels connected with one by sides as @value. Returns their number. */
static guint
fill (Mask *mask, guint start, guint8 value, GArray *stack)
{
  const guint8 from = mask->pixels[start];
  guint n = 0;

  g_array_set_size (stack, 0);
  g_array_append_val (stack, start);
  mask->pixels[start] = value;
  while (stack->len > 0) {
    const guint at = g_array_index (stack, guint, stack->len - 1);
    const guint beside[] = { at - 1, at + 1, at - mask->width, at + mask->width };
    guint i;

    g_array_set_size (stack, stack->len - 1);
    n++;
    for (i = 0; i < G_N_ELEMENTS (beside); i++) {
      if (mask->pixels[beside[i]] == from) {
        mask->pixels[beside[i]] = value;
        g_array_append_val (stack, beside[i]);
      }
    }
  }

  return n;
}

/* Keeps the largest connected part. Returns its first pixel, 0 if there is none. */
static guint
keep_largest (Mask *mask)
{
  const guint n = mask->width * mask->height;
  GArray *stack = g_array_new (FALSE, FALSE, sizeof (guint));
  guint best = 0, most = 0, i;

  for (i = 0; i < n; i++) {
    guint count = mask->pixels[i] == 1 ? fill (mask, i, CONNECTED, stack) : 0;

    if (count > most) {
      most = count;
      best = i;
    }
  }
  if (best > 0)
    fill (mask, best, 1, stack);
  for (i = 0; i < n; i++)
    mask->pixels[i] = mask->pixels[i] == 1;
  g_array_unref (stack);

  return best;
}

/* Follows the sides of the part that has the pixel @first, the first one in raster order, with the
 * part on the right. Adds the corners. */
static void
follow (const Mask *mask, guint first, GArray *points)
{
  static const gint dx[] = { 1, 0, -1, 0 }, dy[] = { 0, 1, 0, -1 };
  /* The pixels ahead of a corner that are to the right and to the left of the way. */
  static const gint right_x[] = { 0, -1, -1, 0 }, right_y[] = { 0, 0, -1, -1 };
  static const gint left_x[] = { 0, 0, -1, -1 }, left_y[] = { -1, 0, 0, -1 };
  const gint width = (gint) mask->width;
  const gint start_x = (gint) first % width, start_y = (gint) first / width;
  gint x = start_x, y = start_y, way = 0, turn = 1;

  do {
    if (turn != 0) {
      /* The border is outside of the part, but within the numbers. */
      const gfloat corner[] = { (gfloat) (x - 1) + (gfloat) mask->x,
                                (gfloat) (y - 1) + (gfloat) mask->y };

      g_array_append_vals (points, corner, 2);
    }
    x += dx[way];
    y += dy[way];
    if (!mask->pixels[(y + right_y[way]) * width + x + right_x[way]])
      turn = 1;
    else
      turn = mask->pixels[(y + left_y[way]) * width + x + left_x[way]] ? -1 : 0;
    way = (way + turn) & 3;
  } while (x != start_x || y != start_y);
}

/* Returns the distance of point @i from the line between two others, or from @a if they are one. */
static gfloat
get_distance (const gfloat *points, guint i, guint a, guint b)
{
  const gfloat x = points[2 * b] - points[2 * a], y = points[2 * b + 1] - points[2 * a + 1];
  const gfloat from_x = points[2 * i] - points[2 * a],
               from_y = points[2 * i + 1] - points[2 * a + 1];
  const gfloat length = hypotf (x, y);

  return length > 0.0f ? fabsf (x * from_y - y * from_x) / length : hypotf (from_x, from_y);
}

/* Returns the point farthest from the line between two others, and its distance. */
static guint
find_farthest (const gfloat *points, guint a, guint b, gfloat *most)
{
  guint farthest = a, i;

  *most = 0.0f;
  for (i = a + 1; i < b; i++) {
    const gfloat distance = get_distance (points, i, a, b);

    if (distance > *most) {
      *most = distance;
      farthest = i;
    }
  }

  return farthest;
}

/* Leaves out points that are hardly off the lines between others (Douglas and Peucker 1973). */
static void
simplify (GArray *points)
{
  const gfloat first[] = { g_array_index (points, gfloat, 0), g_array_index (points, gfloat, 1) };
  GArray *spans = g_array_new (FALSE, FALSE, 2 * sizeof (guint));
  gfloat *all, most;
  guint8 *kept;
  guint n, span[2], i, k = 0;

  g_array_append_vals (points, first, 2); /* it is closed */
  all = (gfloat *) (gpointer) points->data;
  n = points->len / 2;
  kept = g_malloc0 (n);
  kept[0] = TRUE;
  span[0] = 0;
  span[1] = n - 1;
  g_array_append_val (spans, span);
  while (spans->len > 0) {
    memcpy (span, spans->data + (gsize) (spans->len - 1) * sizeof (span), sizeof (span));
    g_array_set_size (spans, spans->len - 1);
    i = find_farthest (all, span[0], span[1], &most);
    if (most > TOLERANCE) {
      const guint parts[2][2] = { { span[0], i }, { i, span[1] } };

      kept[i] = TRUE;
      g_array_append_vals (spans, parts, 2);
    }
  }
  for (i = 0; i < n - 1; i++) {
    if (kept[i]) {
      all[2 * k] = all[2 * i];
      all[2 * k + 1] = all[2 * i + 1];
      k++;
    }
  }
  g_array_set_size (points, 2 * k);
  g_array_unref (spans);
  g_free (kept);
}

static GstCclOutline *
make_outline (Mask *mask)
{
  const guint first = keep_largest (mask);
  GstCclOutline *outline;
  guint x, y;

  if (first == 0)
    return NULL;

  outline = g_new0 (GstCclOutline, 1);
  for (y = 1; y + 1 < mask->height; y++) {
    for (x = 1; x + 1 < mask->width; x++) {
      if (mask->pixels[y * mask->width + x]) {
        outline->area++;
        outline->centroid_x += mask->x + x - 0.5;
        outline->centroid_y += mask->y + y - 0.5;
      }
    }
  }
  outline->centroid_x /= outline->area;
  outline->centroid_y /= outline->area;
  outline->points = g_array_new (FALSE, FALSE, sizeof (gfloat));
  follow (mask, first, outline->points);
  simplify (outline->points);

  return outline;
}

/* Sets the pixels of the picture that a box covers. */
static void
set_part (Mask *mask, const GstCclBox *box, guint width, guint height)
{
  const guint right = (guint) CLAMP (ceilf (box->x + box->width), 0, (gfloat) width);
  const guint bottom = (guint) CLAMP (ceilf (box->y + box->height), 0, (gfloat) height);

  mask->x = (guint) CLAMP (floorf (box->x), 0, (gfloat) right);
  mask->y = (guint) CLAMP (floorf (box->y), 0, (gfloat) bottom);
  mask->width = right - mask->x + 2;
  mask->height = bottom - mask->y + 2;
}

static GstCclOutline *
read_mask (const GstCclTensor *prototypes, guint index, const gfloat *coefficients, gint64 step,
           Mask *mask, guint width, guint height)
{
  const gint64 rows = prototypes->dims[2], columns = prototypes->dims[3];
  const gdouble scale_x = (gdouble) columns / width, scale_y = (gdouble) rows / height;
  /* With the neighbours that are needed between them. */
  const gint64 x = MAX ((gint64) (mask->x * scale_x) - 1, 0);
  const gint64 y = MAX ((gint64) (mask->y * scale_y) - 1, 0);
  const gint64 right = MIN ((gint64) ((mask->x + mask->width) * scale_x) + 2, columns);
  const gint64 bottom = MIN ((gint64) ((mask->y + mask->height) * scale_y) + 2, rows);
  GstCclOutline *outline;
  gfloat *sums;

  if (x >= right || y >= bottom)
    return NULL;
  sums = g_new (gfloat, (right - x) * (bottom - y));
  add_prototypes (sums, prototypes, index, coefficients, step, x, y, right - x, bottom - y);
  mask->pixels = g_malloc0 ((gsize) mask->width * mask->height);
  draw (mask, sums, x, y, right - x, bottom - y, scale_x, scale_y);
  outline = make_outline (mask);
  g_free (mask->pixels);
  g_free (sums);

  return outline;
}

void
gst_ccl_masks_read (const GstCclTensor *tensors, guint n, const GstCclOutputFormat *format,
                    guint width, guint height, guint index, GArray *boxes, GPtrArray *outlines)
{
  const GstCclTensor *prototypes;
  gdouble left = (gdouble) MOST_AREA * width * height;
  guint i;

  if (format->prototypes < 1 || (guint) format->prototypes >= n)
    return;
  prototypes = &tensors[format->prototypes];
  if (prototypes->type != ORT_TYPE_FLOAT || prototypes->n_dims != 4 ||
      prototypes->dims[0] != tensors[0].dims[0] || prototypes->dims[2] < 1 ||
      prototypes->dims[3] < 1)
    return;

  for (i = 0; i < boxes->len; i++) {
    GstCclBox *box = &g_array_index (boxes, GstCclBox, i);
    gint64 step = 0;
    const gfloat *coefficients =
        find_coefficients (&tensors[0], format, index, box->row, prototypes->dims[1], &step);
    GstCclOutline *outline;
    Mask mask;

    set_part (&mask, box, width, height);
    left -= (gdouble) mask.width * mask.height;
    if (!coefficients || left < 0)
      continue;
    outline = read_mask (prototypes, index, coefficients, step, &mask, width, height);
    if (outline) {
      g_ptr_array_add (outlines, outline);
      box->outline = outlines->len;
    }
  }
}
