/* cudaccl - CPU backend: from labels to components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_COMPACT_H
#define CCL_CPU_COMPACT_H

#include "engine/cpu/runs/runs.h"
#include "engine/shared/topk.h"

/* One strip's share of the result. */
typedef struct CclShare
{
  uint32_t above, tied; /* its components above the smallest area among top-k, and of that area */
  uint32_t first;       /* index of its first component in the result */
  uint32_t ties;        /* how many of the tied ones are kept */
  uint32_t histogram[CCL_TOPK_BINS];
} CclShare;

typedef struct CclCompaction
{
  const CclRuns *runs;
  CclParams params;
  CclTopKSearch search;
  CclShare *shares; /* one per strip */
  uint32_t
      *result_labels;  /* of the runs' labels, 0 if not in the result; NULL without label maps */
  CclComponent *items; /* [keep] */
  uint16_t *values;    /* [keep] of classes; NULL without them */
  uint32_t keep;
} CclCompaction;

/* Copies the features of the roots that pass the filters and top-k into the result. */
CclComponents ccl_compact (CclCompaction *compaction, const CclParams *params);

#endif
