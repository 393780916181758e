/* cudaccl - CUDA backend: distanceless label propagation
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* L. Cabaret, L. Lacassagne, D. Etiemble: Distanceless Label Propagation: an Efficient Direct
 * Connected Component Labeling Algorithm for GPUs, as told by paper 002, section 3.2: DLP. Of each
 * square of 2 x 2 pixels, all labels are united with the lowest one, first in tiles, then over
 * their borders; no root is looked for before: what a label points to is pushed on instead.
 *
 * Where this differs from its description: the recursion is a loop; with 4-connectivity, a square
 * is its first pixel with those right of it and below. */

#include "cuda/pixels.cuh"

/* The recursive union: lowers what @label points to. Where that pointed to something else, the two
 * are of one component, and the higher one goes on. */
static __device__ inline void
propagate (uint32_t *labels, uint32_t label, uint32_t lower)
{
  while (label != lower) {
    uint32_t high = max (label, lower), low = min (label, lower);
    uint32_t found = atomicMin (&labels[high], low);

    if (found == high)
      return;
    label = found;
    lower = low;
  }
}

/* The label of a pixel as far as it is known; CCL_NO_LABEL in the background. */
static __device__ inline uint32_t
label_at (const uint32_t *labels, uint32_t label, bool here)
{
  return here ? labels[label] : CCL_NO_LABEL;
}

/* The pixels of the square that begins with @label, as far as they are foreground: bit 0 itself, 1
 * to its right, 2 below, 3 right and below. */
static __device__ inline void
unite_square (uint32_t *labels, uint32_t label, uint32_t pitch, uint32_t square)
{
  uint32_t label0 = label_at (labels, label, square & 1);
  uint32_t label1 = label_at (labels, label + 1, square & 2);
  uint32_t label2 = label_at (labels, label + pitch, square & 4);
  uint32_t label3 = label_at (labels, label + pitch + 1, square & 8);
  uint32_t lowest = min (min (label0, label1), min (label2, label3));

  if (square & 1)
    propagate (labels, label0, lowest);
  if (square & 2)
    propagate (labels, label1, lowest);
  if (square & 4)
    propagate (labels, label2, lowest);
  if (square & 8)
    propagate (labels, label3, lowest);
}

/* The square that begins at (@x, @y), as far as its pixels touch. */
static __device__ inline uint32_t
load_pixel_square (const CclCudaFrame &f, uint32_t x, uint32_t y)
{
  uint32_t square = foreground_at (f, x, y) | foreground_at (f, x + 1, y) << 1 |
                    foreground_at (f, x, y + 1) << 2 | foreground_at (f, x + 1, y + 1) << 3;

  if (f.connectivity == 8)
    return square;
  return square & 1 ? square & 7 : 0;
}

static __global__ void
local_merge (CclCudaFrame f)
{
  __shared__ uint32_t labels[PIXELS_HIGH * PIXELS_WIDE];
  uint32_t own = threadIdx.y * PIXELS_WIDE + threadIdx.x, square, root;
  Pixel p = get_pixel (f);

  labels[own] = own;
  square = load_pixel_square (f, p.x, p.y);
  if (threadIdx.x == PIXELS_WIDE - 1)
    square &= 5;
  if (threadIdx.y == PIXELS_HIGH - 1)
    square &= 3;
  __syncthreads ();
  unite_square (labels, own, PIXELS_WIDE, square);
  __syncthreads ();
  if (!p.inside)
    return;
  root = find (labels, own);
  f.labelled.pixels[p.label] = foreground_at (f, p.x, p.y)
                                   ? p.label -
                                         (threadIdx.y - root / PIXELS_WIDE) * f.labelled.pitch -
                                         (threadIdx.x - root % PIXELS_WIDE)
                                   : CCL_NO_LABEL;
}

/* The squares that lie in more than one tile. */
static __global__ void
merge_borders (CclCudaFrame f)
{
  Pixel p = get_pixel (f);

  if (threadIdx.x == PIXELS_WIDE - 1 || threadIdx.y == PIXELS_HIGH - 1)
    unite_square (f.labelled.pixels, p.label, f.labelled.pitch, load_pixel_square (f, p.x, p.y));
}

extern "C" cudaError_t
ccl_cuda_dlp (const CclCudaFrame *f, cudaStream_t stream)
{
  local_merge<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "local merge", stream);
  merge_borders<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "compression", stream);
  return cudaGetLastError ();
}
