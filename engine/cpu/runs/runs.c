/* cudaccl - CPU backend: run-based labelling with features on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A row of pixels becomes bits, then runs. A run that touches none of the row above gets a new
 * label, one that touches some gets the label of their component; where it touches several
 * components it joins them. Features are added run by run, so no label image is needed and only few
 * rows of runs are kept, except for a label map.
 *
 * The frame is divided into strips, which any thread may label, joined afterwards along their
 * borders. Each strip has its own range of labels, in the order of strips; labels are numbered in
 * raster order and the smaller one survives a union, so roots come out in canonical order with any
 * number of strips.
 */

#include "engine/cpu/runs/runs.h"
#include "engine/cpu/tuning.h"
#include "engine/cpu/runs/unite.h"

#include <stdlib.h>
#include <string.h>

/* More strips than threads: strips differ in their number of runs, and some threads begin late. */
#define STRIPS_PER_THREAD 4

#define CLASS_BYTES sizeof (uint16_t) /* of a pixel, at most */

/* A strip keeps the tables of its first row, the row above, the row and the next one. */
#define ROWS_KEPT 4

/* Runs of foreground do not touch, those of classes may. */
static uint32_t
runs_per_row (const CclConfig *config)
{
  return config->values == CCL_VALUES_EQUAL ? config->width : ccl_runs_per_row (config->width);
}

/* An upper bound of the labels that @rows rows can need: one for each run with nothing above it.
 * With 4-connectivity these can be all runs; with 8-connectivity the squares of 2 x 2 pixels that
 * end in such a run's first pixel are disjoint. One label more is always initialised. */
static uint64_t
labels_bound (const CclConfig *config, uint32_t rows)
{
  if (config->connectivity == 4 || config->values == CCL_VALUES_EQUAL)
    return (uint64_t) runs_per_row (config) * rows + 1;
  return ((uint64_t) config->width + 1) * ((uint64_t) rows + 1) / 4 + 1;
}

uint32_t
ccl_runs_strips (const CclConfig *config)
{
  uint64_t pixels = (uint64_t) config->width * config->height;
  uint64_t most = pixels / ccl_cpu_tuning.strip_pixels;
  uint64_t wanted = (uint64_t) STRIPS_PER_THREAD * config->threads;

  if (config->threads <= 1 || most <= 1)
    return 1;
  if (wanted > most)
    wanted = most;
  return (uint32_t) (wanted < config->height ? wanted : config->height);
}

/* The entries of a strip's edges; there are half as many labels. */
static uint64_t
strip_edges (const CclConfig *config, const CclStrip *strip)
{
  uint64_t row = 2 * (uint64_t) runs_per_row (config);

  if (config->labels)
    return row * (strip->bottom - strip->y) + CCL_ROW_SLACK;
  return ROWS_KEPT * (row + CCL_ROW_SLACK);
}

/* Sets which rows and labels the strips have; returns the number of edges of all. */
static uint64_t
cut_strips (CclRuns *runs, const CclConfig *config)
{
  uint64_t edges = 0;

  for (uint32_t s = 0; s < runs->n_strips; s++) {
    CclStrip *strip = &runs->strips[s];

    memset (strip, 0, sizeof *strip);
    strip->y = (uint32_t) ((uint64_t) runs->height * s / runs->n_strips);
    strip->bottom = (uint32_t) ((uint64_t) runs->height * (s + 1) / runs->n_strips);
    strip->base = strip->next = (uint32_t) runs->most_labels;
    runs->most_labels += labels_bound (config, strip->bottom - strip->y);
    edges += strip_edges (config, strip);
  }
  return edges;
}

/* Gives each strip its part of all tables, and the rest to the row without runs. The word after a
 * row's pixels stays 0. */
static void
share_tables (CclRuns *runs, const CclConfig *config)
{
  size_t words = config->width / 64 + 1, edges = 0;

  for (uint32_t s = 0; s < runs->n_strips; s++) {
    CclStrip *strip = &runs->strips[s];

    strip->edges = runs->all.edges + edges;
    strip->labels = runs->all.labels + edges / 2;
    strip->words = runs->all.words + ROWS_KEPT * words * s;
    strip->bits = runs->all.bits + ROWS_KEPT * words * s;
    for (size_t i = 0; i < 2 && runs->all.classes; i++)
      strip->classes[i] = runs->all.classes + CLASS_BYTES * config->width * (2 * s + i);
    edges += strip_edges (config, strip);
  }
  runs->nothing = (CclRow){
    .labels = runs->all.labels + edges / 2,
    .bits = runs->all.bits + ROWS_KEPT * words * runs->n_strips,
    .words = runs->all.words + ROWS_KEPT * words * runs->n_strips,
  };
  memset (runs->nothing.labels, 0, sizeof *runs->nothing.labels);
  memset (runs->all.bits, 0, (ROWS_KEPT * (size_t) runs->n_strips + 1) * words * sizeof (uint64_t));
  memset (runs->nothing.words, 0, words * sizeof *runs->nothing.words);
}

CclStatus
ccl_runs_init (CclRuns *runs, const CclConfig *config, CclPool *pool, CclAccount *account)
{
  const bool classes = config->values == CCL_VALUES_EQUAL;
  uint64_t words = (uint64_t) config->width / 64 + 1, rows, edges;

  *runs = (CclRuns){
    .functions = ccl_cpu_functions_chosen (),
    .width = config->width,
    .height = config->height,
    .runs_per_row = runs_per_row (config),
    .diagonal = config->connectivity == 8,
    .n_strips = ccl_runs_strips (config),
    .pool = pool,
  };
  rows = (uint64_t) ROWS_KEPT * runs->n_strips + 1;
  /* Sized for the worst case; ordinary frames never touch most of the pages. */
#define ALLOCATE(field, count) \
  ((field) = ccl_account_malloc (account, (count), sizeof *(field), "the labels of a frame"))
  if (!ALLOCATE (runs->strips, runs->n_strips))
    return CCL_ERROR_NO_MEMORY;
  edges = cut_strips (runs, config);
  if (!ALLOCATE (runs->all.edges, edges) || !ALLOCATE (runs->all.labels, edges / 2 + 1) ||
      !ALLOCATE (runs->all.words, rows * words) || !ALLOCATE (runs->all.bits, rows * words) ||
      (config->labels && !ALLOCATE (runs->spans, config->height)) ||
      !ALLOCATE (runs->table.parents, runs->most_labels) ||
      !ALLOCATE (runs->table.labels, runs->most_labels) ||
      (config->second_order && !ALLOCATE (runs->table.moments, runs->most_labels)) ||
      (classes && !ALLOCATE (runs->table.values, runs->most_labels)) ||
      (classes && config->region &&
       !ALLOCATE (runs->all.classes, CLASS_BYTES * 2 * runs->n_strips * config->width)))
    return CCL_ERROR_NO_MEMORY;
#undef ALLOCATE
  share_tables (runs, config);
  return CCL_OK;
}

void
ccl_runs_clear (CclRuns *runs)
{
  free (runs->strips);
  free (runs->all.edges);
  free (runs->all.labels);
  free (runs->all.words);
  free (runs->all.bits);
  free (runs->all.classes);
  free (runs->spans);
  free (runs->table.parents);
  free (runs->table.labels);
  free (runs->table.moments);
  free (runs->table.values);
}

/* Returns place for the next row behind @row and @above. The first row keeps its own. */
static CclRow
place_row (const CclRuns *runs, const CclStrip *strip, const CclRow *above, const CclRow *row)
{
  size_t words = runs->width / 64 + 1, slot = 1;

  while (strip->bits + slot * words == above->bits || strip->bits + slot * words == row->bits)
    slot++;
  return (CclRow){ .bits = strip->bits + slot * words, .words = strip->words + slot * words };
}

/* Sets where the runs of @row go: to its own place or, for a label map, behind the @n_runs of all
 * rows before. */
static void
place_runs (const CclRuns *runs, const CclStrip *strip, CclRow *row, uint32_t n_runs)
{
  size_t slot = (size_t) (row->bits - strip->bits) / (runs->width / 64 + 1);
  size_t run = runs->spans ? n_runs : slot * (runs->runs_per_row + CCL_ROW_SLACK / 2);

  row->edges = strip->edges + 2 * run;
  row->labels = strip->labels + run;
}

typedef struct Job
{
  CclRuns *runs;
  const CclForeground *foreground;
} Job;

/* Sets the bits of row @y, or makes it the row without runs. Returns whether it differs from the
 * one above. */
static bool
take_bits (const Job *job, uint32_t y, const CclRow *above, CclRow *row)
{
  const CclRuns *runs = job->runs;

  if (!ccl_foreground_row (job->foreground, y, row->bits))
    *row = runs->nothing;
  return row->bits != above->bits &&
         memcmp (row->bits, above->bits, (runs->width / 64 + 1) * sizeof *row->bits) != 0;
}

/* Copies the pixels of row @y inside the region; those outside become 0. */
static void
mask_classes (const CclForeground *foreground, uint32_t y, const CclClassRow *from, uint8_t *to)
{
  const uint64_t *bits = foreground->region->words + y * foreground->region->pitch;

  for (size_t i = 0; i < (size_t) foreground->width * from->size; i++) {
    size_t x = i / from->size;

    to[i] = bits[x / 64] >> x % 64 & 1 ? from->pixels[i] : 0;
  }
}

/* Sets @classes to row @y. Returns whether it differs from the one above, which was taken before.
 */
static bool
take_classes (const Job *job, const CclStrip *strip, uint32_t y, CclClassRow *classes)
{
  const CclImage *image = job->foreground->image;
  const uint8_t *above;

  *classes = (CclClassRow){
    .pixels = image->data + y * image->stride,
    .size = image->format == CCL_FORMAT_BYTES ? 1 : CLASS_BYTES,
  };
  if (job->foreground->region) {
    mask_classes (job->foreground, y, classes, strip->classes[y % 2]);
    classes->pixels = strip->classes[y % 2];
  }
  if (y == strip->y)
    return false;
  above = job->foreground->region ? strip->classes[(y + 1) % 2] : classes->pixels - image->stride;
  return memcmp (classes->pixels, above, (size_t) job->runs->width * classes->size) != 0;
}

/* Takes the next row, to @row or @classes. Returns whether it differs from the one above. */
static bool
take_row (const Job *job, const CclStrip *strip, uint32_t y, const CclRow *above, CclRow *row,
          CclClassRow *classes)
{
  return job->runs->table.values ? take_classes (job, strip, y, classes)
                                 : take_bits (job, y, above, row);
}

/* Labels rows @y to @bottom - 1, which are all @row or @classes. Returns the next label. */
static uint32_t
label_row (const CclRuns *runs, const CclRow *above, CclRow *row, const CclClassRow *classes,
           uint32_t y, uint32_t bottom, uint32_t next)
{
  const CclCpuFunctions *functions = runs->functions;

  if (runs->table.values)
    return functions->label_classes (&runs->table, above, row, classes, runs->width, y, bottom,
                                     runs->diagonal, next);
  if (row->bits == runs->nothing.bits)
    return next;
  functions->find_runs (row, runs->width);
  return functions->label_row (&runs->table, above, row, runs->width, y, bottom, runs->diagonal,
                               next);
}

/* Labels a strip. Rows that equal the one above need no labels of their own, and are labelled
 * together. Upscaled masks and upright edges have many of them. */
static void
label_rows (const Job *job, CclStrip *strip)
{
  CclRuns *runs = job->runs;
  CclRow above = runs->nothing, row = { .bits = strip->bits, .words = strip->words };
  CclClassRow classes;
  uint32_t next = strip->base, n_runs = 0, end;

  take_row (job, strip, strip->y, &runs->nothing, &row, &classes);
  for (uint32_t y = strip->y; y < strip->bottom; y = end) {
    CclRow ahead = row;
    CclClassRow classes_ahead = classes;
    bool differs = false;

    for (end = y + 1; end < strip->bottom && !differs; end += !differs) {
      classes = classes_ahead;
      ahead = place_row (runs, strip, &above, &row);
      differs = take_row (job, strip, end, &row, &ahead, &classes_ahead);
    }
    if (!differs)
      classes = classes_ahead;
    if (row.bits != runs->nothing.bits)
      place_runs (runs, strip, &row, n_runs);
    next = label_row (runs, &above, &row, &classes, y, end, next);
    n_runs += row.count;
    for (uint32_t i = y; runs->spans && i < end; i++)
      runs->spans[i] = (CclRunsSpan){ n_runs - row.count, n_runs };
    if (y == strip->y)
      strip->first = row;
    above = row;
    row = ahead;
    classes = classes_ahead;
  }
  strip->last = above;
  strip->next = next;
}

/* Joins components across the border between two strips. */
static void
join_strips (const CclTable *table, const CclStrip *upper, const CclStrip *lower, bool diagonal)
{
  const CclRow *above = &upper->last, *row = &lower->first;
  uint32_t first = 0;

  for (uint32_t i = 0; i < row->count; i++) {
    first = skip_runs (above, first, row->edges[2 * (size_t) i], diagonal);
    for (uint32_t j = first; begins_before (above, j, row->edges[2 * (size_t) i + 1], diagonal);
         j++) {
      if (are_alike (table, row->labels[i], above->labels[j]))
        unite (table, find_root (table->parents, row->labels[i]),
               find_root (table->parents, above->labels[j]));
    }
  }
}

/* Labels a strip, then joins strips in pairs, pairs of pairs and so on, each by the thread that was
 * the last to finish one of the halves. Concurrent joins never reach the same labels, and mostly a
 * thread joins what it has labelled. */
static void
label_strip (void *data, uint32_t index)
{
  const Job *job = data;
  CclRuns *runs = job->runs;
  CclStrip *strips = runs->strips;

  label_rows (job, &strips[index]);
  for (uint32_t half = 1; half < runs->n_strips; half *= 2) {
    uint32_t border = index / (2 * half) * (2 * half) + half; /* the first strip below it */

    if (border >= runs->n_strips)
      continue; /* there is no lower half */
    if (atomic_fetch_xor (&strips[border].arrived, 1) == 0)
      return; /* the other half is not done */
    join_strips (&runs->table, &strips[border - 1], &strips[border], runs->diagonal);
  }
}

void
ccl_runs_label (CclRuns *runs, const CclForeground *foreground)
{
  Job job = { runs, foreground };

  ccl_pool_run (runs->pool, label_strip, &job, runs->n_strips);
}
