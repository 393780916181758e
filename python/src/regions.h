/* cudaccl - Python: regions of label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_PYTHON_REGIONS_H
#define CCL_PYTHON_REGIONS_H

#include "engine.h"

/* The pixels of a region in a row that are furthest apart; first > last: none. */
typedef struct RegionRow
{
  int first, last;
} RegionRow;

/* Scratch memory for the convex hulls of regions of at most some rows. */
typedef struct RegionHull RegionHull;

RegionHull *region_hull_new (size_t rows);
void region_hull_free (RegionHull *self);

/* Sets @result to the number of pixels whose centre is in the hull of the middles of the sides of a
 * region's pixels, and to the square of the longest distance between middles of sides of these
 * pixels. @spacing: of rows and columns. */
void region_hull_measure (RegionHull *self, const RegionRow *rows, size_t n,
                          const double spacing[2], double result[2]);

/* Checks that an array in host memory is a label map, of int32 without gaps, and finds its highest
 * label; -1 with an exception. */
int regions_get (const Array *array, const char *what, int32_t *highest);

/* Reads a label once. Another thread may have written to the map since its range was found; what
 * is above @highest then counts as background, so that no index is outside a table. */
static inline int32_t
regions_label (const int32_t *at, int32_t highest)
{
  const int32_t label = __atomic_load_n (at, __ATOMIC_RELAXED);

  return (uint32_t) label > (uint32_t) highest ? 0 : label;
}

/* Functions of the module. */
PyObject *regions_measure (PyObject *module, PyObject *args);
PyObject *regions_rename (PyObject *module, PyObject *args);
PyObject *regions_trace (PyObject *module, PyObject *args);

#endif
