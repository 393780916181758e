/* cudaccl - CPU backend: rows with AVX2, BMI, BMI2 and POPCNT
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#define CCL_VECTOR_AVX2
#include "engine/cpu/flood.h"
#include "engine/cpu/motion_functions.h"
#include "engine/cpu/row.h"

/* Bit i of the result: pixel i is above the threshold. A saturating difference of 0 means it isn't:
 * AVX2 compares signed bytes only. */
static inline uint32_t
above32 (const uint8_t *pixels, __m256i threshold)
{
  __m256i v = _mm256_loadu_si256 ((const __m256i *) pixels);
  __m256i below = _mm256_cmpeq_epi8 (_mm256_subs_epu8 (v, threshold), _mm256_setzero_si256 ());

  return ~(uint32_t) _mm256_movemask_epi8 (below);
}

static bool
pack_row_avx2 (uint64_t *bits, const uint8_t *pixels, uint32_t width, uint8_t threshold,
               bool invert)
{
  const __m256i thresholds = _mm256_set1_epi8 ((char) threshold);
  const uint64_t flip = invert ? ~UINT64_C (0) : 0;
  uint32_t words = width / 64;
  uint64_t any = 0;

  for (uint32_t w = 0; w < words; w++, pixels += 64)
    any |= bits[w] =
        (above32 (pixels, thresholds) | (uint64_t) above32 (pixels + 32, thresholds) << 32) ^ flip;
  return ccl_cpu_functions_c.pack_row (bits + words, pixels, width % 64, threshold, invert) || any;
}

/* 32 bits, each in its byte. */
static inline __m256i
spread32 (uint32_t bits, __m256i value)
{
  const __m256i bytes =
      _mm256_setr_epi64x (0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i places = _mm256_set1_epi64x ((int64_t) UINT64_C (0x8040201008040201));
  __m256i v = _mm256_shuffle_epi8 (_mm256_set1_epi32 ((int) bits), bytes);

  return _mm256_and_si256 (_mm256_cmpeq_epi8 (_mm256_and_si256 (v, places), places), value);
}

static void
unpack_row_avx2 (uint8_t *pixels, const uint64_t *bits, uint32_t width, uint8_t value)
{
  const __m256i values = _mm256_set1_epi8 ((char) value);
  uint32_t words = width / 64;

  for (uint32_t w = 0; w < words; w++, pixels += 64) {
    _mm256_storeu_si256 ((__m256i *) pixels, spread32 ((uint32_t) bits[w], values));
    _mm256_storeu_si256 ((__m256i *) (pixels + 32), spread32 ((uint32_t) (bits[w] >> 32), values));
  }
  ccl_cpu_functions_c.unpack_row (pixels, bits + words, width % 64, value);
}

static void
find_runs_avx2 (CclRow *row, uint32_t width)
{
  find_runs_by_fours (row, width);
}

const CclCpuFunctions ccl_cpu_functions_avx2 = {
  "AVX2",    pack_row_avx2,  unpack_row_avx2, median_rows, rectangle_rows,
  flood_row, find_runs_avx2, label_row,       repeat_row,  &ccl_motion_functions_avx2,
};
