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

  *map = (CclLabelMap){ NULL, NULL, false };
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

void
ccl_label_map_begin (CclLabelMap *map, const CclRuns *runs)
{
  map->painted = false;
  memset (map->numbers, 0, runs->n_labels * sizeof *map->numbers);
}

static void
paint_row (uint32_t *pixels, const CclRuns *runs, const uint32_t *numbers, uint32_t first,
           uint32_t end)
{
  uint32_t x = 0;

  for (uint32_t run = first; run < end; run++) {
    uint32_t start = runs->all.edges[2 * (size_t) run];
    uint32_t run_end = runs->all.edges[2 * (size_t) run + 1];
    uint32_t number = numbers[runs->all.labels[run]];

    memset (pixels + x, 0, (start - x) * sizeof *pixels);
    for (x = start; x < run_end; x++)
      pixels[x] = number;
  }
  memset (pixels + x, 0, (runs->width - x) * sizeof *pixels);
}

void
ccl_label_map_paint (CclLabelMap *map, const CclRuns *runs)
{
  if (map->painted)
    return;
  map->painted = true;
  /* Parents come before their children, so they have their root's number already. */
  for (uint32_t i = 0; i < runs->n_labels; i++)
    map->numbers[i] = map->numbers[runs->parents[i]];
  for (uint32_t y = 0; y < runs->height; y++)
    paint_row (map->map + (size_t) y * runs->width, runs, map->numbers,
               y > 0 ? runs->row_ends[y - 1] : 0, runs->row_ends[y]);
}
