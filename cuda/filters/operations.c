/* cudaccl - CUDA backend: regions and operations as a chain of launches
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Passes of filters share launches within CCL_FILTER_REACH. Fill and drop flip pixels of
 * components, which takes an analysis. A drop at the end of the chain costs nothing: it becomes a
 * minimum area. */

#include "cuda/runtime/api.h"
#include "cuda/filters/operations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How far the passes of a launch look. */
typedef struct Reach
{
  uint32_t x, y;
} Reach;

static CclCleaningStep *
last_step (CclCleaning *cleaning)
{
  return cleaning->n > 0 ? &cleaning->steps[cleaning->n - 1] : NULL;
}

/* A new launch without passes. */
static CclFilters *
add_filters (CclCleaning *cleaning, Reach *reach)
{
  CclCleaningStep *step = &cleaning->steps[cleaning->n++];

  *step = (CclCleaningStep){ .flip = false };
  *reach = (Reach){ 0, 0 };
  return &step->filters;
}

static void
add_pass (CclCleaning *cleaning, CclPass pass, Reach *reach)
{
  CclCleaningStep *last = last_step (cleaning);
  uint32_t x = CCL_PASS_REACH_X (pass), y = CCL_PASS_REACH_Y (pass);
  CclFilters *filters = last ? &last->filters : NULL;

  if (!last || last->flip || filters->n == CCL_MAX_PASSES || reach->x + x > CCL_FILTER_REACH ||
      reach->y + y > CCL_FILTER_REACH)
    filters = add_filters (cleaning, reach);
  filters->passes[filters->n / 4] |= (uint64_t) pass << filters->n % 4 * 16;
  filters->n++;
  filters->reach += y;
  reach->x += x;
  reach->y += y;
}

static void
add_rectangle (CclCleaning *cleaning, const CclOperation *operation, bool erode, Reach *reach)
{
  uint32_t x = operation->width / 2, y = operation->height / 2;

  if (x > 0 || y > 0)
    add_pass (cleaning, CCL_PASS (CCL_PASS_RECTANGLE, x, y, erode), reach);
}

static void
add_flip (CclCleaning *cleaning, const CclOperation *operation)
{
  cleaning->steps[cleaning->n++] = (CclCleaningStep){
    .flip = true,
    .flips = { .fill = operation->kind == CCL_OPERATION_FILL, .size = operation->size },
  };
}

static void
add_operation (CclCleaning *cleaning, const CclOperation *operation, Reach *reach)
{
  switch (operation->kind) {
  case CCL_OPERATION_MEDIAN:
    add_pass (cleaning, CCL_PASS (CCL_PASS_MEDIAN, operation->width / 2, operation->width / 2, 0),
              reach);
    break;
  case CCL_OPERATION_ERODE:
  case CCL_OPERATION_DILATE:
    add_rectangle (cleaning, operation, operation->kind == CCL_OPERATION_ERODE, reach);
    break;
  case CCL_OPERATION_OPEN:
  case CCL_OPERATION_CLOSE:
    add_rectangle (cleaning, operation, operation->kind == CCL_OPERATION_OPEN, reach);
    add_rectangle (cleaning, operation, operation->kind == CCL_OPERATION_CLOSE, reach);
    break;
  case CCL_OPERATION_FILL:
  case CCL_OPERATION_DROP:
    add_flip (cleaning, operation);
    break;
  }
}

/* The operations without those drops at the end that a minimum area stands for. */
static uint32_t
without_drops (CclCleaning *cleaning, const CclSession *session)
{
  uint32_t n = session->config.n_operations;

  for (; n > 0 && session->operations[n - 1].kind == CCL_OPERATION_DROP; n--) {
    uint64_t size = session->operations[n - 1].size;

    cleaning->min_area = size > cleaning->min_area ? size : cleaning->min_area;
  }
  return n;
}

static bool
has_flips (const CclCleaning *cleaning)
{
  for (uint32_t i = 0; i < cleaning->n; i++)
    if (cleaning->steps[i].flip)
      return true;
  return false;
}

/* Where each step writes: flips in place, but not on the frame's own pixels. */
static void
place_steps (CclCleaning *cleaning, const CclCudaWork *work, const CclCudaDevice *device,
             uint32_t frames, uint32_t height)
{
  uint32_t now = 0;

  for (uint32_t i = 0; i < cleaning->n; i++) {
    CclCleaningStep *step = &cleaning->steps[i];

    if (i > 0 && !step->flip)
      now = !now;
    step->flips.to = cleaning->masks[now];
    step->flips.pitch = cleaning->pitch;
    step->filters.to = cleaning->masks[now];
    step->filters.pitch = cleaning->pitch;
    step->filters.frames = frames;
    step->filters.height = height;
    if (!step->flip)
      ccl_cuda_filter_plan (&work->frame, device, &step->filters);
  }
  if (cleaning->region)
    cleaning->steps[0].filters.region = cleaning->region;
  cleaning->clean = work->frame;
  cleaning->clean.pixels = (const uint8_t *) cleaning->masks[now];
  cleaning->clean.pitch = cleaning->pitch * sizeof *cleaning->masks[now];
  cleaning->clean.bits = 1;
}

/* The region is the caller's: the copy is complete on return. */
static cudaError_t
copy_region (const CclCleaning *cleaning, const CclMask *region, cudaStream_t stream)
{
  const size_t word = sizeof *region->words;
  cudaError_t error =
      CCL_CUDA (cudaMemcpy2DAsync, cleaning->region, cleaning->pitch * word, region->words,
                region->pitch * word, ccl_mask_words (region->width) * word, region->height,
                cudaMemcpyHostToDevice, stream);

  return error == cudaSuccess ? CCL_CUDA (cudaStreamSynchronize, stream) : error;
}

/* Rows of masks that no step writes, those between the frames of a batch, stay background. */
static CclStatus
allocate_masks (CclCleaning *cleaning, const CclSession *session, uint32_t height,
                CclCudaMemory *memory)
{
  const CclMask *region = session->config.region;
  size_t row, size;
  uint32_t filters = 0;
  CclStatus status;

  cleaning->pitch = (ccl_mask_words (session->config.width) + 1) / 2 * 2;
  row = cleaning->pitch * sizeof *cleaning->region;
  size = row * session->config.height;
  for (uint32_t i = 0; i < cleaning->n; i++)
    filters += !cleaning->steps[i].flip;
  status = ccl_cuda_allocate_cleared (memory, &cleaning->masks[0], size);
  if (status == CCL_OK && filters + cleaning->steps[0].flip > 1)
    status = ccl_cuda_allocate_cleared (memory, &cleaning->masks[1], size);
  if (status != CCL_OK || !region)
    return status;
  status = ccl_cuda_allocate_device (memory, &cleaning->region, row * height);
  if (status == CCL_OK)
    status = ccl_cuda_check (copy_region (cleaning, region, memory->stream), "copying the region");
  return status;
}

/* The tables that fill and drop need. */
static CclStatus
open_flips (CclCleaning *cleaning, const CclCudaWork *work, const CclCudaDevice *device,
            CclCudaMemory *memory)
{
  CclCudaWork *flips = &cleaning->flips;
  const CclCudaAlgorithm *tile = ccl_cuda_tile_algorithm ();

  *flips = (CclCudaWork){
    .algorithm = tile,
    .frame = work->frame,
    .components = { .slots = work->components.slots },
    .result = { .min_area = UINT32_MAX, .max_area = UINT32_MAX }, /* so roots are not counted */
  };
  if (work->algorithm == tile) {
    flips->components.parents = work->components.parents;
    flips->components.features = work->components.features;
    flips->tables = work->tables;
    return CCL_OK;
  }
  flips->tables = calloc (1, tile->tables_size);
  if (!flips->tables)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for an analyzer");
  cleaning->own_tables = true;
  return tile->open (flips, device, memory);
}

CclStatus
ccl_cuda_cleaning_open (CclCleaning *cleaning, const CclSession *session, const CclCudaWork *work,
                        const CclCudaDevice *device, CclCudaMemory *memory)
{
  uint32_t n = without_drops (cleaning, session), height = session->config.height, frames = 1;
  Reach reach = { 0, 0 };
  CclStatus status;

  if (session->frame_height > 0) {
    height = session->frame_height;
    frames = session->config.height / (height + 1);
  }
  if (session->config.region)
    add_filters (cleaning, &reach);
  for (uint32_t i = 0; i < n; i++)
    add_operation (cleaning, &session->operations[i], &reach);
  if (cleaning->n == 0)
    return CCL_OK;
  if (height > INT32_MAX)
    return ccl_fail (
        CCL_ERROR_UNSUPPORTED,
        "backend cuda has no operations and regions for %" PRIu32 " rows; use backend cpu", height);
  status = allocate_masks (cleaning, session, height, memory);
  if (status == CCL_OK && has_flips (cleaning))
    status = open_flips (cleaning, work, device, memory);
  if (status == CCL_OK)
    place_steps (cleaning, work, device, frames, height);
  return status;
}

void
ccl_cuda_cleaning_close (CclCleaning *cleaning)
{
  if (cleaning->own_tables)
    free (cleaning->flips.tables);
}

static cudaError_t
run_flips (const CclCleaning *cleaning, const CclFlips *flips, const CclCudaFrame *frame,
           cudaStream_t stream)
{
  CclCudaWork work = cleaning->flips;

  work.frame = *frame;
  if (flips->fill) {
    work.frame.invert = !frame->invert;
    work.frame.connectivity = frame->connectivity == 8 ? 4 : 8;
  }
  return ccl_cuda_tile_flip (&work, flips, stream);
}

cudaError_t
ccl_cuda_clean (const CclCleaning *cleaning, const CclCudaFrame *source, cudaStream_t stream)
{
  CclCudaFrame frame = *source;
  cudaError_t error = cudaSuccess;

  for (uint32_t i = 0; i < cleaning->n && error == cudaSuccess; i++) {
    const CclCleaningStep *step = &cleaning->steps[i];

    error = step->flip ? run_flips (cleaning, &step->flips, &frame, stream)
                       : ccl_cuda_filter (&frame, &step->filters, stream);
    frame = cleaning->clean;
    frame.pixels = (const uint8_t *) (step->flip ? step->flips.to : step->filters.to);
  }
  return error;
}
