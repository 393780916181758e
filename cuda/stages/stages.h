/* cudaccl - CUDA backend: the stages that algorithms share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_STAGES_H
#define CCL_CUDA_STAGES_H

#include "cuda/tables/algorithm.h"
#include "cuda/tables/label_image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates what @work wants of its component table, for @labels labels; for open(). */
CclStatus ccl_cuda_components_allocate (CclCudaWork *work, CclCudaMemory *memory, size_t labels);

/* The first of the stages that a search for top-k repeats. */
#define CCL_STAGE_SELECTION "selection"

/* Ends a stage of the frame, which began where the last one ended. Does nothing if stages are not
 * measured. @name: a string literal. */
void ccl_cuda_stage (const CclCudaWork *work, const char *name, cudaStream_t stream);
/* Marks the stages so far as the labelling, of pixels or of runs. That of runs counts only with a
 * label map, which labels pixels. */
void ccl_cuda_stage_labelled (const CclCudaWork *work);
/* Ends the stage of the label map. */
void ccl_cuda_stage_label_map (const CclCudaWork *work, cudaStream_t stream);

/* CclCudaAlgorithm.open(), count_areas() and select(), without the label map, for components in
 * slots. */
CclStatus ccl_cuda_slots_open (CclCudaWork *work, CclCudaQueue *queue);
cudaError_t ccl_cuda_slots_count_areas (const CclCudaWork *work, const CclTopKSearch *search,
                                        cudaStream_t stream);
cudaError_t ccl_cuda_slots_select (const CclCudaWork *work, cudaStream_t stream);
/* Gets the size of slots.scratch, for the scan in ccl_cuda_slots_select(). */
cudaError_t ccl_cuda_slots_scratch (const CclCudaWork *work, size_t *size);

/* The tables of algorithms that label pixels. */
static inline const CclLabelImage *
ccl_cuda_label_image (const CclCudaWork *work)
{
  return (const CclLabelImage *) work->tables;
}

/* All hooks of labelling algorithms except label(). The first open() is for labels of pixels, the
 * second for labels of blocks. */
CclStatus ccl_cuda_label_image_open (CclCudaWork *work, CclCudaQueue *queue);
CclStatus ccl_cuda_block_image_open (CclCudaWork *work, CclCudaQueue *queue);
cudaError_t ccl_cuda_label_image_enqueue (const CclCudaWork *work, cudaStream_t stream);
cudaError_t ccl_cuda_label_image_select (const CclCudaWork *work, cudaStream_t stream);

/* The definition of an algorithm that labels pixels, and of one that has classes, too. */
#define CCL_CUDA_LABELLING(name, description, connectivity, open, label)                       \
  {                                                                                            \
    { name, description, CCL_BACKEND_CUDA, connectivity }, sizeof (CclLabelImage), open,       \
        ccl_cuda_label_image_enqueue, ccl_cuda_slots_count_areas, ccl_cuda_label_image_select, \
        NULL, label                                                                            \
  }
#define CCL_CUDA_LABELLING_CLASSES(name, description, connectivity, open, label)               \
  {                                                                                            \
    { name, description, CCL_BACKEND_CUDA, connectivity }, sizeof (CclLabelImage), open,       \
        ccl_cuda_label_image_enqueue, ccl_cuda_slots_count_areas, ccl_cuda_label_image_select, \
        NULL, label, true                                                                      \
  }

/* Compress the paths of a frame's slots, and initialize the features of roots: with those of their
 * own run unless @ends is NULL (see flsl.cuh). The first one also ends the labelling stages. */
cudaError_t ccl_cuda_compress_slots (const CclCudaWork *work, const uint32_t *ends,
                                     cudaStream_t stream);
cudaError_t ccl_cuda_begin_slots (const CclCudaWork *work, const uint32_t *ends,
                                  cudaStream_t stream);
/* Compresses paths where features have been merged on the fly; only label maps need that. */
cudaError_t ccl_cuda_compress_slots_for_label_map (const CclCudaWork *work, cudaStream_t stream);

/* Compress the paths of @count labels of pixels or blocks (Allegretti 2020). @in_line: store every
 * step (InlineCompress). The second one is for forests in which most labels point to their root or
 * to a child of it. */
cudaError_t ccl_cuda_compress (uint32_t *labels, size_t count, bool in_line, cudaStream_t stream);
cudaError_t ccl_cuda_compress_shallow (uint32_t *labels, size_t count, bool in_line,
                                       cudaStream_t stream);

/* Writes work->slices, after the selection. */
cudaError_t ccl_cuda_write_slices (const CclCudaWork *work, cudaStream_t stream);

/* Ends enqueue() when all features are complete: sums up the updates and calls select(). */
cudaError_t ccl_cuda_finish (const CclCudaWork *work, cudaStream_t stream);

/* Clear components.updates before a frame, and sum them up after its features. No effect unless
 * updates are counted. */
cudaError_t ccl_cuda_updates_clear (const CclCudaWork *work, cudaStream_t stream);
cudaError_t ccl_cuda_updates_sum (const CclCudaWork *work, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
