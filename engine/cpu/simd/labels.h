/* cudaccl - CPU backend: label maps, one row
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Most runs and gaps are short, and their lengths cannot be predicted: so whole vectors are stored,
 * and what goes too far is written again by the next run or gap, but nothing past the row. */

#define LABELS_AT_ONCE 16

typedef uint32_t Labels __attribute__ ((vector_size (64), aligned (4), may_alias));

/* Fills pixels @x to @end - 1 of a row. */
static inline void
fill_labels (uint32_t *pixels, uint32_t x, uint32_t end, uint32_t width, uint32_t label)
{
  const Labels labels = label - (Labels){ 0 };

  for (; x < end && width - x >= LABELS_AT_ONCE; x += LABELS_AT_ONCE)
    *(Labels *) (pixels + x) = labels;
  for (; x < end; x++)
    pixels[x] = label;
}

static void
write_labels (uint32_t *pixels, uint32_t width, const uint32_t *edges, const uint32_t *labels,
              uint32_t n, const uint32_t *result_labels)
{
  uint32_t x = 0;

  for (uint32_t run = 0; run < n; run++) {
    uint32_t start = edges[2 * (size_t) run], end = edges[2 * (size_t) run + 1];

    fill_labels (pixels, x, start, width, 0);
    fill_labels (pixels, start, end, width, result_labels[labels[run]]);
    x = end;
  }
  fill_labels (pixels, x, width, width, 0);
}
