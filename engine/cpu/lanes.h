/* cudaccl - CPU backend: vectors of 16-bit and 8-bit numbers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* As with vector.h, a file defines CCL_VECTOR_AVX512, CCL_VECTOR_AVX2 or CCL_VECTOR_NEON before; a
 * vector is one number without. Numbers of 16 bits are signed, those of 8 bits are not. Memory may
 * lie at any address.
 *
 * LanesWide has as many numbers of 32 bits, in any order. lanes_cross() is a b - c d without
 * overflow; d must not be -32768. wide_add_abs() adds the absolute value. wide_at_most() is the
 * mask of a <= b, in the order of Lanes, for differences below 2^31.
 *
 * lanes8_even() reads 2 LANES8 bytes and takes every second one. */

#ifndef CCL_CPU_LANES_H
#define CCL_CPU_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#if defined CCL_VECTOR_AVX512
#include <immintrin.h>

#define LANES 32
typedef __m512i Lanes;
typedef __mmask32 LanesMask;

#define lanes_set(number) _mm512_set1_epi16 ((short) (number))
#define lanes_load(numbers) _mm512_loadu_si512 (numbers)
#define lanes_store(numbers, v) _mm512_storeu_si512 (numbers, v)
#define lanes_load8(bytes) _mm512_cvtepu8_epi16 (_mm256_loadu_si256 ((const __m256i *) (bytes)))
#define lanes_store8(bytes, v) _mm256_storeu_si256 ((__m256i *) (bytes), _mm512_cvtepi16_epi8 (v))
#define lanes_add _mm512_add_epi16
#define lanes_add_saturated _mm512_adds_epi16
#define lanes_sub _mm512_sub_epi16
#define lanes_abs _mm512_abs_epi16
#define lanes_min _mm512_min_epi16
#define lanes_max _mm512_max_epi16
#define lanes_scale _mm512_mulhrs_epi16
#define lanes_left(v, bits) _mm512_slli_epi16 (v, bits)
#define lanes_right(v, bits) _mm512_srli_epi16 (v, bits)
#define lanes_gt _mm512_cmpgt_epi16_mask
#define lanes_and(a, b) ((LanesMask) ((a) & (b)))
#define lanes_and_not(a, b) ((LanesMask) ((a) & ~(b)))
#define lanes_select(mask, a, b) _mm512_mask_blend_epi16 (mask, b, a)
#define lanes_any(mask) ((mask) != 0)

typedef struct LanesWide
{
  __m512i low, high;
} LanesWide;

static inline LanesWide
lanes_cross (Lanes a, Lanes b, Lanes c, Lanes d)
{
  Lanes minus = _mm512_sub_epi16 (_mm512_setzero_si512 (), d);

  return (LanesWide){
    _mm512_madd_epi16 (_mm512_unpacklo_epi16 (a, c), _mm512_unpacklo_epi16 (b, minus)),
    _mm512_madd_epi16 (_mm512_unpackhi_epi16 (a, c), _mm512_unpackhi_epi16 (b, minus))
  };
}

static inline LanesWide
wide_add_abs (LanesWide sum, LanesWide v)
{
  return (LanesWide){ _mm512_add_epi32 (sum.low, _mm512_abs_epi32 (v.low)),
                      _mm512_add_epi32 (sum.high, _mm512_abs_epi32 (v.high)) };
}

static inline LanesMask
wide_at_most (LanesWide a, LanesWide b)
{
  Lanes left =
      _mm512_packs_epi32 (_mm512_sub_epi32 (b.low, a.low), _mm512_sub_epi32 (b.high, a.high));

  return _mm512_cmpge_epi16_mask (left, _mm512_setzero_si512 ());
}

#define WIDE(operation, v, number) \
  ((LanesWide){ operation ((v).low, number), operation ((v).high, number) })
#define wide_right(v, bits) WIDE (_mm512_srai_epi32, v, bits)
#define wide_times(v, number) WIDE (_mm512_mullo_epi32, v, _mm512_set1_epi32 (number))

#define LANES8 64
typedef __m512i Lanes8;
#define lanes8_load(bytes) _mm512_loadu_si512 (bytes)
#define lanes8_store(bytes, v) _mm512_storeu_si512 (bytes, v)
#define lanes8_average _mm512_avg_epu8

static inline Lanes8
lanes8_even (const uint8_t *bytes)
{
  const __m512i low = _mm512_set1_epi16 (0xff), order = _mm512_setr_epi64 (0, 2, 4, 6, 1, 3, 5, 7);
  __m512i first = _mm512_and_si512 (_mm512_loadu_si512 (bytes), low);
  __m512i second = _mm512_and_si512 (_mm512_loadu_si512 (bytes + 64), low);

  return _mm512_permutexvar_epi64 (order, _mm512_packus_epi16 (first, second));
}

static inline LanesMask
lanes_mask (uint64_t bits, unsigned first)
{
  return (LanesMask) (bits >> first);
}

static inline uint64_t
lanes_bits (const LanesMask masks[2])
{
  return masks[0] | (uint64_t) masks[1] << 32;
}

#elif defined CCL_VECTOR_AVX2
#include <immintrin.h>

#define LANES 16
typedef __m256i Lanes;
typedef __m256i LanesMask;

#define lanes_set(number) _mm256_set1_epi16 ((short) (number))
#define lanes_load(numbers) _mm256_loadu_si256 ((const __m256i *) (numbers))
#define lanes_store(numbers, v) _mm256_storeu_si256 ((__m256i *) (numbers), v)
#define lanes_load8(bytes) _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) (bytes)))
#define lanes_add _mm256_add_epi16
#define lanes_add_saturated _mm256_adds_epi16
#define lanes_sub _mm256_sub_epi16
#define lanes_abs _mm256_abs_epi16
#define lanes_min _mm256_min_epi16
#define lanes_max _mm256_max_epi16
#define lanes_scale _mm256_mulhrs_epi16
#define lanes_left(v, bits) _mm256_slli_epi16 (v, bits)
#define lanes_right(v, bits) _mm256_srli_epi16 (v, bits)
#define lanes_gt _mm256_cmpgt_epi16
#define lanes_and _mm256_and_si256
#define lanes_and_not(a, b) _mm256_andnot_si256 (b, a)
#define lanes_select(mask, a, b) _mm256_blendv_epi8 (b, a, mask)
#define lanes_any(mask) (_mm256_testz_si256 (mask, mask) == 0)

typedef struct LanesWide
{
  __m256i low, high;
} LanesWide;

static inline LanesWide
lanes_cross (Lanes a, Lanes b, Lanes c, Lanes d)
{
  Lanes minus = _mm256_sub_epi16 (_mm256_setzero_si256 (), d);

  return (LanesWide){
    _mm256_madd_epi16 (_mm256_unpacklo_epi16 (a, c), _mm256_unpacklo_epi16 (b, minus)),
    _mm256_madd_epi16 (_mm256_unpackhi_epi16 (a, c), _mm256_unpackhi_epi16 (b, minus))
  };
}

static inline LanesWide
wide_add_abs (LanesWide sum, LanesWide v)
{
  return (LanesWide){ _mm256_add_epi32 (sum.low, _mm256_abs_epi32 (v.low)),
                      _mm256_add_epi32 (sum.high, _mm256_abs_epi32 (v.high)) };
}

static inline LanesMask
wide_at_most (LanesWide a, LanesWide b)
{
  Lanes left =
      _mm256_packs_epi32 (_mm256_sub_epi32 (b.low, a.low), _mm256_sub_epi32 (b.high, a.high));

  return _mm256_cmpgt_epi16 (left, _mm256_set1_epi16 (-1));
}

#define WIDE(operation, v, number) \
  ((LanesWide){ operation ((v).low, number), operation ((v).high, number) })
#define wide_right(v, bits) WIDE (_mm256_srai_epi32, v, bits)
#define wide_times(v, number) WIDE (_mm256_mullo_epi32, v, _mm256_set1_epi32 (number))

#define LANES8 32
typedef __m256i Lanes8;
#define lanes8_load(bytes) _mm256_loadu_si256 ((const __m256i *) (bytes))
#define lanes8_store(bytes, v) _mm256_storeu_si256 ((__m256i *) (bytes), v)
#define lanes8_average _mm256_avg_epu8

static inline Lanes8
lanes8_even (const uint8_t *bytes)
{
  const __m256i low = _mm256_set1_epi16 (0xff);
  __m256i first = _mm256_and_si256 (lanes8_load (bytes), low);
  __m256i second = _mm256_and_si256 (lanes8_load (bytes + 32), low);

  return _mm256_permute4x64_epi64 (_mm256_packus_epi16 (first, second), 0xd8);
}

static inline void
lanes_store8 (uint8_t *bytes, Lanes v)
{
  __m256i packed = _mm256_permute4x64_epi64 (_mm256_packus_epi16 (v, v), 0x08);

  _mm_storeu_si128 ((__m128i *) bytes, _mm256_castsi256_si128 (packed));
}

static inline LanesMask
lanes_mask (uint64_t bits, unsigned first)
{
  const __m256i places = _mm256_setr_epi16 (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                            8192, 16384, (short) 32768);

  return _mm256_cmpeq_epi16 (_mm256_and_si256 (_mm256_set1_epi16 ((short) (bits >> first)), places),
                             places);
}

static inline uint32_t
lanes_bits32 (LanesMask a, LanesMask b)
{
  return (uint32_t) _mm256_movemask_epi8 (
      _mm256_permute4x64_epi64 (_mm256_packs_epi16 (a, b), 0xd8));
}

static inline uint64_t
lanes_bits (const LanesMask masks[4])
{
  return lanes_bits32 (masks[0], masks[1]) | (uint64_t) lanes_bits32 (masks[2], masks[3]) << 32;
}

#elif defined CCL_VECTOR_NEON
#include <arm_neon.h>

#define LANES 8
typedef int16x8_t Lanes;
typedef uint16x8_t LanesMask;

#define lanes_set(number) vdupq_n_s16 ((int16_t) (number))
#define lanes_load(numbers) vld1q_s16 ((const int16_t *) (numbers))
#define lanes_store(numbers, v) vst1q_s16 ((int16_t *) (numbers), v)
#define lanes_load8(bytes) vreinterpretq_s16_u16 (vmovl_u8 (vld1_u8 (bytes)))
#define lanes_store8(bytes, v) vst1_u8 (bytes, vqmovun_s16 (v))
#define lanes_add vaddq_s16
#define lanes_add_saturated vqaddq_s16
#define lanes_sub vsubq_s16
#define lanes_abs vabsq_s16
#define lanes_min vminq_s16
#define lanes_max vmaxq_s16
#define lanes_scale vqrdmulhq_s16
#define lanes_left(v, bits) vshlq_n_s16 (v, bits)
#define lanes_right(v, bits) vreinterpretq_s16_u16 (vshrq_n_u16 (vreinterpretq_u16_s16 (v), bits))
#define lanes_gt vcgtq_s16
#define lanes_and vandq_u16
#define lanes_and_not vbicq_u16
#define lanes_select(mask, a, b) vbslq_s16 (mask, a, b)
#define lanes_any(mask) (vmaxvq_u16 (mask) != 0)

typedef struct LanesWide
{
  int32x4_t low, high;
} LanesWide;

static inline LanesWide
lanes_cross (Lanes a, Lanes b, Lanes c, Lanes d)
{
  return (LanesWide){ vmlsl_s16 (vmull_s16 (vget_low_s16 (a), vget_low_s16 (b)), vget_low_s16 (c),
                                 vget_low_s16 (d)),
                      vmlsl_high_s16 (vmull_high_s16 (a, b), c, d) };
}

static inline LanesWide
wide_add_abs (LanesWide sum, LanesWide v)
{
  return (LanesWide){ vaddq_s32 (sum.low, vabsq_s32 (v.low)),
                      vaddq_s32 (sum.high, vabsq_s32 (v.high)) };
}

static inline LanesMask
wide_at_most (LanesWide a, LanesWide b)
{
  return vcombine_u16 (vmovn_u32 (vcleq_s32 (a.low, b.low)),
                       vmovn_u32 (vcleq_s32 (a.high, b.high)));
}

#define WIDE(operation, v, number) \
  ((LanesWide){ operation ((v).low, number), operation ((v).high, number) })
#define wide_right(v, bits) WIDE (vshrq_n_s32, v, bits)
#define wide_times(v, number) WIDE (vmulq_n_s32, v, number)

#define LANES8 16
typedef uint8x16_t Lanes8;
#define lanes8_load(bytes) vld1q_u8 (bytes)
#define lanes8_store(bytes, v) vst1q_u8 (bytes, v)
#define lanes8_average vrhaddq_u8
#define lanes8_even(bytes) (vld2q_u8 (bytes).val[0])

static inline LanesMask
lanes_mask (uint64_t bits, unsigned first)
{
  static const uint16_t places[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };

  return vtstq_u16 (vdupq_n_u16 ((uint16_t) (bits >> first)), vld1q_u16 (places));
}

static inline uint64_t
lanes_bits (const LanesMask masks[8])
{
  static const uint16_t places[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };
  uint64_t bits = 0;

  for (unsigned i = 0; i < 8; i++)
    bits |= (uint64_t) vaddvq_u16 (vandq_u16 (masks[i], vld1q_u16 (places))) << 8 * i;
  return bits;
}

#else

#define LANES 1
typedef int Lanes;
typedef bool LanesMask;

#define lanes_set(number) (number)
#define lanes_load(numbers) ((Lanes) * (numbers))
#define lanes_store(numbers, v) (*(numbers) = (uint16_t) (v))
#define lanes_load8(bytes) ((Lanes) * (bytes))
#define lanes_store8(bytes, v) (*(bytes) = (uint8_t) (v))
#define lanes_add(a, b) ((a) + (b))
#define lanes_add_saturated(a, b) ((a) + (b)) /* nothing here is lost */
#define lanes_sub(a, b) ((a) - (b))
#define lanes_abs(v) ((v) < 0 ? -(v) : (v))
#define lanes_min(a, b) ((a) < (b) ? (a) : (b))
#define lanes_max(a, b) ((a) > (b) ? (a) : (b))
#define lanes_scale(v, fraction) (((v) * (fraction) + 0x4000) >> 15)
#define lanes_left(v, bits) ((v) * (1 << (bits)))
#define lanes_right(v, bits) ((v) >> (bits))
#define lanes_gt(a, b) ((a) > (b))
#define lanes_and(a, b) ((a) && (b))
#define lanes_and_not(a, b) ((a) && !(b))
#define lanes_select(mask, a, b) ((mask) ? (a) : (b))
#define lanes_any(mask) (mask)

typedef int LanesWide;
#define lanes_cross(a, b, c, d) ((a) * (b) - (c) * (d))
#define wide_add_abs(sum, v) ((sum) + abs (v))
#define wide_at_most(a, b) ((a) <= (b))
#define wide_right(v, bits) ((v) >> (bits))
#define wide_times(v, number) ((v) * (number))

#define LANES8 1
typedef int Lanes8;
#define lanes8_load(bytes) ((Lanes8) * (bytes))
#define lanes8_store(bytes, v) (*(bytes) = (uint8_t) (v))
#define lanes8_average(a, b) (((a) + (b) + 1) >> 1)
#define lanes8_even(bytes) ((Lanes8) * (bytes))

static inline LanesMask
lanes_mask (uint64_t bits, unsigned first)
{
  return bits >> first & 1;
}

static inline uint64_t
lanes_bits (const LanesMask masks[64])
{
  uint64_t bits = 0;

  for (unsigned i = 0; i < 64; i++)
    bits |= (uint64_t) masks[i] << i;
  return bits;
}

#endif

#endif
