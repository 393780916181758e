/* cudaccl - CUDA backend: the tile algorithm, between strips
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_STRIP_SEAMS_CUH
#define CCL_CUDA_STRIP_SEAMS_CUH

#include "cuda/tile/strip_sums.cuh"
#include "cuda/device/unionfind.cuh"

/* The functions here are for the threads that have no words, and to be called one after the other:
 * together they have PAIRED_BARRIERS, and more where sum_strip() has. */

static __device__ inline uint32_t
seam_thread (const CclStrips &strips)
{
  return threadIdx.x - strips.threads;
}

/* Where a strip tells the components of the runs in its last row. */
static __device__ inline uint16_t *
bottom_of_strip (const CclStrips &strips, uint32_t index)
{
  return strips.bottom + (size_t) index * strips.words * RUNS_OF_WORD;
}

/* Tells the strip below which components its row 0 is of. */
static __device__ inline void
publish_bottom (const CclStrips &strips, const StripRuns &s, const Strip &strip)
{
  uint32_t last = s.before[strips.height * strips.words], n = strip.runs - last;
  uint16_t *bottom = bottom_of_strip (strips, strip.index);

  for (uint32_t i = seam_thread (strips); i < n; i += strips.seam_threads)
    __stcg (&bottom[i], (uint16_t) s.parents[last + i]);
  sync_threads (SEAM_THREADS, strips.seam_threads);
  if (seam_thread (strips) == 0)
    store_release (&strips.published[strip.index], strip.round);
}

/* Waits until the strip above has told, if that matters, in another warp than the one that does so
 * here. */
static __device__ inline void
await_strip_above (const CclStrips &strips, const Strip &strip)
{
  if (strip.shared_runs > 0 && seam_thread (strips) == strips.seam_threads - 1)
    await_round (&strips.published[strip.index - 1], strip.round);
  sync_threads (SEAM_THREADS, strips.seam_threads);
}

/* Merges components with those above, by the runs that they have in common. First each follows the
 * one of its first run: that makes chains from strip to strip, which all threads shorten together.
 * What the other runs connect is often connected already. */
static __device__ inline void
merge_with_above (const CclCudaFrame &f, const StripRuns &s, const Strip &strip)
{
  const CclStrips &strips = f.strips;
  const uint16_t *bottom = bottom_of_strip (strips, strip.index - 1);
  uint32_t above = strip.label - strips.capacity;

  await_strip_above (strips, strip);
  for (uint32_t run = seam_thread (strips); run < strip.shared_runs; run += strips.seam_threads) {
    if (is_root (s, run))
      merge_and_compress (f.labels, strip.label + s.parents[run], above + __ldcg (&bottom[run]));
  }
  sync_threads (SEAM_THREADS, strips.seam_threads);
  for (uint32_t run = seam_thread (strips); run < strip.shared_runs; run += strips.seam_threads) {
    if (!is_root (s, run))
      join (f.labels, above + __ldcg (&bottom[run]), strip.label + s.parents[run]);
  }
}

/* Passes as many barriers as sum_strip() has in its further turns; those of the first one are
 * above.
 */
static __device__ inline void
keep_up_with_sums (const CclCudaFrame &f, const StripRuns &s, const Strip &strip)
{
  uint32_t pass = strip_table (f.strips, s, strip.runs).pass;

  for (uint32_t first = pass; first < strip.components; first += pass) {
    for (int i = 0; i < PAIRED_BARRIERS; i++)
      sync_threads (SEAM_THREADS, f.strips.seam_threads);
  }
}

#endif
