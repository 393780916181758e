/* cudaccl - emulation: CUB's scan
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Not the kernels of CUB, which NVIDIA tests: the sum is computed by one thread. */

#ifndef EMULATION_CUB_DEVICE_SCAN_CUH
#define EMULATION_CUB_DEVICE_SCAN_CUH

#include <cuda_runtime.h>

namespace cub {

template <typename From, typename To>
static void
emulated_exclusive_sum (From from, To to, size_t n)
{
  typedef std::remove_reference_t<decltype (to[0])> T;
  T sum = {};

  for (size_t i = 0; i < n; i++) {
    T value = from[i];

    to[i] = sum;
    sum = sum + value;
  }
}

struct DeviceScan
{
  template <typename From, typename To, typename N>
  static cudaError_t
  ExclusiveSum (void *scratch, size_t &size, From from, To to, N n, cudaStream_t stream = 0)
  {
    if (!scratch) {
      size = 1;
      return cudaSuccess;
    }
    emulated_launch ({ 1, 1, 0, stream }, emulated_exclusive_sum<From, To>, from, to, (size_t) n);
    return cudaSuccess;
  }
};

} // namespace cub

#endif
