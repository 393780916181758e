/* cudaccl - CUDA backend: the memory of a session
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>

#define FIRST_TRANSFER 1024

/* Results of so many components at most are written by kernels to where the host reads them: 288
 * KiB, which the bus takes in the time of one transfer's start. */
#define MOST_MAPPED 4096

uint32_t
ccl_cuda_first_transfer (const CudaSession *self)
{
  uint32_t capacity = self->base.config.max_components;

  return capacity < FIRST_TRANSFER ? capacity : FIRST_TRANSFER;
}

static CclStatus
allocate_device (CudaSession *self, void *pointer, size_t size)
{
  CclStatus status =
      ccl_cuda_check (cudaMalloc ((void **) pointer, size), "allocating a frame's tables");

  if (status != CCL_OK)
    return status;
  assert (self->n_device < MAX_ALLOCATIONS);
  self->device[self->n_device++] = *(void **) pointer;
  self->base.account.allocations++;
  self->base.account.bytes += size;
  return CCL_OK;
}

static CclStatus
allocate_pinned (CudaSession *self, void *pointer, size_t size)
{
  CclStatus status = ccl_cuda_check (cudaHostAlloc ((void **) pointer, size, cudaHostAllocMapped),
                                     "allocating page-locked memory");

  if (status != CCL_OK)
    return status;
  assert (self->n_pinned < MAX_ALLOCATIONS);
  self->pinned[self->n_pinned++] = *(void **) pointer;
  self->base.account.allocations++;
  self->base.account.bytes += size;
  return CCL_OK;
}

/* Gives a value to what is read before it is ever written: the count behind the last, by the scan,
 * or how far strips are, and components past the end of a result, by its first
 * transfer. */
static CclStatus
clear_tables (CudaSession *self)
{
  CclCudaFrame *frame = &self->frame;
  size_t counts = ((size_t) frame->height * frame->parts + 1) * sizeof *frame->counts;
  size_t result = (1 + (size_t) ccl_cuda_first_transfer (self)) * sizeof *frame->components;
  cudaError_t error = cudaSuccess;

  if (!self->algorithm->uses_tiles)
    error = cudaMemsetAsync (frame->counts, 0, counts, self->stream);
  if (error == cudaSuccess && frame->strips.barriers)
    error = cudaMemsetAsync (frame->strips.barriers, 0,
                             STRIP_BARRIERS * sizeof *frame->strips.barriers, self->stream);
  if (error == cudaSuccess && frame->strips.published)
    error = cudaMemsetAsync (frame->strips.published, 0,
                             frame->strips.n * sizeof *frame->strips.published, self->stream);
  if (error == cudaSuccess && !self->result_is_mapped)
    error = cudaMemsetAsync (frame->header, 0, result, self->stream);
  return ccl_cuda_check (error, "clearing a frame's tables");
}

/* The tables of a labeller that labels blocks, of 2 x 2 pixels or 2 x 2 x 2 voxels. */
static CclStatus
allocate_blocks (CudaSession *self)
{
  CclCudaFrame *frame = &self->frame;
  CclLabelImage *image = &frame->labelled;
  uint32_t depth = frame->volume.depth, height = depth ? frame->volume.height : frame->height;
  uint32_t rows = height / 2 + height % 2;
  size_t layers = depth ? depth / 2 + depth % 2 : rows;
  CclStatus status;

  image->layer_blocks = depth ? rows * frame->slots : frame->slots;
  image->layer_rows = depth ? 2 * height : 2;
  image->n_blocks = layers * image->layer_blocks;
  status = allocate_device (self, &image->blocks, image->n_blocks * sizeof *image->blocks);
  if (status == CCL_OK)
    status = allocate_device (self, &image->firsts, image->n_blocks * sizeof *image->firsts);
  if (status != CCL_OK)
    return status;
  if (depth)
    return allocate_device (self, &frame->volume.infos,
                            image->n_blocks * sizeof *frame->volume.infos);
  return allocate_device (self, &image->infos, image->n_blocks * sizeof *image->infos);
}

/* The tables of a labeller. */
static CclStatus
allocate_label_image (CudaSession *self)
{
  CclCudaFrame *frame = &self->frame;
  CclLabelImage *image = &frame->labelled;
  uint64_t pixels = (uint64_t) frame->height * image->pitch;
  CclStatus status;

  if (pixels > UINT32_MAX)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "algorithm %s cannot number the pixels of %" PRIu32 " x %" PRIu32
                     "; choose tile",
                     self->algorithm->info.name, frame->width, frame->height);
  status = allocate_device (self, &image->pixels, pixels * sizeof *image->pixels);
  if (status == CCL_OK)
    status = allocate_device (self, &image->changes, CCL_CHANGES * sizeof *image->changes);
  if (status == CCL_OK && self->algorithm->uses_blocks)
    status = allocate_blocks (self);
  return status;
}

/* What volumes have beside the tables of frames. */
static CclStatus
allocate_volume (CudaSession *self, size_t labels)
{
  CclVolumeTables *volume = &self->frame.volume;
  size_t slices = self->base.config.max_components * sizeof *volume->slices;
  CclStatus status = allocate_device (self, &volume->sums, labels * sizeof *volume->sums);

  if (status == CCL_OK)
    status = allocate_device (self, &volume->slices, slices);
  if (status == CCL_OK)
    status = allocate_pinned (self, &self->slices, slices);
  return status;
}

/* The tables of a frame that can be done at once. */
static CclStatus
allocate_strips (CudaSession *self)
{
  CclStrips *strips = &self->frame.strips;
  size_t n = strips->n, labels = n * strips->capacity;
  CclStatus status = CCL_OK;

  if (n == 0)
    return CCL_OK;
  status = allocate_device (self, &strips->barriers, STRIP_BARRIERS * sizeof *strips->barriers);
  if (status == CCL_OK)
    status =
        allocate_device (self, &strips->bottom, n * strips->words * 16 * sizeof *strips->bottom);
  if (status == CCL_OK)
    status = allocate_device (self, &strips->published, n * sizeof *strips->published);
  if (status == CCL_OK)
    status = allocate_device (self, &strips->firsts, labels * sizeof *strips->firsts);
  if (status == CCL_OK)
    status = allocate_device (self, &strips->kept, n * sizeof *strips->kept);
  return status;
}

/* Where the host reads the result, and where kernels write it. */
static CclStatus
allocate_result (CudaSession *self)
{
  uint32_t capacity = self->base.config.max_components;
  size_t size = sizeof (CclResultHeader) + capacity * sizeof (CclComponent);
  CclStatus status = allocate_pinned (self, &self->result, size);

  self->result_is_mapped = capacity <= MOST_MAPPED;
  if (status != CCL_OK)
    return status;
  if (self->result_is_mapped)
    status =
        ccl_cuda_check (cudaHostGetDevicePointer ((void **) &self->frame.header, self->result, 0),
                        "mapping page-locked memory");
  else
    status = allocate_device (self, &self->frame.header, size);
  if (status == CCL_OK && !self->result_is_mapped)
    status = ccl_cuda_check (cudaStreamCreateWithFlags (&self->results, cudaStreamNonBlocking),
                             "making a stream");
  self->frame.components = (CclComponent *) (self->frame.header + 1);
  return status;
}

CclStatus
ccl_cuda_tables_allocate (CudaSession *self)
{
  const CclConfig *config = &self->base.config;
  CclCudaFrame *frame = &self->frame;
  CclTiles *tiles = &frame->tiles;
  size_t labels = (size_t) frame->height * frame->slots, height = frame->height;
  CclStatus status;

  if (self->algorithm->uses_tiles && labels < (size_t) frame->strips.n * frame->strips.capacity)
    labels = (size_t) frame->strips.n * frame->strips.capacity;
#define ALLOCATE(where, pointer, size)                    \
  do {                                                    \
    status = allocate_##where (self, &(pointer), (size)); \
    if (status != CCL_OK)                                 \
      return status;                                      \
  } while (0)

  ALLOCATE (device, frame->labels, labels * sizeof *frame->labels);
  ALLOCATE (device, frame->features, labels * sizeof *frame->features);
  if (config->second_order)
    ALLOCATE (device, frame->moments, labels * sizeof *frame->moments);
  if (self->algorithm->uses_runs) {
    ALLOCATE (device, frame->ends, labels * sizeof *frame->ends);
    ALLOCATE (device, frame->runs, height * sizeof *frame->runs);
    ALLOCATE (device, frame->edges, height * frame->edges_pitch * sizeof *frame->edges);
  }
  status = self->algorithm->label ? allocate_label_image (self) : CCL_OK;
  if (status != CCL_OK)
    return status;
  if (frame->volume.depth) {
    status = allocate_volume (self, labels);
    if (status != CCL_OK)
      return status;
  }
  if (self->algorithm->uses_tiles) {
    size_t n = (size_t) tiles->strips * tiles->columns;

    ALLOCATE (device, tiles->n, n * sizeof *tiles->n);
    ALLOCATE (device, tiles->firsts, n * tiles->capacity * sizeof *tiles->firsts);
    ALLOCATE (device, tiles->borders, n * sizeof *tiles->borders);
    ALLOCATE (device, tiles->counts, n * tiles->height * sizeof *tiles->counts);
    ALLOCATE (device, tiles->totals, tiles->strips * sizeof *tiles->totals);
    status = allocate_strips (self);
    if (status != CCL_OK)
      return status;
  } else {
    ALLOCATE (device, frame->starts, labels * sizeof *frame->starts);
    ALLOCATE (device, frame->counts, (height * frame->parts + 1) * sizeof *frame->counts);
    if (height * frame->parts >= INT_MAX)
      return ccl_fail (CCL_ERROR_UNSUPPORTED,
                       "frames of %" PRIu32 " rows are too high for algorithm %s; choose tile",
                       frame->height, self->algorithm->info.name);
    status =
        ccl_cuda_check (ccl_cuda_compact_scratch (frame, &frame->scratch_size), "sizing the scan");
    if (status != CCL_OK)
      return status;
    ALLOCATE (device, frame->scratch, frame->scratch_size);
  }
  ALLOCATE (device, frame->histogram, CCL_CUT_BINS * sizeof *frame->histogram);
  ALLOCATE (pinned, self->histogram, CCL_CUT_BINS * sizeof *self->histogram);
  if (config->labels || frame->volume.depth)
    ALLOCATE (device, frame->numbers, labels * sizeof *frame->numbers);
  if (config->updates) {
    ALLOCATE (device, frame->updates, labels * sizeof *frame->updates);
    ALLOCATE (device, frame->summed, 2 * sizeof *frame->summed);
  }
  if (config->labels) {
    size_t map = ccl_cuda_map_size (config);

    ALLOCATE (device, frame->map, map);
    ALLOCATE (pinned, self->map, map);
  }
#undef ALLOCATE

  status = allocate_result (self);
  return status == CCL_OK ? clear_tables (self) : status;
}

CclStatus
ccl_cuda_stack_allocate (CudaSession *self, uint32_t frames)
{
  /* The stack is an image that has to be copied on the device. */
  CclStatus status = ccl_cuda_transfer_allocate (self, CCL_MEMORY_ARRAY);

  if (status == CCL_OK && !self->sources)
    status = allocate_device (self, &self->sources, frames * sizeof *self->sources);
  if (status == CCL_OK && !self->sources_host)
    status = allocate_pinned (self, &self->sources_host, frames * sizeof *self->sources_host);
  return status;
}

CclStatus
ccl_cuda_transfer_allocate (CudaSession *self, CclMemory memory)
{
  size_t size = self->image_pitch * self->frame.height;
  bool staged = memory == CCL_MEMORY_HOST;
  bool in_place =
      memory == CCL_MEMORY_DEVICE || (memory == CCL_MEMORY_PINNED && self->reads_pinned);
  CclStatus status = CCL_OK;

  if (!self->image && !in_place)
    status = allocate_device (self, &self->image, size);
  if (!self->staging && staged && status == CCL_OK)
    status = allocate_pinned (self, &self->staging, size);
  return status;
}

void
ccl_cuda_tables_free (CudaSession *self)
{
  while (self->n_device > 0)
    cudaFree (self->device[--self->n_device]);
  while (self->n_pinned > 0)
    cudaFreeHost (self->pinned[--self->n_pinned]);
}
