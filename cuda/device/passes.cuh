/* cudaccl - CUDA backend: passes of operations on bits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Median and dilation of words of 32 pixels, each with its left and right neighbours. */

#ifndef CCL_CUDA_PASSES_CUH
#define CCL_CUDA_PASSES_CUH

#include <stdint.h>

/* A word of a row and the words beside it. */
struct WordAround
{
  uint32_t left, here, right;
};

/* Dilates words by @reach pixels, 1 to 16, to the left and to the right. The words are independent:
 * their instructions interleave. */
template <uint32_t count>
static __device__ inline void
dilate_words (const WordAround (&words)[count], uint32_t reach, uint32_t (&dilated)[count])
{
  uint32_t size = 2 * reach + 1, n = 1;
  uint64_t bits[count]; /* bit i: pixel i - reach; later whether any of the n pixels from there on
                         * is set */

#pragma unroll
  for (uint32_t k = 0; k < count; k++)
    bits[k] = (uint64_t) __funnelshift_l (words[k].here, words[k].right, reach) << 32 |
              __funnelshift_l (words[k].left, words[k].here, reach);
#pragma unroll 1
  for (; 2 * n <= size; n *= 2) {
#pragma unroll
    for (uint32_t k = 0; k < count; k++)
      bits[k] |= bits[k] >> n;
  }
#pragma unroll
  for (uint32_t k = 0; k < count; k++)
    dilated[k] = (uint32_t) (bits[k] | bits[k] >> (size - n));
}

/* Numbers with one bit in each word, 32 of them side by side */

/* Counts how many of three bits are set: @sum + 2 * @carry. */
static __device__ inline void
add_bits (uint32_t a, uint32_t b, uint32_t c, uint32_t *sum, uint32_t *carry)
{
  *sum = a ^ b ^ c;
  *carry = (a & b) | (c & (a | b));
}

/* The number of pixels set in one row of a window: bits[0] + 2 * bits[1] + 4 * bits[2]. */
struct RowCount
{
  uint32_t bits[3];
};

template <uint32_t size>
static __device__ inline RowCount
count_row (const WordAround &w)
{
  uint32_t left = __funnelshift_l (w.left, w.here, 1), right = __funnelshift_r (w.here, w.right, 1);
  uint32_t left2 = __funnelshift_l (w.left, w.here, 2);
  uint32_t right2 = __funnelshift_r (w.here, w.right, 2);
  RowCount n = {};
  uint32_t three, carry, other;

  add_bits (left, w.here, right, &three, &carry);
  if (size == 3) {
    n.bits[0] = three;
    n.bits[1] = carry;
    return n;
  }
  add_bits (three, left2, right2, &n.bits[0], &other);
  n.bits[1] = carry ^ other;
  n.bits[2] = carry & other;
  return n;
}

/* Whether most pixels of a window of @size rows are set. @rows: [size] its rows, from top to
 * bottom. */
template <uint32_t size>
static __device__ inline uint32_t
median_of_rows (const RowCount *rows)
{
  uint32_t ones, twos, fours, two[2], four[3], eight[4], s[3];

  if (size == 3) { /* at least 5 of 9 */
    add_bits (rows[0].bits[0], rows[1].bits[0], rows[2].bits[0], &ones, &two[0]);
    add_bits (rows[0].bits[1], rows[1].bits[1], rows[2].bits[1], &s[0], &four[0]);
    twos = s[0] ^ two[0];
    four[1] = s[0] & two[0];
    return (four[0] & four[1]) | ((four[0] | four[1]) & (twos | ones));
  }
  /* At least 13 of 25. */
  add_bits (rows[0].bits[0], rows[1].bits[0], rows[2].bits[0], &s[0], &two[0]);
  add_bits (s[0], rows[3].bits[0], rows[4].bits[0], &ones, &two[1]);
  add_bits (rows[0].bits[1], rows[1].bits[1], rows[2].bits[1], &s[0], &four[0]);
  add_bits (rows[3].bits[1], rows[4].bits[1], two[0], &s[1], &four[1]);
  add_bits (s[0], s[1], two[1], &twos, &four[2]);
  add_bits (rows[0].bits[2], rows[1].bits[2], rows[2].bits[2], &s[0], &eight[0]);
  add_bits (rows[3].bits[2], rows[4].bits[2], four[0], &s[1], &eight[1]);
  add_bits (four[1], four[2], s[0], &s[2], &eight[2]);
  fours = s[1] ^ s[2];
  eight[3] = s[1] & s[2];
  s[0] = eight[0] | eight[1];
  s[1] = eight[2] | eight[3];
  return (eight[0] & eight[1]) | (eight[2] & eight[3]) | (s[0] & s[1]) |
         ((s[0] | s[1]) & fours & (twos | ones));
}

#endif
