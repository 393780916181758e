/* cudaccl - CUDA backend: operations that need inline PTX
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All inline assembly of the kernels. The emulation replaces this file by its own
 * (tests/emulation/include/cuda/device/machine.cuh). */

#ifndef CCL_CUDA_MACHINE_CUH
#define CCL_CUDA_MACHINE_CUH

#include <stdint.h>

static __device__ inline uint32_t
lane_id (void)
{
  uint32_t lane;

  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/* Sets each byte to all ones if its highest bit is set in @bytes, and to zero otherwise.
 * __byte_perm() cannot do this: it takes only three bits of each selector. */
static __device__ inline uint32_t
spread_signs (uint32_t bytes)
{
  uint32_t signs;

  asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(signs) : "r"(bytes));
  return signs;
}

/* Waits until @threads threads of the block, whole warps, have arrived at @barrier. */
static __device__ inline void
sync_threads (uint32_t barrier, uint32_t threads)
{
  asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

/* Orders this thread's memory accesses at device scope, with release and acquire semantics. Cheaper
 * than __threadfence(), which is sequentially consistent. */
static __device__ inline void
fence_device (void)
{
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* The same at block scope, which costs next to nothing. */
static __device__ inline void
fence_block (void)
{
  asm volatile("fence.acq_rel.cta;" ::: "memory");
}

/* Add to, or store, a word through which other blocks see this thread's accesses, with release
 * semantics at device scope. Unlike fences, these do not invalidate the L1 cache. */
static __device__ inline void
add_release (uint32_t *word, uint32_t value)
{
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

static __device__ inline unsigned long long
fetch_add_release (unsigned long long *word, unsigned long long value)
{
  unsigned long long before;

  asm volatile("atom.release.gpu.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(word), "l"(value)
               : "memory");
  return before;
}

static __device__ inline void
store_release (uint32_t *word, uint32_t value)
{
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

static __device__ inline uint32_t
load_acquire (const uint32_t *word)
{
  uint32_t seen;

  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  return seen;
}

/* Waits until all work before this kernel is complete and visible. */
static __device__ inline void
follow_kernel (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel's blocks become resident once all blocks of this kernel have called it. Only
 * for kernels that load the device evenly: the new blocks go wherever there is room, and stay
 * there. */
static __device__ inline void
let_kernel_follow (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* The address of a kernel, as the CUDA runtime takes it. */
template <typename Kernel>
static inline const void *
kernel_address (Kernel *kernel)
{
  return (const void *) kernel;
}

#endif
