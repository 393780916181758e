/* cudaccl - CUDA backend: colour signatures of boxes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A block for each half of a box. Its threads take samples in turn, and count them in shared
 * memory. */

#include "cuda/device/launch.cuh"
#include "cuda/stages/signatures.h"

#define SIGNATURE_THREADS 128

static __global__ void
__launch_bounds__ (SIGNATURE_THREADS)
    find_signatures (const CclSignatureFrame f, const CclBox *boxes, CclSignature *signatures)
{
  __shared__ uint32_t counts[CCL_SIGNATURE_BINS];
  const uint32_t half = blockIdx.x & 1, t = threadIdx.x;
  const CclBox box = boxes[blockIdx.x / 2];
  const CclSignatureAxis columns = ccl_signature_columns (&box);
  const CclSignatureAxis rows = ccl_signature_rows (&box, half);
  const uint32_t total = columns.n * rows.n;
  uint8_t *shares = (uint8_t *) &signatures[blockIdx.x / 2].halves[half];

  if (t < CCL_SIGNATURE_BINS)
    counts[t] = 0;
  __syncthreads ();
  for (uint32_t i = t; i < total; i += SIGNATURE_THREADS) {
    const uint32_t j = i / columns.n;
    const uint32_t row = ccl_signature_place (&rows, j);
    const uint32_t column = ccl_signature_place (&columns, i - j * columns.n);
    const uint32_t x = ccl_signature_pixel (&columns, column);
    const uint32_t y = ccl_signature_pixel (&rows, row);
    const uint32_t luma = f.planes[0].samples[y * f.planes[0].stride + x];

    atomicAdd (&counts[ccl_signature_luma_bin (luma)], 1u);
    for (uint32_t k = 0; f.planes[1].samples && k < 2; k++) {
      const CclSignaturePlane &plane = f.planes[1 + k];
      const uint32_t value = plane.samples[row * plane.stride + (size_t) column * f.step];

      atomicAdd (
          &counts[CCL_SIGNATURE_LUMA + k * CCL_SIGNATURE_CHROMA + ccl_signature_chroma_bin (value)],
          1u);
    }
  }
  __syncthreads ();
  /* The bins are in the order of the half's bytes. */
  if (t < CCL_SIGNATURE_BINS)
    shares[t] = ccl_signature_share (counts[t], total);
}

extern "C" cudaError_t
ccl_cuda_find_signatures (const CclSignatureFrame *frame, const CclBox *boxes, uint32_t n,
                          CclSignature *signatures, cudaStream_t stream)
{
  return launch (find_signatures, 2 * n, SIGNATURE_THREADS, 0, stream, *frame, boxes, signatures);
}
