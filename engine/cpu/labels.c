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

/* Whether a row has the same runs as the one above, and is a copy of it in all pictures. */
static bool
is_repeated (const CclRuns *runs, uint32_t y)
{
  return runs->spans[y].first == runs->spans[y - 1].first &&
         runs->spans[y].end == runs->spans[y - 1].end;
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
    uint32_t *row = (uint32_t *) ((char *) job->pixels + y * job->stride);

    if (y > strip->y && is_repeated (runs, y))
      memcpy (row, (char *) row - job->stride, (size_t) runs->width * sizeof *row);
    else
      runs->functions->write_labels (row, runs->width, strip->edges + 2 * (size_t) span->first,
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

/* A picture of the label map. */
typedef struct PaintJob
{
  const CclLabelMap *map;
  const CclPalette *palette;
  uint8_t *pixels;
  size_t stride;
} PaintJob;

#define BLOCK 48 /* bytes: whole pixels of any size, and whole vectors */

/* A value, repeated. */
typedef struct Block
{
  uint64_t words[BLOCK / 8];
} Block;

__attribute__ ((always_inline)) static inline Block
make_block (const uint8_t *value, size_t size)
{
  uint8_t bytes[24];
  Block block;

  for (size_t i = 0; i < sizeof bytes; i += size)
    memcpy (bytes + i, value, size);
  memcpy (&block.words[0], bytes, sizeof bytes);
  memcpy (&block.words[3], bytes, sizeof bytes);
  return block;
}

/* Fills @bytes from @to with a value. Writes up to BLOCK bytes more where @room allows it, since
 * the lengths of runs are hard to predict: what comes next overwrites them. */
static inline void
fill (uint8_t *to, size_t bytes, size_t room, const Block *block)
{
  if (bytes + BLOCK <= room) {
    for (size_t i = 0; i < bytes; i += BLOCK)
      memcpy (to + i, block, BLOCK);
    return;
  }
  for (; bytes >= BLOCK; bytes -= BLOCK, to += BLOCK)
    memcpy (to, block, BLOCK);
  memcpy (to, block, bytes);
}

__attribute__ ((always_inline)) static inline void
paint_row (const PaintJob *job, const CclStrip *strip, uint32_t y, size_t size)
{
  const CclRuns *runs = job->map->runs;
  uint8_t *row = job->pixels + y * job->stride;
  const size_t end = runs->width * size;
  const Block background = make_block (job->palette->values, size);
  size_t at = 0;

  for (uint32_t run = runs->spans[y].first; run < runs->spans[y].end; run++) {
    size_t start = strip->edges[2 * (size_t) run] * size;
    size_t stop = strip->edges[2 * (size_t) run + 1] * size;
    uint32_t label = job->map->result_labels[strip->labels[run]];
    Block block = make_block (ccl_palette_value (job->palette, label), size);

    fill (row + at, start - at, end - at, &background);
    fill (row + start, stop - start, end - start, &block);
    at = stop;
  }
  fill (row + at, end - at, end - at, &background);
}

static void
paint_strip (void *data, uint32_t index)
{
  const PaintJob *job = data;
  const CclRuns *runs = job->map->runs;
  const CclStrip *strip = &runs->strips[index];

  for (uint32_t y = strip->y; y < strip->bottom; y++) {
    if (y > strip->y && is_repeated (runs, y))
      memcpy (job->pixels + y * job->stride, job->pixels + (y - 1) * job->stride,
              (size_t) runs->width * job->palette->size);
    else if (job->palette->size == 4)
      paint_row (job, strip, y, 4);
    else if (job->palette->size == 3)
      paint_row (job, strip, y, 3);
    else
      paint_row (job, strip, y, 2);
  }
}

void
ccl_label_map_paint (CclLabelMap *map, const CclPalette *palette, uint8_t *pixels, size_t stride)
{
  PaintJob job = { map, palette, pixels, stride };

  ccl_label_map_spread (map);
  ccl_pool_run (map->runs->pool, paint_strip, &job, map->runs->n_strips);
}
