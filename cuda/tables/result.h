/* cudaccl - CUDA backend: the result of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_RESULT_H
#define CCL_CUDA_RESULT_H

#include "engine/backend.h"
#include "engine/shared/topk.h"

/* Precedes the components of a result. */
typedef struct CclResultHeader
{
  uint32_t kept;
  uint32_t reserved[17]; /* makes it as large as a component */
} CclResultHeader;

/* Limits of the components in the result, and its tables. Passed to kernels by value. */
typedef struct CclCudaResult
{
  uint32_t min_area, max_area;
  uint32_t min_width, min_height; /* of the bounding box; in volumes, within a slice */
  CclTopK top_k;
  uint32_t capacity;
  CclResultHeader *header;
  CclComponent *components; /* [capacity] */
  uint32_t *histogram;      /* [CCL_TOPK_BINS] of areas, for one round of the search for top-k */
  uint32_t *labels;    /* [height * slots] result labels of roots, 0 for those that are not in the
                        * result; NULL without label maps */
  uint32_t *label_map; /* [height * width], or NULL */
} CclCudaResult;

#endif
