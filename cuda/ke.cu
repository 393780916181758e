/* cudaccl - CUDA backend: Komura equivalence, over pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Y. Komura: GPU-based cluster-labeling algorithm without the use of conventional iteration, with
 * 8-connectivity as told by paper 002, section 4.2: KE. */

#include "cuda/komura.cuh"
#include "cuda/pixels.cuh"

/* The first of the neighbours, as its bit; 0 where there is none. */
static __device__ inline uint32_t
first_neighbour (uint32_t neighbours)
{
  neighbours &= ~PIXEL_HERE;
  return neighbours & (~neighbours + 1);
}

/* Links every pixel to the first of its neighbours. */
static __global__ void
initialization (CclCudaFrame f)
{
  Pixel p = get_pixel (f);
  uint32_t neighbours = load_neighbours (f, p), label = p.label, pitch = f.labelled.pitch;

  if (!p.inside)
    return;
  switch (first_neighbour (neighbours)) {
  case PIXEL_NORTH_WEST:
    label -= pitch + 1;
    break;
  case PIXEL_NORTH:
    label -= pitch;
    break;
  case PIXEL_NORTH_EAST:
    label -= pitch - 1;
    break;
  case PIXEL_WEST:
    label -= 1;
    break;
  }
  f.labelled.pixels[p.label] = neighbours ? label : CCL_NO_LABEL;
}

/* Unites every pixel with those of its neighbours that it was not linked to. */
static __global__ void
reduction (CclCudaFrame f)
{
  Pixel p = get_pixel (f);
  uint32_t neighbours = load_neighbours (f, p);

  unite_neighbours (f.labelled.pixels, p.label, f.labelled.pitch,
                    neighbours & ~first_neighbour (neighbours));
}

extern "C" cudaError_t
ccl_cuda_ke (const CclCudaFrame *f, cudaStream_t stream)
{
  initialization<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "compression", stream);
  reduction<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_second_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "second compression", stream);
  return cudaGetLastError ();
}
