/* cudaccl - CPU backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All runs of a frame are kept with their labels, so the label map is written run by run, without
 * the pixels, which may no longer exist. */

#include "engine/cpu/labels.h"

#include <stdlib.h>
#include <string.h>

CclStatus
ccl_label_map_init (CclLabelMap *map, const CclRuns *runs, CclAccount *account)
{
  uint64_t pixels = (uint64_t) runs->width * runs->height;

  *map = (CclLabelMap){ .runs = runs };
  map->result_labels = ccl_account_malloc (account, runs->most_labels, sizeof *map->result_labels,
                                           "the labels of a frame");
  if (map->result_labels)
    map->map = ccl_account_malloc (account, pixels, sizeof *map->map, "a label map");
  return map->map ? CCL_OK : CCL_ERROR_NO_MEMORY;
}

void
ccl_label_map_clear (CclLabelMap *map)
{
  free (map->result_labels);
  free (map->map);
}

/* Gives the labels of a strip their roots' result labels. */
static void
spread_strip (void *data, uint32_t index)
{
  const CclLabelMap *map = data;
  const CclStrip *strip = &map->runs->strips[index];
  const uint32_t *parents = map->runs->table.parents;

  for (uint32_t i = strip->base; i < strip->next; i++)
    if (parents[i] != i)
      map->result_labels[i] = map->result_labels[ccl_strip_ancestor (parents, strip, i)];
}

/* Where the label map goes. */
typedef struct WriteJob
{
  const CclLabelMap *map;
  uint32_t *pixels;
  size_t stride;
} WriteJob;

static void
write_row (const WriteJob *job, const CclStrip *strip, uint32_t y)
{
  const CclLabelMap *map = job->map;
  const CclRuns *runs = map->runs;
  uint32_t *pixels = (uint32_t *) ((char *) job->pixels + y * job->stride);
  uint32_t x = 0;

  for (uint32_t run = runs->spans[y].first; run < runs->spans[y].end; run++) {
    uint32_t start = strip->edges[2 * (size_t) run], end = strip->edges[2 * (size_t) run + 1];
    uint32_t label = map->result_labels[strip->labels[run]];

    memset (pixels + x, 0, (start - x) * sizeof *pixels);
    for (x = start; x < end; x++)
      pixels[x] = label;
  }
  memset (pixels + x, 0, (runs->width - x) * sizeof *pixels);
}

static void
write_strip (void *data, uint32_t index)
{
  const WriteJob *job = data;
  const CclStrip *strip = &job->map->runs->strips[index];

  for (uint32_t y = strip->y; y < strip->bottom; y++)
    write_row (job, strip, y);
}

void
ccl_label_map_spread (CclLabelMap *map)
{
  if (!map->is_spread)
    ccl_pool_run (map->runs->pool, spread_strip, map, map->runs->n_strips);
  map->is_spread = true;
}

void
ccl_label_map_write (CclLabelMap *map, uint32_t *pixels, size_t stride)
{
  WriteJob job = { map, pixels, stride };

  ccl_label_map_spread (map);
  ccl_pool_run (map->runs->pool, write_strip, &job, map->runs->n_strips);
}
