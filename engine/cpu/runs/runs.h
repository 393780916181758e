/* cudaccl - CPU backend: run-based labelling with features on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_RUNS_H
#define CCL_CPU_RUNS_H

#include "engine/backend.h"
#include "engine/cpu/runs/foreground.h"
#include "engine/cpu/pool.h"

#include <stdatomic.h>

/* The runs of a row, among those of its strip. */
typedef struct CclRunsSpan
{
  uint32_t first, end;
} CclRunsSpan;

/* Some rows of the frame, which one thread labels on its own. */
typedef struct CclStrip
{
  uint32_t y, bottom;       /* rows, bottom past the last */
  uint32_t base, next;      /* labels, next past the last that the frame needed */
  CclRow first, last;       /* rows, to be joined with the strips above and below */
  uint32_t *edges, *labels; /* of the first row and the last two, which alternate; with
                             * config.labels of all rows, one after another */
  uint64_t *bits;           /* of the first row and the last two */
  CclRowEdges *words;       /* likewise */
  uint8_t *classes[2];      /* with a region: the last two rows' inside it, which alternate */
  _Atomic uint32_t arrived; /* whether one side of the border above waits to be joined */
} CclStrip;

typedef struct CclRuns
{
  const CclCpuFunctions *functions;
  uint32_t width, height;
  uint32_t runs_per_row; /* at most */
  bool diagonal;         /* runs touch at corners too */
  CclTable table;
  CclStrip *strips;
  uint32_t n_strips;
  CclRow nothing;     /* a row without runs, above a strip's first row */
  CclRunsSpan *spans; /* [height] of the rows; NULL without config.labels */
  CclPool *pool;      /* borrowed; NULL with one thread */
  uint64_t most_labels;
  struct
  {
    uint32_t *edges, *labels;
    uint64_t *bits;
    CclRowEdges *words;
    uint8_t *classes;
  } all; /* the strips have parts of these */
} CclRuns;

/* How many parts a frame is cut into; @config's threads are not 0. One needs no pool. */
uint32_t ccl_runs_strips (const CclConfig *config);

/* @pool: NULL, or one that outlives @runs. @runs must be
 * cleared even on failure. */
CclStatus ccl_runs_init (CclRuns *runs, const CclConfig *config, CclPool *pool,
                         CclAccount *account);
void ccl_runs_clear (CclRuns *runs);

/* Finds the components of @foreground, of the runs' width: the labels of all strips that are roots,
 * in the order of their first pixels. */
void ccl_runs_label (CclRuns *runs, const CclForeground *foreground);

/* For values that spread from roots to all labels, strip by strip on any thread: the ancestor from
 * which label @i of @strip takes its own. In the strip that is the parent, which comes first; in
 * strips above it is the root, since other labels may not have theirs yet. Roots keep their values
 * and must not be written: other threads read them. */
static inline uint32_t
ccl_strip_ancestor (const uint32_t *parents, const CclStrip *strip, uint32_t i)
{
  uint32_t parent = parents[i];

  while (parent < strip->base && parents[parent] != parent)
    parent = parents[parent];
  return parent;
}

#endif
