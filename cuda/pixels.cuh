/* cudaccl - CUDA backend: pixels and their neighbours, for labellers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A thread has a pixel, a warp 32 of them side by side. Labels are numbers of pixels in raster
 * order, in rows of labelled.pitch pixels; what pads the rows is background. */

#ifndef CCL_CUDA_PIXELS_CUH
#define CCL_CUDA_PIXELS_CUH

#include "cuda/forest.cuh"

#define PIXELS_WIDE WARP_LANES /* of a thread block */
#define PIXELS_HIGH 8

/* A foreground pixel and those of its neighbours that come before it in raster order (paper 002,
 * figure 2a), as far as they are foreground; the frame's connectivity says which count. */
enum
{
  PIXEL_HERE = 1,
  PIXEL_NORTH_WEST = 2,
  PIXEL_NORTH = 4,
  PIXEL_NORTH_EAST = 8,
  PIXEL_WEST = 16,
};

struct Pixel
{
  uint32_t x, y;
  bool inside; /* of the padded frame */
  uint32_t label;
};

/* The pixel of this thread. A frame can have more rows than a grid, so thread blocks are numbered
 * row by row. */
static __device__ inline Pixel
get_pixel (const CclCudaFrame &f)
{
  uint32_t columns = (f.labelled.pitch - 1) / PIXELS_WIDE + 1, row = blockIdx.x / columns;
  Pixel p;

  p.x = (blockIdx.x - row * columns) * PIXELS_WIDE + threadIdx.x;
  p.y = row * PIXELS_HIGH + threadIdx.y;
  p.inside = p.x < f.labelled.pitch && p.y < f.height;
  p.label = p.y * f.labelled.pitch + p.x;
  return p;
}

static inline dim3
pixel_threads (void)
{
  return dim3 (PIXELS_WIDE, PIXELS_HIGH);
}

static inline unsigned
pixel_grid (const CclCudaFrame *f)
{
  return ((f->labelled.pitch - 1) / PIXELS_WIDE + 1) * ((f->height - 1) / PIXELS_HIGH + 1);
}

/* Whether the frame has this pixel and it is foreground; coordinates may wrap below 0. */
static __device__ inline bool
foreground_at (const CclCudaFrame &f, uint32_t x, uint32_t y)
{
  return y < f.height && foreground (f, row_pixels (f, y), x);
}

/* Labels this thread's pixel with its own number. */
static __device__ inline void
init_pixel (const CclCudaFrame &f)
{
  Pixel p = get_pixel (f);

  if (p.inside)
    f.labelled.pixels[p.label] = foreground_at (f, p.x, p.y) ? p.label : CCL_NO_LABEL;
}

/* The pixel @p and its neighbours, 0 if it is background. All lanes of a warp call this. */
static __device__ inline uint32_t
load_neighbours (const CclCudaFrame &f, const Pixel &p)
{
  uint32_t lane = lane_id (), found = 0;
  uint32_t row = __ballot_sync (ALL_LANES, foreground_at (f, p.x, p.y));
  uint32_t above = __ballot_sync (ALL_LANES, foreground_at (f, p.x, p.y - 1));
  bool west = lane > 0 ? row >> (lane - 1) & 1 : foreground_at (f, p.x - 1, p.y);

  if (!(row >> lane & 1))
    return 0;
  found = PIXEL_HERE | (west ? PIXEL_WEST : 0) | (above >> lane & 1 ? PIXEL_NORTH : 0);
  if (f.connectivity == 8) {
    if (lane > 0 ? above >> (lane - 1) & 1 : foreground_at (f, p.x - 1, p.y - 1))
      found |= PIXEL_NORTH_WEST;
    if (lane < WARP_LANES - 1 ? above >> (lane + 1) & 1 : foreground_at (f, p.x + 1, p.y - 1))
      found |= PIXEL_NORTH_EAST;
  }
  return found;
}

/* Unites pixel @label with those of its @neighbours, in rows of @pitch labels. */
static __device__ inline void
unite_neighbours (uint32_t *labels, uint32_t label, uint32_t pitch, uint32_t neighbours)
{
  if (neighbours & PIXEL_NORTH_WEST)
    unite (labels, label, label - pitch - 1);
  if (neighbours & PIXEL_NORTH)
    unite (labels, label, label - pitch);
  if (neighbours & PIXEL_NORTH_EAST)
    unite (labels, label, label - pitch + 1);
  if (neighbours & PIXEL_WEST)
    unite (labels, label, label - 1);
}

static inline size_t
n_pixels (const CclCudaFrame *f)
{
  return (size_t) f->height * f->labelled.pitch;
}

#endif
