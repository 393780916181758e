/* cudaccl - CUDA backend: foreground pixels as bits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All kernels read pixels through these functions. A frame has bytes or bits (CclCudaFrame.bits).
 * Kernels that are bound by their instructions are compiled once for each and set it to a constant;
 * the others branch. */

#ifndef CCL_CUDA_FOREGROUND_CUH
#define CCL_CUDA_FOREGROUND_CUH

#include "cuda/device/warp.cuh"
#include "cuda/tables/frame.h"

static __device__ inline const uint8_t *
row_pixels (const CclCudaFrame &f, uint32_t y)
{
  return f.pixels + (size_t) y * f.pitch;
}

static __device__ inline bool
is_foreground (const CclCudaFrame &f, uint8_t value)
{
  return (value > f.threshold && value <= f.highest) != (f.invert != 0);
}

/* Frames of bits */

/* The bits of a word, whose first pixel is @x, that are inside the frame and foreground. */
template <typename Word>
static __device__ inline Word
bits_inside (const CclCudaFrame &f, Word word, uint32_t x)
{
  const uint32_t size = 8 * sizeof (Word);

  if (f.invert)
    word = ~word;
  return f.width - x < size ? word & (((Word) 1 << (f.width - x)) - 1) : word;
}

/* Pixels @x to @x + 31 of a row; @x is a multiple of 32. Bits outside the row are 0. */
static __device__ inline uint32_t
mask_word (const CclCudaFrame &f, const uint8_t *row, uint32_t x)
{
  return x < f.width ? bits_inside (f, __ldg ((const uint32_t *) row + x / 32), x) : 0;
}

/* foreground_around() for frames of bits; @x - 1 may wrap as there. */
static __device__ inline uint32_t
mask_around (const CclCudaFrame &f, const uint8_t *row, uint32_t x, uint32_t words)
{
  uint32_t first = x - 1, base = first & ~31u, shift = first & 31, bits;

  bits = mask_word (f, row, base) >> shift;
  if (shift + 4 * words > 32) /* so shift > 0 */
    bits |= mask_word (f, row, base + 32) << (32 - shift);
  return bits & bits_below (4 * words);
}

/* Whether pixel @x of a row is foreground; false outside the row. */
static __device__ inline bool
foreground (const CclCudaFrame &f, const uint8_t *row, uint32_t x)
{
  if (f.bits)
    return x < f.width && (__ldg (&row[x / 8]) >> x % 8 & 1) != f.invert;
  return x < f.width && is_foreground (f, __ldg (&row[x]));
}

/* Frames of bytes */

/* Sets the highest bit of each byte of @bytes that is above @threshold; all other bits are 0. */
static __device__ inline uint32_t
above4 (uint32_t bytes, uint32_t threshold)
{
  /* Bit 7 of each sum tells whether the lower seven bits exceed those of the threshold. */
  uint32_t low = (bytes & 0x7f7f7f7fu) + (127u - (threshold & 127u)) * 0x01010101u;
  uint32_t either = threshold < 128 ? ~0u : 0; /* one of the two suffices, or both are needed */

  return ((bytes & low) | ((bytes | low) & either)) & 0x80808080u;
}

/* Sets the highest bit of each byte of @bytes above the threshold and in the band, if there is one.
 */
static __device__ inline uint32_t
in_band4 (const CclCudaFrame &f, uint32_t bytes)
{
  uint32_t above = above4 (bytes, f.threshold);

  return f.highest < 255 ? above ^ above4 (bytes, f.highest) : above;
}

/* Bit i: byte i of @bytes is foreground. */
static __device__ inline uint32_t
foreground4 (const CclCudaFrame &f, uint32_t bytes)
{
  return __dp4a (in_band4 (f, bytes), 0x08040201u, 0u) >> 7;
}

/* Up to 32 pixels of a row as bits. @words: the number of pixels divided by four; even. */
static __device__ inline uint32_t
foreground_bits (const CclCudaFrame &f, const uint32_t *bytes, uint32_t words)
{
  uint32_t bits = 0;

#pragma unroll
  for (uint32_t i = 0; i < words / 2; i++) {
    uint32_t low = in_band4 (f, bytes[2 * i]), high = in_band4 (f, bytes[2 * i + 1]);
    uint32_t sum = __dp4a (high, 0x80402010u, __dp4a (low, 0x08040201u, 0u)); /* times 128 */

    bits |= i == 0 ? sum >> 7 : sum << (8 * i - 7);
  }
  return f.invert ? bits ^ ~0u >> (32 - 4 * words) : bits;
}

/* Pixels @x - 1 to @x + 4 * @words - 2 of row @y as bits; bits outside the frame are 0. */
static __device__ inline uint32_t
foreground_around (const CclCudaFrame &f, uint32_t x, uint32_t y, uint32_t words)
{
  const uint8_t *row = row_pixels (f, y);
  uintptr_t address = (uintptr_t) row + x - 1;
  const uint32_t *from = (const uint32_t *) (address & ~(uintptr_t) 3);
  uint32_t shift = 8 * (address & 3), bits = 0, word;

  if (y >= f.height)
    return 0;
  if (f.bits)
    return mask_around (f, row, x, words);
  /* Never read outside the row. */
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
  return f.invert ? bits ^ bits_below (4 * words) : bits;
}

/* Pixels @x to @x + 31 of a row as bits; @x is in the row and, in frames of bits, a multiple of
 * 32. */
static __device__ inline uint32_t
foreground32 (const CclCudaFrame &f, const uint8_t *row, uint32_t x)
{
  uint32_t shift = 8 * ((uintptr_t) (row + x) & 3), left = f.width - x, bits = 0;

  if (f.bits)
    return mask_word (f, row, x);
  if (left >= 32 && ((uintptr_t) (row + x) & 15) == 0) {
    /* Evict first: most algorithms read pixels once, and their tables make better use of the L2
     * cache. */
    const uint4 *words = (const uint4 *) (row + x);
    uint4 low = __ldcs (words), high = __ldcs (words + 1);
    uint32_t bytes[8] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w };

    return foreground_bits (f, bytes, 8);
  }
  if (left >= (shift ? 36 : 32)) {
    /* Aligned words, starting with the one that holds the first pixel. If pixels are not aligned,
     * the last word has bytes past the 32 pixels; these are still inside the row. */
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

#endif
