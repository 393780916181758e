/* cudaccl - CUDA backend: from labelled pixels to components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stage that labelling algorithms share. A segment, the part of a run in 64 pixels (as in
 * Hennequin 2018, section IV-E), gets the slot of its component's first pixel as its label, so that
 * components look like those of the other algorithms. Features are summed up in one of three ways,
 * CclFeatureStage. */

#include "cuda/device/classes.cuh"
#include "cuda/device/features.cuh"
#include "cuda/device/foreground.cuh"
#include "cuda/device/label_map.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/stages/slots.cuh"

/* The segment that starts in a lane's slot. */
struct RunSegment
{
  uint32_t start, end;
  uint32_t label; /* of the slot in which it starts */
  uint32_t pixel; /* the label of its pixels; CCL_NO_LABEL if no segment starts here */
};

/* get_segment() of classes: a warp has 32 pixels. */
static __device__ inline RunSegment
get_class_segment (const CclCudaFrame &f, const CclLabelImage &image, const Part &part,
                   uint32_t slot)
{
  uint32_t lane = lane_id (), x = slot + lane;
  uint32_t pixels = class_bits (f, CCL_CLASS_PIXELS, slot, part.y);
  uint32_t goes_on = class_bits (f, CCL_CLASS_LEFT, slot, part.y) & ~1u, rest;
  RunSegment segment = { x, 0, part.row + x, CCL_NO_LABEL };

  if (!((pixels & ~goes_on) >> lane & 1))
    return segment;
  rest = ~(goes_on >> lane >> 1);
  segment.end = x + __ffs (rest);
  segment.pixel = image.pixels[(size_t) part.y * image.pitch + x];
  return segment;
}

/* Returns the segment that starts in slot @slot + lane of row @part.y; a warp has 64 pixels. All
 * lanes call this. */
static __device__ inline RunSegment
get_segment (const CclCudaFrame &f, const CclLabelImage &image, const Part &part, uint32_t slot)
{
  const uint8_t *row = row_pixels (f, part.y);
  uint32_t base = 2 * slot, lane = lane_id (), low, high, x;
  uint64_t pixels, starts, rest;
  RunSegment segment;

  if (image.per_slot == 1)
    return get_class_segment (f, image, part, slot);
  low = __ballot_sync (ALL_LANES, foreground (f, row, base + lane));
  high = __ballot_sync (ALL_LANES, foreground (f, row, base + WARP_LANES + lane));
  pixels = low | (uint64_t) high << 32;
  starts = pixels & ~(pixels << 1);
  x = 2 * lane + (starts >> 2 * lane & 1 ? 0 : 1);
  segment = { base + x, 0, part.row + slot + lane, CCL_NO_LABEL };
  if (!(starts >> x & 1))
    return segment;
  rest = ~(pixels >> x);
  segment.end = segment.start + (rest ? __ffsll (rest) - 1 : 64);
  segment.pixel = image.pixels[(size_t) part.y * image.pitch + segment.start];
  return segment;
}

/* Returns the slot of the first pixel of the component with the pixel label @label. */
static __device__ inline uint32_t
component_of (const CclLabelImage &image, uint32_t label)
{
  return image.firsts ? image.firsts[label] : label >> (image.per_slot - 1);
}

/* Finds the first pixels of components. The root of a component is its first block; the first pixel
 * is in the same layer (two rows or, in a volume, two slices), but not always in that block. */
static __global__ void
find_first_pixels (CclCudaFrame f, Slots slots, CclLabelImage image)
{
  uint32_t layer; /* the label of its first block */
  Part part;

  if (!get_part (slots, &part))
    return;
  layer = part.y / image.layer_rows * image.layer_blocks;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    RunSegment segment = get_segment (f, image, part, slot);

    if (segment.pixel != CCL_NO_LABEL && segment.pixel >= layer)
      atomicMin (&image.firsts[segment.pixel], segment.label);
  }
}

/* Stores the slots' labels and initializes the features of roots: with those of their own segment
 * if @own is set, else with none. */
static __global__ void
store_segments (CclCudaFrame f, Slots slots, CclLabelImage image, CclComponentTable t,
                uint32_t *starts, bool own)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    RunSegment segment = get_segment (f, image, part, slot);
    uint32_t component = CCL_NO_LABEL;

    if (slot + lane_id () >= part.to)
      continue;
    if (segment.pixel != CCL_NO_LABEL)
      component = component_of (image, segment.pixel);
    t.parents[segment.label] = component;
    if (component == segment.label) {
      starts[component] = segment.start;
      features_begin (t, component,
                      own ? record_of_run (t, segment.start, segment.end, part.y)
                          : record_empty ());
    }
  }
}

/* CCL_FEATURES_PIXELS: adds every pixel to its component. */
static __global__ void
add_pixels (CclCudaFrame f, Slots slots, CclLabelImage image, CclComponentTable t)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    for (uint32_t i = 0; i < image.per_slot; i++) {
      uint32_t x = image.per_slot * slot + i * WARP_LANES + lane_id (), label = CCL_NO_LABEL;

      if (x < f.width)
        label = image.pixels[(size_t) part.y * image.pitch + x];
      if (label != CCL_NO_LABEL)
        features_add (t, component_of (image, label), record_of_run (t, x, x + 1, part.y));
    }
  }
}

/* CCL_FEATURES_RUNS: adds every segment to its component (Hennequin 2018, algorithm 6). With
 * @detect (CCL_FEATURES_RUNS_CD), segments of one component in a warp are reduced first (Lemaitre
 * 2021, algorithm 3). */
static __global__ void
add_segments (CclCudaFrame f, Slots slots, CclLabelImage image, CclComponentTable t, bool detect)
{
  WarpAccumulator accumulator = accumulator_empty ();
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    RunSegment segment = get_segment (f, image, part, slot);
    uint32_t component = CCL_NO_LABEL;
    FeatureRecord r = record_empty ();

    if (segment.pixel != CCL_NO_LABEL)
      component = t.parents[segment.label];
    if (component == segment.label)
      component = CCL_NO_LABEL; /* a root has its own segment already */
    if (component != CCL_NO_LABEL)
      r = record_of_run (t, segment.start, segment.end, part.y);
    if (detect)
      accumulator_add (t, &accumulator, component, r);
    else if (component != CCL_NO_LABEL)
      features_add (t, component, r);
  }
  accumulator_flush (t, &accumulator);
}

extern "C" cudaError_t
ccl_cuda_label_image_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);
  const CclCudaFrame *f = &work->frame;
  CclFeatureStage stage = work->feature_stage;
  Slots slots = slots_of (work);
  size_t firsts = image->n_blocks * sizeof *image->firsts;
  cudaError_t error = work->algorithm->label (work, stream);

  ccl_cuda_stage_labelled (work);
  if (error == cudaSuccess && image->firsts) {
    error = CCL_CUDA (cudaMemsetAsync, image->firsts, 0xff, firsts, stream);
    if (error == cudaSuccess)
      error =
          launch (find_first_pixels, part_grid (work), part_block (), 0, stream, *f, slots, *image);
    ccl_cuda_stage (work, "first pixels", stream);
  }
  if (error == cudaSuccess)
    error = launch (store_segments, part_grid (work), part_block (), 0, stream, *f, slots, *image,
                    work->components, work->slots.starts, stage != CCL_FEATURES_PIXELS);
  ccl_cuda_stage (work, "runs", stream);
  if (error == cudaSuccess && stage == CCL_FEATURES_PIXELS)
    error = launch (add_pixels, part_grid (work), part_block (), 0, stream, *f, slots, *image,
                    work->components);
  else if (error == cudaSuccess)
    error = launch (add_segments, part_grid (work), part_block (), 0, stream, *f, slots, *image,
                    work->components, stage != CCL_FEATURES_RUNS);
  ccl_cuda_stage (work, "features", stream);
  return error == cudaSuccess ? ccl_cuda_finish (work, stream) : error;
}

/* Of classes, with a pixel in each slot. */
static __global__ void
label_image_write_class_map (CclCudaFrame f, Slots slots, CclLabelImage image, CclCudaResult r)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = image.pixels[(size_t) part.y * image.pitch + slot];

    store_label (r, f.width, slot, part.y,
                 label != CCL_NO_LABEL ? r.labels[component_of (image, label)] : 0);
  }
}

/* Both pixels of a slot belong to one component. */
static __global__ void
label_image_write_map (CclCudaFrame f, Slots slots, CclLabelImage image, CclCudaResult r)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    const uint32_t *labels = &image.pixels[(size_t) part.y * image.pitch + (size_t) 2 * slot];
    uint2 both = *(const uint2 *) labels;
    uint32_t label = min (both.x, both.y), final = 0;

    if (label != CCL_NO_LABEL)
      final = r.labels[component_of (image, label)];
    store_label (r, f.width, 2 * slot, part.y, both.x != CCL_NO_LABEL ? final : 0);
    store_label (r, f.width, 2 * slot + 1, part.y, both.y != CCL_NO_LABEL ? final : 0);
  }
}

extern "C" cudaError_t
ccl_cuda_label_image_select (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_slots_select (work, stream);

  if (error != cudaSuccess || !work->result.label_map)
    return error;
  error = launch (work->classes ? label_image_write_class_map : label_image_write_map,
                  part_grid (work), part_block (), 0, stream, work->frame, slots_of (work),
                  *ccl_cuda_label_image (work), work->result);
  ccl_cuda_stage_label_map (work, stream);
  return error;
}
