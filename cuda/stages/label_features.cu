/* cudaccl - CUDA backend: from labelled pixels to components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What follows a labeller that knows nothing of features: pieces of runs (what a run has of 64
 * pixels, as in section IV-E of paper 000) get the slot of their component's first pixel as label,
 * and with that the component becomes one like those of the other algorithms. Features are summed
 * up in one of three ways, CclFeatureStage. */

#include "cuda/device/features.cuh"
#include "cuda/device/label_map.cuh"

/* The piece of a run that starts in a lane's slot. */
struct RunPiece
{
  uint32_t start, end;
  uint32_t label; /* its own, the slot that it starts in */
  uint32_t pixel; /* the label of its pixels; CCL_NO_LABEL if none starts here */
};

/* The piece that starts in slot @slot + lane, of 64 pixels of row @part.y. */
static __device__ inline RunPiece
get_piece (const CclCudaFrame &f, const Part &part, uint32_t slot)
{
  const uint8_t *row = row_pixels (f, part.y);
  uint32_t base = 2 * slot, lane = lane_id ();
  uint32_t low = __ballot_sync (ALL_LANES, foreground (f, row, base + lane));
  uint32_t high = __ballot_sync (ALL_LANES, foreground (f, row, base + WARP_LANES + lane));
  uint64_t pixels = low | (uint64_t) high << 32, starts = pixels & ~(pixels << 1), rest;
  uint32_t x = 2 * lane + (starts >> 2 * lane & 1 ? 0 : 1);
  RunPiece piece = { base + x, 0, part.row + slot + lane, CCL_NO_LABEL };

  if (!(starts >> x & 1))
    return piece;
  rest = ~(pixels >> x);
  piece.end = piece.start + (rest ? __ffsll (rest) - 1 : 64);
  piece.pixel = f.labelled.pixels[(size_t) part.y * f.labelled.pitch + piece.start];
  return piece;
}

/* The slot of the first pixel of the component whose pixels are labelled @label. */
static __device__ inline uint32_t
component_of (const CclCudaFrame &f, uint32_t label)
{
  return f.labelled.firsts ? f.labelled.firsts[label] : label / 2;
}

/* The root of a component is the block that comes first. Its first pixel is in the same layer, two
 * rows or, of a volume, two slices, but not always in that block. */
static __global__ void
find_firsts (CclCudaFrame f)
{
  uint32_t layer; /* the label of its first block */
  Part part;

  if (!get_part (f, &part))
    return;
  layer = part.y / f.labelled.layer_rows * f.labelled.layer_blocks;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    RunPiece piece = get_piece (f, part, slot);

    if (piece.pixel != CCL_NO_LABEL && piece.pixel >= layer)
      atomicMin (&f.labelled.firsts[piece.pixel], piece.label);
  }
}

/* Fills in the slots' labels, and readies the roots for features: @sums: with those of their own
 * piece. */
static __global__ void
enter_pieces (CclCudaFrame f, bool sums)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    RunPiece piece = get_piece (f, part, slot);
    uint32_t component = CCL_NO_LABEL;

    if (slot + lane_id () >= part.to)
      continue;
    if (piece.pixel != CCL_NO_LABEL)
      component = component_of (f, piece.pixel);
    f.labels[piece.label] = component;
    if (component == piece.label) {
      f.starts[component] = piece.start;
      features_set (f, component,
                    sums ? sums_of_run (f, piece.start, piece.end, part.y) : sums_of_nothing ());
    }
  }
}

/* CCL_FEATURES_PIXELS: every pixel is added to its component. */
static __global__ void
features_of_pixels (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    for (uint32_t i = 0; i < 2; i++) {
      uint32_t x = 2 * slot + i * WARP_LANES + lane_id (), label = CCL_NO_LABEL;

      if (x < f.width)
        label = f.labelled.pixels[(size_t) part.y * f.labelled.pitch + x];
      if (label != CCL_NO_LABEL)
        feature_update (f, component_of (f, label), sums_of_run (f, x, x + 1, part.y));
    }
  }
}

/* CCL_FEATURES_RUNS: every piece of a run is (paper 000, algorithm 6). With @detect, for
 * CCL_FEATURES_RUNS_CD, pieces of a warp that are of one component are summed up before (paper 003,
 * algorithm 3). */
static __global__ void
features_of_runs (CclCudaFrame f, bool detect)
{
  HeldComponent held = held_nothing ();
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    RunPiece piece = get_piece (f, part, slot);
    uint32_t component = CCL_NO_LABEL;
    Sums s = sums_of_nothing ();

    if (piece.pixel != CCL_NO_LABEL)
      component = f.labels[piece.label];
    if (component == piece.label)
      component = CCL_NO_LABEL; /* its own features are there */
    if (component != CCL_NO_LABEL)
      s = sums_of_run (f, piece.start, piece.end, part.y);
    if (detect)
      feature_update_held (f, &held, component, s);
    else if (component != CCL_NO_LABEL)
      feature_update (f, component, s);
  }
  held_flush (f, &held);
}

extern "C" cudaError_t
ccl_cuda_label_and_analyse (const CclCudaFrame *f, cudaStream_t stream)
{
  dim3 block (WARP_LANES, PART_WARPS);
  unsigned parts = part_blocks (f);
  size_t firsts = f->labelled.n_blocks * sizeof *f->labelled.firsts;
  cudaError_t error = f->label (f, stream);

  ccl_cuda_stage_labelled (f);
  if (error == cudaSuccess && f->labelled.firsts) {
    error = cudaMemsetAsync (f->labelled.firsts, 0xff, firsts, stream);
    find_firsts<<<parts, block, 0, stream>>> (*f);
    ccl_cuda_stage (f, "first pixels", stream);
  }
  if (error != cudaSuccess)
    return error;
  enter_pieces<<<parts, block, 0, stream>>> (*f, f->feature_stage != CCL_FEATURES_PIXELS);
  ccl_cuda_stage (f, "runs", stream);
  if (f->feature_stage == CCL_FEATURES_PIXELS)
    features_of_pixels<<<parts, block, 0, stream>>> (*f);
  else
    features_of_runs<<<parts, block, 0, stream>>> (*f, f->feature_stage != CCL_FEATURES_RUNS);
  ccl_cuda_stage (f, "features", stream);
  return cudaGetLastError ();
}

/* The label map: the pixels of a slot are of one component. */
static __global__ void
paint (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    const uint32_t *labels =
        &f.labelled.pixels[(size_t) part.y * f.labelled.pitch + (size_t) 2 * slot];
    uint2 both = *(const uint2 *) labels;
    uint32_t label = min (both.x, both.y), number = 0;

    if (label != CCL_NO_LABEL)
      number = f.numbers[component_of (f, label)];
    paint_pixel (f, 2 * slot, part.y, both.x != CCL_NO_LABEL ? number : 0);
    paint_pixel (f, 2 * slot + 1, part.y, both.y != CCL_NO_LABEL ? number : 0);
  }
}

extern "C" cudaError_t
ccl_cuda_label_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  paint<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  return cudaGetLastError ();
}
