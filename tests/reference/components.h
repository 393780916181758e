/* cudaccl - the pixel reference: what every algorithm must reproduce
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two passes of union-find over pixels, then the filters: as short as possible, never optimised,
 * and independent of the engine's code. */

#ifndef CCL_REFERENCE_H
#define CCL_REFERENCE_H

#include <cudaccl/ccl.h>

/* Analyses @image, which is in host memory, with @config's geometry, connectivity, capacity, values
 * and second-order flag; 16-bit samples only with bands and classes. Its backend and algorithm are
 * ignored. Arguments are trusted: the only error is CCL_ERROR_NO_MEMORY. Free the result with
 * ccl_reference_clear(). */
CclStatus ccl_reference_analyze (const CclConfig *config, const CclImage *image,
                                 const CclParams *params, CclComponents *components);

/* The same, with the label map: @labels has room for the frame's pixels. */
CclStatus ccl_reference_label (const CclConfig *config, const CclImage *image,
                               const CclParams *params, CclComponents *components,
                               uint32_t *labels);

void ccl_reference_clear (CclComponents *components);

#endif
