/* cudaccl - CPU backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_LABELS_H
#define CCL_CPU_LABELS_H

#include "engine/cpu/runs/runs.h"

typedef struct CclLabelMap
{
  const CclRuns *runs;
  uint32_t *result_labels; /* of the runs' labels, 0 if not in the result */
  uint32_t *values;        /* of the runs' labels, in the last picture */
  uint32_t *map;           /* [height * width] */
  bool is_spread;  /* all labels of the last frame have their result labels, not only roots */
  bool is_current; /* the map is that of the last frame */
} CclLabelMap;

/* @map must be cleared even on failure. */
CclStatus ccl_label_map_init (CclLabelMap *map, const CclRuns *runs, CclAccount *account);
void ccl_label_map_clear (CclLabelMap *map);

/* The result labels and the map are not those of the last frame any more. */
static inline void
ccl_label_map_reset (CclLabelMap *map)
{
  map->is_spread = map->is_current = false;
}

/* Gives all labels of the last frame the result labels of their roots, once. */
void ccl_label_map_spread (CclLabelMap *map);

/* Writes the label map of the last frame, with rows @stride bytes apart, from its runs and their
 * roots' result labels. */
void ccl_label_map_write (CclLabelMap *map, uint32_t *pixels, size_t stride);

/* Writes a picture of the last frame in the same way. */
void ccl_label_map_paint (CclLabelMap *map, const CclPalette *palette, uint8_t *pixels,
                          size_t stride);

#endif
