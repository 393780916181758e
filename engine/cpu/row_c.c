/* cudaccl - CPU backend: rows in plain C
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/flood.h"
#include "engine/cpu/motion_functions.h"
#include "engine/cpu/row.h"

#include <string.h>

#define EVERY_BYTE(value) (UINT64_C (0x0101010101010101) * (value))

/* Bit i of the result: byte i of @pixels, in memory order, is above the threshold. @complement is
 * 255 - threshold in every byte: pixel > threshold where pixel + complement carries out of 8 bits.
 */
static inline unsigned
above8 (const uint8_t *pixels, uint64_t complement)
{
  const uint64_t high = EVERY_BYTE (0x80);
  uint64_t v, sum, carry;

  memcpy (&v, pixels, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64 (v);
#endif
  sum = ((v & ~high) + (complement & ~high)) ^ ((v ^ complement) & high);
  carry = ((v & complement) | ((v | complement) & ~sum)) & high;
  /* The multiplication gathers the eight flags, 8 bits apart, in the top byte. */
  return (unsigned) ((carry >> 7) * UINT64_C (0x0102040810204080) >> 56);
}

static bool
pack_row_c (uint64_t *bits, const uint8_t *pixels, uint32_t width, uint8_t threshold, bool invert)
{
  const uint64_t complement = EVERY_BYTE (255 - threshold);
  const uint64_t flip = invert ? ~UINT64_C (0) : 0;
  uint32_t words = width / 64, rest = width % 64;
  uint64_t any = 0;

  for (uint32_t w = 0; w < words; w++, pixels += 64) {
    uint64_t word = 0;

    for (unsigned i = 0; i < 8; i++)
      word |= (uint64_t) above8 (pixels + 8 * i, complement) << 8 * i;
    any |= bits[w] = word ^ flip;
  }
  if (rest) {
    uint64_t word = 0;

    for (uint32_t i = 0; i < rest; i++)
      word |= (uint64_t) (pixels[i] > threshold) << i;
    any |= bits[words] = (word ^ flip) & ((UINT64_C (1) << rest) - 1);
  }
  return any;
}

/* Eight bits, each in its byte of memory, as @value or 0. */
static inline uint64_t
spread8 (unsigned bits, uint8_t value)
{
  uint64_t v = EVERY_BYTE (bits) & UINT64_C (0x8040201008040201);

  v = ((v + EVERY_BYTE (0x7f)) >> 7 & EVERY_BYTE (1)) * value;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64 (v);
#endif
  return v;
}

static void
unpack_row_c (uint8_t *pixels, const uint64_t *bits, uint32_t width, uint8_t value)
{
  uint32_t x = 0;

  for (; width - x >= 8; x += 8) {
    uint64_t v = spread8 (bits[x / 64] >> x % 64 & 0xff, value);

    memcpy (pixels + x, &v, sizeof v);
  }
  for (; x < width; x++)
    pixels[x] = bits[x / 64] >> x % 64 & 1 ? value : 0;
}

static void
find_runs_c (CclRow *row, uint32_t width)
{
  uint32_t *edge = row->edges;
  uint64_t carry = 0;

  for (uint32_t w = 0; w <= width / 64; w++) {
    uint64_t changes = row->bits[w] ^ (row->bits[w] << 1 | carry);

    carry = row->bits[w] >> 63;
    row->words[w] = (CclRowEdges){ changes, (uint32_t) (edge - row->edges) };
    for (; changes; changes &= changes - 1)
      *edge++ = 64 * w + (uint32_t) __builtin_ctzll (changes);
  }
  row->count = (uint32_t) (edge - row->edges) / 2;
}

const CclCpuFunctions ccl_cpu_functions_c = {
  "C",       pack_row_c,  unpack_row_c, median_rows, rectangle_rows,
  flood_row, find_runs_c, label_row,    repeat_row,  &ccl_motion_functions_c,
};
