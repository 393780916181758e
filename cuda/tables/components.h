/* cudaccl - CUDA backend: components while they are found
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_COMPONENTS_H
#define CCL_CUDA_COMPONENTS_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

/* The label of background, and of slots without a run. */
#define CCL_NO_LABEL UINT32_MAX

/* The features of a component, in one sector of memory. The first pixel is not among them: it
 * follows from the component's label. */
typedef struct CclFeatures
{
  alignas (16) uint64_t sum_x; /* two loads or stores move the whole record */
  uint64_t sum_y;
  uint32_t area;
  uint32_t min_x, max_x, max_y;
} CclFeatures;

/* Second-order sums, kept apart because few users ask for them. */
typedef struct CclMoments
{
  uint64_t sum_xx, sum_yy, sum_xy;
} CclMoments;

/* Features of components of volumes only. */
typedef struct CclDepthSums
{
  uint64_t sum_z;
  uint32_t min_y, max_y; /* rows of a slice */
} CclDepthSums;

/* Union-find over labels, and the features of its roots. Runs cannot touch, so a row has one label
 * for two pixels: slot i of row y is label y * slots + i, and labels are in raster order. Passed to
 * kernels by value. */
typedef struct CclComponentTable
{
  uint32_t slots;
  uint32_t slice_height;    /* rows of a slice of a volume */
  uint32_t *parents;        /* [height * slots]; a root is its own parent */
  CclFeatures *features;    /* [height * slots] of roots */
  CclMoments *moments;      /* the same, or NULL */
  CclDepthSums *depth_sums; /* the same, or NULL: not a volume */
  uint32_t *updates;        /* [height * slots] of a label's features; NULL: not counted */
} CclComponentTable;

/* Used with the component table by all algorithms except tile: roots can be in any slot. Each row
 * is split into @parts parts, one per warp. */
typedef struct CclSlotTable
{
  uint32_t parts;
  uint32_t *starts; /* [height * slots] x of a run's first pixel */
  uint32_t *runs;   /* [height] the number of runs in a row, if they are in its first slots; NULL:
                     * they are in any slot */
  uint64_t *counts; /* [height * parts + 1] counts of kept (high half) and tied (low half) roots of
                     * a part; after the scan, of all parts before it */
  void *scratch;    /* for the scan */
  size_t scratch_size;
} CclSlotTable;

#endif
