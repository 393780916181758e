/* cudaccl - CPU backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All runs of a frame are kept with their labels, so the label map is written run by run, without
 * the pixels, which may no longer exist. */

#include "engine/cpu/runs/labels.h"

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
    map->values = ccl_account_malloc (account, runs->most_labels, sizeof *map->values,
                                      "the labels of a frame");
  if (map->values)
    map->map = ccl_account_malloc (account, pixels, sizeof *map->map, "a label map");
  return map->map ? CCL_OK : CCL_ERROR_NO_MEMORY;
}

void
ccl_label_map_clear (CclLabelMap *map)
{
  free (map->result_labels);
  free (map->values);
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

/* The row behind @y and the rows that have the same runs, and are copies of it in all pictures. */
static uint32_t
find_end (const CclRuns *runs, const CclStrip *strip, uint32_t y)
{
  const CclRunsSpan *span = &runs->spans[y];
  uint32_t end = y + 1;

  while (end < strip->bottom && runs->spans[end].first == span->first &&
         runs->spans[end].end == span->end)
    end++;
  return end;
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

  for (uint32_t y = strip->y, end; y < strip->bottom; y = end) {
    const CclRunsSpan *span = &runs->spans[y];
    uint8_t *row = (uint8_t *) job->pixels + y * job->stride;

    end = find_end (runs, strip, y);
    runs->functions->write_labels (row, runs->width, strip->edges + 2 * (size_t) span->first,
                                   strip->labels + span->first, span->end - span->first,
                                   job->map->result_labels, 0);
    runs->functions->repeat_pixels (row, job->stride, runs->width * sizeof *job->pixels,
                                    end - y - 1);
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

/* The bytes of a pixel as a number: that of as many bytes in memory, or, of 3, the first byte
 * lowest.
 */
static inline uint32_t
value_of (const uint8_t *bytes, unsigned size)
{
  uint32_t value = 0;
  uint16_t half;

  if (size == 3)
    return bytes[0] | bytes[1] << 8 | (uint32_t) bytes[2] << 16;
  if (size == 2) {
    memcpy (&half, bytes, sizeof half);
    return half;
  }
  memcpy (&value, bytes, sizeof value);
  return value;
}

/* Bytes of a block: whole pixels of 3 bytes, and whole vectors. */
#define BLOCK 48

/* 16 pixels of a value. */
typedef struct Block
{
  uint64_t words[BLOCK / 8];
} Block;

static inline uint64_t
little_endian (uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64 (word);
#endif
  return word;
}

static inline Block
make_block (uint64_t value)
{
  const uint64_t first = little_endian (value | value << 24 | value << 48);
  const uint64_t second = little_endian (value >> 16 | value << 8 | value << 32 | value << 56);
  const uint64_t third = little_endian (value >> 8 | value << 16 | value << 40);

  return (Block){ { first, second, third, first, second, third } };
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

/* Writes a row of pixels of 3 bytes. */
static void
write_triples (uint8_t *row, uint32_t width, const uint32_t *edges, const uint32_t *labels,
               uint32_t n, const uint32_t *values, uint32_t background)
{
  const size_t end = (size_t) width * 3;
  const Block gap = make_block (background);
  size_t at = 0;

  for (uint32_t run = 0; run < n; run++) {
    size_t start = (size_t) edges[2 * (size_t) run] * 3;
    size_t stop = (size_t) edges[2 * (size_t) run + 1] * 3;
    Block block = make_block (values[labels[run]]);

    fill (row + at, start - at, end - at, &gap);
    fill (row + start, stop - start, end - start, &block);
    at = stop;
  }
  fill (row + at, end - at, end - at, &gap);
}

static void
paint_strip (void *data, uint32_t index)
{
  const PaintJob *job = data;
  const CclLabelMap *map = job->map;
  const CclRuns *runs = map->runs;
  const CclStrip *strip = &runs->strips[index];
  const unsigned size = job->palette->size;
  const uint32_t background = value_of (job->palette->values, size);

  for (uint32_t i = strip->base; i < strip->next; i++)
    map->values[i] = value_of (ccl_palette_value (job->palette, map->result_labels[i]), size);
  for (uint32_t y = strip->y, end; y < strip->bottom; y = end) {
    const CclRunsSpan *span = &runs->spans[y];
    const uint32_t *edges = strip->edges + 2 * (size_t) span->first;
    const uint32_t *labels = strip->labels + span->first, n = span->end - span->first;
    uint8_t *row = job->pixels + y * job->stride;

    end = find_end (runs, strip, y);
    if (size == 4)
      runs->functions->write_labels (row, runs->width, edges, labels, n, map->values, background);
    else if (size == 2)
      runs->functions->write_values (row, runs->width, edges, labels, n, map->values, background);
    else
      write_triples (row, runs->width, edges, labels, n, map->values, background);
    runs->functions->repeat_pixels (row, job->stride, (size_t) runs->width * size, end - y - 1);
  }
}

void
ccl_label_map_paint (CclLabelMap *map, const CclPalette *palette, uint8_t *pixels, size_t stride)
{
  PaintJob job = { map, palette, pixels, stride };

  ccl_label_map_spread (map);
  ccl_pool_run (map->runs->pool, paint_strip, &job, map->runs->n_strips);
}
