/* cudaccl - CUDA backend: the tile algorithm, inside of a strip
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A strip is a tile as wide as the frame. So its components are in canonical order already, and it
 * has two neighbours only. A block looks at its strip and at the last row of the one above, which
 * belongs to it as well: where the two meet, nothing has to be compared any more. What a component
 * here and one above have in common is a run of that row. */

#ifndef CCL_CUDA_STRIP_CUH
#define CCL_CUDA_STRIP_CUH

#include "cuda/barrier.cuh"
#include "cuda/tile_label.cuh"

#define RUNS_OF_WORD 16

/* Warps of a block that have words do what is inside of the strip. Some others do what is between
 * strips meanwhile. */

struct Strip
{
  uint32_t index;
  uint32_t y;                 /* of its first row */
  uint32_t word, row;         /* where this thread's word is; row 0 is the one above the strip */
  uint32_t label;             /* of its first component */
  uint32_t runs, shared_runs; /* all, and those of row 0, which come first */
  uint32_t components;        /* those that reach into row 0 come first */
};

static __device__ inline Strip
strip_of_block (const CclStrips &strips)
{
  uint32_t row = threadIdx.x / strips.words;
  Strip strip = { blockIdx.x, blockIdx.x * strips.height, threadIdx.x - row * strips.words, row,
                  blockIdx.x * strips.capacity };

  return strip;
}

static __device__ inline uint32_t
load_strip_word (const CclCudaFrame &f, const Strip &strip)
{
  uint32_t x = strip.word * WARP_LANES, y = strip.y + strip.row - 1; /* far away above the frame */

  return strip.row <= f.strips.height && x < f.width && y < f.height
             ? foreground32 (f, row_pixels (f, y), x)
             : 0;
}

/* The lanes of whole warps that meet at one of the block's barriers, other than __syncthreads(). */
static __device__ inline void
sync_some (uint32_t barrier, uint32_t threads)
{
  asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

#define WORDS_BARRIER 1
#define SEAM_BARRIER 2

/* As join(), in shared memory. */
static __device__ inline void
join_shared (uint32_t *parents, uint32_t run1, uint32_t run2)
{
  const volatile uint32_t *seen = parents;

  while (run1 != run2) {
    uint32_t high = max (run1, run2), low = min (run1, run2);
    uint32_t high_parent = seen[high], low_parent = seen[low];

    if (high_parent == high) {
      high_parent = atomicMin (&parents[high], low_parent);
      if (high_parent == high)
        return;
    }
    run1 = high_parent;
    run2 = low_parent;
  }
}

/* Merges the runs of this thread's word with those that they touch in the row above: those that
 * start there follow the first, and what the others connect is often connected then. */
static __device__ inline void
merge_strip_word (const CclCudaFrame &f, const TileRuns &s, bool inner)
{
  uint32_t i = threadIdx.x, a = i - f.strips.words, todo = 0, rest = 0;
  uint32_t last = CCL_NO_LABEL;
  Rows r = {};

  if (i >= f.strips.words) {
    r.current = s.words[i];
    r.above = s.words[a];
    r.current_before = inner && s.words[i - 1] >> 31;
    r.above_before = inner && s.words[a - 1] >> 31;
    todo = (uint32_t) touching (f, r);
  }
  for (; todo; todo &= todo - 1) {
    int x = __ffs (todo) - 1;
    uint32_t starts = starts_to (s.starts[i], r.current >> x & 1 ? x : x - 1);
    uint32_t above = starts_to (s.starts[a], r.above >> x & 1 ? x : x - 1);

    if (starts > 0 && starts != last)
      s.parents[s.before[i] + starts - 1] = s.before[a] + above - 1;
    else
      rest |= todo & -todo;
    last = starts;
  }
  __syncthreads ();
  for (; rest; rest &= rest - 1) {
    int x = __ffs (rest) - 1;
    uint32_t starts = starts_to (s.starts[i], r.current >> x & 1 ? x : x - 1);
    uint32_t above = starts_to (s.starts[a], r.above >> x & 1 ? x : x - 1);

    join_shared (s.parents, s.before[i] + starts - 1, s.before[a] + above - 1);
  }
}

/* Finds the runs of a strip and which of them belong together. */
static __device__ inline void
find_strip_runs (const CclCudaFrame &f, const TileRuns &s, Strip *strip)
{
  uint32_t i = threadIdx.x, word = s.words[i];
  bool inner = strip->word > 0;

  s.starts[i] = word & ~(word << 1 | (inner ? s.words[i - 1] >> 31 : 0));
  s.before[i] = block_scan (__popc (s.starts[i]), &strip->runs);
  for (uint32_t run = i; run < strip->runs; run += blockDim.x) {
    s.parents[run] = run;
    /* There are no more components than runs, and these stores take a while. */
    __stcg (&f.labels[strip->label + run], strip->label + run);
  }
  __syncthreads ();
  strip->shared_runs = s.before[f.strips.words];
  merge_strip_word (f, s, inner);
  __syncthreads ();
}

/* The number of roots among the runs before @run. */
static __device__ inline uint32_t
roots_before (const TileRuns &s, uint32_t run)
{
  return s.roots_before[run / WARP_LANES] +
         __popc (s.roots[run / WARP_LANES] & bits_below (run % WARP_LANES));
}

static __device__ inline bool
is_root (const TileRuns &s, uint32_t run)
{
  return s.roots[run / WARP_LANES] >> run % WARP_LANES & 1;
}

/* Writes the first pixels of the components that begin in this thread's word. */
static __device__ inline void
store_firsts (const CclCudaFrame &f, const TileRuns &s, const Strip &strip)
{
  uint32_t run = s.before[threadIdx.x], x = strip.word * WARP_LANES, c = strip.label;

  if (strip.row == 0 || s.starts[threadIdx.x] == 0)
    return;
  c += roots_before (s, run);
  for (uint32_t starts = s.starts[threadIdx.x]; starts; starts &= starts - 1) {
    if (is_root (s, run++))
      __stcg (&f.strips.firsts[c++], (strip.row - 1) << 16 | (x + __ffs (starts) - 1));
  }
}

/* Writes the features of the strip's components. */
static __device__ inline void
sum_strip (const CclCudaFrame &f, Shared *s, const Strip &strip)
{
  Tile tile = { 0, 0, strip.y };
  uint32_t word = strip.row > 0 ? s->words[threadIdx.x] : 0, threads = f.strips.threads;

  shared_layout_sums (s, f.strips.size - (uint32_t) tile_runs_size (blockDim.x), strip.runs, false);
  s->firsts = NULL;
  for (uint32_t first = 0; first < strip.components; first += s->pass) {
    uint32_t count = min (strip.components - first, s->pass);

    clear_sums (f, s->sums, count, threads);
    sync_some (WORDS_BARRIER, threads);
    sum_word (f, *s, strip.word * WARP_LANES, strip.row - 1, word, first, count);
    sync_some (WORDS_BARRIER, threads);
    for (uint32_t c = threadIdx.x; c < count; c += threads)
      features_set (f, strip.label + first + c, sums_in_frame (f, s->sums, tile, c));
    if (first + count < strip.components)
      sync_some (WORDS_BARRIER, threads);
  }
}

/* Tells the strip below which components its row 0 is of. */
static __device__ inline void
publish_bottom (const CclCudaFrame &f, const TileRuns &s, const Strip &strip, uint32_t round)
{
  const CclStrips &strips = f.strips;
  uint32_t i = threadIdx.x - strips.threads, last = s.before[strips.height * strips.words];
  uint16_t *bottom = strips.bottom + (size_t) strip.index * strips.words * RUNS_OF_WORD;

  for (uint32_t run = last + i; run < strip.runs; run += strips.seam_threads)
    __stcg (&bottom[run - last], (uint16_t) s.parents[run]);
  sync_some (SEAM_BARRIER, strips.seam_threads);
  if (i == 0) {
    __threadfence ();
    __stcg (&strips.published[strip.index], round << 31);
  }
}

/* Waits until the strip above has told. */
static __device__ inline void
await_strip_above (const CclCudaFrame &f, const Strip &strip, uint32_t round)
{
  if (threadIdx.x == f.strips.threads) {
    while (round_of (load_acquire (&f.strips.published[strip.index - 1])) != round)
      ;
  }
  sync_some (SEAM_BARRIER, f.strips.seam_threads);
}

/* The label of what is above a run of row 0. */
static __device__ inline uint32_t
label_above (const CclCudaFrame &f, const Strip &strip, uint32_t run)
{
  uint32_t above = strip.index - 1;

  return above * f.strips.capacity +
         __ldcg (&f.strips.bottom[(size_t) above * f.strips.words * RUNS_OF_WORD + run]);
}

/* Merges components with those above, by the runs that they have in common. First each follows the
 * one of its first run: that makes chains from strip to strip, which all threads shorten together.
 * What the other runs connect is often connected already. */
static __device__ inline void
merge_with_above (const CclCudaFrame &f, const TileRuns &s, const Strip &strip, uint32_t round)
{
  uint32_t *labels = f.labels, i = threadIdx.x - f.strips.threads;

  if (strip.shared_runs == 0)
    return;
  await_strip_above (f, strip, round);
  for (uint32_t run = i; run < strip.shared_runs; run += f.strips.seam_threads) {
    if (is_root (s, run)) {
      uint32_t label = strip.label + s.parents[run], above = label_above (f, strip, run);
      uint32_t found = atomicMin (&labels[label], above);

      above = compress (labels, label, above);
      if (found != label)
        join (labels, found, above);
    }
  }
  sync_some (SEAM_BARRIER, f.strips.seam_threads);
  for (uint32_t run = i; run < strip.shared_runs; run += f.strips.seam_threads) {
    if (!is_root (s, run))
      join (labels, label_above (f, strip, run), strip.label + s.parents[run]);
  }
}

#endif
