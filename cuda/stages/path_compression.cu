/* cudaccl - CUDA backend: path compression
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/features.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/stages/slots.cuh"
#include "cuda/device/unionfind.cuh"

/* Slots of a frame */

#define COMPRESS_LABELS 4 /* of a lane at a time: their loads overlap */

/* Makes @label point to its root. If it is a root, initializes its features, with those of its run
 * if @ends tells where that ends. */
static __device__ inline void
compress_and_begin (const CclComponentTable &t, const uint32_t *starts, const uint32_t *ends,
                    uint32_t y, uint32_t label, uint32_t parent)
{
  if (compress (GlobalForest{ t.parents }, label, parent) != label)
    return;
  if (ends)
    features_begin (t, label, record_of_run (t, starts[label], ends[label], y));
  else
    features_begin (t, label, record_empty ());
}

static __global__ void
compress_and_begin_slots (Slots slots, CclComponentTable t, const uint32_t *starts,
                          const uint32_t *ends)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t first = part.from; first < part.to; first += COMPRESS_LABELS * WARP_LANES) {
    uint32_t parents[COMPRESS_LABELS], slot = first + lane_id ();

#pragma unroll
    for (uint32_t k = 0; k < COMPRESS_LABELS; k++)
      parents[k] = slot + k * WARP_LANES < part.to ? t.parents[part.row + slot + k * WARP_LANES]
                                                   : CCL_NO_LABEL;
#pragma unroll
    for (uint32_t k = 0; k < COMPRESS_LABELS; k++) {
      if (parents[k] != CCL_NO_LABEL)
        compress_and_begin (t, starts, ends, part.y, part.row + slot + k * WARP_LANES, parents[k]);
      __syncwarp (); /* reconverge */
    }
  }
}

extern "C" cudaError_t
ccl_cuda_begin_slots (const CclCudaWork *work, const uint32_t *ends, cudaStream_t stream)
{
  return launch (compress_and_begin_slots, part_grid (work), part_block (), 0, stream,
                 slots_of (work), work->components, work->slots.starts, ends);
}

extern "C" cudaError_t
ccl_cuda_compress_slots (const CclCudaWork *work, const uint32_t *ends, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_begin_slots (work, ends, stream);

  ccl_cuda_stage (work, "path compression", stream);
  ccl_cuda_stage_labelled (work);
  return error;
}

static __global__ void
compress_slots (Slots slots, CclComponentTable t)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot, parent = t.parents[label];

    if (parent != CCL_NO_LABEL)
      compress (GlobalForest{ t.parents }, label, parent);
  }
}

extern "C" cudaError_t
ccl_cuda_compress_slots_for_label_map (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error;

  if (!work->result.label_map)
    return cudaSuccess;
  error = launch (compress_slots, part_grid (work), part_block (), 0, stream, slots_of (work),
                  work->components);
  ccl_cuda_stage (work, "path compression", stream);
  ccl_cuda_stage_labelled (work);
  return error;
}

/* Labels of pixels or blocks */

#define COMPRESS_THREADS 256

/* Returns what a label points to; CCL_NO_LABEL points to itself. */
static __device__ inline uint32_t
parent_of (const uint32_t *labels, uint32_t label)
{
  return label == CCL_NO_LABEL ? label : labels[label];
}

/* Compress of Allegretti 2020 or, with @in_line, InlineCompress, which stores every step so that
 * other threads find shorter paths. Nothing is linked at the same time. @parent: what @label points
 * to; @next: what that points to. */
static __device__ inline void
compress_label (uint32_t *labels, size_t label, uint32_t parent, uint32_t next, bool in_line)
{
  if (next == parent)
    return;
  while (next != parent) {
    parent = next;
    if (in_line)
      labels[label] = parent;
    next = labels[parent];
  }
  if (!in_line)
    labels[label] = parent;
}

static __global__ void
compress_labels (uint32_t *labels, size_t count, bool in_line)
{
  size_t label = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t parent;

  if (label >= count)
    return;
  parent = labels[label];
  compress_label (labels, label, parent, parent_of (labels, parent), in_line);
}

extern "C" cudaError_t
ccl_cuda_compress (uint32_t *labels, size_t count, bool in_line, cudaStream_t stream)
{
  unsigned blocks = (unsigned) ((count - 1) / COMPRESS_THREADS + 1);

  return launch (compress_labels, blocks, COMPRESS_THREADS, 0, stream, labels, count, in_line);
}

#define SHALLOW_LABELS 4 /* of a thread */

/* The same for shallow trees. Shortening other threads' paths gains little there; loading several
 * labels at once gains more. */
static __global__ void
compress_shallow_labels (uint32_t *labels, size_t count, bool in_line)
{
  size_t first = ((size_t) blockIdx.x * blockDim.x + threadIdx.x) * SHALLOW_LABELS;
  uint32_t parents[SHALLOW_LABELS], nexts[SHALLOW_LABELS];

#pragma unroll
  for (uint32_t k = 0; k < SHALLOW_LABELS; k++)
    parents[k] = first + k < count ? labels[first + k] : CCL_NO_LABEL;
#pragma unroll
  for (uint32_t k = 0; k < SHALLOW_LABELS; k++)
    nexts[k] = parent_of (labels, parents[k]);
#pragma unroll
  for (uint32_t k = 0; k < SHALLOW_LABELS; k++) {
    compress_label (labels, first + k, parents[k], nexts[k], in_line);
    __syncwarp (); /* reconverge */
  }
}

extern "C" cudaError_t
ccl_cuda_compress_shallow (uint32_t *labels, size_t count, bool in_line, cudaStream_t stream)
{
  unsigned blocks = (unsigned) ((count - 1) / (COMPRESS_THREADS * SHALLOW_LABELS) + 1);

  return launch (compress_shallow_labels, blocks, COMPRESS_THREADS, 0, stream, labels, count,
                 in_line);
}
