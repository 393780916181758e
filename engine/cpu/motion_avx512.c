/* cudaccl - CPU backend: background models with AVX-512F and AVX-512BW, BMI, BMI2 and POPCNT
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#define CCL_VECTOR_AVX512
#include "engine/cpu/motion_row.h"

const CclMotionFunctions ccl_motion_functions_avx512 = { take_alternate, shrink_row,
                                                         blur_row,       luma_row,
                                                         chroma_differs, chroma_learn };
