/* cudaccl - CUDA backend: how long the stages of a frame take
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

#include <string.h>

void
ccl_cuda_timing_open (CudaSession *self)
{
  const CclConfig *config = &self->base.config;

  if (config->timing)
    self->timing_interval =
        config->stages || config->timing_interval == 0 ? 1 : config->timing_interval;
}

void
ccl_cuda_timing_begin (CudaSession *self)
{
  self->timed = self->timing_interval > 0 && self->frames >= self->next_timed;
}

CclStatus
ccl_cuda_stages_open (CudaSession *self)
{
  CclStatus status = CCL_OK;

  if (!self->base.config.stages || !self->base.config.timing)
    return CCL_OK;
  for (uint32_t i = 0; i < CCL_MAX_STAGES && status == CCL_OK; i++)
    status = ccl_cuda_event_new (&self->stages.events[i], cudaEventDefault);
  self->work.stages = &self->stages;
  return status;
}

void
ccl_cuda_stages_close (CudaSession *self)
{
  for (uint32_t i = 0; i < CCL_MAX_STAGES; i++) {
    if (self->stages.events[i])
      CCL_CUDA (cudaEventDestroy, self->stages.events[i]);
  }
}

void
ccl_cuda_stage (const CclCudaWork *work, const char *name, cudaStream_t stream)
{
  CclCudaStages *stages = work->stages;

  if (!stages || stages->n == CCL_MAX_STAGES)
    return;
  stages->names[stages->n] = name;
  /* Without it the stage seems to take no time, which is no reason to lose the frame. */
  if (CCL_CUDA (cudaEventRecord, stages->events[stages->n++], stream) != cudaSuccess)
    ccl_cuda_api.cudaGetLastError ();
}

void
ccl_cuda_stage_labelled (const CclCudaWork *work)
{
  CclCudaStages *stages = work->stages;

  if (stages && (work->algorithm->label || work->result.label_map))
    stages->labelling = (1u << stages->n) - (1u << stages->operations);
}

void
ccl_cuda_stage_label_map (const CclCudaWork *work, cudaStream_t stream)
{
  ccl_cuda_stage (work, "label map", stream);
  if (work->stages && work->stages->labelling && !work->algorithm->label)
    work->stages->labelling |= 1u << (work->stages->n - 1);
}

void
ccl_cuda_stages_rewind (CudaSession *self)
{
  CclCudaStages *stages = &self->stages;
  uint32_t n = 0;

  while (n < stages->n && strcmp (stages->names[n], CCL_STAGE_SELECTION) != 0)
    n++;
  stages->n = n;
  stages->labelling &= (1u << n) - 1;
}

uint64_t
ccl_cuda_nanoseconds (cudaEvent_t from, cudaEvent_t to)
{
  float milliseconds = 0;

  if (CCL_CUDA (cudaEventElapsedTime, &milliseconds, from, to) != cudaSuccess) {
    ccl_cuda_api.cudaGetLastError ();
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
