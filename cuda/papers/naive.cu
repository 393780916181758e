/* cudaccl - CUDA backend: pixels added one by one
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/algorithms/ha4.cuh"

/* The baseline of Hennequin 2018 (section II-C) and Lemaitre 2021 (section 2): each pixel adds
 * itself to its component with atomics. */
static __global__ void
naive_add_pixels (CclCudaFrame f, Ha4Tables t)
{
  Ha4Block<uint64_t> block;

  if (!get_warp_block (f, &block))
    return;
  for (int i = (int) lane_id (); i < Ha4<uint64_t>::block; i += WARP_LANES) {
    uint32_t x = block.base + i, slot, root;

    if (!(block.pixels >> i & 1))
      continue;
    slot = block.y * t.components.slots + label_slot (block.pixels, i, block.base, 0);
    root = t.components.parents[slot];
    if (root == slot && is_start (block.pixels, i))
      t.starts[root] = x;
    features_add (t.components, root, record_of_run (t.components, x, x + 1, block.y));
  }
}

static cudaError_t
naive_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  cudaError_t error = ccl_cuda_ha4_label (work, stream);

  if (error == cudaSuccess)
    error = ccl_cuda_compress_slots (work, NULL, stream);
  if (error == cudaSuccess)
    error = launch (naive_add_pixels, warp_block_grid<uint64_t> (f), strip_threads (), 0, stream,
                    *f, tables_of (work));
  ccl_cuda_stage (work, "features", stream);
  return error == cudaSuccess ? ccl_cuda_finish (work, stream) : error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_naive) = HA4_ALGORITHM (
    "naive", "Every pixel added to its component individually, after HA4's labelling",
    naive_enqueue);
