/* cudaccl - CUDA backend: what components of volumes have beside those of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* To what counts and compacts components, a volume is a frame of height * depth rows. Only what
 * depends on slices, and on rows of a slice, is kept apart (CclDepthSums) and given out apart
 * (CclSlices). */

#include "cuda/device/bits.cuh"

static __global__ void
write_slices (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot, height = f.volume.height, z = part.y / height;
    bool in = f.labels[label] == label && f.numbers[label] > 0;
    CclSlices *slices = &f.volume.slices[in ? f.numbers[label] - 1 : 0];
    CclDepthSums sums;

    if (!in)
      continue;
    sums = f.volume.sums[label];
    slices->sum_y = f.features[label].sum_y - height * sums.sum_z;
    slices->sum_z = sums.sum_z;
    slices->y = sums.min_y;
    slices->height = sums.max_y - sums.min_y + 1;
    slices->first_y = part.y - z * height;
    slices->reserved = 0;
    slices->z = z;
    slices->depth = f.features[label].max_y / height - z + 1;
  }
}

extern "C" cudaError_t
ccl_cuda_volume_slices (const CclCudaFrame *f, cudaStream_t stream)
{
  write_slices<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  return cudaGetLastError ();
}
