/* cudaccl - CPU backend: the vocabulary of vectors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The file of an instruction set defines the operations listed here, as macros or inline functions,
 * then includes template.h, which compiles all functions for it. Memory may lie at any address.
 *
 * V64: V64_LANES words. The operators << >> & | ^ ~ + work on them.
 *   v64_set (word), v64_load (words), v64_store (words, v)
 *   v64_load_part (words, n), v64_store_part (words, v, n): only the first n, 0 < n < V64_LANES;
 *     loads 0 for the others
 *   v64_next (v, after): each word's next one: those of v but the first, then the first of after
 *   v64_previous (before, v): the last of before, then those of v but the last
 *   v64_xor3, v64_majority, v64_or3, v64_or_and: optional, see below
 *
 * V16: V16_LANES signed numbers of 16 bits.
 *   v16_set (number), v16_load (numbers), v16_store (numbers, v)
 *   v16_load8 (bytes), v16_store8 (bytes, v): V16_LANES unsigned bytes; v must fit
 *   v16_add, v16_add_saturated, v16_sub, v16_min, v16_max (a, b), v16_abs (v)
 *   v16_scale (v, fraction): ccl_motion_scale()
 *   v16_left, v16_right (v, bits): unsigned shifts by a constant
 *
 * V16Mask: a truth value for each number of a V16.
 *   v16_gt (a, b), v16_and (a, b), v16_and_not (a, b), v16_any (mask)
 *   v16_select (mask, a, b): a where the mask is set, else b
 *   v16_mask (bits, first): from a word's bits, from bit first on
 *   v16_bits (masks): the word of 64 bits from 64 / V16_LANES masks
 *
 * V32: as many numbers of 32 bits as a V16 has of 16, in any order, in two halves (V32Half).
 *   half_add (a, b), half_abs (v), half_right (v, bits), half_times (v, number)
 *   v32_cross (a, b, c, d): a b - c d of V16, without overflow; d must not be -32768
 *   v32_at_most (a, b): the V16Mask of a <= b, for differences below 2^31
 *
 * V8: V8_LANES unsigned bytes.
 *   v8_load (bytes), v8_store (bytes, v)
 *   v8_average (a, b): rounded up
 *   v8_even (bytes): every second one of 2 V8_LANES bytes
 *
 * Pixels, 64 as the bits of a word, the first one in the lowest bit:
 *   FAST_POPCOUNT: whether the CPU has an instruction that counts bits
 *   pack64 (pixels, threshold): the word; a bit is set where the pixel is above the threshold
 *   unpack64 (pixels, word, value): writes value where a bit of *word is set, else 0
 *   pack_part (pixels, n, threshold), unpack_part (pixels, word, n, value): only n pixels,
 *     0 < n < 64; optional, see below
 *   STORE_BYTES: of the largest vectors
 *   MANY_EDGES, store_edges (edges, changes, first): optional; stores the places of the bits of a
 *     word that has more than MANY_EDGES, counted from first, and up to CCL_ROW_SLACK entries more
 */

#ifndef CCL_CPU_SIMD_VECTOR_H
#define CCL_CPU_SIMD_VECTOR_H

#include <string.h>

#define INLINE static inline __attribute__ ((always_inline))

#ifndef v64_xor3
#define v64_xor3(a, b, c) ((a) ^ (b) ^ (c))
#define v64_or3(a, b, c) ((a) | (b) | (c))
#define v64_or_and(a, b, c) (((a) | (b)) & (c))

/* Each bit that two or three of the vectors have. */
INLINE V64
v64_majority (V64 a, V64 b, V64 c)
{
  return (a & b) | ((a ^ b) & c);
}
#endif

INLINE V32
v32_add_abs (V32 sum, V32 v)
{
  return (V32){ half_add (sum.low, half_abs (v.low)), half_add (sum.high, half_abs (v.high)) };
}

#define v32_right(v, bits) ((V32){ half_right ((v).low, bits), half_right ((v).high, bits) })
#define v32_times(v, number) ((V32){ half_times ((v).low, number), half_times ((v).high, number) })

#ifndef MANY_EDGES
#define MANY_EDGES 64
#define store_edges(edges, changes, first)
#endif

#ifndef pack_part
__attribute__ ((noinline)) static uint64_t
pack_part (const uint8_t *pixels, uint32_t n, uint8_t threshold)
{
  uint8_t all[64] = { 0 }; /* never above a threshold */

  memcpy (all, pixels, n);
  return pack64 (all, threshold);
}

__attribute__ ((noinline)) static void
unpack_part (uint8_t *pixels, const uint64_t *word, uint32_t n, uint8_t value)
{
  uint8_t all[64];

  unpack64 (all, word, value);
  memcpy (pixels, all, n);
}
#endif

#endif
