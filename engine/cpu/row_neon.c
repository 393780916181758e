/* cudaccl - CPU backend: rows with NEON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#define CCL_VECTOR_NEON
#include "engine/cpu/flood.h"
#include "engine/cpu/motion_functions.h"
#include "engine/cpu/row.h"

/* Bit i of byte j of the result's lower half: pixel 8 j + i is above the threshold. Each pixel's
 * bit is put where it belongs in its byte, and pairs of neighbours are added until eight are
 * together. */
static inline uint64_t
above64 (const uint8_t *pixels, uint8x16_t threshold)
{
  const uint8x16_t places = vreinterpretq_u8_u64 (vdupq_n_u64 (UINT64_C (0x8040201008040201)));
  uint8x16_t quarters[4], sum;

  for (int i = 0; i < 4; i++)
    quarters[i] = vandq_u8 (vcgtq_u8 (vld1q_u8 (pixels + 16 * i), threshold), places);
  sum = vpaddq_u8 (vpaddq_u8 (quarters[0], quarters[1]), vpaddq_u8 (quarters[2], quarters[3]));
  sum = vpaddq_u8 (sum, sum);
  return vgetq_lane_u64 (vreinterpretq_u64_u8 (sum), 0);
}

static bool
pack_row_neon (uint64_t *bits, const uint8_t *pixels, uint32_t width, uint8_t threshold,
               bool invert)
{
  const uint8x16_t thresholds = vdupq_n_u8 (threshold);
  const uint64_t flip = invert ? ~UINT64_C (0) : 0;
  uint32_t words = width / 64;
  uint64_t any = 0;

  for (uint32_t w = 0; w < words; w++, pixels += 64)
    any |= bits[w] = above64 (pixels, thresholds) ^ flip;
  return ccl_cpu_functions_c.pack_row (bits + words, pixels, width % 64, threshold, invert) || any;
}

static void
unpack_row_neon (uint8_t *pixels, const uint64_t *bits, uint32_t width, uint8_t value)
{
  const uint8x16_t places = vreinterpretq_u8_u64 (vdupq_n_u64 (UINT64_C (0x8040201008040201)));
  const uint8x16_t values = vdupq_n_u8 (value);
  uint32_t words = width / 64;

  for (uint32_t w = 0; w < words; w++) {
    for (unsigned i = 0; i < 64; i += 16, pixels += 16) {
      uint8x16_t v = vcombine_u8 (vdup_n_u8 ((uint8_t) (bits[w] >> i)),
                                  vdup_n_u8 ((uint8_t) (bits[w] >> (i + 8))));

      vst1q_u8 (pixels, vandq_u8 (vtstq_u8 (v, places), values));
    }
  }
  ccl_cpu_functions_c.unpack_row (pixels, bits + words, width % 64, value);
}

static void
find_runs_neon (CclRow *row, uint32_t width)
{
  find_runs_by_fours (row, width);
}

const CclCpuFunctions ccl_cpu_functions_neon = {
  "NEON",    pack_row_neon,  unpack_row_neon, median_rows, rectangle_rows,
  flood_row, find_runs_neon, label_row,       repeat_row,  &ccl_motion_functions_neon,
};
