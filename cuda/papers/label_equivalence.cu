/* cudaccl - CUDA backend: label equivalence
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* OLE: O. Kalentev, A. Rai, S. Kemnitz, R. Schneider: Connected component labeling on a 2D grid
 * using CUDA (Kalentev 2011, section 2.2).
 *
 * Where this differs from the paper as printed:
 * - The loop is inside the kernel; see iterate.cuh.
 * - Frames are not padded with background; neighbours outside are skipped. Background has the
 *   highest label, so it is never the lowest of the neighbours.
 * - 8-connectivity is supported, too.
 * - The sizes of components (listing 4) are among the features, which follow separately. */

#include "cuda/papers/iterate.cuh"

/* Listing 1. */
static __global__ void
ole_initialize (CclCudaFrame f, CclLabelImage image)
{
  init_pixel (f, image);
}

/* Returns the lowest label of the neighbours of pixel @i. */
static __device__ inline uint32_t
lowest_pixel_label (const CclCudaFrame &f, const CclLabelImage &image, uint32_t i)
{
  const uint32_t *labels = image.pixels;
  uint32_t pitch = image.pitch, y = i / pitch, x = i - y * pitch, lowest = CCL_NO_LABEL;
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
ole_scan_and_analyse (CclCudaFrame f, CclLabelImage image)
{
  size_t count = (size_t) f.height * image.pitch;

  repeat_scan_and_analysis<lowest_pixel_label> (f, image, image.pixels, count);
}

static cudaError_t
ole_label (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error;

  error = launch (ole_initialize, pixel_grid (work), pixel_threads (), 0, stream, work->frame,
                  *ccl_cuda_label_image (work));
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = enqueue_iterations (work, ole_scan_and_analyse, stream);
  ccl_cuda_stage (work, "scanning and analysis", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_label_equivalence) = CCL_CUDA_LABELLING (
    "label-equivalence", "OLE: label equivalence, iterative (Kalentev et al. 2011)", 4 | 8,
    ccl_cuda_label_image_open, ole_label);
