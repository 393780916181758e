/* cudaccl - CUDA backend: background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The state stays on the device. A frame takes one launch between its upload and the operations on
 * its mask. With a scale, one more launch before that reduces the frame, and one after it enlarges
 * each mask. Frames that are aligned, or divided by the gains of flickering light, take more: see
 * shake.cu and flicker.cu. */

#include "cuda/models/model.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

CclModelFrame
ccl_cuda_model_frame (const CclModel *base, uint32_t width, uint32_t height)
{
  bool chroma = base->config.format == CCL_MOTION_LUMA_420;

  return (CclModelFrame){
    .width = width,
    .height = height,
    .chroma_width = chroma ? ccl_model_half (width) : 0,
    .chroma_height = chroma ? ccl_model_half (height) : 0,
    .step = 1,
  };
}

CclModelLayout
ccl_cuda_model_layout (const CclModelFrame *frame)
{
  CclModelLayout layout = {
    .luma = ((size_t) frame->width + 15) / 16 * 16,
    .chroma = (2 * (size_t) frame->chroma_width + 15) / 16 * 16,
  };

  layout.chroma_at[0] = layout.luma * frame->height;
  layout.chroma_at[1] = layout.chroma_at[0] + layout.chroma * frame->chroma_height;
  layout.size = layout.chroma_at[1] + layout.chroma * frame->chroma_height;
  return layout;
}

static CclStatus
allocate_mask (CclModelMask *mask, uint32_t width, uint32_t height, CclCudaMemory *memory)
{
  mask->pitch = ccl_mask_words (width);
  return ccl_cuda_allocate_cleared (memory, &mask->words,
                                    mask->pitch * height * sizeof *mask->words);
}

static CclStatus
allocate_masks (CclCudaModel *self, CclCudaMemory *memory)
{
  const CclModel *base = self->base;
  CclStatus status = CCL_OK;

  for (int i = 0; i <= base->config.shadows && status == CCL_OK; i++) {
    status = allocate_mask (&self->masks[i], base->width, base->height, memory);
    if (status == CCL_OK)
      status = allocate_mask (&self->shake.masks[i], base->width, base->height, memory);
    if (status == CCL_OK && base->config.scale > 1)
      status = allocate_mask (&self->enlarged[i], self->frame.width, self->frame.height, memory);
  }
  return status;
}

/* Allocates a frame of the model's size, with interleaved chroma. */
static CclStatus
allocate_frame (const CclCudaModel *self, CclModelFrame *frame, CclCudaMemory *memory)
{
  CclModelLayout layout;
  uint8_t *pixels;
  CclStatus status;

  *frame = ccl_cuda_model_frame (self->base, self->base->width, self->base->height);
  layout = ccl_cuda_model_layout (frame);
  status = ccl_cuda_allocate_device (memory, &pixels, layout.size);
  if (status != CCL_OK)
    return status;
  frame->planes[0] = (CclModelPlane){ pixels, layout.luma };
  ccl_cuda_model_set_pairs (frame, pixels + layout.chroma_at[0], layout.chroma);
  return CCL_OK;
}

static CclStatus
allocate_state (CclCudaModel *self, CclCudaMemory *memory)
{
  const CclModel *base = self->base;
  const bool chroma = self->frame.chroma_width > 0;
  CclModelState *s = &self->state;
  CclModelLight *light = &self->light;
  CclModelDrift *drift = &self->drift;
  CclModelShake *shake = &self->shake;
  const size_t pitch =
      ((size_t) base->width + CCL_MODEL_UNIT - 1) / CCL_MODEL_UNIT * CCL_MODEL_UNIT;
  const size_t pixels = pitch * base->height;
  const size_t samples = pitch / 2 * ccl_model_half (base->height);
  const uint32_t columns = ccl_light_tiles (base->width), rows = ccl_light_tiles (base->height);
  const uint32_t size = ccl_shake_size (base->width, base->height);
  const size_t coarse = size > 1 ? (size_t) (base->width / size) * (base->height / size) : 0;
  const CclCudaTable tables[] = {
    { &s->background[0], pixels * sizeof *s->background[0], .cleared = true },
    { &s->background[1], pixels * sizeof *s->background[1], .cleared = true },
    { &s->noise, pixels, .cleared = true },
    { &s->candidates, pixels, .cleared = true },
    { &s->counts, pixels, .cleared = true },
    { &s->formers, pixels, .cleared = true },
    { &s->visits, pixels, .cleared = true },
    { &s->chroma, chroma ? samples * sizeof *s->chroma : 0, .cleared = true },
    { &s->totals, CCL_MODEL_TOTALS * sizeof *s->totals, .cleared = true },
    { &light->tiles, (size_t) columns * rows * sizeof *light->tiles, .cleared = true },
    { &light->total, sizeof *light->total, .cleared = true },
    { &drift->counters, CCL_DRIFT_RANGES * CCL_LIGHT_BINS * sizeof *drift->counters,
      .cleared = true },
    { &drift->drift, sizeof *drift->drift, .cleared = true },
    { &drift->any, sizeof *drift->any, .cleared = true },
    { &shake->sums, CCL_SHAKE_SUMS * sizeof *shake->sums, .cleared = true },
    { &shake->shift, sizeof *shake->shift, .cleared = true },
    { &shake->values, coarse, .cleared = true },
    { &shake->background, coarse * sizeof *shake->background, .cleared = true },
    { &self->flicker, sizeof *self->flicker, .cleared = true },
  };
  CclStatus status = ccl_cuda_allocate_tables (memory, tables, sizeof tables / sizeof *tables);

  s->pitch = pitch;
  shake->coarse = size;
  light->columns = columns;
  light->rows = rows;
  if (status == CCL_OK)
    status = ccl_cuda_allocate_pinned (memory, &self->seen, sizeof *self->seen);
  if (status != CCL_OK)
    return status;
  *self->seen = (CclModelSeen){ .foreground = 0 };
  return ccl_cuda_map_pinned (self->seen, &s->seen);
}

CclStatus
ccl_cuda_model_open (CclCudaModel *self, CclModel *base, const CclConfig *config,
                     CclCudaMemory *memory)
{
  const uint64_t before = memory->account->bytes;
  CclStatus status;

  if (config->width > INT32_MAX || config->height > INT32_MAX)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "backend cuda has no background models of %" PRIu32 "x%" PRIu32
                     " pixels; use backend cpu",
                     config->width, config->height);
  self->base = base;
  self->frame = ccl_cuda_model_frame (base, config->width, config->height);
  status = allocate_state (self, memory);
  if (status == CCL_OK)
    status = allocate_frame (self, &self->shake.frame, memory);
  if (status == CCL_OK && base->config.scale > 1)
    status = allocate_frame (self, &self->small, memory);
  if (status == CCL_OK)
    status = allocate_masks (self, memory);
  base->bytes = memory->account->bytes - before;
  return status;
}

cudaError_t
ccl_cuda_model_enqueue (const CclCudaModel *self, cudaStream_t stream)
{
  const CclModel *base = self->base;
  const CclModelFrame *frame = &self->frame;
  const bool scaled = base->config.scale > 1;
  CclModelTask task = {
    .frame = scaled ? self->small : *frame,
    .state = self->state,
    .light = self->light,
    .drift = self->drift,
    .shake = self->shake,
    .flicker = self->flicker,
    .step = base->step,
    .mask = self->masks[0],
    .shadows = self->masks[1],
    .most = base->most,
    .newest = self->newest,
    .silent = base->silent,
  };
  cudaError_t error = cudaSuccess;

  if (scaled)
    error = ccl_cuda_model_shrink (frame, &self->small, base->config.scale, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_model_apply (&task, stream);
  for (int i = 0; scaled && i <= base->config.shadows && error == cudaSuccess; i++)
    error = ccl_cuda_model_enlarge (&self->masks[i], &self->enlarged[i], frame->width,
                                    frame->height, base->config.scale, stream);
  return error;
}

void
ccl_cuda_model_collect (const CclCudaModel *self)
{
  const CclShift none = { 0, 0 };
  CclModel *base = self->base;

  base->foreground = self->seen->foreground;
  base->n_shadows = self->seen->shadows;
  base->known = self->seen->sums[CCL_MODEL_KNOWN];
  memcpy (base->luma, self->seen->sums, sizeof base->luma);
  base->flickers = base->step.flicker != CCL_FLICKER_NONE && self->seen->flickers;
  base->far = base->step.flicker != CCL_FLICKER_NONE && self->seen->far;
  base->levels =
      base->step.light == CCL_MOTION_DRIFT ? self->seen->levels : (CclDriftLevels){ 0, 0 };
  base->shift = base->step.align == CCL_SHAKE_ALIGN ? self->seen->shift : none;
  base->moved = base->step.align == CCL_SHAKE_SEARCH ? self->seen->shift : none;
  base->relit = base->step.light > CCL_MOTION_DRIFT && self->seen->relit;
}

/* Reads the valid copy of each row. */
static CclStatus
read_background (const CclCudaModel *self, uint16_t *rows, uint8_t *pixels, size_t stride,
                 cudaStream_t stream)
{
  const CclModel *base = self->base;
  const CclModelState *state = &self->state;
  const size_t size = state->pitch * base->height;
  cudaError_t error = cudaSuccess;

  for (int i = 0; i < 2 && error == cudaSuccess; i++)
    error = CCL_CUDA (cudaMemcpyAsync, rows + i * size, state->background[i], size * sizeof *rows,
                      cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess)
    error = CCL_CUDA (cudaStreamSynchronize, stream);
  for (uint32_t y = 0; y < base->height && error == cudaSuccess; y++) {
    uint32_t copy = self->newest >> ccl_motion_group (y) & 1;
    const uint16_t *row = rows + copy * size + y * state->pitch;

    for (uint32_t x = 0; x < base->width; x++)
      pixels[y * stride + x] = ccl_motion_level (row[x]);
  }
  return ccl_cuda_check (error, "transferring a background");
}

CclStatus
ccl_cuda_model_background (const CclCudaModel *self, uint8_t *pixels, size_t stride,
                           cudaStream_t stream)
{
  uint16_t *rows = malloc (2 * self->state.pitch * self->base->height * sizeof *rows);
  CclStatus status;

  if (!rows)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a background");
  status = read_background (self, rows, pixels, stride, stream);
  free (rows);
  return status;
}
