/* cudaccl - CUDA backend: algorithms that repeat themselves until nothing changes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* As printed, such algorithms have the host launch their kernels again and again and fetch a sign
 * whether anything has changed. Here the loop is in one cooperative kernel, whose thread blocks
 * wait for each other where there was a launch: the host need not wait, and frames stay
 * asynchronous. */

#ifndef CCL_CUDA_ITERATE_CUH
#define CCL_CUDA_ITERATE_CUH

#include "cuda/device/forest.cuh"

#include <cooperative_groups.h>

#define ITERATE_THREADS 256

/* Ends iteration @i, for all threads; @changed: of this one. Whether any thread has changed
 * anything. There are three signs: the one that others may still be reading, the one that is set,
 * and one that is cleared for the next iteration. */
static __device__ inline bool
anything_changed (const CclCudaFrame &f, uint32_t i, bool changed)
{
  volatile uint32_t *changes = f.labelled.changes;

  if (__syncthreads_or (changed) && threadIdx.x == 0)
    changes[i % CCL_CHANGES] = 1;
  if (blockIdx.x == 0 && threadIdx.x == 0)
    changes[(i + 1) % CCL_CHANGES] = 0;
  cooperative_groups::this_grid ().sync ();
  return changes[i % CCL_CHANGES];
}

/* Launches @kernel with as many thread blocks of ITERATE_THREADS as the device holds at once, or
 * the part of it that somebody left to this process, as MPS can: only the launch knows that one. */
static inline cudaError_t
enqueue_iterations (void (*kernel) (CclCudaFrame), const CclCudaFrame *f, cudaStream_t stream)
{
  CclCudaFrame frame = *f;
  void *arguments[] = { &frame };
  int device = 0, processors = 0, blocks = 0;
  cudaError_t error = cudaGetDevice (&device);

  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute (&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor (&blocks, kernel, ITERATE_THREADS, 0);
  if (error == cudaSuccess)
    error =
        cudaMemsetAsync (f->labelled.changes, 0, CCL_CHANGES * sizeof *f->labelled.changes, stream);
  for (blocks *= processors; error == cudaSuccess; blocks /= 2) {
    error = cudaLaunchCooperativeKernel ((const void *) kernel, dim3 (blocks),
                                         dim3 (ITERATE_THREADS), arguments, 0, stream);
    if (error != cudaErrorCooperativeLaunchTooLarge || blocks == 1)
      break;
    cudaGetLastError ();
    error = cudaSuccess;
  }
  return error;
}

/* This thread's first element of many that all threads share, and how far it is to the next. */
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

/* Label equivalence (paper 001, section 2.2) over @count things that have labels, pixels or others;
 * @lowest tells the lowest label among the neighbours of one.
 *
 * Scanning (listing 3): every thing gives that label to what its own label stands for. Others may
 * do so at the same time, and one of them be lost: no atomics, there will be another iteration.
 * Analysis (listing 2): every label becomes what it stands for. */
static __device__ inline void
repeat_scan_and_analysis (const CclCudaFrame &f, uint32_t *labels, size_t count,
                          uint32_t (*lowest) (const CclCudaFrame &f, uint32_t i))
{
  bool changed;
  uint32_t n = 0;

  do {
    changed = false;
    for (size_t i = first_element (); i < count; i += n_threads ()) {
      uint32_t own = labels[i], label = own == CCL_NO_LABEL ? own : lowest (f, (uint32_t) i);

      if (label >= own)
        continue;
      if (label < labels[own])
        labels[own] = label;
      changed = true;
    }
    changed = anything_changed (f, n++, changed);
    for (size_t i = first_element (); changed && i < count; i += n_threads ()) {
      uint32_t label = labels[i];

      if (label != CCL_NO_LABEL)
        labels[i] = find (labels, label);
    }
    cooperative_groups::this_grid ().sync ();
  } while (changed);
}

#endif
