/* cudaccl - CUDA backend: the tile algorithm, inside of a strip
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A strip is a tile as wide as the frame. So its components are in canonical order already, and it
 * has two neighbours only. A block looks at its strip and at the last row of the one above, which
 * belongs to it as well: where the two meet, nothing has to be compared any more. What a component
 * here and one above have in common is a run of that row. */

#ifndef CCL_CUDA_STRIP_CUH
#define CCL_CUDA_STRIP_CUH

#include "cuda/tile_label.cuh"

#define RUNS_OF_WORD 16

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

/* Finds the runs of a strip and which of them belong together. */
static __device__ inline void
find_strip_runs (const CclCudaFrame &f, const TileRuns &s, Strip *strip)
{
  uint32_t i = threadIdx.x, word = s.words[i];
  bool inner = strip->word > 0;

  s.starts[i] = word & ~(word << 1 | (inner ? s.words[i - 1] >> 31 : 0));
  s.before[i] = block_scan (__popc (s.starts[i]), &strip->runs);
  for (uint32_t run = i; run < strip->runs; run += blockDim.x)
    s.parents[run] = run;
  __syncthreads ();
  strip->shared_runs = s.before[f.strips.words];
  merge_word (f, s, f.strips.words, inner);
  __syncthreads ();
}

/* The number of roots among the runs before @run. */
static __device__ inline uint32_t
roots_before (const TileRuns &s, uint32_t run)
{
  return s.roots_before[run / WARP_LANES] +
         __popc (s.roots[run / WARP_LANES] & bits_below (run % WARP_LANES));
}

/* Tells the strip below which components its row 0 is of, and makes every component a root. */
static __device__ inline void
publish_components (const CclCudaFrame &f, const TileRuns &s, const Strip &strip)
{
  const CclStrips &strips = f.strips;
  uint32_t last = s.before[strips.height * strips.words];
  uint16_t *bottom = strips.bottom + (size_t) strip.index * strips.words * RUNS_OF_WORD;

  for (uint32_t run = last + threadIdx.x; run < strip.runs; run += blockDim.x)
    __stcg (&bottom[run - last], (uint16_t) s.parents[run]);
  for (uint32_t c = threadIdx.x; c < strip.components; c += blockDim.x)
    __stcg (&f.labels[strip.label + c], strip.label + c);
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
    if (s.roots[run / WARP_LANES] >> run % WARP_LANES & 1)
      __stcg (&f.strips.firsts[c++], (strip.row - 1) << 16 | (x + __ffs (starts) - 1));
    run++;
  }
}

/* Writes the features of the strip's components. */
static __device__ inline void
sum_strip (const CclCudaFrame &f, Shared *s, const Strip &strip)
{
  Tile tile = { 0, 0, strip.y };
  uint32_t word = strip.row > 0 ? s->words[threadIdx.x] : 0;

  shared_layout_sums (s, f.strips.size - (uint32_t) tile_runs_size (blockDim.x), strip.runs, false);
  s->firsts = NULL;
  for (uint32_t first = 0; first < strip.components; first += s->pass) {
    uint32_t count = min (strip.components - first, s->pass);

    clear_sums (f, s->sums, count);
    __syncthreads ();
    sum_word (f, *s, strip.word * WARP_LANES, strip.row - 1, word, first, count);
    __syncthreads ();
    for (uint32_t c = threadIdx.x; c < count; c += blockDim.x)
      features_set (f, strip.label + first + c, sums_in_frame (f, s->sums, tile, c));
    if (first + count < strip.components)
      __syncthreads ();
  }
}

/* Merges components with those above, by the runs that they have in common. First each follows the
 * one of its first run: that makes chains from strip to strip, which all threads shorten together.
 * What the other runs connect is often connected already. */
static __device__ inline void
merge_with_above (const CclCudaFrame &f, const TileRuns &s, const Strip &strip)
{
  const CclStrips &strips = f.strips;
  const uint16_t *bottom = strips.bottom + (size_t) (strip.index - 1) * strips.words * RUNS_OF_WORD;
  uint32_t above = strip.label - strips.capacity, *labels = f.labels;

  for (uint32_t run = threadIdx.x; run < strip.shared_runs; run += blockDim.x) {
    uint32_t label = strip.label + s.parents[run];

    if (s.roots[run / WARP_LANES] >> run % WARP_LANES & 1) {
      merge (labels, above + __ldcg (&bottom[run]), label);
      compress (labels, label, __ldcg (&labels[label]));
    }
  }
  __syncthreads ();
  for (uint32_t run = threadIdx.x; run < strip.shared_runs; run += blockDim.x) {
    uint32_t label = strip.label + s.parents[run];

    if (!(s.roots[run / WARP_LANES] >> run % WARP_LANES & 1))
      merge (labels, find_halving (labels, above + __ldcg (&bottom[run])),
             find_halving (labels, label));
  }
}

#endif
