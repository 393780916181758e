/* cudaccl - CUDA backend: pixels as bits of a warp
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_BITS_CUH
#define CCL_CUDA_BITS_CUH

#include "cuda/frame.h"

#define WARP_LANES 32
#define ALL_LANES 0xffffffffu

static __device__ inline uint32_t
lane_id (void)
{
  uint32_t lane;

  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/* The bits below bit @n < 32. */
static __device__ inline uint32_t
bits_below (uint32_t n)
{
  return (1u << n) - 1;
}

/* The sum of @value over the lanes up to and with this one. */
static __device__ inline uint32_t
warp_scan (uint32_t value)
{
  for (uint32_t distance = 1; distance < WARP_LANES; distance *= 2) {
    uint32_t other = __shfl_up_sync (ALL_LANES, value, distance);

    if (lane_id () >= distance)
      value += other;
  }
  return value;
}

/* The sum of @value over all lanes, in each of them. */
static __device__ inline uint32_t
warp_sum (uint32_t value)
{
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync (ALL_LANES, value, distance);
  return value;
}

static __device__ inline const uint8_t *
row_pixels (const CclCudaFrame &f, uint32_t y)
{
  return f.pixels + (size_t) y * f.pitch;
}

static __device__ inline bool
is_foreground (const CclCudaFrame &f, uint8_t value)
{
  return (value > f.threshold) != (f.flip != 0);
}

/* Whether pixel @x of a row is foreground; outside of the row nothing is. */
static __device__ inline bool
foreground (const CclCudaFrame &f, const uint8_t *row, uint32_t x)
{
  return x < f.width && is_foreground (f, __ldg (&row[x]));
}

/* Which bytes of @bytes are above the threshold: their highest bits. */
static __device__ inline uint32_t
above_threshold4 (const CclCudaFrame &f, uint32_t bytes)
{
  /* The lower seven bits, so that the eighth says whether they are above those of the threshold. */
  uint32_t low = (bytes & 0x7f7f7f7fu) + (127u - (f.threshold & 127u)) * 0x01010101u;
  uint32_t either = f.threshold < 128 ? ~0u : 0; /* is enough, or both */

  return ((bytes & low) | ((bytes | low) & either)) & 0x80808080u;
}

/* Bit i: byte i of @bytes is foreground. */
static __device__ inline uint32_t
foreground4 (const CclCudaFrame &f, uint32_t bytes)
{
  return __dp4a (above_threshold4 (f, bytes), 0x08040201u, 0u) >> 7;
}

/* Up to 32 pixels of a row as bits; @words: of four bytes, an even number. */
static __device__ inline uint32_t
foreground_bits (const CclCudaFrame &f, const uint32_t *bytes, uint32_t words)
{
  uint32_t bits = 0;

#pragma unroll
  for (uint32_t i = 0; i < words / 2; i++) {
    uint32_t low = above_threshold4 (f, bytes[2 * i]),
             high = above_threshold4 (f, bytes[2 * i + 1]);
    uint32_t sum = __dp4a (high, 0x80402010u, __dp4a (low, 0x08040201u, 0u)); /* times 128 */

    bits |= i == 0 ? sum >> 7 : sum << (8 * i - 7);
  }
  return f.flip ? bits ^ ~0u >> (32 - 4 * words) : bits;
}

/* Pixels @x - 1 to @x + 4 * @words - 2 of row @y as bits; outside of the frame nothing is set. */
static __device__ inline uint32_t
foreground_around (const CclCudaFrame &f, uint32_t x, uint32_t y, uint32_t words)
{
  const uint8_t *row = row_pixels (f, y);
  uintptr_t address = (uintptr_t) row + x - 1;
  const uint32_t *from = (const uint32_t *) (address & ~(uintptr_t) 3);
  uint32_t shift = 8 * (address & 3), bits = 0, word;

  if (y >= f.height)
    return 0;
  /* Nothing outside of the row is read. */
  if (x < 4 || x > f.width || f.width - x < 4 * words + 3) {
    for (uint32_t i = 0; i < 4 * words; i++)
      bits |= (uint32_t) foreground (f, row, x - 1 + i) << i;
    return bits;
  }
  word = __ldg (from);
#pragma unroll
  for (uint32_t i = 0; i < words; i++) {
    uint32_t next = __ldg (from + i + 1);

    bits |= foreground4 (f, __funnelshift_r (word, next, shift)) << 4 * i;
    word = next;
  }
  return f.flip ? bits ^ bits_below (4 * words) : bits;
}

/* Pixels @x to @x + 31 of a row as bits; @x is in the row. */
static __device__ inline uint32_t
foreground32 (const CclCudaFrame &f, const uint8_t *row, uint32_t x)
{
  uint32_t shift = 8 * ((uintptr_t) (row + x) & 3), left = f.width - x, bits = 0;

  if (left >= 32 && ((uintptr_t) (row + x) & 15) == 0) {
    /* To be evicted first: most algorithms look at pixels once, and what they make of them had
     * better stay in the L2 cache. */
    const uint4 *words = (const uint4 *) (row + x);
    uint4 low = __ldcs (words), high = __ldcs (words + 1);
    uint32_t bytes[8] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w };

    return foreground_bits (f, bytes, 8);
  }
  if (left >= (shift ? 36 : 32)) {
    /* Words of memory, from the one that holds the first pixel on. Out of step with them, the
     * last one has bytes past the 32 pixels: they are in the row. */
    const uint32_t *words = (const uint32_t *) ((uintptr_t) (row + x) & ~(uintptr_t) 3);
    uint32_t word = __ldg (words), bytes[8];

#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
      uint32_t next = i < 7 || shift ? __ldg (words + i + 1) : 0;

      bytes[i] = __funnelshift_r (word, next, shift);
      word = next;
    }
    return foreground_bits (f, bytes, 8);
  }
  for (uint32_t i = 0; i < min (left, 32u); i++)
    bits |= (uint32_t) foreground (f, row, x + i) << i;
  return bits;
}

/* A warp's share of a frame: part of the slots of one row. Parts are numbered row by row, and from
 * left to right in a row. */
struct Part
{
  uint32_t y;
  size_t index;      /* of the part in the frame */
  uint32_t row;      /* label of the row's first slot */
  uint32_t from, to; /* slots, from a multiple of the warp's size on */
};

/* The part of the calling warp; false where there is none. */
static __device__ inline bool
get_part (const CclCudaFrame &f, Part *part)
{
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;
  uint32_t runs, share, p;

  if (index >= (size_t) f.height * f.parts)
    return false;
  part->index = index;
  part->y = (uint32_t) (index / f.parts);
  p = (uint32_t) (index - (size_t) part->y * f.parts);
  runs = f.runs ? f.runs[part->y] : f.slots;
  share = ((runs + f.parts - 1) / f.parts + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
  part->row = part->y * f.slots;
  part->from = min (p * share, runs);
  part->to = min (part->from + share, runs);
  return true;
}

#define PART_WARPS 4

/* The grid for kernels that call get_part(), in blocks of PART_WARPS warps. */
static inline unsigned
part_blocks (const CclCudaFrame *f)
{
  return (unsigned) (((size_t) f->height * f->parts + PART_WARPS - 1) / PART_WARPS);
}

#endif
