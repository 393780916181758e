/* cudaccl - CPU backend: NEON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <arm_neon.h>
#include <stdint.h>

#define NAME "NEON"
#define FUNCTIONS ccl_cpu_functions_neon

#define V64_LANES 2
typedef uint64x2_t V64;

#define v64_set(word) vdupq_n_u64 (word)
#define v64_load(words) vld1q_u64 (words)
#define v64_load_part(words, n) vcombine_u64 (vld1_u64 (words), vdup_n_u64 (0)) /* n is 1 */
#define v64_store(words, v) vst1q_u64 (words, v)
#define v64_store_part(words, v, n) vst1_u64 (words, vget_low_u64 (v))
#define v64_next(v, after) vextq_u64 (v, after, 1)
#define v64_previous(before, v) vextq_u64 (before, v, 1)

#define V16_LANES 8
typedef int16x8_t V16;
typedef uint16x8_t V16Mask;

#define v16_set(number) vdupq_n_s16 ((int16_t) (number))
#define v16_load(numbers) vld1q_s16 ((const int16_t *) (numbers))
#define v16_store(numbers, v) vst1q_s16 ((int16_t *) (numbers), v)
#define v16_load8(bytes) vreinterpretq_s16_u16 (vmovl_u8 (vld1_u8 (bytes)))
#define v16_store8(bytes, v) vst1_u8 (bytes, vqmovun_s16 (v))
#define v16_add vaddq_s16
#define v16_add_saturated vqaddq_s16
#define v16_sub vsubq_s16
#define v16_abs vabsq_s16
#define v16_min vminq_s16
#define v16_max vmaxq_s16
#define v16_scale vqrdmulhq_s16
#define v16_left(v, bits) vshlq_n_s16 (v, bits)
#define v16_right(v, bits) vreinterpretq_s16_u16 (vshrq_n_u16 (vreinterpretq_u16_s16 (v), bits))

#define v16_gt vcgtq_s16
#define v16_and vandq_u16
#define v16_and_not vbicq_u16
#define v16_any(mask) (vmaxvq_u16 (mask) != 0)
#define v16_select vbslq_s16

static const uint16_t v16_places[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };

static inline V16Mask
v16_mask (uint64_t bits, unsigned first)
{
  return vtstq_u16 (vdupq_n_u16 ((uint16_t) (bits >> first)), vld1q_u16 (v16_places));
}

static inline uint64_t
v16_bits (const V16Mask masks[8])
{
  uint64_t bits = 0;

  for (unsigned i = 0; i < 8; i++)
    bits |= (uint64_t) vaddvq_u16 (vandq_u16 (masks[i], vld1q_u16 (v16_places))) << 8 * i;
  return bits;
}

typedef int32x4_t V32Half;
typedef struct V32
{
  V32Half low, high;
} V32;

#define half_add vaddq_s32
#define half_abs vabsq_s32
#define half_right(v, bits) vshrq_n_s32 (v, bits)
#define half_times(v, number) vmulq_n_s32 (v, number)

static inline V32
v32_cross (V16 a, V16 b, V16 c, V16 d)
{
  return (V32){ vmlsl_s16 (vmull_s16 (vget_low_s16 (a), vget_low_s16 (b)), vget_low_s16 (c),
                           vget_low_s16 (d)),
                vmlsl_high_s16 (vmull_high_s16 (a, b), c, d) };
}

static inline V16Mask
v32_at_most (V32 a, V32 b)
{
  return vcombine_u16 (vmovn_u32 (vcleq_s32 (a.low, b.low)),
                       vmovn_u32 (vcleq_s32 (a.high, b.high)));
}

#define V8_LANES 16
typedef uint8x16_t V8;

#define v8_load(bytes) vld1q_u8 (bytes)
#define v8_store(bytes, v) vst1q_u8 (bytes, v)
#define v8_average vrhaddq_u8
#define v8_even(bytes) (vld2q_u8 (bytes).val[0])

#define FAST_POPCOUNT 1

/* The bit of each byte. */
#define v8_places vreinterpretq_u8_u64 (vdupq_n_u64 (UINT64_C (0x8040201008040201)))

/* Each pixel's bit is put where it belongs in its byte, and pairs of neighbours are added until
 * eight are together. */
static inline uint64_t
pack64 (const uint8_t *pixels, uint8_t threshold)
{
  uint8x16_t quarters[4], sum;

  for (int i = 0; i < 4; i++)
    quarters[i] =
        vandq_u8 (vcgtq_u8 (v8_load (pixels + 16 * i), vdupq_n_u8 (threshold)), v8_places);
  sum = vpaddq_u8 (vpaddq_u8 (quarters[0], quarters[1]), vpaddq_u8 (quarters[2], quarters[3]));
  sum = vpaddq_u8 (sum, sum);
  return vgetq_lane_u64 (vreinterpretq_u64_u8 (sum), 0);
}

static inline void
unpack64 (uint8_t *pixels, const uint64_t *word, uint8_t value)
{
  uint64_t bits = *word;

  for (unsigned i = 0; i < 64; i += 16) {
    uint8x16_t v =
        vcombine_u8 (vdup_n_u8 ((uint8_t) (bits >> i)), vdup_n_u8 ((uint8_t) (bits >> (i + 8))));

    v8_store (pixels + i, vandq_u8 (vtstq_u8 (v, v8_places), vdupq_n_u8 (value)));
  }
}

#define STORE_BYTES 16

#include "engine/cpu/simd/template.h"
