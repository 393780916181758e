/* cudaccl - CUDA backend: distanceless label propagation
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* DLP: L. Cabaret, L. Lacassagne, D. Etiemble: Distanceless Label Propagation: an Efficient Direct
 * Connected Component Labeling Algorithm for GPUs, as described by Allegretti 2020, section 3.2.
 * All labels in each square of 2 x 2 pixels are united with the lowest one, first inside tiles,
 * then across their borders. Roots are not searched first: what a label points to is passed on
 * instead.
 *
 * Where this differs from the description:
 * - The recursion is a loop. With 4-connectivity, a square is its first pixel with the pixels to
 *   its right and below.
 * - In a tile, pixels start with the label of their run's start. Squares are skipped where two
 *   runs, or two columns of pixels at a tile's left border, continue to touch. */

#include "cuda/algorithms/pixels.cuh"

/* The recursive union: lowers what @label points to. If that was another label, both belong to one
 * component; continue with the higher label. Labels that are low enough are left alone: labels only
 * ever become lower, so a stale read is safe. */
static __device__ inline void
propagate (uint32_t *labels, uint32_t label, uint32_t lower)
{
  while (label != lower) {
    uint32_t high = max (label, lower), low = min (label, lower), found = labels[high];

    if (found > low)
      found = atomicMin (&labels[high], low);
    if (found == high)
      return;
    label = found;
    lower = low;
  }
}

/* Returns the current label of a pixel; CCL_NO_LABEL in the background. */
static __device__ inline uint32_t
label_at (const uint32_t *labels, uint32_t label, bool here)
{
  return here ? labels[label] : CCL_NO_LABEL;
}

/* Unites the foreground pixels of a square, whose first pixel is @label. @square: bit 0 is that
 * pixel, 1 the one to its right, 2 the one below, 3 the one to the right below. */
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

/* Returns the square that begins with bit @i of two lines: those of its pixels that touch. */
static __device__ inline uint32_t
square_at (const CclCudaFrame &f, uint64_t row, uint64_t below, uint32_t i)
{
  uint32_t square = (uint32_t) (row >> i & 3) | (uint32_t) (below >> i & 3) << 2;

  if (f.connectivity == 8)
    return square;
  return square & 1 ? square & 7 : 0;
}

static __global__ void
dlp_merge_locally (CclCudaFrame f, CclLabelImage image)
{
  __shared__ uint32_t labels[PIXELS_HIGH * PIXELS_WIDE], rows[PIXELS_HIGH];
  uint32_t lane = threadIdx.x, own = threadIdx.y * PIXELS_WIDE + lane, start;
  uint32_t row, below = 0, both;
  Pixel p = get_pixel (f, image);

  row = load_word (f, p);
  start = own - lane + run_start (row);
  labels[own] = start;
  rows[threadIdx.y] = row;
  __syncthreads ();
  if (threadIdx.y < PIXELS_HIGH - 1)
    below = rows[threadIdx.y + 1];
  both = row & below;
  if (below && !((both & both << 1) >> lane & 1))
    unite_square (labels, own, PIXELS_WIDE, square_at (f, row, below, lane));
  __syncthreads ();
  store_tile_label (image, p, labels, start, row >> lane & 1);
}

/* Loads 33 pixels of a row (@dx is 1) or a column (@dy is 1), from (@x, @y) on: the warp's pixels
 * and the next one. */
static __device__ inline uint64_t
load_line (const CclCudaFrame &f, uint32_t x, uint32_t y, uint32_t dx, uint32_t dy)
{
  uint32_t lane = lane_id ();

  return __ballot_sync (ALL_LANES, foreground_at (f, x + lane * dx, y + lane * dy)) |
         (uint64_t) foreground_at (f, x + WARP_LANES * dx, y + WARP_LANES * dy) << WARP_LANES;
}

/* Unites the squares across the lower borders of tiles. Those at the corners of tiles are never
 * skipped, as others rely on them. */
static __global__ void
dlp_merge_rows (CclCudaFrame f, CclLabelImage image)
{
  Pixel p = get_pixel (f, image);
  uint32_t lane = threadIdx.x, x = p.x - lane, y = (p.y + 1) * PIXELS_HIGH - 1;
  uint64_t row = load_line (f, x, y, 1, 0), below = load_line (f, x, y + 1, 1, 0);
  uint64_t both = row & below;
  bool before = foreground_at (f, x - 1, y) && foreground_at (f, x - 1, y + 1);

  if (lane < WARP_LANES - 1 && ((both & (both << 1 | before)) >> lane & 1))
    return;
  unite_square (image.pixels, y * image.pitch + p.x, image.pitch, square_at (f, row, below, lane));
}

/* Unites the squares across the right borders of tiles, except those that also lie across a lower
 * border. A warp handles 32 rows. */
static __global__ void
dlp_merge_columns (CclCudaFrame f, CclLabelImage image)
{
  uint32_t columns = (image.pitch - 1) / PIXELS_WIDE, lane = threadIdx.x;
  uint32_t index = blockIdx.x * blockDim.y + threadIdx.y, part = index / columns;
  uint32_t x = (index - part * columns + 1) * PIXELS_WIDE - 1, y = part * WARP_LANES;
  uint64_t left = load_line (f, x, y, 0, 1), right = load_line (f, x + 1, y, 0, 1);
  bool left_out = (left & right & (left & right) << 1) >> lane & 1;
  uint32_t upper = (uint32_t) (left >> lane & 1) | (uint32_t) (right >> lane & 1) << 1;
  uint32_t lower = (uint32_t) (left >> (lane + 1) & 1) | (uint32_t) (right >> (lane + 1) & 1) << 1;

  if (lane % PIXELS_HIGH == PIXELS_HIGH - 1 ? y + lane + 1 < f.height
                                            : lane % PIXELS_HIGH > 0 && left_out)
    return;
  unite_square (image.pixels, (y + lane) * image.pitch + x, image.pitch,
                square_at (f, upper, lower, 0));
}

static cudaError_t
dlp_label (const CclCudaWork *work, cudaStream_t stream)
{
  return label_by_tiles (work, dlp_merge_locally, dlp_merge_rows, dlp_merge_columns, stream);
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_dlp) =
    CCL_CUDA_LABELLING ("dlp", "DLP: distanceless label propagation (Cabaret et al. 2017)", 4 | 8,
                        ccl_cuda_label_image_open, dlp_label);
