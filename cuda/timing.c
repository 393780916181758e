/* cudaccl - CUDA backend: how long a frame and its stages take
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/timing.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/queue.h"
#include "cuda/stages/stages.h"

#include <string.h>

CclStatus
ccl_cuda_timing_open (CclCudaTiming *self, const CclConfig *config)
{
  CclStatus status = CCL_OK;

  if (!config->timing)
    return CCL_OK;
  self->interval = config->stages || config->timing_interval == 0 ? 1 : config->timing_interval;
  for (uint32_t i = 0; i < CCL_CUDA_MOMENTS && status == CCL_OK; i++)
    status = ccl_cuda_event_new (&self->moments[i], cudaEventDefault);
  for (uint32_t i = 0; i < CCL_MAX_STAGES && config->stages && status == CCL_OK; i++)
    status = ccl_cuda_event_new (&self->stages.events[i], cudaEventDefault);
  return status;
}

void
ccl_cuda_timing_close (CclCudaTiming *self)
{
  for (uint32_t i = 0; i < CCL_CUDA_MOMENTS; i++)
    ccl_cuda_event_free (self->moments[i]);
  for (uint32_t i = 0; i < CCL_MAX_STAGES; i++)
    ccl_cuda_event_free (self->stages.events[i]);
}

void
ccl_cuda_timing_begin (CclCudaTiming *self)
{
  self->timed = self->interval > 0 && self->frames >= self->next;
}

void
ccl_cuda_timing_count (CclCudaTiming *self)
{
  if (self->timed)
    self->next = self->frames + self->interval;
  self->frames++;
}

cudaError_t
ccl_cuda_mark (CclCudaTiming *self, CclCudaMoment moment, cudaStream_t stream)
{
  /* In a capture: records the event each time the graph is launched, rather than a dependency. */
  unsigned flags = self->capturing ? cudaEventRecordExternal : cudaEventRecordDefault;

  if (!self->timed)
    return cudaSuccess;
  return CCL_CUDA (cudaEventRecordWithFlags, self->moments[moment], stream, flags);
}

uint64_t
ccl_cuda_timing_between (const CclCudaTiming *self, CclCudaMoment from, CclCudaMoment to)
{
  return ccl_cuda_nanoseconds (self->moments[from], self->moments[to]);
}

void
ccl_cuda_stage (const CclCudaWork *work, const char *name, cudaStream_t stream)
{
  CclCudaStages *stages = work->stages;

  if (!stages || stages->n == CCL_MAX_STAGES)
    return;
  stages->names[stages->n] = name;
  /* Without the event the stage seems to take no time; that is no reason to lose the frame. */
  if (CCL_CUDA (cudaEventRecord, stages->events[stages->n++], stream) != cudaSuccess)
    ccl_cuda_api.cudaGetLastError ();
}

void
ccl_cuda_stage_labelled (const CclCudaWork *work)
{
  CclCudaStages *stages = work->stages;

  if (stages && (work->algorithm->label || work->result.label_map))
    stages->labelling = (1u << stages->n) - (1u << stages->before);
}

void
ccl_cuda_stage_label_map (const CclCudaWork *work, cudaStream_t stream)
{
  ccl_cuda_stage (work, "label map", stream);
  if (work->stages && work->stages->labelling && !work->algorithm->label)
    work->stages->labelling |= 1u << (work->stages->n - 1);
}

void
ccl_cuda_stages_rewind (CclCudaStages *self)
{
  uint32_t n = 0;

  while (n < self->n && strcmp (self->names[n], CCL_STAGE_SELECTION) != 0)
    n++;
  self->n = n;
  self->labelling &= (1u << n) - 1;
}

void
ccl_cuda_stages_read (const CclCudaTiming *self, CclTiming *timing)
{
  const CclCudaStages *stages = &self->stages;
  cudaEvent_t start = self->moments[CCL_CUDA_UPLOADED];

  timing->labelling = 0;
  timing->n_stages = stages->n;
  for (uint32_t i = 0; i < stages->n; i++) {
    timing->stages[i] = (CclStage){
      .name = stages->names[i],
      .time = ccl_cuda_nanoseconds (start, stages->events[i]),
    };
    if (stages->labelling >> i & 1)
      timing->labelling += timing->stages[i].time;
    start = stages->events[i];
  }
}
