/* cudaccl - CPU backend: background models in plain C, which every compiler has
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/motion_row.h"

const CclMotionFunctions ccl_motion_functions_c = { take_alternate, shrink_row,     blur_row,
                                                    luma_row,       chroma_differs, chroma_learn };
