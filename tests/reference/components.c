/* cudaccl - the pixel reference: what every algorithm must reproduce
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/reference/components.h"

#include <stdlib.h>
#include <string.h>

#define BACKGROUND UINT32_MAX /* no pixel has this index: there are at most 2^32 - 1 of them */

static uint32_t
find_root (uint32_t *parent, uint32_t i)
{
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

/* The smaller index becomes the root, so a root is its component's first pixel in raster order. */
static void
unite (uint32_t *parent, uint32_t a, uint32_t b)
{
  a = find_root (parent, a);
  b = find_root (parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

static unsigned
value_at (const CclImage *image, int64_t x, int64_t y)
{
  const uint8_t *row = image->data + (size_t) y * image->stride;

  switch (image->format) {
  case CCL_FORMAT_GRAY16_LE:
  case CCL_FORMAT_GRAY10_LE:
  case CCL_FORMAT_GRAY12_LE:
    return row[2 * x] + 256u * row[2 * x + 1];
  case CCL_FORMAT_GRAY16_BE:
    return 256u * row[2 * x] + row[2 * x + 1];
  default:
    return row[x];
  }
}

static bool
is_foreground (const CclConfig *config, const CclParams *params, unsigned value)
{
  switch (config->values) {
  case CCL_VALUES_EQUAL:
    return value != 0;
  case CCL_VALUES_BAND:
    return (params->low <= value && value <= params->high) != params->invert;
  default:
    return (value > params->threshold) != params->invert;
  }
}

/* First pass: parent[] links every foreground pixel to those of its neighbours that come earlier in
 * raster order (west, north, and for 8-connectivity north-west and north-east); of classes, if they
 * have the same value. */
static void
link_pixels (const CclConfig *config, const CclImage *image, const CclParams *params,
             uint32_t *parent)
{
  static const int dx[] = { -1, 0, -1, 1 };
  static const int dy[] = { 0, -1, -1, -1 };
  int64_t width = config->width, height = config->height;
  int neighbours = config->connectivity == 8 ? 4 : 2;

  for (int64_t y = 0; y < height; y++) {
    for (int64_t x = 0; x < width; x++) {
      uint32_t i = (uint32_t) (y * width + x);
      unsigned value = value_at (image, x, y);

      parent[i] = is_foreground (config, params, value) ? i : BACKGROUND;
      if (parent[i] == BACKGROUND)
        continue;
      for (int k = 0; k < neighbours; k++) {
        int64_t nx = x + dx[k], ny = y + dy[k];

        if (nx < 0 || nx >= width || ny < 0)
          continue;
        if (config->values == CCL_VALUES_EQUAL && value_at (image, nx, ny) != value)
          continue;
        if (parent[ny * width + nx] != BACKGROUND)
          unite (parent, i, (uint32_t) (ny * width + nx));
      }
    }
  }
}

/* Between the passes: parent[] becomes the index of the pixel's component, from 0 on in raster
 * order of the first pixels. A parent comes before its children, so it already has its index. */
static uint32_t
number_components (uint32_t *parent, uint32_t pixels)
{
  uint32_t count = 0;

  for (uint32_t i = 0; i < pixels; i++) {
    if (parent[i] == i)
      parent[i] = count++;
    else if (parent[i] != BACKGROUND)
      parent[i] = parent[parent[i]];
  }
  return count;
}

static void
add_pixel (CclComponent *c, uint32_t x, uint32_t y, bool second_order)
{
  if (c->area == 0) {
    c->x = c->first_x = x;
    c->y = y;
  }
  if (x < c->x) {
    c->width += c->x - x;
    c->x = x;
  }
  if (x - c->x + 1 > c->width)
    c->width = x - c->x + 1;
  if (y - c->y + 1 > c->height)
    c->height = y - c->y + 1;
  c->area++;
  c->sum_x += x;
  c->sum_y += y;
  if (second_order) {
    c->sum_xx += (uint64_t) x * x;
    c->sum_yy += (uint64_t) y * y;
    c->sum_xy += (uint64_t) x * y;
  }
}

static int
compare_labels (const void *a, const void *b)
{
  uint32_t la = ((const CclComponent *) a)->label, lb = ((const CclComponent *) b)->label;

  return (la > lb) - (la < lb);
}

static int
compare_areas (const void *a, const void *b)
{
  uint64_t aa = ((const CclComponent *) a)->area, ab = ((const CclComponent *) b)->area;

  return aa != ab ? (aa < ab) - (aa > ab) : compare_labels (a, b);
}

/* The filters, then the capacity, then the labels 1...n. */
static void
select_components (CclComponent *items, uint32_t total, uint32_t capacity, const CclParams *params,
                   CclComponents *components)
{
  uint32_t found = 0;

  for (uint32_t i = 0; i < total; i++) {
    if (items[i].area < params->min_area || items[i].area > params->max_area ||
        items[i].width < params->min_width || items[i].height < params->min_height)
      continue;
    items[found] = items[i];
    items[found].label = found;
    found++;
  }

  components->items = items;
  components->found = found;
  components->count = found < capacity ? found : capacity;
  if (found > capacity) {
    qsort (items, found, sizeof *items, compare_areas);
    qsort (items, capacity, sizeof *items, compare_labels);
  }
  for (uint32_t i = 0; i < components->count; i++)
    items[i].label = i + 1;
}

/* The label map. The result says where the first pixel of each component is, and parent[] which
 * component that was: @result_labels, all 0, of that many. */
static void
write_labels (const CclConfig *config, const uint32_t *parent, const CclComponents *components,
              uint32_t *result_labels, uint32_t *labels)
{
  size_t pixels = (size_t) config->width * config->height;

  for (uint32_t k = 0; k < components->count; k++) {
    const CclComponent *c = &components->items[k];

    result_labels[parent[(size_t) c->y * config->width + c->first_x]] = c->label;
  }
  for (size_t i = 0; i < pixels; i++)
    labels[i] = parent[i] == BACKGROUND ? 0 : result_labels[parent[i]];
}

CclStatus
ccl_reference_label (const CclConfig *config, const CclImage *image, const CclParams *params,
                     CclComponents *components, uint32_t *labels)
{
  size_t pixels = (size_t) config->width * config->height;
  uint32_t *parent = malloc (pixels * sizeof *parent);
  CclComponent *items;
  uint32_t total, *result_labels;
  size_t i = 0;

  memset (components, 0, sizeof *components);
  if (!parent)
    return CCL_ERROR_NO_MEMORY;

  link_pixels (config, image, params, parent);
  total = number_components (parent, (uint32_t) pixels);

  items = calloc (total ? total : 1, sizeof *items);
  result_labels = calloc (total ? total : 1, sizeof *result_labels);
  if (!items || !result_labels) {
    free (result_labels);
    free (items);
    free (parent);
    return CCL_ERROR_NO_MEMORY;
  }
  for (uint32_t y = 0; y < config->height; y++) {
    for (uint32_t x = 0; x < config->width; x++, i++) {
      if (parent[i] != BACKGROUND)
        add_pixel (&items[parent[i]], x, y, config->second_order);
    }
  }

  select_components (items, total, config->max_components, params, components);
  if (labels)
    write_labels (config, parent, components, result_labels, labels);
  free (result_labels);
  free (parent);
  return CCL_OK;
}

CclStatus
ccl_reference_analyze (const CclConfig *config, const CclImage *image, const CclParams *params,
                       CclComponents *components)
{
  return ccl_reference_label (config, image, params, components, NULL);
}

void
ccl_reference_clear (CclComponents *components)
{
  free ((void *) components->items);
  memset (components, 0, sizeof *components);
}
