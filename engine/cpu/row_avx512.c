/* cudaccl - CPU backend: rows with AVX-512F and AVX-512BW, BMI, BMI2 and POPCNT
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#define CCL_VECTOR_AVX512
#include "engine/cpu/flood.h"
#include "engine/cpu/motion_functions.h"
#include "engine/cpu/row.h"

static bool
pack_row_avx512 (uint64_t *bits, const uint8_t *pixels, uint32_t width, uint8_t threshold,
                 bool invert)
{
  const __m512i thresholds = _mm512_set1_epi8 ((char) threshold);
  const uint64_t flip = invert ? ~UINT64_C (0) : 0;
  uint32_t words = width / 64;
  uint64_t any = 0;
  __mmask64 rest = (UINT64_C (1) << width % 64) - 1;

  for (uint32_t w = 0; w < words; w++, pixels += 64)
    any |= bits[w] = _mm512_cmpgt_epu8_mask (_mm512_loadu_si512 (pixels), thresholds) ^ flip;
  if (rest) {
    __m512i v = _mm512_maskz_loadu_epi8 (rest, pixels);

    any |= bits[words] = (_mm512_cmpgt_epu8_mask (v, thresholds) ^ flip) & rest;
  }
  return any;
}

static void
unpack_row_avx512 (uint8_t *pixels, const uint64_t *bits, uint32_t width, uint8_t value)
{
  const __m512i values = _mm512_set1_epi8 ((char) value);
  uint32_t words = width / 64;
  __mmask64 rest = (UINT64_C (1) << width % 64) - 1;

  for (uint32_t w = 0; w < words; w++, pixels += 64)
    _mm512_storeu_si512 (pixels, _mm512_maskz_mov_epi8 (bits[w], values));
  if (rest)
    _mm512_mask_storeu_epi8 (pixels, rest, _mm512_maskz_mov_epi8 (bits[words], values));
}

static void
find_runs_avx512 (CclRow *row, uint32_t width)
{
  find_runs_by_fours (row, width);
}

const CclCpuFunctions ccl_cpu_functions_avx512 = {
  "AVX-512", pack_row_avx512,  unpack_row_avx512, median_rows, rectangle_rows,
  flood_row, find_runs_avx512, label_row,         repeat_row,  &ccl_motion_functions_avx512,
};
