/* cudaccl - CUDA backend: algorithms that iterate until nothing changes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* As printed, such algorithms launch their kernels from the host again and again, and fetch a flag
 * that says whether anything has changed. Here the loop is inside one cooperative kernel, with a
 * grid barrier in place of each launch: the host need not wait, and frames stay asynchronous. */

#ifndef CCL_CUDA_ITERATE_CUH
#define CCL_CUDA_ITERATE_CUH

#include "cuda/algorithms/pixels.cuh"

#include <cooperative_groups.h>

#define ITERATE_THREADS 256

/* Ends iteration @i, and returns whether any thread of the grid has changed anything. @changed:
 * whether this one has. All threads call this. There are three flags: one that other blocks may
 * still be reading, one that is set, and one that is cleared for the next iteration. */
static __device__ inline bool
anything_changed (const CclLabelImage &image, uint32_t i, bool changed)
{
  volatile uint32_t *changes = image.changes;

  if (__syncthreads_or (changed) && threadIdx.x == 0)
    changes[i % CCL_CHANGES] = 1;
  if (blockIdx.x == 0 && threadIdx.x == 0)
    changes[(i + 1) % CCL_CHANGES] = 0;
  cooperative_groups::this_grid ().sync ();
  return changes[i % CCL_CHANGES];
}

/* Launches @kernel with as many blocks of ITERATE_THREADS threads as the device holds at once.
 * Under MPS the process may be limited to part of the device, which only the launch itself reports:
 * retries with fewer blocks then. */
static inline cudaError_t
enqueue_iterations (const CclCudaWork *work, PixelKernel kernel, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);
  int device = 0, processors = 0, blocks = 0;
  cudaError_t error = CCL_CUDA (cudaGetDevice, &device);

  if (error == cudaSuccess)
    error = CCL_CUDA (cudaDeviceGetAttribute, &processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = CCL_CUDA (cudaOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, (const void *) kernel,
                      ITERATE_THREADS, 0);
  if (error == cudaSuccess)
    error =
        CCL_CUDA (cudaMemsetAsync, image->changes, 0, CCL_CHANGES * sizeof *image->changes, stream);
  for (blocks *= processors; error == cudaSuccess; blocks /= 2) {
    error = launch_cooperative (kernel, blocks, ITERATE_THREADS, 0, stream, work->frame, *image);
    if (error != cudaErrorCooperativeLaunchTooLarge || blocks == 1)
      break;
    ccl_cuda_api.cudaGetLastError ();
    error = cudaSuccess;
  }
  return error;
}

/* The first of the elements that this thread handles; n_threads() is the distance to the next
 * one. */
static __device__ inline size_t
first_element (void)
{
  return (size_t) blockIdx.x * ITERATE_THREADS + threadIdx.x;
}

static __device__ inline size_t
n_threads (void)
{
  return (size_t) gridDim.x * ITERATE_THREADS;
}

/* Label equivalence (Kalentev 2011, section 2.2) over @count elements, pixels or blocks. @lowest:
 * the lowest label among the neighbours of element i.
 *
 * Scanning (listing 3): every element links its own label to the lowest one. The update is not
 * atomic, so a link may be lost; another iteration makes up for it. Analysis (listing 2): every
 * label is replaced by its root. */
typedef uint32_t (*LowestLabel) (const CclCudaFrame &f, const CclLabelImage &image, uint32_t i);

template <LowestLabel lowest>
static __device__ inline void
repeat_scan_and_analysis (const CclCudaFrame &f, const CclLabelImage &image, uint32_t *labels,
                          size_t count)
{
  CachedForest forest = { labels };
  bool changed;
  uint32_t n = 0;

  do {
    changed = false;
    for (size_t i = first_element (); i < count; i += n_threads ()) {
      uint32_t own = labels[i];
      uint32_t label = own == CCL_NO_LABEL ? own : lowest (f, image, (uint32_t) i);

      if (label >= own)
        continue;
      if (label < labels[own])
        labels[own] = label;
      changed = true;
    }
    changed = anything_changed (image, n++, changed);
    for (size_t i = first_element (); changed && i < count; i += n_threads ()) {
      uint32_t label = labels[i];

      if (label != CCL_NO_LABEL)
        labels[i] = find (forest, label);
    }
    cooperative_groups::this_grid ().sync ();
  } while (changed);
}

#endif
