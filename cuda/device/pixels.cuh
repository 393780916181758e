/* cudaccl - CUDA backend: pixels and their neighbours, for labellers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A thread has a pixel, a warp 32 of them side by side, where what is to be done is done by runs of
 * them; where it is done by pixels, a thread has four. Labels are numbers of pixels in raster
 * order, in rows of labelled.pitch pixels; what pads the rows is background. */

#ifndef CCL_CUDA_PIXELS_CUH
#define CCL_CUDA_PIXELS_CUH

#include "cuda/device/forest.cuh"
#include "cuda/device/rows.cuh"

#define PIXELS_WIDE WARP_LANES /* of a thread block */
#define PIXELS_HIGH 8

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

/* The warp's pixels, of which @p is this lane's, as bits. */
static __device__ inline uint32_t
load_word (const CclCudaFrame &f, const Pixel &p)
{
  return __ballot_sync (ALL_LANES, foreground_at (f, p.x, p.y));
}

/* The first pixel of the run of @pixels that covers this lane's. */
static __device__ inline uint32_t
run_start (uint32_t pixels)
{
  uint32_t lane = lane_id ();

  return lane == 0 ? 0 : lane - __clz (~(pixels << (WARP_LANES - lane)));
}

/* Unites the runs of two lines, one of this lane's bits in each, that begin to touch in @starts
 * (see touching()); @label1 and @label2: this lane's labels, which are @step apart from the last
 * lane's. */
static __device__ inline void
unite_lines (uint32_t *labels, uint32_t starts, uint32_t line1, uint32_t label1, uint32_t line2,
             uint32_t label2, uint32_t step)
{
  uint32_t bit = 1u << lane_id ();

  if (starts & bit)
    unite (labels, line1 & bit ? label1 : label1 - step, line2 & bit ? label2 : label2 - step);
}

/* Unites the runs of the warp's row, of which @p is this lane's pixel, with those of the row above.
 */
static __device__ inline void
unite_rows (const CclCudaFrame &f, const Pixel &p)
{
  uint32_t x = p.x - lane_id (), pitch = f.labelled.pitch;
  Pixel above = { p.x, p.y - 1, p.inside, p.label - pitch };
  Rows r = { load_word (f, p), load_word (f, above), foreground_at (f, x - 1, p.y),
             foreground_at (f, x - 1, p.y - 1) };

  unite_lines (f.labelled.pixels, (uint32_t) touching (f, r), (uint32_t) r.current, p.label,
               (uint32_t) r.above, above.label, 1);
}

static inline size_t
n_pixels (const CclCudaFrame *f)
{
  return (size_t) f->height * f->labelled.pitch;
}

/* After the local merge of a tile, which is a thread block's pixels: labels pixel @p with its root
 * in the tile. @start: the first pixel of its run there. */
static __device__ inline void
store_tile_label (const CclCudaFrame &f, const Pixel &p, const uint32_t *labels, uint32_t start,
                  bool here)
{
  uint32_t root;

  if (!p.inside)
    return;
  root = find (labels, start);
  f.labelled.pixels[p.label] = here ? p.label -
                                          (threadIdx.y - root / PIXELS_WIDE) * f.labelled.pitch -
                                          (threadIdx.x - root % PIXELS_WIDE)
                                    : CCL_NO_LABEL;
}

/* Labels pixels by tiles: a local merge in each, merges over the borders between rows of tiles,
 * with a thread for each pixel along them, and between columns, with a warp for 32 rows of each,
 * and the compression. */
static inline cudaError_t
enqueue_tiles (const CclCudaFrame *f, void (*local_merge) (CclCudaFrame),
               void (*merge_rows) (CclCudaFrame), void (*merge_columns) (CclCudaFrame),
               cudaStream_t stream)
{
  uint32_t columns = (f->labelled.pitch - 1) / PIXELS_WIDE, rows = (f->height - 1) / PIXELS_HIGH;
  uint32_t warps = columns * ((f->height - 1) / WARP_LANES + 1);

  local_merge<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "local merge", stream);
  if (rows > 0)
    merge_rows<<<(columns + 1) * ((rows - 1) / PIXELS_HIGH + 1), pixel_threads (), 0, stream>>> (
        *f);
  if (columns > 0)
    merge_columns<<<(warps - 1) / PIXELS_HIGH + 1, pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_shallow_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "compression", stream);
  return cudaGetLastError ();
}

#endif
