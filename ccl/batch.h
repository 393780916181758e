/* cudaccl - connected components of many small frames at once
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames of one size, too small to keep a device busy one by one, are put one below the other with
 * a row of background between them, and analysed as one frame by any algorithm. Each has a result
 * of its own, the same that ccl_analyzer_analyze() gives for it. */

#ifndef CCL_BATCH_H
#define CCL_BATCH_H

#include "ccl/ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CclBatch CclBatch;

/* Makes what batches of up to @frames frames need, each as @config says: width, height,
 * max_components and all else are those of one frame. Free it with ccl_batch_free(). Errors: as
 * ccl_analyzer_new(), of which the limits of 2^32 - 1 pixels and of second-order sums are those of
 * all frames together, with a row more for each. */
CclStatus ccl_batch_new (const CclConfig *config, uint32_t frames, CclBatch **batch);
void ccl_batch_free (CclBatch *batch);

/* Analyses @n frames, from one to as many as ccl_batch_new() was told; @components has @n entries.
 * They belong to the batch and stay valid until its next analysis or its end. Frames are in host
 * memory, page-locked or not, or all of them in device memory (which needs the CUDA backend), where
 * they are put together, too; others are CCL_ERROR_UNSUPPORTED. */
CclStatus ccl_batch_analyze (CclBatch *batch, const CclImage *images, uint32_t n,
                             const CclParams *params, CclComponents *components);

/* Gives the label map of frame @index of the last batch. Errors: as ccl_analyzer_labels(). */
CclStatus ccl_batch_labels (CclBatch *batch, uint32_t index, CclLabels *labels);

/* Of the last batch as a whole. With frames in device memory, CclTiming.upload is what putting them
 * together took. */
void ccl_batch_timing (const CclBatch *batch, CclTiming *timing);

#ifdef __cplusplus
}
#endif

#endif
