/* cudaccl - CUDA backend: the tile algorithm in one launch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Small frames fit on the device at once, as strips; how large they may be depends on the device
 * (plan.c). Four kernels would spend most of their time on launches, so one cooperative kernel does
 * everything, with three grid barriers (MERGED, RESOLVED, COUNTED) instead of kernel boundaries.
 * There remains one chain of dependent steps, within each block and from block to block, so only
 * its latency counts.
 *
 * How blocks share memory:
 * S1. Parents. A block initializes those of its strip before it publishes its bottom (S2). From
 *     then on the strip below merges with them, atomically or past the L1 cache (GlobalForest).
 *     After MERGED all merges are complete and visible.
 * S2. The bottom: the components of a strip's last row. The border threads of a block write it,
 *     pass their barrier, and one of them stores the round to published[] with release semantics.
 *     In the strip below one border thread awaits that round with acquire semantics; the others
 *     follow through their barrier. Strips without foreground publish the round, too: otherwise the
 *     stale flag would look set in the next launch.
 * S3. A block publishes its bottom before it waits for the strip above, and waits for MERGED only
 *     after that. All blocks are resident (B1). So no block waits forever.
 * S4. Features. A block initializes those of its components before it arrives at MERGED. After
 *     MERGED, blocks add the features of their non-roots, which no longer change, to roots of any
 *     strip, atomically. After RESOLVED roots have all their features, visible to their own block.
 *     RESOLVED is complete when COUNTED is.
 * S5. kept[]. Thread 0 of a block writes its count and arrives at COUNTED with release semantics;
 *     after COUNTED other blocks read it past the L1 cache.
 * S6. firsts[] and shared memory are read only by the block that wrote them. Exception: in
 *     strips_flip all blocks read firsts[] of the first strip, after RESOLVED.
 * S7. Every block arrives once at each barrier (B2), even if it skips the work between two.
 * S8. strips_flip may change the mask in place: a block writes after RESOLVED, when all blocks have
 *     loaded their pixels. A strip without components writes earlier, while the strip below may
 *     still read its last row: it rewrites its own pixels.
 * S9. Label maps. A block clears the result labels of its components before it arrives at MERGED,
 *     and sets those of its roots after COUNTED. The next kernel reads them, and the parents, which
 *     resolve_strip() has compressed, and what the block has left in CclStripMap. */

#include "cuda/device/label_map.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/selection.cuh"
#include "cuda/tile/flip.cuh"
#include "cuda/tile/strip.cuh"
#include "cuda/runtime/error.h"

#define MAX_THREADS 1024

static_assert (MAX_THREADS * WARP_LANES < 1ull << (32 - RUN_BITS),
               "a strip's pixels are counted above its runs");

/* The features of components of one strip, in the coordinates of the frame; 32 bits suffice. @T:
 * uint32_t, or references to it. */
template <typename T> struct StripFeatures
{
  T area, sum_x, sum_y, min_x, max_x, max_y;
};

/* The features that a strip adds to roots: a hash table in shared memory. Many components of a
 * strip may have the same root, and so may those of many strips. */
struct RootTable
{
  uint32_t *roots;  /* [1 << bits] CCL_NO_LABEL: free */
  uint32_t *values; /* [6 << bits] one array for each feature, as in LocalTable */
  uint32_t bits;
};

#define MAX_PROBES 8

#define ROOT_WORDS 7 /* of an entry */

static __device__ inline RootTable
root_table_layout (uint32_t *memory, uint32_t bits)
{
  RootTable table = { memory, memory + (1u << bits), bits };

  return table;
}

/* Returns a table with room for one to two roots per thread. */
static __device__ inline RootTable
root_table (uint32_t *memory, uint32_t threads)
{
  return root_table_layout (memory, 32 - __clz (threads));
}

/* Returns a table behind the runs, as large as fits: it has at least two entries. */
static __device__ inline RootTable
root_table_behind (const CclStrips &strips, const StripRuns &s, uint32_t runs)
{
  uint32_t room = (strips.size - (uint32_t) strip_runs_size (blockDim.x)) / 4 - runs;

  return root_table_layout (s.parents + runs,
                            min (32 - __clz (strips.threads), 31 - __clz (room / ROOT_WORDS)));
}

static __device__ inline StripFeatures<uint32_t &>
root_features (const RootTable &table, uint32_t entry)
{
  uint32_t *values = table.values + entry, n = 1u << table.bits;

  return { values[0], values[n], values[2 * n], values[3 * n], values[4 * n], values[5 * n] };
}

static __device__ inline void
clear_roots (const RootTable &table)
{
  for (uint32_t i = threadIdx.x; i < 1u << table.bits; i += blockDim.x) {
    StripFeatures<uint32_t &> to = root_features (table, i);

    table.roots[i] = CCL_NO_LABEL;
    to.area = to.sum_x = to.sum_y = to.max_x = to.max_y = 0;
    to.min_x = UINT32_MAX;
  }
}

/* Finds or adds the entry of @root; returns -1 if there is no room. */
static __device__ inline int
find_entry (const RootTable &table, uint32_t root)
{
  const volatile uint32_t *seen = table.roots;
  uint32_t i = (root * 2654435769u) >> (32 - table.bits);

  for (int probe = 0; probe < MAX_PROBES; probe++) {
    uint32_t found = seen[i];

    if (found == CCL_NO_LABEL)
      found = atomicCAS (&table.roots[i], CCL_NO_LABEL, root);
    if (found == CCL_NO_LABEL || found == root)
      return (int) i;
    i = (i + 1) & ((1u << table.bits) - 1);
  }
  return -1;
}

template <typename T>
static __device__ inline FeatureRecord
widen_features (const StripFeatures<T> &s)
{
  FeatureRecord r = { { s.sum_x, s.sum_y, s.area, s.min_x, s.max_x, s.max_y }, { 0, 0, 0 } };

  return r;
}

/* Adds the lanes' features to their roots; lanes without features pass CCL_NO_LABEL. All lanes call
 * this. */
static __device__ inline void
add_to_roots (const CclComponentTable &t, const RootTable &table, uint32_t root,
              StripFeatures<uint32_t> s)
{
  int entry;

#if CAN_REDUCE
  uint32_t peers = __match_any_sync (ALL_LANES, root);

  if (root != CCL_NO_LABEL && __popc (peers) >= REDUCE_LANES) {
    for_each_feature (s, s, WarpReduce{ peers });
    if (peers & bits_below (lane_id ()))
      return;
  }
#endif
  if (root == CCL_NO_LABEL)
    return;
  entry = find_entry (table, root);
  if (entry < 0) {
    features_add (t, root, widen_features (s));
  } else {
    StripFeatures<uint32_t &> to = root_features (table, entry);

    for_each_feature (to, s, AtomicCombine{});
  }
}

static __device__ inline void
flush_roots (const CclComponentTable &t, const RootTable &table)
{
  for (uint32_t i = threadIdx.x; i < 1u << table.bits; i += blockDim.x) {
    FeatureRecord r = widen_features (root_features (table, i));

    if (table.roots[i] != CCL_NO_LABEL)
      features_add (t, table.roots[i], r);
  }
}

/* Adds the features of non-roots to their roots, and sets in s.roots which components are roots. */
static __device__ inline void
resolve_strip (const CclComponentTable &t, const StripRuns &s, const RootTable &table,
               const Strip &strip)
{
  GlobalForest forest = { t.parents };

  for (uint32_t base = threadIdx.x - lane_id (); base < strip.components; base += blockDim.x) {
    uint32_t c = base + lane_id (), label = strip.label + c, root = CCL_NO_LABEL, roots;
    StripFeatures<uint32_t> features = { 0, 0, 0, UINT32_MAX, 0, 0 };

    if (c < strip.components) {
      CclFeatures own = t.features[label];

      features = { own.area, (uint32_t) own.sum_x, (uint32_t) own.sum_y, own.min_x, own.max_x,
                   own.max_y };
      root = compress (forest, label, load_link (forest, label));
    }
    roots = __ballot_sync (ALL_LANES, root == label);
    if (lane_id () == 0)
      s.roots[base / WARP_LANES] = roots;
    /* A root has its own features already; a component with pixels only in row 0 has none. */
    if (root == label || features.area == 0)
      root = CCL_NO_LABEL;
    add_to_roots (t, table, root, features);
  }
  __syncthreads ();
  flush_roots (t, table);
}

/* Removes from s.roots the roots outside of the limits. */
static __device__ inline void
limit_roots (const CclComponentTable &t, const CclStrips &strips, const CclCudaResult &r,
             const StripRuns &s, const Strip &strip)
{
  for (uint32_t base = threadIdx.x - lane_id (); base < strip.components; base += blockDim.x) {
    uint32_t lane = lane_id (), roots = s.roots[base / WARP_LANES], label, y = 0;
    bool keep = roots >> lane & 1;

    label = strip.label + base + lane;
    if (keep && r.min_height > 1)
      y = strip.y + (__ldcg (&strips.firsts[label]) >> 16);
    roots = __ballot_sync (ALL_LANES, keep && passes (t, r, label, t.features[label], y));
    if (lane == 0)
      s.roots[base / WARP_LANES] = roots;
  }
}

/* Returns the number of components that the first @n strips have in the result. All lanes of a warp
 * call this. */
static __device__ inline uint32_t
kept_before (const CclStrips &strips, uint32_t n)
{
  uint32_t sum = 0;

#pragma unroll 4
  for (uint32_t i = lane_id (); i < n; i += WARP_LANES)
    sum += __ldcg (&strips.kept[i]);
  return warp_sum (sum);
}

/* Writes the components of the strip that are in the result. @before: their number in the strips
 * before. */
static __device__ inline void
write_strip (const CclComponentTable &t, const CclStrips &strips, const CclCudaResult &r,
             const StripRuns &s, const Strip &strip, uint32_t before)
{
  /* The memory of runs and features is free now. */
  WriteBuffer *buffer = (WriteBuffer *) s.parents + threadIdx.x / WARP_LANES;

  for (uint32_t base = threadIdx.x - lane_id (); base < strip.components; base += strips.writers) {
    uint32_t c = base + lane_id (), chunk = base / WARP_LANES, bit = 1u << lane_id ();
    uint32_t label = strip.label + c, roots = s.roots[chunk];
    uint32_t first = roots & bit ? __ldcg (&strips.firsts[label]) : 0;
    uint32_t place = before + s.roots_before[chunk] + __popc (roots & (bit - 1));

    write_warp (t, r, buffer, label, first & 0xffff, strip.y + (first >> 16),
                roots & bit ? KEPT : DROPPED, pack_counts (place, 0));
  }
}

/* Arrives at a grid barrier once all threads of the block have called this. */
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

/* Completes the strip's roots. Leaves those in the result in s.roots, and returns their number. */
static __device__ inline uint32_t
resolve_components (const CclCudaFrame &f, const CclComponentTable &t, const CclStrips &strips,
                    const CclCudaResult &r, const StripRuns &s, const Strip &strip)
{
  RootTable table = root_table (s.parents, strips.threads);

  arrive_at (strips, MERGED);
  clear_roots (table); /* the memory of runs and features is free now */
  wait_at (strips, MERGED, strip);
  resolve_strip (t, s, table, strip);
  if (!keeps_all (f, r)) {
    arrive_at (strips, RESOLVED);
    wait_at (strips, RESOLVED, strip);
    limit_roots (t, strips, r, s, strip);
  }
  __syncthreads ();
  return scan_roots (s, strip.components);
}

/* Publishes the number of the strip's components in the result, and arrives at the barriers that
 * the block has skipped (S7). */
static __device__ inline void
publish_count (const CclCudaFrame &f, const CclStrips &strips, const CclCudaResult &r,
               const Strip &strip, uint32_t kept)
{
  bool empty = strip.components == 0;

  if (threadIdx.x > 0)
    return;
  __stcg (&strips.kept[strip.index], kept);
  /* An empty strip has written nothing else that others read. No block waits for RESOLVED if all
   * roots are kept. */
  if (empty)
    arrive (&strips.barriers[MERGED]);
  if (empty || keeps_all (f, r))
    arrive (&strips.barriers[RESOLVED]);
  arrive_release (&strips.barriers[COUNTED]);
}

/* Leaves what the label map needs (S9). Called by the word threads before the memory of runs is
 * used again. */
static __device__ inline void
leave_map (const CclStrips &strips, const CclStripMap &map, const CclCudaResult &r,
           const StripRuns &s, const Strip &strip)
{
  uint32_t i = threadIdx.x;

  map.words[strip.index * strips.threads + i] = s.words[i];
  if (strip.components == 0)
    return;
  map.before[strip.index * strips.threads + i] = s.before[i];
  for (uint32_t run = i; run < strip.runs; run += strips.threads)
    map.components[strip.label + run] = (uint16_t) s.parents[run];
  for (uint32_t c = i; c < strip.components; c += strips.threads)
    r.labels[strip.label + c] = 0;
}

/* Analyses this block's strip. @map: NULL without a label map. */
static __device__ inline void
analyse_strip (CclCudaFrame f, const CclStrips &strips, CclComponentTable t, CclCudaResult r,
               const CclStripMap *map, uint64_t *memory)
{
  Strip strip = strip_of_block (strips);
  StripRuns s = strip_runs_layout ((uint32_t *) memory, blockDim.x);
  uint32_t kept, before;
  bool last = strip.index == strips.n - 1;

  /* ccl_cuda_strips_can_analyse() has checked all of this; tell the compiler. */
  t.moments = NULL;
  t.updates = NULL;
  t.depth_sums = NULL;
  if (!map)
    r.labels = NULL;
  r.top_k.area = 0;
  find_strip_components (f, t, strips, s, &strip);
  if (map && threadIdx.x < strips.threads)
    leave_map (strips, *map, r, s, strip);
  kept = strip.components > 0 ? resolve_components (f, t, strips, r, s, strip) : 0;
  publish_count (f, strips, r, strip, kept);
  if (kept == 0 && !last)
    return;
  wait_at (strips, COUNTED, strip);
  before = kept_before (strips, strip.index);
  if (last && threadIdx.x == 0)
    r.header->kept = before + kept;
  if (threadIdx.x < strips.writers)
    write_strip (t, strips, r, s, strip, before);
}

/* A block for each strip. @bits: CclCudaFrame.bits. */
template <bool bits>
static __global__ void
__launch_bounds__ (MAX_THREADS, 1)
    strips_analyse (CclCudaFrame f, CclStrips strips, CclComponentTable t, CclCudaResult r)
{
  extern __shared__ uint64_t memory[];

  f.bits = bits;
  analyse_strip (f, strips, t, r, NULL, memory);
}

/* The same with a label map, which strips_write_label_map completes. */
template <bool bits>
static __global__ void
__launch_bounds__ (MAX_THREADS, 1)
    strips_analyse_map (CclCudaFrame f, CclStrips strips, CclComponentTable t, CclCudaResult r,
                        CclStripMap map)
{
  extern __shared__ uint64_t memory[];

  f.bits = bits;
  analyse_strip (f, strips, t, r, &map, memory);
}

#define MAP_THREADS 256

/* A thread for every four pixels of a row. */
static __global__ void
__launch_bounds__ (MAP_THREADS)
    strips_write_label_map (CclCudaFrame f, CclStrips strips, CclComponentTable t, CclCudaResult r,
                            CclStripMap map)
{
  uint32_t quads = (f.width - 1) / QUAD + 1, i = blockIdx.x * MAP_THREADS + threadIdx.x;
  uint32_t y = i / quads, x = (i - y * quads) * QUAD, index = y / strips.height;
  uint32_t row = y - index * strips.height + 1, bit = x % WARP_LANES,
           label = index * strips.capacity;
  uint32_t at = index * strips.threads + row * strips.words + x / WARP_LANES;
  uint32_t word, quad, starts, l[QUAD];

  if (y >= f.height)
    return;
  word = map.words[at];
  quad = word >> bit & ((1 << QUAD) - 1);
  if (quad == 0) {
    store_quad (r, f.width, x, y, make_uint4 (0, 0, 0, 0));
    return;
  }
  starts = word & ~(word << 1 | (x >= WARP_LANES ? map.words[at - 1] >> 31 : 0));
  label += map.before[at] - 1;
#pragma unroll
  for (uint32_t k = 0; k < QUAD; k++) {
    if (!(quad >> k & 1)) {
      l[k] = 0;
    } else if (k > 0 && quad >> (k - 1) & 1) {
      l[k] = l[k - 1];
    } else {
      uint32_t run = label + starts_to (starts, (int) (bit + k));

      l[k] = result_label (t, r, index * strips.capacity + map.components[run]);
    }
  }
  store_quad (r, f.width, x, y, make_uint4 (l[0], l[1], l[2], l[3]));
}

/* Flipping pixels (S8) */

/* Leaves in s.roots which components of the strip are flipped. */
static __device__ inline void
find_flipped (const CclCudaFrame &f, const CclComponentTable &t, const CclStrips &strips,
              const CclFlipPass &pass, const StripRuns &s, const Strip &strip)
{
  GlobalForest forest = { t.parents };

  for (uint32_t base = threadIdx.x - lane_id (); base < strip.components; base += blockDim.x) {
    uint32_t c = base + lane_id (), bits;
    bool flip = false;

    if (c < strip.components) {
      uint32_t root = find (forest, strip.label + c);
      bool below_top = root >= strips.capacity || __ldcg (&strips.firsts[root]) >> 16 > 0;

      flip = flips_component (f, pass, t.features[root], below_top);
    }
    bits = __ballot_sync (ALL_LANES, flip);
    if (lane_id () == 0)
      s.roots[base / WARP_LANES] = bits;
  }
}

/* The pixels of this thread's word that are not flipped. */
static __device__ inline uint32_t
pixels_not_flipped (const StripRuns &s)
{
  uint32_t i = threadIdx.x, word = s.words[i], kept = 0;

  for (uint32_t rest = word; rest;) {
    uint32_t start = __ffs (rest) - 1, others = pixels_from (end_of_pixels (rest, start));
    uint32_t c = s.parents[s.before[i] + starts_to (s.starts[i], (int) start) - 1];

    if (!(s.roots[c / WARP_LANES] >> c % WARP_LANES & 1))
      kept |= rest & ~others;
    rest &= others;
  }
  return kept;
}

/* A block for each strip. */
static __global__ void
__launch_bounds__ (MAX_THREADS, 1)
    strips_flip (CclCudaFrame f, CclStrips strips, CclComponentTable t, CclFlipPass pass)
{
  extern __shared__ uint64_t memory[];
  Strip strip = strip_of_block (strips);
  StripRuns s = strip_runs_layout ((uint32_t *) memory, blockDim.x);
  uint32_t x = strip.word * WARP_LANES, y = strip.y + strip.row - 1, kept = 0;

  t.moments = NULL;
  t.updates = NULL;
  t.depth_sums = NULL;
  find_strip_components (f, t, strips, s, &strip);
  if (strip.components > 0) {
    RootTable table = root_table_behind (strips, s, strip.runs);

    arrive_at (strips, MERGED);
    clear_roots (table); /* the memory of features is free now */
    wait_at (strips, MERGED, strip);
    resolve_strip (t, s, table, strip);
    arrive_at (strips, RESOLVED);
    wait_at (strips, RESOLVED, strip);
    find_flipped (f, t, strips, pass, s, strip);
    __syncthreads ();
    kept = pixels_not_flipped (s);
  } else if (threadIdx.x == 0) { /* S7 */
    arrive (&strips.barriers[MERGED]);
    arrive (&strips.barriers[RESOLVED]);
  }
  if (threadIdx.x == 0)
    arrive (&strips.barriers[COUNTED]); /* no block waits for this one */
  if (strip.row > 0 && strip.row <= strips.height && x < f.width && y < f.height)
    ((uint32_t *) (pass.to + y * pass.pitch))[strip.word] = flipped_word (f, pass, kept, x);
}

static uint32_t
threads_of (const CclStrips &strips)
{
  return strips.threads + strips.border_threads;
}

static_assert (CCL_PLAN_STRIP_THREADS == MAX_THREADS &&
                   CCL_PLAN_STRIP_AREA_BITS == STRIP_AREA_BITS &&
                   CCL_PLAN_STRIP_RECORD == sizeof (StripRecord) &&
                   CCL_PLAN_WRITE_BUFFER == sizeof (WriteBuffer) && CCL_PLAN_ROOT == 4 * ROOT_WORDS,
               "as planned");

static CclStrips
make_strips (const CclStripPlan &plan)
{
  CclStrips s = {};

  s.n = plan.n;
  s.words = plan.words;
  s.height = plan.height;
  s.threads = plan.threads;
  s.border_threads = plan.border_threads;
  s.writers = plan.writers;
  s.size = plan.size;
  s.capacity = plan.capacity;
  return s;
}

/* The kernels that a session may launch: the last ones only with label maps, so that they have no
 * effect on the plans of others. */
static const void *const strip_kernels[] = {
  (const void *) strips_analyse<false>,
  (const void *) strips_analyse<true>,
  (const void *) strips_flip,
  (const void *) strips_analyse_map<false>,
  (const void *) strips_analyse_map<true>,
};

static uint32_t
count_kernels (const CclCudaWork *work)
{
  return sizeof strip_kernels / sizeof *strip_kernels - (work->wants.result_labels ? 0 : 2);
}

/* Gets the most registers and shared memory that any of the @n kernels needs. */
static cudaError_t
needs_of_kernels (uint32_t n, CclStripKernel *needs)
{
  cudaError_t error = cudaSuccess;

  *needs = {};
  for (uint32_t i = 0; i < n; i++) {
    const void *kernel = strip_kernels[i];
    cudaFuncAttributes attributes;

    if (error == cudaSuccess)
      error = CCL_CUDA (cudaFuncGetAttributes, &attributes, kernel);
    if (error == cudaSuccess) {
      needs->shared = max (needs->shared, (uint32_t) attributes.sharedSizeBytes);
      needs->registers = max (needs->registers, (uint32_t) attributes.numRegs);
    }
  }
  return error;
}

static cudaError_t
allow_dynamic_memory (uint32_t n, int bytes)
{
  cudaError_t error = cudaSuccess;

  for (uint32_t i = 0; i < n; i++) {
    if (error == cudaSuccess)
      error = CCL_CUDA (cudaFuncSetAttribute, strip_kernels[i],
                        cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  }
  return error;
}

/* Gets how many blocks of each of the @n kernels a multiprocessor has room for. */
static cudaError_t
most_resident (uint32_t n, const CclStrips *s, int *blocks)
{
  cudaError_t error = cudaSuccess;

  *blocks = INT_MAX;
  for (uint32_t i = 0; i < n; i++) {
    int resident = 0;

    if (error == cudaSuccess)
      error = CCL_CUDA (cudaOccupancyMaxActiveBlocksPerMultiprocessor, &resident, strip_kernels[i],
                        threads_of (*s), s->size);
    *blocks = min (*blocks, resident);
  }
  return error;
}

/* Finds the first plan whose blocks are all resident. Leaves n at 0 if there is none. */
static cudaError_t
find_plan (const CclCudaWork *work, const CclCudaLimits *limits, CclStrips *strips)
{
  const CclCudaFrame *f = &work->frame;
  CclStripKernel kernel = {};
  cudaError_t error = cudaSuccess;
  uint32_t step = 0, n = count_kernels (work);
  CclStripPlan plan;
  int resident = 0;

  if (!limits->cooperative)
    return cudaSuccess;
  error = needs_of_kernels (n, &kernel);
  if (error == cudaSuccess)
    error = allow_dynamic_memory (n, (int) (limits->shared_block - kernel.shared));
  while (error == cudaSuccess && strips->n == 0 &&
         ccl_plan_strips (limits, &kernel, f->width, f->height, work->components.slots, &step,
                          &plan)) {
    CclStrips s = make_strips (plan);

    error = most_resident (n, &s, &resident);
    if (error == cudaSuccess && s.n <= (uint32_t) resident * limits->processors)
      *strips = s;
  }
  return error;
}

static CclStatus
allocate_strips (CclStrips *strips, CclStripMap *map, bool labels, CclCudaMemory *memory)
{
  size_t n = strips->n, words = labels ? n * strips->threads : 0;
  /* Cleared: tables that are read before they are written. */
  const CclCudaTable tables[] = {
    { &strips->barriers, STRIP_BARRIERS * sizeof *strips->barriers, true },
    { &strips->bottom, n * strips->words * WORD_RUNS * sizeof *strips->bottom, false },
    { &strips->published, n * sizeof *strips->published, true },
    { &strips->firsts, n * strips->capacity * sizeof *strips->firsts, false },
    { &strips->kept, n * sizeof *strips->kept, false },
    { &map->words, words * sizeof *map->words, false },
    { &map->before, words * sizeof *map->before, false },
    { &map->components, labels ? n * strips->capacity * sizeof *map->components : 0, false },
  };

  return ccl_cuda_allocate_tables (memory, tables, sizeof tables / sizeof *tables);
}

CclStatus
ccl_cuda_strips_open (const CclCudaWork *work, CclCudaQueue *queue, TileTables *tables)
{
  CclStrips *strips = &tables->strips;
  CclStatus status;

  *strips = {};
  status = ccl_cuda_check (find_plan (work, &queue->device.limits, strips),
                           "planning a cooperative launch");
  return status == CCL_OK && strips->n > 0
             ? allocate_strips (strips, &tables->map, work->wants.result_labels, &queue->memory)
             : status;
}

bool
ccl_cuda_strips_can_analyse (const CclCudaWork *work)
{
  return tile_tables (work)->strips.n > 0 && work->result.top_k.area == 0 &&
         !work->components.moments && !work->components.updates &&
         (!work->result.label_map || tile_tables (work)->map.components) && !work->stages &&
         !work->keep_components;
}

static cudaError_t
enqueue_with_map (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  const TileTables *tables = tile_tables (work);
  const CclStrips *strips = &tables->strips;
  size_t quads = (size_t) ((f->width - 1) / QUAD + 1) * f->height;
  cudaError_t error =
      launch_cooperative (f->bits ? strips_analyse_map<true> : strips_analyse_map<false>, strips->n,
                          threads_of (*strips), strips->size, stream, *f, *strips, work->components,
                          work->result, tables->map);

  return error == cudaSuccess
             ? launch (strips_write_label_map, (unsigned) ((quads - 1) / MAP_THREADS + 1),
                       MAP_THREADS, 0, stream, *f, *strips, work->components, work->result,
                       tables->map)
             : error;
}

cudaError_t
ccl_cuda_strips_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  const CclStrips *strips = &tile_tables (work)->strips;

  if (work->result.label_map)
    return enqueue_with_map (work, stream);
  return launch_cooperative (work->frame.bits ? strips_analyse<true> : strips_analyse<false>,
                             strips->n, threads_of (*strips), strips->size, stream, work->frame,
                             *strips, work->components, work->result);
}

cudaError_t
ccl_cuda_strips_flip (const CclCudaWork *work, const CclFlipPass *pass, cudaStream_t stream)
{
  const CclStrips *strips = &tile_tables (work)->strips;

  return launch_cooperative (strips_flip, strips->n, threads_of (*strips), strips->size, stream,
                             work->frame, *strips, work->components, *pass);
}
