/* cudaccl - CUDA backend: label equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* O. Kalentev, A. Rai, S. Kemnitz, R. Schneider: Connected component labeling on a 2D grid using
 * CUDA (paper 001, section 2.2), known as OLE.
 *
 * Where this differs from the paper as printed:
 * - The loop is in the kernel; see iterate.cuh.
 * - Frames are not padded with background: what is outside is not looked at. Background has the
 *   highest label, so that it is never the lowest of the neighbours.
 * - 8-connectivity, too.
 * - Sizes of components (listing 4) are among the features, which follow separately. */

#include "cuda/device/iterate.cuh"
#include "cuda/device/pixels.cuh"

/* Listing 1. */
static __global__ void
init_labels (CclCudaFrame f)
{
  init_pixel (f);
}

/* The lowest label of the neighbours of pixel @i. */
static __device__ inline uint32_t
lowest_label (const CclCudaFrame &f, uint32_t i)
{
  const uint32_t *labels = f.labelled.pixels;
  uint32_t pitch = f.labelled.pitch, y = i / pitch, x = i - y * pitch, lowest = CCL_NO_LABEL;
  bool west = x > 0, east = x + 1 < pitch, diagonal = f.connectivity == 8;

  if (y > 0) {
    lowest = labels[i - pitch];
    if (diagonal && west)
      lowest = min (lowest, labels[i - pitch - 1]);
    if (diagonal && east)
      lowest = min (lowest, labels[i - pitch + 1]);
  }
  if (west)
    lowest = min (lowest, labels[i - 1]);
  if (east)
    lowest = min (lowest, labels[i + 1]);
  if (y + 1 < f.height) {
    lowest = min (lowest, labels[i + pitch]);
    if (diagonal && west)
      lowest = min (lowest, labels[i + pitch - 1]);
    if (diagonal && east)
      lowest = min (lowest, labels[i + pitch + 1]);
  }
  return lowest;
}

static __global__ void
scan_and_analyse (CclCudaFrame f)
{
  size_t count = (size_t) f.height * f.labelled.pitch;

  repeat_scan_and_analysis (f, f.labelled.pixels, count, lowest_label);
}

extern "C" cudaError_t
ccl_cuda_label_equivalence (const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error;

  init_labels<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  error = enqueue_iterations (scan_and_analyse, f, stream);
  ccl_cuda_stage (f, "scanning and analysis", stream);
  return error == cudaSuccess ? cudaGetLastError () : error;
}
