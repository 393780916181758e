/* cudaccl - CUDA backend: FLSL: the common part of its variants
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* F. Lemaitre, A. Hennequin, L. Lacassagne: Taming Voting Algorithms on GPUs for an Efficient
 * Connected Component Analysis Algorithm (Lemaitre 2021). A thread works on a full run of pixels,
 * however long. The variants differ in how features are summed up:
 *
 * - flsl: each run is added to its component individually (section 3.1).
 * - flsl-otf: features move along with every merge of labels (section 3.2, algorithm 2).
 * - flsl-cd: the lanes of a warp that hold the same component are reduced first (section 3.3,
 *   algorithm 3). Beyond the paper, a warp accumulates a component that fills much of the warp over
 *   several steps, so that a component that covers the frame does not serialise the updates.
 *
 * flsl.cu has flsl-cd and the kernels that do not depend on the variant, papers/flsl.cu the others.
 *
 * Where this differs from the paper as printed:
 * - The table ER has one entry for 32 pixels rather than one per pixel; see CclEdges.
 * - Two runs that touch are merged by the thread of the one that starts further right, which finds
 *   the other one through ER. So no thread merges more than twice, however long its run is. */

#ifndef CCL_CUDA_FLSL_CUH
#define CCL_CUDA_FLSL_CUH

#include "cuda/device/launch.cuh"
#include "cuda/device/onthefly.cuh"
#include "cuda/stages/slots.cuh"

/* The table ER of algorithm 1 holds the number of edges up to every pixel. Here one entry serves 32
 * pixels: the edges among them as bits, and the number of edges before them. */
struct CclEdges
{
  uint32_t mask;
  uint32_t before;
};

struct FlslTables
{
  uint32_t *ends;  /* [height * slots] x past a run's last pixel */
  CclEdges *edges; /* [height * edges_pitch] */
  uint32_t edges_pitch;
};

/* Tables that kernels take by value. */
struct FlslRuns
{
  CclComponentTable components;
  uint32_t *starts, *runs; /* of CclSlotTable */
  FlslTables flsl;
};

/* The number of edges up to and including pixel @x (the table ER); odd inside a run. */
static __device__ inline uint32_t
edges_to (const CclEdges *edges, uint32_t x)
{
  CclEdges e = edges[x / WARP_LANES];

  return e.before + __popc (e.mask << (WARP_LANES - 1 - x % WARP_LANES));
}

/* Merges the run @label, which starts at pixel @start, with the run of the row above that covers
 * its first pixel or, with 8-connectivity, the pixel before that. At the left border there is no
 * pixel before: a run above that starts there finds this one. */
template <bool on_the_fly>
static __device__ inline void
merge_above (const CclCudaFrame &f, const FlslRuns &t, uint32_t label, uint32_t start, uint32_t y)
{
  bool diagonal = f.connectivity == 8;
  uint32_t edge;

  if (y == 0 || (diagonal && start == 0))
    return;
  edge = edges_to (t.flsl.edges + (size_t) (y - 1) * t.flsl.edges_pitch, start - diagonal);
  if (edge % 2)
    merge_components<on_the_fly> (t.components, label, (y - 1) * t.components.slots + edge / 2);
}

/* Merges the run @label, which starts at pixel @start, with the run of the row below that touches
 * its first pixel, unless that run finds this one: because it starts no further left or, with
 * 8-connectivity, further right. */
template <bool on_the_fly>
static __device__ inline void
merge_below (const CclCudaFrame &f, const FlslRuns &t, uint32_t label, uint32_t start, uint32_t y)
{
  const CclEdges *below;
  uint32_t edge;

  if (y + 1 >= f.height)
    return;
  below = t.flsl.edges + (size_t) (y + 1) * t.flsl.edges_pitch;
  edge = edges_to (below, start);
  if (f.connectivity == 8) {
    if (edge % 2 == 0 && start > 0)
      edge = edges_to (below, start - 1);
  } else if (below[start / WARP_LANES].mask >> start % WARP_LANES & 1) {
    return;
  }
  if (edge % 2)
    merge_components<on_the_fly> (t.components, label, (y + 1) * t.components.slots + edge / 2);
}

template <bool on_the_fly>
static __global__ void
flsl_merge_rows (CclCudaFrame f, Slots slots, FlslRuns t)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot, start = t.starts[label];

    merge_above<on_the_fly> (f, t, label, start, part.y);
    merge_below<on_the_fly> (f, t, label, start, part.y);
  }
}

/* Gets the features of run @slot of a row, and returns the label that they are added to, its root.
 * Returns CCL_NO_LABEL past the end, and for roots, which have their own run's features already. */
static __device__ inline uint32_t
get_run (const FlslRuns &t, const Part &part, uint32_t slot, FeatureRecord *r)
{
  uint32_t label = part.row + slot, root;

  *r = record_empty ();
  if (slot >= part.to)
    return CCL_NO_LABEL;
  root = t.components.parents[label];
  if (root == label)
    return CCL_NO_LABEL;
  *r = record_of_run (t.components, t.starts[label], t.flsl.ends[label], part.y);
  return root;
}

template <bool conflict_detection>
static __global__ void
flsl_add_runs (Slots slots, FlslRuns t)
{
  WarpAccumulator accumulator = accumulator_empty ();
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    FeatureRecord r;
    uint32_t root = get_run (t, part, slot + lane_id (), &r);

    if (conflict_detection)
      accumulator_add (t.components, &accumulator, root, r);
    else if (root != CCL_NO_LABEL)
      features_add (t.components, root, r);
  }
  if (conflict_detection)
    accumulator_flush (t.components, &accumulator);
}

static inline FlslRuns
runs_of (const CclCudaWork *work)
{
  return FlslRuns{ work->components, work->slots.starts, work->slots.runs,
                   *(const FlslTables *) work->tables };
}

/* Hooks of CclCudaAlgorithm, for every variant. */
extern "C" CclStatus ccl_cuda_flsl_open (CclCudaWork *work, CclCudaQueue *queue);
extern "C" cudaError_t ccl_cuda_flsl_select (const CclCudaWork *work, cudaStream_t stream);

/* Enqueue the run-length coding of all rows, and the merges of runs that touch, without features.
 */
extern "C" cudaError_t ccl_cuda_flsl_find_runs (const CclCudaWork *work, cudaStream_t stream);
extern "C" cudaError_t ccl_cuda_flsl_merge_rows (const CclCudaWork *work, cudaStream_t stream);

template <bool conflict_detection>
static inline cudaError_t
flsl_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  FlslRuns t = runs_of (work);
  cudaError_t error = ccl_cuda_flsl_find_runs (work, stream);

  if (error == cudaSuccess)
    error = ccl_cuda_flsl_merge_rows (work, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_compress_slots (work, t.flsl.ends, stream);
  if (error == cudaSuccess)
    error = launch (flsl_add_runs<conflict_detection>, part_grid (work), part_block (), 0, stream,
                    slots_of (work), t);
  ccl_cuda_stage (work, "features", stream);
  return error == cudaSuccess ? ccl_cuda_finish (work, stream) : error;
}

#define FLSL_ALGORITHM(name, description, enqueue, has_classes)                              \
  {                                                                                          \
    { name, description, CCL_BACKEND_CUDA, 4 | 8 }, sizeof (FlslTables), ccl_cuda_flsl_open, \
        enqueue, ccl_cuda_slots_count_areas, ccl_cuda_flsl_select, NULL, NULL, has_classes   \
  }

#endif
