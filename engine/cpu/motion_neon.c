/* cudaccl - CPU backend: background models with NEON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#define CCL_VECTOR_NEON
#include "engine/cpu/motion_row.h"

const CclMotionFunctions ccl_motion_functions_neon = {
  take_alternate, shrink_row, blur_row, luma_row, chroma_differs, chroma_learn
};
