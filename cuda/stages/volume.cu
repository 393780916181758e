/* cudaccl - CUDA backend: what components of volumes have beyond those of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For counting and selecting components, a volume is a frame of height * depth rows. Only what
 * depends on slices, and on rows of a slice, is kept separately (CclDepthSums) and returned
 * separately (CclSlices). */

#include "cuda/device/classes.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/stages/slots.cuh"

static __global__ void
write_slices (Slots slots, CclComponentTable t, CclCudaResult r, CclClassFrame classes,
              CclSlices *all)
{
  Part part;

  if (!get_part (slots, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot, height = t.slice_height, z = part.y / height;
    bool in = t.parents[label] == label && r.labels[label] > 0;
    CclSlices *slices = &all[in ? r.labels[label] - 1 : 0];
    CclDepthSums sums;

    if (!in)
      continue;
    sums = t.depth_sums[label];
    slices->sum_y = t.features[label].sum_y - height * sums.sum_z;
    slices->sum_z = sums.sum_z;
    slices->y = sums.min_y;
    slices->height = sums.max_y - sums.min_y + 1;
    slices->first_y = part.y - z * height;
    slices->value = classes.pixels ? class_number (classes, slot, part.y) : 0;
    slices->z = z;
    slices->depth = t.features[label].max_y / height - z + 1;
  }
}

extern "C" cudaError_t
ccl_cuda_write_slices (const CclCudaWork *work, cudaStream_t stream)
{
  const CclClassFrame none = { NULL };

  return launch (write_slices, part_grid (work), part_block (), 0, stream, slots_of (work),
                 work->components, work->result, work->class_frame ? *work->class_frame : none,
                 work->slices);
}
