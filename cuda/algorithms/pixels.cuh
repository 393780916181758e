/* cudaccl - CUDA backend: pixels and their neighbours, for algorithms that label pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the work is per run, each thread handles one pixel and each warp 32 pixels side by side;
 * where it is per pixel, each thread handles four (papers/pixel_quads.cuh). Labels are indices of
 * pixels in raster order, in rows of CclLabelImage.pitch pixels; the padding is background. */

#ifndef CCL_CUDA_PIXELS_CUH
#define CCL_CUDA_PIXELS_CUH

#include "cuda/stages/stages.h"
#include "cuda/device/foreground.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/rows.cuh"
#include "cuda/device/unionfind.cuh"
#include "cuda/tables/label_image.h"

#define PIXELS_WIDE WARP_LANES /* of a thread block */
#define PIXELS_HIGH 8

struct Pixel
{
  uint32_t x, y;
  bool inside; /* whether it is in the padded frame */
  uint32_t label;
};

/* Returns the pixel of this thread. Thread blocks are numbered row by row, since a frame can have
 * more rows than a grid. */
static __device__ inline Pixel
get_pixel (const CclCudaFrame &f, const CclLabelImage &image)
{
  uint32_t columns = (image.pitch - 1) / PIXELS_WIDE + 1, row = blockIdx.x / columns;
  Pixel p;

  p.x = (blockIdx.x - row * columns) * PIXELS_WIDE + threadIdx.x;
  p.y = row * PIXELS_HIGH + threadIdx.y;
  p.inside = p.x < image.pitch && p.y < f.height;
  p.label = p.y * image.pitch + p.x;
  return p;
}

static inline dim3
pixel_threads (void)
{
  return dim3 (PIXELS_WIDE, PIXELS_HIGH);
}

static inline unsigned
pixel_grid (const CclCudaWork *work)
{
  return ((ccl_cuda_label_image (work)->pitch - 1) / PIXELS_WIDE + 1) *
         ((work->frame.height - 1) / PIXELS_HIGH + 1);
}

/* Whether the pixel is inside the frame and foreground; coordinates may have wrapped below 0. */
static __device__ inline bool
foreground_at (const CclCudaFrame &f, uint32_t x, uint32_t y)
{
  return y < f.height && foreground (f, row_pixels (f, y), x);
}

/* Labels this thread's pixel with its own index. */
static __device__ inline void
init_pixel (const CclCudaFrame &f, const CclLabelImage &image)
{
  Pixel p = get_pixel (f, image);

  if (p.inside)
    image.pixels[p.label] = foreground_at (f, p.x, p.y) ? p.label : CCL_NO_LABEL;
}

/* The warp's pixels as bits; @p is this lane's. */
static __device__ inline uint32_t
load_word (const CclCudaFrame &f, const Pixel &p)
{
  return __ballot_sync (ALL_LANES, foreground_at (f, p.x, p.y));
}

/* The first pixel of the run of @pixels that covers this lane's pixel. */
static __device__ inline uint32_t
run_start (uint32_t pixels)
{
  uint32_t lane = lane_id ();

  return lane == 0 ? 0 : lane - __clz (~(pixels << (WARP_LANES - lane)));
}

/* Unites the runs of two lines where they begin to touch (@starts, see touching()). Each lane has
 * one pixel of either line, with labels @label1 and @label2, which differ by @step from those of
 * the lane before. */
static __device__ inline void
unite_lines (uint32_t *labels, uint32_t starts, uint32_t line1, uint32_t label1, uint32_t line2,
             uint32_t label2, uint32_t step)
{
  uint32_t bit = 1u << lane_id ();

  if (starts & bit)
    unite (CachedForest{ labels }, line1 & bit ? label1 : label1 - step,
           line2 & bit ? label2 : label2 - step);
}

/* Unites the runs of the warp's row with those of the row above; @p is this lane's pixel. */
static __device__ inline void
unite_rows (const CclCudaFrame &f, const CclLabelImage &image, const Pixel &p)
{
  uint32_t x = p.x - lane_id (), pitch = image.pitch;
  Pixel above = { p.x, p.y - 1, p.inside, p.label - pitch };
  Rows r = { load_word (f, p), load_word (f, above), foreground_at (f, x - 1, p.y),
             foreground_at (f, x - 1, p.y - 1) };

  unite_lines (image.pixels, (uint32_t) touching (f.connectivity, r), (uint32_t) r.current, p.label,
               (uint32_t) r.above, above.label, 1);
}

static inline size_t
n_pixels (const CclCudaWork *work)
{
  return (size_t) work->frame.height * ccl_cuda_label_image (work)->pitch;
}

/* Labels pixel @p with its root in the tile, which is a thread block's pixels; after the local
 * merge. @start: the first pixel of its run in the tile. */
static __device__ inline void
store_tile_label (const CclLabelImage &image, const Pixel &p, uint32_t *labels, uint32_t start,
                  bool here)
{
  uint32_t root;

  if (!p.inside)
    return;
  root = find (CachedForest{ labels }, start);
  image.pixels[p.label] = here ? p.label - (threadIdx.y - root / PIXELS_WIDE) * image.pitch -
                                     (threadIdx.x - root % PIXELS_WIDE)
                               : CCL_NO_LABEL;
}

/* Compresses the paths of all pixels' labels. */
static inline cudaError_t
compress_pixels (const CclCudaWork *work, bool in_line, cudaStream_t stream)
{
  return ccl_cuda_compress (ccl_cuda_label_image (work)->pixels, n_pixels (work), in_line, stream);
}

static inline cudaError_t
compress_pixels_shallow (const CclCudaWork *work, cudaStream_t stream)
{
  return ccl_cuda_compress_shallow (ccl_cuda_label_image (work)->pixels, n_pixels (work), false,
                                    stream);
}

/* Enqueues labelling by tiles of PIXELS_WIDE x PIXELS_HIGH pixels: a local merge in each tile,
 * merges across the borders between rows of tiles (a thread for each pixel along them) and between
 * columns of tiles (a warp for 32 rows of each), and path compression. */
typedef void (*PixelKernel) (CclCudaFrame f, CclLabelImage image);

static inline cudaError_t
label_by_tiles (const CclCudaWork *work, PixelKernel local_merge, PixelKernel merge_rows,
                PixelKernel merge_columns, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  const CclLabelImage *image = ccl_cuda_label_image (work);
  uint32_t columns = (image->pitch - 1) / PIXELS_WIDE, rows = (f->height - 1) / PIXELS_HIGH;
  uint32_t row_blocks = (columns + 1) * (rows > 0 ? (rows - 1) / PIXELS_HIGH + 1 : 0);
  uint32_t warps = columns * ((f->height - 1) / WARP_LANES + 1);
  cudaError_t error;

  error = launch (local_merge, pixel_grid (work), pixel_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "local merge", stream);
  if (error == cudaSuccess && rows > 0)
    error = launch (merge_rows, row_blocks, pixel_threads (), 0, stream, *f, *image);
  if (error == cudaSuccess && columns > 0)
    error = launch (merge_columns, (warps - 1) / PIXELS_HIGH + 1, pixel_threads (), 0, stream, *f,
                    *image);
  ccl_cuda_stage (work, "merge", stream);
  if (error == cudaSuccess)
    error = compress_pixels_shallow (work, stream);
  ccl_cuda_stage (work, "compression", stream);
  return error;
}

#endif
