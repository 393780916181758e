/* cudaccl - the voxel reference: what every algorithm for volumes must reproduce
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* As the pixel reference, in three dimensions. But instead of union-find, each component is flooded
 * from its first voxel, which needs nothing but a stack. */

#include "tests/reference/volume.h"

#include <stdlib.h>
#include <string.h>

typedef struct Flood
{
  const CclVolumeConfig *config;
  const CclImage *image;
  uint32_t *indices; /* of voxels: that of their component, from 1 on; 0; or UNSEEN */
  uint32_t *stack;
} Flood;

#define UNSEEN UINT32_MAX

/* The class of a voxel, by its bytes: a big-endian number is one of bytes in the other order. */
static uint32_t
class_at (const CclImage *image, uint32_t width, size_t i)
{
  const uint8_t *row = image->data + i / width * image->stride;
  const size_t x = i % width;
  uint32_t value;

  switch (image->format) {
  case CCL_FORMAT_GRAY16_LE:
    return row[2 * x + 1] * 256u + row[2 * x];
  case CCL_FORMAT_GRAY16_BE:
    return row[2 * x] * 256u + row[2 * x + 1];
  case CCL_FORMAT_GRAY32:
    memcpy (&value, row + 4 * x, sizeof value);
    return value;
  default:
    return row[x];
  }
}

static bool
are_connected (const Flood *self, uint32_t a, uint32_t b)
{
  const uint32_t width = self->config->width;

  return self->config->values != CCL_VALUES_EQUAL ||
         class_at (self->image, width, a) == class_at (self->image, width, b);
}

static void
add_voxel (CclVolumeComponent *c, uint32_t x, uint32_t y, uint32_t z)
{
  uint32_t right = c->x + c->width, below = c->y + c->height;

  c->x = x < c->x ? x : c->x;
  c->y = y < c->y ? y : c->y;
  c->width = (x >= right ? x + 1 : right) - c->x;
  c->height = (y >= below ? y + 1 : below) - c->y;
  if (z - c->z >= c->depth)
    c->depth = z - c->z + 1; /* the first voxel has the lowest z */
  c->volume++;
  c->sum_x += x;
  c->sum_y += y;
  c->sum_z += z;
}

/* Gives the voxels of the component that begins with voxel @first the number @number. */
static CclVolumeComponent
flood (Flood *self, uint32_t first, uint32_t number)
{
  const int most = self->config->connectivity == 26 ? 3 : self->config->connectivity == 18 ? 2 : 1;
  const int64_t size[] = { self->config->width, self->config->height, self->config->depth };
  CclVolumeComponent c = { 0 };
  size_t n = 0;

  self->indices[first] = number;
  self->stack[n++] = first;
  c.x = c.first_x = first % size[0];
  c.y = c.first_y = first / size[0] % size[1];
  c.z = first / size[0] / size[1];
  while (n > 0) {
    uint32_t i = self->stack[--n];
    int64_t x = i % size[0], y = i / size[0] % size[1], z = i / size[0] / size[1];

    add_voxel (&c, (uint32_t) x, (uint32_t) y, (uint32_t) z);
    for (int k = 0; k < 27; k++) {
      int64_t nx = x + k % 3 - 1, ny = y + k / 3 % 3 - 1, nz = z + k / 9 - 1;
      int64_t neighbour = (nz * size[1] + ny) * size[0] + nx;

      if (abs (k % 3 - 1) + abs (k / 3 % 3 - 1) + abs (k / 9 - 1) > most)
        continue;
      if (nx < 0 || nx >= size[0] || ny < 0 || ny >= size[1] || nz < 0 || nz >= size[2])
        continue;
      if (self->indices[neighbour] == UNSEEN && are_connected (self, i, (uint32_t) neighbour)) {
        self->indices[neighbour] = number;
        self->stack[n++] = (uint32_t) neighbour;
      }
    }
  }
  c.label = number;
  if (self->config->values == CCL_VALUES_EQUAL)
    c.value = class_at (self->image, self->config->width, first);
  return c;
}

static int
compare_labels (const void *a, const void *b)
{
  uint32_t la = ((const CclVolumeComponent *) a)->label;
  uint32_t lb = ((const CclVolumeComponent *) b)->label;

  return (la > lb) - (la < lb);
}

static int
compare_volumes (const void *a, const void *b)
{
  uint64_t va = ((const CclVolumeComponent *) a)->volume;
  uint64_t vb = ((const CclVolumeComponent *) b)->volume;

  return va != vb ? (va < vb) - (va > vb) : compare_labels (a, b);
}

/* Filters and capacity; labels are those of the flood still. */
static void
select_components (CclVolumeComponent *items, uint32_t total, uint32_t capacity,
                   const CclParams *params, CclVolumeComponents *components)
{
  uint32_t found = 0;

  for (uint32_t i = 0; i < total; i++) {
    if (items[i].volume >= params->min_area && items[i].volume <= params->max_area &&
        items[i].width >= params->min_width && items[i].height >= params->min_height)
      items[found++] = items[i];
  }
  if (found > capacity) {
    qsort (items, found, sizeof *items, compare_volumes);
    qsort (items, capacity, sizeof *items, compare_labels);
  }
  *components = (CclVolumeComponents){ items, found < capacity ? found : capacity, found };
}

/* Labels 1...n, in the result and, from the indices of voxels, in the map. */
static void
label_components (Flood *self, CclVolumeComponent *items, uint32_t count, size_t voxels,
                  uint32_t *labels)
{
  uint32_t *stands_for = self->stack; /* by number; there are fewer of them than voxels */

  if (labels)
    memset (stands_for, 0, voxels * sizeof *stands_for);
  for (uint32_t i = 0; i < count; i++) {
    if (labels)
      stands_for[items[i].label - 1] = i + 1;
    items[i].label = i + 1;
  }
  for (size_t i = 0; labels && i < voxels; i++)
    labels[i] = self->indices[i] ? stands_for[self->indices[i] - 1] : 0;
}

CclStatus
ccl_volume_reference_analyze (const CclVolumeConfig *config, const CclImage *image,
                              const CclParams *params, CclVolumeComponents *components,
                              uint32_t *labels)
{
  size_t voxels = (size_t) config->width * config->height * config->depth;
  Flood self = { config, image, malloc (voxels * sizeof (uint32_t)),
                 malloc (voxels * sizeof (uint32_t)) };
  CclVolumeComponent *items = malloc ((voxels + 1) * sizeof *items);
  CclStatus status = self.indices && self.stack && items ? CCL_OK : CCL_ERROR_NO_MEMORY;
  uint32_t total = 0;

  memset (components, 0, sizeof *components);
  if (status == CCL_OK) {
    for (size_t i = 0; i < voxels; i++) {
      uint32_t value = class_at (image, config->width, i);
      bool is_set = config->values == CCL_VALUES_EQUAL
                        ? value != 0
                        : (value > params->threshold) != params->invert;

      self.indices[i] = is_set ? UNSEEN : 0;
    }
    for (size_t i = 0; i < voxels; i++) {
      if (self.indices[i] == UNSEEN) {
        items[total] = flood (&self, (uint32_t) i, total + 1);
        total++;
      }
    }
    select_components (items, total, config->max_components, params, components);
    label_components (&self, items, components->count, voxels, labels);
  } else {
    free (items);
  }
  free (self.stack);
  free (self.indices);
  return status;
}

void
ccl_volume_reference_clear (CclVolumeComponents *components)
{
  free ((void *) components->items);
  memset (components, 0, sizeof *components);
}
