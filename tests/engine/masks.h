/* cudaccl - checkccl: what tests of masks share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_CHECKCCL_MASKS_H
#define TESTS_CHECKCCL_MASKS_H

#include "tests/lib/morphology.h"

/* Any width up to @most and 3 more, mostly one around a multiple of 64. */
uint32_t masks_draw_width (Mt19937 *rng, uint32_t most);

/* Noise of any grain and density, or a pattern. */
void masks_draw_image (Mt19937 *rng, TestImage *image);

#endif
