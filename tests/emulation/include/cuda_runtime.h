/* cudaccl - emulation: CUDA C++ for a host compiler
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Declarations that nvcc has built in, as far as kernels use them. convert.py rewrites what C++ has
 * no syntax for. Plain loads and stores need no declaration: the compiler calls the functions in
 * hooks.cpp. */

#ifndef EMULATION_CUDA_RUNTIME_H
#define EMULATION_CUDA_RUNTIME_H

#include <cuda_runtime_api.h>

#include <functional>
#include <string.h>
#include <tuple>
#include <type_traits>

#define __CUDA_ARCH__ 900

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __grid_constant__

struct alignas (8) uint2
{
  unsigned x, y;
};
struct alignas (16) uint4
{
  unsigned x, y, z, w;
};

static inline uint2
make_uint2 (unsigned x, unsigned y)
{
  return { x, y };
}

static inline uint4
make_uint4 (unsigned x, unsigned y, unsigned z, unsigned w)
{
  return { x, y, z, w };
}

/* Constant for a thread, so the compiler may keep them. */
#ifndef EMULATED_CONSTANT
#define EMULATED_CONSTANT const
#endif
extern EMULATED_CONSTANT uint3 threadIdx, blockIdx, blockDim, gridDim;

/* The runtime */

enum EmulatedWarpOperation
{
  EMULATED_SYNCWARP,
  EMULATED_BALLOT,
  EMULATED_MATCH,
  EMULATED_SHUFFLE,
  EMULATED_SHUFFLE_UP,
  EMULATED_SHUFFLE_DOWN,
  EMULATED_SHUFFLE_XOR,
  EMULATED_REDUCE_ADD,
  EMULATED_REDUCE_MIN,
  EMULATED_REDUCE_MAX,
  EMULATED_REDUCE_OR,
  EMULATED_REDUCE_AND,
};

enum EmulatedAtomic
{
  EMULATED_ADD,
  EMULATED_MIN,
  EMULATED_MAX,
  EMULATED_EXCHANGE,
  EMULATED_OR,
  EMULATED_AND,
  EMULATED_XOR,
  EMULATED_COMPARE_AND_SWAP,
};

uint64_t emulated_warp (EmulatedWarpOperation operation, uint32_t mask, uint64_t value,
                        uint32_t argument, uint32_t width);
/* Unsigned integers of @size bytes. */
uint64_t emulated_atomic (EmulatedAtomic operation, void *word, size_t size, uint64_t value,
                          uint64_t compare);
void emulated_load (void *to, const void *from, size_t size);
uint32_t emulated_sync (uint32_t barrier, uint32_t threads, bool predicate, bool count);
void emulated_sync_grid (void);
void emulated_fence (void);
void emulated_release (void);
void emulated_wait_for_kernel (void);
void emulated_let_kernel_follow (void);
uint32_t emulated_lane (void);
void *emulated_dynamic_memory (void);
void *emulated_static_memory (const void *key, size_t size);

/* Makes a kernel with a copy of its arguments. */
typedef std::function<void ()> EmulatedCall;
typedef std::function<EmulatedCall (void **arguments)> EmulatedKernel;

void emulated_register (const void *kernel, const EmulatedKernel &bind);
cudaError_t emulated_launch (const void *kernel, dim3 grid, dim3 block, size_t shared,
                             cudaStream_t stream, const EmulatedCall &call);

template <typename... P, size_t... I>
static inline EmulatedCall
emulated_bind (void (*kernel) (P...), void **arguments, std::index_sequence<I...>)
{
  std::tuple<std::decay_t<P>...> values (*(std::decay_t<P> *) arguments[I]...);

  return [kernel, values] { std::apply (kernel, values); };
}

/* The address of a kernel that is launched through the runtime's functions. */
template <typename... P>
static inline const void *
emulated_address (void (*kernel) (P...))
{
  emulated_register ((const void *) kernel, [kernel] (void **arguments) {
    return emulated_bind (kernel, arguments, std::index_sequence_for<P...>{});
  });
  return (const void *) kernel;
}

/* kernel<<<grid, block, shared, stream>>> (arguments). */
struct EmulatedConfiguration
{
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = 0;
};

template <typename... P, typename... A>
static inline void
emulated_launch (const EmulatedConfiguration &c, void (*kernel) (P...), A... arguments)
{
  std::tuple<std::decay_t<P>...> values ((std::decay_t<P>) arguments...);

  emulated_launch ((const void *) kernel, c.grid, c.block, c.shared, c.stream,
                   [kernel, values] { std::apply (kernel, values); });
}

/* Barriers and fences */

static inline void
__syncthreads (void)
{
  emulated_sync (0, 0, false, false);
}

static inline int
__syncthreads_or (int predicate)
{
  return emulated_sync (0, 0, predicate != 0, false);
}

static inline int
__syncthreads_count (int predicate)
{
  return emulated_sync (0, 0, predicate != 0, true);
}

static inline void
__threadfence (void)
{
  emulated_fence ();
}

static inline void
__threadfence_block (void)
{
}

/* Warps */

static inline void
__syncwarp (uint32_t mask = 0xffffffff)
{
  emulated_warp (EMULATED_SYNCWARP, mask, 0, 0, 32);
}

static inline uint32_t
__ballot_sync (uint32_t mask, int predicate)
{
  return (uint32_t) emulated_warp (EMULATED_BALLOT, mask, predicate != 0, 0, 32);
}

static inline int
__any_sync (uint32_t mask, int predicate)
{
  return __ballot_sync (mask, predicate) != 0;
}

static inline int
__all_sync (uint32_t mask, int predicate)
{
  return __ballot_sync (mask, !predicate) == 0;
}

template <typename T>
static inline T
emulated_shuffle (EmulatedWarpOperation operation, uint32_t mask, T value, uint32_t argument,
                  uint32_t width)
{
  uint64_t bits = 0;
  T result;

  static_assert (sizeof value <= sizeof bits, "up to 64 bits");
  memcpy (&bits, &value, sizeof value);
  bits = emulated_warp (operation, mask, bits, argument, width);
  memcpy (&result, &bits, sizeof result);
  return result;
}

template <typename T>
static inline T
__shfl_sync (uint32_t mask, T value, int lane, int width = 32)
{
  return emulated_shuffle (EMULATED_SHUFFLE, mask, value, (uint32_t) lane, (uint32_t) width);
}

template <typename T>
static inline T
__shfl_up_sync (uint32_t mask, T value, unsigned distance, int width = 32)
{
  return emulated_shuffle (EMULATED_SHUFFLE_UP, mask, value, distance, (uint32_t) width);
}

template <typename T>
static inline T
__shfl_down_sync (uint32_t mask, T value, unsigned distance, int width = 32)
{
  return emulated_shuffle (EMULATED_SHUFFLE_DOWN, mask, value, distance, (uint32_t) width);
}

template <typename T>
static inline T
__shfl_xor_sync (uint32_t mask, T value, int lanes, int width = 32)
{
  return emulated_shuffle (EMULATED_SHUFFLE_XOR, mask, value, (uint32_t) lanes, (uint32_t) width);
}

template <typename T>
static inline uint32_t
__match_any_sync (uint32_t mask, T value)
{
  return (uint32_t) emulated_warp (EMULATED_MATCH, mask, (uint64_t) value, 0, 32);
}

static inline uint32_t
__reduce_add_sync (uint32_t mask, uint32_t value)
{
  return (uint32_t) emulated_warp (EMULATED_REDUCE_ADD, mask, value, 0, 32);
}

static inline uint32_t
__reduce_min_sync (uint32_t mask, uint32_t value)
{
  return (uint32_t) emulated_warp (EMULATED_REDUCE_MIN, mask, value, 0, 32);
}

static inline uint32_t
__reduce_max_sync (uint32_t mask, uint32_t value)
{
  return (uint32_t) emulated_warp (EMULATED_REDUCE_MAX, mask, value, 0, 32);
}

static inline uint32_t
__reduce_or_sync (uint32_t mask, uint32_t value)
{
  return (uint32_t) emulated_warp (EMULATED_REDUCE_OR, mask, value, 0, 32);
}

static inline uint32_t
__reduce_and_sync (uint32_t mask, uint32_t value)
{
  return (uint32_t) emulated_warp (EMULATED_REDUCE_AND, mask, value, 0, 32);
}

/* Memory */

template <typename T>
static inline T
emulated_load_of (const T *from)
{
  T value;

  emulated_load (&value, from, sizeof value);
  return value;
}

template <typename T>
static inline T
__ldcg (const T *from)
{
  return emulated_load_of (from);
}

template <typename T>
static inline T
__ldcs (const T *from)
{
  return *from;
}

template <typename T>
static inline T
__ldg (const T *from)
{
  return *from;
}

template <typename T>
static inline void
__stcg (T *to, std::common_type_t<T> value)
{
  *to = value;
}

template <typename T>
static inline void
__stcs (T *to, std::common_type_t<T> value)
{
  *to = value;
}

template <typename T>
static inline T
emulated_atomic_of (EmulatedAtomic operation, T *word, T value, T compare = 0)
{
  static_assert (std::is_unsigned_v<T>, "the runtime compares unsigned integers");
  return (T) emulated_atomic (operation, word, sizeof *word, (uint64_t) value, (uint64_t) compare);
}

#define EMULATED_ATOMIC(name, operation)                                        \
  template <typename T> static inline T name (T *word, std::common_type_t<T> v) \
  {                                                                             \
    return emulated_atomic_of (operation, word, v);                             \
  }

EMULATED_ATOMIC (atomicAdd, EMULATED_ADD)
EMULATED_ATOMIC (atomicMin, EMULATED_MIN)
EMULATED_ATOMIC (atomicMax, EMULATED_MAX)
EMULATED_ATOMIC (atomicExch, EMULATED_EXCHANGE)
EMULATED_ATOMIC (atomicOr, EMULATED_OR)
EMULATED_ATOMIC (atomicAnd, EMULATED_AND)
EMULATED_ATOMIC (atomicXor, EMULATED_XOR)

template <typename T>
static inline T
atomicCAS (T *word, std::common_type_t<T> compare, std::common_type_t<T> value)
{
  return emulated_atomic_of (EMULATED_COMPARE_AND_SWAP, word, value, compare);
}

/* Arithmetic */

template <typename A, typename B>
static inline std::common_type_t<A, B>
min (A a, B b)
{
  typedef std::common_type_t<A, B> T;

  return (T) b < (T) a ? (T) b : (T) a;
}

template <typename A, typename B>
static inline std::common_type_t<A, B>
max (A a, B b)
{
  typedef std::common_type_t<A, B> T;

  return (T) a < (T) b ? (T) b : (T) a;
}

static inline int
__popc (uint32_t x)
{
  return __builtin_popcount (x);
}

static inline int
__popcll (uint64_t x)
{
  return __builtin_popcountll (x);
}

static inline int
__clz (int x)
{
  return x ? __builtin_clz ((uint32_t) x) : 32;
}

static inline int
__clzll (int64_t x)
{
  return x ? __builtin_clzll ((uint64_t) x) : 64;
}

static inline int
__ffs (int x)
{
  return __builtin_ffs (x);
}

static inline int
__ffsll (long long x)
{
  return __builtin_ffsll (x);
}

static inline uint64_t
__brevll (uint64_t x)
{
  uint64_t reversed = 0;

  for (int i = 0; i < 64; i++)
    reversed |= (x >> i & 1) << (63 - i);
  return reversed;
}

static inline uint32_t
__brev (uint32_t x)
{
  return (uint32_t) (__brevll (x) >> 32);
}

static inline uint32_t
__umulhi (uint32_t a, uint32_t b)
{
  return (uint32_t) ((uint64_t) a * b >> 32);
}

static inline uint64_t
__umul64hi (uint64_t a, uint64_t b)
{
  return (uint64_t) ((unsigned __int128) a * b >> 64);
}

static inline uint32_t
__dp4a (uint32_t a, uint32_t b, uint32_t c)
{
  for (int i = 0; i < 32; i += 8)
    c += (a >> i & 255) * (b >> i & 255);
  return c;
}

static inline uint32_t
__funnelshift_l (uint32_t low, uint32_t high, uint32_t shift)
{
  return (uint32_t) (((uint64_t) high << 32 | low) << (shift & 31) >> 32);
}

static inline uint32_t
__funnelshift_r (uint32_t low, uint32_t high, uint32_t shift)
{
  return (uint32_t) (((uint64_t) high << 32 | low) >> (shift & 31));
}

/* The greater, or the lesser, of each two 16-bit halves. */
static inline uint32_t
__vmaxu2 (uint32_t a, uint32_t b)
{
  return max (a >> 16, b >> 16) << 16 | max (a & 0xffff, b & 0xffff);
}

static inline uint32_t
__vminu2 (uint32_t a, uint32_t b)
{
  return min (a >> 16, b >> 16) << 16 | min (a & 0xffff, b & 0xffff);
}

static inline uint32_t
__byte_perm (uint32_t x, uint32_t y, uint32_t selector)
{
  uint64_t bytes = (uint64_t) y << 32 | x;
  uint32_t result = 0;

  for (int i = 0; i < 4; i++) {
    uint32_t byte = (uint32_t) (bytes >> (selector >> 4 * i & 7) * 8) & 255;

    result |= byte << 8 * i;
  }
  return result;
}

#endif
