/* cudaccl - shapes: the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pixel by pixel, from the label map alone. */

#include "tests/reference/shapes.h"

#include <string.h>

typedef struct Map
{
  int64_t width, height;
  const uint32_t *labels;
} Map;

/* 0 outside the frame. */
static uint32_t
label_at (const Map *map, int64_t x, int64_t y)
{
  if (x < 0 || y < 0 || x >= map->width || y >= map->height)
    return 0;
  return map->labels[y * map->width + x];
}

static const int side_x[] = { -1, 1, 0, 0 }, side_y[] = { 0, 0, -1, 1 };
static const int corner_x[] = { -1, 1, -1, 1 }, corner_y[] = { -1, -1, 1, 1 };

/* The sides of a pixel that are on the outline of component @label. */
static unsigned
open_sides (const Map *map, int64_t x, int64_t y, uint32_t label)
{
  unsigned sides = 0;

  for (int k = 0; k < 4; k++)
    sides += label_at (map, x + side_x[k], y + side_y[k]) != label;
  return sides;
}

static bool
on_border (const Map *map, int64_t x, int64_t y, uint32_t label)
{
  return label_at (map, x, y) == label && open_sides (map, x, y, label) > 0;
}

/* skimage.measure.perimeter(): 1 for the pixel, 2 for each neighbour at a side, 10 at a corner. */
static void
add_border_pixel (const Map *map, int64_t x, int64_t y, uint32_t label, CclShape *shape)
{
  unsigned weight = 1;

  if (!on_border (map, x, y, label))
    return;
  for (int k = 0; k < 4; k++) {
    weight += on_border (map, x + side_x[k], y + side_y[k], label) ? 2 : 0;
    weight += on_border (map, x + corner_x[k], y + corner_y[k], label) ? 10 : 0;
  }
  switch (weight) {
  case 5:
  case 7:
  case 15:
  case 17:
  case 25:
  case 27:
    shape->straight++;
    break;
  case 21:
  case 33:
    shape->diagonal++;
    break;
  case 13:
  case 23:
    shape->turning++;
    break;
  default:
    break;
  }
}

/* Adds four times the Euler number's share of the square whose last pixel is (x, y) (S. Gray: Local
 * Properties of Binary Images in Two Dimensions, 1971). */
static void
add_square (const Map *map, int64_t x, int64_t y, bool diagonal, CclShape *shapes)
{
  const uint32_t square[4] = { label_at (map, x - 1, y - 1), label_at (map, x, y - 1),
                               label_at (map, x - 1, y), label_at (map, x, y) };

  for (int i = 0; i < 4; i++) {
    unsigned pixels = 0;
    bool seen = square[i] == 0;

    for (int k = 0; k < 4; k++) {
      seen |= k < i && square[k] == square[i];
      pixels |= square[k] == square[i] ? 1u << k : 0;
    }
    if (seen)
      continue;
    if (__builtin_popcount (pixels) == 1)
      shapes[square[i] - 1].euler++;
    else if (__builtin_popcount (pixels) == 3)
      shapes[square[i] - 1].euler--;
    else if (pixels == 6 || pixels == 9)
      shapes[square[i] - 1].euler += diagonal ? -2 : 2;
  }
}

static void
add_value (CclShape *shape, uint8_t value)
{
  shape->luma += value;
  shape->luma_min = value < shape->luma_min ? value : shape->luma_min;
  shape->luma_max = value > shape->luma_max ? value : shape->luma_max;
}

void
ccl_reference_shapes (const CclConfig *config, const CclImage *image, const uint32_t *labels,
                      uint32_t count, CclShape *shapes)
{
  const Map map = { config->width, config->height, labels };

  memset (shapes, 0, count * sizeof *shapes);
  for (uint32_t i = 0; config->shapes & CCL_SHAPES_LUMA && i < count; i++)
    shapes[i].luma_min = UINT8_MAX;
  for (int64_t y = 0; y <= map.height; y++) {
    for (int64_t x = 0; x <= map.width; x++) {
      uint32_t label = label_at (&map, x, y);

      if (config->shapes & CCL_SHAPES_TOPOLOGY)
        add_square (&map, x, y, config->connectivity == 8, shapes);
      if (label == 0)
        continue;
      if (config->shapes & CCL_SHAPES_PERIMETER) {
        shapes[label - 1].edges += open_sides (&map, x, y, label);
        add_border_pixel (&map, x, y, label, &shapes[label - 1]);
      }
      if (config->shapes & CCL_SHAPES_LUMA)
        add_value (&shapes[label - 1], image->data[(size_t) y * image->stride + (size_t) x]);
    }
  }
  for (uint32_t i = 0; i < count; i++)
    shapes[i].euler /= 4;
}
