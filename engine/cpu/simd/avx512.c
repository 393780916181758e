/* cudaccl - CPU backend: AVX-512F and AVX-512BW, BMI, BMI2 and POPCNT
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <immintrin.h>
#include <stdint.h>

#define NAME "AVX-512"
#define FUNCTIONS ccl_cpu_functions_avx512

#define V64_LANES 8
typedef uint64_t V64 __attribute__ ((vector_size (64)));

#define v64_part(n) ((__mmask8) ((1u << (n)) - 1))
#define v64_set(word) ((V64) _mm512_set1_epi64 ((int64_t) (word)))
#define v64_load(words) ((V64) _mm512_loadu_si512 (words))
#define v64_load_part(words, n) ((V64) _mm512_maskz_loadu_epi64 (v64_part (n), words))
#define v64_store(words, v) _mm512_storeu_si512 (words, (__m512i) (v))
#define v64_store_part(words, v, n) _mm512_mask_storeu_epi64 (words, v64_part (n), (__m512i) (v))
#define v64_next(v, after) ((V64) _mm512_alignr_epi64 ((__m512i) (after), (__m512i) (v), 1))
#define v64_previous(before, v) ((V64) _mm512_alignr_epi64 ((__m512i) (v), (__m512i) (before), 7))
/* The table of a function of three bits is the function of 0xf0, 0xcc and 0xaa. */
#define v64_ternary(a, b, c, table) \
  ((V64) _mm512_ternarylogic_epi64 ((__m512i) (a), (__m512i) (b), (__m512i) (c), table))
#define v64_xor3(a, b, c) v64_ternary (a, b, c, 0x96)
#define v64_majority(a, b, c) v64_ternary (a, b, c, 0xe8)
#define v64_or3(a, b, c) v64_ternary (a, b, c, 0xfe)
#define v64_or_and(a, b, c) v64_ternary (a, b, c, 0xa8)

#define V16_LANES 32
typedef __m512i V16;
typedef __mmask32 V16Mask;

#define v16_set(number) _mm512_set1_epi16 ((short) (number))
#define v16_load(numbers) _mm512_loadu_si512 (numbers)
#define v16_store(numbers, v) _mm512_storeu_si512 (numbers, v)
#define v16_load8(bytes) _mm512_cvtepu8_epi16 (_mm256_loadu_si256 ((const __m256i *) (bytes)))
#define v16_store8(bytes, v) _mm256_storeu_si256 ((__m256i *) (bytes), _mm512_cvtepi16_epi8 (v))
#define v16_add _mm512_add_epi16
#define v16_add_saturated _mm512_adds_epi16
#define v16_sub _mm512_sub_epi16
#define v16_abs _mm512_abs_epi16
#define v16_min _mm512_min_epi16
#define v16_max _mm512_max_epi16
#define v16_scale _mm512_mulhrs_epi16
#define v16_left(v, bits) _mm512_slli_epi16 (v, bits)
#define v16_right(v, bits) _mm512_srli_epi16 (v, bits)

#define v16_gt _mm512_cmpgt_epi16_mask
#define v16_and(a, b) ((V16Mask) ((a) & (b)))
#define v16_and_not(a, b) ((V16Mask) ((a) & ~(b)))
#define v16_any(mask) ((mask) != 0)
#define v16_select(mask, a, b) _mm512_mask_blend_epi16 (mask, b, a)
#define v16_mask(bits, first) ((V16Mask) ((bits) >> (first)))
#define v16_bits(masks) ((masks)[0] | (uint64_t) (masks)[1] << 32)

typedef __m512i V32Half;
typedef struct V32
{
  V32Half low, high;
} V32;

#define half_add _mm512_add_epi32
#define half_abs _mm512_abs_epi32
#define half_right(v, bits) _mm512_srai_epi32 (v, bits)
#define half_times(v, number) _mm512_mullo_epi32 (v, _mm512_set1_epi32 (number))

static inline V32
v32_cross (V16 a, V16 b, V16 c, V16 d)
{
  V16 minus = _mm512_sub_epi16 (_mm512_setzero_si512 (), d);

  return (
      V32){ _mm512_madd_epi16 (_mm512_unpacklo_epi16 (a, c), _mm512_unpacklo_epi16 (b, minus)),
            _mm512_madd_epi16 (_mm512_unpackhi_epi16 (a, c), _mm512_unpackhi_epi16 (b, minus)) };
}

static inline V16Mask
v32_at_most (V32 a, V32 b)
{
  V16 left =
      _mm512_packs_epi32 (_mm512_sub_epi32 (b.low, a.low), _mm512_sub_epi32 (b.high, a.high));

  return _mm512_cmpge_epi16_mask (left, _mm512_setzero_si512 ());
}

#define V8_LANES 64
typedef __m512i V8;

#define v8_load(bytes) _mm512_loadu_si512 (bytes)
#define v8_store(bytes, v) _mm512_storeu_si512 (bytes, v)
#define v8_average _mm512_avg_epu8

static inline V8
v8_even (const uint8_t *bytes)
{
  const __m512i low = _mm512_set1_epi16 (0xff), order = _mm512_setr_epi64 (0, 2, 4, 6, 1, 3, 5, 7);
  __m512i first = _mm512_and_si512 (v8_load (bytes), low);
  __m512i second = _mm512_and_si512 (v8_load (bytes + 64), low);

  return _mm512_permutexvar_epi64 (order, _mm512_packus_epi16 (first, second));
}

#define FAST_POPCOUNT 1
#define pixels_part(n) ((UINT64_C (1) << (n)) - 1)
#define v8_above(v, threshold) _mm512_cmpgt_epu8_mask (v, _mm512_set1_epi8 ((char) (threshold)))
#define v8_where(bits, value) _mm512_maskz_set1_epi8 (bits, (char) (value))
#define pack64(pixels, threshold) v8_above (v8_load (pixels), threshold)
#define unpack64(pixels, word, value) v8_store (pixels, v8_where (*(word), value))
#define pack_part(pixels, n, threshold) \
  v8_above (_mm512_maskz_loadu_epi8 (pixels_part (n), pixels), threshold)
#define unpack_part(pixels, word, n, value) \
  _mm512_mask_storeu_epi8 (pixels, pixels_part (n), v8_where (*(word), value))

#define MANY_EDGES 4

static inline void
store_edges (uint32_t *edges, uint64_t changes, uint32_t first)
{
  const __m512i numbers = _mm512_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

  for (unsigned i = 0; i < 64; i += 16) {
    const uint16_t part = (uint16_t) (changes >> i);
    const __m512i places = _mm512_add_epi32 (_mm512_set1_epi32 ((int) (first + i)), numbers);

    _mm512_storeu_si512 (edges, _mm512_maskz_compress_epi32 (part, places));
    edges += __builtin_popcount (part);
  }
}

#define STORE_BYTES 64

#include "engine/cpu/simd/template.h"
