/* cudaccl - CUDA backend: the tile algorithm, the features of a strip's components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_STRIP_SUMS_CUH
#define CCL_CUDA_STRIP_SUMS_CUH

#include "cuda/device/features.cuh"
#include "cuda/tile/strip.cuh"

/* Sums over the pixels of a strip, with y in it: 32 bits suffice. */
struct StripSums
{
  uint32_t area_y; /* area in the lower STRIP_AREA_BITS, sum of y above */
  uint32_t sum_x;
  uint32_t min_x, max_x, max_y;
};

#define STRIP_AREA_BITS 15

/* The same of several components. */
struct StripTable
{
  uint32_t first, pass; /* the first of them, and their number at most */
  uint32_t *area_y, *sum_x, *min_x, *max_x, *max_y;
};

/* Puts it behind the runs. */
static __device__ inline StripTable
strip_table (const CclStrips &strips, const StripRuns &s, uint32_t runs)
{
  uint32_t room = strips.size - (uint32_t) strip_runs_size (blockDim.x) - 4 * runs;
  uint32_t *memory = s.parents + runs, pass = room / (uint32_t) sizeof (StripSums);
  StripTable t = {
    0, pass, memory, memory + pass, memory + 2 * pass, memory + 3 * pass, memory + 4 * pass
  };

  return t;
}

/* The pixels @start to, without, @end of a word at @x, in row @y. */
static __device__ inline StripSums
sums_of_piece (uint32_t x, uint32_t start, uint32_t end, uint32_t y)
{
  uint32_t area = end - start;
  StripSums s = { area | (area * y) << STRIP_AREA_BITS, area * (2 * x + start + end - 1) / 2,
                  x + start, x + end - 1, y };

  return s;
}

/* Where the pixels from @start on end in a word. */
static __device__ inline uint32_t
end_of_piece (uint32_t word, uint32_t start)
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

/* Begins the sums of the components whose first runs begin in this thread's word, and writes their
 * first pixels. Returns what is left of the word. */
static __device__ inline uint32_t
begin_sums (const CclCudaFrame &f, const StripRuns &s, const Strip &strip, const StripTable &t)
{
  uint32_t i = threadIdx.x, word = s.words[i], rest = word, x = strip.word * WARP_LANES;
  uint32_t run = s.before[i], component;

  if (s.starts[i] == 0)
    return strip.row > 0 ? rest : 0;
  component = count_roots_before (s, run);
  for (uint32_t starts = s.starts[i]; starts; starts &= starts - 1, run++) {
    uint32_t start = __ffs (starts) - 1, end = end_of_piece (word, start);
    uint32_t c = component - t.first;
    StripSums sums = sums_of_piece (x, start, end, strip.row - 1);

    if (!is_root (s, run))
      continue;
    component++;
    rest &= bits_below (start) | pixels_from (end);
    if (c >= t.pass)
      continue;
    if (strip.row == 0) {
      sums = { 0, 0, UINT32_MAX, 0, 0 }; /* these pixels are not the strip's */
    } else {
      __stcg (&f.strips.firsts[strip.label + component - 1], (strip.row - 1) << 16 | (x + start));
    }
    t.area_y[c] = sums.area_y;
    t.sum_x[c] = sums.sum_x;
    t.min_x[c] = sums.min_x;
    t.max_x[c] = sums.max_x;
    t.max_y[c] = sums.max_y;
  }
  return strip.row > 0 ? rest : 0;
}

/* Takes the component of the first pixels that are @rest of this thread's word, as far as it goes,
 * or CCL_NO_LABEL if there is none in @t. */
static __device__ inline uint32_t
take_pieces (const StripRuns &s, const Strip &strip, const StripTable &t, uint32_t *rest,
             StripSums *sums)
{
  uint32_t i = threadIdx.x, component = CCL_NO_LABEL;

  while (*rest) {
    uint32_t start = __ffs (*rest) - 1, end = end_of_piece (*rest, start);
    uint32_t run = s.before[i] + starts_to (s.starts[i], (int) start) - 1;
    uint32_t c = s.parents[run] - t.first;
    StripSums piece = sums_of_piece (strip.word * WARP_LANES, start, end, strip.row - 1);

    if (c < t.pass) {
      if (component == CCL_NO_LABEL) {
        component = c;
        *sums = piece;
      } else if (c == component) {
        sums->area_y += piece.area_y;
        sums->sum_x += piece.sum_x;
        sums->max_x = piece.max_x;
      } else {
        break;
      }
    }
    *rest &= pixels_from (end);
  }
  return component;
}

/* Extents are looked at first: most are known already. */
static __device__ inline void
add_to_sums (const StripTable &t, uint32_t c, const StripSums &s)
{
  atomicAdd (&t.area_y[c], s.area_y);
  atomicAdd (&t.sum_x[c], s.sum_x);
  if (((volatile uint32_t *) t.min_x)[c] > s.min_x)
    atomicMin (&t.min_x[c], s.min_x);
  if (((volatile uint32_t *) t.max_x)[c] < s.max_x)
    atomicMax (&t.max_x[c], s.max_x);
  if (((volatile uint32_t *) t.max_y)[c] < s.max_y)
    atomicMax (&t.max_y[c], s.max_y);
}

/* Adds the lanes' sums to their components. Where many lanes have that of the first one, they are
 * summed up before: same addresses serialize. */
static __device__ inline void
add_lanes (const StripTable &t, uint32_t c, StripSums s)
{
#if __CUDA_ARCH__ >= 800
  uint32_t lanes = __ballot_sync (ALL_LANES, c != CCL_NO_LABEL), leader = __ffs (lanes) - 1, same;

  if (!lanes)
    return;
  same = __ballot_sync (ALL_LANES, c == __shfl_sync (ALL_LANES, c, leader));
  if (c != CCL_NO_LABEL && __popc (same) >= REDUCE_LANES && same >> lane_id () & 1) {
    s.area_y = __reduce_add_sync (same, s.area_y);
    s.sum_x = __reduce_add_sync (same, s.sum_x);
    s.min_x = __reduce_min_sync (same, s.min_x);
    s.max_x = __reduce_max_sync (same, s.max_x);
    s.max_y = __reduce_max_sync (same, s.max_y);
    if (lane_id () != leader)
      return;
  }
#endif
  if (c != CCL_NO_LABEL)
    add_to_sums (t, c, s);
}

static __device__ inline CclFeatures
features_in_frame (const StripTable &t, const Strip &strip, uint32_t c)
{
  uint64_t area = t.area_y[c] & ((1u << STRIP_AREA_BITS) - 1), y = t.area_y[c] >> STRIP_AREA_BITS;
  CclFeatures features = { t.sum_x[c], y + area * strip.y, (uint32_t) area,
                           t.min_x[c], t.max_x[c],         strip.y + t.max_y[c] };

  return features;
}

/* Writes the features of the strip's components, as many at a time as there is room for, and their
 * first pixels. For the threads with words: PAIRED_BARRIERS a turn, the last one only to make them
 * as many. */
static __device__ inline void
sum_strip (const CclCudaFrame &f, const StripRuns &s, const Strip &strip)
{
  StripTable t = strip_table (f.strips, s, strip.runs);
  uint32_t threads = f.strips.threads;

  for (; t.first < strip.components; t.first += t.pass) {
    uint32_t rest = begin_sums (f, s, strip, t), n = min (strip.components - t.first, t.pass);

    sync_threads (WORD_THREADS, threads);
    while (__any_sync (ALL_LANES, rest)) {
      StripSums sums = {};
      uint32_t component = take_pieces (s, strip, t, &rest, &sums);

      add_lanes (t, component, sums);
    }
    sync_threads (WORD_THREADS, threads);
    for (uint32_t c = threadIdx.x; c < n; c += threads)
      f.features[strip.label + t.first + c] = features_in_frame (t, strip, c);
    sync_threads (WORD_THREADS, threads);
  }
}

#endif
