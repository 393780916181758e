/* cudaccl - CUDA backend: variants of HA4
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/algorithms/ha4.cuh"

static cudaError_t
ha4_32_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ha4_label<uint32_t, false> (work, stream);

  return error == cudaSuccess ? ha4_add_features<uint32_t, false> (work, stream) : error;
}

static cudaError_t
ha4_cd_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_ha4_label (work, stream);

  return error == cudaSuccess ? ha4_add_features<uint64_t, true> (work, stream) : error;
}

/* A run's features are added to its label as soon as it has one, and move along with every merge
 * (HA+OTF of Lemaitre 2021). So no pass over the labelled image is needed. */
static cudaError_t
ha4_otf_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ha4_label<uint64_t, true> (work, stream);

  if (error == cudaSuccess)
    error = ccl_cuda_compress_slots_for_label_map (work, stream);
  return error == cudaSuccess ? ccl_cuda_finish (work, stream) : error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_ha4_32) = HA4_ALGORITHM (
    "ha4-32", "HA4 with one pixel per thread (Hennequin et al. 2018)", ha4_32_enqueue);

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_ha4_cd) =
    HA4_ALGORITHM ("ha4-cd", "HA4 with conflict detection (Lemaitre et al. 2021)", ha4_cd_enqueue);

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_ha4_otf) = HA4_ALGORITHM (
    "ha4-otf", "HA4 with features merged on the fly (Lemaitre et al. 2021)", ha4_otf_enqueue);
