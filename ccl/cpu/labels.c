/* cudaccl - CPU backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All runs of a frame were kept with their labels, so a map is painted run by run: there is no need
 * for the pixels, which may be gone. */

#include "ccl/cpu/labels.h"

#include <stdlib.h>
#include <string.h>

CclStatus
ccl_label_map_init (CclLabelMap *map, const CclRuns *runs, CclAccount *account)
{
  uint64_t pixels = (uint64_t) runs->width * runs->height;

  *map = (CclLabelMap){ .runs = runs };
  map->numbers = ccl_account_malloc (account, runs->most_labels, sizeof *map->numbers,
                                     "the labels of a frame");
  if (map->numbers)
    map->map = ccl_account_malloc (account, pixels, sizeof *map->map, "a label map");
  return map->map ? CCL_OK : CCL_ERROR_NO_MEMORY;
}

void
ccl_label_map_clear (CclLabelMap *map)
{
  free (map->numbers);
  free (map->map);
}

/* Gives the labels of a strip the numbers of their roots. Parents come before their children, so
 * those in the strip have their root's number already; those in strips above may not have it yet.
 */
static void
spread_numbers (const CclLabelMap *map, const CclStrip *strip)
{
  const uint32_t *parents = map->runs->table.parents;

  for (uint32_t i = strip->base; i < strip->next; i++) {
    uint32_t parent = parents[i];

    if (parent == i)
      continue;
    while (parent < strip->base && parents[parent] != parent)
      parent = parents[parent];
    map->numbers[i] = map->numbers[parent];
  }
}

static void
paint_row (const CclLabelMap *map, const CclStrip *strip, uint32_t y)
{
  const CclRuns *runs = map->runs;
  uint32_t *pixels = map->map + (size_t) y * runs->width;
  uint32_t x = 0;

  for (uint32_t run = runs->spans[y].first; run < runs->spans[y].end; run++) {
    uint32_t start = strip->edges[2 * (size_t) run], end = strip->edges[2 * (size_t) run + 1];
    uint32_t number = map->numbers[strip->labels[run]];

    memset (pixels + x, 0, (start - x) * sizeof *pixels);
    for (x = start; x < end; x++)
      pixels[x] = number;
  }
  memset (pixels + x, 0, (runs->width - x) * sizeof *pixels);
}

static void
paint_strip (void *data, uint32_t index)
{
  const CclLabelMap *map = data;
  const CclStrip *strip = &map->runs->strips[index];

  spread_numbers (map, strip);
  for (uint32_t y = strip->y; y < strip->bottom; y++)
    paint_row (map, strip, y);
}

void
ccl_label_map_paint (CclLabelMap *map)
{
  if (!map->painted)
    ccl_pool_run (map->runs->pool, paint_strip, map, map->runs->n_strips);
  map->painted = true;
}
