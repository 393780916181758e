/* cudaccl - CUDA backend: FLSL without conflict detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/algorithms/flsl.cuh"

static cudaError_t
merge_rows_on_the_fly (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = launch (flsl_merge_rows<true>, part_grid (work), part_block (), 0, stream,
                              work->frame, slots_of (work), runs_of (work));

  ccl_cuda_stage (work, "merging", stream);
  return error;
}

static cudaError_t
flsl_otf_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_flsl_find_runs (work, stream);

  /* Before the first merge every run is a root: initialize it with its own features. */
  if (error == cudaSuccess)
    error = ccl_cuda_begin_slots (work, runs_of (work).flsl.ends, stream);
  ccl_cuda_stage (work, "features of runs", stream);
  if (error == cudaSuccess)
    error = merge_rows_on_the_fly (work, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_compress_slots_for_label_map (work, stream);
  return error == cudaSuccess ? ccl_cuda_finish (work, stream) : error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_flsl_otf) =
    FLSL_ALGORITHM ("flsl-otf", "FLSL with features merged on the fly (Lemaitre et al. 2021)",
                    flsl_otf_enqueue, false);

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_flsl) = FLSL_ALGORITHM (
    "flsl", "FLSL: full runs, each added to its component individually (Lemaitre et al. 2021)",
    flsl_enqueue<false>, true);
