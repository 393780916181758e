/* cudaccl - CPU backend: shapes of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_SHAPES_H
#define CCL_CPU_SHAPES_H

#include "engine/cpu/runs/labels.h"

/* Finds shapes from the runs of a frame, which are kept as for a label map. */
typedef struct CclShapeFinder
{
  const CclLabelMap *map;
  unsigned wanted;  /* CclShapeFlags */
  uint64_t *rows;   /* of bits: three of borders, one of others, and one without pixels */
  CclShape *shapes; /* the session's */
} CclShapeFinder;

/* @finder must be cleared even on failure. */
CclStatus ccl_shape_finder_init (CclShapeFinder *finder, const CclLabelMap *map, unsigned wanted,
                                 CclShape *shapes, CclAccount *account);
void ccl_shape_finder_clear (CclShapeFinder *finder);

/* Finds the shapes of @count components, once they have their result labels. @mask: the foreground;
 * its words are needed with CCL_SHAPES_PERIMETER. @luma: with CCL_SHAPES_LUMA, the frame. */
void ccl_shape_finder_run (const CclShapeFinder *finder, uint32_t count, const CclMask *mask,
                           const CclImage *luma);

#endif
