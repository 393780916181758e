/* cudaccl - CUDA backend: the tile algorithm in one launch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame up to HD size and beyond fits on the device all at once, cut into strips. There, most of
 * the time of four launches goes by between them, so one does it all, with barriers over the grid
 * where the others would end. That takes a cooperative launch: a block that waits for others must
 * know that they run. What goes on is one chain of dependent steps, in each block and from block to
 * block, so all that counts is how long that is. */

#include "cuda/device/selection.cuh"
#include "cuda/tile/strip_borders.cuh"
#include "cuda/tile/strip_sums.cuh"

#define MOST_THREADS 1024
#define MOST_SEAM_THREADS 256
#define MOST_BLOCKS 4 /* of a multiprocessor */

static_assert (MOST_THREADS * WARP_LANES < 1ull << (32 - RUN_BITS),
               "a strip's pixels are counted above its runs");

/* Sums of what a strip adds to roots, in shared memory: many of its components may have the same
 * one, and so do many strips. */
struct RootTable
{
  uint32_t *roots; /* [entries] CCL_NO_LABEL: free */
  uint32_t *area, *sum_x, *sum_y, *min_x, *max_x, *max_y;
  uint32_t bits; /* of an entry's number */
};

#define MOST_PROBES 8

static __device__ inline RootTable
root_table (uint32_t *memory, uint32_t threads)
{
  uint32_t bits = 32 - __clz (threads), n = 1u << bits; /* up to two a thread */
  RootTable t = { memory,         memory + n,     memory + 2 * n, memory + 3 * n,
                  memory + 4 * n, memory + 5 * n, memory + 6 * n, bits };

  return t;
}

static __device__ inline void
clear_roots (const RootTable &t)
{
  for (uint32_t i = threadIdx.x; i < 1u << t.bits; i += blockDim.x) {
    t.roots[i] = CCL_NO_LABEL;
    t.area[i] = t.sum_x[i] = t.sum_y[i] = t.max_x[i] = t.max_y[i] = 0;
    t.min_x[i] = UINT32_MAX;
  }
}

/* The entry of @root, or -1 if there is no room. */
static __device__ inline int
find_entry (const RootTable &t, uint32_t root)
{
  const volatile uint32_t *seen = t.roots;
  uint32_t i = (root * 2654435769u) >> (32 - t.bits);

  for (int probe = 0; probe < MOST_PROBES; probe++) {
    uint32_t found = seen[i];

    if (found == CCL_NO_LABEL)
      found = atomicCAS (&t.roots[i], CCL_NO_LABEL, root);
    if (found == CCL_NO_LABEL || found == root)
      return (int) i;
    i = (i + 1) & ((1u << t.bits) - 1);
  }
  return -1;
}

static __device__ inline void
add_to_root (const CclCudaFrame &f, const RootTable &t, uint32_t root, const Sums &s)
{
  int i = find_entry (t, root);

  if (i < 0) {
    feature_update (f, root, s);
    return;
  }
  /* All are of one strip: 32 bits suffice. */
  atomicAdd (&t.area[i], s.features.area);
  atomicAdd (&t.sum_x[i], (uint32_t) s.features.sum_x);
  atomicAdd (&t.sum_y[i], (uint32_t) s.features.sum_y);
  atomicMin (&t.min_x[i], s.features.min_x);
  atomicMax (&t.max_x[i], s.features.max_x);
  atomicMax (&t.max_y[i], s.features.max_y);
}

/* Adds the lanes' sums to their roots; lanes without sums pass CCL_NO_LABEL. */
static __device__ inline void
add_to_roots (const CclCudaFrame &f, const RootTable &t, uint32_t root, Sums s)
{
#if __CUDA_ARCH__ >= 800
  uint32_t peers = __match_any_sync (ALL_LANES, root);

  if (root != CCL_NO_LABEL && __popc (peers) >= REDUCE_LANES) {
    s.features.sum_x = __reduce_add_sync (peers, (uint32_t) s.features.sum_x);
    s.features.sum_y = __reduce_add_sync (peers, (uint32_t) s.features.sum_y);
    s.features.area = __reduce_add_sync (peers, s.features.area);
    s.features.min_x = __reduce_min_sync (peers, s.features.min_x);
    s.features.max_x = __reduce_max_sync (peers, s.features.max_x);
    s.features.max_y = __reduce_max_sync (peers, s.features.max_y);
    if (peers & bits_below (lane_id ()))
      return;
  }
#endif
  if (root != CCL_NO_LABEL)
    add_to_root (f, t, root, s);
}

static __device__ inline void
flush_roots (const CclCudaFrame &f, const RootTable &t)
{
  for (uint32_t i = threadIdx.x; i < 1u << t.bits; i += blockDim.x) {
    Sums s = { { t.sum_x[i], t.sum_y[i], t.area[i], t.min_x[i], t.max_x[i], t.max_y[i] },
               { 0, 0, 0 } };

    if (t.roots[i] != CCL_NO_LABEL)
      feature_update (f, t.roots[i], s);
  }
}

/* Adds the features of components that are no roots to their roots, and notes which are. */
static __device__ inline void
resolve_strip (const CclCudaFrame &f, const StripRuns &s, const RootTable &t, const Strip &strip)
{
  for (uint32_t base = threadIdx.x - lane_id (); base < strip.components; base += blockDim.x) {
    uint32_t c = base + lane_id (), label = strip.label + c, root = CCL_NO_LABEL, roots;
    Sums sums = sums_of_nothing ();

    if (c < strip.components) {
      sums = sums_of_component (f, label);
      root = compress (f.labels, label, __ldcg (&f.labels[label]));
    }
    roots = __ballot_sync (ALL_LANES, root == label);
    if (lane_id () == 0)
      s.roots[base / WARP_LANES] = roots;
    /* A root's own features are there, and what is only in the row above has none. */
    if (root == label || sums.features.area == 0)
      root = CCL_NO_LABEL;
    add_to_roots (f, t, root, sums);
  }
  __syncthreads ();
  flush_roots (f, t);
}

/* Leaves the roots that pass the area filter. */
static __device__ inline void
filter_roots (const CclCudaFrame &f, const StripRuns &s, const Strip &strip)
{
  for (uint32_t base = threadIdx.x - lane_id (); base < strip.components; base += blockDim.x) {
    uint32_t lane = lane_id (), roots = s.roots[base / WARP_LANES];

    roots = __ballot_sync (ALL_LANES, roots >> lane & 1 &&
                                          passes (f, f.features[strip.label + base + lane].area));
    if (lane == 0)
      s.roots[base / WARP_LANES] = roots;
  }
}

/* The components in the first @n strips, for each warp. */
static __device__ inline uint32_t
kept_before (const CclStrips &strips, uint32_t n)
{
  uint32_t sum = 0;

#pragma unroll 4
  for (uint32_t i = lane_id (); i < n; i += WARP_LANES)
    sum += __ldcg (&strips.kept[i]);
  return warp_sum (sum);
}

static __device__ inline void
write_strip (const CclCudaFrame &f, const StripRuns &s, const Strip &strip, uint32_t before)
{
  /* Runs and sums are no longer needed. */
  WriteBuffer *buffer = (WriteBuffer *) s.parents + threadIdx.x / WARP_LANES;

  for (uint32_t base = threadIdx.x - lane_id (); base < strip.components;
       base += f.strips.threads) {
    uint32_t c = base + lane_id (), group = base / WARP_LANES, bit = 1u << lane_id ();
    uint32_t label = strip.label + c, roots = s.roots[group];
    uint32_t first = roots & bit ? __ldcg (&f.strips.firsts[label]) : 0;
    uint32_t place = before + s.roots_before[group] + __popc (roots & (bit - 1));

    write_warp (f, buffer, label, first & 0xffff, strip.y + (first >> 16), roots & bit ? KEPT : OUT,
                pack_counts (place, 0));
  }
}

/* The components of a strip, with features, in a forest that is merged with that of the strip
 * above. */
static __device__ inline void
label_strip (const CclCudaFrame &f, const StripRuns &s, Strip *strip)
{
  s.words[threadIdx.x] = load_strip_word (f, *strip);
  if (!__syncthreads_or (s.words[threadIdx.x] != 0 && strip->row > 0)) {
    /* Nobody waits for it, but it is looked at in the next round. */
    if (threadIdx.x == 0)
      __stcg (&f.strips.published[strip->index], strip->round);
    return;
  }
  if (!find_strip_runs (f, s, strip))
    unite_strip_runs (f, s, strip);
  if (threadIdx.x < f.strips.threads) {
    sum_strip (f, s, *strip);
  } else {
    publish_bottom (f.strips, s, *strip);
    merge_with_above (f, s, *strip);
    keep_up_with_sums (f, s, *strip);
  }
}

/* Tells the others that all of this block is done with one of the barriers. */
static __device__ inline void
arrive_at (const CclStrips &strips, int barrier)
{
  __syncthreads ();
  if (threadIdx.x == 0)
    arrive_release (&strips.barriers[barrier]);
}

static __device__ inline void
wait_at (const CclStrips &strips, int barrier, const Strip &strip)
{
  if (threadIdx.x == 0)
    await_round (&strips.barriers[barrier], strip.round);
  __syncthreads ();
}

/* Finds out which components of the strip go into the result, with all that belongs to them.
 * Returns their number. */
static __device__ inline uint32_t
resolve_components (const CclCudaFrame &f, const StripRuns &s, const Strip &strip)
{
  RootTable table = root_table (s.parents, f.strips.threads);

  arrive_at (f.strips, MERGED);
  clear_roots (table); /* runs are no longer needed */
  wait_at (f.strips, MERGED, strip);
  resolve_strip (f, s, table, strip);
  if (!keeps_all (f)) {
    arrive_at (f.strips, RESOLVED);
    wait_at (f.strips, RESOLVED, strip);
    filter_roots (f, s, strip);
  }
  __syncthreads ();
  return count_roots (s, strip.components);
}

/* Tells how many components the strip has in the result, and arrives wherever the block has not
 * been. */
static __device__ inline void
publish_count (const CclCudaFrame &f, const Strip &strip, uint32_t kept)
{
  uint32_t *barriers = f.strips.barriers;
  bool empty = strip.components == 0;

  if (threadIdx.x > 0)
    return;
  __stcg (&f.strips.kept[strip.index], kept);
  /* Nobody reads anything else of an empty strip, or waits for RESOLVED where all are kept. */
  if (empty)
    arrive (&barriers[MERGED]);
  if (empty || keeps_all (f))
    arrive (&barriers[RESOLVED]);
  arrive_release (&barriers[COUNTED]);
}

/* One strip a block. */
static __global__ void
__launch_bounds__ (MOST_THREADS, 1) analyse_frame (CclCudaFrame f)
{
  extern __shared__ uint64_t memory[];
  Strip strip = strip_of_block (f.strips);
  StripRuns s = strip_runs_layout ((uint32_t *) memory, blockDim.x);
  uint32_t kept, before;
  bool last = strip.index == f.strips.n - 1;

  /* So they are: now the compiler knows, too. */
  f.moments = NULL;
  f.updates = NULL;
  f.numbers = NULL;
  f.volume.sums = NULL;
  f.cut.area = 0;
  label_strip (f, s, &strip);
  kept = strip.components > 0 ? resolve_components (f, s, strip) : 0;
  publish_count (f, strip, kept);
  if (kept == 0 && !last)
    return;
  wait_at (f.strips, COUNTED, strip);
  before = kept_before (f.strips, strip.index);
  if (last && threadIdx.x == 0)
    f.header->kept = before + kept;
  if (threadIdx.x < f.strips.threads)
    write_strip (f, s, strip, before);
}

static uint32_t
divide_up (uint32_t a, uint32_t b)
{
  return a > 0 ? (a - 1) / b + 1 : 0;
}

static uint32_t
threads_of (const CclStrips &strips)
{
  return strips.threads + strips.seam_threads;
}

/* Strips for @blocks thread blocks on each of @processors, of so many bytes of shared memory. */
static CclStrips
cut_frame (const CclCudaFrame *f, uint32_t processors, uint32_t blocks, size_t most)
{
  CclStrips s = {};
  size_t runs, buffers, sums;
  uint32_t most_threads = MOST_THREADS / blocks / WARP_LANES * WARP_LANES;

  s.words = divide_up (f->width, 32);
  s.height = divide_up (f->height, processors * blocks);
  s.threads = divide_up (s.words * (s.height + 1), 32) * 32;
  if (s.threads + WARP_LANES > most_threads)
    return s;
  s.seam_threads = min (most_threads - s.threads, MOST_SEAM_THREADS);
  s.capacity = f->slots * (s.height + 1);
  runs = strip_runs_size (s.threads + s.seam_threads) + 4 * (size_t) s.capacity;
  buffers = strip_runs_size (s.threads + s.seam_threads) + s.threads / 32 * sizeof (WriteBuffer);
  sums = sizeof (StripSums) * (size_t) s.capacity;
  s.size = (uint32_t) min (max (runs + sums, buffers), most);
  /* There is room, also for the sums of some components, and sums are small enough. */
  if (buffers <= most && runs + sums / 8 <= most &&
      32 * s.words * s.height < 1u << STRIP_AREA_BITS &&
      16 * s.words * s.height * (s.height - 1) < 1u << (32 - STRIP_AREA_BITS))
    s.n = divide_up (f->height, s.height);
  return s;
}

extern "C" cudaError_t
ccl_cuda_strips (const CclCudaFrame *f, int device, CclStrips *strips)
{
  const void *kernel = (const void *) analyse_frame;
  int cooperative = 0, processors = 0, most = 0, all = 0, reserved = 0, resident = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaDeviceGetAttribute (&cooperative, cudaDevAttrCooperativeLaunch, device);

  *strips = {};
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute (&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute (&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute (&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute (&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device);
  if (error == cudaSuccess)
    error = cudaFuncGetAttributes (&attributes, kernel);
  if (error != cudaSuccess || !cooperative)
    return error;
  most -= (int) attributes.sharedSizeBytes;
  all -= reserved + (int) attributes.sharedSizeBytes;
  error = cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  for (int blocks = 1; error == cudaSuccess && blocks <= MOST_BLOCKS && strips->n == 0; blocks++) {
    CclStrips s = cut_frame (f, processors, blocks, min (most, all / blocks - reserved));

    if (s.n == 0)
      continue;
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, kernel, threads_of (s), s.size);
    if (error == cudaSuccess && s.n <= (uint32_t) (resident * processors))
      *strips = s;
  }
  return error;
}

extern "C" cudaError_t
ccl_cuda_tile_frame (const CclCudaFrame *f, cudaStream_t stream)
{
  void *arguments[] = { (void *) f };

  return cudaLaunchCooperativeKernel ((const void *) analyse_frame, f->strips.n,
                                      threads_of (f->strips), arguments, f->strips.size, stream);
}
