/* cudaccl - CUDA backend: FLSL with conflict detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* F. Lemaitre, A. Hennequin, L. Lacassagne: Taming Voting Algorithms on GPUs for an Efficient
 * Connected Component Analysis Algorithm (paper 003). A thread works on a full run of pixels,
 * however long; features are summed up among the lanes of a warp that hold the same component
 * before they are added to it (CD).
 *
 * Where this differs from the paper as printed:
 * - The table ER, one entry a pixel there, has one entry for 32 pixels; see CclEdges.
 * - Two runs that touch are merged by the thread of the one that starts further right, looking
 *   straight at the other through ER. So no thread merges more than twice, however long its run.
 * - A warp keeps the sums of a component that fills much of it from one step to the next, so that a
 *   component all over the frame doesn't serialize. */

#include "cuda/labels.cuh"
#include "cuda/resolve.cuh"

#define ROW_WARPS 4

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
  uint32_t y = blockIdx.x * ROW_WARPS + threadIdx.y, lane = lane_id ();
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
    merge (f.labels, label, (y - 1) * f.slots + edge / 2);
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
    merge (f.labels, label, (y + 1) * f.slots + edge / 2);
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

/* Adds the features of every run that is not a root to its root. */
static __global__ void
features_cd (CclCudaFrame f)
{
  HeldComponent held = held_nothing ();
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot + lane_id (), root = CCL_NO_LABEL;
    Sums s = sums_of_nothing ();

    if (slot + lane_id () < part.to) {
      root = f.labels[label];
      if (root == label)
        root = CCL_NO_LABEL; /* its own features are there */
      else
        s = sums_of_run (f, f.starts[label], f.ends[label], part.y);
    }
    feature_update_held (f, &held, root, s);
  }
  held_flush (f, &held);
}

extern "C" cudaError_t
ccl_cuda_flsl_cd (const CclCudaFrame *f, cudaStream_t stream)
{
  unsigned rows = (f->height - 1) / ROW_WARPS + 1, parts = part_blocks (f);

  segment_detection<<<rows, dim3 (WARP_LANES, ROW_WARPS), 0, stream>>> (*f);
  merge_rows<<<parts, dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  resolve<<<parts, dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  features_cd<<<parts, dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  return cudaGetLastError ();
}

/* The label map: a warp for each entry of the table ER, a lane for each of its pixels. */
static __global__ void
paint (CclCudaFrame f)
{
  size_t index = (size_t) blockIdx.x * ROW_WARPS + threadIdx.y;
  uint32_t y = (uint32_t) (index / f.edges_pitch), edge;
  uint32_t x = (uint32_t) (index - (size_t) y * f.edges_pitch) * WARP_LANES + lane_id ();

  if (index >= (size_t) f.height * f.edges_pitch)
    return;
  edge = edges_to (f.edges + (size_t) y * f.edges_pitch, x);
  paint_pixel (f, x, y, edge % 2 ? number_of (f, y * f.slots + edge / 2) : 0);
}

extern "C" cudaError_t
ccl_cuda_flsl_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  size_t words = (size_t) f->height * f->edges_pitch;

  paint<<<(unsigned) ((words - 1) / ROW_WARPS + 1), dim3 (WARP_LANES, ROW_WARPS), 0, stream>>> (*f);
  return cudaGetLastError ();
}
