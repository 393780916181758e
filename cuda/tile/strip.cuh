/* cudaccl - CUDA backend: the tile algorithm, the components of a strip
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A strip is a tile as wide as the frame. So its components are in canonical order already, and it
 * has two neighbours only. A block looks at its strip and at the last row of the one above, which
 * is its own row 0: where the two meet, nothing has to be compared any more. What a component here
 * and one above have in common is a run of that row. */

#ifndef CCL_CUDA_STRIP_CUH
#define CCL_CUDA_STRIP_CUH

#include "cuda/device/grid_barrier.cuh"
#include "cuda/device/rows.cuh"
#include "cuda/device/unionfind.cuh"

#define RUNS_OF_WORD 16

/* What all blocks wait for. */
enum
{
  MERGED,   /* labels are a forest of all components of all strips */
  RESOLVED, /* and roots have all features; only waited for where the area decides */
  COUNTED,  /* and what goes into the result is known */
};

/* A block's strip, as one of its threads sees it. */
struct Strip
{
  uint32_t index;
  uint32_t round;             /* of the launch; see barrier.cuh */
  uint32_t y;                 /* of its first row, which is row 1 here */
  uint32_t word, row;         /* where this thread's word is */
  uint32_t label;             /* of its first component */
  uint32_t runs, shared_runs; /* all, and those of row 0, which come first */
  uint32_t components;        /* those that reach into row 0 come first */
};

/* What a block keeps in shared memory of it. */
struct StripRuns
{
  uint32_t *words, *starts, *before; /* [threads] pixels, first pixels of runs, runs before */
  uint32_t *roots;                   /* [threads / 2] which runs are roots, bit by bit */
  uint32_t *roots_before;            /* [threads / 2] */
  uint32_t *parents;                 /* [runs] union-find over runs; then components */
};

/* Bytes of it before parents. */
static __host__ __device__ inline size_t
strip_runs_size (uint32_t threads)
{
  return 16 * (size_t) threads;
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

/* Those of a block's threads that have words sum up what is inside of the strip, while some others
 * see to what is between strips. Each kind has a barrier of its own, and passes it as often as the
 * other: compute-sanitizer's racecheck seems to compare how many barriers two threads have passed,
 * whichever those were, and saw races behind the next barrier that all have in common. */
enum
{
  WORD_THREADS = 1,
  SEAM_THREADS,
};

#define PAIRED_BARRIERS 3 /* of each kind for a seam, and for a turn of sums */

static __device__ inline void
sync_threads (uint32_t kind, uint32_t threads)
{
  asm volatile("bar.sync %0, %1;" : : "r"(kind), "r"(threads) : "memory");
}

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
load_strip_word (const CclCudaFrame &f, const Strip &strip)
{
  uint32_t x = strip.word * WARP_LANES, y = strip.y + strip.row - 1; /* far away above the frame */

  return strip.row <= f.strips.height && x < f.width && y < f.height
             ? foreground32 (f, row_pixels (f, y), x)
             : 0;
}

/* Exclusive sum over the threads of the block; @total: over all. To be called once. */
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

/* join() of unionfind.cuh in shared memory, where all writes are atomic, as others read meanwhile.
 */
static __device__ inline void
join_shared (uint32_t *parents, uint32_t run1, uint32_t run2)
{
  const volatile uint32_t *seen = parents;
  uint32_t from1 = run1, from2 = run2;

  while (run1 != run2) {
    uint32_t parent1, parent2;

    if (run1 < run2) {
      swap (&run1, &run2);
      swap (&from1, &from2);
    }
    parent1 = seen[run1];
    parent2 = seen[run2];
    if (parent1 == run1) {
      parent1 = atomicMin (&parents[run1], parent2);
      if (parent1 == run1)
        return;
    } else if (from1 != run1) {
      atomicMin (&parents[from1], parent1);
    }
    if (from2 != run2 && parent2 != run2)
      atomicMin (&parents[from2], parent2);
    from1 = run1;
    from2 = run2;
    run1 = parent1;
    run2 = parent2;
  }
}

/* compress() of unionfind.cuh in shared memory. */
static __device__ inline void
compress_shared (uint32_t *parents, uint32_t run)
{
  volatile uint32_t *seen = parents;
  uint32_t parent = seen[run], grandparent;

  while ((grandparent = seen[parent]) != parent) {
    atomicMin (&parents[run], grandparent);
    parent = grandparent;
  }
}

/* A pair of runs that touch each other, by pixel @x of a word and of the one above it. */
struct TouchingRuns
{
  uint32_t starts;     /* runs that start in the word, up to this one */
  uint32_t run, above; /* numbers of the two */
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

/* Unites the runs of this thread's word with those that they touch in the row above. Those that
 * start here follow the first one, and what the others connect is often connected then. */
static __device__ inline void
unite_word (const CclCudaFrame &f, const StripRuns &s, const Strip &strip)
{
  uint32_t i = threadIdx.x, a = i - f.strips.words, todo = 0, rest = 0, last = 0;

  if (strip.row > 0) {
    bool inner = strip.word > 0;
    Rows r = { s.words[i], s.words[a], inner && s.words[i - 1] >> 31,
               inner && s.words[a - 1] >> 31 };

    todo = (uint32_t) touching (f, r);
  }
  for (; todo; todo &= todo - 1) {
    TouchingRuns t = touching_runs (f.strips, s, __ffs (todo) - 1);

    if (t.starts > last)
      s.parents[t.run] = t.above;
    else
      rest |= todo & -todo;
    last = t.starts;
  }
  __syncthreads ();
  for (; rest; rest &= rest - 1) {
    TouchingRuns t = touching_runs (f.strips, s, __ffs (rest) - 1);

    join_shared (s.parents, t.run, t.above);
  }
}

/* The pixels of a strip and of the row above it that the frame has. */
static __device__ inline uint32_t
pixels_of_strip (const CclCudaFrame &f, const Strip &strip)
{
  return f.width * (min (f.strips.height, f.height - strip.y) + (strip.index > 0));
}

#define RUN_BITS 16 /* counts of runs; those of pixels are above */

/* Finds the runs of a strip, whose words are there. Where it has no background, there is no more to
 * find out: they are one component, and this returns true. */
static __device__ inline bool
find_strip_runs (const CclCudaFrame &f, const StripRuns &s, Strip *strip)
{
  uint32_t i = threadIdx.x, word = s.words[i], total;
  uint32_t left = strip->word > 0 ? s.words[i - 1] >> 31 : 0;
  bool full;

  s.starts[i] = word & ~(word << 1 | left);
  s.before[i] =
      sum_before (__popc (s.starts[i]) | __popc (word) << RUN_BITS, &total) & bits_below (RUN_BITS);
  strip->runs = total & bits_below (RUN_BITS);
  full = total >> RUN_BITS == pixels_of_strip (f, *strip);
  for (uint32_t run = i; run < strip->runs; run += blockDim.x) {
    s.parents[run] = full ? 0 : run;
    /* There are no more components than runs. This early because it takes a while. */
    __stcg (&f.labels[strip->label + run], strip->label + run);
  }
  if (full) { /* run 0 is the root of all */
    strip->components = 1;
    if (i < (strip->runs + WARP_LANES - 1) / WARP_LANES) {
      s.roots[i] = i == 0;
      s.roots_before[i] = i > 0;
    }
  }
  __syncthreads ();
  strip->shared_runs = s.before[f.strips.words];
  return full;
}

static __device__ inline bool
is_root (const StripRuns &s, uint32_t run)
{
  return s.roots[run / WARP_LANES] >> run % WARP_LANES & 1;
}

/* Roots among the runs before @run: the number of its component, if it is one itself. */
static __device__ inline uint32_t
count_roots_before (const StripRuns &s, uint32_t run)
{
  return s.roots_before[run / WARP_LANES] +
         __popc (s.roots[run / WARP_LANES] & bits_below (run % WARP_LANES));
}

/* Makes roots_before of the first @n roots, after a barrier for others than the first warp. Returns
 * the number of all, in all warps. */
static __device__ inline uint32_t
count_roots (const StripRuns &s, uint32_t n)
{
  uint32_t groups = (n + WARP_LANES - 1) / WARP_LANES, total = 0;

  for (uint32_t base = 0; base < groups; base += WARP_LANES) {
    uint32_t i = base + lane_id (), count = i < groups ? __popc (s.roots[i]) : 0;
    uint32_t sum = warp_scan (count);

    if (threadIdx.x < WARP_LANES && i < groups)
      s.roots_before[i] = total + sum - count;
    total += __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  }
  return total;
}

/* Finds out which runs belong together, numbers the roots densely, in order, and makes parents the
 * components of runs. */
static __device__ inline void
unite_strip_runs (const CclCudaFrame &f, const StripRuns &s, Strip *strip)
{
  uint32_t whole = (strip->runs + WARP_LANES - 1) / WARP_LANES * WARP_LANES;

  unite_word (f, s, *strip);
  __syncthreads ();
  for (uint32_t run = threadIdx.x; run < whole; run += blockDim.x) {
    uint32_t roots = __ballot_sync (ALL_LANES, run < strip->runs && s.parents[run] == run);

    if (run < strip->runs)
      compress_shared (s.parents, run);
    if (lane_id () == 0)
      s.roots[run / WARP_LANES] = roots;
  }
  __syncthreads ();
  strip->components = count_roots (s, strip->runs);
  __syncthreads ();
  for (uint32_t run = threadIdx.x; run < strip->runs; run += blockDim.x)
    s.parents[run] = count_roots_before (s, s.parents[run]);
  __syncthreads ();
}

#endif
