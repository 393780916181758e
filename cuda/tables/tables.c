/* cudaccl - CUDA backend: the tables that algorithms share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/algorithms/algorithm.h"

#include <inttypes.h>
#include <limits.h>

CclStatus
ccl_cuda_components_allocate (CclCudaWork *work, CclCudaMemory *memory, size_t labels)
{
  CclComponentTable *t = &work->components;
  CclCudaResult *r = &work->result;
  CclStatus status = ccl_cuda_allocate_device (memory, &t->parents, labels * sizeof *t->parents);

  if (status == CCL_OK)
    status = ccl_cuda_allocate_device (memory, &t->features, labels * sizeof *t->features);
  if (status == CCL_OK && work->wants.moments)
    status = ccl_cuda_allocate_device (memory, &t->moments, labels * sizeof *t->moments);
  if (status == CCL_OK && work->wants.result_labels)
    status = ccl_cuda_allocate_device (memory, &r->labels, labels * sizeof *r->labels);
  if (status == CCL_OK && work->wants.updates)
    status = ccl_cuda_allocate_device (memory, &t->updates, labels * sizeof *t->updates);
  if (status == CCL_OK && work->wants.updates)
    status = ccl_cuda_allocate_device (memory, &work->update_sums, 2 * sizeof *work->update_sums);
  return status;
}

/* How many warps share a row, so that a small frame fills the device, too. */
static uint32_t
parts_of_row (const CclCudaWork *work, const CclCudaDevice *device)
{
  uint32_t warps = device->limits.processors * (device->limits.threads / 32);
  uint32_t wanted = 2 * warps / work->frame.height;
  uint32_t most = (work->components.slots - 1) / 32 + 1;

  if (wanted > most)
    wanted = most;
  return wanted > 0 ? wanted : 1;
}

CclStatus
ccl_cuda_slots_open (CclCudaWork *work, const CclCudaDevice *device, CclCudaMemory *memory)
{
  CclSlotTable *s = &work->slots;
  size_t height = work->frame.height, labels = height * work->components.slots, counts;
  CclStatus status;

  s->parts = parts_of_row (work, device);
  counts = height * s->parts + 1;
  if (counts > INT_MAX)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "frames of %" PRIu32 " rows are too tall for algorithm %s; choose tile",
                     work->frame.height, work->algorithm->info.name);
  status = ccl_cuda_components_allocate (work, memory, labels);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_device (memory, &s->starts, labels * sizeof *s->starts);
  /* Cleared because the scan reads the count after the last part, which no kernel writes. */
  if (status == CCL_OK)
    status = ccl_cuda_allocate_cleared (memory, &s->counts, counts * sizeof *s->counts);
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_slots_scratch (work, &s->scratch_size), "sizing the scan");
  if (status == CCL_OK)
    status = ccl_cuda_allocate_device (memory, &s->scratch, s->scratch_size);
  return status;
}

/* The tables that volumes need beside those of frames. */
static CclStatus
allocate_volume (CclCudaWork *work, CclCudaMemory *memory)
{
  CclComponentTable *t = &work->components;
  size_t labels = (size_t) work->frame.height * t->slots;
  CclStatus status =
      ccl_cuda_allocate_device (memory, &t->depth_sums, labels * sizeof *t->depth_sums);

  if (status == CCL_OK)
    status = ccl_cuda_allocate_device (memory, &work->slices,
                                       work->result.capacity * sizeof *work->slices);
  return status;
}

CclStatus
ccl_cuda_label_image_open (CclCudaWork *work, const CclCudaDevice *device, CclCudaMemory *memory)
{
  CclLabelImage *image = work->tables;
  uint64_t pixels;
  CclStatus status;

  image->pitch = 2 * work->components.slots;
  image->depth = work->depth;
  image->slice_height = work->components.slice_height;
  pixels = (uint64_t) work->frame.height * image->pitch;
  if (pixels > UINT32_MAX)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "algorithm %s does not support frames of %" PRIu32 " x %" PRIu32
                     " pixels; choose tile",
                     work->algorithm->info.name, work->frame.width, work->frame.height);
  status = ccl_cuda_slots_open (work, device, memory);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_device (memory, &image->pixels, pixels * sizeof *image->pixels);
  if (status == CCL_OK)
    status =
        ccl_cuda_allocate_device (memory, &image->changes, CCL_CHANGES * sizeof *image->changes);
  if (status == CCL_OK && work->depth)
    status = allocate_volume (work, memory);
  return status;
}

CclStatus
ccl_cuda_block_image_open (CclCudaWork *work, const CclCudaDevice *device, CclCudaMemory *memory)
{
  CclLabelImage *image = work->tables;
  uint32_t depth = work->depth, height, rows;
  size_t layers;
  CclStatus status = ccl_cuda_label_image_open (work, device, memory);

  height = depth ? image->slice_height : work->frame.height;
  rows = height / 2 + height % 2;
  layers = depth ? depth / 2 + depth % 2 : rows;
  image->block_pitch = work->components.slots;
  image->layer_blocks = depth ? rows * image->block_pitch : image->block_pitch;
  image->layer_rows = depth ? 2 * height : 2;
  image->n_blocks = layers * image->layer_blocks;
  if (status == CCL_OK)
    status =
        ccl_cuda_allocate_device (memory, &image->blocks, image->n_blocks * sizeof *image->blocks);
  if (status == CCL_OK)
    status =
        ccl_cuda_allocate_device (memory, &image->firsts, image->n_blocks * sizeof *image->firsts);
  if (status == CCL_OK && depth)
    return ccl_cuda_allocate_device (memory, &image->infos_3d,
                                     image->n_blocks * sizeof *image->infos_3d);
  if (status == CCL_OK)
    status =
        ccl_cuda_allocate_device (memory, &image->infos, image->n_blocks * sizeof *image->infos);
  return status;
}
