/* cudaccl - CUDA backend: FLSL with conflict detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/algorithms/flsl.cuh"
#include "cuda/device/classes.cuh"
#include "cuda/device/foreground.cuh"
#include "cuda/device/label_map.cuh"

#define FLSL_WARPS 4

/* Writes the starts and ends of runs, whose edges @mask marks in the 32 pixels from @x on: the
 * compress-store of the paper. The first one is edge number @edge of the row. */
static __device__ inline void
store_edges (const FlslRuns &t, uint32_t row, uint32_t x, uint32_t mask, uint32_t edge)
{
  uint32_t lane = lane_id (), label;

  if (!(mask >> lane & 1))
    return;
  edge += __popc (mask & bits_below (lane));
  label = row + edge / 2;
  if (edge % 2) {
    t.flsl.ends[label] = x + lane;
  } else {
    t.starts[label] = x + lane;
    t.components.parents[label] = label;
  }
}

/* Algorithm 1: run-length coding of one row by one warp. A lane handles 32 pixels rather than one,
 * so that all lanes find edges at the same time. @bits: CclCudaFrame.bits. */
template <bool bits>
static __global__ void
flsl_find_runs (CclCudaFrame f, FlslRuns t)
{
  uint32_t y = blockIdx.x * FLSL_WARPS + threadIdx.y, lane = lane_id ();
  uint32_t row = y * t.components.slots, pitch = t.flsl.edges_pitch, n = 0, previous = 0;
  const uint8_t *pixels;
  CclEdges *edges;

  f.bits = bits;
  if (y >= f.height)
    return;
  pixels = row_pixels (f, y);
  edges = t.flsl.edges + (size_t) y * pitch;
  for (uint32_t word = 0; word < pitch; word += WARP_LANES) {
    bool inside = word + lane < pitch;
    uint32_t current = inside ? foreground32 (f, pixels, (word + lane) * WARP_LANES) : 0;
    uint32_t left = __shfl_up_sync (ALL_LANES, current, 1);
    uint32_t mask = current ^ __funnelshift_l (lane == 0 ? previous : left, current, 1);
    uint32_t sum = warp_scan ((uint32_t) __popc (mask)), edge = n + sum - __popc (mask);

    if (inside)
      edges[word + lane] = CclEdges{ mask, edge };
    for (uint32_t todo = __ballot_sync (ALL_LANES, mask); todo; todo &= todo - 1) {
      uint32_t i = __ffs (todo) - 1;

      store_edges (t, row, (word + i) * WARP_LANES, __shfl_sync (ALL_LANES, mask, i),
                   __shfl_sync (ALL_LANES, edge, i));
    }
    previous = __shfl_sync (ALL_LANES, current, WARP_LANES - 1);
    n += __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  }
  if (lane == 0) {
    if (n % 2)
      t.flsl.ends[row + n / 2] = f.width;
    t.runs[y] = n / 2 + n % 2;
  }
}

/* Classes: runs of different classes may touch. So an entry of the table ER has the first pixels of
 * runs and their number before, and stands for pixels with a class only; the planes tell where runs
 * touch. */

/* The same for a row of classes. */
static __global__ void
flsl_find_class_runs (CclCudaFrame f, FlslRuns t)
{
  uint32_t y = blockIdx.x * FLSL_WARPS + threadIdx.y, lane = lane_id (), n = 0, previous = 0;
  uint32_t row = y * t.components.slots, pitch = t.flsl.edges_pitch;
  CclEdges *edges;

  if (y >= f.height)
    return;
  edges = t.flsl.edges + (size_t) y * pitch;
  for (uint32_t word = 0; word < pitch; word += WARP_LANES) {
    bool inside = word + lane < pitch;
    uint32_t x = (word + lane) * WARP_LANES;
    uint32_t pixels = inside ? class_bits (f, CCL_CLASS_PIXELS, x, y) : 0;
    uint32_t joined = inside ? class_bits (f, CCL_CLASS_LEFT, x, y) : 0;
    uint32_t left = __shfl_up_sync (ALL_LANES, pixels, 1), starts = pixels & ~joined;
    /* the pixels after a run's last one */
    uint32_t ends = __funnelshift_l (lane == 0 ? previous : left, pixels, 1) & ~joined;
    uint32_t sum = warp_scan ((uint32_t) __popc (starts)), before = n + sum - __popc (starts);

    if (inside)
      edges[word + lane] = CclEdges{ starts, before };
    for (uint32_t todo = __ballot_sync (ALL_LANES, starts | ends); todo; todo &= todo - 1) {
      uint32_t i = __ffs (todo) - 1, of_word = __shfl_sync (ALL_LANES, starts, i);
      uint32_t label = row + __shfl_sync (ALL_LANES, before, i);
      uint32_t pixel = (word + i) * WARP_LANES + lane;

      label += __popc (of_word & bits_below (lane));
      if (__shfl_sync (ALL_LANES, ends, i) >> lane & 1)
        t.flsl.ends[label - 1] = pixel;
      if (of_word >> lane & 1) {
        t.starts[label] = pixel;
        t.components.parents[label] = label;
      }
    }
    previous = __shfl_sync (ALL_LANES, pixels, WARP_LANES - 1);
    n += __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  }
  if (lane == 0) {
    if (class_bit (f, CCL_CLASS_PIXELS, f.width - 1, y))
      t.flsl.ends[row + n - 1] = f.width;
    t.runs[y] = n;
  }
}

/* The label of the run at a pixel with a class. */
static __device__ inline uint32_t
class_run_at (const FlslRuns &t, uint32_t x, uint32_t y)
{
  return y * t.components.slots + edges_to (t.flsl.edges + (size_t) y * t.flsl.edges_pitch, x) - 1;
}

/* Does merge_above() and merge_below() for a run of a class. */
static __device__ inline void
merge_class_run (const CclCudaFrame &f, const FlslRuns &t, uint32_t label, uint32_t start,
                 uint32_t y)
{
  bool diagonal = f.connectivity == 8;
  uint32_t below = y + 1;

  if (class_bit (f, diagonal ? CCL_CLASS_FALL : CCL_CLASS_UP, start, y))
    merge (GlobalForest{ t.components.parents }, label, class_run_at (t, start - diagonal, y - 1));
  if (below == f.height)
    return;
  if (class_bit (f, CCL_CLASS_UP, start, below)) {
    if (diagonal || class_bit (f, CCL_CLASS_LEFT, start, below))
      merge (GlobalForest{ t.components.parents }, label, class_run_at (t, start, below));
  } else if (diagonal && class_bit (f, CCL_CLASS_RISE, start, below)) {
    merge (GlobalForest{ t.components.parents }, label, class_run_at (t, start - 1, below));
  }
}

static __global__ void
flsl_merge_class_rows (CclCudaFrame f, Slots slots, FlslRuns t)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES)
    merge_class_run (f, t, part.row + slot, t.starts[part.row + slot], part.y);
}

/* Writes the label map, for every variant: a warp for each entry of the table ER, a lane for each
 * of its pixels. */
template <bool classes>
static __global__ void
flsl_write_label_map (CclCudaFrame f, FlslRuns t, CclCudaResult r)
{
  size_t index = (size_t) blockIdx.x * FLSL_WARPS + threadIdx.y;
  uint32_t pitch = t.flsl.edges_pitch, y = (uint32_t) (index / pitch), edge, label = 0;
  uint32_t x = (uint32_t) (index - (size_t) y * pitch) * WARP_LANES + lane_id ();

  if (index >= (size_t) f.height * pitch)
    return;
  if (classes) {
    if (x < f.width && class_bit (f, CCL_CLASS_PIXELS, x, y))
      label = result_label (t.components, r, class_run_at (t, x, y));
  } else {
    edge = edges_to (t.flsl.edges + (size_t) y * pitch, x);
    if (edge % 2)
      label = result_label (t.components, r, y * t.components.slots + edge / 2);
  }
  store_label (r, f.width, x, y, label);
}

CclStatus
ccl_cuda_flsl_open (CclCudaWork *work, CclCudaQueue *queue)
{
  FlslTables *t = (FlslTables *) work->tables;
  size_t height = work->frame.height, labels = height * work->components.slots;
  size_t pitch = (work->frame.width - 1) / WARP_LANES + 1;
  const CclCudaTable tables[] = {
    { &t->ends, labels * sizeof *t->ends, false },
    { &work->slots.runs, height * sizeof *work->slots.runs, false },
    { &t->edges, height * pitch * sizeof *t->edges, false },
  };
  CclStatus status = ccl_cuda_slots_open (work, queue);

  t->edges_pitch = pitch;
  return status == CCL_OK ? ccl_cuda_allocate_tables (&queue->memory, tables, 3) : status;
}

cudaError_t
ccl_cuda_flsl_select (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  FlslRuns t = runs_of (work);
  size_t words = (size_t) f->height * t.flsl.edges_pitch;
  cudaError_t error = ccl_cuda_slots_select (work, stream);

  if (error != cudaSuccess || !work->result.label_map)
    return error;
  error = launch (work->classes ? flsl_write_label_map<true> : flsl_write_label_map<false>,
                  warp_grid (words, FLSL_WARPS), dim3 (WARP_LANES, FLSL_WARPS), 0, stream, *f, t,
                  work->result);
  ccl_cuda_stage_label_map (work, stream);
  return error;
}

cudaError_t
ccl_cuda_flsl_find_runs (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  auto kernel = work->classes ? flsl_find_class_runs
                : f->bits     ? flsl_find_runs<true>
                              : flsl_find_runs<false>;
  cudaError_t error = launch (kernel, warp_grid (f->height, FLSL_WARPS),
                              dim3 (WARP_LANES, FLSL_WARPS), 0, stream, *f, runs_of (work));

  ccl_cuda_stage (work, "segment detection", stream);
  return error;
}

cudaError_t
ccl_cuda_flsl_merge_rows (const CclCudaWork *work, cudaStream_t stream)
{
  auto kernel = work->classes ? flsl_merge_class_rows : flsl_merge_rows<false>;
  cudaError_t error = launch (kernel, part_grid (work), part_block (), 0, stream, work->frame,
                              slots_of (work), runs_of (work));

  ccl_cuda_stage (work, "merging", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_flsl_cd) =
    FLSL_ALGORITHM ("flsl-cd",
                    "FLSL with conflict detection: full runs, features summed up in each warp "
                    "(Lemaitre et al. 2021)",
                    flsl_enqueue<true>, true);
