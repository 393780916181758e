/* cudaccl - CPU backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_LABELS_H
#define CCL_CPU_LABELS_H

#include "ccl/cpu/runs.h"

typedef struct CclLabelMap
{
  const CclRuns *runs;
  uint32_t *numbers; /* of the runs' labels: the label in the result, 0 where there is none */
  uint32_t *map;     /* [height * width] */
  bool painted;      /* the map is that of the last frame */
} CclLabelMap;

/* What is there is to be cleared when it fails, too. */
CclStatus ccl_label_map_init (CclLabelMap *map, const CclRuns *runs, CclAccount *account);
void ccl_label_map_clear (CclLabelMap *map);

/* Paints what the last frame's runs and the numbers of their roots make, once. */
void ccl_label_map_paint (CclLabelMap *map);

#endif
