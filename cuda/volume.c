/* cudaccl - CUDA backend: volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

static CclStatus
fetch_slices (CudaSession *self, uint32_t count)
{
  CclStatus status =
      ccl_cuda_check (CCL_CUDA (cudaMemcpyAsync, self->slices, self->work.slices,
                                count * sizeof *self->slices, cudaMemcpyDeviceToHost, self->stream),
                      "transferring components");

  if (status == CCL_OK)
    status =
        ccl_cuda_check (CCL_CUDA (cudaStreamSynchronize, self->stream), "transferring components");
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
  status = ccl_cuda_context_enter (self->device.context);
  if (status != CCL_OK)
    return status;
  status = fetch_slices (self, count);
  ccl_cuda_context_leave ();
  return status;
}
