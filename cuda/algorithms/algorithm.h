/* cudaccl - CUDA backend: what an algorithm is
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_ALGORITHM_H
#define CCL_CUDA_ALGORITHM_H

#include "cuda/tables/components.h"
#include "cuda/tables/frame.h"
#include "cuda/tables/label_image.h"
#include "cuda/runtime/device.h"
#include "cuda/tables/result.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CCL_CUDA_MAX_ALLOCATIONS 64

/* All memory of a session: freed together, counted in @account, cleared in @stream. */
typedef struct CclCudaMemory
{
  void *device[CCL_CUDA_MAX_ALLOCATIONS], *pinned[CCL_CUDA_MAX_ALLOCATIONS];
  uint32_t n_device, n_pinned;
  CclAccount *account;
  cudaStream_t stream;
} CclCudaMemory;

typedef struct CclCudaAlgorithm CclCudaAlgorithm;
struct CclCudaStages;

/* Everything that the analysis of frames of one size needs. Between frames only @frame's pixels,
 * pitch, threshold and invert, and @result's limits change. */
typedef struct CclCudaWork
{
  const CclCudaAlgorithm *algorithm;
  CclCudaFrame frame;
  CclComponentTable components;
  CclSlotTable slots;
  CclCudaResult result;
  void *tables; /* the algorithm's own, tables_size bytes of host memory */
  struct
  {
    bool moments, result_labels, updates;
  } wants; /* the tables that ccl_cuda_components_allocate() allocates */
  CclFeatureStage feature_stage;
  uint32_t depth;           /* slices of a volume; 0: a frame */
  struct CclSlices *slices; /* [capacity] of volumes */
  bool keep_components; /* enqueue() must leave the components in their tables, for count_areas() */
  unsigned long long *update_sums; /* [2] sum of components.updates and of their squares */
  struct CclCudaStages *stages;    /* on the host; NULL: stages are not measured */
} CclCudaWork;

/* An algorithm: one file defines it, and algorithms.c lists it. */
struct CclCudaAlgorithm
{
  CclAlgorithm info;
  size_t tables_size;
  /* Plans the work on frames of work->frame's size and allocates its tables. */
  CclStatus (*open) (CclCudaWork *work, const CclCudaDevice *device, CclCudaMemory *memory);
  /* Enqueues everything from pixels to the result. */
  cudaError_t (*enqueue) (const CclCudaWork *work, cudaStream_t stream);
  /* Enqueues the histogram of the areas within the area limits, for one round of the search for
   * top-k; after enqueue() with keep_components. */
  cudaError_t (*count_areas) (const CclCudaWork *work, const CclTopKSearch *search,
                              cudaStream_t stream);
  /* Enqueues the result again, with other limits; after enqueue() with keep_components. */
  cudaError_t (*select) (const CclCudaWork *work, cudaStream_t stream);
  /* Whether enqueue() leaves the components in their tables even without keep_components; NULL:
   * always.
   */
  bool (*leaves_components) (const CclCudaWork *work);
  /* For labelling algorithms: enqueues the labelling, from which enqueue() derives the components.
   */
  cudaError_t (*label) (const CclCudaWork *work, cudaStream_t stream);
};

/* Begins the definition of an algorithm, which algorithms.c lists. */
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

/* Allocate @size bytes that live as long as the session. @pointer: the address of a pointer. */
CclStatus ccl_cuda_allocate_device (CclCudaMemory *memory, void *pointer, size_t size);
CclStatus ccl_cuda_allocate_cleared (CclCudaMemory *memory, void *pointer, size_t size);
CclStatus ccl_cuda_allocate_pinned (CclCudaMemory *memory, void *pointer, size_t size);

/* Allocates what @work wants of its component table, for @labels labels; for open(). */
CclStatus ccl_cuda_components_allocate (CclCudaWork *work, CclCudaMemory *memory, size_t labels);

/* Returns CCL_OK, or reports a CUDA error and what to do about it. @what: the step that failed. */
CclStatus ccl_cuda_check (cudaError_t error, const char *what);

/* The first of the stages that a search for top-k repeats. */
#define CCL_STAGE_SELECTION "selection"

/* Ends a stage of the frame, which began where the last one ended; no effect where stages are not
 * measured. @name: a string literal. */
void ccl_cuda_stage (const CclCudaWork *work, const char *name, cudaStream_t stream);
/* Marks the stages so far as the labelling of pixels, or of runs; that of runs counts only with a
 * label map, which labels pixels. */
void ccl_cuda_stage_labelled (const CclCudaWork *work);
/* Ends the stage of the label map. */
void ccl_cuda_stage_label_map (const CclCudaWork *work, cudaStream_t stream);

/* CclCudaAlgorithm.open(), count_areas() and select() without the label map, for components in
 * slots. */
CclStatus ccl_cuda_slots_open (CclCudaWork *work, const CclCudaDevice *device,
                               CclCudaMemory *memory);
cudaError_t ccl_cuda_slots_count_areas (const CclCudaWork *work, const CclTopKSearch *search,
                                        cudaStream_t stream);
cudaError_t ccl_cuda_slots_select (const CclCudaWork *work, cudaStream_t stream);
/* The size of slots.scratch, for the scan in ccl_cuda_slots_select(). */
cudaError_t ccl_cuda_slots_scratch (const CclCudaWork *work, size_t *size);

/* The tables of algorithms that label pixels. */
static inline const CclLabelImage *
ccl_cuda_label_image (const CclCudaWork *work)
{
  return (const CclLabelImage *) work->tables;
}

/* All hooks of labelling algorithms except label(). The first open() is for labels of pixels, the
 * second for labels of blocks. */
CclStatus ccl_cuda_label_image_open (CclCudaWork *work, const CclCudaDevice *device,
                                     CclCudaMemory *memory);
CclStatus ccl_cuda_block_image_open (CclCudaWork *work, const CclCudaDevice *device,
                                     CclCudaMemory *memory);
cudaError_t ccl_cuda_label_image_enqueue (const CclCudaWork *work, cudaStream_t stream);
cudaError_t ccl_cuda_label_image_select (const CclCudaWork *work, cudaStream_t stream);

/* The definition of an algorithm that labels pixels. */
#define CCL_CUDA_LABELLING(name, description, connectivity, open, label)                       \
  {                                                                                            \
    { name, description, CCL_BACKEND_CUDA, connectivity }, sizeof (CclLabelImage), open,       \
        ccl_cuda_label_image_enqueue, ccl_cuda_slots_count_areas, ccl_cuda_label_image_select, \
        NULL, label                                                                            \
  }

/* Path compression of a frame's slots. Also initializes the features of roots, with those of their
 * own run unless @ends is NULL (see flsl.cu). The first one also ends the labelling stages. */
cudaError_t ccl_cuda_compress_slots (const CclCudaWork *work, const uint32_t *ends,
                                     cudaStream_t stream);
cudaError_t ccl_cuda_begin_slots (const CclCudaWork *work, const uint32_t *ends,
                                  cudaStream_t stream);
/* Path compression where features have been merged on the fly; only needed for a label map. */
cudaError_t ccl_cuda_compress_slots_for_label_map (const CclCudaWork *work, cudaStream_t stream);

/* Path compression of @count labels of pixels or blocks (Allegretti 2020). @in_line: store every
 * step (InlineCompress). The second one is for forests in which most labels point to their root or
 * to a child of it. */
cudaError_t ccl_cuda_compress (uint32_t *labels, size_t count, bool in_line, cudaStream_t stream);
cudaError_t ccl_cuda_compress_shallow (uint32_t *labels, size_t count, bool in_line,
                                       cudaStream_t stream);

/* Enqueues work->slices, after the selection. */
cudaError_t ccl_cuda_write_slices (const CclCudaWork *work, cudaStream_t stream);

/* Ends enqueue() when all features are complete: sums up the updates and calls select(). */
cudaError_t ccl_cuda_finish (const CclCudaWork *work, cudaStream_t stream);

/* Clear components.updates before a frame, and sum them up after its features. No effect unless
 * updates are counted. */
cudaError_t ccl_cuda_updates_clear (const CclCudaWork *work, cudaStream_t stream);
cudaError_t ccl_cuda_updates_sum (const CclCudaWork *work, cudaStream_t stream);

/* Whether this build has kernels for the current device; @overlap: whether these kernels can follow
 * each other by launch_following(). */
cudaError_t ccl_cuda_probe (bool *overlap);

#ifdef __cplusplus
}
#endif

#endif
