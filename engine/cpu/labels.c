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
write_strip (void *data, uint32_t index)
{
  const WriteJob *job = data;
  const CclRuns *runs = job->map->runs;
  const CclStrip *strip = &runs->strips[index];

  for (uint32_t y = strip->y; y < strip->bottom; y++) {
    const CclRunsSpan *span = &runs->spans[y];

    runs->functions->write_labels ((uint32_t *) ((char *) job->pixels + y * job->stride),
                                   runs->width, strip->edges + 2 * (size_t) span->first,
                                   strip->labels + span->first, span->end - span->first,
                                   job->map->result_labels);
  }
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
