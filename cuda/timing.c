/* cudaccl - CUDA backend: what the stages of a frame take
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

#include <string.h>

CclStatus
ccl_cuda_stages_open (CudaSession *self)
{
  CclStatus status = CCL_OK;

  if (!self->base.config.stages || !self->base.config.timing)
    return CCL_OK;
  for (uint32_t i = 0; i < CCL_MAX_STAGES && status == CCL_OK; i++)
    status = ccl_cuda_check (cudaEventCreate (&self->stages.events[i]), "making an event");
  self->frame.stages = &self->stages;
  return status;
}

void
ccl_cuda_stages_close (CudaSession *self)
{
  for (uint32_t i = 0; i < CCL_MAX_STAGES; i++) {
    if (self->stages.events[i])
      cudaEventDestroy (self->stages.events[i]);
  }
}

void
ccl_cuda_stage (const CclCudaFrame *f, const char *name, cudaStream_t stream)
{
  CclCudaStages *stages = f->stages;

  if (!stages || stages->n == CCL_MAX_STAGES)
    return;
  stages->names[stages->n] = name;
  cudaEventRecord (stages->events[stages->n++], stream); /* an error shows with the next call */
}

void
ccl_cuda_stage_labelled (const CclCudaFrame *f)
{
  if (f->stages && (f->label || f->map))
    f->stages->labelling = (1u << f->stages->n) - 1;
}

void
ccl_cuda_stage_map (const CclCudaFrame *f, cudaStream_t stream)
{
  ccl_cuda_stage (f, "label map", stream);
  if (f->stages && f->stages->labelling && !f->label)
    f->stages->labelling |= 1u << (f->stages->n - 1);
}

void
ccl_cuda_stages_rewind (CudaSession *self)
{
  CclCudaStages *stages = &self->stages;
  uint32_t n = 0;

  while (n < stages->n && strcmp (stages->names[n], "compaction") != 0)
    n++;
  stages->n = n;
  stages->labelling &= (1u << n) - 1;
}

uint64_t
ccl_cuda_nanoseconds (cudaEvent_t from, cudaEvent_t to)
{
  float milliseconds = 0;

  if (cudaEventElapsedTime (&milliseconds, from, to) != cudaSuccess) {
    cudaGetLastError ();
    return 0;
  }
  return (uint64_t) ((double) milliseconds * 1e6);
}

void
ccl_cuda_stages_read (CudaSession *self, cudaEvent_t start)
{
  CclTiming *timing = &self->base.timing;

  timing->labelling = 0;
  timing->n_stages = self->stages.n;
  for (uint32_t i = 0; i < self->stages.n; i++) {
    timing->stages[i] = (CclStage){
      .name = self->stages.names[i],
      .time = ccl_cuda_nanoseconds (start, self->stages.events[i]),
    };
    if (self->stages.labelling >> i & 1)
      timing->labelling += timing->stages[i].time;
    start = self->stages.events[i];
  }
}
