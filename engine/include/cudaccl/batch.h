/* cudaccl - connected components of many small frames at once
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames of one size, too small to keep a device busy one by one, are stacked with a row of
 * background between them and analysed as one frame by any algorithm. On the CPU, CclConfig.threads
 * share the frames instead, and the batch has the memory of an analyzer for each. Each frame has
 * its own result, the same as from ccl_analyzer_analyze(). */

#ifndef CCL_BATCH_H
#define CCL_BATCH_H

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CclBatch CclBatch;

/* Makes an analyzer for batches of up to @frames frames. @config is for one frame. Free it with
 * ccl_batch_free(). Errors: as ccl_analyzer_new(); its limits of 2^32 - 1 pixels and of
 * second-order sums apply to all frames together, with one more row for each. */
CCL_API CclStatus ccl_batch_new (const CclConfig *config, uint32_t frames, CclBatch **batch);

/* Frees the analyzer and its results. NULL is ignored. */
CCL_API void ccl_batch_free (CclBatch *batch);

/* Analyses @n frames, from 1 to the number given to ccl_batch_new(). Fills @components, [n]; what
 * they point to belongs to the batch and stays valid until its next analysis or its end. The frames
 * are all bytes or all bits, and all in host memory (pinned or not) or all in device memory
 * (CUDA backend only), where they are stacked. The region and the operations apply to each frame.
 * Errors: as ccl_analyzer_submit() and ccl_analyzer_collect(). */
CCL_API CclStatus ccl_batch_analyze (CclBatch *batch, const CclImage *images, uint32_t n,
                                     const CclParams *params, CclComponents *components);

/* Returns the label map of frame @index of the last batch. Errors: as ccl_analyzer_labels(). */
CCL_API CclStatus ccl_batch_labels (CclBatch *batch, uint32_t index, CclLabels *labels);

/* Writes the label maps of all frames of the last batch to @labels, memory of the caller: rows
 * @stride bytes apart, frames @step bytes, both multiples of 4; all of it is there when the
 * function returns. @memory is CCL_MEMORY_HOST, CCL_MEMORY_PINNED or, with the CUDA backend,
 * CCL_MEMORY_DEVICE, which no label map leaves. Errors: as ccl_analyzer_write_labels(). */
CCL_API CclStatus ccl_batch_write_labels (CclBatch *batch, uint32_t *labels, size_t stride,
                                          size_t step, CclMemory memory);

/* Writes, in the same way, the area of each pixel's component instead of its label; 0 in the
 * background and in components that are not in the result. Errors: likewise. */
CCL_API CclStatus ccl_batch_write_areas (CclBatch *batch, uint32_t *areas, size_t stride,
                                         size_t step, CclMemory memory);

/* Gets the backend, device and memory of a batch; motion and operations are empty. */
CCL_API void ccl_batch_info (const CclBatch *batch, CclInfo *info);

/* Durations of the last batch as a whole. With frames in device memory, CclTiming.upload is the
 * time to stack them. */
CCL_API void ccl_batch_timing (const CclBatch *batch, CclTiming *timing);

#ifdef __cplusplus
}
#endif

#endif
