/* cudaccl - CUDA backend: what an algorithm is
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_ALGORITHM_H
#define CCL_CUDA_ALGORITHM_H

#include "cuda/runtime/queue.h"
#include "cuda/tables/classes.h"
#include "cuda/tables/components.h"
#include "cuda/tables/frame.h"
#include "cuda/tables/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CclCudaAlgorithm CclCudaAlgorithm;
struct CclCudaStages;

/* Everything that the analysis of frames of one size needs. Between frames only @frame's pixels,
 * pitch, threshold, highest and invert, and @result's limits change. */
typedef struct CclCudaWork
{
  const CclCudaAlgorithm *algorithm;
  CclCudaFrame frame;
  CclComponentTable components;
  CclSlotTable slots;
  CclCudaResult result;
  void *tables; /* the algorithm's own; tables_size bytes of host memory */
  struct
  {
    bool moments, result_labels, updates;
  } wants;      /* the tables that ccl_cuda_components_allocate() allocates */
  bool classes; /* the frame has planes, CclClassPlane, and a slot for each pixel */
  const CclClassFrame *class_frame; /* in host memory; NULL without classes */
  CclFeatureStage feature_stage;
  uint32_t depth;           /* of a volume, in slices; 0: a frame */
  struct CclSlices *slices; /* [capacity] of volumes */
  bool keep_components; /* enqueue() must leave the components in their tables, for count_areas() */
  unsigned long long *update_sums; /* [2] sums of components.updates and of their squares */
  struct CclCudaStages *stages;    /* in host memory; NULL: stages are not measured */
} CclCudaWork;

/* An algorithm: one file defines it, and algorithms/list.c lists it. */
struct CclCudaAlgorithm
{
  CclAlgorithm info;
  size_t tables_size;
  /* Plans the work on frames of work->frame's size and allocates its tables. */
  CclStatus (*open) (CclCudaWork *work, CclCudaQueue *queue);
  /* Enqueues everything from pixels to the result. */
  cudaError_t (*enqueue) (const CclCudaWork *work, cudaStream_t stream);
  /* Enqueues the histogram of the areas within the area limits, for one round of the search for
   * top-k; after enqueue() with keep_components. */
  cudaError_t (*count_areas) (const CclCudaWork *work, const CclTopKSearch *search,
                              cudaStream_t stream);
  /* Enqueues the result again, with other limits; after enqueue() with keep_components. */
  cudaError_t (*select) (const CclCudaWork *work, cudaStream_t stream);
  /* Whether enqueue() leaves the components even without keep_components; NULL: always. */
  bool (*leaves_components) (const CclCudaWork *work);
  /* Labelling algorithms: enqueues the labelling, from which enqueue() derives the components. */
  cudaError_t (*label) (const CclCudaWork *work, cudaStream_t stream);
  bool has_classes; /* supports CclCudaWork.classes */
};

/* Begins the definition of an algorithm. */
#ifdef __cplusplus
#define CCL_CUDA_ALGORITHM(symbol)      \
  extern "C" {                          \
  extern const CclCudaAlgorithm symbol; \
  }                                     \
  const CclCudaAlgorithm symbol
#endif

/* The algorithms for frames and for volumes, the best first; NULL past the last. */
const CclCudaAlgorithm *ccl_cuda_algorithm (size_t index);
const CclCudaAlgorithm *ccl_cuda_volume_algorithm (size_t index);

/* Whether @name is an algorithm, for frames or for volumes, that builds without papers lack. */
bool ccl_cuda_lacks (const char *name, bool volumes);

#ifdef __cplusplus
}
#endif

#endif
