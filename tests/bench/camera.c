/* cudaccl - frames as of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/camera.h"

#include "tests/lib/mt19937.h"

#include <stdbool.h>
#include <stddef.h>

#define OBJECTS 24
#define NOISE 5 /* grey levels */

/* Something that moves; its shadow lies on its right, half as wide. */
typedef struct Object
{
  int64_t left, top, right, bottom, shade;
  uint8_t luma, chroma;
} Object;

/* As things pass on roads, from one side to the other. Sizes go with the frame's. */
static Object
object_at (Mt19937 *rng, uint32_t width, uint32_t height, unsigned n)
{
  int64_t w = width / 64 + mt19937_below (rng, width / 24 + 1);
  int64_t h = height / 36 + mt19937_below (rng, height / 14 + 1);
  int64_t x = mt19937_below (rng, width), y = mt19937_below (rng, height);
  int64_t speed = 1 + mt19937_below (rng, width / 120 + 1);
  Object object;

  object.left = (x + n * speed) % (width + w) - w;
  object.right = object.left + w;
  object.top = y;
  object.bottom = y + h;
  object.shade = object.right + w / 2;
  object.luma = (uint8_t) (mt19937_below (rng, 2) ? 20 + mt19937_below (rng, 30)
                                                  : 200 + mt19937_below (rng, 50));
  object.chroma = (uint8_t) (90 + mt19937_below (rng, 80));
  return object;
}

static bool
has_row (const Object *object, uint32_t y)
{
  return y >= object->top && y < object->bottom;
}

static uint32_t
clamp (int64_t x, uint32_t width)
{
  return x < 0 ? 0 : x > width ? width : (uint32_t) x;
}

void
camera_draw (uint8_t *pixels, uint32_t width, uint32_t height, unsigned n, uint32_t seed)
{
  uint8_t *chroma = pixels + (size_t) width * height;
  Object objects[OBJECTS];
  Mt19937 rng;

  mt19937_seed (&rng, seed);
  for (int i = 0; i < OBJECTS; i++)
    objects[i] = object_at (&rng, width, height, n);
  mt19937_seed (&rng, seed + 1 + n);
  for (uint32_t y = 0; y < height; y++) {
    uint8_t *row = pixels + (size_t) y * width;

    for (uint32_t x = 0; x < width; x++)
      row[x] = (uint8_t) (70 + (x / 7 * 37 + y / 5 * 91) % 90);
    for (int i = 0; i < OBJECTS; i++) {
      if (!has_row (&objects[i], y))
        continue;
      for (uint32_t x = clamp (objects[i].right, width); x < clamp (objects[i].shade, width); x++)
        row[x] = (uint8_t) (row[x] * 3 / 4);
      for (uint32_t x = clamp (objects[i].left, width); x < clamp (objects[i].right, width); x++)
        row[x] = objects[i].luma;
    }
    for (uint32_t x = 0; x < width; x++)
      row[x] = (uint8_t) (row[x] + mt19937_below (&rng, NOISE));
  }
  for (uint32_t y = 0; y < height / 2; y++) {
    uint8_t *row = chroma + (size_t) y * width;

    for (uint32_t x = 0; x < width; x++)
      row[x] = (uint8_t) (126 + mt19937_below (&rng, 3));
    for (int i = 0; i < OBJECTS; i++)
      for (uint32_t x = clamp (objects[i].left, width) / 2 * 2;
           has_row (&objects[i], 2 * y) && x < clamp (objects[i].right, width) / 2 * 2; x++)
        row[x] = objects[i].chroma;
  }
}
