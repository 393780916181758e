/* cudaccl - CUDA backend: background models, several pixels in a word
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODELS_UNIT_CUH
#define CCL_CUDA_MODELS_UNIT_CUH

#include "cuda/device/warp.cuh"

#define UNIT 8 /* pixels of a thread in a row */

#define HIGH_BITS 0x80008000u      /* of two numbers of 16 bits */
#define HIGH_BITS_OF_4 0x80808080u /* of four bytes */

/* Four bytes */

/* ccl_motion_average() of four bytes */
static __device__ inline uint32_t
average4 (uint32_t a, uint32_t b)
{
  return (a | b) - (((a ^ b) & 0xfefefefeu) >> 1);
}

static __device__ inline uint32_t
blur4 (uint32_t before, uint32_t middle, uint32_t after)
{
  return average4 (average4 (before, after), middle);
}

static __device__ inline uint32_t
four (uint32_t a)
{
  return a * 0x01010101u;
}

/* A mask with all ones in the bytes in which a >= b */
static __device__ inline uint32_t
reaches4 (uint32_t a, uint32_t b)
{
  uint32_t low = (a | HIGH_BITS_OF_4) - (b & ~HIGH_BITS_OF_4);

  return spread_signs ((a & ~b) | (~(a ^ b) & low));
}

static __device__ inline uint32_t
select4 (uint32_t mask, uint32_t yes, uint32_t no)
{
  return (yes & mask) | (no & ~mask);
}

/* A mask with all ones in the bytes that have bit @shift */
static __device__ inline uint32_t
bytes_with (uint32_t a, uint32_t shift)
{
  return (a >> shift & 0x01010101u) * 255;
}

/* a - b, but at least 0 */
static __device__ inline uint32_t
subtract4 (uint32_t a, uint32_t b)
{
  uint32_t mask = reaches4 (a, b);

  return (a & mask) - (b & mask);
}

/* a + b, but at most 255 */
static __device__ inline uint32_t
add4 (uint32_t a, uint32_t b)
{
  return ~subtract4 (~a, b);
}

/* Two numbers of 16 bits, less than 2^15 each unless noted otherwise */

static __device__ inline uint32_t
max2 (uint32_t a, uint32_t b)
{
  return __vmaxu2 (a, b);
}

static __device__ inline uint32_t
min2 (uint32_t a, uint32_t b)
{
  return __vminu2 (a, b);
}

static __device__ inline uint32_t
distance2 (uint32_t a, uint32_t b)
{
  return max2 (a, b) - min2 (a, b);
}

static __device__ inline uint32_t
half2 (uint32_t a)
{
  return a >> 1 & 0x7fff7fffu;
}

static __device__ inline uint32_t
both (uint32_t a)
{
  return a | a << 16;
}

/* Sets the high bits where a > b. */
static __device__ inline uint32_t
above2 (uint32_t a, uint32_t b)
{
  return ~((b | HIGH_BITS) - a) & HIGH_BITS;
}

/* Units: eight bytes or numbers */

/* Collects the results of four above2(), one bit per pixel. */
static __device__ inline uint32_t
unit_bits (const uint32_t *high)
{
  uint32_t sum = __dp4a (__byte_perm (high[0], high[1], 0x7531), 0x08040201u, 0u);

  return __dp4a (__byte_perm (high[2], high[3], 0x7531), 0x80402010u, sum) >> 7;
}

/* A mask with all ones in the bytes whose bits, the lowest four, are set */
static __device__ inline uint32_t
word_mask (uint32_t bits)
{
  /* bits 0 to 3 go to bytes 0 to 3 */
  return ((bits & 15) * 0x00204081u & 0x01010101u) * 255;
}

/* The same for a unit's eight bits */
static __device__ inline uint2
unit_masks (uint32_t bits)
{
  return uint2{ word_mask (bits), word_mask (bits >> 4) };
}

/* Bytes 2 * @k and 2 * @k + 1 of a unit, as two numbers */
static __device__ inline uint32_t
byte_pair (uint2 bytes, uint32_t k)
{
  return __byte_perm (k < 2 ? bytes.x : bytes.y, 0, k % 2 ? 0x4342 : 0x4140);
}

/* The same for masks */
static __device__ inline uint32_t
mask_pair (uint2 bytes, uint32_t k)
{
  return __byte_perm (k < 2 ? bytes.x : bytes.y, 0, k % 2 ? 0x3322 : 0x1100);
}

#endif
