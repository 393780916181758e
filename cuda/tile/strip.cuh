/* cudaccl - CUDA backend: the tile algorithm, the components of a strip
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A strip is a tile as wide as the frame. So its components are in raster order already, and it has
 * only two neighbours. A block also reads the last row of the strip above, as its own row 0. Then a
 * component of the strip and one of the strip above that touch share a run of that row, and no
 * pixels need to be compared across the border. */

#ifndef CCL_CUDA_STRIP_CUH
#define CCL_CUDA_STRIP_CUH

#include "cuda/device/foreground.cuh"
#include "cuda/device/grid_barrier.cuh"
#include "cuda/device/local_features.cuh"
#include "cuda/device/rows.cuh"
#include "cuda/device/unionfind.cuh"
#include "cuda/tile/tile.h"

#define WORD_RUNS 16 /* in a word of 32 pixels, at most */

/* The grid barriers, CclStrips.barriers. */
enum
{
  MERGED,   /* the parents of all strips' components are one forest */
  RESOLVED, /* roots have all their features; awaited only if areas decide */
  COUNTED,  /* the components of each strip that are in the result are counted */
};

/* A block's strip, as one of its threads sees it. */
struct Strip
{
  uint32_t index;
  uint32_t round;             /* of the launch (grid_barrier.cuh) */
  uint32_t y;                 /* of its first row, which is row 1 of the block */
  uint32_t word, row;         /* of this thread */
  uint32_t label;             /* of the first component */
  uint32_t runs, shared_runs; /* the numbers of all runs, and of those of row 0, which come first */
  uint32_t components;        /* those in row 0 come first */
};

/* The runs of a strip in its block's shared memory. */
struct StripRuns
{
  uint32_t *words, *starts,
      *before;            /* [threads] pixels, first pixels of runs, the number of runs before */
  uint32_t *roots;        /* [threads / 2] which runs are roots, as bits */
  uint32_t *roots_before; /* [threads / 2] */
  uint32_t *parents;      /* [runs] union-find; later the index of a run's component */
};

/* The bytes before parents. */
static __host__ __device__ inline size_t
strip_runs_size (uint32_t threads)
{
  return CCL_PLAN_STRIP_THREAD * (size_t) threads;
}

static __device__ inline StripRuns
strip_runs_layout (uint32_t *memory, uint32_t threads)
{
  StripRuns s;

  s.words = memory;
  s.starts = s.words + threads;
  s.before = s.starts + threads;
  s.roots = s.before + threads;
  s.roots_before = s.roots + threads / 2;
  s.parents = s.roots_before + threads / 2;
  return s;
}

/* The word threads of a block sum up features in the strip while its border threads merge across
 * the border with the strip above. Each kind has its own barrier, and both pass theirs equally
 * often. Only compute-sanitizer's racecheck needs that: it seems to compare how many barriers two
 * threads have passed, regardless of which ones. */
enum
{
  WORD_THREADS = 1,
  BORDER_THREADS,
};

#define PAIRED_BARRIERS 3 /* of each kind: for the border, and for each turn of sum_features() */

static __device__ inline Strip
strip_of_block (const CclStrips &strips)
{
  uint32_t row = threadIdx.x / strips.words;
  Strip strip = { blockIdx.x,
                  next_round (&strips.barriers[MERGED]),
                  blockIdx.x * strips.height,
                  threadIdx.x - row * strips.words,
                  row,
                  blockIdx.x * strips.capacity };

  return strip;
}

static __device__ inline uint32_t
load_strip_word (const CclCudaFrame &f, const CclStrips &strips, const Strip &strip)
{
  uint32_t x = strip.word * WARP_LANES;
  uint32_t y = strip.y + strip.row - 1; /* UINT32_MAX for the row above the frame */

  return strip.row <= strips.height && x < f.width && y < f.height
             ? foreground32 (f, row_pixels (f, y), x)
             : 0;
}

/* Returns the sum of @value over all threads of the block before this one. @total: the sum over all
 * threads. Call this only once. */
static __device__ inline uint32_t
sum_before (uint32_t value, uint32_t *total)
{
  __shared__ uint32_t warps[WARP_LANES];
  uint32_t sum = warp_scan (value), of_warp, sums;

  if (lane_id () == WARP_LANES - 1)
    warps[threadIdx.x / WARP_LANES] = sum;
  __syncthreads ();
  of_warp = lane_id () < blockDim.x / WARP_LANES ? warps[lane_id ()] : 0;
  sums = warp_scan (of_warp);
  *total = __shfl_sync (ALL_LANES, sums, WARP_LANES - 1);
  return __shfl_sync (ALL_LANES, sums - of_warp, threadIdx.x / WARP_LANES) + sum - value;
}

/* Two runs that touch at a pixel of a word and of the word above it. */
struct TouchingRuns
{
  uint32_t starts;     /* the number of runs that start in the word, up to this one */
  uint32_t run, above; /* the two */
};

static __device__ inline TouchingRuns
touching_runs (const CclStrips &strips, const StripRuns &s, int x)
{
  uint32_t i = threadIdx.x, a = i - strips.words;
  TouchingRuns t;

  t.starts = starts_to (s.starts[i], s.words[i] >> x & 1 ? x : x - 1);
  t.run = s.before[i] + t.starts - 1;
  t.above = s.before[a] + starts_to (s.starts[a], s.words[a] >> x & 1 ? x : x - 1) - 1;
  return t;
}

/* Merges the runs of this thread's word with the runs that they touch in the row above. A run that
 * starts here takes the first of these as its parent; the other pairs are often connected by
 * then. */
static __device__ inline void
merge_runs_of_word (const CclCudaFrame &f, const CclStrips &strips, const StripRuns &s,
                    const Strip &strip)
{
  uint32_t i = threadIdx.x, a = i - strips.words, todo = 0, rest = 0, last = 0;

  if (strip.row > 0) {
    bool inner = strip.word > 0;
    Rows r = { s.words[i], s.words[a], inner && s.words[i - 1] >> 31,
               inner && s.words[a - 1] >> 31 };

    todo = (uint32_t) touching (f.connectivity, r);
  }
  for (; todo; todo &= todo - 1) {
    TouchingRuns t = touching_runs (strips, s, __ffs (todo) - 1);

    if (t.starts > last)
      s.parents[t.run] = t.above;
    else
      rest |= todo & -todo;
    last = t.starts;
  }
  __syncthreads ();
  for (; rest; rest &= rest - 1) {
    TouchingRuns t = touching_runs (strips, s, __ffs (rest) - 1);

    join (SharedForest{ s.parents }, t.run, t.above);
  }
}

/* The number of pixels of a strip and the row above it that are inside the frame. */
static __device__ inline uint32_t
pixels_of_strip (const CclCudaFrame &f, const CclStrips &strips, const Strip &strip)
{
  return f.width * (min (strips.height, f.height - strip.y) + (strip.index > 0));
}

#define RUN_BITS 16 /* for counts of runs; the bits above count pixels */

/* Finds the runs of a strip, whose words are in shared memory. Returns true if the strip has no
 * background: then the runs are one component, which is complete. */
static __device__ inline bool
find_runs (const CclCudaFrame &f, const CclComponentTable &t, const CclStrips &strips,
           const StripRuns &s, Strip *strip)
{
  uint32_t i = threadIdx.x, word = s.words[i], total;
  uint32_t left = strip->word > 0 ? s.words[i - 1] >> 31 : 0;
  bool full;

  s.starts[i] = word & ~(word << 1 | left);
  s.before[i] =
      sum_before (__popc (s.starts[i]) | __popc (word) << RUN_BITS, &total) & bits_below (RUN_BITS);
  strip->runs = total & bits_below (RUN_BITS);
  full = total >> RUN_BITS == pixels_of_strip (f, strips, *strip);
  for (uint32_t run = i; run < strip->runs; run += blockDim.x) {
    s.parents[run] = full ? 0 : run;
    /* There are at most as many components as runs. Initialize their parents early, since stores
     * take a while. */
    __stcg (&t.parents[strip->label + run], strip->label + run);
  }
  if (full) { /* run 0 is the root */
    strip->components = 1;
    if (i < (strip->runs + WARP_LANES - 1) / WARP_LANES) {
      s.roots[i] = i == 0;
      s.roots_before[i] = i > 0;
    }
  }
  __syncthreads ();
  strip->shared_runs = s.before[strips.words];
  return full;
}

static __device__ inline bool
run_is_root (const StripRuns &s, uint32_t run)
{
  return s.roots[run / WARP_LANES] >> run % WARP_LANES & 1;
}

/* The number of roots before @run: for a root, the index of its component. */
static __device__ inline uint32_t
count_roots_before (const StripRuns &s, uint32_t run)
{
  return s.roots_before[run / WARP_LANES] +
         __popc (s.roots[run / WARP_LANES] & bits_below (run % WARP_LANES));
}

/* Scans the first @n bits of roots into roots_before; warps other than the first must pass a
 * barrier before they read that. Returns the total, in all warps. */
static __device__ inline uint32_t
scan_roots (const StripRuns &s, uint32_t n)
{
  uint32_t chunks = (n + WARP_LANES - 1) / WARP_LANES, total = 0;

  for (uint32_t base = 0; base < chunks; base += WARP_LANES) {
    uint32_t i = base + lane_id (), count = i < chunks ? __popc (s.roots[i]) : 0;
    uint32_t sum = warp_scan (count);

    if (threadIdx.x < WARP_LANES && i < chunks)
      s.roots_before[i] = total + sum - count;
    total += __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  }
  return total;
}

/* Merges runs into components, numbers these densely in raster order, and replaces the parents of
 * runs by their components. */
static __device__ inline void
merge_runs (const CclCudaFrame &f, const CclStrips &strips, const StripRuns &s, Strip *strip)
{
  SharedForest forest = { s.parents };
  uint32_t whole = (strip->runs + WARP_LANES - 1) / WARP_LANES * WARP_LANES;

  merge_runs_of_word (f, strips, s, *strip);
  __syncthreads ();
  for (uint32_t run = threadIdx.x; run < whole; run += blockDim.x) {
    uint32_t roots = __ballot_sync (ALL_LANES, run < strip->runs && s.parents[run] == run);

    if (run < strip->runs)
      compress (forest, run, load_link (forest, run));
    if (lane_id () == 0)
      s.roots[run / WARP_LANES] = roots;
  }
  __syncthreads ();
  strip->components = scan_roots (s, strip->runs);
  __syncthreads ();
  for (uint32_t run = threadIdx.x; run < strip->runs; run += blockDim.x)
    s.parents[run] = count_roots_before (s, s.parents[run]);
  __syncthreads ();
}

/* Features, with y in the strip */

#define STRIP_AREA_BITS 15

typedef LocalRecord<N_FEATURES> StripRecord;

/* Returns a table for as many components as fit behind the runs. */
static __device__ inline LocalTable
strip_table (const CclStrips &strips, const StripRuns &s, uint32_t runs)
{
  uint32_t room = strips.size - (uint32_t) strip_runs_size (blockDim.x) - 4 * runs;
  LocalTable table = { s.parents + runs, 0, room / (uint32_t) sizeof (StripRecord) };

  return table;
}

/* Returns the record of pixels @start to @end - 1 of the word at @x in row @y. */
static __device__ inline StripRecord
record_of_pixels (uint32_t x, uint32_t start, uint32_t end, uint32_t y)
{
  uint32_t area = end - start;
  StripRecord r;

  r.values[AREA_Y] = area | (area * y) << STRIP_AREA_BITS;
  r.values[SUM_X] = area * (2 * x + start + end - 1) / 2;
  r.values[MIN_X] = x + start;
  r.values[MAX_X] = x + end - 1;
  r.values[MAX_Y] = y;
  return r;
}

/* Returns the end of the sequence of set pixels that begins at @start. */
static __device__ inline uint32_t
end_of_pixels (uint32_t word, uint32_t start)
{
  uint32_t gap = ~(word >> start);

  return gap ? min (start + __ffs (gap) - 1, (uint32_t) WARP_LANES) : WARP_LANES;
}

/* The pixels of a word from @end on. */
static __device__ inline uint32_t
pixels_from (uint32_t end)
{
  return end < WARP_LANES ? ~0u << end : 0;
}

/* Initializes the features of the components whose first runs start in this thread's word, and
 * writes their first pixels. Returns the remaining pixels of the word. */
static __device__ inline uint32_t
begin_features (const CclStrips &strips, const StripRuns &s, const Strip &strip,
                const LocalTable &table)
{
  uint32_t i = threadIdx.x, word = s.words[i], rest = word, x = strip.word * WARP_LANES;
  uint32_t run = s.before[i], component;

  if (s.starts[i] == 0)
    return strip.row > 0 ? rest : 0;
  component = count_roots_before (s, run);
  for (uint32_t starts = s.starts[i]; starts; starts &= starts - 1, run++) {
    uint32_t start = __ffs (starts) - 1, end = end_of_pixels (word, start);
    uint32_t c = component - table.first;
    StripRecord r = record_of_pixels (x, start, end, strip.row - 1);

    if (!run_is_root (s, run))
      continue;
    component++;
    rest &= bits_below (start) | pixels_from (end);
    if (c >= table.capacity)
      continue;
    if (strip.row == 0)
      r = { { 0, 0, UINT32_MAX, 0, 0 } }; /* these pixels belong to the strip above */
    else
      __stcg (&strips.firsts[strip.label + component - 1], (strip.row - 1) << 16 | (x + start));
    local_begin (table, c, r, false);
  }
  return strip.row > 0 ? rest : 0;
}

/* Takes the next pixels of one of the table's components from @rest, the remaining pixels of this
 * thread's word. Returns the component, and its record in @r; CCL_NO_LABEL if there are none. */
static __device__ inline uint32_t
take_pixels (const StripRuns &s, const Strip &strip, const LocalTable &table, uint32_t *rest,
             StripRecord *r)
{
  uint32_t i = threadIdx.x, component = CCL_NO_LABEL;

  while (*rest) {
    uint32_t start = __ffs (*rest) - 1, end = end_of_pixels (*rest, start);
    uint32_t run = s.before[i] + starts_to (s.starts[i], (int) start) - 1;
    uint32_t c = s.parents[run] - table.first;
    StripRecord pixels = record_of_pixels (strip.word * WARP_LANES, start, end, strip.row - 1);

    if (c < table.capacity) {
      if (component == CCL_NO_LABEL) {
        component = c;
        *r = pixels;
      } else if (c == component) {
        r->values[AREA_Y] += pixels.values[AREA_Y];
        r->values[SUM_X] += pixels.values[SUM_X];
        r->values[MAX_X] = pixels.values[MAX_X];
      } else {
        break;
      }
    }
    *rest &= pixels_from (end);
  }
  return component;
}

static __device__ inline CclFeatures
features_in_frame (const LocalTable &table, const Strip &strip, uint32_t c)
{
  uint32_t area_y = local_value (table, AREA_Y, c);
  uint64_t area = area_y & ((1u << STRIP_AREA_BITS) - 1), sum_y = area_y >> STRIP_AREA_BITS;
  CclFeatures features = { local_value (table, SUM_X, c),
                           sum_y + area * strip.y,
                           (uint32_t) area,
                           local_value (table, MIN_X, c),
                           local_value (table, MAX_X, c),
                           strip.y + local_value (table, MAX_Y, c) };

  return features;
}

/* Writes the features and first pixels of the strip's components, in turns of as many as fit.
 * Called by the word threads, which pass PAIRED_BARRIERS barriers per turn; the last one keeps the
 * next turn from starting too early. */
static __device__ inline void
sum_features (const CclComponentTable &t, const CclStrips &strips, const StripRuns &s,
              const Strip &strip)
{
  LocalTable table = strip_table (strips, s, strip.runs);
  uint32_t threads = strips.threads;

  for (; table.first < strip.components; table.first += table.capacity) {
    uint32_t rest = begin_features (strips, s, strip, table);
    uint32_t n = min (strip.components - table.first, table.capacity);

    sync_threads (WORD_THREADS, threads);
    while (__any_sync (ALL_LANES, rest)) {
      StripRecord r = {};
      uint32_t component = take_pixels (s, strip, table, &rest, &r);

      local_add_warp<N_FEATURES> (
          table, component, false, [&] { return r; }, AtomicCombineIfNew{});
    }
    sync_threads (WORD_THREADS, threads);
    for (uint32_t c = threadIdx.x; c < n; c += threads)
      t.features[strip.label + table.first + c] = features_in_frame (table, strip, c);
    sync_threads (WORD_THREADS, threads);
  }
}

/* The border with the strip above
 *
 * The border threads call these functions, one after the other. Together they pass PAIRED_BARRIERS
 * barriers, and more if sum_features() does. */

static __device__ inline uint32_t
border_thread (const CclStrips &strips)
{
  return threadIdx.x - strips.threads;
}

/* Where a strip's block writes the components of the runs in its last row. */
static __device__ inline uint16_t *
bottom_of_strip (const CclStrips &strips, uint32_t index)
{
  return strips.bottom + (size_t) index * strips.words * WORD_RUNS;
}

/* Publishes the components of the last row, for the strip below (S2). */
static __device__ inline void
publish_bottom (const CclStrips &strips, const StripRuns &s, const Strip &strip)
{
  uint32_t last = s.before[strips.height * strips.words], n = strip.runs - last;
  uint16_t *bottom = bottom_of_strip (strips, strip.index);

  for (uint32_t i = border_thread (strips); i < n; i += strips.border_threads)
    __stcg (&bottom[i], (uint16_t) s.parents[last + i]);
  sync_threads (BORDER_THREADS, strips.border_threads);
  if (border_thread (strips) == 0)
    store_release (&strips.published[strip.index], strip.round);
}

/* Waits until the strip above has published its last row, if there are runs in it. If there are
 * several warps, the waiting thread is not in the warp that publishes (S3). */
static __device__ inline void
await_strip_above (const CclStrips &strips, const Strip &strip)
{
  if (strip.shared_runs > 0 && border_thread (strips) == strips.border_threads - 1)
    await_round (&strips.published[strip.index - 1], strip.round);
  sync_threads (BORDER_THREADS, strips.border_threads);
}

/* Merges components with those above by the runs that they share. First each is merged with the one
 * above its first run, which makes chains from strip to strip that all threads shorten together;
 * the other runs are often connected by then. */
static __device__ inline void
merge_with_above (const CclComponentTable &t, const CclStrips &strips, const StripRuns &s,
                  const Strip &strip)
{
  GlobalForest forest = { t.parents };
  const uint16_t *bottom = bottom_of_strip (strips, strip.index - 1);
  uint32_t above = strip.label - strips.capacity;

  await_strip_above (strips, strip);
  for (uint32_t run = border_thread (strips); run < strip.shared_runs;
       run += strips.border_threads) {
    if (run_is_root (s, run))
      merge_and_compress (forest, strip.label + s.parents[run], above + __ldcg (&bottom[run]));
  }
  sync_threads (BORDER_THREADS, strips.border_threads);
  for (uint32_t run = border_thread (strips); run < strip.shared_runs;
       run += strips.border_threads) {
    if (!run_is_root (s, run))
      join (forest, above + __ldcg (&bottom[run]), strip.label + s.parents[run]);
  }
}

/* Passes as many barriers as sum_features() does after its first turn. */
static __device__ inline void
pass_paired_barriers (const CclStrips &strips, const StripRuns &s, const Strip &strip)
{
  uint32_t capacity = strip_table (strips, s, strip.runs).capacity;

  for (uint32_t first = capacity; first < strip.components; first += capacity) {
    for (int i = 0; i < PAIRED_BARRIERS; i++)
      sync_threads (BORDER_THREADS, strips.border_threads);
  }
}

/* Finds the components of this block's strip and their features, and merges them with those of the
 * strip above. */
static __device__ inline void
find_strip_components (const CclCudaFrame &f, const CclComponentTable &t, const CclStrips &strips,
                       const StripRuns &s, Strip *strip)
{
  s.words[threadIdx.x] = load_strip_word (f, strips, *strip);
  if (!__syncthreads_or (s.words[threadIdx.x] != 0 && strip->row > 0)) {
    /* No strip waits for this in the current round, but the bit must flip for the next one (S2). */
    if (threadIdx.x == 0)
      __stcg (&strips.published[strip->index], strip->round);
    return;
  }
  if (!find_runs (f, t, strips, s, strip))
    merge_runs (f, strips, s, strip);
  if (threadIdx.x < strips.threads) {
    sum_features (t, strips, s, *strip);
  } else {
    publish_bottom (strips, s, *strip);
    merge_with_above (t, strips, s, *strip);
    pass_paired_barriers (strips, s, *strip);
  }
}

#endif
