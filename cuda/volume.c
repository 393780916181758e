/* cudaccl - CUDA backend: volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

static const CclCudaAlgorithm algorithms[] = {
  CCL_CUDA_LABELLER ("buf", "BUF: block-based union-find (Allegretti et al. 2020)", 26,
                     ccl_cuda_buf_3d, true),
  CCL_CUDA_LABELLER ("bke", "BKE: block-based Komura equivalence (Allegretti et al. 2020)", 26,
                     ccl_cuda_bke_3d, true),
  CCL_CUDA_LABELLER ("buf-ic", "BUF with inline compression (Allegretti et al. 2020)", 26,
                     ccl_cuda_buf_ic_3d, true),
  CCL_CUDA_LABELLER ("bke-ic", "BKE with inline compression (Allegretti et al. 2020)", 26,
                     ccl_cuda_bke_ic_3d, true),
  CCL_CUDA_LABELLER ("be", "BE: block equivalence, iterative (Zavalishin et al. 2016)", 26,
                     ccl_cuda_be_3d, true),
  CCL_CUDA_LABELLER ("uf", "UF: union-find over voxels (Oliveira and Lotufo 2010)", 26,
                     ccl_cuda_uf_3d, false),
};

const CclAlgorithm *
ccl_cuda_volume_algorithm (size_t index)
{
  return index < sizeof algorithms / sizeof algorithms[0] ? &algorithms[index].info : NULL;
}

static CclStatus
fetch_slices (CudaSession *self, uint32_t count)
{
  CclStatus status = ccl_cuda_check (cudaMemcpyAsync (self->slices, self->frame.volume.slices,
                                                      count * sizeof *self->slices,
                                                      cudaMemcpyDeviceToHost, self->stream),
                                     "transferring components");

  if (status == CCL_OK)
    status = ccl_cuda_check (cudaStreamSynchronize (self->stream), "transferring components");
  return status;
}

CclStatus
ccl_cuda_slices (CclSession *session, uint32_t count, const CclSlices **slices)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = CCL_OK;

  *slices = self->slices;
  if (count == 0)
    return CCL_OK;
  status = ccl_cuda_context_enter (self->context);
  if (status != CCL_OK)
    return status;
  status = fetch_slices (self, count);
  ccl_cuda_context_leave ();
  return status;
}
