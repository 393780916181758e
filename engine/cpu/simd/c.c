/* cudaccl - CPU backend: plain C, a vector being one number
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME "C"
#define FUNCTIONS ccl_cpu_functions_c

#define V64_LANES 1
typedef uint64_t V64;

#define v64_set(word) (word)
#define v64_load(words) (*(words))
#define v64_load_part(words, n) 0 /* no part of a word is left over */
#define v64_store(words, v) ((void) (*(words) = (v)))
#define v64_store_part(words, v, n) ((void) (v))
#define v64_next(v, after) (after)
#define v64_previous(before, v) (before)

#define V16_LANES 1
typedef int V16;
typedef bool V16Mask;

#define v16_set(number) (number)
#define v16_load(numbers) ((V16) * (numbers))
#define v16_store(numbers, v) (*(numbers) = (uint16_t) (v))
#define v16_load8(bytes) ((V16) * (bytes))
#define v16_store8(bytes, v) (*(bytes) = (uint8_t) (v))
#define v16_add(a, b) ((a) + (b))
#define v16_add_saturated(a, b) ((a) + (b)) /* nothing here is lost */
#define v16_sub(a, b) ((a) - (b))
#define v16_abs(v) abs (v)
#define v16_min(a, b) ((a) < (b) ? (a) : (b))
#define v16_max(a, b) ((a) > (b) ? (a) : (b))
#define v16_scale(v, fraction) (((v) * (fraction) + 0x4000) >> 15)
#define v16_left(v, bits) ((v) * (1 << (bits)))
#define v16_right(v, bits) ((v) >> (bits))

#define v16_gt(a, b) ((a) > (b))
#define v16_and(a, b) ((a) && (b))
#define v16_and_not(a, b) ((a) && !(b))
#define v16_any(mask) (mask)
#define v16_select(mask, a, b) ((mask) ? (a) : (b))

static inline V16Mask
v16_mask (uint64_t bits, unsigned first)
{
  return bits >> first & 1;
}

static inline uint64_t
v16_bits (const V16Mask masks[64])
{
  uint64_t bits = 0;

  for (unsigned i = 0; i < 64; i++)
    bits |= (uint64_t) masks[i] << i;
  return bits;
}

/* Only the lower half is used. */
typedef int V32Half;
typedef struct V32
{
  V32Half low, high;
} V32;

#define half_add(a, b) ((a) + (b))
#define half_abs(v) abs (v)
#define half_right(v, bits) ((v) >> (bits))
#define half_times(v, number) ((v) * (number))
#define v32_cross(a, b, c, d) ((V32){ (a) * (b) - (c) * (d), 0 })
#define v32_at_most(a, b) ((a).low <= (b).low)

#define V8_LANES 1
typedef int V8;

#define v8_load(bytes) ((V8) * (bytes))
#define v8_store(bytes, v) (*(bytes) = (uint8_t) (v))
#define v8_average(a, b) (((a) + (b) + 1) >> 1)
#define v8_even(bytes) ((V8) * (bytes))

#define FAST_POPCOUNT 0
#define EVERY_BYTE(value) (UINT64_C (0x0101010101010101) * (value))

/* Eight pixels, the first one in the lowest byte. */
static inline uint64_t
memory_order (uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64 (v);
#endif
  return v;
}

/* Pixel > threshold where pixel + 255 - threshold carries out of 8 bits. */
static inline uint64_t
pack8 (const uint8_t *pixels, uint8_t threshold)
{
  const uint64_t high = EVERY_BYTE (0x80), complement = EVERY_BYTE (255 - threshold);
  uint64_t v, sum, carry;

  memcpy (&v, pixels, sizeof v);
  v = memory_order (v);
  sum = ((v & ~high) + (complement & ~high)) ^ ((v ^ complement) & high);
  carry = ((v & complement) | ((v | complement) & ~sum)) & high;
  /* The multiplication gathers the eight flags, 8 bits apart, in the top byte. */
  return (carry >> 7) * UINT64_C (0x0102040810204080) >> 56;
}

static inline uint64_t
pack64 (const uint8_t *pixels, uint8_t threshold)
{
  uint64_t word = 0;

  for (unsigned i = 0; i < 64; i += 8)
    word |= pack8 (pixels + i, threshold) << i;
  return word;
}

static inline void
unpack64 (uint8_t *pixels, const uint64_t *word, uint8_t value)
{
  uint64_t bits = *word;

  for (unsigned i = 0; i < 64; i += 8) {
    uint64_t v = EVERY_BYTE (bits >> i & 0xff) & UINT64_C (0x8040201008040201);

    v = memory_order (((v + EVERY_BYTE (0x7f)) >> 7 & EVERY_BYTE (1)) * value);
    memcpy (pixels + i, &v, sizeof v);
  }
}

#define STORE_BYTES 16

#include "engine/cpu/simd/template.h"
