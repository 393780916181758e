/* cudaccl - CUDA backend: line-based union-find
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* LBUF: K. Yonehara, K. Aizawa: A line-based connected component labeling algorithm using GPUs, as
 * described by Allegretti 2020, section 3.2. Union-find whose tiles are single lines, so that
 * inside of them a pixel has only one neighbour, with inline compression.
 *
 * Where this differs from the description: pixels start with the label of the start of their run
 * within their warp, and runs of two lines that touch are united once. */

#include "cuda/algorithms/pixels.cuh"

#define LINE 256 /* pixels of a line: those of a thread block */

/* Local Merge: union-find along a line. */
static __global__ void
lbuf_merge_locally (CclCudaFrame f, CclLabelImage image)
{
  __shared__ uint32_t labels[LINE];
  uint32_t pitch = image.pitch, lines = (pitch - 1) / LINE + 1, own = threadIdx.x;
  uint32_t y = blockIdx.x / lines, first = (blockIdx.x - y * lines) * LINE, word = own - lane_id ();
  Pixel p = { first + own, y, first + own < pitch, y * pitch + first + own };
  uint32_t pixels = load_word (f, p), start = word + run_start (pixels);

  labels[own] = start;
  __syncthreads ();
  if (lane_id () == 0 && own > 0 && (pixels & 1) && foreground_at (f, p.x - 1, y))
    unite (CachedForest{ labels }, own, own - 1);
  __syncthreads ();
  if (p.inside)
    image.pixels[p.label] = pixels >> lane_id () & 1
                                ? p.label - own + find (CachedForest{ labels }, start)
                                : CCL_NO_LABEL;
}

/* Merge: unites lines with those to their left and above. */
static __global__ void
lbuf_merge_lines (CclCudaFrame f, CclLabelImage image)
{
  Pixel p = get_pixel (f, image);

  unite_rows (f, image, p);
  if (p.x % LINE == 0 && foreground_at (f, p.x, p.y) && foreground_at (f, p.x - 1, p.y))
    unite (CachedForest{ image.pixels }, p.label, p.label - 1);
}

static cudaError_t
lbuf_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  const CclLabelImage *image = ccl_cuda_label_image (work);
  uint32_t lines = ((image->pitch - 1) / LINE + 1) * f->height;
  cudaError_t error;

  error = launch (lbuf_merge_locally, lines, LINE, 0, stream, *f, *image);
  ccl_cuda_stage (work, "local merge", stream);
  if (error == cudaSuccess)
    error = launch (lbuf_merge_lines, pixel_grid (work), pixel_threads (), 0, stream, *f, *image);
  ccl_cuda_stage (work, "merge", stream);
  if (error == cudaSuccess)
    error = compress_pixels (work, true, stream);
  ccl_cuda_stage (work, "compression", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_lbuf) = CCL_CUDA_LABELLING (
    "lbuf", "LBUF: union-find over pixels, in lines first (Yonehara and Aizawa 2015)", 4 | 8,
    ccl_cuda_label_image_open, lbuf_label);
