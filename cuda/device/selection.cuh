/* cudaccl - CUDA backend: which roots become components, and where
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_COMPACT_CUH
#define CCL_CUDA_COMPACT_CUH

#include "cuda/device/bits.cuh"

#include <stddef.h>

/* How a label stands to the result. */
enum Verdict
{
  OUT,  /* no root, or not of a wanted area */
  TIED, /* of the cut's area: in while there is room */
  KEPT,
};

/* Whether a component of @area pixels passes the area filter. */
static __device__ inline bool
passes (const CclCudaFrame &f, uint32_t area)
{
  return area >= f.min_area && area <= f.max_area;
}

static __device__ inline Verdict
judge_area (const CclCudaFrame &f, uint32_t area)
{
  if (!passes (f, area) || area < f.cut.area)
    return OUT;
  return area == f.cut.area ? TIED : KEPT;
}

static __device__ inline Verdict
judge (const CclCudaFrame &f, uint32_t label)
{
  return f.labels[label] == label ? judge_area (f, f.features[label].area) : OUT;
}

/* Whether every root becomes a component, so that they can be counted before all areas are known.
 */
static __host__ __device__ inline bool
keeps_all (const CclCudaFrame &f)
{
  return f.min_area <= 1 && f.max_area >= (uint64_t) f.width * f.height && f.cut.area == 0;
}

/* Counts of kept and tied roots in one number. */
static __device__ inline uint64_t
pack_counts (uint32_t kept, uint32_t tied)
{
  return (uint64_t) kept << 32 | tied;
}

/* How many components such counts make: the place of the root that comes after them. */
static __device__ inline uint32_t
place (const CclCudaFrame &f, uint64_t counts)
{
  return (uint32_t) (counts >> 32) + min ((uint32_t) counts, f.cut.ties);
}

static_assert (sizeof (CclComponent) == 72 && offsetof (CclComponent, label) == 48 &&
                   offsetof (CclComponent, y) == 56 && offsetof (CclComponent, height) == 64,
               "write_warp() writes components as words of 64 bits");
static_assert (sizeof (CclFeatures) == 32, "features are one sector of memory");

/* What a warp needs to write its components in one go. */
struct WriteBuffer
{
  uint64_t words[WARP_LANES][sizeof (CclComponent) / 8];
  uint32_t places[WARP_LANES];
};

/* Writes each lane's component @root of @features, whose first pixel is in row @y, unless it is cut
 * off.
 * @before: the roots before it. Components are gathered in shared memory, so that the warp stores
 * them side by side. */
static __device__ inline void
write_features (const CclCudaFrame &f, WriteBuffer *buffer, uint32_t root,
                const CclFeatures &features, uint32_t first_x, uint32_t y, Verdict verdict,
                uint64_t before)
{
  uint32_t at = place (f, before), lane = lane_id (), n;
  bool in =
      at < f.capacity && (verdict == KEPT || (verdict == TIED && (uint32_t) before < f.cut.ties));
  uint32_t lanes = __ballot_sync (ALL_LANES, in), slot = __popc (lanes & bits_below (lane));
  const uint32_t size = sizeof (CclComponent) / 8;

  if (in) {
    uint64_t *words = buffer->words[slot];

    buffer->places[slot] = at;
    if (f.numbers)
      f.numbers[root] = at + 1;
    words[0] = features.area;
    words[1] = features.sum_x;
    words[2] = features.sum_y;
    words[3] = f.moments ? f.moments[root].sum_xx : 0;
    words[4] = f.moments ? f.moments[root].sum_yy : 0;
    words[5] = f.moments ? f.moments[root].sum_xy : 0;
    words[6] = (at + 1) | (uint64_t) features.min_x << 32;
    words[7] = y | (uint64_t) (features.max_x - features.min_x + 1) << 32;
    words[8] = (features.max_y - y + 1) | (uint64_t) first_x << 32;
  }
  __syncwarp ();
  n = __popc (lanes) * size;
  for (uint32_t i = lane; i < n; i += WARP_LANES)
    ((uint64_t *) &f.components[buffer->places[i / size]])[i % size] =
        ((const uint64_t *) buffer->words)[i];
  __syncwarp ();
}

/* The same where the features have not been read. */
static __device__ inline void
write_warp (const CclCudaFrame &f, WriteBuffer *buffer, uint32_t root, uint32_t first_x, uint32_t y,
            Verdict verdict, uint64_t before)
{
  CclFeatures features = verdict != OUT ? f.features[root] : CclFeatures{};

  write_features (f, buffer, root, features, first_x, y, verdict, before);
}

/* One more in the bin of the component @root. */
static __device__ inline void
count_area (const CclCudaFrame &f, const CclCutSearch &search, uint32_t root)
{
  uint32_t area = f.features[root].area;
  int bin = passes (f, area) ? ccl_cut_bin (&search, area) : -1;

  if (bin >= 0)
    atomicAdd (&f.histogram[bin], 1);
}

static inline cudaError_t
clear_histogram (const CclCudaFrame *f, cudaStream_t stream)
{
  return cudaMemsetAsync (f->histogram, 0, CCL_CUT_BINS * sizeof *f->histogram, stream);
}

#endif
