/* cudaccl - emulation: what only PTX can say
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of cuda/device/machine.cuh. */

#ifndef CCL_CUDA_MACHINE_CUH
#define CCL_CUDA_MACHINE_CUH

#include <cuda_runtime.h>

static inline uint32_t
lane_id (void)
{
  return emulated_lane ();
}

static inline uint32_t
spread_signs (uint32_t bytes)
{
  return (bytes >> 7 & 0x01010101u) * 255;
}

static inline void
sync_threads (uint32_t barrier, uint32_t threads)
{
  emulated_sync (barrier, threads, false, false);
}

static inline void
fence_device (void)
{
  __threadfence ();
}

static inline void
fence_block (void)
{
  __threadfence_block ();
}

static inline void
add_release (uint32_t *word, uint32_t value)
{
  emulated_release ();
  atomicAdd (word, value);
}

static inline unsigned long long
fetch_add_release (unsigned long long *word, unsigned long long value)
{
  emulated_release ();
  return atomicAdd (word, value);
}

static inline void
store_release (uint32_t *word, uint32_t value)
{
  emulated_release ();
  *(volatile uint32_t *) word = value;
}

static inline uint32_t
load_acquire (const uint32_t *word)
{
  return emulated_load_of (word);
}

static inline void
follow_kernel (void)
{
  emulated_wait_for_kernel ();
}

static inline void
let_kernel_follow (void)
{
  emulated_let_kernel_follow ();
}

template <typename Kernel>
static inline const void *
kernel_address (Kernel *kernel)
{
  return emulated_address (kernel);
}

#endif
