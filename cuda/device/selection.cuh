/* cudaccl - CUDA backend: which roots are in the result, and where
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_SELECTION_CUH
#define CCL_CUDA_SELECTION_CUH

#include "cuda/runtime/api.h"
#include "cuda/tables/components.h"
#include "cuda/device/warp.cuh"
#include "cuda/tables/frame.h"
#include "cuda/tables/result.h"

/* Whether a label is in the result. */
enum Selection
{
  DROPPED, /* not a root, or outside of the limits */
  TIED,    /* has the smallest area in top-k: kept while there is room */
  KEPT,
};

/* Whether the bounding box of the component @label is within the limits. @y: the component's first
 * row. */
static __device__ inline bool
passes_box (const CclComponentTable &t, const CclCudaResult &r, uint32_t label,
            const CclFeatures &features, uint32_t y)
{
  uint32_t height;

  if (features.max_x - features.min_x + 1 < r.min_width)
    return false;
  if (r.min_height <= 1)
    return true;
  height =
      t.depth_sums ? t.depth_sums[label].max_y - t.depth_sums[label].min_y : features.max_y - y;
  return height + 1 >= r.min_height;
}

/* Whether a component is within the limits. */
static __device__ inline bool
passes (const CclComponentTable &t, const CclCudaResult &r, uint32_t label,
        const CclFeatures &features, uint32_t y)
{
  if (features.area < r.min_area || features.area > r.max_area)
    return false;
  return max (r.min_width, r.min_height) <= 1 || passes_box (t, r, label, features, y);
}

static __device__ inline Selection
select_component (const CclComponentTable &t, const CclCudaResult &r, uint32_t label,
                  const CclFeatures &features, uint32_t y)
{
  if (!passes (t, r, label, features, y) || features.area < r.top_k.area)
    return DROPPED;
  return features.area == r.top_k.area ? TIED : KEPT;
}

static __device__ inline Selection
select_label (const CclComponentTable &t, const CclCudaResult &r, uint32_t label, uint32_t y)
{
  return t.parents[label] == label ? select_component (t, r, label, t.features[label], y) : DROPPED;
}

/* Whether every root is in the result; then roots can be counted before all features are known. */
static __host__ __device__ inline bool
keeps_all (const CclCudaFrame &f, const CclCudaResult &r)
{
  return r.min_area <= 1 && r.max_area >= (uint64_t) f.width * f.height && r.min_width <= 1 &&
         r.min_height <= 1 && r.top_k.area == 0;
}

/* Packs counts of kept and tied roots into one word. */
static __device__ inline uint64_t
pack_counts (uint32_t kept, uint32_t tied)
{
  return (uint64_t) kept << 32 | tied;
}

/* The place in the result of the component after so many kept and tied roots. */
static __device__ inline uint32_t
place (const CclCudaResult &r, uint64_t counts)
{
  return (uint32_t) (counts >> 32) + min ((uint32_t) counts, r.top_k.ties);
}

static_assert (sizeof (CclComponent) == 72 && offsetof (CclComponent, label) == 48 &&
                   offsetof (CclComponent, y) == 56 && offsetof (CclComponent, height) == 64,
               "write_features() writes components as words of 64 bits");
static_assert (sizeof (CclFeatures) == 32, "features are one sector of memory");

/* A warp's components, to write them in one go. */
struct WriteBuffer
{
  uint64_t words[WARP_LANES][sizeof (CclComponent) / 8];
  uint32_t places[WARP_LANES];
};

/* Writes each lane's component @root, whose first pixel is (@first_x, @y), if it is in the result.
 * @before: counts of the roots before it. Components are gathered in shared memory, so that the
 * warp stores them side by side. All lanes call this. */
static __device__ inline void
write_features (const CclComponentTable &t, const CclCudaResult &r, WriteBuffer *buffer,
                uint32_t root, const CclFeatures &features, uint32_t first_x, uint32_t y,
                Selection selection, uint64_t before)
{
  uint32_t at = place (r, before), lane = lane_id (), n;
  bool in = at < r.capacity &&
            (selection == KEPT || (selection == TIED && (uint32_t) before < r.top_k.ties));
  uint32_t lanes = __ballot_sync (ALL_LANES, in), slot = __popc (lanes & bits_below (lane));
  const uint32_t size = sizeof (CclComponent) / 8;

  if (in) {
    uint64_t *words = buffer->words[slot];

    buffer->places[slot] = at;
    if (r.labels)
      r.labels[root] = at + 1;
    words[0] = features.area;
    words[1] = features.sum_x;
    words[2] = features.sum_y;
    words[3] = t.moments ? t.moments[root].sum_xx : 0;
    words[4] = t.moments ? t.moments[root].sum_yy : 0;
    words[5] = t.moments ? t.moments[root].sum_xy : 0;
    words[6] = (at + 1) | (uint64_t) features.min_x << 32;
    words[7] = y | (uint64_t) (features.max_x - features.min_x + 1) << 32;
    words[8] = (features.max_y - y + 1) | (uint64_t) first_x << 32;
  }
  __syncwarp ();
  n = __popc (lanes) * size;
  for (uint32_t i = lane; i < n; i += WARP_LANES)
    ((uint64_t *) &r.components[buffer->places[i / size]])[i % size] =
        ((const uint64_t *) buffer->words)[i];
  __syncwarp ();
}

/* Does the same, and reads the features. */
static __device__ inline void
write_warp (const CclComponentTable &t, const CclCudaResult &r, WriteBuffer *buffer, uint32_t root,
            uint32_t first_x, uint32_t y, Selection selection, uint64_t before)
{
  CclFeatures features = selection != DROPPED ? t.features[root] : CclFeatures{};

  write_features (t, r, buffer, root, features, first_x, y, selection, before);
}

/* Counts the component @root in the histogram. @y: its first row. */
static __device__ inline void
count_area (const CclComponentTable &t, const CclCudaResult &r, const CclTopKSearch &search,
            uint32_t root, uint32_t y)
{
  const CclFeatures &features = t.features[root];
  int bin = passes (t, r, root, features, y) ? ccl_topk_bin (&search, features.area) : -1;

  if (bin >= 0)
    atomicAdd (&r.histogram[bin], 1);
}

static inline cudaError_t
clear_histogram (const CclCudaResult *r, cudaStream_t stream)
{
  return CCL_CUDA (cudaMemsetAsync, r->histogram, 0, CCL_TOPK_BINS * sizeof *r->histogram, stream);
}

#endif
