/* cudaccl - CUDA backend: FLSL, what its versions share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* F. Lemaitre, A. Hennequin, L. Lacassagne: Taming Voting Algorithms on GPUs for an Efficient
 * Connected Component Analysis Algorithm (paper 003). A thread works on a full run of pixels,
 * however long. The file that includes this one says how:
 *
 * FLSL_ON_THE_FLY: whether features go along with merges (section 3.2); if not, they are summed up
 * over the labelled runs.
 *
 * Where this differs from the paper as printed:
 * - The table ER, one entry a pixel there, has one entry for 32 pixels; see CclEdges.
 * - Two runs that touch are merged by the thread of the one that starts further right, looking
 *   straight at the other through ER. So no thread merges more than twice, however long its run. */

#ifndef CCL_CUDA_FLSL_CUH
#define CCL_CUDA_FLSL_CUH

#include "cuda/device/onthefly.cuh"
#include "cuda/device/resolve.cuh"

#define FLSL_WARPS 4

/* The number of edges up to and with pixel @x (the table ER): odd inside of a run. */
static __device__ inline uint32_t
edges_to (const CclEdges *edges, uint32_t x)
{
  CclEdges e = edges[x / WARP_LANES];

  return e.before + __popc (e.mask << (WARP_LANES - 1 - x % WARP_LANES));
}

/* Writes the runs' ends that @mask has among 32 pixels, from @x on: the paper's compress-store. The
 * first is edge number @edge of the row. */
static __device__ inline void
store_edges (const CclCudaFrame &f, uint32_t row, uint32_t x, uint32_t mask, uint32_t edge)
{
  uint32_t lane = lane_id (), label;

  if (!(mask >> lane & 1))
    return;
  edge += __popc (mask & bits_below (lane));
  label = row + edge / 2;
  if (edge % 2) {
    f.ends[label] = x + lane;
  } else {
    f.starts[label] = x + lane;
    f.labels[label] = label;
  }
}

/* Algorithm 1: run-length coding of one row by one warp, with 32 pixels in a lane rather than one,
 * so that a word's edges are found by all lanes at once. */
static __global__ void
segment_detection (CclCudaFrame f)
{
  uint32_t y = blockIdx.x * FLSL_WARPS + threadIdx.y, lane = lane_id ();
  uint32_t row = y * f.slots, n = 0, previous = 0;
  const uint8_t *pixels;
  CclEdges *edges;

  if (y >= f.height)
    return;
  pixels = row_pixels (f, y);
  edges = f.edges + (size_t) y * f.edges_pitch;
  for (uint32_t word = 0; word < f.edges_pitch; word += WARP_LANES) {
    bool inside = word + lane < f.edges_pitch;
    uint32_t current = inside ? foreground32 (f, pixels, (word + lane) * WARP_LANES) : 0;
    uint32_t left = __shfl_up_sync (ALL_LANES, current, 1);
    uint32_t mask = current ^ __funnelshift_l (lane == 0 ? previous : left, current, 1);
    uint32_t sum = warp_scan (__popc (mask)), edge = n + sum - __popc (mask);

    if (inside)
      edges[word + lane] = CclEdges{ mask, edge };
    for (uint32_t todo = __ballot_sync (ALL_LANES, mask); todo; todo &= todo - 1) {
      uint32_t i = __ffs (todo) - 1;

      store_edges (f, row, (word + i) * WARP_LANES, __shfl_sync (ALL_LANES, mask, i),
                   __shfl_sync (ALL_LANES, edge, i));
    }
    previous = __shfl_sync (ALL_LANES, current, WARP_LANES - 1);
    n += __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  }
  if (lane == 0) {
    if (n % 2)
      f.ends[row + n / 2] = f.width;
    f.runs[y] = n / 2 + n % 2;
  }
}

static __device__ inline void
merge_runs (const CclCudaFrame &f, uint32_t label1, uint32_t label2)
{
  if (FLSL_ON_THE_FLY)
    merge_otf (f, label1, label2);
  else
    merge (f.labels, label1, label2);
}

/* Merges the run @label, from pixel @start on, with the run of the row above that covers its first
 * pixel, or with 8-connectivity the one before it. The latter doesn't exist at the left border; a
 * run above that starts there will find this one. */
static __device__ inline void
merge_above (const CclCudaFrame &f, uint32_t label, uint32_t start, uint32_t y)
{
  bool diagonal = f.connectivity == 8;
  uint32_t edge;

  if (y == 0 || (diagonal && start == 0))
    return;
  edge = edges_to (f.edges + (size_t) (y - 1) * f.edges_pitch, start - diagonal);
  if (edge % 2)
    merge_runs (f, label, (y - 1) * f.slots + edge / 2);
}

/* Merges the run @label, from pixel @start on, with the run of the row below that touches its first
 * pixel, unless that one has found it: it starts no further left, or with 8-connectivity further
 * right. */
static __device__ inline void
merge_below (const CclCudaFrame &f, uint32_t label, uint32_t start, uint32_t y)
{
  const CclEdges *below;
  uint32_t edge;

  if (y + 1 >= f.height)
    return;
  below = f.edges + (size_t) (y + 1) * f.edges_pitch;
  edge = edges_to (below, start);
  if (f.connectivity == 8) {
    if (edge % 2 == 0 && start > 0)
      edge = edges_to (below, start - 1);
  } else if (below[start / WARP_LANES].mask >> start % WARP_LANES & 1) {
    return;
  }
  if (edge % 2)
    merge_runs (f, label, (y + 1) * f.slots + edge / 2);
}

static __global__ void
merge_rows (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot, start = f.starts[label];

    merge_above (f, label, start, part.y);
    merge_below (f, label, start, part.y);
  }
}

/* The features of run @slot of a row that go to another label, its root; CCL_NO_LABEL where there
 * is none: past the end, and for roots, which have their own run's features already. */
static __device__ inline uint32_t
get_run (const CclCudaFrame &f, const Part &part, uint32_t slot, Sums *s)
{
  uint32_t label = part.row + slot, root;

  *s = sums_of_nothing ();
  if (slot >= part.to)
    return CCL_NO_LABEL;
  root = f.labels[label];
  if (root == label)
    return CCL_NO_LABEL;
  *s = sums_of_run (f, f.starts[label], f.ends[label], part.y);
  return root;
}

/* The grid for a warp for each of @n, in blocks of FLSL_WARPS warps. */
static inline unsigned
flsl_grid (size_t n)
{
  return (unsigned) ((n - 1) / FLSL_WARPS + 1);
}

static inline void
flsl_detect (const CclCudaFrame *f, cudaStream_t stream)
{
  segment_detection<<<flsl_grid (f->height), dim3 (WARP_LANES, FLSL_WARPS), 0, stream>>> (*f);
  ccl_cuda_stage (f, "segment detection", stream);
}

static inline void
flsl_merge (const CclCudaFrame *f, cudaStream_t stream)
{
  merge_rows<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merging", stream);
}

#endif
