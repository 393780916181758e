/* cudaccl - CUDA backend: line-based union-find
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* K. Yonehara, K. Aizawa: A line-based connected component labeling algorithm using GPUs, as told
 * by paper 002, section 3.2: LBUF, union-find whose tiles are single lines, so that inside of them
 * a pixel has but one neighbour to look at; and inline compression.
 *
 * Where this differs from its description: pixels start with the label of the start of their run,
 * as far as their warp sees it, and runs of two lines that touch are united once. */

#include "cuda/device/pixels.cuh"

#define LINE 256 /* pixels of a line that a thread block takes */

/* Local Merge: union-find along a line. */
static __global__ void
local_merge (CclCudaFrame f)
{
  __shared__ uint32_t labels[LINE];
  uint32_t pitch = f.labelled.pitch, lines = (pitch - 1) / LINE + 1, own = threadIdx.x;
  uint32_t y = blockIdx.x / lines, first = (blockIdx.x - y * lines) * LINE, word = own - lane_id ();
  Pixel p = { first + own, y, first + own < pitch, y * pitch + first + own };
  uint32_t pixels = load_word (f, p), start = word + run_start (pixels);

  labels[own] = start;
  __syncthreads ();
  if (lane_id () == 0 && own > 0 && (pixels & 1) && foreground_at (f, p.x - 1, y))
    unite (labels, own, own - 1);
  __syncthreads ();
  if (p.inside)
    f.labelled.pixels[p.label] =
        pixels >> lane_id () & 1 ? p.label - own + find (labels, start) : CCL_NO_LABEL;
}

/* Merge: lines with what is left of them, and with the lines above. */
static __global__ void
merge_lines (CclCudaFrame f)
{
  Pixel p = get_pixel (f);

  unite_rows (f, p);
  if (p.x % LINE == 0 && foreground_at (f, p.x, p.y) && foreground_at (f, p.x - 1, p.y))
    unite (f.labelled.pixels, p.label, p.label - 1);
}

extern "C" cudaError_t
ccl_cuda_lbuf (const CclCudaFrame *f, cudaStream_t stream)
{
  local_merge<<<((f->labelled.pitch - 1) / LINE + 1) * f->height, LINE, 0, stream>>> (*f);
  ccl_cuda_stage (f, "local merge", stream);
  merge_lines<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), true, stream);
  ccl_cuda_stage (f, "compression", stream);
  return cudaGetLastError ();
}
