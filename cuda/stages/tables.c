/* cudaccl - CUDA backend: the tables that algorithms share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/error.h"
#include "cuda/stages/stages.h"

#include <inttypes.h>
#include <limits.h>

#define LENGTH(array) (sizeof (array) / sizeof (array)[0])

CclStatus
ccl_cuda_components_allocate (CclCudaWork *work, CclCudaMemory *memory, size_t labels)
{
  CclComponentTable *t = &work->components;
  CclCudaResult *r = &work->result;
  const CclCudaTable tables[] = {
    { &t->parents, labels * sizeof *t->parents },
    { &t->features, labels * sizeof *t->features },
    { &t->moments, work->wants.moments ? labels * sizeof *t->moments : 0 },
    { &r->labels, work->wants.result_labels ? labels * sizeof *r->labels : 0 },
    { &t->updates, work->wants.updates ? labels * sizeof *t->updates : 0 },
    { &work->update_sums, work->wants.updates ? 2 * sizeof *work->update_sums : 0 },
  };

  return ccl_cuda_allocate_tables (memory, tables, LENGTH (tables));
}

/* Returns how many warps share a row, so that even a small frame fills the device. */
static uint32_t
parts_of_row (const CclCudaWork *work, const CclCudaLimits *limits)
{
  uint32_t warps = limits->processors * (limits->threads / 32);
  uint32_t wanted = 2 * warps / work->frame.height;
  uint32_t most = (work->components.slots - 1) / 32 + 1;

  if (wanted > most)
    wanted = most;
  return wanted > 0 ? wanted : 1;
}

CclStatus
ccl_cuda_slots_open (CclCudaWork *work, CclCudaQueue *queue)
{
  CclSlotTable *s = &work->slots;
  size_t height = work->frame.height, labels = height * work->components.slots, counts;
  CclStatus status;

  s->parts = parts_of_row (work, &queue->device.limits);
  counts = height * s->parts + 1;
  if (counts > INT_MAX)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "frames of %" PRIu32 " rows are too tall for algorithm %s; choose tile",
                     work->frame.height, work->algorithm->info.name);
  status = ccl_cuda_components_allocate (work, &queue->memory, labels);
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_slots_scratch (work, &s->scratch_size), "sizing the scan");
  if (status == CCL_OK) {
    const CclCudaTable tables[] = {
      { &s->starts, labels * sizeof *s->starts },
      /* The scan also reads the count after the last part, which no kernel writes. */
      { &s->counts, counts * sizeof *s->counts, .cleared = true },
      { &s->scratch, s->scratch_size },
    };

    status = ccl_cuda_allocate_tables (&queue->memory, tables, LENGTH (tables));
  }
  return status;
}

CclStatus
ccl_cuda_label_image_open (CclCudaWork *work, CclCudaQueue *queue)
{
  CclLabelImage *image = work->tables;
  CclComponentTable *t = &work->components;
  const uint32_t per_slot = work->classes ? 1 : 2;
  uint64_t pixels = (uint64_t) work->frame.height * per_slot * t->slots;
  size_t labels = (size_t) work->frame.height * t->slots;
  const CclCudaTable tables[] = {
    { &image->pixels, pixels * sizeof *image->pixels },
    { &image->changes, CCL_CHANGES * sizeof *image->changes },
    { &t->depth_sums, work->depth ? labels * sizeof *t->depth_sums : 0 },
    { &work->slices, work->depth ? work->result.capacity * sizeof *work->slices : 0 },
  };
  CclStatus status;

  image->per_slot = per_slot;
  image->pitch = per_slot * t->slots;
  image->depth = work->depth;
  image->slice_height = t->slice_height;
  if (pixels > UINT32_MAX)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "algorithm %s does not support frames of %" PRIu32 " x %" PRIu32
                     " pixels; choose tile",
                     work->algorithm->info.name, work->frame.width, work->frame.height);
  status = ccl_cuda_slots_open (work, queue);
  return status == CCL_OK ? ccl_cuda_allocate_tables (&queue->memory, tables, LENGTH (tables))
                          : status;
}

CclStatus
ccl_cuda_block_image_open (CclCudaWork *work, CclCudaQueue *queue)
{
  CclLabelImage *image = work->tables;
  uint32_t depth = work->depth, height, rows;
  size_t layers, n;
  CclStatus status = ccl_cuda_label_image_open (work, queue);

  height = depth ? image->slice_height : work->frame.height;
  rows = height / 2 + height % 2;
  layers = depth ? depth / 2 + depth % 2 : rows;
  image->block_pitch = work->components.slots;
  image->layer_blocks = depth ? rows * image->block_pitch : image->block_pitch;
  image->layer_rows = depth ? 2 * height : 2;
  image->n_blocks = n = layers * image->layer_blocks;
  if (status == CCL_OK) {
    const CclCudaTable tables[] = {
      { &image->blocks, n * sizeof *image->blocks },
      { &image->firsts, n * sizeof *image->firsts },
      { &image->infos, depth ? 0 : n * sizeof *image->infos },
      { &image->infos_3d, depth ? n * sizeof *image->infos_3d : 0 },
    };

    status = ccl_cuda_allocate_tables (&queue->memory, tables, LENGTH (tables));
  }
  return status;
}
