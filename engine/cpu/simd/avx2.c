/* cudaccl - CPU backend: AVX2, BMI, BMI2 and POPCNT
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <immintrin.h>
#include <stdint.h>

#define NAME "AVX2"
#define FUNCTIONS ccl_cpu_functions_avx2

#define V64_LANES 4
typedef uint64_t V64 __attribute__ ((vector_size (32)));

#define v64_set(word) ((V64) _mm256_set1_epi64x ((int64_t) (word)))
#define v64_load(words) ((V64) _mm256_loadu_si256 ((const __m256i *) (words)))
#define v64_load_part(words, n) \
  ((V64) _mm256_maskload_epi64 ((const long long *) (words), v64_part (n)))
#define v64_store(words, v) _mm256_storeu_si256 ((__m256i *) (words), (__m256i) (v))
#define v64_store_part(words, v, n) \
  _mm256_maskstore_epi64 ((long long *) (words), v64_part (n), (__m256i) (v))

static inline __m256i
v64_part (unsigned n)
{
  static const int64_t part[8] = { -1, -1, -1, -1, 0, 0, 0, 0 };

  return _mm256_loadu_si256 ((const __m256i *) (part + 4 - n));
}

static inline V64
v64_next (V64 v, V64 after)
{
  __m256i middle = _mm256_permute2x128_si256 ((__m256i) v, (__m256i) after, 0x21);

  return (V64) _mm256_alignr_epi8 (middle, (__m256i) v, 8);
}

static inline V64
v64_previous (V64 before, V64 v)
{
  __m256i middle = _mm256_permute2x128_si256 ((__m256i) before, (__m256i) v, 0x21);

  return (V64) _mm256_alignr_epi8 ((__m256i) v, middle, 8);
}

#define V16_LANES 16
typedef __m256i V16;
typedef __m256i V16Mask;

#define v16_set(number) _mm256_set1_epi16 ((short) (number))
#define v16_load(numbers) _mm256_loadu_si256 ((const __m256i *) (numbers))
#define v16_store(numbers, v) _mm256_storeu_si256 ((__m256i *) (numbers), v)
#define v16_load8(bytes) _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) (bytes)))
#define v16_add _mm256_add_epi16
#define v16_add_saturated _mm256_adds_epi16
#define v16_sub _mm256_sub_epi16
#define v16_abs _mm256_abs_epi16
#define v16_min _mm256_min_epi16
#define v16_max _mm256_max_epi16
#define v16_scale _mm256_mulhrs_epi16
#define v16_left(v, bits) _mm256_slli_epi16 (v, bits)
#define v16_right(v, bits) _mm256_srli_epi16 (v, bits)

static inline void
v16_store8 (uint8_t *bytes, V16 v)
{
  __m256i packed = _mm256_permute4x64_epi64 (_mm256_packus_epi16 (v, v), 0x08);

  _mm_storeu_si128 ((__m128i *) bytes, _mm256_castsi256_si128 (packed));
}

#define v16_gt _mm256_cmpgt_epi16
#define v16_and _mm256_and_si256
#define v16_and_not(a, b) _mm256_andnot_si256 (b, a)
#define v16_any(mask) (_mm256_testz_si256 (mask, mask) == 0)
#define v16_select(mask, a, b) _mm256_blendv_epi8 (b, a, mask)

static inline V16Mask
v16_mask (uint64_t bits, unsigned first)
{
  const __m256i places = _mm256_setr_epi16 (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                            8192, 16384, (short) 32768);

  return _mm256_cmpeq_epi16 (_mm256_and_si256 (v16_set (bits >> first), places), places);
}

static inline uint32_t
v16_bits32 (V16Mask a, V16Mask b)
{
  return (uint32_t) _mm256_movemask_epi8 (
      _mm256_permute4x64_epi64 (_mm256_packs_epi16 (a, b), 0xd8));
}

static inline uint64_t
v16_bits (const V16Mask masks[4])
{
  return v16_bits32 (masks[0], masks[1]) | (uint64_t) v16_bits32 (masks[2], masks[3]) << 32;
}

typedef __m256i V32Half;
typedef struct V32
{
  V32Half low, high;
} V32;

#define half_add _mm256_add_epi32
#define half_abs _mm256_abs_epi32
#define half_right(v, bits) _mm256_srai_epi32 (v, bits)
#define half_times(v, number) _mm256_mullo_epi32 (v, _mm256_set1_epi32 (number))

static inline V32
v32_cross (V16 a, V16 b, V16 c, V16 d)
{
  V16 minus = _mm256_sub_epi16 (_mm256_setzero_si256 (), d);

  return (
      V32){ _mm256_madd_epi16 (_mm256_unpacklo_epi16 (a, c), _mm256_unpacklo_epi16 (b, minus)),
            _mm256_madd_epi16 (_mm256_unpackhi_epi16 (a, c), _mm256_unpackhi_epi16 (b, minus)) };
}

static inline V16Mask
v32_at_most (V32 a, V32 b)
{
  V16 left =
      _mm256_packs_epi32 (_mm256_sub_epi32 (b.low, a.low), _mm256_sub_epi32 (b.high, a.high));

  return _mm256_cmpgt_epi16 (left, _mm256_set1_epi16 (-1));
}

#define V8_LANES 32
typedef __m256i V8;

#define v8_load(bytes) _mm256_loadu_si256 ((const __m256i *) (bytes))
#define v8_store(bytes, v) _mm256_storeu_si256 ((__m256i *) (bytes), v)
#define v8_average _mm256_avg_epu8

static inline V8
v8_even (const uint8_t *bytes)
{
  const __m256i low = _mm256_set1_epi16 (0xff);
  __m256i first = _mm256_and_si256 (v8_load (bytes), low);
  __m256i second = _mm256_and_si256 (v8_load (bytes + 32), low);

  return _mm256_permute4x64_epi64 (_mm256_packus_epi16 (first, second), 0xd8);
}

#define FAST_POPCOUNT 1

/* A saturating difference of 0 means that a pixel is not above: AVX2 compares signed bytes only. */
static inline uint32_t
pack32 (const uint8_t *pixels, uint8_t threshold)
{
  __m256i above = _mm256_subs_epu8 (v8_load (pixels), _mm256_set1_epi8 ((char) threshold));

  return ~(uint32_t) _mm256_movemask_epi8 (_mm256_cmpeq_epi8 (above, _mm256_setzero_si256 ()));
}

#define pack64(pixels, threshold) \
  (pack32 (pixels, threshold) | (uint64_t) pack32 ((pixels) + 32, threshold) << 32)

/* Each bit is tested in its byte. */
static inline __m256i
spread32 (uint32_t bits, uint8_t value)
{
  const __m256i bytes =
      _mm256_setr_epi64x (0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i places = _mm256_set1_epi64x ((int64_t) UINT64_C (0x8040201008040201));
  __m256i v = _mm256_shuffle_epi8 (_mm256_set1_epi32 ((int) bits), bytes);

  v = _mm256_cmpeq_epi8 (_mm256_and_si256 (v, places), places);
  return _mm256_and_si256 (v, _mm256_set1_epi8 ((char) value));
}

/* The word is read twice: halves are broadcast from memory. */
static inline void
unpack64 (uint8_t *pixels, const uint64_t *word, uint8_t value)
{
  v8_store (pixels, spread32 ((uint32_t) *word, value));
  v8_store (pixels + 32, spread32 ((uint32_t) (*word >> 32), value));
}

#define STORE_BYTES 32

#include "engine/cpu/simd/template.h"
