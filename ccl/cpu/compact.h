/* cudaccl - CPU backend: from labels to components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_COMPACT_H
#define CCL_CPU_COMPACT_H

#include "ccl/cpu/runs.h"
#include "ccl/topk.h"

/* What one strip has a share in. */
typedef struct CclShare
{
  uint32_t above, tied; /* its components with areas above the cut's and equal to it */
  uint32_t first;       /* index of its first component in the result */
  uint32_t ties;        /* how many of the tied ones stay */
  uint32_t histogram[CCL_CUT_BINS];
} CclShare;

typedef struct CclCompaction
{
  const CclRuns *runs;
  CclParams params;
  CclCutSearch search;
  CclShare *shares;  /* one a strip */
  uint32_t *numbers; /* of the runs' labels: the label in the result, 0 where there is none; NULL if
                      * nobody wants them */
  CclComponent *items; /* [keep] */
  uint32_t keep;
} CclCompaction;

/* Copies the features of the roots that pass the area filter, and are not cut off, into the result.
 */
CclComponents ccl_compact (CclCompaction *compaction, const CclParams *params);

#endif
