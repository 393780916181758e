/* cudaccl - CUDA backend: pixels and their neighbours, four per thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_QUADS_CUH
#define CCL_CUDA_QUADS_CUH

#include "cuda/algorithms/pixels.cuh"

#define QUAD_PIXELS 4

/* A foreground pixel and the foreground pixels around it that come before it in raster order
 * (Allegretti 2020, figure 2a). */
enum
{
  PIXEL_HERE = 1,
  PIXEL_NORTH_WEST = 2,
  PIXEL_NORTH = 4,
  PIXEL_NORTH_EAST = 8,
  PIXEL_WEST = 16,
};

/* Four pixels side by side, which one thread handles. */
struct Quad
{
  uint32_t x, label;
  bool inside;         /* whether it is in the padded frame */
  uint32_t row, above; /* the pixels as bits, starting left of the quad */
};

/* Returns the quad of this thread; thread blocks are numbered as in get_pixel(). */
static __device__ inline Quad
get_quad (const CclCudaFrame &f, const CclLabelImage &image)
{
  uint32_t quads = (image.pitch - 1) / QUAD_PIXELS + 1;
  uint32_t columns = (quads - 1) / PIXELS_WIDE + 1, row = blockIdx.x / columns;
  uint32_t y = row * PIXELS_HIGH + threadIdx.y;
  Quad q;

  q.x = ((blockIdx.x - row * columns) * PIXELS_WIDE + threadIdx.x) * QUAD_PIXELS;
  q.label = y * image.pitch + q.x;
  q.inside = q.x < image.pitch && y < f.height;
  q.row = q.above = 0;
  if (q.inside) {
    q.row = foreground_around (f, q.x, y, 2);
    q.above = foreground_around (f, q.x, y - 1, 2);
  }
  return q;
}

static inline unsigned
quad_grid (const CclCudaWork *work)
{
  uint32_t quads = (ccl_cuda_label_image (work)->pitch - 1) / QUAD_PIXELS + 1;

  return ((quads - 1) / PIXELS_WIDE + 1) * ((work->frame.height - 1) / PIXELS_HIGH + 1);
}

/* Pixel @k of the quad and those around it, as a mask; 0 if it is background. */
static __device__ inline uint32_t
around_pixel (const Quad &q, uint32_t k)
{
  uint32_t row = q.row >> k, above = q.above >> k;

  if (!(row & 2))
    return 0;
  return PIXEL_HERE | (above & 1 ? PIXEL_NORTH_WEST : 0) | (above & 2 ? PIXEL_NORTH : 0) |
         (above & 4 ? PIXEL_NORTH_EAST : 0) | (row & 1 ? PIXEL_WEST : 0);
}

/* The pixels of @around that the frame's connectivity makes neighbours. */
static __device__ inline uint32_t
neighbours_of (const CclCudaFrame &f, uint32_t around)
{
  return around &
         (f.connectivity == 8 ? PIXEL_NORTH_WEST | PIXEL_NORTH | PIXEL_NORTH_EAST | PIXEL_WEST
                              : PIXEL_NORTH | PIXEL_WEST);
}

/* The bit of the first of the neighbours; 0 if there are none. */
static __device__ inline uint32_t
first_neighbour (uint32_t neighbours)
{
  return neighbours & (~neighbours + 1);
}

/* The label of the neighbour of pixel @label that the bit @neighbour stands for; @label itself for
 * 0. */
static __device__ inline uint32_t
label_of_neighbour (const CclCudaFrame &f, const CclLabelImage &image, uint32_t label,
                    uint32_t neighbour)
{
  switch (neighbour) {
  case PIXEL_NORTH_WEST:
    return label - image.pitch - 1;
  case PIXEL_NORTH:
    return label - image.pitch;
  case PIXEL_NORTH_EAST:
    return label - image.pitch + 1;
  case PIXEL_WEST:
    return label - 1;
  default:
    return label;
  }
}

/* Links every pixel of the quad to the first of its neighbours: Komura's initialization, which
 * later algorithms have adopted. */
static __device__ inline void
link_quad (const CclCudaFrame &f, const CclLabelImage &image, const Quad &q)
{
  uint32_t labels[QUAD_PIXELS];

#pragma unroll
  for (uint32_t k = 0; k < QUAD_PIXELS; k++) {
    uint32_t around = around_pixel (q, k);
    uint32_t first = first_neighbour (neighbours_of (f, around));

    labels[k] = around ? label_of_neighbour (f, image, q.label + k, first) : CCL_NO_LABEL;
  }
  if (image.pitch % QUAD_PIXELS == 0) {
    *(uint4 *) &image.pixels[q.label] = make_uint4 (labels[0], labels[1], labels[2], labels[3]);
    return;
  }
#pragma unroll
  for (uint32_t k = 0; k < QUAD_PIXELS; k++)
    if (q.x + k < image.pitch)
      image.pixels[q.label + k] = labels[k];
}

/* Enqueues labelling by quads: links pixels, compresses paths, unites the remaining neighbours and
 * compresses again. */
static inline cudaError_t
label_by_quads (const CclCudaWork *work, PixelKernel initialize, PixelKernel reduce,
                cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  const CclLabelImage *image = ccl_cuda_label_image (work);
  cudaError_t error;

  error = launch (initialize, quad_grid (work), pixel_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = compress_pixels (work, false, stream);
  ccl_cuda_stage (work, "compression", stream);
  if (error != cudaSuccess)
    return error;
  error = launch (reduce, quad_grid (work), pixel_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "reduction", stream);
  if (error == cudaSuccess)
    error = compress_pixels_shallow (work, stream);
  ccl_cuda_stage (work, "second compression", stream);
  return error;
}

#endif
