/* cudaccl - CPU backend: run-based labelling with features on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_RUNS_H
#define CCL_CPU_RUNS_H

#include "ccl/backend.h"
#include "ccl/cpu/pack.h"

/* What is known of a label. After ccl_runs_label() only roots' features are whole. */
typedef struct CclRunsLabel
{
  uint64_t area, sum_x, sum_y;
  uint32_t first_x, y;          /* of the first pixel in raster order */
  uint32_t left, right, bottom; /* of the bounding box, right and bottom past the last pixel */
} CclRunsLabel;

/* Second-order sums of a label, kept apart because few ask for them. */
typedef struct CclRunsMoments
{
  uint64_t sum_xx, sum_yy, sum_xy;
} CclRunsMoments;

/* The runs of one row: pixels edges[2 i] up to, without, edges[2 i + 1] have label labels[i]. */
typedef struct CclRunsRow
{
  uint32_t *edges;
  uint32_t *labels;
  uint32_t count;
} CclRunsRow;

typedef struct CclRuns
{
  const CclCpuFunctions *functions;
  uint32_t width, height;
  uint32_t reach; /* how far past its ends a run touches those of the next row: 0 or 1 pixels */
  uint64_t *bits; /* one row */
  CclRunsRow above, row;
  struct
  {
    uint32_t *edges;
    uint32_t *labels;
  } all; /* what above and row are parts of: two rows, or with config.labels all runs of
          * the frame, one behind the other */
  uint32_t *row_ends; /* [height] runs up to the end of each row; NULL without config.labels */
  uint32_t *parents;  /* union-find over labels: a root is its own parent, others' are smaller */
  CclRunsLabel *labels;
  CclRunsMoments *moments; /* NULL unless asked for */
  uint32_t n_labels;
  uint64_t most_labels; /* that a frame can have */
} CclRuns;

CclStatus ccl_runs_init (CclRuns *runs, const CclConfig *config, CclAccount *account);
void ccl_runs_clear (CclRuns *runs);

/* Finds the components of @image: the labels that are roots, in the order of their first pixels. */
void ccl_runs_label (CclRuns *runs, const CclImage *image, const CclParams *params);

#endif
