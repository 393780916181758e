/* cudaccl - CPU backend: the functions of one instruction set
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included once, at the end of each instruction set's file, which defines the vocabulary of
 * vector.h, NAME for users, and FUNCTIONS, its table's name. */

/* Vectors are passed between inline functions only: their ABI does not matter. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi"
#endif

#include "engine/cpu/simd/color.h"
#include "engine/cpu/simd/flood.h"
#include "engine/cpu/simd/labels.h"
#include "engine/cpu/simd/motion.h"
#include "engine/cpu/simd/outline.h"
#include "engine/cpu/simd/rows.h"
#include "engine/cpu/simd/classes.h"
#include "engine/cpu/simd/slices.h"

static const CclMotionFunctions motion_functions = { take_alternate, shrink_row,     blur_row,
                                                     sum_row,        compare_shifts, luma_row,
                                                     chroma_differs, chroma_learn };

extern const CclCpuFunctions FUNCTIONS;
const CclCpuFunctions FUNCTIONS = {
  NAME,          pack_row,      unpack_row,    filter_rows, flood_row,
  find_runs,     label_row,     label_classes, repeat_row,  write_labels,
  write_values,  repeat_pixels, join_slices,   color_luma,  color_chroma,
  color_samples, find_border,   add_outline,   add_luma,    &motion_functions,
};
