/* cudaccl - CPU backend: chains of operations on masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/filters/chain.h"
#include "engine/aligned.h"
#include "engine/cpu/tuning.h"

#include <stdlib.h>
#include <string.h>

/* Most rows to flood, in multiples of a frame's rows: beyond, labelling is probably faster. */
#define MOST_FLOODS 16

static bool
needs_scratch (CclOperationKind kind)
{
  return kind != CCL_OPERATION_DROP;
}

static bool
has (const CclChain *chain, bool (*what) (CclOperationKind kind))
{
  for (uint32_t i = 0; i < chain->n; i++)
    if (what (chain->operations[i].kind))
      return true;
  return false;
}

static bool
is_fill (CclOperationKind kind)
{
  return kind == CCL_OPERATION_FILL;
}

static bool
is_drop (CclOperationKind kind)
{
  return kind == CCL_OPERATION_DROP;
}

static uint32_t
min (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

/* The rows of scratch memory that one strip needs. */
static uint32_t
count_rows (const CclChain *chain)
{
  uint32_t rows = CCL_FILTER_ROWS;

  for (uint32_t i = 0; i < chain->n; i++) {
    uint32_t height = min (chain->operations[i].height, CCL_FILTER_SIDE);

    rows = height > rows ? height : rows;
  }
  return rows;
}

static CclStatus
init_scratch (CclChain *chain, CclAccount *account)
{
  chain->scratch_words = count_rows (chain) * ccl_filter_words (chain->width);
  chain->scratch = ccl_account_aligned (account, (uint64_t) chain->scratch_words * chain->n_strips,
                                        sizeof *chain->scratch, "the rows of filters");
  if (!chain->scratch)
    return CCL_ERROR_NO_MEMORY;
  return chain->n_strips > 1
             ? ccl_account_mask (account, chain->width, chain->height, &chain->other)
             : CCL_OK;
}

static CclStatus
init_flood (CclChain *chain, CclAccount *account)
{
  chain->changed =
      ccl_account_malloc (account, chain->height, sizeof *chain->changed, "the rows of masks");
  return chain->changed ? ccl_account_mask (account, chain->width, chain->height, &chain->reached)
                        : CCL_ERROR_NO_MEMORY;
}

CclStatus
ccl_chain_init (CclChain *chain, const CclConfig *config, CclPool *pool, CclAccount *account)
{
  CclConfig runs = *config;
  CclStatus status = CCL_OK;
  uint64_t labels = 0;

  *chain = (CclChain){
    .functions = ccl_cpu_functions_chosen (),
    .n = config->n_operations,
    .width = config->width,
    .height = config->height,
    .n_strips = ccl_runs_strips (config),
    .pool = pool,
  };
  if (chain->n > 0)
    memcpy (chain->operations, config->operations, chain->n * sizeof *chain->operations);
  runs.labels = true; /* keeps the runs */
  runs.second_order = false;
  if (has (chain, needs_scratch))
    status = init_scratch (chain, account);
  if (status == CCL_OK && has (chain, is_drop)) {
    status = ccl_runs_init (&chain->set, &runs, pool, account);
    labels = chain->set.most_labels;
  }
  runs.connectivity = config->connectivity == 8 ? 4 : 8;
  if (status == CCL_OK && has (chain, is_fill)) {
    status = ccl_runs_init (&chain->unset, &runs, pool, account);
    labels = labels > chain->unset.most_labels ? labels : chain->unset.most_labels;
  }
  if (status == CCL_OK && has (chain, is_fill))
    status = init_flood (chain, account);
  if (status == CCL_OK && labels > 0) {
    chain->marks =
        ccl_account_malloc (account, labels, sizeof *chain->marks, "the labels of masks");
    status = chain->marks ? CCL_OK : CCL_ERROR_NO_MEMORY;
  }
  return status;
}

void
ccl_chain_clear (CclChain *chain)
{
  ccl_aligned_free (chain->scratch);
  ccl_mask_free (&chain->other);
  ccl_mask_free (&chain->reached);
  free (chain->changed);
  ccl_runs_clear (&chain->set);
  ccl_runs_clear (&chain->unset);
  free (chain->marks);
}

/* One pass of a filter. */
typedef struct Pass
{
  const CclChain *chain;
  const CclMask *from;
  CclMask *to;
  CclOperationKind kind; /* median, erosion or dilation */
  uint32_t width, height;
} Pass;

static void
filter_strip (void *data, uint32_t index)
{
  const Pass *pass = data;
  const CclChain *chain = pass->chain;
  uint32_t y = (uint32_t) ((uint64_t) chain->height * index / chain->n_strips);
  uint32_t bottom = (uint32_t) ((uint64_t) chain->height * (index + 1) / chain->n_strips);
  CclFilter filter = {
    .from = pass->from->words,
    .to = pass->to->words,
    .from_pitch = pass->from->pitch,
    .to_pitch = pass->to->pitch,
    .width = chain->width,
    .height = chain->height,
    .scratch = chain->scratch + index * chain->scratch_words,
  };

  chain->functions->filter_rows (&filter, pass->kind, pass->width, pass->height, y, bottom);
}

/* Filters *@now, which becomes *@other with several strips. */
static void
filter_once (CclChain *chain, CclOperationKind kind, uint32_t width, uint32_t height, CclMask **now,
             CclMask **other)
{
  CclMask *to = chain->n_strips > 1 ? *other : *now;
  Pass pass = { chain, *now, to, kind, width, height };

  ccl_pool_run (chain->pool, filter_strip, &pass, chain->n_strips);
  if (to == *other) {
    *other = *now;
    *now = to;
  }
}

/* Two rectangles in turn do what one does that reaches as far as both together. */
static void
filter (CclChain *chain, CclOperationKind kind, const CclOperation *operation, CclMask **now,
        CclMask **other)
{
  uint32_t width = operation->width, height = operation->height;

  while (width > CCL_FILTER_SIDE || height > CCL_FILTER_SIDE) {
    uint32_t w = min (width, CCL_FILTER_SIDE), h = min (height, CCL_FILTER_SIDE);

    filter_once (chain, kind, w, h, now, other);
    width -= w - 1;
    height -= h - 1;
  }
  filter_once (chain, kind, width, height, now, other);
}

/* Components that change from set to unset or back. */
typedef struct Change
{
  const CclRuns *runs;
  CclMask *mask;
  uint8_t *marks;
  uint64_t size;
  bool fill;
  atomic_bool any;
} Change;

static bool
is_marked (const Change *change, const CclRunsLabel *label)
{
  const CclRuns *runs = change->runs;

  if (!change->fill)
    return label->area < change->size;
  return label->left > 0 && label->right < runs->width && label->y > 0 &&
         label->bottom < runs->height && (change->size == 0 || label->area <= change->size);
}

static void
mark_roots (void *data, uint32_t index)
{
  Change *change = data;
  const CclStrip *strip = &change->runs->strips[index];
  const CclTable *table = &change->runs->table;
  bool any = false;

  for (uint32_t i = strip->base; i < strip->next; i++) {
    change->marks[i] = table->parents[i] == i && is_marked (change, &table->labels[i]);
    any |= change->marks[i];
  }
  if (any)
    atomic_store_explicit (&change->any, true, memory_order_relaxed);
}

/* Flips the pixels @start to @end - 1, which have the same value. */
static inline void
flip_run (uint64_t *row, uint32_t start, uint32_t end)
{
  uint32_t first = start / 64, last = (end - 1) / 64;
  uint64_t head = ~UINT64_C (0) << start % 64, tail = ~UINT64_C (0) >> (63 - (end - 1) % 64);

  if (first == last) {
    row[first] ^= head & tail;
    return;
  }
  row[first] ^= head;
  for (uint32_t w = first + 1; w < last; w++)
    row[w] = ~row[w];
  row[last] ^= tail;
}

/* Flips the runs of marked components. */
static void
flip_strip (void *data, uint32_t index)
{
  const Change *change = data;
  const CclRuns *runs = change->runs;
  const CclStrip *strip = &runs->strips[index];
  const uint32_t *parents = runs->table.parents;

  for (uint32_t i = strip->base; i < strip->next; i++)
    if (parents[i] != i)
      change->marks[i] = change->marks[ccl_strip_ancestor (parents, strip, i)];
  for (uint32_t y = strip->y; y < strip->bottom; y++) {
    uint64_t *row = change->mask->words + y * change->mask->pitch;

    for (uint32_t run = runs->spans[y].first; run < runs->spans[y].end; run++)
      if (change->marks[strip->labels[run]])
        flip_run (row, strip->edges[2 * (size_t) run], strip->edges[2 * (size_t) run + 1]);
  }
}

static void
flip_components (CclChain *chain, const CclOperation *operation, CclMask *mask)
{
  bool fill = operation->kind == CCL_OPERATION_FILL;
  CclRuns *runs = fill ? &chain->unset : &chain->set;
  CclImage image = ccl_mask_image (mask);
  CclForeground foreground = {
    .functions = chain->functions,
    .image = &image,
    .width = chain->width,
    .cut = { .invert = fill },
  };
  Change change = {
    .runs = runs,
    .mask = mask,
    .marks = chain->marks,
    .size = operation->size,
    .fill = fill,
  };

  ccl_runs_label (runs, &foreground);
  ccl_pool_run (runs->pool, mark_roots, &change, runs->n_strips);
  if (change.any)
    ccl_pool_run (runs->pool, flip_strip, &change, runs->n_strips);
}

/* Floods row @y from the row @near, if there is one, and from the border. */
static bool
flood (const CclChain *chain, const CclMask *mask, uint32_t y, uint32_t near, CclFloodFrom from)
{
  const CclMask *reached = &chain->reached;
  const uint64_t *beside = near < chain->height ? reached->words + near * reached->pitch : NULL;

  return chain->functions->flood_row (mask->words + y * mask->pitch, beside,
                                      reached->words + y * reached->pitch, chain->scratch,
                                      chain->width, chain->unset.diagonal, from);
}

/* The first sweep: down, from the border. */
static void
begin_flood (CclChain *chain, const CclMask *mask)
{
  for (uint32_t y = 0; y < chain->height; y++) {
    bool end = y == 0 || y + 1 == chain->height;

    chain->changed[y] = 0;
    flood (chain, mask, y, y - 1, end ? CCL_FLOOD_FROM_ALL : CCL_FLOOD_FROM_SIDES);
  }
}

/* Sweeps up and down until nothing changes. Only rows next to those that changed since the previous
 * sweep can change. Returns false if that takes too long. */
static bool
flood_all (CclChain *chain, const CclMask *mask)
{
  uint64_t left = (uint64_t) MOST_FLOODS * chain->height;
  bool any = true;

  begin_flood (chain, mask);
  for (unsigned sweep = 1; any; sweep++) {
    bool up = sweep % 2;

    any = false;
    for (uint32_t i = 1; i < chain->height; i++) {
      uint32_t y = up ? chain->height - 1 - i : i, near = up ? y + 1 : y - 1;

      if (chain->changed[near] + 1u < sweep || !flood (chain, mask, y, near, CCL_FLOOD_FROM_ROW))
        continue;
      chain->changed[y] = (uint16_t) sweep;
      any = true;
      if (--left == 0)
        return false;
    }
    if (sweep == UINT16_MAX - 1)
      return false;
  }
  return true;
}

/* Sets the pixels that the border does not reach. */
static void
fill_unreached (const CclChain *chain, CclMask *mask)
{
  size_t words = ccl_mask_words (chain->width);

  for (size_t y = 0; y < chain->height; y++) {
    const uint64_t *reached = chain->reached.words + y * chain->reached.pitch;
    uint64_t *row = mask->words + y * mask->pitch;

    for (size_t w = 0; w < words; w++)
      row[w] = ~reached[w];
    row[words - 1] &= ccl_mask_last_bits (chain->width);
  }
}

static void
copy_mask (CclMask *to, const CclMask *from)
{
  size_t bytes = ccl_mask_words (from->width) * sizeof *from->words;

  for (size_t y = 0; y < from->height; y++)
    memcpy (to->words + y * to->pitch, from->words + y * from->pitch, bytes);
}

void
ccl_chain_apply (CclChain *chain, uint32_t first, uint32_t n, CclMask *mask)
{
  CclMask *now = mask, *other = &chain->other;

  for (uint32_t i = first; i < first + n; i++) {
    const CclOperation *operation = &chain->operations[i];

    switch (operation->kind) {
    case CCL_OPERATION_MEDIAN:
    case CCL_OPERATION_ERODE:
    case CCL_OPERATION_DILATE:
      filter (chain, operation->kind, operation, &now, &other);
      break;
    case CCL_OPERATION_OPEN:
      filter (chain, CCL_OPERATION_ERODE, operation, &now, &other);
      filter (chain, CCL_OPERATION_DILATE, operation, &now, &other);
      break;
    case CCL_OPERATION_CLOSE:
      filter (chain, CCL_OPERATION_DILATE, operation, &now, &other);
      filter (chain, CCL_OPERATION_ERODE, operation, &now, &other);
      break;
    case CCL_OPERATION_FILL:
      if (operation->size == 0 && flood_all (chain, now))
        fill_unreached (chain, now);
      else
        flip_components (chain, operation, now);
      break;
    case CCL_OPERATION_DROP:
      flip_components (chain, operation, now);
      break;
    }
  }
  if (now != mask)
    copy_mask (mask, now);
}
