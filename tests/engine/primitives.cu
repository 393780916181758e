/* cudaccl - primitives: kernels around the device functions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/stages/stages.h"
#include "cuda/device/features.cuh"
#include "cuda/device/foreground.cuh"
#include "cuda/device/passes.cuh"
#include "cuda/device/rows.cuh"
#include "cuda/device/unionfind.cuh"
#include "cuda/tile/pieces.cuh"
#include "tests/engine/primitives.h"

#include <stdio.h>
#include <stdlib.h>

#define THREADS 256
#define WARPS (THREADS / PRIMITIVE_LANES)
#define SHARED_THREADS 512

/* The device functions under test. Only this section depends on their names and arguments. */

static CclCudaFrame
make_frame (const PrimitiveFrame *frame)
{
  CclCudaFrame f = {};

  f.pixels = frame->pixels;
  f.pitch = frame->pitch;
  f.width = frame->width;
  f.height = frame->height;
  f.threshold = frame->threshold;
  f.highest = 255;
  f.invert = frame->invert;
  f.bits = frame->bits;
  return f;
}

static CclCudaFrame
make_frame_of_threshold (uint8_t threshold, bool invert)
{
  CclCudaFrame f = {};

  f.threshold = threshold;
  f.highest = 255;
  f.invert = invert;
  return f;
}

static CclCudaFrame
make_frame_of_connectivity (unsigned connectivity)
{
  CclCudaFrame f = {};

  f.connectivity = (uint8_t) connectivity;
  return f;
}

static __device__ uint64_t
call_touching (const CclCudaFrame &f, const PrimitiveRows &rows)
{
  Rows r = { rows.current, rows.above, rows.current_before != 0, rows.above_before != 0 };

  return touching (f.connectivity, r);
}

static __device__ uint32_t
call_above4 (const CclCudaFrame &f, uint32_t bytes)
{
  return foreground4 (f, bytes);
}

static __device__ uint32_t
call_foreground_bits (const CclCudaFrame &f, const uint32_t *bytes, uint32_t words)
{
  switch (words) {
  case 2:
    return foreground_bits (f, bytes, 2);
  case 4:
    return foreground_bits (f, bytes, 4);
  case 6:
    return foreground_bits (f, bytes, 6);
  default:
    return foreground_bits (f, bytes, 8);
  }
}

static __device__ uint32_t
call_foreground32 (const CclCudaFrame &f, uint32_t x, uint32_t y)
{
  return foreground32 (f, row_pixels (f, y), x);
}

static __device__ uint32_t
call_foreground_around (const CclCudaFrame &f, uint32_t x, uint32_t y, uint32_t words)
{
  return words == 1 ? foreground_around (f, x, y, 1) : foreground_around (f, x, y, 2);
}

static __device__ uint32_t
call_divide (uint32_t n, uint32_t divisor)
{
  return divide (n, divisor, UINT32_MAX / divisor);
}

static __device__ void
call_merge (PrimitiveMerge how, uint32_t *labels, uint32_t label1, uint32_t label2)
{
  GlobalForest forest = { labels };

  switch (how) {
  case PRIMITIVE_MERGE:
    merge (forest, label1, label2);
    break;
  case PRIMITIVE_JOIN:
    join (forest, label1, label2);
    break;
  case PRIMITIVE_MERGE_AND_COMPRESS:
    merge_and_compress (forest, label1, label2);
    break;
  case PRIMITIVE_UNITE:
    unite (CachedForest{ labels }, label1, label2);
    break;
  default:
    merge (forest, label1, label2);
    find_halving (forest, label1);
    find_halving (forest, label2);
    break;
  }
}

static __device__ void
call_compress (uint32_t *labels, uint32_t label)
{
  compress (GlobalForest{ labels }, label, labels[label]);
}

static void
call_compress_pass (PrimitiveCompress how, uint32_t *labels, uint32_t n)
{
  bool in_line =
      how == PRIMITIVE_COMPRESS_PASS_IN_LINE || how == PRIMITIVE_COMPRESS_SHALLOW_IN_LINE;

  if (how == PRIMITIVE_COMPRESS_PASS || how == PRIMITIVE_COMPRESS_PASS_IN_LINE)
    ccl_cuda_compress (labels, n, in_line, NULL);
  else
    ccl_cuda_compress_shallow (labels, n, in_line, NULL);
}

static __device__ uint32_t
first_of_label (uint32_t label)
{
  return label * 40503u & 0xffff;
}

static __device__ uint32_t
call_make_link (PrimitiveShared how, uint32_t label)
{
  return how == PRIMITIVE_SHARED_PIECES ? make_link (label, first_of_label (label)) : label;
}

static __device__ uint32_t
call_parent_of_link (PrimitiveShared how, uint32_t link)
{
  return how == PRIMITIVE_SHARED_PIECES ? link_parent (link) : link;
}

/* Whether a link still has its first pixel. */
static __device__ bool
call_link_is_intact (PrimitiveShared how, uint32_t label, uint32_t link)
{
  return how != PRIMITIVE_SHARED_PIECES || link_first (link) == first_of_label (label);
}

static __device__ void
call_merge_shared (PrimitiveShared how, uint32_t *links, uint32_t n, uint32_t label1,
                   uint32_t label2)
{
  switch (how) {
  case PRIMITIVE_SHARED_JOIN:
    join (SharedForest{ links }, label1, label2);
    break;
  case PRIMITIVE_SHARED_UNITE:
    unite (CachedForest{ links }, label1, label2);
    break;
  default:
    merge (PieceForest{ links }, label1, label2);
    break;
  }
}

static __device__ void
call_compress_shared (PrimitiveShared how, uint32_t *links, uint32_t n, uint32_t label)
{
  PieceForest pieces = { links };
  SharedForest shared = { links };

  if (how == PRIMITIVE_SHARED_PIECES)
    compress (pieces, label, load_link (pieces, label));
  else
    compress (shared, label, load_link (shared, label));
}

/* The features of labels, in the engine's tables. */
typedef CclComponentTable FeatureTables;
typedef WarpAccumulator FeatureState;

static void
allocate_features (FeatureTables *f, uint32_t labels, bool moments)
{
  *f = {};
  if (cudaMalloc ((void **) &f->features, labels * sizeof *f->features) != cudaSuccess ||
      (moments && cudaMalloc ((void **) &f->moments, labels * sizeof *f->moments) != cudaSuccess))
    f->features = NULL;
}

static void
free_features (FeatureTables *f)
{
  cudaFree (f->features);
  cudaFree (f->moments);
}

static __device__ void
call_begin_features (const FeatureTables &f, uint32_t label)
{
  features_begin (f, label, record_empty ());
}

static __device__ FeatureState
call_begin_updates (void)
{
  return accumulator_empty ();
}

/* Called by all lanes of a warp. */
static __device__ void
call_update (PrimitiveUpdate how, const FeatureTables &f, FeatureState *state,
             const PrimitiveRun &run)
{
  FeatureRecord r = record_empty ();

  if (run.label != CCL_NO_LABEL)
    r = record_of_run (f, run.start, run.end, run.y);

  switch (how) {
  case PRIMITIVE_UPDATE:
    if (run.label != CCL_NO_LABEL)
      features_add (f, run.label, r);
    break;
  case PRIMITIVE_UPDATE_CD:
    features_add_warp (f, run.label, r);
    break;
  case PRIMITIVE_UPDATE_ACCUMULATED:
    accumulator_add (f, state, run.label, r);
    break;
  default:
    features_begin_warp (f, run.label, r);
    break;
  }
}

static __device__ void
call_end_updates (PrimitiveUpdate how, const FeatureTables &f, FeatureState *state)
{
  if (how == PRIMITIVE_UPDATE_ACCUMULATED)
    accumulator_flush (f, state);
}

static __device__ PrimitiveFeatures
call_read_features (const FeatureTables &f, uint32_t label)
{
  FeatureRecord s = record_load (f, label);
  PrimitiveFeatures features = {};

  features.sum_x = s.features.sum_x;
  features.sum_y = s.features.sum_y;
  features.sum_xx = s.moments.sum_xx;
  features.sum_yy = s.moments.sum_yy;
  features.sum_xy = s.moments.sum_xy;
  features.area = s.features.area;
  features.min_x = s.features.min_x;
  features.max_x = s.features.max_x;
  features.max_y = s.features.max_y;
  return features;
}

/* Kernels and their launches; nothing below depends on the functions under test. */

static unsigned
blocks_for (size_t n)
{
  return (unsigned) ((n + THREADS - 1) / THREADS);
}

static void
check_launch (const char *name)
{
  cudaError_t error = cudaGetLastError ();

  if (error == cudaSuccess)
    return;
  fprintf (stderr, "%s: %s\n", name, cudaGetErrorString (error));
  exit (EXIT_FAILURE);
}

static __device__ uint32_t
thread_index (void)
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

static __global__ void
touching_kernel (CclCudaFrame f, const PrimitiveRows *rows, uint64_t *result, uint32_t n)
{
  uint32_t i = thread_index ();

  if (i < n)
    result[i] = call_touching (f, rows[i]);
}

void
primitive_touching (unsigned connectivity, const PrimitiveRows *rows, uint64_t *result, uint32_t n)
{
  touching_kernel<<<blocks_for (n), THREADS>>> (make_frame_of_connectivity (connectivity), rows,
                                                result, n);
  check_launch ("touching");
}

static __global__ void
above4_kernel (CclCudaFrame f, const uint32_t *bytes, uint32_t *result, uint32_t n)
{
  uint32_t i = thread_index ();

  if (i < n)
    result[i] = call_above4 (f, bytes[i]);
}

void
primitive_above4 (uint8_t threshold, const uint32_t *bytes, uint32_t *result, uint32_t n)
{
  above4_kernel<<<blocks_for (n), THREADS>>> (make_frame_of_threshold (threshold, false), bytes,
                                              result, n);
  check_launch ("above4");
}

static __global__ void
foreground_bits_kernel (CclCudaFrame f, const uint32_t *bytes, uint32_t words, uint32_t *result,
                        uint32_t n)
{
  uint32_t i = thread_index (), own[8];

  if (i >= n)
    return;
  for (uint32_t k = 0; k < 8; k++)
    own[k] = bytes[(size_t) i * 8 + k];
  result[i] = call_foreground_bits (f, own, words);
}

void
primitive_foreground_bits (uint8_t threshold, bool invert, const uint32_t *bytes, uint32_t words,
                           uint32_t *result, uint32_t n)
{
  foreground_bits_kernel<<<blocks_for (n), THREADS>>> (make_frame_of_threshold (threshold, invert),
                                                       bytes, words, result, n);
  check_launch ("foreground_bits");
}

static __global__ void
foreground32_kernel (CclCudaFrame f, uint32_t *result)
{
  uint32_t i = thread_index (), y = i / f.width, x = i - y * f.width;

  if (y < f.height)
    result[i] = call_foreground32 (f, x, y);
}

void
primitive_foreground32 (const PrimitiveFrame *frame, uint32_t *result)
{
  foreground32_kernel<<<blocks_for ((size_t) frame->width * frame->height), THREADS>>> (
      make_frame (frame), result);
  check_launch ("foreground32");
}

static __device__ WordAround
call_word (const uint32_t *words)
{
  return { words[0], words[1], words[2] };
}

static __global__ void
dilate_kernel (const uint32_t *words, uint32_t reach, uint32_t *result, uint32_t n)
{
  uint32_t i = thread_index (), dilated[1];
  WordAround word[1];

  if (i >= n)
    return;
  word[0] = call_word (words + 3 * i);
  dilate_words (word, reach, dilated);
  result[i] = dilated[0];
}

void
primitive_dilate (const uint32_t *words, uint32_t reach, uint32_t *result, uint32_t n)
{
  dilate_kernel<<<blocks_for (n), THREADS>>> (words, reach, result, n);
  check_launch ("dilate");
}

template <uint32_t size>
static __global__ void
median_kernel (const uint32_t *words, uint32_t *result, uint32_t n)
{
  uint32_t i = thread_index ();
  RowCount counts[size];

  if (i >= n)
    return;
  for (uint32_t k = 0; k < size; k++)
    counts[k] = count_row<size> (call_word (words + 3 * (size * i + k)));
  result[i] = median_of_rows<size> (counts);
}

void
primitive_median (const uint32_t *words, uint32_t size, uint32_t *result, uint32_t n)
{
  (size == 3 ? median_kernel<3> : median_kernel<5>) <<<blocks_for (n), THREADS>>> (words, result,
                                                                                   n);
  check_launch ("median");
}

static __global__ void
foreground_around_kernel (CclCudaFrame f, uint32_t words, uint32_t *result)
{
  uint32_t columns = f.width + PRIMITIVE_AROUND;
  uint32_t i = thread_index (), row = i / columns, x = i - row * columns;

  if (row < f.height + 2)
    result[i] = call_foreground_around (f, x, row - 1, words);
}

void
primitive_foreground_around (const PrimitiveFrame *frame, uint32_t words, uint32_t *result)
{
  size_t n = (size_t) (frame->width + PRIMITIVE_AROUND) * (frame->height + 2);

  foreground_around_kernel<<<blocks_for (n), THREADS>>> (make_frame (frame), words, result);
  check_launch ("foreground_around");
}

static __global__ void
divide_kernel (const uint32_t *numbers, uint32_t *result, uint32_t n)
{
  uint32_t i = thread_index ();

  if (i < n)
    result[i] = call_divide (numbers[2 * i], numbers[2 * i + 1]);
}

void
primitive_divide (const uint32_t *numbers, uint32_t *result, uint32_t n)
{
  divide_kernel<<<blocks_for (n), THREADS>>> (numbers, result, n);
  check_launch ("divide");
}

/* All lanes of a warp take part or none. */
static __global__ void
warp_sums_kernel (const uint32_t *values, uint32_t *scans, uint32_t *sums, uint32_t n)
{
  uint32_t i = thread_index ();

  if (i >= n)
    return;
  scans[i] = warp_scan (values[i]);
  sums[i] = warp_sum (values[i]);
}

void
primitive_warp_sums (const uint32_t *values, uint32_t *scans, uint32_t *sums, uint32_t n)
{
  warp_sums_kernel<<<blocks_for (n), THREADS>>> (values, scans, sums, n);
  check_launch ("warp_sums");
}

static __global__ void
merge_kernel (PrimitiveMerge how, uint32_t *labels, const uint32_t *edges, uint32_t n)
{
  uint32_t i = thread_index ();

  if (i >= n)
    return;
  if (how == PRIMITIVE_MIXED)
    how = (PrimitiveMerge) (PRIMITIVE_MERGE + i % 3);
  call_merge (how, labels, edges[2 * i], edges[2 * i + 1]);
}

void
primitive_merge (PrimitiveMerge how, uint32_t *labels, const uint32_t *edges, uint32_t n_edges)
{
  merge_kernel<<<blocks_for (n_edges), THREADS>>> (how, labels, edges, n_edges);
  check_launch ("merge");
}

static __global__ void
compress_kernel (uint32_t *labels, uint32_t n)
{
  uint32_t label = thread_index ();

  if (label < n)
    call_compress (labels, label);
}

void
primitive_compress (PrimitiveCompress how, uint32_t *labels, uint32_t n)
{
  if (how == PRIMITIVE_COMPRESS)
    compress_kernel<<<blocks_for (n), THREADS>>> (labels, n);
  else
    call_compress_pass (how, labels, n);
  check_launch ("compress");
}

static __global__ void
merge_shared_kernel (PrimitiveShared how, uint32_t *labels, const uint32_t *edges, uint32_t n,
                     uint32_t n_edges, uint32_t *intact)
{
  __shared__ uint32_t links[PRIMITIVE_SHARED_LABELS];

  labels += (size_t) blockIdx.x * n;
  edges += (size_t) blockIdx.x * n_edges * 2;
  for (uint32_t label = threadIdx.x; label < n; label += blockDim.x)
    links[label] = call_make_link (how, label);
  __syncthreads ();
  for (uint32_t i = threadIdx.x; i < n_edges; i += blockDim.x)
    call_merge_shared (how, links, n, edges[2 * i], edges[2 * i + 1]);
  __syncthreads ();
  for (uint32_t label = threadIdx.x; label < n; label += blockDim.x)
    call_compress_shared (how, links, n, label);
  __syncthreads ();
  for (uint32_t label = threadIdx.x; label < n; label += blockDim.x) {
    if (!call_link_is_intact (how, label, links[label]))
      *intact = 0;
    labels[label] = call_parent_of_link (how, links[label]);
  }
}

void
primitive_merge_shared (PrimitiveShared how, uint32_t *labels, const uint32_t *edges,
                        uint32_t blocks, uint32_t n, uint32_t n_edges, uint32_t *intact)
{
  merge_shared_kernel<<<blocks, SHARED_THREADS>>> (how, labels, edges, n, n_edges, intact);
  check_launch ("merge_shared");
}

static __global__ void
begin_features_kernel (FeatureTables f, uint32_t labels)
{
  uint32_t label = thread_index ();

  if (label < labels)
    call_begin_features (f, label);
}

static __global__ void
update_kernel (PrimitiveUpdate how, FeatureTables f, const PrimitiveRun *runs, uint32_t warps,
               uint32_t rounds)
{
  uint32_t warp = thread_index () / PRIMITIVE_LANES, lane = threadIdx.x % PRIMITIVE_LANES;
  FeatureState state = call_begin_updates ();

  if (warp >= warps)
    return;
  for (uint32_t round = 0; round < rounds; round++)
    call_update (how, f, &state, runs[((size_t) warp * rounds + round) * PRIMITIVE_LANES + lane]);
  call_end_updates (how, f, &state);
}

static __global__ void
read_features_kernel (FeatureTables f, PrimitiveFeatures *result, uint32_t labels)
{
  uint32_t label = thread_index ();

  if (label < labels)
    result[label] = call_read_features (f, label);
}

void
primitive_features (PrimitiveUpdate how, bool moments, const PrimitiveRun *runs, uint32_t warps,
                    uint32_t rounds, PrimitiveFeatures *result, uint32_t labels)
{
  FeatureTables f;

  allocate_features (&f, labels, moments);
  if (!f.features) {
    fprintf (stderr, "features: no device memory\n");
    exit (EXIT_FAILURE);
  }
  begin_features_kernel<<<blocks_for (labels), THREADS>>> (f, labels);
  update_kernel<<<(warps + WARPS - 1) / WARPS, THREADS>>> (how, f, runs, warps, rounds);
  read_features_kernel<<<blocks_for (labels), THREADS>>> (f, result, labels);
  check_launch ("features");
  free_features (&f);
}
