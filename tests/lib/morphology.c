/* cudaccl - the pixel reference of operations and regions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/morphology.h"
#include "engine/mask/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t
clamp (int64_t value, int64_t most)
{
  return value < 0 ? 0 : value > most ? most : value;
}

static void
median (TestImage *to, const TestImage *from, int64_t size)
{
  int64_t side = size / 2, width = from->width, height = from->height;

  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++) {
      int64_t set = 0;

      for (int64_t dy = -side; dy <= side; dy++)
        for (int64_t dx = -side; dx <= side; dx++)
          set += from->pixels[clamp (y + dy, height - 1) * width + clamp (x + dx, width - 1)] > 0;
      to->pixels[y * width + x] = 2 * set > size * size ? 255 : 0;
    }
}

/* Dilation looks for foreground, erosion for background; there is neither outside. */
static void
line (TestImage *to, const TestImage *from, int64_t rx, int64_t ry, bool dilate)
{
  int64_t width = from->width, height = from->height;

  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++) {
      bool found = false;

      for (int64_t ny = clamp (y - ry, height - 1); ny <= clamp (y + ry, height - 1) && !found;
           ny++)
        for (int64_t nx = clamp (x - rx, width - 1); nx <= clamp (x + rx, width - 1) && !found;
             nx++)
          found = (from->pixels[ny * width + nx] > 0) == dilate;
      to->pixels[y * width + x] = found == dilate ? 255 : 0;
    }
}

/* Its rows, then its columns: rectangles are large. */
static void
rectangle (TestImage *to, const TestImage *from, const CclOperation *operation, bool dilate)
{
  TestImage rows = test_image_new (from->width, from->height);

  line (&rows, from, operation->width / 2, 0, dilate);
  line (to, &rows, 0, operation->height / 2, dilate);
  test_image_clear (&rows);
}

/* Finds the component of pixels of @value that has pixel @first, marks it as @seen, and returns how
 * many pixels in @stack belong to it; *@border if one is at the frame's border. */
static size_t
flood (TestImage *image, size_t first, unsigned connectivity, uint8_t value, uint8_t seen,
       size_t *stack, bool *border)
{
  int64_t width = image->width, height = image->height;
  size_t n = 1;

  *border = false;
  stack[0] = first;
  image->pixels[first] = seen;
  for (size_t i = 0; i < n; i++) {
    int64_t x = (int64_t) stack[i] % width, y = (int64_t) stack[i] / width;

    *border |= x == 0 || y == 0 || x == width - 1 || y == height - 1;
    for (int64_t ny = y - 1; ny <= y + 1; ny++)
      for (int64_t nx = x - 1; nx <= x + 1; nx++) {
        size_t next = (size_t) (ny * width + nx);

        if (nx < 0 || ny < 0 || nx >= width || ny >= height ||
            (connectivity == 4 && nx != x && ny != y) || image->pixels[next] != value)
          continue;
        image->pixels[next] = seen;
        stack[n++] = next;
      }
  }
  return n;
}

static void
components (TestImage *image, unsigned connectivity, const CclOperation *operation)
{
  size_t pixels = (size_t) image->width * image->height;
  size_t *stack = test_alloc (pixels * sizeof *stack);
  bool fill = operation->kind == CCL_OPERATION_FILL;
  uint8_t value = fill ? 0 : 255, keep = fill ? 1 : 254, change = fill ? 254 : 1;

  if (fill)
    connectivity = connectivity == 8 ? 4 : 8;
  for (size_t i = 0; i < pixels; i++) {
    bool border, changes;
    size_t n;

    if (image->pixels[i] != value)
      continue;
    n = flood (image, i, connectivity, value, keep, stack, &border);
    changes =
        fill ? !border && (operation->size == 0 || n <= operation->size) : n < operation->size;
    for (size_t k = 0; changes && k < n; k++)
      image->pixels[stack[k]] = change;
  }
  for (size_t i = 0; i < pixels; i++)
    image->pixels[i] = image->pixels[i] > 127 ? 255 : 0;
  free (stack);
}

static void
apply (TestImage *image, TestImage *other, unsigned connectivity, const CclOperation *operation)
{
  size_t pixels = (size_t) image->width * image->height;

  switch (operation->kind) {
  case CCL_OPERATION_MEDIAN:
    median (other, image, operation->width);
    break;
  case CCL_OPERATION_ERODE:
  case CCL_OPERATION_DILATE:
    rectangle (other, image, operation, operation->kind == CCL_OPERATION_DILATE);
    break;
  case CCL_OPERATION_OPEN:
  case CCL_OPERATION_CLOSE:
    rectangle (other, image, operation, operation->kind == CCL_OPERATION_CLOSE);
    rectangle (image, other, operation, operation->kind == CCL_OPERATION_OPEN);
    return;
  case CCL_OPERATION_FILL:
  case CCL_OPERATION_DROP:
    components (image, connectivity, operation);
    return;
  }
  memcpy (image->pixels, other->pixels, pixels);
}

void
test_morphology_apply (TestImage *image, unsigned connectivity, const CclOperation *operations,
                       uint32_t n)
{
  TestImage other = test_image_new (image->width, image->height);

  for (uint32_t i = 0; i < n; i++)
    apply (image, &other, connectivity, &operations[i]);
  test_image_clear (&other);
}

bool
test_polygon_has (const TestPolygon *polygon, const TestImage *image, uint32_t x, uint32_t y,
                  bool *close)
{
  double cx = (x + 0.5) / image->width, cy = (y + 0.5) / image->height;
  bool inside = false;

  for (uint32_t i = 0; i < polygon->n; i++) {
    uint32_t k = (i + 1) % polygon->n;
    double ax = polygon->x[i], ay = polygon->y[i], bx = polygon->x[k], by = polygon->y[k];
    double crossing;

    *close |= fabs (ay - cy) < 1e-9 || fabs (by - cy) < 1e-9;
    if ((ay > cy) == (by > cy))
      continue;
    crossing = ax + (cy - ay) * (bx - ax) / (by - ay);
    *close |= fabs (crossing - cx) < 1e-9;
    inside ^= crossing <= cx;
  }
  return inside;
}

static uint32_t
draw_side (Mt19937 *rng)
{
  static const uint32_t most[] = { 1, 3, 5, 7, 15, 31, 67, CCL_MAX_OPERATION_SIZE };

  return 1 + 2 * mt19937_below (rng, most[mt19937_below (rng, 8)] / 2 + 1);
}

CclOperation
test_operation_draw (Mt19937 *rng)
{
  CclOperation operation = { .kind =
                                 (CclOperationKind) mt19937_below (rng, ccl_operation_kinds ()) };

  switch (ccl_operation_form (operation.kind)) {
  case CCL_FORM_SQUARE:
    operation.width = operation.height = 3 + 2 * mt19937_below (rng, 2);
    break;
  case CCL_FORM_SIZE_OR_ALL:
    operation.size = mt19937_below (rng, 3) ? mt19937_below (rng, 40) : 0;
    break;
  case CCL_FORM_SIZE:
    operation.size = 1 + mt19937_below (rng, mt19937_below (rng, 2) ? 5 : 100);
    break;
  default:
    operation.width = draw_side (rng);
    operation.height = draw_side (rng);
  }
  return operation;
}
