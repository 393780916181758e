/* cudaccl - CUDA backend: regions and operations as launches
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Passes share a launch as long as their reach stays within CCL_PASSES_REACH. A rectangle that
 * reaches farther than CCL_PASS_REACH is several passes: two in turn do what one does that reaches
 * as far as both together. Fills and drops flip
 * pixels of components, which takes an analysis. Drops at the end cost nothing: they become a
 * minimum area. */

#include "cuda/filters/operations.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How far the passes of a launch reach from a pixel. */
typedef struct Reach
{
  uint32_t x, y;
} Reach;

static uint32_t
min (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static CclOperationStep *
last_step (CclCudaOperations *operations)
{
  return operations->n > 0 ? &operations->steps[operations->n - 1] : NULL;
}

/* Adds a launch without passes. */
static CclPasses *
add_launch (CclCudaOperations *operations, Reach *reach)
{
  CclOperationStep *step = &operations->steps[operations->n++];

  *step = (CclOperationStep){ .flips = false };
  *reach = (Reach){ 0, 0 };
  return &step->passes;
}

static void
add_pass (CclCudaOperations *operations, CclPass pass, Reach *reach)
{
  CclOperationStep *last = last_step (operations);
  uint32_t x = CCL_PASS_REACH_X (pass), y = CCL_PASS_REACH_Y (pass);
  CclPasses *passes = last ? &last->passes : NULL;

  if (!last || last->flips || passes->n == CCL_MAX_PASSES || reach->x + x > CCL_PASSES_REACH ||
      reach->y + y > CCL_PASSES_REACH)
    passes = add_launch (operations, reach);
  passes->codes[passes->n / 4] |= (uint64_t) pass << passes->n % 4 * 16;
  passes->n++;
  passes->reach += y;
  reach->x += x;
  reach->y += y;
}

static void
add_rectangle (CclCudaOperations *operations, const CclOperation *operation, bool erode,
               Reach *reach)
{
  uint32_t x = operation->width / 2, y = operation->height / 2;

  while (x > 0 || y > 0) {
    uint32_t dx = min (x, CCL_PASS_REACH), dy = min (y, CCL_PASS_REACH);

    add_pass (operations, CCL_PASS (CCL_PASS_RECTANGLE, dx, dy, erode), reach);
    x -= dx;
    y -= dy;
  }
}

static void
add_flip (CclCudaOperations *operations, const CclOperation *operation)
{
  operations->steps[operations->n++] = (CclOperationStep){
    .flips = true,
    .flip = { .fill = operation->kind == CCL_OPERATION_FILL, .size = operation->size },
  };
}

static void
add_operation (CclCudaOperations *operations, const CclOperation *operation, Reach *reach)
{
  switch (operation->kind) {
  case CCL_OPERATION_MEDIAN:
    add_pass (operations, CCL_PASS (CCL_PASS_MEDIAN, operation->width / 2, operation->width / 2, 0),
              reach);
    break;
  case CCL_OPERATION_ERODE:
  case CCL_OPERATION_DILATE:
    add_rectangle (operations, operation, operation->kind == CCL_OPERATION_ERODE, reach);
    break;
  case CCL_OPERATION_OPEN:
  case CCL_OPERATION_CLOSE:
    add_rectangle (operations, operation, operation->kind == CCL_OPERATION_OPEN, reach);
    add_rectangle (operations, operation, operation->kind == CCL_OPERATION_CLOSE, reach);
    break;
  case CCL_OPERATION_FILL:
  case CCL_OPERATION_DROP:
    add_flip (operations, operation);
    break;
  }
}

/* Returns the end of the operations without the drops there, which become a minimum area. If the
 * mask itself is wanted, they stay. */
static uint32_t
without_drops (CclCudaOperations *operations, const CclSession *session, CclChainRange range)
{
  uint32_t end = range.first + range.n;

  if (session->config.mask)
    return end;
  for (; end > range.first && session->operations[end - 1].kind == CCL_OPERATION_DROP; end--) {
    uint64_t size = session->operations[end - 1].size;

    operations->min_area = size > operations->min_area ? size : operations->min_area;
  }
  return end;
}

static bool
needs_analysis (const CclCudaOperations *operations)
{
  for (uint32_t i = 0; i < operations->n; i++)
    if (operations->steps[i].flips)
      return true;
  return false;
}

/* Sets where each step writes. Flips are in place, except on the frame's own pixels. */
static void
plan_steps (CclCudaOperations *operations, const CclCudaWork *work, const CclCudaLimits *limits,
            uint32_t frames, uint32_t height)
{
  uint32_t now = 0;

  for (uint32_t i = 0; i < operations->n; i++) {
    CclOperationStep *step = &operations->steps[i];

    if (i > 0 && !step->flips)
      now = !now;
    step->flip.to = operations->masks[now];
    step->flip.pitch = operations->pitch;
    step->passes.to = operations->masks[now];
    step->passes.pitch = operations->pitch;
    step->passes.frames = frames;
    step->passes.height = height;
    if (!step->flips)
      ccl_cuda_passes_plan (&work->frame, limits->processors, &step->passes);
  }
  if (operations->region)
    operations->steps[0].passes.region = operations->region;
  operations->clean = work->frame;
  operations->clean.pixels = (const uint8_t *) operations->masks[now];
  operations->clean.pitch = operations->pitch * sizeof *operations->masks[now];
  operations->clean.bits = 1;
}

/* Copies the caller's region, and waits for the copy. */
static cudaError_t
copy_region (const CclCudaOperations *operations, const CclMask *region, cudaStream_t stream)
{
  const size_t word = sizeof *region->words;
  cudaError_t error =
      CCL_CUDA (cudaMemcpy2DAsync, operations->region, operations->pitch * word, region->words,
                region->pitch * word, ccl_mask_words (region->width) * word, region->height,
                cudaMemcpyHostToDevice, stream);

  return error == cudaSuccess ? CCL_CUDA (cudaStreamSynchronize, stream) : error;
}

/* Masks are cleared: rows that no step writes, between the frames of a batch, stay background. */
static CclStatus
allocate_masks (CclCudaOperations *operations, const CclSession *session, uint32_t height,
                CclCudaMemory *memory)
{
  const CclMask *region = session->config.region;
  size_t row, size;
  uint32_t passes = 0;
  CclStatus status;

  operations->pitch = (ccl_mask_words (session->config.width) + 1) / 2 * 2;
  row = operations->pitch * sizeof *operations->region;
  size = row * session->config.height;
  for (uint32_t i = 0; i < operations->n; i++)
    passes += !operations->steps[i].flips;
  status = ccl_cuda_allocate_cleared (memory, &operations->masks[0], size);
  if (status == CCL_OK && passes + operations->steps[0].flips > 1)
    status = ccl_cuda_allocate_cleared (memory, &operations->masks[1], size);
  if (status != CCL_OK || !region)
    return status;
  status = ccl_cuda_allocate_device (memory, &operations->region, row * height);
  if (status == CCL_OK)
    status =
        ccl_cuda_check (copy_region (operations, region, memory->stream), "copying the region");
  return status;
}

/* Opens the analysis that fills and drops need. */
static CclStatus
open_analysis (CclCudaOperations *operations, const CclCudaWork *work, CclCudaQueue *queue)
{
  CclCudaWork *analysis = &operations->analysis;
  const CclCudaAlgorithm *tile = ccl_cuda_tile_algorithm ();

  *analysis = (CclCudaWork){
    .algorithm = tile,
    .frame = work->frame,
    .components = { .slots = work->components.slots },
    .result = { .min_area = UINT32_MAX, .max_area = UINT32_MAX }, /* so roots are not counted */
  };
  if (work->algorithm == tile) {
    analysis->components.parents = work->components.parents;
    analysis->components.features = work->components.features;
    analysis->tables = work->tables;
    return CCL_OK;
  }
  analysis->tables = calloc (1, tile->tables_size);
  if (!analysis->tables)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for an analyzer");
  operations->own_tables = true;
  return tile->open (analysis, queue);
}

CclStatus
ccl_cuda_operations_open (CclCudaOperations *operations, const CclSession *session,
                          CclChainRange range, const CclCudaWork *work, CclCudaQueue *queue)
{
  uint32_t end = without_drops (operations, session, range), height = session->config.height,
           frames = 1;
  Reach reach = { 0, 0 };
  CclStatus status;

  if (session->frame_height > 0) {
    height = session->frame_height;
    frames = session->config.height / (height + 1);
  }
  if (session->config.region || session->config.mask)
    add_launch (operations, &reach);
  for (uint32_t i = range.first; i < end; i++)
    add_operation (operations, &session->operations[i], &reach);
  if (operations->n == 0)
    return CCL_OK;
  if (height > INT32_MAX)
    return ccl_fail (
        CCL_ERROR_UNSUPPORTED,
        "backend cuda has no operations and regions for %" PRIu32 " rows; use backend cpu", height);
  status = allocate_masks (operations, session, height, &queue->memory);
  if (status == CCL_OK && needs_analysis (operations))
    status = open_analysis (operations, work, queue);
  if (status == CCL_OK)
    plan_steps (operations, work, &queue->device.limits, frames, height);
  return status;
}

void
ccl_cuda_operations_close (CclCudaOperations *operations)
{
  if (operations->own_tables)
    free (operations->analysis.tables);
}

static cudaError_t
enqueue_flip (const CclCudaOperations *operations, const CclFlipPass *pass,
              const CclCudaFrame *frame, cudaStream_t stream)
{
  CclCudaWork work = operations->analysis;

  work.frame = *frame;
  if (pass->fill) {
    work.frame.invert = !frame->invert;
    work.frame.connectivity = frame->connectivity == 8 ? 4 : 8;
  }
  return ccl_cuda_tile_flip (&work, pass, stream);
}

cudaError_t
ccl_cuda_operations_enqueue (const CclCudaOperations *operations, const CclCudaFrame *source,
                             cudaStream_t stream)
{
  CclCudaFrame frame = *source;
  cudaError_t error = cudaSuccess;

  for (uint32_t i = 0; i < operations->n && error == cudaSuccess; i++) {
    const CclOperationStep *step = &operations->steps[i];

    error = step->flips ? enqueue_flip (operations, &step->flip, &frame, stream)
                        : ccl_cuda_passes_enqueue (&frame, &step->passes, stream);
    frame = operations->clean;
    frame.pixels = (const uint8_t *) (step->flips ? step->flip.to : step->passes.to);
  }
  return error;
}
